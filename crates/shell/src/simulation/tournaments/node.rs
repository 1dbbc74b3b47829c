//! One node: its replica, its runner, and the performance of the calls of submissions and runs, as
//! `src/tournaments` has them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use bahay_engine::testing::tournament_player;
use bahay_engine::tournament::{Input, Line};

use super::{CallError, TournamentMutation, World};
use crate::simulation::tasks::{Owner, Promise, promise};
use crate::tournaments::{
    HostError, LineWrite, Submission, SubmissionAnswer, SubmissionCall, SubmissionError,
    TournamentAnswer, TournamentBot, TournamentCall, TournamentHost, TournamentReplica,
};

/// The interval of the runner's rounds while something is due.
const INTERVAL_MS: i64 = 500;

/// The interval of the searches for lost tables, and for sit-and-go tournaments that bots complete.
const SEARCH_MS: i64 = 5_000;

/// The number of the first house bot among the players, and the number of bots.
const FIRST_BOT: u32 = 1_000_000;
const BOTS: u32 = 30;

/// A process. Everything in it is lost when it is killed.
pub(super) struct Node {
    pub(super) slot: usize,
    /// The number of the process in its slot.
    pub(super) run: u32,
    world: Rc<World>,
    /// A cache, absent while an input is submitted, so that it is advanced in place.
    pub(super) replica: RefCell<Option<TournamentReplica>>,
    turn: Turn,
}

/// The turn of the inputs of a node, which wait for each other.
#[derive(Default)]
struct Turn {
    is_taken: Cell<bool>,
    waiting: RefCell<VecDeque<Promise<()>>>,
}

/// The turn while it is taken.
struct TakenTurn<'a>(&'a Turn);

impl Drop for TakenTurn<'_> {
    fn drop(&mut self) {
        match self.0.waiting.borrow_mut().pop_front() {
            Some(next) => next.resolve(()),
            None => self.0.is_taken.set(false),
        }
    }
}

impl Node {
    /// Starts a process in a slot.
    pub(super) fn start(world: &Rc<World>, slot: usize) {
        let mut slots = world.slots.borrow_mut();
        slots[slot].run += 1;
        let node = Rc::new(Self {
            slot,
            run: slots[slot].run,
            world: world.clone(),
            replica: RefCell::default(),
            turn: Turn::default(),
        });
        slots[slot].node = Some(node.clone());
        drop(slots);
        world.tasks.spawn(Owner::Node(slot), node.run_rounds());
    }

    /// Performs a request of a player or the house, and the effects that follow.
    pub(super) async fn perform_request(&self, input: Input) -> Result<(), CallError> {
        let write = LineWrite::from_request(&input);
        match self.submit(input, write).await {
            Ok(Ok(())) => self.run_host(TournamentHost::run_effects()).await,
            Ok(Err(SubmissionError::Rejected(_))) | Err(CallError::NoPass) => Ok(()),
            Ok(Err(_)) | Err(CallError::Lost | CallError::Violation(..)) => Err(CallError::Lost),
        }
    }

    /// Goes on with the tournament while it is due, and searches now and then.
    async fn run_rounds(self: Rc<Self>) {
        let world = &self.world;
        let mut searched_ms = 0;
        loop {
            let summary = world.database.borrow().summary();
            let now_ms = world.now_ms.get();
            let is_due = summary.due_at.is_some_and(|due| due.ms() <= now_ms);
            // A failed run is due again.
            if is_due || world.database.borrow().has_unscored_games() {
                let _ = self.run_host(TournamentHost::go_on()).await;
                world.sleep(INTERVAL_MS).await;
                continue;
            }
            let searches = summary.is_running || summary.awaits_bots;
            let search_ms = searched_ms + SEARCH_MS;
            if searches && search_ms <= now_ms {
                searched_ms = now_ms;
                let _ = self.search(summary.awaits_bots).await;
                continue;
            }
            let search_ms = searches.then_some(search_ms);
            let due_ms = summary.due_at.map(|due| due.ms());
            world.wait_for_change([search_ms, due_ms].into_iter().flatten().min()).await;
        }
    }

    async fn search(&self, awaits_bots: bool) -> Result<(), CallError> {
        if awaits_bots {
            return self.run_host(TournamentHost::complete_with_bots()).await;
        }
        if self.world.has_mutation(TournamentMutation::ForgetsLostTables) {
            return Ok(());
        }
        self.run_host(TournamentHost::reopen_lost_tables()).await
    }

    /// Performs the calls of a run.
    async fn run_host(&self, mut host: TournamentHost) -> Result<(), CallError> {
        while let Some(call) = host.next_call() {
            let answer = self.perform(call).await?;
            host.handle_answer(answer, self.world.now());
        }
        match host.end() {
            Ok(()) => Ok(()),
            Err(HostError::Submission(SubmissionError::Contended)) => Err(CallError::Lost),
            Err(error) => {
                self.world.fail(format!("a run ends: {error}"));
                Err(CallError::Lost)
            }
        }
    }

