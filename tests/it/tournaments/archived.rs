//! Games of tournaments after the archiving of their records: they are read and verified as before,
//! and a damaged or unreachable record is reported.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use bahay::clock::Clock;
use bahay::db;
use bahay::ledger::LedgerError;
use bahay::ledger::audit::Difference;
use bahay::records::{ArchiveSchedule, ArchiveStore, Archiver, Records};
use bahay::verify::ledger::{self, Extent, Mismatch, Report};
use bahay_client_tokio::Client;
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{Clocks, Readable as _};
use bahay_engine::tournament::{EntrantLimits, Format, TournamentTerms};
use futures_util::FutureExt as _;
use serde_json::Value;
use tempfile::TempDir;

use super::{announce, coins, ended, register, sit_and_go};
use crate::support::checks::check_ledger_with;
use crate::support::db::{TestDatabase, execute, read_value};
use crate::support::house::{FRIENDS, House, Setup};
use crate::support::rest::{get, items};
use crate::support::waiting::wait_until;

/// The documents of a game that are read from its record.
const DOCUMENTS: [&str; 4] = ["record", "steps?hands=all", "analysis", "fairness"];

/// Returns clocks with which the AI plays for players who never come.
fn hasty_clocks() -> Clocks {
    Clocks { prepare_ms: 500, think_ms: 20, grace_ms: 1, ..Clocks::default() }
}

/// Returns a duplicate of six players: two rounds of one game.
fn two_rounds() -> TournamentTerms {
    let mut terms = sit_and_go();
    terms.game.clocks = hasty_clocks();
    terms.format = Format::Duplicate { rounds: 2, games: 1 };
    terms.entrants = EntrantLimits { least: 6, most: 6 };
    terms.guarantee = coins(0);
    terms.starts_at = Some(Clock::system().now().after_ms(4_000));
    terms
}

/// Waits until a tournament is over and paid.
async fn closed(house: &House, client: &Client, tournament: &str) {
    ended(client, tournament).await;
    let closed = "select count(*) from tournaments t where t.closed_at is not null";
    let is_closed = async || read_value::<i64>(&house.pool, closed).await == 1;
    wait_until("the tournament is closed", is_closed).await;
}

/// Ages the tournaments of a house by three days, and removes texts as soon as they are archived.
async fn age_tournaments(database: &TestDatabase) {
    let owner = database.owner_pool().await;
    db::write_owner_settings(&owner, Some(0)).await.unwrap();
    let aged = "update tournaments set closed_at = closed_at - interval '3 days'";
    assert_eq!(execute(&owner, aged).await, 1);
}

fn records_in(folder: &TempDir) -> Records {
    let address = format!("file://{}", folder.path().display());
    Records::new(Some(ArchiveStore::open(&address, []).unwrap()))
}

/// Returns the archive's only object.
fn object_in(folder: &TempDir) -> PathBuf {
    let mut objects = fs::read_dir(folder.path().join("records")).unwrap();
    objects.next().unwrap().unwrap().path()
}

/// Reads the documents of each game, as a player of it, and those of the rounds.
async fn read_documents(clients: &[Client], tournament: &str) -> BTreeMap<String, Value> {
    let mut documents = BTreeMap::new();
    let games = get(&clients[0], &format!("{tournament}/games")).await.expect(200);
    for game in items(&games) {
        let player = game["scores"][0]["player"].as_str().unwrap();
        let client = clients.iter().find(|client| client.player().to_string() == player).unwrap();
        for document in DOCUMENTS {
            let path = format!("/v1/games/{}/{document}", game["id"].as_str().unwrap());
            let read = get(client, &path).await.expect(200);
            if document == "record" {
                AnyGame::read_record(&read.to_string()).unwrap().verify().unwrap();
            }
            documents.insert(path, read);
        }
    }
    for round in ["1", "2"] {
        for document in ["deals", "comparison"] {
            let path = format!("{tournament}/rounds/{round}/{document}");
            let read = get(&clients[0], &path).await.expect(200);
            documents.insert(path, read);
        }
    }
    documents
}

