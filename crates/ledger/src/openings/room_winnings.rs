//! The coins that players have won of each other in rooms within 24 hours: see
//! [`crate::allowance::Winnings`].
//!
//! Before a player is seated, the games of all rooms count. When a game is opened, in its
//! transaction, only the games of its table count: the same players can continue there without
//! being matched again, and few rows are read. So the winnings of a day stay within twice the
//! limit.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use sqlx::PgConnection;

use crate::Ledger;
use crate::allowance::{DAY, Winnings};
use crate::error::LedgerError;
use crate::operation::GameStart;
use bahay_base::clock::Timestamp;
use bahay_base::ids::PRIVATE_ROOM;

impl Ledger {
    /// Returns what a player has won of each other player in rooms within 24 hours. House bots do
    /// not count.
    pub async fn room_winnings(
        &self,
        player: PlayerId,
        now: Timestamp,
    ) -> Result<Winnings, LedgerError> {
        let once = || {
            sqlx::query!(
                r#"
                select o.player, sum(
                    sign(p.net) * least(abs(p.net), abs(o.net)) * 1000 / greatest(p.stake, o.stake)
                )::bigint as "won!"
                from game_players p
                join games g on g.id = p.game and g.room <> $3
                join game_players o on o.game = p.game and sign(o.net) * sign(p.net) = -1
                join players h on h.id = o.player and h.kind <> 'bot'
                where p.player = $1
                    and p.finished_at > $2::timestamptz - $4::bigint * interval '1 second'
                group by o.player
                "#,
                player.0,
                bahay_db::to_sql(now) as _,
                PRIVATE_ROOM,
                day_seconds()
            )
            .fetch_all(&self.reads)
        };
        let rows = bahay_db::retry(once).await?.into_iter();
        Ok(rows.map(|row| (PlayerId(row.player), row.won)).collect())
    }
}

/// Returns a limit of zero for each player of these openings in rooms who has reached a limit at the
/// same table.
pub(crate) async fn read_limits(
    connection: &mut PgConnection,
    openings: &[&GameStart],
) -> Result<BTreeMap<PlayerId, Coins>, sqlx::Error> {
    if openings.is_empty() {
        return Ok(BTreeMap::new());
    }
    let tables: Vec<_> = openings.iter().map(|opening| opening.table.0).collect();
    let times = openings.iter().map(|opening| Timestamp::from_ms(opening.opened_at_ms));
    let times: Vec<_> = times.map(bahay_db::to_sql).collect();
    let players = openings.iter().flat_map(|opening| &opening.players);
    let players: Vec<_> = players.map(|player| player.0).collect();
    let rows = sqlx::query!(
        r#"
        select g.table_id, p.player, o.player as partner, sum(
            sign(p.net) * least(abs(p.net), abs(o.net)) * 1000 / greatest(p.stake, o.stake)
        )::bigint as "won!"
        from (
            -- A batch may hold an opening twice.
            select a.table_id, min(a.opened_at) as opened_at
            from unnest($1::uuid[], $2::timestamptz[]) as a (table_id, opened_at)
            group by a.table_id
        ) n
        join games g on g.table_id = n.table_id
            and g.finished_at > n.opened_at - $4::bigint * interval '1 second'
        join game_players p on p.game = g.id and p.player = any($3)
        join game_players o on o.game = g.id and sign(o.net) * sign(p.net) = -1
        join players h on h.id = o.player and h.kind <> 'bot'
        group by g.table_id, p.player, o.player
        "#,
        &tables,
        &times as _,
        &players,
        day_seconds()
    );
    let mut winnings = BTreeMap::<_, Winnings>::new();
    for row in rows.fetch_all(connection).await? {
        let won = winnings.entry((row.table_id, PlayerId(row.player))).or_default();
        won.add(PlayerId(row.partner), row.won);
    }
    let mut limits = BTreeMap::new();
    for GameStart { table, players, .. } in openings {
        let is_limited = |player: &&PlayerId| {
            winnings.get(&(table.0, **player)).is_some_and(|won| {
                won.is_day_limit_reached()
                    || players.iter().any(|other| won.is_pair_limit_reached(*other))
            })
        };
        limits.extend(players.iter().filter(is_limited).map(|player| (*player, Coins::ZERO)));
    }
    Ok(limits)
}

fn day_seconds() -> i64 {
    i64::try_from(DAY.as_secs()).unwrap_or(i64::MAX)
}
