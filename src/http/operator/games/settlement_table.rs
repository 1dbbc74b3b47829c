//! Tables of a game's settlement: payments with their items, rules and cards, fees and the POT.

use bahay_engine::catalog::{AnyGame, AnyView};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Describe, Game, Piece, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Payment, Settlement};
use maud::{Markup, html};

use super::game_rows::draw_pieces;
use super::replay::player_name;
use crate::archive::{GameDetail, SeatDetail};
use crate::http::operator::desk_ui::{badge, coins, describe_item, ending_title, table};
use crate::replay::GameReplay;
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
    let view = final_view(game);
    let lines = |settlement: Option<&Settlement>| {
        settlement.map(|settlement| list_lines(settlement, view.as_ref())).unwrap_or_default()
    };
    let booked = lines(stored.as_ref());
    let expected = lines(recomputed);
    let columns = "Payment | #As booked | #As recomputed | ";
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    for place in 0..booked.len().max(expected.len()) {
        let left = booked.get(place);
        let right = expected.get(place);
        let title = left.or(right).map(|line| draw_line(line, &game.seats));
        let amount = |line: Option<&SettlementLine>| {
            html! { @if let Some(line) = line { (coins(line.amount)) } @else { "–" } }
        };
        let verdict = if left == right { badge("good", "same") } else { badge("bad", "differs") };
        rows.push(vec![title.unwrap_or_default(), amount(left), amount(right), verdict]);
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
    let lines = list_lines(&settlement, final_view(game).as_ref());
    let rows = lines.iter().map(|line| [draw_line(line, &game.seats), coins(line.amount)]);
    html! {
        p {
            @match settlement.winner {
                Some(winner) => { (player_name(&game.seats, winner.index())) " won" }
                None => "Nobody won"
            }
            @if let Some(ending) = &game.ending {
                " (" (ending_title(&game.kind, Some(ending))) ")"
            }
            "."
        }
        (table("Settlement", "Payment | #Coins", rows))
    }
}

/// One line of a settlement.
#[derive(Debug, PartialEq)]
struct SettlementLine {
    kind: LineKind,
    amount: Coins,
}

#[derive(Debug, PartialEq)]
enum LineKind {
    Payment { from: Seat, to: Seat, items: Vec<DescribedItem> },
    Fee { seat: Seat, gross: Coins },
    Pot { seat: Seat },
}

/// An item of a payment, with the cards or points from which it follows.
#[derive(Debug, PartialEq)]
struct DescribedItem {
    text: String,
    pieces: Vec<Piece>,
}

/// Returns the public view of the game at its end; `None` without a record that can be replayed.
fn final_view(game: &GameDetail) -> Option<AnyView> {
    let replayed = GameReplay::from_value(game.record.clone()?).ok()?;
    Some(replayed.end().ok()?.view(Viewer::Public))
}

/// Lists the payments with their items and rules, the fees and the POT of a settlement.
fn list_lines(settlement: &Settlement, view: Option<&AnyView>) -> Vec<SettlementLine> {
    let mut lines = Vec::new();
    for Payment { from, to, items, paid, .. } in &settlement.payments {
        let items = items.iter().map(|item| DescribedItem {
            text: describe_item(&item.name, &item.rule, item.counts),
            pieces: view
                .map(|view| AnyGame::describe_item(view, *from, *to, item))
                .unwrap_or_default(),
        });
        let kind = LineKind::Payment { from: *from, to: *to, items: items.collect() };
        lines.push(SettlementLine { kind, amount: *paid });
    }
    for fee in &settlement.fees {
        let kind = LineKind::Fee { seat: fee.seat, gross: fee.gross };
        lines.push(SettlementLine { kind, amount: fee.fee });
    }
    if let Some(pot) = settlement.pot {
        lines.push(SettlementLine { kind: LineKind::Pot { seat: pot.seat }, amount: pot.amount });
    }
    lines
}

fn draw_line(line: &SettlementLine, seats: &[SeatDetail]) -> Markup {
    let name = |seat: Seat| player_name(seats, seat.index());
    match &line.kind {
        LineKind::Payment { from, to, items } => html! {
            (name(*from)) " pays " (name(*to)) ": "
            @for (place, item) in items.iter().enumerate() {
                @if place > 0 { ", " }
                (item.text)
                @if !item.pieces.is_empty() { ": " (draw_pieces(&item.pieces, name)) }
            }
        },
        LineKind::Fee { seat, gross } => html! { "Fee of " (name(*seat)) " on " (coins(*gross)) },
        LineKind::Pot { seat } => html! { "POT to " (name(*seat)) },
    }
}
