// The games that a client knows from the start or loads when a table plays one.

import type { GameModel } from "../games/model.js";
import type { Effect } from "./types.js";

export class LoadedModels {
  readonly known: Map<string, GameModel>;
  readonly #loads: boolean;
  readonly #effect: (effect: Effect) => void;
  /** The games that were requested: null while they are loaded, false after a failure. */
  readonly #loading = new Map<string, null | false>();

  /** `loads` allows further games to be requested by `load_game`. */
  constructor(games: readonly GameModel[], loads: boolean, effect: (effect: Effect) => void) {
    this.known = new Map(games.map((model) => [model.kind, model]));
    this.#loads = loads;
    this.#effect = effect;
  }

  find(kind: string): GameModel | null {
    return this.known.get(kind) ?? null;
  }

  /** Requests an unknown game's model if that is possible, and returns whether one is awaited. */
  requestModel(kind: string): boolean {
    if (this.known.has(kind) || !this.#loads) return false;
    if (!this.#loading.has(kind)) {
      this.#loading.set(kind, null);
      this.#effect({ type: "load_game", kind });
    }
    return this.#loading.get(kind) === null;
  }

  addLoaded(kind: string, model: GameModel | null): void {
    if (model) this.known.set(kind, model);
    else this.#loading.set(kind, false);
  }
}
