//! Checks of every received message for information that its player must not have.
//!
//! A message is decoded and encoded again, and must be the same, so no field holds anything that
//! its reader did not understand; an update of known texts has passed this before (see
//! `known_texts`). Redacting an event of a game for this seat once more must change
//! nothing, and the offered actions must be those that follow from the seat's own view. No seed may
//! come before its game is over. Events could still be untrue: some games are compared with their
//! records (see `audit`).

use std::sync::{Arc, PoisonError, RwLock};

use bahay_client_tokio::RawMessage;
use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::table::{Event, PhaseView, TableView};
use bahay_engine::variants;
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{Message, OpenPrompt};
use serde_json::Value;

use super::audit::{EVERY, ObservedGame};
use super::known_texts::{KnownTexts, UpdateTexts};

/// The field name of a deal's secret.
const SECRET: &str = "server_seed";

type GameEvent = <AnyGame as Game>::Event;
type Action = <AnyGame as Game>::Action;

/// A checker of one connection's messages.
#[derive(Debug)]
pub struct FrameChecker {
    shorthand: Shorthand,
    /// The known texts of all players.
    known: Arc<RwLock<KnownTexts>>,
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
    pub fn new(form: Form, number: u32, known: Arc<RwLock<KnownTexts>>) -> Self {
        let shorthand = Shorthand::new(form);
        Self { shorthand, known, written: Vec::new(), viewer: None, shown: None, games: number }
    }

