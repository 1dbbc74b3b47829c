//! Tables in Redis after the faults: every busy table has a deadline that some node watches, and
//! makes progress; at the end no game is left open.

use super::Facts;
use crate::evidence::{Evidence, Tables};

pub(super) fn check(evidence: &Evidence) -> Facts {
    let mut facts = Facts::default();
    let Tables { then, later, after_ms } = &evidence.tables;
    for table in then {
        if let Some(error) = &table.broken {
            facts.add(|| format!("table {} cannot go on: {error}", table.id));
        }
        if table.needs_deadline && table.due.is_none() {
            facts.add(|| {
                format!(
                    "table {} is {} at version {} and in no set of deadlines",
                    table.id, table.phase, table.version
                )
            });
        }
        if table.stands_still(later) {
            facts.add(|| {
                format!(
                    "table {} is {} and has been at version {} for {after_ms} ms",
                    table.id, table.phase, table.version
                )
            });
        }
    }
    for (id, game) in &evidence.games {
        if game.state == "open" {
            facts.add(|| format!("game {id} was never finished"));
        }
    }
    facts
}
