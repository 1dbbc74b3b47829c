//! The composition of tables: who plays with whom, and in which seat.
//!
//! Players who share a conflict key are kept apart, and so are recent opponents. At the tables of a
//! round everybody has to sit, so there both are wishes. In an arena tournament a player rather
//! waits than meets a player of the same network or device.

use alloc::vec;
use alloc::vec::Vec;

use crate::matchmaking::ConflictKey;

/// The most comparisons that one player's table may cost.
const COMPARISONS_MAX: u32 = 4_000;

/// A player without a table, as far as the composition of tables is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingPlayer<'a> {
    /// The index of the entrant.
    pub(super) entrant: u32,
    pub(super) conflict_keys: &'a [ConflictKey],
    /// The indices of recent opponents.
    pub(super) recent: &'a [u32],
    /// True if the player has waited so long that recent opponents may meet.
    pub(super) accepts_recent: bool,
}

/// The condition under which two players may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// They share no conflict key and have not met recently.
    Strict,
    /// They share no conflict key, and have not met recently unless both accept it.
    AcceptedRecent,
    /// They share no conflict key.
    Recent,
    Any,
}

impl WaitingPlayer<'_> {
    fn shares_key(&self, other: &Self) -> bool {
        self.conflict_keys.iter().any(|key| other.conflict_keys.contains(key))
    }

    fn may_meet(&self, other: &Self, condition: Condition) -> bool {
        let has_met =
            || self.recent.contains(&other.entrant) || other.recent.contains(&self.entrant);
        let accepts = || self.accepts_recent && other.accepts_recent;
        match condition {
            Condition::Strict => !self.shares_key(other) && !has_met(),
            Condition::AcceptedRecent => !self.shares_key(other) && (accepts() || !has_met()),
            Condition::Recent => !self.shares_key(other),
            Condition::Any => true,
        }
    }
}

