//! The contract of a game: one round as a value, from the deal to its outcome.
//!
//! A [`Game`] reports whose turn it is ([`Turn`]), accepts an action or refuses it with a reason,
//! and shows each viewer the part of its state that the viewer may know. A game is immutable: an
//! action returns a new value, and a refused action leaves the old one unchanged. A game holds no
//! clock, no randomness and no coins; deadlines, chance and the price of a count belong to the
//! table.
//!
//! Several seats may be prompted at once, each without seeing the others' answers. Therefore an
//! answer names the number of the [`Prompt`] that it answers. A game may request chance at any
//! point. A game may have a pot of its own that many seats pay into; its outcome is still a list of
//! debts between seats.
//!
//! [`Game`] is the interface that a table plays: rules and views. Its rule sets are values that
//! state their own facts ([`GameRules`]). [`Describe`] adds prose for people, and [`GameKind`] the
//! name of one game, its rule sets, the names of its endings and counters, and its short events.
//! `catalog` combines all kinds into one further [`Game`], which the service plays. The AI is a
//! trait of another crate, `bahay_bots::Ai`.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Debug, Display};
use core::ops::RangeInclusive;

use serde::de::{DeserializeOwned, SeqAccess};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, Request};
use crate::document::FromDocument;
use crate::seat::{Seat, SeatSet};

/// The next step of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// One or more seats are prompted.
    Players(Prompt),
    /// No seat is prompted, but the countdown keeps running, so that its length does not reveal
    /// which seats were prompted in secret. When it ends, the table calls [`Game::expire`]. The
    /// prompt has no seats.
    Wait(Prompt),
    /// The game requests chance; the answer goes to [`Game::resolve`].
    Chance(Request),
    /// The game is over; see [`Game::outcome`].
    Over,
}

impl Turn {
    /// Returns the open prompt; `None` while chance decides and when the game is over.
    pub const fn prompt(self) -> Option<Prompt> {
        match self {
            Self::Players(prompt) | Self::Wait(prompt) => Some(prompt),
            Self::Chance(_) | Self::Over => None,
        }
    }
}

/// A question to one or more seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The number of the prompt. It increases with every prompt, so that late and duplicate answers
    /// are recognised.
    pub number: u32,
    /// The seats that have not answered yet.
    pub seats: SeatSet,
    /// The number of the countdown. A prompt with the same number as the one before it must be
    /// answered within the remaining time.
    pub countdown: u32,
    /// The length of the countdown in milliseconds.
    pub countdown_ms: u32,
}

/// The observer for whom a view is made or an event is redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player, who sees its own hand and everything public.
    Seat(Seat),
    /// A spectator, who sees everything public.
    Public,
    /// The record after the game, which contains everything.
    Everything,
}

impl Viewer {
    /// Returns whether the viewer sees what this seat alone may know.
    pub fn sees(self, seat: Seat) -> bool {
        match self {
            Self::Everything => true,
            Self::Seat(own) => own == seat,
            Self::Public => false,
        }
    }

    /// Returns the viewer's own seat.
    pub const fn seat(self) -> Option<Seat> {
        match self {
            Self::Seat(seat) => Some(seat),
            Self::Public | Self::Everything => None,
        }
    }
}

/// The reason for which an action was refused. Each game defines an enum of its own.
pub trait Refusal: Copy + Debug + Display + Eq + Send + Sync + 'static {
    /// Returns the stable code of the reason, in snake case.
    fn code(self) -> &'static str;
    /// Returns the number of the rule that decides, as on the game's rules page, such as `"3.6"`.
    fn rule(self) -> &'static str;
}

/// The result of a game as far as coins are concerned. A game reports everything else in its own
/// events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The winner, who takes the crown, may take the POT, and plays first in the next game.
    pub winner: Option<Seat>,
    /// True if the win takes the POT regardless of the crown.
    pub takes_pot: bool,
    /// The debts between seats, in counts.
    pub debts: Vec<Debt>,
}

/// The debt of one seat to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debt {
    pub from: Seat,
    pub to: Seat,
    pub items: Vec<Item>,
}

impl Debt {
    /// Returns the sum of its items.
    pub fn counts(&self) -> u32 {
        self.items.iter().map(|item| item.counts).sum()
    }
}

/// One line of a settlement: a named number of counts with the rule it follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    pub name: Cow<'static, str>,
    pub rule: Cow<'static, str>,
    pub counts: u32,
}

