//! Monthly partitions: rows are stored in the partition of their month, the service creates
//! partitions ahead of time, and the guarantees of the books hold across the end of a month.

use std::collections::BTreeSet;

use bahay::db::{self, PoolOptions};
use bahay::ledger::audit::Difference;
use bahay::ledger::months::{TABLES, create_partitions, first_operation_of};
use bahay::ledger::{Code, EntryFilter, Grant, LedgerError};
use bahay::metrics::Metrics;
use bahay::months::{AHEAD, Months, MonthsReport};
use bahay_engine::coins::Coins;
use bahay_engine::table::TableId;
use sqlx::{AssertSqlSafe, PgPool};

use crate::support::bank::{Bank, PotGoes, grant_coins, table};
use crate::support::db::{TestDatabase, execute, read_value, read_values};

/// Returns the code with which the database refuses a statement.
pub(crate) async fn refusal_code(pool: &PgPool, sql: &str) -> String {
    let refused = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(pool).await;
    let refused = refused.expect_err(sql).into_database_error().expect(sql);
    refused.code().expect("an error has a code").into_owned()
}

pub(crate) async fn texts(pool: &PgPool, sql: &str) -> Vec<String> {
    read_values(pool, sql).await
}

pub(crate) async fn number(pool: &PgPool, sql: &str) -> i64 {
    read_value(pool, sql).await
}

/// Moves the ledger to another month than its clock's, as after midnight.
async fn go_to_month(bank: &Bank, months: i32) {
    let owner = bank.database.owner_pool().await;
    let sql = format!(
        "select setval('operation_ids', first_operation_of(
            date_trunc('month', now(), 'UTC') + make_interval(months => {months})
        ))"
    );
    execute(&owner, &sql).await;
}

fn months_of(bank: &Bank) -> Months {
    Months::new(bank.pool.clone(), &Metrics::default())
}

