// Tests of the table's details and the pages around it: choices that cover nothing, melds before their
// owners, the persons of sentences, offers to a poor wallet, the account, and zoomed pages.
import assert from 'node:assert/strict';
import { assetsTable } from './assets.mjs';
import { DESKTOP, findings, PHONE, openPage, SIDEWAYS } from './browser.mjs';
import { betweenGames, GAME, ME, meld, OTHERS, playingTable, PRACTICE, preparingPhase, TABLE } from './house.mjs';
import { betweenGames as optionsBetween, optionsTable } from './options.mjs';
import { winMessages } from './scenes.mjs';

const HAND = ['2C', '5H', '6H', '8H', '9H', '7C', '7D', 'KS', 'QD', '4S', 'JC', '3D'];
const MELDS = [meld(1, '8S', '9S', 'TS', 'JS', 'QS'), meld(2, 'KC', 'KD', 'KH'), meld(0, 'AD', 'AC', 'AS')];
const ZOOMED = { width: 195, height: 422 };
const SEVEN = ['1Ba', '2Ba', '3Ba', '4Ba', '7Ba', '5Ba', 'W3'];
const POOR = ['1Ba', '2Ra', '3Ya', '4Ba', '7Ra', '1Ya', '6Ka'];

const twoMelds = () => playingTable({
  hand: HAND, phase: { type: 'play', seat: 0 }, discards: ['TD'], melds: MELDS,
  legal: [{ type: 'sapaw', card: 'KS', meld: 0 }, { type: 'sapaw', card: 'KS', meld: 1 }, ...HAND.filter((card) => card !== 'KS').map((card) => ({ type: 'dump', card }))],
});

async function assertAccessible(house, page, name) {
  await house.picture(page, name);
  for (const finding of await findings(page)) house.mistakes.push(`${name}: ${finding}`);
}

