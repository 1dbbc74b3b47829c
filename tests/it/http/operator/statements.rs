//! The statement of a wallet: what it lists adds up to the change of the balance, over the API, at
//! the desk and in the file.

use bahay::operators::Role;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::desk::browser::{Browser, between};
use crate::http::server::{Guest, Server, expect_refusal, list_players, ok, text};
use crate::support::bank::{PotGoes, table};
use crate::support::csv::CsvFile;
use crate::support::db::read_values;
use crate::support::reason;
use crate::support::rest::assert_fields;

const REASONS: [&str; 6] = ["ante", "stake", "payments", "fee", "pot", "other"];

/// Returns the time a number of days from now. Bookings have the time of PostgreSQL.
fn day(days: i64) -> Timestamp {
    Timestamp::now() + SignedDuration::from_hours(24 * days)
}

/// Returns the query of a period between two days from now.
fn period(from_days: i64, to_days: i64) -> String {
    format!("from={}&to={}", day(from_days), day(to_days))
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

/// Asserts that the reasons of a change add up to it, and returns it.
fn sum_reasons(amounts: &Value) -> i64 {
    let change = number(&amounts["change"]);
    assert_eq!(REASONS.map(|reason| number(&amounts[reason])).iter().sum::<i64>(), change);
    change
}

#[tokio::test]
async fn a_statement_adds_up_to_the_change_of_the_wallet() {
    let (server, guests) = Server::with_guests(3).await;
    let players = list_players(&guests);
    for (winner, counts, pot) in [(1, 3, PotGoes::Nowhere), (0, 2, PotGoes::ToWinner)] {
        server.bank.play(table(), &players, winner, counts, pot).await;
    }
    let token = server.operator("ate.luz", Role::Viewer).await;
    let wallet = ok(server.get("/v1/me/wallet", &guests[0])).await;
    let path = format!("/v1/operator/players/{}/statement", guests[0].id);
    let read = |from, to| server.get(&format!("{path}?{}", period(from, to)), &token);

    let statement = ok(read(-1, 1)).await;
    let available = &wallet["available"];
    assert_fields(&statement, json!({ "opening": 0, "closing": available }));
    let lines = statement["lines"].as_array().unwrap();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["grant", "open", "settle", "open", "settle"]);
    let mut balance = 0;
    for line in lines {
        balance += sum_reasons(&line["amounts"]);
        assert_eq!(number(&line["balance"]), balance);
    }
    assert_eq!(sum_reasons(&statement["sums"]), number(available));
    assert_eq!(statement["sums"]["other"], 100_000);
    assert!(number(&statement["sums"]["pot"]) > 0 && number(&statement["sums"]["ante"]) < 0);

    // Without bookings the balance is that of the period.
    assert_fields(&ok(read(1, 2)).await, json!({ "opening": available, "closing": available }));
    assert_fields(&ok(read(-3, -1)).await, json!({ "opening": 0, "closing": 0, "lines": [] }));
    expect_refusal(read(1, -1), 422, "query_invalid").await;
}

/// A statement has the items of each payment, and the reasons of corrections and voids.
#[tokio::test]
async fn a_statement_explains_payments_corrections_and_voids() {
    let (server, guests) = Server::with_guests(3).await;
    let players = list_players(&guests);
    server.bank.play(table(), &players, 1, 3, PotGoes::Nowhere).await;
    let voided = server.bank.open_game(&players).await;
    let why = reason("a cable was pulled");
    server.bank.ledger.void_game(voided.game, &why).await.unwrap();
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Finance).await;
    let request = [
        ("attempt", &*uuid::Uuid::now_v7().to_string()),
        ("kind", "adjustment"),
        ("player", &guests[1].id),
        ("amount", "12.50"),
        ("reason", "=a fault of ours, ₱12"),
    ];
    let asked = luz.send("/desk/corrections/new", "/desk/corrections", &request).await;
    let asked = asked.expect(303).location.unwrap();
    ben.send(&asked, &format!("{asked}/approval"), &[]).await.expect(303);

    let token = server.operator("api", Role::Viewer).await;
    let read = async |guest: &Guest| {
        let path = format!("/v1/operator/players/{}/statement?{}", guest.id, period(-1, 1));
        ok(server.get(&path, &token)).await["lines"].clone()
    };
    let lines = read(&guests[1]).await;
    let item = json!([{ "name": "normal", "rule": "6.1", "counts": 3 }]);
    let names: Vec<String> =
        guests.iter().map(|guest| text(&guest.answer["player"]["name"])).collect();
    let payment = |other: usize, amount: i64| {
        json!({
            "player": guests[other].id, "name": names[other], "amount": amount, "items": item
        })
    };
    assert_eq!(lines[2]["payments"], json!([payment(2, 300), payment(0, 300)]));
    assert_eq!(lines[2]["reason"], Value::Null);
    assert_eq!(lines[4]["reason"], "a cable was pulled");
    assert_eq!(lines[5]["reason"], "=a fault of ours, ₱12");
    assert_eq!(lines[5]["payments"], json!([]));
    let loser = read(&guests[0]).await;
    assert_eq!(loser[2]["payments"], json!([payment(1, -300)]));

    let typed = |days| day(days).strftime("%Y-%m-%dT%H:%M").to_string();
    let query = format!("from={}&to={}", typed(-1), typed(1));
    let here = format!("/desk/players/{}/statement", guests[1].id);
    let page = luz.load(&format!("{here}?{query}")).await;
    page.shows(&format!("{}</a> 3.00: 3 win (rule 6.1)", names[2]));
    page.shows("a cable was pulled").shows("=a fault of ours, ₱12");
    let file = luz.get(&format!("{here}.csv?{query}")).await.expect(200).text;
    let file = CsvFile::parse(&file);
    let items = file.column("items");
    let expected = |other: usize| format!("from {} 3.00: 3 win (rule 6.1)", names[other]);
    assert_eq!(items[3], format!("{}; {}", expected(2), expected(0)));
    assert_eq!(file.column("reason")[6], "'=a fault of ours, ₱12");
}