/// The range of the number of players of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatRange {
    /// The minimum number of players with which a game begins.
    pub least: u8,
    /// The number of seats of a table.
    pub most: u8,
}

impl SeatRange {
    /// Returns the range that contains exactly this number of seats.
    pub const fn exactly(seats: u8) -> Self {
        Self { least: seats, most: seats }
    }

    pub const fn contains(self, seats: u8) -> bool {
        self.least <= seats && seats <= self.most
    }
}

/// A rule set by which no game can be dealt, with the field that is invalid and its requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    /// The field's path in the JSON of the rules, such as `hand_cards`.
    pub field: Cow<'static, str>,
    pub message: Cow<'static, str>,
}

impl RulesError {
    /// Returns an error that names this field unless the condition holds.
    ///
    /// # Errors
    /// If the condition does not hold.
    pub fn require(holds: bool, field: &'static str, message: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { field: field.into(), message: message.into() }) }
    }

    /// Returns an error that names this field unless its number is in the range.
    ///
    /// # Errors
    /// If the number is not in the range.
    pub(crate) fn require_in_range<T: PartialOrd + Display>(
        field: &'static str,
        number: T,
        range: RangeInclusive<T>,
    ) -> Result<(), Self> {
        if range.contains(&number) {
            return Ok(());
        }
        let message = format!("{field} must be from {} to {}", range.start(), range.end());
        Err(Self { field: field.into(), message: message.into() })
    }
}

impl Display for RulesError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl core::error::Error for RulesError {}

/// A named rule set, which operators and hosts choose instead of setting single rules.
#[derive(Clone, Copy, Debug)]
pub struct RuleSet<R> {
    /// The identifier in snake case, such as `kingdom`.
    pub name: &'static str,
    /// The display name, such as `Kingdom`.
    pub title: &'static str,
    pub rules: fn() -> R,
    /// The rules for the POT and crowns; `None` for a game without them.
    pub hits: Option<Hits>,
}

/// The rules for the POT that a table accumulates over its games (chapter 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hits {
    /// The number of bets that each seat pays into the POT before each game (rule 7.1).
    pub ante: u32,
    /// The number of wins in a row that take the POT (rule 7.2).
    pub to_win: u8,
    /// The number of counts that each loser pays for the second win in a row if it takes three wins
    /// (rule 7.5).
    pub second_hit_bonus: u32,
}

impl Default for Hits {
    /// Returns the rules for two hits (rule 7.2).
    fn default() -> Self {
        Self { ante: 1, to_win: 2, second_hit_bonus: 0 }
    }
}

/// An identifier with its display name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TitledName {
    /// The identifier in snake case, such as `fights_won`.
    pub name: &'static str,
    /// The display name, such as `Fights won`.
    pub title: &'static str,
}

/// An increment of one of a player's counters after a game; see [`GameKind::COUNTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterIncrement {
    pub seat: Seat,
    pub name: &'static str,
    pub more: u32,
}

/// A piece of a description for people, as the desk and the replay lay it out: text, a seat, or a
/// card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(Cow<'static, str>),
    Seat(Seat),
    /// A card, tile or die in its notation, such as `7H`.
    Token {
        text: String,
        /// True if the token is drawn in red, as red suits are.
        is_red: bool,
    },
}

/// One line of a description for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The seat that the line concerns; `None` if it concerns all seats.
    pub seat: Option<Seat>,
    /// The label of the line, such as `hand`.
    pub label: Cow<'static, str>,
    pub pieces: Vec<Piece>,
}

/// The bounds of the values that a game accepts and produces: they can be compared and serialized.
pub trait Value: Clone + Debug + PartialEq + Serialize + Send + Sync + 'static {}

impl<T> Value for T where T: Clone + Debug + PartialEq + Serialize + Send + Sync + 'static {}

/// The strength of an AI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Skill {
    /// The AI follows rules of thumb.
    #[default]
    Greedy,
    /// The AI chooses the best action that it can find without a search, within a tenth of a
    /// millisecond. It plays as `Greedy` at a game that has nothing better.
    Quick,
}

impl Skill {
    /// Returns the identifier in snake case, as bots are named.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::Quick => "quick",
        }
    }
}

/// The facts that follow from a rule set before a game is dealt.
pub trait GameRules: Value {
    /// Returns the name of the game to which the rules belong, such as `tongits`; see
    /// [`GameKind::NAME`].
    fn kind(&self) -> &'static str;

