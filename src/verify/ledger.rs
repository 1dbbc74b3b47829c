//! `bahay verify ledger`: the books against themselves and against the games.
//!
//! The audit reads the books alone. Here every operation of a game is then held against what the
//! game itself says: an opening against the stakes and antes of its seats, a settlement against
//! its record, which is replayed by the rules, a void against what was paid in. The transfers that
//! ought to be are derived in `expected` from rule and record, by other code than that which
//! posted them.
//!
//! Books are read in one snapshot; games in pages outside of it, because what an operation booked
//! never changes. Memory is bounded by a page; time grows with the number of games.
//!
//! Absent: anything that mends.

mod expected;
mod games;

use std::fmt;

use bahay_engine::table::GameId;
use sqlx::PgPool;

use crate::ledger::LedgerError;
use crate::ledger::audit::{self, Report as Books};
use crate::records::Records;

pub use games::ReplayCounts;

/// Differences between books and games that a report lists, as with those within the books.
const LISTED_MAX: usize = 10_000;

/// How much of the games is replayed. The books are always read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Everything,
    /// Operations after this one, which an earlier check has seen.
    After(i64),
}

/// What was counted, and what does not add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub books: Books,
    pub games: ReplayCounts,
    /// Between books and games; those within the books are in `books`.
    pub differences: Vec<Difference>,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.books.is_clean() && self.differences.is_empty()
    }

    /// Every difference in words.
    pub fn difference_texts(&self) -> impl Iterator<Item = String> {
        let books = self.books.differences.iter().map(ToString::to_string);
        books.chain(self.differences.iter().map(ToString::to_string))
    }
}

/// One game that the books and its documents tell differently.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("game {game}: {what}")]
pub struct Difference {
    pub game: GameId,
    pub what: Mismatch,
}

/// What differs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    #[error("it is {state}, and no operation {key} is booked")]
    NotBooked { state: String, key: &'static str },
    #[error("{key} is booked, and the game is {state}")]
    StateDiffers { key: &'static str, state: String },
    #[error("{key} is booked, and there is no such game")]
    Unknown { key: &'static str },
    #[error("its opening was refused, and coins moved")]
    RefusedAndBooked,
    #[error("its settlement has no record")]
    NoRecord,
    #[error("its record does not hold: {fault}")]
    Record { fault: String },
    #[error("its record is of another {what}")]
    RecordDiffers { what: &'static str },
    #[error("its documents are not those that were settled: their hash is another")]
    HashDiffers,
    #[error("the answer of {key} is not what follows from the game")]
    AnswerDiffers { key: &'static str },
    #[error("the transfers of {key} are not those that follow from the game: {first}")]
    TransfersDiffer { key: &'static str, first: String },
    #[error("an amount does not fit 64 bits")]
    Overflow,
}

/// Checks the books as they are at one moment, and the games.
pub async fn check(
    pool: &PgPool,
    records: &Records,
    extent: Extent,
) -> Result<Report, LedgerError> {
    let books = audit::audit(pool).await?;
    let (games, differences) = games::check(pool, records, extent).await?;
    Ok(Report { books, games, differences })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Books { accounts, operations, transfers, entries, games, pending_house_entries, .. } = &self.books;
        let closed = self.books.closed_months;
        writeln!(f, "counted")?;
        writeln!(f, "  {accounts} accounts, {entries} entries, {transfers} transfers")?;
        if closed > 0 {
            writeln!(f, "  {closed} closed months, which have transfers and no entries")?;
        }
        writeln!(f, "  {operations} operations, {pending_house_entries} of them not folded yet")?;
        let ReplayCounts { opened, refused, settled, voided, actions, .. } = &self.games;
        writeln!(f, "  {games} games; read again: {opened} openings, {refused} refused ones,")?;
        writeln!(f, "  {settled} settlements with {actions} actions replayed, {voided} voids")?;
        if let Some(head) = self.books.head {
            writeln!(f, "  the chain of seals ends with {head}")?;
        }
        let complaints: Vec<_> = self.difference_texts().collect();
        if complaints.is_empty() {
            return write!(f, "no difference");
        }
        writeln!(f, "{} differences, of each kind the first hundred", complaints.len())?;
        for (number, complaint) in (1..).zip(&complaints) {
            if number > 1 {
                writeln!(f)?;
            }
            write!(f, "  {number}. {complaint}")?;
        }
        Ok(())
    }
}
