//! What a game is: one round, from the deal to its outcome, as a value.
//!
//! A [`Game`] says whose turn it is ([`Turn`]), takes an action or refuses it with a reason, and
//! shows each viewer what that viewer may know. It never changes in place: an action gives a new
//! value, and a refused action leaves the old one. It holds no clock, no randomness and no coins:
//! deadlines, chance and the amount of a count belong to the table that plays it.
//!
//! Several seats may owe an answer at once, unseen by each other; that is why an answer names the
//! number of the [`Prompt`] it answers. Chance may be asked in mid-game. A game may have a pot of
//! its own that many seats pay into: its outcome is still who owes whom how much.
//!
//! [`Game`] is what a table plays. [`GameKind`] is one game by its name, with its rule sets, the
//! names of its endings and counters, and its short events. `catalog` makes of all kinds one more
//! [`Game`], which is what the service plays.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Debug, Display};
use core::ops::RangeInclusive;

use serde::de::{DeserializeOwned, SeqAccess};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, ChanceRng, Request};
use crate::seat::{Seat, SeatSet};

/// What happens next in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// One or more seats are to act.
    Players(Prompt),
    /// Nobody is to act, or nobody any more, and the countdown runs on all the same: so that nobody
    /// learns from its length who was asked in secret. When it is over: [`Game::expire`]. The prompt
    /// has no seats.
    Wait(Prompt),
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

/// How many players a game is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatRange {
    /// A game begins with at least so many.
    pub least: u8,
    /// A table has so many seats.
    pub most: u8,
}

impl SeatRange {
    /// A game for exactly so many.
    pub const fn exactly(seats: u8) -> Self {
        Self { least: seats, most: seats }
    }

    pub const fn contains(self, seats: u8) -> bool {
        self.least <= seats && seats <= self.most
    }
}

/// A rule set that no game can be dealt by: which of its fields is wrong, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    /// As in the rules' JSON, as in `hand_cards`.
    pub field: Cow<'static, str>,
    pub what: Cow<'static, str>,
}

impl Display for RulesError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl core::error::Error for RulesError {}

/// A named rule set, for operators and hosts, who choose one and not a dozen switches.
#[derive(Clone, Copy, Debug)]
pub struct RuleSet<R> {
    /// In snake case, as in `kingdom`.
    pub name: &'static str,
    /// For people, as in `Kingdom`.
    pub title: &'static str,
    pub rules: fn() -> R,
    /// The POT and crowns that belong to it; `None` for a game without them.
    pub hits: Option<Hits>,
}

/// The POT that a table builds up beside its games, and who takes it (chapter 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hits {
    /// Bets that each seat pays into the POT before each game (rule 7.1).
    pub ante: u32,
    /// Wins in a row that take the POT (rule 7.2).
    pub to_win: u8,
    /// Counts that each loser pays for the second win in a row when it takes three (rule 7.5).
    pub second_hit_bonus: u32,
}

impl Default for Hits {
    /// Two hits (rule 7.2).
    fn default() -> Self {
        Self { ante: 1, to_win: 2, second_hit_bonus: 0 }
    }
}

/// A name that a game gives to something that is counted or told, with its words for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TitledName {
    /// In snake case, as in `fights_won`.
    pub name: &'static str,
    /// As in `Fights won`.
    pub title: &'static str,
}

/// How many more of something a player has after a game: see [`GameKind::COUNTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterIncrement {
    pub seat: Seat,
    pub name: &'static str,
    pub more: u32,
}

/// A part of a game as people read it, at the desk and in a replay: text, cards and numbers, to be
/// laid out by whoever shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(Cow<'static, str>),
    Seat(Seat),
    /// A card, tile or die by its notation, as in `7H`.
    Token {
        text: String,
        /// Red suits and the like stand out.
        is_red: bool,
    },
}

/// One line of a game as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whose it is; `None` for what belongs to all.
    pub seat: Option<Seat>,
    /// What it is, as in `hand`.
    pub label: Cow<'static, str>,
    pub pieces: Vec<Piece>,
}

/// What a game is told and tells: values that can be compared and written down.
pub trait Value: Clone + Debug + PartialEq + Serialize + Send + Sync + 'static {}

impl<T> Value for T where T: Clone + Debug + PartialEq + Serialize + Send + Sync + 'static {}

/// How well an AI plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Skill {
    /// By rules of thumb.
    #[default]
    Greedy,
    /// The best that is found without playing on, in a tenth of a millisecond. Where nothing better
    /// is known, as greedy.
    Quick,
}

