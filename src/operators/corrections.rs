//! Corrections of the books under the four-eyes principle. One operator requests a correction, with
//! a reason; another one decides: with the approval the ledger books the correction in the same
//! transaction, with a rejection nothing moves. Both act in sessions with the second factor, and
//! neither has recently issued the other's enrolment code (`issuance`). Until the decision, a
//! withdrawal by the requester ends the request.
//!
//! A correction may also grant a pass for a tournament, which is worth coins, or revoke one that no
//! entry holds.
//!
//! `adjustments` limits the coins that corrections move. An open request excludes an equal one: for
//! the same amount and player, for the reversal of the same operation, or for the revocation of the
//! same pass.
//!
//! A request that the books cannot carry out at present (because a wallet holds too little) stays
//! open: it may be approved later or rejected. Requests and decisions stay readable, with their
//! authors and times. Decisions are idempotent: an operator who repeats its decision receives the
//! first result.

use bahay_api::operator::corrections::{Correction, CorrectionState as State};
use bahay_engine::coins::Coins;
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;
use sqlx::{PgConnection, PgExecutor, PgPool};
use thiserror::Error;
use uuid::Uuid;

use super::adjustments::{Adjustment, AdjustmentBounds, BoundCheck, DailyLimitError};
use super::audit::{self, Action};
use super::correction_content::{ContentColumns, CorrectionContent};
use super::{CanApproveCorrections, Operator, issuance, player_notes, tokens};
use crate::clock::{Clock, Timestamp};
use crate::db::{self, Page, from_sql, to_sql};
use crate::entropy;
use crate::ids::{CorrectionId, OperatorId, PlayerId};
use crate::ledger::{AdjustWallet, CorrectionSubject, Ledger, LedgerError, ReverseOperation};
use crate::passes::{self, RevocationError};
use crate::reason::Reason;

/// The largest page; a larger limit is reduced to it.
const PAGE_MAX: u32 = 100;

/// The corrections. Clones share everything.
#[derive(Clone, Debug)]
pub struct Corrections {
    pub(super) pool: PgPool,
    pub(super) ledger: Ledger,
    pub(super) clock: Clock,
    pub(super) bounds: AdjustmentBounds,
}

/// A stored request with the operators, whom the body only names.
pub(super) struct StoredCorrection {
    pub(super) body: Correction,
    pub(super) content: CorrectionContent,
    pub(super) requester: OperatorId,
    decider: Option<OperatorId>,
}

/// The end of an open request.
#[derive(Clone, Copy, Debug)]
enum Decision<'a> {
    Approve,
    Reject(&'a Reason),
    /// By the requester, unlike the others.
    Withdraw,
}

/// The reason why nothing was corrected, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CorrectionError {
    #[error("there is no correction {id}")]
    Unknown { id: CorrectionId },
    #[error("you requested this correction; another operator decides")]
    Own,
    #[error("only the operator who requested a correction withdraws it; reject it instead")]
    NotOwn,
    #[error(
        "you are not independent of the operator who requested this correction: the enrolment \
         code of one of you was issued by the other, or both were issued by the same operator, and \
         ended less than 24 hours ago; another operator decides"
    )]
    NotIndependent,
    #[error("the correction is already {}", .state.as_str())]
    Decided { state: State },
    #[error("a reversal of operation {operation} already waits for a decision")]
    ReversalRequested { operation: i64 },
    #[error(
        "an open correction requests the same for this player: wait until it is decided, or \
         let its requester withdraw it"
    )]
    AdjustmentRequested,
    #[error("the revocation of this pass already waits for a decision")]
    RevocationRequested,
    #[error("the session has ended; sign in again")]
    SessionEnded,
    #[error("there is no player {player}")]
    PlayerUnknown { player: PlayerId },
    #[error("one adjustment is limited to {max}")]
    TooLarge { max: Coins },
    #[error(transparent)]
    DailyLimit(#[from] DailyLimitError),
    #[error(transparent)]
    Revocation(#[from] RevocationError),
    /// A refusal by the ledger, in its words; nothing has moved.
    #[error(transparent)]
    Refused(LedgerError),
    /// A transient failure: the same call may succeed later.
    #[error("corrections are unavailable: {reason}")]
    Unavailable { reason: String },
    /// A defect of the service.
    #[error("corrections are broken: {reason}")]
    Broken { reason: String },
}

crate::db::unavailable_or_broken!(CorrectionError);

impl From<LedgerError> for CorrectionError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::OperationUnknown { .. }
            | LedgerError::NotReversible { .. }
            | LedgerError::AlreadyReversed { .. }
            | LedgerError::Overdrawn { .. } => Self::Refused(error),
            LedgerError::Unavailable { reason } => Self::Unavailable { reason },
            // No correction leads to these.
            LedgerError::Invalid { .. }
            | LedgerError::KeyReused { .. }
            | LedgerError::GameUnknown { .. }
            | LedgerError::GameNotOpen { .. }
            | LedgerError::TableBusy { .. }
            | LedgerError::GameDiffers { .. }
            | LedgerError::PotEmpty { .. }
            | LedgerError::Settlement { .. }
            | LedgerError::Broken { .. } => Self::Broken { reason: error.to_string() },
        }
    }
}

