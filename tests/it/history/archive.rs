//! Lists of finished games.

use bahay::archive::{self, GameOutcome, GameState};
use bahay::clock::BoundedTimestamp;
use bahay::records::Records;
use bahay_api::player::games::{FinalGameState, GameFilter, GameSummary};
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Settlement};
use uuid::Uuid;

use crate::support::bank::{Bank, KIND, PotGoes, hundredths, settlement, table};
use crate::support::checks::read_game;
use crate::support::db::read_pages;
use crate::support::reason;

/// Returns the first nine games of a player that pass the filter.
async fn list_games(bank: &Bank, player: PlayerId, filter: &GameFilter) -> Vec<GameSummary> {
    let page = archive::list_by_player(&bank.pool, player, filter, None, 9).await.unwrap();
    assert_eq!(page.next, None);
    page.items
}

#[tokio::test]
async fn a_player_lists_the_own_games_newest_first() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let table = table();
    let mut expected = Vec::new();
    for winner in [0, 1, 2, 0, 1] {
        let (game, settled) = bank.play(table, &players, winner, 1, PotGoes::Nowhere).await;
        expected.insert(0, (game, settled.net[2]));
    }
    let filter = GameFilter::default();
    let listed = read_pages(async |cursor| {
        let page = archive::list_by_player(&bank.pool, players[2], &filter, cursor, 2).await;
        let page = page.unwrap();
        assert!(page.items.len() <= 2);
        page
    });
    let listed = listed.await;
    let nets: Vec<_> = listed.iter().map(|played| (GameId(played.id), *played.net)).collect();
    assert_eq!(nets, expected);
    assert!(listed.iter().all(|played| played.seat == 2 && played.table == table.0));
    assert!(listed.iter().all(|played| played.state == FinalGameState::Settled));
    assert!(listed.iter().all(|played| played.opened_at < played.finished_at));
    assert!(listed.is_sorted_by(|newer, older| newer.finished_at > older.finished_at));

    let stranger = bank.player(0).await;
    assert!(list_games(&bank, stranger, &filter).await.is_empty());
}

#[tokio::test]
async fn a_settled_game_has_its_record_and_settlement_and_an_open_one_is_not_listed() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let game = bank.deal(table(), &players);
    let (stakes, pot) = bank.open(&game).await;
    let found = read_game(&bank.pool, game.game).await;
    assert_eq!((found.state, found.record, found.settlement), (GameState::Open, None, None));
    assert!(list_games(&bank, players[0], &GameFilter::default()).await.is_empty());

    let input = bank.finish(&game, settlement(2, 3, &stakes, PotGoes::ToWinner, pot));
    bank.ledger.settle_game(input.clone()).await.unwrap();
    let found = read_game(&bank.pool, game.game).await;
    assert_eq!((found.state, &found.players), (GameState::Settled, &players));
    let record = serde_json::from_str(input.record.as_str()).unwrap();
    assert_eq!(found.record, Some(record));
    let stored: Settlement = serde_json::from_value(found.settlement.unwrap()).unwrap();
    assert_eq!(stored, input.settlement);
    let nowhere = Records::without_archive();
    let unknown = archive::read_game(&bank.pool, &nowhere, GameId(Uuid::nil())).await;
    assert_eq!(unknown.unwrap(), None);
}

#[tokio::test]
async fn a_voided_game_is_listed_with_nothing_won_or_lost() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let game = bank.deal(table(), &players);
    let (stakes, _) = bank.open(&game).await;
    bank.ledger.void_game(game.game, &reason("its live state was lost")).await.unwrap();
    let listed = list_games(&bank, players[1], &GameFilter::default()).await;
    let [played] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((played.state, *played.net), (FinalGameState::Voided, Coins::ZERO));
    assert_eq!(hundredths(&[*played.stake]), hundredths(&stakes[1..2]));
    let found = read_game(&bank.pool, game.game).await;
    assert_eq!((found.state, found.record), (GameState::Voided, None));
}

#[tokio::test]
async fn open_games_can_be_looked_through_for_those_that_are_lost() {
    let bank = Bank::new().await;
    let mut opened = Vec::new();
    for _ in 0..3 {
        let players = bank.players([10_000; 3]).await;
        let game = bank.open_game(&players).await;
        opened.push((game.game, game.table, game.opened_at_ms));
    }
    let players = bank.players([10_000; 3]).await;
    bank.play(table(), &players, 0, 1, PotGoes::Nowhere).await;
    opened.sort();
    let first = archive::list_open_games(&bank.pool, None, 2).await.unwrap();
    let second = archive::list_open_games(&bank.pool, first.next, 2).await.unwrap();
    assert_eq!((first.items.len(), second.items.len(), second.next), (2, 1, None));
    let found: Vec<_> = first.items.iter().chain(&second.items).collect();
    let found: Vec<_> =
        found.iter().map(|game| (game.game, game.table, game.opened_at_ms)).collect();
    assert_eq!(found, opened);
}

#[tokio::test]
async fn the_list_is_filtered_by_what_the_player_asks_for() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let (won, _) = bank.play(table(), &players, 0, 1, PotGoes::Nowhere).await;
    let (lost, _) = bank.play(table(), &players, 1, 1, PotGoes::Nowhere).await;
    let voided = bank.open_game(&players).await;
    bank.ledger.void_game(voided.game, &reason("its live state was lost")).await.unwrap();
    let all = list_games(&bank, players[0], &GameFilter::default()).await;
    let list = async |filter: GameFilter| {
        let listed = list_games(&bank, players[0], &filter).await;
        listed.iter().map(|played| GameId(played.id)).collect::<Vec<_>>()
    };
    let outcome = |outcome| GameFilter { outcome: Some(outcome), ..GameFilter::default() };
    assert_eq!(list(outcome(GameOutcome::Won)).await, [won]);
    assert_eq!(list(outcome(GameOutcome::Lost)).await, [lost]);
    assert_eq!(list(outcome(GameOutcome::Voided)).await, [voided.game]);
    assert_eq!(list(outcome(GameOutcome::Drawn)).await, []);
    let any = GameFilter::default;
    let room = |room: &str| GameFilter { room: Some(room.parse().unwrap()), ..any() };
    assert_eq!(list(room("newbie")).await.len(), 3);
    assert_eq!(list(room("fiesta")).await, []);
    let settled_at = |game| {
        let played = all.iter().find(|played| GameId(played.id) == game).unwrap();
        BoundedTimestamp::new(played.finished_at.into()).ok()
    };
    let kind = |kind: &str| GameFilter { kind: Some(kind.parse().unwrap()), ..any() };
    assert_eq!(list(kind(KIND)).await.len(), 3);
    assert_eq!(list(kind("tongo")).await, []);
    assert!(all.iter().all(|played| played.kind == KIND));
    let from = GameFilter { from: settled_at(lost), ..outcome(GameOutcome::Won) };
    assert_eq!(list(from).await, []);
    let to = GameFilter { to: settled_at(lost), ..GameFilter::default() };
    assert_eq!(list(to).await, [won]);
    // Endings are counted from records, and these games have none that can be replayed.
    let fights = GameFilter { ending: Some("fight".parse().unwrap()), ..GameFilter::default() };
    assert_eq!(list(fights).await, []);
}
