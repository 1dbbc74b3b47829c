//! The rows of tournaments: their terms, the lines of their journals, and the copies for queries.

use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::hex::Hex;
use bahay_engine::table::{PlayerId, TournamentId};
use bahay_engine::tournament::{Event, Line, ResultLine, TournamentTerms};
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::TournamentState;
use super::reminders::reminder_time;
use crate::clock::{BoundedTimestamp, Timestamp};
use crate::db::{self, Page, from_sql, to_sql};

/// The maximum page size; a larger limit is reduced to it.
pub const PAGE_MAX: u32 = 100;

/// The parts of a tournament that never change.
#[derive(Clone, Debug)]
pub(super) struct Announcement {
    pub(super) terms: TournamentTerms,
    pub(super) seed: ServerSeed,
    /// The code of a private tournament.
    pub(super) code: Option<String>,
}

/// The copies of a tournament's state for queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    pub(super) version: i64,
    pub(super) state: TournamentState,
    pub(super) entrants: u32,
    pub(super) due_at: Option<Timestamp>,
    /// The first round whose deals, games and records are secret.
    pub(super) secret_round: Option<u32>,
    /// True while the results are secret from the version on at which they became so.
    pub(super) hides_results: bool,
    /// True once everything is paid.
    pub(super) is_closed: bool,
}

/// A tournament in the list.
#[derive(Clone, Debug)]
pub struct ListedTournament {
    pub id: TournamentId,
    pub terms: TournamentTerms,
    pub state: TournamentState,
    pub entrants: u32,
    pub created_at: Timestamp,
}

/// Selects the tournaments of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Those that need no code.
    Public,
    /// All for which the player is registered.
    OfPlayer(PlayerId),
    /// The private one with this code.
    WithCode(String),
}

/// The lines of the list of results that follow from one line of the journal.
#[derive(Clone, Debug)]
pub struct VersionResults {
    /// The version of the journal; 0 for the announcement.
    pub version: i64,
    pub results: Vec<Value>,
}

/// Inserts a tournament. Returns false if another one has its code.
pub(super) async fn insert_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    announcement: &Announcement,
    due_at: Option<Timestamp>,
    secret_round: Option<u32>,
) -> Result<bool, sqlx::Error> {
    let Announcement { terms, seed, code } = announcement;
    sqlx::query!(
        "insert into tournaments (id, terms, seed, state, code, due_at, secret_round, remind_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (code) do nothing",
        id.0,
        Json(terms) as _,
        seed.0.0.as_slice(),
        TournamentState::Announced.as_str(),
        code.as_deref(),
        due_at.map(to_sql) as _,
        secret_round.map(to_round),
        reminder_time(terms).map(to_sql) as _
    )
    .execute(connection)
    .await
    .map(|inserted| inserted.rows_affected() > 0)
}

/// Reads the parts of a tournament that never change; `None` if there is none.
pub(super) async fn read_announcement(
    pool: &PgPool,
    id: TournamentId,
) -> Result<Option<Announcement>, sqlx::Error> {
    let query = || {
        sqlx::query!(
            r#"
            select t.terms as "terms: Json<TournamentTerms>", t.seed, t.code
            from tournaments t
            where t.id = $1
            "#,
            id.0
        )
        .fetch_optional(pool)
    };
    let Some(row) = db::retry(query).await? else { return Ok(None) };
    let seed =
        row.seed.try_into().map_err(|_| sqlx::Error::Decode("a seed has 32 bytes".into()))?;
    Ok(Some(Announcement { terms: row.terms.0, seed: ServerSeed(Hex(seed)), code: row.code }))
}

/// Reads the lines after a version, in order.
pub(super) async fn read_lines(
    pool: &PgPool,
    id: TournamentId,
    after: i64,
) -> Result<Vec<Line>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            r#"
            select l.line as "line: Json<Line>"
            from tournament_lines l
            where l.tournament = $1 and l.version > $2
            order by l.version
            "#,
            id.0,
            after
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(|line| line.0).collect())
}

/// Appends a line as this version. Returns false if another node has written this version.
pub(super) async fn append_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    version: i64,
    line: &Line,
    events: &[Event],
) -> Result<bool, sqlx::Error> {
    let at = line.at;
    let results: Vec<_> = events.iter().map(|event| ResultLine { at, event }).collect();
    let appended = sqlx::query!(
        "insert into tournament_lines (tournament, version, line, results)
        values ($1, $2, $3, $4)
        on conflict do nothing",
        id.0,
        version,
        Json(line) as _,
        Json(results) as _
    )
    .execute(connection)
    .await?;
    Ok(appended.rows_affected() > 0)
}

