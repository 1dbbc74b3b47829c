//! Tables across two nodes: one Redis, one PostgreSQL, and no node that owns a table.

use std::collections::BTreeMap;

use bahay::archive;
use bahay::ids::Tag;
use bahay::lobby::LobbyError;
use bahay::tables::TableError;
use bahay_api::player::games::GameFilter;
use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, ConnectionId, Event, Input, Phase, Readable, Reason, Rejection};
use bahay_shell::Limits;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::wait_until_settled;
use crate::support::checks::read_game;
use crate::support::house::{ai_clocks, unhurried_clocks};
use crate::support::node::{
    ConnectedPlayer, Node, deal, is_playing, seat_new_players, seat_players,
};

const FUNDS: i64 = 100_000;

/// Players on two nodes play three games; every node sends every player every version.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_played_through_two_nodes() {
    let (bank, _live, nodes) = Node::pair().await;
    let (table, players) = seat_new_players(&nodes, &bank, [FUNDS; 3]).await;
    let mut tasks = JoinSet::new();
    for (number, player) in players.iter().copied().enumerate() {
        let tables = nodes[number % 2].tables().clone();
        let mut seated = ConnectedPlayer::join(&nodes[number % 2], table, player).await;
        tasks.spawn(async move {
            let mut settled = 0;
            let mut told = None;
            while settled < 3 {
                let input = seated.input();
                if let Some(input) = input.filter(|input| Some(input) != told.as_ref()) {
                    told = Some(input.clone());
                    tables.submit(table, input).await.unwrap();
                }
                let notice = seated.next().await;
                let is_settled = |event: &&Event<_>| matches!(event, Event::Settled { .. });
                settled += notice.events.iter().filter(is_settled).count();
            }
            seated
        });
    }
    let ends = tasks.join_all().await;
    assert_eq!(ends.len(), 3);
    let filter = GameFilter::default();
    let games = archive::list_by_player(&bank.pool, players[0], &filter, None, 10).await.unwrap();
    assert_eq!(games.items.len(), 3);
    for game in games.items {
        let recorded = read_game(&bank.pool, bahay_engine::table::GameId(game.id)).await;
        let record = AnyGame::read_record(&recorded.record.unwrap().to_string()).unwrap();
        record.verify().unwrap();
        assert_eq!(record.players.len(), 3);
    }
    bank.audit_clean().await;
}

/// Rules 8.2, 8.3: without any player's action the game comes to its end all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_whose_players_are_all_gone_is_played_to_its_end_by_the_ai() {
    let (bank, _live, node) = Node::with_stores(ai_clocks(1)).await;
    let (table, players) = seat_new_players([&node], &bank, [FUNDS; 3]).await;
    let mut seats = node.join_players(table, &players).await;
    node.become_ready(table, &players).await;
    for seated in &seats {
        let (player, connection) = (seated.player, seated.connection);
        node.tables().submit(table, Input::Disconnect { player, connection }).await.unwrap();
    }
    // A watcher need not be connected to the table as a player.
    let record = loop {
        let notice = seats[0].next().await;
        if let Phase::Settling(settling) = notice.table.phase() {
            break settling.record.clone();
        }
    };
    record.verify().unwrap();
    let mut by = BTreeMap::<_, u32>::new();
    for taken in &record.actions {
        *by.entry(format!("{:?}", taken.by)).or_default() += 1;
    }
    assert_eq!(by.keys().collect::<Vec<_>>(), ["Ai"], "{by:?}");
    wait_until_settled(&mut seats[0]).await;
    bank.audit_clean().await;
}

/// Rule 6.9: in a room a player who cannot cover ante and stake leaves before the next game.
#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_cannot_cover_the_stake_leaves_before_the_next_game() {
    let (bank, _live, node) = Node::with_stores(ai_clocks(1)).await;
    // Exactly the minimum of the room.
    let (table, players) = seat_new_players([&node], &bank, [1_500; 3]).await;
    let mut seats = node.join_players(table, &players).await;
    let tables = node.tables();
    let first = node.become_ready(table, &players).await;
    for seated in &seats {
        let (player, connection) = (seated.player, seated.connection);
        tables.submit(table, Input::Disconnect { player, connection }).await.unwrap();
    }
    let mut left = vec![];
    while left.len() < 2 {
        for event in seats[0].next().await.events.iter() {
            match event {
                Event::Preparing { game, .. } if *game != first => {
                    assert_eq!(node.become_ready(table, &players).await, *game);
                }
                Event::Left { player, reason, .. } => {
                    assert_eq!(*reason, Reason::CannotPay);
                    left.push(*player);
                }
                _ => {}
            }
        }
    }
    for (player, wallet) in players.iter().zip(bank.wallets(&players).await) {
        assert_eq!(left.contains(player), wallet < 1_500, "{wallet}");
    }
    bank.audit_clean().await;
}

/// A node without a replica of a table answers for it, and one that was away catches up.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_copy_is_read_again_before_anything_is_refused() {
    let (bank, _live, [here, there]) = Node::pair().await;
    let players = bank.players([FUNDS; 3]).await;
    let table = here.lobby.seat(players[0], "newbie").await.unwrap();
    // `there` gets a replica with one player, which then becomes stale.
    assert_eq!(there.read_table(table).await.seats_free(), 2);
    here.lobby.seat(players[1], "newbie").await.unwrap();
    let version = there.tables().submit(table, Input::Leave { player: players[1] }).await;
    assert!(version.is_ok(), "{version:?}");
    let again = there.tables().submit(table, Input::Leave { player: players[1] }).await;
    assert!(matches!(again, Err(TableError::Rejected(Rejection::NotSeated))), "{again:?}");
}

