//! Pairs of players of one tournament by signs of collusion, from the points of its games and from how
//! they were played.
//!
//! In each game the losers' points go to the winners in proportion to what these have won, so that a
//! pair has a *net transfer* in each game together. A pair of a tournament meets seldom, so its
//! transfers are compared with those of all pairs, as if each game could as well have gone the other
//! way.
//!
//! The points of a few games are mostly luck; the *conduct* of a player beside another one is not
//! ([`SeatConduct`]). Two figures count alike: the departures from the AI's advice, compared with
//! those in the player's games without the other, and the gifts to the other. The sign of a pair is
//! that of the one of the two who deviates more. A shared device or address adds a fixed number of
//! deviations.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::conduct::{Conduct, SeatConduct};
use super::deviations::{SignedRoots, count_departure_deviations};
use super::signs::SharedSignal;

/// The number of games together from which a pair is ranked.
pub const TOURNAMENT_GAMES_MIN: u32 = 2;

/// The thousandths of a deviation that a shared device adds to the score.
const DEVICE: i64 = 3_000;

/// The thousandths of a deviation that a shared address adds to the score.
const ADDRESS: i64 = 2_000;

/// A player of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GamePlayer {
    pub player: Uuid,
    /// The points, in hundredths.
    pub points: i64,
    /// Without a decision while it is not measured.
    pub conduct: SeatConduct,
}

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
    /// The net transfers of the games together, by their roots, in thousandths of the standard
    /// deviation by chance.
    pub deviations: i64,
    /// The departures from the AI's advice and the gifts to the other, in thousandths of the standard
    /// deviation by chance: of the one of the pair with more.
    pub conduct: i64,
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
        self.deviations.saturating_add(self.conduct).saturating_add(shared)
    }
}

/// The conduct of one player in some games.
#[derive(Clone, Copy, Debug, Default)]
struct ConductSums {
    conduct: Conduct,
    gifts: SignedRoots,
}

impl ConductSums {
    /// Adds a game with the gifts to the players of these seats.
    fn add(&mut self, player: &GamePlayer, others: impl IntoIterator<Item = usize>) {
        self.conduct.add(player.conduct.conduct);
        for seat in others {
            self.gifts.add(player.conduct.gifts.get(seat).copied().unwrap_or_default());
        }
    }

    /// Returns the sign of these games among all games of the player and of the field.
    fn deviations(self, of_player: Self, field: Self) -> i64 {
        let departures =
            count_departure_deviations(self.conduct, of_player.conduct, field.conduct).max(0);
        let gifts = self.gifts.deviations_beside(of_player.gifts, field.gifts).max(0);
        // The sum of two such figures has a deviation of the root of two.
        departures.saturating_add(gifts).saturating_mul(1_000) / 1_414
    }
}

/// The sums of a pair, of which the lesser id is the first.
#[derive(Clone, Copy, Debug, Default)]
struct PairSums {
    games: u32,
    /// The points that the first paid the second, less those that it received.
    net: i64,
    transfers: SignedRoots,
    /// The conduct of the first beside the second, and of the second beside the first.
    conduct: [ConductSums; 2],
}

