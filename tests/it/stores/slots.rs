//! The house's keys in a Redis cluster: no call touches more than one slot.

use std::collections::BTreeMap;

use bahay::lobby::house_rooms;
use bahay_lab::demo;
use futures_util::StreamExt;
use redis::cluster_routing::Slot;

use crate::support::cluster::Server;
use crate::support::db::TestDatabase;
use crate::support::house::{House, unhurried_clocks};
use crate::support::live::TestLive;

/// The keys of each call, script and transaction are in one slot: every word with the house's
/// prefix that Redis receives is a key or a channel, and is checked.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_stays_within_its_slot() {
    let server = Server::start(&[]).await;
    let live = TestLive::with_url(&server.url());
    let client = redis::Client::open(server.url()).unwrap();
    let said = client.get_async_monitor().await.unwrap().into_on_message::<String>();
    let database = TestDatabase::new().await;
    let rooms = house_rooms(unhurried_clocks());
    let house = House::with_services(database, live.clone(), rooms).await;
    let mut said = std::pin::pin!(said);
    let mut playing = std::pin::pin!(demo::run(&house.base, "newbie"));
    let prefix = format!("{}:", live.options().prefix);
    let mut scripts = 0;
    // The keys of the call to which a script belongs, and of the open transaction of a connection.
    let mut call = None;
    let mut transactions = BTreeMap::new();
    let mut is_looking = false;
    loop {
        let line = tokio::select! {
            line = said.next() => line.unwrap(),
            played = &mut playing => break played.unwrap(),
        };
        let (from, words) = monitored(&line);
        // On a single server the search for due tables is one call for all shards, on a cluster it
        // is not.
        let mut keys = words.iter().filter(|word| word.starts_with(&prefix));
        let are_deadlines = keys.clone().count() > 0 && keys.all(|key| key.contains("}:due:"));
        if are_deadlines && (from != "lua" || is_looking) {
            is_looking = true;
            continue;
        }
        is_looking = false;
        let mut slots = words.iter().filter(|word| word.starts_with(&prefix)).map(Slot::for_key);
        let slot = slots.next();
        assert!(slots.all(|other| Some(other) == slot), "more than one slot: {line}");
        if from == "lua" {
            scripts += 1;
            let is_keyless = words[0].eq_ignore_ascii_case("time");
            let is_at_home = slot.is_some() && slot == call;
            assert!(is_keyless || is_at_home, "not the slot of its script: {line}");
            continue;
        }
        call = slot;
        match words[0].to_ascii_lowercase().as_str() {
            "multi" => _ = transactions.insert(from, None),
            "exec" => _ = transactions.remove(&from),
            _ => {
                if let Some(first) = transactions.get_mut(&from) {
                    assert_eq!(*first.get_or_insert(slot), slot, "a slot too many: {line}");
                }
            }
        }
    }
    assert!(scripts > 100, "a game was played: {scripts}");
}

/// Returns the sender and the words of a command from a line of MONITOR: `1700000000.000000 [0
/// 127.0.0.1:4711] "get" "key"`.
fn monitored(line: &str) -> (String, Vec<String>) {
    let (head, rest) = line.split_once("] ").unwrap();
    let from = head.rsplit(' ').next().unwrap().to_owned();
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match (letter, &mut word) {
            ('"', None) => word = Some(String::new()),
            ('"', Some(_)) => words.extend(word.take()),
            ('\\', Some(word)) => word.extend(letters.next()),
            (letter, Some(word)) => word.push(letter),
            (_, None) => {}
        }
    }
    (from, words)
}
