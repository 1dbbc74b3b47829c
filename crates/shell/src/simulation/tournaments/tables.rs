//! The model of live state and of the tables in it, which play games by chance and store them.

use std::collections::BTreeMap;
use std::rc::Rc;

use bahay_engine::coins::Coins;
use bahay_engine::table::GameId;
use bahay_engine::tournament::{GameScore, Input, TableNumber, TableSeating};
use uuid::Uuid;

use super::World;
use crate::tournaments::StoredGame;

/// The duration of a game.
const GAME_MS: (u32, u32) = (30_000, 150_000);

/// The longest time from the end of a game to its storage.
const STORE_MS: u32 = 1_000;

/// The shares of games during which live state loses the table, during which the house ends it, and
/// of players who are absent at the end, in thousandths.
const LOST_TABLE: u32 = 15;
const ENDED_TABLE: u32 = 10;
const ABSENT: u32 = 20;

#[derive(Debug)]
struct LiveTable {
    seating: TableSeating,
    /// The number of games that have ended.
    games: u32,
    /// Distinguishes the table from a lost one of the same number.
    opening: u64,
}

/// The tables that live state has.
#[derive(Debug, Default)]
pub(super) struct LiveTables {
    tables: BTreeMap<TableNumber, LiveTable>,
    openings: u64,
    games: u64,
}

impl World {
    /// Opens a table unless it exists, for the games that it has not stored.
    pub(super) fn open_table(self: &Rc<Self>, seating: TableSeating) {
        let number = seating.number;
        let games = self.database.borrow().count_games(number);
        let mut live = self.tables.borrow_mut();
        if games >= seating.games || live.tables.contains_key(&number) {
            return;
        }
        live.openings += 1;
        let opening = live.openings;
        live.tables.insert(number, LiveTable { seating, games, opening });
        drop(live);
        self.plan_game(number, opening);
    }

    /// Ends a table unless it has ended.
    pub(super) fn end_table(&self, number: TableNumber) {
        self.tables.borrow_mut().tables.remove(&number);
    }

    pub(super) fn lost_tables(&self, tables: Vec<TableNumber>) -> Vec<TableNumber> {
        let live = self.tables.borrow();
        tables.into_iter().filter(|table| !live.tables.contains_key(table)).collect()
    }

    fn plan_game(self: &Rc<Self>, number: TableNumber, opening: u64) {
        self.schedule(self.random_ms(GAME_MS), move |world| world.play_game(number, opening));
    }

    fn play_game(self: &Rc<Self>, number: TableNumber, opening: u64) {
        let mut live = self.tables.borrow_mut();
        let is_here = |table: &&LiveTable| table.opening == opening;
        let Some(table) = live.tables.get(&number).filter(is_here) else { return };
        let players = table.seating.players.clone();
        let game = table.games + 1;
        if self.has_fault(LOST_TABLE) {
            live.tables.remove(&number);
            self.counts.borrow_mut().lost_tables += 1;
            return;
        }
        if self.has_fault(ENDED_TABLE) {
            live.tables.remove(&number);
            self.send_request(0, Input::TableEnded { table: number });
            return;
        }
        live.games += 1;
        let id = GameId(Uuid::from_u64_pair(self.options.seed, live.games));
        drop(live);
        self.counts.borrow_mut().games += 1;
        let mut scores = Vec::new();
        let mut sum = 0;
        let seats = players.len();
        for (seat, player) in players.into_iter().enumerate() {
            let is_last = seat + 1 == seats;
            let points = if is_last { -sum } else { i64::from(self.random_below(9)) - 4 };
            sum += points;
            let points = Coins::from_hundredths(points * 100);
            let is_absent = self.has_fault(ABSENT);
            scores.push(GameScore { player, points, is_absent });
            if is_absent {
                self.send_request(self.random_ms((60_000, 120_000)), Input::Resume { player });
            }
        }
        let stored = StoredGame { id, table: number, number: game, scores };
        self.schedule(self.random_ms((0, STORE_MS)), move |world| {
            world.store_game(stored, opening);
        });
    }

    /// Stores a game before its table goes on.
    fn store_game(self: &Rc<Self>, game: StoredGame, opening: u64) {
        let StoredGame { table: number, number: games, .. } = game;
        let is_stored = self.database.borrow_mut().store_game(game);
        self.announce_change();
        let mut live = self.tables.borrow_mut();
        let is_here = |table: &&mut LiveTable| table.opening == opening;
        let Some(table) = live.tables.get_mut(&number).filter(is_here) else { return };
        table.games = games;
        // A table that was lost meanwhile has stored another game of this number.
        if !is_stored || games >= table.seating.games {
            live.tables.remove(&number);
            return;
        }
        drop(live);
        self.plan_game(number, opening);
    }
}
