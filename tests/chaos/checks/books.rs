//! The books: the result of `bahay verify ledger`, every record by itself, and the sum of all
//! coins.

use super::Facts;
use crate::evidence::{Books, Evidence};

pub(super) fn ledger(evidence: &Evidence) -> Facts {
    let mut facts = Facts::default();
    let Books { ledger_holds, ledger_said, .. } = &evidence.books;
    if !ledger_holds {
        let mut said = ledger_said.lines().skip_while(|line| !line.contains("differences"));
        facts.add(|| said.next().map_or_else(|| ledger_said.clone(), str::to_owned));
        said.for_each(|line| facts.add(|| line.trim().to_owned()));
    }
    facts
}

pub(super) fn records(evidence: &Evidence) -> Facts {
    let mut facts = Facts::default();
    for (id, game) in &evidence.games {
        match (&*game.state, &game.document) {
            ("settled", Some(document)) => {
                if let Err(error) = bahay::verify::verify(document) {
                    facts.add(|| format!("game {id}: {error}"));
                }
            }
            ("settled", None) => facts.add(|| format!("game {id} is settled without a record")),
            (_, Some(_)) => facts.add(|| format!("game {id} is {} with a record", game.state)),
            (_, None) => {}
        }
    }
    facts
}

pub(super) fn coins(evidence: &Evidence) -> Facts {
    let mut facts = Facts::default();
    let Books { granted, wallets, stakes, pots, tournaments, fees, .. } = evidence.books;
    if wallets + stakes + pots + tournaments + fees != granted {
        facts.add(|| {
            format!(
                "in hundredths, wallets hold {wallets}, stakes {stakes}, POTs {pots}, tournaments \
                 {tournaments}, the house earned {fees}, and {granted} were granted"
            )
        });
    }
    facts
}
