//! Cursor pagination. A cursor names the position at which the next page begins. It is sealed with
//! a key of the server, so that it is valid only for the list and the owner for which it was
//! issued, and cannot be forged.

use std::fmt;
use std::future::Future;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use bahay_api::{NoFilter, PageOf, PageQuery};
use bahay_engine::hex::Hex;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::extractors::Query;
use crate::auth::{Auth, Player, hmac_sha256};
use crate::clock::{BoundedTimestamp, Timestamp};
use crate::db::Page;
use crate::http::{Code, CodeExt as _, Problem};

/// The maximum length of a cursor, in bytes. The server's own cursors have less than 100.
const CURSOR_BYTES_MAX: usize = 256;

/// The separator between a position and its seal.
const SEAL: char = '~';

/// The account for which a cursor is issued.
pub trait CursorOwner {
    fn owner(&self) -> Uuid;
}

impl CursorOwner for Player {
    fn owner(&self) -> Uuid {
        self.id.0
    }
}

/// The sort key of the last item of a page, after which the next page begins.
pub(crate) trait Position: Sized {
    fn to_text(&self) -> String;

    fn from_text(text: &str) -> Option<Self>;
}

impl Position for Uuid {
    fn to_text(&self) -> String {
        self.simple().to_string()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::try_parse(text).ok()
    }
}

/// Positive numbers, such as ids of operations.
impl Position for i64 {
    fn to_text(&self) -> String {
        format!("{self:x}")
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::from_str_radix(text, 16).ok().filter(|number| *number > 0)
    }
}

/// An operation with the number of a transfer.
impl Position for (i64, i16) {
    fn to_text(&self) -> String {
        format!("{:x}.{:x}", self.0, self.1)
    }

    fn from_text(text: &str) -> Option<Self> {
        let (operation, number) = text.split_once('.')?;
        let number = i16::from_str_radix(number, 16).ok().filter(|number| *number > 0)?;
        Some((i64::from_text(operation)?, number))
    }
}

impl Position for (Timestamp, Uuid) {
    fn to_text(&self) -> String {
        format!("{:x}.{}", self.0.ms(), self.1.simple())
    }

    fn from_text(text: &str) -> Option<Self> {
        let (ms, id) = text.split_once('.')?;
        let time = Timestamp::from_ms(i64::from_str_radix(ms, 16).ok()?);
        Some((BoundedTimestamp::new(time).ok()?.into(), Uuid::try_parse(id).ok()?))
    }
}

/// An amount that is not negative, a time and an id.
impl Position for (i64, Timestamp, Uuid) {
    fn to_text(&self) -> String {
        format!("{:x}.{}", self.0, (self.1, self.2).to_text())
    }

    fn from_text(text: &str) -> Option<Self> {
        let (amount, rest) = text.split_once('.')?;
        let amount = i64::from_str_radix(amount, 16).ok().filter(|amount| *amount >= 0)?;
        let (at, id) = Position::from_text(rest)?;
        Some((amount, at, id))
    }
}

/// A caller's request for one page of a list.
#[derive(Clone, Debug)]
pub(crate) struct PageRequest<C, F = NoFilter> {
    pub(crate) caller: C,
    pub(crate) filter: F,
    cursor: Option<String>,
    /// The maximum number of items.
    limit: u32,
    cursors: Cursors,
}

impl<C: CursorOwner, F> PageRequest<C, F> {
    pub(crate) fn new(caller: C, query: PageQuery<F>, limit: u32, cursors: Cursors) -> Self {
        let PageQuery { filter, cursor, .. } = query;
        Self { caller, filter, cursor, limit, cursors }
    }

    /// Returns true if the list is read from its beginning.
    pub(crate) fn is_first_page(&self) -> bool {
        self.cursor.is_none()
    }

    /// Reads the page of a list that begins at the cursor. `read` receives the position of the
    /// cursor and the maximum number of items. Cursors are bound to the name of the list, which
    /// therefore contains the filter.
    ///
    /// # Errors
    /// `cursor_invalid`, or the error of `read`.
    pub(crate) async fn read<T, P, E, R>(
        &self,
        list: &str,
        read: impl FnOnce(Option<P>, u32) -> R,
    ) -> Result<PageOf<T>, Problem>
    where
        P: Position,
        R: Future<Output = Result<Page<T, P>, E>>,
        Problem: From<E>,
    {
        let below = self.cursors.position(list, &self.caller, self.cursor.as_deref())?;
        let page = read(below, self.limit).await?;
        Ok(self.cursors.page(list, &self.caller, page))
    }
}

impl<S, C, F> FromRequestParts<S> for PageRequest<C, F>
where
    S: Send + Sync,
    Cursors: FromRef<S>,
    C: CursorOwner + FromRequestParts<S> + Send,
    F: DeserializeOwned,
    Problem: From<C::Rejection>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let caller = C::from_request_parts(parts, state).await?;
        let Query(query) = Query::<PageQuery<F>>::from_request_parts(parts, state).await?;
        let limit = query.limit.items();
        Ok(Self::new(caller, query, limit, Cursors::from_ref(state)))
    }
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

    /// Returns a page with its position sealed for this list and this owner.
    fn page<T>(
        &self,
        list: &str,
        owner: &impl CursorOwner,
        page: Page<T, impl Position>,
    ) -> PageOf<T> {
        let seal = |position: String| {
            let seal = compute_seal(&self.keys[0], list, owner.owner(), &position);
            format!("{position}{SEAL}{seal}")
        };
        PageOf { items: page.items, next_cursor: page.next.map(|next| seal(next.to_text())) }
    }

    /// Returns the position in a cursor that was issued for this list and this owner, or `None`
    /// without a cursor.
    ///
    /// # Errors
    /// `cursor_invalid` for any other cursor.
    fn position<P: Position>(
        &self,
        list: &str,
        owner: &impl CursorOwner,
        cursor: Option<&str>,
    ) -> Result<Option<P>, Problem> {
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
        P::from_text(position).map(Some).ok_or_else(forged)
    }
}

fn compute_seal(key: &[u8; 32], list: &str, owner: Uuid, position: &str) -> Hex<8> {
    let digest = hmac_sha256(key, format!("{list} {owner} {position}").as_bytes());
    let mut short = [0; 8];
    short.copy_from_slice(&digest[..8]);
    Hex(short)
}

#[cfg(test)]
mod tests {
    use super::Position;
    use crate::clock::Timestamp;
    use uuid::Uuid;

    #[test]
    fn positions_survive_their_text() {
        let position = (Timestamp::from_ms(1_772_366_400_250), Uuid::from_u128(7));
        assert_eq!(<(Timestamp, Uuid)>::from_text(&position.to_text()), Some(position));
        assert_eq!(Uuid::from_text(&position.1.to_text()), Some(position.1));
        assert_eq!(i64::from_text(&255_i64.to_text()), Some(255));
        for text in ["", ".", "x", "1", "1.2", "-1.00000000000000000000000000000007"] {
            assert_eq!(<(Timestamp, Uuid)>::from_text(text), None, "{text}");
        }
        for text in ["0", "-1", "x", "", "8000000000000000"] {
            assert_eq!(i64::from_text(text), None, "{text}");
        }
        assert_eq!(<(i64, i16)>::from_text(&(255_i64, 9_i16).to_text()), Some((255, 9)));
        for text in ["", "a", "a.", ".a", "a.0", "a.-1", "0.a", "a.8000", "a.a.a"] {
            assert_eq!(<(i64, i16)>::from_text(text), None, "{text}");
        }
    }
}
