//! The way to a table: the rooms, a seat for who asks, tickets for who waits until others fit,
//! private tables for who brings the others along, and practice tables for who plays without coins.
//!
//! A player is bound to one table at a time (rule 8.4). The claim is taken before the seat and
//! confirmed after it, and expires if the process dies in between, so that no race seats an
//! account twice. The table's own journal decides who sits there.
//!
//! Before the claim a place is reserved, whichever way the player comes; a place beside somebody
//! with the same device, or, in rooms of a high bet, the same network, is not given
//! (`conflict_keys`). So the instant seat and the matcher keep the same promise, also against each
//! other. Nothing is reserved for a player without an open socket (`online`), nor for one that has to
//! wait because it was not ready before (`no_shows`).

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
mod seekers;
mod sit;
mod tickets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::game::Game as _;
use bahay_engine::matchmaking::Companion;
use bahay_engine::table::{Input, PlayerId, Spectators, TableId, Terms, Timestamp};
use tokio::sync::Mutex;

use crate::accounts::{AccountError, Accounts, Sanction, Profile};
use crate::allowance;
use crate::edge::Address;
use crate::entropy;
use crate::ledger::{Ledger, LedgerError};
use crate::live_store::{LiveStore, Playing, Reserve, SeatClaim, Unavailable, WaitReason};
use crate::ratings::{Bearing, FIRST, Ratings};
use crate::tables::{SubmitError, Tables, Unready};
use bahay_engine::catalog::{AnyGame, AnyRules};

use online::Online;
use seekers::Seekers;
use sit::{Sat, Sitter};

pub use crate::rooms::{Catalog, Room, RoomError, house_rooms};
pub use bots::{Bot, Bots};
pub use invitations::Invitation;
pub use matcher::Matcher;
pub use no_shows::{InvalidWaits, NotReadyWaits};
pub use online::OpenSocket;
pub use options::Options;
pub use private::{
    CODE_LENGTH, PRIVATE_BET_MAX, PRIVATE_TABLES_MAX, PrivateSeat, PrivateTableRequest,
    PrivateView, WantedRules,
};
pub use private_bots::BotsUnavailable;
pub use rematch::{FinishedGame, REMATCH_WITHIN, Rematch};
pub use seekers::Sought;
pub use tickets::{ROOMS_WANTED_MAX, TICKET_LIFE, Ticket};

/// Tables that turn out to be full before a player gives up and asks again.
const ATTEMPTS: usize = 8;

/// How long a count of who plays is good.
const COUNTED_MS: u64 = 1_000;

/// Returns a wait in seconds, rounded up.
fn whole_seconds(wait: &Duration) -> u128 {
    wait.as_millis().div_ceil(1_000)
}

/// The rooms and the way into them.
#[derive(Clone, Debug)]
pub struct Lobby {
    rooms: Catalog,
    tables: Tables<AnyGame>,
    live: LiveStore,
    ledger: Ledger,
    /// Without them everybody plays alike, and nobody has a device.
    ratings: Option<Ratings>,
    /// Without them nobody is banned.
    accounts: Option<Accounts>,
    bots: Arc<[Bot]>,
    options: Arc<Options>,
    seekers: Seekers,
    online: Online,
    counted: Arc<Mutex<Counted>>,
}

/// A seat in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    pub table: TableId,
    /// Why the player waits there although others do.
    pub reason: Option<WaitReason>,
}

/// A table that may be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watchable {
    pub table: TableId,
    pub room: String,
    /// How many sit there.
    pub players: u8,
    pub seats: u8,
}

#[derive(Debug, Default)]
struct Counted {
    at: Timestamp,
    by_room: BTreeMap<String, Playing>,
}

