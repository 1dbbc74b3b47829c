//! The public view of a tournament, with the viewer's own entry, and its standings by pages.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::chance::Commitment;
use crate::coins::Coins;
use crate::table::{PlayerId, Timestamp};
use crate::tournament::Tournament;
use crate::tournament::entrant::{Entrant, EntrantState, Standing};
use crate::tournament::id::{TableNumber, TournamentId};
use crate::tournament::phase::Phase;

/// A tournament as a viewer sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TournamentView {
    pub id: TournamentId,
    pub name: String,
    pub phase: Phase,
    pub is_registration_open: bool,
    pub commitment: Commitment,
    /// The number of entries, with those that the ledger has not confirmed.
    pub entrants: u32,
    /// The number of entrants who still play.
    pub playing: u32,
    /// The stage and the round, from 1; 0 before the start.
    pub stage: u32,
    pub round: u32,
    /// The number of tables of the round that have not ended, or of those in play.
    pub tables: u32,
    /// The sum of the prizes; until registration is closed the least that it will be.
    pub pool: Coins,
    /// The prizes from the first place, once registration is closed.
    pub prizes: Vec<Coins>,
    /// The time at which the next round begins, or the tournament starts or ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnEntry>,
}

/// The viewer's own entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnEntry {
    pub state: EntrantState,
    pub is_paused: bool,
    /// The viewer's rank, once there are standings.
    pub rank: Option<u32>,
    pub score: i64,
    /// The table at which the viewer plays.
    pub table: Option<TableNumber>,
}

/// A row of the standings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingRow {
    /// The rank among the players without bots, from 1; absent for a bot. Tied players share it.
    pub rank: Option<u32>,
    pub player: PlayerId,
    pub name: String,
    pub is_bot: bool,
    pub is_paused: bool,
    /// True if the player lost at a cut.
    pub is_eliminated: bool,
    pub score: i64,
    pub tie_break: Coins,
    pub games: u32,
}

impl Tournament {
    /// Returns the tournament as a player sees it, or the public.
    pub fn view(&self, now: Timestamp, viewer: Option<PlayerId>) -> TournamentView {
        let has_started = self.phase != Phase::Announced;
        let pool = self.pool.as_ref().map(|pool| pool.amount);
        let next_at = match self.phase {
            Phase::Announced => self.terms.starts_at,
            Phase::Break { until } => Some(until),
            Phase::Arena { ends_at, .. } => Some(ends_at),
            Phase::Round | Phase::Ended | Phase::Cancelled { .. } => None,
        };
        let own = viewer.and_then(|player| self.entrant(player)).map(|entrant| OwnEntry {
            state: entrant.state,
            is_paused: entrant.is_paused,
            rank: self.rank_of(entrant.player).filter(|_| has_started),
            score: entrant.standing.score,
            table: entrant.table,
        });
        let tables = self.tables.values().filter(|table| !table.has_ended).count();
        TournamentView {
            id: self.id,
            name: self.terms.name.clone(),
            phase: self.phase,
            is_registration_open: self.is_registration_open(now),
            commitment: self.commitment(),
            entrants: self.entrant_count(),
            playing: self.count_entrants(Entrant::takes_part),
            stage: if has_started { self.stage + 1 } else { 0 },
            round: self.round,
            tables: u32::try_from(tables).unwrap_or(u32::MAX),
            pool: pool.unwrap_or(self.terms.guarantee),
            prizes: self.pool.as_ref().map(|pool| pool.prizes.clone()).unwrap_or_default(),
            next_at,
            own,
        }
    }

    /// Returns the ranked entrants, the best first.
    pub fn standings(&self) -> Vec<&Entrant> {
        let mut places = self.places_where(Entrant::is_ranked);
        self.rank(&mut places);
        places.into_iter().map(|place| self.at_place(place)).collect()
    }

    /// Returns at most `count` rows of the standings, beginning with this one, from 0.
    pub fn standing_rows(&self, from: usize, count: usize) -> Vec<StandingRow> {
        let mut rows = Vec::new();
        let mut persons = 0;
        let mut last: Option<(Standing, u32)> = None;
        for (number, entrant) in self.standings().into_iter().enumerate() {
            let mut rank = None;
            if !entrant.is_bot {
                persons += 1;
                let tied = last.filter(|(standing, _)| *standing == entrant.standing);
                let shared = tied.map_or(persons, |(_, rank)| rank);
                last = Some((entrant.standing, shared));
                rank = Some(shared);
            }
            if number < from {
                continue;
            }
            if rows.len() == count {
                break;
            }
            rows.push(StandingRow {
                rank,
                player: entrant.player,
                name: entrant.name.clone(),
                is_bot: entrant.is_bot,
                is_paused: entrant.is_paused,
                is_eliminated: entrant.state == EntrantState::Eliminated,
                score: entrant.standing.score,
                tie_break: entrant.standing.tie_break,
                games: entrant.games,
            });
        }
        rows
    }

    /// Returns the rank of a player among the players without bots, from 1; `None` for a bot, or
    /// without an entry that counts.
    pub fn rank_of(&self, player: PlayerId) -> Option<u32> {
        let own = self.entrant(player).filter(|own| own.is_ranked() && !own.is_bot)?;
        let is_better = |entrant: &Entrant| {
            entrant.is_ranked() && !entrant.is_bot && entrant.standing > own.standing
        };
        Some(self.count_entrants(is_better) + 1)
    }
}
