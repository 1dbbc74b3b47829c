// Cuts the network during a game and restores it, and lets a second tab take over the seat; for all games.
import assert from 'node:assert/strict';

/**
 * Cuts the network and restores it. The AI plays meanwhile, so the page is compared with a new tab, which
 * takes over the seat without a gap. `hand` returns the compared part of a page in the player's turn, and
 * null if the game has ended; then there is nothing to compare, and the result is false.
 */
export async function cutNetwork({ page, context, relay, hand }) {
  relay.cut();
  await context.setOffline(true);
  await page.locator('main.table.stale').waitFor();
  await page.getByText('Connection lost. Coming back…').waitFor();
  relay.mend();
  const began = Date.now();
  await context.setOffline(false);
  await page.waitForFunction(() => document.querySelector('main.table:not(.stale)'), null, { timeout: 30_000, polling: 20 });
  // The time is reported and not bounded: the machine also runs the server and the bots.
  console.log(`back in the game ${Date.now() - began} ms after the network`);
  const back = await hand(page);
  if (back === null) return false;
  await checkTakeover(page, context, async (newer) => assert.deepEqual(back, await hand(newer)));
  return true;
}

/** Checks that the newer tab plays, and that the older one says so and takes over on request. */
export async function checkTakeover(page, context, meanwhile = async () => {}) {
  const newer = await context.newPage();
  await newer.goto(page.url());
  await newer.locator('main.table').waitFor();
  const replaced = page.getByRole('dialog', { name: 'You play in another tab.' });
  await replaced.waitFor();
  await meanwhile(newer);
  await replaced.getByRole('button', { name: 'Play here' }).click();
  await newer.getByRole('dialog', { name: 'You play in another tab.' }).waitFor();
  await replaced.waitFor({ state: 'detached' });
  await newer.close();
}
