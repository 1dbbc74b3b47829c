//! The journal of one tournament: its replicas in this process, and the lines that the shell's
//! [`Submission`] appends.

use std::sync::Arc;

use bahay_engine::hex::Hex;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{Input, Line, Tournament, Transfer, TransferKey};
use bahay_shell::tournaments::{
    LineWrite, Submission, SubmissionAnswer, SubmissionCall, SubmissionError, TournamentReplica,
};
use serde_json::Value;
use sqlx::PgConnection;

use super::store::{self, Summary};
use super::{
    CancellationRefunds, TournamentError, Tournaments, listing, player_notices, state_of, subject,
};
use crate::archive::tournament_games;
use crate::db;
use crate::ledger::{LedgerError, TournamentPurpose, TransferForTournament};
use crate::notices;
use crate::operators::audit::{self, Action, Actor};
use crate::passes::{self, PassEntry};

/// A tournament in this process.
#[derive(Clone, Debug)]
pub(super) struct CachedTournament {
    /// The code of a private tournament.
    pub(super) code: Option<Arc<str>>,
    pub(super) replica: TournamentReplica,
}

/// The audit entry in the transaction of a cancellation.
#[derive(Clone, Debug)]
pub(super) struct CancellationEntry {
    pub(super) by: Actor,
    pub(super) action: Action,
    pub(super) detail: Value,
    /// The digest of the amounts that the cancellation must pay, if one is given.
    pub(super) shown: Option<Hex<32>>,
}

impl Tournaments {
    /// Returns the tournament with all lines of its journal.
    pub(super) async fn load(&self, id: TournamentId) -> Result<CachedTournament, TournamentError> {
        let mut cached = self.cached(id).await?;
        let lines = store::read_lines(&self.inner.pool, id, cached.replica.version).await?;
        cached.replica.follow(&lines).map_err(SubmissionError::from)?;
        self.cache(id, &cached);
        Ok(cached)
    }

    /// Decides on a request and appends its line.
    pub(super) async fn submit(
        &self,
        id: TournamentId,
        input: Input,
    ) -> Result<TournamentReplica, TournamentError> {
        let write = LineWrite::from_request(&input);
        Ok(self.submit_with(id, input, write, None).await??)
    }

    /// Decides on an input and appends its line in one transaction with its write and the audit
    /// entry of a cancellation.
    pub(super) async fn submit_with(
        &self,
        id: TournamentId,
        input: Input,
        write: LineWrite,
        entry: Option<&CancellationEntry>,
    ) -> Result<Result<TournamentReplica, SubmissionError>, TournamentError> {
        let _turn = self.turn(id).lock().await;
        let CachedTournament { code, replica } = self.cached(id).await?;
        let mut submission = Submission::new(replica, input, write);
        while let Some(call) = submission.next_call() {
            let answer = match call {
                SubmissionCall::ReadLines { after } => {
                    SubmissionAnswer::Lines(store::read_lines(&self.inner.pool, id, after).await?)
                }
                SubmissionCall::Append { version, before, line, write } => {
                    self.append(id, version, &before.tournament, line, *write, entry).await?
                }
            };
            submission.handle_answer(answer, self.now());
        }
        let end = submission.end().unwrap_or(Err(SubmissionError::Contended));
        let replica = submission.into_replica();
        self.cache(id, &CachedTournament { code, replica: replica.clone() });
        if end.is_ok() {
            self.inner.changed.notify_one();
        }
        Ok(end.map(|()| replica))
    }

    /// Appends a decided line with everything that belongs into its transaction.
    async fn append(
        &self,
        id: TournamentId,
        version: i64,
        before: &Tournament,
        line: &Line,
        write: LineWrite,
        entry: Option<&CancellationEntry>,
    ) -> Result<SubmissionAnswer, TournamentError> {
        let (tournament, events) = before.apply_line(line)?;
        let tournament = Arc::new(tournament);
        let mut tx = db::begin(&self.inner.pool).await?;
        if !store::append_in_tx(&mut tx, id, version, line, &events).await? {
            return Ok(SubmissionAnswer::VersionTaken);
        }
        let mut booking = None;
        match write {
            LineWrite::None => {}
            LineWrite::Booking(transfer) => booking = to_booking(id, &transfer),
            LineWrite::PassHold => {
                let entry = find_pass_entry(&tournament, line);
                let entry = entry.ok_or(TournamentError::NoPass)?;
                let buy_in = tournament.terms().entry.buy_in;
                if !passes::hold_in_tx(&mut tx, entry, buy_in, line.at).await? {
                    return Err(TournamentError::NoPass);
                }
            }
            LineWrite::PassReturn { player, number } => {
                passes::free_in_tx(&mut tx, PassEntry { tournament: id, player, number }).await?;
            }
            LineWrite::Game(game) => {
                tournament_games::mark_scored_in_tx(&mut tx, game, version).await?;
            }
        }
        if let Some(transfer) = &booking {
            let ledger = &self.inner.ledger;
            match ledger.transfer_for_tournament_in_tx(&mut tx, transfer.clone()).await {
                Err(LedgerError::Overdrawn { .. }) => return Ok(SubmissionAnswer::Overdrawn),
                booked => drop(booked?),
            }
            if let Some(notice) = player_notices::transfer_notice(transfer, &tournament) {
                notices::insert_for_tournament_in_tx(&mut tx, id, &notice).await?;
            }
        }
        if let Some(CancellationEntry { by, action, detail, shown }) = entry {
            let refunds = CancellationRefunds::from_cancelled(&tournament);
            if shown.is_some_and(|shown| shown != refunds.digest()) {
                return Err(TournamentError::AmountsChanged);
            }
            let subject = subject(id);
            audit::record_in_tx(&mut tx, by, *action, Some(&subject), detail.clone()).await?;
        }
        for notice in player_notices::event_notices(&events, &tournament) {
            notices::insert_for_tournament_in_tx(&mut tx, id, &notice).await?;
        }
        self.write_copies_in_tx(&mut tx, id, version, before, line, &tournament).await?;
        let pool = tournament.pool().filter(|_| before.pool().is_none());
        listing::write_coins_in_tx(&mut tx, id, pool, booking.as_ref()).await?;
        tx.commit().await?;
        self.publish_standings(id, before, &tournament).await;
        Ok(SubmissionAnswer::Appended { after: Some(tournament) })
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
        before: &Tournament,
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
        if is_closed && !before.is_settled() {
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

/// Returns the operation of a transfer of coins; `None` for a prize without a player.
fn to_booking(id: TournamentId, transfer: &Transfer) -> Option<TransferForTournament> {
    let purpose = match transfer.key {
        TransferKey::Entry { player, .. } => TournamentPurpose::Entry(player),
        TransferKey::Return { player, .. } => TournamentPurpose::Return(player),
        TransferKey::Fee => TournamentPurpose::Fee,
        TransferKey::FeeReturn => TournamentPurpose::FeeReturn,
        TransferKey::Guarantee | TransferKey::Passes => TournamentPurpose::Guarantee,
        TransferKey::GuaranteeReturn | TransferKey::PassesReturn => {
            TournamentPurpose::GuaranteeReturn
        }
        TransferKey::Place { .. } => TournamentPurpose::Prize(transfer.player?),
        TransferKey::Cancel { player } => TournamentPurpose::Refund(player),
    };
    let key = transfer.key.to_string();
    Some(TransferForTournament { tournament: id, key, purpose, amount: transfer.amount })
}
