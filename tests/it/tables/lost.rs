//! Games whose table is lost: found by every node, voided once, and reported to their players.

use bahay::archive::GameState;
use bahay::ledger::LedgerError;
use bahay::live_store::TableListing;
use bahay::tables::OperateError;
use bahay_engine::table::{GameId, PlayerId};

use crate::support::bank::{self, ANTE, Bank, PotGoes};
use crate::support::checks::read_game;
use crate::support::db::execute;
use crate::support::house::unhurried_clocks;
use crate::support::node::{Node, deal, seat_new_players, seat_players};
use crate::support::reason;
use crate::support::waiting::wait_until;

const FUNDS: i64 = 100_000;

async fn state(bank: &Bank, game: GameId) -> GameState {
    read_game(&bank.pool, game).await.state
}

async fn until_voided(bank: &Bank, game: GameId) {
    wait_until("the game is found", async || state(bank, game).await != GameState::Open).await;
    assert_eq!(state(bank, game).await, GameState::Voided);
}

async fn notices(bank: &Bank, player: PlayerId) -> Vec<(String, Option<GameId>, Option<i64>)> {
    let inbox = bahay::notices::Notices::new(bank.pool.clone());
    let page = inbox.list(player, None, 10).await.unwrap();
    assert_eq!(inbox.count_unread(player).await.unwrap() as usize, page.items.len());
    let notices = page.items.into_iter();
    notices
        .map(|one| (one.kind, one.game.map(GameId), one.amount.map(|amount| amount.hundredths())))
        .collect()
}

/// Two nodes search; a game without a table is voided once, and a running one is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_without_its_table_is_voided_once_and_its_players_are_told() {
    let (bank, _live, nodes) = Node::start_pair().await;
    let (table, players) = seat_new_players(&nodes, &bank, [FUNDS; 3]).await;
    let mut seated = nodes[0].join_players(table, &players).await;
    deal(&nodes[0], &mut seated).await;
    let played = seated[0].table.phase().game().unwrap();

    let losers = bank.players([FUNDS; 3]).await;
    let lost = bank.open_game(&losers).await;
    // A table with this id was created anew, without players.
    let strangers = bank.players([FUNDS; 3]).await;
    let other = seat_players([&nodes[0]], &strangers[..1]).await;
    let usurped = bank.deal(other, &bank.players([FUNDS; 3]).await);
    bank.open(&usurped).await;

    until_voided(&bank, lost.game).await;
    until_voided(&bank, usurped.game).await;
    assert_eq!(bank.wallets(&losers).await, [FUNDS; 3]);
    for player in &losers {
        let told = notices(&bank, *player).await;
        assert_eq!(told, [("game_voided".to_owned(), Some(lost.game), Some(1_500))]);
    }
    assert_eq!(state(&bank, played).await, GameState::Open, "a game that is played is left alone");
    let voided = || nodes.iter().map(|node| node.tables().counts().voided_lost()).sum::<u64>();
    // An operation is visible before its caller has counted it.
    wait_until("both are counted", async || voided() >= 2).await;
    bank.audit_clean().await;
    assert_eq!(voided(), 2, "whoever comes second finds it done");
}

/// A whole table vanishes during play: its players are notified and sit down elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn players_whose_table_vanishes_are_told_and_sit_elsewhere() {
    let (bank, live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let (table, players) = seat_new_players([&node], &bank, [FUNDS; 3]).await;
    let mut seated = node.join_players(table, &players).await;
    let game = deal(&node, &mut seated).await;
    live.forget_table(table).await;
    for one in &mut seated {
        assert_eq!(one.watch_end().await, Some(bahay_shell::WatchEnd::Lost));
    }
    until_voided(&bank, game).await;
    assert_eq!(bank.wallets(&players).await, [FUNDS; 3]);
    let elsewhere = node.lobby.seat(players[0], "newbie").await.unwrap();
    assert!(node.tables().read_table(elsewhere).await.unwrap().is_some());
    bank.audit_clean().await;
}

/// Nodes that list a table at the same time may do so in the wrong order: the first player who is
/// sent there corrects the list, and no player is kept from a seat.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_table_that_is_listed_as_free_is_put_right() {
    let (bank, live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let (raw, _publications) = live.connect().await;
    let mut full = vec![];
    for _ in 0..3 {
        let players = bank.players([FUNDS; 3]).await;
        full.push((seat_players([&node], &players).await, players));
    }
    for (table, players) in &full {
        let older =
            TableListing { room: "newbie", seats: 3, has_pot: false, players: &players[..2] };
        raw.list_table(*table, older).await.unwrap();
    }
    assert_eq!(raw.open_tables("newbie").await.unwrap().len(), 3, "they are listed as free");
    let stranger = bank.players([FUNDS; 3]).await[0];
    let seat = node.lobby.seat(stranger, "newbie").await.unwrap();
    let open = raw.open_tables("newbie").await.unwrap();
    assert_eq!(open.iter().map(|open| open.table).collect::<Vec<_>>(), [seat]);
}

