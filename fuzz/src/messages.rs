//! Valid wire traffic: a command of each type, and the messages that a player at a table receives.

use std::sync::OnceLock;

use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Input, Timestamp};
use bahay_protocol::{Message, OpenPrompt, SUBPROTOCOL, Tag};
use serde_json::Value;

use crate::Choices;
use crate::tables::simulation;

const ID: &str = "019ca944-3c00-7000-8000-00000091a7e0";

/// One command of each type except for actions.
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

/// The wire traffic at a table of one kind.
#[derive(Debug)]
pub struct WireTraffic {
    pub kind: &'static str,
    /// A hello, a snapshot, and updates.
    pub messages: Vec<Message<AnyGame>>,
    /// The commands of players.
    pub commands: Vec<Value>,
}

/// Returns the traffic at a table of the kind that the bytes select.
pub fn wire_traffic(choices: &mut Choices<'_>) -> &'static WireTraffic {
    static TRAFFIC: OnceLock<Vec<WireTraffic>> = OnceLock::new();
    let all = TRAFFIC
        .get_or_init(|| catalog::kinds().iter().map(|kind| create_traffic(kind.name)).collect());
    &all[choices.below(all.len())]
}

fn create_traffic(kind: &'static str) -> WireTraffic {
    let hello = Message::Hello {
        player: serde_json::from_value(ID.into()).expect("the id is valid"),
        protocol: SUBPROTOCOL.into(),
        server_time_ms: Timestamp::from_ms(1_772_366_400_000),
        notices: Some(2),
    };
    let commands = COMMANDS.map(|text| serde_json::from_str(text).expect("the command is JSON"));
    let mut traffic = WireTraffic { kind, messages: vec![hello], commands: commands.into() };
    let all = catalog::kinds();
    let sets = all.iter().filter(|known| known.name == kind).flat_map(|known| &known.rule_sets);
    for (seed, set) in (1..).zip(sets) {
        play(&mut traffic, seed, set);
    }
    traffic
}

/// Adds a game of one rule set, as seen by the player on the first seat.
fn play(traffic: &mut WireTraffic, seed: u64, set: &catalog::NamedRules) {
    let mut simulation = simulation::<AnyGame>(seed, set.rules.clone(), set.hits);
    let seat = Seat::new(0).expect("the seat is valid");
    let mut known = None;
    for version in 1.. {
        let happened = simulation.step();
        if let Input::Act { action, prompt, .. } = &happened.line.input {
            traffic.commands.push(serde_json::json!({
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
            let ack = u32::try_from(version).ok().filter(|id| id % 2 == 0);
            let update = Message::Update { version, tag, server_time_ms, events, prompt, ack };
            traffic.messages.push(update);
        } else {
            let view = Box::new(view);
            traffic.messages.push(Message::Snapshot { version, tag, server_time_ms, view, prompt });
        }
        if happened.record.is_some() {
            return;
        }
    }
}
