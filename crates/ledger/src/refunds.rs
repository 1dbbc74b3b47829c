//! The coins that voiding a table refunds, by player: computed before the order, and as booked.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Share, TableId};
use serde::Serialize;
use sqlx::{PgConnection, PgPool};

use super::operations::{PotContributions, VoidOutcome, read_contributions, split_pot};
use super::{Ledger, LedgerError};

/// The coins that one player gets back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PlayerRefund {
    pub player: PlayerId,
    /// The stake in the voided game.
    pub stake: Coins,
    /// The ante of the voided game.
    pub ante: Coins,
    /// The share of the POT of earlier games.
    pub pot: Coins,
}

/// Refunds by player: those of the voided game by seat, then those of the POT alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Refunds(Vec<PlayerRefund>);

impl Refunds {
    /// Adds the refunds of a voided game.
    pub fn add_void(&mut self, voided: &VoidOutcome) {
        for (player, stake) in voided.players.iter().zip(&voided.stakes) {
            let refund = self.entry(*player);
            refund.stake = *stake;
            refund.ante = voided.ante;
        }
    }

    /// Adds the refund of a POT.
    pub fn add_pot(&mut self, shares: &[Share]) {
        for share in shares {
            self.entry(share.player).pot = share.amount;
        }
    }

    pub fn as_slice(&self) -> &[PlayerRefund] {
        &self.0
    }

    fn entry(&mut self, player: PlayerId) -> &mut PlayerRefund {
        let place = self.0.iter().position(|refund| refund.player == player);
        let place = place.unwrap_or_else(|| {
            let none = Coins::ZERO;
            self.0.push(PlayerRefund { player, stake: none, ante: none, pot: none });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

/// The coins that are held at a table, and their refunds if the table is voided now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoidPreview {
    /// The open game.
    pub game: Option<GameId>,
    /// The POT of earlier games, without the antes of the open one.
    pub pot: Coins,
    pub refunds: Refunds,
}

/// A player with the current balance of the wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletHolder {
    pub name: String,
    pub wallet: Coins,
}

/// A seat of an open game.
struct HeldSeat {
    game: GameId,
    ante: Coins,
    player: PlayerId,
    stake: Coins,
}

impl Ledger {
    /// Returns the refunds that voiding a table would book now, as of one snapshot.
    pub async fn preview_void(&self, table: TableId) -> Result<VoidPreview, LedgerError> {
        let (seats, pot) = bahay_db::retry(|| read_held_coins(&self.reads, table)).await?;
        let overflow = || LedgerError::broken("a refund does not fit 64 bits");
        compute_preview(&seats, pot).ok_or_else(overflow)
    }

    /// Returns the names and wallets of players. Players without a wallet are absent.
    pub async fn wallet_holders(
        &self,
        players: impl IntoIterator<Item = PlayerId>,
    ) -> Result<BTreeMap<PlayerId, WalletHolder>, LedgerError> {
        let ids: Vec<_> = players.into_iter().map(|player| player.0).collect();
        let query = || {
            sqlx::query!(
                r#"
                select p.id, p.name, a.balance
                from players p
                join accounts a on a.code = 'wallet:' || p.id
                where p.id = any($1)
                "#,
                &ids
            )
            .fetch_all(&self.reads)
        };
        let rows = bahay_db::retry(query).await?.into_iter();
        let holders = rows.map(|row| {
            let wallet = Coins::from_hundredths(row.balance);
            (PlayerId(row.id), WalletHolder { name: row.name, wallet })
        });
        Ok(holders.collect())
    }
}

async fn read_held_coins(
    pool: &PgPool,
    table: TableId,
) -> Result<(Vec<HeldSeat>, Option<PotContributions>), sqlx::Error> {
    let mut tx = bahay_db::begin(pool).await?;
    sqlx::query!("set transaction isolation level repeatable read, read only")
        .execute(&mut *tx)
        .await?;
    let seats = read_held_seats(&mut tx, table).await?;
    let pot = read_contributions(&mut tx, table).await?;
    tx.commit().await?;
    Ok((seats, pot))
}

async fn read_held_seats(
    connection: &mut PgConnection,
    table: TableId,
) -> Result<Vec<HeldSeat>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select g.id, g.ante, p.player, p.stake
        from games g
        join game_players p on p.game = g.id
        where g.table_id = $1 and g.state = 'open'
        order by p.seat
        "#,
        table.0
    )
    .fetch_all(connection)
    .await?;
    let seats = rows.into_iter().map(|row| HeldSeat {
        game: GameId(row.id),
        ante: Coins::from_hundredths(row.ante),
        player: PlayerId(row.player),
        stake: Coins::from_hundredths(row.stake),
    });
    Ok(seats.collect())
}

/// Returns the refunds of the open game and of the POT that remains without its antes. Returns
/// `None` if an amount does not fit.
fn compute_preview(seats: &[HeldSeat], pot: Option<PotContributions>) -> Option<VoidPreview> {
    let mut preview =
        VoidPreview { game: seats.first().map(|seat| seat.game), ..Default::default() };
    let (mut balance, mut paid) = pot.map(|pot| (pot.balance, pot.paid)).unwrap_or_default();
    for HeldSeat { ante, player, stake, .. } in seats {
        let refund = preview.refunds.entry(*player);
        refund.stake = *stake;
        refund.ante = *ante;
        balance = balance.checked_sub(*ante)?;
        if let Some(paid) = paid.get_mut(player) {
            *paid = paid.checked_sub(*ante)?;
        }
    }
    paid.retain(|_, paid| *paid > Coins::ZERO);
    preview.pot = balance;
    if !paid.is_empty() {
        preview.refunds.add_pot(&split_pot(balance, &paid)?);
    }
    Some(preview)
}
