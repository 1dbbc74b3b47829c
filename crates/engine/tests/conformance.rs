//! Tong-its keeps the contract of a game in random games, with every rule set and with random
//! switches of its rules; and the conformance kit fails if it must.
//!
//! `BAHAY_SEED` adds further seeds; a pipeline sets it to the commit that it builds.

mod broken;
mod twins;

use crate::support::desk::seat;
use crate::support::positions::{meld, position};
use crate::support::{check_contract, seeds};
use bahay_bots::Ai;
use bahay_engine::game::{Game, GameKind, GameRules, Viewer};
use bahay_engine::games::tongits::{
    Action, Additions, AllBurned, ChallengersTied, Counts, DealDirection, Rules, SetupPhase,
    SpecialEnding, Tongits,
};
use bahay_engine::testing::guess_the_die::{GuessTheDie, GuessTheDieProbe};
use bahay_engine::testing::{ConformanceError, TestRng, TongitsProbe, check_game};

use broken::{Broken, Fault};

const GAMES: u64 = 300;

/// Draws a rule set with random switches; some of them cannot be dealt.
fn any_rules(dice: &mut TestRng) -> Rules {
    let [classic, kingdom] = [Rules::classic().counts, Rules::kingdom().counts];
    let mut coin = || dice.below(2) == 1;
    let mut rules = Rules {
        deal: if coin() { DealDirection::Clockwise } else { DealDirection::Counterclockwise },
        jokers: coin(),
        auto_draw: coin(),
        dump_addable: coin(),
        bahay: coin(),
        sagasa: coin(),
        spread: coin(),
        fight_blocked_by: if coin() { Additions::Anyone } else { Additions::Opponents },
        secret_may_challenge: coin(),
        challengers_tied: if coin() {
            ChallengersTied::LastAnswer
        } else {
            ChallengersTied::FirstAfterFighter
        },
        zero_count_fight: coin(),
        variable_payout: coin(),
        all_burned: if coin() { AllBurned::Nobody } else { AllBurned::FewestPoints },
        counts: if coin() { classic } else { kingdom },
        ..Rules::kingdom()
    };
    rules.secret_run_min = [0, 4, 5, 6, 13][dice.below(5) as usize];
    rules.hand_cards = [12, 12, 12, 1, 2, 3, 5, 9, 14, 16][dice.below(10) as usize];
    rules
}

/// Checks games. Returns how many ended by Tongits, fight and stock, and how many of them by Spread
/// and by a zero-count fight.
fn check_all(rules: &Rules, games: u64) -> ([usize; 3], [usize; 2]) {
    let (mut endings, mut special) = ([0; 3], [0; 2]);
    for seed in seeds(games) {
        let game: Tongits = check_contract(&TongitsProbe, rules, seed);
        let end = game.public().end.expect("the game is over");
        endings[end.ending as usize] += 1;
        match end.special {
            Some(SpecialEnding::Spread) => special[0] += 1,
            Some(SpecialEnding::ZeroCountFight) => special[1] += 1,
            None => {}
        }
    }
    (endings, special)
}

#[test]
fn kingdom_keeps_the_contract() {
    let (endings, special) = check_all(&Rules::kingdom(), GAMES);
    assert!(endings.iter().all(|games| *games > 0), "tongits, fight, stock: {endings:?}");
    assert_eq!(special, [0, 0], "kingdom knows neither Spread nor zero-count fight");
}

#[test]
fn classic_keeps_the_contract() {
    let (endings, special) = check_all(&Rules::classic(), GAMES);
    assert!(endings.iter().all(|games| *games > 0), "tongits, fight, stock: {endings:?}");
    assert_eq!(special[1], 0, "classic knows no zero-count fight");
}

#[test]
fn joker_keeps_the_contract() {
    let (endings, _) = check_all(&Rules::joker(), GAMES);
    assert!(endings.iter().all(|games| *games > 0), "tongits, fight, stock: {endings:?}");
}

/// Random play hardly ever keeps a hand of nothing but melds for a turn, so one is set up.
#[test]
fn a_zero_count_fight_is_followed_by_every_viewer() {
    let [fighter, other] = [0, 1].map(seat);
    let hands = ["8C 8D X1", "KD 9H", "QD 8S"];
    let melds = vec![meld(fighter, "5H 6H 7H", None), meld(other, "TC TD TH TS", Some(4))];
    let position = position(Rules::joker(), SetupPhase::Draw, hands, "", melds);
    let game = position.game().expect("such a position can stand");
    let mut events = Vec::new();
    let after = game.act(fighter, &Action::Fight, &mut events).expect("a fight is legal");
    assert_eq!(after.public().end.and_then(|end| end.special), Some(SpecialEnding::ZeroCountFight));
    for viewer in [Viewer::Everything, Viewer::Public, Viewer::Seat(fighter), Viewer::Seat(other)] {
        let mut view = game.view(viewer);
        for event in events.iter().filter_map(|event| Tongits::redact(event, viewer)) {
            Tongits::observe(&mut view, &event);
        }
        assert_eq!(view, after.view(viewer), "{viewer:?}");
    }
}

/// Small hands, so that a Spread is not rare.
#[test]
fn small_deals_of_joker_keep_the_contract() {
    let mut spreads = 0;
    for hand_cards in [1, 2, 3, 5] {
        let (_, special) = check_all(&Rules { hand_cards, ..Rules::joker() }, 60);
        spreads += special[0];
    }
    assert!(spreads > 0);
}

#[test]
fn other_hand_sizes_keep_the_contract() {
    for hand_cards in [1, 2, 5, 9, 14, 16] {
        check_all(&Rules { hand_cards, ..Rules::kingdom() }, 20);
    }
}

#[test]
fn a_game_of_another_kind_keeps_the_contract() {
    for seed in seeds(GAMES) {
        for set in GuessTheDie::rule_sets() {
            check_contract::<GuessTheDie>(&GuessTheDieProbe, &(set.rules)(), seed);
        }
    }
}

/// Any switches that the validation of rules accepts.
#[test]
fn every_rule_set_that_can_be_dealt_keeps_the_contract() {
    let (mut dealt, mut refused) = (0, Vec::new());
    for seed in seeds(400) {
        let rules = any_rules(&mut TestRng::new(seed));
        if let Err(bad) = rules.check() {
            let needs_endings = matches!(rules.counts, Counts::Items(_))
                && ["sagasa", "zero_count_fight", "variable_payout"].contains(&&*bad.field);
            assert!(needs_endings, "{bad}: {rules:?}");
            refused.push(bad);
            continue;
        }
        dealt += 1;
        check_contract::<Tongits>(&TongitsProbe, &rules, seed);
    }
    assert!(dealt > 100 && refused.len() > 100, "{dealt} dealt, {} refused", refused.len());
}

/// The canary: for each fault some seed reveals it.
#[test]
fn the_kit_finds_every_fault() {
    for fault in Fault::ALL {
        let found = (0..200).find_map(|seed| broken_game(fault, seed).err());
        let failure = found.unwrap_or_else(|| panic!("no seed shows {fault:?}"));
        assert!(failure.to_string().contains("seed"), "{failure}");
    }
    // Without a fault there is no finding, so the wrapper itself is not the cause.
    for seed in 0..20 {
        broken_game(Fault::None, seed).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

fn broken_game(fault: Fault, seed: u64) -> Result<(), ConformanceError> {
    check_game::<Broken>(&TongitsProbe, Broken::choose_action, &(fault, Rules::kingdom()), seed)
        .map(|_| ())
}
