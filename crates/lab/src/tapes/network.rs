//! The network between a simulated table and one of its players: the points at which the connection
//! breaks, the wishes of the player, and the commands that the client must then send. The messages
//! that it receives are in `messages`.

use bahay_base::ids::Tag;
use bahay_bots::simulation::{Simulation, SimulationStep};
use bahay_bots::table::ai_action;
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::Game;
use bahay_engine::hex::Hex;
use bahay_engine::table::{Event, GameId, Input, Phase, PlayerId, Table, TableView, Timestamp};
use bahay_protocol::OpenPrompt;
use bahay_protocol::brief::{Form, FormError};
use serde_json::{Value, json};

use crate::tapes::script::Script;

type Action = <AnyGame as Game>::Action;
type GameEvent = <AnyGame as Game>::Event;

/// The maximum number of updates that resume a connection; the server's default.
const RESUMED_MAX: usize = 64;

/// The id of the join command: the second of each connection, after `authenticate`.
pub(super) const JOIN: u32 = 1;

/// Per thousand commands: the answer is lost, or the command itself.
const ANSWER_LOST: usize = 120;
const COMMAND_LOST: usize = 120;
/// Per thousand reconnections: the server sends a snapshot instead of resuming, an old message
/// arrives late, or the token has expired.
const SNAPSHOT_INSTEAD: usize = 150;
const OLD_MESSAGE: usize = 400;
const TOKEN_EXPIRED: usize = 500;
/// Per thousand lost connections: the machine sleeps, the connection dies silently, or a captive
/// portal intercepts it. All others are reported to the client.
const SLEEP: usize = 400;
const DEAD: usize = 150;
const PORTAL: usize = 100;
/// Per thousand starts: a captive portal intercepts the connection.
const PORTAL_AT_START: usize = 150;
/// Per thousand sleeps: the monotonic clock stops, or another tab has used the refresh token
/// before.
const CLOCK_STOPS: usize = 400;
const REFRESHED_BEFORE: usize = 100;
/// Per thousand refreshes that a tape causes: another tab has just refreshed, or the answer is
/// lost.
const REFRESHED_NOW: usize = 300;
const REFRESH_UNANSWERED: usize = 900;
/// Per thousand steps: the client's wall clock is set, by this many milliseconds.
const CLOCK_SET: usize = 10;
const CLOCK_SET_MS: i64 = 3_600_000;

/// The time within which a client has to reconnect if it is informed that it can, in milliseconds.
pub(super) const BACK_MS: i64 = 1_000;
/// The same time after a rejection, and without any information, in milliseconds.
const BACK_REFUSED_MS: i64 = 5_000;
const BACK_UNTOLD_MS: i64 = 30_000;
/// The time within which a client has to detect a dead connection, in milliseconds: while its
/// player is asked or a command is pending, and otherwise.
const NOTICED_URGENT_MS: i64 = 4_000;
const NOTICED_MS: i64 = 15_000;

/// An update as the player sees it, with the resulting view.
pub(super) struct ViewUpdate {
    pub(super) version: u64,
    pub(super) tag: Tag,
    pub(super) at: Timestamp,
    pub(super) events: Vec<Event<GameEvent>>,
    pub(super) view: TableView<AnyGame>,
}

/// A command of the player without an answer.
struct PendingAction {
    /// The number of the player's wish, from 1.
    wish: u32,
    game: GameId,
    prompt: u32,
    action: Action,
    /// The id under which the command was last sent.
    id: u32,
}

/// A temporary loss of the connection.
#[derive(Clone, Copy)]
enum ConnectionLoss {
    /// The network is down, and the client is informed.
    Network,
    /// Nothing arrives, silently. The client has to detect this by the given time.
    Dead { noticed_by_ms: i64 },
    /// The client's machine sleeps.
    Sleep { is_refreshed: bool },
}

