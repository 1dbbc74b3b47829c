//! The life of one player: signs in as a guest, asks for a seat, connects, plays as the house's bot
//! would after thinking for a while, and comes back whenever the connection breaks.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bahay_engine::game::Game;
use bahay_engine::table::{Event, PhaseView, TableId};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use super::Mode;
use super::asked::{Question, just_in_time, plays, question};
use super::audit::audit;
use super::board::{Place, Teller};
use super::crowd::{Crowd, Order, Orders};
use super::dice::{Dice, Habit};
use super::frames::Seen;
use super::tally::{Count, Figure, TIMER};
use crate::client::{Client, ClientError, ClientTable, Play, PlayError, RawMessage};
use crate::clock::Moment;
use crate::entropy;
use crate::ws::protocol::Message;
use bahay_engine::catalog::AnyGame;

/// Before something that was refused or failed is tried again.
const PAUSE: Duration = Duration::from_millis(250);

/// After a command that was refused as too fast: the server takes 20 a second for long.
const TOO_FAST_PAUSE: Duration = Duration::from_millis(50);

/// Longer than anything may take on the way to a table.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a slow player leaves a message unread.
const UNREAD: Duration = Duration::from_millis(100);

/// What an access token is refused with that has had its time.
const TOKEN_EXPIRED: &str = "token_expired";

/// By how much a slow player thinks longer.
const SLOWER: u32 = 4;

/// How a connection came to its end.
enum End {
    /// The player is to go.
    Over,
    /// There is no seat any more.
    Unseated,
    /// Broken off on purpose; back after this time.
    BrokenOff(Duration),
    /// Not opened, because the access token has had its time.
    Expired,
    /// Broken.
    Lost(String),
}

/// Why a player leaves the room for good.
enum Gone {
    Over,
    Broke,
    Refused,
}

/// One player of the crowd.
pub(super) struct Player {
    crowd: Arc<Crowd>,
    number: u32,
    dice: Dice,
    habit: Habit,
    orders: Orders,
    /// Held from signing in until a table is joined, so that tables fill one after the other.
    arriving: Option<OwnedSemaphorePermit>,
}

/// What a connection knows beside its table.
struct Sitting {
    crowd: Arc<Crowd>,
    /// Reads records.
    client: Client,
    /// The table's board, and the node of this connection.
    place: Arc<Place>,
    /// Once it is joined.
    teller: Option<Teller>,
    seen: Seen,
    /// The id of `join`, until it is answered.
    join: Option<u32>,
    came_back: Option<Moment>,
    asked_for_seat: Option<Moment>,
    /// The question that is being thought about or was answered, and when to say what.
    question: Option<Question>,
    due: Option<Moment>,
    /// Actions that were sent: their ids, and when they were meant.
    sent: Option<(u32, Moment)>,
    over_at: Option<Moment>,
}

impl Drop for Sitting {
    fn drop(&mut self) {
        if self.teller.is_some() {
            self.crowd.dropped_out();
        }
    }
}

/// A player with a connection and no table.
struct Standing(Arc<Crowd>);

