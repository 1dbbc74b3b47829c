//! Lists and totals of settlements over a generated history: every filter and order yields what plain
//! SQL does, page by page, and a player's totals are the change of the wallet.

use bahay::reports::{Reports, SettlementFilter};
use bahay_api::operator::settlements::{SettlementKey, SettlementOrder};
use bahay_engine::catalog;
use bahay_engine::game::TitledName;
use futures_util::TryStreamExt as _;
use sqlx::PgPool;
use uuid::Uuid;

use super::generated::{OTHER, bank_player, filters, history};
use crate::support::bank::KIND;
use crate::support::checks::count_reports;
use crate::support::csv::CsvFile;
use crate::support::db::{execute, read_pages, read_row, read_rows, read_value, read_values};
use crate::support::waiting::wait_for;

/// Returns the place of a column's text in the order of the titles, as SQL: 0 for an unknown one.
fn rank<'a>(titled: impl Iterator<Item = (&'a str, &'a str)>, column: &str) -> String {
    let mut titled: Vec<(&str, &str)> = titled.collect();
    titled.sort();
    let names: Vec<String> = titled.iter().map(|(_, name)| format!("'{name}'")).collect();
    format!("coalesce(array_position(array[{}], {column}), 0)", names.join(", "))
}

/// Asserts that pages list the settlements of a filter in every order as plain SQL does. Returns
/// them newest first.
async fn list_in_every_order(
    pool: &PgPool,
    reports: &Reports,
    filter: &SettlementFilter,
    clause: &str,
) -> Vec<Uuid> {
    let mut newest = Vec::new();
    let kinds = catalog::kinds();
    let titles = |named: &[TitledName]| -> Vec<(&str, &str)> {
        named.iter().map(|one| (one.title, one.name)).collect()
    };
    let endings = rank(kinds.iter().flat_map(|kind| titles(kind.endings)), "ending");
    let kinds = rank(kinds.iter().map(|kind| (kind.title, kind.name)), "kind");
    let rooms = "(
        select count(*)
        from (
            select lower(v.name), r.id
            from rooms r
            join room_revisions v on v.room = r.id and v.revision = r.revision
            union all
            select 'private tables', 'private'
        ) o (name, id)
        join (
            select lower(v.name), v.room
            from room_revisions v
            join rooms r on v.room = r.id and v.revision = r.revision
        ) own (name, id) on own.id = s.room
        where (o.name collate \"C\", o.id collate \"C\") <= (own.name, own.id)
    )";
    for &order in SettlementOrder::ALL {
        let (key, condition) = match order.key() {
            SettlementKey::FinishedAt => ("finished_at", "true"),
            SettlementKey::Gross => ("gross", "true"),
            SettlementKey::Fee => ("fee", "true"),
            SettlementKey::Pot => ("pot", "pot is not null"),
            SettlementKey::Ante => ("ante", "true"),
            SettlementKey::ReversedAt => ("reversed_at", "reversed_at is not null"),
            SettlementKey::Kind => (&*kinds, "true"),
            SettlementKey::Room => (rooms, "true"),
            SettlementKey::Ending => (&*endings, "true"),
            SettlementKey::TakenOver => ("taken_over", "true"),
        };
        let direction = if order.is_descending() { "desc" } else { "asc" };
        let expected = format!(
            "select game from settlements s where {clause} and {condition}
            order by {key} {direction}, finished_at {direction}, game {direction}"
        );
        let expected: Vec<Uuid> = read_values(pool, &expected).await;
        let filter = SettlementFilter { order: Some(order), ..filter.clone() };
        let read = async |cursor| reports.settlements(&filter, cursor, 37).await.unwrap();
        let listed: Vec<_> = read_pages(read).await.iter().map(|row| row.game).collect();
        assert_eq!(listed, expected, "{filter:?}");
        if order == SettlementOrder::Newest {
            newest = expected;
        }
    }
    newest
}

/// Sums the entries of a player's wallet by the openings and settlements of the matching games.
async fn read_wallet_change(pool: &PgPool, player: Uuid, clause: &str) -> i64 {
    let change = format!(
        "select coalesce(sum(e.amount), 0)::bigint
        from (select s.game from settlements s where {clause}) s
        join operation_keys k on k.key in ('open:' || s.game, 'settle:' || s.game)
        join entries e on e.operation = k.operation
        join accounts a on a.id = e.account and a.code = 'wallet:{player}'"
    );
    read_value(pool, &change).await
}

