//! Commands without an outcome, across connections: which were sent, and which may have taken
//! effect. A command that may have taken effect is repeated only if the table still expects it.

use bahay_engine::table::GameId;

use crate::commands::{Refusal, outcome_of_refusal};
use crate::state::{CommandNumber, Intent, OpenCommand, Outcome};

/// A command without an outcome.
#[derive(Clone, Debug)]
pub(crate) struct PendingCommand {
    /// The number within the outbox.
    key: u64,
    /// `None` for a command of the client itself, whose outcome is not reported.
    pub(crate) command: Option<CommandNumber>,
    pub(crate) intent: Intent,
    /// The id on the present connection; `None` until it is sent there.
    id: Option<u32>,
    /// True once the command was sent and may have taken effect.
    is_sent: bool,
    /// True once the command was sent more than once.
    is_repeated: bool,
}

impl PendingCommand {
    pub(crate) fn is_sent(&self) -> bool {
        self.is_sent
    }

    /// Returns the outcome of a command that is given up.
    pub(crate) fn outcome_of_giving_up(&self) -> Outcome {
        if self.is_sent { Outcome::Overtaken } else { Outcome::Dropped }
    }
}

/// The reaction to a refused command.
#[derive(Debug)]
pub(crate) enum RefusalEnd {
    /// The command stays for a retry.
    Retry,
    Ended(PendingCommand, Outcome),
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pending: Vec<PendingCommand>,
    last: u64,
}

impl Outbox {
    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Returns whether a command on this connection has no answer yet.
    pub(crate) fn has_unanswered(&self) -> bool {
        self.pending.iter().any(|pending| pending.id.is_some())
    }

    pub(crate) fn has_intent(&self, is_it: impl Fn(&Intent) -> bool) -> bool {
        self.pending.iter().any(|pending| is_it(&pending.intent))
    }

    pub(crate) fn has_reveal(&self, of_game: GameId) -> bool {
        self.has_intent(|intent| matches!(intent, Intent::Reveal { game, .. } if *game == of_game))
    }

    pub(crate) fn add_command(&mut self, command: Option<CommandNumber>, intent: Intent) {
        self.last += 1;
        let key = self.last;
        let pending =
            PendingCommand { key, command, intent, id: None, is_sent: false, is_repeated: false };
        self.pending.push(pending);
    }

    /// Returns the player's commands.
    pub(crate) fn open_commands(&self) -> Vec<OpenCommand> {
        let open = self.pending.iter().filter_map(|pending| {
            let intent = pending.intent.clone();
            Some(OpenCommand { command: pending.command?, intent })
        });
        open.collect()
    }

    /// Returns the keys of the commands that were not sent on this connection.
    pub(crate) fn unsent_keys(&self) -> Vec<u64> {
        let unsent = self.pending.iter().filter(|pending| pending.id.is_none());
        unsent.map(|pending| pending.key).collect()
    }

    pub(crate) fn keys(&self) -> Vec<u64> {
        self.pending.iter().map(|pending| pending.key).collect()
    }

    pub(crate) fn find_key(&self, key: u64) -> Option<&PendingCommand> {
        self.pending.iter().find(|pending| pending.key == key)
    }

    pub(crate) fn find_id(&self, id: u32) -> Option<&PendingCommand> {
        self.pending.iter().find(|pending| pending.id == Some(id))
    }

    /// Records that a command was sent with this id.
    pub(crate) fn record_sent(&mut self, key: u64, id: u32) {
        if let Some(pending) = self.pending.iter_mut().find(|pending| pending.key == key) {
            pending.id = Some(id);
            pending.is_repeated = pending.is_sent;
            pending.is_sent = true;
        }
    }

    /// Forgets the ids of a closed connection, whose answers are lost with it.
    pub(crate) fn forget_ids(&mut self) {
        for pending in &mut self.pending {
            pending.id = None;
        }
    }

    pub(crate) fn remove_key(&mut self, key: u64) -> Option<PendingCommand> {
        let place = self.pending.iter().position(|pending| pending.key == key)?;
        Some(self.pending.remove(place))
    }

    pub(crate) fn remove_id(&mut self, id: u32) -> Option<PendingCommand> {
        let key = self.find_id(id)?.key;
        self.remove_key(key)
    }

    /// Handles a refusal; `None` if it is of no command in the outbox.
    pub(crate) fn handle_refusal(&mut self, id: u32, refusal: Refusal) -> Option<RefusalEnd> {
        let pending = self.pending.iter_mut().find(|pending| pending.id == Some(id))?;
        if refusal.is_retryable && !matches!(pending.intent, Intent::Say { .. }) {
            // The command may have been accepted all the same: `unavailable` does not exclude it.
            pending.id = None;
            return Some(RefusalEnd::Retry);
        }
        let removed = self.remove_id(id)?;
        let outcome = outcome_of_refusal(removed.is_repeated, refusal);
        Some(RefusalEnd::Ended(removed, outcome))
    }
}
