// Files: chosen, read as text, named and handed back.

import {node} from './elements.js';
import {t} from './words.js';

// Call take(files) whenever files are chosen; the same ones may be chosen again.
export function onFiles(input, take) {
  input.addEventListener('change', () => {
    const files = [...input.files];
    input.value = '';
    take(files);
  });
}

// report.docx in German is report.de.docx.
export const translatedName = (name, language) => name.replace(/(\.[^.]*)?$/, `.${language}$1`);

// The ending of a file's name, in lower case; undefined: it has none.
export const endingOf = (name) => /\.[^.]*$/.exec(name)?.[0].toLowerCase();

const MARKS = [['utf-8', [0xef, 0xbb, 0xbf]], ['utf-16le', [0xff, 0xfe]], ['utf-16be', [0xfe, 0xff]]];

// The line end of all lines of a text, '\n' where they differ; a CR among lines that end in LF is none.
function lineEnd(text) {
  if (text.includes('\n')) return /(?<!\r)\n/.test(text) ? '\n' : '\r\n';
  return text.includes('\r') ? '\r' : '\n';
}

// Read a text file: {text, mark, end}, where mark is its byte order mark ('' if none) and end its line end. Throws an error for people
// if it cannot be read, or is neither UTF-8 nor UTF-16 with a mark.
export async function readText(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const marked = MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte));
  try {
    const text = new TextDecoder(marked?.[0] || 'utf-8', {fatal: true}).decode(bytes);
    return {text, mark: marked ? '\ufeff' : '', end: lineEnd(text)};
  } catch {
    throw new Error(t`It cannot be read as text: it must be UTF-8, or UTF-16 with a byte order mark.`);
  }
}

// Hand a file to the person.
export function save(blob, name) {
  const link = node('a', {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
