//! The place of one table in this process: its copy and its watchers, behind one lock, so that
//! what this process does at a table happens in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::table::{ConnectionId, Event, Input, Phase, PlayerId, Table, TableId};
use tokio::sync::{Mutex, MutexGuard};

use crate::entropy;
use crate::live::{Append, Tail, Unavailable};
use crate::tables::copy::{self, Copy, Missed};
use crate::tables::watchers::{Watch, Watchers};
use crate::tables::{ATTEMPTS, IDLE_MS, Inner, SubmitError, Submitted};

/// A journal this long is replaced by a snapshot when no game is running: some five games, so
/// that who was away for one can still resume by version.
const JOURNAL_LINES_MAX: usize = 500;

#[derive(Debug)]
pub(super) struct Slot<G: Game> {
    id: TableId,
    state: Mutex<State<G>>,
    /// This process is carrying out what the table is owed by the ledger.
    pub(super) busy: AtomicBool,
    /// The table's publications come in, so the copy is current without asking.
    watched: AtomicBool,
}

#[derive(Debug)]
struct State<G: Game> {
    copy: Option<Copy<G>>,
    watchers: Watchers<G>,
}

impl<G: Game> Slot<G> {
    pub(super) fn new(id: TableId) -> Self {
        Self {
            id,
            state: Mutex::new(State { copy: None, watchers: Watchers::new() }),
            busy: AtomicBool::new(false),
            watched: AtomicBool::new(false),
        }
    }

