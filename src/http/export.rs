//! All that is held of a player, as one document.
//!
//! It is gathered from every part that holds something, page by page. Bounds: so many are gathered
//! at once on a node, since a document may have a hundred thousand entries.

use std::fmt;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::Semaphore;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{Bans, Bar, HeldDevice, HeldSession, ListedBan};
use crate::archive;
use crate::auth::Player;
use crate::db::Failure;
use crate::ledger::EntryFilter;
use crate::notices::Notices;
use crate::reports::PlayerNote;
use crate::rewards::Rewards;
use crate::social::{KeptReport, Relation};

use super::games::MyGame;
use super::me::{Me, WalletBody, WalletEntry};
use super::notices::Notice;
use super::openid::WaysInBody;
use super::profiles::{Statistics, statistics_of};
use super::rewards::RewardsBody;
use super::social::ListedPlayer;
use super::{Problem, Services, Time};

/// Documents that are gathered at once in this process.
static GATHERED: Semaphore = Semaphore::const_new(2);

/// What is asked of the other parts at once.
const PAGE: u32 = 100;

/// All that is held of a player.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Export {
    exported_at: Time,
    player: Me,
    ways_in: WaysInBody,
    devices: Vec<ExportedDevice>,
    /// As far back as they are kept, oldest first.
    sessions: Vec<ExportedSession>,
    bans: Vec<ExportedBan>,
    /// What kept the player from speaking.
    mutes: Vec<ExportedBan>,
    /// Whom the player blocks, and whom it mutes, the latest first.
    blocked_players: Vec<ListedPlayer>,
    muted_players: Vec<ListedPlayer>,
    /// What the player has reported of others, newest first.
    reports_made: Vec<ReportMade>,
    /// What others have reported of the player, newest first. Who they are and what they wrote is
    /// theirs.
    reports_received: Vec<ReportReceived>,
    /// What the player has done, by game.
    statistics: Vec<Statistics>,
    wallet: WalletBody,
    /// Newest first.
    wallet_entries: Vec<WalletEntry>,
    /// Finished games, newest first. Their records are at `/v1/games/{id}/record`.
    games: Vec<MyGame>,
    /// Newest first.
    notices: Vec<Notice>,
    rewards: RewardsBody,
    /// What those who run the house wrote about the player, the newest 50.
    notes: Vec<ExportedNote>,
}

/// What somebody who runs the house wrote about the player.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExportedNote {
    written_at: Time,
    words: String,
}

impl From<PlayerNote> for ExportedNote {
    fn from(note: PlayerNote) -> Self {
        Self { written_at: note.written_at.into(), words: note.words }
    }
}

/// A device that signs the player in. Of its id only a hash is kept.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExportedDevice {
    created_at: Time,
    last_seen_at: Time,
}

impl From<HeldDevice> for ExportedDevice {
    fn from(device: HeldDevice) -> Self {
        let HeldDevice { created_at, last_seen_at } = device;
        Self { created_at: created_at.into(), last_seen_at: last_seen_at.into() }
    }
}

/// A session, ended or not.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExportedSession {
    id: Uuid,
    #[schema(example = "guest")]
    method: &'static str,
    #[schema(required = true, example = "Tongits/2.1 (Android 15)")]
    user_agent: Option<String>,
    #[schema(required = true, example = "203.0.113.7")]
    address: Option<String>,
    created_at: Time,
    last_seen_at: Time,
    #[schema(required = true)]
    ended_at: Option<Time>,
    #[schema(required = true, example = "signed_out")]
    end_reason: Option<String>,
}

impl From<HeldSession> for ExportedSession {
    fn from(session: HeldSession) -> Self {
        let HeldSession { id, method, user_agent, address, .. } = session;
        Self {
            id: id.0,
            method: method.as_str(),
            user_agent,
            address,
            created_at: session.created_at.into(),
            last_seen_at: session.last_seen_at.into(),
            ended_at: session.ended_at.map(Time::from),
            end_reason: session.end_reason,
        }
    }
}

/// A ban or a mute, over or not.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExportedBan {
    #[schema(example = "collusion")]
    reason: String,
    banned_at: Time,
    /// Null for good.
    #[schema(required = true)]
    ends_at: Option<Time>,
    #[schema(required = true)]
    lifted_at: Option<Time>,
}

impl From<ListedBan> for ExportedBan {
    fn from(listed: ListedBan) -> Self {
        let ListedBan { ban, banned_at, lifted_at } = listed;
        Self {
            reason: ban.reason.to_string(),
            banned_at: banned_at.into(),
            ends_at: ban.ends_at.map(Time::from),
            lifted_at: lifted_at.map(Time::from),
        }
    }
}

/// What the player has reported of another one.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReportMade {
    reported: Uuid,
    #[serde(flatten)]
    report: ReportReceived,
    #[schema(required = true)]
    words: Option<String>,
}

/// A report, and what was made of it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReportReceived {
    game: Uuid,
    #[schema(example = "collusion")]
    reason: &'static str,
    reported_at: Time,
    /// `upheld` or `dismissed`; null while it waits.
    #[schema(required = true, example = "dismissed")]
    outcome: Option<&'static str>,
    #[schema(required = true)]
    decided_at: Option<Time>,
}

