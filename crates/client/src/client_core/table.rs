//! The player's table: joining it, following its messages, and losing the seat.

use bahay_engine::catalog::AnyGame;
use bahay_protocol::{Closing, Message, SeekState};

use crate::client_core::{ClientCore, Join, Subject};
use crate::commands::{Refusal, is_well_formed};
use crate::effect::{Notification, StoreKey, UnseatedReason};
use crate::limits::{COMMAND_RETRY_MS, GAPS_MAX, HALTED_RETRY_MS, clamp_time};
use crate::sockets::TablePosition;
use crate::state::{Event, Hint, Intent, Link, Seeking};
use crate::table::{Snapshot, Update, UpdateError, apply_snapshot, apply_update, check_commitment};
use crate::timers::Timer;

impl ClientCore {
    /// Returns the position from which a `join` resumes; `None` to request a snapshot.
    pub(super) fn table_position(&self) -> Option<TablePosition> {
        let table = self.state.table.as_ref().filter(|_| !self.has_gap)?;
        Some(TablePosition { from: table.version, tag: table.tag, table: table.view.table })
    }

    /// Joins again on this connection; without one, the next connection joins by itself.
    pub(super) fn request_join(&mut self) {
        if !self.state.link.is_authenticated() {
            return;
        }
        if self.join == Join::Sent {
            // The pending `join` may be answered with an older state.
            self.cx.schedule(COMMAND_RETRY_MS, Timer::Rejoin);
            return;
        }
        if self.active.is_some() {
            self.set_link(Link::Joining);
        }
        self.send_join();
    }

    pub(super) fn send_join(&mut self) {
        let position = self.table_position();
        let id = self.send_command(|id| bahay_protocol::Command::Join {
            id,
            from: position.map(|position| position.from),
            tag: position.map(|position| position.tag),
            table: position.map(|position| position.table),
        });
        self.record_join(id);
    }

    /// Records that a `join` with this id has been sent.
    pub(super) fn record_join(&mut self, id: Option<u32>) {
        self.join = Join::Sent;
        self.subject = Subject::Table;
        self.join_id = id;
        self.expect_answer();
    }

    pub(super) fn handle_message(&mut self, message: Message<AnyGame>) {
        match message {
            Message::Hello { server_time_ms, notices, .. } => {
                self.set_offset(server_time_ms.ms());
                self.state.notices = notices;
                self.state.player = self.session.player().cloned();
                self.renew_ahead(0);
            }
            Message::Snapshot { version, tag, server_time_ms, view, prompt } => {
                self.set_offset(server_time_ms.ms());
                self.handle_snapshot(Snapshot { version, tag, view: *view, prompt });
            }
            Message::Update { version, tag, server_time_ms, events, prompt, ack } => {
                let form = self.active.as_ref().map(|active| active.reader.form());
                let is_short = form.is_some_and(|form| form.is_short());
                let update = Update { version, tag, events, prompt, is_short };
                self.handle_update(update, server_time_ms.ms());
                // An update that is ignored, as after a gap, still answers its command.
                if let Some(ack) = ack {
                    self.handle_ack(ack, Some(version));
                }
            }
            Message::Said { player, phrase, .. } => {
                self.cx.notify(Notification::Said { player, phrase });
            }
            Message::Advice { game, prompt, action, by } => {
                // The prompt may have been answered meanwhile, as by the clock.
                let table = self.state.table.as_ref();
                let open = table.and_then(|table| table.prompt.as_ref());
                if open.is_some_and(|open| open.game == game && open.number == prompt) {
                    let hint = Hint { game, prompt, action, by: by.into_owned() };
                    self.state.hint = Some(hint.clone());
                    self.cx.notify(Notification::Hint(hint));
                }
            }
            Message::Closed { reason, .. } => self.handle_closed(reason),
            Message::Ticket { ticket, state, rooms, table, reason, expires_at_ms } => {
                self.state.seek = Some(Seeking {
                    ticket: Some(ticket),
                    rooms,
                    state: Some(state),
                    reason,
                    expires_at_ms: Some(expires_at_ms.ms()),
                });
                self.cx.notify(Notification::Seek { state, table });
                if state == SeekState::Seated {
                    self.request_join();
                }
            }
            Message::Ack { id, version } => self.handle_ack(id, version),
            Message::Refusal { id: Some(id), code, rule, detail, retryable, .. } => {
                let refusal = Refusal {
                    code: code.into_owned(),
                    rule: rule.map(|rule| rule.into_owned()),
                    detail,
                    is_retryable: retryable,
                };
                self.handle_refusal(id, refusal);
            }
            Message::Refusal { id: None, .. } => {}
            Message::Invited { code, from, name, game } => {
                self.cx.notify(Notification::Invited { code, from, name, game });
            }
            Message::Standing { tournament, rank, score, tie_break, entrants } => {
                self.cx.notify(Notification::Standing {
                    tournament,
                    rank,
                    score,
                    tie_break,
                    entrants,
                });
            }
        }
    }

