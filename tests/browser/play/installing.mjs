// Tests of the installed page: its manifest, a service worker that starts it without a network and stores
// none of the house's answers, and the offer of sound at the first touch.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findings, findOverflows, openPage } from './browser.mjs';
import { playingTable } from './house.mjs';

const HAND = ['2C', '5H', '6H', '9S', 'KS'];
const table = () => playingTable({ hand: HAND, phase: { type: 'play', seat: 0 }, discards: ['TD'], legal: HAND.map((card) => ({ type: 'dump', card })) });

/** Returns the page of a first visit, controlled by its worker. */
async function openInstalled(house) {
  const { context, page } = await openPage(house.browser, house.url, house.mistakes, { first: true });
  page.setDefaultTimeout(30_000);
  house.scene = table();
  await page.goto(`${house.url}/play`);
  await page.locator('.rack [data-card]').first().waitFor();
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  return { context, page };
}

const cachedFiles = (page) => page.evaluate(async () => {
  const all = await Promise.all((await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map((one) => new URL(one.url).pathname)));
  return all.flat();
});

export const INSTALLING = {
  async 'the page is installable'({ house, page }) {
    const { manifest, pictures, preview } = await page.evaluate(async () => {
      const address = document.querySelector('link[rel="manifest"]').href;
      const got = await (await fetch(address)).json();
      const sizes = await Promise.all(got.icons.map(async ({ src }) => {
        const picture = new Image();
        picture.src = src;
        await picture.decode();
        return `${picture.width}x${picture.height}`;
      }));
      const image = new Image();
      image.src = document.querySelector('meta[property="og:image"]').content;
      await image.decode();
      return { manifest: got, pictures: sizes, preview: [image.width, image.height] };
    });
    assert.deepEqual(manifest.icons.map((icon) => icon.sizes), pictures);
    assert.ok(manifest.icons.some((icon) => icon.purpose === 'maskable'));
    assert.deepEqual([manifest.start_url, manifest.scope, manifest.display], ['/play', '/play', 'standalone']);
    assert.deepEqual(preview, [1200, 630]);
  },

  async 'the page starts without a network, and says so'({ house }) {
    const { context, page } = await openInstalled(house);
    const kept = await cachedFiles(page);
    assert.ok(kept.includes('/play') && kept.some((path) => path.startsWith('/play/files/tongits-')), kept.join());
    assert.deepEqual(kept.filter((path) => path.startsWith('/v1')), [], 'answers of the house are not kept');
    house.isDown = true;
    house.cut();
    // During a game the table is shown as it was last known.
    await page.reload();
    await page.getByText('Connection lost. Coming back…').waitFor();
    assert.equal(await page.locator('.rack [data-card]').count(), HAND.length);
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${house.url}/play`);
    await page.getByText('No connection. The page tries again.').waitFor();
    for (const wrong of [...await findOverflows(page), ...await findings(page)]) house.mistakes.push(`offline: ${wrong}`);
    await house.picture(page, 'offline');
    house.isDown = false;
    await page.locator('.rack [data-card]').first().waitFor();
    await context.close();
  },

  async 'files that were never loaded are reported as missing'({ house }) {
    const { context, page } = await openInstalled(house);
    await page.evaluate(async () => { for (const name of await caches.keys()) await caches.delete(name); });
    house.isDown = true;
    house.cut();
    await page.goto(`${house.url}/play`);
    await page.getByText('There is no connection.').waitFor();
    await page.getByRole('link', { name: 'Try again' }).waitFor();
    await house.picture(page, 'offline-page');
    house.isDown = false;
    await context.close();
  },

  async 'a newer page is shown at once, and its worker is updated'({ house }) {
    const { context, page } = await openInstalled(house);
    house.change = (name, text) => name === 'index.html' ? text.replace('name="description" content="', '$&Newer: ')
      : name === 'sw.js' ? text.replace(/const VERSION = '\w+'/, "const VERSION = 'newer'") : text;
    await page.goto(`${house.url}/play`);
    assert.match(await page.evaluate(() => document.head.innerHTML), /content="Newer: /);
    await page.waitForFunction(async () => (await caches.keys()).some((name) => name.endsWith('newer')));
    house.change = null;
    await context.close();
  },

  async 'a server without a worker unregisters it'({ house }) {
    const { context, page } = await openInstalled(house);
    house.change = (name, text) => name === 'index.html' ? text.replace(/<meta name="worker"[^>]*>/, '') : name === 'sw.js' ? null : text;
    await page.goto(`${house.url}/play`);
    await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 0 && (await caches.keys()).length === 0);
    house.change = null;
    await context.close();
  },

  async 'sound is offered at the first touch, once'({ house }) {
    const { context, page } = await openPage(house.browser, house.url, house.mistakes, { first: true });
    house.scene = table();
    await page.goto(`${house.url}/play`);
    await page.locator('.rack [data-card]').first().waitFor();
    assert.equal(await page.getByText('With sound?').count(), 0, 'before a touch there is no sound to offer');
    await page.locator('.rack [data-card="KS"]').click({ position: { x: 7, y: 18 } });
    await page.getByText('With sound?').waitFor();
    await house.picture(page, 'sound-offer');
    for (const wrong of [...await findOverflows(page), ...await findings(page)]) house.mistakes.push(`sound-offer: ${wrong}`);
    await page.getByRole('button', { name: 'No sound' }).click();
    await page.getByText('With sound?').waitFor({ state: 'detached' });
    const kept = await page.evaluate(() => JSON.parse(localStorage.getItem('bahay.settings')));
    assert.deepEqual([kept.sound, kept.soundAsked], [false, true]);
    await context.close();
  },

  async 'the worker has cached its files'({ house }) {
    const dist = house.dist;
    const names = new Set(readdirSync(dist));
    const worker = readFileSync(join(dist, 'sw.js'), 'utf8');
    const shell = JSON.parse(/JSON\.parse\('(.*)'\)/.exec(worker)[1]);
    assert.ok(shell.length > 3);
    assert.deepEqual(shell.filter((name) => !names.has(name)), []);
  },
};
