//! Defective tables: halted on every node, and released or voided.

use bahay::archive::halted::{self, HaltedTable};
use bahay::ledger::{Refunds, VoidPreview};
use bahay::lobby::house_rooms;
use bahay::tables::{OperateError, TableError, VoidedTable};
use bahay_engine::coins::Coins;
use bahay_engine::games::tongits;
use bahay_engine::table::{Clocks, Input, Terms};
use bahay_shell::STORE_FAULT;
use redis::AsyncCommands as _;
use tokio::task::JoinSet;

use super::start_tables;
use crate::support::bank::{ANTE, Bank, PotGoes};
use crate::support::db::execute;
use crate::support::fragile::{Fragile, Fuse};
use crate::support::house::{ai_clocks, unhurried_clocks};
use crate::support::live::TestLive;
use crate::support::node::{
    Node, become_ready, create_table, deal, seat_new_players, seat_players,
};
use crate::support::reason;
use crate::support::waiting::{wait_for, wait_until};

const FUNDS: i64 = 100_000;

async fn noted(bank: &Bank) -> Vec<HaltedTable> {
    wait_for("a halt is written down", async || {
        Some(halted::list_halted(&bank.pool).await.unwrap()).filter(|halted| !halted.is_empty())
    })
    .await
}

/// A journal that cannot be replayed: halted everywhere, released once it is repaired, otherwise
/// voided.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_whose_journal_is_spoiled_is_halted_mended_and_voided() {
    let (bank, live, nodes) = Node::start_pair().await;
    let (table, players) = seat_new_players(&nodes, &bank, [FUNDS; 3]).await;
    let mut seated = nodes[0].join_players(table, &players).await;
    let game = deal(&nodes[0], &mut seated).await;
    let mut raw = live.raw().await;
    let journal = live.table_key(table, "journal");

    let _: i64 = raw.rpush(&journal, r#"{"at":0,"input":{"type":"tick"}}"#).await.unwrap();
    let leave = Input::Leave { player: players[0] };
    for node in &nodes {
        let told = node.tables().submit(table, leave.clone()).await;
        assert!(matches!(told, Err(TableError::Halted)), "{told:?}");
        let looked = node.tables().read_table(table).await;
        assert!(matches!(looked, Err(TableError::Halted)), "{looked:?}");
    }
    let halted = noted(&bank).await;
    assert_eq!(halted.len(), 1, "{halted:?}");
    assert_eq!((halted[0].table, halted[0].game), (table, Some(game)));
    assert_eq!(halted[0].room.as_deref(), Some("newbie"));
    assert!(halted[0].reason.contains("no deadline has passed"), "{}", halted[0].reason);
    let counted: u64 = nodes.iter().map(|node| node.tables().counts().halted()).sum();
    assert_eq!(counted, 1, "it is halted once");
    let refused = nodes[0].tables().release(table).await;
    assert!(matches!(refused, Err(OperateError::Broken(_))), "{refused:?}");

    let _: String = raw.rpop(&journal, None).await.unwrap();
    nodes[1].tables().release(table).await.unwrap();
    assert!(halted::list_halted(&bank.pool).await.unwrap().is_empty());
    nodes[0].tables().submit(table, leave.clone()).await.unwrap();
    let again = nodes[1].tables().release(table).await;
    assert!(matches!(again, Err(OperateError::NotHalted)), "{again:?}");

    let _: i64 = raw.rpush(&journal, "not even JSON").await.unwrap();
    let looked = nodes[1].tables().read_table(table).await;
    assert!(matches!(looked, Err(TableError::Halted)), "{looked:?}");
    let voided = nodes[1].tables().void(table, &reason("its journal is spoiled")).await.unwrap();
    assert_eq!((voided.game, voided.was_live), (Some(game), true));
    assert_eq!(bank.wallets(&players).await, [FUNDS; 3]);
    for one in &mut seated {
        assert_eq!(one.watch_end().await, Some(bahay_shell::WatchEnd::Voided));
    }
    let again = nodes[0].tables().void(table, &reason("once more, again")).await;
    assert!(matches!(again, Err(OperateError::NothingToVoid)), "{again:?}");
    for player in &players {
        nodes[0].lobby.seat(*player, "newbie").await.unwrap();
    }
    assert!(halted::list_halted(&bank.pool).await.unwrap().is_empty());
    bank.audit_clean().await;
}

/// An operator may halt a table between games and without a defect.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_without_a_game_is_ended_and_its_players_are_free() {
    let (bank, _live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let players = bank.players([FUNDS; 3]).await;
    let table = seat_players([&node], &players[..2]).await;
    let voided = node.tables().void(table, &reason("the room closes")).await.unwrap();
    let expected = VoidedTable { game: None, was_live: true, refunds: Refunds::default() };
    assert_eq!(voided, expected);
    assert_eq!(node.lobby.seated_at(players[0]).await.unwrap(), None);
    assert_ne!(node.lobby.seat(players[0], "newbie").await.unwrap(), table);
}

