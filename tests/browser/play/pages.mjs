// Tests of the pages around the table: arriving, waiting, private tables, coins, the history, and errors.
import assert from 'node:assert/strict';
import { findings, openPage } from './browser.mjs';
import { betweenGames, meld, playingTable, preparingPhase } from './house.mjs';
import { readPage } from './player.mjs';

const TURN = playingTable({ hand: ['2C', '5H', '6H'], phase: { type: 'draw', seat: 0, fight_blocked: false }, discards: ['TD'],
  melds: [meld(2, 'KC', 'KD', 'KH')], legal: [{ type: 'draw' }] });

/** Opens the first page, without a seat. */
async function openHome({ house, page }) {
  house.scene = null;
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${house.url}/play`);
  await page.locator('.act.huge:not([disabled])').waitFor();
}

async function assertAccessible(house, page, name) {
  await house.picture(page, name);
  for (const finding of await findings(page)) house.mistakes.push(`${name}: ${finding}`);
}

export const PAGES = {
  async 'arriving, waiting, and getting a seat'({ house, page }) {
    await openHome({ house, page });
    house.follow = (said) => said.type === 'seek' ? { ticket: { state: 'waiting' } }
      : said.type === 'cancel_seek' ? { ticket: { state: 'cancelled' } } : null;
    await page.locator('.act.huge').click();
    assert.deepEqual((await house.next('seek')).rooms, ['newbie']);
    await page.getByRole('dialog', { name: 'Looking for a table…' }).waitFor();
    await assertAccessible(house, page, 'searching');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await house.next('cancel_seek');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // A table is found, and asking to play implies being ready.
    house.follow = (said) => {
      if (said.type !== 'seek') return null;
      house.scene = betweenGames({ phase: preparingPhase() });
      return { ticket: { state: 'seated', table: house.scene.view.table } };
    };
    await page.locator('.act.huge').click();
    await house.next('ready');
  },

  async 'rooms, and one that is closed to this wallet'({ house, page }) {
    await openHome({ house, page });
    await page.getByRole('button', { name: 'Rooms' }).click();
    const rooms = page.getByRole('dialog', { name: 'Rooms' });
    await rooms.getByRole('button', { name: /^Newbie/ }).waitFor();
    await assertAccessible(house, page, 'rooms');
    house.follow = (said) => said.type === 'seek' ? { refuse: 'too_few_coins' } : null;
    await rooms.getByRole('button', { name: /^Silver/ }).click();
    assert.deepEqual((await house.next('seek')).rooms, ['silver']);
    // Without coins, the page gives the reason and the house's grants.
    await page.getByText('This room asks for more coins than you have.').waitFor();
    await page.getByRole('dialog', { name: 'Rewards' }).waitFor();
    await assertAccessible(house, page, 'out-of-coins');
  },

  async 'the daily reward'({ house, page }) {
    await openHome({ house, page });
    house.answers['POST /v1/me/rewards/daily'] = { amount: 10000, available: 111445, streak_day: 2, next: {} };
    await page.getByRole('button', { name: 'Rewards' }).click();
    await assertAccessible(house, page, 'rewards');
    await page.getByRole('button', { name: 'Take 100' }).click();
    await page.getByText('You get 100 coins.').waitFor();
    delete house.answers['POST /v1/me/rewards/daily'];
  },

  async 'a private table with code, link and QR code'({ house, page }) {
    await openHome({ house, page });
    const code = 'K7MWQ2XA';
    const scene = betweenGames({ phase: { type: 'waiting' }, seats: { 1: null, 2: null }, terms: { private: { ends_after_ms: 3600000 } } });
    const invited = { code, link: `${house.url}/play/join/${code}`, table: scene.view.table };
    house.answers['POST /v1/private-tables'] = invited;
    house.answers[`GET /v1/private-tables/${code}`] = { ...invited, host: scene.view.seats[0].player, bet: 500, seats: 3, players: [], kind: 'tongits' };
    await page.getByRole('button', { name: 'Friends' }).click();
    await page.getByLabel('Bet in coins').fill('5');
    await assertAccessible(house, page, 'friends');
    house.scene = scene;
    await page.getByRole('button', { name: 'Open a table' }).click();
    await page.getByText('Waiting for 2 more').waitFor();
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByText(code, { exact: true }).waitFor();
    await page.getByRole('img', { name: invited.link }).waitFor();
    await assertAccessible(house, page, 'invitation');
    delete house.answers['POST /v1/private-tables'];
  },

  async 'name, picture and password'({ house, page }) {
    await openHome({ house, page });
    await page.locator('.who').click();
    const settings = page.getByRole('dialog', { name: 'Settings' });
    await settings.getByLabel('Picture').getByRole('button', { name: 'salakot' }).waitFor();
    await assertAccessible(house, page, 'account');
    house.answers['PATCH /v1/me'] = { refuse: 'name_taken', status: 409 };
    await settings.getByLabel('Your name').first().fill('Benjie');
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody has this name, or one that looks like it.').waitFor();
    delete house.answers['PATCH /v1/me'];
    house.answers['POST /v1/me/password'] = { ...house.answers['GET /v1/me'], name: 'Benjie' };
    await settings.getByLabel('Password').last().fill('rain on a tin roof');
    await settings.getByRole('button', { name: 'Protect this account with a password' }).click();
    await page.getByText('Saved.').waitFor();
    delete house.answers['POST /v1/me/password'];
  },

  async 'the leaderboards'({ house, page }) {
    await openHome({ house, page });
    house.answers['GET /v1/leaderboards/coins/week'] = {
      board: 'coins', span: 'week', kind: 'tongits', starts_on: '2026-03-01', time_zone: 'Asia/Manila', total: 3,
      items: [['Benjie', 120000], ['Carmela', 40050], ['Dalisay', 900]].map(([name, score], i) => ({ name, score, rank: i + 1, player: name })),
      own: null,
    };
    await page.getByRole('button', { name: 'Leaders' }).click();
    await page.getByRole('cell', { name: '400.50' }).waitFor();
    await assertAccessible(house, page, 'leaders');
  },

  async 'the player is ready, and then all are'({ house, page }) {
    await house.show(betweenGames({ phase: preparingPhase() }));
    house.follow = (said) => said.type === 'ready'
      ? { events: [{ type: 'ready', seat: 0 }], scene: betweenGames({ phase: preparingPhase([0]) }) } : null;
    await page.locator('.between .ready').click();
    const { game } = await house.next('ready');
    await page.getByText('Ready. Waiting for the others.').waitFor();
    house.tell([{ type: 'opening', game }], betweenGames({ phase: { type: 'opening', game } }));
    await page.getByText('All are ready. Dealing…').waitFor();
    await assertAccessible(house, page, 'all-ready');
  },

  async 'the last player is ready, and the game opens at once'({ house, page }) {
    await house.show(betweenGames({ phase: preparingPhase() }));
    house.follow = (said) => {
      if (said.type !== 'ready') return null;
      const opening = { type: 'opening', game: said.game };
      return { events: [opening], scene: betweenGames({ phase: opening }) };
    };
    await page.locator('.between .ready').click();
    await page.getByText('All are ready. Dealing…').waitFor();
    await house.next('ready');
    if (house.heard.some(({ type }) => type === 'ready')) throw new Error('the player is ready twice');
  },

  async 'the seat is lost'({ house, page }) {
    await house.show(betweenGames({ phase: preparingPhase([], 2000) }));
    await page.getByText('The next game begins when all are ready.').waitFor();
    house.tell([{ type: 'left', seat: 0, player: house.scene.view.seats[0].player, reason: 'not_ready' }],
      betweenGames({ phase: { type: 'waiting' }, seats: { 0: null } }));
    await page.getByRole('dialog', { name: 'You have lost your seat' }).getByText('You were not ready in time.').waitFor();
    await assertAccessible(house, page, 'seat-lost');
    await page.getByRole('button', { name: 'Find another table' }).click();
    await house.next('seek');
  },

  async 'the connection is lost and restored'({ house, page, context }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    await context.setOffline(true);
    house.cut();
    await page.getByText('Connection lost. Coming back…').waitFor();
    assert.equal(await page.locator('[data-act="draw"]').isEnabled(), false);
    assert.equal((await readPage(page)).cards.length, 3, 'the hand stays in sight');
    await house.picture(page, 'connection-lost');
    const began = Date.now();
    await context.setOffline(false);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    assert.ok(Date.now() - began < 2_000, `back after ${Date.now() - began} ms`);
  },

  async 'a second tab plays, and the first takes over'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.cut(4001);
    const replaced = page.getByRole('dialog', { name: 'You play in another tab.' });
    await replaced.waitFor();
    await assertAccessible(house, page, 'other-tab');
    await replaced.getByRole('button', { name: 'Play here' }).click();
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
  },

  async 'the page is reloaded during a game'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    await page.reload();
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    assert.deepEqual((await readPage(page)).cards.sort(), ['2C', '5H', '6H']);
  },

  async 'the table is ended by an operator'({ house, page }) {
    await house.show(TURN);
    await page.locator('[data-act="draw"]:not([disabled])').waitFor();
    house.scene = null;
    for (const socket of house.sockets) socket.send({ type: 'closed', table: TURN.view.table, reason: 'voided' });
    await page.getByText('An operator ended the table. Your coins are back.').waitFor();
  },

  async 'reduced and normal motion'({ house }) {
    for (const still of [true, false]) {
      const { context, page } = await openPage(house.browser, house.url, house.mistakes, { still });
      house.scene = TURN;
      await page.goto(`${house.url}/play`);
      await page.locator('[data-act="draw"]:not([disabled])').waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.classList.contains('still')), still);
      await context.close();
    }
  },
};
