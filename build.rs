//! Tells cargo that a new migration is a reason to build again, and lists the files of the browser
//! client for `src/http/play.rs`. The client is built from TypeScript by `./dev play build` and
//! checked in; nothing but cargo is needed here.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the browser client is built into.
const CLIENT: &str = "play/dist";

/// What stands behind the name of a file that holds another one in compressed form.
const COMPRESSED: &str = ".br";

fn main() {
    println!("cargo:rerun-if-changed=migrations");
    println!("cargo:rerun-if-changed={CLIENT}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where this is"));
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where results belong"));
    let list = list(&root.join(CLIENT));
    fs::write(target.join("play_files.rs"), list).expect("the folder for results is ours");
}

/// An expression: a list of `(name, bytes, compressed bytes)`, by name.
fn list(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("play/dist is checked in");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("play/dist can be read").file_name())
        .map(|name| name.into_string().expect("a name in play/dist is plain"))
        .collect();
    names.sort();
    // By a path that the compiler knows, so that where this was built is not part of what is compiled.
    let include = |name: &str| {
        format!(
            "include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?}))",
            format!("/{CLIENT}/{name}")
        )
    };
    let mut list = String::from("&[\n");
    for name in names.iter().filter(|name| !name.ends_with(COMPRESSED)) {
        let compressed = format!("{name}{COMPRESSED}");
        let compressed = match names.binary_search(&compressed) {
            Ok(_) => format!("Some({})", include(&compressed)),
            Err(_) => "None".to_owned(),
        };
        writeln!(list, "    ({name:?}, {}, {compressed}),", include(name))
            .expect("writing to a string succeeds");
    }
    list.push_str("]\n");
    list
}
