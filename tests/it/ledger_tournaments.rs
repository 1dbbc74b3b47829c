//! The coins of tournaments: entries, fees, guarantees, prizes and cancellations, each once, and an
//! account that is closed empty.

use bahay::ledger::audit::Difference;
use bahay::ledger::{LedgerError, TournamentPurpose, TransferForTournament};
use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, TournamentId};
use uuid::Uuid;

use crate::support::bank::Bank;
use crate::support::db::{execute, read_rows, read_value};

/// The price of an entry, in hundredths.
const PRICE: i64 = 5_000;

/// A tournament in a bank, without a journal.
struct Tournament<'a> {
    bank: &'a Bank,
    id: TournamentId,
}

impl<'a> Tournament<'a> {
    async fn new(bank: &'a Bank) -> Self {
        let id = TournamentId(Uuid::new_v4());
        let insert = format!(
            "insert into tournaments (id, terms, seed, state)
            values ('{id}', '{{}}', decode(repeat('5e', 32), 'hex'), 'announced')"
        );
        execute(&bank.pool, &insert).await;
        bank.ledger.create_tournament_fee_account().await.unwrap();
        Self { bank, id }
    }

    fn transfer(
        &self,
        key: &str,
        purpose: TournamentPurpose,
        amount: i64,
    ) -> TransferForTournament {
        let amount = Coins::from_hundredths(amount);
        TransferForTournament { tournament: self.id, key: key.to_owned(), purpose, amount }
    }

    async fn book(&self, input: &TransferForTournament) -> Result<(), LedgerError> {
        let mut tx = self.bank.pool.begin().await.unwrap();
        self.bank.ledger.transfer_for_tournament_in_tx(&mut tx, input.clone()).await?;
        tx.commit().await.unwrap();
        Ok(())
    }

    async fn pay(
        &self,
        key: &str,
        purpose: TournamentPurpose,
        amount: i64,
    ) -> Result<(), LedgerError> {
        self.book(&self.transfer(key, purpose, amount)).await
    }

    async fn enter(&self, player: PlayerId) -> Result<(), LedgerError> {
        let key = format!("entry:{player}:1");
        self.pay(&key, TournamentPurpose::Entry(player), PRICE).await
    }

    async fn balance(&self) -> i64 {
        let sum = format!(
            "select coalesce(sum(a.balance), 0)::bigint
            from accounts a
            where a.code = 'tournament:{}'",
            self.id
        );
        read_value(&self.bank.pool, &sum).await
    }

    /// Closes the account and the tournament.
    async fn close(&self) -> Result<(), LedgerError> {
        let mut tx = self.bank.pool.begin().await.unwrap();
        self.bank.ledger.close_tournament_account_in_tx(&mut tx, self.id).await?;
        tx.commit().await.unwrap();
        let update = format!(
            "update tournaments set state = 'ended', closed_at = now() where id = '{}'",
            self.id
        );
        execute(&self.bank.pool, &update).await;
        Ok(())
    }
}

#[tokio::test]
async fn a_tournament_pays_out_exactly_what_it_received() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let tournament = Tournament::new(&bank).await;
    for player in &players {
        tournament.enter(*player).await.unwrap();
    }
    assert_eq!(tournament.balance().await, 3 * PRICE);
    assert_eq!(bank.wallets(&players).await, [5_000; 3]);
    tournament.pay("fee", TournamentPurpose::Fee, 1_500).await.unwrap();
    tournament.pay("guarantee", TournamentPurpose::Guarantee, 2_500).await.unwrap();
    assert_eq!(tournament.balance().await, 16_000);
    tournament.pay("place:1", TournamentPurpose::Prize(players[1]), 9_601).await.unwrap();
    tournament.pay("place:2", TournamentPurpose::Prize(players[0]), 6_399).await.unwrap();
    assert_eq!(tournament.balance().await, 0);
    tournament.close().await.unwrap();
    assert_eq!(bank.wallets(&players).await, [11_399, 14_601, 5_000]);
    assert_eq!(bank.balance("fee:tournament").await, 1_500);
    assert_eq!(bank.balance("issue").await, -32_500);

    let codes = "
        select o.key, t.code, t.amount
        from transfers t
        join operations o on o.id = t.operation
        where o.kind = 'tournament' and t.code <> 'tournament_entry'
        order by o.id";
    let found: Vec<(String, String, i64)> = read_rows(&bank.pool, codes).await;
    let expected = [
        ("fee", "tournament_fee", 1_500),
        ("guarantee", "guarantee", 2_500),
        ("place:1", "prize", 9_601),
        ("place:2", "prize", 6_399),
    ];
    let expected = expected.map(|(key, code, amount)| {
        (format!("tournament:{}:{key}", tournament.id), code.to_owned(), amount)
    });
    assert_eq!(found, expected);
    bank.audit_clean().await;
}

