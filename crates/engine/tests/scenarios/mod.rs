//! The rules as examples: scenario files in a folder for each kind, one file for each chapter of
//! its rules page, run against the game.

mod desk;
mod run;
mod tongits;
mod tongo_assets;
mod tongo_options;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bahay_engine::game::{GameKind, Refusal as _};

use run::{Scenario, run};

#[test]
fn scenarios_of_tongits_hold() {
    check::<tongits::Position>();
}

#[test]
fn scenarios_of_tongo_options_hold() {
    check::<tongo_options::Position>();
}

#[test]
fn scenarios_of_tongo_assets_hold() {
    check::<tongo_assets::Position>();
}

fn check<S: Scenario>() {
    let game = <S::Game as GameKind>::NAME;
    let files = files(game);
    for (name, text) in &files {
        match run::<S>(text) {
            Ok(cases) => println!("{game}/{name}: {cases} cases"),
            Err(what) => panic!("{game}/{name}: {what}"),
        }
    }
    let told = rules_in_files(&files);
    let elsewhere = S::SHOWN_ELSEWHERE.iter().map(|rule| (*rule).to_owned()).collect();
    let page = rules_of_page(game);
    let missing: Vec<_> = page.difference(&(&told | &elsewhere)).cloned().collect();
    assert_eq!(missing, [""; 0], "{game}: rules without a case");
    let unknown: Vec<_> = (&told | &elsewhere).difference(&page).cloned().collect();
    assert_eq!(unknown, [""; 0], "{game}: cases of no rule");
    // Each reason to refuse an action has a case, with its rule.
    let refused: BTreeSet<&str> = files
        .iter()
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| {
            line.split('#').next()?.split_once(" refused ").map(|(_, why)| why.trim())
        })
        .collect();
    for illegal in <S::Game as GameKind>::refusals() {
        let shown = format!("{} {}", illegal.code(), illegal.rule());
        assert!(refused.contains(shown.as_str()), "{game}: no scenario is refused {shown}");
    }
}

/// Returns the rules with a case, each in the file of its chapter.
fn rules_in_files(files: &[(String, String)]) -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    for (name, text) in files {
        let chapter = name.split('-').next().expect("a chapter");
        for title in text.lines().filter_map(|line| line.strip_prefix("case ")) {
            assert!(title.starts_with(&format!("{chapter}.")), "{name}: {title}");
            told.insert(title.split(' ').next().expect("a number").to_owned());
        }
    }
    told
}

/// Returns the rules page of a game.
fn page(game: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/rules/{game}.md"));
    fs::read_to_string(page).expect("the rules page is there")
}

/// Returns the numbers of the rules on a game's page, in bold or in a table at the beginning of a
/// line.
fn rules_of_page(game: &str) -> BTreeSet<String> {
    let page = page(game);
    let rules = page.lines().filter_map(|line| {
        let text = line.strip_prefix("**").or_else(|| line.strip_prefix("| "))?;
        let number = text.split([' ', '*']).next()?;
        let (chapter, rule) = number.split_once('.')?;
        let is_rule = chapter.parse::<u8>().is_ok() && !rule.is_empty();
        is_rule.then(|| number.to_owned())
    });
    let rules: BTreeSet<String> = rules.collect();
    assert!(rules.len() > 20, "{game}: {rules:?}");
    rules
}

/// Returns the names and texts of the files, ordered by name.
fn files(game: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(game);
    let entries = fs::read_dir(folder).expect("the scenarios are there");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "txt");
    let mut files: Vec<_> = paths
        .filter(is_text)
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
            (name, fs::read_to_string(&path).expect("a readable file"))
        })
        .collect();
    files.sort();
    files
}

/// The canary of the runner: an invalid scenario is refused with its position.
#[test]
fn an_invalid_scenario_is_refused() {
    for (wrong, complaint) in [
        ("case three\n", "not the number of a rule"),
        ("turn: 0 play", "begins with a case"),
        ("case 3.6 canary", "a case checks nothing"),
        ("case 3.6 canary\nhand 0: 2C", "a case checks nothing"),
        ("case 3.6 canary\n\nhand 0", "line 3: hand 0\n  neither a set-up, a step nor a check"),
    ] {
        let failure = run::<tongits::Position>(wrong).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
}

/// The canary of a game's cases: after the position the right lines pass, and each wrong one fails
/// with its message.
fn finds_wrong_lines<S: Scenario>(position: &str, right: &str, wrong: &[(&str, &str)]) {
    assert_eq!(run::<S>(&format!("{position}{right}")), Ok(1));
    for (wrong, complaint) in wrong {
        let failure = run::<S>(&format!("{position}{wrong}")).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
}

/// Each named rule set is described on its game's page.
#[test]
fn every_rule_set_is_named_on_its_page() {
    for kind in bahay_engine::catalog::kinds().into_iter().filter(|kind| !kind.is_hidden) {
        let page = page(kind.name);
        for set in &kind.rule_sets {
            let name = format!("`{}`", set.name);
            assert!(page.contains(&name), "{} is not on the page of {}", name, kind.title);
        }
    }
}