/// Plays games of two months, the second of them the next one.
async fn two_months() -> (Bank, TableId) {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let table = table();
    bank.play(table, &players, 0, 2, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    go_to_month(&bank, 1).await;
    bank.play(table, &players, 1, 2, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    (bank, table)
}

#[tokio::test]
async fn an_operation_is_stored_in_the_partition_of_its_month() {
    let (bank, _) = two_months().await;
    for (table, column) in [("operations", "id"), ("account_operations", "operation")] {
        let found = format!(
            "select distinct t.tableoid::regclass || ' ' || t.{column} / 1000000000000
                from {table} t order by 1"
        );
        let expected = format!(
            "select '{table}' || to_char(m, '_YYYY_MM') || ' ' || to_char(m, 'YYMM')
                from generate_series(
                    date_trunc('month', now() at time zone 'UTC'),
                    now() at time zone 'UTC' + interval '1 month', interval '1 month'
                ) m order by 1"
        );
        assert_eq!(texts(&bank.pool, &found).await, texts(&bank.pool, &expected).await);
    }
    bank.audit_clean().await;
}

/// Opening and settling wait for no partition but that of the month, while all others are locked.
#[tokio::test]
async fn posting_touches_no_other_month() {
    let (bank, table) = two_months().await;
    let players = bank.players([10_000; 3]).await;
    let owner = bank.database.owner_pool().await;
    let parts = "select i.inhrelid::regclass::text from pg_inherits i
        join pg_class c on c.oid = i.inhrelid and c.relkind = 'r'
        where i.inhrelid::regclass::text not like to_char(
            now() at time zone 'UTC' + interval '1 month', '%\\_YYYY\\_MM'
        )";
    let parts = texts(&owner, parts).await;
    assert!(parts.len() > TABLES.len(), "{parts:?}");
    let mut held = owner.begin().await.unwrap();
    let lock = format!("lock table only {} in access exclusive mode", parts.join(", only "));
    sqlx::raw_sql(AssertSqlSafe(lock)).execute(&mut *held).await.unwrap();
    bank.play(table, &players, 2, 2, PotGoes::Nowhere).await;
    held.rollback().await.unwrap();
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_query_reads_only_the_months_that_it_names() {
    let (bank, _) = two_months().await;
    let cases = [
        // The way that seals, ledger events and reports read: by ids within bounds.
        (
            "select o.id from operations o where o.id = any(array(select 1::bigint))
            and o.id between first_operation_of(NOW) and first_operation_of(NOW) + 5",
            1,
        ),
        (
            "select t.amount from transfers t where t.operation = any(array(select 1::bigint))
            and t.operation between first_operation_of(NOW) and first_operation_of(NOW) + 5",
            1,
        ),
        // The way that a wallet's entries are listed from a time on, and that posted operations are
        // counted: this month, those created ahead, and the default partition.
        (
            "select m.operation from account_operations m where m.account = 3
            and m.operation >= coalesce(first_operation_of(NOW), 0)
            order by m.operation desc limit 21",
            2 + AHEAD,
        ),
        // An operation is found by its id in the partition of its month alone.
        (
            "select e.amount from entries e where e.operation = first_operation_of(NOW) + 5
            and e.account = 3",
            1,
        ),
        (
            "select o.id from operations o where o.created_at >= NOW and o.created_at < NOW + interval '1 hour'
            and o.id >= first_operation_of(NOW)",
            2 + AHEAD,
        ),
        // The way that the desk lists a player's settlements.
        (
            "select s.game from player_settlements s where s.player = gen_random_uuid()
            and s.finished_at >= NOW and s.finished_at < NOW + interval '1 minute'
            order by s.finished_at desc, s.game desc limit 21",
            1,
        ),
    ];
    // With a literal time, and with one that is known only at execution.
    let month = "date_trunc('month', now(), 'UTC')";
    let literal = format!("select quote_literal({month}) || '::timestamptz'");
    let literal = texts(&bank.pool, &literal).await.remove(0);
    for (query, expected) in cases {
        for time in [literal.as_str(), month] {
            let query = query.replace("NOW", time);
            let explain = format!("explain (analyze, costs off, timing off, summary off) {query}");
            let plan = texts(&bank.pool, &explain).await;
            let scanned = plan.iter().filter(|line| line.contains("Scan"));
            let scanned = scanned.filter(|line| !line.contains("never executed"));
            let scanned: BTreeSet<&str> = scanned.filter_map(|line| part_of(line)).collect();
            assert_eq!(scanned.len(), usize::try_from(expected).unwrap(), "{query}: {plan:#?}");
        }
    }
}

/// A wallet's entries with a rare code are listed by a walk over the wallet's operations, each found
/// by its id, whether the planner knows the filter or not.
#[tokio::test]
async fn a_list_of_entries_reads_no_month_from_end_to_end() {
    let (bank, players) = Bank::with_players([10_000]).await;
    let owner = bank.database.owner_pool().await;
    let account = format!("wallet:{}", players[0]);
    let books = format!(
        "insert into operations (id, key, kind, input_hash, answer, codes, sources, destinations,
            amounts, accounts, versions, balances)
        select first_operation_of(now()) + 1000000 + i, 'adjust:' || i, 'adjust', sha256(''), '{{}}',
            array[case when i = 5 then 'sweep' else 'adjustment' end], array[w.id], array[h.id],
            array[5], array[w.id], array[i], array[1000]
        from generate_series(1, 20000) i
        join accounts w on w.code = '{account}'
        join accounts h on h.code = 'issue';
        insert into account_operations
        select s.account, o.id
        from operations o
        cross join lateral unnest(o.sources || o.destinations) as s (account)
        where o.kind = 'adjust';
        analyze operations, account_operations"
    );
    execute(&owner, &books).await;
    for plan_cache_mode in ["force_custom_plan", "force_generic_plan"] {
        // The statements that a connection has prepared are visible to it alone.
        let options = PoolOptions { connections_max: 1, plan_cache_mode, ..PoolOptions::default() };
        let reads = db::connect(bank.database.options(), options).await.unwrap();
        let ledger = bank.ledger.clone().with_read_pool(reads.clone());
        let filter = EntryFilter { codes: vec![Code::Sweep], ..EntryFilter::default() };
        let page = ledger.entries(players[0], &filter, None, 50).await.unwrap();
        let [entry] = page.items.as_slice() else { panic!("{:?}", page.items) };
        assert_eq!((entry.version, entry.balance_before), (6, Coins::from_hundredths(1_000)));
        assert_eq!(entry.balance_after, Coins::from_hundredths(995));

        let name = "select name from pg_prepared_statements
            where statement ~ 'from account_operations m\\s'";
        let names = texts(&reads, name).await;
        let [name] = names.as_slice() else { panic!("{names:?}") };
        let explain = format!(
            "explain (analyze, costs off, timing off, summary off) execute {name}(
                '{account}', {}, {}, 51, '{{sweep}}', null, null
            )",
            i64::MAX,
            i16::MAX
        );
        let plan = texts(&reads, &explain).await;
        let is_read = |scan: &str| {
            plan.iter().any(|line| line.contains(scan) && !line.contains("never executed"))
        };
        assert!(is_read("Index Scan using operations_2"), "{plan:#?}");
        assert!(!is_read("Seq Scan on operations"), "{plan:#?}");
        reads.close().await;
    }
}

/// Returns the partition of a line of a plan.
fn part_of(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let word = words.find(|word| word.contains("_20") || word.contains("_unforeseen"))?;
    Some(word.trim_end_matches("_pkey").trim_end_matches("_created_at_idx"))
}

#[tokio::test]
async fn ids_go_on_in_a_new_month_and_never_back() {
    let bank = Bank::new().await;
    let month = "select max(id) / 1000000000000 from operations";
    let this = number(&bank.pool, "select first_operation_of(now()) / 1000000000000").await;
    // The state after the end of a month.
    go_to_month(&bank, -1).await;
    bank.player(500).await;
    assert_eq!(number(&bank.pool, month).await, this);
    // After a clock that was a month ahead was corrected, ids stay ahead of it.
    go_to_month(&bank, 1).await;
    bank.player(500).await;
    let next = number(&bank.pool, month).await;
    assert!(next > this, "{next}");
    let last = number(&bank.pool, "select max(id) from operations").await;
    bank.player(500).await;
    assert_eq!(number(&bank.pool, month).await, next);
    assert!(number(&bank.pool, "select max(id) from operations").await > last);
    bank.audit_clean().await;
}

/// The first operations of a month come concurrently from several nodes: each has its own id.
#[tokio::test]
async fn a_month_begins_once_however_many_begin_it() {
    let bank = Bank::new().await;
    go_to_month(&bank, -1).await;
    let (other, _tasks) = bank.node().await;
    let players = bank.players([0; 8]).await;
    let grants = players.iter().enumerate().map(|(place, player)| {
        let ledger = if place % 2 == 0 { &bank.ledger } else { &other };
        ledger.grant(grant_coins(*player, Grant::Welcome, player, 100))
    });
    for granted in futures_util::future::join_all(grants).await {
        granted.unwrap();
    }
    let wrong = "select count(*) from operations where id < first_operation_of(now())";
    assert_eq!(number(&bank.pool, wrong).await, 0);
    assert_eq!(number(&bank.pool, "select count(*) from operations").await, 8);
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_key_is_used_once_over_the_end_of_a_month() {
    let bank = Bank::new().await;
    let player = bank.player(500).await;
    let operations = "select count(*) from operations";
    let before = number(&bank.pool, operations).await;
    go_to_month(&bank, 1).await;
    let again = bank.grant(player, Grant::Welcome, 500).await.unwrap();
    assert_eq!(again.wallet, Coins::from_hundredths(500));
    let refused = bank.grant(player, Grant::Welcome, 600).await.unwrap_err();
    assert!(matches!(refused, LedgerError::KeyReused { .. }), "{refused:?}");
    assert_eq!(number(&bank.pool, operations).await, before);
    // A write that bypasses the ledger violates the constraint.
    let forced = sqlx::query("insert into operation_keys select key, 900 from operations limit 1");
    let refused = forced.execute(&bank.pool).await.unwrap_err();
    let refused = refused.into_database_error().unwrap();
    assert_eq!(refused.constraint(), Some("operation_keys_pkey"));
    bank.audit_clean().await;
}

/// The uniqueness of an account's version is kept by the row lock of the account, and not by a
/// constraint; writes that bypass it are detected.
#[tokio::test]
async fn versions_go_on_over_the_end_of_a_month_and_the_audit_says_so() {
    let (bank, _) = two_months().await;
    let twice = "select count(*) from (
            select from entries where version is not null
            group by account, version having count(*) > 1
        ) e";
    assert_eq!(number(&bank.pool, twice).await, 0);
    bank.audit_clean().await;
    let owner = bank.database.owner_pool().await;
    // Copies of the newest operation: one repeats versions and balances, the other has the balances
    // after it and repeats the versions alone.
    let balances_after = "array(
            select a.balance
            from unnest(o.accounts) with ordinality as n (id, place)
            join accounts a on a.id = n.id
            order by n.place
        )";
    for balances in ["o.balances", balances_after] {
        let mut tx = owner.begin().await.unwrap();
        let copy = format!(
            "insert into operations
            select first_operation_of(now() + interval '2 months'), o.key, o.kind, o.input_hash,
                o.answer, o.game, o.created_at, o.codes, o.sources, o.destinations, o.amounts,
                o.accounts, o.versions, {balances}
            from operations o order by o.id desc limit 1;
            insert into account_operations
            select account, first_operation_of(now() + interval '2 months')
            from account_operations
            where operation = (select max(operation) from account_operations)"
        );
        sqlx::raw_sql(AssertSqlSafe(copy)).execute(&mut *tx).await.unwrap();
        let report = bahay::ledger::audit::audit_in_tx(&mut tx).await.unwrap();
        let is_broken = |it: &Difference| matches!(it, Difference::EntryBroken { .. });
        assert!(report.differences.iter().any(is_broken), "{:?}", report.differences);
        tx.rollback().await.unwrap();
    }
}

