//! Admission to seats: bans, accounts, wallets, and waits after no-shows.

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::matchmaking::{Candidate, ConflictKey};
use bahay_engine::table::{PlayerId, Timestamp};
use bahay_shell::lobby::{WalletRefusal, check_wallet, newcomer_every_ms};

use crate::live_store::{NoShowSubject, SeatOrigin, SeatReservation, Unavailable};
use crate::rate_limit::Address;
use crate::ratings::MatchmakingProfile;

use super::conflict_keys::{self, device_keys, network_key};
use super::{Lobby, LobbyError, Room};

/// The number of devices of one player by which no-shows are counted, the newest first.
const DEVICES_COUNTED: usize = 8;

/// Checks that a wallet is within the bounds of a room.
pub(super) fn check_room_wallet(room: &Room, available: Coins) -> Result<(), WalletRefusal> {
    check_wallet(available, room.wallet_min(), room.wallet_max())
}

impl Lobby {
    /// Rejects banned and deleted players. Runs on every path to a table, also for a player who
    /// already sits at one; that player continues to play, because the socket does not consult the
    /// lobby.
    pub(super) async fn check_not_banned(&self, player: PlayerId) -> Result<(), LobbyError> {
        Ok(self.accounts.admit(player).await?)
    }

    /// Rejects guests if the room requires an account.
    pub(super) async fn require_account(
        &self,
        player: PlayerId,
        room: &Room,
    ) -> Result<(), LobbyError> {
        if room.needs_account() && !self.accounts.has_account(player).await? {
            return Err(LobbyError::AccountRequired);
        }
        Ok(())
    }

    /// Rejects a wallet with fewer coins.
    pub(super) async fn require_coins(
        &self,
        player: PlayerId,
        needed: Coins,
    ) -> Result<(), LobbyError> {
        let wallet = self.ledger.wallet(player).await?;
        Ok(check_wallet(wallet.available, needed, None)?)
    }

    /// Returns the matchmaking profile of a player for a kind of game.
    pub(super) async fn matchmaking_profile(
        &self,
        player: PlayerId,
        kind: &str,
    ) -> Result<MatchmakingProfile, LobbyError> {
        let profile = self.ratings.matchmaking_profile(player, kind).await;
        profile.map_err(|error| Unavailable::new(error.to_string()).into())
    }

    /// Returns the matchmaking profile for play in rooms, in which the partners at the daily limit
    /// between two players count as blocked.
    ///
    /// # Errors
    /// [`LobbyError::RoomLimit`] if the player has reached the daily limit on winnings in rooms.
    pub(super) async fn room_profile(
        &self,
        player: PlayerId,
        kind: &str,
    ) -> Result<MatchmakingProfile, LobbyError> {
        let won = self.ledger.room_winnings(player, self.tables.clock().now()).await?;
        if won.is_day_limit_reached() {
            return Err(LobbyError::RoomLimit);
        }
        let mut profile = self.matchmaking_profile(player, kind).await?;
        profile.blocked.extend(won.partners_at_bound());
        Ok(profile)
    }

    pub(super) fn candidate(
        &self,
        player: PlayerId,
        profile: &MatchmakingProfile,
        from: Option<Address>,
    ) -> Candidate {
        let from = from.filter(|_| self.options.separate_same_network);
        conflict_keys::candidate(&self.options.conflict_secret.0, player, profile, from)
    }

    /// Returns the reservation of seats for these players in a room.
    pub(super) fn build_reservation<'a>(
        &self,
        room: &'a Room,
        candidates: &'a [Candidate],
    ) -> SeatReservation<'a> {
        let networks_apart = self.options.keeps_networks_apart(room);
        SeatReservation { room: room.id(), seats: room.seats().most, candidates, networks_apart }
    }

    /// Rejects a player that has to wait after no-shows, and otherwise stores its origin for the
    /// seat.
    pub(super) async fn check_no_shows(
        &self,
        player: PlayerId,
        profile: &MatchmakingProfile,
        from: Option<Address>,
    ) -> Result<(), LobbyError> {
        let waits = self.options.not_ready_waits;
        if waits.is_disabled() {
            return Ok(());
        }
        let secret = &self.options.conflict_secret.0;
        let mut devices = device_keys(secret, profile);
        devices.truncate(DEVICES_COUNTED);
        let origin = SeatOrigin { devices, network: from.map(|from| network_key(secret, from)) };
        let now = self.tables.clock().now();
        let devices = origin.devices.iter().map(|key| NoShowSubject::Device(*key));
        for subject in [NoShowSubject::Player(player)].into_iter().chain(devices) {
            let no_shows = self.live.no_shows(subject).await?;
            if let Some(wait) = waits.wait_left(&no_shows, player, profile.last_finished, now) {
                return Err(LobbyError::NotReadyBefore { wait });
            }
        }
        if let (Some(network), None) = (origin.network, profile.last_finished) {
            self.check_newcomer_turn(network, now).await?;
        }
        Ok(self.live.set_seat_origin(player, &origin).await?)
    }

    /// Admits a newcomer of a slowed network when its turn comes.
    async fn check_newcomer_turn(
        &self,
        network: ConflictKey,
        now: Timestamp,
    ) -> Result<(), LobbyError> {
        let no_shows = self.live.no_shows(NoShowSubject::Network(network)).await?;
        let Some(every_ms) = newcomer_every_ms(&no_shows, now) else {
            return Ok(());
        };
        match self.live.take_newcomer_turn(network, every_ms).await? {
            None => Ok(()),
            Some(left_ms) => {
                Err(LobbyError::NotReadyBefore { wait: Duration::from_millis(left_ms) })
            }
        }
    }
}
