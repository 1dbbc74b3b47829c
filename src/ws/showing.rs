//! What a player is shown of the table that its connection has joined: at first what was missed or
//! the whole table, then each thing that happens, until the table, the seat or the connection is
//! somebody else's or gone.

use std::sync::{Arc, OnceLock};

use bahay_engine::game::Game;
use bahay_engine::table::{Event, PlayerId, Table, TableId};

use crate::live_store::Point;
use crate::tables::{Ending, Notice, Notices, Spoiled, Watch};
use crate::ws::protocol::brief::Form;
use crate::ws::protocol::{Closing, Message, OpenPrompt, close};
use crate::ws::session::Session;
use crate::ws::wire::Ended;
use bahay_engine::catalog::AnyGame;

type Happened = Event<<AnyGame as Game>::Event>;
type Action = <AnyGame as Game>::Action;

/// The most updates that resume a connection; a longer gap is closed by a snapshot.
pub(super) const RESUMED_MAX: usize = 64;

pub(super) const SPOILED: Ended = (close::INTERNAL, "the server made a mistake; connect again");

/// Where the connection has joined.
pub(super) struct Seated {
    pub(super) table: TableId,
    /// The game that is played there.
    pub(super) kind: &'static str,
    /// What the client has been told.
    pub(super) at: Point,
    pub(super) notices: Notices<Notice<AnyGame>>,
    /// Why the notices have ended, once they have.
    pub(super) ending: Arc<OnceLock<Ending>>,
    /// The table knows this connection; from then on another one means it was replaced.
    pub(super) confirmed: bool,
}

impl Session {
    /// What a watch begins with: what was missed, or the table.
    pub(super) fn show(&mut self, watch: &Watch<AnyGame>) -> Result<(), Ended> {
        match &watch.missed {
            Some(missed) if missed.len() <= RESUMED_MAX && seat_is_steady(missed, self.player) => {
                let last = missed.len();
                for (place, missed) in (1..).zip(missed) {
                    self.update(missed.at, &missed.events, &watch.table, place == last)?;
                }
                Ok(())
            }
            Some(_) | None => self.snapshot(watch.at, &watch.table),
        }
    }

    /// A notice and all that wait behind it.
    pub(super) fn notices(&mut self, first: Option<Notice<AnyGame>>) -> Result<(), Ended> {
        let Some(first) = first else {
            let ending = self.seated.as_ref().and_then(|seated| seated.ending.get().copied());
            return match ending {
                None => Err((close::TOO_SLOW, "too slow; connect again and resume")),
                Some(Ending::NodeGone) => {
                    Err((close::GOING_AWAY, "this node was away; connect again and resume"))
                }
                Some(Ending::Voided) => {
                    self.closed(Closing::Voided);
                    Ok(())
                }
                Some(Ending::Lost) => {
                    self.closed(Closing::Lost);
                    Ok(())
                }
            };
        };
        self.notice(&first)?;
        self.waiting_notices()
    }

    /// The table is gone; the connection stays, for the next one.
    fn closed(&mut self, reason: Closing) {
        let closed = self.seated.take().map(|seated| seated.table);
        self.pending.extend(closed.map(|table| Message::Closed { table, reason }));
    }

    /// The notices that are there already.
    pub(super) fn waiting_notices(&mut self) -> Result<(), Ended> {
        while let Some(notice) = self.seated.as_mut().and_then(|seated| seated.notices.try_recv()) {
            self.notice(&notice)?;
        }
        Ok(())
    }

