//! Performs the calls of the shell's [`Seating`], the counterpart of `src/lobby/seats.rs`.

use std::rc::Rc;

use bahay_engine::game::GameRules as _;
use bahay_engine::table::{Input, PlayerId, Table, TableId};

use crate::lobby::{Seating, SeatingAnswer, SeatingCall, SeatingEnd, check_wallet};
use crate::simulation::SimulatedGame;
use crate::simulation::services::postgres::{LedgerReply, Operation};
use crate::simulation::services::redis::{Reply, Request};
use crate::simulation::to_json;
use crate::{Limits, Request as TableRequest, RoomTerms, UnavailableError};

use super::Node;

/// The score of a new table in the list of its room, before the reserved seat is counted.
const NEW_TABLE_SCORE: u32 = 10;

/// The reason why a player gets no seat, with its code.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum LobbyError {
    #[error("too_few_coins")]
    TooFewCoins,
    #[error("room_closed")]
    RoomClosed,
    #[error("seating")]
    Seating,
    #[error("unavailable")]
    Unavailable,
}

impl From<UnavailableError> for LobbyError {
    fn from(_: UnavailableError) -> Self {
        Self::Unavailable
    }
}

impl<G: SimulatedGame> Node<G> {
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
        let wallet = self.world.call_postgres(self.run, Operation::Wallet { player }).await;
        let Some(Ok(LedgerReply::Wallet(wallet))) = wallet else {
            return Err(LobbyError::Unavailable);
        };
        let least = room.terms.wallet_min().ok_or(LobbyError::TooFewCoins)?;
        check_wallet(wallet, least, None).map_err(|_| LobbyError::TooFewCoins)?;
        let mut seating = Seating::in_room(None);
        match self.run_seating(&mut seating, player, name, &room).await? {
            SeatingEnd::Seated(table) => Ok(table),
            end => Err(seating_error(end)),
        }
    }

    /// Returns the table where a player sits.
    pub(super) async fn find_seat(
        self: &Rc<Self>,
        player: PlayerId,
    ) -> Result<Option<TableId>, LobbyError> {
        match self.run_seating(&mut Seating::find(), player, "", &self.room()).await? {
            SeatingEnd::Seated(table) => Ok(Some(table)),
            SeatingEnd::Unseated => Ok(None),
            end => Err(seating_error(end)),
        }
    }

    async fn run_seating(
        self: &Rc<Self>,
        seating: &mut Seating,
        player: PlayerId,
        name: &str,
        room: &RoomTerms<G::Rules>,
    ) -> Result<SeatingEnd, LobbyError> {
        while let Some(call) = seating.next_call() {
            let answer = self.perform_seating_call(call, player, name, room).await?;
            seating.handle_answer(answer);
        }
        seating.end().ok_or(LobbyError::Unavailable)
    }

    async fn perform_seating_call(
        self: &Rc<Self>,
        call: SeatingCall,
        player: PlayerId,
        name: &str,
        room: &RoomTerms<G::Rules>,
    ) -> Result<SeatingAnswer, UnavailableError> {
        let request = match call {
            SeatingCall::ReadClaim => Request::SeatClaim { player },
            SeatingCall::ReadSeat(table) => {
                let table = self.read_table(table).await?;
                let is_seated = |table: &Table<G>| table.seat_of(player).is_some();
                return Ok(SeatingAnswer::Flag(table.is_some_and(|table| is_seated(&table))));
            }
            SeatingCall::Reserve { full: skip } => {
                let new = TableId(self.world.new_id());
                let others = u32::from(room.terms.rules.seats().most).saturating_sub(1);
                Request::Reserve { new, score: NEW_TABLE_SCORE + others, skip }
            }
            SeatingCall::Create(table) => {
                let terms = room.terms.clone();
                let new = Table::<G>::new(table, terms).with_revision(room.revision);
                let snapshot = to_json(&new);
                let tag = self.world.new_tag();
                Request::Create { table, tag, snapshot, idle_ms: Limits::SERVICE.idle_ms }
            }
            SeatingCall::Claim(table) => Request::Bind { player, table },
            SeatingCall::Sit(table) => {
                let sat = self.submit(table, Input::sit(player, String::from(name))).await;
                return SeatingAnswer::from_submitted(sat);
            }
            SeatingCall::Confirm(table) => Request::Confirm { player, table },
            SeatingCall::Leave(table) => {
                return SeatingAnswer::from_submitted(
                    self.submit(table, Input::Leave { player }).await,
                );
            }
            SeatingCall::Release(table) => Request::Release { player, table },
            // The model of the list counts free seats and knows no reservations by player.
            SeatingCall::List(table) | SeatingCall::Unreserve(table) => {
                self.send_request(&self.slot(table), TableRequest::List).await;
                return Ok(SeatingAnswer::Done);
            }
        };
        Ok(match self.call_redis(request).await? {
            Reply::SeatClaim(claim) => SeatingAnswer::Claim(claim),
            Reply::Table(table) => SeatingAnswer::Reserved { table, is_kept_apart: false },
            Reply::Flag(flag) => SeatingAnswer::Flag(flag),
            _ => SeatingAnswer::Done,
        })
    }
}

fn seating_error(end: SeatingEnd) -> LobbyError {
    match end {
        SeatingEnd::Halted | SeatingEnd::OtherVersion => LobbyError::Unavailable,
        SeatingEnd::Seated(_) | SeatingEnd::Unseated | SeatingEnd::Busy | SeatingEnd::NoSeat => {
            LobbyError::Seating
        }
    }
}
