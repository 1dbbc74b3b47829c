//! Players as operators see them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::ids::PlayerId;
use crate::ledger::{Ledger, Wallet};
use crate::operators::audit::Action;
use crate::operators::{Audit, Moderation, NoteText, Operator, RoleMissing};
use crate::reports::{
    Complaint, DeviceRow, LinkedPlayer, Partner, PlayerNote, PlayerReport, Reports, SessionRow,
    SharedSource,
};
use crate::standings::Standings;

use crate::http::core::idempotency::{IdempotentRequest, RequiredKeyHeader};
use crate::http::player::people::profiles::{Statistics, load_statistics};
use crate::http::{
    Code, CodeExt as _, Coins, Path, Problem, ProblemBody, Query, Time, database_problem,
};

/// The longest prefix of a name that can be searched for, in characters.
const SEARCH_LENGTH_MAX: usize = 64;

/// A search for players.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// A prefix of the name, in any case; or the player's id.
    #[param(min_length = 1, max_length = 64, pattern = "^[^\\u0000]+$", example = "mar")]
    search: String,
}

/// A player in a search result.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerMatch {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
}

/// A player as operators see one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerDossier)]
pub(crate) struct PlayerDossierBody {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
    created_at: Time,
    /// The time of deletion. A deleted player keeps its id and the history of its coins.
    #[schema(required = true)]
    deleted_at: Option<Time>,
    /// The coins that can be spent.
    available: Coins,
    /// The coins that are held as stakes of open games.
    held: Coins,
    /// Statistics by game.
    statistics: Vec<Statistics>,
    /// The devices that sign the player in, at most 50, most recently seen first.
    devices: Vec<PlayerDevice>,
    has_password: bool,
    /// The number of external accounts that sign the player in.
    identities: i64,
    /// The newest 50 sessions.
    sessions: Vec<PlayerSession>,
    /// The newest 50 notes by operators.
    notes: Vec<PlayerNoteBody>,
    /// The newest 50 reports by other players.
    complaints: Vec<ComplaintBody>,
    /// Other players who have signed in from the same device or address.
    linked_players: Vec<SharedByBody>,
}

/// A device that signs a player in. Its name is unknown to the service.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerDevice {
    first_seen_at: Time,
    last_seen_at: Time,
}

impl From<DeviceRow> for PlayerDevice {
    fn from(device: DeviceRow) -> Self {
        let DeviceRow { first_seen_at, last_seen_at } = device;
        Self { first_seen_at: first_seen_at.into(), last_seen_at: last_seen_at.into() }
    }
}

/// A session of a player.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerSession {
    id: Uuid,
    /// `guest`, `password` or `openid`.
    #[schema(example = "guest")]
    method: String,
    #[schema(required = true)]
    user_agent: Option<String>,
    /// The client's address; for IPv6 its network. Null for the roles `viewer` and `finance`.
    #[schema(required = true, example = "192.0.2.7")]
    address: Option<String>,
    created_at: Time,
    last_seen_at: Time,
    expires_at: Time,
    /// The time at which the session was ended before it expired.
    #[schema(required = true)]
    ended_at: Option<Time>,
}

/// A note by an operator about a player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerNote)]
pub(crate) struct PlayerNoteBody {
    id: Uuid,
    /// The operator's name.
    #[schema(example = "ate.luz")]
    written_by: String,
    written_at: Time,
    words: String,
}

/// A report by a player about another player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Complaint)]
pub(crate) struct ComplaintBody {
    reporter: Uuid,
    game: Uuid,
    #[schema(example = "collusion")]
    reason: String,
    #[schema(required = true)]
    words: Option<String>,
    created_at: Time,
}

/// The attribute that two players share.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SharedSignal {
    Device,
    Address,
}

/// Another player with the same device or address.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SharedBy)]
pub(crate) struct SharedByBody {
    player: Uuid,
    #[schema(example = "Jose")]
    name: String,
    shared: SharedSignal,
}

