//! Closed months: entries of old months are removed, and everything derived from them is unchanged.
//! A month with open items is not closed, and the audit detects later changes.

use bahay::db;
use bahay::ledger::Grant;
use bahay::ledger::audit::{self, Difference};
use bahay::metrics::Metrics;
use bahay::months::{Months, TABLES};
use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, TableId};
use sqlx::{AssertSqlSafe, PgPool};

use super::months::{number, refusal_code, texts};
use crate::support::bank::{Bank, PotGoes, table};
use crate::support::db::execute;
use crate::support::reason;

/// Makes the database assign operation ids as of some months ago.
async fn book_months_ago(owner: &PgPool, months: i32) {
    for table in TABLES {
        let made =
            format!("select make_month('{table}', now() - make_interval(months => {months}))");
        // Restores the calendar's month.
        book_by(owner, 0).await;
        execute(owner, &made).await;
    }
    book_by(owner, months).await;
}

async fn book_by(owner: &PgPool, months: i32) {
    let sql = format!(
        "create or replace function first_operation_of(at timestamptz) returns bigint
        language sql immutable strict parallel safe
        return (
            (extract(year from (at - interval '{months} months') at time zone 'UTC')::bigint - 2000)
                * 100
            + extract(month from (at - interval '{months} months') at time zone 'UTC')::bigint
        ) * 1000000000000"
    );
    execute(owner, &sql).await;
}

struct OldHouse {
    bank: Bank,
    owner: PgPool,
    players: Vec<PlayerId>,
    table: TableId,
}

/// Plays two games four months ago, the second of which wins the POT, and one in each later month
/// except the last but one.
async fn old_house() -> OldHouse {
    let old = OldHouse::new().await;
    let OldHouse { bank, owner, players, table } = &old;
    bank.play(*table, players, 0, 2, PotGoes::ToWinner).await;
    bank.ledger.project_house_entries().await.unwrap();
    for months in [3, 2, 0] {
        book_months_ago(owner, months).await;
        bank.play(*table, players, 1, 3, PotGoes::ToWinner).await;
        bank.ledger.project_house_entries().await.unwrap();
    }
    assert_eq!(old.differences().await, []);
    old
}

impl OldHouse {
    /// Plays a game four months ago.
    async fn new() -> Self {
        let bank = Bank::new().await;
        let owner = bank.database.owner_pool().await;
        let table = table();
        book_months_ago(&owner, 4).await;
        let players = bank.players([10_000; 3]).await;
        bank.play(table, &players, 0, 2, PotGoes::Nowhere).await;
        Self { bank, owner, players, table }
    }

    /// Closes the oldest month if more than `kept` months are kept.
    async fn close(&self, kept: u16) -> Result<Option<String>, sqlx::Error> {
        db::write_owner_settings(&self.owner, Some(kept), None).await.unwrap();
        Months::new(self.bank.pool.clone(), &Metrics::default()).close_oldest_month().await
    }

    async fn differences(&self) -> Vec<Difference> {
        self.bank.audit().await.differences
    }

    async fn refused(&self, kept: u16) -> (String, String) {
        let refused = self.close(kept).await.unwrap_err();
        let refused = refused.into_database_error().unwrap();
        (refused.code().unwrap().into_owned(), refused.message().to_owned())
    }

    /// Returns the name of the month that lies `ago` months back.
    async fn month(&self, ago: i32) -> String {
        let sql = format!(
            "select to_char(now() at time zone 'UTC' - interval '{ago} months', 'YYYY-MM')"
        );
        texts(&self.owner, &sql).await.remove(0)
    }

    async fn part(&self, ago: i32) -> String {
        format!("entries_{}", self.month(ago).await.replace('-', "_"))
    }

    /// Returns the audit's differences after a change, which is rolled back.
    async fn after(&self, change: &str) -> Vec<Difference> {
        let mut tx = self.owner.begin().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(change.to_owned())).execute(&mut *tx).await.unwrap();
        let report = audit::audit_in_tx(&mut tx).await.unwrap();
        tx.rollback().await.unwrap();
        report.differences
    }
}

