//! A table as a spectator sees it: what lies open, one whole turn late.
//!
//! What happened in a turn is held back until another turn has come and gone. So nobody who plays
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

use bahay_shell::{WatchEnd, LastVisible, Notice, NoticeReceiver, DeliveryCursor, Watch, redacted};

use crate::live_store::Point;
use crate::tables::{ShowFailed, Tables};
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
    turns: Turns,
    /// The last that was taken in.
    at: Point,
    /// The last that was told or passed over.
    told: DeliveryCursor,
    held: VecDeque<Held>,
}

/// What has come of looking at a table.
pub(super) enum Seen {
    Something,
    /// The table is gone.
    Closed(TableId, Closing),
    TooSlow,
    NodeGone,
}

/// What happened, and in which turn.
struct Held {
    turn: u64,
    at: Point,
    what: What,
    table: Arc<Table<AnyGame>>,
}

/// What there is to tell.
enum What {
    Happened(Arc<[Event<<AnyGame as Game>::Event>]>),
    /// The whole table is shown.
    Anew(LastVisible),
}

/// Counts turns.
#[derive(Debug, Default)]
struct Turns {
    turn: u64,
    /// The open question of a game: who is asked, in which countdown. `None` while no game runs.
    asked: Option<(GameId, SeatSet, u32)>,
}

impl Turns {
    fn see(&mut self, table: &Table<AnyGame>) {
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
        let Watch { at, shown, table: now, notices, .. } = watch;
        let mut turns = Turns::default();
        turns.see(&now);
        let first = Held { turn: turns.turn, at, what: What::Anew(shown), table: now };
        let held = VecDeque::from([first]);
        Self { table, notices, turns, at, told: DeliveryCursor::default(), held }
    }

    pub(super) fn table(&self) -> TableId {
        self.table
    }

    fn take(&mut self, notice: Notice<AnyGame>) {
        let Notice { at, events, shown, table, anew, parted } = notice;
        let anew = anew || parted;
        if at.version <= self.at.version && !anew {
            return;
        }
        self.at = at;
        // It happened in the turn that was, whatever begins with it.
        let turn = self.turns.turn;
        self.turns.see(&table);
        if self.held.len() >= HELD_MAX {
            self.held.clear();
            let what = What::Anew(shown);
            self.held.push_back(Held { turn: self.turns.turn, at, what, table });
            return;
        }
        let (what, turn) = if anew {
            (What::Anew(shown), self.turns.turn)
        } else {
            (What::Happened(events), turn)
        };
        self.held.push_back(Held { turn, at, what, table });
    }

    /// What has become old enough, as messages.
    pub(super) fn due(
        &mut self,
        tables: &Tables<AnyGame>,
    ) -> Result<Vec<Message<AnyGame>>, ShowFailed> {
        let mut messages = Vec::new();
        while let Some(held) = self.held.pop_front() {
            if !self.turns.is_old(held.turn) {
                self.held.push_front(held);
                break;
            }
            let (before, Held { at, what, table, .. }) = (self.told, held);
            let server_time_ms = tables.time_at(&table);
            let (told, message) = tables.show(&table, |table| {
                let (mut told, view) = (before, table.view(None));
                let prompt = OpenPrompt::of(&view);
                match &what {
                    What::Anew(shown) => {
                        let shown = shown.to(Viewer::Public);
                        let Point { version, tag } = shown;
                        let view = Box::new(view);
                        let whole =
                            Message::Snapshot { version, tag, server_time_ms, view, prompt };
                        (DeliveryCursor::whole(at, shown), Some(whole))
                    }
                    What::Happened(events) => {
                        let events = redacted::<AnyGame>(events, Viewer::Public);
                        if events.is_empty() {
                            told.pass(at);
                            return (told, None);
                        }
                        told.show(at);
                        let Point { version, tag } = told.read_as(at);
                        let update =
                            Message::Update { version, tag, server_time_ms, events, prompt };
                        (told, Some(update))
                    }
                }
            })?;
            self.told = told;
            messages.extend(message);
        }
        Ok(messages)
    }
}

/// What happens next at the table that is watched; never, where none is.
pub(super) async fn next_seen(spectator: &mut Option<Box<Spectator>>) -> Seen {
    let Some(spectator) = spectator else {
        return std::future::pending().await;
    };
    match spectator.notices.recv().await {
        Some(notice) => {
            spectator.take(notice);
            Seen::Something
        }
        None => match spectator.notices.ending() {
            None => Seen::TooSlow,
            Some(WatchEnd::Voided) => Seen::Closed(spectator.table, Closing::Voided),
            Some(WatchEnd::Lost) => Seen::Closed(spectator.table, Closing::Lost),
            Some(WatchEnd::NodeGone) => Seen::NodeGone,
        },
    }
}
