// Returns the texts of refusals from the lists of clients/refusals: those of a game, which its folder adds, or
// those of the house, which are loaded when needed.
import own from '../../clients/refusals/client.json';
import { language } from './words.ts';

type Refusals = Readonly<Record<string, { readonly en: string; readonly fil: string }>>;

/** The texts that are needed when no list can be loaded. */
const OWN: Refusals = own;
const HOUSE = '';

const known = new Map<string, Refusals>();
let loadHouse: () => Promise<Refusals> = () => Promise.resolve({});

/** Sets the loader of the house's texts, whose file only the entry script can name. */
export function loadRefusals(load: () => Promise<Refusals>) {
  loadHouse = load;
}

/** Adds a game's texts for its refusals. */
export function addRefusals(kind: string, refusals: Refusals) {
  known.set(kind, refusals);
}

/** Returns a refusal's text from those loaded; for an unknown code its detail, or the code. */
export function refusalText(code: string, detail?: string | null, kind?: string): string {
  const found = known.get(kind ?? HOUSE)?.[code] ?? known.get(HOUSE)?.[code] ?? OWN[code];
  if (found !== undefined) return language.value === 'en' ? found.en : found.fil;
  return detail ?? code;
}

/** Returns a refusal's text once all texts are loaded; without a network, from those that are. */
export async function refusalWords(code: string, detail?: string | null, kind?: string): Promise<string> {
  if (!known.has(HOUSE) && !known.get(kind ?? HOUSE)?.[code]) {
    await loadHouse().then((all) => addRefusals(HOUSE, all), () => {});
  }
  return refusalText(code, detail, kind);
}
