//! Bots against each other without the service: what `bahay arena --duplicate` prints of shares and
//! coins, from the engine alone, which compiles in a minute.
//!
//! `cargo run --release -p bahay-engine --example arena -- GAME RULES BOTS GAMES [SEED]`, as in
//! `tongo_options lively quick,greedy 20000 1`. So many games or a few more are played, on one
//! thread, each deal once for every rotation of the bots.

use std::env;
use std::time::Instant;

use bahay_engine::arena::{Contest, Estimate, Grade, Tally};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameKind, Skill};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::table::{Clocks, Price, Spectators, Terms};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let argument = |place: usize| arguments.get(place).expect("see the page of this program");
    let bots = argument(2).split(',').map(|name| name.parse().expect("a grade")).collect();
    let games = argument(3).parse().expect("GAMES is a number");
    let seed = arguments.get(4).map_or(1, |seed| seed.parse().expect("SEED is a number"));
    match argument(0).as_str() {
        Tongits::NAME => contest::<Tongits>(argument(1), bots, games, seed),
        TongoOptions::NAME => contest::<TongoOptions>(argument(1), bots, games, seed),
        TongoAssets::NAME => contest::<TongoAssets>(argument(1), bots, games, seed),
        other => panic!("there is no game {other}"),
    }
}

fn contest<G: GameKind>(rules: &str, bots: Vec<Grade>, games: u64, seed: u64) {
    let set = G::rule_sets().iter().find(|set| set.name == rules).expect("a rule set's name");
    let price = Price { bet: Coins::from_hundredths(100), multiplier: 1, fee_basis_points: 500 };
    let terms = Terms {
        room: "arena".to_owned(),
        rules: (set.rules)(),
        price,
        hits: set.hits,
        clocks: Clocks::default(),
        spectators: Spectators::Nobody,
        bots: Skill::default(),
        private: None,
        practice: false,
    };
    let contest = Contest { terms, bots, seed, is_duplicate: true };
    let mut tally = Tally::new(contest.bots.len());
    let began = Instant::now();
    for series in 0..games.div_ceil(contest.games_per_series()) {
        tally.add(&contest.series::<G>(series));
    }
    let milliseconds = began.elapsed().as_millis();
    println!("{} {rules}, {} games in {milliseconds} ms", G::NAME, tally.games());
    for (place, bot) in contest.bots.iter().enumerate() {
        let (Some(share), Some(coins)) = (tally.win_share(place), tally.coins(place)) else {
            continue;
        };
        let coins = Estimate { mean: coins.mean / 100, around: coins.around / 100 };
        println!("{bot}: {} % of the games, {} coins a game", hundredths(share), hundredths(coins));
    }
}

fn hundredths(Estimate { mean, around }: Estimate) -> String {
    let sign = if mean < 0 { "-" } else { "" };
    let written = |number: i64| format!("{}.{:02}", number / 100, number % 100);
    format!("{sign}{} ± {}", written(mean.abs()), written(around))
}