/// Drops all partitions ahead.
async fn take_months_away(owner: &PgPool) {
    for table in TABLES {
        for month in 1..=AHEAD {
            let part = format!(
                "select '{table}' || to_char(
                    date_trunc('month', now() at time zone 'UTC') + make_interval(months => {month}),
                    '_YYYY_MM'
                )"
            );
            let part = texts(owner, &part).await.remove(0);
            let drop = format!("alter table {table} detach partition {part}; drop table {part}");
            execute(owner, &drop).await;
        }
    }
}

#[tokio::test]
async fn the_service_makes_the_months_to_come_by_itself_two_nodes_at_once() {
    let bank = Bank::new().await;
    let owner = bank.database.owner_pool().await;
    let months = AHEAD.unsigned_abs();
    months_of(&bank).maintain().await.unwrap();
    take_months_away(&owner).await;
    let (one, other) = (months_of(&bank), months_of(&bank));
    let (one, other) = tokio::join!(one.maintain(), other.maintain());
    let (one, other) = (one.unwrap(), other.unwrap());
    let wanted = months * u32::try_from(TABLES.len()).unwrap();
    assert_eq!(one.created + other.created, wanted, "{one:?} {other:?}");
    let look = months_of(&bank).maintain().await.unwrap();
    assert_eq!(look, MonthsReport { created: 0, ahead: i64::from(AHEAD), unforeseen: 0 });
    // Each is like the others.
    let keys = "
        select distinct regexp_replace(pg_get_constraintdef(c.oid) || ' ' || c.conrelid::regclass,
            '_(20.*|unforeseen)', '')
        from pg_constraint c
        join pg_class t on t.oid = c.conrelid and t.relispartition and t.relkind = 'r'
        where c.contype = 'p' order by 1";
    assert_eq!(texts(&bank.pool, keys).await.len(), TABLES.len());
    go_to_month(&bank, AHEAD).await;
    bank.player(500).await;
    let look = months_of(&bank).maintain().await.unwrap();
    assert_eq!(look.unforeseen, 0);
}

