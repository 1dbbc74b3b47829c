//! The house's AI: sound greedy play from nothing but a view, and the same for the same view.
//!
//! It ends the game when it can; sheds what nobody needs onto the table, which also takes the
//! opponents' right to fight; opens with a plain meld so as not to be burned, and keeps secret
//! melds concealed, where they pay (rule 6.4): in the hand, and face down when the hand can be
//! emptied in this turn (rule 3.4); never gives a joker away without need; dumps the card that leaves the best hand and feeds
//! the next seat least; chows where that beats a draw; fights and challenges when its deadwood is
//! likely the lowest.
//!
//! Everything is weighed in hundredths of a point in integers. Deliberately absent: memory of who
//! dumped what, and any search beyond the next card.

use crate::cards::{Card, CardSet};
use crate::games::tongits::action::Action;
use crate::games::tongits::arrange::{Arrangement, deadwood, leaves_nothing};
use crate::games::tongits::legal::{dumpable, for_each_legal_action};
use crate::games::tongits::meld::{
    additions, can_chow, chowable, for_each_chow, has_secret, is_secret, is_set, points, total_points,
    runs_of_three, cards_of_rank,
};
use crate::games::tongits::phase::{Phase, PublicState};
use crate::games::tongits::rules::{Additions, SEATS};
use crate::games::tongits::view::View;
use crate::seat::Seat;

/// What the AI would play; `None` when the viewer is not to act.
pub(super) fn choose_action(view: &View) -> Option<Action> {
    GreedyPlayer::new(view, view.viewer?, view.hand()?).choose_action(&HOUSE)
}

/// How the AI weighs. The values were found by letting tempers play against each other: among
/// three that play the house's, no other wins much, and games still end in every way.
#[derive(Clone, Copy, Debug)]
pub(super) struct GreedyWeights {
    /// Fights up to this many hundredths of what it expects of each opponent that may answer.
    fight: i32,
    /// Challenges up to this many hundredths of what it expects of a hand like the fighter's.
    challenge: i32,
    /// What being open is worth.
    open: i32,
    /// What a concealed secret meld is worth.
    secret: i32,
    /// What it costs that the next seat chows.
    fed: i32,
    /// The most coming draws that it counts on to complete a meld.
    draws: i32,
}

const HOUSE: GreedyWeights =
    GreedyWeights { fight: 70, challenge: 100, open: 1_000, secret: 1_000, fed: 100, draws: 6 };

/// A point, in the hundredths in which everything is weighed.
const POINT: i32 = 100;

/// What a seat knows, made ready to think.
#[derive(Clone, Copy, Debug)]
pub(super) struct GreedyPlayer<'a> {
    public: &'a PublicState,
    seat: Seat,
    hand: CardSet,
    /// What was drawn in this turn, where the rules ask for it.
    drawn: Option<Card>,
    /// In other hands, face down or in the stock.
    unseen: CardSet,
}

impl<'a> GreedyPlayer<'a> {
    pub(super) fn new(view: &'a View, seat: Seat, hand: CardSet) -> Self {
        let public = &view.public;
        let discards: CardSet = public.discards.cards().iter().copied().collect();
        let seen = hand.union(discards).union(public.melds.cards());
        let unseen = public.rules.deck().difference(seen);
        Self { public, seat, hand, drawn: view.drawn, unseen }
    }

    fn choose_action(&self, weights: &GreedyWeights) -> Option<Action> {
        match self.public.phase {
            Phase::Draw { seat, .. } if seat == self.seat => Some(self.choose_turn_opening(weights)),
            Phase::Play { seat } if seat == self.seat => Some(self.choose_play(weights)),
            Phase::Fight { fighter, asked, asked_secretly, answered } => {
                let is_asked = asked.union(asked_secretly).difference(answered).contains(self.seat);
                is_asked.then(|| self.answer_fight(weights, fighter))
            }
            Phase::Starter
            | Phase::Deal { .. }
            | Phase::Draw { .. }
            | Phase::Play { .. }
            | Phase::Over => None,
        }
    }

