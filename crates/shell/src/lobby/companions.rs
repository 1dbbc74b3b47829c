//! House bots as companions of players who have waited long (rule 8.6): at which tables they sit
//! down, which tickets are grouped beside them, and which bot leaves for a player.
//!
//! Ratings keep no players apart where a bot would join. The state that is kept between two passes
//! is stored beside the tickets, and is loaded by the next matcher that acquires the lease.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::matchmaking::{
    Candidate, OpenTable, PlacementTarget, Round, Ticket, TicketId, WINDOW_MS, fits_candidate,
};
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use serde::{Deserialize, Serialize};

use super::MatchRoom;

/// The maximum number of tickets for which bots are asked to leave in one pass.
const LEAVE_REQUESTS_MAX: usize = 64;

/// The state that is kept between two passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanionMemory {
    /// Tables at which players wait: the number of free seats, and the time since which it is that
    /// number.
    #[serde(rename = "lonely")]
    waiting_tables: BTreeMap<TableId, (u8, Timestamp)>,
    /// Tickets for which a bot was asked to leave.
    promised: BTreeSet<TicketId>,
}

/// Tickets whose players sit down at a new table with bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanionGroup {
    pub room: usize,
    pub tickets: Vec<TicketId>,
    pub bots: u8,
    /// The rating of a player of the group, which the bots take.
    pub rating: i32,
}

/// A table with bots that can leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotTable {
    pub table: TableId,
    /// The index of the table's room.
    pub room: usize,
    pub bots: Vec<PlayerId>,
    /// The players at the table beside the bots.
    pub companions: Vec<Candidate>,
    pub is_running: bool,
}

impl BotTable {
    /// Returns a bot whose seat a player may take at once: no game is running, and nobody keeps the
    /// player apart.
    pub fn replaceable_bot(&self, player: &Candidate, networks_apart: bool) -> Option<PlayerId> {
        let fits = self.companions.iter().all(|one| player.may_meet(one, networks_apart));
        self.bots.last().copied().filter(|_| !self.is_running && fits)
    }
}

/// Decides where bots join and leave.
#[derive(Debug, Default)]
pub struct Companions {
    bots: BTreeSet<PlayerId>,
    after_ms: u64,
    /// The time of the last call of [`Companions::are_due`].
    checked_at: Timestamp,
    pub memory: CompanionMemory,
}

impl Companions {
    /// Creates the decisions about bots that join players who have waited for `after_ms`.
    pub fn new(bots: impl IntoIterator<Item = PlayerId>, after_ms: u64) -> Self {
        Self { bots: bots.into_iter().collect(), after_ms, ..Self::default() }
    }

    pub fn is_bot(&self, player: PlayerId) -> bool {
        self.bots.contains(&player)
    }

    /// Returns true if one of these tickets reached the waiting time after the previous call.
    pub fn are_due(&mut self, waiting: &[Ticket], now: Timestamp) -> bool {
        let before = std::mem::replace(&mut self.checked_at, now);
        let waited = |ticket: &Ticket, at: Timestamp| {
            at >= ticket.since && at.ms_since(ticket.since) >= self.after_ms
        };
        waiting.iter().any(|ticket| waited(ticket, now) && !waited(ticket, before))
    }

    /// Returns the tables at which players have waited long enough, and updates the state about all
    /// of them and about the waiting tickets.
    pub fn take_long_waiting(
        &mut self,
        open: Vec<OpenTable>,
        waiting: &[Ticket],
        now: Timestamp,
    ) -> Vec<OpenTable> {
        let waits = |ticket: &TicketId| waiting.iter().any(|waiting| waiting.id == *ticket);
        self.memory.promised.retain(waits);
        let mut before = std::mem::take(&mut self.memory.waiting_tables);
        let mut long = Vec::new();
        for open in open {
            if open.companions.iter().all(|one| self.is_bot(one.player)) {
                continue;
            }
            let since = match before.remove(&open.id) {
                Some((seats_free, since)) if seats_free == open.seats_free => since,
                Some(_) | None => now,
            };
            self.memory.waiting_tables.insert(open.id, (open.seats_free, since));
            if now.ms_since(since) >= self.after_ms {
                long.push(open);
            }
        }
        long
    }

