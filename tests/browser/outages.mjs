// The banner of the desk while the services of the tested server are stopped: the database, the live store, and another
// node that is killed. Each failure has to be shown in time, and to vanish when it is over.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** The time after which another node counts as dead: it is silent for 3 s, and claimed within a second. */
const DEATH_MS = 4_000;

/** The longest wait for a failure to vanish. */
const RECOVERY_MS = 30_000;

/**
 * Stops the services one after the other while an operator views a page. `services` has the ids of their processes, and
 * the server's program.
 */
export async function runOutages(page, url, { redis, postgres, binary }, alertMs) {
  await page.goto(`${url}/desk/ledger`);
  const alerts = page.getByRole('status', { name: 'Alerts' });
  const connection = page.locator('#connection');
  // The first answer has arrived.
  await page.waitForFunction(() => document.getElementById('alerts').dataset.shown !== undefined);

  const store = alerts.getByRole('link', { name: 'The live store does not respond: no table can play' });
  await pause([redis], async () => {
    await shownWithin(store, alertMs, 'the live store is away');
  });
  await store.waitFor({ state: 'detached', timeout: RECOVERY_MS });

  const database = connection.getByText(/^The server has not (answered|reached a store) since \d\d:\d\d:\d\d/);
  await pause([postgres, ...childrenOf(postgres)], async () => {
    await shownWithin(database, alertMs, 'the database is away');
  });
  await connection.waitFor({ state: 'hidden', timeout: RECOVERY_MS });

  const dead = alerts.getByRole('link', { name: /servers? died within the hour/ });
  assert.equal(await dead.count(), 0);
  const silent = alerts.getByRole('link', { name: '1 server does not respond' });
  const node = await startNode(binary);
  node.kill('SIGKILL');
  await shownWithin(silent, alertMs, 'a node was killed');
  await dead.waitFor({ timeout: DEATH_MS });
}

/** Stops processes while `act` runs. */
async function pause(processes, act) {
  for (const id of processes) process.kill(id, 'SIGSTOP');
  try {
    await act();
  } finally {
    for (const id of processes) process.kill(id, 'SIGCONT');
  }
}

/** Waits for a text on a page, and prints how long it took. */
async function shownWithin(text, ms, what) {
  const began = performance.now();
  await text.waitFor({ timeout: ms });
  console.log(`${what}: shown after ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

/** Returns the ids of the processes that a process has started. */
function childrenOf(parent) {
  assert.ok(existsSync('/proc/self/stat'), 'processes are listed in /proc');
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((id) => {
    try {
      // The second field is a name in parentheses; the parent is the second one after it.
      const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
    } catch {
      // The process has ended.
      return false;
    }
  }).map(Number);
}

/** Starts another node of the house, and waits until it answers. */
async function startNode(binary) {
  const [listen, probe] = await Promise.all([freeAddress(), freeAddress()]);
  const env = { ...process.env, BAHAY_LISTEN: listen, BAHAY_PROBE_LISTEN: probe };
  const node = spawn(binary, ['serve'], { env, stdio: 'ignore' });
  for (const began = Date.now(); ;) {
    assert.equal(node.exitCode, null, 'the node runs');
    assert.ok(Date.now() - began < RECOVERY_MS, 'the node answers in time');
    try {
      const ready = await fetch(`http://${probe}/readyz`);
      if (ready.ok) return node;
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
}

async function freeAddress() {
  const server = createServer();
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  await new Promise((resolve) => { server.close(resolve); });
  return `127.0.0.1:${port}`;
}
