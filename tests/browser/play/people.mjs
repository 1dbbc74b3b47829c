// Tests with other players: bots in the free seats of a private table, a rematch, profiles, notices, and the
// analysis of a game.
import assert from 'node:assert/strict';
import { DESKTOP, findings, findOverflows, PHONE, openPage, SIDEWAYS } from './browser.mjs';
import { betweenGames, GAME, ME, meld, OTHERS, playingTable, preparingPhase, RULES } from './house.mjs';
import { preparingAfter, winMessages } from './scenes.mjs';

const CODE = 'K7MWQ2XA';
const HAND = ['2C', '5H', '6H', '9S', 'KS'];
const PROFILE = {
  id: OTHERS[0], name: 'Benjie', avatar: 'carabao', is_bot: false, created_at: '2026-03-01T12:00:00Z',
  statistics: [{ kind: 'tongits', game: 'Tong-its', games: 120, wins: 46, hits: 5, best_pot: 4200, streak: 1, best_streak: 6, counters: [] }],
};
const table = (more = {}) => playingTable({ hand: HAND, phase: { type: 'play', seat: 0 }, discards: ['TD'], melds: [meld(2, 'KC', 'KD', 'KH')],
  legal: HAND.map((card) => ({ type: 'dump', card })), ...more });

async function assertAccessible(house, page, name) {
  await house.picture(page, name);
  for (const wrong of [...await findOverflows(page), ...await findings(page)]) house.mistakes.push(`${name}: ${wrong}`);
}

/** Runs `show` in all sizes and both languages. */
async function checkEverywhere(house, scene, name, show) {
  for (const [size, viewport] of [['phone', PHONE], ['sideways', SIDEWAYS], ['desktop', DESKTOP]]) {
    for (const language of ['en-US', 'fil-PH']) {
      house.scene = scene;
      const { context, page } = await openPage(house.browser, house.url, house.mistakes, { viewport, language });
      await page.goto(`${house.url}/play`);
      await show(page);
      await assertAccessible(house, page, `${name}-${size}-${language.slice(0, 2)}`);
      await context.close();
    }
  }
}

/** Sets answers during `act`. */
async function withAnswers(house, answers, act) {
  Object.assign(house.answers, answers);
  try {
    await act();
  } finally {
    for (const name of Object.keys(answers)) delete house.answers[name];
  }
}

const waitForRequest = async (house, name) => {
  for (const until = Date.now() + 30_000; Date.now() < until;) {
    const found = house.asked.find((one) => one.name === name);
    if (found) return found;
    await new Promise((done) => { setTimeout(done, 20); });
  }
  throw new Error(`${name} was not asked: ${house.asked.map((one) => one.name)}`);
};

/** Ends a game at this table, won by the player. */
async function endGame(house, page) {
  await house.show(table());
  await page.locator('.rack [data-card]').first().waitFor();
  house.tell(winMessages(), preparingAfter);
  await page.locator('.ending').waitFor();
}

const step = (number, seatOf, action, hand) => ({
  number, at: '2026-03-01T12:00:00Z', taken: seatOf === null ? null : { seat: seatOf, by: 'player', action }, events: [],
  view: { viewer: 0, hands: [hand, null, null], answers: [], public: {
    rules: RULES, phase: { type: 'play', seat: 0 }, prompt: number, countdown: 1, hand_counts: [hand.length, 12, 12], stock_count: 15,
    discards: ['TD'], melds: [meld(2, 'KC', 'KD', 'KH')], added_to: [], drew_last: null, shown: null, end: null,
  } },
});

const ANALYSIS = {
  [`GET /v1/games/${GAME}/analysis`]: { game: GAME, seat: 0, engine: 'strong', items: [
    { step: 2, action: { type: 'dump', card: '2C' }, advised: { type: 'sapaw', card: 'KS', meld: 0 }, value: -120, advised_value: 35, loss: 155 },
    { step: 1, action: { type: 'dump', card: '6H' }, advised: { type: 'dump', card: '9S' }, value: -60, advised_value: -20, loss: 40 },
  ] },
  [`GET /v1/games/${GAME}/steps`]: { game: GAME, seat: 0, total: 3, next_offset: null, items: [
    step(0, null, null, HAND), step(1, 0, { type: 'dump', card: '6H' }, HAND), step(2, 0, { type: 'dump', card: '2C' }, ['5H', '9S', 'KS']),
  ] },
  [`GET /v1/games/${GAME}`]: { id: GAME, kind: 'tongits', seats: ['Althea', 'Benjie', 'Carmela'].map((name, at) => ({ seat: at, name, player: [ME, ...OTHERS][at] })) },
};

