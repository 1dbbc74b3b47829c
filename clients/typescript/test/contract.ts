// Three guests sign in at a running server, take seats, play one game to its settlement and look at
// what is left of it: through this client, each in another form of the messages, and with a network
// that breaks. Prints, as JSON, what other tests of the contracts may use.
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

/** Nothing here takes so long unless it hangs. */
const PATIENCE_MS = 120_000;
/** A player's network breaks when so many messages were heard, and so often. More would feed itself:
 * each break is told to all as messages. */
const BREAKS_AFTER = 12;
const BREAKS_MAX = 4;

/** What ends a game soon: Tongits, melds, then a card. */
const WISHES = ["tongits", "challenge", "draw", "drop", "dump", "chow", "sapaw", "fight", "fold"];

/** What a hurried player is told that has missed the moment; all else is a mistake of this client. */
const LATE = new Set([
  "stale_prompt", "not_asked", "wrong_phase", "other_game", "already_ready",
]);

function need(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

function good<T>(answer: RestAnswer<T>): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  return answer.data;
}

/** A platform whose sockets break now and then, without a word to the server. */
function breaking(memory: Map<StoreKey, string>): Platform {
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
      return broken(node, url, protocols, events);
    },
  };
}

function broken(
  node: Platform,
  url: string,
  protocols: readonly string[],
  events: SocketEvents,
): Socket {
  let heard = 0;
  let isBroken = false;
  const socket = node.open(url, protocols, {
    opened: (protocol) => events.opened(protocol),
    heard: (data) => {
      if (isBroken) return;
      heard += 1;
      events.heard(data);
      if (heard < BREAKS_AFTER) return;
      isBroken = true;
      // What the player says on it from here on never arrives.
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

function guest(name: string, form: Form): Guest {
  const memory = new Map<StoreKey, string>();
  const one = { client: null as unknown as Client, memory, connections: 0 };
  const platform = breaking(memory);
  const counted: Platform = {
    ...platform,
    open: (url, protocols, events) => {
      one.connections += 1;
      return platform.open(url, protocols, events);
    },
  };
  one.client = new Client({ base, platform: counted, name, games: GAMES, forms: [form] });
  return one;
}

function choose(legal: readonly Action[]): Action {
  const rank = (action: Action): number => WISHES.indexOf(action.type);
  const [best] = [...legal].sort((one, other) => rank(one) - rank(other));
  need(best !== undefined, "nobody is asked without a legal action");
  return best;
}

/** Plays until a game is settled, and gives its id. */
function play({ client }: Guest): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the game does not end")), PATIENCE_MS);
    const expect = (outcome: Awaited<ReturnType<Client["act"]>>): void => {
      if (outcome.type === "refused" && !LATE.has(outcome.code)) {
        reject(new Error(JSON.stringify(outcome)));
      }
    };
    // Each question is answered once.
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
    const stop = client.subscribe((_state, told) => {
      for (const one of told) {
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

/** Rooms of games that this client has no model of: what is asked and shown comes from the server. */
const UNKNOWN = ["tongo-options-newbie"];
/** Enough to see that it can be played, for some of them last long. */
const UNKNOWN_MOVES = 12;

/** Plays some moves of such a game. */
async function playUnknown(room: string, players: readonly Guest[]): Promise<void> {
  for (const { client: player } of players) good(await player.takeSeat(room));
  let moves = 0;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${room}: it does not go on`)), PATIENCE_MS);
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
        need(action !== undefined, "one of several");
        void player.act(action).then(({ type }) => {
          if (type !== "done") return;
          moves += 1;
          if (moves < UNKNOWN_MOVES) return;
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

/** One says something until the other hears it: what is lost with the network nobody says later. */
async function talk(speaker: Client, listener: Client): Promise<void> {
  let isHeard = false;
  const stop = listener.subscribe((_state, told) => {
    isHeard ||= told.some((one) => one.type === "said" && one.player === speaker.state.player?.id);
  });
  for (let attempt = 0; attempt < 20 && !isHeard; attempt += 1) {
    await speaker.say("well_played");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  stop();
  need(isHeard, "nobody was heard");
}

/** A page is duplicated, and both tabs renew with the same refresh token: both go on with the same session. */
async function duplicate(memory: ReadonlyMap<StoreKey, string>): Promise<void> {
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
  await Promise.all(tabs.map(async ({ client: tab }) => good(await tab.rest("GET /v1/me", {}))));
  const named = tabs.map(({ copy }) => (JSON.parse(copy.get("session") ?? "{}") as { session: string }).session);
  need(new Set([...named, (session as { session: string }).session]).size === 1, "a tab has lost its session");
}

/** Until the client is at a table, or knows that there is none. */
function live(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("no connection")), PATIENCE_MS);
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

/** Guests of these names, signed in and connected, each with another form of the messages. */
async function arrived(called: readonly string[]): Promise<Guest[]> {
  const all = called.map((name, place) => guest(name, FORMS[place % FORMS.length] ?? "bahay.v1"));
  for (const { client } of all) {
    client.start();
    await live(client);
  }
  return all;
}

const names = ["Althea", "Benjie", "Carmela"];
const guests = await arrived(names);
for (const { client } of guests) good(await client.takeSeat("newbie"));
const games = await Promise.all(guests.map(play));
const [first, second] = guests;
const [game] = games;
need(first !== undefined && second !== undefined && game !== undefined, "three guests have played");
need(games.every((other) => other === game), `not one game: ${games.join(", ")}`);
need(guests.every(({ connections }) => connections > 1), "no network has broken");

await talk(first.client, second.client);

const path = { id: game };
const { client } = first;
const detail = good(await client.rest("GET /v1/games/{id}", { path }));
need(detail.seats.length === 3 && detail.state === "settled", "not that game");
const steps = good(await client.rest("GET /v1/games/{id}/steps", { path }));
need(steps.total >= 2 && !steps.items[0]?.taken, "a game begins with the deal");
for (const { client: player } of guests) {
  const check = good(await player.checkDeal(game));
  need(check.holds, `the deal does not hold: ${JSON.stringify(check.steps)}`);
  const named = new Set(check.steps.map(({ name }) => name));
  for (const name of ["shown_commitment", "own_text", "own_hand"] as const) {
    need(named.has(name), `nothing was seen of ${name}`);
  }
}
const fair = good(await client.rest("GET /v1/games/{id}/fairness", { path }));
need(checkRecordedDeal(fair, modelOf(kindOf(fair))).holds, "what anybody may read of the deal does not hold");
const mine = good(await client.rest("GET /v1/me/games", { query: { limit: 5 } }));
need(mine.items[0]?.id === game, "the game is not in the list");
const nobody = await client.rest("GET /v1/players/{id}", { path: { id: randomUUID() } });
need(!nobody.ok && nobody.problem.code === "player_not_found", "nobody was found");

await duplicate(second.memory);

for (const room of UNKNOWN) {
  // Others, for who leaves in the midst of a game keeps the seat until it is over.
  const others = await arrived(names);
  await playUnknown(room, others);
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
