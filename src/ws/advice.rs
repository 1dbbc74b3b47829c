//! Advice: the action that the house's AI would choose for the player, only at practice tables,
//! where no coins can be lost (rule 8.7). The AI knows only what the seat is shown. The table is
//! read first, so that the advice is about the currently open prompt, which the answer names.

use bahay_bots::table::hint;
use bahay_shell::{CommandRefusal, Presenter as _};

use crate::tables::{ShowError, SubmitError};
use crate::ws::feed::SHOW_FAILED;
use crate::ws::protocol::Message;
use crate::ws::session::Session;
use crate::ws::socket::CloseReason;

impl Session {
    pub(super) async fn send_advice(&mut self, id: u32) -> Result<(), CloseReason> {
        let Some(table) = self.joined_table() else {
            return self.present(|_, _, feed| {
                feed.send_refusal(id, CommandRefusal::NotJoined);
                Ok(())
            });
        };
        let tables = self.state.lobby.tables();
        let table = match tables.read_table(table).await {
            Ok(Some(table)) => table,
            Ok(None) => {
                self.refuse_submit(id, &SubmitError::Missing);
                return Ok(());
            }
            Err(error) => {
                self.refuse_submit(id, &error.into());
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
            Ok(Err(rejection)) => self.refuse_submit(id, &SubmitError::Rejected(rejection)),
            Err(ShowError) => return Err(SHOW_FAILED),
        }
        Ok(())
    }
}