/// Composes tables of `seats` players in the given order, as lists of indices of entrants. Players
/// for whom there is no table are left out.
pub(super) fn pair_waiting(players: &[WaitingPlayer<'_>], seats: usize) -> Vec<Vec<u32>> {
    let conditions = [Condition::Strict, Condition::AcceptedRecent];
    to_entrants(players, &compose(players, seats, &conditions))
}

/// Composes tables of `seats` players such that everybody sits; the number of players is a multiple
/// of `seats`.
pub(super) fn seat_everybody(players: &[WaitingPlayer<'_>], seats: usize) -> Vec<Vec<u32>> {
    let conditions = [Condition::Strict, Condition::Recent, Condition::Any];
    let mut tables = compose(players, seats, &conditions);
    separate_conflicts(players, &mut tables);
    to_entrants(players, &tables)
}

fn to_entrants(players: &[WaitingPlayer<'_>], tables: &[Vec<usize>]) -> Vec<Vec<u32>> {
    let entrants = |table: &Vec<usize>| table.iter().map(|place| players[*place].entrant).collect();
    tables.iter().map(entrants).collect()
}

/// Composes tables of places in `players`, by one condition after the other.
fn compose(
    players: &[WaitingPlayer<'_>],
    seats: usize,
    conditions: &[Condition],
) -> Vec<Vec<usize>> {
    let mut tables = Vec::new();
    let mut free: Vec<usize> = (0..players.len()).collect();
    for condition in conditions {
        let mut left = Vec::new();
        while let Some(first) = free.first().copied() {
            let mut budget = COMPARISONS_MAX;
            let mut table = vec![0];
            let found = free.len() >= seats
                && fill_table(players, &free, seats, *condition, &mut table, &mut budget);
            if found {
                tables.push(table.iter().map(|place| free[*place]).collect());
                for place in table.iter().rev() {
                    free.remove(*place);
                }
            } else {
                left.push(first);
                free.remove(0);
            }
        }
        free = left;
    }
    tables
}

/// Fills a table of ascending places in `free`; returns false if that is impossible, or if the
/// budget is spent.
fn fill_table(
    players: &[WaitingPlayer<'_>],
    free: &[usize],
    seats: usize,
    condition: Condition,
    table: &mut Vec<usize>,
    budget: &mut u32,
) -> bool {
    if table.len() == seats {
        return true;
    }
    let from = table.last().map_or(0, |last| last + 1);
    for place in from..free.len() {
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        let candidate = &players[free[place]];
        let fits = |seated: &usize| players[free[*seated]].may_meet(candidate, condition);
        if !table.iter().all(fits) {
            continue;
        }
        table.push(place);
        if fill_table(players, free, seats, condition, table, budget) {
            return true;
        }
        table.pop();
    }
    false
}

/// Exchanges players of tables with a shared conflict key against players of other tables, where
/// that leaves both tables without one.
fn separate_conflicts(players: &[WaitingPlayer<'_>], tables: &mut [Vec<usize>]) {
    for table in 0..tables.len() {
        let Some(place) = conflicting_place(players, &tables[table]) else { continue };
        'search: for other in (0..tables.len()).rev().filter(|other| *other != table) {
            for other_place in 0..tables[other].len() {
                let mine = tables[table][place];
                let theirs = tables[other][other_place];
                tables[table][place] = theirs;
                tables[other][other_place] = mine;
                let is_apart = |table: &[usize]| conflicting_place(players, table).is_none();
                if is_apart(&tables[table]) && is_apart(&tables[other]) {
                    break 'search;
                }
                tables[table][place] = mine;
                tables[other][other_place] = theirs;
            }
        }
    }
}

/// Returns the first place at a table whose player shares a conflict key with an earlier one.
fn conflicting_place(players: &[WaitingPlayer<'_>], table: &[usize]) -> Option<usize> {
    (1..table.len()).find(|place| {
        let player = &players[table[*place]];
        table[..*place].iter().any(|other| players[*other].shares_key(player))
    })
}

/// Orders the players of a table by seat so that each sits where it has sat least. `counts` returns
/// the number of rounds of a player in a seat; equal counts keep the order of the table.
pub(super) fn balance_seats(table: &[u32], counts: impl Fn(u32, usize) -> u32) -> Vec<u32> {
    let mut left = table.to_vec();
    let mut seated = Vec::with_capacity(table.len());
    for seat in 0..table.len() {
        let count = |place: &usize| counts(left[*place], seat);
        let least = (0..left.len()).min_by_key(count).unwrap_or_default();
        seated.push(left.remove(least));
    }
    seated
}

#[cfg(test)]
mod tests {
    use super::{WaitingPlayer, balance_seats, pair_waiting, seat_everybody};
    use crate::matchmaking::ConflictKey;
    use alloc::vec::Vec;

    fn players<'a>(
        keys: &'a [&'a [ConflictKey]],
        recent: &'a [&'a [u32]],
    ) -> Vec<WaitingPlayer<'a>> {
        let player = |(entrant, conflict_keys)| WaitingPlayer {
            entrant,
            conflict_keys,
            recent: recent.get(entrant as usize).copied().unwrap_or_default(),
            accepts_recent: false,
        };
        (0..).zip(keys.iter().copied()).map(player).collect()
    }

    /// Rule 2.5.
    #[test]
    fn players_of_one_network_wait_rather_than_meet() {
        let one: &[ConflictKey] = &[ConflictKey(1)];
        let keys = [one, one, &[], &[]];
        assert_eq!(pair_waiting(&players(&keys, &[]), 3), [[0, 2, 3]]);
        let keys = [one, one, one];
        assert!(pair_waiting(&players(&keys, &[]), 3).is_empty());
    }

    #[test]
    fn recent_opponents_meet_only_if_nobody_else_is_there() {
        let keys: [&[ConflictKey]; 4] = [&[]; 4];
        let recent: [&[u32]; 4] = [&[1], &[0], &[], &[]];
        assert_eq!(pair_waiting(&players(&keys, &recent), 3), [[0, 2, 3]]);
        assert!(pair_waiting(&players(&keys[..3], &recent), 3).is_empty());
        let mut waited = players(&keys[..3], &recent);
        for player in &mut waited {
            player.accepts_recent = true;
        }
        assert_eq!(pair_waiting(&waited, 3), [[0, 1, 2]]);
    }

    #[test]
    fn everybody_sits_and_conflicts_are_exchanged_away() {
        let one: &[ConflictKey] = &[ConflictKey(1)];
        let two: &[ConflictKey] = &[ConflictKey(2)];
        let keys = [&[], &[], two, one, one, two];
        let tables = seat_everybody(&players(&keys, &[]), 3);
        assert_eq!(tables.iter().map(Vec::len).sum::<usize>(), 6);
        for table in &tables {
            let mut keys: Vec<_> = table.iter().flat_map(|player| keys[*player as usize]).collect();
            keys.sort();
            assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{tables:?}");
        }
    }

    #[test]
    fn a_player_sits_where_it_has_sat_least() {
        let counts = [[2, 0, 1], [0, 2, 1], [0, 0, 0]];
        let seated = balance_seats(&[0, 1, 2], |player, seat| counts[player as usize][seat]);
        assert_eq!(seated, [1, 0, 2]);
    }
}
