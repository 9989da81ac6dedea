// A look at the server for an operator without Prometheus: /v1/status, read every two seconds and drawn over five minutes. What was
// before the page was opened comes from the server.
import * as api from './api.js';
import {$, node, svg} from './elements.js';
import {onKey} from './key.js';
import {counted} from './words.js';

const EVERY_MS = 2000, GAP_MS = 20000, SHOWN_S = 300, WINDOW_S = 9.5;
const BEGUN = 'process_start_time_seconds';
let samples = []; // {at (seconds, the server's), values: Map of 'name{labels}' to number}

// How long something lasts, in its two largest units.
export function duration(seconds) {
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (days) return `${counted(days, 'day')} ${counted(hours % 24, 'hour')}`;
  if (hours) return `${counted(hours, 'hour')} ${counted(minutes % 60, 'minute')}`;
  return minutes ? counted(minutes, 'minute') : counted(Math.max(0, Math.floor(seconds)), 'second');
}

const label = (key, name) => new RegExp(`[{,]${name}="((?:[^"\\\\]|\\\\.)*)"`).exec(key)?.[1].replace(/\\(.)/g, '$1');

// A sample's [key, value] of each series of this name that is meant, and what such series have together.
const named = (b, name, meant = () => true) => [...b.values].filter(([key]) => (key.startsWith(name + '{') || key === name) && meant(key));
const total = (b, name, meant) => named(b, name, meant).reduce((sum, [, v]) => sum + v, 0);

// What one series gained since sample a, what all of them that are meant gained up to b, and that per second.
const gained = (a, [key, v]) => v - (a.values.get(key) || 0);
const gain = (a, b, name, meant) => named(b, name, meant).reduce((sum, series) => sum + gained(a, series), 0);
const rate = (a, b, name) => Math.max(0, gain(a, b, name)) / Math.max(0.001, b.at - a.at);

// The q-th quantile of what a histogram's series that are meant gained between two samples, together.
function quantile(a, b, name, meant, q) {
  const counts = new Map();
  for (const series of named(b, name + '_bucket', meant)) {
    const le = label(series[0], 'le') === '+Inf' ? Infinity : Number(label(series[0], 'le'));
    counts.set(le, (counts.get(le) || 0) + gained(a, series));
  }
  const bounds = [...counts].sort((x, y) => x[0] - y[0]);
  const all = bounds.length ? bounds[bounds.length - 1][1] : 0;
  if (!all) return NaN;
  let below = 0, from = 0;
  for (const [bound, count] of bounds) {
    if (count >= q * all) return bound === Infinity ? from : from + (bound - from) * ((q * all - below) / Math.max(1, count - below));
    [below, from] = [count, bound];
  }
  return NaN;
}

const TRANSLATING = ['/v1/translate', '/translate', '/v2/translate', '/language/translate/v2', '/imme', '/kiss', '/hcfy', '/deeplx'];
const translates = (key) => TRANSLATING.includes(label(key, 'route'));
const CHARTS = [
  {title: 'Requests per second', series: {translate: (a, b) => rate(a, b, 'dragoman_requests_total')}},
  {title: 'Target tokens per second', series: {tokens: (a, b) => rate(a, b, 'dragoman_target_tokens_total')}},
  {title: 'Latency of translations, ms', series: Object.fromEntries([['p50', 0.5], ['p90', 0.9], ['p99', 0.99]].map(([n, q]) =>
    [n, (a, b) => 1000 * quantile(a, b, 'dragoman_http_request_duration_seconds', translates, q)]))},
  {title: 'Sentences waiting', series: {waiting: (a, b) => total(b, 'dragoman_queue_depth')}},
  {title: 'Rows per decode step', series: {rows: (a, b) => rate(a, b, 'dragoman_batch_rows_sum') / rate(a, b, 'dragoman_batch_rows_count')}},
  {title: 'Resident memory, MB', series: {memory: (a, b) => total(b, 'process_resident_memory_bytes') / 1e6}},
];

const short = (v) => (!Number.isFinite(v) ? '–' : v < 1e-6 ? '0' : v >= 100 ? Math.round(v).toLocaleString() : v.toPrecision(2));

// The sample that one is compared with: the last of those a window older, else the first.
function before(i) {
  let a = i - 1;
  while (a > 0 && samples[a].at > samples[i].at - WINDOW_S) a--;
  return samples[a];
}

const place = (at) => 300 * (1 - (samples[samples.length - 1].at - at) / SHOWN_S);

// How a line is drawn, beside its name.
const key = (n, text) => node('span', {class: `key key-${n}`}, text);

