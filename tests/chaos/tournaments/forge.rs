//! Forged evidence of tournaments.

use serde_json::{Value, json};

use super::TournamentEvidence;
use crate::forge::Forgery;

/// Forges the evidence of the tournaments.
pub(crate) fn forge(forgery: Forgery, evidence: &mut TournamentEvidence) {
    match forgery {
        Forgery::Prize => change_places(evidence, |places| {
            let prize = places[0]["prize"].as_i64().unwrap_or_default();
            places[0]["prize"] = json!(prize + 100);
        }),
        Forgery::Place => change_places(evidence, |places| {
            places.pop();
        }),
        Forgery::Account => {
            if let Some(tournament) = evidence.tournaments.first_mut() {
                tournament.balance = 100;
            }
        }
        Forgery::Wallet => {
            if let Some(wallet) = evidence.wallets.values_mut().next() {
                wallet.balance -= 100;
            }
        }
        Forgery::Absence => {
            let players: Vec<_> = evidence.wallets.keys().copied().collect();
            for absent in evidence.absent.values_mut() {
                absent.clone_from(&players);
            }
        }
        _ => {}
    }
}

/// Changes the first places that a tournament has given.
fn change_places(evidence: &mut TournamentEvidence, change: impl FnOnce(&mut Vec<Value>)) {
    let mut results = evidence.tournaments.iter_mut().flat_map(|one| &mut one.results);
    let placed = results.find(|result| result["type"] == "placed");
    if let Some(places) = placed.and_then(|result| result["places"].as_array_mut()) {
        change(places);
    }
}
