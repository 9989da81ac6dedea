// What the page says, in the language that the browser asks for. The catalogs, de.js and fr.js, have a translation for each English
// text; a page that has them names them in its <html data-languages>. What the server itself says stays English, after what it means (api.js).

const here = document.documentElement, others = here.dataset.languages?.split(' ') ?? [];

export const language = navigator.languages.map((code) => code.split('-')[0]).find((code) => ['en', ...others].includes(code)) ?? 'en';

const catalog = language === 'en' ? {} : (await import(`./${language}.js`)).default;

// A text of the catalogs.
export const word = (text) => catalog[text] ?? text;

// t`Done in ${time}`, in the catalogs 'Done in {0}'.
export function t(texts, ...values) {
  const key = texts.reduce((all, text, i) => `${all}{${i - 1}}${text}`);
  return word(key).replace(/\{(\d)\}/g, (_, i) => values[i]);
}

export const number = (n) => n.toLocaleString(language === 'en' ? undefined : language); // in English as the reader's country writes it

const plurals = new Intl.PluralRules(language);

// Of 'sentence' and 'sentences', what goes with a number.
const plural = (n, unit) => word(plurals.select(n) === 'one' ? unit : unit + 's');

export const counted = (n, unit) => `${number(n)} ${plural(n, unit)}`;

// How long something took: below a second in milliseconds.
export const took = (ms) => (ms < 999.5 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`);

let names;
export function languageName(code) {
  try {
    names ||= new Intl.DisplayNames([language === 'en' ? navigator.language || 'en' : language], {type: 'language'});
    return names.of(code) || code;
  } catch {
    return code;
  }
}

const ATTRIBUTES = ['aria-label', 'data-empty', 'placeholder', 'title'];

// Put what the HTML of the page says into the language.
export function localise() {
  if (language === 'en') return;
  here.lang = language;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const {data} = texts.currentNode, text = data.trim();
    if (text) texts.currentNode.data = data.replace(text, () => word(text));
  }
  for (const name of ATTRIBUTES) for (const element of document.querySelectorAll(`[${name}]`)) element.setAttribute(name, word(element.getAttribute(name)));
}
