//! Passes: rights of players to enter one tournament without coins (rule 1.6 of tournaments).
//!
//! A pass pays an entry whose buy-in is at most its own. An approved correction grants it, in the
//! transaction of the approval. A registration holds it in the transaction of its line, and the line
//! that returns the entry frees it, so that passes and journals never differ. The lock of its row
//! lets one of two registrations hold it; the other one takes another pass, if the player has one.
//!
//! An approved correction also revokes a pass that no entry holds. Used and revoked passes are kept:
//! they explain the buy-ins that the house has paid, and the corrections.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, TournamentId};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgPool};
use thiserror::Error;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::db::{self, from_sql, to_sql};
use crate::ids::CorrectionId;
use crate::notices;

/// The maximum number of passes of one player in a list; the unused ones come first.
const LISTED_MAX: i64 = 500;

/// A pass of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The id, which is that of the correction that granted it.
    pub id: Uuid,
    /// The largest buy-in that the pass pays.
    pub buy_in_max: Coins,
    pub granted_at: Timestamp,
    /// The tournament whose entry holds it, with the time of the registration.
    pub used: Option<(TournamentId, Timestamp)>,
    pub revoked_at: Option<Timestamp>,
}

impl Pass {
    /// Returns whether the pass pays an entry with this buy-in.
    pub fn pays(&self, buy_in: Coins) -> bool {
        self.used.is_none() && self.revoked_at.is_none() && self.buy_in_max >= buy_in
    }
}

/// The reason why a pass is not revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RevocationError {
    #[error("there is no pass {pass}")]
    Unknown { pass: Uuid },
    #[error("an entry of tournament {tournament} holds the pass, which only its return frees")]
    Held { tournament: TournamentId },
    #[error("the pass is already revoked")]
    Revoked,
}

/// An entry that is paid by a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassEntry {
    pub tournament: TournamentId,
    pub player: PlayerId,
    /// The number of the player's entry in the tournament, from 1.
    pub number: u32,
}

/// Grants a pass by a correction, with a notice to the player.
pub async fn grant_in_tx(
    connection: &mut PgConnection,
    correction: CorrectionId,
    player: PlayerId,
    buy_in_max: Coins,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into tournament_passes (id, player, buy_in_max, granted_at)
        values ($1, $2, $3, $4)",
        correction.0,
        player.0,
        buy_in_max.hundredths(),
        to_sql(now) as _
    )
    .execute(&mut *connection)
    .await?;
    let key = correction.0.to_string();
    notices::insert_in_tx(connection, "pass_granted", &key, &[(player, Some(buy_in_max))]).await
}

/// Holds an unused pass of the player for an entry with this buy-in: one that pays the least. Returns
/// false if the player has none.
///
/// A pass whose row another transaction has locked is held only if no other one pays: that
/// transaction may yet leave it unused, so its end is awaited before an entry is refused.
pub async fn hold_in_tx(
    connection: &mut PgConnection,
    entry: PassEntry,
    buy_in: Coins,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let held = sqlx::query!(
        "
        update tournament_passes
        set used_in = $2, used_entry = $3, used_at = $4
        where id = coalesce(
            (
                select p.id
                from tournament_passes p
                where p.player = $1 and p.used_in is null and p.revoked_at is null
                    and p.buy_in_max >= $5
                order by p.buy_in_max, p.id
                limit 1
                for update skip locked
            ),
            (
                select p.id
                from tournament_passes p
                where p.player = $1 and p.used_in is null and p.revoked_at is null
                    and p.buy_in_max >= $5
                order by p.buy_in_max, p.id
                limit 1
                for update
            )
        )
        ",
        entry.player.0,
        entry.tournament.0,
        number_column(entry),
        to_sql(now) as _,
        buy_in.hundredths()
    )
    .execute(connection)
    .await?;
    Ok(held.rows_affected() > 0)
}

