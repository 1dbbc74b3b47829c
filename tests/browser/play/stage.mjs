// Runs the scenes, each on a table of its own, and the tests of the pages around the table.
import { ASSETS, ASSETS_LOOKS } from './assets.mjs';
import { DESKTOP, findings, findOverflows, PHONE, openPage, SIDEWAYS } from './browser.mjs';
import { betweenGames, openHouse, playingTable, preparingPhase, ME, meld } from './house.mjs';
import { INSTALLING } from './installing.mjs';
import { LEARNING } from './learning.mjs';
import { LEAVING } from './leaving.mjs';
import { LISTENING } from './listening.mjs';
import { LOADING } from './loading.mjs';
import { MANNERS } from './manners.mjs';
import { MOTION } from './moves.mjs';
import { OPTIONS, OPTIONS_LOOKS } from './options.mjs';
import { PAGES } from './pages.mjs';
import { PEOPLE } from './people.mjs';
import { PRACTICE_LOOKS, PRACTISING } from './practice.mjs';
import { SCENES } from './scenes.mjs';
import { TOURNAMENTS } from './tournaments.mjs';

const WAIT_MS = 20_000;

/** Runs the scenes, and returns their number. */
export async function runScenes({ browser, dist, mistakes, picture, only = null }) {
  const house = await openHouse(dist);
  /** Returns the next command of this type. */
  house.next = async (type) => {
    for (const until = Date.now() + WAIT_MS; Date.now() < until;) {
      const at = house.heard.findIndex((said) => said.type === type);
      if (at >= 0) return house.heard.splice(at, 1)[0];
      await new Promise((done) => { setTimeout(done, 10); });
    }
    throw new Error(`no ${type} came; heard ${JSON.stringify(house.heard)}`);
  };
  let played = 0;
  for (const [name, scene] of Object.entries({ ...SCENES, ...PAGES, ...LEAVING, ...MANNERS, ...PRACTISING, ...ASSETS, ...OPTIONS, ...LOADING, ...LISTENING, ...MOTION, ...LEARNING, ...PEOPLE, ...TOURNAMENTS, ...INSTALLING })) {
    if (only && !only.test(name)) continue;
    house.heard.length = 0;
    house.asked.length = 0;
    house.follow = () => null;
    house.isMute = false;
    house.scene = betweenGames({ phase: preparingPhase([0], 60_000) });
    const { context, page } = await openPage(browser, house.url, mistakes);
    page.setDefaultTimeout(WAIT_MS);
    house.picture = picture;
    house.browser = browser;
    house.mistakes = mistakes;
    try {
      await page.goto(`${house.url}/play`);
      await page.locator('main.table').waitFor();
      await scene({ house, page, context });
    } catch (error) {
      await page.screenshot({ path: `scene-${played}.png` }).catch(() => {});
      throw new Error(`${name}: ${error.message}\n${error.stack}`);
    }
    await context.close();
    played += 1;
  }
  if (!only) await checkLayouts({ browser, house, mistakes, picture });
  await house.close();
  return played;
}

const FULL = ['2C', '5H', '6H', '7H', '9H', '7C', '7D', 'KS', 'QD', '4S', 'JC', '3D', 'TS'];

/** Checks the fullest table, and the pages, at three sizes: nothing is cut off, and axe finds nothing. */
async function checkLayouts({ browser, house, mistakes, picture }) {
  const crowded = playingTable({
    hand: ['2C', 'KS', '4S'], phase: { type: 'play', seat: 0 }, discards: ['5C', 'TD', 'QH'], stock: 2, pot: 4200,
    crown: { player: ME, wins: 1 }, counts: [3, 4, 2],
    melds: [meld(1, '8S', '9S', 'TS', 'JS', 'QS'), meld(2, 'KC', 'KD', 'KH'), meld(0, 'AD', 'AC', 'AS'), meld(1, '3C', '3D', '3H', '3S'),
      meld(2, '5D', '6D', '7D', '8D'), meld(0, '9C', 'TC', 'JC', 'QC'), meld(2, '7H', '8H', '9H', 'TH', 'JH')],
    legal: [{ type: 'sapaw', card: 'KS', meld: 1 }, { type: 'dump', card: '2C' }, { type: 'dump', card: '4S' }],
    seats: { 1: { bot: true, name: 'Bot Benjie' }, 2: { name: 'Maria Carmela del Rosario', connected: false, taken_over: true } },
  });
  const dealt = playingTable({ hand: FULL, phase: { type: 'play', seat: 0 }, counts: [13, 12, 12], stock: 15, pot: 300,
    legal: [{ type: 'drop', cards: ['5H', '6H', '7H'] }, ...FULL.map((card) => ({ type: 'dump', card }))] });
  for (const [size, viewport] of [['phone', PHONE], ['sideways', SIDEWAYS], ['desktop', DESKTOP]]) {
    house.scene = dealt;
    const { context, page } = await openPage(browser, house.url, mistakes, { viewport });
    page.setDefaultTimeout(WAIT_MS);
    await page.goto(`${house.url}/play`);
    const looks = [['dealt', dealt], ['crowded', crowded], ['ready', betweenGames({ phase: preparingPhase() })], ...ASSETS_LOOKS, ...OPTIONS_LOOKS, ...PRACTICE_LOOKS];
    for (const [name, scene] of looks) {
      await house.show(scene);
      await page.waitForTimeout(350);
      await picture(page, `table-${name}-${size}`);
      for (const wrong of await findOverflows(page)) mistakes.push(`${name} on ${size}: ${wrong}`);
      for (const finding of await findings(page)) mistakes.push(`${name} on ${size}: ${finding}`);
    }
    house.scene = null;
    const home = await context.newPage();
    await home.goto(`${house.url}/play`);
    await home.locator('.act.huge:not([disabled])').waitFor();
    await home.waitForTimeout(200);
    await picture(home, `home-${size}`);
    for (const wrong of await findOverflows(home)) mistakes.push(`home on ${size}: ${wrong}`);
    for (const finding of await findings(home)) mistakes.push(`home on ${size}: ${finding}`);
    await context.close();
  }
}
