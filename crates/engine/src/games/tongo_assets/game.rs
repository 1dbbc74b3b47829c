//! Tongo (assets) as a [`Game`]: rules and views by delegation.

use crate::chance::ChanceAnswer;
use crate::game::{CounterIncrement, Game, GameKind, Outcome, Prompt, Turn, Viewer};
use crate::games::tongo_assets::action::{Action, Illegal};
use crate::games::tongo_assets::card::Card;
use crate::games::tongo_assets::deck::Deck;
use crate::games::tongo_assets::event::Event;
use crate::games::tongo_assets::hidden::{Hidden, OwnKnowledge};
use crate::games::tongo_assets::phase::Phase;
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::rules::Rules;
use crate::games::tongo_assets::state::TongoAssets;
use crate::games::tongo_assets::view::View;
use crate::games::tongo_assets::{kind, legal, payout};
use crate::seat::Seat;
use alloc::boxed::Box;
use alloc::vec::Vec;

impl Game for TongoAssets {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Refusal = Illegal;

    fn new(rules: &Rules, seats: u8, starter: Option<Seat>) -> Self {
        let public = PublicState::new(rules, seats, starter.filter(|seat| seat.number() < seats));
        let hidden = Hidden::new(&public);
        Self { public, hidden }
    }

    fn turn(&self) -> Turn {
        self.public.turn()
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        legal::for_each_action(&self.actor(seat), &mut |action| actions.push(action));
    }

    fn act(&self, seat: Seat, action: &Action, events: &mut Vec<Event>) -> Result<Self, Illegal> {
        legal::check(&self.actor(seat), action)?;
        let mut next = self.clone();
        next.play_action(seat, action, events);
        Ok(next)
    }

    fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<Event>) -> Self {
        let Turn::Chance(request) = self.turn() else { panic!("no chance is due") };
        assert!(answer.fits(request), "the answer does not fit the request");
        let mut next = self.clone();
        let event = match (self.public.phase, answer) {
            (Phase::Dealer, ChanceAnswer::Number(number)) => {
                let seat = Seat::all(self.public.seats()).nth(*number as usize);
                Event::DealerChosen { seat: seat.expect("the answer fits") }
            }
            (Phase::Assets, ChanceAnswer::Order(order)) => {
                Event::AssetsShuffled { deck: Some(Box::new(deck(order, Card::asset))) }
            }
            (Phase::Acquires, ChanceAnswer::Order(order)) => {
                Event::AcquiresShuffled { deck: Some(Box::new(deck(order, Card::acquire))) }
            }
            (Phase::Deal, ChanceAnswer::Number(number)) => {
                let rotation = number.to_le_bytes()[0];
                let hands = Box::new(self.hidden.hands_to_deal(&self.public, rotation));
                Event::Dealt { rotation, hands }
            }
            (Phase::Stop, ChanceAnswer::Number(number)) => {
                Event::Stopped { rotation: number.to_le_bytes()[0] }
            }
            _ => panic!("no chance is due"),
        };
        next.apply_event(event, events);
        next.advance(events);
        next
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        legal::default_action(&self.actor(seat))
    }

    fn outcome(&self) -> Option<Outcome> {
        payout::outcome(&self.public)
    }

    fn ending(&self) -> Option<&'static str> {
        Some(Self::ENDINGS[self.public.end?.ending as usize].name)
    }

    fn counts(&self) -> Vec<CounterIncrement> {
        kind::counter_increments(&self.public)
    }

    fn view(&self, viewer: Viewer) -> View {
        let Self { public, hidden } = self;
        let own = viewer.seat().map(|seat| OwnKnowledge::from_state(public, hidden, seat));
        let hidden = (viewer == Viewer::Everything).then(|| Box::new(hidden.clone()));
        View { viewer: viewer.seat(), public: public.clone(), own, hidden }
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        Some(event.redact_for(viewer))
    }

    fn observe(view: &mut View, event: &Event) {
        view.observe(event);
    }

    fn prompt_in_view(view: &View) -> Option<Prompt> {
        view.prompt()
    }

    fn prompt_for(&self, _viewer: Viewer) -> Option<Prompt> {
        self.public.prompt()
    }

    fn legal_in_view(view: &View, actions: &mut Vec<Action>) {
        if let Some(actor) = view.actor() {
            legal::for_each_action(&actor, &mut |action| actions.push(action));
        }
    }

    fn refusal_in_view(view: &View, action: &Action) -> Option<Illegal> {
        legal::check(&view.actor()?, action).err()
    }

    fn is_commitment(view: &View, action: &Action) -> bool {
        legal::is_commitment(&view.public, action)
    }
}

/// Returns a deck in the order that chance gave, the first card on top.
fn deck(order: &[u8], card: impl Fn(u8) -> Option<Card>) -> Deck {
    order.iter().map(|index| card(*index).expect("an order of the cards")).collect()
}
