//! One version everywhere, and a section in the changelog for each released version. `./dev
//! release` writes all places (`scripts/release.py` has the same list).

use crate::{CONTRACTS, Complaints, File};

/// A place: its file, the beginning of the line before the version, the beginning of the version's
/// line, and the least number of occurrences.
const PLACES: &[(&str, &str, &str, usize)] = &[
    ("Cargo.toml", "[workspace.package]", "version = \"", 1),
    ("Cargo.lock", "name = \"bahay", "version = \"", 1),
    ("fuzz/Cargo.lock", "name = \"bahay-engine", "version = \"", 1),
    ("clients/typescript/package.json", "\"name\": \"bahay-client\"", "\"version\": \"", 1),
    ("clients/typescript/package-lock.json", "\"name\": \"bahay-client\"", "\"version\": \"", 2),
    (EXAMPLE, IMAGE, "newTag: ", 1),
    (MIGRATION, IMAGE, "newTag: ", 1),
];

/// The example of an installation in a cluster, with its image.
const EXAMPLE: &str = "containers/kubernetes/example/kustomization.yaml";
const MIGRATION: &str = "containers/kubernetes/example/migration/kustomization.yaml";
const IMAGE: &str = "newName: registry.example/bahay";

const CHANGES: &str = "CHANGELOG.md";

/// Returns all versions in a file with their lines.
fn carried(file: &File) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = file.text.lines().collect();
    if CONTRACTS.contains(&&*file.path) {
        // The version is in the first object, `info`.
        let versions =
            (1..).zip(lines).map(|(line, text)| (line, text.strip_prefix("  version: ")));
        return versions.filter_map(|(line, version)| Some((line, version?))).take(1).collect();
    }
    let mut found = Vec::new();
    for (_, before, prefix, _) in PLACES.iter().filter(|place| place.0 == file.path) {
        for (line, pair) in (2..).zip(lines.windows(2)) {
            if pair[0].trim_start().starts_with(before)
                && let Some(version) = pair[1].trim_start().strip_prefix(prefix)
            {
                found.push((line, version.trim_end_matches(['"', ','])));
            }
        }
    }
    found
}

/// Returns the released versions, the newest first, with their lines.
fn released(changes: &str) -> Vec<(usize, &str)> {
    let sections = (1..).zip(changes.lines());
    let versions = sections.filter_map(|(line, text)| {
        Some((line, text.strip_prefix("## [")?.split(']').next().unwrap_or_default()))
    });
    versions.filter(|(_, it)| it.starts_with(|letter: char| letter.is_ascii_digit())).collect()
}

/// Returns true for the manifest of a package of the workspace.
fn is_manifest(path: &str) -> bool {
    path == "Cargo.toml" || path.starts_with("crates/") && path.ends_with("/Cargo.toml")
}

/// Reports places with another version than Cargo.toml, and versions without a section in the
/// changelog.
pub(crate) fn versions(files: &[File]) -> Complaints {
    let file = |path: &str| files.iter().find(|file| file.path == path);
    let Some(version) = file("Cargo.toml").and_then(|file| carried(file).first().map(|one| one.1))
    else {
        return vec!["Cargo.toml:1: the workspace has no version: give it one".to_owned()];
    };
    let mut complaints = Vec::new();
    let contracts = CONTRACTS.iter().map(|path| (*path, 1));
    for (path, count) in PLACES.iter().map(|place| (place.0, place.3)).chain(contracts) {
        let found = file(path).map(carried).unwrap_or_default();
        if found.len() < count {
            let seen = found.len();
            complaints
                .push(format!("{path}:1: {seen} versions instead of {count}: write {version}"));
        }
        for (line, other) in found.into_iter().filter(|(_, other)| *other != version) {
            complaints.push(format!("{path}:{line}: {other} is not the {version} of Cargo.toml"));
        }
    }
    for manifest in files.iter().filter(|file| is_manifest(&file.path)) {
        if !manifest.text.lines().any(|line| line == "version.workspace = true") {
            let path = &manifest.path;
            complaints
                .push(format!("{path}:1: a version of its own: write version.workspace = true"));
        }
    }
    let changes = file(CHANGES).map_or("", |file| &file.text);
    match released(changes).first() {
        Some((_, newest)) if *newest == version => {}
        Some((line, newest)) => complaints
            .push(format!("{CHANGES}:{line}: {newest} is not the {version} of Cargo.toml")),
        None if version.starts_with("0.") && changes.contains("\n## [Unreleased]\n") => {}
        None => complaints.push(format!("{CHANGES}:1: no section for {version}: write one")),
    }
    complaints
}

#[test]
fn a_version_of_its_own_is_found_in_each_place() {
    let files = crate::repository();
    let find = |path: &str| files.iter().find(|file| file.path == path).expect("it is there");
    let carried_by_workspace = carried(find("Cargo.toml"));
    let version = carried_by_workspace.first().expect("the workspace has a version").1;
    let with = |path: &str, text: &str| {
        let others = files.iter().filter(|file| file.path != path);
        let mut files: Vec<File> = others.map(|file| File::new(&file.path, &file.text)).collect();
        files.push(File::new(path, text));
        versions(&files)
    };
    for path in PLACES.iter().map(|place| place.0).chain(CONTRACTS) {
        let file = find(path);
        for (line, _) in carried(file) {
            let mut lines: Vec<String> = file.text.lines().map(str::to_owned).collect();
            lines[line - 1] = lines[line - 1].replace(version, "9.9.9");
            assert!(!with(path, &lines.join("\n")).is_empty(), "{path}:{line}");
        }
        assert!(!with(path, "").is_empty(), "{path} without a version");
    }
    let own = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n";
    assert_eq!(with("crates/x/Cargo.toml", own).len(), 1);
    let section =
        |version: &str| with(CHANGES, &format!("# Changes\n\n## [{version}] - 2001-01-01\n"));
    assert!(section(version).is_empty());
    assert_eq!(section("9.9.9").len(), 1);
    assert_eq!(with(CHANGES, "# Changes\n").len(), 1);
}
