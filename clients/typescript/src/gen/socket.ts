// Made from asyncapi.yaml by generate.mjs; do not edit.

/** What a client sends. */
export type Command = AuthenticateCommand | JoinCommand | ReadyCommand | RevealCommand | ActCommand | HintCommand | TakeBackCommand | LeaveCommand | SayCommand | WatchCommand | UnwatchCommand | SeekCommand | CancelSeekCommand | PingCommand;

/** What the server sends. */
export type Message = HelloMessage | SnapshotMessage | UpdateMessage | SaidMessage | AdviceMessage | ClosedMessage | TicketMessage | InvitedMessage | AckMessage | RefusalMessage;

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

/** The command was carried out; its effects are part of this version or an earlier one. */
export interface AckMessage {
  /** That of the command. */
  readonly id: number;
  readonly type: "ack";
  /** The table's version with the command's effects in it, or, for a join, the version that the client has been shown by then. Absent for what changes nothing at a table. */
  readonly version?: number | null;
}

/** Answer a prompt. */
export interface ActCommand {
  readonly action: (TongitsAction | TongoOptionsAction | TongoAssetsAction);
  /** The game that goes on. */
  readonly game: GameId;
  /** The client's number for this command. */
  readonly id: number;
  /** The number of the prompt that is answered. */
  readonly prompt: number;
  readonly type: "act";
}

/** Whose additions count (rule 4.1). */
export type Additions = ("opponents" | "anyone");

/** What a bot of the house would play in the player's seat, knowing what the seat is shown. */
export interface AdviceMessage {
  readonly action: (TongitsAction | TongoOptionsAction | TongoAssetsAction);
  /** Which bot, as in `quick`. */
  readonly by: string;
  readonly game: GameId;
  /** The prompt that the action answers. */
  readonly prompt: number;
  readonly type: "advice";
}

/** Who wins when all seats are burned (rule 5.3). */
export type AllBurned = "fewest_points" | "nobody";

/** The arrangement of a hand. */
export interface Arrangement {
  /** The points of the leftover cards (rule 1.11). */
  readonly deadwood: number;
  readonly leftover: CardSet;
  /** In ascending order of their lists of card indices. */
  readonly melds: readonly CardSet[];
}

/** Say who this is, as the first message of a socket that was opened without a token in its header. Give either a token or a ticket. Answered by `hello` and an `ack`, or by a refusal that ends the connection. */
export interface AuthenticateCommand {
  /** The client's number for this command. */
  readonly id: number;
  /** What `POST /v1/play/tickets` has given. */
  readonly ticket?: string | null;
  /** The access token. */
  readonly token?: string | null;
  readonly type: "authenticate";
}

/** Look no longer. Answered by a `ticket` that is cancelled and an `ack`; refused once a table has been found. */
export interface CancelSeekCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "cancel_seek";
}

/** One of the 52 cards of a standard deck, or one of two jokers, which have no rank and no suit. */
export type Card = string;

/** A set of cards. On the wire it is the list of its cards by ascending index. */
export type CardSet = readonly Card[];

/** Who wins among challengers with equal deadwood (rule 4.4). */
export type ChallengersTied = "first_after_fighter" | "last_answer";

/** The clocks of a table (chapter 8). Those within a game are the game's own. */
export interface Clocks {
  /** How long a disconnected player keeps a seat at a table that waits for others. */
  readonly absence_ms: number;
  /** How long a player whose connection is lost is only away, before the AI takes over (rule 8.3). Milliseconds. */
  readonly grace_ms: number;
  /** Countdowns in a row that a player may let pass before the AI takes over (rule 8.3). */
  readonly missed_turns_to_takeover: number;
  /** How long the seats have to be ready (rule 8.1). */
  readonly prepare_ms: number;
  /** After how long an unanswered opening or settlement is asked again. */
  readonly retry_ms: number;
  /** How long the AI thinks (rule 8.3). Shorter than every countdown. */
  readonly think_ms: number;
}

/** The table that was joined or watched is gone. Ask a room for another seat. */
export interface ClosedMessage {
  /** Why a table is gone. */
  readonly reason: ("voided" | "lost");
  readonly table: TableId;
  readonly type: "closed";
}

/** An amount in hundredths of a coin. On the wire it is that integer. */
export type Coins = number;

/** SHA-256 of a seed, the house's or a client's. */
export type Commitment = string;

/** How long a phase waits, in milliseconds (rule 8.2). */
export interface Countdowns {
  readonly draw_ms: number;
  readonly fight_ms: number;
  readonly play_ms: number;
}

/** What a loser owes, in counts: in one of two ways, which are told apart by their fields. */
export type Counts = (ItemCounts | EndingCounts);

/** A run of wins at this table (rule 7.2). */
export interface Crown {
  readonly player: PlayerId;
  /** The number on the crown: wins in a row. */
  readonly wins: number;
}

/** Which way the cards go round (rule 2.3). */
export type DealDirection = ("clockwise" | "counterclockwise");

/** How a game ended. */
export type Ending = ("tongits" | "fight" | "stock");

/** What a loser owes, in counts, by how the game ended (rules 10.1, 11.2, 11.3). */
export interface EndingCounts {
  /** By a burned loser on top, unless the winner is burned too. */
  readonly burned: number;
  /** A fight that somebody challenged, whoever won it. */
  readonly challenge: number;
  /** A fight that nobody challenged. */
  readonly fight: number;
  /** A meld; after Tongits and Spread only. */
  readonly secret: number;
  readonly stock: number;
  /** A Spread too. */
  readonly tongits: number;
  /** The points that make one more count of a variable payout. */
  readonly variable_points: number;
  readonly zero_count_fight: number;
}

