//! The projection of standings: applies settled games to results, statistics, counters and scores,
//! and raises the scores in Redis after the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId};
use bahay_shell::catch_panic;
use jiff::civil::Date;
use jiff_sqlx::{Date as SqlDate, Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::settled_game::{SettledGame, ending_and_counts};
use super::statistics::{
    CounterKey, GameSums, Score, ScoreKey, StandingsUpdate, Statistics, StatisticsKey,
};
use super::{BoardId, Standings, StandingsError};
use crate::clock;
use crate::live_store::ReachedScore;
use crate::projections::{self, Projection, SettledGameRow};
use crate::records::{RecordError, Records};
use crate::replay::GameReplay;

impl Projection for Standings {
    const NAME: &'static str = "standings";
    const TABLES: &'static [&'static str] =
        &["board_scores", "player_counters", "player_statistics", "game_results"];
    /// Every game is replayed, so a batch is one seal.
    const SEALS_MAX: i64 = 1;

    type Error = StandingsError;
    /// The new values of the changed scores.
    type Changes = Vec<(ScoreKey, Score)>;

    fn pool(&self) -> &PgPool {
        &self.inner.pool
    }

    fn version(&self) -> String {
        self.inner.calendar.to_string()
    }

    async fn apply(
        &self,
        connection: &mut PgConnection,
        operations: &[i64],
    ) -> Result<Self::Changes, StandingsError> {
        let games = read_settled_games(connection, &self.records, operations).await?;
        let players: BTreeSet<_> =
            games.iter().flat_map(|game| game.nets.iter().map(|(player, _)| *player)).collect();
        let sums = read_sums(connection, &players).await?;
        let mut update = StandingsUpdate { sums, ..StandingsUpdate::default() };
        for game in &games {
            update.apply_game(game, &self.inner.calendar);
        }
        Ok(write_update(connection, &update).await?)
    }

    async fn publish(&self, generation: i64, changes: Option<Self::Changes>) {
        self.inner.generation.store(generation, Ordering::Release);
        let mut boards = BTreeMap::<_, Vec<_>>::new();
        for (key, Score { points: score, reached_at }) in changes.into_iter().flatten() {
            let ScoreKey { kind, board, span, starts_on, player } = key;
            let reached = ReachedScore { player, score, reached_at };
            boards.entry(BoardId { kind, board, span, starts_on }).or_default().push(reached);
        }
        for (board_id, scores) in boards {
            self.raise(&board_id.key(generation), &scores).await;
        }
    }
}

/// Reads a player's statistics in games of a kind.
pub(super) async fn statistics(
    pool: &PgPool,
    player: PlayerId,
    kind: &str,
) -> Result<Statistics, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select s.games, s.wins, s.best_pot, s.streak, s.best_streak, c.names as "names?",
            c.values as "values?"
        from player_statistics s
        cross join lateral (
            select array_agg(o.name order by o.name) as names,
                array_agg(o.value order by o.name) as values
            from player_counters o
            where o.player = s.player and o.kind = s.kind
        ) c
        where s.player = $1 and s.kind = $2
        "#,
        player.0,
        kind
    )
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else {
        return Ok(Statistics::default());
    };
    let counters = row.names.unwrap_or_default().into_iter().zip(row.values.unwrap_or_default());
    Ok(Statistics {
        games: row.games,
        wins: row.wins,
        best_pot: Coins::from_hundredths(row.best_pot),
        streak: row.streak,
        best_streak: row.best_streak,
        counters: counters.collect(),
    })
}

