//! What is held of a player, and its end.

use bahay_engine::table::{PlayerId, TableId};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use super::server::{Guest, Server, expect_refusal, ok, text};
use crate::support::bank::PotGoes;
use crate::support::reason;

const DEVICE: &str = "device-0123456789";
const PASSWORD: &str = "rain on a tin roof";

/// Three guests who have played a game; the first has a name and a password.
async fn played(server: &Server) -> (Vec<Guest>, TableId) {
    let mut guests = Vec::new();
    for number in 0..3 {
        let device = format!("{DEVICE}-{number}");
        let agent = "Tongits/2.1 of Maria";
        let request = server.node.post("/v1/sign-in/guest", &json!({ "device_id": device }));
        let answer = ok(request.header("user-agent", agent)).await;
        guests.push(Guest {
            id: text(&answer["player"]["id"]),
            access_token: text(&answer["access_token"]),
            refresh_token: text(&answer["refresh_token"]),
            answer,
        });
    }
    let body = json!({ "name": "Maria Clara", "password": PASSWORD });
    let device = format!("{DEVICE}-0");
    ok(server.node.set_password(&guests[0].access_token, &device, &body).await).await;
    let players: Vec<PlayerId> = guests.iter().map(|guest| guest.id.parse().unwrap()).collect();
    let table = TableId(Uuid::new_v4());
    server.bank.play(table, &players, 0, 3, PotGoes::ToWinner).await;
    (guests, table)
}

#[tokio::test]
async fn the_export_holds_what_is_held() {
    let server = Server::new().await;
    let (guests, _) = played(&server).await;
    let token = guests[0].access_token.as_str();
    let response = server.node.get("/v1/me/export", token).send().await.unwrap();
    let attachment = "attachment; filename=\"bahay-export.json\"";
    assert_eq!(response.headers()["content-disposition"], attachment);
    let export: serde_json::Value = response.json().await.unwrap();
    assert_eq!(export["player"], ok(server.node.get("/v1/me", token)).await);
    assert_eq!(export["player"]["name"], "Maria Clara");
    assert_eq!(export["wallet"], ok(server.node.get("/v1/me/wallet", token)).await);
    let entries = ok(server.node.get("/v1/me/wallet/entries?limit=100", token)).await;
    assert_eq!(export["wallet_entries"], entries["items"]);
    assert!(entries["items"].as_array().unwrap().len() > 3);
    let games = ok(server.node.get("/v1/me/games", token)).await;
    assert_eq!(export["games"], games["items"]);
    assert_eq!(export["ways_in"], ok(server.node.get("/v1/me/ways-in", token)).await);
    assert_eq!(export["rewards"], ok(server.node.get("/v1/me/rewards", token)).await);
    assert_eq!(export["devices"].as_array().unwrap().len(), 1);
    assert_eq!(export["sessions"][0]["user_agent"], "Tongits/2.1 of Maria");
    assert_eq!(export["bans"], json!([]));
    let exported = export.to_string();
    assert!(!exported.contains("argon2") && !exported.contains(&guests[1].id), "{exported}");
}

