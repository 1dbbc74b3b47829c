// Who is signed in: tokens, how they are renewed, and requests that are signed with them.
//
// A refresh token is good for one use, and using it twice ends its session. So one whose answer got
// lost is not used again where the device can sign in anew, and no two tabs share one.

import type { Me, SignedIn, Tokens } from "../gen/rest.js";
import type { Answer, Call, ProblemSeen, StoreKey } from "./types.js";

/** An access token is renewed so long before it expires. */
const RENEW_BEFORE_MS = 120_000;
/** One that has less left is not used any more. */
const USE_BEFORE_MS = 5_000;
/** A request that is as young as this may still be on its way. */
const WAKE_AFTER_MS = 1_000;
const READ_ATTEMPTS_MAX = 4;
const READ_PAUSE_MS = 300;

export interface Result {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | null;
}

/** What the parts of the core need of it. */
export interface Host {
  readonly now: number;
  random(bytes: number): Uint8Array;
  /** At least half of it, so that many who wait do not come at once. */
  jitter(ms: number): number;
  after(ms: number, act: () => void): () => void;
  request(call: Call, done: (result: Result | null) => void): void;
  store(key: StoreKey, value: string | null): void;
}

export type Renewal =
  | { readonly type: "renewed" }
  | { readonly type: "signed_out"; readonly problem: ProblemSeen }
  /** For now. */
  | { readonly type: "failed"; readonly problem: ProblemSeen };

interface Kept {
  readonly player: { readonly id: string; readonly name: string };
  readonly access: string;
  readonly accessExpiresMs: number;
  /** Null once it may have been used. */
  readonly refresh: string | null;
  /** Whether the device alone can sign this player in again. */
  readonly byDevice: boolean;
  /** What the server's clock is ahead of this one; null until it was heard. */
  readonly offsetMs: number | null;
}

export class Session {
  readonly #host: Host;
  readonly #name: string | null;
  #device: string | null;
  #kept: Kept | null;
  #waiting: ((renewal: Renewal) => void)[] = [];
  #renewingSince: number | null = null;
  /** Answers to requests of an earlier try are late. */
  #tries = 0;

  constructor(host: Host, name: string | null, device: string | null, stored: string | null) {
    this.#host = host;
    this.#name = name;
    this.#device = device;
    this.#kept = stored === null ? null : (JSON.parse(stored) as Kept);
  }

  get player(): Kept["player"] | null {
    return this.#kept?.player ?? null;
  }

  /** What signs this player in by itself; null before it was drawn. */
  get device(): string | null {
    return this.#device;
  }

  /** What the server's clock is ahead of this one. */
  get offsetMs(): number {
    return this.#kept?.offsetMs ?? 0;
  }

  /** The access token, if it is good as far as is known here. */
  get token(): string | null {
    const kept = this.#kept;
    if (!kept || kept.access === "") return null;
    return this.#leftMs(kept) > USE_BEFORE_MS ? kept.access : null;
  }

