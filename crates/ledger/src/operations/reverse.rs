//! Reversals of operations by operators. A reversal changes no booked row; it is another operation.
//! Typed errors reject what it may not do: an operation is reversed at most once, and one that
//! belongs to several games not at all. The module does not know who requests a reversal and who
//! approves it: see `operators`.
//!
//! The transfers of an operation are read without locks, because they never change.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use serde::Serialize;
use sqlx::{PgConnection, PgExecutor};

use super::{BookedCorrection, check_reversible};
use crate::Ledger;
use crate::books::{Books, Move};
use crate::chart::{Account, Code};
use crate::error::LedgerError;
use crate::operation::{Accounts, Kind, Operation, PostedAmount};
use bahay_base::ids::CorrectionId;

/// A reversal of an operation. Its key is `reverse:<operation>`, so each operation is reversed at
/// most once, by whichever correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReverseOperation {
    pub correction: CorrectionId,
    pub operation: i64,
}

/// A planned reversal. Its transfers are not part of the input, because they follow from the
/// operation.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Reversal {
    input: ReverseOperation,
    #[serde(skip)]
    game: Option<GameId>,
    /// Fees come first, so that a winner has the fee back before repaying the winnings.
    #[serde(skip)]
    moves: Vec<Move>,
}

impl Operation for Reversal {
    const KIND: Kind = Kind { name: "reverse", irreversible: Some("it is a reversal itself") };

    type Outcome = PostedAmount;

    fn key(&self) -> String {
        format!("reverse:{}", self.input.operation)
    }

    fn game(&self) -> Option<GameId> {
        self.game
    }

    fn accounts(&self) -> Accounts {
        let sides = self.moves.iter().flat_map(|one| [&one.source, &one.destination]).cloned();
        let (house, used) = sides.partition(Account::is_house);
        Accounts { used, house, ..Accounts::default() }
    }

    fn decide(&self, books: &mut Books) -> Result<PostedAmount, LedgerError> {
        Ok(PostedAmount { amount: books.post_covered(&self.moves)? })
    }
}

impl Ledger {
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
        match self.correct_in_tx(connection, reversal).await {
            Err(LedgerError::KeyReused { .. }) => {
                Err(LedgerError::AlreadyReversed { operation: input.operation })
            }
            corrected => corrected,
        }
    }

    /// Returns the transfers that reverse an operation, if it is reversible as far as is known now.
    /// Wallets are not checked.
    pub async fn plan_reversal(&self, operation: i64) -> Result<Vec<Move>, LedgerError> {
        let planned = self.plan_reversals(&[operation]).await?.remove(&operation);
        planned.unwrap_or(Err(LedgerError::OperationUnknown { operation }))
    }

    /// Returns the transfers that reverse each of these operations that exists, as
    /// [`Ledger::plan_reversal`] does, by its id.
    pub(crate) async fn plan_reversals(
        &self,
        operations: &[i64],
    ) -> Result<BTreeMap<i64, Result<Vec<Move>, LedgerError>>, LedgerError> {
        let booked = bahay_db::retry(|| find_operations(&self.reads, operations)).await?;
        let planned = booked.into_iter().map(|(operation, booked)| {
            let input = ReverseOperation { correction: CorrectionId::NIL, operation };
            let planned =
                plan_reversal(input, &booked).and_then(|reversal| match booked.is_reversed {
                    true => Err(LedgerError::AlreadyReversed { operation }),
                    false => Ok(reversal.moves),
                });
            (operation, planned)
        });
        Ok(planned.collect())
    }
}

/// An operation as booked.
struct BookedOperation {
    kind: String,
    game: Option<GameId>,
    is_reversed: bool,
    /// The codes of the transfers, with the transfers that reverse them. Coins from a stake go back
    /// to the wallet of the player who staked them; the stake account of a finished game stays
    /// empty. A transfer from or to an account that several games share has no reversal.
    transfers: Vec<(Code, Option<Move>)>,
}

fn plan_reversal(
    input: ReverseOperation,
    booked: &BookedOperation,
) -> Result<Reversal, LedgerError> {
    let operation = input.operation;
    check_reversible(&booked.kind, booked.transfers.iter().map(|(code, _)| *code))
        .map_err(|reason| LedgerError::NotReversible { operation, why: reason.why() })?;
    let paid = booked.transfers.iter().filter(|(code, _)| *code != Code::Release);
    let moves: Option<Vec<_>> = paid.map(|(_, reversal)| reversal.clone()).collect();
    let mut moves = moves.ok_or_else(|| {
        LedgerError::broken(format!("operation {operation} has a transfer without a wallet"))
    })?;
    moves.sort_by_key(|one| !one.source.is_house());
    Ok(Reversal { input, game: booked.game, moves })
}

async fn read_operation(
    connection: &mut PgConnection,
    operation: i64,
) -> Result<BookedOperation, LedgerError> {
    let booked = find_operations(connection, &[operation]).await?.remove(&operation);
    booked.ok_or(LedgerError::OperationUnknown { operation })
}

