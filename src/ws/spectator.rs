//! A table as a spectator sees it: what lies open, one whole turn late.
//!
//! HeldContent happened in a turn is held back until another turn has come and gone. So nobody who plays
//! learns anything from a spectator that would still help. Between games, and when the hands have
//! been shown, nothing is held back.
//!
//! A turn is a question to the same seats, with all its countdowns; answers to one question of
//! several seats belong to one turn. Bounds: [`HELD_MAX`] updates are held; of more, the last state
//! is shown as a whole when its time has come.
//!
//! Nothing here sees a card that is not open: messages are made of `Viewer::Public` alone, of the
//! table as it was then.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::game::{Game, Viewer};
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{Event, GameId, Phase, Table, TableId};

use bahay_shell::{WatchEnd, LastVisible, Notice, NoticeReceiver, DeliveryCursor, Watch, redact_events};

use crate::live_store::Point;
use crate::tables::{ShowError, Tables};
use crate::ws::protocol::{Closing, Message, OpenPrompt};
use bahay_engine::catalog::AnyGame;

/// Updates that are held back for one spectator.
const HELD_MAX: usize = 256;

/// How many turns must have begun since a thing happened in one: the next, and the one after it.
const TURNS_LATE: u64 = 2;

/// A spectator of one table.
pub(super) struct Spectator {
    table: TableId,
    notices: NoticeReceiver<Notice<AnyGame>>,
    turns: TurnCounter,
    /// The last that was taken in.
    at: Point,
    /// The last that was told or passed over.
    cursor: DeliveryCursor,
    held: VecDeque<HeldUpdate>,
}

/// HeldContent has come of looking at a table.
pub(super) enum SpectatorEvent {
    Updated,
    /// The table is gone.
    Closed(TableId, Closing),
    TooSlow,
    NodeGone,
}

/// HeldContent happened, and in which turn.
struct HeldUpdate {
    turn: u64,
    at: Point,
    content: HeldContent,
    table: Arc<Table<AnyGame>>,
}

/// HeldContent there is to tell.
enum HeldContent {
    Events(Arc<[Event<<AnyGame as Game>::Event>]>),
    /// The whole table is shown.
    Snapshot(LastVisible),
}

/// Counts turns.
#[derive(Debug, Default)]
struct TurnCounter {
    turn: u64,
    /// The open question of a game: who is asked, in which countdown. `None` while no game runs.
    asked: Option<(GameId, SeatSet, u32)>,
}

impl TurnCounter {
    fn observe(&mut self, table: &Table<AnyGame>) {
        let asked = match table.phase() {
            Phase::Playing(playing) => {
                Some((playing.game, playing.asked.seats, playing.asked.countdown))
            }
            Phase::Waiting
            | Phase::Preparing(_)
            | Phase::Opening(_)
            | Phase::Revealing(_)
            | Phase::Settling(_) => None,
        };
        let is_same = match (self.asked, asked) {
            (Some((game, seats, countdown)), Some((game_now, seats_now, countdown_now))) => {
                game == game_now && (seats == seats_now || countdown == countdown_now)
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.turn += u64::from(!is_same);
        self.asked = asked;
    }

    fn is_old(&self, turn: u64) -> bool {
        self.asked.is_none() || turn + TURNS_LATE <= self.turn
    }
}

impl Spectator {
    /// From what the table is now, which is shown as a whole when it is old enough.
    pub(super) fn new(table: TableId, watch: Watch<AnyGame>) -> Self {
        let Watch { at, last_visible, table: now, notices, .. } = watch;
        let mut turns = TurnCounter::default();
        turns.observe(&now);
        let first = HeldUpdate { turn: turns.turn, at, content: HeldContent::Snapshot(last_visible), table: now };
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
        // It happened in the turn that was, whatever begins with it.
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

    /// HeldContent has become old enough, as messages.
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
                let (mut cursor, view) = (before, table.view(None));
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
                        let update =
                            Message::Update { version, tag, server_time_ms, events, prompt };
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

/// HeldContent happens next at the table that is watched; never, where none is.
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