  /** When to renew it ahead of time; null where that cannot be told. */
  get renewInMs(): number | null {
    const kept = this.#kept;
    if (!kept || kept.offsetMs === null || kept.access === "") return null;
    return Math.max(0, this.#leftMs(kept) - RENEW_BEFORE_MS);
  }

  /** The server has said what time it is. */
  heardTime(serverMs: number): void {
    if (this.#kept) this.#keep({ ...this.#kept, offsetMs: serverMs - this.#host.now });
  }

  /** The server does not take this token, whatever it looks like here. */
  refuse(token: string): void {
    if (this.#kept?.access === token) this.#keep({ ...this.#kept, access: "" });
  }

  forget(): void {
    this.#kept = null;
    this.#host.store("session", null);
  }

  /** New tokens: by the refresh token, else by the device. */
  renew(done: (renewal: Renewal) => void): void {
    this.#waiting.push(done);
    if (this.#renewingSince === null) this.#renew();
  }

  /** The network is back: a request that went before may wait for one that is gone. */
  wake(): void {
    const since = this.#renewingSince;
    if (since !== null && this.#host.now - since > WAKE_AFTER_MS) this.#renew();
  }

  #renew(): void {
    this.#renewingSince = this.#host.now;
    this.#tries += 1;
    const kept = this.#kept;
    if (kept?.refresh) this.#refresh(kept, kept.refresh);
    else if (!kept || kept.byDevice) this.#signInByDevice(true);
    else this.#end({ type: "signed_out", problem: problem("session_ended") });
  }

  /** By a name and password, or an account elsewhere. */
  signIn(call: Call, done: (answer: Answer) => void): void {
    this.#host.request(call, (result) => {
      if (result?.status === 200) this.#signedIn(result.body as SignedIn, false);
      done(answerOf(result));
    });
  }

  /** A request of the caller's own, signed. */
  call(call: Call, done: (answer: Answer) => void): void {
    this.#attempt(call, done, 1, false);
  }

  #attempt(call: Call, done: (answer: Answer) => void, attempt: number, renewed: boolean): void {
    const { token } = this;
    if (token === null && !call.isOpen) {
      this.renew((renewal) => {
        if (renewal.type === "renewed") this.#attempt(call, done, attempt, true);
        else done({ ok: false, status: 0, problem: renewal.problem });
      });
      return;
    }
    const signed = token === null ? {} : { authorization: `Bearer ${token}` };
    const headers = { ...call.headers, ...signed };
    this.#host.request({ ...call, headers }, (result) => {
      if (result?.status === 401 && !renewed && token !== null) {
        this.refuse(token);
        this.#attempt(call, done, attempt, true);
      } else if (result === null && call.method === "GET" && attempt < READ_ATTEMPTS_MAX) {
        const pause = this.#host.jitter(READ_PAUSE_MS * 2 ** attempt);
        this.#host.after(pause, () => this.#attempt(call, done, attempt + 1, renewed));
      } else {
        done(answerOf(result));
      }
    });
  }

  #refresh(kept: Kept, refresh: string): void {
    // Should this page end before the answer comes, the token may have been used.
    if (kept.byDevice) this.#keep({ ...kept, refresh: null });
    const isLate = this.#isLate();
    this.#host.request(post("/v1/token/refresh", { refresh_token: refresh }), (result) => {
      if (isLate()) return;
      if (result?.status === 200) {
        this.#renewed(result.body as Tokens, kept.player, kept.byDevice);
        this.#end({ type: "renewed" });
      } else if (result?.status === 401) {
        this.#keep({ ...kept, refresh: null, access: "" });
        if (kept.byDevice) this.#signInByDevice(true);
        else this.#end({ type: "signed_out", problem: problemOf(result) });
      } else {
        // One that was refused for haste was not looked at.
        if (result?.status === 429) this.#keep({ ...kept, refresh });
        this.#end({ type: "failed", problem: problemOf(result) });
      }
    });
  }

  #signInByDevice(withName: boolean): void {
    const device_id = this.#deviceId();
    const name = withName && this.#name !== null ? { name: this.#name } : {};
    const isLate = this.#isLate();
    this.#host.request(post("/v1/sign-in/guest", { device_id, ...name }), (result) => {
      if (isLate()) return;
      if (result?.status === 200) {
        this.#signedIn(result.body as SignedIn, true);
        this.#end({ type: "renewed" });
        return;
      }
      const refused = problemOf(result);
      const isName = result?.status === 409 || result?.status === 422;
      if (isName && withName && this.#name !== null) this.#signInByDevice(false);
      else if (result?.status === 403) this.#end({ type: "signed_out", problem: refused });
      else this.#end({ type: "failed", problem: refused });
    });
  }

  #signedIn({ player, ...tokens }: SignedIn, byDevice: boolean): void {
    const { id, name }: Me = player;
    this.#renewed(tokens, { id, name }, byDevice);
  }

  #renewed(tokens: Tokens, player: Kept["player"], byDevice: boolean): void {
    const isSame = this.#kept?.player.id === player.id;
    this.#keep({
      player,
      access: tokens.access_token,
      accessExpiresMs: Date.parse(tokens.access_expires_at),
      refresh: tokens.refresh_token,
      byDevice,
      offsetMs: isSame ? (this.#kept?.offsetMs ?? null) : null,
    });
  }

  #end(renewal: Renewal): void {
    this.#renewingSince = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const done of waiting) done(renewal);
  }

  #isLate(): () => boolean {
    const tries = this.#tries;
    return () => tries !== this.#tries;
  }

  #deviceId(): string {
    if (this.#device === null) {
      const bytes = this.#host.random(24);
      this.#device = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      this.#host.store("device", this.#device);
    }
    return this.#device;
  }

  #leftMs(kept: Kept): number {
    if (kept.offsetMs === null) return Number.POSITIVE_INFINITY;
    return kept.accessExpiresMs - (this.#host.now + kept.offsetMs);
  }

  #keep(kept: Kept): void {
    this.#kept = kept;
    this.#host.store("session", JSON.stringify(kept));
  }
}

function post(path: string, body: unknown): Call {
  return { method: "POST", path, headers: {}, body };
}

function answerOf(result: Result | null): Answer {
  if (result && result.status >= 200 && result.status < 300) {
    return { ok: true, status: result.status, data: result.body };
  }
  return { ok: false, status: result?.status ?? 0, problem: problemOf(result) };
}

function problemOf(result: Result | null): ProblemSeen {
  if (result === null) return problem("unreachable");
  const said = result.body as { code?: unknown; detail?: unknown } | null;
  return {
    code: typeof said?.code === "string" ? said.code : "unknown",
    detail: typeof said?.detail === "string" ? said.detail : "",
    retryAfterMs: result.retryAfterMs,
  };
}

function problem(code: string): ProblemSeen {
  return { code, detail: "", retryAfterMs: null };
}
