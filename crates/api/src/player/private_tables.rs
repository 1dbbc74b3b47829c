//! Tables that a player opens: private ones, rematches among them, and practice tables.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::rooms::SeatedTable;
use crate::operation::operations;
use crate::values::{Coins, IdText, TableCodeText};

operations! {
    /// Open a private table
    ///
    /// Seats the host, who passes the code or the link to friends; nobody else joins. After a game
    /// the same seats are asked to be ready for the next one. When the table has been empty for an
    /// hour it ends, and its POT is refunded to those who paid it, each of whom receives a notice.
    /// A host may have at most eight tables. The amount that a player may win at private tables is
    /// limited: to the house's amount a day, plus the fees that the player has paid in rooms within
    /// seven days.
    ///
    /// The detail of `banned` states the end and the reason, that of `private_bet_too_high` both
    /// amounts, that of `rules_invalid` the field: the game or rule set does not exist, the rules
    /// are invalid, or the game does not support short stakes. After `seating`, retry.
    OPEN_PRIVATE_TABLE = Post "/v1/private-tables", Rooms, Player {
        body OpenPrivateTableRequest,
        201 json PrivateSeat: "The host's seat",
        refuses Banned RoomNotFound SeatedElsewhere TooManyPrivateTables TooFewCoins
            PrivateBetTooHigh Seating TableHalted SocketRequired BetInvalid RulesInvalid,
    }

    /// Show a private table
    SHOW_PRIVATE_TABLE = Get "/v1/private-tables/{code}", Rooms, Player {
        path code: TableCodeText = "The table's code",
        200 json PrivateTable: "The table",
        refuses CodeNotFound TableHalted,
    }

    /// Sit down at a private table
    ///
    /// After `seat_after_game`, retry when the running game is over: a bot gives its seat to the
    /// player then. The detail of `banned` states the end and the reason, that of
    /// `private_bet_too_high` both amounts. After `seating`, retry.
    JOIN_PRIVATE_TABLE = Post "/v1/private-tables/{code}/seat", Rooms, Player {
        path code: TableCodeText = "The table's code",
        200 json PrivateSeat: "The seat; the same one if the player sits there already",
        refuses KickedByHost Banned CodeNotFound TableFull SeatAfterGame SeatedElsewhere TooFewCoins
            PrivateBetTooHigh Seating TableHalted SocketRequired,
    }

    /// Remove a player from my private table
    ///
    /// Only possible while no game runs. The player cannot join again by the same code, and is
    /// refunded what it has paid into the POT since the POT was last won; a notice states the
    /// amount. It is `not_seated` if it does not sit there, or is the host.
    REMOVE_FROM_PRIVATE_TABLE = Delete "/v1/private-tables/{code}/players/{id}", Rooms, Player {
        path code: TableCodeText = "The table's code",
        path id: IdText = "The player",
        204 empty (): "The seat is free",
        refuses NotHost CodeNotFound NotSeated GameRunning TableHalted,
    }

    /// Fill my private table with bots
    ///
    /// House bots take seats until a game can begin, and are ready at once; if enough players are
    /// seated already, nothing happens. They play at full strength, with coins of the house. A bot
    /// gives its seat, with its part of the POT, to a guest who joins by the code: at once between
    /// games, otherwise after the running game. The host can remove a bot like any other player.
    /// Coins won from bots count towards the limit of a player's wins at private tables.
    ///
    /// `bots_unavailable`: the house has no bots, all of them are playing, they have reached their
    /// daily loss limit, or they do not play at this bet, by custom rules or against short stakes;
    /// the detail states the reason. After `seating`, a bot is being seated: retry.
    FILL_PRIVATE_TABLE = Post "/v1/private-tables/{code}/bots", Rooms, Player {
        path code: TableCodeText = "The table's code",
        200 json PrivateTable: "The table, with the bots",
        refuses NotHost Banned CodeNotFound NotSeated GameRunning BotsUnavailable RoomClosed Seating
            TableHalted SocketRequired,
    }

    /// Request a rematch of one of my games
    ///
    /// Opens a private table with the game, the rules, the bet and the multiplier of a finished
    /// game of the player, and seats the player as its host. If another player of that game has
    /// done so already, and the table still exists, the player is seated there. The other players
    /// are invited at once by `invited` on their sockets, and by a notice of the kind `rematch`.
    /// House bots are not invited, nor are players of whom one has blocked the other. Idempotent: a
    /// repeated request returns the same seat. A player who still sits at the room's table of that
    /// game leaves it, unless the next game has begun. Possible until an hour after the end of the
    /// game.
    ///
    /// After `seat_after_game`, retry when the running game is over; after `seating`, at once.
    REQUEST_REMATCH = Post "/v1/games/{id}/rematch", Rooms, Player {
        path id: IdText = "The game",
        201 json PrivateSeat: "The seat; the same one if the player sits there already",
        refuses Banned KickedByHost GameNotFound GameNotFinished GameVoided RematchOver TableFull
            SeatAfterGame SeatedElsewhere TooManyPrivateTables TooFewCoins PrivateBetTooHigh
            RoomClosed Seating TableHalted SocketRequired BetInvalid ArchiveUnreachable,
    }

    /// Sit down at a practice table
    ///
    /// Opens a table of the player's own, with bots in the other seats. A practice table uses no
    /// coins and books nothing, and its games appear in no history, statistics or leaderboard. Over
    /// the socket the player may ask there which action a bot would choose (`hint`). A player who
    /// leaves is free at once, and the table ends (rule 8.7). A player who sits at a practice table
    /// already is returned to it.
    ///
    /// The detail of `banned` states the end and the reason, that of `rules_invalid` the field: the
    /// game or rule set does not exist, or the rules are invalid, also for this number of players.
    /// After `seating`, retry; after `not_ready_before`, which concerns the player, its device or
    /// many players of its network, wait for the time in `Retry-After`.
    OPEN_PRACTICE_TABLE = Post "/v1/practice-tables", Rooms, Player {
        body PracticeTableRequest,
        200 json SeatedTable: "The table",
        refuses Banned SeatedElsewhere PracticeFull RoomClosed Seating TableHalted SocketRequired
            NotReadyBefore RulesInvalid,
    }
}

