//! Players who return to their game during an outage of PostgreSQL.

use std::time::Duration;

use bahay::ws::protocol::{Command, Credential, Message, close};
use bahay_client_tokio::{PlayError, SocketAuth};
use sqlx::Connection as _;
use tokio::time::{sleep, timeout};

use super::stalls::{dealt, house, play_on};
use crate::support::house::PATIENCE;
use crate::support::play::TestPlay as _;
use crate::support::services::Service;
use crate::support::waiting::wait_until;

/// A node that has never seen these sessions admits players who are seated at a table, and no
/// others; a session that was revoked meanwhile is closed after the outage.
#[tokio::test(flavor = "multi_thread")]
async fn a_seated_player_reconnects_while_postgres_is_unavailable() {
    let (mut services, mut house) = house(Service::Postgres, 20_000).await;
    let (base, other) = house.node().await;
    let (_, clients) = house.table().await;
    let stranger = house.guest("Dalisay").await.with_base(&base);
    let (_, plays) = dealt(&clients).await;
    // As after a ban that neither node has received.
    let url = house.database.url();
    let mut owner = sqlx::PgConnection::connect(&url).await.unwrap();
    sqlx::query("delete from refresh_tokens").execute(&mut owner).await.unwrap();
    let gone = "delete from sessions where player = $1";
    sqlx::query(gone).bind(clients[2].player().0).execute(&mut owner).await.unwrap();
    services.kill(Service::Postgres).await;

    let mut back = Vec::new();
    for (client, play) in clients.iter().zip(plays) {
        let known = play.drop_connection();
        let token = client.access_token().to_owned();
        // Both ways of presenting a token.
        let way =
            if back.is_empty() { SocketAuth::Token(token) } else { SocketAuth::Header(token) };
        let mut play = client.with_base(&base).play_with(way).await.unwrap();
        play.resume(known);
        play.confirm_join().await;
        back.push(play);
    }
    // Requests about anything but the player's own table wait.
    let seeking =
        back[0].send(|id| Command::Seek { id, rooms: vec!["newbie".into()] }).await.unwrap();
    assert_eq!(back[0].refusal_of(seeking).await, "unavailable");

    // A player without a seat is told to retry later, and not that its token is invalid.
    let refused = stranger.play().await.err().unwrap();
    assert!(matches!(refused, PlayError::Upgrade { status: 503, .. }), "{refused:?}");
    let mut first = stranger.play_with(SocketAuth::Deferred).await.unwrap();
    let token = Some(Credential::new(stranger.access_token().to_owned()));
    let entering =
        first.send(|id| Command::Authenticate { id, token, ticket: None }).await.unwrap();
    let refused = first.next_message().await;
    let is_told = matches!(&refused, Message::Refusal { id, code, retryable: true, .. }
        if *id == Some(entering) && code == "unavailable");
    assert!(is_told, "{refused:?}");
    let ended = timeout(PATIENCE, first.next()).await.unwrap().err().unwrap();
    assert!(matches!(ended, PlayError::Closed { code: close::TOO_FAST, .. }), "{ended:?}");

    services.start_again().await;
    let mut gone = back.pop().unwrap();
    assert_eq!(gone.close_code().await, close::SIGNED_OUT);
    // The others may do everything again.
    wait_until("the session is confirmed", async || {
        // Below the rate limit of commands.
        sleep(Duration::from_millis(200)).await;
        let rooms = vec!["nowhere".into()];
        let seeking = back[0].send(|id| Command::Seek { id, rooms }).await.unwrap();
        back[0].refusal_of(seeking).await != "unavailable"
    })
    .await;
    timeout(4 * PATIENCE, play_on(back, true)).await.expect("the game is settled");
    other.stop().await.unwrap();
    house.stop().await;
}
