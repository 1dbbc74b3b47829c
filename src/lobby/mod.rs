//! The lobby: rooms, seats in them at once, matchmaking tickets, private tables and practice
//! tables.
//!
//! An account sits at one table at a time (rule 8.4). A seat claim is taken before the seat and
//! confirmed after it; it expires if the process dies in between, so no race seats an account
//! twice. The table's journal decides who sits there.
//!
//! A seat is reserved before the claim is taken, on every path to a table. A seat beside a player
//! with the same device, or, in rooms with a high bet, with the same network, is not reserved
//! (`conflict_keys`). The instant seat and the matcher therefore enforce the same separation, also
//! against each other. No seat is reserved for a player without an open socket (`online`), or for a
//! player that has to wait after a no-show (`no_shows`).

mod bot_funds;
mod bot_purse;
mod bots;
pub(crate) mod conflict_keys;
mod invitations;
mod matcher;
mod no_shows;
mod online;
mod options;
mod practice;
mod private;
mod private_bots;
mod rematch;
mod take_seat;
mod ticket_waiters;
mod tickets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules;
use bahay_engine::matchmaking::Candidate;
use bahay_engine::table::{Input, PlayerId, Spectators, TableId, Terms, Timestamp};
use tokio::sync::Mutex;

use crate::accounts::{AccountError, Accounts, Profile, Sanction};
use crate::allowance;
use crate::entropy;
use crate::ledger::{Ledger, LedgerError};
use crate::live_store::{
    LiveStore, PlayingCount, SeatClaim, SeatReservation, Unavailable, WaitReason,
};
use crate::rate_limit::Address;
use crate::ratings::{INITIAL_RATING, MatchmakingProfile, Ratings};
use crate::tables::{SubmitError, TableReadError, Tables};
use bahay_engine::catalog::{AnyGame, AnyRules};

use online::Online;
use take_seat::{NewOccupant, SeatOutcome};
use ticket_waiters::TicketWaiters;

pub use crate::rooms::{Catalog, Room, RoomError, RuleSetRequest, house_rooms};
pub use bots::{Bot, Bots};
pub use invitations::Invitation;
pub use matcher::Matcher;
pub use no_shows::{InvalidWaits, NotReadyWaits};
pub use online::OpenSocket;
pub use options::Options;
pub use private::{
    CODE_LENGTH, PRIVATE_BET_MAX, PRIVATE_TABLES_MAX, PrivateSeat, PrivateTableRequest, PrivateView,
};
pub use private_bots::BotsUnavailable;
pub use rematch::{FinishedGame, REMATCH_WITHIN, Rematch};
pub use ticket_waiters::TicketSubscription;
pub use tickets::{TICKET_LIFE, TICKET_ROOMS_MAX, Ticket};

/// The number of full tables that are tried before the request fails with [`LobbyError::Seating`].
const ATTEMPTS: usize = 8;

/// The time in milliseconds for which the counts of [`Lobby::playing_counts`] are cached.
const PLAYING_COUNTS_MS: u64 = 1_000;

/// Returns a duration in seconds, rounded up.
fn whole_seconds(wait: &Duration) -> u128 {
    wait.as_millis().div_ceil(1_000)
}

/// A handle to the rooms and to the operations that seat players in them. Clones share everything.
#[derive(Clone, Debug)]
pub struct Lobby {
    rooms: Catalog,
    tables: Tables<AnyGame>,
    live: LiveStore,
    ledger: Ledger,
    /// The source of matchmaking profiles. Without it all players have one rating and no devices.
    ratings: Option<Ratings>,
    /// The source of bans, account states and deletions. Without it nobody is rejected.
    accounts: Option<Accounts>,
    bots: Arc<[Bot]>,
    options: Arc<Options>,
    waiters: TicketWaiters,
    online: Online,
    playing_counts: Arc<Mutex<PlayingCounts>>,
}

/// A seat in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomSeat {
    pub table: TableId,
    /// The reason why the player waits alone at a new table although other tables have free seats.
    pub reason: Option<WaitReason>,
}

/// A table that may be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchableTable {
    pub table: TableId,
    pub room: String,
    /// The number of players at the table.
    pub players: u8,
    pub seats: u8,
}

#[derive(Debug, Default)]
struct PlayingCounts {
    at: Timestamp,
    by_room: BTreeMap<String, PlayingCount>,
}

