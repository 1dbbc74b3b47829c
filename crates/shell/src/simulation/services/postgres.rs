//! A model of PostgreSQL as the ledger uses it: idempotent operations by key, transfers between
//! accounts, and the games that operations open, settle and void. An operation is atomic; the link,
//! not this model, loses its response.

use std::collections::BTreeMap;

use crate::GameOpening;
use crate::simulation::{Mutation, SimulatedGame};
use bahay_engine::coins::Coins;
use bahay_engine::seat::{SEATS_MAX, Seat, SeatSet};
use bahay_engine::table::{GameId, PlayerId, Record, Share, TableId};

/// The accounts of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CoinAccount {
    /// The source of all coins, the only negative account.
    Issue,
    Wallet(PlayerId),
    Stake(GameId, Seat),
    Pot(TableId),
    Fee,
}

/// The operations and queries of the ledger.
#[derive(Clone, Debug)]
pub(crate) enum Operation<G: SimulatedGame> {
    Open(GameOpening),
    Settle(Box<Record<G>>),
    Void {
        game: GameId,
    },
    /// Refunds what one player, or every player, has paid into a POT up to this game.
    RefundPot {
        table: TableId,
        game: GameId,
        player: Option<PlayerId>,
    },
    /// Refunds the whole POT of a table that an operator ends.
    RefundWholePot {
        table: TableId,
    },
    /// Returns the open game of a table.
    OpenAt {
        table: TableId,
    },
    /// Returns games that have been open for longer than this.
    OpenGames {
        longer_than_ms: u64,
    },
    Wallet {
        player: PlayerId,
    },
}

/// The results of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LedgerReply {
    Opened { stakes: Vec<Coins>, pot: Coins },
    CannotPay { seats: SeatSet },
    Settled,
    PotRefunded { player: Option<PlayerId>, pot: Coins, shares: Vec<Share> },
    Voided,
    Games(Vec<(GameId, TableId)>),
    Wallet(Coins),
}

/// The reasons why an operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    GameNotOpen,
    GameUnknown,
    TableBusy,
    KeyReused,
    Differs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Open(GameId),
    Settle(GameId),
    Void(GameId),
    RefundPot(TableId, GameId, Option<PlayerId>),
}

/// The state of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    Settled,
    Voided,
}

/// The row of a game.
#[derive(Clone, Debug)]
pub(crate) struct GameRow {
    pub(crate) opening: GameOpening,
    pub(crate) stakes: Vec<Coins>,
    pub(crate) state: State,
    pub(crate) opened_ms: u64,
    /// The number of settlements and voids, which must be one for every game.
    pub(crate) ends: u32,
}

/// A completed operation, by its idempotency key.
#[derive(Clone, Debug)]
struct CompletedOperation {
    /// The input, which the ledger stores as a hash.
    input: String,
    answer: LedgerReply,
}

/// The state of PostgreSQL.
#[derive(Default)]
pub(crate) struct Postgres {
    balances: BTreeMap<CoinAccount, Coins>,
    /// The refundable amount of each player in a POT. The ledger derives it from the entries.
    paid: BTreeMap<(TableId, PlayerId), Coins>,
    games: BTreeMap<GameId, GameRow>,
    completed: BTreeMap<Key, CompletedOperation>,
}

impl Postgres {
    /// Executes an operation unless its key is known.
    pub(crate) fn execute<G: SimulatedGame>(
        &mut self,
        now_ms: u64,
        operation: &Operation<G>,
        mutation: Option<Mutation>,
    ) -> Result<LedgerReply, Refusal> {
        match operation {
            Operation::Open(open) => {
                let input = format!("{open:?}");
                self.post_once(Key::Open(open.game), input, |ledger| ledger.open(now_ms, open))
            }
            Operation::Settle(record) => {
                let key = Key::Settle(record.game);
                let input = serde_json::to_string(record).expect("a record can be written");
                let forgets = mutation == Some(Mutation::SettlesTwice);
                if forgets {
                    self.completed.remove(&key);
                }
                self.post_once(key, input, |ledger| ledger.settle(record, forgets))
            }
            Operation::Void { game } => {
                let void = |ledger: &mut Self| ledger.void(*game, mutation);
                self.post_once(Key::Void(*game), String::new(), void)
            }
            Operation::RefundPot { table, game, player } => {
                let key = Key::RefundPot(*table, *game, *player);
                let refund = |ledger: &mut Self| ledger.refund_pot(*table, *player, mutation);
                let mut reply = self.post_once(key, String::new(), refund)?;
                // The balance is the current one.
                if let LedgerReply::PotRefunded { pot, .. } = &mut reply {
                    *pot = self.balance(CoinAccount::Pot(*table));
                }
                Ok(reply)
            }
            Operation::RefundWholePot { table } => self.refund_pot(*table, None, mutation),
            Operation::OpenAt { table } => {
                let game = self.open_game_at(*table).map(|game| (game, *table));
                Ok(LedgerReply::Games(game.into_iter().collect()))
            }
            Operation::OpenGames { longer_than_ms } => {
                let open = self.open_games();
                let open = open.filter(|(_, row)| row.opened_ms + longer_than_ms <= now_ms);
                Ok(LedgerReply::Games(open.map(|(game, row)| (game, row.opening.table)).collect()))
            }
            Operation::Wallet { player } => {
                Ok(LedgerReply::Wallet(self.balance(CoinAccount::Wallet(*player))))
            }
        }
    }

