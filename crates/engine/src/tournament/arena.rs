//! Arena tournaments: pairings and scores (chapter 4).

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::coins::Coins;
use crate::table::PlayerId;
use crate::tournament::Tournament;
use crate::tournament::entrant::Entrant;
use crate::tournament::event::Event;
use crate::tournament::phase::Phase;
use crate::tournament::seating::{WaitingPlayer, balance_seats, pair_waiting};
use crate::tournament::terms::Format;

/// The points of a win; those of a draw are half of it.
const WIN: i64 = 2;

/// The number of wins in a row after which points are doubled.
const STREAK: u32 = 2;

/// The maximum number of players who are paired with each other.
const GROUP_MAX: usize = 99;

/// The number of pairings after which recent opponents may meet again.
const PATIENCE: u32 = 3;

impl Tournament {
    /// Starts an arena tournament: everybody waits.
    pub(super) fn start_arena(&mut self, duration_ms: u32, pairing_ms: u32) {
        let ends_at = self.at.after_ms(duration_ms);
        let next_pairing = self.at.after_ms(pairing_ms);
        self.round = 1;
        self.phase = Phase::Arena { ends_at, next_pairing };
        for place in self.places_where(Entrant::takes_part) {
            self.wait_for_table(place);
        }
    }

    /// Lets an entrant of an arena tournament wait for a table, unless paused or at one.
    pub(super) fn wait_for_table(&mut self, place: u32) {
        let at = self.at;
        let entrant = self.at_place_mut(place);
        if entrant.takes_part() && !entrant.is_paused && entrant.table.is_none() {
            entrant.waits_since = at;
            self.waiting.insert(place);
        }
    }

    pub(super) fn pause(&mut self, place: u32, events: &mut Vec<Event>) {
        let entrant = self.at_place_mut(place);
        entrant.is_paused = true;
        events.push(Event::Paused { player: entrant.player });
        self.waiting.remove(&place);
    }

    /// Pairs the waiting players by rank, in groups of at most 99 (rule 4.1). The players who have
    /// waited longest are paired first if not everybody can be.
    pub(super) fn pair(&mut self, events: &mut Vec<Event>) {
        let Format::Arena { pairing_ms, .. } = self.terms.format else { return };
        if let Phase::Arena { next_pairing, .. } = &mut self.phase {
            *next_pairing = self.at.after_ms(pairing_ms);
        }
        let seats = usize::from(self.terms.game.seats);
        let mut places: Vec<u32> = self.waiting.iter().copied().collect();
        let without = places.len() % seats;
        places.sort_by_key(|place| (self.at_place(*place).waits_since, *place));
        places.truncate(places.len() - without);
        self.rank(&mut places);
        let patience_ms = pairing_ms.saturating_mul(PATIENCE);
        let player = |place: &u32| {
            let waited_ms = self.at.ms_since(self.at_place(*place).waits_since);
            self.waiting_player(*place, waited_ms >= u64::from(patience_ms))
        };
        let players: Vec<WaitingPlayer<'_>> = places.iter().map(player).collect();
        let group_size = GROUP_MAX - GROUP_MAX % seats;
        let mut tables = Vec::new();
        for group in players.chunks(group_size) {
            tables.extend(pair_waiting(group, seats));
        }
        if tables.is_empty() {
            return;
        }
        let counts = |place: u32, seat: usize| self.at_place(place).seat_counts[seat];
        let tables: Vec<Vec<u32>> =
            tables.iter().map(|table| balance_seats(table, counts)).collect();
        for place in tables.iter().flatten() {
            self.waiting.remove(place);
        }
        let round = self.round;
        let tables = self.seat_tables(round, tables, 1);
        let byes = Vec::new();
        events.push(Event::Seated { round, tables, byes, commitments: Vec::new() });
    }

    /// Scores a game: the highest points alone win, shared ones draw; after two wins in a row both
    /// count double (rules 4.2 and 4.3).
    pub(super) fn score_arena_game(&mut self, entrants: &[u32], points: &[Coins]) {
        let most = points.iter().copied().max().unwrap_or_default();
        let is_shared = points.iter().filter(|points| **points == most).count() > 1;
        for (place, points) in entrants.iter().zip(points) {
            let entrant = self.at_place_mut(*place);
            let factor = if entrant.streak >= STREAK { 2 } else { 1 };
            let (score, streak) = match (*points == most, is_shared) {
                (true, false) => (WIN * factor, entrant.streak + 1),
                (true, true) => (WIN / 2 * factor, 0),
                (false, _) => (0, 0),
            };
            entrant.standing.score += score;
            entrant.streak = streak;
        }
    }

    /// Returns the waiting players of an arena tournament by rank, the best first.
    pub fn waiting_players(&self) -> Vec<PlayerId> {
        let mut places: Vec<u32> = self.waiting.iter().copied().collect();
        places.sort_by_key(|place| (Reverse(self.at_place(*place).standing), *place));
        self.players(&places)
    }
}
