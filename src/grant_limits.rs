//! The limits of grants to one network in a day, and their counts in PostgreSQL.
//!
//! The coins that reach one wallet from others are bounded elsewhere ([`crate::ledger::allowance`]). These
//! limits bound the coins that are issued. They are generous, since thousands of honest players may
//! share one address of a mobile carrier. A player beyond the limit of its network is admitted all
//! the same, and receives its welcome on another day. An OpenID Connect identity has its own limit
//! of one welcome a day, since it can be linked to one player after the other.
//!
//! A day is a day in UTC for everybody. A count is a row that changes in the granting transaction,
//! so that limits hold exactly on any number of nodes, and a rolled back grant is not counted.
//! Counts of past days are removed by [`crate::retention`]. This module does not record the
//! receiving players.

use bahay_engine::hex::Hex;
use jiff_sqlx::ToSqlx as _;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;

use crate::clock::{self, Timestamp};

/// The limits of a network in a day. A network is an IPv4 address, or the first 48 bits of an IPv6
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantLimits {
    /// Welcome grants for new guests; zero for no limit.
    pub welcomes: u32,
    /// Relief grants; zero for no limit.
    pub reliefs: u32,
}

/// The recipient for which grants are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantRecipient<'a> {
    /// The network of an address, as `rate_limit` formats it.
    Network(&'a str),
    /// An OpenID Connect identity.
    Identity { issuer: &'a str, subject: &'a str },
    /// A call that did not come over the network.
    Unknown,
}

bahay_base::text_enum! {
    /// The kind of a limited grant. The text is that of the column `code`, and of the transfer.
    pub enum LimitedGrant {
        Welcome = "welcome",
        Relief = "relief",
    }
}

impl Default for GrantLimits {
    /// 200 welcomes: at hundreds of addresses a carrier, that many newcomers at each are tens of
    /// thousands of new players a day. Three reliefs for each welcome.
    fn default() -> Self {
        Self { welcomes: 200, reliefs: 600 }
    }
}

impl GrantLimits {
    /// Returns the limit of a network in a day; `None` for no limit.
    pub fn limit_for(self, grant: LimitedGrant) -> Option<u32> {
        let limit = match grant {
            LimitedGrant::Welcome => self.welcomes,
            LimitedGrant::Relief => self.reliefs,
        };
        (limit > 0).then_some(limit)
    }

    fn limit_for_recipient(
        self,
        grant: LimitedGrant,
        recipient: GrantRecipient<'_>,
    ) -> Option<(u32, String)> {
        match recipient {
            GrantRecipient::Network(network) => Some((self.limit_for(grant)?, network.to_owned())),
            GrantRecipient::Identity { issuer, subject } => {
                let digest = Sha256::new().chain_update(issuer).chain_update([0]);
                let digest: [u8; 32] = digest.chain_update(subject).finalize().into();
                Some((1, format!("identity:{}", Hex(digest))))
            }
            GrantRecipient::Unknown => None,
        }
    }

    /// Counts one more grant in the caller's transaction. Returns false if the recipient has
    /// reached its limit for the day, in which case the caller must not grant.
    pub async fn count_in_tx(
        self,
        connection: &mut PgConnection,
        grant: LimitedGrant,
        recipient: GrantRecipient<'_>,
        now: Timestamp,
    ) -> Result<bool, sqlx::Error> {
        let Some((limit, recipient)) = self.limit_for_recipient(grant, recipient) else {
            return Ok(true);
        };
        let day = day_of(now);
        let taken = sqlx::query_scalar!(
            r#"
            insert into grant_counts as c (code, taker, day, granted)
            values ($1, $2, $3, 1)
            on conflict (code, taker, day) do update
            set granted = c.granted + 1
            where c.granted < $4
            returning c.granted
            "#,
            grant.as_str(),
            recipient,
            day.to_sqlx() as _,
            i64::from(limit)
        )
        .fetch_optional(connection)
        .await?;
        Ok(taken.is_some())
    }
}

/// Returns the beginning of the next day, in UTC.
pub fn next_day(now: Timestamp) -> Timestamp {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    Timestamp::from_ms((now.ms().div_euclid(DAY_MS) + 1).saturating_mul(DAY_MS))
}

fn day_of(now: Timestamp) -> jiff::civil::Date {
    clock::to_jiff(now).to_zoned(jiff::tz::TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::{GrantLimits, LimitedGrant, Timestamp, next_day};

    #[test]
    fn zero_is_no_limit() {
        let limits = GrantLimits { welcomes: 0, reliefs: 7 };
        assert_eq!(limits.limit_for(LimitedGrant::Welcome), None);
        assert_eq!(limits.limit_for(LimitedGrant::Relief), Some(7));
    }

    #[test]
    fn the_next_day_begins_at_midnight_utc() {
        let noon = Timestamp::from_ms(1_750_000_000_000);
        let next = next_day(noon);
        assert_eq!(next.ms() % 86_400_000, 0);
        assert!((1..=86_400_000).contains(&(next.ms() - noon.ms())));
        assert_eq!(next_day(next).ms(), next.ms() + 86_400_000);
    }
}
