//! The comparison of a player's games with those of the same cards at other tables of a round, for a
//! duplicate tournament.

use bahay_engine::table::{GameId, PlayerId, TournamentId};
use serde::Deserialize;
use sqlx::PgPool;
use sqlx::types::Json;

use crate::db;

/// A player's game of a round, beside those of the players in the same seat at other tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedGame {
    pub game: GameId,
    /// The number of the player's table in the round, from 1.
    pub table_number: u32,
    /// The number of the game at its table, from 1.
    pub number: u32,
    /// The player's seat, from 0.
    pub seat: u8,
    /// The player's points, in hundredths.
    pub points: i64,
    /// The numbers of other players with fewer, equal and more points.
    pub fewer: u32,
    pub equal: u32,
    pub more: u32,
    /// The mean of the others' points, rounded toward zero; `None` without others.
    pub others_mean: Option<i64>,
    /// The others with the most points, the best first.
    pub others: Vec<ComparedScore>,
}

/// The points of a player who held the same cards.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ComparedScore {
    pub player: PlayerId,
    pub table_number: u32,
    /// Hundredths of a point.
    pub points: i64,
}

/// Compares the games that a player has played in a round, in their order, with at most `limit`
/// others for each. Empty for a player without a table in the round.
pub async fn compare_round(
    pool: &PgPool,
    tournament: TournamentId,
    round: u32,
    player: PlayerId,
    limit: u32,
) -> Result<Vec<ComparedGame>, sqlx::Error> {
    let query = || {
        sqlx::query!(
            r#"
            with own as (
                select g.game, g.number, g.table_number, (s.place - 1)::integer as seat,
                    (s.score ->> 'points')::bigint as points
                from tournament_games g
                cross join lateral jsonb_array_elements(g.scores)
                    with ordinality as s (score, place)
                where g.tournament = $1 and g.round = $2 and g.scored_in is not null
                    and s.score ->> 'player' = $3
            ),
            others as (
                select o.number, g.table_number, g.scores -> o.seat ->> 'player' as player,
                    (g.scores -> o.seat ->> 'points')::bigint as points,
                    row_number() over (
                        partition by o.number
                        order by (g.scores -> o.seat ->> 'points')::bigint desc, g.table_number
                    ) as place
                from own o
                join tournament_games g
                    on g.tournament = $1 and g.round = $2 and g.number = o.number
                where g.table_number <> o.table_number and g.scored_in is not null
            )
            select w.game as "game!", w.number as "number!", w.table_number as "table_number!",
                w.seat as "seat!", w.points as "points!",
                count(*) filter (where o.points < w.points) as "fewer!",
                count(*) filter (where o.points = w.points) as "equal!",
                count(*) filter (where o.points > w.points) as "more!",
                trunc(sum(o.points) / nullif(count(o.points), 0))::bigint as "others_mean?",
                coalesce(
                    jsonb_agg(
                        jsonb_build_object(
                            'player', o.player, 'table_number', o.table_number, 'points', o.points
                        )
                        order by o.place
                    ) filter (where o.place <= $4),
                    '[]'
                ) as "others!: Json<Vec<ComparedScore>>"
            from own w
            left join others o on o.number = w.number
            group by w.game, w.number, w.table_number, w.seat, w.points
            order by w.number
            "#,
            tournament.0,
            i32::try_from(round).unwrap_or(i32::MAX),
            player.to_string(),
            i64::from(limit)
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter();
    let rows = rows.map(|row| ComparedGame {
        game: GameId(row.game),
        table_number: u32::try_from(row.table_number).unwrap_or_default(),
        number: u32::try_from(row.number).unwrap_or_default(),
        seat: u8::try_from(row.seat).unwrap_or_default(),
        points: row.points,
        fewer: to_count(row.fewer),
        equal: to_count(row.equal),
        more: to_count(row.more),
        others_mean: row.others_mean,
        others: row.others.0,
    });
    Ok(rows.collect())
}

fn to_count(column: i64) -> u32 {
    u32::try_from(column).unwrap_or(u32::MAX)
}
