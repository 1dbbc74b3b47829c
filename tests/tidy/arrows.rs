//! Imports between the modules of a package, compared with the tables of `layers.rs`.

use std::collections::{BTreeMap, BTreeSet};

use super::layers::{LAYERS, LEAVES};
use super::rust::paths;
use crate::{Complaints, File, read_table};

/// Reports imports that no arrow permits, and modules without a line.
pub(crate) fn arrows(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for (root, table) in LAYERS {
        let table = read_table(table);
        for (file, module, imports) in modules(files, root) {
            let Some((_, permitted)) = table.iter().find(|(name, _)| *name == module) else {
                complaints.push(format!(
                    "{}:1: the module {module} has no line in the table of arrows: give it one in \
                     tests/tidy/layers.rs",
                    file.path
                ));
                continue;
            };
            for (line, path) in imports {
                if !permitted.iter().any(|arrow| leads_to(arrow, &path)) {
                    complaints.push(format!(
                        "{}:{line}: {module} may not import {path}: arrows go down only; move \
                         what is needed below both, or pass it in",
                        file.path
                    ));
                }
            }
        }
    }
    complaints
}

/// Reports arrows that no import uses, and lines without a module.
pub(crate) fn unused_arrows(files: &[File]) -> Complaints {
    LAYERS.iter().flat_map(|(root, table)| unused_in(files, root, table)).collect()
}

/// Reports the unused arrows of one package.
pub(crate) fn unused_in(files: &[File], root: &str, table: &str) -> Complaints {
    let mut imported: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (_, module, imports) in modules(files, root) {
        imported.entry(module).or_default().extend(imports.into_iter().map(|(_, path)| path));
    }
    let mut complaints = Vec::new();
    for (module, permitted) in read_table(table) {
        let Some(imports) = imported.get(module) else {
            complaints.push(format!(
                "tests/tidy/layers.rs:1: {root}{module} does not exist: remove its line"
            ));
            continue;
        };
        let is_used = |arrow: &&&str| imports.iter().any(|path| leads_to(arrow, path));
        for arrow in permitted.iter().filter(|arrow| !is_used(arrow)) {
            complaints.push(format!(
                "tests/tidy/layers.rs:1: {root}{module} does not import {arrow}: remove the arrow"
            ));
        }
    }
    complaints
}

fn leads_to(arrow: &str, path: &str) -> bool {
    path.strip_prefix(arrow).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// A file with its module, and its imports of other modules with their lines.
type ModuleFile<'a> = (&'a File, &'a str, Vec<(usize, String)>);

/// Returns the files of a package.
fn modules<'a>(files: &'a [File], root: &str) -> Vec<ModuleFile<'a>> {
    let of_file = |file: &'a File| {
        let inner = file.path.strip_prefix(root)?.strip_suffix(".rs")?;
        let place: Vec<&str> = inner.split('/').filter(|part| *part != "mod").collect();
        let module = *place.first()?;
        if inner == "lib" {
            return None;
        }
        let mut code = file.code().to_owned();
        for (package, name) in LEAVES {
            code = code.replace(package, name);
        }
        let mut imports = paths(&code, &place);
        imports.retain(|(_, path)| {
            let target = path.split("::").next().unwrap_or_default();
            target != module && target.starts_with(|letter: char| letter.is_ascii_lowercase())
        });
        Some((file, module, imports))
    };
    files.iter().filter_map(of_file).collect()
}
