//! Corrections: adjustments of wallets by operators, and reversals of operations.
//!
//! A correction changes no booked row; it is another operation. Typed errors reject what a
//! correction may not do: an adjustment cannot overdraw a wallet, an operation is reversed at most
//! once, and an operation that belongs to several games is not reversed at all. The module does not
//! know who requests a correction and who approves it: see `operators`.
//!
//! The transfers of an operation are read without locks, because they never change.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgExecutor};

use super::Ledger;
use super::books::{Books, Move};
use super::chart::{Account, Code};
use super::error::LedgerError;
use super::operation::Operation;
use crate::db;
use crate::ids::CorrectionId;

/// An adjustment: coins from `issue` to a wallet, which is created if it does not exist, or from a
/// wallet back to `issue`. Its key is `adjust:<correction>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdjustWallet {
    pub correction: CorrectionId,
    pub player: PlayerId,
    /// The amount; negative if coins are taken.
    pub amount: Coins,
}

/// A reversal of an operation. Its key is `reverse:<operation>`, so each operation is reversed at
/// most once, by whichever correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReverseOperation {
    pub correction: CorrectionId,
    pub operation: i64,
}

/// A booked correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookedCorrection {
    /// The id of the operation that booked it.
    pub operation: i64,
}

/// The stored answer of a correction or a sweep. It lacks the operation's id, which is assigned on
/// writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PostedAmount {
    /// The sum of all transfers.
    amount: Coins,
}

/// A planned reversal.
#[derive(Clone, Debug)]
pub(super) struct Reversal {
    pub(super) input: ReverseOperation,
    pub(super) game: Option<GameId>,
    /// Fees come first, so that a winner has the fee back before repaying the winnings.
    pub(super) moves: Vec<Move>,
}

impl Ledger {
    /// Adds coins to a wallet or takes them from it, in the caller's transaction, which holds the
    /// wallet's lock from here on. After a database error the transaction is unusable.
    pub async fn adjust_in_tx(
        &self,
        connection: &mut PgConnection,
        input: AdjustWallet,
    ) -> Result<BookedCorrection, LedgerError> {
        self.correct_in_tx(connection, Operation::Adjust(input)).await
    }

    /// Reverses an operation, in the caller's transaction, like [`Ledger::adjust_in_tx`].
    pub async fn reverse_in_tx(
        &self,
        connection: &mut PgConnection,
        input: ReverseOperation,
    ) -> Result<BookedCorrection, LedgerError> {
        let booked = read_operation(connection, input.operation).await?;
        let reversal = plan_reversal(input, &booked)?;
        match check_fees(connection, &reversal.moves).await {
            // The former holder of the lock may have reversed this very fee.
            Err(LedgerError::Overdrawn { .. })
                if read_operation(connection, input.operation).await?.is_reversed =>
            {
                return Err(LedgerError::AlreadyReversed { operation: input.operation });
            }
            checked => checked?,
        }
        match self.correct_in_tx(connection, Operation::Reverse(reversal)).await {
            Err(LedgerError::KeyReused { .. }) => {
                Err(LedgerError::AlreadyReversed { operation: input.operation })
            }
            corrected => corrected,
        }
    }

    async fn correct_in_tx(
        &self,
        connection: &mut PgConnection,
        operation: Operation,
    ) -> Result<BookedCorrection, LedgerError> {
        let key = operation.key();
        let PostedAmount { .. } = self.run_in_tx(connection, operation).await?;
        let operation =
            sqlx::query_scalar!("select k.operation from operation_keys k where k.key = $1", key)
                .fetch_one(connection)
                .await?;
        Ok(BookedCorrection { operation })
    }

    /// Checks whether an operation is reversible as far as is known now, so that a request that
    /// must be refused is not made. Wallets are not checked.
    pub async fn check_reversible(&self, operation: i64) -> Result<(), LedgerError> {
        let booked = db::retry(|| find_operation(&self.reads, operation)).await?;
        let booked = booked.ok_or(LedgerError::OperationUnknown { operation })?;
        plan_reversal(ReverseOperation { correction: CorrectionId::NIL, operation }, &booked)?;
        if booked.is_reversed {
            return Err(LedgerError::AlreadyReversed { operation });
        }
        Ok(())
    }
}

