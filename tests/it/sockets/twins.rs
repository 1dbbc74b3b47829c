//! Tests of equal traffic for equal knowledge over the real socket, for every action of every game.
//! Two tables, whose games differ only in hidden state, play the same actions. Each player and
//! spectator who cannot distinguish the games receives the same frames in number, kind, size and
//! order.
//!
//! A disclosure that the rules permit ends a comparison. `crates/engine/tests/twins` lists these
//! disclosures, and compares many more games and, as `tongits`, the actions that disclose something
//! by themselves. `fights` tests the duration of a fight.

use std::collections::{BTreeMap, BTreeSet};

use bahay::clock::Clock;
use bahay::live_store::LiveStore;
use bahay::lobby::house_rooms;
use bahay::social::Phrase;
use bahay::ws::protocol::brief::Form;
use bahay::ws::protocol::{Command, Message};
use bahay_bots::Ai;
use bahay_client_tokio::{Client, Play, RawMessage};
use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameKind, Prompt, Turn, Viewer};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::hex::Hex;
use bahay_engine::table::{
    Clocks, ConnectionId, GameEntropy, GameId, Input, Table, TableId, Terms,
};
use bahay_engine::testing::{
    Probe, SharedWalk, TestRng, TongitsProbe, TongoAssetsProbe, TongoOptionsProbe, VisibleEvent,
    search_twins, tongits_disclosure_rule,
};
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::house::{House, PATIENCE};
use crate::support::play::{TestPlay as _, join_tables};

/// The extent of the comparison.
struct Extent {
    /// The number of games of each rule set that are searched for pairs.
    games: u64,
    /// The number of pairs of each action of each rule set.
    pairs: usize,
}

/// The number of steps. It suffices for a spectator, whose view is two turns late, to see part of
/// the first step.
const STEPS: usize = 8;

/// A time so long that no deadline passes during the test, in milliseconds.
const LONG_MS: u32 = 3_600_000;

