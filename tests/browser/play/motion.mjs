// Measures the cost of moving cards, from the browser's own trace: the deal, a drawn card, a chow and a win
// at a table of Tong-its, on a phone with a processor slowed fourfold. It prints figures and enforces none,
// because the number of presented frames also depends on the machine's load. The number of style and layout
// computations does not, and layouts forced by a script are reported separately.
//
// usage: node motion.mjs CHROMIUM SANDBOX DIST [RUNS]
import { launch, PHONE, openPage } from './browser.mjs';
import { openHouse } from './house.mjs';
import { MOVES, waitUntilStill } from './moves.mjs';

const [executablePath, sandbox, dist, runs = '1'] = process.argv.slice(2);
const browser = await launch(executablePath, sandbox);
const house = await openHouse(dist);
const mistakes = [];
for (const [name, [from, events, to, shown]] of Object.entries(MOVES)) {
  for (let run = 0; run < Number(runs); run += 1) {
    house.scene = from;
    const { context, page } = await openPage(browser, house.url, mistakes, { viewport: PHONE, still: false });
    await page.goto(`${house.url}/play`);
    await page.locator('main.table .hand').first().waitFor();
    await waitUntilStill(page);
    const slow = await context.newCDPSession(page);
    await slow.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await browser.startTracing(page, { categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'cc'] });
    house.tell(events, to);
    await page.locator(shown).waitFor();
    await waitUntilStill(page);
    console.log(`${name}: ${formatTrace(JSON.parse((await browser.stopTracing()).toString()).traceEvents)}`);
    await context.close();
  }
}
await house.close();
await browser.close();
if (mistakes.length > 0) console.log([...new Set(mistakes)].join('\n'));

/** Returns a trace in words. */
function formatTrace(events) {
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
