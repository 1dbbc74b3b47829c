//! The audit log: search and export.

use bahay_base::clock::BoundedTimestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::Time;

operations! {
    /// List audit entries
    ///
    /// Newest first. For the role `admin`.
    LIST_AUDIT_ENTRIES = Get "/v1/operator/audit", Operators, Operator {
        query PageQuery<AuditFilter>,
        200 page AuditEntry: "A page of audit entries",
        refuses OperatorRoleMissing,
    }

    /// Export audit entries
    ///
    /// As CSV (RFC 4180) with a header line, after a byte order mark of UTF-8, newest first,
    /// without a limit. The export itself is recorded in the audit log. For the role `admin`.
    EXPORT_AUDIT_ENTRIES = Get "/v1/operator/audit.csv", Operators, Operator {
        query AuditFilter,
        200 csv (): "id, at, operator, action, subject, detail as JSON, channel, address",
        refuses OperatorRoleMissing,
    }
}

bahay_base::text_enum! {
    /// The channel and credential of an act.
    pub enum Channel {
        /// A session in a browser.
        Desk = "desk",
        /// A session over the API.
        Api = "api",
        /// An API token, held by a program.
        Token = "token",
        Command = "command",
        /// A schedule of tournaments, for the operator who created it.
        Schedule = "schedule",
    }
}

bahay_base::text_enum! {
    /// The kind of an audited act.
    pub enum Action {
        SignedIn = "sign_in",
        SignInRefused = "sign_in_refused",
        SignedOut = "sign_out",
        /// The second factor of an enrolment was displayed.
        EnrolmentOpened = "enrolment_look",
        Enrolled = "enrolment",
        OperatorAdded = "operator_add",
        RoleChanged = "operator_change_role",
        OperatorDisabled = "operator_disable",
        TokenCreated = "token_create",
        TokenRevoked = "token_revoke",
        SignInReset = "operator_reset_sign_in",
        CorrectionRequested = "correction_request",
        CorrectionApproved = "correction_approve",
        CorrectionRejected = "correction_reject",
        CorrectionWithdrawn = "correction_withdraw",
        RoomCreated = "room_create",
        RoomChanged = "room_change",
        HouseClosed = "house_close",
        HouseOpened = "house_open",
        PlayerBanned = "player_ban",
        BanLifted = "player_lift_ban",
        PlayerMuted = "player_mute",
        MuteLifted = "player_lift_mute",
        SessionsEnded = "player_end_sessions",
        NoteWritten = "player_note",
        ReportDecided = "player_report_decide",
        PairReviewed = "player_pair_review",
        TableVoided = "table_void",
        TableReleased = "table_release",
        PotRefunded = "pot_refund",
        TournamentAnnounced = "tournament_announce",
        TournamentCancelled = "tournament_cancel",
        TournamentRequested = "tournament_request",
        TournamentApproved = "tournament_approve",
        TournamentRejected = "tournament_reject",
        TournamentRequestWithdrawn = "tournament_request_withdraw",
        ScheduleCreated = "schedule_create",
        SchedulePaused = "schedule_pause",
        ScheduleResumed = "schedule_resume",
        ScheduleDeleted = "schedule_delete",
        JobRetried = "job_retry",
        JobDiscarded = "job_discard",
        /// An order about a table was performed. The detail has its refunds by player, in hundredths
        /// of a coin.
        TableOrderCompleted = "table_order_completed",
        /// An order about a table was recorded and then failed.
        TableOrderFailed = "table_order_failed",
        /// Hidden cards of a running game were displayed.
        HandsSeen = "hands_look",
        /// All hands of a finished game were displayed.
        ReplaySeen = "replay_look",
        /// The client addresses of a player were displayed.
        AddressesSeen = "addresses_look",
        Exported = "export",
    }
}

/// A filter on audit entries. An entry matches if it satisfies every condition that is set.
#[derive(Clone, Debug, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// An operator's name.
    #[param(max_length = 32, pattern = "^[!-~]+$")]
    pub operator: Option<String>,
    /// An action, such as `room_change`.
    #[param(value_type = Option<String>, max_length = 40, pattern = "^[a-z]+(_[a-z]+)*$")]
    pub action: Option<Action>,
    /// The affected object, such as `room:newbie`.
    #[param(max_length = 200, pattern = "^[!-~]+$")]
    pub subject: Option<String>,
    /// The inclusive lower bound of the time.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// The exclusive upper bound of the time.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
}

/// An act of an operator.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct AuditEntry {
    pub id: Uuid,
    pub at: Time,
    /// The operator's name; null for the command line, and for sign-ins under names that no
    /// operator has.
    #[schema(required = true, example = "ate.luz")]
    pub operator: Option<String>,
    #[schema(example = "room_change")]
    pub action: String,
    /// The affected object.
    #[schema(required = true, example = "room:newbie")]
    pub subject: Option<String>,
    /// Details of the act, whose form depends on the action.
    #[schema(value_type = Object)]
    pub detail: Value,
    /// `desk` or `api` for a session, `token` for a program with an API token, `command` for the
    /// command line.
    #[schema(example = "desk")]
    pub channel: String,
    /// The client's address; for IPv6 its network.
    #[schema(required = true, example = "203.0.113.7")]
    pub address: Option<String>,
}
