// Made from openapi.yaml by generate.mjs; do not edit.

/** Every operation of players: what it takes and what it answers with. */
export interface Operations {
  /** List the avatars */
  "GET /v1/avatars": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Avatars;
  };
  /** Show how many games were voided */
  "GET /v1/fairness": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: DealsReport;
  };
  /** List the commitments that were never revealed */
  "GET /v1/fairness/commitments": {
    path: undefined;
    query: { date?: string; table?: string; cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_UnrevealedBody;
  };
  /** Show one of my games */
  "GET /v1/games/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Game;
  };
  /** Analyse one of my games */
  "GET /v1/games/{id}/analysis": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: GameAnalysis;
  };
  /** Show how a game was dealt */
  "GET /v1/games/{id}/fairness": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Fairness;
  };
  /** Show the record of a game */
  "GET /v1/games/{id}/record": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Readonly<Record<string, unknown>>;
  };
  /** Play one of my games again */
  "POST /v1/games/{id}/rematch": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: PrivateSeat;
  };
  /** Report a player of my game */
  "POST /v1/games/{id}/reports": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: ReportPlayer;
    answer: null;
  };
  /** Show one of my games step by step */
  "GET /v1/games/{id}/steps": {
    path: { id: string };
    query: { hands?: "own" | "all"; offset?: number; limit?: number };
    headers: undefined;
    body: undefined;
    answer: GameSteps;
  };
  /** Show a leaderboard */
  "GET /v1/leaderboards/{board}/{span}": {
    path: { board: "coins" | "hits" | "rating"; span: "day" | "week" | "season" | "ever" };
    query: { kind?: string; section?: "top" | "around"; date?: string; offset?: number; limit?: number };
    headers: undefined;
    body: undefined;
    answer: Leaderboard;
  };
  /** Look for a table */
  "POST /v1/matchmaking/tickets": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: Seek;
    answer: MatchmakingTicket;
  };
  /** Say where my ticket stands */
  "GET /v1/matchmaking/tickets/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: MatchmakingTicket;
  };
  /** Take my ticket back */
  "DELETE /v1/matchmaking/tickets/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: MatchmakingTicket;
  };
  /** Show my profile */
  "GET /v1/me": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Me;
  };
  /** Delete my account */
  "DELETE /v1/me": {
    path: undefined;
    query: undefined;
    headers: { "Account-Proof": string };
    body: undefined;
    answer: null;
  };
  /** Change my profile */
  "PATCH /v1/me": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ChangeMe;
    answer: Me;
  };
  /** List whom I block */
  "GET /v1/me/blocks": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: ListedPlayers;
  };
  /** Block a player */
  "PUT /v1/me/blocks/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** Unblock a player */
  "DELETE /v1/me/blocks/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** Change the id of my device */
  "PUT /v1/me/device": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ChangeDevice;
    answer: null;
  };
  /** Forget my devices */
  "DELETE /v1/me/devices": {
    path: undefined;
    query: undefined;
    headers: { "Account-Proof": string };
    body: undefined;
    answer: null;
  };
  /** Export all that is held of me */
  "GET /v1/me/export": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Export;
  };
  /** List my games */
  "GET /v1/me/games": {
    path: undefined;
    query: { room?: string; from?: string; to?: string; outcome?: "won" | "lost" | "drawn" | "voided"; ending?: string; kind?: string; cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_MyGame;
  };
  /** Link an account elsewhere */
  "POST /v1/me/identities": {
    path: undefined;
    query: undefined;
    headers: { "Account-Proof": string };
    body: LinkIdentity;
    answer: WaysIn;
  };
  /** Unlink an account elsewhere */
  "DELETE /v1/me/identities/{issuer}": {
    path: { issuer: string };
    query: undefined;
    headers: { "Account-Proof": string };
    body: undefined;
    answer: null;
  };
  /** List whom I mute */
  "GET /v1/me/mutes": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: ListedPlayers;
  };
  /** Mute a player */
  "PUT /v1/me/mutes/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** Unmute a player */
  "DELETE /v1/me/mutes/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** List my notices */
  "GET /v1/me/notices": {
    path: undefined;
    query: { cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_Notice;
  };
  /** Mark a notice as read */
  "POST /v1/me/notices/{id}/read": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** Change my password */
  "PUT /v1/me/password": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ChangePassword;
    answer: null;
  };
  /** Set my first password */
  "POST /v1/me/password": {
    path: undefined;
    query: undefined;
    headers: { "Account-Proof": string };
    body: FirstPassword;
    answer: Me;
  };
  /** Show that the account is mine */
  "POST /v1/me/proof": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ShowProof;
    answer: AccountProof;
  };
  /** Show my rewards */
  "GET /v1/me/rewards": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Rewards;
  };
  /** Claim the daily reward */
  "POST /v1/me/rewards/daily": {
    path: undefined;
    query: undefined;
    headers: { "Idempotency-Key"?: string };
    body: undefined;
    answer: DailyClaimed;
  };
  /** Claim relief */
  "POST /v1/me/rewards/relief": {
    path: undefined;
    query: undefined;
    headers: { "Idempotency-Key"?: string };
    body: undefined;
    answer: ReliefClaimed;
  };
  /** List my sessions */
  "GET /v1/me/sessions": {
    path: undefined;
    query: { cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_Session;
  };
  /** Sign out everywhere */
  "DELETE /v1/me/sessions": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** End one of my sessions */
  "DELETE /v1/me/sessions/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** Show my statistics */
  "GET /v1/me/statistics": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: StatisticsByGame;
  };
  /** Show my wallet */
  "GET /v1/me/wallet": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Wallet;
  };
  /** List the entries of my wallet */
  "GET /v1/me/wallet/entries": {
    path: undefined;
    query: { code?: readonly ("ante" | "hold" | "payment" | "fee" | "release" | "pot" | "refund" | "welcome" | "daily" | "relief" | "adjustment" | "reversal" | "return" | "house_bot" | "sweep")[]; from?: string; to?: string; cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_WalletEntry;
  };
  /** Show how I can sign in */
  "GET /v1/me/ways-in": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: WaysIn;
  };
  /** Ask for a ticket to the socket */
  "POST /v1/play/tickets": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Ticket;
  };
  /** Look players up */
  "GET /v1/players": {
    path: undefined;
    query: { ids: string };
    headers: undefined;
    body: undefined;
    answer: PublicPlayers;
  };
  /** Show a player */
  "GET /v1/players/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: PlayerProfile;
  };
  /** Sit down at a practice table */
  "POST /v1/practice-tables": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: Practise;
    answer: SeatedAt;
  };
  /** Open a private table */
  "POST /v1/private-tables": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: OpenPrivate;
    answer: PrivateSeat;
  };
  /** Look at a private table */
  "GET /v1/private-tables/{code}": {
    path: { code: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: PrivateTable;
  };
  /** Have bots fill my private table */
  "POST /v1/private-tables/{code}/bots": {
    path: { code: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: PrivateTable;
  };
  /** Send a player away from my private table */
  "DELETE /v1/private-tables/{code}/players/{id}": {
    path: { code: string; id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** Sit down at a private table */
  "POST /v1/private-tables/{code}/seat": {
    path: { code: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: PrivateSeat;
  };
  /** List the rooms */
  "GET /v1/rooms": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: Rooms;
  };
  /** Ask a room for a table */
  "POST /v1/rooms/{room}/seat": {
    path: { room: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SeatedAt;
  };
  /** List the tables that may be watched */
  "GET /v1/rooms/{room}/tables": {
    path: { room: string };
    query: { cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_WatchableTable;
  };
  /** Sign in as a guest */
  "POST /v1/sign-in/guest": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: GuestSignIn;
    answer: SignedIn;
  };
  /** Sign in by an account elsewhere */
  "POST /v1/sign-in/openid": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: OpenIdSignIn;
    answer: SignedIn;
  };
  /** Ask for a nonce */
  "POST /v1/sign-in/openid/nonce": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: AskNonce;
    answer: Nonce;
  };
  /** Sign in by name and password */
  "POST /v1/sign-in/password": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: PasswordSignIn;
    answer: SignedIn;
  };
  /** Sign out */
  "POST /v1/sign-out": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** Sort a hand */
  "POST /v1/sort": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: Sort;
    answer: Sorted;
  };
  /** Say where I sit */
  "GET /v1/table": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SeatedAt;
  };
  /** Leave my table */
  "DELETE /v1/table": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SeatedAt;
  };
  /** Trade a refresh token for new tokens */
  "POST /v1/token/refresh": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: Refresh;
    answer: Tokens;
  };
}

