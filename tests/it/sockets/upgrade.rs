//! What a request for a socket may say already: who it is and that the table is to be joined, as
//! browsers can, with the answers, refusals and limits of the messages that it stands for.

use bahay::client::{Client, Play};
use bahay::rate_limit::Rate;
use bahay::ws::protocol::{Command, close};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, Setup, joined};

/// A socket as a browser has it: no header of its own but the subprotocols.
struct Browser {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    agreed: String,
}

impl Browser {
    async fn open(base: &str, query: &str, protocols: &str) -> Result<Self, Error> {
        Self::with_header(base, query, protocols, None).await
    }

    async fn with_header(
        base: &str,
        query: &str,
        protocols: &str,
        token: Option<&str>,
    ) -> Result<Self, Error> {
        let url = format!("{}/v1/play{query}", base.replacen("http", "ws", 1));
        let mut request = url.into_client_request()?;
        request.headers_mut().insert("sec-websocket-protocol", protocols.parse().unwrap());
        if let Some(token) = token {
            let bearer = format!("Bearer {token}").parse().unwrap();
            request.headers_mut().insert("authorization", bearer);
        }
        let (socket, response) = connect_async(request).await?;
        let agreed = &response.headers()["sec-websocket-protocol"];
        Ok(Self { socket, agreed: agreed.to_str().unwrap().to_owned() })
    }

    /// Who joins in the request itself.
    async fn joining(client: &Client, query: &str) -> Self {
        let protocols = format!("bahay.v1, bahay.token.{}", client.access_token());
        Self::open(client.base(), query, &protocols).await.unwrap()
    }

    /// The next message, or the code of the end.
    async fn next(&mut self) -> Result<Value, u16> {
        loop {
            let frame = timeout(PATIENCE, self.socket.next()).await.expect("it does not go on");
            match frame {
                Some(Ok(Frame::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Frame::Close(Some(end)))) => return Err(end.code.into()),
                Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
                other => panic!("not a message: {other:?}"),
            }
        }
    }

    async fn say(&mut self, command: Value) {
        self.socket.send(Frame::text(command.to_string())).await.unwrap();
    }

    /// Everything up to the answer to this command.
    async fn until(&mut self, id: u32) -> Vec<Value> {
        let mut heard = vec![];
        loop {
            let message = self.next().await.unwrap();
            let is_answer = ["ack", "refusal"].contains(&kind(&message)) && message["id"] == id;
            heard.push(message);
            if is_answer {
                return heard;
            }
        }
    }

    /// Everything until the end, and its code.
    async fn ended(&mut self) -> (Vec<Value>, u16) {
        let mut heard = vec![];
        loop {
            match self.next().await {
                Ok(message) => heard.push(message),
                Err(code) => return (heard, code),
            }
        }
    }

    async fn ping(&mut self) {
        self.say(json!({ "type": "ping", "id": 1_000_000 })).await;
        self.until(1_000_000).await;
    }
}

fn kind(message: &Value) -> &str {
    message["type"].as_str().unwrap()
}

fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(kind).collect()
}

/// The codes of refusals, and of which commands.
fn refusals(messages: &[Value]) -> Vec<(u64, &str)> {
    let refused = messages.iter().filter(|message| kind(message) == "refusal");
    refused
        .map(|message| (message["id"].as_u64().unwrap(), message["code"].as_str().unwrap()))
        .collect()
}

async fn ping(play: &mut Play) {
    let pinging = play.send(|id| Command::Ping { id }).await.unwrap();
    play.wait_for_answer(pinging).await.unwrap();
}