#[tokio::test]
async fn a_closed_month_has_no_entries_and_everything_else_is_as_it_was() {
    let old = old_house().await;
    let wallets = old.bank.wallets(&old.players).await;
    let before = old.bank.audit().await;
    let standing = "select sum(version)::bigint from accounts";
    let versions = number(&old.owner, standing).await;

    assert_eq!(old.close(2).await.unwrap(), Some(old.month(4).await));
    assert_eq!(old.close(2).await.unwrap(), Some(old.month(3).await));
    // Entries of the two months before this one are kept.
    assert_eq!(old.close(2).await.unwrap(), None);

    let after = old.bank.audit().await;
    assert_eq!(after.differences, []);
    assert_eq!(
        (after.operations, after.transfers, after.head),
        (before.operations, before.transfers, before.head)
    );
    let closed = "select coalesce(sum(transfers), 0)::bigint from closed_months";
    let closed = number(&old.owner, closed).await;
    assert!(closed > 20, "{closed}");
    assert_eq!(before.entries - after.entries, 2 * closed);
    assert_eq!(old.bank.wallets(&old.players).await, wallets);
    assert_eq!(number(&old.owner, standing).await, versions);

    // A wallet lists the remaining entries, and the oldest one starts from the earlier balance.
    let filter = bahay::ledger::EntryFilter::default();
    let listed = old.bank.ledger.entries(old.players[0], &filter, None, 100).await.unwrap();
    let (newest, oldest) = (listed.items.first().unwrap(), listed.items.last().unwrap());
    assert_eq!(newest.balance_after, Coins::from_hundredths(wallets[0]));
    assert!(oldest.version > 1 && !oldest.balance_before.is_zero(), "{oldest:?}");
    assert_eq!(listed.next, None);

    // The house continues to play, to seal and to close months.
    old.bank.play(old.table, &old.players, 2, 1, PotGoes::Nowhere).await;
    old.bank.play(old.table, &old.players, 2, 1, PotGoes::ToWinner).await;
    let late = old.bank.grant(old.players[0], Grant::Welcome, 10_000).await.unwrap();
    assert_eq!(late.wallet, Coins::from_hundredths(10_000), "the answer of four months ago");
    old.bank.ledger.project_house_entries().await.unwrap();
    assert_eq!(old.differences().await, []);
}

#[tokio::test]
async fn two_nodes_close_a_month_once_and_one_that_keeps_all_closes_none() {
    let old = old_house().await;
    let months = || Months::new(old.bank.pool.clone(), &Metrics::default());
    assert_eq!(months().close_oldest_month().await.unwrap(), None);
    db::write_owner_settings(&old.owner, Some(3), None).await.unwrap();
    let (one, other) = (months(), months());
    let (one, other) = tokio::join!(one.close_oldest_month(), other.close_oldest_month());
    let closed: Vec<_> = [one, other].into_iter().filter_map(|it| it.ok().flatten()).collect();
    assert_eq!(closed, [old.month(4).await]);
    assert_eq!(old.close(3).await.unwrap(), None);
    assert_eq!(old.differences().await, []);
}

#[tokio::test]
async fn a_month_in_which_something_is_open_is_not_closed() {
    let old = OldHouse::new().await;
    let playing = old.bank.players([10_000; 3]).await;
    let open = old.bank.open_game(&playing).await;
    book_months_ago(&old.owner, 0).await;
    old.bank.player(500).await;

    let refused = db::write_owner_settings(&old.owner, Some(1), None).await.unwrap_err();
    assert!(refused.into_database_error().is_some_and(|error| error.is_check_violation()));
    let (code, said) = old.refused(2).await;
    assert!(code == "BH005" && said.ends_with("wait to be sealed"), "{said}");
    old.bank.ledger.project_house_entries().await.unwrap();
    let (_, said) = old.refused(2).await;
    assert!(said.starts_with("pot:") && said.contains("holds coins of entries_"), "{said}");
    old.bank.play(old.table, &old.players, 0, 2, PotGoes::ToWinner).await;
    old.bank.ledger.project_house_entries().await.unwrap();
    // The other table's POT prevents closing, and then its stakes.
    let (_, said) = old.refused(2).await;
    assert!(said.starts_with(&format!("pot:{}", open.table.0)), "{said}");
    old.bank.ledger.void_game(open.game, &reason("too old for its month")).await.unwrap();
    old.bank.ledger.project_house_entries().await.unwrap();

    // Closing does not wait for readers, and nothing is half done.
    let mut reads = old.bank.pool.begin().await.unwrap();
    sqlx::query("select count(*) from entries").fetch_one(&mut *reads).await.unwrap();
    assert_eq!(old.refused(2).await.0, "55P03");
    reads.rollback().await.unwrap();
    assert_eq!(number(&old.owner, "select count(*) from closed_months").await, 0);

    // An entry that contradicts its transfer.
    let part = old.part(4).await;
    let changed = format!(
        "update {part} set amount = amount + 1, balance_after = balance_after + 1
        where (account, version) = (select min(account), 1 from {part})"
    );
    execute(&old.owner, &changed).await;
    let (_, said) = old.refused(2).await;
    assert!(said.ends_with("and its entries differ"), "{said}");
    let back = changed.replace("+ 1", "- 1");
    execute(&old.owner, &back).await;
    assert_eq!(old.close(2).await.unwrap(), Some(old.month(4).await));
    assert_eq!(old.differences().await, []);
}

