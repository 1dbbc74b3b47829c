//! The model of PostgreSQL: the journal by versions, and the ledger, the passes and the stored games,
//! which change in the transactions of its lines.

use std::collections::BTreeMap;

use bahay_engine::table::{GameId, PlayerId, Timestamp};
use bahay_engine::tournament::{
    Event, Format, Input, Line, Payment, Phase, ResultLine, TableNumber, Tournament, Transfer,
    TransferKey, Transition,
};

use super::CallError;
use crate::tournaments::{LineWrite, StoredGame, SubmissionAnswer};

/// A stored game, and the version of the line that scores or refuses it.
#[derive(Clone, Debug)]
pub(super) struct GameRow {
    pub(super) game: StoredGame,
    pub(super) scored_in: Option<i64>,
}

/// The copies of a tournament's state that nodes query.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    pub(super) due_at: Option<Timestamp>,
    pub(super) is_running: bool,
    /// True while players wait in a sit-and-go that bots complete.
    pub(super) awaits_bots: bool,
    is_settled: bool,
}

/// A transaction that appends a line.
#[derive(Debug)]
pub(super) struct LineTransaction {
    version: i64,
    line: Line,
    /// The results of the line as JSON lines.
    results: String,
    /// True if the line notes a transfer that the ledger books.
    notes_booking: bool,
    notes_game: bool,
    /// The entry of the line, if it is a registration.
    entry: Option<(PlayerId, u32)>,
    write: LineWrite,
    summary: Summary,
}

#[derive(Debug, Default)]
pub(super) struct Database {
    pub(super) journal: Vec<Line>,
    /// The public list of results as JSON lines.
    pub(super) results: String,
    /// The transfers that the ledger has booked.
    pub(super) booked: BTreeMap<TransferKey, Transfer>,
    /// The numbers of lines that note a booked transfer, and of those that score a game.
    noted_bookings: usize,
    noted_games: usize,
    /// The number of games that are marked by the lines that score them.
    marked_games: usize,
    /// The entries that hold a pass, and whether it is free again.
    pub(super) passes: BTreeMap<(PlayerId, u32), bool>,
    pub(super) games: BTreeMap<GameId, GameRow>,
    game_ids: BTreeMap<(TableNumber, u32), GameId>,
    /// The games that are not marked as scored, in the order of their ends.
    unscored: BTreeMap<u64, GameId>,
    stored: u64,
    summary: Summary,
}

impl Summary {
    pub(super) fn of(tournament: &Tournament) -> Self {
        let phase = tournament.phase();
        let is_sit_and_go = matches!(tournament.terms().format, Format::SitAndGo { .. });
        let has_bots = tournament.terms().bots && is_sit_and_go;
        Self {
            due_at: tournament.deadline(),
            is_running: phase.is_running(),
            awaits_bots: has_bots && phase == Phase::Announced && tournament.entrant_count() > 0,
            is_settled: tournament.is_settled(),
        }
    }
}

impl LineTransaction {
    pub(super) fn new(version: i64, transition: &Transition, write: LineWrite) -> Self {
        let Transition { line, tournament, events } = transition;
        let results = events.iter().map(|event| to_result(line.at, event)).collect();
        let is_booking = |event: &Event| matches!(event, Event::Transferred { transfer } if transfer.payment != Payment::Pass);
        let notes_booking = events.iter().any(is_booking);
        let entry = match line.input {
            Input::Register { player, .. } => {
                tournament.entrant(player).map(|entrant| (player, entrant.number))
            }
            _ => None,
        };
        let notes_game = matches!(line.input, Input::GameScored { .. });
        let summary = Summary::of(tournament);
        let line = line.clone();
        Self { version, line, results, notes_booking, notes_game, entry, write, summary }
    }
}

/// Returns a line of the list of results in JSON.
pub(super) fn to_result(at: Timestamp, event: &Event) -> String {
    let line = serde_json::to_string(&ResultLine { at, event });
    line.expect("a result can be written") + "\n"
}

/// Returns whether a wallet covers an entry. Some players never have the coins.
fn can_pay(key: TransferKey) -> bool {
    !matches!(key, TransferKey::Entry { player, .. } if player.0.as_u128().is_multiple_of(41))
}

/// Returns whether a player has a pass.
fn has_pass(player: PlayerId) -> bool {
    !player.0.as_u128().is_multiple_of(37)
}

impl Database {
    pub(super) fn new(announced: &Tournament) -> Self {
        let results = to_result(Timestamp::from_ms(super::ANNOUNCED_MS), &announced.announcement());
        Self { results, summary: Summary::of(announced), ..Self::default() }
    }

