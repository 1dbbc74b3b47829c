//! Browsers in which operators have signed in, each identified by a cookie.
//!
//! Failed sign-ins are counted by operator and source. A known browser is a source of its own, so
//! that nobody who shares its address can lock its operator out. A browser stays known for 90 days
//! after a sign-in, until its operator is reset or disabled. A cookie with which no operator has
//! signed in is ignored: it is replaced at the next sign-in, and attempts that carry it are counted
//! by address.

use bahay_engine::hex::Hex;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::OperatorName;
use crate::accounts::trusted_since;
use crate::auth::BrowserToken;
use crate::clock::Timestamp;
use crate::db::{self, to_sql};
use crate::ids::OperatorId;

/// The number of browsers that are remembered for one operator: those of the latest sign-ins.
const BROWSERS_MAX: i64 = 32;

/// The source of a sign-in, by which failed attempts are counted.
#[derive(Debug)]
pub(super) struct SignInOrigin {
    /// The key of a known browser of the operator, or else the address.
    pub(super) from: String,
    /// True if the operator has signed in from this source within the last 90 days.
    pub(super) is_known: bool,
    /// True if the source is a known browser of the operator.
    pub(super) is_browser: bool,
    /// The browser's token, if any operator has signed in with it within the last 90 days.
    pub(super) token: Option<BrowserToken>,
}

/// Determines the source of a sign-in under a name.
pub(super) async fn find_sign_in_origin(
    pool: &PgPool,
    name: Option<&OperatorName>,
    token: Option<&BrowserToken>,
    address: &str,
    now: Timestamp,
) -> Result<SignInOrigin, sqlx::Error> {
    let name = name.map(OperatorName::as_str);
    let hash = token.map(BrowserToken::hash);
    let since = to_sql(trusted_since(now));
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
    let row = db::retry(once).await?;
    let browser = hash.filter(|_| row.by_browser);
    Ok(SignInOrigin {
        from: match &browser {
            Some(hash) => format!("browser {}", Hex(hash.0)),
            None => address.to_owned(),
        },
        is_known: row.by_browser || row.by_address,
        is_browser: browser.is_some(),
        token: token.filter(|_| row.by_anybody).cloned(),
    })
}

/// Remembers within the caller's transaction that an operator has signed in with a browser.
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
        to_sql(trusted_since(now)) as _,
        BROWSERS_MAX
    )
    .execute(tx)
    .await
    .map(|_| ())
}

/// Forgets all browsers of an operator within the caller's transaction.
pub(super) async fn forget_in_tx(tx: &mut PgConnection, operator: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from operator_browsers where operator = $1", operator)
        .execute(tx)
        .await
        .map(|_| ())
}
