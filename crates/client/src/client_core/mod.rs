//! The core: it takes inputs with their time and returns effects.
//!
//! The parts: `session` renews the sign-in, `connection` holds the socket and `reading` reads its
//! messages; `table` follows the table; `commands` holds commands until their outcome.

mod commands;
mod connection;
mod reading;
mod session;
mod table;

use std::collections::{BTreeMap, VecDeque};

use bahay_engine::table::TableId;
use bahay_protocol::brief::Form;
use bahay_protocol::{Tag, read_action};

use crate::context::{Context, Purpose};
use crate::effect::{Effect, Notification, StoreKey};
use crate::input::{Input, SocketData, Time};
use crate::limits::{BACKOFF_MIN_MS, SLEPT_MS, TAGS_MAX, USUAL_OPEN_MS, clamp_time};
use crate::outbox::Outbox;
use crate::rest::{HttpAnswer, ServerAnswer};
use crate::screen::{ActionRefusal, Screen, find_refusal, to_screen};
use crate::session::ClientSession;
use crate::sockets::{ActiveSocket, PendingSocket};
use crate::state::{Action, Link, State, TableState};
use crate::table::{Seed, game_of, read_stored, write_stored};
use crate::timers::Timer;
use crate::watchdog::Watchdog;

/// The options of a new core.
#[derive(Clone)]
pub struct Options {
    /// The server's origin, such as `https://house.example`.
    pub base: String,
    /// Random bytes of the operating system, drawn for this core alone. The device's secret, the
    /// texts of the client's seeds and the variations of delays are derived from them.
    pub random_seed: [u8; 32],
    /// The name of a new guest, of 2 to 20 characters.
    pub name: Option<String>,
    /// The values stored by earlier cores of this installation.
    pub stored: BTreeMap<StoreKey, String>,
    /// The present time, as passed to [`ClientCore::handle_input`].
    pub time: Time,
    /// The message forms to offer, of which the server takes the shortest.
    pub forms: Vec<Form>,
    /// True to store the table at every change, so that a restarted client shows it at once.
    pub stores_table: bool,
    /// True to read the player's wallet after each connection and each settlement.
    pub follows_wallet: bool,
}

impl Options {
    /// Returns the options of a client at this origin that has stored nothing.
    pub fn new(base: impl Into<String>, random_seed: [u8; 32], time: Time) -> Self {
        Self {
            base: base.into(),
            random_seed,
            name: None,
            stored: BTreeMap::new(),
            time,
            forms: Form::ALL.to_vec(),
            stores_table: true,
            follows_wallet: false,
        }
    }
}

/// Formats the options without their secrets.
impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("base", &self.base)
            .field("name", &self.name)
            .field("time", &self.time)
            .field("forms", &self.forms)
            .finish_non_exhaustive()
    }
}

/// The progress of joining the player's table on the present connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    Wanted,
    Sent,
    Joined,
    NoTable,
}

/// The table that the connection's snapshots and updates are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Table,
    Watched,
}

/// A player's client as a state machine without I/O; see the crate's documentation.
#[derive(Debug)]
pub struct ClientCore {
    cx: Context,
    name: Option<String>,
    stores_table: bool,
    follows_wallet: bool,
    session: ClientSession,
    state: State,
    outbox: Outbox,
    seed: Option<Seed>,
    // The connection.
    forms: Vec<Form>,
    active: Option<ActiveSocket>,
    /// The sockets that are not in use, oldest first.
    pending: Vec<PendingSocket>,
    watchdog: Watchdog,
    /// The time at which a connection was left whose `join` had no answer.
    left_at_ms: Option<i64>,
    /// The number of sockets opened so far.
    sockets: u64,
    /// The number of consecutive failed attempts.
    failures: u32,
    protocol_errors: u32,
    /// The time before which the server has asked for no other request for a token.
    renew_at_ms: Option<i64>,
    /// The game of the last table, by which short messages are read.
    kind: Option<String>,
    /// True while a token is requested in parallel with the opening of a socket.
    is_signing_in: bool,
    /// A moving average of the time that opening a socket takes.
    usual_open_ms: i64,
    // The table.
    join: Join,
    join_id: Option<u32>,
    /// True after a gap in the versions: updates are ignored until a snapshot arrives.
    has_gap: bool,
    gaps: u32,
    /// The tags of the table's last versions, oldest first.
    tags: VecDeque<(u64, Tag)>,
    subject: Subject,
    watching: Option<TableId>,
    /// The server's clock minus the monotonic one, in ms.
    offset_ms: i64,
}

