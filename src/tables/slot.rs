//! The place of one table in this process: its copy and its watchers, behind one lock, so that
//! what this process does at a table happens in order.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};

use bahay_engine::coins::Coins;
use bahay_engine::table::Readable;
use bahay_engine::table::{ConnectionId, Event, Input, Phase, PlayerId, Table, TableId};
use tokio::sync::{Mutex, MutexGuard, broadcast};
use tokio::time::timeout;

use crate::archive::halted::Halt;
use crate::clock::{Clock, Moment};
use crate::entropy;
use crate::live_store::{Append, Entry, Listed, NewLine, Point, Tail, Unavailable};
use crate::metrics::Level;
use crate::tables::copy::{self, Copy, Missed, Replayed, Unfollowed};
use crate::tables::guard::guarded;
use crate::tables::watchers::{AtOnce, Ending, Watch, Watchers};
use crate::tables::{ATTEMPTS, IDLE_MS, Inner, SubmitError, Submitted, Unready};

/// A journal this long is replaced by a snapshot when no game is running: some five games, so
/// that who was away for one can still resume by version.
const JOURNAL_LINES_MAX: usize = 500;

/// Texts that wait for one listener; the oldest of more are lost to it. A table has room for them
/// whether somebody speaks or not.
const TALK_MAX: usize = 8;

#[derive(Debug)]
pub(super) struct Slot<G: Readable> {
    id: TableId,
    state: Mutex<State<G>>,
    /// This process is carrying out what the table is owed by the ledger.
    pub(super) busy: AtomicBool,
    /// How often in a row the ledger has called itself broken over this table.
    pub(super) refused: AtomicU32,
    /// The table's publications come in, so the copy is current without asking.
    watched: AtomicBool,
    /// What is said at the table beside the game.
    talk: broadcast::Sender<Arc<str>>,
}

#[derive(Debug)]
struct State<G: Readable> {
    copy: Option<Copy<G>>,
    watchers: Watchers<G>,
}

impl<G: Readable> Slot<G> {
    pub(super) fn new(id: TableId) -> Self {
        Self {
            id,
            state: Mutex::new(State { copy: None, watchers: Watchers::new() }),
            busy: AtomicBool::new(false),
            refused: AtomicU32::new(0),
            watched: AtomicBool::new(false),
            talk: broadcast::Sender::new(TALK_MAX),
        }
    }

    pub(super) fn hear(&self) -> broadcast::Receiver<Arc<str>> {
        self.talk.subscribe()
    }

    /// Passes on what somebody said.
    pub(super) fn talk(&self, text: Arc<str>) {
        // Nobody may be listening.
        let _ = self.talk.send(text);
    }

