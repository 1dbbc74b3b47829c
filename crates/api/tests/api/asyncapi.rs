//! The socket's commands and messages match asyncapi.yaml: every message of tables played in
//! virtual time, every action of random games, every example. The server refuses commands that
//! violate it.

use std::collections::{BTreeSet, HashSet};
use std::iter::repeat_n;

use bahay_api::socket::{
    asyncapi, asyncapi_yaml, example_commands, example_messages, example_terms,
};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::{AnyAction, AnyGame, AnyRules};
use bahay_engine::chance::{self, Key, Request, Stream};
use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Rules, SEATS};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, GameId, PlayerId, Readable as _, Share, Terms, Timestamp};
use bahay_protocol::{Command, Message, OpenPrompt, Tag};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::schema::{Document, find_unlimited};
use crate::{check_current, type_of};

fn as_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("the value is serializable as JSON")
}

/// Returns the reference to the schema of a command or a message, such as `TakeBackCommand`.
fn reference(kind: &str, value: &Value) -> String {
    let words = value["type"].as_str().unwrap_or_default().split('_');
    let title: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    format!("#/components/schemas/{title}{kind}")
}

/// Checks a command or a message against the schema of its type.
#[track_caller]
fn check(document: &Value, kind: &str, value: &Value) {
    let reference = reference(kind, value);
    if let Err(fault) = Document(document).check_named(&reference, value) {
        panic!("{fault}\nin {value}");
    }
}

/// Returns an update with one event.
fn update(event: Event<<AnyGame as Game>::Event>) -> Message<AnyGame> {
    Message::Update {
        version: 1,
        tag: Tag::default(),
        server_time_ms: Timestamp::default(),
        events: vec![event],
        prompt: None,
        ack: Some(1),
    }
}

/// Returns the variants that the document lists for a tagged type.
fn listed_variants(document: &Value, name: &str) -> BTreeSet<String> {
    let variants =
        document["components"]["schemas"][name]["oneOf"].as_array().expect("a list of variants");
    let tag = |variant: &Value| variant["properties"]["type"]["const"].as_str().map(str::to_owned);
    variants.iter().filter_map(tag).collect()
}

#[test]
fn asyncapi_yaml_is_current() {
    check_current("asyncapi", &asyncapi_yaml());
}

#[test]
fn every_message_of_tables_in_virtual_time_fits() {
    let document = asyncapi();
    let mut events_seen = BTreeSet::new();
    let mut phases_seen = BTreeSet::new();
    for seed in 0..4 {
        // The wallets are so small that a loser cannot pay for the next game.
        let welcome = example_terms().wallet_min().unwrap();
        let mut tables = Simulation::<AnyGame>::new(seed, example_terms(), Habits::ROUGH, welcome);
        for version in 1..=700_u64 {
            let happened = tables.step();
            let table = tables.table();
            // The viewer changes at every step; a free seat is viewed as by a spectator.
            let seat = Seat::new(u8::try_from(version % 3).unwrap()).unwrap();
            let player = table.occupant(seat).map(|occupant| occupant.player);
            let view = table.view(player);
            let prompt = OpenPrompt::from_view(&view);
            phases_seen.insert(type_of(&view.phase));
            let viewer = view.viewer();
            let events = happened.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
            let events: Vec<_> = events.collect();
            for event in &events {
                events_seen.insert(type_of(event));
            }
            let server_time_ms = tables.now();
            let update = Message::<AnyGame>::Update {
                version,
                tag: Tag::default(),
                server_time_ms,
                events,
                prompt: prompt.clone(),
                ack: None,
            };
            check(&document, "Message", &as_json(&update));
            let view = Box::new(view);
            let snapshot = Message::<AnyGame>::Snapshot {
                version,
                tag: Tag::default(),
                server_time_ms,
                view,
                prompt,
            };
            check(&document, "Message", &as_json(&snapshot));
        }
    }
    // The simulation changes no room's terms, has no private table whose POT is refunded, and lets
    // every seat play, so that no player moves to another seat.
    let Terms { price, hits, clocks, .. } = example_terms();
    let share = Share { player: PlayerId(Uuid::from_u128(9)), amount: price.bet };
    for event in [
        Event::TermsUpdated { price, hits, clocks },
        Event::PotRefunded { pot: price.bet, shares: vec![share] },
        Event::Moved { seat: Seat::new(2).unwrap(), to: Seat::new(1).unwrap() },
    ] {
        events_seen.insert(type_of(&event));
        check(&document, "Message", &as_json(&update(event)));
    }
    let all_events = listed_variants(&document, "Event");
    assert_eq!(events_seen, all_events, "the simulation did not produce every event");
    assert_eq!(phases_seen, listed_variants(&document, "PhaseView"));
}

