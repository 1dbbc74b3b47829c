//! The programs of PostgreSQL, Redis and NATS, as `./dev` finds or installs them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns a path from `./dev programs`: `PG_BIN`, the folder of PostgreSQL's programs,
/// `REDIS_SERVER`, `REDIS_CLI` or `NATS_SERVER`.
pub(crate) fn program(name: &str) -> String {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dev = package.ancestors().map(|folder| folder.join("dev")).find(|dev| dev.is_file());
    let mut dev = Command::new(dev.expect("the tests run in a checkout"));
    dev.arg("programs").args((name == "NATS_SERVER").then_some("nats")).stderr(Stdio::inherit());
    let output = dev.output().expect("./dev runs").stdout;
    let output = String::from_utf8_lossy(&output);
    let programs: BTreeMap<_, _> = output.lines().filter_map(|line| line.split_once('=')).collect();
    (*programs.get(name).expect("./dev programs prints the path")).to_owned()
}