/// The result of one attempt in the database. The outer error may be transient and is retried; the
/// inner one is final.
type AttemptResult<T> = Result<Result<T, CorrectionError>, sqlx::Error>;

impl Corrections {
    pub fn new(pool: PgPool, ledger: Ledger, clock: Clock, bounds: AdjustmentBounds) -> Self {
        Self { pool, ledger, clock, bounds }
    }

    /// Requests a correction. Idempotent under the key `attempt`.
    pub async fn request(
        &self,
        by: &CanApproveCorrections,
        content: CorrectionContent,
        reason: &Reason,
        attempt: Uuid,
    ) -> Result<Correction, CorrectionError> {
        self.check(content).await?;
        let ContentColumns { kind, player, amount, reversed_operation: operation, revoked_pass } =
            content.to_columns();
        let id = entropy::uuid();
        let now = self.clock.now();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            if let Some((player, amount)) = content.limited_amount() {
                let adjustment = Adjustment { requester: by.id, player, amount, id: attempt };
                let left =
                    self.bounds.check_day_in_tx(&mut tx, adjustment, BoundCheck::Requested, now);
                if let Err(error) = left.await? {
                    return Ok(Err(error.into()));
                }
            }
            if !tokens::holds_session_in_tx(&mut tx, by.id, by.session).await? {
                return Ok(Err(CorrectionError::SessionEnded));
            }
            let insert = sqlx::query!(
                r#"
                insert into corrections (
                    id, attempt, kind, player, amount, reversed_operation, revoked_pass, reason,
                    requested_by, requested_at
                )
                values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
                on conflict do nothing
                "#,
                id,
                attempt,
                kind,
                player,
                amount,
                operation,
                revoked_pass,
                reason.as_str(),
                by.id.0,
                to_sql(now) as _
            );
            if insert.execute(&mut *tx).await?.rows_affected() == 0 {
                if let Some(error) = find_equal(&mut tx, content, attempt).await? {
                    return Ok(Err(error));
                }
            } else {
                let detail = json!({
                    "kind": kind, "player": player, "amount": amount,
                    "operation": operation, "pass": revoked_pass, "reason": reason.as_str()
                });
                let action = Action::CorrectionRequested;
                let subject = audit_subject(CorrectionId(id));
                audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
            }
            tx.commit().await?;
            Ok(Ok(()))
        };
        let attempted: AttemptResult<()> = db::retry(once).await;
        attempted??;
        let once = || {
            sqlx::query_scalar!("select c.id from corrections c where c.attempt = $1", attempt)
                .fetch_one(&self.pool)
        };
        let id = CorrectionId(db::retry(once).await?);
        self.find_by_id(id).await?.ok_or(CorrectionError::Unknown { id })
    }

    /// Rejects, at the request, a correction that could not be approved.
    async fn check(&self, content: CorrectionContent) -> Result<(), CorrectionError> {
        match content {
            CorrectionContent::Booking(CorrectionSubject::Adjustment { player, amount })
            | CorrectionContent::Pass { player, buy_in_max: amount } => {
                if !player_notes::is_known_player(&self.pool, player).await? {
                    return Err(CorrectionError::PlayerUnknown { player });
                }
                let max = self.bounds.one_max;
                if amount.hundredths().unsigned_abs() > max.hundredths().unsigned_abs() {
                    return Err(CorrectionError::TooLarge { max });
                }
                Ok(())
            }
            CorrectionContent::Booking(CorrectionSubject::Reversal { operation }) => {
                self.ledger.plan_reversal(operation).await?;
                Ok(())
            }
            CorrectionContent::PassRevocation { pass } => {
                let errors = passes::check_revocations(&self.pool, &[pass]).await?;
                errors.get(&pass).map_or(Ok(()), |error| Err((*error).into()))
            }
        }
    }

    /// Approves another operator's request and books it, in one transaction.
    pub async fn approve(
        &self,
        by: &CanApproveCorrections,
        id: CorrectionId,
    ) -> Result<Correction, CorrectionError> {
        db::retry(|| self.decide_once(by, id, Decision::Approve)).await?
    }

    /// Rejects another operator's request.
    pub async fn reject(
        &self,
        by: &CanApproveCorrections,
        id: CorrectionId,
        reason: &Reason,
    ) -> Result<Correction, CorrectionError> {
        db::retry(|| self.decide_once(by, id, Decision::Reject(reason))).await?
    }

    /// Withdraws an own request.
    pub async fn withdraw(
        &self,
        by: &CanApproveCorrections,
        id: CorrectionId,
    ) -> Result<Correction, CorrectionError> {
        db::retry(|| self.decide_once(by, id, Decision::Withdraw)).await?
    }

    async fn decide_once(
        &self,
        by: &CanApproveCorrections,
        id: CorrectionId,
        decision: Decision<'_>,
    ) -> AttemptResult<Correction> {
        let now = self.clock.now();
        let (state, decider) = match decision {
            Decision::Approve => (State::Approved, Some(by.id)),
            Decision::Reject(_) => (State::Rejected, Some(by.id)),
            Decision::Withdraw => (State::Withdrawn, None),
        };
        let mut tx = db::begin(&self.pool).await?;
        sqlx::query!("select c.id from corrections c where c.id = $1 for update", id.0)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(found) = find_in(&mut *tx, id).await? else {
            return Ok(Err(CorrectionError::Unknown { id }));
        };
        if !tokens::holds_session_in_tx(&mut tx, by.id, by.session).await? {
            return Ok(Err(CorrectionError::SessionEnded));
        }
        match (found.requester == by.id, decider) {
            (true, Some(_)) => return Ok(Err(CorrectionError::Own)),
            (false, None) => return Ok(Err(CorrectionError::NotOwn)),
            (true, None) => {}
            (false, Some(decider)) => {
                let requester = (found.requester, found.body.requested_at.into());
                if issuance::is_dependent(&mut tx, (decider, now), requester).await? {
                    return Ok(Err(CorrectionError::NotIndependent));
                }
            }
        }
        if found.body.state == state && found.decider == decider {
            return Ok(Ok(found.body));
        }
        if found.body.state != State::Open {
            return Ok(Err(CorrectionError::Decided { state: found.body.state }));
        }
        if let (State::Approved, Some((player, amount))) = (state, found.content.limited_amount()) {
            let adjustment = Adjustment { requester: found.requester, player, amount, id: id.0 };
            let left = self.bounds.check_day_in_tx(&mut tx, adjustment, BoundCheck::Booked, now);
            if let Err(error) = left.await? {
                return Ok(Err(error.into()));
            }
        }
        let operation = match decision {
            Decision::Approve => match self.book(&mut tx, id, found.content, now).await {
                Ok(operation) => operation,
                Err(error) => return Ok(Err(error)),
            },
            Decision::Reject(_) | Decision::Withdraw => None,
        };
        let (action, reason, detail) = match decision {
            Decision::Approve => {
                (Action::CorrectionApproved, None, json!({ "operation": operation }))
            }
            Decision::Reject(reason) => {
                let reason = reason.as_str();
                (Action::CorrectionRejected, Some(reason), json!({ "reason": reason }))
            }
            Decision::Withdraw => (Action::CorrectionWithdrawn, None, json!({})),
        };
        sqlx::query!(
            r#"
            update corrections
            set state = $2, decided_by = $3, decided_at = $6, rejection_reason = $4,
                operation = $5
            where id = $1
            "#,
            id.0,
            state.as_str(),
            decider.map(|decider| decider.0),
            reason,
            operation,
            to_sql(now) as _
        )
        .execute(&mut *tx)
        .await?;
        audit::record_in_tx(&mut tx, by.actor(), action, Some(&audit_subject(id)), detail).await?;
        let decided = find_in(&mut *tx, id).await?;
        tx.commit().await?;
        Ok(decided.map(|decided| decided.body).ok_or(CorrectionError::Unknown { id }))
    }

    /// Carries out a correction, and returns the operation that books it; `None` for passes.
    async fn book(
        &self,
        connection: &mut PgConnection,
        correction: CorrectionId,
        content: CorrectionContent,
        now: Timestamp,
    ) -> Result<Option<i64>, CorrectionError> {
        let corrected = match content {
            CorrectionContent::Pass { player, buy_in_max } => {
                passes::grant_in_tx(connection, correction, player, buy_in_max, now).await?;
                return Ok(None);
            }
            CorrectionContent::PassRevocation { pass } => {
                passes::revoke_in_tx(connection, pass, now).await??;
                return Ok(None);
            }
            CorrectionContent::Booking(CorrectionSubject::Adjustment { player, amount }) => {
                let input = AdjustWallet { correction, player, amount };
                self.ledger.adjust_in_tx(connection, input).await?
            }
            CorrectionContent::Booking(CorrectionSubject::Reversal { operation }) => {
                let input = ReverseOperation { correction, operation };
                self.ledger.reverse_in_tx(connection, input).await?
            }
        };
        Ok(Some(corrected.operation))
    }

    /// Returns a correction. Any operator may read it.
    pub async fn find(
        &self,
        _: &Operator,
        id: CorrectionId,
    ) -> Result<Correction, CorrectionError> {
        self.find_by_id(id).await?.ok_or(CorrectionError::Unknown { id })
    }

    async fn find_by_id(&self, id: CorrectionId) -> Result<Option<Correction>, CorrectionError> {
        Ok(db::retry(|| find_in(&self.pool, id)).await?.map(|found| found.body))
    }

    /// Returns the corrections in a state, or all, newest first. Any operator may read them.
    pub async fn list(
        &self,
        _: &Operator,
        state: Option<State>,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<Correction, Uuid>, CorrectionError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let below = below.unwrap_or(Uuid::max());
        let limit_rows = i64::from(limit) + 1;
        let selection = CorrectionSelection { only: None, state, below, limit: limit_rows };
        let rows = db::retry(|| select(&self.pool, selection)).await?;
        let rows = rows.into_iter().map(|row| row.body);
        Ok(Page::from_rows(rows.collect(), limit, |last| last.id))
    }
}

