// Loads the folder of a game, which is a script and mostly a style of its own, so that nobody waits for
// games that are not played. The page names the files. What cannot be loaded is tried again, and then
// given up: the network is gone for long, or the server has become another one since the page was
// loaded, and its files with it. Then loading the page again helps, which the table offers.
import { signal } from '@preact/signals';
import type { GameFolder } from './folder.ts';

const TRIES = 4;
/** The pause before the second try; doubled after each. The network coming back ends it. */
const PAUSE_MS = 500;

const folders = signal<ReadonlyMap<string, GameFolder>>(new Map());
const failed = signal<ReadonlySet<string>>(new Set());
const running = new Map<string, Promise<GameFolder | null>>();

/** The folder of a game, if it is there. */
export function folderOf(kind: string): GameFolder | null {
  return folders.value.get(kind) ?? null;
}

/** Whether it was given up to load it. */
export function hasFailed(kind: string): boolean {
  return failed.value.has(kind);
}

/** Null where there is no such game, or it cannot be had. */
export function loadGame(kind: string): Promise<GameFolder | null> {
  const known = folders.peek().get(kind);
  if (known) return Promise.resolve(known);
  let loading = running.get(kind);
  if (!loading) {
    loading = load(kind).finally(() => running.delete(kind));
    running.set(kind, loading);
  }
  return loading;
}

async function load(kind: string): Promise<GameFolder | null> {
  const files = document.querySelector<HTMLElement>(`meta[name="game"][data-kind="${CSS.escape(kind)}"]`)?.dataset;
  const { script, style } = files ?? {};
  if (!script) return null;
  for (let tried = 0; tried < TRIES; tried += 1) {
    if (tried > 0) await pause(PAUSE_MS * 2 ** (tried - 1));
    // Some browsers remember a script that has failed by its address.
    const address = (file: string) => tried === 0 ? file : `${file}?${tried}`;
    try {
      const [{ folder }] = await Promise.all([
        import(address(script)) as Promise<{ folder: GameFolder }>,
        style ? addStyle(address(style)) : null,
      ]);
      folders.value = new Map([...folders.peek(), [kind, folder]]);
      return folder;
    } catch {
      // Tried again.
    }
  }
  failed.value = new Set([...failed.peek(), kind]);
  return null;
}

function addStyle(address: string): Promise<void> {
  return new Promise((done, fail) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = address;
    link.onload = () => done();
    link.onerror = () => {
      link.remove();
      fail(new Error(`${address} was not loaded`));
    };
    document.head.append(link);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      done();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
  });
}
