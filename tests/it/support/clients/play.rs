//! Players at sockets: they join, become ready, and answer prompts as the house's bot does.

use std::time::Duration;

use bahay::ws::protocol::{Command, Message};
use bahay_client_tokio::{Client, ClientTable, Play, PlayError};
use bahay_engine::catalog::{AnyAction, AnyEvent, AnyGame};
use bahay_engine::table::{Event, GameId, PhaseView, TableId};
use tokio::time::timeout;

use crate::support::house::{House, PATIENCE, join_table};

/// Commands of which the answer is awaited, and messages that must arrive.
pub(crate) trait TestPlay {
    fn connection(&mut self) -> &mut Play;

    /// Returns the next message.
    async fn next_message(&mut self) -> Message<AnyGame> {
        timeout(PATIENCE, self.connection().next()).await.expect("a message arrives").unwrap()
    }

    /// Returns the messages up to the one that acknowledges a command: an ack, or an update that
    /// carries the ack.
    async fn messages_until_ack(&mut self, command: u32) -> Vec<Message<AnyGame>> {
        let mut messages = vec![];
        loop {
            let message = self.next_message().await;
            let is_refused = matches!(message, Message::Refusal { id, .. } if id == Some(command));
            assert!(!is_refused, "{message:?}");
            let is_acked = message.acked_command() == Some(command);
            messages.push(message);
            if is_acked {
                return messages;
            }
        }
    }

    /// Returns the messages before the answer to a ping, which is always an ack.
    async fn messages_until_ping(&mut self) -> Vec<Message<AnyGame>> {
        let pinging = self.connection().send(|id| Command::Ping { id }).await.unwrap();
        let mut messages = self.messages_until_ack(pinging).await;
        assert_eq!(messages.pop(), Some(Message::Ack { id: pinging, version: None }));
        messages
    }

    /// Acts as the house's bot does if the player has a prompt other than the one it `answered`.
    async fn answer_prompt(&mut self, answered: &mut Option<u32>) {
        let play = self.connection();
        let question = play.prompt().map(|prompt| prompt.number);
        if question != *answered
            && let Some(action) = play.advice()
        {
            *answered = question;
            play.act(action).await.unwrap();
        }
    }

    /// Waits for an update with this event.
    async fn wait_for_event(&mut self, event: Event<AnyEvent>) {
        loop {
            if let Message::Update { events, .. } = self.next_message().await
                && events.contains(&event)
            {
                return;
            }
        }
    }

    /// Waits for the acknowledgement of a command.
    async fn confirm(&mut self, command: u32) {
        self.connection().wait_for_answer(command).await.unwrap();
    }

    /// Sends a command and waits for its answer.
    async fn execute(
        &mut self,
        command: impl FnOnce(u32) -> Command<AnyAction>,
    ) -> Result<(), PlayError> {
        let sent = self.connection().send(command).await?;
        self.connection().wait_for_answer(sent).await.map(drop)
    }

    async fn confirm_join(&mut self) {
        let joining = self.connection().join().await.unwrap();
        self.confirm(joining).await;
    }

    /// Returns the code with which a command is refused.
    async fn refusal_of(&mut self, command: u32) -> String {
        let answer = timeout(PATIENCE, self.connection().wait_for_answer(command)).await;
        refusal_code(answer.expect("the command is answered"))
    }

    async fn confirm_ready(&mut self, game: GameId) {
        let readying = self.connection().ready(game, None).await.unwrap();
        self.confirm(readying).await;
    }

    async fn confirm_action(&mut self, action: AnyAction) {
        let acting = self.connection().act(action).await.unwrap();
        self.confirm(acting).await;
    }

    async fn confirm_leave(&mut self) {
        let leaving = self.connection().leave().await.unwrap();
        self.confirm(leaving).await;
    }

    /// Receives the answer to a ping, after all messages that were sent before it.
    async fn ping(&mut self) {
        self.execute(|id| Command::Ping { id }).await.unwrap();
    }

    /// Reads messages until the player's copy of the table satisfies the condition.
    async fn read_until(&mut self, what: &str, mut holds: impl FnMut(&Play) -> bool) {
        let play = self.connection();
        let reading = async {
            while !holds(play) {
                play.next().await.unwrap();
            }
        };
        let read = timeout(PATIENCE, reading).await;
        read.unwrap_or_else(|_| panic!("not seen: {what}: {:?}", play.view()));
    }

    /// Returns the game that the table prepares, once it prepares one.
    async fn prepared_game(&mut self) -> GameId {
        self.read_until("a preparation", |play| prepared_game(play).is_some()).await;
        prepared_game(self.connection()).expect("the table prepares a game")
    }

