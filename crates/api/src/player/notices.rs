//! The inbox of a player.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{Coins, IdText, Time};

operations! {
    /// List my notices
    ///
    /// Newest first, including read ones. The message `hello` of the socket contains the number of
    /// unread notices.
    LIST_MY_NOTICES = Get "/v1/me/notices", Me, Player {
        query PageQuery,
        200 page Notice: "A page of notices",
    }

    /// Mark a notice as read
    ///
    /// Idempotent: the time of the first call is kept.
    READ_MY_NOTICE = Post "/v1/me/notices/{id}/read", Me, Player {
        path id: IdText = "The notice",
        204 empty (): "The notice is read",
        refuses NoticeNotFound,
    }
}

/// A message in a player's inbox.
#[derive(Debug, Serialize, ToSchema)]
pub struct Notice {
    pub id: Uuid,
    /// The kind of the notice, for programs. `game_voided`: the game was voided, and `amount` is
    /// the returned ante and stake. `pot_refunded`: the table no longer exists, or it was a private
    /// table that ended or from which the player was removed; `amount` is what the player had paid
    /// into its POT. `private_limit`: a game at a private table did not begin with the player,
    /// because it could have won more than the player may still win at private tables.
    /// `room_limit`: the same in a room, because of the amount that the player has won from the
    /// other players of the table within a day. `banned`: the player is banned for a time.
    /// `ban_lifted`: a ban was lifted. `muted`: the player's chat messages are refused.
    /// `mute_lifted`: a mute was lifted. `rematch`: the player `from` invites to play `game`
    /// again, at the private table with `code`. `tournament_soon`: the `tournament`, which
    /// the player has entered, starts within five minutes. `tournament_started`: it has started.
    /// `tournament_placed`: the player has the final `place`, without a prize. `tournament_prize`:
    /// `amount` is the prize of the final `place`. `tournament_refund`: the tournament was
    /// cancelled, and `amount` came back. `tournament_cancelled`: the same without an amount.
    /// `pass_granted`: the player has a pass for a tournament with a buy-in of at most `amount`.
    /// `pass_revoked`: the house revoked such a pass before an entry was paid by it.
    /// Kinds may be added, but do not change.
    #[schema(example = "game_voided")]
    pub kind: String,
    /// The game that the notice is about, if any.
    #[schema(required = true)]
    pub game: Option<Uuid>,
    #[schema(required = true)]
    pub amount: Option<Coins>,
    /// The code of the private table, for a `rematch`.
    #[schema(required = true, example = "K7MWQ2XA")]
    pub code: Option<String>,
    /// The player who invites, for a `rematch`.
    #[schema(required = true)]
    pub from: Option<Uuid>,
    /// The name of the inviting player; null once the account was deleted.
    #[schema(required = true, example = "Benjie")]
    pub name: Option<String>,
    /// The tournament that the notice is about, if any.
    #[schema(required = true)]
    pub tournament: Option<Uuid>,
    #[schema(required = true, example = "Three in a ring")]
    pub tournament_name: Option<String>,
    /// The final place in the tournament, from 1.
    #[schema(required = true)]
    pub place: Option<u32>,
    pub created_at: Time,
    /// Null while the notice is unread.
    #[schema(required = true)]
    pub read_at: Option<Time>,
}
