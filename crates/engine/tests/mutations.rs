//! Mutations of records that every verifier must detect: each value changed, each field added and
//! removed, each list with an element too many and too few. Values that no rule determines are
//! listed in [`UNDETERMINED`] with the reason; everything else is refused by `Record::verify`,
//! which `bahay verify` uses, and by the kind's verifier in Python.

use std::collections::{BTreeMap, BTreeSet};

use crate::independent::{Expected, assert_verified, verdicts};
use crate::support::desk::coins;
use crate::support::records::script;
use crate::support::settled_records;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::table::{PrivateTerms, Readable, Terms};
use bahay_engine::testing;
use serde_json::{Value, json};

/// Fields that may have another value of the same form in a valid record, with the reason. A `*`
/// stands for any field or index. No field may have another form.
const UNDETERMINED: &[(&str, &str)] = &[
    ("table", "an id; the books say at which table a game was"),
    ("terms.room", "a name; the books say in which room a game was"),
    ("players", "ids by seat; the books say who played"),
    ("players.*", "the same"),
    ("bots", "whose seat the AI plays from the deal on may be a bot or a player who has left"),
    ("terms.clocks.*", "the times between games, and how long the AI thinks, are in no record"),
    ("terms.private", "who may sit down is in no record"),
    ("terms.private.*", "when an empty table ends is in no record; a stake may be short or whole"),
    ("terms.price.fee_basis_points", "a fee is rounded down, and nobody pays one of nothing"),
    ("terms.hits.*", "the POT and the wins of earlier games are in their records"),
    ("crown_before", "a run that another's win ends; the record of the game before has it"),
    ("crown_before.*", "the same"),
    ("opened_at", "a time is the server's word, as long as the order is kept"),
    ("finished_at", "the same"),
    ("actions.*.at", "the same"),
    ("actions.*.by", "only what the clock plays follows from the rules"),
    ("actions", "without an action that changed nothing it is a game that could have been played"),
    ("actions.*", "the same"),
    ("actions.*.action.*", "another choice that was legal and came to the same"),
    ("actions.*.action.*.*", "the same"),
    ("terms.rules.*", "a switch that this game never came to; those of the stake are determined"),
    ("terms.rules.countdowns.*", "how long a question waits changes nothing that is played"),
    ("terms.rules.counts.*", "the price of an ending that did not come, and not of the dearest"),
];

/// Fields that rules of every kind determine, although a `*` above matches them.
const DETERMINED: &[&str] = &[
    "terms.rules.latinum",
    "terms.rules.chips",
    "terms.rules.buy_in",
    "terms.rules.sections",
    "terms.rules.dice_2d6",
    "terms.rules.jokers",
    "terms.rules.deal",
    "terms.rules.counts",
    "terms.rules.countdowns",
];

/// Plays games of each kind: in a room and at a private table, with and without a POT.
fn records(kind: &str) -> Vec<Value> {
    let known = catalog::find_kind(kind).expect("a game of the catalogue");
    let mut shortest = Vec::new();
    for (seed, set) in (1..).zip(&known.rule_sets) {
        let private = PrivateTerms { short_stakes: kind == "tongits", ..PrivateTerms::default() };
        let terms = Terms {
            private: (seed == 2).then_some(private),
            ..testing::terms(set.rules.clone(), set.hits, coins(2), 3)
        };
        let welcome = terms.wallet_min().expect("a wallet");
        let welcome = welcome.checked_mul(2).expect("two of them");
        let house = Simulation::<AnyGame>::new(seed, terms, Habits::ROUGH, welcome);
        let mut played = settled_records(house, 12);
        // The shortest game with payments keeps the test fast.
        played.retain(|record| !record.settlement.payments.is_empty());
        played.sort_by_key(|record| record.actions.len());
        let first = played.first().map(serde_json::to_value);
        shortest.extend(first.map(|record| record.expect("a record can be written")));
    }
    shortest
}

/// A changed document and the position of the change.
struct Mutant {
    /// With a `*` for each index of a list.
    pattern: String,
    what: String,
    /// True if the document still has the form of a record.
    keeps_form: bool,
    document: String,
}

const ACTORS: [&str; 3] = ["player", "clock", "ai"];

/// The crown, which is null if no seat wears it.
const MAY_BE_NULL: &str = "crown_before";

/// A field of which any text is valid.
const FREE_TEXT: &str = "terms.room";

/// The stakes, which may be any amount if a host allows short stakes: a wallet is then staked
/// whole, and its balance is in no record.
const SHORT_STAKES: [&str; 2] = ["stakes", "stakes.*"];