    fn set_offset(&mut self, server_ms: i64) {
        self.offset_ms = clamp_time(server_ms) - self.cx.now();
    }

    fn handle_snapshot(&mut self, snapshot: Snapshot) {
        let is_table = self.subject == Subject::Table;
        let before = if is_table { &self.state.table } else { &self.state.watched };
        let is_current = !is_table || self.join == Join::Joined;
        let after = apply_snapshot(snapshot, before.as_ref(), self.seed.as_ref(), is_current);
        let before = before.as_ref().map(|table| Box::new(table.view.clone()));
        self.has_gap = false;
        self.kind = Some(after.view.kind.clone());
        let shown = Box::new(after.clone());
        let events = Vec::new();
        let is_snapshot = true;
        if is_table {
            self.tags.clear();
            self.keep_table(after);
            let is_catching_up = !is_current;
            let after = shown;
            self.cx.notify(Notification::Table {
                events,
                before,
                after,
                is_snapshot,
                is_catching_up,
            });
            self.follow_up(&[]);
        } else {
            self.state.watched = Some(after);
            self.cx.notify(Notification::Watched { events, before, after: shown, is_snapshot });
        }
    }

    fn handle_update(&mut self, update: Update, server_ms: i64) {
        let is_table = self.subject == Subject::Table;
        let before = if is_table { &self.state.table } else { &self.state.watched };
        let Some(before) = before.as_ref().filter(|_| !self.has_gap) else {
            self.handle_gap();
            return;
        };
        // Another connection, which joined from an earlier version, has already delivered this
        // update.
        let is_known = update.version <= before.version
            && self.tags.iter().any(|known| *known == (update.version, update.tag));
        if is_table && self.join == Join::Sent && is_known {
            return;
        }
        let after = match apply_update(&update, before, self.seed.as_ref()) {
            Ok(after) => after,
            Err(UpdateError::Gap) => {
                self.handle_gap();
                return;
            }
            Err(UpdateError::Unreadable(why)) => {
                self.handle_protocol_error(format!("an update could not be applied: {why}"));
                return;
            }
        };
        let is_current = before.is_current;
        // The state takes the new table, and the notification the view of the old one.
        let before = if is_table { self.state.table.take() } else { self.state.watched.take() };
        let before = before.map(|before| Box::new(before.view));
        if is_current {
            // A missed update carries the time at which it happened, and a late one an earlier
            // time, so only an increase counts.
            self.offset_ms = self.offset_ms.max(clamp_time(server_ms) - self.cx.now());
        }
        let shown = Box::new(after.clone());
        let events = update.events;
        let is_snapshot = false;
        if !is_table {
            self.state.watched = Some(after);
            self.cx.notify(Notification::Watched { events, before, after: shown, is_snapshot });
            return;
        }
        self.keep_table(after);
        self.cx.notify(Notification::Table {
            events: events.clone(),
            before,
            after: shown,
            is_snapshot,
            is_catching_up: !is_current,
        });
        self.follow_up(&events);
    }

    /// Handles a missing update, which a server must never cause, by requesting a snapshot.
    fn handle_gap(&mut self) {
        if self.has_gap {
            return;
        }
        self.has_gap = true;
        self.gaps = self.gaps.saturating_add(1);
        if self.gaps < GAPS_MAX {
            self.request_join();
        }
    }

    /// Reacts to a change of the table after these events.
    fn follow_up(&mut self, events: &[Event]) {
        let Some(table) = &self.state.table else {
            return;
        };
        let checks = events.iter().filter_map(|event| match event {
            // Without a seed other tables still play the deal, and nothing is known of it.
            Event::Over { game, server_seed: Some(server_seed), .. } => {
                let check = check_commitment(*game, *server_seed, table.deal.as_ref());
                Some(Notification::Deal { game: *game, check })
            }
            _ => None,
        });
        checks.for_each(|check| self.cx.notify(check));
        let left = events.iter().find_map(|event| match event {
            Event::Left { reason, .. } if table.view.seat.is_none() => Some(*reason),
            _ => None,
        });
        if let Some(reason) = left {
            self.end_seat(UnseatedReason::Left(reason));
            return;
        }
        let to_reveal = table.view.reveal_request().map(|(game, ..)| game);
        // Coins move when the game opens and when it is settled.
        let moves_coins = |event: &Event| {
            matches!(event, Event::Revealing { .. } | Event::Opened { .. } | Event::Settled { .. })
        };
        if table.is_current && events.iter().any(moves_coins) {
            self.read_wallet();
        }
        if let Some(game) = to_reveal
            && let Some(seed) = self.seed.as_ref().filter(|seed| seed.game == game)
            && !self.outbox.has_reveal(game)
        {
            let text = seed.text.clone();
            self.add_command(None, Intent::Reveal { game, text });
        }
        if self.join == Join::Joined {
            self.send_commands();
        }
    }

