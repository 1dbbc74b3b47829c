//! Drawing of a game as people read it: the rows of a view, and the words and cards of an action.

use bahay_engine::game::{Piece, Row};
use bahay_engine::seat::Seat;
use maud::{Markup, html};

/// Draws rows one below the other. `name` returns the name of a seat's player.
pub(crate) fn draw_rows<'a>(rows: &[Row], name: impl Fn(Seat) -> &'a str + Copy) -> Markup {
    html! {
        @for row in rows {
            p {
                span class="whose" {
                    @if let Some(seat) = row.seat { (name(seat)) " " }
                    (row.label)
                }
                " " (draw_pieces(&row.pieces, name))
            }
        }
    }
}

pub(crate) fn draw_pieces<'a>(pieces: &[Piece], name: impl Fn(Seat) -> &'a str + Copy) -> Markup {
    html! {
        span class="hand" {
            @for piece in pieces {
                @match piece {
                    Piece::Text(text) => { (text) " " }
                    Piece::Seat(seat) => { (name(*seat)) " " }
                    Piece::Token { text, is_red } => {
                        b class=(if *is_red { "red" } else { "black" }) { (text) } " "
                    }
                }
            }
        }
    }
}
