//! The house's greedy AI: sound play from the view alone, deterministic for a given view.
//!
//! It ends the game when it can. It adds spare cards to melds on the table, which also takes the
//! opponents' right to fight. It opens with a plain meld in order not to be burned, and keeps
//! secret melds concealed where they pay (rule 6.4): in the hand, or face down if the hand can be
//! emptied in this turn (rule 3.4). It never gives a joker away needlessly. It dumps the card that
//! leaves the best hand and helps the next seat least, chows if that is better than a draw, and
//! fights and challenges if its deadwood is likely to be the lowest.
//!
//! All values are integers in hundredths of a point. Deliberately absent: memory of earlier dumps,
//! and search beyond the next card.

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits::analysis::{
    can_chow, cards_of_rank, chowable, dumpable, for_each_chow, for_each_legal_action, is_set,
    runs_of_three,
};
use bahay_engine::games::tongits::{
    Action, Additions, Arrangement, Phase, PublicState, SEATS, View, additions, deadwood,
    has_secret, is_secret, leaves_nothing, points, total_points,
};
use bahay_engine::seat::Seat;
use bahay_engine::variants;

use crate::tongits::unseen_cards;

/// Returns the action of the AI; `None` if the viewer is not to act.
pub(super) fn choose_action(view: &View) -> Option<Action> {
    GreedyPlayer::new(view, view.viewer?, view.hand()?).choose_action()
}

// The parameters were found by play between variants: among three players with these values, no
// variant wins much more, and games still end in every way.

/// The highest own deadwood for a fight, in hundredths of the expected deadwood of each opponent
/// that may answer.
const FIGHT: i32 = 70;

/// The highest own deadwood for a challenge, in hundredths of the deadwood expected of the fighter.
const CHALLENGE: i32 = 100;

/// The value of being open.
const OPEN: i32 = 1_000;

/// The value of a concealed secret meld.
const SECRET: i32 = 1_000;

/// The cost of a chow by the next seat.
const FED: i32 = 100;

/// The maximum number of future draws that are counted on to complete a meld.
const DRAWS_MAX: i32 = 6;

/// A point, in hundredths.
const POINT: i32 = 100;

/// The knowledge of the seat to act.
#[derive(Clone, Copy, Debug)]
pub(super) struct GreedyPlayer<'a> {
    public: &'a PublicState,
    seat: Seat,
    hand: CardSet,
    /// The card drawn in this turn, where the rules need it.
    drawn: Option<Card>,
    /// The cards in other hands, face down or in the stock.
    unseen: CardSet,
}

impl<'a> GreedyPlayer<'a> {
    pub(super) fn new(view: &'a View, seat: Seat, hand: CardSet) -> Self {
        let public = &view.public;
        Self { public, seat, hand, drawn: view.drawn, unseen: unseen_cards(public, hand) }
    }

    fn choose_action(&self) -> Option<Action> {
        match self.public.phase {
            Phase::Draw { seat, .. } if seat == self.seat => Some(self.choose_turn_opening()),
            Phase::Play { seat } if seat == self.seat => Some(self.choose_play()),
            Phase::Fight { fighter, asked, asked_secretly, answered } => {
                let is_asked = asked.union(asked_secretly).difference(answered).contains(self.seat);
                is_asked.then(|| self.answer_fight(fighter))
            }
            variants!(Phase: Starter, Deal, Draw, Play, Over) => None,
        }
    }

    /// Chooses between Spread, fight, chow and draw.
    fn choose_turn_opening(&self) -> Action {
        let mut may_fight = false;
        let mut may_spread = false;
        for_each_legal_action(self.public, self.seat, self.hand, |action| {
            may_fight |= action == Action::Fight;
            may_spread |= action == Action::Tongits;
        });
        if may_spread {
            return Action::Tongits;
        }
        if may_fight && self.has_low_deadwood() {
            return Action::Fight;
        }
        match self.best_chow() {
            Some(cards) => Action::Chow { cards },
            None => Action::Draw,
        }
    }

