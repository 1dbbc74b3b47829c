//! The ledger has its own connections, so readers cannot delay the opening or settlement of games.

use bahay::ws::protocol::Message;
use bahay_client::Play;
use bahay_engine::table::{Event, PhaseView};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::house::{House, PATIENCE, join_table};

async fn next(play: &mut Play) -> Message<bahay_engine::catalog::AnyGame> {
    timeout(PATIENCE, play.next()).await.expect("something happens").unwrap()
}

/// Becomes ready and plays as the house's bot does until the game is settled.
async fn play_a_game(mut play: Play) {
    let game = loop {
        if let Some(PhaseView::Preparing { game, .. }) = play.view().map(|view| &view.phase) {
            break *game;
        }
        next(&mut play).await;
    };
    play.ready(game, None).await.unwrap();
    let mut answered = None;
    loop {
        let question = play.prompt().map(|prompt| prompt.number);
        if question != answered
            && let Some(action) = play.advice()
        {
            answered = question;
            play.act(action).await.unwrap();
        }
        if let Message::Update { events, .. } = next(&mut play).await
            && events.iter().any(|event| matches!(event, Event::Settled { .. }))
        {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn games_open_and_settle_while_reads_hold_all_their_connections() {
    let house = House::new().await;
    let (_, clients) = house.table().await;
    let mut plays = Vec::new();
    for client in &clients {
        plays.push(join_table(client).await);
    }
    let mut held = Vec::new();
    for _ in 0..house.pool.options().get_max_connections() {
        held.push(house.pool.acquire().await.unwrap());
    }
    let wallet = clients[0].wallet().await;
    assert!(wallet.is_err(), "no connection is left for reads: {wallet:?}");
    let mut playing = JoinSet::new();
    for play in plays {
        playing.spawn(play_a_game(play));
    }
    playing.join_all().await;
    drop(held);
    let settled = "select count(*) from games where state = 'settled'";
    let settled: i64 = sqlx::query_scalar(settled).fetch_one(&house.pool).await.unwrap();
    assert_eq!(settled, 1);
}
