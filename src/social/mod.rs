//! Relations between players apart from games: phrases, mutes, blocks and reports.
//!
//! A mute hides another player's phrases from one player. A block does so too, and keeps the two
//! from being seated together, in rooms and at private tables, in both directions. A seat is given
//! by the seated player's own block list (`ratings::MatchmakingProfile`), never by those of the
//! others, so that no number of blocks by others excludes a player. Reports are evidence for
//! operators: they name a game, whose record has the facts, and change nothing by themselves.
//!
//! Bounds: a player has at most [`RELATIONS_MAX`] relations of each kind, and can report another
//! player once for a game. Players cannot exchange free text.

mod reports;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bahay_api::Time;
use bahay_api::player::people::ListedPlayer;
use bahay_batch_loader::BatchLoader;
use bahay_engine::table::{GameId, PlayerId};
use jiff_sqlx::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use uuid::Uuid;

use crate::db;

pub use bahay_api::player::people::ReportReason;
pub use bahay_protocol::Phrase;
pub use reports::{ReportError, decide_report_in_tx};

/// The most players that a player may mute, and that it may block.
pub const RELATIONS_MAX: i64 = 500;

/// A message between nodes about a table, apart from its game: a line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TableBroadcast {
    /// A player at the table said a phrase.
    Said { player: PlayerId, phrase: Phrase },
    /// The player's mutes or blocks have changed.
    Relations { player: PlayerId },
}

impl TableBroadcast {
    /// Encodes the message as a line.
    pub fn to_line(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

bahay_base::text_enum! {
    /// A relation of a player to another.
    pub enum Relation {
        /// The two are not seated together, and the other's phrases are hidden.
        Block = "block",
        /// The other's phrases are hidden.
        Mute = "mute",
    }
}

/// A report of a player about another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub game: GameId,
    pub reporter: PlayerId,
    pub reported: PlayerId,
    pub reason: ReportReason,
    pub words: Option<String>,
}

/// The errors of relations and reports.
#[derive(Debug, thiserror::Error)]
pub enum SocialError {
    #[error("this is your own account")]
    Oneself,
    #[error("there is no such player")]
    NoSuchPlayer,
    #[error("at most 500 players can be listed")]
    TooMany,
    /// The reporter or the reported player did not play the game.
    #[error("you have not played that game with that player")]
    NotInGame,
    #[error("you have reported that player for that game already")]
    Reported,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The service for relations and reports. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Social {
    pool: PgPool,
    silenced: BatchLoader<PlayerId, BTreeSet<PlayerId>, sqlx::Error>,
}

impl Social {
    pub fn new(pool: PgPool) -> Self {
        let listed = pool.clone();
        let silenced = BatchLoader::new(move |players| list_silenced(listed.clone(), players));
        Self { pool, silenced }
    }

    /// Mutes or blocks a player. The call is idempotent.
    pub async fn add_relation(
        &self,
        player: PlayerId,
        relation: Relation,
        other: PlayerId,
    ) -> Result<(), SocialError> {
        if player == other {
            return Err(SocialError::Oneself);
        }
        // Concurrent requests of one player can exceed the limit slightly, which is harmless.
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

    /// Removes a mute or a block. The call is idempotent.
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

    /// Returns the players whom a player mutes or blocks, newest first.
    pub async fn list_relations(
        &self,
        player: PlayerId,
        relation: Relation,
    ) -> Result<Vec<ListedPlayer>, sqlx::Error> {
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
        let rows = rows.into_iter().map(|row| ListedPlayer {
            player: row.id,
            name: row.name,
            since: Time::from(db::from_sql(row.created_at)),
        });
        Ok(rows.collect())
    }

    /// Returns the players whose phrases are hidden from a player.
    ///
    /// # Errors
    ///
    /// The error of the query, which concurrent calls share.
    pub async fn list_silenced(
        &self,
        player: PlayerId,
    ) -> Result<BTreeSet<PlayerId>, Arc<sqlx::Error>> {
        Ok(self.silenced.find(player).await?.unwrap_or_default())
    }

    /// Files a report about a participant of one of the reporter's games.
    ///
    /// # Errors
    /// [`SocialError::Oneself`], [`SocialError::NotInGame`] and [`SocialError::Reported`].
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
        // A retry after a lost answer is refused as already reported, which is true.
        let row = db::retry(query).await?;
        match (row.is_in_game, row.is_new) {
            (false, _) => Err(SocialError::NotInGame),
            (true, false) => Err(SocialError::Reported),
            (true, true) => Ok(()),
        }
    }
}

/// Returns the players whose phrases are hidden from each of some players; those from whom none is
/// hidden are absent.
async fn list_silenced(
    pool: PgPool,
    players: Vec<PlayerId>,
) -> Result<HashMap<PlayerId, BTreeSet<PlayerId>>, sqlx::Error> {
    let players: Vec<Uuid> = players.into_iter().map(|player| player.0).collect();
    let query = || {
        sqlx::query!(
            "select r.player, r.other from player_relations r where r.player = any($1)",
            &players
        )
        .fetch_all(&pool)
    };
    let mut silenced = HashMap::<_, BTreeSet<_>>::new();
    for row in db::retry(query).await? {
        silenced.entry(PlayerId(row.player)).or_default().insert(PlayerId(row.other));
    }
    Ok(silenced)
}