#[test]
fn every_event_and_action_of_random_games_fits() {
    let document = asyncapi();
    let mut events_seen = BTreeSet::new();
    let mut actions_seen = BTreeSet::new();
    // Most events are equal for several viewers.
    let mut checked = HashSet::new();
    let mut dice = Stream::new(Key(Hex([3; 32])));
    // Declaring Tong-its is rare in random play, so the first rule set plays more games.
    // Actions and events that exist only in the other rule sets are frequent.
    let rule_sets = [(Rules::kingdom(), 400), (Rules::classic(), 60), (Rules::joker(), 60)];
    for rules in rule_sets.into_iter().flat_map(|(rules, games)| repeat_n(rules, games)) {
        play(&rules, &mut dice, |action, events| {
            if let Some(action) = action {
                actions_seen.insert(type_of(action));
                let game = GameId(Uuid::from_u128(7));
                let command = json!(
                    { "type": "act", "id": 1, "game": game, "prompt": 2, "action": action }
                );
                check(&document, "Command", &command);
                AnyGame::read_action("tongits", &command["action"]).unwrap();
            }
            for (event, viewer) in events.iter().flat_map(|event| {
                let seats = Seat::all(3).map(Viewer::Seat);
                seats.chain([Viewer::Public]).map(move |viewer| (event, viewer))
            }) {
                let Some(event) = AnyGame::redact(event, viewer) else {
                    continue;
                };
                events_seen.insert(type_of(&event));
                let message = as_json(&update(Event::Game { event }));
                if checked.insert(message.to_string()) {
                    check(&document, "Message", &message);
                }
            }
        });
    }
    assert_eq!(events_seen, listed_variants(&document, "TongitsEvent"));
    assert_eq!(actions_seen, listed_variants(&document, "TongitsAction"));
}

