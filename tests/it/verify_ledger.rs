//! The books against the games: a house with real games is consistent, and every later change is
//! detected.

use std::process::Command;
use std::time::Duration;

use bahay::db::{self, PoolOptions};
use bahay::metrics::Metrics;
use bahay::records::Records;
use bahay::verify::hourly::Checks;
use bahay::verify::ledger::{self, Extent, Mismatch, Report};
use bahay_lab::demo;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::support::bank::{Bank, table};
use crate::support::checks::check_ledger;
use crate::support::db::{TestDatabase, execute, read_values};
use crate::support::house::{House, PATIENCE};
use crate::support::process::run_with_input;
use crate::support::programs::program;
use crate::support::services::{Service, Services};

/// Returns the books of some games that were played over the socket, without remaining connections.
async fn played() -> House {
    let mut house = House::new().await;
    timeout(PATIENCE, demo::run(&house.base, "newbie")).await.unwrap().unwrap();
    house.stop().await;
    house.pool.close().await;
    house
}

async fn check(database: &TestDatabase, extent: Extent) -> Report {
    ledger::check(&database.pool().await, &Records::without_archive(), extent).await.unwrap()
}

/// Checklist M7: the backup procedure of docs/OPERATIONS.md, on another server.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_backup_has_the_same_chain() {
    let house = played().await;
    let before = check(&house.database, Extent::Everything).await;
    assert!(before.is_clean() && before.books.head.is_some(), "{before}");
    let other = Services::start(&[Service::Postgres]).await;
    // The query part of the URL is for this program's connections only.
    let plain = |url: &str| url.split('?').next().unwrap_or(url).to_owned();
    let (from, to) = (plain(&house.database.url()), plain(other.database_url()));
    let restored = spawn_blocking(move || {
        let programs = program("PG_BIN");
        let dump = run(&format!("{programs}/pg_dump"), &["--format", "custom", &from], &[]);
        let roles = "create role bahay_service nologin; grant bahay_service to current_user";
        run(&format!("{programs}/psql"), &["--quiet", "--command", roles, &to], &[]);
        let restore = ["--no-owner", "--exit-on-error", "--dbname", &to];
        run(&format!("{programs}/pg_restore"), &restore, &dump);
    });
    restored.await.unwrap();
    let options = other.database_url().parse().unwrap();
    let pool = db::connect(options, PoolOptions::default()).await.unwrap();
    let after = check_ledger(&pool).await;
    assert_eq!(after.books.head, before.books.head);
    assert_eq!(after.to_string(), before.to_string());
}

/// Runs a program with this input and returns its output.
fn run(program: &str, arguments: &[&str], read: &[u8]) -> Vec<u8> {
    let output = run_with_input(Command::new(program).args(arguments), read);
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    output.stdout
}

/// Returns true for the planted mismatch.
type MatchesPlanted = fn(&Mismatch) -> bool;

