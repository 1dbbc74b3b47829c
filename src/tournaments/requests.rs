//! Requests for tournaments under the four-eyes principle: guarantees above a setting are the house's
//! money at risk, so that one operator makes a request for a tournament, with a reason, and another
//! one decides. An approval announces the tournament in the same transaction; with a rejection nothing
//! happens. Until the decision, a withdrawal by the requester ends the request.
//!
//! Both act in sessions with the second factor, and neither has recently issued the other's
//! enrolment code, as at corrections (`operators::corrections`). A request whose terms do not allow
//! an announcement at present stays open. Decisions are idempotent.

use bahay_api::operator::tournament_requests::{
    TournamentRequest, TournamentRequestState as State,
};
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{TermsError, TournamentTerms};
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::{Value, json};
use sqlx::types::Json;
use sqlx::{PgExecutor, PgPool};
use uuid::Uuid;

use super::store::PAGE_MAX;
use super::{
    GuaranteeLimit, TournamentDraft, TournamentError, Tournaments, announce_under_id_in_tx, subject,
};
use crate::clock::Timestamp;
use crate::db::{self, Page, from_sql, to_sql};
use crate::entropy;
use crate::ids::OperatorId;
use crate::operators::audit::{self, Action};
use crate::operators::{Administrator, SignedInAdministrator};
use crate::reason::Reason;

/// The requests for tournaments. Clones share everything.
#[derive(Clone, Debug)]
pub struct TournamentRequests {
    pool: PgPool,
    tournaments: Tournaments,
    limit: GuaranteeLimit,
}

