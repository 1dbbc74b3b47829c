//! The export and the deletion of a player's data.

use bahay::ledger::OpeningOutcome;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::TableId;
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::http::server::{
    DEVICE, Guest, OTHER_DEVICE, PASSWORD, Server, answer_all, count_successes, expect_delay,
    expect_refusal, list_players, ok, status_of, text,
};
use crate::support::bank::{PotGoes, seat};
use crate::support::db::{count_rows, count_waiting, execute, lock_table, read_value};
use crate::support::rest::items;
use crate::support::waiting::wait_until;

/// Starts a server with three guests who have played a game; the first has a name and a password.
async fn start_with_game() -> (Server, Vec<Guest>, TableId) {
    let server = Server::new().await;
    let mut guests = Vec::new();
    for number in 0..3 {
        let device = format!("{DEVICE}-{number}");
        let request = server.post("/v1/sign-in/guest", &json!({ "device_id": device }));
        let request = request.header("user-agent", "Tongits/2.1 of Maria");
        guests.push(Guest::from_answer(ok(request).await));
    }
    let device = format!("{DEVICE}-0");
    ok(server.set_password(&guests[0], &device, "Maria Clara", PASSWORD).await).await;
    let players = list_players(&guests);
    let table = TableId(Uuid::new_v4());
    server.bank.play(table, &players, 0, 3, PotGoes::ToWinner).await;
    (server, guests, table)
}

#[tokio::test]
async fn the_export_contains_all_data_of_the_player() {
    let (server, guests, _) = start_with_game().await;
    let response = server.get("/v1/me/export", &guests[0]).send().await.unwrap();
    let attachment = "attachment; filename=\"bahay-export.json\"";
    assert_eq!(response.headers()["content-disposition"], attachment);
    let export: serde_json::Value = response.json().await.unwrap();
    assert_eq!(export["player"], ok(server.get("/v1/me", &guests[0])).await);
    assert_eq!(export["player"]["name"], "Maria Clara");
    assert_eq!(export["wallet"], ok(server.get("/v1/me/wallet", &guests[0])).await);
    let entries = ok(server.get("/v1/me/wallet/entries?limit=100", &guests[0])).await;
    assert_eq!(export["wallet_entries"], entries["items"]);
    assert!(items(&entries).len() > 3);
    let games = ok(server.get("/v1/me/games", &guests[0])).await;
    assert_eq!(export["games"], games["items"]);
    let methods = ok(server.get("/v1/me/sign-in-methods", &guests[0])).await;
    assert_eq!(export["sign_in_methods"], methods);
    assert_eq!(export["rewards"], ok(server.get("/v1/me/rewards", &guests[0])).await);
    assert_eq!(export["devices"].as_array().unwrap().len(), 1);
    assert_eq!(export["sessions"][0]["user_agent"], "Tongits/2.1 of Maria");
    assert_eq!(export["bans"], json!([]));
    let statistics = ok(server.get("/v1/me/statistics", &guests[0])).await;
    assert_eq!(export["statistics"], statistics["items"]);
    for empty in ["blocked_players", "muted_players", "reports_made", "reports_received"] {
        assert_eq!(export[empty], json!([]), "{empty}");
    }
    let exported = export.to_string();
    assert!(!exported.contains("argon2") && !exported.contains(&guests[1].id), "{exported}");
}

/// The document is sent in portions, which form one document.
#[tokio::test]
async fn an_export_in_portions_is_complete() {
    let (server, guests, table) = start_with_game().await;
    let players = list_players(&guests);
    // The winners alternate, so that nobody reaches the daily limit of wins in rooms.
    for winner in (0..3).cycle().take(120) {
        server.bank.play(table, &players, winner, 3, PotGoes::Nowhere).await;
    }
    for _ in 0..110 {
        server.guest(&format!("{DEVICE}-0")).await;
    }
    let guest = server.guest(&format!("{DEVICE}-0")).await;
    let export = ok(server.get("/v1/me/export", &guest)).await;
    for (list, table) in [
        ("sessions", "sessions"),
        ("games", "game_players"),
        ("wallet_entries", "entries e join accounts a on a.id = e.account"),
    ] {
        let held = export[list].as_array().unwrap();
        let rows = format!("{table} where player = '{}'", guest.id);
        let count = count_rows(&server.bank.pool, &rows).await;
        assert!(held.len() > 100, "{list}: {}", held.len());
        assert_eq!(i64::try_from(held.len()).unwrap(), count, "{list}");
    }
}

