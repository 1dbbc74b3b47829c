// Tests of learning Tong-its: a first game with a guide and without a clock, the rules at every table, hints
// that stay until they are learnt, and a reason with each piece of advice.
import assert from 'node:assert/strict';
import { DESKTOP, findings, findOverflows, PHONE, openPage, SIDEWAYS } from './browser.mjs';
import { betweenGames, meld, playingTable, PRACTICE, preparingPhase, RULES } from './house.mjs';
import { ASSETS_LOOKS } from './assets.mjs';
import { OPTIONS_LOOKS } from './options.mjs';

const HAND = ['2C', '5H', '6H', '7H', '9H', '7C', '7D', 'KS', 'QD', '4S', 'JC', '3D', 'TS'];
const LONG_MS = 600_000;
const UNHURRIED = { ...PRACTICE, rules: { ...RULES, secret_may_challenge: false, countdowns: { draw_ms: LONG_MS, play_ms: LONG_MS, fight_ms: LONG_MS } } };
const BOTS = { 1: { bot: true, name: 'Bot Benjie' }, 2: { bot: true, name: 'Bot Carmela' } };
const dumps = HAND.map((card) => ({ type: 'dump', card }));

const firstGame = (terms = UNHURRIED) => playingTable({
  hand: HAND, phase: { type: 'play', seat: 0 }, counts: [13, 12, 12], stock: 15, pot: 0, terms, seats: BOTS, ms: LONG_MS,
  legal: [{ type: 'drop', cards: ['5H', '6H', '7H'] }, ...dumps],
});

async function assertAccessible(house, page, name) {
  await house.picture(page, name);
  for (const wrong of [...await findOverflows(page), ...await findings(page)]) house.mistakes.push(`${name}: ${wrong}`);
}

/** Runs `show` on a table of this scene in all sizes and both languages. */
async function checkEverywhere(house, scene, name, show) {
  for (const [size, viewport] of [['phone', PHONE], ['sideways', SIDEWAYS], ['desktop', DESKTOP]]) {
    for (const language of ['en', 'fil']) {
      house.scene = scene;
      const { context, page } = await openPage(house.browser, house.url, house.mistakes, { viewport, language: language === 'fil' ? 'fil-PH' : 'en-US' });
      await page.goto(`${house.url}/play`);
      await page.locator('main.table').waitFor();
      await show(page);
      await assertAccessible(house, page, `${name}-${size}-${language}`);
      await context.close();
    }
  }
}

