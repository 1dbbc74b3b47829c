//! The score of the desk (`bahay::reports::pairs::signs`) on planted pairs, at each game of the
//! catalogue: the same function and the same threshold as at the desk, on the net transfer alone.
//!
//! A pair plays all of its games together, each with another third player, and from another device
//! and address than its partner: friends who always meet are the honest pairs that come closest to
//! the threshold. The first player of a planted pair dumps its coins: of some legal actions it takes
//! the one after which it owes the second most, if all play on by the house's AI. It knows the hidden
//! cards, as over a telephone, but not the coming ones.
//!
//! Limits: soft play and signals hardly change the net transfer, so this score does not find them.

use bahay::reports::pairs::signs::{ALERT_SCORE_DEFAULT, PairEvidence, SharedSignal};
use bahay_bots::Ai;
use bahay_engine::catalog::{self, AnyAction, AnyGame, AnyRules};
use bahay_engine::chance::ChanceRng;
use bahay_engine::game::{Game as _, GameRules as _, Turn, Viewer};
use bahay_engine::seat::Seat;

use super::play::Character;
use super::{Collusion, play_in_threads};

/// The number of seats of a game, if its rules permit it.
const SEATS: u8 = 3;

/// The number of actions that a dumping player compares.
const COMPARED: usize = 4;

/// The number of turns after which a game is not played on. No honest game takes as many.
const TURNS_MAX: usize = 2_000;

/// The shares of pairs that reach the desk's alert score at one game, in thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskDetection {
    pub game: &'static str,
    /// Honest pairs who always play together.
    pub false_positives: u32,
    /// The same pairs, if they share an address: accounts of one person that play only with each
    /// other.
    pub one_address: u32,
    /// Pairs of which one dumps its coins.
    pub dumping: u32,
}

/// Measures the desk's score at the first rule set of every game.
pub(super) fn measure_games(options: Collusion) -> Vec<DeskDetection> {
    let kinds = catalog::kinds().into_iter().filter(|kind| !kind.is_hidden);
    let games = kinds.filter_map(|kind| {
        let rules = kind.rule_sets.first()?.rules.clone();
        Some(measure(options, kind.name, &rules))
    });
    games.collect()
}

fn measure(options: Collusion, game: &'static str, rules: &AnyRules) -> DeskDetection {
    let honest = play_in_threads(options, HONEST_SERIES, options.pairs, |dice| {
        play_pair(dice, rules, options.games, false)
    });
    let dumping = play_in_threads(options, DUMPING_SERIES, (options.pairs / 10).max(1), |dice| {
        play_pair(dice, rules, options.games, true)
    });
    let share = |pairs: &[PairEvidence], shared| {
        let reaches =
            |pair: &&PairEvidence| PairEvidence { shared, ..**pair }.score() >= ALERT_SCORE_DEFAULT;
        let found = pairs.iter().filter(reaches).count();
        u32::try_from(found * 1_000 / pairs.len().max(1)).unwrap_or(u32::MAX)
    };
    DeskDetection {
        game,
        false_positives: share(&honest, None),
        one_address: share(&honest, Some(SharedSignal::Address)),
        dumping: share(&dumping, None),
    }
}

/// The series of pairs, apart from those of the other phases.
const HONEST_SERIES: u64 = 1_000;
const DUMPING_SERIES: u64 = 1_001;

/// Plays the games of a pair, and returns the figures that the desk stores of it.
fn play_pair(dice: &mut ChanceRng, rules: &AnyRules, games: u32, dumps: bool) -> PairEvidence {
    let pair = [Character::random(dice), Character::random(dice)];
    let mut net_transfer = 0_i64;
    let mut squares = 0_i64;
    for _ in 0..games {
        let net = play_game(dice, rules, pair, dumps);
        net_transfer += net;
        squares += net * net;
    }
    let games = i64::from(games);
    let deviation = i64::try_from(squares.unsigned_abs().isqrt()).unwrap_or(i64::MAX);
    PairEvidence { games, of: games, net_transfer, deviation, shared: None }
}

