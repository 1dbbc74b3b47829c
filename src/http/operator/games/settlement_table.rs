//! Tables of a game's settlement: payments with their items and rules, fees and the POT.

use bahay_engine::catalog;
use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Payment, Settlement};
use maud::{Markup, html};

use super::replay::player_name;
use crate::archive::{GameDetail, SeatDetail};
use crate::http::operator::desk_ui::{badge, coins, table};
use crate::reports::RecordVerdict;

/// Draws the settlement as booked beside the recomputed one, payment by payment.
pub(crate) fn draw_comparison(game: &GameDetail, verdict: &RecordVerdict) -> Markup {
    let stored = game.settlement.clone().map(serde_json::from_value::<Settlement>);
    let stored = stored.and_then(Result::ok);
    let (recomputed, is_booked) = match verdict {
        RecordVerdict::Holds { recomputed, is_booked, .. } => (Some(recomputed), *is_booked),
        RecordVerdict::Fails { .. } | RecordVerdict::NoRecord => (None, false),
    };
    if stored.is_none() && recomputed.is_none() {
        return html! { p { "The game has no settlement." } };
    }
    let lines = |settlement: Option<&Settlement>| {
        settlement.map(|settlement| list_lines(settlement, &game.seats)).unwrap_or_default()
    };
    let booked = lines(stored.as_ref());
    let expected = lines(recomputed);
    let columns = "Payment | #As booked | #As recomputed | ";
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    for place in 0..booked.len().max(expected.len()) {
        let left = booked.get(place);
        let right = expected.get(place);
        let name = left.or(right).map(|(name, _)| name.as_str()).unwrap_or_default();
        let amount = |line: Option<&(String, Coins)>| {
            html! { @if let Some((_, amount)) = line { (coins(*amount)) } @else { "–" } }
        };
        let verdict = if left == right { badge("good", "same") } else { badge("bad", "differs") };
        rows.push(vec![html! { (name) }, amount(left), amount(right), verdict]);
    }
    html! {
        @if !is_booked && recomputed.is_some() {
            p class="alert" role="alert" { "The booked settlement differs from the recomputed one." }
        }
        (table("Settlement", columns, &rows))
    }
}

/// Draws the settlement as booked.
pub(crate) fn draw(game: &GameDetail) -> Markup {
    let settlement = game.settlement.clone().map(serde_json::from_value::<Settlement>);
    let Some(Ok(settlement)) = settlement else {
        return html! { p { "The game has no settlement." } };
    };
    let lines = list_lines(&settlement, &game.seats);
    let rows = lines.iter().map(|(name, amount)| [html! { (name) }, coins(*amount)]);
    html! {
        p {
            @match settlement.winner {
                Some(winner) => { (player_name(&game.seats, winner.index())) " won" }
                None => "Nobody won"
            }
            @if let Some(ending) = &game.ending {
                " (" (catalog::ending_title(&game.kind, ending)) ")"
            }
            "."
        }
        (table("Settlement", "Payment | #Coins", rows))
    }
}

/// Lists the payments with their items and rules, the fees and the POT of a settlement.
fn list_lines(settlement: &Settlement, seats: &[SeatDetail]) -> Vec<(String, Coins)> {
    let name = |seat: Seat| player_name(seats, seat.index());
    let mut lines = Vec::new();
    for Payment { from, to, items, paid, .. } in &settlement.payments {
        let items = items.iter().map(|item| {
            let title = item.name.replace('_', " ");
            format!("{} {title} (rule {})", item.counts, item.rule)
        });
        let items = items.collect::<Vec<_>>().join(", ");
        lines.push((format!("{} pays {}: {items}", name(*from), name(*to)), *paid));
    }
    for fee in &settlement.fees {
        lines.push((format!("Fee of {} on {}", name(fee.seat), fee.gross), fee.fee));
    }
    if let Some(pot) = settlement.pot {
        lines.push((format!("POT to {}", name(pot.seat)), pot.amount));
    }
    lines
}
