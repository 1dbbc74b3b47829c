//! Requests for tournaments whose guarantee requires a second operator.

use bahay_base::reason::Reason;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::operator::tournaments::AnnounceTournament;
use crate::values::{IdText, ReasonText, Time};

operations! {
    /// Request a tournament
    ///
    /// For guarantees above the setting of the server: nothing is announced before another operator
    /// has approved it. For the role `admin`, in a session with the second factor.
    REQUEST_TOURNAMENT = Post "/v1/operator/tournament-requests", Operators, Operator {
        headers RequiredKey,
        body RequestTournament,
        201 json TournamentRequest: "The request, which waits for a decision",
        refuses SecondFactorMissing TournamentUnsound,
    }

    /// List requests for tournaments
    ///
    /// Newest first. For operators of every role.
    LIST_TOURNAMENT_REQUESTS = Get "/v1/operator/tournament-requests", Operators, Operator {
        query PageQuery<TournamentRequestFilter>,
        200 page TournamentRequest: "A page of requests",
    }

    /// Show a request for a tournament
    ///
    /// For operators of every role.
    SHOW_TOURNAMENT_REQUEST = Get "/v1/operator/tournament-requests/{id}", Operators, Operator {
        path id: IdText = "The request",
        200 json TournamentRequest: "The request",
        refuses TournamentRequestNotFound,
    }

    /// Approve a request for a tournament
    ///
    /// Announces the tournament and marks the request as approved in one transaction. For the role
    /// `admin`, in a session with the second factor; never for the requester, nor for an operator who
    /// is not independent of the requester. If the terms do not allow it any more, because the start
    /// is past or another tournament has the code, the request stays open.
    APPROVE_TOURNAMENT = Post "/v1/operator/tournament-requests/{id}/approval", Operators, Operator {
        path id: IdText = "The request",
        headers RequiredKey,
        200 json TournamentRequest: "The approved request",
        refuses SecondFactorMissing TournamentRequestOwn TournamentRequestNotIndependent
            TournamentRequestNotFound TournamentRequestDecided TournamentUnsound,
    }

    /// Reject a request for a tournament
    ///
    /// For the role `admin`, in a session with the second factor, and only for operators who may
    /// approve it.
    REJECT_TOURNAMENT = Post "/v1/operator/tournament-requests/{id}/rejection", Operators, Operator {
        path id: IdText = "The request",
        headers RequiredKey,
        body RejectTournament,
        200 json TournamentRequest: "The rejected request",
        refuses SecondFactorMissing TournamentRequestOwn TournamentRequestNotIndependent
            TournamentRequestNotFound TournamentRequestDecided,
    }

    /// Withdraw a request for a tournament
    ///
    /// Ends an open request without a decision. For its requester, with the role `admin`, in a
    /// session with the second factor.
    WITHDRAW_TOURNAMENT_REQUEST = Post "/v1/operator/tournament-requests/{id}/withdrawal", Operators, Operator {
        path id: IdText = "The request",
        headers RequiredKey,
        200 json TournamentRequest: "The withdrawn request",
        refuses SecondFactorMissing TournamentRequestNotOwn TournamentRequestNotFound
            TournamentRequestDecided,
    }
}

/// A tournament to request, with the reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestTournament {
    pub tournament: AnnounceTournament,
    /// The reason, which is stored with the request.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
}

/// A rejection of a request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectTournament {
    /// The reason, which is stored with the request.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
}

bahay_base::text_enum! {
    /// The state of a request for a tournament.
    #[derive(ToSchema)]
    pub enum TournamentRequestState {
        Open = "open",
        Approved = "approved",
        Rejected = "rejected",
        Withdrawn = "withdrawn",
    }
}

/// A filter of requests.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TournamentRequestFilter {
    /// Only requests in this state.
    #[param(inline)]
    pub state: Option<TournamentRequestState>,
}

/// A request for a tournament and its outcome.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentRequest {
    pub id: Uuid,
    /// The terms, as the list of results would have them.
    #[schema(value_type = Object)]
    pub terms: Value,
    /// The code by which players would register; null unless it is private.
    #[schema(required = true)]
    pub code: Option<String>,
    pub reason: String,
    #[schema(inline)]
    pub state: TournamentRequestState,
    /// The requester's name.
    #[schema(example = "ate.luz")]
    pub requested_by: String,
    pub requested_at: Time,
    /// The name of the deciding operator; null unless the request is approved or rejected.
    #[schema(required = true, example = "kuya.ben")]
    pub decided_by: Option<String>,
    /// The time of the decision or of the withdrawal.
    #[schema(required = true)]
    pub decided_at: Option<Time>,
    /// The reason of a rejection.
    #[schema(required = true)]
    pub rejection_reason: Option<String>,
    /// The announced tournament; null unless the request is approved.
    #[schema(required = true)]
    pub tournament: Option<Uuid>,
}
