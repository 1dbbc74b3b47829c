//! Tong-its with one planted fault, which the conformance kit must find.

use std::borrow::Cow;

use bahay_bots::Ai;
use bahay_engine::chance::ChanceAnswer;
use bahay_engine::game::{
    CounterIncrement, Debt, Describe, Game, GameKind, Item, Outcome, Piece, Prompt, Row, RuleSet,
    TitledName, Turn, Viewer,
};
use bahay_engine::games::tongits::{Action, Event, Illegal, Rules, Tongits, View};
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Probe, Switch, TestRng, TongitsProbe};
use serde::de::SeqAccess;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};

use crate::support;

/// A fault of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    None,
    /// Every viewer sees every drawn card.
    EventsLeak,
    /// Every viewer sees every hand.
    ViewLeaks,
    /// A view ignores one kind of event.
    ViewDrifts,
    /// A refused action is listed as legal.
    ListsTooMuch,
    /// An accepted action is not listed as legal.
    ListsTooLittle,
    /// The clock plays an illegal action.
    ClockCheats,
    /// The AI plays an illegal action.
    BotCheats,
    /// A seat owes more than it holds.
    OwesTooMuch,
    /// The outcome is missing.
    NoOutcome,
    /// Every seat sees the prompts of a fight except the prompted one.
    PromptHidden,
    /// Deserialisation returns a different game.
    Forgets,
    /// The game ends without a named ending.
    EndsWithoutAName,
    /// The short form of an event is that of another event.
    ShortFormLies,
}

impl Fault {
    pub const ALL: [Self; 13] = [
        Self::EventsLeak,
        Self::ViewLeaks,
        Self::ViewDrifts,
        Self::ListsTooMuch,
        Self::ListsTooLittle,
        Self::ClockCheats,
        Self::BotCheats,
        Self::OwesTooMuch,
        Self::NoOutcome,
        Self::PromptHidden,
        Self::Forgets,
        Self::EndsWithoutAName,
        Self::ShortFormLies,
    ];

    /// Adds or removes a legal action if that is the fault.
    fn miscount(self, actions: &mut Vec<Action>) {
        if actions.len() <= 3 {
            return;
        }
        if self == Self::ListsTooMuch {
            actions.push(Action::Challenge);
        }
        if self == Self::ListsTooLittle {
            actions.truncate(2);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Broken {
    fault: Fault,
    /// Omitted from the serialisation if that is the fault.
    #[serde(skip_serializing_if = "is_forgotten", default)]
    steps: u32,
    game: Tongits,
}

/// The flag of the fault in counts; see [`Broken::after`].
const FORGOTTEN: u32 = 1 << 31;

fn is_forgotten(steps: &u32) -> bool {
    *steps >= FORGOTTEN
}

/// A view or an event with its game's fault, because half of [`Game`] sees nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Faulty<T> {
    fault: Fault,
    sound: T,
}

type BrokenView = Faulty<View>;
type BrokenEvent = Faulty<Event>;

impl Broken {
    /// Returns the game after these events.
    fn after(&self, game: Tongits, happened: Vec<Event>, events: &mut Vec<BrokenEvent>) -> Self {
        let fault = self.fault;
        events.extend(happened.into_iter().map(|sound| Faulty { fault, sound }));
        let flag = if fault == Fault::Forgets { FORGOTTEN } else { 0 };
        Self { fault, steps: (self.steps + 1) | flag, game }
    }
}

impl Game for Broken {
    type Rules = (Fault, Rules);
    type Action = Action;
    type Event = BrokenEvent;
    type View = BrokenView;
    type Refusal = Illegal;

    fn new((fault, rules): &Self::Rules, seats: u8, starter: Option<Seat>) -> Self {
        Self { fault: *fault, steps: 0, game: Tongits::new(rules, seats, starter) }
    }

    fn turn(&self) -> Turn {
        self.game.turn()
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        self.game.legal_actions(seat, actions);
        self.fault.miscount(actions);
    }

    fn act(
        &self,
        seat: Seat,
        action: &Action,
        events: &mut Vec<BrokenEvent>,
    ) -> Result<Self, Illegal> {
        let mut happened = Vec::new();
        let game = self.game.act(seat, action, &mut happened)?;
        Ok(self.after(game, happened, events))
    }

    fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<BrokenEvent>) -> Self {
        let mut happened = Vec::new();
        let game = self.game.resolve(answer, &mut happened);
        self.after(game, happened, events)
    }

    fn expire(&self, events: &mut Vec<BrokenEvent>) -> Self {
        let mut happened = Vec::new();
        let game = self.game.expire(&mut happened);
        self.after(game, happened, events)
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        let action = self.game.default_action(seat)?;
        Some(if self.fault == Fault::ClockCheats { Action::Tongits } else { action })
    }

    fn outcome(&self) -> Option<Outcome> {
        let mut outcome = self.game.outcome()?;
        if self.fault == Fault::NoOutcome {
            return None;
        }
        if self.fault == Fault::OwesTooMuch {
            let [from, to] = [0, 1].map(support::desk::seat);
            let name = Cow::Borrowed("fine");
            let items = vec![Item { name: name.clone(), rule: name, counts: 15 }];
            outcome.debts.push(Debt { from, to, items });
        }
        Some(outcome)
    }

    fn ending(&self) -> Option<&'static str> {
        let ending = self.game.ending()?;
        Some(if self.fault == Fault::EndsWithoutAName { "somehow" } else { ending })
    }

