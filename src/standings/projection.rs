//! The projection of standings: takes the next seal of the ledger, applies its settled games, and
//! advances the position, in one transaction. The row of the position is locked, so one process
//! projects at a time, and a crash neither loses nor doubles a game.
//!
//! Seals are the input because they contain every operation once, in one order, and appear
//! atomically. A player's games come in the order of their settlements, because the settlements
//! lock the same wallet.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Settlement};
use jiff::civil::Date;
use jiff_sqlx::{Date as SqlDate, Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::season::{Calendar, Span};
use super::settled_game::{SettledGame, ending_and_counts};
use super::statistics::{
    CounterKey, GameSums, Score, ScoreKey, StandingsUpdate, Statistics, StatisticsKey,
};
use super::{Board, StandingsError};
use crate::clock;
use crate::db;
use crate::ids::PRIVATE_ROOM;
use crate::records::{RecordError, Records};
use crate::replay::GameReplay;

/// The result of one step.
#[derive(Debug)]
pub(super) enum ProjectionStep {
    /// Another process is projecting.
    Busy,
    /// Every seal is projected.
    UpToDate { generation: i64 },
    /// One seal was projected, with the new values of the changed scores.
    Applied { generation: i64, scores: Vec<(ScoreKey, Score)> },
}

/// The position of the projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProjectionPosition {
    pub(super) seal: i64,
    pub(super) generation: i64,
}

/// Projects the next seal, if there is one.
pub(super) async fn project_next_seal(
    pool: &PgPool,
    records: &Records,
    calendar: &Calendar,
) -> Result<ProjectionStep, StandingsError> {
    let mut tx = pool.begin().await?;
    let Some(ProjectionPosition { seal, generation }) = lock_position(&mut tx, calendar).await?
    else {
        return Ok(ProjectionStep::Busy);
    };
    let seal = seal.saturating_add(1);
    let Some(operations) = read_seal(&mut tx, seal).await? else {
        // The initial position is committed, so that readers know its generation.
        tx.commit().await?;
        return Ok(ProjectionStep::UpToDate { generation });
    };
    db::plan_by_keys_in_tx(&mut tx).await?;
    let games = read_settled_games(&mut tx, records, &operations).await?;
    let players: BTreeSet<_> =
        games.iter().flat_map(|game| game.nets.iter().map(|(player, _)| *player)).collect();
    let mut update = StandingsUpdate::from_sums(read_sums(&mut tx, &players).await?);
    for game in &games {
        update.apply_game(game, calendar);
    }
    let scores = write_update(&mut tx, &update).await?;
    sqlx::query!("update standings_progress set seal = $1", seal).execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(ProjectionStep::Applied { generation, scores })
}

/// Reads the position; `None` before the first step.
pub(super) async fn read_position(
    pool: &PgPool,
) -> Result<Option<ProjectionPosition>, sqlx::Error> {
    let row = sqlx::query_as!(
        ProjectionPosition,
        "select s.seal, s.generation from standings_progress s"
    );
    row.fetch_optional(pool).await
}

