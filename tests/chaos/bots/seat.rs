//! A client's knowledge of its table, folded from the messages, and its choice of commands.

use bahay::ws::protocol::{Command, Message, OpenPrompt, Tag};
use bahay_bots::Ai;
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ClientSeed, Commitment};
use bahay_engine::table::{GameId, PhaseView, TableId, TableView};

use super::Action;
use crate::dice::Dice;

/// The percentage of moves at which a client plays any legal action instead of the advice.
const WILD: u64 = 15;

/// A table as its player knows it.
#[derive(Debug, Default)]
pub(super) struct BotTable {
    view: Option<TableView<AnyGame>>,
    version: Option<u64>,
    tag: Option<Tag>,
    prompt: Option<OpenPrompt<Action>>,
    /// The game for which the client has become ready.
    readied: Option<GameId>,
    /// The text of the client's seed for a game, once it has committed to it.
    text: Option<(GameId, String)>,
    /// The game for which the text was revealed.
    revealed: Option<GameId>,
    /// The prompt that was answered.
    answered: Option<(GameId, u32)>,
    /// True if the client has left during a game, which the AI plays to its end.
    left: bool,
}

impl BotTable {
    /// Returns a `join` that resumes from the known version.
    pub(super) fn join_from(&self, id: u32) -> Command<Action> {
        let table: Option<TableId> = self.view.as_ref().map(|view| view.table);
        let from = self.version.filter(|_| table.is_some());
        Command::Join { id, from, tag: self.tag, table }
    }

    /// Returns the kind of the table.
    pub(super) fn kind(&self) -> Option<&str> {
        self.view.as_ref().map(|view| &*view.kind)
    }

    pub(super) fn forget(&mut self) {
        // The committed text may still be requested.
        *self = Self { text: self.text.take(), ..Self::default() };
    }

    /// Applies a message. Returns false if it does not follow the previous ones.
    pub(super) fn take(&mut self, message: &Message<AnyGame>) -> bool {
        if let Message::Snapshot { view, .. } = message {
            self.view = Some((**view).clone());
        }
        if let Message::Update { version, events, .. } = message {
            match (&mut self.view, self.version) {
                (Some(view), Some(had)) if *version == had + 1 => {
                    events.iter().for_each(|event| view.observe(event));
                }
                _ => return false,
            }
        }
        if let Message::Snapshot { version, tag, prompt, .. }
        | Message::Update { version, tag, prompt, .. } = message
        {
            self.version = Some(*version);
            self.tag = Some(*tag);
            self.prompt.clone_from(prompt);
        }
        self.left &= self.is_running();
        true
    }

    /// Allows the same answers once more after a retryable refusal.
    pub(super) fn say_again(&mut self) {
        self.readied = None;
        self.revealed = None;
        self.answered = None;
    }

    /// Prepares for a new connection: it is unknown whether commands on the old one took effect,
    /// and a player who had left is back.
    pub(super) fn join(&mut self) {
        self.say_again();
        self.left = false;
    }

    /// Handles the ack of a `leave`. Returns false if the seat is free at once.
    pub(super) fn leave(&mut self) -> bool {
        self.left = self.is_running();
        self.left
    }

    pub(super) fn readied(&mut self, game: GameId) {
        self.readied = Some(game);
    }

    /// Returns the commitment to a new text, or to the previous one, which may have been received.
    pub(super) fn commit(&mut self, game: GameId, text: impl FnOnce() -> String) -> Commitment {
        let known = self.text.take().filter(|(of, _)| *of == game);
        let (_, text) = self.text.insert(known.unwrap_or_else(|| (game, text())));
        ClientSeed::from_text(text).commitment()
    }

    /// Returns the requested text and marks it as revealed.
    pub(super) fn reveal(&mut self) -> Option<(GameId, String)> {
        let (game, ..) = self.view.as_ref()?.reveal_request()?;
        let (_, text) = self.text.as_ref().filter(|(of, _)| *of == game)?;
        (self.revealed.replace(game) != Some(game)).then(|| (game, text.clone()))
    }

    /// Returns true if the AI plays the seat although the client is there and has not left.
    pub(super) fn wants_back(&self) -> bool {
        let Some(view) = self.view.as_ref().filter(|_| self.is_running() && !self.left) else {
            return false;
        };
        let seat = view.seat.and_then(|seat| view.seats.get(seat.index())?.as_ref());
        seat.is_some_and(|seat| seat.taken_over)
    }

    /// Returns the game for which to become ready.
    pub(super) fn to_ready(&self) -> Option<GameId> {
        let view = self.view.as_ref()?;
        match (&view.phase, view.seat) {
            (PhaseView::Preparing { game, ready, .. }, Some(seat))
                if !ready.contains(seat) && self.readied != Some(*game) =>
            {
                Some(*game)
            }
            _ => None,
        }
    }

    /// Returns the prompt to answer.
    pub(super) fn to_answer(&self) -> Option<(GameId, u32)> {
        let prompt =
            self.prompt.as_ref().filter(|prompt| !prompt.legal.is_empty() && !self.left)?;
        let question = (prompt.game, prompt.number);
        (self.answered != Some(question)).then_some(question)
    }

    /// Chooses an action for the open prompt and marks it as answered.
    pub(super) fn act(&mut self, id: u32, dice: &mut Dice) -> Option<Command<Action>> {
        let (game, prompt) = self.to_answer()?;
        let legal = &self.prompt.as_ref()?.legal;
        let advice = match &self.view.as_ref()?.phase {
            PhaseView::Playing { view, .. } => AnyGame::choose_action(view),
            _ => None,
        };
        let action = match advice {
            Some(advice) if !dice.percent(WILD) => advice,
            Some(_) | None => dice.choose(legal).clone(),
        };
        self.answered = Some((game, prompt));
        Some(Command::Act { id, game, prompt, action })
    }

    /// Returns true while stakes are held, so that leaving would only hand the seat to the AI.
    pub(super) fn is_running(&self) -> bool {
        let phase = self.view.as_ref().map(|view| &view.phase);
        match phase {
            Some(PhaseView::Waiting | PhaseView::Preparing { .. }) | None => false,
            Some(_) => true,
        }
    }

    /// Returns true between games, if the client has a seat to give up.
    pub(super) fn may_go(&self) -> bool {
        self.view.is_some() && !self.is_running()
    }

    pub(super) fn has_lost_its_seat(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.seat.is_none())
    }
}
