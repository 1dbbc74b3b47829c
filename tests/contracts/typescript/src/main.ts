// Three guests sign in, take seats, play one game to its settlement and look at what is left of
// it, all through clients made from the contracts. Prints, as JSON, what other tests of the
// contracts may use.
//
//   node build/main.js http://127.0.0.1:8080

import { createHash, randomUUID } from "node:crypto";

import createClient from "openapi-fetch";

import type { paths } from "./gen/rest.js";
import { type Action, type Message, Play, Refused } from "./socket.js";

const base = process.argv[2];
if (!base) throw new Error("usage: node build/main.js URL");

/** Nothing here takes so long unless it hangs. */
const PATIENCE_MS = 120_000;

/** Another was faster; everything else that is refused is a mistake of this client. */
const OVERTAKEN = new Set(["stale_prompt", "not_asked", "wrong_phase", "other_game"]);

type Rest = ReturnType<typeof createClient<paths>>;

/** The data of an answer that is no refusal. */
function good<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.url}: ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}

interface Guest {
  device: string;
  player: string;
  token: string;
  rest: Rest;
}

async function guest(name: string): Promise<Guest> {
  const device = `contract-${randomUUID()}`;
  const open = createClient<paths>({ baseUrl: base! });
  const signed = good(
    await open.POST("/v1/sign-in/guest", { body: { device_id: device, name } }),
  );
  const token = signed.access_token;
  const headers = { authorization: `Bearer ${token}` };
  const rest = createClient<paths>({ baseUrl: base!, headers });
  return { device, player: signed.player.id, token, rest };
}

/** What ends a game soon: Tongits, melds, then a card. */
const WISHES = ["tongits", "challenge", "draw", "drop", "dump", "chow", "sapaw", "fight", "fold"];

function choose(legal: readonly Action[]): Action {
  const rank = (action: Action): number => WISHES.indexOf(action.type);
  const best = [...legal].sort((one, other) => rank(one) - rank(other))[0];
  if (best === undefined) throw new Error("nobody is asked without a legal action");
  return best;
}

/** The SHA-256 of the seed, which is the SHA-256 of a text. */
function committed(text: string): string {
  const seed = createHash("sha256").update(text).digest();
  return createHash("sha256").update(seed).digest("hex");
}

/** Plays until a game is settled, and gives its id. */
async function play(who: Guest): Promise<string> {
  const ticket = good(await who.rest.POST("/v1/play/tickets")).ticket;
  return new Promise<string>((resolve, reject) => {
    let opened: Play | undefined;
    let heard = 0;
    const late = setTimeout(() => reject(new Error("the game does not end")), PATIENCE_MS);
    const send = (asked: Parameters<Play["send"]>[0]): void => {
      opened?.send(asked).catch((error: unknown) => {
        const is_overtaken = error instanceof Refused && OVERTAKEN.has(error.refusal.code);
        if (!is_overtaken) reject(error);
      });
    };
    // What the seed is made of is told when the table asks for it, and only its commitment before.
    const text = randomUUID();
    const ready = (game: string): void => send({ type: "ready", game, commitment: committed(text) });
    const told = (message: Message): void => {
      switch (message.type) {
        case "hello":
        case "ack":
        case "refusal":
          break;
        case "said":
          heard += 1;
          break;
        case "closed":
          reject(new Error("the table went"));
          break;
        case "snapshot":
          if (message.view.phase.type === "preparing") ready(message.view.phase.game);
          break;
        case "update":
          for (const event of message.events) {
            if (event.type === "preparing") ready(event.game);
            if (event.type === "revealing") send({ type: "reveal", game: event.game, text });
            if (event.type === "opened") send({ type: "say", phrase: "good_luck" });
            if (event.type === "settled") {
              clearTimeout(late);
              opened?.close();
              if (heard === 0) reject(new Error("nobody was heard"));
              resolve(event.game);
            }
          }
          break;
      }
      if ((message.type === "snapshot" || message.type === "update") && message.prompt) {
        const { game, number, legal } = message.prompt;
        if (legal.length > 0) send({ type: "act", game, prompt: number, action: choose(legal) });
      }
    };
    Play.open(base!, ticket, told).then((socket) => {
      opened = socket;
      send({ type: "join" });
    }, reject);
  });
}

const guests: Guest[] = [];
for (const name of ["Althea", "Benjie", "Carmela"]) {
  const one = await guest(name);
  good(await one.rest.POST("/v1/rooms/{room}/seat", { params: { path: { room: "newbie" } } }));
  guests.push(one);
}
const games = await Promise.all(guests.map(play));
const [first, second] = guests;
const game = games[0];
if (!first || !second || !game || games.some((other) => other !== game)) {
  throw new Error(`not one game: ${games.join(", ")}`);
}
const path = { id: game };
const detail = good(await first.rest.GET("/v1/games/{id}", { params: { path } }));
if (detail.seats.length !== 3 || detail.state !== "settled") throw new Error("not that game");
const steps = good(await first.rest.GET("/v1/games/{id}/steps", { params: { path } }));
if (steps.total < 2 || steps.items[0]?.taken) throw new Error("a game begins with the deal");
const fair = good(await first.rest.GET("/v1/games/{id}/fairness", { params: { path } }));
for (const { commitment, text } of fair.clients) {
  if (text === null || committed(text) !== commitment) throw new Error("a seed got lost");
}
const mine = good(await first.rest.GET("/v1/me/games", { params: { query: { limit: 5 } } }));
if (mine.items[0]?.id !== game) throw new Error("the game is not in the list");
const refused = await first.rest.GET("/v1/players/{id}", {
  params: { path: { id: randomUUID() } },
});
if (refused.error?.code !== "player_not_found") throw new Error("nobody was found");

const players = guests.map(({ device, player }) => ({ device, player }));
console.log(JSON.stringify({ game, players }));
for (const one of guests) await one.rest.DELETE("/v1/table");
process.exit(0);