pub(super) fn adjust(
    input: &AdjustWallet,
    operation: i64,
    books: &mut Books,
) -> Result<PostedAmount, LedgerError> {
    let wallet = Account::Wallet(input.player);
    let (source, destination) = if input.amount.is_negative() {
        (wallet, Account::Issue)
    } else {
        (Account::Issue, wallet)
    };
    let amount = if input.amount.is_negative() {
        Coins::ZERO.checked_sub(input.amount)
    } else {
        Some(input.amount)
    };
    let amount = amount.ok_or_else(|| LedgerError::broken("an amount does not fit 64 bits"))?;
    let adjustment = Move { code: Code::Adjustment, source, destination, amount };
    post_covered(operation, &[adjustment], books)
}

pub(super) fn reverse(
    input: &Reversal,
    operation: i64,
    books: &mut Books,
) -> Result<PostedAmount, LedgerError> {
    post_covered(operation, &input.moves, books)
}

/// Posts the transfers if the wallets cover all of them, and rejects the operation otherwise.
/// Unlike in a game, nothing is held in advance.
pub(super) fn post_covered(
    operation: i64,
    moves: &[Move],
    books: &mut Books,
) -> Result<PostedAmount, LedgerError> {
    let overflow = || LedgerError::broken("an amount does not fit 64 bits");
    let mut left: BTreeMap<&Account, Coins> = BTreeMap::new();
    for Move { source, destination, amount, .. } in moves {
        if !source.is_house() {
            let balance = *left.entry(source).or_insert_with(|| books.balance(source));
            let rest = balance.checked_sub(*amount).ok_or_else(overflow)?;
            if rest.is_negative() {
                let account = source.to_string();
                let amount = *amount;
                return Err(LedgerError::Overdrawn { account, balance, amount });
            }
            left.insert(source, rest);
        }
        if !destination.is_house() {
            let balance = *left.entry(destination).or_insert_with(|| books.balance(destination));
            left.insert(destination, balance.checked_add(*amount).ok_or_else(overflow)?);
        }
    }
    books.post(operation, moves)?;
    let amount = Coins::checked_sum(moves.iter().map(|one| one.amount)).ok_or_else(overflow)?;
    Ok(PostedAmount { amount })
}

/// An operation as booked.
struct BookedOperation {
    kind: String,
    game: Option<GameId>,
    is_reversed: bool,
    transfers: Vec<BookedTransfer>,
}

struct BookedTransfer {
    code: Code,
    source: TransferSide,
    destination: TransferSide,
    amount: Coins,
}

/// One side of a transfer, as far as a reversal needs it.
enum TransferSide {
    Wallet(PlayerId),
    /// The stake of this player.
    Stake(PlayerId),
    Issue,
    /// The fee account of a room.
    Fee(String),
    /// An account that several games share, or nobody in particular.
    Other,
}

fn plan_reversal(
    input: ReverseOperation,
    booked: &BookedOperation,
) -> Result<Reversal, LedgerError> {
    let operation = input.operation;
    let refuse = |why| LedgerError::NotReversible { operation, why };
    let mut moves = match booked.kind.as_str() {
        "grant" | "adjust" => booked.transfers.iter().map(reverse_transfer).collect(),
        "settle" => {
            if booked.transfers.iter().any(|transfer| transfer.code == Code::Pot) {
                return Err(refuse(
                    "it paid a POT, which belongs to several games: adjust instead",
                ));
            }
            let released = |transfer: &&BookedTransfer| transfer.code == Code::Release;
            let paid = booked.transfers.iter().filter(|transfer| !released(transfer));
            paid.map(reverse_transfer).collect::<Option<Vec<_>>>()
        }
        "open" | "void" => {
            return Err(refuse("an opening or a void cannot be reversed, only a settlement"));
        }
        "reverse" => return Err(refuse("it is a reversal itself")),
        _ => return Err(refuse("operations of its kind cannot be reversed")),
    }
    .ok_or_else(|| {
        LedgerError::broken(format!("operation {operation} has a transfer without a wallet"))
    })?;
    if moves.is_empty() {
        return Err(refuse("it has no reversible transfer"));
    }
    moves.sort_by_key(|one: &Move| !one.source.is_house());
    Ok(Reversal { input, game: booked.game, moves })
}

