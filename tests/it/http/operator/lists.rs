//! Lists at the desk, as people read them: titles instead of codes, amounts first, counts with
//! thousands separators.

use bahay::operators::Role;

use super::reports::start_with_games;
use crate::desk::browser::{Browser, between};
use crate::http::server::{ok, text};
use crate::support::db::{execute, read_value};

/// Returns the headings of the table with a caption, with `#` before those of numbers.
#[track_caller]
fn headings(page: &str, caption: &str) -> Vec<String> {
    let after = page.split_once(&format!("<caption>{caption}")).expect("the table exists").1;
    let head = between(after, "<thead>", "</thead>");
    let cells = head.split("<th ").skip(1).map(|cell| {
        let (attributes, content) = cell.split_once('>').expect("a heading ends");
        let name = content.split("</th>").next().unwrap_or_default();
        // A sorted heading is a link.
        let name = name.split_once("\">").map_or(name, |(_, name)| name);
        let name = name.split('<').next().unwrap_or_default();
        let mark = if attributes.contains("class=\"number\"") { "#" } else { "" };
        format!("{mark}{name}")
    });
    cells.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn values_have_titles() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let listed = ok(server.get("/v1/operator/settlements?room=newbie&limit=1", &token)).await;
    let settled = &listed["items"][0];
    let (game, player) = (text(&settled["game"]), text(&settled["seats"][0]["player"]));
    let settlements = luz.load("/desk/settlements?room=newbie").await;
    settlements.shows("<td>Newbie</td>").hides("<td>newbie</td>");
    settlements.shows("<td>Tong-its</td>").hides("<td>tongits</td>").hides("<td>fight</td>");
    luz.load(&format!("/desk/players/{player}")).await.hides("<td>newbie</td>");
    let game = luz.load(&format!("/desk/games/{game}")).await;
    game.shows(": Game settled, booked").shows("<td>Stake held</td>").shows(" win (rule 6.1)");
    game.hides("<td>hold</td>").hides("normal (rule");
    luz.load("/desk/today").await.shows(">Newbie</a>").shows("Issued: Welcome grant");
    let ledger = luz.load("/desk/ledger").await;
    ledger.shows("<td>Issue of the house</td>").shows("<td>Stakes</td>").hides("<td>issue</td>");
    let entries = luz.load(&format!("/desk/ledger?account=wallet:{player}")).await;
    entries.shows(">Stake released</a>").hides(">release</a>");
    let transfers = luz.load("/desk/transfers?from=2025-01-01").await;
    transfers.shows("<td>Newbie</td>").shows("<td>Fees of the house</td>").hides("<td>fee</td>");
    luz.get("/desk/settlements.csv").await.expect(200).shows(",tongits,newbie,");
    let audit = luz.load("/desk/audit?action=export").await;
    audit.shows("<td>Exported</td>").shows("value=\"room_change\">Room changed</option>");
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_have_thousands_separators() {
    let (server, _) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    let owner = server.owner_pool().await;
    let multiply = "update settlement_days set games = games + 100000, reversed = 10000
        where (day, kind, room, ending, took_pot, taken_over, gross, fee, ante) = (
            select d.day, d.kind, d.room, d.ending, d.took_pot, d.taken_over, d.gross, d.fee, d.ante
            from settlement_days d
            where d.games > 0
            order by d.day
            limit 1
        )";
    assert_eq!(execute(&owner, multiply).await, 1);
    let games: i64 = read_value(&owner, "select sum(games)::bigint from settlement_days").await;
    let page = luz.load("/desk/settlements").await;
    page.shows(&format!("<dt>Games</dt><dd>{},{:03}</dd>", games / 1000, games % 1000));
    page.shows("<dt>Reversed</dt><dd>10,000</dd>");
}

/// On a phone the first two columns are visible.
#[tokio::test(flavor = "multi_thread")]
async fn amounts_follow_the_name_or_the_time() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let listed = ok(server.get("/v1/operator/settlements?limit=1", &token)).await;
    let settled = &listed["items"][0];
    let player = format!("/desk/players/{}", text(&settled["seats"][0]["player"]));
    let game = format!("/desk/games/{}", text(&settled["game"]));
    for (path, caption, first, amount) in [
        ("/desk/corrections", "Corrections", "Requested at", "#Coins"),
        ("/desk/rooms", "Rooms", "Room", "#Bet"),
        ("/desk/tournaments", "Tournaments", "Name", "#Pool"),
        ("/desk/transfers", "Transfers by purpose", "Purpose", "#Coins"),
        ("/desk/today", "Rooms", "Room", "#Fees"),
        ("/desk/ledger", "Transfers of operation", "Purpose", "#Coins"),
        (&game, "Transfers of operation", "Purpose", "#Coins"),
        (&player, "Partners", "Partner", "#Paid to partner"),
        (&player, "Entries", "Booked", "#Coins"),
        ("/desk/settlements", "Settlements", "Finished", "#Paid"),
    ] {
        let page = luz.load(path).await;
        let names = headings(&page.text, caption);
        assert_eq!(names[..2], [first, amount], "{path}");
    }
}

/// The script sorts tables that have all rows of their lists, and no others.
#[tokio::test(flavor = "multi_thread")]
async fn complete_tables_are_marked_for_sorting() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    let listed = ok(server.get("/v1/operator/settlements?limit=1", &token)).await;
    let player = format!("/desk/players/{}", text(&listed["items"][0]["seats"][0]["player"]));
    for (path, caption) in [
        ("/desk/rooms", "Rooms, by"),
        ("/desk/transfers?from=2025-01-01", "Transfers by purpose<"),
        ("/desk/transfers?from=2025-01-01", "Transfers by purpose, room"),
        (&player, "Partners in"),
        (&format!("{player}/statement"), "Bookings by time"),
    ] {
        let page = luz.load(path).await.text;
        let before = page.split_once(&format!("<caption>{caption}")).expect("the table exists").0;
        let table = before.rsplit("<div class=\"scroll\"").nth(1).expect("it scrolls");
        assert!(table.ends_with("<div data-sort>"), "{path}: {caption}");
    }
    luz.load("/desk/settlements").await.hides("data-sort");
}
