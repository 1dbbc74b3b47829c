// Tests of moving cards at a table of Tong-its: the deal, a drawn card, a chow and a win. Every animation
// uses transform and opacity alone, which the browser's compositor runs off the main thread; a single other
// property would keep the animation on the main thread.
import assert from 'node:assert/strict';
import { openPage } from './browser.mjs';
import { betweenGames, GAME, playingTable, preparingPhase } from './house.mjs';

const HAND = ['2C', '5H', '6H', '7H', '9D', 'KS', 'QD', '4S', 'JC', '3D', 'TS', '8C'];
const game = (event) => ({ type: 'game', event });
const drawn = { hand: [...HAND, 'AC'], phase: { type: 'play', seat: 0 }, counts: [13, 12, 12], stock: 13, legal: [{ type: 'dump', card: 'AC' }] };
const before = { hand: HAND, phase: { type: 'draw', seat: 0, fight_blocked: false }, counts: [12, 12, 12], stock: 14, discards: ['8H'],
  legal: [{ type: 'draw' }, { type: 'chow', cards: ['6H', '7H'] }] };
const chowed = { hand: HAND.filter((card) => card !== '6H' && card !== '7H'), phase: { type: 'play', seat: 0 }, counts: [10, 12, 12], stock: 14,
  melds: [{ owner: 0, cards: ['8H', '6H', '7H'], by: [['8H', '6H', '7H'], [], []] }], legal: [{ type: 'dump', card: 'KS' }] };
const settlement = {
  winner: 0, pot: { seat: 0, amount: 600 }, fees: [{ seat: 0, gross: 800, fee: 40 }],
  payments: [1, 2].map((from) => ({ from, to: 0, owed: 400, paid: 400, items: [{ name: 'normal', rule: '6.1', counts: 1 }] })),
};

/** The moves: the tables before and after, and the elements that exist afterwards. */
export const MOVES = {
  deal: [betweenGames({ phase: preparingPhase([0], 60_000) }), [
    { type: 'opened', game: GAME, stakes: [1400, 1400, 1400], pot: 300, starter: 0 },
    game({ type: 'dealt', starter: 0, hands: [HAND, null, null], counts: [12, 12, 12], stock: 14 })], playingTable(before), '.rack [data-card="KS"]'],
  draw: [playingTable(before), [game({ type: 'drawn', seat: 0, auto: false, card: 'AC' })], playingTable(drawn), '.rack [data-card="AC"]'],
  chow: [playingTable(before), [game({ type: 'chowed', seat: 0, discard: '8H', cards: ['6H', '7H'] })], playingTable(chowed), '.meld [data-flies="8H"]'],
  win: [playingTable(chowed), [{ type: 'over', game: GAME, settlement, server_seed: '00'.repeat(32) }],
    betweenGames({ phase: { type: 'settling', game: GAME, settlement } }), '.ending'],
};

const COMPOSITED = new Set(['transform', 'opacity']);
/** Keyframe entries that are no properties. */
const NO_PROPERTY = ['offset', 'computedOffset', 'easing', 'composite'];

/** Longer animations are clocks. */
const FLIGHT_MS_MAX = 1000;

/** Waits until nothing flies any more. */
export function waitUntilStill(page) {
  return page.waitForFunction((max) => !document.getAnimations().some((one) => one.playState === 'running'
    && Number(one.effect.getComputedTiming().activeDuration) < max), FLIGHT_MS_MAX);
}

/** Records the animated properties of everything that runs from here on. */
function recordProperties(page, no) {
  return page.evaluate((apart) => {
    const seen = globalThis.moved = new Map();
    const look = () => {
      for (const one of document.getAnimations()) {
        const properties = one.effect.getKeyframes().flatMap((frame) => Object.keys(frame));
        const name = `${one.constructor.name} of ${one.effect.target.getAttribute('class')}`;
        seen.set(name, [...new Set(properties)].filter((property) => !apart.includes(property)));
      }
      requestAnimationFrame(look);
    };
    look();
  }, no);
}

export const MOTION = {
  async 'animations run on the compositor'({ house }) {
    for (const [name, [from, events, to, shown]] of Object.entries(MOVES)) {
      house.scene = from;
      const { context, page } = await openPage(house.browser, house.url, house.mistakes, { still: false });
      await page.goto(`${house.url}/play`);
      await page.locator('main.table .hand').first().waitFor();
      await recordProperties(page, NO_PROPERTY);
      house.tell(events, to);
      await page.locator(shown).waitFor();
      await waitUntilStill(page);
      const moved = await page.evaluate(() => [...globalThis.moved]);
      assert.ok(moved.some(([what]) => what.startsWith('Animation of')), `${name}: nothing has moved: ${JSON.stringify(moved)}`);
      const wrong = moved.filter(([, properties]) => properties.some((property) => !COMPOSITED.has(property)));
      assert.deepEqual(wrong, [], name);
      await context.close();
    }
  },
};
