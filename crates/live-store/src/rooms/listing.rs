//! The listing of tables: free seats, reserved and seated players, and the numbers of players in
//! each room. It is a hint that is kept close to the truth by every change of a table: a table that
//! turns out to be full is skipped, and one that was forgotten is created again.
//!
//! A seat is reserved before a player sits down, in one script call that also compares the player
//! with the others at the table. Two players with a common conflict key therefore never approach
//! the same table, however many processes seat players at once. An unused reservation expires after
//! [`RESERVED_MS`].

use bahay_engine::matchmaking::{Candidate, ConflictKey};
use bahay_engine::table::{PlayerId, TableId};
use serde::{Deserialize, Serialize};

use crate::{LiveStore, Script, Unavailable, script, text_or_empty};

static RESERVE: Script = script!("reserve.lua");
static UNRESERVE: Script = script!("unreserve.lua");
static LIST: Script = script!("list.lua");
static OPEN: Script = script!("open.lua");

/// The first rank: a POT waits at the table for three players (rule 7.4).
const RANK_WITH_POT: u32 = 0;
const RANK_WITHOUT_POT: u32 = 1;
/// The distance between two ranks; a table has at most eight seats.
const RANK_STEP: u32 = 10;

/// The lifetime of a reservation in milliseconds, equal to that of a pending seat claim.
const RESERVED_MS: u32 = 10_000;

/// The maximum number of tables of a room returned by one call.
const OPEN_MAX: usize = 1_000;

/// The maximum number of seats at a table.
const SEATS_MAX: u8 = 8;

/// The listing of one table.
#[derive(Clone, Copy, Debug)]
pub struct TableListing<'a> {
    pub room: &'a str,
    pub seats: u8,
    pub has_pot: bool,
    /// The seated players.
    pub players: &'a [PlayerId],
}

/// A request to reserve seats in a room.
#[derive(Clone, Copy, Debug)]
pub struct SeatReservation<'a> {
    pub room: &'a str,
    /// The number of seats of a new table.
    pub seats: u8,
    /// The candidates, who all get seats at one table or none.
    pub candidates: &'a [Candidate],
    /// Keeps players of one network apart.
    pub networks_apart: bool,
}

/// A reserved seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedSeat {
    pub table: TableId,
    /// Another table had a free seat that was refused only because of the network of a player
    /// there.
    pub only_same_network: bool,
}

/// A table with free seats, and the players who sit there or hold a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinableTable {
    pub table: TableId,
    pub has_pot: bool,
    pub seats_free: u8,
    pub companions: Vec<Candidate>,
}

/// The number of players and tables in a room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayingCount {
    pub players: u64,
    /// The number of tables with players.
    pub tables: u64,
}

/// A player at a table, as the scripts store it.
#[derive(Debug, Serialize, Deserialize)]
struct Member {
    p: PlayerId,
    /// The conflict keys in hexadecimal digits, separated by spaces.
    m: String,
    /// The key of the network in the same form; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    n: String,
    /// The players that this one has blocked, separated by spaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    b: String,
    r: i32,
    /// Marks a seated player, as opposed to one with a reservation.
    #[serde(default, skip_serializing)]
    s: bool,
    /// The time of the reservation in milliseconds.
    #[serde(default, skip_serializing)]
    at: i64,
}

impl Member {
    fn from_candidate(who: &Candidate) -> Self {
        let to_hex = |key: &ConflictKey| format!("{:016x}", key.0);
        let keys: Vec<String> = who.conflict_keys.iter().map(to_hex).collect();
        let blocked: Vec<String> = who.blocked.iter().map(|player| player.to_string()).collect();
        Self {
            p: who.player,
            m: keys.join(" "),
            n: who.network.as_ref().map(to_hex).unwrap_or_default(),
            b: blocked.join(" "),
            r: who.rating,
            s: false,
            at: 0,
        }
    }

