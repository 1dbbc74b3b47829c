//! The model of PostgreSQL: the journal by versions, and the ledger, the passes and the stored games,
//! which change in the transactions of its lines.

use std::collections::BTreeMap;

use bahay_engine::table::{GameId, PlayerId, Timestamp};
use bahay_engine::tournament::{
    Event, Format, Input, Line, Payment, Phase, ResultLine, TableNumber, Tournament, Transfer,
    TransferKey,
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

#[derive(Debug)]
pub(super) struct Database {
    /// The tournament after the journal.
    tournament: Tournament,
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
    pub(super) fn from_tournament(tournament: &Tournament) -> Self {
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
    pub(super) fn new(announced: Tournament) -> Self {
        let announced_at = Timestamp::from_ms(super::ANNOUNCED_MS);
        Self {
            results: to_result(announced_at, &announced.announcement()),
            summary: Summary::from_tournament(&announced),
            tournament: announced,
            journal: Vec::new(),
            booked: BTreeMap::new(),
            noted_bookings: 0,
            noted_games: 0,
            marked_games: 0,
            passes: BTreeMap::new(),
            games: BTreeMap::new(),
            game_ids: BTreeMap::new(),
            unscored: BTreeMap::new(),
            stored: 0,
        }
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
        version: i64,
        line: Line,
        write: LineWrite,
    ) -> Result<SubmissionAnswer, CallError> {
        match write {
            LineWrite::None => {}
            LineWrite::Booking(transfer) => {
                if !self.book(transfer) {
                    return Ok(SubmissionAnswer::Overdrawn);
                }
            }
            LineWrite::Game(game) => self.mark_scored(game, version),
            LineWrite::PassHold => self.hold_pass(&line)?,
            LineWrite::PassReturn { player, number } => {
                self.passes.insert((player, number), true);
            }
        }
        let refused = |rejection| CallError::Violation(version, rejection);
        for event in self.tournament.advance(&line).map_err(refused)? {
            self.results.push_str(&to_result(line.at, &event));
            self.noted_bookings += usize::from(matches!(
                event,
                Event::Transferred { transfer } if transfer.payment != Payment::Pass
            ));
            self.noted_games += usize::from(matches!(event, Event::GameScored { .. }));
        }
        self.journal.push(line);
        self.summary = Summary::from_tournament(&self.tournament);
        Ok(SubmissionAnswer::Appended { after: None })
    }

    /// Holds a pass of a registration.
    fn hold_pass(&mut self, line: &Line) -> Result<(), CallError> {
        let Input::Register { player, .. } = line.input else { return Err(CallError::NoPass) };
        if !has_pass(player) {
            return Err(CallError::NoPass);
        }
        let earlier = self.tournament.entrant(player).map_or(0, |entrant| entrant.number);
        self.passes.insert((player, earlier + 1), false);
        Ok(())
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

    /// Returns the number of lines of the journal.
    pub(super) fn version(&self) -> i64 {
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
