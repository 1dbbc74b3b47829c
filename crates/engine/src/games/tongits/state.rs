//! A game of Tong-its as a value: the public state, the hands, the stock, and the hidden answers to
//! a fight.
//!
//! Every change is an [`Event`], which is applied to the public state and to the hands by the same
//! code that a view uses. The value consists of plain arrays: an action copies it and leaves the
//! original unchanged.

use alloc::boxed::Box;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet};
use crate::games::tongits::action::Action;
use crate::games::tongits::arrange::deadwood;
use crate::games::tongits::event::{
    BySeat, EndingKind, Event, FightAnswer, FightAnswers, ShownHand, SpecialEnding,
};
use crate::games::tongits::meld::{has_secret, is_set};
use crate::games::tongits::phase::{Phase, PublicState};
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::{DealDirection, Rules, SEATS};
use crate::games::tongits::view::View;
use crate::games::tongits::{legal, score};
use crate::seat::{Seat, SeatSet};

/// A game of Tong-its, from before the deal to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tongits {
    pub(super) public: PublicState,
    pub(super) hands: BySeat<CardSet>,
    pub(super) stock: Pile,
    pub(super) answers: FightAnswers,
    /// The card that the seat whose turn it is drew in this turn, where the rules need it (rule
    /// 10.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) drawn: Option<Card>,
}

impl Tongits {
    /// Returns the game in which the viewer's opponents have these hands and the stock has this
    /// order. The caller distributes the cards that the viewer does not see.
    #[must_use]
    pub fn imagine(view: &View, viewer: Seat, hands: BySeat<CardSet>, stock: Pile) -> Self {
        let mut public = view.public.clone();
        if let Phase::Fight { fighter, asked, asked_secretly, .. } = &mut public.phase {
            let holding = find_secretly_asked(&public.rules, *fighter, *asked, &hands);
            *asked_secretly = asked_secretly.union(holding.without(viewer));
        }
        Self { public, hands, stock, answers: view.answers.clone(), drawn: view.drawn }
    }

    /// Returns the public state with complete fights;
    /// [`Game::view`](crate::game::Game::view) restricts it to the knowledge of a viewer.
    pub const fn public(&self) -> &PublicState {
        &self.public
    }

    /// Returns every hand by seat.
    pub const fn hands(&self) -> &BySeat<CardSet> {
        &self.hands
    }

    pub const fn stock(&self) -> &Pile {
        &self.stock
    }

    /// Applies an event and records it.
    pub(super) fn apply_event(&mut self, event: Event, events: &mut Vec<Event>) {
        self.public.apply(&event);
        self.drawn = event.drawn_card_after(&self.public.rules, self.drawn);
        for (seat, hand) in Seat::all(SEATS).zip(&mut self.hands) {
            *hand = event.hand_after(seat, *hand);
        }
        events.push(event);
    }

    /// Plays a legal action and everything that follows without another decision.
    pub(super) fn play_action(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) {
        match *action {
            Action::Draw => self.draw_card(seat, false, events),
            Action::Chow { cards } => {
                let discard = self.public.discards.top().expect("a legal chow has a discard");
                self.apply_event(Event::Chowed { seat, discard, cards }, events);
                self.end_if_empty(seat, events);
            }
            Action::Drop { cards, face_down: false } => {
                self.apply_event(Event::Dropped { seat, cards }, events);
                self.end_if_empty(seat, events);
            }
            Action::Drop { cards, face_down: true } => {
                let count = u8::try_from(cards.len()).expect("no more cards than the deck has");
                self.apply_event(Event::LaidFaceDown { seat, cards, count }, events);
                self.end_if_empty(seat, events);
            }
            Action::Sapaw { card, meld } => {
                let is_sagasa = self.is_sagasa(seat, card, meld);
                self.apply_event(Event::Sapawed { seat, card, meld }, events);
                if is_sagasa {
                    self.apply_event(Event::Sagasa { seat, meld }, events);
                }
                self.end_if_empty(seat, events);
            }
            Action::Dump { card } => self.dump_card(seat, card, events),
            Action::Tongits => {
                let is_spread = self.public.yet_to_act.contains(seat);
                self.apply_event(Event::TongitsDeclared { seat }, events);
                let special = is_spread.then_some(SpecialEnding::Spread);
                self.end_by_tongits(seat, special, events);
            }
            Action::Fight => self.open_fight(seat, events),
            Action::Challenge => self.answer_fight(seat, FightAnswer::Challenge, events),
            Action::Fold => self.answer_fight(seat, FightAnswer::Fold, events),
        }
    }

