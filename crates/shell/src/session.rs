//! What one connection of a player is shown of the table that it has joined: at first what was
//! missed or the whole table, then each thing that happens, until the table, the seat or the
//! connection is somebody else's or gone.
//!
//! Joining goes in three steps, each an [`Ask`] to the driver: find the seat, watch the table, tell
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

use crate::context::{Context, Planted};
use crate::direct::Lent;
use crate::failure::Failure;
use crate::guard::guarded;
use crate::halting::Halt;
use crate::journal::{Point, Tag};
use crate::notice::{Ending, Notice};
use crate::notices::Notices;
use crate::presenter::{Presenter, Refused};
use crate::replica::AppliedLine;
use crate::told::{LastShown, Told, redacted};
use crate::watchers::Watch;

/// What a session needs from its process.
#[derive(Debug)]
pub enum Ask<G: Readable> {
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
pub enum End {
    /// It did not keep up; it resumes by version.
    TooSlow,
    /// This node was taken for dead.
    NodeGone,
    /// The table lost its last lines, and those who joined by them.
    Parted,
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
    joined: Option<Joined<G>>,
    asked: Option<Asked>,
}

/// Where the connection has joined.
#[derive(Debug)]
struct Joined<G: Readable> {
    table: TableId,
    /// The game that is played there.
    kind: &'static str,
    told: Told,
    notices: Notices<Notice<G>>,
    /// The table knows this connection; from then on another one means it was replaced.
    confirmed: bool,
    /// The table has not been told that this connection is there.
    looks: bool,
}

/// How a connection comes to its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Joins,
    Looks,
}

/// The command that goes on.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// A join: what the client had of which table.
    Join {
        id: u32,
        from: Option<Point>,
        of: Option<TableId>,
        arrival: Arrival,
    },
    Watch {
        id: u32,
        table: TableId,
        from: Option<Point>,
        arrival: Arrival,
    },
    Connect {
        id: u32,
        arrival: Arrival,
    },
    Command {
        id: u32,
    },
}

impl<G: Readable> PlayerSession<G> {
    pub fn new(player: PlayerId, connection: ConnectionId) -> Self {
        Self { player, connection, joined: None, asked: None }
    }

    pub fn player(&self) -> PlayerId {
        self.player
    }

    pub fn connection(&self) -> ConnectionId {
        self.connection
    }

    /// The table that is joined.
    pub fn joined(&self) -> Option<TableId> {
        self.joined.as_ref().map(|joined| joined.table)
    }

