//! Who else is at the table: phrases, mutes, and spectators who see what lies open, one turn late.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use bahay::accounts::{Sanction, SanctionError, SanctionKind};
use bahay::client::{Client, Play, PlayError};
use bahay::clock::{self, Clock};
use bahay::lobby::house_rooms;
use bahay::operators::Sanctions;
use bahay::operators::audit::Actor;
use bahay::social::Phrase;
use bahay::ws::protocol::{Command, Message, Tag};
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::games::tongits::Action;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{Clocks, GameId, PhaseView, Spectators, Table, TableId};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, joined};
use crate::support::reason;

async fn say(play: &mut Play, phrase: Phrase) -> Result<(), PlayError> {
    let said = play.send(|id| Command::Say { id, phrase }).await?;
    play.wait_for_answer(said).await.map(|_| ())
}

/// The next thing that is said, and by whom.
async fn heard(play: &mut Play) -> (String, Phrase) {
    loop {
        let message = timeout(PATIENCE, play.next()).await.expect("somebody speaks").unwrap();
        if let Message::Said { player, phrase, .. } = message {
            return (player.to_string(), phrase);
        }
    }
}

async fn watch(client: &Client, table: TableId) -> Result<Play, PlayError> {
    let mut play = client.play().await?;
    let watching = play.send(|id| Command::Watch { id, table }).await?;
    play.wait_for_answer(watching).await?;
    Ok(play)
}

fn code(refused: Result<impl Sized, PlayError>) -> String {
    match refused {
        Err(PlayError::Refused { code, .. }) => code,
        Err(error) => panic!("not refused, but {error}"),
        Ok(_) => panic!("it was not refused"),
    }
}

