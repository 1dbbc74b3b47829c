//! Reads of what players may still win at private tables: see [`crate::allowance`].
//!
//! The reads follow the reading of the wallets of a game that is to be opened, or happen under the
//! locks of these wallets. Every event that reduces an allowance (a won game, or a game opened
//! elsewhere) also changes the player's wallet, so optimistic concurrency control rejects an
//! opening that was decided on outdated values. An event that raises an allowance (a fee or a lost
//! game) may be seen some seconds late: fees come from the projection of settlements.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{GameId, PlayerId};
use jiff_sqlx::ToSqlx as _;
use sqlx::{PgConnection, PgPool};

use super::error::LedgerError;
use super::operation::{Operation, Request, WinLimit, seats_of};
use crate::allowance::{Allowance, DAY, DAYS, RecentResults};
use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::PRIVATE_ROOM;

/// Returns what a player may still win at `now`.
pub(super) async fn read_remaining(
    pool: &PgPool,
    allowance: Allowance,
    player: PlayerId,
    now: Timestamp,
) -> Result<Coins, LedgerError> {
    let once =
        || async { read_recent_results(&mut *pool.acquire().await?, &[player], None, now).await };
    let recent = db::retry(once).await?;
    Ok(allowance.remaining(&recent.get(&player).copied().unwrap_or_default()))
}

/// Returns what the players of the requested openings at private tables may still win.
pub(super) async fn read_for_openings(
    connection: &mut PgConnection,
    requests: &[&Request],
) -> Result<BTreeMap<PlayerId, Coins>, sqlx::Error> {
    let mut win_limits = BTreeMap::new();
    for request in requests {
        let (Operation::Open(input), WinLimit::Private(allowance)) =
            (&request.operation, request.limit)
        else {
            continue;
        };
        let now = Timestamp::from_ms(input.opened_at_ms);
        let recent = read_recent_results(connection, &input.players, Some(input.game), now).await?;
        win_limits
            .extend(recent.iter().map(|(player, recent)| (*player, allowance.remaining(recent))));
    }
    Ok(win_limits)
}

/// Writes a notice of this kind to each player at `seats`, at most once per game.
pub(super) async fn write_notices(
    pool: &PgPool,
    kind: &str,
    game: GameId,
    players: &[PlayerId],
    seats: SeatSet,
) -> Result<(), LedgerError> {
    let players = seats_of(players).filter(|(seat, _)| seats.contains(*seat));
    let players: Vec<_> = players.map(|(_, player)| player.0).collect();
    let once = || {
        // The id is derived from the content, so a retry inserts no second notice.
        sqlx::query!(
            r#"
            insert into notices (id, player, kind)
            select md5($3::text || ':' || $1::text || ':' || p.player)::uuid, p.player, $3::text
            from unnest($2::uuid[]) as p (player)
            on conflict (id) do nothing
            "#,
            game.to_string(),
            &players,
            kind
        )
        .execute(pool)
    };
    db::retry(once).await?;
    Ok(())
}

/// Reads the results of the last days by player. Open games count, except `opening`.
async fn read_recent_results(
    connection: &mut PgConnection,
    players: &[PlayerId],
    opening: Option<GameId>,
    now: Timestamp,
) -> Result<BTreeMap<PlayerId, RecentResults>, sqlx::Error> {
    let players: Vec<_> = players.iter().map(|player| player.0).collect();
    let rows = sqlx::query!(
        r#"
        select n.player as "player!", won.by_day as "won!", rooms.fees as "fees!",
            open.most as "open!"
        from unnest($1::uuid[]) as n (player)
        -- Winnings of house bots belong to the house and are not limited.
        join players h on h.id = n.player and h.kind <> 'bot'
        cross join lateral (
            select array_agg(coalesce(w.won, 0)::bigint order by d.number) as by_day
            from generate_series(0, $6::integer - 1) d (number)
            left join (
                select greatest(0, extract(epoch from $3::timestamptz - p.finished_at) / $4::bigint)::integer
                        as number,
                    sum(p.net) as won
                from game_players p
                join games g on g.id = p.game and g.room = $5
                where p.player = n.player and p.finished_at > $3::timestamptz - $4 * $6 * interval '1 second'
                group by 1
            ) w on w.number = d.number
        ) won
        cross join lateral (
            select coalesce(sum(s.fee), 0)::bigint as fees
            from game_players p
            join settlements s on s.game = p.game and s.winner = p.player and s.room <> $5
            where p.player = n.player and p.finished_at > $3::timestamptz - $4 * $6 * interval '1 second'
        ) rooms
        cross join lateral (
            select coalesce(sum(o.stakes + coalesce(a.balance, 0)), 0)::bigint as most
            from game_players p
            join games g on g.id = p.game and g.room = $5
            cross join lateral (
                select sum(q.stake) as stakes
                from game_players q
                where q.game = p.game and q.player <> p.player
            ) o
            left join accounts a on a.code = 'pot:' || g.table_id
            where p.player = n.player and p.finished_at is null
                and ($2::uuid is null or p.game <> $2)
        ) open
        "#,
        &players,
        opening.map(|game| game.0),
        clock::to_jiff(now).to_sqlx() as _,
        i64::try_from(DAY.as_secs()).unwrap_or(i64::MAX),
        PRIVATE_ROOM,
        i32::try_from(DAYS).unwrap_or(i32::MAX)
    )
    .fetch_all(connection)
    .await?;
    let recent = rows.into_iter().map(|row| {
        let mut won = [Coins::ZERO; DAYS];
        for (day, hundredths) in won.iter_mut().zip(row.won) {
            *day = Coins::from_hundredths(hundredths);
        }
        let fees = row.fees;
        let at_stake = row.open;
        let [fees, at_stake] = [fees, at_stake].map(Coins::from_hundredths);
        (PlayerId(row.player), RecentResults { won, fees, at_stake })
    });
    Ok(recent.collect())
}
