//! The projection of pairs, against the ledger in plain SQL.

use bahay::reports::PeriodDays;
use bahay::reports::pairs::signs::PairEvidence;
use bahay::standings::Calendar;
use bahay::zone::Zone;
use sqlx::PgPool;
use uuid::Uuid;

use super::generated::{NOW, history};
use crate::support::checks::{count_pairs, count_reports};
use crate::support::db::{execute, read_rows, read_value};

/// The payments of each pair of players in each game, from the transfers of the ledger: the game,
/// its end, the smaller and the larger id, and the payments in both directions.
const BOOKED: &str = "
    select m.game, m.finished_at, m.first, m.second,
        coalesce(sum(t.amount) filter (where t.payer = m.first), 0)::bigint as paid,
        coalesce(sum(t.amount) filter (where t.payer = m.second), 0)::bigint as received
    from (
        select a.game, a.finished_at, a.player as first, b.player as second
        from game_players a
        join game_players b on b.game = a.game and a.player < b.player
        join players f on f.id = a.player and f.kind <> 'bot'
        join players s on s.id = b.player and s.kind <> 'bot'
        where a.finished_at is not null
    ) m
    left join (
        select o.game, p.player as payer, d.player as payee, t.amount
        from transfers t
        join operations o on o.id = t.operation
        join accounts s on s.id = t.source
        join accounts d on d.id = t.destination
        join game_players p on s.code = 'stake:' || p.game || ':' || p.seat
        where t.code = 'payment'
    ) t on t.game = m.game
        and ((t.payer = m.first and t.payee = m.second)
            or (t.payer = m.second and t.payee = m.first))
    group by m.game, m.finished_at, m.first, m.second";

/// A row of `pair_days` as text.
async fn read_days(pool: &PgPool) -> Vec<(String, Uuid, Uuid, i64, String)> {
    let rows = "
        select d.day::text, d.first, d.second, d.games,
            concat_ws(' ', d.paid, d.received, d.games_paid, d.games_received, d.squares::bigint)
        from pair_days d order by d.day, d.first, d.second";
    read_rows(pool, rows).await
}

async fn read_booked_days(pool: &PgPool, zone: &str) -> Vec<(String, Uuid, Uuid, i64, String)> {
    let rows = format!(
        "
        select (b.finished_at at time zone '{zone}')::date::text, b.first, b.second, count(*),
            concat_ws(' ', sum(b.paid), sum(b.received), count(*) filter (where b.paid > b.received),
                count(*) filter (where b.paid < b.received),
                sum((b.paid - b.received) * (b.paid - b.received)))
        from ({BOOKED}) b
        group by 1, 2, 3
        order by 1, 2, 3"
    );
    read_rows(pool, &rows).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_of_pairs_are_those_of_the_ledger_by_days_of_the_zone() {
    let (database, pool, _) = history(1_500, 9).await;
    let owner = database.owner_pool().await;
    let made_bot = "update players set kind = 'bot'
        where id = (select p.player from game_players p order by p.player limit 1)";
    execute(&owner, made_bot).await;
    let reports = count_reports(&pool).await;
    let manila = Calendar::default();
    count_pairs(&reports, manila.time_zone()).await;
    let rows = read_days(&pool).await;
    assert!(rows.len() > 150, "{} rows", rows.len());
    assert_eq!(rows, read_booked_days(&pool, "Asia/Manila").await);
    let played = "select (select sum(d.games) from player_days d)::bigint
        - (select count(*) from game_players p where p.finished_at is not null)";
    assert_eq!(read_value::<i64>(&pool, played).await, 0);

    // Another zone rebuilds the rows.
    let zone: Zone = "America/Lima".parse().unwrap();
    count_pairs(&reports, zone.time_zone()).await;
    let moved = read_days(&pool).await;
    assert_ne!(moved, rows);
    assert_eq!(moved, read_booked_days(&pool, "America/Lima").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ranking_of_a_period_has_the_figures_of_plain_sql() {
    let (_database, pool, _) = history(600, 9).await;
    let reports = count_reports(&pool).await;
    let pairs = count_pairs(&reports, Calendar::default().time_zone()).await;
    let days = PeriodDays { first: "2025-12-20".parse().unwrap(), ..pairs.days(None, NOW) };
    let sums = format!(
        "
        with booked as materialized ({BOOKED}),
        inside as materialized (
            select * from booked b
            where (b.finished_at at time zone 'Asia/Manila')::date between '{}' and '{}'
        ),
        played as (
            select p.player, count(*) as games
            from game_players p
            where (p.finished_at at time zone 'Asia/Manila')::date between '{}' and '{}'
            group by p.player
        )
        select i.first, i.second, count(*),
            least(
                (select p.games from played p where p.player = i.first),
                (select p.games from played p where p.player = i.second)
            ),
            sum(i.paid - i.received)::bigint,
            trunc(1000 * sqrt(sum((i.paid - i.received)::numeric ^ 2)))::bigint
        from inside i
        group by i.first, i.second",
        days.first, days.last, days.first, days.last
    );
    let sums: Vec<(Uuid, Uuid, i64, i64, i64, i64)> = read_rows(&pool, &sums).await;
    let mut expected: Vec<_> = sums
        .into_iter()
        .map(|(first, second, games, of, net_transfer, deviation)| {
            let evidence = PairEvidence {
                games,
                of,
                net_transfer: 1_000 * net_transfer,
                deviation,
                shared: None,
            };
            (std::cmp::Reverse(evidence.score()), first, second, games, of, net_transfer)
        })
        .filter(|row| row.0.0 > 0)
        .collect();
    expected.sort();
    let mut ranked = Vec::new();
    let mut below = None;
    loop {
        let page = pairs.list(days, None, below, 3).await.unwrap();
        ranked.extend(page.items);
        below = page.next;
        if below.is_none() {
            break;
        }
    }
    let ranked: Vec<_> = ranked
        .iter()
        .map(|pair| {
            let net_transfer = pair.paid.hundredths() - pair.received.hundredths();
            let score = std::cmp::Reverse(pair.score);
            (score, pair.first.id, pair.second.id, pair.games, pair.of, net_transfer)
        })
        .collect();
    assert!(ranked.len() > 3, "{ranked:?}");
    assert_eq!(ranked, expected);
}
