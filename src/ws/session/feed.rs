//! Builds the messages of the shell's session for a player, in the form of its connection.

use bahay_engine::game::Game;
use bahay_engine::table::{Event, PlayerId, Table, TableId, TableView};
use bahay_shell::{CommandRefusal, Notice, PlayerSession, Presenter, SessionEnd, WatchEnd};

use crate::ids::Tag;
use crate::live_store::Point;
use crate::metrics::PlayMetrics;
use crate::tables::{TableError, Tables};
use crate::ws::hooks::FaultHooks;
use crate::ws::link::prompts::{has_open_prompt, open_prompt};
use crate::ws::link::socket::CloseReason;
use crate::ws::link::state::LinkState;
use crate::ws::protocol::brief::Form;
use crate::ws::protocol::{Closing, Message, OpenPrompt, close};
use crate::ws::refusal::SessionRefusal;
use bahay_engine::catalog::AnyGame;

type TableEvent = Event<<AnyGame as Game>::Event>;
type GameRefusal = <AnyGame as Game>::Refusal;

pub(super) const SHOW_FAILED: CloseReason = (close::INTERNAL, "internal error; connect again");

/// The messages about a player's table.
pub(super) struct TableFeed<'a> {
    pub(super) tables: &'a Tables<AnyGame>,
    pub(super) player: PlayerId,
    pub(super) form: Form,
    pub(super) hooks: FaultHooks,
    pub(super) link: &'a LinkState,
    pub(super) messages: &'a mut Vec<Message<AnyGame>>,
}

impl Presenter<AnyGame> for TableFeed<'_> {
    fn send_update(
        &mut self,
        at: Point,
        events: Vec<TableEvent>,
        table: &Table<AnyGame>,
        is_last: bool,
    ) {
        self.link.set_prompted(has_open_prompt(table, self.player));
        let prompt = open_prompt(table, self.player, self.form, is_last);
        let Point { version, tag } = at;
        let server_time_ms = self.tables.time_at(table);
        let update = Message::Update { version, tag, server_time_ms, events, prompt, ack: None };
        self.messages.push(update);
    }

    fn send_snapshot(&mut self, at: Point, view: TableView<AnyGame>, table: &Table<AnyGame>) {
        self.link.set_prompted(has_open_prompt(table, self.player));
        let prompt = OpenPrompt::from_view(&view);
        let Point { version, tag } = at;
        let server_time_ms = self.tables.time_at(table);
        let view = Box::new(view);
        self.messages.push(Message::Snapshot { version, tag, server_time_ms, view, prompt });
    }

    fn before_showing(&mut self, table: &Table<AnyGame>) {
        if let Some(hook) = self.hooks.before_showing {
            hook(table);
        }
    }

    fn send_closed(&mut self, table: TableId, why: WatchEnd) {
        self.link.set_prompted(false);
        let reason = match why {
            WatchEnd::Voided => Closing::Voided,
            WatchEnd::Lost | WatchEnd::NodeGone => Closing::Lost,
        };
        self.messages.push(Message::Closed { table, reason });
    }

    fn send_ack(&mut self, id: u32, version: Option<u64>, line: Option<Tag>) {
        let update = self.messages.iter_mut().find_map(|message| match message {
            Message::Update { tag, ack, .. } if Some(*tag) == line => Some(ack),
            _ => None,
        });
        match update {
            Some(ack) => *ack = Some(id),
            None => self.messages.push(Message::Ack { id, version }),
        }
    }

    fn send_refusal(&mut self, id: u32, why: CommandRefusal<'_, GameRefusal>) {
        let play = self.tables.counts().play();
        self.messages.push(match why {
            CommandRefusal::NotJoined => refusal(play, Some(id), SessionRefusal::NotJoined, None),
            CommandRefusal::NotSeated => refusal(play, Some(id), SessionRefusal::NotSeated, None),
            CommandRefusal::Table(failure) => table_refusal(play, self.player, id, failure),
        });
    }
}

/// Returns the refusal of a command that the table did not carry out.
pub(super) fn table_refusal(
    play: &PlayMetrics,
    player: PlayerId,
    id: u32,
    error: &TableError<GameRefusal>,
) -> Message<AnyGame> {
    let (session, detail) = match error {
        TableError::Rejected(rejection) => {
            let code = rejection.code();
            let rule = rejection.rule();
            return build_refusal(play, Some(id), code, rule, rejection.to_string(), false);
        }
        TableError::Missing => (SessionRefusal::NotSeated, Some(error.to_string())),
        TableError::Halted => (SessionRefusal::TableHalted, None),
        TableError::OtherVersion => (SessionRefusal::OtherVersion, None),
        TableError::Unavailable(cause) => {
            tracing::warn!(%player, error = %cause, "a command failed: live state is unavailable");
            (SessionRefusal::Unavailable, None)
        }
    };
    refusal(play, Some(id), session, detail)
}

/// Returns a refusal, with a more precise reason if there is one.
pub(super) fn refusal(
    play: &PlayMetrics,
    id: Option<u32>,
    refusal: SessionRefusal,
    detail: Option<String>,
) -> Message<AnyGame> {
    let detail = detail.unwrap_or_else(|| refusal.detail().to_owned());
    build_refusal(play, id, refusal.code(), None, detail, refusal.is_retryable())
}

pub(super) fn build_refusal(
    play: &PlayMetrics,
    id: Option<u32>,
    code: &'static str,
    rule: Option<&'static str>,
    detail: String,
    retryable: bool,
) -> Message<AnyGame> {
    play.refusals.increment("code", code);
    let rule = rule.map(Into::into);
    Message::Refusal { id, code: code.into(), rule, detail, retryable, retry_after_ms: None }
}

/// Returns the close code and reason for the end of a session.
pub(super) fn close_reason(end: SessionEnd) -> CloseReason {
    match end {
        SessionEnd::TooSlow => (close::TOO_SLOW, "too slow; connect again and resume"),
        SessionEnd::NodeGone => {
            (close::GOING_AWAY, "this node was suspended; connect again and resume")
        }
        SessionEnd::HistoryDiverged => {
            (close::GOING_AWAY, "the table lost its last lines; connect again and resume")
        }
        SessionEnd::Replaced => (close::REPLACED, "replaced by a newer connection"),
        SessionEnd::ShowFailed => SHOW_FAILED,
    }
}

/// Waits for the next notice of the joined table; never completes without one.
pub(super) async fn next_notice(session: &mut PlayerSession<AnyGame>) -> Option<Notice<AnyGame>> {
    match session.notices() {
        Some(notices) => notices.recv().await,
        None => std::future::pending().await,
    }
}
