//! What goes over the wire, as it is right: a command of each type, and what a player at a table was sent.

use std::sync::OnceLock;

use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Input, Timestamp};
use bahay_protocol::{Message, OpenPrompt, SUBPROTOCOL, Tag};
use serde_json::Value;

use crate::Choices;
use crate::tables::simulation;

const ID: &str = "019ca944-3c00-7000-8000-00000091a7e0";

/// Commands, but for actions.
const COMMANDS: [&str; 14] = [
    r#"{"type":"authenticate","id":1,"token":"eyJhbGciOiJIUzI1NiJ9.e30.x"}"#,
    r#"{"type":"authenticate","id":1,"ticket":"x"}"#,
    r#"{"type":"join","id":2}"#,
    r#"{"type":"join","id":2,"from":7,"tag":"7a61673a0001","table":"019ca944-3c00-7000-8000-00000091a7e0"}"#,
    r#"{"type":"ready","id":3,"game":"019ca944-3c00-7000-8000-00000091a7e0","commitment":"00000000000000000000000000000000000000000000000000000000000000ff"}"#,
    r#"{"type":"reveal","id":4,"game":"019ca944-3c00-7000-8000-00000091a7e0","text":"suwerte ñ"}"#,
    r#"{"type":"hint","id":5}"#,
    r#"{"type":"take_back","id":6}"#,
    r#"{"type":"leave","id":7}"#,
    r#"{"type":"say","id":8,"phrase":"emoji_fire"}"#,
    r#"{"type":"watch","id":9,"table":"019ca944-3c00-7000-8000-00000091a7e0"}"#,
    r#"{"type":"seek","id":10,"rooms":["newbie","master"]}"#,
    r#"{"type":"cancel_seek","id":11}"#,
    r#"{"type":"ping","id":4294967295}"#,
];

/// What went over the wire at a table of one kind.
#[derive(Debug)]
pub struct Sent {
    pub kind: &'static str,
    /// A hello, a snapshot, and updates.
    pub messages: Vec<Message<AnyGame>>,
    /// What players sent.
    pub commands: Vec<Value>,
}

/// At a table of the kind that bytes name.
pub fn sent(choices: &mut Choices<'_>) -> &'static Sent {
    static SENT: OnceLock<Vec<Sent>> = OnceLock::new();
    let all = SENT.get_or_init(|| catalog::kinds().iter().map(|kind| send(kind.name)).collect());
    &all[choices.below(all.len())]
}

fn send(kind: &'static str) -> Sent {
    let hello = Message::Hello {
        player: serde_json::from_value(ID.into()).expect("it is an id"),
        protocol: SUBPROTOCOL.into(),
        server_time_ms: Timestamp::from_ms(1_772_366_400_000),
        notices: Some(2),
    };
    let commands = COMMANDS.map(|text| serde_json::from_str(text).expect("it is JSON"));
    let mut sent = Sent { kind, messages: vec![hello], commands: commands.into() };
    let all = catalog::kinds();
    let sets = all.iter().filter(|known| known.name == kind).flat_map(|known| &known.rule_sets);
    for (seed, set) in (1..).zip(sets) {
        play(&mut sent, seed, set);
    }
    sent
}

/// A game by one rule set, as the player on the first seat sees it.
fn play(sent: &mut Sent, seed: u64, set: &catalog::NamedRules) {
    let mut simulation = simulation::<AnyGame>(seed, set.rules.clone(), set.hits);
    let seat = Seat::new(0).expect("it is a seat");
    let mut known = None;
    for version in 1.. {
        let happened = simulation.step();
        if let Input::Act { action, prompt, .. } = &happened.line.input {
            sent.commands.push(serde_json::json!({
                "type": "act", "id": version, "game": ID, "prompt": prompt, "action": action,
            }));
        }
        let player = simulation.table().occupant(seat).map(|who| who.player);
        let view = simulation.table().view(player);
        let (tag, server_time_ms) = (Tag::default(), simulation.now());
        let prompt = OpenPrompt::from_view(&view);
        let is_followed = known == view.seat && known.is_some();
        known = view.seat;
        if is_followed {
            let viewer = view.viewer();
            let events = happened.events.iter();
            let events = events.filter_map(|event| event.redact::<AnyGame>(viewer)).collect();
            sent.messages.push(Message::Update { version, tag, server_time_ms, events, prompt });
        } else {
            let view = Box::new(view);
            sent.messages.push(Message::Snapshot { version, tag, server_time_ms, view, prompt });
        }
        if happened.record.is_some() {
            return;
        }
    }
}
