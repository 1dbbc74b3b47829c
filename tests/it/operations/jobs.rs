//! The queue of jobs: a job is performed once it was enqueued, by one worker at a time, whatever
//! happens to the others; and what fails for good is kept for an operator.

use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bahay::clock::Clock;
use bahay::jobs::Jobs;
use bahay::metrics::Metrics;
use bahay::retention::{Retention, RetentionPeriods};
use bahay::verify::hourly::Checks;
use bahay_jobs::{
    Attempt, DiscardedJob, EnqueueOptions, Job, Outcome, Retries, Worker, discard_dead_in_tx,
    enqueue, enqueue_with, list_dead, retry_dead_in_tx,
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use tokio::sync::watch;

use crate::support::db::{TestDatabase, execute, read_rows, read_value};
use crate::support::waiting::wait_until;

const DAY: Duration = Duration::from_hours(24);

#[derive(Serialize, Deserialize)]
struct Push {
    number: u32,
}

impl Job for Push {
    const NAME: &'static str = "push";
}

/// The numbers of the performed jobs.
type Log = Arc<Mutex<Vec<u32>>>;

/// Creates a worker that logs the numbers of jobs.
fn logging_worker(pool: &PgPool, log: &Log) -> Worker {
    let log = log.clone();
    Worker::new(pool.clone()).with_job(move |push: Push, _| {
        log.lock().unwrap().push(push.number);
        async { Ok::<_, Infallible>(()) }
    })
}

/// Creates a worker whose jobs fail, and which gives up after three attempts.
fn failing_worker(pool: &PgPool) -> Worker {
    let delay = Duration::from_mins(1);
    Worker::new(pool.clone())
        .with_retries(Retries { attempts_max: 3, first_delay: delay, delay_max: DAY })
        .with_job(|_: Push, _| async { Err("no answer") })
        .every(DAY, "sweep", || async { Err("no broom") })
}

/// Creates a worker whose jobs never end.
fn stuck_worker(pool: &PgPool) -> Worker {
    Worker::new(pool.clone()).with_job(|_: Push, _| pending::<Result<(), Infallible>>())
}

async fn push(pool: &PgPool, number: u32) {
    enqueue(&mut pool.acquire().await.unwrap(), &Push { number }).await.unwrap();
}

/// Lets the delays and leases of all jobs end.
async fn let_time_pass(pool: &PgPool) {
    execute(pool, "update jobs set run_at = now()").await;
}

/// Returns name, attempts and the minutes until it is due of each living job.
async fn waiting(pool: &PgPool) -> Vec<(String, i32, i32)> {
    let query = "select name, attempts, round(extract(epoch from run_at - now()) / 60)::int
        from jobs where died_at is null order by name, id";
    read_rows(pool, query).await
}

#[tokio::test]
async fn a_job_of_a_rolled_back_transaction_does_not_exist() {
    let (_database, pool) = TestDatabase::with_pool().await;
    let log = Log::default();
    let worker = logging_worker(&pool, &log);
    let mut tx = pool.begin().await.unwrap();
    enqueue(&mut tx, &Push { number: 1 }).await.unwrap();
    // Nobody sees it before the commit.
    assert_eq!(worker.run_jobs().await.unwrap(), 0);
    tx.rollback().await.unwrap();
    push(&pool, 2).await;
    assert_eq!(worker.run_jobs().await.unwrap(), 1);
    assert_eq!(*log.lock().unwrap(), [2]);
    assert_eq!(waiting(&pool).await, []);
}

#[tokio::test]
async fn a_job_is_due_at_its_time_and_a_key_is_unique_while_it_waits() {
    let (_database, pool) = TestDatabase::with_pool().await;
    let log = Log::default();
    let worker = logging_worker(&pool, &log);
    let mut connection = pool.acquire().await.unwrap();
    let run_at = Some(jiff::Timestamp::now() + DAY);
    let later = EnqueueOptions { unique_key: Some("welcome:1"), run_at };
    assert!(enqueue_with(&mut connection, &Push { number: 1 }, later).await.unwrap());
    assert!(!enqueue_with(&mut connection, &Push { number: 2 }, later).await.unwrap());
    assert_eq!(worker.run_jobs().await.unwrap(), 0);
    let_time_pass(&pool).await;
    assert_eq!(worker.run_jobs().await.unwrap(), 1);
    assert_eq!(*log.lock().unwrap(), [1]);
    assert!(enqueue_with(&mut connection, &Push { number: 3 }, later).await.unwrap());
}

#[tokio::test]
async fn two_workers_perform_each_job_once() {
    let (database, pool) = TestDatabase::with_pool().await;
    for number in 0..60 {
        push(&pool, number).await;
    }
    let log = Log::default();
    let one = logging_worker(&pool, &log);
    let other = logging_worker(&database.pool().await, &log);
    let (one, other) = tokio::join!(one.run_jobs(), other.run_jobs());
    assert_eq!(one.unwrap() + other.unwrap(), 60);
    let mut performed = log.lock().unwrap().clone();
    performed.sort_unstable();
    assert_eq!(performed, (0..60).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_failing_job_is_repeated_with_back_off_and_then_a_dead_letter() {
    let (_database, pool) = TestDatabase::with_pool().await;
    let worker = failing_worker(&pool);
    push(&pool, 7).await;
    for (attempts, minutes) in [(1, 1), (2, 2)] {
        assert_eq!(worker.run_jobs().await.unwrap(), 2);
        let expected = ["push", "sweep"].map(|name| (name.to_owned(), attempts, minutes));
        assert_eq!(waiting(&pool).await, expected);
        assert_eq!(worker.run_jobs().await.unwrap(), 0);
        let_time_pass(&pool).await;
    }
    assert_eq!(worker.run_jobs().await.unwrap(), 2);
    let dead = list_dead(&pool, None, 10).await.unwrap();
    let mut found: Vec<_> =
        dead.iter().map(|job| (&*job.name, job.attempts, &*job.last_error)).collect();
    found.sort_unstable();
    assert_eq!(found, [("push", 3, "no answer"), ("sweep", 3, "no broom")]);
    assert_eq!(worker.read_stats().await.unwrap().dead, 2);
    // The next run of a periodic job waits, and replaces the dead letter or deletes it.
    let next = waiting(&pool).await;
    assert_eq!((next.len(), &*next[0].0, next[0].1), (1, "sweep", 0));
    for _ in 0..3 {
        let_time_pass(&pool).await;
        worker.run_jobs().await.unwrap();
    }
    assert_eq!(worker.read_stats().await.unwrap().dead, 2);
    let_time_pass(&pool).await;
    let mended =
        Worker::new(pool.clone()).every(DAY, "sweep", || async { Ok::<_, Infallible>(()) });
    assert_eq!(mended.run_jobs().await.unwrap(), 1);

    // The operator retries the other one: it has all its attempts again.
    let [dead] = &list_dead(&pool, None, 10).await.unwrap()[..] else { panic!("one is dead") };
    let mut connection = pool.acquire().await.unwrap();
    let retried = retry_dead_in_tx(&mut connection, dead.id).await.unwrap();
    assert_eq!(retried.as_deref(), Some("push"));
    assert_eq!(retry_dead_in_tx(&mut connection, dead.id).await.unwrap(), None);
    let log = Log::default();
    assert_eq!(logging_worker(&pool, &log).run_jobs().await.unwrap(), 1);
    assert_eq!(*log.lock().unwrap(), [7]);
}

#[tokio::test]
async fn a_discarded_dead_letter_is_gone_and_a_living_job_cannot_be_discarded() {
    let (_database, pool) = TestDatabase::with_pool().await;
    push(&pool, 1).await;
    let mut connection = pool.acquire().await.unwrap();
    let id: i64 = read_value(&pool, "select id from jobs").await;
    assert_eq!(discard_dead_in_tx(&mut connection, id).await.unwrap(), None);
    execute(&pool, "update jobs set died_at = now(), last_error = 'x'").await;
    let discarded = discard_dead_in_tx(&mut connection, id).await.unwrap();
    let push = DiscardedJob {
        name: "push".into(),
        payload: serde_json::to_value(Push { number: 1 }).unwrap(),
        last_error: "x".into(),
    };
    assert_eq!(discarded, Some(push));
    assert_eq!(list_dead(&pool, None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn the_job_of_a_killed_worker_is_taken_again() {
    let (_database, pool) = TestDatabase::with_pool().await;
    push(&pool, 1).await;
    let killed = tokio::spawn({
        let worker = stuck_worker(&pool);
        async move { worker.run_jobs().await }
    });
    wait_until("the job is taken", async || waiting(&pool).await[0].1 == 1).await;
    killed.abort();
    let log = Log::default();
    let worker = logging_worker(&pool, &log);
    assert_eq!(worker.run_jobs().await.unwrap(), 0, "the lease has not ended");
    let_time_pass(&pool).await;
    assert_eq!(worker.run_jobs().await.unwrap(), 1);
    assert_eq!(*log.lock().unwrap(), [1]);
}

#[tokio::test]
async fn a_job_that_kills_each_of_its_workers_dies() {
    let (_database, pool) = TestDatabase::with_pool().await;
    push(&pool, 1).await;
    execute(&pool, "update jobs set attempts = 12").await;
    assert_eq!(logging_worker(&pool, &Log::default()).run_jobs().await.unwrap(), 1);
    let dead = list_dead(&pool, None, 10).await.unwrap();
    assert_eq!(dead[0].last_error, "each process that took the job ended before it");
}

#[tokio::test]
async fn a_stopping_worker_hands_back_what_it_cannot_end() {
    let (_database, pool) = TestDatabase::with_pool().await;
    push(&pool, 1).await;
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(stuck_worker(&pool).run(stopping));
    wait_until("the job is taken", async || waiting(&pool).await[0].1 == 1).await;
    stop.send_replace(true);
    running.await.unwrap();
    assert_eq!(waiting(&pool).await, [("push".to_owned(), 0, 0)]);
    assert_eq!(logging_worker(&pool, &Log::default()).run_jobs().await.unwrap(), 1);
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let (_database, pool) = TestDatabase::with_pool().await;
    push(&pool, 1).await;
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let observed = outcomes.clone();
    let worker = Worker::new(pool.clone())
        .with_observer(move |job, outcome| observed.lock().unwrap().push((job, outcome)))
        .with_job(|push: Push, _| async move {
            assert_eq!(push.number, 0, "as planned");
            Ok::<_, Infallible>(())
        });
    assert_eq!(worker.run_jobs().await.unwrap(), 1);
    assert_eq!(*outcomes.lock().unwrap(), [("push", Outcome::Failed)]);
    let error: String = read_value(&pool, "select last_error from jobs").await;
    assert_eq!(error, "the handler panicked");
}

/// A handler that ends its job in the transaction of its work does the work once, even if its lease
/// ends meanwhile and the job is taken again.
#[tokio::test]
async fn a_job_that_ends_with_its_work_is_done_once() {
    let (_database, pool) = TestDatabase::with_pool().await;
    push(&pool, 1).await;
    let works = pool.clone();
    let worker = Worker::new(pool.clone()).with_job(move |_: Push, attempt: Attempt| {
        let pool = works.clone();
        async move {
            if attempt.number == 1 {
                execute(&pool, "update jobs set turn = turn + 1, run_at = now()").await;
            }
            let mut tx = pool.begin().await?;
            let work = "insert into players (id, name) values (gen_random_uuid(), 'Tala')";
            sqlx::query(work).execute(&mut *tx).await?;
            if attempt.finish_in_tx(&mut tx).await? { tx.commit().await } else { Ok(()) }
        }
    });
    assert_eq!(worker.run_jobs().await.unwrap(), 2);
    let done: i64 = read_value(&pool, "select count(*) from players where name = 'Tala'").await;
    assert_eq!((done, waiting(&pool).await.len()), (1, 0));
}

#[tokio::test]
async fn a_periodic_job_runs_once_in_a_period_on_all_nodes() {
    let (database, pool) = TestDatabase::with_pool().await;
    let runs = Arc::new(Mutex::new(0));
    let node = |pool: &PgPool| {
        let runs = runs.clone();
        Worker::new(pool.clone()).every(DAY, "sweep", move || {
            *runs.lock().unwrap() += 1;
            async { Ok::<_, Infallible>(()) }
        })
    };
    let nodes = [node(&pool), node(&database.pool().await)];
    for expected in 1..=3 {
        let (one, other) = tokio::join!(nodes[0].run_jobs(), nodes[1].run_jobs());
        assert_eq!(one.unwrap() + other.unwrap(), 1);
        assert_eq!(*runs.lock().unwrap(), expected);
        // The next run is due at the next midnight of UTC.
        let at_midnight =
            "select run_at = date_trunc('day', now(), 'UTC') + interval '1 day' from jobs";
        let at_midnight: bool = read_value(&pool, at_midnight).await;
        assert!(at_midnight);
        let_time_pass(&pool).await;
    }
    // A period that was shortened applies from the start of a node on.
    nodes[0].run_jobs().await.unwrap();
    let hourly = Worker::new(pool.clone())
        .every(Duration::from_mins(1), "sweep", || async { Ok::<_, Infallible>(()) });
    assert_eq!(hourly.run_jobs().await.unwrap(), 0);
    assert!(waiting(&pool).await[0].2 <= 1);
}

#[tokio::test]
async fn the_jobs_of_the_house_run_and_every_node_shows_their_results() {
    let database = TestDatabase::new().await;
    let nodes = [database.pool().await, database.pool().await].map(|pool| {
        let metrics = Metrics::default();
        let checks = Checks::new(pool.clone(), DAY, &metrics);
        let retention = Retention::new(pool.clone(), Clock::system(), RetentionPeriods::default());
        (Jobs::new(pool, &metrics, &retention, &checks, None), checks, metrics)
    });
    assert_eq!(nodes[0].0.run_jobs().await.unwrap(), 4);
    assert_eq!(nodes[1].0.run_jobs().await.unwrap(), 0);
    for (jobs, checks, metrics) in &nodes {
        jobs.observe().await.unwrap();
        assert_eq!(checks.last().map(|last| last.differences), Some(0));
        let text = metrics.text().unwrap();
        for line in [
            "bahay_ledger_check_differences 0",
            "bahay_partition_months_ahead 3",
            "bahay_oldest_due_job_seconds 0",
            "bahay_dead_jobs 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
    }
    let text = nodes[0].2.text().unwrap();
    for job in ["check_ledger", "maintain_months", "measure_conduct", "remove_expired_rows"] {
        let line = format!("bahay_jobs_done_total{{name=\"{job}\"}} 1");
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
}
