//! Times as PostgreSQL stores them.

use bahay_base::clock::{self, Timestamp};
use jiff_sqlx::ToSqlx as _;

/// Converts a time for a query. A time out of the range of SQL becomes the nearest bound.
pub fn to_sql(time: Timestamp) -> jiff_sqlx::Timestamp {
    clock::to_jiff(time).to_sqlx()
}

/// Converts a time from a query, rounded down to the millisecond.
pub fn from_sql(time: jiff_sqlx::Timestamp) -> Timestamp {
    clock::from_jiff(time.to_jiff())
}
