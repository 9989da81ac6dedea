// The server's API: one function for each endpoint this page uses. An error has the server's own sentence, which is English; on a page in another language the
// code's meaning in that language comes before it.

import {$} from './elements.js';
import {keptKey} from './key.js';
import {language, t} from './words.js';

export class ApiError extends Error {
  constructor(status, code, message, field) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = 1; // seconds
  }
}

// The place of this server's paths: '/', or the prefix under which a proxy serves it.
const BASE = new URL('..', import.meta.url).pathname;

// Whether another key can help. A server that asks for none refuses for other reasons, such as the name in the page's address.
export const wantsKey = (e) => e.status === 401 || (e.status === 403 && keptKey());

// What fetch and its bodies throw when the server goes away has no sentence for people.
async function arriving(what, code, sentence) {
  try {
    return await what;
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new ApiError(0, code, sentence);
  }
}

const CUT = t`The connection to the server was lost during the answer. The partial answer stays on the page; translate again when the server is back.`;
const cut = (what) => arriving(what, 'cut', CUT);

// Messages for the statuses that a proxy sends itself, with HTML instead of JSON.
const BY_PROXY = {
  413: t`A proxy in front of the server refuses requests of this size (413). Its administrator can raise the limit.`,
  502: t`A proxy in front of the server got no valid answer from it (502).`,
  504: t`A proxy in front of the server timed out before the server answered (504).`,
};

// What the codes of the server's errors mean, where a reader can meet them.
const BY_CODE = {
  forbidden: t`The server does not allow this.`,
  internal: t`The server failed.`,
  invalid_request: t`The server cannot do this.`,
  not_found: t`The server does not have it any more.`,
  overloaded: t`The server is busy.`,
  quota_exceeded: t`The characters of this key for today are used up.`,
  rate_limited: t`The requests of this minute are used up.`,
  stopping: t`The server is stopping.`,
  timeout: t`The server took too long.`,
  too_large: t`This is too much for the server.`,
  unauthorized: t`The API key is missing or wrong.`,
  unsupported: t`The model cannot do this.`,
  unsupported_language: t`No model of this server translates between these languages.`,
};

const said = ({code, message}) => (message && language !== 'en' && BY_CODE[code] ? `${BY_CODE[code]} (${message})` : message);

// Send a request, whose body is an object or a form. Throws an ApiError where the server does not do what it says.
async function send(method, path, body, signal) {
  const key = keptKey(), object = body && !(body instanceof FormData);
  const headers = {Accept: 'application/json', ...(key && {Authorization: 'Bearer ' + key}), ...(object && {'Content-Type': 'application/json'})};
  const reply = await arriving(fetch(BASE + path, {method, headers, body: object ? JSON.stringify(body) : body, signal}), 'unreachable',
    t`The server does not answer. Is it running?`);
  if (reply.ok) return reply;
  let error = {};
  try {
    const content = await reply.json();
    error = content.error || content; // documents' routes say {message}
  } catch { /* not ours, a proxy's perhaps */ }
  const failure = new ApiError(reply.status, error.code, said(error) || BY_PROXY[reply.status] || t`The server answered ${reply.status}.`, error.field);
  failure.retryAfter = Number(reply.headers.get('Retry-After')) || failure.retryAfter;
  throw failure;
}

export const wait = (ms, signal) => new Promise((done, fail) => {
  const stop = () => fail(new DOMException('closed', 'AbortError'));
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, {once: true});
  setTimeout(() => {
    signal?.removeEventListener('abort', stop);
    done();
  }, ms);
});

// Whether the server takes the request a moment later: it is busy or starts (other servers' dialects have no code for that), or
// the requests of the minute are used up. A quota lasts longer.
export const passing = (e) => ['overloaded', 'starting'].includes(e.code) || (e.status === 503 && !e.code) || (e.status === 429 && e.code !== 'quota_exceeded');

// Whether no server answered: there is none, it went away meanwhile, or a proxy says so (of itself, without a code).
export const away = (e) => ['unreachable', 'cut'].includes(e.code) || ([502, 504].includes(e.status) && !e.code);

export const STARTING = t`The server is starting …`;
export const USED_UP = t`The requests of this minute are used up. Trying again …`;

// By element that says why something waits: {n: how many wait, before: what it said, now: what it says}.
const waiting = new WeakMap();

