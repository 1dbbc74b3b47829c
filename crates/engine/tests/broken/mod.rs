//! Tong-its with one fault: what the conformance kit must find.

use std::borrow::Cow;

use bahay_engine::chance::Answer;
use bahay_engine::game::{Debt, Game, Item, Outcome, Prompt, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Event, Illegal, Rules, Tongits, View};
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Dice, Probe, TongitsProbe};
use serde::{Deserialize, Serialize};

/// What is wrong with a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    None,
    /// Everybody sees every card drawn.
    EventsLeak,
    /// Everybody sees every hand.
    ViewLeaks,
    /// A view forgets to follow one kind of event.
    ViewDrifts,
    /// An action that is refused is listed as legal.
    ListsTooMuch,
    /// An action that is taken is not listed as legal.
    ListsTooLittle,
    /// The clock plays what is illegal.
    ClockCheats,
    /// The AI plays what is illegal.
    BotCheats,
    /// More is owed than is held.
    OwesTooMuch,
    /// The outcome is missing.
    NoOutcome,
    /// Everybody is told who is asked in a fight, and the asked seat is not.
    PromptHidden,
    /// Read back, the game is another.
    Forgets,
}

impl Fault {
    pub const ALL: [Self; 11] = [
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
    ];
}

impl Fault {
    /// Lists more or fewer actions than are legal, if that is the fault.
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
    /// Left out of what is written down when the game forgets.
    #[serde(skip_serializing_if = "is_forgotten", default)]
    steps: u32,
    game: Tongits,
}

/// Counts with the fault mixed in; see [`Broken::after`].
const FORGOTTEN: u32 = 1 << 31;

fn is_forgotten(steps: &u32) -> bool {
    *steps >= FORGOTTEN
}

/// A view with the fault of its game, because half of [`Game`] knows only the view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenView {
    fault: Fault,
    view: View,
}

/// An event with the fault of its game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenEvent {
    fault: Fault,
    event: Event,
}

impl Broken {
    fn after(&self, game: Tongits) -> Self {
        let flag = if self.fault == Fault::Forgets { FORGOTTEN } else { 0 };
        Self { fault: self.fault, steps: (self.steps + 1) | flag, game }
    }

    fn events(&self, events: Vec<Event>) -> impl Iterator<Item = BrokenEvent> {
        let fault = self.fault;
        events.into_iter().map(move |event| BrokenEvent { fault, event })
    }
}

impl Game for Broken {
    type Rules = (Fault, Rules);
    type Action = Action;
    type Event = BrokenEvent;
    type View = BrokenView;
    type Illegal = Illegal;

    const NAME: &'static str = "broken";

    fn seats(rules: &Self::Rules) -> u8 {
        Tongits::seats(&rules.1)
    }

    fn counts_max(rules: &Self::Rules) -> u32 {
        Tongits::counts_max(&rules.1)
    }

    fn new((fault, rules): &Self::Rules, starter: Option<Seat>) -> Self {
        Self { fault: *fault, steps: 0, game: Tongits::new(rules, starter) }
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
        events.extend(self.events(happened));
        Ok(self.after(game))
    }

    fn resolve(&self, answer: &Answer, events: &mut Vec<BrokenEvent>) -> Self {
        let mut happened = Vec::new();
        let game = self.game.resolve(answer, &mut happened);
        events.extend(self.events(happened));
        self.after(game)
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
            let [from, to] = [0, 1].map(|number| Seat::new(number).expect("a seat"));
            let name = Cow::Borrowed("fine");
            let items = vec![Item { name: name.clone(), rule: name, counts: 15 }];
            outcome.debts.push(Debt { from, to, items });
        }
        Some(outcome)
    }

    fn view(&self, viewer: Viewer) -> BrokenView {
        let is_leak = self.fault == Fault::ViewLeaks && matches!(viewer, Viewer::Seat(_));
        let mut view = self.game.view(viewer);
        if is_leak {
            view.hands = self.game.view(Viewer::Everything).hands;
        }
        BrokenView { fault: self.fault, view }
    }

    fn redact(event: &BrokenEvent, viewer: Viewer) -> Option<BrokenEvent> {
        let is_leak = event.fault == Fault::EventsLeak;
        let viewer = if is_leak { Viewer::Everything } else { viewer };
        let redacted = Tongits::redact(&event.event, viewer)?;
        Some(BrokenEvent { fault: event.fault, event: redacted })
    }

    fn observe(view: &mut BrokenView, event: &BrokenEvent) {
        let is_lost = matches!(event.event, Event::Sapawed { .. });
        if view.fault != Fault::ViewDrifts || !is_lost {
            Tongits::observe(&mut view.view, &event.event);
        }
    }

    fn prompt_in_view(view: &BrokenView) -> Option<Prompt> {
        let prompt = Tongits::prompt_in_view(&view.view)?;
        let is_hidden = view.fault == Fault::PromptHidden && prompt.seats.len() > 1;
        (!is_hidden).then_some(prompt)
    }

    fn legal_in_view(view: &BrokenView, actions: &mut Vec<Action>) {
        Tongits::legal_in_view(&view.view, actions);
        view.fault.miscount(actions);
    }

    fn advise(view: &BrokenView) -> Option<Action> {
        let action = Tongits::advise(&view.view)?;
        Some(if view.fault == Fault::BotCheats { Action::Fight } else { action })
    }
}

impl Probe<Broken> for TongitsProbe {
    fn wild_action(&self, game: &Broken, dice: &mut Dice) -> Action {
        self.wild_action(&game.game, dice)
    }

    fn hidden(&self, game: &Broken, viewer: Viewer) -> Vec<String> {
        self.hidden(&game.game, viewer)
    }

    fn broken(&self, game: &Broken) -> Option<String> {
        self.broken(&game.game)
    }
}