    /// Declares readiness for the game that the table prepares.
    async fn become_ready(&mut self) -> GameId {
        let game = self.prepared_game().await;
        self.confirm_ready(game).await;
        game
    }

    /// Reads messages until the server closes the connection.
    async fn closing_error(&mut self) -> PlayError {
        loop {
            let next = timeout(PATIENCE, self.connection().next()).await;
            if let Err(error) = next.expect("the socket closes") {
                return error;
            }
        }
    }

    /// Returns the code with which the server closes the connection.
    async fn close_code(&mut self) -> u16 {
        match self.closing_error().await {
            PlayError::Closed { code, .. } => code,
            other => panic!("{other}"),
        }
    }

    /// Acts as the house's bot would, until the condition holds. An action is refused only if the
    /// clock was faster.
    async fn act_until(&mut self, what: &str, mut holds: impl FnMut(&Play) -> bool) {
        let play = self.connection();
        let acting = async {
            while !holds(play) {
                let Some(action) = play.advice() else {
                    play.next().await.unwrap();
                    continue;
                };
                if let Ok(id) = play.act(action).await {
                    let _ = play.wait_for_answer(id).await;
                }
            }
        };
        let acted = timeout(PATIENCE, acting).await;
        acted.unwrap_or_else(|_| panic!("not seen: {what}: {:?}", play.view()));
    }
}

impl TestPlay for Play {
    fn connection(&mut self) -> &mut Play {
        self
    }
}

/// Returns the code of a refusal.
pub(crate) fn refusal_code(answer: Result<impl Sized, PlayError>) -> String {
    match answer {
        Err(PlayError::Refused { code, .. }) => code,
        Err(error) => panic!("the command failed without a refusal: {error}"),
        Ok(_) => panic!("the command was accepted"),
    }
}

/// Returns the game that the table prepares now.
pub(crate) fn prepared_game(play: &Play) -> Option<GameId> {
    match play.view()?.phase {
        PhaseView::Preparing { game, .. } => Some(game),
        _ => None,
    }
}

pub(crate) fn is_playing(play: &Play) -> bool {
    matches!(play.view().map(|view| &view.phase), Some(PhaseView::Playing { .. }))
}

/// Returns whether the player itself is asked.
pub(crate) fn is_asked(play: &Play) -> bool {
    play.prompt().is_some_and(|prompt| !prompt.legal.is_empty())
}

/// Returns the connection that is asked, of those of all players.
pub(crate) fn asked_player(plays: &[Play]) -> usize {
    plays.iter().position(is_asked).expect("a player is asked")
}

/// Opens a connection of a client for each table seat.
pub(crate) async fn join_tables<'a>(clients: impl IntoIterator<Item = &'a Client>) -> Vec<Play> {
    let mut plays = vec![];
    for client in clients {
        plays.push(join_table(client).await);
    }
    plays
}

/// Seats three guests at one table of the house, and opens a connection for each.
pub(crate) async fn join_new_table(house: &House) -> (TableId, [Client; 3], Vec<Play>) {
    let (table, clients) = house.table().await;
    let plays = join_tables(&clients).await;
    (table, clients, plays)
}

/// Opens a connection that continues from the copy of the table of an earlier one.
pub(crate) async fn rejoin(client: &Client, known: ClientTable) -> Play {
    let mut play = client.play().await.unwrap();
    play.resume(known);
    play.confirm_join().await;
    play
}

/// Makes all players ready.
pub(crate) async fn become_ready(plays: &mut [Play]) -> GameId {
    let mut game = None;
    for play in plays {
        game = Some(play.become_ready().await);
    }
    game.expect("there are players")
}

/// Makes all players ready, and waits until each sees the first prompt.
pub(crate) async fn deal_game(plays: &mut [Play]) -> GameId {
    let game = become_ready(plays).await;
    for play in plays {
        play.read_until("the first prompt", |play| play.prompt().is_some()).await;
    }
    game
}

/// Plays as the house's bot does until the game is settled.
pub(crate) async fn play_until_settled(mut play: Play) -> Play {
    let mut answered = None;
    loop {
        play.answer_prompt(&mut answered).await;
        if let Message::Update { events, .. } = play.next_message().await
            && events.iter().any(|event| matches!(event, Event::Settled { .. }))
        {
            return play;
        }
    }
}

/// Reads the messages of each connection in turn until the condition holds.
pub(crate) async fn read_all_until(plays: &mut [Play], holds: impl Fn(&[Play]) -> bool) {
    let reading = async {
        while !holds(plays) {
            for play in plays.iter_mut() {
                if let Ok(message) = timeout(Duration::from_millis(5), play.next()).await {
                    message.unwrap();
                }
            }
        }
    };
    timeout(PATIENCE * 4, reading).await.expect("the condition holds in time");
}