/// With the last version that it received, a player gets exactly what it missed.
#[tokio::test(flavor = "multi_thread")]
async fn a_watch_resumes_from_a_version() {
    let (bank, _live, [here, there]) = Node::pair().await;
    let (table, players) = seat_new_players([&here], &bank, [FUNDS; 3]).await;
    let mut first = ConnectedPlayer::join(&here, table, players[0]).await;
    for player in &players[1..] {
        ConnectedPlayer::join(&here, table, *player).await;
    }
    // More lines than a replica keeps: earlier events come from the journal.
    for _ in 0..20 {
        ConnectedPlayer::join(&here, table, players[1]).await;
    }
    let mut seen = vec![];
    while first.version < 26 {
        let notice = first.next().await;
        seen.push((notice.at, notice.events));
    }
    let last = seen.len() - 1;
    for (place, (from, _)) in seen.iter().enumerate() {
        // One node applied the lines as they came, the other replayed them.
        for node in [&here, &there] {
            let connection = ConnectionId(Uuid::new_v4());
            let watch = node.tables().watch(table, connection, Some(from.tag)).await;
            let missed = watch.unwrap().missed.unwrap();
            assert_eq!(missed.len(), last - place);
            for missed in missed {
                let (_, events) = seen.iter().find(|(at, _)| *at == missed.at).unwrap();
                assert_eq!(&missed.events, events);
            }
        }
    }
    let connection = ConnectionId(Uuid::new_v4());
    let watch = there.tables().watch(table, connection, Some(Tag::default())).await;
    assert!(watch.unwrap().missed.is_none(), "a line that never was needs a snapshot");
}

/// Rule 8.4: an account sits at one table, however often and wherever it asks concurrently.
#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_asks_many_times_at_once_sits_once() {
    let (bank, _live, nodes) = Node::pair().await;
    let player = bank.player(FUNDS * 100).await;
    let mut asking = JoinSet::new();
    for number in 0..20 {
        let lobby = nodes[number % 2].lobby.clone();
        let room = ["newbie", "barkada"][number / 2 % 2];
        asking.spawn(async move { lobby.seat(player, room).await });
    }
    let mut seated = vec![];
    for asked in asking.join_all().await {
        match asked {
            Ok(table) => seated.push(table),
            Err(LobbyError::Seating) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert!(!seated.is_empty());
    assert!(seated.iter().all(|table| *table == seated[0]), "{seated:?}");
    assert_eq!(nodes[1].lobby.seated_at(player).await.unwrap(), Some(seated[0]));
    nodes[1].lobby.leave(player).await.unwrap();
    assert_eq!(nodes[0].lobby.seated_at(player).await.unwrap(), None);
}

/// Rule 6.9: a player who could not pay the greatest loss does not sit down.
#[tokio::test(flavor = "multi_thread")]
async fn a_room_asks_for_a_wallet() {
    let (bank, _live, node) = Node::with_stores(unhurried_clocks()).await;
    let poor = bank.player(1_499).await;
    let asked = node.lobby.seat(poor, "newbie").await;
    let needed = Coins::from_hundredths(1_500);
    assert!(
        matches!(asked, Err(LobbyError::TooFewCoins { needed: said }) if said == needed),
        "{asked:?}"
    );
    let enough = bank.player(1_500).await;
    node.lobby.seat(enough, "newbie").await.unwrap();
    let nowhere = node.lobby.seat(enough, "no-such-room").await;
    assert!(matches!(nowhere, Err(LobbyError::NoSuchRoom)), "{nowhere:?}");
}

/// A player leaves and returns repeatedly during a game. Each time is a visible change, and the
/// length of the journal stays bounded all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_journal_does_not_grow_without_end_within_a_game() {
    // The game outlasts the test.
    let clocks = Clocks { think_ms: 5_000, ..unhurried_clocks() };
    let (bank, live, node) = Node::with_stores(clocks).await;
    let nodes = [node, Node::new(&bank, &live, clocks).await];
    let players = bank.players([FUNDS; 3]).await;
    let table = seat_players(&nodes[..1], &players).await;
    let mut seated = nodes[0].join_players(table, &players).await;
    deal(&nodes[0], &mut seated).await;
    let restless = seated.remove(0);
    let (player, connection) = (restless.player, restless.connection);
    drop((restless, seated));
    let mut redis = live.raw().await;
    let mut longest = 0;
    for number in 0..3_000 {
        let input = match number % 2 {
            0 => Input::Leave { player },
            _ => Input::Connect { player, connection },
        };
        nodes[0].tables().submit(table, input).await.unwrap();
        let journal = live.table_key(table, "journal");
        let lines: usize = redis::cmd("llen").arg(journal).query_async(&mut redis).await.unwrap();
        longest = longest.max(lines);
    }
    let most = Limits::SERVICE.journal_lines_in_game;
    // The last of them causes a snapshot at once.
    assert!((most - 1..=most + 1).contains(&longest), "{longest} lines");
    // A node without a replica reads the game from the snapshot, and the game continues.
    let look = async |node: &Node| node.read_table(table).await;
    let (here, there) = (look(&nodes[0]).await, look(&nodes[1]).await);
    assert!(is_playing(&there) && here.phase() == there.phase());
    assert_eq!(here.taken_over_seats(), there.taken_over_seats());
}
