//! The calls that follow an applied line: seat claims, the room's list, no-shows, and a snapshot
//! that replaces a long journal.

use std::collections::VecDeque;

use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, Phase, PlayerId, Readable, Reason, Table, Timestamp};

use super::Call;
use crate::context::Context;
use crate::delivery::watchers::Listing;
use crate::history::codec::write_table;
use crate::history::replica::{AppliedLine, Replica};

/// A player who took a seat and was not ready for the game, which kept the others waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoShow {
    pub player: PlayerId,
    pub at: Timestamp,
    /// The weight in the player's no-show count.
    pub weight: u8,
}

impl NoShow {
    /// The weight of a player who was removed for not being ready.
    pub const NOT_READY: u8 = 2;
    /// The weight of a player who left while a game was prepared.
    pub const LEFT_EARLY: u8 = 1;
}

/// Returns the no-shows of a line, given the table before it. Private tables have none, because
/// their host decides. At a practice table only a player who has not played there yet counts,
/// because nobody waits for it.
pub(super) fn find_no_shows<G: Readable>(
    before: &Table<G>,
    applied: &AppliedLine<G>,
    at: Timestamp,
) -> Vec<NoShow> {
    let Phase::Preparing(preparing) = before.phase() else { return Vec::new() };
    let terms = before.terms();
    if terms.private.is_some() || (terms.practice && before.last_winner().is_some()) {
        return Vec::new();
    }
    let is_player = |seat: Seat| before.occupant(seat).is_some_and(|occupant| !occupant.bot);
    let no_show = |event: &Event<G::Event>| match event {
        Event::Left { player, reason: Reason::NotReady, .. } => {
            Some(NoShow { player: *player, at, weight: NoShow::NOT_READY })
        }
        Event::Left { seat, player, reason: Reason::Left } => {
            let counts = !terms.practice && is_player(*seat) && !preparing.ready.contains(*seat);
            counts.then_some(NoShow { player: *player, at, weight: NoShow::LEFT_EARLY })
        }
        _ => None,
    };
    applied.events.iter().filter_map(no_show).collect()
}

/// Returns the calls that update seat claims and the room's list after seats were taken or freed.
pub(super) fn seat_change_calls<G: Readable>(
    table: &Table<G>,
    applied: &AppliedLine<G>,
) -> VecDeque<Call> {
    let mut calls = VecDeque::new();
    let mut changed = false;
    for event in applied.events.iter() {
        match event {
            // An empty table without a POT need not be listed.
            Event::Sat { .. } | Event::PotRefunded { .. } => changed = true,
            Event::Left { player, .. } => {
                changed = true;
                calls.push_back(Call::Release { player: *player });
            }
            _ => {}
        }
    }
    if changed {
        calls.push_back(Call::List(Listing::from_table(table)));
    }
    calls
}

/// Returns the call that replaces a long journal by a snapshot, if the journal exceeds its limit.
pub(super) fn compaction_call<G: Readable>(
    ctx: &impl Context<G>,
    replica: &Replica<G>,
) -> Option<Call> {
    let table = replica.table();
    let limits = ctx.limits();
    let is_running = table.phase().is_running();
    let most = if is_running { limits.journal_lines_in_game } else { limits.journal_lines };
    // The point of a snapshot reveals the number of lines, so it must be a point whose line
    // everybody saw.
    if replica.journal_lines() < most || !replica.last_visible().is_public_at(replica.point()) {
        return None;
    }
    let snapshot = write_table(table).ok()?;
    Some(Call::Compact { at: replica.point(), snapshot })
}

/// Returns true if nobody sits at the table and its POT is empty.
pub(super) fn is_idle<G: Readable>(table: &Table<G>) -> bool {
    matches!(table.phase(), Phase::Waiting) && table.is_deserted() && table.pot() == Coins::ZERO
}
