//! A game of Tongo (options) as a value: what lies open, the hands, what nobody sees, and what
//! chance has decided so far of a deal or a roll.
//!
//! Every change is an [`Event`] that is applied to what lies open, to the hands and to what is
//! hidden by the same code that follows it in a view. The value is plain arrays: copying it is how
//! an action leaves the old one alone.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::chance::{self, Request};
use crate::game::{
    Count, Game, GameKind, Outcome, Piece, Prompt, Row, SeatRange, Skill, Turn, UnsoundRules,
    Viewer,
};
use crate::games::tongo_options::action::{Action, Discards};
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::commitment::Commitments;
use crate::games::tongo_options::costs::{answer_price, changed, exchange_price, indexed, price};
use crate::games::tongo_options::deal::{Drawing, deal};
use crate::games::tongo_options::event::{Answer, CostsChange, Event};
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::list::BySeat;
use crate::games::tongo_options::phase::Phase;
use crate::games::tongo_options::public::{Costs, Public};
use crate::games::tongo_options::refusal::Illegal;
use crate::games::tongo_options::rules::Rules;
use crate::games::tongo_options::showdown;
use crate::games::tongo_options::view::View;
use crate::games::tongo_options::{bot, commitment, describe, imagine, kind, legal, quick};
use crate::seat::Seat;

/// A game of Tongo (options), from before the deal to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TongoOptions {
    pub(super) public: Public,
    pub(super) hands: BySeat<CardSet>,
    pub(super) hidden: Hidden,
    /// What chance has decided of a deal or a roll that is not complete.
    #[serde(default, skip_serializing_if = "Drawing::is_empty")]
    pub(super) drawing: Drawing,
}

impl TongoOptions {
    /// What lies open.
    pub const fn public(&self) -> &Public {
        &self.public
    }

    /// Every hand by seat.
    pub const fn hands(&self) -> &BySeat<CardSet> {
        &self.hands
    }

    /// What nobody sees.
    pub const fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Applies an event and notes it.
    fn happen(&mut self, event: Event, events: &mut Vec<Event>) {
        self.hidden.apply(&event, self.public.facing());
        self.public.apply(&event);
        for (number, hand) in (0..).zip(self.hands.iter_mut()) {
            *hand = Seat::new(number).map_or(*hand, |seat| event.hand_after(seat, *hand));
        }
        events.push(event);
    }

    /// Plays a legal action and whatever follows from it without another's decision.
    fn play(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) {
        let event = self.event_of(seat, action);
        self.happen(event, events);
        self.show_if_due(events);
    }

    /// What a legal action means.
    fn event_of(&self, seat: Seat, action: &Action) -> Event {
        let costs = &self.public.costs;
        match *action {
            Action::Stop { floor } => Event::Stopped { seat, floor },
            Action::Retreat => Event::Retreated { seat },
            Action::Evade { discards } => evaded(seat, true, 0, discards),
            Action::ConvertReserves => {
                let most = self.public.reserves.map_or(u8::MAX, |reserves| reserves.wager);
                let wager = self.public.player(seat).chips.min(most);
                Event::ReservesConverted { seat, wager }
            }
            Action::Confront { target: Some(target) } => Event::Confronted { seat, target },
            Action::Confront { target: None } => self.answered(seat, Answer::Confront),
            Action::Acquire => Event::Acquired { seat, floor: self.public.player(seat).facing },
            Action::Fold => Event::Folded { seat },
            Action::PayRisk => Event::RiskPaid { seat, chips: self.risk() },
            Action::Lower(new) => costs_changed(
                seat,
                CostsChange::Lower,
                changed(&self.public, CostsChange::Lower, &new),
            ),
            Action::Raise(new) => costs_changed(
                seat,
                CostsChange::Raise,
                changed(&self.public, CostsChange::Raise, &new),
            ),
            Action::IndexMargin { percent } => {
                costs_changed(seat, CostsChange::Index, indexed(&self.public, percent))
            }
            Action::Buy { slot, leverage } => {
                let card = self.hidden.card(self.public.player(seat).facing, slot);
                let chips = self.priced(costs.buy.into(), leverage);
                Event::Bought { seat, slot, card, chips, leverage }
            }
            Action::Sell { slot, leverage } => {
                let chips = self.priced(costs.sell.into(), leverage);
                Event::Sold { seat, slot, chips, leverage }
            }
            Action::Exchange { slot, floor, other, leverage } => {
                let facing = self.public.player(seat).facing;
                let chips = self.priced(exchange_price(&self.public, facing, floor), leverage);
                Event::Exchanged { seat, slot, floor, other, chips, leverage }
            }
            Action::Roll => Event::Rolling { seat },
            Action::End => {
                let wager = self.public.turn().and_then(|turn| turn.wager);
                Event::Ended { seat, chips: wager.unwrap_or(0) }
            }
            Action::PayToEvade { discards } => evaded(seat, false, self.risk(), discards),
            Action::Stand => self.answered(seat, Answer::Stand),
            Action::Join => self.answered(seat, Answer::Join),
        }
    }

