//! The tables of the database, and the modules that may write them.

use super::rust::Parts;
use super::{Complaints, File};

/// The modules of `src`, or packages, that may write a table. The functions of the database, which
/// migrations define, are not read: they act for the module that calls them.
const WRITERS: &[(&str, &[&str])] = &[
    ("accounts", &["ledger"]),
    ("archive_dictionaries", &["crates/records"]),
    ("audit_entries", &["operators"]),
    ("board_scores", &["standings"]),
    ("booked_hours", &["reports"]),
    ("corrections", &["operators"]),
    ("devices", &["accounts"]),
    ("entries", &["ledger"]),
    ("game_results", &["standings"]),
    ("grant_counts", &["grant_limits", "retention"]),
    ("halted_tables", &["archive"]),
    ("held_by_kind", &["reports"]),
    ("held_pots", &["reports"]),
    ("house", &["rooms"]),
    ("idempotency_keys", &["idempotency", "retention"]),
    ("identities", &["accounts"]),
    ("jobs", &["crates/jobs"]),
    ("ledger_checks", &["verify"]),
    ("name_skeletons", &["accounts"]),
    ("newcomer_coins", &["reports"]),
    ("notices", &["notices", "retention"]),
    ("operation_hours", &["reports"]),
    ("operator_browsers", &["operators"]),
    ("operator_credentials", &["operators"]),
    ("operator_enrolments", &["operators"]),
    ("operator_issuances", &["operators"]),
    ("operator_sessions", &["operators", "retention"]),
    ("operators", &["operators"]),
    ("owner_settings", &["crates/db"]),
    ("passwords", &["accounts"]),
    ("pending_house_entries", &["ledger"]),
    ("player_counters", &["standings"]),
    ("player_notes", &["accounts", "operators"]),
    ("player_relations", &["accounts", "social"]),
    ("player_reports", &["social"]),
    ("player_settlements", &["reports"]),
    ("player_statistics", &["standings"]),
    ("players", &["accounts", "crates/lab"]),
    ("projections", &["projections"]),
    ("ratings", &["ratings"]),
    ("refresh_tokens", &["accounts", "retention"]),
    ("rewards", &["rewards"]),
    ("room_revisions", &["rooms"]),
    ("rooms", &["rooms"]),
    ("sanctions", &["accounts"]),
    ("seals", &["ledger"]),
    ("sessions", &["accounts", "retention"]),
    ("settlement_days", &["reports"]),
    ("settlements", &["reports"]),
    ("sign_in_failures", &["accounts", "retention"]),
    ("used_nonces", &["accounts", "retention"]),
];

const STATEMENTS: [&str; 4] = ["insert into ", "update ", "delete from ", "merge into "];

/// Reports statements that write a table of another module, and tables without a line.
pub(super) fn written_tables(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    let migrations = files.iter().filter(|file| file.path.starts_with("migrations/"));
    let created: Vec<&str> = migrations.flat_map(|file| created_in(&file.text)).collect();
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
                    if created.contains(&table.as_str()) {
                        complaints.push(format!(
                            "{}:{line}: the table {table} has no line in WRITERS: give it one in \
                             tests/tidy/tables.rs",
                            file.path
                        ));
                    }
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

/// Returns the tables that a migration creates.
fn created_in(migration: &str) -> impl Iterator<Item = &str> {
    let names = migration.lines().filter_map(|line| line.strip_prefix("create table "));
    names.filter_map(|rest| rest.split([' ', '(']).next())
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
