//! The codes of refusals.
//!
//! A [`Code`] is the stable part of a refusal. Clients branch on the code and never on the texts,
//! which are written for people and may change. A code has one status and one title. A new reason
//! for a refusal is a new line in the list below.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! codes {
    ($($name:ident = $code:tt, $status:ident, $title:literal;)*) => {
        bahay_base::text_enum! {
            /// The reason for which a request was refused: stable, in snake case.
            pub enum Code {
                $($name = $code,)*
            }
        }

        impl Code {
            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)*
                }
            }

            /// Returns the summary, which is the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                }
            }
        }
    };
}

codes! {
    // The form of the request.
    RouteNotFound = "route_not_found", NOT_FOUND, "No resource at this address";
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "The method is not allowed here";
    PathInvalid = "path_invalid", UNPROCESSABLE_ENTITY, "The path is invalid";
    QueryInvalid = "query_invalid", UNPROCESSABLE_ENTITY, "The query is invalid";
    CursorInvalid = "cursor_invalid", UNPROCESSABLE_ENTITY,
        "The cursor was not issued for this list and account";
    BodyNotJson = "body_not_json", UNSUPPORTED_MEDIA_TYPE, "The body must be application/json";
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    BodyUnreadable = "body_unreadable", BAD_REQUEST, "The body could not be read";
    BodyMalformed = "body_malformed", BAD_REQUEST, "The body is not JSON";
    BodyInvalid = "body_invalid", UNPROCESSABLE_ENTITY, "The body is invalid";
    TimeZoneUnknown = "time_zone_unknown", UNPROCESSABLE_ENTITY, "The time zone does not exist";
    IdempotencyKeyMissing = "idempotency_key_missing", BAD_REQUEST,
        "This call requires an Idempotency-Key";
    IdempotencyKeyInvalid = "idempotency_key_invalid", UNPROCESSABLE_ENTITY,
        "An Idempotency-Key has 1 to 128 visible ASCII characters";
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY,
        "The Idempotency-Key was used for another request";
    IdempotencyKeyInUse = "idempotency_key_in_use", CONFLICT,
        "The call with this Idempotency-Key is still in progress";

    TooManyIdempotencyKeys = "too_many_idempotency_keys", TOO_MANY_REQUESTS,
        "Too many of your idempotency keys are stored";

    HostInvalid = "host_invalid", BAD_REQUEST, "A request must name exactly one host";

    // Authentication and authorization.
    TokenMissing = "token_missing", UNAUTHORIZED, "Sign in first";
    TokenMalformed = "token_malformed", UNAUTHORIZED, "The access token cannot be read";
    TokenForged = "token_forged", UNAUTHORIZED, "The access token was not issued by this server";
    TokenExpired = "token_expired", UNAUTHORIZED, "The access token has expired";
    TokenRevoked = "token_revoked", UNAUTHORIZED, "The session has ended";
    RefreshTokenUnknown = "refresh_token_unknown", UNAUTHORIZED, "The refresh token does not exist";
    RefreshTokenReused = "refresh_token_reused", UNAUTHORIZED,
        "The refresh token was used before, so its session has ended";
    RefreshTokenExpired = "refresh_token_expired", UNAUTHORIZED, "The refresh token has expired";
    SessionEnded = "session_ended", UNAUTHORIZED, "The session has ended";
    CredentialsWrong = "credentials_wrong", UNAUTHORIZED, "The name or the password is wrong";
    IdTokenRefused = "id_token_refused", UNAUTHORIZED, "The ID token is not accepted";
    ProofMissing = "proof_missing", FORBIDDEN, "An account proof is required";
    ProofRefused = "proof_refused", FORBIDDEN, "The account proof is invalid or has expired";
    Banned = "banned", FORBIDDEN, "You are banned";
    FormForeign = "form_foreign", FORBIDDEN, "The form was not sent from a page of the desk";
    OperatorTokenUnknown = "operator_token_unknown", UNAUTHORIZED,
        "The operator token does not exist";
    OperatorTokenExpired = "operator_token_expired", UNAUTHORIZED, "The operator token has expired";
    SecondFactorMissing = "second_factor_missing", FORBIDDEN,
        "This requires a session with the second factor";
    OperatorRoleMissing = "operator_role_missing", FORBIDDEN, "Your role does not permit this";

    // Rate limits and origins.
    TooManyRequests = "too_many_requests", TOO_MANY_REQUESTS, "Too many requests";
    SignInLocked = "sign_in_locked", TOO_MANY_REQUESTS, "Too many failed sign-ins by this name";
    ExportedLately = "exported_lately", TOO_MANY_REQUESTS,
        "You have exported your account recently";
    SignInBusy = "sign_in_busy", SERVICE_UNAVAILABLE, "Too many sign-ins are in progress";
    OriginRefused = "origin_refused", FORBIDDEN, "Pages of this origin may not call this server";

    // Games, reports and notices.
    GameNotFound = "game_not_found", NOT_FOUND, "You have played no such game";
    GameNotFinished = "game_not_finished", CONFLICT, "The game has no record yet";
    GameVoided = "game_voided", CONFLICT, "The game was voided and has no record";
    AnalysisBusy = "analysis_busy", TOO_MANY_REQUESTS, "Too many analyses are in progress";

    OwnPlayer = "own_player", CONFLICT, "You cannot do this to yourself";
    TooManyRelations = "too_many_relations", CONFLICT,
        "You have blocked or muted the maximum number of players";
    AlreadyReported = "already_reported", CONFLICT,
        "You have already reported this player for this game";
    ReportNotFound = "report_not_found", NOT_FOUND, "The report does not exist";
    ReportDecided = "report_decided", CONFLICT, "The report has already been decided";
    PairNotFound = "pair_not_found", NOT_FOUND,
        "These players have not played together in the period";
    NoticeNotFound = "notice_not_found", NOT_FOUND, "You have no such notice";

    // Accounts.
    PasswordWrong = "password_wrong", FORBIDDEN, "This is not your password";
    DeviceWrong = "device_wrong", FORBIDDEN, "This device does not sign you in";
    DeviceTaken = "device_taken", CONFLICT, "This device signs in another player";
    IdentityWrong = "identity_wrong", FORBIDDEN, "This identity is not linked to you";
    ProofInsufficient = "proof_insufficient", FORBIDDEN,
        "Show your password or an identity, not a device";
    PasswordEasy = "password_easy", UNPROCESSABLE_ENTITY, "The password is too easy to guess";
    PasswordSet = "password_set", CONFLICT, "You already have a password";
    PasswordNotSet = "password_not_set", CONFLICT, "You have no password yet";
    NameReserved = "name_reserved", UNPROCESSABLE_ENTITY, "The name is reserved for the house";
    NameTaken = "name_taken", CONFLICT, "The name, or a confusable one, is taken";
    NameChangedLately = "name_changed_lately", CONFLICT, "You have changed your name recently";
    IssuerUnknown = "issuer_unknown", NOT_FOUND, "The issuer is not configured";
    IssuerUnavailable = "issuer_unavailable", SERVICE_UNAVAILABLE,
        "The issuer's keys are unavailable";
    IdentityTaken = "identity_taken", CONFLICT, "The identity belongs to another player";
    IssuerLinked = "issuer_linked", CONFLICT, "You have linked another identity of this issuer";
    LastSignIn = "last_sign_in", CONFLICT, "This is your only sign-in method";
    SessionNotFound = "session_not_found", NOT_FOUND, "You have no such session";
    InGame = "in_game", CONFLICT, "You sit at a table, or have an unfinished game";

    // Rooms and tables.
    RoomNotFound = "room_not_found", NOT_FOUND, "The room does not exist";
    TooFewCoins = "too_few_coins", CONFLICT, "Your wallet holds less than the room requires";
    RoomClosed = "room_closed", CONFLICT, "The room is closed";
    SocketRequired = "socket_required", CONFLICT,
        "Open the socket first: seats are kept only for connected players";
    NotReadyBefore = "not_ready_before", TOO_MANY_REQUESTS,
        "You took seats and were not ready: wait before the next one";
    TooManyCoins = "too_many_coins", CONFLICT, "Your wallet holds more than the room allows";
    AccountRequired = "account_required", FORBIDDEN,
        "The room is for players with a password or an identity";
    PrivateBetTooHigh = "private_bet_too_high", CONFLICT,
        "A game could win more than you may still win at private tables";
    RoomLimit = "room_limit", CONFLICT, "You have reached the daily limit of wins in rooms";
    RoomsInvalid = "rooms_invalid", UNPROCESSABLE_ENTITY, "Name one to eight rooms of one game";
    SeatedElsewhere = "seated_elsewhere", CONFLICT, "You sit at another table";
    TicketNotFound = "ticket_not_found", NOT_FOUND, "You have no such ticket";
    TicketMatched = "ticket_matched", CONFLICT, "A table has already been found";
    CodeNotFound = "code_not_found", NOT_FOUND, "No table has this code";
    RulesInvalid = "rules_invalid", UNPROCESSABLE_ENTITY, "The rules are invalid";
    BetInvalid = "bet_invalid", UNPROCESSABLE_ENTITY,
        "The bet is out of the bounds of private tables";
    TooManyPrivateTables = "too_many_private_tables", CONFLICT, "You have too many private tables";
    PracticeFull = "practice_full", CONFLICT, "The limit of practice tables is reached";
    TableFull = "table_full", CONFLICT, "The table is full";
    KickedByHost = "kicked_by_host", FORBIDDEN, "The host has removed you";
    NotHost = "not_host", FORBIDDEN, "Only the host may do this";
    GameRunning = "game_running", CONFLICT, "A game is running";
    SeatAfterGame = "seat_after_game", CONFLICT, "A bot will give you its seat after this game";
    BotsUnavailable = "bots_unavailable", CONFLICT, "No house bot can join this table";
    RematchOver = "rematch_over", CONFLICT, "The game ended too long ago";
    RoomTaken = "room_taken", CONFLICT, "A room with this id exists";
    RoomNameTaken = "room_name_taken", CONFLICT, "Another room has this name";
    RoomChanged = "room_changed", CONFLICT, "The room was changed in the meantime";
    RoomUnsound = "room_unsound", UNPROCESSABLE_ENTITY, "The settings of the room are invalid";
    TooManyRooms = "too_many_rooms", CONFLICT, "The limit of rooms is reached";
    Seating = "seating", CONFLICT, "Another request of yours is being seated";
    NotSeated = "not_seated", NOT_FOUND, "You sit at no table";
    TableHalted = "table_halted", CONFLICT, "Your table was halted until an operator decides";

    // Tournaments.
    TournamentNotFound = "tournament_not_found", NOT_FOUND, "The tournament does not exist";
    TournamentCodeRequired = "tournament_code_required", FORBIDDEN,
        "The tournament is private and has another code";
    TournamentOver = "tournament_over", CONFLICT, "The tournament is over";
    RegistrationClosed = "registration_closed", CONFLICT, "Registration is closed";
    TournamentFull = "tournament_full", CONFLICT, "Every entry is taken";
    PassesNotAccepted = "passes_not_accepted", CONFLICT, "The tournament takes no passes";
    PassMissing = "pass_missing", CONFLICT, "The player has no unused pass that pays the buy-in";
    TournamentStarted = "tournament_started", CONFLICT, "The tournament has started";
    CancellationChanged = "cancellation_changed", CONFLICT,
        "The amounts of the cancellation have changed";
    TournamentApprovalRequired = "tournament_approval_required", CONFLICT,
        "The guarantees of the day require the approval of another operator";
    TournamentRequestNotFound = "tournament_request_not_found", NOT_FOUND,
        "The request for a tournament does not exist";
    TournamentRequestOwn = "tournament_request_own", FORBIDDEN,
        "You cannot decide on your own request for a tournament";
    TournamentRequestNotOwn = "tournament_request_not_own", CONFLICT,
        "Another operator requested this tournament";
    TournamentRequestNotIndependent = "tournament_request_not_independent", FORBIDDEN,
        "You are not independent of the operator who requested this tournament";
    TournamentRequestDecided = "tournament_request_decided", CONFLICT,
        "The request for a tournament is closed";
    TournamentScheduleNotFound = "tournament_schedule_not_found", NOT_FOUND,
        "The schedule does not exist";
    TournamentUnsound = "tournament_unsound", UNPROCESSABLE_ENTITY,
        "The terms of the tournament are invalid";
    NotRegistered = "not_registered", CONFLICT, "You are not registered";
    RoundNotFound = "round_not_found", NOT_FOUND, "The tournament has dealt no such round";
    RoundNotOver = "round_not_over", CONFLICT, "The round is still played at a table";
    NotArena = "not_arena", CONFLICT, "The tournament is no running arena";

    // Rewards.
    DailyClaimed = "daily_claimed", CONFLICT, "Today's reward has been claimed";
    ReliefNotDue = "relief_not_due", CONFLICT, "You have too many coins for relief";
    ReliefUsedUp = "relief_used_up", CONFLICT, "Today's reliefs have been claimed";
    NetworkUsedUp = "network_used_up", CONFLICT, "Your network has used up today's reliefs";
    WelcomeDue = "welcome_due", CONFLICT, "Your welcome grant is due first, on another day";

    // Corrections.
    PlayerNotFound = "player_not_found", NOT_FOUND, "The player does not exist";
    AccountNotFound = "account_not_found", NOT_FOUND, "The account does not exist";
    OperationNotFound = "operation_not_found", NOT_FOUND, "The operation does not exist";
    CorrectionNotFound = "correction_not_found", NOT_FOUND, "The correction does not exist";
    JobNotFound = "job_not_found", NOT_FOUND, "No dead job has this id";
    AdjustmentTooLarge = "adjustment_too_large", UNPROCESSABLE_ENTITY,
        "The amount exceeds the maximum of one adjustment";
    CorrectionOwn = "correction_own", FORBIDDEN, "You cannot decide on your own request";
    CorrectionNotOwn = "correction_not_own", CONFLICT, "Another operator requested this correction";
    CorrectionNotIndependent = "correction_not_independent", FORBIDDEN,
        "You are not independent of the requesting operator";
    AdjustmentDayMax = "adjustment_day_max", CONFLICT, "The daily limit of adjustments is exceeded";
    CorrectionDecided = "correction_decided", CONFLICT, "The correction is closed";
    NotReversible = "not_reversible", CONFLICT, "This operation cannot be reversed";
    AlreadyReversed = "already_reversed", CONFLICT, "This operation has already been reversed";
    ReversalRequested = "reversal_requested", CONFLICT,
        "A reversal of this operation awaits a decision";
    AdjustmentRequested = "adjustment_requested", CONFLICT,
        "An equal adjustment awaits a decision";
    PassNotFound = "pass_not_found", NOT_FOUND, "The pass does not exist";
    PassHeld = "pass_held", CONFLICT, "An entry of a tournament holds the pass";
    PassRevoked = "pass_revoked", CONFLICT, "The pass has already been revoked";
    RevocationRequested = "revocation_requested", CONFLICT,
        "The revocation of this pass awaits a decision";
    Overdrawn = "overdrawn", CONFLICT, "The balance of the paying account is too low";

    // Operators' actions.
    OperatorNotFound = "operator_not_found", NOT_FOUND, "The operator does not exist";
    OperatorTaken = "operator_taken", CONFLICT, "The operator name is, or was, in use";
    OperatorOwn = "operator_own", CONFLICT, "Another administrator must do this for you";
    LastAdministrator = "last_administrator", CONFLICT, "The house needs an administrator";
    NotBanned = "not_banned", CONFLICT, "The player is not banned";
    NotMuted = "not_muted", CONFLICT, "The player is not muted";
    SanctionNotFound = "sanction_not_found", NOT_FOUND, "No sanction in force has this id";
    TableNotFound = "table_not_found", NOT_FOUND, "The table does not exist";
    NoGame = "no_game", CONFLICT, "No game is running at the table";
    GameChanged = "game_changed", CONFLICT, "Another game is open at the table, or none";
    NotHalted = "not_halted", CONFLICT, "The table is not halted";
    TableBroken = "table_broken", CONFLICT, "The table's journal cannot be replayed";
    TableLive = "table_live", CONFLICT, "The table exists, and its POT is in play";
    PotEmpty = "pot_empty", CONFLICT, "The POT is empty";

    // The server.
    UpgradeRequired = "upgrade_required", UPGRADE_REQUIRED,
        "This endpoint requires a WebSocket upgrade";
    UpgradeInvalid = "upgrade_invalid", BAD_REQUEST, "The WebSocket upgrade is invalid";
    RequestTimeout = "request_timeout", REQUEST_TIMEOUT, "The request did not arrive in time";
    TimedOut = "timed_out", SERVICE_UNAVAILABLE, "The server did not answer in time";
    ArchiveUnreachable = "archive_unreachable", SERVICE_UNAVAILABLE,
        "The archive of records is unreachable";
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "The server cannot do this at present";
    Internal = "internal", INTERNAL_SERVER_ERROR, "Internal server error";
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Self::ALL.iter().map(|code| code.as_str())))
            .description(Some(
                "The kind of a problem, for programs. Codes may be added, but do not change.",
            ))
            .examples(["token_expired"])
            .into()
    }
}