    pub(super) fn id(&self) -> TableId {
        self.id
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Acquire)
    }

    pub(super) async fn look(
        &self,
        house: &Inner<G>,
    ) -> Result<Option<Arc<Table<G>>>, Unavailable> {
        let mut state = self.state.lock().await;
        self.refresh(house, &mut state).await?;
        Ok(state.copy.as_ref().map(|copy| copy.table.clone()))
    }

    /// The copy as it is, without asking whether it is current.
    pub(super) async fn current(&self) -> Option<Arc<Table<G>>> {
        self.state.lock().await.copy.as_ref().map(|copy| copy.table.clone())
    }

    pub(super) async fn submit(
        &self,
        house: &Inner<G>,
        input: Input<G::Action>,
    ) -> Submitted<G, u64> {
        let mut state = self.state.lock().await;
        let mut is_fresh = false;
        for _ in 0..ATTEMPTS {
            if state.copy.is_none() {
                self.refresh(house, &mut state).await?;
                is_fresh = true;
            }
            let State { copy, watchers } = &mut *state;
            let current = copy.as_mut().ok_or(SubmitError::Missing)?;
            let now = house.clock.now();
            let transition = match current.table.decide(now, input.clone(), entropy::fresh) {
                Ok(transition) => transition,
                // Refused on what may be an old copy: look before saying so.
                Err(_) if !is_fresh => {
                    self.refresh(house, &mut state).await?;
                    is_fresh = true;
                    continue;
                }
                Err(rejection) => return Err(SubmitError::Rejected(rejection)),
            };
            let line = serde_json::to_string(&transition.line).map_err(copy::unwritable)?;
            let deadline = transition.table.deadline();
            let idle_ms = is_idle(&transition.table).then_some(IDLE_MS);
            let appended =
                house.live.append(self.id, current.version, &line, deadline, idle_ms).await;
            match appended {
                Ok(Append::Appended) => {
                    let happened = current.replace(transition.table, transition.events);
                    watchers.tell(&current.table, &happened);
                    self.seats_changed(house, &current.table, &happened).await;
                    self.compact(house, current).await;
                    return Ok(happened.version);
                }
                Ok(Append::Behind(lines)) => {
                    if let Err(error) = follow_all(current, watchers, &lines) {
                        self.broken(&error);
                        // Some of the lines may have been followed.
                        *copy = None;
                        return Err(error.into());
                    }
                    is_fresh = true;
                }
                Ok(Append::Elsewhere | Append::Missing) => *copy = None,
                Err(error) => {
                    // It may be stored or not: read before the next decision.
                    *copy = None;
                    return Err(error.into());
                }
            }
        }
        Err(Unavailable::new("too many others act at this table".into()).into())
    }

    pub(super) async fn watch(
        &self,
        house: &Inner<G>,
        player: PlayerId,
        connection: ConnectionId,
        from: Option<u64>,
    ) -> Submitted<G, Watch<G>> {
        let mut state = self.state.lock().await;
        // Listen first: what is published from here on is not in what is read next.
        if !self.is_watched() {
            house.live.watch(self.id).await?;
            self.watched.store(true, Ordering::Release);
        }
        self.refresh(house, &mut state).await?;
        let missed = match (from, &state.copy) {
            (Some(from), Some(current)) if from == current.version => Some(Vec::new()),
            (Some(from), Some(current)) => self.missed(house, current.version, from).await?,
            (None, _) | (_, None) => None,
        };
        let current = state.copy.as_ref().ok_or(SubmitError::Missing)?;
        let (version, table) = (current.version, current.table.clone());
        let notices = state.watchers.add(player, connection);
        Ok(Watch { version, table, missed, notices })
    }

    /// What happened after `from` up to `version`, from the journal.
    async fn missed(
        &self,
        house: &Inner<G>,
        version: u64,
        from: u64,
    ) -> Result<Option<Vec<Missed<G>>>, Unavailable> {
        let Some(stored) = house.live.load(self.id).await? else {
            return Ok(None);
        };
        let replayed = Copy::<G>::replay(&stored, Some(from))?;
        Ok(replayed.missed.map(|mut missed| {
            missed.retain(|missed| missed.version <= version);
            missed
        }))
    }

    /// Lines that somebody published: followed if they are the next ones, passed over if known.
    pub(super) async fn published(&self, house: &Inner<G>, version: u64, lines: &[String]) {
        let mut state = self.state.lock().await;
        let State { copy, watchers } = &mut *state;
        let Some(current) = copy else {
            return;
        };
        if version == current.version {
            if let Err(error) = follow_all(current, watchers, lines) {
                self.broken(&error);
                *copy = None;
            }
        } else if version > current.version
            && let Err(error) = self.refresh(house, &mut state).await
        {
            tracing::warn!(table = %self.id, %error, "a gap in a table's lines stays open");
        }
    }

    /// After publications may have been missed, or now and then: reads what is new, and stops
    /// listening where nobody watches any more.
    pub(super) async fn catch_up(&self, house: &Inner<G>) {
        let mut state = self.state.lock().await;
        if state.watchers.is_empty() {
            if self.watched.swap(false, Ordering::AcqRel) {
                // A failed unsubscription costs only publications that nobody takes in.
                let _ = house.live.unwatch(self.id).await;
            }
            return;
        }
        if let Err(error) = self.refresh(house, &mut state).await {
            tracing::warn!(table = %self.id, %error, "a watched table could not be read");
        }
    }

    /// Brings the copy up to the journal and tells the watchers what was new.
    async fn refresh(
        &self,
        house: &Inner<G>,
        state: &mut MutexGuard<'_, State<G>>,
    ) -> Result<(), Unavailable> {
        let State { copy, watchers } = &mut **state;
        if let Some(current) = copy {
            match house.live.tail(self.id, current.version).await? {
                Tail::Lines(lines) => match follow_all(current, watchers, &lines) {
                    Ok(()) => return Ok(()),
                    Err(error) => self.broken(&error),
                },
                Tail::Elsewhere | Tail::Missing => {}
            }
        }
        *copy = None;
        let Some(stored) = house.live.load(self.id).await? else {
            return Ok(());
        };
        let replayed = Copy::replay(&stored, None).inspect_err(|error| self.broken(error))?;
        let current = replayed.copy;
        watchers.tell_anew(&current.table, current.version);
        *copy = Some(current);
        Ok(())
    }

    fn broken(&self, error: &Unavailable) {
        tracing::error!(table = %self.id, %error, "a table's journal does not replay");
    }

    /// After seats were taken or freed: the players' bonds and the room's list follow. They are
    /// hints; what fails here is put right by whoever stumbles over it.
    async fn seats_changed(&self, house: &Inner<G>, table: &Table<G>, happened: &Missed<G>) {
        let mut changed = false;
        for event in happened.events.iter() {
            match event {
                Event::Sat { .. } => changed = true,
                Event::Left { player, .. } => {
                    changed = true;
                    if let Err(error) = house.live.release(*player, self.id).await {
                        tracing::warn!(table = %self.id, %player, %error, "a stale bond stays");
                    }
                }
                _ => {}
            }
        }
        if changed {
            let (free, has_pot) = (table.seats_free(), !table.pot().is_zero());
            if let Err(error) = house.live.list(&table.terms().room, self.id, free, has_pot).await {
                tracing::warn!(table = %self.id, %error, "a stale listing stays");
            }
        }
    }

    async fn compact(&self, house: &Inner<G>, current: &mut Copy<G>) {
        if current.journal_lines < JOURNAL_LINES_MAX || current.table.phase().is_running() {
            return;
        }
        let compacted = match serde_json::to_string(&*current.table) {
            Ok(snapshot) => house.live.compact(self.id, current.version, &snapshot).await,
            Err(error) => Err(copy::unwritable(error)),
        };
        match compacted {
            Ok(true) => current.journal_lines = 0,
            Ok(false) => {}
            Err(error) => tracing::warn!(table = %self.id, %error, "a journal stays long"),
        }
    }
}

fn follow_all<G: Game>(
    current: &mut Copy<G>,
    watchers: &mut Watchers<G>,
    lines: &[String],
) -> Result<(), Unavailable> {
    for line in lines {
        let happened = current.follow(line)?;
        watchers.tell(&current.table, &happened);
    }
    Ok(())
}

/// Nobody sits there and nothing is left to win.
fn is_idle<G: Game>(table: &Table<G>) -> bool {
    matches!(table.phase(), Phase::Waiting)
        && table.occupants().next().is_none()
        && table.pot() == Coins::ZERO
}
