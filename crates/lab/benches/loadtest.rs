//! The load tester's processor time for a message that a player receives: it is decoded, applied to
//! the player's view, and checked. The last row of each form is the client core's for the same
//! message, without these checks. `cargo bench -p bahay-lab --bench loadtest`; with
//! `BAHAY_VALGRIND=valgrind` the instructions are counted too.

#[path = "../../engine/benches/rows/mod.rs"]
#[expect(dead_code, reason = "its messages depend on each other, so it measures rounds alone")]
mod rows;

use std::hint::black_box;
use std::sync::{Arc, RwLock};

use bahay::rooms::house_rooms;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_client::{
    ClientCore, Effect, Input, Link, Options, Player, SocketData, StoreKey, Time, stored_session,
};
use bahay_client_tokio::RawMessage;
use bahay_engine::catalog::{self, AnyGame, NamedRules};
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, PhaseView, PlayerId, TableView, Terms, Timestamp};
use bahay_lab::loadtest::{FrameChecker, KnownTexts};
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{Message, MessageReader, OpenPrompt, Tag};

use rows::Rows;

const GAMES: usize = 20;

fn main() {
    let rows = Rows::new("the load tester, a received message");
    for kind in catalog::kinds().iter().filter(|kind| !kind.is_hidden) {
        for form in Form::ALL {
            let received = Received::record(&kind.rule_sets[0], form);
            let row = format!("{}, {form:?}", kind.title);
            rows.bytes(&row, received.mean_bytes());
            rows.round(&format!("{row}, decoded"), || received.decode());
            rows.round(&format!("{row}, with checks"), || received.read(None));
            rows.round(&format!("{row}, by the client core"), || received.follow());
            if form == Form::Full {
                let known = Arc::default();
                received.read(Some(&known));
                rows.round(&format!("{row}, of known texts"), || received.read(Some(&known)));
            }
        }
    }
}

/// The messages of some games for one player.
struct Received {
    form: Form,
    reader: MessageReader,
    /// The player's view before the first message.
    before: TableView<AnyGame>,
    frames: Vec<RawMessage>,
}

impl Received {
    fn record(rules: &NamedRules, form: Form) -> Self {
        let room = house_rooms(Clocks::default()).swap_remove(0);
        let terms = Terms { rules: rules.rules.clone(), hits: rules.hits, ..room.terms().clone() };
        let welcome = Coins::from_whole(1_000_000).expect("an amount of coins");
        let mut simulation = Simulation::<AnyGame>::new(1, terms, Habits::default(), welcome);
        while !matches!(simulation.table().view(None).phase, PhaseView::Opening { .. }) {
            simulation.step();
        }
        let player = simulation.table().players()[0];
        let before = simulation.table().view(Some(player));
        let mut view = before.clone();
        let mut shorthand = Shorthand::new(form);
        let mut frames = Vec::new();
        let mut games = 0;
        while games < GAMES {
            let step = simulation.step();
            games += usize::from(step.record.is_some());
            let viewer = view.viewer();
            let events = step.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
            let events: Vec<_> = events.collect();
            if events.is_empty() {
                continue;
            }
            events.iter().for_each(|event| view.observe(event));
            let message = Message::Update {
                version: frames.len() as u64 + 1,
                tag: Tag::default(),
                server_time_ms: simulation.now(),
                events,
                prompt: OpenPrompt::from_view(&view),
                ack: None,
            };
            frames.push(encode(&mut shorthand, &message));
        }
        let mut reader = MessageReader::new(form);
        reader.set_game_kind(&before.kind);
        Self { form, reader, before, frames }
    }

    fn mean_bytes(&self) -> usize {
        let bytes: usize = self.frames.iter().map(|frame| frame.as_bytes().len()).sum();
        bytes / self.frames.len()
    }

    /// Decodes all messages. Returns their number.
    fn decode(&self) -> u64 {
        let mut reader = self.reader;
        for frame in &self.frames {
            black_box(decode(&mut reader, frame));
        }
        self.frames.len() as u64
    }

