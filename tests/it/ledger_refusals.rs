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
    bank.ledger.seal_operations().await.unwrap();
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
        ("update accounts set kind = 'gift' where kind = 'pot'", "account_kind_check"),
        ("update operations set kind = 'gift'", "operation_kind_check"),
        ("update operations set amounts[1] = 0", "positive_bigints_check"),
        ("update operations set amounts[1] = null", "positive_bigints_check"),
        ("update operations set amounts[1] = -5", "positive_bigints_check"),
        ("update operations set codes[1] = 'gift'", "transfer_codes_check"),
        ("update operations set codes = codes[2:]", "operations_transfers_are_whole"),
        ("update operations set sources = sources[2:]", "operations_transfers_are_whole"),
        ("update operations set destinations = '{}'", "operations_transfers_are_whole"),
        ("update operations set amounts = amounts || 5::bigint", "operations_transfers_are_whole"),
        ("update operations set accounts = accounts[2:]", "operations_states_are_whole"),
        ("update operations set versions = '{}'", "operations_states_are_whole"),
        ("update operations set balances = balances || 0::bigint", "operations_states_are_whole"),
        ("update operations set versions[1] = -1", "natural_bigints_check"),
        ("update operations set amounts[0] = 1", "positive_bigints_check"),
        ("update operations set codes[0] = 'ante'", "transfer_codes_check"),
        ("update operations set versions[0] = 0", "natural_bigints_check"),
        ("update operations set sources = array[sources::bigint[]]", "positive_bigints_check"),
        ("update operations set codes = array[codes::text[]]", "transfer_codes_check"),
        ("update operations set balances = array[balances::bigint[]]", "natural_bigints_check"),
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
    for table in ["operations", "account_operations"] {
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
    let (playing, _) = opened(&bank).await;
    bank.audit_clean().await;
    let wallet = format!("(select id from accounts where code = 'wallet:{}')", game.players[0]);
    let stake = format!("'stake:{}:0'", playing.game);
    let [open, settle] = ["open", "settle"]
        .map(|kind| format!("(select id from operations where key = '{kind}:{}')", game.game));
    let at = format!("array_position(accounts, {wallet})");
    let owner = bank.database.owner_pool().await;
    let key: MatchesPlanted = |it| matches!(it, Difference::KeyMismatch { .. });
    let unknown_key: MatchesPlanted = |it| matches!(it, Difference::KeyMismatch { operation: 900 });
    let sum: MatchesPlanted = |it| matches!(it, Difference::SumNotZero { .. });
    let balance: MatchesPlanted = |it| matches!(it, Difference::BalanceDiffers { .. });
    let lowest_balance: MatchesPlanted = |it| {
        matches!(
            it,
            Difference::BalanceDiffers { sum, .. }
                if *sum == Coins::from_hundredths(-i64::MAX)
        )
    };
    let entry: MatchesPlanted = |it| matches!(it, Difference::EntryBroken { .. });
    let state_missing: MatchesPlanted =
        |it| matches!(it, Difference::StateDiffers { states: 0, expected: 1, .. });
    let state_twice: MatchesPlanted =
        |it| matches!(it, Difference::StateDiffers { states: 2, expected: 1, .. });
    let state_added: MatchesPlanted =
        |it| matches!(it, Difference::StateDiffers { states: 1, expected: 0, .. });
    let unlisted: MatchesPlanted =
        |it| matches!(it, Difference::ListingDiffers { listed: 0, expected: 1, .. });
    let listed: MatchesPlanted =
        |it| matches!(it, Difference::ListingDiffers { listed: 1, expected: 0, .. });
    let unknown_listed: MatchesPlanted = |it| {
        matches!(it, Difference::ListingDiffers { operation: 900, listed: 1, expected: 0, .. })
    };
    let foreign_stake: MatchesPlanted = |it| matches!(it, Difference::ForeignStake { .. });
    let transfer_2: MatchesPlanted =
        |it| matches!(it, Difference::InvalidTransfer { number: 2, .. });
    let transfer_3: MatchesPlanted =
        |it| matches!(it, Difference::InvalidTransfer { number: 3, .. });
    let dangling: MatchesPlanted = |it| matches!(it, Difference::DanglingGameReference { .. });
    let stake_differs: MatchesPlanted = |it| matches!(it, Difference::StakeDiffers { .. });
    let pot: MatchesPlanted = |it| matches!(it, Difference::PotDiffers { .. });
    let suspense: MatchesPlanted = |it| matches!(it, Difference::SuspenseInUse { .. });
    let cases = [
        ("delete from operation_keys where operation = SETTLE", key),
        ("update operation_keys set key = 'x' where operation = SETTLE", key),
        ("update operation_keys set operation = 900 where operation = SETTLE", unknown_key),
        ("update accounts set balance = balance + 1 where id = WALLET", sum),
        ("update accounts set version = version + 1 where id = WALLET", balance),
        ("update operations set versions[AT] = 99 where id = SETTLE", entry),
        ("update operations set balances[AT] = balances[AT] + 1 where id = SETTLE", entry),
        // Sums beyond the range of their type do not stop the audit.
        ("update operations set versions[AT] = MAX where id = OPEN", entry),
        (
            "update operations set amounts = array_fill(MAX::bigint, array[cardinality(amounts)])
            where id = OPEN",
            lowest_balance,
        ),
        // Found at the next operation of the account, and in its balance.
        ("update operations set amounts[1] = amounts[1] + 1 where id = OPEN", entry),
        ("update operations set amounts[1] = amounts[1] + 1 where id = SETTLE", balance),
        (
            "update operations set codes = codes[2:], sources = sources[2:],
                destinations = destinations[2:], amounts = amounts[2:]
            where id = SETTLE",
            balance,
        ),
        ("insert into unsealed_operations (operation) values (SETTLE)", balance),
        (
            "update operations set accounts = accounts[2:], versions = versions[2:],
                balances = balances[2:]
            where id = SETTLE",
            state_missing,
        ),
        ("update operations set accounts[1] = accounts[2] where id = SETTLE", state_twice),
        (
            "update operations set
                accounts = accounts || (select id from accounts where kind = 'fee'),
                versions = versions || 0::bigint, balances = balances || 0::bigint
            where id = SETTLE",
            state_added,
        ),
        ("delete from account_operations where operation = SETTLE", unlisted),
        (
            "insert into account_operations select id, SETTLE from accounts where code = STAKE",
            listed,
        ),
        // No list of the stake account has it.
        ("update operations set key = 'open:' || gen_random_uuid() where id = OPEN", foreign_stake),
        ("insert into account_operations values (WALLET, 900)", unknown_listed),
        ("update operations set sources[2] = 99 where id = SETTLE", transfer_2),
        ("update operations set destinations[3] = sources[3] where id = SETTLE", transfer_3),
        ("delete from operations where id = OPEN", entry),
        ("delete from operations where id = SETTLE", listed),
        (
            "insert into game_players (game, player, seat, stake)
            values (gen_random_uuid(), gen_random_uuid(), 0, 1)",
            dangling,
        ),
        ("update accounts set balance = 0 where code = STAKE", stake_differs),
        ("update accounts set balance = balance + 1 where kind = 'pot'", pot),
        ("update accounts set balance = 1 where kind = 'suspense'", suspense),
    ];
    for (tamper, found) in cases {
        let tamper = tamper.replace("SETTLE", &settle).replace("OPEN", &open).replace("AT", &at);
        let tamper = tamper.replace("WALLET", &wallet).replace("STAKE", &stake);
        let tamper = tamper.replace("MAX", &i64::MAX.to_string());
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
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let (ledger, tasks) = bahay::ledger::Ledger::start(bank.pool.clone(), LedgerOptions::default());
    let game = bank.deal(table(), &players);
    let (answer, ()) = tokio::join!(ledger.open_game(game.clone()), tasks.stop());
    answer.unwrap();
    let refused = ledger.open_game(game).await.unwrap_err();
    assert_eq!((refused.code(), refused.is_transient()), ("unavailable", true));
    bank.audit_clean().await;
}