/** Something that happened at a table. */
export type Event = ({
  readonly avatar?: string | null;
  /** A bot of the house (rule 8.6). */
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
  /** By seat; zeros where a client takes no part. */
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
  readonly server_seed: ServerSeed;
  readonly settlement: Settlement;
  readonly type: "over";
} | {
  readonly crown: (Crown | null);
  readonly game: GameId;
  readonly pot: Coins;
  readonly type: "settled";
} | {
  /** What is left in it. */
  readonly pot: Coins;
  readonly shares: readonly PotShare[];
  readonly type: "pot_returned";
} | {
  readonly clocks: Clocks;
  readonly hits?: (Hits | null);
  readonly price: Price;
  readonly type: "terms_updated";
});

/** All melds on the table. On the wire it is the list of `ExposedMeld`. */
export type Exposed = readonly ExposedMeld[];

/** One meld on the table as it is shown. */
export interface ExposedMeld {
  /** Which of its cards each seat put there, by seat. */
  readonly by: readonly CardSet[];
  /** None where it lies face down and the viewer may not see them. */
  readonly cards: CardSet;
  /** How many cards it has, where it lies face down (rule 3.4). */
  readonly face_down?: number | null;
  readonly owner: Seat;
  /** It is a sagasa (rule 10.2). */
  readonly sagasa?: boolean;
}

/** The house's share of what one seat received. */
export interface Fee {
  readonly fee: Coins;
  readonly gross: Coins;
  readonly seat: Seat;
}

/** One deal to one settlement. Its 16 bytes are part of the deal's key (rule 9.2). */
export type GameId = string;

/** The first message of every connection, once it is known whose it is. */
export interface HelloMessage {
  /** How many notices the player has not read: `GET /v1/me/notices` lists them. Absent when that could not be found out in time. */
  readonly notices?: number | null;
  readonly player: PlayerId;
  readonly protocol: string;
  readonly server_time_ms: Timestamp;
  readonly type: "hello";
}

/** What would a bot play here? Only at practice tables, and only while the player is asked. Answered by an `advice` and an `ack` (rule 8.7). */
export interface HintCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "hint";
}

/** The POT that a table builds up beside its games, and who takes it (chapter 7). */
export interface Hits {
  /** Bets that each seat pays into the POT before each game (rule 7.1). */
  readonly ante: number;
  /** Counts that each loser pays for the second win in a row when it takes three (rule 7.5). */
  readonly second_hit_bonus: number;
  /** Wins in a row that take the POT (rule 7.2). */
  readonly to_win: number;
}

/** Somebody who played a game with the player wants to play it again, at a private table: `POST /v1/private-tables/{code}/seat`, or a rematch of the same game, leads there. Told once, to the connections that are open; a notice says the same to those who come later. */
export interface InvitedMessage {
  /** The code of the table. */
  readonly code: string;
  /** The player who invites. */
  readonly from: PlayerId;
  /** The game that is to be played again. */
  readonly game: GameId;
  /** The name of that player. */
  readonly name: string;
  readonly type: "invited";
}

/** One line of a settlement: how many counts, named, by which rule. */
export interface Item {
  readonly counts: number;
  readonly name: string;
  readonly rule: string;
}

/** What a loser owes, in counts, line by line (rules 6.1 to 6.6). */
export interface ItemCounts {
  readonly burned: number;
  readonly challenge: number;
  readonly normal: number;
  /** A meld. */
  readonly secret: number;
  /** A card. */
  readonly special: number;
  readonly tongits: number;
}

/** Watch and play at the table where the player sits. Answered by a `snapshot`, or, with the version that the client saw last, by the `update`s since; then by an `ack`. */
export interface JoinCommand {
  /** The last version that the client has; only of this table. */
  readonly from?: number | null;
  /** The client's number for this command. */
  readonly id: number;
  /** The table that `from` is of. */
  readonly table?: (TableId | null);
  /** The tag that came with that version; without it a `snapshot` comes. */
  readonly tag?: string | null;
  readonly type: "join";
}

/** Leave the table (rules 7.3, 8.4). */
export interface LeaveCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "leave";
}

/** Why a player no longer sits at a table. */
export type LeftReason = ("left" | "not_ready" | "absent" | "cannot_pay" | "removed" | "closed");

/** The question that is open, as far as the player may know it. */
export interface OpenPrompt {
  /** When the clock answers. */
  readonly deadline_ms: (Timestamp | null);
  readonly game: GameId;
  /** Every action open to the player now; empty when others are to answer. */
  readonly legal: readonly ((TongitsAction | TongoOptionsAction | TongoAssetsAction))[];
  /** An answer names it. */
  readonly number: number;
  /** Who is to answer. */
  readonly seats: SeatSet;
}

/** From one seat's stake to another seat. */
export interface Payment {
  readonly from: Seat;
  /** For what, in counts. */
  readonly items: readonly Item[];
  /** Counts × the price of a count. */
  readonly owed: Coins;
  /** What the stake could pay of it. */
  readonly paid: Coins;
  readonly to: Seat;
}