#[tokio::test]
async fn a_player_exports_once_an_hour() {
    let (server, guest) = Server::with_guest().await;
    let other = server.guest(OTHER_DEVICE).await;
    let export = |method: Method, guest: &Guest| server.call(method, "/v1/me/export", guest);
    // Neither a HEAD request nor a failed export counts.
    assert_eq!(status_of(export(Method::HEAD, &guest)).await, 200);
    let owner = server.owner_pool().await;
    let rename = async |sql: &str| execute(&owner, sql).await;
    rename("alter table player_reports rename to mislaid").await;
    expect_refusal(export(Method::GET, &guest), 500, "internal").await;
    rename("alter table mislaid rename to player_reports").await;
    // An export that fails halfway does not count either.
    rename("alter table notices rename to mislaid").await;
    let broken = export(Method::GET, &guest).send().await.unwrap();
    assert_eq!(broken.status(), 200);
    assert!(broken.bytes().await.is_err(), "the body ends prematurely");
    rename("alter table mislaid rename to notices").await;
    let answers = answer_all(200, (0..10).map(|_| export(Method::GET, &guest))).await;
    let successes = count_successes("exports", answers, 429, "exported_lately");
    assert_eq!(successes, 1, "one of ten concurrent exports succeeds");
    let wait = expect_delay(export(Method::GET, &guest), 429, "exported_lately").await;
    assert!((3_500..=3_600).contains(&wait), "{wait}");
    ok(export(Method::GET, &other)).await;
}

#[tokio::test]
async fn a_deleted_account_is_anonymous_and_the_books_balance() {
    let (server, guests, _) = start_with_game().await;
    let deleted = &guests[0];
    let other = &guests[1];
    let traces = json!({ "avatar": "maya", "time_zone": "Asia/Manila" });
    ok(server.change_profile(deleted, &traces)).await;
    // Several concurrent deletions.
    let proof = json!({ "by": "password", "password": PASSWORD });
    let proof = server.proof(deleted, &proof).await;
    let delete = || status_of(server.delete_proven("/v1/me", deleted, &proof));
    let answers = join_all((0..5).map(|_| delete())).await;
    assert!(answers.contains(&204), "{answers:?}");
    assert!(answers.iter().all(|status| [204, 401].contains(status)), "{answers:?}");
    assert_eq!(delete().await, 401);

    expect_refusal(server.get("/v1/me", deleted), 401, "token_revoked").await;
    expect_refusal(server.refresh(&deleted.refresh_token), 401, "refresh_token_unknown").await;
    let by_name = json!({ "name": "Maria Clara", "password": PASSWORD });
    let by_name = || server.post("/v1/sign-in/password", &by_name);
    expect_refusal(by_name(), 401, "credentials_wrong").await;
    let anew = server.guest(&format!("{DEVICE}-0")).await;
    assert_ne!(anew.id, deleted.id);
    // Others no longer see the player, and the name is free.
    let look_up = format!("/v1/players?ids={}", deleted.id);
    let seen = ok(server.get(&look_up, other)).await;
    let nobody =
        json!({ "id": deleted.id, "name": "Deleted player", "avatar": "carabao", "is_bot": false });
    assert_eq!(seen, json!({ "items": [nobody] }));
    ok(server.change_profile(other, &json!({ "name": "Maria Clara" }))).await;

    // No row identifies the player; the bookings remain.
    let rows = "select concat_ws(
            ' ',
            (select to_jsonb(p) from players p where p.id = 'PLAYER'),
            (select jsonb_agg(s) from sessions s where s.player = 'PLAYER'),
            (select jsonb_agg(d) from devices d where d.player = 'PLAYER'),
            (select jsonb_agg(w) from passwords w where w.player = 'PLAYER'),
            (select jsonb_agg(l) from name_skeletons l where l.player = 'PLAYER')
        )";
    let rows = rows.replace("PLAYER", &deleted.id);
    let rows: String = read_value(&server.bank.pool, &rows).await;
    for trace in ["Maria", "rnaria", "127.0.0.1", "Manila", "maya", "argon2", "Tongits"] {
        assert!(!rows.contains(trace), "{trace}: {rows}");
    }
    assert!(server.bank.wallets(&[deleted.player()]).await[0] > 0);
    server.bank.audit_clean().await;
    assert_eq!(items(&ok(server.get("/v1/me/games", other)).await).len(), 1);
}

