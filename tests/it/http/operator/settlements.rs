//! Settlements as operators look for them: periods of the house's days, orders, players by name, and the
//! file for a spreadsheet.

use bahay::operators::Role;
use serde_json::Value;

use super::reports::start_with_games;
use crate::desk::browser::{Browser, Page, between};
use crate::http::server::{ok, text};
use crate::support::csv::CsvFile;
use crate::support::db::{execute, read_row, read_rows, read_value, read_values};

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
    let of_day = luz.load(&yesterday).await;
    of_day.shows("aria-sort=\"descending\"><a href=\"/desk/settlements?from=2026-02-28&amp;to=");
    let page = luz.load(&link(&of_day, "Paid")).await;
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
    // The heading of the sorted column reverses the order.
    let smallest = link(&page, "Paid");
    assert!(smallest.contains("order=smallest") && smallest.contains("from=2026-02-28"));
    let reversed = luz.load(&smallest).await;
    reversed.shows("Settlements, smallest payments first").shows("aria-sort=\"ascending\"");
    assert!(reversed.text.contains(&format!("/desk/games/{}", expected[expected.len() - 1])));

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

/// Every column but that of the players sorts in both directions, and keeps the filter.
#[tokio::test(flavor = "multi_thread")]
async fn every_column_sorts() {
    let (server, _) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    let page = luz.load("/desk/settlements?room=newbie").await;
    for (column, first, reverse) in [
        ("Paid", "largest", "smallest"),
        ("Fee", "largest_fee", "smallest_fee"),
        ("POT", "largest_pot", "smallest_pot"),
        ("Ante", "largest_ante", "smallest_ante"),
        ("Reversed", "newest_reversal", "oldest_reversal"),
        ("AI", "with_ai", "without_ai"),
        ("Game", "last_kind", "first_kind"),
        ("Room", "last_room", "first_room"),
        ("End", "last_ending", "first_ending"),
    ] {
        // Texts begin with A.
        let is_text = first.starts_with("last_");
        if is_text {
            let href = link(&page, column);
            assert_eq!(href, format!("/desk/settlements?room=newbie&order={reverse}"));
            let sorted = luz.load(&href).await;
            assert_eq!(
                link(&sorted, column),
                format!("/desk/settlements?room=newbie&order={first}")
            );
            continue;
        }
        let href = link(&page, column);
        assert_eq!(href, format!("/desk/settlements?room=newbie&order={first}"));
        let sorted = luz.load(&href).await;
        assert_eq!(sorted.text.matches("aria-sort=\"descending\"").count(), 1, "{column}");
        let href = link(&sorted, column);
        assert_eq!(href, format!("/desk/settlements?room=newbie&order={reverse}"));
        let reversed = luz.load(&href).await;
        assert_eq!(reversed.text.matches("aria-sort=\"ascending\"").count(), 1, "{column}");
        assert_eq!(link(&reversed, column), format!("/desk/settlements?room=newbie&order={first}"));
        assert_eq!(link(&reversed, "Finished"), "/desk/settlements?room=newbie&order=newest");
    }
    assert_eq!(link(&page, "Finished"), "/desk/settlements?room=newbie&order=oldest");
    luz.get("/desk/settlements?order=by_name").await.expect(422);
}

