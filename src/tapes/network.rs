//! What happens between a simulated table and one player of it: where the connection breaks, what the
//! player wants, and what the client must say then. What it hears is in `telling`.

use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{Answer, Dice, Key, Request};
use bahay_engine::game::Game;
use bahay_engine::hex::Hex;
use bahay_engine::table::simulation::{Happened, Simulation};
use bahay_engine::table::{Event, GameId, Input, Phase, PlayerId, Table, TableView, Timestamp};
use serde_json::{Value, json};

use crate::ids::Tag;
use crate::tapes::script::Script;
use crate::ws::protocol::OpenPrompt;
use crate::ws::protocol::brief::{Form, FormError};

type Action = <AnyGame as Game>::Action;
type GameEvent = <AnyGame as Game>::Event;

/// Updates that resume a connection, at most; the server's default.
const RESUMED_MAX: usize = 64;

/// The id of the command that joins: the second of each connection, after `authenticate`.
pub(super) const JOIN: u32 = 1;

/// Out of a thousand commands: their answer is lost, or they are lost themselves.
const ANSWER_LOST: u32 = 120;
const COMMAND_LOST: u32 = 120;
/// Out of a thousand returns: the server has nothing to resume from, or an old message comes late.
const SNAPSHOT_INSTEAD: u32 = 150;
const OLD_MESSAGE: u32 = 400;
const TOKEN_EXPIRED: u32 = 500;
/// Out of a thousand cuts: the machine sleeps, the connection dies without a word, or a captive
/// portal stands in the way. All others are told to the client.
const SLEEP: u32 = 400;
const DEAD: u32 = 150;
const PORTAL: u32 = 100;
/// Out of a thousand starts: they meet a captive portal.
const PORTAL_AT_START: u32 = 150;
/// Out of a thousand sleeps: the monotonic clock stands still, or another tab has used the refresh
/// token before.
const CLOCK_STOPS: u32 = 400;
const REFRESHED_BEFORE: u32 = 100;
/// Out of a thousand refreshes that a tape brings about: another tab has just done the same, or the
/// answer is lost.
const REFRESHED_NOW: u32 = 300;
const REFRESH_UNANSWERED: u32 = 900;
/// Out of a thousand steps: the client's wall clock is set.
const CLOCK_SET: u32 = 10;
const CLOCK_SET_MS: i64 = 3_600_000;

/// A client is back within this time where it is told that it can be, in milliseconds.
pub(super) const BACK_MS: i64 = 1_000;
/// The same where it is refused on the way or not told, in milliseconds.
const BACK_REFUSED_MS: i64 = 5_000;
const BACK_UNTOLD_MS: i64 = 30_000;
/// A client notices within this time that a connection is dead, in milliseconds: where its player is
/// asked or a command waits, and elsewhere.
const NOTICED_URGENT_MS: i64 = 4_000;
const NOTICED_MS: i64 = 15_000;

/// Something that the player is shown, and what the table is to it afterwards.
pub(super) struct Shown {
    pub(super) version: u64,
    pub(super) tag: Tag,
    pub(super) at: Timestamp,
    pub(super) events: Vec<Event<GameEvent>>,
    pub(super) view: TableView<AnyGame>,
}

/// A command of the player that has had no answer.
struct Open {
    /// Which of the player's wishes it is, counted from 1.
    wish: u32,
    game: GameId,
    prompt: u32,
    action: Action,
    /// Its id where it was sent last.
    id: u32,
}

/// How the connection ends, for a while.
#[derive(Clone, Copy)]
enum Cut {
    /// The network is gone, and the client is told of it.
    Network,
    /// Nothing arrives any more, and nobody says so. The client has to notice by then.
    Dead { noticed_by_ms: i64 },
    /// The client's machine sleeps.
    Sleep { is_refreshed: bool },
}

