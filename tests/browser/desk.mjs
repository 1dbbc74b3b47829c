// Tests of the desk in a real browser: operators enrol, sign in with their second factor, filter settlements,
// open a game and replay it, request an adjustment and approve it as another operator, and see a table change
// live. Every page is checked with axe, in light and dark and on a phone.
//
// usage: node desk.mjs URL CHROMIUM SANDBOX CODE_OF_ADMIN CODE_OF_FINANCE REDIS_CLI REDIS_SOCKET PID_OF_REDIS
// PID_OF_POSTGRES BINARY [PICTURES], after games were played in the room newbie and in OTHER_ROOMS. With PICTURES,
// a picture of every checked page in each size and colour is written to that folder.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { createJobs, doJobs, endHalts, onPhone, openAlerts } from './jobs.mjs';
import { runOutages } from './outages.mjs';
import { testSuggestions } from './suggestions.mjs';
import { runTournaments } from './tournaments.mjs';

const [url, executablePath, sandbox, codeOfAdmin, codeOfFinance, ...ofServices] = process.argv.slice(2);
const [redisCli, redisSocket, redis, postgres, binary, pictures = ''] = ofServices;
/** The services of the tested server: the programs, and the ids of their processes. */
const services = { redisCli, redisSocket, redis: Number(redis), postgres: Number(postgres), binary };
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const OTHER_ROOMS = [['tongo-options-newbie', 'Tongo (options), Newbie'], ['tongo-assets-newbie', 'Tongo (assets), Newbie']];
/** A step of a replay with the name of one of the demo's players. */
const WHO_DID_WHAT = /^\d+\. (Althea|Benjie|Carmela|Dalisay)( \(the (clock|AI)\))? \S/;
const PASSWORD = 'rain on a tin roof';
const STEP_MS = 30_000;
/** The time within which a page has to display a failure. */
const ALERT_MS = 3_000;

/** Returns the code of a time step (RFC 6238), for a key in base32. */
function totpCode(key, step) {
  const bits = [...key].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'));
  const secret = Buffer.from(bits.join('').match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const at = digest[19] & 15;
  const number = (digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000;
  return String(number).padStart(6, '0');
}

const stepNow = () => Math.floor(Date.now() / STEP_MS);

async function api(method, path, token, body) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
}

const guest = () => api('POST', '/v1/sign-in/guest', null, { device_id: `browser-${randomUUID()}` });

if (pictures) mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({
  executablePath,
  chromiumSandbox: sandbox === 'sandbox',
  args: ['--disable-dev-shm-usage'],
});
const mistakes = [];

/**
 * Returns a page in a browser context of its own for one operator. Every console message and page error is a
 * mistake.
 */
async function openPage() {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on('console', (said) => {
    if (said.type() === 'error') mistakes.push(`${page.url()}: ${said.text()}`);
  });
  page.on('pageerror', (error) => mistakes.push(`${page.url()}: ${error}`));
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.protocol !== 'data:' && to.origin !== new URL(url).origin) {
      mistakes.push(`${page.url()} asks ${request.url()}`);
    }
  });
  page.on('dialog', (dialog) => dialog.accept());
  return page;
}

/** Enrols, signs out, and signs in again with the code after the used one. */
async function enrol(page, name, enrolment) {
  await page.goto(`${url}/desk`);
  await page.getByRole('link', { name: 'Enrol' }).click();
  await page.getByLabel('Enrolment code').fill(enrolment);
  await page.getByRole('button', { name: 'Continue' }).click();
  await checkPage(page, 'enrolment, second step');
  const key = await page.locator('p code').innerText();
  const step = stepNow();
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByLabel('Repeat the password').fill(PASSWORD);
  await page.getByLabel('Code', { exact: true }).fill(totpCode(key, step));
  await page.getByRole('button', { name: 'Enrol' }).click();
  await page.getByText(name).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();

  await signIn(page, name, totpCode(key, step));
  await page.getByText('or the code was used before').waitFor();
  await signIn(page, name, totpCode(key, step + 1));
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  // The cookies are those of the operator session and of the known browser.
  const cookies = await page.context().cookies();
  const kept = cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite]);
  assert.deepEqual(kept, [[true, 'Strict'], [true, 'Strict']]);
}