/// Returns the reverse of a transfer. Coins from a stake go to the wallet of the player who staked
/// them; the stake account of a finished game stays empty.
fn reverse_transfer(transfer: &BookedTransfer) -> Option<Move> {
    let account = |side: &TransferSide| match side {
        TransferSide::Wallet(player) | TransferSide::Stake(player) => {
            Some(Account::Wallet(*player))
        }
        TransferSide::Issue => Some(Account::Issue),
        TransferSide::Fee(room) => Some(Account::Fee(room.clone())),
        TransferSide::Other => None,
    };
    Some(Move {
        code: Code::Reversal,
        source: account(&transfer.destination)?,
        destination: account(&transfer.source)?,
        amount: transfer.amount,
    })
}

async fn read_operation(
    connection: &mut PgConnection,
    operation: i64,
) -> Result<BookedOperation, LedgerError> {
    let booked = find_operation(connection, operation).await?;
    booked.ok_or(LedgerError::OperationUnknown { operation })
}

/// An operation joined with one of its transfers, or with none if it has none.
struct OperationTransferRow {
    kind: String,
    game: Option<uuid::Uuid>,
    is_reversed: bool,
    code: Option<String>,
    source: Option<String>,
    source_player: Option<uuid::Uuid>,
    destination: Option<String>,
    destination_player: Option<uuid::Uuid>,
    amount: Option<i64>,
}

/// Returns `None` if there is no operation with this id.
async fn find_operation(
    executor: impl PgExecutor<'_>,
    operation: i64,
) -> Result<Option<BookedOperation>, sqlx::Error> {
    let rows = sqlx::query_as!(
        OperationTransferRow,
        r#"
        select o.kind, o.game,
            exists (
                select from operation_keys r where r.key = 'reverse:' || o.id
            ) as "is_reversed!",
            t.code as "code?", s.code as "source?",
            coalesce(s.player, p.player) as "source_player?",
            d.code as "destination?", d.player as "destination_player?",
            t.amount as "amount?"
        from operations o
        left join transfers t on t.operation = o.id
        left join accounts s on s.id = t.source
        left join accounts d on d.id = t.destination
        left join game_players p
            on p.game = o.game and s.code = 'stake:' || p.game || ':' || p.seat
        where o.id = $1
        order by t.number
        "#,
        operation
    )
    .fetch_all(executor)
    .await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let kind = first.kind.clone();
    let game = first.game.map(GameId);
    let is_reversed = first.is_reversed;
    let transfers = rows.into_iter().filter_map(parse_transfer).collect();
    Ok(Some(BookedOperation { kind, game, is_reversed, transfers }))
}

fn parse_transfer(row: OperationTransferRow) -> Option<BookedTransfer> {
    Some(BookedTransfer {
        code: Code::parse(&row.code?)?,
        source: parse_side(&row.source?, row.source_player),
        destination: parse_side(&row.destination?, row.destination_player),
        amount: Coins::from_hundredths(row.amount?),
    })
}

fn parse_side(code: &str, player: Option<uuid::Uuid>) -> TransferSide {
    match (code.split_once(':').unwrap_or((code, "")), player.map(PlayerId)) {
        (("wallet", _), Some(player)) => TransferSide::Wallet(player),
        (("stake", _), Some(player)) => TransferSide::Stake(player),
        (("issue", _), None) => TransferSide::Issue,
        (("fee", room), None) => TransferSide::Fee(room.to_owned()),
        _ => TransferSide::Other,
    }
}