pub(super) struct Recorder {
    pub(super) simulation: Simulation<AnyGame>,
    pub(super) script: Script,
    dice: Dice,
    pub(super) player: Option<PlayerId>,
    pub(super) is_connected: bool,
    pub(super) is_joined: bool,
    is_over: bool,
    /// The last version that the client has, and what it was not told after that.
    pub(super) version: u64,
    tag: Tag,
    pub(super) told: u64,
    pub(super) told_tag: Tag,
    pub(super) missed: Vec<Shown>,
    cut: Option<Cut>,
    /// Within what time the client is to be back, in milliseconds.
    pub(super) back_ms: i64,
    pub(super) next_id: u32,
    wishes: u32,
    open: Option<Open>,
    /// The id of a text that was revealed and not acknowledged.
    pub(super) reveal: Option<u32>,
    /// The last message, as the client heard it.
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
            dice: Dice::new(Key(Hex(key))),
            player: None,
            is_connected: false,
            is_joined: false,
            is_over: false,
            version: 0,
            tag: Tag::default(),
            told: 0,
            told_tag: Tag::default(),
            missed: Vec::new(),
            cut: None,
            back_ms: BACK_MS,
            next_id: 0,
            wishes: 0,
            open: None,
            reveal: None,
            last: None,
        }
    }

    /// One step of the simulation; true when the tape is at its end.
    pub(super) fn step(&mut self) -> Result<bool, FormError> {
        let before = self.simulation.table().clone();
        let happened = self.simulation.step();
        let Some(player) = self.player else {
            self.begin(&before, &happened)?;
            return Ok(false);
        };
        self.script.at(happened.line.at.ms());
        self.set_clock();
        let shown = self.shown(player, &happened);
        self.player_step(player, &before, &happened, shown)?;
        if happened.record.is_some() {
            self.is_over = true;
        }
        if self.simulation.table().seat_of(player).is_none() {
            return Ok(true);
        }
        Ok(self.is_over && self.is_connected && self.open.is_none())
    }

    /// The end of the tape: the connection is somebody else's, or the session ends.
    pub(super) fn finish(mut self) -> String {
        let is_seated = self.player.is_some_and(|player| {
            self.is_connected && self.simulation.table().seat_of(player).is_some()
        });
        if is_seated {
            let (code, link) =
                if self.chance_of(500) { (4001, "replaced") } else { (4003, "signed_out") };
            self.script.now(json!({ "close": code }));
            self.script.at(self.simulation.now().ms() + 120_000);
            self.script.now(json!({ "link": link }));
        }
        self.script.text()
    }

    /// The first player who connects is the one that the tape is about.
    fn begin(
        &mut self,
        before: &Table<AnyGame>,
        happened: &Happened<AnyGame>,
    ) -> Result<(), FormError> {
        let Input::Connect { player, .. } = happened.line.input else {
            return Ok(());
        };
        self.player = Some(player);
        self.version = 5 + u64::from(self.below(50));
        self.tag = self.new_tag();
        self.script.at(happened.line.at.ms());
        let is_portal = self.chance_of(PORTAL_AT_START);
        if is_portal {
            self.script.now(json!({ "net": "portal" }));
        }
        self.script.now(json!({ "do": { "type": "start" }, "player": player }));
        if is_portal {
            self.script.now(json!({ "net": "up" }));
            self.back_ms = BACK_UNTOLD_MS;
        }
        let view = before.view(Some(player));
        let shown = self.shown(player, happened);
        self.come_back(player, happened.line.at, &view, shown)
    }

    /// What the player is shown of a step, with the version and tag that this has for it.
    fn shown(&mut self, player: PlayerId, happened: &Happened<AnyGame>) -> Option<Shown> {
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
        Some(Shown { version: self.version, tag: self.tag, at, events, view })
    }

    fn player_step(
        &mut self,
        player: PlayerId,
        before: &Table<AnyGame>,
        happened: &Happened<AnyGame>,
        shown: Option<Shown>,
    ) -> Result<(), FormError> {
        let line = &happened.line;
        match &line.input {
            Input::Connect { player: who, .. } if *who == player => {
                let view = before.view(Some(player));
                self.come_back(player, line.at, &view, shown)
            }
            Input::Disconnect { player: who, .. } if *who == player => {
                self.wish_before_the_cut(player, before);
                let is_urgent = self.open.is_some()
                    || OpenPrompt::of(&before.view(Some(player)))
                        .is_some_and(|prompt| !prompt.legal.is_empty());
                self.go_away(line.at, is_urgent);
                self.missed.extend(shown);
                Ok(())
            }
            Input::Act { player: who, game, prompt, action } if *who == player => {
                self.act((*game, *prompt, action), shown)
            }
            Input::Ready { player: who, game, commitment } if *who == player => {
                let text = commitment.as_ref().and_then(|_| self.simulation.text_of(player));
                let wish = json!({ "type": "ready", "text": text });
                let mut command = json!({ "type": "ready", "game": game });
                if let Some(commitment) = commitment {
                    command["commitment"] = json!(commitment);
                }
                self.command(&wish, command, shown)
            }
            Input::Leave { player: who } if *who == player => {
                self.command(&json!({ "type": "leave" }), json!({ "type": "leave" }), shown)
            }
            Input::Reveal { player: who, .. } if *who == player => {
                self.tell(shown)?;
                if let Some(id) = self.reveal.take() {
                    self.ack(id)?;
                }
                Ok(())
            }
            _ => {
                self.tell(shown)?;
                self.refuse_what_is_too_late()
            }
        }
    }

    /// A wish of the player that takes effect with this step.
    fn command(
        &mut self,
        wish: &Value,
        command: Value,
        shown: Option<Shown>,
    ) -> Result<(), FormError> {
        let number = self.wish(wish);
        let id = self.send(command);
        self.tell(shown)?;
        self.ack(id)?;
        self.ended(number, "done");
        Ok(())
    }

    fn act(
        &mut self,
        (game, prompt, action): (GameId, u32, &Action),
        shown: Option<Shown>,
    ) -> Result<(), FormError> {
        // It was sent before the connection broke, and once more since.
        if let Some(open) = self.open.take() {
            assert!(
                (open.game, open.prompt, &open.action) == (game, prompt, action),
                "the same question has the same answer"
            );
            self.tell(shown)?;
            self.ack(open.id)?;
            self.ended(open.wish, "done");
            return Ok(());
        }
        let wish = json!({ "type": "act", "action": action });
        let command = json!({ "type": "act", "game": game, "prompt": prompt, "action": action });
        let number = self.wish(&wish);
        let mut id = self.send(command.clone());
        if self.chance_of(ANSWER_LOST) {
            // The table has it, and the client comes back without knowing.
            self.break_off();
            self.missed.extend(shown);
            self.resume()?;
            self.ended(number, "overtaken");
            return Ok(());
        }
        if self.chance_of(COMMAND_LOST) {
            self.break_off();
            self.resume()?;
            id = self.send(command);
        }
        self.tell(shown)?;
        self.ack(id)?;
        self.ended(number, "done");
        Ok(())
    }

    /// Half of those who are asked when the connection breaks have answered a moment before, and
    /// the answer did not arrive.
    fn wish_before_the_cut(&mut self, player: PlayerId, before: &Table<AnyGame>) {
        let is_free = self.open.is_none() && self.chance_of(500);
        let seat = before.seat_of(player).filter(|_| is_free);
        let (Some(seat), Phase::Playing(playing)) = (seat, before.phase()) else {
            return;
        };
        if !playing.asked.seats.contains(seat) {
            return;
        }
        let Some(Input::Advise { game, prompt, action, .. }) = before.advice(seat) else {
            return;
        };
        let wish = self.wish(&json!({ "type": "act", "action": action }));
        let command = json!({ "type": "act", "game": game, "prompt": prompt, "action": action });
        let id = self.send(command);
        self.open = Some(Open { wish, game, prompt, action, id });
    }

    /// The connection breaks, for as long as the simulation says. `is_urgent`: the player is asked,
    /// or a command waits.
    fn go_away(&mut self, at: Timestamp, is_urgent: bool) {
        self.is_connected = false;
        let kind = self.below(1_000);
        let cut = if kind < SLEEP {
            self.sleep()
        } else if kind < SLEEP + DEAD {
            self.script.now(json!({ "net": "dead" }));
            let noticed_ms = if is_urgent { NOTICED_URGENT_MS } else { NOTICED_MS };
            Cut::Dead { noticed_by_ms: at.ms() + noticed_ms }
        } else {
            let net = if kind < SLEEP + DEAD + PORTAL { "portal" } else { "down" };
            self.script.now(json!({ "net": net }));
            self.break_off();
            Cut::Network
        };
        self.cut = Some(cut);
    }

    fn sleep(&mut self) -> Cut {
        let is_refreshed = self.chance_of(REFRESHED_BEFORE);
        if is_refreshed {
            self.script.now(json!({ "refresh": "elsewhere" }));
        }
        let mut line = json!({ "sleep": true });
        if self.chance_of(CLOCK_STOPS) {
            line["stops"] = true.into();
        }
        self.script.now(line);
        Cut::Sleep { is_refreshed }
    }

    /// Sets the client's wall clock now and then, but not while it sleeps.
    fn set_clock(&mut self) {
        if self.chance_of(CLOCK_SET) && !matches!(self.cut, Some(Cut::Sleep { .. })) {
            let ms = if self.chance_of(500) { CLOCK_SET_MS } else { -CLOCK_SET_MS };
            self.script.now(json!({ "clock": ms }));
        }
    }

    /// The connection breaks for a moment, and the network stays.
    fn break_off(&mut self) {
        let code = self.closing_code();
        self.script.now(json!({ "close": code }));
    }

    fn closing_code(&mut self) -> u16 {
        const CODES: [u16; 6] = [1006, 1006, 1001, 1011, 4008, 1005];
        CODES[self.below(6) as usize]
    }

    /// The client is back at the table, after the simulation has said so.
    fn come_back(
        &mut self,
        player: PlayerId,
        at: Timestamp,
        view: &TableView<AnyGame>,
        shown: Option<Shown>,
    ) -> Result<(), FormError> {
        self.is_connected = true;
        match self.cut.take() {
            None => {}
            Some(Cut::Network) => {
                self.script.now(json!({ "net": "up" }));
                self.script.now(json!({ "do": { "type": "wake" } }));
            }
            Some(Cut::Dead { noticed_by_ms }) => {
                if noticed_by_ms <= at.ms() {
                    self.script.line(&json!({ "at": noticed_by_ms, "noticed": true }));
                }
                self.script.now(json!({ "net": "up" }));
                self.back_ms = BACK_UNTOLD_MS;
            }
            Some(Cut::Sleep { is_refreshed }) => {
                if self.chance_of(TOKEN_EXPIRED) || is_refreshed {
                    self.expire(is_refreshed);
                }
                self.script.now(json!({ "do": { "type": "wake" } }));
            }
        }
        let is_first = self.told == 0;
        let is_too_much = self.missed.len() > RESUMED_MAX;
        let late = self.last.clone();
        self.enter(player, at)?;
        if is_first || is_too_much || self.chance_of(SNAPSHOT_INSTEAD) {
            self.snapshot(at, view, shown.as_ref())?;
        } else {
            self.catch_up()?;
        }
        if self.chance_of(OLD_MESSAGE)
            && let Some(late) = late
            && !is_first
        {
            // It says nothing any more, whatever it says.
            self.script.heard_before(&late);
        }
        self.tell(shown)?;
        self.joined()?;
        self.say_again()
    }

    /// Access tokens are refused from here on, so that the client refreshes.
    fn expire(&mut self, is_refreshed: bool) {
        self.script.now(json!({ "expire": true }));
        self.back_ms = BACK_REFUSED_MS;
        if is_refreshed {
            return;
        }
        if self.chance_of(REFRESHED_NOW) {
            self.script.now(json!({ "refresh": "elsewhere" }));
        } else if self.chance_of(REFRESH_UNANSWERED) {
            self.script.now(json!({ "refresh": "unanswered" }));
        }
    }

    /// The same where the table has not noticed that the client was away.
    fn resume(&mut self) -> Result<(), FormError> {
        let Some(player) = self.player else {
            return Ok(());
        };
        self.enter(player, self.simulation.now())?;
        self.catch_up()?;
        self.joined()
    }

    /// What is shown is current from here on, and commands are taken.
    fn joined(&mut self) -> Result<(), FormError> {
        self.is_joined = true;
        self.ack(JOIN)?;
        self.script.line(&json!({ "current": true }));
        let view = self.simulation.table().view(self.player);
        self.send_text_if_asked(&view);
        Ok(())
    }

    /// After coming back: an action without an answer is said again where it is still asked for.
    fn say_again(&mut self) -> Result<(), FormError> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        if self.waits_for(&open) {
            let Open { game, prompt, ref action, .. } = open;
            let id = self.next_id;
            self.send(json!({ "type": "act", "game": game, "prompt": prompt, "action": action }));
            self.open = Some(Open { id, ..open });
        } else {
            self.ended(open.wish, "overtaken");
        }
        Ok(())
    }

    fn waits_for(&self, open: &Open) -> bool {
        let view = self.simulation.table().view(self.player);
        OpenPrompt::of(&view).is_some_and(|prompt| {
            prompt.game == open.game && prompt.number == open.prompt && !prompt.legal.is_empty()
        })
    }

    /// The question has passed before what was said again could be looked at.
    fn refuse_what_is_too_late(&mut self) -> Result<(), FormError> {
        if !self.is_connected {
            return Ok(());
        }
        if let Some(open) = self.open.take_if(|_| true) {
            if self.waits_for(&open) {
                self.open = Some(open);
            } else {
                self.refuse(open.id, "stale_prompt")?;
                self.ended(open.wish, "overtaken");
            }
        }
        let is_revealing = matches!(self.simulation.table().phase(), Phase::Revealing(_));
        if let Some(id) = self.reveal.take_if(|_| !is_revealing) {
            self.refuse(id, "wrong_phase")?;
        }
        Ok(())
    }

    fn wish(&mut self, wish: &Value) -> u32 {
        self.wishes += 1;
        self.script.now(json!({ "do": wish }));
        self.wishes
    }

    pub(super) fn send(&mut self, mut command: Value) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        command["id"] = id.into();
        self.script.line(&json!({ "send": command }));
        id
    }

    fn ended(&mut self, wish: u32, outcome: &str) {
        self.script.line(&json!({ "end": { "wish": wish, "outcome": outcome } }));
    }

    pub(super) fn new_tag(&mut self) -> Tag {
        let mut bytes = [0; 6];
        for byte in &mut bytes {
            *byte = u8::try_from(self.below(256)).unwrap_or_default();
        }
        Tag(Hex(bytes))
    }

    fn chance_of(&mut self, per_mille: u32) -> bool {
        self.below(1_000) < per_mille
    }

    fn below(&mut self, number: u32) -> u32 {
        match self.dice.draw(Request::Number(number)) {
            Answer::Number(number) => number,
            Answer::Order(_) => 0,
        }
    }
}
