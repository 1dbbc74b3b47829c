//! Tests of phrases, mutes and spectators, who see open cards only and one turn late.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use bahay::accounts::{Sanction, SanctionError, SanctionKind};
use bahay::clock::{self, Clock};
use bahay::lobby::house_rooms;
use bahay::operators::Sanctions;
use bahay::operators::audit::Actor;
use bahay::social::Phrase;
use bahay::ws::protocol::{Command, Message, Tag};
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::games::tongits::Action;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{Clocks, GameId, PhaseView, Spectators, Table, TableId};
use serde_json::{Value, json};
use tokio::time::sleep;
use uuid::Uuid;

use crate::support::house::{House, join_table};
use crate::support::play::{TestPlay as _, become_ready, is_playing, join_new_table, refusal_code};
use crate::support::reason;
use crate::support::rest::{call, call_at, delete, items, post_json};
use crate::support::waiting::wait_for;

async fn send_phrase(play: &mut Play, phrase: Phrase) -> Result<(), PlayError> {
    play.execute(|id| Command::Say { id, phrase }).await
}

/// Returns the next phrase and the player who sent it.
async fn next_phrase(play: &mut Play) -> (String, Phrase) {
    loop {
        if let Message::Said { player, phrase, .. } = play.next_message().await {
            return (player.to_string(), phrase);
        }
    }
}

async fn watch_table(client: &Client, table: TableId) -> Result<Play, PlayError> {
    let mut play = client.play().await?;
    play.execute(|id| Command::Watch { id, table }).await?;
    Ok(play)
}