/// A change of a value, described in words; `None` removes it.
type Change = (&'static str, Option<Value>);

/// Changes that may keep the form of a value.
const KEEP_FORM: &[&str] = &[
    "otherwise",
    "one more",
    "one less",
    "another",
    "by another",
    "one element more",
    "without the first",
    "without the last",
    "first and last changed over",
    "taken away",
];

fn changes(value: &Value) -> Vec<Change> {
    match value {
        Value::Null => vec![("0", Some(json!(0))), ("an object", Some(json!({})))],
        Value::Bool(flag) => vec![("otherwise", Some(json!(!flag))), ("0", Some(json!(0)))],
        Value::Number(number) => {
            let number = number.as_i64().expect("a whole number");
            let pointed = serde_json::from_str(&format!("{number}.0")).expect("a number");
            vec![
                ("one more", Some(json!(number + 1))),
                ("one less", Some(json!(number - 1))),
                ("a string", Some(json!(number.to_string()))),
                ("true", Some(json!(true))),
                ("with a point", Some(pointed)),
            ]
        }
        Value::String(text) => {
            let mut other = text.clone();
            let last = other.pop();
            other.push(if last == Some('1') { '2' } else { '1' });
            let mut changes = vec![
                ("another", Some(json!(other))),
                ("longer", Some(json!(format!("{text} ")))),
                ("null", Some(Value::Null)),
            ];
            let upper = text.to_uppercase();
            if upper != *text {
                changes.push(("in capitals", Some(json!(upper))));
            }
            if ACTORS.contains(&text.as_str()) {
                let others = ACTORS.into_iter().filter(|by| by != text);
                changes.extend(others.map(|by| ("by another", Some(json!(by)))));
                changes.push(("by an unknown actor", Some(json!("house"))));
            }
            changes
        }
        Value::Array(list) => {
            let mut changes = vec![("null", Some(Value::Null))];
            let mut more = list.clone();
            more.push(list.last().cloned().unwrap_or(json!(0)));
            changes.push(("one element more", Some(Value::Array(more))));
            if let [first, .., last] = &list[..] {
                changes.push(("without the first", Some(json!(list[1..]))));
                changes.push(("without the last", Some(json!(list[..list.len() - 1]))));
                if first != last {
                    let mut turned = list.clone();
                    let end = turned.len() - 1;
                    turned.swap(0, end);
                    changes.push(("first and last changed over", Some(Value::Array(turned))));
                }
            }
            changes
        }
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("unexpected".to_owned(), json!(0));
            vec![("one field more", Some(Value::Object(more))), ("null", Some(Value::Null))]
        }
    }
}

/// The position of a value: its pointer and its pattern.
#[derive(Clone, Default)]
struct Path {
    pointer: String,
    pattern: String,
}

impl Path {
    fn with(&self, pointer: &str, pattern: &str) -> Self {
        let dot = if self.pattern.is_empty() { "" } else { "." };
        Self {
            pointer: format!("{}/{pointer}", self.pointer),
            pattern: format!("{}{dot}{pattern}", self.pattern),
        }
    }
}