    fn answered(&self, seat: Seat, answer: Answer) -> Event {
        Event::Answered { seat, answer, chips: answer_price(&self.public, seat) }
    }

    /// Where it is to be paid it was checked to be affordable.
    fn risk(&self) -> u8 {
        chips(self.public.risk().into())
    }

    fn priced(&self, whole: u32, leverage: bool) -> u8 {
        chips(price(&self.public, whole, leverage))
    }

    /// The end of the game, where it has come to it.
    fn show_if_due(&mut self, events: &mut Vec<Event>) {
        if let Phase::Showdown(due) = self.public.phase {
            let hands = showdown::shown(&self.public, &self.hands, &due);
            let winner = showdown::winner(&self.public, &hands, &due);
            if due.seats.len() > 1 {
                self.happen(Event::Shown { hands }, events);
            }
            let (ending, pot) = (due.ending, self.public.pot);
            self.happen(Event::Over { ending, winner, pot }, events);
        }
    }

    /// Rule 3.2: the deck in the drawn order, and as many cards from its top as were discarded.
    fn draw(&mut self, seat: Seat, count: u8, order: &[u8], events: &mut Vec<Event>) {
        let old = self.hidden.deck;
        let card = |place: &u8| old[usize::from(*place)];
        let cards: CardSet = order.iter().take(usize::from(count)).map(card).collect();
        let deck = order.iter().skip(usize::from(count)).map(card).collect();
        self.happen(Event::Drew { seat, cards: Some(cards), deck: Some(Box::new(deck)) }, events);
        self.show_if_due(events);
    }
}

fn evaded(seat: Seat, token: bool, chips: u8, discards: Discards) -> Event {
    let count = u8::try_from(discards.len()).expect("a hand has four cards");
    Event::Evaded { seat, token, chips, count, discards: Some(discards) }
}

fn costs_changed(seat: Seat, how: CostsChange, change: Result<(Costs, u32), Illegal>) -> Event {
    let (costs, paid) = change.expect("the change was checked");
    Event::CostsChanged { seat, how, costs, chips: chips(paid) }
}

fn chips(count: u32) -> u8 {
    u8::try_from(count).expect("no seat pays more chips than it has")
}

impl Game for TongoOptions {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Illegal = Illegal;

