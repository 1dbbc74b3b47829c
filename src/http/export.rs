//! All that is held of a player, as one document.
//!
//! It is gathered from every part that holds something: the short lists first, as the [`ExportHead`],
//! and the long ones in portions while the document is sent, the next one when
//! the client has taken the one before. Bounds: a portion of a document is in memory, so many are
//! gathered at once on a node, and a player has one document an hour.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::Semaphore;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{SanctionReader, SanctionKind, HeldDevice, HeldSession, SanctionRecord};
use crate::archive;
use crate::auth::Player;
use crate::ids::SessionId;
use crate::ledger::{EntryCursor, EntryFilter};
use crate::notices::{self, Notices};
use crate::reports::PlayerNote;
use crate::rewards::Rewards;
use crate::social::{KeptReport, Relation};

use super::games::GameSummary;
use super::own_account::{OwnProfile, WalletBody, WalletEntry};
use super::notices::Notice;
use super::openid::WaysInBody;
use super::profiles::{Statistics, statistics_of};
use super::rewards::RewardsBody;
use super::social::ListedPlayer;
use super::{Code, Problem, ProblemBody, Services, Time, unread};

/// Portions that are gathered at once in this process.
static GATHERED: Semaphore = Semaphore::const_new(2);

/// Rows of a portion.
const PAGE: u32 = 100;

const ATTACHMENT: &str = "attachment; filename=\"bahay-export.json\"";

/// All that is held of a player.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Export {
    #[serde(flatten)]
    head: ExportHead,
    /// As far back as they are kept, oldest first.
    sessions: Vec<ExportedSession>,
    /// Newest first.
    wallet_entries: Vec<WalletEntry>,
    /// Finished games, newest first. Their records are at `/v1/games/{id}/record`.
    games: Vec<GameSummary>,
    /// Newest first.
    notices: Vec<Notice>,
}

/// The fields of an export that are short.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExportHead {
    exported_at: Time,
    player: OwnProfile,
    ways_in: WaysInBody,
    devices: Vec<ExportedDevice>,
    bans: Vec<ExportedSanction>,
    /// What kept the player from speaking.
    mutes: Vec<ExportedSanction>,
    /// Whom the player blocks, and whom it mutes, the latest first.
    blocked_players: Vec<ListedPlayer>,
    muted_players: Vec<ListedPlayer>,
    /// What the player has reported of others, newest first.
    reports_made: Vec<SentReport>,
    /// What others have reported of the player, newest first. Who they are and what they wrote is
    /// theirs.
    reports_received: Vec<ReceivedReport>,
    /// What the player has done, by game.
    statistics: Vec<Statistics>,
    wallet: WalletBody,
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
pub(super) struct ExportedSanction {
    #[schema(example = "collusion")]
    reason: String,
    imposed_at: Time,
    /// Null for good.
    #[schema(required = true)]
    ends_at: Option<Time>,
    #[schema(required = true)]
    lifted_at: Option<Time>,
}

impl From<SanctionRecord> for ExportedSanction {
    fn from(listed: SanctionRecord) -> Self {
        let SanctionRecord { sanction, imposed_at, lifted_at } = listed;
        Self {
            reason: sanction.reason.to_string(),
            imposed_at: imposed_at.into(),
            ends_at: sanction.ends_at.map(Time::from),
            lifted_at: lifted_at.map(Time::from),
        }
    }
}

/// What the player has reported of another one.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SentReport {
    reported: Uuid,
    #[serde(flatten)]
    report: ReceivedReport,
    #[schema(required = true)]
    words: Option<String>,
}

/// A report, and what was made of it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReceivedReport {
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

