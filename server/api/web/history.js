// Translations kept in this browser, if its user wants that: nothing is sent anywhere.

import {local} from './kept.js';
import {begin, direction, node} from './text.js';

const $ = (id) => document.getElementById(id);
const WANTED = 'dragoman-history-wanted', LIST = 'dragoman-history', MOST = 50;

export class History {
  // open(entry): its text and languages are to be translated again.
  constructor(open) {
    this.open = open;
    $('history-keep').addEventListener('change', () => {
      local.set(WANTED, $('history-keep').checked ? 'yes' : 'no');
      if (!$('history-keep').checked) this.clear();
    });
    $('history-clear').addEventListener('click', () => this.clear());
    window.addEventListener('storage', () => this.show()); // another tab changed it
    this.show();
  }

  // Asked each time: another tab may have switched it off.
  wanted() {
    return local.get(WANTED) === 'yes';
  }

  list() {
    try {
      return JSON.parse(local.get(LIST)) || [];
    } catch {
      return [];
    }
  }

  add(entry) {
    if (!this.wanted() || !entry.text.trim() || entry.text.length > 5000) return;
    const list = this.list().filter((e) => !(e.source === entry.source && e.target === entry.target &&
      (entry.text.startsWith(e.text) || e.text === entry.text)));
    local.set(LIST, JSON.stringify([entry, ...list].slice(0, MOST)));
    this.show();
  }

  clear() {
    local.remove(LIST);
    this.show();
  }

  show() {
    $('history-keep').checked = this.wanted();
    $('history-list').replaceChildren(...this.list().map((e) => {
      const button = node('button', {type: 'button'}, `${e.source} → ${e.target}: `,
        node('bdi', {dir: direction(e.source)}, begin(e.text, 80)));
      button.addEventListener('click', () => this.open(e));
      return node('li', {}, button);
    }));
  }
}
