// Renders the page's icons and the preview of its links from their SVG with Chromium, into the folder of the
// sources: play/src/icons holds them checked in, with few colours, so that they stay small.
//
// usage: node icons.mjs FOLDER CHROMIUM SANDBOX
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from './browser.mjs';
import { compose } from './picture.mjs';

const [folder, executablePath, sandbox] = process.argv.slice(2);
/** The pictures, each with the part that the drawing fills: launchers cut off the edge of a maskable icon. */
const PICTURES = [
  { name: 'icon-192', svg: 'icon', width: 192, height: 192, part: 1, colours: 24 },
  { name: 'icon-512', svg: 'icon', width: 512, height: 512, part: 1, colours: 24 },
  { name: 'icon-maskable-512', svg: 'icon', width: 512, height: 512, part: 0.82, colours: 24 },
  { name: 'apple-touch-icon', svg: 'icon', width: 180, height: 180, part: 0.92, colours: 24 },
  { name: 'preview', svg: 'preview', width: 1200, height: 630, part: 1, colours: 96 },
];

const browser = await launch(executablePath, sandbox);
for (const { name, svg, width, height, part, colours } of PICTURES) {
  const page = await browser.newPage({ viewport: { width, height } });
  const drawing = readFileSync(join(folder, `${svg}.svg`), 'utf8');
  await page.setContent(`<body style="margin:0;background:#0d4f4a;display:grid;place-items:center;height:100vh">${drawing}</body>`);
  await page.addStyleTag({ content: `svg { width: ${width * part}px; height: ${height * part}px }` });
  const whole = join(tmpdir(), `bahay-${name}-${process.pid}.png`);
  await page.screenshot({ path: whole });
  await page.close();
  await compose(browser, [whole], join(folder, `${name}.png`), { height, gap: 0, colours });
  rmSync(whole);
}
await browser.close();
