// Translations kept in this browser, if its user wants that: nothing is sent anywhere.

import {$, node} from './elements.js';
import {local} from './kept.js';
import {begin, direction} from './text.js';
import {t} from './words.js';

const WANTED = 'dragoman-history-wanted', LIST = 'dragoman-history', MOST = 50, LONGEST = 5000;

const same = (a, b) => a.source === b.source && a.target === b.target && a.text === b.text;

export class History {
  // open(entry): its text and languages are to be translated again.
  constructor(open) {
    this.open = open;
    this.shown = []; // the entries on the page
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

  // Of a text that is changed, entry.work, only the latest version stays in each target language.
  add(entry) {
    if (!this.wanted() || !entry.text.trim() || entry.text.length > LONGEST) return;
    const list = this.list().filter((e) => e.target !== entry.target ||
      (e.work !== entry.work && !(e.source === entry.source && e.text === entry.text)));
    this.put([entry, ...list].slice(0, MOST));
  }

  put(list) {
    local.set(LIST, JSON.stringify(list));
    this.show();
  }

  clear() {
    local.remove(LIST);
    this.show();
  }

  // An entry that has the focus keeps it: opening one translates it again, which puts it first.
  show() {
    const here = document.activeElement.closest('#history-list li'), had = here && this.shown[[...$('history-list').children].indexOf(here)];
    const place = document.activeElement.classList.contains('close') ? '.close' : 'button';
    this.shown = this.list();
    $('history-keep').checked = this.wanted();
    $('history-list').replaceChildren(...this.shown.map((e) => {
      const button = node('button', {type: 'button'}, `${e.source} → ${e.target}: `,
        node('bdi', {dir: direction(e.source)}, begin(e.text, 80)));
      button.addEventListener('click', () => this.open(e));
      const remove = node('button', {type: 'button', class: 'close', 'aria-label': t`Delete ${begin(e.text, 80)}`, title: t`Delete`}, '✕');
      remove.addEventListener('click', () => this.remove(e));
      return node('li', {}, node('div', {class: 'row'}, button, remove));
    }));
    const now = had ? this.shown.findIndex((e) => same(e, had)) : -1;
    $('history-list').children[now]?.querySelector(place).focus({preventScroll: true});
  }

  // Another tab may have changed the list meanwhile.
  remove(entry) {
    const list = this.list(), at = list.findIndex((e) => same(e, entry));
    this.put(list.filter((e) => !same(e, entry)));
    ($('history-list').children[at] ?? $('history-list').lastElementChild)?.querySelector('.close').focus();
    if (!$('history-list').childElementCount) $('history').focus();
  }
}
