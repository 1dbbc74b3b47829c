//! Reports over a generated history: its books are consistent, every figure equals the ledger's,
//! lists neither lose nor duplicate rows, and no large table is scanned sequentially.

use std::collections::BTreeMap;

use bahay::clock::Timestamp;
use bahay::ids::GameId;
use bahay::ledger::{Grant, Ledger, LedgerOptions};
use bahay::records::Records;
use bahay::reports::{
    Interval, RecordVerdict, Reports, SettlementFilter, TransferTotals, sum_figures,
};
use bahay::standings::{self, Calendar};
use bahay_api::operator::players::{PlayerMatch, SharedSignal};
use bahay_api::operator::settlements::SettlementOrder;
use bahay_api::operator::today::PeriodUnit;
use bahay_engine::testing::TestRng;
use sqlx::PgPool;

use super::generated::{DAY_MS, NOW, bank_player, filters, history, sql};
use crate::support::bank::{Bank, PotGoes, grant_coins, table};
use crate::support::checks::{check_ledger, count_reports, count_standings};
use crate::support::db::{execute, read_pages, read_row, read_rows, read_value};

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_history_is_in_order() {
    let (_database, pool, written) = history(150, 18).await;
    assert!(written.games >= 150 && written.windows > 1, "{written:?}");
    let (here, days) = (Records::without_archive(), Calendar::default());
    assert_eq!(check_ledger(&pool).await.games.settled, written.games);
    let standings = standings::check(&pool, &here, &days).await.unwrap();
    assert_eq!(standings.differences, Vec::<String>::new());
    assert_eq!(standings.games, written.games);
    // Later operations find free ids.
    let bank = Bank::with_database(_database).await;
    bank.play(table(), &bank.players([10_000; 3]).await, 1, 3, PotGoes::Nowhere).await;
    bank.audit_clean().await;
}

/// Tables use the house's time and the ledger PostgreSQL's, which in this bank differ by more than
/// a year: that alone makes no settlement slow.
#[tokio::test(flavor = "multi_thread")]
async fn a_settlement_is_slow_by_the_time_of_its_table() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let (prompt, _) = bank.play(table(), &players, 0, 1, PotGoes::Nowhere).await;
    let (late, _) = bank.play(table(), &players, 1, 1, PotGoes::Nowhere).await;
    let owner = bank.database.owner_pool().await;
    // Independent of the duration of this test.
    for (game, hours) in [(prompt, 1), (late, -1)] {
        let shift = format!(
            "update games set finished_at = finished_at + make_interval(hours => {hours})
            where id = '{game}'"
        );
        execute(&owner, &shift).await;
    }
    bank.ledger.seal_operations().await.unwrap();
    count_standings(&bank.pool).await;
    let reports = count_reports(&bank.pool).await;
    let now = Timestamp::from_ms(bank.now_ms());
    let alerts = reports.today(now, &jiff::tz::TimeZone::UTC).await.unwrap().alerts;
    let named: Vec<_> = alerts.newest_slow.iter().map(|slow| slow.game).collect();
    assert_eq!((named, alerts.settlements_slow), (vec![late.0], 1), "not {prompt}");
    assert!((3_000_000..DAY_MS).contains(&alerts.slowest_ms), "{alerts:?}");
}

/// The amount and the age of a POT equal those of its account.
#[tokio::test(flavor = "multi_thread")]
async fn pots_are_held_as_their_accounts_have_them() {
    let (database, pool, _) = history(150, 18).await;
    let bank = Bank::with_database(database).await;
    let players = bank.players([10_000; 3]).await;
    let table = table();
    // Antes alone, then antes and a payout.
    for pot in [PotGoes::Nowhere, PotGoes::ToWinner, PotGoes::Nowhere] {
        bank.play(table, &players, 0, 1, pot).await;
        bank.ledger.seal_operations().await.unwrap();
        count_standings(&pool).await;
        count_reports(&pool).await;
        let compared = "
            select count(*), count(*) filter (
                where h.amount is distinct from a.balance
                    or h.changed_at is distinct from (
                        select max(o.created_at)
                        from transfers t
                        join operations o on o.id = t.operation
                        where a.id in (t.source, t.destination)
                    )
            )
            from (select * from accounts where kind = 'pot') a
            full join held_pots h on a.code = 'pot:' || h.table_id";
        let (pots, different): (i64, i64) = read_row(&pool, compared).await;
        assert!(pots > 1 && different == 0, "{different} of {pots}");
    }
}