/// An operation without a partition for its month is not refused; the metrics report it, and the
/// next run creates the month and moves its rows.
#[tokio::test]
async fn rows_without_a_month_are_kept_reported_and_moved() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let table = table();
    // A wrong clock beyond all months created ahead.
    go_to_month(&bank, 60).await;
    bank.play(table, &players, 0, 2, PotGoes::Nowhere).await;
    bank.audit_clean().await;
    let metrics = Metrics::default();
    let look = Months::new(bank.pool.clone(), &metrics).maintain().await.unwrap();
    // An opening and a settlement, each listed at three wallets and the POT or the fee account.
    assert!(look.unforeseen == 10 && look.created == 0, "{look:?}");
    let told = format!("bahay_default_partition_rows {}", look.unforeseen);
    assert!(metrics.text().unwrap().contains(&told));
    assert!(metrics.text().unwrap().contains(&format!("bahay_partition_months_ahead {AHEAD}")));

    // And a plausible one.
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    go_to_month(&bank, 14).await;
    bank.play(table, &players, 0, 2, PotGoes::Nowhere).await;
    let unforeseen = "select count(*) from operations_unforeseen";
    assert_eq!(number(&bank.pool, unforeseen).await, 2);
    let look = months_of(&bank).maintain().await.unwrap();
    assert_eq!((look.unforeseen, look.created), (0, 3), "{look:?}");
    assert_eq!(number(&bank.pool, unforeseen).await, 0);
    bank.play(table, &players, 1, 2, PotGoes::Nowhere).await;
    assert_eq!(number(&bank.pool, unforeseen).await, 0);
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_year_ends_without_a_gap_and_the_program_and_the_database_agree() {
    let (_database, pool) = TestDatabase::with_pool().await;
    let times = [
        "1969-12-31T23:59:59.999999Z",
        "2026-11-30T23:59:59.999999Z",
        "2026-12-01T00:00:00Z",
        "2026-12-31T23:59:59.999999Z",
        "2027-01-01T00:00:00Z",
        "2028-02-29T12:00:00Z",
        "2100-01-01T00:00:00Z",
        "9998-12-31T23:59:59Z",
    ];
    let mut last = i64::MIN;
    for time in times {
        let of_database = number(&pool, &format!("select first_operation_of('{time}')")).await;
        assert_eq!(first_operation_of(time.parse().unwrap()), of_database, "{time}");
        assert!(of_database >= last);
        last = of_database;
    }
    let time = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    create_partitions(&pool, time("2027-11-30T23:59:59Z"), time("2028-03-01T00:00:00Z"))
        .await
        .unwrap();
    for table in TABLES {
        let bounds = format!(
            "select regexp_replace(
                pg_get_expr(c.relpartbound, c.oid), '^.*FROM \\((.*)\\) TO \\((.*)\\)$', '\\1 \\2'
            )
            from pg_inherits i
            join pg_class c on c.oid = i.inhrelid
            where i.inhparent = '{table}'::regclass and c.relname ~ '_20(27_1|28)'
            order by c.relname"
        );
        let bounds = texts(&pool, &bounds).await;
        assert_eq!(bounds.len(), 5, "{table}: {bounds:?}");
        let ends = bounds.windows(2).all(|pair| {
            let [one, next] = pair else { return false };
            let half = one.len() / 2;
            one[half + 1..] == next[..half]
        });
        assert!(ends, "{table}: {bounds:?}");
    }
}

