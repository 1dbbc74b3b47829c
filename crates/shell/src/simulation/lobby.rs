//! The assignment of seats, as in `src/lobby`: reserve a place in the room's list, bind the player
//! to the table, create the table if it is new, take the seat, confirm the claim.

use std::rc::Rc;

use crate::simulation::driver::listing_score;
use crate::simulation::node::Node;
use crate::simulation::postgres::{LedgerReply, Operation};
use crate::simulation::redis::{Reply, Request, SeatClaim};
use crate::simulation::world::to_json;
use crate::{Limits, Listing, TableError, UnavailableError};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::table::{Input, PlayerId, Rejection, Table, TableId};

/// The number of full tables after which a player gives up.
const ATTEMPTS: usize = 8;

/// The reason why a player gets no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LobbyError {
    TooFewCoins,
    RoomClosed,
    Seating,
    Unavailable,
}

impl From<UnavailableError> for LobbyError {
    fn from(_: UnavailableError) -> Self {
        Self::Unavailable
    }
}

impl Node {
    /// Returns a seat in the room. A seated player gets its current table.
    pub(super) async fn take_seat(
        self: &Rc<Self>,
        player: PlayerId,
        name: &str,
    ) -> Result<TableId, LobbyError> {
        if let Some(table) = self.find_seat(player).await? {
            return Ok(table);
        }
        let room = self.room();
        if !room.is_open {
            return Err(LobbyError::RoomClosed);
        }
        let terms = room.terms;
        let revision = room.revision;
        let wallet = self.world.call_postgres(self.run, Operation::Wallet { player }).await;
        let Some(Ok(LedgerReply::Wallet(wallet))) = wallet else {
            return Err(LobbyError::Unavailable);
        };
        if terms.wallet_min().is_none_or(|least| wallet < least) {
            return Err(LobbyError::TooFewCoins);
        }
        let mut full = Vec::new();
        for _ in 0..ATTEMPTS {
            let new = TableId(self.world.new_id());
            let score = 10 + 2;
            let skip = full.clone();
            let Reply::Table(table) =
                self.call_redis(Request::Reserve { new, score, skip }).await?
            else {
                return Err(LobbyError::Unavailable);
            };
            if !self.call_redis_flag(Request::Bind { player, table }).await? {
                if let Some(copy) = self.read_table(table).await? {
                    let score = listing_score(&Listing::from_table(&copy));
                    self.call_redis(Request::List { table, score }).await?;
                }
                return Err(LobbyError::Seating);
            }
            let snapshot =
                to_json(&Table::<Tongits>::new(table, terms.clone()).with_revision(revision));
            self.call_redis(Request::Create {
                table,
                tag: self.world.new_tag(),
                snapshot,
                idle_ms: Limits::SERVICE.idle_ms,
            })
            .await?;
            let name = String::from(name);
            match self.submit(table, Input::sit(player, name)).await {
                Ok(_) | Err(TableError::Rejected(Rejection::AlreadySeated)) => {
                    return self.confirm(player, table).await;
                }
                Err(TableError::Rejected(_) | TableError::Missing | TableError::Halted) => {
                    self.call_redis(Request::Release { player, table }).await?;
                    full.push(table);
                }
                Err(TableError::OtherVersion | TableError::Unavailable(_)) => {
                    return Err(LobbyError::Unavailable);
                }
            }
        }
        Err(LobbyError::Seating)
    }

    /// Returns the table where a player sits.
    pub(super) async fn find_seat(
        self: &Rc<Self>,
        player: PlayerId,
    ) -> Result<Option<TableId>, LobbyError> {
        let table = match self.seat_claim(player).await? {
            SeatClaim::None => return Ok(None),
            SeatClaim::Pending(table) | SeatClaim::Held(table) => table,
        };
        let copy = self.read_table(table).await?;
        let seated = copy.is_some_and(|copy| copy.seat_of(player).is_some());
        match (seated, self.seat_claim(player).await?) {
            (true, SeatClaim::Held(now)) if now == table => Ok(Some(table)),
            (true, SeatClaim::Pending(now)) if now == table => {
                self.confirm(player, table).await.map(Some)
            }
            (false, SeatClaim::Held(now)) if now == table => {
                self.call_redis(Request::Release { player, table }).await?;
                Ok(None)
            }
            (true | false, SeatClaim::None) => Ok(None),
            (true | false, SeatClaim::Held(_) | SeatClaim::Pending(_)) => Err(LobbyError::Seating),
        }
    }

    async fn seat_claim(&self, player: PlayerId) -> Result<SeatClaim, LobbyError> {
        match self.call_redis(Request::SeatClaim { player }).await? {
            Reply::SeatClaim(seat_claim) => Ok(seat_claim),
            _ => Err(LobbyError::Unavailable),
        }
    }

    /// Confirms a pending claim. If it has expired meanwhile, the seat is given up.
    async fn confirm(
        self: &Rc<Self>,
        player: PlayerId,
        table: TableId,
    ) -> Result<TableId, LobbyError> {
        if self.call_redis_flag(Request::Confirm { player, table }).await? {
            return Ok(table);
        }
        match self.submit(table, Input::Leave { player }).await {
            Ok(_) | Err(TableError::Rejected(_) | TableError::Missing) => Err(LobbyError::Seating),
            Err(TableError::Halted | TableError::OtherVersion | TableError::Unavailable(_)) => {
                Err(LobbyError::Unavailable)
            }
        }
    }
}
