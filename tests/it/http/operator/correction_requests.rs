//! Open corrections: previews of their outcome, withdrawals, and equal requests.

use std::time::Duration;

use bahay::operators::Role;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use uuid::Uuid;

use super::corrections::{Office, PATH};
use crate::desk::browser::Browser;
use crate::http::server::{REASON, adjustment, expect_refusal, ok, text};
use crate::support::bank::{PotGoes, table};
use crate::support::db::{execute, read_rows};
use crate::support::house::adjustments;
use crate::support::rest::assert_fields;
use crate::support::statements::StatementLog;

impl Office {
    fn request(&self, token: &str, body: &Value) -> RequestBuilder {
        self.server.post_once(token, PATH, body)
    }

    fn withdraw(&self, token: &str, correction: &Value) -> RequestBuilder {
        let path = format!("{PATH}/{}/withdrawal", text(&correction["id"]));
        self.server.post_once(token, &path, &json!({}))
    }

    fn preview(&self, correction: &Value) -> RequestBuilder {
        let path = format!("{PATH}/{}/preview", text(&correction["id"]));
        self.server.get(&path, &self.ben)
    }
}

#[tokio::test]
async fn a_requester_withdraws_an_open_request() {
    let office = Office::new().await;
    let player = office.server.bank.player(1_000).await;
    let adjustment = adjustment(player, 250);
    let correction = ok(office.request(&office.luz, &adjustment)).await;
    let foreign = office.withdraw(&office.ben, &correction);
    expect_refusal(foreign, 409, "correction_not_own").await;
    let token = office.server.operator("cora", Role::Finance).await;
    expect_refusal(office.withdraw(&token, &correction), 403, "second_factor_missing").await;
    let withdrawn = ok(office.withdraw(&office.luz, &correction)).await;
    assert_fields(&withdrawn, json!({ "state": "withdrawn", "decided_by": null }));
    assert!(withdrawn["decided_at"].is_string() && withdrawn["operation"].is_null());
    assert_eq!(ok(office.withdraw(&office.luz, &correction)).await, withdrawn);
    let id = text(&correction["id"]);
    for (act, body) in [("approval", json!({})), ("rejection", json!({ "reason": REASON }))] {
        let decide = office.server.post_once(&office.ben, &format!("{PATH}/{id}/{act}"), &body);
        expect_refusal(decide, 409, "correction_decided").await;
    }
    assert_eq!(office.server.bank.wallets(&[player]).await, [1_000]);
    let listed = office.server.get(&format!("{PATH}?state=withdrawn"), &office.ben);
    assert_eq!(ok(listed).await["items"], json!([withdrawn]));
    // A decided request cannot be withdrawn, and a withdrawn one can be requested again.
    let again = ok(office.request(&office.luz, &adjustment)).await;
    let approval = format!("{PATH}/{}/approval", text(&again["id"]));
    ok(office.server.post_once(&office.ben, &approval, &json!({}))).await;
    expect_refusal(office.withdraw(&office.luz, &again), 409, "correction_decided").await;
    let entries = format!(
        "select o.name, a.channel from audit_entries a join operators o on o.id = a.operator
        where a.action = 'correction_withdraw' and a.subject = 'correction:{id}'"
    );
    let entries: Vec<(String, String)> = read_rows(&office.server.bank.pool, &entries).await;
    assert_eq!(entries, [("ate.luz".to_owned(), "api".to_owned())]);
    office.server.bank.audit_clean().await;
}

#[tokio::test]
async fn an_open_request_excludes_an_equal_one() {
    let office = Office::new().await;
    let [one, two] = office.server.bank.players([1_000; 2]).await[..] else {
        panic!("two players")
    };
    let first = ok(office.request(&office.luz, &adjustment(one, 250))).await;
    for token in [&office.luz, &office.ben] {
        let equal = office.request(token, &adjustment(one, 250));
        expect_refusal(equal, 409, "adjustment_requested").await;
    }
    for (player, amount) in [(one, 251), (one, -250), (two, 250)] {
        ok(office.request(&office.ben, &adjustment(player, amount))).await;
    }
    ok(office.withdraw(&office.luz, &first)).await;
    ok(office.request(&office.ben, &adjustment(one, 250))).await;
}