/// Locks the row of the position. Returns `None` while another process holds it. If the stored
/// position belongs to another calendar, all standings are deleted and the position is reset.
pub(super) async fn lock_position(
    connection: &mut PgConnection,
    calendar: &Calendar,
) -> Result<Option<ProjectionPosition>, sqlx::Error> {
    let calendar = calendar.to_string();
    sqlx::query!(
        "
        insert into standings_progress (seal, calendar, generation)
        values (0, $1, 1)
        on conflict (is_only) do nothing
        ",
        calendar
    )
    .execute(&mut *connection)
    .await?;
    let row = sqlx::query!(
        "
        select s.seal, s.calendar, s.generation
        from standings_progress s
        for no key update skip locked
        "
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    if row.calendar == calendar {
        return Ok(Some(ProjectionPosition { seal: row.seal, generation: row.generation }));
    }
    tracing::warn!(before = %row.calendar, now = %calendar, "standings are rebuilt");
    sqlx::query!("delete from board_scores").execute(&mut *connection).await?;
    sqlx::query!("delete from player_counters").execute(&mut *connection).await?;
    sqlx::query!("delete from player_statistics").execute(&mut *connection).await?;
    sqlx::query!("delete from game_results").execute(&mut *connection).await?;
    let generation = sqlx::query_scalar!(
        "
        update standings_progress
        set seal = 0, calendar = $1, generation = generation + 1
        returning generation
        ",
        calendar
    )
    .fetch_one(connection)
    .await?;
    Ok(Some(ProjectionPosition { seal: 0, generation }))
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

/// Reads the operations of a seal, in its order.
pub(super) async fn read_seal(
    connection: &mut PgConnection,
    seal: i64,
) -> Result<Option<Vec<i64>>, sqlx::Error> {
    sqlx::query_scalar!("select s.operations from seals s where s.number = $1", seal)
        .fetch_optional(connection)
        .await
}

/// Reads the games that these operations settled, in their order. During a recomputation old
/// records come from the archive.
pub(super) async fn read_settled_games(
    connection: &mut PgConnection,
    records: &Records,
    operations: &[i64],
) -> Result<Vec<SettledGame>, StandingsError> {
    let rows = sqlx::query!(
        r#"
        select g.id, g.kind, g.finished_at as "finished_at!: SqlTimestamp",
            r.settlement as "settlement!", r.record as "record?", t.players as "players!",
            t.nets as "nets!", t.bots as "bots!", g.room = $2 as "is_private!"
        from unnest($1::bigint[]) with ordinality as s (operation, place)
        join operations o on o.id = s.operation and o.kind = 'settle'
        join games g on g.id = o.game
        join game_records r on r.game = g.id
        cross join lateral (
            select array_agg(q.player) as players, array_agg(q.net) as nets,
                coalesce(array_agg(q.player) filter (where q.is_bot), '{}') as bots
            from (
                select p.player, p.net, h.id is not null as is_bot
                from game_players p
                left join players h on h.id = p.player and h.kind = 'bot'
                where p.game = g.id
                order by p.seat
            ) q
        ) t
        order by s.place
        "#,
        operations,
        PRIVATE_ROOM
    )
    .fetch_all(&mut *connection)
    .await?;
    let moved: Vec<Uuid> =
        rows.iter().filter(|row| row.record.is_none()).map(|row| row.id).collect();
    let mut moved = records.read_archived_in_tx(connection, &moved).await?;
    // A replay uses the CPU, so it runs outside of the async threads.
    let counted = tokio::task::spawn_blocking(move || {
        let games = rows.into_iter().map(|row| {
            let settlement: Settlement = serde_json::from_value(row.settlement)?;
            let player = |seat: bahay_engine::seat::Seat| {
                row.players.get(seat.index()).copied().map(PlayerId)
            };
            let nets = row.players.iter().zip(&row.nets);
            let seated: Vec<PlayerId> = row.players.iter().copied().map(PlayerId).collect();
            let record = match row.record {
                Some(record) => Ok(record),
                None => {
                    moved.remove(&row.id).unwrap_or_else(|| Err(sqlx::Error::RowNotFound.into()))
                }
            };
            let end = replay_to_end(row.id, record);
            let (ending, counts) =
                end.map(|game| ending_and_counts(&game, &seated)).unwrap_or_default();
            Ok(SettledGame {
                game: GameId(row.id),
                kind: row.kind,
                finished_at: clock::from_jiff(row.finished_at.to_jiff()),
                ending,
                counts,
                winner: settlement.winner.and_then(player),
                pot: settlement.pot.and_then(|pot| Some((player(pot.seat)?, pot.amount))),
                is_ranked: row.bots.is_empty() && !row.is_private,
                nets: nets
                    .filter(|(player, _)| !row.bots.contains(player))
                    .map(|(player, net)| (PlayerId(*player), Coins::from_hundredths(*net)))
                    .collect(),
            })
        });
        games.collect::<Result<Vec<_>, serde_json::Error>>()
    });
    counted
        .await
        .map_err(|error| StandingsError::Unreadable(error.to_string()))?
        .map_err(|error| StandingsError::Unreadable(error.to_string()))
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
    let unknown = || sqlx::Error::Decode(format!("unknown board: {board} {span}").into());
    let board = Board::ALL.into_iter().find(|one| one.as_str() == board).ok_or_else(unknown)?;
    let span = Span::ALL.into_iter().find(|one| one.as_str() == span).ok_or_else(unknown)?;
    Ok(ScoreKey { kind, board, span, starts_on, player: PlayerId(player) })
}
