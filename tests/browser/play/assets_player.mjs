// A player of Tongo (assets) who uses only the page: reads the enabled buttons, and presses them.

/** Returns what a player sees. */
export function readPage(page) {
  return page.evaluate(() => ({
    acts: Object.fromEntries([...document.querySelectorAll('[data-act]')].map((one) => [one.dataset.act, !one.disabled])),
    hand: [...document.querySelectorAll('.ta-hand .ta-row [data-card]')].map((one) => one.dataset.card),
    kept: [...document.querySelectorAll('[data-kept]')].map((one) => one.dataset.kept),
    slots: [...document.querySelectorAll('[data-slot]')].map((one) => Number(one.dataset.slot)),
    tip: document.querySelector('.ta-piece.tip')?.dataset.slot ?? null,
    spare: [...document.querySelectorAll('.ta-hand .ta-row [data-card]:not(.makes)')].map((one) => one.dataset.card),
    chips: Number(document.querySelector('.ta-chips b')?.textContent ?? 0),
    status: document.querySelector('.say-words b:not(:empty)')?.textContent ?? '',
    ready: document.querySelector('.act.ready:not([disabled])') !== null,
    ending: document.querySelector('.ending') !== null,
    out: document.querySelector('.ta-hand.out') !== null,
  }));
}

/** Waits until the player can act or the game has ended. */
export async function waitForTurn(page, ms = 120_000) {
  await page.waitForFunction(() => document.querySelector('.ta-acts [data-act]:not([disabled])') !== null
    || document.querySelector('.act.ready:not([disabled])') !== null
    || document.querySelector('.ending') !== null, null, { timeout: ms, polling: 30 });
}

async function press(page, name) {
  await page.locator(`[data-act="${name}"]`).click({ timeout: 4_000 }).catch((error) => {
    // The countdown may have ended before.
    if (!/disabled|detached|Timeout/.test(String(error))) throw error;
  });
  return name;
}

async function touch(page, what) {
  const at = page.locator(what);
  await at.click({ timeout: 4_000 }).catch(async (error) => {
    // The countdown may have ended the assessment.
    if (await at.count() > 0 && await at.isEnabled()) throw error;
  });
}

/** Presses a button that needs a second press. */
async function pressTwice(page, name) {
  await press(page, name);
  await page.waitForTimeout(30);
  return press(page, name);
}

/** Performs one action, and returns its name. */
export async function performAction(page) {
  const { acts, hand, kept, tip, spare, slots } = await readPage(page);
  for (const name of ['refuse', 'open']) if (acts[name]) return press(page, name);
  if ('done' in acts) {
    if (acts.confront) return pressTwice(page, 'confront');
    const dividend = kept.find((card) => card.startsWith('D'));
    if (dividend) {
      await touch(page, `[data-kept="${dividend}"]`);
      return 'dividend';
    }
    const isFull = hand.length === 7;
    const wanted = tip ?? (isFull ? null : slots[0]?.toString() ?? null);
    if (wanted !== null && (acts.buy || acts.swap || tip !== null)) {
      await touch(page, `[data-slot="${wanted}"]`);
      if (isFull && spare.length > 0) await touch(page, `.ta-hand [data-card="${spare.find((card) => /^\d/.test(card)) ?? spare[0]}"]`);
      const now = (await readPage(page)).acts;
      if (isFull && now.swap) return press(page, 'swap');
      if (now.buy) return press(page, 'buy');
      if (now.swap) return press(page, 'swap');
    }
    if (!isFull && acts.acquire) return press(page, 'acquire');
    return press(page, 'done');
  }
  if (acts.confront) return pressTwice(page, 'confront');
  if (acts.pay) return press(page, 'pay');
  if (acts.retreat) return pressTwice(page, 'retreat');
  return 'nothing';
}

/** Plays until the game has ended, and returns the actions in order. */
export async function playGame(page, { each = async () => {} } = {}) {
  const done = [];
  for (;;) {
    await waitForTurn(page);
    const seen = await readPage(page);
    if (seen.ending || seen.ready) return done;
    done.push(await performAction(page));
    await each(done.at(-1), done);
    // Wait for the answer: the page disables sent actions.
    await page.waitForTimeout(40);
  }
}