/// Frees the pass of an entry that is returned.
pub async fn free_in_tx(
    connection: &mut PgConnection,
    entry: PassEntry,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        update tournament_passes
        set used_in = null, used_entry = null, used_at = null
        where player = $1 and used_in = $2 and used_entry = $3
        ",
        entry.player.0,
        entry.tournament.0,
        number_column(entry)
    )
    .execute(connection)
    .await
    .map(|_| ())
}

/// Revokes a pass that no entry holds, with a notice to its player.
pub async fn revoke_in_tx(
    connection: &mut PgConnection,
    pass: Uuid,
    now: Timestamp,
) -> Result<Result<(), RevocationError>, sqlx::Error> {
    let found = sqlx::query!(
        r#"
        select p.player, p.buy_in_max, p.used_in, p.revoked_at is not null as "is_revoked!"
        from tournament_passes p
        where p.id = $1
        for update
        "#,
        pass
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(found) = found else { return Ok(Err(RevocationError::Unknown { pass })) };
    if let Err(error) = check_state(found.used_in, found.is_revoked) {
        return Ok(Err(error));
    }
    sqlx::query!(
        "update tournament_passes set revoked_at = $2 where id = $1",
        pass,
        to_sql(now) as _
    )
    .execute(&mut *connection)
    .await?;
    let recipient = (PlayerId(found.player), Some(Coins::from_hundredths(found.buy_in_max)));
    notices::insert_in_tx(connection, "pass_revoked", &pass.to_string(), &[recipient]).await?;
    Ok(Ok(()))
}

/// Returns the reasons for which passes cannot be revoked now, by the passes.
pub async fn check_revocations(
    pool: &PgPool,
    passes: &[Uuid],
) -> Result<BTreeMap<Uuid, RevocationError>, sqlx::Error> {
    let query = || {
        sqlx::query!(
            r#"
            select p.id, p.used_in, p.revoked_at is not null as "is_revoked!"
            from tournament_passes p
            where p.id = any($1)
            "#,
            passes
        )
        .fetch_all(pool)
    };
    let unknown = passes.iter().map(|pass| (*pass, RevocationError::Unknown { pass: *pass }));
    let mut errors: BTreeMap<_, _> = unknown.collect();
    for row in db::retry(query).await? {
        match check_state(row.used_in, row.is_revoked) {
            Ok(()) => errors.remove(&row.id),
            Err(error) => errors.insert(row.id, error),
        };
    }
    Ok(errors)
}

/// Checks that a pass can be revoked.
fn check_state(used_in: Option<Uuid>, is_revoked: bool) -> Result<(), RevocationError> {
    match used_in.map(TournamentId) {
        Some(tournament) => Err(RevocationError::Held { tournament }),
        None if is_revoked => Err(RevocationError::Revoked),
        None => Ok(()),
    }
}

/// Returns the passes of a player, unused ones first, each kind newest first.
pub async fn list_passes(pool: &PgPool, player: PlayerId) -> Result<Vec<Pass>, sqlx::Error> {
    let query = || {
        sqlx::query!(
            r#"
            select p.id, p.buy_in_max, p.granted_at as "granted_at: SqlTimestamp", p.used_in,
                p.used_at as "used_at: SqlTimestamp", p.revoked_at as "revoked_at: SqlTimestamp"
            from tournament_passes p
            where p.player = $1
            order by p.used_in is not null or p.revoked_at is not null, p.granted_at desc, p.id desc
            limit $2
            "#,
            player.0,
            LISTED_MAX
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter().map(|row| Pass {
        id: row.id,
        buy_in_max: Coins::from_hundredths(row.buy_in_max),
        granted_at: from_sql(row.granted_at),
        used: row.used_in.map(TournamentId).zip(row.used_at.map(from_sql)),
        revoked_at: row.revoked_at.map(from_sql),
    });
    Ok(rows.collect())
}

fn number_column(entry: PassEntry) -> i32 {
    i32::try_from(entry.number).unwrap_or(i32::MAX)
}
