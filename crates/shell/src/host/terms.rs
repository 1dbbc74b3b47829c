//! Terms updates, which precede every other input of a table.

use bahay_engine::table::{Input, Readable, Table, TableAvailability, Terms, TermsUpdate};

use crate::context::Context;
use crate::mutation::Mutation;

/// Returns the terms update that the table has not stored yet, if there is one.
pub(super) fn pending_update<G: Readable>(
    ctx: &impl Context<G>,
    table: &Table<G>,
) -> Option<Input<G::Action>> {
    let room = ctx.room_terms(table.terms(), table.revision())?;
    if !table.accepts_terms(room.revision) || ctx.has_mutation(Mutation::KeepsOldTerms) {
        return None;
    }
    let standing = match (room.is_open, room.terms.rules == table.terms().rules) {
        (true, true) => TableAvailability::Open,
        (true, false) => TableAvailability::LastPot,
        (false, _) => TableAvailability::Closed,
    };
    let Terms { price, hits, clocks, .. } = room.terms;
    let terms = TermsUpdate { revision: room.revision, standing, price, hits, clocks };
    Some(Input::UpdateTerms { terms })
}
