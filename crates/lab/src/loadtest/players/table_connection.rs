//! A player's play over one connection to a table: reads and checks every message, measures, and
//! answers as the house's bot does after a think time.

use std::sync::Arc;
use std::time::Duration;

use bahay_base::clock::Moment;
use bahay_client_tokio::{AwaitedInput, Client, ClientTable, Play, PlayError, RawMessage};
use bahay_engine::catalog::AnyGame;
use bahay_engine::game::Game;
use bahay_engine::table::{Event, PhaseView};
use bahay_engine::variants;
use bahay_protocol::Message;
use tokio::time::{sleep, timeout};

use super::audit::ObservedGame;
use super::board::{BoardSeat, SeatReporter};
use super::crowd::Order;
use super::frames::FrameChecker;
use super::player::{ConnectionEnd, LoadPlayer, PATIENCE, PAUSE};
use super::player_rng::Habit;
use crate::loadtest::Mode;
use crate::loadtest::counters::{Count, Figure, TIMER};

/// The back-off after a refusal of a command that may succeed later, doubled with each further
/// refusal up to [`BACK_OFF_MAX`]. By default the server admits one command of a socket every 50 ms
/// in the long run.
const BACK_OFF: Duration = Duration::from_millis(50);
const BACK_OFF_MAX: Duration = Duration::from_millis(800);

/// The refusal code of a command beyond the limit of the commands of a socket.
const TOO_FAST: &str = "too_fast";

/// The pause of a slow player before reading a message.
const UNREAD: Duration = Duration::from_millis(100);

/// The factor by which a slow player thinks longer.
const SLOWER: u32 = 4;

/// The state of one connection to a table.
struct TableConnection {
    /// The client that reads records.
    client: Client,
    /// The seat at the table's board, with the node of this connection.
    board_seat: Arc<BoardSeat>,
    /// The registration with the board, and the token of a playing player; `None` until the table
    /// is joined.
    joined: Option<(SeatReporter, Arc<()>)>,
    checker: FrameChecker,
    /// The id of the unanswered `join`.
    join: Option<u32>,
    came_back: Option<Moment>,
    asked_for_seat: Option<Moment>,
    /// The input under consideration or already answered; `due` is the time of the answer.
    question: Option<AwaitedInput>,
    due: Option<Moment>,
    /// The id of the last sent action, and the time at which it was meant.
    sent: Option<(u32, Moment)>,
    /// The pause after the next refusal.
    back_off: Duration,
    over_at: Option<Moment>,
}

/// The result of a check: a settled game that is to be compared with its record.
type Checked = Result<Option<ObservedGame>, String>;

impl TableConnection {
    /// Decodes a message, applies it to the player's copy of the table, and checks it.
    fn read_message(
        &mut self,
        play: &mut Play,
        frame: &RawMessage,
    ) -> Result<(Message<AnyGame>, Checked), PlayError> {
        let texts = self.checker.split(frame);
        let known = texts.as_ref().and_then(|texts| self.checker.decode_known(texts, play.view()));
        if let Some(message) = known {
            play.apply(&message)?;
            let checked = self.checker.check_known(&message, play.view());
            return Ok((message, checked));
        }
        let message = play.apply_raw(frame)?;
        let checked = self.checker.check(frame, texts.as_ref(), &message, play.view());
        Ok((message, checked))
    }
}

impl LoadPlayer {
    /// Plays over one connection from its opening to its end; also returns the state of the table
    /// for a resume.
    pub(in crate::loadtest) async fn play_connection(
        &mut self,
        client: &Client,
        board_seat: &Arc<BoardSeat>,
        known: ClientTable,
        asked_for_seat: Option<Moment>,
        came_back: Option<Moment>,
    ) -> (ConnectionEnd, ClientTable) {
        let crowd = self.crowd.clone();
        let mut play = match timeout(PATIENCE, client.play()).await {
            Ok(Ok(play)) => play,
            Ok(Err(error)) => {
                if let PlayError::Upgrade { status, code } = &error {
                    crowd.note_refusal(*status, code);
                }
                return (ConnectionEnd::from_error(&error), known);
            }
            Err(_) => return (ConnectionEnd::Lost("connect_timeout".to_owned()), known),
        };
        play.resume(known);
        let mut table = TableConnection {
            client: client.clone(),
            board_seat: board_seat.clone(),
            joined: None,
            checker: FrameChecker::new(crowd.options.form, self.number, crowd.known.clone()),
            join: None,
            came_back,
            asked_for_seat,
            question: None,
            due: None,
            sent: None,
            back_off: BACK_OFF,
            over_at: None,
        };
        let end = match play.join().await {
            Ok(join) => {
                table.join = Some(join);
                crowd.counters.count(Count::MessagesOut, 1);
                self.run_connection(&mut play, &mut table)
                    .await
                    .unwrap_or_else(|error| self.classify_error(&error))
            }
            Err(error) => self.classify_error(&error),
        };
        if let ConnectionEnd::Over = end {
            // The connection ends in any case, so a failure is ignored.
            let _ = timeout(PAUSE, play.leave()).await;
        }
        (end, play.drop_connection())
    }

