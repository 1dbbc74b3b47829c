//! The packages of the workspace, and the packages of it on which each may depend.

use super::{Complaints, File};

/// The permitted dependencies by package, from the bottom up. Dependencies for tests are not
/// restricted.
pub(super) const PACKAGES: &[(&str, &[&str])] = &[
    // Pure values: the games, the AI, the texts of the socket, one process at a table.
    ("engine", &[]),
    ("bots", &["engine"]),
    ("protocol", &["engine", "shell"]),
    ("shell", &["bots", "engine"]),
    // Leaves of the service: each knows one thing, and nothing of the service.
    ("base", &["engine", "shell"]),
    ("names", &[]),
    ("db", &["base"]),
    ("jobs", &["base", "db"]),
    ("auth", &["base", "engine"]),
    ("openid", &["auth", "base"]),
    ("rate-limit", &["base"]),
    ("telemetry", &["base"]),
    ("records", &["base", "db", "engine", "jobs"]),
    ("live-store", &["base", "engine", "shell"]),
    ("api", &["base", "engine", "names", "protocol", "shell"]),
    ("events", &["base", "db"]),
    // A player's client, and the laboratory, which may also depend on the service itself.
    ("client", &["base", "bots", "engine", "protocol"]),
    ("lab", &["base", "bots", "client", "db", "engine", "protocol", "rate-limit"]),
];

/// Reports packages without a line, and dependencies that their line does not permit.
pub(super) fn packages(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for file in files {
        let name =
            file.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml"));
        let Some(name) = name.filter(|name| !name.contains('/')) else {
            continue;
        };
        let Some((_, permitted)) = PACKAGES.iter().find(|(package, _)| *package == name) else {
            complaints.push(format!(
                "{}:1: the package {name} has no line in PACKAGES: give it one in \
                 tests/tidy/packages.rs",
                file.path
            ));
            continue;
        };
        let mut is_dependency = false;
        for (number, line) in (1..).zip(file.text.lines()) {
            if line.starts_with('[') {
                is_dependency = line == "[dependencies]";
            }
            let dependency = line.strip_prefix("bahay-").filter(|_| is_dependency);
            let dependency = dependency.and_then(|rest| rest.split([' ', '.', '=']).next());
            if let Some(dependency) = dependency.filter(|one| !permitted.contains(one)) {
                complaints.push(format!(
                    "{}:{number}: {name} may not depend on {dependency}: arrows go down only",
                    file.path
                ));
            }
        }
    }
    complaints
}
