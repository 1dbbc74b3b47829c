// Made from asyncapi.yaml by generate.mjs; do not edit.

/** What a client sends. */
export type Command = AuthenticateCommand | JoinCommand | ReadyCommand | RevealCommand | ActCommand | HintCommand | TakeBackCommand | LeaveCommand | SayCommand | WatchCommand | UnwatchCommand | SeekCommand | CancelSeekCommand | PingCommand;

/** What the server sends. */
export type Message = HelloMessage | SnapshotMessage | UpdateMessage | SaidMessage | AdviceMessage | ClosedMessage | TicketMessage | InvitedMessage | StandingMessage | AckMessage | RefusalMessage;

/** Why the server closes a connection, by its code. */
export const CLOSE_CODES = {
  going_away: 1001,
  protocol: 1002,
  too_long: 1009,
  internal: 1011,
  replaced: 4001,
  signed_out: 4003,
  too_slow: 4008,
  too_fast: 4029,
  not_authenticated: 4401,
} as const;

/** The house's limits, as they are by default. */
export const LIMITS = {
  "asked_ping_after_s": 2,
  "asked_silence_max_s": 4,
  "command_bytes_max": 8192,
  "commands_at_once_max": 40,
  "one_more_command_every_ms": 50,
  "one_more_phrase_every_ms": 2000,
  "phrases_at_once_max": 3,
  "ping_after_s": 10,
  "refusals_for_haste_in_a_row_max": 40,
  "resumed_updates_max": 64,
  "seed_text_bytes_max": 256,
  "sent_away_within_ms": 1500,
  "silence_max_s": 15,
  "ticket_life_s": 30,
  "to_authenticate_max_s": 5,
  "to_reveal_ms": 2000,
  "unread_bytes_max": 262144,
  "unread_messages_max": 64
} as const;

/** The command was carried out; its effects are part of this version or an earlier one. If its last effect is sent as an update in answer to it, that update's `ack` takes the place of this message. */
export interface AckMessage {
  /** The id of the command. */
  readonly id: number;
  readonly type: "ack";
  /** The table's version with the effects of the command, or, for a join, the last version that the client was shown. Absent if the command changes nothing at a table. */
  readonly version?: number | null;
}

/** Answers a prompt. */
export interface ActCommand {
  readonly action: (TongitsAction | TongoOptionsAction | TongoAssetsAction);
  /** The running game. */
  readonly game: GameId;
  /** The client's number for this command. */
  readonly id: number;
  /** The number of the answered prompt. */
  readonly prompt: number;
  readonly type: "act";
}

/** The seats whose additions count (rule 4.1). */
export type Additions = ("opponents" | "anyone");

/** The action that a bot of the house would choose in the player's seat, knowing only what the seat is shown. */
export interface AdviceMessage {
  readonly action: (TongitsAction | TongoOptionsAction | TongoAssetsAction);
  /** The bot's skill, such as `quick`. */
  readonly by: string;
  readonly game: GameId;
  /** The prompt that the action answers. */
  readonly prompt: number;
  readonly type: "advice";
}

/** The winner if all seats are burned (rule 5.3). */
export type AllBurned = "fewest_points" | "nobody";

/** The arrangement of a hand. */
export interface Arrangement {
  /** The points of the leftover cards (rule 1.11). */
  readonly deadwood: number;
  readonly leftover: CardSet;
  /** The melds, in ascending order of their lists of card indices. */
  readonly melds: readonly CardSet[];
}

/** Authenticates the client, as the first message of a socket that was opened without a token in its header. Carries either a token or a ticket. Answered by `hello` and an `ack`, or by a refusal that closes the connection. */
export interface AuthenticateCommand {
  /** The client's number for this command. */
  readonly id: number;
  /** The ticket from `POST /v1/play/tickets`. */
  readonly ticket?: string | null;
  /** The access token. */
  readonly token?: string | null;
  readonly type: "authenticate";
}

/** Cancels the request for a seat. Answered by a cancelled `ticket` and an `ack`; refused once a table is found. */
export interface CancelSeekCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "cancel_seek";
}

/** One of the 52 cards of a standard deck, or one of two jokers, which have no rank and no suit. */
export type Card = string;

/** A set of cards, serialized as the list of its cards in ascending order of index. */
export type CardSet = readonly Card[];

/** The winner among challengers with equal deadwood (rule 4.4). */
export type ChallengersTied = "first_after_fighter" | "last_answer";

/** The clocks of a table (chapter 8); durations are in milliseconds. The countdowns within a game belong to the game. */
export interface Clocks {
  /** The time for which a disconnected player keeps a seat at a waiting table. */
  readonly absence_ms: number;
  /** The grace: the time for which a player without a connection is away before the AI takes over (rule 8.3). */
  readonly grace_ms: number;
  /** The number of countdowns in a row that a player may miss before the AI takes over (rule 8.3). */
  readonly missed_turns_to_takeover: number;
  /** The time in which the seats have to become ready (rule 8.1). */
  readonly prepare_ms: number;
  /** The time after which an unanswered opening or settlement is retried. */
  readonly retry_ms: number;
  /** The time that the AI takes to answer (rule 8.3); shorter than every countdown. */
  readonly think_ms: number;
}

/** The joined or watched table no longer exists. Ask a room for another seat. */
export interface ClosedMessage {
  /** The reason why a table no longer exists. */
  readonly reason: ("voided" | "lost");
  readonly table: TableId;
  readonly type: "closed";
}

/** An amount in hundredths of a coin, serialized as that integer. */
export type Coins = number;

/** The SHA-256 of a seed of the house or of a client. */
export type Commitment = string;

/** The time limits of the phases, in milliseconds (rule 8.2). */
export interface Countdowns {
  readonly draw_ms: number;
  readonly fight_ms: number;
  readonly play_ms: number;
}

/** The debts of a loser, in counts. The two variants are distinguished by their fields. */
export type Counts = (ItemCounts | EndingCounts);

/** A run of wins at a table (rule 7.2). */
export interface Crown {
  readonly player: PlayerId;
  /** The number of wins in a row, as shown on the crown. */
  readonly wins: number;
}

/** The direction of the deal (rule 2.3). */
export type DealDirection = ("clockwise" | "counterclockwise");

/** The way in which a game ended. */
export type Ending = ("tongits" | "fight" | "stock");

/** The debts of a loser by ending, in counts (rules 10.1, 11.2, 11.3). */
export interface EndingCounts {
  /** Additionally owed by a burned loser, unless the winner is burned too. */
  readonly burned: number;
  /** For a fight that somebody challenged, whoever won it. */
  readonly challenge: number;
  /** For a fight that nobody challenged. */
  readonly fight: number;
  /** Per secret meld, after Tongits and Spread only. */
  readonly secret: number;
  readonly stock: number;
  /** For Tongits and for a Spread. */
  readonly tongits: number;
  /** The number of points per additional count of a variable payout. */
  readonly variable_points: number;
  readonly zero_count_fight: number;
}

