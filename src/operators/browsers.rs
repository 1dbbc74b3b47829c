//! Browsers in which operators have signed in, each known by a cookie.
//!
//! Failed sign-ins are counted by operator and place. A known browser is a place of its own, so that
//! nobody who shares its address can lock its operator out. A browser is known for 90 days after a
//! sign-in, and no longer once its operator is reset or disabled. A cookie that no operator has signed
//! in with counts for nothing: it is replaced at the next sign-in, and attempts with it are counted
//! by address.

use bahay_engine::hex::Hex;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::OperatorName;
use super::sign_in::to_sql;
use crate::accounts::known_since;
use crate::auth::BrowserToken;
use crate::clock::Timestamp;
use crate::db;
use crate::ids::OperatorId;

/// The number of browsers that are remembered of one operator: those of its latest sign-ins.
const BROWSERS_MAX: i64 = 32;

/// The place of a sign-in, as failed attempts are counted.
#[derive(Debug)]
pub(super) struct AttemptSource {
    /// A browser of the operator, or the address.
    pub(super) from: String,
    /// The operator has signed in from there lately.
    pub(super) is_known: bool,
    /// The place is a browser of the operator.
    pub(super) is_browser: bool,
    /// The browser's token, if any operator has signed in with it lately.
    pub(super) token: Option<BrowserToken>,
}

/// Looks up the place of a sign-in by a name.
pub(super) async fn find_attempt_source(
    pool: &PgPool,
    name: Option<&OperatorName>,
    token: Option<&BrowserToken>,
    address: &str,
    now: Timestamp,
) -> Result<AttemptSource, sqlx::Error> {
    let name = name.map(OperatorName::as_str);
    let hash = token.map(BrowserToken::hash);
    let since = to_sql(known_since(now));
    let once = || {
        sqlx::query!(
            r#"
            select
                exists (
                    select from operators o
                    join operator_sessions s on s.operator = o.id
                    where o.name = $1 and s.address = $2 and s.opened_at >= $4
                ) as "by_address!",
                exists (
                    select from operator_browsers b
                    join operators o on o.id = b.operator
                    where o.name = $1 and b.token_hash = $3 and b.signed_in_at >= $4
                        and o.disabled_at is null
                ) as "by_browser!",
                exists (
                    select from operator_browsers b
                    where b.token_hash = $3 and b.signed_in_at >= $4
                ) as "by_anybody!"
            "#,
            name,
            address,
            hash.as_ref().map(|hash| hash.0.as_slice()),
            since as _
        )
        .fetch_one(pool)
    };
    let known = db::retry(once).await?;
    let browser = hash.filter(|_| known.by_browser);
    Ok(AttemptSource {
        from: match &browser {
            Some(hash) => format!("browser {}", Hex(hash.0)),
            None => address.to_owned(),
        },
        is_known: known.by_browser || known.by_address,
        is_browser: browser.is_some(),
        token: token.filter(|_| known.by_anybody).cloned(),
    })
}

/// Remembers in the caller's transaction that an operator has signed in in a browser.
pub(super) async fn remember_in_tx(
    tx: &mut PgConnection,
    operator: OperatorId,
    token: &BrowserToken,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    let hash = token.hash();
    sqlx::query!(
        r#"
        insert into operator_browsers (token_hash, operator, signed_in_at)
        values ($1, $2, $3)
        on conflict (token_hash, operator) do update set signed_in_at = excluded.signed_in_at
        "#,
        hash.0.as_slice(),
        operator.0,
        to_sql(now) as _
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        r#"
        delete from operator_browsers
        where operator = $1 and token_hash not in (
            select b.token_hash
            from operator_browsers b
            where b.operator = $1 and b.signed_in_at >= $2
            order by b.signed_in_at desc, b.token_hash
            limit $3
        )
        "#,
        operator.0,
        to_sql(known_since(now)) as _,
        BROWSERS_MAX
    )
    .execute(tx)
    .await
    .map(|_| ())
}

/// Forgets all browsers of an operator in the caller's transaction.
pub(super) async fn forget_in_tx(tx: &mut PgConnection, operator: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from operator_browsers where operator = $1", operator)
        .execute(tx)
        .await
        .map(|_| ())
}
