//! The ranking of pairs by signs of collusion: planted pairs among ordinary players, over the API
//! and at the desk, their alert, and their review.

use std::time::Duration;

use bahay::operators::Role;
use bahay::reports::pairs::signs::ALERT_SCORE_DEFAULT;
use bahay::standings::Calendar;
use bahay_engine::table::PlayerId;
use bahay_lab::fixtures::{self, GenerateHistory};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::desk::browser::Browser;
use crate::http::operator::corrections::Office;
use crate::http::server::{NOW, Server, expect_refusal, ok, text};
use crate::support::bank::{PotGoes, settlement, table};
use crate::support::checks::{count_pairs, count_reports, count_standings};
use crate::support::db::{count_waiting, execute, lock_table, read_rows, read_value};
use crate::support::rest::{assert_fields, items};
use crate::support::waiting::wait_until;

const PATH: &str = "/v1/operator/collusion";

const HOUR_MS: i64 = 3_600_000;

/// The time within which alerts are displayed.
const ALERT_TIME: Duration = Duration::from_secs(3);

/// A house with ordinary players and planted pairs.
struct Planted {
    office: Office,
    /// The one who loses on purpose, and the one who wins from it.
    dumping: [PlayerId; 2],
    /// Three accounts of one address that play only with each other.
    family: [PlayerId; 3],
}

impl Planted {
    async fn new() -> Self {
        let server = Server::new().await;
        let owner = server.owner_pool().await;
        let what =
            GenerateHistory { games: 150, days: 5, players: 12, seed: 3, beside_others: false };
        fixtures::generate(&owner, what, NOW, Calendar::default(), |_| {}).await.unwrap();
        let bank = &server.bank;
        let dumping = <[_; 2]>::try_from(bank.players([100_000; 2]).await).unwrap();
        let family = <[_; 3]>::try_from(bank.players([100_000; 3]).await).unwrap();
        let planted = Self { office: Office::open(server).await, dumping, family };
        // A third player, another one in each game, loses as well.
        for game in 0..20 {
            let third = planted.office.server.bank.player(10_000).await;
            planted.play(game, &[dumping[0], dumping[1], third], 1, 5).await;
        }
        for game in 0..11_u8 {
            planted.play(i64::from(game), &family, game % 3, 2).await;
        }
        let ids = family.map(|player| format!("'{player}'")).join(", ");
        let sessions = format!(
            "insert into sessions (id, player, method, expires_at, network)
            select gen_random_uuid(), p.id, 'guest', now() + interval '1 day', '203.0.113.7'
            from players p where p.id in ({ids})"
        );
        execute(&owner, &sessions).await;
        planted.project().await;
        planted
    }

    /// Plays a game this number of hours before now, in which the losers owe a number of counts.
    async fn play(&self, hours: i64, players: &[PlayerId], winner: u8, counts: u32) {
        let bank = &self.office.server.bank;
        let mut game = bank.deal(table(), players);
        game.opened_at_ms = NOW.ms() - (hours + 1) * HOUR_MS;
        let (stakes, pot) = bank.open(&game).await;
        let settled = settlement(winner, counts, &stakes, PotGoes::Nowhere, pot);
        let mut input = bank.finish(&game, settled);
        input.finished_at_ms = game.opened_at_ms + 60_000;
        bank.ledger.settle_game(input).await.unwrap();
    }

    /// Projects all games.
    async fn project(&self) {
        let bank = &self.office.server.bank;
        bank.ledger.seal_operations().await.unwrap();
        count_standings(&bank.pool).await;
        let reports = count_reports(&bank.pool).await;
        count_pairs(&reports, Calendar::default().time_zone()).await;
    }

    /// Returns the ids of a pair in order.
    fn ids([one, other]: [PlayerId; 2]) -> [String; 2] {
        let mut ids = [one.to_string(), other.to_string()];
        ids.sort();
        ids
    }

    fn family_pairs(&self) -> Vec<[String; 2]> {
        let [a, b, c] = self.family;
        let mut pairs = [[a, b], [a, c], [b, c]].map(Self::ids).to_vec();
        pairs.sort();
        pairs
    }

    async fn list(&self, query: &str) -> Vec<Value> {
        let server = &self.office.server;
        items(&ok(server.get(&format!("{PATH}{query}"), &self.office.ben)).await).to_vec()
    }
}