/** An event at a table. */
export type Event = ({
  readonly avatar?: string | null;
  /** True if a house bot sits there (rule 8.6). */
  readonly bot: boolean;
  readonly name: string;
  readonly player: PlayerId;
  readonly seat: Seat;
  readonly type: "sat";
} | {
  readonly player: PlayerId;
  readonly reason: LeftReason;
  readonly seat: Seat;
  readonly type: "left";
} | {
  readonly seat: Seat;
  readonly to: Seat;
  readonly type: "moved";
} | {
  readonly connected: boolean;
  readonly seat: Seat;
  readonly type: "presence";
} | {
  readonly on: boolean;
  readonly seat: Seat;
  readonly type: "takeover";
} | {
  readonly type: "waiting";
} | {
  readonly commitment: Commitment;
  readonly deadline_ms: Timestamp;
  readonly game: GameId;
  readonly type: "preparing";
} | {
  readonly seat: Seat;
  readonly type: "ready";
} | {
  readonly game: GameId;
  readonly type: "opening";
} | {
  /** The commitments by seat; zeros for a client that does not take part. */
  readonly commitments: readonly Commitment[];
  readonly deadline_ms: Timestamp;
  readonly game: GameId;
  readonly pot: Coins;
  readonly type: "revealing";
} | {
  readonly seat: Seat;
  readonly type: "revealed";
} | {
  readonly game: GameId;
  readonly pot: Coins;
  readonly stakes: readonly Coins[];
  readonly starter: (Seat | null);
  readonly type: "opened";
} | {
  readonly event: (TongitsEvent | TongoOptionsEvent | TongoAssetsEvent);
  readonly type: "game";
} | {
  readonly deadline_ms: Timestamp;
  readonly type: "countdown";
} | {
  readonly game: GameId;
  /** null at a table of a duplicate tournament: the seed is shown when the round is over at all tables. */
  readonly server_seed: (ServerSeed | null);
  readonly settlement: Settlement;
  readonly type: "over";
} | {
  readonly crown: (Crown | null);
  readonly game: GameId;
  readonly pot: Coins;
  readonly type: "settled";
} | {
  /** The balance of the POT after the refund. */
  readonly pot: Coins;
  readonly shares: readonly PotShare[];
  readonly type: "pot_refunded";
} | {
  readonly clocks: Clocks;
  readonly hits?: (Hits | null);
  readonly price: Price;
  readonly type: "terms_updated";
});

/** All melds on the table, serialized as a list of `ExposedMeld`. */
export type Exposed = readonly ExposedMeld[];

/** A meld on the table as a viewer sees it. */
export interface ExposedMeld {
  /** The cards contributed by each seat, by seat. */
  readonly by: readonly CardSet[];
  /** The cards; empty if the meld lies face down and the viewer may not see them. */
  readonly cards: CardSet;
  /** The number of cards, if the meld lies face down (rule 3.4). */
  readonly face_down?: number | null;
  readonly owner: Seat;
  /** `true` if the meld is a sagasa (rule 10.2). */
  readonly sagasa?: boolean;
}

/** The house's share of the amount that one seat received. */
export interface Fee {
  readonly fee: Coins;
  readonly gross: Coins;
  readonly seat: Seat;
}

/** The id of a game, from its deal to its settlement. Its 16 bytes are part of the deal's key (rule 9.2). */
export type GameId = string;

/** The first message of every connection, once the client is authenticated. */
export interface HelloMessage {
  /** The number of the player's unread notices, which `GET /v1/me/notices` lists. Absent if it could not be read in time. */
  readonly notices?: number | null;
  readonly player: PlayerId;
  readonly protocol: string;
  readonly server_time_ms: Timestamp;
  readonly type: "hello";
}

/** Asks for the action that a bot would choose. Only at practice tables, and only while the player has a prompt. Answered by an `advice` and an `ack` (rule 8.7). */
export interface HintCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "hint";
}

/** The rules for the POT that a table accumulates over its games (chapter 7). */
export interface Hits {
  /** The number of bets that each seat pays into the POT before each game (rule 7.1). */
  readonly ante: number;
  /** The number of counts that each loser pays for the second win in a row if it takes three wins (rule 7.5). */
  readonly second_hit_bonus: number;
  /** The number of wins in a row that take the POT (rule 7.2). */
  readonly to_win: number;
}

/** An invitation of a player of the last game to play again at a private table: `POST /v1/private-tables/{code}/seat`, or a rematch of the same game, leads there. Sent once, to the open connections; a notice informs players who connect later. */
export interface InvitedMessage {
  /** The code of the table. */
  readonly code: string;
  /** The inviting player. */
  readonly from: PlayerId;
  /** The game to be played again. */
  readonly game: GameId;
  /** The name of that player. */
  readonly name: string;
  readonly type: "invited";
}

/** One line of a settlement: a named number of counts with the rule it follows from. */
export interface Item {
  readonly counts: number;
  readonly name: string;
  readonly rule: string;
}

/** The debts of a loser by item, in counts (rules 6.1 to 6.6). */
export interface ItemCounts {
  readonly burned: number;
  readonly challenge: number;
  readonly normal: number;
  /** Per secret meld. */
  readonly secret: number;
  /** Per special card. */
  readonly special: number;
  readonly tongits: number;
}

/** Joins the table where the player sits. Answered by a `snapshot`, or, with the client's last version, by the `update`s since; the last update has the ack, or an `ack` follows. */
export interface JoinCommand {
  /** The client's last version of this table. */
  readonly from?: number | null;
  /** The client's number for this command. */
  readonly id: number;
  /** The table of `from`. */
  readonly table?: (TableId | null);
  /** The tag of that version. Without it, the answer is a `snapshot`. */
  readonly tag?: string | null;
  readonly type: "join";
}

/** Leaves the table (rules 7.3, 8.4). */
export interface LeaveCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "leave";
}

/** The reason why a player no longer sits at a table. */
export type LeftReason = ("left" | "not_ready" | "absent" | "cannot_pay" | "removed" | "closed" | "finished");

/** The open prompt, as far as the player may know it. */
export interface OpenPrompt {
  /** The time at which the clock answers. */
  readonly deadline_ms: (Timestamp | null);
  readonly game: GameId;
  /** The legal actions of the player; empty if others must answer. */
  readonly legal: readonly ((TongitsAction | TongoOptionsAction | TongoAssetsAction))[];
  /** The number that an answer names. */
  readonly number: number;
  /** The seats that must answer. */
  readonly seats: SeatSet;
}

/** A payment from one seat's stake to another seat. */
export interface Payment {
  readonly from: Seat;
  /** The items of the debt, in counts. */
  readonly items: readonly Item[];
  /** The number of counts times the price of a count. */
  readonly owed: Coins;
  /** The part of it that the stake could pay. */
  readonly paid: Coins;
  readonly to: Seat;
}

/** The phase of a table, as one viewer knows it. */
export type PhaseView = ({
  readonly type: "waiting";
} | {
  readonly commitment: Commitment;
  readonly deadline_ms: Timestamp;
  readonly game: GameId;
  /** The viewer's own seat if it is ready; no other seat is ever shown. */
  readonly ready: SeatSet;
  readonly type: "preparing";
} | {
  readonly game: GameId;
  readonly type: "opening";
} | {
  /** The commitments by seat; zeros for a client that does not take part. */
  readonly commitments: readonly Commitment[];
  readonly deadline_ms: Timestamp;
  readonly game: GameId;
  /** The viewer's own seat if it has revealed its text; no other seat is ever shown. */
  readonly revealed: SeatSet;
  readonly type: "revealing";
} | {
  readonly deadline_ms: (Timestamp | null);
  readonly game: GameId;
  readonly stakes: readonly Coins[];
  readonly type: "playing";
  readonly view: (TongitsView | TongoOptionsView | TongoAssetsView);
} | {
  readonly game: GameId;
  readonly settlement: Settlement;
  readonly type: "settling";
});

/** A quick phrase or an emoji. */
export type Phrase = "hello" | "good_luck" | "thanks" | "well_played" | "sorry" | "hurry" | "nice_fight" | "i_surrender" | "one_more_game" | "goodbye" | "emoji_smile" | "emoji_laugh" | "emoji_cry" | "emoji_angry" | "emoji_surprised" | "emoji_thinking" | "emoji_sleepy" | "emoji_heart" | "emoji_clap" | "emoji_fire";

/** A pile of cards, serialized as a list with the top card last. */
export type Pile = readonly Card[];

/** Tests the connection. Answered by an `ack`. */
export interface PingCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "ping";
}

/** The id of an account that plays. */
export type PlayerId = string;

/** The payout of the whole POT to one seat. */
export interface PotPayout {
  readonly amount: Coins;
  readonly seat: Seat;
}