/** Opens the first page, without a seat. */
async function openHome(house, page) {
  house.scene = null;
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${house.url}/play`);
  await page.locator('.act.huge:not([disabled])').waitFor();
}

/** Sets answers of the house during `act`. */
async function withAnswers(house, answers, act) {
  const before = { ...house.answers };
  Object.assign(house.answers, answers);
  try {
    await act();
  } finally {
    house.answers = before;
  }
}

/** Returns whether two elements overlap. */
const overlap = (page, one, other) => page.evaluate(([a, b]) => {
  const [p, q] = [a, b].map((place) => document.querySelector(place).getBoundingClientRect());
  return p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1;
}, [one, other]);

const centre = (page, place) => page.locator(place).first().evaluate((one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
});

/** Waits for an announced sentence. */
const waitForAnnouncement = (page, text) => page.locator('ul.sr li').filter({ hasText: text }).first().waitFor({ state: 'attached' });

export const MANNERS = {
  async 'a sapaw with a card that fits two melds asks which, beside the hand and the clock'({ house, page }) {
    for (const viewport of [PHONE, DESKTOP, SIDEWAYS]) {
      await page.setViewportSize(viewport);
      await house.show(twoMelds());
      await page.locator('[data-act="sapaw"]:not([disabled])').click();
      const chooser = page.getByRole('dialog', { name: 'Sapaw to which meld?' });
      assert.equal(await chooser.locator('.way').count(), 2);
      for (const place of ['.hand', '.say', '.acts']) assert.equal(await overlap(page, '.chooser', place), false, `${place} at ${viewport.width}`);
      await assertAccessible(house, page, `sapaw-choice-${viewport.width}`);
      await page.evaluate(() => history.back());
      await chooser.waitFor({ state: 'detached' });
      await page.locator('[data-act="sapaw"]').click();
      await chooser.getByRole('button', { name: 'Carmela' }).click();
      assert.deepEqual((await house.next('act')).action, { type: 'sapaw', card: 'KS', meld: 1 });
    }
  },

  async 'melds lie before their owners'({ house, page }) {
    for (const viewport of [PHONE, DESKTOP]) {
      await page.setViewportSize(viewport);
      await house.show(twoMelds());
      await page.locator('.meld.owner-me').waitFor();
      const middle = viewport.width / 2;
      for (const [side, isRight] of [['left', false], ['right', true]]) {
        const [owner, lying] = [await centre(page, `.seat-${side}`), await centre(page, `.meld.owner-${side}`)];
        assert.equal(owner.x > middle, isRight, side);
        assert.equal(lying.x > middle, isRight, side);
      }
      const [own, others] = [await centre(page, '.meld.owner-me'), await centre(page, '.meld.owner-right')];
      assert.ok(own.y > others.y, 'the own ones lie nearest to the hand');
    }
  },

  async 'sentences address the player as you'({ house, page }) {
    const scene = playingTable({ hand: HAND, phase: { type: 'draw', seat: 1, fight_blocked: false }, discards: ['TD'], melds: MELDS });
    const events = [{ type: 'sapawed', seat: 1, card: 'KS', meld: 2 }, { type: 'dropped', seat: 0, cards: ['7C', '7D', '7H'] }, { type: 'fought', seat: 0, asked: [], asked_secretly: [] }];
    await house.show(scene);
    await page.locator('.meld.owner-me').getByText('Your meld:').waitFor({ state: 'attached' });
    for (const event of events) house.tell([{ type: 'game', event }]);
    await waitForAnnouncement(page, /^You call a fight\.$/);
    house.tell([{ type: 'game', event: events[0] }, { type: 'takeover', seat: 0, on: true }]);
    await waitForAnnouncement(page, /^Benjie adds king of spades to your meld\.$/);
    await waitForAnnouncement(page, /^The AI plays for you\.$/);
    house.tell([{ type: 'takeover', seat: 0, on: false }, { type: 'takeover', seat: 2, on: true }]);
    await waitForAnnouncement(page, /^You are back\.$/);
    await waitForAnnouncement(page, /^The AI plays for Carmela\.$/);
    // A page that is loaded again first shows the table that it stored, which is to be that of the house.
    await house.show(scene);
    await page.locator('.meld.owner-me').nth(1).waitFor({ state: 'detached' });
    await page.evaluate(() => localStorage.setItem('bahay.settings', JSON.stringify({ language: 'fil' })));
    await page.reload();
    await page.locator('.meld.owner-me').getByText('Bahay mo:').waitFor({ state: 'attached' });
    house.tell([{ type: 'game', event: events[0] }, { type: 'takeover', seat: 0, on: true }]);
    await waitForAnnouncement(page, 'sa iyo');
    house.tell([{ type: 'game', event: events[1] }, { type: 'game', event: events[2] }]);
    await waitForAnnouncement(page, /^Tumawag ka ng laban\.$/);
    assert.equal(await page.getByText(/\b(ni|kay|si) ikaw\b/i).count(), 0);
  },

  async 'the possible loss is shown before taking a seat'({ house, page }) {
    const rooms = house.answers['GET /v1/rooms'];
    const items = rooms.items.map((room) => ({ ...room, loss_max: room.kind === 'tongits' ? room.bet * 14 : 10000 }));
    await withAnswers(house, { 'GET /v1/rooms': { items } }, async () => {
      await openHome(house, page);
      await page.locator('.act.huge').getByText('up to 14 coins').waitFor();
      await page.locator('.others .act').getByText('up to 100 coins').waitFor();
      await assertAccessible(house, page, 'home-stakes');
      await page.getByRole('button', { name: 'Rooms' }).click();
      await page.getByRole('button', { name: /^Silver/ }).getByText('up to 140 coins').waitFor();
      await page.keyboard.press('Escape');
      house.follow = (asked) => asked.type === 'seek' ? { ticket: { state: 'waiting' } } : null;
      await page.locator('.act.huge').click();
      await page.getByText('A game can cost you up to 14 coins.').waitFor();
    });
  },

  async 'a poor wallet sees the missing amount, and all games stay listed'({ house, page }) {
    await withAnswers(house, { 'GET /v1/me/wallet': { available: 3000, held: 0, version: 3 } }, async () => {
      await openHome(house, page);
      const other = page.locator('.others .act');
      await other.getByText('from 100 coins').waitFor();
      assert.equal(await other.isEnabled(), false);
      await page.getByRole('button', { name: 'Rooms' }).click();
      const sheet = page.getByRole('dialog', { name: 'Rooms' });
      await sheet.getByRole('button', { name: /^Gold/ }).getByText('from 1,500 coins').waitFor();
      assert.equal(await sheet.getByRole('button', { name: /^Gold/ }).isEnabled(), false);
      assert.equal(await sheet.getByRole('button', { name: /^Newbie/ }).isEnabled(), true);
      const names = await sheet.locator('.rooms').first().locator('.room b').allInnerTexts();
      assert.deepEqual(names, ['Newbie', 'Silver', 'Gold']);
      await assertAccessible(house, page, 'rooms-poor');
    });
  },

  async 'no payment is recommended to a hand that cannot be shown'({ house, page }) {
    const confront = { phase: { type: 'confront', seat: 0, confronter: 1, indexed: false }, risk: 31 };
    const pay = page.locator('[data-act="pay"]:not([disabled])');
    await house.show(assetsTable({ ...confront, hand: POOR }));
    await pay.waitFor();
    assert.equal(await page.locator('[data-act="pay"].gold').count(), 0);
    await house.picture(page, 'assets-not-recommended');
    await house.show(assetsTable({ ...confront, hand: SEVEN }));
    await page.locator('[data-act="pay"].gold').waitFor();
    await house.show(playingTable({ hand: HAND, melds: MELDS, phase: { type: 'fight', fighter: 1, asked: [0, 2], asked_secretly: [], answered: [] },
      legal: [{ type: 'challenge' }, { type: 'fold' }] }));
    await page.locator('[data-act="challenge"]:not([disabled])').waitFor();
    assert.equal(await page.locator('[data-act="challenge"].gold').count(), 0);
  },

  async 'signing in to another account warns a guest, and then shows the account'({ house, page }) {
    await openHome(house, page);
    await page.locator('.who').click();
    const sheet = page.getByRole('dialog', { name: 'Settings' });
    await sheet.getByText('guest on this device').waitFor();
    await sheet.getByText('You have a name and password already?').click();
    await sheet.getByText(/You leave Althea behind, with 1,014\.45 coins\./).waitFor();
    await assertAccessible(house, page, 'account-guest');
    const luz = { ...house.answers['GET /v1/me'], id: OTHERS[0], name: 'Luz' };
    await withAnswers(house, { 'GET /v1/me': luz, 'GET /v1/me/sign-in-methods': { devices: 0, identities: [], password_set_at: '2026-03-01T12:00:00Z' },
      'POST /v1/sign-in/password': { access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi.c2lnbmF0dXJl', access_expires_at: new Date(Date.now() + 900_000).toISOString(),
        refresh_token: 'q'.repeat(43), refresh_expires_at: new Date(Date.now() + 900_000).toISOString(), session: GAME, player: luz },
      'POST /v1/sign-out': {} }, async () => {
      const form = sheet.locator('form', { has: page.getByRole('button', { name: 'Sign in' }) });
      await form.getByLabel('Your name').fill('Luz');
      await form.getByLabel('Password').fill('rain on a tin roof');
      await form.getByRole('button', { name: 'Sign in' }).click();
      await sheet.getByText('protected by a password').waitFor();
      assert.equal(await sheet.getByLabel('Your name').inputValue(), 'Luz');
      assert.equal(await sheet.getByRole('button', { name: 'Sign in' }).count(), 0);
      await sheet.getByText('Change the password').first().click();
      await sheet.getByText('Your data').click();
      await sheet.getByRole('button', { name: 'End this account' }).waitFor();
      await assertAccessible(house, page, 'account-protected');
      // After signing out, the device belongs to the guest again.
      house.answers['GET /v1/me'] = { ...luz, id: ME, name: 'Althea' };
      await Promise.all([page.waitForEvent('load'), sheet.getByRole('button', { name: 'Sign out' }).click()]);
      await page.locator('.who').getByText('Althea').waitFor();
    });
  },

  async 'the focus stays in a sheet after its form is removed'({ house, page }) {
    await openHome(house, page);
    await page.locator('.who').click();
    const sheet = page.getByRole('dialog', { name: 'Settings' });
    const keep = sheet.locator('form', { has: page.getByRole('button', { name: 'Protect this account with a password' }) });
    await keep.getByLabel('Password').fill('short');
    await keep.getByText('at least 8 characters').waitFor();
    await keep.getByLabel('Password').fill('rain on a tin roof');
    await withAnswers(house, { 'POST /v1/me/password': house.answers['GET /v1/me'] }, async () => {
      await keep.getByRole('button', { name: 'Protect this account with a password' }).press('Enter');
      await sheet.getByText('protected by a password').waitFor();
    });
    const inside = () => page.waitForFunction(() => document.querySelector('.sheet').contains(document.activeElement));
    await inside();
    for (let i = 0; i < 40; i += 1) await page.keyboard.press('Tab');
    await inside();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  },

  async 'a replay ends with the winner and the payments'({ house, page }) {
    await openHome(house, page);
    const { settlement } = winMessages().find((one) => one.type === 'over');
    const view = twoMelds().view.phase.view;
    const events = winMessages().flatMap((one) => one.type === 'game' ? [one.event] : []);
    const at = '2026-03-01T12:00:00Z';
    await withAnswers(house, {
      'GET /v1/me/games': { next_cursor: null, items: [{ id: GAME, kind: 'tongits', room: 'newbie', net: 1408, outcome: 'won', ending: 'tongits', finished_at: at, state: 'settled' }] },
      [`GET /v1/games/${GAME}`]: { id: GAME, table: TABLE, kind: 'tongits', room: 'newbie', state: 'settled', ending: 'tongits', ante: 100, settlement,
        seats: ['Althea', 'Benjie', 'Carmela'].map((name, n) => ({ seat: n, player: [ME, ...OTHERS][n], name, is_bot: false, stake: 1400, net: 0, actions: {} })) },
      [`GET /v1/games/${GAME}/steps`]: { seat: 0, total: 2, items: [{ number: 0, at, taken: null, events: [], view },
        { number: 1, at, taken: { seat: 0, by: 'player', action: { type: 'tongits' } }, events, view }] },
    }, async () => {
      await page.getByRole('button', { name: 'My games' }).click();
      await page.locator('.games .game').click();
      await page.getByText('Step 1 of 2').waitFor();
      assert.equal(await page.locator('.payments').count(), 0);
      await page.getByRole('button', { name: 'On one' }).click();
      await page.getByRole('heading', { name: 'You win!' }).waitFor();
      await page.getByText('Benjie pays you 4').waitFor();
      await page.locator('.hand-shown').getByText('52 points').waitFor();
      await assertAccessible(house, page, 'replay-end');
    });
  },

  async 'no record is requested after practice'({ house, page }) {
    const asked = [];
    page.on('request', (request) => { if (/\/steps/.test(request.url())) asked.push(request.url()); });
    const terms = PRACTICE;
    await house.show(optionsTable({ phase: { type: 'stop', seat: 1 }, asked: [], terms }));
    await page.locator('main.kind-tongo_options').waitFor();
    const settlement = { winner: 0, fees: [], pot: null, payments: [{ from: 1, to: 0, owed: 0, paid: 0, items: [{ name: 'buy_in', rule: '1.6', counts: 5 }] }] };
    house.tell([
      { type: 'game', event: { type: 'over', ending: 'last_in', winner: 0, pot: 37 } }, { type: 'over', game: GAME, settlement, server_seed: '5e'.repeat(32) },
      { type: 'settled', game: GAME, pot: 0, crown: null }, preparingPhase(),
    ], optionsBetween({ phase: preparingPhase(), terms }));
    const end = page.getByRole('dialog', { name: 'You win!' });
    await end.getByText('+5 bets').waitFor();
    await end.getByRole('button', { name: 'Next game' }).waitFor();
    assert.deepEqual(asked, []);
  },

  async 'the name form does not cover the title, nor a lifted card the tools above it'({ house, page }) {
    await page.evaluate(() => localStorage.setItem('bahay.settings', JSON.stringify({ played: true, language: 'fil' })));
    await openHome(house, page);
    await page.getByLabel('Ano ang itatawag sa iyo?').waitFor();
    await assertAccessible(house, page, 'home-name');
    for (const place of ['.welcome h1', '.welcome > p', '.name-ask']) {
      const covered = await page.evaluate((one) => {
        const p = document.querySelector(one).getBoundingClientRect();
        return [...document.querySelectorAll('.fall .face')].some((card) => card.getBoundingClientRect().bottom > p.top + 4);
      }, place);
      assert.equal(covered, false, place);
    }
    house.scene = twoMelds();
    await page.reload();
    const first = page.locator('.rack [data-card]').first();
    await first.waitFor();
    const upper = await page.evaluate(() => [...document.querySelectorAll('.rack .slot')].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top
      || a.getBoundingClientRect().left - b.getBoundingClientRect().left)[0].querySelector('[data-card]').dataset.card);
    await page.locator(`.rack [data-card="${upper}"]`).click({ position: { x: 7, y: 18 } });
    await page.locator('.rack .lifted').waitFor();
    assert.equal(await overlap(page, '.rack .lifted', '.tools'), false);
    await house.picture(page, 'lifted-above');
    // The clock shows its seconds from the beginning.
    await page.locator('.say .ring text').getByText(/^[6-9]$/).waitFor();
  },

  async "tomorrow's reward is not called today's"({ house, page }) {
    await withAnswers(house, { 'GET /v1/me/rewards': {
      daily: { amount: 15000, claimable: false, claimable_at: '2026-03-02T12:00:00Z', streak_day: 2 }, relief: { amount: 20000, claimable: false, floor: 5000, left_today: 3 },
    } }, async () => {
      await openHome(house, page);
      await page.getByRole('button', { name: 'Rewards' }).click();
      await page.getByText('Next: day 2 in a row').waitFor();
    });
  },

  async 'pages at 200 % zoom or with larger fonts scroll, and cut nothing off'({ house }) {
    for (const [language, viewport, letters] of [['en-US', ZOOMED, 16], ['fil-PH', ZOOMED, 16], ['fil-PH', PHONE, 20], ['fil-PH', PHONE, 32]]) {
      const { context, page } = await openPage(house.browser, house.url, house.mistakes, { viewport, language });
      const browser = await context.newCDPSession(page);
      page.setDefaultTimeout(20_000);
      const looks = [['play', twoMelds()], ['ready', betweenGames({ phase: preparingPhase() })], ['assets', assetsTable({ phase: { type: 'open', seat: 0 } })], ['home', null]];
      for (const [name, scene] of looks) {
        house.scene = scene;
        if (!scene) await page.evaluate(() => sessionStorage.clear());
        await page.goto(`${house.url}/play`);
        await browser.send('Page.setFontSizes', { fontSizes: { standard: letters, fixed: letters } });
        await page.locator(scene ? '.table .act, .table .between button' : '.act.huge:not([disabled])').first().waitFor();
        await page.waitForTimeout(300);
        await house.picture(page, `zoomed-${name}-${language}-${letters}`);
        const wrong = await page.evaluate(() => {
          const { scrollWidth, clientWidth, scrollHeight } = document.documentElement;
          const found = scrollWidth > clientWidth ? [`wide: ${scrollWidth}`] : [];
          for (const one of document.querySelectorAll('.act, .tile, .plain, .seat, .pile, .meld, .pill, .bar .round')) {
            const { left, right, bottom } = one.getBoundingClientRect();
            if (left < -1 || right > clientWidth + 1 || bottom + scrollY > scrollHeight + 1) found.push(`${one.className}: ${left} ${right}`);
          }
          const last = [...document.querySelectorAll('.act:not([disabled]), .tile')].at(-1);
          last.scrollIntoView({ block: 'center' });
          const { left, top, width, height } = last.getBoundingClientRect();
          if (!last.contains(document.elementFromPoint(left + width / 2, top + height / 2))) found.push(`${last.className} is not reached`);
          return found;
        });
        assert.deepEqual(wrong, [], `${name} in ${language}, letters of ${letters}`);
      }
      await context.close();
    }
  },
};
