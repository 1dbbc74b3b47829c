// Tests of the client on a platform: answers that are not the server's, sockets that cannot be opened, and
// tabs that share a session.

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { WebSocket } from "ws";

import {
  Client, GAMES, type Platform, type StoreKey, type WebSocketClass, nodePlatform,
} from "../src/index.js";

const PLAYER = { id: "019ca944-3c00-7000-8000-00000091a7e0", name: "Maria" };

const tokens = (count: number): object => ({
  access_token: `access ${count}`,
  access_expires_at: new Date(Date.now() + count * 900_000).toISOString(),
  refresh_token: `refresh ${count}`,
  refresh_expires_at: new Date(Date.now() + 90_000_000).toISOString(),
  session: "session",
});

function platformOf(memory: Map<StoreKey, string>): Platform {
  return nodePlatform({ WebSocket: WebSocket as unknown as WebSocketClass, crypto: webcrypto as never, memory });
}

test("the client signs in once a captive portal is gone, without unhandled rejections", async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    if (asked <= 3) response.setHeader("content-type", "text/html").end("<html>Accept the terms</html>");
    else response.setHeader("content-type", "application/json").end(JSON.stringify({ ...tokens(1), player: PLAYER }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = new Client({ base: `http://127.0.0.1:${port}`, platform: platformOf(new Map()), games: GAMES });
  // An unhandled rejection would fail the test.
  await new Promise<void>((resolve) => {
    client.subscribe(({ player }) => {
      if (player) resolve();
    });
    client.start();
  });
  assert.equal(client.state.player?.name, "Maria");
  assert.ok(asked >= 4);
  client.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("a socket that cannot be constructed counts as closed", () => {
  const platform: Platform = {
    ...platformOf(new Map()),
    fetch: () => new Promise(() => undefined),
    open: () => {
      throw new Error("not in this place");
    },
    timer: () => () => undefined,
  };
  const client = new Client({ base: "http://nowhere", platform, games: GAMES });
  client.start();
  assert.equal(client.state.link.type, "pausing");
});

/** Tabs of one page, each with its own storage. */
class Tabs {
  readonly #heard: ((text: string) => void)[] = [];
  /** The refresh tokens that were used, in order. */
  readonly used: string[] = [];

  open(session: object): { client: Client; memory: Map<StoreKey, string> } {
    const memory = new Map<StoreKey, string>([["session", JSON.stringify(session)]]);
    const platform: Platform = {
      ...platformOf(memory),
      fetch: ({ url, body }) => {
        const isRefresh = url.endsWith("/v1/token/refresh");
        if (isRefresh) this.used.push((JSON.parse(body ?? "{}") as { refresh_token: string }).refresh_token);
        const answer = isRefresh ? tokens(1 + this.used.length) : {};
        return Promise.resolve({ status: 200, contentType: "application/json", body: answer, retryAfterMs: null });
      },
      share: (heard) => {
        const others = (): ((text: string) => void)[] => this.#heard.filter((other) => other !== heard);
        this.#heard.push(heard);
        return (text) => others().forEach((other) => other(text));
      },
    };
    return { client: new Client({ base: "http://house", platform, games: GAMES }), memory };
  }
}

test("tabs that share a session use each refresh token once between them", async () => {
  const tabs = new Tabs();
  const session = {
    player: PLAYER, access: "", accessExpiresMs: Date.now(), refresh: "refresh 1", session: "session",
    byDevice: false, offsetMs: null,
  };
  const one = tabs.open(session);
  const other = tabs.open(session);
  assert.equal((await one.client.rest("GET /v1/me", {})).ok, true);
  assert.ok(other.memory.get("session")?.includes("refresh 2"));
  assert.equal((await other.client.rest("GET /v1/me", {})).ok, true);
  // A tab that was suspended during the renewal asks the others when it returns.
  const late = tabs.open(session);
  assert.ok(late.memory.get("session")?.includes("refresh 2"));
  assert.equal((await late.client.rest("GET /v1/me", {})).ok, true);
  assert.deepEqual(tabs.used, ["refresh 1"]);
});
