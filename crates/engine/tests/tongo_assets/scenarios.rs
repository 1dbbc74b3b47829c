//! Runs the scenario files: the rules as examples, one file to a chapter of the rules page.

use std::fs;
use std::path::{Path, PathBuf};

use bahay_engine::game::Refusal;
use bahay_engine::games::tongo_assets::Illegal;
use bahay_engine::testing::run_tongo_assets_scenarios;

fn files() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/tongo_assets");
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
    assert!(files.len() >= 7, "a chapter is missing");
    for (path, text) in files {
        match run_tongo_assets_scenarios(&text) {
            Ok(cases) => println!("{}: {cases} cases", path.display()),
            Err(what) => panic!("{}: {what}", path.display()),
        }
    }
}

/// A file tells of its own chapter only.
#[test]
fn a_case_stands_in_the_file_of_its_chapter() {
    for (path, text) in files() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let chapter = name.split('-').next().expect("a chapter");
        for title in text.lines().filter_map(|line| line.strip_prefix("case ")) {
            assert!(title.starts_with(&format!("{chapter}.")), "{name}: {title}");
        }
    }
}

/// Each reason to refuse an action is shown by some scenario, with its rule.
#[test]
fn every_refusal_has_a_scenario() {
    let texts: String = files().into_iter().map(|(_, text)| text).collect();
    let shown = |illegal: &Illegal| {
        texts.contains(&format!("refused {} {}\n", illegal.code(), illegal.rule()))
    };
    let missing: Vec<_> = Illegal::ALL.iter().filter(|illegal| !shown(illegal)).collect();
    assert!(missing.is_empty(), "no scenario is refused so: {missing:?}");
}

/// Each numbered rule of the page has a case.
#[test]
fn every_rule_has_a_scenario() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules/tongo_assets.md");
    let page = fs::read_to_string(page).expect("the rules page is there");
    let texts: String = files().into_iter().map(|(_, text)| text).collect();
    let numbered = page.lines().filter_map(|line| line.strip_prefix("**")?.split(' ').next());
    let rules =
        numbered.filter(|number| number.starts_with(|letter: char| letter.is_ascii_digit()));
    // The POT is the table's, and shown by its own scenarios.
    let missing: Vec<_> =
        rules.filter(|rule| *rule != "7.3" && !texts.contains(&format!("case {rule} "))).collect();
    assert!(missing.is_empty(), "no case is of these rules: {missing:?}");
}

/// The canary: a scenario that is wrong in any part fails, and says where.
#[test]
fn a_wrong_scenario_fails() {
    let position = "case 2.1 canary\nseats: 4\n";
    let right = "> 0 open 6 3 1 refused risk_too_high 2.2\n> 0 open 5 3 7\n= turn: 1 risk\n";
    assert_eq!(run_tongo_assets_scenarios(&format!("{position}{right}")), Ok(1));
    for (wrong, complaint) in [
        ("> 0 open 6 3 1", "line 3: > 0 open 6 3 1"),
        ("> 0 open 6 3 1 refused risk_too_high 2.3", "expected \"risk_too_high 2.3\""),
        ("> 0 open 5 3 7 refused risk_too_high 2.2", "it is taken"),
        ("= turn: 1 open", "found \"0 open\""),
        ("= may 0: open 9 9 9", "is legal: false"),
        ("= may not 0: retreat", "is legal: true"),
        ("= over: last_in 0", "the game goes on"),
        ("= hand 0: 7Kb", "expected"),
        ("= colour: red", "no check is called colour"),
        ("> 0 jump", "no action is written jump"),
        ("hand 0: 4Ra", "a case checks nothing"),
        ("hand 0: 4Ra\nhand 1: 4Ra\n= turn: 0 open", "two places"),
        ("hand 9: 4Ra", "not a seat"),
        ("", "a case checks nothing"),
    ] {
        let failure = run_tongo_assets_scenarios(&format!("{position}{wrong}")).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
}
