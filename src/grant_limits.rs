//! How many grants of the house go to one network in a day: the limits, and their count in
//! PostgreSQL.
//!
//! What reaches one wallet is bounded elsewhere, whatever is given to many ([`crate::allowance`]).
//! These limits bound how much is made from nothing. So they are wide: behind one address of a
//! carrier of mobile phones there are thousands of honest players. Whoever comes when a network has
//! had its part is let in all the same, and gets its welcome on another day. An account elsewhere is
//! welcomed by itself, once a day: it may be linked to one player after the other.
//!
//! A day is one of UTC, the same for everybody. A count is a row, which is changed in the transaction
//! that grants; so limits hold exactly, on however many nodes, and a grant that is taken back is
//! not grant. Counts of days gone by are removed by [`crate::retention`]. Deliberately absent: any knowledge of who was given what.

use bahay_engine::hex::Hex;
use jiff_sqlx::ToSqlx as _;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;

use crate::clock::{self, Timestamp};

/// What a network, an IPv4 address or the first 48 bits of an IPv6 address, gets in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantLimits {
    /// Welcomes of new guests; zero for any number.
    pub welcomes: u32,
    /// Reliefs; zero for any number.
    pub reliefs: u32,
}

/// For whom grants are grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantRecipient<'a> {
    /// The network of an address, as `rate_limit` writes it.
    Network(&'a str),
    /// An account at an issuer.
    Identity { issuer: &'a str, subject: &'a str },
    /// A call that did not come over the network.
    Unknown,
}

/// What is grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedGrant {
    Welcome,
    Relief,
}

impl Default for GrantLimits {
    /// 200 welcomes: as many newcomers from one address of a carrier, of which a carrier has
    /// hundreds, are a house that grows by tens of thousands a day. Three reliefs for each of them.
    fn default() -> Self {
        Self { welcomes: 200, reliefs: 600 }
    }
}

impl GrantLimits {
    /// How many a network gets in a day; `None` for any number.
    pub fn limit_for(self, grant: LimitedGrant) -> Option<u32> {
        let limit = match grant {
            LimitedGrant::Welcome => self.welcomes,
            LimitedGrant::Relief => self.reliefs,
        };
        (limit > 0).then_some(limit)
    }

    fn limit_for_recipient(self, grant: LimitedGrant, recipient: GrantRecipient<'_>) -> Option<(u32, String)> {
        match taker {
            GrantRecipient::Network(network) => Some((self.limit_for(grant)?, network.to_owned())),
            GrantRecipient::Identity { issuer, subject } => {
                let digest = Sha256::new().chain_update(issuer).chain_update([0]);
                let digest: [u8; 32] = digest.chain_update(subject).finalize().into();
                Some((1, format!("identity:{}", Hex(digest))))
            }
            GrantRecipient::Unknown => None,
        }
    }

    /// Counts one more in the caller's transaction. False when the taker has had as many today, and
    /// then nothing is to be granted.
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
            grant.code(),
            recipient,
            day.to_sqlx() as _,
            i64::from(limit)
        )
        .fetch_optional(connection)
        .await?;
        Ok(taken.is_some())
    }
}

impl LimitedGrant {
    /// As in the column `code`, which is that of the transfer.
    const fn code(self) -> &'static str {
        match self {
            Self::Welcome => "welcome",
            Self::Relief => "relief",
        }
    }
}

/// When the next day begins.
pub fn next_day(now: Timestamp) -> Timestamp {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    Timestamp::from_ms((now.ms().div_euclid(DAY_MS) + 1).saturating_mul(DAY_MS))
}

fn day_of(now: Timestamp) -> jiff::civil::Date {
    clock::to_jiff(now).to_zoned(jiff::tz::TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::{LimitedGrant, GrantLimits, Timestamp, next_day};

    #[test]
    fn zero_is_no_limit() {
        let limits = GrantLimits { welcomes: 0, reliefs: 7 };
        assert_eq!(limits.limit_for(LimitedGrant::Welcome), None);
        assert_eq!(limits.limit_for(LimitedGrant::Relief), Some(7));
    }

    #[test]
    fn the_next_day_is_one_of_utc() {
        let noon = Timestamp::from_ms(1_750_000_000_000);
        let next = next_day(noon);
        assert_eq!(next.ms() % 86_400_000, 0);
        assert!((1..=86_400_000).contains(&(next.ms() - noon.ms())));
        assert_eq!(next_day(next).ms(), next.ms() + 86_400_000);
    }
}
