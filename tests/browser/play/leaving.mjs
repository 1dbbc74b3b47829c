// Tests of leaving a running game, of a result read later, of Back, and of sheets that close by themselves.
import assert from 'node:assert/strict';
import { findings, findOverflows } from './browser.mjs';
import { betweenGames, GAME, ME, OTHERS, meld, playingTable, PRACTICE, preparingPhase, TABLE } from './house.mjs';
import { preparingAfter, winMessages } from './scenes.mjs';

const TURN = playingTable({ hand: ['2C', '5H', '6H'], phase: { type: 'draw', seat: 0, fight_blocked: false }, discards: ['TD'],
  melds: [meld(2, 'KC', 'KD', 'KH')], legal: [{ type: 'draw' }] });
const OVER = playingTable({ hand: ['2C', '5H', '6H'], phase: { type: 'draw', seat: 1, fight_blocked: false }, discards: ['TD'],
  melds: [meld(2, 'KC', 'KD', 'KH')], seats: { 0: { taken_over: true } } });
const BOTS = { 1: { bot: true, name: 'Bot Benjie' }, 2: { bot: true, name: 'Bot Carmela' } };

async function assertAccessible(house, page, name) {
  await house.picture(page, name);
  for (const wrong of [...await findOverflows(page), ...await findings(page)]) house.mistakes.push(`${name}: ${wrong}`);
}

async function language(page, chosen) {
  await page.evaluate((name) => localStorage.setItem('bahay.settings', JSON.stringify({ language: name })), chosen);
}

async function leave(page) {
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('dialog', { name: 'Leave' }).getByRole('button', { name: 'Leave' }).click();
}

/** Returns the record of the game in `won`. */
function record() {
  const { settlement } = winMessages().find((one) => one.type === 'over');
  const names = ['Althea', 'Benjie', 'Carmela'];
  const events = winMessages().flatMap((one) => one.type === 'game' ? [one.event] : []);
  const view = TURN.view.phase.view;
  return {
    [`GET /v1/games/${GAME}`]: {
      id: GAME, table: TABLE, kind: 'tongits', room: 'newbie', state: 'settled', ending: 'tongits', ante: 100, settlement,
      seats: names.map((name, seat) => ({ seat, player: [ME, ...OTHERS][seat], name, is_bot: seat > 0, stake: 1400, net: 0, actions: {} })),
      opened_at: '2026-03-01T12:00:00Z', finished_at: '2026-03-01T12:05:00Z', reversed_at: null,
    },
    [`GET /v1/games/${GAME}/steps`]: { seat: 0, total: 2, items: [
      { number: 0, at: '2026-03-01T12:00:00Z', taken: null, events: [], view },
      { number: 1, at: '2026-03-01T12:05:00Z', taken: { seat: 0, by: 'player', action: { type: 'tongits' } }, events, view },
    ] },
  };
}

/** Restores the house's answers after `act`. */
async function withAnswers(house, answers, act) {
  Object.assign(house.answers, answers);
  try {
    await act();
  } finally {
    for (const name of Object.keys(answers)) delete house.answers[name];
  }
}

