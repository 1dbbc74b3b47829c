//! What the client of a tape hears, and what it must show after it.

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{PlayerId, TableView, Timestamp};
use serde_json::json;

use crate::ids::Tag;
use crate::tapes::network::{BACK_MS, JOIN, Recorder, Shown};
use crate::tapes::script::digest;
use crate::ws::protocol::brief::FormError;
use crate::ws::protocol::{Message, OpenPrompt};

impl Recorder {
    /// A new connection, up to its `hello`.
    pub(super) fn enter(&mut self, player: PlayerId, at: Timestamp) -> Result<(), FormError> {
        let mut join = json!({ "type": "join", "id": JOIN });
        if self.told > 0 {
            join["from"] = self.told.into();
            join["tag"] = json!(self.told_tag);
            join["table"] = json!(self.simulation.table().id());
        }
        self.script.now(json!({ "enter": { "within": self.back_ms } }));
        self.back_ms = BACK_MS;
        self.script.line(&json!({ "send": join }));
        self.script.connect();
        self.next_id = JOIN + 1;
        self.reveal = None;
        self.is_joined = false;
        self.heard(&Message::Hello {
            player,
            protocol: self.script.form().subprotocol().into(),
            server_time_ms: at,
            notices: Some(0),
        })
    }

    pub(super) fn snapshot(
        &mut self,
        at: Timestamp,
        view: &TableView<AnyGame>,
        shown: Option<&Shown>,
    ) -> Result<(), FormError> {
        // What this very step shows comes after it.
        let version = shown.map_or(self.version, |shown| shown.version - 1);
        let last = self.missed.drain(..).next_back();
        let tag = last.map_or_else(|| self.new_tag(), |last| last.tag);
        let prompt = OpenPrompt::of(view);
        let whole = Box::new(view.clone());
        self.heard(&Message::Snapshot { version, tag, server_time_ms: at, view: whole, prompt })?;
        self.show(version, tag, view);
        Ok(())
    }

    pub(super) fn catch_up(&mut self) -> Result<(), FormError> {
        let missed = std::mem::take(&mut self.missed);
        let last = missed.len();
        for (place, shown) in (1..).zip(missed) {
            self.update(&shown, place == last)?;
        }
        Ok(())
    }

    /// What is shown reaches the client, or is missed.
    pub(super) fn tell(&mut self, shown: Option<Shown>) -> Result<(), FormError> {
        let Some(shown) = shown else {
            return Ok(());
        };
        if self.is_connected {
            return self.update(&shown, true);
        }
        self.missed.push(shown);
        Ok(())
    }

    pub(super) fn update(&mut self, shown: &Shown, is_last: bool) -> Result<(), FormError> {
        let Shown { version, tag, at, events, view } = shown;
        let prompt = OpenPrompt::of(view);
        self.heard(&Message::Update {
            version: *version,
            tag: *tag,
            server_time_ms: *at,
            events: events.clone(),
            prompt: prompt.filter(|_| is_last),
        })?;
        // In the full form the prompt comes with the last of several.
        if is_last {
            self.show(*version, *tag, view);
            self.send_text_if_asked(view);
        } else {
            (self.told, self.told_tag) = (*version, *tag);
        }
        Ok(())
    }

    /// Clients reveal their text by themselves.
    pub(super) fn send_text_if_asked(&mut self, view: &TableView<AnyGame>) {
        let Some((game, ..)) = view.asked_to_reveal().filter(|_| self.is_joined) else {
            return;
        };
        let text = self.player.and_then(|player| self.simulation.text_of(player));
        if let Some(text) = text.filter(|_| self.reveal.is_none()) {
            let id = self.next_id;
            self.reveal = Some(id);
            let command = json!({ "type": "reveal", "game": game, "text": text });
            self.send(command);
        }
    }

    /// What a client must show.
    pub(super) fn show(&mut self, version: u64, tag: Tag, view: &TableView<AnyGame>) {
        (self.told, self.told_tag) = (version, tag);
        if view.seat.is_none() {
            self.script.line(&json!({ "unseated": true }));
            return;
        }
        let shown = json!({ "view": view, "prompt": OpenPrompt::of(view) });
        self.script.line(&json!({
            "show": { "version": version, "tag": tag, "digest": digest(&shown) }
        }));
    }

    pub(super) fn refuse(&mut self, id: u32, code: &'static str) -> Result<(), FormError> {
        let detail = "this has passed".to_owned();
        let code = code.into();
        self.heard(&Message::Refusal {
            id: Some(id),
            code,
            rule: None,
            detail,
            retryable: false,
            retry_after_ms: None,
        })
    }

    pub(super) fn ack(&mut self, id: u32) -> Result<(), FormError> {
        let version = Some(self.told);
        self.heard(&Message::Ack { id, version })
    }

    pub(super) fn heard(&mut self, message: &Message<AnyGame>) -> Result<(), FormError> {
        self.script.heard(message)?;
        if let Message::Update { .. } | Message::Ack { .. } = message {
            self.last = Some(self.script.as_line(message)?);
        }
        Ok(())
    }
}
