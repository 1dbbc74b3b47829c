//! Tickets of players who look for a table, and which process brings them together.
//!
//! A ticket is *waiting*, then *placed* (its table is chosen, its player is being seated), then
//! over: seated, cancelled or expired. Each step is one script call, so whoever comes second finds
//! the step done: a ticket that is cancelled while it is being placed is either cancelled or
//! placed. What is over is told in a list that every node reads, and forgotten after a minute.
//!
//! One process at a time places tickets. It holds a lease that lasts [`LEASE_MS`]; each lease has
//! a number, and a ticket is placed only under the present one. A process that was paused and
//! comes back late places nothing. What it has placed and not finished is found by the next one,
//! because it stands beside the waiting ones until it is over.
//!
//! All of it is under one hash tag, so in one slot of a Redis Cluster.

use std::collections::BTreeMap;

use bahay_engine::matchmaking::TicketId;
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::live_store::{LiveStore, Unavailable};

/// How long a lease lasts after the last round: so long does nobody place tickets when a process
/// dies.
pub const LEASE_MS: u32 = 2_000;

/// How long it is known what became of a ticket.
const OVER_MS: u32 = 60_000;

/// What became of tickets, kept for nodes that read it late.
const OVER_MAX: usize = 20_000;

/// How long it is remembered who has waited since when.
const MEMORY_MS: u32 = 600_000;

/// Tickets read in one call.
const READ_AT_ONCE: usize = 500;

/// Where a ticket stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketState {
    Waiting,
    /// A table is chosen, and the player is being seated.
    Placed,
    Seated,
    Cancelled,
    Expired,
}

impl TicketState {
    const ALL: [Self; 5] =
        [Self::Waiting, Self::Placed, Self::Seated, Self::Cancelled, Self::Expired];

    /// As the scripts write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Placed => "placed",
            Self::Seated => "seated",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// Why a ticket waits that others could go with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// All others that would fit come from the same network, and the rooms keep those apart.
    OnlySameNetwork,
}

impl WaitReason {
    const ALL: [Self; 1] = [Self::OnlySameNetwork];

    /// As the scripts write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OnlySameNetwork => "only_same_network",
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

/// A ticket as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTicket {
    pub id: TicketId,
    pub player: PlayerId,
    /// What the caller stored with it: bytes to this module.
    pub body: String,
    pub state: TicketState,
    /// Where the player is seated, or about to be.
    pub table: Option<TableId>,
    /// Why it waits, where others are there.
    pub reason: Option<WaitReason>,
    pub since: Timestamp,
    pub expires_at: Timestamp,
}

/// A ticket that became over, or whose reason to wait has changed: what every node hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    pub ticket: TicketId,
    pub state: TicketState,
    pub table: Option<TableId>,
    pub reason: Option<WaitReason>,
}

/// What whoever holds the lease begins a round with.
#[derive(Clone, Debug)]
pub struct Held {
    /// The number of the lease.
    pub fence: u64,
    pub now: Timestamp,
    pub waiting: Vec<TicketId>,
    /// Chosen tables whose players were not all seated yet, as they were put there.
    pub placed: BTreeMap<TicketId, String>,
}

impl LiveStore {
    /// Stores a ticket, unless its player has one that is not over: gives that one's id then.
    pub async fn put_matching_ticket(
        &self,
        id: TicketId,
        player: PlayerId,
        body: &str,
        life_ms: u32,
    ) -> Result<TicketId, Unavailable> {
        let mut call = self.scripts.ticket_put.prepare_invoke();
        call.key(self.ticket_of_key(player)).key(self.match_ticket_key(id));
        call.key(self.match_key("waiting"));
        call.arg(id.to_string()).arg(player.to_string()).arg(body).arg(life_ms).arg(OVER_MS);
        let stands: String = call.invoke_async(&mut self.commands.clone()).await?;
        stands.parse().map_err(|_| Unavailable("a ticket has no valid id".into()))
    }

    /// A ticket; `None` when there is none, or no longer.
    pub async fn matching_ticket(&self, id: TicketId) -> Result<Option<StoredTicket>, Unavailable> {
        Ok(self.matching_tickets(&[id]).await?.pop().flatten())
    }