    async fn run_connection(
        &mut self,
        play: &mut Play,
        table: &mut TableConnection,
    ) -> Result<ConnectionEnd, PlayError> {
        let disconnect_after = match self.habit {
            Habit::Dropping => Some(self.rng.draw_millis(5_000, 15_000)),
            Habit::Steady | Habit::Slow | Habit::Idle => None,
        };
        // The timers and the order future are created once: registering them for each message would
        // take locks and allocate.
        let disconnect = sleep(disconnect_after.unwrap_or_default());
        let number = self.number;
        let mut orders = self.orders.clone();
        let order = async move { (orders.next_order(number).await, orders) };
        let until_due = sleep(Duration::ZERO);
        tokio::pin!(disconnect, order, until_due);
        let mut waits_until = None;
        let mut is_leaving = false;
        loop {
            if is_leaving && !is_in_game(play) {
                return Ok(ConnectionEnd::Over);
            }
            let now = Moment::now();
            if table.due.is_some_and(|due| due <= now) {
                self.send_answer(play, table, now).await?;
            }
            if table.due != waits_until {
                waits_until = table.due;
                waits_until.into_iter().for_each(|due| until_due.set(sleep(due.since(now))));
            }
            tokio::select! {
                // Messages are by far the most frequent wake-up, so they are polled first; the due
                // time is checked after each message anyway.
                biased;
                frame = play.next_raw() => {
                    let frame = frame?;
                    if let Some(end) = self.handle_message(play, table, &frame) {
                        return Ok(end);
                    }
                    if self.habit == Habit::Slow {
                        sleep(UNREAD).await;
                    }
                }
                () = &mut until_due, if waits_until.is_some() => waits_until = None,
                (order, orders) = &mut order, if !is_leaving => {
                    self.orders = orders;
                    match order {
                        Order::Go if self.orders.leaves_at_once() => return Ok(ConnectionEnd::Over),
                        Order::Go => is_leaving = true,
                        Order::BreakOff => return Ok(ConnectionEnd::BrokenOff(Duration::ZERO)),
                    }
                }
                () = &mut disconnect, if disconnect_after.is_some() => {
                    return Ok(ConnectionEnd::BrokenOff(self.rng.draw_millis(500, 2_000)));
                }
            }
        }
    }

    fn handle_message(
        &mut self,
        play: &mut Play,
        table: &mut TableConnection,
        frame: &RawMessage,
    ) -> Option<ConnectionEnd> {
        let crowd = self.crowd.clone();
        let counters = &crowd.counters;
        let now = Moment::now();
        counters.count_message_in(frame.as_bytes().len());
        let (message, checked) = match table.read_message(play, frame) {
            Ok(read) => read,
            Err(error) => return Some(self.classify_error(&error)),
        };
        match checked {
            Ok(None) => {}
            // Audits run beside the player.
            Ok(Some(shown)) => {
                tokio::spawn(crowd.clone().audit(table.client.clone(), shown));
            }
            Err(leak) => counters.add_fault(format!("a player was shown what is hidden: {leak}")),
        }
        match &message {
            // The player does not chat, queue over the socket or ask for advice.
            variants!(Message: Hello, Said, Ticket, Invited, Standing, Advice) => {}
            Message::Snapshot { .. } => table.question = None,
            Message::Update { version, tag, events, ack, .. } => {
                if let Some((reporter, _)) = &mut table.joined
                    && let Some(taken) = reporter.record_update(*version, *tag, now)
                {
                    crowd.record_delivery(taken);
                }
                for event in events {
                    self.record_event(event, play, table, now);
                }
                if let Some(id) = ack {
                    self.record_ack(*id, Some(*version), table, now);
                }
            }
            Message::Ack { id, version } => self.record_ack(*id, *version, table, now),
            Message::Closed { .. } => return Some(ConnectionEnd::Unseated),
            Message::Refusal { id, code, retryable, .. } => {
                counters.count_error(code);
                if *code == TOO_FAST && table.sent.is_some_and(|(sent, _)| *id == Some(sent)) {
                    counters.count(Count::ActionsTooFast, 1);
                }
                if table.join.is_some() && *id == table.join {
                    return Some(match retryable {
                        true => ConnectionEnd::BrokenOff(PAUSE),
                        false => ConnectionEnd::Unseated,
                    });
                }
                if *retryable {
                    // The same input is answered again a moment later.
                    table.due = Some(now.saturating_add(table.back_off));
                    table.back_off = (table.back_off * 2).min(BACK_OFF_MAX);
                    return None;
                }
            }
        }
        let view = play.view()?;
        if view.seat.is_none() {
            return Some(ConnectionEnd::Unseated);
        }
        if let Some(asked) = table.asked_for_seat
            && !matches!(view.phase, PhaseView::Waiting)
        {
            table.asked_for_seat = None;
            counters.record_latency(Figure::MatchWait, now.since(asked));
        }
        self.schedule_answer(play, table, now);
        None
    }

