//! Rematches: the players of a game meet at one private table, whoever asks first and at whichever
//! node; the others are invited over the socket and by a notice, unless one has blocked the other.

use bahay::lobby::{FinishedGame, LobbyError, REMATCH_WITHIN, house_rooms};
use bahay::ws::protocol::Message;
use bahay_client_tokio::{Client, Play};
use bahay_engine::table::{Clocks, GameId, PlayerId, TableId};
use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use super::private_pots::play_game;
use crate::support::house::{House, unhurried_clocks};
use crate::support::node::Node;
use crate::support::play::TestPlay as _;
use crate::support::rest::{Answer, call, items, post};

/// Requests a rematch with an open socket.
async fn rematch(client: &Client, game: &str) -> Answer {
    client.hold_socket().await.unwrap();
    post(client, &format!("/v1/games/{game}/rematch")).await
}

/// Returns the invitations among a player's notices: the code, and the id and name of the inviting
/// player.
async fn notices(client: &Client) -> Vec<(String, String, String)> {
    let notices: Value = client.read("/v1/me/notices").await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = items(&notices).iter();
    let items = items.filter(|notice| notice["kind"] == "rematch");
    items.map(|one| (text(&one["code"]), text(&one["from"]), text(&one["name"]))).collect()
}

/// Waits for the next invitation on a socket.
async fn invited(play: &mut Play) -> (String, PlayerId, String, GameId) {
    loop {
        if let Message::Invited { code, from, name, game } = play.next_message().await {
            return (code, from, name, game);
        }
    }
}

