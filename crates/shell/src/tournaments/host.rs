//! One run of a process over a tournament: stored games are scored, effects are performed in their
//! order, bots are registered, or lost tables are opened again.
//!
//! Every process may run at any time. An input that the tournament refuses has been submitted by
//! another process, or has become pointless, and the run continues. Two processes that register bots
//! at the same time decide on the same bots, of which each registers once.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::table::{GameId, PlayerId, Timestamp};
use bahay_engine::tournament::{
    Effect, GameScore, Input, Rejection, TableNumber, TableSeating, Tournament, Transfer,
    TransferKey,
};

use super::line_write::LineWrite;
use super::replica::TournamentReplica;
use super::submission::SubmissionError;

/// The number of rounds of effects of one run. The rest is due at the next run.
const ROUNDS_MAX: usize = 64;

/// A finished game as its table has stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGame {
    pub id: GameId,
    pub table: TableNumber,
    /// The number of the game at its table, from 1.
    pub number: u32,
    pub scores: Vec<GameScore>,
}

/// A house bot that may play in tournaments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentBot {
    pub player: PlayerId,
    pub name: String,
}

/// A call of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum TournamentCall {
    /// Reads the tournament with all lines of its journal. Answered by
    /// [`TournamentAnswer::Replica`].
    Read,
    /// Reads the stored games that are not marked as scored, in the order of their ends. Answered by
    /// [`TournamentAnswer::Games`].
    ReadGames,
    /// Reads the house bots, in the order of all processes. Answered by [`TournamentAnswer::Bots`].
    ReadBots,
    /// Takes an input to the journal by a [`Submission`](super::Submission). Answered by
    /// [`TournamentAnswer::Submitted`].
    Submit { input: Input, write: LineWrite },
    /// Marks a game as scored that the tournament has refused, at a version of its journal.
    MarkScored { game: GameId, rejection: Rejection, version: i64 },
    /// Opens a table of the tournament unless it exists, for the games that it has not stored.
    OpenTable { tournament: Arc<Tournament>, table: TableSeating },
    /// Opens a table that live state has lost, as `OpenTable` does.
    ReopenTable { tournament: Arc<Tournament>, table: TableSeating },
    /// Ends a table unless it has ended, and voids its running game.
    EndTable(TableNumber),
    /// Finds those of the tables that live state does not have. Answered by
    /// [`TournamentAnswer::Lost`].
    FindLost(Vec<TableNumber>),
}

/// The result of a [`TournamentCall`].
#[derive(Clone, Debug)]
pub enum TournamentAnswer {
    Done,
    Replica(TournamentReplica),
    Games(Vec<StoredGame>),
    Bots(Vec<TournamentBot>),
    Submitted(Result<(), SubmissionError>),
    Lost(Vec<TableNumber>),
}

/// The reason for which a run ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    #[error(transparent)]
    Submission(#[from] SubmissionError),
    #[error("the tournament's account cannot pay {0}")]
    CannotPay(TransferKey),
    #[error("a call has the answer of another one")]
    WrongAnswer,
}

/// A part of a run: one call, and what follows from its answer.
#[derive(Clone, Debug)]
enum Task {
    /// Reads the tournament and decides on it.
    Read(Decision),
    Call(TournamentCall),
    /// Registers one of the house's bots that are not entrants.
    ChooseBot(Arc<Tournament>, BotRegistration),
    /// Registers a bot, and goes on with the next one.
    RegisterBot(TournamentBot, BotRegistration),
    /// Finds the lost ones of the tables that are open, and opens them again.
    FindLost(Arc<Tournament>, Vec<TableSeating>),
}

/// A decision on the present tournament.
#[derive(Clone, Debug)]
enum Decision {
    /// The effects of a round, from 0.
    Effects(usize),
    /// Opens the table if the tournament still awaits it.
    Opening(TableSeating),
    /// Registers a bot if one is missing.
    Bots(BotRegistration),
    /// The tables that must exist.
    OpenTables,
    /// The version at which a refused game is marked.
    Refusal(GameId, Rejection),
}

/// The state of the registration of bots.
#[derive(Clone, Copy, Debug)]
enum BotRegistration {
    /// The bots of a start, after which the clock ticks.
    AtStart,
    /// The bots of a sit-and-go; true if one has registered, so that effects follow.
    Waiting(bool),
}

