//! A game of Tongo (assets) as a value: what is open, and every card in its place.
//!
//! Every change is an [`Event`] that is applied to what is open and to the cards by the same code
//! that follows it in a view. The value is plain arrays: copying it is how an action leaves the old
//! one alone.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::chance::{self, Answer};
use crate::game::{
    Count, Game, GameKind, Outcome, Piece, Prompt, Row, SeatRange, Turn, UnsoundRules, Viewer,
};
use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::bot;
use crate::games::tongo_assets::card::{Acquire, Card};
use crate::games::tongo_assets::clock;
use crate::games::tongo_assets::deck::Deck;
use crate::games::tongo_assets::describe;
use crate::games::tongo_assets::event::{Event, Face, Place};
use crate::games::tongo_assets::hidden::{Hidden, Own};
use crate::games::tongo_assets::imagine;
use crate::games::tongo_assets::kind;
use crate::games::tongo_assets::legal::{self, Actor, indexed, leveraged};
use crate::games::tongo_assets::list;
use crate::games::tongo_assets::payout;
use crate::games::tongo_assets::phase::{Ending, Phase, Shown};
use crate::games::tongo_assets::public::Public;
use crate::games::tongo_assets::refusal::Illegal;
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::rules::{HALVES, PriceBounds, Rules};
use crate::games::tongo_assets::set::CardSet;
use crate::games::tongo_assets::slots::SlotSet;
use crate::games::tongo_assets::strength::Reading;
use crate::games::tongo_assets::view::{View, prompt};
use crate::seat::Seat;

/// Games that are imagined for who is taken over.
const IMAGINED: u32 = 60;

/// A game of Tongo (assets), from before the deal to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TongoAssets {
    pub(super) public: Public,
    pub(super) hidden: Hidden,
}

impl TongoAssets {
    /// What is open.
    pub const fn public(&self) -> &Public {
        &self.public
    }