impl ClientCore {
    /// Creates a client that is off until [`Input::Start`]. Stored values that this version cannot
    /// read are ignored.
    pub fn new(options: Options) -> Self {
        let Options { base, random_seed, name, mut stored, time, forms, .. } = options;
        let session = stored.remove(&StoreKey::Session);
        let session = ClientSession::new(stored.remove(&StoreKey::Device), session.as_deref());
        let player = session.player().cloned();
        let id = player.as_ref().map(|player| player.id);
        let table = stored.get(&StoreKey::Table).and_then(|text| read_stored(text, id));
        let seed = stored.get(&StoreKey::Seed).and_then(|text| serde_json::from_str(text).ok());
        let time = clamp_times(time);
        Self {
            cx: Context::new(&base, random_seed, time),
            name,
            stores_table: options.stores_table,
            follows_wallet: options.follows_wallet,
            kind: table.as_ref().map(|table| table.view.kind.clone()),
            offset_ms: session.offset_ms(time),
            session,
            state: State {
                link: Link::Off,
                player,
                table,
                seek: None,
                hint: None,
                watched: None,
                open: Vec::new(),
                notices: None,
                wallet: None,
            },
            outbox: Outbox::default(),
            seed,
            forms,
            active: None,
            pending: Vec::new(),
            watchdog: Watchdog::default(),
            left_at_ms: None,
            sockets: 0,
            failures: 0,
            protocol_errors: 0,
            renew_at_ms: None,
            is_signing_in: false,
            usual_open_ms: USUAL_OPEN_MS,
            join: Join::Wanted,
            join_id: None,
            has_gap: false,
            gaps: 0,
            tags: VecDeque::new(),
            subject: Subject::Table,
            watching: None,
        }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the device's secret, which signs the player in; `None` until it is drawn.
    pub fn device(&self) -> Option<&str> {
        self.session.device.as_deref()
    }

    /// Returns everything that an app shows at a time of the caller's monotonic clock.
    pub fn screen(&self, now_ms: i64) -> Screen {
        to_screen(&self.state, clamp_time(now_ms), self.server_time_ms(now_ms))
    }

    /// Reads an action of the table's game from its JSON, such as [`ActionScreen::json`]; `None` if
    /// there is no table, or the text is no action of its game.
    ///
    /// [`ActionScreen::json`]: crate::ActionScreen::json
    pub fn read_action(&self, json: &str) -> Option<Action> {
        let table = self.state.table.as_ref()?;
        read_action(&table.view.kind, json).ok()
    }

    /// Returns the reason for which the server would refuse this action now; `None` if it is legal,
    /// or if no game is played.
    pub fn find_refusal(&self, action: &Action) -> Option<ActionRefusal> {
        find_refusal(self.state.table.as_ref()?, action)
    }

    /// Returns the next effect to perform. All effects of an input must be performed before the
    /// next input.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.cx.effects.pop_front()
    }

    /// Returns the time of the monotonic clock, in milliseconds, at which to handle
    /// [`Input::Timeout`]; `None` for never. It may change with every input.
    pub fn poll_timeout(&self) -> Option<i64> {
        self.cx.timers.next_time()
    }

    /// Returns the server's time, in milliseconds since 1970-01-01 UTC, at a time of the caller's
    /// monotonic clock.
    pub fn server_time_ms(&self, now_ms: i64) -> i64 {
        clamp_time(now_ms) + self.offset_ms
    }

    /// Handles an input at this time. A monotonic clock that runs backwards counts as standing
    /// still.
    pub fn handle_input(&mut self, time: Time, input: Input) {
        let Time { now_ms, wall_ms } = clamp_times(time);
        let before = self.cx.time;
        let slept_ms = wall_ms - before.wall_ms - (now_ms - before.now_ms);
        self.cx.time = Time { now_ms: now_ms.max(before.now_ms), wall_ms };
        if slept_ms > SLEPT_MS {
            self.mark_stale();
        }
        match input {
            Input::Start => self.start_connection(),
            Input::Stop => self.stop_client(),
            Input::Wake => {
                self.run_timers();
                self.wake_connection();
            }
            Input::Timeout => self.run_timers(),
            Input::Answered { request, answer } => self.finish_request(request, Some(&answer)),
            Input::Unanswered { request } => self.finish_request(request, None),
            Input::Opened { socket, protocol } => self.handle_open(socket, protocol),
            Input::Received { socket, data } => self.handle_data(socket, data),
            Input::Closed { socket, code } => self.handle_close(socket, code),
            Input::Command { command, wish } => self.handle_command(command, wish),
            Input::Shared { session } => self.adopt_tokens(&session),
            Input::Join => self.request_join(),
            Input::SignIn { call, path, body } => self.sign_in(call, &path, &body),
            Input::Forget => self.forget_player(),
            Input::Call { number, call } => self.begin_call(number, call),
        }
    }

