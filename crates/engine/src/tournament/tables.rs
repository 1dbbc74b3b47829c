//! The tables of a round, or those in play of an arena tournament.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::coins::Coins;
use crate::tournament::id::TableNumber;

/// A table with the scores of its games.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenTable {
    pub(super) number: TableNumber,
    /// The entrants by seat.
    pub(super) entrants: Vec<u32>,
    /// True once the host has opened the table.
    pub(super) is_open: bool,
    /// True once all games are scored, or the table has ended without them.
    pub(super) has_ended: bool,
    /// The points by game and seat.
    pub(super) points: Vec<Option<Vec<Coins>>>,
}

impl OpenTable {
    pub(super) fn games(&self) -> u32 {
        u32::try_from(self.points.len()).unwrap_or(u32::MAX)
    }
}

/// Tables by number. The tables that the host has to open, and the number of those in play, are
/// known without a search, because both are asked for after every input.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tables {
    by_number: BTreeMap<TableNumber, Arc<OpenTable>>,
    /// The tables that are neither open nor ended.
    unopened: BTreeSet<TableNumber>,
    /// The number of tables that have not ended.
    left: u32,
}

impl Tables {
    /// Adds a table that is not open.
    pub(super) fn add(&mut self, number: TableNumber, entrants: Vec<u32>, games: u32) {
        let points = vec![None; games as usize];
        let table = OpenTable { number, entrants, is_open: false, has_ended: false, points };
        self.by_number.insert(number, Arc::new(table));
        self.unopened.insert(number);
        self.left += 1;
    }

    pub(super) fn get(&self, number: TableNumber) -> Option<&OpenTable> {
        self.by_number.get(&number).map(AsRef::as_ref)
    }

    /// Iterates over all tables by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenTable> {
        self.by_number.values().map(AsRef::as_ref)
    }

    /// Iterates over the tables that are neither open nor ended.
    pub(super) fn unopened(&self) -> impl Iterator<Item = &OpenTable> {
        self.unopened.iter().filter_map(|number| self.get(*number))
    }

    /// Returns whether all tables have ended.
    pub(super) const fn have_ended(&self) -> bool {
        self.left == 0
    }

    /// Notes that the host has opened a table.
    pub(super) fn open(&mut self, number: TableNumber) {
        self.table_mut(number).is_open = true;
        self.unopened.remove(&number);
    }

    /// Notes the points of a game, from 1, by seat. Returns whether all games of the table have
    /// points.
    pub(super) fn note_points(
        &mut self,
        number: TableNumber,
        game: u32,
        points: Vec<Coins>,
    ) -> bool {
        let table = self.table_mut(number);
        table.points[game as usize - 1] = Some(points);
        table.points.iter().all(Option::is_some)
    }

    /// Ends a table, which is kept with its points.
    pub(super) fn end(&mut self, number: TableNumber) {
        self.table_mut(number).has_ended = true;
        self.unopened.remove(&number);
        self.left -= 1;
    }

    pub(super) fn remove(&mut self, number: TableNumber) {
        let removed = self.by_number.remove(&number);
        if removed.is_some_and(|table| !table.has_ended) {
            self.unopened.remove(&number);
            self.left -= 1;
        }
    }

    /// Removes the tables that have ended.
    pub(super) fn remove_ended(&mut self) {
        self.by_number.retain(|_, table| !table.has_ended);
    }

    fn table_mut(&mut self, number: TableNumber) -> &mut OpenTable {
        Arc::make_mut(self.by_number.get_mut(&number).expect("the table has been checked"))
    }
}
