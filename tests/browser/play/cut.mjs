// The network goes in the midst of a game, and comes back.
import assert from 'node:assert/strict';
import { watch } from './browser.mjs';

/**
 * The AI plays meanwhile and may even end the game, so what is shown then is held against what a page without
 * a past is shown: a newer tab, so that nobody is away in between. `look` says what is seen, `myTurn` waits
 * until there is something to do or the game has ended, and `same` names what of it has to be the same.
 */
export async function cut({ page, context, relay, mistakes, picture, name, look, myTurn, same }) {
  relay.cut();
  await context.setOffline(true);
  await page.locator('main.table.stale').waitFor();
  await page.getByText('Connection lost. Coming back…').waitFor();
  await picture(page, `${name}-lost`);
  relay.mend();
  const began = Date.now();
  await context.setOffline(false);
  await page.waitForFunction(() => document.querySelector('main.table:not(.stale)'), null, { timeout: 30_000, polling: 20 });
  // A figure and no bar: the machine also runs the server and the bots.
  console.log(`back in the game ${Date.now() - began} ms after the network`);
  await myTurn(page);
  const back = await look(page);
  await picture(page, `${name}-back`);
  const newer = await context.newPage();
  watch(newer, relay.url, mistakes);
  await newer.goto(page.url());
  await myTurn(newer);
  const anew = await look(newer);
  // Of a game that is over a page without a past knows nothing.
  assert.ok(!anew.ending);
  for (const field of back.ending ? [] : same) assert.deepEqual(back[field], anew[field], field);
  const replaced = page.getByRole('dialog', { name: 'You play in another tab.' });
  await replaced.getByRole('button', { name: 'Play here' }).click();
  await newer.getByRole('dialog', { name: 'You play in another tab.' }).waitFor();
  await newer.close();
  await page.locator('main.table:not(.stale)').waitFor();
}