/** What a table is doing, as one viewer knows it. */
export type PhaseView = ({
  readonly type: "waiting";
} | {
  readonly commitment: Commitment;
  readonly deadline_ms: Timestamp;
  readonly game: GameId;
  readonly ready: SeatSet;
  readonly type: "preparing";
} | {
  readonly game: GameId;
  readonly type: "opening";
} | {
  /** By seat; zeros where a client takes no part. */
  readonly commitments: readonly Commitment[];
  readonly deadline_ms: Timestamp;
  readonly game: GameId;
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

/** Cards one upon another. On the wire it is their list, the top last. */
export type Pile = readonly Card[];

/** Anything there? Answered by an `ack`. */
export interface PingCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "ping";
}

/** An account that plays. */
export type PlayerId = string;

/** The whole POT, to one seat. */
export interface PotPayout {
  readonly amount: Coins;
  readonly seat: Seat;
}

/** What somebody gets back out of a POT. */
export interface PotShare {
  readonly amount: Coins;
  readonly player: PlayerId;
}

/** How counts become coins at one table. */
export interface Price {
  /** What a bet is at multiplier 1: at most games one count. Hundredths of a coin. */
  readonly bet: Coins;
  /** The house's share of what a seat receives, in ten-thousandths (rule 6.8). */
  readonly fee_basis_points: number;
  readonly multiplier: number;
}

/** What holds at a table to which nobody comes but a host's guests (rule 7.4): who is sent away takes its part of the POT along, and when the table ends the POT goes back to those who paid it. */
export interface PrivateTerms {
  /** The table ends when nobody has sat there for so long. */
  readonly ends_after_ms: number;
  /** A player whose wallet holds less than the most that can be owed stakes the whole wallet, and does not have to leave (rule 6.9). Only where the game knows short stakes. */
  readonly short_stakes?: boolean;
}

/** Ready for the game that is prepared. With a `commitment` the client takes part in the deal: it is asked for its text when all are ready (rule 9.1). */
export interface ReadyCommand {
  /** The SHA-256 of the client's seed, which is the SHA-256 of a text of its own. The text is kept until it is asked for. Absent, or zeros, of a client that takes no part. */
  readonly commitment?: (Commitment | null);
  /** The game that is prepared. */
  readonly game: GameId;
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "ready";
}

/** The command was refused and changed nothing. */
export interface RefusalMessage {
  /** Stable, in snake case. */
  readonly code: string;
  /** For people; the words may change. */
  readonly detail: string;
  /** That of the command; null when the text had no readable id. */
  readonly id: number | null;
  /** After so long, where that is known. */
  readonly retry_after_ms?: number | null;
  /** The same command may succeed later, unchanged. */
  readonly retryable: boolean;
  /** The numbered rule that decides, where one does. */
  readonly rule?: string | null;
  readonly type: "refusal";
}

/** The text of the seed that the client committed to, when the table asks for it: the phase is `revealing`, and the seat has a commitment and has not revealed (rule 9.1). */
export interface RevealCommand {
  /** The game that is about to be dealt. */
  readonly game: GameId;
  /** The client's number for this command. */
  readonly id: number;
  /** At most 256 bytes of UTF-8. Everybody can read it in the record of the game. */
  readonly text: string;
  readonly type: "reveal";
}

/** A player at the table said something. It is no part of the table's versions, and nobody is told it later. */
export interface SaidMessage {
  readonly phrase: Phrase;
  readonly player: PlayerId;
  readonly server_time_ms: Timestamp;
  readonly type: "said";
}

/** Say something out of the catalogue to the table and to those who watch it. Who has muted the player does not hear it. Answered by an `ack` once it is on its way. */
export interface SayCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly phrase: Phrase;
  readonly type: "say";
}

/** A place at a table, below `SEATS_MAX`. On the wire it is its number. */
export type Seat = number;

/** A set of seats. On the wire it is the ascending list of their numbers. */
export type SeatSet = readonly Seat[];

/** A player in a seat, as everybody sees it. */
export interface SeatView {
  /** The picture that the player is shown by, as when the player sat down. */
  readonly avatar?: string | null;
  /** A bot of the house sits here (rule 8.6), and no player. */
  readonly bot: boolean;
  /** The player is there, and not away (rule 8.3). Always, for a bot. */
  readonly connected: boolean;
  readonly name: string;
  readonly player: PlayerId;
  /** The AI plays this seat now: for a bot, and for a player who has left, has missed too many countdowns, or is away for longer than the grace (rules 8.3 and 8.6). */
  readonly taken_over: boolean;
}

/** Look for a table in any of these rooms. Answered by a `ticket` and an `ack`; another `ticket` follows when a table is found: then join. */
export interface SeekCommand {
  /** The client's number for this command. */
  readonly id: number;
  /** One to eight rooms of one game. */
  readonly rooms: readonly string[];
  readonly type: "seek";
}

/** How a search for a table stands. */
export type SeekState = "waiting" | "seated" | "cancelled" | "expired";

/** The secret of one game's deal, published when the game is over. */
export type ServerSeed = string;

/** The itemised settlement of a game: what the ledger books and the players see. */
export interface Settlement {
  /** What each receiving seat pays the house out of its payments, seats ascending. */
  readonly fees: readonly Fee[];
  /** From stakes to the receivers, before the fee. */
  readonly payments: readonly Payment[];
  /** The POT's payout, if this game takes it. */
  readonly pot: (PotPayout | null);
  readonly winner: (Seat | null);
}

/** A hand as it is shown at the end of the game. */
export interface Shown {
  readonly arrangement: Arrangement;
  /** Rule 1.8. */
  readonly burned: boolean;
  /** What the seat had laid face down, in the order laid (rule 3.4). */
  readonly face_down?: readonly CardSet[];
  readonly hand: CardSet;
  /** What the hand counts: its deadwood, or all of it when burned (rule 1.11). */
  readonly points: number;
}

/** How well an AI plays. */
export type Skill = ("greedy" | "quick");

