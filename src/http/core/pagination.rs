//! Cursor pagination. A cursor names the position at which the next page begins. It is sealed with
//! a key of the server, so that it is valid only for the list and the owner for which it was
//! issued, and cannot be forged.

use std::fmt;
use std::str::FromStr;

use bahay_engine::hex::Hex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::auth::{Auth, Player, hmac_sha256};

use crate::http::{Code, Problem};

/// The maximum length of a cursor, in bytes. The server's own cursors have less than 100.
const CURSOR_BYTES_MAX: usize = 256;

/// The separator between a position and its seal.
const SEAL: char = '~';

const LIMIT_DEFAULT: u32 = 20;
const LIMIT_MAX: u32 = 100;

/// Selects a page of a list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[param(max_length = 256)]
    pub cursor: Option<String>,
    /// The maximum number of items.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    pub limit: Limit,
}

/// The maximum number of items of a page: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(u32);

impl Limit {
    /// Creates a limit. The error is a text for the client.
    pub(crate) fn new(items: u32) -> Result<Self, String> {
        match items {
            1..=LIMIT_MAX => Ok(Self(items)),
            _ => Err(format!("a limit of {items} is not from 1 to 100")),
        }
    }

    pub fn items(self) -> u32 {
        self.0
    }
}

/// The account for which a cursor is issued.
pub trait CursorOwner {
    fn owner(&self) -> Uuid;
}

impl CursorOwner for Player {
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
        Self::new(u32::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// One page of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PageOf<T> {
    pub items: Vec<T>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// Seals and verifies cursors.
#[derive(Clone)]
pub struct Cursors {
    /// The keys. The first one seals; cursors sealed with any of them are accepted.
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

    /// Returns the cursor of a position in a list of this owner.
    pub fn seal(
        &self,
        list: &str,
        owner: &impl CursorOwner,
        position: &impl fmt::Display,
    ) -> String {
        let position = position.to_string();
        let seal = compute_seal(&self.keys[0], list, owner.owner(), &position);
        format!("{position}{SEAL}{seal}")
    }

    /// Returns the position in a cursor that was issued for this list and this owner, or `None`
    /// without a cursor.
    ///
    /// # Errors
    /// `cursor_invalid` for any other cursor.
    pub fn open<C: FromStr>(
        &self,
        list: &str,
        owner: &impl CursorOwner,
        cursor: Option<&str>,
    ) -> Result<Option<C>, Problem> {
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        let forged = || Code::CursorInvalid.problem();
        if cursor.len() > CURSOR_BYTES_MAX {
            return Err(forged());
        }
        let (position, seal) = cursor.rsplit_once(SEAL).ok_or_else(forged)?;
        // The comparison does not run in constant time. A timing attack would only yield the seal
        // of a position in the attacker's own list.
        let matches = |key| compute_seal(key, list, owner.owner(), position).to_string() == seal;
        if !self.keys.iter().any(matches) {
            return Err(forged());
        }
        position.parse().map(Some).map_err(|_| forged())
    }
}

fn compute_seal(key: &[u8; 32], list: &str, owner: Uuid, position: &str) -> Hex<8> {
    let digest = hmac_sha256(key, format!("{list} {owner} {position}").as_bytes());
    let mut short = [0; 8];
    short.copy_from_slice(&digest[..8]);
    Hex(short)
}
