//! One round, from the oldest ticket to the newest, in three passes: among strangers and close by,
//! then also among those who have met and have waited for others in vain, and last whoever is
//! left, as thoroughly as the budget allows.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::matchmaking::brief::{Brief, Crowd, KeyMask};
use crate::matchmaking::lanes::{Lane, Way};
use crate::matchmaking::{
    Candidate, OpenTable, PlacementTarget, Placement, REPEAT_MS, ROOMS_MAX, Round, Ticket, fit_companions,
    window,
};

/// Comparisons for one ticket in the quick passes.
const NEAR: u32 = 96;

/// Comparisons in a round for those whom the quick passes could not place.
const THOROUGH: u32 = 150_000;

/// Whether those who have just played together may meet again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    Never,
    /// If one of them has waited for long enough.
    AfterWaiting,
}

/// The group that is looked for.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    room: usize,
    seats: u8,
    met: Met,
}

/// How many comparisons are left.
struct Budget(u32);

impl Budget {
    fn spend(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// A table as it fills up during the round.
struct Filling<'a> {
    table: &'a OpenTable,
    seats_free: u8,
    /// Who came during the round.
    joined: Vec<u32>,
}

pub(super) struct Search<'a> {
    round: &'a Round<'a>,
    /// By ticket.
    waited_ms: Vec<u64>,
    briefs: Vec<Brief>,
    /// The common keys that count, by room.
    masks: Vec<KeyMask>,
    /// Whether two were kept apart by nothing but having met, who need not be any more.
    met_again: Cell<bool>,
    placed: Vec<bool>,
    /// The oldest first.
    order: Vec<u32>,
    /// By room.
    lanes: Vec<Lane>,
    /// By room.
    crowds: Vec<Crowd>,
    /// The longest waited, by room: nobody's window is wider.
    longest_ms: Vec<u64>,
    tables: Vec<Filling<'a>>,
    placements: Vec<Placement>,
}

impl<'a> Search<'a> {
    pub(super) fn new(round: &'a Round<'a>) -> Self {
        let tickets = round.tickets;
        let count = tickets.len();
        let numbers = || (0..).take(count);
        let waited_ms: Vec<u64> =
            tickets.iter().map(|ticket| round.now.ms_since(ticket.since)).collect();
        // Sorted with what they are sorted by, which is quicker than looking it up.
        let key = |(one, ticket): (u32, &Ticket)| (ticket.since, ticket.id, one);
        let mut order: Vec<_> = numbers().zip(tickets).map(key).collect();
        order.sort_unstable();
        let order: Vec<u32> = order.into_iter().map(|(.., one)| one).collect();
        let (briefs, networks) = Brief::of_all(tickets, &waited_ms);
        let mut by_rating: Vec<(i32, u32, u32)> = (0..)
            .zip(&order)
            .map(|(age, one)| (briefs[*one as usize].rating(), age, *one))
            .collect();
        by_rating.sort_unstable();
        let rooms = round.seats.len().min(ROOMS_MAX);
        let masks: Vec<KeyMask> = (0..rooms)
            .map(|room| KeyMask::of_room(networks, round.networks_apart.contains(room)))
            .collect();
        let of_room = |room: usize| {
            let members = by_rating.iter().map(|(.., one)| *one);
            members.filter(|one| briefs[*one as usize].wants(room)).collect::<Vec<u32>>()
        };
        let members: Vec<Vec<u32>> = (0..rooms).map(of_room).collect();
        let lanes = members.iter().map(|members| Lane::new(members, count)).collect();
        let longest = |members: &Vec<u32>| {
            members.iter().map(|one| waited_ms[*one as usize]).max().unwrap_or(0)
        };
        let longest_ms = members.iter().map(longest).collect();
        let mut tables: Vec<Filling<'a>> = round
            .tables
            .iter()
            .filter(|table| table.room < rooms && table.seats_free > 0)
            // An empty table without a POT is no better than a new one.
            .filter(|table| table.has_pot || !table.companions.is_empty())
            .map(|table| Filling { table, seats_free: table.seats_free, joined: Vec::new() })
            .collect();
        tables
            .sort_by_key(|filling| (!filling.table.has_pot, filling.seats_free, filling.table.id));
        let placed = vec![false; count];
        let placements = Vec::new();
        let crowd = |(members, mask): (&Vec<u32>, &KeyMask)| {
            Crowd::count_members(members.iter().map(|one| &briefs[*one as usize]), *mask)
        };
        let crowds = members.iter().zip(&masks).map(crowd).collect();
        let met_again = Cell::new(false);
        Self {
            round,
            waited_ms,
            briefs,
            masks,
            met_again,
            placed,
            order,
            lanes,
            crowds,
            longest_ms,
            tables,
            placements,
        }
    }

