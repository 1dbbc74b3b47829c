//! The search of one round, from the oldest ticket to the newest, in three passes: a quick one
//! among players who have not just met, a second that also allows recent opponents after their
//! waiting time, and a thorough one for the remaining tickets, as far as the budget lasts.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::matchmaking::rating_list::{Direction, RatingList};
use crate::matchmaking::summary::{KeyCounts, KeyMask, TicketSummary};
use crate::matchmaking::{
    Candidate, OpenTable, Placement, PlacementTarget, REPEAT_MS, ROOMS_MAX, Round, Ticket,
    fits_candidate, rating_window,
};

/// The number of comparisons for one ticket in the quick passes.
const NEAR: u32 = 96;

/// The number of comparisons in a round for tickets that the quick passes could not place.
const THOROUGH: u32 = 150_000;

/// The policy for players who have just played together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepeatPolicy {
    Never,
    /// They may meet if one of them has waited for [`REPEAT_MS`].
    AfterWaiting,
}

/// The requirements of a group.
#[derive(Clone, Copy, Debug)]
struct GroupRequest {
    room: usize,
    seats: u8,
    repeats: RepeatPolicy,
}

/// The number of comparisons left.
struct Budget(u32);

impl Budget {
    fn spend(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// The state of a table during the round.
struct TableFill<'a> {
    table: &'a OpenTable,
    seats_free: u8,
    /// The tickets placed there during the round.
    joined: Vec<u32>,
}

pub(super) struct PlacementSearch<'a> {
    round: &'a Round<'a>,
    /// The waiting time by ticket, in milliseconds.
    waited_ms: Vec<u64>,
    summaries: Vec<TicketSummary>,
    /// The common keys that separate players, by room.
    masks: Vec<KeyMask>,
    /// True if two players were separated only because they had met, which no longer counts.
    has_repeats: Cell<bool>,
    placed: Vec<bool>,
    /// The tickets, the oldest first.
    order: Vec<u32>,
    /// The waiting tickets by room.
    rating_lists: Vec<RatingList>,
    /// The counts of common keys by room.
    key_counts: Vec<KeyCounts>,
    /// The longest waiting time by room, in milliseconds; no ticket's window is wider.
    longest_ms: Vec<u64>,
    tables: Vec<TableFill<'a>>,
    placements: Vec<Placement>,
}

