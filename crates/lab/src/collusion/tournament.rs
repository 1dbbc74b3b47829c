//! The ranks of planted pairs among the pairs of a tournament, by the function with which the desk
//! ranks them (`bahay::reports::pairs::tournament_signs`), at each game of the catalogue with tables
//! of three.
//!
//! The tables are those that the engine draws (`tournament_games`), so a pair meets as often as
//! chance and the rules of pairing permit. The first of a pair dumps to the second wherever they meet,
//! as in `desk`, and both play honestly otherwise. All players come from devices and addresses of
//! their own.
//!
//! The desk ranks pairs from two games together on. A planted pair that never met as often has
//! transferred next to nothing and is counted apart.

use std::collections::BTreeMap;

use bahay::reports::pairs::tournament_signs::rank_pairs;
use bahay_engine::catalog::{self, AnyRules};
use bahay_engine::game::GameRules as _;
use bahay_engine::tournament::{Format, Stage};

use super::tournament_games::{Field, SEATS, play_tournament};
use super::{Collusion, play_in_threads};

/// The number of players of each tournament, and of the pairs among them of which one dumps.
const PLAYERS: usize = 60;
const PAIRS: usize = 3;

/// The series of the first tournaments, apart from those of pairs; each format has one of its own.
const TOURNAMENT_SERIES: u64 = 1_002;

/// The ranks of the planted pairs in the tournaments of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentDetection {
    pub game: &'static str,
    pub format: &'static str,
    pub tournaments: usize,
    /// The number of pairs that the desk ranks in a tournament, on average.
    pub pairs: usize,
    /// The ranks of the planted pairs that the desk ranks, from 1, in order.
    pub ranks: Vec<usize>,
    /// The number of games together of a ranked planted pair, on average, in tenths.
    pub games: u32,
    /// The number of planted pairs that met too seldom to be ranked.
    pub unranked: usize,
    /// The share of the ranked planted pairs that are among the first hundredth of the pairs of
    /// their tournament, in thousandths.
    pub first_hundredth: u32,
}

/// Returns the measured formats: an arena of an hour, and a knock-out whose first stage is short for
/// its players.
fn formats() -> [(&'static str, Format); 2] {
    let stage = |groups, rounds, advance| Stage { groups, rounds, games: 3, advance };
    [
        ("arena", Format::Arena { duration_ms: 60 * 60 * 1_000, pairing_ms: 3_000 }),
        ("knock-out", Format::KnockOut { stages: vec![stage(3, 12, 18), stage(1, 6, 0)] }),
    ]
}

/// Measures the ranks at the first rule set of every game that has tables of three.
pub(super) fn measure_tournaments(options: Collusion) -> Vec<TournamentDetection> {
    let kinds = catalog::kinds().into_iter().filter(|kind| !kind.is_hidden);
    let games = kinds.filter_map(|kind| {
        let rules = kind.rule_sets.first()?.rules.clone();
        rules.seats().contains(SEATS).then_some((kind.name, rules))
    });
    let measured = games.flat_map(|(game, rules)| {
        (TOURNAMENT_SERIES..).zip(formats()).map(move |(series, (name, format))| {
            measure(options, series, (game, &rules), (name, &format))
        })
    });
    measured.collect()
}

/// The ranks of a tournament.
struct PlantedRanks {
    /// The number of ranked pairs.
    pairs: usize,
    /// The ranks of the planted pairs, from 1, with their games together; `None` for pairs that are
    /// not ranked.
    planted: Vec<Option<(usize, u32)>>,
}

fn measure(
    options: Collusion,
    series: u64,
    (game, rules): (&'static str, &AnyRules),
    (format_name, format): (&'static str, &Format),
) -> TournamentDetection {
    let field = Field { players: PLAYERS, pairs: PAIRS, careless: options.careless };
    let tournaments = (options.pairs / 50).max(1);
    let played = play_in_threads(options, series, tournaments, |dice| {
        let games = play_tournament(dice, rules, format.clone(), field);
        let ranked = rank_pairs(&games, &BTreeMap::new());
        let planted = field.pairs().map(|[payer, winner]| {
            let pairs = ranked.iter().map(|pair| ([pair.payer, pair.winner], pair.games));
            let mut pairs = (1..).zip(pairs);
            let found =
                pairs.find(|(_, (pair, _))| [[payer, winner], [winner, payer]].contains(pair));
            found.map(|(rank, (_, games))| (rank, games))
        });
        PlantedRanks { pairs: ranked.len(), planted: planted.collect() }
    });
    let pairs = played.iter().map(|ranks| ranks.pairs).sum::<usize>() / played.len().max(1);
    let planted = played.iter().map(|ranks| ranks.planted.len()).sum::<usize>();
    let ranked = played.iter().flat_map(|ranks| {
        ranks.planted.iter().flatten().map(|(rank, games)| (*rank, *games, ranks.pairs))
    });
    let ranked: Vec<(usize, u32, usize)> = ranked.collect();
    let found = ranked.iter().filter(|(rank, _, pairs)| *rank <= pairs.div_ceil(100)).count();
    let games: u32 = ranked.iter().map(|(_, games, _)| games).sum();
    let mut ranks: Vec<usize> = ranked.iter().map(|(rank, _, _)| *rank).collect();
    ranks.sort_unstable();
    let count = u32::try_from(ranks.len()).unwrap_or(u32::MAX).max(1);
    TournamentDetection {
        game,
        format: format_name,
        tournaments: played.len(),
        pairs,
        first_hundredth: u32::try_from(found * 1_000 / ranks.len().max(1)).unwrap_or(u32::MAX),
        unranked: planted - ranks.len(),
        ranks,
        games: 10 * games / count,
    }
}