    fn draw_card(&mut self, seat: Seat, auto: bool, events: &mut Vec<Event>) {
        let card = self.stock.pop().expect("a turn begins only while there is stock");
        self.apply_event(Event::Drawn { seat, card: Some(card), auto }, events);
    }

    /// Dumps a card, then ends the game or begins the next turn (rules 3.1, 3.6, 3.8, 5.1).
    fn dump_card(&mut self, seat: Seat, card: Card, events: &mut Vec<Event>) {
        self.apply_event(Event::Dumped { seat, card }, events);
        if self.has_empty_hand(seat) {
            self.end_by_tongits(seat, None, events);
        } else if self.stock.is_empty() {
            self.end_by_stock(events);
        } else if let Phase::Draw { seat, .. } = self.public.phase {
            let only_draw = legal::can_only_draw(&self.public, seat, self.hands[seat.index()]);
            if self.public.rules.auto_draw && only_draw {
                self.draw_card(seat, true, events);
            }
        }
    }

    /// Asks the seats that may answer; if evidently none may, the fighter has won (rules 4.2, 4.3).
    fn open_fight(&mut self, seat: Seat, events: &mut Vec<Event>) {
        let rules = &self.public.rules;
        if rules.zero_count_fight && deadwood(self.hands[seat.index()]) == 0 {
            self.fight_at_zero(seat, events);
            return;
        }
        // A face-down meld is known to be secret.
        let is_seen = |other: &Seat| {
            let melds = &self.public.melds;
            melds.is_open(*other) || rules.secret_may_challenge && melds.has_face_down(*other)
        };
        let asked = seat.others(SEATS).filter(is_seen).collect();
        let asked_secretly = find_secretly_asked(rules, seat, asked, &self.hands);
        self.apply_event(Event::Fought { seat, asked, asked_secretly }, events);
        self.end_if_answered(false, events);
    }

    /// Ends the game by a fight at zero deadwood, in which no seat is asked (rule 11.2).
    fn fight_at_zero(&mut self, seat: Seat, events: &mut Vec<Event>) {
        let nobody = SeatSet::EMPTY;
        self.apply_event(Event::Fought { seat, asked: nobody, asked_secretly: nobody }, events);
        let hands = self.show_hands(None);
        let special = Some(SpecialEnding::ZeroCountFight);
        self.end_game(EndingKind::Fight, Some(seat), nobody, special, hands, events);
    }

    fn answer_fight(&mut self, seat: Seat, answer: FightAnswer, events: &mut Vec<Event>) {
        self.answers.push((seat, answer));
        self.apply_event(Event::Answered { seat, answer }, events);
        self.end_if_answered(false, events);
    }

    /// Ends the fight if all answers are in, or if its countdown is over (rules 4.3, 4.4).
    pub(super) fn end_if_answered(&mut self, is_late: bool, events: &mut Vec<Event>) {
        let Phase::Fight { fighter, asked, asked_secretly, answered } = self.public.phase else {
            return;
        };
        let is_early = self.public.shows_answers_late() && !is_late;
        if is_early || asked.union(asked_secretly) != answered {
            return;
        }
        let challengers: ArrayVec<Seat, { SEATS as usize }> = self
            .answers
            .iter()
            .filter(|(_, answer)| *answer == FightAnswer::Challenge)
            .map(|(seat, _)| *seat)
            .collect();
        let hands = self.show_hands(None);
        let winner = score::showdown_winner(&self.public, &hands, fighter, &challengers);
        let mut showdown: SeatSet = challengers.iter().copied().collect();
        if !showdown.is_empty() {
            showdown = showdown.with(fighter);
        }
        self.end_game(EndingKind::Fight, Some(winner), showdown, None, hands, events);
    }

