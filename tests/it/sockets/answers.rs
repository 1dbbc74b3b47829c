//! Tests of the answers to commands: an update with the ack, or an ack if the command has no effect
//! that its player is shown. What one seat alone is told, its readiness and its revealed text,
//! reaches no other seat in any form of messages.

use bahay::social::Phrase;
use bahay::ws::protocol::brief::Form;
use bahay::ws::protocol::{Command, Message};
use bahay_client_tokio::{Client, Play};
use bahay_engine::catalog::{AnyAction, AnyEvent, AnyGame};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, GameId, PhaseView};

use crate::support::house::{House, join_table};
use crate::support::play::{TestPlay as _, is_asked, join_tables, read_all_until};

type Happened = Event<AnyEvent>;

/// Starts a house in which three guests sit at one table, each with another form of messages.
async fn seat_all_forms() -> (House, Vec<Client>) {
    let (house, _, clients) = House::with_table().await;
    let forms = clients.into_iter().zip(Form::ALL);
    (house, forms.map(|(client, form)| client.with_form(form)).collect())
}

fn own_seat(play: &Play) -> Seat {
    play.view().and_then(|view| view.seat).expect("the player has a seat")
}

/// Sends a command, and returns all messages until the answer to a ping that follows it, with the
/// answers to the command.
async fn collect_answers(
    play: &mut Play,
    command: impl FnOnce(u32) -> Command<AnyAction>,
) -> (Vec<Message<AnyGame>>, Vec<Message<AnyGame>>) {
    let sent = play.send(command).await.unwrap();
    let messages = play.messages_until_ping().await;
    let is_answer = |message: &&Message<AnyGame>| match message {
        Message::Refusal { id, .. } => *id == Some(sent),
        message => message.acked_command() == Some(sent),
    };
    let answers = messages.iter().filter(is_answer).cloned().collect();
    (messages, answers)
}

/// Sends a command, and returns the events of the update that is its only answer.
async fn expect_update(
    play: &mut Play,
    command: impl FnOnce(u32) -> Command<AnyAction>,
) -> Vec<Happened> {
    let (messages, answers) = collect_answers(play, command).await;
    match &answers[..] {
        [Message::Update { events, .. }] => events.clone(),
        _ => panic!("the answers are {answers:?} of {messages:?}"),
    }
}

/// Sends a command that shows its player nothing, and returns the version of its only answer, an
/// ack.
async fn expect_ack(
    play: &mut Play,
    command: impl FnOnce(u32) -> Command<AnyAction>,
) -> Option<u64> {
    let (messages, answers) = collect_answers(play, command).await;
    assert!(!messages.iter().any(|message| matches!(message, Message::Update { .. })));
    match &answers[..] {
        [Message::Ack { version, .. }] => *version,
        _ => panic!("the answers are {answers:?} of {messages:?}"),
    }
}

