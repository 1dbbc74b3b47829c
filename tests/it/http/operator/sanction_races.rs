//! Races between sanctions and sessions: in either order, the sanction holds.
//!
//! A race is staged with a lock: one side is stopped within its transaction, the other runs until
//! it is done or waits too, and then both continue.

use bahay::accounts::{Sanction, SanctionKind};
use bahay::operators::Sanctions;
use bahay::operators::audit::Actor;
use bahay::ws::protocol::Command;
use bahay_client_tokio::PlayError;
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinHandle;

use crate::http::server::{
    DEVICE, Guest, Node, OTHER_DEVICE, PASSWORD, Server, answer, expect_refusal, ok, status_of,
};
use crate::support::db::{count_rows, count_waiting, execute, lock_table};
use crate::support::house::House;
use crate::support::play::TestPlay as _;
use crate::support::reason;
use crate::support::rest::http_client;
use crate::support::waiting::wait_until;

/// The ways of opening a session.
#[derive(Clone, Copy, Debug)]
enum SignIn {
    Guest,
    Password,
}

impl SignIn {
    const ALL: [Self; 2] = [Self::Guest, Self::Password];

    fn request(self, server: &Server, name: &str, device: &str) -> RequestBuilder {
        let node = &server.node;
        match self {
            Self::Guest => node.post("/v1/sign-in/guest", &json!({ "device_id": device })),
            Self::Password => {
                node.post("/v1/sign-in/password", &json!({ "name": name, "password": PASSWORD }))
            }
        }
    }
}

/// The calls that end all sessions.
#[derive(Clone, Copy, Debug)]
enum SessionEnd {
    Ban,
    Everywhere,
    NewPassword,
    NewDevice,
}

impl SessionEnd {
    const ALL: [Self; 4] = [Self::Ban, Self::Everywhere, Self::NewPassword, Self::NewDevice];

    /// Starts the call for a signed-in player.
    fn start(self, server: &Server, guest: &Guest, device: &str) -> JoinHandle<()> {
        let node = &server.node;
        let request = match self {
            Self::Ban => {
                let sanctions = Sanctions::new(server.bank.pool.clone(), server.clock.clone());
                let (player, by) = (guest.player(), Actor::COMMAND_LINE);
                return tokio::spawn(async move {
                    let ban = Sanction { reason: reason("collusion at tables"), ends_at: None };
                    sanctions.impose_as(&by, player, SanctionKind::Ban, &ban).await.unwrap();
                });
            }
            Self::Everywhere => node.request(Method::DELETE, "/v1/me/sessions"),
            Self::NewPassword => {
                let body = json!({ "current_password": PASSWORD, "password": "another tin roof" });
                node.request(Method::PUT, "/v1/me/password").json(&body)
            }
            Self::NewDevice => {
                let body = json!({ "device_id": device, "new_device_id": format!("{device}-new") });
                node.request(Method::PUT, "/v1/me/device").json(&body)
            }
        };
        let request = request.bearer_auth(&guest.access_token);
        tokio::spawn(async move {
            ok(request).await;
        })
    }

    /// Returns the number of sessions that remain to the requesting player.
    fn sessions_left(self) -> i64 {
        match self {
            Self::Ban | Self::Everywhere => 0,
            Self::NewPassword | Self::NewDevice => 1,
        }
    }
}

/// Stops `first` when it writes to a table, lets `second` run until it is done or waits too, and
/// then lets both finish.
async fn interleave<A, B>(
    owner: &PgPool,
    table: &str,
    first: impl FnOnce() -> JoinHandle<A>,
    second: impl FnOnce() -> JoinHandle<B>,
) -> (A, B) {
    let stopper = lock_table(owner, &format!("{table} in share row exclusive mode")).await;
    let first = first();
    wait_until("the first waits", async || count_waiting(owner).await == 1).await;
    let second = second();
    wait_until("the second is done or waits", async || {
        second.is_finished() || count_waiting(owner).await == 2
    })
    .await;
    stopper.rollback().await.unwrap();
    (first.await.unwrap(), second.await.unwrap())
}

async fn count_live(server: &Server, player: &str) -> i64 {
    let live = format!("sessions where player = '{player}' and revoked_at is null");
    count_rows(&server.bank.pool, &live).await
}

fn send(request: RequestBuilder) -> JoinHandle<u16> {
    tokio::spawn(status_of(request))
}

/// Creates a player with a device and a password.
async fn with_password(server: &Server, name: &str, device: &str) -> Guest {
    let guest = server.guest(device).await;
    ok(server.set_password(&guest, device, name, PASSWORD).await).await;
    guest
}

