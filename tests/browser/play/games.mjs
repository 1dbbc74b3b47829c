// Complete games on a real server, through the page alone: against bots until a POT is won, with the
// connection cut during a game; the check of the deal, the history and the replay; a link opened by a second
// browser; and the bytes and the time until the first hand.
import assert from 'node:assert/strict';
import { DESKTOP, findings, PHONE, openPage } from './browser.mjs';
import { cutNetwork, checkTakeover } from './cut.mjs';
import { firstHand, formatFirstHand } from './firsthand.mjs';
import { OPTIONS_ROOM, optionsGame } from './optionsgame.mjs';
import { readPage, waitForTurn, playGame } from './player.mjs';
import { relayTo } from './relay.mjs';

const ROOM = 'quick';
const QUICK = { name: 'Quick', kind: 'tongits', rule_set: 'kingdom', bet: 100, pot: { ante: 1, hits_to_win: 2, second_hit_bonus: 0 } };
const GAMES_MAX = 40;

/** Plays the games, and returns their number. */
export async function runGames({ browser, url, operator, mistakes, picture }) {
  console.log(formatFirstHand(await firstHand({ browser, url, mistakes, picture })));
  await quickRoom(url, operator, { id: ROOM, settings: QUICK });
  const games = await playToPot({ browser, url, mistakes, picture });
  await checkPrivateTable({ browser, url, mistakes, picture });
  await quickRoom(url, operator, OPTIONS_ROOM);
  const options = await optionsGame({ browser, url, mistakes, picture });
  return games + 1 + options;
}

/** Creates a room with short countdowns of bots, so that a test has time for games. */
export async function quickRoom(url, operator, { id, settings }) {
  const answer = await fetch(`${url}/v1/operator/rooms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator}`, 'idempotency-key': `room-of-the-test-${id}` },
    body: JSON.stringify({ id, settings: {
      multiplier: 1, fee_basis_points: 500, coins_min: 0, coins_max: null, is_open: true,
      clocks: { prepare_ms: 10_000, think_ms: 60, grace_ms: 15_000, missed_turns_to_takeover: 2, absence_ms: 30_000 }, ...settings,
    } }),
  });
  assert.equal(answer.status, 201, await answer.text());
}

async function sitDown(page, url, room) {
  await page.goto(`${url}/play`);
  await page.getByRole('button', { name: 'Rooms' }).click();
  await page.getByRole('dialog').getByRole('button', { name: room }).click();
}

/** Plays games until a POT is won and the player has won a game; checks the page after each. */
async function playToPot({ browser, url, mistakes, picture }) {
  const relay = await relayTo(url);
  const { context, page } = await openPage(browser, relay.url, mistakes);
  await sitDown(page, relay.url, /^Quick\b(?! floors)/);
  let games = 0;
  let isCut = false;
  for (let pots = 0; pots === 0; games += 1) {
    assert.ok(games < GAMES_MAX, `no POT was taken in ${GAMES_MAX} games`);
    await page.locator('.rack [data-card]').first().waitFor({ timeout: 40_000 });
    await playGame(page, { each: async () => {
      if (isCut) return;
      isCut = await cutNetwork({ page, context, relay, hand: waitForHand });
      if (isCut) await picture(page, 'back');
    } });
    const end = page.locator('.ending');
    await end.waitFor();
    await checkEnd(page);
    if (games === 0) {
      await picture(page, 'end');
      for (const finding of await findings(page)) mistakes.push(`the end: ${finding}`);
      await checkDeal(page, mistakes, picture);
    }
    if (await end.getByText(/takes the POT|POT is yours/).count() > 0) {
      pots += 1;
      await picture(page, 'pot-taken');
    }
    if (pots === 0) await page.locator('.act.ready').click();
  }
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.locator('main.home').waitFor();
  // The page asks for a name only now, and once.
  await page.getByLabel('What shall they call you?').fill('Luningning');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.who').getByText('Luningning').waitFor();
  assert.equal(await page.getByLabel('What shall they call you?').count(), 0);
  await checkReplay(page, mistakes, picture, games);
  await context.close();
  relay.close();
  return games;
}

/** Returns the cards in the hand in any order when the player can act; null after the game. */
async function waitForHand(page) {
  await waitForTurn(page);
  const { cards, ending, ready } = await readPage(page);
  return ending || ready ? null : cards.sort();
}

