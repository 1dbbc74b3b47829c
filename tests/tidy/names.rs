//! Names that only some modules may use: crates behind a door, and the clocks. Names that none may
//! use: banned items.

use crate::{Complaints, File, lines_with, read_table};

/// Crates that only these modules of `src` may name. `packages.rs` has the packages that may depend
/// on a crate.
const DOORS: &str = "
axum: http operators problem ws
argon2: accounts
# Modules that read for REST read its bodies. Tables, the lobby and the socket know none.
bahay_api: accounts archive cli http operators problem reports rooms social standings
    tournaments
hyper: http
hyper_util: cli http
maud: http
prometheus_client: metrics months verify
qrcodegen: http
# `app` and `config` name the pool, its options and its error, and no query.
sqlx: accounts app archive config grant_limits idempotency jobs months operators
    passes projections ratings reports retention rewards rooms social standings tournaments verify
zstd: http
# axum's socket reports unreadable frames by these errors.
tokio_tungstenite: ws
";

/// The clocks, and the modules that may name them.
const CLOCKS: &str = "
Timestamp::now: crates/base/src/clock.rs
# Monotonic time, for limits and timeouts that no table records.
Instant: crates/base/src/clock.rs crates/rate-limit/src/token_buckets.rs
    src/http/core/connection/connection_limits.rs src/http/core/connection/slow_reader.rs
    src/ws/session/chat.rs src/ws/session/command_rate.rs src/ws/session/mod.rs
";

/// Banned items, with their replacements.
const BANNED: &[(&str, &str)] = &[
    ("#[ignore", "mend the test or delete it"),
    ("todo!", "do it, or leave it out"),
    ("unimplemented!", "do it, or leave it out"),
    ("dbg!", "log through tracing, or delete it"),
    ("#[allow(", "use #[expect(…, reason = \"…\")]"),
    ("SystemTime", "take the time as an argument, or a Clock"),
    ("#![allow(", "use #![expect(…, reason = \"…\")]"),
];

/// Items banned in the service, with their replacements.
const BANNED_IN_SERVICE: &[(&str, &str)] =
    &[(".begin()", "use db::begin: a caller that stops waiting leaves no transaction open")];

/// Reports crates named by modules of `src` that have no door to them.
pub(crate) fn doors(files: &[File]) -> Complaints {
    uses_elsewhere(files, DOORS, module, "ask one of them")
}

/// Reports clocks named by files that have to be given the time.
pub(crate) fn clocks(files: &[File]) -> Complaints {
    uses_elsewhere(files, CLOCKS, source, "take the time as an argument, or a Clock")
}

/// Reports places of `DOORS` and `CLOCKS` that do not use their name.
pub(crate) fn unused_doors(files: &[File]) -> Complaints {
    let mut complaints = unused(files, DOORS, module);
    complaints.extend(unused(files, CLOCKS, source));
    complaints
}

pub(crate) fn banned(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let is_service = file.path.starts_with("src/");
        let in_service = BANNED_IN_SERVICE.iter().filter(|_| is_service);
        for (banned, instead) in BANNED.iter().chain(in_service) {
            for line in lines_with(file.code(), banned) {
                complaints.push(format!("{}:{line}: {banned} is banned: {instead}", file.path));
            }
        }
    }
    complaints
}

/// Returns the module of `src` to which a file belongs.
pub(crate) fn module(file: &File) -> Option<&str> {
    file.path.strip_prefix("src/").and_then(|path| path.split(['/', '.']).next())
}

/// Returns the path of a file of a package's source.
fn source(file: &File) -> Option<&str> {
    file.source_root().map(|_| file.path.as_str())
}

/// Reports the uses of names outside of their places. Files without a place are not read.
fn uses_elsewhere(
    files: &[File],
    table: &str,
    place: fn(&File) -> Option<&str>,
    remedy: &str,
) -> Complaints {
    let table = read_table(table);
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(place) = place(file) else { continue };
        for (name, places) in table.iter().filter(|(_, places)| !places.contains(&place)) {
            let places = places.join(", ");
            for line in lines_with(file.code(), name) {
                complaints.push(format!(
                    "{}:{line}: {name} may be named only in {places}: {remedy}",
                    file.path
                ));
            }
        }
    }
    complaints
}

/// Reports places without a use of their name.
pub(crate) fn unused(files: &[File], table: &str, place: fn(&File) -> Option<&str>) -> Complaints {
    let mut complaints = Vec::new();
    for (name, places) in read_table(table) {
        for at in places {
            let mut there = files.iter().filter(|file| file.is_rust() && place(file) == Some(at));
            if there.all(|file| lines_with(file.code(), name).is_empty()) {
                complaints.push(format!(
                    "tests/tidy/names.rs:1: {at} does not use {name}: remove it from the places"
                ));
            }
        }
    }
    complaints
}
