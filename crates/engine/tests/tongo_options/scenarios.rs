//! Runs the scenario files: the rules as examples, one file to a chapter of the rules page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bahay_engine::game::{GameKind, Refusal};
use bahay_engine::games::tongo_options::TongoOptions;

use crate::scenario::run_scenarios;

fn files() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/tongo_options");
    let entries = fs::read_dir(folder).expect("the scenarios are there");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a readable file");
            (path, text)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_scenario_holds() {
    let files = files();
    assert!(files.len() >= 9, "a chapter is missing");
    for (path, text) in files {
        match run_scenarios(&text) {
            Ok(cases) => println!("{}: {cases} cases", path.display()),
            Err(what) => panic!("{}: {what}", path.display()),
        }
    }
}

/// A file tells of its own chapter only, and every numbered rule has a case.
#[test]
fn every_rule_has_a_case_in_the_file_of_its_chapter() {
    let mut told = BTreeSet::new();
    for (path, text) in files() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let chapter = name.split('-').next().expect("a chapter");
        for title in text.lines().filter_map(|line| line.strip_prefix("case ")) {
            assert!(title.starts_with(&format!("{chapter}.")), "{name}: {title}");
            told.insert(title.split(' ').next().expect("a number").to_owned());
        }
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules/tongo_options.md");
    let page = fs::read_to_string(page).expect("the rules page is there");
    let rules = page.lines().filter_map(|line| {
        let number = line.strip_prefix("**")?.split([' ', '*']).next()?;
        number.starts_with(|first: char| first.is_ascii_digit()).then_some(number)
    });
    let rules: BTreeSet<String> = rules.map(str::to_owned).collect();
    assert!(rules.len() > 25, "{rules:?}");
    assert_eq!(rules.difference(&told).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(told.difference(&rules).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Each reason to refuse an action is shown by some scenario, with its rule.
#[test]
fn every_refusal_has_a_scenario() {
    let texts: String = files().into_iter().map(|(_, text)| text).collect();
    for illegal in TongoOptions::refusals() {
        let shown = format!("refused {} {}\n", illegal.code(), illegal.rule());
        assert!(texts.contains(&shown), "no scenario is {shown}");
    }
}

/// The canary: a scenario that is wrong in any part fails, and says where.
#[test]
fn a_wrong_scenario_fails() {
    let position = "case 3.3 canary\ncosts: 1 3 1\nchips 0: 20\n";
    let right = "> 0 stop 2\n> 0 end refused risk_unpaid 3.3\n> 0 pay\n= chips: 18 95 95\n";
    assert_eq!(run_scenarios(&format!("{position}{right}")), Ok(1));
    for (wrong, complaint) in [
        ("> 0 pay", "line 4: > 0 pay"),
        ("> 0 stop 2\n> 0 pay refused no_risk 3.3", "it is taken"),
        ("> 0 stop 2\n> 0 end refused risk_unpaid 3.2", "expected \"risk_unpaid 3.2\""),
        ("= turn: 1 stop", "found \"0 stop\""),
        ("= legal 0: stop 0", "legal too"),
        ("= may 0: retreat", "expected \"retreat\""),
        ("= over: confront 0 pot 15", "the game goes on"),
        ("= hand 1: KD", "expected"),
        ("= sees 1 hand 0: AD", "found \"nothing\""),
        ("= floor 0: AD 2D +3D", "expected"),
        ("= colour: red", "no check is called colour"),
        ("> 0 jump", "no action is written jump"),
        ("> dice 1@0 5@1 9@2", "no chance is due"),
        ("hand 1: AD AD", "names a card twice"),
        ("hand 0: KD\nhand 1: KD\n= turn: 0 stop", "in two places"),
        ("dice: 7@0 5@0 9@0\n= turn: 0 stop", "not the dice of the rules"),
        ("chips 0: 99\n= turn: 0 stop", "more chips than there are"),
        ("rules: seed chips=0", "chips"),
        ("", "a case checks nothing"),
    ] {
        let failure = run_scenarios(&format!("{position}{wrong}")).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
    for (wrong, complaint) in
        [("case three\n", "not the number of a rule"), ("turn: 0", "begins with a case")]
    {
        let failure = run_scenarios(wrong).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
}