    /// Returns the range of the number of players under these rules.
    fn seats(&self) -> SeatRange;

    /// Returns the number of counts that the room's bet times its multiplier is worth: one at most
    /// games, two if a bet is a chip and half chips are paid out.
    fn counts_per_bet(&self) -> u32 {
        1
    }

    /// Returns the maximum number of counts that one seat can owe in a game of `seats` seats; see
    /// [`GameRules::counts_per_bet`] for the value of a count.
    fn counts_max(&self, seats: u8) -> u32;

    /// Returns whether a host may let players stake a whole wallet that holds less than
    /// [`GameRules::counts_max`] requires (rule 6.9 of Tong-its).
    fn may_have_short_stakes(&self) -> bool {
        false
    }

    /// Checks that a game can be dealt by these rules. Rules from a configuration must be checked
    /// before use.
    ///
    /// # Errors
    /// The first invalid field.
    fn check(&self) -> Result<(), RulesError>;

    /// Returns the shortest and the longest countdown under these rules, in milliseconds.
    fn countdown_ms(&self) -> RangeInclusive<u32>;
}

/// One round of a game as a value; see the module's documentation.
pub trait Game: Value {
    /// The rules; a rule set is a value of this type.
    type Rules: GameRules;
    /// An action of a player.
    type Action: Value;
    /// An event with all its details; [`Game::redact`] reduces it to the part that a viewer may
    /// see.
    type Event: Value;
    /// The part of the state that one viewer knows.
    type View: Value;
    type Refusal: Refusal;

    /// Creates a game of `seats` seats before its first request to chance. `starter` is the seat
    /// that plays first by the rules of the table; `None` leaves the choice to chance.
    fn new(rules: &Self::Rules, seats: u8, starter: Option<Seat>) -> Self;

    fn turn(&self) -> Turn;

    /// Appends every action that [`Game::act`] would accept from this seat now. If an action takes
    /// a free number, a selection of values stands for the whole range.
    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Self::Action>);

    /// Plays an action and appends the resulting events to `events`.
    ///
    /// # Errors
    /// The reason for the refusal; nothing is appended.
    fn act(
        &self,
        seat: Seat,
        action: &Self::Action,
        events: &mut Vec<Self::Event>,
    ) -> Result<Self, Self::Refusal>;

    /// Applies the answer to the request of [`Game::turn`].
    ///
    /// # Panics
    /// If no chance is due or the answer does not fit the request. Answers from outside must be
    /// checked by [`ChanceAnswer::fits`] first.
    #[must_use]
    fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<Self::Event>) -> Self;

    /// Continues after a countdown in which no seat was prompted any more. A game that has no
    /// [`Turn::Wait`] does not override this.
    ///
    /// # Panics
    /// If no [`Turn::Wait`] is due.
    #[must_use]
    fn expire(&self, _events: &mut Vec<Self::Event>) -> Self {
        panic!("a seat is to act while a countdown runs")
    }

    /// Returns the action that the clock plays for a prompted seat; `None` for a seat that is not
    /// prompted.
    fn default_action(&self, seat: Seat) -> Option<Self::Action>;

    /// Returns the outcome; `None` while the game is running.
    fn outcome(&self) -> Option<Outcome>;

    /// Returns the ending by its name in [`GameKind::ENDINGS`]; `None` while the game is running.
    fn ending(&self) -> Option<&'static str>;

    /// Returns the increments of the players' counters; empty while the game is running.
    fn counts(&self) -> Vec<CounterIncrement>;

    fn view(&self, viewer: Viewer) -> Self::View;

    /// Returns the redaction of an event for a viewer; `None` if the viewer may not know that the
    /// event happened.
    fn redact(event: &Self::Event, viewer: Viewer) -> Option<Self::Event>;

    /// Updates a viewer's view by a redacted event. After every event the view equals
    /// [`Game::view`] for that viewer.
    fn observe(view: &mut Self::View, event: &Self::Event);

    /// Returns the open prompt as far as the viewer may know it; `None` if there is none.
    fn prompt_in_view(view: &Self::View) -> Option<Prompt>;

    /// Returns the open prompt for a viewer without a view. A game overrides this if it can answer
    /// without building one.
    fn prompt_for(&self, viewer: Viewer) -> Option<Prompt> {
        Self::prompt_in_view(&self.view(viewer))
    }

    /// Appends every action open to the viewer of this view, as [`Game::legal_actions`] does.
    fn legal_in_view(view: &Self::View, actions: &mut Vec<Self::Action>);

    /// Returns the reason for which [`Game::act`] would refuse this action of the viewer; `None` if
    /// it would accept the action, or if the viewer has no seat.
    fn refusal_in_view(view: &Self::View, action: &Self::Action) -> Option<Self::Refusal>;

    /// Returns whether the action commits the viewer of this view without a prompt to do so (rule
    /// 8.3). The AI never makes a commitment for a player who is away within the grace. An answer
    /// to another seat's commitment is not a commitment, nor is a certain win.
    fn is_commitment(view: &Self::View, action: &Self::Action) -> bool;
}

