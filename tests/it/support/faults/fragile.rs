//! Tong-its that panics at a point chosen by its rule set, to simulate a bug.

use bahay_bots::Ai;
use bahay_engine::chance::ChanceAnswer;
use bahay_engine::game::{
    CounterIncrement, Describe, Game, GameKind, Outcome, Piece, Prompt, Row, RuleSet, TitledName,
    Turn, Viewer,
};
use bahay_engine::games::tongits::{Action, Event, Illegal, Rules, Tongits, View};
use bahay_engine::seat::Seat;
use bahay_engine::testing::Switch;
use serde::de::SeqAccess;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};

/// The function that panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fuse {
    /// Applying an action.
    Act,
    /// Choosing the AI's action.
    Advise,
    /// Making a view.
    View,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fragile {
    fuse: Fuse,
    game: Tongits,
}

impl Game for Fragile {
    type Rules = (Fuse, Rules);
    type Action = Action;
    type Event = Event;
    type View = (Fuse, View);
    type Refusal = Illegal;

    fn new((fuse, rules): &Self::Rules, seats: u8, starter: Option<Seat>) -> Self {
        Self { fuse: *fuse, game: Tongits::new(rules, seats, starter) }
    }

    fn turn(&self) -> Turn {
        self.game.turn()
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        self.game.legal_actions(seat, actions);
    }

    fn act(&self, seat: Seat, action: &Action, events: &mut Vec<Event>) -> Result<Self, Illegal> {
        assert_ne!(self.fuse, Fuse::Act, "a bug in applying an action");
        let game = self.game.act(seat, action, events)?;
        Ok(Self { fuse: self.fuse, game })
    }

    fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<Event>) -> Self {
        Self { fuse: self.fuse, game: self.game.resolve(answer, events) }
    }

    fn expire(&self, events: &mut Vec<Event>) -> Self {
        Self { fuse: self.fuse, game: self.game.expire(events) }
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        self.game.default_action(seat)
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.outcome()
    }

    fn ending(&self) -> Option<&'static str> {
        self.game.ending()
    }

    fn counts(&self) -> Vec<CounterIncrement> {
        self.game.counts()
    }

    fn view(&self, viewer: Viewer) -> Self::View {
        assert_ne!(self.fuse, Fuse::View, "a bug in making a view");
        (self.fuse, self.game.view(viewer))
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        Tongits::redact(event, viewer)
    }

    fn observe((_, view): &mut Self::View, event: &Event) {
        Tongits::observe(view, event);
    }

    fn prompt_in_view((_, view): &Self::View) -> Option<Prompt> {
        Tongits::prompt_in_view(view)
    }

    fn legal_in_view((_, view): &Self::View, actions: &mut Vec<Action>) {
        Tongits::legal_in_view(view, actions);
    }

    fn refusal_in_view((_, view): &Self::View, action: &Action) -> Option<Illegal> {
        Tongits::refusal_in_view(view, action)
    }

    fn is_commitment((_, view): &Self::View, action: &Action) -> bool {
        Tongits::is_commitment(view, action)
    }
}

impl Ai for Fragile {
    fn choose_action((fuse, view): &Self::View) -> Option<Action> {
        assert_ne!(*fuse, Fuse::Advise, "a bug in choosing an action");
        Tongits::choose_action(view)
    }
}

impl Describe for Fragile {
    fn describe((_, view): &Self::View) -> Vec<Row> {
        Tongits::describe(view)
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        Tongits::describe_action(action)
    }

    fn describe_event(event: &Event) -> Option<Row> {
        Tongits::describe_event(event)
    }
}

impl Switch for Fuse {
    const KIND: &'static str = Fragile::NAME;
}

impl GameKind for Fragile {
    const NAME: &'static str = "fragile";
    const TITLE: &'static str = "Fragile";
    const UNIT: TitledName = Tongits::UNIT;
    const ENDINGS: &'static [TitledName] = Tongits::ENDINGS;
    const COUNTERS: &'static [TitledName] = Tongits::COUNTERS;
    const SHORT_EVENTS: &'static [&'static str] = Tongits::SHORT_EVENTS;

    fn rule_sets() -> &'static [RuleSet<Self::Rules>] {
        &[]
    }

    fn refusals() -> &'static [Illegal] {
        Tongits::refusals()
    }

    fn short_event(event: &Event) -> Option<&'static str> {
        Tongits::short_event(event)
    }

    fn write_short<S: SerializeSeq>(event: &Event, fields: &mut S) -> Result<(), S::Error> {
        Tongits::write_short(event, fields)
    }

    fn read_short<'de, A: SeqAccess<'de>>(name: &str, fields: &mut A) -> Result<Event, A::Error> {
        Tongits::read_short(name, fields)
    }
}
