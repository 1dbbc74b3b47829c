//! A game of Tongo (options) as a value: the public state, the hands, the hidden state, and the
//! answers of chance for an incomplete deal or roll.
//!
//! Every change is an [`Event`], which is applied to the game by the same code as to a view. The
//! value consists of plain arrays, so copying it preserves the state before an action.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::chance::{self, Request};
use crate::game::{
    CounterIncrement, Game, GameKind, Outcome, Piece, Prompt, Row, RulesError, SeatRange, Skill,
    Turn, Viewer,
};
use crate::games::tongo_options::action::{Action, Discards};
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::commitment::CommitmentPolicy;
use crate::games::tongo_options::costs::{
    answer_price, change_costs, discounted_price, exchange_price, index_costs,
};
use crate::games::tongo_options::deal::{Drawing, complete_deal};
use crate::games::tongo_options::event::{ChallengeAnswer, CostsChange, Event};
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::list::BySeat;
use crate::games::tongo_options::phase::Phase;
use crate::games::tongo_options::public::{Costs, PublicState};
use crate::games::tongo_options::refusal::Illegal;
use crate::games::tongo_options::rules::Rules;
use crate::games::tongo_options::showdown;
use crate::games::tongo_options::view::View;
use crate::games::tongo_options::{bot, commitment, describe, kind, legal, quick, sampling};
use crate::seat::Seat;

/// A game of Tongo (options), from before the deal to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TongoOptions {
    pub(super) public: PublicState,
    pub(super) hands: BySeat<CardSet>,
    pub(super) hidden: Hidden,
    /// The answers of chance for an incomplete deal or roll.
    #[serde(default, skip_serializing_if = "Drawing::is_empty")]
    pub(super) drawing: Drawing,
}

impl TongoOptions {
    /// Returns the public state.
    pub const fn public(&self) -> &PublicState {
        &self.public
    }

    /// Returns every hand by seat.
    pub const fn hands(&self) -> &BySeat<CardSet> {
        &self.hands
    }

    /// Returns the hidden state.
    pub const fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Applies an event and appends it to `events`.
    fn apply_event(&mut self, event: Event, events: &mut Vec<Event>) {
        self.hidden.apply(&event, self.public.facing_floor());
        self.public.apply(&event);
        for (number, hand) in (0..).zip(self.hands.iter_mut()) {
            *hand = Seat::new(number).map_or(*hand, |seat| event.hand_after(seat, *hand));
        }
        events.push(event);
    }

    /// Plays a legal action and everything that follows without a decision.
    fn play_action(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) {
        let event = self.event_for_action(seat, action);
        self.apply_event(event, events);
        self.finish_if_due(events);
    }

    /// Returns the event of a legal action.
    fn event_for_action(&self, seat: Seat, action: &Action) -> Event {
        let costs = &self.public.costs;
        match *action {
            Action::Stop { floor } => Event::Stopped { seat, floor },
            Action::Retreat => Event::Retreated { seat },
            Action::Evade { discards } => evade_event(seat, true, 0, discards),
            Action::ConvertReserves => {
                let most = self.public.reserves.map_or(u8::MAX, |reserves| reserves.wager);
                let wager = self.public.player(seat).chips.min(most);
                Event::ReservesConverted { seat, wager }
            }
            Action::Confront { target: Some(target) } => Event::Confronted { seat, target },
            Action::Confront { target: None } => self.answer_event(seat, ChallengeAnswer::Confront),
            Action::Acquire => Event::Acquired { seat, floor: self.public.player(seat).facing },
            Action::Fold => Event::Folded { seat },
            Action::PayRisk => Event::RiskPaid { seat, chips: self.risk_chips() },
            Action::Lower(new) => costs_changed_event(
                seat,
                CostsChange::Lower,
                change_costs(&self.public, CostsChange::Lower, &new),
            ),
            Action::Raise(new) => costs_changed_event(
                seat,
                CostsChange::Raise,
                change_costs(&self.public, CostsChange::Raise, &new),
            ),
            Action::IndexMargin { percent } => {
                costs_changed_event(seat, CostsChange::Index, index_costs(&self.public, percent))
            }
            Action::Buy { slot, leverage } => {
                let card = self.hidden.card(self.public.player(seat).facing, slot);
                let chips = self.discounted_chips(costs.buy.into(), leverage);
                Event::Bought { seat, slot, card, chips, leverage }
            }
            Action::Sell { slot, leverage } => {
                let chips = self.discounted_chips(costs.sell.into(), leverage);
                Event::Sold { seat, slot, chips, leverage }
            }
            Action::Exchange { slot, floor, other, leverage } => {
                let facing = self.public.player(seat).facing;
                let chips =
                    self.discounted_chips(exchange_price(&self.public, facing, floor), leverage);
                Event::Exchanged { seat, slot, floor, other, chips, leverage }
            }
            Action::Roll => Event::Rolling { seat },
            Action::End => {
                let wager = self.public.turn().and_then(|turn| turn.wager);
                Event::Ended { seat, chips: wager.unwrap_or(0) }
            }
            Action::PayToEvade { discards } => {
                evade_event(seat, false, self.risk_chips(), discards)
            }
            Action::Stand => self.answer_event(seat, ChallengeAnswer::Stand),
            Action::Join => self.answer_event(seat, ChallengeAnswer::Join),
        }
    }

    fn answer_event(&self, seat: Seat, answer: ChallengeAnswer) -> Event {
        Event::Answered { seat, answer, chips: answer_price(&self.public, seat) }
    }

    /// Returns the risk in chips. If it has to be paid, it was checked to be affordable.
    fn risk_chips(&self) -> u8 {
        to_chips(self.public.risk().into())
    }