impl Standing {
    fn new(crowd: Arc<Crowd>) -> Self {
        crowd.standing.fetch_add(1, Ordering::Relaxed);
        Self(crowd)
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.standing.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Player {
    pub(super) fn new(crowd: Arc<Crowd>, number: u32, orders: Orders) -> Self {
        let mut dice = Dice::new(crowd.options.seed, number);
        let habit = Habit::of(&mut dice, &crowd.options);
        Self { crowd, number, dice, habit, orders, arriving: None }
    }

    /// Plays until the orders say otherwise.
    pub(super) async fn live(mut self) {
        while !self.orders.over_for(self.number) {
            let Some(mut client) = self.sign_in().await else {
                continue;
            };
            if !self.orders.to_sit() {
                self.stand(&mut client).await;
            }
            match self.play_on(&mut client).await {
                Gone::Over => return,
                Gone::Broke => self.crowd.tally.count(Count::Broke, 1),
                Gone::Refused => sleep(PAUSE).await,
            }
        }
    }

    async fn sign_in(&mut self) -> Option<Client> {
        let crowd = self.crowd.clone();
        self.arrive().await;
        let device = format!("load-{}", entropy::uuid());
        let door = crowd.nodes.client(crowd.nodes.of_player(self.number));
        match door.another_guest(&device, &format!("Load {}", self.number)).await {
            Ok(client) => {
                crowd.tally.count(Count::Guests, 1);
                Some(client.with_form(crowd.options.form.into()))
            }
            Err(error) => {
                crowd.failed(&error);
                self.rest(PAUSE).await;
                None
            }
        }
    }

    /// Waits until fewer are on their way.
    async fn arrive(&mut self) {
        if self.arriving.is_none() {
            // Closed only with the crowd.
            self.arriving = self.crowd.arrivals.clone().acquire_owned().await.ok();
        }
    }

    /// Keeps a connection without a table, until all are to sit down.
    async fn stand(&mut self, client: &mut Client) {
        while !self.orders.to_sit() && !self.orders.over_for(self.number) {
            let connected = match timeout(PATIENCE, client.play()).await {
                Ok(Ok(mut play)) => self.stand_by(&mut play).await,
                Ok(Err(error)) => Err(error),
                Err(_) => {
                    self.crowd.tally.error("connect_timeout");
                    continue;
                }
            };
            if let Err(error) = connected {
                if let PlayError::Upgrade { status, code } = &error {
                    self.crowd.note_refusal(*status, code);
                }
                match self.broken(&error) {
                    End::Expired if self.renew(client).await => continue,
                    End::Lost(code) => self.crowd.tally.error(&code),
                    _ => {}
                }
                sleep(PAUSE).await;
            }
        }
        self.arrive().await;
    }

    async fn stand_by(&mut self, play: &mut Play) -> Result<(), PlayError> {
        let mut orders = self.orders.clone();
        let mut standing = None;
        loop {
            tokio::select! {
                said = play.next_raw() => {
                    self.crowd.tally.heard(said?.as_bytes().len());
                    // The hello says that the connection serves.
                    standing.get_or_insert_with(|| Standing::new(self.crowd.clone()));
                    self.arriving = None;
                }
                () = orders.sitting(self.number) => return Ok(()),
            }
        }
    }

    /// New tokens for those that have had their time, as every client gets them; says whether it did.
    async fn renew(&self, client: &mut Client) -> bool {
        let base = client.base().to_owned();
        match client.renew_tokens_at(&base).await {
            Ok(()) => true,
            Err(error) => {
                self.crowd.failed(&error);
                false
            }
        }
    }

    /// From one table to the next.
    async fn play_on(&mut self, client: &mut Client) -> Gone {
        loop {
            if self.orders.over_for(self.number) {
                return Gone::Over;
            }
            let asked = Moment::now();
            let table = match client.seat(&self.crowd.options.room).await {
                Ok(table) => table,
                Err(ClientError::Refused { code, .. }) if code == "too_few_coins" => {
                    return Gone::Broke;
                }
                Err(ClientError::Refused { code, .. })
                    if code == TOKEN_EXPIRED && self.renew(client).await =>
                {
                    continue;
                }
                Err(error @ ClientError::Refused { status: 401, .. }) => {
                    self.crowd.failed(&error);
                    return Gone::Refused;
                }
                Err(error) => {
                    self.crowd.failed(&error);
                    self.rest(PAUSE).await;
                    continue;
                }
            };
            if self.stay(client, table, asked).await {
                return Gone::Over;
            }
        }
    }

    /// Stays at a table, through connections that come and go; says whether all is over.
    async fn stay(&mut self, client: &mut Client, table: TableId, asked: Moment) -> bool {
        let crowd = self.crowd.clone();
        let place = Arc::new(crowd.boards.place(table, &crowd.nodes));
        let node = crowd.nodes.client(place.node).base();
        let mut known = ClientTable::default();
        let mut asked = Some(asked);
        let mut came_back = None;
        loop {
            let (end, left) =
                self.connection(&client.with_base(node), &place, known, asked.take(), came_back).await;
            known = left;
            match end {
                End::Over => return true,
                End::Unseated => return false,
                End::BrokenOff(pause) => {
                    self.rest(pause).await;
                    came_back = Some(Moment::now());
                }
                End::Expired if self.renew(client).await => {
                    came_back.get_or_insert_with(Moment::now);
                }
                End::Expired => self.rest(PAUSE).await,
                End::Lost(code) => {
                    self.crowd.tally.error(&code);
                    came_back.get_or_insert_with(Moment::now);
                    let pause = self.dice.milliseconds(100, 400);
                    self.rest(pause).await;
                }
            }
            if self.orders.over_for(self.number) {
                return true;
            }
        }
    }

    /// One connection, from its opening to its end; also gives what is known of the table then.
    async fn connection(
        &mut self,
        client: &Client,
        place: &Arc<Place>,
        known: ClientTable,
        asked_for_seat: Option<Moment>,
        came_back: Option<Moment>,
    ) -> (End, ClientTable) {
        let crowd = self.crowd.clone();
        let mut play = match timeout(PATIENCE, client.play()).await {
            Ok(Ok(play)) => play,
            Ok(Err(error)) => {
                if let PlayError::Upgrade { status, code } = &error {
                    crowd.note_refusal(*status, code);
                }
                return (lost(&error), known);
            }
            Err(_) => return (End::Lost("connect_timeout".to_owned()), known),
        };
        play.resume(known);
        let mut sitting = Sitting {
            crowd: crowd.clone(),
            client: client.clone(),
            place: place.clone(),
            teller: None,
            seen: Seen::new(crowd.options.form.into(), self.number),
            join: None,
            came_back,
            asked_for_seat,
            question: None,
            due: None,
            sent: None,
            over_at: None,
        };
        let end = match play.join().await {
            Ok(join) => {
                sitting.join = Some(join);
                crowd.tally.count(Count::MessagesOut, 1);
                self.sit(&mut play, &mut sitting).await.unwrap_or_else(|error| self.broken(&error))
            }
            Err(error) => self.broken(&error),
        };
        if let End::Over = end {
            // It ends anyway; whether this arrives is of no account.
            let _ = timeout(PAUSE, play.leave()).await;
        }
        (end, play.drop_connection())
    }

    /// What no server may do is a fault; the rest happens on networks.
    fn broken(&self, error: &PlayError) -> End {
        if matches!(error, PlayError::Gap { .. } | PlayError::Nonsense(_)) {
            self.crowd.tally.fault(error.to_string());
        }
        lost(error)
    }

    async fn sit(&mut self, play: &mut Play, sitting: &mut Sitting) -> Result<End, PlayError> {
        let drops_after = match self.habit {
            Habit::Dropping => Some(self.dice.milliseconds(5_000, 15_000)),
            Habit::Steady | Habit::Slow | Habit::Idle => None,
        };
        // Made once and not for each message: to wait for something anew takes locks and lists.
        let drops = sleep(drops_after.unwrap_or_default());
        let number = self.number;
        let mut orders = self.orders.clone();
        let order = async move { (orders.next(number).await, orders) };
        let until_due = sleep(Duration::ZERO);
        tokio::pin!(drops, order, until_due);
        let (mut waits_until, mut is_leaving) = (None, false);
        loop {
            if is_leaving && !plays(play) {
                return Ok(End::Over);
            }
            let now = Moment::now();
            if sitting.due.is_some_and(|due| due <= now) {
                self.answer(play, sitting, now).await?;
            }
            if sitting.due != waits_until {
                waits_until = sitting.due;
                waits_until.into_iter().for_each(|due| until_due.set(sleep(due.since(now))));
            }
            tokio::select! {
                // What is woken for nearly always comes first: nothing else is asked before it, and
                // what is due is looked at after each message anyway.
                biased;
                said = play.next_raw() => {
                    let said = said?;
                    if let Some(end) = self.hear(play, sitting, &said) {
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
                        Order::Go if self.orders.at_once() => return Ok(End::Over),
                        Order::Go => is_leaving = true,
                        Order::BreakOff => return Ok(End::BrokenOff(Duration::ZERO)),
                    }
                }
                () = &mut drops, if drops_after.is_some() => {
                    return Ok(End::BrokenOff(self.dice.milliseconds(500, 2_000)));
                }
            }
        }
    }

    fn hear(&mut self, play: &mut Play, sitting: &mut Sitting, said: &RawMessage) -> Option<End> {
        let crowd = self.crowd.clone();
        let tally = &crowd.tally;
        let now = Moment::now();
        tally.heard(said.as_bytes().len());
        let message = match play.apply_raw(said) {
            Ok(message) => message,
            Err(error) => return Some(self.broken(&error)),
        };
        match sitting.seen.check(said, &message, play.view()) {
            Ok(None) => {}
            // Beside the player's own life.
            Ok(Some(shown)) => {
                tokio::spawn(audit(crowd.clone(), sitting.client.clone(), shown));
            }
            Err(leak) => tally.fault(format!("a player was shown what is hidden: {leak}")),
        }
        match &message {
            // It says nothing, looks for no table over the socket and asks for no hint.
            Message::Hello { .. }
            | Message::Said { .. }
            | Message::Ticket { .. }
            | Message::Invited { .. }
            | Message::Advice { .. } => {}
            Message::Snapshot { .. } => sitting.question = None,
            Message::Update { version, tag, events, .. } => {
                let teller = sitting.teller.as_mut();
                if let Some(taken) = teller.and_then(|it| it.heard(*version, *tag, now)) {
                    crowd.reached_all(taken);
                }
                for event in events {
                    self.happened(event, play, sitting, now);
                }
            }
            Message::Ack { id, .. } if sitting.join == Some(*id) => {
                sitting.join = None;
                self.arriving = None;
                sitting.teller = Some(Teller::join(sitting.place.board.clone()));
                crowd.joined();
                if let Some(came_back) = sitting.came_back.take() {
                    tally.took(Figure::Resume, now.since(came_back));
                    tally.count(Count::Resumes, 1);
                }
            }
            Message::Ack { id, version } => {
                if let Some((sent, meant)) = sitting.sent
                    && sent == *id
                {
                    sitting.sent = None;
                    crowd.acted(now.since(meant), sitting.place.node);
                    let taken = sitting.teller.as_ref().zip(*version);
                    if let Some(taken) = taken.and_then(|(it, version)| it.acted(version, meant)) {
                        crowd.reached_all(taken);
                    }
                }
            }
            Message::Closed { .. } => return Some(End::Unseated),
            Message::Refusal { id, code, retryable, .. } => {
                tally.error(code);
                if sitting.join.is_some() && *id == sitting.join {
                    return Some(match retryable {
                        true => End::BrokenOff(PAUSE),
                        false => End::Unseated,
                    });
                }
                if *retryable {
                    // The same question once more, a moment later.
                    sitting.due = Some(now.saturating_add(TOO_FAST_PAUSE));
                    return None;
                }
            }
        }
        let view = play.view()?;
        if view.seat.is_none() {
            return Some(End::Unseated);
        }
        if let Some(asked) = sitting.asked_for_seat
            && !matches!(view.phase, PhaseView::Waiting)
        {
            sitting.asked_for_seat = None;
            tally.took(Figure::MatchWait, now.since(asked));
        }
        self.think(play, sitting, now);
        None
    }

    fn happened(
        &self,
        event: &Event<<AnyGame as Game>::Event>,
        play: &Play,
        sitting: &mut Sitting,
        now: Moment,
    ) {
        match event {
            Event::Over { .. } => sitting.over_at = Some(now),
            Event::Settled { .. } => {
                if let Some(over_at) = sitting.over_at.take() {
                    self.crowd.tally.took(Figure::Settlement, now.since(over_at));
                }
                // One of the players counts the game: the first seat is always played.
                let seat = play.view().and_then(|view| view.seat);
                if seat.is_some_and(|seat| seat.index() == 0) {
                    self.crowd.tally.count(Count::Games, 1);
                }
            }
            _ => {}
        }
    }

    /// Notes a new question, and when it will be answered.
    fn think(&mut self, play: &Play, sitting: &mut Sitting, now: Moment) {
        let question = question(play);
        if question == sitting.question {
            return;
        }
        sitting.question = question;
        sitting.due = None;
        let Some(question) = question else {
            return;
        };
        let options = &self.crowd.options;
        let think = match (question, self.habit) {
            (Question::Ready(_) | Question::Reveal(_), _) => Duration::ZERO,
            (Question::Act(..), _) if options.mode == Mode::Idle => just_in_time(play),
            (Question::Act(..), Habit::Idle) => return,
            (Question::Act(..), Habit::Slow) => {
                self.dice.think(self.crowd.think_ms, options.spread).saturating_mul(SLOWER)
            }
            (Question::Act(..), Habit::Steady | Habit::Dropping) => {
                self.dice.think(self.crowd.think_ms, options.spread)
            }
        };
        sitting.due = Some(now.saturating_add(think));
    }

    /// Says what is due.
    async fn answer(
        &mut self,
        play: &mut Play,
        sitting: &mut Sitting,
        now: Moment,
    ) -> Result<(), PlayError> {
        let Some(due) = sitting.due.take() else {
            return Ok(());
        };
        let Some(question) = question(play) else {
            return Ok(());
        };
        let tally = &self.crowd.tally;
        tally.count(Count::MessagesOut, 1);
        match question {
            Question::Ready(game) => {
                play.ready(game, Some(format!("load {}", self.number))).await?;
            }
            Question::Reveal(_) => {
                play.reveal().await?;
            }
            Question::Act(..) => {
                let Some(action) = play.advice() else {
                    return Ok(());
                };
                let late = now.since(due);
                tally.took(Figure::Lag, late);
                let meant = if late <= TIMER { now } else { due };
                sitting.sent = Some((play.act(action).await?, meant));
            }
        }
        Ok(())
    }

    /// Waits, unless there are orders.
    async fn rest(&mut self, pause: Duration) {
        let mut orders = self.orders.clone();
        tokio::select! {
            () = sleep(pause) => {}
            _ = orders.next(self.number) => self.orders = orders.clone(),
        }
    }
}

fn lost(error: &PlayError) -> End {
    End::Lost(match error {
        PlayError::Upgrade { code, .. } if code == TOKEN_EXPIRED => return End::Expired,
        PlayError::Socket(_) => "socket".to_owned(),
        PlayError::Upgrade { status, code } => format!("upgrade_{status}_{code}"),
        PlayError::Closed { code, .. } => format!("closed_{code}"),
        PlayError::Nonsense(_) => "nonsense".to_owned(),
        PlayError::Gap { .. } => "gap".to_owned(),
        PlayError::Refused { code, .. } => code.clone(),
    })
}
