//! Two nodes that settle and void the same games.

use bahay::archive::GameState;
use bahay::ledger::{LedgerError, SettleGame};
use bahay_engine::table::PlayerId;
use futures_util::future::join_all;

use super::{TAKEN, WON, open_won};
use crate::support::bank::Bank;
use crate::support::reason;

const GAMES: usize = 50;

/// Opens games, each at its own table, and returns their settlements. Each player plays at many
/// tables.
async fn open_games(bank: &Bank, players: &[PlayerId]) -> Vec<SettleGame> {
    let mut games = Vec::new();
    for number in 0..GAMES {
        games.push(open_won(bank, &choose_places(number).map(|place| players[place])).await);
    }
    games
}

/// Returns the places of three distinct players of the twelve for a game's number.
fn choose_places(number: usize) -> [usize; 3] {
    [number, number + 5, number + 7].map(|place| place % 12)
}

/// Adds what each player of a game's number wins.
fn add_won(expected: &mut [i64], number: usize) {
    for (won, place) in WON.into_iter().zip(choose_places(number)) {
        expected[place] += won;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_game_settled_by_two_nodes_is_paid_once() {
    let (bank, players) = Bank::with_players([1_000_000; 12]).await;
    let (other, _tasks) = bank.node().await;
    let games = open_games(&bank, &players).await;
    let settle = |ledger: &bahay::ledger::Ledger| {
        let calls = games.iter().map(|game| {
            let (ledger, game) = (ledger.clone(), game.clone());
            tokio::spawn(async move { ledger.settle_game(game).await.unwrap() })
        });
        join_all(calls.collect::<Vec<_>>())
    };
    let (one, two) = tokio::join!(settle(&bank.ledger), settle(&other));
    let mut expected = vec![1_000_000; 12];
    for (number, (one, two)) in one.into_iter().zip(two).enumerate() {
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one, two);
        add_won(&mut expected, number);
    }
    assert_eq!(bank.wallets(&players).await, expected);
    // Grants, openings and settlements.
    let operations = i64::try_from(12 + 2 * GAMES).unwrap();
    assert_eq!(bank.audit_clean().await.operations, operations);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_game_settled_by_one_node_and_voided_by_another_has_one_outcome() {
    let (bank, players) = Bank::with_players([1_000_000; 12]).await;
    let (other, _tasks) = bank.node().await;
    let games = open_games(&bank, &players).await;
    let calls = games.iter().enumerate().map(|(number, game)| {
        let (mut settling, mut voiding) = (bank.ledger.clone(), other.clone());
        if number % 2 == 1 {
            std::mem::swap(&mut settling, &mut voiding);
        }
        let (input, game, player) = (game.clone(), game.game, players[number % 12]);
        let settled = tokio::spawn(async move { settling.settle_game(input).await.map(drop) });
        let voided = tokio::spawn(async move {
            // A settlement waits for its batch, so a void is always faster unless it is delayed by
            // reads.
            for _ in 0..number % 4 {
                voiding.wallet(player).await.unwrap();
            }
            voiding.void_game(game, &reason("it was lost")).await.map(drop)
        });
        async move { (settled.await.unwrap(), voided.await.unwrap()) }
    });
    let answers = join_all(calls.collect::<Vec<_>>()).await;
    let mut expected = vec![1_000_000; 12];
    let mut settlements = 0;
    for (number, (answers, input)) in answers.into_iter().zip(&games).enumerate() {
        let game = input.game;
        let not_open = |state| Err(LedgerError::GameNotOpen { game, state });
        if answers.0.is_ok() {
            assert_eq!(answers.1, not_open(GameState::Settled));
            settlements += 1;
            add_won(&mut expected, number);
        } else {
            assert_eq!(answers, (not_open(GameState::Voided), Ok(())));
        }
    }
    println!("{settlements} of {GAMES} games were settled, the others voided");
    assert_eq!(bank.wallets(&players).await, expected);
    assert!(expected.iter().all(|wallet| *wallet > 1_000_000 - 10 * TAKEN));
    let operations = i64::try_from(12 + 2 * GAMES).unwrap();
    assert_eq!(bank.audit_clean().await.operations, operations);
}
