//! Positions of Tong-its in which seat 0 begins a phase.

use bahay_engine::cards::CardSet;
use bahay_engine::games::tongits::{ExposedMeld, GameSetup, Rules, SetupPhase};
use bahay_engine::seat::{Seat, SeatSet};

use super::cards;
use super::desk::seat;

/// Returns a position with these cards; the others are the stock.
pub fn position(
    rules: Rules,
    phase: SetupPhase,
    hands: [&str; 3],
    discards: &str,
    melds: Vec<ExposedMeld>,
) -> GameSetup {
    let hands: [CardSet; 3] = hands.map(cards);
    let discards: CardSet = cards(discards);
    let melded = melds.iter().map(|meld| meld.cards);
    let named = melded.chain(hands).fold(discards, CardSet::union);
    GameSetup {
        rules,
        turn: seat(0),
        phase,
        hands,
        stock: rules.deck().difference(named).iter().collect(),
        discards: discards.iter().collect(),
        melds,
        added_to: SeatSet::EMPTY,
        yet_to_act: SeatSet::EMPTY,
        drawn: None,
    }
}

/// Returns a meld as its owner has laid it.
pub fn meld(owner: Seat, text: &str, face_down: Option<u8>) -> ExposedMeld {
    let mut by = [CardSet::EMPTY; 3];
    by[owner.index()] = cards(text);
    ExposedMeld { owner, cards: cards(text), by, face_down, sagasa: false }
}
