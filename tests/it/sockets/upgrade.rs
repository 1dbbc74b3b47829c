//! Tests of upgrade requests that authenticate and join by themselves, as browsers can. The
//! answers, refusals and limits are those of the equivalent messages.

use bahay::rate_limit::Rate;
use bahay::ws::protocol::close;
use bahay_client_tokio::{Client, Play, PlayError};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message as Frame;
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, join_table};
use crate::support::play::TestPlay as _;
use crate::support::raw::{Socket, open_socket, refused_upgrade};

/// A socket as a browser opens it, with subprotocols as its only custom header.
struct Browser {
    socket: Socket,
    agreed: String,
}

impl Browser {
    async fn open(base: &str, query: &str, protocols: &str) -> Result<Self, PlayError> {
        Self::open_with(base, query, &[("sec-websocket-protocol", protocols)]).await
    }

    /// Opens a socket with a token in the header of the request.
    async fn open_with_bearer(client: &Client, query: &str, protocols: &str) -> Self {
        let bearer = format!("Bearer {}", client.access_token());
        let headers = [("sec-websocket-protocol", protocols), ("authorization", &*bearer)];
        Self::open_with(client.base(), query, &headers).await.unwrap()
    }

    async fn open_with(
        base: &str,
        query: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, PlayError> {
        let (socket, response) = open_socket(base, query, headers).await?;
        let agreed = &response.headers()["sec-websocket-protocol"];
        Ok(Self { socket, agreed: agreed.to_str().unwrap().to_owned() })
    }

    /// Opens a socket whose request authenticates by a token, with this query.
    async fn open_authenticated(client: &Client, query: &str) -> Self {
        let protocols = format!("bahay.v1, bahay.token.{}", client.access_token());
        Self::open(client.base(), query, &protocols).await.unwrap()
    }

    /// Opens a socket whose request authenticates and joins with this query, and returns it with
    /// all messages up to the answer to the join.
    async fn join(client: &Client, query: &str) -> (Self, Vec<Value>) {
        let mut browser = Self::open_authenticated(client, query).await;
        let heard = browser.read_until_answer(1).await;
        (browser, heard)
    }

    /// Returns the next message, or the close code.
    async fn next_message(&mut self) -> Result<Value, u16> {
        loop {
            let frame = timeout(PATIENCE, self.socket.next()).await.expect("a frame arrives");
            match frame {
                Some(Ok(Frame::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Frame::Close(Some(end)))) => return Err(end.code.into()),
                Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
                other => panic!("the frame is not a message: {other:?}"),
            }
        }
    }

    async fn send(&mut self, command: Value) {
        self.socket.send(Frame::text(command.to_string())).await.unwrap();
    }

    /// Returns all messages up to the answer to this command.
    async fn read_until_answer(&mut self, id: u32) -> Vec<Value> {
        let mut heard = vec![];
        loop {
            let message = self.next_message().await.unwrap();
            let is_answer = match kind(&message) {
                "ack" | "refusal" => message["id"] == id,
                "update" => message["ack"] == id,
                _ => false,
            };
            heard.push(message);
            if is_answer {
                return heard;
            }
        }
    }

    /// Returns all messages until the connection closes, and the close code.
    async fn read_until_closed(&mut self) -> (Vec<Value>, u16) {
        let mut heard = vec![];
        loop {
            match self.next_message().await {
                Ok(message) => heard.push(message),
                Err(code) => return (heard, code),
            }
        }
    }

    /// Sends a command, and returns all messages up to its answer.
    async fn execute(&mut self, command: Value) -> Vec<Value> {
        let id = u32::try_from(command["id"].as_u64().unwrap()).unwrap();
        self.send(command).await;
        self.read_until_answer(id).await
    }

    async fn ping(&mut self) {
        self.execute(json!({ "type": "ping", "id": 1_000_000 })).await;
    }
}

fn kind(message: &Value) -> &str {
    message["type"].as_str().unwrap()
}

fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(kind).collect()
}

