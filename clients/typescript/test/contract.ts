// Has three guests sign in at a running server, take seats, play one game to its settlement and read its
// records: through this client, each with another message form, and over a network that breaks. Prints, as
// JSON, values for other contract tests.
//
//   node build/test/contract.js http://127.0.0.1:8080

import { randomUUID, webcrypto } from "node:crypto";

import { WebSocket } from "ws";

import {
  type Action, Client, type Form, FORMS, type Platform, type RestAnswer, type Socket,
  type SocketEvents, type StoreKey, type WebSocketClass, type TongitsAction, type TongitsView, GAMES, checkRecordedDeal, kindOf, modelOf,
  nodePlatform, tongits,
} from "../src/index.js";

const base = process.argv[2] ?? "";
if (!base) throw new Error("usage: node build/test/contract.js URL");

/** The timeout of each step. */
const TIMEOUT_MS = 120_000;
/**
 * The number of messages after which a player's network breaks, and the number of breaks. More breaks would
 * amplify themselves, as each one is announced to all players by messages.
 */
const BREAKS_AFTER = 12;
const BREAKS_MAX = 4;

/** The actions that end a game soon, the best first: Tongits, melds, then a card. */
const PREFERRED_ACTIONS = ["tongits", "challenge", "draw", "drop", "dump", "chow", "sapaw", "fight", "fold"];

/** The refusals of an action that came too late; every other refusal is an error of this client. */
const LATE_CODES = new Set([
  "stale_prompt", "not_asked", "wrong_phase", "other_game", "already_ready",
]);

function assertThat(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

function requireData<T>(answer: RestAnswer<T>): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  return answer.data;
}

/** Returns a platform whose first sockets break without notice to the server. */
function breakingPlatform(memory: Map<StoreKey, string>): Platform {
  const node = nodePlatform({
    WebSocket: WebSocket as unknown as WebSocketClass,
    crypto: webcrypto as never,
    memory,
  });
  let opened = 0;
  return {
    ...node,
    open: (url, protocols, events) => {
      opened += 1;
      if (opened > BREAKS_MAX) return node.open(url, protocols, events);
      return openBreakingSocket(node, url, protocols, events);
    },
  };
}

function openBreakingSocket(
  node: Platform,
  url: string,
  protocols: readonly string[],
  events: SocketEvents,
): Socket {
  let received = 0;
  let isBroken = false;
  const socket = node.open(url, protocols, {
    opened: (protocol) => events.opened(protocol),
    received: (data) => {
      if (isBroken) return;
      received += 1;
      events.received(data);
      if (received < BREAKS_AFTER) return;
      isBroken = true;
      // Nothing that the player sends on this socket arrives any more.
      socket.close();
      events.closed(1006, "");
    },
    closed: (code, reason) => {
      if (!isBroken) events.closed(code, reason);
    },
  });
  return {
    send: (text) => {
      if (!isBroken) socket.send(text);
    },
    close: () => socket.close(),
  };
}

interface Guest {
  readonly client: Client;
  readonly memory: Map<StoreKey, string>;
  connections: number;
}

function createGuest(name: string, form: Form): Guest {
  const memory = new Map<StoreKey, string>();
  const guest = { client: null as unknown as Client, memory, connections: 0 };
  const platform = breakingPlatform(memory);
  const counted: Platform = {
    ...platform,
    open: (url, protocols, events) => {
      guest.connections += 1;
      return platform.open(url, protocols, events);
    },
  };
  guest.client = new Client({ base, platform: counted, name, games: GAMES, forms: [form] });
  return guest;
}

function choose(legal: readonly Action[]): Action {
  const rank = (action: Action): number => PREFERRED_ACTIONS.indexOf(action.type);
  const [best] = [...legal].sort((one, other) => rank(one) - rank(other));
  assertThat(best !== undefined, "nobody is asked without a legal action");
  return best;
}

