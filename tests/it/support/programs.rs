//! The programs of PostgreSQL, Redis and NATS, as `./dev` finds or installs them.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Returns a path from `./dev programs`: `PG_BIN`, the folder of PostgreSQL's programs,
/// `REDIS_SERVER` or `REDIS_CLI`.
pub(crate) fn program(name: &str) -> String {
    said(&["programs"], name)
}

/// Returns the path of the NATS server.
pub(crate) fn nats_server() -> String {
    said(&["programs", "nats"], "NATS_SERVER")
}

fn said(arguments: &[&str], name: &str) -> String {
    let dev = concat!(env!("CARGO_MANIFEST_DIR"), "/dev");
    let said = Command::new(dev).args(arguments).stderr(Stdio::inherit()).output();
    let said = said.expect("./dev runs").stdout;
    let said = String::from_utf8_lossy(&said);
    let programs: BTreeMap<_, _> = said.lines().filter_map(|line| line.split_once('=')).collect();
    (*programs.get(name).expect("./dev programs says where it is")).to_owned()
}