    /// Passes all messages to a client core. Returns their number.
    fn follow(&self) -> u64 {
        let mut core = live_core(self.form, &self.before);
        for frame in &self.frames {
            let data = socket_data(frame);
            core.handle_input(Time::default(), Input::Received { socket: 1, data });
            while let Some(effect) = core.poll_effect() {
                assert!(!matches!(effect, Effect::Close { .. }), "the core left the table");
                black_box(effect);
            }
        }
        let version = core.state().table.as_ref().map(|table| table.version);
        assert_eq!(version, Some(self.frames.len() as u64));
        self.frames.len() as u64
    }

    /// Reads and checks all messages, updates of known texts by those if they are given. Returns
    /// the number of messages.
    fn read(&self, known: Option<&Arc<RwLock<KnownTexts>>>) -> u64 {
        let mut checker = FrameChecker::new(self.form, 0, known.cloned().unwrap_or_default());
        let mut reader = self.reader;
        let mut view = self.before.clone();
        for frame in &self.frames {
            let texts = known.and_then(|_| checker.split(frame));
            let found = texts.as_ref().and_then(|texts| checker.decode_known(texts, Some(&view)));
            let is_known = found.is_some();
            let message = found.unwrap_or_else(|| decode(&mut reader, frame));
            if let Message::Update { events, .. } = &message {
                events.iter().for_each(|event| view.observe(event));
            }
            if self.form.is_short() {
                black_box(OpenPrompt::from_view(&view));
            }
            let checked = match is_known {
                true => checker.check_known(&message, Some(&view)),
                false => checker.check(frame, texts.as_ref(), &message, Some(&view)),
            };
            black_box(checked.expect("a message without a fault"));
        }
        self.frames.len() as u64
    }
}

/// Returns a client core that follows a table with this view.
fn live_core(form: Form, view: &TableView<AnyGame>) -> ClientCore {
    let player = PlayerId(uuid::Uuid::nil());
    let tokens = r#"{"access_token":"a","access_expires_at":"2100-01-01T00:00:00Z",
        "refresh_token":"r","session":"s"}"#;
    let known = Player { id: player, name: String::new() };
    let session = stored_session(known, tokens, false).expect("complete tokens");
    let stored = [(StoreKey::Session, session)].into();
    let options = Options {
        stored,
        forms: vec![form],
        stores_table: false,
        ..Options::new("http://house", [1; 32], Time::default())
    };
    let mut core = ClientCore::new(options);
    core.handle_input(Time::default(), Input::Start);
    let protocol = form.subprotocol().to_owned();
    core.handle_input(Time::default(), Input::Opened { socket: 1, protocol });
    let mut shorthand = Shorthand::new(form);
    let server_time_ms = Timestamp::default();
    for message in [
        Message::Hello {
            player,
            protocol: form.subprotocol().into(),
            server_time_ms,
            notices: Some(0),
        },
        Message::Snapshot {
            version: 0,
            tag: Tag::default(),
            server_time_ms,
            view: Box::new(view.clone()),
            prompt: OpenPrompt::from_view(view),
        },
        Message::Ack { id: 1, version: Some(0) },
    ] {
        let data = socket_data(&encode(&mut shorthand, &message));
        core.handle_input(Time::default(), Input::Received { socket: 1, data });
    }
    while core.poll_effect().is_some() {}
    assert_eq!(core.state().link, Link::Live);
    core
}

fn socket_data(frame: &RawMessage) -> SocketData {
    match frame {
        RawMessage::Text(text) => SocketData::Text(text.as_str().to_owned()),
        RawMessage::Bytes(bytes) => SocketData::Binary(bytes.to_vec()),
    }
}

fn decode(reader: &mut MessageReader, frame: &RawMessage) -> Message<AnyGame> {
    reader.read(frame.as_bytes()).expect("a message of the server")
}

fn encode(shorthand: &mut Shorthand, message: &Message<AnyGame>) -> RawMessage {
    let mut bytes = Vec::new();
    shorthand.write(message, &mut bytes).expect("a message can be encoded");
    match shorthand.form() {
        Form::Compact => RawMessage::Bytes(bytes.into()),
        Form::Full | Form::Brief => {
            RawMessage::Text(String::from_utf8(bytes).expect("JSON is UTF-8").into())
        }
    }
}
