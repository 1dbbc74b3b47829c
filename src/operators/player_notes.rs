//! Moderation of players by operators: notes for colleagues, the end of sessions, decisions on
//! reports. Each act is recorded in the audit log in the same transaction.

use std::str::FromStr;

use bahay_api::operator::player_reports::{PlayerReport, ReportOutcome};
use serde_json::json;
use sqlx::PgPool;
use thiserror::Error;
use uuid::Uuid;

use super::CanModerate;
use super::audit::{self, Action};
use crate::accounts;
use crate::clock::Clock;
use crate::db;
use crate::entropy;
use crate::ids::PlayerId;
use crate::reason::Reason;
use crate::social::{self, ReportError};

/// The length of a note, in characters.
pub const NOTE_LENGTH: std::ops::RangeInclusive<usize> = 1..=2_000;

/// The text of a note, trimmed, with `\n` as its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteText(String);

/// The error of parsing a [`NoteText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a note has 1 to 2000 characters, and no control characters but line breaks")]
pub struct ParseNoteError;

impl FromStr for NoteText {
    type Err = ParseNoteError;

    fn from_str(text: &str) -> Result<Self, ParseNoteError> {
        let text = text.replace("\r\n", "\n");
        let text = text.trim();
        let is_valid = NOTE_LENGTH.contains(&text.chars().count())
            && !text.chars().any(|char| char.is_control() && char != '\n');
        if is_valid { Ok(Self(text.to_owned())) } else { Err(ParseNoteError) }
    }
}

/// The reason why an act of moderation was not performed.
#[derive(Debug, Error)]
pub enum ModerationError {
    #[error("there is no player {player}")]
    PlayerUnknown { player: PlayerId },
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Moderation of players. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Moderation {
    pub(super) pool: PgPool,
    clock: Clock,
}

impl Moderation {
    pub fn new(pool: PgPool, clock: Clock) -> Self {
        Self { pool, clock }
    }

    /// Writes a note about a player. Idempotent under the key `attempt`.
    pub async fn write_note(
        &self,
        by: &CanModerate,
        player: PlayerId,
        text: &NoteText,
        attempt: Uuid,
    ) -> Result<(), ModerationError> {
        let id = entropy::uuid();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let insert = sqlx::query!(
                "
                insert into player_notes (id, player, written_by, words, attempt)
                select $1, p.id, $3, $4, $5
                from players p
                where p.id = $2
                on conflict (attempt) do nothing
                ",
                id,
                player.0,
                by.id.0,
                text.0,
                attempt
            );
            let is_new = insert.execute(&mut *tx).await?.rows_affected() > 0;
            if is_new {
                let subject = format!("player:{player}");
                let action = Action::NoteWritten;
                let detail = json!({ "note": id });
                audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
            }
            tx.commit().await
        };
        self.require_player(player).await?;
        Ok(db::retry(once).await?)
    }

    /// Ends all sessions of a player and returns their number. The nodes observe the end within a
    /// second.
    pub async fn end_sessions(
        &self,
        by: &CanModerate,
        player: PlayerId,
    ) -> Result<u64, ModerationError> {
        let now = self.clock.now();
        self.require_player(player).await?;
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let ended = accounts::end_sessions_in_tx(&mut tx, player, now).await?;
            let subject = format!("player:{player}");
            let detail = json!({ "sessions": ended });
            let action = Action::SessionsEnded;
            audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
            tx.commit().await?;
            Ok(ended)
        };
        Ok(db::retry(once).await?)
    }

    /// Decides on a player's report. Not retried, because after a lost response the report would be
    /// found decided.
    pub async fn decide_report(
        &self,
        by: &CanModerate,
        report: Uuid,
        outcome: ReportOutcome,
        note: &Reason,
    ) -> Result<PlayerReport, ReportError> {
        let mut tx = db::begin(&self.pool).await?;
        let decided = social::decide_report_in_tx(&mut tx, report, by.id, outcome, note).await?;
        let subject = format!("player:{}", decided.reported);
        let detail = json!({ "report": report, "outcome": outcome.as_str() });
        let action = Action::ReportDecided;
        audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
        tx.commit().await?;
        Ok(decided)
    }

    async fn require_player(&self, player: PlayerId) -> Result<(), ModerationError> {
        match is_known_player(&self.pool, player).await? {
            true => Ok(()),
            false => Err(ModerationError::PlayerUnknown { player }),
        }
    }
}

/// Returns whether there is, or was, a player with this id.
pub(super) async fn is_known_player(pool: &PgPool, player: PlayerId) -> Result<bool, sqlx::Error> {
    let once = || {
        sqlx::query_scalar!(
            r#"select exists (select from players p where p.id = $1) as "exists!""#,
            player.0
        )
        .fetch_one(pool)
    };
    db::retry(once).await
}

#[cfg(test)]
mod tests {
    use super::{NoteText, ParseNoteError};

    #[test]
    fn a_note_is_trimmed_and_bounded() {
        assert_eq!(
            " two\r\nlines ".parse::<NoteText>().map(|note| note.0),
            Ok("two\nlines".into())
        );
        for text in ["", " \n ", "bell\u{7}", &"x".repeat(2_001)] {
            assert_eq!(text.parse::<NoteText>(), Err(ParseNoteError));
        }
    }
}
