//! The packages without I/O name nothing that blocks or reads external state.

use crate::{Complaints, File, lines_with};

/// Names banned in the packages without I/O: anything that blocks or reads external state.
const PURE: &[(&str, &[&str])] = &[
    ("crates/bots/src/", NO_STD),
    ("crates/client/src/", WAITING),
    ("crates/engine/src/", NO_STD),
    ("crates/protocol/src/", WAITING),
    ("crates/shell/src/", WAITING),
];

/// The names banned in a package without the standard library.
const NO_STD: &[&str] = &["tokio::", "redis::", "sqlx::", "axum::", "std::"];

/// Crates and modules that block or read external state.
const WAITING: &[&str] = &[
    "tokio::",
    "redis::",
    "sqlx::",
    "axum::",
    "getrandom::",
    "std::thread",
    "std::time",
    "std::net",
    "std::fs",
    "std::io",
    "std::env",
    "std::process",
];

pub(crate) fn purity(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for (root, banned) in PURE {
        for file in files.iter().filter(|file| file.is_rust() && file.path.starts_with(root)) {
            // One of our modules may have the name of the service that it models. The epoch is a
            // value and reads no clock.
            let code = file
                .code()
                .replace("crate::simulation::services::redis::", "")
                .replace("std::time::UNIX_EPOCH", "");
            for name in *banned {
                for line in lines_with(&code, name) {
                    complaints.push(format!(
                        "{}:{line}: {name} has no place in a package without I/O: let a driver do \
                         it, or take it as an argument",
                        file.path
                    ));
                }
            }
        }
    }
    complaints
}
