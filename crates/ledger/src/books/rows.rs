//! The rows that a batch writes, as the database's types of the same columns
//! (migrations/0008_books.sql). The order of the fields is the order of the types.

use bahay_engine::table::Settlement;
use jiff_sqlx::Timestamp;
use serde_json::Value;
use sqlx::postgres::{PgHasArrayType, PgTypeInfo};
use sqlx::types::Json;
use sqlx::{Encode, Postgres, Type};
use uuid::Uuid;

/// The transfers of an operation and the states of its accounts before them, as columns of its row.
#[derive(Debug, Default)]
pub(crate) struct TransferColumns {
    /// The transfers by number: one element of each of these arrays for each transfer.
    pub(crate) codes: Vec<&'static str>,
    pub(crate) sources: Vec<i64>,
    pub(crate) destinations: Vec<i64>,
    pub(crate) amounts: Vec<i64>,
    /// The accounts with a state, each once, and the version and balance that each had before.
    pub(crate) accounts: Vec<i64>,
    pub(crate) versions: Vec<i64>,
    pub(crate) balances: Vec<i64>,
    /// The accounts whose operations are listed in `account_operations`, each once.
    pub(crate) listed: Vec<i64>,
}

/// An operation with all that it changes beside accounts.
#[derive(Debug, Encode)]
pub(crate) struct OperationRow<'a> {
    pub(crate) place: i64,
    pub(crate) key: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) input_hash: &'a [u8],
    pub(crate) answer: Json<&'a Value>,
    pub(crate) game: Option<Uuid>,
    /// The arrays of [`TransferColumns`].
    pub(crate) codes: &'a [&'static str],
    pub(crate) sources: &'a [i64],
    pub(crate) destinations: &'a [i64],
    pub(crate) amounts: &'a [i64],
    pub(crate) accounts: &'a [i64],
    pub(crate) versions: &'a [i64],
    pub(crate) balances: &'a [i64],
    pub(crate) listed: &'a [i64],
    /// The state of a game that ends; the following four columns belong to its end.
    pub(crate) end_state: Option<&'static str>,
    /// The time of the end; `None` for the database's clock.
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) void_reason: Option<&'a str>,
    pub(crate) settlement: Option<Json<&'a Settlement>>,
    pub(crate) record: Option<&'a str>,
    /// The kind of a game that begins; the following columns belong to its opening.
    pub(crate) game_kind: Option<&'a str>,
    pub(crate) table_id: Option<Uuid>,
    pub(crate) room: Option<&'a str>,
    pub(crate) ante: Option<i64>,
    pub(crate) commitment: Option<&'a [u8]>,
    pub(crate) opened_at: Option<Timestamp>,
}

/// A seat of a game that begins, or of one that ends, which has a net result.
#[derive(Debug, Type)]
#[sqlx(type_name = "booked_seat")]
pub(crate) struct SeatRow {
    pub(crate) game: Uuid,
    pub(crate) player: Uuid,
    pub(crate) seat: i16,
    pub(crate) stake: i64,
    pub(crate) net: Option<i64>,
    pub(crate) finished_at: Option<Timestamp>,
}

/// An account to be created.
#[derive(Debug, Encode)]
pub(crate) struct NewAccountRow {
    pub(crate) id: i64,
    pub(crate) code: String,
    pub(crate) kind: &'static str,
    pub(crate) player: Option<Uuid>,
    pub(crate) balance: i64,
    pub(crate) version: i64,
}

/// An account as it was read, with its new balance and version.
#[derive(Debug, Type)]
#[sqlx(type_name = "changed_account")]
pub(crate) struct ChangedAccountRow {
    pub(crate) id: i64,
    pub(crate) version_read: i64,
    pub(crate) balance_read: i64,
    pub(crate) balance: i64,
    pub(crate) version: i64,
}

/// Names the type of a row that is only written, which sqlx derives for rows of owned values only.
macro_rules! composite {
    ($($row:ty = $name:literal;)+) => {$(
        impl Type<Postgres> for $row {
            fn type_info() -> PgTypeInfo {
                PgTypeInfo::with_name($name)
            }
        }

        impl PgHasArrayType for $row {
            fn array_type_info() -> PgTypeInfo {
                PgTypeInfo::array_of($name)
            }
        }
    )+};
}

composite! {
    OperationRow<'_> = "booked_operation";
    NewAccountRow = "booked_account";
}
