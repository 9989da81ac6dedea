// The page: languages, the text, its translation as it streams in; the rest is in modules of its own.
import * as api from './api.js';
import {$, copySelection, fill, node, offers} from './elements.js';
import {onFiles, readText, save, translatedName} from './file.js';
import {CHUNK, begin, countPoints, direction, isWrapped} from './text.js';
import {local} from './kept.js';
import {Documents} from './documents.js';
import {Field} from './field.js';
import {Glossaries} from './glossaries.js';
import {onKey} from './key.js';
import {fail, say} from './messages.js';
import {Output} from './output.js';
import {SentencePanel} from './sentence.js';
import {History} from './history.js';
import {showModels} from './models.js';
import {explain} from './flags.js';
import {readBack} from './check.js';
import {counted, languageName, localise, number, t, took} from './words.js';

localise();

const AUTO = 'auto', TYPING_MS = 600, STARTING_MS = 1000, MOST_MARKED = 20;
// As the formats are called to people.
const FORMATS = {wrapped: t`wrapped text`, markdown: 'Markdown', srt: t`subtitles`, html: 'HTML'};
// translated: the text that the whole output translates, null while there is none.
// reading: a token for the text file that was chosen last, null once another text is in the field. terms: the glossary and the revision
// of its entries that the output was translated with. most: characters of a request. loading: a promise of that and of the languages.
const state = {models: [], running: null, timer: 0, detected: null, translated: null, reading: null, terms: undefined, most: Infinity, loading: null};

const pair = () => [$('source').value === AUTO ? state.detected : $('source').value, $('target').value];
const chosen = () => [$('source').value, $('target').value];
const field = new Field(['text', ...Object.keys(FORMATS)], chosen, changed);
const output = new Output($('output'), (entry, at) => panel.open(entry, at));
const panel = new SentencePanel(pair, (entry, text, flags) => {
  output.take(entry, text, flags);
  marks();
}, () => glossaries.use(...pair()));
const documents = new Documents();
const glossaries = new Glossaries(pair, () => {
  glossaries.use(...pair());
  if ($('input').value.trim() && ($('auto').checked || state.translated !== null)) start();
});
const history = new History((e) => {
  setText(e.text, e.format);
  chooseBoth(e.source, e.target);
  start();
});

// ---- languages

// Ask for the models until there are some. Returns false where asking again cannot help.
async function listed() {
  for (;;) {
    let pause = STARTING_MS;
    try {
      state.models = (await api.models()).models;
      $('error').hidden = true;
      if (state.models.length) return true;
      say(api.STARTING);
    } catch (e) {
      fail(e);
      if (e.status !== 503 && !api.away(e) && !api.passing(e)) return false;
      pause = Math.max(pause, 1000 * e.retryAfter);
    }
    await api.wait(pause);
  }
}

// Fill in what the server offers; what is chosen stays. A text or a file that comes meanwhile waits for it, see state.loading.
// Returns whether the server said it.
async function load() {
  if (!await listed()) return false;
  say('');
  const first = !$('target').length, [source, target] = ['source', 'target'].map((id) => $(id).value || local.get('dragoman-' + id));
  const codes = (side) => [...new Set(state.models.map((m) => m[side]))].sort((a, b) => languageName(a).localeCompare(languageName(b)));
  fill($('source'), [[AUTO, t`Detect language`], ...codes('source').map((c) => [c, languageName(c)])], source);
  fill($('target'), codes('target').map((c) => [c, languageName(c)]), target || codes('target').find((c) => c !== 'en'));
  if (first && !follow()) resume();
  showModels(state.models);
  await about().catch(fail);
  return true;
}

async function about() {
  const {version, max_characters: most, documents: kinds, glossaries: offered, collections} = await api.patiently(api.index);
  $('version').textContent = version;
  state.most = most;
  documents.load(kinds);
  await glossaries.load(offered, collections);
}

// Translate what the link holds after its #. Returns whether it holds a text.
function follow() {
  const link = new URLSearchParams(location.hash.slice(1));
  if (!link.has('text')) return false;
  state.reading = null;
  field.put(link.get('text'), link.get('format') || 'text');
  chooseBoth(link.get('source'), link.get('target'));
  count();
  start();
  return true;
}