    fn kind(_rules: &Rules) -> &'static str {
        Self::NAME
    }

    fn seats(rules: &Rules) -> SeatRange {
        rules.seats()
    }

    fn counts_max(rules: &Rules, _seats: u8) -> u32 {
        rules.chips.into()
    }

    fn check(rules: &Rules) -> Result<(), UnsoundRules> {
        rules.check()
    }

    fn countdown_ms(rules: &Rules) -> RangeInclusive<u32> {
        rules.countdowns.range_ms()
    }

    /// The seat that the table's rules name is the dealer (rule 2.1), and the next one begins.
    fn new(rules: &Rules, seats: u8, starter: Option<Seat>) -> Self {
        let dealer = starter.filter(|seat| seat.number() < seats);
        Self {
            public: Public::new(rules, seats, dealer),
            hands: Seat::all(seats).map(|_| CardSet::EMPTY).collect(),
            hidden: Hidden::default(),
            drawing: Drawing::default(),
        }
    }

    fn turn(&self) -> Turn {
        if let Some(prompt) = self.public.prompt() {
            return Turn::Players(prompt);
        }
        let (public, drawing) = (&self.public, &self.drawing);
        match public.phase {
            Phase::Deal => Turn::Chance(drawing.next_of_deal(public)),
            Phase::Roll(_) => Turn::Chance(drawing.next_die(public)),
            Phase::Shuffle { .. } => {
                let cards = u8::try_from(self.hidden.deck.len()).expect("a deck has 48 cards");
                Turn::Chance(Request::Order(cards))
            }
            Phase::Stop { .. }
            | Phase::Turn(_)
            | Phase::Challenge(_)
            | Phase::Showdown(_)
            | Phase::Over => Turn::Over,
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
        next.play(seat, action, events);
        Ok(next)
    }

    fn resolve(&self, answer: &chance::Answer, events: &mut Vec<Event>) -> Self {
        let Turn::Chance(request) = self.turn() else {
            panic!("no chance is due");
        };
        assert!(answer.fits(request), "the answer does not fit the request");
        let mut next = self.clone();
        match (self.public.phase, answer) {
            (Phase::Shuffle { seat, count, .. }, chance::Answer::Order(order)) => {
                next.draw(seat, count, order, events);
            }
            (Phase::Deal, answer) => {
                next.drawing.take(&next.public, &mut next.hidden, answer);
                if let Some(dealt) = deal(&next.public, &next.drawing, &next.hidden) {
                    next.drawing = Drawing::default();
                    (next.hands, next.hidden) = (dealt.hands, dealt.hidden);
                    next.happen(dealt.event(), events);
                }
            }
            (Phase::Roll(turn), answer) => {
                next.drawing.take(&next.public, &mut next.hidden, answer);
                if let Some(dice) = next.drawing.all_dice(&next.public) {
                    next.drawing = Drawing::default();
                    next.happen(Event::Rolled { seat: turn.seat, dice }, events);
                }
            }
            (
                Phase::Stop { .. }
                | Phase::Turn(_)
                | Phase::Shuffle { .. }
                | Phase::Challenge(_)
                | Phase::Showdown(_)
                | Phase::Over,
                _,
            ) => unreachable!("the answer fits the request of this phase"),
        }
        next
    }

    fn expire(&self, _events: &mut Vec<Event>) -> Self {
        panic!("somebody is asked as long as a countdown of this game runs")
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        legal::default_action(&self.public, seat)
    }

    fn outcome(&self) -> Option<Outcome> {
        showdown::outcome(&self.public)
    }

    fn ending(&self) -> Option<&'static str> {
        Some(kind::name_of(self.public.end?.ending))
    }

    fn counts(&self) -> Vec<Count> {
        kind::counts(&self.public)
    }

    fn view(&self, viewer: Viewer) -> View {
        let sees = |seat: Seat| match viewer {
            Viewer::Everything => true,
            Viewer::Seat(own) => own == seat,
            Viewer::Public => false,
        };
        let is_dealt = self.public.phase != Phase::Deal;
        let seats = Seat::all(self.public.seats()).zip(self.hands.iter());
        let is_record = viewer == Viewer::Everything;
        View {
            viewer: match viewer {
                Viewer::Seat(seat) => Some(seat),
                Viewer::Public | Viewer::Everything => None,
            },
            public: self.public.clone(),
            hands: seats
                .map(|(seat, hand)| Some(*hand).filter(|_| is_dealt && sees(seat)))
                .collect(),
            hidden: (is_dealt && is_record).then(|| Box::new(self.hidden)),
        }
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        Some(event.redacted(viewer))
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

    fn advise(view: &View) -> Option<Action> {
        bot::advise(view)
    }

    fn advise_by(skill: Skill, view: &View) -> Option<Action> {
        match skill {
            Skill::Greedy => bot::advise(view),
            Skill::Quick => quick::advise(view, &mut core::iter::empty()),
        }
    }

    fn advise_after(
        skill: Skill,
        view: &View,
        shown: &mut dyn Iterator<Item = &Event>,
    ) -> Option<Action> {
        match skill {
            Skill::Greedy => bot::advise(view),
            Skill::Quick => quick::advise(view, shown),
        }
    }

    fn is_commitment(view: &View, action: &Action) -> bool {
        commitment::is_commitment(&view.public, action)
    }

    fn advise_uncommitted(view: &View, shown: &mut dyn Iterator<Item = &Event>) -> Option<Action> {
        quick::advise_with(Commitments::Barred, view, shown)
    }

    fn worth_trying(view: &View, actions: &mut Vec<Action>) {
        imagine::worth_trying(view, bot::advise(view), actions);
    }

    fn imagine(view: &View, dice: &mut chance::Dice) -> Option<Self> {
        imagine::game(view, dice)
    }

    fn describe(view: &View) -> Vec<Row> {
        describe::view(view)
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        describe::action(action)
    }

    fn describe_event(event: &Event) -> Option<Row> {
        describe::event(event)
    }
}