pub(super) struct Recorder {
    pub(super) simulation: Simulation<AnyGame>,
    pub(super) script: Script,
    dice: ChanceRng,
    pub(super) player: Option<PlayerId>,
    pub(super) is_connected: bool,
    pub(super) is_joined: bool,
    is_over: bool,
    /// The last version of the player's history; below, the last one that was delivered, and the
    /// updates missed since.
    pub(super) version: u64,
    tag: Tag,
    pub(super) delivered_version: u64,
    pub(super) delivered_tag: Tag,
    pub(super) missed: Vec<ViewUpdate>,
    loss: Option<ConnectionLoss>,
    /// The time within which the client has to reconnect, in milliseconds.
    pub(super) back_ms: i64,
    pub(super) next_id: u32,
    wishes: u32,
    pending: Option<PendingAction>,
    /// The id of a revealed text that was not acknowledged.
    pub(super) reveal: Option<u32>,
    /// The last message as the client received it.
    pub(super) last: Option<Value>,
}

impl Recorder {
    pub(super) fn new(
        simulation: Simulation<AnyGame>,
        seed: u64,
        form: Form,
        (kind, rule_set): (&str, &str),
    ) -> Self {
        let header = json!({
            "tape": 2, "form": form.subprotocol(), "kind": kind, "rule_set": rule_set, "seed": seed,
        });
        let mut key = [1; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            simulation,
            script: Script::new(form, &header),
            dice: ChanceRng::new(Key(Hex(key))),
            player: None,
            is_connected: false,
            is_joined: false,
            is_over: false,
            version: 0,
            tag: Tag::default(),
            delivered_version: 0,
            delivered_tag: Tag::default(),
            missed: Vec::new(),
            loss: None,
            back_ms: BACK_MS,
            next_id: 0,
            wishes: 0,
            pending: None,
            reveal: None,
            last: None,
        }
    }

    /// Runs one step of the simulation. Returns true at the end of the tape.
    pub(super) fn step(&mut self) -> Result<bool, FormError> {
        let before = self.simulation.table().clone();
        let happened = self.simulation.step();
        let Some(player) = self.player else {
            self.begin_tape(&before, &happened)?;
            return Ok(false);
        };
        self.script.advance_clock(happened.line.at.ms());
        self.set_clock();
        let shown = self.redact_step(player, &happened);
        self.player_step(player, &before, &happened, shown)?;
        // A table of a tournament takes the seats back after its last game.
        let is_tournament = self.simulation.table().terms().tournament.is_some();
        self.is_over |= happened.record.is_some() && !is_tournament;
        if self.simulation.table().seat_of(player).is_none() {
            return Ok(true);
        }
        Ok(self.is_over && self.is_connected && self.pending.is_none())
    }

    /// Ends the tape: another connection replaces this one, or the session ends.
    pub(super) fn finish(mut self) -> String {
        let is_seated = self.player.is_some_and(|player| {
            self.is_connected && self.simulation.table().seat_of(player).is_some()
        });
        if is_seated {
            let (code, link) =
                if self.draw_chance(500) { (4001, "replaced") } else { (4003, "signed_out") };
            self.script.push_timed(json!({ "close": code }));
            self.script.advance_clock(self.simulation.now().ms() + 120_000);
            self.script.push_timed(json!({ "link": link }));
        }
        self.script.into_text()
    }

    /// Begins the tape with the first player who connects.
    fn begin_tape(
        &mut self,
        before: &Table<AnyGame>,
        happened: &SimulationStep<AnyGame>,
    ) -> Result<(), FormError> {
        let Input::Connect { player, .. } = happened.line.input else {
            return Ok(());
        };
        self.player = Some(player);
        self.version = 5 + self.dice.below(50) as u64;
        self.tag = self.new_tag();
        self.script.advance_clock(happened.line.at.ms());
        let is_portal = self.draw_chance(PORTAL_AT_START);
        if is_portal {
            self.script.push_timed(json!({ "net": "portal" }));
        }
        self.script.push_timed(json!({ "do": { "type": "start" }, "player": player }));
        if is_portal {
            self.script.push_timed(json!({ "net": "up" }));
            self.back_ms = BACK_UNTOLD_MS;
        }
        let view = before.view(Some(player));
        let shown = self.redact_step(player, happened);
        self.reconnect(player, happened.line.at, &view, shown)
    }