    /// The game of the table that is joined: by its rules actions are read.
    pub fn kind(&self) -> Option<&'static str> {
        self.joined.as_ref().map(|joined| joined.kind)
    }

    /// What the table tells, where one is joined.
    pub fn notices(&mut self) -> Option<&mut Notices<Notice<G>>> {
        self.joined.as_mut().map(|joined| &mut joined.notices)
    }

    /// For whom the table may write while this session waits. Only after all was said that has
    /// come before.
    pub fn lend(&self) -> Option<Lent> {
        let joined = self.joined.as_ref().filter(|joined| joined.confirmed)?;
        let (player, connection) = (self.player, self.connection);
        Some(Lent { table: joined.table, player, connection, told: joined.told })
    }

    /// The table has written as far as this. Said before anything else is done.
    pub fn taken_back(&mut self, told: Option<Told>) {
        if let (Some(told), Some(joined)) = (told, &mut self.joined) {
            joined.told = told;
        }
    }

    /// Joins the table where the player sits. `from` is what the client has of the table `of`.
    pub fn join(&mut self, id: u32, from: Option<Point>, of: Option<TableId>) -> Ask<G> {
        self.asked = Some(Asked::Join { id, from, of, arrival: Arrival::Joins });
        Ask::FindSeat
    }

    /// The same, but that the table hears of this connection only with [`PlayerSession::connect`].
    pub fn look(&mut self, id: u32, from: Option<Point>, of: Option<TableId>) -> Ask<G> {
        self.asked = Some(Asked::Join { id, from, of, arrival: Arrival::Looks });
        Ask::FindSeat
    }

    /// Whether the table is shown, and has not been told that this connection is there.
    pub fn is_looking(&self) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined.looks)
    }

    /// The client that has looked says something, under this id: the table is told first that it is
    /// there. Where that is refused, the command is, and may be said again.
    pub fn connect(&mut self, id: u32) -> Option<Ask<G>> {
        let joined = self.joined.as_mut().filter(|joined| joined.looks)?;
        joined.looks = false;
        self.asked = Some(Asked::Connect { id, arrival: Arrival::Looks });
        let (player, connection) = (self.player, self.connection);
        let input = Input::Connect { player, connection };
        Some(Ask::Submit { table: joined.table, input })
    }

    /// A command to the table that is joined.
    pub fn command(
        &mut self,
        out: &mut impl Presenter<G>,
        id: u32,
        input: Input<G::Action>,
    ) -> Option<Ask<G>> {
        let Some(joined) = &mut self.joined else {
            out.refused(id, Refused::NotJoined);
            return None;
        };
        // What this brings is looked for when it has been decided.
        joined.notices.look_away();
        self.asked = Some(Asked::Command { id });
        Some(Ask::Submit { table: joined.table, input })
    }

    /// Where the player sits could not be told; the driver has said so.
    pub fn seat_unknown(&mut self) {
        self.asked = None;
    }

    /// The answer to [`Ask::FindSeat`].
    ///
    /// # Errors
    /// When the connection ends.
    pub fn seat_found(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        seat: Option<TableId>,
    ) -> Result<Option<Ask<G>>, End> {
        let Some(Asked::Join { id, from, of, arrival }) = self.asked.take() else {
            return Ok(None);
        };
        let Some(table) = seat else {
            self.leave_after_all(ctx, out, id)?;
            return Ok(None);
        };
        // On a connection that has joined before, what was sent there counts, and not what the
        // client had when it asked: the rest was on its way, and must not come twice.
        let sent = self.joined.as_ref().filter(|joined| joined.table == table);
        let sent = sent.filter(|_| !ctx.planted(Planted::RepeatsWhatWasSent));
        let from = from.filter(|_| of == Some(table));
        let sent = sent.map(|joined| joined.told.read_as(joined.told.at()));
        let from = from.map(|from| sent.unwrap_or(from));
        self.asked = Some(Asked::Watch { id, table, from, arrival });
        Ok(Some(Ask::Watch { table, from: from.map(|from| from.tag) }))
    }

    /// The answer to [`Ask::Watch`].
    ///
    /// # Errors
    /// When the connection ends.
    pub fn watched(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        watch: Result<Watch<G>, Failure<G::Illegal>>,
    ) -> Result<Option<Ask<G>>, End> {
        let Some(Asked::Watch { id, table, from, arrival }) = self.asked.take() else {
            return Ok(None);
        };
        let watch = match watch {
            Ok(watch) => watch,
            Err(error) => {
                out.refused(id, Refused::Table(&error));
                return Ok(None);
            }
        };
        // Freed since it was looked up: nothing of this table is told.
        let lingers = ctx.planted(Planted::WatchesAfterARefusedJoin);
        if watch.table.seat_of(self.player).is_none() && !lingers {
            drop(watch);
            self.leave_after_all(ctx, out, id)?;
            return Ok(None);
        }
        let Ok(told) = self.begin(ctx, out, &watch, from) else {
            self.joined = None;
            out.refused(id, Refused::Table(&Failure::Halted));
            return Ok(None);
        };
        let kind = G::kind(&watch.table.terms().rules);
        let notices = watch.notices;
        let looks = arrival == Arrival::Looks;
        self.joined = Some(Joined { table, kind, told, notices, confirmed: false, looks });
        if looks {
            out.ack(id, self.version_shown());
            return Ok(None);
        }
        self.asked = Some(Asked::Connect { id, arrival });
        let (player, connection) = (self.player, self.connection);
        Ok(Some(Ask::Submit { table, input: Input::Connect { player, connection } }))
    }

    /// The answer to [`Ask::Submit`].
    ///
    /// # Errors
    /// When the connection ends.
    pub fn submitted(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        submitted: Result<u64, Failure<G::Illegal>>,
    ) -> Result<(), End> {
        let (id, connects, is_joining) = match self.asked.take() {
            Some(Asked::Command { id }) => (id, false, false),
            Some(Asked::Connect { id, arrival }) => (id, true, arrival == Arrival::Joins),
            Some(Asked::Join { .. } | Asked::Watch { .. }) | None => return Ok(()),
        };
        let is_there = matches!(submitted, Err(Failure::Rejected(Rejection::AlreadyConnected)));
        if let Some(joined) = self.joined.as_mut().filter(|_| connects && is_there) {
            joined.confirmed = true;
        }
        let version = submitted.as_ref().ok().copied();
        let read = self.waiting_notices(ctx, out, version)?;
        match submitted {
            Ok(version) => {
                self.expect_told(version)?;
                // Who has looked was answered then, and what it says now is still to be done.
                if is_joining || !connects {
                    out.ack(id, read);
                }
            }
            // It has joined again where it had joined, which changes nothing.
            Err(_) if connects && is_there => {
                if is_joining {
                    out.ack(id, self.version_shown());
                }
            }
            Err(error) => {
                out.refused(id, Refused::Table(&error));
                // The seat was freed between the look and the connecting.
                let is_over = matches!(error, Failure::Rejected(_) | Failure::Missing);
                if connects && is_over && !ctx.planted(Planted::WatchesAfterARefusedJoin) {
                    self.joined = None;
                } else if let Some(joined) = self.joined.as_mut().filter(|_| connects) {
                    joined.looks = !is_joining;
                }
            }
        }
        Ok(())
    }

    /// Returns the version of the last line that the client was shown, as it counts them.
    fn version_shown(&self) -> Option<u64> {
        let told = self.joined.as_ref()?.told;
        Some(told.read_as(told.at()).version)
    }

    /// What is acknowledged was shown before. A watch that has ended meanwhile, as that of a node that
    /// was taken for dead, shows nothing more: then the connection ends without an answer, and the
    /// client learns from the next one what was taken.
    fn expect_told(&self, version: u64) -> Result<(), End> {
        match &self.joined {
            Some(joined) if joined.told.at().version < version => match joined.notices.ending() {
                Some(Ending::NodeGone) => Err(End::NodeGone),
                Some(Ending::Voided | Ending::Lost) => Err(End::Parted),
                None => Err(End::TooSlow),
            },
            Some(_) | None => Ok(()),
        }
    }

    /// A notice and all that wait behind it; `None` when they have ended.
    ///
    /// # Errors
    /// When the connection ends.
    pub fn notified(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        first: Option<Notice<G>>,
    ) -> Result<(), End> {
        if let Some(first) = first {
            self.notice(ctx, out, &first)?;
            return self.waiting_notices(ctx, out, None).map(drop);
        }
        let Some(joined) = &self.joined else {
            return Ok(());
        };
        match joined.notices.ending() {
            None => Err(End::TooSlow),
            Some(Ending::NodeGone) => Err(End::NodeGone),
            Some(why @ (Ending::Voided | Ending::Lost)) => {
                out.closed(joined.table, why);
                self.joined = None;
                Ok(())
            }
        }
    }

    /// The player sits nowhere, or not there any more. What explains it comes first, and nothing of
    /// that table after it.
    fn leave_after_all(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        id: u32,
    ) -> Result<(), End> {
        if !ctx.planted(Planted::WatchesAfterARefusedJoin) {
            self.waiting_notices(ctx, out, None)?;
            self.joined = None;
        }
        out.refused(id, Refused::NotSeated);
        Ok(())
    }

    /// What a watch begins with: what was missed since `from`, or the table.
    fn begin(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        watch: &Watch<G>,
        from: Option<Point>,
    ) -> Result<Told, End> {
        let Watch { at, shown, table, .. } = watch;
        let missed = watch.missed.as_deref().filter(|missed| {
            missed.len() <= ctx.limits().resumed && seat_is_steady::<G>(missed, self.player)
        });
        if let (Some(from), Some(missed)) = (from, missed) {
            let before = missed.first().map_or(at.version, |first| first.at.version - 1);
            let before = Point { version: before, tag: from.tag };
            if let Some(told) = Told::resumed(from, before) {
                return self.resume(ctx, out, told, missed, table);
            }
        }
        self.snapshot(ctx, out, *at, shown, table)
    }

    fn resume(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        mut told: Told,
        missed: &[AppliedLine<G>],
        table: &Table<G>,
    ) -> Result<Told, End> {
        self.shown(ctx, table, || {
            let viewer = self.viewer(ctx, table);
            let mut updates = Vec::new();
            for missed in missed {
                let events = redacted::<G>(&missed.events, viewer);
                if events.is_empty() {
                    told.pass(missed.at);
                } else {
                    told.show(missed.at);
                    updates.push((told.read_as(missed.at), events));
                }
            }
            let last = updates.len();
            for (place, (at, events)) in (1..).zip(updates) {
                out.before_showing(table);
                out.update(at, events, table, place == last);
            }
        })?;
        Ok(told)
    }

    /// The notices that are there already. Gives what the client reads of the line with this
    /// version of the journal.
    fn waiting_notices(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        version: Option<u64>,
    ) -> Result<Option<u64>, End> {
        let read = |joined: &Joined<G>| {
            let at = joined.told.at();
            (version == Some(at.version)).then(|| joined.told.read_as(at).version)
        };
        let read_next = |joined: &Joined<G>| {
            let at = Point { version: version?, tag: Tag::default() };
            Some(joined.told.read_as(at).version)
        };
        let mut last = self.joined.as_ref().and_then(read_next).or(version);
        let mut found = self.joined.as_ref().and_then(read);
        while let Some(notice) = self.joined.as_mut().and_then(|joined| joined.notices.try_recv()) {
            self.notice(ctx, out, &notice)?;
            last = self.joined.as_ref().and_then(read_next).or(last);
            found = found.or_else(|| self.joined.as_ref().and_then(read));
        }
        Ok(found.or(last))
    }

    fn notice(
        &mut self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        notice: &Notice<G>,
    ) -> Result<(), End> {
        let Some(joined) = &mut self.joined else {
            return Ok(());
        };
        let told = joined.told;
        if notice.at.version <= told.at().version && !notice.anew {
            return Ok(());
        }
        let is_next = notice.at.version == told.at().version + 1 && !notice.anew;
        let (table, own) = (&notice.table, self.connection);
        let seat = table.seat_of(self.player);
        let known = seat.and_then(|seat| table.occupant(seat)).map(|who| who.connection);
        let was_confirmed = joined.confirmed;
        joined.confirmed |= known == Some(Some(own));
        let told = if is_next || ctx.planted(Planted::OverlooksGaps) {
            self.update(ctx, out, told, notice)?
        } else {
            self.snapshot(ctx, out, notice.at, &notice.shown, table)?
        };
        if let Some(joined) = &mut self.joined {
            joined.told = told;
        }
        match known {
            // The seat is free: the connection stays, for the next table.
            None if was_confirmed || !ctx.planted(Planted::WatchesAfterARefusedJoin) => {
                self.joined = None;
                Ok(())
            }
            // The history that this connection joined is lost: it joins the one that there is.
            Some(other) if was_confirmed && notice.parted && other != Some(own) => {
                self.joined = None;
                Err(End::Parted)
            }
            Some(Some(other)) if was_confirmed && other != own => {
                self.joined = None;
                Err(End::Replaced)
            }
            None | Some(_) => Ok(()),
        }
    }

    /// What happened, unless there is nothing in it for the player.
    fn update(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        mut told: Told,
        notice: &Notice<G>,
    ) -> Result<Told, End> {
        let table = &*notice.table;
        self.shown(ctx, table, || {
            out.before_showing(table);
            let events = redacted::<G>(&notice.events, self.viewer(ctx, table));
            if events.is_empty() && !ctx.planted(Planted::TellsOfHiddenLines) {
                told.pass(notice.at);
            } else {
                told.show(notice.at);
                out.update(told.read_as(notice.at), events, table, true);
            }
        })?;
        Ok(told)
    }

    fn snapshot(
        &self,
        ctx: &impl Context<G>,
        out: &mut impl Presenter<G>,
        at: Point,
        shown: &LastShown,
        table: &Table<G>,
    ) -> Result<Told, End> {
        let shown = shown.to(table.viewer(self.player));
        self.shown(ctx, table, || {
            out.before_showing(table);
            out.snapshot(shown, table.view(Some(self.shown_to(ctx, table))), table);
        })?;
        Ok(Told::whole(at, shown))
    }

    /// A panic in what a player is shown halts the table, and this connection ends: the next one
    /// hears of the halt when it joins.
    fn shown(
        &self,
        ctx: &impl Context<G>,
        table: &Table<G>,
        show: impl FnOnce(),
    ) -> Result<(), End> {
        guarded(show).map_err(|reason| {
            ctx.show_failed(Halt::over(table, reason));
            End::ShowFailed
        })
    }

    fn viewer(&self, ctx: &impl Context<G>, table: &Table<G>) -> Viewer {
        if ctx.planted(Planted::ForgetsToRedact) {
            return Viewer::Everything;
        }
        table.viewer(self.shown_to(ctx, table))
    }

    /// Whose view goes out: the player's own.
    fn shown_to(&self, ctx: &impl Context<G>, table: &Table<G>) -> PlayerId {
        if !ctx.planted(Planted::ShowsAnothersView) {
            return self.player;
        }
        let other = table.occupants().find(|(_, other)| other.player != self.player);
        other.map_or(self.player, |(_, other)| other.player)
    }
}

/// Whether the player kept one seat through all of this, so that one viewer may see all of it.
fn seat_is_steady<G: Readable>(missed: &[AppliedLine<G>], player: PlayerId) -> bool {
    missed.iter().flat_map(|missed| missed.events.iter()).all(|event| match event {
        Event::Sat { player: sat, .. } | Event::Left { player: sat, .. } => *sat != player,
        _ => true,
    })
}