/** The whole table as the player may see it. */
export interface SnapshotMessage {
  /** The question that is open, if any. */
  readonly prompt?: (OpenPrompt | null);
  readonly server_time_ms: Timestamp;
  /** Which history led to this version; for the next `join`. */
  readonly tag: string;
  readonly type: "snapshot";
  /** The table's version; the next update has the next one. */
  readonly version: number;
  readonly view: TableView;
}

/** An ending that has a name of its own among those of its kind. */
export type SpecialEnding = ("spread" | "zero_count_fight");

/** Whether a table may be watched by those who do not sit there. */
export type Spectators = ("nobody" | "anybody");

/** Seats with a POT, over many games. */
export type TableId = string;

/** A table as one viewer knows it. */
export interface TableView {
  readonly crown: (Crown | null);
  /** The game's name, as in `tongits`. */
  readonly kind: string;
  readonly phase: PhaseView;
  /** What the POT holds. */
  readonly pot: Coins;
  /** The seat of the viewer, if it has one. */
  readonly seat: (Seat | null);
  /** By seat; null where it is free. */
  readonly seats: readonly ((SeatView | null))[];
  readonly table: TableId;
  /** What the table plays by; a client has the game's rules and the bet from here. */
  readonly terms: Terms;
}

/** Take the seat back from the AI, after letting countdowns pass or after leaving (rule 8.3). */
export interface TakeBackCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "take_back";
}

/** Everything that a table plays by. */
export interface Terms {
  /** How well bots of the house play; `greedy` where nothing is said. Whoever is taken over is played by the best in any case (rule 8.3): it plays for somebody's coins. */
  readonly bots?: Skill;
  readonly clocks: Clocks;
  /** The POT beside the games; absent at a table that plays without one. */
  readonly hits?: (Hits | null);
  /** One player practises here with bots: no coins are played for, and nothing is booked or kept of a game (rule 8.7). */
  readonly practice?: boolean;
  readonly price: Price;
  /** Where only a host's guests sit; absent at a table of a room. */
  readonly private?: (PrivateTerms | null);
  /** The room's name in ids and accounts, as in `newbie`. */
  readonly room: string;
  readonly rules: (TongitsRules | TongoOptionsRules | TongoAssetsRules);
  /** Anybody may watch what lies open, some time after it happened. */
  readonly spectators: Spectators;
}

/** A wish to play. One player has one at a time. */
export type TicketId = string;

/** The state of the player's search for a table: at once after `seek`, when the reason to wait has changed, and when it is over. */
export interface TicketMessage {
  /** When the search is given up. */
  readonly expires_at_ms: Timestamp;
  /** Why it waits although others wait too; absent where nothing is to be said. */
  readonly reason?: (WaitReason | null);
  /** Any of these will do. */
  readonly rooms: readonly string[];
  readonly state: SeekState;
  /** Where the player sits, once seated: join. */
  readonly table?: (TableId | null);
  readonly ticket: TicketId;
  readonly type: "ticket";
}

/** Milliseconds since 1970-01-01 UTC. On the wire it is that integer. */
export type Timestamp = number;

