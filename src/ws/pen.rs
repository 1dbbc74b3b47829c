//! Writes messages to a client as frames: for its session, and for the table where its player sits.
//!
//! Most of what a player is told is what others did, and then its session would be woken only to
//! write it. So while a session waits it lends its pen ([`Pen::lend`]), and whoever has decided on
//! something at the table writes the update as well. Whatever is out of the ordinary is left to the
//! session: a gap, the whole table, a seat or a connection that has changed, a client that does not
//! take what it is sent. Before it does anything the session takes its pen back
//! ([`Pen::take_back`]), so nothing is told twice or in another order.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bahay_engine::table::{ConnectionId, PlayerId, TableId, Timestamp};
use tokio_tungstenite::tungstenite;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::edge::{Outlet, Waiting};
use crate::live::Point;
use crate::metrics::Play;
use crate::tables::catalog::Tongits;
use crate::tables::{AtOnce, Notice, Told};
use crate::ws::door::Taps;
use crate::ws::protocol::Message;
use crate::ws::protocol::brief::{Form, FormError, Shorthand};
use crate::ws::showing::update;

/// What is written with is kept, unless it has grown beyond this.
const SCRATCH_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Pen {
    outlet: Weak<Outlet>,
    play: Arc<Play>,
    taps: Taps,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    shorthand: Shorthand,
    lent: Option<Lent>,
    /// How many writes wait, as the figures know it.
    waiting: usize,
}

/// To whom, and what the client has been told until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lent {
    pub(super) table: TableId,
    pub(super) player: PlayerId,
    pub(super) connection: ConnectionId,
    pub(super) at: Point,
}

/// What is written with: one of each thread, since nothing is kept in it.
#[derive(Default)]
struct Scratch {
    message: Vec<u8>,
    frames: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Pen {
    pub(super) fn new(outlet: &Arc<Outlet>, form: Form, play: Arc<Play>, taps: Taps) -> Self {
        let state = State { shorthand: Shorthand::new(form), lent: None, waiting: 0 };
        Self { outlet: Arc::downgrade(outlet), play, taps, state: Mutex::new(state) }
    }

    /// How messages look here.
    pub(super) fn form(&self) -> Form {
        self.state().shorthand.form()
    }

    /// Updates that follow are written by the table.
    pub(super) fn lend(&self, lent: Lent) {
        self.state().lent = Some(lent);
    }

    /// No more. The last that the table has written, or what was there before; `None` where the
    /// pen was not lent.
    pub(super) fn take_back(&self) -> Option<Point> {
        self.state().lent.take().map(|lent| lent.at)
    }

    /// Writes messages together, behind what waits. Says what waits then.
    pub(super) fn write(
        &self,
        messages: impl Iterator<Item = Message<Tongits>>,
    ) -> Result<Waiting, FormError> {
        self.state().write(self, messages)
    }

    /// Asks whether the client is there, behind what waits.
    pub(super) fn ping(&self) {
        let mut ping = Vec::with_capacity(2);
        frame(&mut ping, OpCode::Control(Control::Ping), &[]);
        if let Some(outlet) = self.outlet.upgrade() {
            self.show(outlet.write(&ping));
        }
    }

    /// So much waits.
    pub(super) fn show(&self, waiting: Waiting) {
        self.state().show(&self.play, waiting);
    }
}

impl AtOnce<Tongits> for Pen {
    fn tell(&self, notice: &Notice<Tongits>, now: Timestamp) -> Told {
        let mut state = self.state();
        let Some(lent) = state.lent else {
            return Told::Nothing;
        };
        let table = &*notice.table;
        let is_next = notice.at.version == lent.at.version + 1 && !notice.anew;
        if !is_next || table.id() != lent.table || state.waiting > 0 {
            return Told::Nothing;
        }
        let seat = table.seat_of(lent.player);
        let connection = seat.and_then(|seat| table.occupant(seat)).and_then(|who| who.connection);
        if connection != Some(lent.connection) {
            return Told::Nothing;
        }
        if let Some(tap) = self.taps.shown {
            tap(table);
        }
        let form = state.shorthand.form();
        let (events, prompt) = update(&notice.events, table, lent.player, form, true);
        let Point { version, tag } = notice.at;
        let update = Message::Update { version, tag, server_time_ms: now, events, prompt };
        match state.write(self, [update].into_iter()) {
            Ok(waiting) => {
                state.lent = Some(Lent { at: notice.at, ..lent });
                if waiting.is_nothing() { Told::All } else { Told::NotTaken }
            }
            // The session says so.
            Err(_) => Told::Nothing,
        }
    }
}

impl Pen {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(
        &mut self,
        pen: &Pen,
        messages: impl Iterator<Item = Message<Tongits>>,
    ) -> Result<Waiting, FormError> {
        SCRATCH.with_borrow_mut(|Scratch { message: text, frames }| {
            frames.clear();
            for message in messages {
                text.clear();
                self.shorthand.write(&message, text)?;
                let data = match self.shorthand.form() {
                    Form::Full | Form::Brief => Data::Text,
                    Form::Compact => Data::Binary,
                };
                frame(frames, OpCode::Data(data), text);
                pen.play.messages_out.one();
                pen.play.bytes_out.more(text.len());
            }
            // Without it nobody hears it any more.
            let waiting = pen.outlet.upgrade().map(|outlet| outlet.write(frames));
            let waiting = waiting.unwrap_or_default();
            self.show(&pen.play, waiting);
            for scratch in [text, frames] {
                if scratch.capacity() > SCRATCH_BYTES_MAX {
                    *scratch = Vec::new();
                }
            }
            Ok(waiting)
        })
    }

    fn show(&mut self, play: &Play, waiting: Waiting) {
        play.messages_waiting.by(waiting.chunks, self.waiting);
        self.waiting = waiting.chunks;
    }
}

/// Appends a whole frame of a server.
fn frame(frames: &mut Vec<u8>, opcode: OpCode, payload: &[u8]) {
    let header = FrameHeader { opcode, ..FrameHeader::default() };
    // There is room for as much as there is memory.
    let _ = header.format(payload.len() as u64, frames);
    frames.extend_from_slice(payload);
}