impl Skill {
    /// In snake case, as bots are named.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::Quick => "quick",
        }
    }
}

/// A game that a seat could be playing.
#[derive(Clone, Debug)]
pub struct SampledGame<G> {
    pub game: G,
    /// Who is taken for a quick player in it, and not for a greedy one.
    pub quick: SeatSet,
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
    type Refusal: Refusal;

    /// The name of the game that these rules are of, as in `tongits`: see [`GameKind::NAME`].
    fn kind(rules: &Self::Rules) -> &'static str;

    /// How many players a game by these rules is for.
    fn seats(rules: &Self::Rules) -> SeatRange;

    /// How many counts the room's bet times its multiplier is worth: at most games one, and two
    /// where a bet is a chip and half chips are paid out.
    fn counts_per_bet(_rules: &Self::Rules) -> u32 {
        1
    }

    /// The most counts that one seat can owe in one game of so many seats; see
    /// [`Game::counts_per_bet`] for what a count is worth.
    fn counts_max(rules: &Self::Rules, seats: u8) -> u32;

    /// Returns whether a host may let players stake a whole wallet that holds less than
    /// [`Game::counts_max`] asks for (rule 6.9 of Tong-its).
    fn may_have_short_stakes(_rules: &Self::Rules) -> bool {
        false
    }

    /// Whether a game can be dealt by these rules. What comes from a configuration must be asked.
    fn check(rules: &Self::Rules) -> Result<(), RulesError>;

    /// The shortest and the longest countdown of a game by these rules, in milliseconds.
    fn countdown_ms(rules: &Self::Rules) -> RangeInclusive<u32>;

    /// A game of so many seats before its first chance. `starter` is the seat that plays first by
    /// the rules of the table; `None` leaves it to chance.
    fn new(rules: &Self::Rules, seats: u8, starter: Option<Seat>) -> Self;

    fn turn(&self) -> Turn;

    /// Adds every action that [`Game::act`] would take from this seat now. Where numbers are free,
    /// some of them stand for all.
    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Self::Action>);

    /// Plays an action and adds what happened to `events`. Refused, it adds nothing.
    fn act(
        &self,
        seat: Seat,
        action: &Self::Action,
        events: &mut Vec<Self::Event>,
    ) -> Result<Self, Self::Refusal>;

    /// Takes the answer to the request that [`Game::turn`] makes.
    ///
    /// # Panics
    /// When no chance is due or the answer does not fit the request: ask [`ChanceAnswer::fits`] first
    /// of what comes from outside.
    #[must_use]
    fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<Self::Event>) -> Self;

    /// Goes on after a countdown in which nobody was to act any more.
    ///
    /// # Panics
    /// When no [`Turn::Wait`] is over.
    #[must_use]
    fn expire(&self, events: &mut Vec<Self::Event>) -> Self;

    /// What the clock plays for a seat that is to act; `None` for one that is not.
    fn default_action(&self, seat: Seat) -> Option<Self::Action>;

    /// `None` while the game goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// How the game ended, by one of the names of [`GameKind::ENDINGS`]; `None` while it goes on.
    fn ending(&self) -> Option<&'static str>;

    /// What the game adds to its players' counters; nothing while it goes on.
    fn counts(&self) -> Vec<CounterIncrement>;

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
    fn choose_action(view: &Self::View) -> Option<Self::Action>;

    /// What an AI of this skill would play, as [`Game::advise`].
    fn choose_action_with_skill(skill: Skill, view: &Self::View) -> Option<Self::Action> {
        match skill {
            Skill::Greedy | Skill::Quick => Self::choose_action(view),
        }
    }

    /// As [`Game::choose_action_with_skill`], by an AI that remembers all that its seat was shown, in order.
    fn choose_action_with_memory(
        skill: Skill,
        view: &Self::View,
        _shown: &mut dyn Iterator<Item = &Self::Event>,
    ) -> Option<Self::Action> {
        Self::choose_action_with_skill(skill, view)
    }

    /// Returns whether the viewer of this view commits itself by an action that nobody asked it for
    /// (rule 8.3): the AI never does so for a player who is only away. The answer to another seat's
    /// commitment is none of its own, nor is a win that is certain.
    fn is_commitment(view: &Self::View, action: &Self::Action) -> bool;

    /// Chooses an action for a player who is away: as [`Skill::Quick`] does, but no commitment (rule
    /// 8.3). `None` where the AI knows nothing else to play.
    fn choose_uncommitted_action(
        view: &Self::View,
        shown: &mut dyn Iterator<Item = &Self::Event>,
    ) -> Option<Self::Action> {
        let action = Self::choose_action_with_memory(Skill::Quick, view, shown)?;
        (!Self::is_commitment(view, &action)).then_some(action)
    }

    /// How many games an AI imagines that plays on for a player who is taken over. `None` where it
    /// is not known to play better than the quick one, or takes too long.
    fn imagined_game_count(_view: &Self::View) -> Option<u32> {
        None
    }

    /// Adds what a search looks at for the viewer of this view: legal actions, the likeliest first.
    /// What is surely no better than another may be left out.
    fn candidate_actions(view: &Self::View, actions: &mut Vec<Self::Action>) {
        Self::legal_in_view(view, actions);
    }

    /// What a search looks at, each with what it is worth by a judge that does not play on, in the
    /// parts of [`Game::look_ahead`]; the best first. An action that wins at once stands alone. Empty
    /// where nobody judges so. Some are taken for quick players in each imagined game; without any
    /// nothing is known of that.
    fn evaluate_actions(_view: &Self::View, _quick: &[SeatSet]) -> Vec<(Self::Action, i64)> {
        Vec::new()
    }

    /// A game that the viewer of this view could be playing: what it does not see is as the dice
    /// have it. `None` where that is not known to be made.
    fn sample_game(_view: &Self::View, _dice: &mut ChanceRng) -> Option<Self> {
        None
    }

    /// So many games that the viewer of this view could be playing, the likelier the more often,
    /// after all that its seat was shown. Fewer or none where that is not known to be made.
    fn sample_likely_games(
        view: &Self::View,
        _heard: &[Self::Event],
        count: u32,
        dice: &mut ChanceRng,
    ) -> Vec<SampledGame<Self>> {
        let game = |_| Self::sample_game(view, dice);
        (0..count).map_while(game).map(|game| SampledGame { game, quick: SeatSet::EMPTY }).collect()
    }

    /// What an action comes to for a seat in this game, of which all is known, and in which these
    /// are quick players: to be compared with other actions of the same seat. `None` where the game
    /// has no way of its own to find out, or the action is not legal.
    fn look_ahead(&self, _quick: SeatSet, _seat: Seat, _action: &Self::Action) -> Option<i64> {
        None
    }

    /// What a viewer knows, as people read it.
    fn describe(view: &Self::View) -> Vec<Row>;

    /// An action as people read it, as in: drops 7C 7D 7H.
    fn describe_action(action: &Self::Action) -> Vec<Piece>;

    /// What happened, as people read it; `None` for what only a program needs to hear.
    fn describe_event(event: &Self::Event) -> Option<Row>;
}

