// Markdown as model cards have it, as elements: headings, paragraphs, lists, tables, code, emphasis, links. Text becomes text
// nodes alone, so a card can neither run a script nor fetch anything; HTML in it is shown as it is written.

import {node} from './elements.js';
import {t} from './words.js';

const make = (tag, ...content) => node(tag, {}, ...content);

// Code first: nothing inside it is marked up. A picture is its description, a link that leads nowhere from here its text.
const INLINE = /`([^`]+)`|!\[([^\]]*)\]\([^)]*\)|\[([^\]]+)\]\(([^)\s]+)[^)]*\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/gu;

function inline(text) {
  const nodes = [];
  let at = 0;
  for (const m of text.matchAll(INLINE)) {
    nodes.push(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[1] !== undefined) nodes.push(make('code', m[1]));
    else if (m[2] !== undefined) nodes.push(m[2]);
    else if (m[3] !== undefined) nodes.push(...link(m[3], m[4]));
    else nodes.push(make(m[5] !== undefined ? 'strong' : 'em', ...inline(m[5] ?? m[6])));
  }
  nodes.push(text.slice(at));
  return nodes;
}

function link(text, to) {
  if (!/^https?:\/\//.test(to)) return inline(text);
  return [node('a', {href: to, rel: 'noreferrer noopener'}, ...inline(text))];
}

const cells = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((c) => c.trim().replaceAll('\\|', '|'));
const isRule = (line) => /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(line) && line.includes('-');

function table(lines) {
  const [head, , ...body] = lines.map(cells);
  const cell = (text, scope) => (text && scope ? node('th', {scope}, ...inline(text)) : make('td', ...inline(text)));
  return node('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': t`Table`}, make('table',
    ...(head.some((c) => c) ? [make('thead', make('tr', ...head.map((c) => cell(c, 'col'))))] : []),
    make('tbody', ...body.map((row) => make('tr', ...row.map((c, i) => cell(c, i ? undefined : 'row')))))));
}

// level: of the card's own title; what is under it is one deeper each.
export function markdown(text, level = 4) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n'), nodes = [];
  const until = (i, ends) => {
    let end = i;
    while (end < lines.length && !ends(lines[end], end)) end++;
    return end;
  };
  for (let i = 0; i < lines.length;) {
    const line = lines[i], heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line), item = /^\s*([-*+]|\d+[.)])\s+/.exec(line);
    let end = i + 1;
    if (!line.trim()) {
      i++;
      continue;
    }
    if (/^\s*(```|~~~)/.test(line)) {
      end = until(i + 1, (l) => /^\s*(```|~~~)\s*$/.test(l));
      nodes.push(make('pre', lines.slice(i + 1, end).join('\n')));
      end++;
    } else if (heading) {
      nodes.push(make('h' + Math.min(6, level + heading[1].length - 1), ...inline(heading[2])));
    } else if (isRule(lines[i + 1] ?? '') && line.includes('|')) {
      end = until(i, (l) => !l.includes('|'));
      nodes.push(table(lines.slice(i, end)));
    } else if (/^ {4}/.test(line)) {
      end = until(i, (l) => !/^ {4}/.test(l));
      nodes.push(make('pre', lines.slice(i, end).map((l) => l.slice(4)).join('\n')));
    } else if (item) {
      const items = [];
      end = until(i, (l) => {
        const next = /^\s*([-*+]|\d+[.)])\s+(.*)/.exec(l);
        if (next) items.push(next[2]);
        else if (l.trim()) items[items.length - 1] += ' ' + l.trim();
        return !l.trim();
      });
      nodes.push(make(/\d/.test(item[1]) ? 'ol' : 'ul', ...items.map((text) => make('li', ...inline(text)))));
    } else {
      end = until(i + 1, (l, n) => !l.trim() || /^(#{1,6}\s|\s*(```|~~~)|\s*[-*+]\s)/.test(l) ||
        (l.includes('|') && isRule(lines[n + 1] ?? '')));
      nodes.push(make('p', ...inline(lines.slice(i, end).map((l) => l.trim()).join(' '))));
    }
    i = end;
  }
  return nodes;
}
