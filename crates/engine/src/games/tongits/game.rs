//! Tong-its as a [`Game`]: rules and views by delegation.

use crate::cards::CardSet;
use crate::chance;
use crate::game::{CounterIncrement, Game, GameKind, Outcome, Prompt, Turn, Viewer};
use crate::games::tongits::action::{Action, Illegal};
use crate::games::tongits::event::{Event, FightAnswers};
use crate::games::tongits::phase::{Phase, PublicState};
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::{Rules, SEATS};
use crate::games::tongits::state::Tongits;
use crate::games::tongits::view::View;
use crate::games::tongits::{kind, legal, score};
use crate::seat::Seat;
use alloc::vec::Vec;

impl Game for Tongits {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Refusal = Illegal;

    fn new(rules: &Rules, _seats: u8, starter: Option<Seat>) -> Self {
        Self {
            public: PublicState::new(rules, starter.filter(|seat| seat.number() < SEATS)),
            hands: [CardSet::EMPTY; SEATS as usize],
            stock: Pile::default(),
            answers: FightAnswers::new(),
            drawn: None,
        }
    }

    fn turn(&self) -> Turn {
        self.public.turn()
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        if let Some(hand) = self.hands.get(seat.index()) {
            legal::for_each_legal_action(&self.public, seat, *hand, |action| actions.push(action));
        }
    }

    fn act(&self, seat: Seat, action: &Action, events: &mut Vec<Event>) -> Result<Self, Illegal> {
        let hand = self.hands.get(seat.index()).copied().unwrap_or_default();
        legal::check_action(&self.public, seat, hand, action)?;
        let mut next = self.clone();
        next.play_action(seat, action, events);
        Ok(next)
    }

    fn resolve(&self, answer: &chance::ChanceAnswer, events: &mut Vec<Event>) -> Self {
        let Turn::Chance(request) = self.turn() else {
            panic!("the game does not wait for chance");
        };
        assert!(answer.fits(request), "the answer does not fit the request");
        let mut next = self.clone();
        match (self.public.phase, answer) {
            (Phase::Starter, chance::ChanceAnswer::Number(number)) => {
                let seat =
                    Seat::all(SEATS).nth(*number as usize).expect("the answer fits the request");
                next.apply_event(Event::StarterChosen { seat }, events);
            }
            (Phase::Deal { starter }, chance::ChanceAnswer::Order(deck)) => {
                next.deal_cards(starter, deck, events);
            }
            (variants!(Phase: Starter, Deal, Draw, Play, Fight, Over), _) => {
                unreachable!("the answer fits the request of this phase")
            }
        }
        next
    }

    fn expire(&self, events: &mut Vec<Event>) -> Self {
        assert!(matches!(self.turn(), Turn::Wait(_)), "the game does not wait for its countdown");
        let mut next = self.clone();
        next.end_if_answered(true, events);
        next
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        legal::default_action(&self.public, seat, *self.hands.get(seat.index())?)
    }

    fn outcome(&self) -> Option<Outcome> {
        score::outcome(&self.public)
    }

    fn ending(&self) -> Option<&'static str> {
        Some(Self::ENDINGS[self.public.end?.ending as usize].name)
    }

    fn counts(&self) -> Vec<CounterIncrement> {
        kind::counter_increments(&self.public)
    }

    fn view(&self, viewer: Viewer) -> View {
        let is_dealt = !matches!(self.public.phase, Phase::Starter | Phase::Deal { .. });
        let mut hands = self.hands.map(Some);
        for (seat, hand) in Seat::all(SEATS).zip(&mut hands) {
            *hand = hand.filter(|_| is_dealt && viewer.sees(seat));
        }
        View {
            viewer: viewer.seat(),
            public: self.public.redact_for(viewer),
            hands,
            answers: self.answers.iter().copied().filter(|(seat, _)| viewer.sees(*seat)).collect(),
            drawn: self
                .drawn
                .filter(|_| matches!(self.public.phase, Phase::Play { seat } if viewer.sees(seat))),
            stock: (is_dealt && viewer == Viewer::Everything).then_some(self.stock),
        }
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        event.redact_for(viewer)
    }

    fn observe(view: &mut View, event: &Event) {
        view.observe(event);
    }

    fn prompt_in_view(view: &View) -> Option<Prompt> {
        view.public.prompt()
    }

    fn prompt_for(&self, viewer: Viewer) -> Option<Prompt> {
        self.public.redact_for(viewer).prompt()
    }

    fn legal_in_view(view: &View, actions: &mut Vec<Action>) {
        if let (Some(seat), Some(hand)) = (view.viewer, view.hand()) {
            legal::for_each_legal_action(&view.public, seat, hand, |action| actions.push(action));
        }
    }

    fn refusal_in_view(view: &View, action: &Action) -> Option<Illegal> {
        let seat = view.viewer?;
        let hand = view.hand()?;
        legal::check_action(&view.public, seat, hand, action).err()
    }

    /// Returns whether the action calls a fight.
    fn is_commitment(_view: &View, action: &Action) -> bool {
        matches!(action, Action::Fight)
    }
}