/** What anybody may ask, without a token. */
export const OPEN: ReadonlySet<string> = new Set<keyof Operations>([
  "GET /v1/avatars",
  "GET /v1/fairness",
  "GET /v1/fairness/commitments",
  "GET /v1/games/{id}/fairness",
  "GET /v1/rooms",
  "POST /v1/sign-in/guest",
  "POST /v1/sign-in/openid",
  "POST /v1/sign-in/openid/nonce",
  "POST /v1/sign-in/password",
  "POST /v1/token/refresh",
]);

/** A proof, for the header `Account-Proof`. */
export interface AccountProof {
  readonly expires_at: Time;
  readonly proof: string;
}

/**
 * A decision of the player, and what the bot would have done. Values are what a seat wins of the
 * others on average, less what it loses to them, in hundredths of a bet times the multiplier, before
 * the fee and without ante and POT: 150 is one and a half bets.
 */
export interface AnalysisItem {
  /** The player's action: the schema `TongitsAction` of asyncapi.yaml. */
  readonly action: Readonly<Record<string, unknown>>;
  /** The bot's action, from what the seat had been shown. */
  readonly advised: Readonly<Record<string, unknown>>;
  /** The value of what the bot would have done, in hundredths of a bet. */
  readonly advised_value: number;
  /** How much better that is, in hundredths of a bet. */
  readonly loss: number;
  /** The number of the step in `/steps` whose action it was. */
  readonly step: number;
  /** The value of the action, in hundredths of a bet. */
  readonly value: number;
}

/** A device that is about to sign its user in with an issuer. */
export interface AskNonce {
  /** As for guests. The token is to be brought by the same device. */
  readonly device_id: DeviceId;
}

/** The catalogue of pictures. */
export interface Avatars {
  /** Their names. A client has the pictures. */
  readonly items: readonly string[];
}

/**
 * What players compete in: what won games have brought, in hundredths of a coin, how often the POT
 * was taken, or how well they play.
 */
export type Board = "coins" | "hits" | "rating";

/**
 * A place on a leaderboard. Equal scores have one rank, and stand in the order in which they were
 * reached.
 */
