//! The table's side of one connection: a snapshot or the missed updates first, then every update,
//! until the table, the seat or the connection ends or changes hands.
//!
//! Joining takes three steps, each a [`SessionCall`] to the driver: find the seat, watch the table,
//! inform the table of the connection. Queued notices are delivered before any answer, so an ack
//! never precedes its effects. A player may also preview the table, which omits the third step
//! until the client sends a command: of several connections that a client opens at once, the table
//! then learns only of the one in use, and none is replaced.
//!
//! Out of scope: the form of messages ([`Presenter`]), and all of a connection beside its table.

use bahay_engine::game::{GameRules, Viewer};
use bahay_engine::table::{ConnectionId, Input, PlayerId, Readable, Rejection, Table, TableId};

use crate::context::Context;
use crate::delivery::direct::DirectLease;
use crate::delivery::notice::{Notice, WatchEnd};
use crate::delivery::notices::NoticeReceiver;
use crate::delivery::presenter::{CommandRefusal, Presenter};
use crate::delivery::watchers::Watch;
use crate::failure::TableError;
use crate::guard::catch_panic;
use crate::halting::Halt;
use crate::history::delivery_cursor::{DeliveryCursor, LastVisible, redact_events};
use crate::history::journal::{Point, Tag};
use crate::history::replica::{AppliedLine, has_steady_seat};
use crate::mutation::Mutation;

/// A call that a session needs from its process.
#[derive(Debug)]
pub enum SessionCall<G: Readable> {
    /// Finds the player's seat. Answered by [`PlayerSession::handle_seat`], or by
    /// [`PlayerSession::cancel_join`] if the seat cannot be looked up.
    FindSeat,
    /// Watches a table. Answered by [`PlayerSession::handle_watch`]. `from` is the tag of the last
    /// delivered line.
    Watch { table: TableId, from: Option<Tag> },
    /// Submits an input. Answered by [`PlayerSession::handle_submitted`].
    Submit { table: TableId, input: Input<G::Action> },
}

/// The reason why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The client did not read fast enough; it resumes by version.
    TooSlow,
    /// This node was declared dead.
    NodeGone,
    /// The table lost its last lines, and the players who joined by them.
    HistoryDiverged,
    /// A newer connection of the player replaced this one.
    Replaced,
    /// The table could not be shown.
    ShowFailed,
}

/// The table's side of one connection.
#[derive(Debug)]
pub struct PlayerSession<G: Readable> {
    player: PlayerId,
    connection: ConnectionId,
    joined: Option<JoinedTable<G>>,
    pending: Option<OpenCommand>,
}

/// The table that the connection has joined.
#[derive(Debug)]
struct JoinedTable<G: Readable> {
    table: TableId,
    /// The kind of the table's game.
    kind: &'static str,
    cursor: DeliveryCursor,
    notices: NoticeReceiver<Notice<G>>,
    /// The table knows this connection. From then on, another connection in the seat means that
    /// this one was replaced.
    is_confirmed: bool,
    /// The table is shown but does not know this connection.
    is_previewing: bool,
}

/// How a connection joins its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JoinMode {
    Connect,
    Preview,
}

/// The command in progress.
#[derive(Clone, Copy, Debug)]
enum OpenCommand {
    /// A join: `from` is the client's point, `of` the table that it belongs to.
    Join {
        id: u32,
        from: Option<Point>,
        of: Option<TableId>,
        mode: JoinMode,
    },
    Watch {
        id: u32,
        table: TableId,
        from: Option<Point>,
        mode: JoinMode,
    },
    Connect {
        id: u32,
        mode: JoinMode,
    },
    Command {
        id: u32,
    },
}

impl<G: Readable> PlayerSession<G> {
    pub fn new(player: PlayerId, connection: ConnectionId) -> Self {
        Self { player, connection, joined: None, pending: None }
    }

    pub fn player(&self) -> PlayerId {
        self.player
    }

    pub fn connection(&self) -> ConnectionId {
        self.connection
    }

    pub fn joined_table(&self) -> Option<TableId> {
        self.joined.as_ref().map(|joined| joined.table)
    }

