//! The way to a table, as `src/lobby` has it: a place is reserved in the room's list, the player
//! bound to the table, the table created if it is new, the seat taken, the claim made to last.

use std::rc::Rc;

use crate::simulation::driver::score as listed_score;
use crate::simulation::node::Node;
use crate::simulation::postgres::{Answer, Operation};
use crate::simulation::redis::{Reply, Request, SeatClaim};
use crate::simulation::world::written;
use crate::{Failure, Limits, Listing, Unavailable};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::table::{Input, PlayerId, Rejection, Table, TableId};

/// Tables that turn out to be full before a player gives up and asks again.
const ATTEMPTS: usize = 8;

/// Why a player gets no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LobbyError {
    TooFewCoins,
    RoomClosed,
    Seating,
    Unavailable,
}

impl From<Unavailable> for LobbyError {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}

impl Node {
    /// A seat in the room. Who sits somewhere already is sent back there.
    pub(super) async fn seat(
        self: &Rc<Self>,
        player: PlayerId,
        name: &str,
    ) -> Result<TableId, LobbyError> {
        if let Some(table) = self.seated_at(player).await? {
            return Ok(table);
        }
        let room = self.room();
        if !room.is_open {
            return Err(LobbyError::RoomClosed);
        }
        let (terms, revision) = (room.terms, room.revision);
        let wallet = self.world.postgres(self.run, Operation::Wallet { player }).await;
        let Some(Ok(Answer::Wallet(wallet))) = wallet else {
            return Err(LobbyError::Unavailable);
        };
        if terms.wallet_min::<Tongits>().is_none_or(|least| wallet < least) {
            return Err(LobbyError::TooFewCoins);
        }
        let mut full = Vec::new();
        for _ in 0..ATTEMPTS {
            let new = TableId(self.world.id());
            let score = 10 + 2;
            let skip = full.clone();
            let Reply::Table(table) = self.redis(Request::Reserve { new, score, skip }).await?
            else {
                return Err(LobbyError::Unavailable);
            };
            if !self.flag(Request::Bind { player, table }).await? {
                if let Some(copy) = self.look(table).await? {
                    let score = listed_score(&Listing::of(&copy));
                    self.redis(Request::List { table, score }).await?;
                }
                return Err(LobbyError::Seating);
            }
            let snapshot =
                written(&Table::<Tongits>::new(table, terms.clone()).of_revision(revision));
            self.redis(Request::Found {
                table,
                tag: self.world.tag(),
                snapshot,
                idle_ms: Limits::SERVICE.idle_ms,
            })
            .await?;
            let name = String::from(name);
            match self.submit(table, Input::sit(player, name)).await {
                Ok(_) | Err(Failure::Rejected(Rejection::AlreadySeated)) => {
                    return self.confirm(player, table).await;
                }
                Err(Failure::Rejected(_) | Failure::Missing | Failure::Halted) => {
                    self.redis(Request::Release { player, table }).await?;
                    full.push(table);
                }
                Err(Failure::OtherVersion | Failure::Unavailable(_)) => {
                    return Err(LobbyError::Unavailable);
                }
            }
        }
        Err(LobbyError::Seating)
    }

    /// Where a player sits, if anywhere.
    pub(super) async fn seated_at(
        self: &Rc<Self>,
        player: PlayerId,
    ) -> Result<Option<TableId>, LobbyError> {
        let table = match self.seat_claim(player).await? {
            SeatClaim::None => return Ok(None),
            SeatClaim::Pending(table) | SeatClaim::Held(table) => table,
        };
        let copy = self.look(table).await?;
        let seated = copy.is_some_and(|copy| copy.seat_of(player).is_some());
        match (seated, self.seat_claim(player).await?) {
            (true, SeatClaim::Held(now)) if now == table => Ok(Some(table)),
            (true, SeatClaim::Pending(now)) if now == table => {
                self.confirm(player, table).await.map(Some)
            }
            (false, SeatClaim::Held(now)) if now == table => {
                self.redis(Request::Release { player, table }).await?;
                Ok(None)
            }
            (true | false, SeatClaim::None) => Ok(None),
            (true | false, SeatClaim::Held(_) | SeatClaim::Pending(_)) => Err(LobbyError::Seating),
        }
    }

    async fn seat_claim(&self, player: PlayerId) -> Result<SeatClaim, LobbyError> {
        match self.redis(Request::SeatClaim { player }).await? {
            Reply::SeatClaim(seat_claim) => Ok(seat_claim),
            _ => Err(LobbyError::Unavailable),
        }
    }

    /// Makes a fresh claim last. If it has expired meanwhile the seat is given up again.
    async fn confirm(
        self: &Rc<Self>,
        player: PlayerId,
        table: TableId,
    ) -> Result<TableId, LobbyError> {
        if self.flag(Request::Confirm { player, table }).await? {
            return Ok(table);
        }
        match self.submit(table, Input::Leave { player }).await {
            Ok(_) | Err(Failure::Rejected(_) | Failure::Missing) => Err(LobbyError::Seating),
            Err(Failure::Halted | Failure::OtherVersion | Failure::Unavailable(_)) => {
                Err(LobbyError::Unavailable)
            }
        }
    }
}
