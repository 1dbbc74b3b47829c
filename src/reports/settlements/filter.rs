//! The filter on settlements: the conditions of its queries, its interval, and the position of a
//! settlement in a list.

use bahay_api::operator::settlements::{SettlementFilter, SettlementOrder};
use jiff_sqlx::{Date, ToSqlx as _};
use uuid::Uuid;

use crate::clock::{self, BoundedTimestamp, Timestamp};

/// The position of a settlement in the list: the amount by which the list is ordered; the time of
/// finishing; and the game. The amount is in hundredths of a coin, 0 in the order of time, the
/// milliseconds of the reversal in the order of reversals, and the rank of a text in its order.
pub(super) type SettlementPosition = (i64, Timestamp, Uuid);

/// A part of the list of the settlements that match a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct SettlementScan<'a> {
    pub(super) filter: &'a SettlementFilter,
    pub(super) order: SettlementOrder,
    /// The position after which the part begins.
    pub(super) after: SettlementPosition,
    /// The maximum number of settlements.
    pub(super) wanted: i64,
    /// The texts by whose ranks the list is ordered.
    pub(super) ranks: &'a [String],
}

impl<'a> SettlementScan<'a> {
    /// Creates the scan of a page, whose last settlement shows that there are further ones.
    pub(super) fn of_page(
        filter: &'a SettlementFilter,
        after: Option<SettlementPosition>,
        limit: u32,
        ranks: &'a [String],
    ) -> Self {
        let order = filter.order.unwrap_or_default();
        let (from, to) = interval(filter);
        let start = match order.is_descending() {
            true => (i64::MAX, to, Uuid::max()),
            false => (i64::MIN, from, Uuid::nil()),
        };
        Self { filter, order, after: after.unwrap_or(start), wanted: i64::from(limit) + 1, ranks }
    }
}

/// Expands to a query with the conditions of a filter on the columns of the innermost table. They
/// stand between the two texts, which are lists of literals, and read the parameters $1 to $7; the
/// other parameters follow.
macro_rules! filtered {
    (
        $query:ident!(
            $filter:expr,
            [$before:tt $($before_more:tt)*],
            [$after:tt $($after_more:tt)*],
            $($parameters:tt)*
        )
    ) => {
        sqlx::$query!(
            $before
                $(+ $before_more)*
                + "
                ($1::text is null or room = $1)
                and ($2::text is null or ending = $2)
                and ($3::boolean is null or took_pot = $3)
                and ($4::boolean is null or taken_over = $4)
                and ($5::bigint is null or gross >= $5)
                and ($6::bigint is null or gross <= $6)
                and ($7::text is null or kind = $7)
                "
                + $after
                $(+ $after_more)*,
            $filter.room.as_ref().map(crate::ids::RoomId::as_str),
            $filter.ending.as_ref().map(crate::ids::GameName::as_str),
            $filter.took_pot,
            $filter.taken_over,
            $filter.gross_min,
            $filter.gross_max,
            $filter.kind.as_ref().map(crate::ids::GameName::as_str),
            $($parameters)*
        )
    };
}
pub(super) use filtered;

/// Expands to a macro's query in the direction of an order. The macro takes the operator between a
/// row and the row before it in the list, the direction of sorting, and its reverse.
macro_rules! directed {
    ($order:expr, $query:ident) => {
        if $order.is_descending() {
            $query!("<", "desc", "asc")
        } else {
            $query!(">", "asc", "desc")
        }
    };
}
pub(super) use directed;

/// Returns the half-open interval in which the games of a filter finished.
pub(super) fn interval(filter: &SettlementFilter) -> (Timestamp, Timestamp) {
    let from = filter.from.unwrap_or(BoundedTimestamp::MIN);
    let to = filter.to.unwrap_or(BoundedTimestamp::MAX);
    (from.into(), to.max(from).into())
}

/// Returns the UTC day of an instant.
pub(super) fn day(at: Timestamp) -> Date {
    clock::to_jiff(at).to_zoned(jiff::tz::TimeZone::UTC).date().to_sqlx()
}
