//! One table in one node.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bahay_engine::table::TableId;

use crate::simulation::SimulatedGame;
use crate::simulation::tasks::Promise;
use crate::{RequestTicket, TableHost};

/// One table in one node.
pub(crate) struct Slot<G: SimulatedGame> {
    pub(crate) id: TableId,
    pub(crate) host: RefCell<TableHost<G>>,
    pub(super) waiting: RefCell<BTreeMap<RequestTicket, Promise<()>>>,
}

impl<G: SimulatedGame> Slot<G> {
    pub(crate) fn new(id: TableId) -> Self {
        Self { id, host: RefCell::new(TableHost::new(id)), waiting: RefCell::default() }
    }
}
