//! The row with a player's claimed rewards.

use jiff::civil::Date;
use jiff_sqlx::{Date as SqlDate, ToSqlx as _};
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::ids::PlayerId;

/// A row of `rewards`, with the player's time zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RewardsRow {
    pub(super) time_zone: Option<String>,
    /// True if the player's welcome grant is still due.
    pub(super) welcome_due: bool,
    /// The day of the newest daily reward, and its day of the streak.
    pub(super) daily_date: Option<Date>,
    pub(super) streak: u8,
    pub(super) daily_attempt: Option<Uuid>,
    /// The day of the newest relief, and the number granted on it.
    pub(super) relief_date: Option<Date>,
    pub(super) relief_count: u8,
    pub(super) relief_attempt: Option<Uuid>,
}

/// Reads a player's row. A player without one has claimed nothing.
pub(super) async fn read_row(
    executor: impl PgExecutor<'_>,
    player: PlayerId,
) -> Result<RewardsRow, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select p.time_zone, p.welcome_due, r.daily_date as "daily_date?: SqlDate", r.streak as "streak?",
            r.daily_attempt as "daily_attempt?", r.relief_date as "relief_date?: SqlDate",
            r.relief_count as "relief_count?", r.relief_attempt as "relief_attempt?"
        from players p
        left join rewards r on r.player = p.id
        where p.id = $1
        "#,
        player.0
    )
    .fetch_optional(executor)
    .await?;
    let small = |number: Option<i16>| u8::try_from(number.unwrap_or(0)).unwrap_or(u8::MAX);
    Ok(row.map_or_else(RewardsRow::default, |row| RewardsRow {
        time_zone: row.time_zone,
        welcome_due: row.welcome_due,
        daily_date: row.daily_date.map(SqlDate::to_jiff),
        streak: small(row.streak),
        daily_attempt: row.daily_attempt,
        relief_date: row.relief_date.map(SqlDate::to_jiff),
        relief_count: small(row.relief_count),
        relief_attempt: row.relief_attempt,
    }))
}

/// Locks a player's row and reads it. Creates the row if it does not exist.
pub(super) async fn lock_row(
    connection: &mut PgConnection,
    player: PlayerId,
) -> Result<RewardsRow, sqlx::Error> {
    sqlx::query!(
        "insert into rewards (player) values ($1) on conflict (player) do nothing",
        player.0
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("select r.player from rewards r where r.player = $1 for update", player.0)
        .fetch_one(&mut *connection)
        .await?;
    // A separate statement sees what the former holder of the lock has committed.
    read_row(connection, player).await
}

/// Writes a row that the caller has locked.
pub(super) async fn write_row(
    connection: &mut PgConnection,
    player: PlayerId,
    row: &RewardsRow,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update rewards
        set daily_date = $2, streak = $3, daily_attempt = $4, relief_date = $5,
            relief_count = $6, relief_attempt = $7
        where player = $1
        "#,
        player.0,
        row.daily_date.map(Date::to_sqlx) as _,
        i16::from(row.streak),
        row.daily_attempt,
        row.relief_date.map(Date::to_sqlx) as _,
        i16::from(row.relief_count),
        row.relief_attempt
    )
    .execute(connection)
    .await?;
    Ok(())
}
