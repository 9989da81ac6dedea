// Termbases in TBX (ISO 30042), as terminology programs export them: version 2 (termEntry, langSet, tig) and 3 (conceptEntry, langSec,
// termSec).

import {t} from './words.js';

// Whether a term is deprecated or superseded.
const old = (term) => /^(deprecated|superseded)/.test(term.parentElement.closest('tig, ntig, termSec')?.querySelector('[type=administrativeStatus]')?.textContent.trim());

// The entries from one language to another, as an object; agree(a, b): whether two codes are one language. Of several terms of a concept,
// all are sources, and the first that is in use is the target. Throws if the text is no XML.
export function readTbx(text, source, target, agree) {
  const xml = new DOMParser().parseFromString(text, 'application/xml'), entries = new Map();
  if (xml.querySelector('parsererror')) throw new Error(t`It is not well-formed XML.`);
  for (const concept of xml.querySelectorAll('termEntry, conceptEntry')) {
    const terms = (language) => [...concept.querySelectorAll('langSet, langSec')].filter((set) => agree(set.getAttribute('xml:lang') || 'und', language))
      .flatMap((set) => [...set.querySelectorAll('term')]);
    const into = terms(target).find((term) => !old(term))?.textContent.trim();
    for (const from of into ? terms(source).map((term) => term.textContent.trim()) : []) if (from && !entries.has(from)) entries.set(from, into);
  }
  return Object.fromEntries(entries);
}