/** An action of a player. Unknown fields are refused: they are a client's mistake. */
export type TongitsAction = ({
  readonly type: "draw";
} | {
  readonly cards: CardSet;
  readonly type: "chow";
} | {
  readonly type: "fight";
} | {
  readonly cards: CardSet;
  /** A secret meld that stays concealed, where the rules allow it. */
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

/** How a game ended (rules 3.8, 4.3, 5.2). */
export interface TongitsEnd {
  readonly ending: Ending;
  /** The fighter and its challengers, if anybody challenged. */
  readonly showdown: SeatSet;
  readonly special?: (SpecialEnding | null);
  readonly winner: (Seat | null);
}

/** One thing that happened. */
export type TongitsEvent = ({
  readonly seat: Seat;
  readonly type: "starter_chosen";
} | {
  readonly hands: readonly ((CardSet | null))[];
  readonly starter: Seat;
  readonly stock?: (Pile | null);
  readonly type: "dealt";
} | {
  /** Nothing else was legal, so that the table drew. */
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
  /** Who took part in a showdown: the fighter and its challengers (rule 4.3). */
  readonly showdown: SeatSet;
  readonly special?: (SpecialEnding | null);
  readonly type: "over";
  /** null when all were burned and the rules give nobody the win (rule 5.3). */
  readonly winner: (Seat | null);
});

/** Where a game stands. */
export type TongitsPhase = ({
  readonly type: "starter";
} | {
  readonly starter: Seat;
  readonly type: "deal";
} | {
  /** Additions to its melds take its right to fight in this turn (rule 4.1). */
  readonly fight_blocked: boolean;
  readonly seat: Seat;
  readonly type: "draw";
} | {
  readonly seat: Seat;
  readonly type: "play";
} | {
  /** Who has answered; a viewer sees itself here and nobody else. */
  readonly answered: SeatSet;
  /** The seats that are asked and open, or with a meld that lies face down. */
  readonly asked: SeatSet;
  /** The seats asked for a concealed meld; a viewer sees itself here and nobody else. */
  readonly asked_secretly: SeatSet;
  readonly fighter: Seat;
  readonly type: "fight";
} | {
  readonly type: "over";
});

/** Everything that lies open. */
export interface TongitsPublic {
  /** The seats whose melds were added to since their own latest turn began (rule 4.1). At the beginning of its next turn such a seat may not fight. */
  readonly added_to: SeatSet;
  /** The number of the countdown that runs; see `Prompt`. */
  readonly countdown: number;
  readonly discards: Pile;
  /** Who drew the stock's last card (rules 5.1, 5.2). */
  readonly drew_last: (Seat | null);
  readonly end: (TongitsEnd | null);
  readonly hand_counts: readonly number[];
  readonly melds: Exposed;
  readonly phase: TongitsPhase;
  /** The number of the question now asked; see `Prompt`. */
  readonly prompt: number;
  readonly rules: TongitsRules;
  /** All hands by seat, once the game has ended. */
  readonly shown: readonly Shown[] | null;
  readonly stock_count: number;
  /** Who has not done anything yet, where that is a chance of a Spread (rule 10.3). */
  readonly yet_to_act?: SeatSet;
}

/** One rule set. `Rules::kingdom` is that of the product. */
export interface TongitsRules {
  /** What happens when the stock is exhausted and all seats are burned (rule 5.3). */
  readonly all_burned: AllBurned;
  /** The stock's top card is drawn at once where nothing else is legal (rule 3.1). */
  readonly auto_draw: boolean;
  /** A secret meld may be laid face down (rule 3.4). */
  readonly bahay: boolean;
  /** Who wins among challengers with equal deadwood (rule 4.4). */
  readonly challengers_tied: ChallengersTied;
  /** How long a phase waits for its seats (rule 8.2). */
  readonly countdowns: Countdowns;
  /** What a loser owes (rules 6.1 to 6.6, or 10.1). */
  readonly counts: Counts;
  /** Which way the cards go round (rule 2.3). */
  readonly deal: DealDirection;
  /** A card that could be added to an exposed meld may be dumped (rule 3.6). */
  readonly dump_addable: boolean;
  /** Whose additions to a seat's melds take its right to fight (rule 4.1). */
  readonly fight_blocked_by: Additions;
  /** Cards dealt to each seat; the starter gets one more (rules 1.2, 2.3). */
  readonly hand_cards: number;
  /** The deck holds two jokers (rule 11.1). */
  readonly jokers: boolean;
  /** The drawn fourth card on an own set of three is a secret meld (rule 10.2). */
  readonly sagasa: boolean;
  /** A seat that is not open may answer a fight with a secret meld (rule 4.2). */
  readonly secret_may_challenge: boolean;
  /** Cards in the shortest run that is a secret meld; 0 where no run is one (rule 1.6). */
  readonly secret_run_min: number;
  /** Tongits as a seat's very first action takes the POT (rule 10.3). */
  readonly spread: boolean;
  /** Losers owe for the points that they have more than the winner (rule 11.3). */
  readonly variable_payout: boolean;
  /** A fight at zero deadwood wins at once (rule 11.2). */
  readonly zero_count_fight: boolean;
}

/** What one viewer knows. */
export interface TongitsView {
  /** The answers to a fight that the viewer may see, in the order given. */
  readonly answers: readonly (readonly [Seat, TongitsAnswer])[];
  /** The card that the viewer drew in this turn, where the rules ask for it (rule 10.2). */
  readonly drawn?: (Card | null);
  /** The hands that the viewer may see, by seat. Those shown at the end are in `public`. */
  readonly hands: readonly ((CardSet | null))[];
  /** What lies open, and of a fight what the viewer may know. */
  readonly public: TongitsPublic;
  /** For the record only. */
  readonly stock?: (Pile | null);
  /** The seat that looks; null for the public and the record. */
  readonly viewer: (Seat | null);
}

/** An action of a player. Unknown fields are refused: they are a client's mistake. */
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
  /** What leaves a hand of seven, and nothing else does. */
  readonly discard?: (TongoAssetsCard | null);
  /** A free purchase is spent. */
  readonly free?: boolean;
  readonly slot: number;
  readonly type: "purchase";
} | {
  /** A free purchase is spent. */
  readonly free?: boolean;
  /** What a wild would replace in a hand of seven. */
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

/** A bribe that waits for its answer (rule 4.6). */
export interface TongoAssetsBribe {
  readonly cards: TongoAssetsCards;
  readonly chips: number;
  readonly from: Seat;
  readonly to: Seat;
}

/** A card by its index. */
export type TongoAssetsCard = string;

/** Any cards, each at most once. */
export type TongoAssetsCards = readonly TongoAssetsCard[];

/** The classes, the weakest first. */
export type TongoAssetsClass = ("nothing" | "reserve" | "treasury" | "material_continuum" | "consortium" | "full_consortium" | "monopoly" | "full_monopoly");

export type TongoAssetsColour = string;

/** How long a question waits, in milliseconds (rule 7). */
export interface TongoAssetsCountdowns {
  /** An answer to a confront, a debt or a bribe. */
  readonly answer_ms: number;
  /** A whole assessment. */
  readonly assess_ms: number;
  /** An opening, and each decision of a round of risking. */
  readonly risk_ms: number;
}

/** Cards in order. On the wire it is their list, the top first. */
export type TongoAssetsDeck = readonly TongoAssetsCard[];

/** The end of a game. What a seat takes of the pot is in half chips (rule 6). */
export interface TongoAssetsEnd {
  /** As many things as there are seats, or sections. */
  readonly awards: readonly number[];
  readonly ending: TongoAssetsEnding;
  readonly winner: Seat;
}

/** How a game ended. */
export type TongoAssetsEnding = ("last_in" | "acquisition" | "showdown");

/** One thing that happened. Amounts are chips. */
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
  /** As many things as there are seats, or sections. */
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
  /** 0 where a free purchase was spent. */
  readonly chips: number;
  readonly discarded?: (TongoAssetsFace | null);
  readonly seat: Seat;
  readonly slot: number;
  readonly taken: TongoAssetsFace;
  readonly type: "purchased";
} | {
  /** 0 where a free purchase was spent. */
  readonly chips: number;
  /** What a wild replaced. */
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
  /** As many things as there are seats, or sections. */
  readonly hands: readonly ((TongoAssetsShown | null))[];
  readonly type: "shown";
} | {
  /** As many things as there are seats, or sections. */
  readonly awards: readonly number[];
  readonly ending: TongoAssetsEnding;
  readonly type: "over";
  readonly winner: Seat;
});

