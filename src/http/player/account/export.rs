//! The export of all data held about a player, as one JSON document.
//!
//! The document is collected from every module that holds data about the player. The short lists
//! come first, as the [`ExportHead`]. The long lists follow in portions, each of which is read only
//! after the client has received the previous one (backpressure). Bounds: one portion of a document
//! is in memory, the number of portions that a node reads at once is limited, and a player may
//! export once an hour.

use axum::body::Body;
use axum::extract::State;
use axum::http::Method;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bahay_api::operator::players::PlayerNote;
use bahay_api::player::export::{
    ExportHead, ExportedNote, ExportedSanction, ExportedTournament, ReceivedReport, SentReport,
};
use bahay_api::player::games::GameFilter;
use futures_util::stream;
use serde::Serialize;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::own_account::{require_profile, to_wallet, to_wallet_entry};
use crate::accounts::{SanctionKind, SanctionReader, SanctionRecord};
use crate::archive;
use crate::auth::Player;
use crate::clock::Timestamp;
use crate::http::player::people::profiles::load_statistics;
use crate::http::player::tables::tournaments::to_pass;
use crate::http::{Code, CodeExt as _, Problem, Services, Time};
use crate::ledger::EntryFilter;
use crate::notices::Notices;
use crate::social::Relation;

/// Limits the number of portions that this process reads at once.
static READ_PERMITS: Semaphore = Semaphore::const_new(2);

/// The number of rows in a portion.
const PORTION_ROWS: u32 = 100;

const ATTACHMENT: &str = "attachment; filename=\"bahay-export.json\"";

pub(crate) async fn export_me(
    State(services): State<Services>,
    method: Method,
    player: Player,
) -> Result<Response, Problem> {
    if method == Method::HEAD {
        return Ok(attachment_response(Body::empty()));
    }
    let unavailable = |error| Problem::unavailable(&error);
    if let Some(wait) = services.live.begin_export(player.id).await.map_err(unavailable)? {
        return Err(Code::ExportedLately.problem().with_retry_after(wait));
    }
    let head = gather_head(&services, &player).await;
    let head = match head.and_then(|head| open_document(&head)) {
        Ok(head) => head,
        Err(problem) => {
            cancel_export(&services, &player).await;
            return Err(problem);
        }
    };
    services.live.count_export(player.id).await.map_err(unavailable)?;
    let section = ExportSection::Sessions(None);
    let export = ExportStream { services, player, section, is_begun: false };
    let rest = stream::try_unfold(Some(export), async |export| match export {
        Some(export) => export.next_portion().await.map(Some),
        None => Ok(None),
    });
    let body = stream::StreamExt::chain(stream::iter([Ok(head)]), rest);
    Ok(attachment_response(Body::from_stream(body)))
}

fn attachment_response(body: Body) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CONTENT_DISPOSITION, ATTACHMENT)];
    (headers, body).into_response()
}

/// Releases the player's rate limit after an export that failed, so that the player can retry soon.
async fn cancel_export(services: &Services, player: &Player) {
    if let Err(error) = services.live.cancel_export(player.id).await {
        tracing::warn!(%error, "a failed export still counts against the rate limit");
    }
}

async fn gather_head(services: &Services, player: &Player) -> Result<ExportHead, Problem> {
    let _permit = READ_PERMITS.acquire().await.map_err(|error| Problem::internal(&error))?;
    let id = player.id;
    let accounts = &services.accounts;
    let social = &services.social;
    let sanctions = async |kind| {
        let reader = SanctionReader::new(services.pool.clone());
        let listed = reader.list(id, kind).await?.into_iter();
        let exported =
            listed.map(|SanctionRecord { sanction, imposed_at, lifted_at, .. }| ExportedSanction {
                reason: sanction.reason.to_string(),
                imposed_at: imposed_at.into(),
                ends_at: sanction.ends_at.map(Time::from),
                lifted_at: lifted_at.map(Time::from),
            });
        Ok::<_, Problem>(exported.collect())
    };
    let (made, received) = social.list_reports_of(id).await?;
    let tournaments = services.tournaments.list_by_player(id).await?.into_iter();
    let tournaments = tournaments.map(|entry| ExportedTournament {
        tournament: entry.id.0,
        name: entry.name,
        state: entry.state,
        announced_at: entry.created_at.into(),
        place: entry.place,
        prize: entry.prize.map(Into::into),
    });
    let passes = services.tournaments.list_passes(id).await?.into_iter();
    let notes = services.reports.notes(id).await?;
    let notes = notes.into_iter().map(|note| {
        let PlayerNote { written_at, words, .. } = note;
        ExportedNote { written_at, words }
    });
    Ok(ExportHead {
        exported_at: services.clock.now().into(),
        player: require_profile(accounts.profile(id).await?)?,
        sign_in_methods: accounts.sign_in_methods(id).await?,
        devices: accounts.list_devices(id).await?,
        bans: sanctions(SanctionKind::Ban).await?,
        mutes: sanctions(SanctionKind::Mute).await?,
        blocked_players: social.list_relations(id, Relation::Block).await?,
        muted_players: social.list_relations(id, Relation::Mute).await?,
        reports_made: made.into_iter().map(SentReport::from).collect(),
        reports_received: received.iter().map(ReceivedReport::from).collect(),
        statistics: load_statistics(&services.standings, id).await?,
        wallet: to_wallet(services.ledger.wallet(id).await?),
        rewards: services.rewards.status(id).await?.into(),
        tournaments: tournaments.collect(),
        passes: passes.map(to_pass).collect(),
        notes: notes.collect(),
    })
}

