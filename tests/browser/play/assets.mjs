// Scenes at a table of Tongo (assets), each with a prepared table, as scenes.mjs has those of Tong-its. The
// page knows the rules itself: the possible actions follow from the table.
import assert from 'node:assert/strict';
import { GAME, ME, OTHERS, TABLE, TERMS, preparingPhase } from './house.mjs';

export const RULES = {
  sections: 8, latinum: 100, opening_max: 5, raise_max: 10, raises_max: 3, rounds_max: 12, confront_all_rounds: 3,
  winner_share: 50, margins: false, leverage: false, bribes: false,
  countdowns: { risk_ms: 15000, assess_ms: 30000, answer_ms: 10000 },
};

const NAMES = ['Althea', 'Benjie', 'Carmela', 'Dalisay', 'Efren', 'Fe', 'Gabriela Luz', 'Hiraya'];
const BEFORE = ['2Ra', '5Ba', null, '6Ba', '1Ka', '4Ga', '7Yb'];
const FOUR = ['3Ba', '4Ba', '7Ra', '1Ya'];
const SEVEN = ['1Ba', '2Ba', '3Ba', '4Ba', '7Ra', '1Ya', 'W3'];

const player = (more = {}) => ({
  chips: 92, paid: 0, acted: false, assets: 4, wilds: 0, kept: 0, pile_assets: 0, pile_acquires: 0, margin: 0, owes: 0, leverage: 0, ...more,
});

const assessPhase = (more = {}) => ({ type: 'assess', seat: 0, began: true, swapped: false, sold: false, ...more });

/** Returns a table during a game, as the player at seat 0 sees it. */
export function assetsTable({ phase, hand = FOUR, kept = [], before = null, look = null, risk = 4, purchase = 3, sell = 2, pot = 32, rounds = 2,
  raises = 0, rotation = 3, players = {}, seats = 4, rules = {}, asked = [0], ms = 30_000, acquires = 3, offer = null, offered = false,
  playing = null, unindexed = null } = {}) {
  const all = { ...RULES, ...rules };
  const prompt = 7;
  const wilds = hand.filter((card) => card.startsWith('W')).length;
  const own = player({ assets: hand.length - wilds, wilds, kept: kept.length, ...players[0] });
  const front = rotation % all.sections;
  return {
    // The page only reads whether the list is empty, and computes the actions itself.
    legal: asked.includes(0) ? [{ type: 'retreat' }] : [], asked, prompt, ms,
    view: {
      ...betweenGames({ phase: null, seats }).view,
      phase: {
        type: 'playing', game: GAME, stakes: Array(seats).fill(10_000), deadline_ms: Date.now() + ms,
        view: {
          viewer: 0,
          own: { hand, kept, ...(before ? { before } : {}), ...(look ? { look } : {}) },
          public: {
            rules: all, phase, prompt, countdown: 3 + scenes++, rounds, opener: 1, rotation, risk, purchase, sell, raises, pot,
            playing: playing ?? Array.from({ length: seats }, (_, seat) => seat),
            players: Array.from({ length: seats }, (_, seat) => seat === 0 ? own : player(players[seat])),
            sections: Array.from({ length: all.sections }, (_, section) => section !== front ? { slots: [0, 1, 2, 3, 4, 5, 6], acquires: 3 - section % 3 }
              : { slots: (before ?? BEFORE).flatMap((card, slot) => card ? [slot] : []), acquires }),
            asset_deck: 20, acquire_deck: 4, ...(offer ? { offer } : {}), ...(offered ? { offered } : {}), ...(unindexed ? { unindexed } : {}),
          },
        },
      },
    },
  };
}

/** Each scene has another prompt number, so that the page resets its selection. */
let scenes = 0;