    /// Where every card lies.
    pub const fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    fn actor(&self, seat: Seat) -> Actor<'_> {
        let (hand, kept) = (self.hidden.hands[seat], self.hidden.kept[seat]);
        Actor { public: &self.public, seat, hand, kept }
    }

    /// Applies an event and notes it.
    fn happen(&mut self, event: Event, events: &mut Vec<Event>) {
        self.hidden.follow(&self.public, &event);
        self.public.apply(&event);
        events.push(event);
    }

    /// Plays a legal action and whatever follows from it without another's decision.
    fn play(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) {
        match *action {
            Action::Open { risk, purchase, sell } => {
                self.happen(Event::Opened { seat, risk, purchase, sell }, events);
            }
            Action::Pay => {
                let chips = self.actor(seat).missing().expect("a legal payment is due");
                self.happen(Event::Paid { seat, chips }, events);
            }
            Action::Raise { risk, purchase, sell } => {
                let chips = risk - self.public.players[seat].paid;
                self.happen(Event::Raised { seat, chips, risk, purchase, sell }, events);
            }
            Action::RaiseConfront { risk } => {
                let (purchase, sell) = self.prices_at(risk);
                self.happen(Event::Raised { seat, chips: risk, risk, purchase, sell }, events);
            }
            Action::Retreat => self.happen(Event::Retreated { seat }, events),
            Action::Swap { discard, slot } => {
                let (taken, discarded) = (self.asset_before(seat, slot), Face::Up(discard));
                self.happen(Event::Swapped { seat, slot, taken, discarded }, events);
            }
            Action::Purchase { slot, discard, free } => {
                let chips = self.price(seat, free, events);
                let (taken, discarded) = (self.asset_before(seat, slot), discard.map(Face::Up));
                self.happen(Event::Purchased { seat, slot, taken, discarded, chips }, events);
            }
            Action::Acquire { replace, free } => self.acquire(seat, replace, free, events),
            Action::Sell { slots } => {
                let (chips, hand) = (self.public.sell, Some(self.assets_before(seat, slots)));
                self.happen(Event::Sold { seat, slots, chips, hand }, events);
            }
            Action::Reveal { section } => {
                let assets = Some(self.hidden.sections[section].assets);
                self.happen(Event::Revealed { seat, section, assets }, events);
            }
            Action::Dividend => {
                let chips = self.public.purchase.min(self.public.pot);
                self.happen(Event::DividendTaken { seat, chips }, events);
            }
            Action::Done => self.happen(Event::Done { seat }, events),
            Action::Confront => {
                self.happen(Event::Confronted { seat, chips: self.public.risk }, events);
            }
            Action::Evade { discards } => {
                let mut cards = discards.iter().map(Face::Up);
                let discarded = core::array::from_fn(|_| cards.next().expect("three are named"));
                let chips = self.public.evasion();
                self.happen(Event::Evaded { seat, chips, discarded }, events);
            }
            Action::Index { margin } => {
                let risk = indexed(self.public.risk, margin);
                let (purchase, sell) = self.prices_at(risk);
                let chips = self.public.unindexed.unwrap_or(self.public.risk);
                self.happen(Event::Indexed { seat, margin, chips, risk, purchase, sell }, events);
            }
            Action::Leverage { percent } => {
                let chips = leveraged(self.public.risk, percent);
                self.happen(Event::Leveraged { seat, percent, chips }, events);
            }
            Action::Bribe { to, chips, cards } => {
                self.happen(Event::BribeOffered { seat, to, chips, cards }, events);
            }
            Action::Accept => self.happen(Event::BribeAnswered { seat, accepted: true }, events),
            Action::Refuse => self.happen(Event::BribeAnswered { seat, accepted: false }, events),
        }
        self.go_on(events);
    }

    /// What follows without a decision: the next section is shown, leveraged seats leave a confront
    /// that failed, hands are shown, the game ends.
    fn go_on(&mut self, events: &mut Vec<Event>) {
        loop {
            match self.public.phase {
                Phase::Assess { seat, began: false, .. } => {
                    let assets = Some(self.hidden.before(&self.public, seat));
                    self.happen(Event::Assessing { seat, assets }, events);
                }
                Phase::Debts { seat, .. } if self.public.players[seat].leverage > 0 => {
                    self.happen(Event::Retreated { seat }, events);
                }
                Phase::Showdown { confronter } => self.show(confronter, events),
                Phase::LastIn { seat } => {
                    let awards = payout::whole_pot(&self.public, seat);
                    let ending = Ending::LastIn;
                    self.happen(Event::Over { ending, winner: seat, awards }, events);
                }
                Phase::Dealer
                | Phase::Assets
                | Phase::Acquires
                | Phase::Deal
                | Phase::Open { .. }
                | Phase::Risk { .. }
                | Phase::Stop
                | Phase::Assess { .. }
                | Phase::Confront { .. }
                | Phase::Debts { .. }
                | Phase::Over => return,
            }
        }
    }

    /// Rules 4.3, 5 and 6.2.
    fn show(&mut self, confronter: Seat, events: &mut Vec<Event>) {
        let seats = self.public.seats();
        let mut hands = Ring::new(seats);
        for seat in self.public.playing.iter() {
            let hand = self.hidden.hands[seat];
            hands[seat] = Some(Shown { hand, reading: Reading::of(hand) });
        }
        let winner = payout::strongest(confronter, seats, &hands);
        let awards = payout::showdown(&self.public, confronter, winner);
        let ending = if winner == confronter { Ending::Acquisition } else { Ending::Showdown };
        self.happen(Event::Shown { hands: Box::new(hands) }, events);
        self.happen(Event::Over { ending, winner, awards }, events);
    }

    /// Rule 3.3: a wild goes into the hand, an audit acts at once, the others are kept.
    fn acquire(&mut self, seat: Seat, replace: Option<Card>, free: bool, events: &mut Vec<Event>) {
        let chips = self.price(seat, free, events);
        let section = &self.hidden.sections[self.public.section_of(seat)];
        let card = section.acquires.iter().flatten().next().copied();
        let card = card.expect("a legal purchase finds an acquire card");
        let (to, discarded) = match card.kind() {
            Some(Acquire::Wild) => (Place::Hand, replace.map(Face::Up)),
            Some(Acquire::Audit) => (Place::Pile, None),
            Some(Acquire::Free | Acquire::Reveal | Acquire::Dividend) | None => (Place::Kept, None),
        };
        let taken = Face::Up(card);
        self.happen(Event::Acquired { seat, taken, to, discarded, chips }, events);
        if to == Place::Pile {
            let chips = self.public.risk;
            if self.public.players[seat].chips >= chips {
                self.happen(Event::Audited { seat, chips }, events);
            } else {
                self.happen(Event::Retreated { seat }, events);
            }
        }
    }

    /// What a purchase costs; a free purchase is spent first (rule 1.3).
    fn price(&mut self, seat: Seat, free: bool, events: &mut Vec<Event>) -> u32 {
        if free {
            self.happen(Event::FreeSpent { seat }, events);
            return 0;
        }
        self.public.purchase
    }

    fn asset_before(&self, seat: Seat, slot: u8) -> Face {
        let assets = self.hidden.before(&self.public, seat);
        let asset = assets.get(usize::from(slot)).copied().flatten();
        Face::Up(asset.expect("a legal slot holds an asset"))
    }

    fn assets_before(&self, seat: Seat, slots: SlotSet) -> CardSet {
        let assets = self.hidden.before(&self.public, seat);
        slots.iter().filter_map(|slot| assets[usize::from(slot)]).collect()
    }

    /// The prices in proportion to a new risk (rule 4.1).
    fn prices_at(&self, risk: u32) -> (u32, u32) {
        let bounds = PriceBounds::of(risk);
        let Public { risk: before, purchase, sell, .. } = self.public;
        (
            bounds.scaled(purchase, before, risk, bounds.purchase_min),
            bounds.scaled(sell, before, risk, 1),
        )
    }

    /// The chips of a seat and its part of the pot, in half chips.
    pub fn halves(&self, seat: Seat) -> u32 {
        let award = self.public.end.map_or(0, |end| end.awards[seat]);
        self.public.players[seat].chips * HALVES + award
    }
}

