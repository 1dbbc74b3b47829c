//! Coins of new players that accumulate at one player, as reports count them, against the ledger.

use uuid::Uuid;

use super::generated::history;
use crate::support::checks::count_reports;
use crate::support::db::{execute, read_rows};

/// Winnings from new players are counted as posted, whoever won.
#[tokio::test(flavor = "multi_thread")]
async fn coins_of_new_players_are_counted_as_they_were_booked() {
    let (database, pool, _) = history(60, 6).await;
    let owner = database.owner_pool().await;
    // Some players are new during a part of the games.
    for made in [
        "update players set created_at = '2000-01-01'",
        "update players set created_at = (
             select percentile_disc(0.5) within group (order by g.finished_at) from games g
         ) - interval '7 days'
         where id in (select p.id from players p where p.kind = 'guest' order by p.id limit 3)",
    ] {
        execute(&owner, made).await;
    }
    count_reports(&pool).await;
    let counted = "select c.player, sum(c.amount)::bigint from newcomer_coins c group by c.player
         having sum(c.amount) <> 0 order by c.player";
    let counted: Vec<(Uuid, i64)> = read_rows(&pool, counted).await;
    let booked = "
        with paid as (
            select f.id as payer, f.created_at as payer_made, w.id as payee,
                w.created_at as payee_made, t.amount, g.finished_at
            from transfers t
            join operations o on o.id = t.operation
            join games g on g.id = o.game
            join accounts s on s.id = t.source
            join accounts d on d.id = t.destination
            join game_players p on s.code = 'stake:' || p.game || ':' || p.seat
            join players f on f.id = p.player
            join players w on w.id = d.player
            where t.code = 'payment'
        )
        select n.player, sum(n.amount)::bigint
        from (
            select payee as player, amount from paid
            where payer_made > finished_at - interval '7 days'
            union all
            select payer, -amount from paid where payee_made > finished_at - interval '7 days'
        ) n
        group by n.player
        having sum(n.amount) <> 0
        order by n.player";
    let booked: Vec<(Uuid, i64)> = read_rows(&pool, booked).await;
    assert!(counted.len() > 3, "{counted:?}");
    assert_eq!(counted, booked);
}