/** Returns the same table between two games. */
export function betweenGames({ phase, seats = 4 }) {
  return {
    legal: [], prompt: 0, ms: 9000,
    view: {
      table: TABLE, terms: { ...TERMS, room: 'tongo-assets-newbie', rules: RULES, hits: null }, kind: 'tongo_assets', seat: 0, pot: 0, crown: null,
      seats: Array.from({ length: seats }, (_, seat) => ({
        player: seat === 0 ? ME : OTHERS[seat - 1] ?? `019ca944-3c00-7000-8000-00000091a7f${seat}`, name: NAMES[seat],
        avatar: ['kalaw', 'carabao', 'parol', 'maya'][seat % 4], bot: seat > 1, connected: true, taken_over: false,
      })),
      phase,
    },
  };
}

const act = (page, name) => page.locator(`[data-act="${name}"]`);
const card = (page, name) => page.locator(`.ta-hand [data-card="${name}"]`);
const slot = (page, number) => page.locator(`[data-slot="${number}"]`);
const step = (page, name, sign) => page.locator(`[data-step="${name}"] button`).nth(sign === '+' ? 1 : 0);
const value = (page, name) => page.locator(`[data-step="${name}"] [role="spinbutton"]`).getAttribute('aria-valuenow');
const game = (event) => ({ type: 'game', event });

/** Checks that a button is disabled, with its reason. */
async function assertDisabled(page, name, why) {
  const at = page.locator(`[data-act="${name}"][disabled]`);
  await at.getByText(why, { exact: true }).waitFor();
}

/** Presses a button, and checks the action that is sent. */
async function assertSends(house, page, name, action) {
  await page.locator(`[data-act="${name}"]:not([disabled])`).click();
  assert.deepEqual((await house.next('act')).action, action);
}

