// The network goes in the midst of a game, and comes back; and a second tab takes the seat over. For the
// games of all kinds.
import assert from 'node:assert/strict';

/**
 * Cuts the network and mends it. The AI plays meanwhile, so what is shown then is held against what a new
 * tab is shown, to which the seat goes over without a break. `hand` gives what is compared of a page, in
 * its own turn, and null where the game has ended meanwhile: then there is nothing to compare, and the
 * answer is false.
 */
export async function cut({ page, context, relay, hand }) {
  relay.cut();
  await context.setOffline(true);
  await page.locator('main.table.stale').waitFor();
  await page.getByText('Connection lost. Coming back…').waitFor();
  relay.mend();
  const began = Date.now();
  await context.setOffline(false);
  await page.waitForFunction(() => document.querySelector('main.table:not(.stale)'), null, { timeout: 30_000, polling: 20 });
  // A figure and no bar: the machine also runs the server and the bots.
  console.log(`back in the game ${Date.now() - began} ms after the network`);
  const back = await hand(page);
  if (back === null) return false;
  await takenOver(page, context, async (newer) => assert.deepEqual(back, await hand(newer)));
  return true;
}

/** The newer tab plays, the older says so and takes over when asked. */
export async function takenOver(page, context, meanwhile = async () => {}) {
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
