// Measures the first hand repeatedly on a running server: prints each, and the median of the times.
//
// usage: node firsthands.mjs URL CHROMIUM SANDBOX [RUNS]
import { launch } from './browser.mjs';
import { firstHand, formatFirstHand } from './firsthand.mjs';

const [url, executablePath, sandbox, runs = '7'] = process.argv.slice(2);
const browser = await launch(executablePath, sandbox);
const mistakes = [];
const times = [];
for (let run = 0; run < Number(runs); run += 1) {
  const hand = await firstHand({ browser, url, mistakes, picture: async () => {} });
  times.push(hand.all);
  console.log(formatFirstHand(hand));
}
await browser.close();
times.sort((one, other) => one - other);
console.log(`the middle one: ${times[Math.floor(times.length / 2)]} ms`);
if (mistakes.length > 0) console.log([...new Set(mistakes)].join('\n'));