    fn notice(&mut self, notice: &Notice<AnyGame>) -> Result<(), Ended> {
        let Some(seated) = &mut self.seated else {
            return Ok(());
        };
        if notice.at.version <= seated.at.version && !notice.anew {
            return Ok(());
        }
        let is_next = notice.at.version == seated.at.version + 1;
        seated.at = notice.at;
        let seat = notice.table.seat_of(self.player);
        let connection =
            seat.and_then(|seat| notice.table.occupant(seat)).map(|who| who.connection);
        let was_confirmed = seated.confirmed;
        seated.confirmed |= connection == Some(Some(self.connection));
        if is_next && !notice.anew {
            self.update(notice.at, &notice.events, &notice.table, true)?;
        } else {
            self.snapshot(notice.at, &notice.table)?;
        }
        match connection {
            // The seat is free: the connection stays, for the next table.
            None => {
                self.seated = None;
                Ok(())
            }
            // The history that this connection joined is lost: it joins that one that there is.
            Some(other) if was_confirmed && notice.parted && other != Some(self.connection) => {
                Err((close::GOING_AWAY, "the table lost its last lines; connect again and resume"))
            }
            Some(Some(other)) if was_confirmed && other != self.connection => {
                self.seated = None;
                Err((close::REPLACED, "replaced by a newer connection"))
            }
            Some(_) => Ok(()),
        }
    }

    fn update(
        &mut self,
        at: Point,
        events: &[Happened],
        table: &Table<AnyGame>,
        is_last: bool,
    ) -> Result<(), Ended> {
        let (player, form) = (self.player, self.form);
        let (events, prompt) =
            self.shown(table, |table| update(events, table, player, form, is_last))?;
        let Point { version, tag } = at;
        let server_time_ms = self.state.lobby.tables().clock_of(table.id()).now();
        self.pending.push(Message::Update { version, tag, server_time_ms, events, prompt });
        Ok(())
    }

    fn snapshot(&mut self, at: Point, table: &Table<AnyGame>) -> Result<(), Ended> {
        let player = self.player;
        let (view, prompt) = self.shown(table, |table| {
            let view = table.view(Some(player));
            let prompt = OpenPrompt::of(&view);
            (Box::new(view), prompt)
        })?;
        let Point { version, tag } = at;
        let server_time_ms = self.state.lobby.tables().clock_of(table.id()).now();
        self.pending.push(Message::Snapshot { version, tag, server_time_ms, view, prompt });
        Ok(())
    }

    /// What this player may see of a table. A panic in that halts the table, and this connection
    /// ends: the next one hears of the halt when it joins.
    fn shown<T>(
        &self,
        table: &Table<AnyGame>,
        show: impl FnOnce(&Table<AnyGame>) -> T,
    ) -> Result<T, Ended> {
        let shown = self.state.lobby.tables().show(table, |table| {
            if let Some(tap) = self.state.taps.shown {
                tap(table);
            }
            show(table)
        });
        shown.map_err(|Spoiled| SPOILED)
    }
}

/// What a player is shown of events that led to a table; of the last of several, also the question
/// that the player is asked then.
pub(super) fn update(
    events: &[Happened],
    table: &Table<AnyGame>,
    player: PlayerId,
    form: Form,
    is_last: bool,
) -> (Vec<Happened>, Option<OpenPrompt<Action>>) {
    let viewer = table.viewer(player);
    let events = events.iter().filter_map(|event| event.redact::<AnyGame>(viewer)).collect();
    let is_asked = is_last && !form.is_short();
    let prompt = if is_asked { OpenPrompt::at(table, player) } else { None };
    (events, prompt)
}

/// The next notice of the table that was joined; never, before that.
pub(super) async fn next_notice(seated: &mut Option<Seated>) -> Option<Notice<AnyGame>> {
    match seated {
        Some(seated) => seated.notices.recv().await,
        None => std::future::pending().await,
    }
}

/// Whether the player kept one seat through all of this, so that one viewer may see all of it.
fn seat_is_steady(missed: &[crate::tables::Missed<AnyGame>], player: PlayerId) -> bool {
    use bahay_engine::table::Event;
    missed.iter().flat_map(|missed| missed.events.iter()).all(|event| match event {
        Event::Sat { player: sat, .. } | Event::Left { player: sat, .. } => *sat != player,
        _ => true,
    })
}
