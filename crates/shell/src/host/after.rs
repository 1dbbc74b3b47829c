//! What follows a line that was applied: seats and claims, the room's list, a snapshot in place of a
//! long journal.

use std::collections::VecDeque;

use bahay_engine::coins::Coins;
use bahay_engine::table::{Event, Phase, Readable, Table};

use super::Call;
use crate::codec::write_table;
use crate::context::Context;
use crate::replica::{AppliedLine, Replica};
use crate::watchers::Listing;

/// After seats were taken or freed the players' claims and the room's list follow.
pub(super) fn after_seats<G: Readable>(
    table: &Table<G>,
    applied: &AppliedLine<G>,
) -> VecDeque<Call> {
    let mut calls = VecDeque::new();
    let mut changed = false;
    for event in applied.events.iter() {
        match event {
            // Without a POT a table that nobody sits at need not be listed.
            Event::Sat { .. } | Event::PotReturned { .. } => changed = true,
            Event::Left { player, .. } => {
                changed = true;
                calls.push_back(Call::Release { player: *player });
            }
            _ => {}
        }
    }
    if changed {
        calls.push_back(Call::List(Listing::of(table)));
    }
    calls
}

/// The snapshot that is to take the place of a long journal.
pub(super) fn compaction<G: Readable>(ctx: &impl Context<G>, replica: &Replica<G>) -> Option<Call> {
    let (table, limits) = (replica.table(), ctx.limits());
    let most = match table.phase().is_running() {
        true => limits.journal_lines_in_game,
        false => limits.journal_lines,
    };
    // A snapshot tells everybody how many lines there were, so it stands where the last one is seen
    // by everybody.
    if replica.journal_lines() < most || !replica.shown().is_to_everybody(replica.at()) {
        return None;
    }
    let snapshot = write_table(table).ok()?;
    Some(Call::Compact { at: replica.at(), snapshot })
}

/// Nobody sits there and nothing is left to win, nor to give back.
pub(super) fn is_idle<G: Readable>(table: &Table<G>) -> bool {
    matches!(table.phase(), Phase::Waiting) && table.is_deserted() && table.pot() == Coins::ZERO
}