impl Game for TongoAssets {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Illegal = Illegal;

    fn kind(_rules: &Rules) -> &'static str {
        Self::NAME
    }

    fn seats(rules: &Rules) -> SeatRange {
        SeatRange { least: 4, most: if rules.sections == 4 { 4 } else { 8 } }
    }

    fn counts_per_bet(_rules: &Rules) -> u32 {
        HALVES
    }

    fn counts_max(rules: &Rules, _seats: u8) -> u32 {
        rules.counts_max()
    }

    fn check(rules: &Rules) -> Result<(), UnsoundRules> {
        kind::check(rules)
    }

    fn countdown_ms(rules: &Rules) -> RangeInclusive<u32> {
        rules.countdowns.range_ms()
    }

    fn new(rules: &Rules, seats: u8, starter: Option<Seat>) -> Self {
        let public = Public::new(rules, seats, starter.filter(|seat| seat.number() < seats));
        let hidden = Hidden::new(&public);
        Self { public, hidden }
    }

    fn turn(&self) -> Turn {
        self.public.turn()
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        list::for_each(&self.actor(seat), &mut |action| actions.push(action));
    }

    fn act(&self, seat: Seat, action: &Action, events: &mut Vec<Event>) -> Result<Self, Illegal> {
        legal::check(&self.actor(seat), action)?;
        let mut next = self.clone();
        next.play(seat, action, events);
        Ok(next)
    }

    fn resolve(&self, answer: &Answer, events: &mut Vec<Event>) -> Self {
        let Turn::Chance(request) = self.turn() else {
            panic!("no chance is due");
        };
        assert!(answer.fits(request), "the answer does not fit the request");
        let mut next = self.clone();
        let event = match (self.public.phase, answer) {
            (Phase::Dealer, Answer::Number(number)) => {
                let seat = Seat::all(self.public.seats()).nth(*number as usize);
                Event::DealerChosen { seat: seat.expect("the answer fits") }
            }
            (Phase::Assets, Answer::Order(order)) => {
                Event::AssetsShuffled { deck: Some(Box::new(deck(order, Card::asset))) }
            }
            (Phase::Acquires, Answer::Order(order)) => {
                Event::AcquiresShuffled { deck: Some(Box::new(deck(order, Card::acquire))) }
            }
            (Phase::Deal, Answer::Number(number)) => {
                let rotation = number.to_le_bytes()[0];
                let hands = Box::new(self.hidden.hands_to_deal(&self.public, rotation));
                Event::Dealt { rotation, hands }
            }
            (Phase::Stop, Answer::Number(number)) => {
                Event::Stopped { rotation: number.to_le_bytes()[0] }
            }
            _ => panic!("no chance is due"),
        };
        next.happen(event, events);
        next.go_on(events);
        next
    }

    fn expire(&self, _events: &mut Vec<Event>) -> Self {
        panic!("somebody is asked as long as a countdown of this game runs")
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        clock::default_action(&self.actor(seat))
    }

    fn outcome(&self) -> Option<Outcome> {
        payout::outcome(&self.public)
    }

    fn ending(&self) -> Option<&'static str> {
        self.public.end.map(|end| kind::name_of(end.ending))
    }

    fn counts(&self) -> Vec<Count> {
        kind::counts(&self.public)
    }

    fn view(&self, viewer: Viewer) -> View {
        let (public, hidden) = (self.public.clone(), &self.hidden);
        match viewer {
            Viewer::Seat(seat) => {
                let own = Some(Own::of(&self.public, hidden, seat));
                View { viewer: Some(seat), public, own, hidden: None }
            }
            Viewer::Public => View { viewer: None, public, own: None, hidden: None },
            Viewer::Everything => {
                let hidden = Some(Box::new(hidden.clone()));
                View { viewer: None, public, own: None, hidden }
            }
        }
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        Some(event.redacted(viewer))
    }

    fn observe(view: &mut View, event: &Event) {
        view.observe(event);
    }

    fn prompt_in_view(view: &View) -> Option<Prompt> {
        view.prompt()
    }

    fn prompt_for(&self, _viewer: Viewer) -> Option<Prompt> {
        prompt(&self.public)
    }

    fn legal_in_view(view: &View, actions: &mut Vec<Action>) {
        if let Some(actor) = view.actor() {
            list::for_each(&actor, &mut |action| actions.push(action));
        }
    }

    fn advise(view: &View) -> Option<Action> {
        bot::advise(view)
    }

    fn is_commitment(view: &View, action: &Action) -> bool {
        legal::is_commitment(&view.public, action)
    }

    fn games_to_imagine(_view: &View) -> Option<u32> {
        Some(IMAGINED)
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

/// A deck in the order that chance gave, the first on top.
fn deck(order: &[u8], card: impl Fn(u8) -> Option<Card>) -> Deck {
    order.iter().map(|index| card(*index).expect("an order of the cards")).collect()
}
