// The translation as it streams in: an element for each sentence, and what is between sentences as text.

export class Output {
  // onSentence(entry, at): a sentence was chosen, at a place in code points; undefined: not at a word.
  constructor(element, onSentence) {
    this.element = element;
    this.onSentence = onSentence;
    this.parts = [];
    element.addEventListener('click', (e) => this.choose(e.target.closest('.s'), e));
    element.addEventListener('keydown', (e) => this.key(e));
  }

  // parts: the chunks of the text, each {text, points}.
  begin(parts) {
    this.element.replaceChildren();
    this.parts = parts.map((part) => {
      const node = document.createElement('span');
      this.element.append(node);
      return {...part, node, arrived: [], shown: 0};
    });
  }

  // A streamed sentence: shown once all before it are there.
  sentence(i, s) {
    const part = this.parts[i];
    part.arrived[s.sentence_index] = s;
    for (; part.arrived[part.shown]; part.shown++) {
      const before = part.arrived[part.shown - 1];
      const now = part.arrived[part.shown];
      part.node.append(part.points.slice(before ? before.source[1] : 0, now.source[0]));
      part.node.append(this.element_of(part, now.text, now));
    }
    this.reachable();
  }

  // The whole answer for a part replaces what was streamed.
  finish(i, translation, points) {
    const part = this.parts[i];
    const nodes = [];
    let at = 0;
    translation.sentences.forEach((s) => {
      nodes.push(points.slice(at, s.target[0]));
      nodes.push(this.element_of(part, points.slice(s.target[0], s.target[1]), s));
      at = s.target[1];
    });
    nodes.push(points.slice(at, points.length));
    part.node.replaceChildren(...nodes);
    this.reachable();
  }

  // One sentence is in the order of Tab; arrows lead to the others.
  reachable() {
    const first = this.element.querySelector('.s');
    if (first && !this.element.querySelector('.s[tabindex="0"]')) first.tabIndex = 0;
  }

  element_of(part, text, s) {
    const span = document.createElement('span');
    span.className = 's';
    span.textContent = text;
    span.entry = {source: part.points.slice(s.source[0], s.source[1]), flags: s.flags, score: s.score, span};
    if (s.flags.length) {
      span.classList.add('flagged');
      span.title = s.flags.map((f) => f.replaceAll('_', ' ')).join(', ');
    }
    span.setAttribute('role', 'button');
    span.tabIndex = -1;
    return span;
  }

  all() {
    return [...this.element.querySelectorAll('.s')];
  }

  text() {
    return this.element.textContent;
  }

  choose(span, click) {
    if (!span || !document.getSelection().isCollapsed) return; // text was selected, to be copied perhaps
    this.all().forEach((s) => s.removeAttribute('aria-current'));
    span.setAttribute('aria-current', 'true');
    this.focus(span, false);
    this.onSentence(span.entry, click && placeOf(click, span));
  }

  focus(span, move = true) {
    this.all().forEach((s) => (s.tabIndex = s === span ? 0 : -1));
    if (move) span.focus();
  }

  // Arrows move between sentences, Enter opens one.
  key(e) {
    const span = e.target.closest?.('.s');
    if (!span) return;
    const all = this.all();
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
    if (step) this.focus(all[Math.min(all.length - 1, Math.max(0, all.indexOf(span) + step))]);
    else if (e.key === 'Enter' || e.key === ' ') this.choose(span);
    else return;
    e.preventDefault();
  }
}

// Where in a sentence's text a click is, in code points.
function placeOf(click, span) {
  const at = document.caretPositionFromPoint?.(click.clientX, click.clientY);
  const range = at ? null : document.caretRangeFromPoint?.(click.clientX, click.clientY);
  const node = at?.offsetNode ?? range?.startContainer, offset = at?.offset ?? range?.startOffset;
  return node && span.contains(node) ? [...span.textContent.slice(0, offset)].length : undefined;
}