    /// Spread, fight, chow or draw.
    fn choose_turn_opening(&self, weights: &GreedyWeights) -> Action {
        let (mut may_fight, mut may_spread) = (false, false);
        for_each_legal_action(self.public, self.seat, self.hand, |action| {
            may_fight |= action == Action::Fight;
            may_spread |= action == Action::Tongits;
        });
        if may_spread {
            return Action::Tongits;
        }
        if may_fight && self.has_low_deadwood(weights) {
            return Action::Fight;
        }
        match self.best_chow(weights) {
            Some(cards) => Action::Chow { cards },
            None => Action::Draw,
        }
    }

    /// Whether the deadwood is likely lower than that of all who may answer a fight.
    fn has_low_deadwood(&self, weights: &GreedyWeights) -> bool {
        let own = cost(deadwood(self.hand));
        let melds = &self.public.melds;
        let may_answer = |other: Seat| {
            let with_secret = self.public.rules.secret_may_challenge && melds.has_face_down(other);
            melds.is_open(other) || with_secret
        };
        let is_likely_higher = |other: Seat| own * 100 <= self.expected_deadwood(other) * weights.fight;
        self.seat.others(SEATS).all(|other| !may_answer(other) || is_likely_higher(other))
    }

    fn answer_fight(&self, weights: &GreedyWeights, fighter: Seat) -> Action {
        let own = cost(deadwood(self.hand));
        if own * 100 <= self.expected_deadwood(fighter) * weights.challenge {
            Action::Challenge
        } else {
            Action::Fold
        }
    }

    /// What another seat's deadwood is likely to be: its cards at the average of those unseen,
    /// less what it will have melded, which is the more the longer the game has gone on.
    fn expected_deadwood(&self, other: Seat) -> i32 {
        let cards = i32::from(self.public.hand_counts[other.index()]);
        let average = cost(total_points(self.unseen)) / self.unseen_count();
        let loose_percent = 50 + 2 * i32::from(self.public.stock_count.min(20));
        cards * average * loose_percent / 100
    }

    fn unseen_count(&self) -> i32 {
        i32::try_from(self.unseen.len().max(1)).expect("no more cards than the deck has")
    }

    /// The hand cards to chow with, if that beats a draw.
    fn best_chow(&self, weights: &GreedyWeights) -> Option<CardSet> {
        let discard = self.public.discards.top()?;
        let held = self.secret_meld_count(self.hand);
        let is_open = self.public.melds.is_open(self.seat);
        let mut best = None;
        for_each_chow(self.hand, discard, |cards| {
            let left = self.hand.difference(cards);
            let broken = held - self.secret_meld_count(left);
            let mut value = self.value_after_dump(weights, left, additions(cards.with(discard)));
            value += broken.max(0) * weights.secret;
            value -= if is_open { 0 } else { weights.open };
            if best.is_none_or(|(least, _)| value < least) {
                best = Some((value, cards));
            }
        });
        let (value, cards) = best?;
        (value < self.value_after_draw(weights)).then_some(cards)
    }

    /// What is left of a hand at best after a dump, when `extra` too can be added to the table.
    fn value_after_dump(&self, weights: &GreedyWeights, hand: CardSet, extra: CardSet) -> i32 {
        let addable = self.public.melds.additions().union(extra);
        let hand_cards = hand.naturals();
        let candidates = if self.public.rules.dump_addable {
            hand_cards
        } else {
            hand_cards.difference(addable)
        };
        // When all can be added, or one is left to dump, the hand is Tongits.
        if candidates.len() <= 1 {
            return -100 * POINT;
        }
        let left = candidates.iter().map(|card| self.evaluate_hand(weights, hand.without(card)));
        left.min().unwrap_or(0)
    }

    /// What is left of the hand on average after a draw and the best dump.
    fn value_after_draw(&self, weights: &GreedyWeights) -> i32 {
        let now = self.evaluate_hand(weights, self.hand);
        let deadwood_now = cost(deadwood(self.hand));
        let mut gained = 0;
        for drawn in self.unseen.iter() {
            let hand = self.hand.with(drawn);
            let dumps = hand.naturals().iter().map(|card| deadwood(hand.without(card)));
            let best = dumps.min().unwrap_or(0);
            gained += deadwood_now - cost(best);
        }
        now - gained / self.unseen_count()
    }

