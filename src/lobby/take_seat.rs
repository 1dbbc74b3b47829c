//! Taking a reserved seat: claim, sit, confirm. Every path to a table ends here. The sequence can
//! be repeated for the same table after an interruption at any step.

use bahay_engine::table::{Input, PlayerId, Rejection, TableId};

use crate::live_store::SeatClaim;
use crate::tables::SubmitError;

use super::{Lobby, LobbyError};

/// The outcome of taking a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeatOutcome {
    Seated,
    /// The player has a claim to another table.
    BoundElsewhere,
    /// The table is full, closed, halted, ended or run by another version.
    NoSeat,
}

/// A player to be seated.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewOccupant<'a> {
    pub(super) player: PlayerId,
    pub(super) name: &'a str,
    pub(super) avatar: Option<&'a str>,
    /// Marks a house bot (rule 8.6).
    pub(super) is_bot: bool,
}

impl Lobby {
    /// Claims, takes and confirms a seat at a table.
    ///
    /// # Errors
    /// After an error it is unknown whether the player sits there: the claim expires, and the next
    /// request resolves it.
    pub(super) async fn take_seat(
        &self,
        occupant: &NewOccupant<'_>,
        table: TableId,
    ) -> Result<SeatOutcome, LobbyError> {
        let NewOccupant { player, name, avatar, is_bot: bot } = *occupant;
        if !self.live.claim_seat(player, table).await? {
            match self.live.seat_claim(player).await? {
                // The claim is left by an interrupted process, or held by a concurrent one; both
                // end in the same state.
                SeatClaim::Pending(bound) | SeatClaim::Held(bound) if bound == table => {}
                SeatClaim::Pending(_) | SeatClaim::Held(_) | SeatClaim::None => {
                    return Ok(SeatOutcome::BoundElsewhere);
                }
            }
        }
        let name = name.to_owned();
        let avatar = avatar.map(str::to_owned);
        let input = Input::Sit { player, name, avatar, bot };
        match self.tables.submit(table, input).await {
            Ok(_) | Err(SubmitError::Rejected(Rejection::AlreadySeated)) => {
                match self.confirm_seat(player, table).await {
                    Ok(_) => Ok(SeatOutcome::Seated),
                    Err(LobbyError::Seating) => Ok(SeatOutcome::BoundElsewhere),
                    Err(error) => Err(error),
                }
            }
            // A table that is halted or run by another version takes no players.
            Err(
                SubmitError::Rejected(_)
                | SubmitError::Missing
                | SubmitError::Halted
                | SubmitError::OtherVersion,
            ) => {
                self.live.release_seat_claim(player, table).await?;
                // A stale listing would send every player to this table first.
                if let Err(error) = self.tables.refresh_listing(table).await {
                    tracing::debug!(%table, %error, "a table that cannot be read stays listed");
                }
                Ok(SeatOutcome::NoSeat)
            }
            Err(SubmitError::Unavailable(error)) => Err(error.into()),
        }
    }

    /// Makes a pending claim permanent. Gives the seat up again if the claim has expired.
    pub(super) async fn confirm_seat(
        &self,
        player: PlayerId,
        table: TableId,
    ) -> Result<TableId, LobbyError> {
        if self.live.confirm_seat_claim(player, table).await? {
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