    /// Returns whether the hand is empty (rule 3.8); leftover jokers do not count (rule 11.1).
    fn has_empty_hand(&self, seat: Seat) -> bool {
        self.hands[seat.index()].naturals().is_empty()
    }

    fn end_if_empty(&mut self, seat: Seat, events: &mut Vec<Event>) {
        if self.has_empty_hand(seat) {
            self.end_by_tongits(seat, None, events);
        }
    }

    /// Returns whether the card is the drawn fourth one on an own set of three (rule 10.2).
    fn is_sagasa(&self, seat: Seat, card: Card, meld: u8) -> bool {
        if self.drawn != Some(card) || card.is_joker() {
            return false;
        }
        let meld = self.public.melds.iter_open().find(|(number, ..)| *number == meld);
        meld.is_some_and(|(_, cards, owner)| owner == seat && is_set(cards))
    }

    fn end_by_tongits(
        &mut self,
        seat: Seat,
        special: Option<SpecialEnding>,
        events: &mut Vec<Event>,
    ) {
        let hands = self.show_hands(Some(seat));
        self.end_game(EndingKind::Tongits, Some(seat), SeatSet::EMPTY, special, hands, events);
    }

    /// Ends the game by an exhausted stock (rules 5.1 to 5.3).
    fn end_by_stock(&mut self, events: &mut Vec<Event>) {
        let hands = self.show_hands(None);
        let drew_last = self.public.drew_last.expect("a seat drew the last card");
        let winner = score::stock_winner(&self.public, &hands, drew_last);
        self.end_game(EndingKind::Stock, winner, SeatSet::EMPTY, None, hands, events);
    }

    fn end_game(
        &mut self,
        ending: EndingKind,
        winner: Option<Seat>,
        showdown: SeatSet,
        special: Option<SpecialEnding>,
        hands: Box<BySeat<ShownHand>>,
        events: &mut Vec<Event>,
    ) {
        self.apply_event(Event::Shown { hands }, events);
        self.apply_event(Event::Over { ending, winner, showdown, special }, events);
    }

    fn show_hands(&self, has_tongits: Option<Seat>) -> Box<BySeat<ShownHand>> {
        Box::new(core::array::from_fn(|index| {
            let seat = Seat::all(SEATS).nth(index).expect("the index is that of a seat");
            score::show_hand(&self.public, seat, self.hands[index], has_tongits == Some(seat))
        }))
    }

    /// Deals a shuffled deck (rule 2.3).
    pub(super) fn deal_cards(&mut self, starter: Seat, deck: &[u8], events: &mut Vec<Event>) {
        let mut deck = deck.iter().map(|index| Card::from_index(*index).expect("a card index"));
        let mut hands = [CardSet::EMPTY; SEATS as usize];
        let mut seat = starter;
        for _ in 0..SEATS * self.public.rules.hand_cards + 1 {
            let hand = &mut hands[seat.index()];
            *hand = hand.with(deck.next().expect("valid rules leave a stock"));
            seat = match self.public.rules.deal {
                DealDirection::Clockwise => seat.previous(SEATS),
                DealDirection::Counterclockwise => seat.next(SEATS),
            };
        }
        // The first remaining card is on top of the stock, and a pile is listed from the bottom up.
        self.stock = deck.rev().collect();
        let hands = hands.map(Some);
        let stock = Some(self.stock);
        self.apply_event(Event::Dealt { starter, hands, stock }, events);
    }
}

/// Returns the seats that a fight asks secretly: those that are not asked openly, and may answer it
/// with a concealed meld (rule 4.2).
fn find_secretly_asked(
    rules: &Rules,
    fighter: Seat,
    asked: SeatSet,
    hands: &BySeat<CardSet>,
) -> SeatSet {
    let holds_secret = |other: &Seat| has_secret(hands[other.index()], rules.secret_run_min);
    let others = fighter.others(SEATS).filter(|other| !asked.contains(*other));
    others.filter(|other| rules.secret_may_challenge && holds_secret(other)).collect()
}
