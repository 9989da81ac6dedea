// Documents: which files the server takes, and those on their way there, translated, and back, one after the other.
import * as api from './api.js';
import {$, node} from './elements.js';
import {again, session} from './kept.js';
import {endingOf, save, translatedName} from './file.js';
import {fail} from './messages.js';
import {counted, t, took} from './words.js';

const SOONEST = 0.5, LATEST = 10; // seconds between two questions
const KEPT = 'dragoman-documents', NEEDS = '--documents FILE';
// These are translated in the text's pane, sentence by sentence, by every server.
const AS_TEXT = {'.txt': 'text', '.md': 'markdown', '.markdown': 'markdown', '.srt': 'srt', '.vtt': 'srt'};
// These, too, where the server takes no documents.
const AS_SOURCE = {'.html': 'html', '.htm': 'html'};

// How long to wait before asking for a document again: a fifth of the time spent, at most as long as it still takes. Each question
// is a request of the key, and a key may have few of them a minute.
export const pause = (spent, left = LATEST) => Math.min(LATEST, Math.max(SOONEST, Math.min(left, spent / 5)));

const seconds = (s) => (s < 90 ? `${s} s` : `${Math.round(s / 60)} min`);

// A document's line on the page.
class Row {
  // stop(), remove(): called by the line's buttons.
  constructor(name, stop, remove) {
    this.name = name;
    this.running = new AbortController();
    this.made = null; // what the server calls it
    this.state = node('p', {class: 'state', role: 'status'});
    this.progress = node('progress', {'aria-label': t`Progress of ${name}`});
    this.download = node('button', {type: 'button', class: 'primary download', 'aria-label': t`Download the translation of ${name}`}, t`Download the translation`);
    this.close = node('button', {type: 'button', class: 'close', 'aria-label': t`Remove ${name}`, title: t`Remove`}, '✕');
    this.stop = node('button', {type: 'button', class: 'stop', 'aria-label': t`Stop the translation of ${name}`}, t`Stop`);
    this.download.disabled = true;
    this.stop.addEventListener('click', stop);
    this.close.addEventListener('click', remove);
    this.element = node('li', {}, node('div', {class: 'card-head'}, node('h3', {}, name), this.close), this.state,
      node('div', {class: 'row'}, this.progress, this.stop, this.download));
  }

  say(text, share) {
    this.state.textContent = text;
    if (share === undefined) this.progress.removeAttribute('value');
    else this.progress.value = share;
  }

  finish(text, blob, name) {
    this.say(text, 1);
    this.hide_stop();
    this.download.disabled = false;
    this.download.addEventListener('click', () => save(blob, name));
  }

  // There will be no translation; text: why.
  end(text) {
    this.say(text, 0);
    this.hide_stop();
    this.progress.hidden = true;
    this.made = null;
  }

  hide_stop() {
    const had = document.activeElement === this.stop;
    this.stop.hidden = true;
    if (had) this.close.focus();
  }
}

export class Documents {
  constructor() {
    this.served = [];
    this.known = false; // whether the server has said what it serves
    this.rows = [];
    this.last = Promise.resolve(); // of the documents that came before
  }

  // Show which kinds of files can be translated. served: the endings of the server's documents.
  load(served) {
    this.served = served;
    const all = this.endings();
    $('file').accept = all.join(',');
    $('file').multiple = this.served.length > 0;
    $('formats').textContent = t`Files: ${all.join(' ')}`;
    if (!this.served.length) $('formats').append('. ', t`Other documents need a server that runs with ${NEEDS}.`);
    if (!this.known) this.resume();
    this.known = true;
  }

  endings() {
    return [...new Set([...Object.keys(AS_TEXT), ...Object.keys(AS_SOURCE), ...this.served])];
  }

  serves(name) {
    return this.served.includes(endingOf(name));
  }

  // The format of a file that is translated in the text's pane, undefined for a document. Throws an error that says why it is neither.
  format(name) {
    const ending = endingOf(name);
    if (AS_TEXT[ending]) return AS_TEXT[ending];
    if (!this.known) throw new Error(t`The server has not said yet whether it translates files like ${name}.`);
    if (this.serves(name)) return undefined;
    if (AS_SOURCE[ending]) return AS_SOURCE[ending];
    throw new Error(this.served.length ? t`Files like ${name} cannot be translated: names end in ${this.endings().join(' ')}.` :
      t`This server does not translate files like ${name}: it runs without ${NEEDS}. It translates ${this.endings().join(' ')}.`);
  }