/// The reason why a request was not made or decided, in order of precedence.
#[derive(Debug, thiserror::Error)]
pub enum TournamentRequestError {
    #[error("there is no request {id} for a tournament")]
    Unknown { id: Uuid },
    #[error("you requested this tournament; another operator decides")]
    Own,
    #[error("only the operator who requested a tournament withdraws it; reject it instead")]
    NotOwn,
    #[error(
        "you are not independent of the operator who requested this tournament: the enrolment code \
         of one of you was issued by the other, or both were issued by the same operator, and ended \
         less than 24 hours ago; another operator decides"
    )]
    NotIndependent,
    #[error("the request is already {}", .state.as_str())]
    Decided { state: State },
    #[error("the session has ended; sign in again")]
    SessionEnded,
    #[error(transparent)]
    Refused(#[from] TournamentError),
    #[error("the database query failed: {0}")]
    Database(#[from] sqlx::Error),
}

/// The end of an open request.
#[derive(Clone, Copy, Debug)]
enum Decision<'a> {
    Approve,
    Reject(&'a Reason),
    /// By the requester, unlike the others.
    Withdraw,
}

/// A stored request with the operators, whom the body only names.
struct StoredRequest {
    body: TournamentRequest,
    terms: TournamentTerms,
    requester: OperatorId,
    decider: Option<OperatorId>,
}

impl TournamentRequests {
    pub fn new(pool: PgPool, tournaments: Tournaments, limit: GuaranteeLimit) -> Self {
        Self { pool, tournaments, limit }
    }

    /// Returns the limit of guarantees above which a second operator approves.
    pub fn limit(&self) -> &GuaranteeLimit {
        &self.limit
    }

    /// Returns whether an announcement by the operator now requires the approval of a second one.
    pub async fn requires_approval(
        &self,
        by: &Administrator,
        draft: &TournamentDraft,
    ) -> Result<bool, sqlx::Error> {
        let now = self.tournaments.now();
        let amount = draft.terms.guarantee;
        db::retry(|| self.limit.requires_approval(&self.pool, by.id, amount, now)).await
    }

    /// Requests a tournament. Idempotent under the key `attempt`.
    pub async fn request(
        &self,
        by: &SignedInAdministrator,
        draft: &TournamentDraft,
        reason: &Reason,
        attempt: Uuid,
    ) -> Result<TournamentRequest, TournamentRequestError> {
        let TournamentDraft { terms, code } = draft;
        let id = entropy::uuid();
        let mut tx = db::begin(&self.pool).await?;
        if !by.holds_session_in_tx(&mut tx).await? {
            return Err(TournamentRequestError::SessionEnded);
        }
        let inserted = sqlx::query!(
            "insert into tournament_requests
                (id, attempt, terms, code, reason, requested_by, requested_at)
            values ($1, $2, $3, $4, $5, $6, $7)
            on conflict (attempt) do nothing",
            id,
            attempt,
            Json(terms) as _,
            code.as_deref(),
            reason.as_str(),
            by.id.0,
            to_sql(self.tournaments.now()) as _
        )
        .execute(&mut *tx)
        .await?;
        if inserted.rows_affected() > 0 {
            let detail = json!({
                "name": terms.name, "guarantee": terms.guarantee, "reason": reason.as_str()
            });
            let action = Action::TournamentRequested;
            let subject = subject(TournamentId(id));
            audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
        }
        tx.commit().await?;
        let id = sqlx::query_scalar!(
            "select r.id from tournament_requests r where r.attempt = $1",
            attempt
        )
        .fetch_one(&self.pool)
        .await?;
        self.find(id).await
    }

    /// Approves another operator's request and announces the tournament, in one transaction.
    pub async fn approve(
        &self,
        by: &SignedInAdministrator,
        id: Uuid,
    ) -> Result<TournamentRequest, TournamentRequestError> {
        let approved = self.decide(by, id, Decision::Approve).await?;
        self.tournaments.inner.changed.notify_one();
        Ok(approved)
    }

    /// Rejects another operator's request.
    pub async fn reject(
        &self,
        by: &SignedInAdministrator,
        id: Uuid,
        reason: &Reason,
    ) -> Result<TournamentRequest, TournamentRequestError> {
        self.decide(by, id, Decision::Reject(reason)).await
    }

    /// Withdraws an own request.
    pub async fn withdraw(
        &self,
        by: &SignedInAdministrator,
        id: Uuid,
    ) -> Result<TournamentRequest, TournamentRequestError> {
        self.decide(by, id, Decision::Withdraw).await
    }

    async fn decide(
        &self,
        by: &SignedInAdministrator,
        id: Uuid,
        decision: Decision<'_>,
    ) -> Result<TournamentRequest, TournamentRequestError> {
        let now = self.tournaments.now();
        let mut tx = db::begin(&self.pool).await?;
        sqlx::query!("select r.id from tournament_requests r where r.id = $1 for update", id)
            .fetch_optional(&mut *tx)
            .await?;
        let found = find_in(&mut *tx, id).await?;
        let found = found.ok_or(TournamentRequestError::Unknown { id })?;
        if !by.holds_session_in_tx(&mut tx).await? {
            return Err(TournamentRequestError::SessionEnded);
        }
        let (state, decider) = match decision {
            Decision::Approve => (State::Approved, Some(by.id)),
            Decision::Reject(_) => (State::Rejected, Some(by.id)),
            Decision::Withdraw => (State::Withdrawn, None),
        };
        match (found.requester == by.id, decider) {
            (true, Some(_)) => return Err(TournamentRequestError::Own),
            (false, None) => return Err(TournamentRequestError::NotOwn),
            (true, None) => {}
            (false, Some(_)) => {
                let author = (found.requester, found.body.requested_at.into());
                if by.is_dependent_on_in_tx(&mut tx, now, author).await? {
                    return Err(TournamentRequestError::NotIndependent);
                }
            }
        }
        if found.body.state == state && found.decider == decider {
            return Ok(found.body);
        }
        if found.body.state != State::Open {
            return Err(TournamentRequestError::Decided { state: found.body.state });
        }
        let (action, reason, detail) = match decision {
            Decision::Approve => {
                let guarantee = found.terms.guarantee;
                let detail = json!({ "name": found.terms.name, "guarantee": guarantee });
                check_start(&found.terms, now)?;
                let draft = TournamentDraft { terms: found.terms, code: found.body.code };
                announce_under_id_in_tx(&mut tx, TournamentId(id), draft).await?;
                (Action::TournamentApproved, None, detail)
            }
            Decision::Reject(reason) => {
                let reason = reason.as_str();
                (Action::TournamentRejected, Some(reason), json!({ "reason": reason }))
            }
            Decision::Withdraw => (Action::TournamentRequestWithdrawn, None, json!({})),
        };
        sqlx::query!(
            "update tournament_requests
            set state = $2, decided_by = $3, decided_at = $4, rejection_reason = $5, tournament = $6
            where id = $1",
            id,
            state.as_str(),
            decider.map(|decider| decider.0),
            to_sql(now) as _,
            reason,
            (state == State::Approved).then_some(id)
        )
        .execute(&mut *tx)
        .await?;
        let subject = subject(TournamentId(id));
        audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
        let decided = find_in(&mut *tx, id).await?;
        tx.commit().await?;
        decided.map(|decided| decided.body).ok_or(TournamentRequestError::Unknown { id })
    }

    /// Returns a request.
    pub async fn find(&self, id: Uuid) -> Result<TournamentRequest, TournamentRequestError> {
        let found = db::retry(|| find_in(&self.pool, id)).await?;
        found.map(|found| found.body).ok_or(TournamentRequestError::Unknown { id })
    }

    /// Returns the requests in a state, or all, newest first.
    pub async fn list(
        &self,
        state: Option<State>,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<TournamentRequest, Uuid>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let rows = i64::from(limit) + 1;
        let below = below.unwrap_or(Uuid::max());
        let rows = db::retry(|| select(&self.pool, None, state, below, rows)).await?;
        let rows = rows.into_iter().map(|row| row.body).collect();
        Ok(Page::from_rows(rows, limit, |last: &TournamentRequest| last.id))
    }
}

/// Checks that the start of a tournament is not past.
pub(super) fn check_start(terms: &TournamentTerms, now: Timestamp) -> Result<(), TournamentError> {
    match terms.starts_at {
        Some(start) if start <= now => {
            let message = "it is past";
            Err(TournamentError::Terms(TermsError { field: "starts_at", message }))
        }
        _ => Ok(()),
    }
}

async fn find_in(
    executor: impl PgExecutor<'_>,
    id: Uuid,
) -> Result<Option<StoredRequest>, sqlx::Error> {
    Ok(select(executor, Some(id), None, Uuid::max(), 1).await?.pop())
}

async fn select(
    executor: impl PgExecutor<'_>,
    only: Option<Uuid>,
    state: Option<State>,
    below: Uuid,
    limit: i64,
) -> Result<Vec<StoredRequest>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select r.id, r.terms as "terms: Json<TournamentTerms>", r.terms as "document: Value",
            r.code, r.state, r.reason, r.requested_by, q.name as requester,
            r.requested_at as "requested_at: SqlTimestamp", r.decided_by, d.name as "decider?",
            r.decided_at as "decided_at: SqlTimestamp", r.rejection_reason, r.tournament
        from tournament_requests r
        join operators q on q.id = r.requested_by
        left join operators d on d.id = r.decided_by
        where ($1::uuid is null or r.id = $1) and ($2::text is null or r.state = $2) and r.id < $3
        order by r.id desc
        limit $4
        "#,
        only,
        state.map(State::as_str),
        below,
        limit
    )
    .fetch_all(executor)
    .await?;
    let requests = rows.into_iter().map(|row| {
        let body = TournamentRequest {
            id: row.id,
            terms: row.document,
            code: row.code,
            reason: row.reason,
            state: db::parse_column(&row.state)?,
            requested_by: row.requester,
            requested_at: from_sql(row.requested_at).into(),
            decided_by: row.decider,
            decided_at: row.decided_at.map(|at| from_sql(at).into()),
            rejection_reason: row.rejection_reason,
            tournament: row.tournament,
        };
        let requester = OperatorId(row.requested_by);
        let decider = row.decided_by.map(OperatorId);
        Ok(StoredRequest { body, terms: row.terms.0, requester, decider })
    });
    requests.collect()
}
