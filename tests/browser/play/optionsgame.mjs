// A complete game of Tongo (options) against bots on a real server, through the page alone, with the
// connection cut during the game; then its end, the check of its deal, and its replay.
import assert from 'node:assert/strict';
import { findings, openPage } from './browser.mjs';
import { cutNetwork } from './cut.mjs';
import { relayTo } from './relay.mjs';

const ROOM = 'quick-options';
const TURNS_MAX = 400;

export const OPTIONS_ROOM = {
  id: ROOM,
  settings: {
    name: 'Quick floors', kind: 'tongo_options', rule_set: 'lively', bet: 100, pot: null,
    // The AI thinks this long, also for absent players, so that the cut is shorter than a game.
    clocks: { prepare_ms: 10_000, think_ms: 600, grace_ms: 15_000, missed_turns_to_takeover: 2, absence_ms: 30_000 },
  },
};

/** Returns what a player sees. */
function readPage(page) {
  return page.evaluate(() => ({
    acts: Object.fromEntries([...document.querySelectorAll('[data-act]')].map((one) => [one.dataset.act, !one.disabled])),
    down: [...document.querySelectorAll('.floor.front [data-slot]')].filter((one) => one.querySelector('.back')).map((one) => one.dataset.slot),
    cards: [...document.querySelectorAll('.four [data-card]')].map((one) => one.dataset.card),
    match: document.querySelector('.own-card .match-tag')?.textContent ?? null,
    pot: document.querySelector('.treasury-chips span')?.textContent,
    floors: [...document.querySelectorAll('.floor .sr')].map((one) => one.textContent.split(',').filter((part) => !/faces|pair|chain/.test(part)).join()),
    hint: document.querySelector('.hint') !== null,
    ending: document.querySelector('.ending') !== null,
  }));
}

function waitForTurn(page, ms = 60_000) {
  return page.waitForFunction(() => document.querySelector('[data-act]:not([disabled])') !== null
    || document.querySelector('.ending') !== null, null, { timeout: ms, polling: 30 });
}

/** Returns the part compared with a newer tab; null after the game. */
async function waitForHand(page) {
  await waitForTurn(page);
  const { cards, floors, pot, ending } = await readPage(page);
  return ending ? null : { cards, floors, pot };
}

/** Presses a button; the countdown or the AI may have been faster, and any other failure is a mistake. */
async function press(page, selector) {
  await page.locator(selector).first().click({ timeout: 5_000 }).catch((error) => {
    if (!/disabled|detached|Timeout/.test(String(error))) throw error;
  });
}

/** Performs one action as a newcomer might, and returns its name. `done` has the actions of this turn. */
async function performAction(page, done) {
  const { acts, down, cards } = await readPage(page);
  const act = async (name) => {
    await press(page, `[data-act="${name}"]`);
    return name;
  };
  for (const name of ['stop', 'convert_reserves', 'stand', 'join', 'confront']) if (acts[name]) return act(name);
  if (acts.pay_risk) return act('pay_risk');
  if (acts.buy) return act('buy');
  if (acts.put_back) return act('put_back');
  if (acts.challenge && !done.has('challenge')) {
    await press(page, '[data-act="challenge"]');
    const open = page.locator('.tongo-chooser [data-deed]:not([disabled])');
    const name = await open.last().getAttribute('data-deed', { timeout: 5_000 }).catch(() => null);
    if (name) await press(page, `.tongo-chooser [data-deed="${name}"]`);
    return 'challenge';
  }
  if (down.length > 0 && !done.has('buy')) {
    await press(page, `.floor.front [data-slot="${down[0]}"]`);
    const now = await readPage(page);
    if (now.acts.buy) return act('buy');
    if (now.acts.put_back) await act('put_back');
    done.add('buy');
    return 'nothing';
  }
  if (acts.roll && !done.has('roll')) return act('roll');
  if (acts.end) return act('end');
  if (acts.evade) return act('evade');
  if (acts.retreat) return act('retreat');
  assert.ok(cards.length > 0, 'there is a hand');
  return 'nothing';
}

/** Plays a game to its end, and calls `each` after every action. */
async function playGame(page, each) {
  let turn = new Set();
  const all = [];
  for (let count = 0; count < TURNS_MAX; count += 1) {
    await waitForTurn(page);
    const seen = await readPage(page);
    if (seen.ending) return all;
    const name = await performAction(page, turn);
    turn.add(name);
    all.push(name);
    if (name === 'stop') turn = new Set();
    await each(all, seen);
    await page.waitForTimeout(40);
  }
  throw new Error(`a game without an end: ${all.slice(-20)}`);
}