export const LEARNING = {
  async 'a first game with a guide and without a clock'({ house, page }) {
    house.scene = null;
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${house.url}/play`);
    await page.getByRole('button', { name: 'Practise' }).click();
    house.scene = betweenGames({ phase: preparingPhase(), pot: 0, terms: UNHURRIED, seats: BOTS });
    house.answers['POST /v1/practice-tables'] = { table: house.scene.view.table };
    await page.getByRole('button', { name: 'Learn Tong-its' }).click();
    await house.next('ready');
    delete house.answers['POST /v1/practice-tables'];
    const { body } = house.asked.find(({ name }) => name === 'POST /v1/practice-tables');
    assert.deepEqual(body.rules.countdowns, { draw_ms: LONG_MS, play_ms: LONG_MS, fight_ms: LONG_MS });
    await house.show(firstGame());
    const guide = page.getByRole('region', { name: 'Guide' });
    await guide.getByText('What it is about').waitFor();
    assert.equal(await page.locator('main.table .ring').count(), 0, 'no clock is shown');
    await assertAccessible(house, page, 'guide-goal');
    for (const title of ['Your hand', 'You begin', 'Lay a meld']) {
      await guide.getByRole('button', { name: 'Got it' }).click();
      await guide.getByText(title, { exact: true }).waitFor();
    }
    // The lesson's place is marked, and performing it needs no other button.
    await page.waitForFunction(() => getComputedStyle(document.querySelector('[data-act="drop"]')).outlineStyle === 'dashed');
    await assertAccessible(house, page, 'guide-drop');
    house.follow = (said) => said.type === 'act' ? { events: [], scene: { ...firstGame(), prompt: 8 } } : null;
    await page.locator('[data-act="drop"]').click();
    await house.next('act');
    await guide.getByText('Dump', { exact: true }).waitFor();
    // A reloaded page continues the guide.
    await page.reload();
    await guide.getByText('Dump', { exact: true }).waitFor();
  },

  async 'the guide in all sizes and both languages'({ house }) {
    await checkEverywhere(house, firstGame(), 'guide', async (page) => {
      await page.locator('.guide').waitFor();
      await page.locator('.guide button').click();
      await page.locator('[data-lesson="hand"]').waitFor();
    });
  },

  async 'a table with a clock has no guide'({ house, page }) {
    await house.show(firstGame(PRACTICE));
    await page.locator('.say.urgent').waitFor();
    assert.equal(await page.locator('.guide').count(), 0);
    assert.ok(await page.locator('.say .ring').count() > 0);
  },

  async 'the rules of Tong-its at the table'({ house }) {
    await checkEverywhere(house, firstGame({}), 'rules-tongits', async (page) => {
      await page.locator('.help-mark').click();
      await page.locator('.rules-page').waitFor();
    });
  },

  async 'the rules follow the switches of the table'({ house, page }) {
    const jokers = { rules: { ...RULES, jokers: true, dump_addable: true }, hits: { ante: 1, to_win: 3, second_hit_bonus: 1 } };
    await house.show(firstGame(jokers));
    await page.getByRole('button', { name: 'Rules' }).click();
    const sheet = page.getByRole('dialog', { name: 'Rules: Tong-its' });
    await sheet.getByRole('heading', { name: 'Jokers' }).waitFor();
    await sheet.getByText(/3 wins in a row at this table take the whole POT/).waitFor();
    assert.equal(await sheet.getByText(/may not be dumped: add it/).count(), 0);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  },

  async 'the rules of Tongo (options) and Tongo (assets) at the table'({ house, page }) {
    for (const [scene, name, word] of [[OPTIONS_LOOKS[0][1], 'Tongo (options)', 'Exact chain'], [ASSETS_LOOKS[1][1], 'Tongo (assets)', 'Material Continuum']]) {
      await house.show(scene);
      await page.getByRole('button', { name: 'Rules' }).click();
      const sheet = page.getByRole('dialog', { name: `Rules: ${name}` });
      await sheet.getByText(word, { exact: true }).waitFor();
      await assertAccessible(house, page, `rules-${word}`);
      await page.keyboard.press('Escape');
      await sheet.waitFor({ state: 'detached' });
    }
  },

  async 'a hint stays until its action was performed several times'({ house, page }) {
    const scene = (prompt) => ({ ...playingTable({
      hand: ['2C', '5H', '6H', '9S', 'KS'], phase: { type: 'play', seat: 0 }, discards: ['TD'], melds: [meld(0, 'AD', 'AC', 'AS')],
      legal: ['2C', '5H', '6H', '9S', 'KS'].map((card) => ({ type: 'dump', card })),
    }), prompt });
    await house.show(scene(20));
    for (let prompt = 20; prompt < 24; prompt += 1) {
      await page.locator('.hint').getByText('Lift one card and dump it.', { exact: false }).waitFor();
      house.follow = (said) => said.type === 'act' ? { events: [], scene: scene(prompt + 1) } : null;
      await page.locator('.rack [data-card="KS"]').click({ position: { x: 7, y: 18 } });
      await page.locator('[data-act="dump"]:not([disabled])').click();
      await house.next('act');
      await page.locator('[data-act="dump"]').waitFor();
      await page.locator('.rack [data-card="KS"]').click({ position: { x: 7, y: 18 } });
    }
    await page.locator('.hint').waitFor({ state: 'detached' });
    // Switching hints off and on shows them again.
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    for (const on of ['false', 'true']) {
      await page.getByRole('switch', { name: 'Hints' }).click();
      await page.locator(`[role="switch"][aria-checked="${on}"]`, { hasText: 'Hints' }).waitFor();
    }
    await page.keyboard.press('Escape');
    await page.locator('.hint').waitFor();
  },

  async 'advice comes with a reason'({ house, page }) {
    const advise = async (scene, action, reason) => {
      await house.show(scene);
      house.follow = (said) => said.type === 'hint' ? { advice: action } : null;
      await page.getByRole('button', { name: 'What would a bot play?' }).click();
      await page.locator('.advised').getByText(reason).waitFor();
      await assertAccessible(house, page, `reason-${action.type}`);
    };
    const kings = meld(2, 'KC', 'KD', 'KH');
    const loose = ['2C', '5H', '6H', '9S', 'QD', 'JC'];
    const turn = (phase, more) => ({ ...playingTable({ hand: loose, phase, discards: ['TD'], melds: [kings], pot: 0, terms: PRACTICE, seats: BOTS, ...more }), prompt: more.prompt });
    await advise(turn({ type: 'play', seat: 0 }, { prompt: 31, legal: loose.map((card) => ({ type: 'dump', card })) }),
      { type: 'dump', card: 'QD' }, 'It goes with no other card of yours, and costs most of those: 10 points.');
    await advise(turn({ type: 'draw', seat: 0, fight_blocked: false }, { prompt: 32, legal: [{ type: 'draw' }] }), { type: 'draw' }, 'The discard makes no meld with your cards.');
    await advise(turn({ type: 'fight', fighter: 2, asked: [0, 1], asked_secretly: [], answered: [] }, { prompt: 33, legal: [{ type: 'challenge' }, { type: 'fold' }] }),
      { type: 'fold' }, /With \d+ points you are hardly the lowest. To fold costs 1, to lose a challenge 3/);
  },
};
