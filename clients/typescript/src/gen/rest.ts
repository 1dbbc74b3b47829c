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
  /** Request a rematch of one of my games */
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
    body: PlayerReportRequest;
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
    body: MatchmakingRequest;
    answer: MatchmakingTicket;
  };
  /** Show my ticket */
  "GET /v1/matchmaking/tickets/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: MatchmakingTicket;
  };
  /** Cancel my ticket */
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
    answer: OwnProfile;
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
    body: ProfileChangeRequest;
    answer: OwnProfile;
  };
  /** List the players I block */
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
    body: DeviceChangeRequest;
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
  /** Export all data held about me */
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
    answer: PageOf_GameSummary;
  };
  /** Link an external identity */
  "POST /v1/me/identities": {
    path: undefined;
    query: undefined;
    headers: { "Account-Proof": string };
    body: IdentityLinkRequest;
    answer: SignInMethods;
  };
  /** Unlink an external identity */
  "DELETE /v1/me/identities/{issuer}": {
    path: { issuer: string };
    query: undefined;
    headers: { "Account-Proof": string };
    body: undefined;
    answer: null;
  };
  /** List the players I mute */
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
  /** List my passes */
  "GET /v1/me/passes": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: TournamentPasses;
  };
  /** Change my password */
  "PUT /v1/me/password": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: PasswordChangeRequest;
    answer: null;
  };
  /** Set my first password */
  "POST /v1/me/password": {
    path: undefined;
    query: undefined;
    headers: { "Account-Proof": string };
    body: FirstPasswordRequest;
    answer: OwnProfile;
  };
  /** Prove that the account is mine */
  "POST /v1/me/proof": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ProofRequest;
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
  /** Show my sign-in methods */
  "GET /v1/me/sign-in-methods": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SignInMethods;
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
    query: { code?: readonly ("ante" | "hold" | "payment" | "fee" | "release" | "pot" | "refund" | "welcome" | "daily" | "relief" | "adjustment" | "reversal" | "pot_refund" | "house_bot" | "sweep" | "tournament_entry" | "tournament_return" | "tournament_fee" | "tournament_fee_return" | "guarantee" | "guarantee_return" | "prize" | "tournament_refund")[]; from?: string; to?: string; cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_WalletEntry;
  };
  /** Request a socket ticket */
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
    body: PracticeTableRequest;
    answer: SeatedTable;
  };
  /** Open a private table */
  "POST /v1/private-tables": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: OpenPrivateTableRequest;
    answer: PrivateSeat;
  };
  /** Show a private table */
  "GET /v1/private-tables/{code}": {
    path: { code: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: PrivateTable;
  };
  /** Fill my private table with bots */
  "POST /v1/private-tables/{code}/bots": {
    path: { code: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: PrivateTable;
  };
  /** Remove a player from my private table */
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
  /** Take a seat in a room */
  "POST /v1/rooms/{room}/seat": {
    path: { room: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SeatedTable;
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
  /** Sign in with an external identity */
  "POST /v1/sign-in/openid": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: OpenIdSignIn;
    answer: SignedIn;
  };
  /** Request a nonce */
  "POST /v1/sign-in/openid/nonce": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: NonceRequest;
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
    body: SortRequest;
    answer: SortedHand;
  };
  /** Show my table */
  "GET /v1/table": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SeatedTable;
  };
  /** Leave my table */
  "DELETE /v1/table": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SeatedTable;
  };
  /** Exchange a refresh token for new tokens */
  "POST /v1/token/refresh": {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: RefreshRequest;
    answer: Tokens;
  };
  /** List the tournaments */
  "GET /v1/tournaments": {
    path: undefined;
    query: { state?: "announced" | "running" | "ended" | "cancelled"; mine?: boolean; code?: string; cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_Tournament;
  };
  /** Show a tournament */
  "GET /v1/tournaments/{id}": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: TournamentDetail;
  };
  /** Register for a tournament */
  "PUT /v1/tournaments/{id}/entry": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: RegistrationRequest;
    answer: TournamentDetail;
  };
  /** Withdraw from a tournament */
  "DELETE /v1/tournaments/{id}/entry": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** List the games of a tournament */
  "GET /v1/tournaments/{id}/games": {
    path: { id: string };
    query: { cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_TournamentGame;
  };
  /** Pause in an arena tournament */
  "PUT /v1/tournaments/{id}/pause": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** End a pause in an arena tournament */
  "DELETE /v1/tournaments/{id}/pause": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: null;
  };
  /** List the results of a tournament */
  "GET /v1/tournaments/{id}/results": {
    path: { id: string };
    query: { cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_TournamentResults;
  };
  /** Compare my round with those of the same cards */
  "GET /v1/tournaments/{id}/rounds/{round}/comparison": {
    path: { id: string; round: number };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: RoundComparison;
  };
  /** Show the deals of a round */
  "GET /v1/tournaments/{id}/rounds/{round}/deals": {
    path: { id: string; round: number };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: RoundDeals;
  };
  /** List the standings of a tournament */
  "GET /v1/tournaments/{id}/standings": {
    path: { id: string };
    query: { section?: "top" | "around"; cursor?: string; limit?: number };
    headers: undefined;
    body: undefined;
    answer: PageOf_TournamentStanding;
  };
  /** Show my table of a tournament */
  "GET /v1/tournaments/{id}/table": {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    answer: SeatedTable;
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
  "GET /v1/tournaments/{id}/rounds/{round}/deals",
]);

/** A proof, for the header `Account-Proof`. */
export interface AccountProof {
  readonly expires_at: Time;
  readonly proof: string;
}

/** The origin of an action: the player, the clock, or the AI. */
export type ActionSource = "player" | "clock" | "ai";

/**
 * A decision of the player, with the action that the bot prefers. A value is the average amount
 * that a seat wins from the others, minus what it loses to them, in hundredths of a bet times the
 * multiplier, before the fee and without ante and POT: 150 is one and a half bets.
 */
export interface AnalysisItem {
  /** The player's action: the schema `TongitsAction` of asyncapi.yaml. */
  readonly action: Readonly<Record<string, unknown>>;
  /** The bot's action, chosen from what the seat had been shown. */
  readonly advised: Readonly<Record<string, unknown>>;
  /** The value of the bot's action, in hundredths of a bet. */
  readonly advised_value: number;
  /** The difference between the two values, in hundredths of a bet. */
  readonly loss: number;
  /** The number of the step in `/steps` in which the action was taken. */
  readonly step: number;
  /** The value of the player's action, in hundredths of a bet. */
  readonly value: number;
}