#[tokio::test]
async fn a_statement_is_a_page_and_a_file() {
    let (server, guests) = Server::with_guests(3).await;
    let players = list_players(&guests);
    server.bank.play(table(), &players, 1, 3, PotGoes::Nowhere).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Support).await;
    let here = format!("/desk/players/{}", guests[1].id);
    luz.get(&here).await.shows(&format!("{here}/statement"));
    let typed = |days| day(days).strftime("%Y-%m-%dT%H:%M").to_string();
    let query = format!("from={}&to={}", typed(-1), typed(1));
    let page = luz.load(&format!("{here}/statement?{query}")).await;
    for words in ["Opening balance", "Closing balance", "Game settled", "1,000.00"] {
        page.shows(words);
    }
    let file = luz.get(&format!("{here}/statement.csv?{query}")).await.expect(200).text;
    assert!(file.starts_with('\u{feff}'), "a spreadsheet reads UTF-8");
    let lines: Vec<&str> = file.lines().collect();
    assert_eq!(lines.len(), 1 + 1 + 3 + 1, "{file}");
    assert!(lines[1].contains(",opening balance,") && lines[1].ends_with(",0.00,,"), "{file}");
    assert!(
        lines[2].contains(",grant,,0.00,0.00,0.00,0.00,0.00,1000.00,1000.00,1000.00,,"),
        "{file}"
    );
    let available = number(&ok(server.get("/v1/me/wallet", &guests[1])).await["available"]);
    let closing = format!(",{}.{:02},,", available / 100, available % 100);
    assert!(lines[5].contains(",closing balance,") && lines[5].ends_with(&closing), "{file}");
    let audited = "select subject from audit_entries where action = 'export'";
    let subjects: Vec<String> = read_values(&server.bank.pool, audited).await;
    assert_eq!(subjects, [format!("player:{}", guests[1].id)]);
}

/// A statement of many bookings has several pages at the desk; each shows the sums of the period.
#[tokio::test]
async fn a_long_statement_has_pages() {
    let (server, guests) = Server::with_guests(3).await;
    let players = list_players(&guests);
    for _ in 0..50 {
        server.bank.play(table(), &players, 1, 3, PotGoes::Nowhere).await;
    }
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Support).await;
    let here = format!("/desk/players/{}/statement", guests[1].id);
    let typed = |days| day(days).strftime("%Y-%m-%dT%H:%M").to_string();
    let first = luz.load(&format!("{here}?from={}&to={}", typed(-1), typed(1))).await;
    first.shows("<dt>Closing balance</dt>");
    let balances = |page: &str| page.matches("\"/desk/ledger?operation=").count();
    assert_eq!(balances(&first.text), 100);
    assert!(!first.text.contains("data-sort"), "the script sorts complete lists only");
    let next = between(&first.text, "rel=\"next\" href=\"", "\"").replace("&amp;", "&");
    let last = luz.load(&next).await;
    assert_eq!(balances(&last.text), 1);
    let sums = |page: &str| between(page, "<dl class=\"facts\">", "</dl>").to_owned();
    assert_eq!(sums(&first.text), sums(&last.text));
    assert!(!last.text.contains("rel=\"next\""));
    luz.get(&format!("{here}?cursor=1~00")).await.expect(422).shows("cursor_invalid");
}
