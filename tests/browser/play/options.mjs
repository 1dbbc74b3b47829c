// Scenes at a table of Tongo (options), each with a prepared table, as scenes.mjs has those of Tong-its. The
// page knows the rules itself: the possible actions follow from the table.
import assert from 'node:assert/strict';
import { findings, findOverflows } from './browser.mjs';
import { GAME, ME, OTHERS, TABLE, TERMS, preparingPhase } from './house.mjs';

export const RULES = {
  seats_min: 2, seats_max: 4, chips: 100, start_cost: 1, raise_max: 5, buy_in: 5, free_exchange: true,
  dice_2d6: false, index_margin: false, rounds_max: 20, challenge_round: 3, answer_pays_risk: true,
  countdowns: { stop_ms: 10000, turn_ms: 40000, answer_ms: 15000 },
};

const FLOORS = [[null, null, '7D'], [null, 'KH', null], [null, null, '3H'], ['4S', null, 'TS'], [null, null, '5D'], [null, null, 'TC'], [null, 'KD', null], [null, null, 'JD']];
const DICE = [{ value: 3, place: 4 }, { value: 7, place: 0 }, { value: 10, place: 9 }];
const NAMES = ['Althea', 'Benjie', 'Carmela', 'Dalisay', 'Efren', 'Fe', 'Gabo', 'Hiraya'];

const player = (more = {}) => ({
  chips: 95, paid: { buy_in: 5 }, facing: 0, evade_token: true, leveraged: false, folded: false, previous: {}, ...more,
});

/** Returns a table during a game, as the player at seat 0 sees it. */
export function optionsTable({ phase, hand = ['7H', 'KD', '3C', 'JS'], floors = FLOORS, dice = DICE, costs = { buy: 1, sell: 3, exchange: 2 },
  pot = 37, round = 3, players = {}, seats = 4, rules = {}, asked = [0], ms = 30_000, reserves, terms = {} } = {}) {
  const all = { ...RULES, ...rules };
  const prompt = 7;
  return {
    // The page only reads whether the list is empty, and computes the actions itself.
    legal: asked.includes(0) ? [{ type: 'end' }] : [], asked, prompt, ms,
    view: {
      ...betweenGames({ phase: null, seats, terms }).view,
      phase: {
        type: 'playing', game: GAME, stakes: Array(seats).fill(10_000), deadline_ms: Date.now() + ms,
        view: {
          viewer: 0, hands: [hand, ...Array(seats - 1).fill(null)],
          public: {
            rules: all, dealer: seats - 1, phase, prompt, countdown: 3, round, costs, pot,
            players: Array.from({ length: seats }, (_, seat) => player(players[seat])), floors, dice,
            ...(reserves ? { reserves } : {}),
          },
        },
      },
    },
  };
}

/** Returns the same table between two games. */
export function betweenGames({ phase, seats = 4, terms = {} }) {
  return {
    legal: [], prompt: 0, ms: 9000,
    view: {
      table: TABLE, terms: { ...TERMS, room: 'tongo-options-newbie', rules: RULES, hits: null, ...terms }, kind: 'tongo_options', seat: 0, pot: 0, crown: null,
      seats: Array.from({ length: seats }, (_, seat) => ({
        player: seat === 0 ? ME : OTHERS[seat - 1] ?? `019ca944-3c00-7000-8000-00000091a7f${seat}`, name: NAMES[seat],
        avatar: ['kalaw', 'carabao', 'parol', 'maya'][seat % 4], bot: seat > 1, connected: true, taken_over: false,
      })),
      phase,
    },
  };
}

const turn = (more = {}) => ({ type: 'turn', seat: 0, floor: 0, step: 'begun', ...more });
const game = (event) => ({ type: 'game', event });
const act = (page, name) => page.locator(`[data-act="${name}"]`);
const noteOf = (page, name) => act(page, name).locator('small').innerText();

async function assertAccessible(house, page, name) {
  await page.waitForTimeout(250);
  await house.picture(page, name);
  for (const finding of await findings(page)) house.mistakes.push(`${name}: ${finding}`);
  for (const wrong of await findOverflows(page)) house.mistakes.push(`${name}: ${wrong}`);
}