#[tokio::test]
async fn a_seated_player_cannot_be_deleted() {
    let (server, guests, table) = start_with_game().await;
    let mut proofs = Vec::new();
    for (number, guest) in guests.iter().enumerate() {
        let credential = match number {
            0 => json!({ "by": "password", "password": PASSWORD }),
            _ => json!({ "by": "device", "device_id": format!("{DEVICE}-{number}") }),
        };
        proofs.push(server.proof(guest, &credential).await);
    }
    let delete = |number: usize| server.delete_proven("/v1/me", &guests[number], &proofs[number]);
    let game = server.bank.deal(table, &list_players(&guests));
    server.bank.open(&game).await;
    for number in 0..guests.len() {
        expect_refusal(delete(number), 409, "in_game").await;
    }
    server.bank.void_game(&game).await;
    ok(server.call(Method::POST, "/v1/rooms/newbie/seat", &guests[0])).await;
    expect_refusal(delete(0), 409, "in_game").await;
    ok(server.call(Method::DELETE, "/v1/table", &guests[0])).await;
    ok(delete(0)).await;
    ok(delete(1)).await;
}

/// Blocks, mutes, and reports made and received.
#[tokio::test]
async fn the_export_contains_relations_and_reports() {
    let (server, guests, _) = start_with_game().await;
    let [one, other, third] = &guests[..] else { panic!("three players have played") };
    let put = |what: &str, of: &Guest| {
        let path = format!("/v1/me/{what}/{}", of.id);
        server.call(Method::PUT, &path, one)
    };
    ok(put("blocks", other)).await;
    ok(put("mutes", third)).await;
    let games = ok(server.get("/v1/me/games", one)).await;
    let game = text(&games["items"][0]["id"]);
    let report = |by: &Guest, about: &Guest, reason: &str, words: &str| {
        let body = json!({ "player": about.id, "reason": reason, "words": words });
        let path = format!("/v1/games/{game}/reports");
        server.post_by(by, &path, &body)
    };
    ok(report(one, other, "collusion", "They talk to each other.")).await;
    ok(report(third, one, "stalling", "She thinks for hours.")).await;
    let export = ok(server.get("/v1/me/export", one)).await;
    assert_eq!(export["blocked_players"][0]["player"], other.id);
    assert_eq!(export["muted_players"][0]["player"], third.id);
    let made = &export["reports_made"][0];
    assert_eq!([&made["reported"], &made["game"]], [&json!(other.id), &json!(game)]);
    assert_eq!(made["reason"], "collusion");
    assert_eq!(made["words"], "They talk to each other.");
    assert_eq!(made["outcome"], json!(null));
    let received = &export["reports_received"][0];
    assert_eq!([&received["reason"], &received["game"]], [&json!("stalling"), &json!(game)]);
    // The author and the text of a report are not exported.
    let received = export["reports_received"].to_string();
    assert!(!received.contains(&third.id) && !received.contains("hours"), "{received}");
    let statistics = ok(server.get("/v1/me/statistics", one)).await;
    assert_eq!(export["statistics"], statistics["items"]);
    assert!(!export["statistics"].as_array().unwrap().is_empty());
}

/// Builds a request by which a guest deletes its account, with an account proof.
async fn request_deletion(server: &Server, guest: &Guest, credential: &Value) -> RequestBuilder {
    let proof = server.proof(guest, credential).await;
    server.delete_proven("/v1/me", guest, &proof)
}

/// Waits until `many` connections to the database wait for a lock.
async fn wait_for_locks(server: &Server, many: i64) {
    let owner = server.owner_pool().await;
    wait_until("connections wait for a lock", async || count_waiting(&owner).await >= many).await;
}

/// A deletion during the opening of a game waits for the opening, and is refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_waits_for_the_opening_of_a_game() {
    let (server, guests, table) = start_with_game().await;
    let players = list_players(&guests);
    let owner = server.owner_pool().await;
    // Blocks an opening after it has locked the wallets and before it is visible.
    let held = lock_table(&owner, "games in share row exclusive mode").await;
    let game = server.bank.deal(table, &players);
    let ledger = server.bank.ledger.clone();
    let opening = tokio::spawn(async move { ledger.open_game(game).await });
    wait_for_locks(&server, 1).await;
    let credential = json!({ "by": "password", "password": PASSWORD });
    let delete = request_deletion(&server, &guests[0], &credential).await;
    let deletion = tokio::spawn(status_of(delete));
    wait_for_locks(&server, 2).await;
    held.rollback().await.unwrap();
    assert!(matches!(opening.await.unwrap().unwrap(), OpeningOutcome::Opened { .. }));
    assert_eq!(deletion.await.unwrap(), 409);
    ok(server.get("/v1/me", &guests[0])).await;
    server.bank.audit_clean().await;
}

