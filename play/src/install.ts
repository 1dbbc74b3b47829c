// Registers the service worker, with which the page starts without a network and can be installed. It is
// registered after the first hand is dealt, or after a while, so that nothing waits for it. A page without a
// worker's address unregisters the worker of an earlier version.
import { table } from './house.ts';
import { effect } from '@preact/signals';

/** The delays after the first hand, and on a page where nobody plays. */
const AFTER_HAND_MS = 4_000;
const IDLE_MS = 20_000;

export function installWorker() {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  if (!workers) return;
  const address = document.querySelector<HTMLMetaElement>('meta[name="worker"]')?.content;
  // Without the worker everything works except starting without a network.
  const begin = () => { (address ? workers.register(address, { scope: '/play' }) : end(workers)).catch(() => {}); };
  let timer = setTimeout(begin, IDLE_MS);
  const stop = effect(() => {
    if (table.value?.view.phase.type !== 'playing') return;
    clearTimeout(timer);
    timer = setTimeout(begin, AFTER_HAND_MS);
    queueMicrotask(() => stop());
  });
}

async function end(workers: ServiceWorkerContainer) {
  for (const one of await workers.getRegistrations()) if (new URL(one.scope).pathname === '/play') await one.unregister();
}
