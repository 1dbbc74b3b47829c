//! docs/verify_tournament.py, which shares no code with the engine, agrees with it about whole
//! tournaments under faults. It refuses forgeries and names the rule.

use crate::independent::{Expected, assert_verified};
use crate::options::{random_options, run};
use crate::support::coins;

pub(crate) const SCRIPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify_tournament.py");

/// Changes the first line that contains a text.
fn forge(results: &str, contains: &str, change: impl Fn(&str) -> String) -> String {
    let mut is_done = false;
    let mut lines = Vec::new();
    for line in results.lines() {
        let is_it = !is_done && line.contains(contains);
        is_done |= is_it;
        lines.push(if is_it { change(line) } else { line.to_owned() });
    }
    assert!(is_done, "no line has {contains}");
    lines.join("\n")
}

/// Adds one to the number after a text.
fn increase(line: &str, after: &str) -> String {
    let (before, rest) = line.split_once(after).unwrap();
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let number: i64 = rest[..digits].parse().unwrap();
    format!("{before}{after}{}{}", number + 1, &rest[digits..])
}

#[test]
fn the_verifier_agrees_and_refuses_forgeries() {
    let mut expected = Vec::new();
    for kind in 0..4 {
        for seed in 1..9 {
            let options = random_options(kind, 40, seed);
            let name = format!("kind {kind} seed {seed}");
            expected.push(Expected { name, record: run(options).results, rule: None });
        }
    }
    let honest = |kind| {
        let mut options = random_options(kind, 40, 3);
        options.cancel_after_ms = None;
        options.terms.guarantee = coins(100_000);
        if kind == 0 {
            options.terms.entrants.least = 9;
            options.terms.entrants.most = 9;
        }
        run(options).results
    };
    let forged =
        |name: &str, record, rule| Expected { name: name.into(), record, rule: Some(rule) };
    let arena = honest(2);
    expected.push(forged(
        "a pool",
        forge(&arena, "registration_closed", |line| increase(line, "\"pool\":")),
        "6.1",
    ));
    expected.push(forged(
        "a prize",
        forge(&arena, "\"placed\"", |line| increase(line, "\"prize\":")),
        "6.5",
    ));
    let twice = forge(&arena, "\"game_scored\"", |line| format!("{line}\n{line}"));
    expected.push(forged("a game twice", twice, "2.6"));
    let paid = |line: &str| increase(line, "\"amount\":");
    expected.push(forged("a payment", forge(&arena, "\"type\":\"place\"", paid), "6.7"));
    let last: Vec<&str> = arena.lines().collect();
    expected.push(forged("a missing payment", last[..last.len() - 1].join("\n"), "6.7"));
    let duplicate = honest(3);
    let other_seed = |line: &str| {
        let (before, rest) = line.split_once("\"seeds\":[\"").unwrap();
        format!("{before}\"seeds\":[\"{}{}", "0".repeat(64), &rest[64..])
    };
    expected.push(forged("a deal", forge(&duplicate, "\"round_ended\"", other_seed), "5.5"));
    let knock_out = honest(1);
    let swapped = |line: &str| {
        let (before, rest) = line.split_once("\"groups\":[[\"").unwrap();
        format!("{before}\"groups\":[[\"{}\",\"{}{}", &rest[39..75], &rest[..36], &rest[75..])
    };
    expected.push(forged("a lot", forge(&knock_out, "\"stage_started\"", swapped), "3.2"));
    assert_verified(SCRIPT, &expected);
}
