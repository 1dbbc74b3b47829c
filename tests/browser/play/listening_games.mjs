// Complete games by accessibility tree and keyboard alone, one of each kind, against bots on a real server:
// the table is read as names, roles and states, and played with Tab, arrows and Enter. Nothing is looked up
// on the page, and nothing is clicked. Live announcements are queued and short.
import assert from 'node:assert/strict';
import { openPage } from './browser.mjs';
import { focusedNode, waitForNode, tabTo, accessibilityTree } from './ear.mjs';
import { quickRoom } from './games.mjs';

/** The clocks of a room whose AI thinks this long: a screen reader reads one thing after the other. */
const CLOCKS = { prepare_ms: 30_000, think_ms: 400, grace_ms: 15_000, missed_turns_to_takeover: 2, absence_ms: 30_000 };
const room = (id, name, kind, rule_set) =>
  ({ id, settings: { name, kind, rule_set, bet: 100, pot: null, clocks: CLOCKS } });
const ROOMS = [
  room('heard-tongits', 'Heard cards', 'tongits', 'kingdom'),
  room('heard-options', 'Heard floors', 'tongo_options', 'lively'),
  room('heard-assets', 'Heard assets', 'tongo_assets', 'advanced'),
];
const GAME_MS_MAX = 600_000;
const STEPS_MAX = 600;
/** The bounds of one live announcement: sentences of one region, and words of each sentence. */
const SENTENCES_MAX = 3;
const WORDS_MAX = 25;

const OVER = /^(You win!|Nobody wins|.* wins)$/;

/** Plays the games, and returns their number. */
export async function listeningGames({ browser, url, operator, mistakes }) {
  for (const one of ROOMS) await quickRoom(url, operator, one);
  await Promise.all(ROOMS.map((one, at) => wholeGame({ browser, url, mistakes, name: one.settings.name, choose: CHOICES[at] })));
  return ROOMS.length;
}

async function wholeGame({ browser, url, mistakes, name, choose }) {
  const { context, page } = await openPage(browser, url, mistakes);
  const cdp = await context.newCDPSession(page);
  await page.goto(`${url}/play`);
  await waitForNode(cdp, 'button', /^Rooms/);
  await press(page, cdp, 'button', /^Rooms/);
  await press(page, cdp, 'button', new RegExp(`^${name}`));
  const { own, heard } = await play({ page, cdp, name, choose });
  const sums = (await accessibilityTree(cdp)).filter((one) => one.role === 'listitem' && /pays|pay /.test(one.text));
  assert.ok(sums.length > 0, `${name}: who pays whom is said`);
  await press(page, cdp, 'button', /^Check this deal/);
  await waitForNode(cdp, 'dialog', /^The deal is fair/);
  await page.keyboard.press('Escape');
  await press(page, cdp, 'button', /^Leave/);
  await waitForNode(cdp, 'button', /^Rooms/);
  console.log(`${name}: ${own.length} things done by ear and keyboard; read out ${heard.length}, ${heard.reduce((sum, one) => sum + one.split(' ').length, 0)} words`);
  await context.close();
}

async function press(page, cdp, role, like) {
  await tabTo(page, cdp, role, like);
  await page.keyboard.press('Enter');
}

/** Plays until the end is announced; returns the actions and the announcements. */
async function play({ page, cdp, name, choose }) {
  const own = [];
  const heard = [];
  const memory = {};
  let before = [];
  for (const end = Date.now() + GAME_MS_MAX; Date.now() < end && own.length < STEPS_MAX;) {
    const all = await accessibilityTree(cdp);
    const told = announcements(all, name);
    heard.push(...told.filter((text) => !before.includes(text)));
    before = told;
    if (all.some((one) => one.role === 'dialog' && OVER.test(one.name))) return { own, heard };
    const step = choose(all, memory);
    if (!step) {
      await new Promise((done) => { setTimeout(done, 60); });
      continue;
    }
    const isAsked = all.some((one) => one.text !== '' && (one.role === 'status' || one.live === 'polite'));
    assert.ok(isAsked, `${name}: what is asked is said before ${step.like}`);
    if (await performStep(page, cdp, step)) own.push(String(step.like));
  }
  throw new Error(`${name}: no end is heard; done: ${own.slice(-20)}; there is ${JSON.stringify((await accessibilityTree(cdp)).filter((one) => one.name !== '').map((one) => `${one.role} ${one.name}`).slice(-60))}`);
}

/** Performs one action; false if the countdown ended before. */
async function performStep(page, cdp, { role, like, arrows = false }) {
  const isThere = async () => (await accessibilityTree(cdp)).some((one) => one.role === role && !one.disabled && like.test(one.name));
  try {
    if (arrows) {
      await tabTo(page, cdp, role, /./);
      for (let steps = 0; steps < 13 && !like.test((await focusedNode(cdp))?.name ?? ''); steps += 1) await page.keyboard.press('ArrowRight');
      for (let steps = 0; steps < 13 && !like.test((await focusedNode(cdp))?.name ?? ''); steps += 1) await page.keyboard.press('ArrowLeft');
    } else {
      await tabTo(page, cdp, role, like);
    }
  } catch (error) {
    if (await isThere()) throw error;
    return false;
  }
  if (!like.test((await focusedNode(cdp))?.name ?? '')) return false;
  await page.keyboard.press('Enter');
  return true;
}