impl From<&KeptReport> for ReceivedReport {
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

impl From<KeptReport> for SentReport {
    fn from(kept: KeptReport) -> Self {
        let report = ReceivedReport::from(&kept);
        Self { reported: kept.report.reported.0, report, words: kept.report.words }
    }
}

/// Export all that is held of me
///
/// One document, as an attachment, sent while it is read; if it breaks off, so does the connection.
/// IdempotentRequest an hour: one that failed is not counted, but one that the client did not read to its end is.
#[utoipa::path(
    get,
    path = "/v1/me/export",
    tag = "me",
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The document", body = Export),
        (status = 429, description = "`exported_lately`: `Retry-After` says when there is another \
            one", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn export_me(
    State(services): State<Services>,
    method: Method,
    player: Player,
) -> Result<Response, Problem> {
    if method == Method::HEAD {
        return Ok(as_attachment(Body::empty()));
    }
    let unavailable = |error| Problem::unavailable(&error);
    if let Some(wait) = services.live.begin_export(player.id).await.map_err(unavailable)? {
        return Err(Code::ExportedLately.plain().again_after(wait));
    }
    let gathered = gather_head(&services, &player).await;
    let head = match gathered.and_then(|head| open_document(&head)) {
        Ok(head) => head,
        Err(problem) => {
            cancel(&services, &player).await;
            return Err(problem);
        }
    };
    services.live.count_export(player.id).await.map_err(unavailable)?;
    let export = ExportStream { services, player, part: ExportSection::Sessions(None), is_begun: false };
    let rest = stream::try_unfold(Some(export), async |export| match export {
        Some(export) => export.portion().await.map(Some),
        None => Ok(None),
    });
    let body = stream::StreamExt::chain(stream::iter([Ok(head)]), rest);
    Ok(as_attachment(Body::from_stream(body)))
}

fn as_attachment(body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CONTENT_DISPOSITION, HeaderValue::from_static(ATTACHMENT)),
    ];
    (headers, body).into_response()
}

/// Lets the player have another export soon, since this one has failed.
async fn cancel(services: &Services, player: &Player) {
    if let Err(error) = services.live.cancel_export(player.id).await {
        tracing::warn!(%error, "an export that failed counts for an hour");
    }
}

async fn gather_head(services: &Services, player: &Player) -> Result<ExportHead, Problem> {
    let _turn = GATHERED.acquire().await.map_err(|error| Problem::internal(&error))?;
    let id = player.id;
    let accounts = &services.accounts;
    let profile = accounts.profile(id).await?;
    let profile = profile.ok_or_else(|| Problem::internal(&"a signed-in player has no row"))?;
    let sanctions = async |kind| {
        let listed = SanctionReader::new(services.pool.clone()).list(id, kind).await.map_err(unread)?;
        Ok::<_, Problem>(listed.into_iter().map(Into::into).collect())
    };
    let related = async |relation| {
        let related = services.social.related(id, relation).await.map_err(unread)?;
        Ok::<_, Problem>(related.into_iter().map(Into::into).collect())
    };
    let made = services.social.reports_by(id).await.map_err(unread)?;
    let received = services.social.reports_about(id).await.map_err(unread)?;
    let notes = services.reports.notes(id).await.map_err(unread)?;
    let rewards: &Rewards = &services.rewards;
    Ok(ExportHead {
        exported_at: services.clock.now().into(),
        player: profile.into(),
        ways_in: accounts.ways_in(id).await?.into(),
        devices: accounts.held_devices(id).await?.into_iter().map(Into::into).collect(),
        bans: sanctions(SanctionKind::Ban).await?,
        mutes: sanctions(SanctionKind::Mute).await?,
        blocked_players: related(Relation::Block).await?,
        muted_players: related(Relation::Mute).await?,
        reports_made: made.into_iter().map(SentReport::from).collect(),
        reports_received: received.iter().map(ReceivedReport::from).collect(),
        statistics: statistics_of(&services.standings, id).await?,
        wallet: services.ledger.wallet(id).await?.into(),
        rewards: rewards.standing(id).await?.into(),
        notes: notes.into_iter().map(ExportedNote::from).collect(),
    })
}

/// Writes the beginning of the document, up to the first of its sessions.
fn open_document(head: &ExportHead) -> Result<Vec<u8>, Problem> {
    let mut text = serde_json::to_vec(head).map_err(|error| Problem::internal(&error))?;
    // The object goes on behind its last field.
    text.pop();
    text.extend_from_slice(b",\"sessions\":[");
    Ok(text)
}

