//! The player's own account: profile, wallet, and deletion.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{AccountError, Accounts, Avatar, Name, Profile, ProfileChange, TimeZone};
use crate::auth::{Holder, Player};
use crate::ids::PlayerId;
use crate::ledger::{Entry, Ledger, LedgerError, Wallet};
use crate::lobby::LobbyError;

use super::entries_query::{EntriesParams, EntriesQuery};
use crate::http::{
    Body, Code, CodeExt as _, Coins, Cursors, NameText, PageOf, Problem, ProblemBody, Services,
    Time, TimeZoneText, TransferCode,
};
use bahay_api::ProofHeader;

/// A player's own profile.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OwnProfile {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    avatar: String,
    /// The time zone whose days count for rewards; null for the house's time zone.
    #[schema(required = true, example = "Asia/Manila")]
    time_zone: Option<String>,
    created_at: Time,
    /// The time from which the name may be changed again; null if it was never changed.
    #[schema(required = true)]
    renamable_at: Option<Time>,
}

impl From<Profile> for OwnProfile {
    fn from(profile: Profile) -> Self {
        let Profile { id, name, avatar, time_zone, created_at, renamable_at } = profile;
        let renamable_at = renamable_at.map(Time::from);
        Self { id: id.0, name, avatar, time_zone, created_at: created_at.into(), renamable_at }
    }
}

/// Show my profile
#[utoipa::path(
    get,
    path = "/v1/me",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "The player", body = OwnProfile))
)]
pub(crate) async fn show_me(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<Json<OwnProfile>, Problem> {
    require_profile(accounts.profile(player.id).await?)
}

/// A change of the player's own profile. Absent fields stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileChangeRequest {
    #[schema(value_type = Option<NameText>)]
    name: Option<Name>,
    /// One of `GET /v1/avatars`.
    #[schema(value_type = Option<String>, pattern = "^[a-z-]{1,32}$", example = "tarsier")]
    avatar: Option<Avatar>,
    /// The IANA name of the time zone whose days count for rewards.
    #[schema(value_type = Option<TimeZoneText>)]
    time_zone: Option<TimeZone>,
}