fn paths(value: &Value, at: &Path, found: &mut BTreeMap<String, Vec<Path>>) {
    found.entry(at.pattern.clone()).or_default().push(at.clone());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| paths(field, &at.with(name, name), found));
        }
        Value::Array(list) => {
            let places = list.iter().enumerate();
            places.for_each(|(place, item)| {
                paths(item, &at.with(&place.to_string(), "*"), found);
            });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the mutations of a record; of many similar values only some are changed.
fn mutants(record: &Value, of_each: usize) -> Vec<Mutant> {
    let mut found = BTreeMap::new();
    paths(record, &Path::default(), &mut found);
    let mut mutants = Vec::new();
    for (pattern, places) in found {
        let step = places.len().div_ceil(of_each).max(1);
        for Path { pointer, .. } in places.iter().step_by(step) {
            let value = record.pointer(pointer).expect("it was found there");
            let mut all = changes(value);
            all.push(("taken away", None));
            for (what, change) in all {
                let Some(document) = changed(record, pointer, change) else { continue };
                mutants.push(Mutant {
                    pattern: pattern.clone(),
                    what: format!("{pointer}: {what}"),
                    keeps_form: KEEP_FORM.contains(&what)
                        || pattern == FREE_TEXT
                        || (pattern == MAY_BE_NULL && what == "null"),
                    document: document.to_string(),
                });
            }
        }
    }
    let twice = record.to_string().replacen('{', r#"{"format":"bahay/record/v1","#, 1);
    mutants.push(Mutant {
        pattern: "format".to_owned(),
        what: "a field twice".to_owned(),
        keeps_form: false,
        document: twice,
    });
    mutants
}

fn changed(record: &Value, pointer: &str, change: Option<Value>) -> Option<Value> {
    let mut record = record.clone();
    if let Some(value) = change {
        *record.pointer_mut(pointer)? = value;
        return Some(record);
    }
    let (parent, name) = pointer.rsplit_once('/')?;
    match record.pointer_mut(parent)? {
        Value::Object(fields) => fields.remove(name).map(|_| ()),
        Value::Array(list) => {
            list.remove(name.parse().ok()?);
            Some(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }?;
    Some(record)
}

fn is_undetermined(pattern: &str) -> bool {
    let fits = |known: &str| {
        let known: Vec<&str> = known.split('.').collect();
        let given: Vec<&str> = pattern.split('.').collect();
        let same = |(one, other): (&&str, &&str)| *one == "*" || one == other;
        known.len() == given.len() && known.iter().zip(&given).all(same)
    };
    !DETERMINED.contains(&pattern) && UNDETERMINED.iter().any(|(known, _)| fits(known))
}

/// Asserts that each accepted mutation changes a field that no rule determines.
fn assert_refused(by: &str, record: &Value, accepted: impl Iterator<Item = Mutant>) {
    let mut unknown = BTreeSet::new();
    let may_be_short = record.pointer("/terms/private/short_stakes").is_some();
    for Mutant { pattern, what, keeps_form, .. } in accepted {
        if may_be_short && keeps_form && SHORT_STAKES.contains(&pattern.as_str()) {
            continue;
        }
        if !keeps_form || !is_undetermined(&pattern) {
            unknown.insert(format!("{pattern} ({what})"));
        }
    }
    assert!(unknown.is_empty(), "{by} accepts changes of {unknown:#?}");
}

const KINDS: [&str; 3] = ["tongits", "tongo_options", "tongo_assets"];

#[test]
fn the_engine_finds_every_change_of_what_a_rule_determines() {
    for kind in KINDS {
        for record in records(kind) {
            let holds = |document: &str| {
                AnyGame::read_record(document).is_ok_and(|record| record.verify().is_ok())
            };
            assert!(holds(&record.to_string()), "{kind}: the record itself is refused");
            let accepted = mutants(&record, 10).into_iter();
            let accepted = accepted.filter(|mutant| holds(&mutant.document));
            assert_refused(kind, &record, accepted);
        }
    }
}

#[test]
fn the_verifiers_in_python_find_every_change_of_what_a_rule_determines() {
    for kind in KINDS {
        for record in records(kind) {
            let mutants = mutants(&record, 3);
            let texts: Vec<&str> = mutants.iter().map(|mutant| mutant.document.as_str()).collect();
            let Some((lines, _)) = verdicts(&script(kind), &texts) else { return };
            let accepted = mutants.into_iter().zip(lines);
            let accepted = accepted.filter(|(_, line)| line.starts_with("verified: "));
            assert_refused(kind, &record, accepted.map(|(mutant, _)| mutant));
        }
    }
}

/// Tests of one process run the verifier at the same time, each on its own documents.
#[test]
fn runs_of_the_verifier_at_the_same_time_keep_their_documents_apart() {
    let record = records("tongits").remove(0).to_string();
    std::thread::scope(|scope| {
        for count in 1..=4 {
            let documents = vec![record.as_str(); count];
            scope.spawn(move || {
                for _ in 0..4 {
                    let Some((lines, code)) = verdicts(&script("tongits"), &documents) else {
                        return;
                    };
                    assert_eq!((lines.len(), code), (count, Some(0)));
                }
            });
        }
    });
}

/// Mutations that were accepted once: another actor, other amounts, one player in two seats.
#[test]
fn a_mutation_once_accepted_by_all_verifiers_is_refused() {
    for kind in KINDS {
        let mut expected = Vec::new();
        for record in records(kind) {
            let twice = with(&record, |record| record["players"][1] = record["players"][0].clone());
            let stake = with(&record, |record| {
                let stake = &mut record["stakes"][1];
                *stake = json!(stake.as_i64().expect("a stake") + 1_000_000);
            });
            for (name, rule, forged) in [("twice", "1.1", twice), ("stake", "6.9", stake)] {
                let document = forged.to_string();
                let fault = AnyGame::read_record(&document).expect("it has the form").verify();
                assert_eq!(fault.unwrap_err().rule, rule, "{kind}: {name}");
                // The page of Tongo (assets) states the stake among the hands.
                let is_own = kind == "tongo_assets" && name == "stake";
                let rule = if is_own { "1.5" } else { rule };
                let name = format!("{kind}: {name}");
                expected.push(Expected { name, record: document, rule: Some(rule) });
            }
            expected.push(Expected { name: kind.into(), record: record.to_string(), rule: None });
        }
        assert_verified(&script(kind), &expected);
    }
}

fn with(record: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut record = record.clone();
    change(&mut record);
    record
}
