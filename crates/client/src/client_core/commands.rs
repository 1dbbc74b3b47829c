//! The player's commands, from the wish to the outcome.

use bahay_engine::chance::ClientSeed;
use bahay_engine::table::{GameId, TEXT_BYTES_MAX};
use bahay_protocol::MESSAGE_BYTES_MAX;

use crate::client_core::{ClientCore, Join};
use crate::commands::{
    Refusal, bind_action, game_to_be_ready_for, is_expected, is_table_intent, is_well_formed,
    to_command,
};
use crate::effect::{Notification, StoreKey};
use crate::input::{SeedText, Wish};
use crate::limits::{COMMAND_RETRY_MS, OPEN_COMMANDS_MAX};
use crate::outbox::{PendingCommand, RefusalEnd};
use crate::state::{CommandNumber, Intent, Outcome, Seeking, TableState};
use crate::table::Seed;
use crate::timers::Timer;

impl ClientCore {
    pub(super) fn handle_command(&mut self, command: CommandNumber, wish: Wish) {
        let has_room = self.outbox.len() < OPEN_COMMANDS_MAX;
        let Some(intent) = self.resolve_intent(wish).filter(|_| has_room) else {
            let outcome = Outcome::Dropped;
            self.cx.notify(Notification::Ended { command, intent: None, outcome });
            return;
        };
        self.add_command(Some(command), intent.clone());
        match intent {
            Intent::Seek { rooms } => {
                self.state.seek = Some(Seeking {
                    ticket: None,
                    rooms,
                    state: None,
                    reason: None,
                    expires_at_ms: None,
                });
            }
            Intent::Watch { table } => self.watching = Some(table),
            Intent::Unwatch => {
                self.watching = None;
                self.state.watched = None;
            }
            Intent::Ready { .. }
            | Intent::Reveal { .. }
            | Intent::Act { .. }
            | Intent::Hint
            | Intent::TakeBack
            | Intent::Leave
            | Intent::Say { .. }
            | Intent::CancelSeek => {}
        }
        self.send_commands();
    }

    /// Returns a wish bound to the present prompt; `None` if there is nothing to apply it to, or if
    /// the same intent is in flight.
    fn resolve_intent(&mut self, wish: Wish) -> Option<Intent> {
        let table = self.state.table.as_ref();
        let is_seated = table.is_some_and(|table| table.view.seat.is_some());
        let intent = match wish {
            Wish::Ready { seed_text } => return self.resolve_ready(seed_text),
            Wish::Act { action } => bind_action(action, table)?,
            Wish::TakeBack => is_seated.then_some(Intent::TakeBack)?,
            Wish::Leave => is_seated.then_some(Intent::Leave)?,
            Wish::Hint => {
                let is_practice = table.is_some_and(|table| table.view.terms.practice);
                let is_asked = table.is_some_and(TableState::is_prompted);
                (is_practice && is_asked).then_some(Intent::Hint)?
            }
            Wish::Say { phrase } => {
                (self.join == Join::Joined).then_some(Intent::Say { phrase })?
            }
            Wish::Seek { rooms } => Intent::Seek { rooms },
            Wish::CancelSeek => Intent::CancelSeek,
            Wish::Watch { table } => Intent::Watch { table },
            Wish::Unwatch => Intent::Unwatch,
        };
        let is_in_flight = match &intent {
            Intent::Act { game, prompt, .. } => {
                let bound = (*game, *prompt);
                self.outbox.has_intent(|other| {
                    matches!(other, Intent::Act { game, prompt, .. } if (*game, *prompt) == bound)
                })
            }
            Intent::Hint => self.outbox.has_intent(|other| matches!(other, Intent::Hint)),
            _ => false,
        };
        (!is_in_flight && is_well_formed(&intent)).then_some(intent)
    }

    fn resolve_ready(&mut self, seed_text: SeedText) -> Option<Intent> {
        let game = game_to_be_ready_for(self.state.table.as_ref())?;
        self.session.player()?;
        let is_it = |other: &Intent| matches!(other, Intent::Ready { game: of, .. } if *of == game);
        if self.outbox.has_intent(is_it) {
            return None;
        }
        let given = match seed_text {
            SeedText::None => return Some(Intent::Ready { game, commitment: None }),
            SeedText::Chosen(text) => Some(text).filter(|text| text.len() <= TEXT_BYTES_MAX),
            SeedText::Drawn => None,
        };
        let text = self.seed_text(game, given)?;
        let commitment = Some(ClientSeed::from_text(&text).commitment());
        Some(Intent::Ready { game, commitment })
    }