    pub(super) fn id(&self) -> TableId {
        self.id
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Acquire)
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire) > 0
    }

    /// The place is shared, and whoever holds it waits for Redis at most: longer than that nobody
    /// waits here.
    async fn lock(&self, house: &Inner<G>) -> Result<MutexGuard<'_, State<G>>, Unavailable> {
        let busy = |_| Unavailable::new("others wait at this table".into());
        timeout(house.live.response_timeout(), self.state.lock()).await.map_err(busy)
    }

    pub(super) async fn look(&self, house: &Inner<G>) -> Result<Option<Arc<Table<G>>>, Unready> {
        let mut state = self.lock(house).await?;
        self.refresh(house, &mut state).await?;
        Ok(state.copy.as_ref().map(|copy| copy.table.clone()))
    }

    /// Lists the table as it is now.
    pub(super) async fn list_again(&self, house: &Inner<G>) -> Result<(), Unready> {
        let mut state = self.lock(house).await?;
        self.refresh(house, &mut state).await?;
        if let Some(copy) = &state.copy {
            self.list(house, &copy.table).await;
        }
        Ok(())
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
        let mut state = self.lock(house).await?;
        let mut is_fresh = false;
        for _ in 0..ATTEMPTS {
            if state.copy.is_none() {
                self.refresh(house, &mut state).await?;
                is_fresh = true;
            }
            let State { copy, watchers } = &mut *state;
            let current = copy.as_mut().ok_or(SubmitError::Missing)?;
            let now = house.time_of(self.id)?;
            // What the room says comes before anything else.
            let word = house.words.due(&current.table);
            let told = word.as_ref().unwrap_or(&input);
            let decided = guarded(|| {
                let decided = current.table.decide(now, told.clone(), entropy::fresh)?;
                let deadline = decided.table.deadline();
                Ok((decided, deadline))
            });
            let decided = match decided {
                Ok(decided) => decided,
                Err(panic) => {
                    let halt = self.halt_of(current, panic);
                    let engine = current.table.engine();
                    *copy = None;
                    house.halt(halt, engine).await?;
                    return Err(SubmitError::Halted);
                }
            };
            let (transition, deadline) = match decided {
                Ok(decided) => decided,
                // Refused on what may be an old copy: look before saying so.
                Err(_) if !is_fresh => {
                    self.refresh(house, &mut state).await?;
                    is_fresh = true;
                    continue;
                }
                Err(rejection) => return Err(SubmitError::Rejected(rejection)),
            };
            let line = serde_json::to_string(&transition.line).map_err(copy::unwritable)?;
            let tag = entropy::tag();
            let new = NewLine {
                after: current.at,
                tag,
                engine: current.table.engine(),
                line: &line,
                deadline,
                idle_ms: is_idle(&transition.table).then_some(IDLE_MS),
            };
            let play = house.counts.play();
            let (asked, waiting) = (Moment::now(), Waiting::new(&play.appends_waiting));
            let unheard = Unheard { house, table: self.id };
            let answer = house.live.append(self.id, new).await;
            unheard.heard();
            drop(waiting);
            play.append.took(asked.elapsed());
            match answer {
                Ok(Append::Appended) => {
                    if word.is_none() && matches!(input, Input::Act { .. }) {
                        play.moves.one();
                    }
                    let happened = current.replace(transition.table, transition.events, tag);
                    watchers.tell(&current.table, &happened, house.clock_of(self.id).now());
                    self.seats_changed(house, &current.table, &happened).await;
                    self.compact(house, current).await;
                    if word.is_none() {
                        return Ok(happened.at.version);
                    }
                }
                Ok(Append::Behind(lines)) => {
                    if let Err(error) =
                        follow_all(current, watchers, &lines, house.clock_of(self.id))
                    {
                        self.unfollowed(&error);
                        // Some of the lines may have been followed. Read whole, they may replay.
                        *copy = None;
                    }
                    is_fresh = true;
                }
                Ok(Append::Halted) => return Err(SubmitError::Halted),
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
        at_once: Option<Arc<dyn AtOnce<G>>>,
        from: Option<Point>,
    ) -> Submitted<G, Watch<G>> {
        let mut state = self.lock(house).await?;
        // Listen first: what is published from here on is not in what is read next.
        if !self.is_watched() {
            if !house.live.watch(self.id).await? {
                return Err(SubmitError::Missing);
            }
            self.watched.store(true, Ordering::Release);
        }
        self.refresh(house, &mut state).await?;
        let missed = match (from, &state.copy) {
            (Some(from), Some(current)) => match current.missed_since(from) {
                Some(missed) => Some(missed),
                None => self.missed(house, current.at, from).await?,
            },
            (None, _) | (_, None) => None,
        };
        let current = state.copy.as_ref().ok_or(SubmitError::Missing)?;
        let (at, table) = (current.at, current.table.clone());
        let (notices, ending) = state.watchers.add(player, connection, at_once);
        Ok(Watch { at, table, missed, notices, ending })
    }

    /// What happened after `from` up to `to`, from the journal; `None` where it does not lead
    /// through both.
    async fn missed(
        &self,
        house: &Inner<G>,
        to: Point,
        from: Point,
    ) -> Result<Option<Vec<Missed<G>>>, Unavailable> {
        let Some(stored) = house.live.load(self.id).await? else {
            return Ok(None);
        };
        // It replayed a moment ago; if it does so no more, the whole table is shown.
        let replayed = Copy::<G>::replay(&stored, Some(from)).ok();
        Ok(replayed.and_then(|replayed| replayed.missed).and_then(|mut missed| {
            let last = missed.iter().position(|missed| missed.at == to)?;
            missed.truncate(last + 1);
            Some(missed)
        }))
    }

    /// Lines that somebody published: followed if they are the next ones, passed over if known.
    /// Whatever else they are, the journal tells.
    pub(super) async fn published(&self, house: &Inner<G>, after: Point, lines: &[Entry]) {
        let mut state = self.state.lock().await;
        let State { copy, watchers } = &mut *state;
        let Some(current) = copy else {
            return;
        };
        let Some(last) = lines.last() else {
            return;
        };
        let to = Point { version: after.version + lines.len() as u64, tag: last.tag };
        if after == current.at {
            if let Err(error) = follow_all(current, watchers, lines, house.clock_of(self.id)) {
                self.unfollowed(&error);
                *copy = None;
            }
        } else if !current.leads_through(to)
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
            return self.stop_listening(house).await;
        }
        if let Err(error) = self.refresh(house, &mut state).await {
            tracing::warn!(table = %self.id, %error, "a watched table could not be read");
        }
    }

    pub(super) async fn stop_listening(&self, house: &Inner<G>) {
        if self.watched.swap(false, Ordering::AcqRel) {
            // A failed unsubscription costs only publications that nobody takes in.
            let _ = house.live.unwatch(self.id).await;
        }
    }

    /// Brings the copy up to the journal and tells the watchers what was new.
    async fn refresh(
        &self,
        house: &Inner<G>,
        state: &mut MutexGuard<'_, State<G>>,
    ) -> Result<(), Unready> {
        let State { copy, watchers } = &mut **state;
        if let Some(current) = copy {
            match house.live.tail(self.id, current.at).await? {
                Tail::Lines(lines) => {
                    match follow_all(current, watchers, &lines, house.clock_of(self.id)) {
                        Ok(()) => return Ok(()),
                        Err(error) => self.unfollowed(&error),
                    }
                }
                Tail::Elsewhere | Tail::Missing => {}
            }
        }
        *copy = None;
        let Some(stored) = house.live.load(self.id).await? else {
            // A table that is gone does not come back under these watchers' versions, and does not
            // know that anybody listened.
            watchers.end(Ending::Lost);
            self.stop_listening(house).await;
            return Ok(());
        };
        let told = watchers.told();
        let Replayed { copy: current, missed } = match Copy::replay(&stored, told) {
            Ok(replayed) => replayed,
            Err(Unfollowed::OtherVersion(engine)) => {
                house.counts.met_other_version(self.id, engine);
                return Err(Unready::OtherVersion);
            }
            Err(Unfollowed::Broken(reason)) => {
                let version = Some(stored.version());
                let halt = Halt { table: self.id, room: None, version, reason };
                house.halt(halt, stored.engine).await?;
                return Err(Unready::Halted);
            }
        };
        // Its last lines were lost, or a snapshot has taken the place of what was told.
        let parted = told.is_some() && missed.is_none();
        if parted {
            tracing::warn!(table = %self.id, ?told, now = ?current.at, "a table's history parted");
        }
        watchers.tell_anew(&current.table, current.at, parted);
        *copy = Some(current);
        Ok(())
    }

    fn unfollowed(&self, error: &Unfollowed) {
        tracing::warn!(table = %self.id, %error, "a copy of a table is read again");
    }

    fn halt_of(&self, current: &Copy<G>, reason: String) -> Halt {
        let room = Some(current.table.terms().room.clone());
        Halt { table: self.id, room, version: Some(current.at.version), reason }
    }

    /// Halts the table as this process knows it.
    pub(super) async fn halt(&self, house: &Inner<G>, reason: String) -> Result<(), Unavailable> {
        let mut state = self.lock(house).await?;
        let Some(current) = state.copy.take() else {
            return Ok(());
        };
        house.halt(self.halt_of(&current, reason), current.table.engine()).await
    }

    /// The table was voided: whoever watches it is told.
    pub(super) async fn close(&self) {
        self.state.lock().await.copy = None;
        self.end_watches(Ending::Voided).await;
    }

    pub(super) async fn end_watches(&self, why: Ending) {
        self.state.lock().await.watchers.end(why);
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
            self.list(house, table).await;
        }
    }

    async fn list(&self, house: &Inner<G>, table: &Table<G>) {
        let players: Vec<PlayerId> = table.occupants().map(|(_, who)| who.player).collect();
        let listed = Listed {
            room: &table.terms().room,
            seats: table.seat_count(),
            has_pot: !table.pot().is_zero(),
            players: &players,
        };
        if let Err(error) = house.live.list(self.id, listed).await {
            tracing::warn!(table = %self.id, %error, "a stale listing stays");
        }
    }

    async fn compact(&self, house: &Inner<G>, current: &mut Copy<G>) {
        if current.journal_lines < JOURNAL_LINES_MAX || current.table.phase().is_running() {
            return;
        }
        let compacted = match serde_json::to_string(&*current.table) {
            Ok(snapshot) => house.live.compact(self.id, current.at, &snapshot).await,
            Err(error) => Err(copy::unwritable(error)),
        };
        match compacted {
            Ok(true) => current.journal_lines = 0,
            Ok(false) => {}
            Err(error) => tracing::warn!(table = %self.id, %error, "a journal stays long"),
        }
    }
}

