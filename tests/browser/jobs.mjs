// The jobs of an operator at the desk, each with the clicks and page loads that it may take.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const amount = (text) => Math.round(100 * Number(text.replaceAll(',', '')));

/** The size of a phone. */
const PHONE = { width: 390, height: 844 };

/** The longest page on a phone, in screens. */
const SCREENS_MAX = 30;

/**
 * Returns a function that does a job of an operator. The job begins at a path, and must take no more clicks and page
 * loads than it may. On a phone all amounts have to be visible.
 */
export async function createJobs(page, url) {
  const counts = await countActs(page);
  return async (name, path, aim, act) => {
    await page.goto(`${url}${path}`);
    Object.assign(counts, { clicks: 0, loads: 0 });
    await act();
    const { clicks, loads } = counts;
    assert.ok(clicks <= aim.clicks && loads <= aim.loads,
      `${name}: ${clicks} clicks and ${loads} loads instead of ${aim.clicks} and ${aim.loads}`);
    if (page.viewportSize().width === PHONE.width) await checkPhone(page, name);
  };
}

/** Checks that no amount of a page is beyond the sides of a phone, and that the page is not endless. */
async function checkPhone(page, name) {
  const { beyond, amounts, screens } = await page.evaluate(() => {
    const cells = [...document.querySelectorAll('main :is(td, dd)')]
      .filter((cell) => cell.checkVisibility() && /^[+\-−]?[\d,]+\.\d\d$/.test(cell.textContent.trim()));
    const isBeyond = (cell) => {
      const { left, right } = cell.getBoundingClientRect();
      return left < 0 || right > document.documentElement.clientWidth;
    };
    const screens = document.documentElement.scrollHeight / window.innerHeight;
    return { beyond: cells.filter(isBeyond).map((cell) => cell.textContent), amounts: cells.length, screens };
  });
  assert.deepEqual(beyond, [], `${name}: amounts beyond the sides of a phone, of ${amounts}`);
  assert.ok(screens <= SCREENS_MAX, `${name}: ${screens.toFixed(1)} screens on a phone`);
}

/** Does jobs on a phone. */
export async function onPhone(pages, act) {
  const sizes = pages.map((page) => page.viewportSize());
  await Promise.all(pages.map((page) => page.setViewportSize(PHONE)));
  await act();
  await Promise.all(pages.map((page, place) => page.setViewportSize(sizes[place])));
}

/**
 * Counts the clicks and page loads of one page. A key that activates a link or a button is a click, too; text that
 * is typed is not.
 */
async function countActs(page) {
  const counts = { clicks: 0, loads: 0 };
  await page.exposeBinding('countClick', () => { counts.clicks += 1; });
  await page.addInitScript(() => {
    document.addEventListener('click', ({ isTrusted }) => isTrusted && globalThis.countClick(), true);
  });
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) counts.loads += 1;
  });
  return counts;
}

/**
 * Does the jobs after games were played today, the first of two operators on `page`. `check` checks a page with axe.
 * `given` holds what is different each time: the words of the reports that are dismissed and upheld, the fee of a room,
 * the amount of a correction, and the name of a new colleague.
 */
