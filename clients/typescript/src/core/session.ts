// The session: tokens, their renewal, and authenticated requests.
//
// A refresh token can be used once, but for a minute the server gives the same device the same successor
// again. A request whose answer got lost is therefore repeated, and tabs that share a session, as after a
// page was duplicated, renew it concurrently and share the tokens.
//
// Two clocks judge expiry. The monotonic one is right as long as the page lives, unless it stands still in
// sleep; the wall clock continues through sleep and reloads, but may be set to anything. A token counts as
// expired if either clock says so, unless it has just arrived: a wrong clock then costs at most one renewal.

import type { SignedIn, Tokens } from "../gen/rest.js";
import { type Result, toAnswer, problemWithCode, toProblem, parseSignedIn, parseTokens } from "./answers.js";
import type { Answer, Call, CallProblem, StoreKey } from "./types.js";

/** The time before its expiry at which an access token is renewed. */
const RENEW_BEFORE_MS = 120_000;
/** The longest pause between two attempts to renew: the server repeats a successor for one minute. */
const RENEW_PAUSE_MS = 10_000;
/** The least remaining lifetime with which an access token is used. */
const LIFETIME_MIN_MS = 5_000;
/** The time for which a new token is valid whatever a clock says. */
const NEW_TOKEN_MS = 60_000;
/** The time that a reloaded page leaves other tabs to share newer tokens. */
const SHARE_DELAY_MS = 100;
/** The age up to which a request may still be in flight after a wake-up. */
const WAKE_AFTER_MS = 1_000;
const READ_ATTEMPTS_MAX = 4;
const READ_PAUSE_MS = 300;

/** The functions of the core that its parts use. */
export interface Host {
  /** The monotonic clock, in ms. */
  readonly now: number;
  /** The wall clock, in ms. */
  readonly wall: number;
  random(bytes: number): Uint8Array;
  /**
   * Returns a random time between half of `ms` and `ms`, so that many waiting clients do not return at once.
   */
  jitter(ms: number): number;
  schedule(ms: number, act: () => void): () => void;
  request(call: Call, done: (result: Result | null) => void): void;
  store(key: StoreKey, value: string | null): void;
}

export type Renewal =
  | { readonly type: "renewed" }
  | { readonly type: "signed_out"; readonly problem: CallProblem }
  /** A temporary failure. */
  | { readonly type: "failed"; readonly problem: CallProblem };

interface StoredSession {
  readonly player: { readonly id: string; readonly name: string };
  readonly access: string;
  readonly accessExpiresMs: number;
  /** Null once the server has refused it. */
  readonly refresh: string | null;
  readonly session: string;
  /** True if the device alone can sign this player in again. */
  readonly byDevice: boolean;
  /** The server's clock minus the wall clock; null until the server's time is known. */
  readonly offsetMs: number | null;
}

export class Session {
  readonly #host: Host;
  readonly #name: string | null;
  #device: string | null;
  #stored: StoredSession | null;
  /** The server's clock minus the monotonic one; null until this page knows the server's time. */
  #aheadMs: number | null = null;
  /** The time at which the tokens arrived; minus infinity for stored ones. */
  #receivedAt = Number.NEGATIVE_INFINITY;
  #waiting: ((renewal: Renewal) => void)[] = [];
  #cancelRenewal: (() => void) | null = null;
  #renewingSince: number | null = null;
  /** The number of attempts; answers to requests of an earlier one are late. */
  #attempts = 0;

  constructor(host: Host, name: string | null, device: string | null, storedText: string | null) {
    this.#host = host;
    this.#name = name;
    this.#device = device;
    this.#stored = storedText === null ? null : (JSON.parse(storedText) as StoredSession);
  }

  get player(): StoredSession["player"] | null {
    return this.#stored?.player ?? null;
  }

  /** The device's secret, which signs the player in; null until it is drawn. */
  get device(): string | null {
    return this.#device;
  }

  /** The session of the tokens. */
  get id(): string | null {
    return this.#stored?.session ?? null;
  }

  /** The server's clock minus the monotonic one, as far as it is known. */
  get offsetMs(): number {
    const { now, wall } = this.#host;
    return this.#aheadMs ?? (this.#stored?.offsetMs ?? 0) + wall - now;
  }

  /** The access token, if it is valid as far as this client knows. */
  get token(): string | null {
    const stored = this.#stored;
    if (!stored || stored.access === "") return null;
    return this.#ageMs < NEW_TOKEN_MS || this.#leftMs(stored) > LIFETIME_MIN_MS ? stored.access : null;
  }