export const OPTIONS = {
  async 'options: the ring is turned and stopped'({ house, page }) {
    await house.show(optionsTable({ phase: { type: 'stop', seat: 0 }, players: { 0: { facing: 2 } } }));
    await page.getByText('Your turn: stop at a floor.').waitFor();
    await page.getByText('Marked floors match.', { exact: false }).waitFor();
    await assertAccessible(house, page, 'options-stop');
    assert.equal(await noteOf(page, 'stop'), 'Floor 3');
    await act(page, 'right').click();
    assert.equal(await noteOf(page, 'stop'), 'Floor 4');
    await page.getByRole('button', { name: 'Turn: Floor 8' }).click();
    assert.equal(await noteOf(page, 'stop'), 'Floor 8');
    await act(page, 'stop').click();
    assert.deepEqual((await house.next('act')).action, { type: 'stop', floor: 7 });
  },

  async 'options: the risk is paid before any other action'({ house, page }) {
    await house.show(optionsTable({ phase: turn({ step: 'open' }), players: { 0: { previous: { retreated: true } } } }));
    await page.getByText('Pay the risk, or step back.').waitFor();
    assert.equal(await noteOf(page, 'pay_risk'), '2 chips');
    assert.equal(await noteOf(page, 'retreat'), 'not after a retreat or an evasion');
    assert.equal(await act(page, 'retreat').isDisabled(), true);
    assert.equal(await act(page, 'evade').isDisabled(), true);
    await assertAccessible(house, page, 'options-risk');
    // A card of the floor gives the reason too.
    await page.locator('.floor.front [data-slot="0"]').click();
    assert.equal(await noteOf(page, 'buy'), 'pay the risk first');
    await act(page, 'put_back').click();
    await act(page, 'more').click();
    const more = page.getByRole('dialog', { name: 'What will you do?' });
    assert.match(await more.locator('[data-deed="pay_to_evade"]').innerText(), /pay the risk first/);
    assert.equal(await more.locator('[data-deed="convert_reserves"]').isEnabled(), true);
    await assertAccessible(house, page, 'options-more');
    await page.keyboard.press('Escape');
    await more.waitFor({ state: 'detached' });
    await act(page, 'pay_risk').click();
    assert.deepEqual((await house.next('act')).action, { type: 'pay_risk' });
  },

  async 'options: cards are turned up, down and swapped'({ house, page }) {
    const scene = optionsTable({ phase: turn(), floors: [[null, '9C', '7D'], ...FLOORS.slice(1)] });
    await house.show(scene);
    await page.locator('.floor.front [data-slot="0"]').click();
    assert.equal(await noteOf(page, 'buy'), '1 chip');
    await assertAccessible(house, page, 'options-card');
    await act(page, 'buy').click();
    assert.deepEqual((await house.next('act')).action, { type: 'buy', slot: 0 });
    await house.show(scene);
    await page.locator('.floor.front [data-slot="2"]').click();
    assert.equal(await noteOf(page, 'sell'), '7♦ · 3 chips');
    await act(page, 'sell').click();
    assert.deepEqual((await house.next('act')).action, { type: 'sell', slot: 2 });
    await house.show(scene);
    // A swap is possible with the free exchange, and with a hidden card of a floor three floors away.
    await page.locator('.floor.front [data-slot="0"]').click();
    await page.getByRole('button', { name: 'Swap: Card 2 of the free swap, free' }).click();
    assert.deepEqual((await house.next('act')).action, { type: 'exchange', slot: 0, other: 1 });
    await house.show(scene);
    await page.locator('.floor.front [data-slot="0"]').click();
    await page.getByRole('button', { name: 'Swap: Floor 4, card 2: face down, 6 chips' }).click();
    assert.deepEqual((await house.next('act')).action, { type: 'exchange', slot: 0, floor: 3, other: 1 });
    // The buy-in pays for one card.
    await house.show(scene);
    await page.locator('.floor.front [data-slot="0"]').click();
    await page.getByRole('button', { name: /^Let the buy-in pay/ }).click();
    assert.equal(await noteOf(page, 'buy'), '0 chips');
    await page.getByRole('button', { name: 'Swap: Floor 4, card 2: face down, 1 chip' }).click();
    assert.deepEqual((await house.next('act')).action, { type: 'exchange', slot: 0, floor: 3, other: 1, leverage: true });
  },

  async 'options: costs are lowered, raised, and indexed'({ house, page }) {
    await house.show(optionsTable({ phase: turn(), rules: { index_margin: true } }));
    await page.locator('.gauges').click();
    const costs = page.getByRole('dialog', { name: 'New costs' });
    assert.equal(await costs.locator('[data-act="change"] small').innerText(), 'change a cost');
    await costs.getByRole('button', { name: 'Sell: more' }).click();
    await costs.getByRole('button', { name: 'Sell: more' }).click();
    await costs.getByRole('button', { name: 'Swap: less' }).click();
    assert.match(await costs.locator('[data-act="change"]').innerText(), /not both at once/);
    await costs.getByRole('button', { name: 'Swap: more' }).click();
    assert.equal(await costs.locator('.cost-risk').innerText(), 'Risk: 4');
    await assertAccessible(house, page, 'options-costs');
    await costs.locator('[data-act="change"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'raise', sell: 5 });
    await house.show(house.scene);
    await page.locator('.gauges').click();
    await costs.getByRole('slider').fill('-50');
    assert.match(await costs.locator('[data-act="index"]').innerText(), /1 · 2 · 1/);
    await costs.locator('[data-act="index"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'index_margin', percent: -50 });
  },

  async 'options: dice are rolled, and a missing die disables the roll'({ house, page }) {
    await house.show(optionsTable({ phase: turn({ floor: 3 }), players: { 0: { facing: 3 } } }));
    await page.locator('[data-act="roll"][disabled]').getByText('no die at this floor').waitFor();
    const scene = optionsTable({ phase: turn() });
    await house.show(scene);
    house.follow = (said) => said.type === 'act' ? {
      events: [game({ type: 'rolling', seat: 0 }), game({ type: 'rolled', seat: 0, dice: [{ value: 4, place: 0 }, { value: 8, place: 7 }, { value: 9, place: 12 }] })],
    } : null;
    await act(page, 'roll').click();
    assert.deepEqual((await house.next('act')).action, { type: 'roll' });
    house.follow = () => null;
  },

  async 'options: an evasion replaces cards'({ house, page }) {
    await house.show(optionsTable({ phase: turn({ step: 'open' }) }));
    assert.equal(await noteOf(page, 'evade'), 'keep all cards');
    await page.locator('.four [data-card="3C"]').click();
    await page.locator('.four [data-card="JS"]').click();
    assert.equal(await noteOf(page, 'evade'), 'draw 2 new');
    await act(page, 'evade').click();
    assert.deepEqual((await house.next('act')).action, { type: 'evade', discards: ['3C', 'JS'] });
    await house.show(optionsTable({ phase: turn() }));
    await page.locator('.four [data-card="3C"]').click();
    await act(page, 'pay_to_evade').click();
    assert.deepEqual((await house.next('act')).action, { type: 'pay_to_evade', discards: ['3C'] });
  },

  async 'options: a challenge is refused in early rounds, and allowed later'({ house, page }) {
    await house.show(optionsTable({ phase: turn(), round: 2 }));
    await page.locator('[data-act="challenge"][disabled]').getByText('not in the first rounds').waitFor();
    await house.show(optionsTable({ phase: turn(), players: { 1: { previous: { evaded: true } }, 3: { folded: true } } }));
    await act(page, 'challenge').click();
    const dialog = page.getByRole('dialog', { name: 'The strongest hand takes 37 chips' });
    assert.match(await dialog.locator('[data-deed="confront-1"]').innerText(), /has just evaded/);
    assert.equal(await dialog.locator('[data-deed="confront-1"]').isDisabled(), true);
    assert.equal(await dialog.locator('[data-deed="confront-3"]').count(), 0);
    await assertAccessible(house, page, 'options-challenge');
    await dialog.locator('[data-deed="confront-2"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'confront', target: 2 });
    await house.show(house.scene);
    await act(page, 'challenge').click();
    await dialog.locator('[data-deed="acquire"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'acquire' });
  },

  async 'options: a confrontation, a request to join, and an acquisition'({ house, page }) {
    const challenge = { type: 'challenge', by: 1, asked: 0, joined: [] };
    await house.show(optionsTable({ phase: { ...challenge, target: 0 } }));
    await page.getByText('Benjie confronts you! Stand or evade?').waitFor();
    await assertAccessible(house, page, 'options-confronted');
    assert.equal(await noteOf(page, 'stand'), 'free');
    await act(page, 'stand').click();
    assert.deepEqual((await house.next('act')).action, { type: 'stand' });
    await house.show(optionsTable({ phase: { ...challenge, target: 2 } }));
    await page.getByText('Benjie confronts Carmela. Join or fold?').waitFor();
    await act(page, 'join').click();
    assert.deepEqual((await house.next('act')).action, { type: 'join' });
    await house.show(optionsTable({ phase: challenge, players: { 1: { facing: 6 } } }));
    await page.getByText('Benjie acquires floor 7! Confront or fold?').waitFor();
    await assertAccessible(house, page, 'options-acquired');
    await act(page, 'confront').click();
    assert.deepEqual((await house.next('act')).action, { type: 'confront' });
    await house.show(house.scene);
    await act(page, 'fold').click();
    assert.deepEqual((await house.next('act')).action, { type: 'fold' });
  },

  async 'options: reserves are converted, and answered'({ house, page }) {
    await house.show(optionsTable({ phase: turn() }));
    await act(page, 'more').click();
    await page.locator('[data-deed="convert_reserves"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'convert_reserves' });
    const reserves = { by: 1, wager: 60 };
    await house.show(optionsTable({ phase: turn({ step: 'open' }), reserves }));
    await page.getByText('Benjie converts reserves: wager 60 or fold?').waitFor();
    await assertAccessible(house, page, 'options-reserves');
    await act(page, 'convert_reserves').click();
    assert.deepEqual((await house.next('act')).action, { type: 'convert_reserves' });
    await house.show(optionsTable({ phase: turn({ wager: 60 }), reserves }));
    await page.locator('[data-act="end"]').getByText('60 chips').waitFor();
    assert.equal(await act(page, 'challenge').isDisabled(), true);
    assert.match(await noteOf(page, 'challenge'), /after reserves/);
  },

  async 'options: the end shows all payments and hands'({ house, page }) {
    await house.show(optionsTable({ phase: turn() }));
    const items = (...all) => all.map(([name, rule, counts]) => ({ name, rule, counts }));
    const settlement = {
      winner: 0, fees: [{ seat: 0, gross: 2400, fee: 120 }], pot: null,
      payments: [
        { from: 1, to: 0, items: items(['buy_in', '1.6', 5], ['risk', '3.3', 4], ['sells', '3.4', 2]), owed: 1100, paid: 1100 },
        { from: 2, to: 0, items: items(['buy_in', '1.6', 5], ['rates', '3.4', 8]), owed: 1300, paid: 1300 },
      ],
    };
    const shown = [
      { seat: 1, hand: ['3H', '9C', 'TC', 'JC'], floor: 2, matches: [{ class: 'exact_chain', card: '3H', floor: '3H' }] },
      { seat: 0, hand: ['7H', 'KD', '3C', 'JS'], floor: 0, matches: [{ class: 'chain', card: '7H', floor: '7D' }] },
    ];
    const last = optionsTable({ phase: { type: 'over' }, asked: [] }).view.phase.view;
    house.answers[`GET /v1/games/${GAME}/steps`] = { seat: 0, items: [{ number: 0, at: '', taken: null, events: [],
      view: { ...last, viewer: null, hands: [['7H', 'KD', '3C', 'JS'], ['3H', '9C', 'TC', 'JC'], ['2S', '4S', '8H', '9H'], ['AD', 'AC', '5S', '6S']] } }] };
    house.tell([
      game({ type: 'shown', hands: shown }), game({ type: 'over', ending: 'confront', winner: 0, pot: 37 }),
      { type: 'over', game: GAME, settlement, server_seed: '5e'.repeat(32) },
      { type: 'settled', game: GAME, pot: 0, crown: null }, preparingPhase(),
    ], betweenGames({ phase: preparingPhase() }));
    const end = page.getByRole('dialog', { name: 'You win!' });
    await end.waitFor();
    await end.getByText('+22.80').waitFor();
    await end.getByText('buy-in 5 · risk 4 · turned down 2', { exact: true }).waitFor();
    await end.getByText('Confrontation', { exact: true }).waitFor();
    await end.locator('.hand-shown', { hasText: 'Dalisay' }).getByRole('img', { name: 'ace of diamonds' }).waitFor();
    assert.equal(await end.locator('.hand-shown').count(), 4);
    await assertAccessible(house, page, 'options-end');
    delete house.answers[`GET /v1/games/${GAME}/steps`];
  },

  async 'options: the rules, also in Filipino'({ house, page }) {
    await house.show(optionsTable({ phase: turn() }));
    await page.getByRole('button', { name: 'Rules' }).click();
    await page.getByRole('dialog', { name: 'Rules: Tongo (options)' }).getByText('Exact chain', { exact: true }).waitFor();
    await assertAccessible(house, page, 'options-help');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Filipino' }).click();
    await page.getByRole('switch', { name: 'Mga payo' }).click();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.hint').count(), 0, 'hints are switched off');
    await assertAccessible(house, page, 'options-filipino');
  },

  async 'options: a room and a private table'({ house, page }) {
    house.scene = null;
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${house.url}/play`);
    house.follow = (said) => said.type === 'seek' ? { ticket: { state: 'waiting' } } : said.type === 'cancel_seek' ? { ticket: { state: 'cancelled' } } : null;
    await page.getByRole('button', { name: 'Tongo (options) Bet 1' }).click();
    assert.deepEqual((await house.next('seek')).rooms, ['tongo-options-newbie']);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Rooms' }).click();
    const rooms = page.getByRole('dialog', { name: 'Rooms' });
    await rooms.getByRole('heading', { name: 'Tongo (options)' }).waitFor();
    await rooms.getByRole('button', { name: /^Beginners/ }).getByText('2–4 players · Lively').waitFor();
    await page.keyboard.press('Escape');
    house.follow = () => null;
    const scene = betweenGames({ phase: { type: 'waiting' }, terms: { private: { ends_after_ms: 3600000 } } });
    scene.view.seats = scene.view.seats.map((one, seat) => (seat === 0 ? one : null));
    house.answers['POST /v1/private-tables'] = { code: 'K7MWQ2XA', link: `${house.url}/play/join/K7MWQ2XA`, table: TABLE };
    await page.getByRole('button', { name: 'Friends' }).click();
    await page.getByRole('group', { name: 'Game' }).getByRole('button', { name: 'Tongo (options)' }).click();
    await page.getByRole('group', { name: 'Rules' }).getByRole('button', { name: 'As first written' }).click();
    await assertAccessible(house, page, 'options-friends');
    house.scene = scene;
    const asked = page.waitForRequest((request) => request.url().endsWith('/v1/private-tables'));
    await page.getByRole('button', { name: 'Open a table' }).click();
    const { kind, rule_set, room } = (await asked).postDataJSON();
    assert.deepEqual({ kind, rule_set, room }, { kind: 'tongo_options', rule_set: 'seed', room: 'tongo-options-newbie' });
    await page.getByText('Waiting for 3 more').waitFor();
    await assertAccessible(house, page, 'options-waiting');
    delete house.answers['POST /v1/private-tables'];
  },

  async 'options: the game is played by the keyboard alone'({ house, page }) {
    await house.show(optionsTable({ phase: { type: 'stop', seat: 0 } }));
    await act(page, 'stop').waitFor();
    await page.keyboard.press('e');
    await page.keyboard.press('s');
    assert.deepEqual((await house.next('act')).action, { type: 'stop', floor: 1 });
    await house.show(optionsTable({ phase: turn() }));
    await page.getByText('Play your floor, then end.').waitFor();
    await page.locator('.floor.front [data-slot="0"]').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('b');
    assert.deepEqual((await house.next('act')).action, { type: 'buy', slot: 0 });
  },

  async 'options: a selection made when the prompt opens is kept'({ house, page }) {
    await house.show(optionsTable({ phase: { type: 'stop', seat: 0 } }));
    await act(page, 'stop').waitFor();
    // The press comes before the prompt is painted.
    await page.evaluate(() => {
      const at = new MutationObserver(() => {
        if (!document.body.innerText.includes('Play your floor')) return;
        at.disconnect();
        document.querySelector('.floor.front [data-slot="0"]').click();
      });
      at.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await house.show(optionsTable({ phase: turn() }));
    await page.getByText('Play your floor, then end.').waitFor();
    await page.evaluate(() => new Promise((done) => { setTimeout(done, 200); }));
    assert.equal(await page.locator('.floor.front [data-slot="0"]').getAttribute('aria-pressed'), 'true');
  },
};

/** The states checked in every size. */
export const OPTIONS_LOOKS = [
  ['options-turn', optionsTable({ phase: turn() })],
  ['options-other', optionsTable({ phase: turn({ seat: 2, floor: 3 }), asked: [2], players: { 2: { facing: 3, chips: 41 }, 3: { folded: true }, 0: { chips: 18, evade_token: false, leveraged: true } } })],
  ['options-eight', optionsTable({ phase: { type: 'stop', seat: 0 }, seats: 8, rules: { seats_max: 8, dice_2d6: true }, pot: 214, costs: { buy: 2, sell: 11, exchange: 7 },
    dice: [...DICE, { value: 5, place: 0 }, { value: 12, place: 15 }], floors: FLOORS.map(([, , up], i) => ['9S', '2H', up ?? `${i + 2}C`]) })],
  ['options-ready', betweenGames({ phase: preparingPhase() })],
];