    /// A hand as it stands, less what the coming draws may meld of it. Less is better.
    fn evaluate_hand(&self, weights: &GreedyWeights, hand: CardSet) -> i32 {
        let now = deadwood(hand);
        let helping = if hand.has_joker() {
            let helps = |card: &Card| card.is_joker() || can_chow(hand, *card);
            self.unseen.iter().filter(helps).collect()
        } else {
            self.unseen.intersection(chowable(hand).union(CardSet::JOKERS))
        };
        let gain = |card: Card| (cost(now) - cost(deadwood(hand.with(card)))).max(0);
        let gains = helping.iter().map(gain);
        let draws = (1 + i32::from(self.public.stock_count) / i32::from(SEATS)).min(weights.draws);
        cost(now) - gains.sum::<i32>() * draws / self.unseen_count()
    }

    fn choose_play(&self, weights: &GreedyWeights) -> Action {
        self.finishing_action()
            .or_else(|| self.choose_sapaw(weights))
            .or_else(|| self.choose_opening_meld())
            .or_else(|| self.choose_dump(weights))
            .or_else(|| self.choose_forced_sapaw())
            .expect("a hand can be dumped from or added from")
    }

    /// The next step of a way to end the game in this turn, if the arrangement shows one. Jokers
    /// that are left over stay in the hand (rule 11.1).
    pub(super) fn finishing_action(&self) -> Option<Action> {
        if leaves_nothing(self.hand) {
            return Some(Action::Tongits);
        }
        let secret_run_min = self.public.rules.secret_run_min;
        let arrangement = Arrangement::from_hand(self.hand, secret_run_min);
        let leftover = arrangement.leftover.naturals();
        let on_table = self.public.melds.iter_open().map(|(_, cards, _)| cards);
        let addable = self.public.melds.additions().intersection(leftover).first();
        let add = addable.and_then(|card| self.sapaw_with(card));
        // Concealed melds pay more, so they stay in hand when the rest can be added.
        if left_after_adding(on_table.clone(), leftover).is_empty() {
            return add;
        }
        let secret = |meld: &&CardSet| is_secret(**meld, secret_run_min);
        let plain = arrangement.melds.iter().filter(|meld| !secret(meld)).copied();
        let with_plain = left_after_adding(on_table.clone().chain(plain), leftover);
        if self.public.rules.bahay && with_plain.len() <= 1 {
            let concealed = arrangement.melds.iter().find(secret);
            if let Some(cards) = concealed {
                return Some(Action::Drop { cards: *cards, face_down: true });
            }
        }
        let dropped = on_table.chain(arrangement.melds.iter().copied());
        let left = left_after_adding(dropped, leftover);
        if left.len() > 1 {
            return None;
        }
        let drop =
            arrangement.melds.first().map(|cards| Action::Drop { cards: *cards, face_down: false });
        drop.or(add).or_else(|| left.first().map(|card| Action::Dump { card }))
    }

    /// Adds a card that the hand does not need. On another's meld it also takes that seat's right
    /// to fight; on an own meld it would take ours, so a low hand keeps it.
    fn choose_sapaw(&self, weights: &GreedyWeights) -> Option<Action> {
        let now = deadwood(self.hand);
        let spare = |card: &Card| {
            let left = self.hand.without(*card);
            let keeps_secrets = || self.secret_meld_count(left) >= self.secret_meld_count(self.hand);
            !card.is_joker() && deadwood(left) <= now && keeps_secrets()
        };
        if let Some(sagasa) = self.find_sagasa().filter(|(card, _)| spare(card)) {
            let (card, meld) = sagasa;
            return Some(Action::Sapaw { card, meld });
        }
        let own_blocks = match self.public.rules.fight_blocked_by {
            Additions::Anyone => self.has_low_deadwood(weights),
            Additions::Opponents => false,
        };
        for (meld, cards, owner) in self.public.melds.iter_open() {
            if owner == self.seat && own_blocks {
                continue;
            }
            let fitting = additions(cards).intersection(self.hand);
            if let Some(card) = fitting.iter().filter(spare).max_by_key(|card| points(*card)) {
                return Some(Action::Sapaw { card, meld });
            }
        }
        None
    }