/// The POT of earlier games is refunded with the game, as the preview states. The refund may fail
/// after the game was voided and the table removed: the order, repeated, completes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_void_refunds_the_pot_and_a_repeated_order_completes_it() {
    let (bank, _live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let tables = node.tables();
    let why = reason("a player complains");
    let (table, players) = seat_new_players([&node], &bank, [FUNDS; 3]).await;
    // A player who has left paid an ante, too.
    let former = [players[0], players[1], bank.player(FUNDS).await];
    bank.play(table, &former, 0, 1, PotGoes::Nowhere).await;
    let mut seated = node.join_players(table, &players).await;
    let everybody = [players[0], players[1], players[2], former[2]];
    let before = bank.wallets(&everybody).await;
    let game = deal(&node, &mut seated).await;

    let held = bank.wallets(&everybody).await;
    let preview = bank.ledger.preview_void(table).await.unwrap();
    assert_eq!((preview.game, preview.pot.hundredths()), (Some(game), 3 * ANTE.hundredths()));
    let refunds = preview.refunds.as_slice();
    let shares: Vec<_> = refunds.iter().map(|one| (one.player, one.ante, one.pot)).collect();
    let none = Coins::ZERO;
    let expected = [(players[0], ANTE, ANTE), (players[1], ANTE, ANTE), (players[2], ANTE, none)];
    assert_eq!(shares[..3], expected);
    assert_eq!(shares[3..], [(former[2], none, ANTE)]);
    let total = |player| {
        let refund = refunds.iter().find(|one| one.player == player).unwrap();
        Coins::checked_sum([refund.stake, refund.ante, refund.pot]).unwrap().hundredths()
    };
    let after: Vec<_> = everybody.iter().zip(&held).map(|(one, now)| now + total(*one)).collect();

    let owner = bank.database.owner_pool().await;
    let full =
        "alter table notices add constraint full_inbox check (kind <> 'pot_refunded') not valid";
    execute(&owner, full).await;
    tables.void(table, &why).await.unwrap_err();
    let rest = bank.ledger.preview_void(table).await.unwrap();
    assert_eq!((rest.game, rest.pot), (None, preview.pot));
    execute(&owner, "alter table notices drop constraint full_inbox").await;
    let voided = tables.void(table, &why).await.unwrap();
    assert_eq!((voided.game, voided.was_live), (None, false));
    assert_eq!(voided.refunds, rest.refunds);
    assert_eq!(bank.wallets(&everybody).await, after);
    let share = ANTE.hundredths();
    let expected: Vec<_> =
        before.iter().zip([share, share, 0, share]).map(|(a, b)| a + b).collect();
    assert_eq!(after, expected);
    assert_eq!(bank.ledger.preview_void(table).await.unwrap(), VoidPreview::default());
    let again = tables.void(table, &why).await;
    assert!(matches!(again, Err(OperateError::NothingToVoid)), "{again:?}");
    bank.audit_clean().await;
}

/// An order that ended after it voided the game finds the table in that game: its repetition reports
/// the coins that were refunded.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_order_reports_the_game_that_an_interrupted_one_voided() {
    let (bank, _live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let (table, players) = seat_new_players([&node], &bank, [FUNDS; 3]).await;
    let mut seated = node.join_players(table, &players).await;
    let game = deal(&node, &mut seated).await;
    let preview = bank.ledger.preview_void(table).await.unwrap();
    bank.ledger.void_game(game, &reason("an interrupted order")).await.unwrap();
    let voided = node.tables().void(table, &reason("the order, repeated")).await.unwrap();
    let expected = VoidedTable { game: Some(game), was_live: true, refunds: preview.refunds };
    assert_eq!(voided, expected);
    assert_eq!(bank.wallets(&players).await, [FUNDS; 3]);
    bank.audit_clean().await;
}

/// The books were tampered with, so the ledger refuses the settlement permanently: the table is
/// halted instead of retrying for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_whose_game_cannot_be_settled_is_halted() {
    let (bank, _live, node) = Node::start_with_stores(ai_clocks(1)).await;
    let (table, players) = seat_new_players([&node], &bank, [FUNDS; 3]).await;
    let mut seated = node.join_players(table, &players).await;
    let game = deal(&node, &mut seated).await;
    bank.ledger.void_game(game, &reason("behind the table's back")).await.unwrap();
    for one in &seated {
        node.tables().handle_connection_end(one.connection).await;
    }
    let halted = noted(&bank).await;
    assert_eq!(halted[0].table, table);
    assert!(halted[0].reason.contains("voided, not open"), "{}", halted[0].reason);
    node.tables().void(table, &reason("settled by hand")).await.unwrap();
    assert_eq!(bank.wallets(&players).await, [FUNDS; 3]);
    bank.audit_clean().await;
}

