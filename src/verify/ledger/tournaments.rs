//! The verification of the games of tournaments, which no operation books: every record is replayed
//! and compared with the row of its game, in pages in the order in which the tournaments were
//! announced, so that a page reads few objects of the archive.

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, Record, TableId, TournamentId};
use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx as _};
use serde_json::Value;
use sqlx::PgPool;
use sqlx::types::Json;
use uuid::Uuid;

use super::archived::{self, RecordRow};
use super::{Difference, Extent, LISTED_MAX, Mismatch};
use crate::archive::tournament_games::TournamentScore;
use crate::db;
use crate::ledger::LedgerError;
use crate::records::Records;
use crate::verify;

/// The number of games per page. A record has some kilobytes.
const PAGE: i64 = 200;

/// The counts of verified games of tournaments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TournamentCounts {
    pub games: u64,
    /// The replayed actions.
    pub actions: u64,
}

/// A game of a tournament with its documents.
#[derive(Debug)]
struct TournamentGameRow {
    tournament: Uuid,
    announced_at: SqlTimestamp,
    game: Uuid,
    table_id: Uuid,
    round: i32,
    table_number: i32,
    kind: String,
    scores: Json<Vec<TournamentScore>>,
    finished_at: SqlTimestamp,
    settlement: Value,
    record: Option<String>,
}

/// The position of a page: the announcement of a tournament, its id, and that of a game.
type Position = (SqlTimestamp, Uuid, Uuid);

impl RecordRow for TournamentGameRow {
    fn game(&self) -> Uuid {
        self.game
    }

    fn is_archived(&self) -> bool {
        self.record.is_none()
    }

    fn set_record(&mut self, text: String) {
        self.record = Some(text);
    }
}

/// Verifies the games of all tournaments or, after an operation, of those that were not closed when it
/// was booked.
pub(super) async fn check(
    pool: &PgPool,
    records: &Records,
    extent: Extent,
) -> Result<(TournamentCounts, Vec<Difference>), LedgerError> {
    let mut counted = TournamentCounts::default();
    let mut differences = Vec::new();
    let mut after = (Timestamp::UNIX_EPOCH.to_sqlx(), Uuid::nil(), Uuid::nil());
    loop {
        let mut rows = db::retry(|| read_page(pool, extent, after)).await?;
        let Some(last) = rows.last() else { break };
        after = (last.announced_at, last.tournament, last.game);
        differences.extend(archived::fill_records(pool, records, &mut rows).await?);
        // A page of replays occupies a core for a while.
        let checked = tokio::task::spawn_blocking(move || check_page(&rows));
        let (some, found) = checked
            .await
            .map_err(|error| LedgerError::Unavailable { reason: error.to_string() })?;
        counted.games += some.games;
        counted.actions += some.actions;
        differences.extend(found);
        differences.truncate(LISTED_MAX);
    }
    Ok((counted, differences))
}

async fn read_page(
    pool: &PgPool,
    extent: Extent,
    (announced_at, tournament, game): Position,
) -> Result<Vec<TournamentGameRow>, sqlx::Error> {
    let checked = match extent {
        Extent::Everything => 0,
        Extent::After(operation) => operation,
    };
    sqlx::query_as!(
        TournamentGameRow,
        r#"
        select t.id as tournament, t.created_at as "announced_at: SqlTimestamp", g.game,
            g.table_id, g.round, g.table_number, g.kind,
            g.scores as "scores: Json<Vec<TournamentScore>>",
            g.finished_at as "finished_at: SqlTimestamp", r.settlement, r.record
        from tournaments t
        join tournament_games g on g.tournament = t.id
        join game_records r on r.game = g.game
        where (t.created_at, t.id) >= ($1::timestamptz, $2::uuid)
            and (t.created_at, t.id, g.game) > ($1::timestamptz, $2::uuid, $3::uuid)
            and (
                $4::bigint = 0 or t.closed_at is null
                or t.closed_at >= (select o.created_at from operations o where o.id = $4)
            )
        order by t.created_at, t.id, g.game
        limit $5
        "#,
        announced_at as _,
        tournament,
        game,
        checked,
        PAGE
    )
    .fetch_all(pool)
    .await
}

fn check_page(rows: &[TournamentGameRow]) -> (TournamentCounts, Vec<Difference>) {
    let mut counted = TournamentCounts::default();
    let mut differences = Vec::new();
    for row in rows {
        counted.games += 1;
        match check_row(row) {
            Ok(actions) => counted.actions += actions,
            Err(what) => differences.push(Difference { game: GameId(row.game), what }),
        }
    }
    (counted, differences)
}

/// Replays a game and returns the number of its actions.
fn check_row(row: &TournamentGameRow) -> Result<u64, Mismatch> {
    let text = row.record.as_ref().ok_or(Mismatch::NoRecord)?;
    let verdict =
        verify::verify(text).map_err(|error| Mismatch::Record { fault: error.to_string() })?;
    check_same_game(&verdict.record, row)?;
    Ok(verdict.verified.actions as u64)
}

fn check_same_game(record: &Record<AnyGame>, row: &TournamentGameRow) -> Result<(), Mismatch> {
    let seats = bahay_engine::seat::Seat::all(u8::try_from(record.players.len()).unwrap_or(0));
    let points: Option<Vec<Coins>> = seats.map(|seat| record.settlement.net(seat)).collect();
    let points = points.ok_or(Mismatch::Overflow)?;
    let scored_players = row.scores.iter().map(|score| score.player);
    let scored_points = row.scores.iter().map(|score| score.points);
    let seating = record.terms.tournament.as_ref();
    let pairs = [
        ("game", record.game == GameId(row.game)),
        ("kind", record.kind == row.kind),
        ("table", record.table == TableId(row.table_id)),
        ("tournament", seating.map(|it| it.tournament) == Some(TournamentId(row.tournament))),
        ("round", seating.map(|it| i64::from(it.round)) == Some(i64::from(row.round))),
        (
            "number of a table",
            seating.map(|it| i64::from(it.number)) == Some(i64::from(row.table_number)),
        ),
        ("set of players", record.players.iter().copied().eq(scored_players)),
        ("set of points", points.into_iter().eq(scored_points)),
        ("end", record.finished_at.ms() == row.finished_at.to_jiff().as_millisecond()),
        (
            "settlement",
            serde_json::to_value(&record.settlement).ok().as_ref() == Some(&row.settlement),
        ),
    ];
    match pairs.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(Mismatch::RecordDiffers { what }),
        None => Ok(()),
    }
}
