//! Tables in live state: their journals, deadlines and halts, and the publications to their watchers.

mod due;
mod halts;
mod journal;
mod watch;

use bahay_engine::table::TableId;

use crate::LiveStore;

pub use journal::NewLine;
pub use watch::Publication;
pub(super) use watch::Subscriptions;

impl LiveStore {
    /// Returns a call of a script on the head and the journal of a table.
    fn journal_call<'a>(
        &self,
        script: &'a redis::Script,
        table: TableId,
    ) -> redis::ScriptInvocation<'a> {
        let mut call = script.key(self.table_key(table, "head"));
        call.key(self.table_key(table, "journal"));
        call
    }
}