function chart({title, series}) {
  const lines = Object.entries(series).map(([name, f]) => [name, samples.map((b, i) => (i ? f(before(i), b) : NaN))]);
  const most = Math.max(1e-9, ...lines.flatMap(([, v]) => v.filter(Number.isFinite)));
  const now = lines.map(([name, v]) => `${lines.length > 1 ? name + ' ' : ''}${short(v[v.length - 1])}`).join(', ');
  const head = node('figcaption', {}, `${title}: `, ...lines.flatMap(([name, v], n) => [n ? ', ' : '', lines.length > 1 ? key(n, `${name} ${short(v[v.length - 1])}`) : now]));
  const root = svg('svg', {class: 'chart', viewBox: '0 0 300 86', role: 'img', 'aria-label': `${title}: now ${now}, at most ${short(most)}`});
  root.append(svg('line', {class: 'axis', x1: 0, y1: 70, x2: 300, y2: 70}));
  root.append(svg('text', {x: 2, y: 12}, short(most)), svg('text', {x: 0, y: 81}, `${SHOWN_S / 60} minutes ago`),
    svg('text', {x: 300, y: 81, 'text-anchor': 'end'}, 'now'));
  lines.forEach(([, values], n) => {
    let d = '';
    values.forEach((v, i) => {
      if (Number.isFinite(v)) d += `${d ? 'L' : 'M'}${place(samples[i].at).toFixed(1)} ${(70 - 55 * v / most).toFixed(1)}`;
    });
    if (d) root.append(svg('path', {class: `line line-${n}`, d}));
  });
  return node('figure', {}, head, root);
}

function rows(table, list) {
  $(table).querySelector('tbody').replaceChildren(...list.map((cells) => node('tr', {}, ...cells.map((text) => node('td', {}, text)))));
}

// Each model's share of the work over the time that is kept. Answers from the cache need no model.
function useByModel(first, last) {
  const names = [...new Set(named(last, 'dragoman_step_seconds_count').map(([key]) => label(key, 'model')))];
  return names.map((name) => {
    const its = (key) => label(key, 'model') === name;
    const wait = (q) => short(1000 * quantile(first, last, 'dragoman_queue_wait_seconds', its, q));
    const waiting = total(last, 'dragoman_queue_sentences', its), sentences = gain(first, last, 'dragoman_queue_wait_seconds_count', its);
    const busy = gain(first, last, 'dragoman_step_seconds_sum', its) / Math.max(0.001, last.at - first.at);
    return [name, sentences.toLocaleString(), short(60 * sentences / Math.max(1, last.at - first.at)), busy > 0 ? `${short(100 * busy)} %` : '0 %',
      `${wait(0.5)}, ${wait(0.99)}`, waiting.toLocaleString()];
  });
}

function draw() {
  const first = samples[0], last = samples[samples.length - 1], minutes = Math.max(last.at - first.at, 1) / 60;
  $('charts').replaceChildren(...CHARTS.map(chart));
  rows('models', useByModel(first, last));
  rows('use', named(last, 'dragoman_sentences_total').map(([key, v]) => {
    const pair = label(key, 'pair'), characters = last.values.get(`dragoman_characters_total{pair="${pair}"}`) || 0;
    return [pair, v.toLocaleString(), characters.toLocaleString(), short(gained(first, [key, v]) / minutes)];
  }));
  const ends = 'dragoman_requests_total'; // a series for each dialect
  rows('ends', [...new Set(named(last, ends).map(([key]) => label(key, 'outcome')))].map((outcome) => {
    const its = (key) => label(key, 'outcome') === outcome;
    return [outcome, total(last, ends, its).toLocaleString(), gain(first, last, ends, its).toLocaleString()];
  }));
  $('summary').textContent = `${total(last, 'dragoman_ready') ? 'Ready' : 'Not ready'}; up for ${duration(last.at - total(last, BEGUN))}; ` +
    `${counted(total(last, 'dragoman_workers_busy'), 'worker')} busy; ${counted(total(last, 'dragoman_connections_open'), 'connection')} open`;
}

// What is drawn of a server's samples.
const DRAWN = /^(dragoman_(requests_total|target_tokens_total|http_request_duration_seconds_bucket|queue_|batch_rows_|step_seconds_(sum|count)|sentences_total|characters_total|ready|workers_busy|connections_open)|process_(resident|start))/;
const sample = ({at_ms: ms, samples: all}) => ({at: ms / 1000, values: new Map(Object.entries(all).filter(([key]) => DRAWN.test(key) && (!key.includes('_http_') || translates(key))))});

// One more sample; all of the last minutes if there are none, or none since the page slept.
let read = -Infinity;
async function look() {
  const all = performance.now() - read > GAP_MS, answer = await api.status(all), now = sample(answer);
  read = performance.now();
  if (all) samples = answer.earlier.map(sample);
  if (samples.length && samples[0].values.get(BEGUN) !== now.values.get(BEGUN)) { // another process counts from 0
    samples = (await api.status(true)).earlier.map(sample);
  }
  samples = [...samples.filter((s) => s.at < now.at && s.at > now.at - SHOWN_S), now];
}

function fail(e) {
  $('error').textContent = e.message;
  $('error').hidden = false;
}

let timer;
async function tick() {
  clearTimeout(timer);
  try {
    await look();
    $('error').hidden = $('key-form').hidden = true;
    draw();
  } catch (e) {
    fail(e);
    if (api.wantsKey(e)) { // asking again with the same key cannot help
      $('key-form').hidden = false;
      $('key').focus();
      return;
    }
  }
  timer = setTimeout(tick, EVERY_MS);
}

onKey(tick, fail);
tick();
