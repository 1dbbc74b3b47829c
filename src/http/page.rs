//! Lists come in pages. A cursor says where the next one begins, and is sealed: it is good for
//! the list and the player that it was given to, and nobody can make one.

use std::fmt;
use std::str::FromStr;

use bahay_engine::hex::Hex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::auth::{Auth, Player, mark};

use super::{Code, Problem};

/// The longest cursor that is read, in bytes. Ours have less than 100.
const CURSOR_BYTES_MAX: usize = 256;

/// Between a position and its seal.
const SEAL: char = '~';

const LIMIT_DEFAULT: u32 = 20;
const LIMIT_MAX: u32 = 100;

/// Which part of a list is asked for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next_cursor` of the page before; nothing for the first page.
    #[param(max_length = 256)]
    pub cursor: Option<String>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    pub limit: Limit,
}

/// A page's length: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(u32);

impl Limit {
    pub fn items(self) -> u32 {
        self.0
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(LIMIT_DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            items @ 1..=LIMIT_MAX => Ok(Self(items)),
            items => Err(D::Error::custom(format_args!("a limit of {items} is not from 1 to 100"))),
        }
    }
}

/// A part of a list, and where the next one begins.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PageOf<T> {
    pub items: Vec<T>,
    /// Give it back as `cursor` for the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// Seals cursors and opens them.
#[derive(Clone)]
pub struct Cursors {
    key: [u8; 32],
}

impl fmt::Debug for Cursors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursors").finish_non_exhaustive()
    }
}

impl Cursors {
    pub fn new(auth: &Auth) -> Self {
        Self { key: auth.derived_key("cursors") }
    }

    /// A position in a list of this player, as the client gets it.
    pub fn seal(&self, list: &str, player: &Player, position: &impl fmt::Display) -> String {
        let position = position.to_string();
        let seal = self.mark(list, player, &position);
        format!("{position}{SEAL}{seal}")
    }

    /// The position, if this very list gave it to this player.
    pub fn open<C: FromStr>(
        &self,
        list: &str,
        player: &Player,
        cursor: Option<&str>,
    ) -> Result<Option<C>, Problem> {
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        let forged = || Code::CursorInvalid.plain();
        if cursor.len() > CURSOR_BYTES_MAX {
            return Err(forged());
        }
        let (position, seal) = cursor.rsplit_once(SEAL).ok_or_else(forged)?;
        // Whoever measures the comparison learns a seal for rows that are its own anyway.
        if self.mark(list, player, position).to_string() != seal {
            return Err(forged());
        }
        position.parse().map(Some).map_err(|_| forged())
    }

    fn mark(&self, list: &str, player: &Player, position: &str) -> Hex<8> {
        let digest = mark(&self.key, format!("{list} {} {position}", player.id).as_bytes());
        let mut short = [0; 8];
        short.copy_from_slice(&digest[..8]);
        Hex(short)
    }
}