/// A spreadsheet opens the file of a month: days of the house's zone, coins, and names that are no
/// formulas.
#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_period_opens_in_a_spreadsheet() {
    let (server, _) = start_with_games(Role::Finance).await;
    let mut ben = Browser::enrolled(&server, "ben", Role::Finance).await;
    let owner = server.owner_pool().await;
    let names = ["=1+1", "+63 917", "-Niña ₱5", "@luz, Jr."];
    for (place, name) in names.iter().enumerate() {
        let rename = format!(
            "update players set name = '{name}' where id = (
                select p.player
                from game_players p
                join settlements s on s.game = p.game
                where (s.finished_at at time zone 'Asia/Manila')::date = '2026-02-28'
                group by p.player
                order by p.player
                offset {place} limit 1
            )"
        );
        assert_eq!(execute(&owner, &rename).await, 1);
    }
    let file = ben.get("/desk/settlements.csv?from=2026-02-28&to=2026-02-28").await.expect(200);
    let mut file = CsvFile::parse(&file.text);
    let totals = file.lines.pop().unwrap();
    file.assert_no_empty_column(&[]);
    let sum = |name| {
        let sum: i64 = file.hundredths(name).iter().sum();
        format!("{}.{:02}", sum / 100, sum % 100)
    };
    let games = format!("{} games", file.lines.len());
    let expected = [("date", "total"), ("game", &games), ("table", ""), ("paid", &sum("paid"))];
    for (name, field) in expected.into_iter().chain([("fee", &*sum("fee")), ("pot", &sum("pot"))]) {
        let place = file.columns.iter().position(|column| column == name).unwrap();
        assert_eq!(totals[place], field, "{name}");
    }
    let seats = ["id", "name", "net"].map(|field| [1, 2, 3].map(|at| format!("seat_{at}_{field}")));
    let [ids, written, nets] = seats.map(|columns| columns.map(|name| file.column(&name)).concat());
    assert!(names.iter().all(|name| written.contains(&format!("'{name}").as_str())), "{written:?}");
    assert!(!written.iter().any(|name| name.starts_with(['=', '+', '-', '@'])), "{written:?}");
    let expected = "
        select (s.finished_at at time zone 'Asia/Manila')::date::text,
            to_char(s.finished_at at time zone 'Asia/Manila', 'HH24:MI:SS'),
            to_char(s.finished_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'),
            s.game::text, (s.gross / 100.0)::numeric(12, 2)::text,
            (s.fee / 100.0)::numeric(12, 2)::text,
            (coalesce(s.pot, 0) / 100.0)::numeric(12, 2)::text,
            (s.ante / 100.0)::numeric(12, 2)::text
        from settlements s
        where (s.finished_at at time zone 'Asia/Manila')::date = '2026-02-28'
        order by s.finished_at desc, s.game desc";
    type Line = (String, String, String, String, String, String, String, String);
    let expected: Vec<Line> = read_rows(&server.bank.pool, expected).await;
    assert!(expected.len() > 1);
    let columns = ["date", "time", "finished_at", "game", "paid", "fee", "pot", "ante"];
    let columns = columns.map(|name| file.column(name));
    for (place, line) in expected.iter().enumerate() {
        let (date, time, finished_at, game, paid, fee, pot, ante) = line;
        let line = [date, time, finished_at, game, paid, fee, pot, ante];
        assert_eq!(columns.each_ref().map(|column| column[place]), line);
    }
    assert!(file.column("utc_offset").iter().all(|offset| *offset == "UTC+08:00"));
    let paid_to = "
        select p.net, p.player::text
        from game_players p
        join settlements s on s.game = p.game
        where (s.finished_at at time zone 'Asia/Manila')::date = '2026-02-28'";
    let mut paid_to: Vec<(i64, String)> = read_rows(&server.bank.pool, paid_to).await;
    let in_hundredths = |net: &str| net.replace('.', "").parse::<i64>().unwrap();
    let mut listed: Vec<(i64, String)> =
        nets.iter().zip(ids).map(|(net, id)| (in_hundredths(net), id.to_owned())).collect();
    paid_to.sort();
    listed.sort();
    assert_eq!(listed, paid_to);
}

/// The script receives at most ten players, and only an operator's.
#[tokio::test(flavor = "multi_thread")]
async fn players_are_suggested_while_a_name_is_typed() {
    let (server, _) = start_with_games(Role::Viewer).await;
    let mut visitor = Browser::new(&server);
    visitor.get("/desk/search/names?text=al").await.expect(303);
    let mut luz = Browser::enrolled(&server, "luz", Role::Viewer).await;
    let owner = server.owner_pool().await;
    let rename = "
        update players p set name = 'Maria ' || n.number
        from (
            select g.player, row_number() over (order by g.player) as number
            from game_players g group by g.player
        ) n
        where p.id = n.player";
    assert!(execute(&owner, rename).await > 10);
    let mut suggest = async |text: &str| -> Vec<Value> {
        let query = serde_urlencoded::to_string([("text", text)]).unwrap();
        let answer = luz.get(&format!("/desk/search/names?{query}")).await.expect(200);
        serde_json::from_str(&answer.text).unwrap()
    };
    let several = suggest("mari").await;
    assert_eq!(several.len(), 10);
    for player in &several {
        let name = format!("select name from players where id = '{}'", text(&player["id"]));
        assert_eq!(text(&player["name"]), read_value::<String>(&server.bank.pool, &name).await);
    }
    let one = suggest("MARIA 7").await;
    assert_eq!(one.iter().map(|player| text(&player["name"])).collect::<Vec<_>>(), ["Maria 7"]);
    assert!(suggest("  ").await.is_empty() && suggest("zzzz").await.is_empty());
    assert!(suggest("%").await.is_empty());
    luz.get(&format!("/desk/search/names?text={}", "x".repeat(65))).await.expect(422);

    // The fields of names are marked for the script, and work without it.
    let page = luz.load("/desk/settlements").await;
    page.shows("name=\"text\" aria-label=\"Search\"").shows("data-suggest=\"page\"");
    page.shows("data-suggest=\"name\"").shows("/desk/assets/suggestions-");
    luz.load("/desk/players").await.shows("data-suggest=\"name\"");
    let path = between(&page.text, "src=\"/desk/assets/suggestions-", "\"");
    luz.load(&format!("/desk/assets/suggestions-{path}")).await.shows("combobox");
}
