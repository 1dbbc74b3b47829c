//! Matchmaking tickets, and the lease of the matcher.
//!
//! A ticket is *waiting*, then *placed* (its table is chosen and its player is being seated), then
//! over: seated, cancelled or expired. Each transition is one script call, so the second of two
//! callers finds it done: a ticket that is cancelled while it is being placed ends up either
//! cancelled or placed. Outcomes are published in a stream that every node reads, and are forgotten
//! after a minute.
//!
//! One process at a time places tickets. It holds a lease that lasts [`LEASE_MS`]; each lease has a
//! fencing number, and a ticket is placed only under the current one. A process that was paused and
//! resumes late places nothing. Its unfinished placements are found by the next holder, because
//! they are stored beside the waiting tickets until they are over.
//!
//! All keys share one hash tag, and therefore one slot of a Redis Cluster.

use std::collections::BTreeMap;

use bahay_base::states::{TicketState, WaitReason};
use bahay_engine::matchmaking::TicketId;
use bahay_engine::table::{PlayerId, TableId, Timestamp};

use crate::{LiveStore, Script, Unavailable, script, text_or_empty};

static TICKET_PUT: Script = script!("ticket_put.lua");
static TICKET_CANCEL: Script = script!("ticket_cancel.lua");
static MATCH_HOLD: Script = script!("match_hold.lua");
static MATCH_PLACE: Script = script!("match_place.lua");
static MATCH_FINISH: Script = script!("match_finish.lua");
static MATCH_REASON: Script = script!("match_reason.lua");

/// The lifetime of a lease after the last round, in milliseconds. No tickets are placed for that
/// time when a process dies.
pub const LEASE_MS: u32 = 2_000;

/// The time for which a ticket is kept after it is over, in milliseconds.
const OVER_MS: u32 = 60_000;

/// The length of the stream of updates, for nodes that read it late.
const OVER_MAX: usize = 20_000;

/// The time for which the matcher's state about waiting players is kept, in milliseconds.
const MEMORY_MS: u32 = 600_000;

/// The number of tickets in one call.
const READ_AT_ONCE: usize = 500;

/// A ticket as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTicket {
    pub id: TicketId,
    pub player: PlayerId,
    /// The caller's data, which is bytes to this module.
    pub body: String,
    pub state: TicketState,
    /// The table at which the player is seated or about to be seated.
    pub table: Option<TableId>,
    /// The reason why the ticket waits although other players wait too.
    pub reason: Option<WaitReason>,
    pub since: Timestamp,
    pub expires_at: Timestamp,
}

/// An update of a ticket that every node receives: it is over, or its reason to wait has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketUpdate {
    pub ticket: TicketId,
    pub state: TicketState,
    pub table: Option<TableId>,
    pub reason: Option<WaitReason>,
}

/// The lease of the matcher, with the input of a round.
#[derive(Clone, Debug)]
pub struct MatchingLease {
    /// The fencing number of the lease.
    pub fence: u64,
    pub now: Timestamp,
    pub waiting: Vec<TicketId>,
    /// The stored placements whose players are not all seated yet.
    pub placed: BTreeMap<TicketId, String>,
}

impl LiveStore {
    /// Stores a ticket. Returns its id, or the id of the player's present ticket if that one is not
    /// over.
    pub async fn put_matching_ticket(
        &self,
        id: TicketId,
        player: PlayerId,
        body: &str,
        life_ms: u32,
    ) -> Result<TicketId, Unavailable> {
        let mut call = TICKET_PUT.key(self.player_ticket_key(player));
        call.key(self.match_ticket_key(id)).key(self.match_key("waiting"));
        call.arg(id.to_string()).arg(player.to_string()).arg(body).arg(life_ms).arg(OVER_MS);
        let stored_id: String = self.invoke(&call).await?;
        stored_id.parse().map_err(|_| Unavailable("a ticket has no valid id".into()))
    }

    /// Returns a ticket; `None` if it is unknown or was forgotten.
    pub async fn matching_ticket(&self, id: TicketId) -> Result<Option<StoredTicket>, Unavailable> {
        Ok(self.matching_tickets(&[id]).await?.pop().flatten())
    }

