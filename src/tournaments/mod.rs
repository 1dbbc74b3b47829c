//! Tournaments: their journals in PostgreSQL, and the runner that performs their effects.
//!
//! A tournament is a value (`bahay_engine::tournament`) that follows from its journal. The
//! shell (`bahay_shell::tournaments`) decides each step of a node, and the simulator runs it as
//! well; `journal` and `driver` perform its calls. The primary key of the lines decides which of two
//! nodes was first to append a version. A line that notes a transfer is appended in the transaction
//! that books it, so the journal and the ledger never differ.
//!
//! Effects are derived from the state: tables to open, transfers to book, ticks. The runner of each
//! node (`runner`) performs those that are due, and each can be performed again, so that any node
//! goes on after another was killed. Finished games arrive through `archive::tournament_games`, where
//! their tables store them.
//!
//! Deliberately absent: the rules of tournaments, which are the engine's, the decisions of their
//! host, and leases: nodes that do the same at once lose only work.

mod cancellation;
mod driver;
mod error;
mod guarantees;
mod house_bots;
mod journal;
mod listing;
mod pauses;
mod player_entries;
mod player_notices;
mod reminders;
mod requests;
mod runner;
mod schedule_times;
mod schedules;
mod store;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules as _;
use bahay_engine::hex::Hex;
use bahay_engine::table::{PlayerId, Price, TableId, TournamentId};
use bahay_engine::tournament::{
    Input, Payment, Phase, ResultLine, TermsError, Tournament, TournamentTerms,
};
use bahay_shell::tournaments::TournamentReplica;
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::db::{self, Page};
use crate::entropy;
use crate::ledger::Ledger;
use crate::lobby::Lobby;
use crate::operators::Administrator;
use crate::operators::audit::{self, Action};
use crate::rate_limit::Address;

pub use bahay_api::player::tournaments::EntryPayment;
pub use bahay_base::states::TournamentState;
pub use cancellation::CancellationRefunds;
pub use error::TournamentError;
pub use guarantees::GuaranteeLimit;
pub use listing::{OperatedRow, TournamentSelection};
pub use player_entries::PlayerTournament;
pub use requests::{TournamentRequestError, TournamentRequests};
pub use schedule_times::ScheduleTimes;
pub use schedules::{
    PERIOD as SCHEDULE_PERIOD, ScheduleChange, ScheduleDraft, ScheduleError, TournamentSchedules,
};
pub use store::{ListedTournament, Selection, VersionResults};

use guarantees::AnnouncedGuarantee;
use journal::CachedTournament;
use store::Announcement;

/// The number of cached replicas above which those of tournaments that are paid out are dropped.
const REPLICAS_MAX: usize = 1_024;

/// The number of turns, which tournaments share by their ids.
const TURNS: usize = 64;

/// The tournaments of the house. Clones share everything.
#[derive(Clone, Debug)]
pub struct Tournaments {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    ledger: Ledger,
    lobby: Lobby,
    /// The replicas of tournaments that this process has used. Each is only a cache.
    replicas: Mutex<HashMap<TournamentId, CachedTournament>>,
    /// The turns of the inputs of this process, by tournament: inputs of one tournament wait for
    /// each other, instead of being decided again and again.
    turns: [tokio::sync::Mutex<()>; TURNS],
    /// Wakes the runner after an input.
    changed: Notify,
}

/// A tournament to be announced.
#[derive(Clone, Debug)]
pub struct TournamentDraft {
    pub terms: TournamentTerms,
    /// The code by which players register, if it is private.
    pub code: Option<String>,
}

/// The way in which a player registers.
#[derive(Clone, Copy, Debug)]
pub struct RegistrationOptions<'a> {
    /// The code of a private tournament.
    pub code: Option<&'a str>,
    pub payment: EntryPayment,
    /// The address of the player, by which players of one network are kept apart.
    pub from: Option<Address>,
}

/// Returns the state that a tournament's phase belongs to.
pub fn state_of(tournament: &Tournament) -> TournamentState {
    match tournament.phase() {
        Phase::Announced => TournamentState::Announced,
        Phase::Break { .. } | Phase::Round | Phase::Arena { .. } => TournamentState::Running,
        Phase::Ended => TournamentState::Ended,
        Phase::Cancelled { .. } => TournamentState::Cancelled,
    }
}

