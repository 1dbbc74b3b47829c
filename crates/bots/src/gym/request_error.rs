//! The reasons for rejecting a request, and their answers.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use bahay_engine::variants;
use core::fmt;

use serde::Serialize;

use super::PlayError;
use super::json::push_json;

/// The reason for rejecting a request.
#[derive(Debug)]
pub(super) enum RequestError {
    Malformed(String),
    NoSuchGame,
    NotStarted,
    NoSuchAction,
    NoSuchSeat,
    BadState,
    Play(PlayError),
    InBatch(usize, Box<Self>),
}

impl RequestError {
    const fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "not_a_request",
            Self::NoSuchGame => "no_such_game",
            Self::NotStarted => "not_begun",
            Self::NoSuchAction => "no_such_action",
            Self::NoSuchSeat => "no_such_seat",
            Self::BadState => "bad_state",
            Self::Play(PlayError::Over) => "game_over",
            Self::Play(PlayError::Illegal(_)) => "illegal",
            Self::InBatch(_, refused) => refused.code(),
        }
    }

    /// Writes the answer of a rejected request: its code, its message and their details.
    pub(super) fn write(&self, out: &mut String) {
        #[derive(Serialize)]
        struct ErrorAnswer<'a> {
            error: &'a str,
            message: String,
            /// The code of the rules' refusal.
            #[serde(skip_serializing_if = "Option::is_none")]
            refusal: Option<&'a str>,
            /// The index of the game within a batch.
            #[serde(skip_serializing_if = "Option::is_none")]
            game: Option<usize>,
        }
        let refusal = match self {
            Self::Play(PlayError::Illegal(refusal)) => *refusal,
            Self::Play(PlayError::Over)
            | variants!(Self: Malformed, NoSuchGame, NotStarted, NoSuchAction, NoSuchSeat, BadState,
                InBatch) => None,
        };
        let game = if let Self::InBatch(game, _) = self { Some(*game) } else { None };
        push_json(
            out,
            &ErrorAnswer { error: self.code(), message: self.to_string(), refusal, game },
        );
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "invalid request: {why}"),
            Self::NoSuchGame => f.write_str("there is no game with this number"),
            Self::NotStarted => f.write_str("the game has not started: reset it with a seed"),
            Self::NoSuchAction => f.write_str("there is no action with this number or name"),
            Self::NoSuchSeat => f.write_str("there is no such seat, or no seat is to act"),
            Self::BadState => f.write_str("not a saved game of this game and rule set"),
            Self::Play(why) => fmt::Display::fmt(why, f),
            Self::InBatch(game, why) => write!(f, "game {game} of the batch: {why}"),
        }
    }
}
