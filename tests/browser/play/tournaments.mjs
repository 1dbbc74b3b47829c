// Tests of the screens of tournaments: the lobby, registration and withdrawal, the wait, the standings beside a
// table, the end with its prize, and a cancellation.
import assert from 'node:assert/strict';
import { DESKTOP, findings, findOverflows, PHONE, openPage, SIDEWAYS } from './browser.mjs';
import { betweenGames, GAME, ME, meld, OTHERS, playingTable, preparingPhase } from './house.mjs';
import { winMessages } from './scenes.mjs';

const ID = '019ca944-3c00-7000-8000-0000000070a0';
const PRIVATE = '019ca944-3c00-7000-8000-0000000070a1';
const CODE = 'K7MWQ2XA';
const NAMES = ['Althea', 'Benjie', 'Carmela'];
const HAND = ['2C', '5H', '6H', '9S', 'KS'];

const LISTED = {
  id: ID, name: 'Three in a ring', state: 'announced', format: 'sit_and_go', kind: 'tongits', seats: 3, entrants: 1, entrants_min: 3, entrants_max: 3,
  buy_in: 5000, fee: 500, guarantee: 20000, has_bots: false, starts_at: null,
};
const row = (at, more = {}) => ({ rank: at + 1, player: [ME, ...OTHERS][at], name: NAMES[at], is_bot: false, score: [450, -150, -300][at], games: 1, is_eliminated: false, ...more });
const ROWS = [row(0), row(1), row(2)];
const ENTRY = { state: 'registered', is_paid_by_pass: false, rank: null, score: 0, games: 0, table: null, place: null, prize: null, refund: null };
const detail = (more = {}) => ({
  ...LISTED, round: 0, pool: null, prizes: [], expected_pool: 20000, expected_prizes: [12000, 8000], stages: [{ rounds: 1, games: 2, advance: 0 }],
  duration_s: null, late_registration_s: 0, is_registration_open: true, is_private: false, accepts_passes: false, passes: [], next_at: null, leaders: [],
  commitment: '9985b2e4b9b71b28ce59ea5ce77f0b110637b625c6d7f41e982c9510940a2056', entry: null, ...more,
});
const started = (entry, more = {}) => detail({
  state: 'running', entrants: 3, round: 1, pool: 20000, prizes: [12000, 8000], is_registration_open: false, leaders: ROWS,
  entry: { ...ENTRY, state: 'playing', rank: 1, score: 450, games: 1, ...entry }, ...more,
});
const soon = () => new Date(Date.now() + 300_000).toISOString();
const pages = (items) => ({ items, next_cursor: null });
const TERMS = { room: 'tournament', hits: null, tournament: { tournament: ID, round: 1, number: 1, games: 2, players: [ME, ...OTHERS] } };
const table = () => playingTable({ hand: HAND, phase: { type: 'play', seat: 0 }, discards: ['TD'], melds: [meld(2, 'KC', 'KD', 'KH')], terms: TERMS, pot: 0,
  legal: HAND.map((card) => ({ type: 'dump', card })) });

/** Sets the answers of the house about tournaments; `one` is the tournament of the scenes. */
function setTournament(house, one, listed = [one]) {
  Object.assign(house.answers, {
    'GET /v1/tournaments': pages(listed), [`GET /v1/tournaments/${ID}`]: one, [`GET /v1/tournaments/${ID}/standings`]: pages(ROWS),
    [`PUT /v1/tournaments/${ID}/entry`]: one, [`DELETE /v1/tournaments/${ID}/entry`]: {},
    [`GET /v1/tournaments/${ID}/games`]: pages([{ id: GAME, table: GAME, round: 1, table_number: 1, number: 1, finished_at: '2026-03-01T12:00:00Z',
      scores: [{ player: ME, points: 450 }, { player: OTHERS[0], points: -150 }, { player: OTHERS[1], points: -300 }] }]),
  });
}

function forgetTournaments(house) {
  for (const name of Object.keys(house.answers)) if (name.includes('/v1/tournaments')) delete house.answers[name];
}

