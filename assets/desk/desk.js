// The desk's only script: displays alerts, refreshes live parts, and asks for confirmation of
// irreversible acts. Pages work without it: then they have no alerts, and a live part is as old as its
// page.
'use strict';

for (const form of document.querySelectorAll('form[data-confirm]')) {
  form.addEventListener('submit', (event) => {
    if (!window.confirm(form.dataset.confirm)) event.preventDefault();
  });
}

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

// The time of day in the house's zone.
const timeZone = document.getElementById('alerts')?.dataset.zone;
const now = () => new Date().toLocaleTimeString('en-GB', { timeZone });

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
    // Unchanged content is not replaced, so that the selection is kept; the focus returns to its link.
    if (text === part.dataset.shown) return;
    const open = [...part.querySelectorAll('details')].map((details) => details.open);
    const link = part.contains(document.activeElement) && document.activeElement.getAttribute('href');
    part.innerHTML = text;
    part.querySelectorAll('details').forEach((details, place) => {
      details.open = open[place] ?? false;
    });
    if (link) part.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus();
    part.dataset.shown = text;
  };
  const load = async () => {
    const limit = isConnection ? { signal: AbortSignal.timeout(ANSWER_MS) } : {};
    const answer = await fetch(part.dataset.live, { headers: { 'desk-poll': '1' }, ...limit });
    if (answer.status === 401) {
      // A reload would discard a form that is being filled in.
      if (!isConnection) return window.location.reload();
      return showFailure('session', `The session has ended (${now()}). Sign in again.`);
    }
    if (isConnection) {
      const text = `The server has not reached a store since ${now()}. This page may be outdated.`;
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
        const text = `The server has not answered since ${now()}. This page may be outdated.`;
        if (isConnection) showFailure('server', text);
      }
    }
    window.setTimeout(refresh, everyMs);
  };
  window.setTimeout(refresh, isConnection ? 0 : everyMs);
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
