//! The list of a player's finished games, newest first, with its filters.
//!
//! The ending of a game is projected from its record some seconds after the settlement (see
//! `standings`); until then a filter by endings does not match it.

use bahay_api::Coins;
use bahay_api::player::games::{GameFilter, GameSummary};
use bahay_engine::table::PlayerId;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgPool;
use uuid::Uuid;

use super::{GameOutcome, PAGE_MAX, parse_seat};
use crate::clock::{BoundedTimestamp, Timestamp};
use crate::db::{self, Page, from_sql, to_sql};
use crate::ids::{GameName, RoomId};

/// Lists a player's finished games, including voided ones, newest first, from below the time of
/// finishing and the id of a game.
pub async fn list_by_player(
    pool: &PgPool,
    player: PlayerId,
    filter: &GameFilter,
    below: Option<(Timestamp, Uuid)>,
    limit: u32,
) -> Result<Page<GameSummary, (Timestamp, Uuid)>, sqlx::Error> {
    let limit = limit.clamp(1, PAGE_MAX);
    let (finished_at, game) = below.unwrap_or((BoundedTimestamp::MAX.into(), Uuid::max()));
    let query = || {
        sqlx::query!(
            r#"
            select n.game as "game!", n.kind as "kind!", n.table_id as "table_id!",
                n.room as "room!", n.state as "state!", n.seat as "seat!", n.ante as "ante!",
                n.stake as "stake!", n.net as "net!", n.bots as "bots!",
                n.outcome as "outcome!", n.ending as "ending?",
                n.opened_at as "opened_at!: SqlTimestamp",
                n.finished_at as "finished_at!: SqlTimestamp",
                (
                    select o.created_at
                    from operation_keys s
                    join operation_keys k on k.key = 'reverse:' || s.operation
                    join operations o on o.id = k.operation
                    where s.key = 'settle:' || n.game
                ) as "reversed_at?: SqlTimestamp"
            from (
                select p.game, g.kind, g.table_id, g.room, g.state, p.seat, g.ante, p.stake, p.net,
                    case
                        when g.state = 'voided' then 'voided'
                        when p.net > 0 then 'won'
                        when p.net < 0 then 'lost'
                        else 'drawn'
                    end as outcome,
                    r.ending, g.opened_at, p.finished_at,
                    (
                        select count(*)
                        from game_players o
                        join players h on h.id = o.player
                        where o.game = p.game and h.kind = 'bot'
                    ) as bots
                from game_players p
                join games g on g.id = p.game
                left join game_results r on r.game = p.game
                where p.player = $1 and p.finished_at is not null
                    and (p.finished_at, p.game) < ($2::timestamptz, $3::uuid)
                    and ($4::text is null or g.room = $4)
                    and ($5::timestamptz is null or p.finished_at >= $5)
                    and ($6::timestamptz is null or p.finished_at < $6)
                    and ($10::text is null or g.kind = $10)
            ) n
            where ($7::text is null or n.outcome = $7) and ($8::text is null or n.ending = $8)
            order by n.finished_at desc, n.game desc
            limit $9
            "#,
            player.0,
            to_sql(finished_at) as _,
            game,
            filter.room.as_ref().map(RoomId::as_str),
            filter.from.map(|from| to_sql(from.into())) as _,
            filter.to.map(|to| to_sql(to.into())) as _,
            filter.outcome.map(GameOutcome::as_str),
            filter.ending.as_ref().map(GameName::as_str),
            i64::from(limit) + 1,
            filter.kind.as_ref().map(GameName::as_str)
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?;
    let rows = rows.into_iter().map(|row| {
        Ok(GameSummary {
            id: row.game,
            kind: row.kind,
            table: row.table_id,
            room: row.room,
            state: db::parse_column(&row.state)?,
            outcome: db::parse_column(&row.outcome)?,
            ending: row.ending,
            seat: parse_seat(row.seat)?.number(),
            bots: u8::try_from(row.bots).unwrap_or(u8::MAX),
            ante: Coins::from_hundredths(row.ante),
            stake: Coins::from_hundredths(row.stake),
            net: match row.reversed_at {
                Some(_) => Coins::default(),
                None => Coins::from_hundredths(row.net),
            },
            reversed_at: row.reversed_at.map(|at| from_sql(at).into()),
            opened_at: from_sql(row.opened_at).into(),
            finished_at: from_sql(row.finished_at).into(),
        })
    });
    let rows = rows.collect::<Result<Vec<_>, sqlx::Error>>()?;
    Ok(Page::from_rows(rows, limit, |last| (last.finished_at.into(), last.id)))
}
