//! A ledger on its own database, with players.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bahay::ledger::audit::{self, Report};
use bahay::ledger::{
    Document, Grant, GrantCoins, GrantOutcome, Ledger, LedgerError, LedgerOptions, LedgerTasks,
    OpenGame, OpeningOutcome, SettleGame, SettlementOutcome,
};
use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Debt, Item, Outcome};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, PotPayout, Price, Settlement, TableId};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::db::TestDatabase;

pub(crate) const ROOM: &str = "newbie";

/// The kind of the bank's games.
pub(crate) const KIND: &str = "tongits";

/// Rule 6.9 at bet 1, multiplier 1.
pub(crate) const STAKE_MAX: Coins = Coins::from_hundredths(1_400);

/// Rule 7.1 at bet 1.
pub(crate) const ANTE: Coins = Coins::from_hundredths(100);

/// A ledger that is stopped, and its database dropped, on drop.
#[derive(Debug)]
pub(crate) struct Bank {
    pub(crate) ledger: Ledger,
    pub(crate) pool: PgPool,
    clock_ms: AtomicI64,
    _tasks: LedgerTasks,
    pub(crate) database: TestDatabase,
}

impl Bank {
    pub(crate) async fn new() -> Self {
        Self::with_database(TestDatabase::new().await).await
    }

    /// Opens a bank with players who own these amounts.
    pub(crate) async fn with_players<const N: usize>(
        hundredths: [i64; N],
    ) -> (Self, Vec<PlayerId>) {
        let bank = Self::new().await;
        let players = bank.players(hundredths).await;
        (bank, players)
    }

    pub(crate) async fn with_database(database: TestDatabase) -> Self {
        let pool = database.pool().await;
        // No pause between operations.
        let pace = Duration::ZERO;
        let options = LedgerOptions { batches_at_once: 1, pace, ..LedgerOptions::default() };
        let (ledger, tasks) = Ledger::start(pool.clone(), options);
        let clock_ms = AtomicI64::new(1_750_000_000_000);
        Self { ledger, pool, clock_ms, _tasks: tasks, database }
    }

    /// Starts another node on the same database.
    pub(crate) async fn node(&self) -> (Ledger, LedgerTasks) {
        Ledger::start(self.database.pool().await, LedgerOptions::default())
    }