    /// Returns the rating that bots take at a table: that of a player there, so that ratings keep
    /// nobody away.
    pub fn rating_at(&self, open: &OpenTable) -> Option<i32> {
        let player = open.companions.iter().find(|one| !self.is_bot(one.player));
        player.map(|one| one.rating)
    }

    /// Returns the tickets, the oldest first, whose players fit beside those who have waited long
    /// at a table.
    pub fn fitting_tickets(
        room: &MatchRoom,
        open: &OpenTable,
        waiting: &mut [Ticket],
    ) -> Vec<TicketId> {
        let mut companions = open.companions.clone();
        let mut invited = Vec::new();
        waiting.sort_by_key(|ticket| (ticket.since, ticket.id));
        for ticket in waiting.iter().filter(|ticket| ticket.rooms.contains(open.room)) {
            let fits = |one| fits_candidate(ticket, one, room.networks_apart, WINDOW_MS);
            if invited.len() < usize::from(open.seats_free) && companions.iter().all(fits) {
                companions.push(ticket.candidate.clone());
                invited.push(ticket.id);
            }
        }
        invited
    }

    /// Returns the number of bots that join a table: only up to the minimum of a game, because the
    /// other seats are left to players.
    pub fn missing_bots(room: &MatchRoom, open: &OpenTable, invited: usize) -> u8 {
        let count = |count| u8::try_from(count).unwrap_or(u8::MAX);
        let lacking = room.seats.least.saturating_sub(count(open.companions.len()));
        open.seats_free.min(lacking).saturating_sub(count(invited))
    }

    /// Returns the group sizes to be tried, larger ones first: another player of any rating is
    /// preferred to a bot.
    pub fn group_sizes(rooms: &[MatchRoom]) -> impl Iterator<Item = u8> + use<> {
        let most = rooms.iter().map(|room| room.seats.least).max().unwrap_or_default();
        (1..=most).rev()
    }

    /// Returns groups of this size in which a player has waited long, as many as fit each other.
    pub fn groups(
        &self,
        rooms: &[MatchRoom],
        waiting: &[Ticket],
        size: u8,
        now: Timestamp,
        turn: u64,
    ) -> Vec<CompanionGroup> {
        let is_tired = |ticket: &Ticket| now.ms_since(ticket.since) >= self.after_ms;
        if !waiting.iter().any(is_tired) {
            return Vec::new();
        }
        let long_ago = Timestamp::from_ms(now.ms().saturating_sub_unsigned(WINDOW_MS));
        let takes = |room: &MatchRoom| room.is_open && room.seats.least >= size;
        let seats: Vec<u8> = rooms.iter().map(|room| if takes(room) { size } else { 0 }).collect();
        let regardless_of_ratings = |ticket: &Ticket| {
            let since = if is_tired(ticket) { ticket.since.min(long_ago) } else { ticket.since };
            Ticket { since, ..ticket.clone() }
        };
        let tickets: Vec<Ticket> = waiting.iter().map(regardless_of_ratings).collect();
        let networks_apart = MatchRoom::networks_apart(rooms);
        let round =
            Round { seats: &seats, networks_apart, tables: &[], tickets: &tickets, now, turn };
        let mut groups = Vec::new();
        for placement in round.placements() {
            let PlacementTarget::NewTable { room } = placement.target else {
                continue;
            };
            let is_one = |ticket: &&Ticket| placement.tickets.contains(&ticket.id);
            let mut group = waiting.iter().filter(is_one);
            let rating = group.clone().next().map_or(0, |ticket| ticket.candidate.rating);
            if group.any(is_tired) {
                let bots = rooms[room].seats.least - size;
                groups.push(CompanionGroup { room, tickets: placement.tickets, bots, rating });
            }
        }
        groups
    }

    /// Returns true if a ticket waits for which no bot was asked to leave.
    pub fn wants_bots_to_leave(&self, waiting: &[Ticket]) -> bool {
        waiting.iter().any(|ticket| !self.memory.promised.contains(&ticket.id))
    }