/// A run over one tournament. The driver performs each call and hands its result back until there is
/// no further call. A failed call aborts the run.
#[derive(Debug)]
pub struct TournamentHost {
    /// The parts that are left, the next one first.
    tasks: VecDeque<Task>,
    error: Option<HostError>,
}

impl TournamentHost {
    fn new(tasks: impl IntoIterator<Item = Task>) -> Self {
        Self { tasks: tasks.into_iter().collect(), error: None }
    }

    /// Performs the effects that are due, and those that follow from them.
    pub fn run_effects() -> Self {
        Self::new([Task::Read(Decision::Effects(0))])
    }

    /// Scores the stored games, then performs the effects.
    pub fn go_on() -> Self {
        Self::new([Task::Call(TournamentCall::ReadGames), Task::Read(Decision::Effects(0))])
    }

    /// Completes a sit-and-go whose players have waited for their time with bots (rule 1.7).
    pub fn complete_with_bots() -> Self {
        Self::new([Task::Read(Decision::Bots(BotRegistration::Waiting(false)))])
    }

    /// Opens the tables again that live state has lost.
    pub fn reopen_lost_tables() -> Self {
        Self::new([Task::Read(Decision::OpenTables)])
    }

    /// Returns the next call, or `None` at the end.
    pub fn next_call(&self) -> Option<TournamentCall> {
        Some(match self.tasks.front()? {
            Task::Read(_) => TournamentCall::Read,
            Task::Call(call) => call.clone(),
            Task::ChooseBot(..) => TournamentCall::ReadBots,
            Task::FindLost(_, open) => {
                TournamentCall::FindLost(open.iter().map(|table| table.number).collect())
            }
            Task::RegisterBot(TournamentBot { player, name }, _) => {
                let conflict_keys = Vec::new();
                let input = Input::Register {
                    player: *player,
                    name: name.clone(),
                    pass: false,
                    bot: true,
                    conflict_keys,
                };
                TournamentCall::Submit { input, write: LineWrite::None }
            }
        })
    }

    /// Returns the end, once there is no further call.
    ///
    /// # Errors
    /// The reason for which the run has ended early.
    pub fn end(&self) -> Result<(), HostError> {
        self.error.map_or(Ok(()), Err)
    }

    /// Handles the result of the last call at a time.
    pub fn handle_answer(&mut self, answer: TournamentAnswer, now: Timestamp) {
        let Some(task) = self.tasks.pop_front() else { return };
        match follow_up(task, answer, now) {
            Ok(tasks) => tasks.into_iter().rev().for_each(|task| self.tasks.push_front(task)),
            Err(error) => {
                self.tasks.clear();
                self.error = Some(error);
            }
        }
    }
}

/// Returns the tasks that follow from an answer, before all others.
fn follow_up(task: Task, answer: TournamentAnswer, now: Timestamp) -> Result<Vec<Task>, HostError> {
    use TournamentAnswer as Answer;
    match (task, answer) {
        (Task::Read(decision), Answer::Replica(replica)) => Ok(decide(decision, replica, now)),
        (Task::ChooseBot(tournament, registration), Answer::Bots(bots)) => {
            let is_free = |bot: &TournamentBot| !tournament.is_registered(bot.player);
            // A house with too few bots registers those that it has.
            Ok(match bots.into_iter().find(is_free) {
                Some(bot) => vec![Task::RegisterBot(bot, registration)],
                None => after_bots(registration),
            })
        }
        (Task::RegisterBot(_, registration), Answer::Submitted(submitted)) => {
            let registration = match (registration, submitted) {
                (BotRegistration::Waiting(_), Ok(())) => BotRegistration::Waiting(true),
                // Another process has registered it, or a player has taken the entry.
                (_, Ok(()) | Err(SubmissionError::Rejected(_))) => registration,
                (_, Err(error)) => return Err(error.into()),
            };
            Ok(vec![Task::Read(Decision::Bots(registration))])
        }
        (Task::FindLost(tournament, open), Answer::Lost(lost)) => {
            let open = open.into_iter().filter(|table| lost.contains(&table.number));
            let reopen =
                |table| TournamentCall::ReopenTable { tournament: tournament.clone(), table };
            Ok(open.map(reopen).map(Task::Call).collect())
        }
        (Task::Call(call), answer) => match (call, answer) {
            (TournamentCall::ReadGames, Answer::Games(games)) => {
                Ok(games.into_iter().map(score_game).collect())
            }
            (TournamentCall::Submit { input, write }, Answer::Submitted(submitted)) => {
                follow_submission(&input, write, submitted)
            }
            (TournamentCall::OpenTable { table, .. }, Answer::Done) => {
                Ok(vec![submit(Input::TableOpened { table: table.number })])
            }
            (TournamentCall::EndTable(table), Answer::Done) => {
                Ok(vec![submit(Input::TableEnded { table })])
            }
            (
                TournamentCall::MarkScored { .. } | TournamentCall::ReopenTable { .. },
                Answer::Done,
            ) => Ok(Vec::new()),
            _ => Err(HostError::WrongAnswer),
        },
        (Task::Read(_) | Task::ChooseBot(..) | Task::RegisterBot(..) | Task::FindLost(..), _) => {
            Err(HostError::WrongAnswer)
        }
    }
}

