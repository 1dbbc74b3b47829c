//! Tong-its passes the contract of a game along random games, under every switch of its rules;
//! and the kit that says so fails when it must.
//!
//! `BAHAY_SEED` adds seeds of its own, as a pipeline does with the commit it builds.

mod broken;

use std::env;

use bahay_engine::games::tongits::{
    Additions, AllBurned, ChallengersTied, DealDirection, Rules, Tongits,
};
use bahay_engine::testing::{Failure, TongitsProbe, check_game};

use broken::{Broken, Fault};

const GAMES: u64 = 300;

/// The seeds of this run: always the same, and as many that follow from `BAHAY_SEED` if it is set.
fn seeds(games: u64) -> impl Iterator<Item = u64> {
    let given = env::var("BAHAY_SEED").ok().map(|text| {
        // FNV-1a, so that a commit's hash, a number or a word all serve.
        text.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
    });
    (0..games).chain(
        given.into_iter().flat_map(move |seed| (0..games).map(move |game| seed.wrapping_add(game))),
    )
}

fn classic_switches() -> Rules {
    Rules {
        deal: DealDirection::Counterclockwise,
        auto_draw: false,
        dump_addable: true,
        fight_blocked_by: Additions::Opponents,
        secret_may_challenge: false,
        challengers_tied: ChallengersTied::LastAnswer,
        all_burned: AllBurned::Nobody,
        ..Rules::kingdom()
    }
}

fn check_all(rules: &Rules, games: u64) -> [usize; 3] {
    let mut endings = [0; 3];
    for seed in seeds(games) {
        let played = check_game::<Tongits>(&TongitsProbe, rules, seed);
        let played = played.unwrap_or_else(|failure| panic!("{failure}"));
        let end = played.game.public().end.expect("the game is over");
        endings[end.ending as usize] += 1;
    }
    endings
}

#[test]
fn kingdom_keeps_the_contract() {
    let endings = check_all(&Rules::kingdom(), GAMES);
    assert!(endings.iter().all(|games| *games > 0), "tongits, fight, stock: {endings:?}");
}

#[test]
fn the_classic_switches_keep_the_contract() {
    check_all(&classic_switches(), GAMES / 2);
}

#[test]
fn other_hand_sizes_keep_the_contract() {
    for hand_cards in [1, 2, 5, 9, 14, 16] {
        check_all(&Rules { hand_cards, ..Rules::kingdom() }, 20);
    }
}

/// The canary: for each way to break the contract, some seed shows it.
#[test]
fn the_kit_finds_every_fault() {
    for fault in Fault::ALL {
        let found = (0..200).find_map(|seed| broken_game(fault, seed).err());
        let failure = found.unwrap_or_else(|| panic!("no seed shows {fault:?}"));
        assert!(failure.to_string().contains("seed"), "{failure}");
    }
    // And with no fault nothing is found: it is not the wrapper that fails.
    for seed in 0..20 {
        broken_game(Fault::None, seed).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

fn broken_game(fault: Fault, seed: u64) -> Result<(), Failure> {
    check_game::<Broken>(&TongitsProbe, &(fault, Rules::kingdom()), seed).map(|_| ())
}
