//! The journal of one tournament: reading, deciding and appending.

use std::sync::Arc;

use bahay_engine::hex::Hex;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{Input, Line, Tournament, Transition};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use super::store::{self, Summary};
use super::{
    CancellationRefunds, TournamentError, Tournaments, listing, player_notices, state_of, subject,
};
use crate::archive::tournament_games;
use crate::db;
use crate::ids::GameId;
use crate::ledger::TransferForTournament;
use crate::notices;
use crate::operators::audit::{self, Action, Actor};
use crate::passes::{self, PassEntry};

/// The number of decisions on an input before it is given up because other nodes were faster.
const ATTEMPTS: usize = 32;

/// A tournament in this process, at a version of its journal.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) version: i64,
    pub(super) code: Option<String>,
    pub(super) tournament: Arc<Tournament>,
}

/// A write that belongs to the line of an input, in its transaction.
#[derive(Clone, Debug)]
pub(super) enum LineWrite {
    None,
    /// The booking of the transfer that the line notes.
    Booking(TransferForTournament),
    /// The game that the line scores.
    Game(GameId),
    /// The pass that the registration of the line holds.
    PassHold,
    /// The return of the pass whose entry the line returns.
    PassReturn(PassEntry),
    /// The entry of a cancellation, whose amounts must be those of a digest if one is given.
    Cancellation {
        entry: AuditRecord,
        shown: Option<Hex<32>>,
    },
}

/// An entry for the audit log of operators.
#[derive(Clone, Debug)]
pub(super) struct AuditRecord {
    pub(super) by: Actor,
    pub(super) action: Action,
    pub(super) detail: Value,
}

impl Tournaments {
    /// Returns the replica with all lines of the journal.
    pub(super) async fn load(&self, id: TournamentId) -> Result<Arc<Replica>, TournamentError> {
        let pool = &self.inner.pool;
        let cached = match self.cached(id) {
            Some(cached) => cached,
            None => {
                let announcement = store::read_announcement(pool, id).await?;
                let announcement = announcement.ok_or(TournamentError::Unknown)?;
                let tournament = Tournament::new(id, announcement.terms, announcement.seed);
                let tournament = Arc::new(tournament);
                Arc::new(Replica { version: 0, code: announcement.code, tournament })
            }
        };
        let replica = follow(pool, id, cached).await?;
        self.cache(id, &replica);
        Ok(replica)
    }

    /// Decides on an input and appends its line.
    pub(super) async fn submit(
        &self,
        id: TournamentId,
        input: Input,
    ) -> Result<Arc<Replica>, TournamentError> {
        self.submit_with(id, input, LineWrite::None).await
    }

    /// Decides on an input and appends its line in one transaction with another write.
    pub(super) async fn submit_with(
        &self,
        id: TournamentId,
        input: Input,
        write: LineWrite,
    ) -> Result<Arc<Replica>, TournamentError> {
        let _turn = self.turn(id).lock().await;
        for _ in 0..ATTEMPTS {
            let replica = self.load(id).await?;
            let transition = replica.tournament.decide(self.now(), input.clone())?;
            if let Some(next) = self.append(id, &replica, transition, &write).await? {
                self.cache(id, &next);
                self.inner.changed.notify_one();
                return Ok(next);
            }
        }
        Err(TournamentError::Contended)
    }