/** The amount of a refund that one player receives. */
export interface PotShare {
  readonly amount: Coins;
  readonly player: PlayerId;
}

/** The conversion of counts into coins at one table. */
export interface Price {
  /** The bet at multiplier 1, in hundredths of a coin. At most games it is the price of one count. */
  readonly bet: Coins;
  /** The house's share of the amount that a seat receives, in ten-thousandths (rule 6.8). */
  readonly fee_basis_points: number;
  readonly multiplier: number;
}

/** The terms of a table that only a host's guests join (rule 7.4). A removed player receives its part of the POT, and when the table ends the POT is refunded to those who paid it. */
export interface PrivateTerms {
  /** The time without players after which the table ends, in milliseconds. */
  readonly ends_after_ms: number;
  /** True if a player whose wallet holds less than the maximum debt stakes the whole wallet and need not leave (rule 6.9). Only for games with short stakes. */
  readonly short_stakes?: boolean;
}

/** Reports the player ready for the prepared game. With a `commitment`, the client contributes to the deal, and is asked for its text when all players are ready (rule 9.1). */
export interface ReadyCommand {
  /** The SHA-256 of the client's seed, which is the SHA-256 of a text of its own. The client keeps the text until it is asked for it. Absent, or zeros, if the client does not contribute. */
  readonly commitment?: (Commitment | null);
  /** The prepared game. */
  readonly game: GameId;
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "ready";
}

/** The command was refused and changed nothing. */
export interface RefusalMessage {
  /** The stable code, in snake case. */
  readonly code: string;
  /** A text for people; it may change. */
  readonly detail: string;
  /** The id of the command; null if the text had no readable id. */
  readonly id: number | null;
  /** The delay until the command may succeed, if it is known. */
  readonly retry_after_ms?: number | null;
  /** The same command may succeed later, unchanged. */
  readonly retryable: boolean;
  /** The numbered rule that decides, if there is one. */
  readonly rule?: string | null;
  readonly type: "refusal";
}

/** Reveals the text of the seed that the client committed to, when the table asks for it: the phase is `revealing`, and the seat has committed and not revealed (rule 9.1). */
export interface RevealCommand {
  /** The game that is about to be dealt. */
  readonly game: GameId;
  /** The client's number for this command. */
  readonly id: number;
  /** At most 256 bytes of UTF-8. The text is public in the record of the game. */
  readonly text: string;
  readonly type: "reveal";
}

/** A phrase of a player at the table. It does not change the table's version and is not repeated later. */
export interface SaidMessage {
  readonly phrase: Phrase;
  readonly player: PlayerId;
  readonly server_time_ms: Timestamp;
  readonly type: "said";
}

/** Says a phrase of the catalogue to the players and spectators of the table, except to those who have muted the player. Answered by an `ack` once it is sent. */
export interface SayCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly phrase: Phrase;
  readonly type: "say";
}

/** A seat at a table, below `SEATS_MAX`, serialized as its number. */
export type Seat = number;

/** A set of seats, serialized as the ascending list of their numbers. */
export type SeatSet = readonly Seat[];

/** A player in a seat, as everybody sees it. */
export interface SeatView {
  /** The player's avatar at the time when the player sat down. */
  readonly avatar?: string | null;
  /** True if a house bot sits here (rule 8.6). */
  readonly bot: boolean;
  /** True if the player is connected and not away (rule 8.3). Always true for a bot. */
  readonly connected: boolean;
  readonly name: string;
  readonly player: PlayerId;
  /** True if the AI plays the seat now: for a bot, and for a player who has left, has missed too many countdowns, or is away for longer than the grace (rules 8.3 and 8.6). */
  readonly taken_over: boolean;
}

/** Requests a seat in any of these rooms. Answered by a `ticket` and an `ack`; another `ticket` follows when a table is found: then join. */
export interface SeekCommand {
  /** The client's number for this command. */
  readonly id: number;
  /** One to eight rooms of one game. */
  readonly rooms: readonly string[];
  readonly type: "seek";
}

/** The state of a request for a seat. */
export type SeekState = "waiting" | "seated" | "cancelled" | "expired";

/** The secret seed of one game's deal, published when the game is over. */
export type ServerSeed = string;

/** The itemised settlement of a game, which the ledger books and the players see. */
export interface Settlement {
  /** The fees that the receiving seats pay to the house out of their payments, in ascending order of seat. */
  readonly fees: readonly Fee[];
  /** The payments from stakes to the receivers, before the fee. */
  readonly payments: readonly Payment[];
  /** The payout of the POT, if this game takes it. */
  readonly pot: (PotPayout | null);
  readonly winner: (Seat | null);
}

/** A hand as it is shown at the end of the game. */
export interface Shown {
  readonly arrangement: Arrangement;
  /** `true` if the hand is burned (rule 1.8). */
  readonly burned: boolean;
  /** The melds that the seat had laid face down, in the order laid (rule 3.4). */
  readonly face_down?: readonly CardSet[];
  readonly hand: CardSet;
  /** The points of the hand: its deadwood, or all its cards if burned (rule 1.11). */
  readonly points: number;
}

/** The strength of an AI. */
export type Skill = ("greedy" | "quick");

/** The whole table as the player may see it. */
export interface SnapshotMessage {
  /** The open prompt, if any. */
  readonly prompt?: (OpenPrompt | null);
  readonly server_time_ms: Timestamp;
  /** The tag of the history that led to this version; for the next `join`. */
  readonly tag: string;
  readonly type: "snapshot";
  /** The table's version; the next update has the next one. */
  readonly version: number;
  readonly view: TableView;
}

/** A special case of an ending that has a name of its own. */
export type SpecialEnding = ("spread" | "zero_count_fight");

/** The audience of a table other than its players. */
export type Spectators = ("nobody" | "anybody");

/** The player's standing in a tournament, after a game or a round has changed the player's score. A rank that others change is not sent. Sent to the open connections; `GET /v1/tournaments/{id}` has the same values. */
export interface StandingMessage {
  /** The number of players. */
  readonly entrants: number;
  /** The rank among the players, from 1; tied players share it. */
  readonly rank: number;
  /** Points, in hundredths by rounds, whole in an arena, in ten-thousandths in a duplicate. */
  readonly score: number;
  /** The points of all games in an arena or a duplicate, in hundredths; otherwise 0. */
  readonly tie_break: Coins;
  readonly tournament: TournamentId;
  readonly type: "standing";
}

/** The id of a table. */
export type TableId = string;

/** A table as one viewer knows it. */
export interface TableView {
  readonly crown: (Crown | null);
  /** The game's name, such as `tongits`. */
  readonly kind: string;
  readonly phase: PhaseView;
  /** The balance of the POT. */
  readonly pot: Coins;
  /** The viewer's seat, if it has one. */
  readonly seat: (Seat | null);
  /** The players by seat; null for a free seat. */
  readonly seats: readonly ((SeatView | null))[];
  readonly table: TableId;
  /** The terms of the table, from which a client has the game's rules and the bet. */
  readonly terms: Terms;
}

/** Takes the seat back from the AI, after missed countdowns or after leaving (rule 8.3). */
export interface TakeBackCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "take_back";
}

/** The terms that a table is played under. */
export interface Terms {
  /** The skill of house bots; `greedy` by default. A seat that is taken over is always played by the best AI (rule 8.3), because a player's coins are at stake. */
  readonly bots?: Skill;
  readonly clocks: Clocks;
  /** The rules of the POT; absent at a table without one. */
  readonly hits?: (Hits | null);
  /** True if this is a practice table of one player with bots, without coins: nothing about a game is booked or stored (rule 8.7). */
  readonly practice?: boolean;
  readonly price: Price;
  /** The terms of a private table; absent at a table of a room. */
  readonly private?: (PrivateTerms | null);
  /** The room's name in ids and accounts, such as `newbie`. */
  readonly room: string;
  readonly rules: (TongitsRules | TongoOptionsRules | TongoAssetsRules);
  /** True if spectators may watch the public part of the game, with a delay. */
  readonly spectators: Spectators;
  /** The place of the table in a tournament; absent at any other table. */
  readonly tournament?: (TournamentSeating | null);
}