/// Returns the error if another request for the same amount and player is open, or one for the same
/// reversal or revocation open or approved. The indexes `corrections_adjust_once`,
/// `corrections_reverse_once` and `corrections_revoke_once` admit only one.
async fn find_equal(
    connection: &mut PgConnection,
    content: CorrectionContent,
    attempt: Uuid,
) -> Result<Option<CorrectionError>, sqlx::Error> {
    let ContentColumns { kind, player, amount, reversed_operation: operation, revoked_pass } =
        content.to_columns();
    let found = sqlx::query!(
        "
        select c.state, c.reversed_operation, c.revoked_pass
        from corrections c
        where c.attempt <> $4
            and (
                (c.player = $1 and c.amount = $2 and c.kind = $5 and c.state = 'open')
                or (
                    (c.reversed_operation = $3 or c.revoked_pass = $6)
                    and c.state in ('open', 'approved')
                )
            )
        ",
        player,
        amount,
        operation,
        attempt,
        kind,
        revoked_pass
    )
    .fetch_optional(connection)
    .await?;
    let is_open = |state: &str| state == State::Open.as_str();
    Ok(found.map(|row| match (row.reversed_operation, row.revoked_pass) {
        (Some(operation), _) if is_open(&row.state) => {
            CorrectionError::ReversalRequested { operation }
        }
        (Some(operation), _) => {
            CorrectionError::Refused(LedgerError::AlreadyReversed { operation })
        }
        (None, Some(_)) if is_open(&row.state) => CorrectionError::RevocationRequested,
        (None, Some(_)) => RevocationError::Revoked.into(),
        (None, None) => CorrectionError::AdjustmentRequested,
    }))
}

