//! The checks of inputs. An input that passes them is applied as a whole.

use crate::coins::Coins;
use crate::game::require;
use crate::table::Timestamp;
use crate::tournament::Tournament;
use crate::tournament::id::TableNumber;
use crate::tournament::input::{GameScore, Input};
use crate::tournament::phase::Phase;
use crate::tournament::rejection::Rejection;
use crate::tournament::tables::OpenTable;
use crate::tournament::transfer::TransferKey;

impl Tournament {
    /// Checks an input at a time.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub(super) fn check_input(&self, now: Timestamp, input: &Input) -> Result<(), Rejection> {
        let is_over = self.phase.is_over();
        match input {
            Input::Register { player, pass, bot, .. } => {
                require(!is_over, Rejection::TournamentOver)?;
                // Bots complete the entrants at the start.
                let is_open =
                    self.is_registration_open(now) || *bot && self.phase == Phase::Announced;
                require(is_open, Rejection::RegistrationClosed)?;
                require(!self.is_registered(*player), Rejection::AlreadyRegistered)?;
                let has_room = self.entrant_count() < self.terms.entrants.most;
                require(has_room, Rejection::TournamentFull)?;
                require(!bot || self.terms.bots, Rejection::NoBots)?;
                let takes_pass = self.terms.entry.accepts_passes && !bot;
                require(!pass || takes_pass, Rejection::NoPasses)
            }
            Input::Withdraw { player } => {
                require(!is_over, Rejection::TournamentOver)?;
                self.find_entrant(*player)?;
                require(self.phase == Phase::Announced, Rejection::AlreadyStarted)
            }
            Input::Pause { player } | Input::Resume { player } => {
                require(!is_over, Rejection::TournamentOver)?;
                let is_arena = matches!(self.phase, Phase::Arena { .. });
                require(is_arena, Rejection::NotArena)?;
                let (_, entrant) = self.find_entrant(*player)?;
                if matches!(input, Input::Pause { .. }) {
                    require(!entrant.is_paused, Rejection::AlreadyPaused)
                } else {
                    require(entrant.is_paused, Rejection::NotPaused)
                }
            }
            Input::TableOpened { table } => {
                let open = self.require_table(*table)?;
                require(!open.is_open, Rejection::AlreadyOpened)
            }
            Input::GameScored { table, game, scores } => {
                require(!is_over, Rejection::TournamentOver)?;
                self.check_scores(self.require_table(*table)?, *game, scores)
            }
            Input::TableEnded { table } => self.require_table(*table).map(|_| ()),
            Input::Cancel { .. } => require(!is_over, Rejection::TournamentOver),
            Input::Transferred { transfer } => {
                require(self.account.is_pending(*transfer), Rejection::NoSuchTransfer)
            }
            Input::EntryRefused { player, number } => {
                let key = TransferKey::Entry { player: *player, number: *number };
                require(self.account.is_pending(key), Rejection::NoSuchTransfer)
            }
            Input::Tick => {
                let is_due = self.clock_deadline().is_some_and(|deadline| deadline <= now);
                require(is_due, Rejection::NothingDue)
            }
        }
    }

    /// Returns a table that has not ended.
    fn require_table(&self, number: TableNumber) -> Result<&OpenTable, Rejection> {
        let table = self.tables.get(number).filter(|table| !table.has_ended);
        table.ok_or(Rejection::NoSuchTable)
    }

    /// Checks that the scores are those of a game that has not been scored (rule 2.6).
    fn check_scores(
        &self,
        table: &OpenTable,
        game: u32,
        scores: &[GameScore],
    ) -> Result<(), Rejection> {
        let place = game.checked_sub(1).map(|place| place as usize);
        let points = place.and_then(|place| table.points.get(place));
        let points = points.ok_or(Rejection::NoSuchGame)?;
        require(points.is_none(), Rejection::AlreadyScored)?;
        require(scores.len() == table.entrants.len(), Rejection::BadScores)?;
        for place in &table.entrants {
            let player = self.at_place(*place).player;
            let is_scored = scores.iter().any(|score| score.player == player);
            require(is_scored, Rejection::BadScores)?;
        }
        let sum = Coins::checked_sum(scores.iter().map(|score| score.points));
        let bound = i64::from(i32::MAX) * 100;
        let is_bounded = |score: &GameScore| score.points.hundredths().abs() <= bound;
        require(scores.iter().all(is_bounded), Rejection::BadScores)?;
        require(sum == Some(Coins::ZERO), Rejection::BadScores)
    }
}
