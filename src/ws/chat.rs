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
use crate::tables::{ShowFailed, SubmitError};
use crate::ws::feed::SHOW_FAILED;
use crate::ws::limit::Speech;
use crate::ws::protocol::{Message, close};
use crate::ws::session::{ASIDE_TIMEOUT, Session};
use crate::ws::spectate::{Seen, Spectator};
use crate::ws::wire::Ended;

/// What a connection hears, and how often its player speaks.
pub(super) struct Chat {
    /// Whom the player does not want to hear.
    silenced: BTreeSet<PlayerId>,
    speech: Speech,
}

impl Chat {
    pub(super) fn new(now: Instant) -> Self {
        Self { silenced: BTreeSet::new(), speech: Speech::new(now) }
    }
}

impl Session {
    /// Hears what is said at a table from here on.
    pub(super) async fn listen(&mut self, table: TableId) {
        self.control.listen(self.state.lobby.tables().hear(table));
        self.read_silenced().await;
    }

    /// Something was said, or the list of those who are not heard has changed.
    pub(super) async fn hear(&mut self, text: &str) {
        let place = self.joined().or(self.spectator.as_deref().map(Spectator::table));
        match serde_json::from_str(text) {
            Ok(TableBroadcast::Said { player, phrase }) => {
                let heard = place.filter(|_| !self.chat.silenced.contains(&player));
                if let Some(table) = heard {
                    // The writer sees to it that no message shows an earlier time than the last.
                    let server_time_ms = self.state.lobby.tables().clock_of(table).now();
                    self.pending.push(Message::Said { player, phrase, server_time_ms });
                }
            }
            Ok(TableBroadcast::Relations { player }) => {
                if player == self.player {
                    self.read_silenced().await;
                }
            }
            // Said by a node of another version.
            Err(error) => tracing::debug!(%error, "something that was said is not understood"),
        }
    }

    pub(super) async fn say(&mut self, id: u32, phrase: Phrase) {
        let Some(table) = self.joined() else {
            let detail = "join your table first".to_owned();
            return self.refuse(Some(id), "not_joined", None, detail, false);
        };
        if !self.chat.speech.take(self.heard_at) {
            let detail = "at most one phrase every two seconds, and three at once".to_owned();
            return self.refuse(Some(id), "too_talkative", None, detail, true);
        }
        if let Some(mute) = self.read_sanction(SanctionKind::Mute).await {
            return self.refuse(Some(id), "muted", None, format!("muted {mute}"), false);
        }
        let said = TableBroadcast::Said { player: self.player, phrase };
        match self.state.lobby.tables().talk(table, &said.to_line()).await {
            Ok(()) => self.pending.push(Message::Ack { id, version: None }),
            Err(error) => self.refuse_submit(id, &SubmitError::Unavailable(error)),
        }
    }

    pub(super) async fn watch(&mut self, id: u32, table: TableId) -> Result<(), Ended> {
        if self.joined().is_some() {
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
        self.listen(table).await;
        self.spectator = Some(Box::new(Spectator::new(table, watch)));
        self.pending.push(Message::Ack { id, version: None });
        self.show_due()
    }

    pub(super) fn unwatch(&mut self, id: u32) {
        if self.spectator.take().is_some() {
            self.control.listen_no_more();
        }
        self.pending.push(Message::Ack { id, version: None });
    }

    /// Something happened at the table that is watched.
    pub(super) fn seen(&mut self, seen: Seen) -> Result<(), Ended> {
        match seen {
            Seen::Something => self.show_due(),
            Seen::Closed(table, reason) => {
                self.unwatched();
                self.pending.push(Message::Closed { table, reason });
                Ok(())
            }
            Seen::TooSlow => Err((close::TOO_SLOW, "too slow; connect again")),
            Seen::NodeGone => {
                Err((close::GOING_AWAY, "this node was away; connect again and resume"))
            }
        }
    }

    /// What has become old enough to be shown.
    fn show_due(&mut self) -> Result<(), Ended> {
        if let Some(spectator) = &mut self.spectator {
            let due = spectator.due(self.state.lobby.tables());
            self.pending.extend(due.map_err(|ShowFailed| SHOW_FAILED)?);
        }
        Ok(())
    }

    fn unwatched(&mut self) {
        self.spectator = None;
        self.control.listen_no_more();
    }

    async fn read_silenced(&mut self) {
        let silenced = self.state.social.list_silenced(self.player);
        match tokio::time::timeout(ASIDE_TIMEOUT, silenced).await {
            Ok(Ok(silenced)) => self.chat.silenced = silenced,
            Ok(Err(error)) => {
                tracing::warn!(player = %self.player, %error, "who is muted is not known");
            }
            Err(_) => tracing::warn!(player = %self.player, "who is muted was not said in time"),
        }
    }
}
