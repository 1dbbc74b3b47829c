// The suggestions of players at the desk, in the filter of the settlements and in the search box of every page.
import assert from 'node:assert/strict';

/** A player is suggested while the name is typed, chosen by keys or by a click, and late answers are ignored. */
export async function testSuggestions(page, url, checkPage) {
  await page.goto(`${url}/desk/settlements`);
  const field = page.getByRole('combobox', { name: "Player's name or id" });
  const options = page.getByRole('listbox', { name: 'Players' }).getByRole('option');
  const namesFor = '**/desk/search/names*';
  await field.pressSequentially('alth');
  await options.first().waitFor();
  assert.ok((await options.count()) <= 10);
  assert.match(await options.first().innerText(), /^Althea /);
  assert.equal(await field.getAttribute('aria-expanded'), 'true');
  await page.getByText(/players?\. Choose with the arrow keys\./).waitFor({ state: 'attached' });
  await checkPage(page, 'suggestions of players');
  await page.keyboard.press('ArrowDown');
  const active = await field.getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
  await page.keyboard.press('Escape');
  assert.equal(await options.count(), 0);
  assert.equal(await field.inputValue(), 'alth');
  await field.press('e');
  await options.first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.match(await field.inputValue(), /^(Althea|[0-9a-f-]{36})/);
  assert.equal(await options.count(), 0);
  await page.keyboard.press('Enter');
  await page.waitForURL(/player=/);

  // The answer to the first letters arrives after that to the last ones.
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await page.route(namesFor, async (route) => {
    const isFirst = new URL(route.request().url()).searchParams.get('text') === 'al';
    if (isFirst) await held;
    await route.continue().catch(() => {});
  });
  await field.fill('');
  await Promise.all([
    page.waitForRequest((request) => request.url().endsWith('text=al')),
    field.pressSequentially('al'),
  ]);
  await field.fill('benj');
  await options.first().waitFor();
  assert.match(await options.first().innerText(), /^Benjie /);
  release();
  await page.unrouteAll({ behavior: 'wait' });
  assert.match(await options.first().innerText(), /^Benjie /);

  // The search box opens the page of the player, and keeps working if no suggestion arrives.
  await page.getByRole('combobox', { name: 'Search', exact: true }).pressSequentially('dali');
  await options.first().click();
  await page.waitForURL(/\/desk\/players\/[0-9a-f-]{36}$/);
}
