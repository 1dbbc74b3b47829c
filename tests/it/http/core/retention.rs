//! The removal of expired rows, by age and in portions, and the limit of sessions per player.

use std::time::Duration;

use bahay::accounts::{REFRESH_TOKEN_LIFE, SESSIONS_MAX};
use bahay::retention::{ExpiringRows, Retention, RetentionPeriods};
use sqlx::AssertSqlSafe;

use crate::http::server::{DEVICE, Guest, OTHER_DEVICE, Server, expect_refusal, ok, text};
use crate::support::db::{count_rows, execute, read_rows};
use crate::support::rest::items;

const DAY: Duration = Duration::from_hours(24);

async fn build_retention(server: &Server) -> Retention {
    Retention::new(
        server.bank.database.pool().await,
        server.clock.clone(),
        RetentionPeriods::default(),
    )
}

/// 2,500 rows of each kind that are slightly too old, and 7 that are not.
#[tokio::test]
async fn expired_rows_are_removed_in_portions() {
    let server = Server::new().await;
    let owner = server.owner_pool().await;
    let operator = "insert into operators (id, name, role)
        values ('00000000-0000-0000-0000-000000000001', 'ana', 'support')";
    execute(&owner, operator).await;
    let player = server.guest(DEVICE).await.id;
    let retention = build_retention(&server).await;
    let too_old = 2_500;
    let not_yet = 7;
    for (old, table, age_h, insert) in [
        (
            ExpiringRows::RefreshTokens,
            "refresh_tokens",
            24,
            "insert into refresh_tokens (hash, session, expires_at)
            select sha256(('T' || HOURS || n)::bytea), (select id from sessions limit 1), AT",
        ),
        (
            ExpiringRows::Sessions,
            "sessions",
            24 * 90,
            "insert into sessions (id, player, method, last_seen_at, expires_at, address)
            select gen_random_uuid(), 'PLAYER', 'guest', AT, now(), '192.0.2.7'",
        ),
        (
            ExpiringRows::OperatorSessions,
            "operator_sessions",
            24 * 90,
            "insert into operator_sessions (id, operator, token_hash, opened_at, last_seen_at)
            select gen_random_uuid(), '00000000-0000-0000-0000-000000000001',
                sha256(('O' || HOURS || n)::bytea), AT, AT",
        ),
        (
            ExpiringRows::SignInFailures,
            "sign_in_failures",
            1,
            "insert into sign_in_failures (name_hash, since, failures)
            select sha256(('F' || HOURS || n)::bytea), AT, 1",
        ),
        (
            ExpiringRows::GrantCounts,
            "grant_counts",
            // A day that ended two days ago.
            24 * 3,
            "insert into grant_counts (code, taker, day, granted)
            select 'relief', 'T' || HOURS || n, (AT)::date, 1",
        ),
        (
            ExpiringRows::IdempotencyAnswers,
            "idempotency_keys",
            48,
            "insert into idempotency_keys
                (caller, route, key, input_hash, attempt, lease, leased_until, created_at)
            select 'player:1', 'POST /', 'K' || HOURS || n, sha256('x'), gen_random_uuid(),
                gen_random_uuid(), now(), AT",
        ),
        (
            ExpiringRows::Notices,
            "notices",
            24 * 365,
            "insert into notices (player, kind, created_at) select 'PLAYER', 'game_voided', AT",
        ),
        (
            ExpiringRows::PairDays,
            "pair_days",
            // A day that ended 184 days ago.
            24 * 185,
            "insert into pair_days
                (day, first, second, games, paid, received, games_paid, games_received, squares)
            select (AT)::date, '00000000-0000-0000-0000-000000000000', gen_random_uuid(),
                1, 0, 0, 0, 0, 0",
        ),
    ] {
        let before = count_rows(&owner, table).await;
        for (hours, rows) in [(age_h + 1, too_old), (age_h / 2, not_yet)] {
            // The server's clock stands still.
            let now = server.clock.now().ms();
            let at = format!("to_timestamp({now} / 1000.0) - interval '{hours} hours'");
            let insert = insert.replace("PLAYER", &player).replace("AT", &at);
            let insert = insert.replace("HOURS", &format!("'{hours}-'"));
            execute(&owner, &format!("{insert} from generate_series(1, {rows}) as n")).await;
        }
        assert_eq!(count_rows(&owner, table).await, before + too_old + not_yet, "{old:?}");
        assert_eq!(retention.remove_portion(old).await.unwrap(), 1_000, "{old:?}");
        let rest = u64::try_from(too_old).unwrap() - 1_000;
        assert_eq!(retention.remove(old).await.unwrap(), rest, "{old:?}");
        assert_eq!(count_rows(&owner, table).await, before + not_yet, "{old:?}");
        assert_eq!(retention.remove(old).await.unwrap(), 0, "{old:?}");
    }
    ok(server.get("/v1/me", &server.guest(DEVICE).await)).await;
}