export interface BoardPlace {
  readonly name: string;
  readonly player: string;
  /** From 1, as in competitions: after two of rank 2 comes rank 4. */
  readonly rank: number;
  /**
   * Hundredths of a coin, a number of POTs, or thousandths of what a player is at least as good
   * as: 0 for somebody of whom nothing is known, and seldom below that.
   */
  readonly score: number;
}

/** A card: rank A23456789TJQK, then suit C D H S. */
export type Card = string;

/** One decision of chance. */
export type Chance = ({
  /** A number below the one that was asked for. */
  readonly number: number;
} | {
  /** An order of things that are numbered from 0. */
  readonly order: readonly number[];
});

/** Another id for a device. */
export interface ChangeDevice {
  /** The one that signs the player in. */
  readonly device_id: DeviceId;
  /** Another random text. Keep it before you call, so that it is not lost with the answer. */
  readonly new_device_id: string;
}

/** What a player may change about itself. What is left out stays. */
export interface ChangeMe {
  /** One of `GET /v1/avatars`. */
  readonly avatar?: string | null;
  readonly name?: (Name | null);
  readonly time_zone?: (TimeZone | null);
}

/** Another password. */
export interface ChangePassword {
  readonly current_password: string;
  readonly password: string;
}

/** Who chose the actions of a seat. All are 0 in a game that was voided. */
export interface ChosenBy {
  /** Because the player was away. */
  readonly ai: number;
  /** Because a countdown had passed. */
  readonly clock: number;
  readonly player: number;
}

/** Who chose an action: the player, the clock, or the AI. */
export type ChosenByWhom = "player" | "clock" | "ai";

/** What one client had to do with a deal. */
export interface ClientPart {
  /**
   * Sent with `ready`, and shown to all before the first text was asked for; zeros of a client
   * that took no part.
   */
  readonly commitment: string;
  /** What the deal was made with. */
  readonly seed: string;
  /** Revealed when all were ready; null where it was not. */
  readonly text: string | null;
}

/** An amount of coins, as an integer in hundredths of a coin: 1170 is 11.70 coins. Never a floating-point number. */
export type Coins = number;

/** A daily reward that was given. */
export interface DailyClaimed {
  /** What was given. */
  readonly amount: Coins;
  /** What can be spent after it. */
  readonly available: Coins;
  /** The claim after it. */
  readonly next: DailyReward;
  readonly streak_day: number;
}

/** The next claim of the daily reward. */
export interface DailyReward {
  readonly amount: Coins;
  /** Whether it can be claimed now. */
  readonly claimable: boolean;
  /**
   * When it can be claimed: the beginning of a day in the player's time zone. In the past, if
   * it can be claimed now.
   */
  readonly claimable_at: Time;
  /**
   * Its place in the streak. After the seventh day, and after a day that was missed, the
   * streak begins again.
   */
  readonly streak_day: number;
}

/** What became of games, up to an hour. */
export interface DealsReport {
  /**
   * Games that were opened more than an hour before that and have not ended: neither played to
   * their end nor voided.
   */
  readonly games_unended: number;
  /** The last day, the last week, and the last thirty days. */
  readonly spans: readonly DealsSpan[];
  /** The end of the last hour that was counted. */
  readonly to: Time;
}

/**
 * What was booked in the hours before that. A game counts in a span where it was opened, and again
 * where it was settled or voided.
 */
export interface DealsSpan {
  readonly games_opened: number;
  /** Played to their end, and each with a record that anybody can check. */
  readonly games_settled: number;
  /**
   * Broken off, all coins given back: also those of which the seeds were asked for and that were
   * never dealt.
   */
  readonly games_voided: number;
  readonly hours: number;
  /** Voided games among a million that ended; null when none did. */
  readonly voided_per_million: number | null;
}

/** A random text that an installation has drawn once and keeps. */
export type DeviceId = string;

/** A time zone as the device names it; the server leaves out what it does not know. */
export type DeviceTimeZone = string;

/** All that is held of a player. */
export type Export = ExportHead & {
  /** Finished games, newest first. Their records are at `/v1/games/{id}/record`. */
  readonly games: readonly MyGame[];
  /** Newest first. */
  readonly notices: readonly Notice[];
  /** As far back as they are kept, oldest first. */
  readonly sessions: readonly ExportedSession[];
  /** Newest first. */
  readonly wallet_entries: readonly WalletEntry[];
};

/** The fields of an export that are short. */
export interface ExportHead {
  readonly bans: readonly ExportedBan[];
  /** Whom the player blocks, and whom it mutes, the latest first. */
  readonly blocked_players: readonly ListedPlayer[];
  readonly devices: readonly ExportedDevice[];
  readonly exported_at: Time;
  readonly muted_players: readonly ListedPlayer[];
  /** What kept the player from speaking. */
  readonly mutes: readonly ExportedBan[];
  /** What those who run the house wrote about the player, the newest 50. */
  readonly notes: readonly ExportedNote[];
  readonly player: Me;
  /** What the player has reported of others, newest first. */
  readonly reports_made: readonly ReportMade[];
  /**
   * What others have reported of the player, newest first. Who they are and what they wrote is
   * theirs.
   */
  readonly reports_received: readonly ReportReceived[];
  readonly rewards: Rewards;
  /** What the player has done, by game. */
  readonly statistics: readonly Statistics[];
  readonly wallet: Wallet;
  readonly ways_in: WaysIn;
}

/** A ban or a mute, over or not. */
export interface ExportedBan {
  readonly banned_at: Time;
  readonly ends_at: (Time | null);
  readonly lifted_at: (Time | null);
  readonly reason: string;
}

