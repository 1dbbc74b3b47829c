//! The client through the exported types, as a driver in another language uses it.

use std::collections::HashMap;
use std::sync::Arc;

use bahay_client_ffi::{
    CallAnswer, ClientEffect, ClientError, ClientInput, ClientNotification, ClientOptions,
    ClientTime, CommandOutcome, LinkState, PlayerClient, PlayerWish, SeedChoice, StoredKey,
    StoredValue,
};

const PLAYER: &str = "019ca944-3c00-7000-8000-00000091a7e0";

fn options() -> ClientOptions {
    ClientOptions {
        base: "http://house".into(),
        random_seed: vec![5; 32],
        name: Some("Maria".into()),
        stored: Vec::new(),
        forms: Vec::new(),
        stores_table: false,
        follows_wallet: false,
    }
}

fn time(now_ms: i64) -> ClientTime {
    ClientTime { now_ms, wall_ms: now_ms }
}

fn client() -> Arc<PlayerClient> {
    PlayerClient::new(options(), time(0)).expect("the options are valid")
}

fn handle(client: &PlayerClient, now_ms: i64, input: ClientInput) -> Vec<ClientEffect> {
    client.handle_input(time(now_ms), input).expect("the input is valid").effects
}

/// Returns the number and the URL of the only request.
fn find_request(effects: &[ClientEffect]) -> (u64, String) {
    let mut requests = effects.iter().filter_map(|effect| match effect {
        ClientEffect::Request { request, url, .. } => Some((*request, url.clone())),
        _ => None,
    });
    let request = requests.next().expect("a request is sent");
    assert!(requests.next().is_none(), "another request is sent");
    request
}

fn has_stored(effects: &[ClientEffect], name: StoredKey) -> bool {
    let is_it = |effect: &ClientEffect| match effect {
        ClientEffect::Store { key, value } => *key == name && value.is_some(),
        _ => false,
    };
    effects.iter().any(is_it)
}

/// Returns the server's answer to a sign-in.
fn answer(request: u64) -> ClientInput {
    let body = format!(
        r#"{{"player":{{"id":"{PLAYER}","name":"Maria"}},"access_token":"a","access_expires_at":
        "1970-01-01T00:15:00Z","refresh_token":"r","session":"s"}}"#
    );
    let content_type = Some("application/json".into());
    ClientInput::Answered { request, status: 200, content_type, body, retry_after_ms: None }
}

#[test]
fn a_first_start_signs_in_and_opens_a_socket() {
    let client = client();
    assert_eq!(client.screen(0).link, "off");
    let effects = handle(&client, 0, ClientInput::Start);
    let (request, url) = find_request(&effects);
    assert_eq!(url, "http://house/v1/sign-in/guest");
    assert!(has_stored(&effects, StoredKey::Device), "the device's secret is stored first");
    let opened = effects.iter().find_map(|effect| match effect {
        ClientEffect::Open { url, .. } => Some(url.as_str()),
        _ => None,
    });
    assert_eq!(opened, Some("ws://house/v1/play"));

    let effects = handle(&client, 40, answer(request));
    assert!(has_stored(&effects, StoredKey::Session), "the session is stored");
    let connecting = ClientNotification::Link { link: LinkState::Connecting { attempt: 1 } };
    assert!(effects.contains(&ClientEffect::Notify { notification: connecting }));
    assert_eq!(client.player_id().as_deref(), Some(PLAYER));
    assert_eq!(client.screen(40).player.as_deref(), Some("Maria"));
}

#[test]
fn a_random_seed_has_32_bytes() {
    let options = ClientOptions { random_seed: vec![5; 31], ..options() };
    let error = PlayerClient::new(options, time(0)).expect_err("the seed is too short");
    assert_eq!(error, ClientError::RandomSeedLength { length: 31 });
}

#[test]
fn an_unreadable_wish_is_an_error_and_changes_nothing() {
    let client = client();
    handle(&client, 0, ClientInput::Start);
    let before = client.screen(10);
    let wishes = [
        (PlayerWish::Act { action: r#"{"type":"pass"}"#.into() }, ClientError::NotAnAction),
        (PlayerWish::Say { phrase: "a_song".into() }, ClientError::UnknownPhrase),
        (PlayerWish::Watch { table: "the first".into() }, ClientError::NotAnId),
    ];
    for (wish, error) in wishes {
        let input = ClientInput::Command { command: 1, wish };
        assert_eq!(client.handle_input(time(10), input), Err(error));
    }
    assert_eq!(client.find_refusal("{".into()), Err(ClientError::NotAnAction));
    assert_eq!(client.screen(10), before);
}

#[test]
fn a_command_without_a_table_is_dropped() {
    let client = client();
    handle(&client, 0, ClientInput::Start);
    let wish = PlayerWish::Ready { seed: SeedChoice::Drawn };
    let effects = handle(&client, 10, ClientInput::Command { command: 9, wish });
    let ended = ClientNotification::Ended { command: 9, outcome: CommandOutcome::Dropped };
    assert!(effects.contains(&ClientEffect::Notify { notification: ended }), "{effects:?}");
}

#[test]
fn a_call_without_an_answer_is_unreachable() {
    let client = client();
    let call = ClientInput::Call {
        call: 7,
        method: "POST".into(),
        path: "/v1/sort".into(),
        headers: HashMap::new(),
        body: None,
        is_open: true,
    };
    let (request, url) = find_request(&handle(&client, 0, call));
    assert_eq!(url, "http://house/v1/sort");
    let effects = handle(&client, 10, ClientInput::Unanswered { request });
    let answer = effects.iter().find_map(|effect| match effect {
        ClientEffect::Called { call: 7, answer } => Some(answer),
        _ => None,
    });
    let is_unreachable = |answer: &CallAnswer| match answer {
        CallAnswer::Refused { status: 0, code, .. } => code == "unreachable",
        CallAnswer::Refused { .. } | CallAnswer::Ok { .. } => false,
    };
    assert!(answer.is_some_and(is_unreachable), "{answer:?}");
}

#[test]
fn stored_values_continue_the_session() {
    let first = client();
    let started = handle(&first, 0, ClientInput::Start);
    let (request, _) = find_request(&started);
    let signed_in = handle(&first, 40, answer(request));
    let stored: Vec<StoredValue> =
        started.into_iter().chain(signed_in).filter_map(as_stored).collect();
    let second =
        PlayerClient::new(ClientOptions { stored, ..options() }, time(1_000)).expect("valid");
    let effects = handle(&second, 1_000, ClientInput::Start);
    let is_request = |effect: &ClientEffect| matches!(effect, ClientEffect::Request { .. });
    assert!(!effects.iter().any(is_request), "the tokens are used again: {effects:?}");
    assert_eq!(second.player_id().as_deref(), Some(PLAYER));
}

fn as_stored(effect: ClientEffect) -> Option<StoredValue> {
    match effect {
        ClientEffect::Store { key, value: Some(value) } => Some(StoredValue { key, value }),
        _ => None,
    }
}

#[test]
fn debug_output_holds_no_secret() {
    let client = client();
    let (request, _) = find_request(&handle(&client, 0, ClientInput::Start));
    let input = answer(request);
    assert_eq!(format!("{input:?}"), "Answered");
    let effects = handle(&client, 40, input);
    assert!(!format!("{effects:?}").contains("refresh"), "{effects:?}");
    assert!(!format!("{:?}", options()).contains("random_seed"));
}