/** The id of a request for a seat. A player has one at a time. */
export type TicketId = string;

/** The state of the player's request for a seat: after `seek`, when the reason to wait changes, and at its end. */
export interface TicketMessage {
  /** The time at which the request expires. */
  readonly expires_at_ms: Timestamp;
  /** The reason for waiting although others wait too; absent if there is none to report. */
  readonly reason?: (WaitReason | null);
  /** The rooms of the request; any of them will do. */
  readonly rooms: readonly string[];
  readonly state: SeekState;
  /** The table of the player's seat, once seated: join. */
  readonly table?: (TableId | null);
  readonly ticket: TicketId;
  readonly type: "ticket";
}

/** Milliseconds since 1970-01-01 UTC, serialized as that integer. */
export type Timestamp = number;

/** An action of a player. Unknown fields are rejected, since they indicate a client's mistake. */
export type TongitsAction = ({
  readonly type: "draw";
} | {
  readonly cards: CardSet;
  readonly type: "chow";
} | {
  readonly type: "fight";
} | {
  readonly cards: CardSet;
  /** `true` if a secret meld stays concealed, where the rules allow it. */
  readonly face_down?: boolean;
  readonly type: "drop";
} | {
  readonly card: Card;
  readonly meld: number;
  readonly type: "sapaw";
} | {
  readonly card: Card;
  readonly type: "dump";
} | {
  readonly type: "tongits";
} | {
  readonly type: "challenge";
} | {
  readonly type: "fold";
});

/** The answer to a fight (rule 4.2). */
export type TongitsAnswer = "challenge" | "fold";

/** The end of a game (rules 3.8, 4.3, 5.2). */
export interface TongitsEnd {
  readonly ending: Ending;
  /** The fighter and its challengers, if anybody challenged. */
  readonly showdown: SeatSet;
  readonly special?: (SpecialEnding | null);
  readonly winner: (Seat | null);
}

/** An event of a game. */
export type TongitsEvent = ({
  readonly seat: Seat;
  readonly type: "starter_chosen";
} | {
  readonly hands: readonly ((CardSet | null))[];
  readonly starter: Seat;
  readonly stock?: (Pile | null);
  readonly type: "dealt";
} | {
  /** `true` if the table drew because nothing else was legal. */
  readonly auto: boolean;
  readonly card: (Card | null);
  readonly seat: Seat;
  readonly type: "drawn";
} | {
  readonly cards: CardSet;
  readonly discard: Card;
  readonly seat: Seat;
  readonly type: "chowed";
} | {
  readonly cards: CardSet;
  readonly seat: Seat;
  readonly type: "dropped";
} | {
  readonly cards: CardSet;
  readonly count: number;
  readonly seat: Seat;
  readonly type: "laid_face_down";
} | {
  readonly card: Card;
  readonly meld: number;
  readonly seat: Seat;
  readonly type: "sapawed";
} | {
  readonly meld: number;
  readonly seat: Seat;
  readonly type: "sagasa";
} | {
  readonly card: Card;
  readonly seat: Seat;
  readonly type: "dumped";
} | {
  readonly seat: Seat;
  readonly type: "tongits_declared";
} | {
  readonly asked: SeatSet;
  readonly asked_secretly: SeatSet;
  readonly seat: Seat;
  readonly type: "fought";
} | {
  readonly answer: TongitsAnswer;
  readonly seat: Seat;
  readonly type: "answered";
} | {
  readonly hands: readonly Shown[];
  readonly type: "shown";
} | {
  readonly ending: Ending;
  /** The participants of a showdown: the fighter and its challengers (rule 4.3). */
  readonly showdown: SeatSet;
  readonly special?: (SpecialEnding | null);
  readonly type: "over";
  /** null if all seats were burned and the rules give nobody the win (rule 5.3). */
  readonly winner: (Seat | null);
});

/** The phase of a game. */
export type TongitsPhase = ({
  readonly type: "starter";
} | {
  readonly starter: Seat;
  readonly type: "deal";
} | {
  /** `true` if additions to the seat's melds take its right to fight in this turn (rule 4.1). */
  readonly fight_blocked: boolean;
  readonly seat: Seat;
  readonly type: "draw";
} | {
  readonly seat: Seat;
  readonly type: "play";
} | {
  /** The seats that have answered; a viewer sees only itself here. */
  readonly answered: SeatSet;
  /** The seats that are asked because they are open or have a face-down meld. */
  readonly asked: SeatSet;
  /** The seats that are asked because of a concealed meld; a viewer sees only itself here. */
  readonly asked_secretly: SeatSet;
  readonly fighter: Seat;
  readonly type: "fight";
} | {
  readonly type: "over";
});

/** The public state of a game. */
export interface TongitsPublic {
  /** The seats whose melds were added to since their own latest turn began (rule 4.1). Such a seat may not fight at the beginning of its next turn. */
  readonly added_to: SeatSet;
  /** The number of the running countdown; see `Prompt`. */
  readonly countdown: number;
  readonly discards: Pile;
  /** The seat that drew the last card of the stock (rules 5.1, 5.2). */
  readonly drew_last: (Seat | null);
  readonly end: (TongitsEnd | null);
  readonly hand_counts: readonly number[];
  readonly melds: Exposed;
  readonly phase: TongitsPhase;
  /** The number of the current prompt; see `Prompt`. */
  readonly prompt: number;
  readonly rules: TongitsRules;
  /** All hands by seat, once the game has ended. */
  readonly shown: readonly Shown[] | null;
  readonly stock_count: number;
  /** The seats that have not acted yet, if the rules have the Spread (rule 10.3). */
  readonly yet_to_act?: SeatSet;
}

/** A rule set. `Rules::kingdom` is the product's own. */
export interface TongitsRules {
  /** The result if the stock is exhausted and all seats are burned (rule 5.3). */
  readonly all_burned: AllBurned;
  /** `true` if the table draws at once for a seat that can do nothing else (rule 3.1). */
  readonly auto_draw: boolean;
  /** `true` if a secret meld may be laid face down (rule 3.4). */
  readonly bahay: boolean;
  /** The winner among challengers with equal deadwood (rule 4.4). */
  readonly challengers_tied: ChallengersTied;
  /** The time limit of each phase (rule 8.2). */
  readonly countdowns: Countdowns;
  /** The debts of a loser (rules 6.1 to 6.6, or 10.1). */
  readonly counts: Counts;
  /** The direction of the deal (rule 2.3). */
  readonly deal: DealDirection;
  /** `true` if a card that could be added to an exposed meld may be dumped (rule 3.6). */
  readonly dump_addable: boolean;
  /** The seats whose additions to a seat's melds take its right to fight (rule 4.1). */
  readonly fight_blocked_by: Additions;
  /** The number of cards dealt to each seat; the starter gets one more (rules 1.2, 2.3). */
  readonly hand_cards: number;
  /** `true` if the deck has two jokers (rule 11.1). */
  readonly jokers: boolean;
  /** `true` if the drawn fourth card on an own set of three makes a secret meld (rule 10.2). */
  readonly sagasa: boolean;
  /** `true` if a seat that is not open may answer a fight with a secret meld (rule 4.2). */
  readonly secret_may_challenge: boolean;
  /** The number of cards in the shortest run that is a secret meld; 0 if no run is one (rule 1.6). */
  readonly secret_run_min: number;
  /** `true` if Tongits as a seat's very first action takes the POT (rule 10.3). */
  readonly spread: boolean;
  /** `true` if losers owe for the points by which they exceed the winner (rule 11.3). */
  readonly variable_payout: boolean;
  /** `true` if a fight at zero deadwood wins at once (rule 11.2). */
  readonly zero_count_fight: boolean;
}