    /// Returns the part of a step that the player sees, with its version and tag in the player's
    /// history.
    fn redact_step(
        &mut self,
        player: PlayerId,
        happened: &SimulationStep<AnyGame>,
    ) -> Option<ViewUpdate> {
        let table = self.simulation.table();
        let viewer = table.viewer(player);
        let events = happened.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
        let events: Vec<_> = events.collect();
        if events.is_empty() {
            return None;
        }
        let view = table.view(Some(player));
        self.version += 1;
        self.tag = self.new_tag();
        let at = happened.line.at;
        Some(ViewUpdate { version: self.version, tag: self.tag, at, events, view })
    }

    fn player_step(
        &mut self,
        player: PlayerId,
        before: &Table<AnyGame>,
        happened: &SimulationStep<AnyGame>,
        shown: Option<ViewUpdate>,
    ) -> Result<(), FormError> {
        let line = &happened.line;
        match &line.input {
            Input::Connect { player: who, .. } if *who == player => {
                let view = before.view(Some(player));
                self.reconnect(player, line.at, &view, shown)
            }
            Input::Disconnect { player: who, .. } if *who == player => {
                self.act_before_loss(player, before);
                let is_urgent = self.pending.is_some()
                    || OpenPrompt::from_view(&before.view(Some(player)))
                        .is_some_and(|prompt| !prompt.legal.is_empty());
                self.lose_connection(line.at, is_urgent);
                self.missed.extend(shown);
                Ok(())
            }
            Input::Act { player: who, game, prompt, action } if *who == player => {
                self.act((*game, *prompt, action), shown)
            }
            Input::Ready { player: who, game, commitment } if *who == player => {
                let text = commitment.as_ref().and_then(|_| self.simulation.seed_text(player));
                let wish = json!({ "type": "ready", "text": text });
                let mut command = json!({ "type": "ready", "game": game });
                if let Some(commitment) = commitment {
                    command["commitment"] = json!(commitment);
                }
                self.run_command(&wish, command, shown)
            }
            Input::Leave { player: who } if *who == player => {
                self.run_command(&json!({ "type": "leave" }), json!({ "type": "leave" }), shown)
            }
            Input::Reveal { player: who, .. } if *who == player => match self.reveal.take() {
                Some(id) => self.deliver_answer(id, shown),
                None => self.deliver(shown),
            },
            _ => {
                self.deliver(shown)?;
                self.refuse_late_commands()
            }
        }
    }

    /// Performs a wish of the player that takes effect in this step.
    fn run_command(
        &mut self,
        wish: &Value,
        command: Value,
        shown: Option<ViewUpdate>,
    ) -> Result<(), FormError> {
        let wish = self.push_wish(wish);
        let id = self.send_command(command);
        self.finish_wish(wish, id, shown)
    }

    fn finish_wish(
        &mut self,
        wish: u32,
        command: u32,
        shown: Option<ViewUpdate>,
    ) -> Result<(), FormError> {
        self.deliver_answer(command, shown)?;
        self.end_wish(wish, "done");
        Ok(())
    }

    fn act(
        &mut self,
        (game, prompt, action): (GameId, u32, &Action),
        shown: Option<ViewUpdate>,
    ) -> Result<(), FormError> {
        // The command was sent before the connection broke, and repeated since.
        if let Some(open) = self.pending.take() {
            assert!(
                (open.game, open.prompt, &open.action) == (game, prompt, action),
                "a repeated prompt gets the same action"
            );
            return self.finish_wish(open.wish, open.id, shown);
        }
        let wish = self.push_wish(&json!({ "type": "act", "action": action }));
        let mut id = self.send_action(game, prompt, action);
        if self.draw_chance(ANSWER_LOST) {
            // The table has stored the command, and the client reconnects without knowing it.
            self.break_off();
            self.missed.extend(shown);
            self.resume()?;
            self.end_wish(wish, "overtaken");
            return Ok(());
        }
        if self.draw_chance(COMMAND_LOST) {
            self.break_off();
            self.resume()?;
            id = self.send_action(game, prompt, action);
        }
        self.finish_wish(wish, id, shown)
    }