    /// Posts an operation unless it is completed, and returns its answer.
    fn post_once(
        &mut self,
        key: Key,
        input: String,
        post: impl FnOnce(&mut Self) -> Result<LedgerReply, Refusal>,
    ) -> Result<LedgerReply, Refusal> {
        if let Some(completed) = self.completed.get(&key) {
            let is_same = completed.input == input;
            return if is_same { Ok(completed.answer.clone()) } else { Err(Refusal::KeyReused) };
        }
        let answer = post(self)?;
        self.completed.insert(key, CompletedOperation { input, answer: answer.clone() });
        Ok(answer)
    }

    fn open(&mut self, now_ms: u64, open: &GameOpening) -> Result<LedgerReply, Refusal> {
        if self.games.contains_key(&open.game) {
            return Err(Refusal::GameNotOpen);
        }
        if self.open_game_at(open.table).is_some() {
            return Err(Refusal::TableBusy);
        }
        let stake_of =
            |player: &PlayerId| open.stakes.stake_of(self.balance(CoinAccount::Wallet(*player)));
        let stakes: Vec<Option<Coins>> = open.players.iter().map(stake_of).collect();
        let seats = Seat::all(SEATS_MAX).zip(&stakes);
        let poor: SeatSet =
            seats.filter(|(_, stake)| stake.is_none()).map(|(seat, _)| seat).collect();
        if !poor.is_empty() {
            return Ok(LedgerReply::CannotPay { seats: poor });
        }
        let stakes: Vec<Coins> = stakes.into_iter().flatten().collect();
        let seated = Seat::all(SEATS_MAX).zip(&open.players).zip(&stakes);
        for ((seat, player), stake) in seated {
            let wallet = CoinAccount::Wallet(*player);
            self.transfer(wallet, CoinAccount::Pot(open.table), open.stakes.ante);
            let paid = self.paid.entry((open.table, *player)).or_default();
            *paid = paid.checked_add(open.stakes.ante).expect("amounts of a run fit");
            self.transfer(wallet, CoinAccount::Stake(open.game, seat), *stake);
        }
        let row = GameRow {
            opening: open.clone(),
            stakes: stakes.clone(),
            state: State::Open,
            opened_ms: now_ms,
            ends: 0,
        };
        self.games.insert(open.game, row);
        Ok(LedgerReply::Opened { stakes, pot: self.balance(CoinAccount::Pot(open.table)) })
    }

    fn settle<G: SimulatedGame>(
        &mut self,
        record: &Record<G>,
        again: bool,
    ) -> Result<LedgerReply, Refusal> {
        let row = self.games.get_mut(&record.game).ok_or(Refusal::GameUnknown)?;
        if row.state != State::Open && !again {
            return Err(Refusal::GameNotOpen);
        }
        if row.opening.table != record.table || row.opening.players != record.players {
            return Err(Refusal::Differs);
        }
        row.state = State::Settled;
        row.ends += 1;
        let mut left = row.stakes.clone();
        let players = row.opening.players.clone();
        let wallet = |seat: Seat| CoinAccount::Wallet(players[seat.index()]);
        for payment in &record.settlement.payments {
            let stake = CoinAccount::Stake(record.game, payment.from);
            self.transfer(stake, wallet(payment.to), payment.paid);
            let rest = &mut left[payment.from.index()];
            *rest = rest.checked_sub(payment.paid).ok_or(Refusal::Differs)?;
        }
        for fee in &record.settlement.fees {
            self.transfer(wallet(fee.seat), CoinAccount::Fee, fee.fee);
        }
        for (seat, left) in Seat::all(SEATS_MAX).zip(left) {
            self.transfer(CoinAccount::Stake(record.game, seat), wallet(seat), left);
        }
        if let Some(pot) = record.settlement.pot {
            self.transfer(CoinAccount::Pot(record.table), wallet(pot.seat), pot.amount);
            self.paid.retain(|(table, _), _| *table != record.table);
        }
        Ok(LedgerReply::Settled)
    }

