// Scenes at a table of Tong-its, each with a prepared table: the visible elements, the enabled actions, the
// reasons for disabled ones, and the sent commands. The cards follow PROTOCOL.md.
import assert from 'node:assert/strict';
import { betweenGames, GAME, ME, meld, playingTable, preparingPhase } from './house.mjs';
import { liftCard, readPage } from './player.mjs';

const HAND = ['2C', '5H', '6H', '8H', '9H', '7C', '7D', 'KS', 'QD', '4S', 'JC', '3D'];
const kings = meld(2, 'KC', 'KD', 'KH');
const mine = meld(0, 'AD', 'AC', 'AS');

const draw = (hand, more) => playingTable({ hand, phase: { type: 'draw', seat: 0, fight_blocked: false }, ...more });
const play = (hand, more) => playingTable({ hand, phase: { type: 'play', seat: 0 }, ...more });
const game = (event) => ({ type: 'game', event });

const payment = (from, to, items, paid, owed = paid) => ({
  from, to, owed, paid,
  items: items.map(([name, rule, counts]) => ({ name, rule, counts })),
});

const shown = (hand, melds, leftover, points, burned = false) =>
  ({ hand, arrangement: { melds, leftover, deadwood: points }, burned, points });

/** Returns the house's messages after the player at seat 0 has won by Tongits, and wins the POT. */
export function winMessages() {
  const settlement = {
    winner: 0,
    payments: [
      payment(1, 0, [['normal', '6.1', 1], ['tongits', '6.2', 1], ['special', '6.3', 2]], 400),
      payment(2, 0, [['normal', '6.1', 1], ['tongits', '6.2', 1], ['special', '6.3', 2], ['burned', '6.6', 1]], 450, 500),
    ],
    fees: [{ seat: 0, gross: 850, fee: 42 }],
    pot: { seat: 0, amount: 600 },
  };
  return [
    game({ type: 'tongits_declared', seat: 0 }),
    game({ type: 'shown', hands: [
      shown(['5H', '6H', '7H', 'KS', 'KD', 'KC'], [['5H', '6H', '7H'], ['KC', 'KD', 'KS']], [], 0),
      shown(['2C', '9D', 'TS'], [], ['2C', '9D', 'TS'], 21),
      shown(['4C', '4D', '4H', 'QS', 'QC', '8D', '6S'], [['4C', '4D', '4H']], ['QC', '8D', '6S', 'QS'], 52, true),
    ] }),
    game({ type: 'over', ending: 'tongits', winner: 0, showdown: [] }),
    { type: 'over', game: GAME, settlement, server_seed: '5e'.repeat(32) },
    { type: 'settled', game: GAME, pot: 0, crown: null },
    preparingPhase(),
  ];
}

export const preparingAfter = betweenGames({ phase: preparingPhase(), pot: 0 });

