//! The way to a table: the rooms, and a seat for who asks. First come, first seated: a table
//! whose POT waits for players is filled first, then one with free seats, then a new one.
//!
//! A player is bound to one table at a time (rule 8.4). The bond is taken before the seat and
//! confirmed after it, and expires if the process dies in between, so that no race seats an
//! account twice. The table's own journal decides who sits there.

mod rooms;

use bahay_engine::table::{Input, PlayerId, Rejection, TableId};

use crate::entropy;
use crate::ledger::{Ledger, LedgerError};
use crate::live::{Bond, Live, Unavailable};
use crate::tables::catalog::Tongits;
use crate::tables::{SubmitError, Tables, Unready};

pub use rooms::{Room, house_rooms};

/// Tables that turn out to be full before a player gives up and asks again.
const ATTEMPTS: usize = 8;

/// The rooms and the way into them.
#[derive(Clone, Debug)]
pub struct Lobby {
    rooms: std::sync::Arc<[Room]>,
    tables: Tables<Tongits>,
    live: Live,
    ledger: Ledger,
}

/// Why a player gets no seat.
#[derive(Debug, thiserror::Error)]
pub enum LobbyError {
    #[error("there is no such room")]
    NoSuchRoom,
    /// The wallet holds less than the room asks for (rule 6.9).
    #[error("this room asks for a wallet of at least {needed} coins")]
    TooFewCoins { needed: bahay_engine::coins::Coins },
    /// The same player is being seated by another request.
    #[error("another request of yours is being seated: ask again")]
    Seating,
    #[error("you do not sit at a table")]
    NotSeated,
    /// The player's table was halted.
    #[error("your table was halted: an operator decides what becomes of it")]
    Halted,
    /// The player's table is played by nodes of another version.
    #[error("another node plays your table: ask again")]
    OtherVersion,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl From<Unready> for LobbyError {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::Halted => Self::Halted,
            Unready::OtherVersion => Self::OtherVersion,
            Unready::Unavailable(error) => Self::Unavailable(error),
        }
    }
}

impl Lobby {
    pub fn new(rooms: Vec<Room>, tables: Tables<Tongits>, live: Live, ledger: Ledger) -> Self {
        Self { rooms: rooms.into(), tables, live, ledger }
    }

    pub fn rooms(&self) -> &[Room] {
        &self.rooms
    }

    pub fn room(&self, id: &str) -> Option<&Room> {
        self.rooms.iter().find(|room| room.id() == id)
    }

    /// The tables behind the rooms.
    pub fn tables(&self) -> &Tables<Tongits> {
        &self.tables
    }

    /// A seat in a room. Who sits somewhere already is sent back there, whatever the room.
    pub async fn seat(
        &self,
        player: PlayerId,
        name: &str,
        room: &str,
    ) -> Result<TableId, LobbyError> {
        let room = self.room(room).ok_or(LobbyError::NoSuchRoom)?;
        if let Some(table) = self.seated_at(player).await? {
            return Ok(table);
        }
        let wallet = self.ledger.wallet(player).await?;
        if wallet.available < room.wallet_min() {
            return Err(LobbyError::TooFewCoins { needed: room.wallet_min() });
        }
        let mut full = Vec::new();
        for _ in 0..ATTEMPTS {
            let new = TableId(entropy::uuid());
            let seats = room.seats();
            let table = self.live.reserve(room.id(), new, seats, &full).await?;
            if !self.live.bind(player, table).await? {
                self.relist(table).await?;
                return Err(LobbyError::Seating);
            }
            self.tables.found(table, room.terms().clone()).await?;
            let input = Input::Sit { player, name: name.to_owned() };
            match self.tables.submit(table, input).await {
                Ok(_) | Err(SubmitError::Rejected(Rejection::AlreadySeated)) => {
                    return self.confirm(player, table).await;
                }
                // A halted table, or one that others play, is no place to sit down at.
                Err(
                    SubmitError::Rejected(_)
                    | SubmitError::Missing
                    | SubmitError::Halted
                    | SubmitError::OtherVersion,
                ) => {
                    self.live.release(player, table).await?;
                    full.push(table);
                }
                // Whether the player sits there is unknown. The bond expires; the next request
                // finds out.
                Err(SubmitError::Unavailable(error)) => return Err(error.into()),
            }
        }
        Err(LobbyError::Seating)
    }

    /// Where a player sits, if anywhere.
    pub async fn seated_at(&self, player: PlayerId) -> Result<Option<TableId>, LobbyError> {
        let table = match self.live.bond(player).await? {
            Bond::None => return Ok(None),
            Bond::Pending(table) | Bond::Held(table) => table,
        };
        let seated =
            self.tables.look(table).await?.is_some_and(|copy| copy.seat_of(player).is_some());
        match (seated, self.live.bond(player).await?) {
            (true, Bond::Held(now)) if now == table => Ok(Some(table)),
            (true, Bond::Pending(now)) if now == table => {
                self.confirm(player, table).await.map(Some)
            }
            (false, Bond::Pending(now)) if now == table => Err(LobbyError::Seating),
            (false, Bond::Held(now)) if now == table => {
                // Left behind by a process that died after the seat was freed.
                self.live.release(player, table).await?;
                Ok(None)
            }
            (true | false, Bond::None) => Ok(None),
            (true | false, Bond::Held(_) | Bond::Pending(_)) => Err(LobbyError::Seating),
        }
    }

    /// Leaves the table: at once between games, after the game in the midst of one.
    pub async fn leave(&self, player: PlayerId) -> Result<TableId, LobbyError> {
        let table = self.seated_at(player).await?.ok_or(LobbyError::NotSeated)?;
        match self.tables.submit(table, Input::Leave { player }).await {
            Ok(_) => Ok(table),
            Err(SubmitError::Rejected(_) | SubmitError::Missing) => Err(LobbyError::NotSeated),
            Err(SubmitError::Halted) => Err(LobbyError::Halted),
            Err(SubmitError::OtherVersion) => Err(LobbyError::OtherVersion),
            Err(SubmitError::Unavailable(error)) => Err(error.into()),
        }
    }

    /// Makes a fresh bond last. If it has expired meanwhile the seat is given up again.
    async fn confirm(&self, player: PlayerId, table: TableId) -> Result<TableId, LobbyError> {
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

    /// Corrects the listing of a table where a place was reserved and not taken.
    async fn relist(&self, table: TableId) -> Result<(), LobbyError> {
        if let Some(copy) = self.tables.look(table).await? {
            let (free, has_pot) = (copy.seats_free(), !copy.pot().is_zero());
            self.live.list(&copy.terms().room, table, free, has_pot).await?;
        }
        Ok(())
    }
}
