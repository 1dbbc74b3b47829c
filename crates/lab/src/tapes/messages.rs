//! The messages that the client of a tape receives, and the views that it must show.

use bahay_base::ids::Tag;
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{PlayerId, TableView, Timestamp};
use bahay_protocol::brief::FormError;
use bahay_protocol::{Message, OpenPrompt};
use serde_json::json;

use crate::tapes::network::{BACK_MS, JOIN, Recorder, ViewUpdate};
use crate::tapes::script::digest;

impl Recorder {
    /// Opens a new connection, up to its `hello`.
    pub(super) fn open_connection(
        &mut self,
        player: PlayerId,
        at: Timestamp,
    ) -> Result<(), FormError> {
        let mut join = json!({ "type": "join", "id": JOIN });
        if self.delivered_version > 0 {
            join["from"] = self.delivered_version.into();
            join["tag"] = json!(self.delivered_tag);
            join["table"] = json!(self.simulation.table().id());
        }
        self.script.push_timed(json!({ "enter": { "within": self.back_ms } }));
        self.back_ms = BACK_MS;
        self.script.push_line(&json!({ "send": join }));
        self.script.begin_connection();
        self.next_id = JOIN + 1;
        self.reveal = None;
        self.is_joined = false;
        self.send_message(&Message::Hello {
            player,
            protocol: self.script.form().subprotocol().into(),
            server_time_ms: at,
            notices: Some(0),
        })
    }

    pub(super) fn send_snapshot(
        &mut self,
        at: Timestamp,
        view: &TableView<AnyGame>,
        shown: Option<&ViewUpdate>,
    ) -> Result<(), FormError> {
        // The update of this step follows the snapshot.
        let version = shown.map_or(self.version, |shown| shown.version - 1);
        let last = self.missed.drain(..).next_back();
        let tag = last.map_or_else(|| self.new_tag(), |last| last.tag);
        let prompt = OpenPrompt::from_view(view);
        let whole = Box::new(view.clone());
        self.send_message(&Message::Snapshot {
            version,
            tag,
            server_time_ms: at,
            view: whole,
            prompt,
        })?;
        self.expect_view(version, tag, view);
        Ok(())
    }

    pub(super) fn catch_up(&mut self) -> Result<(), FormError> {
        let missed = std::mem::take(&mut self.missed);
        let last = missed.len();
        for (place, shown) in (1..).zip(missed) {
            self.send_update(&shown, place == last, None)?;
        }
        Ok(())
    }

    /// Delivers an update to the client, or records it as missed.
    pub(super) fn deliver(&mut self, shown: Option<ViewUpdate>) -> Result<(), FormError> {
        let Some(shown) = shown else {
            return Ok(());
        };
        if self.is_connected {
            return self.send_update(&shown, true, None);
        }
        self.missed.push(shown);
        Ok(())
    }

    /// Acknowledges a command of the connected client, in the update with its effects if there is
    /// one.
    pub(super) fn deliver_answer(
        &mut self,
        command: u32,
        shown: Option<ViewUpdate>,
    ) -> Result<(), FormError> {
        match shown {
            Some(shown) => self.send_update(&shown, true, Some(command)),
            None => self.send_ack(command),
        }
    }

    fn send_update(
        &mut self,
        shown: &ViewUpdate,
        is_last: bool,
        ack: Option<u32>,
    ) -> Result<(), FormError> {
        let ViewUpdate { version, tag, at, events, view } = shown;
        let prompt = OpenPrompt::from_view(view);
        self.send_message(&Message::Update {
            version: *version,
            tag: *tag,
            server_time_ms: *at,
            events: events.clone(),
            prompt: prompt.filter(|_| is_last),
            ack,
        })?;
        // In the full form only the last of several updates carries the prompt.
        if is_last {
            self.expect_view(*version, *tag, view);
            self.send_text_if_asked(view);
        } else {
            (self.delivered_version, self.delivered_tag) = (*version, *tag);
        }
        Ok(())
    }

    /// Clients reveal their text automatically.
    pub(super) fn send_text_if_asked(&mut self, view: &TableView<AnyGame>) {
        let Some((game, ..)) = view.reveal_request().filter(|_| self.is_joined) else {
            return;
        };
        let text = self.player.and_then(|player| self.simulation.seed_text(player));
        if let Some(text) = text.filter(|_| self.reveal.is_none()) {
            let id = self.next_id;
            self.reveal = Some(id);
            let command = json!({ "type": "reveal", "game": game, "text": text });
            self.send_command(command);
        }
    }

    /// Writes the view that the client must show.
    pub(super) fn expect_view(&mut self, version: u64, tag: Tag, view: &TableView<AnyGame>) {
        (self.delivered_version, self.delivered_tag) = (version, tag);
        if view.seat.is_none() {
            self.script.push_line(&json!({ "unseated": true }));
            return;
        }
        let shown = json!({ "view": view, "prompt": OpenPrompt::from_view(view) });
        self.script.push_line(&json!({
            "show": { "version": version, "tag": tag, "digest": digest(&shown) }
        }));
    }

    pub(super) fn send_refusal(&mut self, id: u32, code: &'static str) -> Result<(), FormError> {
        let detail = "this has passed".to_owned();
        let code = code.into();
        self.send_message(&Message::Refusal {
            id: Some(id),
            code,
            rule: None,
            detail,
            retryable: false,
            retry_after_ms: None,
        })
    }

    fn send_ack(&mut self, id: u32) -> Result<(), FormError> {
        let version = Some(self.delivered_version);
        self.send_message(&Message::Ack { id, version })
    }

    pub(super) fn send_message(&mut self, message: &Message<AnyGame>) -> Result<(), FormError> {
        let line = self.script.push_message(message)?;
        if let Message::Update { .. } | Message::Ack { .. } = message {
            self.last = Some(line);
        }
        Ok(())
    }
}
