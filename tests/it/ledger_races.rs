//! Many concurrent callers on several nodes: one effect each, no visible deadlock, and consistent
//! books.

use std::future::Future;
use std::sync::Arc;

use bahay::ledger::{Grant, Ledger, LedgerError, OpenGame, OpeningOutcome};
use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, TableId};
use futures_util::future::join_all;

use crate::support::bank::{Bank, PotGoes, grant_coins, settlement, table};
use crate::support::db::read_value;
use crate::support::reason;

const CALLERS: usize = 100;

/// Calls from two nodes at once, each caller in its own task.
async fn race<T, F>(nodes: [&Ledger; 2], call: impl Fn(usize, Ledger) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let calls = (0..CALLERS).map(|caller| tokio::spawn(call(caller, nodes[caller % 2].clone())));
    let answers = join_all(calls).await.into_iter();
    answers.map(|answer| answer.expect("no caller panics")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_calls_at_once_have_one_effect_and_one_answer() {
    let bank = Bank::new().await;
    let (other, _tasks) = bank.node().await;
    let nodes = [&bank.ledger, &other];
    let player = bank.player(0).await;
    let answers = race(nodes, |_, ledger| {
        let welcome = grant_coins(player, Grant::Welcome, player, 10_000);
        async move { ledger.grant(welcome).await.unwrap() }
    });
    let answers = answers.await;
    assert!(answers.iter().all(|answer| answer.wallet.hundredths() == 10_000));
    assert_eq!(bank.wallets(&[player]).await, [10_000]);

    let players = vec![player, bank.player(10_000).await, bank.player(10_000).await];
    let table = table();
    let game = bank.deal(table, &players);
    let open = |_, ledger: Ledger| {
        let game = game.clone();
        async move { ledger.open_game(game).await.unwrap() }
    };
    let answers = race(nodes, open).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(bank.wallets(&players).await, [8_500; 3]);

    let (stakes, pot) = bank.open(&game).await;
    let input = bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot));
    let settle = |_, ledger: Ledger| {
        let input = input.clone();
        async move { ledger.settle_game(input).await.unwrap() }
    };
    let answers = race(nodes, settle).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(bank.wallets(&players).await, [10_770, 9_600, 9_600]);

    let game = bank.deal(table, &players);
    bank.open(&game).await;
    let void = |caller, ledger: Ledger| {
        let game = game.game;
        async move { ledger.void_game(game, &reason(&format!("lost, says {caller}"))).await.unwrap() }
    };
    let answers = race(nodes, void).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(bank.wallets(&players).await, [10_770, 9_600, 9_600]);
    // Three grants, two openings, a settlement and a voiding.
    assert_eq!(bank.audit_clean().await.operations, 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_inputs_under_one_key_one_wins_whoever_asks() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let (other, _tasks) = bank.node().await;
    let nodes = [&bank.ledger, &other];
    let game = bank.deal(table(), &players);
    let answers = race(nodes, |caller, ledger| {
        let mut game = game.clone();
        game.stake_max = Coins::from_hundredths([1_000, 1_400][caller / 2 % 2]);
        async move { ledger.open_game(game).await }
    });
    let answers = answers.await;
    let opened = answers.iter().filter(|answer| answer.is_ok()).count();
    let key = format!("open:{}", game.game);
    let reused = Err(LedgerError::KeyReused { key });
    assert_eq!((opened, answers.iter().filter(|answer| **answer == reused).count()), (50, 50));

    // Two players under one key: the callers do not even share a wallet.
    let players = [bank.player(0).await, bank.player(0).await];
    let answers = race(nodes, |caller, ledger| {
        let daily = grant_coins(players[caller / 2 % 2], Grant::Daily, "one", 700);
        async move { ledger.grant(daily).await }
    });
    let answers = answers.await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 50);
    assert_eq!(bank.wallets(&players).await.iter().sum::<i64>(), 700);
    bank.audit_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn settling_and_voiding_the_same_game_pays_once() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let (other, _tasks) = bank.node().await;
    let game = bank.deal(table(), &players);
    let (stakes, pot) = bank.open(&game).await;
    let input = bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot));
    let answers = race([&bank.ledger, &other], |caller, ledger| {
        let input = input.clone();
        async move {
            if caller / 2 % 2 == 0 {
                ledger.settle_game(input).await.is_ok()
            } else {
                ledger.void_game(input.game, &reason("it was lost")).await.is_ok()
            }
        }
    });
    assert_eq!(answers.await.iter().filter(|passed| **passed).count(), CALLERS / 2);
    bank.audit_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_games_at_one_table_one_is_opened() {
    let (bank, players) = Bank::with_players([1_000_000; 3]).await;
    let (other, _tasks) = bank.node().await;
    let table = table();
    let answers = race([&bank.ledger, &other], |_, ledger| {
        let game = bank.deal(table, &players);
        async move { ledger.open_game(game).await }
    });
    let answers = answers.await;
    let opened =
        answers.iter().filter(|answer| matches!(answer, Ok(OpeningOutcome::Opened { .. })));
    let busy = answers.iter().filter(|answer| matches!(answer, Err(LedgerError::TableBusy { .. })));
    assert_eq!((opened.count(), busy.count()), (1, CALLERS - 1));
    bank.audit_clean().await;
}

