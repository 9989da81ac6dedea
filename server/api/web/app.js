// The page: languages, the text, its translation as it streams in; the rest is in modules of its own.
import * as api from './api.js';
import {codePoints, chunks, direction, languageName, save, translatedName} from './text.js';
import {Documents} from './documents.js';
import {Output} from './output.js';
import {SentencePanel} from './sentence.js';
import {History} from './history.js';
import {explain} from './flags.js';

const $ = (id) => document.getElementById(id);
const AUTO = 'auto', TYPING_MS = 600;
const state = {models: [], running: null, timer: 0, format: 'text', file: null, detected: null};

const pair = () => [$('source').value === AUTO ? state.detected : $('source').value, $('target').value];
const output = new Output($('output'), (entry) => panel.open(entry));
const panel = new SentencePanel(pair, fail, () => marks());
const documents = new Documents(fail, $('file'));
const history = new History((e) => {
  $('source').value = e.source;
  $('target').value = e.target;
  $('input').value = e.text;
  start();
});

function fail(e) {
  if (e.name === 'AbortError') return;
  if (e.status === 401 || e.status === 403) $('key-form').hidden = false;
  $('error').textContent = e.message;
  $('error').hidden = false;
  say('');
}

const say = (text) => ($('status').textContent = text);

// ---- languages

async function load() {
  try {
    const {models} = await api.models();
    state.models = models;
    $('error').hidden = true;
    api.index().then((i) => ($('version').textContent = i.version), () => {});
    documents.load().catch(fail);
  } catch (e) {
    fail(e);
    return;
  }
  const codes = (side) => [...new Set(state.models.map((m) => m[side]))].sort((a, b) => languageName(a).localeCompare(languageName(b)));
  options($('source'), [[AUTO, 'Detect language'], ...codes('source').map((c) => [c, languageName(c)])]);
  options($('target'), codes('target').map((c) => [c, languageName(c)]));
  const link = new URLSearchParams(location.hash.slice(1));
  choose($('source'), link.get('source') || localStorage.getItem('dragoman-source') || AUTO);
  choose($('target'), link.get('target') || localStorage.getItem('dragoman-target') || codes('target').find((c) => c !== 'en'));
  if (link.has('text')) {
    $('input').value = link.get('text');
    start();
  }
  cards();
}

function options(select, list) {
  select.replaceChildren(...list.map(([value, label]) => new Option(label, value)));
}

function choose(select, value) {
  if ([...select.options].some((o) => o.value === value)) select.value = value;
}

