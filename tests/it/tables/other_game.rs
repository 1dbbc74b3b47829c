//! A second kind through the whole server: another number of seats, simultaneous prompts, dice
//! during a game, several payers and receivers, no POT. It is in the catalogue only for tests; no
//! other code of the server knows it.

use bahay::verify;
use bahay::ws::protocol::Command;
use bahay::ws::protocol::brief::Form;
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::catalog::{AnyEvent, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
use bahay_engine::table::{Clocks, Event, PhaseView, Price, Spectators, TableId, Terms};
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::checks::audit_books;
use crate::support::house::{House, PATIENCE, Setup, join_table, unhurried_clocks};
use crate::support::operators::admin_session;
use crate::support::play::TestPlay as _;
use crate::support::rest::{call_at, items};

const KIND: &str = "guess_the_die";

fn room() -> bahay::lobby::Room {
    let set = AnyRules::find_rule_set(KIND, "short").expect("tests have this game");
    let terms = Terms {
        room: "dice".to_owned(),
        rules: set.rules,
        price: Price { bet: Coins::from_hundredths(100), multiplier: 2, fee_basis_points: 500 },
        hits: set.hits,
        clocks: Clocks { think_ms: 20, ..unhurried_clocks() },
        spectators: Spectators::Nobody,
        bots: Skill::default(),
        private: None,
        practice: false,
        tournament: None,
    };
    bahay::lobby::Room::new("Dice", set.name, terms).expect("amounts that fit")
}

async fn house() -> House {
    let mut rooms = bahay::lobby::house_rooms(unhurried_clocks());
    rooms.push(room());
    House::with_setup(Setup { rooms, ..Setup::default() }).await
}

/// Seats `N` guests at one table of the room, each with a socket of another form.
async fn seated<const N: usize>(house: &House) -> (TableId, [(Client, Play); N]) {
    let mut seated = Vec::new();
    let mut tables = Vec::new();
    let names = ["Althea", "Benjie", "Carmela", "Dante", "Emilio"];
    for (name, form) in names.into_iter().zip(Form::ALL.into_iter().cycle()).take(N) {
        let client = house.guest(name).await;
        tables.push(client.seat("dice").await.expect("there is a seat"));
        let play = join_table(&client.with_form(form)).await;
        seated.push((client, play));
    }
    assert!(tables.iter().all(|table| *table == tables[0]), "{tables:?}");
    (tables[0], seated.try_into().unwrap_or_else(|_| panic!("as many as were asked for")))
}

/// Becomes ready and bets as the bot does until a game is settled. Returns the received events.
async fn play_a_game(play: &mut Play) -> Vec<Event<AnyEvent>> {
    let mut seen = Vec::new();
    let playing = async {
        let mut is_ready = false;
        loop {
            if let Some(PhaseView::Preparing { game, .. }) = play.view().map(|view| &view.phase)
                && !is_ready
            {
                let game = *game;
                is_ready = true;
                let said = play.ready(game, Some("luck".to_owned())).await.unwrap();
                seen.extend(play.wait_for_answer(said).await.unwrap());
            } else if play.view().is_some_and(|view| view.reveal_request().is_some()) {
                let said = play.reveal().await.unwrap().expect("it has committed to a text");
                seen.extend(play.wait_for_answer(said).await.unwrap());
            } else if let Some(action) = play.advice() {
                let said = play.act(action).await.unwrap();
                match play.wait_for_answer(said).await {
                    Ok(events) => seen.extend(events),
                    Err(PlayError::Refused { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            } else if let bahay::ws::protocol::Message::Update { events, .. } =
                play.next().await.unwrap()
            {
                seen.extend(events);
            }
            if seen.iter().any(|event| matches!(event, Event::Settled { .. })) {
                return;
            }
        }
    };
    timeout(PATIENCE, playing).await.expect("the game comes to its end");
    seen
}

/// Ratings are by kind, and a ticket is matched with players of similar rating.
#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_for_rooms_of_one_game() {
    let house = house().await;
    let mut play = house.guest("Althea").await.play().await.unwrap();
    let rooms = ["newbie", "dice"].map(str::to_owned).to_vec();
    let seek = play.send(|id| Command::Seek { id, rooms }).await.unwrap();
    assert_eq!(play.refusal_of(seek).await, "rooms_invalid");
    let rooms = vec!["dice".to_owned()];
    let seek = play.send(|id| Command::Seek { id, rooms }).await.unwrap();
    play.wait_for_answer(seek).await.expect("one of them is looked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_of_another_kind_is_played_settled_verified_and_shown() {
    let house = house().await;
    let (table, [mut first, mut second]) = seated(&house).await;
    let (seen, also) = tokio::join!(play_a_game(&mut first.1), play_a_game(&mut second.1));
    let is_bet_of_other = |event: &&Event<AnyEvent>| match event {
        Event::Game { event } => {
            let text = serde_json::to_value(event).unwrap();
            text["type"] == "bet" && text["seat"] == 1 && !text["bet"].is_null()
        }
        _ => false,
    };
    let settled = |events: &[Event<AnyEvent>]| {
        events.iter().find_map(|event| match event {
            Event::Settled { game, .. } => Some(*game),
            _ => None,
        })
    };
    let game = settled(&seen).expect("a game was settled");
    assert_eq!(settled(&also), Some(game));
    assert!(!seen.iter().any(|event| is_bet_of_other(&event)), "seat 0 sees no bet of seat 1");

    // The record is of this kind and verifies on its own.
    let record = first.0.record(game).await.unwrap();
    assert_eq!(record["kind"], KIND);
    assert_eq!(record["players"].as_array().unwrap().len(), 2);
    assert_eq!(record["settlement"]["pot"], Value::Null);
    let verdict = verify::verify(&record.to_string()).unwrap();
    assert!(verdict.verified.actions >= 4);

    // All players bet on the same face: none pays another, and no coin is missing.
    audit_books(&house.pool).await;

    // A third player comes while the next game is prepared, and is prompted too.
    let (elsewhere, [mut third]) = seated::<1>(&house).await;
    assert_eq!(elsewhere, table);
    let all = tokio::join!(
        play_a_game(&mut first.1),
        play_a_game(&mut second.1),
        play_a_game(&mut third.1)
    );
    let game = settled(&all.2).expect("a game was settled");
    let record = first.0.record(game).await.unwrap();
    let players = record["players"].as_array().unwrap().len();
    assert!((2..=3).contains(&players), "{record}");
}

/// The house's presentation of the kind: rooms, operators' pages, refusals.
#[tokio::test(flavor = "multi_thread")]
async fn rooms_of_any_game_are_made_by_operators_and_refused_by_their_field() {
    let house = house().await;
    let token = admin_session(&house).await;
    let settings = |kind: &str, rule_set: &str, rules: Value| {
        json!({
            "id": format!("dice-{}", &Uuid::new_v4().to_string()[..8]),
            "settings": {
                "name": "More dice", "is_open": true, "kind": kind, "rule_set": rule_set,
                "rules": rules, "bet": 200, "multiplier": 1, "fee_basis_points": 500, "pot": null,
                "coins_min": 0, "coins_max": null,
                "clocks": {
                    "prepare_ms": 10_000, "think_ms": 1_000, "grace_ms": 15_000,
                    "missed_turns_to_takeover": 2, "absence_ms": 30_000
                }
            }
        })
    };
    let make = async |body: Value| {
        call_at(&house.base, &token, "POST", "/v1/operator/rooms", Some(&body)).await
    };
    let room = make(settings(KIND, "long", json!({ "bet_ms": 5_000 }))).await.expect(201);
    assert_eq!(room["settings"]["rules"]["rounds"], 6);
    assert_eq!(room["settings"]["rules"]["bet_ms"], 5_000);
    for (kind, rule_set, rules, field) in [
        ("chess", "kingdom", json!({}), "kind"),
        (KIND, "kingdom", json!({}), "rule_set"),
        (KIND, "short", json!({ "rounds": 0 }), "rounds"),
        (KIND, "short", json!({ "rounds": "many" }), "switches"),
        (KIND, "short", json!({ "hand_cards": 12 }), "switches"),
    ] {
        let refused = make(settings(kind, rule_set, rules)).await;
        let problem = refused.expect_refusal(422, "room_unsound");
        assert!(problem["detail"].as_str().unwrap().contains(field), "{field}: {problem}");
    }
    let rooms = call_at(&house.base, "", "GET", "/v1/rooms", None).await.expect(200);
    let of_kind = |kind: &str| {
        let rooms = items(&rooms).iter();
        rooms.filter(|room| room["kind"] == kind).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of_kind(KIND).len(), 2);
    let dice = of_kind(KIND).into_iter().find(|room| room["id"] == "dice").unwrap();
    assert_eq!((&dice["seats"], &dice["seats_min"]), (&json!(5), &json!(2)));
    assert_eq!((&dice["hits_to_win"], &dice["has_own_switches"]), (&Value::Null, &json!(false)));
}

/// An action of another kind than the table's changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_action_of_another_game_is_refused_at_the_socket() {
    let house = house().await;
    let (_, [mut first, mut second]) = seated(&house).await;
    for play in [&mut first.1, &mut second.1] {
        play.become_ready().await;
    }
    let play = &mut first.1;
    play.read_until("a prompt", |play| play.prompt().is_some()).await;
    let prompt = play.prompt().unwrap().clone();
    let draw = json!({
        "type": "act", "id": 900, "game": prompt.game, "prompt": prompt.number,
        "action": { "type": "draw" }
    });
    play.send_text(draw.to_string()).await.unwrap();
    match play.wait_for_answer(900).await {
        Err(PlayError::Refused { code, detail, .. }) => {
            assert_eq!(code, "malformed");
            assert!(detail.contains(KIND), "{detail}");
        }
        other => panic!("{other:?}"),
    }
}
