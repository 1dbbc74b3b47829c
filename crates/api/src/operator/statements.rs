//! The statement of a player's wallet.

use bahay_base::clock::BoundedTimestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::operation::operations;
use crate::values::{Coins, IdText, Time};

operations! {
    /// Show a statement
    ///
    /// Every booking of a player's wallet within a period, oldest first, with the balance after it,
    /// the payments of settlements with their items, and the reasons of corrections and voids. The
    /// opening balance and the changes add up to the closing balance. For operators of every role.
    SHOW_STATEMENT = Get "/v1/operator/players/{id}/statement", Operators, Operator {
        path id: IdText = "The player",
        query StatementPeriod,
        200 json Statement: "The statement",
        refuses PlayerNotFound,
    }

    /// Export a statement
    ///
    /// The same as CSV (RFC 4180) with a header line, after a byte order mark of UTF-8; amounts are
    /// coins with two decimal places, times RFC 3339 in the house's time zone. Each export is
    /// recorded in the audit log. For operators of every role.
    EXPORT_STATEMENT = Get "/v1/operator/players/{id}/statement.csv", Operators, Operator {
        path id: IdText = "The player",
        query StatementPeriod,
        200 csv (): "The statement",
        refuses PlayerNotFound,
    }
}

/// The period of a statement, with at most 10,000 bookings.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct StatementPeriod {
    /// The beginning: RFC 3339. Defaults to 24 hours before the end.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// The end, which is excluded: RFC 3339, later than `from`. Defaults to now, or to `from` if
    /// that is later.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
}

/// The bookings of a wallet within a period.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Statement {
    pub player: Uuid,
    pub name: String,
    pub from: Time,
    pub to: Time,
    /// The balance before the first booking.
    pub opening: Coins,
    /// The sums of all lines.
    pub sums: StatementAmounts,
    /// The balance after the last booking.
    pub closing: Coins,
    pub lines: Vec<StatementLine>,
}

/// An operation that changed a wallet.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StatementLine {
    pub operation: i64,
    /// The kind of the operation.
    #[schema(example = "settle")]
    pub kind: String,
    #[schema(required = true)]
    pub game: Option<Uuid>,
    pub booked_at: Time,
    pub amounts: StatementAmounts,
    /// The balance of the wallet after the operation.
    pub balance: Coins,
    /// The payments of a settlement to and from the player.
    pub payments: Vec<StatementPayment>,
    /// The reason of a correction or a void.
    #[schema(required = true)]
    pub reason: Option<String>,
}

/// A payment of a settlement.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StatementPayment {
    /// The other player of the payment.
    pub player: Uuid,
    /// The present name of the other player.
    #[schema(example = "Maria")]
    pub name: String,
    /// The paid coins before the fee; negative if the player of the statement paid them.
    pub amount: Coins,
    /// The items of the debt.
    pub items: Vec<StatementItem>,
}

/// An item of a payment: a number of counts, and the rule from which it follows.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StatementItem {
    #[schema(example = "normal")]
    pub name: String,
    #[schema(example = "6.1")]
    pub rule: String,
    pub counts: u32,
}

/// Changes of a wallet by their reasons; negative amounts left the wallet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct StatementAmounts {
    /// Antes paid into POTs, and antes that came back.
    pub ante: Coins,
    /// Stakes held for games and released.
    pub stake: Coins,
    /// Payments received. Those of losers leave their stakes.
    pub payments: Coins,
    pub fee: Coins,
    /// POTs won.
    pub pot: Coins,
    /// Grants, adjustments and reversals.
    pub other: Coins,
    /// The sum of the above.
    pub change: Coins,
}
