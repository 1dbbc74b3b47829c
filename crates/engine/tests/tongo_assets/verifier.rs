//! docs/verify_tongo_assets.py, which shares no code with the engine, agrees with it about whole
//! games with every rule set: those of erratic tables, and of seats that play for showdowns. It
//! refuses forgeries and names the rule.

use crate::independent::{Expected, assert_verified};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::coins::Coins;
use bahay_engine::game::Hits;
use bahay_engine::games::tongo_assets::{Rules, TongoAssets};
use bahay_engine::table::Record;
use bahay_engine::testing;
use serde_json::Value;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify_tongo_assets.py");

/// Returns the named rule sets, and some whose games reach showdowns, debts and bribes.
fn rule_sets() -> [Rules; 5] {
    let short = Rules { rounds_max: 2, confront_all_rounds: 0, ..Rules::advanced() };
    let rich = Rules { latinum: 2_000, bribes: true, winner_share: 80, ..short };
    [Rules::standard(), Rules::personal(), Rules::advanced(), short, rich]
}

fn records(rules: Rules, seed: u64, games: u64) -> Vec<Record<TongoAssets>> {
    let bet = Coins::from_hundredths(50);
    let terms = testing::terms(
        rules,
        seed.is_multiple_of(2).then_some(Hits { second_hit_bonus: 1, to_win: 3, ante: 1 }),
        bet,
        3,
    );
    let welcome = Coins::from_whole(30_000).expect("a wallet");
    let mut records = Vec::new();
    Simulation::<TongoAssets>::new(seed, terms, Habits::ROUGH, welcome)
        .play(games, |_, record| records.push(record.clone()));
    records
}

#[test]
fn the_independent_verifier_agrees_about_every_record_and_finds_what_was_forged() {
    let (mut expected, mut endings) = (Vec::new(), [0_u32; 3]);
    let mut last = None;
    for (seed, rules) in (1..).zip(rule_sets()) {
        for record in records(rules, seed, 12) {
            let state = record.replay(|_| ()).expect("a record that verifies");
            endings[state.public().end.expect("the game is over").ending as usize] += 1;
            let text = serde_json::to_string(&record).expect("JSON");
            let name = format!("game {} of rule set {seed}", expected.len());
            expected.push(Expected { name, record: text, rule: None });
            let has_fee = !record.settlement.fees.is_empty();
            last = Some(record).filter(|_| has_fee).or(last);
        }
    }
    assert!(endings.iter().all(|games| *games > 0), "last in, acquisition, showdown: {endings:?}");
    let record = last.expect("somebody won something");
    type Forgery = (&'static str, &'static str, fn(&mut Value));
    let forgeries: [Forgery; 8] = [
        ("commitment", "1.7", |it| it["commitment"] = "00".repeat(32).into()),
        ("deal", "1.7", |it| it["chance"][0] = serde_json::json!({ "number": 9 })),
        ("debt", "6.3", |it| add(&mut it["outcome"]["debts"][0]["items"][0]["counts"], 1)),
        ("winner", "6.2", |it| it["outcome"]["winner"] = 7.into()),
        ("fee", "6.3", |it| add(&mut it["settlement"]["fees"][0]["fee"], -1)),
        ("price", "1.5", |it| add(&mut it["terms"]["price"]["bet"], 2)),
        ("end", "6.4", |it| drop(it["actions"].as_array_mut().and_then(Vec::pop))),
        ("opening", "3.7", |it| {
            let actions = it["actions"].as_array_mut().expect("a list");
            let opened = actions.iter_mut().find(|taken| taken["action"]["type"] == "open");
            let opened = opened.expect("every game that pays is opened");
            opened["by"] = "player".into();
            opened["action"]["risk"] = 40.into();
        }),
    ];
    for (name, rule, forge) in forgeries {
        let mut forged = serde_json::to_value(&record).expect("JSON");
        forge(&mut forged);
        let record = forged.to_string();
        expected.push(Expected { name: name.to_owned(), record, rule: Some(rule) });
    }
    assert_verified(SCRIPT, &expected);
}

fn add(value: &mut Value, more: i64) {
    *value = (value.as_i64().expect("a number") + more).into();
}
