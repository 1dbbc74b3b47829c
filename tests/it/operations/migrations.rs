//! Migrations during play: they delay no game, give up in time and are atomic; the previous program
//! serves on a schema that was only extended; and released migrations never change.

use std::sync::atomic::{AtomicU32, Ordering};

use bahay::db::{self, MIGRATION_ATTEMPTS, MIGRATOR, MigrationError, SchemaError};
use futures_util::future::join;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Connection as _, Executor as _, PgConnection, PgPool, SqlSafeStr as _};

use crate::support::bank::{Bank, PotGoes, table};
use crate::support::db::{read_row, read_value, read_values};
use crate::support::waiting::wait_until;

/// A version that no migration has.
const SAMPLE: i64 = 9_001;

/// The version and the SHA-384 of each released migration, one on a line. A release adds its own.
const RELEASED: &str = include_str!("released_migrations.txt");

/// Extends a table that every game writes to.
const SAMPLE_SQL: &str =
    "create table sample_notes (note text); alter table games add column sample text;";

/// The same, declared as additive.
const ADDITIVE_SAMPLE_SQL: &str = "create table sample_notes (note text); alter table games add column sample text; \
     insert into additive_migrations (version) values (9001);";

/// Returns all migrations and one of a later version.
fn with_sample(sql: &'static str) -> Migrator {
    let mut migrations = MIGRATOR.migrations.to_vec();
    migrations.push(Migration::new(
        SAMPLE,
        "sample".into(),
        MigrationType::Simple,
        sql.into_sql_str(),
        false,
    ));
    Migrator::with_migrations(migrations)
}

/// Opens a transaction that reads games and stays open, so that the table cannot be altered.
async fn reader(bank: &Bank) -> PgConnection {
    let mut reader = PgConnection::connect_with(&bank.database.options()).await.unwrap();
    reader.execute("begin; select count(*) from games").await.unwrap();
    reader
}

/// Waits until the migration waits for its lock, and then until games were played all the same.
async fn played_meanwhile(owner: &PgPool, games: &AtomicU32) {
    wait_until("the migration waits for its lock", async || {
        let waits = "select exists (
            select from pg_locks where not granted and relation = 'games'::regclass
                and mode = 'AccessExclusiveLock')";
        read_value::<bool>(owner, waits).await
    })
    .await;
    let before = games.load(Ordering::Relaxed);
    let are_played = async || games.load(Ordering::Relaxed) >= before + 5;
    wait_until("games are played meanwhile", are_played).await;
}

/// Returns whether the schema has the sample's table, column and note.
async fn done(owner: &PgPool) -> (bool, bool, bool) {
    let done = "select to_regclass('sample_notes') is not null,
        exists (select from information_schema.columns
            where table_name = 'games' and column_name = 'sample'),
        exists (select from _sqlx_migrations where version = 9001)";
    read_row(owner, done).await
}

