//! What one connection of a player is shown of the table that it has joined: at first what was
//! missed or the whole table, then each thing that happens, until the table, the seat or the
//! connection is somebody else's or gone.
//!
//! Joining goes in three steps, each an [`SessionCall`] to the driver: find the seat, watch the table, tell
//! the table that the connection is there. What has come in meanwhile is told before any answer, so
//! that an ack never comes before the effects that it speaks of.
//!
//! A player may also look first, which leaves the third step out until the client says something.
//! So of several connections that a client opens at once the table knows the one that is used, and
//! takes it from nobody for the others.
//!
//! Deliberately absent: how messages look, which is the [`Presenter`]'s, and all that a connection
//! does beside its table.

use bahay_engine::game::Viewer;
use bahay_engine::table::{
    ConnectionId, Event, Input, PlayerId, Readable, Rejection, Table, TableId,
};

use crate::context::{Context, PlantedFault};
use crate::direct::DirectLease;
use crate::failure::TableError;
use crate::guard::catch_panic;
use crate::halting::Halt;
use crate::journal::{Point, Tag};
use crate::notice::{WatchEnd, Notice};
use crate::notices::NoticeReceiver;
use crate::presenter::{Presenter, CommandRefusal};
use crate::replica::AppliedLine;
use crate::delivery_cursor::{LastVisible, DeliveryCursor, redact_events};
use crate::watchers::Watch;

/// What a session needs from its process.
#[derive(Debug)]
pub enum SessionCall<G: Readable> {
    /// Where the player sits, if anywhere. Answer with [`PlayerSession::seat_found`], or with
    /// [`PlayerSession::seat_unknown`] where that cannot be told.
    FindSeat,
    /// Answer with [`PlayerSession::watched`]. `from`: the tag of the last line that was told.
    Watch { table: TableId, from: Option<Tag> },
    /// Answer with [`PlayerSession::submitted`].
    Submit { table: TableId, input: Input<G::Action> },
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// It did not keep up; it resumes by version.
    TooSlow,
    /// This node was taken for dead.
    NodeGone,
    /// The table lost its last lines, and those who joined by them.
    HistoryDiverged,
    /// A newer connection of the player has taken its place.
    Replaced,
    /// Something of the table could not be shown.
    ShowFailed,
}

/// The table's side of one connection.
#[derive(Debug)]
pub struct PlayerSession<G: Readable> {
    player: PlayerId,
    connection: ConnectionId,
    joined: Option<JoinedTable<G>>,
    pending: Option<PendingCommand>,
}

/// Where the connection has joined.
#[derive(Debug)]
struct JoinedTable<G: Readable> {
    table: TableId,
    /// The game that is played there.
    kind: &'static str,
    cursor: DeliveryCursor,
    notices: NoticeReceiver<Notice<G>>,
    /// The table knows this connection; from then on another one means it was replaced.
    is_confirmed: bool,
    /// The table has not been told that this connection is there.
    is_previewing: bool,
}

/// How a connection comes to its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JoinMode {
    Connect,
    Preview,
}

/// The command that goes on.
#[derive(Clone, Copy, Debug)]
enum PendingCommand {
    /// A join: what the client had of which table.
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

    /// The table that is joined.
    pub fn joined_table(&self) -> Option<TableId> {
        self.joined.as_ref().map(|joined| joined.table)
    }