impl ToSchema for Code {
    fn name() -> Cow<'static, str> {
        "ProblemCode".into()
    }
}

/// The reason for which a request was refused.
#[derive(Debug, Serialize, ToSchema)]
#[schema(
    as = Problem,
    description = "The reason for which a request was refused (RFC 9457). Branch on `code`."
)]
pub struct ProblemBody {
    /// The address of a page about this kind of problem, relative to the server.
    #[schema(example = "/problems#token_expired")]
    pub r#type: String,
    /// The kind of problem, for people.
    #[schema(example = "The access token has expired")]
    pub title: &'static str,
    /// The HTTP status, repeated.
    #[schema(example = 401)]
    pub status: u16,
    /// The kind of problem, for programs; stable.
    pub code: Code,
    /// A text for people about this occurrence.
    #[schema(
        value_type = String,
        required = false,
        example = "the access token has expired; use the refresh token"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'static, str>>,
}

impl Code {
    /// Returns the problem that refuses a request with this code.
    pub fn body(self, detail: Option<Cow<'static, str>>) -> ProblemBody {
        let r#type = format!("/problems#{}", self.as_str());
        ProblemBody {
            r#type,
            title: self.title(),
            status: self.status().as_u16(),
            code: self,
            detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_unique_and_in_snake_case() {
        let codes: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), Code::ALL.len());
        for code in Code::ALL {
            let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            assert!(code.as_str().bytes().all(is_allowed), "{code:?}");
            assert!(code.status().is_client_error() || code.status().is_server_error());
        }
    }
}
