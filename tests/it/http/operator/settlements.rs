//! Settlements as operators look for them: periods of the house's days, orders, and players by name.

use bahay::operators::Role;

use super::reports::start_with_games;
use crate::desk::browser::{Browser, Page, between};
use crate::http::server::{ok, text};
use crate::support::db::{read_row, read_value, read_values};

/// Returns the target of a link of a page by its text.
#[track_caller]
fn link(page: &Page, words: &str) -> String {
    let before = page.text.split_once(&format!(">{words}</a>")).expect("the page has the link").0;
    let href = before.rsplit_once("href=\"").expect("a link has a target").1;
    between(&format!("{href}\""), "", "\"").replace("&amp;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_settlement_of_a_day_is_two_links_away() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    let newest = luz.load("/desk/settlements").await;
    // It is 20:00 on the first of March in Manila.
    let yesterday = link(&newest, "Yesterday");
    assert_eq!(yesterday, "/desk/settlements?from=2026-02-28&to=2026-02-28");
    let largest = link(&luz.load(&yesterday).await, "Largest payments");
    let page = luz.load(&largest).await;
    page.shows("Settlements, largest payments first").hides("data-live=\"/desk/settlements/live");
    let (from, to) = ("2026-02-27T16:00:00Z", "2026-02-28T16:00:00Z");
    let expected = format!(
        "select game from settlements where finished_at >= '{from}' and finished_at < '{to}'
        order by gross desc, finished_at desc, game desc"
    );
    let expected: Vec<uuid::Uuid> = read_values(&server.bank.pool, &expected).await;
    assert!(expected.len() > 1);
    let games = page.text.split("/desk/games/").skip(1).map(|rest| &rest[..36]);
    let shown: Vec<uuid::Uuid> = games.map(|id| id.parse().unwrap()).collect();
    assert_eq!(shown, expected[..shown.len()]);

    // The days and the order are kept by the form and the file; the API has the same order.
    page.shows("name=\"order\" value=\"largest\"").shows("name=\"from\" type=\"date\"");
    let path = format!("/v1/operator/settlements?order=largest&from={from}&to={to}&limit=2");
    let listed = ok(server.get(&path, &token)).await;
    assert_eq!(text(&listed["items"][0]["game"]), expected[0].to_string());
    let cursor = text(&listed["next_cursor"]);
    let further = ok(server.get(&format!("{path}&cursor={cursor}"), &token)).await;
    assert_eq!(text(&further["items"][0]["game"]), expected[2].to_string());
    let times = luz.load(&link(&page, "By time")).await;
    times.shows("type=\"datetime-local\"").shows("Before</label>");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_is_found_by_name_with_the_change_of_coins() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    let player = "select id::text, name from players where kind <> 'bot' order by name limit 1";
    let (player, name): (String, String) = read_row(&server.bank.pool, player).await;
    let query = serde_urlencoded::to_string([("player", &name.to_uppercase())]).unwrap();
    let page = luz.load(&format!("/desk/settlements?{query}")).await;
    let chosen = format!("/desk/settlements?player={player}");
    let page = match page.text.contains("Choose the player") {
        true => luz.load(&chosen).await,
        false => page,
    };
    page.shows("Change of the player's coins").shows(&format!("value=\"{player}\""));

    let path = format!("/v1/operator/settlements/totals?player={player}");
    let totals = ok(server.get(&path, &token)).await;
    let change = format!(
        "select sum(e.amount)::bigint
        from entries e
        join operations o on o.id = e.operation and o.kind in ('open', 'settle')
        join accounts a on a.id = e.account
        where a.code = 'wallet:{player}'"
    );
    let change: i64 = read_value(&server.bank.pool, &change).await;
    assert_eq!(totals["player"]["change"], change);
    let [net, antes] = ["net", "antes"].map(|name| totals["player"][name].as_i64().unwrap());
    assert_eq!(net - antes, change);
    let all = ok(server.get("/v1/operator/settlements/totals", &token)).await;
    assert!(all["player"].is_null());

    luz.load("/desk/settlements?player=zzzzzz").await.shows("No entries.").shows("All players");
    luz.load("/desk/settlements?player=a").await.shows("Choose the player");
}
