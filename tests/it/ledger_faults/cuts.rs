//! Each operation with the connection cut at each of its requests to PostgreSQL: before the request
//! is sent, while it is executed, and after it was answered. The last request except a ping is the
//! commit, so the cases include every fault of the commit.
//!
//! In one half of the cases a new connection is available at once, and the call succeeds by its own
//! retry. In the other half all new connections are refused: the call fails as unavailable, because
//! its outcome is unknown, and a later repetition has exactly one effect and one answer.

use bahay::db::{self, ConnectError, PoolOptions};
use bahay::ledger::{
    Grant, GrantCoins, Ledger, LedgerError, LedgerOptions, LedgerTasks, OpenGame, SettleGame,
};
use bahay_engine::table::{GameId, PlayerId};
use futures_util::future::join_all;
use sqlx::PgPool;
use uuid::Uuid;

use super::{TAKEN, WON, retry_until_answered};
use crate::support::bank::{Bank, PotGoes, grant_coins, settlement, table};
use crate::support::db::count_rows;
use crate::support::house::PATIENCE;
use crate::support::reason;
use crate::support::wire::{Afterwards, Count, Cut, Moment, Wire};

/// A bound on the requests of an operation, which no operation approaches.
const REQUESTS_MAX: u64 = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Open,
    Settle,
    Void,
    Grant,
}

#[tokio::test]
async fn opening_survives_a_cut_at_any_request() {
    cut_everywhere(Kind::Open).await;
}

#[tokio::test]
async fn settling_survives_a_cut_at_any_request() {
    cut_everywhere(Kind::Settle).await;
}

#[tokio::test]
async fn voiding_survives_a_cut_at_any_request() {
    cut_everywhere(Kind::Void).await;
}

#[tokio::test]
async fn a_grant_survives_a_cut_at_any_request() {
    cut_everywhere(Kind::Grant).await;
}

async fn cut_everywhere(kind: Kind) {
    let bank = Bank::new().await;
    let mut lanes = Vec::new();
    for moment in [Moment::Unsent, Moment::Unanswered, Moment::Undelivered] {
        for afterwards in [Afterwards::Welcome, Afterwards::Refuse] {
            lanes.push(Lane::run(&bank, kind, moment, afterwards));
        }
    }
    for tally in join_all(lanes).await {
        println!("{kind:?}: {tally:?}");
        // An operation at least begins, reads, writes and commits.
        assert!(tally.requests >= 4, "{tally:?}");
        match (tally.afterwards, tally.moment) {
            (Afterwards::Welcome, _) => assert_eq!(tally.unknown, 0, "{tally:?}"),
            // A commit that was not sent has no effect; one that the server received has.
            (Afterwards::Refuse, Moment::Unsent) => assert_eq!(tally.done, 0, "{tally:?}"),
            (Afterwards::Refuse, Moment::Unanswered | Moment::Undelivered) => {
                assert!(tally.unknown > 1, "{tally:?}");
                assert_eq!(tally.done, 1, "{tally:?}");
            }
        }
    }
    bank.audit_clean().await;
}

/// The results of all cuts of one kind.
#[derive(Debug)]
struct Tally {
    moment: Moment,
    afterwards: Afterwards,
    /// The number of requests at which the connection was cut.
    requests: u64,
    /// The number of calls that failed as unavailable, with an unknown outcome.
    unknown: u64,
    /// The number of those calls whose operation was posted nevertheless.
    done: u64,
}

/// A ledger behind a proxy, with players whose wallets only its operations change.
struct Lane {
    players: Vec<PlayerId>,
    wire: Wire,
    pool: PgPool,
    ledger: Ledger,
    _tasks: LedgerTasks,
}

impl Lane {
    async fn new(bank: &Bank, afterwards: Afterwards) -> Self {
        let players = bank.players([1_000_000; 3]).await;
        let wire = Wire::postgres(&bank.database.options()).await;
        let acquire_timeout_ms = match afterwards {
            Afterwards::Welcome => 30_000,
            // After the cut no connection is accepted, so a long wait is useless; before it, a busy
            // machine needs more than 200 ms for a connection.
            Afterwards::Refuse => 600,
        };
        let options = PoolOptions { connections_max: 1, acquire_timeout_ms, ..Default::default() };
        let pool = loop {
            match db::connect(wire.through(&bank.database.options()), options).await {
                Ok(pool) => break pool,
                Err(ConnectError::Unreachable(sqlx::Error::PoolTimedOut)) => {}
                Err(error) => panic!("the proxy accepts connections: {error}"),
            }
        };
        // The ledger projects once at its start. If a request of that projection is the one that is
        // cut, the operation's requests are cut at later numbers.
        let options = LedgerOptions {
            batches_at_once: 1,
            queue: 8,
            projection_interval_ms: 3_600_000,
            ..LedgerOptions::default()
        };
        let (ledger, tasks) = Ledger::start(pool.clone(), options);
        Self { players, wire, pool, ledger, _tasks: tasks }
    }