/** A viewer's knowledge of a game. */
export interface TongitsView {
  /** The answers to a fight that are visible to the viewer, in the order given. */
  readonly answers: readonly (readonly [Seat, TongitsAnswer])[];
  /** The card that the viewer drew in this turn, where the rules need it (rule 10.2). */
  readonly drawn?: (Card | null);
  /** The hands visible to the viewer, by seat. The hands shown at the end are in `public`. */
  readonly hands: readonly ((CardSet | null))[];
  /** The public state; a fight is restricted to the viewer's knowledge. */
  readonly public: TongitsPublic;
  /** The stock, in the record's view only. */
  readonly stock?: (Pile | null);
  /** The viewer's seat; null for the public and the record. */
  readonly viewer: (Seat | null);
}

/** An action of a player. Unknown fields are rejected, because they are a client's mistake. */
export type TongoAssetsAction = ({
  readonly purchase: number;
  readonly risk: number;
  readonly sell: number;
  readonly type: "open";
} | {
  readonly type: "pay";
} | {
  readonly purchase: number;
  readonly risk: number;
  readonly sell: number;
  readonly type: "raise";
} | {
  readonly risk: number;
  readonly type: "raise_confront";
} | {
  readonly type: "retreat";
} | {
  readonly discard: TongoAssetsCard;
  readonly slot: number;
  readonly type: "swap";
} | {
  /** The card to discard, which is given only if the hand holds seven cards. */
  readonly discard?: (TongoAssetsCard | null);
  /** True if a free purchase is spent. */
  readonly free?: boolean;
  readonly slot: number;
  readonly type: "purchase";
} | {
  /** True if a free purchase is spent. */
  readonly free?: boolean;
  /** The card that a wild would replace if the hand holds seven cards. */
  readonly replace?: (TongoAssetsCard | null);
  readonly type: "acquire";
} | {
  readonly slots: TongoAssetsSlots;
  readonly type: "sell";
} | {
  readonly section: number;
  readonly type: "reveal";
} | {
  readonly type: "dividend";
} | {
  readonly type: "done";
} | {
  readonly type: "confront";
} | {
  readonly discards: TongoAssetsCards;
  readonly type: "evade";
} | {
  readonly margin: number;
  readonly type: "index";
} | {
  readonly percent: number;
  readonly type: "leverage";
} | {
  readonly cards?: TongoAssetsCards;
  readonly chips?: number;
  readonly to: Seat;
  readonly type: "bribe";
} | {
  readonly type: "accept";
} | {
  readonly type: "refuse";
});

/** A pending bribe (rule 4.6). */
export interface TongoAssetsBribe {
  readonly cards: TongoAssetsCards;
  readonly chips: number;
  readonly from: Seat;
  readonly to: Seat;
}

/** A card by its index. */
export type TongoAssetsCard = string;

/** A set of cards. */
export type TongoAssetsCards = readonly TongoAssetsCard[];

/** The classes of hands in ascending order. */
export type TongoAssetsClass = ("nothing" | "reserve" | "treasury" | "material_continuum" | "consortium" | "full_consortium" | "monopoly" | "full_monopoly");

export type TongoAssetsColour = string;

/** The countdowns of the prompts, in milliseconds (rule 7). */
export interface TongoAssetsCountdowns {
  /** The countdown of an answer to a confront, a debt or a bribe. */
  readonly answer_ms: number;
  /** The countdown of a whole assessment. */
  readonly assess_ms: number;
  /** The countdown of an opening, and of each decision of a round of risking. */
  readonly risk_ms: number;
}

/** A deck of cards in order, serialized as their list from the top. */
export type TongoAssetsDeck = readonly TongoAssetsCard[];

/** The result of a game. Awards are in half chips (rule 6). */
export interface TongoAssetsEnd {
  /** A list with one item per seat, or per section. */
  readonly awards: readonly number[];
  readonly ending: TongoAssetsEnding;
  readonly winner: Seat;
}

/** The ending of a game. */
export type TongoAssetsEnding = ("last_in" | "acquisition" | "showdown");

/** An event of a game. Amounts are in chips. */
export type TongoAssetsEvent = ({
  readonly seat: Seat;
  readonly type: "dealer_chosen";
} | {
  readonly deck?: (TongoAssetsDeck | null);
  readonly type: "assets_shuffled";
} | {
  readonly deck?: (TongoAssetsDeck | null);
  readonly type: "acquires_shuffled";
} | {
  /** A list with one item per seat, or per section. */
  readonly hands: readonly ((TongoAssetsCards | null))[];
  readonly rotation: number;
  readonly type: "dealt";
} | {
  readonly purchase: number;
  readonly risk: number;
  readonly seat: Seat;
  readonly sell: number;
  readonly type: "opened";
} | {
  readonly chips: number;
  readonly seat: Seat;
  readonly type: "paid";
} | {
  readonly chips: number;
  readonly purchase: number;
  readonly risk: number;
  readonly seat: Seat;
  readonly sell: number;
  readonly type: "raised";
} | {
  readonly seat: Seat;
  readonly type: "retreated";
} | {
  readonly rotation: number;
  readonly type: "stopped";
} | {
  readonly assets?: readonly ((TongoAssetsCard | null))[] | null;
  readonly seat: Seat;
  readonly type: "assessing";
} | {
  readonly discarded: TongoAssetsFace;
  readonly seat: Seat;
  readonly slot: number;
  readonly taken: TongoAssetsFace;
  readonly type: "swapped";
} | {
  /** The price; 0 for a free purchase. */
  readonly chips: number;
  readonly discarded?: (TongoAssetsFace | null);
  readonly seat: Seat;
  readonly slot: number;
  readonly taken: TongoAssetsFace;
  readonly type: "purchased";
} | {
  /** The price; 0 for a free purchase. */
  readonly chips: number;
  /** The card that a wild replaced. */
  readonly discarded?: (TongoAssetsFace | null);
  readonly seat: Seat;
  readonly taken: TongoAssetsFace;
  readonly to: TongoAssetsPlace;
  readonly type: "acquired";
} | {
  readonly seat: Seat;
  readonly type: "free_spent";
} | {
  readonly chips: number;
  readonly seat: Seat;
  readonly type: "audited";
} | {
  readonly chips: number;
  readonly hand?: (TongoAssetsCards | null);
  readonly seat: Seat;
  readonly slots: TongoAssetsSlots;
  readonly type: "sold";
} | {
  readonly assets?: readonly ((TongoAssetsCard | null))[] | null;
  readonly seat: Seat;
  readonly section: number;
  readonly type: "revealed";
} | {
  readonly chips: number;
  readonly seat: Seat;
  readonly type: "dividend_taken";
} | {
  readonly seat: Seat;
  readonly type: "done";
} | {
  readonly chips: number;
  readonly seat: Seat;
  readonly type: "confronted";
} | {
  readonly chips: number;
  readonly discarded: readonly TongoAssetsFace[];
  readonly seat: Seat;
  readonly type: "evaded";
} | {
  readonly chips: number;
  readonly margin: number;
  readonly purchase: number;
  readonly risk: number;
  readonly seat: Seat;
  readonly sell: number;
  readonly type: "indexed";
} | {
  readonly chips: number;
  readonly percent: number;
  readonly seat: Seat;
  readonly type: "leveraged";
} | {
  readonly cards?: TongoAssetsCards;
  readonly chips?: number;
  readonly seat: Seat;
  readonly to: Seat;
  readonly type: "bribe_offered";
} | {
  readonly accepted: boolean;
  readonly seat: Seat;
  readonly type: "bribe_answered";
} | {
  /** A list with one item per seat, or per section. */
  readonly hands: readonly ((TongoAssetsShown | null))[];
  readonly type: "shown";
} | {
  /** A list with one item per seat, or per section. */
  readonly awards: readonly number[];
  readonly ending: TongoAssetsEnding;
  readonly type: "over";
  readonly winner: Seat;
});