export async function optionsGame({ browser, url, mistakes, picture }) {
  const relay = await relayTo(url);
  const { context, page } = await openPage(browser, relay.url, mistakes);
  await page.goto(`${relay.url}/play`);
  await page.getByRole('button', { name: 'Rooms' }).click();
  await page.getByRole('dialog').getByRole('heading', { name: 'Tongo (options)' }).waitFor();
  await picture(page, 'options-rooms');
  await page.getByRole('dialog').getByRole('button', { name: /^Quick floors/ }).click();
  await page.locator('.four [data-card]').first().waitFor({ timeout: 40_000 });
  let isCut = false;
  let hinted = 0;
  const done = await playGame(page, async (all, seen) => {
    hinted += Number(seen.hint);
    if (isCut || all.at(-1) !== 'stop' || all.length < 3) return;
    isCut = await cutNetwork({ page, context, relay, hand: waitForHand });
    if (isCut) await picture(page, 'options-real');
  });
  assert.ok(isCut, `the connection was cut: ${done}`);
  assert.ok(hinted > 0, 'a newcomer is given hints');
  const end = page.locator('.ending');
  await end.waitFor();
  // All hands are shown, also of folded seats, once the seed is revealed.
  await page.waitForFunction(() => document.querySelectorAll('.hand-shown').length >= 2
    && [...document.querySelectorAll('.hand-shown')].every((one) => one.querySelectorAll('.group:not(.with-floor) .face:not(.back)').length === 4));
  await picture(page, 'options-real-end');
  for (const finding of await findings(page)) mistakes.push(`the end of options: ${finding}`);
  await checkSums(page);
  await checkDeal(page, mistakes, picture);
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.locator('main.home').waitFor();
  await checkReplay(page, mistakes, picture);
  await context.close();
  relay.close();
  return 1;
}

/** Checks that each payment equals the sum of its items. */
async function checkSums(page) {
  const { net, lines, chips } = await page.evaluate(() => ({
    net: document.querySelector('.ending .net').textContent,
    lines: [...document.querySelectorAll('.payments li')].map((one) => (one.querySelector('b') ?? one).textContent),
    chips: [...document.querySelectorAll('.payments li small')].map((one) => one.textContent),
  }));
  const amount = (text) => Math.round(Number(text.replace(/[−+,]/g, '')) * 100) * (text.includes('−') ? -1 : 1);
  let sum = 0;
  for (const [i, line] of lines.entries()) {
    const last = /([\d,]+(?:\.\d\d)?)$/.exec(line)?.[1];
    const fee = /keeps ([\d,.]+) from you$/.exec(line)?.[1];
    if (/^You pay /.test(line)) sum -= amount(last);
    else if (/ pays you /.test(line)) sum += amount(last);
    else if (fee) sum -= amount(fee);
    // A chip is one coin here, and the items of a line add up to its sum.
    if (/ pays? /.test(line)) {
      const items = [...chips[i].matchAll(/ (\d+)(?: ·|$)/g)].reduce((all, [, count]) => all + Number(count), 0);
      assert.equal(items * 100, amount(last), `${line}: ${chips[i]}`);
    }
  }
  assert.equal(amount(net), sum, JSON.stringify({ net, lines }));
}

async function checkDeal(page, mistakes, picture) {
  await page.getByRole('button', { name: 'Check this deal' }).click();
  const sheet = page.getByRole('dialog', { name: 'The deal is fair' });
  await sheet.waitFor();
  for (const step of ['The cards of the floors', 'Where the dice lay', 'Your own chance is in it', 'Your hand', 'The deck, from all seeds']) {
    await sheet.getByText(step).first().waitFor();
  }
  assert.equal(await sheet.getByText('differs').count(), 0);
  await picture(page, 'options-deal');
  for (const finding of await findings(page)) mistakes.push(`the deal of options: ${finding}`);
  await sheet.getByRole('button', { name: 'Close' }).click();
}

/** Replays the game with all hands. */
async function checkReplay(page, mistakes, picture) {
  await page.getByRole('button', { name: 'My games' }).click();
  await page.locator('.games .game').first().click();
  await page.getByText('The deal', { exact: true }).waitFor();
  await page.getByRole('slider').focus();
  await page.keyboard.press('End');
  await page.getByRole('switch', { name: 'All hands' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.tongo-step .hand-shown .face.back').length === 0);
  await picture(page, 'options-replay');
  for (const finding of await findings(page)) mistakes.push(`the replay of options: ${finding}`);
}