/// An opening during a deletion waits for the deletion, and finds the player deleted.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_not_opened_with_a_player_under_deletion() {
    let (server, guests, table) = start_with_game().await;
    let players = list_players(&guests);
    let before = server.bank.wallets(&players).await;
    let owner = server.owner_pool().await;
    // Blocks a deletion after it has looked for games and before it is visible.
    let held = lock_table(&owner, "name_skeletons in share row exclusive mode").await;
    let credential = json!({ "by": "password", "password": PASSWORD });
    let delete = request_deletion(&server, &guests[0], &credential).await;
    let deletion = tokio::spawn(status_of(delete));
    wait_for_locks(&server, 1).await;
    let game = server.bank.deal(table, &players);
    let ledger = server.bank.ledger.clone();
    let again = game.clone();
    let opening = tokio::spawn(async move { ledger.open_game(game).await });
    wait_for_locks(&server, 2).await;
    held.rollback().await.unwrap();
    assert_eq!(deletion.await.unwrap(), 204);
    let cannot = opening.await.unwrap().unwrap();
    assert_eq!(cannot, OpeningOutcome::CannotPay { seats: SeatSet::only(seat(0)) });
    // A retry gets the same result.
    assert_eq!(server.bank.ledger.open_game(again).await.unwrap(), cannot);
    assert_eq!(server.bank.wallets(&players).await, before);
    // The other players can go on.
    let game = server.bank.deal(table, &players[1..]);
    let outcome = server.bank.ledger.open_game(game).await.unwrap();
    assert!(matches!(outcome, OpeningOutcome::Opened { .. }));
    server.bank.audit_clean().await;
}

/// In either order, a player in a game has an account, and a deleted player is in no game.
#[tokio::test(flavor = "multi_thread")]
async fn a_concurrent_deletion_and_opening_are_serialized() {
    let server = Server::new().await;
    let mut outcomes = (0, 0);
    for round in 0..40 {
        let mut guests = Vec::new();
        for number in 0..3 {
            guests.push(server.guest(&format!("{DEVICE}-{round}-{number}")).await);
        }
        let game = server.bank.deal(TableId(Uuid::new_v4()), &list_players(&guests));
        let device = format!("{DEVICE}-{round}-{}", round % 3);
        let credential = json!({ "by": "device", "device_id": device });
        let delete = request_deletion(&server, &guests[round % 3], &credential).await;
        let (opened, deleted) = tokio::join!(server.bank.ledger.open_game(game), async {
            delete.send().await.unwrap()
        });
        match (opened.unwrap(), deleted.status().as_u16()) {
            (OpeningOutcome::Opened { .. }, 409) => outcomes.0 += 1,
            (OpeningOutcome::CannotPay { seats }, 204) => {
                let deleted_seat = u8::try_from(round % 3).unwrap();
                assert_eq!(seats, SeatSet::only(seat(deleted_seat)));
                outcomes.1 += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    println!("{} games were opened, {} accounts deleted", outcomes.0, outcomes.1);
    server.bank.audit_clean().await;
}

/// A deletion during a sign-in that has found its player leaves no session.
#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_during_a_deletion_is_refused() {
    let server = Server::new().await;
    for round in 0..20 {
        let device = format!("{DEVICE}-{round}");
        let guest = server.guest(&device).await;
        let credential = json!({ "by": "device", "device_id": device });
        let delete = request_deletion(&server, &guest, &credential).await;
        let body = json!({ "device_id": device });
        let sign_in = server.post("/v1/sign-in/guest", &body);
        let (deleted, _) = tokio::join!(delete.send(), sign_in.send());
        assert_eq!(deleted.unwrap().status(), 204);
        let alive = format!("sessions where player = '{}' and revoked_at is null", guest.id);
        assert_eq!(count_rows(&server.bank.pool, &alive).await, 0);
    }
}
