//! The sums of booked transfers, for accounting.

use bahay_base::clock::BoundedTimestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::operation::operations;
use crate::values::{Coins, Time, TransferCode};

operations! {
    /// Total transfers
    ///
    /// The sums of the transfers that were booked within a period, by purpose, room and kinds of
    /// accounts. Grants, adjustments, reversals, voids and POTs are among them, so the sums explain
    /// every change of the balances. For operators of every role.
    TOTAL_TRANSFERS = Get "/v1/operator/transfers/totals", Operators, Operator {
        query TransferPeriod,
        200 json TransferReport: "The sums",
    }

    /// Export the totals of transfers
    ///
    /// The same as CSV (RFC 4180) with a header line, after a byte order mark of UTF-8, and a last
    /// line with the totals; amounts are coins with two decimal places. Each export is recorded in
    /// the audit log. For operators of every role.
    EXPORT_TRANSFERS = Get "/v1/operator/transfers/totals.csv", Operators, Operator {
        query TransferPeriod,
        200 csv (): "The sums",
    }

    /// Export single transfers
    ///
    /// The transfers for accounting, apart from those by which games open and settle: grants,
    /// adjustments, reversals, voids, POT refunds, and those of tournaments. CSV (RFC 4180) with a
    /// header line, after a byte order mark of UTF-8, oldest first, without a limit, and last lines
    /// with the totals by purpose and altogether; dates and times in the house's time zone, amounts
    /// in coins with two decimal places. Each export is recorded in the audit log. For operators of
    /// every role.
    EXPORT_BOOKINGS = Get "/v1/operator/transfers/bookings.csv", Operators, Operator {
        query TransferPeriod,
        200 csv (): "The transfers",
    }
}

/// The period of the sums.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TransferPeriod {
    /// The beginning: RFC 3339. Defaults to the beginning of the end's month in the house's time
    /// zone.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// The end, which is excluded: RFC 3339, later than `from`. Defaults to now, or to `from` if
    /// that is later.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
}

/// The sums of the transfers of a period.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TransferReport {
    pub from: Time,
    pub to: Time,
    pub sums: Vec<TransferSum>,
}

/// The sum of the transfers with the same attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TransferSum {
    pub code: TransferCode,
    /// Null if the operations have no room.
    #[schema(required = true, example = "newbie")]
    pub room: Option<String>,
    /// The kind of the accounts that the coins left, such as `wallet`.
    #[schema(example = "stake")]
    pub source: String,
    /// The kind of the accounts that received the coins.
    #[schema(example = "wallet")]
    pub destination: String,
    pub transfers: i64,
    pub amount: Coins,
}
