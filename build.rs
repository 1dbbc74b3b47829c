//! Generates the list of the browser client's files for `src/http/pages/play.rs`. The client is built
//! from TypeScript by `./dev play build` and checked in; building the server requires only cargo.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder of the built browser client.
const CLIENT: &str = "play/dist";

/// The suffix of a file that contains another one in compressed form.
const COMPRESSED: &str = ".br";

fn main() {
    println!("cargo:rerun-if-changed={CLIENT}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the variable"));
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets the variable"));
    let list = list(&root.join(CLIENT));
    fs::write(target.join("play_files.rs"), list).expect("the output folder is writable");
}

/// Returns a Rust expression: a slice of `(name, bytes, compressed bytes)`, sorted by name.
fn list(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("play/dist is checked in");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("play/dist can be read").file_name())
        .map(|name| name.into_string().expect("a name in play/dist is UTF-8"))
        .collect();
    names.sort();
    // The path is relative to a variable that the compiler expands, so that the place of the build
    // is not part of the generated source.
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