    pub(super) fn run(mut self) -> Vec<Placement> {
        if self.order.is_empty() {
            return self.placements;
        }
        let all = self.order.clone();
        let met_again = self.pass(Met::Never, &all);
        // Without such a pair a second search would go as the first did.
        self.pass(Met::AfterWaiting, &met_again);
        self.thorough();
        self.placements
    }

    /// With little effort for each of these tickets. Gives those for which it mattered who has met.
    fn pass(&mut self, met: Met, seeds: &[u32]) -> Vec<u32> {
        self.fill_tables(met, &mut Budget(NEAR * 64), None);
        let mut met_again = Vec::new();
        for seed in seeds {
            if !self.placed[*seed as usize] {
                self.met_again.set(false);
                self.open_table(*seed, met, &mut Budget(NEAR));
                if self.met_again.get() {
                    met_again.push(*seed);
                }
            }
        }
        met_again
    }

    /// Whoever is left, beginning with another one in each round.
    fn thorough(&mut self) {
        let left: Vec<u32> =
            self.order.iter().copied().filter(|one| !self.placed[*one as usize]).collect();
        let Some(count) = u64::try_from(left.len()).ok().filter(|count| *count > 0) else {
            return;
        };
        let begin = usize::try_from(self.round.turn % count).unwrap_or(0);
        let mut budget = Budget(THOROUGH);
        for met in [Met::Never, Met::AfterWaiting] {
            self.fill_tables(met, &mut budget, Some(begin));
        }
        for number in 0..left.len() {
            let seed = left[(begin + number) % left.len()];
            for met in [Met::Never, Met::AfterWaiting] {
                if !self.placed[seed as usize] {
                    self.open_table(seed, met, &mut budget);
                }
            }
            if budget.0 == 0 {
                return;
            }
        }
    }

    /// Tables with a POT, then those with free seats. `begin` turns the order of tables, where
    /// effort runs out before they do.
    fn fill_tables(&mut self, met: Met, budget: &mut Budget, begin: Option<usize>) {
        let mut tables = core::mem::take(&mut self.tables);
        let begin = begin.filter(|_| tables.len() > NEAR as usize).unwrap_or(0);
        let count = tables.len();
        for number in 0..count {
            let filling = &mut tables[(begin + number) % count];
            if filling.seats_free == 0 {
                continue;
            }
            if filling.table.companions.is_empty() && filling.joined.is_empty() {
                self.revive(filling, met, budget);
            } else {
                self.join(filling, met, budget);
            }
        }
        tables.retain(|filling| filling.seats_free > 0);
        self.tables = tables;
    }

    /// A table that nobody sits at: a whole group, or nobody.
    fn revive(&mut self, filling: &mut Filling<'a>, met: Met, budget: &mut Budget) {
        let Filling { table, seats_free, joined } = filling;
        for number in 0..self.order.len() {
            let seed = self.order[number];
            if self.placed[seed as usize] || !self.wants(seed, table.room) {
                continue;
            }
            if budget.0 == 0 {
                return;
            }
            if let Some(group) = self.group(seed, table.room, *seats_free, met, budget) {
                self.place(PlacementTarget::At(table.id), &group);
                *seats_free = 0;
                joined.extend(group);
                return;
            }
        }
    }

    /// A table where somebody waits: one after the other.
    fn join(&mut self, filling: &mut Filling<'a>, met: Met, budget: &mut Budget) {
        for number in 0..self.order.len() {
            if filling.seats_free == 0 {
                return;
            }
            let seed = self.order[number];
            if self.placed[seed as usize] || !self.wants(seed, filling.table.room) {
                continue;
            }
            if !budget.spend() {
                return;
            }
            let room = filling.table.room;
            let mut companions = filling.table.companions.iter();
            let fits = companions.all(|other| self.fits_companions(seed, other, room, met))
                && filling.joined.iter().all(|other| self.fits(seed, *other, room, met));
            if fits {
                self.place(PlacementTarget::At(filling.table.id), &[seed]);
                filling.joined.push(seed);
                filling.seats_free -= 1;
            }
        }
    }

    /// A new table for this ticket, in the first of its rooms where a group comes together.
    fn open_table(&mut self, seed: u32, met: Met, budget: &mut Budget) {
        for room in 0..self.lanes.len() {
            let seats = self.round.seats[room];
            if seats == 0 || !self.wants(seed, room) {
                continue;
            }
            if let Some(group) = self.group(seed, room, seats, met, budget) {
                self.place(PlacementTarget::New { room }, &group);
                return;
            }
        }
    }