/// Announces a tournament, in the caller's transaction.
pub async fn announce_in_tx(
    connection: &mut PgConnection,
    draft: TournamentDraft,
) -> Result<TournamentId, TournamentError> {
    let id = TournamentId(entropy::uuid());
    announce_under_id_in_tx(connection, id, draft).await?;
    Ok(id)
}

/// Announces a tournament under an id, in the caller's transaction.
async fn announce_under_id_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    draft: TournamentDraft,
) -> Result<(), TournamentError> {
    let TournamentDraft { terms, code } = draft;
    terms.check().map_err(TournamentError::Terms)?;
    let price = Price { bet: terms.game.bet, multiplier: 1, fee_basis_points: 0 };
    if let Err(error) = price.count_price(terms.game.rules.counts_per_bet()) {
        let message = error.message;
        return Err(TournamentError::Terms(TermsError { field: "game.bet", message }));
    }
    let seed = ServerSeed(Hex(entropy::seed()));
    let tournament = Tournament::new(id, terms.clone(), seed);
    let due_at = tournament.deadline();
    let secret_round = tournament.secret_round();
    let announcement = Announcement { terms, seed, code };
    if !store::insert_in_tx(connection, id, &announcement, due_at, secret_round).await? {
        let message = "another tournament has this code";
        return Err(TournamentError::Terms(TermsError { field: "code", message }));
    }
    Ok(())
}

/// Returns the subject of audit entries about a tournament.
fn subject(id: TournamentId) -> String {
    format!("tournament:{id}")
}

impl Tournaments {
    pub fn new(pool: PgPool, ledger: Ledger, lobby: Lobby) -> Self {
        let replicas = Mutex::default();
        let changed = Notify::new();
        let turns = core::array::from_fn(|_| tokio::sync::Mutex::default());
        Self { inner: Arc::new(Inner { pool, ledger, lobby, replicas, turns, changed }) }
    }

    /// Returns the time by which tournaments are decided.
    pub fn now(&self) -> Timestamp {
        self.inner.lobby.tables().clock().now()
    }

    /// Returns the current tournament.
    pub async fn read(&self, id: TournamentId) -> Result<Arc<Tournament>, TournamentError> {
        Ok(self.load(id).await?.replica.tournament)
    }

    /// Registers a player, who pays the entry at once, in coins or by a pass.
    ///
    /// # Errors
    /// [`TournamentError::NoPass`] if no unused pass of the player pays the buy-in.
    pub async fn register(
        &self,
        id: TournamentId,
        player: PlayerId,
        RegistrationOptions { code, payment, from }: RegistrationOptions<'_>,
    ) -> Result<(), TournamentError> {
        let CachedTournament { code: required, replica } = self.load(id).await?;
        if required.is_some() && required.as_deref() != code {
            return Err(TournamentError::CodeRequired);
        }
        let kind = replica.tournament.terms().game.kind().to_owned();
        let candidate = self.inner.lobby.tournament_candidate(player, &kind, from).await?;
        let input = Input::Register {
            player,
            name: candidate.name,
            pass: payment == EntryPayment::Pass,
            bot: false,
            conflict_keys: candidate.conflict_keys,
        };
        self.submit(id, input).await?;
        self.run_effects(id).await?;
        if self.read(id).await?.is_registered(player) {
            Ok(())
        } else {
            Err(TournamentError::TooFewCoins)
        }
    }

    /// Withdraws a player before the start and returns the entry.
    pub async fn withdraw(
        &self,
        id: TournamentId,
        player: PlayerId,
    ) -> Result<(), TournamentError> {
        self.submit(id, Input::Withdraw { player }).await?;
        self.run_effects(id).await
    }

