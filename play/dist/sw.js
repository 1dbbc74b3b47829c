// The service worker: starts the page without a network, or says that it was never loaded. It answers only
// for the page and its files; requests to /v1 never reach it.
//
// The page comes from the network first, so that no old version stays; the cached one is for times without a
// network. Files are named by their content and cached as they come. The cached files of the previous version
// stay for open pages; older ones are deleted. A page without the mark that requests this worker unregisters
// it, so a server without the worker is rid of it at the next visit.
const VERSION = '03a9bb7ff946';
const SHELL = JSON.parse('["app-9bd75546e8b4.js","chunk-363c7582dc2b.js","chunk-dacf0812528f.js","style-27fe4931e582.css","tongits-90de63d7dab9.js"]');
const PAGE = '/play';
const FILES = '/play/files/';
const MARK = 'name="worker"';
const PREFIX = 'bahay-';
const NAME = `${PREFIX}${VERSION}`;

const OFFLINE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bahay</title><style>body{margin:0;min-height:100vh;display:grid;place-content:center;gap:12px;text-align:center;background:#062628;color:#eefaf5;font:600 17px/1.4 system-ui,sans-serif;padding:24px}h1{margin:0;color:#f3c969}a{color:#f3c969}</style>
<main><h1>Bahay</h1><p>There is no connection.</p><p lang="fil">Walang koneksiyon.</p><p><a href="">Try again · Subukan muli</a></p></main></html>`;

self.addEventListener('install', (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(forgetOld().then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && (pathname === PAGE || pathname.startsWith('/play/join/'))) event.respondWith(loadPage(request));
  else if (pathname.startsWith(FILES)) event.respondWith(loadFile(request));
});

async function keepShell() {
  const cache = await caches.open(NAME);
  await cache.addAll([new Request(PAGE, { cache: 'no-cache' }), ...SHELL.map((file) => FILES + file)]);
}

/** Deletes all caches except those of this version and the previous one. */
async function forgetOld() {
  const order = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== NAME);
  await Promise.all(order.slice(0, -1).map((name) => caches.delete(name)));
}

async function loadPage(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok && !answer.redirected) await follow(answer.clone());
    return answer;
  } catch {
    // A game's invitation starts from the same page.
    const cache = await caches.open(NAME);
    return await cache.match(PAGE) ?? new Response(OFFLINE, { headers: {
      'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    } });
  }
}

/** Unregisters the worker if the page no longer requests it. */
async function follow(answer) {
  if ((await answer.text()).includes(MARK)) return;
  await self.registration.unregister();
  for (const name of await caches.keys()) if (name.startsWith(PREFIX)) await caches.delete(name);
}

async function loadFile(request) {
  const kept = await caches.match(request, { ignoreSearch: true });
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.status === 200) {
    const copy = answer.clone();
    // If the cache is full, the file is requested again next time.
    caches.open(NAME).then((cache) => cache.put(request, copy)).catch(() => {});
  }
  return answer;
}
