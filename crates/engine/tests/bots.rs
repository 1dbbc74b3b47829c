//! How the house's AI fares: far above random play, and at a table of its own a mix of endings
//! that looks like Tong-its.

use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Ending, Rules, Tongits};
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Dice, Policy, play};

/// Plays games by seeds and adds up what each seat won or lost in counts, and the endings.
fn tally(policies: [Policy; 3], games: u64) -> ([i64; 3], [u32; 3]) {
    let (mut counts, mut endings) = ([0; 3], [0; 3]);
    for seed in 0..games {
        let starter = Seat::all(3).nth((seed % 3) as usize);
        let (game, _) =
            play::<Tongits>(&Rules::kingdom(), starter, &policies, &mut Dice::new(seed));
        let outcome = game.outcome().expect("the game is over");
        for debt in outcome.debts {
            counts[debt.from.index()] -= i64::from(debt.counts());
            counts[debt.to.index()] += i64::from(debt.counts());
        }
        endings[match game.public().end.expect("the game is over").ending {
            Ending::Tongits => 0,
            Ending::Fight => 1,
            Ending::Stock => 2,
        }] += 1;
    }
    (counts, endings)
}

#[test]
fn the_ai_beats_random_play_by_far() {
    let games = 300;
    let (counts, _) = tally([Policy::Advised, Policy::Random, Policy::Random], games);
    println!("against random play: {counts:?} counts in {games} games");
    assert!(counts[0] > 2 * i64::try_from(games).unwrap_or(i64::MAX), "{counts:?}");
}

#[test]
fn three_ais_end_games_in_every_way() {
    let games = 600;
    let (counts, endings) = tally([Policy::Advised; 3], games);
    println!("tongits, fight, stock: {endings:?} of {games}; counts {counts:?}");
    assert!(endings.iter().all(|ending| *ending > 20), "tongits, fight, stock: {endings:?}");
}
