// What it costs to move cards: the deal, a card that is drawn, a chow and a win at a table of Tong-its, on
// a phone whose processor is slowed fourfold, out of the browser's own trace. It prints and holds nothing:
// how many frames a machine presents is also a matter of what else it does. How often styles and layout
// are worked out is not, and a layout that a script waits for is named apart.
//
// usage: node motion.mjs CHROMIUM SANDBOX DIST [RUNS]
import { launch, PHONE, seat } from './browser.mjs';
import { between, GAME, openHouse, playing, preparing } from './house.mjs';

const [executablePath, sandbox, dist, runs = '1'] = process.argv.slice(2);
const HAND = ['2C', '5H', '6H', '7H', '9D', 'KS', 'QD', '4S', 'JC', '3D', 'TS', '8C'];
/** Longer ones are clocks. */
const FLIGHT_MS_MAX = 1000;

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

/** What happens, from which table to which, and what is there afterwards. */
const MOVES = {
  deal: [between({ phase: preparing([0, 1, 2], 60_000) }), [
    { type: 'opened', game: GAME, stakes: [1400, 1400, 1400], pot: 300, starter: 0 },
    game({ type: 'dealt', starter: 0, hands: [HAND, null, null], counts: [12, 12, 12], stock: 14 })], playing(before), '.rack [data-card="KS"]'],
  draw: [playing(before), [game({ type: 'drawn', seat: 0, auto: false, card: 'AC' })], playing(drawn), '.rack [data-card="AC"]'],
  chow: [playing(before), [game({ type: 'chowed', seat: 0, discard: '8H', cards: ['6H', '7H'] })], playing(chowed), '.meld [data-flies="8H"]'],
  win: [playing(chowed), [{ type: 'over', game: GAME, settlement, server_seed: '00'.repeat(32) }],
    between({ phase: { type: 'settling', game: GAME, settlement } }), '.ending'],
};

const browser = await launch(executablePath, sandbox);
const house = await openHouse(dist);
const mistakes = [];
for (const [name, [from, events, to, shown]] of Object.entries(MOVES)) {
  for (let run = 0; run < Number(runs); run += 1) {
    house.scene = from;
    const { context, page } = await seat(browser, house.url, mistakes, { viewport: PHONE, still: false });
    await page.goto(`${house.url}/play`);
    await page.locator('main.table .hand').first().waitFor();
    await still(page);
    const slow = await context.newCDPSession(page);
    await slow.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await browser.startTracing(page, { categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'cc'] });
    house.tell(events, to);
    await page.locator(shown).waitFor();
    await still(page);
    console.log(`${name}: ${told(JSON.parse((await browser.stopTracing()).toString()).traceEvents)}`);
    await context.close();
  }
}
await house.close();
await browser.close();
if (mistakes.length > 0) console.log([...new Set(mistakes)].join('\n'));

/** Waits until nothing flies any more. */
function still(page) {
  return page.waitForFunction((max) => !document.getAnimations().some((one) => one.playState === 'running'
    && Number(one.effect.getComputedTiming().activeDuration) < max), FLIGHT_MS_MAX);
}

/** In words, what a trace holds. */
function told(events) {
  const counts = new Map();
  const threads = new Set(events.filter((one) => one.name === 'thread_name' && one.args.name === 'CrRendererMain').map((one) => `${one.pid}:${one.tid}`));
  const main = events.filter((one) => one.ph === 'X' && threads.has(`${one.pid}:${one.tid}`));
  for (const { name } of events) counts.set(name, (counts.get(name) ?? 0) + 1);
  const scripts = main.filter((one) => one.name === 'FunctionCall' || one.name === 'EvaluateScript');
  const within = (one) => scripts.some((script) => script.tid === one.tid && script.ts <= one.ts && one.ts + one.dur <= script.ts + script.dur);
  const parts = ['UpdateLayoutTree', 'Layout'].map((name) => {
    const found = main.filter((one) => one.name === name);
    const ms = found.reduce((sum, one) => sum + (one.tdur ?? one.dur), 0) / 1000;
    return `${name} ${found.length}, of which ${found.filter(within).length} awaited by scripts, ${ms.toFixed(0)} ms`;
  });
  const longest = Math.max(0, ...main.filter((one) => one.name === 'RunTask').map((one) => (one.tdur ?? one.dur) / 1000));
  return `${parts.join('; ')}; Paint ${main.filter((one) => one.name === 'Paint').length}; longest task ${longest.toFixed(0)} ms of processor; `
    + `frames drawn ${counts.get('DrawFrame') ?? 0}, dropped ${counts.get('DroppedFrame') ?? 0}`;
}