impl<'a> PlacementSearch<'a> {
    pub(super) fn new(round: &'a Round<'a>) -> Self {
        let tickets = round.tickets;
        let count = tickets.len();
        let numbers = || (0..).take(count);
        let waited_ms: Vec<u64> =
            tickets.iter().map(|ticket| round.now.ms_since(ticket.since)).collect();
        // The sort keys are stored with the tickets, which is faster than looking them up.
        let key = |(one, ticket): (u32, &Ticket)| (ticket.since, ticket.id, one);
        let mut order: Vec<_> = numbers().zip(tickets).map(key).collect();
        order.sort_unstable();
        let order: Vec<u32> = order.into_iter().map(|(.., one)| one).collect();
        let (summaries, networks) = TicketSummary::summarize_all(tickets, &waited_ms);
        let mut by_rating: Vec<(i32, u32, u32)> = (0..)
            .zip(&order)
            .map(|(age, one)| (summaries[*one as usize].rating(), age, *one))
            .collect();
        by_rating.sort_unstable();
        let rooms = round.seats.len().min(ROOMS_MAX);
        let masks: Vec<KeyMask> = (0..rooms)
            .map(|room| KeyMask::for_room(networks, round.networks_apart.contains(room)))
            .collect();
        let of_room = |room: usize| {
            let members = by_rating.iter().map(|(.., one)| *one);
            members.filter(|one| summaries[*one as usize].accepts_room(room)).collect::<Vec<u32>>()
        };
        let members: Vec<Vec<u32>> = (0..rooms).map(of_room).collect();
        let rating_lists = members.iter().map(|members| RatingList::new(members, count)).collect();
        let longest = |members: &Vec<u32>| {
            members.iter().map(|one| waited_ms[*one as usize]).max().unwrap_or(0)
        };
        let longest_ms = members.iter().map(longest).collect();
        let mut tables: Vec<TableFill<'a>> = round
            .tables
            .iter()
            .filter(|table| table.room < rooms && table.seats_free > 0)
            // An empty table without a POT is no better than a new one.
            .filter(|table| table.has_pot || !table.companions.is_empty())
            .map(|table| TableFill { table, seats_free: table.seats_free, joined: Vec::new() })
            .collect();
        tables.sort_by_key(|fill| (!fill.table.has_pot, fill.seats_free, fill.table.id));
        let counts = |(members, mask): (&Vec<u32>, &KeyMask)| {
            KeyCounts::count_members(members.iter().map(|one| &summaries[*one as usize]), *mask)
        };
        let key_counts = members.iter().zip(&masks).map(counts).collect();
        Self {
            round,
            waited_ms,
            summaries,
            masks,
            has_repeats: Cell::new(false),
            placed: vec![false; count],
            order,
            rating_lists,
            key_counts,
            longest_ms,
            tables,
            placements: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Vec<Placement> {
        if self.order.is_empty() {
            return self.placements;
        }
        let all = self.order.clone();
        let has_repeats = self.run_pass(RepeatPolicy::Never, &all);
        // Without such a pair a second search would repeat the first.
        self.run_pass(RepeatPolicy::AfterWaiting, &has_repeats);
        self.run_thorough_pass();
        self.placements
    }

    /// Places these tickets with little effort for each. Returns the tickets that were affected by
    /// the policy on recent opponents.
    fn run_pass(&mut self, repeats: RepeatPolicy, seeds: &[u32]) -> Vec<u32> {
        self.fill_tables(repeats, &mut Budget(NEAR * 64), None);
        let mut has_repeats = Vec::new();
        for seed in seeds {
            if !self.placed[*seed as usize] {
                self.has_repeats.set(false);
                self.open_table(*seed, repeats, &mut Budget(NEAR));
                if self.has_repeats.get() {
                    has_repeats.push(*seed);
                }
            }
        }
        has_repeats
    }

    /// Places the remaining tickets, beginning with another one in each round.
    fn run_thorough_pass(&mut self) {
        let left: Vec<u32> =
            self.order.iter().copied().filter(|one| !self.placed[*one as usize]).collect();
        let Some(count) = u64::try_from(left.len()).ok().filter(|count| *count > 0) else { return };
        let begin = usize::try_from(self.round.turn % count).unwrap_or(0);
        let mut budget = Budget(THOROUGH);
        for repeats in [RepeatPolicy::Never, RepeatPolicy::AfterWaiting] {
            self.fill_tables(repeats, &mut budget, Some(begin));
        }
        for number in 0..left.len() {
            let seed = left[(begin + number) % left.len()];
            for repeats in [RepeatPolicy::Never, RepeatPolicy::AfterWaiting] {
                if !self.placed[seed as usize] {
                    self.open_table(seed, repeats, &mut budget);
                }
            }
            if budget.0 == 0 {
                return;
            }
        }
    }

    /// Fills tables with a POT, then those with free seats. `begin` rotates the order of the
    /// tables, in case the budget runs out before they do.
    fn fill_tables(&mut self, repeats: RepeatPolicy, budget: &mut Budget, begin: Option<usize>) {
        let mut tables = core::mem::take(&mut self.tables);
        let begin = begin.filter(|_| tables.len() > NEAR as usize).unwrap_or(0);
        let count = tables.len();
        for number in 0..count {
            let fill = &mut tables[(begin + number) % count];
            if fill.seats_free == 0 {
                continue;
            }
            if fill.table.companions.is_empty() && fill.joined.is_empty() {
                self.fill_empty_table(fill, repeats, budget);
            } else {
                self.fill_occupied_table(fill, repeats, budget);
            }
        }
        tables.retain(|fill| fill.seats_free > 0);
        self.tables = tables;
    }

    /// Places a whole group at an empty table, or nobody.
    fn fill_empty_table(
        &mut self,
        fill: &mut TableFill<'a>,
        repeats: RepeatPolicy,
        budget: &mut Budget,
    ) {
        let TableFill { table, seats_free, joined } = fill;
        for number in 0..self.order.len() {
            let seed = self.order[number];
            if self.placed[seed as usize] || !self.accepts_room(seed, table.room) {
                continue;
            }
            if budget.0 == 0 {
                return;
            }
            if let Some(group) = self.find_group(seed, table.room, *seats_free, repeats, budget) {
                self.place_group(PlacementTarget::ExistingTable(table.id), &group);
                *seats_free = 0;
                joined.extend(group);
                return;
            }
        }
    }

    /// Places single tickets at an occupied table.
    fn fill_occupied_table(
        &mut self,
        fill: &mut TableFill<'a>,
        repeats: RepeatPolicy,
        budget: &mut Budget,
    ) {
        for number in 0..self.order.len() {
            if fill.seats_free == 0 {
                return;
            }
            let seed = self.order[number];
            if self.placed[seed as usize] || !self.accepts_room(seed, fill.table.room) {
                continue;
            }
            if !budget.spend() {
                return;
            }
            let room = fill.table.room;
            let mut companions = fill.table.companions.iter();
            let fits = companions.all(|other| self.fits_seated(seed, other, room, repeats))
                && fill.joined.iter().all(|other| self.tickets_fit(seed, *other, room, repeats));
            if fits {
                self.place_group(PlacementTarget::ExistingTable(fill.table.id), &[seed]);
                fill.joined.push(seed);
                fill.seats_free -= 1;
            }
        }
    }

    /// Creates a table for this ticket in the first of its rooms for which a group is found.
    fn open_table(&mut self, seed: u32, repeats: RepeatPolicy, budget: &mut Budget) {
        for room in 0..self.rating_lists.len() {
            let seats = self.round.seats[room];
            if seats == 0 || !self.accepts_room(seed, room) {
                continue;
            }
            if let Some(group) = self.find_group(seed, room, seats, repeats, budget) {
                self.place_group(PlacementTarget::NewTable { room }, &group);
                return;
            }
        }
    }

    /// Finds a group of `seats` tickets, including this one, that all fit each other: the nearest
    /// by rating.
    fn find_group(
        &self,
        seed: u32,
        room: usize,
        seats: u8,
        repeats: RepeatPolicy,
        budget: &mut Budget,
    ) -> Option<Vec<u32>> {
        let mut group = vec![seed];
        if seats <= 1 {
            return Some(group);
        }
        let summary = &self.summaries[seed as usize];
        if self.key_counts[room].max_partners(summary) < u32::from(seats) - 1 {
            return None;
        }
        let list = &self.rating_lists[room];
        let rating = summary.rating();
        let distance = |other: u32| self.summaries[other as usize].rating().abs_diff(rating);
        let reach = rating_window(self.longest_ms[room]);
        let mut down = list.next(seed, Direction::Down);
        let mut up = list.next(seed, Direction::Up);
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
                down = list.next(near, Direction::Down);
            } else {
                up = list.next(near, Direction::Up);
            }
            if !self.tickets_fit(seed, near, room, repeats) {
                continue;
            }
            // The candidates nearer than this one have already been tried with each other.
            group.push(near);
            if self.complete_group(
                &mut group,
                &candidates,
                GroupRequest { room, seats, repeats },
                budget,
            ) {
                return Some(group);
            }
            group.pop();
            candidates.push(near);
        }
    }

