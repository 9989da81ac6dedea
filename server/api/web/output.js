// The translation as it streams in: an element for each sentence, and what is between sentences as text.

import {node} from './elements.js';
import {chunks, codePoints, lineStart, unchanged} from './text.js';

export class Output {
  // onSentence(entry, at): a sentence was chosen, at a place in code points; undefined: not at a word.
  constructor(element, onSentence) {
    this.element = element;
    this.onSentence = onSentence;
    this.parts = []; // of the text, see begin
    this.old = null; // what the text had in the place of parts that are new, until their translation comes
    this.taken = new Map(); // for each source sentence of `old`, in order: the alternative chosen for it, null: none
    this.work = null;
    this.format = 'text';
    element.addEventListener('click', (e) => this.choose(e.target.closest('.s'), e));
    element.addEventListener('keydown', (e) => this.key(e));
    element.addEventListener('copy', copyText);
  }

  // A text to translate, in parts that the server takes, most characters each. work: which text in which languages this is; where it
  // is that of the time before, the parts that are translated stay, unless all is to be translated anew. Returns the other parts.
  begin(text, format, most, work, anew) {
    if (work !== this.work) this.clear();
    this.format = format;
    this.work = work;
    for (const part of this.parts) part.finished &&= !anew;
    const {head, tail, middle} = unchanged(this.parts, text, format);
    const made = middle ? chunks(middle, format, most).map((t) => this.part(t)) : [];
    this.leave(this.parts.splice(head, this.parts.length - head - tail, ...made));
    const after = this.parts[head + made.length]?.node ?? null;
    for (const {node} of [...made, {node: this.old}]) this.element.insertBefore(node, after);
    this.complete();
    return made;
  }

  part(text) {
    return {text, points: codePoints(text), node: node('span', {}), arrived: [], shown: 0, finished: false};
  }

  clear() {
    this.element.replaceChildren();
    this.parts = [];
    this.work = this.old = null;
    this.taken.clear();
  }

  // Keep what these parts show on the page until there is something else, and which translations were taken in them.
  leave(parts) {
    const before = this.old, taken = this.taken;
    this.old = node('span', {inert: ''});
    this.taken = new Map();
    const add = (source, translation) => {
      if (!this.taken.has(source)) this.taken.set(source, []);
      this.taken.get(source).push(translation);
    };
    for (const {node} of parts) {
      for (const {entry} of node.children) add(entry.source, entry.taken ? {text: entry.span.textContent, flags: entry.flags} : null);
      this.old.append(...node.childNodes);
      node.remove();
    }
    this.old.append(...before?.childNodes ?? []);
    before?.remove();
    for (const [source, list] of taken) list.forEach((translation) => add(source, translation));
  }

  // No more translations come: what the page had of the text before goes.
  stop() {
    this.old?.remove();
    this.old = null;
  }

  complete() {
    if (!this.parts.every((part) => part.finished)) return;
    this.stop();
    this.taken.clear();
  }

  // A sentence that takes the place of one of the text before.
  replace() {
    while (this.old?.firstChild && this.old.firstChild.nodeType !== Node.ELEMENT_NODE) this.old.firstChild.remove();
    this.old?.firstChild?.remove();
  }

  // A streamed sentence: shown once all before it are there.
  sentence(part, s) {
    if (!this.parts.includes(part)) return; // it came too late
    part.arrived[s.sentence_index] = s;
    for (; part.arrived[part.shown]; part.shown++) {
      const before = part.arrived[part.shown - 1];
      const now = part.arrived[part.shown];
      part.node.append(part.points.slice(before ? before.source[1] : 0, now.source[0]));
      part.node.append(this.element_of(part, now.text, now));
      this.replace();
    }
    this.reachable();
  }

