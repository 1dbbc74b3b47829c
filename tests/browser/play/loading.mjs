// Tests of game files that fail to load: a game is loaded on demand, over a network that may fail, from a
// server that may have been replaced since the page was loaded.
import assert from 'node:assert/strict';
import { playingTable } from './house.mjs';

const HAND = ['2C', '5H', '6H', '7H', '9D', 'KS'];
const table = () => playingTable({ hand: HAND, phase: { type: 'play', seat: 0 }, legal: HAND.map((card) => ({ type: 'dump', card })) });

/** Reloads the page while requests for these files fail: always, or the first few times. */
async function withFailingFiles({ house, page }, files, times, act) {
  house.scene = table();
  const asked = [];
  await page.route(files, async (route) => {
    asked.push(route.request().url());
    if (asked.length <= times) await route.abort('connectionrefused');
    else await route.continue();
  });
  await page.reload();
  await act(asked);
  await page.unroute(files);
}

export const LOADING = {
  async 'loading a game is retried'({ house, page }) {
    await withFailingFiles({ house, page }, '**/play/files/tongits-*', 2, async (asked) => {
      await page.locator('.rack [data-card="KS"]').waitFor();
      assert.equal(asked.length, 3);
      assert.equal(new Set(asked).size, 3, 'each try has an address of its own');
    });
    await page.locator('.rack [data-card="KS"]').click({ position: { x: 7, y: 18 } });
    await page.locator('[data-act="dump"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'dump', card: 'KS' });
  },

  async 'a failed game is reported with a button to reload the page'({ house, page }) {
    await withFailingFiles({ house, page }, '**/play/files/tongits-*', Infinity, async () => {
      await page.getByRole('alert').getByText('This game could not be loaded.').waitFor();
      await house.picture(page, 'game-not-loaded');
      assert.equal(await page.getByRole('button', { name: 'Leave' }).count(), 1);
    });
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.locator('.rack [data-card="KS"]').waitFor();
  },

  async 'a game is not shown without its style'({ house, page }) {
    house.scene = { ...table(), view: { ...table().view, kind: 'tongo_options', phase: { type: 'waiting' } } };
    let shown = null;
    const files = '**/play/files/tongo_options-style-*';
    await page.route(files, async (route) => {
      shown = await page.locator('.ring-area').count();
      await route.continue();
    });
    await page.reload();
    await page.locator('.ring-area').waitFor();
    assert.equal(shown, 0);
    await page.unroute(files);
  },
};