    /// Returns the text that this client commits to: one for each game, also if `ready` is sent
    /// again.
    fn seed_text(&mut self, game: GameId, given: Option<String>) -> Option<String> {
        let player = self.session.player()?.id;
        let seed = self.seed.as_ref();
        if let Some(seed) = seed.filter(|seed| seed.game == game && seed.player == player) {
            return Some(seed.text.clone());
        }
        let text = given.unwrap_or_else(|| self.cx.random.draw_hex(16));
        let seed = Seed { game, text: text.clone(), player };
        self.cx.store(StoreKey::Seed, serde_json::to_string(&seed).ok());
        self.seed = Some(seed);
        if let Some(mut table) = self.state.table.clone()
            && let Some(deal) = table.deal.as_mut().filter(|deal| deal.game == game)
        {
            deal.text = Some(text.clone());
            self.keep_table(table);
        }
        Some(text)
    }

    /// Adds a command to the outbox; `None` for one of the client itself.
    pub(super) fn add_command(&mut self, command: Option<CommandNumber>, intent: Intent) {
        self.outbox.add_command(command, intent);
        self.state.open = self.outbox.open_commands();
    }

    /// Sends every command that has not been sent on this connection and that the table still
    /// expects.
    pub(super) fn send_commands(&mut self) {
        for key in self.outbox.unsent_keys() {
            let Some(pending) = self.outbox.find_key(key) else {
                continue;
            };
            let intent = &pending.intent;
            let is_say = matches!(intent, Intent::Say { .. });
            let is_ready = if is_table_intent(intent) {
                self.join == Join::Joined
            } else {
                self.state.link.is_authenticated()
            };
            if !is_ready {
                if is_say || self.join == Join::NoTable {
                    self.give_up_command(key);
                }
                continue;
            }
            let is_wanted = if is_say {
                !pending.is_sent()
            } else {
                is_expected(intent, self.state.table.as_ref())
            };
            // A longer text would end the connection.
            let text = serde_json::to_string(&to_command(intent, u32::MAX)).unwrap_or_default();
            if is_wanted && text.len() <= MESSAGE_BYTES_MAX {
                let intent = intent.clone();
                if let Some(id) = self.send_command(|id| to_command(&intent, id)) {
                    self.outbox.record_sent(key, id);
                    self.expect_answer();
                }
            } else {
                self.give_up_command(key);
            }
        }
    }

    pub(super) fn give_up_commands(&mut self) {
        for key in self.outbox.keys() {
            self.give_up_command(key);
        }
    }

    fn give_up_command(&mut self, key: u64) {
        if let Some(pending) = self.outbox.remove_key(key) {
            let outcome = pending.outcome_of_giving_up();
            self.end_command(pending, outcome);
        }
    }

    pub(super) fn acknowledge(&mut self, id: u32, version: Option<u64>) {
        if let Some(pending) = self.outbox.remove_id(id) {
            self.end_command(pending, Outcome::Done { version });
        }
    }

    pub(super) fn handle_command_refusal(&mut self, id: u32, refusal: Refusal) {
        match self.outbox.handle_refusal(id, refusal) {
            Some(RefusalEnd::Retry) => {
                let ms = self.cx.random.draw_jitter(2 * COMMAND_RETRY_MS);
                self.cx.schedule(ms, Timer::SendCommands);
            }
            Some(RefusalEnd::Ended(pending, outcome)) => self.end_command(pending, outcome),
            None => {}
        }
    }

    fn end_command(&mut self, pending: PendingCommand, outcome: Outcome) {
        self.state.open = self.outbox.open_commands();
        let PendingCommand { command, intent, .. } = pending;
        if matches!(outcome, Outcome::Refused { .. }) {
            match intent {
                Intent::Seek { .. } => self.state.seek = None,
                Intent::Watch { .. } => self.watching = None,
                _ => {}
            }
        }
        if let Some(command) = command {
            self.cx.notify(Notification::Ended { command, intent: Some(intent), outcome });
        }
    }
}