/** Plays until a game is settled, and returns its id. */
function playGame({ client }: Guest): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the game does not end")), TIMEOUT_MS);
    const expect = (outcome: Awaited<ReturnType<Client["act"]>>): void => {
      if (outcome.type === "refused" && !LATE_CODES.has(outcome.code)) {
        reject(new Error(JSON.stringify(outcome)));
      }
    };
    // Each prompt is answered once.
    const answered = new Set<string>();
    const isNew = (what: string): boolean => !answered.has(what) && answered.add(what).has(what);
    const look = (): void => {
      const { table } = client.state;
      if (!table?.current) return;
      const { view, prompt } = table;
      const { phase } = view;
      if (phase.type === "preparing" && isNew(phase.game)) void client.ready().then(expect);
      if (!prompt || prompt.legal.length === 0) return;
      if (!isNew(`${prompt.game} ${prompt.number}`)) return;
      for (const action of prompt.legal) {
        const why = view.phase.type === "playing" ? tongits.whyNot(view.phase.view as TongitsView, action as TongitsAction) : null;
        if (why) reject(new Error(`${JSON.stringify(action)}: ${why.code}`));
      }
      void client.act(choose(prompt.legal)).then(expect);
    };
    const stop = client.subscribe((_state, notifications) => {
      for (const one of notifications) {
        if (one.type === "deal" && one.check.holds === false) reject(new Error("a forged deal"));
        if (one.type === "unseated") reject(new Error(`unseated: ${one.reason}`));
        if (one.type !== "table") continue;
        for (const event of one.events) {
          if (event.type !== "settled") continue;
          clearTimeout(late);
          stop();
          resolve(event.game);
          return;
        }
      }
      look();
    });
    look();
  });
}

/** Rooms of games without a model in this client: prompts and views come from the server. */
const ROOMS_WITHOUT_MODEL = ["tongo-options-newbie"];
/** Enough moves to show that the game can be played; some of these games are long. */
const MOVES_WITHOUT_MODEL = 12;

