//! Backfill of standings: applies the games of a generated history by the same code as the
//! projection, without reading and replaying their records, since the caller has just played them.

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::Record;
use sqlx::PgPool;

use crate::db;
use crate::ids::PRIVATE_ROOM;
use crate::projections::{self, Projection as _};

use super::season::Calendar;
use super::settled_game::{SettledGame, ending_and_counts};
use super::statistics::StandingsUpdate;
use super::{Standings, StandingsError, projection};

/// The standings of a database whose settled games all pass through this value.
#[derive(Debug)]
pub struct StandingsBackfill {
    calendar: Calendar,
    update: StandingsUpdate,
}

impl StandingsBackfill {
    pub fn new(calendar: Calendar) -> Self {
        Self { calendar, update: StandingsUpdate::default() }
    }

    /// Applies a game. The games of one player must come in the order of their ends.
    pub fn apply_game(&mut self, record: &Record<AnyGame>, end: &AnyGame) {
        let settlement = &record.settlement;
        let player = |seat: Seat| record.players.get(seat.index()).copied();
        let seats = Seat::all(u8::try_from(record.players.len()).unwrap_or(u8::MAX));
        let nets = seats.map(|seat| settlement.net(seat).unwrap_or(Coins::ZERO));
        let (ending, counts) = ending_and_counts(end, &record.players);
        let counted = SettledGame {
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
        self.update.apply_game(&counted, &self.calendar);
    }

    /// Returns everything collected since the last call, with the current sums of the players.
    pub fn take_batch(&mut self) -> StandingsBatch {
        let sums = self.update.sums.clone();
        let next = StandingsUpdate { sums, ..StandingsUpdate::default() };
        let update = std::mem::replace(&mut self.update, next);
        StandingsBatch { calendar: self.calendar.clone(), update }
    }
}

/// The standings of one write.
#[derive(Debug)]
pub struct StandingsBatch {
    calendar: Calendar,
    update: StandingsUpdate,
}

impl StandingsBatch {
    /// Writes the batch. The ledger must have sealed exactly its games.
    pub async fn write(self, pool: &PgPool) -> Result<(), StandingsError> {
        let mut tx = db::begin(pool).await?;
        let version = self.calendar.to_string();
        let position = projections::lock_position::<Standings>(&mut tx, &version).await?;
        let busy = || StandingsError::Unreadable("another process is projecting".to_owned());
        let head = position.ok_or_else(busy)?.head;
        projection::write_update(&mut tx, &self.update).await?;
        projections::advance_position(&mut tx, Standings::NAME, head).await?;
        Ok(tx.commit().await?)
    }
}