export type TongoAssetsFace = (TongoAssetsCard | "asset" | "acquire");

/** The positions of all cards. */
export interface TongoAssetsHidden {
  readonly acquires: TongoAssetsDeck;
  readonly assets: TongoAssetsDeck;
  /** A list with one item per seat, or per section. */
  readonly hands: readonly TongoAssetsCards[];
  /** A list with one item per seat, or per section. */
  readonly kept: readonly TongoAssetsCards[];
  /** A list with one item per seat, or per section. */
  readonly piles: readonly TongoAssetsCards[];
  /** A list with one item per seat, or per section. */
  readonly sections: readonly TongoAssetsHiddenSection[];
}

/** The face-down cards of a section. */
export interface TongoAssetsHiddenSection {
  /** The acquire cards; the first one present is the next. */
  readonly acquires: readonly ((TongoAssetsCard | null))[];
  readonly assets: readonly ((TongoAssetsCard | null))[];
}

/** A section that a seat has looked at by a reveal. */
export interface TongoAssetsLook {
  readonly assets: readonly ((TongoAssetsCard | null))[];
  readonly section: number;
}

/** The knowledge of a seat in addition to the public state. */
export interface TongoAssetsOwn {
  /** The assets before the seat, during its assessment. */
  readonly before?: readonly ((TongoAssetsCard | null))[] | null;
  readonly hand: TongoAssetsCards;
  readonly kept: TongoAssetsCards;
  /** The section that the seat looked at last, during its assessment. */
  readonly look?: (TongoAssetsLook | null);
}

/** The phase of a game, with the seat that is prompted. */
export type TongoAssetsPhase = ({
  readonly type: "dealer";
} | {
  readonly type: "assets";
} | {
  readonly type: "acquires";
} | {
  readonly type: "deal";
} | {
  readonly seat: Seat;
  readonly type: "open";
} | {
  readonly seat: Seat;
  readonly type: "risk";
} | {
  readonly type: "stop";
} | {
  /** True if the seat has been shown its section. */
  readonly began: boolean;
  /** The section that the seat looked at last by a reveal. */
  readonly revealed?: number | null;
  readonly seat: Seat;
  readonly sold: boolean;
  readonly swapped: boolean;
  readonly type: "assess";
} | {
  readonly confronter: Seat;
  readonly seat: Seat;
  readonly type: "confront";
} | {
  readonly confronter: Seat;
  readonly opener: Seat;
  readonly seat: Seat;
  readonly type: "debts";
} | {
  readonly confronter: Seat;
  readonly type: "showdown";
} | {
  readonly seat: Seat;
  readonly type: "last_in";
} | {
  readonly type: "over";
});

/** The destination of a purchased acquire card (rule 1.5). */
export type TongoAssetsPlace = ("hand" | "kept" | "pile");

/** The public state of a seat. Amounts are in chips. */
export interface TongoAssetsPlayer {
  /** True if the seat has had its turn in this round of risking. */
  readonly acted: boolean;
  /** The number of assets in the hand. */
  readonly assets: number;
  readonly chips: number;
  /** The number of kept acquire cards. */
  readonly kept: number;
  /** The leverage of this confront in hundredths (rule 4.5); 0 for none. */
  readonly leverage: number;
  /** The margin of this confront in hundredths (rule 4.4); 0 for none. */
  readonly margin: number;
  /** The amount borrowed by the margin. */
  readonly owes: number;
  /** The payment in this round of risking or this confront (rule 2.2). */
  readonly paid: number;
  readonly pile_acquires: number;
  /** The number of assets on the pile. */
  readonly pile_assets: number;
  readonly wilds: number;
}

/** The public state. Amounts are in chips. */
export interface TongoAssetsPublic {
  readonly acquire_deck: number;
  readonly asset_deck: number;
  /** The number of the running countdown; see `Prompt`. */
  readonly countdown: number;
  readonly end?: (TongoAssetsEnd | null);
  /** The pending bribe (rule 4.6). */
  readonly offer?: (TongoAssetsBribe | null);
  /** True if the seat has already offered a bribe before this decision (rule 4.6). */
  readonly offered?: boolean;
  /** The opener of this round, or the dealer (rule 2.1). */
  readonly opener: (Seat | null);
  readonly phase: TongoAssetsPhase;
  /** A list with one item per seat, or per section. */
  readonly players: readonly TongoAssetsPlayer[];
  /** The seats that have not retreated. */
  readonly playing: SeatSet;
  readonly pot: number;
  /** The number of the current prompt; see `Prompt`. */
  readonly prompt: number;
  readonly purchase: number;
  /** The number of raises in this round of risking, or in this confront. */
  readonly raises: number;
  readonly risk: number;
  /** The rotation of the table (rule 1.6). */
  readonly rotation: number;
  /** The number of paid openings (rule 6.4). */
  readonly rounds: number;
  readonly rules: TongoAssetsRules;
  /** A list with one item per seat, or per section. */
  readonly sections: readonly TongoAssetsSection[];
  readonly sell: number;
  /** The shown hands by seat. */
  readonly shown?: readonly ((TongoAssetsShown | null))[] | null;
  /** The risk before this confront's first margin (rule 4.4). */
  readonly unindexed?: number | null;
}

/** The rank of a hand, with its criteria in order of precedence. */
export interface TongoAssetsReading {
  readonly class: TongoAssetsClass;
  /** The best colour in which these cards have that number. */
  readonly colour: (TongoAssetsColour | null);
  /** The highest number among the cards of the class; 0 for nothing. */
  readonly number: number;
  /** The number of wilds among these cards; fewer are better. */
  readonly wilds: number;
}

/** A rule set. */
export interface TongoAssetsRules {
  /** True if bribes may be offered (rule 4.6). */
  readonly bribes: boolean;
  /** The number of rounds in which all seats need seven cards for a confront; afterwards only the confronter does (rule 3.5). */
  readonly confront_all_rounds: number;
  /** The countdowns of the prompts (rule 7). */
  readonly countdowns: TongoAssetsCountdowns;
  /** The chips of each seat at the start (rule 1.5). */
  readonly latinum: number;
  /** True if the buy-in may be leveraged (rule 4.5). */
  readonly leverage: boolean;
  /** True if the margin may be indexed (rule 4.4). */
  readonly margins: boolean;
  /** The maximum of the first opening risk (rule 2.1). */
  readonly opening_max: number;
  /** The maximum by which a raise, or a later opening, exceeds the risk (rules 2.2 and 3.7). */
  readonly raise_max: number;
  /** The maximum number of raises in a round of risking, and in a confront (rules 2.2 and 4.1). */
  readonly raises_max: number;
  /** The maximum number of paid openings, after which the opener confronts or retreats (rule 6.4). */
  readonly rounds_max: number;
  /** The number of sections of the table, 8 or 4 (rule 1.1). */
  readonly sections: number;
  /** The share of the strongest hand in the pot, in hundredths (rule 6.2). */
  readonly winner_share: number;
}

/** The public state of a section: the full slots. */
export interface TongoAssetsSection {
  /** The number of acquire cards. */
  readonly acquires: number;
  /** The slots that hold an asset. */
  readonly slots: TongoAssetsSlots;
}

/** A shown hand with its rank. */
export interface TongoAssetsShown {
  readonly hand: TongoAssetsCards;
  readonly reading: TongoAssetsReading;
}

/** A set of a section's asset slots, serialized as the ascending list of their numbers. */
export type TongoAssetsSlots = readonly number[];

