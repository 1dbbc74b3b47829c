//! Acts whose effects a page shows before they are performed: the orders about a table, and the
//! change of a room.

use bahay::archive::halted;
use bahay::operators::Role;
use bahay_engine::table::TableId;
use bahay_shell::Halt;
use redis::AsyncCommands as _;
use serde_json::json;
use uuid::Uuid;

use super::browser::{Browser, between};
use crate::http::server::{REASON, Server, ok, text};
use crate::support::bank::PotGoes;
use crate::support::rest::items;

/// A table without a game holds the POT of an earlier one: its shares are shown by player before the
/// void, refunded by it, and recorded in the audit log.
#[tokio::test]
async fn the_shares_of_a_pot_are_shown_before_a_void_refunds_them() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let seat = server.post_by(&guest, "/v1/rooms/newbie/seat", &json!({}));
    let table: Uuid = text(&ok(seat).await["table"]).parse().unwrap();
    let others = server.bank.players([100_000; 2]).await;
    let players = [others[0], guest.player(), others[1]];
    server.bank.play(TableId(table), &players, 0, 1, PotGoes::Nowhere).await;
    let wallet = ok(server.get("/v1/me/wallet", &guest)).await["available"].as_i64().unwrap();

    // Three clicks: the table, this page, its button.
    luz.get("/desk/tables").await.shows(&format!("/desk/tables/{table}"));
    let here = format!("/desk/tables/{table}/voiding");
    luz.get(&format!("/desk/tables/{table}")).await.shows(&here);
    let preview = luz.get(&here).await.expect(200);
    preview.shows("No game is open").shows("in play").hides("<h2>Release</h2>");
    preview.shows("Void the table and refund 3.00");
    let row = between(&preview.text, &format!("/desk/players/{}", guest.id), "</tr>");
    let cells: Vec<&str> = row.split("class=\"number\">").skip(1).collect();
    let shown: Vec<&str> = cells.iter().map(|cell| cell.split('<').next().unwrap()).collect();
    let coins = |hundredths: i64| format!("{}.{:02}", hundredths / 100, hundredths % 100);
    let after = coins(wallet + 100);
    assert_eq!(shown, [&*coins(wallet), "0.00", "0.00", "1.00", &after]);

    let voided = luz.send(&here, &here, &[("reason", REASON)]).await.expect(200);
    voided.shows("3.00 coins were refunded").shows(&guest.id);
    let now = ok(server.get("/v1/me/wallet", &guest)).await["available"].as_i64();
    assert_eq!(now, Some(wallet + 100));
    let admin = server.operator("kuya.ben", Role::Admin).await;
    let path = "/v1/operator/audit?action=table_order_completed";
    let entries = ok(server.get(path, &admin)).await;
    let outcome = &items(&entries)[0]["detail"]["outcome"];
    let mut refunds: Vec<_> = outcome["refunds"].as_array().unwrap().iter().collect();
    refunds.retain(|refund| refund["player"] == json!(guest.id));
    let expected = json!({ "player": guest.id, "stake": 0, "ante": 0, "pot": 100 });
    assert_eq!(refunds, [&expected]);

    luz.get(&here).await.expect(404).shows("there is nothing to void");
    luz.send("/desk/tables", &here, &[("reason", REASON)]).await.expect(404);
    server.bank.audit_clean().await;
}

/// The POT of a table that no longer exists: the shares are shown with names and wallets before the
/// refund.
#[tokio::test]
async fn the_shares_of_a_lost_pot_are_shown_before_they_are_refunded() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let others = server.bank.players([100_000; 2]).await;
    let players = [others[0], guest.player(), others[1]];
    let table = TableId(Uuid::new_v4());
    server.bank.play(table, &players, 0, 1, PotGoes::Nowhere).await;
    let wallet = ok(server.get("/v1/me/wallet", &guest)).await["available"].as_i64().unwrap();

    let here = format!("/desk/tables/{table}/pot-refund");
    luz.get("/desk/tables").await.shows(&format!("href=\"{here}\""));
    let preview = luz.get(&here).await.expect(200);
    preview.shows("The table no longer exists").shows("Refund 3.00");
    let coins = |hundredths: i64| format!("{}.{:02}", hundredths / 100, hundredths % 100);
    let name = text(&guest.answer["player"]["name"]);
    let numbers_of_guest = |page: &str| -> Vec<String> {
        let row = between(page, &format!("/desk/players/{}\">{name}</a>", guest.id), "</tr>");
        let cells = row.split("class=\"number\">").skip(1);
        cells.map(|cell| cell.split('<').next().unwrap().to_owned()).collect()
    };
    let expected = ["1.00".to_owned(), coins(wallet), coins(wallet + 100)];
    assert_eq!(numbers_of_guest(&preview.text), expected);

    let refunded = luz.send(&here, &here, &[]).await.expect(200);
    assert_eq!(numbers_of_guest(&refunded.text), ["1.00".to_owned(), coins(wallet + 100)]);
    let now = ok(server.get("/v1/me/wallet", &guest)).await["available"].as_i64();
    assert_eq!(now, Some(wallet + 100));
    luz.get(&here).await.expect(404);

    // The POT of a table in play is not lost.
    let seat = server.post_by(&guest, "/v1/rooms/newbie/seat", &json!({}));
    let table = text(&ok(seat).await["table"]);
    luz.get(&format!("/desk/tables/{table}/pot-refund")).await.expect(409);
    server.bank.audit_clean().await;
}