#[tokio::test]
async fn a_preview_tells_the_balances_and_whether_an_approval_is_possible() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let player = bank.player(1_000).await;
    let owner = office.server.owner_pool().await;
    execute(&owner, &format!("update players set name = 'Maria' where id = '{player}'")).await;
    let correction = ok(office.request(&office.luz, &adjustment(player, -1_001))).await;
    assert_eq!(correction["player_name"], "Maria");
    let wallet = format!("wallet:{player}");
    let expected = json!({
        "transfers": [{ "source": wallet, "destination": "issue", "amount": 1_001 }],
        "wallets":
            [{ "player": player, "name": "Maria", "balance": 1_000, "balance_after": -1 }],
        "refusal": {
            "code": "overdrawn", "detail": format!("{wallet} holds 10.00 and cannot pay 10.01")
        },
    });
    assert_eq!(ok(office.preview(&correction)).await, expected);
    office.adjust(player, 2).await;
    let preview = ok(office.preview(&correction)).await;
    assert_eq!(preview["refusal"], Value::Null);
    assert_fields(&preview["wallets"][0], json!({ "balance": 1_002, "balance_after": 1 }));
    // A player without a wallet.
    let poor = bank.player(0).await;
    let correction = ok(office.request(&office.luz, &adjustment(poor, 5))).await;
    let preview = ok(office.preview(&correction)).await;
    assert_fields(&preview["wallets"][0], json!({ "balance": 0, "balance_after": 5 }));
    ok(office.withdraw(&office.luz, &correction)).await;
    expect_refusal(office.preview(&correction), 409, "correction_decided").await;
    expect_refusal(office.preview(&json!({ "id": player })), 404, "correction_not_found").await;
}

/// The limit counts what was booked since the request, as an approval does.
#[tokio::test]
async fn a_preview_observes_the_daily_limit() {
    let office = Office::new().await;
    let server = &office.server;
    let player = server.bank.player(1_000).await;
    let max = adjustments().one_max.hundredths();
    let correction = ok(office.request(&office.luz, &adjustment(player, max))).await;
    server.clock.advance(Duration::from_hours(24));
    let cora = server.session("cora", Role::Finance).await;
    let dina = server.session("dina", Role::Finance).await;
    for amount in [max - 1, max - 2] {
        let other = ok(office.request(&cora, &adjustment(player, amount))).await;
        let path = format!("{PATH}/{}/approval", text(&other["id"]));
        ok(server.post_once(&dina, &path, &json!({}))).await;
    }
    let path = format!("{PATH}/{}/preview", text(&correction["id"]));
    let preview = ok(server.get(&path, &dina)).await;
    assert_eq!(preview["refusal"]["code"], "adjustment_day_max");
}

#[tokio::test]
async fn both_operators_see_the_outcome_of_a_correction_at_the_desk() {
    let office = Office::new().await;
    let server = &office.server;
    let bank = &server.bank;
    let players = bank.players([10_000, 10_000, 10_000]).await;
    let owner = server.owner_pool().await;
    for (player, name) in players.iter().zip(["Andres", "Maria", "Jose"]) {
        execute(&owner, &format!("update players set name = '{name}' where id = '{player}'")).await;
    }
    let (game, _) = bank.play(table(), &players, 1, 3, PotGoes::Nowhere).await;
    let operation = office.find_operation(&format!("settle:{game}")).await;
    let reversal = ok(office.request_reversal(operation)).await;
    assert_eq!(reversal["game"], game.to_string());
    let here = format!("/desk/corrections/{}", text(&reversal["id"]));
    let mut cora = Browser::enrolled(server, "cora", Role::Finance).await;
    let page = cora.load(&here).await;
    page.shows("Andres").shows("Maria").shows("Jose").shows("fees of Newbie").shows(">0.30<");
    page.shows(&format!("/desk/games/{game}")).shows("Approve and book").hides("Not possible now");
    // 5.70 coins are needed besides the fee.
    office.adjust(players[1], -10_470 + 569).await;
    let page = cora.load(&here).await;
    page.shows("Not possible now: Maria holds 2.99 and cannot pay 3.00.").shows(">-0.01<");
    cora.load("/desk/corrections?state=open").await.shows("not possible now");

    // A player is named by the whole name or the id.
    let form = "/desk/corrections/new";
    let attempt = Uuid::new_v4().to_string();
    let named = |player| {
        let kind = ("kind", "adjustment");
        [("attempt", &*attempt), kind, ("player", player), ("amount", "1.25"), ("reason", REASON)]
    };
    for unknown in ["Andre", "Nobody", ""] {
        let refused = cora.send(form, "/desk/corrections", &named(unknown)).await;
        assert!((400..500).contains(&refused.status), "{unknown}: {}", refused.status);
    }
    let asked = cora.send(form, "/desk/corrections", &named(" andres ")).await.expect(303);
    let named = asked.location.unwrap();
    cora.load(&named).await.shows(">Andres</a>").shows(">1.25<");
    cora.send(&named, &format!("{named}/withdrawal"), &[]).await.expect_redirect(&named);

    // The requester withdraws; the answer to a second equal request names the first.
    let id = players[0].to_string();
    let attempt = Uuid::new_v4().to_string();
    let fields = [
        ("attempt", &*attempt),
        ("kind", "adjustment"),
        ("player", &id),
        ("amount", "2.50"),
        ("reason", REASON),
    ];
    let asked = cora.send(form, "/desk/corrections", &fields).await.expect(303);
    let here = asked.location.unwrap();
    let list = cora.load("/desk/corrections").await;
    list.shows(">96.00<").shows(">98.50<").shows(">Andres</a>");
    let another = Uuid::new_v4().to_string();
    let mut equal = fields;
    equal[0].1 = &another;
    let refused = cora.send(form, "/desk/corrections", &equal).await.expect(409);
    refused.shows("An equal adjustment awaits a decision").shows("Nothing was changed");
    let mut dina = Browser::enrolled(server, "dina", Role::Finance).await;
    dina.load(&here).await.hides("Withdraw").shows("Approve and book").shows(REASON);
    dina.send(&here, &format!("{here}/withdrawal"), &[]).await.expect(409);
    cora.load(&here).await.shows("Withdraw this request").hides("Approve and book");
    cora.send(&here, &format!("{here}/withdrawal"), &[]).await.expect_redirect(&here);
    let page = cora.load(&here).await;
    page.shows("withdrawn")
        .shows("Withdrawn at")
        .hides("If it is approved now")
        .hides("Withdraw this");
    cora.load("/desk/corrections?state=withdrawn").await.shows(">Andres</a>");
    bank.audit_clean().await;
}