    /// Completes the group from these candidates, if possible.
    fn complete_group(
        &self,
        group: &mut Vec<u32>,
        candidates: &[u32],
        wanted: GroupRequest,
        budget: &mut Budget,
    ) -> bool {
        let GroupRequest { room, seats, repeats } = wanted;
        if group.len() == usize::from(seats) {
            return true;
        }
        for (number, candidate) in candidates.iter().enumerate() {
            // All candidates fit the ticket for which the group is formed.
            let others = group.get(1..).unwrap_or_default();
            if !budget.spend() {
                return false;
            }
            if others.iter().all(|other| self.tickets_fit(*candidate, *other, room, repeats)) {
                group.push(*candidate);
                if self.complete_group(group, &candidates[number + 1..], wanted, budget) {
                    return true;
                }
                group.pop();
            }
        }
        false
    }

    fn place_group(&mut self, target: PlacementTarget, group: &[u32]) {
        for one in group {
            self.placed[*one as usize] = true;
            for (room, list) in self.rating_lists.iter_mut().enumerate() {
                list.remove(*one);
                if self.summaries[*one as usize].accepts_room(room) {
                    self.key_counts[room].remove(&self.summaries[*one as usize]);
                }
            }
        }
        let tickets = group.iter().map(|one| self.ticket(*one).id).collect();
        self.placements.push(Placement { target, tickets });
    }

    fn ticket(&self, number: u32) -> &'a Ticket {
        &self.round.tickets[number as usize]
    }

    fn accepts_room(&self, ticket: u32, room: usize) -> bool {
        self.summaries[ticket as usize].accepts_room(room)
    }

    fn tickets_fit(&self, one: u32, other: u32, room: usize, repeats: RepeatPolicy) -> bool {
        if !self.summaries[one as usize].may_fit(&self.summaries[other as usize], self.masks[room])
        {
            return false;
        }
        let waited_ms = self.waited_ms[one as usize].max(self.waited_ms[other as usize]);
        let one = self.ticket(one);
        let other = self.ticket(other);
        let networks_apart = self.round.networks_apart.contains(room);
        if !fits_candidate(one, &other.candidate, networks_apart, waited_ms) {
            return false;
        }
        let have_met = one.recent.contains(&other.candidate.player)
            || other.recent.contains(&one.candidate.player);
        if have_met && waited_ms >= REPEAT_MS {
            self.has_repeats.set(true);
            return repeats == RepeatPolicy::AfterWaiting;
        }
        !have_met
    }

    fn fits_seated(&self, one: u32, other: &Candidate, room: usize, repeats: RepeatPolicy) -> bool {
        let waited_ms = self.waited_ms[one as usize];
        let ticket = self.ticket(one);
        let may_meet = repeats == RepeatPolicy::AfterWaiting && waited_ms >= REPEAT_MS;
        let networks_apart = self.round.networks_apart.contains(room);
        fits_candidate(ticket, other, networks_apart, waited_ms)
            && (may_meet || !ticket.recent.contains(&other.player))
    }
}