  /**
   * Renews the token before it expires, as long as that is wanted, so that a reconnection need not wait for
   * one.
   */
  renewAhead(isWanted: () => boolean, leastMs = 0): void {
    this.#cancelRenewal?.();
    const renewInMs = this.#renewInMs;
    if (renewInMs === null) return;
    this.#cancelRenewal = this.#host.schedule(Math.max(renewInMs, leastMs), () => {
      // Another token may have arrived meanwhile.
      if (this.#renewInMs !== 0) this.renewAhead(isWanted);
      else if (isWanted()) this.renew(() => this.renewAhead(isWanted, this.#host.jitter(RENEW_PAUSE_MS)));
    });
  }

  /** The delay until the renewal; null if it is unknown or no renewal is possible. */
  get #renewInMs(): number | null {
    const stored = this.#stored;
    if (!stored || this.#aheadMs === null || stored.access === "") return null;
    if (stored.refresh === null && !stored.byDevice) return null;
    const leftMs = stored.accessExpiresMs - this.#host.now - this.#aheadMs;
    return Math.ceil(Math.max(0, leftMs - RENEW_BEFORE_MS, NEW_TOKEN_MS - this.#ageMs));
  }

  /** Sets the server's time. */
  setServerTime(serverMs: number): void {
    this.#aheadMs = serverMs - this.#host.now;
    if (this.#stored) this.#store({ ...this.#stored, offsetMs: serverMs - this.#host.wall });
  }

  /** Adopts newer tokens of the same session from another tab. */
  adoptTokens(text: string): void {
    const other = JSON.parse(text) as StoredSession;
    const stored = this.#stored;
    if (stored?.session !== other.session || other.accessExpiresMs <= stored.accessExpiresMs) return;
    this.#storeReceived(other);
    if (this.#renewingSince === null) return;
    // An answer in flight has nothing newer.
    this.#attempts += 1;
    this.#finishRenewal({ type: "renewed" });
  }

  /** Marks a token as rejected by the server. */
  rejectToken(token: string): void {
    if (this.#stored?.access === token) this.#store({ ...this.#stored, access: "" });
  }

  forget(): void {
    this.#stored = null;
    this.#host.store("session", null);
  }

  /** Forgets the player for good: a device that signs the player in by itself gets a new secret. */
  forgetDevice(): void {
    if (this.#stored?.byDevice) {
      this.#device = null;
      this.#host.store("device", null);
    }
    this.forget();
  }

  /** Renews the tokens by the refresh token, or by the device without one. */
  renew(done: (renewal: Renewal) => void): void {
    this.#waiting.push(done);
    if (this.#renewingSince === null) this.#renew();
  }

  /** Repeats a renewal that may wait for a network that is gone, after the network has returned. */
  wake(): void {
    const since = this.#renewingSince;
    if (since !== null && this.#host.now - since > WAKE_AFTER_MS) this.#renew();
  }

  /** Marks a renewal in flight as old, after a sleep that the monotonic clock did not measure. */
  markStale(): void {
    if (this.#renewingSince !== null) this.#renewingSince = Number.NEGATIVE_INFINITY;
  }

  #renew(): void {
    this.#renewingSince = this.#host.now;
    this.#attempts += 1;
    const stored = this.#stored;
    if (stored?.refresh) {
      const { refresh } = stored;
      const isLate = this.#isLate();
      const isStored = this.#receivedAt === Number.NEGATIVE_INFINITY;
      if (!isStored) this.#refresh(refresh);
      else this.#host.schedule(SHARE_DELAY_MS, () => isLate() || this.#refresh(refresh));
    } else if (!stored || stored.byDevice) this.#signInByDevice(true);
    else this.#finishRenewal({ type: "signed_out", problem: problemWithCode("session_ended") });
  }

  /** Signs in with a name and password or an external account; the session then belongs to this device. */
  signIn(call: Call, done: (answer: Answer) => void): void {
    const body = { device_id: this.#deviceId(), ...(call.body as object) };
    this.#host.request({ ...call, body }, (result) => {
      const signedIn = parseSignedIn(result);
      if (signedIn) this.#storeSignIn(signedIn, false);
      done(toAnswer(result?.status === 200 && !signedIn ? null : result));
    });
  }

  /** Sends an authenticated request of the caller. */
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
        this.rejectToken(token);
        this.#attempt(call, done, attempt, true);
      } else if (result === null && call.method === "GET" && attempt < READ_ATTEMPTS_MAX) {
        const pause = this.#host.jitter(READ_PAUSE_MS * 2 ** attempt);
        this.#host.schedule(pause, () => this.#attempt(call, done, attempt + 1, renewed));
      } else {
        done(toAnswer(result));
      }
    });
  }

  #refresh(refresh: string): void {
    const isLate = this.#isLate();
    // The device lets the server distinguish a repetition from a theft.
    const body = { refresh_token: refresh, device_id: this.#deviceId() };
    this.#host.request(postCall("/v1/token/refresh", body), (result) => {
      const stored = this.#stored;
      if (isLate() || !stored) return;
      const tokens = parseTokens(result);
      const isRefused = result?.status === 401 || result?.status === 403;
      if (tokens) {
        this.#storeTokens(tokens, stored.player, stored.byDevice);
        this.#finishRenewal({ type: "renewed" });
      } else if (!isRefused) {
        // It is unknown whether the refresh token was used, so it is sent again.
        this.#finishRenewal({ type: "failed", problem: toProblem(result) });
      } else if (stored.refresh !== refresh) {
        this.#renew();
      } else {
        // The access token stays valid for its remaining lifetime.
        this.#store({ ...stored, refresh: null });
        if (stored.byDevice) this.#signInByDevice(true);
        else this.#finishRenewal({ type: "signed_out", problem: toProblem(result) });
      }
    });
  }

  #signInByDevice(withName: boolean): void {
    const device_id = this.#deviceId();
    const name = withName && this.#name !== null ? { name: this.#name } : {};
    const isLate = this.#isLate();
    this.#host.request(postCall("/v1/sign-in/guest", { device_id, ...name }), (result) => {
      if (isLate()) return;
      const signedIn = parseSignedIn(result);
      if (signedIn) {
        this.#storeSignIn(signedIn, true);
        this.#finishRenewal({ type: "renewed" });
        return;
      }
      const refused = toProblem(result);
      const isName = result?.status === 409 || result?.status === 422;
      if (isName && withName && this.#name !== null) this.#signInByDevice(false);
      else if (result?.status === 403) this.#finishRenewal({ type: "signed_out", problem: refused });
      else this.#finishRenewal({ type: "failed", problem: refused });
    });
  }

  #storeSignIn({ player, ...tokens }: SignedIn, byDevice: boolean): void {
    const { id, name } = player;
    this.#storeTokens(tokens, { id, name }, byDevice);
  }

  #storeTokens(tokens: Tokens, player: StoredSession["player"], byDevice: boolean): void {
    this.#storeReceived({
      player,
      access: tokens.access_token,
      accessExpiresMs: Date.parse(tokens.access_expires_at),
      refresh: tokens.refresh_token,
      session: tokens.session,
      byDevice,
      offsetMs: null,
    });
  }

  /** Stores tokens that have just arrived. */
  #storeReceived(stored: StoredSession): void {
    const { now, wall } = this.#host;
    this.#receivedAt = now;
    // A clock by which the new tokens have already expired is wrong.
    const isOff = this.#aheadMs !== null && stored.accessExpiresMs - now - this.#aheadMs < NEW_TOKEN_MS;
    if (isOff) this.#aheadMs = null;
    const offsetMs = this.#aheadMs === null ? null : this.#aheadMs + now - wall;
    this.#store({ ...stored, offsetMs });
  }

  #finishRenewal(renewal: Renewal): void {
    this.#renewingSince = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const done of waiting) done(renewal);
  }

  #isLate(): () => boolean {
    const attempt = this.#attempts;
    return () => attempt !== this.#attempts;
  }

  #deviceId(): string {
    if (this.#device === null) {
      const bytes = this.#host.random(24);
      this.#device = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      this.#host.store("device", this.#device);
    }
    return this.#device;
  }

  get #ageMs(): number {
    return this.#host.now - this.#receivedAt;
  }

  #leftMs({ accessExpiresMs, offsetMs }: StoredSession): number {
    const { now, wall } = this.#host;
    const server = [now + (this.#aheadMs ?? Number.NEGATIVE_INFINITY)];
    if (offsetMs !== null) server.push(wall + offsetMs);
    return accessExpiresMs - Math.max(...server);
  }

  #store(stored: StoredSession): void {
    this.#stored = stored;
    this.#host.store("session", JSON.stringify(stored));
  }
}

function postCall(path: string, body: unknown): Call {
  return { method: "POST", path, headers: {}, body };
}
