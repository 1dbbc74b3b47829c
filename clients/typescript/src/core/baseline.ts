// The values of earlier messages from which the short forms write differences (docs/PROTOCOL.md, "Shorter messages").

/** The last values that were received on a connection. A message refers to the values before it. */
export interface Baseline {
  /** The server's time in the last hello, snapshot or update, in ms. */
  time: number;
  /** The version of the last snapshot or update. */
  version: number | null;
  /** The game that a short event named last. */
  game: string | null;
  /** The length of the last countdown, in ms. */
  countdownMs: number;
}

/** Returns the value, which an earlier message has to have named. */
export function named<T>(value: T | null): T {
  if (value === null) throw new Error("a message omits what none before it has named");
  return value;
}