// Translate what a browser that goes back, or opens a closed tab again, put into the field.
function resume() {
  if (!$('input').value || state.running) return;
  count();
  if ($('auto').checked) start();
}

function setText(text, format, file) {
  state.reading = null;
  field.put(text, format, file);
  unlink();
  count();
}

// The link in the address is to another text.
function unlink() {
  if (location.hash) window.history.replaceState(null, '', location.pathname);
}

// The languages with which the page is opened the next time.
function remember() {
  for (const side of ['source', 'target']) local.set('dragoman-' + side, $(side).value);
}

function choose(select, value) {
  if (offers(select, value)) select.value = value;
}

// The languages that a text had, as far as there are models.
function chooseBoth(source, target) {
  choose($('source'), source);
  choose($('target'), target);
}

// ---- translating

async function detect(text, signal) {
  if ($('source').value !== AUTO) {
    detected(null, '');
    return;
  }
  const {detections: [d]} = await api.patiently(() => api.detect(begin(text, Math.min(2000, state.most)), signal), signal);
  const name = languageName(d.language);
  detected(d.language, d.confidence ? t`Detected: ${name} (${d.confidence} %)` : t`Not recognized: read as ${name}`);
}

function detected(language, text) {
  state.detected = language;
  $('detected').textContent = text;
}

// Parts one after the other, the next one under way while one streams in. anew: those that are translated, too.
async function translate(text, signal, anew) {
  const [source, target] = pair(), {format} = field, glossary = glossaries.use(source, target);
  const rerank = $('rerank').checked, work = JSON.stringify([source, target, format, field.work, rerank]), terms = glossary && `${glossary} ${glossaries.revision}`;
  const parts = output.begin(text, format, state.most, work, anew || terms !== state.terms);
  state.terms = terms;
  $('input').lang = source;
  $('output').lang = target;
  $('output').dir = direction(target);
  let next = 0, done = 0;
  const run = async () => {
    while (next < parts.length) {
      const part = parts[next++];
      const careful = rerank && part.text.length <= CHUNK; // a long part that cannot be cut (HTML) might exceed the server's deadline
      const answer = await api.patiently(() => api.carefully({source, target, rerank: careful},
        (order) => api.stream({...order, text: part.text, format, glossary}, (s) => output.sentence(part, s), signal)), signal);
      output.finish(part, answer.translations[0]);
      done++;
      if (parts.length > 1) say(`${Math.round((100 * done) / parts.length)} %`);
    }
  };
  await Promise.all([run(), run()]);
}

async function start() {
  clearTimeout(state.timer);
  state.running?.abort();
  const text = $('input').value, running = new AbortController(), anew = text === state.translated;
  state.running = running;
  state.translated = null;
  $('error').hidden = true;
  panel.leave();
  $('legend').hidden = true;
  ready(false);
  busy(Boolean(text.trim()));
  if (!text.trim()) {
    output.clear();
    say('');
    detected(null, '');
    glossaries.show();
    return;
  }
  say(t`Translating …`);
  try {
    await state.loading;
    running.signal.throwIfAborted();
    say(t`Translating …`);
    const begin = performance.now();
    await detect(text, running.signal);
    glossaries.show(); // for the languages of now
    await translate(text, running.signal, anew);
    if (state.running !== running) return;
    state.translated = text;
    say(t`Done in ${took(performance.now() - begin)}`);
    busy(false);
    ready(true);
    marks();
    history.add({text, source: pair()[0], target: pair()[1], format: field.format, work: field.work});
  } catch (e) {
    if (state.running === running) output.stop(), busy(false), fail(e);
    running.abort(); // what is still under way is of no use
    if (e.field === 'glossary') await about().catch(fail); // another client may have deleted it
  }
}

// What is translated stays; Translate then sends the parts that are missing.
function stop() {
  clearTimeout(state.timer);
  state.running?.abort();
  state.running = null;
  output.stop();
  busy(false);
  marks();
  say(t`Stopped. Press Translate to go on.`);
}

function busy(yes) {
  const had = document.activeElement === $('stop');
  $('stop').disabled = !yes;
  if (had && !yes) $('translate').focus();
}

