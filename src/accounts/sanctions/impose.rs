//! Imposing and lifting sanctions, in the transaction of the operator's act.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::accounts::locks;
use crate::accounts::sanctions::{Sanction, SanctionKind, find_in_force};
use crate::accounts::sessions::{self, SessionEnd};
use crate::clock::Timestamp;
use crate::db::{self, to_sql};
use crate::ids::{OperatorId, PlayerId};
use crate::notices;

/// Imposes a sanction in the caller's transaction, by an operator or by the command line. A ban also
/// ends the player's sessions. The call is idempotent by `id`. Returns false if there is no such player, or if the sanction already
/// exists.
pub async fn impose_in_tx(
    tx: &mut PgConnection,
    id: Uuid,
    player: PlayerId,
    kind: SanctionKind,
    sanction: &Sanction,
    by: Option<OperatorId>,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    // A sign-in that holds the lock has committed once this returns, so its session is among those
    // ended below.
    locks::lock_player(&mut *tx, player).await?;
    let banned = sqlx::query!(
        r#"
        insert into sanctions (id, player, kind, reason, imposed_at, ends_at, imposed_by)
        select $1, p.id, $6, $3, $4, $5, $7
        from players p
        where p.id = $2
        on conflict (id) do nothing
        returning id
        "#,
        id,
        player.0,
        sanction.reason.as_str(),
        to_sql(now) as _,
        sanction.ends_at.map(to_sql) as _,
        kind.as_str(),
        by.map(|by| by.0)
    );
    let is_there = banned.fetch_optional(&mut *tx).await?.is_some();
    match kind {
        SanctionKind::Ban => {
            sessions::end_sessions(tx, player, None, SessionEnd::Banned, now).await?;
        }
        SanctionKind::Mute => {}
    }
    if is_there {
        notices::insert_in_tx(tx, notice_of(kind), &id.to_string(), &[(player, None)]).await?;
    }
    Ok(is_there)
}

/// Lifts all sanctions of a kind that a player is under, in the caller's transaction. Returns their
/// ids: none if none was in force. The player gets one notice, with the key of the first id.
pub async fn lift_in_tx(
    tx: &mut PgConnection,
    player: PlayerId,
    kind: SanctionKind,
    by: Option<OperatorId>,
    now: Timestamp,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let lifted = sqlx::query_scalar!(
        r#"
        update sanctions
        set lifted_at = $2, lifted_by = $4
        where player = $1 and kind = $3 and lifted_at is null
            and (ends_at is null or ends_at > $2)
        returning id
        "#,
        player.0,
        to_sql(now) as _,
        kind.as_str(),
        by.map(|by| by.0)
    );
    let lifted = lifted.fetch_all(&mut *tx).await?;
    if let Some(first) = lifted.iter().min() {
        notices::insert_in_tx(tx, lift_notice_of(kind), &first.to_string(), &[(player, None)])
            .await?;
    }
    Ok(lifted)
}

/// Lifts one sanction that is in force, in the caller's transaction. Returns its player and kind;
/// `None` if no sanction in force has the id. The player gets a notice unless another sanction of
/// the kind stays in force.
pub async fn lift_one_in_tx(
    tx: &mut PgConnection,
    id: Uuid,
    by: Option<OperatorId>,
    now: Timestamp,
) -> Result<Option<(PlayerId, SanctionKind)>, sqlx::Error> {
    let player = sqlx::query_scalar!("select player from sanctions where id = $1", id);
    let Some(player) = player.fetch_optional(&mut *tx).await? else {
        return Ok(None);
    };
    let player = PlayerId(player);
    // Of two sanctions that are lifted at once, the later one is the last in force.
    locks::lock_player(&mut *tx, player).await?;
    let lifted = sqlx::query_scalar!(
        r#"
        update sanctions
        set lifted_at = $2, lifted_by = $3
        where id = $1 and lifted_at is null and (ends_at is null or ends_at > $2)
        returning kind
        "#,
        id,
        to_sql(now) as _,
        by.map(|by| by.0)
    );
    let Some(kind) = lifted.fetch_optional(&mut *tx).await? else {
        return Ok(None);
    };
    let kind: SanctionKind = db::parse_column(&kind)?;
    if find_in_force(&mut *tx, player, kind, now).await?.is_none() {
        notices::insert_in_tx(tx, lift_notice_of(kind), &id.to_string(), &[(player, None)]).await?;
    }
    Ok(Some((player, kind)))
}

/// Returns the kind of the notice sent to the player when a sanction is imposed.
const fn notice_of(kind: SanctionKind) -> &'static str {
    match kind {
        SanctionKind::Ban => "banned",
        SanctionKind::Mute => "muted",
    }
}

/// Returns the kind of the notice sent to the player when a sanction is lifted.
const fn lift_notice_of(kind: SanctionKind) -> &'static str {
    match kind {
        SanctionKind::Ban => "ban_lifted",
        SanctionKind::Mute => "mute_lifted",
    }
}
