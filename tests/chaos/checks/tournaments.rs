//! Tournaments: everybody has a place and every coin an owner, as far as the public lists of results,
//! the accounts and the wallets tell, and nobody who was there lost a game to the AI.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use bahay_engine::table::PlayerId;
use serde_json::Value;

use super::Facts;
use super::walk::JournalWalk;
use crate::tournaments::TournamentEvidence;
use crate::tournaments::evidence::{Tournament, Wallet};

/// The verifier, which shares no code with the house.
const VERIFIER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/verify_tournament.py");

/// The time that a player who is back has to take the seat back from the AI, in ms.
const PRESENT_MS: u64 = 5_000;

fn player_of(value: &Value) -> Option<PlayerId> {
    value["player"].as_str()?.parse().ok()
}

/// Returns the players whose entries count.
fn entrants(tournament: &Tournament) -> BTreeSet<PlayerId> {
    let mut entered = BTreeSet::new();
    for result in &tournament.results {
        match result["type"].as_str() {
            Some("entered") => entered.extend(player_of(result)),
            Some("withdrawn") => {
                if let Some(player) = player_of(result) {
                    entered.remove(&player);
                }
            }
            _ => {}
        }
    }
    entered
}

fn places(tournament: &Tournament) -> impl Iterator<Item = &Value> {
    let placed = tournament.results_of("placed");
    placed.flat_map(|result| result["places"].as_array().into_iter().flatten())
}

/// Checks that each tournament is over, that its account is empty, and that its entrants have one
/// place each.
pub(super) fn check_places(evidence: &TournamentEvidence) -> Facts {
    let mut facts = Facts::default();
    for tournament in &evidence.tournaments {
        let name = tournament.name();
        let entered = entrants(tournament);
        let Tournament { state, balance, is_closed, .. } = tournament;
        if *balance != 0 {
            facts.add(|| format!("{name}: its account holds {balance} hundredths"));
        }
        match state.as_str() {
            "ended" => {
                let mut left = entered.clone();
                for place in places(tournament) {
                    let known = player_of(place).is_some_and(|player| left.remove(&player));
                    if !known {
                        facts.add(|| format!("{name}: a place too many: {place}"));
                    }
                }
                for player in left {
                    facts.add(|| format!("{name}: {player} has no place"));
                }
            }
            // Too few had entered at the start.
            "cancelled" => {}
            "announced" if entered.is_empty() => continue,
            _ => facts.add(|| format!("{name} is {state}")),
        }
        if !is_closed {
            facts.add(|| format!("{name}: its account is not closed"));
        }
    }
    if evidence.tournaments.is_empty() {
        facts.add(|| "no tournament was played".to_owned());
    }
    facts
}

/// Checks that each wallet has what was granted, less the entries, and the prizes and refunds.
pub(super) fn check_wallets(evidence: &TournamentEvidence) -> Facts {
    let mut facts = Facts::default();
    let mut changes: BTreeMap<PlayerId, i64> = BTreeMap::new();
    for tournament in &evidence.tournaments {
        let is_refunded = tournament.state == "cancelled"
            && tournament.results_of("game_scored").next().is_none();
        if is_refunded {
            continue;
        }
        for player in entrants(tournament) {
            *changes.entry(player).or_default() -= tournament.price;
        }
        let refunds = tournament
            .results_of("cancelled")
            .flat_map(|result| result["refunds"].as_array().into_iter().flatten());
        let refunds = refunds.map(|refund| (refund, "amount"));
        for (paid, field) in places(tournament).map(|place| (place, "prize")).chain(refunds) {
            if let Some(player) = player_of(paid) {
                *changes.entry(player).or_default() += paid[field].as_i64().unwrap_or_default();
            }
        }
    }
    for (player, Wallet { granted, balance }) in &evidence.wallets {
        let change = changes.remove(player).unwrap_or_default();
        if granted + change != *balance {
            facts.add(|| {
                format!("{player} was granted {granted}, won {change} and has {balance} hundredths")
            });
        }
    }
    for player in changes.keys() {
        facts.add(|| format!("{player} played and has no wallet"));
    }
    facts
}

/// Checks the lists of results by the verifier in Python.
pub(super) fn check_results(evidence: &TournamentEvidence) -> Facts {
    let mut facts = Facts::default();
    let folder = std::env::temp_dir().join(format!("chaos-results-{}", uuid::Uuid::new_v4()));
    match run_verifier(evidence, &folder) {
        Ok(verdicts) => {
            let wrong = verdicts.iter().filter(|verdict| !verdict.starts_with("verified: "));
            wrong.for_each(|verdict| facts.add(|| verdict.clone()));
            let (got, expected) = (verdicts.len(), evidence.tournaments.len());
            if got < expected {
                facts.add(|| format!("the verifier has said {got} verdicts of {expected}"));
            }
        }
        Err(error) => facts.add(|| format!("the verifier did not run: {error}")),
    }
    // Nothing else is in the folder, and a leftover does no harm.
    let _ = fs::remove_dir_all(folder);
    facts
}

fn run_verifier(
    evidence: &TournamentEvidence,
    folder: &std::path::Path,
) -> std::io::Result<Vec<String>> {
    fs::create_dir(folder)?;
    let mut command = Command::new("python3");
    command.arg("-B").arg(VERIFIER);
    for tournament in &evidence.tournaments {
        let lines: Vec<String> = tournament.results.iter().map(Value::to_string).collect();
        let path = folder.join(format!("{}.jsonl", tournament.id));
        fs::write(&path, lines.join("\n"))?;
        command.arg(path);
    }
    let output = command.output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Checks that the AI has ended no game for a player who had been back at the table for some time: a
/// lost connection costs at most the games that are played meanwhile.
pub(super) fn check_presence(evidence: &TournamentEvidence, walked: &[JournalWalk]) -> Facts {
    let mut facts = Facts::default();
    for client in walked {
        let Some(player) = client.player else { continue };
        for finished in &client.finished {
            let was_absent = evidence.absent.get(&finished.game);
            let was_absent = was_absent.is_some_and(|absent| absent.contains(&player));
            let present_ms = finished.at_ms.saturating_sub(finished.since_ms);
            if was_absent && present_ms > PRESENT_MS {
                let (number, game, at_ms) = (client.client, finished.game, finished.at_ms);
                facts.add(|| {
                    format!(
                        "client {number} at {at_ms} ms: the AI ended game {game}, and the player \
                         had been there for {present_ms} ms"
                    )
                });
            }
        }
    }
    facts
}
