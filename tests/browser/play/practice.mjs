// Tests of practice tables: their opening for each game and rule set, the absence of coins, and a bot's
// advice in both languages, with its marks. The last test runs on a real server.
import assert from 'node:assert/strict';
import { findings, findOverflows, openPage } from './browser.mjs';
import { betweenGames, GAME, meld, playingTable, PRACTICE, preparingPhase } from './house.mjs';
import { readPage, waitForTurn } from './player.mjs';

const HAND = ['2C', '5H', '6H', '8H', '9H', '7C', '7D', 'KS', 'QD', '4S', 'JC', '3D'];
const ASK = 'What would a bot play?';
const kings = meld(2, 'KC', 'KD', 'KH');

const turn = (more = {}) => playingTable({
  hand: HAND, phase: { type: 'play', seat: 0 }, discards: ['TD'], melds: [kings], pot: 0, terms: PRACTICE,
  seats: { 1: { bot: true, name: 'Bot Benjie' }, 2: { bot: true, name: 'Bot Carmela' } },
  legal: [{ type: 'sapaw', card: 'KS', meld: 0 }, ...HAND.filter((card) => card !== 'KS').map((card) => ({ type: 'dump', card }))], ...more,
});

/** Returns an element's outline style. */
const outlineStyle = (page, place) => page.locator(place).first().evaluate((one) => getComputedStyle(one).outlineStyle);

async function assertAccessible(house, page, name) {
  await house.picture(page, name);
  for (const wrong of [...await findOverflows(page), ...await findings(page)]) house.mistakes.push(`${name}: ${wrong}`);
}