/// Two positions that differ only in hidden state, and the actions played in both.
struct Case {
    name: String,
    rules: AnyRules,
    seats: u8,
    positions: [Value; 2],
    asked: Prompt,
    /// The seat and the action of each step.
    steps: Vec<(usize, Value)>,
    alike_for: Vec<Viewer>,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_traffic_reveals_nothing_hidden() {
    let house = House::new().await;
    let tongits = Extent { games: 200, pairs: 2 };
    let mut cases = collect_cases::<Tongits>(&TongitsProbe, &tongits, |event| {
        tongits_disclosure_rule(event).is_some()
    });
    for action in ["draw", "chow", "fight", "drop", "sapaw", "dump", "challenge", "fold"] {
        let found = cases.iter().filter(|case| case.steps[0].1["type"] == action);
        assert!(found.count() > 0, "no pair begins with {action}");
    }
    // These games disclose nothing beyond their views, so equal views make two games
    // indistinguishable.
    let others = Extent { games: 40, pairs: 1 };
    let options = collect_cases::<TongoOptions>(&TongoOptionsProbe, &others, |_| false);
    let assets = collect_cases::<TongoAssets>(&TongoAssetsProbe, &others, |_| false);
    for game_cases in [options, assets] {
        let actions: BTreeSet<String> =
            game_cases.iter().map(|case| case.steps[0].1["type"].to_string()).collect();
        assert!(actions.len() >= 6, "{actions:?}");
        cases.extend(game_cases);
    }
    let (mut seats, mut spectators) = (0, 0);
    for (place, case) in cases.iter().enumerate() {
        let form = [Form::Full, Form::Compact][place % 2];
        let [one, other] = [
            record_traffic(&house, case, &case.positions[0], form).await,
            record_traffic(&house, case, &case.positions[1], form).await,
        ];
        for viewer in &case.alike_for {
            let index = viewer_index(*viewer, case.seats);
            let [one, other] = [&one, &other].map(|all| all[index].clone());
            let context = format!("{viewer:?} of {} after {:?}", case.name, case.steps);
            assert_eq!(one, other, "{context}");
            match viewer {
                Viewer::Public => spectators += one.len(),
                Viewer::Seat(_) | Viewer::Everything => seats += one.len(),
            }
        }
    }
    println!(
        "{} pairs of tables, {seats} frames of players, {spectators} of spectators",
        cases.len()
    );
    assert!(seats > 0 && spectators > 0, "no frames were compared: {seats}, {spectators}");
}

/// Returns pairs for every action of a game that the rules do not make disclose anything.
fn collect_cases<G: Ai + GameKind>(
    probe: &impl Probe<G>,
    extent: &Extent,
    discloses: impl Fn(&VisibleEvent) -> bool,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for set in G::rule_sets() {
        // Pairs that diverge secretly come first, and the other pairs second.
        let mut found: BTreeMap<String, [Vec<Case>; 2]> = BTreeMap::new();
        for seed in 0..extent.games {
            let mut dice = TestRng::new(seed);
            search_twins::<G>(probe, G::choose_action, &(set.rules)(), seed, |action, search| {
                let action = serde_json::to_value(action).unwrap();
                let name = action["type"].as_str().unwrap().to_owned();
                let kind_cases = found.entry(name.clone()).or_default();
                if kind_cases[0].len() == extent.pairs {
                    return;
                }
                let Some(pair) = search() else { return };
                let kind_cases = &mut kind_cases[usize::from(!pair.diverges_secretly())];
                if kind_cases.len() == extent.pairs {
                    return;
                }
                let Some(walk) =
                    SharedWalk::from_pair(pair, STEPS, G::choose_action, &mut dice, &discloses)
                else {
                    return;
                };
                let name = format!("{} {} seed {seed} {name}", G::NAME, set.name);
                kind_cases.push(build_case(name, set.name, &walk));
            });
        }
        for [diverging, others] in found.into_values() {
            cases.extend(diverging.into_iter().chain(others).take(extent.pairs));
        }
    }
    cases
}

fn build_case<G: Ai + GameKind>(name: String, rule_set: &str, walk: &SharedWalk<G>) -> Case {
    let pair = &walk.pair;
    let Turn::Players(asked) = pair.games[0].turn() else { panic!("a player has to act") };
    let steps = walk.steps.iter();
    let steps = steps.map(|(seat, action)| (seat.index(), serde_json::to_value(action).unwrap()));
    Case {
        name,
        rules: AnyRules::find_rule_set(G::NAME, rule_set).unwrap().rules,
        seats: pair.seats,
        positions: pair.games.each_ref().map(|game| serde_json::to_value(game).unwrap()),
        asked,
        steps: steps.collect(),
        alike_for: pair.alike_for.clone(),
    }
}

/// A frame without the values that are drawn anew at each table: its length, or 0 where the length
/// depends on the clock, and its content.
type Frame = (usize, Value);

/// Creates a table in this position with players and a spectator, plays the steps, and returns the
/// frames of each, the spectator's last.
async fn record_traffic(
    house: &House,
    case: &Case,
    position: &Value,
    form: Form,
) -> Vec<Vec<Frame>> {
    let mut clients = Vec::new();
    for _ in 0..case.seats {
        clients.push(house.guest("Althea").await.with_form(form));
    }
    let (live, _publications) = house.live.connect().await;
    let table = create_table(&live, case, position, &clients).await;
    let mut plays = join_tables(&clients).await;
    let mut spectator = house.guest("Delfin").await.with_form(form).play().await.unwrap();
    spectator.execute(|id| Command::Watch { id, table }).await.unwrap();
    plays.push(spectator);
    let mut frames = vec![Vec::new(); plays.len()];
    for with_steps in [false, true] {
        if with_steps {
            let mut answered = vec![0; clients.len()];
            for (seat, action) in &case.steps {
                let play = &mut plays[*seat];
                send_action(play, action, &mut answered[*seat], &mut frames[*seat]).await;
            }
        }
        // The frames before this phrase are those of the actions played before it.
        let said = plays[0].send(|id| Command::Say { id, phrase: Phrase::Hello }).await.unwrap();
        for (place, play) in plays.iter_mut().enumerate() {
            let before = &mut frames[place];
            let (mut heard, mut acked) = (false, place > 0);
            while !heard || !acked {
                match receive_message(play, before).await {
                    Message::Said { .. } => heard = true,
                    Message::Ack { id, .. } if place == 0 && id == said => acked = true,
                    _ => {}
                }
            }
        }
        if !with_steps {
            frames.iter_mut().for_each(Vec::clear);
        }
    }
    frames
}

/// Creates a table with these players in a game at this position.
async fn create_table(
    live: &LiveStore,
    case: &Case,
    position: &Value,
    clients: &[Client],
) -> TableId {
    let rooms = house_rooms(Clocks::default());
    let terms = Terms { rules: case.rules.clone(), ..rooms[0].terms().clone() };
    let stake = terms.stake_max(u8::try_from(clients.len()).unwrap()).unwrap();
    let now = Clock::system().now();
    let mut table = Table::<AnyGame>::new(TableId(Uuid::new_v4()), terms);
    let fresh = || GameEntropy { seed: ServerSeed(Hex([7; 32])), game: GameId(Uuid::from_u128(4)) };
    let mut apply = |input| table = table.decide(now, input, fresh).unwrap().table;
    for client in clients {
        apply(Input::sit(client.player(), "Althea"));
        apply(Input::Connect { player: client.player(), connection: ConnectionId(Uuid::new_v4()) });
    }
    for client in clients {
        let (player, game) = (client.player(), fresh().game);
        apply(Input::Ready { player, game, commitment: None });
    }
    apply(Input::Opened {
        game: fresh().game,
        stakes: vec![stake; clients.len()],
        pot: Coins::from_whole(3).unwrap(),
    });
    let mut table_now = serde_json::to_value(&table).unwrap();
    let playing = &mut table_now["phase"]["playing"];
    playing["state"] = position.clone();
    playing["asked"] = serde_json::to_value(case.asked).unwrap();
    playing["deadline"] = json!(now.after_ms(LONG_MS));
    let snapshot = table_now.to_string();
    live.create(table.id(), bahay::entropy::tag(), &snapshot, LONG_MS.into(), table.engine())
        .await
        .unwrap();
    for client in clients {
        assert!(live.claim_seat(client.player(), table.id()).await.unwrap());
        assert!(live.confirm_seat_claim(client.player(), table.id()).await.unwrap());
    }
    table.id()
}

/// Answers the player's next prompt after the one that was answered last.
async fn send_action(play: &mut Play, action: &Value, answered: &mut u32, frames: &mut Vec<Frame>) {
    let (game, number) = loop {
        let prompt = play.prompt().filter(|prompt| !prompt.legal.is_empty());
        match prompt.filter(|prompt| prompt.number > *answered) {
            Some(prompt) => break (prompt.game, prompt.number),
            None => receive_message(play, frames).await,
        };
    };
    *answered = number;
    let command = 1_000 + number;
    let text = json!({
        "type": "act", "id": command, "game": game, "prompt": number, "action": action
    });
    play.send_text(text.to_string()).await.unwrap();
    loop {
        let message = receive_message(play, frames).await;
        if message.acked_command() == Some(command) {
            return;
        }
        assert!(!matches!(message, Message::Refusal { .. }), "{message:?}");
    }
}

async fn receive_message(play: &mut Play, frames: &mut Vec<Frame>) -> Message<AnyGame> {
    let frame = timeout(PATIENCE, play.next_raw()).await.expect("a message arrives").unwrap();
    let message = play.apply_raw(&frame).unwrap();
    let mut content = serde_json::to_value(&message).unwrap();
    mask_variable_values(&mut content);
    // In the compact forms the encoded length of a time depends on its value.
    let length = if matches!(frame, RawMessage::Text(_)) { frame.as_bytes().len() } else { 0 };
    frames.push((length, content));
    message
}

/// Removes tags, and clears identifiers and times, which differ at each table.
fn mask_variable_values(value: &mut Value) {
    const TIMES: u64 = 1_000_000_000_000;
    match value {
        Value::Object(fields) => {
            fields.remove("tag");
            fields.values_mut().for_each(mask_variable_values);
        }
        Value::Array(values) => values.iter_mut().for_each(mask_variable_values),
        Value::String(text) if text.parse::<Uuid>().is_ok() => text.clear(),
        Value::Number(number) if number.as_u64().is_some_and(|number| number > TIMES) => {
            *value = Value::Null;
        }
        _ => {}
    }
}

fn viewer_index(viewer: Viewer, seats: u8) -> usize {
    match viewer {
        Viewer::Seat(seat) => seat.index(),
        Viewer::Public | Viewer::Everything => usize::from(seats),
    }
}
