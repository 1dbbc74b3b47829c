//! The games of a tournament and the sign-ins of its players, for the signs of collusion of its pairs.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::table::TournamentId;
use sqlx::types::Json;
use uuid::Uuid;

use super::conduct::SeatConduct;
use super::signs::SharedSignal;
use super::tournament_signs::{GamePlayer, TournamentPair, rank_pairs};
use crate::archive::tournament_games::TournamentScore;
use crate::db;
use crate::reports::{ReportError, Reports};

/// The number of the newest games that are read.
const GAMES_MAX: i64 = 100_000;

/// The number of pairs whose sign-ins are compared.
const COMPARED_MAX: usize = 20_000;

impl Reports {
    /// Returns the pairs of players of a tournament with the strongest signs of collusion, at most
    /// `limit`, without house bots. Games of a secret round do not count yet.
    pub async fn tournament_pairs(
        &self,
        tournament: TournamentId,
        limit: usize,
    ) -> Result<Vec<TournamentPair>, ReportError> {
        let games = || {
            sqlx::query!(
                r#"
                select g.scores as "scores: Json<Vec<TournamentScore>>",
                    g.conduct as "conduct: Json<Vec<SeatConduct>>"
                from tournament_games g
                join tournaments t on t.id = g.tournament
                where g.tournament = $1 and g.scored_in is not null
                    and (t.secret_round is null or g.round < t.secret_round)
                order by g.finished_at desc, g.game
                limit $2
                "#,
                tournament.0,
                GAMES_MAX
            )
            .fetch_all(&self.pool)
        };
        let games = db::retry(games).await?.into_iter();
        let games = games.map(|row| {
            let conduct = row.conduct.map(|conduct| conduct.0).unwrap_or_default();
            let conduct = conduct.into_iter().chain(std::iter::repeat(SeatConduct::default()));
            let players = row.scores.0.into_iter().zip(conduct);
            let player = |(score, conduct): (TournamentScore, SeatConduct)| GamePlayer {
                player: score.player.0,
                points: score.points.hundredths(),
                conduct,
            };
            players.map(player).collect()
        });
        let games: Vec<Vec<GamePlayer>> = games.collect();
        let ranked = rank_pairs(&games, &BTreeMap::new());
        let shared = self.shared_signals(&ranked[..ranked.len().min(COMPARED_MAX)]).await?;
        let mut ranked = rank_pairs(&games, &shared);
        let bots = self.tournament_bots(tournament).await?;
        ranked.retain(|pair| !bots.contains(&pair.payer) && !bots.contains(&pair.winner));
        ranked.truncate(limit);
        Ok(ranked)
    }

    /// Returns the house bots of a tournament.
    async fn tournament_bots(
        &self,
        tournament: TournamentId,
    ) -> Result<BTreeSet<Uuid>, ReportError> {
        let query = || {
            sqlx::query_scalar!(
                "
                select e.player
                from tournament_entrants e
                join players p on p.id = e.player and p.kind = 'bot'
                where e.tournament = $1
                ",
                tournament.0
            )
            .fetch_all(&self.pool)
        };
        Ok(db::retry(query).await?.into_iter().collect())
    }

    /// Returns the pairs who have signed in from one device or address, the lesser id first.
    async fn shared_signals(
        &self,
        pairs: &[TournamentPair],
    ) -> Result<BTreeMap<(Uuid, Uuid), SharedSignal>, ReportError> {
        let firsts: Vec<Uuid> = pairs.iter().map(|pair| pair.payer.min(pair.winner)).collect();
        let seconds: Vec<Uuid> = pairs.iter().map(|pair| pair.payer.max(pair.winner)).collect();
        let query = || {
            sqlx::query!(
                r#"
                with pairs as materialized (
                    select p.first, p.second
                    from unnest($1::uuid[], $2::uuid[]) as p (first, second)
                ),
                sources as materialized (
                    select distinct s.player, s.device, s.network
                    from sessions s
                    where s.player in (
                        select p.first from pairs p union select p.second from pairs p
                    )
                )
                select p.first as "first!", p.second as "second!",
                    bool_or(a.device is not null and a.device = b.device) as "is_device?"
                from pairs p
                join sources a on a.player = p.first
                join sources b on b.player = p.second
                where a.device = b.device or a.network = b.network
                group by p.first, p.second
                "#,
                &firsts,
                &seconds
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(query).await?.into_iter().map(|row| {
            let is_device = row.is_device.unwrap_or(false);
            let signal = if is_device { SharedSignal::Device } else { SharedSignal::Address };
            ((row.first, row.second), signal)
        });
        Ok(rows.collect())
    }
}
