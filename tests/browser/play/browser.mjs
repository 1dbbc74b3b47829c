// Chromium for the tests of the game: pages whose console messages are mistakes, and the findings of axe.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const PHONE = { width: 390, height: 844 };
export const SIDEWAYS = { width: 844, height: 390 };
export const DESKTOP = { width: 1440, height: 900 };

export function launch(executablePath, sandbox) {
  return chromium.launch({
    executablePath,
    chromiumSandbox: sandbox === 'sandbox',
    args: ['--disable-dev-shm-usage'],
  });
}

/**
 * Returns a page in a browser context of its own for one player; all its complaints go to `mistakes`. With
 * `first`, the offers of a first visit are shown and the service worker runs; otherwise neither interferes.
 */
export async function openPage(browser, url, mistakes, { viewport = PHONE, still = true, language = 'en-US', first = false } = {}) {
  const context = await browser.newContext({
    viewport, locale: language, reducedMotion: still ? 'reduce' : 'no-preference', hasTouch: viewport.width < 900,
    serviceWorkers: first ? 'allow' : 'block',
  });
  if (!first) {
    await context.addInitScript(() => {
      if (!location.protocol.startsWith('http')) return;
      const kept = JSON.parse(localStorage.getItem('bahay.settings') ?? '{}');
      localStorage.setItem('bahay.settings', JSON.stringify({ soundAsked: true, ...kept }));
    });
  }
  await context.addInitScript(echoScenes);
  const page = await context.newPage();
  recordMistakes(page, url, mistakes);
  return { context, page };
}

/** Lets a page return each `echo` of the house once all earlier messages are drawn. The client does not see these messages. */
function echoScenes() {
  const Socket = WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', (event) => {
        if (typeof event.data !== 'string' || !event.data.startsWith('{"type":"echo"')) return;
        event.stopImmediatePropagation();
        requestAnimationFrame(() => setTimeout(() => { if (this.readyState === Socket.OPEN) this.send(event.data); }));
      });
    }
  };
}

/** Records console messages, page errors and requests to other hosts as mistakes. */
export function recordMistakes(page, url, mistakes) {
  page.on('console', (said) => {
    // The browser itself logs failures while the network is cut, and each refusal of the house.
    const own = /ERR_INTERNET_DISCONNECTED|ERR_CONNECTION|WebSocket connection|status of 4\d\d/;
    if (said.type() === 'error' && !own.test(said.text())) {
      mistakes.push(`${page.url()}: ${said.text()}`);
    }
  });
  page.on('pageerror', (error) => mistakes.push(`${page.url()}: ${error.stack ?? error}`));
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.protocol !== 'data:' && to.host !== new URL(url).host) mistakes.push(`${page.url()} asks ${request.url()}`);
  });
}

/**
 * Returns whether no colour or opacity is in transition, as a fading element has no contrast yet. Countdowns
 * and endless animations are ignored.
 */
function isPainted() {
  return document.getAnimations().every((animation) => {
    const ends = animation.effect?.getComputedTiming().endTime;
    if (animation.playState !== 'running' || !Number.isFinite(ends)) return true;
    const changed = animation.effect.getKeyframes().flatMap((frame) => Object.keys(frame));
    return !changed.some((property) => /opacity|color|background|filter/i.test(property));
  });
}

/** Returns all findings of axe, of any impact. */
export async function findings(page) {
  await page.waitForFunction(isPainted);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(' ').slice(0, 400)}`);
}

/** Returns elements wider than the screen, scrolling parts of the table, and overlapping seats. */
export async function findOverflows(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
    const wrong = [];
    if (scrollWidth > clientWidth) wrong.push(`wide: ${scrollWidth} of ${clientWidth}`);
    if (scrollHeight > clientHeight) wrong.push(`high: ${scrollHeight} of ${clientHeight}`);
    for (const one of document.querySelectorAll('.table .act, .table .slot, .table .meld, .table .seat, .table .pile, .table .say, .table .ta-piece, .table .ta-step')) {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      if (left < -2 || right > innerWidth + 2 || top < -2 || bottom > innerHeight + 2) {
        wrong.push(`${one.className}: ${[left, top, right, bottom].map(Math.round)}`);
      }
    }
    const seats = [...document.querySelectorAll('.table .seat')].map((one) => one.getBoundingClientRect());
    const over = (one, other) => one.left < other.right - 2 && other.left < one.right - 2 && one.top < other.bottom - 2 && other.top < one.bottom - 2;
    if (seats.some((one, at) => seats.slice(at + 1).some((other) => over(one, other)))) wrong.push('seats lie over one another');
    return wrong;
  });
}
