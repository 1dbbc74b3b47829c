//! A generated history, and the filters with which its settlements are listed.

use bahay::clock::{BoundedTimestamp, Timestamp};
use bahay::ids::PlayerId;
use bahay::reports::SettlementFilter;
use bahay::standings::Calendar;
use bahay_lab::fixtures::{self, GenerateHistory, HistoryError, HistorySummary};
use sqlx::PgPool;

use crate::support::bank::KIND;
use crate::support::db::{TestDatabase, read_value};

pub(super) const DAY_MS: i64 = 24 * 3_600_000;

/// 2026-03-01T12:00:00Z.
pub(super) const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);

/// Returns a time as an expression.
pub(super) fn sql(at: Timestamp) -> String {
    format!("to_timestamp({}::numeric / 1000)", at.ms())
}

/// Creates a database with this number of games in the ninety days before [`NOW`].
pub(crate) async fn history(games: u64, players: u32) -> (TestDatabase, PgPool, HistorySummary) {
    let database = TestDatabase::new().await;
    let owner = database.owner_pool().await;
    let what = GenerateHistory { games, days: 90, players, seed: 7, beside_others: false };
    let written = fixtures::generate(&owner, what, NOW, Calendar::default(), |_| {}).await.unwrap();
    let again = fixtures::generate(&owner, what, NOW, Calendar::default(), |_| {}).await;
    assert!(matches!(again, Err(HistoryError::HasGames)));
    let pool = database.pool().await;
    (database, pool, written)
}

pub(super) async fn bank_player(pool: &PgPool) -> PlayerId {
    PlayerId(read_value(pool, "select id from players limit 1").await)
}

/// Another kind than that of the rest of a history.
pub(super) const OTHER: &str = "another_game";

/// Returns the tested filters, each with its condition in plain SQL.
pub(super) fn filters(player: PlayerId) -> Vec<(SettlementFilter, String)> {
    let at = |days: i64, ms: i64| {
        BoundedTimestamp::new(Timestamp::from_ms(NOW.ms() - days * DAY_MS + ms)).unwrap()
    };
    let sql = |at: BoundedTimestamp| sql(at.into());
    let (from, to) = (at(60, 12_345), at(20, 54_321));
    let any = SettlementFilter::default;
    let plays = format!(
        "exists (select from game_players p where p.game = s.game and p.player = '{player}')"
    );
    vec![
        (any(), "true".into()),
        (SettlementFilter { room: "barkada".parse().ok(), ..any() }, "room = 'barkada'".into()),
        (
            SettlementFilter { from: Some(from), to: Some(to), ..any() },
            format!("finished_at >= {} and finished_at < {}", sql(from), sql(to)),
        ),
        (
            SettlementFilter { from: Some(at(30, 5)), to: Some(at(30, 7_200_000)), ..any() },
            format!(
                "finished_at >= {} and finished_at < {}",
                sql(at(30, 5)),
                sql(at(30, 7_200_000))
            ),
        ),
        (SettlementFilter { ending: "tongits".parse().ok(), ..any() }, "ending = 'tongits'".into()),
        (SettlementFilter { kind: OTHER.parse().ok(), ..any() }, format!("kind = '{OTHER}'")),
        (SettlementFilter { took_pot: Some(true), ..any() }, "pot is not null".into()),
        (SettlementFilter { taken_over: Some(true), ..any() }, "taken_over".into()),
        (
            SettlementFilter { gross_min: Some(500), gross_max: Some(2_000), ..any() },
            "gross between 500 and 2000".into(),
        ),
        (SettlementFilter { player: Some(player.0), ..any() }, plays.clone()),
        (
            SettlementFilter { player: Some(player.0), kind: KIND.parse().ok(), ..any() },
            format!("{plays} and kind = '{KIND}'"),
        ),
        (
            SettlementFilter {
                player: Some(player.0),
                took_pot: Some(false),
                from: Some(from),
                ..any()
            },
            format!("{plays} and pot is null and finished_at >= {}", sql(from)),
        ),
        (SettlementFilter { room: "nowhere".parse().ok(), ..any() }, "false".into()),
    ]
}
