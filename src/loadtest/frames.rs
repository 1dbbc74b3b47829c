//! What a player may be shown, looked for in each message as it came.
//!
//! A message is read, written again, and must be the same: so there is nothing in it that its reader
//! did not understand, in whatever field. Every event of a game must be one in which the game finds
//! nothing more to hide from this seat, and the actions that are offered those that follow from the
//! seat's own view. No seed may come before its game is over. What is shown could still be untrue:
//! some games are held against their records (see `audit`).

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::table::{Event, PhaseView, TableView};
use serde_json::Value;

use super::audit::{EVERY, Shown};
use crate::client::RawMessage;
use crate::ws::protocol::brief::{Form, Shorthand};
use crate::ws::protocol::{Message, OpenPrompt};

/// The word under which a deal's secret would come.
const SECRET: &[u8] = b"server_seed";

type GameEvent = <AnyGame as Game>::Event;
type Action = <AnyGame as Game>::Action;

/// What one connection has shown its player.
#[derive(Debug)]
pub(super) struct Seen {
    shorthand: Shorthand,
    /// A message that was written again.
    written: Vec<u8>,
    /// With whose eyes the game that goes on is seen.
    viewer: Option<Viewer>,
    /// The game that goes on, when it is to be held against its record.
    shown: Option<Shown>,
    /// Counts games, to choose some of them.
    games: u32,
}

impl Seen {
    /// Players with different numbers choose different games.
    pub(super) fn new(form: Form, number: u32) -> Self {
        let shorthand = Shorthand::new(form);
        Self { shorthand, written: Vec::new(), viewer: None, shown: None, games: number }
    }

    /// Checks what came against what its reader may know, after it was taken into the view. Gives a
    /// game that is settled and is to be held against its record.
    pub(super) fn check(
        &mut self,
        said: &RawMessage,
        message: &Message<AnyGame>,
        view: Option<&TableView<AnyGame>>,
    ) -> Result<Option<Shown>, String> {
        self.check_nothing_more(said, message)?;
        let (events, prompt): (&[_], _) = match message {
            Message::Update { events, prompt, .. } => (events, prompt.as_ref()),
            Message::Snapshot { prompt, .. } => (&[], prompt.as_ref()),
            _ => (&[], None),
        };
        let is_over = events.iter().any(|event| matches!(event, Event::Over { .. }));
        if !is_over && said.as_bytes().windows(SECRET.len()).any(|word| word == SECRET) {
            return Err(format!("the secret of a deal that is not over: {said:?}"));
        }
        let Some(view) = view else {
            return Ok(None);
        };
        if let Some(prompt) = prompt {
            check_prompt(prompt, view)?;
        }
        if let Message::Snapshot { .. } = message {
            self.begin_amid(view);
        }
        let mut settled = None;
        for event in events {
            settled = self.follow(event, view)?.or(settled);
        }
        Ok(settled)
    }

    /// What is not in the message as it was read must not be in what came.
    fn check_nothing_more(
        &mut self,
        said: &RawMessage,
        message: &Message<AnyGame>,
    ) -> Result<(), String> {
        self.written.clear();
        let written = self.shorthand.write(message, &mut self.written);
        written.map_err(|error| format!("{error} in {said:?}"))?;
        if self.written == said.as_bytes() {
            return Ok(());
        }
        // Fields may come in another order.
        let (came, read) = (self.taken_apart(said.as_bytes())?, self.taken_apart(&self.written)?);
        if came == read {
            return Ok(());
        }
        Err(format!("more than {read} in {came}"))
    }

    fn taken_apart(&self, bytes: &[u8]) -> Result<Value, String> {
        match self.shorthand.form() {
            Form::Full | Form::Brief => {
                serde_json::from_slice(bytes).map_err(|error| error.to_string())
            }
            Form::Compact => rmp_serde::from_slice(bytes).map_err(|error| error.to_string()),
        }
    }

    /// The table is shown as a whole, perhaps in the midst of a game.
    fn begin_amid(&mut self, view: &TableView<AnyGame>) {
        (self.viewer, self.shown) = (None, None);
        if let PhaseView::Playing { game, view: game_view, .. } = &view.phase {
            let viewer = view.viewer();
            self.viewer = Some(viewer);
            if let Viewer::Seat(seat) = viewer {
                self.shown = Some(Shown::begin(*game, seat, Some(game_view.clone())));
            }
        }
    }

