//! The certification of clients: this repository's own client passes it, and clients with planted
//! bugs do not.

mod bugs;
mod virtual_client;

use bahay_engine::catalog;
use bahay_lab::certify::{Certify, SCENARIOS, Scenario, Verdict, certify};
use bahay_protocol::brief::Form;

use crate::certify::bugs::Bug;
use crate::certify::virtual_client::{run_scenario, run_scenario_late};

#[test]
fn the_client_core_passes_every_scenario_of_every_game_in_every_form() {
    let mut failures = Vec::new();
    for kind in catalog::kinds().iter().filter(|kind| !kind.is_hidden) {
        for form in Form::ALL {
            for scenario in SCENARIOS {
                let verdict = run_scenario(scenario, kind, form, None);
                if verdict != Verdict::Passed {
                    failures.push(format!("{} {form:?} {}: {verdict:?}", kind.name, scenario.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A busy machine is no fault of a client.
#[test]
fn the_client_core_passes_every_scenario_of_a_late_server() {
    let kinds = catalog::kinds();
    let mut failures = Vec::new();
    for interval_ms in [70, 130, 250, 400] {
        for scenario in SCENARIOS {
            let verdict = run_scenario_late(scenario, &kinds[0], Form::Full, None, interval_ms);
            if verdict != Verdict::Passed {
                failures.push(format!("{interval_ms} ms, {}: {verdict:?}", scenario.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_planted_bug_is_found() {
    let kinds = catalog::kinds();
    let kind = &kinds[0];
    let mut missed = Vec::new();
    for (bug, expected) in Bug::ALL {
        let scenario = Scenario::find(expected).expect("a scenario of this name");
        let verdict = run_scenario(scenario, kind, Form::Full, Some(bug));
        println!("{bug:?} in {expected}: {verdict:?}");
        if !matches!(verdict, Verdict::Failed(_)) {
            missed.push(format!("{bug:?} in {expected}: {verdict:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn names_of_scenarios_are_unique_and_their_sections_exist() {
    let protocol = include_str!("../../../../../docs/PROTOCOL.md");
    for (place, scenario) in SCENARIOS.iter().enumerate() {
        let others = &SCENARIOS[place + 1..];
        assert!(others.iter().all(|other| other.name != scenario.name), "{}", scenario.name);
        let headings = protocol.lines().filter_map(|line| line.strip_prefix('#'));
        let has_section =
            headings.map(|line| line.trim_start_matches('#').trim()).any(|h| h == scenario.section);
        assert!(has_section, "{}: PROTOCOL has no section {}", scenario.name, scenario.section);
    }
    assert!(SCENARIOS.len() >= 30);
}

#[test]
fn the_document_lists_every_scenario() {
    let document = include_str!("../../../../../docs/CERTIFY.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `")).collect();
    let scenarios = SCENARIOS.iter().map(|scenario| {
        let Scenario { name, planted, client_must, .. } = scenario;
        format!("| `{name}` | {planted} | {client_must} |")
    });
    let verdicts =
        rows.iter().filter(|row| row.contains("| `passed`") || row.split('|').count() == 4);
    let listed = rows.len() - verdicts.count();
    assert_eq!(listed, SCENARIOS.len());
    for row in scenarios {
        assert!(rows.contains(&row.as_str()), "docs/CERTIFY.md lacks the row {row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_on_tokio_passes_every_scenario_over_real_sockets() {
    let options = Certify {
        listen: "127.0.0.1:0".parse().expect("an address"),
        game: "tongits".into(),
        scenarios: Vec::new(),
        seconds: 180,
        json: false,
        own: true,
    };
    let report = certify(&options, |_| {}).await.expect("the scenarios are served");
    assert!(report.has_passed(), "{report}");
}