/// Returns the command and the code of each refusal.
fn refusals(messages: &[Value]) -> Vec<(u64, &str)> {
    let refused = messages.iter().filter(|message| kind(message) == "refusal");
    refused
        .map(|message| (message["id"].as_u64().unwrap(), message["code"].as_str().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_request_authenticates_and_joins() {
    let (_house, table, [client, ..]) = House::with_table().await;
    let mut browser = Browser::open_authenticated(&client, "?type=join").await;
    assert_eq!(browser.agreed, "bahay.v1", "the server does not echo the token");
    let heard = browser.read_until_answer(1).await;
    assert_eq!(kinds(&heard), ["hello", "ack", "snapshot", "ack"]);
    assert_eq!(heard[1]["id"], 0);
    assert_eq!(heard[2]["view"]["table"], json!(table));
    browser.send(json!({ "type": "authenticate", "id": 2, "token": "again" })).await;
    assert_eq!(refusals(&browser.read_until_answer(2).await), [(2, "already_authenticated")]);
    // The shortest form is negotiated as it is without a token.
    let protocols = format!("bahay.token.{}, bahay.v1, bahay.v1.brief", client.access_token());
    let brief = Browser::open(client.base(), "", &protocols).await.unwrap();
    assert_eq!(brief.agreed, "bahay.v1.brief");
}

#[tokio::test(flavor = "multi_thread")]
async fn authentication_and_join_are_independent() {
    let (_house, _, [client, ..]) = House::with_table().await;
    let token = client.access_token();
    let mut authenticated = Browser::open_authenticated(&client, "").await;
    assert_eq!(kinds(&authenticated.read_until_answer(0).await), ["hello", "ack"]);
    let heard = authenticated.execute(json!({ "type": "join", "id": 1 })).await;
    assert_eq!((kind(&heard[0]), refusals(&heard)), ("snapshot", vec![]));
    // A join in the request is executed after the first message authenticates the socket.
    let mut joining = Browser::open(client.base(), "?type=join", "bahay.v1").await.unwrap();
    joining.send(json!({ "type": "authenticate", "id": 7, "token": token })).await;
    assert_eq!(kinds(&joining.read_until_answer(1).await), ["hello", "ack", "snapshot", "ack"]);
    // A socket whose first message is another command is closed, even if its request asked for a
    // join.
    let mut nobody = Browser::open(client.base(), "?type=join", "bahay.v1").await.unwrap();
    nobody.send(json!({ "type": "ping", "id": 3 })).await;
    let (heard, code) = nobody.read_until_closed().await;
    assert_eq!(refusals(&heard), [(3, "not_authenticated")]);
    assert_eq!(code, close::NOT_AUTHENTICATED);
    let mut in_header = Browser::open_with_bearer(&client, "?type=join", "bahay.v1").await;
    assert_eq!(kinds(&in_header.read_until_answer(1).await), ["hello", "snapshot", "ack"]);
    let twice = format!("bahay.v1, bahay.token.{token}");
    let mut twice = Browser::open_with_bearer(&client, "", &twice).await;
    assert_eq!(refusals(&twice.read_until_answer(0).await), [(0, "already_authenticated")]);
    twice.ping().await;
}

/// A join resumes from the given point on any node, and receives a snapshot if that point is not in
/// the table's history.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_resumed_by_version_and_tag() {
    let (house, table, [client, other, _]) = House::with_table().await;
    let (second, running) = house.node().await;
    let (before, heard) = Browser::join(&client, "?type=join").await;
    let snapshot = &heard[2];
    let (version, tag) = (snapshot["version"].as_u64().unwrap(), snapshot["tag"].as_str().unwrap());
    drop(before);
    // A player joins, which gives an update to resume.
    let mut play = join_table(&other).await;
    let from = format!("?type=join&from={version}&tag={tag}&table={table}");
    let (mut resumed, heard) = Browser::join(&client.with_base(&second), &from).await;
    let updates: Vec<&Value> = heard.iter().filter(|message| kind(message) == "update").collect();
    assert!(!updates.is_empty(), "{heard:?}");
    assert!(!kinds(&heard).contains(&"snapshot"), "{heard:?}");
    for (place, update) in (1..).zip(&updates) {
        assert_eq!(update["version"], version + place);
    }
    // Commands work as on any other connection.
    resumed.ping().await;
    let elsewhere = Uuid::new_v4();
    for stale in [
        format!("?type=join&from={version}&tag=000000000000&table={table}"),
        format!("?type=join&from={version}&tag={tag}&table={elsewhere}"),
        format!("?type=join&from={version}&table={table}"),
        format!("?type=join&from={version}&tag={tag}"),
    ] {
        let (_whole, heard) = Browser::join(&client, &stale).await;
        assert_eq!(kinds(&heard), ["hello", "ack", "snapshot", "ack"], "{stale}");
        assert_eq!(heard[2]["view"]["table"], json!(table));
    }
    play.confirm_leave().await;
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_without_a_seat_is_refused_and_stays_connected() {
    let (house, table, _) = House::with_table().await;
    let nobody = house.guest("Dante").await;
    let foreign = format!("?type=join&from=1&tag=000000000000&table={table}");
    for query in ["?type=join", &foreign] {
        let (mut browser, heard) = Browser::join(&nobody, query).await;
        assert_eq!(kinds(&heard), ["hello", "ack", "refusal"], "{query}");
        assert_eq!(refusals(&heard), [(1, "not_seated")]);
        browser.ping().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_credential_is_refused_as_in_a_message() {
    let (house, client) = House::with_guest().await;
    let ticket = client.ticket().await.unwrap();
    let by_ticket = format!("bahay.v1, bahay.ticket.{ticket}");
    let mut entered = Browser::open(client.base(), "?type=join", &by_ticket).await.unwrap();
    assert_eq!(refusals(&entered.read_until_answer(1).await), [(1, "not_seated")]);
    let signed_out = house.guest("Benjie").await;
    signed_out.sign_out().await.unwrap();
    let good = client.access_token();
    for (protocols, code) in [
        (by_ticket, "ticket_unknown"),
        (format!("bahay.v1, bahay.ticket.{good}"), "ticket_unknown"),
        ("bahay.v1, bahay.token.nonsense".to_owned(), "token_malformed"),
        (format!("bahay.v1, bahay.token.{}", client.refresh_token()), "token_malformed"),
        (format!("bahay.v1, bahay.token.{}", signed_out.access_token()), "token_revoked"),
        (format!("bahay.v1, bahay.token.{good}, bahay.token.{good}"), "malformed"),
        (format!("bahay.v1, bahay.token.{good}, bahay.ticket.{ticket}"), "malformed"),
    ] {
        let mut browser = Browser::open(client.base(), "?type=join", &protocols).await.unwrap();
        let (heard, end) = browser.read_until_closed().await;
        assert_eq!(refusals(&heard), [(0, code)], "{protocols}");
        assert_eq!((heard.len(), end), (1, close::NOT_AUTHENTICATED), "another message arrived");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_join_query_is_refused() {
    let (_house, _, [client, ..]) = House::with_table().await;
    for query in ["?type=leave", "?from=1", "?type=join&id=4", "?type=join&from=x"] {
        let (mut browser, heard) = Browser::join(&client, query).await;
        assert_eq!(refusals(&heard), [(1, "malformed")], "{query}");
        browser.ping().await;
    }
    // The server reads no token from the query.
    let query = format!("?access_token={}", client.access_token());
    let mut browser = Browser::open(client.base(), &query, "bahay.v1").await.unwrap();
    browser.send(json!({ "type": "join", "id": 5 })).await;
    let (heard, code) = browser.read_until_closed().await;
    assert_eq!(refusals(&heard), [(5, "not_authenticated")]);
    assert_eq!(code, close::NOT_AUTHENTICATED);
}

/// Both connections are shown the table. The connection that sends a command is the connected one,
/// and the other may close.
#[tokio::test(flavor = "multi_thread")]
async fn the_connection_that_sends_a_command_is_the_connected_one() {
    let (house, table, [client, other, _]) = House::with_table().await;
    let (second, running) = house.node().await;
    let mut watching = join_table(&other).await;
    let connected = |play: &Play| {
        let view = play.view().unwrap();
        let seats = view.seats.iter().flatten();
        seats.filter(|seat| seat.player == client.player()).any(|seat| seat.connected)
    };
    let elsewhere = client.with_base(&second);
    let (mut one, mut two) = tokio::join!(
        Browser::open_authenticated(&client, "?type=join"),
        Browser::open_authenticated(&elsewhere, "?type=join"),
    );
    for browser in [&mut one, &mut two] {
        let heard = browser.read_until_answer(1).await;
        assert_eq!(heard[2]["view"]["table"], json!(table));
    }
    watching.ping().await;
    assert!(!connected(&watching), "an upgrade request does not change the table");
    two.ping().await;
    watching.read_until("the player is connected after its first command", connected).await;
    drop(one);
    // Of the connections that send a command, the last one stays connected.
    let (mut third, _) = Browser::join(&client, "?type=join").await;
    third.ping().await;
    let (_, code) = two.read_until_closed().await;
    assert_eq!(code, close::REPLACED);
    third.ping().await;
    running.stop().await.unwrap();
}

/// The first command is executed, and a client whose seat has been given up meanwhile receives a
/// refusal.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_command_is_executed() {
    let (_house, _, [client, ..]) = House::with_table().await;
    let (mut browser, _) = Browser::join(&client, "?type=join").await;
    let heard = browser.execute(json!({ "type": "leave", "id": 2 })).await;
    assert_eq!(refusals(&heard), []);
    browser.send(json!({ "type": "join", "id": 3 })).await;
    assert_eq!(refusals(&browser.read_until_answer(3).await), [(3, "not_seated")]);
    client.seat("newbie").await.unwrap();
    let (mut unseated, _) = Browser::join(&client, "?type=join").await;
    client.leave().await.unwrap();
    let heard = unseated.execute(json!({ "type": "take_back", "id": 2 })).await;
    assert_eq!(refusals(&heard).len(), 1, "{heard:?}");
    unseated.ping().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn upgrade_requests_have_the_limits_of_messages() {
    let rate = Rate { per_second: 1, burst: 3 };
    let house = House::with_rate_limits(|limits| limits.socket_handshakes_per_account = rate).await;
    let hasty = house.guest("Althea").await;
    let mut closed = vec![];
    for _ in 0..20 {
        let mut browser = Browser::open_authenticated(&hasty, "?type=join").await;
        let heard = browser.next_message().await.unwrap();
        if kind(&heard) == "refusal" {
            assert_eq!(refusals(&[heard]), [(0, "too_fast")]);
            closed.push(browser.next_message().await);
        }
    }
    assert!(!closed.is_empty(), "twenty handshakes at once were accepted");
    assert!(closed.iter().all(|end| *end == Err(close::TOO_FAST)), "{closed:?}");

    let rate = Rate { per_second: 1, burst: 10 };
    let house = House::with_rate_limits(|limits| limits.requests_per_account = rate).await;
    let hasty = house.guest("Althea").await;
    let mut refused = 0;
    for _ in 0..30 {
        let mut browser = Browser::open_authenticated(&hasty, "?type=join").await;
        match refusals(&browser.read_until_answer(1).await)[..] {
            [(1, "too_fast")] => refused += 1,
            [(1, "not_seated")] => {}
            ref other => panic!("{other:?}"),
        }
    }
    assert!(refused > 0, "thirty joins at once were accepted");

    let house = House::with_rate_limits(|limits| limits.sockets_per_address = 1).await;
    let client = house.guest("Althea").await;
    let _first = Browser::open_authenticated(&client, "?type=join").await;
    let protocols = format!("bahay.v1, bahay.token.{}", client.access_token());
    let second = Browser::open(client.base(), "?type=join", &protocols).await;
    assert_eq!(refused_upgrade(second).0, 429);
}