    fn discounted_chips(&self, whole: u32, leverage: bool) -> u8 {
        to_chips(discounted_price(&self.public, whole, leverage))
    }

    /// Ends the game if a showdown is due.
    fn finish_if_due(&mut self, events: &mut Vec<Event>) {
        if let Phase::Showdown(due) = self.public.phase {
            let hands = showdown::shown_hands(&self.public, &self.hands, &due);
            let winner = showdown::winner(&self.public, &hands, &due);
            if due.seats.len() > 1 {
                self.apply_event(Event::Shown { hands }, events);
            }
            let ending = due.ending;
            let pot = self.public.pot;
            self.apply_event(Event::Over { ending, winner, pot }, events);
        }
    }

    /// Draws cards: shuffles the deck in this order, and takes as many cards from its top as were
    /// discarded (rule 3.2).
    fn draw_cards(&mut self, seat: Seat, count: u8, order: &[u8], events: &mut Vec<Event>) {
        let old = self.hidden.deck;
        let card = |place: &u8| old[usize::from(*place)];
        let cards: CardSet = order.iter().take(usize::from(count)).map(card).collect();
        let deck = order.iter().skip(usize::from(count)).map(card).collect();
        self.apply_event(
            Event::Drew { seat, cards: Some(cards), deck: Some(Box::new(deck)) },
            events,
        );
        self.finish_if_due(events);
    }
}

fn evade_event(seat: Seat, token: bool, chips: u8, discards: Discards) -> Event {
    let count = u8::try_from(discards.len()).expect("a hand has four cards");
    Event::Evaded { seat, token, chips, count, discards: Some(discards) }
}

fn costs_changed_event(
    seat: Seat,
    how: CostsChange,
    change: Result<(Costs, u32), Illegal>,
) -> Event {
    let (costs, paid) = change.expect("the change was checked");
    Event::CostsChanged { seat, how, costs, chips: to_chips(paid) }
}

fn to_chips(count: u32) -> u8 {
    u8::try_from(count).expect("no seat pays more chips than it has")
}

impl Game for TongoOptions {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Refusal = Illegal;

    fn kind(_rules: &Rules) -> &'static str {
        Self::NAME
    }

    fn seats(rules: &Rules) -> SeatRange {
        rules.seats()
    }

    fn counts_max(rules: &Rules, _seats: u8) -> u32 {
        rules.chips.into()
    }

    fn check(rules: &Rules) -> Result<(), RulesError> {
        rules.check()
    }

    fn countdown_ms(rules: &Rules) -> RangeInclusive<u32> {
        rules.countdowns.range_ms()
    }

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
        next.play_action(seat, action, events);
        Ok(next)
    }

    fn resolve(&self, answer: &chance::ChanceAnswer, events: &mut Vec<Event>) -> Self {
        let Turn::Chance(request) = self.turn() else {
            panic!("no chance is due");
        };
        assert!(answer.fits(request), "the answer does not fit the request");
        let mut next = self.clone();
        match (self.public.phase, answer) {
            (Phase::Shuffle { seat, count, .. }, chance::ChanceAnswer::Order(order)) => {
                next.draw_cards(seat, count, order, events);
            }
            (Phase::Deal, answer) => {
                next.drawing.record_answer(&next.public, &mut next.hidden, answer);
                if let Some(dealt) = complete_deal(&next.public, &next.drawing, &next.hidden) {
                    next.drawing = Drawing::default();
                    (next.hands, next.hidden) = (dealt.hands, dealt.hidden);
                    next.apply_event(dealt.to_event(), events);
                }
            }
            (Phase::Roll(turn), answer) => {
                next.drawing.record_answer(&next.public, &mut next.hidden, answer);
                if let Some(dice) = next.drawing.all_dice(&next.public) {
                    next.drawing = Drawing::default();
                    next.apply_event(Event::Rolled { seat: turn.seat, dice }, events);
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
        panic!("a seat is to act while a countdown runs")
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        legal::default_action(&self.public, seat)
    }

    fn outcome(&self) -> Option<Outcome> {
        showdown::outcome(&self.public)
    }

    fn ending(&self) -> Option<&'static str> {
        Some(kind::ending_name(self.public.end?.ending))
    }

    fn counts(&self) -> Vec<CounterIncrement> {
        kind::counter_increments(&self.public)
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

    fn choose_action(view: &View) -> Option<Action> {
        bot::choose_action(view)
    }

    fn choose_action_with_skill(skill: Skill, view: &View) -> Option<Action> {
        match skill {
            Skill::Greedy => bot::choose_action(view),
            Skill::Quick => quick::choose_action(view, &mut core::iter::empty()),
        }
    }

    fn choose_action_with_memory(
        skill: Skill,
        view: &View,
        shown: &mut dyn Iterator<Item = &Event>,
    ) -> Option<Action> {
        match skill {
            Skill::Greedy => bot::choose_action(view),
            Skill::Quick => quick::choose_action(view, shown),
        }
    }

    fn is_commitment(view: &View, action: &Action) -> bool {
        commitment::is_commitment(&view.public, action)
    }

    fn choose_uncommitted_action(
        view: &View,
        shown: &mut dyn Iterator<Item = &Event>,
    ) -> Option<Action> {
        quick::choose_action_with(CommitmentPolicy::Barred, view, shown)
    }

    fn candidate_actions(view: &View, actions: &mut Vec<Action>) {
        sampling::candidate_actions(view, bot::choose_action(view), actions);
    }

    fn sample_game(view: &View, dice: &mut chance::ChanceRng) -> Option<Self> {
        sampling::sample_game(view, dice)
    }

    fn describe(view: &View) -> Vec<Row> {
        describe::describe_view(view)
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        describe::describe_action(action)
    }

    fn describe_event(event: &Event) -> Option<Row> {
        describe::describe_event(event)
    }
}
