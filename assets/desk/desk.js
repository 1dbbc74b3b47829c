// The desk's only script: refreshes live parts, and asks for confirmation of irreversible acts. Pages
// work without it; a live part is then as old as its page.
'use strict';

for (const form of document.querySelectorAll('form[data-confirm]')) {
  form.addEventListener('submit', (event) => {
    if (!window.confirm(form.dataset.confirm)) event.preventDefault();
  });
}

// A live part has the URL of its content and, unless it is a second, the interval of its refresh. Its
// button pauses the refresh, which is also paused while the page is hidden.
for (const part of document.querySelectorAll('[data-live]')) {
  const button = document.querySelector(`[data-hold="${part.id}"]`);
  const everyMs = 1000 * Number(part.dataset.everyS ?? 1);
  let held = false;
  if (button) {
    button.hidden = false;
    button.addEventListener('click', () => {
      held = !held;
      button.setAttribute('aria-pressed', String(held));
    });
  }
  const refresh = async () => {
    if (!held && !document.hidden) {
      try {
        const answer = await fetch(part.dataset.live, { headers: { 'desk-poll': '1' } });
        if (answer.status === 401) return window.location.reload();
        if (answer.ok) {
          const text = await answer.text();
          // Unchanged content is not replaced, so that selection and focus are kept.
          if (text !== part.dataset.shown) {
            const open = [...part.querySelectorAll('details')].map((details) => details.open);
            part.innerHTML = text;
            part.querySelectorAll('details').forEach((details, place) => {
              details.open = open[place] ?? false;
            });
            part.dataset.shown = text;
          }
        }
      } catch {
        // The next attempt may reach the server again.
      }
    }
    window.setTimeout(refresh, everyMs);
  };
  window.setTimeout(refresh, everyMs);
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
