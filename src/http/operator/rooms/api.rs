//! Rooms, as operators create and change them.

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::response::Response;
use bahay_engine::coins;
use bahay_engine::game::Skill;
use bahay_engine::table::{Clocks, Hits, Price, Spectators, Terms};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operators::Operator;
use crate::rooms::{Catalog, Room, RoomDraft, RoomError, RoomRevision, choose_rules};

use crate::http::core::idempotency::{IdempotentRequest, RequiredKeyHeader};
use crate::http::{Code, CodeExt as _, Path, Problem, ProblemBody, Services, Time};

/// The settings of a room. Amounts are in hundredths of a coin.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomSettings {
    /// The name that is displayed to people.
    #[schema(example = "Newbie", min_length = 1, max_length = 40)]
    name: String,
    /// True if games may begin.
    #[schema(example = true)]
    is_open: bool,
    /// The kind of game, which a room never changes.
    #[schema(example = "tongits", max_length = 32)]
    kind: String,
    /// The name of one of the game's rule sets.
    #[schema(example = "kingdom", max_length = 32)]
    rule_set: String,
    /// In a request, the fields of the game's rules that differ from the rule set, such as
    /// `{"countdowns": {"draw_ms": 5000}}`. In a response, all rules.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    rules: serde_json::Value,
    /// The value of one count at multiplier 1.
    #[schema(minimum = 1, example = 100)]
    bet: i64,
    #[schema(minimum = 1, example = 1)]
    multiplier: u32,
    /// The house's share of a winner's receipts, in ten-thousandths.
    #[schema(maximum = 5000, example = 500)]
    fee_basis_points: u32,
    /// The settings of the POT; null for a room without one.
    #[schema(required = true, inline)]
    pot: Option<RoomPot>,
    /// The minimum balance of a wallet, if it exceeds the stakes.
    #[schema(minimum = 0, example = 0)]
    coins_min: i64,
    /// The maximum balance of a wallet; null for no limit.
    #[schema(required = true, minimum = 0, example = 5_000_000)]
    coins_max: Option<i64>,
    #[schema(inline)]
    clocks: RoomClocks,
    /// True if anybody may watch the open cards at the room's tables, one turn late. A table keeps
    /// the value with which it was created.
    #[serde(default)]
    watchable: bool,
    /// The skill of the house bots.
    #[serde(default)]
    bots: BotSkill,
    /// True if guests may not sit down, only players with a password or an identity.
    #[serde(default)]
    needs_account: bool,
}

/// The skill of house bots.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BotSkill {
    /// By rules of thumb.
    #[default]
    Greedy,
    /// The skill with which the AI acts for players after a takeover.
    Quick,
}

/// The settings of a POT.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomPot {
    /// The number of bets that each seat pays into the POT before each game.
    #[schema(minimum = 1, example = 1)]
    ante: u32,
    /// The number of consecutive wins that take the POT.
    #[schema(minimum = 2, maximum = 3, example = 2)]
    hits_to_win: u8,
    /// The number of counts that each loser pays for the second consecutive win, if three take the
    /// POT.
    #[schema(example = 0)]
    second_hit_bonus: u32,
}

/// The time limits of a room, in milliseconds, up to ten minutes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomClocks {
    /// The time in which players declare that they are ready.
    #[schema(minimum = 1, maximum = 600_000, example = 10_000)]
    prepare_ms: u32,
    /// The thinking time of the AI; less than every countdown.
    #[schema(example = 1_000)]
    think_ms: u32,
    /// The grace of a player whose connection is lost, before the AI takes over (rule 8.3).
    #[schema(minimum = 1, maximum = 600_000, example = 15_000)]
    grace_ms: u32,
    /// The number of consecutive countdowns that a player may miss before the AI takes over.
    #[schema(minimum = 1, maximum = 255, example = 2)]
    missed_turns_to_takeover: u8,
    /// The time for which a disconnected player keeps a seat at a table that waits for others.
    #[schema(minimum = 1, maximum = 600_000, example = 30_000)]
    absence_ms: u32,
}

/// A room to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateRoom {
    /// The id in paths and accounts: a lower-case letter, then letters, digits and hyphens.
    #[schema(example = "weekend", pattern = "^[a-z][a-z0-9-]{0,31}$")]
    id: String,
    settings: RoomSettings,
}

/// A change of a room's settings.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeRoom {
    /// The revision on which the change is based (optimistic concurrency).
    #[schema(example = 3)]
    revision: u32,
    settings: RoomSettings,
}

