//! One table in one node.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bahay_engine::table::TableId;

use crate::simulation::SimulatedGame;
use crate::simulation::tasks::Promise;
use crate::{RequestTicket, TableHost};

/// One table in one node.
pub(in crate::simulation) struct Slot<G: SimulatedGame> {
    pub(in crate::simulation) id: TableId,
    pub(in crate::simulation) host: RefCell<TableHost<G>>,
    pub(super) waiting: RefCell<BTreeMap<RequestTicket, Promise<()>>>,
}

impl<G: SimulatedGame> Slot<G> {
    pub(in crate::simulation) fn new(id: TableId) -> Self {
        Self { id, host: RefCell::new(TableHost::new(id)), waiting: RefCell::default() }
    }
}