/// Checklist R5: the number of voided games is public, up to the last full hour.
#[tokio::test(flavor = "multi_thread")]
async fn anybody_sees_how_many_games_were_voided() {
    let (database, pool, _written) = history(150, 18).await;
    let bank = Bank::with_database(database).await;
    let players = bank.players([10_000; 3]).await;
    let game = bank.open_game(&players).await;
    bank.void_game(&game).await;
    let reports = count_reports(&pool).await;
    let in_two_hours = jiff::Timestamp::now().as_millisecond() + 2 * 3_600_000;
    let (mut settled, mut voided) = (0, 0);
    for at in [NOW, Timestamp::from_ms(NOW.ms() + 90 * 60_000), Timestamp::from_ms(in_two_hours)] {
        let deals = reports.deals(at).await.unwrap();
        let ago_ms = at.ms() - deals.to.ms();
        assert!(deals.to.ms() % 3_600_000 == 0 && (60_000..3_660_000).contains(&ago_ms));
        for span in deals.spans {
            let from = Timestamp::from_ms(deals.to.ms() - span.hours * 3_600_000);
            let counted = format!(
                "select kind, count(*) from operations
                where game in (select id from games) and created_at >= {} and created_at < {}
                group by kind",
                sql(from),
                sql(deals.to)
            );
            let counted: Vec<(String, i64)> = read_rows(&pool, &counted).await;
            let of =
                |kind| counted.iter().find(|(one, _)| one.as_str() == kind).map_or(0, |one| one.1);
            assert_eq!(span.opened, of("open"));
            assert_eq!((span.settled, span.voided), (of("settle"), of("void")));
            (settled, voided) = (settled.max(span.settled), voided.max(span.voided));
        }
    }
    assert!(settled > 0 && voided > 0);
}

/// Reads the figures of an interval from the ledger by the simplest queries.
async fn plainly(pool: &PgPool, interval: Interval) -> BTreeMap<[String; 4], (i64, i64)> {
    let transfers = format!(
        "select coalesce(
                g.room, case when s.kind = 'fee' then split_part(s.code, ':', 2)
                    when d.kind = 'fee' then split_part(d.code, ':', 2) end
            ),
            t.code, s.kind, d.kind, count(*), sum(t.amount)::bigint
        from operations o
        join transfers t on t.operation = o.id
        join accounts s on s.id = t.source
        join accounts d on d.id = t.destination
        left join games g on g.id = o.game
        where o.created_at >= {} and o.created_at < {}
        group by 1, 2, 3, 4",
        sql(interval.from),
        sql(interval.to)
    );
    let rows: Vec<(Option<String>, String, String, String, i64, i64)> =
        read_rows(pool, &transfers).await;
    let rows = rows.into_iter().map(|(room, code, source, destination, count, amount)| {
        ([room.unwrap_or_default(), code, source, destination], (count, amount))
    });
    rows.collect()
}

