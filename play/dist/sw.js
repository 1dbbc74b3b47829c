// The service worker: starts the page without a network, and says so where it never was loaded. It answers
// for the page and its files alone; what is asked of the house under /v1 it never sees.
//
// The page comes from the network first, so that no old version is kept: the kept one is for when there is no
// network. Files are named by what is in them, and are kept as they came. The kept files of the version
// before stay for pages that are still open; older ones go. A page without the mark that asks for this worker
// ends it: a server that does not send it any more is rid of it at the next visit.
const VERSION = '0e4ebd5283f5';
const SHELL = JSON.parse('["app-5c20635ec75a.js","chunk-175f0858ce9e.js","chunk-17fe2f90017d.js","chunk-1dfdb808fc13.js","chunk-62e1bda848a0.js","chunk-b8f6816ffd43.js","style-3edc3d52440e.css","tongits-95c6552187e7.js"]');
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

/** Keeps this version and the one before it. */
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
    // A game's invitation starts from the same page as all else.
    const cache = await caches.open(NAME);
    return await cache.match(PAGE) ?? new Response(OFFLINE, { headers: {
      'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    } });
  }
}

/** Looks whether the server still wants this worker. */
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
    // Where there is no room, it is asked for again.
    caches.open(NAME).then((cache) => cache.put(request, copy)).catch(() => {});
  }
  return answer;
}
