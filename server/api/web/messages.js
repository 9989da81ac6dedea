// What the page says of its work: beside the translation's buttons what it does, under the texts what failed.

import {wantsKey} from './api.js';
import {$} from './elements.js';

export function say(text) {
  $('status').textContent = text;
}

// Show an error, unless it says that the page itself ended a request. The key's form appears where another key can help.
export function fail(e) {
  if (e.name === 'AbortError') return;
  if (wantsKey(e)) {
    $('key-form').hidden = false;
    if (document.activeElement !== $('input')) $('key').focus(); // what is being typed goes on into the text
  }
  $('error').textContent = e.message;
  $('error').hidden = false;
  say('');
}
