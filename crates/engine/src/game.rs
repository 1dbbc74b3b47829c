//! What a game is: one round, from the deal to its outcome, as a value.
//!
//! A [`Game`] says whose turn it is ([`Turn`]), takes an action or refuses it with a reason, and
//! shows each viewer what that viewer may know. It never changes in place: an action gives a new
//! value, and a refused action leaves the old one. It holds no clock, no randomness and no coins:
//! deadlines, chance and the amount of a count belong to the table that plays it.
//!
//! Several seats may owe an answer at once, unseen by each other; that is why an answer names the
//! number of the [`Prompt`] it answers. Chance may be asked in mid-game.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt::{Debug, Display};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::chance::{Answer, Request};
use crate::seat::{Seat, SeatSet};

/// What happens next in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// One or more seats are to act.
    Players(Prompt),
    /// Chance is to decide; give the answer to [`Game::resolve`].
    Chance(Request),
    /// Nothing: see [`Game::outcome`].
    Over,
}

/// A question to one or more seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Grows with every question, so that a late or doubled answer is known as such.
    pub number: u32,
    /// Who has not answered yet.
    pub seats: SeatSet,
    /// Grows with every countdown. A question that does not change it is asked within the time
    /// that the last one left.
    pub countdown: u32,
    /// How long that countdown is in all.
    pub countdown_ms: u32,
}

/// Who looks at a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player: the own hand and what lies open.
    Seat(Seat),
    /// Anybody: what lies open.
    Public,
    /// The record after the game: everything.
    Everything,
}

/// Why an action was refused. An enum of each game; `rule` is the number on its rules page.
pub trait Refusal: Copy + Debug + Display + Eq + Send + Sync + 'static {
    /// Stable, in snake case.
    fn code(self) -> &'static str;
    /// The numbered rule that decides, as in `"3.6"`.
    fn rule(self) -> &'static str;
}

/// How a game ended, as far as coins are concerned. The game shows the rest in its own events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whose win it is: crown, POT, first turn of the next game.
    pub winner: Option<Seat>,
    /// The win takes the POT whatever the streak.
    pub takes_pot: bool,
    /// Who owes whom how many counts, and for what.
    pub debts: Vec<Debt>,
}

/// What one seat owes another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debt {
    pub from: Seat,
    pub to: Seat,
    pub items: Vec<Item>,
}

impl Debt {
    /// The sum of its items.
    pub fn counts(&self) -> u32 {
        self.items.iter().map(|item| item.counts).sum()
    }
}

/// One line of a settlement: how many counts, named, by which rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    pub name: Cow<'static, str>,
    pub rule: Cow<'static, str>,
    pub counts: u32,
}

/// What a game is told and tells: values that can be compared, written down and read again.
pub trait Value:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<T> Value for T where
    T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

/// One round of a game as a value. See the module's page.
pub trait Game: Value {
    /// The numbers of the rules page; a rule set is a value of this type.
    type Rules: Value;
    /// What a player may do.
    type Action: Value;
    /// What happened, complete; [`Game::redact`] makes of it what a viewer may see.
    type Event: Value;
    /// What one viewer knows.
    type View: Value;
    type Illegal: Refusal;

    /// The game's name in records and catalogues, in snake case.
    const NAME: &'static str;

    fn seats(rules: &Self::Rules) -> u8;

    /// The most counts that one seat can owe in one game.
    fn counts_max(rules: &Self::Rules) -> u32;

    /// A game before its first chance. `starter` is the seat that plays first by the rules of the
    /// table; `None` leaves it to chance.
    fn new(rules: &Self::Rules, starter: Option<Seat>) -> Self;

    fn turn(&self) -> Turn;

    /// Adds every action that [`Game::act`] would take from this seat now.
    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Self::Action>);

    /// Plays an action and adds what happened to `events`. Refused, it adds nothing.
    fn act(
        &self,
        seat: Seat,
        action: &Self::Action,
        events: &mut Vec<Self::Event>,
    ) -> Result<Self, Self::Illegal>;

    /// Takes the answer to the request that [`Game::turn`] makes.
    ///
    /// # Panics
    /// When no chance is due or the answer does not fit the request: ask [`Answer::fits`] first
    /// of what comes from outside.
    #[must_use]
    fn resolve(&self, answer: &Answer, events: &mut Vec<Self::Event>) -> Self;

    /// What the clock plays for a seat that is to act; `None` for one that is not.
    fn default_action(&self, seat: Seat) -> Option<Self::Action>;

    /// `None` while the game goes on.
    fn outcome(&self) -> Option<Outcome>;

    fn view(&self, viewer: Viewer) -> Self::View;

    /// What the viewer may see of an event; `None` when it may not see that it happened.
    fn redact(event: &Self::Event, viewer: Viewer) -> Option<Self::Event>;

    /// Brings a viewer's view up to date with a redacted event: after every event it equals
    /// [`Game::view`] for that viewer.
    fn observe(view: &mut Self::View, event: &Self::Event);

    /// The question that is open as far as the viewer may know; `None` when none is.
    fn prompt_in_view(view: &Self::View) -> Option<Prompt>;

    /// The same for a viewer that has no view. A game that knows it without making one says so.
    fn prompt_for(&self, viewer: Viewer) -> Option<Prompt> {
        Self::prompt_in_view(&self.view(viewer))
    }

    /// Adds every action open to the viewer of this view, as [`Game::legal_actions`] would.
    fn legal_in_view(view: &Self::View, actions: &mut Vec<Self::Action>);

    /// What the house's AI would play with no more knowledge than this view; `None` when the
    /// viewer is not to act.
    fn advise(view: &Self::View) -> Option<Self::Action>;
}