/// An error that keeps a player from a seat, a ticket or a private table.
#[derive(Debug, thiserror::Error)]
pub enum LobbyError {
    #[error("there is no such room")]
    NoSuchRoom,
    #[error("this room is closed")]
    RoomClosed,
    /// The wallet holds less than the room requires (rule 6.9).
    #[error("this room asks for a wallet of at least {needed} coins")]
    TooFewCoins { needed: Coins },
    #[error("banned {0}")]
    Banned(Sanction),
    /// The account is deleted; this node has not yet received the revocation of its token.
    #[error("the account was deleted")]
    PlayerGone,
    #[error("this room is for wallets of at most {most} coins")]
    TooManyCoins { most: Coins },
    /// The room requires an account, and a guest has only a device.
    #[error("this room is for players with a password or an identity: set one first")]
    AccountRequired,
    /// The player could not receive the question whether it is ready.
    #[error("open the socket first: a seat is kept only for players who are there")]
    SocketRequired,
    /// The player, its device or its network has recent no-shows.
    #[error(
        "wait {} s for the next seat: you were not ready for a game, or many of your network were not",
        whole_seconds(.wait)
    )]
    NotReadyBefore { wait: Duration },
    #[error("name one to {most} rooms of one game", most = TICKET_ROOMS_MAX)]
    InvalidTicketRooms,
    /// Another request is seating the same player.
    #[error("another request of yours is being seated: ask again")]
    Seating,
    #[error("you do not sit at a table")]
    NotSeated,
    #[error("you are seated at another table: leave it first")]
    SeatedElsewhere,
    /// The table of the player is halted.
    #[error("your table was halted until an operator decides about it")]
    Halted,
    /// The table of the player is run by nodes of another version.
    #[error("another node runs your table: try again")]
    OtherVersion,
    #[error("you have no such ticket")]
    TicketUnknown,
    #[error("a table has been found already")]
    TicketMatched,
    #[error("no table has this code, or no longer")]
    CodeUnknown,
    #[error("a private table is for bets from 1 to {most} coins", most = PRIVATE_BET_MAX)]
    BetOutOfBounds,
    /// The rules that the host asks for are unsound.
    #[error("{0}")]
    Rules(RoomError),
    #[error(
        "there are {most} tables of yours: they end an hour after everybody has left them",
        most = PRIVATE_TABLES_MAX
    )]
    TooManyPrivateTables,
    /// A game at this table could win more than the player's remaining allowance at private tables.
    #[error(
        "a game there may bring you {most} coins, and you may win {left} more at private tables for \
         now: play at a lower bet, or in rooms"
    )]
    PrivateBetTooHigh { most: Coins, left: Coins },
    /// The player has reached the daily limit on winnings in rooms.
    #[error(
        "you have won {most} whole stakes of others in rooms within 24 hours: that is the most, play \
         on tomorrow",
        most = allowance::DAY_STAKES_MAX
    )]
    RoomLimit,
    #[error("all practice tables are in use: try again later")]
    PracticeFull,
    #[error("the host has removed you from this table")]
    KickedByHost,
    #[error("every seat at this table is taken, or a player there has your device")]
    TableFull,
    #[error("only the host may do this")]
    NotHost,
    #[error("a game goes on: wait until it is over")]
    GameRunning,
    /// A house bot leaves its seat to the player when the running game is over.
    #[error("a bot gives you its seat after this game: try again then")]
    SeatAfterGame,
    /// No house bot can join the private table.
    #[error(transparent)]
    BotsUnavailable(#[from] BotsUnavailable),
    /// The game was over longer than [`REMATCH_WITHIN`] ago.
    #[error("the game ended more than {} minutes ago", REMATCH_WITHIN.as_secs() / 60)]
    RematchOver,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl From<AccountError> for LobbyError {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Banned(ban) => Self::Banned(ban),
            AccountError::PlayerGone => Self::PlayerGone,
            other => Self::Unavailable(Unavailable::new(other.to_string())),
        }
    }
}

impl From<TableReadError> for LobbyError {
    fn from(error: TableReadError) -> Self {
        match error {
            TableReadError::Halted => Self::Halted,
            TableReadError::OtherVersion => Self::OtherVersion,
            TableReadError::Unavailable(error) => Self::Unavailable(error),
        }
    }
}

impl Lobby {
    /// Creates a lobby and makes `rooms` the source of terms for `tables`, so that tables follow
    /// later changes of their rooms.
    pub fn new(
        rooms: impl Into<Catalog>,
        tables: Tables<AnyGame>,
        live: LiveStore,
        ledger: Ledger,
    ) -> Self {
        let rooms = rooms.into();
        let source = rooms.clone();
        tables.set_terms_source(move |terms, known_revision| {
            source.room_terms(terms, known_revision)
        });
        Self {
            rooms,
            tables,
            live,
            ledger,
            ratings: None,
            accounts: None,
            bots: Arc::default(),
            options: Arc::default(),
            waiters: TicketWaiters::default(),
            online: Online::new(),
            playing_counts: Arc::default(),
        }
    }

