//! The computation of standings without I/O: the players' statistics, and the changes by a settled
//! game. The projection and the check share this code.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use jiff::civil::Date;

use super::Board;
use super::season::{Calendar, Span};
use super::settled_game::{HITS, SettledGame};
use crate::clock::Timestamp;

/// A player's statistics in all settled games of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub games: i64,
    pub wins: i64,
    /// The largest POT won.
    pub best_pot: Coins,
    /// The current number of consecutive wins, at any tables.
    pub streak: i64,
    pub best_streak: i64,
    /// The counters of the kind by name; a missing counter is zero.
    pub counters: BTreeMap<String, i64>,
}

impl Statistics {
    /// Returns a counter by its name; zero if it was never raised.
    pub fn counter(&self, name: &str) -> i64 {
        self.counters.get(name).copied().unwrap_or_default()
    }
}

/// The part of [`Statistics`] that every kind of game has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GameSums {
    pub(super) games: i64,
    pub(super) wins: i64,
    pub(super) best_pot: Coins,
    pub(super) streak: i64,
    pub(super) best_streak: i64,
}

/// The key of statistics: a player and a kind.
pub(super) type StatisticsKey = (PlayerId, String);

/// The key of a player's counter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CounterKey {
    pub(super) player: PlayerId,
    pub(super) kind: String,
    pub(super) name: String,
}

/// The key of a player's score on a board of one span.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScoreKey {
    pub(super) kind: String,
    pub(super) board: Board,
    pub(super) span: Span,
    pub(super) starts_on: Date,
    pub(super) player: PlayerId,
}

/// A player's points on a board, and the end of the game that brought the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    pub(super) points: i64,
    pub(super) reached_at: Timestamp,
}

/// The ending and the winner of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GameResult {
    pub(super) game: GameId,
    pub(super) ending: &'static str,
    pub(super) winner: Option<PlayerId>,
}

/// The changes by a number of games.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StandingsUpdate {
    /// The sums of the players after the games; they continue the sums given at the start.
    pub(super) sums: BTreeMap<StatisticsKey, GameSums>,
    /// The increments of the counters.
    pub(super) counters: BTreeMap<CounterKey, i64>,
    /// The increments of the scores.
    pub(super) scores: BTreeMap<ScoreKey, Score>,
    pub(super) results: Vec<GameResult>,
}