function ready(yes) {
  for (const id of ['copy', 'download', 'share']) $(id).disabled = !yes;
  $('check').disabled = !yes || !bothWays(pair());
}

// Whether one model each translates there and back.
const bothWays = ([a, b]) => [[a, b], [b, a]].every(([from, to]) => state.models.some((m) => m.source === from && m.target === to));

// Mark the sentences that would hardly give the text if they were translated back. Another translation ends it.
async function check() {
  const {signal} = state.running, all = output.all();
  let doubtful = 0;
  say(t`Checking …`);
  try {
    const n = await readBack(all, pair(), state.most, signal, (span, wrong) => {
      const others = span.entry.flags.filter((flag) => flag !== 'read_back');
      output.set(span, span.textContent, wrong ? [...others, 'read_back'] : others);
      doubtful += wrong;
    });
    const left = n < all.length ? [t`${all.length - n} could not be checked`] : [];
    say([t`${counted(n, 'sentence')} checked`, t`${doubtful || t`none`} doubtful`, ...left].join(', '));
    marks();
    panel.refresh();
  } catch (e) {
    fail(e);
  }
}

// Doubtful sentences, each with its reasons.
function marks() {
  const flagged = output.all().filter((s) => s.entry.flags.length);
  $('legend').hidden = !flagged.length;
  const more = flagged.length - MOST_MARKED;
  $('legend').replaceChildren(...flagged.slice(0, MOST_MARKED).map((s) => {
    const button = node('button', {type: 'button', dir: direction($('target').value), translate: 'no'}, begin(s.textContent, 90));
    button.addEventListener('click', () => output.choose(s));
    return node('li', {}, button, ' — ' + s.entry.flags.map(explain).join(' '));
  }), ...(more > 0 ? [node('li', {}, more === 1 ? t`One more sentence is underlined.` : t`${number(more)} more sentences are underlined.`)] : []));
}

// ---- tools

// Characters as the server counts them, and what else is known of the text.
function count() {
  const text = $('input').value, n = countPoints(text);
  const parts = [n && counted(n, 'character'), field.file?.name].filter(Boolean).join(', ');
  $('count').textContent = n && field.format !== 'text' ? t`${parts} read as ${FORMATS[field.format]}` : parts;
}

// Another text is in the field; languages: that it had, where it is there again.
function changed(languages) {
  unlink();
  count();
  clearTimeout(state.timer);
  if (languages) {
    chooseBoth(...languages);
    remember();
    start();
  } else if ($('auto').checked) {
    state.timer = setTimeout(start, TYPING_MS);
  }
}

async function upload(files) {
  const [file] = files;
  if (!file) return;
  await state.loading;
  $('error').hidden = true;
  const source = $('source').value === AUTO ? null : $('source').value, target = $('target').value;
  const order = {source, target, glossary: glossaries.use(source, target), rerank: $('rerank').checked};
  try {
    if (files.length > 1) documents.translateAll(files, order);
    else if (!await openText(file)) documents.translate(file, order);
  } catch (e) {
    fail(e);
  }
}

// Translate a text file in the field. Returns whether it is one: others are documents. Throws an error that says why it is neither.
async function openText(file) {
  const format = documents.format(file.name);
  if (!format) return false;
  const reading = (state.reading = {});
  const {text, ...its} = await readText(file).catch((e) => {
    throw new Error(`${file.name}: ${e.message}`);
  });
  if (state.reading !== reading) return true; // another text came meanwhile
  // It cannot be cut into parts here, but by a server that takes documents.
  if (format === 'markdown' && countPoints(text) > state.most && documents.serves(file.name)) return false;
  setText(text, format === 'text' && isWrapped(text) ? 'wrapped' : format, {name: file.name, ...its});
  start();
  return true;
}

// Files that are dropped anywhere on the page are to be translated.
function drop(e) {
  if (![...e.dataTransfer.types].includes('Files')) return;
  e.preventDefault();
  if (e.type === 'drop') take([...e.dataTransfer.files], e.target);
}

