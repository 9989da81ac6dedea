// The try-it forms of /docs: what is typed goes to this server, and the answer is shown as it came. Without this file the
// page is a text to read.
import {session} from './kept.js';

const KEY = 'dragoman-key', MOST = 20000; // characters of an answer that are shown

const key = document.getElementById('key');
key.value = session.get(KEY) || '';
key.addEventListener('input', () => session.set(KEY, key.value));

// The path with what was typed for its {names} and its query.
function path(form) {
  const query = [...form.querySelectorAll('[data-query]')].filter((e) => e.value).map((e) => `${e.name}=${encodeURIComponent(e.value)}`);
  return form.dataset.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(form.elements[name].value)) + (query.length ? '?' : '') + query.join('&');
}

// What was typed for its body: JSON, or the fields of a form with a file; empty ones are left out.
function content(form) {
  const parts = [...form.querySelectorAll('[data-part]')];
  if (!parts.length) return form.elements.body?.value;
  const data = new FormData();
  for (const e of parts) if (e.value) data.append(e.name, e.files ? e.files[0] : e.value);
  return data;
}

async function send(form) {
  const headers = {}, body = content(form), answer = form.querySelector('.answer'), status = form.querySelector('[role=status]');
  if (key.value) headers.Authorization = 'Bearer ' + key.value;
  if (form.elements.body) headers['Content-Type'] = 'application/json';
  status.textContent = 'Sent; waiting for the answer …';
  answer.hidden = true;
  const from = performance.now();
  try {
    const reply = await fetch(path(form), {method: form.dataset.method, headers, body});
    let text = await reply.text();
    if ((reply.headers.get('Content-Type') || '').startsWith('application/json')) text = JSON.stringify(JSON.parse(text), null, 2);
    status.textContent = `${reply.status} ${reply.statusText}, ${Math.round(performance.now() - from)} ms, ${reply.headers.get('Content-Type') || 'no content'}`;
    answer.textContent = text.length > MOST ? `${text.slice(0, MOST)}\n… ${text.length - MOST} more characters` : text;
    answer.hidden = !text;
  } catch (e) {
    status.textContent = `No answer: ${e.message}`;
  }
}

for (const form of document.querySelectorAll('.try form')) {
  form.addEventListener('submit', (e) => {
    e.preventDefault();
    send(form);
  });
}
for (const hidden of document.querySelectorAll('.try, .key')) hidden.hidden = false;
