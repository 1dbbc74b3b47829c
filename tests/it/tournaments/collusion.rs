//! Signs of collusion by tournament: two who dump to each other are among the first hundredth of the
//! pairs that the desk ranks, and a shared address is shown.

use std::collections::BTreeMap;

use bahay::operators::Role;
use bahay::reports::ConductMeasurement;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::desk::browser::Browser;
use crate::http::server::{Server, expect_refusal, ok, text};
use crate::support::db::{execute, read_value};
use crate::support::rest::items;

/// The number of players of the arena.
const PLAYERS: usize = 60;

/// The number of games of each player.
const ROUNDS: usize = 20;

/// The rounds in which the planted pair meets.
const MEETINGS: usize = 5;

/// A generator of numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next_below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((number ^ (number >> 31)) % bound as u64).unwrap()
    }

    fn shuffle(&mut self, players: &mut [Uuid]) {
        for at in (1..players.len()).rev() {
            players.swap(at, self.next_below(at + 1));
        }
    }
}

/// Returns the scores of a game by chance: two players lose 1 to 8 points each to the third.
fn play_game(numbers: &mut Numbers, table: &[Uuid]) -> Vec<Value> {
    let winner = numbers.next_below(table.len());
    let mut points: Vec<i64> =
        table.iter().map(|_| -100 - 100 * i64::try_from(numbers.next_below(8)).unwrap()).collect();
    points[winner] = 0;
    points[winner] = -points.iter().sum::<i64>();
    to_scores(table, &points)
}

fn to_scores(table: &[Uuid], points: &[i64]) -> Vec<Value> {
    let scores = table.iter().zip(points);
    let score =
        |(player, points)| json!({ "player": player, "points": points, "is_absent": false });
    scores.map(score).collect()
}

/// Stores the scored games of an arena. The first two players meet in some rounds, in which the first
/// dumps to the second; the others meet by chance. Returns the meetings of each pair, the lesser id
/// first.
async fn store_arena(
    pool: &PgPool,
    tournament: &str,
    players: &[Uuid],
) -> BTreeMap<(Uuid, Uuid), usize> {
    let mut numbers = Numbers(7);
    let mut meetings = BTreeMap::new();
    let [payer, winner, others @ ..] = players else { panic!("two players and others") };
    let mut rows = Vec::new();
    for round in 0..ROUNDS {
        let mut order = others.to_vec();
        numbers.shuffle(&mut order);
        // They sit at the first table together, or at two tables.
        let apart = if round < MEETINGS { 1 } else { 3 };
        order.insert(0, *payer);
        order.insert(apart, *winner);
        for (table, seats) in order.chunks_exact(3).enumerate() {
            let scores = if seats.contains(payer) && seats.contains(winner) {
                to_scores(seats, &[-900, 1_000, -100])
            } else {
                play_game(&mut numbers, seats)
            };
            for (number, one) in seats.iter().enumerate() {
                for other in &seats[number + 1..] {
                    *meetings
                        .entry((one.min(other).to_owned(), one.max(other).to_owned()))
                        .or_insert(0) += 1;
                }
            }
            let (game, id) = (Uuid::now_v7(), Uuid::now_v7());
            rows.push(format!(
                "('{game}', '{tournament}', '{id}', {}, {}, 1, 'tongits', '{}', now(), 1)",
                round + 1,
                table + 1,
                json!(scores)
            ));
        }
    }
    // The pairs are ranked by the scores; nothing reads these records.
    let columns =
        "game, tournament, table_id, round, table_number, number, kind, scores, finished_at,
        scored_in";
    let insert = format!(
        "with games ({columns}) as (values {}),
            records as (
                insert into game_records (game, settlement, record)
                select game::uuid, '{{}}', '' from games
            )
        insert into tournament_games ({columns})
        select game::uuid, tournament::uuid, table_id::uuid, round, table_number, number, kind,
            scores::jsonb, finished_at, scored_in
        from games",
        rows.join(", ")
    );
    execute(pool, &insert).await;
    meetings
}

