// Checks a translation by reading it back: a wrong word or one that is missing makes the text improbable as a translation of its
// translation, even where the model was sure of what it wrote.

import * as api from './api.js';
import {marked} from './sentence.js';
import {countPoints} from './text.js';

const PAIRS = 16; // of a request
// A sentence is doubtful if the mean log-probability of its tokens is lower, where the translation counts twice and the text once.
const LIMIT = -0.8;

const mean = ({score, tokens}) => score / tokens.length;
const line = (text) => text.replace(/\s+/g, ' ');

// Whether the model reads a sentence of the translation back: it wrote it itself, from these words alone.
const readable = ({entry, textContent}) => !entry.pivot && !marked(entry, entry.source + textContent) &&
  !['same_language', 'from_memory'].some((flag) => entry.flags.includes(flag));

async function doubtful(spans, [source, target], signal) {
  const text = spans.map((s) => line(s.entry.source)), translation = spans.map((s) => line(s.textContent));
  const score = (body) => api.patiently(() => api.score(body, signal), signal);
  const [there, back] = await Promise.all([score({text, translation, source, target}),
    score({text: translation, translation: text, source: target, target: source})]);
  return there.scores.map((s, i) => (2 * mean(s) + mean(back.scores[i])) / 3 < LIMIT);
}

// The first of these sentences, as many as one request takes: the server counts their texts and their translations.
function request(list, most) {
  const size = (s) => countPoints(s.entry.source) + countPoints(s.textContent);
  let n = 1;
  for (let sum = size(list[0]); n < list.length && (sum += size(list[n])) <= most; n++);
  return list.slice(0, n);
}

// Check these sentences of a translation; tell(span, doubtful) for each that can be checked and whose translation is still the same.
// Returns how many can be checked. most: characters of a request.
export async function readBack(spans, pair, most, signal, tell) {
  const list = spans.filter(readable);
  for (let at = 0, some; at < list.length; at += some.length) {
    some = request(list.slice(at, at + PAIRS), most);
    const texts = some.map((s) => s.textContent);
    (await doubtful(some, pair, signal)).forEach((wrong, i) => some[i].textContent === texts[i] && tell(some[i], wrong));
  }
  return list.length;
}
