//! Tongo (options) keeps the contract of a game in random games, with every rule set, every number
//! of seats, and random switches of its rules.
//!
//! `BAHAY_SEED` adds further seeds; a pipeline sets it to the commit that it builds.

use super::is_calm;
use crate::support::{check_contract, count_endings, seeds};
use bahay_engine::game::{Game, GameKind, GameRules};
use bahay_engine::games::tongo_options::{
    Action, CostRises, GameEnding, NewCosts, Phase, PublicState, Rules, Step, TongoOptions,
};
use bahay_engine::seat::Seat;
use bahay_engine::testing::{TestRng, TongoOptionsProbe, legal_actions, step};

const GAMES: u64 = 60;

/// Draws a rule set with random switches.
pub fn any_rules(dice: &mut TestRng) -> Rules {
    let mut coin = || dice.below(2) == 1;
    let mut rules = Rules {
        free_exchange: coin(),
        dice_2d6: coin(),
        index_margin: coin(),
        answer_pays_risk: coin(),
        seats_max: 8,
        ..Rules::lively()
    };
    let mut one_of = |numbers: &[u8]| *dice.choose(numbers).expect("there are numbers");
    rules.chips = one_of(&[1, 6, 20, 100, 100]);
    rules.buy_in = one_of(&[0, 1, 5, 20]).min(rules.chips);
    rules.start_cost = one_of(&[1, 1, 2, 5, 30]);
    rules.raise_max = one_of(&[1, 2, 5, 40]);
    rules.rounds_max = one_of(&[1, 2, 5, 20]);
    rules.challenge_round = one_of(&[1, 1, 2, 5]).min(rules.rounds_max);
    rules
}

#[test]
fn every_rule_set_keeps_the_contract_with_every_number_of_seats() {
    for set in TongoOptions::rule_sets() {
        for seats in 2..=8 {
            let rules = Rules { seats_min: seats, seats_max: seats, ..(set.rules)() };
            let endings = count_endings::<TongoOptions>(&TongoOptionsProbe, &rules, GAMES / 6);
            println!("{}, {seats} seats: {endings:?}", set.name);
        }
    }
}

#[test]
fn games_end_in_every_way() {
    // Long games, so that reserves and the last round are not rare.
    let rules = Rules { rounds_max: 4, challenge_round: 4, seats_max: 8, ..Rules::lively() };
    let endings = count_endings::<TongoOptions>(&TongoOptionsProbe, &rules, GAMES);
    println!("last in, confront, acquire, reserves, rounds: {endings:?}");
    for ending in
        [GameEnding::LastIn, GameEnding::Confront, GameEnding::Acquire, GameEnding::Reserves]
    {
        assert!(endings[ending as usize] > 0, "{ending:?}: {endings:?}");
    }
    // A player who always pays and ends the turn reaches the last round.
    let rules = Rules { rounds_max: 2, challenge_round: 2, ..Rules::seed() };
    let endings = count_endings::<TongoOptions>(&TongoOptionsProbe, &rules, GAMES);
    assert!(endings[GameEnding::Rounds as usize] > 0, "{endings:?}");
}

/// Any switches that the validation of rules accepts.
#[test]
fn every_rule_set_that_can_be_dealt_keeps_the_contract() {
    for seed in seeds(GAMES * 2) {
        let rules = any_rules(&mut TestRng::new(seed));
        assert_eq!(rules.check(), Ok(()), "{rules:?}");
        check_contract::<TongoOptions>(&TongoOptionsProbe, &rules, seed);
    }
}

/// Actions with free numbers are only partly listed as legal; here all of them are tried against an
/// independent statement of the rules.
#[test]
fn every_change_of_costs_is_taken_exactly_when_the_rules_say_so() {
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..60 {
        let mut dice = TestRng::new(seed);
        let rules = Rules { index_margin: true, ..any_rules(&mut dice) };
        let mut game = TongoOptions::new(&rules, 3, None);
        let mut play = |game: &TongoOptions, seat: Seat, dice: &mut TestRng| {
            for _ in 0..8 {
                let (action, may) = random_change(game.public(), seat, dice);
                let heard = game.act(seat, &action, &mut Vec::new()).map(|_| ());
                assert_eq!(heard.is_ok(), may, "seed {seed}: {action:?} {heard:?}");
                if may { taken += 1 } else { refused += 1 }
            }
            let legal = legal_actions(game, seat);
            let mild: Vec<Action> = legal.iter().copied().filter(is_calm).collect();
            *dice.choose(&mild).or(legal.first()).expect("something is legal")
        };
        let mut events = Vec::new();
        while let Some(next) =
            step(&game, &mut dice, &mut events, |seat, dice| play(&game, seat, dice))
        {
            game = next;
        }
    }
    assert!(taken > 500 && refused > 500, "{taken} taken, {refused} refused");
}

/// Draws a change of costs. Returns whether rules 3.3, 3.4, 5.1 and 1.6 allow it.
fn random_change(public: &PublicState, seat: Seat, dice: &mut TestRng) -> (Action, bool) {
    let old = [public.costs.buy, public.costs.sell, public.costs.exchange];
    let mut new = old;
    let how = dice.below(3);
    let mut near = |old: u16| -> u16 {
        let moved = i64::from(old) + i64::from(dice.below(13)) - 6;
        u16::try_from(moved.max(0)).expect("a small number")
    };
    let percent = i8::try_from(i64::from(near(100)) * 33 % 210 - 105).expect("a small number");
    if how < 2 {
        for (place, cost) in new.iter_mut().enumerate() {
            if near(100) > 100 || place == 0 {
                *cost = near(*cost);
            }
        }
    } else {
        new = old.map(|old| {
            let parts = u32::try_from((i32::from(percent) + 100).max(0)).expect("not below 0");
            u16::try_from((u32::from(old) * parts).div_ceil(100).max(1)).expect("a small number")
        });
    }
    let costs = NewCosts { buy: Some(new[0]), sell: Some(new[1]), exchange: Some(new[2]) };
    let action = match how {
        0 => Action::Lower(costs),
        1 => Action::Raise(costs),
        _ => Action::IndexMargin { percent },
    };
    let Phase::Turn(turn) = public.phase else { return (action, false) };
    let pairs = || old.iter().zip(&new);
    let is_right = match how {
        0 => pairs().all(|(old, new)| new <= old) && turn.step <= Step::Begun,
        1 => pairs().all(|(old, new)| new >= old) && turn.step <= Step::Traded,
        _ => {
            (-99..=100).contains(&percent)
                && percent != 0
                && turn.step <= Step::Traded
                && !turn.indexed
        }
    };
    let must_answer = public.reserves.is_some() && turn.wager.is_none();
    let paid: u32 = pairs().map(|(old, new)| u32::from(old.abs_diff(*new))).sum();
    let has = turn.wager.unwrap_or(public.players[seat.index()].chips);
    let raise_max = u16::from(public.rules.raise_max);
    let CostRises { buy, sell, exchange } = turn.risen;
    let rises = |(old, new): (&u16, &u16)| new.saturating_sub(*old);
    let mut in_all = pairs().map(rises).zip([buy, sell, exchange]);
    let is_bounded = in_all.all(|(more, risen)| more + risen <= raise_max);
    let may = turn.seat == seat
        && is_right
        && !must_answer
        && (turn.step > Step::Open || public.risk() == 0)
        && new != old
        && new.iter().all(|new| *new >= 1)
        && is_bounded
        && paid <= u32::from(has);
    (action, may)
}