async function signIn(page, name, shown) {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByLabel('Code', { exact: true }).fill(shown);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Returns the findings that axe rates serious or critical. */
async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} ${nodes.map((node) => node.html).slice(0, 3).join(' ')}`);
}

/** Checks that axe has no serious or critical finding on a page, in light and dark, in three sizes. */
async function checkPage(page, what) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 768, 360]) {
      await page.setViewportSize({ width, height: 800 });
      if (pictures) {
        const name = `${what.replaceAll(/[^a-z0-9]+/gi, '-')}-${colorScheme}-${width}.png`;
        await page.screenshot({ path: join(pictures, name), fullPage: true });
      }
      for (const finding of await findings(page)) {
        mistakes.push(`${what}, ${colorScheme}, ${width} wide: ${finding}`);
      }
      const wide = await page.evaluate(() => {
        const { clientWidth, scrollWidth } = document.documentElement;
        if (scrollWidth <= clientWidth) return null;
        const beyond = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > clientWidth);
        return `${scrollWidth} wide: ${beyond.map((one) => one.outerHTML.slice(0, 80)).slice(0, 3).join(' ')}`;
      });
      if (wide) mistakes.push(`${what} on a screen of ${width} is ${wide}`);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
}

// The canary: a page with known faults must have findings.
const canary = await openPage();
await canary.setContent('<title>bad</title><main><input><p style="color:#ccc;background:#fff">pale</p></main>');
const found = (await findings(canary)).map((finding) => finding.split(' ')[0]).sort();
assert.deepEqual(found, ['color-contrast', 'html-has-lang', 'label']);
await canary.close();

const luz = await openPage();
await luz.goto(`${url}/desk/sign-in`);
await checkPage(luz, 'sign-in');
await luz.goto(`${url}/desk/enrolment`);
await checkPage(luz, 'enrolment');
await enrol(luz, 'ate.luz', codeOfAdmin);
const ben = await openPage();
await enrol(ben, 'kuya.ben', codeOfFinance);

// Settlements are filtered; one is opened, and its game is replayed step by step, by button and by key.
await luz.goto(`${url}/desk/settlements`);
const settlements = luz.getByRole('table', { name: 'Settlements' });
const rows = settlements.getByRole('row').filter({ has: luz.getByText('Newbie', { exact: true }) });
// The list is empty until the settlements are counted.
await rows.first().waitFor();
await checkPage(luz, 'settlements with games');
// A refresh with new content keeps the focus on a link, and on a region of the page.
const readFocus = () => luz.evaluate(() => document.activeElement.href ?? document.activeElement.ariaLabel);
for (const [focusable, news] of [
  [rows.first().getByRole('link').first(), 'A newer list'],
  [luz.getByRole('region', { name: 'Settlements' }), 'The newest list'],
]) {
  await focusable.focus();
  const focused = await readFocus();
  assert.ok(focused);
  await luz.route('**/desk/settlements/live*', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: `${await answer.text()}<p>${news}</p>` });
  });
  await luz.getByText(news).waitFor();
  assert.equal(await readFocus(), focused);
  await luz.unroute('**/desk/settlements/live*');
}
const ending = await rows.first().getByRole('cell').nth(8).innerText();
// A game and one of its endings may have the same name, so the cell is found by its column.
const alike = await rows.filter({ has: luz.locator(`td:nth-child(9):text-is("${ending}")`) }).count();
assert.ok(alike > 0);
await luz.getByLabel('Room', { exact: true }).selectOption('newbie');
await luz.getByLabel('End', { exact: true }).selectOption(ending);
await luz.getByRole('button', { name: 'Show' }).click();
await luz.waitForURL(/ending=/);
await rows.nth(alike - 1).waitFor();
assert.equal(await rows.count(), alike);
assert.equal(await luz.locator('dt:text-is("Games") + dd').innerText(), String(alike));
await luz.getByLabel('Paid at least').fill('99999');
await luz.getByRole('button', { name: 'Show' }).click();
await settlements.getByText('No entries.').waitFor();
await luz.goBack();

// The largest settlement of a day is two clicks away, by the heading of its column, and a search shows the only
// match.
await luz.goto(`${url}/desk/settlements`);
await luz.getByRole('link', { name: 'Today', exact: true }).last().click();
await settlements.getByRole('link', { name: 'Paid', exact: true }).click();
await luz.waitForURL(/order=largest/);
assert.equal(await settlements.getByRole('columnheader', { name: 'Paid' }).getAttribute('aria-sort'), 'descending');
const paid = await settlements.locator('tbody td:nth-child(2)').allInnerTexts();
const amounts = paid.map((text) => Number(text.replaceAll(',', '')));
assert.ok(amounts.length > 1);
assert.deepEqual(amounts, [...amounts].sort((one, other) => other - one));
await checkPage(luz, 'settlements by payments');
await luz.getByRole('combobox', { name: 'Search', exact: true }).fill('tongo-options-new');
await luz.keyboard.press('Enter');
await luz.waitForURL(/\/desk\/rooms\/tongo-options-newbie$/);

await testSuggestions(luz, url, checkPage);

await luz.goto(`${url}/desk/settlements?room=newbie`);
await rows.first().getByRole('link').first().click();
await luz.getByRole('heading', { level: 1, name: 'Game' }).waitFor();
await luz.getByText('verified', { exact: true }).waitFor();
assert.equal(await luz.getByText('differs').count(), 0);
await checkPage(luz, 'a game');
/** Opens the replay of the game. The slider appears when the script has hidden all steps but one. */
async function openReplay() {
  await luz.getByRole('link', { name: 'Replay with all hands' }).click();
  await luz.getByRole('slider').waitFor();
}
await openReplay();
const shownStep = luz.locator('.step:not([hidden])');
assert.match(await shownStep.innerText(), /The deal/);
await luz.getByRole('button', { name: 'Next' }).click();
assert.equal(await shownStep.getAttribute('aria-label'), 'Step 1');
await luz.getByRole('slider').focus();
await luz.keyboard.press('ArrowRight');
assert.equal(await shownStep.getAttribute('aria-label'), 'Step 2');
await luz.keyboard.press('End');
assert.equal(await shownStep.count(), 1);
assert.equal(await shownStep.getAttribute('aria-label'),
  `Step ${await luz.getByRole('slider').getAttribute('max')}`);
// A link of a report selects the step at its time.
await luz.goto(`${luz.url()}?at_ms=${Date.now()}`);
await luz.getByRole('slider').waitFor();
assert.equal(await luz.getByRole('slider').inputValue(), await luz.getByRole('slider').getAttribute('max'));
// Games differ between runs, so the longest run of a suit, of the longest name, is inserted.
await shownStep.locator('p', { hasText: 'discards' }).first().evaluate((row) => {
  const meld = row.cloneNode(true);
  const hand = meld.querySelector('.hand');
  meld.querySelector('.whose').textContent = `${'M'.repeat(20)} meld`;
  hand.replaceChildren();
  for (const rank of ['A', 2, 3, 4, 5, 6, 7, 8, 9, 10, 'J', 'Q', 'K']) {
    const card = document.createElement('b');
    card.className = 'black';
    card.textContent = `${rank}♠`;
    hand.append(card, ' ');
  }
  row.after(meld);
});
await checkPage(luz, 'a replay');
// An operator without the right to see hands is not offered them.
await ben.goto(luz.url().replace(/\/replay.*/, ''));
await ben.getByText('verified', { exact: true }).waitFor();
assert.equal(await ben.getByRole('link', { name: 'Replay with all hands' }).count(), 0);

// The other games have a replay too, with a step for each action and its player.
for (const [room, name] of OTHER_ROOMS) {
  await luz.goto(`${url}/desk/settlements?room=${room}`);
  const game = settlements.getByRole('row').filter({ hasText: name }).first();
  await game.getByRole('link').first().click();
  await luz.getByText('verified', { exact: true }).waitFor();
  assert.equal(await luz.getByText('differs').count(), 0);
  await checkPage(luz, `a game in ${room}`);
  await openReplay();
  const last = Number(await luz.getByRole('slider').getAttribute('max'));
  assert.ok(last > 5, `${room}: ${last} steps`);
  assert.match(await shownStep.innerText(), /The deal/);
  for (let step = 1; step <= last; step += 1) {
    await luz.getByRole('button', { name: 'Next' }).click();
    assert.equal(await shownStep.getAttribute('aria-label'), `Step ${step}`);
    assert.match(await shownStep.getByRole('heading').innerText(), WHO_DID_WHAT);
    if (step === Math.round(last / 2)) await checkPage(luz, `a replay of ${room}`);
  }
}

const [ofLuz, ofBen] = await Promise.all([luz, ben].map(async (page) => ({ page, url, job: await createJobs(page, url) })));
await doJobs(ofLuz, ofBen, checkPage, {
  dismissed: 'Report 1 of the tests', upheld: 'Report 2 of the tests', fee: '6', coins: '1.00', name: 'bago.na',
});
// Every job is done on a phone too.
await onPhone([luz, ben], () => doJobs(ofLuz, ofBen, async () => {}, {
  dismissed: 'Report 3 of the tests', upheld: 'Report 4 of the tests', fee: '5.5', coins: '2.00', name: 'bago.rin',
}));

// One operator requests an adjustment, another approves it, and only then it is booked.
const player = await guest();
const before = (await api('GET', '/v1/me/wallet', player.access_token)).available;
await luz.goto(`${url}/desk/corrections/new`);
await checkPage(luz, 'ask for a correction');
const ask = luz.locator('form', { has: luz.getByRole('button', { name: 'Request the adjustment' }) });
await ask.getByLabel('Player', { exact: true }).fill(randomUUID());
await ask.getByLabel('Coins').fill('12.50');
await ask.getByLabel('Reason').fill('A game was lost to a fault of ours');
await ask.getByRole('button').click();
// A refusal and an ended session lose nothing that was filled in.
await ask.getByRole('alert').getByText('Nothing was changed.').waitFor();
await checkPage(luz, 'a refused form');
// A refusal names the invalid field by its label, and the field has the focus.
await ask.getByLabel('Reason').fill('short');
await ask.getByRole('button').click();
await ask.getByRole('alert').getByText('The field “Reason” is invalid: a reason has 10 to 500 characters').waitFor();
assert.equal(await ask.getByLabel('Reason').getAttribute('aria-invalid'), 'true');
assert.equal(await luz.evaluate(() => document.activeElement.name), 'reason');
await ask.getByLabel('Reason').fill('A game was lost to a fault of ours');
await ask.getByLabel('Player', { exact: true }).fill(player.player.id);
const session = await luz.context().cookies();
await luz.context().clearCookies();
await ask.getByRole('button').click();
await ask.getByRole('link', { name: 'Sign in in a new window' }).waitFor();
await ask.getByRole('button').click();
await ask.getByText('Nobody is signed in').waitFor();
await luz.context().addCookies(session);
await ask.getByRole('button').click();
await luz.getByText('another operator decides').waitFor();
await ben.goto(`${url}/desk/corrections?state=open`);
await ben.getByRole('link', { name: 'Adjustment' }).click();
await checkPage(ben, 'a correction');
await ben.getByRole('button', { name: 'Approve and book' }).click();
await ben.getByText('Booked as operation').waitFor();
const after = (await api('GET', '/v1/me/wallet', player.access_token)).available;
assert.equal(after - before, 1250);

// Seats require an open socket.
async function openSocket(token) {
  const page = await openPage();
  await page.goto(`${url}/play`);
  await page.evaluate((token) => new Promise((resolve, reject) => {
    const address = `${location.origin.replace('http', 'ws')}/v1/play`;
    globalThis.socket = new WebSocket(address, ['bahay.v1', `bahay.token.${token}`]);
    globalThis.socket.onmessage = resolve;
    globalThis.socket.onerror = reject;
  }).then(() => true), token);
  return page;
}

// A table changes while it is viewed, without a reload.
const sockets = [await openSocket(player.access_token)];
const { table } = await api('POST', '/v1/rooms/newbie/seat', player.access_token, {});
await luz.goto(`${url}/desk/tables?room=newbie`);
await luz.getByRole('link', { name: table }).click();
const seats = luz.getByRole('table', { name: 'Seats' });
await seats.getByText(player.player.name).waitFor();
await luz.evaluate(() => { globalThis.wasLoadedOnce = true; });
const second = await guest();
sockets.push(await openSocket(second.access_token));
assert.equal((await api('POST', '/v1/rooms/newbie/seat', second.access_token, {})).table, table);
await seats.locator(`a[href='/desk/players/${second.player.id}']`).waitFor();
assert.equal(await luz.evaluate(() => globalThis.wasLoadedOnce), true);
await checkPage(luz, 'a table');
await ofLuz.job('the end of a table', `/desk/tables/${table}`, { clicks: 2, loads: 2 }, async () => {
  await luz.getByRole('link', { name: 'Void or release this table' }).click();
  await luz.getByLabel('Reason').fill('Voided for the browser tests');
  await luz.getByRole('button', { name: /^Void the table/ }).click();
  await luz.getByRole('heading', { level: 1, name: 'Table voided' }).waitFor();
});

/** Sits three guests down at a table, where a game begins. Returns the table. */
async function startGame() {
  const guests = [await guest(), await guest(), await guest()];
  let table;
  for (const { access_token: token } of guests) {
    const page = await openSocket(token);
    sockets.push(page);
    ({ table } = await api('POST', '/v1/rooms/newbie/seat', token, {}));
    // The player gets ready when a game is prepared, and plays nothing.
    await page.evaluate(() => {
      let id = 0;
      const send = (command) => globalThis.socket.send(JSON.stringify({ id: ++id, ...command }));
      globalThis.socket.onmessage = ({ data }) => {
        const game = /"type":"preparing"[^{}]*?"game":"([0-9a-f-]{36})"/.exec(data)?.[1];
        if (game) send({ type: 'ready', game });
      };
      send({ type: 'join' });
    });
  }
  await luz.goto(`${url}/desk/tables/${table}`);
  await luz.locator('dt:text-is("State") + dd').getByText('playing').waitFor();
  return table;
}

/** Halts a table in the live store, as a defect of the program does. */
async function haltTable(table) {
  const redis = (...words) => execFileSync(services.redisCli, ['-s', services.redisSocket, ...words], { encoding: 'utf8' });
  const [head] = redis('--scan', '--pattern', `*${table}*head`).trim().split('\n');
  const [, shard] = /^(.*\{s\d+\}:)/.exec(head);
  redis('hset', head, 'halted', 'panic: a defect for the browser tests');
  redis('sadd', `${shard}halted`, table);
}

const game = await startGame();
await endHalts(ofLuz, () => haltTable(game), checkPage);
const anotherGame = await startGame();
await onPhone([luz], () => endHalts(ofLuz, () => haltTable(anotherGame), async () => {}));

await runTournaments(luz, url, api, [await guest(), await guest()], checkPage);

// The keyboard alone reaches the content and a link.
await luz.goto(`${url}/desk/rooms`);
await luz.keyboard.press('Tab');
assert.equal(await luz.evaluate(() => document.activeElement.textContent), 'Skip to the content');
await luz.keyboard.press('Enter');
assert.equal(await luz.evaluate(() => document.activeElement.id), 'main');

// A player is muted on its page, and unmuted.
await luz.goto(`${url}/desk/players/${player.player.id}`);
const bar = luz.locator('form', { has: luz.getByLabel('Ban or mute', { exact: true }) });
await bar.getByLabel('Ban or mute', { exact: true }).selectOption('Mute');
await bar.getByLabel('Duration').selectOption('1 day');
await bar.getByLabel('Reason').fill('Muted for the browser tests');
await bar.getByRole('button').click();
await luz.getByRole('button', { name: 'Lift the mute' }).waitFor();
await checkPage(luz, 'a muted player');
// One sanction is lifted from the list of those in force, after a question.
await luz.goto(`${url}/desk/sanctions`);
await checkPage(luz, 'a sanction in force');
const lift = luz.getByRole('button', { name: `Lift this mute of ${player.player.name}`, exact: true });
const lifting = luz.waitForEvent('dialog');
await lift.click();
assert.match((await lifting).message(), /^Lift this mute of .*\? Others of the player stay in force\.$/);
await lift.waitFor({ state: 'detached' });
await luz.goto(`${url}/desk/players/${player.player.id}`);
await bar.getByLabel('Ban or mute', { exact: true }).selectOption('Mute');
await bar.getByLabel('Duration').selectOption('1 day');
await bar.getByLabel('Reason').fill('Muted again for the browser tests');
await bar.getByRole('button').click();
await luz.getByRole('button', { name: 'Lift the mute' }).click();
await luz.getByRole('button', { name: 'Lift the mute' }).waitFor({ state: 'detached' });

// The house is closed and opened; a player who asks for a seat is refused meanwhile.
await luz.goto(`${url}/desk/switches`);
await luz.getByLabel('Reason').fill('Closed for the browser tests');
await luz.getByRole('button', { name: 'Close the house' }).click();
await luz.getByRole('button', { name: 'Open the house' }).waitFor();
const third = await guest();
const headers = { authorization: `Bearer ${third.access_token}` };
// Every page says so within three seconds, and that the server does not answer.
const alerts = ben.getByRole('status', { name: 'Alerts' });
await ben.goto(`${url}/desk/ledger`);
await alerts.getByRole('link', { name: 'The house is closed' }).waitFor({ timeout: ALERT_MS });
await checkPage(ben, 'an alert');
const named = await openAlerts(ofBen, '/desk/ledger');
assert.ok(named.includes('The house is closed'), `${named}`);
await onPhone([ben], () => openAlerts(ofBen, '/desk/today'));
await ben.goto(`${url}/desk/ledger`);
const connection = ben.getByRole('alert').filter({ hasText: 'The server has not answered' });
// The time of the last answer is the server's, also in a browser whose clock is wrong.
await ben.clock.setFixedTime(new Date('2001-02-03T04:05:06Z'));
await ben.reload();
await alerts.getByRole('link', { name: 'The house is closed' }).waitFor({ timeout: ALERT_MS });
await ben.route('**/desk/alerts', () => {});
await connection.waitFor({ timeout: ALERT_MS });
const [shownTime] = (await connection.innerText()).match(/\d\d:\d\d:\d\d/);
const timeZone = await alerts.getAttribute('data-zone');
const serverTimes = [0, 1, 2, 3, 4, 5, 6].map((ago) =>
  new Date(Date.now() - 1000 * ago).toLocaleTimeString('en-GB', { timeZone }));
assert.ok(serverTimes.includes(shownTime), `${shownTime}, not one of ${serverTimes}`);
await checkPage(ben, 'a lost connection');
await ben.unroute('**/desk/alerts');
await connection.waitFor({ state: 'hidden' });
await ben.clock.setSystemTime(Date.now());
const refused = await fetch(`${url}/v1/rooms/newbie/seat`, { method: 'POST', headers });
assert.equal((await refused.json()).code, 'room_closed');
const pages = ['today', 'today/compare', 'settlements', 'players', `players/${player.player.id}`, 'reports', 'sanctions',
  'collusion', 'ledger', 'search', 'transfers', 'rooms', 'rooms/newbie', 'tables', 'tournaments', 'tournaments/new',
  'tournament-requests', 'tournament-schedules', 'tournament-schedules/new', 'corrections', 'switches', 'operators',
  'jobs', 'token', 'audit'];
for (const path of pages) {
  await luz.goto(`${url}/desk/${path}`);
  const alert = luz.getByRole('status', { name: 'Alerts' }).getByRole('link', { name: 'The house is closed' });
  await alert.waitFor({ timeout: ALERT_MS });
}
await luz.goto(`${url}/desk/switches`);
await luz.getByRole('button', { name: 'Open the house' }).click();
await luz.getByRole('button', { name: 'Close the house' }).waitFor();

for (const path of pages) {
  const answer = await luz.goto(`${url}/desk/${path}`);
  assert.equal(answer.status(), 200, path);
  const bytes = (await answer.body()).length;
  assert.ok(bytes < 200_000, `${path} has ${bytes} bytes`);
  await checkPage(luz, path);
}
assert.ok((await luz.getByRole('table').innerText()).includes('Correction approved'));

// A table with all rows is sorted by any column, in both directions.
await luz.goto(`${url}/desk/transfers?from=2020-01-01`);
const purposes = luz.getByRole('table', { name: 'Transfers by purpose', exact: true });
const sortedBy = async (column, place) => {
  await purposes.getByRole('button', { name: column, exact: true }).click();
  return purposes.locator(`tbody td:nth-child(${place})`).allInnerTexts();
};
const numbers = (await sortedBy('Coins', 2)).map((text) => Number(text.replaceAll(',', '')));
assert.ok(numbers.length > 2);
assert.deepEqual(numbers, numbers.toSorted((one, other) => other - one));
assert.equal(await purposes.getByRole('columnheader', { name: 'Coins' }).getAttribute('aria-sort'), 'descending');
const names = await sortedBy('Purpose', 1);
assert.deepEqual(names, names.toSorted((one, other) => one.localeCompare(other)));
assert.deepEqual(await sortedBy('Purpose', 1), names.toReversed());
assert.equal(await purposes.locator('[aria-sort]').count(), 1);

// On a phone the amount beside the name or the time is visible.
await luz.setViewportSize({ width: 390, height: 844 });
for (const [path, name] of [
  ['corrections', /^Corrections/], ['rooms', /^Rooms/], ['tournaments', /^Tournaments/], ['ledger', /^Transfers of operation/],
  ['transfers?from=2020-01-01', /^Transfers by purpose$/], ['settlements', /^Settlements/],
]) {
  await luz.goto(`${url}/desk/${path}`);
  const amount = luz.getByRole('table', { name }).first().locator('tbody tr').first().locator('td.number').first();
  const { x, width } = await amount.boundingBox();
  assert.ok(x + width <= 390, `${path}: the amount ends at ${x + width}`);
}
await luz.setViewportSize({ width: 1280, height: 800 });

// The trial balance of many accounts is loaded after the page of the ledger.
await luz.route(`${url}/desk/ledger`, async (route) => {
  const answer = await route.fetch();
  const part = '<div id="slow" data-load="/desk/ledger/trial-balance" role="status"><a href="/desk">Add up</a></div>';
  await route.fulfill({ response: answer, body: (await answer.text()).replace('<h2>Trial balance</h2>', `$&${part}`) });
});
await luz.goto(`${url}/desk/ledger`);
await luz.locator('#slow').getByText('adds up').waitFor();
await luz.unroute(`${url}/desk/ledger`);

// A page that a role may not see is refused as a page, and foreign forms are refused.
assert.equal((await ben.goto(`${url}/desk/audit`)).status(), 403);
await checkPage(ben, 'a refusal');

await Promise.all(sockets.map((socket) => socket.close()));
await runOutages(ben, url, services, ALERT_MS);
await browser.close();
// The browser logs refusals on the console.
const logged = [
  /status of (401|403|404)/,
  // A cancellation whose amounts have changed, and fields that are invalid.
  /\/cancellation: \D+409/,
  /\/desk\/(corrections\/new|rooms\/\S+): \D+422/,
  // The export that a job interrupts, and the answers during outages.
  /\/desk\/settlements\S*: Failed to load resource: net::ERR_FAILED/,
  /\/desk\/ledger: \D+503/,
];
const unexpected = mistakes.filter((mistake) => !logged.some((expected) => expected.test(mistake)));
assert.deepEqual(unexpected, []);
console.log(`the desk was used by two operators, and ${pages.length + 21} pages are fit for everybody`);
