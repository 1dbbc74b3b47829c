// The accessibility tree that Chromium gives a screen reader (names, roles and states), and the keyboard.
// Nothing here reads the page itself.
const TABS_MAX = 60;
const WAIT_MS = 20_000;

/** Returns the accessibility tree. */
export async function accessibilityTree(cdp) {
  const { nodes } = await cdp.send('Accessibility.getFullAXTree');
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const words = (node) => node.role?.value === 'StaticText' ? node.name?.value ?? ''
    : (node.childIds ?? []).map((id) => byId.has(id) ? words(byId.get(id)) : '').join(' ').trim();
  return nodes.filter((node) => !node.ignored).map((node) => ({
    role: node.role?.value ?? '', name: node.name?.value ?? '', text: words(node),
    ...Object.fromEntries((node.properties ?? []).map(({ name, value }) => [name, value.value])),
  }));
}

/** Waits for a node of a role whose name or text matches. */
export async function waitForNode(cdp, role, like) {
  for (const until = Date.now() + WAIT_MS; Date.now() < until;) {
    const found = (await accessibilityTree(cdp)).find((one) => one.role === role && (like.test(one.name) || like.test(one.text)));
    if (found) return found;
    await new Promise((done) => { setTimeout(done, 50); });
  }
  throw new Error(`no ${role} like ${like}: ${JSON.stringify((await accessibilityTree(cdp)).filter((one) => one.role === role))}`);
}

export const focusedNode = async (cdp) => (await accessibilityTree(cdp)).find((one) => one.focused && one.role !== 'RootWebArea');

/** Moves the focus to a node with Tab or Shift+Tab, whichever is shorter as far as it is known. */
export async function tabTo(page, cdp, role, like) {
  const met = [];
  let key = 'Tab';
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    const all = (await accessibilityTree(cdp)).filter((one) => one.focusable && one.role !== 'RootWebArea');
    const at = all.findIndex((one) => one.focused);
    const now = all[at];
    if (now?.role === role && like.test(now.name)) return now;
    met.push(now ? `${now.role} ${now.name}` : '');
    if (tabs === 0) {
      const to = all.findIndex((one) => one.role === role && !one.disabled && like.test(one.name));
      const ahead = (to - at + all.length) % all.length;
      if (at >= 0 && to >= 0 && ahead > all.length / 2) key = 'Shift+Tab';
    }
    await page.keyboard.press(key);
  }
  throw new Error(`Tab leads to no ${role} like ${like}: ${met.join(', ')}`);
}
