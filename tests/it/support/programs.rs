//! The programs of PostgreSQL, Redis and NATS, as `./dev` finds or installs them.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Returns a path from `./dev programs`: `PG_BIN`, the folder of PostgreSQL's programs,
/// `REDIS_SERVER` or `REDIS_CLI`.
pub(crate) fn program(name: &str) -> String {
    find_program(&["programs"], name)
}

/// Returns the path of the NATS server.
pub(crate) fn nats_server() -> String {
    find_program(&["programs", "nats"], "NATS_SERVER")
}

fn find_program(arguments: &[&str], name: &str) -> String {
    let dev = concat!(env!("CARGO_MANIFEST_DIR"), "/dev");
    let output = Command::new(dev).args(arguments).stderr(Stdio::inherit()).output();
    let output = output.expect("./dev runs").stdout;
    let output = String::from_utf8_lossy(&output);
    let programs: BTreeMap<_, _> = output.lines().filter_map(|line| line.split_once('=')).collect();
    (*programs.get(name).expect("./dev programs prints the path")).to_owned()
}
