// The platform of an app in React Native. The app passes the modules that it uses, so that this package depends on none
// of them.

import type { StoreKey } from "../core/types.js";
import { type Globals, type Platform, commonPlatform } from "./platform.js";

/** An asynchronous store, such as a secure one or `AsyncStorage`. */
export interface KeyValueStore {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<unknown>;
  removeItem(key: string): Promise<unknown>;
}

/** The modules of the app. */
export interface ReactNativeParts {
  /** `AppState` of `react-native`. */
  readonly AppState: {
    addEventListener(type: "change", act: (state: string) => void): { remove(): void };
  };
  /** `NetInfo` of `@react-native-community/netinfo`; without it only the app's return wakes the client. */
  readonly NetInfo?: {
    addEventListener(act: (state: { readonly type: string; readonly isConnected: boolean | null }) => void): () => void;
  };
  /** Returns secure random bytes, such as `getRandomBytes` of `expo-crypto`. */
  readonly random: (bytes: number) => Uint8Array;
  /** A store in the keychain or the keystore, for the device's secret and the session's tokens. */
  readonly secrets: KeyValueStore;
  /** A store for the last table, which may be larger than a secure store accepts; without it none is kept. */
  readonly tables?: KeyValueStore;
  /** Receives faults of the stores, which the client survives. */
  readonly log?: (fault: unknown) => void;
  /** The prefix of all keys, which separates several installations; `bahay.` by default. */
  readonly prefix?: string;
}

const SECRETS: readonly StoreKey[] = ["device", "seed", "session"];

/**
 * Returns the platform of an app in React Native, with the values that its stores hold. Rejects if a store cannot be
 * read: without its device the player would be another one.
 */
export async function reactNativePlatform(parts: ReactNativeParts): Promise<Platform> {
  const { AppState, NetInfo, random, tables, log = () => undefined, prefix = "bahay." } = parts;
  const app = globalThis as unknown as Globals;
  const storeOf = (key: StoreKey): KeyValueStore | undefined => (SECRETS.includes(key) ? parts.secrets : tables);
  const values = new Map<StoreKey, string>();
  for (const key of [...SECRETS, "table"] as const) {
    const value = await storeOf(key)?.getItem(prefix + key);
    if (value !== null && value !== undefined) values.set(key, value);
  }
  // One write at a time, in order: an older value must not replace a newer one.
  let writing: Promise<unknown> = Promise.resolve();
  const write = (key: StoreKey, value: string | null): void => {
    const store = storeOf(key);
    const perform = () => (value === null ? store?.removeItem(prefix + key) : store?.setItem(prefix + key, value));
    writing = writing.then(perform).catch(log);
  };
  return {
    ...commonPlatform(
      {
        // Older versions lack a timeout; the core has its own.
        fetch: (url, init) => app.fetch(url, init),
        performance: app.performance,
        setTimeout: (act, ms) => app.setTimeout(act, ms),
        clearTimeout: (timer) => app.clearTimeout(timer),
        WebSocket: app.WebSocket,
        crypto: app.crypto,
      },
      app.crypto,
      app.WebSocket,
    ),
    random,
    load: (key) => values.get(key) ?? null,
    store: (key, value) => {
      if (value === null) values.delete(key);
      else values.set(key, value);
      write(key, value);
    },
    onWake: (act) => {
      const subscription = AppState.addEventListener("change", (state) => {
        if (state === "active") act();
      });
      let last: string | null = null;
      const unsubscribe = NetInfo?.addEventListener(({ type, isConnected }) => {
        // The first state is the present one, after which there is nothing to wake.
        const network = isConnected === true ? type : "none";
        if (last !== null && network !== "none" && network !== last) act();
        last = network;
      });
      return () => {
        subscription.remove();
        unsubscribe?.();
      };
    },
  };
}