fn ids_of(pair: &Value) -> [String; 2] {
    [text(&pair["first"]["id"]), text(&pair["second"]["id"])]
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_pairs_rank_before_ordinary_players() {
    let planted = Planted::new().await;
    let listed = planted.list("?limit=100").await;
    assert!(listed.len() > 4, "ordinary pairs have points too: {listed:?}");
    let scores: Vec<i64> = listed.iter().map(|pair| pair["score"].as_i64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, next| one >= next), "{scores:?}");
    let mut first: Vec<_> = listed[..4].iter().map(ids_of).collect();
    first.sort();
    let mut expected = planted.family_pairs();
    expected.push(Planted::ids(planted.dumping));
    expected.sort();
    assert_eq!(first, expected);
    assert!(scores[3] >= ALERT_SCORE_DEFAULT && scores[4] < ALERT_SCORE_DEFAULT, "{scores:?}");

    let is_family = |pair: &&Value| planted.family_pairs().contains(&ids_of(pair));
    for pair in listed.iter().filter(is_family) {
        assert_fields(pair, json!({ "games": 11, "of": 11, "shared": "address" }));
        assert_eq!(pair["signs"][0]["words"], "11 of 11 games together");
    }
    let ids = Planted::ids(planted.dumping);
    let pair = listed.iter().find(|pair| ids_of(pair) == ids).unwrap();
    assert_fields(pair, json!({ "games": 20, "of": 20, "shared": null, "state": "open" }));
    // Twenty games of one amount in one direction are the root of twenty deviations.
    assert_eq!(pair["net_transfer_thousandths"], 4_472);
    let dumped: i64 = read_value(
        &planted.office.server.bank.pool,
        &format!(
            "select sum(t.amount)::bigint
            from transfers t
            join accounts s on s.id = t.source
            join accounts d on d.id = t.destination
            join game_players p on s.code = 'stake:' || p.game || ':' || p.seat
            where t.code = 'payment' and p.player = '{}' and d.player = '{}'",
            planted.dumping[0], planted.dumping[1]
        ),
    )
    .await;
    let paid = if ids[0] == planted.dumping[0].to_string() { "paid" } else { "received" };
    assert_eq!(pair[paid], dumped);

    // The pages of the list are the list.
    let server = &planted.office.server;
    let pages = server.read_pages(PATH, "limit=3", &planted.office.ben).await;
    assert_eq!(pages.concat(), listed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_is_shown_with_its_games_and_requests_are_refused_by_type() {
    let planted = Planted::new().await;
    let server = &planted.office.server;
    let [one, other] = planted.dumping;
    let get = |path: String| server.get(&path, &planted.office.ben);
    let shown = ok(get(format!("{PATH}/{one}/{other}"))).await;
    let reversed = ok(get(format!("{PATH}/{other}/{one}"))).await;
    assert_eq!(shown, reversed, "the order of the ids does not matter");
    let games = shown["games"].as_array().unwrap();
    assert_eq!(games.len(), 20);
    let listed: Vec<String> = games.iter().map(|game| text(&game["game"])).collect();
    let plain = format!(
        "select a.game::text from game_players a
        join game_players b on b.game = a.game and b.player = '{other}'
        where a.player = '{one}' order by a.finished_at desc, a.game desc"
    );
    let plain: Vec<(String,)> = read_rows(&server.bank.pool, &plain).await;
    assert_eq!(listed, plain.into_iter().map(|(game,)| game).collect::<Vec<_>>());

    // A reversal returns the coins, and the games remain.
    let operation = planted.office.find_operation(&format!("settle:{}", listed[0])).await;
    planted.office.reverse(operation).await;
    planted.project().await;
    let after = ok(get(format!("{PATH}/{one}/{other}"))).await;
    assert_fields(&after["pair"], json!({ "games": 20, "net_transfer_thousandths": 4_358 }));
    assert_eq!(after["games"][0]["is_reversed"], true);

    let stranger = server.bank.player(0).await;
    for (path, status, code) in [
        (format!("{PATH}/{one}/{stranger}"), 404, "pair_not_found"),
        (format!("{PATH}/{one}/{one}"), 404, "pair_not_found"),
        (
            format!("{PATH}/{one}/{other}?from=2020-01-01T00:00:00Z&to=2020-05-01T00:00:00Z"),
            422,
            "query_invalid",
        ),
        (format!("{PATH}/x/{other}"), 422, "path_invalid"),
        (format!("{PATH}?state=shut"), 422, "query_invalid"),
        (format!("{PATH}?cursor=x"), 422, "cursor_invalid"),
        (format!("{PATH}?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z"), 422, "query_invalid"),
    ] {
        expect_refusal(get(path), status, code).await;
    }
    // The period before has none of these games.
    let before = "?from=2026-02-01T00:00:00Z&to=2026-02-08T00:00:00Z";
    assert_eq!(planted.list(before).await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reviewed_pair_is_hidden_until_new_games_raise_its_score() {
    let planted = Planted::new().await;
    let server = &planted.office.server;
    let mut ben = Browser::enrolled(server, "kuya.jun", Role::Support).await;
    let alert = |count: i64| format!("{count} pairs with signs of collusion</a>");
    ben.get("/desk/alerts").await.shows(&alert(4)).shows("href=\"/desk/collusion\"");
    ben.get("/desk/today").await.shows("pairs with signs of collusion: 4");
    let page = ben.get("/desk/collusion").await.expect(200);
    page.shows("11 of 11 games together").shows("same address").shows("times the deviation");

    let [one, other] = planted.dumping;
    let here = format!("/desk/collusion/{one}/{other}");
    let page = ben.get(&here).await.expect(200);
    page.shows("Mark as reviewed").shows("/desk/games/");
    let review = format!("{here}/review");
    ben.send(&here, &review, &[("reason", "short")]).await.expect(422);
    let reason = [("reason", "He teaches her the game.")];
    ben.send(&here, &review, &reason).await.expect(303);
    ben.get("/desk/alerts").await.shows(&alert(3));
    let ids = Planted::ids(planted.dumping);
    let is_listed =
        async |query: &str| planted.list(query).await.iter().any(|it| ids_of(it) == ids);
    assert!(!is_listed("?state=open&limit=100").await);
    assert!(is_listed("?state=reviewed").await);
    ben.get("/desk/collusion?state=reviewed").await.shows("He teaches her the game.");

    // More games of the same kind raise the score.
    for game in 0..10 {
        let third = server.bank.player(10_000).await;
        planted.play(game, &[one, other, third], 1, 5).await;
    }
    planted.project().await;
    assert!(is_listed("?state=open&limit=100").await);
    ben.get("/desk/collusion").await.shows("raised since");

    let audited = "select e.subject, e.detail ->> 'reason' from audit_entries e
        where e.action = 'player_pair_review' order by 1";
    let audited: Vec<(String, String)> = read_rows(&server.bank.pool, audited).await;
    let expected =
        ids.clone().map(|id| (format!("player:{id}"), "He teaches her the game.".to_owned()));
    assert_eq!(audited, expected);

    // Over the API, for those who may moderate.
    let path = format!("{PATH}/{one}/{other}/review");
    let body = json!({ "reason": "Reviewed over the API." });
    let refused = server.post_once(&planted.office.luz, &path, &body);
    expect_refusal(refused, 403, "operator_role_missing").await;
    let unkeyed = server.post_by(&planted.office.ben, &path, &body);
    expect_refusal(unkeyed, 400, "idempotency_key_missing").await;
    let reviewed = ok(server.post_once(&planted.office.ben, &path, &body)).await;
    assert_fields(
        &reviewed,
        json!({ "reason": "Reviewed over the API.", "reviewed_by": "kuya.ben" }),
    );
    assert!(!is_listed("?state=open&limit=100").await);
}

/// While the database ranks pairs for a long time, alerts show the last number, and one statement alone
/// ranks them.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_ranking_delays_no_alert() {
    let planted = Planted::new().await;
    let server = &planted.office.server;
    let mut ben = Browser::enrolled(server, "kuya.jun", Role::Support).await;
    let alert = |count: i64| format!("{count} pairs with signs of collusion</a>");
    ben.get("/desk/alerts").await.shows(&alert(4));
    let [one, other] = planted.dumping;
    let here = format!("/desk/collusion/{one}/{other}");
    let reason = [("reason", "He teaches her the game.")];
    ben.send(&here, &format!("{here}/review"), &reason).await.expect(303);

    let owner = server.owner_pool().await;
    let lock = lock_table(&owner, "pair_days").await;
    for _ in 0..2 {
        let shown = timeout(ALERT_TIME, ben.get("/desk/alerts")).await;
        shown.expect("alerts are displayed within three seconds").expect(200).shows(&alert(4));
    }
    assert_eq!(count_waiting(&owner).await, 1, "one ranking at a time");
    lock.rollback().await.unwrap();
    wait_until("the new number is displayed", async || {
        ben.get("/desk/alerts").await.text.contains(&alert(3))
    })
    .await;
}