    fn follow(
        &mut self,
        event: &Event<GameEvent>,
        view: &TableView<AnyGame>,
    ) -> Result<Option<Shown>, String> {
        match event {
            Event::Opened { game, stakes, .. } => {
                // Who has sat down since watches this game.
                let seat = view.seat.filter(|seat| seat.index() < stakes.len());
                self.viewer = Some(seat.map_or(Viewer::Public, Viewer::Seat));
                let is_chosen = self.games.is_multiple_of(EVERY);
                self.games = self.games.wrapping_add(1);
                let seat = seat.filter(|_| is_chosen);
                self.shown = seat.map(|seat| Shown::begin(*game, seat, None));
            }
            Event::Game { event } => {
                let viewer = self.viewer.unwrap_or(view.viewer());
                if AnyGame::redact(event, viewer).as_ref() != Some(event) {
                    return Err(format!("{event:?} is not for {viewer:?}"));
                }
                if let Some(shown) = &mut self.shown {
                    shown.add(event);
                }
            }
            Event::Over { settlement, server_seed, .. } => {
                if let Some(shown) = &mut self.shown {
                    shown.end(settlement, *server_seed);
                }
            }
            Event::Settled { game, .. } => {
                self.viewer = None;
                return Ok(self.shown.take().filter(|shown| shown.game == *game));
            }
            Event::Sat { .. }
            | Event::Left { .. }
            | Event::Moved { .. }
            | Event::Presence { .. }
            | Event::Takeover { .. }
            | Event::Waiting
            | Event::Preparing { .. }
            | Event::Ready { .. }
            | Event::Opening { .. }
            | Event::Revealing { .. }
            | Event::Revealed { .. }
            | Event::Countdown { .. }
            | Event::PotRefunded { .. }
            | Event::TermsUpdated { .. } => {}
        }
        Ok(None)
    }
}

/// What is offered must follow from what the seat knows.
fn check_prompt(prompt: &OpenPrompt<Action>, view: &TableView<AnyGame>) -> Result<(), String> {
    let known = OpenPrompt::from_view(view);
    let asked = |prompt: &OpenPrompt<Action>| (prompt.game, prompt.number, prompt.seats);
    match &known {
        Some(known) if asked(known) == asked(prompt) && known.legal == prompt.legal => Ok(()),
        Some(_) | None => Err(format!("{prompt:?} was asked where {known:?} is known")),
    }
}

#[cfg(test)]
mod tests {
    use super::{SECRET, Seen};
    use crate::client::RawMessage;
    use crate::loadtest::audit::Shown;
    use crate::ws::protocol::Message;
    use crate::ws::protocol::brief::{Form, Shorthand};
    use bahay_engine::catalog::{self, AnyGame};
    use bahay_engine::coins::Coins;
    use bahay_engine::game::{Game, Skill, Viewer};
    use bahay_engine::seat::Seat;
    use bahay_engine::table::simulation::{Habits, Simulation};
    use bahay_engine::table::{
        Clocks, Event, PhaseView, PlayerId, Price, Record, Spectators, TableView, Terms, Timestamp,
    };

    type GameEvent = <AnyGame as Game>::Event;

    /// A game at a table, step by step.
    struct Played {
        before: TableView<AnyGame>,
        /// Complete, as nobody may hear them.
        steps: Vec<Vec<Event<GameEvent>>>,
        record: Record<AnyGame>,
        player: PlayerId,
    }

    const SEAT: usize = 1;

    fn viewer() -> Viewer {
        Viewer::Seat(Seat::new(1).unwrap())
    }