    /// The game of the table that is joined: by its rules actions are read.
    pub fn kind(&self) -> Option<&'static str> {
        self.joined.as_ref().map(|joined| joined.kind)
    }

    /// What the table tells, where one is joined.
    pub fn notices(&mut self) -> Option<&mut NoticeReceiver<Notice<G>>> {
        self.joined.as_mut().map(|joined| &mut joined.notices)
    }

    /// For whom the table may write while this session waits. Only after all was said that has
    /// come before.
    pub fn direct_lease(&self) -> Option<DirectLease> {
        let joined = self.joined.as_ref().filter(|joined| joined.is_confirmed)?;
        let (player, connection) = (self.player, self.connection);
        Some(DirectLease { table: joined.table, player, connection, cursor: joined.cursor })
    }

    /// The table has written as far as this. Said before anything else is done.
    pub fn restore_cursor(&mut self, cursor: Option<DeliveryCursor>) {
        if let (Some(cursor), Some(joined)) = (cursor, &mut self.joined) {
            joined.cursor = cursor;
        }
    }

    /// Joins the table where the player sits. `from` is what the client has of the table `of`.
    pub fn join(&mut self, id: u32, from: Option<Point>, of: Option<TableId>) -> SessionCall<G> {
        self.pending = Some(PendingCommand::Join { id, from, of, mode: JoinMode::Connect });
        SessionCall::FindSeat
    }

    /// The same, but that the table hears of this connection only with [`PlayerSession::connect`].
    pub fn preview(&mut self, id: u32, from: Option<Point>, of: Option<TableId>) -> SessionCall<G> {
        self.pending = Some(PendingCommand::Join { id, from, of, mode: JoinMode::Preview });
        SessionCall::FindSeat
    }

    /// Whether the table is shown, and has not been told that this connection is there.
    pub fn is_previewing(&self) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined.is_previewing)
    }

    /// The client that has looked says something, under this id: the table is told first that it is
    /// there. Where that is refused, the command is, and may be said again.
    pub fn connect(&mut self, id: u32) -> Option<SessionCall<G>> {
        let joined = self.joined.as_mut().filter(|joined| joined.is_previewing)?;
        joined.is_previewing = false;
        self.pending = Some(PendingCommand::Connect { id, mode: JoinMode::Preview });
        let (player, connection) = (self.player, self.connection);
        let input = Input::Connect { player, connection };
        Some(SessionCall::Submit { table: joined.table, input })
    }

    /// A command to the table that is joined.
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
        // What this brings is looked for when it has been decided.
        joined.notices.clear_waker();
        self.pending = Some(PendingCommand::Command { id });
        Some(SessionCall::Submit { table: joined.table, input })
    }

    /// Where the player sits could not be told; the driver has said so.
    pub fn cancel_join(&mut self) {
        self.pending = None;
    }

    /// The answer to [`SessionCall::FindSeat`].
    ///
    /// # Errors
    /// When the connection ends.
    pub fn handle_seat(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        seat: Option<TableId>,
    ) -> Result<Option<SessionCall<G>>, SessionEnd> {
        let Some(PendingCommand::Join { id, from, of, mode }) = self.pending.take() else {
            return Ok(None);
        };
        let Some(table) = seat else {
            self.refuse_unseated(ctx, out, id)?;
            return Ok(None);
        };
        // On a connection that has joined before, what was sent there counts, and not what the
        // client had when it asked: the rest was on its way, and must not come twice.
        let sent = self.joined.as_ref().filter(|joined| joined.table == table);
        let sent = sent.filter(|_| !ctx.has_fault(PlantedFault::RepeatsWhatWasSent));
        let from = from.filter(|_| of == Some(table));
        let sent = sent.map(|joined| joined.cursor.to_client_point(joined.cursor.position()));
        let from = from.map(|from| sent.unwrap_or(from));
        self.pending = Some(PendingCommand::Watch { id, table, from, mode });
        Ok(Some(SessionCall::Watch { table, from: from.map(|from| from.tag) }))
    }

    /// The answer to [`SessionCall::Watch`].
    ///
    /// # Errors
    /// When the connection ends.
    pub fn handle_watch(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        watch: Result<Watch<G>, TableError<G::Refusal>>,
    ) -> Result<Option<SessionCall<G>>, SessionEnd> {
        let Some(PendingCommand::Watch { id, table, from, mode }) = self.pending.take() else {
            return Ok(None);
        };
        let watch = match watch {
            Ok(watch) => watch,
            Err(error) => {
                out.send_refusal(id, CommandRefusal::Table(&error));
                return Ok(None);
            }
        };
        // Freed since it was looked up: nothing of this table is told.
        let lingers = ctx.has_fault(PlantedFault::WatchesAfterARefusedJoin);
        if watch.table.seat_of(self.player).is_none() && !lingers {
            drop(watch);
            self.refuse_unseated(ctx, out, id)?;
            return Ok(None);
        }
        let Ok(cursor) = self.deliver_initial(ctx, out, &watch, from) else {
            self.joined = None;
            out.send_refusal(id, CommandRefusal::Table(&TableError::Halted));
            return Ok(None);
        };
        let kind = G::kind(&watch.table.terms().rules);
        let notices = watch.notices;
        let is_previewing = mode == JoinMode::Preview;
        self.joined = Some(JoinedTable { table, kind, cursor, notices, is_confirmed: false, is_previewing });
        if is_previewing {
            out.send_ack(id, self.delivered_version());
            return Ok(None);
        }
        self.pending = Some(PendingCommand::Connect { id, mode });
        let (player, connection) = (self.player, self.connection);
        Ok(Some(SessionCall::Submit { table, input: Input::Connect { player, connection } }))
    }

    /// The answer to [`SessionCall::Submit`].
    ///
    /// # Errors
    /// When the connection ends.
    pub fn handle_submitted(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        submitted: Result<u64, TableError<G::Refusal>>,
    ) -> Result<(), SessionEnd> {
        let (id, connects, is_joining) = match self.pending.take() {
            Some(PendingCommand::Command { id }) => (id, false, false),
            Some(PendingCommand::Connect { id, mode }) => (id, true, mode == JoinMode::Connect),
            Some(PendingCommand::Join { .. } | PendingCommand::Watch { .. }) | None => return Ok(()),
        };
        let is_connected = matches!(submitted, Err(TableError::Rejected(Rejection::AlreadyConnected)));
        if let Some(joined) = self.joined.as_mut().filter(|_| connects && is_connected) {
            joined.is_confirmed = true;
        }
        let version = submitted.as_ref().ok().copied();
        let client_version = self.deliver_queued_notices(ctx, out, version)?;
        match submitted {
            Ok(version) => {
                self.check_delivered(version)?;
                // Who has looked was answered then, and what it says now is still to be done.
                if is_joining || !connects {
                    out.send_ack(id, client_version);
                }
            }
            // It has joined again where it had joined, which changes nothing.
            Err(_) if connects && is_connected => {
                if is_joining {
                    out.send_ack(id, self.delivered_version());
                }
            }
            Err(error) => {
                out.send_refusal(id, CommandRefusal::Table(&error));
                // The seat was freed between the look and the connecting.
                let is_over = matches!(error, TableError::Rejected(_) | TableError::Missing);
                if connects && is_over && !ctx.has_fault(PlantedFault::WatchesAfterARefusedJoin) {
                    self.joined = None;
                } else if let Some(joined) = self.joined.as_mut().filter(|_| connects) {
                    joined.is_previewing = !is_joining;
                }
            }
        }
        Ok(())
    }

    /// Returns the version of the last line that the client was shown, as it counts them.
    fn delivered_version(&self) -> Option<u64> {
        let cursor = self.joined.as_ref()?.cursor;
        Some(cursor.to_client_point(cursor.position()).version)
    }

    /// What is acknowledged was shown before. A watch that has ended meanwhile, as that of a node that
    /// was taken for dead, shows nothing more: then the connection ends without an answer, and the
    /// client learns from the next one what was taken.
    fn check_delivered(&self, version: u64) -> Result<(), SessionEnd> {
        match &self.joined {
            Some(joined) if joined.cursor.position().version < version => match joined.notices.ending() {
                Some(WatchEnd::NodeGone) => Err(SessionEnd::NodeGone),
                Some(WatchEnd::Voided | WatchEnd::Lost) => Err(SessionEnd::HistoryDiverged),
                None => Err(SessionEnd::TooSlow),
            },
            Some(_) | None => Ok(()),
        }
    }

    /// A notice and all that wait behind it; `None` when they have ended.
    ///
    /// # Errors
    /// When the connection ends.
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

    /// The player sits nowhere, or not there any more. What explains it comes first, and nothing of
    /// that table after it.
    fn refuse_unseated(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        id: u32,
    ) -> Result<(), SessionEnd> {
        if !ctx.has_fault(PlantedFault::WatchesAfterARefusedJoin) {
            self.deliver_queued_notices(ctx, out, None)?;
            self.joined = None;
        }
        out.send_refusal(id, CommandRefusal::NotSeated);
        Ok(())
    }

    /// What a watch begins with: what was missed since `from`, or the table.
    fn deliver_initial(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        watch: &Watch<G>,
        from: Option<Point>,
    ) -> Result<DeliveryCursor, SessionEnd> {
        let Watch { at, last_visible, table, .. } = watch;
        let missed = watch.missed.as_deref().filter(|missed| {
            missed.len() <= ctx.limits().resume_updates && has_steady_seat::<G>(missed, self.player)
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

    /// The notices that are there already. Gives what the client reads of the line with this
    /// version of the journal.
    fn deliver_queued_notices(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        version: Option<u64>,
    ) -> Result<Option<u64>, SessionEnd> {
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
        while let Some(notice) = self.joined.as_mut().and_then(|joined| joined.notices.try_recv()) {
            self.deliver_notice(ctx, out, &notice)?;
            last = self.joined.as_ref().and_then(next_version).or(last);
            found = found.or_else(|| self.joined.as_ref().and_then(current_version));
        }
        Ok(found.or(last))
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
        let (table, own) = (&notice.table, self.connection);
        let seat = table.seat_of(self.player);
        let known = seat.and_then(|seat| table.occupant(seat)).map(|who| who.connection);
        let was_confirmed = joined.is_confirmed;
        joined.is_confirmed |= known == Some(Some(own));
        let cursor = if is_next || ctx.has_fault(PlantedFault::OverlooksGaps) {
            self.deliver_update(ctx, out, cursor, notice)?
        } else {
            self.deliver_snapshot(ctx, out, notice.at, &notice.last_visible, table)?
        };
        if let Some(joined) = &mut self.joined {
            joined.cursor = cursor;
        }
        match known {
            // The seat is free: the connection stays, for the next table.
            None if was_confirmed || !ctx.has_fault(PlantedFault::WatchesAfterARefusedJoin) => {
                self.joined = None;
                Ok(())
            }
            // The history that this connection joined is lost: it joins the one that there is.
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

    /// What happened, unless there is nothing in it for the player.
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
            if events.is_empty() && !ctx.has_fault(PlantedFault::TellsOfHiddenLines) {
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

    /// A panic in what a player is shown halts the table, and this connection ends: the next one
    /// hears of the halt when it joins.
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
        if ctx.has_fault(PlantedFault::ForgetsToRedact) {
            return Viewer::Everything;
        }
        table.viewer(self.viewed_player(ctx, table))
    }

    /// Whose view goes out: the player's own.
    fn viewed_player(&self, ctx: &impl Context<G>, table: &Table<G>) -> PlayerId {
        if !ctx.has_fault(PlantedFault::ShowsAnothersView) {
            return self.player;
        }
        let other = table.occupants().find(|(_, other)| other.player != self.player);
        other.map_or(self.player, |(_, other)| other.player)
    }
}

/// Whether the player kept one seat through all of this, so that one viewer may see all of it.
fn has_steady_seat<G: Readable>(missed: &[AppliedLine<G>], player: PlayerId) -> bool {
    missed.iter().flat_map(|missed| missed.events.iter()).all(|event| match event {
        Event::Sat { player: sat, .. } | Event::Left { player: sat, .. } => *sat != player,
        _ => true,
    })
}