// Pasted files are translated too, unless the clipboard also has HTML: programs and pages copy a picture of a text beside the text.
function paste(e) {
  const files = [...e.clipboardData.files];
  if (!files.length || e.clipboardData.types.includes('text/html')) return;
  e.preventDefault();
  take(files, e.target);
}

// Files that are dropped or pasted in the glossary's card are added to the glossary.
function take(files, place) {
  if (place.closest?.('#glossaries')) glossaries.upload(files);
  else upload(files);
}

function download() {
  const {name, mark, end} = field.file || {name: 'translation.txt', mark: '', end: '\n'};
  save(new Blob([mark + output.text().replaceAll('\n', end)], {type: 'text/plain;charset=utf-8'}), translatedName(name, $('target').value));
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // without HTTPS browsers have no clipboard for pages, but still this
    if (!copySelection(text)) {
      say(t`This browser does not allow the page to copy: select the text instead.`);
      return;
    }
  }
  say(done);
}

function share() {
  // After the #: browsers send it to no server.
  const format = field.format === 'text' ? {} : {format: field.format};
  const hash = new URLSearchParams({source: pair()[0], target: pair()[1], ...format, text: $('input').value});
  window.history.replaceState(null, '', '#' + hash);
  copy(location.href, t`Link copied`);
}

// The translation becomes the text, but only where it is the whole translation of what the text is now.
function swap() {
  const [source, target] = pair();
  if (!source) {
    say(t`Choose the language of the text first, or let a text be translated.`);
    return;
  }
  const missing = [[$('source'), target], [$('target'), source]].find(([select, code]) => !offers(select, code));
  if (missing) {
    const name = languageName(missing[1]);
    say(missing[0] === $('source') ? t`No model translates from ${name}` : t`No model translates to ${name}`);
    return;
  }
  if (state.translated !== null && state.translated === $('input').value) setText(output.text(), field.format);
  $('source').value = target;
  $('target').value = source;
  remember();
  start();
}

function toggle(button, section) {
  const open = section.hidden;
  section.hidden = !open;
  button.setAttribute('aria-expanded', String(open));
  if (open) section.focus();
}

$('input').addEventListener('keydown', (e) => {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) start();
});
// Choosing the other side's language swaps them. A list has no event before it changes, so what it had is kept.
for (const [id, other] of [['source', 'target'], ['target', 'source']]) {
  let had;
  const keep = () => (had = $(id).value);
  $(id).addEventListener('focus', keep);
  $(id).addEventListener('change', () => {
    const before = had === AUTO ? state.detected : had;
    if ($(id).value === $(other).value && before) choose($(other), before);
    keep();
    remember();
    start();
  });
}
$('auto').checked = local.get('dragoman-auto') !== 'no';
$('auto').addEventListener('change', () => local.set('dragoman-auto', $('auto').checked ? 'yes' : 'no'));
$('rerank').checked = local.get('dragoman-rerank') !== 'no';
$('rerank').addEventListener('change', () => {
  local.set('dragoman-rerank', $('rerank').checked ? 'yes' : 'no');
  if (state.translated !== null) start();
});
$('translate').addEventListener('click', start);
$('stop').addEventListener('click', stop);
$('clear').addEventListener('click', () => {
  setText('');
  start();
  $('input').focus();
});
$('swap').addEventListener('click', swap);
$('copy').addEventListener('click', () => copy(output.text(), t`Translation copied`));
$('download').addEventListener('click', download);
$('share').addEventListener('click', share);
$('check').addEventListener('click', check);
onFiles($('file'), upload);
document.addEventListener('dragover', drop);
document.addEventListener('drop', drop);
document.addEventListener('paste', paste);
window.addEventListener('hashchange', follow);
$('show-models').addEventListener('click', () => toggle($('show-models'), $('models')));
$('show-history').addEventListener('click', () => toggle($('show-history'), $('history')));
$('show-glossaries').addEventListener('click', () => {
  toggle($('show-glossaries'), $('glossaries'));
  glossaries.open();
});
onKey(() => {
  $('key-form').hidden = true;
  state.loading = load();
  state.loading.then((there) => {
    if (!there) return;
    $('input').focus();
    if ($('input').value) start();
  });
}, fail);
state.loading = load();
