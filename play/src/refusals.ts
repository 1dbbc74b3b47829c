// What a player is told of a refusal: in the words of the game, which its folder brings along, or in those of
// the house, which are loaded when they are needed.
import { language } from './words.ts';

type Refusals = Readonly<Record<string, readonly [string, string]>>;

const UNREACHABLE: Refusals = { unreachable: ['The house cannot be reached.', 'Hindi maabot ang bahay.'] };
const HOUSE = '';

const known = new Map<string, Refusals>();
let loadHouse: () => Promise<Refusals> = () => Promise.resolve({});

/** How the words of the house are loaded; of the script that starts the page, as no other names its files. */
export function loadRefusals(load: () => Promise<Refusals>) {
  loadHouse = load;
}

/** What a game refuses, in its words. */
export function addRefusals(kind: string, refusals: Refusals) {
  known.set(kind, refusals);
}

/** What a refusal says, as far as is known by now; of another code the words of the house. */
export function refusalText(code: string, detail?: string | null, kind?: string): string {
  const found = known.get(kind ?? HOUSE)?.[code] ?? known.get(HOUSE)?.[code] ?? UNREACHABLE[code];
  if (found !== undefined) return found[language.value === 'en' ? 0 : 1];
  return detail ?? code;
}

/** The same, once all words are there; without a network with those that are. */
export async function refusalWords(code: string, detail?: string | null, kind?: string): Promise<string> {
  if (!known.has(HOUSE) && !known.get(kind ?? HOUSE)?.[code]) {
    await loadHouse().then((all) => addRefusals(HOUSE, all), () => {});
  }
  return refusalText(code, detail, kind);
}