    /// Appends a decided line. Returns `None` if another node has appended one since.
    async fn append(
        &self,
        id: TournamentId,
        replica: &Replica,
        transition: Transition,
        write: &LineWrite,
    ) -> Result<Option<Arc<Replica>>, TournamentError> {
        let Transition { line, tournament, events } = transition;
        let version = replica.version + 1;
        let mut tx = db::begin(&self.inner.pool).await?;
        if !store::append_in_tx(&mut tx, id, version, &line, &events).await? {
            return Ok(None);
        }
        match write {
            LineWrite::None => {}
            LineWrite::Booking(transfer) => {
                let ledger = &self.inner.ledger;
                ledger.transfer_for_tournament_in_tx(&mut tx, transfer.clone()).await?;
                if let Some(notice) = player_notices::transfer_notice(transfer, &tournament) {
                    notices::insert_for_tournament_in_tx(&mut tx, id, &notice).await?;
                }
            }
            LineWrite::Cancellation { entry: AuditRecord { by, action, detail }, shown } => {
                let refunds = CancellationRefunds::from_cancelled(&tournament);
                if shown.is_some_and(|shown| shown != refunds.digest()) {
                    return Err(TournamentError::AmountsChanged);
                }
                let subject = subject(id);
                audit::record_in_tx(&mut tx, by, *action, Some(&subject), detail.clone()).await?;
            }
            LineWrite::PassHold => {
                let entry = find_pass_entry(&tournament, &line);
                let entry = entry.ok_or(TournamentError::NoPass)?;
                let buy_in = tournament.terms().entry.buy_in;
                if !passes::hold_in_tx(&mut tx, entry, buy_in, line.at).await? {
                    return Err(TournamentError::NoPass);
                }
            }
            LineWrite::PassReturn(entry) => passes::free_in_tx(&mut tx, *entry).await?,
            LineWrite::Game(game) => {
                tournament_games::mark_scored_in_tx(&mut tx, *game, version).await?;
            }
        }
        for notice in player_notices::event_notices(&events, &tournament) {
            notices::insert_for_tournament_in_tx(&mut tx, id, &notice).await?;
        }
        self.write_copies_in_tx(&mut tx, id, version, replica, &line, &tournament).await?;
        let pool = tournament.pool().filter(|_| replica.tournament.pool().is_none());
        let booking = match write {
            LineWrite::Booking(transfer) => Some(transfer),
            LineWrite::None
            | LineWrite::Cancellation { .. }
            | LineWrite::Game(_)
            | LineWrite::PassHold
            | LineWrite::PassReturn(_) => None,
        };
        listing::write_coins_in_tx(&mut tx, id, pool, booking).await?;
        tx.commit().await?;
        self.publish_standings(id, &replica.tournament, &tournament).await;
        let code = replica.code.clone();
        Ok(Some(Arc::new(Replica { version, code, tournament: Arc::new(tournament) })))
    }

    /// Publishes the standings that a line has changed to their players. A player who is not reached
    /// reads them.
    async fn publish_standings(&self, id: TournamentId, before: &Tournament, now: &Tournament) {
        let rows = now.changed_standings(before);
        let entrants = now.entrant_count();
        if let Err(error) = self.inner.lobby.send_standings(id, entrants, &rows).await {
            tracing::debug!(tournament = %id, %error, "standings are not published");
        }
    }

    /// Writes the copies for queries, and closes the account of a tournament that has paid all.
    async fn write_copies_in_tx(
        &self,
        connection: &mut PgConnection,
        id: TournamentId,
        version: i64,
        before: &Replica,
        line: &Line,
        tournament: &Tournament,
    ) -> Result<(), TournamentError> {
        let has_account = match &line.input {
            Input::Register { player, .. } => {
                store::insert_entrant_in_tx(connection, id, *player).await?
            }
            Input::Withdraw { player } | Input::EntryRefused { player, .. } => {
                store::remove_entrant_in_tx(connection, id, *player).await?;
                true
            }
            _ => true,
        };
        if !has_account {
            return Err(TournamentError::AccountDeleted);
        }
        let is_closed = tournament.is_settled();
        if is_closed && !before.tournament.is_settled() {
            self.inner.ledger.close_tournament_account_in_tx(connection, id).await?;
        }
        let summary = Summary {
            version,
            state: state_of(tournament),
            entrants: tournament.entrant_count(),
            due_at: tournament.deadline(),
            secret_round: tournament.secret_round(),
            hides_results: tournament.plays_secret_round(),
            is_closed,
        };
        Ok(store::update_summary_in_tx(connection, id, &summary).await?)
    }
}

/// Returns the entry that a registration has made.
fn find_pass_entry(tournament: &Tournament, line: &Line) -> Option<PassEntry> {
    let Input::Register { player, .. } = line.input else { return None };
    let number = tournament.entrant(player)?.number;
    Some(PassEntry { tournament: tournament.id(), player, number })
}

/// Applies the lines that the journal has beyond a replica.
async fn follow(
    pool: &PgPool,
    id: TournamentId,
    replica: Arc<Replica>,
) -> Result<Arc<Replica>, TournamentError> {
    let lines = store::read_lines(pool, id, replica.version).await?;
    if lines.is_empty() {
        return Ok(replica);
    }
    let mut tournament = (*replica.tournament).clone();
    let mut version = replica.version;
    for line in &lines {
        version += 1;
        let broken = |why| TournamentError::Broken(format!("line {version}: {why}"));
        tournament.advance(line).map_err(broken)?;
    }
    let code = replica.code.clone();
    Ok(Arc::new(Replica { version, code, tournament: Arc::new(tournament) }))
}