export type TongoAssetsFace = (TongoAssetsCard | "asset" | "acquire");

/** Where all cards lie. */
export interface TongoAssetsHidden {
  readonly acquires: TongoAssetsDeck;
  readonly assets: TongoAssetsDeck;
  /** As many things as there are seats, or sections. */
  readonly hands: readonly TongoAssetsCards[];
  /** As many things as there are seats, or sections. */
  readonly kept: readonly TongoAssetsCards[];
  /** As many things as there are seats, or sections. */
  readonly piles: readonly TongoAssetsCards[];
  /** As many things as there are seats, or sections. */
  readonly sections: readonly TongoAssetsHiddenSection[];
}

/** What lies face down in a section. */
export interface TongoAssetsHiddenSection {
  /** The next one is the first that is there. */
  readonly acquires: readonly ((TongoAssetsCard | null))[];
  readonly assets: readonly ((TongoAssetsCard | null))[];
}

/** A section that the seat looked at by a reveal. */
export interface TongoAssetsLook {
  readonly assets: readonly ((TongoAssetsCard | null))[];
  readonly section: number;
}

/** What a seat knows beside what is open. */
export interface TongoAssetsOwn {
  /** In its assessment, the assets before it. */
  readonly before?: readonly ((TongoAssetsCard | null))[] | null;
  readonly hand: TongoAssetsCards;
  readonly kept: TongoAssetsCards;
  /** In its assessment, the section that it looked at last. */
  readonly look?: (TongoAssetsLook | null);
}

/** What is asked, and of whom. */
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
  /** It was shown its section. */
  readonly began: boolean;
  /** The section that it looked at last, by a reveal. */
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

/** Where a bought acquire card goes (rule 1.5). */
export type TongoAssetsPlace = ("hand" | "kept" | "pile");

/** What everybody knows of a seat. Amounts are chips. */
export interface TongoAssetsPlayer {
  /** It has had its turn in this round of risking. */
  readonly acted: boolean;
  /** Assets in the hand, and wilds. */
  readonly assets: number;
  readonly chips: number;
  /** Acquire cards kept apart. */
  readonly kept: number;
  /** In hundredths, of this confront (rule 4.5); 0 for none. */
  readonly leverage: number;
  /** In hundredths, of this confront (rule 4.4); 0 for none. */
  readonly margin: number;
  /** What the margin borrowed. */
  readonly owes: number;
  /** In this round of risking or this confront (rule 2.2). */
  readonly paid: number;
  readonly pile_acquires: number;
  /** On its pile. */
  readonly pile_assets: number;
  readonly wilds: number;
}

/** Everything that is open. Amounts are chips. */
export interface TongoAssetsPublic {
  readonly acquire_deck: number;
  readonly asset_deck: number;
  /** The number of the countdown that runs; see `Prompt`. */
  readonly countdown: number;
  readonly end?: (TongoAssetsEnd | null);
  /** A bribe that waits for its answer (rule 4.6). */
  readonly offer?: (TongoAssetsBribe | null);
  /** The seat has offered a bribe before this decision (rule 4.6). */
  readonly offered?: boolean;
  /** Who opened this round, or is the dealer (rule 2.1). */
  readonly opener: (Seat | null);
  readonly phase: TongoAssetsPhase;
  /** As many things as there are seats, or sections. */
  readonly players: readonly TongoAssetsPlayer[];
  /** Who has not retreated. */
  readonly playing: SeatSet;
  readonly pot: number;
  /** The number of the question now asked; see `Prompt`. */
  readonly prompt: number;
  readonly purchase: number;
  /** In this round of risking, or in this confront. */
  readonly raises: number;
  readonly risk: number;
  /** How far the table is turned (rule 1.6). */
  readonly rotation: number;
  /** Openings that were paid (rule 6.4). */
  readonly rounds: number;
  readonly rules: TongoAssetsRules;
  /** As many things as there are seats, or sections. */
  readonly sections: readonly TongoAssetsSection[];
  readonly sell: number;
  /** The hands that were shown, by seat. */
  readonly shown?: readonly ((TongoAssetsShown | null))[] | null;
  /** The risk before this confront's first margin (rule 4.4). */
  readonly unindexed?: number | null;
}

/** How a hand is read: what counts first comes first. */
export interface TongoAssetsReading {
  readonly class: TongoAssetsClass;
  /** The best colour in which these cards have that number. */
  readonly colour: (TongoAssetsColour | null);
  /** The highest number among the cards that make it; 0 for nothing. */
  readonly number: number;
  /** How many of these cards are wild; fewer are better. */
  readonly wilds: number;
}

/** A rule set. */
export interface TongoAssetsRules {
  /** Bribes may be offered (rule 4.6). */
  readonly bribes: boolean;
  /** As many rounds all seats need seven cards for a confront, then the confronter alone (rule 3.5). */
  readonly confront_all_rounds: number;
  /** How long a question waits (rule 7). */
  readonly countdowns: TongoAssetsCountdowns;
  /** Chips of each seat at the start (rule 1.5). */
  readonly latinum: number;
  /** The buy-in may be leveraged (rule 4.5). */
  readonly leverage: boolean;
  /** The margin may be indexed (rule 4.4). */
  readonly margins: boolean;
  /** The highest first opening risk (rule 2.1). */
  readonly opening_max: number;
  /** The most by which a raise, or a later opening, is above the risk (rules 2.2 and 3.7). */
  readonly raise_max: number;
  /** Raises in a round of risking, and in a confront (rules 2.2 and 4.1). */
  readonly raises_max: number;
  /** Openings that are paid; then the opener confronts or retreats (rule 6.4). */
  readonly rounds_max: number;
  /** Sections of the table, 8 or 4 (rule 1.1). */
  readonly sections: number;
  /** Hundredths of the pot for the strongest hand (rule 6.2). */
  readonly winner_share: number;
}

