// The jobs of an operator at the desk, each with the clicks and page loads that it may take.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const amount = (text) => Math.round(100 * Number(text.replaceAll(',', '')));

/**
 * Returns a function that does a job of an operator. The job begins at a path, and must take no more clicks and page
 * loads than it may.
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
  };
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
 */
export async function doJobs({ page, job }, colleague, check) {
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

  let change;
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
  });
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
    await page.getByRole('status', { name: 'Alerts' }).getByRole('link', { name: '1 report to decide' }).click();
    await heading('Reports');
    const report = page.getByRole('row').filter({ hasText: 'They tell each other their cards.' });
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
    await request.getByLabel('Coins').fill('1.00');
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
  await job('the transfers of a month', '/desk/transfers', { clicks: 1, loads: 1 }, async () => {
    await page.getByRole('link', { name: 'This month' }).click();
    await page.waitForURL(/from=/);
  });
  await job('a new colleague', '/desk/operators', { clicks: 1, loads: 1 }, async () => {
    await page.getByLabel('Name', { exact: true }).fill('bago.na');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await heading('Enrolment of an operator');
  });
  // The way back from an answer is the page of its form.
  await page.goBack();
  await heading('Operators');
  await job('another role', '/desk/operators', { clicks: 1, loads: 1 }, async () => {
    const colleague = page.getByRole('row').filter({ hasText: 'bago.na' });
    await colleague.getByLabel('Role of bago.na').selectOption('support');
    await colleague.getByRole('button', { name: 'Change role' }).click();
    await colleague.getByRole('cell', { name: 'support', exact: true }).waitFor();
  });
}
