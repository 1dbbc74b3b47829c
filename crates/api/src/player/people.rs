//! Other players: public data, statistics, blocks, mutes and reports.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::operation::operations;
use crate::values::{Coins, IdText, Time};

/// The maximum length of a report's text, in characters.
const REPORT_TEXT_LENGTH_MAX: usize = 500;

operations! {
    /// Look players up
    ///
    /// Returns players by id, in the order of their ids. Ids that do not exist are omitted.
    /// Intended for the players around a table.
    LOOK_UP_PLAYERS = Get "/v1/players", Players, Player {
        query PlayersQuery,
        200 json PublicPlayers: "The players",
    }

    /// List the avatars
    ///
    /// Names may be added, but are never removed.
    LIST_AVATARS = Get "/v1/avatars", Players, Anyone {
        200 json Avatars: "The catalogue",
    }

    /// Show a player
    ///
    /// Returns the public profile of a player.
    SHOW_PLAYER = Get "/v1/players/{id}", Players, Player {
        path id: IdText = "The player",
        200 json PlayerProfile: "The player",
        refuses PlayerNotFound,
    }

    /// Show my statistics
    SHOW_MY_STATISTICS = Get "/v1/me/statistics", Me, Player {
        200 json StatisticsByGame: "The statistics",
    }

    /// List the players I block
    LIST_BLOCKS = Get "/v1/me/blocks", Players, Player {
        200 json ListedPlayers: "The players",
    }

    /// Block a player
    ///
    /// The house does not seat the two players together, and the other player's messages are not
    /// shown.
    BLOCK_PLAYER = Put "/v1/me/blocks/{id}", Players, Player {
        path id: IdText = "The other player",
        204 empty (): "The player is blocked",
        refuses PlayerNotFound OwnPlayer TooManyRelations,
    }

    /// Unblock a player
    UNBLOCK_PLAYER = Delete "/v1/me/blocks/{id}", Players, Player {
        path id: IdText = "The other player",
        204 empty (): "The player is not blocked",
    }

    /// List the players I mute
    LIST_MUTES = Get "/v1/me/mutes", Players, Player {
        200 json ListedPlayers: "The players",
    }

    /// Mute a player
    ///
    /// The other player's messages are not shown from now on.
    MUTE_PLAYER = Put "/v1/me/mutes/{id}", Players, Player {
        path id: IdText = "The other player",
        204 empty (): "The player is muted",
        refuses PlayerNotFound OwnPlayer TooManyRelations,
    }

    /// Unmute a player
    UNMUTE_PLAYER = Delete "/v1/me/mutes/{id}", Players, Player {
        path id: IdText = "The other player",
        204 empty (): "The player is not muted",
    }

    /// Report a player of my game
    ///
    /// The record of the game is the evidence. A player may make one report per game about each
    /// other player who also played in it. Operators read the reports.
    REPORT_PLAYER = Post "/v1/games/{id}/reports", Players, Player {
        path id: IdText = "The game",
        body PlayerReportRequest,
        204 empty (): "The report is stored",
        refuses GameNotFound OwnPlayer AlreadyReported,
    }
}

/// Selects players by id.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlayersQuery {
    /// 1 to 32 ids, separated by commas.
    #[param(
        max_length = 1184,
        pattern = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(,[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}){0,31}$",
        example = "019ca944-3c00-7000-8000-00000091a7e0,019ca944-3c00-7000-8000-00000091a7e1"
    )]
    pub ids: String,
}

/// A player, as shown to other players.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublicPlayer {
    pub id: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    pub avatar: String,
    /// True if the player is a bot of the house, without a person's account.
    pub is_bot: bool,
}

/// A list of players.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublicPlayers {
    pub items: Vec<PublicPlayer>,
}

/// The catalogue of avatars.
#[derive(Debug, Serialize, ToSchema)]
pub struct Avatars {
    /// The names of the avatars. The pictures are part of the clients.
    #[schema(example = json!(["carabao", "tarsier"]))]
    pub items: Vec<&'static str>,
}

/// A player's public profile, for everybody who is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerProfile {
    pub id: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    pub avatar: String,
    /// True if the player is a bot of the house, without a person's account.
    pub is_bot: bool,
    pub created_at: Time,
    /// The statistics, by game.
    pub statistics: Vec<Statistics>,
}

/// The statistics of a player over all settled games of one kind, updated with a delay of some
/// seconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct Statistics {
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: String,
    /// The game's title, for people.
    #[schema(example = "Tong-its")]
    pub game: &'static str,
    pub games: i64,
    pub wins: i64,
    /// The number of POTs won.
    pub hits: i64,
    /// The largest POT won.
    pub best_pot: Coins,
    /// The present number of consecutive wins, at any tables.
    pub streak: i64,
    pub best_streak: i64,
    /// The game's further counters, including those that are zero.
    pub counters: Vec<StatisticsCounter>,
}

/// A counter of one game.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatisticsCounter {
    #[schema(example = "fights_won")]
    pub name: &'static str,
    /// The title, for people.
    #[schema(example = "Fights won")]
    pub title: &'static str,
    pub value: i64,
}

/// A player's statistics, by game.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatisticsByGame {
    pub items: Vec<Statistics>,
}

/// The blocked or muted players, the latest first; at most 500.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedPlayers {
    pub items: Vec<ListedPlayer>,
}

/// A blocked or muted player.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedPlayer {
    pub player: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
    pub since: Time,
}

bahay_base::text_enum! {
    /// The reason for a report.
    #[derive(ToSchema)]
    pub enum ReportReason {
        Cheating = "cheating",
        Collusion = "collusion",
        Abuse = "abuse",
        Name = "name",
        Stalling = "stalling",
        Other = "other",
    }
}

/// A report about another player of a game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayerReportRequest {
    pub player: Uuid,
    pub reason: ReportReason,
    /// A description in the player's own words. Control characters are not allowed, except line
    /// breaks.
    #[schema(
        value_type = Option<String>,
        min_length = 1,
        max_length = 500,
        pattern = "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f]+$",
        example = "They showed each other their cards."
    )]
    pub words: Option<ReportText>,
}

/// The text of a report: 1 to 500 characters.
#[derive(Debug)]
pub struct ReportText(String);

impl From<ReportText> for String {
    fn from(text: ReportText) -> Self {
        text.0
    }
}

impl<'de> Deserialize<'de> for ReportText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_long = text.chars().count() > REPORT_TEXT_LENGTH_MAX;
        let is_odd = |letter: char| letter.is_ascii_control() && letter != '\n';
        if text.is_empty() || is_long || text.contains(is_odd) {
            return Err(D::Error::custom(
                "a text has 1 to 500 characters, without control characters except line breaks",
            ));
        }
        Ok(Self(text))
    }
}