/// Reads the games that these operations settled, in their order, and replays them. During a
/// recomputation old records come from the archive.
pub(super) async fn read_settled_games(
    connection: &mut PgConnection,
    records: &Records,
    operations: &[i64],
) -> Result<Vec<SettledGame>, StandingsError> {
    let rows = projections::read_settled_games(connection, operations).await?;
    let games: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let texts = sqlx::query!(
        r#"
        select r.game, r.record as "record!"
        from game_records r
        where r.game = any($1) and r.record is not null
        "#,
        &games
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut texts: BTreeMap<_, _> =
        texts.into_iter().map(|row| (row.game, Ok(row.record))).collect();
    let archived: Vec<_> = games.into_iter().filter(|game| !texts.contains_key(game)).collect();
    texts.extend(records.read_archived_in_tx(connection, &archived).await?);
    let mut replayed = Vec::with_capacity(rows.len());
    for row in rows {
        let missing = || Err(sqlx::Error::RowNotFound.into());
        let record = texts.remove(&row.id).unwrap_or_else(missing);
        let game = catch_panic(|| build_settled_game(row, record));
        replayed.push(game.map_err(StandingsError::Unreadable)?);
        // Moves wait for one replay at most, and take less processor time than beside a thread.
        tokio::task::yield_now().await;
    }
    Ok(replayed)
}

fn build_settled_game(row: SettledGameRow, record: Result<String, RecordError>) -> SettledGame {
    let players: Vec<_> = row.players.iter().copied().map(PlayerId).collect();
    let player = |seat: Seat| players.get(seat.index()).copied();
    let end = replay_to_end(row.id, record);
    let (ending, counts) = end.map(|game| ending_and_counts(&game, &players)).unwrap_or_default();
    SettledGame {
        game: GameId(row.id),
        finished_at: clock::from_jiff(row.finished_at.to_jiff()),
        ending,
        counts,
        winner: row.settlement.winner.and_then(player),
        pot: row.settlement.pot.and_then(|pot| Some((player(pot.seat)?, pot.amount))),
        is_ranked: row.is_ranked(),
        nets: players
            .iter()
            .zip(&row.nets)
            .filter(|(player, _)| !row.bots.contains(&player.0))
            .map(|(player, net)| (*player, Coins::from_hundredths(*net)))
            .collect(),
        kind: row.kind,
    }
}

/// Replays a game to its end.
fn replay_to_end(game: Uuid, record: Result<String, RecordError>) -> Option<AnyGame> {
    let unknown = |error: &dyn std::fmt::Display| {
        tracing::warn!(%game, %error, "the ending of a game is unknown");
    };
    let record = record.inspect_err(|error| unknown(error)).ok()?;
    let end = GameReplay::from_json(&record).and_then(|replay| replay.end());
    end.inspect_err(|error| unknown(error)).ok()
}

/// Reads the sums of these players, of every kind.
async fn read_sums(
    connection: &mut PgConnection,
    players: &BTreeSet<PlayerId>,
) -> Result<BTreeMap<StatisticsKey, GameSums>, sqlx::Error> {
    let players: Vec<_> = players.iter().map(|player| player.0).collect();
    let rows = sqlx::query_as!(
        PlayerStatisticsRow,
        "
        select s.player, s.kind, s.games, s.wins, s.best_pot, s.streak, s.best_streak
        from player_statistics s
        where s.player = any($1)
        ",
        &players
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(PlayerStatisticsRow::into_entry).collect())
}

/// Reads the sums of all players.
pub(super) async fn read_all_sums(
    connection: &mut PgConnection,
) -> Result<BTreeMap<StatisticsKey, GameSums>, sqlx::Error> {
    let rows = sqlx::query_as!(
        PlayerStatisticsRow,
        "
        select s.player, s.kind, s.games, s.wins, s.best_pot, s.streak, s.best_streak
        from player_statistics s
        "
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(PlayerStatisticsRow::into_entry).collect())
}

struct PlayerStatisticsRow {
    player: Uuid,
    kind: String,
    games: i64,
    wins: i64,
    best_pot: i64,
    streak: i64,
    best_streak: i64,
}

impl PlayerStatisticsRow {
    fn into_entry(self) -> (StatisticsKey, GameSums) {
        let Self { player, kind, games, wins, best_pot, streak, best_streak } = self;
        let best_pot = Coins::from_hundredths(best_pot);
        ((PlayerId(player), kind), GameSums { games, wins, best_pot, streak, best_streak })
    }
}

pub(super) async fn write_update(
    connection: &mut PgConnection,
    update: &StandingsUpdate,
) -> Result<Vec<(ScoreKey, Score)>, sqlx::Error> {
    let games: Vec<_> = update.results.iter().map(|result| result.game.0).collect();
    let endings: Vec<_> = update.results.iter().map(|result| result.ending).collect();
    let winners: Vec<_> =
        update.results.iter().map(|result| result.winner.map(|winner| winner.0)).collect();
    sqlx::query!(
        "
        insert into game_results (game, ending, winner)
        select r.game, r.ending, r.winner
        from (
            select unnest($1::uuid[]) as game, unnest($2::text[]) as ending,
                unnest($3::uuid[]) as winner
        ) r
        ",
        &games,
        &endings as _,
        &winners as _
    )
    .execute(&mut *connection)
    .await?;
    write_sums(connection, &update.sums).await?;
    raise_counters(connection, &update.counters).await?;
    add_scores(connection, &update.scores).await
}

async fn write_sums(
    connection: &mut PgConnection,
    sums: &BTreeMap<StatisticsKey, GameSums>,
) -> Result<(), sqlx::Error> {
    let players: Vec<_> = sums.keys().map(|(player, _)| player.0).collect();
    let kinds: Vec<_> = sums.keys().map(|(_, kind)| kind.as_str()).collect();
    let column = |field: fn(&GameSums) -> i64| sums.values().map(field).collect::<Vec<_>>();
    sqlx::query!(
        "
        insert into player_statistics as s (
            player, kind, games, wins, best_pot, streak, best_streak
        )
        select n.player, n.kind, n.games, n.wins, n.best_pot, n.streak, n.best_streak
        from (
            select unnest($1::uuid[]) as player, unnest($2::text[]) as kind,
                unnest($3::bigint[]) as games, unnest($4::bigint[]) as wins,
                unnest($5::bigint[]) as best_pot, unnest($6::bigint[]) as streak,
                unnest($7::bigint[]) as best_streak
        ) n
        on conflict (player, kind) do update
        set games = excluded.games, wins = excluded.wins, best_pot = excluded.best_pot,
            streak = excluded.streak, best_streak = excluded.best_streak
        ",
        &players,
        &kinds as _,
        &column(|one| one.games),
        &column(|one| one.wins),
        &column(|one| one.best_pot.hundredths()),
        &column(|one| one.streak),
        &column(|one| one.best_streak)
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds to the counters. Most players of a game raise none, so their rows are not touched.
async fn raise_counters(
    connection: &mut PgConnection,
    raised: &BTreeMap<CounterKey, i64>,
) -> Result<(), sqlx::Error> {
    let players: Vec<_> = raised.keys().map(|key| key.player.0).collect();
    let kinds: Vec<_> = raised.keys().map(|key| key.kind.as_str()).collect();
    let names: Vec<_> = raised.keys().map(|key| key.name.as_str()).collect();
    let values: Vec<_> = raised.values().copied().collect();
    sqlx::query!(
        "
        insert into player_counters as c (player, kind, name, value)
        select n.player, n.kind, n.name, n.value
        from (
            select unnest($1::uuid[]) as player, unnest($2::text[]) as kind,
                unnest($3::text[]) as name, unnest($4::bigint[]) as value
        ) n
        on conflict (player, kind, name) do update
        set value = c.value + excluded.value
        ",
        &players,
        &kinds as _,
        &names as _,
        &values
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds to the scores, and returns their new values.
async fn add_scores(
    connection: &mut PgConnection,
    gained: &BTreeMap<ScoreKey, Score>,
) -> Result<Vec<(ScoreKey, Score)>, sqlx::Error> {
    let kinds: Vec<_> = gained.keys().map(|key| key.kind.as_str()).collect();
    let boards: Vec<_> = gained.keys().map(|key| key.board.as_str()).collect();
    let spans: Vec<_> = gained.keys().map(|key| key.span.as_str()).collect();
    let starts: Vec<SqlDate> = gained.keys().map(|key| key.starts_on.to_sqlx()).collect();
    let players: Vec<_> = gained.keys().map(|key| key.player.0).collect();
    let amounts: Vec<_> = gained.values().map(|score| score.points).collect();
    let reached: Vec<SqlTimestamp> =
        gained.values().map(|score| clock::to_jiff(score.reached_at).to_sqlx()).collect();
    let rows = sqlx::query!(
        r#"
        insert into board_scores as s (kind, board, span, starts_on, player, score, reached_at)
        select n.kind, n.board, n.span, n.starts_on, n.player, n.score, n.reached_at
        from (
            select unnest($1::text[]) as kind, unnest($2::text[]) as board,
                unnest($3::text[]) as span, unnest($4::date[]) as starts_on,
                unnest($5::uuid[]) as player, unnest($6::bigint[]) as score,
                unnest($7::timestamptz[]) as reached_at
        ) n
        on conflict (kind, board, span, starts_on, player) do update
        set score = s.score + excluded.score,
            reached_at = greatest(s.reached_at, excluded.reached_at)
        returning s.kind, s.board, s.span, s.starts_on as "starts_on: SqlDate", s.player, s.score,
            s.reached_at as "reached_at: SqlTimestamp"
        "#,
        &kinds as _,
        &boards as _,
        &spans as _,
        &starts as _,
        &players,
        &amounts,
        &reached as _
    )
    .fetch_all(connection)
    .await?;
    let rows = rows.into_iter().map(|row| {
        let key =
            parse_score_key(row.kind, &row.board, &row.span, row.starts_on.to_jiff(), row.player)?;
        let reached_at = clock::from_jiff(row.reached_at.to_jiff());
        Ok((key, Score { points: row.score, reached_at }))
    });
    rows.collect()
}

/// Parses a key from its columns.
pub(super) fn parse_score_key(
    kind: String,
    board: &str,
    span: &str,
    starts_on: Date,
    player: Uuid,
) -> Result<ScoreKey, sqlx::Error> {
    let (Ok(board), Ok(span)) = (board.parse(), span.parse()) else {
        let unknown = format!("unknown board: {board} {span}");
        return Err(sqlx::Error::Decode(unknown.into()));
    };
    Ok(ScoreKey { kind, board, span, starts_on, player: PlayerId(player) })
}
