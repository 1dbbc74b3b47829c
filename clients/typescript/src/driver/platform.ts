// The platform that a client runs on, and two implementations: a page in a browser, and Node. Written without the
// types of either, so that it compiles for both. `react_native.ts` has a third one.

import type { HttpAnswer, StoreKey } from "../core/types.js";

/** A socket as the client uses it. */
export interface Socket {
  send(text: string): void;
  close(): void;
}

export interface SocketEvents {
  opened(protocol: string): void;
  received(data: string | Uint8Array): void;
  closed(code: number, reason: string): void;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Platform {
  /** Returns the ms of a monotonic clock, which is never set and may stand still while the machine sleeps. */
  now(): number;
  /** Returns the ms since 1970 by the machine's clock, which may be set. */
  wall(): number;
  random(bytes: number): Uint8Array;
  /** Sends a request; rejects if there is no answer. */
  fetch(request: HttpRequest): Promise<HttpAnswer>;
  open(url: string, protocols: readonly string[], events: SocketEvents): Socket;
  /** Sets a timer and returns a function that cancels it. */
  timer(ms: number, act: () => void): () => void;
  load(key: StoreKey): string | null;
  store(key: StoreKey, value: string | null): void;
  /**
   * Connects the tabs of this installation: calls `heard` with the texts of others, and returns a function
   * that sends one.
   */
  share?(heard: (text: string) => void): (text: string) => void;
  /** Calls when the page becomes visible or the network returns, and returns a function that ends this. */
  onWake(act: () => void): () => void;
}

/** The globals of a browser or of Node that are used. */
export interface Globals {
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

/** The constructor of `WebSocket`, as in the standard and in the package `ws`. */
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

/** The `readyState` of an open socket. */
const OPEN = 1;

/** The keys kept as long as the installation; all others belong to one tab. */
const PERSISTENT_KEYS: ReadonlySet<StoreKey> = new Set(["device", "seed"]);

/** Returns the platform of a page in a browser. `prefix` separates several installations of one origin. */
export function browserPlatform(prefix = "bahay."): Platform {
  const page = globalThis as unknown as Globals;
  const shelf = (key: StoreKey): Storage | undefined =>
    PERSISTENT_KEYS.has(key) ? page.localStorage : page.sessionStorage;
  return {
    ...commonPlatform(page, page.crypto, page.WebSocket),
    load: (key) => ignoreErrors(() => shelf(key)?.getItem(prefix + key) ?? null) ?? null,
    store: (key, value) => {
      ignoreErrors(() => {
        if (value === null) shelf(key)?.removeItem(prefix + key);
        else shelf(key)?.setItem(prefix + key, value);
      });
    },
    share: (heard) => {
      const channel = ignoreErrors(() => page.BroadcastChannel && new page.BroadcastChannel(`${prefix}session`));
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
      // The event also follows the page's loading, after which there is nothing to wake.
      const restored = (event: unknown): void => {
        if ((event as { readonly persisted?: boolean }).persisted) act();
      };
      page.addEventListener?.("online", act);
      page.addEventListener?.("pageshow", restored);
      // The network has changed, as from Wi-Fi to mobile; not every browser reports it.
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

/** Features that older versions of Node lack, and the store for values between runs. */
export interface NodeParts {
  /** A constructor such as that of the package `ws`; by default Node's own, from version 22 on. */
  readonly WebSocket?: WebSocketClass;
  /** A module such as `node:crypto`; by default Node's own, from version 19 on. */
  readonly crypto?: Globals["crypto"];
  readonly memory?: Map<StoreKey, string>;
}

/** Returns the platform of Node, which keeps nothing between runs unless `memory` is kept. */
export function nodePlatform({ WebSocket, crypto, memory = new Map() }: NodeParts = {}): Platform {
  const node = globalThis as unknown as Globals;
  return {
    ...commonPlatform(node, crypto ?? node.crypto, WebSocket ?? node.WebSocket),
    load: (key) => memory.get(key) ?? null,
    store: (key, value) => {
      if (value === null) memory.delete(key);
      else memory.set(key, value);
    },
    onWake: () => () => undefined,
  };
}

/** Returns the parts that every platform with these globals has. */
export function commonPlatform(
  globals: Globals,
  crypto: Globals["crypto"],
  WebSocket: WebSocketClass,
): Omit<Platform, "load" | "store" | "onWake"> {
  return {
    now: () => globals.performance.now(),
    wall: () => Date.now(),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    fetch: ({ method, url, headers, body }) => fetchAnswer(globals, method, url, headers, body),
    open: (url, protocols, events) => openSocket(WebSocket, url, protocols, events),
    timer: (ms, act) => {
      const timer = globals.setTimeout(act, Math.max(0, ms));
      return () => globals.clearTimeout(timer);
    },
  };
}

async function fetchAnswer(
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
    body: text === "" ? null : (ignoreErrors(() => JSON.parse(text) as unknown) ?? null),
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
    events.received(typeof data === "string" ? data : new Uint8Array(data));
  socket.onclose = ({ code, reason }: { code: number; reason: string }) =>
    events.closed(code, reason);
  // The close event follows, and carries the same information.
  socket.onerror = () => undefined;
  return {
    send: (text) => {
      // A closing socket would accept the text, and log an error on the page's console.
      if (socket.readyState === OPEN) ignoreErrors(() => socket.send(text));
    },
    close: () => {
      ignoreErrors(() => socket.close(1000));
    },
  };
}

/**
 * Ignores errors: storage may be full or forbidden, or a socket closed, and the client continues without it.
 */
function ignoreErrors<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