/// Ranks the pairs that met at least [`TOURNAMENT_GAMES_MIN`] times, those with the strongest signs
/// first. `shared` has the pairs with a device or an address in common, the lesser id first.
pub fn rank_pairs(
    games: &[Vec<GamePlayer>],
    shared: &BTreeMap<(Uuid, Uuid), SharedSignal>,
) -> Vec<TournamentPair> {
    let mut sums: BTreeMap<(Uuid, Uuid), PairSums> = BTreeMap::new();
    let mut of_players: BTreeMap<Uuid, ConductSums> = BTreeMap::new();
    let mut transfers = SignedRoots::default();
    let mut field = ConductSums::default();
    for game in games {
        for (seat, one) in game.iter().enumerate() {
            let others = (0..game.len()).filter(|other| *other != seat);
            of_players.entry(one.player).or_default().add(one, others.clone());
            field.add(one, others);
            for (other_seat, other) in game.iter().enumerate() {
                if one.player >= other.player {
                    continue;
                }
                let net = net_transfer(game, one.points, other.points);
                transfers.add(net);
                let pair = sums.entry((one.player, other.player)).or_default();
                pair.games += 1;
                pair.net = pair.net.saturating_add(net);
                pair.transfers.add(net);
                pair.conduct[0].add(one, [other_seat]);
                pair.conduct[1].add(other, [seat]);
            }
        }
    }
    let ranked = sums.into_iter().filter(|(_, sums)| sums.games >= TOURNAMENT_GAMES_MIN);
    let mut pairs: Vec<TournamentPair> = ranked
        .map(|((first, second), sums)| {
            let conduct = [(first, sums.conduct[0]), (second, sums.conduct[1])];
            let conduct = conduct.map(|(player, beside)| {
                let of_player = of_players.get(&player).copied().unwrap_or_default();
                beside.deviations(of_player, field)
            });
            let (payer, winner) = if sums.net < 0 { (second, first) } else { (first, second) };
            TournamentPair {
                payer,
                winner,
                games: sums.games,
                net_transfer: sums.net.saturating_abs(),
                deviations: sums.transfers.deviations_among(transfers).saturating_abs(),
                conduct: conduct[0].max(conduct[1]),
                shared: shared.get(&(first, second)).copied(),
            }
        })
        .collect();
    pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.score()), pair.payer, pair.winner));
    pairs
}

/// Returns the points that one player of a game paid another one, less those that it received: a
/// loser's points go to the winners in proportion to theirs.
fn net_transfer(game: &[GamePlayer], first: i64, second: i64) -> i64 {
    let won: i128 = game.iter().map(|player| i128::from(player.points.max(0))).sum();
    if won == 0 {
        return 0;
    }
    let paid = |from: i64, to: i64| {
        if from < 0 && to > 0 { -i128::from(from) * i128::from(to) / won } else { 0 }
    };
    i64::try_from(paid(first, second) - paid(second, first)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::conduct::SeatConduct;
    use super::{Conduct, GamePlayer, SharedSignal, Uuid, rank_pairs};

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

    fn scored(number: u64, points: i64) -> GamePlayer {
        GamePlayer { player: player(number), points, conduct: SeatConduct::default() }
    }

    /// Plays an arena of 300 players, each in about 40 games. The first two dump to each other in the
    /// games in which they meet: the second loses as much as is lost at most.
    fn play_arena(seed: u64, meetings: u64) -> Vec<Vec<GamePlayer>> {
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
                games.push(table.iter().zip(points).map(|(one, it)| scored(*one, it)).collect());
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
    fn who_plays_unlike_the_ai_beside_one_other_only_is_ranked_first() {
        let mut games = play_arena(3, 6);
        for game in &mut games {
            let meets = [0, 1].iter().all(|one| game.iter().any(|it| it.player == player(*one)));
            for it in game {
                let departures = match it.player {
                    one if one == player(0) && meets => 8,
                    // The AI's advice is no matter to this one.
                    one if one == player(2) => 8,
                    _ => 1,
                };
                it.conduct.conduct = Conduct { decisions: 10, departures };
            }
        }
        let pairs = rank_pairs(&games, &BTreeMap::new());
        assert_eq!((pairs[0].payer, pairs[0].winner), (player(1), player(0)));
        assert!(pairs[0].conduct > 5_000, "{:?}", pairs[0]);
        let careless =
            |pair: &&super::TournamentPair| [pair.payer, pair.winner].contains(&player(2));
        let most = pairs.iter().filter(careless).map(|pair| pair.conduct).max();
        assert!(most.is_some_and(|most| most < 1_000), "{most:?}");
    }

    #[test]
    fn losses_go_to_the_winners_in_proportion() {
        let game = vec![scored(0, -900), scored(1, 600), scored(2, 300)];
        let pairs = rank_pairs(&[game.clone(), game], &BTreeMap::new());
        let paid: Vec<_> =
            pairs.iter().map(|pair| (pair.payer, pair.winner, pair.net_transfer)).collect();
        assert!(paid.contains(&(player(0), player(1), 1_200)), "{paid:?}");
        assert!(paid.contains(&(player(0), player(2), 600)), "{paid:?}");
        assert!(pairs.iter().all(|pair| pair.games == 2));
    }
}
