// Exports show how many lines have arrived, and a file is saved only if all of it has. Without this script, the browser
// downloads the file itself and an interrupted one may look complete.
'use strict';

const LINE_FEED = 10;

// The time after which a saved file is released from the memory of the page.
const RELEASE_MS = 60_000;

document.addEventListener('click', async (event) => {
  const link = event.target.closest('a[data-export]');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.hasAttribute('aria-busy')) return;
  link.setAttribute('aria-busy', 'true');
  const progress = progressOf(link);
  try {
    await exportFile(link.href, (text) => { progress.textContent = text; });
  } catch {
    progress.textContent = 'The export was interrupted, so nothing was saved. Start it again.';
  }
  link.removeAttribute('aria-busy');
});

// Returns the place beside a link where its progress is displayed.
function progressOf(link) {
  if (link.nextElementSibling?.matches('output')) return link.nextElementSibling;
  const progress = document.createElement('output');
  link.after(' ', progress);
  return progress;
}

async function exportFile(url, show) {
  show('Exporting…');
  const answer = await fetch(url);
  const isFile = answer.ok && answer.headers.get('content-type')?.startsWith('text/csv');
  if (!isFile) {
    // The answer is a page: a refusal, or the sign-in.
    window.location.assign(url);
    return;
  }
  const parts = [];
  let feeds = 0;
  for (const reader = answer.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    for (const byte of value) if (byte === LINE_FEED) feeds += 1;
    show(`Exporting: ${describe(feeds)}`);
  }
  const [, name] = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '') ?? [];
  const file = URL.createObjectURL(new Blob(parts, { type: 'text/csv' }));
  Object.assign(document.createElement('a'), { href: file, download: name ?? 'export.csv' }).click();
  window.setTimeout(() => URL.revokeObjectURL(file), RELEASE_MS);
  show(`Exported ${describe(feeds)}.`);
}

// The first line has the names of the columns.
function describe(feeds) {
  const lines = Math.max(0, feeds - 1);
  return `${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'}`;
}
