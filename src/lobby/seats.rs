//! Seats: performs the calls of the shell's [`Seating`], and seats players in rooms at once.

use bahay_engine::table::{Input, PlayerId, TableId};
use bahay_shell::lobby::{Seating, SeatingAnswer, SeatingCall, SeatingEnd};

use crate::entropy;
use crate::live_store::{SeatReservation, WaitReason};
use crate::rate_limit::Address;
use crate::ratings::MatchmakingProfile;

use super::admission::check_room_wallet;
use super::{Lobby, LobbyError, Room};

/// A seat in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomSeat {
    pub table: TableId,
    /// The reason why the player waits alone at a new table although other tables have free seats.
    pub reason: Option<WaitReason>,
}

/// A player to be seated, with the reservation of its seat.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeatRequest<'a> {
    pub(super) player: PlayerId,
    pub(super) name: &'a str,
    pub(super) avatar: Option<&'a str>,
    /// Marks a house bot (rule 8.6).
    pub(super) is_bot: bool,
    pub(super) reserve: SeatReservation<'a>,
    /// The room of new tables.
    pub(super) room: Option<&'a Room>,
}

impl<'a> SeatRequest<'a> {
    /// Returns the request of a player for a seat at an existing table.
    pub(super) fn new(
        player: PlayerId,
        profile: &'a MatchmakingProfile,
        reserve: SeatReservation<'a>,
    ) -> Self {
        let avatar = profile.avatar.as_deref();
        Self { player, name: &profile.name, avatar, is_bot: false, reserve, room: None }
    }
}

impl Lobby {
    /// Seats a player in a room without knowledge of its network: see [`Lobby::seat_from`].
    pub async fn seat(&self, player: PlayerId, room: &str) -> Result<TableId, LobbyError> {
        Ok(self.seat_from(player, room, None).await?.table)
    }

    /// Seats a player in a room at once. Returns the current table, whatever its room, if the
    /// player already sits at one.
    ///
    /// # Errors
    /// A [`LobbyError`] with the reason why the player gets no seat; [`LobbyError::Seating`] if
    /// another request seats the same player, or if every table tried was full.
    pub async fn seat_from(
        &self,
        player: PlayerId,
        room: &str,
        from: Option<Address>,
    ) -> Result<RoomSeat, LobbyError> {
        self.check_not_banned(player).await?;
        let room = self.room(room).ok_or(LobbyError::NoSuchRoom)?;
        if let Some(table) = self.seated_at(player).await? {
            return Ok(RoomSeat { table, reason: None });
        }
        if !room.is_open() {
            return Err(LobbyError::RoomClosed);
        }
        let wallet = self.ledger.wallet(player).await?;
        check_room_wallet(&room, wallet.available)?;
        self.require_account(player, &room).await?;
        self.require_socket(player).await?;
        let profile = self.room_profile(player, room.kind()).await?;
        self.check_no_shows(player, &profile, from).await?;
        let candidates = [self.candidate(player, &profile, from)];
        let [candidate] = &candidates;
        let vacated = self.replace_bot(&room, candidate).await?;
        let reserve = self.build_reservation(&room, &candidates);
        let request =
            SeatRequest { room: Some(&room), ..SeatRequest::new(player, &profile, reserve) };
        let mut seating = Seating::in_room(vacated);
        let end = self.run_seating(&mut seating, player, Some(&request)).await?;
        let table = self.finish_seating(player, end).await?;
        let reason = seating.is_kept_apart().then_some(WaitReason::OnlySameNetwork);
        Ok(RoomSeat { table, reason })
    }

    /// Returns the table at which a player was seated, and drops the ticket of that player.
    pub(super) async fn finish_seating(
        &self,
        player: PlayerId,
        end: SeatingEnd,
    ) -> Result<TableId, LobbyError> {
        let SeatingEnd::Seated(table) = end else { return Err(LobbyError::from_seating(end)) };
        self.live.drop_matching_ticket(player).await?;
        Ok(table)
    }

    /// Returns the table at which a player sits. Confirms a pending claim of a seated player and
    /// releases a claim that no seat corresponds to.
    pub async fn seated_at(&self, player: PlayerId) -> Result<Option<TableId>, LobbyError> {
        match self.run_seating(&mut Seating::find(), player, None).await? {
            SeatingEnd::Seated(table) => Ok(Some(table)),
            SeatingEnd::Unseated => Ok(None),
            end => Err(LobbyError::from_seating(end)),
        }
    }

