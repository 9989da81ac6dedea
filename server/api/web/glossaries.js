// Glossaries that this server keeps: the one that translations use is chosen, and its entries are added, changed and deleted.
import * as api from './api.js';
import {$, fill, node} from './elements.js';
import {endingOf, onFiles, readText, save} from './file.js';
import {local} from './kept.js';
import {keptKey} from './key.js';
import {fail} from './messages.js';
import {readTbx} from './tbx.js';
import {direction} from './text.js';
import {languageName, number, t} from './words.js';

const CHOSEN = 'dragoman-glossary', MOST_SHOWN = 200;
const FORMATS = {'.tsv': 'tsv', '.txt': 'tsv', '.csv': 'csv', '.tmx': 'tmx', '.tbx': 'tbx'};

// What a language code says: its language, script and region, undefined where it does not say.
function said(code) {
  try {
    const {language, script, region} = new Intl.Locale(code), {script: likely} = new Intl.Locale(code).maximize();
    return [language, script ?? (region && likely), region];
  } catch { // no code of a language
    return [code];
  }
}

// Whether two codes are one language as far as both say, as the server compares them.
const agree = (a, b) => said(a).every((part, i) => !part || !said(b)[i] || part === said(b)[i]);

// A glossary's dictionary for a pair of languages, {source, target, entries}; undefined if it has none. source null: not known yet.
export function dictionary(glossary, source, target) {
  const fits = ({source: from, target: to}, same) => (!source || same(from, source)) && same(to, target);
  const find = (same) => glossary.dictionaries.find((d) => fits(d, same));
  return find((a, b) => a === b) ?? find(agree);
}

export class Glossaries {
  // pair(): the languages of the text and its translation; the first is null until it is known.
  // changed(): translations use other entries now.
  constructor(pair, changed) {
    Object.assign(this, {pair, changed});
    this.list = [];
    this.revision = 0; // of the entries, as far as they were changed here
    this.making = false; // a new one
    this.turn = Promise.resolve(); // of changes: the last one's end
    this.languages = [null, null]; // of the card
    this.shown = ''; // whose entries it shows
    this.entries = [];
    $('glossary').addEventListener('change', () => this.choose($('glossary').value));
    $('glossary-new').addEventListener('click', () => this.make());
    $('glossary-rename').addEventListener('click', () => this.rename());
    $('glossary-delete').addEventListener('click', () => this.remove());
    $('glossary-save').addEventListener('click', () => this.save());
    $('glossary-find').addEventListener('input', () => this.show_entries());
    $('glossary-form').addEventListener('submit', (e) => {
      e.preventDefault();
      this.add();
    });
    onFiles($('glossary-file'), (files) => this.upload(files));
  }

  // offered: whether there are glossaries here. kept: whether they can be made and changed.
  async load(offered, kept) {
    $('glossary-choice').hidden = !offered;
    $('show-glossaries').hidden = !kept;
    const {glossaries, server} = offered ? await api.patiently(api.glossaries) : {glossaries: [], server: []};
    this.list = [...server.map((g) => ({...g, id: g.name, file: true})), ...glossaries]; // file: it is read from one on the server
    this.fill(local.get(CHOSEN));
    this.show();
  }

  fill(id) {
    fill($('glossary'), [['', t`No glossary`], ...this.list.map((g) => [g.id, g.name])], id);
  }

  choose(id) {
    local.set(CHOSEN, id);
    this.making = false;
    this.show();
    this.changed();
  }

  chosen() {
    return this.list.find((g) => g.id === $('glossary').value);
  }

  // The id of the glossary for translations between these languages, undefined for none. Says where the chosen one is not used.
  use(source, target) {
    const glossary = this.chosen(), used = glossary && dictionary(glossary, source, target);
    $('glossary-hint').textContent = glossary && !used ?
      t`“${glossary.name}” has no entries from ${source ? languageName(source) : t`any language`} to ${languageName(target)}.` : '';
    return used && glossary.id;
  }

  // ---- the entries, in a card of their own

  open() {
    this.making = false;
    this.show();
  }

  make() {
    this.making = true;
    this.show();
    $('glossary-name').focus();
  }