    /// Splits an update in the full form; `None` for any other message.
    pub fn split<'a>(&self, frame: &'a RawMessage) -> Option<UpdateTexts<'a>> {
        let is_full = self.shorthand.form() == Form::Full;
        is_full.then(|| UpdateTexts::split(frame.as_bytes()))?
    }

    /// Decodes an update of known texts, received at a table with this view; `None` for any other
    /// update.
    pub fn decode_known(
        &self,
        update: &UpdateTexts<'_>,
        view: Option<&TableView<AnyGame>>,
    ) -> Option<Message<AnyGame>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.decode(&view?.kind, update)
    }

    /// Checks a message that is no update of known texts against its receiver's view, to which it
    /// was already applied. `texts` are those of an update in the full form. Returns a settled game
    /// that is to be compared with its record.
    ///
    /// # Errors
    ///
    /// Fails with a description of the leaked or wrong part.
    pub fn check(
        &mut self,
        frame: &RawMessage,
        texts: Option<&UpdateTexts<'_>>,
        message: &Message<AnyGame>,
        view: Option<&TableView<AnyGame>>,
    ) -> Result<Option<ObservedGame>, String> {
        self.check_nothing_more(frame, message)?;
        let is_over = match message {
            Message::Update { events, .. } => {
                events.iter().any(|event| matches!(event, Event::Over { .. }))
            }
            _ => false,
        };
        if !is_over && contains_secret(frame) {
            return Err(format!("the secret of a deal that is not over: {frame:?}"));
        }
        if let (Some(texts), Some(view)) = (texts, view) {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            known.remember(&view.kind, texts, message);
        }
        self.check_known(message, view)
    }

    /// Checks an update of known texts as [`Self::check`] does any other message.
    pub fn check_known(
        &mut self,
        message: &Message<AnyGame>,
        view: Option<&TableView<AnyGame>>,
    ) -> Result<Option<ObservedGame>, String> {
        let (events, prompt): (&[_], _) = match message {
            Message::Update { events, prompt, .. } => (events, prompt.as_ref()),
            Message::Snapshot { prompt, .. } => (&[], prompt.as_ref()),
            _ => (&[], None),
        };
        let Some(view) = view else {
            return Ok(None);
        };
        if let Some(prompt) = prompt {
            check_prompt(prompt, view)?;
        }
        if let Message::Snapshot { .. } = message {
            check_readiness(view)?;
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

    /// Checks an event of an update, and notes it if its game is to be compared.
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
            Event::Ready { seat } | Event::Revealed { seat } if view.seat != Some(*seat) => {
                return Err(format!("{event:?} is not for {:?}", view.viewer()));
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

fn contains_secret(frame: &RawMessage) -> bool {
    match frame {
        RawMessage::Text(text) => text.contains(SECRET),
        RawMessage::Bytes(bytes) => {
            bytes.windows(SECRET.len()).any(|word| word == SECRET.as_bytes())
        }
    }
}

/// Checks that a view does not show which other seats are ready or have revealed their text.
fn check_readiness(view: &TableView<AnyGame>) -> Result<(), String> {
    let seats = match &view.phase {
        PhaseView::Preparing { ready, .. } => *ready,
        PhaseView::Revealing { revealed, .. } => *revealed,
        variants!(PhaseView: Waiting, Opening, Playing, Settling) => return Ok(()),
    };
    match seats.iter().find(|seat| view.seat != Some(*seat)) {
        Some(other) => Err(format!("the readiness of {other:?} is not for {:?}", view.viewer())),
        None => Ok(()),
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
    use super::{Action, FrameChecker, KnownTexts, SECRET};
    use crate::loadtest::players::audit::ObservedGame;
    use crate::rules::first_room;
    use bahay_bots::simulation::{Habits, Simulation};
    use bahay_client_tokio::RawMessage;
    use bahay_engine::catalog::{self, AnyGame};
    use bahay_engine::coins::Coins;
    use bahay_engine::game::{Game, Viewer};
    use bahay_engine::seat::Seat;
    use bahay_engine::table::{Event, PhaseView, PlayerId, Record, TableView, Terms, Timestamp};
    use bahay_protocol::brief::{Form, Shorthand};
    use bahay_protocol::{Message, OpenPrompt, Tag};
    use std::sync::{Arc, RwLock};

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

    /// Plays a game back to a checker, with each event as `hide` returns it, twice: the texts of the
    /// first time are known the second time.
    fn play_back(
        game: &SimulatedGame,
        form: Form,
        hide: impl Fn(&Event<GameEvent>) -> Option<Event<GameEvent>>,
    ) -> Result<Option<ObservedGame>, String> {
        let known = Arc::default();
        let first = play_back_once(game, form, &hide, &known).map(|(settled, _)| settled);
        let again = play_back_once(game, form, &hide, &known).map(|(settled, _)| settled);
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
        again
    }

    /// Plays a game back to a checker. Returns the settled game, and the number of updates of known
    /// texts.
    fn play_back_once(
        game: &SimulatedGame,
        form: Form,
        hide: impl Fn(&Event<GameEvent>) -> Option<Event<GameEvent>>,
        known: &Arc<RwLock<KnownTexts>>,
    ) -> Result<(Option<ObservedGame>, usize), String> {
        let mut checker = FrameChecker::new(form, 0, known.clone());
        let mut server = Shorthand::new(form);
        let mut view = game.before.clone();
        let mut settled = None;
        let mut known_updates = 0;
        for (version, events) in (1..).zip(&game.steps) {
            let events: Vec<_> = events.iter().filter_map(&hide).collect();
            events.iter().for_each(|event| view.observe(event));
            let message = update(version, events, OpenPrompt::from_view(&view));
            let frame = encode(&mut server, &message);
            let texts = checker.split(&frame);
            let known = texts.as_ref().and_then(|texts| checker.decode_known(texts, Some(&view)));
            let checked = match known {
                Some(read) => {
                    assert_eq!(read, message);
                    known_updates += 1;
                    checker.check_known(&read, Some(&view))
                }
                None => checker.check(&frame, texts.as_ref(), &message, Some(&view)),
            };
            settled = checked?.or(settled);
        }
        Ok((settled, known_updates))
    }

    fn update(
        version: u64,
        events: Vec<Event<GameEvent>>,
        prompt: Option<OpenPrompt<Action>>,
    ) -> Message<AnyGame> {
        let tag = Tag::default();
        let server_time_ms = Timestamp::from_ms(0);
        let ack = version.is_multiple_of(2).then_some(7);
        Message::Update { version, tag, server_time_ms, events, prompt, ack }
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
    fn most_updates_of_a_repeated_game_are_known() {
        let game = games().swap_remove(0);
        let known = Arc::default();
        let hide = |event: &Event<GameEvent>| event.redact::<AnyGame>(viewer());
        let [(_, first), (_, again)] =
            [(); 2].map(|()| play_back_once(&game, Form::Full, hide, &known).unwrap());
        assert!(first < again && again * 2 > game.steps.len(), "{first}, {again}");
        let other_form = play_back_once(&game, Form::Brief, hide, &known);
        assert_eq!(other_form.unwrap().1, 0);
    }

    #[test]
    fn an_update_with_more_than_known_texts_is_not_known() {
        let game = games().swap_remove(0);
        let known = Arc::<RwLock<KnownTexts>>::default();
        let hide = |event: &Event<GameEvent>| event.redact::<AnyGame>(viewer());
        play_back_once(&game, Form::Full, hide, &known).unwrap();
        let checker = FrameChecker::new(Form::Full, 0, known);
        let deadline_ms = Timestamp::from_ms(9);
        let text = serde_json::to_string(&update(2, vec![Event::Countdown { deadline_ms }], None));
        let text = text.unwrap();
        let read = |text: String| {
            let frame = RawMessage::Text(text.into());
            let texts = checker.split(&frame);
            texts.and_then(|texts| checker.decode_known(&texts, Some(&game.before))).is_some()
        };
        assert!(read(text.clone()));
        for (part, more) in [
            ("\"tag\"", "\"next\":1,\"tag\""),
            ("\"deadline_ms\"", "\"next\":1,\"deadline_ms\""),
            ("9}", "9,\"next\":1}"),
            ("\"ack\"", "\"prompt\":{\"next\":1},\"ack\""),
        ] {
            assert!(text.contains(part), "{text}");
            assert!(!read(text.replacen(part, more, 1)), "{more}");
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
    fn the_readiness_of_another_seat_is_a_fault() {
        let game = games().swap_remove(0);
        let [own, other] = [SEAT, SEAT - 1].map(|seat| Seat::new(u8::try_from(seat).unwrap()));
        let check = |event: Event<GameEvent>| {
            let mut checker = FrameChecker::new(Form::Full, 0, Arc::default());
            checker.check_known(&update(1, vec![event], None), Some(&game.before)).is_ok()
        };
        for (seat, is_allowed) in [(own, true), (other, false)] {
            let seat = seat.unwrap();
            assert_eq!(check(Event::Ready { seat }), is_allowed);
            assert_eq!(check(Event::Revealed { seat }), is_allowed);
        }
        let mut view = game.before.clone();
        for (seat, is_allowed) in [(own, true), (other, false)] {
            let ready = seat.into_iter().collect();
            let deadline_ms = Timestamp::from_ms(0);
            view.phase = PhaseView::Preparing {
                game: game.record.game,
                commitment: game.record.commitment,
                deadline_ms,
                ready,
            };
            let snapshot = Message::Snapshot {
                version: 1,
                tag: Tag::default(),
                server_time_ms: deadline_ms,
                view: Box::new(view.clone()),
                prompt: None,
            };
            let mut checker = FrameChecker::new(Form::Full, 0, Arc::default());
            assert_eq!(checker.check_known(&snapshot, Some(&view)).is_ok(), is_allowed);
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
                    shown.set_result(&game.record.settlement, Some(game.record.server_seed));
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
        let mut checker = FrameChecker::new(Form::Full, 0, Arc::default());
        let message = update(1, Vec::new(), None);
        let text = serde_json::to_string(&message).unwrap();
        let frame = |text: &str| RawMessage::Text(text.to_owned().into());
        assert!(checker.check(&frame(&text), None, &message, None).unwrap().is_none());
        for more in [SECRET, "next"] {
            let text = text.replacen('{', &format!("{{\"{more}\":\"00\","), 1);
            assert!(checker.check(&frame(&text), None, &message, None).is_err(), "{text}");
        }
        let ack = Message::Ack { id: 1, version: None };
        assert!(checker.check(&frame(r#"{"id":1,"type":"ack"}"#), None, &ack, None).is_ok());
        let more = frame(r#"{"type":"ack","id":1,"next":"AS"}"#);
        assert!(checker.check(&more, None, &ack, None).is_err());
    }
}