/** A device that signs the player in. Of its id only a hash is kept. */
export interface ExportedDevice {
  readonly created_at: Time;
  readonly last_seen_at: Time;
}

/** What somebody who runs the house wrote about the player. */
export interface ExportedNote {
  readonly words: string;
  readonly written_at: Time;
}

/** A session, ended or not. */
export interface ExportedSession {
  readonly address: string | null;
  readonly created_at: Time;
  readonly end_reason: string | null;
  readonly ended_at: (Time | null);
  readonly id: string;
  readonly last_seen_at: Time;
  readonly method: string;
  readonly user_agent: string | null;
}

/** How a finished game was dealt. */
export interface Fairness {
  /** What chance decided, in order: for a card game the deck is among it. */
  readonly chance: readonly Chance[];
  /** What each client had to do with the deal, by seat. */
  readonly clients: readonly ClientPart[];
  /**
   * What the table showed with `preparing`, before it knew any client's seed: the SHA-256 of the
   * server's seed, in hexadecimal.
   */
  readonly commitment: string;
  readonly engine: string;
  readonly game: string;
  /** How to check it, step by step. */
  readonly how_to_verify: readonly string[];
  /** The game's name. */
  readonly kind: string;
  /** Secret until the game was over. */
  readonly server_seed: string;
  /** The seat that began because of an earlier win; null where chance decided. */
  readonly starter: number | null;
}

/** A first password, and the name that goes with it. */
export interface FirstPassword {
  /** By which to sign in, and be seen. It may be the one that the player has. */
  readonly name: Name;
  /** Any characters. What everybody tries first is refused. */
  readonly password: string;
}

/** A finished game in full. */
export interface Game {
  /** What each seat paid into the POT before the deal. */
  readonly ante: Coins;
  /** How it ended; null when it was voided. */
  readonly ending: string | null;
  /** By the house's time; by the clock of the database when the game was voided. */
  readonly finished_at: Time;
  readonly id: string;
  /** The game, by its name. */
  readonly kind: string;
  /** By the house's time, as deadlines are. */
  readonly opened_at: Time;
  readonly reversed_at: (Time | null);
  readonly room: string;
  readonly seats: readonly GameSeat[];
  /**
   * What the ledger booked, line by line: the schema `Settlement` of asyncapi.yaml. Null when
   * the game was voided.
   */
  readonly settlement: Readonly<Record<string, unknown>> | null;
  /** How a game ended as far as coins are concerned. */
  readonly state: "settled" | "voided";
  readonly table: string;
}

/** A finished game, as the house's strongest bot judges it for one player. */
export interface GameAnalysis {
  /** The bot that judged; null where the house has none that judges this game by these rules. */
  readonly engine: string | null;
  readonly game: string;
  /**
   * At most three decisions in which the bot prefers another action, by falling loss. None where
   * it saw nothing better.
   */
  readonly items: readonly AnalysisItem[];
  /** The player's seat. */
  readonly seat: number;
}

/** What a game came to for a player: `drawn` when nobody won. */
export type GameOutcome = "won" | "lost" | "drawn" | "voided";

/** A seat in a finished game. */
export interface GameSeat {
  /** How many actions were chosen by whom. */
  readonly actions: ChosenBy;
  /** A bot of the house, and nobody's account. */
  readonly is_bot: boolean;
  /** As the player is called now. */
  readonly name: string;
  /** The change of the player's coins, the ante aside; 0 once the settlement was reversed. */
  readonly net: Coins;
  readonly player: string;
  /** From 0. */
  readonly seat: number;
  /** The most that the seat could lose beside the ante. */
  readonly stake: Coins;
}

/** One step of a finished game. */
export interface GameStep {
  readonly at: Time;
  /** What happened, as it was told: the schema `TongitsEvent` of asyncapi.yaml. */
  readonly events: readonly (Readonly<Record<string, unknown>>)[];
  /** From 0, which is the deal. */
  readonly number: number;
  readonly taken: (StepTaken | null);
  /** The game after it: the schema `TongitsView` of asyncapi.yaml. */
  readonly view: Readonly<Record<string, unknown>>;
}

/** Some steps of a finished game. */
export interface GameSteps {
  readonly game: string;
  readonly items: readonly GameStep[];
  /** The `offset` of the steps after these; null when there are none. */
  readonly next_offset: number | null;
  /** Where the player sat. */
  readonly seat: number;
  /** How many steps the game has in all. */
  readonly total: number;
}

/** A device asks for its player. */
export interface GuestSignIn {
  /** A random text that this installation has drawn once and keeps. It works like a password. */
  readonly device_id: DeviceId;
  readonly name?: (Name | null);
  readonly time_zone?: (DeviceTimeZone | null);
}

/** An ID token, as the issuer gave it to the client. */
export type IdToken = string;

/** An account elsewhere that signs the player in. */
export interface Identity {
  /** As the house's settings call it; its address, where they do so no more. */
  readonly issuer: string;
  readonly linked_at: Time;
  /** What the issuer calls its user. */
  readonly subject: string;
}

/** An issuer of ID tokens, as the house's settings call it. */
export type IssuerName = string;

/** Part of a leaderboard. */
export interface Leaderboard {
  readonly board: Board;
  readonly items: readonly BoardPlace[];
  /** The game, by its name. */
  readonly kind: string;
  readonly own: (BoardPlace | null);
  readonly span: Span;
  /** The first day of the span; 1970-01-01 for all time. */
  readonly starts_on: string;
  /** Whose days and weeks they are. */
  readonly time_zone: string;
  /** How many players have a place. */
  readonly total: number;
}