/// Most planted changes leave the books consistent: only the game's record reveals them.
#[tokio::test(flavor = "multi_thread")]
async fn a_difference_between_games_and_books_is_detected() {
    let house = played().await;
    let clean = TestDatabase::copy_of(&house.database).await;
    let report = check(&clean, Extent::Everything).await;
    assert!(report.is_clean(), "{report}");
    assert!(report.games.settled > 1 && report.games.actions > 10, "{report}");
    assert_eq!(report.games.opened, report.games.settled + report.games.voided);

    let settled = "(select min(game::text)::uuid from game_records)";
    let settle: MatchesPlanted = |it| matches!(it, Mismatch::TransfersDiffer { key: "settle", .. });
    let open: MatchesPlanted = |it| matches!(it, Mismatch::TransfersDiffer { key: "open", .. });
    let record: MatchesPlanted = |it| matches!(it, Mismatch::Record { .. });
    let settlement: MatchesPlanted =
        |it| matches!(it, Mismatch::RecordDiffers { what: "settlement" });
    let hash: MatchesPlanted = |it| matches!(it, Mismatch::HashDiffers);
    let answer: MatchesPlanted = |it| matches!(it, Mismatch::AnswerDiffers { key: "settle" });
    let kind: MatchesPlanted = |it| matches!(it, Mismatch::RecordDiffers { what: "kind" });
    let room: MatchesPlanted = |it| matches!(it, Mismatch::RecordDiffers { what: "room" });
    let commitment: MatchesPlanted =
        |it| matches!(it, Mismatch::RecordDiffers { what: "commitment" });
    let no_record: MatchesPlanted = |it| matches!(it, Mismatch::NoRecord);
    let not_booked: MatchesPlanted = |it| matches!(it, Mismatch::NotBooked { key: "settle", .. });
    let cases = [
        // A fee that the winner kept.
        (
            "update operations o
            set codes = o.codes[:f.number - 1] || o.codes[f.number + 1:],
                sources = o.sources[:f.number - 1] || o.sources[f.number + 1:],
                destinations = o.destinations[:f.number - 1] || o.destinations[f.number + 1:],
                amounts = o.amounts[:f.number - 1] || o.amounts[f.number + 1:]
            from (select operation, number from transfers where code = 'fee' limit 1) f
            where o.id = f.operation",
            settle,
        ),
        (
            "update operations set codes = array_replace(codes, 'ante', 'hold')
            where kind = 'open'",
            open,
        ),
        (
            "update game_records
            set record = jsonb_set(record::jsonb, '{outcome,winner}', 'null')::text
            where game = SETTLED",
            record,
        ),
        (
            "update game_records set settlement = jsonb_set(settlement, '{winner}', 'null')
            where game = SETTLED",
            settlement,
        ),
        ("update games set finished_at = finished_at + interval '1 s' where id = SETTLED", hash),
        ("update game_players set net = net + 1 where game = SETTLED", answer),
        ("update games set kind = 'another_game' where id = SETTLED", kind),
        ("update games set room = 'fiesta' where id = SETTLED", room),
        ("update games set commitment = sha256('') where id = SETTLED", commitment),
        ("delete from game_records where game = SETTLED", no_record),
        ("delete from operations where key = 'settle:' || SETTLED", not_booked),
    ];
    for (tamper, found) in cases {
        let tamper = tamper.replace("SETTLED", settled);
        let copy = TestDatabase::copy_of(&house.database).await;
        let owner = copy.owner_pool().await;
        let changed = execute(&owner, &tamper).await;
        assert!(changed > 0, "{tamper}");
        let report = check(&copy, Extent::Everything).await;
        assert!(report.differences.iter().any(|it| found(&it.what)), "{tamper}: {report}");
    }
}

#[tokio::test]
async fn an_open_and_a_voided_game_are_in_order() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let poor = bank.players([10_000, 10_000, 50]).await;
    bank.open(&bank.deal(table(), &players)).await;
    let voided = bank.deal(table(), &bank.players([10_000; 3]).await);
    bank.open(&voided).await;
    bank.void_game(&voided).await;
    bank.ledger.open_game(bank.deal(table(), &poor)).await.unwrap();
    let report = check_ledger(&bank.pool).await;
    let games = report.games;
    assert_eq!((games.opened, games.refused, games.voided), (2, 1, 1));
    let later =
        ledger::check(&bank.pool, &Records::without_archive(), Extent::After(games.last_operation))
            .await
            .unwrap();
    assert_eq!((later.games.opened, later.games.voided), (0, 0));
}

/// Returns a metric's value from the exposition.
fn figure(metrics: &Metrics, name: &str) -> i64 {
    let text = metrics.text().unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
    line.and_then(|line| line.rsplit(' ').next()).unwrap().parse().unwrap()
}

#[tokio::test]
async fn two_nodes_check_once_in_each_slot_and_both_know_the_result() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    bank.open(&bank.deal(table(), &players)).await;
    let slot = Duration::from_secs(24 * 3_600);
    let nodes = [(); 2].map(|()| {
        let metrics = Metrics::default();
        (Checks::new(bank.pool.clone(), slot, &metrics), metrics)
    });
    for (checks, _) in &nodes {
        checks.run_due_check().await.unwrap();
    }
    for (checks, metrics) in &nodes {
        assert_eq!(checks.last().map(|last| last.differences), Some(0));
        assert_eq!(figure(metrics, "bahay_ledger_check_differences"), 0);
        assert!(figure(metrics, "bahay_ledger_check_finished_timestamp_seconds") > 0);
    }
    let extents = "select extent from ledger_checks order by slot";
    let run: Vec<String> = read_values(&bank.pool, extents).await;
    assert_eq!(run, ["everything"]);

    // The scheduled checks run continuously: later ones read only new games, and find the change.
    let owner = bank.database.owner_pool().await;
    let tamper = "update accounts set balance = balance + 1 where kind = 'pot'";
    execute(&owner, tamper).await;
    let metrics = Metrics::default();
    let checks = Checks::new(bank.pool.clone(), Duration::from_millis(1), &metrics);
    checks.run_due_check().await.unwrap();
    assert!(figure(&metrics, "bahay_ledger_check_differences") > 0);
    let run: Vec<String> = read_values(&bank.pool, extents).await;
    assert_eq!(run, ["everything", "recent"]);
}
