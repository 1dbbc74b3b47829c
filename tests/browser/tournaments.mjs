// Tournaments at the desk: announced from a preset after they were shown in full, cancelled after the amounts were
// shown, requested from a second operator above a guarantee, and repeated by a schedule.
import assert from 'node:assert/strict';

const HERE = '/desk/tournaments';

/**
 * Runs tournaments as an administrator on `page`, with `players` who have coins. `api` calls the API, `check` checks a
 * page with axe.
 */
export async function runTournaments(page, url, api, players, check) {
  await announceAndCancel(page, url, api, players, check);
  await requestAndWithdraw(page, url, check);
  await createSchedule(page, url, check);
}

/** Opens the form of an announcement and fills in the fields that every tournament has. */
async function openForm(page, path, preset, name) {
  await page.goto(path);
  const form = page.locator('form', { has: page.getByRole('button', { name: /^Show the (tournament|schedule) in full/ }) });
  await form.getByLabel('Preset').selectOption(preset);
  await form.getByLabel('Name', { exact: true }).fill(name);
  return form;
}

const show = (form) => form.getByRole('button', { name: /^Show the/ }).click();

async function announceAndCancel(page, url, api, [first, second], check) {
  let form = await openForm(page, `${url}${HERE}/new`, 'arena_hour', 'Friday arena');
  await show(form);
  // An arena needs a start. The refusal keeps the fields.
  await page.getByRole('alert').getByText('Nothing was announced').waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Friday arena');
  await check(page, 'a refused announcement');

  form = await openForm(page, `${url}${HERE}/new`, 'sit_and_go_3', 'Ring of three');
  await form.getByLabel('Buy-in').fill('10');
  await form.getByLabel('Fee').fill('1');
  await form.getByLabel('Payouts').fill('60 40');
  await show(form);
  await page.getByText('as soon as it is full').waitFor();
  await page.getByText('60 40').first().waitFor();
  await check(page, 'an announcement in full');
  await page.getByRole('button', { name: 'Announce this tournament' }).click();
  await page.getByRole('heading', { level: 1, name: 'Ring of three' }).waitFor();
  const path = new URL(page.url()).pathname;
  const id = path.split('/').at(-1);

  const register = (player) => api('PUT', `/v1/tournaments/${id}/entry`, player.access_token, {});
  await register(first);
  await page.reload();
  await page.getByRole('table', { name: 'Standings' }).getByText(first.player.name).waitFor();
  await page.getByText('tournament entry').waitFor();
  await check(page, 'a tournament');
  await page.getByRole('link', { name: 'Signs of collusion', exact: true }).click();
  await page.getByText('Signs are no proof').waitFor();
  await check(page, 'the pairs of a tournament');

  // The amounts are shown before. If they change meanwhile, nothing is cancelled, and the reason is typed again.
  await page.goto(`${url}${path}/cancellation`);
  await page.getByRole('table', { name: 'Amounts by player' }).getByText('11.00').waitFor();
  await register(second);
  const cancel = page.getByRole('button', { name: /^Cancel the tournament and pay/ });
  await page.getByLabel('Reason').fill('Cancelled for the browser tests');
  await cancel.click();
  await page.getByRole('alert').getByText('Nothing was cancelled').waitFor();
  await check(page, 'a cancellation whose amounts have changed');
  assert.match(await cancel.innerText(), /22\.00/);
  await page.getByLabel('Reason').fill('Cancelled for the browser tests');
  await cancel.click();
  await page.getByRole('heading', { level: 1, name: 'Ring of three' }).waitFor();
  await page.getByText('Tournament entry returned').waitFor();
  await check(page, 'a cancelled tournament');
  await page.goto(`${url}${HERE}?state=cancelled`);
  await page.getByRole('link', { name: 'Ring of three' }).waitFor();
}

async function requestAndWithdraw(page, url, check) {
  const form = await openForm(page, `${url}${HERE}/new`, 'sit_and_go_3', 'Large guarantee');
  await form.getByLabel('Guarantee').fill('20000');
  await show(form);
  await page.getByText('require the approval of another operator').waitFor();
  await check(page, 'an announcement that requires approval');
  await page.getByLabel('Reason').fill('Requested for the browser tests');
  await page.getByRole('button', { name: 'Request this tournament' }).click();
  await page.getByText('another operator decides').waitFor();
  await check(page, 'a request for a tournament');
  await page.getByRole('button', { name: 'Withdraw this request' }).click();
  await page.getByText('Withdrawn at').waitFor();
}

async function createSchedule(page, url, check) {
  const form = await openForm(page, `${url}/desk/tournament-schedules/new`, 'arena_hour', 'Every evening');
  await form.getByLabel('Days').fill('friday, sunday');
  await form.getByLabel('Times').fill('20:00 20:30');
  await form.getByLabel('Announced before').fill('1');
  await show(form);
  await page.getByText('On 2 days a week at 20:00, 20:30').waitFor();
  await check(page, 'a schedule in full');
  await page.getByRole('button', { name: 'Create this schedule' }).click();
  const list = page.getByRole('table', { name: /^Schedules/ });
  await list.getByText('Every evening').waitFor();
  await check(page, 'schedules');
  await list.getByRole('button', { name: 'Pause' }).click();
  await list.getByText('paused').waitFor();
  await list.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No entries.').waitFor();
}
