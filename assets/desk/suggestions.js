// Suggests players while a name is typed into a field with `data-suggest`: a combobox of ARIA 1.2 with a list
// below the field. A chosen suggestion fills the field (`name`) or opens the player's page (`page`). Without
// this script the fields are plain ones.
'use strict';

(() => {
  // The time without a key after which names are asked for, in milliseconds.
  const PAUSE_MS = 150;
  // The number of characters from which on names are asked for.
  const LENGTH_MIN = 2;

  document.querySelectorAll('input[data-suggest]').forEach((field, place) => {
    const list = document.createElement('ul');
    Object.assign(list, { id: `suggestions-${place}`, className: 'suggestions', hidden: true });
    list.setAttribute('role', 'listbox');
    list.setAttribute('aria-label', 'Players');
    // Screen readers announce the number of suggestions.
    const status = document.createElement('span');
    status.className = 'announced';
    status.setAttribute('role', 'status');
    field.after(list, status);
    field.setAttribute('role', 'combobox');
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-controls', list.id);
    field.setAttribute('aria-expanded', 'false');

    let players = [];
    let chosen = -1;
    let timer = 0;
    let request = new AbortController();

    const choose = (number) => {
      chosen = number;
      [...list.children].forEach((option, at) => option.setAttribute('aria-selected', String(at === number)));
      const option = list.children[number];
      if (option) {
        field.setAttribute('aria-activedescendant', option.id);
        option.scrollIntoView({ block: 'nearest' });
      } else {
        field.removeAttribute('aria-activedescendant');
      }
    };

    const show = (found, text) => {
      players = found;
      list.replaceChildren(...found.map(({ id, name }, at) => {
        const option = document.createElement('li');
        option.id = `${list.id}-${at}`;
        option.setAttribute('role', 'option');
        option.textContent = name;
        // Players may have the same name. The first digits of an id are a time, which they may share too.
        const digits = document.createElement('small');
        digits.textContent = ` …${id.slice(-12)}`;
        option.append(digits);
        option.addEventListener('click', () => accept(at));
        return option;
      }));
      list.hidden = found.length === 0;
      list.style.top = `${field.offsetTop + field.offsetHeight}px`;
      list.style.left = `${field.offsetLeft}px`;
      field.setAttribute('aria-expanded', String(!list.hidden));
      status.textContent = text;
      choose(-1);
    };

    // Hides the list. An answer that arrives later is ignored.
    const close = () => {
      window.clearTimeout(timer);
      request.abort();
      show([], '');
    };

    const accept = (number) => {
      const { id, name } = players[number];
      const isAlone = players.filter((player) => player.name === name).length === 1;
      close();
      if (field.dataset.suggest === 'page') {
        window.location.assign(`/desk/players/${id}`);
      } else {
        field.value = isAlone ? name : id;
      }
    };

    const ask = async () => {
      const text = field.value.trim();
      request = new AbortController();
      const { signal } = request;
      try {
        const query = new URLSearchParams({ text });
        const answer = await fetch(`/desk/search/names?${query}`, { headers: { 'desk-poll': '1' }, signal });
        const found = answer.ok ? await answer.json() : [];
        if (signal.aborted) return;
        const counted = found.length === 1 ? '1 player' : `${found.length} players`;
        show(found, found.length ? `${counted}. Choose with the arrow keys.` : 'No such player.');
      } catch {
        // The field works without suggestions.
        if (!signal.aborted) show([], '');
      }
    };

    field.addEventListener('input', () => {
      window.clearTimeout(timer);
      request.abort();
      if (field.value.trim().length < LENGTH_MIN) {
        show([], '');
      } else {
        timer = window.setTimeout(ask, PAUSE_MS);
      }
    });

    field.addEventListener('keydown', (event) => {
      if (list.hidden || event.isComposing) return;
      const last = players.length - 1;
      if (event.key === 'ArrowDown') choose(chosen < last ? chosen + 1 : 0);
      else if (event.key === 'ArrowUp') choose(chosen > 0 ? chosen - 1 : last);
      else if (event.key === 'Enter' && chosen >= 0) accept(chosen);
      else if (event.key === 'Escape') close();
      else return;
      event.preventDefault();
    });
    // A click on the list does not move the focus, so the list is still there when the click ends.
    list.addEventListener('mousedown', (event) => event.preventDefault());
    field.addEventListener('blur', close);
    field.form?.addEventListener('submit', close);
  });
})();
