//! Sanctions, that is bans and mutes, as operators impose and lift them.

use bahay_base::reason::Reason;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{IdText, ReasonText, Time};

operations! {
    /// List the bans and mutes in force
    ///
    /// Of all players, the newest first. For operators of every role.
    LIST_SANCTIONS_IN_FORCE = Get "/v1/operator/sanctions", Operators, Operator {
        query PageQuery<SanctionFilter>,
        200 page SanctionInForce: "A page of bans and mutes",
    }

    /// List a player's bans or mutes
    ///
    /// For operators of every role. The list of an unknown player is empty.
    LIST_SANCTIONS = Get "/v1/operator/players/{id}/{sanctions}", Operators, Operator {
        path id: IdText = "The player",
        path sanctions: SanctionPath = "The kind of sanction",
        200 json PlayerSanctions: "The bans or mutes",
    }

    /// Ban or mute a player
    ///
    /// A ban ends all of the player's sessions, on every node within a second; the AI finishes a
    /// running game. A mute rejects the player's chat messages from now on, on every node; the
    /// player plays on. For the roles `support` and `admin`.
    IMPOSE_SANCTION = Post "/v1/operator/players/{id}/{sanctions}", Operators, Operator {
        path id: IdText = "The player",
        path sanctions: SanctionPath = "The kind of sanction",
        headers RequiredKey,
        body SanctionRequest,
        201 json PlayerSanctions: "The player's bans or mutes",
        refuses PlayerNotFound,
    }

    /// Lift a player's bans or mutes
    ///
    /// Lifts all that are in force. For the roles `support` and `admin`.
    LIFT_SANCTIONS = Post "/v1/operator/players/{id}/{sanctions}/lifting", Operators, Operator {
        path id: IdText = "The player",
        path sanctions: SanctionPath = "The kind of sanction",
        headers RequiredKey,
        200 json PlayerSanctions: "The player's bans or mutes",
        refuses NotBanned NotMuted,
    }

    /// Lift a ban or a mute
    ///
    /// Lifts this one. Others of the player stay in force. For the roles `support` and `admin`.
    LIFT_SANCTION = Post "/v1/operator/sanctions/{id}/lifting", Operators, Operator {
        path id: IdText = "The sanction",
        headers RequiredKey,
        200 json PlayerSanctions: "The player's bans or mutes",
        refuses SanctionNotFound,
    }
}

bahay_base::text_enum! {
    /// The kind of a sanction.
    #[derive(ToSchema)]
    pub enum SanctionKind {
        /// The player may not sign in or sit down, and has no session.
        Ban = "ban",
        /// The player may not say phrases.
        Mute = "mute",
    }
}

/// A filter on sanctions.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SanctionFilter {
    /// Only sanctions of this kind.
    #[param(inline)]
    pub kind: Option<SanctionKind>,
}

/// A ban or a mute that is in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct SanctionInForce {
    pub id: Uuid,
    #[schema(inline)]
    pub kind: SanctionKind,
    pub player: Uuid,
    /// The player's name.
    pub name: String,
    pub reason: String,
    /// The time at which it was imposed.
    pub imposed_at: Time,
    /// The name of the operator who imposed it; null for the command line.
    #[schema(required = true, example = "ate.luz")]
    pub imposed_by: Option<String>,
    /// The time at which it ends; null if it is permanent.
    #[schema(required = true)]
    pub ends_at: Option<Time>,
}

/// The kind of sanction in a path.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SanctionPath {
    Bans,
    Mutes,
}

/// A request to ban or mute a player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SanctionRequest {
    /// The reason, which the player can read.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
    /// The duration in hours, up to ten years; null for a permanent sanction.
    #[schema(required = false, minimum = 1, maximum = 87_600, example = 72)]
    pub hours: Option<u32>,
}

/// A ban or a mute of a player.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerSanction {
    pub id: Uuid,
    pub reason: String,
    /// The time at which it was imposed.
    pub imposed_at: Time,
    /// The name of the operator who imposed it; null for the command line.
    #[schema(required = true, example = "ate.luz")]
    pub imposed_by: Option<String>,
    /// The time at which it ends; null if it is permanent.
    #[schema(required = true)]
    pub ends_at: Option<Time>,
    #[schema(required = true)]
    pub lifted_at: Option<Time>,
    /// The name of the operator who lifted it; null for the command line.
    #[schema(required = true, example = "kuya.ben")]
    pub lifted_by: Option<String>,
}

/// All bans, or all mutes, of a player, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerSanctions {
    pub items: Vec<PlayerSanction>,
}