    /// Several tickets, in their order.
    pub async fn matching_tickets(
        &self,
        ids: &[TicketId],
    ) -> Result<Vec<Option<StoredTicket>>, Unavailable> {
        let mut tickets = Vec::with_capacity(ids.len());
        for some in ids.chunks(READ_AT_ONCE) {
            let mut pipe = redis::pipe();
            for id in some {
                pipe.cmd("HMGET").arg(self.match_ticket_key(*id));
                for field in ["player", "body", "state", "table", "since", "expires", "reason"] {
                    pipe.arg(field);
                }
            }
            let rows: Vec<[Option<String>; 7]> =
                pipe.query_async(&mut self.commands.clone()).await?;
            tickets.extend(some.iter().zip(rows).map(|(id, row)| read(*id, row)));
        }
        Ok(tickets)
    }

    /// Cancels a ticket that waits. Gives its state after that; `None` when it is not known.
    pub async fn cancel_matching_ticket(
        &self,
        id: TicketId,
        player: PlayerId,
    ) -> Result<Option<TicketState>, Unavailable> {
        let mut call = self.scripts.ticket_cancel.prepare_invoke();
        call.key(self.ticket_of_key(player)).key(self.match_ticket_key(id));
        call.key(self.match_key("waiting")).key(self.match_key("over"));
        call.arg(id.to_string()).arg(OVER_MS).arg(OVER_MAX);
        let state: Option<String> = call.invoke_async(&mut self.commands.clone()).await?;
        Ok(state.and_then(|state| TicketState::of(&state)))
    }

    /// Cancels the ticket of a player who has found a table without it.
    pub async fn drop_matching_ticket(&self, player: PlayerId) -> Result<(), Unavailable> {
        let mut call = redis::cmd("GET");
        call.arg(self.ticket_of_key(player));
        let id: Option<String> = call.query_async(&mut self.commands.clone()).await?;
        if let Some(id) = id.and_then(|id| id.parse().ok()) {
            self.cancel_matching_ticket(id, player).await?;
        }
        Ok(())
    }

    /// Takes or keeps the lease, and gives what a round begins with. `None` while another has it.
    pub async fn hold_matching(&self, holder: &str) -> Result<Option<Held>, Unavailable> {
        let mut call = self.scripts.match_hold.prepare_invoke();
        for part in ["lease", "fence", "waiting", "placed", "over"] {
            call.key(self.match_key(part));
        }
        call.arg(holder).arg(LEASE_MS).arg(OVER_MS).arg(OVER_MAX).arg(self.match_key("ticket"));
        let held: Option<(u64, i64, Vec<String>, Vec<String>)> =
            call.invoke_async(&mut self.commands.clone()).await?;
        Ok(held.map(|(fence, now_ms, waiting, placed)| Held {
            fence,
            now: Timestamp::from_ms(now_ms),
            waiting: waiting.iter().filter_map(|id| id.parse().ok()).collect(),
            placed: placed
                .chunks_exact(2)
                .filter_map(|pair| Some((pair[0].parse().ok()?, pair[1].clone())))
                .collect(),
        }))
    }

    /// Gives the lease back, so that nobody waits for it to end.
    pub async fn release_matching(&self, holder: &str) -> Result<(), Unavailable> {
        let mut call = self.scripts.release.prepare_invoke();
        call.key(self.match_key("lease")).arg(holder);
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// What whoever places tickets has remembered beside them; `None` when that is long ago.
    pub async fn matching_memory(&self) -> Result<Option<String>, Unavailable> {
        let mut call = redis::cmd("GET");
        call.arg(self.match_key("memory"));
        Ok(call.query_async(&mut self.commands.clone()).await?)
    }

    /// Keeps this for whoever has the lease next: bytes to this module. A process that comes back
    /// late may put what is old in its place, until the next call.
    pub async fn remember_matching(&self, memory: &str) -> Result<(), Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(self.match_key("memory")).arg(memory).arg("PX").arg(MEMORY_MS);
        Ok(call.query_async(&mut self.commands.clone()).await?)
    }