#[tokio::test(flavor = "multi_thread")]
async fn settlements_are_listed_and_totalled_as_they_are_booked() {
    let (database, pool, written) = history(400, 30).await;
    let owner = database.owner_pool().await;
    let other = format!("update games set kind = '{OTHER}' where id::text ~ '[0-4]$'");
    execute(&owner, &other).await;
    // Rooms whose names have another order than their ids.
    let rooms = "
        with rooms_of_games as (
            insert into rooms (id, kind, revision)
            select distinct g.room, 'tongits', 1 from games g
            returning id
        )
        insert into room_revisions (room, revision, name, is_open, rule_set, terms, coins_min)
        select r.id, 1, md5(r.id), true, 'kingdom', '{}', 0 from rooms_of_games r";
    assert!(execute(&owner, rooms).await > 1);
    let reports = count_reports(&pool).await;
    let counts = "select count(*) filter (where taken_over), count(*) from settlements";
    let (takeovers, games): (i64, i64) = read_row(&pool, counts).await;
    assert_eq!(games, i64::try_from(written.games).unwrap());
    assert!(takeovers > 0 && takeovers < games, "{takeovers} of {games}");
    // The record names the origin of actions, whatever its form.
    let by_record = "
        select count(*)
        from game_records r
        where exists (
            select from json_array_elements(r.record::json -> 'actions') a where a ->> 'by' = 'ai'
        )";
    let by_record: i64 = read_value(&pool, by_record).await;
    assert_eq!(takeovers, by_record);

    let counted = "
        select h.kind, sum(h.operations)::bigint
        from operation_hours h
        where h.operation_kind = 'settle'
        group by h.kind
        order by h.kind";
    let counted: Vec<(String, i64)> = read_rows(&pool, counted).await;
    let paid = "
        select h.kind, sum(h.amount)::bigint
        from booked_hours h
        where h.code = 'payment'
        group by h.kind
        order by h.kind";
    let paid: Vec<(String, i64)> = read_rows(&pool, paid).await;
    for (place, kind) in [OTHER, KIND].into_iter().enumerate() {
        let filter = SettlementFilter { kind: kind.parse().ok(), ..SettlementFilter::default() };
        let totals = reports.totals(&filter).await.unwrap();
        assert_eq!(counted[place], (kind.to_owned(), totals.games));
        assert_eq!(paid[place], (kind.to_owned(), totals.gross.hundredths()));
    }

    let player = bank_player(&pool).await;
    for (filter, clause) in filters(player) {
        let expected = list_in_every_order(&pool, &reports, &filter, &clause).await;

        let sums = format!(
            "select count(*), coalesce(sum(w.paid), 0)::bigint,
                coalesce(sum(w.taken), 0)::bigint, coalesce(sum(w.won), 0)::bigint
            from settlements s
            cross join lateral (
                select sum(t.amount) filter (where t.code = 'payment') as paid,
                    sum(t.amount) filter (where t.code = 'fee') as taken,
                    sum(t.amount) filter (where t.code = 'pot') as won
                from operations o
                join transfers t on t.operation = o.id
                where o.key = 'settle:' || s.game
            ) w
            where {clause}"
        );
        let (count, gross, fees, pots): (i64, i64, i64, i64) = read_row(&pool, &sums).await;
        let totals = reports.totals(&filter).await.unwrap();
        let found = [totals.gross, totals.fees, totals.pots].map(|sum| sum.hundredths());
        assert_eq!((totals.games, found), (count, [gross, fees, pots]), "{filter:?}");
        let change = totals.player.map(|sums| sums.change.hundredths());
        let expected_change = match filter.player {
            Some(player) => Some(read_wallet_change(&pool, player, &clause).await),
            None => None,
        };
        assert_eq!(change, expected_change, "{filter:?}");

        let zone = jiff::tz::TimeZone::get("Asia/Manila").unwrap();
        let csv = reports.clone().export(filter.clone(), zone, false);
        let csv: Vec<String> = csv.try_collect().await.unwrap();
        let csv = CsvFile::parse(&csv.concat());
        let exported = csv.column("game").into_iter().map(|id| id.parse().unwrap());
        let exported: Vec<Uuid> = exported.collect();
        assert_eq!(exported, expected, "{filter:?}");
        assert_eq!(csv.hundredths("paid").iter().sum::<i64>(), gross);
        assert_eq!(csv.hundredths("pot").iter().sum::<i64>(), pots);
        // Three players sit at each table, and nothing is reversed.
        let seats = if expected.is_empty() { 0 } else { 3 };
        let is_of_seat = |name: &&String| name.starts_with("seat_");
        assert_eq!(csv.columns.iter().filter(is_of_seat).count(), 3 * seats, "{:?}", csv.columns);
        if !expected.is_empty() {
            csv.assert_no_empty_column(&["ending", "winner_id", "winner_name"]);
        }
    }
}

/// Returns the number of entries that queries have read from the indexes of `settlements`.
async fn count_index_reads(pool: &PgPool) -> i64 {
    let reads = "
        select sum(idx_tup_read)::bigint from pg_stat_user_indexes where relname = 'settlements'";
    read_value(pool, reads).await
}

/// The daily counts bound the settlements that a page by an amount reads, although many settlements
/// have the same ante.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_by_an_amount_reads_few_settlements() {
    let (database, pool, _) = history(1_500, 300).await;
    count_reports(&pool).await.close().await;
    let owner = database.owner_pool().await;
    execute(&owner, "vacuum analyze").await;
    owner.close().await;
    let observer = database.pool().await;
    for &order in SettlementOrder::ALL {
        let is_counted = [
            SettlementKey::Gross,
            SettlementKey::Fee,
            SettlementKey::Ante,
            SettlementKey::Kind,
            SettlementKey::Room,
            SettlementKey::Ending,
            SettlementKey::TakenOver,
        ];
        if !is_counted.contains(&order.key()) {
            continue;
        }
        let before = count_index_reads(&observer).await;
        let reports = Reports::with_own_pool(&pool);
        let filter = SettlementFilter { order: Some(order), ..SettlementFilter::default() };
        let mut next = None;
        for _ in 0..3 {
            let page = reports.settlements(&filter, next, 10).await.unwrap();
            assert_eq!(page.items.len(), 10);
            next = page.next;
        }
        // A connection reports its reads when it ends.
        reports.close().await;
        let read = wait_for("the reads are reported", async || {
            let read = count_index_reads(&observer).await - before;
            (read >= 30).then_some(read)
        });
        let read = read.await;
        assert!(read < 600, "{order}: {read}");
    }
}