/// Returns the results of the versions after one that have any, below those that are `announced`, as
/// far as they are not secret.
pub(super) async fn results(
    pool: &PgPool,
    id: TournamentId,
    announced: Option<VersionResults>,
    after: i64,
    limit: u32,
) -> Result<Page<VersionResults, i64>, sqlx::Error> {
    let limit = limit.clamp(1, PAGE_MAX);
    let query = || {
        sqlx::query!(
            r#"
            select l.version, l.results as "results: Json<Vec<Value>>"
            from tournament_lines l
            join tournaments t on t.id = l.tournament
            where l.tournament = $1 and l.version > $2 and l.results <> '[]'
                and (t.secret_after is null or l.version <= t.secret_after)
            order by l.version
            limit $3
            "#,
            id.0,
            after,
            i64::from(limit) + 1
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter();
    let rows = rows.map(|row| VersionResults { version: row.version, results: row.results.0 });
    let rows = announced.into_iter().chain(rows).collect();
    Ok(Page::from_rows(rows, limit, |last| last.version))
}

/// Returns the amount that a player gets from the cancellation of a tournament; `None` if there was
/// none, or nothing for the player.
pub(super) async fn read_refund(
    pool: &PgPool,
    id: TournamentId,
    player: PlayerId,
) -> Result<Option<Coins>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            r#"
            select (r.refund ->> 'amount')::bigint as "amount!"
            from (
                select l.results
                from tournament_lines l
                where l.tournament = $1 and l.results @> '[{"type": "cancelled"}]'
                order by l.version desc
                limit 1
            ) c
            cross join jsonb_array_elements(c.results) as e (event)
            cross join jsonb_array_elements(e.event -> 'refunds') as r (refund)
            where e.event ->> 'type' = 'cancelled' and r.refund ->> 'player' = $2::uuid::text
            "#,
            id.0,
            player.0
        )
        .fetch_optional(pool)
    };
    Ok(db::retry(query).await?.map(Coins::from_hundredths))
}

pub(super) async fn update_summary_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    summary: &Summary,
) -> Result<(), sqlx::Error> {
    let Summary { version, state, entrants, due_at, secret_round, hides_results, is_closed } =
        *summary;
    sqlx::query!(
        "update tournaments
        set version = $2, state = $3, entrants = $4, due_at = $5, secret_round = $7,
            secret_after = case when $8 then coalesce(secret_after, $2) end,
            closed_at = case when $6 then coalesce(closed_at, date_trunc('milliseconds', now())) end
        where id = $1",
        id.0,
        version,
        state.as_str(),
        i32::try_from(entrants).unwrap_or(i32::MAX),
        due_at.map(to_sql) as _,
        is_closed,
        secret_round.map(to_round),
        hides_results
    )
    .execute(connection)
    .await
    .map(|_| ())
}

/// Converts the number of a round as its column has it.
fn to_round(round: u32) -> i32 {
    i32::try_from(round).unwrap_or(i32::MAX)
}

/// Notes that a player is registered, once. Returns false if the account is deleted: the lock on its
/// row orders the registration against a deletion, which takes it as well.
pub(super) async fn insert_entrant_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    player: PlayerId,
) -> Result<bool, sqlx::Error> {
    let is_there = sqlx::query_scalar!(
        r#"select p.deleted_at is null as "is_there!" from players p where p.id = $1 for share"#,
        player.0
    );
    if is_there.fetch_optional(&mut *connection).await? != Some(true) {
        return Ok(false);
    }
    sqlx::query!(
        "insert into tournament_entrants (tournament, player) values ($1, $2)
        on conflict do nothing",
        id.0,
        player.0
    )
    .execute(connection)
    .await
    .map(|_| true)
}

pub(super) async fn remove_entrant_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    player: PlayerId,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from tournament_entrants where tournament = $1 and player = $2",
        id.0,
        player.0
    )
    .execute(connection)
    .await
    .map(|_| ())
}

/// Returns the tournaments with which a node has to go on by this time.
pub(super) async fn due_tournaments(
    pool: &PgPool,
    now: Timestamp,
) -> Result<Vec<TournamentId>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            "select t.id from tournaments t where t.due_at <= $1 order by t.due_at limit 1000",
            to_sql(now) as _
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TournamentId).collect())
}

/// Returns the tournaments that are played, whose tables live state may have lost.
pub(super) async fn running_tournaments(pool: &PgPool) -> Result<Vec<TournamentId>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!("select t.id from tournaments t where t.state = 'running'")
            .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TournamentId).collect())
}

/// Returns a page of tournaments, newest first, starting below a time and an id.
pub(super) async fn list(
    pool: &PgPool,
    state: Option<TournamentState>,
    selection: &Selection,
    below: Option<(Timestamp, Uuid)>,
    limit: u32,
) -> Result<Page<ListedTournament, (Timestamp, Uuid)>, sqlx::Error> {
    let limit = limit.clamp(1, PAGE_MAX);
    let (time, id) = below.unwrap_or((BoundedTimestamp::MAX.into(), Uuid::max()));
    let mut player = None;
    let mut code = None;
    match selection {
        Selection::Public => {}
        Selection::OfPlayer(PlayerId(id)) => player = Some(*id),
        Selection::WithCode(text) => code = Some(text.as_str()),
    }
    let query = || {
        sqlx::query!(
            r#"
            select t.id, t.terms as "terms: Json<TournamentTerms>", t.state, t.entrants,
                t.created_at as "created_at: SqlTimestamp"
            from tournaments t
            where ($1::text is null or t.state = $1)
                and case
                    when $6::text is not null then t.code = $6
                    when $5::uuid is null then t.code is null
                    else exists (
                        select
                        from tournament_entrants e
                        where e.tournament = t.id and e.player = $5
                    )
                end
                and (t.created_at, t.id) < ($2::timestamptz, $3::uuid)
            order by t.created_at desc, t.id desc
            limit $4
            "#,
            state.map(TournamentState::as_str),
            to_sql(time) as _,
            id,
            i64::from(limit) + 1,
            player,
            code
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter().map(|row| {
        Ok(ListedTournament {
            id: TournamentId(row.id),
            terms: row.terms.0,
            state: db::parse_column(&row.state)?,
            entrants: u32::try_from(row.entrants).unwrap_or_default(),
            created_at: from_sql(row.created_at),
        })
    });
    let rows = rows.collect::<Result<Vec<_>, sqlx::Error>>()?;
    Ok(Page::from_rows(rows, limit, |last| (last.created_at, last.id.0)))
}
