//! Rooms, the seats at their tables, and the tickets of sockets.

use bahay_base::ids::TableId;
use bahay_base::states::WaitReason;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{Coins, RoomText, Time};

operations! {
    /// List the rooms
    LIST_ROOMS = Get "/v1/rooms", Rooms, Anyone {
        200 json Rooms: "The rooms, in ascending order of bets",
    }

    /// List the tables that may be watched
    ///
    /// Lists the occupied tables of a room in the order of their ids; of more than a thousand, only
    /// the fullest thousand. The list is empty if the room does not permit spectators. Private
    /// tables are never listed.
    LIST_WATCHABLE_TABLES = Get "/v1/rooms/{room}/tables", Rooms, Player {
        path room: RoomText = "The room's id",
        query PageQuery,
        200 page WatchableTable: "A page of tables",
        refuses RoomNotFound,
    }

    /// Take a seat in a room
    ///
    /// Seats are given in the order of requests. Players who share a device are never seated
    /// together, nor are, in rooms of a higher bet, players who share a network. The player must
    /// have a socket open, on any node, because no seat is kept for a player who cannot be asked
    /// whether it is ready. A player who sits at a table already, in any room, is returned to that
    /// table: an account sits at one table at a time, and after leaving during a game its seat is
    /// kept until the game is over (rule 8.4).
    ///
    /// The detail of `banned` states the end and the reason. After `seating`, retry; after
    /// `not_ready_before`, which concerns the player, its device or many players of its network,
    /// wait for the time in `Retry-After`.
    TAKE_SEAT = Post "/v1/rooms/{room}/seat", Rooms, Player {
        path room: RoomText = "The room's id",
        200 json SeatedTable: "The table",
        refuses Banned AccountRequired RoomNotFound TooFewCoins TooManyCoins RoomClosed RoomLimit
            Seating TableHalted SocketRequired NotReadyBefore,
    }

    /// Show my table
    SHOW_TABLE = Get "/v1/table", Rooms, Player {
        200 json SeatedTable: "The table",
        refuses NotSeated Seating TableHalted,
    }

    /// Leave my table
    ///
    /// Between games the seat is free at once. During a game the AI plays on, and the seat is freed
    /// after the game; the player can return until then. Coins in the POT stay there (rule 7.4).
    LEAVE_TABLE = Delete "/v1/table", Rooms, Player {
        200 json SeatedTable: "The table that was left",
        refuses NotSeated Seating TableHalted,
    }

    /// Request a socket ticket
    ///
    /// For clients that cannot set headers, such as browsers: the first message of the socket
    /// contains the ticket. It is valid for 30 seconds, once, on any node.
    MAKE_TICKET = Post "/v1/play/tickets", Rooms, Player {
        200 json Ticket: "The ticket",
    }
}

/// A room: a stake tier that the house offers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Room {
    #[schema(example = "newbie")]
    pub id: String,
    /// The name of the room, for people.
    #[schema(example = "Newbie")]
    pub name: String,
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: &'static str,
    /// The game's title, for people.
    #[schema(example = "Tong-its")]
    pub game: &'static str,
    /// The maximum number of players at a table.
    #[schema(example = 3)]
    pub seats: u8,
    /// The number of ready players at which a game begins.
    #[schema(example = 3)]
    pub seats_min: u8,
    /// The value of one count at multiplier 1.
    pub bet: Coins,
    pub multiplier: u32,
    /// The house's fee on a winner's receipts, in basis points (ten-thousandths).
    #[schema(example = 500)]
    pub fee_basis_points: u32,
    /// The amount that each seat pays into the POT before each game; zero without a POT.
    pub ante: Coins,
    /// The number of consecutive wins that take the POT; null without a POT.
    #[schema(required = true, example = 2)]
    pub hits_to_win: Option<u8>,
    /// The minimum balance required to sit down: the ante plus the maximum loss.
    pub wallet_min: Coins,
    /// The maximum loss of one seat in one game, including its ante.
    pub loss_max: Coins,
    /// The maximum balance allowed to sit down; null for no limit.
    #[schema(required = true)]
    pub wallet_max: Option<Coins>,
    /// True if only players with a password or an identity may sit down, but no guests.
    pub needs_account: bool,
    /// The name of the rule set.
    #[schema(example = "kingdom")]
    pub rule_set: String,
    /// True if some rules differ from the rule set; a table shows all rules.
    pub has_own_switches: bool,
    /// True if new games may begin.
    pub is_open: bool,
    /// The number of players seated at present, at most one second old.
    #[schema(example = 42)]
    pub players: u64,
    /// The number of tables with players at present.
    #[schema(example = 14)]
    pub tables: u64,
}

/// The rooms of the house.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rooms {
    pub items: Vec<Room>,
}

/// The table at which a player sits. Join it over the socket to play.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeatedTable {
    pub table: Uuid,
    #[schema(inline, value_type = WaitReason, required = false, example = "only_same_network")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<WaitReason>,
}

impl SeatedTable {
    pub fn new(table: TableId) -> Self {
        Self { table: table.0, reason: None }
    }
}

/// A table that may be watched: send `watch` with its id over the socket.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchableTable {
    pub table: Uuid,
    #[schema(example = "newbie")]
    pub room: String,
    /// The number of seated players, including house bots.
    #[schema(minimum = 1, maximum = 8)]
    pub players: u8,
    #[schema(minimum = 2, maximum = 8)]
    pub seats: u8,
}

/// A ticket that opens one socket.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ticket {
    /// The ticket, to be sent once, in the first message of a socket, and never in an address.
    #[schema(example = "pt_0000000000000000000000000000000000000000000000000000000000000000")]
    pub ticket: String,
    pub expires_at: Time,
}
