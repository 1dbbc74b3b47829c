//! The check of standings: recomputes them in memory from the ledger's seals and compares the
//! result with the stored rows. For `bahay verify standings` and for tests.

use std::collections::BTreeMap;

use bahay_engine::table::PlayerId;
use jiff_sqlx::{Date as SqlDate, Timestamp as SqlTimestamp};
use sqlx::{Executor as _, PgConnection, PgPool};

use super::projection::{parse_score_key, read_all_sums, read_settled_games};
use super::season::Calendar;
use super::statistics::{CounterKey, Score, ScoreKey, StandingsUpdate};
use super::{Standings, StandingsError};
use crate::clock;
use crate::db;
use crate::projections::{self, Projection as _};
use crate::records::Records;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandingsCheck {
    /// The last projected seal.
    pub seal: i64,
    pub games: u64,
    pub players: usize,
    pub scores: usize,
    /// One line per difference.
    pub differences: Vec<String>,
}

/// Recomputes every seal up to the projection's position and compares the result, all in one
/// snapshot.
///
/// # Errors
/// If the database or the archive cannot be read.
pub async fn check(
    pool: &PgPool,
    records: &Records,
    calendar: &Calendar,
) -> Result<StandingsCheck, StandingsError> {
    let mut tx = db::begin(pool).await?;
    tx.execute("set transaction isolation level repeatable read, read only").await?;
    let position = projections::read_position(&mut tx, Standings::NAME).await?;
    let mut checked = StandingsCheck { seal: position.seal, ..StandingsCheck::default() };
    if position.seal > 0 && position.version != calendar.to_string() {
        checked
            .differences
            .push(format!("projected with calendar {}, not {calendar}", position.version));
        return Ok(checked);
    }
    let mut update = StandingsUpdate::default();
    for seal in 1..=position.seal {
        let operations =
            sqlx::query_scalar!("select s.operations from seals s where s.number = $1", seal)
                .fetch_one(&mut *tx)
                .await?;
        for game in read_settled_games(&mut tx, records, &operations).await? {
            update.apply_game(&game, calendar);
            checked.games += 1;
        }
    }
    let sums = read_all_sums(&mut tx).await?;
    let counters = read_counters(&mut tx).await?;
    let scores = read_scores(&mut tx).await?;
    checked.players = sums.len();
    checked.scores = scores.len();
    compare(&mut checked.differences, "statistics", &update.sums, &sums);
    compare(&mut checked.differences, "counter", &update.counters, &counters);
    compare(&mut checked.differences, "score", &update.scores, &scores);
    let results = sqlx::query_scalar!(r#"select count(*) as "count!" from game_results"#)
        .fetch_one(&mut *tx)
        .await?;
    if usize::try_from(results) != Ok(update.results.len()) {
        let expected = update.results.len();
        checked.differences.push(format!("{results} results instead of {expected}"));
    }
    Ok(checked)
}

fn compare<K: std::fmt::Debug + Ord, V: std::fmt::Debug + PartialEq>(
    differences: &mut Vec<String>,
    what: &str,
    expected: &BTreeMap<K, V>,
    stored: &BTreeMap<K, V>,
) {
    for (key, value) in expected {
        if stored.get(key) != Some(value) {
            let found = stored.get(key);
            differences.push(format!("{what} of {key:?}: {found:?} instead of {value:?}"));
        }
    }
    for key in stored.keys().filter(|key| !expected.contains_key(key)) {
        differences.push(format!("{what} of {key:?}: unexpected row"));
    }
}

async fn read_counters(
    connection: &mut PgConnection,
) -> Result<BTreeMap<CounterKey, i64>, sqlx::Error> {
    let rows = sqlx::query!("select c.player, c.kind, c.name, c.value from player_counters c")
        .fetch_all(connection)
        .await?;
    let rows = rows.into_iter().map(|row| {
        let key = CounterKey { player: PlayerId(row.player), kind: row.kind, name: row.name };
        (key, row.value)
    });
    Ok(rows.collect())
}

async fn read_scores(
    connection: &mut PgConnection,
) -> Result<BTreeMap<ScoreKey, Score>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select s.kind, s.board, s.span, s.starts_on as "starts_on: SqlDate", s.player, s.score,
            s.reached_at as "reached_at: SqlTimestamp"
        from board_scores s
        "#
    )
    .fetch_all(connection)
    .await?;
    let rows = rows.into_iter().map(|row| {
        let starts_on = row.starts_on.to_jiff();
        let reached_at = clock::from_jiff(row.reached_at.to_jiff());
        let key = parse_score_key(row.kind, &row.board, &row.span, starts_on, row.player)?;
        Ok((key, Score { points: row.score, reached_at }))
    });
    rows.collect()
}