    /// Records the ack of the join or of an action, with the version of its effects.
    fn record_ack(
        &mut self,
        id: u32,
        version: Option<u64>,
        table: &mut TableConnection,
        now: Moment,
    ) {
        let crowd = &self.crowd;
        table.back_off = BACK_OFF;
        if table.join == Some(id) {
            table.join = None;
            self.arriving = None;
            let reporter = SeatReporter::join(table.board_seat.board.clone());
            table.joined = Some((reporter, crowd.playing.add_player()));
            if let Some(came_back) = table.came_back.take() {
                crowd.counters.record_latency(Figure::Resume, now.since(came_back));
                crowd.counters.count(Count::Resumes, 1);
            }
        }
        if let Some((_, meant)) = table.sent.take_if(|(sent, _)| *sent == id) {
            crowd.record_move(now.since(meant), table.board_seat.node);
            if let (Some((reporter, _)), Some(version)) = (&table.joined, version)
                && let Some(taken) = reporter.record_ack(version, meant)
            {
                crowd.record_delivery(taken);
            }
        }
    }

    fn record_event(
        &self,
        event: &Event<<AnyGame as Game>::Event>,
        play: &Play,
        table: &mut TableConnection,
        now: Moment,
    ) {
        match event {
            Event::Over { .. } => table.over_at = Some(now),
            Event::Settled { .. } => {
                if let Some(over_at) = table.over_at.take() {
                    self.crowd.counters.record_latency(Figure::Settlement, now.since(over_at));
                }
                // The first seat always plays, so its player counts the game.
                let seat = play.view().and_then(|view| view.seat);
                if seat.is_some_and(|seat| seat.index() == 0) {
                    self.crowd.counters.count(Count::Games, 1);
                }
            }
            _ => {}
        }
    }

    /// Notes newly awaited input and schedules its answer.
    fn schedule_answer(&mut self, play: &Play, table: &mut TableConnection, now: Moment) {
        let question = play.awaited_input();
        if question == table.question {
            return;
        }
        table.question = question;
        table.due = None;
        let Some(question) = question else {
            return;
        };
        let options = &self.crowd.options;
        let think = match (question, self.habit) {
            (AwaitedInput::Ready(_) | AwaitedInput::Reveal(_), _) => Duration::ZERO,
            (AwaitedInput::Act(..), _) if options.mode == Mode::Idle => late_think_time(play),
            (AwaitedInput::Act(..), Habit::Idle) => return,
            (AwaitedInput::Act(..), Habit::Slow) => {
                self.rng.draw_think_time(self.crowd.think_ms, options.spread).saturating_mul(SLOWER)
            }
            (AwaitedInput::Act(..), Habit::Steady | Habit::Dropping) => {
                self.rng.draw_think_time(self.crowd.think_ms, options.spread)
            }
        };
        table.due = Some(now.saturating_add(think));
    }

    /// Sends the answer that is due.
    async fn send_answer(
        &mut self,
        play: &mut Play,
        table: &mut TableConnection,
        now: Moment,
    ) -> Result<(), PlayError> {
        let Some(due) = table.due.take() else {
            return Ok(());
        };
        let Some(question) = play.awaited_input() else {
            return Ok(());
        };
        let counters = &self.crowd.counters;
        counters.count(Count::MessagesOut, 1);
        match question {
            AwaitedInput::Ready(game) => {
                play.ready(game, Some(format!("load {}", self.number))).await?;
            }
            AwaitedInput::Reveal(_) => {
                play.reveal().await?;
            }
            AwaitedInput::Act(..) => {
                let Some(action) = play.advice() else {
                    return Ok(());
                };
                let late = now.since(due);
                counters.record_latency(Figure::Lag, late);
                let meant = now.min(due.saturating_add(TIMER));
                table.sent = Some((play.act(action).await?, meant));
            }
        }
        Ok(())
    }
}

/// Returns true from the opening of a game until its settlement.
fn is_in_game(play: &Play) -> bool {
    play.view().is_some_and(|view| match view.phase {
        variants!(PhaseView: Opening, Revealing, Playing, Settling) => true,
        variants!(PhaseView: Waiting, Preparing) => false,
    })
}

/// Returns a think time of three quarters of the countdown, so that a table does as little as
/// possible without timing out.
fn late_think_time(play: &Play) -> Duration {
    let prompt = match play.view().map(|view| &view.phase) {
        Some(PhaseView::Playing { view, .. }) => AnyGame::prompt_in_view(view),
        _ => None,
    };
    let countdown_ms = prompt.map_or(0, |prompt| prompt.countdown_ms);
    Duration::from_millis(countdown_ms.into()) * 3 / 4
}