/** An ID token whose subject is to sign in the player. */
export interface LinkIdentity {
  /** That which asked for the nonce in the token. */
  readonly device_id: DeviceId;
  readonly id_token: IdToken;
  /** As the house's settings call it. */
  readonly issuer: IssuerName;
}

/** A player whom another has listed. */
export interface ListedPlayer {
  readonly name: string;
  readonly player: string;
  readonly since: Time;
}

/** Players whom the player has listed, the latest first. At most 500. */
export interface ListedPlayers {
  readonly items: readonly ListedPlayer[];
}

/** A wish to play, and what became of it. */
export interface MatchmakingTicket {
  readonly created_at: Time;
  /** When it is given up. What became of it is known for a minute after that. */
  readonly expires_at: Time;
  readonly id: string;
  /** The reason for which a player waits although others do. Absent if there is none. */
  readonly reason?: "only_same_network";
  readonly rooms: readonly string[];
  /** Where a ticket stands. */
  readonly state: "waiting" | "placed" | "seated" | "cancelled" | "expired";
  /** Where the player sits, once seated: open the socket and join. */
  readonly table: string | null;
}

/** A player, to itself. */
export interface Me {
  /** One of `GET /v1/avatars`. */
  readonly avatar: string;
  readonly created_at: Time;
  readonly id: string;
  readonly name: string;
  readonly renamable_at: (Time | null);
  /** The time zone whose days count for rewards; null for the house's own. */
  readonly time_zone: string | null;
}

/** A finished game as one of its players lists it. */
export interface MyGame {
  /** What the player paid into the POT before the deal. */
  readonly ante: Coins;
  /** How many bots of the house played. */
  readonly bots: number;
  /** How it ended; null when it was voided, and for some seconds after it was settled. */
  readonly ending: string | null;
  /** By the house's time; by the clock of the database when the game was voided. */
  readonly finished_at: Time;
  readonly id: string;
  /** The game, by its name. */
  readonly kind: string;
  /**
   * The change of the player's coins, the ante aside: the fee is taken off, the POT is in it.
   * Zero when the game was voided or its settlement reversed.
   */
  readonly net: Coins;
  /** By the house's time, as deadlines are. */
  readonly opened_at: Time;
  /** What it came to for the player. */
  readonly outcome: GameOutcome;
  readonly reversed_at: (Time | null);
  readonly room: string;
  /** Where the player sat, from 0. */
  readonly seat: number;
  /** The most that the player could lose beside the ante. */
  readonly stake: Coins;
  /** How a game ended as far as coins are concerned. */
  readonly state: "settled" | "voided";
  readonly table: string;
}

/** A player's name: 2 to 20 characters with a letter or digit among them, nothing invisible, few accents on a letter, whole emoji. It is kept in Unicode's form NFC. White space is made single and trimmed, and only then counted. The detail of a refusal says which of this is broken. */
export type Name = string;

/** A nonce. */
export interface Nonce {
  readonly expires_at: Time;
  /** To be given to the issuer, which puts it into the ID token. */
  readonly nonce: string;
}

/** Something that a player is told. */
export interface Notice {
  readonly amount: (Coins | null);
  /** The code of a private table, for a `rematch`. */
  readonly code: string | null;
  readonly created_at: Time;
  /** The player who invites, for a `rematch`. */
  readonly from: string | null;
  /** The game that it is about, if any. */
  readonly game: string | null;
  readonly id: string;
  /**
   * What it is about, for programs. `game_voided`: the game could not be finished, and `amount`
   * is what came back, ante and stake. `pot_returned`: a table is gone, or was a private one that
   * has ended or from which the player had to go, and `amount` is what the player had paid into
   * its POT. `private_limit`: at a private table a game did not begin with the player, because it
   * could have brought more than the player may still win at such tables. `room_limit`: the same in
   * a room, because of what the player has won of others at the table within a day.
   * `banned`: the player could not come in for a time. `ban_lifted`: a ban was taken back.
   * `muted`: what the player says at tables is refused. `mute_lifted`: that was taken back.
   * `rematch`: the player `from` wants to play `game` again, at the private table of `code`. Kinds
   * are added, not changed.
   */
  readonly kind: string;
  /** The name of that player; null once the account was deleted. */
  readonly name: string | null;
  readonly read_at: (Time | null);
}

/** An ID token asks for its player. */
export interface OpenIdSignIn {
  /**
   * That which asked for the nonce in the token. It does not sign in by itself; it tells who plays from
   * one device.
   */
  readonly device_id: DeviceId;
  /** As the issuer gave it to the client. */
  readonly id_token: IdToken;
  /** As the house's settings call it. */
  readonly issuer: IssuerName;
  readonly name?: (Name | null);
  readonly time_zone?: (DeviceTimeZone | null);
}

/** What the host wants to play. */
export interface OpenPrivate {
  /** In hundredths of a coin: from 1 to 100,000 coins. */
  readonly bet: number;
  /** The game to play; that of the room where it is left out. */
  readonly kind?: string | null;
  /** Whose fee, POT rules, countdowns and, if none is named, rule set hold. */
  readonly room: string;
  /** One of the game's rule sets, with its own POT rules; the room's rules where it is left out. */
  readonly rule_set?: string | null;
  /** Fields of the game's rules that are to be otherwise than the rule set has them. */
  readonly rules?: Readonly<Record<string, unknown>> | null;
  /**
   * A player whose wallet does not cover the most that a game can cost plays on with all that is
   * in it, and does not leave the table with `cannot_pay` (rule 6.9 of Tong-its). Refused for
   * games that do not know this.
   */
  readonly short_stakes?: boolean;
}

