//! Runs the scenario files: the rules as examples, one file to a chapter of the rules page.

use std::fs;
use std::path::{Path, PathBuf};

use bahay_engine::game::Refusal;
use bahay_engine::games::tongits::Illegal;
use bahay_engine::testing::run_scenarios;

fn files() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let entries = fs::read_dir(folder).expect("the scenarios are there");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder").path())
        // Each other game has a folder and a test of its own.
        .filter(|path| path.is_file())
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
        match run_scenarios(&text) {
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
    for illegal in Illegal::ALL {
        let shown = format!("refused {} {}", illegal.code(), illegal.rule());
        assert!(texts.contains(&shown), "no scenario is {shown}");
    }
}

/// The canary: a scenario that is wrong in any part fails, and says where.
#[test]
fn a_wrong_scenario_fails() {
    let position = "case 3.6 canary\nturn: 0 play\nhand 0: 8H 9H 2D\nhand 1: 2C\nhand 2: 3C\n\
                    meld 1: 5H 6H 7H\n";
    let right = "> 0 dump 8H refused card_addable 3.6\n> 0 dump 9H\n= turn: 1 draw\n";
    assert_eq!(run_scenarios(&format!("{position}{right}")), Ok(1));
    for (wrong, complaint) in [
        ("> 0 dump 8H", "line 7: > 0 dump 8H"),
        ("> 0 dump 8H refused card_addable 3.5", "expected \"card_addable 3.5\""),
        ("> 0 dump 9H refused card_addable 3.6", "it is taken"),
        ("= turn: 1 draw", "found \"0 play\""),
        ("= legal 0: dump 9H", "expected"),
        ("= over: tongits 0", "the game goes on"),
        ("= hand 1: 2C 3C", "expected"),
        ("= colour: red", "no check is called colour"),
        ("> 0 jump 9H", "no action is written jump 9H"),
        ("hand 1: 4C", "a case checks nothing"),
        ("", "a case checks nothing"),
    ] {
        let failure = run_scenarios(&format!("{position}{wrong}")).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
    let opened = "case 9.1 canary\nopened: luck - swerte\n> 0 reveal luck\n";
    assert_eq!(run_scenarios(&format!("{opened}= phase: revealing asked 2 revealed 0")), Ok(1));
    for (wrong, complaint) in [
        ("= phase: playing", "found \"revealing asked 2 revealed 0\""),
        ("= dealt with: luck zeros swerte", "it is not dealt"),
        ("> 2 reveal luck", "other_seed_text 9.1"),
        ("> 2 reveal luck refused other_seed_text 9.2", "expected \"other_seed_text 9.2\""),
        ("> 2 reveal swerte refused other_seed_text 9.1", "it is taken"),
        ("> 2 reveal swerte\n= dealt with: luck zeros commitment", "found \"luck zeros swerte\""),
        ("> waits 1999\n= phase: playing", "found \"revealing asked 2 revealed 0\""),
        ("> 2 jump", "nobody does jump at a table"),
    ] {
        let failure = run_scenarios(&format!("{opened}{wrong}")).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
    for (set_up, complaint) in [
        ("case 3.6 twice\nturn: 0 play\nhand 0: 2C\nhand 1: 2C\nhand 2: 3C\n= turn: 0 play", "two"),
        ("case 3.6 none\nturn: 0 play\nhand 0: 2C\nhand 1: 4C\n= turn: 0 play", "no cards"),
        ("case 3.6 meld\nturn: 0 play\nmeld 0: 2C 4C\n= turn: 0 play", "not a meld"),
        ("case three\n", "not the number of a rule"),
        ("turn: 0 play", "begins with a case"),
    ] {
        let failure = run_scenarios(set_up).expect_err(set_up);
        assert!(failure.contains(complaint), "{set_up}: {failure}");
    }
}
