//! A test that the server's log contains no token, ticket, device or seed while games are played.

use bahay_client_tokio::{Client, SocketAuth};
use futures_util::{SinkExt as _, StreamExt as _};
use tempfile::NamedTempFile;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message as Frame;
use uuid::Uuid;

use crate::support::db::TestDatabase;
use crate::support::house::{PATIENCE, join_table};
use crate::support::play::TestPlay as _;
use crate::support::process::{SECRET, Server, serve};
use crate::support::raw::open_socket;

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_reaches_the_log() {
    let database = TestDatabase::new().await;
    let log = NamedTempFile::new().unwrap();
    let mut command = serve(&database);
    command.env("RUST_LOG", "trace").stderr(log.reopen().unwrap());
    let mut server = Server::start(&mut command).await;
    let mut secrets = vec![SECRET.to_owned()];
    let mut clients = vec![];
    for name in ["Althea", "Benjie", "Carmela"] {
        let device = format!("test-device-{}", Uuid::new_v4());
        let mut client = Client::guest(&server.url, &device, name).await.unwrap();
        secrets.extend([device, client.access_token().into(), client.refresh_token().into()]);
        client.renew_tokens_at(&server.url).await.unwrap();
        secrets.extend([client.access_token().to_owned(), client.refresh_token().to_owned()]);
        client.seat("newbie").await.unwrap();
        clients.push(client);
    }
    let mut plays = vec![];
    for client in &clients {
        let ticket = client.ticket().await.unwrap();
        secrets.push(ticket.clone());
        client.play_with(SocketAuth::Ticket(ticket.clone())).await.unwrap();
        assert!(client.play_with(SocketAuth::Ticket(ticket.clone())).await.is_err());
        client.play_with(SocketAuth::Token(client.access_token().to_owned())).await.unwrap();
        assert!(
            client
                .play_with(SocketAuth::Token(format!("{}x", client.access_token())))
                .await
                .is_err()
        );
        for protocol in [format!("token.{}", client.access_token()), format!("ticket.{ticket}")] {
            connect_with_subprotocol(client.base(), &protocol).await;
        }
        // These credentials are in positions that the server does not read; they must not be logged
        // either.
        let misplaced = format!("/v1/me?access_token={}", client.access_token());
        let _: Result<serde_json::Value, _> = client.read(&misplaced).await;
        connect_with_query(client.base(), client.access_token()).await;
        plays.push(join_table(client).await);
    }
    for (seat, play) in plays.iter_mut().enumerate() {
        let game = play.prepared_game().await;
        let seed = format!("luck-of-seat-{seat}-{}", Uuid::new_v4());
        secrets.push(seed.clone());
        let readied = play.ready(game, Some(seed)).await.unwrap();
        play.confirm(readied).await;
    }
    for play in &mut plays {
        let revealing = loop {
            if let Some(revealing) = play.reveal().await.unwrap() {
                break revealing;
            }
            play.next().await.unwrap();
        };
        play.confirm(revealing).await;
    }
    for client in &clients {
        client.sign_out().await.unwrap();
    }
    server.terminate();
    server.wait();
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(log.contains("/v1/play/tickets"), "the log contains the requests");
    for secret in &secrets {
        // A part of a ticket or token is as secret as the whole.
        let part = &secret[secret.len().saturating_sub(40)..];
        let line = log.lines().find(|line| line.contains(part));
        assert_eq!(line, None, "the log contains a secret");
    }
}

/// Opens a socket with a credential in its subprotocols, and waits for the first message.
async fn connect_with_subprotocol(base: &str, credential: &str) {
    let protocols = format!("bahay.v1, bahay.{credential}");
    let headers = [("sec-websocket-protocol", &*protocols)];
    let (mut socket, _) = open_socket(base, "?type=join", &headers).await.unwrap();
    timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap();
}

/// Opens a socket with a token in the query, which the server does not read, and waits for the
/// answer to a ping.
async fn connect_with_query(base: &str, token: &str) {
    let query = format!("?access_token={token}");
    let (mut socket, _) = open_socket(base, &query, &[]).await.unwrap();
    socket.send(Frame::text(r#"{"type":"ping","id":1}"#)).await.unwrap();
    timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap();
}