    fn void(&mut self, game: GameId, mutation: Option<Mutation>) -> Result<LedgerReply, Refusal> {
        let row = self.games.get_mut(&game).ok_or(Refusal::GameUnknown)?;
        if row.state != State::Open {
            return Err(Refusal::GameNotOpen);
        }
        row.state = State::Voided;
        row.ends += 1;
        let GameRow { opening, stakes, .. } = row.clone();
        let seated = Seat::all(SEATS_MAX).zip(&opening.players).zip(&stakes);
        for ((seat, player), stake) in seated {
            let wallet = CoinAccount::Wallet(*player);
            if mutation != Some(Mutation::KeepsAntesOfVoided) {
                self.transfer(CoinAccount::Pot(opening.table), wallet, opening.stakes.ante);
                let paid = self.paid.entry((opening.table, *player)).or_default();
                *paid = paid.checked_sub(opening.stakes.ante).expect("amounts of a run fit");
            }
            self.transfer(CoinAccount::Stake(game, seat), wallet, *stake);
        }
        Ok(LedgerReply::Voided)
    }

    fn refund_pot(
        &mut self,
        table: TableId,
        player: Option<PlayerId>,
        mutation: Option<Mutation>,
    ) -> Result<LedgerReply, Refusal> {
        if self.open_game_at(table).is_some() {
            return Err(Refusal::TableBusy);
        }
        let mut shares = Vec::new();
        if mutation != Some(Mutation::ForgetsWhoPaid) {
            let is_due = |of: &(TableId, PlayerId)| {
                of.0 == table && player.is_none_or(|player| of.1 == player)
            };
            let paid = self.paid.extract_if(.., |of, paid| is_due(of) && !paid.is_zero());
            shares = paid.map(|((_, player), amount)| Share { player, amount }).collect();
        }
        for Share { player, amount } in &shares {
            self.transfer(CoinAccount::Pot(table), CoinAccount::Wallet(*player), *amount);
        }
        Ok(LedgerReply::PotRefunded { player, pot: self.balance(CoinAccount::Pot(table)), shares })
    }

    /// Grants coins to a player.
    pub(crate) fn grant(&mut self, player: PlayerId, amount: Coins) {
        self.transfer(CoinAccount::Issue, CoinAccount::Wallet(player), amount);
    }

    fn transfer(&mut self, from: CoinAccount, to: CoinAccount, amount: Coins) {
        let less = self.balance(from).checked_sub(amount).expect("amounts of a run fit");
        self.set_balance(from, less);
        let more = self.balance(to).checked_add(amount).expect("amounts of a run fit");
        self.set_balance(to, more);
    }

    /// Sets a balance. Empty accounts are removed, because every game has three.
    fn set_balance(&mut self, account: CoinAccount, balance: Coins) {
        if balance.is_zero() {
            self.balances.remove(&account);
        } else {
            self.balances.insert(account, balance);
        }
    }

    pub(crate) fn balance(&self, account: CoinAccount) -> Coins {
        self.balances.get(&account).copied().unwrap_or_default()
    }

    pub(crate) fn balances(&self) -> impl Iterator<Item = (CoinAccount, Coins)> {
        self.balances.iter().map(|(account, balance)| (*account, *balance))
    }

    pub(crate) fn open_games(&self) -> impl Iterator<Item = (GameId, &GameRow)> {
        self.games().filter(|(_, row)| row.state == State::Open)
    }

    fn open_game_at(&self, table: TableId) -> Option<GameId> {
        let mut open = self.open_games();
        open.find(|(_, row)| row.opening.table == table).map(|(game, _)| game)
    }

    pub(crate) fn game(&self, game: GameId) -> Option<&GameRow> {
        self.games.get(&game)
    }

    pub(crate) fn games(&self) -> impl Iterator<Item = (GameId, &GameRow)> {
        self.games.iter().map(|(game, row)| (*game, row))
    }
}