#[tokio::test]
async fn a_deleted_account_is_nobody_and_the_books_still_add_up() {
    let server = Server::new().await;
    let (guests, _) = played(&server).await;
    let (gone, other) = (&guests[0], &guests[1]);
    let node = &server.node;
    ok(node
        .request(Method::PATCH, "/v1/me")
        .bearer_auth(&gone.access_token)
        .json(&json!({ "avatar": "maya", "time_zone": "Asia/Manila" })))
    .await;
    // However often, at once.
    let proof = json!({ "by": "password", "password": PASSWORD });
    let proof = node.proof(&gone.access_token, &proof).await;
    let delete = || {
        let request = node.request(Method::DELETE, "/v1/me").bearer_auth(&gone.access_token);
        let request = request.header("account-proof", &proof);
        async { request.send().await.expect("the server answers").status().as_u16() }
    };
    let answers = join_all((0..5).map(|_| delete())).await;
    assert!(answers.contains(&204), "{answers:?}");
    assert!(answers.iter().all(|status| [204, 401].contains(status)), "{answers:?}");
    assert_eq!(delete().await, 401);

    expect_refusal(node.get("/v1/me", &gone.access_token), 401, "token_revoked").await;
    expect_refusal(node.refresh(&gone.refresh_token), 401, "refresh_token_unknown").await;
    let by_name = json!({ "name": "Maria Clara", "password": PASSWORD });
    let by_name = || node.post("/v1/sign-in/password", &by_name);
    expect_refusal(by_name(), 401, "credentials_wrong").await;
    let anew = node.guest(&format!("{DEVICE}-0")).await;
    assert_ne!(anew.id, gone.id);
    // Others see nobody, and the name is free.
    let look_up = format!("/v1/players?ids={}", gone.id);
    let seen = ok(node.get(&look_up, &other.access_token)).await;
    let nobody =
        json!({ "id": gone.id, "name": "Deleted player", "avatar": "carabao", "is_bot": false });
    assert_eq!(seen, json!({ "items": [nobody] }));
    let rename = node.request(Method::PATCH, "/v1/me").bearer_auth(&other.access_token);
    ok(rename.json(&json!({ "name": "Maria Clara" }))).await;

    // Nothing says who it was; what was booked stands.
    let rows = sqlx::query_scalar(
        "
        select concat_ws(
            ' ',
            (select to_jsonb(p) from players p where p.id = $1),
            (select jsonb_agg(s) from sessions s where s.player = $1),
            (select jsonb_agg(d) from devices d where d.player = $1),
            (select jsonb_agg(w) from passwords w where w.player = $1),
            (select jsonb_agg(l) from name_looks l where l.player = $1)
        )
        ",
    );
    let rows: String =
        rows.bind(gone.id.parse::<Uuid>().unwrap()).fetch_one(&server.bank.pool).await.unwrap();
    for trace in ["Maria", "rnaria", "127.0.0.1", "Manila", "maya", "argon2", "Tongits"] {
        assert!(!rows.contains(trace), "{trace}: {rows}");
    }
    let wallet = server.bank.wallets(&[gone.id.parse().unwrap()]).await;
    assert!(wallet[0] > 0);
    server.bank.audit_clean().await;
    let games = ok(node.get("/v1/me/games", &other.access_token)).await;
    assert_eq!(games["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn nobody_is_deleted_in_a_game_or_at_a_table() {
    let server = Server::new().await;
    let (guests, table) = played(&server).await;
    let mut proofs = Vec::new();
    for (number, guest) in guests.iter().enumerate() {
        let shown = match number {
            0 => json!({ "by": "password", "password": PASSWORD }),
            _ => json!({ "by": "device", "device_id": format!("{DEVICE}-{number}") }),
        };
        proofs.push(server.node.proof(&guest.access_token, &shown).await);
    }
    let delete = |number: usize| {
        let delete = server.node.request(Method::DELETE, "/v1/me");
        delete.bearer_auth(&guests[number].access_token).header("account-proof", &proofs[number])
    };
    let players: Vec<PlayerId> = guests.iter().map(|guest| guest.id.parse().unwrap()).collect();
    let game = server.bank.deal(table, &players);
    server.bank.open(&game).await;
    for number in 0..guests.len() {
        expect_refusal(delete(number), 409, "in_game").await;
    }
    server.bank.ledger.void_game(game.game, &reason("for the test")).await.unwrap();
    let seat = server.node.request(Method::POST, "/v1/rooms/newbie/seat");
    ok(seat.bearer_auth(&guests[0].access_token)).await;
    expect_refusal(delete(0), 409, "in_game").await;
    let leave = server.node.request(Method::DELETE, "/v1/table");
    ok(leave.bearer_auth(&guests[0].access_token)).await;
    ok(delete(0)).await;
    ok(delete(1)).await;
}
