//! Writes messages to a client as frames: for its session, and for the player's table while the
//! session sleeps. The shell decides what the table may write ([`DirectFeed`]).

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bahay_engine::table::{TableId, Timestamp};
use bahay_engine::variants;
use bahay_shell::{
    DeliveryCursor, DirectFeed, DirectLease, DirectWriter, Notice, WriteOutcome, redact_events,
};
use tokio_tungstenite::tungstenite;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::live_store::Point;
use crate::metrics::PlayMetrics;
use crate::rate_limit::{WriteBacklog, WriteHalf};
use crate::ws::hooks::FaultHooks;
use crate::ws::link::prompts::{has_open_prompt, open_prompt};
use crate::ws::link::state::LinkState;
use crate::ws::protocol::Message;
use crate::ws::protocol::brief::{Form, FormError, Shorthand};
use bahay_engine::catalog::AnyGame;

/// The capacity above which a scratch buffer is freed after use.
const SCRATCH_BYTES_MAX: usize = 64 * 1024;

/// The writer of one connection, shared by its session, its table and the link monitor.
#[derive(Debug)]
pub(in crate::ws) struct MessageWriter {
    write_half: Weak<WriteHalf>,
    play: Arc<PlayMetrics>,
    hooks: FaultHooks,
    link: LinkState,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    shorthand: Shorthand,
    feed: DirectFeed,
    clock: MessageClock,
    /// The number of queued frames that the metrics count.
    waiting: usize,
}

/// The latest time that a connection was shown of its table. Talk is dated by this node's clock, a
/// line also by its own time, which another node may have set later.
#[derive(Debug, Default)]
struct MessageClock {
    table: Option<TableId>,
    last: Timestamp,
}

impl MessageClock {
    /// Dates a message no earlier than previous ones about the same table.
    fn stamp(&mut self, message: &mut Message<AnyGame>) {
        if let Message::Snapshot { view, .. } = message
            && self.table != Some(view.table)
        {
            *self = Self { table: Some(view.table), ..Self::default() };
        }
        match message {
            Message::Snapshot { server_time_ms, .. }
            | Message::Update { server_time_ms, .. }
            | Message::Said { server_time_ms, .. } => {
                self.last = self.last.max(*server_time_ms);
                *server_time_ms = self.last;
            }
            variants!(Message: Hello, Ack, Refusal, Closed, Ticket, Invited, Standing,
                Advice) => {}
        }
    }
}