#[tokio::test]
async fn each_transfer_is_booked_once_and_another_one_under_its_key_is_refused() {
    let (bank, players) = Bank::with_players([10_000; 2]).await;
    let tournament = Tournament::new(&bank).await;
    tournament.enter(players[0]).await.unwrap();
    tournament.enter(players[0]).await.unwrap();
    assert_eq!(tournament.balance().await, PRICE);
    let prize = tournament.transfer("place:1", TournamentPurpose::Prize(players[0]), 3_000);
    tournament.book(&prize).await.unwrap();
    tournament.book(&prize).await.unwrap();
    assert_eq!(tournament.balance().await, 2_000);
    let key = format!("tournament:{}:place:1", tournament.id);
    let other = tournament.transfer("place:1", TournamentPurpose::Prize(players[1]), 3_000);
    assert_eq!(tournament.book(&other).await, Err(LedgerError::KeyReused { key }));
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_wallet_that_cannot_pay_and_a_prize_beyond_the_pool_are_refused() {
    let (bank, players) = Bank::with_players([4_999, 5_000]).await;
    let tournament = Tournament::new(&bank).await;
    let refused = tournament.enter(players[0]).await;
    assert!(matches!(refused, Err(LedgerError::Overdrawn { .. })), "{refused:?}");
    tournament.enter(players[1]).await.unwrap();
    let beyond = tournament.pay("place:1", TournamentPurpose::Prize(players[0]), 5_001).await;
    assert!(matches!(beyond, Err(LedgerError::Overdrawn { .. })), "{beyond:?}");
    for amount in [0, -1] {
        let refused = tournament.pay("fee", TournamentPurpose::Fee, amount).await;
        assert!(matches!(refused, Err(LedgerError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(bank.wallets(&players).await, [4_999, 0]);
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_withdrawal_and_a_cancellation_return_everything() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let tournament = Tournament::new(&bank).await;
    for player in &players {
        tournament.enter(*player).await.unwrap();
    }
    let key = format!("return:{}:1", players[2]);
    tournament.pay(&key, TournamentPurpose::Return(players[2]), PRICE).await.unwrap();
    tournament.pay("fee", TournamentPurpose::Fee, 1_000).await.unwrap();
    tournament.pay("guarantee", TournamentPurpose::Guarantee, 700).await.unwrap();
    // The fee is not sealed yet, so the balance of the fee account does not show it.
    tournament.pay("fee-return", TournamentPurpose::FeeReturn, 1_000).await.unwrap();
    let again = tournament.pay("fee-return:2", TournamentPurpose::FeeReturn, 1).await;
    assert!(matches!(again, Err(LedgerError::Overdrawn { .. })), "{again:?}");
    tournament.pay("guarantee-return", TournamentPurpose::GuaranteeReturn, 700).await.unwrap();
    for player in &players[..2] {
        let key = format!("cancel:{player}");
        tournament.pay(&key, TournamentPurpose::Refund(*player), PRICE).await.unwrap();
    }
    tournament.close().await.unwrap();
    assert_eq!(bank.wallets(&players).await, [10_000; 3]);
    assert_eq!(bank.balance("fee:tournament").await, 0);
    assert_eq!(bank.balance("issue").await, -30_000);
    bank.audit_clean().await;
}

/// The database asserts that a tournament ends without coins, and the audit that none is left behind.
#[tokio::test]
async fn the_account_of_a_tournament_is_closed_only_when_it_is_empty() {
    let (bank, players) = Bank::with_players([10_000; 2]).await;
    let tournament = Tournament::new(&bank).await;
    tournament.enter(players[0]).await.unwrap();
    let refused = tournament.close().await;
    assert!(matches!(refused, Err(LedgerError::Broken { .. })), "{refused:?}");
    tournament.pay("place:1", TournamentPurpose::Prize(players[0]), PRICE).await.unwrap();
    tournament.close().await.unwrap();
    // A closed account never holds coins again.
    tournament.enter(players[1]).await.unwrap_err();
    bank.audit_clean().await;

    // A tournament that was declared over with coins left is found.
    let other = Tournament::new(&bank).await;
    other.enter(players[1]).await.unwrap();
    bank.audit_clean().await;
    let update = format!(
        "update tournaments set state = 'ended', closed_at = now() where id = '{}'",
        other.id
    );
    execute(&bank.pool, &update).await;
    let account = format!("tournament:{}", other.id);
    let balance = Coins::from_hundredths(PRICE);
    assert_eq!(
        bank.audit().await.differences,
        [Difference::TournamentDiffers { account, balance }]
    );
}

#[tokio::test]
async fn a_rolled_back_transfer_leaves_no_trace() {
    let (bank, players) = Bank::with_players([10_000]).await;
    let tournament = Tournament::new(&bank).await;
    let entry = tournament.transfer("entry:1", TournamentPurpose::Entry(players[0]), PRICE);
    let mut tx = bank.pool.begin().await.unwrap();
    bank.ledger.transfer_for_tournament_in_tx(&mut tx, entry.clone()).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(bank.wallets(&players).await, [10_000]);
    tournament.book(&entry).await.unwrap();
    tournament.pay("fee", TournamentPurpose::Fee, 10).await.unwrap();
    assert_eq!(tournament.balance().await, PRICE - 10);
    bank.audit_clean().await;
}
