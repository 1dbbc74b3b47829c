// The desk's main script: displays alerts, refreshes live parts, loads slow ones, asks for confirmation of irreversible
// acts, names the cells of tables for narrow pages, keeps a form that is refused, and sorts tables. Pages work without
// it: then they have no alerts, a live part is as old as its page, a refusal is a page of its own, and tables keep their
// order.
'use strict';

// On a narrow page the navigation is one line: the current page is scrolled into it.
const current = document.querySelector('header nav [aria-current]');
if (current) current.closest('nav').scrollLeft = current.offsetLeft - 32;

// A form is sent without leaving its page, so that a refusal, a lost connection or an ended session loses
// nothing that was filled in.
document.addEventListener('submit', async (event) => {
  const { target: form, submitter } = event;
  if (form.getAttribute('method') !== 'post') return;
  event.preventDefault();
  if (form.hasAttribute('aria-busy')) return;
  if ('confirm' in form.dataset && !window.confirm(askAbout(form))) return;
  form.setAttribute('aria-busy', 'true');
  try {
    await sendForm(form, submitter);
  } catch {
    showRefusal(form, ['The server did not answer. Look at the present state before you repeat it.']);
  }
  form.removeAttribute('aria-busy');
});

// The question of a form, in which the name of a field in braces stands for what is chosen or filled in.
function askAbout(form) {
  return form.dataset.confirm.replace(/ ?\{(\w+)\}/g, (part, name) => {
    const field = form.elements[name];
    const value = field.selectedOptions?.[0].textContent ?? field.value;
    return value && part.startsWith(' ') ? ` ${value}` : value;
  });
}

async function sendForm(form, submitter) {
  if ('isOld' in form.dataset && !await renewToken(form)) return;
  for (const field of form.elements) field.removeAttribute('aria-invalid');
  const path = submitter?.getAttribute('formaction') ?? form.getAttribute('action') ?? window.location.href;
  const body = new URLSearchParams(new FormData(form, submitter));
  const answer = await fetch(path, { method: 'POST', body });
  if (answer.redirected) {
    window.location.assign(answer.url);
    return;
  }
  const page = await parsePage(answer);
  const code = page.querySelector('[data-code]')?.dataset.code;
  if (!code) {
    showAnswer(page);
    return;
  }
  for (const named of page.querySelectorAll('[data-field]')) markInvalid(form, named);
  const reasons = [...page.querySelectorAll('main > .alert, main [data-reason]')];
  showRefusal(form, reasons.map((reason) => reason.textContent));
  if (code === 'session_ended' || code === 'form_foreign') {
    form.dataset.isOld = '';
    const link = document.createElement('a');
    Object.assign(link, { href: '/desk/sign-in', target: '_blank', textContent: 'Sign in in a new window' });
    const advice = document.createElement('p');
    advice.append(link, ', then send the form again. It keeps what you have filled in.');
    form.querySelector('.refusal').append(advice);
  }
}

// Marks the field that a refusal names, and replaces its name in the refusal by its label in the form.
function markInvalid(form, named) {
  const field = [...form.elements].find(({ name, type }) => name === named.dataset.field && type !== 'hidden');
  if (!field) return;
  named.textContent = field.labels[0]?.textContent ?? field.ariaLabel ?? named.textContent;
  field.setAttribute('aria-invalid', 'true');
  field.focus();
}

const parsePage = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html');

// The operator whom a page names; undefined on the pages of visitors.
const operatorOf = (page) => page.querySelector('.who a')?.textContent;

// Takes the form token of the present session. Returns false unless it is the same operator's.
async function renewToken(form) {
  const page = await parsePage(await fetch(window.location.href));
  const operator = operatorOf(page);
  if (operator !== operatorOf(document)) {
    const reason = operator ? `${operator} is signed in now. Reload the page.`
      : 'Nobody is signed in. Sign in in another window, then send the form again.';
    showRefusal(form, [reason]);
    return false;
  }
  const token = page.querySelector('[name=form_token]')?.value ?? '';
  for (const field of document.querySelectorAll('[name=form_token]')) field.value = token;
  delete form.dataset.isOld;
  return true;
}