/** Checks that the lines of the page add up to the shown result. */
async function checkEnd(page) {
  const shown = await page.evaluate(() => ({
    net: document.querySelector('.ending .net').textContent,
    lines: [...document.querySelectorAll('.payments li')].map((one) => (one.querySelector('b') ?? one).textContent),
    hands: document.querySelectorAll('.hand-shown').length,
  }));
  const amount = (text) => Math.round(Number(text.replace(/[−+,]/g, '')) * 100) * (text.includes('−') ? -1 : 1);
  let net = 0;
  for (const line of shown.lines) {
    const last = /([\d,]+(?:\.\d\d)?)$/.exec(line)?.[1];
    const fee = /keeps ([\d,.]+) from you$/.exec(line)?.[1];
    if (/^You pay /.test(line)) net -= amount(last);
    else if (/ pays you /.test(line)) net += amount(last);
    else if (fee) net -= amount(fee);
    else if (/^You take the POT/.test(line)) net += amount(last);
  }
  assert.equal(amount(shown.net), net, JSON.stringify(shown));
  assert.equal(shown.hands, 3);
}

async function checkDeal(page, mistakes, picture) {
  await page.getByRole('button', { name: 'Check this deal' }).click();
  const sheet = page.getByRole('dialog', { name: 'The deal is fair' });
  await sheet.waitFor();
  // The check includes the page's own observations: the commitments shown before, its text, its hand.
  for (const step of ['What this page was shown before the deal', 'What the others committed to before', 'Your own chance is in it', 'Your hand', 'The deck, from all seeds']) {
    await sheet.getByText(step).first().waitFor();
  }
  assert.equal(await sheet.getByText('differs').count(), 0);
  await picture(page, 'deal-checked');
  for (const finding of await findings(page)) mistakes.push(`the deal: ${finding}`);
  await sheet.getByRole('button', { name: 'Close' }).click();
}

/** Opens the list of games, and replays one. */
async function checkReplay(page, mistakes, picture, games) {
  await page.getByRole('button', { name: 'My games' }).click();
  const list = page.locator('.games .game');
  await list.first().waitFor();
  assert.ok(await list.count() >= games, 'each game is listed');
  await picture(page, 'history');
  for (const finding of await findings(page)) mistakes.push(`the history: ${finding}`);
  await list.first().click();
  await page.getByText('The deal', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'On one' }).click();
  await page.getByText(/^Step 2 of/).waitFor();
  await page.getByRole('slider').focus();
  await page.keyboard.press('End');
  await page.getByRole('switch', { name: 'All hands' }).click();
  await picture(page, 'replay');
  for (const finding of await findings(page)) mistakes.push(`the replay: ${finding}`);
}

/** A private table: a second browser opens the link, a third types the code, and all three play a game. */
async function checkPrivateTable({ browser, url, mistakes, picture }) {
  const [host, guest, third] = await Promise.all([PHONE, DESKTOP, PHONE].map((viewport) => openPage(browser, url, mistakes, { viewport })));
  await host.page.goto(`${url}/play`);
  await host.page.getByRole('button', { name: 'Friends' }).click();
  await host.page.getByLabel('Bet in coins').fill('1');
  await host.page.getByRole('button', { name: 'Open a table' }).click();
  await host.page.getByText('Waiting for 2 more').waitFor();
  await host.page.getByRole('button', { name: 'Invite' }).click();
  const link = await host.page.locator('.code-link a').getAttribute('href');
  const code = await host.page.locator('.code-big').innerText();
  assert.equal(link, `${url}/play/join/${code.trim()}`);
  await host.page.keyboard.press('Escape');
  await checkTakeover(host.page, host.context);
  await guest.page.goto(link);
  await guest.page.getByText('Tong-its, bet 1. 1 of 3 sit there.').waitFor();
  await picture(guest.page, 'invited');
  await guest.page.getByRole('button', { name: 'Sit down' }).click();
  await third.page.goto(`${url}/play`);
  await third.page.getByRole('button', { name: 'Friends' }).click();
  await third.page.getByLabel('Code').fill(code.toLowerCase());
  await third.page.getByRole('button', { name: 'Sit down' }).click();
  const pages = [host, guest, third].map(({ page }) => page);
  await Promise.all(pages.map((page) => page.locator('.rack [data-card]').first().waitFor({ timeout: 20_000 })));
  await picture(guest.page, 'friends-desktop');
  await Promise.all(pages.map((page) => playGame(page)));
  await Promise.all(pages.map(checkEnd));
  // Each browser shows its own result, and all three the same settlement.
  const nets = await Promise.all(pages.map((page) => page.locator('.ending .net').innerText()));
  const sum = nets.map((net) => Number(net.replace('−', '-').replace(/[+,]/g, ''))).reduce((a, b) => a + b, 0);
  assert.ok(sum <= 0 && sum > -20, `the fee and nothing else is missing: ${nets}`);
  for (const { context } of [host, guest, third]) await context.close();
}
