//! Each operation with the connection cut at each request of its conversation with PostgreSQL:
//! before the request is sent, while it is carried out, and after it was answered. Whatever the
//! requests are, the last but a ping is the commit, so all that can happen to that is among them.
//!
//! In one half of the cases a new connection is to be had at once, and the call passes by itself.
//! In the other half nobody answers any more: the call says that it does not know, and when it is
//! repeated later there is one answer.

use bahay::db::{self, PoolOptions};
use bahay::ledger::{
    Grant, GrantCoins, Ledger, LedgerError, LedgerOptions, LedgerTasks, OpenGame, SettleGame,
};
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use futures_util::future::join_all;
use sqlx::PgPool;
use uuid::Uuid;

use super::{TAKEN, WON, insist};
use crate::support::bank::{Bank, PotGoes, settlement, table};
use crate::support::house::PATIENCE;
use crate::support::reason;
use crate::support::wire::{Afterwards, Count, Cut, Moment, Wire};

/// No operation comes near so many round trips.
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
    for moment in [Moment::Unsent, Moment::Unanswered, Moment::Unheard] {
        for afterwards in [Afterwards::Welcome, Afterwards::Refuse] {
            lanes.push(Lane::run(&bank, kind, moment, afterwards));
        }
    }
    for tally in join_all(lanes).await {
        println!("{kind:?}: {tally:?}");
        // To begin, to read, to write and to commit, at the very least.
        assert!(tally.requests >= 4, "{tally:?}");
        match (tally.afterwards, tally.moment) {
            (Afterwards::Welcome, _) => assert_eq!(tally.unknown, 0, "{tally:?}"),
            // The commit that was not sent is none; the one that was answered is one.
            (Afterwards::Refuse, Moment::Unsent) => assert_eq!(tally.done, 0, "{tally:?}"),
            (Afterwards::Refuse, Moment::Unanswered | Moment::Unheard) => {
                assert!(tally.unknown > 1, "{tally:?}");
                assert_eq!(tally.done, 1, "{tally:?}");
            }
        }
    }
    bank.audit_clean().await;
}

/// What came of all cuts of one sort.
#[derive(Debug)]
struct Tally {
    moment: Moment,
    afterwards: Afterwards,
    /// At how many requests the connection was cut.
    requests: u64,
    /// How often the call said that it did not know.
    unknown: u64,
    /// How often it was done all the same.
    done: u64,
}

/// A ledger at the end of a wire, and players whom only its operations touch.
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
            // Nobody will answer, so there is nothing to wait for.
            Afterwards::Refuse => 200,
        };
        let options = PoolOptions { connections_max: 1, acquire_timeout_ms, ..Default::default() };
        let options = db::connect(wire.through(&bank.database.options()), options);
        let pool = options.await.expect("the wire lets through");
        // It folds once at its start. A request of that may be the one that is cut, which does
        // no harm: the operation's turn comes with a later number.
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
            lane.renew().await;
            lane.wire.cut_at(Cut { request, moment, count: Count::Together, afterwards });
            let answer = tokio::time::timeout(PATIENCE, call.make(&lane.ledger)).await;
            let answer = answer.expect("there is an answer or a refusal");
            let is_cut = !lane.wire.cut_no_more();
            match &answer {
                Ok(_) => {}
                Err(LedgerError::Unavailable { .. }) => {
                    tally.unknown += 1;
                    tally.done += u64::from(call.is_done(bank).await);
                }
                Err(error) => panic!("at request {request}: {error}"),
            }
            lane.wire.welcome().await;
            let later = insist(|| call.make(&lane.ledger)).await.unwrap();
            assert_eq!(insist(|| call.make(&bank.ledger)).await.unwrap(), later);
            if let Ok(answer) = &answer {
                assert_eq!(*answer, later);
            }
            call.check(bank, &before, &lane.players).await;
            match (is_cut, answer) {
                (true, _) => tally.requests += 1,
                (false, Ok(_)) => return tally,
                // Too slow a machine for so short a wait: the same once more.
                (false, Err(_)) => {}
            }
        }
    }

    /// The next operation has a new connection, on which nothing is prepared.
    async fn renew(&self) {
        let old = loop {
            match self.pool.acquire().await {
                Ok(connection) => break connection,
                Err(sqlx::Error::PoolTimedOut) => {}
                Err(error) => panic!("the wire lets through: {error}"),
            }
        };
        // Whether or not it is still alive.
        drop(old.close().await);
    }
}

/// A call that can be made again, and what it changes once.
enum Call {
    Open(OpenGame),
    Settle(SettleGame),
    Void(GameId),
    Grant(GrantCoins),
}

impl Call {
    /// Each with a room of its own, so that its fee account is yet to be made.
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
            Kind::Grant => Self::Grant(GrantCoins {
                player: players[0],
                grant: Grant::Daily,
                key: Uuid::new_v4().to_string(),
                amount: Coins::from_hundredths(700),
            }),
        }
    }

    async fn make(&self, ledger: &Ledger) -> Result<String, LedgerError> {
        Ok(match self {
            Self::Open(input) => format!("{:?}", ledger.open_game(input.clone()).await?),
            Self::Settle(input) => format!("{:?}", ledger.settle_game(input.clone()).await?),
            Self::Void(game) => {
                format!("{:?}", ledger.void_game(*game, &reason("a cable was cut")).await?)
            }
            Self::Grant(input) => format!("{:?}", ledger.grant(input.clone()).await?),
        })
    }

    /// Whether it is in the books.
    async fn is_done(&self, bank: &Bank) -> bool {
        let key = match self {
            Self::Open(input) => format!("open:{}", input.game),
            Self::Settle(input) => format!("settle:{}", input.game),
            Self::Void(game) => format!("void:{game}"),
            Self::Grant(input) => format!("daily:{}", input.key),
        };
        let found = sqlx::query_scalar("select exists (select from operations where key = $1)");
        found.bind(key).fetch_one(&bank.pool).await.expect("the operation is looked up")
    }

    async fn check(&self, bank: &Bank, before: &[i64], players: &[PlayerId]) {
        let changed = match self {
            Self::Open(_) => [-TAKEN; 3],
            Self::Settle(_) => WON.map(|won| TAKEN + won),
            Self::Void(_) => [TAKEN; 3],
            Self::Grant(_) => [700, 0, 0],
        };
        let expected: Vec<_> = before.iter().zip(changed).map(|(had, by)| had + by).collect();
        assert_eq!(bank.wallets(players).await, expected);
        // The players are to be as rich for the next one.
        if let Self::Open(input) = self {
            bank.ledger
                .void_game(input.game, &reason("it was open"))
                .await
                .expect("the game is voided");
        }
    }
}
