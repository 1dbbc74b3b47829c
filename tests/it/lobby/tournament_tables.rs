//! Tables of tournaments on real stores: their players are led to them and sit nowhere else, their
//! games are stored once, and another node goes on after a kill or the loss of live state.

use bahay::archive::tournament_games::{
    TournamentGame, count_tournament_games, list_tournament_games, tournaments_with_unscored_games,
    unscored_games,
};
use bahay::lobby::{PlayerNews, TournamentTable};
use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::table::{
    Clocks, Input, PlayerId, Readable as _, TableId, Terms, TournamentId, TournamentPlayer,
    TournamentSeating,
};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::bank::Bank;
use crate::support::checks::{check_ledger, read_game};
use crate::support::db::execute;
use crate::support::house::{PATIENCE, unhurried_clocks};
use crate::support::live::TestLive;
use crate::support::node::{ConnectedPlayer, Node, is_playing};
use crate::support::waiting::wait_until;

const GAMES: u32 = 3;

const FUNDS: i64 = 10_000;

/// Returns clocks with which a table waits for nobody for long.
fn hasty_clocks() -> Clocks {
    Clocks { prepare_ms: 500, think_ms: 20, grace_ms: 1, ..Clocks::default() }
}

/// Inserts a tournament without a journal.
async fn insert_tournament(bank: &Bank) -> TournamentId {
    let id = TournamentId(Uuid::new_v4());
    let insert = format!(
        "insert into tournaments (id, terms, seed, state)
        values ('{id}', '{{}}', decode(repeat('5e', 32), 'hex'), 'running')"
    );
    execute(&bank.pool, &insert).await;
    id
}

fn tournament_table(
    tournament: TournamentId,
    players: &[PlayerId],
    clocks: Clocks,
) -> TournamentTable {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    let players = players.to_vec();
    let seating = TournamentSeating {
        tournament,
        round: 1,
        number: 1,
        games: GAMES,
        players: players.clone(),
        commitments: vec![],
    };
    let bet = Coins::from_hundredths(100);
    let player =
        |player| TournamentPlayer { player, name: "Tala".to_owned(), avatar: None, bot: false };
    TournamentTable {
        id: TableId(Uuid::new_v4()),
        terms: Terms::for_tournament("tournament", rules, bet, clocks, seating),
        players: players.into_iter().map(player).collect(),
        games: 0,
        seeds: vec![],
    }
}

async fn stored_games(bank: &Bank, tournament: TournamentId) -> Vec<TournamentGame> {
    let page = list_tournament_games(&bank.pool, tournament, None, 100).await.unwrap();
    assert_eq!(page.next, None);
    page.items
}

/// Waits until all games of the table are stored, and checks them.
async fn expect_all_games(bank: &Bank, table: &TournamentTable) -> Vec<TournamentGame> {
    let tournament = table.terms.tournament.as_ref().unwrap().tournament;
    wait_until("every game is stored", async || {
        count_tournament_games(&bank.pool, table.id).await.unwrap() == GAMES
    })
    .await;
    let games = stored_games(bank, tournament).await;
    assert_eq!(games.iter().map(|game| game.number).collect::<Vec<_>>(), [1, 2, 3]);
    for game in &games {
        let points = Coins::checked_sum(game.scores.iter().map(|score| score.points));
        assert_eq!(points, Some(Coins::ZERO));
        let players = game.scores.iter().map(|score| score.player);
        assert!(players.eq(table.players.iter().map(|player| player.player)));
        assert_eq!((game.table, game.round, game.table_number), (table.id, 1, 1));
        let stored = read_game(&bank.pool, game.game).await;
        let record = AnyGame::read_record(&stored.record.unwrap().to_string()).unwrap();
        record.verify().unwrap();
        assert_eq!(record.terms.tournament.unwrap().tournament, tournament);
        assert_eq!((stored.room.as_str(), stored.players.len()), ("tournament", 3));
    }
    games
}

