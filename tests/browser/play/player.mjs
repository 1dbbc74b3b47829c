// A player of Tong-its who uses only the page: reads the enabled buttons, and presses them.

/** Returns what a player sees. */
export function readPage(page) {
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

/** Waits until the player can act or the game has ended. */
export async function waitForTurn(page, ms = 40_000) {
  // In the play phase all buttons may be disabled until a card is lifted.
  await page.waitForFunction(() => document.querySelector('[data-act]:not([disabled])') !== null
    || document.querySelector('.say.urgent') !== null
    || document.querySelector('.way') !== null || document.querySelector('.act.ready:not([disabled])') !== null
    || document.querySelector('.ending') !== null, null, { timeout: ms, polling: 30 });
}

export async function liftCard(page, card) {
  const at = page.locator(`.rack [data-card="${card}"]`);
  await at.click({ position: { x: 7, y: 18 }, timeout: 4_000 }).catch(async (error) => {
    // The clock may have played it.
    if (await at.count() > 0) throw error;
  });
}

const RANKS = 'A23456789TJQK';

/**
 * Performs one action, and returns its name. `bold` is the number of points up to which the player fights and
 * challenges.
 */
export async function performAction(page, bold = 12) {
  const seen = await readPage(page);
  const press = async (name) => {
    await page.locator(`[data-act="${name}"]`).click({ timeout: 5_000 }).catch((error) => {
      // The countdown may have ended before.
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
    for (const card of seen.lifted) await liftCard(page, card);
    const high = [...seen.cards].sort((a, b) => Math.min(9, RANKS.indexOf(b[0])) - Math.min(9, RANKS.indexOf(a[0])));
    for (const card of high) {
      await liftCard(page, card);
      const now = await readPage(page);
      if (now.acts.dump) return press('dump');
      if (!('dump' in now.acts)) return 'passed';
      if (now.lifted.includes(card)) await liftCard(page, card);
    }
  }
  return 'nothing';
}

/** Plays until the game has ended, and returns the actions in order. */
export async function playGame(page, { bold = 12, each = async () => {} } = {}) {
  const done = [];
  for (;;) {
    await waitForTurn(page);
    const seen = await readPage(page);
    if (seen.ending || seen.ready) return done;
    const name = await performAction(page, bold);
    done.push(name);
    await each(name, done);
    // Wait for the answer: the page disables sent actions.
    await page.waitForTimeout(30);
  }
}