/// One game by its name: what the service asks when it knows which game it is about.
///
/// The documents of a game can be read: they hold its own types. Those of a catalogue cannot be
/// read before it is known which game they are of: see `table::Readable`.
pub trait GameKind:
    Game<
        Rules: DeserializeOwned,
        Action: DeserializeOwned,
        Event: DeserializeOwned,
        View: DeserializeOwned,
    > + DeserializeOwned
{
    /// The game's name in records, rooms and catalogues, in snake case.
    const NAME: &'static str;
    /// For people, as in `Tong-its`.
    const TITLE: &'static str;
    /// What a count is called at this game.
    const UNIT: TitledName;
    /// How games can end, for statistics and filters.
    const ENDINGS: &'static [TitledName];
    /// What is counted of its players beside games and wins.
    const COUNTERS: &'static [TitledName];
    /// The common events that have a short form, in an order that never changes: the short form
    /// of messages names an event by its place here. At most [`SHORT_EVENTS_MAX`].
    const SHORT_EVENTS: &'static [&'static str];

    /// The named rule sets; the first is the one that is played where nothing else is said.
    fn rule_sets() -> &'static [RuleSet<Self::Rules>];

    /// Every reason for which an action is refused, in order of precedence.
    fn refusals() -> &'static [Self::Refusal];

    /// Which of [`GameKind::SHORT_EVENTS`] this is, if it has a short form.
    fn short_event(event: &Self::Event) -> Option<&'static str>;

    /// Writes the fields of an event that has a short form. Fields at the end that say nothing may
    /// be left out.
    fn write_short<S: SerializeSeq>(event: &Self::Event, fields: &mut S) -> Result<(), S::Error>;

    /// Reads back what [`GameKind::write_short`] has written of the event of this name.
    fn read_short<'de, A: SeqAccess<'de>>(
        name: &str,
        fields: &mut A,
    ) -> Result<Self::Event, A::Error>;
}

/// The most short events of one game.
pub const SHORT_EVENTS_MAX: usize = 64;
