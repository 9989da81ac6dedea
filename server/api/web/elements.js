// Elements of the pages: found, made and filled.

export const $ = (id) => document.getElementById(id);

function filled(made, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

// An element with attributes and content, and one of a picture.
export const node = (tag, attributes, ...content) => filled(document.createElement(tag), attributes, content);
export const svg = (tag, attributes, ...content) => filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, content);

export const offers = (select, value) => [...select.options].some((o) => o.value === value);

// Fill a list with [value, label] of each option. The first of the wanted values that it offers is chosen; if there is none, its first option.
export function fill(select, options, ...wanted) {
  select.replaceChildren(...options.map(([value, label]) => new Option(label, value)));
  const value = wanted.find((one) => offers(select, one));
  if (value !== undefined) select.value = value;
}

// Copy without the clipboard of pages. Returns whether the browser did.
export function copySelection(text) {
  const box = node('textarea', {class: 'visually-hidden'}), before = document.activeElement;
  box.value = text;
  document.body.append(box);
  box.select();
  const copied = document.execCommand('copy');
  box.remove();
  before?.focus();
  return copied;
}