    /// One game of every rule set of every game.
    fn games() -> Vec<Played> {
        let kinds = catalog::kinds();
        let sets = kinds.iter().flat_map(|kind| &kind.rule_sets);
        sets.map(|set| {
            let terms = Terms {
                room: "newbie".to_owned(),
                rules: set.rules.clone(),
                price: Price {
                    bet: Coins::from_hundredths(100),
                    multiplier: 1,
                    fee_basis_points: 500,
                },
                hits: set.hits,
                clocks: Clocks::default(),
                spectators: Spectators::Nobody,
                bots: Skill::default(),
                private: None,
                practice: false,
            };
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
                    return Played { before, steps, record, player };
                }
            }
        })
        .collect()
    }

    /// Lets a connection hear a game, each event as `hide` leaves it.
    fn heard(
        game: &Played,
        form: Form,
        hide: impl Fn(&Event<GameEvent>) -> Option<Event<GameEvent>>,
    ) -> Result<Option<Shown>, String> {
        let (mut seen, mut server) = (Seen::new(form, 0), Shorthand::new(form));
        let mut view = game.before.clone();
        let mut settled = None;
        for (version, events) in (1..).zip(&game.steps) {
            let events: Vec<_> = events.iter().filter_map(&hide).collect();
            events.iter().for_each(|event| view.observe(event));
            let message = update(version, events);
            let said = written(&mut server, &message);
            settled = seen.check(&said, &message, Some(&view))?.or(settled);
        }
        Ok(settled)
    }

    fn update(version: u64, events: Vec<Event<GameEvent>>) -> Message<AnyGame> {
        let tag = serde_json::from_str("\"7a61673a0001\"").unwrap();
        let server_time_ms = Timestamp::from_ms(0);
        Message::Update { version, tag, server_time_ms, events, prompt: None }
    }

    fn written(server: &mut Shorthand, message: &Message<AnyGame>) -> RawMessage {
        let mut bytes = Vec::new();
        server.write(message, &mut bytes).unwrap();
        match server.form() {
            Form::Compact => RawMessage::Bytes(bytes.into()),
            Form::Full | Form::Brief => RawMessage::Text(String::from_utf8(bytes).unwrap().into()),
        }
    }

    #[test]
    fn what_a_seat_may_hear_agrees_with_the_record() {
        for game in games() {
            let record = serde_json::to_string(&game.record).unwrap();
            for form in Form::ALL {
                let shown = heard(&game, form, |event| event.redact::<AnyGame>(viewer()));
                let shown = shown.unwrap().expect("the first game is chosen");
                shown.check(game.player, &record).unwrap();
                let other = game.record.players[0];
                assert!(shown.check(other, &record).is_err(), "another player's game");
            }
        }
    }

    #[test]
    fn what_is_hidden_from_a_seat_is_a_fault() {
        for game in games() {
            let fault = heard(&game, Form::Full, |event| Some(event.clone())).unwrap_err();
            assert!(fault.contains("is not for"), "{fault}");
        }
    }

    #[test]
    fn what_is_kept_from_a_seat_or_untrue_is_a_fault() {
        for game in games() {
            let record = serde_json::to_string(&game.record).unwrap();
            let events = game.steps.iter().flatten();
            let mut of_game = events.filter(|event| matches!(event, Event::Game { .. }));
            let last = of_game.next_back().unwrap();
            let told = |event: &Event<GameEvent>| event.redact::<AnyGame>(viewer());
            let kept = |event: &_| told(event).filter(|_| !std::ptr::eq(event, last));
            let kept = heard(&game, Form::Full, kept);
            let fault = kept.unwrap().unwrap().check(game.player, &record).unwrap_err();
            assert!(fault.contains("None in place of"), "{fault}");
            let untrue = heard(&game, Form::Full, |event| match told(event)? {
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
    fn a_view_in_the_midst_of_a_game_agrees_with_the_record() {
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
                        let heard = step.events.iter();
                        let heard = heard.filter_map(|event| AnyGame::redact(event, viewer()));
                        if number > at {
                            later.extend(heard);
                        }
                        number += 1;
                    })
                    .unwrap();
                let check = |from| {
                    let mut shown = Shown::begin(game.record.game, seat, Some(from));
                    later.iter().for_each(|event| shown.add(event));
                    shown.end(&game.record.settlement, game.record.server_seed);
                    shown.check(game.player, &record)
                };
                check(view.clone()).unwrap();
                if hidden != *view {
                    assert!(check(hidden).unwrap_err().contains("was shown in place of"));
                }
            }
        }
    }

    #[test]
    fn a_seed_or_a_field_that_is_not_due_is_a_fault() {
        let mut seen = Seen::new(Form::Full, 0);
        let message = update(1, Vec::new());
        let text = serde_json::to_string(&message).unwrap();
        let said = |text: &str| RawMessage::Text(text.to_owned().into());
        assert!(seen.check(&said(&text), &message, None).unwrap().is_none());
        let secret = std::str::from_utf8(SECRET).unwrap();
        for more in [secret, "next"] {
            let text = text.replacen('{', &format!("{{\"{more}\":\"00\","), 1);
            assert!(seen.check(&said(&text), &message, None).is_err(), "{text}");
        }
        let ack = Message::Ack { id: 1, version: None };
        assert!(seen.check(&said(r#"{"id":1,"type":"ack"}"#), &ack, None).is_ok());
        assert!(seen.check(&said(r#"{"type":"ack","id":1,"next":"AS"}"#), &ack, None).is_err());
    }
}
