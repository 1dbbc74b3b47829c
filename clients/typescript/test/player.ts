// Plays games in a room as a guest, each prompt with the first legal action, and prints each settlement as a line of
// JSON (scripts/together.py).
//
//   node build/test/player.js http://127.0.0.1:8080 --room newbie --games 1

import { webcrypto } from "node:crypto";
import { parseArgs } from "node:util";

import { WebSocket } from "ws";

import { Client, GAMES, type WebSocketClass, nodePlatform } from "../src/index.js";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { room: { type: "string" }, games: { type: "string", default: "1" } },
});
const [base] = positionals;
if (base === undefined || values.room === undefined) {
  throw new Error("usage: node build/test/player.js URL --room ROOM [--games N]");
}

const platform = nodePlatform({ WebSocket: WebSocket as unknown as WebSocketClass, crypto: webcrypto as never });
const client = new Client({ base, platform, name: "TypeScript", games: GAMES });
let games = Number(values.games);
const answered = new Set<string>();
const isNew = (question: string): boolean => !answered.has(question) && answered.add(question).has(question);

/** Is ready for each game, and answers each prompt once. */
function answer(): void {
  const { table } = client.state;
  if (!table?.current || games <= 0) return;
  const { phase } = table.view;
  if (phase.type === "preparing" && isNew(phase.game)) void client.ready();
  const [action] = table.prompt?.legal ?? [];
  if (table.prompt && action && isNew(`${table.prompt.game} ${table.prompt.number}`)) void client.act(action);
}

const played = new Promise<void>((resolve, reject) => {
  client.subscribe((state, notifications) => {
    if (state.link.type === "signed_out") reject(new Error(`signed out: ${state.link.code}`));
    for (const notification of notifications) {
      if (notification.type !== "table") continue;
      for (const event of notification.events) {
        if (event.type !== "over") continue;
        const { game, settlement } = event;
        console.log(JSON.stringify({ table: notification.after.table, game, settlement }));
        games -= 1;
        if (games === 0) resolve();
      }
    }
    answer();
  });
});
client.start();
const seat = await client.takeSeat(values.room);
if (!seat.ok) throw new Error(`no seat: ${JSON.stringify(seat)}`);
await played;
await client.leave();
client.stop();
process.exit(0);