    fn counts(&self) -> Vec<CounterIncrement> {
        self.game.counts()
    }

    fn view(&self, viewer: Viewer) -> BrokenView {
        let mut sound = self.game.view(viewer);
        if self.fault == Fault::ViewLeaks && matches!(viewer, Viewer::Seat(_)) {
            sound.hands = self.game.view(Viewer::Everything).hands;
        }
        Faulty { fault: self.fault, sound }
    }

    fn redact(event: &BrokenEvent, viewer: Viewer) -> Option<BrokenEvent> {
        let is_leak = event.fault == Fault::EventsLeak;
        let viewer = if is_leak { Viewer::Everything } else { viewer };
        let sound = Tongits::redact(&event.sound, viewer)?;
        Some(Faulty { fault: event.fault, sound })
    }

    fn observe(view: &mut BrokenView, event: &BrokenEvent) {
        let is_lost = matches!(event.sound, Event::Sapawed { .. });
        if view.fault != Fault::ViewDrifts || !is_lost {
            Tongits::observe(&mut view.sound, &event.sound);
        }
    }

    fn prompt_in_view(view: &BrokenView) -> Option<Prompt> {
        let prompt = Tongits::prompt_in_view(&view.sound)?;
        let is_hidden = view.fault == Fault::PromptHidden && prompt.seats.len() > 1;
        (!is_hidden).then_some(prompt)
    }

    fn legal_in_view(view: &BrokenView, actions: &mut Vec<Action>) {
        Tongits::legal_in_view(&view.sound, actions);
        view.fault.miscount(actions);
    }

    fn refusal_in_view(view: &BrokenView, action: &Action) -> Option<Illegal> {
        Tongits::refusal_in_view(&view.sound, action)
    }

    fn is_commitment(view: &BrokenView, action: &Action) -> bool {
        Tongits::is_commitment(&view.sound, action)
    }
}

impl Ai for Broken {
    fn choose_action(view: &BrokenView) -> Option<Action> {
        let action = Tongits::choose_action(&view.sound)?;
        Some(if view.fault == Fault::BotCheats { Action::Fight } else { action })
    }
}

impl Describe for Broken {
    fn describe(view: &BrokenView) -> Vec<Row> {
        Tongits::describe(&view.sound)
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        Tongits::describe_action(action)
    }

    fn describe_event(event: &BrokenEvent) -> Option<Row> {
        Tongits::describe_event(&event.sound)
    }
}

impl Switch for Fault {
    const KIND: &'static str = Broken::NAME;
}

impl GameKind for Broken {
    const NAME: &'static str = "broken";
    const TITLE: &'static str = "Broken";
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

    fn short_event(event: &BrokenEvent) -> Option<&'static str> {
        Tongits::short_event(&event.sound)
    }

    fn write_short<S: SerializeSeq>(event: &BrokenEvent, fields: &mut S) -> Result<(), S::Error> {
        fields.serialize_element(&event.fault)?;
        match &event.sound {
            Event::Dumped { seat, .. } if event.fault == Fault::ShortFormLies => {
                let seat = support::desk::seat(seat.number() ^ 1);
                let event = Event::Drawn { seat, card: None, auto: false };
                Tongits::write_short(&event, fields)
            }
            event => Tongits::write_short(event, fields),
        }
    }

    fn read_short<'de, A: SeqAccess<'de>>(
        name: &str,
        fields: &mut A,
    ) -> Result<BrokenEvent, A::Error> {
        let fault = fields.next_element()?.expect("the fault comes first");
        Ok(Faulty { fault, sound: Tongits::read_short(name, fields)? })
    }
}

impl Probe<Broken> for TongitsProbe {
    fn wild_action(&self, game: &Broken, dice: &mut TestRng) -> Action {
        self.wild_action(&game.game, dice)
    }

    fn hidden_texts(&self, game: &Broken, viewer: Viewer) -> Vec<String> {
        self.hidden_texts(&game.game, viewer)
    }

    fn broken_invariant(&self, game: &Broken) -> Option<String> {
        self.broken_invariant(&game.game)
    }
}
