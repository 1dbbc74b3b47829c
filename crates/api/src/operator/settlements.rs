//! Settled games: a filtered list, its totals, and an export.

use bahay_base::clock::BoundedTimestamp;
use bahay_base::ids::{GameName, RoomId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{Coins, GameNameText, Time};

operations! {
    /// List settlements
    ///
    /// Settled games, newest first unless `order` is given, with a delay of some seconds. A reversed
    /// settlement is listed with amounts of 0. A cursor is valid only with the filters and the order
    /// of the page that returned it. For operators of every role.
    LIST_SETTLEMENTS = Get "/v1/operator/settlements", Operators, Operator {
        query PageQuery<SettlementFilter>,
        200 page Settled: "A page of settlements",
    }

    /// Total settlements
    ///
    /// The totals of all settlements that match the filters; `order` changes nothing. For operators
    /// of every role.
    TOTAL_SETTLEMENTS = Get "/v1/operator/settlements/totals", Operators, Operator {
        query SettlementFilter,
        200 json SettledTotals: "The totals",
    }

    /// Export settlements
    ///
    /// All settlements that match the filters as CSV (RFC 4180), in the `order`, with a header line,
    /// after a byte order mark of UTF-8, by which spreadsheets recognise the encoding. Amounts are
    /// coins with two decimal places. Times are days and times of the house's zone with its offset,
    /// and RFC 3339 in UTC. A name that a spreadsheet would take for a formula follows an apostrophe.
    /// Columns of seats and of reversals exist only if a settlement has them. There is no limit: the
    /// response is streamed. If an error interrupts it, the connection is closed. Each export is
    /// recorded in the audit log. For operators of every role.
    EXPORT_SETTLEMENTS = Get "/v1/operator/settlements.csv", Operators, Operator {
        query SettlementFilter,
        200 csv (): "The settlements",
    }
}

bahay_base::text_enum! {
    /// The order of settlements: by the time of finishing (`newest`, `oldest`), the payments of the
    /// losers (`largest`, `smallest`), the fee, the ante of a seat, the POT that a player took, the
    /// booking of the reversal, the titles of the game, the room or the ending (`first`, `last` of
    /// the alphabet), or whether the AI acted for a player. The orders by POT and by reversal list
    /// only the settlements that have one. Of equal ones, the newest is first in an order that
    /// begins with the largest or last, else the oldest.
    #[derive(Default, ToSchema)]
    pub enum SettlementOrder {
        #[default]
        Newest = "newest",
        Oldest = "oldest",
        Largest = "largest",
        Smallest = "smallest",
        LargestFee = "largest_fee",
        SmallestFee = "smallest_fee",
        LargestPot = "largest_pot",
        SmallestPot = "smallest_pot",
        LargestAnte = "largest_ante",
        SmallestAnte = "smallest_ante",
        NewestReversal = "newest_reversal",
        OldestReversal = "oldest_reversal",
        FirstKind = "first_kind",
        LastKind = "last_kind",
        FirstRoom = "first_room",
        LastRoom = "last_room",
        FirstEnding = "first_ending",
        LastEnding = "last_ending",
        WithAi = "with_ai",
        WithoutAi = "without_ai",
    }
}

bahay_base::text_enum! {
    /// The attribute of settlements by which a list is ordered.
    pub enum SettlementKey {
        FinishedAt = "finished_at",
        Gross = "gross",
        Fee = "fee",
        Pot = "pot",
        Ante = "ante",
        ReversedAt = "reversed_at",
        Kind = "kind",
        Room = "room",
        Ending = "ending",
        TakenOver = "taken_over",
    }
}

impl SettlementOrder {
    /// Returns the attribute by which settlements are ordered.
    pub const fn key(self) -> SettlementKey {
        match self {
            Self::Newest | Self::Oldest => SettlementKey::FinishedAt,
            Self::Largest | Self::Smallest => SettlementKey::Gross,
            Self::LargestFee | Self::SmallestFee => SettlementKey::Fee,
            Self::LargestPot | Self::SmallestPot => SettlementKey::Pot,
            Self::LargestAnte | Self::SmallestAnte => SettlementKey::Ante,
            Self::NewestReversal | Self::OldestReversal => SettlementKey::ReversedAt,
            Self::FirstKind | Self::LastKind => SettlementKey::Kind,
            Self::FirstRoom | Self::LastRoom => SettlementKey::Room,
            Self::FirstEnding | Self::LastEnding => SettlementKey::Ending,
            Self::WithAi | Self::WithoutAi => SettlementKey::TakenOver,
        }
    }

    /// Returns true if the newest, largest or last settlement is first.
    pub const fn is_descending(self) -> bool {
        matches!(
            self,
            Self::Newest
                | Self::Largest
                | Self::LargestFee
                | Self::LargestPot
                | Self::LargestAnte
                | Self::NewestReversal
                | Self::LastKind
                | Self::LastRoom
                | Self::LastEnding
                | Self::WithAi
        )
    }

    /// Returns the order by the same attribute in the other direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Newest => Self::Oldest,
            Self::Oldest => Self::Newest,
            Self::Largest => Self::Smallest,
            Self::Smallest => Self::Largest,
            Self::LargestFee => Self::SmallestFee,
            Self::SmallestFee => Self::LargestFee,
            Self::LargestPot => Self::SmallestPot,
            Self::SmallestPot => Self::LargestPot,
            Self::LargestAnte => Self::SmallestAnte,
            Self::SmallestAnte => Self::LargestAnte,
            Self::NewestReversal => Self::OldestReversal,
            Self::OldestReversal => Self::NewestReversal,
            Self::FirstKind => Self::LastKind,
            Self::LastKind => Self::FirstKind,
            Self::FirstRoom => Self::LastRoom,
            Self::LastRoom => Self::FirstRoom,
            Self::FirstEnding => Self::LastEnding,
            Self::LastEnding => Self::FirstEnding,
            Self::WithAi => Self::WithoutAi,
            Self::WithoutAi => Self::WithAi,
        }
    }
}