#[tokio::test]
async fn the_service_closes_months_by_that_function_alone() {
    let old = old_house().await;
    let part = old.part(4).await;
    for forbidden in [
        &format!("drop table {part}"),
        &format!("delete from {part}"),
        "insert into closed_months values (now(), 1, 1, 1, 1, 1, sha256(''))",
        "delete from closed_months",
        "update closed_months set moved = 0",
        "update owner_settings set entries_kept_months = 2",
        "insert into owner_settings (entries_kept_months) values (2)",
        "delete from owner_settings",
        // It took the bound from its caller.
        "create function close_oldest_month(kept integer) returns text language sql as ''",
    ] {
        assert_eq!(refusal_code(&old.bank.pool, forbidden).await, "42501", "{forbidden}");
    }
}

#[tokio::test]
async fn a_change_in_a_closed_month_is_detected() {
    let old = old_house().await;
    let month = old.close(3).await.unwrap().unwrap();
    let first = "(select min(id) from operations where game is not null)";
    let differs = Difference::ClosedMonthDiffers { month };

    // A removed transfer affects the month, the digest of its operation, and two balances.
    let found = old.after(&format!("delete from transfers where operation = {first}")).await;
    assert!(found.contains(&differs), "{found:?}");
    let sealed = |it: &Difference| matches!(it, Difference::OperationDiffers { .. });
    assert!(found.iter().any(sealed), "{found:?}");
    let balance = |it: &Difference| matches!(it, Difference::BalanceDiffers { .. });
    assert!(found.iter().any(balance), "{found:?}");

    // A larger amount was moved.
    let found = old
        .after(&format!("update transfers set amount = amount + 1 where operation = {first}"))
        .await;
    assert!(found.contains(&differs) && found.iter().any(balance), "{found:?}");

    // The oldest remaining entry does not start where the closed month ends.
    let found = old
        .after(
            "update entries set balance_before = balance_before + 1, amount = amount - 1
            where (account, version) = (
                select e.account, min(e.version)
                from entries e
                join accounts a on a.id = e.account and a.kind = 'wallet'
                group by e.account limit 1
            )",
        )
        .await;
    let broken = |it: &Difference| matches!(it, Difference::EntryBroken { .. });
    assert!(found.iter().any(broken), "{found:?}");

    // An entry in a month that is closed.
    let found = old
        .after(&format!(
            "insert into entries
            select account, version, {first}, number, amount, balance_before, balance_after
            from entries order by operation limit 1"
        ))
        .await;
    let entry = |it: &Difference| matches!(it, Difference::EntriesDiffer { .. });
    assert!(found.iter().any(entry), "{found:?}");

    // A chain that was recomputed since.
    let found = old.after("update closed_months set seal_hash = sha256('')").await;
    assert_eq!(found, [differs]);
}

/// A closed month is not created again: its empty partition would be the oldest, and no later month
/// could be closed.
#[tokio::test]
async fn the_service_cannot_make_a_closed_month_again() {
    let old = old_house().await;
    assert_eq!(old.close(3).await.unwrap(), Some(old.month(4).await));
    for months in [4, 5, 40] {
        book_by(&old.owner, 0).await;
        let made = format!("select make_month('entries', now() - interval '{months} months')");
        assert_eq!(refusal_code(&old.bank.pool, &made).await, "BH006", "{months}");
    }
    // The service looks for missing months and reports no fault.
    let months = Months::new(old.bank.pool.clone(), &Metrics::default());
    months.maintain().await.unwrap();
    assert_eq!(old.close(2).await.unwrap(), Some(old.month(3).await));
    assert_eq!(old.differences().await, []);
}