    /// Sets the options, and takes matchmaking profiles from `ratings`.
    #[must_use]
    pub fn with_options(self, options: Options, ratings: Ratings) -> Self {
        Self { options: Arc::new(options), ratings: Some(ratings), ..self }
    }

    /// Rejects banned and deleted players, and enforces account requirements, as recorded in
    /// `accounts`.
    #[must_use]
    pub fn with_accounts(self, accounts: Accounts) -> Self {
        Self { accounts: Some(accounts), ..self }
    }

    /// Makes these house bots available at private tables and for seats that a bot can free.
    #[must_use]
    pub fn with_bots(self, bots: &Bots) -> Self {
        Self { bots: bots.shared_list(), ..self }
    }

    pub fn rooms(&self) -> Arc<[Arc<Room>]> {
        self.rooms.rooms()
    }

    pub fn room(&self, id: &str) -> Option<Arc<Room>> {
        self.rooms.room(id)
    }

    /// Returns the catalogue through which operators change rooms.
    pub fn catalog(&self) -> &Catalog {
        &self.rooms
    }

    /// Returns the tables that the rooms lead to.
    pub fn tables(&self) -> &Tables<AnyGame> {
        &self.tables
    }

    /// Returns the number of players and tables in each room, at most a second old.
    pub async fn playing_counts(&self) -> Result<BTreeMap<String, PlayingCount>, Unavailable> {
        let mut playing_counts = self.playing_counts.lock().await;
        let now = self.tables.clock().now();
        let is_good = !playing_counts.by_room.is_empty()
            && now.ms_since(playing_counts.at) < PLAYING_COUNTS_MS;
        if !is_good || now < playing_counts.at {
            let mut by_room = BTreeMap::new();
            for room in self.rooms.rooms().iter() {
                by_room.insert(room.id().to_owned(), self.live.playing_count(room.id()).await?);
            }
            *playing_counts = PlayingCounts { at: now, by_room };
        }
        Ok(playing_counts.by_room.clone())
    }

    /// Returns the tables of a room that may be watched, ordered by id. The list is empty for a
    /// room without spectators.
    pub async fn watchable_tables(&self, room: &str) -> Result<Vec<WatchableTable>, LobbyError> {
        let room = self.room(room).ok_or(LobbyError::NoSuchRoom)?;
        if room.terms().spectators == Spectators::Nobody {
            return Ok(Vec::new());
        }
        let mut tables = self.live.occupied_tables(room.id()).await?;
        tables.sort_unstable();
        let seats = room.seats().most;
        let room = room.id();
        let watchable =
            |(table, players)| WatchableTable { table, room: room.to_owned(), players, seats };
        Ok(tables.into_iter().map(watchable).collect())
    }

