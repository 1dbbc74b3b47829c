//! The reports for operators, over the API and at the desk. Every page exists, is small, and
//! matches the books. Access to hidden cards and exports of data are audited.

use bahay::operators::Role;
use bahay::standings::Calendar;
use bahay_lab::fixtures::{self, GenerateHistory};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::desk::browser::{Browser, between};
use crate::http::server::{NOW, Server, expect_refusal, ok, status_of, text};
use crate::support::checks::{count_pairs, count_reports};
use crate::support::csv::CsvFile;
use crate::support::db::{count_rows, execute, read_value, read_values};
use crate::support::reason;
use crate::support::rest::assert_fields;

/// Starts a server with some games on previous days. Returns it with the token of an operator.
pub(crate) async fn start_with_games(role: Role) -> (Server, String) {
    let server = Server::new().await;
    let owner = server.owner_pool().await;
    let what = GenerateHistory { games: 120, days: 3, players: 12, seed: 3, beside_others: false };
    fixtures::generate(&owner, what, NOW, Calendar::default(), |_| {}).await.unwrap();
    let reports = count_reports(&server.bank.pool).await;
    count_pairs(&reports, Calendar::default().time_zone()).await;
    let token = server.operator("api", role).await;
    (server, token)
}

async fn count_audit_entries(server: &Server, action: &str) -> i64 {
    count_rows(&server.bank.pool, &format!("audit_entries where action = '{action}'")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_small_and_matches_the_books() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let listed = ok(server.get("/v1/operator/settlements?limit=3", &token)).await;
    let first = &listed["items"][0];
    let game = text(&first["game"]);
    let player = text(&first["seats"][0]["player"]);

    luz.load("/desk/today").await.shows("<svg").shows("Games settled");
    luz.load("/desk/settlements").await.shows(&game).shows("data-live");
    let none = luz.load("/desk/settlements?room=nowhere&pot=yes").await;
    none.shows("No entries.").hides(&game);
    luz.load("/desk/settlements?from=2026-02-27T00:00&least=1.00&takeover=no").await;
    luz.load(&format!("/desk/games/{game}")).await.shows("verified").hides("differs");
    let page = luz.load(&format!("/desk/players/{player}")).await;
    page.shows("Indications of collusion").shows("Sign out everywhere");
    luz.load("/desk/players?search=a").await.shows("/desk/players/");
    let name: String =
        read_value(&server.bank.pool, &format!("select name from players where id = '{player}'"))
            .await;
    let wallet = format!("account=wallet%3A{player}\">wallet of {name}</a>");
    luz.load("/desk/ledger").await.shows("adds up").shows(">wallet of ");
    luz.load(&format!("/desk/games/{game}")).await.shows(&wallet);
    luz.load(&format!("/desk/ledger?account=wallet:{player}")).await.shows("Stake released");

    assert_eq!(count_audit_entries(&server, "replay_look").await, 0);
    let replay = luz.load(&format!("/desk/games/{game}/replay")).await;
    replay.shows("The deal").shows("type=\"range\"");
    // The result has the points of each player and the winner, the payments their items with cards.
    let result = between(&replay.text, "<h2>Result</h2>", "<h2>Deal</h2>");
    let (points, _) = result.split_once("<table").unwrap();
    assert_eq!(points.matches(" points").count(), 3, "{points}");
    assert!(result.contains(" won (") || result.contains("Nobody won ("), "{result}");
    // The deal has its seeds and cards, and the check has compared all values.
    replay.shows("Seed of the house").shows("Hands and deck as dealt").shows("Check it here");
    let check = between(&replay.text, "<caption>Checks of the deal</caption>", "</table>");
    assert!(check.contains("as booked before the deal") && check.contains("Draws of chance"));
    assert!(check.matches(">same<").count() >= 3 && !check.contains(">differs<"), "{check}");
    assert_eq!(count_audit_entries(&server, "replay_look").await, 1);
}

/// The house's time falls behind the ledger's clock while Redis is away.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_shown_by_the_clock_of_its_bookings() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let listed = ok(server.get("/v1/operator/settlements?limit=1", &token)).await;
    let game = text(&listed["items"][0]["game"]);
    let stall = format!(
        "update games set opened_at = opened_at - interval '46 s',
            finished_at = finished_at - interval '46 s'
        where id = '{game}'"
    );
    execute(&server.owner_pool().await, &stall).await;
    let page = luz.load(&format!("/desk/games/{game}")).await;
    let time_after = |words: &str| {
        let time = between(&page.text, words, "</time>");
        time.split_once("<time datetime=\"").unwrap().1.to_owned()
    };
    assert_eq!(time_after("<dt>Opened</dt>"), time_after(": Game opened, booked "));
    assert_eq!(time_after("<dt>Finished</dt>"), time_after(": Game settled, booked "));
}