fn follow_all<G: Readable>(
    current: &mut Copy<G>,
    watchers: &mut Watchers<G>,
    lines: &[Entry],
    clock: &Clock,
) -> Result<(), Unfollowed> {
    for line in lines {
        let happened = current.follow(line)?;
        watchers.tell(&current.table, &happened, clock.now());
    }
    Ok(())
}

/// A call that waits for its answer, or is dropped before.
struct Waiting<'a>(&'a Level);

impl<'a> Waiting<'a> {
    fn new(level: &'a Level) -> Self {
        level.up();
        Self(level)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.down();
    }
}

/// An append whose answer nobody waits for any more, if it is dropped before: the line may be
/// stored, and this process is not told of its own.
struct Unheard<'a, G: Readable> {
    house: &'a Inner<G>,
    table: TableId,
}

impl<G: Readable> Unheard<'_, G> {
    fn heard(self) {
        std::mem::forget(self);
    }
}

impl<G: Readable> Drop for Unheard<'_, G> {
    fn drop(&mut self) {
        let mut unheard = self.house.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        unheard.push(self.table);
    }
}

/// Nobody sits there and nothing is left to win.
fn is_idle<G: Readable>(table: &Table<G>) -> bool {
    matches!(table.phase(), Phase::Waiting)
        && table.occupants().next().is_none()
        && table.pot() == Coins::ZERO
}
