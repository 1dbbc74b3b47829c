//! Checks of a house's books and projections.

use bahay::archive::{self, RecordedGame};
use bahay::ledger::audit;
use bahay::records::Records;
use bahay::reports::pairs::signs::ALERT_SCORE_DEFAULT;
use bahay::reports::{Pairs, Reports};
use bahay::standings::{Calendar, Standings};
use bahay::verify::ledger::{self, Extent, Report};
use bahay_client_tokio::Client;
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{GameId, Readable as _, Record};
use jiff::tz::TimeZone;
use sqlx::PgPool;

use super::live::TestLive;

/// Compares the books with all games, and asserts that they hold.
pub(crate) async fn check_ledger(pool: &PgPool) -> Report {
    check_ledger_with(pool, &Records::without_archive()).await
}

/// Compares the books with all games, of which some are archived.
pub(crate) async fn check_ledger_with(pool: &PgPool, records: &Records) -> Report {
    let report = ledger::check(pool, records, Extent::Everything).await.unwrap();
    assert!(report.is_clean(), "{report}");
    report
}

/// Asserts that the audit of the books finds no difference.
pub(crate) async fn audit_books(pool: &PgPool) -> audit::Report {
    let report = audit::audit(pool).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
    report
}

/// Reads a game that is not archived.
pub(crate) async fn read_game(pool: &PgPool, game: GameId) -> RecordedGame {
    archive::read_game(pool, &Records::without_archive(), game).await.unwrap().unwrap()
}

/// Reads the record of a finished game as a player does, and verifies it.
pub(crate) async fn read_record(client: &Client, game: GameId) -> Record<AnyGame> {
    let record = client.record(game).await.unwrap();
    let record = AnyGame::read_record(&record.to_string()).unwrap();
    record.verify().unwrap_or_else(|fault| panic!("{game}: {fault}"));
    record
}

/// Counts all sealed games in the standings.
pub(crate) async fn count_standings(pool: &PgPool) -> Standings {
    let (live, _publications) = TestLive::new().connect().await;
    let standings = Standings::new(pool.clone(), live, Calendar::default());
    standings.catch_up().await.unwrap();
    standings
}

/// Counts all sealed games of pairs and players by days of a zone.
pub(crate) async fn count_pairs(reports: &Reports, zone: &TimeZone) -> Pairs {
    let pairs = Pairs::new(reports, zone, ALERT_SCORE_DEFAULT);
    pairs.catch_up().await.unwrap();
    pairs
}

/// Counts all sealed games in the reports.
pub(crate) async fn count_reports(pool: &PgPool) -> Reports {
    let reports = Reports::with_own_pool(pool);
    reports.catch_up().await.unwrap();
    reports
}