    fn handle_closed(&mut self, reason: Closing) {
        if self.subject == Subject::Watched {
            self.watching = None;
            self.state.watched = None;
            return;
        }
        self.end_seat(match reason {
            Closing::Voided => UnseatedReason::Voided,
            Closing::Lost => UnseatedReason::Lost,
        });
    }

    fn handle_ack(&mut self, id: u32, version: Option<u64>) {
        if self.join_id == Some(id) {
            self.handle_joined();
            return;
        }
        match self.outbox.find_id(id).map(|pending| &pending.intent) {
            Some(Intent::Watch { .. }) => {
                self.subject = Subject::Watched;
                self.join = Join::NoTable;
            }
            Some(Intent::Reveal { .. }) => self.record_revealed(),
            Some(_) | None => {}
        }
        self.acknowledge(id, version);
    }

    fn handle_refusal(&mut self, id: u32, refusal: Refusal) {
        if self.join_id == Some(id) {
            self.handle_join_refusal(&refusal);
        } else {
            self.handle_command_refusal(id, refusal);
        }
    }

    fn handle_joined(&mut self) {
        self.join = Join::Joined;
        self.join_id = None;
        self.gaps = 0;
        if let Some(mut table) = self.state.table.take() {
            table.is_current = true;
            self.keep_table(table);
        }
        if let Some(seek) = self.state.seek.as_mut().filter(|seek| seek.is_waiting()) {
            seek.state = Some(SeekState::Seated);
        }
        self.watching = None;
        self.state.watched = None;
        self.confirm_table();
        self.read_wallet();
        self.follow_up(&[]);
    }

    fn handle_join_refusal(&mut self, refusal: &Refusal) {
        self.join_id = None;
        let is_halted = refusal.code == "table_halted";
        if !refusal.is_retryable && !is_halted {
            self.end_seat(UnseatedReason::NotSeated);
            self.confirm_table();
            self.read_wallet();
            return;
        }
        self.join = Join::Wanted;
        let mut longest_ms = 2 * COMMAND_RETRY_MS;
        if !refusal.is_retryable {
            self.cx.notify(Notification::Unseated(UnseatedReason::Halted));
            longest_ms = HALTED_RETRY_MS;
        }
        let ms = self.cx.random.draw_jitter(longest_ms);
        self.cx.schedule(ms, Timer::RejoinIfWanted);
        if !refusal.is_retryable {
            self.confirm_table();
        }
    }

    /// Handles the end of the seat; a search or the watching of another table continues.
    fn end_seat(&mut self, reason: UnseatedReason) {
        self.join = Join::NoTable;
        self.has_gap = false;
        let had_table = self.state.table.take().is_some();
        self.close_hint();
        if had_table {
            self.cx.store(StoreKey::Table, None);
        }
        if had_table || reason != UnseatedReason::NotSeated {
            self.cx.notify(Notification::Unseated(reason));
        }
        self.kind = None;
        let seek = self.state.seek.as_ref().filter(|seek| seek.is_waiting());
        let seek = seek.map(|seek| Intent::Seek { rooms: seek.rooms.clone() });
        if let Some(seek) = seek.filter(is_well_formed)
            && !self.outbox.has_intent(|intent| matches!(intent, Intent::Seek { .. }))
        {
            self.add_command(None, seek);
        }
        if let Some(table) = self.watching
            && !self.outbox.has_intent(|intent| matches!(intent, Intent::Watch { .. }))
        {
            self.add_command(None, Intent::Watch { table });
        }
        self.send_commands();
    }

    fn record_revealed(&mut self) {
        let game = self.seed.as_ref().map(|seed| seed.game);
        if let Some(mut table) = self.state.table.clone()
            && let Some(deal) = table.deal.as_mut().filter(|deal| Some(deal.game) == game)
        {
            deal.is_revealed = true;
            self.keep_table(table);
        }
    }
}