/// Plays until `beside` has ended.
async fn play_beside(bank: &Bank, games: &AtomicU32, beside: impl Future<Output = ()>) {
    let players = bank.players([1_000_000; 3]).await;
    let table = table();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let playing = async {
        while !*stopped.borrow() {
            let winner = u8::try_from(games.load(Ordering::Relaxed) % 3).unwrap();
            bank.play(table, &players, winner, 2, PotGoes::Nowhere).await;
            games.fetch_add(1, Ordering::Relaxed);
        }
    };
    let beside = async {
        beside.await;
        stop.send_replace(true);
    };
    join(playing, beside).await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_migration_that_waits_for_a_lock_lets_games_pass_and_gets_it_in_the_end() {
    let bank = Bank::new().await;
    let (owner, migrator) = (bank.database.owner_pool().await, with_sample(SAMPLE_SQL));
    let games = AtomicU32::new(0);
    let migrating = async {
        let reader = reader(&bank).await;
        let ends = async {
            played_meanwhile(&owner, &games).await;
            reader.close().await.unwrap();
        };
        let migrated = db::migrate_by(&migrator, MIGRATION_ATTEMPTS, &owner);
        let (migrated, ()) = join(migrated, ends).await;
        migrated.unwrap();
    };
    play_beside(&bank, &games, migrating).await;
    assert_eq!(done(&owner).await, (true, true, true));
}

#[tokio::test]
async fn a_migration_that_gets_no_lock_gives_up_and_leaves_nothing_half_done() {
    let bank = Bank::new().await;
    let (owner, migrator) = (bank.database.owner_pool().await, with_sample(SAMPLE_SQL));
    let games = AtomicU32::new(0);
    let migrating = async {
        let reader = reader(&bank).await;
        let migrated = db::migrate_by(&migrator, 3, &owner);
        let (migrated, ()) = join(migrated, played_meanwhile(&owner, &games)).await;
        let error = migrated.unwrap_err();
        assert!(
            matches!(error, MigrationError::Locked { version: SAMPLE, attempts: 3 }),
            "{error}"
        );
        assert_eq!(
            error.to_string(),
            "migration 9001 could not acquire a lock in 3 attempts and was rolled back; end the session \
             that holds the lock (see pg_locks), and run `bahay migrate` again"
        );
        assert_eq!(done(&owner).await, (false, false, false));
        reader.close().await.unwrap();
        db::migrate_by(&migrator, MIGRATION_ATTEMPTS, &owner).await.unwrap();
    };
    play_beside(&bank, &games, migrating).await;
    assert_eq!(done(&owner).await, (true, true, true));
}

#[tokio::test]
async fn an_older_program_serves_on_a_schema_to_which_was_only_added() {
    let bank = Bank::new().await;
    let owner = bank.database.owner_pool().await;
    let added = with_sample(ADDITIVE_SAMPLE_SQL);
    db::migrate_by(&added, MIGRATION_ATTEMPTS, &owner).await.unwrap();
    db::check_schema(&bank.database.options()).await.unwrap();
    // Its own migration finds nothing to do and removes nothing.
    db::migrate(&owner).await.unwrap();
    assert_eq!(done(&owner).await, (true, true, true));
    let players = bank.players([1_000_000; 3]).await;
    bank.play(table(), &players, 0, 2, PotGoes::Nowhere).await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn an_older_program_refuses_a_schema_that_was_changed_otherwise() {
    let bank = Bank::new().await;
    let owner = bank.database.owner_pool().await;
    db::migrate_by(&with_sample(SAMPLE_SQL), MIGRATION_ATTEMPTS, &owner).await.unwrap();
    let refused = db::check_schema(&bank.database.options()).await.unwrap_err();
    assert!(matches!(refused, SchemaError::Ahead { version: SAMPLE }), "{refused}");
    assert_eq!(
        db::migrate(&owner).await.unwrap_err().to_string(),
        "the schema has migration 9001, which is newer than this program: run `bahay migrate` \
         of that later version"
    );
    assert_eq!(done(&owner).await, (true, true, true));
}

#[tokio::test]
async fn a_migration_that_only_adds_notes_itself_and_no_other() {
    let bank = Bank::new().await;
    let owner = bank.database.owner_pool().await;
    let noted: Vec<i64> =
        read_values(&owner, "select version from additive_migrations order by 1").await;
    let says = |migration: &&Migration| {
        let own =
            format!("\ninsert into additive_migrations (version) values ({});", migration.version);
        migration.sql.as_str().contains(&own)
    };
    let saying: Vec<i64> =
        MIGRATOR.iter().filter(says).map(|migration| migration.version).collect();
    assert_eq!(noted, saying);
}

/// Returns the differences between the program and a list of released migrations.
fn differences(released: &str, version: &str) -> Vec<String> {
    let lines = released.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let has: Vec<String> = MIGRATOR
        .iter()
        .map(|migration| {
            let hash = migration.checksum.iter().map(|byte| format!("{byte:02x}"));
            format!("{} {}", migration.version, hash.collect::<String>())
        })
        .collect();
    let mut differences: Vec<String> = (0..lines.len())
        .filter(|at| has.get(*at).map(String::as_str) != Some(lines[*at]))
        .map(|at| format!("released, but other here: {}", lines[at]))
        .collect();
    if lines.is_empty() && !version.starts_with("0.") {
        differences
            .push(format!("{version} lists no migration; those of today:\n{}", has.join("\n")));
    }
    differences
}

#[test]
fn released_migrations_are_never_edited_and_each_is_one_transaction() {
    assert_eq!(differences(RELEASED, env!("CARGO_PKG_VERSION")), Vec::<String>::new());
    assert!(MIGRATOR.iter().all(|migration| !migration.no_tx));

    // The comparison detects differences.
    assert_eq!(differences("", "1.0.0").len(), 1);
    assert_eq!(differences("1 00", "1.0.0"), ["released, but other here: 1 00"]);
}