export const PRACTISING = {
  async 'a practice table is labelled, and offers advice'({ house, page }) {
    await house.show(turn());
    const ask = page.getByRole('button', { name: ASK });
    await ask.waitFor();
    await page.getByText('practice, no coins').waitFor();
    assert.equal(await page.locator('[data-anchor="wallet"]').count(), 0, 'no coins are shown');
    await assertAccessible(house, page, 'practice');
    house.follow = (said) => said.type === 'hint' ? { advice: { type: 'sapaw', card: 'KS', meld: 0 } } : null;
    await ask.click();
    await house.next('hint');
    await page.getByRole('status').filter({ hasText: /^A bot would play: Sapaw K♠ to Carmela K♠ costs 10 in your hand, and Carmela may not fight in the next turn\.$/ }).waitFor();
    for (const place of ['[data-act="sapaw"]', '.rack [data-card="KS"]', '[data-target="meld-0"]']) {
      assert.equal(await outlineStyle(page, place), 'dashed', place);
    }
    assert.notEqual(await outlineStyle(page, '.rack [data-card="2C"]'), 'dashed');
    assert.equal(await ask.count(), 0, 'it was said');
    await assertAccessible(house, page, 'practice-advice');
    // The player ignores the advice; the next prompt is a new one.
    await page.locator('.rack [data-card="2C"]').click({ position: { x: 7, y: 18 } });
    await page.locator('[data-act="dump"]:not([disabled])').click();
    assert.deepEqual((await house.next('act')).action, { type: 'dump', card: '2C' });
    await house.show({ ...turn(), prompt: 8 });
    await ask.waitFor();
    assert.equal(await page.getByText('A bot would play').count(), 0);
    assert.notEqual(await outlineStyle(page, '.rack [data-card="KS"]'), 'dashed');
  },

  async 'advice by the keyboard, in Filipino'({ house, page }) {
    await page.evaluate(() => localStorage.setItem('bahay.settings', JSON.stringify({ language: 'fil' })));
    house.scene = turn();
    await page.reload();
    await page.getByRole('button', { name: 'Ano ang galaw ng bot?' }).waitFor();
    await page.getByText('pagsasanay, walang barya').waitFor();
    house.follow = (said) => said.type === 'hint' ? { advice: { type: 'dump', card: '2C' } } : null;
    await page.keyboard.press('h');
    await house.next('hint');
    await page.getByText('Ganito ang bot: Tapon 2♣').waitFor();
    await assertAccessible(house, page, 'practice-filipino');
  },

  async 'a table with coins offers no advice'({ house, page }) {
    await house.show(turn({ terms: {} }));
    await page.locator('.say.urgent').waitFor();
    const before = house.heard.length;
    await page.keyboard.press('h');
    assert.equal(await page.getByRole('button', { name: ASK }).count(), 0);
    // The answer on the same connection comes after it.
    house.follow = (said) => said.type === 'hint' ? { refuse: 'not_practice' } : null;
    await page.locator('.rack [data-card="2C"]').click({ position: { x: 7, y: 18 } });
    await page.locator('[data-act="dump"]:not([disabled])').click();
    await house.next('act');
    assert.equal(house.heard.length, before, 'no hint was asked for');
  },

  async 'a practice game ends without coins, and leaving it is free'({ house, page }) {
    const items = [{ name: 'normal', rule: '6.1', counts: 1 }, { name: 'burned', rule: '6.6', counts: 1 }];
    const settlement = { winner: 0, fees: [], pot: null, payments: [{ from: 1, to: 0, owed: 0, paid: 0, items }] };
    await house.show(turn());
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByText('Leave during a game? Leaving ends it.').waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    const phase = preparingPhase();
    house.tell([
      { type: 'game', event: { type: 'over', ending: 'tongits', winner: 0, showdown: [] } },
      { type: 'over', game: GAME, settlement, server_seed: '5e'.repeat(32) },
      { type: 'settled', game: GAME, pot: 0, crown: null }, phase,
    ], betweenGames({ phase, pot: 0, terms: PRACTICE }));
    const end = page.locator('.ending');
    await end.waitFor();
    await end.getByText('practice, no coins').waitFor();
    assert.equal(await end.locator('.net').innerText(), '+2 bets');
    assert.equal(await end.getByRole('button', { name: 'Check this deal' }).count(), 0, 'no record is kept');
    assert.match(await end.locator('.payments').innerText(), /^Benjie\s+win 1 · burned 1$/);
    await assertAccessible(house, page, 'practice-end');
  },

  async 'practice is offered for each game and rule set'({ house, page }) {
    house.scene = null;
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${house.url}/play`);
    await page.getByRole('button', { name: 'Practise' }).click();
    const sheet = page.getByRole('dialog', { name: 'Practise' });
    await sheet.waitFor();
    const offered = await sheet.locator('[data-practice]').evaluateAll((all) => all.map((one) => one.dataset.practice));
    for (const game of ['tongits', 'tongo_assets', 'tongo_options']) assert.ok(offered.some((one) => one.startsWith(`${game}/`)), game);
    await assertAccessible(house, page, 'practice-choice');
    house.answers['POST /v1/practice-tables'] = { refuse: 'practice_full', status: 409 };
    await sheet.locator('[data-practice="tongits/classic"]').click();
    await page.getByText('All practice tables are in use. Try again later.').waitFor();
    house.scene = betweenGames({ phase: preparingPhase(), pot: 0, terms: PRACTICE });
    house.answers['POST /v1/practice-tables'] = { table: house.scene.view.table };
    await page.getByRole('button', { name: 'Practise' }).click();
    await page.locator('[data-practice="tongits/classic"]').click();
    // Asking to practise implies being ready.
    await house.next('ready');
    delete house.answers['POST /v1/practice-tables'];
  },
};

/** The state with the longest texts, checked in all sizes. */
export const PRACTICE_LOOKS = [['practice', turn()]];

/** The number of hints to follow in a real game. */
const FOLLOWED = 4;

/** On a real server: the house's advice is marked on the page, and the marks disappear after the action. */
export async function practiceGame({ browser, url, mistakes, picture }) {
  const { context, page } = await openPage(browser, url, mistakes);
  await page.goto(`${url}/play`);
  await page.getByRole('button', { name: 'Practise' }).click();
  await page.locator('[data-practice="tongits/kingdom"]').click();
  await page.locator('.rack [data-card]').first().waitFor({ timeout: 40_000 });
  let isOver = false;
  for (let followed = 0; ; followed += 1) {
    await waitForTurn(page);
    const { ending, ready } = await readPage(page);
    isOver = ending || ready;
    // In the player's turn the game cannot end before an action, so it is left here.
    if (isOver || followed === FOLLOWED) break;
    await page.getByRole('button', { name: ASK }).click();
    const advised = page.locator('.advised');
    await advised.waitFor();
    assert.match(await advised.innerText(), /^A bot would play: \w/);
    if (followed === 0) await picture(page, 'practice-real');
    const cards = await markedElements(page, '.rack [data-card]', 'card');
    for (const card of cards) await page.locator(`.rack [data-card="${card}"]`).click({ position: { x: 7, y: 18 } });
    const [act] = await markedElements(page, '[data-act]', 'act');
    assert.ok(act, 'a button is marked');
    await page.locator(`[data-act="${act}"]:not([disabled])`).click();
    await advised.waitFor({ state: 'detached' });
  }
  if (isOver) {
    await page.locator('.ending').getByRole('button', { name: 'Leave' }).click();
  } else {
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('dialog', { name: 'Leave' }).getByRole('button', { name: 'Leave' }).click();
  }
  await page.locator('main.home').waitFor();
  await page.getByRole('button', { name: 'My games' }).click();
  await page.getByText('Nothing here yet.').waitFor();
  await context.close();
  return 1;
}

/** Returns the outlined elements of these. */
function markedElements(page, place, name) {
  return page.locator(place).evaluateAll((all, key) => all
    .filter((one) => getComputedStyle(one).outlineStyle === 'dashed').map((one) => one.dataset[key]), name);
}
