//! The cursor of a list of games. Clients treat it as opaque.

use std::fmt;
use std::str::FromStr;

use bahay_engine::table::GameId;
use uuid::Uuid;

/// The position below the last listed game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(super) finished_at_ms: i64,
    pub(super) game: GameId,
}

/// The text is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this list")]
pub struct ParseCursorError;

impl Cursor {
    /// The position above every game: the end of the year 9998.
    pub(super) const NEWEST: Self =
        Self { finished_at_ms: 253_370_764_799_999, game: GameId(Uuid::max()) };
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}", self.finished_at_ms, self.game.0.simple())
    }
}

impl FromStr for Cursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let (time, game) = text.split_once('.').ok_or(ParseCursorError)?;
        let finished_at_ms = i64::from_str_radix(time, 16).map_err(|_| ParseCursorError)?;
        let game = Uuid::try_parse(game).map(GameId).map_err(|_| ParseCursorError)?;
        if !(0..=Self::NEWEST.finished_at_ms).contains(&finished_at_ms) {
            return Err(ParseCursorError);
        }
        Ok(Self { finished_at_ms, game })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, ParseCursorError};

    #[test]
    fn a_cursor_round_trips() {
        let cursor = Cursor { finished_at_ms: 1_750_000_000_123, ..Cursor::NEWEST };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", ".", "1f", "-1.0", "zz.zz", "7fffffffffffffff.0"] {
            assert_eq!(text.parse::<Cursor>(), Err(ParseCursorError), "{text}");
        }
    }
}