#[tokio::test(flavor = "multi_thread")]
async fn ending_all_sessions_ends_one_that_is_being_opened() {
    let server = Server::new().await;
    let owner = server.owner_pool().await;
    let mut number = 0;
    for sign_in in SignIn::ALL {
        for ending in SessionEnd::ALL {
            number += 1;
            let device = format!("{DEVICE}-{number}");
            let name = format!("Maria {number}");
            let guest = with_password(&server, &name, &device).await;
            let (status, ()) = interleave(
                &owner,
                "refresh_tokens",
                || send(sign_in.request(&server, &name, &device)),
                || ending.start(&server, &guest, &device),
            )
            .await;
            assert_eq!(status, 200, "{sign_in:?} {ending:?}");
            let live = count_live(&server, &guest.id).await;
            assert_eq!(live, ending.sessions_left(), "{sign_in:?} {ending:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_concurrent_with_a_ban_is_refused() {
    let server = Server::new().await;
    let owner = server.owner_pool().await;
    for (number, sign_in) in SignIn::ALL.into_iter().enumerate() {
        let device = format!("{DEVICE}-{number}");
        let name = format!("Maria {number}");
        let guest = with_password(&server, &name, &device).await;
        // The notice is the last write of a ban.
        let ((), status) = interleave(
            &owner,
            "notices",
            || SessionEnd::Ban.start(&server, &guest, &device),
            || send(sign_in.request(&server, &name, &device)),
        )
        .await;
        assert_eq!(status, 403, "{sign_in:?}");
        assert_eq!(count_live(&server, &guest.id).await, 0, "{sign_in:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_concurrent_with_a_ban_leaves_no_session() {
    let (server, guest) = Server::with_guest().await;
    let owner = server.owner_pool().await;
    let (status, ()) = interleave(
        &owner,
        "refresh_tokens",
        || send(server.refresh(&guest.refresh_token)),
        || SessionEnd::Ban.start(&server, &guest, DEVICE),
    )
    .await;
    assert_eq!(status, 200);
    assert_eq!(count_live(&server, &guest.id).await, 0);
}

/// Signs in a guest; `None` if it is banned.
async fn sign_in(node: &Node, device: &str) -> Option<Value> {
    let request = node.post("/v1/sign-in/guest", &json!({ "device_id": device }));
    match answer(200, request).await {
        Ok(answer) => Some(answer),
        Err(refusal) => {
            assert_eq!(refusal, (403, "banned".to_owned()));
            None
        }
    }
}

/// Bans a player amid its concurrent sign-ins at two nodes. Returns the sessions that were opened
/// before the ban.
async fn ban_in_a_crowd(server: &Server, other: &Node, number: usize) -> (Guest, Vec<Guest>) {
    let device = format!("{DEVICE}-{number}");
    let guest = server.guest(&device).await;
    let crowd = [&server.node, other, &server.node].map(|node| sign_in(node, &device));
    let ban = async {
        SessionEnd::Ban.start(server, &guest, &device).await.unwrap();
        [sign_in(other, &device).await, sign_in(server, &device).await]
    };
    let (before, after) = tokio::join!(join_all(crowd), ban);
    assert!(after.iter().all(Option::is_none), "no sign-in succeeds after the ban");
    assert_eq!(count_live(server, &guest.id).await, 0);
    (guest, before.into_iter().flatten().map(Guest::from_answer).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_bans_among_concurrent_sign_ins_leave_no_session() {
    let (server, other) = Server::with_other().await;
    let mut position = other.accounts.load_revocations().await.unwrap();
    let races = join_all((0..40).map(|number| ban_in_a_crowd(&server, &other, number))).await;
    other.accounts.poll_revocations(&mut position).await.unwrap();
    for guest in races.into_iter().flat_map(|(guest, opened)| opened.into_iter().chain([guest])) {
        other.expect_ended(&guest).await;
    }
}

/// An access token is accepted until its node has received the end of the session.
#[tokio::test]
async fn an_ended_session_cannot_change_credentials() {
    let server = Server::new().await;
    let guest = with_password(&server, "Maria", DEVICE).await;
    let credential = json!({ "by": "password", "password": PASSWORD });
    let proof = server.proof(&guest, &credential).await;
    let end = "update sessions set revoked_at = now(), revoked_in = pg_current_xact_id()";
    execute(&server.bank.pool, end).await;
    ok(server.get("/v1/me", &guest)).await;
    let new_device = json!({ "device_id": DEVICE, "new_device_id": OTHER_DEVICE });
    let new_password = json!({ "current_password": PASSWORD, "password": "another tin roof" });
    for request in [
        server.request(Method::PUT, "/v1/me/device").json(&new_device),
        server.request(Method::PUT, "/v1/me/password").json(&new_password),
        server.request(Method::DELETE, "/v1/me/devices"),
        server.request(Method::DELETE, "/v1/me"),
    ] {
        let request = request.bearer_auth(&guest.access_token).header("account-proof", &proof);
        expect_refusal(request, 401, "session_ended").await;
    }
    ok(server.post("/v1/sign-in/guest", &json!({ "device_id": DEVICE }))).await;
    ok(SignIn::Password.request(&server, "Maria", DEVICE)).await;
}

/// A banned player who has a session nevertheless, as after a ban that was inserted into the
/// database by hand.
#[tokio::test(flavor = "multi_thread")]
async fn a_banned_player_neither_joins_nor_refreshes() {
    let (house, client) = House::with_guest().await;
    let mut play = client.play().await.unwrap();
    let ban = format!(
        "insert into sanctions (id, player, kind, reason, imposed_at)
        values (gen_random_uuid(), '{}', 'ban', 'collusion at tables', now())",
        client.player()
    );
    execute(&house.database.owner_pool().await, &ban).await;
    let join = play.execute(|id| Command::Join { id, from: None, tag: None, table: None }).await;
    let Err(PlayError::Refused { code, detail, .. }) = join else { panic!("{join:?}") };
    assert_eq!((&*code, &*detail), ("banned", "banned for good: collusion at tables"));
    let refresh = http_client().post(format!("{}/v1/token/refresh", client.base()));
    let refresh = refresh.json(&json!({ "refresh_token": client.refresh_token() }));
    expect_refusal(refresh, 403, "banned").await;
}