export async function doJobs({ page, job, url }, colleague, check, given) {
  const fact = async (name) => amount(await page.locator(`dt:text-is("${name}") + dd`).innerText());
  const settlements = page.getByRole('table', { name: /Settlements/ });
  const search = page.getByRole('combobox', { name: 'Search', exact: true });
  const heading = (name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  await job('the largest settlement of today', '/desk/settlements', { clicks: 2, loads: 2 }, async () => {
    await page.getByRole('link', { name: 'Today', exact: true }).last().click();
    await settlements.getByRole('link', { name: 'Paid', exact: true }).click();
    await page.waitForURL(/order=largest/);
  });
  await settlements.getByRole('row').nth(1).getByRole('link').first().click();
  await heading('Game');
  const player = page.getByRole('table', { name: 'Players' }).getByRole('link').first();
  const name = await player.innerText();
  const id = (await player.getAttribute('href')).split('/').at(-1);
  const game = page.url().split('/').at(-1);
  const ofRoom = await page.locator('dt:text-is("Room") + dd').getByRole('link').getAttribute('href');
  const room = new URL(ofRoom, url).searchParams.get('room');

  await job('a player is found by a part of the id', '/desk/today', { clicks: 0, loads: 1 }, async () => {
    await search.fill(id.slice(0, 18));
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/desk/players/${id}`);
  });
  await job('a game is found by its id', '/desk/rooms', { clicks: 0, loads: 1 }, async () => {
    await search.fill(game);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/desk/games/${game}`);
  });

  const day = new Date().toLocaleDateString('en-CA', {
    timeZone: await page.locator('#alerts').getAttribute('data-zone'),
  });
  let change;
  await job('settlements of a room and a player in a range, and the net', '/desk/settlements', { clicks: 1, loads: 1 }, async () => {
    await page.getByLabel('Room', { exact: true }).selectOption(room);
    await page.getByLabel('From', { exact: true }).fill(day);
    await page.getByLabel('To', { exact: true }).fill(day);
    const field = page.getByRole('combobox', { name: 'Player\'s name or id' });
    await field.pressSequentially(name);
    const option = page.getByRole('listbox', { name: 'Players' }).getByRole('option').filter({ hasText: id.slice(-12) });
    await option.waitFor();
    while (await option.getAttribute('aria-selected') !== 'true') await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.ok([name, id].includes(await field.inputValue()));
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/player=/);
    for (const condition of [`room=${room}`, `from=${day}`, `to=${day}`]) assert.ok(page.url().includes(condition), condition);
    change = await fact('Change of the player\'s coins');
    assert.equal(await fact('Player\'s net without antes') - await fact('Antes paid'), change);
    assert.ok(await settlements.getByText(name).count() > 0);
  });
  // The net is the change of the wallet by these games.
  await page.goto(`${url}/desk/players/${id}/statement?from=${day}&to=${day}`);
  const ofGames = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'game', exact: true }) });
  const ofWallet = (await ofGames.locator('td:nth-child(2)').allInnerTexts()).map(amount);
  assert.equal(ofWallet.reduce((one, other) => one + other, 0), change);
  await job('settlements of a player, and the net', '/desk/settlements', { clicks: 1, loads: 1 }, async () => {
    await page.getByLabel('Player\'s name or id').fill(id);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/player=/);
    change = await fact('Change of the player\'s coins');
    assert.equal(await fact('Player\'s net without antes') - await fact('Antes paid'), change);
  });
  await job('the coins of 24 hours', `/desk/players/${id}`, { clicks: 1, loads: 1 }, async () => {
    await page.getByRole('link', { name: 'Statement of the last 24 hours' }).click();
    await heading('Statement');
    assert.equal(await fact('Opening balance') + await fact('Change'), await fact('Closing balance'));
    const changes = await page.locator('tbody td:nth-child(2)').allInnerTexts();
    const sum = changes.map(amount).reduce((one, other) => one + other, 0);
    assert.equal(sum, await fact('Change'), name);
  });
  await check(page, 'a statement');
  await job('the cause of a payment', `/desk/players/${id}/statement`, { clicks: 2, loads: 2 }, async () => {
    await page.getByRole('table').getByRole('link', { name: 'game', exact: true }).first().click();
    await heading('Game');
    const lines = page.getByRole('table', { name: 'Settlement' });
    assert.match(await lines.innerText(), /pays .*\(rule \d+\.\d+\)/);
    await page.getByRole('link', { name: 'Replay with all hands' }).click();
    await heading('Replay');
    await page.getByText('Seed of the house').waitFor();
    assert.match(await page.locator('main').innerText(), /ends with\s+[\d.]+ (points|chips)/);
  });
  await job('a check of a deal', `/desk/games/${game}/replay`, { clicks: 1, loads: 0 }, async () => {
    await page.getByText('Check it here').click();
    const checks = page.getByRole('table', { name: 'Checks of the deal' });
    await checks.waitFor();
    assert.equal(await checks.getByText('differs').count(), 0);
    assert.ok(await checks.getByText('same').count() >= 3);
  });
  await check(page, 'a checked deal');
  await job('who colludes', '/desk/today', { clicks: 2, loads: 2 }, async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Collusion', exact: true }).click();
    await heading('Collusion');
    const pairs = page.getByRole('table', { name: /Pairs of players/ });
    await pairs.getByRole('row').nth(1).getByRole('link', { name: /games/ }).click();
    const games = page.getByRole('table', { name: /Games together/ });
    assert.ok(await games.getByRole('row').count() > 5);
  });
  await check(page, 'a pair of players');
  await job('a player\'s report', '/desk/today', { clicks: 4, loads: 6 }, async () => {
    await page.getByRole('status', { name: 'Alerts' }).getByRole('link', { name: /reports? to decide/ }).click();
    await heading('Reports');
    const report = page.getByRole('row').filter({ hasText: given.dismissed });
    // The replay shows the moment of the report, which was made in the middle of the game.
    await report.getByRole('link', { name: 'replay', exact: true }).click();
    await heading('Replay');
    const step = page.getByRole('slider');
    await step.waitFor();
    const [shown, last] = [await step.inputValue(), await step.getAttribute('max')].map(Number);
    assert.ok(shown < last, `step ${shown} of ${last}`);
    await page.goBack();
    await report.getByRole('link', { name: 'game', exact: true }).click();
    await heading('Game');
    await page.getByRole('table', { name: 'Settlement' }).waitFor();
    await page.goBack();
    await report.getByLabel('Note').fill('The replay shows no sign of it.');
    await report.getByRole('button', { name: 'Dismiss' }).click();
    await report.waitFor({ state: 'detached' });
  });
  await job('a report that is upheld, and the sanction', '/desk/today', { clicks: 3, loads: 3 }, async () => {
    await page.getByRole('status', { name: 'Alerts' }).getByRole('link', { name: /reports? to decide/ }).click();
    await heading('Reports');
    const report = page.getByRole('row').filter({ hasText: given.upheld });
    const reported = await report.getByRole('cell').nth(3).getByRole('link').getAttribute('href');
    await report.getByLabel('Note').fill('The replay shows it.');
    await report.getByRole('button', { name: 'Uphold' }).click();
    await page.waitForURL(`**${reported}`);
    const mute = page.locator('form', { has: page.getByLabel('Ban or mute', { exact: true }) });
    await mute.getByLabel('Ban or mute', { exact: true }).selectOption('Mute');
    await mute.getByLabel('Duration').selectOption('7 days');
    await mute.getByLabel('Reason').fill('Muted after a report, for the browser tests');
    await mute.getByRole('button').click();
    await page.getByRole('button', { name: 'Lift the mute' }).waitFor();
  });
  await page.getByRole('button', { name: 'Lift the mute' }).click();
  await page.getByRole('button', { name: 'Lift the mute' }).waitFor({ state: 'detached' });
  await job('a month for the accountant', '/desk/settlements', { clicks: 2, loads: 1 }, async () => {
    await page.getByRole('link', { name: 'This month' }).click();
    await page.waitForURL(/from=/);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export all as CSV' }).click();
    const file = await download;
    assert.match(file.suggestedFilename(), /^settlements_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d\.csv$/);
    const lines = readFileSync(await file.path(), 'utf8').trimEnd().split('\r\n').length - 1;
    await page.getByText(`Exported ${lines} ${lines === 1 ? 'line' : 'lines'}.`).waitFor();
  });
  // An export whose connection is lost is not saved.
  await page.route('**/settlements.csv?*', (route) => route.abort());
  await page.getByRole('link', { name: 'Export all as CSV' }).click();
  await page.getByText('The export was interrupted, so nothing was saved.').waitFor();
  await page.unroute('**/settlements.csv?*');
  await job('a ban of three days', `/desk/players/${id}`, { clicks: 1, loads: 1 }, async () => {
    const ban = page.locator('form', { has: page.getByLabel('Ban or mute', { exact: true }) });
    await ban.getByLabel('Ban or mute', { exact: true }).selectOption('Ban');
    await ban.getByLabel('Duration').selectOption('3 days');
    await ban.getByLabel('Reason').fill('Banned for the browser tests');
    const asked = page.waitForEvent('dialog');
    await ban.getByRole('button').click();
    assert.match((await asked).message(), /^Ban: 3 days\. /);
    await page.getByRole('button', { name: 'Lift the ban' }).waitFor();
  });
  await page.getByRole('button', { name: 'Lift the ban' }).click();
  await page.getByRole('button', { name: 'Lift the ban' }).waitFor({ state: 'detached' });
  await job('a request to correct a wallet', `/desk/players/${id}`, { clicks: 2, loads: 2 }, async () => {
    await page.getByRole('link', { name: 'Request an adjustment' }).click();
    const request = page.locator('form', { has: page.getByRole('button', { name: 'Request the adjustment' }) });
    await request.getByLabel('Coins').fill(given.coins);
    await request.getByLabel('Reason').fill('Corrected for the browser tests');
    await request.getByRole('button').click();
    await page.getByText('another operator decides').waitFor();
  });
  await colleague.job('the decision about it', '/desk/today', { clicks: 3, loads: 3 }, async () => {
    const theirs = colleague.page;
    await theirs.getByRole('status', { name: 'Alerts' }).getByRole('link', { name: '1 correction to decide' }).click();
    await theirs.getByRole('link', { name: 'Adjustment' }).click();
    await theirs.getByRole('button', { name: 'Approve and book' }).click();
    await theirs.getByText('Booked as operation').waitFor();
  });
  await job('a change of a room', '/desk/rooms', { clicks: 3, loads: 3 }, async () => {
    await page.locator('a[href="/desk/rooms/tongo-options-newbie"]').click();
    const fee = page.getByLabel('Fee', { exact: true });
    const before = await fee.inputValue();
    await fee.fill(given.fee);
    await page.getByRole('button', { name: 'Preview the change' }).click();
    const changes = page.getByRole('table', { name: 'Changes that wait for your confirmation' });
    const row = changes.getByRole('row').filter({ hasText: 'Fee' });
    assert.match(await row.innerText(), new RegExp(`${before}\\D+${given.fee} %`));
    await page.getByRole('button', { name: 'Confirm the change' }).click();
    await page.getByRole('table', { name: /Revisions/ }).getByText(`→ ${given.fee} %`).first().waitFor();
  });
  // A value beyond the bounds is refused beside its field, and the others stay.
  await page.getByLabel('Fee', { exact: true }).fill('50.01');
  await page.getByLabel('Multiplier', { exact: true }).fill('2');
  await page.getByRole('button', { name: 'Preview the change' }).click();
  await page.locator('.field', { has: page.getByLabel('Fee', { exact: true }) }).locator('.error').waitFor();
  assert.equal(await page.getByLabel('Multiplier', { exact: true }).inputValue(), '2');
  await job('the transfers of a month', '/desk/transfers', { clicks: 1, loads: 1 }, async () => {
    await page.getByRole('link', { name: 'This month' }).click();
    await page.waitForURL(/from=/);
  });
  await job('a new colleague', '/desk/operators', { clicks: 1, loads: 1 }, async () => {
    await page.getByLabel('Name', { exact: true }).fill(given.name);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await heading('Enrolment of an operator');
  });
  // The way back from an answer is the page of its form.
  await page.goBack();
  await heading('Operators');
  await job('another role', '/desk/operators', { clicks: 1, loads: 1 }, async () => {
    const colleague = page.getByRole('row').filter({ hasText: given.name });
    await colleague.getByLabel(`Role of ${given.name}`).selectOption('support');
    await colleague.getByRole('button', { name: 'Change role' }).click();
    await colleague.getByRole('cell', { name: /^(Role )?support$/ }).waitFor();
  });
}

