//! The reasons for rejecting a request, and their answers.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use bahay_engine::variants;
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
    /// Returns the code and the message.
    fn describe(&self) -> (&'static str, String) {
        let (code, message) = match self {
            Self::Malformed(why) => return ("not_a_request", format!("invalid request: {why}")),
            Self::NoSuchGame => ("no_such_game", "there is no game with this number"),
            Self::NotStarted => ("not_begun", "the game has not started: reset it with a seed"),
            Self::NoSuchAction => ("no_such_action", "there is no action with this number or name"),
            Self::NoSuchSeat => ("no_such_seat", "there is no such seat, or no seat is to act"),
            Self::BadState => ("bad_state", "not a saved game of this game and rule set"),
            Self::Play(PlayError::Over) => ("game_over", "the game is over: reset it"),
            Self::Play(PlayError::Illegal(_)) => ("illegal", "the action is not legal now"),
            Self::InBatch(game, refused) => {
                let (code, why) = refused.describe();
                return (code, format!("game {game} of the batch: {why}"));
            }
        };
        (code, message.to_owned())
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
        let (error, message) = self.describe();
        push_json(out, &ErrorAnswer { error, message, refusal, game });
    }
}