/// A commitment that was booked before the deal and is not that of the seed shows a deal that was
/// exchanged.
#[tokio::test(flavor = "multi_thread")]
async fn the_check_of_a_deal_finds_another_commitment() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let listed = ok(server.get("/v1/operator/settlements?limit=1", &token)).await;
    let game = text(&listed["items"][0]["game"]);
    let exchanged = format!("update games set commitment = sha256('') where id = '{game}'");
    execute(&server.owner_pool().await, &exchanged).await;
    let replay = luz.load(&format!("/desk/games/{game}/replay")).await;
    let check = between(&replay.text, "<caption>Checks of the deal</caption>", "</table>");
    let booked = between(check, "as booked before the deal", "</tr>");
    assert!(booked.contains(">differs<"), "{booked}");
    assert_eq!(check.matches(">differs<").count(), 1, "{check}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_sees_no_hands_and_changes_nothing() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut vic = Browser::enrolled(&server, "vic", Role::Viewer).await;
    let listed = ok(server.get("/v1/operator/settlements?limit=1", &token)).await;
    let game = text(&listed["items"][0]["game"]);
    let player = text(&listed["items"][0]["seats"][0]["player"]);
    vic.load(&format!("/desk/games/{game}")).await.hides("/replay");
    vic.get(&format!("/desk/games/{game}/replay")).await.expect(403);
    let here = format!("/desk/players/{player}");
    vic.load(&here).await.hides("Note</label>");
    let note = [("attempt", &*Uuid::new_v4().to_string()), ("words", "x")];
    vic.send(&here, &format!("{here}/notes"), &note).await.expect(403);
    assert_eq!(count_audit_entries(&server, "player_note").await, 0);
    assert_eq!(count_audit_entries(&server, "replay_look").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn totals_and_csv_cover_the_same_settlements() {
    let (server, token) = start_with_games(Role::Finance).await;
    for filter in ["", "?room=newbie", "?ending=tongits&took_pot=true", "?gross_min=400"] {
        let totals =
            ok(server.get(&format!("/v1/operator/settlements/totals{filter}"), &token)).await;
        let csv = server.get(&format!("/v1/operator/settlements.csv{filter}"), &token);
        let response = csv.send().await.unwrap();
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/csv"));
        let csv = response.text().await.unwrap();
        let csv = CsvFile::parse(&csv);
        let fees = csv.hundredths("fee");
        assert_eq!(totals["games"], fees.len(), "{filter}");
        assert_eq!(totals["fees"], fees.iter().sum::<i64>(), "{filter}");
    }
    assert_eq!(count_audit_entries(&server, "export").await, 4);
    let refused = [
        "/v1/operator/settlements?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
        "/v1/operator/settlements/totals?gross_min=5&gross_max=4",
        "/v1/operator/settlements.csv?gross_min=-1",
    ];
    for path in refused {
        expect_refusal(server.get(path, &token), 422, "query_invalid").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn today_matches_the_sums_of_the_ledger() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let today = ok(server.get("/v1/operator/today", &token)).await;
    let [begins_at, at] = ["begins_at", "at"].map(|name| text(&today[name]));
    let fees = format!(
        "select coalesce(sum(t.amount), 0)::bigint
        from operations o
        join transfers t on t.operation = o.id and t.code = 'fee'
        where o.created_at >= '{begins_at}' and o.created_at < '{at}'"
    );
    let fees: i64 = read_value(&server.bank.pool, &fees).await;
    assert!(fees > 0);
    assert_eq!(today["day"]["fees"], fees);
    let sum = |list: &str| -> i64 {
        let fees = today[list].as_array().unwrap().iter().map(|one| &one["figures"]["fees"]);
        fees.map(|fee| fee.as_i64().unwrap()).sum()
    };
    assert_eq!([sum("rooms"), sum("hours")], [fees, fees]);
    let ledger = ok(server.get("/v1/operator/ledger", &token)).await;
    let balances = ledger["balances"].as_array().unwrap();
    let sum: i64 = balances.iter().map(|one| one["amount"].as_i64().unwrap()).sum();
    assert_eq!(sum, 0);
    assert_eq!(today["alerts"]["ledger_checked_at"], Value::Null);
    // No player sits at a table.
    assert_fields(&today, json!({ "tables_playing": 0, "players_playing": 0 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_house_accounts_have_neither_version_nor_balances() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let wallet = "select code from accounts where kind = 'wallet' order by id limit 1";
    let wallet: String = read_value(&server.bank.pool, wallet).await;
    for (account, are_numbered) in [("issue", false), (wallet.as_str(), true)] {
        let path = format!("/v1/operator/ledger/accounts/{account}/entries?limit=1");
        let page = ok(server.get(&path, &token)).await;
        let entry = &page["items"][0];
        for name in ["version", "balance_before", "balance_after"] {
            assert_eq!(entry.get(name).is_some(), are_numbered, "{account}: {name}");
        }
        let further = format!("{path}&cursor={}", text(&page["next_cursor"]));
        assert_ne!(ok(server.get(&further, &token)).await["items"][0], *entry);
        let operation = format!("/desk/ledger?operation={}\"", entry["operation"]);
        luz.load(&format!("/desk/ledger?account={account}")).await.shows(&operation);
    }
}

/// The desk reports at once what the hourly check would find.
#[tokio::test(flavor = "multi_thread")]
async fn a_tampered_balance_is_reported_at_the_desk() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let owner = server.owner_pool().await;
    let mut shows = async |adds_up: bool, why: &str| {
        let page = luz.load("/desk/ledger").await.text;
        assert_eq!(page.contains("does not add up"), !adds_up, "{why}: {page}");
        let books = ok(server.get("/v1/operator/ledger", &token)).await;
        assert_eq!(books["adds_up"], adds_up, "{why}: {books}");
    };
    let change = async |kind: &str, by: i64| {
        let change = format!(
            "update accounts set balance = balance + {by}
            where id = (select a.id from accounts a where a.kind = '{kind}' order by a.id limit 1)"
        );
        execute(&owner, &change).await;
    };
    shows(true, "as booked").await;
    for (kind, hundredths) in [("wallet", 1), ("stake", 1), ("pot", 1), ("fee", 1), ("issue", -1)] {
        change(kind, hundredths).await;
        shows(false, kind).await;
        change(kind, -hundredths).await;
        shows(true, kind).await;
    }
    // From one kind of account to another: the sum over all kinds is zero, unlike the sum of the
    // transfers.
    change("wallet", 100).await;
    change("issue", -100).await;
    shows(false, "coins that nobody transferred").await;
    // A sum that overflows is reported as well.
    let all = "update accounts set balance = 9223372036854775807 where kind = 'wallet'";
    execute(&owner, all).await;
    shows(false, "beyond 64 bits").await;
}

/// A house with many accounts: the trial balance is loaded after the page, or stands on the page that its
/// link leads to.
#[tokio::test(flavor = "multi_thread")]
async fn many_accounts_are_added_up_after_the_page() {
    let (server, _) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let owner = server.owner_pool().await;
    // The number that PostgreSQL estimates, which no analysis corrects.
    execute(&owner, "alter table accounts set (autovacuum_enabled = false)").await;
    let estimate = "update pg_class set reltuples = 3e6 where oid = 'accounts'::regclass";
    execute(&owner, estimate).await;
    let page = luz.load("/desk/ledger").await;
    page.hides("adds up").shows("data-load=\"/desk/ledger/trial-balance\"");
    page.shows("href=\"/desk/ledger?trial_balance=now\"").shows("id=\"checks\"");
    let parts = ["/desk/ledger/trial-balance", "/desk/ledger?trial_balance=now"];
    for part in parts {
        luz.load(part).await.shows("adds up").hides("data-load");
    }
    let change = "update accounts set balance = balance + 1
        where id = (select a.id from accounts a where a.kind = 'stake' order by a.id limit 1)";
    execute(&owner, change).await;
    for part in parts {
        luz.load(part).await.shows("does not add up").shows("balances differ from transfers");
    }
    // Further operations have a page without trial balance and checks.
    let further = between(&page.text, "rel=\"next\" href=\"", "\"").replace("&amp;", "&");
    let page = luz.load(&further).await;
    page.hides("data-load").hides("add up").hides("id=\"checks\"").shows("Operation ");
}

/// Each alert of today appears as soon as its cause exists, in the API and on the page, with a link to its
/// subject.
#[tokio::test(flavor = "multi_thread")]
async fn every_alert_of_today_links_to_its_subject() {
    let (server, token) = start_with_games(Role::Viewer).await;
    let mut luz = Browser::enrolled(&server, "luz", Role::Admin).await;
    let quiet = luz.load("/desk/today").await;
    quiet.shows("the ledger has not been checked yet").shows("games voided: 0");
    quiet.hides("id=\"voided\"").hides("id=\"slow\"");
    // The tables of the history have caused some alerts already.
    let before = ok(server.get("/v1/operator/today", &token)).await["alerts"].clone();
    let [pots, coins, gathering] =
        ["pots_idle", "pots_idle_coins", "gathering"].map(|name| before[name].as_i64().unwrap());

    let players = server.bank.players([10_000; 3]).await;
    let voided = server.bank.open_game(&players).await;
    assert_eq!(ok(server.get("/v1/operator/today", &token)).await["games_running"], 1);
    server.bank.ledger.void_game(voided.game, &reason("a cable was pulled")).await.unwrap();
    let owner = server.owner_pool().await;
    let now = jiff_sqlx::ToSqlx::to_sqlx(bahay::clock::to_jiff(server.clock.now()));
    // The rows that the ledger, the tables and the checks would write in such a case.
    for plant in [
        "insert into ledger_checks (slot, extent, started_at, finished_at, counted, differences)
            values ($1, 'recent', $1, $1, '{}', '{\"a coin is missing\"}')",
        "update games set finished_at = $1 where state = 'voided'",
        "insert into halted_tables (table_id, reason, halted_at)
            values (gen_random_uuid(), 'it does not replay', $1)",
        "insert into held_pots (table_id, amount, changed_at)
            values (gen_random_uuid(), 350, $1::timestamptz - interval '25 hours')",
        "insert into newcomer_coins (player, day, amount)
            select p.id, ($1::timestamptz at time zone 'UTC')::date, 100001
            from players p where p.name = 'Tala' order by p.id limit 1",
        "update settlements set finished_at = $1::timestamptz - interval '7500 milliseconds',
            booked_at = $1
            where game = (select s.game from settlements s order by s.game limit 1)",
    ] {
        sqlx::query(plant).bind(now).execute(&owner).await.unwrap();
    }

    let alerts = ok(server.get("/v1/operator/today", &token)).await["alerts"].clone();
    assert_fields(&alerts, json!({ "ledger_differences": 1, "games_voided": 1 }));
    assert_fields(&alerts, json!({ "pots_idle": pots + 1, "pots_idle_coins": coins + 350 }));
    assert_fields(&alerts, json!({ "settlements_slow": 1, "slowest_ms": 7_500 }));
    assert_fields(&alerts, json!({ "tables_halted": 1, "gathering": gathering + 1 }));
    let newest = json!({ "game": voided.game, "reason": "a cable was pulled" });
    assert_fields(&alerts["newest_voided"][0], newest);
    assert_eq!(alerts["newest_slow"][0]["late_ms"], 7_500);
    let slow = text(&alerts["newest_slow"][0]["game"]);
    let gatherers = alerts["gatherers"].as_array().unwrap();
    let gatherer = gatherers.iter().find(|one| one["amount"] == 100_001).unwrap();
    assert_fields(gatherer, json!({ "day": "2026-03-01", "name": "Tala" }));
    let gatherer = text(&gatherer["player"]);
    for path in ["/desk/today", "/desk/today/live"] {
        let today = luz.load(path).await;
        for words in [
            "differences in the ledger: 1",
            "games voided: 1",
            "tables halted: 1",
            &format!("POTs idle for a day: {}", pots + 1),
            "slow settlements: 1",
            &format!("players who win from new players: {}", gathering + 1),
            &format!("/desk/players/{gatherer}"),
            "a cable was pulled",
            "href=\"/desk/ledger#checks\"",
            "href=\"/desk/tables#halted\"",
            &format!("/desk/games/{}", voided.game),
            &format!("/desk/games/{slow}"),
        ] {
            assert!(today.text.contains(words), "{path}: {words}");
        }
    }
    luz.load("/desk/ledger").await.shows("id=\"checks\"").shows("a coin is missing");
    luz.load("/desk/tables").await.shows("id=\"halted\"").shows("it does not replay");
    luz.load(&format!("/desk/games/{}", voided.game)).await.shows("a cable was pulled");
}

#[tokio::test]
async fn support_notes_and_ends_sessions_once() {
    let (server, guest) = Server::with_guest().await;
    let token = server.operator("ben", Role::Support).await;
    let path = format!("/v1/operator/players/{}", guest.id);
    let key = Uuid::new_v4().to_string();
    let words = json!({ "words": "Two phones." });
    for _ in 0..2 {
        let note = server.post_by(&token, &format!("{path}/notes"), &words);
        assert_eq!(status_of(note.header("Idempotency-Key", &key)).await, 204);
    }
    let notes = ok(server.get(&path, &token)).await["notes"].clone();
    assert_eq!(notes.as_array().unwrap().len(), 1);
    assert_fields(&notes[0], json!({ "words": "Two phones.", "written_by": "ben" }));
    assert_eq!(count_audit_entries(&server, "player_note").await, 1);
    assert_eq!(ok(server.get("/v1/me/export", &guest)).await["notes"][0]["words"], "Two phones.");

    let end = server.call(Method::POST, &format!("{path}/sign-out"), &token);
    assert_eq!(status_of(end).await, 204);
    server.accounts.load_revocations().await.unwrap();
    expect_refusal(server.get("/v1/me", &guest), 401, "token_revoked").await;
    assert_eq!(count_audit_entries(&server, "player_end_sessions").await, 1);
    let nobody = format!("/v1/operator/players/{}", Uuid::nil());
    expect_refusal(server.get(&nobody, &token), 404, "player_not_found").await;
}

/// The addresses of a player are visible to the roles that look after players, and each access is
/// audited.
#[tokio::test]
async fn addresses_are_limited_by_role_and_audited() {
    let (server, guest) = Server::with_guest().await;
    let path = format!("/v1/operator/players/{}", guest.id);
    let desk = format!("/desk/players/{}", guest.id);
    let mut looks = 0;
    for (name, role, may) in [
        ("vic", Role::Viewer, false),
        ("fin", Role::Finance, false),
        ("sue", Role::Support, true),
        ("ada", Role::Admin, true),
    ] {
        let token = server.operator(name, role).await;
        let report = ok(server.get(&path, &token)).await;
        let address = &report["sessions"][0]["address"];
        assert_eq!(address.as_str(), may.then_some("127.0.0.1"), "{role}");
        looks += i64::from(may);
        assert_eq!(count_audit_entries(&server, "addresses_look").await, looks, "{role}");

        let mut browser = Browser::enrolled(&server, &format!("{name}.desk"), role).await;
        let page = browser.load(&desk).await.text;
        assert_eq!(page.contains("127.0.0.1"), may, "{role}");
        looks += i64::from(may);
        assert_eq!(count_audit_entries(&server, "addresses_look").await, looks, "{role}");
    }
    let subject = "select distinct subject from audit_entries where action = 'addresses_look'";
    let subjects: Vec<String> = read_values(&server.bank.pool, subject).await;
    assert_eq!(subjects, [format!("player:{}", guest.id)]);
}