/** The part of a game that one viewer knows. */
export interface TongoAssetsView {
  /** The positions of all cards, for the record only. */
  readonly hidden?: (TongoAssetsHidden | null);
  /** The cards that the viewer holds and sees; absent for the public. */
  readonly own?: (TongoAssetsOwn | null);
  readonly public: TongoAssetsPublic;
  /** The viewer's seat; null for the public and the record. */
  readonly viewer: (Seat | null);
}

/** An action of a player. Unknown fields are rejected, because they are a client's mistake. */
export type TongoOptionsAction = ({
  readonly floor: number;
  readonly type: "stop";
} | {
  readonly type: "retreat";
} | {
  readonly discards?: readonly TongoOptionsCard[];
  readonly type: "evade";
} | {
  readonly type: "convert_reserves";
} | {
  readonly target?: (Seat | null);
  readonly type: "confront";
} | {
  readonly type: "acquire";
} | {
  readonly type: "fold";
} | {
  readonly type: "pay_risk";
} | TongoOptionsNewCosts & {
  readonly type: "lower";
} | {
  readonly leverage?: boolean;
  readonly slot: number;
  readonly type: "buy";
} | {
  readonly leverage?: boolean;
  readonly slot: number;
  readonly type: "sell";
} | {
  readonly floor?: number | null;
  readonly leverage?: boolean;
  readonly other: number;
  readonly slot: number;
  readonly type: "exchange";
} | TongoOptionsNewCosts & {
  readonly type: "raise";
} | {
  readonly percent: number;
  readonly type: "index_margin";
} | {
  readonly type: "roll";
} | {
  readonly type: "end";
} | {
  readonly discards: readonly TongoOptionsCard[];
  readonly type: "pay_to_evade";
} | {
  readonly type: "stand";
} | {
  readonly type: "join";
});

/** The answer to a challenge that keeps a seat in (rules 6.2 and 7.1). */
export type TongoOptionsAnswer = "stand" | "join" | "confront";

/** One of the 48 cards of the player deck or of the options deck. */
export type TongoOptionsCard = string;

/** A set of cards of one deck, serialized as the list of its cards in ascending order of index. */
export type TongoOptionsCardSet = readonly TongoOptionsCard[];

/** A confrontation or an acquisition that is being answered. */
export interface TongoOptionsChallenge {
  /** The seat that answers next: first the target, if it may evade, then the others. */
  readonly asked: Seat;
  readonly by: Seat;
  /** The seats that answered `join` or `confront`. */
  readonly joined: SeatSet;
  /** The confronted seat; null if the challenger acquires the cards of its facing floor. */
  readonly target?: (Seat | null);
}

/** The class of a hand card and a floor card of one number, possibly with dice, in ascending order. */
export type TongoOptionsClass = "pair" | "exact_pair" | "chain" | "exact_chain" | "four" | "exact_four";

/** The costs of buying, selling and exchanging (rule 1.6). */
export interface TongoOptionsCosts {
  readonly buy: number;
  readonly exchange: number;
  readonly sell: number;
}

/** The kind of a change of costs (rule 3.4). */
export type TongoOptionsCostsChange = "lower" | "raise" | "index";

/** The countdowns of the phases, in milliseconds (rule 9.1). */
export interface TongoOptionsCountdowns {
  readonly answer_ms: number;
  readonly stop_ms: number;
  /** The countdown of a turn after the stop. */
  readonly turn_ms: number;
}

/** A die on the ring. */
export interface TongoOptionsDie {
  /** The place: 2k is on floor k, and 2k + 1 on the line between the floors k and k + 1. */
  readonly place: number;
  readonly value: number;
}

/** The result of a game. */
export interface TongoOptionsEnd {
  readonly ending: TongoOptionsEnding;
  readonly pot: number;
  readonly winner: Seat;
}

/** The ending of a game. */
export type TongoOptionsEnding = ("last_in" | "confront" | "acquire" | "reserves" | "rounds");

/** An event of a game. Payments are in chips. */
export type TongoOptionsEvent = ({
  readonly dealer: Seat;
  readonly dice: readonly TongoOptionsDie[];
  readonly hands: readonly ((TongoOptionsCardSet | null))[];
  readonly hidden?: (TongoOptionsHidden | null);
  readonly type: "dealt";
  /** The face-up card of each floor. */
  readonly up: readonly TongoOptionsCard[];
} | {
  readonly floor: number;
  readonly seat: Seat;
  readonly type: "stopped";
} | {
  readonly chips: number;
  readonly seat: Seat;
  readonly type: "risk_paid";
} | {
  readonly seat: Seat;
  readonly type: "retreated";
} | {
  readonly seat: Seat;
  readonly type: "folded";
} | {
  readonly chips: number;
  readonly costs: TongoOptionsCosts;
  readonly how: TongoOptionsCostsChange;
  readonly seat: Seat;
  readonly type: "costs_changed";
} | {
  readonly card: TongoOptionsCard;
  readonly chips: number;
  readonly leverage: boolean;
  readonly seat: Seat;
  readonly slot: number;
  readonly type: "bought";
} | {
  readonly chips: number;
  readonly leverage: boolean;
  readonly seat: Seat;
  readonly slot: number;
  readonly type: "sold";
} | {
  readonly chips: number;
  readonly floor?: number | null;
  readonly leverage: boolean;
  readonly other: number;
  readonly seat: Seat;
  readonly slot: number;
  readonly type: "exchanged";
} | {
  readonly seat: Seat;
  readonly type: "rolling";
} | {
  readonly dice: readonly TongoOptionsDie[];
  readonly seat: Seat;
  readonly type: "rolled";
} | {
  readonly chips: number;
  readonly count: number;
  readonly discards?: readonly TongoOptionsCard[] | null;
  readonly seat: Seat;
  /** True if the seat evaded by its token instead of chips. */
  readonly token: boolean;
  readonly type: "evaded";
} | {
  readonly cards?: (TongoOptionsCardSet | null);
  readonly deck?: readonly TongoOptionsCard[] | null;
  readonly seat: Seat;
  readonly type: "drew";
} | {
  readonly seat: Seat;
  readonly type: "reserves_converted";
  readonly wager: number;
} | {
  readonly seat: Seat;
  readonly target: Seat;
  readonly type: "confronted";
} | {
  readonly floor: number;
  readonly seat: Seat;
  readonly type: "acquired";
} | {
  readonly answer: TongoOptionsAnswer;
  readonly chips: number;
  readonly seat: Seat;
  readonly type: "answered";
} | {
  readonly chips: number;
  readonly seat: Seat;
  readonly type: "ended";
} | {
  readonly hands: readonly TongoOptionsShown[];
  readonly type: "shown";
} | {
  readonly ending: TongoOptionsEnding;
  readonly pot: number;
  readonly type: "over";
  readonly winner: Seat;
});

/** The face-down cards, and of the floors also the face-up ones. */
export interface TongoOptionsHidden {
  readonly deck: readonly TongoOptionsCard[];
  /** The cards of the free exchanges; meaningless under rules without them. */
  readonly exchanges: readonly (readonly TongoOptionsCard[])[];
  readonly floors: readonly (readonly TongoOptionsCard[])[];
}

/** A hand card and its matching floor card. */
export interface TongoOptionsMatch {
  readonly card: TongoOptionsCard;
  readonly class: TongoOptionsClass;
  readonly floor: TongoOptionsCard;
}

/** The changed costs (rule 3.4). */
export interface TongoOptionsNewCosts {
  readonly buy?: number | null;
  readonly exchange?: number | null;
  readonly sell?: number | null;
}

/** The chips that a seat has paid into the pot, by purpose. */
export interface TongoOptionsPaid {
  readonly answer?: number;
  readonly buy_in?: number;
  readonly buys?: number;
  readonly evasion?: number;
  readonly exchanges?: number;
  readonly rates?: number;
  readonly reserves?: number;
  readonly risk?: number;
  readonly sells?: number;
}

