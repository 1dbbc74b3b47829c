// Tests of the platform of an app in React Native: its stores, and when it wakes its client.

import assert from "node:assert/strict";
import { test } from "node:test";

import { type KeyValueStore, type ReactNativeParts, reactNativePlatform } from "../src/index.js";

/** A store that takes a while for each write. */
function slowStore(values: Map<string, string>): KeyValueStore {
  const after = (act: () => void): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(() => {
        act();
        resolve();
      }, Math.random() * 5);
    });
  return {
    getItem: (key) => Promise.resolve(values.get(key) ?? null),
    setItem: (key, value) => after(() => values.set(key, value)),
    removeItem: (key) => after(() => values.delete(key)),
  };
}

interface App {
  readonly parts: ReactNativeParts;
  setState(state: string): void;
  setNetwork(type: string, isConnected: boolean): void;
  readonly listeners: Set<unknown>;
}

function app(parts: Partial<ReactNativeParts> = {}): App {
  const states = new Set<(state: string) => void>();
  const networks = new Set<(state: { type: string; isConnected: boolean | null }) => void>();
  return {
    parts: {
      AppState: {
        addEventListener: (_, act) => {
          states.add(act);
          return { remove: () => states.delete(act) };
        },
      },
      NetInfo: {
        addEventListener: (act) => {
          networks.add(act);
          act({ type: "wifi", isConnected: true });
          return () => networks.delete(act);
        },
      },
      random: (bytes) => new Uint8Array(bytes).fill(7),
      secrets: slowStore(new Map()),
      ...parts,
    },
    setState: (state) => states.forEach((act) => act(state)),
    setNetwork: (type, isConnected) => networks.forEach((act) => act({ type, isConnected })),
    get listeners() {
      return new Set<unknown>([...states, ...networks]);
    },
  };
}

test("an app wakes its client when it is active again and when its network returns or changes", async () => {
  const { parts, setState, setNetwork, listeners } = app();
  const platform = await reactNativePlatform(parts);
  let woken = 0;
  const stop = platform.onWake(() => {
    woken += 1;
  });
  assert.equal(woken, 0, "the present network wakes nothing");
  setState("background");
  assert.equal(woken, 0);
  setState("active");
  assert.equal(woken, 1);
  setNetwork("wifi", true);
  assert.equal(woken, 1, "the network is the same");
  setNetwork("cellular", true);
  assert.equal(woken, 2);
  setNetwork("cellular", false);
  assert.equal(woken, 2, "there is no network");
  setNetwork("cellular", true);
  assert.equal(woken, 3);
  stop();
  assert.equal(listeners.size, 0);
});

test("secrets and tables are read from their stores, and written in order", async () => {
  const secrets = new Map([["bahay.device", "secret"], ["bahay.table", "misplaced"]]);
  const tables = new Map([["bahay.table", "{}"]]);
  const { parts } = app({ secrets: slowStore(secrets), tables: slowStore(tables) });
  const platform = await reactNativePlatform(parts);
  assert.equal(platform.load("device"), "secret");
  assert.equal(platform.load("table"), "{}");
  assert.equal(platform.load("session"), null);
  for (let version = 0; version < 20; version += 1) platform.store("session", String(version));
  platform.store("table", null);
  assert.equal(platform.load("session"), "19");
  assert.equal(platform.load("table"), null);
  while (secrets.get("bahay.session") !== "19" || tables.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
});

test("without a store for tables none is kept in the secure one", async () => {
  const secrets = new Map<string, string>();
  const platform = await reactNativePlatform(app({ secrets: slowStore(secrets) }).parts);
  platform.store("table", "{}");
  platform.store("seed", "text");
  while (secrets.size === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual([...secrets.keys()], ["bahay.seed"]);
});

test("a store that fails is logged, and the next write is made", async () => {
  const values = new Map<string, string>();
  const faults: unknown[] = [];
  const store = slowStore(values);
  const broken: KeyValueStore = {
    ...store,
    setItem: (key, value) => (value === "first" ? Promise.reject(new Error("locked")) : store.setItem(key, value)),
  };
  const platform = await reactNativePlatform(app({ secrets: broken, log: (fault) => faults.push(fault) }).parts);
  platform.store("session", "first");
  platform.store("session", "second");
  while (values.size === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(values.get("bahay.session"), "second");
  assert.equal(faults.length, 1);
});

test("a client has no platform without its secrets", async () => {
  const secrets: KeyValueStore = { ...slowStore(new Map()), getItem: () => Promise.reject(new Error("locked")) };
  await assert.rejects(reactNativePlatform(app({ secrets }).parts), /locked/);
});