/// The players differ, so the POT's account is the only one that both openings create.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_nodes_that_create_the_same_account_at_once_create_it_once() {
    const ROUNDS: i64 = 20;
    let (bank, players) = Bank::with_players([1_000_000; 6]).await;
    let (other, _tasks) = bank.node().await;
    let (first_seats, second_seats) = players.split_at(3);
    for _ in 0..ROUNDS {
        let table = table();
        let games = [bank.deal(table, first_seats), bank.deal(table, second_seats)];
        let [first, second] = games.clone();
        let answers = tokio::join!(bank.ledger.open_game(first), other.open_game(second));
        let (opened, refused, busy) = match answers {
            (Ok(_), Err(busy)) => (&games[0], &games[1], busy),
            (Err(busy), Ok(_)) => (&games[1], &games[0], busy),
            both => panic!("one of two games is opened: {both:?}"),
        };
        assert_eq!(busy, LedgerError::TableBusy { table, game: opened.game });
        other.void_game(opened.game, &reason("the other game is played")).await.unwrap();
        let (_, pot) = bank.open(refused).await;
        assert_eq!(pot, Coins::from_hundredths(300));
        bank.ledger.void_game(refused.game, &reason("the next table begins")).await.unwrap();

        // The same game: all accounts are created by both.
        let game = bank.deal(table, first_seats);
        let answers =
            tokio::join!(bank.ledger.open_game(game.clone()), other.open_game(game.clone()));
        assert!(matches!(answers.0, Ok(OpeningOutcome::Opened { .. })), "{answers:?}");
        assert_eq!(answers.0, answers.1);
    }
    let count = |kind| format!("select count(*) from accounts where kind = '{kind}'");
    assert_eq!(read_value::<i64>(&bank.pool, &count("pot")).await, ROUNDS);
    assert_eq!(read_value::<i64>(&bank.pool, &count("stake")).await, 9 * ROUNDS);
    bank.audit_clean().await;
}

const TABLES: usize = 40;
const GAMES: usize = 12;

/// All tables share players, so wallets are contended; every game pays the one fee account. Grants
/// and audits run in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tables_at_once_lose_no_hundredth() {
    let (bank, players) = Bank::with_players([1_000_000; 12]).await;
    let bank = Arc::new(bank);
    let (other, _tasks) = bank.node().await;
    let tables = (0..TABLES).map(|number| {
        let (bank, players) = (Arc::clone(&bank), players.clone());
        let ledgers = [bank.ledger.clone(), other.clone()];
        tokio::spawn(async move { play_table(&bank, ledgers, number, &players).await })
    });
    let auditor = tokio::spawn({
        let bank = Arc::clone(&bank);
        async move {
            for _ in 0..5 {
                assert_eq!(bank.audit().await.differences, []);
                bank.ledger.seal_operations().await.unwrap();
            }
        }
    });
    for table in join_all(tables).await {
        table.unwrap();
    }
    auditor.await.unwrap();

    let report = bank.audit_clean().await;
    assert_eq!(report.games, i64::try_from(TABLES * GAMES).unwrap());
    let pots = "select coalesce(sum(balance), 0)::bigint from accounts where kind = 'pot'";
    let pots: i64 = read_value(&bank.pool, pots).await;
    let wallets: i64 = bank.wallets(&players).await.iter().sum();
    let held = bank.balance("fee:newbie").await + pots + wallets;
    assert_eq!(held + bank.balance("issue").await, 0);
}

/// Plays a table's games; players, winner and amounts follow from the table's and the game's
/// number.
async fn play_table(bank: &Bank, ledgers: [Ledger; 2], number: usize, players: &[PlayerId]) {
    let table = table();
    for game in 0..GAMES {
        let ledger = &ledgers[(number + game) % 2];
        // Steps of one, five and seven over twelve players: never the same one twice.
        let first = number + game;
        let seats = [first, first + 5, first + 7].map(|index| players[index % players.len()]);
        play_one(bank, ledger, table, &seats, number * 7 + game).await;
    }
}

async fn play_one(bank: &Bank, ledger: &Ledger, table: TableId, seats: &[PlayerId], mix: usize) {
    let input: OpenGame = bank.deal(table, seats);
    let opening = ledger.open_game(input.clone()).await.expect("the game is opened");
    let OpeningOutcome::Opened { stakes, pot } = opening else {
        panic!("everybody can pay");
    };
    if mix.is_multiple_of(11) {
        ledger
            .void_game(input.game, &reason("its live state was lost"))
            .await
            .expect("the game is voided");
        return;
    }
    let goes = if mix.is_multiple_of(3) { PotGoes::ToWinner } else { PotGoes::Nowhere };
    let winner = u8::try_from(mix % seats.len()).expect("below eight");
    let counts = u32::try_from(mix % 16).expect("below sixteen");
    let settled =
        ledger.settle_game(bank.finish(&input, settlement(winner, counts, &stakes, goes, pot)));
    settled.await.expect("the game is settled");
    let key = format!("{}:{}", input.game, seats[0]);
    let relief = grant_coins(seats[0], Grant::Relief, key, 50);
    ledger.grant(relief).await.expect("relief is granted");
}
