//! Opening, settling and voiding games, exact to the hundredth.

use std::time::Duration;

use bahay::clock::Clock;
use bahay::ledger::{
    Code, Document, EntryFilter, Grant, Ledger, LedgerBackfill, LedgerError, LedgerOptions,
    OpenGame, OpeningOutcome, Wallet,
};
use bahay_engine::coins::Coins;
use bahay_engine::seat::SeatSet;
use futures_util::future::join_all;
use sqlx::AssertSqlSafe;

use crate::http::operator::corrections::Office;
use crate::http::server::Server;
use crate::support::bank::{
    Bank, PotGoes, ROOM, STAKE_MAX, grant_coins, hundredths, seat, settlement, table,
};
use crate::support::db::{read_pages, read_row, read_rows, read_value};
use crate::support::reason;

/// Rule 6.10: bet 1, three counts from each loser, second crown in a row, POT of two games.
#[tokio::test]
async fn the_known_good_game_is_booked_as_the_rules_page_says() {
    let bank = Bank::new().await;
    let (table, players) = (table(), bank.players([10_000; 3]).await);
    bank.play(table, &players, 1, 1, PotGoes::Nowhere).await;
    assert_eq!(bank.wallets(&players).await, [9_800, 10_090, 9_800]);

    let game = bank.deal(table, &players);
    let (stakes, pot) = bank.open(&game).await;
    assert_eq!((hundredths(&stakes), pot.hundredths()), (vec![1_400; 3], 600));
    assert_eq!(bank.wallets(&players).await, [8_300, 8_590, 8_300]);

    let input = bank.finish(&game, settlement(1, 3, &stakes, PotGoes::ToWinner, pot));
    let settled = bank.ledger.settle_game(input).await.unwrap();
    assert_eq!(hundredths(&settled.net), [-300, 1_170, -300]);
    // Two antes of 1.00 each; game 1 moved -1.00, +1.90, -1.00.
    assert_eq!(hundredths(&settled.wallets), [9_400, 11_160, 9_400]);
    assert_eq!(settled.pot, Coins::ZERO);
    assert_eq!(bank.wallets(&players).await, [9_400, 11_160, 9_400]);
    assert_eq!(bank.balance("fee:newbie").await, 10 + 30);
    assert_eq!(bank.balance(&format!("pot:{table}")).await, 0);
    assert_eq!(bank.balance("issue").await, -30_000);

    let transfers = format!(
        "select t.number, t.code, t.amount
        from transfers t
        join operations o on o.id = t.operation
        where o.key = 'settle:{}'
        order by t.number",
        game.game
    );
    let transfers: Vec<(i16, String, i64)> = read_rows(&bank.pool, &transfers).await;
    let expected = [
        (1, "payment", 300),
        (2, "payment", 300),
        (3, "fee", 30),
        (4, "release", 1_100),
        (5, "release", 1_400),
        (6, "release", 1_100),
        (7, "pot", 600),
    ];
    assert_eq!(transfers, expected.map(|(number, code, amount)| (number, code.to_owned(), amount)));
    bank.audit_clean().await;
}

#[tokio::test]
async fn the_same_call_again_gives_the_first_answer_and_moves_nothing() {
    let bank = Bank::new().await;
    let (table, players) = (table(), bank.players([10_000; 3]).await);
    let game = bank.deal(table, &players);
    let opened = bank.ledger.open_game(game.clone()).await.unwrap();
    assert_eq!(bank.ledger.open_game(game.clone()).await.unwrap(), opened);
    let (stakes, pot) = bank.open(&game).await;
    let input = bank.finish(&game, settlement(0, 2, &stakes, PotGoes::Nowhere, pot));
    let settled = bank.ledger.settle_game(input.clone()).await.unwrap();
    let counted = bank.audit_clean().await;

    // Later coins do not change the stored answer.
    bank.grant(players[0], Grant::Daily, 500).await.unwrap();
    assert_eq!(bank.ledger.settle_game(input.clone()).await.unwrap(), settled);
    assert_eq!(bank.ledger.open_game(game.clone()).await.unwrap(), opened);
    let granted = bank.grant(players[0], Grant::Welcome, 10_000).await.unwrap();
    assert_eq!(granted.wallet.hundredths(), 10_000);
    assert_eq!(bank.audit_clean().await.transfers, counted.transfers + 1);
}

