//! Checks of coins. After every operation of the ledger the balances sum to zero, and only the
//! issue account is negative; a game is opened and ended once; stakes, payments and the POT agree
//! with the table and the record; a game is voided only if its live state is lost.

use std::collections::BTreeMap;

use crate::GameOpening;
use crate::simulation::checks::SettledGame;
use crate::simulation::services::Posted;
use crate::simulation::services::postgres::{CoinAccount, GameRow, LedgerReply, Operation};
use crate::simulation::{Mutation, SimulatedGame};
use crate::simulation::{World, house_terms};
use bahay_engine::coins::Coins;
use bahay_engine::seat::{SEATS_MAX, Seat};
use bahay_engine::table::{GameId, Phase, PlayerId, Record, TableId};
use bahay_engine::variants;

/// The accounts before an operation.
pub(crate) struct AccountsBefore {
    table: TableId,
    pot: Coins,
    /// How often the game had ended; `None` before it was opened.
    ends: Option<u32>,
}

/// The multiple of the room's minimum that a new or bankrupt player is granted.
const WELCOME_FACTOR: u32 = 3;

impl<G: SimulatedGame> World<G> {
    /// Grants coins to a player from the issue account.
    pub(crate) fn grant(&self, player: PlayerId) {
        let least = house_terms::<G>(self.options).wallet_min();
        let welcome = least.and_then(|least| least.checked_mul(WELCOME_FACTOR));
        let welcome = welcome.expect("amounts of a run fit");
        self.services.borrow_mut().postgres.grant(player, welcome);
        self.totals.borrow_mut().grants += 1;
    }

    /// Returns the accounts before an operation on a game.
    pub(crate) fn accounts_before(&self, operation: &Operation<G>) -> Option<AccountsBefore> {
        let postgres = &self.services.borrow().postgres;
        let (game, table) = match operation {
            Operation::Open(open) => (Some(open.game), Some(open.table)),
            Operation::Settle(record) => (Some(record.game), Some(record.table)),
            Operation::Void { game } => (Some(*game), None),
            Operation::RefundPot { table, game, .. } => (Some(*game), Some(*table)),
            Operation::RefundWholePot { table } => (None, Some(*table)),
            variants!(Operation: OpenAt, OpenGames, Wallet) => return None,
        };
        let row = game.and_then(|game| postgres.game(game));
        let table = table.or_else(|| Some(row?.opening.table))?;
        let pot = postgres.balance(CoinAccount::Pot(table));
        Some(AccountsBefore { table, pot, ends: row.map(|row| row.ends) })
    }

    /// Checks an operation that was posted, or found posted.
    pub(crate) fn check_posted(
        &self,
        operation: &Operation<G>,
        posted: &Posted,
        before: Option<AccountsBefore>,
    ) -> Result<(), String> {
        let Some(before) = before else {
            return Ok(());
        };
        let services = self.services.borrow();
        let postgres = &services.postgres;
        let mut sum = Coins::ZERO;
        for (account, balance) in postgres.balances() {
            sum = sum.checked_add(balance).ok_or("the sum of all coins does not fit")?;
            if balance.is_negative() && account != CoinAccount::Issue {
                return Err(format!("{account:?} holds {balance} after {operation:?}"));
            }
        }
        if !sum.is_zero() {
            return Err(format!("{sum} coins are missing after {operation:?}"));
        }
        let Ok(posted) = posted else {
            return Ok(());
        };
        self.check_paid(operation, posted, &before)?;
        match operation {
            Operation::Open(open) => {
                let Some(row) = postgres.game(open.game).filter(|_| before.ends.is_none()) else {
                    return Ok(());
                };
                let pot = before.pot.checked_add(sum_of_antes(open));
                if pot != Some(postgres.balance(CoinAccount::Pot(open.table))) {
                    return Err(format!("{}: the POT is not richer by the antes", open.game));
                }
                self.check_held(open.game, row, true)
            }
            Operation::Settle(record) => {
                let row = postgres.game(record.game).ok_or("a settled game is unknown")?;
                if before.ends == Some(0) {
                    drop(services);
                    return self.check_settled(record, &before);
                }
                check_single_end(record.game, row)
            }
            Operation::Void { game } => {
                let row = postgres.game(*game).ok_or("a voided game is unknown")?;
                check_single_end(*game, row)?;
                self.check_held(*game, row, false)?;
                if before.ends == Some(0) {
                    let table = before.table;
                    let pot = before.pot.checked_sub(sum_of_antes(&row.opening));
                    if pot != Some(postgres.balance(CoinAccount::Pot(table))) {
                        return Err(format!("{game}: the antes were not refunded"));
                    }
                    let is_halted = services.redis.is_halted(table);
                    let mut totals = self.totals.borrow_mut();
                    if is_halted {
                        totals.voided_by_order += 1
                    } else {
                        totals.voided += 1
                    }
                    drop(totals);
                    // An operator halts a table before voiding its game.
                    let is_live = services.redis.has_table(table) && !is_halted;
                    let checks = self.checks.borrow();
                    let truth = checks.truth(table).filter(|_| is_live);
                    if truth.is_some_and(|table| table.phase().game() == Some(*game)) {
                        return Err(format!("{game} is voided while it is played"));
                    }
                }
                Ok(())
            }
            variants!(Operation: RefundPot, RefundWholePot, OpenAt, OpenGames, Wallet) => Ok(()),
        }
    }

