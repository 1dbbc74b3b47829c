//! Indicators of collusion around a player: frequent partners, the coins paid in each direction, and
//! sign-ins from the same device or address. They are indicators and no proof: friends meet, and
//! families share a phone.
//!
//! The report covers the newest [`GAMES_MAX`] games, so its duration is bounded for every player.

use bahay_api::Coins;
use bahay_api::operator::players::{Partner, SharedBy, SharedSignal};
use bahay_engine::table::PlayerId;
use uuid::Uuid;

use crate::db;
use crate::reports::{ReportError, Reports};

/// The number of the player's newest games that are evaluated.
pub const GAMES_MAX: i64 = 500;

/// The maximum number of listed partners.
const PARTNERS_MAX: i64 = 20;

impl Reports {
    /// Returns the partners with whom the player has played most, of the newest games.
    pub async fn partners(&self, player: PlayerId) -> Result<Vec<Partner>, ReportError> {
        let shared = self.linked_players(player).await?;
        let once = || {
            sqlx::query!(
                r#"
                with own as materialized (
                    select m.game, m.seat
                    from game_players m
                    where m.player = $1 and m.finished_at is not null
                    order by m.finished_at desc, m.game desc
                    limit $2
                ),
                met as (
                    select p.player, o.game,
                        coalesce(sum(w.paid) filter (where w.source = o.seat), 0) as paid,
                        coalesce(sum(w.paid) filter (where w.source = p.seat), 0) as received
                    from own o
                    join game_players p on p.game = o.game and p.player <> $1
                    left join game_records r on r.game = o.game
                    left join lateral (
                        select (y ->> 'from')::smallint as source,
                            (y ->> 'to')::smallint as destination, (y ->> 'paid')::bigint as paid
                        from jsonb_array_elements(r.settlement -> 'payments') y
                    ) w on (w.source = o.seat and w.destination = p.seat)
                        or (w.source = p.seat and w.destination = o.seat)
                    group by p.player, o.game
                )
                select m.player, n.name, count(*) as "games!",
                    (select count(*) from own) as "of!", sum(m.paid)::bigint as "paid!",
                    sum(m.received)::bigint as "received!",
                    count(*) filter (where m.paid > 0) as "games_paid!",
                    count(*) filter (where m.received > 0) as "games_received!"
                from met m
                join players n on n.id = m.player
                group by m.player, n.name
                order by count(*) desc, m.player
                limit $3
                "#,
                player.0,
                GAMES_MAX,
                PARTNERS_MAX
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let found = shared.iter().find(|one| one.player == row.player);
            Partner {
                player: row.player,
                name: row.name,
                games: row.games,
                of: row.of,
                paid: Coins::from_hundredths(row.paid),
                received: Coins::from_hundredths(row.received),
                games_paid: row.games_paid,
                games_received: row.games_received,
                shared: found.map(|one| one.shared),
            }
        });
        Ok(rows.collect())
    }

    /// Returns the players who have signed in from the same device or network.
    pub async fn linked_players(&self, player: PlayerId) -> Result<Vec<SharedBy>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                with own as materialized (
                    select s.device, s.network
                    from sessions s
                    where s.player = $1
                    order by s.created_at desc
                    limit 200
                ),
                found as (
                    select t.player, true as is_device
                    from (select distinct o.device from own o where o.device is not null) d
                    join sessions t on t.device = d.device
                    union
                    select t.player, false
                    from (select distinct o.network from own o where o.network is not null) a
                    cross join lateral (
                        select t.player from sessions t where t.network = a.network limit 200
                    ) t
                )
                select f.player as "player!: Uuid", n.name, bool_or(f.is_device) as "is_device!"
                from found f
                join players n on n.id = f.player
                where f.player <> $1
                group by f.player, n.name
                order by bool_or(f.is_device) desc, f.player
                limit 50
                "#,
                player.0
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| SharedBy {
            player: row.player,
            name: row.name,
            shared: if row.is_device { SharedSignal::Device } else { SharedSignal::Address },
        });
        Ok(rows.collect())
    }
}