    /// So many tickets, this one among them, that all fit each other: the nearest by rating.
    fn group(
        &self,
        seed: u32,
        room: usize,
        seats: u8,
        met: Met,
        budget: &mut Budget,
    ) -> Option<Vec<u32>> {
        let mut group = vec![seed];
        if seats <= 1 {
            return Some(group);
        }
        let brief = &self.briefs[seed as usize];
        if self.crowds[room].others_for(brief) < u32::from(seats) - 1 {
            return None;
        }
        let lane = &self.lanes[room];
        let rating = brief.rating();
        let distance = |other: u32| self.briefs[other as usize].rating().abs_diff(rating);
        let reach = window(self.longest_ms[room]);
        let (mut down, mut up) = (lane.next(seed, Way::Down), lane.next(seed, Way::Up));
        let mut candidates: Vec<u32> = Vec::new();
        loop {
            let near = match (down, up) {
                (None, None) => return None,
                (Some(low), Some(high)) if distance(low) <= distance(high) => low,
                (Some(low), None) => low,
                (_, Some(high)) => high,
            };
            if distance(near) > reach || !budget.spend() {
                return None;
            }
            if down == Some(near) {
                down = lane.next(near, Way::Down);
            } else {
                up = lane.next(near, Way::Up);
            }
            if !self.fits(seed, near, room, met) {
                continue;
            }
            // Those nearer than this one have been tried with each other already.
            group.push(near);
            if self.complete(&mut group, &candidates, Wanted { room, seats, met }, budget) {
                return Some(group);
            }
            group.pop();
            candidates.push(near);
        }
    }

    /// Fills the group up from these candidates, if that goes.
    fn complete(
        &self,
        group: &mut Vec<u32>,
        candidates: &[u32],
        wanted: Wanted,
        budget: &mut Budget,
    ) -> bool {
        let Wanted { room, seats, met } = wanted;
        if group.len() == usize::from(seats) {
            return true;
        }
        for (number, candidate) in candidates.iter().enumerate() {
            // All of them fit the ticket that the group is for.
            let others = group.get(1..).unwrap_or_default();
            if !budget.spend() {
                return false;
            }
            if others.iter().all(|other| self.fits(*candidate, *other, room, met)) {
                group.push(*candidate);
                if self.complete(group, &candidates[number + 1..], wanted, budget) {
                    return true;
                }
                group.pop();
            }
        }
        false
    }

    fn place(&mut self, place: PlacementTarget, group: &[u32]) {
        for one in group {
            self.placed[*one as usize] = true;
            for (room, lane) in self.lanes.iter_mut().enumerate() {
                lane.remove(*one);
                if self.briefs[*one as usize].wants(room) {
                    self.crowds[room].remove(&self.briefs[*one as usize]);
                }
            }
        }
        let tickets = group.iter().map(|one| self.ticket(*one).id).collect();
        self.placements.push(Placement { place, tickets });
    }

    fn ticket(&self, number: u32) -> &'a Ticket {
        &self.round.tickets[number as usize]
    }

    fn wants(&self, ticket: u32, room: usize) -> bool {
        self.briefs[ticket as usize].wants(room)
    }

    fn fits(&self, one: u32, other: u32, room: usize, met: Met) -> bool {
        if !self.briefs[one as usize].may_fit(&self.briefs[other as usize], self.masks[room]) {
            return false;
        }
        let waited_ms = self.waited_ms[one as usize].max(self.waited_ms[other as usize]);
        let (one, other) = (self.ticket(one), self.ticket(other));
        let networks_apart = self.round.networks_apart.contains(room);
        if !fit_companions(one, &other.who, networks_apart, waited_ms) {
            return false;
        }
        let have_met =
            one.recent.contains(&other.who.player) || other.recent.contains(&one.who.player);
        if have_met && waited_ms >= REPEAT_MS {
            self.met_again.set(true);
            return met == Met::AfterWaiting;
        }
        !have_met
    }

    fn fits_companions(&self, one: u32, other: &Candidate, room: usize, met: Met) -> bool {
        let waited_ms = self.waited_ms[one as usize];
        let ticket = self.ticket(one);
        let may_meet = met == Met::AfterWaiting && waited_ms >= REPEAT_MS;
        let networks_apart = self.round.networks_apart.contains(room);
        fit_companions(ticket, other, networks_apart, waited_ms)
            && (may_meet || !ticket.recent.contains(&other.player))
    }
}