    /// The drawn card and the own set of three that it completes (rule 10.2).
    fn find_sagasa(&self) -> Option<(Card, u8)> {
        let card = self.drawn.filter(|card| self.hand.contains(*card))?;
        let completes = |(_, cards, owner): &(u8, CardSet, Seat)| {
            *owner == self.seat && is_set(*cards) && cards_of_rank(card).contains_all(*cards)
        };
        self.public.melds.iter_open().find(completes).map(|(meld, ..)| (card, meld))
    }

    /// Opens with the plain meld that takes the fewest additions, without a joker if it can.
    fn choose_opening_meld(&self) -> Option<Action> {
        if self.public.melds.is_open(self.seat) {
            return None;
        }
        let secret_run_min = self.public.rules.secret_run_min;
        let melds = Arrangement::from_hand(self.hand, secret_run_min).melds;
        let plain = melds.into_iter().filter(|meld| !is_secret(*meld, secret_run_min));
        let takes =
            |meld: &CardSet| (meld.has_joker(), additions(*meld).intersection(self.unseen).len());
        plain.min_by_key(takes).map(|cards| Action::Drop { cards, face_down: false })
    }

    /// The dump that leaves the best hand and feeds the next seat least.
    fn choose_dump(&self, weights: &GreedyWeights) -> Option<Action> {
        let value = |card: &Card| {
            let left = self.hand.without(*card);
            let is_broken = self.has_secret(self.hand) && !self.has_secret(left);
            let broken = if is_broken { weights.secret } else { 0 };
            self.evaluate_hand(weights, left) + self.feeding_cost(weights, *card) + broken
        };
        let card = dumpable(self.public, self.hand).iter().min_by_key(value)?;
        Some(Action::Dump { card })
    }

    /// How much a dump is likely to help the next seat: the pairs of unseen cards that would meld
    /// with it, each as likely as that both are in that hand.
    fn feeding_cost(&self, weights: &GreedyWeights, card: Card) -> i32 {
        if self.public.stock_count == 0 {
            return 0;
        }
        let same = i32::try_from(cards_of_rank(card).intersection(self.unseen).len())
            .expect("a rank has four cards");
        let runs = i32::try_from(runs_of_three(self.unseen, card)).expect("there are three ways");
        let pairs = same * (same - 1) / 2 + runs;
        let next = i32::from(self.public.hand_counts[self.seat.next(SEATS).index()]);
        let unseen = self.unseen_count();
        pairs * weights.fed * next * next / (unseen * unseen)
    }

    /// For the hand that may dump nothing.
    fn choose_forced_sapaw(&self) -> Option<Action> {
        let card = self.public.melds.additions().intersection(self.hand).first()?;
        self.sapaw_with(card)
    }

    /// Adds a card, to another's meld rather than an own one.
    fn sapaw_with(&self, card: Card) -> Option<Action> {
        let fits =
            self.public.melds.iter_open().filter(|(_, cards, _)| additions(*cards).contains(card));
        let (meld, ..) = fits.min_by_key(|(.., owner)| *owner == self.seat)?;
        Some(Action::Sapaw { card, meld })
    }

    fn has_secret(&self, hand: CardSet) -> bool {
        has_secret(hand, self.public.rules.secret_run_min)
    }

    /// The secret melds of the arrangement.
    fn secret_meld_count(&self, hand: CardSet) -> i32 {
        if !self.has_secret(hand) {
            return 0;
        }
        let secret_run_min = self.public.rules.secret_run_min;
        let secrets = Arrangement::from_hand(hand, secret_run_min).secret_melds(secret_run_min);
        i32::try_from(secrets).expect("a hand has few melds")
    }
}

/// What is left of cards when as many as possible are added to the melds.
fn left_after_adding(melds: impl Iterator<Item = CardSet> + Clone, cards: CardSet) -> CardSet {
    let mut left = cards;
    for meld in melds {
        // Only runs grow further by what was added.
        let mut grown = meld;
        while let Some(card) = additions(grown).intersection(left).first() {
            grown = grown.with(card);
            left = left.without(card);
        }
    }
    left
}

fn cost(points: u32) -> i32 {
    i32::try_from(points).expect("the deck has few points") * POINT
}