function cards() {
  $('models').querySelector('tbody').replaceChildren(...state.models.map((m) => {
    const row = document.createElement('tr');
    for (const text of [`${languageName(m.source)} → ${languageName(m.target)}`, m.name, m.architecture,
      m.parameters.toLocaleString(), m.type, m.device, m.version.slice(0, 12)]) {
      const cell = document.createElement('td');
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  }));
}

// ---- translating

async function detect(text, signal) {
  if ($('source').value !== AUTO) {
    $('detected').textContent = '';
    return;
  }
  const {detections: [d]} = await api.detect(text.slice(0, 2000), signal);
  state.detected = d.language;
  $('detected').textContent = `Detected: ${languageName(d.language)} (${d.confidence} %)`;
}

// Chunks one after the other, the next one under way while one streams in.
async function translate(text, signal) {
  const parts = (state.format === 'text' ? chunks(text) : [text]).map((t) => ({text: t, points: codePoints(t)}));
  output.begin(parts);
  const [source, target] = pair();
  $('output').lang = target;
  $('output').dir = direction(target);
  let next = 0, done = 0;
  const run = async () => {
    while (next < parts.length) {
      const i = next++;
      const answer = await api.stream({text: parts[i].text, source, target, format: state.format},
        (s) => output.sentence(i, s), signal);
      const [translation] = answer.translations;
      output.finish(i, translation, codePoints(translation.text));
      done++;
      if (parts.length > 1) say(`${Math.round((100 * done) / parts.length)} %`);
    }
  };
  await Promise.all([run(), run()]);
}

async function start() {
  clearTimeout(state.timer);
  state.running?.abort();
  const text = $('input').value, running = new AbortController();
  state.running = running;
  $('error').hidden = true;
  $('sentence').hidden = true;
  $('legend').hidden = true;
  ready(false);
  if (!text.trim()) {
    output.begin([]);
    say('');
    return;
  }
  say('Translating …');
  const begin = performance.now();
  try {
    await detect(text, running.signal);
    await translate(text, running.signal);
    if (state.running !== running) return;
    say(`Done in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    ready(true);
    marks();
    history.add({text, source: pair()[0], target: pair()[1]});
  } catch (e) {
    if (state.running === running) fail(e);
  }
}

function ready(yes) {
  for (const id of ['copy', 'download', 'share']) $(id).disabled = !yes;
}

// Doubtful sentences, each with its reasons.
function marks() {
  const flagged = output.all().filter((s) => s.entry.flags.length);
  $('legend').hidden = !flagged.length;
  $('legend').replaceChildren(...flagged.slice(0, 20).map((s) => {
    const li = document.createElement('li'), button = document.createElement('button');
    button.type = 'button';
    button.textContent = s.textContent.slice(0, 90);
    button.addEventListener('click', () => output.choose(s));
    li.append(button, ' — ' + s.entry.flags.map(explain).join(' '));
    return li;
  }));
}

// ---- tools

function typed() {
  $('count').textContent = $('input').value ? `${$('input').value.length.toLocaleString()} characters` : '';
  clearTimeout(state.timer);
  if ($('auto').checked) state.timer = setTimeout(start, TYPING_MS);
}

async function upload() {
  const [file] = $('file').files;
  if (!file) return;
  $('file').value = '';
  $('error').hidden = true;
  const {format, refused} = documents.kind(file.name);
  if (refused) {
    fail(new Error(refused));
    return;
  }
  if (!format) {
    documents.translate(file, $('source').value === AUTO ? null : $('source').value, $('target').value);
    return;
  }
  state.format = format;
  state.file = file.name;
  $('input').value = await file.text();
  typed();
  start();
}

function download() {
  save(new Blob([output.text()], {type: 'text/plain;charset=utf-8'}), translatedName(state.file || 'translation.txt', $('target').value));
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say('This browser does not let the page copy: select the text instead.');
  }
}

function share() {
  // After the #: browsers send it to no server.
  const hash = new URLSearchParams({source: pair()[0], target: pair()[1], text: $('input').value});
  window.history.replaceState(null, '', '#' + hash);
  copy(location.href, 'Link');
}

function swap() {
  const [source, target] = pair();
  if (!source) return;
  choose($('source'), target);
  choose($('target'), source);
  const text = output.text();
  if (text) $('input').value = text;
  start();
}

function toggle(button, section) {
  const open = section.hidden;
  section.hidden = !open;
  button.setAttribute('aria-expanded', String(open));
  if (open) section.focus();
}

$('input').addEventListener('input', () => {
  if (!$('input').value) {
    state.format = 'text';
    state.file = null;
  }
  typed();
});
$('input').addEventListener('keydown', (e) => {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) start();
});
for (const id of ['source', 'target'])
  $(id).addEventListener('change', () => {
    localStorage.setItem('dragoman-' + id, $(id).value);
    start();
  });
$('translate').addEventListener('click', start);
$('clear').addEventListener('click', () => {
  $('input').value = '';
  state.format = 'text';
  state.file = null;
  typed();
  start();
  $('input').focus();
});
$('swap').addEventListener('click', swap);
$('copy').addEventListener('click', () => copy(output.text(), 'Translation'));
$('download').addEventListener('click', download);
$('share').addEventListener('click', share);
$('file').addEventListener('change', upload);
$('show-models').addEventListener('click', () => toggle($('show-models'), $('models')));
$('show-history').addEventListener('click', () => toggle($('show-history'), $('history')));
$('key-form').addEventListener('submit', (e) => {
  e.preventDefault();
  api.setKey($('key').value);
  $('key-form').hidden = true;
  load().then(() => $('input').value && start());
});
load();
