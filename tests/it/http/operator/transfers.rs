//! The sums of transfers for accounting: they explain every balance, over the API, at the desk and in
//! the file.

use std::collections::BTreeMap;

use bahay::operators::Role;

use super::reports::start_with_games;
use crate::desk::browser::Browser;
use crate::http::server::{expect_refusal, ok, text};
use crate::support::csv::CsvFile;
use crate::support::db::read_values;

const SINCE: &str = "from=2025-01-01T00:00:00Z";

#[tokio::test(flavor = "multi_thread")]
async fn sums_of_transfers_explain_every_balance() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let path = format!("/v1/operator/transfers/totals?{SINCE}");
    let report = ok(server.get(&path, &token)).await;
    let sums = report["sums"].as_array().unwrap();
    let mut changes = BTreeMap::<String, i64>::new();
    for sum in sums {
        let amount = sum["amount"].as_i64().unwrap();
        assert!(amount > 0 && sum["transfers"].as_i64().unwrap() > 0, "{sum}");
        *changes.entry(text(&sum["source"])).or_default() -= amount;
        *changes.entry(text(&sum["destination"])).or_default() += amount;
    }
    let ledger = ok(server.get("/v1/operator/ledger", &token)).await;
    for balance in ledger["balances"].as_array().unwrap() {
        let change = changes.remove(&text(&balance["kind"])).unwrap_or_default();
        assert_eq!(balance["amount"], change, "{balance}");
    }
    assert_eq!(changes, BTreeMap::new());
    // One line for each purpose, room and kinds of accounts.
    let keys = sums
        .iter()
        .map(|sum| ["code", "room", "source", "destination"].map(|name| sum[name].to_string()));
    assert_eq!(keys.collect::<std::collections::BTreeSet<_>>().len(), sums.len());
    expect_refusal(
        server.get(&format!("{path}&to=2024-01-01T00:00:00Z"), &token),
        422,
        "query_invalid",
    )
    .await;

    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    luz.load("/desk/ledger").await.shows("href=\"/desk/transfers\"");
    luz.load("/desk/transfers?from=2025-01-01").await.shows("Payment").shows("By purpose and room");
    let file = luz.get("/desk/transfers.csv?from=2025-01-01").await.expect(200).text;
    // A byte order mark is first, by which a spreadsheet reads ñ and ₱.
    let file = CsvFile::parse(&file);
    let amounts: Vec<i64> = sums.iter().map(|sum| sum["amount"].as_i64().unwrap()).collect();
    assert_eq!(file.hundredths("coins"), amounts);
    let audited = "select subject from audit_entries where action = 'export'";
    let subjects: Vec<String> = read_values(&server.bank.pool, audited).await;
    assert_eq!(subjects, ["transfers"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_period_of_transfers_begins_with_the_month_of_the_house() {
    let (server, token) = start_with_games(Role::Viewer).await;
    for (query, from) in [
        // 20:00 on the first of March in Manila.
        ("", "2026-02-28T16:00:00.000Z"),
        ("?to=2026-02-28T15:00:00Z", "2026-01-31T16:00:00.000Z"),
    ] {
        let path = format!("/v1/operator/transfers/totals{query}");
        let report = ok(server.get(&path, &token)).await;
        let begins: jiff::Timestamp = text(&report["from"]).parse().unwrap();
        assert_eq!(begins, from.parse::<jiff::Timestamp>().unwrap(), "{query}");
    }
}