    /// Returns the bots that are to leave tables which would fit waiting players: one bot for each
    /// ticket, once.
    pub fn leaving_bots(
        &mut self,
        rooms: &[MatchRoom],
        waiting: &[Ticket],
        tables: &mut [BotTable],
        now: Timestamp,
    ) -> Vec<(TableId, PlayerId)> {
        let promised = &mut self.memory.promised;
        let mut waiting: Vec<&Ticket> =
            waiting.iter().filter(|ticket| !promised.contains(&ticket.id)).collect();
        waiting.sort_by_key(|ticket| (ticket.since, ticket.id));
        waiting.truncate(LEAVE_REQUESTS_MAX);
        let mut leaving = Vec::new();
        for ticket in waiting {
            let waited_ms = now.ms_since(ticket.since);
            let bot = tables.iter_mut().find_map(|table| {
                let networks_apart = rooms.get(table.room).is_none_or(|room| room.networks_apart);
                let fits = |one| fits_candidate(ticket, one, networks_apart, waited_ms);
                let is_wanted =
                    ticket.rooms.contains(table.room) && table.companions.iter().all(fits);
                let bot = if is_wanted { table.bots.pop() } else { None };
                bot.map(|bot| (table.table, bot))
            });
            if let Some(bot) = bot {
                promised.insert(ticket.id);
                leaving.push(bot);
            }
        }
        leaving
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::game::SeatRange;
    use bahay_engine::matchmaking::{Candidate, OpenTable, Ticket, TicketId};
    use bahay_engine::table::{PlayerId, TableId, Timestamp};
    use uuid::Uuid;

    use super::{BotTable, Companions, MatchRoom};

    const ROOM: MatchRoom =
        MatchRoom { seats: SeatRange::exactly(3), is_open: true, networks_apart: false };

    fn player(number: u128) -> PlayerId {
        PlayerId(Uuid::from_u128(number))
    }

    fn ticket(number: u128, room: usize, since_ms: i64) -> Ticket {
        Ticket {
            id: TicketId(Uuid::from_u128(number)),
            candidate: Candidate::new(player(number), 25_000),
            rooms: [room].into_iter().collect(),
            recent: Vec::new(),
            since: Timestamp::from_ms(since_ms),
        }
    }

    #[test]
    fn one_bot_leaves_for_each_ticket_at_a_table_that_the_ticket_names() {
        let table = |number: u128, room| BotTable {
            table: TableId(Uuid::from_u128(number)),
            room,
            bots: vec![player(number)],
            companions: Vec::new(),
            is_running: true,
        };
        let mut tables = [table(11, 0), table(12, 1)];
        let waiting = [ticket(1, 1, 0), ticket(2, 0, 5)];
        let mut companions = Companions::new([player(11), player(12)], 1_000);
        let now = Timestamp::from_ms(10);
        let leaving = companions.leaving_bots(&[ROOM, ROOM], &waiting, &mut tables, now);
        let tables_left: Vec<_> = leaving.iter().map(|(table, _)| table.0.as_u128()).collect();
        assert_eq!(tables_left, [12, 11]);
        assert!(!companions.wants_bots_to_leave(&waiting), "each ticket asks once");
    }

    #[test]
    fn players_who_wait_long_are_grouped_with_bots_and_tables_filled_to_the_minimum() {
        let companions = Companions::new([player(11)], 1_000);
        let now = Timestamp::from_ms(2_000);
        let waiting = [ticket(1, 0, 0), ticket(2, 0, 1_900)];
        let sizes: Vec<_> = Companions::group_sizes(&[ROOM]).collect();
        assert_eq!(sizes, [3, 2, 1]);
        let groups = companions.groups(&[ROOM], &waiting, 2, now, 1);
        let found: Vec<_> = groups.iter().map(|group| (group.tickets.len(), group.bots)).collect();
        assert_eq!(found, [(2, 1)]);
        assert!(companions.groups(&[ROOM], &waiting[1..], 1, now, 1).is_empty(), "nobody is tired");
        let id = TableId(Uuid::from_u128(11));
        let seated = vec![Candidate::new(player(3), 25_000)];
        let open = OpenTable { id, room: 0, seats_free: 2, has_pot: false, companions: seated };
        assert_eq!(Companions::missing_bots(&ROOM, &open, 0), 2);
        assert_eq!(Companions::missing_bots(&ROOM, &open, 1), 1);
    }
}