/// Plays a game of three players in a room to its end, and returns its id.
async fn played(clients: &[Client; 3]) -> String {
    drop(play_game(clients).await.drop_connection());
    let games: Value = clients[0].read("/v1/me/games").await.unwrap();
    games["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn players_of_a_game_meet_again_at_one_table_and_are_invited_on_every_node() {
    let house = House::with_clocks(Clocks { think_ms: 20, ..unhurried_clocks() }).await;
    let (base, node) = house.node().await;
    let (table, clients) = house.table().await;
    let game = played(&clients).await;
    let [first, second, third] = &clients;
    let far = second.with_base(&base);
    let mut waiting = [far.play().await.unwrap(), third.play().await.unwrap()];

    let opened = rematch(first, &game).await.expect(201);
    assert_ne!(opened["table"], json!(table));
    let code = opened["code"].as_str().unwrap().to_owned();
    let told = (code.clone(), first.player(), "Althea".to_owned(), game.parse().unwrap());
    for play in &mut waiting {
        assert_eq!(invited(play).await, told);
    }
    let from = (code.clone(), first.player().to_string(), "Althea".to_owned());
    assert_eq!(notices(second).await, std::slice::from_ref(&from));
    assert_eq!(notices(third).await, std::slice::from_ref(&from));
    assert!(notices(first).await.is_empty());

    // Repeated requests return the same table, for the host and the others, and invite nobody
    // twice.
    assert_eq!(rematch(first, &game).await.expect(201), opened);
    assert_eq!(rematch(&far, &game).await.expect(201), opened);
    // The seat may already be free, if the player was not ready in time.
    let _ = third.leave().await;
    let seat = post(third, &format!("/v1/private-tables/{code}/seat")).await.expect(200);
    assert_eq!(seat, opened, "the code of the invitation is good");
    assert_eq!(notices(second).await.len(), 1);
    let shown: Value = first.read(&format!("/v1/private-tables/{code}")).await.unwrap();
    assert_eq!(shown["host"], json!(first.player()));
    assert_eq!(shown["players"].as_array().unwrap().len(), 3);
    let room: Value = first.read("/v1/rooms").await.unwrap();
    let room = items(&room).iter().find(|room| room["id"] == "newbie");
    let room = room.unwrap();
    for field in ["bet", "multiplier", "kind", "fee_basis_points", "hits_to_win", "loss_max"] {
        assert_eq!(shown[field], room[field], "{field}");
    }

    // A player who was not in the game does not learn that it exists.
    let stranger = house.guest("Delfin").await;
    rematch(&stranger, &game).await.expect_refusal(404, "game_not_found");
    node.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_has_blocked_the_caller_is_not_invited() {
    let house = House::with_clocks(Clocks { think_ms: 20, ..unhurried_clocks() }).await;
    let (_, clients) = house.table().await;
    let game = played(&clients).await;
    let [first, second, third] = &clients;
    for (one, other) in [(second, first), (first, third)] {
        let block = format!("/v1/me/blocks/{}", other.player());
        call(one, "PUT", &block, None).await.expect(204);
    }
    let mut waiting = third.play().await.unwrap();
    rematch(first, &game).await.expect(201);
    assert!(notices(second).await.is_empty());
    assert!(notices(third).await.is_empty());
    let messages = waiting.messages_until_ping().await;
    let is_invited = messages.iter().any(|message| matches!(message, Message::Invited { .. }));
    assert!(!is_invited, "the caller has blocked this player");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rematch_with_an_ended_table_is_opened_and_announced_again() {
    let house = House::with_clocks(Clocks { think_ms: 20, ..unhurried_clocks() }).await;
    let (_, clients) = house.table().await;
    let game = played(&clients).await;
    let [first, second, _] = &clients;
    let opened = rematch(first, &game).await.expect(201);
    first.leave().await.unwrap();
    let table = TableId(opened["table"].as_str().unwrap().parse().unwrap());
    house.live.forget_table(table).await;
    let (base, node) = house.node().await;
    let again = rematch(&second.with_base(&base), &game).await.expect(201);
    assert_ne!(again["code"], opened["code"]);
    let code = again["code"].as_str().unwrap().to_owned();
    let from = (code, second.player().to_string(), "Benjie".to_owned());
    assert_eq!(notices(first).await, [from]);
    node.stop().await.unwrap();
}

fn finished(finished_at_ms: i64) -> FinishedGame {
    FinishedGame {
        game: GameId(Uuid::new_v4()),
        table: TableId(Uuid::new_v4()),
        terms: house_rooms(unhurried_clocks())[0].terms().clone(),
        finished_at_ms,
    }
}

/// In many games, three players ask at the same moment at two nodes and sit at one table.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_rematch_requests_lead_to_one_table() {
    let (bank, _live, nodes) = Node::pair().await;
    for round in 0..20 {
        let players = bank.players([1_000_000; 3]).await;
        let game = finished(nodes[0].tables().clock().now().ms());
        let asked = players
            .iter()
            .enumerate()
            .map(|(place, player)| nodes[(round + place) % 2].lobby.join_rematch(*player, &game));
        let seats: Vec<_> = join_all(asked).await.into_iter().map(Result::unwrap).collect();
        assert!(seats.iter().all(|one| one.seat == seats[0].seat), "{seats:?}");
        assert_eq!(seats.iter().filter(|one| one.is_host).count(), 1, "{seats:?}");
        let table = nodes[1].read_table(seats[0].seat.table).await;
        assert!(players.iter().all(|player| table.seat_of(*player).is_some()));
    }
}

#[tokio::test]
async fn a_game_that_ended_long_ago_has_no_rematch() {
    let (bank, _live, node) = Node::with_stores(unhurried_clocks()).await;
    let player = bank.player(1_000_000).await;
    let within = i64::try_from(REMATCH_WITHIN.as_millis()).unwrap();
    let now = node.tables().clock().now().ms();
    let refused = node.lobby.join_rematch(player, &finished(now - within - 1)).await;
    assert!(matches!(refused, Err(LobbyError::RematchOver)), "{refused:?}");
    assert!(node.lobby.join_rematch(player, &finished(now - within + 60_000)).await.is_ok());
}
