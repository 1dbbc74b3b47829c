//! Play over the socket: guarantees for clients, and the treatment of invalid ones.

use bahay::ws::protocol::{MESSAGE_BYTES_MAX, Message, close};
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::table::{Event, GameId};
use bahay_lab::demo;
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::checks::audit_books;
use crate::support::house::{House, PATIENCE, ai_clocks, guest_at, join_table};
use crate::support::play::{TestPlay as _, asked_player, deal_game, join_new_table};
use crate::support::raw::{open_socket, refused_upgrade};

/// The main scenario: three guests play until a POT is won, and every record is verified.
#[tokio::test(flavor = "multi_thread")]
async fn three_guests_play_until_one_takes_the_pot() {
    let house = House::new().await;
    timeout(PATIENCE, demo::run(&house.base, "newbie")).await.unwrap().unwrap();
    let report = audit_books(&house.pool).await;
    assert!(report.games > 1, "{report:?}");
}

/// Through two nodes, one after the other, because a table has no home node.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_node_serves_the_same_house() {
    let (house, table, [first, ..]) = House::with_table().await;
    let (base, running) = house.node().await;
    let elsewhere = guest_at(&base, "Dante").await;
    assert_ne!(elsewhere.seat("newbie").await.unwrap(), table, "the first table is full");
    let mut play = join_table(&first).await;
    assert_eq!(play.table(), Some(table));
    play.leave().await.unwrap();
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_token_is_refused_before_the_socket_opens() {
    let house = House::new().await;
    let token = house.guest("Althea").await.access_token().to_owned();
    // The first letter of the signature; the last one does not use all of its bits.
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { "B" } else { "A" };
    let forged = format!("{signed}.{other}{}", &signature[1..]);
    for (authorization, code) in [
        ("Bearer nonsense".to_owned(), "token_malformed"),
        (format!("Bearer {forged}"), "token_forged"),
        (format!("Basic {token}"), "token_missing"),
    ] {
        let headers = [("authorization", &*authorization)];
        let refused = refused_upgrade(open_socket(&house.base, "", &headers).await);
        assert_eq!(refused, (401, code.to_owned()), "{authorization:?}");
    }
}

