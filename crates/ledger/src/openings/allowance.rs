//! The allowances of players at private tables: see [`crate::allowance`].

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use sqlx::{PgConnection, PgExecutor};

use crate::Ledger;
use crate::allowance::{Allowance, DAY, DAYS, RecentResults};
use crate::error::LedgerError;
use crate::operation::GameStart;
use bahay_base::clock::Timestamp;
use bahay_base::ids::PRIVATE_ROOM;

impl Ledger {
    /// Returns what a player may still win at private tables.
    pub async fn allowance_left(
        &self,
        player: PlayerId,
        now: Timestamp,
    ) -> Result<Coins, LedgerError> {
        let players = [player];
        let once = || read_recent_results(&self.reads, &players, None, now);
        let recent = bahay_db::retry(once).await?;
        Ok(self.allowance.remaining(&recent.get(&player).copied().unwrap_or_default()))
    }
}

/// Returns what the players of an opening at a private table may still win.
pub(crate) async fn read_limits(
    connection: &mut PgConnection,
    allowance: Allowance,
    opening: &GameStart,
) -> Result<BTreeMap<PlayerId, Coins>, sqlx::Error> {
    let now = Timestamp::from_ms(opening.opened_at_ms);
    let GameStart { game, players, .. } = opening;
    let recent = read_recent_results(connection, players, Some(*game), now).await?;
    Ok(recent.iter().map(|(player, recent)| (*player, allowance.remaining(recent))).collect())
}

/// Reads the results of the last days by player. Open games count, except `opening`.
async fn read_recent_results(
    executor: impl PgExecutor<'_>,
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
        bahay_db::to_sql(now) as _,
        i64::try_from(DAY.as_secs()).unwrap_or(i64::MAX),
        PRIVATE_ROOM,
        i32::try_from(DAYS).unwrap_or(i32::MAX)
    )
    .fetch_all(executor)
    .await?;
    let recent = rows.into_iter().map(|row| {
        let mut won = [Coins::ZERO; DAYS];
        for (day, hundredths) in won.iter_mut().zip(row.won) {
            *day = Coins::from_hundredths(hundredths);
        }
        let [fees, at_stake] = [row.fees, row.open].map(Coins::from_hundredths);
        (PlayerId(row.player), RecentResults { won, fees, at_stake })
    });
    Ok(recent.collect())
}