/// Plays a game with random actions, preferring actions other than drawing and dumping.
fn play(
    rules: &Rules,
    dice: &mut Stream,
    mut happened: impl FnMut(Option<&AnyAction>, &[<AnyGame as Game>::Event]),
) {
    let mut game = AnyGame::new(&AnyRules::Tongits(*rules), SEATS, None);
    let mut below = |n: usize| match dice.draw(Request::Number(u32::try_from(n).expect("n fits"))) {
        chance::ChanceAnswer::Number(number) => number as usize,
        chance::ChanceAnswer::Order(_) => unreachable!("the request was for a number"),
    };
    let mut deal = Stream::new(Key(Hex([u8::try_from(below(256)).expect("below 256"); 32])));
    loop {
        let mut events = Vec::new();
        let mut taken = None;
        game = match game.turn() {
            Turn::Over => return,
            Turn::Chance(request) => game.resolve(&deal.draw(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("the prompt has a seat");
                let mut legal = Vec::new();
                game.legal_actions(seat, &mut legal);
                let is_dull = |action: &AnyAction| {
                    matches!(action, AnyAction::Tongits(Action::Draw | Action::Dump { .. }))
                };
                let lively = legal.iter().filter(|action| !is_dull(action)).cloned();
                let lively: Vec<_> = lively.collect();
                let choice = if lively.is_empty() || below(3) == 0 { &legal } else { &lively };
                let action = taken.insert(choice[below(choice.len())].clone());
                game.act(seat, action, &mut events).expect("the action is legal")
            }
        };
        happened(taken.as_ref(), &events);
    }
}

#[test]
fn every_example_fits() {
    let document = asyncapi();
    for (_, command) in example_commands() {
        check(&document, "Command", &as_json(&command));
    }
    for (_, message) in example_messages() {
        check(&document, "Message", &as_json(&message));
    }
}

/// The document and the server refuse the same invalid commands.
#[test]
fn document_and_server_refuse_the_same_commands() {
    let document = asyncapi();
    let game = "019ca944-3c00-7000-8000-000000009a3e";
    let act = |action: Value| json!({ "type": "act", "id": 1, "game": game, "prompt": 2, "action": action });
    let refused = [
        json!({ "type": "join" }),
        json!({ "type": "join", "id": -1 }),
        json!({ "type": "join", "id": 4_294_967_296_u64 }),
        json!({ "type": "join", "id": 1, "from": "12" }),
        json!({ "type": "join", "id": 1, "table": "newbie" }),
        json!({ "type": "join", "id": 1, "room": "newbie" }),
        json!({ "type": "ready", "id": 1 }),
        json!({ "type": "ready", "id": 1, "game": game, "commitment": 7 }),
        json!({ "type": "ready", "id": 1, "game": game, "commitment": "luck" }),
        json!({ "type": "ready", "id": 1, "game": game, "seed": "luck" }),
        json!({ "type": "reveal", "id": 1, "game": game }),
        json!({ "type": "reveal", "id": 1, "game": game, "text": 7 }),
        json!({ "type": "leave", "id": 1, "now": true }),
        json!({ "type": "act", "id": 1, "game": game, "prompt": 2 }),
        act(json!({ "type": "draw", "card": "AS" })),
        act(json!({ "type": "dump" })),
        act(json!({ "type": "dump", "card": "SA" })),
        act(json!({ "type": "dump", "card": "10S" })),
        act(json!({ "type": "drop", "cards": ["AS", "AS", "AD"] })),
        act(json!({ "type": "drop", "cards": "AS AD AC" })),
        act(json!({ "type": "sapaw", "card": "AS", "meld": 256 })),
        act(json!({ "type": "sapaw", "card": "AS" })),
        act(json!({ "type": "chow", "cards": ["AS", "AD"], "meld": 1 })),
        act(json!("draw")),
    ];
    for command in refused {
        let by_document =
            Document(&document).check_named(&reference("Command", &command), &command);
        assert!(by_document.is_err(), "the document allows {command}");
        let by_server = serde_json::from_value::<Command<Action>>(command.clone());
        assert!(by_server.is_err(), "the server reads {command}");
    }
}

/// Checks the validator itself: it rejects messages that are known to be invalid.
#[test]
fn the_validator_rejects_invalid_messages() {
    let document = asyncapi();
    let (_, snapshot) = example_messages()
        .into_iter()
        .find(|(about, _)| about.starts_with("A running game"))
        .unwrap();
    let good = as_json(&snapshot);
    check(&document, "Message", &good);
    let wrong: [(&str, Value); 7] = [
        ("/version", json!(-1)),
        ("/version", json!(1.5)),
        ("/view/pot", json!("3.00")),
        ("/view/table", json!("table 7")),
        ("/view/phase/type", json!("sleeping")),
        ("/view/phase/view/public/hand_counts", json!([12, 13])),
        ("/view/seats/0/connected", json!(null)),
    ];
    for (pointer, value) in wrong {
        let mut message = good.clone();
        *message.pointer_mut(pointer).unwrap() = value;
        let checked =
            Document(&document).check_named("#/components/schemas/SnapshotMessage", &message);
        assert!(checked.is_err(), "the validator accepts any value at {pointer}");
    }
}

#[test]
fn every_message_has_a_description_and_an_example_and_every_client_field_has_a_limit() {
    let document = asyncapi();
    let messages = document["components"]["messages"].as_object().unwrap();
    assert!(["join", "update"].iter().all(|name| messages.contains_key(*name)));
    for (name, message) in messages {
        let examples = message["examples"].as_array().map_or(0, Vec::len);
        assert!(examples > 0, "{name} has no example");
        assert!(message["summary"].as_str().is_some_and(|text| text.len() > 10), "{name}");
    }
    let mut found = vec![];
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas.iter().filter(|(name, _)| name.ends_with("Command")) {
        find_unlimited(&document, schema, name, &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