/// A player who returns in time notices nothing. For one who does not, nothing remains that shows
/// the origin of its sessions.
#[tokio::test]
async fn unused_sessions_are_removed_with_their_addresses() {
    let server = Server::new().await;
    let owner = server.owner_pool().await;
    let gone = server.guest(OTHER_DEVICE).await;
    let mut newest = server.guest(DEVICE).await;
    let retention = build_retention(&server).await;
    for _ in 0..5 {
        server.clock.advance(REFRESH_TOKEN_LIFE - DAY);
        newest = server.renew(&newest).await;
        for old in ExpiringRows::ALL {
            retention.remove(*old).await.unwrap();
        }
    }
    newest = server.renew(&newest).await;
    ok(server.get("/v1/me", &newest)).await;
    expect_refusal(server.refresh(&gone.refresh_token), 401, "refresh_token_unknown").await;
    let remaining = format!(
        "select s.id = '{}', count(t.hash) from sessions s
        left join refresh_tokens t on t.session = s.id group by s.id",
        text(&newest.answer["session"])
    );
    let remaining: Vec<(bool, i64)> = read_rows(&owner, &remaining).await;
    // The refresh tokens of the last two refreshes and of the following one.
    assert_eq!(remaining, [(true, 3)]);
    // The player signs in by its device nevertheless.
    assert_eq!(server.guest(OTHER_DEVICE).await.id, gone.id);
}

/// Two nodes that remove at the same time remove each row once, without waiting for each other.
#[tokio::test]
async fn concurrent_removals_do_not_block_each_other() {
    let server = Server::new().await;
    let owner = server.owner_pool().await;
    let insert = "insert into sign_in_failures (name_hash, since, failures)
        select sha256(n::text::bytea), '2026-01-01', 1 from generate_series(1, 4000) as n";
    execute(&owner, insert).await;
    let mut held = owner.begin().await.unwrap();
    let hold = "select name_hash from sign_in_failures order by name_hash limit 10 for update";
    sqlx::query(hold).fetch_all(&mut *held).await.unwrap();
    let one = build_retention(&server).await;
    let other = build_retention(&server).await;
    let both = async {
        tokio::join!(
            one.remove(ExpiringRows::SignInFailures),
            other.remove(ExpiringRows::SignInFailures)
        )
    };
    let (one, other) = tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
    let removed = one.unwrap() + other.unwrap();
    held.rollback().await.unwrap();
    let left = u64::try_from(count_rows(&owner, "sign_in_failures").await).unwrap();
    assert!(left >= 10 && removed + left == 4_000, "{removed} {left}");
}

async fn open_session(server: &Server) -> Guest {
    server.clock.advance(Duration::from_secs(1));
    server.guest(DEVICE).await
}

#[tokio::test]
async fn the_least_recently_used_session_ends_beyond_the_limit() {
    let server = Server::new().await;
    let other = server.guest(OTHER_DEVICE).await;
    let first = open_session(&server).await;
    let second = open_session(&server).await;
    server.clock.advance(Duration::from_secs(1));
    let first_again = server.renew(&first).await;
    for _ in 2..SESSIONS_MAX {
        open_session(&server).await;
    }
    let mut position = server.node.accounts.load_revocations().await.unwrap();
    ok(server.get("/v1/me", &second)).await;
    let newest = open_session(&server).await;
    assert_eq!(server.node.accounts.poll_revocations(&mut position).await.unwrap(), 1);
    server.expect_ended(&second).await;
    server.renew(&first_again).await;
    ok(server.get("/v1/me", &other)).await;
    let path = "/v1/me/sessions?limit=100";
    assert_eq!(items(&ok(server.get(path, &newest)).await).len(), SESSIONS_MAX);
}

/// Any number of concurrent sign-ins leaves no session beyond the limit.
#[tokio::test]
async fn concurrent_sign_ins_do_not_exceed_the_session_limit() {
    let server = Server::new().await;
    server.guest(DEVICE).await;
    let many = (0..3 * SESSIONS_MAX).map(|_| server.guest(DEVICE));
    let guests = futures_util::future::join_all(many).await;
    let alive = "sessions where revoked_at is null";
    let alive = count_rows(&server.bank.pool, alive).await;
    assert_eq!(usize::try_from(alive).unwrap(), SESSIONS_MAX);
    assert!(guests.iter().all(|guest| guest.id == guests[0].id));
}

/// A hundred thousand sessions that end at once are read once by each node, and not twice a second
/// for as long as they are relevant.
#[tokio::test]
async fn a_hundred_thousand_ended_sessions_are_read_once() {
    let (server, guest) = Server::with_guest().await;
    let owner = server.owner_pool().await;
    let other = server.another_node().await;
    let mut position = other.accounts.load_revocations().await.unwrap();
    let now = server.clock.now().ms();
    let insert = format!(
        "insert into sessions
            (id, player, method, expires_at, revoked_at, revoked_in, revoke_reason)
        select gen_random_uuid(), '{}', 'guest', now(), to_timestamp({now} / 1000.0),
            pg_current_xact_id(), 'signed_out'
        from generate_series(1, 100000)",
        guest.id
    );
    // A transaction that began before them and ends after them.
    let mut slow = owner.begin().await.unwrap();
    let end = format!(
        "update sessions set revoked_at = to_timestamp({now} / 1000.0),
            revoked_in = pg_current_xact_id()
        where id = '{}'",
        text(&guest.answer["session"])
    );
    sqlx::query(AssertSqlSafe(end)).execute(&mut *slow).await.unwrap();
    execute(&owner, &insert).await;
    assert_eq!(other.accounts.poll_revocations(&mut position).await.unwrap(), 100_000);
    assert_eq!(other.accounts.poll_revocations(&mut position).await.unwrap(), 0);
    ok(other.get("/v1/me", &guest)).await;
    slow.commit().await.unwrap();
    assert_eq!(other.accounts.poll_revocations(&mut position).await.unwrap(), 1);
    assert_eq!(other.accounts.poll_revocations(&mut position).await.unwrap(), 0);
    expect_refusal(other.get("/v1/me", &guest), 401, "token_revoked").await;
}
