//! Anybody can verify a deal: docs/FAIRNESS.md explains it, docs/verify.py does it without our
//! code. Both are compared with the engine.

use std::collections::{BTreeMap, BTreeSet};

use bahay::lobby::house_rooms;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::cards::{Card, CardSet};
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ChanceAnswer, ClientSeed, Contribution, Request, ServerSeed, Stream};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Rules, SEATS, Tongits};
use bahay_engine::table::{Clocks, GameId, PrivateTerms, Terms};
use serde_json::{Value, json};

use crate::support::independent::{Expected, assert_verified};

/// The engine computes every number of the page's example.
#[test]
fn the_example_of_the_page_is_what_the_engine_deals() {
    let page = include_str!("../../../docs/FAIRNESS.md");
    let (_, block) = page.split_once("```vectors\n").expect("the page has its example");
    let lines = block.lines().take_while(|line| *line != "```");
    let example: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once(" = ")).collect();

    let seed = ServerSeed(example["server_seed"].parse().unwrap());
    assert_eq!(seed.commitment().0.to_string(), example["commitment"]);
    let unrevealed = Contribution::from_text("swerte ₱").commitment;
    let clients = [
        Contribution::from_text("luck"),
        Contribution::none(),
        Contribution::new(unrevealed, None),
    ];
    for (client, number) in clients.iter().zip(0..) {
        let told = |what: &str| example[&*format!("{what}_{number}")];
        assert_eq!(client.commitment.0.to_string(), told("commitment"));
        assert_eq!(client.seed.0.to_string(), told("seed"));
    }
    // The contribution to the deal if the text had been revealed.
    let unused = ClientSeed::from_text("swerte ₱");
    assert_eq!(unused.0.to_string(), example["seed_not_revealed"]);
    let game: GameId = example["game"].parse().unwrap();
    let key = seed.key(game.0.as_bytes(), &clients);
    assert_eq!(key.0.to_string(), example["key"]);
    let mut stream = Stream::new(key);
    for word in example["words"].split(' ') {
        // Any word but the greatest is below this bound and is not redrawn.
        let drawn = stream.draw(Request::Number(u32::MAX));
        assert_eq!(drawn, ChanceAnswer::Number(u32::from_str_radix(word, 16).unwrap()));
    }

    let mut stream = Stream::new(key);
    let mut events = Vec::new();
    let starter = stream.draw(Request::Number(3));
    assert_eq!(starter, ChanceAnswer::Number(example["starter"].parse().unwrap()));
    let deck = stream.draw(Request::Order(Card::STANDARD_COUNT));
    let ChanceAnswer::Order(order) = &deck else { panic!("a deck is an order") };
    let cards = |indices: &[u8]| {
        let names = indices.iter().filter_map(|index| Card::from_index(*index));
        names.map(|card| card.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(cards(order), example["deck"]);
    let dealt = Tongits::new(&Rules::kingdom(), SEATS, None)
        .resolve(&starter, &mut events)
        .resolve(&deck, &mut events);
    for (hand, name) in dealt.hands().iter().zip(["hand_0", "hand_1", "hand_2"]) {
        assert_eq!(hand.to_string(), example[name]);
    }
    assert_eq!(cards(&order[37..]), example["stock"]);
    let stock: CardSet = dealt.stock().cards().iter().copied().collect();
    assert_eq!(stock.len(), 15);
}

/// Returns records of erratic tables, as the server serves them.
fn records() -> Vec<Value> {
    let terms = house_rooms(Clocks::default())[0].terms().clone();
    let needed = terms.wallet_min().expect("amounts that fit").hundredths();
    // At private tables whole wallets are staked, so some debts are paid in part.
    let short = PrivateTerms { short_stakes: true, ..PrivateTerms::default() };
    let friends = Terms { private: Some(short), ..terms.clone() };
    let mut records = Vec::new();
    for (seed, terms, welcome, games) in [(1, terms, 100_000, 240), (2, friends, needed, 20)] {
        let welcome = Coins::from_hundredths(welcome);
        let mut tables = Simulation::<AnyGame>::new(seed, terms, Habits::ROUGH, welcome);
        tables.play(games, |_, record| {
            records.push(serde_json::to_value(record).expect("a record can be written"));
        });
    }
    records
}

/// A forgery of a record, with the rule that the verdict must name.
type Tamper = (&'static str, &'static str, fn(&mut Value));

const TAMPERS: &[Tamper] = &[
    ("another server seed", "9.1", |record| record["server_seed"] = json!("11".repeat(32))),
    ("another seed with its commitment", "9.4", |record| {
        let seed = ServerSeed(bahay_engine::hex::Hex([0x11; 32]));
        record["server_seed"] = json!(seed);
        record["commitment"] = json!(seed.commitment());
    }),
    ("another client seed", "9.1", |record| {
        record["clients"][1]["seed"] = json!("22".repeat(32));
    }),
    ("another client's text", "9.1", |record| {
        record["clients"][1] = json!(Contribution {
            commitment: Contribution::from_text("first").commitment,
            ..Contribution::from_text("second")
        });
    }),
    ("another client", "9.4", |record| {
        record["clients"][1] = json!(Contribution::from_text("another"));
    }),
    ("another game's id", "9.4", |record| {
        record["game"] = json!("01990000-0000-7000-8000-000000000001");
    }),
    ("two cards of the deck changed places", "9.4", |record| {
        let deck = record["chance"].as_array_mut().and_then(|chance| chance.last_mut());
        let deck = deck.and_then(|deck| deck["order"].as_array_mut());
        deck.expect("a deck was drawn").swap(3, 40);
    }),
    ("an action out of time", "8.2", |record| record["actions"][1]["at"] = json!(0)),
    ("an action of another seat", "1.1", |record| {
        let seat = record["actions"][0]["seat"].as_u64().expect("somebody acted");
        record["actions"][0]["seat"] = json!((seat + 1) % 3);
    }),
    ("a card from elsewhere", "3.", |record| {
        let actions = record["actions"].as_array_mut().expect("actions");
        let drop = actions.iter().position(|taken| taken["action"]["type"] == "drop");
        let drop = drop.expect("somebody laid a meld");
        actions.insert(drop + 1, actions[drop].clone());
    }),
    ("a loser that pays less", "6.7", |record| {
        let paid = &mut record["settlement"]["payments"][0]["paid"];
        *paid = json!(paid.as_i64().expect("a payment") - 1);
    }),
    ("a count more for everybody", "6.7", |record| {
        record["outcome"]["debts"][0]["items"][0]["counts"] = json!(9);
    }),
    ("a fee of a hundredth less", "6.8", |record| {
        let fee = &mut record["settlement"]["fees"][0]["fee"];
        *fee = json!(fee.as_i64().expect("a fee") - 1);
    }),
    ("a crown that counts more", "7.2", |record| {
        let winner = record["players"][0].clone();
        record["crown_after"] = json!({ "player": winner, "wins": 7 });
    }),
    ("a POT that was larger", "7.2", |record| {
        let pot = record["pot_before"].as_i64().expect("a POT");
        record["pot_before"] = json!(pot + 100);
    }),
];

#[test]
fn the_independent_verifier_accepts_records_and_finds_what_was_changed() {
    let records = records();
    let played: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| record["actions"].as_array().unwrap())
        .filter_map(|taken| taken["action"]["type"].as_str())
        .collect();
    for kind in ["draw", "chow", "drop", "sapaw", "dump", "fight", "challenge", "tongits"] {
        assert!(played.contains(kind), "nobody ever played {kind}: {played:?}");
    }
    let mut expected = Vec::new();
    for (number, record) in records.iter().enumerate() {
        let name = format!("record {number}");
        expected.push(Expected { name, record: record.to_string(), rule: None });
    }
    for (what, rule, tamper) in TAMPERS {
        let mut record = records[3].clone();
        tamper(&mut record);
        let name = (*what).to_owned();
        expected.push(Expected { name, record: record.to_string(), rule: Some(rule) });
    }
    assert_verified(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/verify.py"), &expected);
}