    pub(super) fn summary(&self) -> Summary {
        self.summary
    }

    pub(super) fn has_unscored_games(&self) -> bool {
        !self.unscored.is_empty()
    }

    /// Returns whether everything is paid, all tables have ended, and no game is left.
    pub(super) fn is_over(&self) -> bool {
        self.summary.is_settled && self.summary.due_at.is_none() && self.unscored.is_empty()
    }

    /// Returns the lines after a version.
    pub(super) fn read_lines(&self, after: i64) -> Vec<Line> {
        let after = usize::try_from(after).unwrap_or_default();
        self.journal.get(after..).unwrap_or_default().to_vec()
    }

    /// Appends a line with its write, or does nothing.
    pub(super) fn append(
        &mut self,
        transaction: LineTransaction,
        compares: bool,
    ) -> Result<SubmissionAnswer, CallError> {
        let LineTransaction { version, line, results, entry, write, .. } = transaction;
        if compares && version != self.version() + 1 {
            return Ok(SubmissionAnswer::VersionTaken);
        }
        match write {
            LineWrite::None => {}
            LineWrite::Booking(transfer) => {
                if !self.book(transfer) {
                    return Ok(SubmissionAnswer::Overdrawn);
                }
            }
            LineWrite::Game(game) => self.mark_scored(game, version),
            LineWrite::PassHold => {
                let entry = entry.filter(|(player, _)| has_pass(*player));
                self.passes.insert(entry.ok_or(CallError::NoPass)?, false);
            }
            LineWrite::PassReturn { player, number } => {
                self.passes.insert((player, number), true);
            }
        }
        self.noted_bookings += usize::from(transaction.notes_booking);
        self.noted_games += usize::from(transaction.notes_game);
        self.results.push_str(&results);
        self.journal.push(line);
        self.summary = transaction.summary;
        Ok(SubmissionAnswer::Appended)
    }

    /// Books a transfer once. Returns false if the paying account does not cover it.
    pub(super) fn book(&mut self, transfer: Transfer) -> bool {
        let can_pay = can_pay(transfer.key);
        if can_pay {
            self.booked.entry(transfer.key).or_insert(transfer);
        }
        can_pay
    }

    /// Checks that the ledger has booked exactly the transfers that lines note, and that exactly the
    /// games are marked that lines score or that were refused.
    pub(super) fn check_transactions(&self) -> Result<(), String> {
        let numbers = (self.booked.len(), self.marked_games);
        if numbers == (self.noted_bookings, self.noted_games) {
            return Ok(());
        }
        Err(format!(
            "{} transfers are booked and {} games marked, and lines note {} and {}",
            numbers.0, numbers.1, self.noted_bookings, self.noted_games
        ))
    }

    fn version(&self) -> i64 {
        i64::try_from(self.journal.len()).unwrap_or(i64::MAX)
    }

    /// Stores a game unless its table has another one of this number. Returns false then.
    pub(super) fn store_game(&mut self, game: StoredGame) -> bool {
        let number = (game.table, game.number);
        if self.game_ids.contains_key(&number) {
            return false;
        }
        self.game_ids.insert(number, game.id);
        self.stored += 1;
        self.unscored.insert(self.stored, game.id);
        self.games.insert(game.id, GameRow { game, scored_in: None });
        true
    }

    pub(super) fn unscored_games(&self) -> Vec<StoredGame> {
        self.unscored.values().map(|game| self.games[game].game.clone()).collect()
    }

    pub(super) fn find_game(&self, table: TableNumber, number: u32) -> Option<&GameRow> {
        self.games.get(self.game_ids.get(&(table, number))?)
    }

    /// Returns the number of games that a table has stored.
    pub(super) fn count_games(&self, table: TableNumber) -> u32 {
        let games = self.game_ids.range((table, 0)..=(table, u32::MAX));
        games.last().map_or(0, |((_, number), _)| *number)
    }

    /// Marks a game as scored by the line of a version, once.
    pub(super) fn mark_scored(&mut self, game: GameId, version: i64) {
        self.marked_games += usize::from(self.mark(game, version));
    }

    /// Marks a game that the tournament has refused at a version, once.
    pub(super) fn mark_refused(&mut self, game: GameId, version: i64) {
        self.mark(game, version);
    }

    /// Marks a game. Returns false if it was marked.
    fn mark(&mut self, game: GameId, version: i64) -> bool {
        let row = self.games.get_mut(&game).filter(|row| row.scored_in.is_none());
        let Some(row) = row else { return false };
        row.scored_in = Some(version);
        self.unscored.retain(|_, unscored| *unscored != game);
        true
    }
}