/// The list previews every open request, by a number of statements that does not grow with them.
#[tokio::test]
async fn the_list_previews_all_requests_by_the_same_statements() {
    let office = Office::new().await;
    let mut luz = Browser::enrolled(&office.server, "kuya.jun", Role::Viewer).await;
    let bank = &office.server.bank;
    let mut names = Vec::new();
    for hundredths in 1..=8 {
        let player = bank.player(100 * hundredths).await;
        names.push(player.to_string());
        let body = adjustment(player, if hundredths == 8 { -900 } else { hundredths });
        ok(office.request(&office.luz, &body)).await;
    }
    let players = bank.players([10_000; 3]).await;
    for _ in 0..8 {
        let (game, _) = bank.play(table(), &players, 0, 1, PotGoes::Nowhere).await;
        let operation = office.find_operation(&format!("settle:{game}")).await;
        let body = json!({ "kind": "reversal", "operation": operation, "reason": REASON });
        ok(office.request(&office.luz, &body)).await;
    }
    let (statements, page) = StatementLog::count(luz.get("/desk/corrections?state=open")).await;
    let page = page.expect(200);
    for (hundredths, player) in (1..).zip(&names) {
        let mut rows = page.text.split("<tr>");
        let row = rows.find(|row| row.contains(&format!("/desk/players/{player}")));
        let row = row.expect("the request is listed");
        let after = if hundredths == 8 {
            "-1.00".to_owned()
        } else {
            format!("{hundredths}.0{hundredths}")
        };
        let shown =
            row.contains(&format!("{hundredths}.00<")) && row.contains(&format!("{after}<"));
        assert!(shown, "{row}");
        assert_eq!(row.contains("not possible now"), hundredths == 8, "{row}");
    }
    assert!(statements.values().sum::<usize>() > 4, "statements are counted: {statements:?}");
    let repeated = statements.iter().filter(|(_, count)| **count >= 8);
    assert_eq!(repeated.collect::<Vec<_>>(), [], "a statement is repeated for each request");
}

/// A name that no player can have is a field of the form, not of a search.
#[tokio::test]
async fn a_name_that_no_player_has_is_an_invalid_field() {
    let office = Office::new().await;
    let mut luz = Browser::enrolled(&office.server, "kuya.jun", Role::Finance).await;
    for name in ["", " ", "nobody", &"x".repeat(65), "a\0b"] {
        let fields = [
            ("attempt", &*Uuid::new_v4().to_string()),
            ("kind", "adjustment"),
            ("player", name),
            ("amount", "1.00"),
            ("reason", REASON),
        ];
        let page =
            luz.send("/desk/corrections/new", "/desk/corrections", &fields).await.expect(422);
        page.shows("data-code=\"body_invalid\"").shows("have this name or id");
    }
}