/** The catalogue of avatars. */
export interface Avatars {
  /** The names of the avatars. The pictures are part of the clients. */
  readonly items: readonly string[];
}

/**
 * The score by which players are ranked: the coins that won games brought, in hundredths of a
 * coin; the number of POTs won; or the skill rating.
 */
export type Board = "coins" | "hits" | "rating";

/** A card: rank A23456789TJQK, then suit C D H S. */
export type Card = string;

/** One outcome of chance. */
export type ChanceOutcome = ({
  /** A number below the bound that was asked for. */
  readonly number: number;
} | {
  /** A permutation of items that are numbered from 0. */
  readonly order: readonly number[];
});

/** The contribution of one client to a deal. */
export interface ClientContribution {
  /**
   * The commitment that the client sent with `ready`, shown to all before the first text was
   * asked for; zeros for a client that took no part.
   */
  readonly commitment: string;
  /** The seed that entered the deal. */
  readonly seed: string;
  /** The text that the client revealed when all were ready; null if it revealed none. */
  readonly text: string | null;
}

/** An amount of coins, as an integer in hundredths of a coin: 1170 is 11.70 coins. Never a floating-point number. */
export type Coins = number;

/** A player who held the same cards at another table. */
export interface ComparedPlayer {
  readonly is_bot: boolean;
  readonly name: string;
  readonly player: string;
  /** The points, in hundredths. */
  readonly points: number;
  /** The number of the player's table in the round, from 1. */
  readonly table_number: number;
}

/** A claimed daily reward. */
export interface DailyClaimed {
  /** The granted amount. */
  readonly amount: Coins;
  /** The amount that can be spent afterwards. */
  readonly available: Coins;
  /** The next claim. */
  readonly next: DailyReward;
  readonly streak_day: number;
}

/** The next claim of the daily reward. */
export interface DailyReward {
  readonly amount: Coins;
  /** True if the reward can be claimed now. */
  readonly claimable: boolean;
  /**
   * The time from which the reward can be claimed, which is the beginning of a day in the
   * player's time zone. In the past if the reward can be claimed now.
   */
  readonly claimable_at: Time;
  /**
   * The day's number in the streak. The streak restarts after the seventh day and after a missed
   * day.
   */
  readonly streak_day: number;
}

/** Counts of opened, settled and voided games, up to a full hour. */
export interface DealsReport {
  /**
   * The number of games that were opened more than an hour before `to` and are neither settled
   * nor voided.
   */
  readonly games_unended: number;
  /** The last day, the last week, and the last thirty days. */
  readonly spans: readonly DealsSpan[];
  /** The end of the last hour that is counted. */
  readonly to: Time;
}

/**
 * The counts of the hours before `to`. A game counts in each span in which it was opened, and
 * again in each in which it was settled or voided.
 */
export interface DealsSpan {
  readonly games_opened: number;
  /** Games played to their end; each has a record that anybody can verify. */
  readonly games_settled: number;
  /**
   * Games that ended without a settlement, with all coins returned. This includes games for
   * which seeds were requested but which were never dealt.
   */
  readonly games_voided: number;
  readonly hours: number;
  /** The number of voided games per million that ended; null if none ended. */
  readonly voided_per_million: number | null;
}

/** A change of a device's id. */
export interface DeviceChangeRequest {
  /** The id that signs the player in at present. */
  readonly device_id: DeviceId;
  /**
   * The new id, another random text. Store it before the call, so that it is not lost with the
   * response.
   */
  readonly new_device_id: string;
}

/** A random text that an installation has generated once and keeps. */
export type DeviceId = string;

/** A time zone as the device names it; the server ignores names that it does not know. */
export type DeviceTimeZone = string;

/** The state of a player's entry. */
export type EntryState = "pending" | "registered" | "playing" | "waiting" | "paused" | "eliminated" | "finished";

/** All data held about a player. */
export type Export = ExportHead & {
  /** Finished games, newest first. The record of each is at `/v1/games/{id}/record`. */
  readonly games: readonly GameSummary[];
  /** The notices in the player's inbox, newest first. */
  readonly notices: readonly Notice[];
  /** The sessions that are still stored, oldest first. */
  readonly sessions: readonly ExportedSession[];
  /** All entries of the wallet, newest first. */
  readonly wallet_entries: readonly WalletEntry[];
};

/** The short fields of an export. */
export interface ExportHead {
  readonly bans: readonly ExportedSanction[];
  /** The players whom this player blocks, the latest first. */
  readonly blocked_players: readonly ListedPlayer[];
  readonly devices: readonly ExportedDevice[];
  readonly exported_at: Time;
  readonly muted_players: readonly ListedPlayer[];
  /** The mutes that operators imposed on the player. */
  readonly mutes: readonly ExportedSanction[];
  /** The newest 50 notes that operators wrote about the player. */
  readonly notes: readonly ExportedNote[];
  /** The player's passes, unused ones first, at most 500. */
  readonly passes: readonly TournamentPass[];
  readonly player: OwnProfile;
  /** The reports that the player made, newest first. */
  readonly reports_made: readonly SentReport[];
  /**
   * The reports that others made about the player, newest first, without their authors and
   * texts, which are the authors' data.
   */
  readonly reports_received: readonly ReceivedReport[];
  readonly rewards: Rewards;
  readonly sign_in_methods: SignInMethods;
  /** The player's statistics, by game. */
  readonly statistics: readonly Statistics[];
  /** The tournaments for which the player has registered, newest first. */
  readonly tournaments: readonly ExportedTournament[];
  readonly wallet: Wallet;
}

/** A device that signs the player in. Only a hash of its id is stored. */
export interface ExportedDevice {
  readonly created_at: Time;
  readonly last_seen_at: Time;
}

/** A note that an operator wrote about the player. */
export interface ExportedNote {
  readonly words: string;
  readonly written_at: Time;
}