#[tokio::test]
async fn another_input_under_the_same_key_is_refused() {
    let bank = Bank::new().await;
    let (table, players) = (table(), bank.players([10_000; 3]).await);
    let game = bank.deal(table, &players);
    let (stakes, pot) = bank.open(&game).await;
    let mut other = game.clone();
    other.stake_max = Coins::from_hundredths(1_399);
    let key = format!("open:{}", game.game);
    assert_eq!(bank.ledger.open_game(other).await, Err(LedgerError::KeyReused { key }));

    let input = bank.finish(&game, settlement(0, 2, &stakes, PotGoes::Nowhere, pot));
    bank.ledger.settle_game(input.clone()).await.unwrap();
    let mut other = input.clone();
    let record = serde_json::json!({ "game": game.game, "actions": ["deal", "fold"] });
    other.record = Document::canonicalize(&record).unwrap();
    let key = format!("settle:{}", game.game);
    assert_eq!(bank.ledger.settle_game(other).await, Err(LedgerError::KeyReused { key }));

    let key = format!("welcome:{}", players[2]);
    let refused = bank.grant(players[2], Grant::Welcome, 10_001).await;
    assert_eq!(refused, Err(LedgerError::KeyReused { key }));
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_player_who_cannot_pay_ante_and_stake_does_not_start_and_no_coin_moves() {
    // No wallet; a hundredth less than ante and stake; exactly both.
    let (bank, players) = Bank::with_players([0, 1_499, 1_500]).await;
    let table = table();
    let game = bank.deal(table, &players);
    let seats: SeatSet = [0, 1].into_iter().map(seat).collect();
    let refused = bank.ledger.open_game(game.clone()).await.unwrap();
    assert_eq!(refused, OpeningOutcome::CannotPay { seats });
    assert_eq!(bank.wallets(&players).await, [0, 1_499, 1_500]);

    // The answer is idempotent after later grants; another game has another answer.
    bank.grant(players[0], Grant::Relief, 1_600).await.unwrap();
    bank.grant(players[1], Grant::Relief, 1).await.unwrap();
    assert_eq!(bank.ledger.open_game(game).await.unwrap(), refused);
    let (stakes, pot) = bank.open(&bank.deal(table, &players)).await;
    assert_eq!((hundredths(&stakes), pot.hundredths()), (vec![1_400; 3], 300));
    assert_eq!(bank.wallets(&players).await, [100, 0, 0]);
    bank.audit_clean().await;
}

/// Rules 6.7 and 6.9, where a host allows short stakes.
#[tokio::test]
async fn a_poor_player_stakes_all_there_is_and_loses_no_more() {
    let (bank, players) = Bank::with_players([350, 10_000, 1_500]).await;
    let table = table();
    let broke = [bank.player(100).await, players[1], players[2]];
    let game = OpenGame { short_stakes: true, ..bank.deal(table, &broke) };
    let refused = bank.ledger.open_game(game).await.unwrap();
    assert_eq!(refused, OpeningOutcome::CannotPay { seats: SeatSet::only(seat(0)) });
    let game = OpenGame { short_stakes: true, ..bank.deal(table, &players) };
    let (stakes, pot) = bank.open(&game).await;
    assert_eq!(hundredths(&stakes), [250, 1_400, 1_400]);
    let wallet = bank.ledger.wallet(players[0]).await.unwrap();
    let held = Coins::from_hundredths(250);
    assert_eq!(wallet, Wallet { available: Coins::ZERO, held, version: 3 });

    let input = bank.finish(&game, settlement(1, 5, &stakes, PotGoes::Nowhere, pot));
    let settled = bank.ledger.settle_game(input).await.unwrap();
    // 2.50 and 5.00 are paid; 5 % of 7.50, rounded down, is 0.37.
    assert_eq!(hundredths(&settled.net), [-250, 713, -500]);
    assert_eq!(bank.wallets(&players).await, [0, 10_613, 900]);
    let wallet = bank.ledger.wallet(players[0]).await.unwrap();
    assert_eq!((wallet.available, wallet.held), (Coins::ZERO, Coins::ZERO));
    bank.audit_clean().await;
}

/// Rules 7.1, 7.2 and 7.4.
#[tokio::test]
async fn the_pot_grows_over_games_and_players_until_somebody_takes_it() {
    let (bank, mut players) = Bank::with_players([10_000; 3]).await;
    let table = table();
    let mut pots = Vec::new();
    for winner in [0, 1, 2] {
        let (_, settled) = bank.play(table, &players, winner, 1, PotGoes::Nowhere).await;
        pots.push(settled.pot.hundredths());
    }
    // One player leaves; the coins stay for the next.
    players[2] = bank.player(10_000).await;
    let (_, settled) = bank.play(table, &players, 0, 1, PotGoes::Nowhere).await;
    pots.push(settled.pot.hundredths());
    assert_eq!(pots, [300, 600, 900, 1_200]);
    let (_, settled) = bank.play(table, &players, 0, 1, PotGoes::ToWinner).await;
    assert_eq!(hundredths(&settled.net), [190 + 1_500, -100, -100]);
    assert_eq!(settled.pot, Coins::ZERO);
    let (_, settled) = bank.play(table, &players, 1, 1, PotGoes::Nowhere).await;
    assert_eq!(settled.pot.hundredths(), 300);
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_game_without_ante_and_without_winner_moves_stakes_only() {
    let (bank, players) = Bank::with_players([1_500; 3]).await;
    let mut game = bank.deal(table(), &players);
    game.ante = Coins::ZERO;
    let (stakes, pot) = bank.open(&game).await;
    assert_eq!((hundredths(&stakes), pot), (vec![1_400; 3], Coins::ZERO));
    let settled = bank.ledger.settle_game(bank.finish(&game, Default::default())).await.unwrap();
    assert_eq!(hundredths(&settled.wallets), [1_500; 3]);
    bank.audit_clean().await;
}

#[tokio::test]
async fn voiding_gives_back_antes_and_stakes_once() {
    let bank = Bank::new().await;
    let (table, players) = (table(), bank.players([10_000, 5_000, 1_500]).await);
    bank.play(table, &players, 2, 1, PotGoes::Nowhere).await;
    let wallets = bank.wallets(&players).await;
    let game = bank.deal(table, &players);
    let (stakes, pot) = bank.open(&game).await;
    assert_eq!(pot.hundredths(), 600);
    assert_ne!(bank.wallets(&players).await, wallets);

    let voided =
        bank.ledger.void_game(game.game, &reason("its live state was lost")).await.unwrap();
    assert_eq!((voided.ante.hundredths(), &voided.stakes), (100, &stakes));
    assert_eq!(hundredths(&voided.wallets), wallets);
    assert_eq!(bank.wallets(&players).await, wallets);
    // The POT of the previous game is kept.
    assert_eq!(bank.balance(&format!("pot:{table}")).await, 300);
    assert_eq!(
        bank.ledger.void_game(game.game, &reason("once more, again")).await.unwrap(),
        voided
    );
    bank.audit_clean().await;
    bank.play(table, &players, 2, 1, PotGoes::ToWinner).await;
    bank.audit_clean().await;
}

/// Opens a game, after which the writer paces itself, and then a number of games at once.
async fn open_after_one(bank: &Bank, ledger: &Ledger, others: usize) {
    let mut games = vec![];
    for _ in 0..=others {
        let players = bank.players([10_000; 3]).await;
        games.push(bank.deal(table(), &players));
    }
    let (first, others) = games.split_first().unwrap();
    ledger.open_game(first.clone()).await.unwrap();
    for opened in join_all(others.iter().map(|game| ledger.open_game(game.clone()))).await {
        assert!(matches!(opened, Ok(OpeningOutcome::Opened { .. })), "{opened:?}");
    }
}

/// Operations that arrive while a writer paces itself are posted in one transaction; after a pause
/// an operation is posted at once.
#[tokio::test]
async fn openings_that_come_together_share_a_transaction() {
    let bank = Bank::new().await;
    let pace = Duration::from_secs(2);
    let options = LedgerOptions { batches_at_once: 1, pace, ..LedgerOptions::default() };
    let (ledger, _tasks) = Ledger::start(bank.pool.clone(), options);
    open_after_one(&bank, &ledger, 8).await;
    let transactions =
        "select count(distinct xmin::text::bigint) from operations where kind = 'open'";
    assert_eq!(read_value::<i64>(&bank.pool, transactions).await, 2);
    bank.audit_clean().await;
}

/// Enough queued operations end the pace at once, however long it is.
#[tokio::test]
async fn a_batch_of_enough_does_not_wait_for_its_pace() {
    let bank = Bank::new().await;
    let pace = Duration::from_secs(86_400);
    let options = LedgerOptions { batches_at_once: 1, pace, ..LedgerOptions::default() };
    let (ledger, _tasks) = Ledger::start(bank.pool.clone(), options);
    open_after_one(&bank, &ledger, 32).await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn entries_are_listed_newest_first_page_by_page() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let (game, _) = bank.play(table(), &players, 0, 3, PotGoes::ToWinner).await;
    let filter = EntryFilter::default();
    let read = async |cursor| bank.ledger.entries(players[0], &filter, cursor, 3).await.unwrap();
    let entries = read_pages(read).await;
    let listed: Vec<_> = entries
        .iter()
        .map(|entry| (entry.version, entry.code, entry.amount.hundredths(), entry.game))
        .collect();
    let expected = [
        (8, Code::Pot, 300, Some(game)),
        (7, Code::Release, 1_400, Some(game)),
        (6, Code::Fee, -30, Some(game)),
        (5, Code::Payment, 300, Some(game)),
        (4, Code::Payment, 300, Some(game)),
        (3, Code::Hold, -1_400, Some(game)),
        (2, Code::Ante, -100, Some(game)),
        (1, Code::Welcome, 10_000, None),
    ];
    assert_eq!(listed, expected);
    assert_eq!(entries[0].balance_after.hundredths(), 10_770);
    for (newer, older) in entries.iter().zip(&entries[1..]) {
        assert_eq!(newer.balance_before, older.balance_after);
        assert!(newer.booked_at_ms >= older.booked_at_ms);
    }
    let nobody = bank.player(0).await;
    let none = bank.ledger.entries(nobody, &filter, None, 3).await.unwrap();
    assert!(none.items.is_empty());
    assert_eq!(bank.ledger.wallet(nobody).await.unwrap(), Wallet::default());
}

#[tokio::test]
async fn a_grant_is_part_of_the_callers_transaction() {
    let bank = Bank::new().await;
    let player = bank.player(0).await;
    let input = grant_coins(player, Grant::Welcome, player, 10_000);

    let mut tx = bank.pool.begin().await.unwrap();
    bank.ledger.grant_in_tx(&mut tx, input.clone()).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(bank.wallets(&[player]).await, [0]);

    let mut tx = bank.pool.begin().await.unwrap();
    let granted = bank.ledger.grant_in_tx(&mut tx, input.clone()).await.unwrap();
    assert_eq!(bank.ledger.grant_in_tx(&mut tx, input.clone()).await.unwrap(), granted);
    tx.commit().await.unwrap();
    assert_eq!(bank.ledger.grant(input).await.unwrap(), granted);
    assert_eq!(bank.wallets(&[player]).await, [10_000]);
    bank.audit_clean().await;
}

/// Balances of house accounts follow later by design; the audit and the sum of all accounts account
/// for that.
#[tokio::test]
async fn house_accounts_change_once_when_operations_are_sealed() {
    let bank = Bank::new().await;
    let (table, players) = (table(), bank.players([10_000; 3]).await);
    for winner in [0, 1, 2] {
        bank.play(table, &players, winner, 2, PotGoes::Nowhere).await;
    }
    bank.ledger.seal_operations().await.unwrap();
    assert_eq!(bank.ledger.seal_operations().await.unwrap(), 0);
    let fees = "select balance, version from accounts where code = 'fee:newbie'";
    assert_eq!(read_row::<(i64, i64)>(&bank.pool, fees).await, (60, 3));
    let issued = "select balance, version from accounts where code = 'issue'";
    assert_eq!(read_row::<(i64, i64)>(&bank.pool, issued).await, (-30_000, 3));
    // Their entries have neither version nor balances.
    let entries = "
        select e.amount, num_nonnulls(e.version, e.balance_before, e.balance_after)
        from accounts a
        join account_operations m on m.account = a.id
        join entries e on e.operation = m.operation and e.account = m.account
        where a.code = 'fee:newbie'";
    let entries: Vec<(i64, i32)> = read_rows(&bank.pool, entries).await;
    assert_eq!(entries, [(20, 0); 3]);
    assert_eq!(bank.audit_clean().await.unsealed_operations, 0);
}

/// A table of a history plays on in the next batch, and its POT grows there.
#[tokio::test]
async fn a_table_plays_on_in_the_next_batch_of_a_backfill() {
    let bank = Bank::new().await;
    let owner = bank.database.owner_pool().await;
    let (table, players) = (table(), bank.players([0; 3]).await);
    let mut history = LedgerBackfill::begin(&owner, &[ROOM.into()]).await.unwrap();
    for player in players.clone() {
        let grant = grant_coins(player, Grant::Welcome, player, 10_000);
        history.append_grant(grant, bank.now_ms()).unwrap();
    }
    for _ in 0..3 {
        let game = bank.deal(table, &players);
        let settlement = settlement(0, 1, &[STAKE_MAX; 3], PotGoes::Nowhere, Coins::ZERO);
        let input = bank.finish(&game, settlement);
        history.append_game(game, input).unwrap();
        history.take_batch().write(&owner).await.unwrap();
    }
    assert_eq!(bank.wallets(&players).await, [10_000 + 3 * 90, 9_400, 9_400]);
    assert_eq!(bank.balance(&format!("pot:{table}")).await, 900);
    bank.audit_clean().await;
}

/// Every query on the page for accountants runs on the present schema and returns rows.
#[tokio::test]
async fn the_queries_in_the_docs_answer() {
    let server = Server::new().await;
    // The queries select this month.
    server.clock.step_to(Clock::system().now());
    let office = Office::open(server).await;
    let bank = &office.server.bank;
    let players = bank.players([10_000; 3]).await;
    let (game, _) = bank.play(table(), &players, 0, 3, PotGoes::Nowhere).await;
    let key = format!("{}:2026-03-01", players[0]);
    bank.ledger.grant(grant_coins(players[0], Grant::Daily, key, 10_000)).await.unwrap();
    office.adjust(players[0], 500).await;
    bank.ledger.seal_operations().await.unwrap();
    let page = include_str!("../../docs/LEDGER.md");
    let queries = page.split("```sql\n").skip(1);
    let queries: Vec<_> = queries.filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(queries.len(), 10);
    for query in queries {
        let query = query.replace(":'game'", &format!("'{game}'"));
        let query = query.replace(":'player'", &format!("'{}'", players[0]));
        let query = query.replace(":'month'", "date_trunc('month', now())");
        let rows = sqlx::query(AssertSqlSafe(query.clone())).fetch_all(&bank.pool).await;
        assert!(!rows.unwrap().is_empty(), "{query}");
    }
}
