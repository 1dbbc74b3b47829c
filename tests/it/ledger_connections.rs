//! The ledger has its own connections, so readers cannot delay the opening or settlement of games.

use tokio::task::JoinSet;

use crate::support::db::count_rows;
use crate::support::house::House;
use crate::support::play::{TestPlay as _, join_new_table, play_until_settled};

#[tokio::test(flavor = "multi_thread")]
async fn games_open_and_settle_while_reads_hold_all_their_connections() {
    let house = House::new().await;
    let (_, clients, plays) = join_new_table(&house).await;
    let mut held = Vec::new();
    for _ in 0..house.pool.options().get_max_connections() {
        held.push(house.pool.acquire().await.unwrap());
    }
    let wallet = clients[0].wallet().await;
    assert!(wallet.is_err(), "no connection is left for reads: {wallet:?}");
    let mut playing = JoinSet::new();
    for mut play in plays {
        playing.spawn(async move {
            play.become_ready().await;
            play_until_settled(play).await
        });
    }
    playing.join_all().await;
    drop(held);
    assert_eq!(count_rows(&house.pool, "games where state = 'settled'").await, 1);
}
