//! The export of all data held about a player.

use bahay_base::states::TournamentState;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::account::{OwnProfile, Wallet, WalletEntry};
use super::games::GameSummary;
use super::notices::Notice;
use super::people::{ListedPlayer, Statistics};
use super::rewards::Rewards;
use super::sign_in::SignInMethods;
use super::tournaments::TournamentPass;
use crate::operation::operations;
use crate::operator::player_reports::PlayerReport;
use crate::values::{Coins, Time};

operations! {
    /// Export all data held about me
    ///
    /// Returns one document as an attachment, which is streamed while it is read. If reading fails,
    /// the connection is closed before the end of the document. The rate limit is one export an
    /// hour: after `exported_lately`, wait for the time in `Retry-After`. An export that failed on
    /// the server does not count; one that the client did not read to its end does.
    EXPORT_ME = Get "/v1/me/export", Me, Player {
        200 json Export: "The document",
        refuses ExportedLately,
    }
}

/// All data held about a player.
#[derive(Debug, Serialize, ToSchema)]
pub struct Export {
    #[serde(flatten)]
    pub head: ExportHead,
    /// The sessions that are still stored, oldest first.
    pub sessions: Vec<ExportedSession>,
    /// All entries of the wallet, newest first.
    pub wallet_entries: Vec<WalletEntry>,
    /// Finished games, newest first. The record of each is at `/v1/games/{id}/record`.
    pub games: Vec<GameSummary>,
    /// The notices in the player's inbox, newest first.
    pub notices: Vec<Notice>,
}

/// The short fields of an export.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportHead {
    pub exported_at: Time,
    pub player: OwnProfile,
    pub sign_in_methods: SignInMethods,
    pub devices: Vec<ExportedDevice>,
    pub bans: Vec<ExportedSanction>,
    /// The mutes that operators imposed on the player.
    pub mutes: Vec<ExportedSanction>,
    /// The players whom this player blocks, the latest first.
    pub blocked_players: Vec<ListedPlayer>,
    pub muted_players: Vec<ListedPlayer>,
    /// The reports that the player made, newest first.
    pub reports_made: Vec<SentReport>,
    /// The reports that others made about the player, newest first, without their authors and
    /// texts, which are the authors' data.
    pub reports_received: Vec<ReceivedReport>,
    /// The player's statistics, by game.
    pub statistics: Vec<Statistics>,
    pub wallet: Wallet,
    pub rewards: Rewards,
    /// The tournaments for which the player has registered, newest first.
    pub tournaments: Vec<ExportedTournament>,
    /// The player's passes, unused ones first, at most 500.
    pub passes: Vec<TournamentPass>,
    /// The newest 50 notes that operators wrote about the player.
    pub notes: Vec<ExportedNote>,
}

/// A note that an operator wrote about the player.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedNote {
    pub written_at: Time,
    pub words: String,
}

/// A tournament for which the player has registered and not withdrawn.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedTournament {
    pub tournament: Uuid,
    #[schema(example = "Three in a ring")]
    pub name: String,
    pub state: TournamentState,
    pub announced_at: Time,
    /// The player's place; null until it is final.
    #[schema(required = true)]
    pub place: Option<u32>,
    /// The player's prize; null until the place is final.
    #[schema(required = true)]
    pub prize: Option<Coins>,
}

/// A device that signs the player in. Only a hash of its id is stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedDevice {
    pub created_at: Time,
    pub last_seen_at: Time,
}

/// A session, ended or not.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedSession {
    pub id: Uuid,
    #[schema(example = "guest")]
    pub method: &'static str,
    #[schema(required = true, example = "Tongits/2.1 (Android 15)")]
    pub user_agent: Option<String>,
    #[schema(required = true, example = "203.0.113.7")]
    pub address: Option<String>,
    pub created_at: Time,
    pub last_seen_at: Time,
    #[schema(required = true)]
    pub ended_at: Option<Time>,
    #[schema(required = true, example = "signed_out")]
    pub end_reason: Option<String>,
}

/// A ban or a mute, expired, lifted or in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedSanction {
    #[schema(example = "collusion")]
    pub reason: String,
    pub imposed_at: Time,
    /// The end of the sanction; null for a permanent one.
    #[schema(required = true)]
    pub ends_at: Option<Time>,
    #[schema(required = true)]
    pub lifted_at: Option<Time>,
}

/// A report that the player made about another player.
#[derive(Debug, Serialize, ToSchema)]
pub struct SentReport {
    pub reported: Uuid,
    #[serde(flatten)]
    pub report: ReceivedReport,
    #[schema(required = true)]
    pub words: Option<String>,
}

/// A report and its outcome.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReceivedReport {
    pub game: Uuid,
    #[schema(example = "collusion")]
    pub reason: &'static str,
    pub reported_at: Time,
    /// `upheld` or `dismissed`; null while the report is undecided.
    #[schema(required = true, example = "dismissed")]
    pub outcome: Option<&'static str>,
    #[schema(required = true)]
    pub decided_at: Option<Time>,
}

impl From<&PlayerReport> for ReceivedReport {
    fn from(kept: &PlayerReport) -> Self {
        let decision = kept.decision.as_ref();
        Self {
            game: kept.game,
            reason: kept.reason.as_str(),
            reported_at: kept.created_at,
            outcome: decision.map(|decision| decision.outcome.as_str()),
            decided_at: decision.map(|decision| decision.decided_at),
        }
    }
}

impl From<PlayerReport> for SentReport {
    fn from(kept: PlayerReport) -> Self {
        let report = ReceivedReport::from(&kept);
        Self { reported: kept.reported, report, words: kept.words }
    }
}