    fn run_timers(&mut self) {
        for number in self.cx.timers.due_timers(self.cx.now()) {
            // An earlier timer may have cancelled this one.
            let Some(timer) = self.cx.timers.take_timer(number) else {
                continue;
            };
            match timer {
                Timer::RequestTimeout { request } => self.finish_request(request, None),
                Timer::RenewAhead => self.renew_ahead_now(),
                Timer::RefreshStored { attempt, refresh } => {
                    self.refresh_unless_late(attempt, refresh);
                }
                Timer::RepeatCall(call) => self.attempt_call(*call),
                Timer::EndPause => self.connect(false),
                Timer::AttemptTimeout => self.retry_connection("it took too long", None),
                Timer::Hedge { socket } => self.hedge_socket(socket),
                Timer::Ping { socket } => self.ping_socket(socket),
                Timer::Watchdog(check) => self.run_check(check),
                Timer::Rejoin => self.request_join(),
                Timer::RejoinIfWanted => {
                    if self.join == Join::Wanted {
                        self.request_join();
                    }
                }
                Timer::SendCommands => self.send_commands(),
            }
        }
    }

    fn finish_request(&mut self, request: u64, answer: Option<&HttpAnswer>) {
        let Some(purpose) = self.cx.finish_request(request) else {
            return;
        };
        let answer = answer.and_then(ServerAnswer::read);
        let answer = answer.as_ref();
        match purpose {
            Purpose::Refresh { attempt, refresh } => self.end_refresh(attempt, &refresh, answer),
            Purpose::SignInByDevice { attempt, has_name } => {
                self.end_sign_in_by_device(attempt, has_name, answer);
            }
            Purpose::SignIn { call } => self.end_sign_in(call, answer),
            Purpose::Call(call) => self.end_call(*call, answer),
        }
    }

    fn stop_client(&mut self) {
        self.stop_connection();
        self.give_up_commands();
        self.state.seek = None;
    }

    fn forget_player(&mut self) {
        if self.session.stored.as_ref().is_some_and(|stored| stored.by_device) {
            // A device that signs the player in by itself gets a new secret.
            self.session.device = None;
            self.cx.store(StoreKey::Device, None);
        }
        self.forget_session();
        self.give_up_commands();
        self.clear_player();
    }

    /// Ends the connection and removes the player's state.
    fn clear_player(&mut self) {
        self.stop_connection();
        let player = self.session.player().cloned();
        let state = &mut self.state;
        (state.table, state.seek, state.watched, state.player) = (None, None, None, player);
        (state.wallet, state.notices) = (None, None);
        self.close_hint();
        self.cx.store(StoreKey::Table, None);
    }

    /// Returns the time since a moment, for a moment in the past.
    fn ms_since(&self, ms: i64) -> i64 {
        self.cx.now() - ms
    }

    /// Returns a random part of the delay after this number of failures.
    fn backoff_ms(&self, longest_ms: i64) -> i64 {
        let doublings = self.failures.saturating_sub(1).min(16);
        (BACKOFF_MIN_MS << doublings).min(longest_ms)
    }

    fn set_link(&mut self, link: Link) {
        if self.state.link == link {
            return;
        }
        self.state.link = link.clone();
        self.state.player = self.session.player().cloned();
        self.cx.notify(Notification::Link(link));
    }

    /// Shows a table and stores it.
    fn keep_table(&mut self, table: TableState) {
        // Versions increase between two snapshots, so the same one can only be the last.
        self.tags.pop_back_if(|(version, _)| *version == table.version);
        self.tags.push_back((table.version, table.tag));
        if self.tags.len() > TAGS_MAX {
            self.tags.pop_front();
        }
        if self.stores_table {
            let player = self.session.player().map(|player| player.id);
            self.cx.store(StoreKey::Table, write_stored(&table, player));
        }
        let game = game_of(&table.view);
        if table.is_current && self.seed.as_ref().is_some_and(|seed| Some(seed.game) != game) {
            self.seed = None;
            self.cx.store(StoreKey::Seed, None);
        }
        self.state.table = Some(table);
        self.close_hint();
    }

    /// Removes a hint whose prompt is no longer open.
    fn close_hint(&mut self) {
        let prompt = self.state.table.as_ref().and_then(|table| table.prompt.as_ref());
        let open = prompt.map(|prompt| (prompt.game, prompt.number));
        self.state.hint.take_if(|hint| open != Some((hint.game, hint.prompt)));
    }

    fn has_unanswered(&self) -> bool {
        self.join_id.is_some() || self.outbox.has_unanswered()
    }

    fn is_urgent(&self) -> bool {
        self.state.table.as_ref().is_some_and(TableState::is_prompted) || self.has_unanswered()
    }
}

/// Returns the times within the bounds in which their sums do not overflow.
fn clamp_times(Time { now_ms, wall_ms }: Time) -> Time {
    Time { now_ms: clamp_time(now_ms), wall_ms: clamp_time(wall_ms) }
}

/// Adds a message to those received before the table has arrived.
fn keep_received(received: &mut Vec<SocketData>, data: SocketData) {
    if received.len() < crate::limits::BUFFERED_MAX {
        received.push(data);
    }
}
