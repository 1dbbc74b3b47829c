//! What a client knows of its table, folded from what it was told, and what it does about it.

use bahay::ws::protocol::{Command, Message, OpenPrompt, Tag};
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ClientSeed, Commitment};
use bahay_engine::game::Game as _;
use bahay_engine::table::{GameId, PhaseView, TableId, TableView};

use super::Action;
use crate::dice::Dice;

/// How often in a hundred a client plays anything legal rather than what is advised.
const WILD: u64 = 15;

/// A table as its player knows it.
#[derive(Debug, Default)]
pub(super) struct Place {
    view: Option<TableView<AnyGame>>,
    version: Option<u64>,
    tag: Option<Tag>,
    prompt: Option<OpenPrompt<Action>>,
    /// The game that it has said ready for.
    readied: Option<GameId>,
    /// What its seed for a game is made of, once it has committed to it.
    text: Option<(GameId, String)>,
    /// The game that it has revealed that for.
    revealed: Option<GameId>,
    /// The question that it has answered.
    answered: Option<(GameId, u32)>,
    /// It has left in the midst of a game, and lets the AI play that to its end.
    left: bool,
}

impl Place {
    /// Joins, from what is known.
    pub(super) fn join_from(&self, id: u32) -> Command<Action> {
        let table: Option<TableId> = self.view.as_ref().map(|view| view.table);
        let from = self.version.filter(|_| table.is_some());
        Command::Join { id, from, tag: self.tag, table }
    }

    /// The game that is played at the table.
    pub(super) fn kind(&self) -> Option<&str> {
        self.view.as_ref().map(|view| &*view.kind)
    }

    pub(super) fn forget(&mut self) {
        // What it has committed to it may still be asked for.
        *self = Self { text: self.text.take(), ..Self::default() };
    }

    /// Takes a message in. False when it does not follow what came before.
    pub(super) fn take(&mut self, message: &Message<AnyGame>) -> bool {
        if let Message::Snapshot { version, tag, view, prompt, .. } = message {
            self.view = Some((**view).clone());
            self.version = Some(*version);
            self.tag = Some(*tag);
            self.prompt.clone_from(prompt);
        }
        if let Message::Update { version, tag, events, prompt, .. } = message {
            let (Some(view), Some(had)) = (&mut self.view, self.version) else {
                return false;
            };
            if *version != had + 1 {
                return false;
            }
            for event in events {
                view.observe(event);
            }
            self.version = Some(*version);
            self.tag = Some(*tag);
            self.prompt.clone_from(prompt);
        }
        self.left &= self.is_running();
        true
    }

    /// What was said may succeed later: it is said again, if it is still asked.
    pub(super) fn say_again(&mut self) {
        self.readied = None;
        self.revealed = None;
        self.answered = None;
    }

    /// A new connection joins. Whether what was said on the old one took effect is unknown, and
    /// who had left is back.
    pub(super) fn join(&mut self) {
        self.say_again();
        self.left = false;
    }

    /// A `leave` was acknowledged. False when the seat is free at once.
    pub(super) fn leave(&mut self) -> bool {
        self.left = self.is_running();
        self.left
    }

    pub(super) fn readied(&mut self, game: GameId) {
        self.readied = Some(game);
    }

    /// The commitment to a new text, or to the one of before, which may have arrived.
    pub(super) fn commit(&mut self, game: GameId, text: impl FnOnce() -> String) -> Commitment {
        let known = self.text.take().filter(|(of, _)| *of == game);
        let (_, text) = self.text.insert(known.unwrap_or_else(|| (game, text())));
        ClientSeed::from_text(text).commitment()
    }

    /// The text that is asked for, which counts as revealed from here on.
    pub(super) fn reveal(&mut self) -> Option<(GameId, String)> {
        let (game, ..) = self.view.as_ref()?.reveal_request()?;
        let (_, text) = self.text.as_ref().filter(|(of, _)| *of == game)?;
        (self.revealed.replace(game) != Some(game)).then(|| (game, text.clone()))
    }

    /// The game to say ready for.
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

    /// The question to answer.
    pub(super) fn to_answer(&self) -> Option<(GameId, u32)> {
        let prompt =
            self.prompt.as_ref().filter(|prompt| !prompt.legal.is_empty() && !self.left)?;
        let question = (prompt.game, prompt.number);
        (self.answered != Some(question)).then_some(question)
    }

    /// An answer to the open question, which counts as answered from here on.
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

    /// Coins are held: leaving now would only hand the seat to the AI.
    pub(super) fn is_running(&self) -> bool {
        let phase = self.view.as_ref().map(|view| &view.phase);
        match phase {
            Some(PhaseView::Waiting | PhaseView::Preparing { .. }) | None => false,
            Some(_) => true,
        }
    }

    /// Between games, with a seat to give up.
    pub(super) fn may_go(&self) -> bool {
        self.view.is_some() && !self.is_running()
    }

    pub(super) fn has_lost_its_seat(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.seat.is_none())
    }
}
