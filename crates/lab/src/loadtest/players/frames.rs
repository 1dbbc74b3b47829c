//! Checks of every received message for information that its player must not have.
//!
//! A message is decoded and encoded again, and must be the same, so no field holds anything that
//! its reader did not understand. Redacting an event of a game for this seat once more must change
//! nothing, and the offered actions must be those that follow from the seat's own view. No seed may
//! come before its game is over. Events could still be untrue: some games are compared with their
//! records (see `audit`).

use bahay_client::RawMessage;
use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::table::{Event, PhaseView, TableView};
use bahay_engine::variants;
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{Message, OpenPrompt};
use serde_json::Value;

use super::audit::{EVERY, ObservedGame};

/// The field name of a deal's secret.
const SECRET: &[u8] = b"server_seed";

type GameEvent = <AnyGame as Game>::Event;
type Action = <AnyGame as Game>::Action;

/// A checker of one connection's messages.
#[derive(Debug)]
pub(in crate::loadtest) struct FrameChecker {
    shorthand: Shorthand,
    /// The buffer for the encoded message.
    written: Vec<u8>,
    /// The viewer of the current game.
    viewer: Option<Viewer>,
    /// The current game, if it is to be compared with its record.
    shown: Option<ObservedGame>,
    /// A counter of games, by which games are chosen for an audit.
    games: u32,
}

impl FrameChecker {
    /// Creates a checker. Players with different numbers choose different games.
    pub(in crate::loadtest) fn new(form: Form, number: u32) -> Self {
        let shorthand = Shorthand::new(form);
        Self { shorthand, written: Vec::new(), viewer: None, shown: None, games: number }
    }

    /// Checks a message against its receiver's view, to which it was already applied. Returns a
    /// settled game that is to be compared with its record.
    ///
    /// # Errors
    ///
    /// Fails with a description of the leaked or wrong part.
    pub(in crate::loadtest) fn check(
        &mut self,
        frame: &RawMessage,
        message: &Message<AnyGame>,
        view: Option<&TableView<AnyGame>>,
    ) -> Result<Option<ObservedGame>, String> {
        self.check_nothing_more(frame, message)?;
        let (events, prompt): (&[_], _) = match message {
            Message::Update { events, prompt, .. } => (events, prompt.as_ref()),
            Message::Snapshot { prompt, .. } => (&[], prompt.as_ref()),
            _ => (&[], None),
        };
        let is_over = events.iter().any(|event| matches!(event, Event::Over { .. }));
        if !is_over && frame.as_bytes().windows(SECRET.len()).any(|word| word == SECRET) {
            return Err(format!("the secret of a deal that is not over: {frame:?}"));
        }
        let Some(view) = view else {
            return Ok(None);
        };
        if let Some(prompt) = prompt {
            check_prompt(prompt, view)?;
        }
        if let Message::Snapshot { .. } = message {
            self.begin_from_snapshot(view);
        }
        let mut settled = None;
        for event in events {
            settled = self.follow(event, view)?.or(settled);
        }
        Ok(settled)
    }

    /// Checks that the message holds no more than its decoded form.
    fn check_nothing_more(
        &mut self,
        frame: &RawMessage,
        message: &Message<AnyGame>,
    ) -> Result<(), String> {
        self.written.clear();
        let written = self.shorthand.write(message, &mut self.written);
        written.map_err(|error| format!("{error} in {frame:?}"))?;
        if self.written == frame.as_bytes() {
            return Ok(());
        }
        // The order of fields may differ.
        let received = self.decode(frame.as_bytes())?;
        let understood = self.decode(&self.written)?;
        if received == understood {
            return Ok(());
        }
        Err(format!("{received} holds more than {understood}"))
    }

    fn decode(&self, bytes: &[u8]) -> Result<Value, String> {
        match self.shorthand.form() {
            Form::Full | Form::Brief => {
                serde_json::from_slice(bytes).map_err(|error| error.to_string())
            }
            Form::Compact => rmp_serde::from_slice(bytes).map_err(|error| error.to_string()),
        }
    }

    /// Begins anew from a snapshot, which may come during a game.
    fn begin_from_snapshot(&mut self, view: &TableView<AnyGame>) {
        self.viewer = None;
        self.shown = None;
        if let PhaseView::Playing { game, view: game_view, .. } = &view.phase {
            let viewer = view.viewer();
            self.viewer = Some(viewer);
            if let Viewer::Seat(seat) = viewer {
                self.shown = Some(ObservedGame::new(*game, seat, Some(game_view.clone())));
            }
        }
    }