    /// Returns whether the deadwood is likely to be lower than that of all who may answer a fight.
    fn has_low_deadwood(&self) -> bool {
        let own = cost(deadwood(self.hand));
        let melds = &self.public.melds;
        let may_answer = |other: Seat| {
            let with_secret = self.public.rules.secret_may_challenge && melds.has_face_down(other);
            melds.is_open(other) || with_secret
        };
        let is_likely_higher = |other: Seat| own * 100 <= self.expected_deadwood(other) * FIGHT;
        self.seat.others(SEATS).all(|other| !may_answer(other) || is_likely_higher(other))
    }

    fn answer_fight(&self, fighter: Seat) -> Action {
        let own = cost(deadwood(self.hand));
        if own * 100 <= self.expected_deadwood(fighter) * CHALLENGE {
            Action::Challenge
        } else {
            Action::Fold
        }
    }

    /// Returns the expected deadwood of another seat: its number of cards times the average of the
    /// unseen cards, reduced by the share that is probably melded. This share grows with the length
    /// of the game.
    fn expected_deadwood(&self, other: Seat) -> i32 {
        let cards = i32::from(self.public.hand_counts[other.index()]);
        let average = cost(total_points(self.unseen)) / self.unseen_count();
        let loose_percent = 50 + 2 * i32::from(self.public.stock_count.min(20));
        cards * average * loose_percent / 100
    }

    fn unseen_count(&self) -> i32 {
        i32::try_from(self.unseen.len().max(1)).expect("no more cards than the deck has")
    }

    /// Returns the hand cards of the best chow, if it is better than a draw.
    fn best_chow(&self) -> Option<CardSet> {
        let discard = self.public.discards.top()?;
        let held = self.secret_meld_count(self.hand);
        let is_open = self.public.melds.is_open(self.seat);
        let mut best = None;
        for_each_chow(self.hand, discard, |cards| {
            let left = self.hand.difference(cards);
            let broken = held - self.secret_meld_count(left);
            let mut value = self.value_after_dump(left, additions(cards.with(discard)));
            value += broken.max(0) * SECRET;
            value -= if is_open { 0 } else { OPEN };
            if best.is_none_or(|(least, _)| value < least) {
                best = Some((value, cards));
            }
        });
        let (value, cards) = best?;
        (value < self.value_after_draw()).then_some(cards)
    }

    /// Returns the value of a hand after the best dump, if the cards `extra` can also be added to
    /// the table.
    fn value_after_dump(&self, hand: CardSet, extra: CardSet) -> i32 {
        let addable = self.public.melds.additions().union(extra);
        let hand_cards = hand.naturals();
        let candidates = if self.public.rules.dump_addable {
            hand_cards
        } else {
            hand_cards.difference(addable)
        };
        // If all cards can be added, or one is left to dump, the hand is Tongits.
        if candidates.len() <= 1 {
            return -100 * POINT;
        }
        let left = candidates.iter().map(|card| self.evaluate_hand(hand.without(card)));
        left.min().unwrap_or(0)
    }