    /// Sends an action in half of the cases in which the player is asked when the connection
    /// breaks, and loses its answer.
    fn act_before_loss(&mut self, player: PlayerId, before: &Table<AnyGame>) {
        let is_free = self.pending.is_none() && self.draw_chance(500);
        let seat = before.seat_of(player).filter(|_| is_free);
        let (Some(seat), Phase::Playing(playing)) = (seat, before.phase()) else {
            return;
        };
        if !playing.prompt.seats.contains(seat) {
            return;
        }
        let Some(Input::AiAction { game, prompt, action, .. }) = ai_action(before, seat) else {
            return;
        };
        let wish = self.push_wish(&json!({ "type": "act", "action": action }));
        let id = self.send_action(game, prompt, &action);
        self.pending = Some(PendingAction { wish, game, prompt, action, id });
    }

    /// Loses the connection, for as long as the simulation says. `is_urgent` means that the player
    /// is asked or a command is pending.
    fn lose_connection(&mut self, at: Timestamp, is_urgent: bool) {
        self.is_connected = false;
        let kind = self.dice.below(1_000);
        let loss = if kind < SLEEP {
            self.begin_sleep()
        } else if kind < SLEEP + DEAD {
            self.script.push_timed(json!({ "net": "dead" }));
            let noticed_ms = if is_urgent { NOTICED_URGENT_MS } else { NOTICED_MS };
            ConnectionLoss::Dead { noticed_by_ms: at.ms() + noticed_ms }
        } else {
            let net = if kind < SLEEP + DEAD + PORTAL { "portal" } else { "down" };
            self.script.push_timed(json!({ "net": net }));
            self.break_off();
            ConnectionLoss::Network
        };
        self.loss = Some(loss);
    }

    fn begin_sleep(&mut self) -> ConnectionLoss {
        let is_refreshed = self.draw_chance(REFRESHED_BEFORE);
        if is_refreshed {
            self.script.push_timed(json!({ "refresh": "elsewhere" }));
        }
        let mut line = json!({ "sleep": true });
        if self.draw_chance(CLOCK_STOPS) {
            line["stops"] = true.into();
        }
        self.script.push_timed(line);
        ConnectionLoss::Sleep { is_refreshed }
    }

    /// Sets the client's wall clock at times, but not while it sleeps.
    fn set_clock(&mut self) {
        if self.draw_chance(CLOCK_SET) && !matches!(self.loss, Some(ConnectionLoss::Sleep { .. })) {
            let ms = if self.draw_chance(500) { CLOCK_SET_MS } else { -CLOCK_SET_MS };
            self.script.push_timed(json!({ "clock": ms }));
        }
    }

    /// Closes the connection for a moment; the network stays up.
    fn break_off(&mut self) {
        const CODES: [u16; 6] = [1006, 1006, 1001, 1011, 4008, 1005];
        let code = CODES[self.dice.below(CODES.len())];
        self.script.push_timed(json!({ "close": code }));
    }

    /// Reconnects the client, after the simulation has done so.
    fn reconnect(
        &mut self,
        player: PlayerId,
        at: Timestamp,
        view: &TableView<AnyGame>,
        shown: Option<ViewUpdate>,
    ) -> Result<(), FormError> {
        self.is_connected = true;
        match self.loss.take() {
            None => {}
            Some(ConnectionLoss::Network) => {
                self.script.push_timed(json!({ "net": "up" }));
                self.script.push_timed(json!({ "do": { "type": "wake" } }));
            }
            Some(ConnectionLoss::Dead { noticed_by_ms }) => {
                if noticed_by_ms <= at.ms() {
                    self.script.push_line(&json!({ "at": noticed_by_ms, "noticed": true }));
                }
                self.script.push_timed(json!({ "net": "up" }));
                self.back_ms = BACK_UNTOLD_MS;
            }
            Some(ConnectionLoss::Sleep { is_refreshed }) => {
                if self.draw_chance(TOKEN_EXPIRED) || is_refreshed {
                    self.expire_token(is_refreshed);
                }
                self.script.push_timed(json!({ "do": { "type": "wake" } }));
            }
        }
        let is_first = self.delivered_version == 0;
        let is_too_much = self.missed.len() > RESUMED_MAX;
        let late = self.last.clone();
        self.open_connection(player, at)?;
        if is_first || is_too_much || self.draw_chance(SNAPSHOT_INSTEAD) {
            self.send_snapshot(at, view, shown.as_ref())?;
        } else {
            self.catch_up()?;
        }
        if self.draw_chance(OLD_MESSAGE)
            && let Some(late) = late
            && !is_first
        {
            // A message of an old connection must have no effect.
            self.script.push_late_message(late);
        }
        self.finish_join(shown)?;
        self.resend_pending()
    }

