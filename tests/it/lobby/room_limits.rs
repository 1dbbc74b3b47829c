//! The daily limits on winnings from others in rooms: in the ledger, and before a player sits down.

use bahay::clock::Timestamp;
use bahay::ledger::allowance::{DAY_STAKES_MAX, PAIR_STAKES_MAX};
use bahay::ledger::{OpenGame, OpeningOutcome};
use bahay::lobby::{LobbyError, Matcher};
use bahay_engine::coins::Coins;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{PlayerId, TableId};

use crate::support::bank::{Bank, PotGoes, seat, table};
use crate::support::db::{count_rows, execute};
use crate::support::house::unhurried_clocks;
use crate::support::node::Node;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Returns a game in a room in which a loss of two counts is a whole stake.
fn game(bank: &Bank, at: TableId, players: &[PlayerId]) -> OpenGame {
    OpenGame { stake_max: Coins::from_hundredths(200), ..bank.deal(at, players) }
}

/// Plays this many games in which the first player wins the whole stakes of the others.
async fn win(bank: &Bank, at: TableId, players: &[PlayerId], games: i64) {
    for _ in 0..games {
        bank.play_out(game(bank, at, players), 0, 2, PotGoes::Nowhere).await;
    }
}

async fn partners_at_bound(bank: &Bank, player: PlayerId) -> Vec<PlayerId> {
    let now = Timestamp::from_ms(bank.now_ms());
    bank.ledger.room_winnings(player, now).await.unwrap().partners_at_bound().collect()
}

#[tokio::test]
async fn winnings_from_one_player_are_limited() {
    let (bank, players) = Bank::with_players([1_000_000; 3]).await;
    let at = table();
    win(&bank, at, &players, PAIR_STAKES_MAX - 1).await;
    assert!(partners_at_bound(&bank, players[0]).await.is_empty());
    win(&bank, at, &players, 1).await;

    let refused = bank.ledger.open_game(game(&bank, at, &players)).await.unwrap();
    assert_eq!(refused, OpeningOutcome::OverAllowance { seats: SeatSet::only(seat(0)) });
    let told = format!("notices where kind = 'room_limit' and player = '{}'", players[0]);
    assert_eq!(count_rows(&bank.pool, &told).await, 1);
    let mut others = players[1..].to_vec();
    others.sort_unstable();
    assert_eq!(partners_at_bound(&bank, players[0]).await, others);
    // The losers may meet each other, and other players may meet the winner.
    for loser in others {
        assert_eq!(partners_at_bound(&bank, loser).await, [players[0]]);
    }
    let fresh = bank.players([1_000_000; 2]).await;
    win(&bank, at, &[fresh[0], players[1], players[2]], 1).await;
    win(&bank, at, &[players[0], fresh[0], fresh[1]], 1).await;
    // A loss of the winner counts against the limit, and the limit ends after a day.
    bank.play_out(game(&bank, table(), &players), 1, 2, PotGoes::Nowhere).await;
    assert_eq!(partners_at_bound(&bank, players[0]).await, [players[2]]);
    let tomorrow = game(&bank, at, &players);
    let opened_at_ms = tomorrow.opened_at_ms + DAY_MS;
    bank.open(&OpenGame { opened_at_ms, ..tomorrow }).await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn an_opening_that_a_batch_holds_twice_counts_each_game_once() {
    let (bank, players) = Bank::with_players([1_000_000; 3]).await;
    let at = table();
    win(&bank, at, &players, PAIR_STAKES_MAX / 2).await;
    let opening = game(&bank, at, &players);
    let ledger = &bank.ledger;
    // Both requests are queued before the writer runs, so one batch holds both.
    let (one, other) =
        tokio::join!(ledger.open_game(opening.clone()), ledger.open_game(opening.clone()));
    let one = one.unwrap();
    assert!(matches!(one, OpeningOutcome::Opened { .. }), "{one:?}");
    assert_eq!(other.unwrap(), one);
    bank.audit_clean().await;
}

#[tokio::test]
async fn winnings_in_a_day_are_limited() {
    let bank = Bank::new().await;
    let winner = bank.player(1_000_000).await;
    let at = table();
    // Each game brings two stakes, and no pair reaches its limit.
    let mut won = 0;
    while won < DAY_STAKES_MAX {
        let others = bank.players([1_000_000; 2]).await;
        let games = (PAIR_STAKES_MAX - 1).min((DAY_STAKES_MAX - won + 1) / 2);
        win(&bank, at, &[winner, others[0], others[1]], games).await;
        won += 2 * games;
    }
    assert!(partners_at_bound(&bank, winner).await.is_empty());
    let now = Timestamp::from_ms(bank.now_ms());
    assert!(bank.ledger.room_winnings(winner, now).await.unwrap().is_day_limit_reached());
    let others = bank.players([1_000_000; 2]).await;
    let again = game(&bank, at, &[others[0], winner, others[1]]);
    let refused = bank.ledger.open_game(again).await.unwrap();
    assert_eq!(refused, OpeningOutcome::OverAllowance { seats: SeatSet::only(seat(1)) });
    bank.audit_clean().await;
}

/// Inserts games as if they had just been posted, in which the winner has won this many whole
/// stakes of the loser.
async fn book_won_stakes(bank: &Bank, winner: PlayerId, loser: PlayerId, stakes: i64) {
    let net = stakes * 100;
    let games = format!(
        "with game as (
            insert into games (
                id, kind, table_id, room, state, ante, commitment, opened_at, finished_at
            )
            values (
                gen_random_uuid(), 'tongits', gen_random_uuid(), 'newbie', 'settled', 0,
                sha256(''), now(), now()
            )
            returning id
        )
        insert into game_players (game, player, seat, stake, net, finished_at)
        select g.id, p.player::uuid, p.seat, 100, p.net, now()
        from game g, (values ('{winner}', 0, {net}), ('{loser}', 1, -{net})) p (player, seat, net)"
    );
    execute(&bank.pool, &games).await;
}

#[tokio::test]
async fn players_at_a_limit_are_not_matched() {
    let (bank, _live, node) = Node::with_stores(unhurried_clocks()).await;
    let lobby = node.lobby.clone();
    let players = bank.players([1_000_000; 4]).await;
    book_won_stakes(&bank, players[0], players[1], PAIR_STAKES_MAX).await;
    let rooms = ["newbie".to_owned()];
    let mut tickets = vec![];
    for player in &players {
        tickets.push(lobby.create_ticket(*player, &rooms, None).await.unwrap());
    }
    let mut matcher = Matcher::new(lobby.clone());
    assert_eq!(matcher.run_round().await.unwrap(), Some(3));
    let mut seats = vec![];
    for player in &players {
        seats.push(lobby.seated_at(*player).await.unwrap());
    }
    assert!(seats[2].is_some() && seats[2] == seats[3], "{seats:?}");
    assert_eq!(seats[..2].iter().flatten().count(), 1, "only one of the pair is seated: {seats:?}");

    let rich = bank.player(1_000_000).await;
    book_won_stakes(&bank, rich, bank.player(1_000_000).await, DAY_STAKES_MAX).await;
    for refused in [
        lobby.seat(rich, "newbie").await.map(|_| ()),
        lobby.create_ticket(rich, &rooms, None).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(LobbyError::RoomLimit)), "{refused:?}");
    }
}