    fn follow(
        &mut self,
        event: &Event<GameEvent>,
        view: &TableView<AnyGame>,
    ) -> Result<Option<ObservedGame>, String> {
        match event {
            Event::Opened { game, stakes, .. } => {
                // A player that sat down after the opening watches this game.
                let seat = view.seat.filter(|seat| seat.index() < stakes.len());
                self.viewer = Some(seat.map_or(Viewer::Public, Viewer::Seat));
                let is_chosen = self.games.is_multiple_of(EVERY);
                self.games = self.games.wrapping_add(1);
                let seat = seat.filter(|_| is_chosen);
                self.shown = seat.map(|seat| ObservedGame::new(*game, seat, None));
            }
            Event::Game { event } => {
                let viewer = self.viewer.unwrap_or(view.viewer());
                if AnyGame::redact(event, viewer).as_ref() != Some(event) {
                    return Err(format!("{event:?} is not for {viewer:?}"));
                }
                if let Some(shown) = &mut self.shown {
                    shown.push_event(event);
                }
            }
            Event::Over { settlement, server_seed, .. } => {
                if let Some(shown) = &mut self.shown {
                    shown.set_result(settlement, *server_seed);
                }
            }
            Event::Settled { game, .. } => {
                self.viewer = None;
                return Ok(self.shown.take().filter(|shown| shown.game == *game));
            }
            variants!(Event: Sat, Left, Moved, Presence, Takeover, Waiting, Preparing, Ready,
                Opening, Revealing, Revealed, Countdown, PotRefunded, TermsUpdated) => {}
        }
        Ok(None)
    }
}

