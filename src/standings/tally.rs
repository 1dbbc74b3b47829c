//! Counting, as values: what players have done, and what a settled game adds to it. The step that
//! follows the ledger and the check that counts everything anew use the same code.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::Ending;
use bahay_engine::table::{GameId, PlayerId};
use jiff::civil::Date;

use super::Board;
use super::season::{Calendar, Span};
use crate::clock::Timestamp;

/// What a player has done in all settled games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub games: i64,
    pub wins: i64,
    /// Games won by Tongits (rules 3.7, 3.8).
    pub tongits: i64,
    /// Games won by a fight, challenged or not (rule 4.3).
    pub fights_won: i64,
    /// How often the player took the POT (rule 7.2).
    pub hits: i64,
    /// The largest POT taken.
    pub best_pot: Coins,
    /// Wins in a row, at whatever tables.
    pub streak: i64,
    pub best_streak: i64,
}

/// A settled game as far as it is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) game: GameId,
    pub(super) finished_at: Timestamp,
    /// `None` when the record cannot be played again, which the check of the ledger reports.
    pub(super) ending: Option<Ending>,
    pub(super) winner: Option<PlayerId>,
    /// The POT and who took it.
    pub(super) pot: Option<(PlayerId, Coins)>,
    /// A bot of the house played: nobody climbs a leaderboard by that.
    pub(super) has_bots: bool,
    /// Every player, the house's bots aside, and what the game changed for them, the ante aside.
    pub(super) nets: Vec<(PlayerId, Coins)>,
}

/// A player's place in one board of one span.
pub(super) type ScoreKey = (Board, Span, Date, PlayerId);

/// What has been counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) statistics: BTreeMap<PlayerId, Statistics>,
    /// What was added to scores since this was begun.
    pub(super) scores: BTreeMap<ScoreKey, i64>,
    pub(super) results: Vec<(GameId, Ending, Option<PlayerId>)>,
}

impl Tally {
    /// From what these players have done before.
    pub(super) fn from(statistics: BTreeMap<PlayerId, Statistics>) -> Self {
        Self { statistics, ..Self::default() }
    }

    pub(super) fn count(&mut self, game: &Counted, calendar: &Calendar) {
        for (player, net) in &game.nets {
            let so_far = self.statistics.entry(*player).or_default();
            so_far.games += 1;
            if game.winner == Some(*player) {
                so_far.wins += 1;
                so_far.streak += 1;
                so_far.best_streak = so_far.best_streak.max(so_far.streak);
                match game.ending {
                    Some(Ending::Tongits) => so_far.tongits += 1,
                    Some(Ending::Fight) => so_far.fights_won += 1,
                    Some(Ending::Stock) | None => {}
                }
            } else {
                so_far.streak = 0;
            }
            let pot = game.pot.filter(|(taker, _)| taker == player).map(|(_, amount)| amount);
            if let Some(amount) = pot {
                so_far.hits += 1;
                so_far.best_pot = so_far.best_pot.max(amount);
            }
            if game.has_bots {
                continue;
            }
            for span in Span::ALL {
                let starts_on = calendar.start(span, game.finished_at);
                // What was lost elsewhere does not take away from what was won.
                let won = net.hundredths().max(0);
                for (board, gained) in [(Board::Coins, won), (Board::Hits, pot.map_or(0, |_| 1))] {
                    if gained > 0 {
                        let key = (board, span, starts_on, *player);
                        let score = self.scores.entry(key).or_default();
                        *score = score.saturating_add(gained);
                    }
                }
            }
        }
        if let Some(ending) = game.ending {
            self.results.push((game.game, ending, game.winner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Statistics, Tally};
    use crate::clock::Timestamp;
    use crate::standings::{Board, Calendar, Span};
    use bahay_engine::coins::Coins;
    use bahay_engine::games::tongits::Ending;
    use bahay_engine::table::{GameId, PlayerId};
    use uuid::Uuid;

    fn player(number: u128) -> PlayerId {
        PlayerId(Uuid::from_u128(number))
    }

    fn game(winner: u128, ending: Ending, pot: Option<i64>) -> Counted {
        let coins = Coins::from_hundredths;
        let net = |number| if number == winner { coins(380) } else { coins(-200) };
        Counted {
            game: GameId(Uuid::nil()),
            finished_at: Timestamp::from_ms(1_772_366_400_000),
            ending: Some(ending),
            winner: Some(player(winner)),
            has_bots: false,
            pot: pot.map(|pot| (player(winner), coins(pot))),
            nets: (1..=3).map(|number| (player(number), net(number))).collect(),
        }
    }

    #[test]
    fn games_add_up() {
        let mut tally = Tally::default();
        let calendar = Calendar::default();
        for counted in [
            game(1, Ending::Fight, None),
            game(1, Ending::Tongits, Some(600)),
            game(2, Ending::Stock, None),
            game(1, Ending::Stock, None),
        ] {
            tally.count(&counted, &calendar);
        }
        let expected = Statistics {
            games: 4,
            wins: 3,
            tongits: 1,
            fights_won: 1,
            hits: 1,
            best_pot: Coins::from_hundredths(600),
            streak: 1,
            best_streak: 2,
        };
        assert_eq!(tally.statistics[&player(1)], expected);
        let lost = Statistics { games: 4, ..Statistics::default() };
        assert_eq!(tally.statistics[&player(3)], lost);
        let day = calendar.start(Span::Day, Timestamp::from_ms(1_772_366_400_000));
        assert_eq!(tally.scores[&(Board::Coins, Span::Day, day, player(1))], 3 * 380);
        assert_eq!(tally.scores[&(Board::Hits, Span::Day, day, player(1))], 1);
        assert!(!tally.scores.contains_key(&(Board::Coins, Span::Day, day, player(3))));
        assert_eq!(tally.results.len(), 4);
    }
}
