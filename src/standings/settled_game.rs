//! A settled game as far as it is counted, in words that hold for every kind of game: how it ended
//! and what else is counted of it, the game itself says by name.

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::game::{CounterIncrement, Game};
use bahay_engine::table::{GameId, PlayerId};

use crate::clock::Timestamp;

/// How often a player took a POT.
pub(super) const HITS: &str = "hits";

/// A settled game as far as it is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettledGame {
    pub(super) game: GameId,
    /// Which game was played.
    pub(super) kind: String,
    pub(super) finished_at: Timestamp,
    /// `None` when the record cannot be played again, which the check of the ledger reports.
    pub(super) ending: Option<&'static str>,
    /// By how much a player's counter of a name rises.
    pub(super) counts: Vec<(PlayerId, &'static str, i64)>,
    pub(super) winner: Option<PlayerId>,
    /// The POT and who took it.
    pub(super) pot: Option<(PlayerId, Coins)>,
    /// It counts on leaderboards. With a bot of the house or at a private table it does not: who
    /// chooses whom to beat climbs nothing by that.
    pub(super) is_ranked: bool,
    /// Every player, the house's bots aside, and what the game changed for them, the ante aside.
    pub(super) nets: Vec<(PlayerId, Coins)>,
}

/// How a game that is over ended, and what it counts, of its players by seat.
pub(super) fn ending_and_counts(
    game: &AnyGame,
    players: &[PlayerId],
) -> (Option<&'static str>, Vec<(PlayerId, &'static str, i64)>) {
    let of = |CounterIncrement { seat, name, more }| {
        players.get(seat.index()).map(|player| (*player, name, i64::from(more)))
    };
    (game.ending(), game.counts().into_iter().filter_map(of).collect())
}
