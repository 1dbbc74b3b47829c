//! The results of a certification, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

use crate::certify::scenarios::Scenario;

/// The verdict on a client in one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// The client broke these rules.
    Failed(Vec<String>),
    /// The behaviour is visible only in what a client shows, and the client has reported nothing.
    NotShown,
    /// No client has come.
    NotPlayed,
}

impl Verdict {
    /// Returns the verdict as one or two words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::NotShown => "not shown",
            Self::NotPlayed => "not played",
        }
    }
}

/// The results of all scenarios.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub results: Vec<ScenarioResult>,
}

/// The result of one scenario.
#[derive(Clone, Debug)]
pub struct ScenarioResult {
    pub scenario: &'static Scenario,
    pub verdict: Verdict,
}

impl Report {
    pub fn passed_count(&self) -> usize {
        self.results.iter().filter(|result| result.verdict == Verdict::Passed).count()
    }

    /// Returns whether the client has passed every scenario.
    pub fn has_passed(&self) -> bool {
        !self.results.is_empty() && self.passed_count() == self.results.len()
    }

    pub fn to_json(&self) -> Value {
        let results = self.results.iter().map(|ScenarioResult { scenario, verdict }| {
            let violations = match verdict {
                Verdict::Failed(violations) => violations.as_slice(),
                Verdict::Passed | Verdict::NotShown | Verdict::NotPlayed => &[],
            };
            json!({
                "name": scenario.name,
                "planted": scenario.planted,
                "client_must": scenario.client_must,
                "section": scenario.section,
                "verdict": verdict.name(),
                "violations": violations,
            })
        });
        json!({
            "passed": self.passed_count(),
            "scenarios": self.results.len(),
            "results": results.collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ScenarioResult { scenario, verdict } in &self.results {
            writeln!(f, "{:<24} {}", scenario.name, verdict.name())?;
            match verdict {
                Verdict::Failed(violations) => {
                    writeln!(f, "    planted: {}", scenario.planted)?;
                    writeln!(f, "    a client must: {}", scenario.client_must)?;
                    writeln!(f, "    docs/PROTOCOL.md, \"{}\"", scenario.section)?;
                    for violation in violations {
                        writeln!(f, "    observed: {violation}")?;
                    }
                }
                Verdict::NotShown => {
                    writeln!(f, "    a client must report what it shows: docs/CERTIFY.md")?;
                }
                Verdict::Passed | Verdict::NotPlayed => {}
            }
        }
        write!(f, "{} of {} scenarios passed", self.passed_count(), self.results.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, ScenarioResult, Verdict};
    use crate::certify::scenarios::SCENARIOS;

    #[test]
    fn only_a_report_without_any_failure_passes() {
        assert!(!Report::default().has_passed());
        let passed = ScenarioResult { scenario: &SCENARIOS[0], verdict: Verdict::Passed };
        let mut report = Report { results: vec![passed.clone()] };
        assert!(report.has_passed());
        for verdict in [Verdict::NotShown, Verdict::NotPlayed, Verdict::Failed(vec!["x".into()])] {
            report.results = vec![passed.clone(), ScenarioResult { verdict, ..passed.clone() }];
            assert!(!report.has_passed());
            assert_eq!(report.to_json()["passed"], 1);
            assert!(report.to_string().ends_with("1 of 2 scenarios passed"));
        }
    }
}
