// The text field: its text, the format and the file that the text has, and the text that the page itself replaced.

import {$} from './elements.js';
import {again, session} from './kept.js';

const KEPT = 'dragoman-text';

export class Field {
  // formats: those that a text may have, 'text' among them. pair(): the languages chosen now. changed(languages): another text is in
  // the field; languages: that it had, undefined if it was typed.
  constructor(formats, pair, changed) {
    this.formats = formats;
    this.pair = pair;
    this.changed = changed;
    this.format = 'text';
    this.file = null; // that the text came from, {name, mark, end}, see readText
    this.set = {text: '', format: 'text', file: null}; // what the page put there
    this.before = null; // what was there before that
    this.rename();
    this.selected = null; // what is about to be replaced as a whole
    $('input').addEventListener('beforeinput', (e) => this.select(e));
    $('input').addEventListener('input', () => this.typed());
    $('input').addEventListener('keydown', (e) => this.key(e));
    $('undo').addEventListener('click', () => this.undo());
    window.addEventListener('pagehide', () => this.keep());
    document.addEventListener('visibilitychange', () => document.hidden && this.keep()); // a phone may end the page later without a word
    this.resume();
  }

  get text() {
    return $('input').value;
  }

  now() {
    return {text: this.text, format: this.format, file: this.file, pair: this.pair()};
  }

  // Put a text in the place of what is there, which may be undone.
  put(text, format = 'text', file = null) {
    if (this.text) this.before = this.now();
    this.fill({text, format: this.formats.includes(format) ? format : 'text', file});
  }

  fill(content) {
    $('input').dir = 'ltr'; // with auto, Chromium determines the direction again at each line: almost a minute for 5 MB
    $('input').value = content.text;
    $('input').dir = 'auto';
    this.set = {...content, text: this.text}; // a field has \n at the end of each line
    this.rename();
    this.restore();
    this.show();
  }

  // The format and the file that a text had.
  restore() {
    ({format: this.format, file: this.file} = this.set);
  }

  // Another name for a text that takes another one's place, in all tabs; a text that is changed keeps its own.
  rename() {
    this.work = `${performance.timeOrigin + performance.now()}`;
  }

  undoable() {
    return Boolean(this.before) && this.text === this.set.text;
  }

  show() {
    $('undo').hidden = !this.undoable();
  }

  undo() {
    const {before} = this;
    this.before = null;
    if (this.text) this.before = this.now(); // so that it may be undone as well
    this.fill(before);
    this.changed(before.pair);
    $('input').focus();
  }

  select(e) {
    const {selectionStart: from, selectionEnd: to} = $('input'), {text, format, file} = this;
    const all = text && from === 0 && to === text.length && !/^history/.test(e.inputType);
    this.selected = all ? {text, format, file} : null;
  }

  // A text that takes the place of all that was there is none of the file's, unless that is undone.
  typed() {
    const {selected, text} = this;
    if (selected && (selected.file || selected.format !== 'text')) this.set = selected;
    if (selected || !text) this.format = 'text', this.file = null, this.rename();
    if (text === this.set.text) this.restore();
    this.selected = null;
    this.show();
    this.changed();
  }

  // A browser forgets what the page put into the field, so the page itself answers its keys for undoing.
  key(e) {
    if (e.key.toLowerCase() !== 'z' || e.shiftKey || !(e.ctrlKey || e.metaKey) || !this.undoable()) return;
    e.preventDefault();
    this.undo();
  }

  // For the next time that this tab opens the page: as long as there is the tab, and in the browser alone.
  keep() {
    const {text, format, file} = this;
    if (text) session.set(KEPT, JSON.stringify({text, format, file}));
    else session.remove(KEPT);
  }

  // What was there when the page was left. Some browsers keep the text themselves, but not its format.
  resume() {
    const kept = session.get(KEPT);
    session.remove(KEPT);
    if (!kept || !again()) return;
    const content = JSON.parse(kept);
    if (!this.text || this.text === content.text) this.fill(content);
  }
}