/// Another player, with the games and payments between the two in the newest 500 games of the
/// first. An indication of collusion, not proof of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Partner)]
pub(crate) struct PartnerBody {
    player: Uuid,
    #[schema(example = "Jose")]
    name: String,
    /// The number of games in which both sat, and the number of games examined.
    games: i64,
    of: i64,
    /// The coins that the player paid to this one, before the fee, and the number of games in which
    /// it did.
    paid: Coins,
    games_paid: i64,
    /// The coins that the player received from this one, before the fee, and the number of games in
    /// which it did.
    received: Coins,
    games_received: i64,
    #[schema(required = true)]
    shared: Option<SharedSignal>,
}

impl From<SharedSource> for SharedSignal {
    fn from(shared: SharedSource) -> Self {
        match shared {
            SharedSource::Device => Self::Device,
            SharedSource::Address => Self::Address,
        }
    }
}

impl From<LinkedPlayer> for SharedByBody {
    fn from(one: LinkedPlayer) -> Self {
        Self { player: one.player.0, name: one.name, shared: one.shared.into() }
    }
}

impl From<SessionRow> for PlayerSession {
    fn from(row: SessionRow) -> Self {
        Self {
            id: row.session,
            method: row.method,
            user_agent: row.user_agent,
            address: row.address,
            created_at: row.created_at.into(),
            last_seen_at: row.last_seen_at.into(),
            expires_at: row.expires_at.into(),
            ended_at: row.revoked_at.map(Time::from),
        }
    }
}

impl From<PlayerNote> for PlayerNoteBody {
    fn from(note: PlayerNote) -> Self {
        let PlayerNote { note: id, written_by, written_at, words } = note;
        Self { id, written_by, written_at: written_at.into(), words }
    }
}

impl From<Complaint> for ComplaintBody {
    fn from(complaint: Complaint) -> Self {
        let Complaint { reporter, game, reason, words, created_at } = complaint;
        let created_at = created_at.into();
        Self { reporter: reporter.0, game: game.0, reason, words, created_at }
    }
}

impl From<Partner> for PartnerBody {
    fn from(partner: Partner) -> Self {
        Self {
            player: partner.player.0,
            name: partner.name,
            games: partner.games,
            of: partner.of,
            paid: partner.paid.into(),
            games_paid: partner.games_paid,
            received: partner.received.into(),
            games_received: partner.games_received,
            shared: partner.shared.map(SharedSignal::from),
        }
    }
}

/// Find players
///
/// At most 20, by name. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/players",
    tag = "operators",
    security(("operator_token" = [])),
    params(SearchQuery),
    responses((status = 200, description = "Players", body = Vec<PlayerMatch>))
)]
pub(crate) async fn find_players(
    State(reports): State<Reports>,
    _: Operator,
    Query(query): Query<SearchQuery>,
) -> Result<Json<Vec<PlayerMatch>>, Problem> {
    let text = parse_search(&query.search)?;
    let found = reports.find_players(text).await.map_err(database_problem)?;
    Ok(Json(found.into_iter().map(|(id, name)| PlayerMatch { id: id.0, name }).collect()))
}

/// Returns the search text if its length is within bounds and it contains no zero byte.
pub(crate) fn parse_search(text: &str) -> Result<&str, Problem> {
    let is_valid = (1..=SEARCH_LENGTH_MAX).contains(&text.chars().count()) && !text.contains('\0');
    if is_valid {
        Ok(text)
    } else {
        Err(Code::QueryInvalid.with_detail("a search has 1 to 64 characters"))
    }
}

