// The tests of the game in a real browser: prepared scenes, then complete games on a real server until a POT
// is won, with the connection cut during a game; the check of the deal; a link opened by a second browser;
// two tabs. Every page is checked with axe, and nothing may be logged on the console. With the last argument,
// pictures of every state are written to that folder.
//
// usage: node main.mjs URL CHROMIUM SANDBOX OPERATOR_TOKEN DIST [PICTURES]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assetsGame } from './assetsgame.mjs';
import { launch } from './browser.mjs';
import { runGames } from './games.mjs';
import { listeningGames } from './listening_games.mjs';
import { checkRefusals } from './refusals.mjs';
import { compose } from './picture.mjs';
import { practiceGame } from './practice.mjs';
import { runScenes } from './stage.mjs';

const [url, executablePath, sandbox, operator, dist, pictures = ''] = process.argv.slice(2);
const began = Date.now();
checkRefusals(join(dist, '../..'));
const browser = await launch(executablePath, sandbox);
const mistakes = [];
if (pictures) mkdirSync(pictures, { recursive: true });

async function picture(page, name) {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

const scenes = await runScenes({ browser, dist, mistakes, picture });
if (pictures) {
  const three = ['table-crowded-phone', 'chow-choice', 'end-won'].map((name) => join(pictures, `${name}.png`));
  await compose(browser, three, join(pictures, 'play.png'));
}
let games = await runGames({ browser, url, operator, mistakes, picture });
games += await assetsGame({ browser, url, operator, mistakes, picture });
games += await practiceGame({ browser, url, mistakes, picture });
games += await listeningGames({ browser, url, operator, mistakes });
await browser.close();
if (mistakes.length > 0) {
  console.error([...new Set(mistakes)].join('\n'));
  process.exit(1);
}
console.log(`${scenes} scenes and ${games} games were played through the page in ${Math.round((Date.now() - began) / 1000)} s`);