/** What everybody sees of a section: which places are full. */
export interface TongoAssetsSection {
  /** How many acquire cards lie there. */
  readonly acquires: number;
  /** The slots in which an asset lies. */
  readonly slots: TongoAssetsSlots;
}

/** A hand that is shown, and how it is read. */
export interface TongoAssetsShown {
  readonly hand: TongoAssetsCards;
  readonly reading: TongoAssetsReading;
}

/** Some of a section's slots for assets. On the wire it is the ascending list of their numbers. */
export type TongoAssetsSlots = readonly number[];

/** What one viewer knows. */
export interface TongoAssetsView {
  /** Every card, for the record only. */
  readonly hidden?: (TongoAssetsHidden | null);
  /** What the viewer holds and sees; absent for the public. */
  readonly own?: (TongoAssetsOwn | null);
  readonly public: TongoAssetsPublic;
  /** The seat that looks; null for the public and the record. */
  readonly viewer: (Seat | null);
}

/** An action of a player. Unknown fields are refused: they are a client's mistake. */
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

/** The answer to a challenge that keeps a seat in (rules 6.2, 7.1). */
export type TongoOptionsAnswer = "stand" | "join" | "confront";

/** One of the 48 cards of the player deck, or of the options deck. */
export type TongoOptionsCard = string;

/** A set of cards of one deck. On the wire it is the list of its cards by ascending index. */
export type TongoOptionsCardSet = readonly TongoOptionsCard[];

/** A confrontation or an acquisition while it is answered. */
export interface TongoOptionsChallenge {
  /** Who is to answer: the target first, if it may evade, then the others. */
  readonly asked: Seat;
  readonly by: Seat;
  /** Who answered `join` or `confront`. */
  readonly joined: SeatSet;
  /** Whom it confronts; null where it acquires the cards of the floor that it faces. */
  readonly target?: (Seat | null);
}

/** What a hand card and a floor card of one number make, perhaps with dice; the lowest first. */
export type TongoOptionsClass = "pair" | "exact_pair" | "chain" | "exact_chain" | "four" | "exact_four";

/** What is paid for what (rule 1.6). */
export interface TongoOptionsCosts {
  readonly buy: number;
  readonly exchange: number;
  readonly sell: number;
}

/** How costs were changed (rule 3.4). */
export type TongoOptionsCostsChange = "lower" | "raise" | "index";

/** How long a phase waits, in milliseconds (rule 9.1). */
export interface TongoOptionsCountdowns {
  readonly answer_ms: number;
  readonly stop_ms: number;
  /** All of a turn after the stop. */
  readonly turn_ms: number;
}

/** A die on the ring. */
export interface TongoOptionsDie {
  /** Place 2k is on floor k, place 2k + 1 on the line between the floors k and k + 1. */
  readonly place: number;
  readonly value: number;
}

/** How a game ended. */
export interface TongoOptionsEnd {
  readonly ending: TongoOptionsEnding;
  readonly pot: number;
  readonly winner: Seat;
}

/** How a game ended. */
export type TongoOptionsEnding = ("last_in" | "confront" | "acquire" | "reserves" | "rounds");

