// What a client needs of the place where it runs, and the two places that are known: a page in a
// browser, and Node. Written without the types of either, so that it compiles for both.

import type { HttpAnswer, StoreKey } from "../core/types.js";

/** One socket, as the client uses it. */
export interface Socket {
  send(text: string): void;
  close(): void;
}

export interface SocketEvents {
  opened(protocol: string): void;
  heard(data: string | Uint8Array): void;
  closed(code: number, reason: string): void;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Platform {
  /** Milliseconds of a monotonic clock: it is never set. It may stand still while the machine sleeps. */
  now(): number;
  /** Milliseconds since 1970 by the machine's clock, which may be set. */
  wall(): number;
  random(bytes: number): Uint8Array;
  /** Rejects where there is no answer. */
  fetch(request: HttpRequest): Promise<HttpAnswer>;
  open(url: string, protocols: readonly string[], events: SocketEvents): Socket;
  /** Gives a function that forgets it again. */
  timer(ms: number, act: () => void): () => void;
  load(key: StoreKey): string | null;
  store(key: StoreKey, value: string | null): void;
  /** Joins the tabs of this installation: calls with what others tell, and gives a function that tells them. */
  share?(heard: (text: string) => void): (text: string) => void;
  /** Calls when the page is shown again or the network is back; gives a function that ends this. */
  onWake(act: () => void): () => void;
}

/** The parts of a page or of Node that are used. */
interface Globals {
  readonly fetch: (url: string, init: object) => Promise<{
    readonly status: number;
    readonly headers: { get(name: string): string | null };
    text(): Promise<string>;
  }>;
  readonly WebSocket: WebSocketClass;
  readonly crypto: { getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array };
  readonly performance: { now(): number };
  readonly BroadcastChannel?: new (name: string) => {
    onmessage: ((event: { readonly data: string }) => void) | null;
    postMessage(text: string): void;
  };
  readonly setTimeout: (act: () => void, ms: number) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
  readonly localStorage?: Storage;
  readonly sessionStorage?: Storage;
  readonly addEventListener?: (event: string, act: (event: unknown) => void) => void;
  readonly removeEventListener?: (event: string, act: (event: unknown) => void) => void;
  readonly document?: {
    readonly visibilityState: string;
    addEventListener(event: string, act: () => void): void;
    removeEventListener(event: string, act: () => void): void;
  };
  readonly navigator?: {
    readonly connection?: {
      addEventListener?(event: string, act: () => void): void;
      removeEventListener?(event: string, act: () => void): void;
    };
  };
  readonly AbortSignal?: { timeout(ms: number): unknown };
}

interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** What the standard's `WebSocket` has, and the package `ws` as well. */
export type WebSocketClass = new (
  url: string,
  protocols: string[],
) => {
  binaryType: string;
  readonly protocol: string;
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
};

const REQUEST_MS = 12_000;

/** The `readyState` of a socket that takes what is sent. */
const OPEN = 1;

/** Kept as long as the installation; all else belongs to one tab. */
const LASTING: ReadonlySet<StoreKey> = new Set(["device", "seed"]);

/** A page in a browser. `prefix` keeps several installations of one origin apart. */
export function browserPlatform(prefix = "bahay."): Platform {
  const page = globalThis as unknown as Globals;
  const shelf = (key: StoreKey): Storage | undefined =>
    LASTING.has(key) ? page.localStorage : page.sessionStorage;
  return {
    ...common(page, page.crypto, page.WebSocket),
    load: (key) => quietly(() => shelf(key)?.getItem(prefix + key) ?? null) ?? null,
    store: (key, value) => {
      quietly(() => {
        if (value === null) shelf(key)?.removeItem(prefix + key);
        else shelf(key)?.setItem(prefix + key, value);
      });
    },
    share: (heard) => {
      const channel = quietly(() => page.BroadcastChannel && new page.BroadcastChannel(`${prefix}session`));
      if (channel) channel.onmessage = ({ data }) => heard(data);
      return (text) => channel?.postMessage(text);
    },
    onWake: (act) => {
      const { document } = page;
      const shown = (): void => {
        if (document?.visibilityState === "visible") act();
      };
      document?.addEventListener("visibilitychange", shown);
      document?.addEventListener("resume", act);
      // A page is shown also when it is loaded; then it has begun just now, and there is nothing to wake.
      const restored = (event: unknown): void => {
        if ((event as { readonly persisted?: boolean }).persisted) act();
      };
      page.addEventListener?.("online", act);
      page.addEventListener?.("pageshow", restored);
      // Another network, as from the house's to the street's; not every browser tells.
      page.navigator?.connection?.addEventListener?.("change", act);
      return () => {
        document?.removeEventListener("visibilitychange", shown);
        document?.removeEventListener("resume", act);
        page.navigator?.connection?.removeEventListener?.("change", act);
        page.removeEventListener?.("online", act);
        page.removeEventListener?.("pageshow", restored);
      };
    },
  };
}

/** What Node has not had from the beginning, and where it keeps things between runs. */
export interface NodeParts {
  /** As the package `ws` has it; by default that of Node, from version 22 on. */
  readonly WebSocket?: WebSocketClass;
  /** As `node:crypto` has it; by default that of Node, from version 19 on. */
  readonly crypto?: Globals["crypto"];
  readonly memory?: Map<StoreKey, string>;
}

/** Node, which keeps nothing between runs unless `memory` is kept. */
export function nodePlatform({ WebSocket, crypto, memory = new Map() }: NodeParts = {}): Platform {
  const node = globalThis as unknown as Globals;
  return {
    ...common(node, crypto ?? node.crypto, WebSocket ?? node.WebSocket),
    load: (key) => memory.get(key) ?? null,
    store: (key, value) => {
      if (value === null) memory.delete(key);
      else memory.set(key, value);
    },
    onWake: () => () => undefined,
  };
}

function common(
  globals: Globals,
  crypto: Globals["crypto"],
  WebSocket: WebSocketClass,
): Omit<Platform, "load" | "store" | "onWake"> {
  return {
    now: () => globals.performance.now(),
    wall: () => Date.now(),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    fetch: ({ method, url, headers, body }) => fetched(globals, method, url, headers, body),
    open: (url, protocols, events) => openSocket(WebSocket, url, protocols, events),
    timer: (ms, act) => {
      const timer = globals.setTimeout(act, Math.max(0, ms));
      return () => globals.clearTimeout(timer);
    },
  };
}

async function fetched(
  globals: Globals,
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | null,
): Promise<HttpAnswer> {
  const signal = globals.AbortSignal?.timeout(REQUEST_MS);
  const common = { method, headers, cache: "no-store", ...(signal ? { signal } : {}) };
  const answer = await globals.fetch(url, body === null ? common : { ...common, body });
  const text = await answer.text();
  const retryAfter = Number(answer.headers.get("retry-after") ?? Number.NaN);
  return {
    status: answer.status,
    contentType: answer.headers.get("content-type"),
    body: text === "" ? null : (quietly(() => JSON.parse(text) as unknown) ?? null),
    retryAfterMs: Number.isFinite(retryAfter) ? 1_000 * retryAfter : null,
  };
}

function openSocket(
  WebSocket: WebSocketClass,
  url: string,
  protocols: readonly string[],
  events: SocketEvents,
): Socket {
  const socket = new WebSocket(url, [...protocols]);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => events.opened(socket.protocol);
  socket.onmessage = ({ data }: { data: string | ArrayBuffer }) =>
    events.heard(typeof data === "string" ? data : new Uint8Array(data));
  socket.onclose = ({ code, reason }: { code: number; reason: string }) =>
    events.closed(code, reason);
  // Its close follows, which says as much.
  socket.onerror = () => undefined;
  return {
    send: (text) => {
      // One that closes already would take it, and say so on the page's console.
      if (socket.readyState === OPEN) quietly(() => socket.send(text));
    },
    close: () => {
      quietly(() => socket.close(1000));
    },
  };
}

/** Storage may be full or forbidden, a socket may be closed: the client goes on without. */
function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
