//! Positions for tests. An untrusted setup becomes a game only if its cards and melds are
//! consistent. Requires the feature `testing`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::game::{Game, ensure};
use crate::games::tongits::event::BySeat;
use crate::games::tongits::exposed::ExposedMeld;
use crate::games::tongits::meld::{is_meld, is_secret};
use crate::games::tongits::phase::Phase;
use crate::games::tongits::rules::{Rules, SEATS};
use crate::games::tongits::state::Tongits;
use crate::seat::{Seat, SeatSet};

/// A position at the beginning of a draw or play phase.
#[derive(Clone, Debug)]
pub struct GameSetup {
    pub rules: Rules,
    pub turn: Seat,
    pub phase: SetupPhase,
    pub hands: BySeat<CardSet>,
    /// The stock from the bottom up, like every pile.
    pub stock: Vec<Card>,
    /// The discards from the bottom up.
    pub discards: Vec<Card>,
    pub melds: Vec<ExposedMeld>,
    /// The seats whose melds were added to since their own latest turn began; for a seat that is to
    /// draw, since its previous turn began (rule 4.1).
    pub added_to: SeatSet,
    /// The seats that have not acted yet (rule 10.3).
    pub yet_to_act: SeatSet,
    /// The card that the seat to play drew in this turn (rule 10.2).
    pub drawn: Option<Card>,
}

/// The possible phases of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupPhase {
    Draw,
    Play,
}

impl GameSetup {
    /// Builds the game in this position.
    ///
    /// # Errors
    ///
    /// Returns the first inconsistency.
    pub fn game(&self) -> Result<Tongits, String> {
        self.check_melds()?;
        self.check_cards()?;
        ensure(self.turn.number() < SEATS, || format!("there is no {:?}", self.turn))?;
        for (seat, hand) in Seat::all(SEATS).zip(&self.hands) {
            ensure(!hand.is_empty(), || format!("{seat:?} has no cards"))?;
        }
        let is_draw = self.phase == SetupPhase::Draw;
        ensure(!is_draw || !self.stock.is_empty(), || {
            "a turn begins only while there is stock".into()
        })?;
        if let Some(card) = self.drawn {
            let has_it = !is_draw && self.hands[self.turn.index()].contains(card);
            ensure(has_it, || format!("{card} was not drawn in this turn"))?;
        }
        Ok(self.build_game())
    }

    /// Builds the game after all checks.
    fn build_game(&self) -> Tongits {
        let mut game = Tongits::new(&self.rules, SEATS, Some(self.turn));
        game.hands = self.hands;
        game.drawn = self.drawn.filter(|_| self.rules.sagasa);
        game.stock = self.stock.iter().copied().collect();
        let public = &mut game.public;
        public.hand_counts = self.hands.map(count);
        public.stock_count = count(self.stock.iter().copied().collect());
        public.discards = self.discards.iter().copied().collect();
        public.melds = self.melds.iter().copied().collect();
        public.added_to = self.added_to;
        if self.rules.spread {
            public.yet_to_act = self.yet_to_act;
        }
        public.drew_last = self.stock.is_empty().then_some(self.turn);
        public.phase = match self.phase {
            SetupPhase::Draw => {
                public.added_to = self.added_to.without(self.turn);
                let fight_blocked = self.added_to.contains(self.turn);
                Phase::Draw { seat: self.turn, fight_blocked }
            }
            SetupPhase::Play => Phase::Play { seat: self.turn },
        };
        (public.prompt, public.countdown) = (1, 1);
        game
    }

    fn check_melds(&self) -> Result<(), String> {
        for meld in &self.melds {
            ensure(meld.owner.number() < SEATS, || format!("there is no {:?}", meld.owner))?;
            ensure(is_meld(meld.cards), || format!("{} is not a meld", meld.cards))?;
            let all = meld.by.iter().fold(CardSet::EMPTY, |sum, by| sum.union(*by));
            let once = meld.by.iter().map(|by| by.len()).sum::<usize>() == all.len();
            ensure(once && all == meld.cards, || {
                format!("{} are not attributed once each", meld.cards)
            })?;
            let rules = &self.rules;
            let may_lie_down = meld.face_down == Some(count(meld.cards))
                && rules.bahay
                && is_secret(meld.cards, rules.secret_run_min);
            let is_well_laid = meld.face_down.is_none() || may_lie_down;
            ensure(is_well_laid, || format!("{} may not lie face down", meld.cards))?;
        }
        Ok(())
    }

    /// Checks that every card of the deck is in exactly one place.
    fn check_cards(&self) -> Result<(), String> {
        let mut seen = CardSet::EMPTY;
        let hands = self.hands.iter().flat_map(|hand| hand.iter());
        let melds = self.melds.iter().flat_map(|meld| meld.cards.iter());
        let piles = self.stock.iter().chain(&self.discards).copied();
        for card in hands.chain(melds).chain(piles) {
            ensure(!seen.contains(card), || format!("{card} is in two places"))?;
            seen = seen.with(card);
        }
        let deck = self.rules.deck();
        match (deck.difference(seen).first(), seen.difference(deck).first()) {
            (Some(card), _) => Err(format!("{card} is missing")),
            (None, Some(card)) => Err(format!("{card} is not in the deck")),
            (None, None) => Ok(()),
        }
    }
}

fn count(cards: CardSet) -> u8 {
    u8::try_from(cards.len()).expect("no more cards than the deck has")
}
