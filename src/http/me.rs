//! The player itself: profile and wallet, and the end of both.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{AccountError, Accounts, Avatar, Change, Name, Profile, TimeZone};
use crate::auth::{Holder, Player};
use crate::ids::PlayerId;
use crate::ledger::{Entry, Ledger, LedgerError, Wallet};
use crate::lobby::LobbyError;

use super::entries_query::{EntriesParams, EntriesQuery};
use super::proof::ProofHeader;
use super::{
    Body, Code, Coins, Cursors, NameText, PageOf, Problem, ProblemBody, Services, Time,
    TimeZoneText, TransferCode,
};

/// A player, to itself.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Me {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    avatar: String,
    /// The time zone whose days count for rewards; null for the house's own.
    #[schema(required = true, example = "Asia/Manila")]
    time_zone: Option<String>,
    created_at: Time,
    /// From when on the name may be changed again; null when it never was changed.
    #[schema(required = true)]
    renamable_at: Option<Time>,
}

impl From<Profile> for Me {
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
    responses((status = 200, description = "The player", body = Me))
)]
pub(super) async fn show_me(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<Json<Me>, Problem> {
    found(accounts.profile(player.id).await?)
}

/// What a player may change about itself. What is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeMe {
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
/// A name may be changed once in seven days. From then on it is the player's own: nobody else can
/// take it, or one that looks like it, and names by which the house is meant are nobody's. Whoever
/// has a password signs in by the new name. If anything is refused, nothing is changed.
#[utoipa::path(
    patch,
    path = "/v1/me",
    tag = "me",
    security(("access_token" = [])),
    request_body = ChangeMe,
    responses(
        (status = 200, description = "The player as it is now", body = Me),
        (
            status = 409,
            description = "`name_taken`: somebody has this name, or one that looks like it. \
                `name_changed_lately`: the detail says from when on it may be changed again",
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
pub(super) async fn change_me(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ChangeMe>,
) -> Result<Json<Me>, Problem> {
    let ChangeMe { name, avatar, time_zone } = body;
    expect_known(time_zone.as_ref())?;
    if name.is_none() && avatar.is_none() && time_zone.is_none() {
        return found(accounts.profile(player.id).await?);
    }
    let change = Change { name: name.as_ref(), avatar, time_zone: time_zone.as_ref() };
    found(accounts.change(player.id, change).await?)
}

impl Me {
    pub(super) fn id(&self) -> PlayerId {
        PlayerId(self.id)
    }
}

/// Rejects a zone that does not exist.
fn expect_known(zone: Option<&TimeZone>) -> Result<(), Problem> {
    match zone {
        Some(zone) if !zone.is_known() => Err(Code::TimeZoneUnknown.plain()),
        Some(_) | None => Ok(()),
    }
}

/// Delete my account
///
/// For good. Name, picture, time zone, devices, password, identities and what sessions know of where
/// they came from are gone, and all sessions end, so that a call that is repeated is refused as
/// `token_revoked`. What was booked and played stays, under an id that means nobody; coins that are
/// left are nobody's. Not while the player sits at a table: leave it first.
#[utoipa::path(
    delete,
    path = "/v1/me",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    responses(
        (status = 204, description = "The account is gone"),
        (status = 403, description = "`proof_missing`, `proof_refused`: show first by \
            `POST /v1/me/proof` that the account is yours", body = ProblemBody,
            content_type = "application/problem+json"),
        (
            status = 409,
            description = "`in_game`: the player sits at a table, or a game is not finished. \
                `seating`: a request of the player is being seated. `table_halted`: an operator \
                decides what becomes of the table",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(super) async fn delete_me(
    State(services): State<Services>,
    Holder { player, .. }: Holder,
) -> Result<StatusCode, Problem> {
    match services.lobby.seated_at(player.id).await {
        Ok(None) | Err(LobbyError::NotSeated) => {}
        Ok(Some(_)) => return Err(AccountError::InGame.into()),
        Err(error) => return Err(error.into()),
    }
    services.accounts.delete(&player).await?;
    // Who has sat down in between does not sit there until the table has waited for it.
    match services.lobby.leave(player.id).await {
        Ok(_) | Err(LobbyError::NotSeated) => {}
        Err(error) => tracing::warn!(%error, "a deleted player may still have a seat"),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// A token names a player that exists: players are never removed.
fn found(profile: Option<Profile>) -> Result<Json<Me>, Problem> {
    let missing = || Problem::internal(&"a signed-in player has no row");
    profile.map(|profile| Json(profile.into())).ok_or_else(missing)
}

/// What a player has.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Wallet)]
pub(super) struct WalletBody {
    /// What can be spent.
    available: Coins,
    /// What is held as a stake in a game that is going on.
    held: Coins,
    /// The number of the newest entry; 0 when there is none.
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
pub(super) async fn show_wallet(
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

/// One change of a wallet.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WalletEntry {
    /// Entries are numbered from 1 without a gap.
    version: i64,
    /// What the transfer was for.
    code: TransferCode,
    /// Below zero when coins left the wallet.
    amount: Coins,
    balance_before: Coins,
    balance_after: Coins,
    /// The game that it belongs to, if any.
    #[schema(required = true)]
    game: Option<Uuid>,
    /// Where the record of that game is, once it is settled.
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
/// Newest first. An entry never changes, and each starts from the balance that the one before
/// it left. A cursor is good for the filters that it was given with. Where a house keeps entries for
/// some months only, older ones are not listed.
#[utoipa::path(
    get,
    path = "/v1/me/wallet/entries",
    tag = "me",
    security(("access_token" = [])),
    params(EntriesParams),
    responses((status = 200, description = "A page of entries", body = PageOf<WalletEntry>))
)]
pub(super) async fn list_wallet_entries(
    State(ledger): State<Ledger>,
    State(cursors): State<Cursors>,
    player: Player,
    query: EntriesQuery,
) -> Result<Json<PageOf<WalletEntry>>, Problem> {
    let list = query.list();
    let cursor = cursors.open(&list, &player, query.cursor.as_deref())?;
    let page = ledger.entries(player.id, &query.filter, cursor, query.limit.items()).await?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(WalletEntry::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(&list, &player, &next)),
    }))
}

impl axum::extract::FromRef<Services> for Ledger {
    fn from_ref(services: &Services) -> Self {
        services.ledger.clone()
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        if error.is_transient() { Self::unavailable(&error) } else { Self::internal(&error) }
    }
}