fn refused_status(result: Result<Browser, Error>) -> u16 {
    match result {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the socket opened"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_it_is_and_the_join_come_with_the_request() {
    let house = House::new().await;
    let (table, [client, ..]) = house.table().await;
    let mut browser = Browser::joining(&client, "?type=join").await;
    assert_eq!(browser.agreed, "bahay.v1", "the token is not said back");
    let heard = browser.until(1).await;
    assert_eq!(kinds(&heard), ["hello", "ack", "snapshot", "ack"]);
    assert_eq!(heard[1]["id"], 0);
    assert_eq!(heard[2]["view"]["table"], json!(table));
    browser.say(json!({ "type": "authenticate", "id": 2, "token": "again" })).await;
    assert_eq!(refusals(&browser.until(2).await), [(2, "already_authenticated")]);
    // The shortest form is agreed on as without a token.
    let protocols = format!("bahay.token.{}, bahay.v1, bahay.v1.brief", client.access_token());
    let brief = Browser::open(client.base(), "", &protocols).await.unwrap();
    assert_eq!(brief.agreed, "bahay.v1.brief");
}

#[tokio::test(flavor = "multi_thread")]
async fn either_may_be_said_without_the_other_or_in_the_header() {
    let house = House::new().await;
    let (_, [client, ..]) = house.table().await;
    let token = client.access_token();
    let mut only_who = Browser::joining(&client, "").await;
    assert_eq!(kinds(&only_who.until(0).await), ["hello", "ack"]);
    only_who.say(json!({ "type": "join", "id": 1 })).await;
    let heard = only_who.until(1).await;
    assert_eq!((kind(&heard[0]), refusals(&heard)), ("snapshot", vec![]));
    // What waits for the first message is joined then.
    let mut only_join = Browser::open(client.base(), "?type=join", "bahay.v1").await.unwrap();
    only_join.say(json!({ "type": "authenticate", "id": 7, "token": token })).await;
    assert_eq!(kinds(&only_join.until(1).await), ["hello", "ack", "snapshot", "ack"]);
    // One that says something else first is nobody, whatever it asked for.
    let mut nobody = Browser::open(client.base(), "?type=join", "bahay.v1").await.unwrap();
    nobody.say(json!({ "type": "ping", "id": 3 })).await;
    let (heard, code) = nobody.ended().await;
    assert_eq!(
        (refusals(&heard), code),
        (vec![(3, "not_authenticated")], close::NOT_AUTHENTICATED)
    );
    let in_header = Browser::with_header(client.base(), "?type=join", "bahay.v1", Some(token));
    let mut in_header = in_header.await.unwrap();
    assert_eq!(kinds(&in_header.until(1).await), ["hello", "snapshot", "ack"]);
    let twice = format!("bahay.v1, bahay.token.{token}");
    let mut twice = Browser::with_header(client.base(), "", &twice, Some(token)).await.unwrap();
    assert_eq!(refusals(&twice.until(0).await), [(0, "already_authenticated")]);
    twice.ping().await;
}

/// From where it was, on whichever node; and whole where that is no point of the table's history.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_resumed_by_version_and_tag() {
    let house = House::new().await;
    let (second, running) = house.node().await;
    let (table, [client, other, _]) = house.table().await;
    let mut before = Browser::joining(&client, "?type=join").await;
    let heard = before.until(1).await;
    let snapshot = &heard[2];
    let (version, tag) = (snapshot["version"].as_u64().unwrap(), snapshot["tag"].as_str().unwrap());
    drop(before);
    // Somebody comes, which is told.
    let mut play = joined(&other).await;
    let from = format!("?type=join&from={version}&tag={tag}&table={table}");
    let mut resumed = Browser::joining(&client.with_base(&second), &from).await;
    let heard = resumed.until(1).await;
    let updates: Vec<&Value> = heard.iter().filter(|message| kind(message) == "update").collect();
    assert!(!updates.is_empty(), "{heard:?}");
    assert!(!kinds(&heard).contains(&"snapshot"), "{heard:?}");
    for (place, update) in (1..).zip(&updates) {
        assert_eq!(update["version"], version + place);
    }
    // Commands go on as on any connection.
    resumed.ping().await;
    let elsewhere = Uuid::new_v4();
    for stale in [
        format!("?type=join&from={version}&tag=000000000000&table={table}"),
        format!("?type=join&from={version}&tag={tag}&table={elsewhere}"),
        format!("?type=join&from={version}&table={table}"),
        format!("?type=join&from={version}&tag={tag}"),
    ] {
        let mut whole = Browser::joining(&client, &stale).await;
        let heard = whole.until(1).await;
        assert_eq!(kinds(&heard), ["hello", "ack", "snapshot", "ack"], "{stale}");
        assert_eq!(heard[2]["view"]["table"], json!(table));
    }
    let leaving = play.leave().await.unwrap();
    play.wait_for_answer(leaving).await.unwrap();
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sits_nowhere_is_refused_and_stays() {
    let house = House::new().await;
    let (table, _) = house.table().await;
    let nobody = house.guest("Dante").await;
    let foreign = format!("?type=join&from=1&tag=000000000000&table={table}");
    for query in ["?type=join", &foreign] {
        let mut browser = Browser::joining(&nobody, query).await;
        let heard = browser.until(1).await;
        assert_eq!(kinds(&heard), ["hello", "ack", "refusal"], "{query}");
        assert_eq!(refusals(&heard), [(1, "not_seated")]);
        browser.ping().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_is_not_good_is_refused_as_by_the_message() {
    let house = House::new().await;
    let client = house.guest("Althea").await;
    let ticket = client.ticket().await.unwrap();
    let by_ticket = format!("bahay.v1, bahay.ticket.{ticket}");
    let mut entered = Browser::open(client.base(), "?type=join", &by_ticket).await.unwrap();
    assert_eq!(refusals(&entered.until(1).await), [(1, "not_seated")]);
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
        let (heard, end) = browser.ended().await;
        assert_eq!(refusals(&heard), [(0, code)], "{protocols}");
        assert_eq!((heard.len(), end), (1, close::NOT_AUTHENTICATED), "nothing else is said");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_is_no_join_is_refused_and_opens_nothing() {
    let house = House::new().await;
    let (_, [client, ..]) = house.table().await;
    for query in ["?type=leave", "?from=1", "?type=join&id=4", "?type=join&from=x"] {
        let mut browser = Browser::joining(&client, query).await;
        assert_eq!(refusals(&browser.until(1).await), [(1, "malformed")], "{query}");
        browser.ping().await;
    }
    // No token is read from the address.
    let query = format!("?access_token={}", client.access_token());
    let mut browser = Browser::open(client.base(), &query, "bahay.v1").await.unwrap();
    browser.say(json!({ "type": "join", "id": 5 })).await;
    let (heard, code) = browser.ended().await;
    assert_eq!(
        (refusals(&heard), code),
        (vec![(5, "not_authenticated")], close::NOT_AUTHENTICATED)
    );
}

/// Both are shown the table. It knows the one on which something is said, and the other may go.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_at_once_the_one_that_says_something_is_there() {
    let house = House::new().await;
    let (second, running) = house.node().await;
    let (table, [client, other, _]) = house.table().await;
    let mut watching = joined(&other).await;
    let connected = |play: &Play| {
        let view = play.view().unwrap();
        let seats = view.seats.iter().flatten();
        seats.filter(|seat| seat.player == client.player()).any(|seat| seat.connected)
    };
    let elsewhere = client.with_base(&second);
    let (mut one, mut two) = tokio::join!(
        Browser::joining(&client, "?type=join"),
        Browser::joining(&elsewhere, "?type=join"),
    );
    for browser in [&mut one, &mut two] {
        let heard = browser.until(1).await;
        assert_eq!(heard[2]["view"]["table"], json!(table));
    }
    ping(&mut watching).await;
    assert!(!connected(&watching), "asking for a socket changes nothing at a table");
    two.ping().await;
    timeout(PATIENCE, async {
        while !connected(&watching) {
            watching.next().await.unwrap();
        }
    })
    .await
    .expect("who says something is there");
    drop(one);
    // Of those that say something the last one stays.
    let mut third = Browser::joining(&client, "?type=join").await;
    third.until(1).await;
    third.ping().await;
    let (_, code) = two.ended().await;
    assert_eq!(code, close::REPLACED);
    third.ping().await;
    running.stop().await.unwrap();
}

/// What is said first is carried out as well, and a seat that is gone meanwhile is told.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_thing_that_is_said_is_done() {
    let house = House::new().await;
    let (_, [client, ..]) = house.table().await;
    let mut browser = Browser::joining(&client, "?type=join").await;
    browser.until(1).await;
    browser.say(json!({ "type": "leave", "id": 2 })).await;
    let heard = browser.until(2).await;
    assert_eq!(refusals(&heard), []);
    browser.say(json!({ "type": "join", "id": 3 })).await;
    assert_eq!(refusals(&browser.until(3).await), [(3, "not_seated")]);
    client.seat("newbie").await.unwrap();
    let mut looking = Browser::joining(&client, "?type=join").await;
    looking.until(1).await;
    client.leave().await.unwrap();
    looking.say(json!({ "type": "take_back", "id": 2 })).await;
    let heard = looking.until(2).await;
    assert_eq!(refusals(&heard).len(), 1, "{heard:?}");
    looking.ping().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_are_those_of_the_messages() {
    let mut setup = Setup::default();
    setup.rate_limits.socket_handshakes_per_account = Rate { per_second: 1, burst: 3 };
    let house = House::with(setup).await;
    let hasty = house.guest("Althea").await;
    let mut hurried = vec![];
    for _ in 0..20 {
        let mut browser = Browser::joining(&hasty, "?type=join").await;
        let heard = browser.next().await.unwrap();
        if kind(&heard) == "refusal" {
            assert_eq!(refusals(&[heard]), [(0, "too_fast")]);
            hurried.push(browser.next().await);
        }
    }
    assert!(!hurried.is_empty(), "twenty at once were let in");
    assert!(hurried.iter().all(|end| *end == Err(close::TOO_FAST)), "{hurried:?}");

    let mut setup = Setup::default();
    setup.rate_limits.requests_per_account = Rate { per_second: 1, burst: 10 };
    let house = House::with(setup).await;
    let hasty = house.guest("Althea").await;
    let mut refused = 0;
    for _ in 0..30 {
        let mut browser = Browser::joining(&hasty, "?type=join").await;
        match refusals(&browser.until(1).await)[..] {
            [(1, "too_fast")] => refused += 1,
            [(1, "not_seated")] => {}
            ref other => panic!("{other:?}"),
        }
    }
    assert!(refused > 0, "thirty at once were looked up");

    let mut setup = Setup::default();
    setup.rate_limits.sockets_per_address = 1;
    let house = House::with(setup).await;
    let client = house.guest("Althea").await;
    let _first = Browser::joining(&client, "?type=join").await;
    let protocols = format!("bahay.v1, bahay.token.{}", client.access_token());
    let second = Browser::open(client.base(), "?type=join", &protocols).await;
    assert_eq!(refused_status(second), 429);
}
