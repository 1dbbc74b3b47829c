// Loads the folder of a game, a script with an optional style, so that no player waits for other games. The
// page names the files. A failed file is retried and then given up: either the network is down for long, or
// the server was replaced since the page was loaded, and its files with it. Reloading the page then helps,
// which the table offers.
import { signal } from '@preact/signals';
import type { GameFolder } from './folder.ts';

const TRIES = 4;
/** The back-off before the second attempt, doubled after each. The return of the network ends it. */
const PAUSE_MS = 500;

const folders = signal<ReadonlyMap<string, GameFolder>>(new Map());
const failed = signal<ReadonlySet<string>>(new Set());
const running = new Map<string, Promise<GameFolder | null>>();

/** Returns the folder of a game, if it is loaded. */
export function loadedFolder(kind: string): GameFolder | null {
  return folders.value.get(kind) ?? null;
}

/** Returns whether loading a game was given up. */
export function hasFailed(kind: string): boolean {
  return failed.value.has(kind);
}

/** Loads a game; null if there is no such game or it is not available. */
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
    // Some browsers cache the failure of a script by its address.
    const address = (file: string) => tried === 0 ? file : `${file}?${tried}`;
    try {
      const [{ folder }] = await Promise.all([
        import(address(script)) as Promise<{ folder: GameFolder }>,
        style ? addStyle(address(style)) : null,
      ]);
      folders.value = new Map([...folders.peek(), [kind, folder]]);
      return folder;
    } catch {
      // The next attempt follows.
    }
  }
  failed.value = new Set([...failed.peek(), kind]);
  return null;
}

/** Adds a style to the page; resolves once it applies. */
export function addStyle(address: string): Promise<void> {
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
