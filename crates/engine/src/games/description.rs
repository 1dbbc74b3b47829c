//! Pieces and rows of a game's description for people.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use crate::game::{Piece, Row};

pub(super) fn text_piece(text: impl Into<Cow<'static, str>>) -> Piece {
    Piece::Text(text.into())
}

/// Returns a text alone.
pub(super) fn say(text: impl Into<Cow<'static, str>>) -> Vec<Piece> {
    vec![text_piece(text)]
}

/// Returns a row that concerns all seats.
pub(super) fn table_row(label: impl Into<Cow<'static, str>>, pieces: Vec<Piece>) -> Row {
    Row { seat: None, label: label.into(), pieces }
}