    /// Announces a tournament under an id, with its audit entry. A repeated announcement changes
    /// nothing.
    ///
    /// # Errors
    /// [`TournamentError::ApprovalRequired`] if the limit does not cover the guarantee.
    pub async fn announce(
        &self,
        by: &Administrator,
        id: TournamentId,
        draft: TournamentDraft,
        limit: &GuaranteeLimit,
    ) -> Result<TournamentId, TournamentError> {
        if store::read_announcement(&self.inner.pool, id).await?.is_some() {
            return Ok(id);
        }
        let amount = draft.terms.guarantee;
        let detail = json!({ "name": draft.terms.name, "guarantee": amount });
        let mut tx = db::begin(&self.inner.pool).await?;
        if let Err(error) = announce_under_id_in_tx(&mut tx, id, draft).await {
            tx.rollback().await?;
            // The same call, sent twice at the same moment, may have announced it.
            let announced = store::read_announcement(&self.inner.pool, id).await?;
            return announced.map(|_| id).ok_or(error);
        }
        let guarantee =
            AnnouncedGuarantee { tournament: id, operator: by.id, amount, is_scheduled: false };
        limit.count_in_tx(&mut tx, guarantee, self.now()).await?;
        let action = Action::TournamentAnnounced;
        audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject(id)), detail).await?;
        tx.commit().await?;
        self.inner.changed.notify_one();
        Ok(id)
    }

    /// Returns the list of results after a version, in order: the lines of each version that has any.
    /// While a round of a duplicate is played, the list ends with its beginning.
    pub async fn results(
        &self,
        id: TournamentId,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Page<VersionResults, i64>, TournamentError> {
        let announced = if after.is_none() {
            let tournament = self.read(id).await?;
            let event = tournament.announcement();
            let line = ResultLine { at: Timestamp::default(), event: &event };
            let announcement = serde_json::to_value(line);
            let announcement = announcement.map_err(|error| sqlx::Error::Encode(error.into()))?;
            Some(VersionResults { version: 0, results: vec![announcement] })
        } else {
            None
        };
        Ok(store::results(&self.inner.pool, id, announced, after.unwrap_or(0), limit).await?)
    }

    /// Returns the table at which a player plays now, and claims the seat there, so that the player
    /// can join it.
    pub async fn find_table(
        &self,
        id: TournamentId,
        player: PlayerId,
    ) -> Result<Option<TableId>, TournamentError> {
        let tournament = self.read(id).await?;
        let Some(table) = tournament.table_of(player) else { return Ok(None) };
        let table = table.table_id(id);
        self.inner.lobby.claim_tournament_seat(player, table).await?;
        Ok(Some(table))
    }

    /// Returns a page of tournaments, newest first.
    pub async fn list(
        &self,
        state: Option<TournamentState>,
        selection: &Selection,
        below: Option<(Timestamp, Uuid)>,
        limit: u32,
    ) -> Result<Page<ListedTournament, (Timestamp, Uuid)>, sqlx::Error> {
        store::list(&self.inner.pool, state, selection, below, limit).await
    }

    /// Returns the amount that a player gets from the cancellation of a tournament (rules 7.1 and
    /// 7.2).
    pub async fn refund_of(
        &self,
        tournament: &Tournament,
        player: PlayerId,
    ) -> Result<Option<Coins>, sqlx::Error> {
        let has_result = tournament.entrants().any(|entrant| entrant.games() > 0);
        if has_result {
            return store::read_refund(&self.inner.pool, tournament.id(), player).await;
        }
        let entrant = tournament.entrant(player);
        let paid = entrant.filter(|entrant| entrant.payment == Payment::Coins);
        Ok(paid.map(|_| tournament.terms().entry.price()))
    }

    /// Returns the turn of a tournament's inputs.
    fn turn(&self, id: TournamentId) -> &tokio::sync::Mutex<()> {
        // The last bits of an id are random.
        let place = id.0.as_u128() % TURNS as u128;
        &self.inner.turns[usize::try_from(place).unwrap_or_default()]
    }

    /// Returns the cached tournament, or the announced one without lines.
    async fn cached(&self, id: TournamentId) -> Result<CachedTournament, TournamentError> {
        let cached = self.lock_replicas().get(&id).cloned();
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let announcement = store::read_announcement(&self.inner.pool, id).await?;
        let Announcement { terms, seed, code } = announcement.ok_or(TournamentError::Unknown)?;
        let replica = TournamentReplica::new(Tournament::new(id, terms, seed));
        Ok(CachedTournament { code: code.map(Arc::from), replica })
    }

    /// Caches a tournament unless a newer version is cached.
    fn cache(&self, id: TournamentId, tournament: &CachedTournament) {
        let mut replicas = self.lock_replicas();
        if replicas.len() >= REPLICAS_MAX {
            replicas.retain(|_, cached| !cached.replica.tournament.is_settled());
        }
        let cached = replicas.entry(id).or_insert_with(|| tournament.clone());
        if cached.replica.version < tournament.replica.version {
            *cached = tournament.clone();
        }
    }

    fn lock_replicas(&self) -> MutexGuard<'_, HashMap<TournamentId, CachedTournament>> {
        self.inner.replicas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