/** A ban or a mute, expired, lifted or in force. */
export interface ExportedSanction {
  readonly ends_at: (Time | null);
  readonly imposed_at: Time;
  readonly lifted_at: (Time | null);
  readonly reason: string;
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

/** A tournament for which the player has registered and not withdrawn. */
export interface ExportedTournament {
  readonly announced_at: Time;
  readonly name: string;
  /** The player's place; null until it is final. */
  readonly place: number | null;
  readonly prize: (Coins | null);
  readonly state: TournamentState;
  readonly tournament: string;
}

/** The deal of a finished game, with everything that is needed to verify it. */
export interface Fairness {
  /** The outcomes of chance, in order. The deck of a card game is one of them. */
  readonly chance: readonly ChanceOutcome[];
  /** The contributions of the clients, by seat. */
  readonly clients: readonly ClientContribution[];
  /**
   * The SHA-256 of the server's seed, in hexadecimal, as the table showed it with `preparing`
   * before it knew any client's seed.
   */
  readonly commitment: string;
  /**
   * The id in the key of the deal: the game's, or the tournament's if all tables of a duplicate's
   * round have played the deal.
   */
  readonly deal_id: string;
  readonly engine: string;
  readonly game: string;
  /** The steps of verification. */
  readonly how_to_verify: readonly string[];
  /** The game's kind. */
  readonly kind: string;
  /** The server's seed, which was secret until the game was over. */
  readonly server_seed: string;
  /** The seat that began because of an earlier win; null if chance decided. */
  readonly starter: number | null;
}

/** A first password, with the player's name. */
export interface FirstPasswordRequest {
  /** The name by which the player signs in and is shown to others. It may be the present name. */
  readonly name: Name;
  readonly password: NewPassword;
}

/** A finished game in full. */
export interface Game {
  /** The amount that each seat paid into the POT before the deal. */
  readonly ante: Coins;
  /** The way in which the game ended; null if it was voided. */
  readonly ending: string | null;
  /** The time of the house's clock; that of the database if the game was voided. */
  readonly finished_at: Time;
  readonly id: string;
  /** The game's kind. */
  readonly kind: string;
  /** The time of the house's clock, by which deadlines are set. */
  readonly opened_at: Time;
  readonly reversed_at: (Time | null);
  readonly room: string;
  readonly seats: readonly GameSeat[];
  /**
   * The settlement as the ledger booked it: the schema `Settlement` of asyncapi.yaml. Null if
   * the game was voided.
   */
  readonly settlement: Readonly<Record<string, unknown>> | null;
  /** The final state of a game. */
  readonly state: "settled" | "voided";
  readonly table: string;
}

/** The analysis of a finished game by the house's strongest bot, for one of its players. */
export interface GameAnalysis {
  /** The bot that analysed the game; null if the house has no bot for this game and its rules. */
  readonly engine: string | null;
  readonly game: string;
  /**
   * At most three decisions in which the bot prefers another action, in descending order of
   * loss. Empty if the bot found no better action.
   */
  readonly items: readonly AnalysisItem[];
  /** The player's seat. */
  readonly seat: number;
}

/** A game of the player beside the same cards at the other tables. */
export interface GameComparison {
  /** The number of other players who held these cards and had the same points. */
  readonly equal: number;
  /** The number of other players who held these cards and had fewer points. */
  readonly fewer: number;
  /** The id of the player's game, by which the player may request the record. */
  readonly game: string;
  /** The number of other players who held these cards and had more points. */
  readonly more: number;
  /** The number of the game in the round, from 1. */
  readonly number: number;
  /** The others with the most points, at most 20, the best first. */
  readonly others: readonly ComparedPlayer[];
  /** The mean of the others' points, in hundredths, rounded toward zero; null without others. */
  readonly others_mean: number | null;
  /** The player's points, in hundredths. */
  readonly points: number;
  /**
   * The score: 2 for each other player with fewer points and 1 for each with equal points, as a
   * share of the possible sum, in ten-thousandths (rule 5.3).
   */
  readonly score: number;
}

/** The outcome of a game for a player; `drawn` if nobody won. */
export type GameOutcome = "won" | "lost" | "drawn" | "voided";

/** A seat in a finished game. */
export interface GameSeat {
  /** The number of actions by their origin. */
  readonly actions: SeatActions;
  /** True if the player is a bot of the house, without a person's account. */
  readonly is_bot: boolean;
  /** The player's present name. */
  readonly name: string;
  /** The change of the player's coins without the ante; 0 once the settlement was reversed. */
  readonly net: Coins;
  readonly player: string;
  /** The number of the seat, counted from 0. */
  readonly seat: number;
  /** The most that the seat could lose beside the ante. */
  readonly stake: Coins;
}

/** One step of a finished game. */
export interface GameStep {
  readonly at: Time;
  /** The events as they were sent: the schema `TongitsEvent` of asyncapi.yaml. */
  readonly events: readonly (Readonly<Record<string, unknown>>)[];
  /** The number of the step; 0 is the deal. */
  readonly number: number;
  readonly taken: (StepAction | null);
  /** The game after the step: the schema `TongitsView` of asyncapi.yaml. */
  readonly view: Readonly<Record<string, unknown>>;
}

/** A range of steps of a finished game. */
export interface GameSteps {
  readonly game: string;
  readonly items: readonly GameStep[];
  /** The `offset` of the next range; null after the last step. */
  readonly next_offset: number | null;
  /** The player's seat. */
  readonly seat: number;
  /** The total number of steps of the game. */
  readonly total: number;
}

/** A finished game in the history of one of its players. */
export interface GameSummary {
  /** The amount that the player paid into the POT before the deal. */
  readonly ante: Coins;
  /** The number of house bots that played. */
  readonly bots: number;
  /**
   * The way in which the game ended; null if it was voided, and for some seconds after it was
   * settled.
   */
  readonly ending: string | null;
  /** The time of the house's clock; that of the database if the game was voided. */
  readonly finished_at: Time;
  readonly id: string;
  /** The game's kind. */
  readonly kind: string;
  /**
   * The change of the player's coins without the ante, after the fee and including the POT. Zero
   * if the game was voided or its settlement was reversed.
   */
  readonly net: Coins;
  /** The time of the house's clock, by which deadlines are set. */
  readonly opened_at: Time;
  /** The outcome for the player. */
  readonly outcome: GameOutcome;
  readonly reversed_at: (Time | null);
  readonly room: string;
  /** The player's seat, counted from 0. */
  readonly seat: number;
  /** The most that the player could lose beside the ante. */
  readonly stake: Coins;
  /** The final state of a game. */
  readonly state: "settled" | "voided";
  readonly table: string;
}

/** A guest's sign-in with a device. */
export interface GuestSignIn {
  /**
   * A random text that the installation has generated once and keeps. It is as secret as a
   * password.
   */
  readonly device_id: DeviceId;
  readonly name?: (Name | null);
  readonly time_zone?: (DeviceTimeZone | null);
}

/** An ID token, as the issuer gave it to the client. */
export type IdToken = string;

/** An external identity that signs the player in. */
export interface Identity {
  /**
   * The issuer's name in the house's settings, or its address if the settings no longer contain
   * it.
   */
  readonly issuer: string;
  readonly linked_at: Time;
  /** The subject, by which the issuer identifies its user. */
  readonly subject: string;
}

/** An ID token whose subject is to be linked to the player. */
export interface IdentityLinkRequest {
  /** The device that requested the nonce in the token. */
  readonly device_id: DeviceId;
  readonly id_token: IdToken;
  /** The issuer's name in the house's settings. */
  readonly issuer: IssuerName;
}

/** The name of an issuer of ID tokens in the house's settings. */
export type IssuerName = string;

/** Part of a leaderboard. */
export interface Leaderboard {
  readonly board: Board;
  readonly items: readonly LeaderboardRank[];
  /** The game's kind. */
  readonly kind: string;
  readonly own: (LeaderboardRank | null);
  readonly span: Span;
  /** The first day of the span; 1970-01-01 for all time. */
  readonly starts_on: string;
  /** The time zone in which days and weeks are counted. */
  readonly time_zone: string;
  /** The number of ranked players. */
  readonly total: number;
}

/**
 * A rank on a leaderboard. Equal scores share a rank and are listed in the order in which they
 * were reached.
 */
export interface LeaderboardRank {
  readonly name: string;
  readonly player: string;
  /** The rank, counted from 1, as in competitions: rank 4 follows two of rank 2. */
  readonly rank: number;
  /**
   * Hundredths of a coin, a number of POTs, or thousandths of a lower bound of the player's
   * rating. The lower bound is 0 for a player without rated games, and seldom below that.
   */
  readonly score: number;
}

/** A blocked or muted player. */
export interface ListedPlayer {
  readonly name: string;
  readonly player: string;
  readonly since: Time;
}

/** The blocked or muted players, the latest first; at most 500. */
export interface ListedPlayers {
  readonly items: readonly ListedPlayer[];
}

/** The rooms in which a player wants to play. */
export interface MatchmakingRequest {
  /** The acceptable rooms. Rooms that do not fit the player's wallet are ignored. */
  readonly rooms: readonly RoomText[];
}

/** A ticket, with its state. */
export interface MatchmakingTicket {
  readonly created_at: Time;
  /** The time at which the ticket expires. Its final state remains available for one minute. */
  readonly expires_at: Time;
  readonly id: string;
  /**
   * The reason for which a player waits although other players wait too. Absent if there is
   * none.
   */
  readonly reason?: "only_same_network";
  readonly rooms: readonly string[];
  /** The state of a ticket. */
  readonly state: "waiting" | "placed" | "seated" | "cancelled" | "expired";
  /** The table, once the player is seated: open the socket and join it. */
  readonly table: string | null;
}

/** A player's name: 2 to 20 characters with a letter or digit among them, nothing invisible, few accents on a letter, whole emoji. It is kept in Unicode's form NFC. White space is made single and trimmed, and only then counted. The detail of a refusal says which of this is broken. */
export type Name = string;

/** Any characters. Passwords that are commonly guessed are refused. */
export type NewPassword = string;

/** A nonce. */
export interface Nonce {
  readonly expires_at: Time;
  /** The nonce to pass to the issuer, which puts it into the ID token. */
  readonly nonce: string;
}

/** A request for a nonce, made by a device before it signs its user in with an issuer. */
export interface NonceRequest {
  /** The device's id, as for guests. The same device must present the token. */
  readonly device_id: DeviceId;
}

/** A message in a player's inbox. */
export interface Notice {
  readonly amount: (Coins | null);
  /** The code of the private table, for a `rematch`. */
  readonly code: string | null;
  readonly created_at: Time;
  /** The player who invites, for a `rematch`. */
  readonly from: string | null;
  /** The game that the notice is about, if any. */
  readonly game: string | null;
  readonly id: string;
  /**
   * The kind of the notice, for programs. `game_voided`: the game was voided, and `amount` is
   * the returned ante and stake. `pot_refunded`: the table no longer exists, or it was a private
   * table that ended or from which the player was removed; `amount` is what the player had paid
   * into its POT. `private_limit`: a game at a private table did not begin with the player,
   * because it could have won more than the player may still win at private tables.
   * `room_limit`: the same in a room, because of the amount that the player has won from the
   * other players of the table within a day. `banned`: the player is banned for a time.
   * `ban_lifted`: a ban was lifted. `muted`: the player's chat messages are refused.
   * `mute_lifted`: a mute was lifted. `rematch`: the player `from` invites to play `game`
   * again, at the private table with `code`. `tournament_soon`: the `tournament`, which
   * the player has entered, starts within five minutes. `tournament_started`: it has started.
   * `tournament_placed`: the player has the final `place`, without a prize. `tournament_prize`:
   * `amount` is the prize of the final `place`. `tournament_refund`: the tournament was
   * cancelled, and `amount` came back. `tournament_cancelled`: the same without an amount.
   * `pass_granted`: the player has a pass for a tournament with a buy-in of at most `amount`.
   * `pass_revoked`: the house revoked such a pass before an entry was paid by it.
   * Kinds may be added, but do not change.
   */
  readonly kind: string;
  /** The name of the inviting player; null once the account was deleted. */
  readonly name: string | null;
  /** The final place in the tournament, from 1. */
  readonly place: number | null;
  readonly read_at: (Time | null);
  /** The tournament that the notice is about, if any. */
  readonly tournament: string | null;
  readonly tournament_name: string | null;
}

/** A sign-in with an ID token. */
export interface OpenIdSignIn {
  /**
   * The device that requested the nonce in the token. It does not sign in by itself; it shows
   * which players use the same device.
   */
  readonly device_id: DeviceId;
  /** The ID token as the issuer gave it to the client. */
  readonly id_token: IdToken;
  /** The issuer's name in the house's settings. */
  readonly issuer: IssuerName;
  readonly name?: (Name | null);
  readonly time_zone?: (DeviceTimeZone | null);
}

/** A request for a private table. */
export interface OpenPrivateTableRequest {
  /** The bet, in hundredths of a coin: from 1 to 100,000 coins. */
  readonly bet: number;
  /** The game to play. Defaults to that of the room. */
  readonly kind?: string | null;
  /**
   * The room whose fee, POT rules and countdowns apply, and whose rule set applies if none is
   * named.
   */
  readonly room: string;
  /** One of the game's rule sets, with its own POT rules. Defaults to the room's rules. */
  readonly rule_set?: string | null;
  /** Fields of the game's rules that override those of the rule set. */
  readonly rules?: Readonly<Record<string, unknown>> | null;
  /**
   * Allows short stakes: a player whose wallet does not cover the maximum loss of a game plays
   * on with the whole wallet as the stake, instead of leaving the table with `cannot_pay` (rule
   * 6.9 of Tong-its). Refused for games that do not support it.
   */
  readonly short_stakes?: boolean;
}

/** A player's own profile. */
export interface OwnProfile {
  /** One of `GET /v1/avatars`. */
  readonly avatar: string;
  readonly created_at: Time;
  readonly id: string;
  readonly name: string;
  readonly renamable_at: (Time | null);
  /** The time zone whose days count for rewards; null for the house's time zone. */
  readonly time_zone: string | null;
}

/** One page of a list. */
export interface PageOf_GameSummary {
  readonly items: readonly GameSummary[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_Notice {
  readonly items: readonly Notice[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_Session {
  readonly items: readonly Session[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_Tournament {
  readonly items: readonly Tournament[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_TournamentGame {
  readonly items: readonly TournamentGame[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_TournamentResults {
  readonly items: readonly TournamentResults[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_TournamentStanding {
  readonly items: readonly TournamentStanding[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_UnrevealedBody {
  readonly items: readonly UnrevealedBody[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_WalletEntry {
  readonly items: readonly WalletEntry[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** One page of a list. */
export interface PageOf_WatchableTable {
  readonly items: readonly WatchableTable[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

export type Password = string;

/** A change of the password. */
export interface PasswordChangeRequest {
  readonly current_password: Password;
  readonly password: NewPassword;
}

/** A sign-in by name and password. */
export interface PasswordSignIn {
  readonly device_id?: (DeviceId | null);
  /** The player's name, in upper or lower case. */
  readonly name: string;
  readonly password: Password;
}

/** A player's public profile, for everybody who is signed in. */
export interface PlayerProfile {
  /** One of `GET /v1/avatars`. */
  readonly avatar: string;
  readonly created_at: Time;
  readonly id: string;
  /** True if the player is a bot of the house, without a person's account. */
  readonly is_bot: boolean;
  readonly name: string;
  /** The statistics, by game. */
  readonly statistics: readonly Statistics[];
}

/** A report about another player of a game. */
export interface PlayerReportRequest {
  readonly player: string;
  readonly reason: ReportReason;
  /**
   * A description in the player's own words. Control characters are not allowed, except line
   * breaks.
   */
  readonly words?: string | null;
}

/** A request for a practice table. */
export interface PracticeTableRequest {
  /** The game to play. */
  readonly kind: string;
  /** The number of seats, including the player's. Defaults to the minimum of the game. */
  readonly players?: number | null;
  /** One of the game's rule sets. Defaults to its first one. */
  readonly rule_set?: string | null;
  /** Fields of the game's rules that override those of the rule set. */
  readonly rules?: Readonly<Record<string, unknown>> | null;
}

/** A seat at a private table. */
export interface PrivateSeat {
  /** The code by which players join; upper and lower case are equivalent. */
  readonly code: string;
  /** The link to send to friends, with the same code. */
  readonly link: string;
  readonly table: string;
}

/** A private table, as shown to players before they sit down. */
export interface PrivateTable {
  readonly bet: Coins;
  readonly code: string;
  readonly fee_basis_points: number;
  /** The number of consecutive wins that take the POT; null without a POT. */
  readonly hits_to_win: number | null;
  /** The host, who may remove other players. */
  readonly host: string;
  /** The game's kind. */
  readonly kind: string;
  readonly link: string;
  /** The maximum loss of one seat in one game, including its ante. */
  readonly loss_max: Coins;
  readonly multiplier: number;
  /** The seated players. */
  readonly players: readonly string[];
  /** The rule set; null if the rules differ from every rule set. */
  readonly rule_set: string | null;
  /** All rules of the game. */
  readonly rules: Readonly<Record<string, unknown>>;
  readonly seats: number;
  /** The number of ready players at which a game begins. */
  readonly seats_min: number;
  /** True if a wallet that holds less than the maximum loss before a later game is staked whole. */
  readonly short_stakes: boolean;
  readonly table: string;
  /** The minimum balance required to sit down. */
  readonly wallet_min: Coins;
}

/** The reason for which a request was refused (RFC 9457). Branch on `code`. */
export interface Problem {
  /** The kind of problem, for programs; stable. */
  readonly code: ProblemCode;
  /** A text for people about this occurrence. */
  readonly detail?: string;
  /** The HTTP status, repeated. */
  readonly status: number;
  /** The kind of problem, for people. */
  readonly title: string;
  /** The address of a page about this kind of problem, relative to the server. */
  readonly type: string;
}

/** The kind of a problem, for programs. Codes may be added, but do not change. */
export type ProblemCode = "route_not_found" | "method_not_allowed" | "path_invalid" | "query_invalid" | "cursor_invalid" | "body_not_json" | "body_too_large" | "body_unreadable" | "body_malformed" | "body_invalid" | "time_zone_unknown" | "idempotency_key_missing" | "idempotency_key_invalid" | "idempotency_key_reused" | "idempotency_key_in_use" | "too_many_idempotency_keys" | "host_invalid" | "token_missing" | "token_malformed" | "token_forged" | "token_expired" | "token_revoked" | "refresh_token_unknown" | "refresh_token_reused" | "refresh_token_expired" | "session_ended" | "credentials_wrong" | "id_token_refused" | "proof_missing" | "proof_refused" | "banned" | "form_foreign" | "operator_token_unknown" | "operator_token_expired" | "second_factor_missing" | "operator_role_missing" | "too_many_requests" | "sign_in_locked" | "exported_lately" | "sign_in_busy" | "origin_refused" | "game_not_found" | "game_not_finished" | "game_voided" | "analysis_busy" | "own_player" | "too_many_relations" | "already_reported" | "report_not_found" | "report_decided" | "pair_not_found" | "notice_not_found" | "password_wrong" | "device_wrong" | "device_taken" | "identity_wrong" | "proof_insufficient" | "password_easy" | "password_set" | "password_not_set" | "name_reserved" | "name_taken" | "name_changed_lately" | "issuer_unknown" | "issuer_unavailable" | "identity_taken" | "issuer_linked" | "last_sign_in" | "session_not_found" | "in_game" | "room_not_found" | "too_few_coins" | "room_closed" | "socket_required" | "not_ready_before" | "too_many_coins" | "account_required" | "private_bet_too_high" | "room_limit" | "rooms_invalid" | "seated_elsewhere" | "ticket_not_found" | "ticket_matched" | "code_not_found" | "rules_invalid" | "bet_invalid" | "too_many_private_tables" | "practice_full" | "table_full" | "kicked_by_host" | "not_host" | "game_running" | "seat_after_game" | "bots_unavailable" | "rematch_over" | "room_taken" | "room_name_taken" | "room_changed" | "room_unsound" | "too_many_rooms" | "seating" | "not_seated" | "table_halted" | "tournament_not_found" | "tournament_code_required" | "tournament_over" | "registration_closed" | "tournament_full" | "passes_not_accepted" | "pass_missing" | "tournament_started" | "cancellation_changed" | "tournament_approval_required" | "tournament_request_not_found" | "tournament_request_own" | "tournament_request_not_own" | "tournament_request_not_independent" | "tournament_request_decided" | "tournament_schedule_not_found" | "tournament_unsound" | "not_registered" | "round_not_found" | "round_not_over" | "not_arena" | "daily_claimed" | "relief_not_due" | "relief_used_up" | "network_used_up" | "welcome_due" | "player_not_found" | "account_not_found" | "operation_not_found" | "correction_not_found" | "job_not_found" | "adjustment_too_large" | "correction_own" | "correction_not_own" | "correction_not_independent" | "adjustment_day_max" | "correction_decided" | "not_reversible" | "already_reversed" | "reversal_requested" | "adjustment_requested" | "pass_not_found" | "pass_held" | "pass_revoked" | "revocation_requested" | "overdrawn" | "operator_not_found" | "operator_taken" | "operator_own" | "last_administrator" | "not_banned" | "not_muted" | "sanction_not_found" | "table_not_found" | "no_game" | "game_changed" | "not_halted" | "table_broken" | "table_live" | "pot_empty" | "upgrade_required" | "upgrade_invalid" | "request_timeout" | "timed_out" | "archive_unreachable" | "unavailable" | "internal";

/** A change of the player's own profile. Absent fields stay as they are. */
export interface ProfileChangeRequest {
  /** One of `GET /v1/avatars`. */
  readonly avatar?: string | null;
  readonly name?: (Name | null);
  readonly time_zone?: (TimeZone | null);
}

/** A sign-in method of the player, presented once more. */
export type ProofRequest = ({
  readonly by: "device";
  readonly device_id: DeviceId;
} | {
  readonly by: "password";
  readonly password: Password;
} | {
  readonly by: "identity";
  /** The device that requested the nonce in the token. */
  readonly device_id: DeviceId;
  readonly id_token: IdToken;
  /** The issuer's name in the house's settings. */
  readonly issuer: IssuerName;
});

/** A player, as shown to other players. */
export interface PublicPlayer {
  /** One of `GET /v1/avatars`. */
  readonly avatar: string;
  readonly id: string;
  /** True if the player is a bot of the house, without a person's account. */
  readonly is_bot: boolean;
  readonly name: string;
}

/** A list of players. */
export interface PublicPlayers {
  readonly items: readonly PublicPlayer[];
}

/** A report and its outcome. */
export interface ReceivedReport {
  readonly decided_at: (Time | null);
  readonly game: string;
  /** `upheld` or `dismissed`; null while the report is undecided. */
  readonly outcome: string | null;
  readonly reason: string;
  readonly reported_at: Time;
}

/** A request for new tokens. */
export interface RefreshRequest {
  readonly device_id?: (DeviceId | null);
  /** The newest refresh token of the session. */
  readonly refresh_token: string;
}

/** A request to register for a tournament. */
export interface RegistrationRequest {
  /** The code of a private tournament. */
  readonly code?: string | null;
  /** The form of the payment; `coins` by default. */
  readonly payment?: string;
}

/** Coins for a nearly empty wallet. */
export interface Relief {
  readonly amount: Coins;
  /** True if relief can be claimed now. */
  readonly claimable: boolean;
  /** The balance below which a player may claim relief, held coins included. */
  readonly floor: Coins;
  /** The number of claims left on this day of the player's time zone. */
  readonly left_today: number;
}

/** Claimed relief. */
export interface ReliefClaimed {
  /** The granted amount. */
  readonly amount: Coins;
  /** The amount that can be spent afterwards. */
  readonly available: Coins;
  readonly left_today: number;
}

/** The reason for a report. */
export type ReportReason = "cheating" | "collusion" | "abuse" | "name" | "stalling" | "other";

/** The rewards of a player. */
export interface Rewards {
  readonly daily: DailyReward;
  readonly relief: Relief;
}

/** A room: a stake tier that the house offers. */
export interface Room {
  /** The amount that each seat pays into the POT before each game; zero without a POT. */
  readonly ante: Coins;
  /** The value of one count at multiplier 1. */
  readonly bet: Coins;
  /** The house's fee on a winner's receipts, in basis points (ten-thousandths). */
  readonly fee_basis_points: number;
  /** The game's title, for people. */
  readonly game: string;
  /** True if some rules differ from the rule set; a table shows all rules. */
  readonly has_own_switches: boolean;
  /** The number of consecutive wins that take the POT; null without a POT. */
  readonly hits_to_win: number | null;
  readonly id: string;
  /** True if new games may begin. */
  readonly is_open: boolean;
  /** The game's kind. */
  readonly kind: string;
  /** The maximum loss of one seat in one game, including its ante. */
  readonly loss_max: Coins;
  readonly multiplier: number;
  /** The name of the room, for people. */
  readonly name: string;
  /** True if only players with a password or an identity may sit down, but no guests. */
  readonly needs_account: boolean;
  /** The number of players seated at present, at most one second old. */
  readonly players: number;
  /** The name of the rule set. */
  readonly rule_set: string;
  /** The maximum number of players at a table. */
  readonly seats: number;
  /** The number of ready players at which a game begins. */
  readonly seats_min: number;
  /** The number of tables with players at present. */
  readonly tables: number;
  readonly wallet_max: (Coins | null);
  /** The minimum balance required to sit down: the ante plus the maximum loss. */
  readonly wallet_min: Coins;
}

/** A room's id: lower-case letters, digits and hyphens. */
export type RoomText = string;

/** The rooms of the house. */
export interface Rooms {
  readonly items: readonly Room[];
}

/** A player's games of a round beside those of the players who held the same cards. */
export interface RoundComparison {
  /**
   * The games that the player's table has played, from the first. A game that it has not played
   * scores 5,000.
   */
  readonly games: readonly GameComparison[];
  readonly round: number;
  /** The player's seat, the same in all games of the round; null for a player without a table. */
  readonly seat: number | null;
  /** The number of the player's table in the round, from 1; null for a player without a table. */
  readonly table_number: number | null;
}

/** The deal of one game of a round. */
export interface RoundDeal {
  /** The SHA-256 of the seed, in hexadecimal, as every table shows it with `preparing`. */
  readonly commitment: string;
  /** The server's seed, in hexadecimal; null until the round is over. */
  readonly server_seed: string | null;
}

/** The deals of a round that all of its tables play. */
export interface RoundDeals {
  /** The deals by the number of the game, from the first. */
  readonly deals: readonly RoundDeal[];
  /** True once the round is over at all tables, so that the seeds are shown. */
  readonly is_over: boolean;
  readonly round: number;
}

/** The number of a seat's actions by their origin. All are 0 in a game that was voided. */
export interface SeatActions {
  /** Actions taken because the player was away. */
  readonly ai: number;
  /** Actions taken because a countdown had ended. */
  readonly clock: number;
  readonly player: number;
}

/** The table at which a player sits. Join it over the socket to play. */
export interface SeatedTable {
  /**
   * The reason for which a player waits although other players wait too. Absent if there is
   * none.
   */
  readonly reason?: "only_same_network";
  readonly table: string;
}

/** A report that the player made about another player. */
export type SentReport = ReceivedReport & {
  readonly reported: string;
  readonly words: string | null;
};

/** A live session. */
export interface Session {
  /** The address of the last refresh; for IPv6 only the network. */
  readonly address: string | null;
  readonly created_at: Time;
  /** True if this is the session of the request. */
  readonly current: boolean;
  readonly id: string;
  /** The time of the sign-in or of the last refresh. */
  readonly last_seen_at: Time;
  /** The sign-in method: `guest`, `password` or `openid`. */
  readonly method: string;
  /** The `User-Agent` of the client. */
  readonly user_agent: string | null;
}

/** The sign-in methods of a player. */
export interface SignInMethods {
  /** The number of devices that sign the player in by themselves. */
  readonly devices: number;
  readonly identities: readonly Identity[];
  readonly password_set_at: (Time | null);
}

/** A player and the tokens of its new session. */
export type SignedIn = Tokens & {
  readonly player: OwnProfile;
};

/** The order of the groups. */
export type SortBy = "suit" | "arrangement";

/** A hand to sort. */
export interface SortRequest {
  readonly by: SortBy;
  /** At most 13 cards, each once. */
  readonly cards: readonly Card[];
}

/** The cards in groups. */
export interface SortedHand {
  readonly groups: readonly (readonly Card[])[];
}

/** The time over which scores are summed. */
export type Span = "day" | "week" | "season" | "ever";

/**
 * The statistics of a player over all settled games of one kind, updated with a delay of some
 * seconds.
 */
export interface Statistics {
  /** The largest POT won. */
  readonly best_pot: Coins;
  readonly best_streak: number;
  /** The game's further counters, including those that are zero. */
  readonly counters: readonly StatisticsCounter[];
  /** The game's title, for people. */
  readonly game: string;
  readonly games: number;
  /** The number of POTs won. */
  readonly hits: number;
  /** The game's kind. */
  readonly kind: string;
  /** The present number of consecutive wins, at any tables. */
  readonly streak: number;
  readonly wins: number;
}

/** A player's statistics, by game. */
export interface StatisticsByGame {
  readonly items: readonly Statistics[];
}

/** A counter of one game. */
export interface StatisticsCounter {
  readonly name: string;
  /** The title, for people. */
  readonly title: string;
  readonly value: number;
}

/** An action, with the seat that took it. */
export interface StepAction {
  /** The schema `TongitsAction` of asyncapi.yaml. */
  readonly action: Readonly<Record<string, unknown>>;
  readonly by: ActionSource;
  readonly seat: number;
}

/** A ticket that opens one socket. */
export interface Ticket {
  readonly expires_at: Time;
  /** The ticket, to be sent once, in the first message of a socket, and never in an address. */
  readonly ticket: string;
}

/** An instant: RFC 3339 in UTC, to the millisecond. */
export type Time = string;

/** The IANA name of a time zone. */
export type TimeZone = string;

/** The tokens of a session. */
export interface Tokens {
  readonly access_expires_at: Time;
  /** The access token, to be sent as `Authorization: Bearer <token>`. */
  readonly access_token: string;
  readonly refresh_expires_at: Time;
  /** The refresh token, valid for one use; keep the newest. */
  readonly refresh_token: string;
  /** The session to which the tokens belong. */
  readonly session: string;
}

/** A tournament. */
export interface Tournament {
  /** The part of the price that goes into the pool. */
  readonly buy_in: Coins;
  /** The number of players who are registered. */
  readonly entrants: number;
  readonly entrants_max: number;
  /** The number of players without whom it does not take place. */
  readonly entrants_min: number;
  /** The part of the price that the house keeps. */
  readonly fee: Coins;
  /** The way in which it is played: `sit_and_go`, `knock_out`, `arena` or `duplicate`. */
  readonly format: string;
  /** The minimum of the pool. */
  readonly guarantee: Coins;
  /** True if house bots complete the entrants, without prizes. */
  readonly has_bots: boolean;
  readonly id: string;
  /** The kind of the game. */
  readonly kind: string;
  readonly name: string;
  /** The number of players of a table. */
  readonly seats: number;
  readonly starts_at: (Time | null);
  readonly state: TournamentState;
}

/** A tournament, with the entry of the player who asks. */
export type TournamentDetail = Tournament & {
  /** True if a pass pays an entry instead of coins. */
  readonly accepts_passes: boolean;
  /** The SHA-256 of the seed of all draws, which the results show at the end. */
  readonly commitment: string;
  /** The duration of an arena tournament, in seconds; null for others. */
  readonly duration_s: number | null;
  readonly entry: (TournamentEntry | null);
  /**
   * The `pool`, once it is fixed. Before, the pool of the present entrants, completed to the
   * minimum of entrants, or to one entrant where house bots complete them.
   */
  readonly expected_pool: Coins;
  /** The prizes of the expected pool, from the first place. */
  readonly expected_prizes: readonly Coins[];
  /** True if only players with a code may register. */
  readonly is_private: boolean;
  /** True while players may register. */
  readonly is_registration_open: boolean;
  /** The time after the start in which players may still register, in seconds. */
  readonly late_registration_s: number;
  /** The first rows of the standings, at most three; empty before the start. */
  readonly leaders: readonly TournamentStanding[];
  readonly next_at: (Time | null);
  /** The player's unused passes that pay an entry. */
  readonly passes: readonly TournamentPass[];
  readonly pool: (Coins | null);
  /** The prizes from the first place; empty until registration is closed. */
  readonly prizes: readonly Coins[];
  /** The last round that has begun, from 1; 0 before the first. */
  readonly round: number;
  /** The stages of a tournament by rounds, in order; empty for an arena tournament. */
  readonly stages: readonly TournamentStage[];
};

/** The entry of a player. */
export interface TournamentEntry {
  /** The number of games that have been scored. */
  readonly games: number;
  /** True if a pass pays the entry, and not coins. */
  readonly is_paid_by_pass: boolean;
  /** True if the player of an arena tournament is not paired (rule 4.5). */
  readonly is_paused: boolean;
  /** The final place, from 1; null while games can change it. */
  readonly place: number | null;
  readonly prize: (Coins | null);
  /** The player's rank, from 1; null before the start. */
  readonly rank: number | null;
  readonly refund: (Coins | null);
  /** The player's score: hundredths of a point, or whole points in an arena tournament. */
  readonly score: number;
  readonly state: EntryState;
  /** The table at which the player plays, if any. */
  readonly table: string | null;
}

/** A finished game of a tournament. */
export interface TournamentGame {
  readonly finished_at: Time;
  /** The id, by which its players may request the record. */
  readonly id: string;
  /** The number of the game at its table, from 1. */
  readonly number: number;
  /** The round, from 1. */
  readonly round: number;
  readonly scores: readonly TournamentScore[];
  readonly table: string;
  /** The number of the table in the round, from 1. */
  readonly table_number: number;
}

/** A pass, which pays one entry. */
export interface TournamentPass {
  /** The largest buy-in that the pass pays. */
  readonly buy_in_max: Coins;
  readonly granted_at: Time;
  readonly id: string;
  readonly revoked_at: (Time | null);
  readonly used_at: (Time | null);
  /** The tournament whose entry holds the pass; null while it is unused. */
  readonly used_in: string | null;
}

/** The passes of a player. */
export interface TournamentPasses {
  readonly items: readonly TournamentPass[];
}

/** The lines of the list of results that follow from one line of the journal. */
export interface TournamentResults {
  /** Objects with a `type` and the time `at` in ms, except the announcement's. Types may be added. */
  readonly results: readonly (Readonly<Record<string, unknown>>)[];
  /** The version of the journal, which increases; 0 for the announcement. */
  readonly version: number;
}

/** The result of a player in a game of a tournament. */
export interface TournamentScore {
  readonly player: string;
  /** The points, in hundredths; those of a game sum to zero. */
  readonly points: number;
}

/** A stage of a tournament, which ends with a cut unless it is the last. */
export interface TournamentStage {
  /** The number of players who advance; 0 in the last stage. */
  readonly advance: number;
  /** The number of games of a round. */
  readonly games: number;
  readonly rounds: number;
}

/** A player in the standings of a tournament. */
export interface TournamentStanding {
  /** The number of games that have been scored. */
  readonly games: number;
  readonly is_bot: boolean;
  /** True if the player takes no part in further rounds. */
  readonly is_eliminated: boolean;
  readonly name: string;
  readonly player: string;
  /** The rank, from 1; equal scores share it. Null for a bot. */
  readonly rank: number | null;
  /** The score: hundredths of a point, or whole points in an arena tournament. */
  readonly score: number;
}

/** The state of a tournament. */
export type TournamentState = "announced" | "running" | "ended" | "cancelled";

/** The purpose of a transfer. */
export type TransferCode = "ante" | "hold" | "payment" | "fee" | "release" | "pot" | "refund" | "welcome" | "daily" | "relief" | "adjustment" | "reversal" | "pot_refund" | "house_bot" | "sweep" | "tournament_entry" | "tournament_return" | "tournament_fee" | "tournament_fee_return" | "guarantee" | "guarantee_return" | "prize" | "tournament_refund";

/** A commitment of the house whose seed was never revealed. */
export interface UnrevealedBody {
  /** The SHA-256 of the house's seed, in hexadecimal, as the table showed it with `preparing`. */
  readonly commitment: string;
  readonly game: string;
  /** The game's kind. */
  readonly kind: string;
  readonly opened_at: Time;
  readonly table: string;
  readonly voided_at: (Time | null);
}

/** The balances of a player. */
export interface Wallet {
  /** The amount that can be spent. */
  readonly available: Coins;
  /** The amount that is held as the stake of a running game. */
  readonly held: Coins;
  /** The number of the newest entry; 0 if there is none. */
  readonly version: number;
}

/** One entry of a wallet. */
export interface WalletEntry {
  /** The change of the balance; negative if coins left the wallet. */
  readonly amount: Coins;
  readonly balance_after: Coins;
  readonly balance_before: Coins;
  readonly booked_at: Time;
  /** The purpose of the transfer. */
  readonly code: TransferCode;
  /** The game to which the transfer belongs, if any. */
  readonly game: string | null;
  /** The path of that game's record, once it is settled. */
  readonly record: string | null;
  /** The number of the entry; entries are numbered from 1 without gaps. */
  readonly version: number;
}

/** A table that may be watched: send `watch` with its id over the socket. */
export interface WatchableTable {
  /** The number of seated players, including house bots. */
  readonly players: number;
  readonly room: string;
  readonly seats: number;
  readonly table: string;
}