/// A revision of a room.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RoomRevision)]
pub(crate) struct RoomRevisionBody {
    #[schema(example = "newbie")]
    id: String,
    /// The revision's number, which every change increments.
    #[schema(example = 3)]
    revision: u32,
    settings: RoomSettings,
    /// The operator's name; null for the initial rooms of the house.
    #[schema(required = true, example = "ate.luz")]
    changed_by: Option<String>,
    changed_at: Time,
}

/// The revisions of a room.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RoomRevisions {
    items: Vec<RoomRevisionBody>,
}

impl RoomSettings {
    fn from_room(room: &Room) -> Self {
        let Terms { rules, price, hits, clocks, spectators, bots, .. } = room.terms();
        let draft = RoomDraft::from(room);
        Self {
            name: draft.name,
            is_open: draft.is_open,
            kind: room.kind().to_owned(),
            rule_set: draft.rule_set,
            rules: serde_json::to_value(rules).unwrap_or_default(),
            bet: price.bet.hundredths(),
            multiplier: price.multiplier,
            fee_basis_points: price.fee_basis_points,
            pot: hits.map(|Hits { ante, to_win: hits_to_win, second_hit_bonus }| RoomPot {
                ante,
                hits_to_win,
                second_hit_bonus,
            }),
            coins_min: draft.coins_min.hundredths(),
            coins_max: draft.coins_max.map(coins::Coins::hundredths),
            clocks: RoomClocks {
                prepare_ms: clocks.prepare_ms,
                think_ms: clocks.think_ms,
                grace_ms: clocks.grace_ms,
                missed_turns_to_takeover: clocks.missed_turns_to_takeover,
                absence_ms: clocks.absence_ms,
            },
            watchable: *spectators == Spectators::Anybody,
            bots: match bots {
                Skill::Greedy => BotSkill::Greedy,
                Skill::Quick => BotSkill::Quick,
            },
            needs_account: draft.needs_account,
        }
    }

    fn draft(self, id: String) -> Result<RoomDraft, RoomError> {
        let amount = coins::Coins::from_hundredths;
        let Self { kind, rule_set, rules: switches, .. } = self;
        let rules = choose_rules(&kind, &rule_set, &switches)?.rules;
        let terms =
            Terms {
                room: id,
                rules,
                price: Price {
                    bet: amount(self.bet),
                    multiplier: self.multiplier,
                    fee_basis_points: self.fee_basis_points,
                },
                hits: self.pot.map(|RoomPot { ante, hits_to_win: to_win, second_hit_bonus }| {
                    Hits { ante, to_win, second_hit_bonus }
                }),
                clocks: Clocks {
                    prepare_ms: self.clocks.prepare_ms,
                    think_ms: self.clocks.think_ms,
                    grace_ms: self.clocks.grace_ms,
                    missed_turns_to_takeover: self.clocks.missed_turns_to_takeover,
                    absence_ms: self.clocks.absence_ms,
                    ..Clocks::default()
                },
                spectators: if self.watchable { Spectators::Anybody } else { Spectators::Nobody },
                bots: match self.bots {
                    BotSkill::Greedy => Skill::Greedy,
                    BotSkill::Quick => Skill::Quick,
                },
                private: None,
                practice: false,
            };
        let coins_min = amount(self.coins_min);
        let coins_max = self.coins_max.map(amount);
        let name = self.name;
        let is_open = self.is_open;
        let needs_account = self.needs_account;
        Ok(RoomDraft { name, is_open, rule_set, terms, coins_min, coins_max, needs_account })
    }
}

impl From<RoomRevision> for RoomRevisionBody {
    fn from(RoomRevision { room, changed_by, changed_at }: RoomRevision) -> Self {
        Self {
            id: room.id().to_owned(),
            revision: room.revision(),
            settings: RoomSettings::from_room(&room),
            changed_by,
            changed_at: changed_at.into(),
        }
    }
}