    /// Returns the kind of the joined table's game, which decides how actions are read.
    pub fn kind(&self) -> Option<&'static str> {
        self.joined.as_ref().map(|joined| joined.kind)
    }

    pub fn notices(&mut self) -> Option<&mut NoticeReceiver<Notice<G>>> {
        self.joined.as_mut().map(|joined| &mut joined.notices)
    }

    /// Returns the lease for direct delivery while this session waits. Valid only after all earlier
    /// messages are written.
    pub fn direct_lease(&self) -> Option<DirectLease> {
        let joined = self.joined.as_ref().filter(|joined| joined.is_confirmed)?;
        let Self { player, connection, .. } = *self;
        Some(DirectLease { table: joined.table, player, connection, cursor: joined.cursor })
    }

    /// Takes the cursor back from a revoked lease. Must precede every other call.
    pub fn restore_cursor(&mut self, cursor: Option<DeliveryCursor>) {
        if let (Some(cursor), Some(joined)) = (cursor, &mut self.joined) {
            joined.cursor = cursor;
        }
    }

    /// Joins the table where the player sits. `from` is the client's point in the table `of`.
    pub fn join(&mut self, id: u32, from: Option<Point>, of: Option<TableId>) -> SessionCall<G> {
        self.pending = Some(OpenCommand::Join { id, from, of, mode: JoinMode::Connect });
        SessionCall::FindSeat
    }

    /// Joins without informing the table, which learns of this connection by
    /// [`PlayerSession::connect`].
    pub fn preview(&mut self, id: u32, from: Option<Point>, of: Option<TableId>) -> SessionCall<G> {
        self.pending = Some(OpenCommand::Join { id, from, of, mode: JoinMode::Preview });
        SessionCall::FindSeat
    }

    /// Returns true if the table is shown but does not know this connection.
    pub fn is_previewing(&self) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined.is_previewing)
    }

    /// Connects a previewing client that sends its first command, with that command's id. If the
    /// table refuses, the command is refused too, and may be sent again.
    pub fn connect(&mut self, id: u32) -> Option<SessionCall<G>> {
        let joined = self.joined.as_mut().filter(|joined| joined.is_previewing)?;
        joined.is_previewing = false;
        self.pending = Some(OpenCommand::Connect { id, mode: JoinMode::Preview });
        let Self { player, connection, .. } = *self;
        let input = Input::Connect { player, connection };
        Some(SessionCall::Submit { table: joined.table, input })
    }

    /// Submits a command to the joined table.
    pub fn submit_command(
        &mut self,
        out: &mut impl Presenter<G>,
        id: u32,
        input: Input<G::Action>,
    ) -> Option<SessionCall<G>> {
        let Some(joined) = &mut self.joined else {
            out.send_refusal(id, CommandRefusal::NotJoined);
            return None;
        };
        // The result is read after the decision, so notices need not wake the task.
        joined.notices.clear_waker();
        self.pending = Some(OpenCommand::Command { id });
        Some(SessionCall::Submit { table: joined.table, input })
    }

    /// Cancels a join whose seat lookup failed. The driver has sent the refusal.
    pub fn cancel_join(&mut self) {
        self.pending = None;
    }

    /// Handles the result of [`SessionCall::FindSeat`].
    ///
    /// # Errors
    /// Returns the reason if the connection ends.
    pub fn handle_seat(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        seat: Option<TableId>,
    ) -> Result<Option<SessionCall<G>>, SessionEnd> {
        let Some(OpenCommand::Join { id, from, of, mode }) = self.pending.take() else {
            return Ok(None);
        };
        let Some(table) = seat else {
            return self.refuse_unseated(ctx, out, id);
        };
        // On a connection that has joined before, the delivered point counts, not the client's
        // point when it sent the command: the lines in between were on their way and must not be
        // sent twice.
        let sent = self.joined.as_ref().filter(|joined| joined.table == table);
        let sent = sent.filter(|_| !ctx.has_mutation(Mutation::RepeatsWhatWasSent));
        let from = from.filter(|_| of == Some(table));
        let sent = sent.map(|joined| joined.cursor.to_client_point(joined.cursor.position()));
        let from = from.map(|from| sent.unwrap_or(from));
        self.pending = Some(OpenCommand::Watch { id, table, from, mode });
        Ok(Some(SessionCall::Watch { table, from: from.map(|from| from.tag) }))
    }

    /// Handles the result of [`SessionCall::Watch`].
    ///
    /// # Errors
    /// Returns the reason if the connection ends.
    pub fn handle_watch(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        watch: Result<Watch<G>, TableError<G::Refusal>>,
    ) -> Result<Option<SessionCall<G>>, SessionEnd> {
        let Some(OpenCommand::Watch { id, table, from, mode }) = self.pending.take() else {
            return Ok(None);
        };
        let watch = match watch {
            Ok(watch) => watch,
            Err(error) => {
                out.send_refusal(id, CommandRefusal::Table(&error));
                return Ok(None);
            }
        };
        // The seat was freed since its lookup, so nothing of this table is shown.
        let lingers = ctx.has_mutation(Mutation::WatchesAfterARefusedJoin);
        if watch.table.seat_of(self.player).is_none() && !lingers {
            drop(watch);
            return self.refuse_unseated(ctx, out, id);
        }
        let Ok(cursor) = self.deliver_initial(ctx, out, &watch, from) else {
            self.joined = None;
            out.send_refusal(id, CommandRefusal::Table(&TableError::Halted));
            return Ok(None);
        };
        let kind = watch.table.terms().rules.kind();
        let notices = watch.notices;
        let is_previewing = mode == JoinMode::Preview;
        self.joined =
            Some(JoinedTable { table, kind, cursor, notices, is_confirmed: false, is_previewing });
        if is_previewing {
            out.send_ack(id, self.delivered_version(), None);
            return Ok(None);
        }
        self.pending = Some(OpenCommand::Connect { id, mode });
        let Self { player, connection, .. } = *self;
        Ok(Some(SessionCall::Submit { table, input: Input::Connect { player, connection } }))
    }

    /// Handles the result of [`SessionCall::Submit`].
    ///
    /// # Errors
    /// Returns the reason if the connection ends.
    pub fn handle_submitted(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        submitted: Result<u64, TableError<G::Refusal>>,
    ) -> Result<(), SessionEnd> {
        let (id, connects, is_joining) = match self.pending.take() {
            Some(OpenCommand::Command { id }) => (id, false, false),
            Some(OpenCommand::Connect { id, mode }) => (id, true, mode == JoinMode::Connect),
            Some(OpenCommand::Join { .. } | OpenCommand::Watch { .. }) | None => return Ok(()),
        };
        let is_connected =
            matches!(submitted, Err(TableError::Rejected(Rejection::AlreadyConnected)));
        if let Some(joined) = self.joined.as_mut().filter(|_| connects && is_connected) {
            joined.is_confirmed = true;
        }
        let version = submitted.as_ref().ok().copied();
        let (client_version, line) = self.deliver_queued_notices(ctx, out, version)?;
        match submitted {
            Ok(version) => {
                self.check_delivered(version)?;
                // A previewing client had its ack with the preview, and its command is still to be
                // carried out.
                if is_joining || !connects {
                    out.send_ack(id, client_version, line);
                }
            }
            // The connection joined again where it had joined, which changes nothing.
            Err(_) if connects && is_connected => {
                if is_joining {
                    out.send_ack(id, self.delivered_version(), None);
                }
            }
            Err(error) => {
                out.send_refusal(id, CommandRefusal::Table(&error));
                // The seat was freed between the watch and the connect.
                let is_over = matches!(error, TableError::Rejected(_) | TableError::Missing);
                if connects && is_over && !ctx.has_mutation(Mutation::WatchesAfterARefusedJoin) {
                    self.joined = None;
                } else if let Some(joined) = self.joined.as_mut().filter(|_| connects) {
                    joined.is_previewing = !is_joining;
                }
            }
        }
        Ok(())
    }

    /// Returns the version of the last delivered line, in the client's versions.
    fn delivered_version(&self) -> Option<u64> {
        let cursor = self.joined.as_ref()?.cursor;
        Some(cursor.to_client_point(cursor.position()).version)
    }

    /// Checks that an acknowledged line is delivered. A watch that has ended meanwhile, such as
    /// that of a node that was declared dead, delivers nothing more: then the connection ends
    /// without an answer, and the next connection shows the client what was stored.
    fn check_delivered(&self, version: u64) -> Result<(), SessionEnd> {
        match &self.joined {
            Some(joined) if joined.cursor.position().version < version => {
                match joined.notices.ending() {
                    Some(WatchEnd::NodeGone) => Err(SessionEnd::NodeGone),
                    Some(WatchEnd::Voided | WatchEnd::Lost) => Err(SessionEnd::HistoryDiverged),
                    None => Err(SessionEnd::TooSlow),
                }
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Handles a notice and all notices queued behind it; `None` if the queue has ended.
    ///
    /// # Errors
    /// Returns the reason if the connection ends.
    pub fn handle_notice(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        first: Option<Notice<G>>,
    ) -> Result<(), SessionEnd> {
        if let Some(first) = first {
            self.deliver_notice(ctx, out, &first)?;
            return self.deliver_queued_notices(ctx, out, None).map(drop);
        }
        let Some(joined) = &self.joined else {
            return Ok(());
        };
        match joined.notices.ending() {
            None => Err(SessionEnd::TooSlow),
            Some(WatchEnd::NodeGone) => Err(SessionEnd::NodeGone),
            Some(why @ (WatchEnd::Voided | WatchEnd::Lost)) => {
                out.send_closed(joined.table, why);
                self.joined = None;
                Ok(())
            }
        }
    }

    /// Refuses a join of a player without a seat at the table. Queued notices, which explain the
    /// refusal, are delivered first; nothing of that table follows.
    fn refuse_unseated(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        id: u32,
    ) -> Result<Option<SessionCall<G>>, SessionEnd> {
        if !ctx.has_mutation(Mutation::WatchesAfterARefusedJoin) {
            self.deliver_queued_notices(ctx, out, None)?;
            self.joined = None;
        }
        out.send_refusal(id, CommandRefusal::NotSeated);
        Ok(None)
    }

    /// Delivers the start of a watch: the lines missed since `from`, or a snapshot.
    fn deliver_initial(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        watch: &Watch<G>,
        from: Option<Point>,
    ) -> Result<DeliveryCursor, SessionEnd> {
        let Watch { at, last_visible, table, .. } = watch;
        let missed = watch.missed.as_deref().filter(|missed| {
            missed.len() <= ctx.limits().resume_updates
                && has_steady_seat::<G>(missed, table, self.player)
        });
        if let (Some(from), Some(missed)) = (from, missed) {
            let before = missed.first().map_or(at.version, |first| first.at.version - 1);
            let before = Point { version: before, tag: from.tag };
            if let Some(cursor) = DeliveryCursor::resume(from, before) {
                return self.resume(ctx, out, cursor, missed, table);
            }
        }
        self.deliver_snapshot(ctx, out, *at, last_visible, table)
    }

    fn resume(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        mut cursor: DeliveryCursor,
        missed: &[AppliedLine<G>],
        table: &Table<G>,
    ) -> Result<DeliveryCursor, SessionEnd> {
        self.show_guarded(ctx, table, || {
            let viewer = self.viewer(ctx, table);
            let mut updates = Vec::new();
            for missed in missed {
                let events = redact_events::<G>(&missed.events, viewer);
                if events.is_empty() {
                    cursor.skip_hidden(missed.at);
                } else {
                    cursor.advance(missed.at);
                    updates.push((cursor.to_client_point(missed.at), events));
                }
            }
            let last = updates.len();
            for (number, (at, events)) in (1..).zip(updates) {
                out.before_showing(table);
                out.send_update(at, events, table, number == last);
            }
        })?;
        Ok(cursor)
    }

    /// Delivers the queued notices, and returns the client's version of the line with this version
    /// of the journal, and its tag if it was queued.
    fn deliver_queued_notices(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        version: Option<u64>,
    ) -> Result<(Option<u64>, Option<Tag>), SessionEnd> {
        let current_version = |joined: &JoinedTable<G>| {
            let at = joined.cursor.position();
            (version == Some(at.version)).then(|| joined.cursor.to_client_point(at).version)
        };
        let next_version = |joined: &JoinedTable<G>| {
            let at = Point { version: version?, tag: Tag::default() };
            Some(joined.cursor.to_client_point(at).version)
        };
        let mut last = self.joined.as_ref().and_then(next_version).or(version);
        let mut found = self.joined.as_ref().and_then(current_version);
        let mut line = None;
        while let Some(notice) = self.joined.as_mut().and_then(|joined| joined.notices.try_recv()) {
            self.deliver_notice(ctx, out, &notice)?;
            last = self.joined.as_ref().and_then(next_version).or(last);
            found = found.or_else(|| self.joined.as_ref().and_then(current_version));
            line = line.or((version == Some(notice.at.version)).then_some(notice.at.tag));
        }
        Ok((found.or(last), line))
    }

    fn deliver_notice(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        notice: &Notice<G>,
    ) -> Result<(), SessionEnd> {
        let Some(joined) = &mut self.joined else {
            return Ok(());
        };
        let cursor = joined.cursor;
        if notice.at.version <= cursor.position().version && !notice.is_snapshot {
            return Ok(());
        }
        let is_next = notice.at.version == cursor.position().version + 1 && !notice.is_snapshot;
        let table = &notice.table;
        let own = self.connection;
        let seat = table.seat_of(self.player);
        let known = seat.and_then(|seat| table.occupant(seat)).map(|occupant| occupant.connection);
        let was_confirmed = joined.is_confirmed;
        joined.is_confirmed |= known == Some(Some(own));
        let cursor = if is_next || ctx.has_mutation(Mutation::OverlooksGaps) {
            self.deliver_update(ctx, out, cursor, notice)?
        } else {
            self.deliver_snapshot(ctx, out, notice.at, &notice.last_visible, table)?
        };
        if let Some(joined) = &mut self.joined {
            joined.cursor = cursor;
        }
        match known {
            // The seat is free. The connection stays open for the next table.
            None if was_confirmed || !ctx.has_mutation(Mutation::WatchesAfterARefusedJoin) => {
                self.joined = None;
                Ok(())
            }
            // The history that this connection joined is lost; the client must join the current
            // one.
            Some(other) if was_confirmed && notice.is_diverged && other != Some(own) => {
                self.joined = None;
                Err(SessionEnd::HistoryDiverged)
            }
            Some(Some(other)) if was_confirmed && other != own => {
                self.joined = None;
                Err(SessionEnd::Replaced)
            }
            None | Some(_) => Ok(()),
        }
    }

    /// Delivers the events of a notice, unless they are all hidden from the player.
    fn deliver_update(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        mut cursor: DeliveryCursor,
        notice: &Notice<G>,
    ) -> Result<DeliveryCursor, SessionEnd> {
        let table = &*notice.table;
        self.show_guarded(ctx, table, || {
            out.before_showing(table);
            let events = redact_events::<G>(&notice.events, self.viewer(ctx, table));
            if events.is_empty() && !ctx.has_mutation(Mutation::TellsOfHiddenLines) {
                cursor.skip_hidden(notice.at);
            } else {
                cursor.advance(notice.at);
                out.send_update(cursor.to_client_point(notice.at), events, table, true);
            }
        })?;
        Ok(cursor)
    }

    fn deliver_snapshot(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        at: Point,
        last_visible: &LastVisible,
        table: &Table<G>,
    ) -> Result<DeliveryCursor, SessionEnd> {
        let shown = last_visible.point_for(table.viewer(self.player));
        self.show_guarded(ctx, table, || {
            out.before_showing(table);
            out.send_snapshot(shown, table.view(Some(self.viewed_player(ctx, table))), table);
        })?;
        Ok(DeliveryCursor::from_snapshot(at, shown))
    }

    /// Runs code that shows the table to the player. A panic halts the table and ends this
    /// connection; the next connection learns of the halt when it joins.
    fn show_guarded(
        &self,
        ctx: &impl Context<G>,
        table: &Table<G>,
        show: impl FnOnce(),
    ) -> Result<(), SessionEnd> {
        catch_panic(show).map_err(|reason| {
            ctx.report_show_failure(Halt::from_table(table, reason));
            SessionEnd::ShowFailed
        })
    }

    fn viewer(&self, ctx: &impl Context<G>, table: &Table<G>) -> Viewer {
        if ctx.has_mutation(Mutation::ForgetsToRedact) {
            return Viewer::Everything;
        }
        table.viewer(self.viewed_player(ctx, table))
    }

    /// Returns the player whose view is sent: the session's own, unless a fault is planted.
    fn viewed_player(&self, ctx: &impl Context<G>, table: &Table<G>) -> PlayerId {
        if !ctx.has_mutation(Mutation::ShowsAnothersView) {
            return self.player;
        }
        let other = table.occupants().find(|(_, other)| other.player != self.player);
        other.map_or(self.player, |(_, other)| other.player)
    }
}