fn join(id: u32) -> Command<AnyAction> {
    Command::Join { id, from: None, tag: None, table: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_with_a_visible_effect_is_answered_by_one_update() {
    let (house, clients) = seat_all_forms().await;
    let mut plays = vec![];
    for client in &clients {
        let mut play = client.play().await.unwrap();
        let events = expect_update(&mut play, join).await;
        let seat = own_seat(&play);
        assert!(events.contains(&Event::Presence { seat, connected: true }), "{events:?}");
        plays.push(play);
    }
    let game = plays[0].prepared_game().await;
    for play in &mut plays {
        let ready = |id| Command::Ready { id, game, commitment: None };
        let events = expect_update(play, ready).await;
        assert!(events.contains(&Event::Ready { seat: own_seat(play) }), "{events:?}");
    }
    assert_eq!(deal_ready_game(&mut plays).await, game);
    act_with_all(&mut plays).await;
    for play in &mut plays {
        let seat = own_seat(play);
        let events = expect_update(play, |id| Command::Leave { id }).await;
        assert!(events.contains(&Event::Takeover { seat, on: true }), "{events:?}");
        let events = expect_update(play, |id| Command::TakeBack { id }).await;
        assert!(events.contains(&Event::Takeover { seat, on: false }), "{events:?}");
    }
    // A player who leaves between games is shown that the seat is free.
    for form in Form::ALL {
        let [staying, leaving] = [house.guest("Dante").await, house.guest("Elena").await];
        staying.seat("newbie").await.unwrap();
        leaving.seat("newbie").await.unwrap();
        let mut play = join_table(&leaving.with_form(form)).await;
        let (seat, player) = (own_seat(&play), leaving.player());
        let events = expect_update(&mut play, |id| Command::Leave { id }).await;
        let left = |event: &Happened| {
            matches!(event, Event::Left { seat: of, player: who, .. }
                if (*of, *who) == (seat, player))
        };
        assert!(events.iter().any(left), "{events:?}");
        staying.leave().await.unwrap();
    }
}

/// Waits until each player sees the first prompt of the game that all are ready for.
async fn deal_ready_game(plays: &mut [Play]) -> GameId {
    read_all_until(plays, |plays| plays.iter().all(|play| play.prompt().is_some())).await;
    plays[0].prompt().expect("a prompt is open").game
}

/// Plays as the house's bot does until each player has acted.
async fn act_with_all(plays: &mut [Play]) {
    let mut has_acted = vec![false; plays.len()];
    while has_acted.contains(&false) {
        read_all_until(plays, |plays| plays.iter().any(is_asked)).await;
        let turn = plays.iter().position(is_asked).expect("a player is asked");
        let play = &mut plays[turn];
        let (game, prompt) = play.prompt().map(|open| (open.game, open.number)).unwrap();
        let action = play.advice().expect("the asked player has an action");
        let act = |id| Command::Act { id, game, prompt, action };
        let events = expect_update(play, act).await;
        let is_game = |event: &Happened| matches!(event, Event::Game { .. });
        assert!(events.iter().any(is_game), "{events:?}");
        has_acted[turn] = true;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_without_a_visible_effect_is_answered_by_an_ack() {
    let (_house, clients) = seat_all_forms().await;
    let mut plays = join_tables(&clients).await;
    for play in &mut plays {
        // The others have joined meanwhile.
        play.ping().await;
        assert_eq!(expect_ack(play, |id| Command::Ping { id }).await, None);
        let said = |id| Command::Say { id, phrase: Phrase::Hello };
        assert_eq!(expect_ack(play, said).await, None);
        // The table knows the connection already.
        let acked = expect_ack(play, join).await;
        assert_eq!((acked, acked.is_some()), (play.version(), true));
    }
}

/// A player and everything that it has received of its table since it joined.
struct Listener {
    client: Client,
    play: Play,
    heard: Vec<Message<AnyGame>>,
}

impl Listener {
    async fn join(client: Client) -> Self {
        let play = join_table(&client).await;
        Self { client, play, heard: vec![] }
    }

    /// Receives all messages sent so far, and returns how many there are.
    async fn receive_pending(&mut self) -> usize {
        let messages = self.play.messages_until_ping().await;
        let count = messages.len();
        self.heard.extend(messages);
        count
    }

    async fn receive_until(&mut self, holds: impl Fn(&PhaseView<AnyGame>) -> bool) {
        while !self.play.view().is_some_and(|view| holds(&view.phase)) {
            let message = self.play.next_message().await;
            self.heard.push(message);
        }
    }

    /// Sends a command, and receives the messages up to the update that acknowledges it.
    async fn execute(&mut self, command: impl FnOnce(u32) -> Command<AnyAction>) {
        let sent = self.play.send(command).await.unwrap();
        let messages = self.play.messages_until_ack(sent).await;
        assert!(matches!(messages.last(), Some(Message::Update { .. })), "{messages:?}");
        self.heard.extend(messages);
    }

    async fn reveal(&mut self) {
        let sent = self.play.reveal().await.unwrap().expect("the player is asked");
        let messages = self.play.messages_until_ack(sent).await;
        assert!(matches!(messages.last(), Some(Message::Update { .. })), "{messages:?}");
        self.heard.extend(messages);
    }

    /// Loses the connection and resumes from the last known version.
    async fn resume(self) -> Self {
        let Self { client, play, mut heard } = self;
        let known = play.drop_connection();
        let mut play = client.play().await.unwrap();
        play.resume(known);
        let joining = play.join().await.unwrap();
        let messages = play.messages_until_ack(joining).await;
        let is_snapshot = |message: &Message<_>| matches!(message, Message::Snapshot { .. });
        assert!(!messages.iter().any(is_snapshot), "the missed updates follow: {messages:?}");
        heard.extend(messages);
        Self { client, play, heard }
    }

    /// Returns all events in order, and checks that no version is missing or repeated.
    fn events(&self) -> Vec<Happened> {
        let mut last = None;
        let mut happened = vec![];
        for message in &self.heard {
            if let Message::Update { version, events, .. } = message {
                assert!(last.is_none_or(|last| *version == last + 1), "{:?}", self.heard);
                assert!(!events.is_empty(), "version {version} has no events");
                last = Some(*version);
                happened.extend(events.iter().cloned());
            }
        }
        happened
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_and_revealed_texts_are_told_to_their_seat_alone() {
    let (_house, clients) = seat_all_forms().await;
    let mut seats = vec![];
    for client in clients {
        seats.push(Listener::join(client).await);
    }
    for seat in &mut seats {
        seat.receive_pending().await;
        seat.heard.clear();
    }
    // The first two take part in the deal.
    let game = seats[0].play.prepared_game().await;
    for number in 0..2 {
        let text = format!("text {number}");
        let sent = seats[number].play.ready(game, Some(text)).await.unwrap();
        let messages = seats[number].play.messages_until_ack(sent).await;
        seats[number].heard.extend(messages);
        for (other, seat) in seats.iter_mut().enumerate().filter(|(other, _)| *other != number) {
            assert_eq!(seat.receive_pending().await, 0, "seat {other} was told of {number}");
        }
    }
    // One of them resumes, and sees what a snapshot of the same line shows.
    let resumed = seats.remove(0).resume().await;
    let fresh = join_table(&resumed.client).await;
    assert_eq!(fresh.view(), resumed.play.view());
    assert_eq!(fresh.tag(), resumed.play.tag());
    let PhaseView::Preparing { ready, .. } = &fresh.view().unwrap().phase else {
        panic!("the game is not prepared");
    };
    assert_eq!(ready.iter().collect::<Vec<_>>(), [own_seat(&fresh)]);
    seats.insert(0, resumed.resume().await);

    seats[2].execute(|id| Command::Ready { id, game, commitment: None }).await;
    for seat in &mut seats {
        seat.receive_until(|phase| matches!(phase, PhaseView::Revealing { .. })).await;
    }
    seats[0].reveal().await;
    let resumed = seats.remove(1).resume().await;
    seats.insert(1, resumed);
    seats[1].reveal().await;
    for seat in &mut seats {
        seat.receive_until(|phase| matches!(phase, PhaseView::Playing { .. })).await;
    }
    for (number, seat) in seats.iter().enumerate() {
        let own = own_seat(&seat.play);
        let mut told = seat.events();
        told.retain(|event| {
            matches!(
                event,
                Event::Ready { .. }
                    | Event::Opening { .. }
                    | Event::Revealing { .. }
                    | Event::Revealed { .. }
                    | Event::Opened { .. }
            )
        });
        let is_revealer = number < 2;
        assert_eq!(told.len(), if is_revealer { 5 } else { 4 }, "{told:?}");
        assert_eq!(told[0], Event::Ready { seat: own });
        assert_eq!(told[1], Event::Opening { game });
        assert!(matches!(told[2], Event::Revealing { game: of, .. } if of == game), "{told:?}");
        if is_revealer {
            assert_eq!(told[3], Event::Revealed { seat: own });
        }
        assert!(matches!(told.last(), Some(Event::Opened { game: of, .. }) if *of == game));
    }
}
