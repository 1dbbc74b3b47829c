//! Transactions whose caller stops waiting.

use std::time::Duration;

use bahay::db::{self, PoolOptions};
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::support::db::{TestDatabase, execute};

/// A setting of the session, which a rollback of the transaction that sets it takes back.
const MARK: &str = "select current_setting('bahay.mark', true)";

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_kept_although_a_caller_stopped_waiting_for_its_transaction() {
    let database = TestDatabase::new().await;
    let options = PoolOptions { connections_max: 1, ..PoolOptions::default() };
    let pool = db::connect(database.options(), options).await.unwrap();
    for polls in 1..20 {
        while pool.num_idle() == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        let impatience = async {
            for _ in 1..polls {
                yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = db::begin(&pool) => {}
            () = impatience => {}
        }
        let mark = format!("mark {polls}");
        execute(&pool, &format!("set bahay.mark = '{mark}'")).await;
        drop(db::begin(&pool).await.unwrap());
        let kept: String = sqlx::query_scalar(MARK).fetch_one(&pool).await.unwrap();
        assert_eq!(kept, mark, "after {polls} polls");
    }
}