fn keyed(booked: &[TransferTotals]) -> BTreeMap<[String; 4], (i64, i64)> {
    let mut sums = BTreeMap::<_, (i64, i64)>::new();
    for one in booked {
        let room = one.room.clone().unwrap_or_default();
        let key = [room, one.code.to_string(), one.source.clone(), one.destination.clone()];
        let sum = sums.entry(key).or_default();
        sum.0 += one.transfers;
        sum.1 += one.amount.hundredths();
    }
    sums
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_of_any_interval_are_those_of_the_ledger() {
    let (database, pool, _) = history(200, 30).await;
    let seed = uuid::Uuid::new_v4().as_u64_pair().0;
    let mut dice = TestRng::new(seed);
    let mut below = |bound: i64| i64::try_from(dice.word() >> 1).unwrap() % bound;
    let reports = Reports::with_own_pool(&pool);
    let begin = NOW.ms() - 91 * DAY_MS;
    // Before any projecting, partly projected, and fully projected.
    for stage in 0..3 {
        if stage > 0 {
            reports.catch_up().await.unwrap();
        }
        if stage == 1 {
            let projection_interval_ms = 3_600_000;
            let options = LedgerOptions { projection_interval_ms, ..LedgerOptions::default() };
            let (ledger, tasks) = Ledger::start(pool.clone(), options);
            let player = bank_player(&pool).await;
            let grant = grant_coins(player, Grant::Daily, format!("{player}:x"), 12_345);
            ledger.grant(grant).await.unwrap();
            drop(tasks);
        }
        for _ in 0..25 {
            let from = begin + below(92 * DAY_MS);
            let longest = if below(2) == 0 { DAY_MS } else { 60 * DAY_MS };
            let to = from + 1 + below(longest);
            let interval = Interval { from: Timestamp::from_ms(from), to: Timestamp::from_ms(to) };
            let expected = plainly(&pool, interval).await;
            for by_hour in [false, true] {
                let booked = reports.transfer_totals(interval, by_hour).await.unwrap();
                assert_eq!(keyed(&booked), expected, "seed {seed} stage {stage} {interval:?}");
            }
        }
    }
    let ever = Interval { from: Timestamp::from_ms(0), to: Timestamp::from_ms(i64::pow(2, 42)) };
    let booked = reports.transfer_totals(ever, false).await.unwrap();
    let mut sums = BTreeMap::<&str, i64>::new();
    for one in &booked {
        *sums.entry(&one.source).or_default() -= one.amount.hundredths();
        *sums.entry(&one.destination).or_default() += one.amount.hundredths();
    }
    let balances = reports.trial_balance().await.unwrap();
    let of = |kind: &str| {
        balances.iter().find(|one| one.kind == kind).map_or(0, |one| one.amount.hundredths())
    };
    assert_eq!(balances.iter().map(|one| one.amount.hundredths()).sum::<i64>(), 0);
    let fees = sum_figures(&[], &booked).unwrap().fees.hundredths();
    assert_eq!([sums["wallet"], fees, sums["pot"]], ["wallet", "fee", "pot"].map(of));
    assert_eq!(sums["stake"], 0);
    let wallets: i64 =
        read_value(&pool, "select sum(balance)::bigint from accounts where kind = 'wallet'").await;
    assert_eq!(of("wallet"), wallets);
    drop(database);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_told_as_booked_and_as_recomputed() {
    let (database, pool, _) = history(20, 6).await;
    let reports = count_reports(&pool).await;
    let page = reports.settlements(&SettlementFilter::default(), None, 5).await.unwrap();
    let row = &page.items[0];
    let dossier = reports.game(GameId(row.game)).await.unwrap().unwrap();
    let kinds: Vec<_> = dossier.operations.iter().map(|one| one.operation.kind.as_str()).collect();
    assert_eq!(kinds, ["open", "settle"]);
    let RecordVerdict::Holds { actions, recomputed, is_booked, clients } = &dossier.verdict else {
        panic!("{:?}", dossier.verdict);
    };
    assert!(*is_booked && *actions > 0 && clients.len() == 3);
    let fees: i64 = recomputed.fees.iter().map(|fee| fee.fee.hundredths()).sum();
    assert_eq!(fees, row.fee.hundredths());
    assert_eq!(reports.game(GameId(uuid::Uuid::nil())).await.unwrap(), None);

    let owner = database.owner_pool().await;
    let verdict_after = async |change: &str| {
        execute(&owner, change).await;
        reports.game(GameId(row.game)).await.unwrap().unwrap().verdict
    };
    let change = "update game_records set settlement = jsonb_set(settlement, '{winner}', 'null')";
    let told = verdict_after(change).await;
    assert!(matches!(told, RecordVerdict::Holds { is_booked: false, .. }), "{told:?}");
    let change =
        r#"update game_records set record = replace(record, '"by":"player"', '"by":"clock"')"#;
    let told = verdict_after(change).await;
    assert!(matches!(told, RecordVerdict::Fails { .. }), "{told:?}");
}

/// Entries of an operation are split between pages, and house accounts have no versions.
#[tokio::test]
async fn entries_of_any_account_are_listed_page_by_page() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let table = table();
    let (game, _) = bank.play(table, &players, 0, 2, PotGoes::Nowhere).await;
    bank.play(table, &players, 0, 2, PotGoes::ToWinner).await;
    let reports = Reports::with_own_pool(&bank.pool);
    for (code, count, has_versions) in [
        (format!("wallet:{}", players[0]), 14, true),
        (format!("stake:{game}:0"), 2, true),
        (format!("stake:{game}:1"), 3, true),
        (format!("pot:{table}"), 7, true),
        ("fee:newbie".to_owned(), 2, false),
        ("issue".to_owned(), 3, false),
        ("suspense".to_owned(), 0, true),
    ] {
        let read = async |cursor| reports.account_entries(&code, cursor, 2).await.unwrap();
        let entries = read_pages(read).await;
        let sum: i64 = entries.iter().map(|entry| entry.amount.hundredths()).sum();
        assert_eq!(sum, bank.balance(&code).await, "{code}");
        let versions: Vec<_> = entries.iter().map(|entry| entry.version).collect();
        let expected = (1..=count).rev().map(|version| has_versions.then_some(version));
        assert_eq!(versions, expected.collect::<Vec<_>>(), "{code}");
        for entry in &entries {
            let change = entry.balance_after.zip(entry.balance_before);
            let change = change.map(|(after, before)| after.hundredths() - before.hundredths());
            assert_eq!(change, has_versions.then_some(entry.amount.hundredths()), "{code}");
        }
    }
    reports.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn partners_and_who_shares_a_device_are_found() {
    let (_database, pool, _) = history(60, 6).await;
    let reports = count_reports(&pool).await;
    let player = bank_player(&pool).await;
    let partners = reports.partners(player).await.unwrap();
    let games: i64 = partners.iter().map(|partner| partner.games).sum();
    let of_player = SettlementFilter { player: Some(player.0), ..SettlementFilter::default() };
    let own = reports.totals(&of_player).await.unwrap();
    assert_eq!(games, 2 * own.games, "two others sit at each table");
    // Payments and receipts without fees equal the change of balance, except for POTs.
    let net = format!(
        "select sum(t.amount * case when s.kind = 'stake' then -1 else 1 end)::bigint
        from game_players p
        join operations o on o.key = 'settle:' || p.game
        join transfers t on t.operation = o.id and t.code = 'payment'
        join accounts s on s.id = t.source
        join accounts d on d.id = t.destination
        where p.player = '{player}' and s.code = 'stake:' || p.game || ':' || p.seat"
    );
    let net: i64 = read_value(&pool, &net).await;
    let paid: i64 = partners.iter().map(|partner| partner.paid.hundredths()).sum();
    assert_eq!(paid, -net);

    let other = partners[0].player;
    let sessions = format!(
        "insert into sessions (id, player, method, expires_at, device, address)
        select gen_random_uuid(), p, 'guest', now() + interval '1 day', sha256('one'), '192.0.2.7'
        from unnest(array['{player}', '{other}']::uuid[]) p"
    );
    execute(&pool, &sessions).await;
    let shared = reports.linked_players(player).await.unwrap();
    assert_eq!(shared.len(), 1);
    assert_eq!((shared[0].player, shared[0].shared), (other, SharedSignal::Device));
    let report = reports.player(player).await.unwrap().unwrap();
    assert_eq!(report.sessions.len(), 1);
    let found = reports.find_players(&report.name.to_uppercase()).await.unwrap();
    assert!(found.iter().any(|found| found.id == player.0), "{found:?}");
    let named = PlayerMatch { id: player.0, name: report.name };
    assert_eq!(reports.find_players(&player.to_string()).await.unwrap(), [named]);
}

/// Returns the number of sequential scans of each large table and of each large partition of it. A
/// partition with few rows is read like that with good reason.
async fn scans(pool: &PgPool) -> BTreeMap<String, i64> {
    let scans = "
        select s.relname::text, s.seq_scan
        from unnest(array[
            'account_operations', 'accounts', 'game_players', 'game_records', 'games',
            'game_results', 'operations', 'player_settlements', 'settlements'
        ]) as t (name)
        left join lateral pg_partition_tree(t.name::regclass) p on true
        join pg_stat_user_tables s on s.relid = coalesce(p.relid, t.name::regclass)
        join pg_class c on c.oid = s.relid
        where p.relid is null or c.reltuples >= 1000";
    read_rows::<(String, i64)>(pool, scans).await.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_report_reads_a_large_table_from_end_to_end() {
    let (database, pool, _) = history(6_000, 3_000).await;
    count_reports(&pool).await.close().await;
    let owner = database.owner_pool().await;
    execute(&owner, "vacuum analyze").await;
    owner.close().await;

    let observer = database.pool().await;
    let before = scans(&observer).await;
    for table in ["account_operations_2", "operations_2", "player_settlements_2"] {
        let has_partition = before.keys().any(|name| name.starts_with(table));
        assert!(has_partition, "{table}: {before:?}");
    }
    let reports = Reports::with_own_pool(&pool);
    let manila = jiff::tz::TimeZone::get("Asia/Manila").unwrap();
    let late = Timestamp::from_ms(NOW.ms() - 3 * DAY_MS);
    reports.today(late, &manila).await.unwrap();
    let days = [7, 14]
        .map(|days| bahay::clock::to_jiff(late) - jiff::SignedDuration::from_hours(24 * days));
    let days = days.map(|day| day.to_zoned(manila.clone()).date());
    for unit in [PeriodUnit::Day, PeriodUnit::Week] {
        reports.compare_periods(unit, days, &manila, late).await.unwrap();
    }
    let player = bank_player(&pool).await;
    let mut game = None;
    let orders = SettlementOrder::ALL.iter().copied();
    let ordered = orders.flat_map(|order| {
        filters(player)
            .into_iter()
            .map(move |(filter, _)| SettlementFilter { order: Some(order), ..filter })
    });
    for filter in ordered {
        let page = reports.settlements(&filter, None, 50).await.unwrap();
        game = game.or(page.items.first().map(|row| GameId(row.game)));
        reports.totals(&filter).await.unwrap();
        if let Some(next) = page.next {
            reports.settlements(&filter, Some(next), 50).await.unwrap();
        }
    }
    reports.game(game.unwrap()).await.unwrap();
    reports.player(player).await.unwrap();
    reports.partners(player).await.unwrap();
    for text in ["Alt", "al", &player.to_string()[..8], &format!("settle:{}", game.unwrap())] {
        assert!(!reports.search(text).await.unwrap().is_empty(), "{text}");
    }
    // Only the trial balance reads all accounts, because any of them may have changed.
    reports.house_accounts().await.unwrap();
    reports.account_entries(&format!("wallet:{player}"), None, 50).await.unwrap();
    reports.account_entries("issue", None, 50).await.unwrap();
    reports.account_entries(&format!("stake:{}:0", game.unwrap()), None, 50).await.unwrap();
    for days in [1, 3_000] {
        let period = Interval { from: Timestamp::from_ms(NOW.ms() - days * DAY_MS), to: NOW };
        reports.statement(player, "Althea".to_owned(), period).await.unwrap().ok();
    }
    reports.newest_operations(None, 50).await.unwrap();
    reports.checks(50).await.unwrap();
    reports.close().await;
    let after = scans(&observer).await;
    assert_eq!(after, before, "some report reads a large table from end to end");
}