/// Change my profile
///
/// A name may be changed once in seven days. A chosen name is reserved for the player: nobody else
/// can take it or a confusable name. Names that suggest the house are reserved for the house. A
/// player with a password signs in by the new name. If any part of the change is refused, nothing
/// is changed.
#[utoipa::path(
    patch,
    path = "/v1/me",
    tag = "me",
    security(("access_token" = [])),
    request_body = ProfileChangeRequest,
    responses(
        (status = 200, description = "The player after the change", body = OwnProfile),
        (
            status = 409,
            description = "`name_taken`: another player has the name, or a confusable one. \
                `name_changed_lately`: the detail states the time of the next change",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 422,
            description = "`body_invalid`, `time_zone_unknown`, or `name_reserved`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn change_me(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ProfileChangeRequest>,
) -> Result<Json<OwnProfile>, Problem> {
    let ProfileChangeRequest { name, avatar, time_zone } = body;
    require_known_zone(time_zone.as_ref())?;
    if name.is_none() && avatar.is_none() && time_zone.is_none() {
        return require_profile(accounts.profile(player.id).await?);
    }
    let change = ProfileChange { name: name.as_ref(), avatar, time_zone: time_zone.as_ref() };
    require_profile(accounts.update_profile(player.id, change).await?)
}

impl OwnProfile {
    pub(crate) fn id(&self) -> PlayerId {
        PlayerId(self.id)
    }
}

/// Rejects a time zone that does not exist.
fn require_known_zone(zone: Option<&TimeZone>) -> Result<(), Problem> {
    match zone {
        Some(zone) if !zone.is_known() => Err(Code::TimeZoneUnknown.problem()),
        Some(_) | None => Ok(()),
    }
}

/// Delete my account
///
/// Deletes name, picture, time zone, devices, password, identities and the origin data of sessions,
/// for good. All sessions end, so a retry is refused with `token_revoked`. Bookings and games
/// remain under an id that no longer identifies a person; remaining coins belong to nobody. Not
/// possible while the player sits at a table: leave it first.
#[utoipa::path(
    delete,
    path = "/v1/me",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    responses(
        (status = 204, description = "The account is deleted"),
        (status = 403, description = "`proof_missing`, `proof_refused`: obtain an account proof by \
            `POST /v1/me/proof` first", body = ProblemBody,
            content_type = "application/problem+json"),
        (
            status = 409,
            description = "`in_game`: the player sits at a table, or has an unfinished game. \
                `seating`: a request of the player is being seated. `table_halted`: an operator \
                decides about the table",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn delete_me(
    State(services): State<Services>,
    Holder { player, .. }: Holder,
) -> Result<StatusCode, Problem> {
    match services.lobby.seated_at(player.id).await {
        Ok(None) | Err(LobbyError::NotSeated) => {}
        Ok(Some(_)) => return Err(AccountError::InGame.into()),
        Err(error) => return Err(error.into()),
    }
    services.accounts.delete(&player).await?;
    // A player who sat down after the check above leaves at once, instead of after the table's
    // timeouts.
    match services.lobby.leave(player.id).await {
        Ok(_) | Err(LobbyError::NotSeated) => {}
        Err(error) => tracing::warn!(%error, "a deleted player may still hold a seat"),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the profile, which exists for every valid token: rows of players are never removed.
fn require_profile(profile: Option<Profile>) -> Result<Json<OwnProfile>, Problem> {
    let missing = || Problem::internal(&"a signed-in player has no row");
    profile.map(|profile| Json(profile.into())).ok_or_else(missing)
}

/// The balances of a player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Wallet)]
pub(crate) struct WalletBody {
    /// The amount that can be spent.
    available: Coins,
    /// The amount that is held as the stake of a running game.
    held: Coins,
    /// The number of the newest entry; 0 if there is none.
    version: i64,
}

/// Show my wallet
#[utoipa::path(
    get,
    path = "/v1/me/wallet",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "The wallet", body = WalletBody))
)]
pub(crate) async fn show_wallet(
    State(ledger): State<Ledger>,
    player: Player,
) -> Result<Json<WalletBody>, Problem> {
    Ok(Json(ledger.wallet(player.id).await?.into()))
}

impl From<Wallet> for WalletBody {
    fn from(wallet: Wallet) -> Self {
        let Wallet { available, held, version } = wallet;
        Self { available: available.into(), held: held.into(), version }
    }
}

/// One entry of a wallet.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WalletEntry {
    /// The number of the entry; entries are numbered from 1 without gaps.
    version: i64,
    /// The purpose of the transfer.
    code: TransferCode,
    /// The change of the balance; negative if coins left the wallet.
    amount: Coins,
    balance_before: Coins,
    balance_after: Coins,
    /// The game to which the transfer belongs, if any.
    #[schema(required = true)]
    game: Option<Uuid>,
    /// The path of that game's record, once it is settled.
    #[schema(required = true, example = "/v1/games/019a5b1e-7c1d-7d80-8f4e-3a1b2c4d5e6f/record")]
    record: Option<String>,
    booked_at: Time,
}

impl From<Entry> for WalletEntry {
    fn from(entry: Entry) -> Self {
        Self {
            version: entry.version,
            code: entry.code.into(),
            amount: entry.amount.into(),
            balance_before: entry.balance_before.into(),
            balance_after: entry.balance_after.into(),
            game: entry.game.map(|game| game.0),
            record: entry
                .game
                .filter(|_| entry.has_record)
                .map(|game| format!("/v1/games/{game}/record")),
            booked_at: Time::from_ms(entry.booked_at_ms),
        }
    }
}

/// List the entries of my wallet
///
/// Newest first. Entries never change, and each one starts from the balance that the previous one
/// left. A cursor is valid only with the filters for which it was issued. Entries beyond the
/// house's retention time are not listed.
#[utoipa::path(
    get,
    path = "/v1/me/wallet/entries",
    tag = "me",
    security(("access_token" = [])),
    params(EntriesParams),
    responses((status = 200, description = "A page of entries", body = PageOf<WalletEntry>))
)]
pub(crate) async fn list_wallet_entries(
    State(ledger): State<Ledger>,
    State(cursors): State<Cursors>,
    player: Player,
    query: EntriesQuery,
) -> Result<Json<PageOf<WalletEntry>>, Problem> {
    let list = query.list_name();
    let cursor = cursors.open(&list, &player, query.cursor.as_deref())?;
    let page = ledger.entries(player.id, &query.filter, cursor, query.limit.items()).await?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(WalletEntry::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(&list, &player, &next)),
    }))
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        if error.is_transient() { Self::unavailable(&error) } else { Self::internal(&error) }
    }
}