/// Returns the refusal of one text; only messages about other players may precede it.
async fn refusal(play: &mut Play, text: &str) -> (Option<u32>, String, Option<String>) {
    play.send_text(text.to_owned()).await.unwrap();
    loop {
        let message = play.next_message().await;
        assert_eq!(message.acked_command(), None, "{text} was accepted");
        if let Message::Refusal { id, code, rule, .. } = message {
            return (id, code.into_owned(), rule.map(|rule| rule.into_owned()));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_command_is_refused_and_changes_nothing() {
    let (_house, _, [client, ..]) = House::with_table().await;
    let mut play = join_table(&client).await;
    let before = play.view().cloned();
    let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
    let game = Uuid::new_v4();
    let act = |action: &str| {
        format!(r#"{{"type":"act","id":7,"game":"{game}","prompt":1,"action":{action}}}"#)
    };
    for (text, id) in [
        ("", None),
        ("hello", None),
        ("null", None),
        ("[]", None),
        (deep.as_str(), None),
        (r#"{"type":"act"}"#, None),
        (r#"{"id":7}"#, Some(7)),
        (r#"{"type":"cheat","id":7}"#, Some(7)),
        (r#"{"type":"ping","id":7,"more":1}"#, Some(7)),
        (r#"{"type":"ping","id":-1}"#, None),
        (r#"{"type":"ping","id":4294967296}"#, None),
        (r#"{"type":"ping","id":"7"}"#, None),
        (r#"{"type":"ready","id":7,"game":"not-a-game"}"#, Some(7)),
        (&act(r#"{"type":"dump"}"#), Some(7)),
        (&act(r#"{"type":"dump","card":"1S"}"#), Some(7)),
        (&act(r#"{"type":"dump","card":"AS","twice":true}"#), Some(7)),
        (&act(r#"{"type":"drop","cards":["AS","AS","AD"]}"#), Some(7)),
        (&act(r#"{"type":"sapaw","card":"AS","meld":999}"#), Some(7)),
        (&act("null"), Some(7)),
    ] {
        let (said_id, code, _) = refusal(&mut play, text).await;
        assert_eq!((said_id, code.as_str()), (id, "malformed"), "{text}");
    }
    assert_eq!(play.view().cloned(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_at_the_wrong_time_or_place_is_refused_with_its_reason() {
    let house = House::new().await;
    let nobody = house.guest("Dante").await;
    let mut play = nobody.play().await.unwrap();
    let game = Uuid::new_v4();
    let ready = format!(r#"{{"type":"ready","id":1,"game":"{game}"}}"#);
    let act =
        format!(r#"{{"type":"act","id":1,"game":"{game}","prompt":1,"action":{{"type":"draw"}}}}"#);
    for (text, expected) in [
        (ready.as_str(), "not_joined"),
        (act.as_str(), "not_joined"),
        (r#"{"type":"leave","id":1}"#, "not_joined"),
        (r#"{"type":"join","id":1}"#, "not_seated"),
    ] {
        let (id, code, _) = refusal(&mut play, text).await;
        assert_eq!((id, code.as_str()), (Some(1), expected), "{text}");
    }

    let (_, [client, ..]) = house.table().await;
    let mut play = join_table(&client).await;
    let prepared = play.prepared_game().await;
    let (_, code, rule) = refusal(&mut play, &act).await;
    assert_eq!((code.as_str(), rule.as_deref()), ("wrong_phase", Some("8.1")));
    assert_eq!(refusal(&mut play, &ready).await.1, "other_game");
    for commitment in ["", "luck", &"0".repeat(63), &"g".repeat(64), &"0".repeat(66)] {
        let odd =
            format!(r#"{{"type":"ready","id":1,"game":"{prepared}","commitment":"{commitment}"}}"#);
        assert_eq!(refusal(&mut play, &odd).await.1, "malformed", "{commitment}");
    }
    let early = format!(r#"{{"type":"reveal","id":1,"game":"{prepared}","text":"luck"}}"#);
    let (_, code, rule) = refusal(&mut play, &early).await;
    assert_eq!((code.as_str(), rule.as_deref()), ("wrong_phase", Some("8.1")));
    play.confirm_ready(prepared).await;
    let again = play.ready(prepared, None).await.unwrap();
    assert_eq!(play.refusal_of(again).await, "already_ready");
}

/// Returns three connections whose game has begun.
async fn playing(house: &House) -> ([Client; 3], Vec<Play>) {
    let (_, clients, mut plays) = join_new_table(house).await;
    deal_game(&mut plays).await;
    (clients, plays)
}

#[tokio::test(flavor = "multi_thread")]
async fn late_repeated_and_out_of_turn_actions_are_refused_with_the_rule() {
    let house = House::new().await;
    let (_, mut plays) = playing(&house).await;
    let turn = asked_player(&plays);
    let prompt = plays[turn].prompt().unwrap().clone();
    let (game, number) = (prompt.game, prompt.number);
    let action = plays[turn].advice().unwrap();
    let action = serde_json::to_string(&action).unwrap();
    let act = |id: u32, game: GameId, number: u32, action: &str| {
        format!(r#"{{"type":"act","id":{id},"game":"{game}","prompt":{number},"action":{action}}}"#)
    };
    let other = (turn + 1) % 3;
    let version = plays[turn].version();
    // Out of turn, and with another player's cards.
    let forged = refusal(&mut plays[other], &act(1, game, number, &action)).await;
    assert_eq!(forged.1, "not_asked");
    let early = refusal(&mut plays[turn], &act(2, game, number + 1, &action)).await;
    assert_eq!((early.1.as_str(), early.2.as_deref()), ("stale_prompt", Some("8.2")));
    // A first turn has no draw phase (rule 2.4).
    let illegal = refusal(&mut plays[turn], &act(3, game, number, r#"{"type":"draw"}"#)).await;
    assert!(illegal.2.is_some(), "a refusal by the rules cites one: {illegal:?}");
    assert_eq!(plays[turn].version(), version, "a refusal changed something");

    let first = plays[turn].advice().unwrap();
    plays[turn].confirm_action(first).await;
    let repeated = refusal(&mut plays[turn], &act(4, game, number, &action)).await;
    assert_eq!(repeated.1, "stale_prompt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_too_long_or_binary_ends_the_connection() {
    let (_house, client) = House::with_guest().await;
    let mut play = client.play().await.unwrap();
    play.send_text(" ".repeat(MESSAGE_BYTES_MAX + 1)).await.unwrap();
    assert_eq!(play.close_code().await, close::TOO_LONG);
    let mut play = client.play().await.unwrap();
    play.send_bytes(vec![1, 2, 3]).await.unwrap();
    assert_eq!(play.close_code().await, close::PROTOCOL);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_refused_and_then_ended() {
    let house = House::new().await;
    let mut play = house.guest("Althea").await.play().await.unwrap();
    for id in 0..200 {
        if play.send_text(format!(r#"{{"type":"ping","id":{id}}}"#)).await.is_err() {
            break;
        }
    }
    let mut too_fast = 0;
    loop {
        match timeout(PATIENCE, play.next()).await.unwrap() {
            Ok(Message::Refusal { code, retryable, .. }) => {
                assert_eq!(code, "too_fast");
                assert!(retryable);
                too_fast += 1;
            }
            Ok(_) => {}
            Err(PlayError::Closed { code, .. }) => {
                assert_eq!(code, close::TOO_FAST);
                break;
            }
            // The rest of the flood may meet a closed socket.
            Err(PlayError::Socket(_)) => break,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(too_fast > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_connection_wins() {
    let (_house, _, [client, ..]) = House::with_table().await;
    let mut old = join_table(&client).await;
    let mut new = join_table(&client).await;
    assert_eq!(old.close_code().await, close::REPLACED);
    new.ping().await;
    let seat = new.view().and_then(|view| view.seats[view.seat?.index()].clone()).unwrap();
    assert!(seat.connected, "the end of the old connection said nothing about the new one");
}

/// Signing out ends the session's open sockets.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_ended_plays_no_more() {
    let (_house, client) = House::with_guest().await;
    let mut play = client.play().await.unwrap();
    client.sign_out().await.unwrap();
    // Silent until then.
    assert_eq!(play.close_code().await, close::SIGNED_OUT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_sends_its_clients_elsewhere() {
    let mut house = House::new().await;
    let (_, [client, ..]) = house.table().await;
    let mut play = join_table(&client).await;
    house.stop().await;
    assert_eq!(play.close_code().await, close::GOING_AWAY);
}

/// A player loses the connection during a game and returns: the AI has played meanwhile, and the
/// missed events come without a gap.
#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_comes_back_resumes_by_version() {
    let house = House::with_clocks(ai_clocks(20)).await;
    let (clients, mut plays) = playing(&house).await;
    let gone = plays.remove(asked_player(&plays));
    let known = gone.version().unwrap();
    let seat = gone.view().unwrap().seat.unwrap();
    let client = &clients[seat.index()];
    let knew = gone.drop_connection();
    // Another player sees the takeover and the AI's first move.
    let mut taken_over = false;
    let mut moved = false;
    while !(taken_over && moved) {
        let message = plays[0].next_message().await;
        if let Message::Update { events, .. } = message {
            for event in events {
                moved |= taken_over && matches!(event, Event::Game { .. });
                let Event::Takeover { seat: taken, on: true } = event else { continue };
                taken_over |= taken == seat;
            }
        }
    }
    let mut back = client.play().await.unwrap();
    back.resume(knew);
    let joining = back.join().await.unwrap();
    let missed = back.wait_for_answer(joining).await.unwrap();
    assert!(back.version().unwrap() > known + 1);
    assert!(
        missed.iter().any(|event| matches!(event, Event::Takeover { on: false, .. })),
        "{missed:?}"
    );
    // The folded view equals the table's snapshot for a fresh connection.
    let followed = back.view().cloned().unwrap();
    let version = back.version();
    let mut fresh = client.play().await.unwrap();
    let joining = fresh.join().await.unwrap();
    let shown = loop {
        if let Message::Snapshot { version: shown, view, .. } = fresh.next().await.unwrap() {
            break (Some(shown), *view);
        }
    };
    fresh.wait_for_answer(joining).await.unwrap();
    if shown.0 == version {
        assert_eq!(shown.1, followed);
    }
}