    /// Returns the average value of the hand after a draw and the best dump.
    fn value_after_draw(&self) -> i32 {
        let now = self.evaluate_hand(self.hand);
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

    /// Returns the value of a hand: its deadwood less the expected gain from the coming draws.
    /// Lower is better.
    fn evaluate_hand(&self, hand: CardSet) -> i32 {
        let now = deadwood(hand);
        let helping = if hand.has_joker() {
            let helps = |card: &Card| card.is_joker() || can_chow(hand, *card);
            self.unseen.iter().filter(helps).collect()
        } else {
            self.unseen.intersection(chowable(hand).union(CardSet::JOKERS))
        };
        let gain = |card: Card| (cost(now) - cost(deadwood(hand.with(card)))).max(0);
        let gains = helping.iter().map(gain);
        let draws = (1 + i32::from(self.public.stock_count) / i32::from(SEATS)).min(DRAWS_MAX);
        cost(now) - gains.sum::<i32>() * draws / self.unseen_count()
    }

    fn choose_play(&self) -> Action {
        self.finishing_action()
            .or_else(|| self.choose_sapaw())
            .or_else(|| self.choose_opening_meld())
            .or_else(|| self.choose_dump())
            .or_else(|| self.choose_forced_sapaw())
            .expect("a hand has a card to dump or to add")
    }

    /// Returns the next step of a line that ends the game in this turn, if the arrangement shows
    /// one. Leftover jokers stay in the hand (rule 11.1).
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
        // Concealed melds pay more, so they stay in the hand if the rest can be added.
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

    /// Adds a card that the hand does not need. On another seat's meld this also takes that seat's
    /// right to fight; on an own meld it would take the own right, so a low hand refrains.
    fn choose_sapaw(&self) -> Option<Action> {
        let now = deadwood(self.hand);
        let spare = |card: &Card| {
            let left = self.hand.without(*card);
            let keeps_secrets =
                || self.secret_meld_count(left) >= self.secret_meld_count(self.hand);
            !card.is_joker() && deadwood(left) <= now && keeps_secrets()
        };
        if let Some(sagasa) = self.find_sagasa().filter(|(card, _)| spare(card)) {
            let (card, meld) = sagasa;
            return Some(Action::Sapaw { card, meld });
        }
        let own_blocks = match self.public.rules.fight_blocked_by {
            Additions::Anyone => self.has_low_deadwood(),
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

    /// Returns the drawn card and the own set of three that it completes (rule 10.2).
    fn find_sagasa(&self) -> Option<(Card, u8)> {
        let card = self.drawn.filter(|card| self.hand.contains(*card))?;
        let completes = |(_, cards, owner): &(u8, CardSet, Seat)| {
            *owner == self.seat && is_set(*cards) && cards_of_rank(card).contains_all(*cards)
        };
        self.public.melds.iter_open().find(completes).map(|(meld, ..)| (card, meld))
    }

    /// Opens with the plain meld that admits the fewest additions, preferably without a joker.
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

    /// Chooses the dump that leaves the best hand and helps the next seat least.
    fn choose_dump(&self) -> Option<Action> {
        let value = |card: &Card| {
            let left = self.hand.without(*card);
            let is_broken = self.has_secret(self.hand) && !self.has_secret(left);
            let broken = if is_broken { SECRET } else { 0 };
            self.evaluate_hand(left) + self.feeding_cost(*card) + broken
        };
        let card = dumpable(self.public, self.hand).iter().min_by_key(value)?;
        Some(Action::Dump { card })
    }

    /// Returns the expected help of a dump to the next seat: the pairs of unseen cards that would
    /// meld with it, weighted by the probability that both are in that hand.
    fn feeding_cost(&self, card: Card) -> i32 {
        if self.public.stock_count == 0 {
            return 0;
        }
        let same = i32::try_from(cards_of_rank(card).intersection(self.unseen).len())
            .expect("a rank has four cards");
        let runs =
            i32::try_from(runs_of_three(self.unseen, card)).expect("there are at most three runs");
        let pairs = same * (same - 1) / 2 + runs;
        let next = i32::from(self.public.hand_counts[self.seat.next(SEATS).index()]);
        let unseen = self.unseen_count();
        pairs * FED * next * next / (unseen * unseen)
    }

    /// Adds any card, for a hand that may dump nothing.
    fn choose_forced_sapaw(&self) -> Option<Action> {
        let card = self.public.melds.additions().intersection(self.hand).first()?;
        self.sapaw_with(card)
    }

    /// Adds a card, preferably to another seat's meld.
    fn sapaw_with(&self, card: Card) -> Option<Action> {
        let fits =
            self.public.melds.iter_open().filter(|(_, cards, _)| additions(*cards).contains(card));
        let (meld, ..) = fits.min_by_key(|(.., owner)| *owner == self.seat)?;
        Some(Action::Sapaw { card, meld })
    }

    fn has_secret(&self, hand: CardSet) -> bool {
        has_secret(hand, self.public.rules.secret_run_min)
    }

    /// Returns the number of secret melds in the arrangement.
    fn secret_meld_count(&self, hand: CardSet) -> i32 {
        if !self.has_secret(hand) {
            return 0;
        }
        let secret_run_min = self.public.rules.secret_run_min;
        let secrets = Arrangement::from_hand(hand, secret_run_min).secret_melds(secret_run_min);
        i32::try_from(secrets).expect("a hand has few melds")
    }
}

/// Returns the cards left after adding as many as possible to the melds.
fn left_after_adding(melds: impl Iterator<Item = CardSet> + Clone, cards: CardSet) -> CardSet {
    let mut left = cards;
    for meld in melds {
        // Only runs grow further through an addition.
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