/// The service may create months, and no other tables.
#[tokio::test]
async fn only_months_of_these_tables_are_made_and_not_without_end() {
    let (_database, pool) = TestDatabase::with_pool().await;
    for (table, time) in [
        ("players", "2026-12-01"),
        ("operations", "2019-12-31"),
        ("operations", "2126-01-01"),
        ("operations; drop table seals", "2026-12-01"),
    ] {
        let made = format!("select make_month('{table}', '{time}')");
        assert_eq!(refusal_code(&pool, &made).await, "BH004", "{table} {time}");
    }
    assert_eq!(refusal_code(&pool, "select analyze_months('players')").await, "BH004");
}

/// Creating a month does not wait for writers. It waits briefly for a reader of all months, gives
/// up, and the next run succeeds.
#[tokio::test]
async fn a_month_is_made_while_games_are_booked_and_never_makes_anybody_wait_for_long() {
    let bank = Bank::new().await;
    let owner = bank.database.owner_pool().await;
    let months = months_of(&bank);
    months.maintain().await.unwrap();
    take_months_away(&owner).await;
    let mut reads = owner.begin().await.unwrap();
    sqlx::query("select count(*) from operations").fetch_one(&mut *reads).await.unwrap();
    let look = months.maintain().await.unwrap();
    let others = u32::try_from(TABLES.len() - 1).unwrap() * AHEAD.unsigned_abs();
    assert_eq!((look.created, look.ahead), (others, 0));
    reads.rollback().await.unwrap();

    let mut books = owner.begin().await.unwrap();
    let books_an_operation = "insert into operations (id, key, kind, input_hash, answer)
        values (first_operation_of(now()) + 900, 'x', 'grant', sha256(''), '{}')";
    sqlx::query(books_an_operation).execute(&mut *books).await.unwrap();
    let look = months.maintain().await.unwrap();
    assert_eq!((look.created, look.ahead), (AHEAD.unsigned_abs(), i64::from(AHEAD)));
    books.rollback().await.unwrap();
    bank.audit_clean().await;
}