impl From<&KeptReport> for ReportReceived {
    fn from(kept: &KeptReport) -> Self {
        let decision = kept.decision.as_ref();
        Self {
            game: kept.report.game.0,
            reason: kept.report.reason.as_str(),
            reported_at: Time::from_ms(kept.created_at_ms),
            outcome: decision.map(|decision| decision.outcome.as_str()),
            decided_at: decision.map(|decision| Time::from_ms(decision.at_ms)),
        }
    }
}

impl From<KeptReport> for ReportMade {
    fn from(kept: KeptReport) -> Self {
        let report = ReportReceived::from(&kept);
        Self { reported: kept.report.reported.0, report, words: kept.report.words }
    }
}

/// Export all that is held of me
///
/// One document, as an attachment. While others are being gathered it is refused as `unavailable`;
/// ask again.
#[utoipa::path(
    get,
    path = "/v1/me/export",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "The document", body = Export))
)]
pub(super) async fn export_me(
    State(services): State<Services>,
    player: Player,
) -> Result<Response, Problem> {
    let turn = GATHERED.try_acquire();
    let _turn = turn.map_err(|_| Problem::unavailable(&"others are being exported"))?;
    let export = gather(&services, &player).await?;
    let attachment = "attachment; filename=\"bahay-export.json\"";
    Ok(([(CONTENT_DISPOSITION, attachment)], Json(export)).into_response())
}

async fn gather(services: &Services, player: &Player) -> Result<Export, Problem> {
    let (id, accounts) = (player.id, &services.accounts);
    let profile = accounts.profile(id).await?;
    let profile = profile.ok_or_else(|| Problem::internal(&"a signed-in player has no row"))?;
    let bars = async |bar| {
        let listed = Bans::new(services.pool.clone()).of(id, bar).await;
        let listed = listed.map_err(|error| unread(Failure::of(&error), &error))?;
        Ok::<_, Problem>(listed.into_iter().map(Into::into).collect())
    };
    let related = async |relation| {
        let related = services.social.related(id, relation).await;
        let related = related.map_err(|error| unread(Failure::of(&error), &error))?;
        Ok::<_, Problem>(related.into_iter().map(Into::into).collect())
    };
    let made = services.social.reports_by(id).await;
    let made = made.map_err(|error| unread(Failure::of(&error), &error))?;
    let received = services.social.reports_about(id).await;
    let received = received.map_err(|error| unread(Failure::of(&error), &error))?;
    let notes = services.reports.notes(id).await;
    let notes = notes.map_err(|error| unread(Failure::of(&error), &error))?;
    let rewards: &Rewards = &services.rewards;
    Ok(Export {
        exported_at: services.clock.now().into(),
        player: profile.into(),
        ways_in: accounts.ways_in(id).await?.into(),
        devices: accounts.held_devices(id).await?.into_iter().map(Into::into).collect(),
        sessions: accounts.held_sessions(id).await?.into_iter().map(Into::into).collect(),
        bans: bars(Bar::Entry).await?,
        mutes: bars(Bar::Speech).await?,
        blocked_players: related(Relation::Block).await?,
        muted_players: related(Relation::Mute).await?,
        reports_made: made.into_iter().map(ReportMade::from).collect(),
        reports_received: received.iter().map(ReportReceived::from).collect(),
        statistics: statistics_of(&services.standings, id).await?,
        wallet: services.ledger.wallet(id).await?.into(),
        wallet_entries: entries(services, player).await?,
        games: played(services, player).await?,
        notices: told(services, player).await?,
        rewards: rewards.standing(id).await?.into(),
        notes: notes.into_iter().map(ExportedNote::from).collect(),
    })
}

async fn entries(services: &Services, player: &Player) -> Result<Vec<WalletEntry>, Problem> {
    let (mut all, mut cursor, filter) = (Vec::new(), None, EntryFilter::default());
    loop {
        let page = services.ledger.entries(player.id, &filter, cursor, PAGE).await?;
        all.extend(page.items.into_iter().map(WalletEntry::from));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

async fn played(services: &Services, player: &Player) -> Result<Vec<MyGame>, Problem> {
    let (mut all, mut cursor) = (Vec::new(), None);
    let everything = archive::Filter::default();
    loop {
        let page = archive::by_player(&services.pool, player.id, &everything, cursor, PAGE).await;
        let page = page.map_err(|error| unread(Failure::of(&error), &error))?;
        for game in page.items {
            all.push(MyGame::try_from(game)?);
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

async fn told(services: &Services, player: &Player) -> Result<Vec<Notice>, Problem> {
    let notices = Notices::new(services.pool.clone());
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = notices
            .list(player.id, cursor, PAGE)
            .await
            .map_err(|error| unread(Failure::of(&error), &error))?;
        all.extend(page.items.into_iter().map(Notice::from));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

fn unread(failure: Failure, error: &dyn fmt::Display) -> Problem {
    match failure {
        Failure::Contended | Failure::Lost | Failure::Exhausted => Problem::unavailable(error),
        Failure::Broken => Problem::internal(error),
    }
}