    fn into_candidate(self) -> Candidate {
        let key = |text: &str| u64::from_str_radix(text, 16).ok().map(ConflictKey);
        Candidate {
            player: self.p,
            rating: self.r,
            conflict_keys: self.m.split(' ').filter_map(key).collect(),
            network: key(&self.n),
            blocked: self.b.split(' ').filter_map(|player| player.parse().ok()).collect(),
        }
    }
}

impl LiveStore {
    /// Reserves seats at the table of a room that should be filled first, or at `new`, which is
    /// then listed. `full` names tables to skip.
    pub async fn reserve(
        &self,
        reserve: SeatReservation<'_>,
        new: TableId,
        full: &[TableId],
    ) -> Result<ReservedSeat, Unavailable> {
        let reserved = self.call_reserve(reserve, Some(new), None, full).await?;
        reserved.ok_or_else(|| Unavailable("no seat could be reserved at a new table".into()))
    }

    /// Reserves seats at one table, which may be new. Returns false if it has too few free seats,
    /// or if a player there is kept apart from one of the candidates.
    pub async fn reserve_at_table(
        &self,
        reserve: SeatReservation<'_>,
        table: TableId,
    ) -> Result<bool, Unavailable> {
        Ok(self.call_reserve(reserve, None, Some(table), &[]).await?.is_some())
    }

    async fn call_reserve(
        &self,
        reserve: SeatReservation<'_>,
        new: Option<TableId>,
        here: Option<TableId>,
        full: &[TableId],
    ) -> Result<Option<ReservedSeat>, Unavailable> {
        let mut call = self.room_call(&RESERVE, reserve.room);
        call.arg(text_or_empty(new)).arg(text_or_empty(here));
        call.arg(reserve.seats).arg(RANK_WITHOUT_POT * RANK_STEP).arg(RESERVED_MS);
        call.arg(u8::from(reserve.networks_apart)).arg(reserve.candidates.len());
        for who in reserve.candidates {
            let member = serde_json::to_string(&Member::from_candidate(who)).map_err(unreadable)?;
            call.arg(member);
        }
        for table in full {
            call.arg(table.to_string());
        }
        let (table, only_same_network): (Option<String>, bool) = self.invoke(&call).await?;
        let reserved =
            |table: String| Ok(ReservedSeat { table: parse_table_id(&table)?, only_same_network });
        table.map(reserved).transpose()
    }

    /// Releases a reservation. A seated player keeps the seat.
    pub async fn unreserve(
        &self,
        room: &str,
        table: TableId,
        player: PlayerId,
    ) -> Result<(), Unavailable> {
        let mut call = self.room_call(&UNRESERVE, room);
        self.invoke(call.arg(table.to_string()).arg(player.to_string())).await
    }

    /// Lists a table in its present state. A full table takes no reservations; an empty one without
    /// a POT is removed from the list.
    pub async fn list_table(
        &self,
        table: TableId,
        listed: TableListing<'_>,
    ) -> Result<(), Unavailable> {
        let rank = if listed.has_pot { RANK_WITH_POT } else { RANK_WITHOUT_POT };
        let mut call = self.room_call(&LIST, listed.room);
        call.arg(table.to_string()).arg(listed.seats).arg(rank * RANK_STEP).arg(RESERVED_MS);
        for player in listed.players {
            call.arg(player.to_string());
        }
        self.invoke(&call).await
    }

    /// Removes a table from all lists.
    pub async fn unlist_table(&self, room: &str, table: TableId) -> Result<(), Unavailable> {
        let [open, tables, companions] = self.room_key_names(room);
        let table = table.to_string();
        let mut pipe = redis::pipe();
        pipe.zrem(open, &table).zrem(tables, &table).hdel(companions, &table);
        self.query_all(&pipe).await
    }

