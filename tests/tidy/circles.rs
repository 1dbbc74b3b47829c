//! No import circles: within a package, the files that import each other directly or by a detour.
//!
//! A file that has a folder of its own (`mod.rs`, or `x.rs` beside `x/`) is a face. It names its
//! parts and is named by them, so it is not part of the graph. Unit tests are not read.

use std::collections::{BTreeMap, BTreeSet};

use super::rust::paths;
use crate::{Complaints, File};

/// The modules of one package by their path, with the modules that each imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Reports one complaint for each circle.
pub(crate) fn circles(files: &[File]) -> Complaints {
    let mut packages: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        if let Some(root) = file.source_root() {
            packages.entry(root).or_default().push(file);
        }
    }
    let mut complaints = Vec::new();
    for (root, files) in packages {
        let graph = imports(root, &files);
        for circle in find_circles(&graph) {
            complaints.push(format!(
                "{root}{}.rs:1: a circle of imports: {}; move what they share below them",
                circle[0].replace("::", "/"),
                circle.join(", ")
            ));
        }
    }
    complaints
}

fn imports(root: &str, files: &[&File]) -> Graph {
    let module = |file: &File| file.path[root.len()..].trim_end_matches(".rs").to_owned();
    let all: BTreeSet<String> = files.iter().map(|file| module(file)).collect();
    let is_face = |name: &str| {
        let folder = format!("{name}/");
        name == "lib"
            || name == "mod"
            || name.ends_with("/mod")
            || all.iter().any(|other| other.starts_with(&folder))
    };
    let leaves: BTreeSet<String> =
        all.iter().filter(|name| !is_face(name)).map(|name| name.replace('/', "::")).collect();
    let mut graph = Graph::new();
    for file in files {
        let name = module(file).replace('/', "::");
        if !leaves.contains(&name) {
            continue;
        }
        let place: Vec<&str> = name.split("::").collect();
        let imported = paths(file.code_without_tests(), &place).into_iter();
        let imported = imported.filter_map(|(_, path)| leaf_of(&path, &leaves));
        graph.insert(name.clone(), imported.filter(|other| *other != name).collect());
    }
    graph
}

/// Returns the file in which a path ends.
fn leaf_of(path: &str, leaves: &BTreeSet<String>) -> Option<String> {
    let mut path = path;
    loop {
        if leaves.contains(path) {
            return Some(path.to_owned());
        }
        path = path.rsplit_once("::")?.0;
    }
}

/// Returns the sets of modules that reach each other, each sorted.
fn find_circles(graph: &Graph) -> BTreeSet<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (module.as_str(), reachable(graph, module))).collect();
    let circle_of = |module: &'_ str| -> Vec<&str> {
        let others = reached[module].iter();
        others.filter(|other| reached[*other].contains(module)).copied().collect()
    };
    reached.keys().map(|module| circle_of(module)).filter(|circle| circle.len() > 1).collect()
}

/// Returns the modules that the imports of a module lead to.
fn reachable<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if found.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    found
}