    /// Leaves the table: at once between games, and after the game while one is running.
    pub async fn leave(&self, player: PlayerId) -> Result<TableId, LobbyError> {
        let table = self.seated_at(player).await?.ok_or(LobbyError::NotSeated)?;
        match self.tables.submit(table, Input::Leave { player }).await {
            Ok(_) => Ok(table),
            Err(error) => Err(LobbyError::from_table(error, LobbyError::NotSeated)),
        }
    }

    /// Takes a reserved seat at a table. If the player gets none, the reservation is released.
    ///
    /// # Errors
    /// After an error it is unknown whether the player sits there: the claim expires, and the next
    /// request resolves it.
    pub(super) async fn take_seat(
        &self,
        table: TableId,
        request: &SeatRequest<'_>,
    ) -> Result<SeatingEnd, LobbyError> {
        let mut seating = Seating::at_table(table);
        match self.run_seating(&mut seating, request.player, Some(request)).await? {
            end @ (SeatingEnd::Halted | SeatingEnd::OtherVersion) => {
                Err(LobbyError::from_seating(end))
            }
            end => Ok(end),
        }
    }

    async fn run_seating(
        &self,
        seating: &mut Seating,
        player: PlayerId,
        request: Option<&SeatRequest<'_>>,
    ) -> Result<SeatingEnd, LobbyError> {
        while let Some(call) = seating.next_call() {
            let answer = self.perform_seating_call(call, player, request).await?;
            seating.handle_answer(answer);
        }
        seating.end().ok_or(LobbyError::Seating)
    }

    async fn perform_seating_call(
        &self,
        call: SeatingCall,
        player: PlayerId,
        request: Option<&SeatRequest<'_>>,
    ) -> Result<SeatingAnswer, LobbyError> {
        let request = request.ok_or(LobbyError::Seating);
        Ok(match call {
            SeatingCall::ReadClaim => SeatingAnswer::Claim(self.live.seat_claim(player).await?),
            SeatingCall::ReadSeat(table) => {
                let table = self.tables.read_table(table).await?;
                SeatingAnswer::Flag(table.is_some_and(|table| table.seat_of(player).is_some()))
            }
            SeatingCall::Reserve { full } => {
                let new = TableId(entropy::uuid());
                let reserved = self.live.reserve(request?.reserve, new, &full).await?;
                let is_kept_apart = reserved.only_same_network && reserved.table == new;
                SeatingAnswer::Reserved { table: reserved.table, is_kept_apart }
            }
            SeatingCall::Create(table) => {
                if let Some(room) = request?.room {
                    let terms = room.terms().clone();
                    self.tables.create_at_revision(table, terms, room.revision()).await?;
                }
                SeatingAnswer::Done
            }
            SeatingCall::Claim(table) => {
                SeatingAnswer::Flag(self.live.claim_seat(player, table).await?)
            }
            SeatingCall::Sit(table) => {
                let SeatRequest { name, avatar, is_bot: bot, .. } = *request?;
                let avatar = avatar.map(str::to_owned);
                let sit = Input::Sit { player, name: name.to_owned(), avatar, bot };
                SeatingAnswer::from_submitted(self.tables.submit(table, sit).await)?
            }
            SeatingCall::Confirm(table) => {
                SeatingAnswer::Flag(self.live.confirm_seat_claim(player, table).await?)
            }
            SeatingCall::Leave(table) => {
                let left = self.tables.submit(table, Input::Leave { player }).await;
                SeatingAnswer::from_submitted(left)?
            }
            SeatingCall::Release(table) => {
                self.live.release_seat_claim(player, table).await?;
                SeatingAnswer::Done
            }
            SeatingCall::List(table) => {
                if let Err(error) = self.tables.refresh_listing(table).await {
                    tracing::debug!(%table, %error, "a table that cannot be read stays listed");
                }
                SeatingAnswer::Done
            }
            SeatingCall::Unreserve(table) => {
                self.live.unreserve(request?.reserve.room, table, player).await?;
                SeatingAnswer::Done
            }
        })
    }
}