#[tokio::test(flavor = "multi_thread")]
async fn the_records_of_a_tournament_are_archived_and_read_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let records = records_in(&folder);
    let setup = Setup { records: records.clone(), ..Setup::default() };
    let house = House::with_setup(setup).await;
    let names = ["Althea", "Benjie", "Carmela", "Delfin", "Esther", "Fidel"];
    let clients = house.guests(names).await;
    let tournament = announce(&house.pool, two_rounds(), None).await;
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    closed(&house, &clients[0], &tournament).await;
    let before = read_documents(&clients, &tournament).await;
    assert_eq!(before.len(), 4 * DOCUMENTS.len() + 4, "two games in each of two rounds");

    let schedule = ArchiveSchedule::new(Duration::from_hours(48));
    let archiver = Archiver::new(house.pool.clone(), Clock::system(), records.clone(), schedule);
    assert_eq!(archiver.count_due().await.unwrap().0, 0);
    age_tournaments(&house.database).await;
    let due = archiver.count_due().await.unwrap();
    let archived = archiver.archive_all(u64::MAX, false).await.unwrap();
    assert_eq!((due.0, archived.records, archived.bytes), (4, 4, due.1));
    let texts = "select count(*) from game_records r where r.record is not null";
    assert_eq!(read_value::<i64>(&house.pool, texts).await, 0);
    assert!(read_documents(&clients, &tournament).await == before, "a document differs");
    let report = check_ledger_with(&house.pool, &records).await;
    assert_eq!((report.tournaments.games, report.games.settled), (4, 0));
    assert!(report.tournaments.actions > 4, "{report}");

    // A damaged record is not shown, and the comparison of the round remains.
    let object = object_in(&folder);
    let written = fs::read(&object).unwrap();
    let mut damaged = written.clone();
    damaged[200] ^= 0x10;
    fs::write(&object, damaged).unwrap();
    let report = ledger::check(&house.pool, &records, Extent::Everything).await.unwrap();
    let [difference] = report.differences.as_slice() else { panic!("{report}") };
    assert!(matches!(difference.what, Mismatch::Record { .. }), "{report}");
    let inspection = archiver.inspect_archive(false).await.unwrap();
    assert_eq!((inspection.records, inspection.faults.len()), (4, 1));

    fs::remove_file(&object).unwrap();
    for path in before.keys().filter(|path| path.starts_with("/v1/games/")) {
        // A stranger learns nothing, and fairness is public.
        let answers = clients.iter().map(|client| get(client, path));
        let answers = futures_util::future::join_all(answers).await;
        let refusals: Vec<_> = answers.iter().map(|answer| answer.refusal()).collect();
        assert!(refusals.contains(&(503, "archive_unreachable")), "{path}: {refusals:?}");
    }
    let away = ledger::check(&house.pool, &records, Extent::Everything).await;
    assert!(matches!(away, Err(LedgerError::Unavailable { .. })), "{away:?}");
    for (path, document) in before.iter().filter(|(path, _)| path.starts_with(&tournament)) {
        assert_eq!(get(&clients[0], path).await.expect(200), *document);
    }
    fs::write(&object, written).unwrap();
    assert!(read_documents(&clients, &tournament).await == before, "a document differs");
}

/// Returns true for the planted mismatch.
type MatchesPlanted = fn(&Report) -> bool;

fn has_other(report: &Report, part: &str) -> bool {
    report.differences.iter().any(
        |difference| matches!(difference.what, Mismatch::RecordDiffers { what } if what == part),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_game_of_a_tournament_is_detected() {
    let mut house = House::new().await;
    let clients = house.guests(FRIENDS).await;
    let mut terms = sit_and_go();
    terms.game.clocks = hasty_clocks();
    let tournament = announce(&house.pool, terms, None).await;
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    closed(&house, &clients[0], &tournament).await;
    house.stop().await;
    house.pool.close().await;
    let clean = TestDatabase::copy_of(&house.database).await;
    let nowhere = Records::without_archive();
    let report = check_ledger_with(&clean.pool().await, &nowhere).await;
    assert_eq!(report.tournaments.games, 2);

    let record: MatchesPlanted =
        |report| report.differences.iter().any(|it| matches!(it.what, Mismatch::Record { .. }));
    let dangling: MatchesPlanted = |report| {
        let is_planted = |it: &Difference| matches!(it, Difference::DanglingGameReference { .. });
        report.books.differences.iter().any(is_planted)
    };
    let cases: [(&str, MatchesPlanted); 8] = [
        (
            "update game_records
            set record = jsonb_set(record::jsonb, '{outcome,winner}', 'null')::text",
            record,
        ),
        (
            "update game_records set settlement = jsonb_set(settlement, '{payments}', '[]')",
            |report| has_other(report, "settlement"),
        ),
        (
            "update tournament_games
            set scores = jsonb_set(scores, '{0,points}', to_jsonb((scores -> 0 ->> 'points')::bigint + 1))",
            |report| has_other(report, "set of points"),
        ),
        (
            "update tournament_games set scores = jsonb_set(scores, '{0,player}', scores #> '{1,player}')",
            |report| has_other(report, "set of players"),
        ),
        ("update tournament_games set round = 2", |report| has_other(report, "round")),
        (
            "update tournament_games set table_id = gen_random_uuid()",
            |report| has_other(report, "table"),
        ),
        (
            "update tournament_games set finished_at = finished_at + interval '1 ms'",
            |report| has_other(report, "end"),
        ),
        ("delete from tournament_games where number = 1", dangling),
    ];
    for (tamper, is_found) in cases {
        let copy = TestDatabase::copy_of(&house.database).await;
        let owner = copy.owner_pool().await;
        assert!(execute(&owner, tamper).await > 0, "{tamper}");
        let pool = copy.pool().await;
        let report = ledger::check(&pool, &nowhere, Extent::Everything).await.unwrap();
        assert!(is_found(&report), "{tamper}: {report}");
    }
    // Not even the owner removes the record of a stored game.
    let owner = clean.owner_pool().await;
    let removal = sqlx::query("delete from game_records").execute(&owner).await;
    assert!(removal.is_err());
    // A recent check reads the games of tournaments that were open at the last checked operation.
    let pool = clean.pool().await;
    let check = |extent| ledger::check(&pool, &nowhere, extent).map(Result::unwrap);
    let first: i64 = read_value(&pool, "select min(o.id) from operations o").await;
    let last: i64 = read_value(&pool, "select max(o.id) from operations o").await;
    let aged = "update operations set created_at = created_at + interval '1 hour'";
    assert_eq!(check(Extent::After(first)).await.tournaments.games, 2);
    execute(&owner, aged).await;
    assert_eq!(check(Extent::After(last)).await.tournaments.games, 0);
}