    /// Returns a later time at each call.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock_ms.fetch_add(1_000, Ordering::Relaxed)
    }

    /// Creates a player with a balance in hundredths; 0 for no wallet at all.
    pub(crate) async fn player(&self, hundredths: i64) -> PlayerId {
        let player = PlayerId(Uuid::new_v4());
        sqlx::query!("insert into players (id, name) values ($1, 'Tala')", player.0)
            .execute(&self.pool)
            .await
            .expect("the player is created");
        if hundredths > 0 {
            let granted = self.grant(player, Grant::Welcome, hundredths).await;
            granted.expect("the welcome grant is booked");
        }
        player
    }

    pub(crate) async fn players<const N: usize>(&self, hundredths: [i64; N]) -> Vec<PlayerId> {
        let mut players = Vec::new();
        for hundredths in hundredths {
            players.push(self.player(hundredths).await);
        }
        players
    }

    pub(crate) async fn grant(
        &self,
        player: PlayerId,
        grant: Grant,
        hundredths: i64,
    ) -> Result<GrantOutcome, LedgerError> {
        self.ledger.grant(grant_coins(player, grant, player, hundredths)).await
    }

    /// Returns a new game of these players.
    pub(crate) fn deal(&self, table: TableId, players: &[PlayerId]) -> OpenGame {
        OpenGame {
            game: GameId(Uuid::new_v4()),
            kind: KIND.into(),
            table,
            room: ROOM.into(),
            ante: ANTE,
            stake_max: STAKE_MAX,
            short_stakes: false,
            players: players.to_vec(),
            commitment: Commitment(Hex([0x5e; 32])),
            opened_at_ms: self.now_ms(),
        }
    }

    /// Opens a game that every player can pay. Returns its stakes and POT.
    pub(crate) async fn open(&self, input: &OpenGame) -> (Vec<Coins>, Coins) {
        match self.ledger.open_game(input.clone()).await.expect("the game is opened") {
            OpeningOutcome::Opened { stakes, pot } => (stakes, pot),
            OpeningOutcome::CannotPay { seats } => panic!("{seats:?} cannot pay"),
            OpeningOutcome::OverAllowance { seats } => panic!("{seats:?} exceed the allowance"),
        }
    }

    /// Opens a new game of these players.
    pub(crate) async fn open_game(&self, players: &[PlayerId]) -> OpenGame {
        let game = self.deal(table(), players);
        self.open(&game).await;
        game
    }

    pub(crate) async fn void_game(&self, game: &OpenGame) {
        let reason = "for the test".parse().expect("the text is a valid reason");
        self.ledger.void_game(game.game, &reason).await.expect("the open game can be voided");
    }

    /// Opens and settles a game in which each loser owes a number of counts to the winner.
    pub(crate) async fn play(
        &self,
        table: TableId,
        players: &[PlayerId],
        winner: u8,
        counts: u32,
        pot: PotGoes,
    ) -> (GameId, SettlementOutcome) {
        self.play_out(self.deal(table, players), winner, counts, pot).await
    }

    /// Opens and settles this game.
    pub(crate) async fn play_out(
        &self,
        game: OpenGame,
        winner: u8,
        counts: u32,
        pot: PotGoes,
    ) -> (GameId, SettlementOutcome) {
        let (stakes, pot_held) = self.open(&game).await;
        let input = self.finish(&game, settlement(winner, counts, &stakes, pot, pot_held));
        (game.game, self.ledger.settle_game(input).await.expect("the game is settled"))
    }

    pub(crate) fn finish(&self, game: &OpenGame, settlement: Settlement) -> SettleGame {
        let finished_at_ms = self.now_ms();
        let record = json!({ "game": game.game, "actions": ["deal", "fight"] });
        let record = Document::canonicalize(&record).expect("a record is JSON");
        SettleGame {
            game: game.game,
            table: game.table,
            room: game.room.clone(),
            players: game.players.clone(),
            settlement,
            record,
            finished_at_ms,
        }
    }

    /// Returns the balances of the players' wallets, in hundredths.
    pub(crate) async fn wallets(&self, players: &[PlayerId]) -> Vec<i64> {
        let mut wallets = Vec::new();
        for player in players {
            let wallet = self.ledger.wallet(*player).await.expect("the wallet is read");
            wallets.push(wallet.available.hundredths());
        }
        wallets
    }

    /// Returns the balance of an account by its code, in hundredths, after projecting.
    pub(crate) async fn balance(&self, code: &str) -> i64 {
        self.ledger.seal_operations().await.expect("the operations are sealed");
        let balance =
            sqlx::query_scalar!("select a.balance from accounts a where a.code = $1", code)
                .fetch_optional(&self.pool)
                .await;
        balance.expect("the account is read").unwrap_or(0)
    }

    pub(crate) async fn audit(&self) -> Report {
        audit::audit(&self.pool).await.expect("the books are read")
    }

    /// Asserts that the audit finds no difference, before and after projecting.
    pub(crate) async fn audit_clean(&self) -> Report {
        let before = self.audit().await;
        assert_eq!(before.differences, []);
        self.ledger.seal_operations().await.expect("the operations are sealed");
        let after = self.audit().await;
        assert_eq!(after.differences, []);
        after
    }
}

/// Returns the input of a grant under a key of this text, with the amount in hundredths.
pub(crate) fn grant_coins(
    player: PlayerId,
    grant: Grant,
    key: impl ToString,
    hundredths: i64,
) -> GrantCoins {
    GrantCoins { player, grant, key: key.to_string(), amount: Coins::from_hundredths(hundredths) }
}

/// The winner of the POT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PotGoes {
    ToWinner,
    Nowhere,
}

pub(crate) fn table() -> TableId {
    TableId(Uuid::new_v4())
}

pub(crate) fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a table has eight seats at most")
}

pub(crate) fn settlement(
    winner: u8,
    counts: u32,
    stakes: &[Coins],
    pot: PotGoes,
    pot_held: Coins,
) -> Settlement {
    let item = Item { name: "normal".into(), rule: "6.1".into(), counts };
    let to = seat(winner);
    let losers = to.others(u8::try_from(stakes.len()).expect("a table has eight seats at most"));
    let debts = losers.map(|from| Debt { from, to, items: vec![item.clone()] }).collect();
    let outcome = Outcome { winner: Some(to), takes_pot: false, debts };
    let bet = Coins::from_hundredths(100);
    let price = Price { bet, multiplier: 1, fee_basis_points: 500 };
    let pot = match pot {
        PotGoes::ToWinner => Some(PotPayout { seat: to, amount: pot_held }),
        PotGoes::Nowhere => None,
    };
    Settlement::new(&outcome, &price, 1, stakes, 0, pot).expect("amounts of a few coins fit")
}

pub(crate) fn hundredths(amounts: &[Coins]) -> Vec<i64> {
    amounts.iter().map(|amount| amount.hundredths()).collect()
}