/// A document that is being sent.
struct ExportStream {
    services: Services,
    player: Player,
    part: ExportSection,
    /// Set once the list has an item.
    is_begun: bool,
}

/// The list that comes next, and where it goes on.
enum Part {
    Sessions(Option<SessionId>),
    Entries(Option<EntryCursor>),
    Games(Option<archive::Cursor>),
    Notices(Option<notices::Cursor>),
}

/// The document ends here; why is in the log.
#[derive(Debug, thiserror::Error)]
#[error("the export broke off")]
struct ExportError;

impl ExportStream {
    /// Reads the next portion, and returns its text and what is left.
    async fn portion(self) -> Result<(Vec<u8>, Option<Self>), ExportError> {
        let services = self.services.clone();
        let player = self.player;
        match self.read_portion().await {
            Ok(portion) => Ok(portion),
            // It was logged where it was made.
            Err(Problem { .. }) => {
                cancel(&services, &player).await;
                Err(ExportError)
            }
        }
    }

    async fn read_portion(mut self) -> Result<(Vec<u8>, Option<Self>), Problem> {
        let _turn = GATHERED.acquire().await.map_err(|error| Problem::internal(&error))?;
        let id = self.player.id;
        let mut text = Vec::new();
        let next = match self.part {
            ExportSection::Sessions(after) => {
                let held = self.services.accounts.held_sessions(id, after, PAGE).await?;
                let is_full = u32::try_from(held.len()).is_ok_and(|rows| rows == PAGE);
                let last = held.last().map(|session| session.id).filter(|_| is_full);
                self.write(&mut text, held.into_iter().map(ExportedSession::from))?;
                last.map(|last| ExportSection::Sessions(Some(last)))
                    .or_else(|| self.open_list(&mut text, "wallet_entries", ExportSection::Entries(None)))
            }
            ExportSection::Entries(cursor) => {
                let filter = EntryFilter::default();
                let page = self.services.ledger.entries(id, &filter, cursor, PAGE).await?;
                self.write(&mut text, page.items.into_iter().map(WalletEntry::from))?;
                page.next
                    .map(|next| ExportSection::Entries(Some(next)))
                    .or_else(|| self.open_list(&mut text, "games", ExportSection::Games(None)))
            }
            ExportSection::Games(cursor) => {
                let everything = archive::Filter::default();
                let pool = &self.services.pool;
                let page = archive::by_player(pool, id, &everything, cursor, PAGE).await;
                let page = page.map_err(unread)?;
                let games = page.items.into_iter().map(GameSummary::try_from);
                let games = games.collect::<Result<Vec<_>, _>>()?;
                self.write(&mut text, games.into_iter())?;
                page.next
                    .map(|next| ExportSection::Games(Some(next)))
                    .or_else(|| self.open_list(&mut text, "notices", ExportSection::Notices(None)))
            }
            ExportSection::Notices(cursor) => {
                let inbox = Notices::new(self.services.pool.clone());
                let page = inbox.list(id, cursor, PAGE).await.map_err(unread)?;
                self.write(&mut text, page.items.into_iter().map(Notice::from))?;
                page.next.map(|next| ExportSection::Notices(Some(next)))
            }
        };
        Ok(match next {
            Some(part) => (text, Some(Self { part, ..self })),
            None => {
                text.extend_from_slice(b"]}");
                (text, None)
            }
        })
    }

    fn write<T: Serialize>(
        &mut self,
        text: &mut Vec<u8>,
        items: impl Iterator<Item = T>,
    ) -> Result<(), Problem> {
        for item in items {
            if self.is_begun {
                text.push(b',');
            }
            self.is_begun = true;
            serde_json::to_writer(&mut *text, &item).map_err(|error| Problem::internal(&error))?;
        }
        Ok(())
    }

    /// Ends a list and begins the next one.
    fn open_list(&mut self, text: &mut Vec<u8>, name: &str, part: ExportSection) -> Option<ExportSection> {
        self.is_begun = false;
        text.extend_from_slice(format!("],\"{name}\":[").as_bytes());
        Some(part)
    }
}
