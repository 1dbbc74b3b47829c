//! Counts everything anew, in memory, and compares: what is stored must be what the ledger's seals
//! come to. For `bahay verify standings`, and for tests.

use std::collections::BTreeMap;

use bahay_engine::table::PlayerId;
use jiff_sqlx::{Date as SqlDate, Timestamp as SqlTimestamp};
use sqlx::{Executor as _, PgConnection, PgPool};

use super::StandingsError;
use super::fold::{key, read_all, sealed, settled};
use super::season::Calendar;
use super::tally::{CounterKey, Score, ScoreKey, Tally};
use crate::clock;
use crate::records::Records;

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The last seal that was counted.
    pub seal: i64,
    pub games: u64,
    pub players: usize,
    pub scores: usize,
    /// One line for each thing that is not what it should be.
    pub differences: Vec<String>,
}

/// Counts every seal up to the progress and compares, all on one state of the database.
///
/// # Errors
/// Only that the database or the archive cannot be read.
pub async fn check(
    pool: &PgPool,
    records: &Records,
    calendar: &Calendar,
) -> Result<Checked, StandingsError> {
    let mut tx = pool.begin().await?;
    tx.execute("set transaction isolation level repeatable read, read only").await?;
    let progress = sqlx::query!("select s.seal, s.calendar from standings_progress s")
        .fetch_optional(&mut *tx)
        .await?;
    let Some(progress) = progress else {
        return Ok(Checked::default());
    };
    let mut checked = Checked { seal: progress.seal, ..Checked::default() };
    if progress.calendar != calendar.to_string() {
        checked.differences.push(format!("counted by {}, not by {calendar}", progress.calendar));
        return Ok(checked);
    }
    let mut tally = Tally::default();
    for seal in 1..=progress.seal {
        let operations = sealed(&mut tx, seal).await?.unwrap_or_default();
        for game in settled(&mut tx, records, &operations).await? {
            tally.count(&game, calendar);
            checked.games += 1;
        }
    }
    let (sums, counters) = (read_all(&mut tx).await?, counters(&mut tx).await?);
    let scores = scores(&mut tx).await?;
    checked.players = sums.len();
    checked.scores = scores.len();
    compare(&mut checked.differences, "statistics", &tally.sums, &sums);
    compare(&mut checked.differences, "counter", &tally.counters, &counters);
    compare(&mut checked.differences, "score", &tally.scores, &scores);
    let results = sqlx::query_scalar!(r#"select count(*) as "count!" from game_results"#)
        .fetch_one(&mut *tx)
        .await?;
    if usize::try_from(results) != Ok(tally.results.len()) {
        let expected = tally.results.len();
        checked.differences.push(format!("{results} results, and not {expected}"));
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
            differences.push(format!("{what} of {key:?}: {found:?}, and not {value:?}"));
        }
    }
    for key in stored.keys().filter(|key| !expected.contains_key(key)) {
        differences.push(format!("{what} of {key:?}: nothing was counted"));
    }
}

async fn counters(connection: &mut PgConnection) -> Result<BTreeMap<CounterKey, i64>, sqlx::Error> {
    let rows = sqlx::query!("select c.player, c.kind, c.name, c.value from player_counters c")
        .fetch_all(connection)
        .await?;
    let rows = rows.into_iter().map(|row| {
        let key = CounterKey { player: PlayerId(row.player), kind: row.kind, name: row.name };
        (key, row.value)
    });
    Ok(rows.collect())
}

async fn scores(connection: &mut PgConnection) -> Result<BTreeMap<ScoreKey, Score>, sqlx::Error> {
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
        let key = key(row.kind, &row.board, &row.span, starts_on, row.player)?;
        Ok((key, Score { points: row.score, reached_at }))
    });
    rows.collect()
}