// Displays a refusal at the top of its form.
function showRefusal(form, reasons) {
  form.querySelector(':scope > .refusal')?.remove();
  const refusal = document.createElement('div');
  refusal.className = 'alert refusal';
  refusal.setAttribute('role', 'alert');
  for (const reason of reasons) {
    const text = document.createElement('p');
    text.textContent = reason;
    refusal.append(text);
  }
  form.prepend(refusal);
}

// Names the cells of tables by their columns. On a narrow page a row is a card of named values.
function nameCells(root) {
  for (const table of root.querySelectorAll('table')) {
    const names = [...table.querySelectorAll('thead th')].map((heading) => heading.firstChild?.textContent ?? '');
    for (const row of table.tBodies[0]?.rows ?? []) {
      [...row.cells].forEach((cell, column) => {
        if (cell.colSpan === 1) cell.dataset.name = names[column] ?? '';
      });
    }
  }
}
nameCells(document);

// Displays the page that answers a form, such as a preview. The way back is the page of the form.
let isAnswerShown = false;
function showAnswer(page) {
  document.title = page.title;
  const main = document.adoptNode(page.querySelector('main'));
  nameCells(main);
  document.querySelector('main').replaceWith(main);
  main.tabIndex = -1;
  main.focus();
  if (!isAnswerShown) window.history.pushState(null, '');
  isAnswerShown = true;
}
window.addEventListener('popstate', () => {
  if (isAnswerShown) window.location.reload();
});

// The time within which the server has to answer a refresh. A part is refreshed every second, so a
// failure is displayed within three.
const ANSWER_MS = 1500;

// Displays why the page is outdated, or hides the reason. A text is set once, so that screen readers
// announce it once.
const connection = document.getElementById('connection');
let failure = '';
function showFailure(kind, text) {
  if (failure === kind) return;
  failure = kind;
  connection.hidden = !kind;
  connection.textContent = kind ? text : '';
}

// The time of an answer as a time of day in the house's zone. It is the server's: the browser's clock may be wrong.
const timeZone = document.getElementById('alerts')?.dataset.zone;
const timeOf = (answer) => new Date(answer.headers.get('date')).toLocaleTimeString('en-GB', { timeZone });
// The times of the last answer, and of the last one with all stores.
let answeredAt = '';
let completeAt = '';
const since = (time) => time ? ` since ${time}` : '';

// A live part has the URL of its content and, unless it is a second, the interval of its refresh. Its
// button pauses the refresh, which is also paused while the page is hidden. The alerts also tell
// whether the server answers, and are requested at once.
for (const part of document.querySelectorAll('[data-live]')) {
  const button = document.querySelector(`[data-hold="${part.id}"]`);
  const everyMs = 1000 * Number(part.dataset.everyS ?? 1);
  const isConnection = 'isConnection' in part.dataset;
  let held = false;
  if (button) {
    button.hidden = false;
    button.addEventListener('click', () => {
      held = !held;
      button.setAttribute('aria-pressed', String(held));
    });
  }
  const show = (text) => {
    // Unchanged content is not replaced, so that the selection is kept; the focus returns to its link, or to the
    // summary or region of its place, and regions stay scrolled.
    if (text === part.dataset.shown) return;
    const open = [...part.querySelectorAll('details')].map((details) => details.open);
    const regions = [...part.querySelectorAll('.scroll')].map(({ scrollLeft, scrollTop }) => [scrollLeft, scrollTop]);
    const focus = part.contains(document.activeElement) ? document.activeElement : null;
    const link = focus?.getAttribute('href');
    const places = ['summary', '.scroll'].map((kind) => [kind, [...part.querySelectorAll(kind)].indexOf(focus)]);
    part.innerHTML = text;
    nameCells(part);
    part.querySelectorAll('details').forEach((details, place) => {
      details.open = open[place] ?? false;
    });
    part.querySelectorAll('.scroll').forEach((region, place) => region.scrollTo(...regions[place] ?? [0, 0]));
    if (link) part.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus();
    for (const [kind, place] of places) part.querySelectorAll(kind)[place]?.focus();
    part.dataset.shown = text;
  };
  const load = async () => {
    const limit = isConnection ? { signal: AbortSignal.timeout(ANSWER_MS) } : {};
    const answer = await fetch(part.dataset.live, { headers: { 'desk-poll': '1' }, ...limit });
    answeredAt = timeOf(answer);
    if (answer.status === 401) {
      // A reload would discard a form that is being filled in.
      if (!isConnection) return window.location.reload();
      return showFailure('session', `The session has ended (${answeredAt}). Sign in again.`);
    }
    if (isConnection) {
      if (answer.ok) completeAt = answeredAt;
      const text = `The server has not reached a store${since(completeAt)}. This page may be outdated.`;
      showFailure(answer.status >= 500 ? 'store' : '', text);
    }
    if (answer.ok) show(await answer.text());
  };
  const refresh = async () => {
    if (!held && !document.hidden) {
      try {
        await load();
      } catch {
        // The next attempt may reach the server again.
        const text = `The server has not answered${since(answeredAt)}. This page may be outdated.`;
        if (isConnection) showFailure('server', text);
      }
    }
    window.setTimeout(refresh, everyMs);
  };
  window.setTimeout(refresh, isConnection ? 0 : everyMs);
}