/** A part of a list, and where the next one begins. */
export interface PageOf_MyGame {
  readonly items: readonly MyGame[];
  /** Give it back as `cursor` for the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A part of a list, and where the next one begins. */
export interface PageOf_Notice {
  readonly items: readonly Notice[];
  /** Give it back as `cursor` for the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A part of a list, and where the next one begins. */
export interface PageOf_Session {
  readonly items: readonly Session[];
  /** Give it back as `cursor` for the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A part of a list, and where the next one begins. */
export interface PageOf_UnrevealedBody {
  readonly items: readonly UnrevealedBody[];
  /** Give it back as `cursor` for the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A part of a list, and where the next one begins. */
export interface PageOf_WalletEntry {
  readonly items: readonly WalletEntry[];
  /** Give it back as `cursor` for the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A part of a list, and where the next one begins. */
export interface PageOf_WatchableTable {
  readonly items: readonly WatchableTable[];
  /** Give it back as `cursor` for the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A name and a password ask for their player. */
export interface PasswordSignIn {
  /** As for guests. It does not sign in by itself; it tells who plays from one device. */
  readonly device_id?: string | null;
  /** In great or small letters. */
  readonly name: string;
  readonly password: string;
}

/** A player, to everybody who is signed in. */
export interface PlayerProfile {
  /** One of `GET /v1/avatars`. */
  readonly avatar: string;
  readonly created_at: Time;
  readonly id: string;
  /** A bot of the house, and nobody's account. */
  readonly is_bot: boolean;
  readonly name: string;
  /** By game. */
  readonly statistics: readonly Statistics[];
}

/** What the player wants to practise. */
export interface Practise {
  /** The game to play. */
  readonly kind: string;
  /** How many sit there, the player among them; as few as the game takes where it is left out. */
  readonly players?: number | null;
  /** One of the game's rule sets; its first where it is left out. */
  readonly rule_set?: string | null;
  /** Fields of the game's rules that are to be otherwise than the rule set has them. */
  readonly rules?: Readonly<Record<string, unknown>> | null;
}

/** A seat at a private table. */
export interface PrivateSeat {
  /** Whoever has it may sit down. Upper and lower case are the same. */
  readonly code: string;
  /** The same, to be sent to friends. */
  readonly link: string;
  readonly table: string;
}

/** A private table before one sits down. */
export interface PrivateTable {
  readonly bet: Coins;
  readonly code: string;
  readonly fee_basis_points: number;
  /** Wins in a row that take the POT; none where there is none. */
  readonly hits_to_win: number | null;
  /** Who may send others away. */
  readonly host: string;
  /** The game, by its name. */
  readonly kind: string;
  readonly link: string;
  /** The most that one game can cost one seat, its ante included. */
  readonly loss_max: Coins;
  readonly multiplier: number;
  /** Who sits there. */
  readonly players: readonly string[];
  /** None where switches are set otherwise than in every rule set. */
  readonly rule_set: string | null;
  /** The game's rules, whole. */
  readonly rules: Readonly<Record<string, unknown>>;
  readonly seats: number;
  /** A game begins when so many are ready. */
  readonly seats_min: number;
  /** A wallet that holds less before a later game is staked whole. */
  readonly short_stakes: boolean;
  readonly table: string;
  /** The least that a wallet must hold to sit down. */
  readonly wallet_min: Coins;
}

/** Why a request was refused (RFC 9457). Branch on `code`. */
export interface Problem {
  /** The kind of problem, for programs; stable. */
  readonly code: ProblemCode;
  /** What about this very request, for people. */
  readonly detail?: string;
  /** The HTTP status, again. */
  readonly status: number;
  /** The kind of problem, for people. */
  readonly title: string;
  /** A page about this kind of problem, relative to the server. */
  readonly type: string;
}

/** The kind of a problem, for programs. Codes are added, not changed. */
export type ProblemCode = "route_not_found" | "method_not_allowed" | "path_invalid" | "query_invalid" | "cursor_invalid" | "body_not_json" | "body_too_large" | "body_unreadable" | "body_malformed" | "body_invalid" | "time_zone_unknown" | "idempotency_key_missing" | "idempotency_key_invalid" | "idempotency_key_reused" | "idempotency_key_in_use" | "too_many_idempotency_keys" | "host_invalid" | "token_missing" | "token_malformed" | "token_forged" | "token_expired" | "token_revoked" | "refresh_token_unknown" | "refresh_token_reused" | "refresh_token_expired" | "session_ended" | "credentials_wrong" | "id_token_refused" | "proof_missing" | "proof_refused" | "banned" | "form_foreign" | "operator_token_unknown" | "operator_token_expired" | "second_factor_missing" | "operator_role_missing" | "too_many_requests" | "sign_in_locked" | "exported_lately" | "sign_in_busy" | "origin_refused" | "game_not_found" | "game_not_finished" | "game_voided" | "analysis_busy" | "own_player" | "too_many_relations" | "already_reported" | "report_not_found" | "report_decided" | "notice_not_found" | "password_wrong" | "device_wrong" | "device_taken" | "identity_wrong" | "proof_insufficient" | "password_easy" | "password_set" | "password_not_set" | "name_reserved" | "name_taken" | "name_changed_lately" | "issuer_unknown" | "issuer_unavailable" | "identity_taken" | "issuer_linked" | "last_sign_in" | "session_not_found" | "in_game" | "room_not_found" | "too_few_coins" | "room_closed" | "socket_required" | "not_ready_before" | "too_many_coins" | "account_required" | "private_bet_too_high" | "room_limit" | "rooms_invalid" | "seated_elsewhere" | "ticket_not_found" | "ticket_matched" | "code_not_found" | "rules_invalid" | "bet_invalid" | "too_many_private_tables" | "practice_full" | "table_full" | "barred" | "not_host" | "game_running" | "seat_after_game" | "bots_unavailable" | "rematch_over" | "room_taken" | "room_changed" | "room_unsound" | "too_many_rooms" | "seating" | "not_seated" | "table_halted" | "daily_claimed" | "relief_not_due" | "relief_used_up" | "network_used_up" | "welcome_due" | "player_not_found" | "account_not_found" | "operation_not_found" | "correction_not_found" | "adjustment_too_large" | "correction_own" | "correction_not_independent" | "adjustment_day_max" | "correction_decided" | "not_reversible" | "already_reversed" | "reversal_requested" | "overdrawn" | "operator_not_found" | "operator_taken" | "operator_own" | "not_banned" | "not_muted" | "table_not_found" | "no_game" | "not_halted" | "table_broken" | "table_live" | "pot_empty" | "upgrade_required" | "upgrade_invalid" | "request_timeout" | "timed_out" | "archive_unreachable" | "unavailable" | "internal";

/** A player, to others. */
export interface PublicPlayer {
  /** One of `GET /v1/avatars`. */
  readonly avatar: string;
  readonly id: string;
  /** A bot of the house, and nobody's account. */
  readonly is_bot: boolean;
  readonly name: string;
}

/** Players as others see them. */
export interface PublicPlayers {
  readonly items: readonly PublicPlayer[];
}

/** A refresh token. */
export interface Refresh {
  readonly device_id?: (DeviceId | null);
  /** The newest of the session. */
  readonly refresh_token: string;
}

/** Coins for a wallet that has run nearly empty. */
export interface Relief {
  readonly amount: Coins;
  /** Whether it can be claimed now. */
  readonly claimable: boolean;
  /** It is for players who have less than this, what is held included. */
  readonly floor: Coins;
  /** How often it can still be claimed on this day of the player's time zone. */
  readonly left_today: number;
}

/** Relief that was given. */
export interface ReliefClaimed {
  /** What was given. */
  readonly amount: Coins;
  /** What can be spent after it. */
  readonly available: Coins;
  readonly left_today: number;
}

/** What the player has reported of another one. */
export type ReportMade = ReportReceived & {
  readonly reported: string;
  readonly words: string | null;
};

/** What a player reports about another one of a game. */
export interface ReportPlayer {
  readonly player: string;
  readonly reason: ReportReason;
  /** In the player's own words; nothing invisible but line breaks. */
  readonly words?: string | null;
}

/** Why a player is reported. */
export type ReportReason = "cheating" | "collusion" | "abuse" | "name" | "stalling" | "other";

/** A report, and what was made of it. */
export interface ReportReceived {
  readonly decided_at: (Time | null);
  readonly game: string;
  /** `upheld` or `dismissed`; null while it waits. */
  readonly outcome: string | null;
  readonly reason: string;
  readonly reported_at: Time;
}

/** What I may claim. */
export interface Rewards {
  readonly daily: DailyReward;
  readonly relief: Relief;
}

/** A game at a bet. */
export interface Room {
  /** What each seat pays into the POT before each game; zero where there is none. */
  readonly ante: Coins;
  /** One count at multiplier 1. */
  readonly bet: Coins;
  /** The house's share of what a winner receives, in ten-thousandths. */
  readonly fee_basis_points: number;
  /** The game for people. */
  readonly game: string;
  /** Whether some of its rules are otherwise than that rule set's: a table shows all. */
  readonly has_own_switches: boolean;
  /** Wins in a row that take the POT; none for a room without one. */
  readonly hits_to_win: number | null;
  readonly id: string;
  /** Whether games may begin. */
  readonly is_open: boolean;
  /** The game, by its name. */
  readonly kind: string;
  /** The most that one game can cost one seat, its ante included. */
  readonly loss_max: Coins;
  readonly multiplier: number;
  /** As people read it. */
  readonly name: string;
  /** Whether only players with a password or an identity may sit down, and no guests. */
  readonly needs_account: boolean;
  /** Who sits there now, as of a second ago at most. */
  readonly players: number;
  /** The rule set by its name. */
  readonly rule_set: string;
  /** How many play at a table at most. */
  readonly seats: number;
  /** A game begins when so many are ready. */
  readonly seats_min: number;
  /** At so many tables. */
  readonly tables: number;
  readonly wallet_max: (Coins | null);
  /** The least that a wallet must hold to sit down: the ante and the greatest possible loss. */
  readonly wallet_min: Coins;
}

/** A room's id: lower-case letters, digits and hyphens. */
export type RoomText = string;

/** The rooms of the house. */
export interface Rooms {
  readonly items: readonly Room[];
}

/** The table where a player sits. Join it over the socket to play there. */
export interface SeatedAt {
  /** The reason for which a player waits although others do. Absent if there is none. */
  readonly reason?: "only_same_network";
  readonly table: string;
}

/** Where a player wants to play. */
export interface Seek {
  /** Any of these rooms will do; those that the wallet does not fit are left out. */
  readonly rooms: readonly RoomText[];
}

/** A session that has not ended. */
export interface Session {
  /** Where it was last refreshed from; of IPv6 the network. */
  readonly address: string | null;
  readonly created_at: Time;
  /** Whether it is the one that asks. */
  readonly current: boolean;
  readonly id: string;
  /** When it was opened or last refreshed. */
  readonly last_seen_at: Time;
  /** How it was opened: `guest`, `password` or `openid`. */
  readonly method: string;
  /** What the client calls itself. */
  readonly user_agent: string | null;
}

/** What signs the player in, shown once more. */
export type ShowProof = ({
  readonly by: "device";
  readonly device_id: DeviceId;
} | {
  readonly by: "password";
  readonly password: string;
} | {
  readonly by: "identity";
  /** That which asked for the nonce in the token. */
  readonly device_id: DeviceId;
  readonly id_token: IdToken;
  /** As the house's settings call it. */
  readonly issuer: IssuerName;
});

/** A player and the tokens of its new session. */
export type SignedIn = Tokens & {
  readonly player: Me;
};

/** A hand to sort. */
export interface Sort {
  readonly by: SortBy;
  /** At most 13 cards, each once. */
  readonly cards: readonly Card[];
}

/** How to sort. */
export type SortBy = "suit" | "arrangement";

/** The same cards in groups. */
export interface Sorted {
  readonly groups: readonly (readonly Card[])[];
}

/** Over which time scores are summed. */
export type Span = "day" | "week" | "season" | "ever";

/** What a player has done in all settled games of one kind, some seconds behind. */
export interface Statistics {
  /** The largest POT taken. */
  readonly best_pot: Coins;
  readonly best_streak: number;
  /** What else is counted at this game; all of its counters, also those that are zero. */
  readonly counters: readonly StatisticsCounter[];
  /** The game for people. */
  readonly game: string;
  readonly games: number;
  /** How often the player took the POT. */
  readonly hits: number;
  /** The game, by its name. */
  readonly kind: string;
  /** Wins in a row, at whatever tables. */
  readonly streak: number;
  readonly wins: number;
}

/** Statistics of every game that the player has played. */
export interface StatisticsByGame {
  readonly items: readonly Statistics[];
}

/** Something that is counted at one game. */
export interface StatisticsCounter {
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly value: number;
}

/** Who acted in a step. */
export interface StepTaken {
  /** The schema `TongitsAction` of asyncapi.yaml. */
  readonly action: Readonly<Record<string, unknown>>;
  readonly by: ChosenByWhom;
  readonly seat: number;
}

/** A ticket that opens one socket. */
export interface Ticket {
  readonly expires_at: Time;
  /** To be sent once, in the first message of a socket; never in an address. */
  readonly ticket: string;
}

/** An instant: RFC 3339 in UTC, to the millisecond. */
export type Time = string;

/** The IANA name of a time zone. */
export type TimeZone = string;

/** The tokens of a session. */
export interface Tokens {
  readonly access_expires_at: Time;
  /** To be sent as `Authorization: Bearer <token>`. */
  readonly access_token: string;
  readonly refresh_expires_at: Time;
  /** Good for one use; keep the newest. */
  readonly refresh_token: string;
  /** The session that the tokens are for. */
  readonly session: string;
}

/** What a transfer was for. */
export type TransferCode = "ante" | "hold" | "payment" | "fee" | "release" | "pot" | "refund" | "welcome" | "daily" | "relief" | "adjustment" | "reversal" | "return" | "house_bot" | "sweep";

/** A commitment of the house whose seed was never revealed. */
export interface UnrevealedBody {
  /** The SHA-256 of the house's seed, in hexadecimal, as the table showed it with `preparing`. */
  readonly commitment: string;
  readonly game: string;
  /** The game, by its name. */
  readonly kind: string;
  readonly opened_at: Time;
  readonly table: string;
  readonly voided_at: (Time | null);
}

/** What a player has. */
export interface Wallet {
  /** What can be spent. */
  readonly available: Coins;
  /** What is held as a stake in a game that is going on. */
  readonly held: Coins;
  /** The number of the newest entry; 0 when there is none. */
  readonly version: number;
}

/** One change of a wallet. */
export interface WalletEntry {
  /** Below zero when coins left the wallet. */
  readonly amount: Coins;
  readonly balance_after: Coins;
  readonly balance_before: Coins;
  readonly booked_at: Time;
  /** What the transfer was for. */
  readonly code: TransferCode;
  /** The game that it belongs to, if any. */
  readonly game: string | null;
  /** Where the record of that game is, once it is settled. */
  readonly record: string | null;
  /** Entries are numbered from 1 without a gap. */
  readonly version: number;
}

/** A table that may be watched: send `watch` with its id over the socket. */
export interface WatchableTable {
  /** How many sit there, bots of the house among them. */
  readonly players: number;
  readonly room: string;
  readonly seats: number;
  readonly table: string;
}

/** How a player can sign in. */
export interface WaysIn {
  /** How many devices sign the player in by themselves. */
  readonly devices: number;
  readonly identities: readonly Identity[];
  readonly password_set_at: (Time | null);
}
