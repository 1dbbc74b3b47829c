//! The standings of a tournament, by pages, and the rank of a player.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::table::PlayerId;
use crate::tournament::Tournament;
use crate::tournament::entrant::{Entrant, EntrantState, Standing};

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

/// A player's rank and score after the score has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingChange {
    pub player: PlayerId,
    /// The rank among the players without bots, from 1.
    pub rank: u32,
    pub score: i64,
    pub tie_break: Coins,
}

impl Tournament {
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
                is_eliminated: entrant.state() == EntrantState::Eliminated,
                score: entrant.standing.score,
                tie_break: entrant.standing.tie_break,
                games: entrant.games,
            });
        }
        rows
    }

    /// Returns the standings of the players, without bots, whose score differs from that in an
    /// earlier state of the tournament, in the order of their registration.
    pub fn changed_standings(&self, before: &Self) -> Vec<StandingChange> {
        let persons = || self.entrants().filter(|entrant| entrant.is_ranked() && !entrant.is_bot);
        let has_changed = |entrant: &&Entrant| {
            let earlier = before.entrant(entrant.player).map(|earlier| earlier.standing);
            earlier.is_some_and(|earlier| earlier != entrant.standing)
        };
        let changed: Vec<&Entrant> = persons().filter(has_changed).collect();
        if changed.is_empty() {
            return Vec::new();
        }
        let mut standings: Vec<Standing> = persons().map(|entrant| entrant.standing).collect();
        standings.sort_unstable_by(|one, other| other.cmp(one));
        let to_change = |entrant: &Entrant| {
            let better = standings.partition_point(|standing| *standing > entrant.standing);
            StandingChange {
                player: entrant.player,
                rank: u32::try_from(better).unwrap_or(u32::MAX).saturating_add(1),
                score: entrant.standing.score,
                tie_break: entrant.standing.tie_break,
            }
        };
        changed.into_iter().map(to_change).collect()
    }

    /// Returns the index of a player's row in the standings, from 0; `None` without an entry that
    /// counts.
    pub fn row_of(&self, player: PlayerId) -> Option<usize> {
        let at = self.entrants.place_of(player)?;
        let own = self.at_place(at).standing;
        let is_before = |place: &u32| {
            let standing = self.at_place(*place).standing;
            standing > own || (standing == own && *place < at)
        };
        let ranked = self.places_where(Entrant::is_ranked);
        ranked.contains(&at).then(|| ranked.iter().filter(|place| is_before(place)).count())
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
