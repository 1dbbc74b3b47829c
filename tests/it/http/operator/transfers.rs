//! The sums of transfers for accounting: they explain every balance, over the API, at the desk and in
//! the file.

use std::collections::BTreeMap;

use bahay::operators::Role;

use super::reports::start_with_games;
use crate::desk::browser::Browser;
use crate::http::server::{expect_refusal, ok, text};
use crate::support::csv::CsvFile;
use crate::support::db::{execute, read_rows, read_values};
use crate::support::reason;

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
    let mut file = CsvFile::parse(&file);
    let totals = file.lines.pop().unwrap();
    let amounts: Vec<i64> = sums.iter().map(|sum| sum["amount"].as_i64().unwrap()).collect();
    assert_eq!(file.hundredths("coins"), amounts);
    let (transfers, sum) = (file.column("transfers"), amounts.iter().sum::<i64>());
    let transfers: i64 = transfers.iter().map(|number| number.parse::<i64>().unwrap()).sum();
    let sum = format!("{}.{:02}", sum / 100, sum % 100);
    assert_eq!(totals, ["total", "", "", "", &transfers.to_string(), &sum]);
    let audited = "select subject from audit_entries where action = 'export'";
    let subjects: Vec<String> = read_values(&server.bank.pool, audited).await;
    assert_eq!(subjects, ["transfers"]);
}

/// The accountant's file has each grant, adjustment, reversal and void with its date, its player
/// and its reason, and totals.
#[tokio::test(flavor = "multi_thread")]
async fn single_transfers_are_a_file_with_totals() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Finance).await;
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Finance).await;
    let players = server.bank.players([10_000; 3]).await;
    let owner = server.owner_pool().await;
    let rename = format!("update players set name = '=Niña' where id = '{}'", players[0]);
    assert_eq!(execute(&owner, &rename).await, 1);
    let voided = server.bank.open_game(&players).await;
    server.bank.ledger.void_game(voided.game, &reason("a cable was pulled")).await.unwrap();
    let player = players[0].to_string();
    let request = [
        ("attempt", &*uuid::Uuid::now_v7().to_string()),
        ("kind", "adjustment"),
        ("player", &player),
        ("amount", "-12.50"),
        ("reason", "a bonus was paid twice, ₱12"),
    ];
    let asked = luz.send("/desk/corrections/new", "/desk/corrections", &request).await;
    let asked = asked.expect(303).location.unwrap();
    ben.send(&asked, &format!("{asked}/approval"), &[]).await.expect(303);

    let query = "from=2025-01-01&to=2030-12-31";
    luz.load("/desk/transfers").await.shows("href=\"/desk/transfers/bookings.csv\"");
    let file = luz.get(&format!("/desk/transfers/bookings.csv?{query}")).await.expect(200);
    let period = "from=2025-01-01T00:00:00Z&to=2030-12-31T00:00:00Z";
    let path = &format!("/v1/operator/transfers/bookings.csv?{period}");
    let same = server.get(path, &token).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(same, file.text);
    let mut file = CsvFile::parse(&file.text);
    let is_total = |line: &Vec<String>| line[0] == "total";
    let lines = file.lines.iter().position(is_total).expect("the totals are last");
    let totals = file.lines.split_off(lines);
    let expected = "
        select o.id::text, t.code, t.amount,
            to_char(o.created_at at time zone 'Asia/Manila', 'YYYY-MM-DD HH24:MI:SS')
        from operations o
        join transfers t on t.operation = o.id
        where o.kind not in ('open', 'settle')
        order by o.id, t.number";
    let expected: Vec<(String, String, i64, String)> = read_rows(&owner, expected).await;
    assert!(expected.len() > 20);
    assert_eq!(file.column("operation"), expected.iter().map(|line| &line.0).collect::<Vec<_>>());
    assert_eq!(file.hundredths("coins"), expected.iter().map(|line| line.2).collect::<Vec<_>>());
    let times = file.column("date").into_iter().zip(file.column("time"));
    let times: Vec<String> = times.map(|(date, time)| format!("{date} {time}")).collect();
    assert_eq!(times, expected.iter().map(|line| line.3.clone()).collect::<Vec<_>>());

    let find = |kind: &str, column: &str, player: &str| {
        let named = ["kind", column, "purpose", "coins", "reason"].map(|name| file.column(name));
        let [kinds, names, purposes, coins, reasons] = named;
        let line = (0..kinds.len()).find(|at| kinds[*at] == kind && names[*at] == player);
        let line = line.unwrap_or_else(|| panic!("there is no {kind} of {player}"));
        (purposes[line], coins[line], reasons[line])
    };
    assert_eq!(find("Grant", "to_name", "'=Niña"), ("Welcome grant", "100.00", ""));
    let adjusted = ("Adjustment", "12.50", "a bonus was paid twice, ₱12");
    assert_eq!(find("Adjustment", "from_name", "'=Niña"), adjusted);
    assert_eq!(find("Game voided", "to_name", "'=Niña").2, "a cable was pulled");

    // The totals are those of the page, and add up.
    let column = |name: &str| file.columns.iter().position(|column| column == name).unwrap();
    let total = |purpose: &str| {
        let line = totals.iter().find(|line| line[column("purpose")] == purpose);
        line.map(|line| line[column("coins")].replace('.', "").parse::<i64>().unwrap())
    };
    assert_eq!(total(""), Some(file.hundredths("coins").iter().sum()));
    assert_eq!(total("Adjustment"), Some(1_250));
    let path = "/v1/operator/transfers/totals?from=2025-01-01T00:00:00Z&to=2030-12-31T00:00:00Z";
    let report = ok(server.get(path, &token)).await;
    let welcome = report["sums"].as_array().unwrap().iter().filter(|sum| sum["code"] == "welcome");
    let welcome: i64 = welcome.map(|sum| sum["amount"].as_i64().unwrap()).sum();
    assert_eq!(total("Welcome grant"), Some(welcome));
    let audited = "select subject from audit_entries where action = 'export'";
    let subjects: Vec<String> = read_values(&server.bank.pool, audited).await;
    assert_eq!(subjects, ["bookings", "bookings"]);
    let none = luz.get("/desk/transfers/bookings.csv?from=2025-01-01&to=2025-01-02").await;
    assert_eq!(CsvFile::parse(&none.expect(200).text).hundredths("coins"), [0]);
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
