//! The packages of the workspace, the packages of it on which each may depend, and the crates on
//! which only some may.

use crate::{Complaints, File};

/// The permitted dependencies by package, from the bottom up. Dependencies for tests are not
/// restricted.
pub(crate) const PACKAGES: &[(&str, &[&str])] = &[
    // Pure values: the games, the AI, the texts of the socket, one process at a table.
    ("engine", &[]),
    ("bots", &["engine"]),
    ("protocol", &["engine", "shell"]),
    ("shell", &["bots", "engine"]),
    // The server as one client observes it, for the tests of clients.
    ("model-server", &["bots", "engine", "protocol"]),
    // Leaves of the service: each knows one thing, and nothing of the service.
    ("base", &["engine", "shell"]),
    ("batch-loader", &[]),
    ("names", &["base"]),
    ("db", &["base"]),
    ("jobs", &["db"]),
    ("auth", &["base", "engine"]),
    ("openid", &["auth", "base"]),
    ("rate-limit", &["base"]),
    ("telemetry", &["base"]),
    ("records", &["base", "db", "engine"]),
    ("live-store", &["base", "batch-loader", "engine", "shell"]),
    ("api", &["base", "engine", "names", "protocol", "shell"]),
    ("desk-ui", &["api", "base", "engine"]),
    ("events", &["base", "db"]),
    // The books, and the inbox of players that they write to.
    ("notices", &["api", "base", "batch-loader", "db", "engine"]),
    ("ledger", &["api", "base", "db", "engine", "notices"]),
    // The behaviour of a player's client without I/O.
    ("client", &["engine", "protocol", "shell"]),
    // Its interface for other languages.
    ("client-ffi", &["client", "engine", "protocol"]),
    // A player's client, and the laboratory, which may also depend on the service itself.
    ("client-tokio", &["base", "bots", "client", "engine", "protocol"]),
    (
        "lab",
        &["base", "bots", "client-tokio", "db", "engine", "model-server", "protocol", "rate-limit"],
    ),
];

/// The name of the root package.
const SERVICE: &str = "bahay";

/// Dependencies on crates that reach the network or the system, or that have one purpose, by the
/// packages that may have them. `bahay` is the service. Dependencies for tests are not restricted.
pub(crate) const RESTRICTED: &[(&str, &[&str])] = &[
    ("argon2", &["bahay"]),
    ("async-nats", &["events"]),
    ("axum", &["bahay"]),
    ("getrandom", &["base"]),
    ("hyper", &["bahay", "lab"]),
    ("hyper-rustls", &["openid", "records", "telemetry"]),
    ("hyper-util", &["bahay", "lab", "openid", "records", "telemetry"]),
    ("jsonwebtoken", &["auth", "openid"]),
    ("maud", &["bahay", "desk-ui"]),
    ("object_store", &["records"]),
    ("opentelemetry", &["telemetry"]),
    ("prometheus-client", &["bahay"]),
    ("redis", &["live-store"]),
    ("reqwest", &["client-tokio"]),
    ("ring", &["auth"]),
    ("rustix", &["bahay"]),
    ("socket2", &["rate-limit"]),
    ("sqlx", &["bahay", "db", "events", "jobs", "lab", "ledger", "notices", "records"]),
    ("tokio-tungstenite", &["bahay", "client-tokio", "lab"]),
    ("totp-rs", &["auth"]),
    ("tracing-subscriber", &["telemetry"]),
    ("uniffi", &["client-ffi"]),
    ("zstd", &["bahay", "records"]),
];

/// Reports packages without a line, dependencies on packages that their line does not permit, and
/// permitted ones that they do not have.
pub(crate) fn packages(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for (file, name) in manifests(files).filter(|(_, name)| *name != SERVICE) {
        let Some((_, permitted)) = PACKAGES.iter().find(|(package, _)| *package == name) else {
            complaints.push(format!(
                "{}:1: the package {name} has no line in PACKAGES: give it one in \
                 tests/tidy/packages.rs",
                file.path
            ));
            continue;
        };
        let dependencies: Vec<(usize, &str)> = dependencies(file)
            .filter_map(|(line, crate_name)| Some((line, crate_name.strip_prefix("bahay-")?)))
            .collect();
        for (line, other) in dependencies.iter().filter(|(_, other)| !permitted.contains(other)) {
            complaints.push(format!(
                "{}:{line}: {name} may not depend on {other}: arrows go down only",
                file.path
            ));
        }
        let is_unused = |other: &&&str| !dependencies.iter().any(|(_, one)| one == *other);
        for other in permitted.iter().filter(is_unused) {
            complaints.push(format!(
                "{}:1: {name} does not depend on {other}: remove it from its line in PACKAGES",
                file.path
            ));
        }
    }
    complaints
}

/// Reports packages with a restricted dependency, and permissions that a package does not use.
pub(crate) fn restricted_crates(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for (file, name) in manifests(files) {
        for (restricted, permitted) in RESTRICTED {
            let line = dependencies(file).find(|(_, one)| one == restricted).map(|(line, _)| line);
            match (line, permitted.contains(&name)) {
                (Some(line), false) => complaints.push(format!(
                    "{}:{line}: only {} may depend on {restricted}: ask one of them",
                    file.path,
                    permitted.join(", ")
                )),
                (None, true) => complaints.push(format!(
                    "{}:1: {name} does not depend on {restricted}: remove it from RESTRICTED",
                    file.path
                )),
                (Some(_), true) | (None, false) => {}
            }
        }
    }
    complaints
}

/// Returns the manifests of the packages, each with the package's short name.
fn manifests(files: &[File]) -> impl Iterator<Item = (&File, &str)> {
    files.iter().filter_map(|file| {
        if file.path == "Cargo.toml" {
            return Some((file, SERVICE));
        }
        let name = file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
        (!name.contains('/')).then_some((file, name))
    })
}

/// Returns the names of a package's dependencies with their lines.
fn dependencies(manifest: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut is_section = false;
    (1..).zip(manifest.text.lines()).filter_map(move |(number, line)| {
        if let Some(header) = line.strip_prefix('[') {
            // Of `[dependencies]`, `[target.'cfg(unix)'.dependencies]` and `[dependencies.NAME]`,
            // the last one names the dependency itself.
            let header = header.trim_end_matches(']');
            is_section = header == "dependencies"
                || header.starts_with("target.") && header.ends_with(".dependencies");
            return header.strip_prefix("dependencies.").map(|name| (number, name));
        }
        let end = line.find([' ', '.', '=']).filter(|_| is_section)?;
        (!line.starts_with('#')).then_some((number, &line[..end]))
    })
}