    /// Returns several tickets, in the order of their ids.
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
            let rows: Vec<[Option<String>; 7]> = self.query_all(&pipe).await?;
            tickets.extend(some.iter().zip(rows).map(|(id, row)| parse_ticket(*id, row)));
        }
        Ok(tickets)
    }

    /// Cancels a waiting ticket. Returns its state afterwards; `None` if it is unknown.
    pub async fn cancel_matching_ticket(
        &self,
        id: TicketId,
        player: PlayerId,
    ) -> Result<Option<TicketState>, Unavailable> {
        let mut call = TICKET_CANCEL.key(self.player_ticket_key(player));
        call.key(self.match_ticket_key(id));
        call.key(self.match_key("waiting")).key(self.match_key("over"));
        call.arg(id.to_string()).arg(OVER_MS).arg(OVER_MAX);
        let state: Option<String> = self.invoke(&call).await?;
        Ok(state.and_then(|state| state.parse().ok()))
    }

    /// Cancels the ticket of a player who was seated without it.
    pub async fn drop_matching_ticket(&self, player: PlayerId) -> Result<(), Unavailable> {
        let id: Option<String> =
            self.query(redis::cmd("GET").arg(self.player_ticket_key(player))).await?;
        if let Some(id) = id.and_then(|id| id.parse().ok()) {
            self.cancel_matching_ticket(id, player).await?;
        }
        Ok(())
    }

    /// Acquires or renews the lease, and returns the input of a round. Returns `None` while another
    /// process holds the lease.
    pub async fn acquire_matching_lease(
        &self,
        holder: &str,
    ) -> Result<Option<MatchingLease>, Unavailable> {
        let mut call = MATCH_HOLD.prepare_invoke();
        self.add_match_keys(&mut call, &["lease", "fence", "waiting", "placed", "over"]);
        call.arg(holder).arg(LEASE_MS).arg(OVER_MS).arg(OVER_MAX).arg(self.match_key("ticket"));
        let held: Option<(u64, i64, Vec<String>, Vec<String>)> = self.invoke(&call).await?;
        Ok(held.map(|(fence, now_ms, waiting, placed)| MatchingLease {
            fence,
            now: Timestamp::from_ms(now_ms),
            waiting: waiting.iter().filter_map(|id| id.parse().ok()).collect(),
            placed: placed
                .chunks_exact(2)
                .filter_map(|pair| Some((pair[0].parse().ok()?, pair[1].clone())))
                .collect(),
        }))
    }

    /// Releases the lease, so that the next matcher does not wait for its expiry.
    pub async fn release_matching_lease(&self, holder: &str) -> Result<(), Unavailable> {
        self.release(&self.match_key("lease"), holder).await
    }

    /// Returns the state that a matcher has stored beside the tickets; `None` after it has expired.
    pub async fn matching_memory(&self) -> Result<Option<String>, Unavailable> {
        self.query(redis::cmd("GET").arg(self.match_key("memory"))).await
    }

    /// Stores state for the next holder of the lease; it is bytes to this module. A process that
    /// resumes late may overwrite it with outdated state, until the next call.
    pub async fn store_matching_memory(&self, memory: &str) -> Result<(), Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(self.match_key("memory")).arg(memory).arg("PX").arg(MEMORY_MS);
        self.query(&call).await
    }

    /// Places tickets together: all of them if all still wait and the lease is current, otherwise
    /// none. [`LiveStore::acquire_matching_lease`] returns `place` again.
    pub async fn place_tickets(
        &self,
        holder: &str,
        fence: u64,
        tickets: &[TicketId],
        table: TableId,
        place: &str,
    ) -> Result<bool, Unavailable> {
        let mut call = MATCH_PLACE.prepare_invoke();
        self.add_match_keys(&mut call, &["lease", "fence", "waiting", "placed"]);
        call.arg(holder).arg(fence).arg(table.to_string()).arg(place);
        call.arg(self.match_key("ticket"));
        for ticket in tickets {
            call.arg(ticket.to_string());
        }
        self.invoke(&call).await
    }

    /// Ends the placement of a ticket at this table: the player is seated, at this table or another
    /// one, or the ticket waits again. Does nothing if the ticket is no longer being placed there.
    pub async fn finish_placing(
        &self,
        ticket: TicketId,
        player: PlayerId,
        placed_at: TableId,
        seated: Option<TableId>,
    ) -> Result<(), Unavailable> {
        let mut call = MATCH_FINISH.key(self.player_ticket_key(player));
        call.key(self.match_ticket_key(ticket));
        self.add_match_keys(&mut call, &["waiting", "placed", "over"]);
        call.arg(ticket.to_string()).arg(placed_at.to_string()).arg(text_or_empty(seated));
        call.arg(OVER_MS).arg(OVER_MAX);
        self.invoke(&call).await
    }

    /// Sets the reasons for which tickets wait, and publishes those that have changed.
    pub async fn set_wait_reasons(
        &self,
        reasons: &[(TicketId, Option<WaitReason>)],
    ) -> Result<(), Unavailable> {
        for some in reasons.chunks(READ_AT_ONCE) {
            let mut call = MATCH_REASON.key(self.match_key("over"));
            call.arg(OVER_MAX).arg(self.match_key("ticket"));
            for (ticket, reason) in some {
                call.arg(ticket.to_string()).arg(reason.map_or("", WaitReason::as_str));
            }
            self.invoke::<()>(&call).await?;
        }
        Ok(())
    }

    /// Returns the updates after a cursor in the stream, and the next cursor. Without a cursor,
    /// returns only the cursor of the end.
    pub async fn ticket_updates(
        &self,
        after: Option<&str>,
    ) -> Result<(Vec<TicketUpdate>, Option<String>), Unavailable> {
        type Rows = Vec<(String, Vec<String>)>;
        let Some(after) = after else {
            let mut call = redis::cmd("XREVRANGE");
            call.arg(self.match_key("over")).arg("+").arg("-").arg("COUNT").arg(1);
            let last: Rows = self.query(&call).await?;
            return Ok((vec![], Some(last.into_iter().next().map_or("0-0".into(), |row| row.0))));
        };
        let mut call = redis::cmd("XRANGE");
        call.arg(self.match_key("over")).arg(format!("({after}")).arg("+");
        let rows: Rows = self.query(&call).await?;
        let place = rows.last().map(|(place, _)| place.clone());
        let over = rows.into_iter().filter_map(|(_, fields)| {
            let fields: BTreeMap<&str, &str> =
                fields.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
            Some(TicketUpdate {
                ticket: fields.get("ticket")?.parse().ok()?,
                state: fields.get("state")?.parse().ok()?,
                table: fields.get("table").and_then(|table| table.parse().ok()),
                reason: fields.get("reason").and_then(|reason| reason.parse().ok()),
            })
        });
        Ok((over.collect(), place.or_else(|| Some(after.to_owned()))))
    }

    fn add_match_keys(&self, call: &mut redis::ScriptInvocation<'_>, parts: &[&str]) {
        for part in parts {
            call.key(self.match_key(part));
        }
    }

    fn match_key(&self, part: &str) -> String {
        format!("{}:{{match}}:{part}", self.prefix)
    }

    fn match_ticket_key(&self, ticket: TicketId) -> String {
        self.match_key(&format!("ticket:{ticket}"))
    }

    fn player_ticket_key(&self, player: PlayerId) -> String {
        self.match_key(&format!("of:{player}"))
    }
}

fn parse_ticket(id: TicketId, row: [Option<String>; 7]) -> Option<StoredTicket> {
    let [player, body, state, table, since, expires, reason] = row;
    let time = |text: Option<String>| Some(Timestamp::from_ms(text?.parse().ok()?));
    Some(StoredTicket {
        id,
        player: player?.parse().ok()?,
        body: body?,
        state: state?.parse().ok()?,
        table: table.and_then(|table| table.parse().ok()),
        reason: reason.and_then(|reason| reason.parse().ok()),
        since: time(since)?,
        expires_at: time(expires)?,
    })
}
