//! Advice: the action that the house's AI would choose for the player, only at practice tables,
//! where no coins can be lost (rule 8.7). The AI knows only what the seat is shown. The table is
//! read first, so that the advice is about the currently open prompt, which the answer names.

use bahay_bots::table::hint;

use crate::tables::{ShowError, TableError};
use crate::ws::link::socket::CloseReason;
use crate::ws::protocol::Message;
use crate::ws::refusal::SessionRefusal;
use crate::ws::session::Session;
use crate::ws::session::feed::SHOW_FAILED;

impl Session {
    pub(super) async fn send_advice(&mut self, id: u32) -> Result<(), CloseReason> {
        let Some(table) = self.core.joined_table() else {
            self.refuse(id, SessionRefusal::NotJoined);
            return Ok(());
        };
        let tables = self.state.lobby.tables();
        let read = tables.read_table(table).await;
        let table = match read.and_then(|table| table.ok_or(TableError::Missing)) {
            Ok(table) => table,
            Err(error) => {
                self.refuse_submit(id, &error);
                return Ok(());
            }
        };
        match tables.render(&table, |table| hint(table, self.player)) {
            Ok(Ok(hint)) => {
                let game = hint.game;
                let prompt = hint.prompt;
                let by = hint.by.name().into();
                self.pending.push(Message::Advice { game, prompt, action: hint.action, by });
                self.pending.push(Message::Ack { id, version: None });
            }
            Ok(Err(rejection)) => self.refuse_submit(id, &TableError::Rejected(rejection)),
            Err(ShowError) => return Err(SHOW_FAILED),
        }
        Ok(())
    }
}
