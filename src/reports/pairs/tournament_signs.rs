//! Pairs of players of one tournament by signs of collusion, from the points of its games.
//!
//! In each game the losers' points go to the winners in proportion to what these have won, so that a
//! pair has a *net transfer* in each game together. A pair of a tournament meets seldom, so its
//! transfers are compared with those of all pairs: if each game could as well have gone the other
//! way, the sum of `n` net transfers has a mean of zero and `n` times the mean square of all of them
//! as its variance. A shared device or address adds a fixed number of deviations.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::signs::SharedSignal;

/// The number of games together from which a pair is ranked.
pub const TOURNAMENT_GAMES_MIN: u32 = 2;

/// The scale of deviations: thousandths.
const ONE: i128 = 1_000;

/// The thousandths of a deviation that a shared device adds to the score.
const DEVICE: i64 = 3_000;

/// The thousandths of a deviation that a shared address adds to the score.
const ADDRESS: i64 = 2_000;

/// The players of a game with their points, in hundredths.
pub type GamePoints = Vec<(Uuid, i64)>;

/// The figures of a pair in a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TournamentPair {
    /// The one of the pair who has paid more.
    pub payer: Uuid,
    pub winner: Uuid,
    /// The games together.
    pub games: u32,
    /// The points that the payer paid the winner, less those that it received, in hundredths.
    pub net_transfer: i64,
    /// The net transfer in thousandths of the standard deviation by chance.
    pub deviations: i64,
    pub shared: Option<SharedSignal>,
}

impl TournamentPair {
    /// Returns the score by which pairs are ranked, in thousandths of a deviation.
    pub fn score(&self) -> i64 {
        let shared = match self.shared {
            Some(SharedSignal::Device) => DEVICE,
            Some(SharedSignal::Address) => ADDRESS,
            None => 0,
        };
        self.deviations.saturating_add(shared)
    }
}

/// The sums of a pair, of which the lesser id is the first.
#[derive(Clone, Copy, Debug, Default)]
struct PairSums {
    games: u32,
    /// The points that the first paid the second, less those that it received.
    net: i64,
}

/// Ranks the pairs that met at least [`TOURNAMENT_GAMES_MIN`] times, those with the strongest signs
/// first. `shared` has the pairs with a device or an address in common, the lesser id first.
pub fn rank_pairs(
    games: &[GamePoints],
    shared: &BTreeMap<(Uuid, Uuid), SharedSignal>,
) -> Vec<TournamentPair> {
    let mut sums: BTreeMap<(Uuid, Uuid), PairSums> = BTreeMap::new();
    let mut squares = 0_i128;
    let mut count = 0_i128;
    for game in games {
        for (number, one) in game.iter().enumerate() {
            for other in &game[number + 1..] {
                let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
                let net = net_transfer(game, first.1, second.1);
                let pair = sums.entry((first.0, second.0)).or_default();
                pair.games += 1;
                pair.net = pair.net.saturating_add(net);
                squares += i128::from(net) * i128::from(net);
                count += 1;
            }
        }
    }
    let ranked = sums.into_iter().filter(|(_, sums)| sums.games >= TOURNAMENT_GAMES_MIN);
    let mut pairs: Vec<TournamentPair> = ranked
        .map(|((first, second), sums)| {
            let (payer, winner) = if sums.net < 0 { (second, first) } else { (first, second) };
            TournamentPair {
                payer,
                winner,
                games: sums.games,
                net_transfer: sums.net.saturating_abs(),
                deviations: count_deviations(sums, squares, count),
                shared: shared.get(&(first, second)).copied(),
            }
        })
        .collect();
    pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.score()), pair.payer, pair.winner));
    pairs
}

/// Returns the points that one player of a game paid another one, less those that it received: a
/// loser's points go to the winners in proportion to theirs.
fn net_transfer(game: &GamePoints, first: i64, second: i64) -> i64 {
    let won: i128 = game.iter().map(|(_, points)| i128::from((*points).max(0))).sum();
    if won == 0 {
        return 0;
    }
    let paid = |from: i64, to: i64| {
        if from < 0 && to > 0 { -i128::from(from) * i128::from(to) / won } else { 0 }
    };
    i64::try_from(paid(first, second) - paid(second, first)).unwrap_or_default()
}