/** Returns the live announcements as sentences. */
function announcements(all, name) {
  const found = [];
  for (const one of all.filter(({ live, text }) => live && text !== '')) {
    assert.equal(one.live, 'polite', `${name}: interrupts what is read: ${one.text}`);
    const sentences = one.text.split(/(?<=[.!?…])\s+/);
    assert.ok(sentences.length <= SENTENCES_MAX, `${name}: too much at once: ${one.text}`);
    for (const sentence of sentences) {
      assert.ok(sentence.split(' ').length <= WORDS_MAX, `${name}: too long: ${sentence}`);
    }
    found.push(...sentences);
  }
  return found;
}

/** Returns the first of these names that is an enabled action. */
function firstOf(all, names) {
  for (const like of names) {
    if (all.some((one) => one.role === 'button' && !one.disabled && like.test(one.name))) return { role: 'button', like };
  }
  return null;
}

/** Returns whether a button exists, enabled or not. */
const isThere = (all, like) => all.some((one) => one.role === 'button' && like.test(one.name));

/** Returns whether the open dialog contains a match. */
function isInDialog(all, like) {
  return all.some((one) => one.role === 'dialog' && like.test(one.name));
}

function chooseTongits(all, memory) {
  const open = firstOf(all, [/^Ready\b/, /^Take back/, /^Tongits!/, /^Fold\b/, /^Drop [^a-z]*$/, /^Draw\b/]);
  if (open) {
    memory.tried = new Set();
    return open;
  }
  if (!isThere(all, /^Dump\b/)) return null;
  const dump = firstOf(all, [/^Dump\b/]);
  if (dump) {
    memory.tried = new Set();
    return dump;
  }
  const sapaw = memory.mustSapaw && firstOf(all, [/^Sapaw\b.*→|^Sapaw .* to /]);
  if (sapaw) return sapaw;
  const cards = all.filter((one) => one.role === 'option');
  const lifted = cards.find((one) => one.selected);
  if (lifted) {
    // The card may not be dumped, so it goes back.
    (memory.tried ??= new Set()).add(lifted.name);
    return { role: 'option', like: exactPattern(lifted.name), arrows: true };
  }
  const next = cards.find((one) => !(memory.tried ??= new Set()).has(one.name));
  if (!next) {
    memory.tried = new Set();
    memory.mustSapaw = true;
    return null;
  }
  return { role: 'option', like: exactPattern(next.name), arrows: true };
}

function chooseOptions(all, memory) {
  if (isInDialog(all, /^The strongest hand takes/)) {
    return firstOf(all, [/^Acquire floor/, /^Confront /]) ?? { role: 'button', like: /^Close/ };
  }
  const first = firstOf(all, [/^Ready\b/, /^Take back/, /^Stop here/, /^Wager/, /^Stand\b/, /^Join\b/, /^Confront\b/, /^Pay the risk/, /^Turn up/]);
  if (first) {
    if (/Stop/.test(String(first.like))) memory.turn = new Set();
    return first;
  }
  const turn = memory.turn ??= new Set();
  // A selected card that cannot be turned up goes back.
  if (isThere(all, /^(Turn up|Turn down)\b/) && isThere(all, /^Cancel/)) return { role: 'button', like: /^Cancel/ };
  const once = (what, step) => {
    if (!step || turn.has(what)) return null;
    turn.add(what);
    return step;
  };
  return once('challenge', firstOf(all, [/^Challenge\b/]))
    ?? (isThere(all, /^End turn/) ? once('card', firstOf(all, [/^card \d: face down/])) : null)
    ?? once('roll', firstOf(all, [/^Roll\b/]))
    ?? firstOf(all, [/^End turn/, /^Evade\b/, /^Retreat\b/]);
}

function chooseAssets(all, memory) {
  const first = firstOf(all, [/^Ready\b/, /^Take back/, /^Really\?/, /^Refuse/, /^Open\b/, /^Confront\b/, /^Buy .+ for /, /^Swap .+ for /]);
  if (first) {
    memory.tried = 0;
    return first;
  }
  if (isThere(all, /^Done\b/) && (memory.tried ?? 0) < 1) {
    memory.tried = 1;
    const piece = piecesBefore(all).find((one) => one.pressed !== 'true' && !one.disabled);
    if (piece) return { role: 'button', like: exactPattern(piece.name) };
  }
  const rest = firstOf(all, [/^Done\b/, /^Pay\b/, /^Retreat\b/]);
  if (rest) memory.tried = 0;
  return rest;
}

/** Returns the pieces before the player, by the name of their group. */
function piecesBefore(all) {
  const begin = all.findIndex((one) => one.role === 'group' && /^The section before you/.test(one.name));
  const end = all.findIndex((one, at) => at > begin && one.role === 'group');
  return begin < 0 ? [] : all.slice(begin + 1, end < 0 ? undefined : end).filter((one) => one.role === 'button');
}

const exactPattern = (name) => new RegExp(`^${name.replace(/[^\w ]/g, '.')}$`);

const CHOICES = [chooseTongits, chooseOptions, chooseAssets];
