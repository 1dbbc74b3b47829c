// The desk's one script: keeps live parts fresh, and asks before what cannot be undone. Pages work
// without it; a live part is then as old as its page.
'use strict';

const EVERY_MS = 1000;

for (const form of document.querySelectorAll('form[data-confirm]')) {
  form.addEventListener('submit', (event) => {
    if (!window.confirm(form.dataset.confirm)) event.preventDefault();
  });
}

// A live part names where its content comes from. It can be held still by its button, and is while
// nobody sees the page.
for (const part of document.querySelectorAll('[data-live]')) {
  const button = document.querySelector(`[data-hold="${part.id}"]`);
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
          // Only what is new is drawn, so that what is selected or focused stays.
          if (text !== part.dataset.shown) {
            part.innerHTML = text;
            part.dataset.shown = text;
          }
        }
      } catch {
        // The next attempt may reach the server again.
      }
    }
    window.setTimeout(refresh, EVERY_MS);
  };
  window.setTimeout(refresh, EVERY_MS);
}
