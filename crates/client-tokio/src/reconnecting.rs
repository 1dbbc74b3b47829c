//! A player who reconnects automatically: the table is followed without a gap, and every command
//! gets one outcome.
//!
//! When a connection breaks, the next address is tried, with randomized exponential back-off, and
//! the table is joined from the last known version. A command whose answer was lost is sent again
//! only if the table still waits for it: a numbered prompt is answered once. If the table has moved
//! on, the outcome is [`CommandOutcome::Overtaken`]: the command, the clock or the AI acted.
//! [`ATTEMPTS_MAX`] failed connections in a row are an error.

use std::time::Duration;

use bahay_base::entropy;
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::Commitment;
use bahay_engine::game::Game;
use bahay_engine::table::{Event, GameId, TableId, TableView};
use bahay_engine::variants;
use bahay_protocol::{Command, Message, OpenPrompt, close};

use crate::client::{Client, ClientError};
use crate::play::{Play, PlayError};
use crate::table::{AwaitedInput, ClientTable};

type Action = <AnyGame as Game>::Action;

/// The number of failed connections in a row before a player gives up, after about two minutes.
const ATTEMPTS_MAX: u32 = 64;
/// The bounds of the back-off, which starts at the first and doubles after each failure.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// The timeout of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause before a command is retried after a temporary rejection.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// An error that ends all attempts to reconnect.
#[derive(Debug, thiserror::Error)]
pub enum ReconnectError {
    /// Another connection of the same player took over.
    #[error("replaced by another connection of this player")]
    Replaced,
    #[error("the session has ended: {0}")]
    SignedOut(String),
    #[error("no connection after many attempts: {0}")]
    Unreachable(String),
    /// The server violated the protocol.
    #[error(transparent)]
    Broken(PlayError),
}

/// An event of a player's connection.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayEvent {
    /// A snapshot or an update, applied to the copy of the table.
    Table(Message<AnyGame>),
    Answered {
        command: CommandNumber,
        outcome: CommandOutcome,
    },
    /// The player sits at no table, for this reason: request a seat, then call
    /// [`ReconnectingPlay::join`].
    Unseated(String),
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command took effect, in this version or an earlier one.
    Done {
        version: Option<u64>,
    },
    /// The answer is lost: the command took effect or another input did, as the updates show.
    Overtaken,
    Refused {
        code: String,
        rule: Option<String>,
        detail: String,
    },
}

/// The number of a command of one [`ReconnectingPlay`], across connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandNumber(u64);

/// The intent of a command.
#[derive(Clone, Debug, PartialEq)]
enum Intent {
    Ready {
        game: GameId,
        commitment: Option<Commitment>,
    },
    /// Sent automatically when the table asks for it.
    Reveal {
        game: GameId,
        text: String,
    },
    Act {
        game: GameId,
        prompt: u32,
        action: Action,
    },
    TakeBack,
    Leave,
}

impl Intent {
    /// Returns true if the outcome is reported; the player does not know of automatic commands.
    fn is_reported(&self) -> bool {
        match self {
            Self::Reveal { .. } => false,
            Self::Ready { .. } | Self::Act { .. } | Self::TakeBack | Self::Leave => true,
        }
    }
}

/// A command without an outcome.
#[derive(Debug)]
struct PendingCommand {
    number: CommandNumber,
    intent: Intent,
    /// The id on the present connection, once the command was sent there.
    id: Option<u32>,
    /// The command was sent, and may have arrived.
    is_sent: bool,
    /// The command was sent more than once.
    is_repeated: bool,
}

/// The progress of joining the table on the present connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    Wanted,
    /// The join command was sent with this id.
    Asked(u32),
    Done,
    /// The player has no table, until it joins again.
    Nowhere,
}

/// A player at a table.
#[derive(Debug)]
pub struct ReconnectingPlay {
    client: Client,
    /// The nodes of the house; each attempt takes the next.
    bases: Vec<String>,
    next_base: usize,
    play: Option<Play>,
    /// The copy of the table at the end of the last connection.
    state: ClientTable,
    join: Join,
    pending: Vec<PendingCommand>,
    /// The last game for which a text was revealed.
    revealed: Option<GameId>,
    /// The outcome of the command that the last reported update acknowledged.
    next_event: Option<PlayEvent>,
    /// A temporary rejection requires a pause.
    is_backing_off: bool,
    numbers: u64,
    /// The number of failed connections in a row.
    failures: u32,
    last_error: String,
    connections: u64,
}

