//! What players have to do with each other beside the cards: what they may say, whom they do not
//! want to hear or meet, and what they report to the house.
//!
//! A mute silences another player for one; a block does that too, and keeps the two from being
//! seated together, in rooms and at private tables, in both directions. Seats are given with each
//! player's own block list (`ratings::MatchmakingProfile`), never with that of the others, so that no number of
//! blocks displaces one. Reports are evidence
//! for people: they name a game, whose record tells the rest, and change nothing by themselves.
//!
//! Bounds: [`RELATIONS_MAX`] of each kind a player; one report of a player about another a game.
//! Deliberately absent: free text between players.

mod reports;

use std::collections::BTreeSet;

use bahay_engine::table::{GameId, PlayerId};
use jiff_sqlx::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;

use crate::db;

pub use bahay_protocol::Phrase;
pub use reports::{
    ReportRecord, ReportDecision, ReportError, ReportOutcome, ReportState, decide_report_in_tx,
};

/// The most players that one player mutes, and that one blocks.
pub const RELATIONS_MAX: i64 = 500;

/// The longest text of a report, in characters.
pub const REPORT_TEXT_MAX: usize = 500;

/// What passes between nodes about a table beside its game: a line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TableBroadcast {
    /// A player at the table said something.
    Said { player: PlayerId, phrase: Phrase },
    /// Whom the player does not want to hear has changed.
    Relations { player: PlayerId },
}

impl TableBroadcast {
    /// As it is passed on.
    pub fn to_line(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// What a player has against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Not to be seated together, nor heard.
    Block,
    /// Not to be heard.
    Mute,
}

impl Relation {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Mute => "mute",
        }
    }
}

/// A player whom another mutes or blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedPlayer {
    pub player: PlayerId,
    pub name: String,
    pub since_ms: i64,
}

/// Why a player is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportReason {
    Cheating,
    Collusion,
    Abuse,
    Name,
    Stalling,
    Other,
}

impl ReportReason {
    const ALL: [Self; 6] =
        [Self::Cheating, Self::Collusion, Self::Abuse, Self::Name, Self::Stalling, Self::Other];

    /// As in the column `reason`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cheating => "cheating",
            Self::Collusion => "collusion",
            Self::Abuse => "abuse",
            Self::Name => "name",
            Self::Stalling => "stalling",
            Self::Other => "other",
        }
    }
}

/// What a player reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub game: GameId,
    pub reporter: PlayerId,
    pub reported: PlayerId,
    pub reason: ReportReason,
    pub words: Option<String>,
}

/// Why something between players is refused.
#[derive(Debug, thiserror::Error)]
pub enum SocialError {
    #[error("that is you")]
    Oneself,
    #[error("there is no such player")]
    NoSuchPlayer,
    #[error("at most 500 players can be listed")]
    TooMany,
    /// The reporter or the reported player did not play there.
    #[error("you have not played that game with that player")]
    NotInGame,
    #[error("you have reported that player for that game already")]
    Reported,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// What players have to do with each other.
#[derive(Clone, Debug)]
pub struct Social {
    pool: PgPool,
}

impl Social {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Mutes or blocks a player; again changes nothing.
    pub async fn add_relation(
        &self,
        player: PlayerId,
        relation: Relation,
        other: PlayerId,
    ) -> Result<(), SocialError> {
        if player == other {
            return Err(SocialError::Oneself);
        }
        // The limit is not exact when somebody asks for many at once, which does no harm.
        let query = || {
            sqlx::query!(
                r#"
                with found as (
                    select p.id from players p where p.id = $3
                ), listed as (
                    select count(*) as count
                    from player_relations r
                    where r.player = $1 and r.kind = $2 and r.other <> $3
                ), related as (
                    insert into player_relations (player, kind, other)
                    select $1, $2, f.id
                    from found f, listed l
                    where l.count < $4
                    on conflict (player, kind, other) do nothing
                )
                select exists (select from found) as "is_found!", l.count < $4 as "has_room!"
                from listed l
                "#,
                player.0,
                relation.as_str(),
                other.0,
                RELATIONS_MAX
            )
            .fetch_one(&self.pool)
        };
        let row = db::retry(query).await?;
        match (row.is_found, row.has_room) {
            (false, _) => Err(SocialError::NoSuchPlayer),
            (true, false) => Err(SocialError::TooMany),
            (true, true) => Ok(()),
        }
    }

    /// Takes back a mute or a block; one that is not there is gone already.
    pub async fn remove_relation(
        &self,
        player: PlayerId,
        relation: Relation,
        other: PlayerId,
    ) -> Result<(), sqlx::Error> {
        let query = || {
            sqlx::query!(
                "
                delete from player_relations r
                where r.player = $1 and r.kind = $2 and r.other = $3
                ",
                player.0,
                relation.as_str(),
                other.0
            )
            .execute(&self.pool)
        };
        db::retry(query).await.map(|_| ())
    }

    /// Whom a player mutes or blocks, the latest first.
    pub async fn list_relations(
        &self,
        player: PlayerId,
        relation: Relation,
    ) -> Result<Vec<RelatedPlayer>, sqlx::Error> {
        let query = || {
            sqlx::query!(
                r#"
                select p.id, p.name, r.created_at as "created_at: Timestamp"
                from player_relations r
                join players p on p.id = r.other
                where r.player = $1 and r.kind = $2
                order by r.created_at desc, r.other
                "#,
                player.0,
                relation.as_str()
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(query).await?;
        let rows = rows.into_iter().map(|row| RelatedPlayer {
            player: PlayerId(row.id),
            name: row.name,
            since_ms: row.created_at.to_jiff().as_millisecond(),
        });
        Ok(rows.collect())
    }

    /// Whom a player does not want to hear.
    pub async fn list_silenced(&self, player: PlayerId) -> Result<BTreeSet<PlayerId>, sqlx::Error> {
        let query = || {
            sqlx::query_scalar!(
                "select r.other from player_relations r where r.player = $1",
                player.0
            )
            .fetch_all(&self.pool)
        };
        Ok(db::retry(query).await?.into_iter().map(PlayerId).collect())
    }

    /// Keeps a report about somebody of the reporter's game.
    pub async fn file_report(&self, report: &Report) -> Result<(), SocialError> {
        if report.reporter == report.reported {
            return Err(SocialError::Oneself);
        }
        let query = || {
            sqlx::query!(
                r#"
                with played as (
                    select p.game
                    from game_players p
                    where p.game = $1 and p.player in ($2, $3)
                    group by p.game
                    having count(*) = 2
                ), reported as (
                    insert into player_reports (game, reporter, reported, reason, words)
                    select p.game, $2, $3, $4, $5
                    from played p
                    on conflict (game, reporter, reported) do nothing
                    returning id
                )
                select exists (select from played) as "is_in_game!",
                    exists (select from reported) as "is_new!"
                "#,
                report.game.0,
                report.reporter.0,
                report.reported.0,
                report.reason.as_str(),
                report.words
            )
            .fetch_one(&self.pool)
        };
        // Kept twice because an answer was lost, it is refused as kept, which is the truth.
        let row = db::retry(query).await?;
        match (row.is_in_game, row.is_new) {
            (false, _) => Err(SocialError::NotInGame),
            (true, false) => Err(SocialError::Reported),
            (true, true) => Ok(()),
        }
    }
}