/// Returns the tasks that follow from the present tournament.
fn decide(decision: Decision, replica: TournamentReplica, now: Timestamp) -> Vec<Task> {
    let TournamentReplica { version, tournament } = replica;
    match decision {
        Decision::Effects(round) => {
            let effects = tournament.effects(now);
            let is_last = effects.is_empty() || round + 1 == ROUNDS_MAX;
            let next = (!is_last).then_some(Task::Read(Decision::Effects(round + 1)));
            effects.into_iter().map(begin_effect).chain(next).collect()
        }
        // Another process may have opened it since, and its games may be over.
        Decision::Opening(table) if tournament.awaits_opening(table.number) => {
            vec![Task::Call(TournamentCall::OpenTable { tournament, table })]
        }
        Decision::Opening(_) => Vec::new(),
        Decision::Bots(registration) if tournament.missing_bots(now) > 0 => {
            vec![Task::ChooseBot(tournament, registration)]
        }
        Decision::Bots(registration) => after_bots(registration),
        Decision::OpenTables => {
            let open = tournament.open_tables();
            vec![Task::FindLost(tournament, open)]
        }
        Decision::Refusal(game, rejection) => {
            vec![Task::Call(TournamentCall::MarkScored { game, rejection, version })]
        }
    }
}

fn begin_effect(effect: Effect) -> Task {
    match effect {
        Effect::Tick => Task::Read(Decision::Bots(BotRegistration::AtStart)),
        Effect::Transfer(transfer) => book_transfer(transfer),
        Effect::OpenTable(table) => Task::Read(Decision::Opening(table)),
        Effect::EndTable(table) => Task::Call(TournamentCall::EndTable(table)),
    }
}

/// Books a transfer in the transaction of the line that notes it.
fn book_transfer(transfer: Transfer) -> Task {
    let input = Input::Transferred { transfer: transfer.key };
    Task::Call(TournamentCall::Submit { input, write: LineWrite::from_transfer(transfer) })
}

/// Scores a stored game in the transaction that marks it as scored.
fn score_game(game: StoredGame) -> Task {
    let StoredGame { id, table, number, scores } = game;
    let input = Input::GameScored { table, game: number, scores };
    Task::Call(TournamentCall::Submit { input, write: LineWrite::Game(id) })
}

fn submit(input: Input) -> Task {
    Task::Call(TournamentCall::Submit { input, write: LineWrite::None })
}

/// Returns the tasks after the last bot.
fn after_bots(registration: BotRegistration) -> Vec<Task> {
    match registration {
        BotRegistration::AtStart => vec![submit(Input::Tick)],
        BotRegistration::Waiting(true) => vec![Task::Read(Decision::Effects(0))],
        BotRegistration::Waiting(false) => Vec::new(),
    }
}

fn follow_submission(
    input: &Input,
    write: LineWrite,
    submitted: Result<(), SubmissionError>,
) -> Result<Vec<Task>, HostError> {
    match (submitted, write, input) {
        // The game came too late, or another process has scored it.
        (Err(SubmissionError::Rejected(rejection)), LineWrite::Game(game), _) => {
            Ok(vec![Task::Read(Decision::Refusal(game, rejection))])
        }
        (Ok(()) | Err(SubmissionError::Rejected(_)), _, _) => Ok(Vec::new()),
        (Err(SubmissionError::Overdrawn), _, Input::Transferred { transfer }) => match *transfer {
            TransferKey::Entry { player, number } => {
                Ok(vec![submit(Input::EntryRefused { player, number })])
            }
            other => Err(HostError::CannotPay(other)),
        },
        (Err(error), _, _) => Err(error.into()),
    }
}
