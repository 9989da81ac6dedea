// Documents: which files the server takes, and one on its way there, translated, and back.
import * as api from './api.js';
import {node, save, took, translatedName} from './text.js';

const $ = (id) => document.getElementById(id);
const SOONEST = 0.5, LATEST = 10; // seconds between two questions
// These are translated in the text's pane, sentence by sentence, by every server.
const AS_TEXT = {'.txt': 'text', '.md': 'markdown', '.markdown': 'markdown', '.srt': 'srt', '.vtt': 'srt'};
// These, too, where the server takes no documents.
const AS_SOURCE = {'.html': 'html', '.htm': 'html'};

// How long to wait before asking for a document again: a fifth of the time spent, at most as long as it still takes. Each question
// is a request of the key, and a key may have few of them a minute.
export const pause = (spent, left = LATEST) => Math.min(LATEST, Math.max(SOONEST, Math.min(left, spent / 5)));

const endingOf = (name) => /\.[^.]*$/.exec(name)?.[0].toLowerCase();

const seconds = (s) => (s < 90 ? `${s} s` : `${Math.round(s / 60)} min`);

export class Documents {
  // fail(error): shows it. focus: the element that has the focus once the document's card is closed.
  constructor(fail, focus) {
    this.fail = fail;
    this.focus = focus;
    this.served = [];
    this.known = false; // whether the server has said what it serves
    this.needs = '--documents FILE';
    this.file = null;
    this.result = null;
    $('document-close').addEventListener('click', () => this.close());
    $('document').addEventListener('keydown', (e) => e.key === 'Escape' && this.close());
    $('document-download').addEventListener('click', () => save(this.result.blob, this.result.name));
  }

  // Ask which kinds of files are served, and show them. routes: of the server; these two are other servers' dialects.
  // place: the element that says why the page waits.
  async load(routes, place) {
    const spoken = ['GET /frontend/settings', 'POST /v2/document'].every((r) => routes.includes(r));
    const {filesTranslation, supportedFilesFormat} = spoken ? await api.patiently(api.settings, undefined, place) : {};
    this.needs = spoken ? '--documents FILE' : '--documents FILE --dialects all';
    this.served = filesTranslation ? supportedFilesFormat : [];
    this.known = true;
    const all = this.endings();
    $('file').accept = all.join(',');
    $('formats').textContent = `Files: ${all.join(' ')}`;
    if (!this.served.length)
      $('formats').append('. Other documents need a server that runs with ', node('code', {}, this.needs), '.');
  }

  endings() {
    return [...new Set([...Object.keys(AS_TEXT), ...Object.keys(AS_SOURCE), ...this.served])];
  }

  serves(name) {
    return this.served.includes(endingOf(name));
  }

  // How a file is translated: {format} in the text's pane, {document: true}, or {refused: why}.
  kind(name) {
    const ending = endingOf(name);
    if (AS_TEXT[ending]) return {format: AS_TEXT[ending]};
    if (!this.known) return {refused: `The server has not said yet whether it translates files like ${name}.`};
    if (this.serves(name)) return {document: true};
    if (AS_SOURCE[ending]) return {format: AS_SOURCE[ending]};
    return {refused: this.served.length ? `Files like ${name} cannot be translated: names end in ${this.endings().join(' ')}.` :
      `This server does not translate files like ${name}: it runs without ${this.needs}. It translates ${this.endings().join(' ')}.`};
  }

  close() {
    this.running?.abort();
    $('document').hidden = true;
    this.focus.focus();
  }

  say(text, share) {
    $('document-state').textContent = text;
    if (share === undefined) $('document-progress').removeAttribute('value');
    else $('document-progress').value = share;
  }

  // Send it, wait for its translation, and offer that.
  async translate(file, source, target) {
    this.running?.abort();
    const running = (this.running = new AbortController()), begin = performance.now();
    $('document').hidden = false;
    $('document-progress').hidden = false;
    $('document-download').disabled = true;
    $('document-title').textContent = file.name;
    this.say('Uploading …');
    $('document').focus();
    try {
      const made = await api.patiently(() => api.sendDocument(file, source, target, running.signal), running.signal, $('document-state'));
      const {billed_characters: characters} = await this.done(made, running.signal);
      const blob = await this.surely(() => api.documentResult(made, running.signal), running.signal);
      this.result = {blob, name: translatedName(file.name, target)};
      this.say(`Done in ${took(performance.now() - begin)}: ${characters.toLocaleString()} ${characters === 1 ? 'character' : 'characters'}`, 1);
      $('document-download').disabled = false;
    } catch (e) {
      if (running.signal.aborted) return;
      this.say('Not translated.', 0);
      $('document-progress').hidden = true;
      this.fail(e);
    }
  }

  // A document and its translation outlive the server's restarts and a key's minute: where there is no answer, ask again.
  async surely(what, signal) {
    for (;;) {
      try {
        return await what();
      } catch (e) {
        if (!api.away(e) && !api.passing(e)) throw e;
        this.say(e.status === 429 ? api.USED_UP : 'The server does not answer. Asking again …');
        await api.wait(1000 * e.retryAfter, signal);
      }
    }
  }

  async done(made, signal) {
    const begin = performance.now();
    for (let next = 0; ; await api.wait(1000 * next, signal)) {
      const now = await this.surely(() => api.documentStatus(made, signal), signal);
      if (now.status === 'done') return now;
      if (now.status === 'error') throw new api.ApiError(0, 'document', now.error_message);
      const spent = (performance.now() - begin) / 1000, left = now.seconds_remaining;
      if (now.status === 'queued') this.say('Other documents are first …');
      else this.say(left ? `Translating, about ${seconds(left)} left` : 'Translating …', left && spent / (spent + left));
      next = pause(spent, left);
    }
  }
}
