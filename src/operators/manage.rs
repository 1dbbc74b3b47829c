//! Making operators, disabling them and giving them new tokens: for `bahay operator`, on the login
//! that owns the schema. A token is told once, to whoever makes it.

use jiff_sqlx::Timestamp as SqlTimestamp;
use thiserror::Error;

use super::{OperatorName, Operators, Role};
use crate::auth::OperatorToken;
use crate::clock::{self, Timestamp};
use crate::{db, entropy};

/// An operator as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub role: String,
    pub created_at: Timestamp,
    pub disabled_at: Option<Timestamp>,
}

/// Why operators stay as they are.
#[derive(Debug, Error)]
pub enum ManageError {
    #[error("there is an operator {name} already; names are not given twice")]
    NameTaken { name: String },
    #[error("there is no operator {name} who is not disabled")]
    NoSuchOperator { name: String },
    #[error("operators cannot be changed; use the login that migrates: {0}")]
    Database(#[from] sqlx::Error),
}

impl Operators {
    /// Makes an operator. Not repeated when an answer is lost: the token would be, too.
    pub async fn add(&self, name: &OperatorName, role: Role) -> Result<OperatorToken, ManageError> {
        let token = OperatorToken::random();
        let hash = token.hash();
        let made = sqlx::query!(
            r#"
            insert into operators (id, name, role, token_hash)
            values ($1, $2, $3, $4)
            on conflict (name) do nothing
            "#,
            entropy::uuid(),
            name.as_str(),
            role.as_str(),
            hash.0.as_slice()
        )
        .execute(&self.pool)
        .await?;
        if made.rows_affected() == 0 {
            return Err(ManageError::NameTaken { name: name.as_str().to_owned() });
        }
        Ok(token)
    }

    /// All there ever were, by name.
    pub async fn list(&self) -> Result<Vec<Listed>, ManageError> {
        let once = || {
            sqlx::query!(
                r#"
                select o.name, o.role, o.created_at as "created_at: SqlTimestamp",
                    o.disabled_at as "disabled_at: SqlTimestamp"
                from operators o
                order by o.name
                "#
            )
            .fetch_all(&self.pool)
        };
        let from_sql = |time: SqlTimestamp| clock::from_jiff(time.to_jiff());
        let rows = db::retry(once).await?.into_iter().map(|row| Listed {
            name: row.name,
            role: row.role,
            created_at: from_sql(row.created_at),
            disabled_at: row.disabled_at.map(from_sql),
        });
        Ok(rows.collect())
    }

    /// Ends what an operator may do, for good.
    pub async fn disable(&self, name: &OperatorName) -> Result<(), ManageError> {
        let changed = sqlx::query!(
            "update operators set disabled_at = now() where name = $1 and disabled_at is null",
            name.as_str()
        )
        .execute(&self.pool)
        .await?;
        changed_one(changed.rows_affected(), name)
    }

    /// Gives an operator another token; the one before stops working at once.
    pub async fn renew(&self, name: &OperatorName) -> Result<OperatorToken, ManageError> {
        let token = OperatorToken::random();
        let hash = token.hash();
        let changed = sqlx::query!(
            "update operators set token_hash = $2 where name = $1 and disabled_at is null",
            name.as_str(),
            hash.0.as_slice()
        )
        .execute(&self.pool)
        .await?;
        changed_one(changed.rows_affected(), name)?;
        Ok(token)
    }
}

fn changed_one(rows: u64, name: &OperatorName) -> Result<(), ManageError> {
    if rows == 1 {
        Ok(())
    } else {
        Err(ManageError::NoSuchOperator { name: name.as_str().to_owned() })
    }
}
