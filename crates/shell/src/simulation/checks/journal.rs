//! Checks of journals. Every line follows from the lines before it, at the time that it states, and
//! from the state of the rest of the house: the clock acts when rule 8.2 says so (for the AI, see
//! `absence`), a player is disconnected only after its connection has ended, and the results of the
//! ledger agree with its accounts.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::Tag;
use crate::simulation::checks::absence::{self, AiAnswer};
use crate::simulation::checks::{Checks, TrueState, Truth, VERSIONS};
use crate::simulation::services::postgres::{CoinAccount, State};
use crate::simulation::{NodeRun, SimulatedGame, World};
use bahay_engine::table::{Input, Line, Table, TableId, Timestamp};
use bahay_engine::variants;

/// The longest time between a decision and its append: a call can wait in a stalled Redis.
const DECIDED_WITHIN_MS: i64 = 30_000;

/// A node that has known a room's terms for this long must have stored them before it decides
/// anything at a table.
const KNOWN_FOR_MS: u64 = 30_000;

impl<G: SimulatedGame> Checks<G> {
    /// Records a new table.
    pub(crate) fn record_table(
        &mut self,
        table: TableId,
        tag: Tag,
        snapshot: &str,
    ) -> Result<(), String> {
        let state: Table<G> =
            serde_json::from_str(snapshot).map_err(|error| format!("{table}: {error}"))?;
        let states = VecDeque::from([TrueState { table: Rc::new(state), tag, line: None }]);
        let truth = Truth { first: 0, states, at: Timestamp::default() };
        self.tables.entry(table).or_default().push(truth);
        Ok(())
    }

    /// Returns the current table, as its journal has it.
    pub(crate) fn truth(&self, table: TableId) -> Option<&Rc<Table<G>>> {
        Some(self.tables.get(&table)?.last()?.last())
    }
}

impl<G: SimulatedGame> World<G> {
    /// Checks and records an appended line.
    pub(crate) fn check_line(
        &self,
        by: NodeRun,
        table: TableId,
        tag: Tag,
        line: &str,
    ) -> Result<(), String> {
        let line: Line<G::Action> =
            serde_json::from_str(line).map_err(|error| format!("{table}: {error}"))?;
        let mut checks = self.checks.borrow_mut();
        let Checks { tables, seeds, .. } = &mut *checks;
        let truth = tables.get_mut(&table).and_then(|truths| truths.last_mut());
        let truth = truth.ok_or_else(|| format!("{table} was never created"))?;
        let before = truth.last().clone();
        let (after, events) = before
            .apply_line(&line)
            .map_err(|rejection| format!("{table}: {line:?} is in the journal: {rejection}"))?;
        self.check_time(truth.at, &line)?;
        self.check_order(by, &before, &line)?;
        self.check_input(&before, &line)?;
        self.check_tick(&before, &line, &after)?;
        seeds.check_line(&before, &line, &after)?;
        truth.at = line.at.max(truth.at);
        let line = Some((line, events));
        truth.states.push_back(TrueState { table: Rc::new(after), tag, line });
        if truth.states.len() > VERSIONS {
            truth.states.pop_front();
            truth.first += 1;
        }
        Ok(())
    }

    fn check_time(&self, before: Timestamp, line: &Line<G::Action>) -> Result<(), String> {
        let now_ms = self.timestamp().ms();
        let at_ms = line.at.ms();
        // No node's clock is ahead of the house's time.
        let latest_ms = before.ms().max(now_ms);
        if at_ms > latest_ms || at_ms < now_ms - DECIDED_WITHIN_MS {
            return Err(format!("{line:?} is {} ms off", at_ms - now_ms));
        }
        Ok(())
    }

    /// Checks that nothing is appended to a halted table or in a voided game, and that a terms
    /// update precedes every other input.
    fn check_order(
        &self,
        by: NodeRun,
        before: &Table<G>,
        line: &Line<G::Action>,
    ) -> Result<(), String> {
        let wrong = |message: &str| Err(format!("{}: {message}: {line:?}", before.id()));
        let services = self.services.borrow();
        if services.redis.is_halted(before.id()) {
            return wrong("a line is appended to a halted table");
        }
        let game = before.phase().game().and_then(|game| services.postgres.game(game));
        if game.is_some_and(|row| row.state == State::Voided) {
            return wrong("a voided game continues");
        }
        let is_terms = matches!(line.input, Input::UpdateTerms { .. });
        let known = self.find_node(by).map(|node| node.room_known_for(KNOWN_FOR_MS));
        if !is_terms && known.is_some_and(|revision| before.accepts_terms(revision)) {
            return wrong("a terms update is missing before this line");
        }
        Ok(())
    }

    fn check_input(&self, before: &Table<G>, line: &Line<G::Action>) -> Result<(), String> {
        let wrong = |message: &str| Err(format!("{}: {message}: {line:?}", before.id()));
        let services = self.services.borrow();
        let postgres = &services.postgres;
        match &line.input {
            Input::AiAction { player, action, .. } => {
                match absence::check_answer(before, *player, action, line.at) {
                    Ok(AiAnswer::ForAway) => self.totals.borrow_mut().grace_actions += 1,
                    Ok(AiAnswer::ForTakenOver) => {}
                    Err(message) => return wrong(message),
                }
            }
            Input::Tick => {
                if before.deadline().is_none_or(|deadline| deadline > self.timestamp()) {
                    return wrong("the clock acts before the deadline");
                }
            }
            Input::Disconnect { connection, .. } => {
                let connections = self.connections.borrow();
                let is_over = connections.get(connection).is_none_or(|one| one.is_over.get());
                if !is_over && self.now_ms() > self.doubt_until_ms.get() {
                    return wrong("a connected player is disconnected");
                }
            }
            Input::Opened { game, stakes, pot } => {
                let held = postgres.game(*game).filter(|row| row.state == State::Open);
                let pot_held = postgres.balance(CoinAccount::Pot(before.id()));
                if held.is_none_or(|row| row.stakes != *stakes) || pot_held != *pot {
                    return wrong("the ledger's accounts differ");
                }
            }
            Input::Settled { game } => {
                if postgres.game(*game).is_none_or(|row| row.state != State::Settled) {
                    return wrong("the ledger has not settled the game");
                }
            }
            Input::PotRefunded { pot, .. } => {
                if postgres.balance(CoinAccount::Pot(before.id())) != *pot {
                    return wrong("the ledger's POT differs");
                }
            }
            Input::OpenFailed { game, .. } => {
                if postgres.game(*game).is_some() {
                    return wrong("the ledger has opened the game");
                }
            }
            variants!(Input: Sit, Leave, Connect, Ready, Reveal, Act, TakeBack, UpdateTerms,
                Remove) => {}
        }
        Ok(())
    }
}