    async fn perform(&self, call: TournamentCall) -> Result<TournamentAnswer, CallError> {
        let world = &self.world;
        Ok(match call {
            TournamentCall::Read => TournamentAnswer::Replica(self.load().await?),
            TournamentCall::ReadGames => {
                let read = |world: &Rc<World>| world.database.borrow().unscored_games();
                TournamentAnswer::Games(world.call(self, read).await?)
            }
            TournamentCall::ReadBots => {
                let bot = |number| TournamentBot {
                    player: tournament_player(FIRST_BOT + number),
                    name: format!("Bot {number}"),
                };
                TournamentAnswer::Bots((0..BOTS).map(bot).collect())
            }
            TournamentCall::Submit { input, write } => {
                let is_bot = matches!(input, Input::Register { .. });
                let submitted = self.submit(input, write).await?;
                let mut counts = world.counts.borrow_mut();
                counts.bots += u32::from(is_bot && submitted.is_ok());
                counts.refused_entries += u32::from(submitted == Err(SubmissionError::Overdrawn));
                TournamentAnswer::Submitted(submitted)
            }
            TournamentCall::MarkScored { game, version, .. } => {
                world.counts.borrow_mut().refused_games += 1;
                let mark = move |world: &Rc<World>| {
                    world.database.borrow_mut().mark_refused(game, version);
                };
                world.call(self, mark).await?;
                TournamentAnswer::Done
            }
            TournamentCall::OpenTable { table, .. } => {
                world.call(self, move |world| world.open_table(table)).await?;
                TournamentAnswer::Done
            }
            TournamentCall::ReopenTable { table, .. } => {
                world.counts.borrow_mut().reopened += 1;
                world.call(self, move |world| world.open_table(table)).await?;
                TournamentAnswer::Done
            }
            TournamentCall::EndTable(table) => {
                world.call(self, move |world| world.end_table(table)).await?;
                TournamentAnswer::Done
            }
            TournamentCall::FindLost(tables) => {
                let find = move |world: &Rc<World>| world.lost_tables(tables);
                TournamentAnswer::Lost(world.call(self, find).await?)
            }
        })
    }

    /// Returns the replica with all lines of the journal.
    async fn load(&self) -> Result<TournamentReplica, CallError> {
        let _turn = self.take_turn().await;
        let mut replica = self.take_replica();
        let read = self.read_lines(replica.version).await;
        let followed = read.map(|lines| replica.follow(&lines));
        self.replica.replace(Some(replica.clone()));
        if let Ok(Err(error)) = followed {
            self.world.fail(error.to_string());
        }
        followed.map(|_| replica)
    }

    /// Decides on an input and appends its line.
    async fn submit(
        &self,
        input: Input,
        write: LineWrite,
    ) -> Result<Result<(), SubmissionError>, CallError> {
        let _turn = self.take_turn().await;
        let mut submission = Submission::new(self.take_replica(), input, write);
        let performed = self.perform_submission(&mut submission).await;
        let end = submission.end().unwrap_or(Err(SubmissionError::Contended));
        self.replica.replace(Some(submission.into_replica()));
        if let Err(SubmissionError::Broken(error)) = end {
            self.world.fail(error.to_string());
        }
        performed.map(|()| end)
    }

    async fn perform_submission(&self, submission: &mut Submission) -> Result<(), CallError> {
        while let Some(call) = submission.next_call() {
            let answer = match call {
                SubmissionCall::ReadLines { after } => {
                    SubmissionAnswer::Lines(self.read_lines(after).await?)
                }
                SubmissionCall::Append { version, line, write, .. } => {
                    let write = self.write_apart(version, *write).await?;
                    self.append(version, line.clone(), write).await?
                }
            };
            submission.handle_answer(answer, self.world.now());
        }
        Ok(())
    }

    /// Takes the replica, which the holder of the turn puts back.
    fn take_replica(&self) -> TournamentReplica {
        let announced = || TournamentReplica::new(self.world.announced.clone());
        self.replica.take().unwrap_or_else(announced)
    }

    async fn read_lines(&self, after: i64) -> Result<Vec<Line>, CallError> {
        let read = move |world: &Rc<World>| world.database.borrow().read_lines(after);
        self.world.call(self, read).await
    }

    async fn append(
        &self,
        version: i64,
        line: Line,
        write: LineWrite,
    ) -> Result<SubmissionAnswer, CallError> {
        let append = move |world: &Rc<World>| {
            let compares = !world.has_mutation(TournamentMutation::AppendsBlindly);
            let mut database = world.database.borrow_mut();
            if compares && version != database.version() + 1 {
                world.counts.borrow_mut().conflicts += 1;
                world.check(database.check_transactions());
                return Ok(SubmissionAnswer::VersionTaken);
            }
            let answer = database.append(version, line, write);
            if let Err(CallError::Violation(version, rejection)) = &answer {
                world.fail(format!("line {version} does not replay: {rejection}"));
            }
            world.check(database.check_transactions());
            world.announce_change();
            answer
        };
        self.world.call(self, append).await?
    }

    /// Performs the write of a line apart from the line if a mutation says so. Returns the write that
    /// is left for its transaction.
    async fn write_apart(&self, version: i64, write: LineWrite) -> Result<LineWrite, CallError> {
        let world = &self.world;
        match write {
            LineWrite::Booking(transfer) if world.has_mutation(TournamentMutation::BooksApart) => {
                let book = move |world: &Rc<World>| world.database.borrow_mut().book(transfer);
                let is_booked = world.call(self, book).await?;
                Ok(if is_booked { LineWrite::None } else { write })
            }
            LineWrite::Game(game) if world.has_mutation(TournamentMutation::MarksApart) => {
                let mark = move |world: &Rc<World>| {
                    world.database.borrow_mut().mark_scored(game, version);
                };
                world.call(self, mark).await?;
                Ok(LineWrite::None)
            }
            _ => Ok(write),
        }
    }

    async fn take_turn(&self) -> TakenTurn<'_> {
        if self.turn.is_taken.replace(true) {
            let (promise, wait) = promise(&self.world.tasks);
            self.turn.waiting.borrow_mut().push_back(promise);
            // The turn is handed over.
            wait.await;
        }
        TakenTurn(&self.turn)
    }
}