impl StandingsUpdate {
    pub(super) fn apply_game(&mut self, game: &SettledGame, calendar: &Calendar) {
        for (player, net) in &game.nets {
            let pot = game.pot.filter(|(taker, _)| taker == player).map(|(_, amount)| amount);
            let has_won = game.winner == Some(*player);
            let so_far = self.sums.entry((*player, game.kind.clone())).or_default();
            so_far.games += 1;
            if has_won {
                so_far.wins += 1;
                so_far.streak += 1;
                so_far.best_streak = so_far.best_streak.max(so_far.streak);
            } else {
                so_far.streak = 0;
            }
            if let Some(amount) = pot {
                so_far.best_pot = so_far.best_pot.max(amount);
            }
            let own = game.counts.iter().filter(|(counted, ..)| counted == player);
            let own = own.map(|(_, name, more)| (*name, *more));
            for (name, more) in own.chain(pot.map(|_| (HITS, 1))) {
                let kind = game.kind.clone();
                let name = name.to_owned();
                let key = CounterKey { player: *player, kind, name };
                *self.counters.entry(key).or_default() += more;
            }
            if !game.is_ranked {
                continue;
            }
            for span in Span::ALL.iter().copied() {
                let starts_on = calendar.start(span, game.finished_at);
                // Losses do not reduce the score.
                let won = net.hundredths().max(0);
                for (board, gained) in [(Board::Coins, won), (Board::Hits, pot.map_or(0, |_| 1))] {
                    if gained > 0 {
                        let kind = game.kind.clone();
                        let player = *player;
                        let key = ScoreKey { kind, board, span, starts_on, player };
                        let reached_at = game.finished_at;
                        let nothing = Score { points: 0, reached_at };
                        let score = self.scores.entry(key).or_insert(nothing);
                        score.points = score.points.saturating_add(gained);
                        score.reached_at = score.reached_at.max(reached_at);
                    }
                }
            }
        }
        if let Some(ending) = game.ending {
            self.results.push(GameResult { game: game.game, ending, winner: game.winner });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CounterKey, GameSums, ScoreKey, SettledGame, StandingsUpdate};
    use crate::clock::Timestamp;
    use crate::standings::{Board, Calendar, Span};
    use bahay_engine::coins::Coins;
    use bahay_engine::table::{GameId, PlayerId};
    use uuid::Uuid;

    fn player(number: u128) -> PlayerId {
        PlayerId(Uuid::from_u128(number))
    }

    const KIND: &str = "one";

    fn counter(kind: &str, name: &str) -> CounterKey {
        CounterKey { player: player(1), kind: kind.to_owned(), name: name.to_owned() }
    }

    fn game(winner: u128, ending: &'static str, pot: Option<i64>) -> SettledGame {
        let coins = Coins::from_hundredths;
        let net = |number| if number == winner { coins(380) } else { coins(-200) };
        SettledGame {
            game: GameId(Uuid::nil()),
            kind: KIND.to_owned(),
            finished_at: Timestamp::from_ms(1_772_366_400_000),
            ending: Some(ending),
            counts: vec![(player(winner), ending, 2), (player(3), "seen", 1)],
            winner: Some(player(winner)),
            is_ranked: true,
            pot: pot.map(|pot| (player(winner), coins(pot))),
            nets: (1..=3).map(|number| (player(number), net(number))).collect(),
        }
    }

    #[test]
    fn games_add_up() {
        let mut update = StandingsUpdate::default();
        let calendar = Calendar::default();
        for counted in [
            game(1, "bluff", None),
            game(1, "out", Some(600)),
            game(2, "end", None),
            game(1, "end", None),
        ] {
            update.apply_game(&counted, &calendar);
        }
        let sums_of = |number| update.sums[&(player(number), KIND.to_owned())];
        let best_pot = Coins::from_hundredths(600);
        assert_eq!(sums_of(1), GameSums { games: 4, wins: 3, best_pot, streak: 1, best_streak: 2 });
        assert_eq!(sums_of(3), GameSums { games: 4, ..GameSums::default() });
        let counted = [("bluff", 2), ("end", 2), ("hits", 1), ("out", 2)];
        let mut counted: std::collections::BTreeMap<_, _> =
            counted.map(|(name, value)| (counter(KIND, name), value)).into();
        counted.insert(CounterKey { player: player(2), ..counter(KIND, "end") }, 2);
        counted.insert(CounterKey { player: player(3), ..counter(KIND, "seen") }, 4);
        assert_eq!(update.counters, counted);
        let starts_on = calendar.start(Span::Day, Timestamp::from_ms(1_772_366_400_000));
        let key = |board, number| {
            let kind = KIND.to_owned();
            let player = player(number);
            ScoreKey { kind, board, span: Span::Day, starts_on, player }
        };
        assert_eq!(update.scores[&key(Board::Coins, 1)].points, 3 * 380);
        assert_eq!(update.scores[&key(Board::Hits, 1)].points, 1);
        assert!(!update.scores.contains_key(&key(Board::Coins, 3)));
        assert_eq!(update.results.len(), 4);
    }

    #[test]
    fn games_of_another_kind_are_projected_separately() {
        let mut update = StandingsUpdate::default();
        let calendar = Calendar::default();
        let other = SettledGame { kind: "other".to_owned(), ..game(1, "end", Some(600)) };
        for counted in [game(1, "bluff", None), other, game(2, "end", None)] {
            update.apply_game(&counted, &calendar);
        }
        let sums_of = |kind: &str| update.sums[&(player(1), kind.to_owned())];
        assert_eq!((sums_of(KIND).games, sums_of(KIND).streak), (2, 0));
        assert_eq!((sums_of("other").games, sums_of("other").streak), (1, 1));
        assert_eq!(update.counters[&counter("other", "hits")], 1);
        assert_eq!(update.counters.get(&counter(KIND, "hits")), None);
        assert_eq!(update.counters[&counter(KIND, "bluff")], 2);
        let won = |kind: &str| {
            let scores = update.scores.iter().filter(|(key, _)| key.kind == kind);
            scores.filter(|(key, _)| key.board == Board::Coins && key.span == Span::Ever).count()
        };
        assert_eq!((won(KIND), won("other")), (2, 1));
    }
}