/// A journal of another engine version is left to nodes with that version.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_another_version_is_left_to_others() {
    let (bank, live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let other = Node::start(&bank, &live, unhurried_clocks()).await;
    let players = bank.players([FUNDS; 3]).await;
    let table = seat_players([&node], &players[..1]).await;
    let mut raw = live.raw().await;
    let head = live.table_key(table, "head");
    let _: i64 = raw.hset(&head, "engine", 999).await.unwrap();
    let looked = other.tables().read_table(table).await;
    assert!(matches!(looked, Err(TableError::OtherVersion)), "{looked:?}");
    let told = other.tables().submit(table, Input::Leave { player: players[0] }).await;
    assert!(matches!(told, Err(TableError::OtherVersion)), "{told:?}");
    assert!(other.tables().counts().other_version() >= 2);
    assert_eq!(other.tables().counts().halted(), 0);
    let released: bool = raw.hexists(&head, "halted").await.unwrap();
    assert!(!released, "a table that others can play is not halted");
    // A new player is given another table.
    let seat = other.lobby.seat(players[1], "newbie").await.unwrap();
    assert_ne!(seat, table);
}

/// Returns the terms of the newbie room for a game with this bug.
fn fragile_terms(fuse: Fuse, clocks: Clocks) -> Terms<(Fuse, tongits::Rules)> {
    let Terms {
        room,
        rules: _,
        price,
        hits,
        clocks,
        spectators,
        bots,
        private,
        practice,
        tournament,
    } = house_rooms(clocks)[0].terms().clone();
    let rules = (fuse, tongits::Rules::kingdom());
    Terms { room, rules, price, hits, clocks, spectators, bots, private, practice, tournament }
}

/// A panic in the engine affects only its table: halted, recorded, voided, and the node continues.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_over_a_table_halts_that_table_and_nothing_else() {
    for (fuse, words) in [
        (Fuse::Act, "a bug in applying an action"),
        (Fuse::Advise, "a bug in choosing an action"),
        (Fuse::View, "a bug in making a view"),
    ] {
        let (bank, live) = (Bank::new().await, TestLive::new());
        let tables = start_tables::<Fragile>(&bank, &live).await;
        let mut tasks = JoinSet::new();
        tasks.spawn(tables.clone().run_ticker());
        let players = bank.players([FUNDS; 3]).await;
        let table = create_table(&tables, fragile_terms(fuse, ai_clocks(1)), &players).await;
        let game = become_ready(&tables, table, &players).await;
        // No player is connected, so the AI is asked, and its answer is an action.
        let halted = noted(&bank).await;
        assert_eq!((halted[0].table, halted[0].game), (table, Some(game)));
        assert!(halted[0].reason.contains(words), "{}", halted[0].reason);
        let told = tables.submit(table, Input::Tick).await;
        assert!(matches!(told, Err(TableError::Halted | TableError::Rejected(_))), "{told:?}");
        let voided = tables.void(table, &reason("the engine has a bug")).await.unwrap();
        assert_eq!(voided.game, Some(game));
        assert_eq!(bank.wallets(&players).await, [FUNDS; 3]);
        create_table(&tables, fragile_terms(fuse, Clocks::default()), &players[..1]).await;
        bank.audit_clean().await;
    }
}

/// A halt caused by a store's error ends by itself when the store answers; any other needs an
/// operator.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_a_store_halted_is_released_by_itself_and_no_other() {
    let (bank, live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let (table, players) = seat_new_players([&node], &bank, [FUNDS; 3]).await;
    let others = bank.players([FUNDS; 1]).await;
    let (redis, _publications) = live.connect().await;
    let terms = house_rooms(Clocks::default())[0].terms().clone();
    let stopped = create_table(node.tables(), terms, &others).await;
    let engine = node.read_table(table).await.engine();
    let why = format!("{STORE_FAULT}the ledger is broken: permission denied");
    redis.halt(stopped, engine, "a panic: permission denied").await.unwrap();
    redis.halt(table, engine, &why).await.unwrap();

    wait_until("the table is released", async || {
        redis.load(table).await.unwrap().unwrap().halted.is_none()
    })
    .await;
    node.tables().submit(table, Input::Leave { player: players[0] }).await.unwrap();
    // The note of a released table is removed after the release.
    wait_until("only the other table is noted", async || {
        noted(&bank).await.iter().map(|one| one.table).eq([stopped])
    })
    .await;
    let told = node.tables().submit(stopped, Input::Leave { player: others[0] }).await;
    assert!(matches!(told, Err(TableError::Halted)), "{told:?}");
    node.tables().release(stopped).await.unwrap();
}