const waitForRequest = async (house, name) => {
  for (const until = Date.now() + 20_000; Date.now() < until;) {
    const found = house.asked.find((one) => one.name === name);
    if (found) return found;
    await new Promise((done) => { setTimeout(done, 20); });
  }
  throw new Error(`${name} was not asked: ${house.asked.map((one) => one.name)}`);
};

async function assertAccessible(house, page, name) {
  await page.waitForTimeout(100);
  await house.picture(page, name);
  for (const wrong of [...await findOverflows(page), ...await findings(page)]) house.mistakes.push(`${name}: ${wrong}`);
}

async function openLobby(house, page) {
  house.scene = null;
  // The page was opened at a table, whose loss it would report.
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${house.url}/play`);
  await page.locator('.act.huge:not([disabled])').waitFor();
  await page.locator('.two-ways .act').nth(1).click();
  await page.locator('.tournaments, .sheet .quiet').first().waitFor();
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

export const TOURNAMENTS = {
  async 'a player registers, waits, withdraws, and the price is named before each'({ house, page }) {
    setTournament(house, detail(), [LISTED, { ...LISTED, id: PRIVATE, name: 'Sunday arena', format: 'arena', entrants: 41, entrants_max: 300, buy_in: 0, fee: 0, starts_at: soon() }]);
    await openLobby(house, page);
    await assertAccessible(house, page, 'tournaments-lobby');
    await page.getByRole('button', { name: /Three in a ring/ }).click();
    const sheet = page.getByRole('dialog', { name: 'Three in a ring' });
    await sheet.getByText('It starts when all 3 are in.', { exact: false }).waitFor({ timeout: 100 }).catch(() => {});
    await sheet.getByRole('button', { name: 'Register for 55 coins' }).click();
    await sheet.getByText('55 coins are held now: 50 for the prizes and 5 for the house.', { exact: false }).waitFor();
    await assertAccessible(house, page, 'tournament-register');
    setTournament(house, detail({ entrants: 2, entry: ENTRY }));
    await sheet.getByRole('button', { name: 'Register', exact: true }).click();
    assert.deepEqual((await waitForRequest(house, `PUT /v1/tournaments/${ID}/entry`)).body, {});
    await sheet.getByText('You are in. 1 more, and it starts').waitFor();
    await assertAccessible(house, page, 'tournament-registered');
    await sheet.getByRole('button', { name: 'Withdraw' }).click();
    await sheet.getByText('Withdraw and get 55 coins back?').waitFor();
    setTournament(house, detail());
    await sheet.getByRole('button', { name: 'Withdraw' }).click();
    await waitForRequest(house, `DELETE /v1/tournaments/${ID}/entry`);
    await page.getByText('You are no longer in. 55 coins came back.').waitFor();
    await sheet.getByRole('button', { name: 'Register for 55 coins' }).waitFor();
    await sheet.getByRole('button', { name: 'Rules of tournaments' }).click();
    await page.getByRole('dialog', { name: 'Rules: Tournaments' }).getByText('7.1').waitFor();
    await assertAccessible(house, page, 'tournament-rules');
    forgetTournaments(house);
  },

  async 'a pass pays an entry and comes back, and bots are named'({ house, page }) {
    const passes = [{ id: PRIVATE, buy_in_max: 5000, granted_at: '2026-03-01T12:00:00Z', used_in: null, used_at: null }];
    const one = detail({ accepts_passes: true, passes, has_bots: true });
    setTournament(house, one, [{ ...LISTED, has_bots: true }]);
    await openLobby(house, page);
    await page.getByRole('button', { name: /Three in a ring.*with bots/ }).click();
    const sheet = page.getByRole('dialog', { name: 'Three in a ring' });
    await sheet.getByText('passes accepted', { exact: false }).waitFor();
    await sheet.getByRole('button', { name: 'Register for 55 coins' }).waitFor();
    await sheet.getByRole('button', { name: 'Register with a pass' }).click();
    await sheet.getByText('One of your passes pays the entry', { exact: false }).waitFor();
    await assertAccessible(house, page, 'tournament-pass');
    setTournament(house, detail({ accepts_passes: true, entrants: 2, entry: { ...ENTRY, is_paid_by_pass: true } }));
    await sheet.getByRole('button', { name: 'Register', exact: true }).click();
    assert.deepEqual((await waitForRequest(house, `PUT /v1/tournaments/${ID}/entry`)).body, { payment: 'pass' });
    await sheet.getByRole('button', { name: 'Withdraw' }).click();
    await sheet.getByText('Withdraw and get your pass back?').waitFor();
    setTournament(house, one);
    await sheet.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByText('You are no longer in. Your pass came back.').waitFor();
    forgetTournaments(house);
  },

  async 'a private tournament is found by its code, and refuses another'({ house, page }) {
    const one = detail({ id: ID, is_private: true, buy_in: 0, fee: 0 });
    setTournament(house, one, []);
    await openLobby(house, page);
    await page.getByLabel('Private tournament? Enter its code').fill('WRONG');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('No tournament has this code.').waitFor();
    setTournament(house, one);
    await page.getByLabel('Private tournament? Enter its code').fill(CODE.toLowerCase());
    await page.getByRole('button', { name: 'Find' }).click();
    const sheet = page.getByRole('dialog', { name: 'Three in a ring' });
    await sheet.getByRole('button', { name: 'Register for free' }).click();
    house.answers[`PUT /v1/tournaments/${ID}/entry`] = { refuse: 'tournament_code_required', status: 409 };
    await sheet.getByRole('button', { name: 'Register', exact: true }).click();
    assert.deepEqual((await waitForRequest(house, `PUT /v1/tournaments/${ID}/entry`)).body, { code: CODE });
    await page.getByText('This tournament is private: enter its code.').waitFor();
    forgetTournaments(house);
  },

  async 'the player is led to the table from anywhere, and sees the standings beside it'({ house, page }) {
    setTournament(house, detail({ entrants: 2, entry: ENTRY }));
    await openLobby(house, page);
    await page.getByRole('button', { name: /Three in a ring/ }).click();
    await page.getByText('You are in. 1 more, and it starts').waitFor();
    setTournament(house, started({ table: table().view.table }));
    house.scene = betweenGames({ phase: preparingPhase(), terms: TERMS, pot: 0 });
    for (const socket of house.sockets) {
      socket.send({ type: 'ticket', ticket: GAME, rooms: ['tournament'], state: 'seated', table: house.scene.view.table, expires_at_ms: Date.now() + 60_000 });
    }
    await page.locator('main.table').waitFor();
    // The sheet is closed, and the first game needs no touch.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await house.next('ready');
    await house.show(table());
    await page.getByRole('button', { name: 'Standings: rank 1, 4.50' }).click();
    const panel = page.locator('.beside');
    await panel.getByText('1 of 3').waitFor();
    assert.equal(await panel.locator('.own').count(), 1);
    await assertAccessible(house, page, 'tournament-table-phone-open');
    await page.getByRole('button', { name: 'Standings: rank 1, 4.50' }).click();
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByText('The AI plays your games of the tournament until you return.').waitFor();
    forgetTournaments(house);
  },

  async 'a player waits between rounds, and is then shown the place and the prize'({ house, page }) {
    setTournament(house, started({ state: 'waiting' }));
    await house.show(table());
    await page.locator('.rack [data-card]').first().waitFor();
    house.tell(winMessages().slice(0, -1).concat({ type: 'left', seat: 0, reason: 'finished' }), null);
    await page.locator('.ending').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Rematch, same people' }).count(), 0);
    await page.getByRole('button', { name: 'To the tournament' }).click();
    const sheet = page.getByRole('dialog', { name: 'Three in a ring' });
    await sheet.getByText('You go on. The other tables finish this round').waitFor();
    await assertAccessible(house, page, 'tournament-waiting');
    const end = { state: 'finished', games: 2, place: 1, prize: 12000 };
    setTournament(house, started(end, { state: 'ended' }));
    await sheet.getByText('You won the tournament!').waitFor();
    await sheet.getByText('Your prize: 120 coins').waitFor();
    await assertAccessible(house, page, 'tournament-won');
    await sheet.getByText('My games here').click();
    await sheet.getByText('Round 1, game 1').waitFor();
    await sheet.getByText('+4.50').first().waitFor();
    forgetTournaments(house);
  },

  async 'an eliminated player sees the place, and a cancelled tournament its refund'({ house, page }) {
    setTournament(house, started({ state: 'eliminated', rank: 3, place: 3, prize: 0 }));
    house.scene = null;
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${house.url}/play`);
    // An end that the player has not seen is shown by itself.
    const sheet = page.getByRole('dialog', { name: 'Three in a ring' });
    await sheet.getByText('You finished in place 3').waitFor();
    await sheet.getByText('No prize this time.', { exact: false }).waitFor();
    await assertAccessible(house, page, 'tournament-eliminated');
    setTournament(house, started({ state: 'finished', refund: 5500 }, { state: 'cancelled', leaders: [] }));
    await sheet.getByText('This tournament was cancelled.').waitFor();
    await sheet.getByText('55 coins came back to you.').waitFor();
    await assertAccessible(house, page, 'tournament-cancelled');
    forgetTournaments(house);
  },

  async 'a duplicate compares the player with those who held the same cards'({ house, page }) {
    setTournament(house, started({ state: 'waiting', score: 15000 }, { format: 'duplicate', round: 2, stages: [{ rounds: 30, games: 1, advance: 0 }] }));
    house.answers[`GET /v1/tournaments/${ID}/rounds/2/comparison`] = { refuse: 'round_not_over', status: 409 };
    house.answers[`GET /v1/tournaments/${ID}/rounds/1/comparison`] = { round: 1, table_number: 1, seat: 0, games: [
      { number: 1, game: GAME, points: 450, score: 7500, fewer: 1, equal: 1, more: 0, others_mean: 200, others: [
        { player: OTHERS[0], name: 'Benjie', is_bot: false, table_number: 2, points: 450 }, { player: OTHERS[1], name: 'Carmela', is_bot: false, table_number: 3, points: -50 }] }] };
    await openLobby(house, page);
    await page.getByRole('button', { name: /Three in a ring/ }).click();
    await page.getByText('you made +4.50, others with your cards +2 on average', { exact: false }).waitFor();
    await assertAccessible(house, page, 'tournament-compared');
    forgetTournaments(house);
  },

  async 'the screens of tournaments in all sizes and both languages'({ house }) {
    setTournament(house, detail({ format: 'knock_out', starts_at: soon(), entrants: 57, entrants_min: 9, entrants_max: 135, late_registration_s: 600, has_bots: true, entry: ENTRY,
      expected_pool: 285000, expected_prizes: [108300, 68400, 42750, 28500, 19950, 17100], stages: [{ rounds: 20, games: 3, advance: 63 }, { rounds: 10, games: 3, advance: 9 }, { rounds: 6, games: 3, advance: 0 }] }));
    await checkEverywhere(house, null, 'tournament', async (page) => {
      await page.locator('.act.huge:not([disabled])').waitFor();
      // The start is near, so the first page says so.
      await page.locator('.strip .act').first().click();
      await page.locator('.facts').waitFor();
    });
    setTournament(house, started({ table: table().view.table }));
    await checkEverywhere(house, table(), 'tournament-table', async (page) => {
      await page.locator('.standing').waitFor();
      await page.locator('.rack [data-card]').first().waitFor();
    });
    const end = started({ state: 'finished', games: 2, place: 1, prize: 12000 }, { state: 'ended' });
    await checkEverywhere(house, null, 'tournament-end', async (page) => {
      // The end is shown to a player who saw the tournament run.
      setTournament(house, started({ state: 'waiting' }));
      await page.reload();
      await page.locator('.strip').waitFor();
      setTournament(house, end);
      await page.locator('.own-end').waitFor();
    });
    forgetTournaments(house);
  },
};