/// Returns the subject that denotes a correction in the audit log.
fn audit_subject(id: CorrectionId) -> String {
    format!("correction:{id}")
}

/// A condition on the rows to be read.
#[derive(Clone, Copy)]
struct CorrectionSelection<'a> {
    only: Option<&'a [Uuid]>,
    state: Option<State>,
    below: Uuid,
    limit: i64,
}

pub(super) async fn find_in(
    executor: impl PgExecutor<'_>,
    id: CorrectionId,
) -> Result<Option<StoredCorrection>, sqlx::Error> {
    let selection =
        CorrectionSelection { only: Some(&[id.0]), state: None, below: Uuid::max(), limit: 1 };
    Ok(select(executor, selection).await?.pop())
}

/// Returns those of the requests that are open.
pub(super) async fn find_open(
    executor: impl PgExecutor<'_>,
    ids: &[Uuid],
) -> Result<Vec<StoredCorrection>, sqlx::Error> {
    let state = Some(State::Open);
    let limit = i64::try_from(ids.len()).unwrap_or(i64::MAX);
    select(executor, CorrectionSelection { only: Some(ids), state, below: Uuid::max(), limit })
        .await
}

async fn select(
    executor: impl PgExecutor<'_>,
    selection: CorrectionSelection<'_>,
) -> Result<Vec<StoredCorrection>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select c.id, c.kind, c.state, c.player, c.amount, c.reversed_operation, c.revoked_pass,
            g.player as "granted_to?", g.amount as "granted?", c.reason, c.operation,
            c.requested_by, r.name as requester, c.requested_at as "requested_at: SqlTimestamp",
            c.decided_by, d.name as "decider?", c.decided_at as "decided_at: SqlTimestamp",
            c.rejection_reason, p.name as "player_name?", o.game as "game?"
        from corrections c
        join operators r on r.id = c.requested_by
        left join corrections g on g.id = c.revoked_pass
        left join players p on p.id = coalesce(c.player, g.player)
        left join operations o on o.id = c.reversed_operation
        left join operators d on d.id = c.decided_by
        where ($1::uuid[] is null or c.id = any($1)) and ($2::text is null or c.state = $2)
            and c.id < $3
        order by c.id desc
        limit $4
        "#,
        selection.only,
        selection.state.map(State::as_str),
        selection.below,
        selection.limit
    )
    .fetch_all(executor)
    .await?;
    let corrections = rows.into_iter().map(|row| {
        let content = CorrectionContent::from_columns(ContentColumns {
            kind: &row.kind,
            player: row.player,
            amount: row.amount,
            reversed_operation: row.reversed_operation,
            revoked_pass: row.revoked_pass,
        });
        let unknown = || sqlx::Error::Protocol("a correction has an unknown kind".into());
        let content = content.ok_or_else(unknown)?;
        let body = Correction {
            id: row.id,
            kind: content.kind(),
            player: row.player.or(row.granted_to),
            player_name: row.player_name,
            amount: row.amount.or(row.granted).map(bahay_api::Coins::from_hundredths),
            reversed_operation: row.reversed_operation,
            revoked_pass: row.revoked_pass,
            game: row.game,
            reason: row.reason,
            state: db::parse_column(&row.state)?,
            requested_by: row.requester,
            requested_at: from_sql(row.requested_at).into(),
            decided_by: row.decider,
            decided_at: row.decided_at.map(|at| from_sql(at).into()),
            rejection_reason: row.rejection_reason,
            operation: row.operation,
        };
        let requester = OperatorId(row.requested_by);
        Ok(StoredCorrection { body, content, requester, decider: row.decided_by.map(OperatorId) })
    });
    corrections.collect()
}