/// A game that can be described for people, as the desk and the replay show it.
pub trait Describe: Game {
    /// Describes a view for people.
    fn describe(view: &Self::View) -> Vec<Row>;

    /// Describes an action for people, such as: drops 7C 7D 7H.
    fn describe_action(action: &Self::Action) -> Vec<Piece>;

    /// Describes an event for people; `None` for an event that only concerns programs.
    fn describe_event(event: &Self::Event) -> Option<Row>;

    /// Describes the result of each seat in the view of a finished game: points or chips, and the
    /// hand if it was shown. Returns nothing while the game is running.
    fn describe_result(_view: &Self::View) -> Vec<Row> {
        Vec::new()
    }

    /// Describes the cards or points from which an item of a debt follows, in the view of a
    /// finished game. Returns nothing if the item's name says all.
    fn describe_item(
        _view: &Self::View,
        _payer: Seat,
        _receiver: Seat,
        _item: &Item,
    ) -> Vec<Piece> {
        Vec::new()
    }
}

/// One game by its name, with everything that the service needs once it knows the game.
///
/// The documents of a game can be deserialized because they contain its own types. The documents of
/// a catalogue can only be read once their game is known; see `table::Readable`.
pub trait GameKind:
    Describe<
        Rules: DeserializeOwned,
        Action: DeserializeOwned + FromDocument,
        Event: DeserializeOwned,
        View: DeserializeOwned,
    > + DeserializeOwned
{
    /// The game's name in records, rooms and catalogues, in snake case.
    const NAME: &'static str;
    /// The display name, such as `Tong-its`.
    const TITLE: &'static str;
    /// The name of a count at this game.
    const UNIT: TitledName;
    /// The endings of the game, for statistics and filters.
    const ENDINGS: &'static [TitledName];
    /// The counters of the game's players other than games and wins.
    const COUNTERS: &'static [TitledName];
    /// The common events that have a short form, in an order that never changes: short messages
    /// refer to an event by its index in this list. At most [`SHORT_EVENTS_MAX`].
    const SHORT_EVENTS: &'static [&'static str];

    /// Returns the named rule sets; the first is the default.
    fn rule_sets() -> &'static [RuleSet<Self::Rules>];

    /// Returns every reason for a refusal, in order of precedence.
    fn refusals() -> &'static [Self::Refusal];

    /// Returns the name of the event in [`GameKind::SHORT_EVENTS`], if it has a short form.
    fn short_event(event: &Self::Event) -> Option<&'static str>;

    /// Writes the fields of an event that has a short form. Trailing fields with default values may
    /// be omitted.
    fn write_short<S: SerializeSeq>(event: &Self::Event, fields: &mut S) -> Result<(), S::Error>;

    /// Reads the event of this name from the fields that [`GameKind::write_short`] has written.
    fn read_short<'de, A: SeqAccess<'de>>(
        name: &str,
        fields: &mut A,
    ) -> Result<Self::Event, A::Error>;
}

/// The maximum number of short events of one game.
pub const SHORT_EVENTS_MAX: usize = 64;

/// Returns whether a field has its default value, so that it is not serialized.
pub(crate) fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}

/// Returns whether a field differs from its default.
pub(crate) fn differ<T: PartialEq>(field: &T, default: &T) -> bool {
    field != default
}

/// Returns this error unless the condition holds.
///
/// # Errors
/// If the condition does not hold.
pub(crate) fn require<E>(holds: bool, otherwise: E) -> Result<(), E> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Returns an error unless the condition holds.
#[cfg(feature = "testing")]
pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