/// Plays a game with the pair at random seats, and returns the counts that the first owes the second
/// less those that the second owes the first, in thousandths: a root of whole counts would be
/// rounded.
fn play_game(dice: &mut ChanceRng, rules: &AnyRules, pair: [Character; 2], dumps: bool) -> i64 {
    let count = if rules.seats().contains(SEATS) { SEATS } else { rules.seats().least };
    let first = dice.below(count.into());
    let second = (first + 1 + dice.below(usize::from(count) - 1)) % usize::from(count);
    let seats = [first, second]
        .map(|place| Seat::all(count).nth(place).expect("the place is below the number of seats"));
    let third = Character::random(dice);
    let state = play_on(dice, AnyGame::new(rules, count, None), |dice, state, seat| {
        let place = seats.iter().position(|one| *one == seat);
        let character = place.map_or(third, |place| pair[place]);
        match dumps && place == Some(0) {
            true => choose_dumping_action(dice, state, seats),
            false => choose_action(dice, state, seat, character),
        }
    });
    1_000 * net_transfer(&state, seats)
}

/// Returns the action of an honest player: that of the AI, sometimes a random one, and sometimes the
/// default instead of a commitment.
pub(super) fn choose_action(
    dice: &mut ChanceRng,
    state: &AnyGame,
    seat: Seat,
    character: Character,
) -> Option<AnyAction> {
    let view = state.view(Viewer::Seat(seat));
    let mut is_drawn = |share: usize| share > 0 && dice.below(1_000) < share;
    let is_careless = is_drawn(character.careless);
    let is_timid = is_drawn(character.timid);
    if is_careless {
        let mut legal = Vec::new();
        state.legal_actions(seat, &mut legal);
        if !legal.is_empty() {
            return Some(legal.swap_remove(dice.below(legal.len())));
        }
    }
    let advised = AnyGame::choose_action(&view).or_else(|| state.default_action(seat))?;
    match is_timid && AnyGame::is_commitment(&view, &advised) {
        true => state.default_action(seat).or(Some(advised)),
        false => Some(advised),
    }
}

/// Returns the compared action after which the first of the pair owes the second most.
pub(super) fn choose_dumping_action(
    dice: &mut ChanceRng,
    state: &AnyGame,
    seats: [Seat; 2],
) -> Option<AnyAction> {
    let seat = seats[0];
    let mut legal = Vec::new();
    state.legal_actions(seat, &mut legal);
    while legal.len() > COMPARED {
        legal.swap_remove(dice.below(legal.len()));
    }
    let advised = AnyGame::choose_action(&state.view(Viewer::Seat(seat)));
    let compared = legal.into_iter().chain(advised).filter_map(|action| {
        let next = state.act(seat, &action, &mut Vec::new()).ok()?;
        Some((net_transfer(&play_on(dice, next, advise), seats), action))
    });
    let best = compared.max_by_key(|(net_transfer, _)| *net_transfer).map(|(_, action)| action);
    best.or_else(|| state.default_action(seat))
}

/// Returns the action of the AI.
fn advise(_: &mut ChanceRng, state: &AnyGame, seat: Seat) -> Option<AnyAction> {
    let view = state.view(Viewer::Seat(seat));
    AnyGame::choose_action(&view).or_else(|| state.default_action(seat))
}

/// Plays a game on until it is over or no action is chosen.
pub(super) fn play_on(
    dice: &mut ChanceRng,
    mut state: AnyGame,
    mut choose: impl FnMut(&mut ChanceRng, &AnyGame, Seat) -> Option<AnyAction>,
) -> AnyGame {
    let mut events = Vec::new();
    for _ in 0..TURNS_MAX {
        events.clear();
        state = match state.turn() {
            Turn::Over => break,
            Turn::Chance(request) => state.resolve(&dice.draw(request), &mut events),
            Turn::Wait(_) => state.expire(&mut events),
            Turn::Players(prompt) => {
                let Some(seat) = prompt.seats.iter().next() else { break };
                let action = choose(dice, &state, seat);
                let Some(Ok(next)) = action.map(|it| state.act(seat, &it, &mut events)) else {
                    break;
                };
                next
            }
        };
    }
    state
}

/// Returns the counts that the first seat owes the second less those that the second owes the first.
fn net_transfer(state: &AnyGame, [first, second]: [Seat; 2]) -> i64 {
    let debts = state.outcome().map(|outcome| outcome.debts).unwrap_or_default();
    let transfers = debts.iter().map(|debt| match (debt.from, debt.to) {
        (from, to) if (from, to) == (first, second) => i64::from(debt.counts()),
        (from, to) if (from, to) == (second, first) => -i64::from(debt.counts()),
        _ => 0,
    });
    transfers.sum()
}