/** The scenes by name. */
export const SCENES = {
  async 'a chow with a choice of melds'({ house, page }) {
    const ways = [['5H', '6H'], ['6H', '8H'], ['8H', '9H'], ['7C', '7D']];
    await house.show(draw(HAND, {
      discards: ['TD', '7H'], melds: [kings],
      legal: [{ type: 'draw' }, ...ways.map((cards) => ({ type: 'chow', cards }))],
    }));
    await page.locator('[data-act="chow"]:not([disabled])').click();
    const chooser = page.getByRole('dialog', { name: 'Chow with which cards?' });
    assert.equal(await chooser.locator('.way').count(), ways.length);
    await house.picture(page, 'chow-choice');
    await page.keyboard.press('Escape');
    await chooser.waitFor({ state: 'detached' });
    // The discard works too.
    await page.locator('.discards').click();
    await chooser.getByRole('button', { name: '6 of hearts, 8 of hearts, 7 of hearts' }).click();
    assert.deepEqual((await house.next('act')).action, { type: 'chow', cards: ['6H', '8H'] });
    // Lifted cards decide without a question.
    await house.show(house.scene);
    for (const card of ['7C', '7D']) await liftCard(page, card);
    await page.locator('[data-act="chow"]:not([disabled])').click();
    assert.deepEqual((await house.next('act')).action, { type: 'chow', cards: ['7C', '7D'] });
  },

  async 'an illegal sapaw, and a legal one by touching the meld'({ house, page }) {
    await house.show(play(HAND, {
      discards: ['TD'], melds: [kings, mine],
      legal: [{ type: 'sapaw', card: 'KS', meld: 0 }, ...HAND.filter((card) => card !== 'KS').map((card) => ({ type: 'dump', card }))],
    }));
    await liftCard(page, '2C');
    assert.equal(await page.locator('.meld.takes').count(), 0);
    const sent = house.heard.length;
    await page.locator('[data-target="meld-0"]').click();
    await page.getByText('This card does not fit that meld. (rule 3.5)').waitFor();
    assert.equal(house.heard.length, sent, 'nothing was sent');
    await house.picture(page, 'sapaw-refused');
    await liftCard(page, '2C');
    // A card that must be added may not be dumped, and the button says so.
    await liftCard(page, 'KS');
    assert.equal(await page.locator('[data-act="dump"]').isEnabled(), false);
    assert.match(await page.locator('[data-act="dump"]').innerText(), /must be sapawed/);
    assert.equal(await page.locator('.meld.takes').count(), 1);
    await house.picture(page, 'sapaw-target');
    await page.locator('[data-target="meld-0"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'sapaw', card: 'KS', meld: 0 });
  },

  async 'a fight is called, challenged and folded'({ house, page }) {
    const fight = playingTable({
      hand: ['2C', '3D', '4S'], melds: [kings, mine], discards: ['TD'], counts: [3, 5, 9],
      phase: { type: 'fight', fighter: 1, asked: [0, 2], asked_secretly: [], answered: [] },
      legal: [{ type: 'challenge' }, { type: 'fold' }],
    });
    await house.show(fight);
    await page.getByText('Benjie calls a fight! Challenge or fold?').waitFor();
    assert.match(await page.locator('[data-act="challenge"]').innerText(), /with 9 points/);
    await house.picture(page, 'fight-called');
    await page.locator('[data-act="challenge"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'challenge' });
    await house.show(fight);
    await page.locator('[data-act="fold"]:not([disabled])').click();
    assert.deepEqual((await house.next('act')).action, { type: 'fold' });
  },

  async 'the player’s own fight, and the reason against it'({ house, page }) {
    await house.show(draw(['2C', '3D', '4S'], { melds: [mine], discards: ['TD'], legal: [{ type: 'draw' }, { type: 'fight' }] }));
    await page.getByText('Your turn: draw, chow or fight.').waitFor();
    await page.locator('[data-act="fight"]:not([disabled])').click();
    assert.deepEqual((await house.next('act')).action, { type: 'fight' });
    const blocked = playingTable({ hand: ['2C', '3D', '4S'], melds: [mine], discards: ['TD'], added: [0],
      phase: { type: 'draw', seat: 0, fight_blocked: true }, legal: [{ type: 'draw' }] });
    await house.show(blocked);
    await page.locator('[data-act="fight"][disabled]').getByText('sapawed: next turn').waitFor();
    await house.show(draw(['2C', '3D', '4S'], { melds: [kings], discards: ['TD'], legal: [{ type: 'draw' }] }));
    await page.locator('[data-act="fight"][disabled]').getByText('lay a meld first').waitFor();
  },

  async 'lifted cards are dropped as a meld, and refused if they form none'({ house, page }) {
    const hand = ['6S', '7S', '8S', '9S', 'KD', '2C'];
    const drops = [['6S', '7S', '8S'], ['7S', '8S', '9S'], ['6S', '7S', '8S', '9S']];
    await house.show(play(hand, { discards: ['TD'],
      legal: [...drops.map((cards) => ({ type: 'drop', cards })), ...hand.map((card) => ({ type: 'dump', card }))] }));
    // The complete run is offered by default.
    await page.locator('[data-act="drop"]').getByText('6♠ 7♠ 8♠ 9♠').waitFor();
    for (const card of ['7S', '8S', '9S']) await liftCard(page, card);
    await page.locator('[data-act="drop"]').getByText('7♠ 8♠ 9♠').waitFor();
    await liftCard(page, 'KD');
    await page.locator('[data-act="drop"][disabled]').getByText('no meld').waitFor();
    await liftCard(page, 'KD');
    await page.locator('[data-act="drop"]').click();
    assert.deepEqual((await house.next('act')).action, { type: 'drop', cards: ['7S', '8S', '9S'] });
  },

  async 'a card is dragged to the discards, to a meld, and within the hand'({ house, page }) {
    const legal = [{ type: 'sapaw', card: 'KS', meld: 0 }, ...HAND.filter((card) => card !== 'KS').map((card) => ({ type: 'dump', card }))];
    await house.show(play(HAND, { discards: ['TD'], melds: [kings], legal }));
    await page.locator('.rack [data-card="4S"]').waitFor();
    const drag = async (card, to) => {
      // The card still lies there, and nothing covers it.
      await page.locator(`.rack [data-card="${card}"]`).click({ trial: true, position: { x: 8, y: 20 } });
      const from = await page.locator(`.rack [data-card="${card}"]`).boundingBox();
      const end = await page.locator(to).boundingBox();
      await page.mouse.move(from.x + 8, from.y + 20);
      await page.mouse.down();
      await page.mouse.move(from.x + 30, from.y - 20, { steps: 4 });
      await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 6 });
      await house.picture(page, `drag-${card}`);
      await page.mouse.up();
    };
    await drag('QD', '.discards');
    assert.deepEqual((await house.next('act')).action, { type: 'dump', card: 'QD' });
    await house.show(house.scene);
    await drag('KS', '[data-target="meld-0"]');
    assert.deepEqual((await house.next('act')).action, { type: 'sapaw', card: 'KS', meld: 0 });
    await house.show(house.scene);
    // A card in an illegal place goes back, and the rule is shown.
    const sent = house.heard.length;
    await drag('KS', '.discards');
    await page.getByText('This card fits a meld on the table: sapaw it instead. (rule 3.6)').waitFor();
    assert.equal(house.heard.length, sent);
    await drag('2C', '.rack [data-card="KS"]');
    assert.equal((await readPage(page)).cards.length, HAND.length);
    assert.equal(house.heard.length, sent, 'moving a card within the hand plays nothing');
    await page.getByRole('button', { name: 'By suit' }).click();
  },

  async 'Tongits, and its end is shown correctly'({ house, page }) {
    const hand = ['5H', '6H', '7H', 'KS', 'KD', 'KC'];
    const scene = play(hand, { discards: ['TD'], counts: [6, 3, 7], crown: { player: ME, wins: 1 },
      legal: [{ type: 'drop', cards: ['5H', '6H', '7H'] }, { type: 'tongits' }, { type: 'dump', card: 'KS' }] });
    await house.show(scene);
    house.follow = (said) => said.type === 'act' ? { events: winMessages(), scene: preparingAfter } : null;
    await page.locator('[data-act="tongits"]:not([disabled])').click();
    assert.deepEqual((await house.next('act')).action, { type: 'tongits' });
    house.follow = () => null;
    const end = page.getByRole('dialog', { name: 'You win!' });
    await end.waitFor();
    // 4.00 and 4.50, less the fee of 0.42, and the POT of 6.00.
    await end.getByText('+14.08').waitFor();
    await end.getByText('Benjie pays you 4').waitFor();
    await end.getByText('win 1 · Tongits 1 · aces and kings 2', { exact: true }).waitFor();
    await end.getByText('Carmela pays you 4.50').waitFor();
    await end.getByText('of 5 owed').waitFor();
    await end.getByText('The house keeps 0.42 from you').waitFor();
    await end.getByText('The POT is yours!').waitFor();
    await end.getByText('burned', { exact: true }).first().waitFor();
    for (const [name, points] of [['You', 0], ['Benjie', 21], ['Carmela', 52]]) {
      await end.locator('.hand-shown', { hasText: name }).getByText(`${points} points`).waitFor();
    }
    assert.equal(await end.locator('.hand-shown .card').count(), 6 + 3 + 7);
    await house.picture(page, 'end-won');
    await end.locator('.ready').click();
    assert.equal((await house.next('ready')).game, preparingAfter.view.phase.game);
  },

  async 'the AI plays, and the player takes the seat back'({ house, page }) {
    const scene = playingTable({ hand: HAND, phase: { type: 'draw', seat: 1, fight_blocked: false }, discards: ['TD'],
      melds: [kings], seats: { 0: { taken_over: true }, 2: { connected: false, taken_over: true }, 1: { bot: true, name: 'Bot Benjie' } } });
    await house.show(scene);
    await page.getByText('The AI plays for you.').waitFor();
    await house.picture(page, 'taken-over');
    house.follow = (said) => said.type === 'take_back' ? { events: [{ type: 'takeover', seat: 0, on: false }],
      scene: playingTable({ hand: HAND, phase: { type: 'draw', seat: 1, fight_blocked: false }, discards: ['TD'], melds: [kings] }) } : null;
    await page.getByRole('button', { name: 'Take back' }).click();
    await house.next('take_back');
    await page.getByText('The AI plays for you.').waitFor({ state: 'detached' });
    house.follow = () => null;
  },

  async 'phrases are sent and shown'({ house, page }) {
    await house.show(draw(HAND, { discards: ['TD'], melds: [kings], legal: [{ type: 'draw' }] }));
    house.follow = () => ({ said: true });
    await page.getByRole('button', { name: 'Say' }).click();
    await page.getByRole('button', { name: 'Well played!' }).click();
    assert.equal((await house.next('say')).phrase, 'well_played');
    await page.locator('.bubble').getByText('Well played!').waitFor();
    await page.getByRole('button', { name: 'Say' }).click();
    await house.picture(page, 'phrases');
    await page.getByRole('button', { name: 'fire' }).click();
    assert.equal((await house.next('say')).phrase, 'emoji_fire');
    await page.locator('.bubble .emoji').waitFor();
    house.follow = () => null;
  },

  async 'the game is played by the keyboard alone'({ house, page }) {
    const legal = HAND.filter((card) => card !== 'KS').map((card) => ({ type: 'dump', card }));
    await house.show(play(HAND, { discards: ['TD'], melds: [kings], legal }));
    await page.locator('.rack [data-card="2C"]').waitFor();
    await page.locator('.rack [tabindex="0"]').focus();
    await page.keyboard.press('Home');
    const first = await page.evaluate(() => document.activeElement.dataset.card);
    await page.keyboard.press('ArrowRight');
    const second = await page.evaluate(() => document.activeElement.dataset.card);
    assert.notEqual(first, second);
    await page.keyboard.press('Space');
    assert.deepEqual((await readPage(page)).lifted, [second]);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-selected')), 'true');
    if (second !== 'KS') {
      await page.keyboard.press('x');
      assert.deepEqual((await house.next('act')).action, { type: 'dump', card: second });
    }
  },

  async 'the settings, and refusals in Filipino'({ house, page }) {
    await house.show(play(HAND, { discards: ['TD'], melds: [kings], legal: [{ type: 'sapaw', card: 'KS', meld: 0 }, { type: 'dump', card: '2C' }] }));
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Filipino' }).click();
    await page.getByRole('switch', { name: 'Apat na kulay' }).click();
    await page.getByRole('switch', { name: 'Malalaking baraha' }).click();
    await house.picture(page, 'settings');
    await page.keyboard.press('Escape');
    await liftCard(page, 'QD');
    house.follow = (said) => said.type === 'act' ? { refuse: 'stale_prompt' } : null;
    await liftCard(page, 'QD');
    await liftCard(page, '2C');
    await page.locator('[data-act="dump"]:not([disabled])').click();
    await house.next('act');
    await page.getByText('Huli na: tuloy na ang mesa.').waitFor();
    await house.picture(page, 'filipino-four-colours-large');
    house.follow = () => null;
  },
};
