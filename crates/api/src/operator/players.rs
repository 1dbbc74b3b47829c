//! Players as operators see them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::operation::operations;
use crate::player::people::Statistics;
use crate::player::tournaments::TournamentPass;
use crate::values::{Coins, IdText, Time};

operations! {
    /// Find players
    ///
    /// At most 20: first those whose name begins with the text, then by name. For operators of every
    /// role.
    FIND_PLAYERS = Get "/v1/operator/players", Operators, Operator {
        query PlayerSearch,
        200 list PlayerMatch: "Players",
    }

    /// Show a player to operators
    ///
    /// Wallet, statistics, sessions, notes and reports. For operators of every role; addresses only
    /// for the roles `support` and `admin`, each view of which is recorded in the audit log.
    SHOW_PLAYER_REPORT = Get "/v1/operator/players/{id}", Operators, Operator {
        path id: IdText = "The player",
        200 json PlayerDossier: "The player",
        refuses PlayerNotFound,
    }

    /// List a player's partners
    ///
    /// The players with whom it has shared most of its newest 500 games, and the coins paid in each
    /// direction. For operators of every role.
    LIST_PARTNERS = Get "/v1/operator/players/{id}/partners", Operators, Operator {
        path id: IdText = "The player",
        200 list Partner: "At most 20 partners",
        refuses PlayerNotFound,
    }

    /// List a player's passes
    ///
    /// Unused ones first, then used and revoked ones, each kind newest first. The id of a pass is
    /// that of the correction that granted it. For operators of every role.
    LIST_PASSES = Get "/v1/operator/players/{id}/passes", Operators, Operator {
        path id: IdText = "The player",
        200 list TournamentPass: "At most 500 passes",
        refuses PlayerNotFound,
    }

    /// Write a note about a player
    ///
    /// For the roles `support` and `admin`.
    WRITE_NOTE = Post "/v1/operator/players/{id}/notes", Operators, Operator {
        path id: IdText = "The player",
        headers RequiredKey,
        body NewNote,
        204 empty (): "The note is written",
        refuses PlayerNotFound,
    }

    /// Sign a player out everywhere
    ///
    /// All its sessions end, on all nodes within a second. For the roles `support` and `admin`.
    END_SESSIONS = Post "/v1/operator/players/{id}/sign-out", Operators, Operator {
        path id: IdText = "The player",
        204 empty (): "All sessions have ended",
        refuses OperatorRoleMissing PlayerNotFound,
    }
}

/// A search for players.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlayerSearch {
    /// A part of the name, in any case, or its beginning if the text has fewer than three characters;
    /// or the player's id, or its first four or more hexadecimal digits.
    #[param(min_length = 1, max_length = 64, pattern = "^[^\\u0000]+$", example = "mar")]
    pub search: String,
}

/// A player in a search result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayerMatch {
    pub id: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
}

/// A player as operators see one.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerDossier {
    pub id: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
    pub created_at: Time,
    /// The time of deletion. A deleted player keeps its id and the history of its coins.
    #[schema(required = true)]
    pub deleted_at: Option<Time>,
    /// The coins that can be spent.
    pub available: Coins,
    /// The coins that are held as stakes of open games.
    pub held: Coins,
    /// Statistics by game.
    pub statistics: Vec<Statistics>,
    /// The devices that sign the player in, at most 50, most recently seen first.
    pub devices: Vec<PlayerDevice>,
    pub has_password: bool,
    /// The number of external accounts that sign the player in.
    pub identities: i64,
    /// The newest 50 sessions.
    pub sessions: Vec<PlayerSession>,
    /// The newest 50 notes by operators.
    pub notes: Vec<PlayerNote>,
    /// The newest 50 reports by other players.
    pub complaints: Vec<Complaint>,
    /// Other players who have signed in from the same device or address.
    pub linked_players: Vec<SharedBy>,
}

/// A device that signs a player in. Its name is unknown to the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayerDevice {
    pub first_seen_at: Time,
    pub last_seen_at: Time,
}

/// A session of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayerSession {
    pub id: Uuid,
    /// `guest`, `password` or `openid`.
    #[schema(example = "guest")]
    pub method: String,
    #[schema(required = true)]
    pub user_agent: Option<String>,
    /// The client's address; for IPv6 its network. Null for the roles `viewer` and `finance`.
    #[schema(required = true, example = "192.0.2.7")]
    pub address: Option<String>,
    pub created_at: Time,
    pub last_seen_at: Time,
    pub expires_at: Time,
    /// The time at which the session was ended before it expired.
    #[schema(required = true)]
    pub ended_at: Option<Time>,
}

/// A note by an operator about a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayerNote {
    pub id: Uuid,
    /// The operator's name.
    #[schema(example = "ate.luz")]
    pub written_by: String,
    pub written_at: Time,
    pub words: String,
}

/// A report by a player about another player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Complaint {
    pub reporter: Uuid,
    pub game: Uuid,
    #[schema(example = "collusion")]
    pub reason: String,
    #[schema(required = true)]
    pub words: Option<String>,
    pub created_at: Time,
}

bahay_base::text_enum! {
    /// The attribute that two players share.
    #[derive(ToSchema)]
    pub enum SharedSignal {
        Device = "device",
        Address = "address",
    }
}

/// Another player with the same device or address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SharedBy {
    pub player: Uuid,
    #[schema(example = "Jose")]
    pub name: String,
    pub shared: SharedSignal,
}

/// Another player, with the games and payments between the two in the newest 500 games of the
/// first. An indication of collusion, not proof of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Partner {
    pub player: Uuid,
    #[schema(example = "Jose")]
    pub name: String,
    /// The number of games in which both sat, and the number of games examined.
    pub games: i64,
    pub of: i64,
    /// The coins that the player paid to this one, before the fee, and the number of games in which
    /// it did.
    pub paid: Coins,
    pub games_paid: i64,
    /// The coins that the player received from this one, before the fee, and the number of games in
    /// which it did.
    pub received: Coins,
    pub games_received: i64,
    #[schema(required = true)]
    pub shared: Option<SharedSignal>,
}

/// A note to write about a player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNote {
    /// The text, for operators to read; notes are never changed.
    #[schema(min_length = 1, max_length = 2000, example = "Asked for a refund by mail.")]
    pub words: String,
}