  // Show the chosen glossary's entries for the languages of now, or the fields of a new one.
  async show() {
    const [source, target] = this.pair(), glossary = this.making ? undefined : this.chosen();
    if ($('glossaries').hidden || !target) return;
    this.languages = [source, target];
    const changeable = !glossary?.file && (!glossary?.shared || !keptKey()); // with keys, those that all may use are nobody's
    this.making = !glossary;
    this.changeable = changeable;
    this.own = glossary && !glossary.file && source ? dictionary(glossary, source, target) : undefined;
    $('glossaries-title').textContent = (glossary ? t`Glossary “${glossary.name}”` : t`New glossary`) +
      (source ? `: ${languageName(source)} → ${languageName(target)}` : '');
    $('glossary-new').hidden = !glossary;
    for (const id of ['glossary-rename', 'glossary-delete']) $(id).hidden = !glossary || !changeable;
    $('glossary-form').hidden = !source || !changeable;
    $('glossary-name').parentElement.hidden = Boolean(glossary);
    $('glossary-name').required = !glossary;
    for (const [side, language] of [['source', source], ['target', target]]) {
      $('term-' + side).previousElementSibling.textContent = language ? t`${languageName(language)} term` : '';
      $('term-' + side).lang = language ?? '';
      $('term-' + side).dir = language ? direction(language) : 'auto';
    }
    $('glossary-note').textContent = !source ? t`Choose the language of the text first, or let a text be translated.` :
      glossary?.file ? t`This glossary is a file of the server and is changed there.` :
      !changeable ? t`This glossary is for all keys: none of them can change it.` : t`An entry takes the place of one for the same term.`;
    await this.read(glossary);
  }

  // Ask for the entries, unless they are those on the page.
  async read(glossary) {
    const {own} = this, shown = own ? `${glossary.id} ${own.source} ${own.target} ${this.revision}` : '';
    if (shown !== this.shown) $('glossary-error').hidden = true; // of another glossary
    else if (shown) return;
    this.shown = shown;
    this.entries = [];
    try {
      const text = own ? await api.patiently(() => api.glossaryEntries(glossary.id, own.source, own.target), undefined, $('glossary-note')) : '';
      if (this.shown !== shown) return; // another glossary is shown by now
      this.text = text;
      this.entries = text.split('\n').filter(Boolean).map((line) => line.split('\t'));
    } catch (e) {
      if (this.shown !== shown) return;
      this.shown = '';
      this.refuse(e);
    }
    this.show_entries();
  }

  show_entries() {
    const wanted = $('glossary-find').value.toLowerCase(), has = (entry) => entry.some((term) => term.toLowerCase().includes(wanted));
    const found = wanted ? this.entries.filter(has) : this.entries, more = found.length - MOST_SHOWN;
    for (const id of ['glossary-save', 'glossary-find-label']) $(id).hidden = !this.entries.length;
    $('glossary-list').replaceChildren(...found.slice(0, MOST_SHOWN).map((entry) => this.line(entry)),
      ...(more > 0 ? [node('li', {}, more === 1 ? t`One more entry: search for it.` : t`${number(more)} more entries: search for one.`)] : []));
  }

  line([source, target]) {
    const {own} = this;
    const change = node('button', {type: 'button', title: t`Change`}, node('bdi', {dir: direction(own.source), lang: own.source}, source), ' → ',
      node('bdi', {dir: direction(own.target), lang: own.target}, target));
    const remove = node('button', {type: 'button', class: 'close', 'aria-label': t`Delete ${`${source} → ${target}`}`, title: t`Delete`}, '✕');
    change.disabled = remove.hidden = !this.changeable;
    change.addEventListener('click', () => {
      [$('term-source').value, $('term-target').value] = [source, target];
      $('term-target').focus();
      $('term-target').select();
    });
    remove.addEventListener('click', () => this.drop(source));
    return node('li', {}, node('div', {class: 'row'}, change, remove));
  }

  async add() {
    const [source, target] = ['term-source', 'term-target'].map((id) => $(id).value.trim());
    if (!await this.change({entries: {[source]: target}})) return;
    for (const id of ['term-source', 'term-target', 'glossary-name']) $(id).value = '';
    $('term-source').focus();
  }

