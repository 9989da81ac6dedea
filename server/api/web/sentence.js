// One sentence looked at closely: its words and where each came from, what else could be said, other translations,
// attention weights.
import * as api from './api.js';
import {$, node} from './elements.js';
import {codePoints, direction, words} from './text.js';
import {explain} from './flags.js';
import {AttentionView} from './attention.js';
import {fail} from './messages.js';
import {languageName, t} from './words.js';

// What the server reads before a sentence of subtitles, and the start of its line before one of wrapped text, so that its lines go
// on as they did there.
const CUE = '1\n00:00:00,000 --> 00:00:01,000\n';
const around = (entry) => (entry.format === 'srt' ? CUE : /\n/.test(entry.source) ? entry.lead : '');
// Whether a sentence, or a translation of it, may have marks of its format in it: of wrapped text, quotation marks of its further lines.
const MARKS = {text: null, wrapped: /\n[ \t]*>/};
export const marked = (entry, text) => {
  const marks = entry.format in MARKS ? MARKS[entry.format] : /[<>&{}*_`~\\[\]|#]/;
  return Boolean(marks?.test(text));
};

// Why a sentence has no alternatives and no attention weights: one model must have translated these very words. '' if it has.
function limits(entry, text) {
  if (entry.flags.includes('same_language')) return t`There are no alternatives, because nothing was translated.`;
  if (entry.pivot)
    return t`There are no alternatives or attention weights, because the translation goes through ${languageName(entry.pivot)}: they need one model for both languages.`;
  if (/\n/.test(entry.source + text) || marked(entry, entry.source + text))
    return t`There are no alternatives or attention weights in sentences with marks or line breaks; other translations keep both.`;
  return '';
}

const DOUBLE_CLICK_MS = 400;

export class SentencePanel {
  // pair(): [source, target]; replaced(entry, text, flags): another translation was taken; glossary(): the id of the glossary in use,
  // undefined for none.
  constructor(pair, replaced, glossary) {
    this.pair = pair;
    this.glossary = glossary;
    this.replaced = replaced;
    this.asking = this.choosing = new AbortController(); // for what is said of the sentence, and of the word that is chosen
    this.attention = new AttentionView(pair);
    $('sentence-close').addEventListener('click', () => this.close());
    $('sentence').addEventListener('keydown', (e) => e.key === 'Escape' && this.close());
    $('sentence').addEventListener('pointerdown', () => clearTimeout(this.scrolling)); // it is seen, and must stay under the finger
    $('nbest').addEventListener('toggle', () => $('nbest').open && this.show_nbest());
    $('attention').addEventListener('toggle', () => $('attention').open && this.entry &&
      this.attention.show(this.entry.source, this.entry.span.textContent));
  }

  close() {
    const span = this.entry?.span;
    this.leave();
    span?.focus();
  }

  // Hide the panel and ask nothing more for it.
  leave() {
    this.asking.abort();
    this.choosing.abort();
    this.attention.clear();
    clearTimeout(this.scrolling);
    $('sentence').hidden = true;
    this.entry?.span.removeAttribute('aria-current');
    this.entry = null;
  }

  // at: the place of a word to choose at once, in code points; undefined: the sentence was not clicked.
  async open(entry, at) {
    this.leave(); // another sentence
    this.asking = new AbortController();
    this.entry = entry;
    entry.span.setAttribute('aria-current', 'true');
    $('sentence').hidden = false;
    $('alternatives').replaceChildren();
    $('nbest').open = $('attention').open = false;
    $('nbest').querySelector('ol').replaceChildren(); // of another sentence
    this.show_flags();
    const text = entry.span.textContent;
    this.show_words(entry, text);
    $('sentence').focus({preventScroll: at !== undefined});
    if (at !== undefined) this.scrolling = setTimeout(() => this.shown(), DOUBLE_CLICK_MS);
    const word = at === undefined ? null : this.right.find((w) => !w.space && w.begin <= at && at <= w.end);
    if (word) this.choose(word, text);
    await this.align(entry, text);
  }

  // Scrolls to the panel, unless a word was selected by a second click: that would have met another word.
  shown() {
    if (document.getSelection().isCollapsed) $('sentence').scrollIntoView({block: 'nearest'});
  }

  // What is doubtful about sentences has changed.
  refresh() {
    if (this.entry) this.show_flags();
  }

  show_flags() {
    $('sentence-flags').replaceChildren(...this.entry.flags.map((f) => node('li', {}, explain(f))));
  }

  // Ask where the words of this text came from; of one that was taken, also what is doubtful about it. Marks cannot be given as
  // the beginning of an answer: then only the server's own translation has sources.
  async align(entry, text, taken = false) {
    this.alignments = [];
    try {
      const given = marked(entry, text) ? {} : {target_prefix: text};
      const answer = await this.ask(entry, {alignments: true, ...given});
      const from = around(entry).length;
      if (this.entry !== entry || entry.span.textContent !== text || answer.text !== around(entry) + text) return;
      this.alignments = (answer.alignments || []).map((pair) => pair.map((range) => range.map((at) => at - from)));
      if (taken) {
        this.replaced(entry, text, answer.sentences[0].flags);
        this.show_flags();
      }
      if (this.lit) this.light(this.lit);
    } catch (e) {
      fail(e);
    }
  }

  // The sentence translated by itself, in its format.
  async ask(entry, more) {
    const [source, target] = this.pair(), {signal} = this.asking, terms = 'target_prefix' in more ? {} : {glossary: this.glossary()}; // the API takes one of them
    const {translations: [answer]} = await api.patiently(() =>
      api.translate({text: around(entry) + entry.source, source, target, format: entry.format, ...terms, ...more}, signal), signal);
    return answer;
  }

  show_words(entry, target) {
    const [from, to] = this.pair();
    this.limits = limits(entry, target);
    $('sentence-hint').textContent = this.limits ? `${t`Choose a word of the translation to see its source.`} ${this.limits}` :
      t`Choose a word of the translation to see its source and alternatives.`;
    $('attention').hidden = Boolean(this.limits);
    this.lit = null;
    this.alignments = [];
    const left = $('sentence-source'), right = $('sentence-target');
    for (const [side, language] of [[left, from], [right, to]]) {
      side.dir = direction(language);
      side.lang = language;
    }
    this.left = words(entry.source).map((w) => ({...w, node: node('span', {}, w.text)}));
    this.right = words(target).map((w) => ({...w, node: w.space ? node('span', {}, w.text) : node('button', {type: 'button'}, w.text)}));
    left.replaceChildren(...this.left.map((w) => w.node));
    right.replaceChildren(...this.right.map((w) => w.node));
    for (const w of this.right.filter((x) => !x.space)) {
      w.node.addEventListener('click', () => this.choose(w, target));
      w.node.addEventListener('mouseenter', () => this.light(w));
      w.node.addEventListener('focus', () => this.light(w));
    }
  }

  light(word) {
    this.lit = word;
    const from = this.alignments.filter(([, to]) => to[0] < word.end && to[1] > word.begin).map(([s]) => s);
    for (const w of this.left)
      w.node.classList.toggle('hit', from.some((s) => s[0] < w.end && s[1] > w.begin) && !w.space);
    for (const w of this.right) w.node.classList.toggle('hit', w === word);
  }

  async choose(word, target) {
    this.choosing.abort(); // an earlier word
    const {signal} = (this.choosing = new AbortController());
    for (const w of this.right) if (!w.space) w.node.setAttribute('aria-pressed', String(w === word));
    this.light(word);
    if (this.limits) return;
    const [source, to] = this.pair();
    const entry = this.entry;
    const box = $('alternatives');
    box.replaceChildren(node('p', {class: 'hint'}, t`Looking for alternatives …`));
    $('error').hidden = true;
    try {
      const prefix = codePoints(target).slice(0, word.begin);
      const {alternatives} = await api.patiently(() =>
        api.alternatives({text: entry.source, target_prefix: prefix, source, target: to, n: 5}, signal), signal);
      const list = alternatives.filter((a) => !marked(entry, a.text)).map((a) => this.option(entry, a));
      box.replaceChildren(node('p', {class: 'hint'}, t`From “${word.text}” on:`), node('ol', {}, ...list));
    } catch (e) {
      if (signal.aborted) return;
      box.replaceChildren();
      fail(e);
    }
  }

  // A translation to take in this sentence's place.
  option(entry, {text, score}) {
    const button = node('button', {type: 'button', dir: direction(this.pair()[1])}, text || t`(nothing)`);
    button.addEventListener('click', () => {
      this.choosing.abort();
      this.replaced(entry, text, []);
      this.show_flags();
      this.show_words(entry, text);
      $('alternatives').replaceChildren();
      $('sentence').focus({preventScroll: true});
      if ($('attention').open && !this.limits) this.attention.show(entry.source, text);
      this.align(entry, text, true);
    });
    const title = t`Log-probability divided by the length penalty: closer to 0 is better`;
    return node('li', {}, button, node('span', {class: 'score', title}, score.toFixed(2)));
  }

  async show_nbest() {
    const entry = this.entry, list = $('nbest').querySelector('ol');
    list.replaceChildren();
    if (!entry) return;
    $('error').hidden = true;
    try {
      const answer = await this.ask(entry, {beam_size: 8, n_best: 8, scores: true});
      if (this.entry !== entry) return;
      const from = around(entry).length;
      list.replaceChildren(...(answer.n_best || []).map((a) => this.option(entry, {...a, text: a.text.slice(from)})));
      if (!answer.n_best) list.append(node('li', {}, t`There is no other translation.`)); // a text without letters, for one
    } catch (e) {
      fail(e);
    }
  }
}
