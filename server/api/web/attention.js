// Attention weights as lines between two columns (the paper's Figures 3 to 5) or as a heat map, for one head or the
// mean of a layer's heads, by tokens or added up to words.
import * as api from './api.js';
import {$, fill, node, svg} from './elements.js';
import {fail} from './messages.js';
import {t} from './words.js';

const WIDE = 1000, START = t`(start)`;

export class AttentionView {
  constructor(pair) {
    this.pair = pair;
    this.asking = new AbortController(); // for the weights of the kind that is chosen
    this.cache = new Map();
    for (const id of ['att-layer', 'att-head', 'att-view', 'att-unit']) $(id).addEventListener('change', () => this.draw());
    $('att-kind').addEventListener('change', () => this.load());
    $('att-picture').addEventListener('keydown', (e) => this.key(e));
    window.addEventListener('resize', () => this.table_shown && this.draw()); // pictures fit the width there is
  }

  // What pointing at a row shows, for the keyboard: arrows choose a row, Escape none.
  key(e) {
    const step = {ArrowDown: 1, ArrowUp: -1}[e.key], last = this.table_shown?.rows.length - 1;
    if (step && last >= 0) this.point(Math.max(0, Math.min(last, this.row + step)));
    else if (e.key === 'Escape' && this.row >= 0) this.point(-1);
    else return;
    e.preventDefault();
    e.stopPropagation(); // Escape closes the panel only when no row is chosen
  }

