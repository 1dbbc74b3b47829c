//! Checks that no message of a game contains a card that its reader may not see, or the server seed
//! of a running game. The visible cards are computed from the hands and piles, not by the code that
//! makes views; the shown cards are read from the text of the message.

use std::any::Any;

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits::{Phase as GamePhase, Tongits};
use bahay_engine::table::{Phase, PlayerId, Table};

use crate::simulation::SimulatedGame;

/// Checks the text of a message against the table at that line.
pub(super) fn check_visible_cards<G: SimulatedGame>(
    table: &Table<G>,
    player: PlayerId,
    text: &str,
) -> Result<(), String> {
    if let Some(table) = (table as &dyn Any).downcast_ref::<Table<Tongits>>() {
        let visible = visible_cards(table, player);
        let hidden = named_cards(text).difference(visible);
        if !hidden.is_empty() {
            return Err(format!("{player} is shown {hidden}, and may see {visible} only: {text}"));
        }
    }
    let seed = match table.phase() {
        Phase::Waiting | Phase::Settling(_) => return Ok(()),
        Phase::Preparing(preparing) => &preparing.server_seed,
        Phase::Opening(opening) => &opening.server_seed,
        Phase::Revealing(revealing) => &revealing.server_seed,
        Phase::Playing(playing) => &playing.server_seed,
    };
    if text.contains(&seed.0.to_string()) {
        return Err(format!("{player} is shown the server seed: {text}"));
    }
    Ok(())
}

/// Returns the player's own hand and the open cards; all cards when the game is over.
fn visible_cards(table: &Table<Tongits>, player: PlayerId) -> CardSet {
    let playing = match table.phase() {
        Phase::Waiting | Phase::Preparing(_) | Phase::Opening(_) | Phase::Revealing(_) => {
            return CardSet::EMPTY;
        }
        Phase::Settling(_) => return CardSet::ALL,
        Phase::Playing(playing) => playing,
    };
    let public = playing.state.public();
    if public.phase == GamePhase::Over {
        return CardSet::ALL;
    }
    let discards: CardSet = public.discards.cards().iter().copied().collect();
    let melds = public.melds.cards();
    let own = table.seat_of(player).map(|seat| playing.state.hands()[seat.index()]);
    discards.union(melds).union(own.unwrap_or_default())
}

/// Returns every card that a text names as a string of its own.
fn named_cards(text: &str) -> CardSet {
    let bytes = text.as_bytes();
    let quoted = bytes.windows(4).filter(|four| four[0] == b'"' && four[3] == b'"');
    let named = quoted.filter_map(|four| std::str::from_utf8(&four[1..3]).ok());
    named.filter_map(|name| name.parse::<Card>().ok()).collect()
}
