//! The player itself: profile and wallet.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{Accounts, Name, Profile, TimeZone};
use crate::auth::Player;
use crate::ledger::{Entry, Ledger, LedgerError, Wallet};

use super::entries_query::{EntriesParams, EntriesQuery};
use super::{
    Body, Code, Coins, Cursors, NameText, PageOf, Problem, ProblemBody, Services, Time,
    TransferCode,
};

/// A player, to itself.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Me {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
    #[schema(required = true, example = "Asia/Manila")]
    time_zone: Option<String>,
    created_at: Time,
}

impl From<Profile> for Me {
    fn from(profile: Profile) -> Self {
        let Profile { id, name, time_zone, created_at } = profile;
        Self { id: id.0, name, time_zone, created_at: created_at.into() }
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
    /// The IANA name of the time zone whose days count for rewards.
    #[schema(
        value_type = Option<String>,
        pattern = "^[A-Za-z][A-Za-z0-9_+/-]{0,63}$",
        example = "Asia/Manila"
    )]
    time_zone: Option<TimeZone>,
}

/// Change my profile
#[utoipa::path(
    patch,
    path = "/v1/me",
    tag = "me",
    security(("access_token" = [])),
    request_body = ChangeMe,
    responses(
        (status = 200, description = "The player as it is now", body = Me),
        (
            status = 422,
            description = "`body_invalid`, or `time_zone_unknown`",
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
    let ChangeMe { name, time_zone } = body;
    if time_zone.as_ref().is_some_and(|zone| !zone.is_known()) {
        return Err(Code::TimeZoneUnknown.plain());
    }
    if name.is_none() && time_zone.is_none() {
        return found(accounts.profile(player.id).await?);
    }
    found(accounts.change(player.id, name.as_ref(), time_zone.as_ref()).await?)
}

/// A token names a player that exists: players are never deleted.
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
    let Wallet { available, held, version } = ledger.wallet(player.id).await?;
    Ok(Json(WalletBody { available: available.into(), held: held.into(), version }))
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
/// it left. A cursor is good for the filters that it was given with.
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
