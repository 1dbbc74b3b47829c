//! A spectator's view of a table: public information only, one whole turn late.
//!
//! The updates of a turn are held until another turn has passed, so a spectator cannot help a
//! player. Between games, and after the hands were shown, nothing is held.
//!
//! A turn is a prompt to the same seats, with all its countdowns; answers of several seats to one
//! prompt belong to one turn. Bounds: [`HELD_MAX`] updates are held; beyond it they are replaced by
//! a snapshot that is shown when it is old enough.
//!
//! No message contains a hidden card: messages are built for `Viewer::Public` only, from the table
//! of their time.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::game::{Game, Viewer};
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{Event, GameId, Phase, Table, TableId};
use bahay_engine::variants;
use bahay_shell::{
    DeliveryCursor, LastVisible, Notice, NoticeReceiver, Watch, WatchEnd, redact_events,
};

use crate::live_store::Point;
use crate::tables::{ShowError, Tables};
use crate::ws::protocol::{Closing, Message, OpenPrompt};
use bahay_engine::catalog::AnyGame;

/// The bound of held updates per spectator.
const HELD_MAX: usize = 256;

/// The number of turns that must begin after an update before it is shown: the next one, and the
/// one after it.
const TURNS_LATE: u64 = 2;

/// A spectator of one table.
pub(super) struct Spectator {
    table: TableId,
    notices: NoticeReceiver<Notice<AnyGame>>,
    turns: TurnCounter,
    /// The point of the last notice.
    at: Point,
    /// The last point that was delivered or skipped.
    cursor: DeliveryCursor,
    held: VecDeque<HeldUpdate>,
}

/// An event of the spectated table.
pub(super) enum SpectatorEvent {
    Updated,
    /// The table no longer exists.
    Closed(TableId, Closing),
    TooSlow,
    NodeGone,
}

/// A held update and its turn.
struct HeldUpdate {
    turn: u64,
    at: Point,
    content: HeldContent,
    table: Arc<Table<AnyGame>>,
}

/// The content of a held update.
enum HeldContent {
    Events(Arc<[Event<<AnyGame as Game>::Event>]>),
    /// A snapshot of the table.
    Snapshot(LastVisible),
}

/// Counts turns.
#[derive(Debug, Default)]
struct TurnCounter {
    turn: u64,
    /// The open prompt: its game, seats and countdown. `None` while no game runs.
    asked: Option<(GameId, SeatSet, u32)>,
}

impl TurnCounter {
    fn observe(&mut self, table: &Table<AnyGame>) {
        let prompt = match table.phase() {
            Phase::Playing(playing) => {
                Some((playing.game, playing.prompt.seats, playing.prompt.countdown))
            }
            variants!(Phase: Waiting, Preparing, Opening, Revealing, Settling) => None,
        };
        let is_same = match (self.asked, prompt) {
            (Some((game, seats, countdown)), Some((game_now, seats_now, countdown_now))) => {
                game == game_now && (seats == seats_now || countdown == countdown_now)
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.turn += u64::from(!is_same);
        self.asked = prompt;
    }

    fn is_old(&self, turn: u64) -> bool {
        self.asked.is_none() || turn + TURNS_LATE <= self.turn
    }
}

impl Spectator {
    /// Starts with a snapshot of the current table, which is held like any update.
    pub(super) fn new(table: TableId, watch: Watch<AnyGame>) -> Self {
        let Watch { at, last_visible, table: now, notices, .. } = watch;
        let mut turns = TurnCounter::default();
        turns.observe(&now);
        let first = HeldUpdate {
            turn: turns.turn,
            at,
            content: HeldContent::Snapshot(last_visible),
            table: now,
        };
        let held = VecDeque::from([first]);
        Self { table, notices, turns, at, cursor: DeliveryCursor::default(), held }
    }

    pub(super) fn table(&self) -> TableId {
        self.table
    }

    fn take_notice(&mut self, notice: Notice<AnyGame>) {
        let Notice { at, events, last_visible, table, is_snapshot, is_diverged } = notice;
        let is_snapshot = is_snapshot || is_diverged;
        if at.version <= self.at.version && !is_snapshot {
            return;
        }
        self.at = at;
        // The update belongs to the turn before it, even if it begins a new one.
        let turn = self.turns.turn;
        self.turns.observe(&table);
        if self.held.len() >= HELD_MAX {
            self.held.clear();
            let content = HeldContent::Snapshot(last_visible);
            self.held.push_back(HeldUpdate { turn: self.turns.turn, at, content, table });
            return;
        }
        let (content, turn) = if is_snapshot {
            (HeldContent::Snapshot(last_visible), self.turns.turn)
        } else {
            (HeldContent::Events(events), turn)
        };
        self.held.push_back(HeldUpdate { turn, at, content, table });
    }

    /// Returns the messages of updates that are old enough.
    pub(super) fn take_due(
        &mut self,
        tables: &Tables<AnyGame>,
    ) -> Result<Vec<Message<AnyGame>>, ShowError> {
        let mut messages = Vec::new();
        while let Some(held) = self.held.pop_front() {
            if !self.turns.is_old(held.turn) {
                self.held.push_front(held);
                break;
            }
            let (before, HeldUpdate { at, content, table, .. }) = (self.cursor, held);
            let server_time_ms = tables.time_at(&table);
            let (cursor, message) = tables.render(&table, |table| {
                let mut cursor = before;
                let view = table.view(None);
                let prompt = OpenPrompt::from_view(&view);
                match &content {
                    HeldContent::Snapshot(last_visible) => {
                        let shown = last_visible.point_for(Viewer::Public);
                        let Point { version, tag } = shown;
                        let view = Box::new(view);
                        let snapshot =
                            Message::Snapshot { version, tag, server_time_ms, view, prompt };
                        (DeliveryCursor::from_snapshot(at, shown), Some(snapshot))
                    }
                    HeldContent::Events(events) => {
                        let events = redact_events::<AnyGame>(events, Viewer::Public);
                        if events.is_empty() {
                            cursor.skip_hidden(at);
                            return (cursor, None);
                        }
                        cursor.advance(at);
                        let Point { version, tag } = cursor.to_client_point(at);
                        let ack = None;
                        let update =
                            Message::Update { version, tag, server_time_ms, events, prompt, ack };
                        (cursor, Some(update))
                    }
                }
            })?;
            self.cursor = cursor;
            messages.extend(message);
        }
        Ok(messages)
    }
}

/// Waits for the next event of the spectated table; never completes without one.
pub(super) async fn next_spectator_event(spectator: &mut Option<Box<Spectator>>) -> SpectatorEvent {
    let Some(spectator) = spectator else {
        return std::future::pending().await;
    };
    match spectator.notices.recv().await {
        Some(notice) => {
            spectator.take_notice(notice);
            SpectatorEvent::Updated
        }
        None => match spectator.notices.ending() {
            None => SpectatorEvent::TooSlow,
            Some(WatchEnd::Voided) => SpectatorEvent::Closed(spectator.table, Closing::Voided),
            Some(WatchEnd::Lost) => SpectatorEvent::Closed(spectator.table, Closing::Lost),
            Some(WatchEnd::NodeGone) => SpectatorEvent::NodeGone,
        },
    }
}
