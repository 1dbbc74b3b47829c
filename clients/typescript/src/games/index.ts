// The games that this client knows.

import type { GameModel } from "./model.js";
import { tongits } from "./tongits/index.js";
import { tongoAssets } from "./tongo_assets/index.js";
import { tongoOptions } from "./tongo_options/index.js";

/** All games. A game is added here and in a folder of its own, and nowhere else. */
export const GAMES: readonly GameModel[] = [
  tongits,
  tongoAssets,
  tongoOptions,
];

export function modelOf(kind: string): GameModel | null {
  return GAMES.find((model) => model.kind === kind) ?? null;
}
