//! No message ever contains a card that its reader may not see, nor the secret of a deal that is
//! not over. What may be seen is taken from the hands and piles themselves, not from the code that
//! makes views, and what is shown from the text as it goes out.

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits::{Phase as GamePhase, Tongits};
use bahay_engine::table::{Phase, PlayerId, Table};

/// Checks the text of a message about a table as it then is.
pub(super) fn check_visible_cards(
    table: &Table<Tongits>,
    player: PlayerId,
    text: &str,
) -> Result<(), String> {
    let visible = visible_cards(table, player);
    let hidden = named_cards(text).difference(visible);
    if !hidden.is_empty() {
        return Err(format!("{player} is shown {hidden}, and may see {visible} only: {text}"));
    }
    let seed = match table.phase() {
        Phase::Waiting | Phase::Settling(_) => return Ok(()),
        Phase::Preparing(preparing) => &preparing.server_seed,
        Phase::Opening(opening) => &opening.server_seed,
        Phase::Revealing(revealing) => &revealing.server_seed,
        Phase::Playing(playing) => &playing.server_seed,
    };
    if text.contains(&seed.0.to_string()) {
        return Err(format!("{player} is shown the secret of a deal: {text}"));
    }
    Ok(())
}

/// The own hand and what lies open; everything when the game is over.
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

/// Every card that a text names, as a string of its own.
fn named_cards(text: &str) -> CardSet {
    let bytes = text.as_bytes();
    let quoted = bytes.windows(4).filter(|four| four[0] == b'"' && four[3] == b'"');
    let named = quoted.filter_map(|four| std::str::from_utf8(&four[1..3]).ok());
    named.filter_map(|name| name.parse::<Card>().ok()).collect()
}
