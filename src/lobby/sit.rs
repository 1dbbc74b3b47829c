//! Sitting down at a table where a place is reserved: bound, seated, confirmed. Every way to a
//! table ends here. Broken off anywhere, it can be done again for the same table.

use bahay_engine::table::{Input, PlayerId, Rejection, TableId};

use crate::live_store::SeatClaim;
use crate::tables::SubmitError;

use super::{Lobby, LobbyError};

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sat {
    Here,
    /// The player is bound to another table.
    Elsewhere,
    /// The table is full, closed, halted or gone.
    NoPlace,
}

/// Who is to sit down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sitter<'a> {
    pub(super) player: PlayerId,
    pub(super) name: &'a str,
    pub(super) avatar: Option<&'a str>,
    /// A bot of the house (rule 8.6).
    pub(super) is_bot: bool,
}

impl Lobby {
    /// Whether the player sits there is unknown after an error: the claim expires, and the next
    /// request finds out.
    pub(super) async fn sit(&self, sitter: &Sitter<'_>, table: TableId) -> Result<Sat, LobbyError> {
        let Sitter { player, name, avatar, is_bot: bot } = *sitter;
        if !self.live.bind(player, table).await? {
            match self.live.seat_claim(player).await? {
                // By a process that did not come to an end, or that is at it: it ends alike.
                SeatClaim::Pending(bound) | SeatClaim::Held(bound) if bound == table => {}
                SeatClaim::Pending(_) | SeatClaim::Held(_) | SeatClaim::None => {
                    return Ok(Sat::Elsewhere);
                }
            }
        }
        let (name, avatar) = (name.to_owned(), avatar.map(str::to_owned));
        let input = Input::Sit { player, name, avatar, bot };
        match self.tables.submit(table, input).await {
            Ok(_) | Err(SubmitError::Rejected(Rejection::AlreadySeated)) => {
                match self.confirm(player, table).await {
                    Ok(_) => Ok(Sat::Here),
                    Err(LobbyError::Seating) => Ok(Sat::Elsewhere),
                    Err(error) => Err(error),
                }
            }
            // A halted table, or one that others play, is no place to sit down at.
            Err(
                SubmitError::Rejected(_)
                | SubmitError::Missing
                | SubmitError::Halted
                | SubmitError::OtherVersion,
            ) => {
                self.live.release(player, table).await?;
                // Else everybody would be sent there first.
                if let Err(error) = self.tables.list_again(table).await {
                    tracing::debug!(%table, %error, "a table that cannot be looked at stays listed");
                }
                Ok(Sat::NoPlace)
            }
            Err(SubmitError::Unavailable(error)) => Err(error.into()),
        }
    }

    /// Makes a fresh claim last. If it has expired meanwhile the seat is given up again.
    pub(super) async fn confirm(
        &self,
        player: PlayerId,
        table: TableId,
    ) -> Result<TableId, LobbyError> {
        if self.live.confirm(player, table).await? {
            return Ok(table);
        }
        match self.tables.submit(table, Input::Leave { player }).await {
            Ok(_) | Err(SubmitError::Rejected(_) | SubmitError::Missing) => {
                Err(LobbyError::Seating)
            }
            Err(SubmitError::Halted) => Err(LobbyError::Halted),
            Err(SubmitError::OtherVersion) => Err(LobbyError::OtherVersion),
            Err(SubmitError::Unavailable(error)) => Err(error.into()),
        }
    }
}