/// A halted table: the cause is stated in words, and the page offers a release only if the table
/// would play on.
#[tokio::test]
async fn the_cause_of_a_halt_is_shown_with_the_orders_that_are_possible() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let seat = server.post_by(&guest, "/v1/rooms/newbie/seat", &json!({}));
    let table = TableId(text(&ok(seat).await["table"]).parse().unwrap());
    let (live, _publications) = server.node.live.connect().await;
    let engine = live.load(table).await.unwrap().unwrap().engine;
    let reason = "panic: the deck is lost".to_owned();
    live.halt(table, engine, &reason).await.unwrap();
    let halt = Halt { table, room: Some("newbie".to_owned()), version: None, engine, reason };
    halted::record_halt(&server.bank.pool, &halt).await.unwrap();

    let defect = "The program has a defect";
    luz.get("/desk/tables").await.shows(defect).shows("panic: the deck is lost");
    let here = format!("/desk/tables/{table}");
    let preview = luz.get(&format!("{here}/voiding")).await.expect(200);
    preview
        .shows(defect)
        .shows("panic: the deck is lost")
        .shows("<button>Release the table</button>");

    let mut raw = server.node.live.raw().await;
    let journal = server.node.live.table_key(table, "journal");
    let _: i64 = raw.rpush(&journal, "no line").await.unwrap();
    let preview = luz.get(&format!("{here}/voiding")).await.expect(200);
    preview.shows("The table cannot be released").hides("<button>Release the table</button>");
    let _: String = raw.rpop(&journal, None).await.unwrap();

    let release = format!("{here}/release");
    luz.send(&format!("{here}/voiding"), &release, &[]).await.expect_redirect(&here);
    let preview = luz.get(&format!("{here}/voiding")).await.expect(200);
    preview.shows("in play").hides(defect).hides("<button>Release the table</button>");
}

const ROOM: &str = "/desk/rooms/newbie";

/// The page of a sent form states each change in the units of the form, and changes nothing.
#[tokio::test]
async fn a_change_of_a_room_is_shown_before_it_is_confirmed_and_in_the_history() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    luz.send(ROOM, ROOM, &[("revision", "1")]).await.expect(200).shows("nothing to change");
    let fields = [
        ("revision", "1"),
        ("bet", "1,250"),
        ("fee_basis_points", "4.25"),
        ("clocks.prepare_ms", "12.5"),
        ("watchable", "no"),
        ("pot.hits_to_win", ""),
    ];
    let rows = [
        ("Bet", "1.00", "1,250.00"),
        ("Fee", "5 %", "4.25 %"),
        ("Time to get ready", "10 s", "12.5 s"),
        ("Who may watch", "Anybody, with a delay", "Nobody"),
        ("Consecutive wins that take the POT", "2", "none"),
    ];
    let preview = luz.send(ROOM, ROOM, &fields).await.expect(200);
    for (label, before, after) in rows {
        preview.shows(&format!("<td>{label}</td><td>{before}</td><td>{after}</td>"));
    }
    preview.hides("<td>Multiplier</td>");
    luz.get(ROOM).await.hides("Bet: 1.00");
    let confirmed: Vec<_> = fields.into_iter().chain([("confirm", "yes")]).collect();
    luz.send(ROOM, ROOM, &confirmed).await.expect_redirect(ROOM);
    let page = luz.get(ROOM).await;
    for (label, before, after) in rows {
        page.shows(&format!("{label}: {before} → {after}"));
    }
    page.shows("Created");
    luz.send(ROOM, &format!("{ROOM}/closing"), &[]).await.expect_redirect(ROOM);
    luz.get(ROOM).await.shows("State: open → closed");
}

/// A refusal stands beside its field, and every typed value stays in the form.
#[tokio::test]
async fn a_refused_setting_of_a_room_is_named_and_no_typed_value_is_lost() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    for (name, value, status, why) in [
        ("fee_basis_points", "50.01", 422, "a fee is at most 50 %"),
        ("fee_basis_points", "much", 422, "a number with at most 2 decimal places"),
        ("bet", "0", 422, "a bet is at least 0.01"),
        ("bet", "10000000.01", 422, "a bet is at most 10,000,000"),
        ("multiplier", "-1", 422, "a whole number"),
        ("pot.hits_to_win", "4", 422, "two or three consecutive wins"),
        ("pot.ante", "0", 422, "at least one bet"),
        ("coins_max", "0.01", 422, "less than a game can cost"),
        ("clocks.think_ms", "60", 422, "less than every countdown"),
        ("clocks.missed_turns_to_takeover", "256", 422, "from 0 to 255"),
        ("rules.hand_cards", "17", 422, "hand_cards must be from"),
        ("rules.hand_cards", "300", 422, "the game has no such value"),
        ("name", "Fiesta", 409, "room fiesta has the name Fiesta"),
    ] {
        let fields =
            [("revision", "1"), (name, value), ("clocks.grace_ms", "77.5"), ("confirm", "yes")];
        let page = luz.send(ROOM, ROOM, &fields).await.expect(status);
        let field = between(&page.text, &format!("<input id=\"f-{name}\""), "</div>");
        assert!(field.contains(&format!("value=\"{value}\"")), "{field}");
        assert!(field.contains("aria-invalid") && field.contains(why), "{field}");
        let kept = between(&page.text, "name=\"clocks.grace_ms\"", ">");
        assert!(kept.contains("value=\"77.5\""), "{kept}");
    }
    let page = luz.send(ROOM, ROOM, &[("revision", "1"), ("bots", "perfect")]).await.expect(422);
    page.shows("one of the options");
    luz.get(ROOM).await.hides("→");
    let copy = [("id", "second"), ("name", "fiesta"), ("kind", "tongits"), ("like", "newbie")];
    luz.send("/desk/rooms", "/desk/rooms", &copy).await.expect(409).shows("has this name");
}