/// A filter on settlements, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SettlementFilter {
    /// Only games that finished at this time or later: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// Only games that finished before this time: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
    /// Only games in this room.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$")]
    pub room: Option<RoomId>,
    /// Only games of this player.
    pub player: Option<Uuid>,
    /// Only games that ended in this way.
    #[param(value_type = Option<GameNameText>, inline, example = "fight")]
    pub ending: Option<GameName>,
    /// Only games of this kind.
    #[param(value_type = Option<GameNameText>, inline, example = "tongits")]
    pub kind: Option<GameName>,
    /// Only games in which the losers paid at least this amount, in hundredths of a coin.
    #[param(minimum = 0)]
    pub gross_min: Option<i64>,
    /// Only games in which the losers paid at most this amount, in hundredths of a coin.
    #[param(minimum = 0)]
    pub gross_max: Option<i64>,
    /// Only games in which a player took the POT, or only games in which nobody did.
    pub took_pot: Option<bool>,
    /// Only games in which the AI acted for a player, or only games in which it did not.
    pub taken_over: Option<bool>,
    /// The order of the list. Without it, the newest settlement is first.
    #[param(inline)]
    pub order: Option<SettlementOrder>,
}

/// A settled game in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Settled {
    pub game: Uuid,
    pub table: Uuid,
    /// The name of the kind of game.
    #[schema(example = "tongits")]
    pub kind: String,
    #[schema(example = "newbie")]
    pub room: String,
    pub finished_at: Time,
    /// The way in which the game ended; null if its record cannot be replayed.
    #[schema(required = true, example = "fight")]
    pub ending: Option<String>,
    /// Null if nobody won.
    #[schema(required = true)]
    pub winner: Option<Uuid>,
    /// Paid by the losers, before the fee; 0 once the settlement is reversed, like the fee and
    /// every net.
    pub gross: Coins,
    pub fee: Coins,
    /// The POT, if a player took it.
    #[schema(required = true)]
    pub pot: Option<Coins>,
    /// The ante of each seat, which a reversal does not return.
    pub ante: Coins,
    /// True if the AI acted for a player.
    pub taken_over: bool,
    /// The time at which a reversal of the settlement was booked; null without one.
    #[schema(required = true)]
    pub reversed_at: Option<Time>,
    /// By seat, from 0.
    pub seats: Vec<SettledSeat>,
}

/// A seat of a settled game.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SettledSeat {
    pub player: Uuid,
    /// The player's current name.
    #[schema(example = "Maria")]
    pub name: String,
    /// The change of the player's coins, after the fee and without the ante.
    pub net: Coins,
}

/// The totals of settlements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SettledTotals {
    pub games: i64,
    /// Paid by the losers, before the fee.
    pub gross: Coins,
    pub fees: Coins,
    /// The coins of the POTs that were taken, and their number.
    pub pots: Coins,
    pub pots_taken: i64,
    /// The number of games in which the AI acted for a player.
    pub taken_over: i64,
    /// The number of games whose settlement was reversed; their amounts do not count.
    pub reversed: i64,
    /// The coins of the filter's player; null without one.
    #[schema(required = true)]
    pub player: Option<PlayerTotals>,
}

/// The coins that a player won and lost by settled games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayerTotals {
    /// The sum of the player's nets, without antes.
    pub net: Coins,
    /// The antes that the player paid, which a reversal does not return.
    pub antes: Coins,
    /// The change of the player's coins: `net` less `antes`.
    pub change: Coins,
}