// Say in an element why something waits; returns what ends that. After the last one it says what it said before, unless that
// changed meanwhile.
function sayWhy(place, why) {
  let w = waiting.get(place);
  if (!w?.n || place.textContent !== w.now) w = {n: 0, before: place.textContent};
  waiting.set(place, w);
  w.n++;
  w.now = place.textContent = why;
  return () => {
    if (--w.n === 0 && place.textContent === w.now) place.textContent = w.before;
  };
}

const reason = (e) => (e.status === 429 ? USED_UP : e.code === 'starting' ? STARTING : t`The server is busy. Trying again …`);

const TRIES = 10;

// What is refused for a moment is asked again when the server says, for a while, or until its models are there; an element says
// why meanwhile: the page's status, if there is no place of its own for that.
export async function patiently(what, signal, place = $('status')) {
  for (let tries = 1; ; tries++) {
    try {
      return await what();
    } catch (e) {
      if (!passing(e) || (tries >= TRIES && e.code !== 'starting')) throw e;
      const end = sayWhy(place, reason(e));
      await wait(1000 * e.retryAfter, signal).finally(end);
    }
  }
}

const json = async (...request) => cut((await send(...request)).json());

export const card = (version) => json('GET', `v1/models/${version}/card`);
export const index = () => json('GET', '');
// earlier: with the samples of the last minutes, which the server keeps.
export const status = (earlier) => json('GET', 'v1/status' + (earlier ? '?earlier=true' : ''));
export const models = () => json('GET', 'v1/models');
export const detect = (text, signal) => json('POST', 'v1/detect', {text}, signal);
export const translate = (body, signal) => json('POST', 'v1/translate', body, signal);
export const score = (body, signal) => json('POST', 'v1/score', body, signal);
export const alternatives = (body, signal) => json('POST', 'v1/alternatives', body, signal);
export const attention = (body, signal) => json('POST', 'v1/attention', body, signal);

// A field of an event. Its value may contain U+2028, at which `.` and `$` of a regular expression stop.
function field(event, name) {
  return event.split('\n').find((line) => line.startsWith(name + ': '))?.slice(name.length + 2);
}

// Translate with server-sent events: onSentence for each sentence as it comes; returns the whole answer.
export async function stream(body, onSentence, signal) {
  const reply = await send('POST', 'v1/translate', {...body, stream: true}, signal);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await cut(reader.read());
    if (done) throw new ApiError(0, 'cut', CUT);
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const name = field(event, 'event'), data = field(event, 'data');
      if (!name || !data) continue; // a comment that keeps the connection open
      const content = JSON.parse(data);
      if (name === 'sentence') onSentence(content);
      if (name === 'error') throw new ApiError(0, content.code, said(content), content.field);
      if (name === 'done') return content;
    }
  }
}

// ---- glossaries

const ofGlossary = (id, rest = '') => `v1/glossaries/${encodeURIComponent(id)}${rest}`;

export const glossaries = () => json('GET', 'v1/glossaries');
// As lines of a term, a tab and its translation.
export const glossaryEntries = async (id, source, target) => cut((await send('GET', ofGlossary(id, `/entries?${new URLSearchParams({source, target})}`))).text());
export const makeGlossary = (body) => json('POST', 'v1/glossaries', body);
export const changeGlossary = (id, body) => json('PATCH', ofGlossary(id), body);
export const removeGlossary = (id) => send('DELETE', ofGlossary(id));

// Language pairs for which the server has said that it cannot rerank.
const oneWay = new Set();

// ask(order) sends a request. If the server cannot rerank, it is sent again without rerank.
export async function carefully(order, ask) {
  const languages = `${order.source} ${order.target}`;
  try {
    return await ask({...order, rerank: order.rerank && !oneWay.has(languages)});
  } catch (e) {
    if (e.field !== 'rerank') throw e;
    if (order.source) oneWay.add(languages); // a detected language may be another one next time
    return ask({...order, rerank: false});
  }
}

// ---- documents

const ofDocument = ({id}, rest = '') => `v1/documents/${id}${rest}`;

// Returns {id, …}, which the functions below take. source null: the server finds it out; glossary undefined: none.
export function sendDocument(file, {source, target, glossary, rerank}, signal) {
  const form = new FormData();
  form.append('source', source ?? 'auto');
  form.append('target', target);
  if (glossary) form.append('glossary', glossary);
  if (rerank) form.append('rerank', true);
  form.append('file', file);
  return json('POST', 'v1/documents', form, signal);
}

export const documentStatus = (made, signal) => json('GET', ofDocument(made), undefined, signal);
export const documentResult = async (made, signal) => cut((await send('GET', ofDocument(made, '/result'), undefined, signal)).blob());
export const removeDocument = (made) => send('DELETE', ofDocument(made));
