//! Equal traffic for equal knowledge, over the real socket: at two tables whose games differ only in
//! what is hidden the same is played, and each player and spectator who cannot tell the games apart
//! gets the same frames, in number, kind, size and order. For every action of every game.
//!
//! What the rules themselves let be known ends a comparison: `crates/engine/tests/twins` lists it, and
//! compares many more games, and the actions that tell by themselves, as `tongits`. How long a fight lasts is held by `fights`.

use std::collections::{BTreeMap, BTreeSet};

use bahay::client::{Client, Play, RawMessage};
use bahay::clock::Clock;
use bahay::live_store::LiveStore;
use bahay::lobby::house_rooms;
use bahay::social::Phrase;
use bahay::ws::protocol::brief::Form;
use bahay::ws::protocol::{Command, Message};
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
    for_each_twin_pair, tongits_disclosure_rule,
};
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, joined};

/// How much of a game is compared.
struct Extent {
    /// Games of each rule set that are looked through for pairs.
    games: u64,
    /// Pairs of each action of each rule set.
    pairs: usize,
}

/// As many as show a spectator, who is told two turns late, something of the first.
const STEPS: usize = 8;

/// Nothing becomes due by itself.
const LONG_MS: u32 = 3_600_000;

/// Two positions that differ only in what is hidden, and what is played in both.
struct Case {
    name: String,
    rules: AnyRules,
    seats: u8,
    positions: [Value; 2],
    asked: Prompt,
    /// Each a seat and an action.
    steps: Vec<(usize, Value)>,
    alike_for: Vec<Viewer>,
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_learns_from_the_traffic_what_is_hidden() {
    let house = House::new().await;
    let tongits = Extent { games: 200, pairs: 2 };
    let mut cases =
        cases::<Tongits>(&TongitsProbe, &tongits, |event| tongits_disclosure_rule(event).is_some());
    for action in ["draw", "chow", "fight", "drop", "sapaw", "dump", "challenge", "fold"] {
        let found = cases.iter().filter(|case| case.steps[0].1["type"] == action);
        assert!(found.count() > 0, "nothing is compared of {action}");
    }
    // At these nothing is told that a view does not show, so that whoever sees the same is alike.
    let others = Extent { games: 40, pairs: 1 };
    let options = self::cases::<TongoOptions>(&TongoOptionsProbe, &others, |_| false);
    let assets = self::cases::<TongoAssets>(&TongoAssetsProbe, &others, |_| false);
    for of_game in [options, assets] {
        let actions: BTreeSet<String> =
            of_game.iter().map(|case| case.steps[0].1["type"].to_string()).collect();
        assert!(actions.len() >= 6, "{actions:?}");
        cases.extend(of_game);
    }
    let (mut seats, mut spectators) = (0, 0);
    for (place, case) in cases.iter().enumerate() {
        let form = [Form::Full, Form::Compact][place % 2];
        let [one, other] = [
            traffic(&house, case, &case.positions[0], form).await,
            traffic(&house, case, &case.positions[1], form).await,
        ];
        for viewer in &case.alike_for {
            let [one, other] = [&one, &other].map(|all| all[place_of(*viewer, case.seats)].clone());
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
    assert!(seats > 0 && spectators > 0, "frames are compared: {seats}, {spectators}");
}

/// Pairs of every action that a game knows and that tells nobody anything by its rules.
fn cases<G: GameKind>(
    probe: &impl Probe<G>,
    extent: &Extent,
    tells: impl Fn(&VisibleEvent) -> bool,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for set in G::rule_sets() {
        // Those that part where nobody may see it come first.
        let mut found: BTreeMap<String, [Vec<Case>; 2]> = BTreeMap::new();
        for seed in 0..extent.games {
            let mut dice = TestRng::new(seed);
            for_each_twin_pair::<G>(probe, &(set.rules)(), seed, |pair| {
                let action = serde_json::to_value(&pair.action).unwrap();
                let name = action["type"].as_str().unwrap().to_owned();
                let of_kind = found.entry(name.clone()).or_default();
                let of_kind = &mut of_kind[usize::from(!pair.diverges_secretly())];
                if of_kind.len() == extent.pairs {
                    return;
                }
                let Some(walk) = SharedWalk::from_pair(pair, STEPS, &mut dice, &tells) else {
                    return;
                };
                let name = format!("{} {} seed {seed} {name}", G::NAME, set.name);
                of_kind.push(case(name, set.name, &walk));
            });
        }
        for [parting, others] in found.into_values() {
            cases.extend(parting.into_iter().chain(others).take(extent.pairs));
        }
    }
    cases
}

fn case<G: GameKind>(name: String, rule_set: &str, walk: &SharedWalk<G>) -> Case {
    let pair = &walk.pair;
    let Turn::Players(asked) = pair.games[0].turn() else { panic!("somebody is to act") };
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

/// A frame as whoever counts and reads it sees it, without what is drawn anew at each table: its
/// length, where that does not follow the clock, and what it says.
type Frame = (usize, Value);

/// Puts players and a spectator at a table in this position, plays, and gives what each got, the
/// spectator last.
async fn traffic(house: &House, case: &Case, position: &Value, form: Form) -> Vec<Vec<Frame>> {
    let mut clients = Vec::new();
    for _ in 0..case.seats {
        clients.push(house.guest("Althea").await.with_form(form));
    }
    let (live, _publications) = house.live.connect().await;
    let table = put(&live, case, position, &clients).await;
    let mut plays = Vec::new();
    for client in &clients {
        plays.push(joined(client).await);
    }
    let mut spectator = house.guest("Delfin").await.with_form(form).play().await.unwrap();
    let watching = spectator.send(|id| Command::Watch { id, table }).await.unwrap();
    spectator.wait_for_answer(watching).await.unwrap();
    plays.push(spectator);
    let mut frames = vec![Vec::new(); plays.len()];
    for all in [false, true] {
        if all {
            let mut answered = vec![0; clients.len()];
            for (seat, action) in &case.steps {
                act(&mut plays[*seat], action, &mut answered[*seat], &mut frames[*seat]).await;
            }
        }
        // What comes before these words has come of what was played before them.
        let said = plays[0].send(|id| Command::Say { id, phrase: Phrase::Hello }).await.unwrap();
        for (place, play) in plays.iter_mut().enumerate() {
            let before = &mut frames[place];
            let (mut heard, mut acked) = (false, place > 0);
            while !heard || !acked {
                match next(play, before).await {
                    Message::Said { .. } => heard = true,
                    Message::Ack { id, .. } if place == 0 && id == said => acked = true,
                    _ => {}
                }
            }
        }
        if !all {
            frames.iter_mut().for_each(Vec::clear);
        }
    }
    frames
}

/// A table in a game that stands so, with these players at it.
async fn put(live: &LiveStore, case: &Case, position: &Value, clients: &[Client]) -> TableId {
    let rooms = house_rooms(Clocks::default());
    let terms = Terms { rules: case.rules.clone(), ..rooms[0].terms().clone() };
    let stake = terms.stake_max::<AnyGame>(u8::try_from(clients.len()).unwrap()).unwrap();
    let now = Clock::system().now();
    let mut table = Table::<AnyGame>::new(TableId(Uuid::new_v4()), terms);
    let fresh = || GameEntropy { seed: ServerSeed(Hex([7; 32])), game: GameId(Uuid::from_u128(4)) };
    let mut tell = |input| table = table.decide(now, input, fresh).unwrap().table;
    for client in clients {
        tell(Input::sit(client.player(), "Althea"));
        tell(Input::Connect { player: client.player(), connection: ConnectionId(Uuid::new_v4()) });
    }
    for client in clients {
        let (player, game) = (client.player(), fresh().game);
        tell(Input::Ready { player, game, commitment: None });
    }
    tell(Input::Opened {
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

/// Answers the next question to the player, after the one that was answered last.
async fn act(play: &mut Play, action: &Value, answered: &mut u32, frames: &mut Vec<Frame>) {
    let (game, number) = loop {
        let prompt = play.prompt().filter(|prompt| !prompt.legal.is_empty());
        match prompt.filter(|prompt| prompt.number > *answered) {
            Some(prompt) => break (prompt.game, prompt.number),
            None => next(play, frames).await,
        };
    };
    *answered = number;
    let command = 1_000 + number;
    let text = json!({
        "type": "act", "id": command, "game": game, "prompt": number, "action": action
    });
    play.send_text(text.to_string()).await.unwrap();
    loop {
        match next(play, frames).await {
            Message::Ack { id, .. } if id == command => return,
            Message::Refusal { code, detail, .. } => panic!("{code}: {detail}"),
            _ => {}
        }
    }
}

async fn next(play: &mut Play, frames: &mut Vec<Frame>) -> Message<AnyGame> {
    let said = timeout(PATIENCE, play.next_raw()).await.expect("something comes").unwrap();
    let message = play.apply_raw(&said).unwrap();
    let mut shown = serde_json::to_value(&message).unwrap();
    mask(&mut shown);
    // In the shorter forms a time is told by as many bytes as it takes.
    let length = if matches!(said, RawMessage::Text(_)) { said.as_bytes().len() } else { 0 };
    frames.push((length, shown));
    message
}

/// Takes out names that are drawn anew, and times.
fn mask(value: &mut Value) {
    const TIMES: u64 = 1_000_000_000_000;
    match value {
        Value::Object(fields) => {
            fields.remove("tag");
            fields.values_mut().for_each(mask);
        }
        Value::Array(values) => values.iter_mut().for_each(mask),
        Value::String(text) if text.parse::<Uuid>().is_ok() => text.clear(),
        Value::Number(number) if number.as_u64().is_some_and(|number| number > TIMES) => {
            *value = Value::Null;
        }
        _ => {}
    }
}

fn place_of(viewer: Viewer, seats: u8) -> usize {
    match viewer {
        Viewer::Seat(seat) => seat.index(),
        Viewer::Public | Viewer::Everything => usize::from(seats),
    }
}