export const PEOPLE = {
  async 'the host has bots fill the free seats'({ house, page }) {
    const scene = betweenGames({ phase: { type: 'waiting' }, seats: { 1: null, 2: null }, terms: { private: { ends_after_ms: 3600000 } } });
    const invited = { code: CODE, link: `${house.url}/play/join/${CODE}`, table: scene.view.table };
    const seen = { ...invited, host: ME, bet: 500, seats: 3, players: [ME], kind: 'tongits' };
    await page.evaluate((kept) => sessionStorage.setItem('bahay.invited', JSON.stringify(kept)), invited);
    house.scene = scene;
    await withAnswers(house, { [`GET /v1/private-tables/${CODE}`]: seen, [`POST /v1/private-tables/${CODE}/bots`]: { refuse: 'bots_unavailable', status: 409 } }, async () => {
      await page.reload();
      const fill = page.locator('.between').getByRole('button', { name: 'Fill with bots' });
      await fill.waitFor();
      await assertAccessible(house, page, 'bots-waiting');
      await fill.click();
      await page.getByText('The house has no bots for this table now.').waitFor();
      await page.getByRole('button', { name: 'Invite' }).click();
      const sheet = page.getByRole('dialog', { name: 'Invite' });
      await sheet.getByRole('button', { name: 'Fill with bots' }).waitFor();
      await assertAccessible(house, page, 'bots-invitation');
      house.answers[`POST /v1/private-tables/${CODE}/bots`] = seen;
      await sheet.getByRole('button', { name: 'Fill with bots' }).click();
      await waitForRequest(house, `POST /v1/private-tables/${CODE}/bots`);
      const bots = { 1: { bot: true, name: 'Bot Benjie' }, 2: { bot: true, name: 'Bot Carmela' } };
      await house.show(betweenGames({ phase: preparingPhase(), seats: bots, terms: { private: { ends_after_ms: 3600000 } } }));
      await sheet.getByRole('button', { name: 'Fill with bots' }).waitFor({ state: 'detached' });
    });
  },

  async 'a guest of a private table seats no bots'({ house, page }) {
    const scene = betweenGames({ phase: { type: 'waiting' }, seats: { 2: null }, terms: { private: { ends_after_ms: 3600000 } } });
    const invited = { code: CODE, link: `${house.url}/play/join/${CODE}`, table: scene.view.table };
    await page.evaluate((kept) => sessionStorage.setItem('bahay.invited', JSON.stringify(kept)), invited);
    house.scene = scene;
    await withAnswers(house, { [`GET /v1/private-tables/${CODE}`]: { ...invited, host: OTHERS[0], bet: 500, seats: 3, players: [ME], kind: 'tongits' } }, async () => {
      await page.reload();
      await page.getByText('Waiting for 1 more').waitFor();
      await waitForRequest(house, `GET /v1/private-tables/${CODE}`);
      assert.equal(await page.getByRole('button', { name: 'Fill with bots' }).count(), 0);
    });
  },

  async 'a rematch requested at the result'({ house, page }) {
    await endGame(house, page);
    await assertAccessible(house, page, 'rematch-end');
    const invited = { code: CODE, link: `${house.url}/play/join/${CODE}`, table: preparingAfter.view.table };
    await withAnswers(house, { [`POST /v1/games/${GAME}/rematch`]: invited }, async () => {
      await page.getByRole('button', { name: 'Rematch, same people' }).click();
      await waitForRequest(house, `POST /v1/games/${GAME}/rematch`);
      // A player who continues has read the result.
      await page.locator('.ending').waitFor({ state: 'detached' });
    });
  },

  async 'a rematch requested by another player'({ house }) {
    const offer = { type: 'invited', code: CODE, from: OTHERS[1], name: 'Carmela', game: GAME };
    await checkEverywhere(house, table(), 'rematch-offered', async (page) => {
      await page.locator('main.table .rack').waitFor();
      for (const socket of house.sockets) socket.send(offer);
      await page.locator('.strip').waitFor();
    });
    house.scene = null;
    const { context, page } = await openPage(house.browser, house.url, house.mistakes);
    await page.goto(`${house.url}/play`);
    await page.locator('.act.huge:not([disabled])').waitFor();
    for (const socket of house.sockets) socket.send(offer);
    await page.getByText('Carmela asks for a rematch.').waitFor();
    house.scene = betweenGames({ phase: preparingPhase(), terms: { private: { ends_after_ms: 3600000 } } });
    await withAnswers(house, { [`POST /v1/private-tables/${CODE}/seat`]: { code: CODE, link: `${house.url}/play/join/${CODE}`, table: house.scene.view.table } }, async () => {
      await page.getByRole('button', { name: 'Join' }).click();
      // Joining implies being ready.
      await house.next('ready');
    });
    await context.close();
  },

  async 'touching an opponent opens the profile'({ house, page }) {
    const answers = {
      [`GET /v1/players/${OTHERS[0]}`]: PROFILE, [`GET /v1/players/${OTHERS[1]}`]: { ...PROFILE, id: OTHERS[1], name: 'Carmela' }, 'GET /v1/me/mutes': { items: [] }, 'GET /v1/me/blocks': { items: [{ player: OTHERS[0], name: 'Benjie', since: '2026-03-01T12:00:00Z' }] },
      [`PUT /v1/me/mutes/${OTHERS[0]}`]: {}, [`DELETE /v1/me/blocks/${OTHERS[0]}`]: {}, [`POST /v1/games/${GAME}/reports`]: {},
    };
    await withAnswers(house, answers, async () => {
      await house.show(table());
      await page.getByRole('button', { name: 'Profile of Benjie' }).click();
      const sheet = page.getByRole('dialog', { name: 'Benjie' });
      await sheet.getByText('120', { exact: true }).waitFor();
      await sheet.getByText('(38 %)').waitFor();
      await sheet.getByRole('switch', { name: /^Mute/, checked: false }).click();
      await waitForRequest(house, `PUT /v1/me/mutes/${OTHERS[0]}`);
      await sheet.getByRole('switch', { name: /^Block/, checked: true }).click();
      await waitForRequest(house, `DELETE /v1/me/blocks/${OTHERS[0]}`);
      await sheet.getByText('Report this player…').click();
      await sheet.getByRole('button', { name: 'Stalling' }).click();
      await sheet.getByLabel('In your own words, if you like').fill('Waits each time until the clock ends.');
      await assertAccessible(house, page, 'profile-report');
      await sheet.getByRole('button', { name: 'Send the report' }).click();
      const { body } = await waitForRequest(house, `POST /v1/games/${GAME}/reports`);
      assert.deepEqual(body, { player: OTHERS[0], reason: 'stalling', words: 'Waits each time until the clock ends.' });
      await sheet.getByText('Reported. People will look at this game.').waitFor();
      await checkEverywhere(house, table(), 'profile', async (one) => {
        await one.locator('.seat-face').first().click();
        await one.locator('.profile .toggle').first().waitFor();
      });
    });
  },

  async "a bot's profile has a record and no mute button, and players have a profile of their own"({ house, page }) {
    const answers = { [`GET /v1/players/${OTHERS[0]}`]: { ...PROFILE, name: 'Bot Benjie', is_bot: true }, [`GET /v1/players/${ME}`]: { ...PROFILE, id: ME, name: 'Althea', statistics: [] } };
    await withAnswers(house, answers, async () => {
      await house.show(table({ seats: { 1: { bot: true, name: 'Bot Benjie' } } }));
      await page.getByRole('button', { name: 'Profile of Bot Benjie' }).click();
      await page.getByRole('dialog', { name: 'Benjie' }).getByText('A bot of the house').waitFor();
      assert.equal(await page.getByRole('switch').count(), 0);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'My profile' }).click();
      await page.getByRole('dialog', { name: 'Althea' }).getByText('No games yet.').waitFor();
      await assertAccessible(house, page, 'profile-own');
    });
  },

  async 'notices, and one that leads to a rematch'({ house, page }) {
    const items = [
      { id: notice(1), kind: 'rematch', game: GAME, amount: null, created_at: '2026-03-02T12:00:00Z', read_at: null, code: CODE, name: 'Carmela', from: OTHERS[1] },
      { id: notice(2), kind: 'game_voided', game: GAME, amount: 1500, created_at: '2026-03-01T12:00:00Z', read_at: '2026-03-01T13:00:00Z' },
      { id: notice(3), kind: 'of_later', game: null, amount: null, created_at: '2026-03-01T11:00:00Z', read_at: '2026-03-01T13:00:00Z' },
    ];
    const answers = { 'GET /v1/me/notices': { items, next_cursor: null }, [`POST /v1/me/notices/${notice(1)}/read`]: {} };
    house.notices = 1;
    await withAnswers(house, answers, async () => {
      house.scene = null;
      await page.evaluate(() => sessionStorage.clear());
      await page.goto(`${house.url}/play`);
      await page.getByRole('button', { name: 'Notices, 1 unread' }).click();
      const sheet = page.getByRole('dialog', { name: 'Notices' });
      await sheet.getByText('Carmela asked for a rematch.').waitFor();
      await sheet.getByText('A game could not be finished. 15 coins came back to you.').waitFor();
      await sheet.getByText('The house has news for you.').waitFor();
      await assertAccessible(house, page, 'notices');
      await waitForRequest(house, `POST /v1/me/notices/${notice(1)}/read`);
      house.scene = betweenGames({ phase: preparingPhase(), terms: { private: { ends_after_ms: 3600000 } } });
      house.answers[`POST /v1/private-tables/${CODE}/seat`] = { code: CODE, link: `${house.url}/play/join/${CODE}`, table: house.scene.view.table };
      await sheet.getByRole('button', { name: 'Join' }).click();
      await house.next('ready');
      await sheet.waitFor({ state: 'detached' });
      delete house.answers[`POST /v1/private-tables/${CODE}/seat`];
      await checkEverywhere(house, null, 'notices', async (one) => {
        await one.locator('.bell').click();
        await one.locator('.notices').waitFor();
      });
    });
    delete house.notices;
  },

  async "the analysis of a game shows a strong bot's choices"({ house, page }) {
    await endGame(house, page);
    await withAnswers(house, ANALYSIS, async () => {
      await page.getByRole('button', { name: 'My mistakes?' }).click();
      const sheet = page.getByRole('dialog', { name: 'What a strong bot would have played' });
      await sheet.getByText('Better: Sapaw K♠ to Carmela').waitFor();
      await sheet.getByText('You: Dump 2♣').waitFor();
      await sheet.getByText('costs 1.55 bets on average').waitFor();
      await assertAccessible(house, page, 'analysis');
      await sheet.getByRole('button', { name: 'Look at step 3' }).click();
      await page.getByText('Step 3 of 3').waitFor();
      await assertAccessible(house, page, 'analysis-step');
      await page.keyboard.press('Escape');
      await sheet.waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.ending').waitFor();
    });
  },

  async 'a game without analysed decisions'({ house, page }) {
    const name = `GET /v1/games/${GAME}/analysis`;
    for (const [answer, words] of [[{ game: GAME, seat: 0, engine: 'strong', items: [] }, 'Nothing better was seen. Well played!'],
      [{ game: GAME, seat: 0, engine: null, items: [] }, 'No bot judges games by these rules.'],
      [{ refuse: 'game_not_finished', status: 409 }, 'There is nothing to tell of this game.']]) {
      await page.reload();
      await endGame(house, page);
      await withAnswers(house, { [name]: answer }, async () => {
        await page.getByRole('button', { name: 'My mistakes?' }).click();
        await page.getByText(words).waitFor();
      });
    }
  },

  async 'the analysis of a game in all sizes and both languages'({ house }) {
    await withAnswers(house, { ...ANALYSIS, 'GET /v1/me/games': { next_cursor: null, items: [{ id: GAME, kind: 'tongits', room: 'newbie', net: 300, outcome: 'won', ending: 'fight',
      finished_at: '2026-03-01T12:00:00Z', state: 'settled' }] } }, async () => {
      await checkEverywhere(house, null, 'analysis', async (page) => {
        await page.locator('.tile').nth(4).click();
        await page.locator('.games .game').click();
        await page.locator('.sheet .list button.plain').first().click();
        await page.locator('.judged').waitFor();
      });
    });
  },
};

function notice(n) {
  return `019ca944-3c00-7000-8000-00000000a0${String(n).padStart(2, '0')}`;
}