    /// Returns the tables of a room with a free seat, in the order in which they should be filled.
    pub async fn open_tables(&self, room: &str) -> Result<Vec<JoinableTable>, Unavailable> {
        let rows: Vec<(String, u32, u8, String, i64)> =
            self.invoke(self.room_call(&OPEN, room).arg(OPEN_MAX)).await?;
        let mut open = Vec::with_capacity(rows.len());
        for (table, score, seats, companions, now_ms) in rows {
            let mut members: Vec<Member> = serde_json::from_str(&companions).map_err(unreadable)?;
            members.retain(|one| one.s || now_ms - one.at < i64::from(RESERVED_MS));
            let taken = u8::try_from(members.len()).unwrap_or(u8::MAX);
            let seats_free = seats.saturating_sub(taken);
            if seats_free > 0 {
                open.push(JoinableTable {
                    table: parse_table_id(&table)?,
                    has_pot: score < RANK_STEP,
                    seats_free,
                    companions: members.into_iter().map(Member::into_candidate).collect(),
                });
            }
        }
        Ok(open)
    }

    /// Returns the players who sit at a table or hold a reservation there; none if the table is not
    /// listed.
    pub async fn companions(
        &self,
        room: &str,
        table: TableId,
    ) -> Result<Vec<Candidate>, Unavailable> {
        #[derive(Deserialize)]
        struct Entry {
            who: Vec<Member>,
        }
        let [_, _, companions] = self.room_key_names(room);
        let mut call = redis::cmd("HGET");
        call.arg(companions).arg(table.to_string());
        let entry: Option<String> = self.query(&call).await?;
        let Some(entry) = entry else {
            return Ok(Vec::new());
        };
        let Entry { who } = serde_json::from_str(&entry).map_err(unreadable)?;
        Ok(who.into_iter().map(Member::into_candidate).collect())
    }

    /// Returns the tables of a room with players, and the number of players at each. Beyond
    /// `OPEN_MAX` tables only the fullest are returned.
    pub async fn occupied_tables(&self, room: &str) -> Result<Vec<(TableId, u8)>, Unavailable> {
        self.busy_tables(room, OPEN_MAX).await
    }

    /// Returns the numbers of players and of tables in a room.
    pub async fn playing_count(&self, room: &str) -> Result<PlayingCount, Unavailable> {
        let [_, tables, _] = self.room_key_names(room);
        let mut pipe = redis::pipe();
        for seated in 1..=SEATS_MAX {
            pipe.zcount(&tables, seated, seated);
        }
        let counts: Vec<u64> = self.query_all(&pipe).await?;
        let players = (1..).zip(&counts).map(|(seated, tables): (u64, &u64)| seated * tables);
        Ok(PlayingCount { players: players.sum(), tables: counts.iter().sum() })
    }

    /// Returns up to `most` tables of a room with players, the fullest first, and the number of
    /// players at each.
    pub async fn busy_tables(
        &self,
        room: &str,
        most: usize,
    ) -> Result<Vec<(TableId, u8)>, Unavailable> {
        let [_, tables, _] = self.room_key_names(room);
        let mut ask = redis::cmd("ZREVRANGEBYSCORE");
        ask.arg(tables).arg(SEATS_MAX).arg(1).arg("WITHSCORES").arg("LIMIT").arg(0).arg(most);
        let rows: Vec<(String, u8)> = self.query(&ask).await?;
        rows.into_iter().map(|(table, seated)| Ok((parse_table_id(&table)?, seated))).collect()
    }

    fn room_key_names(&self, room: &str) -> [String; 3] {
        ["open", "tables", "companions"]
            .map(|part| format!("{}:{{room:{room}}}:{part}", self.prefix))
    }

    fn room_call<'a>(&self, script: &'a redis::Script, room: &str) -> redis::ScriptInvocation<'a> {
        let mut call = script.prepare_invoke();
        for name in self.room_key_names(room) {
            call.key(name);
        }
        call
    }
}

fn unreadable(error: serde_json::Error) -> Unavailable {
    Unavailable(format!("a listing is malformed: {error}"))
}

fn parse_table_id(table: &str) -> Result<TableId, Unavailable> {
    table.parse().map_err(|_| Unavailable("a table in the listing has no valid id".into()))
}