    /// Rejects the present access tokens, so that the client refreshes.
    fn expire_token(&mut self, is_refreshed: bool) {
        self.script.push_timed(json!({ "expire": true }));
        self.back_ms = BACK_REFUSED_MS;
        if is_refreshed {
            return;
        }
        if self.draw_chance(REFRESHED_NOW) {
            self.script.push_timed(json!({ "refresh": "elsewhere" }));
        } else if self.draw_chance(REFRESH_UNANSWERED) {
            self.script.push_timed(json!({ "refresh": "unanswered" }));
        }
    }

    /// Reconnects the client without a disconnection at the table.
    fn resume(&mut self) -> Result<(), FormError> {
        let Some(player) = self.player else {
            return Ok(());
        };
        self.open_connection(player, self.simulation.now())?;
        self.catch_up()?;
        self.finish_join(None)
    }

    /// Delivers the update with the player's presence, if there is one, and acknowledges the join:
    /// the view is current, and commands are accepted.
    fn finish_join(&mut self, shown: Option<ViewUpdate>) -> Result<(), FormError> {
        self.deliver_answer(JOIN, shown)?;
        self.is_joined = true;
        self.script.push_line(&json!({ "current": true }));
        let view = self.simulation.table().view(self.player);
        self.send_text_if_asked(&view);
        Ok(())
    }

    /// Repeats an action without an answer after a reconnection, if it is still asked for.
    fn resend_pending(&mut self) -> Result<(), FormError> {
        let Some(open) = self.pending.take() else {
            return Ok(());
        };
        if self.waits_for(&open) {
            let PendingAction { game, prompt, ref action, .. } = open;
            let id = self.send_action(game, prompt, action);
            self.pending = Some(PendingAction { id, ..open });
        } else {
            self.end_wish(open.wish, "overtaken");
        }
        Ok(())
    }

    fn waits_for(&self, open: &PendingAction) -> bool {
        let view = self.simulation.table().view(self.player);
        OpenPrompt::from_view(&view).is_some_and(|prompt| {
            prompt.game == open.game && prompt.number == open.prompt && !prompt.legal.is_empty()
        })
    }

    /// Rejects repeated commands whose prompt passed before they were processed.
    fn refuse_late_commands(&mut self) -> Result<(), FormError> {
        if !self.is_connected {
            return Ok(());
        }
        if let Some(open) = self.pending.take() {
            if self.waits_for(&open) {
                self.pending = Some(open);
            } else {
                self.send_refusal(open.id, "stale_prompt")?;
                self.end_wish(open.wish, "overtaken");
            }
        }
        let is_revealing = matches!(self.simulation.table().phase(), Phase::Revealing(_));
        if let Some(id) = self.reveal.take_if(|_| !is_revealing) {
            self.send_refusal(id, "wrong_phase")?;
        }
        Ok(())
    }

    fn push_wish(&mut self, wish: &Value) -> u32 {
        self.wishes += 1;
        self.script.push_timed(json!({ "do": wish }));
        self.wishes
    }

    pub(super) fn send_command(&mut self, mut command: Value) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        command["id"] = id.into();
        self.script.push_line(&json!({ "send": command }));
        id
    }

    fn send_action(&mut self, game: GameId, prompt: u32, action: &Action) -> u32 {
        self.send_command(
            json!({ "type": "act", "game": game, "prompt": prompt, "action": action }),
        )
    }

    fn end_wish(&mut self, wish: u32, outcome: &str) {
        self.script.push_line(&json!({ "end": { "wish": wish, "outcome": outcome } }));
    }

    pub(super) fn new_tag(&mut self) -> Tag {
        Tag(Hex([0; 6].map(|_| u8::try_from(self.dice.below(256)).unwrap_or_default())))
    }

    fn draw_chance(&mut self, per_mille: usize) -> bool {
        self.dice.below(1_000) < per_mille
    }
}
