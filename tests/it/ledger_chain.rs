//! The hash chain: changes of posted operations are detected by the audit, and independently by the
//! query on the page for accountants.

use bahay::ledger::audit::{self, Difference};
use bahay::ledger::{Grant, OpeningOutcome};
use sqlx::{AssertSqlSafe, FromRow, PgConnection};

use crate::support::bank::{Bank, PotGoes, table};
use crate::support::db::read_value;

/// A finding of the query on the page.
#[derive(Debug, PartialEq, Eq, FromRow)]
struct ChainFindings {
    head: i64,
    hash: String,
    changed: Option<Vec<i64>>,
    broken: Option<Vec<i64>>,
    sealed_other_than_once: Option<Vec<i64>>,
}

impl ChainFindings {
    fn is_clean(&self) -> bool {
        self.changed.is_none() && self.broken.is_none() && self.sealed_other_than_once.is_none()
    }
}

async fn query_of_the_page(connection: &mut PgConnection) -> ChainFindings {
    let page = include_str!("../../docs/LEDGER.md");
    let mut queries = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let query = queries.find(|query| query.contains("from seals")).expect("the page has it");
    sqlx::query_as(AssertSqlSafe(query)).fetch_one(connection).await.unwrap()
}

/// Plays three games in three seals, and a refused opening that is sealed all the same.
async fn sealed() -> Bank {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let table = table();
    for winner in [0, 1, 2] {
        bank.play(table, &players, winner, 2, PotGoes::Nowhere).await;
        bank.ledger.seal_operations().await.unwrap();
    }
    let poor = bank.players([10_000, 10_000, 50]).await;
    let refused = bank.ledger.open_game(bank.deal(table, &poor)).await.unwrap();
    assert!(matches!(refused, OpeningOutcome::CannotPay { .. }));
    bank.audit_clean().await;
    bank
}

#[tokio::test]
async fn the_audit_and_the_query_of_the_page_find_the_same_end_of_the_chain() {
    let bank = sealed().await;
    let report = bank.audit_clean().await;
    let found = query_of_the_page(&mut bank.pool.acquire().await.unwrap()).await;
    assert!(found.is_clean(), "{found:?}");
    let head = report.head.expect("something was sealed");
    assert_eq!(head.to_string(), format!("{}:{}", found.head, found.hash));

    // Posted and unsealed operations change nothing; projecting continues from the same end.
    bank.grant(bank.player(0).await, Grant::Daily, 500).await.unwrap();
    assert_eq!(bank.audit().await.head, Some(head));
    let next = bank.audit_clean().await.head.expect("something was sealed");
    assert_eq!(next.number, head.number + 1);
    let kept = format!("select hash from seals where number = {}", head.number);
    assert_eq!(read_value::<Vec<u8>>(&bank.pool, &kept).await, head.hash);
}

/// Returns true for the planted difference.
type MatchesPlanted = fn(&Difference) -> bool;

#[tokio::test]
async fn every_change_of_a_posted_operation_is_detected_twice() {
    let bank = sealed().await;
    let owner = bank.database.owner_pool().await;
    let differs: MatchesPlanted = |it| matches!(it, Difference::OperationDiffers { .. });
    let broken: MatchesPlanted = |it| matches!(it, Difference::SealBroken { number: 2 });
    let missing: MatchesPlanted = |it| matches!(it, Difference::SealMissing { number: 2 });
    let astray: MatchesPlanted = |it| matches!(it, Difference::NotSealedOnce { .. });
    // The first settlement; it is in the first seal.
    let first = "(select min(id) from operations where kind = 'settle')";
    let cases: [(MatchesPlanted, &[&str]); 4] = [
        (
            differs,
            &[
                "update operations set amounts[1] = amounts[1] + 1 where id = FIRST",
                "update operations set codes[1] = 'release' where id = FIRST",
                "update operations set sources[1] = 99 where id = FIRST",
                "update operations set destinations[1] = 99 where id = FIRST",
                // The transfers in another order, one less and one more.
                "update operations set codes = codes[2:] || codes[:1],
                    sources = sources[2:] || sources[:1],
                    destinations = destinations[2:] || destinations[:1],
                    amounts = amounts[2:] || amounts[:1]
                where id = FIRST",
                "update operations set codes = codes[2:], sources = sources[2:],
                    destinations = destinations[2:], amounts = amounts[2:]
                where id = FIRST",
                "update operations set codes = codes || codes[1], sources = sources || sources[1],
                    destinations = destinations || destinations[1], amounts = amounts || 1::bigint
                where id = FIRST",
                "update operations set answer = answer || '{\"pot\": 5}' where id = FIRST",
                "update operations set key = key || 'x' where id = FIRST",
                "update operations set kind = 'void' where id = FIRST",
                "update operations set game = null where id = FIRST",
                "update operations set input_hash = sha256('') where id = FIRST",
                "update operations set created_at = created_at + interval '1 microsecond'
                where id = FIRST",
                "delete from operations where id = FIRST",
                // An operation without transfers.
                "delete from operations where answer ->> 'outcome' = 'cannot_pay'",
            ],
        ),
        (
            broken,
            &[
                "update seals set digests = sha256('') || substring(digests from 33)
                where number = 2",
                "update seals set hash = sha256('') where number = 2",
                "update seals set number = case number when 2 then 903 else 902 end
                where number in (2, 3);
                update seals set number = number - 900 where number > 900",
            ],
        ),
        (missing, &["delete from seals where number = 2"]),
        (
            astray,
            &[
                // The last one, too.
                "delete from seals where number = (select max(number) from seals)",
                "insert into unsealed_operations select operations[1] from seals
                where number = 2",
            ],
        ),
    ];
    let cases =
        cases.into_iter().flat_map(|(planted, all)| all.iter().map(move |one| (planted, one)));
    for (planted, tamper) in cases {
        let tamper = tamper.replace("FIRST", first);
        // Each on a clean copy, because the previous one is rolled back.
        let mut tx = owner.begin().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(tamper.clone())).execute(&mut *tx).await.unwrap();
        let report = audit::audit_in_tx(&mut tx).await.unwrap();
        assert!(report.differences.iter().any(planted), "{tamper}: {:?}", report.differences);
        let found = query_of_the_page(&mut tx).await;
        assert!(!found.is_clean(), "{tamper}: {found:?}");
        tx.rollback().await.unwrap();
    }
    assert!(query_of_the_page(&mut bank.pool.acquire().await.unwrap()).await.is_clean());
    bank.audit_clean().await;
}

/// A recomputed chain is consistent, but its end differs from the recorded one.
#[tokio::test]
async fn a_chain_written_anew_has_another_end() {
    let bank = sealed().await;
    let noted = bank.audit_clean().await.head.expect("something was sealed");
    let owner = bank.database.owner_pool().await;
    let tamper = "update operations set created_at = created_at + interval '1 hour';
        insert into unsealed_operations select id from operations; delete from seals;
        update accounts set balance = 0, version = 0 where kind in ('fee', 'issue')";
    sqlx::raw_sql(tamper).execute(&owner).await.unwrap();
    let head = bank.audit_clean().await.head.expect("something was sealed");
    assert_ne!(head.hash, noted.hash);
}