/// Plays a player's prompts until no node delivers more, or the seat is free.
async fn play_on(node: &Node, mut seated: ConnectedPlayer) {
    let table = seated.table.id();
    while seated.table.seat_of(seated.player).is_some() {
        if let Some(input) = seated.input() {
            // The clock may have been faster.
            let _ = node.tables().submit(table, input).await;
        }
        seated.next().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_played_to_its_end_across_the_death_of_its_node() {
    let (bank, live) = (Bank::new().await, TestLive::new());
    let players = bank.players([FUNDS; 3]).await;
    let tournament = insert_tournament(&bank).await;
    let doomed = Node::start(&bank, &live, unhurried_clocks()).await;
    let node = Node::start(&bank, &live, unhurried_clocks()).await;
    let table = tournament_table(tournament, &players, hasty_clocks());

    // The player learns of the table at whichever node.
    let socket = node.lobby.register_socket(players[2]).await;
    let mut news = socket.subscribe_to_news().unwrap();
    let follower = tokio::spawn(node.lobby.clone().follow_news());
    doomed.lobby.open_tournament_table(table.clone()).await.unwrap();
    let heard = timeout(PATIENCE, news.recv()).await;
    match heard {
        Ok(Ok(heard)) => assert_eq!(*heard, PlayerNews::TournamentTable { table: table.id }),
        // The subscription may begin after the news.
        other => panic!("{other:?}"),
    }
    // Opening it again changes nothing.
    node.lobby.open_tournament_table(table.clone()).await.unwrap();
    for player in &players {
        assert_eq!(node.lobby.seated_at(*player).await.unwrap(), Some(table.id));
        assert_eq!(node.lobby.seat(*player, "newbie").await.unwrap(), table.id);
    }
    // A player has no second seat at a table of another tournament meanwhile.
    let other = tournament_table(tournament, &players, hasty_clocks());
    assert!(!node.lobby.claim_tournament_seat(players[0], other.id).await.unwrap());

    let stays = ConnectedPlayer::join(&node, table.id, players[0]).await;
    let mut first = ConnectedPlayer::join(&doomed, table.id, players[1]).await;
    first.wait_until(is_playing).await;
    drop(doomed);
    play_on(&node, stays).await;

    let games = expect_all_games(&bank, &table).await;
    // The third player never came.
    assert!(games.iter().all(|game| game.scores[2].is_absent));
    let unscored = unscored_games(&bank.pool, tournament).await.unwrap();
    assert_eq!(unscored, games);
    assert_eq!(tournaments_with_unscored_games(&bank.pool).await.unwrap(), [tournament]);
    for player in &players {
        wait_until("the seats are free", async || {
            node.lobby.seated_at(*player).await.unwrap().is_none()
        })
        .await;
    }
    assert_eq!(bank.wallets(&players).await, [FUNDS; 3], "points are no coins");
    check_ledger(&bank.pool).await;
    follower.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_live_state_lost_is_opened_again_for_the_games_that_are_left() {
    let (bank, live) = (Bank::new().await, TestLive::new());
    let players = bank.players([FUNDS; 3]).await;
    let tournament = insert_tournament(&bank).await;
    let node = Node::start(&bank, &live, unhurried_clocks()).await;
    let table = tournament_table(tournament, &players, hasty_clocks());
    node.lobby.open_tournament_table(table.clone()).await.unwrap();
    assert_eq!(node.lobby.lost_tables(&[table.id]).await.unwrap(), []);
    wait_until("a game is stored", async || {
        count_tournament_games(&bank.pool, table.id).await.unwrap() > 0
    })
    .await;
    drop(node);
    live.forget_table(table.id).await;
    let node = Node::start(&bank, &live, unhurried_clocks()).await;
    assert_eq!(node.lobby.lost_tables(&[table.id]).await.unwrap(), [table.id]);
    let games = count_tournament_games(&bank.pool, table.id).await.unwrap();
    let again = TournamentTable { games, ..table.clone() };
    node.lobby.open_tournament_table(again).await.unwrap();
    expect_all_games(&bank, &table).await;
    check_ledger(&bank.pool).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_waits_elsewhere_is_freed_and_one_in_a_game_is_not() {
    let (bank, live) = (Bank::new().await, TestLive::new());
    let players = bank.players([1_000_000; 6]).await;
    let tournament = insert_tournament(&bank).await;
    let node = Node::start(&bank, &live, unhurried_clocks()).await;
    // One waits alone, three are in a game.
    let waiting = node.lobby.seat(players[0], "newbie").await.unwrap();
    let busy = node.lobby.seat(players[1], "barkada").await.unwrap();
    for player in &players[2..4] {
        assert_eq!(node.lobby.seat(*player, "barkada").await.unwrap(), busy);
    }
    let _seated = node.join_players(busy, &players[1..4]).await;
    node.become_ready(busy, &players[1..4]).await;
    wait_until("the game begins", async || node.read_table(busy).await.phase().is_running()).await;

    let entrants = [players[0], players[1], players[4]];
    let table = tournament_table(tournament, &entrants, hasty_clocks());
    node.lobby.open_tournament_table(table.clone()).await.unwrap();
    assert_eq!(node.lobby.seated_at(players[0]).await.unwrap(), Some(table.id));
    assert_eq!(node.lobby.seated_at(players[1]).await.unwrap(), Some(busy));
    assert!(!node.lobby.claim_tournament_seat(players[1], table.id).await.unwrap());
    assert!(node.read_table(waiting).await.seat_of(players[0]).is_none());
    // Nobody else sits down there.
    let sit = node.tables().submit(table.id, Input::sit(players[5], "Tala")).await;
    assert!(sit.is_err());
    expect_all_games(&bank, &table).await;
}
