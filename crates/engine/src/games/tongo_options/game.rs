//! Tongo (options) as a [`Game`]: rules and views by delegation.

use crate::chance::{self, Request};
use crate::game::{CounterIncrement, Game, GameKind, Outcome, Prompt, Turn, Viewer};
use crate::games::tongo_options::action::{Action, Illegal};
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::deal::Drawing;
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::phase::{Phase, TurnState};
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::Rules;
use crate::games::tongo_options::state::TongoOptions;
use crate::games::tongo_options::view::View;
use crate::games::tongo_options::{kind, legal, showdown};
use crate::seat::Seat;
use alloc::boxed::Box;
use alloc::vec::Vec;

impl Game for TongoOptions {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Refusal = Illegal;

    /// Creates a game. The seat that begins by the rules of the table is the dealer (rule 2.1), and
    /// the next one plays first.
    fn new(rules: &Rules, seats: u8, starter: Option<Seat>) -> Self {
        let dealer = starter.filter(|seat| seat.number() < seats);
        Self {
            public: PublicState::new(rules, seats, dealer),
            hands: Seat::all(seats).map(|_| CardSet::EMPTY).collect(),
            hidden: Hidden::default(),
            drawing: Drawing::default(),
        }
    }

    fn turn(&self) -> Turn {
        if let Some(prompt) = self.public.prompt() {
            return Turn::Players(prompt);
        }
        let public = &self.public;
        let drawing = &self.drawing;
        match public.phase {
            Phase::Deal => Turn::Chance(drawing.next_deal_request(public)),
            Phase::Roll(_) => Turn::Chance(drawing.next_die_request(public)),
            Phase::Shuffle { .. } => {
                let cards = u8::try_from(self.hidden.deck.len()).expect("a deck has 48 cards");
                Turn::Chance(Request::Order(cards))
            }
            variants!(Phase: Stop, Turn, Challenge, Showdown, Over) => Turn::Over,
        }
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        if let Some(hand) = self.hands.get(seat.index()) {
            legal::for_each(&self.public, seat, *hand, |action| actions.push(action));
        }
    }

    fn act(&self, seat: Seat, action: &Action, events: &mut Vec<Event>) -> Result<Self, Illegal> {
        let hand = self.hands.get(seat.index()).copied().unwrap_or_default();
        legal::check(&self.public, seat, hand, action)?;
        let mut next = self.clone();
        next.play_action(seat, action, events);
        Ok(next)
    }

    fn resolve(&self, answer: &chance::ChanceAnswer, events: &mut Vec<Event>) -> Self {
        let Turn::Chance(request) = self.turn() else { panic!("no chance is due") };
        assert!(answer.fits(request), "the answer does not fit the request");
        let mut next = self.clone();
        if let (Phase::Shuffle { seat, count, .. }, chance::ChanceAnswer::Order(order)) =
            (self.public.phase, answer)
        {
            next.draw_cards(seat, count, order, events);
            return next;
        }
        next.drawing.record_answer(&next.public, &mut next.hidden, answer);
        let complete = match self.public.phase {
            Phase::Deal => next.drawing.complete_deal(&next.public, &next.hidden),
            Phase::Roll(TurnState { seat, .. }) => {
                next.drawing.all_dice(&next.public).map(|dice| Event::Rolled { seat, dice })
            }
            variants!(Phase: Stop, Turn, Shuffle, Challenge, Showdown, Over) => {
                unreachable!("the answer fits the request of this phase")
            }
        };
        if let Some(event) = complete {
            next.drawing = Drawing::default();
            next.apply_event(event, events);
        }
        next
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        legal::default_action(&self.public, seat)
    }

    fn outcome(&self) -> Option<Outcome> {
        showdown::outcome(&self.public)
    }

    fn ending(&self) -> Option<&'static str> {
        Some(Self::ENDINGS[self.public.end?.ending as usize].name)
    }

    fn counts(&self) -> Vec<CounterIncrement> {
        kind::counter_increments(&self.public)
    }

    fn view(&self, viewer: Viewer) -> View {
        let is_dealt = self.public.phase != Phase::Deal;
        let seats = Seat::all(self.public.seats()).zip(self.hands.iter());
        let is_record = viewer == Viewer::Everything;
        View {
            viewer: viewer.seat(),
            public: self.public.clone(),
            hands: seats
                .map(|(seat, hand)| Some(*hand).filter(|_| is_dealt && viewer.sees(seat)))
                .collect(),
            hidden: (is_dealt && is_record).then(|| Box::new(self.hidden)),
        }
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        Some(event.redact_for(viewer))
    }

    fn observe(view: &mut View, event: &Event) {
        view.observe(event);
    }

    fn prompt_in_view(view: &View) -> Option<Prompt> {
        view.public.prompt()
    }

    fn prompt_for(&self, _viewer: Viewer) -> Option<Prompt> {
        self.public.prompt()
    }

    fn legal_in_view(view: &View, actions: &mut Vec<Action>) {
        if let (Some(seat), Some(hand)) = (view.viewer, view.hand()) {
            legal::for_each(&view.public, seat, hand, |action| actions.push(action));
        }
    }

    fn refusal_in_view(view: &View, action: &Action) -> Option<Illegal> {
        let seat = view.viewer?;
        let hand = view.hand()?;
        legal::check(&view.public, seat, hand, action).err()
    }

    fn is_commitment(view: &View, action: &Action) -> bool {
        legal::is_commitment(&view.public, action)
    }
}
