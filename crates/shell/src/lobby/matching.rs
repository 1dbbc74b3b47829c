//! One round of the matcher: the sizes of new groups, the placements, and the reasons why tickets
//! wait.

use std::collections::BTreeSet;

use bahay_engine::game::SeatRange;
use bahay_engine::matchmaking::{
    OpenTable, Placement, REPEAT_MS, RoomSet, Round, Ticket, TicketId,
};
use bahay_engine::table::Timestamp;

/// A room, as far as the matcher distinguishes rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchRoom {
    pub seats: SeatRange,
    pub is_open: bool,
    /// Players of one network are kept apart.
    pub networks_apart: bool,
}

impl MatchRoom {
    /// Returns the rooms, by index, in which players of one network are kept apart.
    pub fn networks_apart(rooms: &[Self]) -> RoomSet {
        rooms.iter().enumerate().filter(|(_, room)| room.networks_apart).map(|(at, _)| at).collect()
    }
}

/// The input of one round.
#[derive(Clone, Copy, Debug)]
pub struct MatchRound<'a> {
    pub rooms: &'a [MatchRoom],
    pub tables: &'a [OpenTable],
    pub tickets: &'a [Ticket],
    pub now: Timestamp,
    /// The number of the round.
    pub turn: u64,
}

impl<'a> MatchRound<'a> {
    /// Returns the same round with these tickets.
    pub fn with_tickets<'b>(self, tickets: &'b [Ticket]) -> MatchRound<'b>
    where
        'a: 'b,
    {
        let Self { rooms, tables, now, turn, .. } = self;
        MatchRound { rooms, tables, tickets, now, turn }
    }

    /// Returns the tickets to be placed together, and where.
    pub fn placements(&self) -> Vec<Placement> {
        self.plan(MatchRoom::networks_apart(self.rooms))
    }

    /// Returns the tickets that would be placed without the separation of networks.
    pub fn kept_apart_by_network(&self) -> BTreeSet<TicketId> {
        let placements = self.plan(RoomSet::default());
        placements.into_iter().flat_map(|placement| placement.tickets).collect()
    }

    fn plan(&self, networks_apart: RoomSet) -> Vec<Placement> {
        let Self { tables, tickets, now, turn, .. } = *self;
        let seats = self.group_sizes();
        Round { seats: &seats, networks_apart, tables, tickets, now, turn }.placements()
    }

    /// Returns the number of players who begin together at a new table of each room: the maximum of
    /// the game, or as many as wait. Once a ticket has waited for a while it is the minimum of the
    /// game, and later players take the free seats. Zero for a closed room.
    fn group_sizes(&self) -> Vec<u8> {
        let size = |(at, room): (usize, &MatchRoom)| {
            let SeatRange { least, most } = room.seats;
            if !room.is_open {
                return 0;
            }
            if least == most {
                return most;
            }
            let waiting = || self.tickets.iter().filter(|ticket| ticket.rooms.contains(at));
            if waiting().any(|ticket| self.now.ms_since(ticket.since) >= REPEAT_MS) {
                return least;
            }
            u8::try_from(waiting().count()).unwrap_or(u8::MAX).clamp(least, most)
        };
        self.rooms.iter().enumerate().map(size).collect()
    }
}