/// The scratch buffers of a thread; they hold no data between calls.
#[derive(Default)]
struct Scratch {
    message: Vec<u8>,
    frames: Vec<u8>,
    /// The end of each frame.
    ends: Vec<usize>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl MessageWriter {
    pub(in crate::ws) fn new(
        write_half: &Arc<WriteHalf>,
        form: Form,
        play: Arc<PlayMetrics>,
        hooks: FaultHooks,
    ) -> Self {
        let shorthand = Shorthand::new(form);
        let feed = DirectFeed::default();
        let state = State { shorthand, feed, clock: MessageClock::default(), waiting: 0 };
        let link = LinkState::default();
        Self { write_half: Arc::downgrade(write_half), play, hooks, link, state: Mutex::new(state) }
    }

    /// Returns the form of the connection's messages.
    pub(in crate::ws) fn form(&self) -> Form {
        self.state().shorthand.form()
    }

    /// Returns the state that the link monitor checks.
    pub(in crate::ws) fn link(&self) -> &LinkState {
        &self.link
    }

    /// Leases the connection to the table while the session waits and reads.
    pub(in crate::ws) fn grant_lease(&self, lease: Option<DirectLease>) {
        self.link.set_reading(true);
        self.state().feed.grant(lease);
    }

    /// Revokes the lease and returns its cursor; `None` without a lease.
    pub(in crate::ws) fn revoke_lease(&self) -> Option<DeliveryCursor> {
        self.link.set_reading(false);
        self.state().feed.revoke()
    }

    /// Queues messages as one batch, and returns the backlog after it.
    pub(in crate::ws) fn write(
        &self,
        messages: impl Iterator<Item = Message<AnyGame>>,
    ) -> Result<WriteBacklog, FormError> {
        self.state().write(self, messages)
    }

    /// Queues a ping.
    pub(in crate::ws) fn ping(&self) {
        let mut ping = Vec::with_capacity(2);
        append_frame(&mut ping, OpCode::Control(Control::Ping), &[]);
        if let Some(write_half) = self.write_half.upgrade() {
            self.report_backlog(write_half.write(&ping, &[ping.len()]));
        }
    }

    /// Reports the backlog to the metrics.
    pub(in crate::ws) fn report_backlog(&self, waiting: WriteBacklog) {
        self.state().report_backlog(&self.play, waiting);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DirectWriter<AnyGame> for MessageWriter {
    fn write(&self, notice: &Notice<AnyGame>, now: Timestamp) -> WriteOutcome {
        let mut state = self.state();
        let Some(player) = state.feed.recipient(notice, state.waiting > 0) else {
            return WriteOutcome::Skipped;
        };
        let table = &*notice.table;
        if let Some(hook) = self.hooks.before_showing {
            hook(table);
        }
        self.link.set_prompted(has_open_prompt(table, player));
        let events = redact_events::<AnyGame>(&notice.events, table.viewer(player));
        if events.is_empty() {
            state.feed.skip_hidden(notice.at);
            return WriteOutcome::Written;
        }
        let prompt = open_prompt(table, player, state.shorthand.form(), true);
        let Point { version, tag } = state.feed.to_client_point(notice.at);
        let server_time_ms = now;
        let update = Message::Update { version, tag, server_time_ms, events, prompt, ack: None };
        match state.write(self, [update].into_iter()) {
            Ok(waiting) => {
                state.feed.advance(notice.at);
                if waiting.is_empty() { WriteOutcome::Written } else { WriteOutcome::Backlogged }
            }
            // The session reports the error.
            Err(_) => WriteOutcome::Skipped,
        }
    }
}

impl State {
    fn write(
        &mut self,
        writer: &MessageWriter,
        messages: impl Iterator<Item = Message<AnyGame>>,
    ) -> Result<WriteBacklog, FormError> {
        SCRATCH.with_borrow_mut(|Scratch { message: text, frames, ends }| {
            frames.clear();
            ends.clear();
            for mut message in messages {
                text.clear();
                self.clock.stamp(&mut message);
                self.shorthand.write(&message, text)?;
                let data = match self.shorthand.form() {
                    Form::Full | Form::Brief => Data::Text,
                    Form::Compact => Data::Binary,
                };
                append_frame(frames, OpCode::Data(data), text);
                ends.push(frames.len());
                writer.play.messages_out.inc();
                writer.play.bytes_out.inc_by(text.len() as u64);
            }
            // Without a write half, the connection is closed already.
            let waiting =
                writer.write_half.upgrade().map(|write_half| write_half.write(frames, ends));
            let waiting = waiting.unwrap_or_default();
            self.report_backlog(&writer.play, waiting);
            for scratch in [text, frames] {
                if scratch.capacity() > SCRATCH_BYTES_MAX {
                    *scratch = Vec::new();
                }
            }
            Ok(waiting)
        })
    }

    fn report_backlog(&mut self, play: &PlayMetrics, waiting: WriteBacklog) {
        if waiting.frames != self.waiting {
            let [now, before] = [waiting.frames, self.waiting].map(|frames| frames as i64);
            play.messages_waiting.inc_by(now - before);
            self.waiting = waiting.frames;
        }
    }
}

/// Appends a complete frame of a server.
fn append_frame(frames: &mut Vec<u8>, opcode: OpCode, payload: &[u8]) {
    let header = FrameHeader { opcode, ..FrameHeader::default() };
    // Writing to a vector cannot fail.
    let _ = header.format(payload.len() as u64, frames);
    frames.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bahay_engine::seat::Seat;
    use bahay_engine::table::{
        Clocks, ConnectionId, Event, Input, PlayerId, Table, TableId, Timestamp,
    };
    use bahay_shell::{
        DeliveryCursor, DirectLease, DirectWriter, LastVisible, Notice, WriteOutcome,
    };
    use tokio::io::AsyncReadExt as _;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;
    use uuid::Uuid;

    use super::{MessageClock, MessageWriter};
    use crate::entropy;
    use crate::ids::Tag;
    use crate::live_store::Point;
    use crate::lobby::house_rooms;
    use crate::rate_limit::WriteHalf;
    use crate::social::Phrase;
    use crate::ws::hooks::FaultHooks;
    use crate::ws::protocol::Message;
    use crate::ws::protocol::brief::Form;
    use bahay_engine::catalog::AnyGame;

    const PLAYER: PlayerId = PlayerId(Uuid::from_u128(1));
    const CONNECTION: ConnectionId = ConnectionId(Uuid::from_u128(2));

    /// Returns a table where the player sits by this connection.
    fn table(connection: ConnectionId) -> Table<AnyGame> {
        let terms = house_rooms(Clocks::default())[0].terms().clone();
        let mut table = Table::<AnyGame>::new(TableId(Uuid::from_u128(3)), terms);
        for input in [Input::sit(PLAYER, "Ana"), Input::Connect { player: PLAYER, connection }] {
            let transition = table.decide(Timestamp::default(), input, entropy::game_entropy);
            table = transition.expect("there is a seat").table;
        }
        table
    }

    fn cursor(version: u64) -> DeliveryCursor {
        DeliveryCursor::from_snapshot(point(version), point(version))
    }

    fn point(version: u64) -> Point {
        Point { version, tag: Tag::default() }
    }

    fn notice(version: u64, connection: ConnectionId) -> Notice<AnyGame> {
        let presence =
            Event::Presence { seat: Seat::new(0).expect("the first seat"), connected: true };
        let countdown = Event::Countdown { deadline_ms: Timestamp::default() };
        Notice {
            at: point(version),
            events: Arc::new([presence, countdown]),
            last_visible: LastVisible::default(),
            table: Arc::new(table(connection)),
            is_snapshot: false,
            is_diverged: false,
        }
    }

    async fn connected_pair() -> (Arc<WriteHalf>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let client = TcpStream::connect(address).await.expect("it listens");
        let (stream, _) = listener.accept().await.expect("a client has connected");
        stream.writable().await.expect("it is there");
        (Arc::new(WriteHalf::new(stream.into_split().1)), client)
    }

    #[tokio::test]
    async fn the_next_line_is_written_directly_and_all_others_are_left_to_the_session() {
        let (write_half, mut client) = connected_pair().await;
        write_half.begin_frames();
        let writer =
            MessageWriter::new(&write_half, Form::Full, Arc::default(), FaultHooks::default());
        let write =
            |notice: &Notice<AnyGame>| DirectWriter::write(&writer, notice, Timestamp::default());
        let next = notice(8, CONNECTION);
        assert_eq!(write(&next), WriteOutcome::Skipped, "no lease is granted");
        let table = next.table.id();
        writer.grant_lease(Some(DirectLease {
            table,
            player: PLAYER,
            connection: CONNECTION,
            cursor: cursor(7),
        }));
        for other in [
            notice(7, CONNECTION),
            notice(9, CONNECTION),
            notice(8, ConnectionId(Uuid::from_u128(9))),
            Notice { is_snapshot: true, ..next.clone() },
        ] {
            assert_eq!(write(&other), WriteOutcome::Skipped, "{other:?}");
        }
        assert_eq!(write(&next), WriteOutcome::Written);
        assert_eq!(write(&next), WriteOutcome::Skipped, "the line was delivered already");
        assert_eq!(write(&notice(9, CONNECTION)), WriteOutcome::Written);
        assert_eq!(writer.revoke_lease(), Some(cursor(9)));
        assert_eq!(
            (writer.revoke_lease(), write(&notice(10, CONNECTION))),
            (None, WriteOutcome::Skipped)
        );
        for version in [8, 9] {
            let mut header = [0; 4];
            client.read_exact(&mut header).await.expect("a frame comes");
            assert_eq!(header[..2], [0x81, 126], "a whole text of more than 125 bytes");
            let length = u16::from_be_bytes([header[2], header[3]]);
            let mut text = vec![0; usize::from(length)];
            client.read_exact(&mut text).await.expect("all bytes arrive");
            let text: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
            assert_eq!((&text["type"], &text["version"]), (&"update".into(), &version.into()));
        }
        let more = timeout(Duration::from_millis(50), client.read_u8()).await;
        assert!(more.is_err(), "{more:?}");
    }

    #[test]
    fn no_message_about_a_table_is_dated_before_the_previous_one() {
        let phrase = |ms| Message::<AnyGame>::Said {
            player: PLAYER,
            phrase: Phrase::Hello,
            server_time_ms: Timestamp::from_ms(ms),
        };
        let mut clock = MessageClock::default();
        let mut dated = |mut message| {
            clock.stamp(&mut message);
            message
        };
        for (written, expected) in [(5, 5), (9, 9), (7, 9), (9, 9), (10, 10)] {
            assert_eq!(dated(phrase(written)), phrase(expected));
        }
        // Another table may have an earlier time.
        let table = table(CONNECTION);
        let whole = Message::Snapshot {
            version: 1,
            tag: Tag::default(),
            server_time_ms: Timestamp::from_ms(3),
            view: Box::new(table.view(Some(PLAYER))),
            prompt: None,
        };
        assert_eq!(dated(whole.clone()), whole);
        assert_eq!(dated(phrase(4)), phrase(4));
    }
}
