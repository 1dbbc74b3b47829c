//! The player's own account: profile, wallet, and deletion.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::account::{
    EntryFilter, OwnProfile, ProfileChangeRequest, Wallet, WalletEntry,
};

use crate::accounts::{AccountError, Accounts};
use crate::auth::{Holder, Player};
use crate::http::{Body, Code, CodeExt as _, PageOf, PageRequest, Problem, Services, Time};
use crate::ledger::{self, Entry, Ledger, LedgerError};
use crate::lobby::LobbyError;

pub(crate) async fn show_me(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<Json<OwnProfile>, Problem> {
    require_profile(accounts.profile(player.id).await?).map(Json)
}

pub(crate) async fn change_me(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ProfileChangeRequest>,
) -> Result<Json<OwnProfile>, Problem> {
    let ProfileChangeRequest { name, avatar, time_zone } = &body;
    if time_zone.as_ref().is_some_and(|zone| !zone.is_known()) {
        return Err(Code::TimeZoneUnknown.problem());
    }
    if name.is_none() && avatar.is_none() && time_zone.is_none() {
        return show_me(State(accounts), player).await;
    }
    require_profile(accounts.update_profile(player.id, &body).await?).map(Json)
}

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
pub(super) fn require_profile(profile: Option<OwnProfile>) -> Result<OwnProfile, Problem> {
    profile.ok_or_else(|| Problem::internal(&"a signed-in player has no row"))
}

pub(crate) async fn show_wallet(
    State(ledger): State<Ledger>,
    player: Player,
) -> Result<Json<Wallet>, Problem> {
    Ok(Json(to_wallet(ledger.wallet(player.id).await?)))
}

pub(super) fn to_wallet(wallet: ledger::Wallet) -> Wallet {
    let ledger::Wallet { available, held, version } = wallet;
    Wallet { available: available.into(), held: held.into(), version }
}

/// Returns an entry of the ledger as the API shows it.
pub(super) fn to_wallet_entry(entry: Entry) -> WalletEntry {
    let record = entry.game.filter(|_| entry.has_record);
    WalletEntry {
        version: entry.version,
        code: entry.code,
        amount: entry.amount.into(),
        balance_before: entry.balance_before.into(),
        balance_after: entry.balance_after.into(),
        game: entry.game.map(|game| game.0),
        record: record.map(|game| format!("/v1/games/{game}/record")),
        booked_at: Time::from_ms(entry.booked_at_ms),
    }
}

pub(crate) async fn list_wallet_entries(
    State(ledger): State<Ledger>,
    request: PageRequest<Player, EntryFilter>,
) -> Result<Json<PageOf<WalletEntry>>, Problem> {
    let list = format!("entries {:?}", request.filter);
    let EntryFilter { code, from, to } = request.filter.clone();
    let filter =
        ledger::EntryFilter { codes: code, from: from.map(Into::into), to: to.map(Into::into) };
    let read = |below, limit| ledger.entries(request.caller.id, &filter, below, limit);
    Ok(Json(request.read(&list, read).await?.map(to_wallet_entry)))
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        if error.is_transient() { Self::unavailable(&error) } else { Self::internal(&error) }
    }
}
