//! Talk at the table, and spectating.
//!
//! A phrase is sent to every receiver at the table, on any node, and is not stored. A player does
//! not receive phrases of players whom it has muted or blocked; when that list changes, the
//! player's connections reload it. A player whom the house has muted cannot speak. If the database
//! does not respond in time, all phrases are delivered: a nuisance, but so is silence.

use std::collections::BTreeSet;
use std::time::Instant;

use bahay_engine::table::{PlayerId, Spectators, TableId};

use crate::accounts::SanctionKind;
use crate::social::{Phrase, TableBroadcast};
use crate::tables::{ShowError, TableError};
use crate::ws::link::socket::CloseReason;
use crate::ws::protocol::{Message, close};
use crate::ws::refusal::SessionRefusal;
use crate::ws::session::command_rate::PhraseRate;
use crate::ws::session::feed::SHOW_FAILED;
use crate::ws::session::spectator::{Spectator, SpectatorEvent};
use crate::ws::session::{SIDE_QUERY_TIMEOUT, Session};

/// The talk state of a connection.
pub(super) struct Chat {
    /// The players whose phrases are not delivered.
    muted_players: BTreeSet<PlayerId>,
    phrase_rate: PhraseRate,
}

impl Chat {
    pub(super) fn new(now: Instant) -> Self {
        Self { muted_players: BTreeSet::new(), phrase_rate: PhraseRate::new(now) }
    }
}

impl Session {
    /// Follows the talk at a table from here on.
    pub(super) async fn follow_talk(&mut self, table: TableId) {
        self.control.listen_to(self.state.lobby.tables().subscribe_talk(table));
        self.reload_muted_players().await;
    }

    /// Handles a talk message: a phrase, or a changed list of muted players.
    pub(super) async fn handle_talk(&mut self, text: &str) {
        let listened_table =
            self.core.joined_table().or(self.spectator.as_deref().map(Spectator::table));
        match serde_json::from_str(text) {
            Ok(TableBroadcast::Said { player, phrase }) => {
                let audible_at =
                    listened_table.filter(|_| !self.chat.muted_players.contains(&player));
                if let Some(table) = audible_at {
                    // The writer ensures that no message is dated before the previous one.
                    let server_time_ms = self.state.lobby.tables().clock_of(table).now();
                    self.pending.push(Message::Said { player, phrase, server_time_ms });
                }
            }
            Ok(TableBroadcast::Relations { player }) => {
                if player == self.player {
                    self.reload_muted_players().await;
                }
            }
            // The message is from a node of another version.
            Err(error) => tracing::debug!(%error, "a talk message of another version is ignored"),
        }
    }

    pub(super) async fn send_phrase(&mut self, id: u32, phrase: Phrase) {
        let Some(table) = self.core.joined_table() else {
            return self.refuse(id, SessionRefusal::NotJoined);
        };
        if !self.chat.phrase_rate.try_acquire(self.received_at) {
            return self.refuse(id, SessionRefusal::TooTalkative);
        }
        if let Some(mute) = self.read_sanction(SanctionKind::Mute).await {
            return self.refuse_with(Some(id), SessionRefusal::Muted, format!("muted {mute}"));
        }
        let broadcast = TableBroadcast::Said { player: self.player, phrase };
        match self.state.lobby.tables().send_talk(table, &broadcast.to_line()).await {
            Ok(()) => self.pending.push(Message::Ack { id, version: None }),
            Err(error) => self.refuse_submit(id, &error),
        }
    }

    pub(super) async fn watch(&mut self, id: u32, table: TableId) -> Result<(), CloseReason> {
        if self.core.joined_table().is_some() {
            self.refuse(id, SessionRefusal::AlreadyJoined);
            return Ok(());
        }
        let tables = self.state.lobby.tables();
        match tables.watch(table, self.core.connection(), None).await {
            Ok(watch) => match watch.table.terms().spectators {
                Spectators::Anybody => {
                    self.follow_talk(table).await;
                    self.spectator = Some(Box::new(Spectator::new(table, watch)));
                    self.pending.push(Message::Ack { id, version: None });
                    return self.push_due_messages();
                }
                Spectators::Nobody => self.refuse(id, SessionRefusal::NotWatchable),
            },
            Err(TableError::Missing) => self.refuse(id, SessionRefusal::TableNotFound),
            Err(error) => self.refuse_submit(id, &error),
        }
        Ok(())
    }

    pub(super) fn unwatch(&mut self, id: u32) {
        if self.spectator.take().is_some() {
            self.control.stop_listening();
        }
        self.pending.push(Message::Ack { id, version: None });
    }

    /// Handles an event of the table that is spectated.
    pub(super) fn handle_spectator_event(
        &mut self,
        event: SpectatorEvent,
    ) -> Result<(), CloseReason> {
        match event {
            SpectatorEvent::Updated => self.push_due_messages(),
            SpectatorEvent::Closed(table, reason) => {
                self.spectator = None;
                self.control.stop_listening();
                self.pending.push(Message::Closed { table, reason });
                Ok(())
            }
            SpectatorEvent::TooSlow => Err((close::TOO_SLOW, "too slow; connect again")),
            SpectatorEvent::NodeGone => {
                Err((close::GOING_AWAY, "this node was suspended; connect again and resume"))
            }
        }
    }

    /// Queues the updates that have become old enough to be shown.
    fn push_due_messages(&mut self) -> Result<(), CloseReason> {
        if let Some(spectator) = &mut self.spectator {
            let due = spectator.take_due(self.state.lobby.tables());
            self.pending.extend(due.map_err(|ShowError| SHOW_FAILED)?);
        }
        Ok(())
    }

    async fn reload_muted_players(&mut self) {
        let muted_players = self.state.social.list_silenced(self.player);
        match tokio::time::timeout(SIDE_QUERY_TIMEOUT, muted_players).await {
            Ok(Ok(muted_players)) => self.chat.muted_players = muted_players,
            Ok(Err(error)) => {
                tracing::warn!(player = %self.player, %error, "the muted players could not be read");
            }
            Err(_) => {
                tracing::warn!(player = %self.player, "the muted players were not read in time")
            }
        }
    }
}
