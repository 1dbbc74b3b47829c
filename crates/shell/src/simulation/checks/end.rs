//! Checks after the faults and at the end: nothing waits forever, every opened game was settled or
//! voided once, no stake is held, and every acknowledged action is in the record of its game, once
//! and in order.

use std::collections::BTreeMap;

use crate::simulation::checks::{AckedAction, Checks};
use crate::simulation::services::postgres::CoinAccount;
use crate::simulation::{SimulatedGame, World, player_id};
use bahay_engine::table::{ActionOrigin, GameId, RecordedAction, Table};
use bahay_engine::variants;

impl<G: SimulatedGame> World<G> {
    /// Checks that no table waits without a deadline or a reason.
    pub(crate) fn check_deadlines(&self) -> Result<(), String> {
        let services = self.services.borrow();
        let checks = self.checks.borrow();
        for (id, version) in services.redis.tables() {
            let table = checks.truth(id).ok_or_else(|| format!("{id} was never created"))?;
            let others_are_awaited = table.seats_free() > 0
                && table.occupants().all(|(_, occupant)| occupant.connection.is_some());
            // A halted table waits for an operator.
            if services.redis.is_halted(id) {
                continue;
            }
            match table.deadline() {
                Some(_) if !services.redis.is_due_some_time(id) => {
                    return Err(format!("{id} v{version} has a deadline and is not scheduled"));
                }
                None if !others_are_awaited => {
                    return Err(format!("{id} v{version} waits for nothing"));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// Returns the players who have not seen the end of a game since.
    pub(crate) fn idle_since(&self, since_ms: u64) -> Vec<usize> {
        let checks = self.checks.borrow();
        let has_played = |client: usize| checks.played_ms.get(&player_id(client)).copied();
        let clients = 0..self.options.players;
        clients.filter(|client| has_played(*client).is_none_or(|at| at < since_ms)).collect()
    }

    pub(crate) fn has_open_games(&self) -> bool {
        self.services.borrow().postgres.open_games().next().is_some()
    }

    pub(crate) fn has_seated_players(&self) -> bool {
        self.has_table(|table| table.occupants().next().is_some())
    }

    /// Returns true if a private table exists whose POT is not refunded.
    pub(crate) fn has_private_pots(&self) -> bool {
        self.has_table(|table| table.terms().private.is_some() && !table.pot().is_zero())
    }

    /// Returns true if a table of live state fulfils a condition.
    fn has_table(&self, condition: impl Fn(&Table<G>) -> bool) -> bool {
        let services = self.services.borrow();
        let checks = self.checks.borrow();
        let mut tables = services.redis.tables().filter_map(|(table, _)| checks.truth(table));
        tables.any(|table| condition(table))
    }

    /// Checks the house after all players have left.
    pub(crate) fn check_end(&self) -> Result<(), String> {
        let services = self.services.borrow();
        for (game, row) in services.postgres.games() {
            if row.ends != 1 {
                return Err(format!("{game} was ended {} times", row.ends));
            }
        }
        let totals = self.totals.borrow();
        let is_lost = |table| !services.redis.has_table(table) && totals.live_state_was_lost;
        for (account, balance) in services.postgres.balances() {
            match account {
                CoinAccount::Stake(..) if !balance.is_zero() => {
                    return Err(format!("{account:?} still holds {balance}"));
                }
                CoinAccount::Pot(table) if self.options.is_private && !is_lost(table) => {
                    return Err(format!(
                        "{table} has come to its end, and its POT holds {balance}"
                    ));
                }
                variants!(CoinAccount: Issue, Wallet, Stake, Pot, Fee) => {}
            }
        }
        if totals.voided > 0 && !totals.live_state_was_lost {
            return Err(format!("{} games were voided and nothing was lost", totals.voided));
        }
        self.checks.borrow().check_acknowledged()
    }
}

impl<G: SimulatedGame> Checks<G> {
    /// Checks that acknowledged actions of settled games are in their records.
    fn check_acknowledged(&self) -> Result<(), String> {
        let mut games: BTreeMap<GameId, Vec<_>> = BTreeMap::new();
        for ((game, player, prompt), acked) in &self.acked {
            let AckedAction { version, action, .. } = acked;
            games.entry(*game).or_default().push((*version, *player, *prompt, action.clone()));
        }
        for (game, mut acked) in games {
            // A voided game has no record.
            let Some(settled) = self.settled.get(&game) else {
                continue;
            };
            acked.sort_by_key(|(version, ..)| *version);
            let mut played =
                settled.actions.iter().filter(|taken| taken.by == ActionOrigin::Player);
            for (version, player, prompt, action) in acked {
                let is_match = |taken: &RecordedAction<G::Action>| {
                    settled.players.get(taken.seat.index()) == Some(&player)
                        && taken.action == action
                };
                if !played.any(is_match) {
                    return Err(format!(
                        "{game}: {action:?} of {player} at prompt {prompt}, v{version}, was \
                         acknowledged and is not in the record"
                    ));
                }
            }
        }
        Ok(())
    }
}
