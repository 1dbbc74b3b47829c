// Tests of playing without seeing the table: the accessibility tree that Chromium gives a screen reader, and
// the keyboard. Nothing here reads the page itself.
import assert from 'node:assert/strict';
import { ASSETS_LOOKS } from './assets.mjs';
import { focusedNode, waitForNode, tabTo, accessibilityTree } from './ear.mjs';
import { playingTable } from './house.mjs';
import { OPTIONS_LOOKS } from './options.mjs';

const HAND = ['2C', '5H', '6H', '7H', '9D', 'KS'];

/** Checks that every focusable node has a name, and that every disabled one gives a reason. */
async function assertAllNamed(cdp) {
  const all = await accessibilityTree(cdp);
  const nameless = all.filter((one) => one.focusable && one.role !== 'RootWebArea' && one.name.trim() === '');
  assert.deepEqual(nameless, []);
  const images = all.filter((one) => one.role === 'image' && one.name.trim() === '');
  assert.deepEqual(images, []);
}

export const LISTENING = {
  async 'a turn of Tong-its is announced, and played by the keyboard alone'({ house, page, context }) {
    const cdp = await context.newCDPSession(page);
    const melds = [{ owner: 1, cards: ['8S', '9S', 'TS'], by: [[], ['8S', '9S', 'TS'], []] }];
    const drawn = playingTable({ hand: [...HAND, 'AC'], phase: { type: 'play', seat: 0 }, melds, legal: [{ type: 'dump', card: '9D' }, { type: 'dump', card: 'AC' }] });
    const dumped = playingTable({ hand: HAND.filter((card) => card !== '9D').concat('AC'), phase: { type: 'draw', seat: 1, fight_blocked: false }, melds, discards: ['9D'], counts: [6, 10, 9] });
    house.follow = (said) => {
      if (said.type !== 'act') return null;
      if (said.action.type === 'draw') return { events: [{ type: 'game', event: { type: 'drawn', seat: 0, auto: false, card: 'AC' } }], scene: drawn };
      return { events: [{ type: 'game', event: { type: 'dumped', seat: 0, card: '9D' } }], scene: dumped };
    };
    await house.show(playingTable({ hand: HAND, phase: { type: 'draw', seat: 0, fight_blocked: false }, melds, legal: [{ type: 'draw' }] }));
    await waitForNode(cdp, 'status', /Your turn: draw/);
    await waitForNode(cdp, 'button', /^Benjie.*8 of spades.*10 of spades|8.*spades/i);
    await assertAllNamed(cdp);
    const chow = await waitForNode(cdp, 'button', /^Chow/);
    assert.ok(chow.disabled && chow.name.replace(/^Chow/, '').trim() !== '', `why there is nothing to chow: ${chow.name}`);
    await tabTo(page, cdp, 'button', /^Draw from the stock/);
    await page.keyboard.press('Enter');
    assert.deepEqual((await house.next('act')).action, { type: 'draw' });
    await waitForNode(cdp, 'listitem', /ace of clubs/i);
    await waitForNode(cdp, 'status', /then dump one/);
    // The focused button is gone; Tab leads to the hand from anywhere.
    let card = await tabTo(page, cdp, 'option', /./);
    for (let step = 0; step < HAND.length && !/9 of diamonds/i.test(card.name); step += 1) {
      await page.keyboard.press('ArrowRight');
      card = await focusedNode(cdp);
    }
    assert.match(card.name, /9 of diamonds/i);
    await page.keyboard.press('Enter');
    await waitForNode(cdp, 'button', /^Dump 9♦/);
    assert.equal((await focusedNode(cdp)).selected, true);
    await tabTo(page, cdp, 'button', /^Dump 9♦/);
    await page.keyboard.press('Enter');
    assert.deepEqual((await house.next('act')).action, { type: 'dump', card: '9D' });
    await waitForNode(cdp, 'button', /^Discard: 9 of diamonds/i);
    assert.equal((await accessibilityTree(cdp)).filter((one) => one.role === 'status' && /Your turn|then dump/.test(one.text)).length, 0, 'it is the turn of another one');
  },

  async 'both Tongo games announce the table and the prompt'({ house, page, context }) {
    const cdp = await context.newCDPSession(page);
    for (const [name, scene] of [...ASSETS_LOOKS, ...OPTIONS_LOOKS]) {
      await house.show(scene);
      await page.locator('main.table').waitFor();
      if (/ready$/.test(name)) continue;
      await page.locator(`main.kind-${scene.view.kind} .acts`).first().waitFor();
      await assertAllNamed(cdp);
      const isAsked = scene.asked === undefined || scene.asked.includes(0);
      if (!isAsked) continue;
      await waitForNode(cdp, 'status', /\w/);
      const shut = (await accessibilityTree(cdp)).filter((one) => one.role === 'button' && one.disabled);
      assert.ok(shut.every((one) => one.name.trim() !== ''), `${name}: ${JSON.stringify(shut)}`);
      const open = (await accessibilityTree(cdp)).filter((one) => one.role === 'button' && !one.disabled);
      await tabTo(page, cdp, 'button', new RegExp(`^${open.at(-1).name.replace(/[^\w ]/g, '.')}`));
    }
  },
};
