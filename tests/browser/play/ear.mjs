// What Chromium tells a screen reader, which is names, roles and states, and the keyboard: nothing here
// looks at the page itself.
const TABS_MAX = 60;
const WAIT_MS = 20_000;

/** All that is there for a screen reader. */
export async function tree(cdp) {
  const { nodes } = await cdp.send('Accessibility.getFullAXTree');
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const words = (node) => node.role?.value === 'StaticText' ? node.name?.value ?? ''
    : (node.childIds ?? []).map((id) => byId.has(id) ? words(byId.get(id)) : '').join(' ').trim();
  return nodes.filter((node) => !node.ignored).map((node) => ({
    role: node.role?.value ?? '', name: node.name?.value ?? '', text: words(node),
    ...Object.fromEntries((node.properties ?? []).map(({ name, value }) => [name, value.value])),
  }));
}

/** Waits until something of this role is there whose name, or what is said in it, is like this. */
export async function hear(cdp, role, like) {
  for (const until = Date.now() + WAIT_MS; Date.now() < until;) {
    const found = (await tree(cdp)).find((one) => one.role === role && (like.test(one.name) || like.test(one.text)));
    if (found) return found;
    await new Promise((done) => { setTimeout(done, 50); });
  }
  throw new Error(`no ${role} like ${like}: ${JSON.stringify((await tree(cdp)).filter((one) => one.role === role))}`);
}

export const focused = async (cdp) => (await tree(cdp)).find((one) => one.focused && one.role !== 'RootWebArea');

/** Goes there from one thing to the next, by the way that is shorter as far as one hears. */
export async function tabTo(page, cdp, role, like) {
  const met = [];
  let key = 'Tab';
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    const all = (await tree(cdp)).filter((one) => one.focusable && one.role !== 'RootWebArea');
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