    async fn run(bank: &Bank, kind: Kind, moment: Moment, afterwards: Afterwards) -> Tally {
        let lane = Self::new(bank, afterwards).await;
        let mut tally = Tally { moment, afterwards, requests: 0, unknown: 0, done: 0 };
        loop {
            let request = tally.requests + 1;
            assert!(request < REQUESTS_MAX, "{tally:?}");
            let call = Call::new(bank, kind, &lane.players).await;
            let before = bank.wallets(&lane.players).await;
            lane.renew_connection().await;
            lane.wire.cut_at(Cut { request, moment, count: Count::Together, afterwards });
            let answer = tokio::time::timeout(PATIENCE, call.perform(&lane.ledger)).await;
            let answer = answer.expect("the call returns in time");
            let is_cut = !lane.wire.cancel_cut();
            match &answer {
                Ok(_) => {}
                Err(LedgerError::Unavailable { .. }) => {
                    tally.unknown += 1;
                    tally.done += u64::from(call.is_done(bank).await);
                }
                Err(error) => panic!("at request {request}: {error}"),
            }
            lane.wire.welcome().await;
            let later = retry_until_answered(|| call.perform(&lane.ledger)).await.unwrap();
            assert_eq!(retry_until_answered(|| call.perform(&bank.ledger)).await.unwrap(), later);
            if let Ok(answer) = &answer {
                assert_eq!(*answer, later);
            }
            call.check(bank, &before, &lane.players).await;
            match (is_cut, answer) {
                (true, _) => tally.requests += 1,
                (false, Ok(_)) => return tally,
                // The machine was too slow for the short timeout, so the request number is retried.
                (false, Err(_)) => {}
            }
        }
    }

    /// Closes the pooled connection, so that the next operation opens one without prepared
    /// statements.
    async fn renew_connection(&self) {
        let old = loop {
            match self.pool.acquire().await {
                Ok(connection) => break connection,
                Err(sqlx::Error::PoolTimedOut) => {}
                Err(error) => panic!("the proxy accepts connections: {error}"),
            }
        };
        // The connection may be dead already.
        drop(old.close().await);
    }
}

/// A call that can be repeated and takes effect once.
enum Call {
    Open(OpenGame),
    Settle(SettleGame),
    Void(GameId),
    Grant(GrantCoins),
}

impl Call {
    /// Creates a call. Each game has its own room, so that the room's fee account does not exist
    /// yet.
    async fn new(bank: &Bank, kind: Kind, players: &[PlayerId]) -> Self {
        let mut game = bank.deal(table(), players);
        game.room = format!("room-{}", game.game);
        match kind {
            Kind::Open => Self::Open(game),
            Kind::Settle => {
                let (stakes, pot) = bank.open(&game).await;
                let settlement = settlement(0, 3, &stakes, PotGoes::ToWinner, pot);
                Self::Settle(bank.finish(&game, settlement))
            }
            Kind::Void => {
                bank.open(&game).await;
                Self::Void(game.game)
            }
            Kind::Grant => Self::Grant(grant_coins(players[0], Grant::Daily, Uuid::new_v4(), 700)),
        }
    }

    async fn perform(&self, ledger: &Ledger) -> Result<String, LedgerError> {
        Ok(match self {
            Self::Open(input) => format!("{:?}", ledger.open_game(input.clone()).await?),
            Self::Settle(input) => format!("{:?}", ledger.settle_game(input.clone()).await?),
            Self::Void(game) => {
                format!("{:?}", ledger.void_game(*game, &reason("a cable was cut")).await?)
            }
            Self::Grant(input) => format!("{:?}", ledger.grant(input.clone()).await?),
        })
    }

    /// Returns true if the operation is posted.
    async fn is_done(&self, bank: &Bank) -> bool {
        let key = match self {
            Self::Open(input) => format!("open:{}", input.game),
            Self::Settle(input) => format!("settle:{}", input.game),
            Self::Void(game) => format!("void:{game}"),
            Self::Grant(input) => format!("daily:{}", input.key),
        };
        count_rows(&bank.pool, &format!("operations where key = '{key}'")).await > 0
    }

    async fn check(&self, bank: &Bank, before: &[i64], players: &[PlayerId]) {
        let changes = match self {
            Self::Open(_) => [-TAKEN; 3],
            Self::Settle(_) => WON.map(|won| TAKEN + won),
            Self::Void(_) => [TAKEN; 3],
            Self::Grant(_) => [700, 0, 0],
        };
        let expected = before.iter().zip(changes).map(|(balance, change)| balance + change);
        let expected: Vec<_> = expected.collect();
        assert_eq!(bank.wallets(players).await, expected);
        // The stakes return to the wallets for the next call.
        if let Self::Open(input) = self {
            bank.void_game(input).await;
        }
    }
}
