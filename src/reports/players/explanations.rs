//! The explanations of a statement's lines: the payments of settlements with their items, and the
//! reasons of corrections and voids.

use std::collections::BTreeMap;

use bahay_api::operator::statements::{StatementItem, StatementLine, StatementPayment};
use bahay_engine::coins::Coins;
use bahay_engine::table::{Payment, Settlement};
use serde_json::Value;
use uuid::Uuid;

use crate::db;
use crate::ids::PlayerId;
use crate::reports::{ReportError, Reports};

/// A settled game: its settlement, and its players by seat with their names.
struct SettledGame {
    settlement: Settlement,
    players: Vec<(Uuid, String)>,
}

impl Reports {
    /// Completes the lines of a player's statement with their explanations.
    pub async fn explain_lines(
        &self,
        player: PlayerId,
        lines: &mut [StatementLine],
    ) -> Result<(), ReportError> {
        let settled = lines.iter().filter(|line| line.kind == "settle");
        let games: Vec<Uuid> = settled.filter_map(|line| line.game).collect();
        let games = self.settled_games(&games).await?;
        let reasons = self.booked_reasons(lines).await?;
        for line in lines {
            line.reason = reasons.get(&line.operation).cloned();
            let game = line.game.filter(|_| line.kind == "settle");
            if let Some(game) = game.and_then(|game| games.get(&game)) {
                line.payments = list_payments(player.0, game);
            }
        }
        Ok(())
    }

    async fn settled_games(
        &self,
        games: &[Uuid],
    ) -> Result<BTreeMap<Uuid, SettledGame>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select r.game as "game!", r.settlement as "settlement!",
                    p.players as "players!: Vec<Uuid>", p.names as "names!: Vec<String>"
                from game_records r
                cross join lateral (
                    select array_agg(s.player order by s.seat) as players,
                        array_agg(
                            (select n.name from players n where n.id = s.player) order by s.seat
                        ) as names
                    from game_players s
                    where s.game = r.game
                ) p
                where r.game = any($1)
                "#,
                games
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let players = row.players.into_iter().zip(row.names).collect();
            Ok((row.game, SettledGame { settlement: parse(row.settlement)?, players }))
        });
        rows.collect()
    }

    /// Returns the reasons of the corrections and voids among lines, by their operations.
    async fn booked_reasons(
        &self,
        lines: &[StatementLine],
    ) -> Result<BTreeMap<i64, String>, ReportError> {
        let corrections = lines.iter().filter(|line| matches!(&*line.kind, "adjust" | "reverse"));
        let corrections: Vec<i64> = corrections.map(|line| line.operation).collect();
        let voids = lines.iter().filter(|line| line.kind == "void");
        let (voids, games): (Vec<i64>, Vec<Uuid>) =
            voids.filter_map(|line| Some((line.operation, line.game?))).unzip();
        let once = || {
            sqlx::query!(
                r#"
                select c.operation as "operation!", c.reason as "reason!"
                from corrections c
                where c.operation = any($1)
                union all
                select v.operation, g.void_reason
                from unnest($2::bigint[], $3::uuid[]) as v (operation, game)
                join games g on g.id = v.game
                where g.void_reason is not null
                "#,
                &corrections,
                &voids,
                &games
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        Ok(rows.map(|row| (row.operation, row.reason)).collect())
    }
}

fn parse(settlement: Value) -> Result<Settlement, ReportError> {
    serde_json::from_value(settlement).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// Lists the payments to and from a player; the latter have negative amounts.
fn list_payments(player: Uuid, game: &SettledGame) -> Vec<StatementPayment> {
    let SettledGame { settlement, players } = game;
    let payments =
        settlement.payments.iter().filter_map(|Payment { from, to, items, paid, .. }| {
            let [payer, receiver] = [from, to].map(|seat| players.get(seat.index()));
            let (payer, receiver) = payer.zip(receiver)?;
            let (other, amount) = if receiver.0 == player {
                (payer, *paid)
            } else if payer.0 == player {
                (receiver, Coins::ZERO.checked_sub(*paid)?)
            } else {
                return None;
            };
            let items = items.iter().map(|item| StatementItem {
                name: item.name.to_string(),
                rule: item.rule.to_string(),
                counts: item.counts,
            });
            Some(StatementPayment {
                player: other.0,
                name: other.1.clone(),
                amount: amount.into(),
                items: items.collect(),
            })
        });
    payments.collect()
}