    /// Announces changed terms of rooms to the tables as soon as this node learns of them. Runs for
    /// as long as it is polled.
    pub async fn follow_rooms(self) {
        let mut changes = self.rooms.subscribe_changes();
        while changes.changed().await.is_ok() {
            self.tables.update_terms().await;
        }
    }

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
        check_wallet(&room, wallet.available)?;
        self.require_account(player, &room).await?;
        self.require_socket(player).await?;
        let profile = self.room_profile(player, room.kind()).await?;
        self.check_no_shows(player, &profile, from).await?;
        let candidates = [self.candidate(player, &profile, from)];
        let name = profile.name.as_str();
        let avatar = profile.avatar.as_deref();
        let occupant = NewOccupant { player, name, avatar, is_bot: false };
        let reserve = self.build_reservation(&room, &candidates);
        let mut full = Vec::new();
        let [one] = &candidates;
        let mut vacated = self.replace_bot(&room, one).await?;
        for _ in 0..ATTEMPTS {
            let new = TableId(entropy::uuid());
            let (table, reason) = match vacated.take() {
                Some(table) => (table, None),
                None => {
                    let reserved = self.live.reserve(reserve, new, &full).await?;
                    let is_alone = reserved.only_same_network && reserved.table == new;
                    (reserved.table, is_alone.then_some(WaitReason::OnlySameNetwork))
                }
            };
            let terms = room.terms().clone();
            let revision = room.revision();
            self.tables.create_at_revision(table, terms, revision).await?;
            match self.take_seat(&occupant, table).await? {
                SeatOutcome::Seated => {
                    self.live.drop_matching_ticket(player).await?;
                    return Ok(RoomSeat { table, reason });
                }
                SeatOutcome::BoundElsewhere => {
                    self.live.unreserve(room.id(), table, player).await?;
                    return Err(LobbyError::Seating);
                }
                SeatOutcome::NoSeat => {
                    self.live.unreserve(room.id(), table, player).await?;
                    full.push(table);
                }
            }
        }
        Err(LobbyError::Seating)
    }

    /// Returns the table at which a player sits. Confirms a pending claim of a seated player and
    /// releases a claim that no seat corresponds to.
    pub async fn seated_at(&self, player: PlayerId) -> Result<Option<TableId>, LobbyError> {
        let table = match self.live.seat_claim(player).await? {
            SeatClaim::None => return Ok(None),
            SeatClaim::Pending(table) | SeatClaim::Held(table) => table,
        };
        let seated =
            self.tables.read_table(table).await?.is_some_and(|copy| copy.seat_of(player).is_some());
        match (seated, self.live.seat_claim(player).await?) {
            (true, SeatClaim::Held(now)) if now == table => Ok(Some(table)),
            (true, SeatClaim::Pending(now)) if now == table => {
                self.confirm_seat(player, table).await.map(Some)
            }
            (false, SeatClaim::Pending(now)) if now == table => Err(LobbyError::Seating),
            (false, SeatClaim::Held(now)) if now == table => {
                // The process that freed the seat died before it released the claim.
                self.live.release_seat_claim(player, table).await?;
                Ok(None)
            }
            (true | false, SeatClaim::None) => Ok(None),
            (true | false, SeatClaim::Held(_) | SeatClaim::Pending(_)) => Err(LobbyError::Seating),
        }
    }

    /// Leaves the table: at once between games, and after the game while one is running.
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

    /// Rejects banned and deleted players. Runs on every path to a table, also for a player who
    /// already sits at one; that player continues to play, because the socket does not consult the
    /// lobby.
    async fn check_not_banned(&self, player: PlayerId) -> Result<(), LobbyError> {
        match &self.accounts {
            Some(accounts) => {
                let Profile { .. } = accounts.admit(player).await?;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Rejects guests if the room requires an account.
    async fn require_account(&self, player: PlayerId, room: &Room) -> Result<(), LobbyError> {
        match &self.accounts {
            Some(accounts) if room.needs_account() && !accounts.has_account(player).await? => {
                Err(LobbyError::AccountRequired)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the matchmaking profile of a player for a kind of game.
    async fn matchmaking_profile(
        &self,
        player: PlayerId,
        kind: &str,
    ) -> Result<MatchmakingProfile, LobbyError> {
        match &self.ratings {
            Some(ratings) => {
                let profile = ratings.matchmaking_profile(player, kind).await;
                profile.map_err(|error| Unavailable::new(error.to_string()).into())
            }
            None => {
                Ok(MatchmakingProfile { rating: INITIAL_RATING, ..MatchmakingProfile::default() })
            }
        }
    }

    /// Returns the matchmaking profile for play in rooms, in which the partners at the daily limit
    /// between two players count as blocked.
    ///
    /// # Errors
    /// [`LobbyError::RoomLimit`] if the player has reached the daily limit on winnings in rooms.
    async fn room_profile(
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

    fn candidate(
        &self,
        player: PlayerId,
        profile: &MatchmakingProfile,
        from: Option<Address>,
    ) -> Candidate {
        let from = from.filter(|_| self.options.separate_same_network);
        conflict_keys::candidate(&self.options.conflict_secret, player, profile, from)
    }

    /// Returns the reservation of seats for these players in a room.
    fn build_reservation<'a>(
        &self,
        room: &'a Room,
        candidates: &'a [Candidate],
    ) -> SeatReservation<'a> {
        let networks_apart = self.options.keeps_networks_apart(room);
        SeatReservation { room: room.id(), seats: room.seats().most, candidates, networks_apart }
    }
}

/// Returns the most that a game under these terms can win for one seat, given the coins in the POT
/// before its antes; `None` if the amount exceeds 64 bits.
pub(crate) fn max_winnings(terms: &Terms<AnyRules>, pot: Coins) -> Option<Coins> {
    let seats = terms.rules.seats().most;
    let antes = terms.ante()?.checked_mul(u32::from(seats))?;
    let stake = terms.stake_max(seats)?;
    let others = (1..seats).map(|_| stake);
    Some(allowance::max_gain(others, pot.checked_add(antes)?))
}

/// Rejects a wallet below the minimum or above the maximum of a room.
fn check_wallet(room: &Room, available: Coins) -> Result<(), LobbyError> {
    if available < room.wallet_min() {
        return Err(LobbyError::TooFewCoins { needed: room.wallet_min() });
    }
    match room.wallet_max() {
        Some(most) if available > most => Err(LobbyError::TooManyCoins { most }),
        Some(_) | None => Ok(()),
    }
}