/** The phase of a game. */
export type TongoOptionsPhase = ({
  readonly type: "deal";
} | {
  readonly seat: Seat;
  readonly type: "stop";
} | TongoOptionsTurn & {
  readonly type: "turn";
} | TongoOptionsTurn & {
  readonly type: "roll";
} | {
  readonly count: number;
  readonly seat: Seat;
  readonly turn: Seat;
  readonly type: "shuffle";
} | TongoOptionsChallenge & {
  readonly type: "challenge";
} | TongoOptionsShowdown & {
  readonly type: "showdown";
} | {
  readonly type: "over";
});

/** The public state of a seat. */
export interface TongoOptionsPlayer {
  readonly chips: number;
  readonly evade_token: boolean;
  /** The floor that the seat faced last (rule 9.1). */
  readonly facing: number;
  readonly folded: boolean;
  /** True if the buy-in has paid for something (rule 3.4). */
  readonly leveraged: boolean;
  readonly paid: TongoOptionsPaid;
  readonly previous: TongoOptionsPrevious;
}

/** The properties of a seat's previous turn that bar actions (rules 3.2 and 6.1). */
export interface TongoOptionsPrevious {
  readonly confronted?: boolean;
  /** True if the seat evaded by token, in that turn or in answer to a confrontation since. */
  readonly evaded?: boolean;
  readonly paid_to_evade?: boolean;
  readonly retreated?: boolean;
}

/** The public state. */
export interface TongoOptionsPublic {
  readonly costs: TongoOptionsCosts;
  /** The number of the running countdown; see `Prompt`. */
  readonly countdown: number;
  /** The winner of the last game, or a seat by chance (rule 2.1). */
  readonly dealer: (Seat | null);
  readonly dice: readonly TongoOptionsDie[];
  readonly end?: (TongoOptionsEnd | null);
  readonly floors: readonly (readonly ((TongoOptionsCard | null))[])[];
  readonly phase: TongoOptionsPhase;
  readonly players: readonly TongoOptionsPlayer[];
  readonly pot: number;
  /** The number of the current prompt; see `Prompt`. */
  readonly prompt: number;
  readonly reserves?: (TongoOptionsReserves | null);
  /** The number of the round, from 1 (rule 4.2). */
  readonly round: number;
  readonly rules: TongoOptionsRules;
  /** The hands of a showdown. */
  readonly shown?: readonly TongoOptionsShown[];
}

/** Converted reserves (chapter 5). */
export interface TongoOptionsReserves {
  readonly by: Seat;
  /** The wager of the seats that answer, as far as they have the chips. */
  readonly wager: number;
}

/** The sum of all rises of each cost in a turn. Lowering a cost does not change the sum. */
export interface TongoOptionsRises {
  readonly buy?: number;
  readonly exchange?: number;
  readonly sell?: number;
}

/** A rule set. */
export interface TongoOptionsRules {
  /** True if a seat that answers a challenge without folding pays the risk (rule 8.4). */
  readonly answer_pays_risk: boolean;
  /** The payment of each seat at the start (rule 1.6). */
  readonly buy_in: number;
  /** The first round in which a seat may confront or acquire (rule 8.4). */
  readonly challenge_round: number;
  /** The number of chips that each seat may spend in total (rule 1.5). */
  readonly chips: number;
  /** The countdowns of the phases (rule 9.1). */
  readonly countdowns: TongoOptionsCountdowns;
  /** True if there are two additional dice with six sides (rule 1.4). */
  readonly dice_2d6: boolean;
  /** True if there are free exchanges below the floors (rule 1.3). */
  readonly free_exchange: boolean;
  /** True if all costs may be changed by a percentage (rule 3.4). */
  readonly index_margin: boolean;
  /** The maximum by which a cost is raised in one turn (rule 1.6). */
  readonly raise_max: number;
  /** The number of rounds after which all hands are shown (rule 4.2). */
  readonly rounds_max: number;
  /** The number of seats of a table (rule 1.1). */
  readonly seats_max: number;
  /** The minimum number of seats with which a game begins (rule 1.1). */
  readonly seats_min: number;
  /** The initial cost of buying, selling and exchanging (rule 1.6). */
  readonly start_cost: number;
}

/** The participants of a showdown, and its ending (rules 4.1, 4.2, 5.3, 6.3 and 7.2). */
export interface TongoOptionsShowdown {
  /** The seat that confronts or acquires; among equal hands it comes last. */
  readonly by: Seat;
  readonly ending: TongoOptionsEnding;
  /** The participants, including `by`. */
  readonly seats: SeatSet;
}

/** A shown hand and its matching floor. */
export interface TongoOptionsShown {
  readonly floor: number;
  readonly hand: TongoOptionsCardSet;
  readonly matches: readonly TongoOptionsMatch[];
  readonly seat: Seat;
}

/** The last completed step of rule 3.4 in a turn, or a step before it. */
export type TongoOptionsStep = ("lowered" | "traded" | "rolled" | "open" | "begun" | "raised");

/** The progress of a turn. */
export interface TongoOptionsTurn {
  readonly bought?: boolean;
  readonly exchanged?: boolean;
  /** The facing floor. */
  readonly floor: number;
  readonly indexed?: boolean;
  /** The amount by which each cost has risen in this turn, at most `raise_max` (rule 1.6). */
  readonly risen?: TongoOptionsRises;
  readonly seat: Seat;
  readonly sold?: boolean;
  readonly step: TongoOptionsStep;
  /** The rest of the wager of a seat that has converted its reserves in this turn. */
  readonly wager?: number | null;
}

/** The part of a game that one viewer knows. */
export interface TongoOptionsView {
  /** The hands that the viewer may see, by seat. `public` has the hands of a showdown. */
  readonly hands: readonly ((TongoOptionsCardSet | null))[];
  /** The hidden state, for the record only. */
  readonly hidden?: (TongoOptionsHidden | null);
  readonly public: TongoOptionsPublic;
  /** The viewer's seat; null for the public and the record. */
  readonly viewer: (Seat | null);
}

/** The id of a tournament. */
export type TournamentId = string;

/** The place of a table in a tournament. Its players play a fixed number of games for points, which are counted like coins, in hundredths, but never leave the table; nobody else sits down there. */
export interface TournamentSeating {
  /** The deal commitments by game if all tables of the round play the same deals, as in a duplicate. The table then shows no seed, and nobody watches it. */
  readonly commitments?: readonly Commitment[];
  /** The number of games that are played at the table. */
  readonly games: number;
  /** The number of the table in the round, from 1. */
  readonly number: number;
  /** The players by seat. */
  readonly players: readonly PlayerId[];
  /** The round of the tournament, from 1. */
  readonly round: number;
  readonly tournament: TournamentId;
}

/** Stops watching. Answered by an `ack`. */
export interface UnwatchCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "unwatch";
}

/** The events between the previous version and this one, as far as the player may see them. */
export interface UpdateMessage {
  /** The id of the command whose effects end with this update, which is then its answer: no separate `ack` follows. */
  readonly ack?: number | null;
  /** The events in order. Hidden events are sent in no update. */
  readonly events: readonly Event[];
  /** The prompt that is open afterwards, if any; also absent if another update follows at once. */
  readonly prompt?: (OpenPrompt | null);
  readonly server_time_ms: Timestamp;
  /** The tag of the history that led to this version; for the next `join`. */
  readonly tag: string;
  readonly type: "update";
  /** One more than the version of the previous message. */
  readonly version: number;
}

/** The reason why a player waits although others do. */
export type WaitReason = ("only_same_network");

/** Watches the public part of a table without a seat, one whole turn late; only if the table's terms permit spectators. Answered by an `ack`, followed by a `snapshot`, during a game after a turn or two, and `update`s. A `join` ends it. */
export interface WatchCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly table: TableId;
  readonly type: "watch";
}