  point(row) {
    const {rows, columns, weights} = this.table_shown;
    this.row = row;
    for (const picture of $('att-picture').querySelectorAll('svg')) picture.alone(row);
    if (row < 0) {
      $('att-note').textContent = this.note;
      return;
    }
    const strongest = weights[row].map((w, c) => [w, columns[c]]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    $('att-note').textContent = t`${rows[row]} looks at ${strongest.map(([w, name]) => `${name} ${Math.round(100 * w)} %`).join(', ')}`;
  }

  clear() {
    this.asking.abort();
    this.cache.clear();
    this.text = this.table_shown = null;
    $('att-picture').replaceChildren();
    $('att-note').textContent = '';
  }

  show(text, translation) {
    if (this.text !== text || this.translation !== translation) this.clear();
    this.text = text;
    this.translation = translation;
    this.load();
  }

  async load() {
    const kind = $('att-kind').value, {text, translation} = this;
    if (!text) return;
    this.asking.abort();
    const {signal} = (this.asking = new AbortController());
    $('att-note').textContent = t`Computing …`;
    $('error').hidden = true;
    try {
      if (!this.cache.has(kind)) {
        const [source, target] = this.pair();
        this.cache.set(kind, await api.patiently(() => api.attention({text, translation, source, target, kind}, signal), signal));
      }
      this.draw();
    } catch (e) {
      if (signal.aborted) return;
      $('att-note').textContent = '';
      fail(e);
    }
  }

  // The layers of this kind, and the heads of the layer: those of another do other things.
  choices() {
    const {layers} = this.cache.get($('att-kind').value);
    fill($('att-layer'), layers.map((_, i) => [String(i), t`${i + 1} of ${layers.length}`]), $('att-layer').value, String(layers.length - 1));
    const heads = this.heads().map((head, i) => [String(i), this.label(head, i)]);
    fill($('att-head'), [['mean', t`Mean of all`], ['all', t`All heads`], ...heads], $('att-head').value);
  }

  heads() {
    return this.cache.get($('att-kind').value).layers[Number($('att-layer').value)].heads;
  }

  label(head, i) {
    return `${i + 1}: ${role(head, $('att-kind').value)}`;
  }

  // {rows, columns, weights[row][column]}: rows look at columns. head: its weights by tokens.
  table(head) {
    const kind = $('att-kind').value, a = this.cache.get(kind);
    let weights = head, rows = kind === 'encoder' ? a.source_tokens : a.target_tokens;
    let columns = kind === 'decoder' ? a.target_tokens : a.source_tokens;
    if (kind === 'decoder') rows = columns = [START, ...a.target_tokens.slice(0, -1)];
    if ($('att-unit').value === 'words') {
      const r = groups(rows), c = groups(columns);
      // A word looks as its tokens do on average, and is looked at as all of them together.
      weights = r.map((rs) => c.map((cs) => rs.at.reduce((s, i) => s + cs.at.reduce((sum, j) => sum + weights[i][j], 0), 0) / rs.at.length));
      rows = r.map((g) => g.label);
      columns = c.map((g) => g.label);
    } else {
      rows = rows.map(pretty);
      columns = columns.map(pretty);
    }
    return {rows, columns, weights};
  }

  draw() {
    if (!this.cache.has($('att-kind').value)) return;
    this.choices();
    const heads = this.heads(), head = $('att-head').value, map = $('att-view').value === 'map';
    const average = heads[0].map((row, r) => row.map((_, c) => heads.reduce((sum, h) => sum + h[r][c], 0) / heads.length));
    const table = this.table(head === 'mean' || head === 'all' ? average : heads[Number(head)]);
    const labels = heads.map((h, i) => t`Head ${this.label(h, i)}`), room = $('att-picture').clientWidth || WIDE;
    if (head !== 'all') $('att-picture').replaceChildren(map ? heat(table, room) : lines([table], room));
    else if (map) $('att-picture').replaceChildren(...heads.map((h, i) => figure(labels[i], heat(this.table(h), room - 26))));
    else $('att-picture').replaceChildren(legend(labels), lines(heads.map((h) => this.table(h)), room));
    const strongest = table.rows.map((row, r) => `${row} → ${table.columns[table.weights[r].indexOf(Math.max(...table.weights[r]))]}`);
    $('att-picture').setAttribute('aria-label', t`Strongest weights: ${strongest.join(', ')}`);
    this.note = [map ? t`Rows attend to columns; a stronger colour is a larger weight.` : t`Left attends to right; a thicker line is a larger weight.`,
      ...(head === 'all' && !map ? [t`One colour per head.`] : []), map ? t`Point at a cell to read its weight, or choose a row with the arrow keys.` :
      $('att-unit').value === 'words' ? t`Point at a word to see its weights alone, or choose a row with the arrow keys.` :
      t`Point at a token to see its weights alone, or choose a row with the arrow keys.`].join(' ');
    this.table_shown = table;
    this.point(-1);
  }
}

// What a head does on this sentence, told from its weights: where most of them go on average.
function role(weights, kind) {
  const n = weights[0].length;
  const to = (place) => {
    const seen = weights.map((row, r) => row[place(r)]).filter((w) => w !== undefined);
    return seen.length ? seen.reduce((a, b) => a + b, 0) / seen.length : 0;
  };
  const places = {[t`the first token`]: () => 0};
  if (kind !== 'decoder') places[t`the end`] = () => n - 1; // a decoder sees no later ones
  if (kind !== 'cross') Object.assign(places, {[t`the token before`]: (r) => r - 1, [t`the token itself`]: (r) => r});
  if (kind === 'encoder') places[t`the next token`] = (r) => r + 1;
  const [name, share] = Object.entries(places).map(([key, place]) => [key, to(place)]).sort((a, b) => b[1] - a[1])[0];
  if (share >= 0.4) return `${name}, ${Math.round(100 * share)} %`;
  const peak = weights.reduce((sum, row) => sum + Math.max(...row), 0) / weights.length;
  return peak >= 0.5 ? t`one token each` : t`several tokens`;
}

const figure = (caption, picture) => node('figure', {class: 'head'}, node('figcaption', {}, caption), picture);
const legend = (labels) => node('ul', {class: 'heads', 'aria-label': t`Heads`}, ...labels.map((label, i) => node('li', {class: `head-${i % 8}`}, label)));

const pretty = (token) => token.replace(/▁/g, '␣');

function groups(tokens) {
  const list = [];
  tokens.forEach((token, i) => {
    const begins = !list.length || token.startsWith('▁') || token === '</s>' || /^<.*>$/.test(token) || tokens[i - 1] === START;
    if (begins) list.push({label: '', at: []});
    const group = list[list.length - 1];
    group.at.push(i);
    group.label += token.replace(/▁/g, '');
  });
  return list;
}

const longest = (labels) => Math.max(...labels.map((l) => [...l].length)) * 8 + 12;

const within = (least, value, most) => Math.max(least, Math.min(most, value));

// One table, or one for each head, in colours, in a room of so many pixels if they can be read there.
function lines(tables, room) {
  const [{rows, columns}] = tables;
  const step = 24, left = longest(rows), gap = within(64, room - left - longest(columns), 360), height = Math.max(rows.length, columns.length) * step + 8;
  const width = left + gap + longest(columns), least = tables.length > 1 ? 0.15 : 0.03;
  const root = svg('svg', {class: 'att', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true'});
  const y = (i) => i * step + 18, drawn = [];
  tables.forEach(({weights}, h) => weights.forEach((row, r) => row.forEach((w, c) => {
    if (w < least) return;
    const aside = 2 * (h - (tables.length - 1) / 2); // heads that look alike stay apart
    const line = svg('line', {x1: left + 4, y1: y(r) - 4 + aside, x2: left + gap - 4, y2: y(c) - 4 + aside,
      'stroke-opacity': Math.min(1, w).toFixed(3), 'stroke-width': (0.5 + 3 * w).toFixed(2), class: tables.length > 1 ? `head-${h % 8}` : ''});
    drawn.push({line, r, c, w});
    root.append(line);
  })));
  // The lines of one label alone, of a row or a column; -1: all of them again.
  root.alone = (i, side = 'r') => drawn.forEach((d) => d.line.setAttribute('stroke-opacity',
    i < 0 ? Math.min(1, d.w).toFixed(3) : d[side] === i ? Math.max(0.15, d.w).toFixed(3) : '0.03'));
  const label = (text, x, i, anchor, side) => {
    const made = svg('text', {x, y: y(i), 'text-anchor': anchor}, text);
    made.addEventListener('mouseenter', () => root.alone(i, side));
    made.addEventListener('mouseleave', () => root.alone(-1));
    root.append(made);
  };
  rows.forEach((text, i) => label(text, left, i, 'end', 'r'));
  columns.forEach((text, i) => label(text, left + gap, i, 'start', 'c'));
  return root;
}

function heat({rows, columns, weights}, room) {
  const left = longest(rows), cell = within(14, Math.floor((room - left - 40) / columns.length), 22), tall = Math.max(18, cell);
  const top = longest(columns), width = left + columns.length * cell + 40, height = top + rows.length * tall + 4;
  const root = svg('svg', {class: 'att', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true'});
  columns.forEach((text, c) => root.append(svg('text',
    {x: left + (c + 0.6) * cell, y: top - 4, transform: `rotate(-60 ${left + (c + 0.6) * cell} ${top - 4})`}, text)));
  const drawn = rows.map((text, r) => {
    const row = svg('g', {});
    root.append(row);
    row.append(svg('text', {x: left - 4, y: top + (r + 0.7) * tall, 'text-anchor': 'end'}, text));
    weights[r].forEach((w, c) => {
      const box = svg('rect', {class: 'cell', x: left + c * cell, y: top + r * tall, width: cell - 1, height: tall - 1,
        'fill-opacity': Math.min(1, w).toFixed(3)});
      box.append(svg('title', {}, `${text} → ${columns[c]}: ${(100 * w).toFixed(0)} %`));
      row.append(box);
    });
    return row;
  });
  root.alone = (i) => drawn.forEach((g, r) => g.classList.toggle('aside', i >= 0 && r !== i));
  return root;
}