/// Asks REST for something that has no answer but that it was done.
async fn done(client: &Client, method: reqwest::Method, path: &str, body: Option<Value>) -> u16 {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.request(method, format!("{}{path}", client.base()));
    let request = request.bearer_auth(client.access_token());
    let request = if let Some(body) = body { request.json(&body) } else { request };
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn phrases_are_heard_on_all_nodes_and_not_by_who_has_muted_the_player() {
    let house = House::new().await;
    let (base, node) = house.node().await;
    let (table, [first, second, third]) = house.table().await;
    let mut first_play = joined(&first).await;
    let mut second_play = joined(&second).await;
    let mut third_play = joined(&third.with_base(&base)).await;
    let mut spectator = watch(&house.guest("Delfin").await, table).await.unwrap();
    say(&mut first_play, Phrase::GoodLuck).await.unwrap();
    let said = (first.player().to_string(), Phrase::GoodLuck);
    for play in [&mut first_play, &mut second_play, &mut third_play, &mut spectator] {
        assert_eq!(heard(play).await, said);
    }
    let mute = format!("/v1/me/mutes/{}", first.player());
    assert_eq!(done(&second, reqwest::Method::PUT, &mute, None).await, 204);
    say(&mut first_play, Phrase::Hurry).await.unwrap();
    assert_eq!(heard(&mut third_play).await.1, Phrase::Hurry);
    say(&mut third_play, Phrase::Thanks).await.unwrap();
    // What is said comes in order, so this would have come after the other.
    assert_eq!(heard(&mut second_play).await, (third.player().to_string(), Phrase::Thanks));
    assert_eq!(done(&second, reqwest::Method::DELETE, &mute, None).await, 204);
    say(&mut first_play, Phrase::EmojiHeart).await.unwrap();
    assert_eq!(heard(&mut second_play).await.1, Phrase::EmojiHeart);
    // Three at once and one every two seconds: however slow this machine is, not for long.
    let mut refused = None;
    for _ in 0..100 {
        if let Err(error) = say(&mut first_play, Phrase::Hello).await {
            refused = Some(error);
            break;
        }
    }
    assert_eq!(code(refused.map_or(Ok(()), Err)), "too_talkative");
    // A spectator only listens.
    assert_eq!(code(say(&mut spectator, Phrase::Hello).await), "not_joined");
    let listed: Value = second.read("/v1/me/mutes").await.unwrap();
    assert_eq!(listed["items"], json!([]));
    node.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_the_house_mutes_is_heard_on_no_node_until_that_ends() {
    let house = House::new().await;
    let (base, node) = house.node().await;
    let (_, [first, second, _]) = house.table().await;
    let mut first_play = joined(&first.with_base(&base)).await;
    let mut second_play = joined(&second).await;
    let (clock, player) = (Clock::system(), first.player());
    let sanctions = Sanctions::new(house.database.owner_pool().await, clock.clone());
    let ends_at = Some(clock::add(clock.now(), Duration::from_hours(1)));
    let mute = Sanction { reason: reason("insults at the table"), ends_at };
    sanctions.impose_as(&Actor::COMMAND_LINE, player, SanctionKind::Mute, &mute).await.unwrap();
    assert_eq!(code(say(&mut first_play, Phrase::Hello).await), "muted");
    assert_eq!(code(say(&mut first_play, Phrase::EmojiHeart).await), "muted");
    // Others speak, and the muted one hears them and has its seat.
    say(&mut second_play, Phrase::Hurry).await.unwrap();
    assert_eq!(heard(&mut first_play).await, (second.player().to_string(), Phrase::Hurry));
    sanctions.lift_as(&Actor::COMMAND_LINE, player, SanctionKind::Mute).await.unwrap();
    let again = sanctions.lift_as(&Actor::COMMAND_LINE, player, SanctionKind::Mute).await;
    assert!(matches!(again, Err(SanctionError::NotMuted)), "{again:?}");
    say(&mut first_play, Phrase::Sorry).await.unwrap();
    // It would have heard the two that were refused before this one.
    assert_eq!(heard(&mut second_play).await.1, Phrase::Hurry);
    assert_eq!(heard(&mut second_play).await, (player.to_string(), Phrase::Sorry));
    let told: Value = first.read("/v1/me/notices").await.unwrap();
    let kinds: Vec<_> = told["items"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["mute_lifted", "muted"]);
    node.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_table_that_lets_anybody_watch_is_watched() {
    let house = House::new().await;
    let (table, [client, ..]) = house.table().await;
    let stranger = house.guest("Delfin").await;
    let nowhere = TableId(Uuid::new_v4());
    assert_eq!(code(watch(&stranger, nowhere).await), "table_not_found");
    let mut joined = joined(&client).await;
    let watching = joined.send(|id| Command::Watch { id, table }).await.unwrap();
    assert_eq!(code(joined.wait_for_answer(watching).await), "already_joined");
    let mut closed = house_rooms(Clocks::default())[0].terms().clone();
    closed.spectators = Spectators::Nobody;
    let (live, _publications) = house.live.connect().await;
    let founded = Table::<AnyGame>::new(TableId(Uuid::new_v4()), closed);
    let snapshot = serde_json::to_string(&founded).unwrap();
    live.create(founded.id(), bahay::entropy::tag(), &snapshot, 60_000, founded.engine())
        .await
        .unwrap();
    assert_eq!(code(watch(&stranger, founded.id()).await), "not_watchable");
    // Who watches no more is told nothing more, and may watch again.
    let mut spectator = watch(&stranger, table).await.unwrap();
    let ended = spectator.send(|id| Command::Unwatch { id }).await.unwrap();
    spectator.wait_for_answer(ended).await.unwrap();
    let again = spectator.send(|id| Command::Watch { id, table }).await.unwrap();
    spectator.wait_for_answer(again).await.unwrap();
}

/// The rules of a private table are a room's, but who may watch the room's tables may not watch it:
/// not even one of its players, who sees it from the seat.
#[tokio::test(flavor = "multi_thread")]
async fn a_private_table_of_a_room_that_may_be_watched_is_not_watched() {
    let house = House::new().await;
    let (public, _) = house.table().await;
    let host = house.guest("Delfin").await;
    let stranger = house.guest("Estrella").await;
    watch(&stranger, public).await.expect("the room's own tables may be watched");
    host.hold_socket().await.unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let open = http.post(format!("{}/v1/private-tables", host.base()));
    let open = open.json(&json!({ "room": "newbie", "bet": 100 }));
    let opened = open.bearer_auth(host.access_token()).send().await.unwrap();
    let opened: Value = opened.error_for_status().unwrap().json().await.unwrap();
    let table = serde_json::from_value(opened["table"].clone()).unwrap();
    assert_eq!(code(watch(&stranger, table).await), "not_watchable");
    assert_eq!(code(watch(&host, table).await), "not_watchable");
}

/// What a spectator has been told, and whether it was time.
struct Spectator {
    play: Play,
    texts: Vec<String>,
    /// Versions at which turns of the game began, as the first player reads them.
    began: Vec<u64>,
    /// What the first player reads as which version.
    read: HashMap<Tag, u64>,
    asked: Option<SeatSet>,
}

impl Spectator {
    fn turn(&mut self, seats: SeatSet, tag: Tag, version: u64) {
        self.read.insert(tag, version);
        if self.asked != Some(seats) {
            self.asked = Some(seats);
            self.began.push(version);
        }
    }

    /// Takes whatever has come. In mid-game nothing is younger than a whole turn.
    async fn look(&mut self) {
        let mut ping = self.play.send(|id| Command::Ping { id }).await.unwrap();
        let mut early = None;
        loop {
            let message = timeout(PATIENCE, self.play.next()).await.unwrap().unwrap();
            self.texts.push(serde_json::to_string(&message).unwrap());
            let tag = match message {
                Message::Ack { id, .. } if id == ping => {
                    // Once the hands have been shown nothing is held back.
                    let view = self.play.view();
                    let is_over =
                        !view.is_some_and(|view| matches!(view.phase, PhaseView::Playing { .. }));
                    assert!(
                        early.is_none() || is_over,
                        "version {early:?} while turns began at {:?}",
                        self.began
                    );
                    return;
                }
                // The game is played faster than a client may ask.
                Message::Refusal { retryable: true, .. } => {
                    sleep(Duration::from_millis(100)).await;
                    ping = self.play.send(|id| Command::Ping { id }).await.unwrap();
                    continue;
                }
                Message::Snapshot { tag, .. } | Message::Update { tag, .. } => tag,
                _ => continue,
            };
            let version = self.read.get(&tag).copied().unwrap_or(u64::MAX);
            // Before the second turn nothing of the game is shown.
            let newest = self.began.len().checked_sub(2).map(|turn| self.began[turn]);
            if newest.is_none_or(|newest| version > newest) {
                early = early.or(Some(version));
            }
        }
    }
}

/// Cards as texts have them.
fn cards(text: &str) -> BTreeSet<String> {
    let words = text.split('"').filter(|word| word.len() == 2);
    let is_card = |word: &&str| {
        let (rank, suit) = word.split_at(1);
        "A23456789TJQK".contains(rank) && "CDHS".contains(suit)
    };
    words.filter(is_card).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spectator_sees_one_turn_late_and_no_card_that_does_not_lie_open() {
    let house = House::new().await;
    let (table, clients) = house.table().await;
    let mut plays = Vec::new();
    for client in &clients {
        plays.push(joined(client).await);
    }
    let game = match &plays[2].view().unwrap().phase {
        PhaseView::Preparing { game, .. } => *game,
        other => panic!("a full table prepares: {other:?}"),
    };
    for play in &mut plays {
        let readied = play.ready(game, None).await.unwrap();
        play.wait_for_answer(readied).await.unwrap();
    }
    for play in &mut plays {
        while !matches!(play.view().unwrap().phase, PhaseView::Playing { .. }) {
            play.next().await.unwrap();
        }
    }
    let stranger = house.guest("Delfin").await;
    let play = watch(&stranger, table).await.unwrap();
    let mut spectator =
        Spectator { play, texts: vec![], began: vec![], read: HashMap::new(), asked: None };
    play_out(&mut plays, &mut spectator, game).await;
    // When it is over nothing is held back.
    while spectator.play.tag() != plays[0].tag() {
        let message = timeout(PATIENCE, spectator.play.next()).await.unwrap().unwrap();
        spectator.texts.push(serde_json::to_string(&message).unwrap());
    }

    let record = clients[0].record(game).await.unwrap();
    let actions = record["actions"].as_array().unwrap();
    let mut mentioned = BTreeSet::new();
    for text in &spectator.texts {
        // From here on all hands lie open.
        let (before, is_shown) = match text.split_once("\"type\":\"shown\"") {
            Some((before, _)) => (before, true),
            None => (text.as_str(), false),
        };
        mentioned.extend(cards(before));
        if is_shown {
            break;
        }
        for hidden in ["\"stock\":[", "answered", "server_seed"] {
            assert!(!before.contains(hidden), "{before}");
        }
    }
    let exposed: BTreeSet<_> = actions.iter().flat_map(|one| cards(&one.to_string())).collect();
    assert!(mentioned.is_subset(&exposed), "{mentioned:?} beside {exposed:?}");
    assert!(!mentioned.is_empty(), "something was seen");
    finished_game_is_remembered(&house, &clients, game, &record).await;
}

/// Whether this game goes on or is being settled.
fn is_on(play: &Play, game: GameId) -> bool {
    match &play.view().unwrap().phase {
        PhaseView::Playing { game: now, .. } | PhaseView::Settling { game: now, .. } => {
            *now == game
        }
        PhaseView::Waiting
        | PhaseView::Preparing { .. }
        | PhaseView::Opening { .. }
        | PhaseView::Revealing { .. } => false,
    }
}

/// Plays by the house's advice until the game is settled.
async fn play_out(plays: &mut [Play], spectator: &mut Spectator, game: GameId) {
    while is_on(&plays[0], game) {
        if let Some(prompt) = plays[0].prompt() {
            let (tag, version) = (plays[0].tag().unwrap(), plays[0].version().unwrap());
            spectator.turn(prompt.seats, tag, version);
            spectator.look().await;
        }
        let advised = plays.iter().enumerate();
        let advised = advised.filter_map(|(place, play)| Some((place, play.advice()?))).next();
        let acted = match advised {
            Some((place, action)) => {
                let is_answer =
                    matches!(action, AnyAction::Tongits(Action::Challenge | Action::Fold));
                let command = plays[place].act(action).await.unwrap();
                plays[place].wait_for_answer(command).await.unwrap();
                // Nobody else is told of an answer to a fight before its end.
                if is_answer { None } else { plays[place].tag() }
            }
            // It is over, and the ledger is asked; or a fight runs on.
            None => {
                timeout(PATIENCE, plays[0].next()).await.unwrap().unwrap();
                plays[0].tag()
            }
        };
        for play in plays.iter_mut() {
            while acted.is_some() && play.tag() != acted {
                timeout(PATIENCE, play.next()).await.unwrap().unwrap();
            }
        }
    }
}

/// What REST tells of a game that was really played.
async fn finished_game_is_remembered(
    house: &House,
    clients: &[Client; 3],
    game: GameId,
    record: &Value,
) {
    let stranger = house.guest("Efren").await;
    let detail: Value = clients[1].read(&format!("/v1/games/{game}")).await.unwrap();
    assert_eq!(detail["seats"].as_array().unwrap().len(), 3);
    assert_eq!(detail["settlement"]["winner"], record["settlement"]["winner"]);
    let acts: u64 = (0..3)
        .map(|seat| detail["seats"][seat]["actions"]["player"].as_u64())
        .map(|acts| acts.unwrap())
        .sum();
    let acts = usize::try_from(acts).unwrap();
    assert_eq!(acts, record["actions"].as_array().unwrap().len());
    let path = format!("/v1/games/{game}/steps");
    let own: Value = clients[1].read(&path).await.unwrap();
    let taken = own["items"].as_array().unwrap().iter().filter(|step| !step["taken"].is_null());
    assert_eq!(taken.count(), acts);
    let seat = usize::try_from(own["seat"].as_u64().unwrap()).unwrap();
    for step in own["items"].as_array().unwrap() {
        for other in (0..3).filter(|other| *other != seat) {
            assert!(step["view"]["hands"][other].is_null(), "{step}");
        }
    }
    let all: Value = clients[1].read(&format!("{path}?hands=all&offset=1&limit=1")).await.unwrap();
    assert!((0..3).all(|seat| all["items"][0]["view"]["hands"][seat].is_array()));
    assert_eq!((&all["next_offset"], &all["items"][0]["number"]), (&json!(2), &json!(1)));
    for path in [path, format!("/v1/games/{game}"), format!("/v1/games/{game}/record")] {
        assert!(stranger.read::<Value>(&path).await.is_err(), "{path}");
    }
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let fair = http.get(format!("{}/v1/games/{game}/fairness", house.base)).send().await.unwrap();
    assert_eq!(fair.status(), 200);
    let fair: Value = fair.json().await.unwrap();
    for part in ["commitment", "server_seed", "clients", "chance", "engine", "starter"] {
        assert_eq!(fair[part], record[part], "{part}");
    }
    report(clients, &stranger, game).await;
    counted(clients, record, game).await;
}

async fn report(clients: &[Client; 3], stranger: &Client, game: GameId) {
    let path = format!("/v1/games/{game}/reports");
    let about = |player: &Client, reason: &str| {
        Some(json!({ "player": player.player(), "reason": reason, "words": "They showed cards." }))
    };
    let post = reqwest::Method::POST;
    let [first, second, _] = clients;
    let send = |who: &Client, body| {
        let (who, path, post) = (who.clone(), path.clone(), post.clone());
        async move { done(&who, post, &path, body).await }
    };
    assert_eq!(send(first, about(second, "collusion")).await, 204);
    assert_eq!(send(first, about(second, "abuse")).await, 409);
    assert_eq!(send(second, about(first, "abuse")).await, 204);
    assert_eq!(send(first, about(first, "abuse")).await, 409);
    assert_eq!(send(first, about(stranger, "abuse")).await, 404);
    assert_eq!(send(stranger, about(first, "abuse")).await, 404);
    assert_eq!(send(first, about(second, "spite")).await, 422);
}

/// Statistics follow some seconds behind.
async fn counted(clients: &[Client; 3], record: &Value, game: GameId) {
    let winner = usize::try_from(record["settlement"]["winner"].as_u64().unwrap()).unwrap();
    let winner = record["players"][winner].as_str().unwrap();
    for client in clients {
        let statistics = timeout(PATIENCE, async {
            loop {
                let path = format!("/v1/players/{}", client.player());
                let player: Value = clients[0].read(&path).await.unwrap();
                if player["statistics"][0]["games"] == 1 {
                    return player["statistics"][0].clone();
                }
                tokio::task::yield_now().await;
            }
        });
        let statistics = statistics.await.expect("the game is counted");
        let won = u64::from(client.player().to_string() == winner);
        assert_eq!(statistics["wins"], won);
        assert_eq!(statistics["streak"], won);
        let mine: Value = client.read("/v1/me/statistics").await.unwrap();
        assert_eq!(mine["items"][0], statistics);
        let detail: Value = client.read(&format!("/v1/games/{game}")).await.unwrap();
        let ending = detail["ending"].as_str().unwrap();
        let outcome = if won == 1 { "won" } else { "lost" };
        let path = format!("/v1/me/games?room=newbie&outcome={outcome}&ending={ending}");
        let listed: Value = client.read(&path).await.unwrap();
        assert_eq!(listed["items"][0]["id"], game.to_string());
        let none: Value = client.read("/v1/me/games?outcome=voided").await.unwrap();
        assert_eq!(none["items"], json!([]));
        let board: Value = client.read("/v1/leaderboards/coins/day?section=around").await.unwrap();
        assert_eq!(board["own"].is_object(), won == 1, "{board}");
        assert_eq!(board["items"].as_array().unwrap().len() as u64, won);
    }
}