impl ReconnectingPlay {
    /// Creates a player who plays through any of these addresses, and connects at the first
    /// [`Self::next`]. No other user of the client may renew its tokens.
    pub fn new(client: Client, bases: &[String]) -> Self {
        let bases = if bases.is_empty() { vec![client.base().to_owned()] } else { bases.to_vec() };
        // A random start distributes players over the nodes.
        let next_base = entropy::random_duration(Duration::from_secs(3600)).as_millis();
        Self {
            client,
            bases,
            next_base: usize::try_from(next_base).unwrap_or(0),
            play: None,
            state: ClientTable::default(),
            join: Join::Wanted,
            pending: Vec::new(),
            revealed: None,
            next_event: None,
            is_backing_off: false,
            numbers: 0,
            failures: 0,
            last_error: String::new(),
            connections: 0,
        }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the player's copy of the table.
    fn state(&self) -> &ClientTable {
        self.play.as_ref().map_or(&self.state, Play::state)
    }

    fn state_mut(&mut self) -> &mut ClientTable {
        self.play.as_mut().map_or(&mut self.state, Play::state_mut)
    }

    pub fn view(&self) -> Option<&TableView<AnyGame>> {
        self.state().view()
    }

    pub fn version(&self) -> Option<u64> {
        self.state().version()
    }

    pub fn table(&self) -> Option<TableId> {
        self.state().table()
    }

    /// Returns the open prompt of the player's copy.
    pub fn prompt(&self) -> Option<&OpenPrompt<Action>> {
        self.state().prompt()
    }

    /// Returns the input that the table awaits from the player.
    pub fn awaited_input(&self) -> Option<AwaitedInput> {
        self.state().awaited_input()
    }

    /// Returns the action that a house bot would choose; `None` if other players are to act.
    pub fn advice(&self) -> Option<Action> {
        self.state().advice()
    }

    /// Returns the number of connections opened so far.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// Returns the number of commands without an outcome.
    pub fn unanswered(&self) -> usize {
        self.pending.len()
    }

    /// Breaks the connection as a network failure does. The next call reconnects.
    pub fn break_connection(&mut self) {
        if let Some(play) = self.play.take() {
            self.state = play.drop_connection();
        }
        if self.join != Join::Nowhere {
            self.join = Join::Wanted;
        }
        for open in &mut self.pending {
            open.id = None;
        }
    }

    /// Declares readiness. The text of the seed is revealed when the table asks for it.
    pub async fn ready(&mut self, game: GameId, text: Option<String>) -> CommandNumber {
        let commitment = self.state_mut().commit(game, text);
        self.submit(Intent::Ready { game, commitment }).await
    }

    /// Answers the open prompt; `None` if none is open.
    pub async fn act(&mut self, action: Action) -> Option<CommandNumber> {
        let prompt = self.prompt()?;
        let game = prompt.game;
        let prompt = prompt.number;
        Some(self.submit(Intent::Act { game, prompt, action }).await)
    }

    pub async fn take_back(&mut self) -> CommandNumber {
        self.submit(Intent::TakeBack).await
    }

    pub async fn leave(&mut self) -> CommandNumber {
        self.submit(Intent::Leave).await
    }

    /// Joins again, after the player was given another seat.
    pub fn join(&mut self) {
        self.join = Join::Wanted;
    }

    /// Waits for the next event, and reconnects as often as necessary. Cancel safe.
    pub async fn next(&mut self) -> Result<PlayEvent, ReconnectError> {
        if let Some(event) = self.next_event.take() {
            return Ok(event);
        }
        loop {
            if self.is_backing_off {
                pause(RETRY_PAUSE).await;
                self.is_backing_off = false;
            }
            let Some(play) = &mut self.play else {
                self.reconnect().await?;
                continue;
            };
            match self.join {
                Join::Wanted => {
                    match play.join().await {
                        Ok(id) => self.join = Join::Asked(id),
                        Err(error) => self.disconnect_for(&error),
                    }
                    continue;
                }
                Join::Done | Join::Nowhere => {
                    if let Some(event) = self.send_unsent().await {
                        return Ok(event);
                    }
                }
                Join::Asked(_) => {}
            }
            let Some(play) = &mut self.play else {
                continue;
            };
            let event = match play.next().await {
                Ok(message) => self.handle_message(message),
                Err(error) => {
                    self.handle_error(error).await?;
                    None
                }
            };
            if let Some(event) = event {
                return Ok(event);
            }
        }
    }

    /// Waits for the outcome of a command. Returns it with the other events until then.
    pub async fn wait_for_outcome(
        &mut self,
        command: CommandNumber,
    ) -> Result<(CommandOutcome, Vec<PlayEvent>), ReconnectError> {
        let mut meanwhile = Vec::new();
        loop {
            match self.next().await? {
                PlayEvent::Answered { command: answered, outcome } if answered == command => {
                    return Ok((outcome, meanwhile));
                }
                event => meanwhile.push(event),
            }
        }
    }

    fn handle_message(&mut self, message: Message<AnyGame>) -> Option<PlayEvent> {
        match message {
            // This client seeks no table over the socket and asks for no advice.
            variants!(Message: Hello, Said, Ticket, Invited, Advice)
            | Message::Refusal { id: None, .. } => None,
            Message::Snapshot { .. } | Message::Update { .. } => {
                self.failures = 0;
                self.reveal_if_asked();
                if let Message::Update { ack: Some(id), version, .. } = message {
                    self.next_event = self.handle_ack(id, Some(version));
                }
                Some(PlayEvent::Table(message))
            }
            Message::Ack { id, version } => self.handle_ack(id, version),
            Message::Refusal { id: Some(id), retryable: true, .. } => {
                self.is_backing_off = true;
                if self.join == Join::Asked(id) {
                    self.join = Join::Wanted;
                }
                // The command stays pending: `unavailable` leaves open whether it was stored.
                if let Some(open) = self.pending.iter_mut().find(|open| open.id == Some(id)) {
                    open.id = None;
                }
                None
            }
            Message::Refusal { id: Some(id), detail, .. } if self.join == Join::Asked(id) => {
                Some(self.handle_unseated(detail))
            }
            Message::Closed { reason, .. } => Some(self.handle_unseated(format!("{reason:?}"))),
            Message::Refusal { id: Some(id), code, rule, detail, .. } => {
                let open = self.pending.iter().find(|open| open.id == Some(id))?;
                // A repeated command may be rejected because of its own effect.
                let outcome = if open.is_repeated && is_stale(&code) {
                    CommandOutcome::Overtaken
                } else {
                    let rule = rule.map(|rule| rule.into_owned());
                    CommandOutcome::Refused { code: code.into_owned(), rule, detail }
                };
                self.end_command(id, outcome)
            }
        }
    }

    /// Handles the ack of a join or of another command, and returns the outcome to report.
    fn handle_ack(&mut self, id: u32, version: Option<u64>) -> Option<PlayEvent> {
        if self.join == Join::Asked(id) {
            self.join = Join::Done;
            self.failures = 0;
            return None;
        }
        self.end_command(id, CommandOutcome::Done { version })
    }

    fn handle_unseated(&mut self, reason: String) -> PlayEvent {
        self.join = Join::Nowhere;
        self.failures = 0;
        if let Some(play) = &mut self.play {
            play.resume(ClientTable::default());
        }
        PlayEvent::Unseated(reason)
    }

    fn end_command(&mut self, id: u32, outcome: CommandOutcome) -> Option<PlayEvent> {
        let place = self.pending.iter().position(|open| open.id == Some(id))?;
        let PendingCommand { number: command, intent, .. } = self.pending.remove(place);
        intent.is_reported().then_some(PlayEvent::Answered { command, outcome })
    }

    /// Queues the reveal once for each game; [`Self::send_unsent`] sends it.
    fn reveal_if_asked(&mut self) {
        let Some((game, text)) = self.state_mut().requested_seed_text() else {
            return;
        };
        let intent = Intent::Reveal { game, text: text.to_owned() };
        if self.revealed.replace(game) != Some(game) {
            self.queue_intent(intent);
        }
    }

    fn queue_intent(&mut self, intent: Intent) -> CommandNumber {
        self.numbers += 1;
        let number = CommandNumber(self.numbers);
        let command =
            PendingCommand { number, intent, id: None, is_sent: false, is_repeated: false };
        self.pending.push(command);
        number
    }

    /// Sends each unsent command that the table still accepts, or returns the outcome of another.
    async fn send_unsent(&mut self) -> Option<PlayEvent> {
        let mut i = 0;
        while let Some(PendingCommand { id, intent, is_sent, .. }) = self.pending.get(i) {
            if id.is_some() {
                i += 1;
            } else if *is_sent && !self.waits_for(intent) {
                let removed = self.pending.remove(i);
                if removed.intent.is_reported() {
                    let outcome = CommandOutcome::Overtaken;
                    return Some(PlayEvent::Answered { command: removed.number, outcome });
                }
            } else {
                self.send(i).await;
                i += 1;
            }
        }
        None
    }

    /// Returns true if the table, as far as known, would still take this command.
    fn waits_for(&self, intent: &Intent) -> bool {
        let awaited = self.state().awaited_input();
        let seat = || {
            let view = self.view()?;
            view.seats.get(view.seat?.index())?.as_ref()
        };
        match *intent {
            Intent::Ready { game, .. } => awaited == Some(AwaitedInput::Ready(game)),
            Intent::Reveal { game, .. } => awaited == Some(AwaitedInput::Reveal(game)),
            Intent::Act { game, prompt, .. } => awaited == Some(AwaitedInput::Act(game, prompt)),
            Intent::TakeBack => seat().is_some_and(|seat| seat.taken_over),
            // Reconnecting has withdrawn an earlier request to leave.
            Intent::Leave => self.view().is_some_and(|view| view.seat.is_some()),
        }
    }

    async fn submit(&mut self, intent: Intent) -> CommandNumber {
        let number = self.queue_intent(intent);
        if self.join == Join::Done {
            self.send(self.pending.len() - 1).await;
        }
        number
    }

    async fn send(&mut self, place: usize) {
        let Some(play) = &mut self.play else {
            return;
        };
        let open = &mut self.pending[place];
        let intent = open.intent.clone();
        // From here on the command may have arrived.
        open.is_repeated = std::mem::replace(&mut open.is_sent, true);
        let sent = play.send(|id| match intent {
            Intent::Ready { game, commitment } => Command::Ready { id, game, commitment },
            Intent::Reveal { game, text } => Command::Reveal { id, game, text },
            Intent::Act { game, prompt, action } => Command::Act { id, game, prompt, action },
            Intent::TakeBack => Command::TakeBack { id },
            Intent::Leave => Command::Leave { id },
        });
        match sent.await {
            Ok(id) => self.pending[place].id = Some(id),
            Err(error) => self.disconnect_for(&error),
        }
    }

    /// Makes one attempt to connect, after the pause that is due.
    async fn reconnect(&mut self) -> Result<(), ReconnectError> {
        if self.failures > ATTEMPTS_MAX {
            return Err(ReconnectError::Unreachable(self.last_error.clone()));
        }
        if self.failures > 0 {
            let doubled = PAUSE_MIN.saturating_mul(1 << (self.failures - 1).min(16));
            pause(doubled.min(PAUSE_MAX)).await;
        }
        // Reset by every message that proves that the connection works.
        self.failures += 1;
        let base = &self.bases[self.next_base % self.bases.len()];
        self.next_base = self.next_base.wrapping_add(1);
        let client = self.client.with_base(base);
        let opened = tokio::time::timeout(CONNECT_TIMEOUT, async {
            let mut play = client.play().await?;
            play.resume(self.state.clone());
            Ok(play)
        });
        match opened.await {
            Ok(Ok(play)) => {
                self.play = Some(play);
                self.connections += 1;
                Ok(())
            }
            Ok(Err(error)) => self.handle_error(error).await,
            Err(_) => {
                self.last_error = "a connection took too long to open".to_owned();
                Ok(())
            }
        }
    }

    /// Handles an error: another attempt, or the end.
    async fn handle_error(&mut self, error: PlayError) -> Result<(), ReconnectError> {
        match error {
            PlayError::Closed { code: close::REPLACED, .. } => Err(ReconnectError::Replaced),
            PlayError::Closed { code: close::SIGNED_OUT, reason } => {
                Err(ReconnectError::SignedOut(reason))
            }
            PlayError::Upgrade { status: 401, .. }
            | PlayError::Closed { code: close::NOT_AUTHENTICATED, .. } => {
                self.disconnect_for(&error);
                self.renew_tokens().await
            }
            PlayError::Nonsense(_) | PlayError::Gap { .. } | PlayError::Refused { .. } => {
                Err(ReconnectError::Broken(error))
            }
            PlayError::Closed { .. } | PlayError::Upgrade { .. } | PlayError::Socket(_) => {
                self.disconnect_for(&error);
                Ok(())
            }
        }
    }

    /// Renews the tokens at the next node.
    async fn renew_tokens(&mut self) -> Result<(), ReconnectError> {
        let base = self.bases[self.next_base % self.bases.len()].clone();
        match self.client.renew_tokens_at(&base).await {
            Ok(()) => Ok(()),
            Err(ClientError::Refused { status: 401, code, detail }) => {
                Err(ReconnectError::SignedOut(format!("{code}: {detail}")))
            }
            // The next attempt leads here again.
            Err(error) => {
                self.last_error = error.to_string();
                Ok(())
            }
        }
    }

    fn disconnect_for(&mut self, error: &PlayError) {
        self.last_error = error.to_string();
        self.break_connection();
    }
}

/// Returns true for a code with which a repeated command is rejected because of its own effect.
fn is_stale(code: &str) -> bool {
    [
        "stale_prompt",
        "not_asked",
        "already_answered",
        "wrong_phase",
        "other_game",
        "already_ready",
        "already_revealed",
        "not_taken_over",
        "not_seated",
    ]
    .contains(&code)
}

/// Pauses for a random time of at least half of `longest`, which spreads reconnecting clients.
async fn pause(longest: Duration) {
    let half = longest / 2;
    tokio::time::sleep(half + entropy::random_duration(half)).await;
}

/// Returns the table events of an event.
pub fn table_events(event: &PlayEvent) -> &[Event<<AnyGame as Game>::Event>] {
    match event {
        PlayEvent::Table(Message::Update { events, .. }) => events,
        PlayEvent::Table(_) | PlayEvent::Answered { .. } | PlayEvent::Unseated(_) => &[],
    }
}
