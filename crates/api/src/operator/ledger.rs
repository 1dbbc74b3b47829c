//! The books: trial balance, accounts with their entries, operations with their transfers.

use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{AccountCodeText, Coins, Time, TransferCode};

operations! {
    /// Show the ledger
    ///
    /// The trial balance, the accounts of the house, and the newest checks. For operators of every
    /// role.
    SHOW_BOOKS = Get "/v1/operator/ledger", Operators, Operator {
        200 json Books: "The ledger",
    }

    /// Show an account
    ///
    /// For operators of every role.
    SHOW_ACCOUNT = Get "/v1/operator/ledger/accounts/{code}", Operators, Operator {
        path code: AccountCodeText = "The account's code",
        200 json Account: "The account",
        refuses AccountNotFound,
    }

    /// List an account's entries
    ///
    /// Newest first. For operators of every role.
    LIST_ACCOUNT_ENTRIES = Get "/v1/operator/ledger/accounts/{code}/entries", Operators, Operator {
        path code: AccountCodeText = "The account's code",
        query PageQuery,
        200 page AccountEntry: "A page of entries",
        refuses AccountNotFound,
    }

    /// List operations
    ///
    /// With their transfers, newest first. For operators of every role.
    LIST_OPERATIONS = Get "/v1/operator/ledger/operations", Operators, Operator {
        query PageQuery,
        200 page Operation: "A page of operations",
    }

    /// Show an operation
    ///
    /// With its transfers. For operators of every role.
    SHOW_OPERATION = Get "/v1/operator/ledger/operations/{operation}", Operators, Operator {
        path operation: OperationNumber = "The operation's id in the ledger",
        200 json Operation: "The operation",
        refuses OperationNotFound,
    }
}

/// The schema of an operation's id.
struct OperationNumber;

impl PartialSchema for OperationNumber {
    fn schema() -> RefOr<Schema> {
        let int64 = SchemaFormat::KnownFormat(KnownFormat::Int64);
        ObjectBuilder::new().schema_type(Type::Integer).format(Some(int64)).minimum(Some(1)).into()
    }
}

/// An overview of the ledger.
#[derive(Debug, Serialize, ToSchema)]
pub struct Books {
    /// The sum of the accounts of each kind. All sums together are zero.
    pub balances: Vec<Balance>,
    /// True if the balances sum to zero and each kind's balance equals its transfers.
    pub adds_up: bool,
    /// The accounts of the house, whose balances lag behind by the operations that are not sealed
    /// yet.
    pub house: Vec<Account>,
    /// The newest checks of the ledger.
    pub checks: Vec<LedgerCheckReport>,
}

/// The sum of all accounts of a kind.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Balance {
    #[schema(example = "wallet")]
    pub kind: String,
    /// The sum of the accounts' balances.
    pub amount: Coins,
    /// The sum of all transfers to and from accounts of the kind.
    pub transferred: Coins,
}

/// An account.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Account {
    #[schema(example = "fee:newbie")]
    pub code: String,
    #[schema(example = "fee")]
    pub kind: String,
    /// The owner of a wallet; null for other accounts.
    #[schema(required = true)]
    pub player: Option<Uuid>,
    pub balance: Coins,
    /// The number of the account's entries.
    pub version: i64,
}

/// A check of the ledger.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LedgerCheckReport {
    pub started_at: Time,
    /// Null while the check runs, or if it was aborted.
    #[schema(required = true)]
    pub finished_at: Option<Time>,
    /// True if every game was replayed, false if only those since the previous check.
    pub everything: bool,
    /// Descriptions of the discrepancies that were found.
    pub differences: Vec<String>,
}

/// An entry of an account. Those of the accounts of the house, `fee` and `issue`, have neither a
/// version nor balances.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AccountEntry {
    /// The number of the entry. An account's entries are numbered from 1 without gaps.
    #[schema(value_type = i64, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    pub operation: i64,
    /// The number of the transfer within the operation.
    pub number: i16,
    pub code: TransferCode,
    /// The account on the other side of the transfer.
    #[schema(example = "pot:01a1fbd0-0ce4-7db1-a60c-e61905d75645")]
    pub other: String,
    pub amount: Coins,
    #[schema(value_type = Coins, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance_before: Option<Coins>,
    #[schema(value_type = Coins, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance_after: Option<Coins>,
    #[schema(required = true)]
    pub game: Option<Uuid>,
    pub booked_at: Time,
}

/// An operation of the ledger, posted once under its idempotency key.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Operation {
    pub id: i64,
    #[schema(example = "settle:01a1fbfb-8f85-7daf-8dac-abb42ac4a107")]
    pub key: String,
    #[schema(example = "settle")]
    pub kind: String,
    #[schema(required = true)]
    pub game: Option<Uuid>,
    pub booked_at: Time,
    /// The response that the caller received.
    #[schema(value_type = Object)]
    pub answer: Value,
    pub transfers: Vec<Transfer>,
    /// True if a reversal of the operation can be requested.
    pub is_reversible: bool,
    /// The operation that reversed this one; null without one.
    #[schema(required = true)]
    pub reversed_by: Option<i64>,
}

/// Coins moved from one account to another.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Transfer {
    /// From 1.
    pub number: i16,
    pub code: TransferCode,
    #[schema(example = "wallet:019ca944-3c00-7000-8000-00000091a7e0")]
    pub source: String,
    #[schema(example = "fee:newbie")]
    pub destination: String,
    pub amount: Coins,
}