/// The POT of a lost table is refunded once to those who paid its antes; that of an existing table
/// stays, and so does one with an open game.
#[tokio::test(flavor = "multi_thread")]
async fn the_pot_of_a_lost_table_goes_back_to_who_paid_it() {
    let (bank, _live, node) = Node::with_stores(unhurried_clocks()).await;
    let tables = node.tables();
    let here = seat_players([&node], &bank.players([FUNDS; 3]).await).await;
    let gone = bank::table();
    let ante = ANTE.hundredths();
    let players = bank.players([FUNDS; 3]).await;
    // The paid-out coins belong to their receivers; the two later games left their antes there.
    let newcomers = [players[0], players[1], bank.player(FUNDS).await];
    bank.play(gone, &players, 0, 1, PotGoes::ToWinner).await;
    bank.play(here, &players, 0, 1, PotGoes::Nowhere).await;
    bank.play(gone, &players, 0, 1, PotGoes::Nowhere).await;
    bank.play(gone, &newcomers, 0, 1, PotGoes::Nowhere).await;
    let wallets = bank.wallets(&players).await;
    let open = bank.deal(gone, &players);
    bank.open(&open).await;
    let refused = tables.refund_pot(gone).await;
    assert!(
        matches!(refused, Err(OperateError::Ledger(LedgerError::TableBusy { .. }))),
        "{refused:?}"
    );
    assert!(tables.lost_pots().await.unwrap().is_empty());
    bank.void_game(&open).await;
    assert_eq!(bank.wallets(&players).await, wallets);

    let lost = tables.lost_pots().await.unwrap();
    assert_eq!(lost.iter().map(|lost| lost.table).collect::<Vec<_>>(), [gone]);
    assert_eq!(lost[0].pot.hundredths(), 6 * ante);
    let refused = tables.refund_pot(here).await;
    assert!(matches!(refused, Err(OperateError::Live)), "{refused:?}");
    let at_once = tokio::join!(tables.refund_pot(gone), tables.refund_pot(gone));
    let returned = [at_once.0, at_once.1].into_iter().find_map(Result::ok).unwrap();
    let mut shares: Vec<_> =
        returned.shares.iter().map(|one| (one.player, one.amount.hundredths())).collect();
    let mut expected = vec![
        (players[0], 2 * ante),
        (players[1], 2 * ante),
        (players[2], ante),
        (newcomers[2], ante),
    ];
    shares.sort();
    expected.sort();
    assert_eq!(shares, expected);
    let again = tables.refund_pot(gone).await;
    assert!(matches!(again, Err(OperateError::Ledger(LedgerError::PotEmpty { .. }))), "{again:?}");
    for (player, amount) in expected {
        let told = notices(&bank, player).await;
        let told: Vec<_> = told.iter().filter(|(kind, ..)| kind == "pot_refunded").collect();
        assert_eq!(told, [&("pot_refunded".to_owned(), None, Some(amount))]);
    }
    assert!(tables.lost_pots().await.unwrap().is_empty());
    bank.audit_clean().await;
}

/// Coins move atomically with their notice.
#[tokio::test]
async fn coins_that_nobody_can_be_told_of_do_not_move() {
    let (bank, players) = Bank::with_players([FUNDS; 3]).await;
    let gone = bank::table();
    bank.play(gone, &players, 0, 1, PotGoes::Nowhere).await;
    let lost = bank.open_game(&players).await;
    let (wallets, pot) = (bank.wallets(&players).await, format!("pot:{gone}"));
    let owner = bank.database.owner_pool().await;
    let full = "alter table notices add constraint full_inbox check (false) not valid";
    execute(&owner, full).await;
    bank.ledger.void_game(lost.game, &reason("for the test")).await.unwrap_err();
    bank.ledger.refund_pot(gone).await.unwrap_err();
    assert_eq!(bank.wallets(&players).await, wallets);
    assert_eq!(bank.balance(&pot).await, 3 * ANTE.hundredths());
    assert_eq!(state(&bank, lost.game).await, GameState::Open);

    execute(&owner, "alter table notices drop constraint full_inbox").await;
    bank.void_game(&lost).await;
    bank.ledger.refund_pot(gone).await.unwrap();
    assert_eq!(bank.balance(&pot).await, 0);
    let mut told: Vec<_> = notices(&bank, players[0]).await;
    told.sort();
    let expected = [
        ("game_voided".to_owned(), Some(lost.game), Some(1_500)),
        ("pot_refunded".to_owned(), None, Some(ANTE.hundredths())),
    ];
    assert_eq!(told, expected);
    bank.audit_clean().await;
}
