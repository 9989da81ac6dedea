// Texts: by code points, as the API counts, cut into words, parts and lines, and their direction.

export const countPoints = (s) => s.length - (s.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

// s.slice by code points. Index once for many slices of one text.
export function codePoints(s) {
  const at = [];
  for (let i = 0; i < s.length; i += s.codePointAt(i) > 0xffff ? 2 : 1) at.push(i);
  at.push(s.length);
  return {length: at.length - 1, slice: (begin, end) => s.slice(at[begin], at[end])};
}

// Words without white space in them: {text, begin, end} in code points, and what is between them.
export function words(s) {
  const list = [];
  let at = 0;
  for (const part of s.split(/(\s+)/u)) {
    const n = [...part].length;
    if (part) list.push({text: part, begin: at, end: at + n, space: /^\s/u.test(part)});
    at += n;
  }
  return list;
}

// The first n UTF-16 units of s, without half a character at the end.
export const begin = (s, n) => s.slice(0, n).replace(/[\ud800-\udbff]$/, '');

export const CHUNK = 6000;
const LINE = /(?<=\n)/, PARAGRAPH = /(?<=\n[ \t]*\n)/;
// After what no sentence of a format continues, so that the parts' translations are those of the whole.
const CUTS = {text: LINE, wrapped: PARAGRAPH, srt: PARAGRAPH};

// A long text in parts that the server takes, most characters each.
export function chunks(text, format, most) {
  const size = Math.min(CHUNK, most);
  if (text.length <= size || !(format in CUTS)) return [text];
  const list = [];
  let part = '';
  for (const piece of text.split(CUTS[format])) {
    if (part && part.length + piece.length > size) {
      list.push(part);
      part = '';
    }
    part += piece;
  }
  if (part) list.push(part);
  return list;
}

// How many of a text's earlier parts, those that are finished, another text still begins and ends with: {head, tail, middle}, where middle
// is what it has between them.
export function unchanged(parts, text, format) {
  const here = format in CUTS && new RegExp(CUTS[format], 'y');
  const cut = (at) => here && ((here.lastIndex = at), here.test(text));
  let head = 0, tail = 0, from = 0, to = text.length;
  for (; head < parts.length && parts[head].finished && text.startsWith(parts[head].text, from); head++) {
    const after = from + parts[head].text.length;
    if (after < text.length && !cut(after)) break;
    from = after;
  }
  for (; head + tail < parts.length; tail++) {
    const part = parts[parts.length - 1 - tail], before = to - part.text.length;
    if (before < from || !part.finished || !text.endsWith(part.text, to) || (before > from && !cut(before))) break;
    to = before;
  }
  return {head, tail, middle: text.slice(from, to)};
}

// Columns of a line: wide characters, such as CJK, have two, and marks that combine none.
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;
function columns(line) {
  return [...line.replace(/[\p{M}\p{Cf}]/gu, '').replace(WIDE, '$&.')].length;
}

// Whether lines seem to be wrapped by hand: most that are followed by another one have a usual width and no end of a sentence, and they
// are no list of titles, of which nearly all begin with a capital. The server decides so for its documents (documents/whole.c).
export function isWrapped(text) {
  const blank = (line) => /^[ \t]*$/.test(line), ends = /[\p{Sentence_Terminal}\u2026:;\uff1a\uff1b][\p{Ps}\p{Pe}\p{Pi}\p{Pf}"']*$/u;
  let wrapped = 0, upper = 0, all = 0;
  text.split(/\r\n?|\n/).forEach((line, i, lines) => {
    const width = columns(line), next = lines[i + 1] ?? '';
    if (blank(line) || blank(next)) return;
    all++;
    wrapped += width >= 50 && width <= 120 && !ends.test(line);
    upper += /^\s*[\p{Lu}\p{Lt}]/u.test(next);
  });
  return 2 * wrapped > all && !(all >= 4 && 5 * upper > 4 * all);
}

// What a text's last line has before its first letter: indentation, quotation marks, a bullet or a number.
export function lineStart(text) {
  return /[^\n\r\p{L}]*/u.exec(text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1))[0];
}

const RIGHT_TO_LEFT = ['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa', 'Yezi'];

// By the script in which the language is written; 'auto', by the text's letters, where the browser does not know it.
export function direction(language) {
  try {
    const {script} = new Intl.Locale(language).maximize();
    return script ? (RIGHT_TO_LEFT.includes(script) ? 'rtl' : 'ltr') : 'auto';
  } catch { // no code of a language
    return 'auto';
  }
}
