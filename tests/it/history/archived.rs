//! Records in the archive: they are read as before, a crash at any step neither loses nor
//! duplicates any, and defects of the archive are reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use bahay::archive;
use bahay::clock::Clock;
use bahay::ids::GameId;
use bahay::ledger::LedgerError;
use bahay::records::{
    ArchiveSchedule, ArchiveStore, Archiver, ArchivingError, RecordError, Records, Step,
};
use bahay::reports::RecordVerdict;
use bahay::standings::{self, Calendar, Standings};
use bahay::verify::ledger::{self, Extent, Mismatch};
use serde_json::Value;
use sqlx::PgPool;
use tempfile::TempDir;
use uuid::Uuid;

use super::generated::history;
use crate::support::checks::{check_ledger_with, count_reports};
use crate::support::db::{TestDatabase, execute, read_row, read_value, read_values};
use crate::support::house::PATIENCE;
use crate::support::live::TestLive;
use crate::support::process::bahay;
use crate::support::waiting::wait_until;

/// More games than a dictionary is trained on, and not a whole number of batches.
const GAMES: u64 = 700;
const BATCH: u32 = 320;

/// A projected history, and a folder for its archive.
struct ArchivedHistory {
    database: TestDatabase,
    pool: PgPool,
    games: u64,
    folder: TempDir,
}

impl ArchivedHistory {
    /// Creates a history whose texts are removed as soon as their object is recorded.
    async fn new(games: u64) -> Self {
        let old = Self::keeping_all(games).await;
        old.set_grace("interval '0'").await;
        old
    }

    /// Creates a history with a new house's default: texts are never removed.
    async fn keeping_all(games: u64) -> Self {
        let (database, pool, written) = history(games, 18).await;
        count_reports(&pool).await.close().await;
        Self { database, pool, games: written.games, folder: tempfile::tempdir().unwrap() }
    }

    async fn set_grace(&self, grace: &str) {
        let owner = self.database.owner_pool().await;
        let set = format!("update owner_settings set archive_grace = {grace}");
        execute(&owner, &set).await;
    }

    fn address(&self) -> String {
        format!("file://{}", self.folder.path().display())
    }

    fn records(&self) -> Records {
        Records::new(Some(ArchiveStore::open(&self.address(), []).unwrap()))
    }

    fn mover(&self, batch: u32) -> Archiver {
        let pace = ArchiveSchedule { batch, ..ArchiveSchedule::new(Duration::from_hours(48)) };
        Archiver::new(self.pool.clone(), Clock::system(), self.records(), pace)
    }

    /// Reads every game.
    async fn read(&self, records: &Records) -> BTreeMap<Uuid, (Value, Value)> {
        let games: Vec<Uuid> = read_values(&self.pool, "select game from game_records").await;
        let mut read = BTreeMap::new();
        for game in games {
            let found =
                archive::read_game(&self.pool, records, GameId(game)).await.unwrap().unwrap();
            let detail =
                archive::read_detail(&self.pool, records, GameId(game)).await.unwrap().unwrap();
            assert_eq!((&found.record, &found.settlement), (&detail.record, &detail.settlement));
            read.insert(game, (found.record.unwrap(), found.settlement.unwrap()));
        }
        read
    }

    /// Returns the numbers of records with their text in the database, and in the archive alone.
    async fn places(&self) -> (i64, i64) {
        let counts = "
            select (select count(*) from game_records where record is not null),
                (select count(*) from game_records where record is null)";
        read_row(&self.pool, counts).await
    }

    /// Waits until PostgreSQL has noticed the end of the mover's connection.
    async fn unlocked(&self) {
        let locks = "
            select count(*) from pg_locks
            where locktype = 'advisory'
                and database = (select oid from pg_database where datname = current_database())";
        let is_free = async || read_value::<i64>(&self.pool, locks).await == 0;
        wait_until("the lock is released", is_free).await;
    }