#[tokio::test(flavor = "multi_thread")]
async fn phrases_reach_all_nodes_except_players_who_muted_the_speaker() {
    let (house, table, [first, second, third]) = House::with_table().await;
    let (base, node) = house.node().await;
    let mut first_play = join_table(&first).await;
    let mut second_play = join_table(&second).await;
    let mut third_play = join_table(&third.with_base(&base)).await;
    let mut spectator = watch_table(&house.guest("Delfin").await, table).await.unwrap();
    send_phrase(&mut first_play, Phrase::GoodLuck).await.unwrap();
    let said = (first.player().to_string(), Phrase::GoodLuck);
    for play in [&mut first_play, &mut second_play, &mut third_play, &mut spectator] {
        assert_eq!(next_phrase(play).await, said);
    }
    let mute = format!("/v1/me/mutes/{}", first.player());
    call(&second, "PUT", &mute, None).await.expect(204);
    send_phrase(&mut first_play, Phrase::Hurry).await.unwrap();
    assert_eq!(next_phrase(&mut third_play).await.1, Phrase::Hurry);
    send_phrase(&mut third_play, Phrase::Thanks).await.unwrap();
    // Phrases arrive in order, so a phrase of the muted player would have arrived before this one.
    assert_eq!(next_phrase(&mut second_play).await, (third.player().to_string(), Phrase::Thanks));
    delete(&second, &mute).await.expect(204);
    send_phrase(&mut first_play, Phrase::EmojiHeart).await.unwrap();
    assert_eq!(next_phrase(&mut second_play).await.1, Phrase::EmojiHeart);
    // The limit is three phrases at once and one every two seconds, so a refusal follows soon even
    // on a slow machine.
    let mut refused = None;
    for _ in 0..100 {
        if let Err(error) = send_phrase(&mut first_play, Phrase::Hello).await {
            refused = Some(error);
            break;
        }
    }
    assert_eq!(refusal_code(refused.map_or(Ok(()), Err)), "too_talkative");
    // A spectator cannot send phrases.
    assert_eq!(refusal_code(send_phrase(&mut spectator, Phrase::Hello).await), "not_joined");
    let listed: Value = second.read("/v1/me/mutes").await.unwrap();
    assert_eq!(listed["items"], json!([]));
    node.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mute_by_the_house_applies_on_all_nodes_until_it_is_lifted() {
    let (house, _, [first, second, _]) = House::with_table().await;
    let (base, node) = house.node().await;
    let mut first_play = join_table(&first.with_base(&base)).await;
    let mut second_play = join_table(&second).await;
    let (clock, player) = (Clock::system(), first.player());
    let sanctions = Sanctions::new(house.database.owner_pool().await, clock.clone());
    let ends_at = Some(clock::add(clock.now(), Duration::from_hours(1)));
    let mute = Sanction { reason: reason("insults at the table"), ends_at };
    sanctions.impose_as(&Actor::COMMAND_LINE, player, SanctionKind::Mute, &mute).await.unwrap();
    assert_eq!(refusal_code(send_phrase(&mut first_play, Phrase::Hello).await), "muted");
    assert_eq!(refusal_code(send_phrase(&mut first_play, Phrase::EmojiHeart).await), "muted");
    // Other players may send phrases; the muted player receives them and keeps its seat.
    send_phrase(&mut second_play, Phrase::Hurry).await.unwrap();
    assert_eq!(next_phrase(&mut first_play).await, (second.player().to_string(), Phrase::Hurry));
    sanctions.lift_as(&Actor::COMMAND_LINE, player, SanctionKind::Mute).await.unwrap();
    let again = sanctions.lift_as(&Actor::COMMAND_LINE, player, SanctionKind::Mute).await;
    assert!(matches!(again, Err(SanctionError::NotMuted)), "{again:?}");
    send_phrase(&mut first_play, Phrase::Sorry).await.unwrap();
    // The two refused phrases would have arrived before this one.
    assert_eq!(next_phrase(&mut second_play).await.1, Phrase::Hurry);
    assert_eq!(next_phrase(&mut second_play).await, (player.to_string(), Phrase::Sorry));
    let notices: Value = first.read("/v1/me/notices").await.unwrap();
    let notices = items(&notices);
    let kinds: Vec<_> = notices.iter().map(|notice| &notice["kind"]).collect();
    assert_eq!(kinds, ["mute_lifted", "muted"]);
    node.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_without_spectators_cannot_be_watched() {
    let (house, table, [client, ..]) = House::with_table().await;
    let stranger = house.guest("Delfin").await;
    let nowhere = TableId(Uuid::new_v4());
    assert_eq!(refusal_code(watch_table(&stranger, nowhere).await), "table_not_found");
    let mut joined = join_table(&client).await;
    let watching = joined.execute(|id| Command::Watch { id, table }).await;
    assert_eq!(refusal_code(watching), "already_joined");
    let mut closed = house_rooms(Clocks::default())[0].terms().clone();
    closed.spectators = Spectators::Nobody;
    let (live, _publications) = house.live.connect().await;
    let founded = Table::<AnyGame>::new(TableId(Uuid::new_v4()), closed);
    let snapshot = serde_json::to_string(&founded).unwrap();
    live.create(founded.id(), bahay::entropy::tag(), &snapshot, 60_000, founded.engine())
        .await
        .unwrap();
    assert_eq!(refusal_code(watch_table(&stranger, founded.id()).await), "not_watchable");
    // A spectator who has stopped watching may watch again.
    let mut spectator = watch_table(&stranger, table).await.unwrap();
    spectator.execute(|id| Command::Unwatch { id }).await.unwrap();
    spectator.execute(|id| Command::Watch { id, table }).await.unwrap();
}

/// A private table takes its rules from a room, but nobody may watch it even if the room's tables
/// may be watched. Its own players cannot watch it either, since they see it from their seats.
#[tokio::test(flavor = "multi_thread")]
async fn a_private_table_cannot_be_watched_even_if_its_room_can() {
    let (house, public, _) = House::with_table().await;
    let host = house.guest("Delfin").await;
    let stranger = house.guest("Estrella").await;
    watch_table(&stranger, public).await.expect("tables of the room may be watched");
    let open = json!({ "room": "newbie", "bet": 100 });
    let opened = post_json(&host, "/v1/private-tables", &open).await.expect(201);
    let table = serde_json::from_value(opened["table"].clone()).unwrap();
    assert_eq!(refusal_code(watch_table(&stranger, table).await), "not_watchable");
    assert_eq!(refusal_code(watch_table(&host, table).await), "not_watchable");
}

/// A spectator that records its messages and checks that each one was delayed by a whole turn.
struct Spectator {
    play: Play,
    texts: Vec<String>,
    /// The versions at which turns of the game began, in the first player's numbering.
    turn_versions: Vec<u64>,
    /// The first player's version of each tag.
    versions: HashMap<Tag, u64>,
    prompted: Option<SeatSet>,
}

impl Spectator {
    fn record_turn(&mut self, seats: SeatSet, tag: Tag, version: u64) {
        self.versions.insert(tag, version);
        if self.prompted != Some(seats) {
            self.prompted = Some(seats);
            self.turn_versions.push(version);
        }
    }

    /// Receives all messages sent so far. While the game is played, no message is newer than the
    /// beginning of the last complete turn.
    async fn receive_updates(&mut self) {
        let mut ping = self.play.send(|id| Command::Ping { id }).await.unwrap();
        let mut early = None;
        loop {
            let message = self.play.next_message().await;
            self.texts.push(serde_json::to_string(&message).unwrap());
            let tag = match message {
                Message::Ack { id, .. } if id == ping => {
                    // Nothing is delayed once the hands have been shown.
                    let view = self.play.view();
                    let is_over =
                        !view.is_some_and(|view| matches!(view.phase, PhaseView::Playing { .. }));
                    assert!(
                        early.is_none() || is_over,
                        "version {early:?} is too new; turns began at {:?}",
                        self.turn_versions
                    );
                    return;
                }
                // The game runs faster than the rate limit of the client's commands.
                Message::Refusal { retryable: true, .. } => {
                    sleep(Duration::from_millis(100)).await;
                    ping = self.play.send(|id| Command::Ping { id }).await.unwrap();
                    continue;
                }
                Message::Snapshot { tag, .. } | Message::Update { tag, .. } => tag,
                _ => continue,
            };
            let version = self.versions.get(&tag).copied().unwrap_or(u64::MAX);
            // The spectator sees nothing of the game before the second turn.
            let turn = self.turn_versions.len().checked_sub(2);
            let newest = turn.map(|turn| self.turn_versions[turn]);
            if newest.is_none_or(|newest| version > newest) {
                early = early.or(Some(version));
            }
        }
    }
}

/// Returns the names of all cards in a JSON text.
fn card_names(text: &str) -> BTreeSet<String> {
    let words = text.split('"').filter(|word| word.len() == 2);
    let is_card = |word: &&str| {
        let (rank, suit) = word.split_at(1);
        "A23456789TJQK".contains(rank) && "CDHS".contains(suit)
    };
    words.filter(is_card).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spectator_sees_only_open_cards_and_one_turn_late() {
    let house = House::new().await;
    let (table, clients, mut plays) = join_new_table(&house).await;
    let game = become_ready(&mut plays).await;
    for play in &mut plays {
        play.read_until("a game", is_playing).await;
    }
    let stranger = house.guest("Delfin").await;
    let play = watch_table(&stranger, table).await.unwrap();
    let mut spectator = Spectator {
        play,
        texts: vec![],
        turn_versions: vec![],
        versions: HashMap::new(),
        prompted: None,
    };
    play_until_settled(&mut plays, &mut spectator, game).await;
    // Nothing is delayed once the game is over.
    while spectator.play.tag() != plays[0].tag() {
        let message = spectator.play.next_message().await;
        spectator.texts.push(serde_json::to_string(&message).unwrap());
    }

    let record = clients[0].record(game).await.unwrap();
    let actions = record["actions"].as_array().unwrap();
    let mut mentioned = BTreeSet::new();
    for text in &spectator.texts {
        // All hands are open after this event.
        let (before, is_shown) = match text.split_once("\"type\":\"shown\"") {
            Some((before, _)) => (before, true),
            None => (text.as_str(), false),
        };
        mentioned.extend(card_names(before));
        if is_shown {
            break;
        }
        for hidden in ["\"stock\":[", "answered", "server_seed"] {
            assert!(!before.contains(hidden), "{before}");
        }
    }
    let exposed: BTreeSet<_> =
        actions.iter().flat_map(|action| card_names(&action.to_string())).collect();
    assert!(mentioned.is_subset(&exposed), "mentioned: {mentioned:?}, exposed: {exposed:?}");
    assert!(!mentioned.is_empty(), "the spectator saw a card");
    check_finished_game(&house, &clients, game, &record).await;
}

/// Returns whether the game is being played or settled.
fn is_in_progress(play: &Play, game: GameId) -> bool {
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

/// Plays the actions that the AI advises until the game is settled.
async fn play_until_settled(plays: &mut [Play], spectator: &mut Spectator, game: GameId) {
    while is_in_progress(&plays[0], game) {
        if let Some(prompt) = plays[0].prompt() {
            let (tag, version) = (plays[0].tag().unwrap(), plays[0].version().unwrap());
            spectator.record_turn(prompt.seats, tag, version);
            spectator.receive_updates().await;
        }
        let advised = plays.iter().enumerate();
        let advised = advised.filter_map(|(place, play)| Some((place, play.advice()?))).next();
        let acted = match advised {
            Some((place, action)) => {
                let is_answer =
                    matches!(action, AnyAction::Tongits(Action::Challenge | Action::Fold));
                plays[place].confirm_action(action).await;
                // An answer to a fight is shown to nobody else before the fight ends.
                if is_answer { None } else { plays[place].tag() }
            }
            // The game is over and waits for the ledger, or a fight is in progress.
            None => {
                plays[0].next_message().await;
                plays[0].tag()
            }
        };
        for play in plays.iter_mut() {
            while acted.is_some() && play.tag() != acted {
                play.next_message().await;
            }
        }
    }
}

/// Checks the REST resources of a finished game: detail, steps, record, fairness, reports and
/// statistics.
async fn check_finished_game(house: &House, clients: &[Client; 3], game: GameId, record: &Value) {
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
    let taken = items(&own).iter().filter(|step| !step["taken"].is_null());
    assert_eq!(taken.count(), acts);
    let seat = usize::try_from(own["seat"].as_u64().unwrap()).unwrap();
    for step in items(&own) {
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
    let fair = format!("/v1/games/{game}/fairness");
    let fair = call_at(&house.base, "", "GET", &fair, None).await.expect(200);
    for part in ["commitment", "server_seed", "clients", "chance", "engine", "starter"] {
        assert_eq!(fair[part], record[part], "{part}");
    }
    check_reports(clients, &stranger, game).await;
    check_statistics(clients, record, game).await;
}

async fn check_reports(clients: &[Client; 3], stranger: &Client, game: GameId) {
    let path = format!("/v1/games/{game}/reports");
    let [first, second, _] = clients;
    for (by, about, reason, status) in [
        (first, second, "collusion", 204),
        (first, second, "abuse", 409),
        (second, first, "abuse", 204),
        (first, first, "abuse", 409),
        (first, stranger, "abuse", 404),
        (stranger, first, "abuse", 404),
        (first, second, "spite", 422),
    ] {
        let words = "They showed cards.";
        let body = json!({ "player": about.player(), "reason": reason, "words": words });
        post_json(by, &path, &body).await.expect(status);
    }
}

/// Checks the statistics and game lists, which are updated some seconds after a game.
async fn check_statistics(clients: &[Client; 3], record: &Value, game: GameId) {
    let winner = usize::try_from(record["settlement"]["winner"].as_u64().unwrap()).unwrap();
    let winner = record["players"][winner].as_str().unwrap();
    for client in clients {
        let path = format!("/v1/players/{}", client.player());
        let statistics = wait_for("the statistics include the game", async || {
            let player: Value = clients[0].read(&path).await.unwrap();
            Some(player["statistics"][0].clone()).filter(|statistics| statistics["games"] == 1)
        })
        .await;
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
        assert_eq!(items(&board).len() as u64, won);
    }
}
