//! The coins that bots of the house hold and have lost: the two sums that bound the grants to them
//! (`lobby::bot_purse`).

use bahay_engine::coins::Coins;
use jiff_sqlx::ToSqlx as _;

use super::Ledger;
use super::error::LedgerError;
use crate::clock::{self, Timestamp};
use crate::db;

/// Coins of all bots of the house together, of retired ones too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HouseBotCoins {
    /// The loss in games that were finished since some time, antes and fees included; below zero, a
    /// gain.
    pub lost: Coins,
    /// The balances of the wallets, and the stakes and antes of games that go on.
    pub held: Coins,
}

impl Ledger {
    /// Sums the losses of bots in games that were finished since then, and what bots hold now.
    pub async fn house_bot_coins(&self, since: Timestamp) -> Result<HouseBotCoins, LedgerError> {
        let since = clock::to_jiff(since).to_sqlx();
        let once = || {
            sqlx::query!(
                r#"
                select coalesce((
                        select sum(g.ante - p.net)
                        from players b
                        join game_players p on p.player = b.id and p.finished_at >= $1
                        join games g on g.id = p.game and g.state = 'settled'
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
        let row = db::retry(once).await?;
        let coins = Coins::from_hundredths;
        Ok(HouseBotCoins { lost: coins(row.lost), held: coins(row.held) })
    }
}
