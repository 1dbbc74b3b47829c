//! The conformance probe of Tong-its: arbitrary actions, hidden cards, and conservation of cards.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::game::Viewer;
use crate::games::tongits::{Action, ExposedMeld, Phase, SEATS, Tongits, is_meld};
use crate::seat::Seat;
use crate::testing::{Probe, TestRng, VisibleEvent};

/// The conformance probe of Tong-its.
#[derive(Clone, Copy, Debug)]
pub struct TongitsProbe;

impl Probe<Tongits> for TongitsProbe {
    fn wild_action(&self, game: &Tongits, dice: &mut TestRng) -> Action {
        let [first, second, third] = *game.hands();
        let hands = [CardSet::ALL, first, second, third];
        let hand: Vec<Card> = hands[dice.below(4) as usize].iter().collect();
        let mut cards = CardSet::EMPTY;
        for _ in 0..1 + dice.below(4) {
            cards = dice.choose(&hand).map_or(cards, |card| cards.with(*card));
        }
        let card = cards.first().unwrap_or_else(|| Card::all().next().expect("there are cards"));
        let meld = dice.below_u8(6);
        let actions = [
            Action::Draw,
            Action::Chow { cards },
            Action::Fight,
            Action::Drop { cards, face_down: false },
            Action::Drop { cards, face_down: true },
            Action::Sapaw { card, meld },
            Action::Dump { card },
            Action::Tongits,
            Action::Challenge,
            Action::Fold,
        ];
        *dice.choose(&actions).expect("there are actions")
    }

    /// Returns the other hands and the face-down melds of others until they are shown, and always
    /// the stock.
    fn hidden_texts(&self, game: &Tongits, viewer: Viewer) -> Vec<String> {
        let own = viewer.seat();
        let is_over = game.public().phase == Phase::Over;
        let others = Seat::all(SEATS).zip(game.hands());
        let others = others.filter(|(seat, _)| !is_over && Some(*seat) != own);
        let hidden = others.fold(CardSet::EMPTY, |sum, (seat, hand)| {
            let face_down = game.public().melds.iter_face_down(seat);
            face_down.fold(sum.union(*hand), CardSet::union)
        });
        let stock = game.stock().cards().iter().copied();
        hidden.iter().chain(stock).map(|card| format!("\"{card}\"")).collect()
    }

    /// Checks that every card is in exactly one place.
    fn broken_invariant(&self, game: &Tongits) -> Option<String> {
        let public = game.public();
        if matches!(public.phase, Phase::Starter | Phase::Deal { .. }) {
            return None;
        }
        let piles = game.stock().cards().iter().chain(public.discards.cards()).copied();
        let hands = game.hands().iter().flat_map(|hand| hand.iter());
        let melds = public.melds.cards().iter();
        let mut cards: Vec<Card> = piles.chain(hands).chain(melds).collect();
        cards.sort();
        if !cards.iter().copied().eq(public.rules.deck().iter()) {
            return Some(format!("the cards in play are {cards:?}"));
        }
        let laid = public.melds.iter();
        let is_well_laid = |meld: &ExposedMeld| {
            let by = meld.by.iter().map(|by| by.len()).sum::<usize>();
            let count = meld.face_down.map_or(meld.cards.len(), usize::from);
            is_meld(meld.cards) && by == meld.cards.len() && count == meld.cards.len()
        };
        if let Some(meld) = laid.into_iter().find(|meld| !is_well_laid(meld)) {
            return Some(format!("{meld:?} is no meld on the table"));
        }
        // A joker alone is never on the discard pile (rule 11.1).
        if public.discards.cards().iter().any(|card| card.is_joker()) {
            return Some("a joker was dumped".into());
        }
        let counts = game.hands().map(|hand| hand.len());
        let counted = counts == public.hand_counts.map(usize::from)
            && game.stock().len() == usize::from(public.stock_count);
        (!counted).then(|| format!("hands of {counts:?} are shown as {:?}", public.hand_counts))
    }
}

/// Returns the rule that permits an event of Tong-its to disclose hidden cards.
pub fn tongits_disclosure_rule(event: &VisibleEvent) -> Option<&'static str> {
    match event.name.as_str() {
        // The table draws for a seat that has no other legal action, so everybody knows that.
        "drawn" if event.text["auto"] == true => Some("3.1"),
        // A seat that adds the fourth card has drawn it in this turn.
        "sagasa" => Some("10.2"),
        // The hands are shown.
        "shown" | "over" => Some("4.3"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::coins::Coins;
    use crate::game::{Hits, Outcome};
    use crate::games::tongits::{Rules, Tongits};
    use crate::table::{Crown, PlayerId, TableOutcome};
    use uuid::Uuid;

    /// Rule 5.3 of Tong-its.
    #[test]
    fn without_a_winner_the_pot_and_the_crown_stay() {
        let hits = Hits { ante: 1, to_win: 3, second_hit_bonus: 1 };
        let bet = Coins::from_hundredths(100);
        let terms = crate::testing::terms(Rules::kingdom(), Some(hits), bet, 1);
        let players = [1, 2, 3].map(|player| PlayerId(Uuid::from_u128(player)));
        let stakes = [Coins::from_hundredths(1_500); 3];
        let pot = Coins::from_hundredths(900);
        for crown in [None, Some(Crown { player: players[1], wins: 2 })] {
            let worth = TableOutcome::compute::<Tongits>(
                &Outcome::default(),
                &terms,
                &stakes,
                pot,
                crown,
                &players,
            );
            let TableOutcome { settlement, pot_after, crown_after } = worth.unwrap();
            assert!(settlement.payments.is_empty() && settlement.pot.is_none());
            assert_eq!((pot_after, crown_after), (pot, crown));
        }
    }
}
