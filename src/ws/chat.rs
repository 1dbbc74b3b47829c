//! Who else is at the table: what they say, and watching a table without a seat.
//!
//! What is said is told to everybody who listens there now, on whatever node, and is kept nowhere.
//! A player is not told what the players said whom it has muted or blocked; when that list changes
//! the player's connections read it again. A player whom the house has muted says nothing. Where the
//! database does not answer in time everybody is heard: that is a nuisance, and silence would be one
//! too.

use std::collections::BTreeSet;
use std::time::Instant;

use bahay_engine::table::{PlayerId, Spectators, TableId};

use crate::accounts::SanctionKind;
use crate::social::{Phrase, TableBroadcast};
use crate::tables::{ShowError, SubmitError};
use crate::ws::feed::SHOW_FAILED;
use crate::ws::command_rate::PhraseRate;
use crate::ws::protocol::{Message, close};
use crate::ws::session::{SIDE_QUERY_TIMEOUT, Session};
use crate::ws::spectator::{SpectatorEvent, Spectator};
use crate::ws::socket::CloseReason;

/// What a connection hears, and how often its player speaks.
pub(super) struct Chat {
    /// Whom the player does not want to hear.
    muted_players: BTreeSet<PlayerId>,
    phrase_rate: PhraseRate,
}

impl Chat {
    pub(super) fn new(now: Instant) -> Self {
        Self { muted_players: BTreeSet::new(), phrase_rate: PhraseRate::new(now) }
    }
}

impl Session {
    /// Hears what is said at a table from here on.
    pub(super) async fn follow_talk(&mut self, table: TableId) {
        self.control.listen_to(self.state.lobby.tables().subscribe_talk(table));
        self.reload_muted_players().await;
    }

    /// Something was said, or the list of those who are not heard has changed.
    pub(super) async fn handle_talk(&mut self, text: &str) {
        let listened_table = self.joined_table().or(self.spectator.as_deref().map(Spectator::table));
        match serde_json::from_str(text) {
            Ok(TableBroadcast::Said { player, phrase }) => {
                let audible_at = listened_table.filter(|_| !self.chat.muted_players.contains(&player));
                if let Some(table) = audible_at {
                    // The writer sees to it that no message shows an earlier time than the last.
                    let server_time_ms = self.state.lobby.tables().clock_of(table).now();
                    self.pending.push(Message::Said { player, phrase, server_time_ms });
                }
            }
            Ok(TableBroadcast::Relations { player }) => {
                if player == self.player {
                    self.reload_muted_players().await;
                }
            }
            // Said by a node of another version.
            Err(error) => tracing::debug!(%error, "a talk message of another version is ignored"),
        }
    }

    pub(super) async fn say(&mut self, id: u32, phrase: Phrase) {
        let Some(table) = self.joined_table() else {
            let detail = "join your table first".to_owned();
            return self.refuse(Some(id), "not_joined", None, detail, false);
        };
        if !self.chat.phrase_rate.try_acquire(self.received_at) {
            let detail = "at most one phrase every two seconds, and three at once".to_owned();
            return self.refuse(Some(id), "too_talkative", None, detail, true);
        }
        if let Some(mute) = self.read_sanction(SanctionKind::Mute).await {
            return self.refuse(Some(id), "muted", None, format!("muted {mute}"), false);
        }
        let said = TableBroadcast::Said { player: self.player, phrase };
        match self.state.lobby.tables().send_talk(table, &said.to_line()).await {
            Ok(()) => self.pending.push(Message::Ack { id, version: None }),
            Err(error) => self.refuse_submit(id, &SubmitError::Unavailable(error)),
        }
    }

    pub(super) async fn watch(&mut self, id: u32, table: TableId) -> Result<(), CloseReason> {
        if self.joined_table().is_some() {
            let detail = "you play at a table on this connection: leave it first".to_owned();
            self.refuse(Some(id), "already_joined", None, detail, false);
            return Ok(());
        }
        let tables = self.state.lobby.tables();
        let watch = match tables.watch(table, self.core.connection(), None).await {
            Ok(watch) => watch,
            Err(SubmitError::Missing) => {
                let detail = "there is no such table".to_owned();
                self.refuse(Some(id), "table_not_found", None, detail, false);
                return Ok(());
            }
            Err(error) => {
                self.refuse_submit(id, &error);
                return Ok(());
            }
        };
        match watch.table.terms().spectators {
            Spectators::Anybody => {}
            Spectators::Nobody => {
                let detail = "only its players see this table".to_owned();
                self.refuse(Some(id), "not_watchable", None, detail, false);
                return Ok(());
            }
        }
        self.follow_talk(table).await;
        self.spectator = Some(Box::new(Spectator::new(table, watch)));
        self.pending.push(Message::Ack { id, version: None });
        self.push_due_messages()
    }

    pub(super) fn unwatch(&mut self, id: u32) {
        if self.spectator.take().is_some() {
            self.control.stop_listening();
        }
        self.pending.push(Message::Ack { id, version: None });
    }

    /// Something happened at the table that is watched.
    pub(super) fn handle_spectator_event(&mut self, event: SpectatorEvent) -> Result<(), CloseReason> {
        match event {
            SpectatorEvent::Updated => self.push_due_messages(),
            SpectatorEvent::Closed(table, reason) => {
                self.end_spectating();
                self.pending.push(Message::Closed { table, reason });
                Ok(())
            }
            SpectatorEvent::TooSlow => Err((close::TOO_SLOW, "too slow; connect again")),
            SpectatorEvent::NodeGone => {
                Err((close::GOING_AWAY, "this node was away; connect again and resume"))
            }
        }
    }

    /// What has become old enough to be shown.
    fn push_due_messages(&mut self) -> Result<(), CloseReason> {
        if let Some(spectator) = &mut self.spectator {
            let due = spectator.take_due(self.state.lobby.tables());
            self.pending.extend(due.map_err(|ShowError| SHOW_FAILED)?);
        }
        Ok(())
    }

    fn end_spectating(&mut self) {
        self.spectator = None;
        self.control.stop_listening();
    }

    async fn reload_muted_players(&mut self) {
        let muted_players = self.state.social.list_silenced(self.player);
        match tokio::time::timeout(SIDE_QUERY_TIMEOUT, muted_players).await {
            Ok(Ok(muted_players)) => self.chat.muted_players = muted_players,
            Ok(Err(error)) => {
                tracing::warn!(player = %self.player, %error, "the muted players could not be read");
            }
            Err(_) => tracing::warn!(player = %self.player, "the muted players were not read in time"),
        }
    }
}