/** The scenes by name. */
export const ASSETS = {
  async 'assets: a round is opened with a risk and its prices'({ house, page }) {
    await house.show(assetsTable({ phase: { type: 'open', seat: 0 } }));
    await page.getByText('Name the risk and the prices.').waitFor();
    assert.equal(await value(page, 'risk'), '4', 'the least is the last risk');
    assert.equal(await step(page, 'risk', '-').isDisabled(), true);
    await step(page, 'risk', '+').click();
    await step(page, 'risk', '+').click();
    await step(page, 'purchase', '+').click();
    await step(page, 'sell', '-').click();
    await page.locator('[data-step="purchase"] [role="spinbutton"]').focus();
    await page.keyboard.press('End');
    assert.equal(await value(page, 'purchase'), '9', 'one and a half times the risk at most');
    await page.keyboard.press('ArrowDown');
    const sell = Number(await value(page, 'sell'));
    await house.picture(page, 'assets-open');
    await assertSends(house, page, 'open', { type: 'open', risk: 6, purchase: 8, sell });
    await house.show(assetsTable({ phase: { type: 'open', seat: 0 }, players: { 0: { chips: 3 } } }));
    await assertDisabled(page, 'open', 'too few chips');
  },

  async 'assets: the risk is paid or raised, and a retreat needs two touches'({ house, page }) {
    const risking = { phase: { type: 'risk', seat: 0 }, players: { 1: { paid: 4, acted: true }, 0: { paid: 1 } } };
    await house.show(assetsTable(risking));
    await page.getByText('Pay 3 to stay in.').waitFor();
    await assertSends(house, page, 'pay', { type: 'pay' });
    await house.show(assetsTable(risking));
    await act(page, 'raise').click();
    await step(page, 'risk', '+').click();
    await assertSends(house, page, 'raise_now', { type: 'raise', risk: 6, purchase: 4, sell: 3 });
    await house.show(assetsTable(risking));
    await act(page, 'raise').click();
    await act(page, 'cancel').click();
    const sent = house.heard.length;
    await act(page, 'retreat').click();
    await act(page, 'retreat').getByText('Really?').waitFor();
    assert.equal(house.heard.length, sent, 'one touch alone leaves nothing');
    await assertSends(house, page, 'retreat', { type: 'retreat' });
    await house.show(assetsTable({ ...risking, players: { 0: { acted: true, paid: 1 } } }));
    await assertDisabled(page, 'raise', 'you had your turn');
    await house.show(assetsTable({ ...risking, raises: 3 }));
    await assertDisabled(page, 'raise', 'no raises left');
  },

  async 'assets: an assessment with room in the hand'({ house, page }) {
    await house.show(assetsTable({ phase: assessPhase(), before: BEFORE }));
    await assertDisabled(page, 'buy', 'touch one above');
    await assertDisabled(page, 'confront', 'with 7 in hand');
    // The blue pieces match those in the hand, and the newcomer gets a hint.
    await page.locator('.ta-piece.tip').waitFor();
    await page.getByText(/The blue \d fits your hand/).waitFor();
    await slot(page, 1).click();
    await act(page, 'buy').getByText('blue 5 for 3').waitFor();
    await house.picture(page, 'assets-assess');
    await assertSends(house, page, 'buy', { type: 'purchase', slot: 1 });
    await slot(page, 3).click();
    await assertDisabled(page, 'swap', 'touch one of yours');
    await card(page, '7Ra').click();
    await act(page, 'swap').getByText('red 7 for blue 6').waitFor();
    await assertSends(house, page, 'swap', { type: 'swap', discard: '7Ra', slot: 3 });
    await assertSends(house, page, 'acquire', { type: 'acquire' });
    await page.locator('.ta-stack').click();
    assert.deepEqual((await house.next('act')).action, { type: 'acquire' });
    await assertSends(house, page, 'done', { type: 'done' });
    await house.show(assetsTable({ phase: assessPhase({ swapped: true, sold: true }), before: BEFORE, acquires: 0 }));
    await slot(page, 3).click();
    await card(page, '7Ra').click();
    await assertDisabled(page, 'swap', 'once a turn');
    await assertDisabled(page, 'sell', 'once a turn');
    await assertDisabled(page, 'acquire', 'none left here');
  },

  async 'assets: a hand of seven swaps a card, and confronts'({ house, page }) {
    await house.show(assetsTable({ phase: assessPhase(), before: BEFORE, hand: SEVEN, players: { 2: { assets: 7 } } }));
    await assertDisabled(page, 'confront', 'not all hold 7');
    await slot(page, 3).click();
    await assertDisabled(page, 'buy', 'and one to give');
    await card(page, 'W3').click();
    await assertDisabled(page, 'swap', 'a wild stays');
    await assertSends(house, page, 'buy', { type: 'purchase', slot: 3, discard: 'W3' });
    await slot(page, 3).click();
    await card(page, '1Ya').click();
    await assertSends(house, page, 'acquire', { type: 'acquire', replace: '1Ya' });
    await house.show(assetsTable({ phase: assessPhase(), before: BEFORE, hand: SEVEN, rounds: 4 }));
    await act(page, 'confront').click();
    await house.picture(page, 'assets-confront');
    await assertSends(house, page, 'confront', { type: 'confront' });
  },

  async 'assets: kept cards are played'({ house, page }) {
    await house.show(assetsTable({ phase: assessPhase(), before: BEFORE, kept: ['F2', 'V0', 'D1'] }));
    await assertDisabled(page, 'acquire', 'play a kept one first');
    await page.getByRole('button', { name: 'free purchase' }).click();
    await act(page, 'acquire').getByText('next card, free').waitFor();
    await slot(page, 1).click();
    await act(page, 'buy').getByText('blue 5 for nothing').waitFor();
    await assertSends(house, page, 'buy', { type: 'purchase', slot: 1, free: true });
    await page.getByRole('button', { name: 'dividend' }).click();
    assert.deepEqual((await house.next('act')).action, { type: 'dividend' });
    await page.getByRole('button', { name: 'reveal', exact: true }).click();
    await page.getByText('Touch a section to look at.').waitFor();
    assert.equal(await page.locator('[data-section]').count(), 7, 'every section but the own one');
    await house.picture(page, 'assets-reveal');
    await page.locator('[data-section="5"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'reveal', section: 5 });
    await house.show(assetsTable({ phase: assessPhase({ revealed: 5 }), before: BEFORE, kept: ['D1'], look: { section: 5, assets: ['1Ra', '1Rb', null, '3Ka', '4Ya', '5Oa', '6Pa'] } }));
    const looked = page.getByRole('region', { name: 'Section 6' });
    await looked.getByRole('img', { name: 'purple 6' }).waitFor();
    await house.picture(page, 'assets-looked');
    await page.getByRole('button', { name: 'Back to your section' }).click();
    await slot(page, 1).waitFor();
  },

  async 'assets: the complete hand is sold for chosen pieces'({ house, page }) {
    await house.show(assetsTable({ phase: assessPhase(), before: BEFORE }));
    await act(page, 'sell').click();
    await page.getByText('The whole hand goes. Touch what you take.').waitFor();
    await assertDisabled(page, 'sell_now', 'touch 4 more');
    for (const number of [6, 1, 3, 4]) await slot(page, number).click();
    await house.picture(page, 'assets-sell');
    await assertSends(house, page, 'sell_now', { type: 'sell', slots: [1, 3, 4, 6] });
  },

  async 'assets: a confront is answered by paying, raising, evading'({ house, page }) {
    const confront = { phase: { type: 'confront', seat: 0, confronter: 2 }, hand: SEVEN, rounds: 4 };
    await house.show(assetsTable(confront));
    await page.getByText('Carmela confronts! Will you show?').waitFor();
    assert.equal(await act(page, 'index').count(), 0, 'margins are for other rules');
    await assertSends(house, page, 'pay', { type: 'pay' });
    await act(page, 'raise').click();
    await step(page, 'risk', '+').click();
    await assertSends(house, page, 'raise_now', { type: 'raise_confront', risk: 6 });
    await house.show(assetsTable(confront));
    await act(page, 'evade').getByText('5 chips, 3 cards').waitFor();
    await act(page, 'evade').click();
    await assertDisabled(page, 'evade_now', '3 more to discard');
    for (const name of ['7Ra', '1Ya', '1Ba']) await card(page, name).click();
    await house.picture(page, 'assets-evade');
    await assertSends(house, page, 'evade_now', { type: 'evade', discards: ['1Ba', '7Ra', '1Ya'] });
    await house.show(assetsTable({ ...confront, hand: ['1Ba', '2Ba'] }));
    await assertDisabled(page, 'evade', 'needs 3 cards');
    await house.show(assetsTable({ ...confront, phase: { type: 'confront', seat: 0, confronter: 0 }, risk: 9, players: { 0: { paid: 4 } } }));
    await page.getByText('The risk has risen: pay 5 and all show.').waitFor();
    assert.equal(await act(page, 'evade').count(), 0);
  },

  async 'assets: the margin is indexed, the buy-in leveraged, a debt settled'({ house, page }) {
    const advanced = { phase: { type: 'confront', seat: 0, confronter: 2 }, hand: SEVEN, rounds: 4, risk: 40, purchase: 30, sell: 20, rules: { margins: true, leverage: true } };
    await house.show(assetsTable(advanced));
    await act(page, 'index').click();
    await page.locator('[data-step="margin"] [role="spinbutton"]').focus();
    await page.keyboard.press('End');
    await act(page, 'index_now').getByText('pay 40, owe 40, risk 80').waitFor();
    await house.picture(page, 'assets-margin');
    await assertSends(house, page, 'index_now', { type: 'index', margin: 50 });
    await house.show(assetsTable(advanced));
    await act(page, 'leverage').click();
    await step(page, 'percent', '-').click();
    await act(page, 'leverage_now').getByText('pay 18 of 40').waitFor();
    await assertSends(house, page, 'leverage_now', { type: 'leverage', percent: 45 });
    await house.show(assetsTable({ ...advanced, phase: { type: 'debts', seat: 0, confronter: 2, opener: 1 }, players: { 0: { owes: 40, margin: 50, paid: 40 }, 3: { leverage: 30 } } }));
    await page.getByText('The confront has failed. You owe 40.').waitFor();
    await page.locator('.seats').getByText('L 30 %').waitFor();
    await assertSends(house, page, 'pay', { type: 'pay' });
  },

  async 'assets: a bribe is offered, and one is answered'({ house, page }) {
    const bribing = { phase: assessPhase(), before: BEFORE, rules: { bribes: true }, players: { 1: { assets: 7 } } };
    await house.show(assetsTable(bribing));
    await act(page, 'bribe').click();
    await assertDisabled(page, 'bribe_now', 'choose a seat');
    await page.getByRole('button', { name: 'Carmela', exact: true }).click();
    await step(page, 'chips', '+').click();
    await assertSends(house, page, 'bribe_now', { type: 'bribe', to: 2, chips: 2 });
    await card(page, '7Ra').click();
    await card(page, '1Ya').click();
    await house.picture(page, 'assets-bribe');
    await assertSends(house, page, 'bribe_now', { type: 'bribe', to: 2, cards: ['7Ra', '1Ya'] });
    await page.getByRole('button', { name: 'Benjie', exact: true }).click();
    await assertDisabled(page, 'bribe_now', 'no room there');
    await house.show(assetsTable({ phase: { ...assessPhase(), seat: 1 }, rules: { bribes: true }, offer: { from: 1, to: 0, chips: 7, cards: [] } }));
    await page.getByText('Benjie offers you 7 chips.').waitFor();
    await assertSends(house, page, 'accept', { type: 'accept' });
  },

  async 'assets: after the last round the player confronts or retreats'({ house, page }) {
    await house.show(assetsTable({ phase: { type: 'open', seat: 0 }, rounds: 12 }));
    await page.getByText('The rounds are over: confront or retreat.').waitFor();
    assert.equal(await act(page, 'open').count(), 0);
    await act(page, 'confront').click();
    await assertSends(house, page, 'confront', { type: 'confront' });
  },

  async 'assets: the end is shown correctly'({ house, page }) {
    const scene = assetsTable({ phase: { type: 'confront', seat: 0, confronter: 2 }, hand: SEVEN, rounds: 4, pot: 60,
      playing: [0, 2, 3], players: { 0: { chips: 80 }, 1: { chips: 96 }, 2: { chips: 82, assets: 7 }, 3: { chips: 82, assets: 7 } } });
    await house.show(scene);
    await act(page, 'pay').waitFor();
    const settlement = {
      winner: 0, payments: [
        { from: 1, to: 0, items: [{ name: 'pot', rule: '6.2', counts: 8 }], owed: 400, paid: 400 },
        { from: 2, to: 0, items: [{ name: 'pot', rule: '6.2', counts: 5 }], owed: 250, paid: 250 },
      ], fees: [{ seat: 0, gross: 650, fee: 32 }], pot: null,
    };
    const reading = (name, number, colour, wilds) => ({ class: name, number, colour, wilds });
    house.follow = (said) => said.type === 'act' ? { scene: betweenGames({ phase: preparingPhase() }), events: [
      game({ type: 'paid', seat: 0, chips: 4 }),
      game({ type: 'shown', hands: [{ hand: SEVEN, reading: reading('treasury', 7, 'B', 1) }, null,
        { hand: ['6Ra', '6Ya', '6Ka', '2Ga', '3Pa', '4Ob', '5Ob'], reading: reading('reserve', 6, 'R', 0) },
        { hand: ['1Rb', '2Yb', '3Kb', '4Gb', '5Pb', '6Oa', '7Ob'], reading: reading('reserve', 7, 'O', 0) }] }),
      game({ type: 'over', ending: 'showdown', winner: 0, awards: [65, 0, 31, 32] }),
      { type: 'over', game: GAME, settlement, server_seed: '5e'.repeat(32) },
      { type: 'settled', game: GAME, pot: 0, crown: null }, preparingPhase()] } : null;
    await act(page, 'pay').click();
    house.follow = () => null;
    const end = page.getByRole('dialog', { name: 'You win!' });
    await end.getByText('+6.18').waitFor();
    await end.getByText('The confronter is beaten').waitFor();
    const rows = end.locator('.hand-shown');
    assert.equal(await rows.count(), 4);
    await rows.nth(0).getByText('Treasury').waitFor();
    await rows.nth(0).getByText('32½ from the pot').waitFor();
    await rows.nth(0).getByText('108½ chips').waitFor();
    assert.equal(await rows.nth(0).locator('.makes').count(), 5, 'the five that make it');
    await rows.filter({ hasText: 'Benjie' }).getByText('retreated').waitFor();
    await end.getByText('Benjie pays you 4').waitFor();
    await end.locator('.payments').getByText('4 chips', { exact: true }).waitFor();
    await end.getByText('The house keeps 0.32 from you').waitFor();
    await house.picture(page, 'assets-end');
  },

  async 'assets: hands by rank, hints switched off, a refusal in Filipino'({ house, page }) {
    await house.show(assetsTable({ phase: assessPhase(), before: BEFORE }));
    await page.locator('.ta-ranks').click();
    const ranks = page.getByRole('dialog', { name: 'Rules: Tongo (assets)' });
    await ranks.getByText('Material Continuum', { exact: true }).waitFor();
    await house.picture(page, 'assets-ranks');
    await page.keyboard.press('Escape');
    await page.locator('.hint').waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('switch', { name: 'Hints' }).click();
    await page.getByRole('button', { name: 'Filipino' }).click();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.hint, .ta-piece.tip').count(), 0);
    house.follow = (said) => said.type === 'act' ? { refuse: 'swapped_already' } : null;
    await slot(page, 1).click();
    await card(page, '7Ra').click();
    await act(page, 'swap').getByText('7 na pula → 5 na asul').waitFor();
    await act(page, 'swap').click();
    await page.getByText('Isang palit lang kada turno.').waitFor();
    await house.picture(page, 'assets-filipino');
    house.follow = () => null;
  },

  async 'assets: the game is played by the keyboard alone'({ house, page }) {
    await house.show(assetsTable({ phase: assessPhase(), before: BEFORE }));
    await slot(page, 3).focus();
    await page.keyboard.press('Enter');
    assert.equal(await slot(page, 3).getAttribute('aria-pressed'), 'true');
    await page.keyboard.press('b');
    assert.deepEqual((await house.next('act')).action, { type: 'purchase', slot: 3 });
  },
};

/** The tables checked in all sizes. */
export const ASSETS_LOOKS = [
  ['assets-assess', assetsTable({ phase: assessPhase(), before: BEFORE, hand: SEVEN, kept: ['F2', 'V0', 'D1'], rules: { margins: true, leverage: true, bribes: true }, players: { 1: { assets: 5, wilds: 2, kept: 3 } } })],
  ['assets-open', assetsTable({ phase: { type: 'open', seat: 0 }, risk: 38, purchase: 30, sell: 20, pot: 312 })],
  ['assets-confront', assetsTable({ phase: { type: 'confront', seat: 0, confronter: 2 }, hand: SEVEN, rounds: 5, risk: 17, rules: { margins: true, leverage: true, bribes: true } })],
  ['assets-eight', assetsTable({ phase: { type: 'assess', seat: 5, began: true, swapped: false, sold: false }, asked: [5], seats: 8, pot: 428, risk: 21, purchase: 16, sell: 9, hand: SEVEN, kept: ['D0'],
    playing: [0, 1, 2, 4, 5, 6, 7], players: { 3: { chips: 61 }, 1: { assets: 6, wilds: 1, kept: 3, chips: 188 }, 4: { margin: 20 }, 6: { assets: 7, leverage: 45 } } })],
  ['assets-out', assetsTable({ phase: { type: 'risk', seat: 2 }, asked: [2], hand: [], playing: [1, 2, 3] })],
  ['assets-ready', betweenGames({ phase: preparingPhase(), seats: 8 })],
];
