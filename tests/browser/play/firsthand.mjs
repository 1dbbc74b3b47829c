// Measures the bytes and the time until the first hand, on a phone's 4G with a processor slowed fourfold. The
// bytes are bounded, and the time is only reported, because it depends on the machine. The browser delays
// requests but not the messages of a socket, so a relay adds the round trip of both.
import assert from 'node:assert/strict';
import { openPage } from './browser.mjs';
import { relayTo } from './relay.mjs';

const BUDGET_BYTES = 150_000;
/**
 * 4G as Chromium's developers simulate it: a round trip of 60 ms, and a latency of 165 ms for each request.
 */
const ROUND_TRIP_MS = 60;
const LINK = { offline: false, latency: 165 - ROUND_TRIP_MS, downloadThroughput: 9 * 1024 * 1024 / 8 * 0.9, uploadThroughput: 1.5 * 1024 * 1024 / 8 * 0.9 };

/** Opens the page until the first hand, and returns the time and all bytes received. */
export async function firstHand({ browser, url, mistakes, picture }) {
  const relay = await relayTo(url, { delayMs: ROUND_TRIP_MS / 2 });
  const { context, page } = await openPage(browser, relay.url, mistakes, { still: false });
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', LINK);
  await network.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  let bytes = 0;
  network.on('Network.loadingFinished', ({ encodedDataLength }) => { bytes += encodedDataLength; });
  network.on('Network.webSocketFrameReceived', ({ response }) => { bytes += response.payloadData.length; });
  const began = Date.now();
  await page.goto(`${relay.url}/play`);
  await page.locator('.act.huge:not([disabled])').click();
  const touched = Date.now();
  await page.locator('.rack [data-card]').first().waitFor();
  const dealt = Date.now();
  assert.ok(bytes < BUDGET_BYTES, `${bytes} bytes for a first hand`);
  assert.equal(await page.locator('.rack [data-card]').count() >= 12, true);
  await picture(page, 'first-hand');
  await context.close();
  relay.close();
  return { all: dealt - began, touched: dealt - touched, bytes };
}

export function formatFirstHand({ all, touched, bytes }) {
  return `first hand after ${all} ms, of which ${touched} ms from the touch; ${bytes} bytes`;
}