/** One thing that happened. What was paid is in chips. */
export type TongoOptionsEvent = ({
  readonly dealer: Seat;
  readonly dice: readonly TongoOptionsDie[];
  readonly hands: readonly ((TongoOptionsCardSet | null))[];
  readonly hidden?: (TongoOptionsHidden | null);
  readonly type: "dealt";
  /** Of each floor the card that lies face up. */
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
  /** By its token, and not for chips. */
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

/** What lies face down, and of the floors also what lies up. */
export interface TongoOptionsHidden {
  readonly deck: readonly TongoOptionsCard[];
  /** The free exchanges; where the rules know none they mean nothing. */
  readonly exchanges: readonly (readonly TongoOptionsCard[])[];
  readonly floors: readonly (readonly TongoOptionsCard[])[];
}

/** A hand card and the floor card that it is matched with. */
export interface TongoOptionsMatch {
  readonly card: TongoOptionsCard;
  readonly class: TongoOptionsClass;
  readonly floor: TongoOptionsCard;
}

/** The costs that are to be otherwise (rule 3.4). */
export interface TongoOptionsNewCosts {
  readonly buy?: number | null;
  readonly exchange?: number | null;
  readonly sell?: number | null;
}

/** Chips that a seat has paid into the pot, by what they were for. */
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

/** Where a game stands. */
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

/** A seat of a game. */
export interface TongoOptionsPlayer {
  readonly chips: number;
  readonly evade_token: boolean;
  /** The floor that it faced last (rule 9.1). */
  readonly facing: number;
  readonly folded: boolean;
  /** The buy-in has paid for something (rule 3.4). */
  readonly leveraged: boolean;
  readonly paid: TongoOptionsPaid;
  readonly previous: TongoOptionsPrevious;
}

/** What a seat's previous turn was, as far as it bars anything (rules 3.2, 6.1). */
export interface TongoOptionsPrevious {
  readonly confronted?: boolean;
  /** By token, also in answer to a confrontation since. */
  readonly evaded?: boolean;
  readonly paid_to_evade?: boolean;
  readonly retreated?: boolean;
}

/** Everything that lies open. */
export interface TongoOptionsPublic {
  readonly costs: TongoOptionsCosts;
  /** The number of the countdown that runs; see `Prompt`. */
  readonly countdown: number;
  /** The winner of the last game, or a seat by chance (rule 2.1). */
  readonly dealer: (Seat | null);
  readonly dice: readonly TongoOptionsDie[];
  readonly end?: (TongoOptionsEnd | null);
  readonly floors: readonly (readonly ((TongoOptionsCard | null))[])[];
  readonly phase: TongoOptionsPhase;
  readonly players: readonly TongoOptionsPlayer[];
  readonly pot: number;
  /** The number of the question now asked; see `Prompt`. */
  readonly prompt: number;
  readonly reserves?: (TongoOptionsReserves | null);
  /** From 1 (rule 4.2). */
  readonly round: number;
  readonly rules: TongoOptionsRules;
  /** The hands of a showdown. */
  readonly shown?: readonly TongoOptionsShown[];
}

/** Reserves were converted (chapter 5). */
export interface TongoOptionsReserves {
  readonly by: Seat;
  /** What others answer with, as far as they have it. */
  readonly wager: number;
}

/** The sum of all rises of each cost in a turn. Lowering a cost leaves the sum as it is. */
export interface TongoOptionsRises {
  readonly buy?: number;
  readonly exchange?: number;
  readonly sell?: number;
}

/** One rule set. */
export interface TongoOptionsRules {
  /** Who answers a challenge otherwise than by folding pays the risk (rule 8.4). */
  readonly answer_pays_risk: boolean;
  /** What each seat pays at the start (rule 1.6). */
  readonly buy_in: number;
  /** The first round in which a seat may confront or acquire (rule 8.4). */
  readonly challenge_round: number;
  /** What each seat may spend in all (rule 1.5). */
  readonly chips: number;
  /** How long a phase waits for its seat (rule 9.1). */
  readonly countdowns: TongoOptionsCountdowns;
  /** Two dice with six sides more (rule 1.4). */
  readonly dice_2d6: boolean;
  /** Free exchanges lie below the floors (rule 1.3). */
  readonly free_exchange: boolean;
  /** All costs may be changed by a percentage (rule 3.4). */
  readonly index_margin: boolean;
  /** The most that a cost is raised by in one turn (rule 1.6). */
  readonly raise_max: number;
  /** After so many rounds everybody shows (rule 4.2). */
  readonly rounds_max: number;
  /** A table has so many (rule 1.1). */
  readonly seats_max: number;
  /** A game begins with at least so many seats (rule 1.1). */
  readonly seats_min: number;
  /** Buy, sell and exchange cost at the start (rule 1.6). */
  readonly start_cost: number;
}

/** Who shows, and why (rules 4.1, 4.2, 5.3, 6.3, 7.2). */
export interface TongoOptionsShowdown {
  /** Who confronts or acquires; the last of equals. */
  readonly by: Seat;
  readonly ending: TongoOptionsEnding;
  /** With this one too. */
  readonly seats: SeatSet;
}

/** A hand as it is shown, with the floor that it is matched with. */
export interface TongoOptionsShown {
  readonly floor: number;
  readonly hand: TongoOptionsCardSet;
  readonly matches: readonly TongoOptionsMatch[];
  readonly seat: Seat;
}

/** The last step of rule 3.4 that was done in a turn, or what comes before. */
export type TongoOptionsStep = ("lowered" | "traded" | "rolled" | "open" | "begun" | "raised");

/** How far a turn has come. */
export interface TongoOptionsTurn {
  readonly bought?: boolean;
  readonly exchanged?: boolean;
  /** The one that faces it. */
  readonly floor: number;
  readonly indexed?: boolean;
  /** How much each cost has risen in this turn; `raise_max` bounds it (rule 1.6). */
  readonly risen?: TongoOptionsRises;
  readonly seat: Seat;
  readonly sold?: boolean;
  readonly step: TongoOptionsStep;
  /** What is left of the wager of a seat that has converted its reserves in this turn. */
  readonly wager?: number | null;
}

/** What one viewer knows. */
export interface TongoOptionsView {
  /** The hands that the viewer may see, by seat. Those of a showdown are in `public`. */
  readonly hands: readonly ((TongoOptionsCardSet | null))[];
  /** For the record only. */
  readonly hidden?: (TongoOptionsHidden | null);
  readonly public: TongoOptionsPublic;
  /** The seat that looks; null for the public and the record. */
  readonly viewer: (Seat | null);
}

/** Stop watching. Answered by an `ack`. */
export interface UnwatchCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly type: "unwatch";
}

/** What happened between the version before and this one, as far as the player is shown it. */
export interface UpdateMessage {
  /** In order; what shows the player nothing comes in no update. */
  readonly events: readonly Event[];
  /** The question that is open after it, if any; absent too where another update follows at once. */
  readonly prompt?: (OpenPrompt | null);
  readonly server_time_ms: Timestamp;
  /** Which history led to this version; for the next `join`. */
  readonly tag: string;
  readonly type: "update";
  /** One more than that of the message before. */
  readonly version: number;
}

/** Why a player waits although others do. */
export type WaitReason = ("only_same_network");

/** Watch what lies open at a table without sitting there, one whole turn late; only where the table's terms let anybody watch. Answered by an `ack`. Then come a `snapshot`, in the midst of a game after a turn or two, and `update`s. It ends with a `join`. */
export interface WatchCommand {
  /** The client's number for this command. */
  readonly id: number;
  readonly table: TableId;
  readonly type: "watch";
}
