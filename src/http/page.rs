//! Lists come in pages. A cursor says where the next one begins, and is sealed: it is good for
//! the list and whoever it was given to, and nobody can make one.

use std::fmt;
use std::str::FromStr;

use bahay_engine::hex::Hex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

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
    /// In words, why not.
    pub(super) fn of(items: u32) -> Result<Self, String> {
        match items {
            1..=LIMIT_MAX => Ok(Self(items)),
            _ => Err(format!("a limit of {items} is not from 1 to 100")),
        }
    }

    pub fn items(self) -> u32 {
        self.0
    }
}

/// Whoever a cursor is given to.
pub trait Owner {
    fn owner(&self) -> Uuid;
}

impl Owner for Player {
    fn owner(&self) -> Uuid {
        self.id.0
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(LIMIT_DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(u32::deserialize(deserializer)?).map_err(D::Error::custom)
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
    /// The first seals; cursors of all are opened.
    keys: Vec<[u8; 32]>,
}

impl fmt::Debug for Cursors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursors").finish_non_exhaustive()
    }
}

impl Cursors {
    pub fn new(auth: &Auth) -> Self {
        Self { keys: auth.derived_keys("cursors") }
    }

    /// A position in a list of this owner, as the client gets it.
    pub fn seal(&self, list: &str, owner: &impl Owner, position: &impl fmt::Display) -> String {
        let position = position.to_string();
        let seal = mark_of(&self.keys[0], list, owner.owner(), &position);
        format!("{position}{SEAL}{seal}")
    }

    /// The position, if this very list gave it to this owner.
    pub fn open<C: FromStr>(
        &self,
        list: &str,
        owner: &impl Owner,
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
        let is_of = |key| mark_of(key, list, owner.owner(), position).to_string() == seal;
        if !self.keys.iter().any(is_of) {
            return Err(forged());
        }
        position.parse().map(Some).map_err(|_| forged())
    }
}

fn mark_of(key: &[u8; 32], list: &str, owner: Uuid, position: &str) -> Hex<8> {
    let digest = mark(key, format!("{list} {owner} {position}").as_bytes());
    let mut short = [0; 8];
    short.copy_from_slice(&digest[..8]);
    Hex(short)
}
