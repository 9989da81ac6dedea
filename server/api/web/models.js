// The installed models, each once with its languages, and its card: what it is, where it comes from, what it scored.
import * as api from './api.js';
import {$, node} from './elements.js';
import {markdown} from './markdown.js';
import {fail} from './messages.js';
import {languageName, number, t} from './words.js';

// Pairs of one model together, in the order of the server.
function models(list) {
  const byVersion = new Map();
  for (const m of list) {
    if (!byVersion.has(m.version)) byVersion.set(m.version, {...m, pairs: []});
    byVersion.get(m.version).pairs.push(m);
  }
  return [...byVersion.values()];
}

const pairName = (p) => `${languageName(p.source)} → ${languageName(p.target)}`;

function size(bytes) {
  for (const [unit, n] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]]) if (bytes >= n) return `${(bytes / n).toPrecision(3)} ${unit}`;
  return t`${bytes} bytes`;
}

// Where it comes from, as far as its manifest says.
function origin({source, converted_from, name_or_path, program, date, begun_from}) {
  const parts = [];
  if (source) parts.push(t`pulled from ${source}`);
  if (converted_from) parts.push(t`converted from ${converted_from}${name_or_path ? ` (${name_or_path})` : ''}`);
  if (program) parts.push(t`trained with ${program}${date ? `, ${date}` : ''}`);
  if (begun_from) parts.push(t`begun from ${begun_from.replace(/@.*/, '')}`);
  return parts.join('; ') || t`not stated`;
}

function facts(card) {
  const list = [
    [t`Licence`, (card.licence || t`not stated`) + (card.non_commercial ? ` (${t`no commercial use`})` : '')],
    [t`Origin`, origin(card.origin)],
    [t`Size`, t`${size(card.bytes)}, ${number(card.parameters)} parameters, ${card.type}`],
    [t`Architecture`, card.architecture], [t`Runs on`, card.device || t`nothing now: it is opened when it is needed`], [t`Version`, card.version],
  ];
  return node('dl', {class: 'facts'}, ...list.flatMap(([name, value]) => [node('dt', {}, name), node('dd', {}, value)]));
}

function scores(list) {
  const columns = [['set', t`Set`], ['bleu', 'BLEU'], ['chrf', 'chrF2'], ['perplexity', t`Perplexity`]].filter(([key]) => list.some((s) => key in s));
  const value = (v) => (typeof v === 'number' ? v.toFixed(2) : v ?? '');
  return node('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': t`Scores`}, node('table', {},
    node('thead', {}, node('tr', {}, ...columns.map(([, name]) => node('th', {scope: 'col'}, name)))),
    node('tbody', {}, ...list.map((s) => node('tr', {}, ...columns.map(([key]) => node('td', {}, value(s[key]))))))));
}

// The card is asked for once, when it is opened.
async function open(details, m) {
  const box = node('div', {}, t`Loading …`);
  details.append(box);
  try {
    const card = await api.patiently(() => api.card(m.version));
    box.replaceChildren(...(card.description ? [node('p', {}, card.description)] : []), facts(card),
      ...(card.scores ? [node('h4', {}, t`Scores`), scores(card.scores)] : []),
      ...(card.card ? [node('div', {class: 'card-text', tabindex: 0, role: 'group', 'aria-label': t`Text of the card`}, ...markdown(card.card))] : [node('p', {class: 'hint'}, t`The model has no MODEL_CARD.md.`)]));
  } catch (e) {
    box.remove();
    details.open = false;
    fail(e);
  }
}

function entry(m) {
  const details = node('details', {class: 'model'}, node('summary', {}, t`Card of ${m.name}`));
  details.addEventListener('toggle', () => details.open && details.childElementCount === 1 && open(details, m));
  return node('li', {}, node('h3', {}, m.name), node('ul', {class: 'pairs', 'aria-label': t`Languages of ${m.name}`},
    ...m.pairs.map((p) => node('li', {}, pairName(p)))), node('p', {class: 'hint'}, t`${number(m.parameters)} parameters, ${m.type}, ${m.device ? t`on ${m.device}` : t`opened when it is needed`}; licence: ${m.licence || t`not stated`}`), details);
}

export const showModels = (list) => $('models-list').replaceChildren(...models(list).map(entry));
