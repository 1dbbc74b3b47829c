//! Runs docs/verify.py, which shares no code with this project, on valid records and on forged
//! ones, for which it must name the violated rule.
//!
//! It needs `python3`. Without it the check is skipped with a message, unless `CI` is set, where
//! that is a failure.

use std::fs;
use std::process::Command;

/// A record, and the rule by which it must be refused, if it is forged.
pub(crate) struct Expected {
    pub(crate) name: String,
    pub(crate) record: String,
    pub(crate) rule: Option<&'static str>,
}

/// Runs the verifier at `script` on these records, of which at least one is forged, and compares
/// its verdicts.
pub(crate) fn assert_verified(script: &str, expected: &[Expected]) {
    let documents: Vec<&str> = expected.iter().map(|one| one.record.as_str()).collect();
    let Some((lines, code)) = verdicts(script, &documents) else {
        return;
    };
    for (line, Expected { name, rule, .. }) in lines.iter().zip(expected) {
        match rule {
            None => assert!(line.starts_with("verified: "), "{name}: {line}"),
            Some(rule) => assert!(
                line.contains("does not hold") && line.contains(&format!("(rule {rule}")),
                "{name} is not refused by rule {rule}: {line}"
            ),
        }
    }
    assert_eq!(code, Some(1));
}

/// Returns the verifier's verdicts, one line for each document, and its exit code; `None` without
/// Python.
pub(crate) fn verdicts(script: &str, documents: &[&str]) -> Option<(Vec<String>, Option<i32>)> {
    let python = python()?;
    let folder = tempfile::tempdir().expect("a folder for the records is created");
    let mut files = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        let path = folder.path().join(format!("{number}.json"));
        fs::write(&path, document).expect("the record is written");
        files.push(path);
    }
    let output = Command::new(python).arg("-B").arg(script).args(&files).output();
    let output = output.expect("python runs");
    let verdicts = String::from_utf8(output.stdout).expect("the output is UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<String> = verdicts.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), documents.len(), "{verdicts}{errors}");
    Some((lines, output.status.code()))
}

fn python() -> Option<&'static str> {
    let version = Command::new("python3").arg("--version").output();
    if version.is_ok_and(|output| output.status.success()) {
        return Some("python3");
    }
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(!is_ci, "python3 is missing, and docs/verify.py must be run in CI: install it");
    eprintln!("NOT RUN: docs/verify.py needs python3, and there is none");
    None
}