export const LEAVING = {
  async 'leaving shows the first page at once, with a strip to the game or its result'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.follow = (said) => said.type === 'leave' ? { events: [{ type: 'takeover', seat: 0, on: true }], scene: OVER } : null;
    await leave(page);
    await page.locator('main.home').waitFor();
    await house.next('leave');
    await page.getByText('Your game goes on. The AI plays for you.').waitFor();
    await assertAccessible(house, page, 'left');
    // No other game is begun meanwhile.
    await page.locator('.act.huge').click();
    await page.getByText('Your last game still goes on.').waitFor();
    await page.getByRole('button', { name: 'Return' }).click();
    await house.next('take_back');
    await page.locator('main.table').waitFor();
    await leave(page);
    await house.next('leave');
    house.follow = () => null;
    house.tell(winMessages(), preparingAfter);
    house.tell([{ type: 'left', seat: 0, player: ME, reason: 'left' }], betweenGames({ phase: { type: 'waiting' }, seats: { 0: null } }));
    house.scene = null;
    await page.getByText('Your game is over.').waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0, 'no dialog comes by itself');
    assert.match(await page.locator('.welcome .strip').innerText(), /\+14\.08/);
    await assertAccessible(house, page, 'left-over');
    await page.getByRole('button', { name: 'Result' }).click();
    const end = page.getByRole('dialog', { name: 'You win!' });
    await end.locator('.hand-shown').nth(2).waitFor();
    await assertAccessible(house, page, 'left-result');
    await page.keyboard.press('Escape');
    await page.locator('.welcome .strip').waitFor({ state: 'detached' });
  },

  async 'a game that ended unseen is shown from its record'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    await language(page, 'fil');
    house.scene = null;
    await withAnswers(house, record(), async () => {
      await page.reload();
      const end = page.getByRole('dialog', { name: 'Panalo ka!' });
      await end.getByText('+14.08').waitFor();
      assert.equal(await end.locator('.hand-shown .card').count(), 6 + 3 + 7);
      await assertAccessible(house, page, 'missed');
      await end.getByRole('button', { name: 'Isara' }).click();
      await end.waitFor({ state: 'detached' });
      await page.reload();
      await page.locator('.act.huge:not([disabled])').waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0, 'it was read');
    });
  },

  async 'an unread result survives a reload'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.follow = (said) => said.type === 'leave' ? { events: [{ type: 'takeover', seat: 0, on: true }], scene: OVER } : null;
    await leave(page);
    await house.next('leave');
    house.follow = () => null;
    house.tell(winMessages(), preparingAfter);
    house.tell([{ type: 'left', seat: 0, player: ME, reason: 'left' }], betweenGames({ phase: { type: 'waiting' }, seats: { 0: null } }));
    house.scene = null;
    await page.getByText('Your game is over.').waitFor();
    await withAnswers(house, record(), async () => {
      await page.reload();
      await page.getByRole('dialog', { name: 'You win!' }).getByText('+14.08').waitFor();
    });
  },

  async 'a result can be read after the seat is lost'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.tell(winMessages(), preparingAfter);
    const end = page.getByRole('dialog', { name: 'You win!' });
    await end.getByRole('button', { name: 'Next game' }).waitFor();
    house.tell([{ type: 'left', seat: 0, player: ME, reason: 'not_ready' }], betweenGames({ phase: { type: 'waiting' }, seats: { 0: null } }));
    house.scene = null;
    await end.getByText('You were not ready in time.').waitFor();
    await end.getByText('Benjie pays you 4').waitFor();
    await assertAccessible(house, page, 'result-late');
    await end.getByRole('button', { name: 'Find another table' }).click();
    assert.deepEqual((await house.next('seek')).rooms, ['newbie']);
  },

  async 'a read result is not shown again'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.tell(winMessages(), preparingAfter);
    await page.getByRole('dialog', { name: 'You win!' }).waitFor();
    await withAnswers(house, record(), async () => {
      house.follow = (said) => said.type === 'leave'
        ? { events: [{ type: 'left', seat: 0, player: ME, reason: 'left' }], scene: betweenGames({ phase: { type: 'waiting' }, seats: { 0: null } }) } : null;
      await page.locator('.ending-foot').getByRole('button', { name: 'Leave' }).click();
      await page.locator('main.home').waitFor();
      await page.getByRole('button', { name: 'Rooms' }).click();
      await page.getByRole('dialog', { name: 'Rooms' }).waitFor();
      await page.keyboard.press('Escape');
      assert.equal(await page.getByRole('dialog').count(), 0);
    });
  },

  async 'a result stays until the player continues if all others are bots'({ house, page }) {
    await house.show({ ...TURN, view: { ...TURN.view, seats: playingTable({ hand: [], phase: { type: 'play', seat: 0 }, seats: BOTS }).view.seats } });
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.tell(winMessages(), betweenGames({ phase: preparingPhase(), seats: BOTS }));
    const end = page.getByRole('dialog', { name: 'You win!' });
    const next = end.getByRole('button', { name: 'Next game' });
    await next.waitFor();
    assert.equal(await next.locator('.ring').count(), 0, 'no countdown hurries');
    house.tell([{ type: 'left', seat: 0, player: ME, reason: 'not_ready' }], betweenGames({ phase: { type: 'waiting' }, seats: { ...BOTS, 0: null } }));
    house.scene = null;
    await page.locator('main.home').waitFor();
    assert.equal(await end.getByText('You were not ready in time.').count(), 0);
    await next.click();
    assert.deepEqual((await house.next('seek')).rooms, ['newbie']);
  },

  async 'Back closes a sheet first, and asks before it leaves a game'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    const { url } = house;
    await page.getByRole('button', { name: 'Say' }).click();
    await page.getByRole('dialog', { name: 'Say' }).waitFor();
    await page.evaluate(() => history.back());
    await page.getByRole('dialog', { name: 'Say' }).waitFor({ state: 'detached' });
    await page.evaluate(() => history.back());
    const asked = page.getByRole('dialog', { name: 'Leave' });
    await asked.getByText('Leave during a game?').waitFor();
    await asked.getByRole('button', { name: 'Stay' }).click();
    await page.evaluate(() => history.back());
    await asked.waitFor();
    assert.ok(page.url().startsWith(url), 'it is still here');
    // The browser also asks before it closes the page during a game.
    const asks = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    assert.equal(await asks(), true);
    await house.show({ ...TURN, view: { ...TURN.view, terms: { ...TURN.view.terms, ...PRACTICE } } });
    await page.getByText('practice, no coins').waitFor();
    // Practice is free: the page no longer asks, once the effects of what it shows have run.
    await page.waitForFunction(() => dispatchEvent(new Event('beforeunload', { cancelable: true })));
  },

  async 'the invitation closes when the game begins'({ house, page }) {
    const code = 'K7MWQ2XA';
    const terms = { private: { ends_after_ms: 3600000 } };
    const invited = { code, link: `${house.url}/play/join/${code}`, table: TABLE };
    await page.evaluate((seat) => sessionStorage.setItem('bahay.invited', JSON.stringify(seat)), invited);
    house.scene = betweenGames({ phase: { type: 'waiting' }, seats: { 2: null }, terms });
    await withAnswers(house, { [`GET /v1/private-tables/${code}`]: { ...invited, host: ME, bet: 500, seats: 3, players: [], kind: 'tongits' } }, async () => {
      await page.reload();
      await page.getByRole('button', { name: 'Invite' }).click();
      const sheet = page.getByRole('dialog', { name: 'Invite' });
      await sheet.getByText(code, { exact: true }).waitFor();
      await house.show({ ...TURN, view: { ...TURN.view, terms: { ...TURN.view.terms, ...terms } } });
      await sheet.waitFor({ state: 'detached' });
      await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    });
  },

  async 'an invitation names the inviting player and the possible loss'({ house, page }) {
    const code = 'K7MWQ2XA';
    house.scene = null;
    await page.evaluate(() => sessionStorage.clear());
    await withAnswers(house, {
      [`GET /v1/private-tables/${code}`]: { code, link: '', table: TABLE, host: OTHERS[0], bet: 500, seats: 3, players: OTHERS, kind: 'tongits', loss_max: 7000 },
      [`GET /v1/players/${OTHERS[0]}`]: { id: OTHERS[0], name: 'Benjie', avatar: 'parol', is_bot: false },
    }, async () => {
      await page.goto(`${house.url}/play/join/${code}`);
      const sheet = page.getByRole('dialog', { name: 'Benjie invites you' });
      await sheet.getByText('A game can cost you up to 70 coins.').waitFor();
      await assertAccessible(house, page, 'invited-by');
    });
    await page.goto(`${house.url}/play/join/GONE`);
    const gone = page.getByRole('dialog', { name: 'This table is gone' });
    await gone.getByText('The code GONE leads to no table any more.').waitFor();
    await assertAccessible(house, page, 'invitation-gone');
    await gone.getByRole('button', { name: 'Home' }).click();
    await gone.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).pathname, '/play');
  },

  async 'the next game is not offered without a connection'({ house, page, context }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.tell(winMessages(), preparingAfter);
    const next = page.locator('.ending-foot .ready');
    await next.waitFor();
    await context.setOffline(true);
    house.cut();
    await page.getByText('Connection lost. Coming back…').waitFor();
    assert.equal(await next.isEnabled(), false);
    const covers = await page.locator('.banner.lost').evaluate((one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    assert.equal(covers, true, 'the banner lies over the result');
    await context.setOffline(false);
    await page.locator('.ending-foot .ready:not([disabled])').waitFor();
  },

  async 'a weak connection is shown'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.isMute = true;
    await page.getByText('The line is weak…').waitFor();
    assert.equal(await page.locator('.rack [data-card]').count(), 3, 'the hand stays in sight');
    await house.picture(page, 'weak');
    house.isMute = false;
    await page.getByText('The line is weak…').waitFor({ state: 'detached' });
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
  },
};