/// Writes the beginning of the document, up to the first item of `sessions`.
fn open_document(head: &ExportHead) -> Result<Vec<u8>, Problem> {
    let mut text = serde_json::to_vec(head).map_err(|error| Problem::internal(&error))?;
    // The closing brace is removed, because more fields follow.
    text.pop();
    text.extend_from_slice(b",\"sessions\":[");
    Ok(text)
}

/// The state of an export between two portions.
struct ExportStream {
    services: Services,
    player: Player,
    section: ExportSection,
    /// True if the current list has an item.
    is_begun: bool,
}

/// The list that the next portion reads, with the cursor at which it continues.
#[derive(Clone, Copy)]
enum ExportSection {
    Sessions(Option<Uuid>),
    Entries(Option<(i64, i16)>),
    Games(Option<(Timestamp, Uuid)>),
    Notices(Option<(Timestamp, Uuid)>),
}

/// The export stopped before its end. The cause is in the log.
#[derive(Debug, thiserror::Error)]
#[error("the export failed")]
struct ExportError;

impl ExportStream {
    /// Reads the next portion. Returns its text and the state after it, which is `None` at the end.
    async fn next_portion(self) -> Result<(Vec<u8>, Option<Self>), ExportError> {
        let services = self.services.clone();
        let player = self.player;
        match self.read_portion().await {
            Ok(portion) => Ok(portion),
            // `Problem` logs its cause when it is made.
            Err(Problem { .. }) => {
                cancel_export(&services, &player).await;
                Err(ExportError)
            }
        }
    }

    async fn read_portion(mut self) -> Result<(Vec<u8>, Option<Self>), Problem> {
        let _permit = READ_PERMITS.acquire().await.map_err(|error| Problem::internal(&error))?;
        let id = self.player.id;
        let mut text = Vec::new();
        let next = match self.section {
            ExportSection::Sessions(after) => {
                let accounts = &self.services.accounts;
                let held = accounts.list_session_records(id, after, PORTION_ROWS).await?;
                let is_full = u32::try_from(held.len()).is_ok_and(|rows| rows == PORTION_ROWS);
                let last = held.last().map(|session| session.id).filter(|_| is_full);
                self.write_items(&mut text, held)?;
                last.map(|last| ExportSection::Sessions(Some(last)))
            }
            ExportSection::Entries(cursor) => {
                let filter = EntryFilter::default();
                let page = self.services.ledger.entries(id, &filter, cursor, PORTION_ROWS).await?;
                self.write_items(&mut text, page.items.into_iter().map(to_wallet_entry))?;
                page.next.map(|next| ExportSection::Entries(Some(next)))
            }
            ExportSection::Games(cursor) => {
                let everything = GameFilter::default();
                let pool = &self.services.pool;
                let page = archive::list_by_player(pool, id, &everything, cursor, PORTION_ROWS);
                let page = page.await?;
                self.write_items(&mut text, page.items)?;
                page.next.map(|next| ExportSection::Games(Some(next)))
            }
            ExportSection::Notices(cursor) => {
                let inbox = Notices::new(self.services.pool.clone());
                let page = inbox.list(id, cursor, PORTION_ROWS).await?;
                self.write_items(&mut text, page.items)?;
                page.next.map(|next| ExportSection::Notices(Some(next)))
            }
        };
        let next = next.or_else(|| self.begin_next_list(&mut text));
        Ok((text, next.map(|section| Self { section, ..self })))
    }

    fn write_items<T: Serialize>(
        &mut self,
        text: &mut Vec<u8>,
        items: impl IntoIterator<Item = T>,
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

    /// Closes the current list and opens the next one, or closes the document after the last.
    fn begin_next_list(&mut self, text: &mut Vec<u8>) -> Option<ExportSection> {
        let (name, section) = match self.section {
            ExportSection::Sessions(_) => ("wallet_entries", ExportSection::Entries(None)),
            ExportSection::Entries(_) => ("games", ExportSection::Games(None)),
            ExportSection::Games(_) => ("notices", ExportSection::Notices(None)),
            ExportSection::Notices(_) => {
                text.extend_from_slice(b"]}");
                return None;
            }
        };
        self.is_begun = false;
        text.extend_from_slice(format!("],\"{name}\":[").as_bytes());
        Some(section)
    }
}
