//! The tables of the database, and the modules that may write them.

use super::rust::Parts;
use crate::{Complaints, File, read_table};

/// The modules of `src`, or packages, with the tables that each may write. The functions of the
/// database, which migrations define, are not read: they act for the module that calls them.
const WRITERS: &str = "
accounts: devices identities name_skeletons pair_reviews passwords player_notes player_relations players
    refresh_tokens sanctions sessions sign_in_failures tournament_passes used_nonces
archive: game_records halted_tables tournament_games
crates/db: owner_settings
crates/jobs: jobs
crates/lab: players
crates/ledger: account_operations accounts seals unsealed_operations
crates/notices: notices
crates/records: archive_dictionaries
grant_limits: grant_counts
idempotency: idempotency_keys
operators: audit_entries corrections operator_browsers operator_credentials operator_enrolments
    operator_issuances operator_sessions operators pair_reviews player_notes
passes: tournament_passes
projections: projections
ratings: ratings
reports: booked_hours held_by_kind held_pots newcomer_coins operation_hours pair_days player_days
    player_settlements settlement_days settlements
retention: grant_counts idempotency_keys notices operator_sessions pair_days refresh_tokens
    sessions sign_in_failures used_nonces
rewards: rewards
rooms: house room_revisions rooms
social: player_relations player_reports
standings: board_scores game_results player_counters player_statistics
tournaments: tournament_entrants tournament_guarantees tournament_lines tournament_requests
    tournament_schedules tournament_starts tournaments
verify: ledger_checks
";

const STATEMENTS: [&str; 4] = ["insert into ", "update ", "delete from ", "merge into "];

/// Reports statements that write a table of another module, and tables without a line.
pub(crate) fn written_tables(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    let writers = read_table(WRITERS);
    let writers_of = |table: &str| -> Vec<&str> {
        let allowed = writers.iter().filter(|(_, tables)| tables.contains(&table));
        allowed.map(|(writer, _)| *writer).collect()
    };
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
                let allowed = writers_of(&table);
                if allowed.is_empty() && created.contains(&table.as_str()) {
                    complaints.push(format!(
                        "{}:{line}: the table {table} has no writer in WRITERS: give it one in \
                         tests/tidy/tables.rs",
                        file.path
                    ));
                } else if !allowed.is_empty() && !allowed.contains(&writer.as_str()) {
                    complaints.push(format!(
                        "{}:{line}: only {} may write the table {table}: ask it",
                        file.path,
                        allowed.join(", ")
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
