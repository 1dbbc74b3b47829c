// Tests of a page's platform: when it wakes its client, and its clocks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { browserPlatform } from "../src/index.js";

test("a page wakes its client when it is restored from the cache, but not when it is loaded", () => {
  const listeners = new Map<string, (event: unknown) => void>();
  const page = globalThis as unknown as Record<string, unknown>;
  page["addEventListener"] = (name: string, act: (event: unknown) => void) => listeners.set(name, act);
  page["removeEventListener"] = (name: string) => listeners.delete(name);
  let woken = 0;
  const stop = browserPlatform().onWake(() => {
    woken += 1;
  });
  listeners.get("pageshow")?.({ persisted: false });
  assert.equal(woken, 0);
  listeners.get("pageshow")?.({ persisted: true });
  listeners.get("online")?.({});
  assert.equal(woken, 2);
  stop();
  assert.equal(listeners.size, 0);
  delete page["addEventListener"];
  delete page["removeEventListener"];
});

test("a page's monotonic clock is independent of the machine's clock", () => {
  const platform = browserPlatform();
  const { now: before } = Date;
  try {
    const [now, wall] = [platform.now(), platform.wall()];
    Date.now = () => before() + 3_600_000;
    assert.ok(platform.wall() - wall >= 3_600_000);
    const passed = platform.now() - now;
    assert.ok(passed >= 0 && passed < 3_600_000);
    Date.now = () => before() - 3_600_000;
    assert.ok(platform.now() - now >= passed);
  } finally {
    Date.now = before;
  }
});