/// Show a player to operators
///
/// Wallet, statistics, sessions, notes and reports. For operators of every role; addresses only for
/// the roles `support` and `admin`, each view of which is recorded in the audit log.
#[utoipa::path(
    get,
    path = "/v1/operator/players/{id}",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The player")),
    responses(
        (status = 200, description = "The player", body = PlayerDossierBody),
        (status = 404, description = "`player_not_found`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_player_report(
    State(reports): State<Reports>,
    State(ledger): State<Ledger>,
    State(standings): State<Standings>,
    State(audit): State<Audit>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<PlayerDossierBody>, Problem> {
    let player = PlayerId(id);
    let report = load_player_report(&reports, &audit, &operator, player).await?;
    let Wallet { available, held, .. } = ledger.wallet(player).await?;
    let statistics = load_statistics(&standings, player).await?;
    let linked_players = reports.linked_players(player).await.map_err(database_problem)?;
    let PlayerReport { name, created_at, deleted_at, has_password, identities, .. } = report;
    Ok(Json(PlayerDossierBody {
        id,
        name,
        created_at: created_at.into(),
        deleted_at: deleted_at.map(Time::from),
        available: available.into(),
        held: held.into(),
        statistics,
        devices: report.devices.into_iter().map(PlayerDevice::from).collect(),
        has_password,
        identities,
        sessions: report.sessions.into_iter().map(PlayerSession::from).collect(),
        notes: report.notes.into_iter().map(PlayerNoteBody::from).collect(),
        complaints: report.complaints.into_iter().map(ComplaintBody::from).collect(),
        linked_players: linked_players.into_iter().map(SharedByBody::from).collect(),
    }))
}

/// Returns a player's report. Its addresses are included only for operators who may moderate, after
/// the view is recorded in the audit log.
pub(crate) async fn load_player_report(
    reports: &Reports,
    audit: &Audit,
    operator: &Operator,
    player: PlayerId,
) -> Result<PlayerReport, Problem> {
    let report = reports.player(player).await.map_err(database_problem)?;
    let mut report = report.ok_or_else(|| Code::PlayerNotFound.problem())?;
    if report.sessions.iter().all(|session| session.address.is_none()) {
        return Ok(report);
    }
    match operator.require_moderator() {
        Ok(by) => {
            let subject = format!("player:{player}");
            let recorded =
                audit.record(by.actor(), Action::AddressesSeen, &subject, json!({})).await;
            recorded.map_err(database_problem)?;
        }
        Err(RoleMissing { .. }) => {
            report.sessions.iter_mut().for_each(|session| session.address = None);
        }
    }
    Ok(report)
}

/// List a player's partners
///
/// The players with whom it has shared most of its newest 500 games, and the coins that flowed in
/// each direction. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/players/{id}/partners",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The player")),
    responses(
        (status = 200, description = "At most 20 partners", body = Vec<PartnerBody>),
        (status = 404, description = "`player_not_found`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_partners(
    State(reports): State<Reports>,
    _: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Vec<PartnerBody>>, Problem> {
    let player = PlayerId(id);
    if reports.player(player).await.map_err(database_problem)?.is_none() {
        return Err(Code::PlayerNotFound.problem());
    }
    let partners = reports.partners(player).await.map_err(database_problem)?;
    Ok(Json(partners.into_iter().map(PartnerBody::from).collect()))
}

/// A note to write about a player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewNote {
    /// The text, for operators to read; notes are never changed.
    #[schema(min_length = 1, max_length = 2000, example = "Asked for a refund by mail.")]
    words: String,
}

/// Write a note about a player
///
/// For the roles `support` and `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/players/{id}/notes",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The player"), RequiredKeyHeader),
    request_body = NewNote,
    responses(
        (status = 204, description = "The note is written"),
        (status = 404, description = "`player_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `idempotency_key_invalid` or \
            `idempotency_key_reused`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn write_note(
    State(moderation): State<Moderation>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let NewNote { words } = request.parse_body()?;
    let text: NoteText =
        words.parse().map_err(|error| Code::BodyInvalid.with_detail(format!("{error}")))?;
    let work = async move |attempt| {
        moderation.write_note(&by, PlayerId(id), &text, attempt).await?;
        Ok(StatusCode::NO_CONTENT)
    };
    Ok(request.execute(&operator, work).await)
}

/// Sign a player out everywhere
///
/// All its sessions end, on all nodes within a second. For the roles `support` and `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/players/{id}/sign-out",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The player")),
    responses(
        (status = 204, description = "All sessions have ended"),
        (status = 404, description = "`player_not_found`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn end_sessions(
    State(moderation): State<Moderation>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let by = operator.require_moderator()?;
    moderation.end_sessions(&by, PlayerId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
