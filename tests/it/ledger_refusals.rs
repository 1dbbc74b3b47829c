//! Refusals by the ledger, its constraints and its audit.

use bahay::archive::GameState;
use bahay::ledger::audit::Difference;
use bahay::ledger::{
    AMOUNT_MAX, Grant, LedgerError, LedgerOptions, OpenGame, SettleGame, SettlementFault,
};
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PotPayout};
use futures_util::future::join_all;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::support::bank::{Bank, PotGoes, seat, settlement, table};
use crate::support::db::read_value;
use crate::support::reason;

/// Opens a game of three players with 100.00 each, and returns its settlement: one count from each
/// loser.
async fn opened(bank: &Bank) -> (OpenGame, SettleGame) {
    let players = bank.players([10_000; 3]).await;
    let game = bank.deal(table(), &players);
    let (stakes, pot) = bank.open(&game).await;
    let input = bank.finish(&game, settlement(0, 1, &stakes, PotGoes::Nowhere, pot));
    (game, input)
}

#[tokio::test]
async fn a_settlement_that_the_books_cannot_pay_is_refused_and_moves_nothing() {
    let bank = Bank::new().await;
    let (game, input) = opened(&bank).await;
    let wallets = bank.wallets(&game.players).await;
    let refuse = async |change: &dyn Fn(&mut SettleGame), fault: SettlementFault| {
        let mut input = input.clone();
        change(&mut input);
        let expected = LedgerError::Settlement { game: game.game, fault };
        assert_eq!(bank.ledger.settle_game(input).await, Err(expected));
    };
    let coins = Coins::from_hundredths;
    let fault =
        SettlementFault::StakeExceeded { seat: seat(1), stake: coins(1_400), paid: coins(1_401) };
    let pays_too_much = |it: &mut SettleGame| {
        it.settlement.payments[0].owed = coins(1_401);
        it.settlement.payments[0].paid = coins(1_401);
    };
    refuse(&pays_too_much, fault).await;
    let payout = |amount| Some(PotPayout { seat: seat(0), amount: coins(amount) });
    for amount in [0, 299, 301] {
        let fault = SettlementFault::PotDiffers { pot: coins(300), paid: coins(amount) };
        refuse(&|it| it.settlement.pot = payout(amount), fault).await;
    }
    let fault =
        SettlementFault::GrossDiffers { seat: seat(0), received: coins(200), gross: coins(201) };
    refuse(&|it| it.settlement.fees[0].gross = coins(201), fault).await;
    let fault = SettlementFault::SeatUnknown { seat: seat(3) };
    refuse(&|it| it.settlement.payments[0].from = seat(3), fault).await;
    assert_eq!(bank.wallets(&game.players).await, wallets);

    // A refusal is not remembered: the right settlement succeeds under the same key.
    bank.ledger.settle_game(input.clone()).await.unwrap();
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_game_is_settled_as_it_was_opened_and_only_while_it_is_open() {
    let bank = Bank::new().await;
    let (game, input) = opened(&bank).await;
    let refuse = async |change: &dyn Fn(&mut SettleGame), expected: LedgerError| {
        let mut input = input.clone();
        change(&mut input);
        assert_eq!(bank.ledger.settle_game(input).await, Err(expected));
    };
    let differs = |what| LedgerError::GameDiffers { game: game.game, what };
    let (other_table, other_game) = (table(), GameId(Uuid::new_v4()));
    refuse(&|it| it.table = other_table, differs("table")).await;
    refuse(&|it| it.room = "expert".into(), differs("room")).await;
    refuse(&|it| it.players.swap(0, 1), differs("players")).await;
    refuse(&|it| it.game = other_game, LedgerError::GameUnknown { game: other_game }).await;
    let unknown = LedgerError::GameUnknown { game: other_game };
    assert_eq!(bank.ledger.void_game(other_game, &reason("it was lost")).await, Err(unknown));

    bank.ledger.settle_game(input.clone()).await.unwrap();
    let not_open = |state| LedgerError::GameNotOpen { game: game.game, state };
    let refused = bank.ledger.void_game(game.game, &reason("it was lost")).await;
    assert_eq!(refused, Err(not_open(GameState::Settled)));

    let (game, input) = opened(&bank).await;
    bank.ledger.void_game(game.game, &reason("it was lost")).await.unwrap();
    let not_open = LedgerError::GameNotOpen { game: game.game, state: GameState::Voided };
    assert_eq!(bank.ledger.settle_game(input).await, Err(not_open));
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_table_plays_one_game_at_a_time() {
    let bank = Bank::new().await;
    let (first, input) = opened(&bank).await;
    let second = bank.deal(first.table, &first.players);
    let busy = LedgerError::TableBusy { table: first.table, game: first.game };
    assert!(busy.is_transient());
    assert_eq!(bank.ledger.open_game(second.clone()).await, Err(busy));
    bank.ledger.settle_game(input).await.unwrap();
    bank.open(&second).await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn input_out_of_bounds_is_refused_before_the_database_is_asked() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let refuse = async |change: &dyn Fn(&mut OpenGame)| {
        let mut input = bank.deal(table(), &players);
        change(&mut input);
        let refused = bank.ledger.open_game(input).await;
        assert!(matches!(refused, Err(LedgerError::Invalid { .. })), "{refused:?}");
    };
    let above = AMOUNT_MAX.checked_add(Coins::from_hundredths(1)).unwrap();
    refuse(&|it| it.ante = Coins::from_hundredths(-1)).await;
    refuse(&|it| it.ante = above).await;
    refuse(&|it| it.stake_max = Coins::ZERO).await;
    refuse(&|it| it.stake_max = above).await;
    refuse(&|it| it.players.truncate(1)).await;
    refuse(&|it| it.players[2] = it.players[0]).await;
    for kind in ["", "Tong-its", "tong its", "9ball", "_game", &"a".repeat(33)] {
        refuse(&|it| it.kind = kind.to_owned()).await;
    }
    refuse(&|it| it.room.clear()).await;
    refuse(&|it| it.room = "a\nb".into()).await;
    refuse(&|it| it.room = "a".repeat(129)).await;
    refuse(&|it| it.opened_at_ms = -1).await;
    for amount in [0, -1, i64::MAX] {
        let refused = bank.grant(players[0], Grant::Daily, amount).await;
        assert!(matches!(refused, Err(LedgerError::Invalid { .. })), "{refused:?}");
    }
    bank.audit_clean().await;
}

/// The runtime has one thread, so all ten are queued before the writer starts.
#[tokio::test]
async fn queued_operations_share_a_commit_and_a_refused_one_fails_alone() {
    let bank = Bank::new().await;
    let mut inputs = Vec::new();
    for _ in 0..10 {
        inputs.push(opened(&bank).await.1);
    }
    let batch_of = |inputs: &[SettleGame]| {
        join_all(inputs.iter().cloned().map(|input| bank.ledger.settle_game(input)))
    };
    for answer in batch_of(&inputs[..5]).await {
        answer.unwrap();
    }
    let times = "select count(distinct o.created_at) from operations o where o.kind = 'settle'";
    assert_eq!(read_value::<i64>(&bank.pool, times).await, 1);

    // PostgreSQL stores no NUL, so the batch's statement fails; the ledger refuses the other
    // operation.
    let name = std::mem::replace(&mut inputs[6].settlement.payments[0].items[0].name, "\0".into());
    inputs[8].settlement.fees.clear();
    let answers = batch_of(&inputs[5..]).await;
    let ends: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_ref().map_or_else(LedgerError::code, |_| ""))
        .collect();
    assert_eq!(ends, ["", "broken", "", "settlement_refused", ""]);
    assert_eq!(bank.wallets(&inputs[6].players).await, [8_500; 3]);
    assert_eq!(bank.wallets(&inputs[7].players).await, [10_090, 9_800, 9_800]);

    inputs[6].settlement.payments[0].items[0].name = name;
    bank.ledger.settle_game(inputs[6].clone()).await.unwrap();
    bank.audit_clean().await;
}

#[tokio::test]
async fn the_constraints_refuse_what_the_code_never_writes() {
    let bank = Bank::new().await;
    let (game, input) = opened(&bank).await;
    bank.ledger.settle_game(input).await.unwrap();
    let (busy, _) = opened(&bank).await;
    bank.ledger.project_house_entries().await.unwrap();
    let owner = bank.database.owner_pool().await;
    let refuse = async |sql: String, constraint: &str| {
        let error = sqlx::query(AssertSqlSafe(sql)).execute(&owner).await.unwrap_err();
        let error = error.into_database_error().expect("the database refuses");
        assert_eq!(error.constraint(), Some(constraint), "{error}");
    };
    let wallet = format!("wallet:{}", game.players[0]);
    let table = busy.table.to_string();
    let cases = [
        ("update accounts set balance = -1 where code = 'WALLET'", "accounts_not_overdrawn"),
        ("update accounts set balance = -1 where kind = 'fee'", "accounts_not_overdrawn"),
        ("update accounts set balance = -1 where kind = 'pot'", "accounts_not_overdrawn"),
        ("update accounts set version = -1 where kind = 'pot'", "accounts_version_check"),
        ("insert into accounts (code, kind) values ('issue', 'issue')", "accounts_code_key"),
        ("insert into accounts (code, kind) values ('fee:a', 'pot')", "accounts_kind_is_in_code"),
        (
            "insert into accounts (code, kind) values ('wallet:a', 'wallet')",
            "accounts_wallet_has_player",
        ),
        ("insert into transfers values (900, 1, 'ante', 3, 4, 0)", "transfers_move_something"),
        ("insert into transfers values (900, 1, 'ante', 3, 4, -5)", "transfers_move_something"),
        ("insert into transfers values (900, 1, 'ante', 3, 3, 5)", "transfers_go_elsewhere"),
        ("insert into transfers values (900, 1, 'gift', 3, 4, 5)", "transfers_code_check"),
        ("insert into entries values (3, 900, 900, 1, 5, 0, 6)", "entries_add_up"),
        (
            "insert into operation_keys select key, 900 from operations limit 1",
            "operation_keys_pkey",
        ),
        (
            "insert into games (id, kind, table_id, room, ante, commitment, opened_at)
            values (gen_random_uuid(), 'tongits', 'TABLE', 'newbie', 100, sha256(''), now())",
            "games_open_at_table",
        ),
        ("update games set kind = 'Tong-its'", "games_kind_check"),
        ("update games set kind = ''", "games_kind_check"),
        (
            "insert into game_results (game, ending) select g.id, 'a fight' from games g",
            "game_results_ending_check",
        ),
        ("update games set state = 'voided' where state = 'open'", "games_finish_once"),
        ("update game_players set net = null where net is not null", "game_players_finish_once"),
    ];
    for (sql, constraint) in cases {
        refuse(sql.replace("WALLET", &wallet).replace("TABLE", &table), constraint).await;
    }
    // The constraints of a partition carry its name.
    for table in ["operations", "transfers", "entries"] {
        let part = format!("select tableoid::regclass || '_pkey' from {table} limit 1");
        let part: String = read_value(&bank.pool, &part).await;
        refuse(format!("insert into {table} select * from {table} limit 1"), &part).await;
    }
    bank.audit_clean().await;
}

/// Returns true for the planted difference.
type MatchesPlanted = fn(&Difference) -> bool;

/// The audit itself is tested: it must find planted differences.
#[tokio::test]
async fn the_audit_finds_what_was_tampered_with() {
    let bank = Bank::new().await;
    let (game, input) = opened(&bank).await;
    bank.ledger.settle_game(input).await.unwrap();
    let (open, _) = opened(&bank).await;
    bank.audit_clean().await;
    let wallet = format!("(select id from accounts where code = 'wallet:{}')", game.players[0]);
    let stake = format!("'stake:{}:0'", open.game);
    let settle = format!("(select id from operations where key = 'settle:{}')", game.game);
    let owner = bank.database.owner_pool().await;
    let cases: [(String, MatchesPlanted); 15] = [
        (format!("delete from operation_keys where operation = {settle}"), |it| {
            matches!(it, Difference::KeyMismatch { .. })
        }),
        (format!("update operation_keys set key = 'x' where operation = {settle}"), |it| {
            matches!(it, Difference::KeyMismatch { .. })
        }),
        (format!("update operation_keys set operation = 900 where operation = {settle}"), |it| {
            matches!(it, Difference::KeyMismatch { operation: 900 })
        }),
        (format!("update accounts set balance = balance + 1 where id = {wallet}"), |it| {
            matches!(it, Difference::SumNotZero { .. })
        }),
        (format!("update accounts set version = version + 1 where id = {wallet}"), |it| {
            matches!(it, Difference::BalanceDiffers { .. })
        }),
        (
            format!("update entries set version = 99 where account = {wallet} and version = 2"),
            |it| matches!(it, Difference::EntryBroken { .. }),
        ),
        (
            format!(
                "update entries set balance_before = balance_before + 1,
                    balance_after = balance_after + 1
                where account = {wallet} and version = 2"
            ),
            |it| matches!(it, Difference::EntryBroken { version: 2, .. }),
        ),
        (
            format!(
                "update transfers set amount = amount + 1 where operation = {settle} and number = 1"
            ),
            |it| matches!(it, Difference::EntriesDiffer { number: 1, .. }),
        ),
        (format!("delete from entries where operation = {settle} and number = 2"), |it| {
            matches!(it, Difference::EntriesDiffer { number: 2, .. })
        }),
        (format!("insert into pending_house_entries (operation) values ({settle})"), |it| {
            matches!(it, Difference::EntriesDiffer { number: 3, .. })
        }),
        (format!("delete from operations where id = {settle}"), |it| {
            matches!(it, Difference::DanglingTransfer { number: 1, .. })
        }),
        (
            "insert into game_players (game, player, seat, stake)
            values (gen_random_uuid(), gen_random_uuid(), 0, 1)"
                .into(),
            |it| matches!(it, Difference::DanglingGameReference { .. }),
        ),
        (format!("update accounts set balance = 0 where code = {stake}"), |it| {
            matches!(it, Difference::StakeDiffers { .. })
        }),
        ("update accounts set balance = balance + 1 where kind = 'pot'".into(), |it| {
            matches!(it, Difference::PotDiffers { .. })
        }),
        ("update accounts set balance = 1 where kind = 'suspense'".into(), |it| {
            matches!(it, Difference::SuspenseInUse { .. })
        }),
    ];
    for (tamper, found) in cases {
        // Each on a clean copy, because the previous one is rolled back.
        let mut tx = owner.begin().await.unwrap();
        sqlx::query(AssertSqlSafe(tamper.clone())).execute(&mut *tx).await.unwrap();
        let report = bahay::ledger::audit::audit_in_tx(&mut tx).await.unwrap();
        assert!(report.differences.iter().any(found), "{tamper}: {:?}", report.differences);
        assert!(!report.is_clean());
        tx.rollback().await.unwrap();
    }
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_stopped_ledger_answers_what_waits_and_then_refuses() {
    let bank = Bank::new().await;
    let (ledger, tasks) = bahay::ledger::Ledger::start(bank.pool.clone(), LedgerOptions::default());
    let players = bank.players([10_000; 3]).await;
    let game = bank.deal(table(), &players);
    let (answer, ()) = tokio::join!(ledger.open_game(game.clone()), tasks.stop());
    answer.unwrap();
    let refused = ledger.open_game(game).await.unwrap_err();
    assert_eq!((refused.code(), refused.is_transient()), ("unavailable", true));
    bank.audit_clean().await;
}
