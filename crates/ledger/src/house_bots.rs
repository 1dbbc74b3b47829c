//! The coins that house bots hold and have lost: the two sums that bound the grants to them
//! (`bahay_shell::lobby::BotPurse`).

use bahay_engine::coins::Coins;
use sqlx::{Postgres, Transaction};

use super::Ledger;
use super::error::LedgerError;
use bahay_base::clock::Timestamp;

/// The coins of all house bots together, including retired ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HouseBotCoins {
    /// The loss in games that finished since a given time, with antes and fees, less the POT
    /// refunds of private tables since then. Negative if the bots have gained.
    pub lost: Coins,
    /// The balances of the wallets, and the stakes and antes of open games.
    pub held: Coins,
}

/// A lock that permits a decision on a grant to a house bot. One process holds it at a time; a drop
/// releases it.
#[derive(Debug)]
pub struct BotGrantLock(Transaction<'static, Postgres>);

impl BotGrantLock {
    /// Releases the lock at once.
    pub async fn release(self) {
        // A connection that breaks here has released the lock as well.
        let _ = self.0.rollback().await;
    }
}

impl Ledger {
    /// Acquires the lock of grants to house bots. Returns `None` while another process holds it.
    pub async fn lock_bot_grants(&self) -> Result<Option<BotGrantLock>, LedgerError> {
        let mut tx = bahay_db::begin(&self.reads).await?;
        let is_locked = sqlx::query_scalar!(
            r#"select pg_try_advisory_xact_lock(hashtext('bahay: grants to bots')) as "is_locked!""#
        )
        .fetch_one(&mut *tx)
        .await?;
        Ok(is_locked.then_some(BotGrantLock(tx)))
    }

    /// Sums the losses of house bots in games that finished since then, and the coins that they
    /// hold now.
    pub async fn house_bot_coins(&self, since: Timestamp) -> Result<HouseBotCoins, LedgerError> {
        let since = bahay_db::to_sql(since);
        let once = || {
            sqlx::query!(
                r#"
                select coalesce((
                        select sum(g.ante - p.net)
                        from players b
                        join game_players p on p.player = b.id and p.finished_at >= $1
                        join games g on g.id = p.game and g.state = 'settled'
                        where b.kind = 'bot'
                    ), 0)::bigint
                    -- The transaction of each refund writes a notice.
                    - coalesce((
                        select sum(n.amount)
                        from players b
                        join notices n on n.player = b.id and n.created_at >= $1
                            and n.kind = 'pot_refunded'
                        where b.kind = 'bot'
                    ), 0)::bigint as "lost!",
                    (
                        coalesce((
                            select sum(a.balance)
                            from players b
                            join accounts a on a.code = 'wallet:' || b.id
                            where b.kind = 'bot'
                        ), 0)
                        + coalesce((
                            select sum(p.stake + g.ante)
                            from players b
                            join game_players p on p.player = b.id and p.finished_at is null
                            join games g on g.id = p.game
                            where b.kind = 'bot'
                        ), 0)
                    )::bigint as "held!"
                "#,
                since as _
            )
            .fetch_one(&self.reads)
        };
        let row = bahay_db::retry(once).await?;
        let coins = Coins::from_hundredths;
        Ok(HouseBotCoins { lost: coins(row.lost), held: coins(row.held) })
    }
}