/// A request for a private table.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenPrivateTableRequest {
    /// The room whose fee, POT rules and countdowns apply, and whose rule set applies if none is
    /// named.
    #[schema(max_length = 32, example = "newbie")]
    pub room: String,
    /// The bet, in hundredths of a coin: from 1 to 100,000 coins.
    #[schema(minimum = 100, maximum = 10_000_000, example = 500)]
    pub bet: i64,
    /// The game to play. Defaults to that of the room.
    #[serde(default)]
    #[schema(max_length = 32, example = "tongits")]
    pub kind: Option<String>,
    /// One of the game's rule sets, with its own POT rules. Defaults to the room's rules.
    #[serde(default)]
    #[schema(max_length = 32, example = "kingdom")]
    pub rule_set: Option<String>,
    /// Fields of the game's rules that override those of the rule set.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub rules: Value,
    /// Allows short stakes: a player whose wallet does not cover the maximum loss of a game plays
    /// on with the whole wallet as the stake, instead of leaving the table with `cannot_pay` (rule
    /// 6.9 of Tong-its). Refused for games that do not support it.
    #[serde(default)]
    pub short_stakes: bool,
}

/// A seat at a private table.
#[derive(Debug, Serialize, ToSchema)]
pub struct PrivateSeat {
    /// The code by which players join; upper and lower case are equivalent.
    #[schema(example = "K7MWQ2XA", min_length = 8, max_length = 8)]
    pub code: String,
    /// The link to send to friends, with the same code.
    #[schema(example = "https://play.example/join/K7MWQ2XA")]
    pub link: String,
    pub table: Uuid,
}

/// A private table, as shown to players before they sit down.
#[derive(Debug, Serialize, ToSchema)]
pub struct PrivateTable {
    #[schema(example = "K7MWQ2XA")]
    pub code: String,
    #[schema(example = "https://play.example/join/K7MWQ2XA")]
    pub link: String,
    pub table: Uuid,
    /// The host, who may remove other players.
    pub host: Uuid,
    pub bet: Coins,
    pub multiplier: u32,
    #[schema(example = 500)]
    pub fee_basis_points: u32,
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: &'static str,
    /// The number of consecutive wins that take the POT; null without a POT.
    #[schema(required = true, example = 2)]
    pub hits_to_win: Option<u8>,
    /// The rule set; null if the rules differ from every rule set.
    #[schema(required = true, example = "kingdom")]
    pub rule_set: Option<&'static str>,
    /// All rules of the game.
    #[schema(value_type = Object)]
    pub rules: Value,
    /// The minimum balance required to sit down.
    pub wallet_min: Coins,
    /// The maximum loss of one seat in one game, including its ante.
    pub loss_max: Coins,
    /// True if a wallet that holds less than the maximum loss before a later game is staked whole.
    pub short_stakes: bool,
    pub seats: u8,
    /// The number of ready players at which a game begins.
    pub seats_min: u8,
    /// The seated players.
    pub players: Vec<Uuid>,
}

/// A request for a practice table.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PracticeTableRequest {
    /// The game to play.
    #[schema(max_length = 32, example = "tongits")]
    pub kind: String,
    /// One of the game's rule sets. Defaults to its first one.
    #[serde(default)]
    #[schema(max_length = 32, example = "kingdom")]
    pub rule_set: Option<String>,
    /// Fields of the game's rules that override those of the rule set.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub rules: Value,
    /// The number of seats, including the player's. Defaults to the minimum of the game.
    #[serde(default)]
    #[schema(minimum = 2, maximum = 8, example = 3)]
    pub players: Option<u8>,
}