/// Returns a net transfer in thousandths of its standard deviation, given the sum of the squares of
/// all transfers and their number.
fn count_deviations(sums: PairSums, squares: i128, count: i128) -> i64 {
    let variance = (squares / count.max(1)).saturating_mul(i128::from(sums.games));
    if variance <= 0 {
        return 0;
    }
    let net = i128::from(sums.net);
    let square = net.saturating_mul(net).saturating_mul(ONE * ONE) / variance;
    i64::try_from(square.isqrt()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{GamePoints, SharedSignal, Uuid, rank_pairs};

    /// A generator of numbers (SplitMix64).
    struct Numbers(u64);

    impl Numbers {
        fn next_below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut number = self.0;
            number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (number ^ (number >> 31)) % bound
        }
    }

    fn player(number: u64) -> Uuid {
        Uuid::from_u128(u128::from(number) + 1)
    }

    /// Plays an arena of 300 players, each in about 40 games. The first two dump to each other in the
    /// games in which they meet: the second loses as much as is lost at most.
    fn play_arena(seed: u64, meetings: u64) -> Vec<GamePoints> {
        const PLAYERS: u64 = 300;
        let mut numbers = Numbers(seed);
        let mut games = Vec::new();
        for round in 0..40 {
            let mut order: Vec<u64> = (2..PLAYERS).collect();
            for at in (1..order.len()).rev() {
                let other = usize::try_from(numbers.next_below(at as u64 + 1)).unwrap();
                order.swap(at, other);
            }
            let meets = round < meetings;
            let (front, back) = order.split_at(order.len() / 2);
            let seats: Vec<u64> = if meets {
                [0, 1].iter().chain(front).chain(back).copied().collect()
            } else {
                [0].iter().chain(front).chain(&[1]).chain(back).copied().collect()
            };
            for table in seats.chunks_exact(3) {
                let winner = usize::try_from(numbers.next_below(3)).unwrap();
                let mut points = [0_i64; 3];
                let losers = points.iter_mut().enumerate().filter(|(seat, _)| *seat != winner);
                for (_, points) in losers {
                    *points = -100 * (1 + i64::try_from(numbers.next_below(8)).unwrap());
                }
                points[winner] = -points.iter().sum::<i64>();
                if meets && table[..2] == [0, 1] {
                    points = [900, -800, -100];
                }
                games.push(table.iter().map(|one| player(*one)).zip(points).collect());
            }
        }
        games
    }

    #[test]
    fn two_who_dump_to_each_other_are_among_the_first_hundredth_of_pairs() {
        for seed in 0..20 {
            let games = play_arena(seed, 6);
            let pairs = rank_pairs(&games, &BTreeMap::new());
            let of = (player(1), player(0));
            let at = pairs.iter().position(|pair| (pair.payer, pair.winner) == of).unwrap();
            assert!(at * 100 < pairs.len(), "seed {seed}: {at} of {}", pairs.len());
        }
    }

    #[test]
    fn a_shared_device_raises_a_pair() {
        let games = play_arena(1, 0);
        let without = rank_pairs(&games, &BTreeMap::new());
        let last = without.last().unwrap();
        let key = (last.payer.min(last.winner), last.payer.max(last.winner));
        let shared = BTreeMap::from([(key, SharedSignal::Device)]);
        let with = rank_pairs(&games, &shared);
        let at = with.iter().position(|pair| pair.shared.is_some()).unwrap();
        assert!(at * 20 < with.len(), "{at} of {}", with.len());
    }

    #[test]
    fn losses_go_to_the_winners_in_proportion() {
        let game = vec![(player(0), -900), (player(1), 600), (player(2), 300)];
        let pairs = rank_pairs(&[game.clone(), game], &BTreeMap::new());
        let paid: Vec<_> =
            pairs.iter().map(|pair| (pair.payer, pair.winner, pair.net_transfer)).collect();
        assert!(paid.contains(&(player(0), player(1), 1_200)), "{paid:?}");
        assert!(paid.contains(&(player(0), player(2), 600)), "{paid:?}");
        assert!(pairs.iter().all(|pair| pair.games == 2));
    }
}