/// Checks that the offered actions follow from the seat's view.
fn check_prompt(prompt: &OpenPrompt<Action>, view: &TableView<AnyGame>) -> Result<(), String> {
    let known = OpenPrompt::from_view(view);
    let identity = |prompt: &OpenPrompt<Action>| (prompt.game, prompt.number, prompt.seats);
    match &known {
        Some(known) if identity(known) == identity(prompt) && known.legal == prompt.legal => Ok(()),
        Some(_) | None => Err(format!("{prompt:?} was sent where the view gives {known:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameChecker, SECRET};
    use crate::loadtest::players::audit::ObservedGame;
    use crate::rules::first_room;
    use bahay_bots::simulation::{Habits, Simulation};
    use bahay_client::RawMessage;
    use bahay_engine::catalog::{self, AnyGame};
    use bahay_engine::coins::Coins;
    use bahay_engine::game::{Game, Viewer};
    use bahay_engine::seat::Seat;
    use bahay_engine::table::{Event, PhaseView, PlayerId, Record, TableView, Terms, Timestamp};
    use bahay_protocol::Message;
    use bahay_protocol::brief::{Form, Shorthand};

    type GameEvent = <AnyGame as Game>::Event;

    /// A game at a table, step by step.
    struct SimulatedGame {
        before: TableView<AnyGame>,
        /// The unredacted events of each step.
        steps: Vec<Vec<Event<GameEvent>>>,
        record: Record<AnyGame>,
        player: PlayerId,
    }

    const SEAT: usize = 1;

    fn viewer() -> Viewer {
        Viewer::Seat(Seat::new(1).unwrap())
    }

    /// Plays one game of every rule set of every kind.
    fn games() -> Vec<SimulatedGame> {
        let kinds = catalog::kinds();
        let sets = kinds.iter().flat_map(|kind| &kind.rule_sets);
        sets.map(|set| {
            let terms =
                Terms { rules: set.rules.clone(), hits: set.hits, ..first_room().terms().clone() };
            let welcome = Coins::from_whole(1_000_000).unwrap();
            let mut tables = Simulation::<AnyGame>::new(5, terms, Habits::default(), welcome);
            while !matches!(tables.table().view(None).phase, PhaseView::Opening { .. }) {
                tables.step();
            }
            let player = tables.table().players()[SEAT];
            let before = tables.table().view(Some(player));
            let mut steps = Vec::new();
            loop {
                let happened = tables.step();
                steps.push(happened.events);
                if let Some(record) = happened.record {
                    return SimulatedGame { before, steps, record, player };
                }
            }
        })
        .collect()
    }

    /// Plays a game back to a checker, with each event as `hide` returns it.
    fn play_back(
        game: &SimulatedGame,
        form: Form,
        hide: impl Fn(&Event<GameEvent>) -> Option<Event<GameEvent>>,
    ) -> Result<Option<ObservedGame>, String> {
        let mut checker = FrameChecker::new(form, 0);
        let mut server = Shorthand::new(form);
        let mut view = game.before.clone();
        let mut settled = None;
        for (version, events) in (1..).zip(&game.steps) {
            let events: Vec<_> = events.iter().filter_map(&hide).collect();
            events.iter().for_each(|event| view.observe(event));
            let message = update(version, events);
            let frame = encode(&mut server, &message);
            settled = checker.check(&frame, &message, Some(&view))?.or(settled);
        }
        Ok(settled)
    }

    fn update(version: u64, events: Vec<Event<GameEvent>>) -> Message<AnyGame> {
        let tag = serde_json::from_str("\"7a61673a0001\"").unwrap();
        let server_time_ms = Timestamp::from_ms(0);
        Message::Update { version, tag, server_time_ms, events, prompt: None }
    }

    fn encode(server: &mut Shorthand, message: &Message<AnyGame>) -> RawMessage {
        let mut bytes = Vec::new();
        server.write(message, &mut bytes).unwrap();
        match server.form() {
            Form::Compact => RawMessage::Bytes(bytes.into()),
            Form::Full | Form::Brief => RawMessage::Text(String::from_utf8(bytes).unwrap().into()),
        }
    }

    #[test]
    fn the_events_for_a_seat_agree_with_the_record() {
        for game in games() {
            let record = serde_json::to_string(&game.record).unwrap();
            for form in Form::ALL {
                let shown = play_back(&game, form, |event| event.redact::<AnyGame>(viewer()));
                let shown = shown.unwrap().expect("the first game is chosen");
                shown.check(game.player, &record).unwrap();
                let other = game.record.players[0];
                assert!(shown.check(other, &record).is_err(), "another player's game");
            }
        }
    }

    #[test]
    fn an_event_hidden_from_the_seat_is_a_fault() {
        for game in games() {
            let fault = play_back(&game, Form::Full, |event| Some(event.clone())).unwrap_err();
            assert!(fault.contains("is not for"), "{fault}");
        }
    }

    #[test]
    fn a_withheld_or_untrue_event_is_a_fault() {
        for game in games() {
            let record = serde_json::to_string(&game.record).unwrap();
            let events = game.steps.iter().flatten();
            let mut of_game = events.filter(|event| matches!(event, Event::Game { .. }));
            let last = of_game.next_back().unwrap();
            let redacted = |event: &Event<GameEvent>| event.redact::<AnyGame>(viewer());
            let all_but_last = |event: &_| redacted(event).filter(|_| !std::ptr::eq(event, last));
            let withheld = play_back(&game, Form::Full, all_but_last);
            let fault = withheld.unwrap().unwrap().check(game.player, &record).unwrap_err();
            assert!(fault.contains("None in place of"), "{fault}");
            let untrue = play_back(&game, Form::Full, |event| match redacted(event)? {
                Event::Over { game, mut settlement, server_seed } => {
                    let other = settlement.winner.is_none().then_some(Seat::new(0)).flatten();
                    settlement.winner = other;
                    Some(Event::Over { game, settlement, server_seed })
                }
                event => Some(event),
            });
            assert!(untrue.unwrap().unwrap().check(game.player, &record).is_err());
        }
    }

    #[test]
    fn a_view_during_a_game_agrees_with_the_record() {
        for game in games() {
            let record = serde_json::to_string(&game.record).unwrap();
            let mut views = Vec::new();
            let mut hidden = Vec::new();
            game.record
                .replay(|step| {
                    views.push(step.state.view(viewer()));
                    hidden.push(step.state.view(Viewer::Everything));
                })
                .unwrap();
            let seat = Seat::new(1).unwrap();
            for (at, (view, hidden)) in views.iter().zip(hidden).enumerate() {
                let mut later = Vec::new();
                let mut number = 0;
                game.record
                    .replay(|step| {
                        let events = step.events.iter();
                        let redacted = events.filter_map(|event| AnyGame::redact(event, viewer()));
                        if number > at {
                            later.extend(redacted);
                        }
                        number += 1;
                    })
                    .unwrap();
                let check = |from| {
                    let mut shown = ObservedGame::new(game.record.game, seat, Some(from));
                    later.iter().for_each(|event| shown.push_event(event));
                    shown.set_result(&game.record.settlement, game.record.server_seed);
                    shown.check(game.player, &record)
                };
                check(view.clone()).unwrap();
                if hidden != *view {
                    assert!(check(hidden).unwrap_err().contains("was sent in place of"));
                }
            }
        }
    }

    #[test]
    fn a_seed_or_a_field_that_is_not_due_is_a_fault() {
        let mut checker = FrameChecker::new(Form::Full, 0);
        let message = update(1, Vec::new());
        let text = serde_json::to_string(&message).unwrap();
        let frame = |text: &str| RawMessage::Text(text.to_owned().into());
        assert!(checker.check(&frame(&text), &message, None).unwrap().is_none());
        let secret = std::str::from_utf8(SECRET).unwrap();
        for more in [secret, "next"] {
            let text = text.replacen('{', &format!("{{\"{more}\":\"00\","), 1);
            assert!(checker.check(&frame(&text), &message, None).is_err(), "{text}");
        }
        let ack = Message::Ack { id: 1, version: None };
        assert!(checker.check(&frame(r#"{"id":1,"type":"ack"}"#), &ack, None).is_ok());
        assert!(checker.check(&frame(r#"{"type":"ack","id":1,"next":"AS"}"#), &ack, None).is_err());
    }
}