/// Measures the conduct in all games, and checks that players who follow the bot never depart from
/// its advice.
pub(super) async fn check_conduct(pool: &PgPool) {
    let unmeasured = "select count(*) from tournament_games g where g.conduct is null";
    // The server's own job may have measured them.
    execute(pool, "update tournament_games set conduct = null").await;
    assert!(read_value::<i64>(pool, unmeasured).await > 0);
    ConductMeasurement::new(pool.clone()).measure_due().await.unwrap();
    assert_eq!(read_value::<i64>(pool, unmeasured).await, 0);
    let sum = async |figure: &str| {
        let sum = format!(
            "select sum((c ->> '{figure}')::bigint)::bigint
            from tournament_games g, jsonb_array_elements(g.conduct) c"
        );
        read_value::<i64>(pool, &sum).await
    };
    assert!(sum("decisions").await > 0);
    assert_eq!(sum("departures").await, 0);
}

#[tokio::test]
async fn a_pair_that_dumps_in_a_tournament_is_among_the_first_hundredth_of_its_pairs() {
    let (server, guests) = Server::with_guests(2).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let token = luz.create_token().await;
    let arena = json!({ "preset": "arena_hour", "name": "Friday", "starts_in_s": 60 });
    let announced = ok(server.post_once(&token, "/v1/operator/tournaments", &arena)).await;
    let id = text(&announced["id"]);
    let pairs_path = format!("/v1/operator/tournaments/{id}/pairs");
    assert_eq!(ok(server.get(&pairs_path, &token)).await, json!({ "items": [] }));

    // The planted pair shares nothing but games. Two other players share an address.
    let mut players: Vec<Uuid> = (0..PLAYERS - 2).map(|_| Uuid::now_v7()).collect();
    players.extend(guests.iter().map(|guest| guest.id.parse::<Uuid>().unwrap()));
    let pool = server.owner_pool().await;
    let meetings = store_arena(&pool, &id, &players).await;
    let ranked = meetings.values().filter(|count| **count >= 2).count();
    assert!(ranked > 100, "{ranked} pairs met twice");
    let pairs = ok(server.get(&pairs_path, &token)).await;
    let pairs = items(&pairs);
    assert_eq!(pairs.len(), 100, "the page has the first pairs only");
    let is_planted =
        |pair: &Value| pair["payer"] == json!(players[0]) && pair["winner"] == json!(players[1]);
    let at = pairs.iter().position(is_planted).expect("the planted pair is listed");
    assert!(at * 100 < ranked, "it is number {at} of {ranked}");
    let planted = &pairs[at];
    assert_eq!(planted["games"], json!(MEETINGS));
    assert_eq!(planted["net_transfer"], json!(MEETINGS * 900));
    assert!(planted["deviations"].as_i64().unwrap() > 2_000, "{planted}");
    assert_eq!((&planted["shared"], &planted["conduct"]), (&Value::Null, &json!(0)));

    // The second of another pair plays unlike the bot beside its first only.
    let honest = meetings.iter().filter(|((one, other), _)| {
        ![one, other].iter().any(|player| players[..2].contains(player))
    });
    let ((payer, winner), met) = honest.max_by_key(|(_, met)| **met).expect("they met");
    assert!(*met >= 3, "{met}");
    let strange = format!(
        "update tournament_games g
        set conduct = (
            select jsonb_agg(jsonb_build_object(
                'decisions', 10,
                'departures', case
                    when s ->> 'player' = '{winner}' and g.scores @> '[{{\"player\": \"{payer}\"}}]'
                    then 9 else 1 end
            ) order by place)
            from jsonb_array_elements(g.scores) with ordinality as t (s, place)
        )"
    );
    execute(&pool, &strange).await;
    let pairs = ok(server.get(&pairs_path, &token)).await;
    let first = &items(&pairs)[0];
    let both = [&first["payer"], &first["winner"]];
    assert!(both.contains(&&json!(payer)) && both.contains(&&json!(winner)), "{first}");
    assert!(first["conduct"].as_i64().unwrap() > 5_000, "{first}");

    let page = luz.load(&format!("/desk/tournaments/{id}/collusion")).await;
    page.shows(&players[0].to_string()).shows("strongest signs first");
    let missing = format!("/v1/operator/tournaments/{}/pairs", Uuid::now_v7());
    expect_refusal(server.get(&missing, &token), 404, "tournament_not_found").await;
}
