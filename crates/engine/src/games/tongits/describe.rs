//! A human-readable description of a game of Tong-its: the table, the hands, and the actions.

use alloc::format;
use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::game::{Describe, Item, Piece, Row};
use crate::games::description::{playing_card_text, row, table_row, text_piece, text_pieces};
use crate::games::tongits::action::Action;
use crate::games::tongits::event::{EndingKind, Event, FightAnswer};
use crate::games::tongits::rules::SEATS;
use crate::games::tongits::score::{secret_melds, special_cards};
use crate::games::tongits::state::Tongits;
use crate::games::tongits::view::View;
use crate::seat::Seat;

impl Describe for Tongits {
    fn describe(view: &View) -> Vec<Row> {
        let public = &view.public;
        let mut rows = Vec::new();
        for (seat, (hand, count)) in
            Seat::all(SEATS).zip(view.hands.iter().zip(public.hand_counts.iter()))
        {
            let pieces = match hand {
                Some(hand) => card_pieces(hand.iter()),
                None => text_pieces(format!("{count} cards")),
            };
            rows.push(row(seat, "hand", pieces));
        }
        for meld in public.melds.iter() {
            let pieces = card_pieces(meld.cards.iter());
            rows.push(row(meld.owner, "meld", pieces));
        }
        let discards = card_pieces(public.discards.cards().iter().copied());
        rows.push(table_row("discards", discards));
        let stock = match &view.stock {
            Some(stock) => card_pieces(stock.cards().iter().copied()),
            None => text_pieces(format!("{} cards", public.stock_count)),
        };
        rows.push(table_row("stock, the next at the end", stock));
        rows
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        match *action {
            Action::Draw => text_pieces("draws"),
            Action::Chow { cards } => action_pieces("takes the discard with", cards),
            Action::Fight => text_pieces("fights"),
            Action::Drop { cards, face_down: false } => action_pieces("lays", cards),
            Action::Drop { cards, face_down: true } => action_pieces("lays face down", cards),
            Action::Sapaw { card, .. } => action_pieces("adds", CardSet::only(card)),
            Action::Dump { card } => action_pieces("dumps", CardSet::only(card)),
            Action::Tongits => text_pieces("declares Tong-its"),
            Action::Challenge => text_pieces("challenges"),
            Action::Fold => text_pieces("folds"),
        }
    }

    fn describe_event(event: &Event) -> Option<Row> {
        Some(match *event {
            Event::StarterChosen { seat } => row(seat, "begins", Vec::new()),
            Event::Dealt { starter, .. } => row(starter, "has the first turn", Vec::new()),
            Event::Drawn { seat, card, auto } => {
                let label = if auto { "draws, as nothing else was legal" } else { "draws" };
                row(seat, label, card_pieces(card.into_iter()))
            }
            Event::Chowed { seat, discard, cards: with } => {
                row(seat, "takes the discard", card_pieces(with.with(discard).iter()))
            }
            Event::Dropped { seat, cards: laid } => row(seat, "lays", card_pieces(laid.iter())),
            Event::LaidFaceDown { seat, cards: laid, count } => {
                let unseen = || text_pieces(format!("{count} cards"));
                let pieces = if laid.is_empty() { unseen() } else { card_pieces(laid.iter()) };
                row(seat, "lays face down", pieces)
            }
            Event::Sagasa { seat, .. } => row(seat, "has a sagasa", Vec::new()),
            Event::Sapawed { seat, card, .. } => row(seat, "adds", card_pieces([card].into_iter())),
            Event::Dumped { seat, card } => row(seat, "dumps", card_pieces([card].into_iter())),
            Event::TongitsDeclared { seat } => row(seat, "declares Tong-its", Vec::new()),
            Event::Fought { seat, .. } => row(seat, "fights", Vec::new()),
            Event::Answered { seat, answer } => {
                let label = match answer {
                    FightAnswer::Challenge => "challenges",
                    FightAnswer::Fold => "folds",
                };
                row(seat, label, Vec::new())
            }
            Event::Shown { .. } => return None,
            Event::Over { ending, winner, .. } => {
                let label = match ending {
                    EndingKind::Tongits => "wins by Tong-its",
                    EndingKind::Fight => "wins the fight",
                    EndingKind::Stock if winner.is_none() => "nobody wins: all are burned",
                    EndingKind::Stock => "wins as the stock is exhausted",
                };
                Row { seat: winner, label: label.into(), pieces: Vec::new() }
            }
        })
    }

    fn describe_result(view: &View) -> Vec<Row> {
        let hands = view.public.shown.as_deref().into_iter().flatten();
        let rows = Seat::all(SEATS).zip(hands).map(|(seat, shown)| {
            let burned = if shown.burned { ", burned" } else { "" };
            let mut pieces = text_pieces(format!("{} points{burned}", shown.points));
            pieces.extend(card_pieces(shown.hand.iter()));
            row(seat, "ends with", pieces)
        });
        rows.collect()
    }

    fn describe_item(view: &View, payer: Seat, receiver: Seat, item: &Item) -> Vec<Piece> {
        let public = &view.public;
        let Some(hands) = public.shown.as_deref() else { return Vec::new() };
        let won = &hands[receiver.index()];
        let lost = &hands[payer.index()];
        match &*item.name {
            "tongits" | "spread" => card_pieces(won.hand.iter()),
            "special" => card_pieces(special_cards(public, receiver, won)),
            "secret" => {
                let melds: Vec<Vec<Piece>> = secret_melds(public, receiver, won)
                    .map(|meld| card_pieces(meld.iter()))
                    .collect();
                melds.join(&text_piece("and"))
            }
            "burned" => card_pieces(lost.hand.iter()),
            "challenge" | "fight" | "stock" | "variable" | "zero_count_fight" => {
                text_pieces(format!("{} points against {}", won.points, lost.points))
            }
            _ => Vec::new(),
        }
    }
}

fn action_pieces(verb: &'static str, objects: CardSet) -> Vec<Piece> {
    [text_pieces(verb), card_pieces(objects.iter())].concat()
}

fn card_pieces(cards: impl Iterator<Item = Card>) -> Vec<Piece> {
    cards.map(card_piece).collect()
}

/// Formats a card as its rank and suit.
fn card_piece(card: Card) -> Piece {
    let (text, is_red) =
        if card.is_joker() { ("Joker".into(), false) } else { playing_card_text(card) };
    Piece::Token { text, is_red }
}