    /// Places tickets together: all of them if all still wait and the lease is the present one,
    /// else none. `place` is given back by [`LiveStore::hold_matching`].
    pub async fn place_tickets(
        &self,
        holder: &str,
        fence: u64,
        tickets: &[TicketId],
        table: TableId,
        place: &str,
    ) -> Result<bool, Unavailable> {
        let mut call = self.scripts.match_place.prepare_invoke();
        for part in ["lease", "fence", "waiting", "placed"] {
            call.key(self.match_key(part));
        }
        call.arg(holder).arg(fence).arg(table.to_string()).arg(place);
        call.arg(self.match_key("ticket"));
        for ticket in tickets {
            call.arg(ticket.to_string());
        }
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    /// Ends the placing of a ticket at this table: seated, at this table or another one, or
    /// waiting again. Does nothing when the ticket is no longer being placed there.
    pub async fn finish_placing(
        &self,
        ticket: TicketId,
        player: PlayerId,
        placed_at: TableId,
        seated: Option<TableId>,
    ) -> Result<(), Unavailable> {
        let mut call = self.scripts.match_finish.prepare_invoke();
        call.key(self.ticket_of_key(player)).key(self.match_ticket_key(ticket));
        for part in ["waiting", "placed", "over"] {
            call.key(self.match_key(part));
        }
        call.arg(ticket.to_string()).arg(placed_at.to_string());
        call.arg(seated.map(|table| table.to_string()).unwrap_or_default());
        call.arg(OVER_MS).arg(OVER_MAX);
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Says why tickets wait; what has not changed is not told again.
    pub async fn set_wait_reasons(
        &self,
        reasons: &[(TicketId, Option<WaitReason>)],
    ) -> Result<(), Unavailable> {
        for some in reasons.chunks(READ_AT_ONCE) {
            let mut call = self.scripts.match_reason.prepare_invoke();
            call.key(self.match_key("over")).arg(OVER_MAX).arg(self.match_key("ticket"));
            for (ticket, reason) in some {
                call.arg(ticket.to_string()).arg(reason.map_or("", WaitReason::as_str));
            }
            call.invoke_async::<()>(&mut self.commands.clone()).await?;
        }
        Ok(())
    }

    /// What became of tickets after this place in the list, and the place to go on from. Without
    /// a place, only that.
    pub async fn matching_over(
        &self,
        after: Option<&str>,
    ) -> Result<(Vec<Over>, Option<String>), Unavailable> {
        type Rows = Vec<(String, Vec<String>)>;
        let mut commands = self.commands.clone();
        let Some(after) = after else {
            let mut call = redis::cmd("XREVRANGE");
            call.arg(self.match_key("over")).arg("+").arg("-").arg("COUNT").arg(1);
            let last: Rows = call.query_async(&mut commands).await?;
            return Ok((vec![], Some(last.into_iter().next().map_or("0-0".into(), |row| row.0))));
        };
        let mut call = redis::cmd("XRANGE");
        call.arg(self.match_key("over")).arg(format!("({after}")).arg("+");
        let rows: Rows = call.query_async(&mut commands).await?;
        let place = rows.last().map(|(place, _)| place.clone());
        let over = rows.into_iter().filter_map(|(_, fields)| {
            let fields: BTreeMap<&str, &str> =
                fields.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
            Some(Over {
                ticket: fields.get("ticket")?.parse().ok()?,
                state: TicketState::of(fields.get("state")?)?,
                table: fields.get("table").and_then(|table| table.parse().ok()),
                reason: fields.get("reason").and_then(|reason| WaitReason::from_text(reason)),
            })
        });
        Ok((over.collect(), place.or_else(|| Some(after.to_owned()))))
    }

    fn match_key(&self, part: &str) -> String {
        format!("{}:{{match}}:{part}", self.prefix)
    }

    fn match_ticket_key(&self, ticket: TicketId) -> String {
        self.match_key(&format!("ticket:{ticket}"))
    }

    fn ticket_of_key(&self, player: PlayerId) -> String {
        self.match_key(&format!("of:{player}"))
    }
}

fn read(id: TicketId, row: [Option<String>; 7]) -> Option<StoredTicket> {
    let [player, body, state, table, since, expires, reason] = row;
    let time = |text: Option<String>| Some(Timestamp::from_ms(text?.parse().ok()?));
    Some(StoredTicket {
        id,
        player: player?.parse().ok()?,
        body: body?,
        state: TicketState::of(&state?)?,
        table: table.and_then(|table| table.parse().ok()),
        reason: reason.and_then(|reason| WaitReason::from_text(&reason)),
        since: time(since)?,
        expires_at: time(expires)?,
    })
}
