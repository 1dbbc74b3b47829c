// Puts a refusal into words: those of the game, which its folder brings along, or those of the house, which
// are loaded when they are needed.
import { language } from './words.ts';

type Refusals = Readonly<Record<string, readonly [string, string]>>;

const UNREACHABLE: Refusals = { unreachable: ['The house cannot be reached.', 'Hindi maabot ang bahay.'] };
const HOUSE = '';

const known = new Map<string, Refusals>();
let loadHouse: () => Promise<Refusals> = () => Promise.resolve({});

/** Sets the way to the words of the house. Only the script that starts the page can name their file. */
export function loadRefusals(load: () => Promise<Refusals>) {
  loadHouse = load;
}

/** Adds the words of a game for its refusals. */
export function addRefusals(kind: string, refusals: Refusals) {
  known.set(kind, refusals);
}

/** The words of a refusal that are loaded by now; of an unknown code its detail, or the code. */
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