/// Checks that fee accounts cover the reversal. The entries of a fee account are pending for a
/// while and games never lock it, so its balance is computed here, under a lock that excludes the
/// house projection and other reversals until the caller's transaction ends. Settled fees cannot be
/// less than the fees reversed of them; this check confirms it.
async fn check_fees(connection: &mut PgConnection, moves: &[Move]) -> Result<(), LedgerError> {
    let mut fees: BTreeMap<String, Coins> = BTreeMap::new();
    for Move { source, amount, .. } in moves {
        match source {
            Account::Fee(_) => {
                let sum = fees.entry(source.to_string()).or_default();
                let more = sum.checked_add(*amount);
                *sum = more.ok_or_else(|| LedgerError::broken("fees do not fit 64 bits"))?;
            }
            Account::Wallet(_)
            | Account::Stake(..)
            | Account::Pot(_)
            | Account::Issue
            | Account::Suspense => {}
        }
    }
    for (account, amount) in fees {
        let id = sqlx::query_scalar!(
            "select a.id from accounts a where a.code = $1 for no key update",
            account
        )
        .fetch_optional(&mut *connection)
        .await?;
        let earned = sqlx::query_scalar!(
            r#"
            select (
                a.balance + coalesce((
                    select sum(case when t.destination = a.id then t.amount else -t.amount end)
                    from pending_house_entries u
                    join transfers t on t.operation = u.operation
                    where t.source = a.id or t.destination = a.id
                ), 0)
            )::bigint as "earned!"
            from accounts a
            where a.id = $1
            "#,
            id
        )
        .fetch_optional(&mut *connection)
        .await?;
        let balance = Coins::from_hundredths(earned.unwrap_or(0));
        if balance < amount {
            return Err(LedgerError::Overdrawn { account, balance, amount });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BookedOperation, BookedTransfer, ReverseOperation, TransferSide, plan_reversal};
    use crate::ids::CorrectionId;
    use crate::ledger::chart::Code;
    use crate::ledger::error::LedgerError;
    use bahay_engine::coins::Coins;
    use bahay_engine::table::PlayerId;
    use uuid::Uuid;

    fn transfer(
        code: Code,
        source: TransferSide,
        destination: TransferSide,
        hundredths: i64,
    ) -> BookedTransfer {
        BookedTransfer { code, source, destination, amount: Coins::from_hundredths(hundredths) }
    }

    /// The settlement of rule 6.10 without its POT.
    fn settled() -> BookedOperation {
        let [loser, winner] = [1, 2].map(|number| PlayerId(Uuid::from_u128(number)));
        let fee = TransferSide::Fee("newbie".into());
        let transfers = vec![
            transfer(Code::Payment, TransferSide::Stake(loser), TransferSide::Wallet(winner), 300),
            transfer(Code::Fee, TransferSide::Wallet(winner), fee, 15),
            transfer(Code::Release, TransferSide::Stake(loser), TransferSide::Wallet(loser), 1_100),
        ];
        BookedOperation { kind: "settle".into(), game: None, is_reversed: false, transfers }
    }

    const INPUT: ReverseOperation =
        ReverseOperation { correction: CorrectionId::NIL, operation: 7 };

    #[test]
    fn a_reversal_returns_fees_before_payments_and_no_releases() {
        let reversal = plan_reversal(INPUT, &settled()).unwrap();
        let moves: Vec<_> = reversal
            .moves
            .iter()
            .map(|one| (one.source.to_string(), one.destination.to_string(), one.amount))
            .collect();
        let wallet = |number: u128| format!("wallet:{}", Uuid::from_u128(number));
        let expected = [
            ("fee:newbie".to_owned(), wallet(2), Coins::from_hundredths(15)),
            (wallet(2), wallet(1), Coins::from_hundredths(300)),
        ];
        assert_eq!(moves, expected);
        assert!(reversal.moves.iter().all(|one| one.code == Code::Reversal));
    }

    #[test]
    fn operations_of_several_games_are_not_reversible() {
        let refused = |change: fn(&mut BookedOperation)| {
            let mut booked = settled();
            change(&mut booked);
            matches!(
                plan_reversal(INPUT, &booked),
                Err(LedgerError::NotReversible { operation: 7, .. })
            )
        };
        let pot = |booked: &mut BookedOperation| {
            let winner = TransferSide::Wallet(PlayerId(Uuid::from_u128(2)));
            booked.transfers.push(transfer(Code::Pot, TransferSide::Other, winner, 600));
        };
        assert!(refused(pot));
        assert!(refused(|booked| booked.kind = "open".into()));
        assert!(refused(|booked| booked.kind = "void".into()));
        assert!(refused(|booked| booked.kind = "reverse".into()));
        assert!(refused(|booked| booked.transfers.retain(|one| one.code == Code::Release)));
        assert!(!refused(|_| {}));
    }
}
