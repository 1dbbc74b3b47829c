//! `bahay verify ledger`: compares the books with themselves and with the games.
//!
//! The audit covers the books alone. Here every operation of a game is compared with the game's own
//! data: an opening with the stakes and antes of its seats, a settlement with its record, which is
//! replayed by the rules, and a void with the payments. `expected` derives the transfers from rules
//! and record, with code that posting does not use. The games of tournaments have no operations:
//! their records are replayed and compared with their scores.
//!
//! The books are read in one snapshot; games are read in pages outside of it, because the transfers
//! of an operation never change. Memory is bounded by a page; the duration grows with the number of
//! games.
//!
//! Deliberately absent: repairs.

mod archived;
mod expected;
mod games;
mod tournaments;

use std::fmt;

use bahay_engine::table::GameId;
use sqlx::PgPool;

use crate::ledger::LedgerError;
use crate::ledger::audit::{self, Report as Books};
use crate::records::Records;

pub use games::ReplayCounts;
pub use tournaments::TournamentCounts;

/// The maximum number of listed differences between books and games, as in the audit.
const LISTED_MAX: usize = 10_000;

/// The extent of the replayed games. The books are always read completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Everything,
    /// The operations after this one, which an earlier check has covered, and the games of the
    /// tournaments that were not closed when it was booked.
    After(i64),
}

/// The counts of a check and its differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub books: Books,
    pub games: ReplayCounts,
    pub tournaments: TournamentCounts,
    /// The differences between books and games; those within the books are in `books`.
    pub differences: Vec<Difference>,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.books.is_clean() && self.differences.is_empty()
    }

    /// Returns every difference as text.
    pub fn difference_texts(&self) -> impl Iterator<Item = String> {
        let books = self.books.differences.iter().map(ToString::to_string);
        books.chain(self.differences.iter().map(ToString::to_string))
    }
}

/// A difference between the books and one game's documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("game {game}: {what}")]
pub struct Difference {
    pub game: GameId,
    pub what: Mismatch,
}

/// The kind of a difference.
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
    #[error("its record is invalid: {fault}")]
    Record { fault: String },
    #[error("its record is of another {what}")]
    RecordDiffers { what: &'static str },
    #[error("its documents do not have the hash of the settlement's input")]
    HashDiffers,
    #[error("the answer of {key} is not what follows from the game")]
    AnswerDiffers { key: &'static str },
    #[error("the transfers of {key} are not those that follow from the game: {first}")]
    TransfersDiffer { key: &'static str, first: String },
    #[error("an amount does not fit 64 bits")]
    Overflow,
}

/// Checks the books in one snapshot, and the games.
pub async fn check(
    pool: &PgPool,
    records: &Records,
    extent: Extent,
) -> Result<Report, LedgerError> {
    let books = audit::audit(pool).await?;
    let (games, mut differences) = games::check(pool, records, extent).await?;
    let (tournaments, found) = tournaments::check(pool, records, extent).await?;
    differences.extend(found);
    differences.truncate(LISTED_MAX);
    Ok(Report { books, games, tournaments, differences })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Books { accounts, operations, transfers, games, unsealed_operations, .. } = &self.books;
        writeln!(f, "counted")?;
        writeln!(f, "  {accounts} accounts, {transfers} transfers")?;
        writeln!(f, "  {operations} operations, {unsealed_operations} of them unsealed")?;
        let ReplayCounts { opened, refused, settled, voided, actions, .. } = &self.games;
        writeln!(f, "  {games} games; compared: {opened} openings, {refused} refused ones,")?;
        writeln!(f, "  {settled} settlements with {actions} actions replayed, {voided} voids")?;
        let TournamentCounts { games, actions } = self.tournaments;
        writeln!(f, "  {games} games of tournaments with {actions} actions replayed")?;
        if let Some(head) = self.books.head {
            writeln!(f, "  the chain of seals ends with {head}")?;
        }
        let complaints: Vec<_> = self.difference_texts().collect();
        if complaints.is_empty() {
            return write!(f, "no difference");
        }
        writeln!(f, "{} differences", complaints.len())?;
        for (number, complaint) in (1..).zip(&complaints) {
            if number > 1 {
                writeln!(f)?;
            }
            write!(f, "  {number}. {complaint}")?;
        }
        Ok(())
    }
}