    /// Checks that a POT holds what its players have paid since it was last won, and that a refund
    /// returns exactly that.
    fn check_paid(
        &self,
        operation: &Operation<G>,
        posted: &LedgerReply,
        before: &AccountsBefore,
    ) -> Result<(), String> {
        let services = self.services.borrow();
        let mut checks = self.checks.borrow_mut();
        let table = before.table;
        let pot = services.postgres.balance(CoinAccount::Pot(table));
        let is_new = match operation {
            Operation::Open(_) => {
                matches!(posted, LedgerReply::Opened { .. }) && before.ends.is_none()
            }
            Operation::Settle(_) | Operation::Void { .. } => before.ends == Some(0),
            // A repeated refund leaves the POT unchanged.
            Operation::RefundPot { .. } | Operation::RefundWholePot { .. } => {
                pot != before.pot || self.has_mutation(Mutation::ForgetsWhoPaid)
            }
            variants!(Operation: OpenAt, OpenGames, Wallet) => return Ok(()),
        };
        if !is_new {
            return Ok(());
        }
        let paid = checks.paid.entry(table).or_default();
        match operation {
            Operation::Open(open) => {
                for player in &open.players {
                    let paid = paid.entry(*player).or_default();
                    *paid =
                        paid.checked_add(open.stakes.ante).ok_or("a paid amount does not fit")?;
                }
            }
            Operation::Settle(record) if record.settlement.pot.is_some() => paid.clear(),
            Operation::Void { game } => {
                let row = services.postgres.game(*game).ok_or("a voided game is unknown")?;
                for player in &row.opening.players {
                    let paid = paid.entry(*player).or_default();
                    *paid =
                        paid.checked_sub(row.opening.stakes.ante).ok_or("a refund does not fit")?;
                }
            }
            Operation::RefundPot { player, .. } => {
                let due = match player {
                    Some(player) => paid.remove_entry(player).into_iter().collect(),
                    None => std::mem::take(paid),
                };
                check_shares(table, due, posted)?;
            }
            Operation::RefundWholePot { .. } => check_shares(table, std::mem::take(paid), posted)?,
            variants!(Operation: Settle, OpenAt, OpenGames, Wallet) => {}
        }
        if matches!(posted, LedgerReply::PotRefunded { .. }) {
            self.totals.borrow_mut().pot_refunds += 1;
        }
        if Coins::checked_sum(paid.values().copied()) != Some(pot) {
            return Err(format!("{table}: {paid:?} was paid into a POT of {pot}"));
        }
        Ok(())
    }

    /// Checks that all stakes of a game are in its accounts, or none.
    fn check_held(&self, game: GameId, row: &GameRow, is_open: bool) -> Result<(), String> {
        let postgres = &self.services.borrow().postgres;
        for (seat, stake) in Seat::all(SEATS_MAX).zip(&row.stakes) {
            let held = postgres.balance(CoinAccount::Stake(game, seat));
            if held != if is_open { *stake } else { Coins::ZERO } {
                return Err(format!("{game}: {held} is held of {seat:?}, whose stake was {stake}"));
            }
        }
        Ok(())
    }

    fn check_settled(&self, record: &Record<G>, before: &AccountsBefore) -> Result<(), String> {
        let game = record.game;
        record.verify().map_err(|fault| format!("{game} does not verify: {fault}"))?;
        let services = self.services.borrow();
        let row = services.postgres.game(game).ok_or("a settled game is unknown")?;
        check_single_end(game, row)?;
        if row.stakes != record.stakes || record.pot_before != before.pot {
            return Err(format!("{game}: the record's stakes or POT are not the ledger's"));
        }
        if services.postgres.balance(CoinAccount::Pot(record.table)) != record.pot_after {
            return Err(format!("{game}: the POT is not what the record leaves"));
        }
        self.check_held(game, row, false)?;
        let mut checks = self.checks.borrow_mut();
        let is_true =
            checks.truths(record.table).iter().rev().any(|truth| match truth.last().phase() {
                Phase::Settling(settling) => settling.record == *record,
                variants!(Phase: Waiting, Preparing, Opening, Revealing, Playing) => false,
            });
        if !is_true {
            return Err(format!("{game} is settled differently than it was played"));
        }
        let players = record.players.clone();
        let actions = record.actions.clone();
        checks.settled.insert(game, SettledGame { players, actions });
        for player in &record.players {
            checks.played_ms.insert(*player, self.now_ms());
        }
        let mut totals = self.totals.borrow_mut();
        totals.games += 1;
        for client in record.clients.iter().filter(|client| !client.commitment.is_none()) {
            match &client.text {
                Some(_) => totals.revealed += 1,
                None => totals.unrevealed += 1,
            }
        }
        Ok(())
    }
}

fn sum_of_antes(opening: &GameOpening) -> Coins {
    let players = u32::try_from(opening.players.len()).unwrap_or(0);
    opening.stakes.ante.checked_mul(players).unwrap_or_default()
}

fn check_shares(
    table: TableId,
    mut due: BTreeMap<PlayerId, Coins>,
    posted: &LedgerReply,
) -> Result<(), String> {
    due.retain(|_, amount| !amount.is_zero());
    let LedgerReply::PotRefunded { shares, .. } = posted else {
        return Err(format!("{table}: {posted:?} is no return"));
    };
    let given = shares.iter().map(|share| (share.player, share.amount));
    if due != given.collect() {
        return Err(format!("{table}: {due:?} was to be given back, and {shares:?} was"));
    }
    Ok(())
}

fn check_single_end(game: GameId, row: &GameRow) -> Result<(), String> {
    if row.ends == 1 { Ok(()) } else { Err(format!("{game} is ended more than once")) }
}
