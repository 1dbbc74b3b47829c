// Somebody who plays Tong-its through the page alone: looks at what is enabled, and touches it.

/** What a player sees. */
export function look(page) {
  return page.evaluate(() => ({
    acts: Object.fromEntries([...document.querySelectorAll('[data-act]')].map((one) => [one.dataset.act, !one.disabled])),
    cards: [...document.querySelectorAll('.rack [data-card]')].map((one) => one.dataset.card),
    lifted: [...document.querySelectorAll('.rack .lifted')].map((one) => one.dataset.card),
    points: Number(/\d+/.exec(document.querySelector('.hand .points')?.textContent ?? '')?.[0] ?? 99),
    ways: document.querySelectorAll('.way').length,
    ready: document.querySelector('.act.ready:not([disabled])') !== null,
    ending: document.querySelector('.ending') !== null,
    table: document.querySelector('main.table') !== null,
  }));
}

/** Waits until there is something to do or the game has ended. */
export async function myTurn(page, ms = 40_000) {
  // In the play phase nothing may be open until a card is lifted.
  await page.waitForFunction(() => document.querySelector('[data-act]:not([disabled])') !== null
    || document.querySelector('.say.urgent') !== null
    || document.querySelector('.way') !== null || document.querySelector('.act.ready:not([disabled])') !== null
    || document.querySelector('.ending') !== null, null, { timeout: ms, polling: 30 });
}

export async function lift(page, card) {
  const at = page.locator(`.rack [data-card="${card}"]`);
  await at.click({ position: { x: 7, y: 18 }, timeout: 4_000 }).catch(async (error) => {
    // The clock may have played it.
    if (await at.count() > 0) throw error;
  });
}

const RANKS = 'A23456789TJQK';

/** Does one thing, and says which. `bold` fights and challenges with more points than others would. */
export async function doOne(page, bold = 12) {
  const seen = await look(page);
  const press = async (name) => {
    await page.locator(`[data-act="${name}"]`).click({ timeout: 5_000 }).catch((error) => {
      // The clock may have been faster.
      if (!/disabled|detached|Timeout/.test(String(error))) throw error;
    });
    return name;
  };
  if (seen.ways > 0) {
    await page.locator('.way').first().click();
    return 'chow_chosen';
  }
  for (const name of ['tongits', 'drop', 'sapaw']) if (seen.acts[name]) return press(name);
  if (seen.acts.challenge) return press(seen.points <= bold ? 'challenge' : 'fold');
  if (seen.acts.fight && seen.points <= bold) return press('fight');
  if (seen.acts.chow) return press('chow');
  if (seen.acts.draw) return press('draw');
  if ('dump' in seen.acts && seen.cards.length > 0) {
    for (const card of seen.lifted) await lift(page, card);
    const high = [...seen.cards].sort((a, b) => Math.min(9, RANKS.indexOf(b[0])) - Math.min(9, RANKS.indexOf(a[0])));
    for (const card of high) {
      await lift(page, card);
      const now = await look(page);
      if (now.acts.dump) return press('dump');
      if (!('dump' in now.acts)) return 'passed';
      if (now.lifted.includes(card)) await lift(page, card);
    }
  }
  return 'nothing';
}

/** Plays until the game has ended; what it did, in order. */
export async function playGame(page, { bold = 12, each = async () => {} } = {}) {
  const done = [];
  for (;;) {
    await myTurn(page);
    const seen = await look(page);
    if (seen.ending || seen.ready) return done;
    const name = await doOne(page, bold);
    done.push(name);
    await each(name, done);
    // Until the answer has come: the page says so by disabling what was sent.
    await page.waitForTimeout(30);
  }
}
