//! Tests of admission: authentication of sockets, origins, handshakes, and limits on sockets,
//! connections and requests.

use bahay::rate_limit::Rate;
use bahay::ws::protocol::{Command, Credential, Message, close};
use bahay_client_tokio::{Client, Play, PlayError, SocketAuth};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::house::{House, PATIENCE, Setup};
use crate::support::play::TestPlay as _;
use crate::support::raw::{HANDSHAKE, open_socket, refused_upgrade, request_upgrade};
use crate::support::rest::http_client;
use crate::support::waiting::wait_until;

/// Reads until the connection closes, and returns the codes of all refusals and the close code.
async fn read_until_closed(play: &mut Play) -> (Vec<String>, u16) {
    let mut refusals = vec![];
    loop {
        match timeout(PATIENCE, play.next()).await.unwrap() {
            Ok(Message::Refusal { code, .. }) => refusals.push(code.into_owned()),
            Ok(other) => panic!("an unauthenticated client received {other:?}"),
            Err(PlayError::Closed { code, .. }) => return (refusals, code),
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_message_authenticates_by_token_or_ticket() {
    let (house, table, [client, ..]) = House::with_table().await;
    let (second, running) = house.node().await;
    let ticket = client.ticket().await.unwrap();
    for (client, auth) in [
        (client.clone(), SocketAuth::Token(client.access_token().to_owned())),
        // A ticket issued by one node is accepted by every other node.
        (client.with_base(&second), SocketAuth::Ticket(ticket)),
    ] {
        let mut play = client.play_with(auth).await.unwrap();
        play.confirm_join().await;
        assert_eq!(play.table(), Some(table));
        let again = play.execute(|id| Command::Authenticate { id, token: None, ticket: None });
        let refused = again.await.unwrap_err();
        assert!(refused.to_string().contains("already_authenticated"), "{refused}");
    }
    running.stop().await.unwrap();
}

/// The greeting precedes every other message and is sent to authenticated clients only.
#[tokio::test(flavor = "multi_thread")]
async fn an_unauthenticated_client_receives_only_a_refusal() {
    let (house, client) = House::with_guest().await;
    let used = client.ticket().await.unwrap();
    client.play_with(SocketAuth::Ticket(used.clone())).await.unwrap();
    let signed_out = house.guest("Benjie").await;
    let revoked = signed_out.ticket().await.unwrap();
    signed_out.sign_out().await.unwrap();
    let authenticate = |token: Option<&str>, ticket: Option<&str>| {
        let credential = |text: &str| Credential::new(text.to_owned());
        let (token, ticket) = (token.map(credential), ticket.map(credential));
        serde_json::to_string(&Command::<()>::Authenticate { id: 1, token, ticket }).unwrap()
    };
    let good = client.access_token();
    for (text, code) in [
        (r#"{"type":"ping","id":1}"#.to_owned(), "not_authenticated"),
        (r#"{"type":"join","id":1}"#.to_owned(), "not_authenticated"),
        ("hello".to_owned(), "malformed"),
        (authenticate(None, None), "malformed"),
        (authenticate(Some(good), Some(&used)), "malformed"),
        (authenticate(Some("nonsense"), None), "token_malformed"),
        (authenticate(Some(client.refresh_token()), None), "token_malformed"),
        (authenticate(Some(signed_out.access_token()), None), "token_revoked"),
        (authenticate(None, Some(good)), "ticket_unknown"),
        (authenticate(None, Some(&used)), "ticket_unknown"),
        (authenticate(None, Some(&format!("pt_{}", "0".repeat(64)))), "ticket_unknown"),
        (authenticate(None, Some(&revoked)), "token_revoked"),
    ] {
        let mut play = client.play_with(SocketAuth::Deferred).await.unwrap();
        play.send_text(text).await.unwrap();
        let expected = (vec![code.to_owned()], close::NOT_AUTHENTICATED);
        assert_eq!(read_until_closed(&mut play).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unauthenticated_sockets_are_limited_and_closed_if_silent() {
    let house =
        House::with_rate_limits(|limits| limits.unauthenticated_sockets_per_address = 2).await;
    let client = house.guest("Althea").await;
    let mut silent = client.play_with(SocketAuth::Deferred).await.unwrap();
    let mut other = client.play_with(SocketAuth::Deferred).await.unwrap();
    let third = client.play_with(SocketAuth::Deferred).await;
    assert_eq!(refused_upgrade(third), (429, "too_many_requests".to_owned()));
    // An authenticated client no longer counts against the limit of unauthenticated sockets.
    let token = Some(Credential::new(client.access_token().to_owned()));
    other.execute(|id| Command::Authenticate { id, token, ticket: None }).await.unwrap();
    client.play_with(SocketAuth::Token(client.access_token().to_owned())).await.unwrap();
    assert_eq!(read_until_closed(&mut silent).await, (vec![], close::NOT_AUTHENTICATED));
    other.ping().await;
}

/// Redis stores only the hash of a ticket, which cannot open a socket, and the key expires by
/// itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_stored_as_a_hash_that_expires() {
    let house = House::new().await;
    let ticket = house.guest("Althea").await.ticket().await.unwrap();
    let keys = house.live.keys_with("ticket").await;
    let mut redis = house.live.raw().await;
    assert_eq!(keys.len(), 1);
    let secret = ticket.strip_prefix("pt_").unwrap();
    assert_eq!(secret.len(), 64, "256 bits");
    let holder: String = redis::cmd("GET").arg(&keys[0]).query_async(&mut redis).await.unwrap();
    assert!(!keys[0].contains(secret) && !holder.contains(secret));
    let life_ms: i64 = redis::cmd("PTTL").arg(&keys[0]).query_async(&mut redis).await.unwrap();
    assert!((1..=30_000).contains(&life_ms), "{life_ms}");
}

async fn open_from_origin(client: &Client, origin: &str) -> Result<(), (u16, String)> {
    let bearer = format!("Bearer {}", client.access_token());
    let headers = [("authorization", &*bearer), ("origin", origin)];
    match open_socket(client.base(), "", &headers).await {
        Ok(_) => Ok(()),
        refused => Err(refused_upgrade(refused)),
    }
}

/// A plain GET request, such as a browser's, receives a problem document, as on every other route.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_an_upgrade_is_refused_with_a_problem() {
    let house = House::new().await;
    let answer = http_client().get(format!("{}/v1/play", house.base)).send().await.unwrap();
    assert_eq!(answer.status(), 426);
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    // The headers name the protocol to upgrade to (RFC 9110, 15.5.22; RFC 6455, 4.4).
    assert_eq!(answer.headers()["upgrade"], "websocket");
    assert_eq!(answer.headers()["connection"], "upgrade");
    assert_eq!(answer.headers()["sec-websocket-version"], "13");
    let problem: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(problem["code"], "upgrade_required");
}

/// Requests an upgrade with these headers, and returns the status and the head of the response in
/// lower case.
async fn try_upgrade(base: &str, host: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).await.unwrap();
    let head = request_upgrade(&mut stream, host, headers).await;
    (head[9..12].parse().unwrap(), head.to_ascii_lowercase())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_handshake_is_refused() {
    let house = House::new().await;
    let sound = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let version = "sec-websocket-version: 13\r\n";
    let host = house.base.trim_start_matches("http://");
    let ask = async |headers: &str| try_upgrade(&house.base, host, headers).await;
    assert_eq!(ask(&format!("{version}{sound}")).await.0, 101);
    for key in
        ["x", "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZTEy", "not base64 at all!!!!!=="]
    {
        let (status, _) = ask(&format!("{version}sec-websocket-key: {key}\r\n")).await;
        assert_eq!(status, 400, "{key}");
    }
    assert_eq!(ask(version).await.0, 400, "no key");
    assert_eq!(ask(&format!("{version}{sound}{sound}")).await.0, 400, "two keys");
    // The refusal of another version names the supported version.
    let (status, head) = ask(&format!("sec-websocket-version: 12\r\n{sound}")).await;
    assert_eq!(status, 426);
    assert!(head.contains("sec-websocket-version: 13"), "{head}");
}

/// A proxy may name the default port, and one host name has several equivalent spellings.
#[tokio::test(flavor = "multi_thread")]
async fn equivalent_spellings_of_the_own_host_are_accepted() {
    let house = House::new().await;
    let ask = async |origin: &str, host: &str| {
        let headers = format!("{HANDSHAKE}origin: {origin}\r\n");
        try_upgrade(&house.base, host, &headers).await.0
    };
    for (origin, host) in [
        ("https://play.example", "play.example:443"),
        ("http://play.example", "Play.Example:80"),
        ("https://play.example", "play.example."),
        ("https://xn--pea-8ma.example", "pe\u{f1}a.example"),
    ] {
        assert_eq!(ask(origin, host).await, 101, "{origin} at {host}");
    }
    for (origin, host) in [
        ("https://play.example:8443", "play.example"),
        ("https://evil.example", "play.example"),
        ("null", "play.example"),
    ] {
        assert_eq!(ask(origin, host).await, 403, "{origin} at {host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_origin_opens_nothing() {
    let origins = "https://play.example".parse().unwrap();
    let open = House::with_rate_limits(|limits| limits.origins = origins).await;
    let closed = House::new().await;
    let refused = Err((403, "origin_refused".to_owned()));
    let at_open = open.guest("Althea").await;
    let at_closed = closed.guest("Althea").await;
    assert_eq!(open_from_origin(&at_open, "https://play.example").await, Ok(()));
    assert_eq!(open_from_origin(&at_open, "https://evil.example").await, refused);
    assert_eq!(open_from_origin(&at_open, "null").await, refused);
    assert_eq!(open_from_origin(&at_closed, "https://play.example").await, refused);
    // Pages of the server's own origin are accepted without configuration.
    assert_eq!(open_from_origin(&at_closed, at_closed.base()).await, Ok(()));
    // Apps send no Origin header.
    at_closed.play().await.unwrap().ping().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_per_address_are_limited() {
    let house = House::with_rate_limits(|limits| limits.sockets_per_address = 2).await;
    let client = house.guest("Althea").await;
    let first = client.play().await.unwrap();
    let mut second = client.play().await.unwrap();
    let third = client.play().await;
    assert_eq!(refused_upgrade(third), (429, "too_many_requests".to_owned()));
    drop(first);
    wait_until("a closed socket no longer counts", async || client.play().await.is_ok()).await;
    second.ping().await;
}

/// Idle connections of one address do not prevent connections of other clients.
#[tokio::test(flavor = "multi_thread")]
async fn connections_per_address_are_limited() {
    let house = House::with_rate_limits(|limits| limits.connections_per_address = 4).await;
    let address = house.base.trim_start_matches("http://");
    let mut silent = vec![];
    for _ in 0..12 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
        silent.push(stream);
    }
    wait_until("connections above the limit are closed", async || {
        let mut open = vec![];
        for mut stream in silent.drain(..) {
            let read = timeout(std::time::Duration::from_millis(5), stream.read_u8()).await;
            if !read.is_ok_and(|read| read.is_err()) {
                open.push(stream);
            }
        }
        silent = open;
        silent.len() <= 4
    })
    .await;
    drop(silent);
    wait_until("a closed connection no longer counts", async || {
        Client::guest(&house.base, "a-device-of-mine", "Althea").await.is_ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn socket_handshakes_per_account_are_limited() {
    let rate = Rate { per_second: 1, burst: 3 };
    let house = House::with_rate_limits(|limits| limits.socket_handshakes_per_account = rate).await;
    let (hasty, other) = (house.guest("Althea").await, house.guest("Benjie").await);
    let mut refused = 0;
    for _ in 0..20 {
        if let Err(PlayError::Upgrade { status, code }) = hasty.play().await {
            assert_eq!((status, code.as_str()), (429, "too_many_requests"));
            refused += 1;
        }
    }
    assert!(refused > 0, "twenty handshakes at once were accepted");
    let mut by_message = hasty.play_with(SocketAuth::Deferred).await.unwrap();
    let token = Some(Credential::new(hasty.access_token().to_owned()));
    by_message.send(|id| Command::Authenticate { id, token, ticket: None }).await.unwrap();
    let (refusals, code) = read_until_closed(&mut by_message).await;
    assert_eq!((refusals, code), (vec!["too_fast".to_owned()], close::TOO_FAST));
    other.play().await.unwrap().ping().await;
}

/// Sends a GET request with the given client address in `x-forwarded-for`, and returns the status
/// and the value of Retry-After in seconds.
async fn request_status(
    client: &Client,
    path: &str,
    token: bool,
    from: &str,
) -> (u16, Option<u32>) {
    let request = http_client().get(format!("{}{path}", client.base()));
    let request = request.header("x-forwarded-for", from);
    let request = if token { request.bearer_auth(client.access_token()) } else { request };
    let response = request.send().await.unwrap();
    let retry_after = response.headers().get("retry-after");
    let retry_after = retry_after.map(|after| after.to_str().unwrap().parse().unwrap());
    (response.status().as_u16(), retry_after)
}

/// Sends a request from each of thirty addresses.
async fn statuses_of_addresses(client: &Client, path: &str, token: bool) -> Vec<u16> {
    let mut statuses = vec![];
    for number in 0..30 {
        let from = format!("203.0.113.{number}");
        statuses.push(request_status(client, path, token, &from).await.0);
    }
    statuses
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_limited_by_address_and_by_account() {
    let few = Rate { per_second: 1, burst: 10 };
    let mut setup = Setup::default();
    setup.rate_limits.proxies = "127.0.0.1".parse().unwrap();
    setup.rate_limits.requests_per_address = few;
    let by_address = House::with_setup(setup.clone()).await;
    let client = by_address.guest("Althea").await;
    let mut refused = None;
    for _ in 0..30 {
        let (status, retry_after) =
            request_status(&client, "/v1/rooms", false, "203.0.113.1").await;
        if status == 429 {
            refused = retry_after;
        }
    }
    assert!(refused.is_some_and(|seconds| (1..=60).contains(&seconds)), "{refused:?}");
    // The limit affects neither other addresses nor the health check.
    assert_eq!(request_status(&client, "/v1/rooms", false, "203.0.113.2").await.0, 200);
    assert_eq!(request_status(&client, "/healthz", false, "203.0.113.1").await.0, 200);

    setup.rate_limits.requests_per_address = Setup::default().rate_limits.requests_per_address;
    setup.rate_limits.requests_per_account = few;
    let by_account = House::with_setup(setup.clone()).await;
    let (hasty, other) = (by_account.guest("Althea").await, by_account.guest("Benjie").await);
    let statuses = statuses_of_addresses(&hasty, "/v1/me", true).await;
    assert!(statuses.contains(&429), "the limit of an account spans addresses: {statuses:?}");
    assert_eq!(request_status(&other, "/v1/me", true, "203.0.113.1").await.0, 200);

    // The forwarded address is ignored if the peer is not configured as a proxy.
    setup.rate_limits.proxies = "10.0.0.0/8".parse().unwrap();
    setup.rate_limits.requests_per_address = few;
    let untrusting = House::with_setup(setup).await;
    let client = untrusting.guest("Althea").await;
    let statuses = statuses_of_addresses(&client, "/v1/rooms", false).await;
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_ins_have_a_lower_limit() {
    let rate = Rate { per_second: 1, burst: 5 };
    let house = House::with_rate_limits(|limits| limits.sign_ins_per_address = rate).await;
    let known = house.guest("Althea").await;
    let mut refused = false;
    for number in 0..20 {
        let device = format!("device-of-a-guesser-{number}");
        let guessed = Client::guest(&house.base, &device, "Dante").await;
        refused |= guessed.is_err_and(|error| error.to_string().contains("too_many_requests"));
    }
    assert!(refused, "twenty sign-ins at once were accepted");
    known.wallet().await.unwrap();
}

/// Signing out on one node closes the session's sockets on another node, even if the client of the
/// socket sends nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_reaches_its_open_sockets_on_every_node() {
    let (house, _, [client, other, _]) = House::with_table().await;
    let (second, running) = house.node().await;
    let mut play = client.with_base(&second).play().await.unwrap();
    let mut other_play = other.with_base(&second).play().await.unwrap();
    client.sign_out().await.unwrap();
    let code = play.close_code().await;
    assert_eq!(code, close::SIGNED_OUT);
    other_play.ping().await;
    running.stop().await.unwrap();
}

/// Returns the number of refused pings of a socket that sends this many at once.
async fn count_refused_pings(house: &House, pings: usize) -> usize {
    let mut play = house.guest("Althea").await.play().await.unwrap();
    let mut sent = vec![];
    for _ in 0..pings {
        sent.push(play.send(|id| Command::Ping { id }).await.unwrap());
    }
    let mut refused = 0;
    for ping in sent {
        match timeout(PATIENCE, play.wait_for_answer(ping)).await.unwrap() {
            Ok(_) => {}
            Err(PlayError::Refused { code, .. }) => {
                assert_eq!(code, "too_fast");
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    refused
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rate_of_commands_of_a_socket_can_be_raised() {
    let house = House::new().await;
    assert!(count_refused_pings(&house, 70).await > 0, "seventy commands at once were accepted");
    let rate = Rate { per_second: 1_000, burst: 200 };
    let house = House::with_rate_limits(|limits| limits.commands_per_socket = rate).await;
    assert_eq!(count_refused_pings(&house, 200).await, 0);
}