/// Why a player gets no seat.
#[derive(Debug, thiserror::Error)]
pub enum LobbyError {
    #[error("there is no such room")]
    NoSuchRoom,
    #[error("this room is closed")]
    RoomClosed,
    /// The wallet holds less than the room asks for (rule 6.9).
    #[error("this room asks for a wallet of at least {needed} coins")]
    TooFewCoins { needed: Coins },
    #[error("banned {0}")]
    Banned(Sanction),
    /// Its token has not been heard to be revoked yet on this node.
    #[error("the account was deleted")]
    PlayerGone,
    #[error("this room is for wallets of at most {most} coins")]
    TooManyCoins { most: Coins },
    /// The room is not for guests, who are known by a device alone.
    #[error("this room is for players with a password or an identity: set one first")]
    AccountRequired,
    /// Nobody would hear the player being asked whether it is ready.
    #[error("open the socket first: a seat is kept only for players who are there")]
    SocketRequired,
    /// The player, its device or its network was not ready before.
    #[error(
        "wait {} s for the next seat: you were not ready for a game, or many of your network were not",
        whole_seconds(.wait)
    )]
    NotReadyBefore { wait: Duration },
    #[error("name one to {most} rooms of one game", most = ROOMS_WANTED_MAX)]
    RoomsWanted,
    /// The same player is being seated by another request.
    #[error("another request of yours is being seated: ask again")]
    Seating,
    #[error("you do not sit at a table")]
    NotSeated,
    #[error("you sit at another table: leave it first")]
    SeatedElsewhere,
    /// The player's table was halted.
    #[error("your table was halted: an operator decides what becomes of it")]
    Halted,
    /// The player's table is played by nodes of another version.
    #[error("another node plays your table: ask again")]
    OtherVersion,
    #[error("you have no such ticket, or no longer")]
    TicketUnknown,
    #[error("a table has been found already")]
    TicketMatched,
    #[error("no table has this code, or no longer")]
    CodeUnknown,
    #[error("a private table is for bets from 1 to {most} coins", most = PRIVATE_BET_MAX)]
    BetOutOfBounds,
    /// The rules that a host wants.
    #[error("{0}")]
    Rules(RoomError),
    #[error(
        "there are {most} tables of yours: they end an hour after everybody has left them",
        most = PRIVATE_TABLES_MAX
    )]
    TooManyPrivateTables,
    /// What a game may bring is more than the player may still win at private tables.
    #[error(
        "a game there may bring you {most} coins, and you may win {left} more at private tables for \
         now: play at a lower bet, or in rooms"
    )]
    PrivateBetTooHigh { most: Coins, left: Coins },
    /// The player has reached the bound of a day.
    #[error(
        "you have won {most} whole stakes of others in rooms within 24 hours: that is the most, play \
         on tomorrow",
        most = allowance::DAY_STAKES_MAX
    )]
    RoomLimit,
    #[error("there are as many practice tables as the house has: ask again later")]
    PracticeFull,
    #[error("the host has sent you away from this table")]
    KickedByHost,
    #[error("every seat at this table is taken, or somebody there has your device")]
    TableFull,
    #[error("only the host may do this")]
    NotHost,
    #[error("a game goes on: wait until it is over")]
    GameRunning,
    /// A bot of the house gives its seat to the player when the game is over.
    #[error("a bot gives you its seat after this game: ask again when it is over")]
    SeatAfterGame,
    /// No bot of the house comes to a private table.
    #[error(transparent)]
    BotsUnavailable(#[from] BotsUnavailable),
    /// The game whose rematch is wanted is long over.
    #[error("the game was over more than {} minutes ago", REMATCH_WITHIN.as_secs() / 60)]
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
    /// With rooms that may change, tables follow them from here on.
    pub fn new(
        rooms: impl Into<Catalog>,
        tables: Tables<AnyGame>,
        live: LiveStore,
        ledger: Ledger,
    ) -> Self {
        let rooms = rooms.into();
        let source = rooms.clone();
        tables.set_terms_source(move |terms, heard| source.room_terms(terms, heard));
        let (options, seekers, counted) = Default::default();
        let (ratings, accounts, bots) = (None, None, Arc::default());
        Self {
            rooms,
            tables,
            live,
            ledger,
            ratings,
            accounts,
            bots,
            options,
            seekers,
            online: Online::new(),
            counted,
        }
    }

    /// The same, for a house of these customs.
    #[must_use]
    pub fn with(self, options: Options, ratings: Ratings) -> Self {
        Self { options: Arc::new(options), ratings: Some(ratings), ..self }
    }

    /// The same, where nobody plays whom these do not let.
    #[must_use]
    pub fn minding(self, accounts: Accounts) -> Self {
        Self { accounts: Some(accounts), ..self }
    }

    /// The same, for a house that has these bots.
    #[must_use]
    pub fn beside(self, bots: &Bots) -> Self {
        Self { bots: bots.all(), ..self }
    }

    pub fn rooms(&self) -> Arc<[Arc<Room>]> {
        self.rooms.rooms()
    }

    pub fn room(&self, id: &str) -> Option<Arc<Room>> {
        self.rooms.room(id)
    }

    /// The rooms as operators change them.
    pub fn catalog(&self) -> &Catalog {
        &self.rooms
    }

    /// The tables behind the rooms.
    pub fn tables(&self) -> &Tables<AnyGame> {
        &self.tables
    }

    /// How many play in each room, as of a second ago at most.
    pub async fn playing(&self) -> Result<BTreeMap<String, Playing>, Unavailable> {
        let mut counted = self.counted.lock().await;
        let now = self.tables.clock().now();
        let is_good = !counted.by_room.is_empty() && now.ms_since(counted.at) < COUNTED_MS;
        if !is_good || now < counted.at {
            let mut by_room = BTreeMap::new();
            for room in self.rooms.rooms().iter() {
                by_room.insert(room.id().to_owned(), self.live.playing(room.id()).await?);
            }
            *counted = Counted { at: now, by_room };
        }
        Ok(counted.by_room.clone())
    }

    /// The tables of a room that may be watched, by their ids; none, where the room lets nobody.
    pub async fn watchable(&self, room: &str) -> Result<Vec<Watchable>, LobbyError> {
        let room = self.room(room).ok_or(LobbyError::NoSuchRoom)?;
        if room.terms().spectators == Spectators::Nobody {
            return Ok(Vec::new());
        }
        let mut tables = self.live.occupied(room.id()).await?;
        tables.sort_unstable();
        let (seats, room) = (room.seats().most, room.id());
        let watchable =
            |(table, players)| Watchable { table, room: room.to_owned(), players, seats };
        Ok(tables.into_iter().map(watchable).collect())
    }

    /// Tells tables what their rooms say, as soon as it is known here; for as long as it is polled.
    pub async fn follow_rooms(self) {
        let mut changes = self.rooms.changes();
        while changes.changed().await.is_ok() {
            self.tables.tell_terms().await;
        }
    }

    /// A seat in a room, for somebody of whose address nothing is known.
    pub async fn seat(&self, player: PlayerId, room: &str) -> Result<TableId, LobbyError> {
        Ok(self.seat_from(player, room, None).await?.table)
    }

    /// A seat in a room, at once. Who sits somewhere already is sent back there, whatever the
    /// room.
    pub async fn seat_from(
        &self,
        player: PlayerId,
        room: &str,
        from: Option<Address>,
    ) -> Result<Seat, LobbyError> {
        self.let_in(player).await?;
        let room = self.room(room).ok_or(LobbyError::NoSuchRoom)?;
        if let Some(table) = self.seated_at(player).await? {
            return Ok(Seat { table, reason: None });
        }
        if !room.is_open() {
            return Err(LobbyError::RoomClosed);
        }
        let wallet = self.ledger.wallet(player).await?;
        admit(&room, wallet.available)?;
        self.known_well_enough(player, &room).await?;
        self.require_socket(player).await?;
        let bearing = self.room_bearing(player, room.kind()).await?;
        self.check_no_shows(player, &bearing, from).await?;
        let who = [self.companion(player, &bearing, from)];
        let (name, avatar) = (bearing.name.as_str(), bearing.avatar.as_deref());
        let sitter = Sitter { player, name, avatar, is_bot: false };
        let reserve = self.reserve_in(&room, &who);
        let mut full = Vec::new();
        let [one] = &who;
        let mut vacated = self.instead_of_bot(&room, one).await?;
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
            let (terms, revision) = (room.terms().clone(), room.revision());
            self.tables.create_of_revision(table, terms, revision).await?;
            match self.sit(&sitter, table).await? {
                Sat::Here => {
                    self.live.drop_matching_ticket(player).await?;
                    return Ok(Seat { table, reason });
                }
                Sat::Elsewhere => {
                    self.live.unreserve(room.id(), table, player).await?;
                    return Err(LobbyError::Seating);
                }
                Sat::NoPlace => {
                    self.live.unreserve(room.id(), table, player).await?;
                    full.push(table);
                }
            }
        }
        Err(LobbyError::Seating)
    }

    /// Where a player sits, if anywhere.
    pub async fn seated_at(&self, player: PlayerId) -> Result<Option<TableId>, LobbyError> {
        let table = match self.live.seat_claim(player).await? {
            SeatClaim::None => return Ok(None),
            SeatClaim::Pending(table) | SeatClaim::Held(table) => table,
        };
        let seated =
            self.tables.look(table).await?.is_some_and(|copy| copy.seat_of(player).is_some());
        match (seated, self.live.seat_claim(player).await?) {
            (true, SeatClaim::Held(now)) if now == table => Ok(Some(table)),
            (true, SeatClaim::Pending(now)) if now == table => {
                self.confirm(player, table).await.map(Some)
            }
            (false, SeatClaim::Pending(now)) if now == table => Err(LobbyError::Seating),
            (false, SeatClaim::Held(now)) if now == table => {
                // Left behind by a process that died after the seat was freed.
                self.live.release(player, table).await?;
                Ok(None)
            }
            (true | false, SeatClaim::None) => Ok(None),
            (true | false, SeatClaim::Held(_) | SeatClaim::Pending(_)) => Err(LobbyError::Seating),
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

    /// Refuses whoever may not play, on every way to a table. Who sits at one already is asked too,
    /// and plays on all the same: the socket needs no leave of the lobby.
    async fn let_in(&self, player: PlayerId) -> Result<(), LobbyError> {
        match &self.accounts {
            Some(accounts) => {
                let Profile { .. } = accounts.admit(player).await?;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Refuses a guest where a room is for accounts.
    async fn known_well_enough(&self, player: PlayerId, room: &Room) -> Result<(), LobbyError> {
        match &self.accounts {
            Some(accounts) if room.needs_account() && !accounts.has_account(player).await? => {
                Err(LobbyError::AccountRequired)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What of a player matters for whom to play with.
    async fn bearing(&self, player: PlayerId, kind: &str) -> Result<Bearing, LobbyError> {
        match &self.ratings {
            Some(ratings) => {
                let bearing = ratings.bearing(player, kind).await;
                bearing.map_err(|error| Unavailable::new(error.to_string()).into())
            }
            None => Ok(Bearing { rating: FIRST, ..Bearing::default() }),
        }
    }

    /// As [`Lobby::bearing`], for a player who wants to play in rooms: apart from those with whom a
    /// bound is reached.
    ///
    /// # Errors
    /// [`LobbyError::RoomLimit`] for one who has won so much today.
    async fn room_bearing(&self, player: PlayerId, kind: &str) -> Result<Bearing, LobbyError> {
        let won = self.ledger.room_winnings(player, self.tables.clock().now()).await?;
        if won.is_day_over() {
            return Err(LobbyError::RoomLimit);
        }
        let mut bearing = self.bearing(player, kind).await?;
        bearing.blocked.extend(won.partners_at_bound());
        Ok(bearing)
    }

    fn companion(&self, player: PlayerId, bearing: &Bearing, from: Option<Address>) -> Companion {
        let from = from.filter(|_| self.options.apart_by_address);
        conflict_keys::companion(&self.options.conflict_secret, player, bearing, from)
    }

    /// Returns what these players want of a room.
    fn reserve_in<'a>(&self, room: &'a Room, who: &'a [Companion]) -> Reserve<'a> {
        let networks_apart = self.options.keeps_networks_apart(room);
        Reserve { room: room.id(), seats: room.seats().most, who, networks_apart }
    }
}

/// The most that a game of these terms brings to one seat, with what is in the POT before it;
/// `None` when it does not fit 64 bits.
pub(crate) fn most_of(terms: &Terms<AnyRules>, pot: Coins) -> Option<Coins> {
    let seats = AnyGame::seats(&terms.rules).most;
    let antes = terms.ante()?.checked_mul(u32::from(seats))?;
    let stake = terms.stake_max::<AnyGame>(seats)?;
    let others = (1..seats).map(|_| stake);
    Some(allowance::most(others, pot.checked_add(antes)?))
}

/// Whether somebody with so much may sit down in a room.
fn admit(room: &Room, available: Coins) -> Result<(), LobbyError> {
    if available < room.wallet_min() {
        return Err(LobbyError::TooFewCoins { needed: room.wallet_min() });
    }
    match room.wallet_max() {
        Some(most) if available > most => Err(LobbyError::TooManyCoins { most }),
        Some(_) | None => Ok(()),
    }
}
