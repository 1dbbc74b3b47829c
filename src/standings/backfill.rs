//! Counting a history that is written all at once: the same counting as seal by seal, without
//! reading and replaying each record again, by whoever has just played it.

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::Record;
use sqlx::PgPool;

use crate::ids::PRIVATE_ROOM;

use super::counted::{Counted, counted_of};
use super::season::Calendar;
use super::tally::Tally;
use super::{StandingsError, fold};

/// Counts of a database whose settled games are all counted here.
#[derive(Debug)]
pub struct Backfill {
    calendar: Calendar,
    tally: Tally,
}

impl Backfill {
    pub fn new(calendar: Calendar) -> Self {
        Self { calendar, tally: Tally::default() }
    }

    /// Counts a game; of one player's games an earlier one comes first.
    pub fn count(&mut self, record: &Record<AnyGame>, end: &AnyGame) {
        let settlement = &record.settlement;
        let player = |seat: Seat| record.players.get(seat.index()).copied();
        let seats = Seat::all(u8::try_from(record.players.len()).unwrap_or(u8::MAX));
        let nets = seats.map(|seat| settlement.net(seat).unwrap_or(Coins::ZERO));
        let (ending, counts) = counted_of(end, &record.players);
        let counted = Counted {
            game: record.game,
            kind: record.kind.clone(),
            finished_at: record.finished_at,
            ending,
            counts,
            is_ranked: record.terms.room != PRIVATE_ROOM,
            winner: settlement.winner.and_then(player),
            pot: settlement.pot.and_then(|pot| Some((player(pot.seat)?, pot.amount))),
            nets: record.players.iter().copied().zip(nets).collect(),
        };
        self.tally.count(&counted, &self.calendar);
    }

    /// What was counted since the last call, with what players have done by now.
    pub fn take(&mut self) -> Gathered {
        let tally = Tally {
            sums: self.tally.sums.clone(),
            counters: std::mem::take(&mut self.tally.counters),
            scores: std::mem::take(&mut self.tally.scores),
            results: std::mem::take(&mut self.tally.results),
        };
        Gathered { calendar: self.calendar.clone(), tally }
    }
}

/// What was counted between two writes.
#[derive(Debug)]
pub struct Gathered {
    calendar: Calendar,
    tally: Tally,
}

impl Gathered {
    /// Writes it. The ledger has sealed exactly those games.
    pub async fn write(self, pool: &PgPool) -> Result<(), StandingsError> {
        let mut tx = pool.begin().await?;
        if fold::lock(&mut tx, &self.calendar).await?.is_none() {
            return Err(StandingsError::Unreadable("another process counts".to_owned()));
        }
        fold::write(&mut tx, &self.tally).await?;
        sqlx::query!(
            "
            update standings_progress
            set seal = coalesce((select max(s.number) from seals s), 0)
            "
        )
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }
}