/// List a room's revisions
///
/// Newest first, at most a hundred. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/rooms/{room}/revisions",
    tag = "operators",
    security(("operator_token" = [])),
    params(("room" = String, Path, max_length = 32, description = "The room's id", example = "newbie")),
    responses(
        (status = 200, description = "Its revisions", body = RoomRevisions),
        (status = 404, description = "`room_not_found`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_room_revisions(
    State(rooms): State<Catalog>,
    _operator: Operator,
    Path(id): Path<String>,
) -> Result<Json<RoomRevisions>, Problem> {
    let items = rooms.revisions(&id).await?.into_iter().map(RoomRevisionBody::from).collect();
    Ok(Json(RoomRevisions { items }))
}

/// Create a room
///
/// For the role `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/rooms",
    tag = "operators",
    security(("operator_token" = [])),
    params(RequiredKeyHeader),
    request_body = CreateRoom,
    responses(
        (status = 201, description = "The room", body = RoomRevisionBody),
        (status = 409, description = "`room_taken`: the id is in use. `too_many_rooms`. Or \
            `idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `room_unsound`: the settings are inconsistent, \
            `idempotency_key_invalid` or `idempotency_key_reused`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn create_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let CreateRoom { id, settings } = request.parse_body()?;
    let work = async move |_| {
        let revision = rooms.create(&by, &settings.draft(id)?).await?;
        Ok((StatusCode::CREATED, Json(RoomRevisionBody::from(revision))))
    };
    Ok(request.execute(&operator, work).await)
}

/// Change a room
///
/// Takes effect on every node within a second. Tables take new terms when they begin to prepare
/// their next game, and new POT rules once no POT waits. If the rule set changes, a table continues
/// to play for its POT, if one waits, and then frees its seats. For the role `admin`.
#[utoipa::path(
    put,
    path = "/v1/operator/rooms/{room}",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("room" = String, Path, max_length = 32, description = "The room's id", example = "newbie"),
        RequiredKeyHeader
    ),
    request_body = ChangeRoom,
    responses(
        (status = 200, description = "The changed room", body = RoomRevisionBody),
        (status = 404, description = "`room_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`room_changed`: the revision is outdated. Or \
            `idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 422, description = "`path_invalid`, `body_invalid`, `room_unsound`: the \
            settings are inconsistent, `idempotency_key_invalid` or `idempotency_key_reused`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn change_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    Path(id): Path<String>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let ChangeRoom { revision, settings } = request.parse_body()?;
    let work = async move |_| {
        let revision = rooms.change(&by, revision, &settings.draft(id)?).await?;
        Ok(Json(RoomRevisionBody::from(revision)))
    };
    Ok(request.execute(&operator, work).await)
}

/// Open a room
///
/// For the role `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/rooms/{room}/opening",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("room" = String, Path, max_length = 32, description = "The room's id", example = "newbie"),
        RequiredKeyHeader
    ),
    responses(
        (status = 200, description = "The opened room", body = RoomRevisionBody),
        (status = 404, description = "`room_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`room_changed`: another change was made meanwhile. Or \
            `idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn open_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    Path(id): Path<String>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    set_open(rooms, operator, id, RoomState::Open, request).await
}

/// Close a room
///
/// Running games are finished; no other begins, and seats are freed between games. A POT waits
/// until the room opens again. For the role `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/rooms/{room}/closing",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("room" = String, Path, max_length = 32, description = "The room's id", example = "newbie"),
        RequiredKeyHeader
    ),
    responses(
        (status = 200, description = "The closed room", body = RoomRevisionBody),
        (status = 404, description = "`room_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`room_changed`: another change was made meanwhile. Or \
            `idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn close_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    Path(id): Path<String>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    set_open(rooms, operator, id, RoomState::Closed, request).await
}

/// The state to which a room is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoomState {
    Open,
    Closed,
}

async fn set_open(
    rooms: Catalog,
    operator: Operator,
    id: String,
    state: RoomState,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let work = async move |_| {
        let revision = rooms.set_open(&by, &id, state == RoomState::Open).await?;
        Ok(Json(RoomRevisionBody::from(revision)))
    };
    Ok(request.execute(&operator, work).await)
}

impl FromRef<Services> for Catalog {
    fn from_ref(services: &Services) -> Self {
        services.lobby.catalog().clone()
    }
}

impl From<RoomError> for Problem {
    fn from(error: RoomError) -> Self {
        let code = match &error {
            RoomError::Unknown { .. } => Code::RoomNotFound,
            RoomError::Taken { .. } => Code::RoomTaken,
            RoomError::Changed { .. } => Code::RoomChanged,
            RoomError::Unsound { .. } => Code::RoomUnsound,
            RoomError::TooMany => Code::TooManyRooms,
            RoomError::Unavailable { .. } => return Self::unavailable(&error),
            RoomError::Broken { .. } => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}