  async drop(term) {
    const list = $('glossary-list'), at = [...list.children].indexOf(document.activeElement.closest('li'));
    if (!await this.change({entries: {[term]: null}})) return;
    const next = list.querySelectorAll('.close');
    (next[Math.min(at, next.length - 1)] ?? $('term-source')).focus();
  }

  // Add the entries of files, one after the other, up to the first that is refused.
  async upload(files) {
    if (!this.changeable || !this.languages[0]) return; // the card says why
    for (const file of files) if (!await this.addFile(file)) return;
  }

  // Add a file's entries for the languages of now. Returns whether the server took them.
  async addFile(file) {
    try {
      const entries = await this.entriesOf(file);
      if (this.making) $('glossary-name').value ||= file.name.replace(/(\.\w+-[\w-]+)?\.[^.]*$/, ''); // as the server calls terms.en-de.tsv
      if (!await this.change(entries)) return false;
      $('glossary-name').value = '';
      return true;
    } catch (e) {
      this.refuse(new Error(`${file.name}: ${e.message}`));
      return false;
    }
  }

  // What a request says of them: text that the server reads, or an object. Throws an error that says why there are none.
  async entriesOf(file) {
    const format = FORMATS[endingOf(file.name)];
    if (!format) throw new Error(t`Files of entries end in ${Object.keys(FORMATS).join(' ')}.`);
    const {text} = await readText(file);
    if (format !== 'tbx') return {format, entries: text};
    const [source, target] = this.languages, entries = readTbx(text, source, target, agree);
    if (!Object.keys(entries).length) throw new Error(t`It has no terms from ${languageName(source)} to ${languageName(target)}.`);
    return {entries};
  }

  // Change the entries, or make the new glossary with them. Returns whether the server did.
  change(entries) {
    return this.inTurn(() => {
      const [source, target] = this.languages, {own = {source, target}} = this;
      const dictionaries = [{source: own.source, target: own.target, ...entries}];
      return this.put(this.making ? undefined : this.chosen(),
        this.making ? {name: $('glossary-name').value.trim(), dictionaries} : {dictionaries});
    });
  }

  async rename() {
    const glossary = this.chosen(), name = prompt(t`New name of the glossary “${glossary.name}”:`, glossary.name)?.trim();
    if (name && name !== glossary.name) await this.inTurn(() => this.put(glossary, {name}));
  }

  // Change this glossary on the server, or make one.
  async put(glossary, body) {
    this.replace(glossary, await (glossary ? api.changeGlossary(glossary.id, body) : api.makeGlossary(body)));
    await this.show();
  }

  // One change after the other: a file's entries may still be on their way when an entry is added. Returns whether the server did it.
  inTurn(what) {
    const done = this.turn.then(async () => {
      $('glossary-error').hidden = true;
      await what();
      return true;
    }).catch((e) => {
      this.refuse(e);
      return false;
    });
    this.turn = done;
    return done;
  }

  // One glossary takes another one's place in the list; either may be undefined.
  replace(before, after) {
    const at = before ? this.list.indexOf(before) : this.list.length;
    this.list.splice(at, 1, ...(after ? [after] : []));
    this.revision++;
    this.making = false;
    this.fill(after?.id);
    local.set(CHOSEN, $('glossary').value);
    this.changed();
  }

  async remove() {
    const glossary = this.chosen(), n = glossary.dictionaries.reduce((sum, d) => sum + d.entries, 0);
    if (!confirm(t`Delete the glossary “${glossary.name}”? Entries in all its languages: ${number(n)}.`)) return;
    const gone = await this.inTurn(async () => {
      await api.removeGlossary(glossary.id);
      this.replace(glossary);
      await this.show();
    });
    if (gone) $('glossaries').focus();
  }

  save() {
    const {own} = this;
    save(new Blob([this.text], {type: 'text/tab-separated-values;charset=utf-8'}), `${this.chosen().name}.${own.source}-${own.target}.tsv`);
  }

  refuse(e) {
    if (e.name === 'AbortError') return;
    if (api.wantsKey(e)) fail(e);
    $('glossary-error').textContent = e.message.replace(`${e.field}: `, ''); // of the request
    $('glossary-error').hidden = false;
  }
}
