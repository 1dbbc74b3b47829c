//! Tournaments as operators list them: public and private ones, with their coins.

use std::sync::Arc;

use bahay_engine::coins::Coins;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{Pool, Tournament, TournamentTerms};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::store::PAGE_MAX;
use super::{TournamentError, TournamentState, Tournaments};
use crate::clock::{BoundedTimestamp, Timestamp};
use crate::db::{self, Page, from_sql, to_sql};
use crate::ledger::{TournamentPurpose, TransferForTournament};
use crate::operators::TOURNAMENT_STUCK_MS;

/// The conditions on the tournaments of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct TournamentSelection<'a> {
    pub state: Option<TournamentState>,
    /// The format, as the terms have it.
    pub format: Option<&'a str>,
    /// The kind of the game.
    pub kind: Option<&'a str>,
}

/// A tournament as operators list it.
#[derive(Clone, Debug)]
pub struct OperatedRow {
    pub id: TournamentId,
    pub terms: TournamentTerms,
    pub state: TournamentState,
    pub entrants: u32,
    pub created_at: Timestamp,
    /// The code of a private tournament.
    pub code: Option<String>,
    /// The sum of the prizes, once registration is closed.
    pub pool: Option<Coins>,
    /// The house's result: the coins that it has earned with the tournament.
    pub house_result: Coins,
    /// The time at which a node goes on with it if no input arrives before.
    pub due_at: Option<Timestamp>,
}

impl OperatedRow {
    /// Returns whether a transfer or a table has been due for minutes.
    pub fn is_stuck(&self, now: Timestamp) -> bool {
        self.due_at.is_some_and(|due| due.after_ms(TOURNAMENT_STUCK_MS) <= now)
    }
}

impl Tournaments {
    /// Returns a page of all tournaments that match, newest first, starting below a time and an id.
    pub async fn list_for_operators(
        &self,
        selection: TournamentSelection<'_>,
        below: Option<(Timestamp, Uuid)>,
        limit: u32,
    ) -> Result<Page<OperatedRow, (Timestamp, Uuid)>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let rows = select(&self.inner.pool, None, selection, below, i64::from(limit) + 1).await?;
        Ok(Page::from_rows(rows, limit, |last| (last.created_at, last.id.0)))
    }

    /// Returns a tournament as operators list it, with its value.
    pub async fn read_for_operators(
        &self,
        id: TournamentId,
    ) -> Result<(OperatedRow, Arc<Tournament>), TournamentError> {
        let all = TournamentSelection::default();
        let mut rows = select(&self.inner.pool, Some(id), all, None, 1).await?;
        let row = rows.pop().ok_or(TournamentError::Unknown)?;
        Ok((row, self.read(id).await?))
    }
}

async fn select(
    pool: &PgPool,
    id: Option<TournamentId>,
    selection: TournamentSelection<'_>,
    below: Option<(Timestamp, Uuid)>,
    limit: i64,
) -> Result<Vec<OperatedRow>, sqlx::Error> {
    let (time, last) = below.unwrap_or((BoundedTimestamp::MAX.into(), Uuid::max()));
    let query = || {
        sqlx::query!(
            r#"
            select t.id, t.terms as "terms: Json<TournamentTerms>", t.state, t.entrants, t.code,
                t.pool, t.house_result, t.due_at as "due_at: SqlTimestamp",
                t.created_at as "created_at: SqlTimestamp"
            from tournaments t
            where ($1::uuid is null or t.id = $1) and ($2::text is null or t.state = $2)
                and ($3::text is null or t.terms -> 'format' ->> 'type' = $3)
                and ($4::text is null or t.terms -> 'game' ->> 'kind' = $4)
                and (t.created_at, t.id) < ($5::timestamptz, $6::uuid)
            order by t.created_at desc, t.id desc
            limit $7
            "#,
            id.map(|id| id.0),
            selection.state.map(TournamentState::as_str),
            selection.format,
            selection.kind,
            to_sql(time) as _,
            last,
            limit
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter().map(|row| {
        Ok(OperatedRow {
            id: TournamentId(row.id),
            terms: row.terms.0,
            state: db::parse_column(&row.state)?,
            entrants: u32::try_from(row.entrants).unwrap_or_default(),
            created_at: from_sql(row.created_at),
            code: row.code,
            pool: row.pool.map(Coins::from_hundredths),
            house_result: Coins::from_hundredths(row.house_result),
            due_at: row.due_at.map(from_sql),
        })
    });
    rows.collect()
}

/// Writes the copies of the coins: the pool when it is fixed, and the effect of a booking on the
/// result of the house.
pub(super) async fn write_coins_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    pool: Option<&Pool>,
    booking: Option<&TransferForTournament>,
) -> Result<(), sqlx::Error> {
    let earned = booking.map_or(0, count_earnings);
    if pool.is_none() && earned == 0 {
        return Ok(());
    }
    sqlx::query!(
        "update tournaments
        set pool = coalesce($2, pool), house_result = house_result + $3
        where id = $1",
        id.0,
        pool.map(|pool| pool.amount.hundredths()),
        earned
    )
    .execute(connection)
    .await
    .map(|_| ())
}

/// Returns the coins that the house earns by a booking, in hundredths; negative if it pays them.
fn count_earnings(transfer: &TransferForTournament) -> i64 {
    let amount = transfer.amount.hundredths();
    match transfer.purpose {
        TournamentPurpose::Fee | TournamentPurpose::GuaranteeReturn => amount,
        TournamentPurpose::FeeReturn | TournamentPurpose::Guarantee => -amount,
        TournamentPurpose::Entry(_)
        | TournamentPurpose::Return(_)
        | TournamentPurpose::Prize(_)
        | TournamentPurpose::Refund(_) => 0,
    }
}