/// Returns those of the operations that exist, by their ids.
async fn find_operations(
    executor: impl PgExecutor<'_>,
    operations: &[i64],
) -> Result<BTreeMap<i64, BookedOperation>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select o.id, o.kind, o.game,
            exists (
                select from operation_keys r where r.key = 'reverse:' || o.id
            ) as "is_reversed!",
            t.code as "code?", s.code as "source?",
            coalesce(s.player, p.player) as "source_player?",
            d.code as "destination?", d.player as "destination_player?",
            t.amount as "amount?"
        from operations o
        left join lateral unnest(o.codes, o.sources, o.destinations, o.amounts)
            with ordinality as t (code, source, destination, amount, number) on true
        left join accounts s on s.id = t.source
        left join accounts d on d.id = t.destination
        left join game_players p
            on p.game = o.game and s.code = 'stake:' || p.game || ':' || p.seat
        where o.id = any($1)
        order by o.id, t.number
        "#,
        operations
    )
    .fetch_all(executor)
    .await?;
    let mut found = BTreeMap::new();
    for row in rows {
        let booked = found.entry(row.id).or_insert_with(|| BookedOperation {
            kind: row.kind,
            game: row.game.map(GameId),
            is_reversed: row.is_reversed,
            transfers: Vec::new(),
        });
        let (Some(code), Some(source), Some(destination), Some(amount)) =
            (row.code, row.source, row.destination, row.amount)
        else {
            continue;
        };
        let source = wallet_or_house(&source, row.source_player);
        let destination = wallet_or_house(&destination, row.destination_player);
        let reversal = reverse_transfer(source, destination, Coins::from_hundredths(amount));
        booked.transfers.extend(code.parse::<Code>().ok().map(|code| (code, reversal)));
    }
    Ok(found)
}

fn reverse_transfer(
    source: Option<Account>,
    destination: Option<Account>,
    amount: Coins,
) -> Option<Move> {
    Some(Move { code: Code::Reversal, source: destination?, destination: source?, amount })
}

/// Returns the account that a side of a transfer is reversed on: the wallet of a wallet's or a
/// stake's player, or an account of the house.
fn wallet_or_house(code: &str, player: Option<uuid::Uuid>) -> Option<Account> {
    match (code.split_once(':').unwrap_or((code, "")), player.map(PlayerId)) {
        (("wallet" | "stake", _), Some(player)) => Some(Account::Wallet(player)),
        (("issue", _), None) => Some(Account::Issue),
        (("fee", room), None) => Some(Account::Fee(room.to_owned())),
        _ => None,
    }
}

/// Checks that fee accounts cover the reversal. The balance of a fee account lacks the unsealed
/// operations and games never lock it, so it is computed here, under a lock that excludes the house
/// projection and other reversals until the caller's transaction ends. Settled fees cannot be
/// less than the fees reversed of them; this check confirms it.
pub(super) async fn check_fees(
    connection: &mut PgConnection,
    moves: &[Move],
) -> Result<(), LedgerError> {
    let mut fees: BTreeMap<String, Coins> = BTreeMap::new();
    for Move { source, amount, .. } in moves {
        if let Account::Fee(_) = source {
            let sum = fees.entry(source.to_string()).or_default();
            let more = sum.checked_add(*amount);
            *sum = more.ok_or_else(|| LedgerError::broken("fees do not fit 64 bits"))?;
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
                    select sum(t.amount)
                    from unsealed_operations u
                    -- Each by its id: a join could scan all operations under the lock.
                    cross join lateral (
                        select
                            case when t.destination = a.id then t.amount else -t.amount end
                                as amount
                        from transfers t
                        where t.operation = u.operation and a.id in (t.source, t.destination)
                        offset 0
                    ) t
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
    use super::{
        BookedOperation, ReverseOperation, plan_reversal, reverse_transfer, wallet_or_house,
    };
    use crate::chart::Code;
    use crate::error::LedgerError;
    use bahay_base::ids::CorrectionId;
    use bahay_engine::coins::Coins;
    use uuid::Uuid;

    /// The settlement of rule 6.10 without its POT.
    fn settled() -> BookedOperation {
        let [loser, winner] = [1, 2].map(|number| Some(Uuid::from_u128(number)));
        let transfer = |code, [source, destination]: [(&str, Option<Uuid>); 2], hundredths| {
            let [source, destination] =
                [source, destination].map(|(code, player)| wallet_or_house(code, player));
            (code, reverse_transfer(source, destination, Coins::from_hundredths(hundredths)))
        };
        let stake = ("stake:g:0", loser);
        let wallet = |player| ("wallet:p", player);
        let transfers = vec![
            transfer(Code::Payment, [stake, wallet(winner)], 300),
            transfer(Code::Fee, [wallet(winner), ("fee:newbie", None)], 15),
            transfer(Code::Release, [stake, wallet(loser)], 1_100),
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
        assert_eq!(wallet_or_house("pot:t", None), None);
        assert!(refused(|booked| booked.transfers.push((Code::Pot, None))));
        assert!(refused(|booked| booked.kind = "open".into()));
        assert!(refused(|booked| booked.kind = "void".into()));
        assert!(refused(|booked| booked.kind = "reverse".into()));
        assert!(refused(|booked| booked.transfers.retain(|(code, _)| *code == Code::Release)));
        assert!(!refused(|_| {}));
    }
}
