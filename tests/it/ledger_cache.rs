//! Posting on cached books: a game that follows another one reads nothing, and whatever another
//! node or an operator has changed in the meantime is noticed.

use bahay::ledger::{Grant, LedgerError, OpeningOutcome};
use bahay_engine::coins::Coins;
use sqlx::AssertSqlSafe;

use crate::support::bank::{
    ANTE, Bank, PotGoes, STAKE_MAX, grant_coins, hundredths, settlement, table,
};
use crate::support::reason;
use crate::support::statements::StatementLog;

#[tokio::test]
async fn the_games_of_a_table_read_no_books_after_the_first() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let table = table();
    let play = || bank.play(table, &players, 0, 1, PotGoes::Nowhere);
    let count_calls = async |function: &str| {
        let (statements, _) = StatementLog::count(play()).await;
        let calls = statements.iter().filter(|(statement, _)| statement.contains(function));
        calls.map(|(_, count)| count).sum::<usize>()
    };
    // The opening reads wallets and POT; the settlement needs only what the opening wrote.
    assert_eq!(count_calls("account_ids").await, 1);
    assert_eq!(count_calls("account_ids").await, 0);
    assert_eq!(count_calls("write_books").await, 2);
    bank.audit_clean().await;
}

#[tokio::test]
async fn coins_that_another_node_has_moved_are_seen() {
    let (bank, players) = Bank::with_players([2_000; 3]).await;
    let (other, _tasks) = bank.node().await;
    let table = table();
    let (_, settled) = bank.play(table, &players, 0, 3, PotGoes::Nowhere).await;
    assert_eq!(hundredths(&settled.wallets), [2_470, 1_600, 1_600]);
    let (_, settled) = bank.play(table, &players, 0, 3, PotGoes::Nowhere).await;
    assert_eq!(hundredths(&settled.wallets), [2_940, 1_200, 1_200]);
    // Neither loser can pay another game until the other node has granted the coins.
    for loser in &players[1..] {
        other.grant(grant_coins(*loser, Grant::Daily, loser, 300)).await.unwrap();
    }
    let (_, settled) = bank.play(table, &players, 1, 3, PotGoes::Nowhere).await;
    assert_eq!(hundredths(&settled.wallets), [2_540, 1_970, 1_100]);
    let cannot_pay = bank.ledger.open_game(bank.deal(table, &players)).await.unwrap();
    assert!(matches!(cannot_pay, OpeningOutcome::CannotPay { .. }), "{cannot_pay:?}");
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_game_that_another_node_has_ended_is_not_ended_again() {
    let (bank, players) = Bank::with_players([20_000; 3]).await;
    let (other, _tasks) = bank.node().await;
    let table = table();
    let game = bank.deal(table, &players);
    let (stakes, pot) = bank.open(&game).await;
    let input = bank.finish(&game, settlement(0, 1, &stakes, PotGoes::Nowhere, pot));
    let settled = other.settle_game(input.clone()).await.unwrap();
    let another = bank.finish(&game, settlement(1, 1, &stakes, PotGoes::Nowhere, pot));
    let refused = bank.ledger.settle_game(another).await;
    assert!(matches!(refused, Err(LedgerError::KeyReused { .. })), "{refused:?}");
    assert_eq!(bank.ledger.settle_game(input).await, Ok(settled));

    let game = bank.deal(table, &players);
    let (stakes, pot) = bank.open(&game).await;
    other.void_game(game.game, &reason("its table was lost")).await.unwrap();
    let input = bank.finish(&game, settlement(0, 1, &stakes, PotGoes::Nowhere, pot));
    let refused = bank.ledger.settle_game(input).await;
    assert!(matches!(refused, Err(LedgerError::GameNotOpen { .. })), "{refused:?}");

    // The other node opens a game at the table, of which this one knows nothing.
    let open = other.open_game(bank.deal(table, &players)).await.unwrap();
    assert!(matches!(open, OpeningOutcome::Opened { .. }), "{open:?}");
    let busy = bank.ledger.open_game(bank.deal(table, &players)).await;
    assert!(matches!(busy, Err(LedgerError::TableBusy { .. })), "{busy:?}");
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_repeated_call_gets_the_stored_answer() {
    let (bank, players) = Bank::with_players([20_000; 3]).await;
    let table = table();
    for _ in 0..3 {
        let game = bank.deal(table, &players);
        let (stakes, pot) = bank.open(&game).await;
        assert_eq!(bank.open(&game).await, (stakes.clone(), pot));
        let input = bank.finish(&game, settlement(2, 1, &stakes, PotGoes::ToWinner, pot));
        let settled = bank.ledger.settle_game(input.clone()).await.unwrap();
        assert_eq!(bank.open(&game).await, (stakes, pot));
        assert_eq!(bank.ledger.settle_game(input).await, Ok(settled));
    }
    bank.audit_clean().await;
}

/// A database that was restored to an earlier time may reach the same version with other coins.
#[tokio::test]
async fn a_balance_that_differs_under_the_same_version_is_not_overwritten() {
    let (bank, players) = Bank::with_players([20_000; 3]).await;
    let table = table();
    let (_, settled) = bank.play(table, &players, 0, 1, PotGoes::Nowhere).await;
    let restore =
        format!("update accounts set balance = balance - 500 where code = 'wallet:{}'", players[1]);
    sqlx::query(AssertSqlSafe(restore)).execute(&bank.pool).await.unwrap();
    bank.open(&bank.deal(table, &players)).await;
    let held = Coins::checked_sum([ANTE, STAKE_MAX]).unwrap().hundredths();
    let expected = settled.wallets[1].hundredths() - 500 - held;
    assert_eq!(bank.wallets(&players).await[1], expected);
}
