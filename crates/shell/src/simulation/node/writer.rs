//! Direct writes: a table writes updates to a connection while its session sleeps.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bahay_engine::game::Viewer;
use bahay_engine::table::{ConnectionId, PlayerId, TableId, Timestamp};

use crate::simulation::wire::Message;
use crate::simulation::{Mutation, SimulatedGame};
use crate::{DirectFeed, DirectWriter, Notice, OpenPrompt, WriteOutcome, redact_events};

/// Every so many direct writes, one is backlogged.
const BACKLOG_EVERY: u32 = 16;

/// An update that a table wrote to a connection while its session slept.
#[derive(Debug)]
pub(crate) struct DirectMessage<G: SimulatedGame> {
    pub(crate) connection: ConnectionId,
    pub(crate) player: PlayerId,
    pub(crate) table: TableId,
    pub(crate) message: Message<G>,
}

/// The direct writer of one connection.
pub(crate) struct Writer<G: SimulatedGame> {
    connection: ConnectionId,
    feed: Mutex<DirectFeed>,
    /// The client does not read now.
    pub(crate) is_blocked: AtomicBool,
    writes: AtomicU32,
    mutation: Option<Mutation>,
    /// The updates of all connections of the node, sent before anything else happens there.
    written: Arc<Mutex<Vec<DirectMessage<G>>>>,
}

impl<G: SimulatedGame> Writer<G> {
    pub(crate) fn new(
        connection: ConnectionId,
        mutation: Option<Mutation>,
        written: Arc<Mutex<Vec<DirectMessage<G>>>>,
    ) -> Self {
        Self {
            connection,
            feed: Mutex::default(),
            is_blocked: AtomicBool::new(false),
            writes: AtomicU32::new(0),
            mutation,
            written,
        }
    }

    pub(crate) fn feed(&self) -> MutexGuard<'_, DirectFeed> {
        self.feed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: SimulatedGame> fmt::Debug for Writer<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer({})", self.connection)
    }
}

impl<G: SimulatedGame> DirectWriter<G> for Writer<G> {
    fn write(&self, notice: &Notice<G>, now: Timestamp) -> WriteOutcome {
        let mut feed = self.feed();
        let Some(player) = feed.recipient(notice, self.is_blocked.load(Ordering::Relaxed)) else {
            return WriteOutcome::Skipped;
        };
        let at = notice.at;
        let table = &*notice.table;
        let viewer = match self.mutation {
            Some(Mutation::ForgetsToRedact) => Viewer::Everything,
            _ => table.viewer(player),
        };
        let events = redact_events::<G>(&notice.events, viewer);
        if events.is_empty() {
            feed.skip_hidden(at);
            return WriteOutcome::Written;
        }
        let prompt = OpenPrompt::from_view(&table.view(Some(player)));
        let version = feed.to_client_point(at).version;
        let tag = at.tag;
        let server_time_ms = now;
        let message = Message::Update { version, tag, server_time_ms, events, prompt, ack: None };
        let connection = self.connection;
        let table = table.id();
        let written = DirectMessage { connection, player, table, message };
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(written);
        feed.advance(at);
        let is_drained = !self.writes.fetch_add(1, Ordering::Relaxed).is_multiple_of(BACKLOG_EVERY);
        if is_drained { WriteOutcome::Written } else { WriteOutcome::Backlogged }
    }
}
