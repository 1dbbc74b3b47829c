//! The tables of the database, and the modules that may write them.

use super::rust::Parts;
use super::{Complaints, File};

/// The modules of `src`, or packages, that may write a table. The functions of the database, which
/// migrations define, are not read: they act for the module that calls them.
const WRITERS: &[(&str, &[&str])] = &[
    ("accounts", &["ledger"]),
];

const STATEMENTS: [&str; 4] = ["insert into ", "update ", "delete from ", "merge into "];

/// Reports statements that write a table of another module, and tables without a line.
pub(super) fn written_tables(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    let is_source = |path: &str| {
        path.starts_with("src/") || path.starts_with("crates/") && path.contains("/src/")
    };
    for file in files.iter().filter(|file| file.is_rust() && is_source(&file.path)) {
        let mut parts = file.path.split(['/', '.']);
        let writer = match parts.next() {
            Some("crates") => parts.next().map(|name| format!("crates/{name}")),
            _ => parts.next().map(str::to_owned),
        };
        let writer = writer.unwrap_or_default();
        let text = file.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (line, literal) in Parts::of(text).strings {
            for table in written_in(&literal) {
                let Some((_, writers)) = WRITERS.iter().find(|(name, _)| *name == table) else {
                    continue;
                };
                if !writers.contains(&writer.as_str()) {
                    complaints.push(format!(
                        "{}:{line}: only {} may write the table {table}: ask it",
                        file.path,
                        writers.join(", ")
                    ));
                }
            }
        }
    }
    complaints
}

/// Returns the tables that the statements of a literal write.
fn written_in(literal: &str) -> Vec<String> {
    let sql = literal.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut tables = Vec::new();
    for statement in STATEMENTS {
        for (at, _) in sql.match_indices(statement) {
            let rest = &sql[at + statement.len()..];
            let name: String = rest
                .chars()
                .take_while(|letter| letter.is_ascii_lowercase() || *letter == '_')
                .collect();
            tables.push(name);
        }
    }
    tables
}
