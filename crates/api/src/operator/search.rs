//! The search for anything that operators look up.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::operation::operations;

operations! {
    /// Search
    ///
    /// Finds players, rooms, games, tables, tournaments, operations, accounts and corrections. A
    /// text matches: a part of a name, of a player's name the beginning if it has fewer than three
    /// characters; an id, or its first four or more hexadecimal digits; the number or the
    /// idempotency key of an operation; and the code of an account, such as `wallet:` and a player's
    /// id. A table without a game is found by its whole id, and in a room or among the private
    /// tables by the first digits. At most 20 of each kind. For operators of every role.
    SEARCH = Get "/v1/operator/search", Operators, Operator {
        query SearchText,
        200 list SearchHit: "The matches, by kind",
    }
}

/// The text of a search.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchText {
    #[param(min_length = 1, max_length = 64, pattern = "^[^\\u0000]+$", example = "mar")]
    pub text: String,
}

bahay_base::text_enum! {
    /// The kind of a match, which is named by its `id`: that of a player, a room, a game, a table,
    /// a tournament or a correction, the number of an operation, or the code of an account.
    #[derive(ToSchema)]
    pub enum SearchKind {
        Player = "player",
        Room = "room",
        Game = "game",
        Table = "table",
        Tournament = "tournament",
        Operation = "operation",
        Account = "account",
        Correction = "correction",
    }
}

/// A match of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SearchHit {
    #[schema(inline)]
    pub kind: SearchKind,
    #[schema(example = "newbie")]
    pub id: String,
    /// The name of a player, room or tournament, the room of a game or table, the key of an
    /// operation, the balance of an account, or the state of a correction.
    #[schema(example = "Newbie")]
    pub title: String,
}
