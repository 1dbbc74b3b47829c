// A complete game of Tongo (assets) on a real server, through the page alone: against bots, with the
// connection cut during the game. Checks its sums, its deal, and its replay.
import assert from 'node:assert/strict';
import { readPage, waitForTurn, playGame } from './assets_player.mjs';
import { findings, findOverflows, openPage } from './browser.mjs';
import { cutNetwork } from './cut.mjs';
import { quickRoom } from './games.mjs';
import { relayTo } from './relay.mjs';

/** A room by the named rule set with the most options. */
const ROOM = { id: 'hurried-assets', settings: { name: 'Hurried', kind: 'tongo_assets', rule_set: 'advanced', bet: 100, pot: null } };
const BUDGET_BYTES = 150_000;
/** The largest number of games: a short one may end before the connection is cut. */
const GAMES_MAX = 6;

/** Plays the game, and returns how many games were played. */
export async function assetsGame({ browser, url, operator, mistakes, picture }) {
  await quickRoom(url, operator, ROOM);
  const relay = await relayTo(url);
  const { context, page } = await openPage(browser, relay.url, mistakes);
  const bytes = await countBytes(context, page);
  await page.goto(`${relay.url}/play`);
  await page.getByRole('button', { name: 'Rooms' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Hurried/ }).click();
  await page.locator('.ta-hand [data-card]').first().waitFor({ timeout: 40_000 });
  console.log(`first hand of Tongo (assets): ${bytes()} bytes`);
  assert.ok(bytes() < BUDGET_BYTES, `${bytes()} bytes for a first hand`);
  assert.equal(await page.locator('.ta-hand .ta-row [data-card]').count(), 4);
  let games = 0;
  for (let isCut = false; !isCut; games += 1) {
    assert.ok(games < GAMES_MAX, `no connection could be cut in ${GAMES_MAX} games`);
    if (games > 0) {
      await page.locator('.act.ready').click();
      await page.locator('.ta-hand [data-card]').first().waitFor({ timeout: 40_000 });
    }
    await playGame(page, { each: async (name) => {
      // After a purchase the same assessment continues.
      if (isCut || !['buy', 'swap', 'acquire'].includes(name)) return;
      isCut = await cutNetwork({ page, context, relay, hand: waitForHand });
      if (!isCut) return;
      await picture(page, 'assets-back');
      for (const wrong of await findOverflows(page)) mistakes.push(`Tongo (assets): ${wrong}`);
      for (const finding of await findings(page)) mistakes.push(`Tongo (assets): ${finding}`);
    } });
    await page.locator('.ending').waitFor();
    await checkEnd(page);
  }
  await picture(page, 'assets-game-end');
  for (const finding of await findings(page)) mistakes.push(`the end of Tongo (assets): ${finding}`);
  await checkDeal(page, mistakes, picture);
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.locator('main.home').waitFor();
  await checkReplay(page, mistakes, picture, games);
  await context.close();
  relay.close();
  return games;
}

/** Counts all bytes received from here on. */
async function countBytes(context, page) {
  let bytes = 0;
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  network.on('Network.loadingFinished', ({ encodedDataLength }) => { bytes += encodedDataLength; });
  network.on('Network.webSocketFrameReceived', ({ response }) => { bytes += response.payloadData.length; });
  return () => bytes;
}

/** Returns the cards in the hand and kept when the player can act; null after the game. */
async function waitForHand(page) {
  await waitForTurn(page);
  const { hand: held, kept, ending, ready } = await readPage(page);
  return ending || ready ? null : { held, kept };
}

/** Checks that the lines of the page add up to the shown result, and that every player is listed. */
async function checkEnd(page) {
  const shown = await page.evaluate(() => ({
    net: document.querySelector('.ending .net').textContent,
    lines: [...document.querySelectorAll('.payments li')].map((one) => (one.querySelector('b') ?? one).textContent),
    hands: document.querySelectorAll('.hand-shown').length,
    chips: [...document.querySelectorAll('.hand-shown .points')].map((one) => one.textContent),
  }));
  const amount = (text) => Math.round(Number(text.replace(/[−+,]/g, '')) * 100) * (text.includes('−') ? -1 : 1);
  let net = 0;
  for (const line of shown.lines) {
    const last = /([\d,]+(?:\.\d\d)?)$/.exec(line)?.[1];
    const fee = /keeps ([\d,.]+) from you$/.exec(line)?.[1];
    if (/^You pay /.test(line)) net -= amount(last);
    else if (/ pays you /.test(line)) net += amount(last);
    else if (fee) net -= amount(fee);
  }
  assert.equal(amount(shown.net), net, JSON.stringify(shown));
  assert.ok(shown.hands >= 4, JSON.stringify(shown));
  // No chip is lost: the sum at the end equals the sum at the beginning.
  const chips = shown.chips.map((text) => Number(text.replace('½', '.5').replace(/[^\d.]/g, '')));
  assert.equal(chips.reduce((sum, one) => sum + one, 0), 100 * shown.hands, JSON.stringify(shown));
}

async function checkDeal(page, mistakes, picture) {
  await page.getByRole('button', { name: 'Check this deal' }).click();
  const sheet = page.getByRole('dialog', { name: 'The deal is fair' });
  await sheet.waitFor();
  for (const step of ['The 98 assets, from all seeds', 'The 30 acquire cards', 'How the table stood for the deal', 'Where the table stopped', 'Your own chance is in it']) {
    await sheet.getByText(step).first().waitFor();
  }
  assert.equal(await sheet.getByText('differs').count(), 0);
  await picture(page, 'assets-deal-checked');
  for (const finding of await findings(page)) mistakes.push(`the deal of Tongo (assets): ${finding}`);
  await sheet.getByRole('button', { name: 'Close' }).click();
}

/** Opens the list of games, and replays one. */
async function checkReplay(page, mistakes, picture, games) {
  await page.getByRole('button', { name: 'My games' }).click();
  const list = page.locator('.games .game');
  await list.first().waitFor();
  assert.ok(await list.count() >= games, 'each game is listed');
  await list.first().click();
  await page.getByText('The deal', { exact: true }).waitFor();
  await page.getByRole('slider').focus();
  await page.keyboard.press('End');
  await page.getByRole('switch', { name: 'All hands' }).click();
  await page.locator('.step .ta-mini').first().waitFor();
  await picture(page, 'assets-replay');
  for (const finding of await findings(page)) mistakes.push(`the replay of Tongo (assets): ${finding}`);
}
