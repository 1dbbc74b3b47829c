//! Pieces and rows of a game's description for people.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Display;

use crate::game::{Piece, Row};
use crate::seat::Seat;

pub(crate) fn text_piece(text: impl Into<Cow<'static, str>>) -> Piece {
    Piece::Text(text.into())
}

/// Returns a text alone.
pub(crate) fn text_pieces(text: impl Into<Cow<'static, str>>) -> Vec<Piece> {
    vec![text_piece(text)]
}

/// Returns a row that concerns one seat.
pub(crate) fn row(seat: Seat, label: impl Into<Cow<'static, str>>, pieces: Vec<Piece>) -> Row {
    Row { seat: Some(seat), label: label.into(), pieces }
}

/// Returns a row that concerns all seats.
pub(crate) fn table_row(label: impl Into<Cow<'static, str>>, pieces: Vec<Piece>) -> Row {
    Row { seat: None, label: label.into(), pieces }
}

/// Returns a playing card, whose notation is rank then suit, as its rank and the suit's symbol,
/// such as `10♦`, and whether its suit is red.
pub(super) fn playing_card_text(card: impl Display) -> (String, bool) {
    let notation = card.to_string();
    let (rank, suit) = notation.split_at(1);
    let (suit, is_red) = match suit {
        "C" => ("♣", false),
        "D" => ("♦", true),
        "H" => ("♥", true),
        _ => ("♠", false),
    };
    ([if rank == "T" { "10" } else { rank }, suit].concat(), is_red)
}