  // The whole answer for a part corrects what was streamed. Sentences stay the elements that they are: one may be open or have
  // the focus by now, and one that was exchanged for another translation stays exchanged.
  finish(part, translation) {
    if (!this.parts.includes(part)) return;
    const spans = [...part.node.children], points = codePoints(translation.text);
    let at = 0;
    translation.sentences.forEach((s, n) => {
      const between = points.slice(at, s.target[0]), text = points.slice(s.target[0], s.target[1]), span = spans[n];
      if (!span) part.node.append(between, this.element_of(part, text, s));
      else if (span.entry.streamed === span.textContent) this.set(span, text, s.flags);
      if (span && span.previousSibling.data !== between) span.previousSibling.data = between;
      at = s.target[1];
    });
    for (const span of spans.slice(translation.sentences.length)) span.previousSibling.remove(), span.remove();
    part.node.append(points.slice(at, points.length));
    for (const span of part.node.children) span.entry.pivot = translation.pivot;
    part.finished = true;
    this.complete();
    this.reachable();
  }

  // A sentence's text and what is doubtful about it.
  set(span, text, flags) {
    if (span.textContent !== text) span.textContent = text;
    span.entry.flags = flags;
    span.classList.toggle('flagged', flags.length > 0);
    if (flags.length) span.title = flags.map((f) => f.replaceAll('_', ' ')).join(', ');
    else span.removeAttribute('title');
  }

  // One sentence is in the order of Tab; arrows lead to the others.
  reachable() {
    const first = this.parts.find((part) => part.node.firstElementChild)?.node.firstElementChild;
    if (first && !this.element.querySelector(':not([inert]) > .s[tabindex="0"]')) first.tabIndex = 0;
  }

  element_of(part, text, s) {
    const span = node('span', {class: 's', role: 'button', tabindex: -1});
    const source = part.points.slice(s.source[0], s.source[1]), lead = this.format === 'wrapped' ? lineStart(part.points.slice(0, s.source[0])) : '';
    span.entry = {source, lead, format: this.format, streamed: text, span};
    this.set(span, text, s.flags);
    const taken = this.taken.get(source)?.shift();
    if (taken) this.take(span.entry, taken.text, taken.flags);
    return span;
  }

  // Another translation takes a sentence's place, and keeps it while the text around it changes.
  take(entry, text, flags) {
    this.set(entry.span, text, flags);
    entry.taken = true;
  }

  all() {
    return this.parts.flatMap((part) => [...part.node.children]);
  }

  text() {
    return this.element.textContent;
  }

  choose(span, click) {
    if (!span || (click && !document.getSelection().isCollapsed)) return; // text was selected, to be copied perhaps
    this.focus(span, false);
    this.onSentence(span.entry, click && placeOf(click, span));
  }

  focus(span, move = true) {
    this.all().forEach((s) => (s.tabIndex = s === span ? 0 : -1));
    if (move) span.focus();
  }

  // Arrows move between sentences, in the direction of the text; Enter opens one.
  key(e) {
    const span = e.target.closest?.('.s');
    if (!span) return;
    const all = this.all();
    const right = getComputedStyle(this.element).direction === 'rtl' ? -1 : 1;
    const step = {ArrowRight: right, ArrowDown: 1, ArrowLeft: -right, ArrowUp: -1}[e.key];
    if (step) this.focus(all[Math.min(all.length - 1, Math.max(0, all.indexOf(span) + step))]);
    else if (e.key === 'Enter' || e.key === ' ') this.choose(span);
    else return;
    e.preventDefault();
  }
}

// Where in a sentence's text a click is, in code points.
function placeOf(click, span) {
  const at = document.caretPositionFromPoint?.(click.clientX, click.clientY);
  const range = at ? null : document.caretRangeFromPoint?.(click.clientX, click.clientY);
  const node = at?.offsetNode ?? range?.startContainer, offset = at?.offset ?? range?.startOffset;
  return node && span.contains(node) ? [...span.textContent.slice(0, offset)].length : undefined;
}

// What is selected goes into the clipboard as text: with the page's letters and colours, a translation copied in the dark is white in
// a document.
function copyText(e) {
  e.clipboardData.setData('text/plain', document.getSelection().toString());
  e.preventDefault();
}
