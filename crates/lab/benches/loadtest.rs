//! The load tester's processor time for a message that a player receives: it is decoded, applied to
//! the player's view, and checked. `cargo bench -p bahay-lab --bench loadtest`; with
//! `BAHAY_VALGRIND=valgrind` the instructions are counted too.

#[path = "../../engine/benches/rows/mod.rs"]
mod rows;

use std::hint::black_box;
use std::sync::{Arc, RwLock};

use bahay::rooms::house_rooms;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_client_tokio::RawMessage;
use bahay_engine::catalog::{self, AnyGame, NamedRules};
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, PhaseView, TableView, Terms};
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
            rows.each(&format!("{row}, decoded"), &received.frames, |frame| received.decode(frame));
            rows.round(&format!("{row}, with checks"), || received.read(None));
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

    fn decode(&self, frame: &RawMessage) -> Message<AnyGame> {
        let mut reader = self.reader;
        reader.read(frame.as_bytes()).expect("a message of the server")
    }

    /// Reads and checks all messages, updates of known texts by those if they are given. Returns
    /// the number of messages.
    fn read(&self, known: Option<&Arc<RwLock<KnownTexts>>>) -> u64 {
        let mut checker = FrameChecker::new(self.form, 0, known.cloned().unwrap_or_default());
        let mut view = self.before.clone();
        for frame in &self.frames {
            let texts = known.and_then(|_| checker.split(frame));
            let found = texts.as_ref().and_then(|texts| checker.decode_known(texts, Some(&view)));
            let is_known = found.is_some();
            let message = found.unwrap_or_else(|| self.decode(frame));
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
