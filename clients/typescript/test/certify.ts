// Plays at every scenario of `bahay-lab certify` (docs/CERTIFY.md) with this client: it is ready for every game,
// answers each prompt with the first legal action, and reports what it shows. The argument is the program
// `bahay-lab`, or the address of a certification that is running.
//
//   node build/test/certify.js target/release/bahay-lab
//   node build/test/certify.js http://127.0.0.1:4100

import { spawn } from "node:child_process";
import { webcrypto } from "node:crypto";
import { createInterface } from "node:readline";

import { WebSocket } from "ws";

import {
  Client, FORMS, GAMES, type Form, type Notification, type WebSocketClass, nodePlatform,
} from "../src/index.js";

const target = process.argv[2] ?? "";
if (!target) throw new Error("usage: node build/test/certify.js PROGRAM|URL");

/** The number of versions between two reports of the view. */
const REPORT_EVERY = 6;
const POLL_MS = 500;

interface Listed {
  readonly name: string;
  readonly url: string;
  readonly verdict: string | null;
}

async function readScenarios(index: string): Promise<readonly Listed[]> {
  const answer = await fetch(`${index}/certify`);
  return ((await answer.json()) as { readonly scenarios: readonly Listed[] }).scenarios;
}

/** Plays at a scenario until the client is stopped. */
function play(base: string, form: Form): Client {
  const platform = nodePlatform({ WebSocket: WebSocket as unknown as WebSocketClass, crypto: webcrypto as never });
  const client = new Client({ base, platform, name: "Certified", games: GAMES, forms: [form] });
  // Each prompt is answered once, and each game is played.
  const answered = new Set<string>();
  const isNew = (question: string): boolean => !answered.has(question) && answered.add(question).has(question);
  let reported = 0;
  const report = (body: object): void => {
    // A report is lost with the end of the scenario.
    void fetch(`${base}/certify/shown`, { method: "POST", body: JSON.stringify(body) }).catch(() => undefined);
  };
  const reportChange = (notification: Notification): void => {
    const { table } = client.state;
    if (notification.type === "deal") {
      report({ deals: [{ game: notification.game, holds: notification.check.holds }] });
    } else if (notification.type === "table" && table && Math.abs(table.version - reported) >= REPORT_EVERY) {
      reported = table.version;
      report({ version: table.version, view: table.view });
    }
  };
  client.subscribe((state, notifications) => {
    notifications.forEach(reportChange);
    const { table } = state;
    if (!table?.current) return;
    const { phase } = table.view;
    if (phase.type === "preparing" && isNew(phase.game)) void client.ready();
    const [action] = table.prompt?.legal ?? [];
    if (table.prompt && action && isNew(`${table.prompt.game} ${table.prompt.number}`)) void client.act(action);
  });
  client.start();
  return client;
}

/** Plays at every scenario, until each has its verdict. */
async function playAll(index: string): Promise<void> {
  const scenarios = await readScenarios(index);
  const clients = scenarios.map(({ url }, place) => play(url, FORMS[place % FORMS.length] ?? "bahay.v1"));
  for (;;) {
    // The certification ends with the last verdict.
    const listed = await readScenarios(index).catch(() => []);
    if (listed.every(({ verdict }) => verdict !== null)) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  for (const client of clients) client.stop();
}

if (target.startsWith("http")) {
  await playAll(target);
  process.exit(0);
}
const lab = spawn(target, ["certify", "--listen", "127.0.0.1:0", "--seconds", "180"], {
  stdio: ["ignore", "inherit", "pipe"],
});
const ended = new Promise<number>((resolve) => lab.on("exit", (code) => resolve(code ?? 1)));
for await (const line of createInterface({ input: lab.stderr })) {
  const address = /^scenarios: (http:\S+)\/certify$/.exec(line)?.[1];
  if (address === undefined) console.error(line);
  else void playAll(address);
}
process.exit(await ended);