    fn objects(&self) -> Vec<PathBuf> {
        files(&self.folder.path().join("records"))
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    // The folder does not exist before the first object.
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "zst")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn archived_records_are_read_as_before() {
    let old = ArchivedHistory::new(GAMES).await;
    let before = old.read(&Records::without_archive()).await;
    let waiting = old.mover(BATCH).count_due().await.unwrap();
    assert_eq!(waiting.0, old.games);
    let moved = old.mover(BATCH).archive_all(u64::MAX, false).await.unwrap();
    assert_eq!((moved.records, moved.bytes), waiting);
    assert_eq!(moved.objects, old.games.div_ceil(u64::from(BATCH)));
    assert_eq!(old.places().await, (0, i64::try_from(old.games).unwrap()));
    assert_eq!(old.mover(BATCH).archive_all(u64::MAX, false).await.unwrap().records, 0);

    let records = old.records();
    assert!(old.read(&records).await == before, "a record is another one");
    assert_eq!(check_ledger_with(&old.pool, &records).await.games.settled, old.games);
    let standings = standings::check(&old.pool, &records, &Calendar::default()).await.unwrap();
    assert_eq!((standings.games, standings.differences), (old.games, Vec::new()));
    // Another calendar recounts everything.
    let (live, _publications) = TestLive::new().connect().await;
    let calendar = Calendar { zone: "UTC".parse().unwrap(), ..Calendar::default() };
    let anew =
        Standings::new(old.pool.clone(), live, calendar.clone()).with_records(records.clone());
    anew.catch_up().await.unwrap();
    let standings = standings::check(&old.pool, &records, &calendar).await.unwrap();
    assert_eq!((standings.games, standings.differences), (old.games, Vec::new()));
    // The desk shows the verified record of a game.
    let game = GameId(*before.keys().next().unwrap());
    let reports = bahay::reports::Reports::with_own_pool(&old.pool).with_records(records);
    let dossier = reports.game(game).await.unwrap().unwrap();
    assert!(matches!(dossier.verdict, RecordVerdict::Holds { is_booked: true, .. }), "{dossier:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_any_step_loses_and_doubles_nothing() {
    let old = ArchivedHistory::new(GAMES).await;
    let before = old.read(&Records::without_archive()).await;
    for step in Step::ALL {
        let stopped = old.mover(BATCH).with_stop_after(step).archive_all(u64::MAX, false).await;
        assert!(matches!(stopped, Err(ArchivingError::Stopped(at)) if at == step), "{stopped:?}");
        old.unlocked().await;
        let (here, there) = old.places().await;
        assert_eq!(here + there, i64::try_from(old.games).unwrap(), "{step:?}");
        assert!(old.read(&old.records()).await == before, "after {step:?}");
    }
    // After two batches less than a whole one is left, which other sizes divide differently.
    let stopped = old.mover(7).with_stop_after(Step::Written).archive_all(7, false).await;
    assert!(matches!(stopped, Err(ArchivingError::Stopped(Step::Written))), "{stopped:?}");
    old.unlocked().await;
    old.mover(BATCH).archive_all(u64::MAX, false).await.unwrap();
    assert_eq!(old.places().await, (0, i64::try_from(old.games).unwrap()));
    assert!(old.read(&old.records()).await == before);

    let tidied = old.mover(BATCH).inspect_archive(true).await.unwrap();
    assert_eq!((tidied.left_over.len(), tidied.records), (1, old.games), "{tidied:?}");
    assert_eq!(tidied.faults, Vec::<String>::new());
    let tidied = old.mover(BATCH).inspect_archive(false).await.unwrap();
    assert_eq!((tidied.left_over.len(), tidied.faults.len()), (0, 0), "{tidied:?}");
    assert!(old.read(&old.records()).await == before);
}

/// The writing process is killed after each further object.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_archives_loses_nothing() {
    let old = ArchivedHistory::new(GAMES).await;
    let before = old.read(&Records::without_archive()).await;
    let archive = || {
        let mut command = bahay();
        command
            .args(["archive", "--batch", "50"])
            .env("DATABASE_URL", old.database.url())
            .env("BAHAY_ARCHIVE", old.address())
            .stdout(Stdio::null());
        command
    };
    for _ in 0..5 {
        let written = old.objects().len();
        let mut process = archive().spawn().unwrap();
        let started = Instant::now();
        while old.objects().len() == written && process.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < PATIENCE, "nothing is archived");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        process.kill().unwrap();
        process.wait().unwrap();
        let (here, there) = old.places().await;
        assert_eq!(here + there, i64::try_from(old.games).unwrap());
        assert!(old.read(&old.records()).await == before);
        old.unlocked().await;
    }
    assert!(archive().status().unwrap().success());
    assert_eq!(old.places().await, (0, i64::try_from(old.games).unwrap()));
    assert!(old.read(&old.records()).await == before);
    let tidied = old.mover(50).inspect_archive(true).await.unwrap();
    assert_eq!((tidied.records, tidied.faults), (old.games, Vec::new()));
    assert!(old.read(&old.records()).await == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_is_away_or_was_changed_is_told() {
    let old = ArchivedHistory::new(40).await;
    old.mover(20).archive_all(u64::MAX, false).await.unwrap();
    let game: Uuid =
        read_value(&old.pool, "select game from game_records order by archived_in, archived_at")
            .await;
    let read = |records: Records| {
        let pool = old.pool.clone();
        async move { archive::read_game(&pool, &records, GameId(game)).await }
    };
    let check = |records: Records| {
        let pool = old.pool.clone();
        async move { ledger::check(&pool, &records, Extent::Everything).await }
    };
    // A node without a configured archive.
    let unknown = Records::without_archive();
    let refused = read(unknown.clone()).await;
    assert!(matches!(refused, Err(RecordError::Unreachable { .. })), "{refused:?}");
    let unchecked = check(unknown).await;
    assert!(matches!(unchecked, Err(LedgerError::Unavailable { .. })), "{unchecked:?}");

    let name: String =
        read_value(&old.pool, "select name from archive_objects order by number limit 1").await;
    let object = old.folder.path().join(name);
    let written = fs::read(&object).unwrap();
    let mut changed = written.clone();
    // In the middle of the first record.
    changed[200] ^= 0x10;
    fs::write(&object, changed).unwrap();
    let damaged = read(old.records()).await;
    assert!(matches!(damaged, Err(RecordError::Damaged { .. })), "{damaged:?}");
    let report = check(old.records()).await.unwrap();
    let told: BTreeSet<_> = report
        .differences
        .iter()
        .filter(|difference| matches!(difference.what, Mismatch::Record { .. }))
        .map(|difference| difference.game)
        .collect();
    assert_eq!(told, BTreeSet::from([GameId(game)]), "{report}");
    assert_eq!(old.mover(20).inspect_archive(true).await.unwrap().faults.len(), 1);

    fs::remove_file(&object).unwrap();
    let gone = read(old.records()).await;
    assert!(matches!(gone, Err(RecordError::Unreachable { .. })), "{gone:?}");
    assert_eq!(old.mover(20).inspect_archive(false).await.unwrap().faults.len(), 1);
    fs::write(&object, written).unwrap();
    assert!(read(old.records()).await.unwrap().unwrap().record.is_some());
    assert!(check(old.records()).await.unwrap().is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_archive_at_once_do_not_do_it_twice() {
    let old = ArchivedHistory::new(60).await;
    let (first, second) = (old.mover(5), old.mover(5));
    let (one, other) =
        tokio::join!(first.archive_all(u64::MAX, false), second.archive_all(u64::MAX, false));
    let moved: Vec<u64> = [one, other]
        .into_iter()
        .filter_map(|moved| match moved {
            Ok(moved) => Some(moved.records),
            Err(ArchivingError::Busy) => None,
            Err(error) => panic!("{error}"),
        })
        .collect();
    assert_eq!(moved.iter().sum::<u64>(), old.games, "{moved:?}");
    assert_eq!(old.places().await, (0, i64::try_from(old.games).unwrap()));
    assert_eq!(old.mover(5).inspect_archive(false).await.unwrap().left_over, Vec::<String>::new());
}

/// The service discards no text unless the object with its hash is stored.
#[tokio::test(flavor = "multi_thread")]
async fn the_service_removes_no_record_by_itself() {
    let old = ArchivedHistory::new(40).await;
    let first =
        "select game, sha256(convert_to(record, 'UTF8')) from game_records order by game limit 1";
    let (game, hash): (Uuid, Vec<u8>) = read_row(&old.pool, first).await;
    for forbidden in [
        "update game_records set record = null",
        "insert into archive_objects (name, hash, bytes, records, last_finished_at)
            values ('x', sha256('x'), 1, 1, now())",
        "update owner_settings set archive_grace = interval '0'",
        "update archive_objects set made_at = now() - interval '1 year'",
        "insert into archive_objects (name, hash, bytes, records, last_finished_at, made_at)
            values ('z', sha256('z'), 1, 1, now(), now() - interval '1 year')",
    ] {
        let error = sqlx::query(forbidden).execute(&old.pool).await.unwrap_err();
        assert!(error.to_string().contains("permission denied"), "{forbidden}: {error}");
    }

    let give = async |hash: &[u8]| {
        sqlx::query(
            "select archive_records('x', $2, 1, null, array[$1], array[0], array[1], array[$2])",
        )
        .bind(game)
        .bind(hash)
        .execute(&old.pool)
        .await
    };
    let error = give(&[0; 32]).await.unwrap_err();
    assert!(error.to_string().contains("not there as it was archived"), "{error}");
    // A game of today.
    let owner = old.database.owner_pool().await;
    let alter = async |change: &str| {
        assert_eq!(execute(&owner, &format!("{change} where game = '{game}'")).await, 1);
    };
    alter("update settlements set finished_at = now()").await;
    assert!(give(&hash).await.is_err());
    assert_eq!(old.places().await, (i64::try_from(old.games).unwrap(), 0));
    alter("update settlements set finished_at = now() - interval '2 days'").await;
    // A position beyond the end of the object.
    let beyond =
        "select archive_records('y', $2, 1, null, array[$1], array[1], array[1], array[$2])";
    let refused = sqlx::query(beyond).bind(game).bind(&hash).execute(&old.pool).await;
    assert!(refused.is_err());
    give(&hash).await.unwrap();
    // No object is recorded twice.
    assert!(give(&hash).await.is_err());
    // The caller chooses no bound: the grace period is the owner's, and uses the database's clock.
    let object: i64 = read_value(&old.pool, "select max(number) from archive_objects").await;
    let removal = format!("select remove_archived_records({object})");
    let remove = async || read_value::<i64>(&old.pool, &removal).await;
    for grace in ["null", "interval '1 hour'"] {
        old.set_grace(grace).await;
        assert_eq!(remove().await, 0, "{grace}");
    }
    // A text that differs from the recorded one stays.
    old.set_grace("interval '0'").await;
    alter("update game_records set record = record || ' '").await;
    assert_eq!(remove().await, 0);
    alter("update game_records set record = rtrim(record)").await;
    assert_eq!(old.places().await, (i64::try_from(old.games).unwrap(), 0));
    assert_eq!(remove().await, 1);
    assert_eq!(old.places().await, (i64::try_from(old.games).unwrap() - 1, 1));
}

/// Until the owner has set a grace period, records are copied and never removed; and an object that
/// differs from its recorded hash keeps its records in the database.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_stays_until_its_grace_period_is_over_and_its_object_is_whole() {
    let old = ArchivedHistory::keeping_all(40).await;
    let games = i64::try_from(old.games).unwrap();
    let before = old.read(&Records::without_archive()).await;
    assert_eq!(old.mover(20).archive_all(u64::MAX, false).await.unwrap().records, old.games);
    assert_eq!(old.places().await, (games, 0));
    assert_eq!(old.mover(20).archive_all(u64::MAX, false).await.unwrap().records, 0);
    assert!(old.read(&Records::without_archive()).await == before);

    old.set_grace("interval '7 days'").await;
    old.mover(20).archive_all(u64::MAX, false).await.unwrap();
    assert_eq!(old.places().await, (games, 0));

    let owner = old.database.owner_pool().await;
    let aged = "update archive_objects set made_at = made_at - interval '8 days'";
    execute(&owner, aged).await;
    let object = old.objects().remove(0);
    let written = fs::read(&object).unwrap();
    fs::write(&object, b"something else").unwrap();
    let refused = old.mover(20).archive_all(u64::MAX, false).await;
    assert!(matches!(refused, Err(ArchivingError::ReadMismatch { .. })), "{refused:?}");
    old.unlocked().await;
    let (here, there) = old.places().await;
    assert!(here > 0 && there > 0, "{here} {there}");
    fs::write(&object, written).unwrap();
    old.mover(20).archive_all(u64::MAX, false).await.unwrap();
    assert_eq!(old.places().await, (0, games));
    assert!(old.read(&old.records()).await == before);
}
