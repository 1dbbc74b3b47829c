//! What a room says is told to its table before anything else.

use bahay_engine::table::{Input, Readable, Standing, Table, Terms, TermsUpdate};

use crate::context::{Context, Planted};

/// The terms update that a table has yet to be told, if there is one.
pub(super) fn due<G: Readable>(
    ctx: &impl Context<G>,
    table: &Table<G>,
) -> Option<Input<G::Action>> {
    let room = ctx.room_terms(table.terms(), table.revision())?;
    if !table.would_take_terms(room.revision) || ctx.planted(Planted::KeepsOldTerms) {
        return None;
    }
    let standing = match (room.is_open, room.terms.rules == table.terms().rules) {
        (true, true) => Standing::Open,
        (true, false) => Standing::LastPot,
        (false, _) => Standing::Closed,
    };
    let Terms { price, hits, clocks, .. } = room.terms;
    let terms = TermsUpdate { revision: room.revision, standing, price, hits, clocks };
    Some(Input::UpdateTerms { terms })
}