/**
 * Opens every entry of the banner from a page, each in one click, and checks that its page has what it names.
 */
export async function openAlerts({ page, job }, path) {
  const alerts = page.getByRole('status', { name: 'Alerts' }).getByRole('link');
  await page.goto(new URL(path, page.url()).href);
  await alerts.first().waitFor();
  const texts = await alerts.allInnerTexts();
  for (const text of texts) {
    await job(`is anything wrong: ${text}`, path, { clicks: 1, loads: 1 }, async () => {
      const alert = alerts.filter({ hasText: text }).first();
      await alert.waitFor();
      const href = await alert.getAttribute('href');
      await alert.click();
      await page.waitForURL(`**${href}`);
      const { hash } = new URL(page.url());
      if (hash) await page.locator(hash).waitFor();
      assert.equal(await page.getByText('Request refused').count(), 0);
    });
  }
  return texts;
}

/** Does the jobs about a halted table with an open game, which `halt` halts. */
export async function endHalts({ page, job }, halt, check) {
  const alert = page.getByRole('status', { name: 'Alerts' }).getByRole('link', { name: /tables? halted/ });
  const refunds = page.getByRole('table', { name: 'Refunds by player' });
  const sum = async (column) => {
    const cells = await refunds.locator(`tbody td:nth-child(${column})`).allInnerTexts();
    return cells.map(amount).reduce((one, other) => one + other, 0);
  };
  const open = async () => {
    await alert.click();
    await page.getByRole('link', { name: 'Void or release' }).click();
    await refunds.waitFor();
    // Each player has a stake and an ante; the POT is refunded in the same step.
    assert.ok(await sum(3) > 0 && await sum(4) > 0, await refunds.innerText());
    assert.equal(await sum(2) + await sum(3) + await sum(4) + await sum(5), await sum(6));
    await page.getByText('The program has a defect').waitFor();
  };
  await halt();
  await job('the release of a halted table', '/desk/today', { clicks: 3, loads: 3 }, async () => {
    await open();
    await page.getByRole('button', { name: 'Release the table' }).click();
    await page.getByRole('heading', { level: 1, name: 'Table', exact: true }).waitFor();
  });
  await halt();
  await job('the void of a halted table', '/desk/today', { clicks: 3, loads: 3 }, async () => {
    await open();
    await page.getByLabel('Reason').fill('Voided for the browser tests');
    await page.getByRole('button', { name: /^Void the table and refund [\d.,]+$/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Table voided' }).waitFor();
  });
  await check(page, 'a voided table');
}
