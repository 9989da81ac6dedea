// The API key, which this tab alone keeps, and the form that asks for it.

import {$} from './elements.js';
import {session} from './kept.js';
import {t} from './words.js';

// The page for the operator keeps a key of its own, <html data-key>: one that may translate need not see the server.
const PLACE = document.documentElement.dataset.key ?? 'dragoman-key';

// What a header can hold: at other characters, fetch throws before it asks.
const CHARACTERS = /^[\x20-\x7e]+$/;

// The key, null if there is none that can be sent: /docs keeps whatever is typed.
export function keptKey() {
  const key = session.get(PLACE);
  return key && CHARACTERS.test(key) ? key : null;
}

// Call use() for a key that is entered, and refuse(error) for what cannot be one. White space around it and signs that nobody sees
// come with a key that was copied.
export function onKey(use, refuse) {
  $('key-form').addEventListener('submit', (e) => {
    e.preventDefault();
    const key = $('key').value.replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '').trim();
    if (!CHARACTERS.test(key)) {
      refuse(new Error(t`This is no API key: a key has ASCII characters alone.`));
      $('key').select();
      return;
    }
    session.set(PLACE, key);
    $('key').value = '';
    use();
  });
}