  // Several files at once are documents, texts as well: the text's pane has room for one. Throws an error that names those that are none.
  translateAll(files, order) {
    if (!this.served.length) throw new Error(t`Choose one file: several at once need a server that runs with ${NEEDS}.`);
    const refused = files.filter((f) => !this.serves(f.name)).map((f) => f.name);
    for (const file of files) if (!refused.includes(file.name)) this.translate(file, order);
    if (refused.length) throw new Error(t`${refused.join(', ')} cannot be translated: names end in ${this.endings().join(' ')}.`);
  }

  // Send a file, wait for its translation, and offer that. order: {source, target, glossary, rerank}, see api.sendDocument.
  translate(file, order) {
    const row = this.add(file.name), {signal} = row.running;
    $('document').focus();
    this.inTurn(row, order.target, async () => {
      row.say(t`Uploading …`);
      row.made = await api.patiently(() => api.carefully(order, (so) => api.sendDocument(file, so, signal)), signal, row.state);
      this.keep();
    });
  }

  add(name) {
    const row = new Row(name, () => this.stop(row), () => this.remove(row));
    this.rows.push(row);
    $('document-list').append(row.element);
    $('document').hidden = false;
    row.say(t`Waiting …`);
    return row;
  }

  // Deletes the document on the server, too, so that it does not delay others there. Its line stays.
  stop(row) {
    row.running.abort();
    if (row.made) api.removeDocument(row.made).catch(() => {}); // it expires by itself
    row.end(t`Stopped.`);
    this.keep();
  }

  remove(row) {
    const at = this.rows.indexOf(row);
    row.element.remove();
    this.rows.splice(at, 1);
    this.stop(row);
    $('document').hidden = !this.rows.length;
    (this.rows[at] ?? this.rows[at - 1])?.close.focus();
    if (!this.rows.length) $('file').focus();
  }

  // send(): makes the document known to the server, where it is not.
  inTurn(row, target, send) {
    row.target = target;
    const run = async () => {
      const {signal} = row.running, begin = performance.now();
      try {
        signal.throwIfAborted();
        await send?.();
        const {characters} = await this.done(row);
        const blob = await this.surely(row, () => api.documentResult(row.made, signal));
        row.finish(t`Done in ${took(performance.now() - begin)}: ${counted(characters, 'character')}`, blob, translatedName(row.name, target));
      } catch (e) {
        if (signal.aborted) return;
        row.end(t`Not translated: ${e.message}`);
        this.keep();
        if (api.wantsKey(e)) fail(e);
      }
    };
    this.last = this.last.then(run);
  }

  // A document and its translation outlive the server's restarts and a key's minute: where there is no answer, ask again.
  async surely(row, what) {
    for (;;) {
      try {
        return await what();
      } catch (e) {
        if (!api.away(e) && !api.passing(e)) throw e;
        row.say(e.status === 429 ? api.USED_UP : t`The server does not answer. Asking again …`);
        await api.wait(1000 * e.retryAfter, row.running.signal);
      }
    }
  }

  async done(row) {
    const {signal} = row.running, begin = performance.now();
    let first = null; // time and progress of the first answer during its translation
    for (let next = 0; ; await api.wait(1000 * next, signal)) {
      const now = await this.surely(row, () => api.documentStatus(row.made, signal)), {progress} = now;
      if (now.status === 'done') return now;
      if (now.status === 'failed') throw new api.ApiError(0, 'document', now.message);
      const spent = (performance.now() - begin) / 1000;
      if (now.status === 'queued') row.say(t`Other documents are first …`);
      else first ??= {spent, progress};
      const left = first && progress > first.progress ? Math.ceil(((spent - first.spent) * (1 - progress)) / (progress - first.progress)) : undefined;
      if (first) row.say(left ? t`Translating, about ${seconds(left)} left` : t`Translating …`, left && progress);
      next = pause(spent, left);
    }
  }

  // For a reload: which documents this tab has at the server.
  keep() {
    const list = this.rows.filter((row) => row.made).map(({made, name, target}) => ({made, name, target}));
    if (list.length) session.set(KEPT, JSON.stringify(list));
    else session.remove(KEPT);
  }

  resume() {
    const list = again() ? JSON.parse(session.get(KEPT) || '[]') : [];
    for (const {made, name, target} of list) {
      const row = this.add(name);
      row.made = made;
      this.inTurn(row, target);
    }
    this.keep();
  }
}