/** Plays some moves of a game without a model. */
async function playWithoutModel(room: string, players: readonly Guest[]): Promise<void> {
  for (const { client: player } of players) requireData(await player.takeSeat(room));
  let moves = 0;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${room}: it does not go on`)), TIMEOUT_MS);
    const stops = players.map(({ client: player }) => {
      const answered = new Set<string>();
      const isNew = (what: string): boolean => !answered.has(what) && answered.add(what).has(what);
      const look = (): void => {
        const { table } = player.state;
        if (!table?.current) return;
        const { view, prompt } = table;
        if (view.phase.type === "preparing" && isNew(view.phase.game)) void player.ready();
        if (!prompt || prompt.legal.length === 0 || !isNew(`${prompt.game} ${prompt.number}`)) return;
        const action = prompt.legal[Math.floor(Math.random() * prompt.legal.length)];
        assertThat(action !== undefined, "one of several");
        void player.act(action).then(({ type }) => {
          if (type !== "done") return;
          moves += 1;
          if (moves < MOVES_WITHOUT_MODEL) return;
          clearTimeout(late);
          stops.forEach((stop) => stop());
          resolve();
        });
      };
      look();
      return player.subscribe(look);
    });
  });
}

/**
 * Repeats a phrase until the other player receives it: a phrase lost with the network is not repeated by the
 * client.
 */
async function talk(speaker: Client, listener: Client): Promise<void> {
  let isHeard = false;
  const stop = listener.subscribe((_state, notifications) => {
    isHeard ||= notifications.some((one) => one.type === "said" && one.player === speaker.state.player?.id);
  });
  for (let attempt = 0; attempt < 20 && !isHeard; attempt += 1) {
    await speaker.say("well_played");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  stop();
  assertThat(isHeard, "nobody was heard");
}

/**
 * Duplicates a page, so that both tabs renew with the same refresh token, and checks that both keep the
 * session.
 */
async function duplicateTabs(memory: ReadonlyMap<StoreKey, string>): Promise<void> {
  const session = JSON.parse(memory.get("session") ?? "{}") as object;
  const tabs = [1, 2].map(() => {
    const copy = new Map(memory).set("session", JSON.stringify({ ...session, access: "" }));
    const platform = nodePlatform({
      WebSocket: WebSocket as unknown as WebSocketClass,
      crypto: webcrypto as never,
      memory: copy,
    });
    return { client: new Client({ base, platform, games: GAMES }), copy };
  });
  await Promise.all(tabs.map(async ({ client: tab }) => requireData(await tab.rest("GET /v1/me", {}))));
  const named = tabs.map(({ copy }) => (JSON.parse(copy.get("session") ?? "{}") as { session: string }).session);
  assertThat(new Set([...named, (session as { session: string }).session]).size === 1, "a tab has lost its session");
}

/** Resolves when the client is at a table, or knows that there is none. */
function waitUntilLive(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("no connection")), TIMEOUT_MS);
    const look = (): void => {
      if (client.state.link.type !== "live") return;
      clearTimeout(late);
      stop();
      resolve();
    };
    const stop = client.subscribe(look);
    look();
  });
}

/** Returns connected guests of these names, each with another message form. */
async function connectGuests(guestNames: readonly string[]): Promise<Guest[]> {
  const all = guestNames.map((name, place) => createGuest(name, FORMS[place % FORMS.length] ?? "bahay.v1"));
  for (const { client } of all) {
    client.start();
    await waitUntilLive(client);
  }
  return all;
}

const names = ["Althea", "Benjie", "Carmela"];
const guests = await connectGuests(names);
for (const { client } of guests) requireData(await client.takeSeat("newbie"));
const games = await Promise.all(guests.map(playGame));
const [first, second] = guests;
const [game] = games;
assertThat(first !== undefined && second !== undefined && game !== undefined, "three guests have played");
assertThat(games.every((other) => other === game), `not one game: ${games.join(", ")}`);
assertThat(guests.every(({ connections }) => connections > 1), "no network has broken");

await talk(first.client, second.client);

const path = { id: game };
const { client } = first;
const detail = requireData(await client.rest("GET /v1/games/{id}", { path }));
assertThat(detail.seats.length === 3 && detail.state === "settled", "not that game");
const steps = requireData(await client.rest("GET /v1/games/{id}/steps", { path }));
assertThat(steps.total >= 2 && !steps.items[0]?.taken, "a game begins with the deal");
for (const { client: player } of guests) {
  const check = requireData(await player.checkDeal(game));
  assertThat(check.holds, `the deal does not hold: ${JSON.stringify(check.steps)}`);
  const named = new Set(check.steps.map(({ name }) => name));
  for (const name of ["shown_commitment", "own_text", "own_hand"] as const) {
    assertThat(named.has(name), `nothing was seen of ${name}`);
  }
}
const fair = requireData(await client.rest("GET /v1/games/{id}/fairness", { path }));
assertThat(checkRecordedDeal(fair, modelOf(kindOf(fair))).holds, "what anybody may read of the deal does not hold");
const mine = requireData(await client.rest("GET /v1/me/games", { query: { limit: 5 } }));
assertThat(mine.items[0]?.id === game, "the game is not in the list");
const nobody = await client.rest("GET /v1/players/{id}", { path: { id: randomUUID() } });
assertThat(!nobody.ok && nobody.problem.code === "player_not_found", "nobody was found");

await duplicateTabs(second.memory);

for (const room of ROOMS_WITHOUT_MODEL) {
  // These are other guests, because a player who leaves during a game keeps the seat until it is over.
  const others = await connectGuests(names);
  await playWithoutModel(room, others);
  for (const { client: player } of others) player.stop();
}

const players = guests.map(({ client: { state }, memory }) => ({
  device: memory.get("device"),
  player: state.player?.id,
}));
console.log(JSON.stringify({ game, players }));
for (const { client: player } of guests) {
  await player.leave();
  player.stop();
}
process.exit(0);
