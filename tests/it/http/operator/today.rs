//! The comparison of two days or weeks, over the API and at the desk.

use bahay::operators::Role;
use serde_json::{Value, json};

use super::reports::start_with_games;
use crate::desk::browser::Browser;
use crate::http::server::{expect_refusal, ok, text};
use crate::support::db::read_value;
use crate::support::rest::assert_fields;

const HERE: &str = "/v1/operator/today/comparison";

#[tokio::test(flavor = "multi_thread")]
async fn two_days_or_weeks_are_compared_with_their_difference() {
    // The time is 20:00 of 2026-03-01 in Manila, a Sunday.
    let (server, token) = start_with_games(Role::Viewer).await;
    let path = format!("{HERE}?first=2026-03-01&second=2026-02-28");
    let days = ok(server.get(&path, &token)).await;
    assert_fields(&days, json!({ "unit": "day", "time_zone": "Asia/Manila" }));
    assert_fields(
        &days["first"],
        json!({ "from": "2026-02-28T16:00:00.000Z", "has_ended": false }),
    );
    assert_fields(
        &days["second"],
        json!({
            "first_day": "2026-02-28", "last_day": "2026-02-28", "has_ended": true,
            "from": "2026-02-27T16:00:00.000Z", "to": "2026-02-28T16:00:00.000Z"
        }),
    );
    let today = ok(server.get("/v1/operator/today", &token)).await;
    assert_eq!(days["first"]["figures"], today["day"]);
    let number = |period: &Value, name: &str| period["figures"][name].as_i64().unwrap();
    for name in ["fees", "games_settled", "payments", "issued"] {
        let [first, second] = ["first", "second"].map(|period| number(&days[period], name));
        assert_eq!(days["difference"][name], first - second, "{name}");
    }
    let people = |figures: &Value| figures["players"]["people"].as_i64().unwrap();
    let [first, second] = ["first", "second"].map(|period| people(&days[period]["figures"]));
    assert!(first > 0 && second > 0);
    assert_eq!(people(&days["difference"]), first - second);
    let counted = "select count(distinct p.player)
        from games g
        join game_players p on p.game = g.id
        where g.state = 'settled' and (g.finished_at at time zone 'Asia/Manila')::date = '2026-02-28'";
    assert_eq!(second, read_value::<i64>(&server.bank.pool, counted).await);

    let weeks = format!("{HERE}?unit=week&first=2026-03-01&second=2026-02-22");
    let weeks = ok(server.get(&weeks, &token)).await;
    let last = json!({ "first_day": "2026-02-23", "last_day": "2026-03-01", "has_ended": false });
    assert_fields(&weeks["first"], last);
    assert_eq!(weeks["second"]["last_day"], "2026-02-22");

    for query in [
        "first=2026-02-30&second=2026-02-28",
        "first=2026-03-01&second=yesterday",
        "first=2026-03-01",
        "first=2026-03-02&second=2026-02-28",
        "first=2026-03-01&second=9998-12-31",
        "first=2026-03-01&second=2026-02-28&unit=month",
    ] {
        let path = format!("{HERE}?{query}");
        expect_refusal(server.get(&path, &token), 422, "query_invalid").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_desk_compares_by_links_and_dates() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    let page = luz.load("/desk/today").await;
    page.shows("href=\"/desk/today/compare\"").shows("Takings: Fee").shows("Issued: Welcome grant");
    page.shows("Returning: played before").shows("House bots");
    let page = luz.load("/desk/today/compare").await;
    page.shows("value=\"2026-03-01\"").shows("value=\"2026-02-28\"").shows("20 hours so far");
    page.shows("<th scope=\"col\" class=\"number\">Difference</th>");
    for link in [
        "?unit=day&amp;first=2026-02-28&amp;second=2026-02-27",
        "?unit=week&amp;first=2026-02-22&amp;second=2026-02-15",
    ] {
        page.shows(link);
        let query = link.replace("&amp;", "&");
        let page = luz.load(&format!("/desk/today/compare{query}")).await;
        page.shows("aria-current=\"true\"").hides("hours so far");
    }
    let query = "first=2026-02-28&second=2026-03-01";
    let days = ok(server.get(&format!("{HERE}?{query}"), &token)).await;
    let page = luz.load(&format!("/desk/today/compare?{query}")).await;
    let people = days["difference"]["players"]["people"].as_i64().unwrap();
    let sign = if people > 0 { "+" } else { "" };
    page.shows(&format!("<td class=\"number\">{sign}{people}</td>"));
    assert_eq!(text(&days["second"]["first_day"]), "2026-03-01");

    for (query, field, reason) in [
        ("first=2026-02-30", "first", "a day is as in 2026-03-01"),
        ("second=2026-03-02", "second", "lies after today (2026-03-01)"),
        ("unit=week&second=soon", "second", "a day is as in 2026-03-01"),
    ] {
        let page = luz.get(&format!("/desk/today/compare?{query}")).await.expect(422);
        page.shows(&format!("id=\"e-{field}\" class=\"error\"")).shows(reason);
        let other = if field == "first" { "second" } else { "first" };
        page.hides(&format!("id=\"e-{other}\"")).hides("Difference");
        let typed = query.rsplit('=').next().unwrap();
        page.shows(&format!("value=\"{typed}\""));
    }
    luz.get("/desk/today/compare?unit=month").await.expect(422);
}