// A part that takes long is loaded once, after its page. It has a link to a page with its content, which remains if
// it cannot be loaded.
for (const part of document.querySelectorAll('[data-load]')) {
  part.setAttribute('aria-busy', 'true');
  const load = async () => {
    const answer = await fetch(part.dataset.load, { headers: { 'desk-poll': '1' } });
    if (!answer.ok) return;
    part.innerHTML = await answer.text();
    nameCells(part);
  };
  load().catch(() => {}).finally(() => part.removeAttribute('aria-busy'));
}

// A replay shows one step at a time, chosen by its slider; the arrow keys move it.
for (const replay of document.querySelectorAll('[data-replay]')) {
  const steps = [...replay.querySelectorAll('.step')];
  const slider = replay.querySelector('input[type=range]');
  const shown = replay.querySelector('output');
  const show = () => {
    steps.forEach((step, place) => { step.hidden = place !== Number(slider.value); });
    shown.textContent = slider.value;
  };
  replay.querySelector('.replay-slider').hidden = false;
  slider.addEventListener('input', show);
  for (const button of replay.querySelectorAll('[data-by]')) {
    button.addEventListener('click', () => {
      slider.value = String(Number(slider.value) + Number(button.dataset.by));
      show();
    });
  }
  show();
}

// A table with all rows of its list is sorted by the heading of any column: by numbers and times first from the
// greatest on, by texts first from the beginning of the alphabet on. Rows without a value are last.
for (const table of document.querySelectorAll('[data-sort] table')) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  for (const heading of table.tHead.rows[0].cells) {
    if (!heading.textContent) continue;
    const button = document.createElement('button');
    Object.assign(button, { type: 'button', className: 'sort', textContent: heading.textContent });
    heading.replaceChildren(button);
    button.addEventListener('click', () => sortRows(table, heading));
  }
}

function sortRows(table, heading) {
  const body = table.tBodies[0];
  const cells = [...body.rows].map((row) => row.cells[heading.cellIndex]);
  const isNumber = heading.classList.contains('number');
  const isTime = cells.some((cell) => cell.querySelector('time'));
  const before = heading.getAttribute('aria-sort');
  const isDescending = before ? before === 'ascending' : isNumber || isTime;
  const valueOf = (cell) => {
    if (isNumber) return Number.parseFloat(cell.textContent.replaceAll(',', ''));
    return isTime ? cell.querySelector('time')?.dateTime ?? '' : cell.textContent.trim();
  };
  const compare = (one, other) => (isNumber ? one - other : one.localeCompare(other));
  const keyed = cells.map((cell) => ({ row: cell.parentElement, value: valueOf(cell) }));
  const isAbsent = ({ value }) => value === '' || Number.isNaN(value);
  const sorted = keyed.filter((one) => !isAbsent(one))
    .sort((one, other) => (isDescending ? compare(other.value, one.value) : compare(one.value, other.value)));
  body.append(...sorted.concat(keyed.filter(isAbsent)).map(({ row }) => row));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
}
