//! A bot that searches by sampling: at each decision it samples games consistent with its seat's
//! view, applies every promising action in each of them, and evaluates the continuation by the
//! game's own look-ahead ([`Ai::look_ahead`]) or else by a rollout with greedy players. Actions
//! are compared within the same sampled game and with the same randomness.
//!
//! If the game has an evaluation of actions ([`Ai::evaluate_actions`]), it is added to the
//! results and the best sum is played. Otherwise the quick player's choice is replaced only by an
//! action that did better by more than the noise. Half of the other actions are eliminated in each
//! round. The budget is a number of games and not a time, so that the bot plays alike on every
//! machine.

use alloc::vec::Vec;

use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::{Skill, Viewer};
use bahay_engine::seat::{Seat, SeatSet};

use crate::ai::{Ai, SampledGame, net_counts};
use crate::search::bot::{Bot, BotPrompt, LazyDice};
use crate::search::playout::play_to_end;

/// The default number of evaluated games per decision.
pub(super) const GAMES: u32 = 500;

/// The minimum number of sampled games per round.
const WORLDS_MIN: u32 = 4;

/// The divisor of the budget that gives the weight of the game's evaluation, in sampled games.
const JUDGED_DIVISOR: u32 = 4;

/// The significance threshold without an evaluation: an action replaces the quick player's choice
/// only if the difference exceeds this many tenths of its standard error.
const TENTHS_OF_ERRORS: i128 = 10;

/// The value of a win beyond its counts, in counts: bots are compared by their shares of games.
const WIN_COUNTS: i64 = 400;

/// The bot described in the module's documentation.
pub(super) struct SearchBot<E> {
    pub(super) dice: LazyDice,
    pub(super) games: u32,
    /// The events visible to the seat.
    pub(super) events: Vec<E>,
}

/// An action with its result in each sampled game.
pub(super) struct Arm<A> {
    pub(super) action: A,
    /// The game's evaluation times its weight in sampled games.
    judged: i64,
    pub(super) worth: Vec<i64>,
}

impl<A> Arm<A> {
    /// Creates an arm without results, with the game's evaluation and its weight.
    pub(super) fn new(action: A, judged: i64, counts_as: i64) -> Self {
        Self { action, judged: judged.saturating_mul(counts_as), worth: Vec::new() }
    }

    pub(super) fn sum(&self) -> i64 {
        self.worth.iter().sum::<i64>().saturating_add(self.judged)
    }

    /// Applies the action in a sampled game, and records the result for the seat.
    pub(super) fn try_in<G: Ai<Action = A>>(
        &mut self,
        world: &SampledGame<G>,
        seat: Seat,
        chance: Key,
    ) {
        let looked_ahead = world.game.look_ahead(world.quick, seat, &self.action);
        let worth =
            looked_ahead.unwrap_or_else(|| rollout_value(&world.game, seat, &self.action, chance));
        self.worth.push(worth);
    }
}

impl<G: Ai> Bot<G> for SearchBot<G::Event> {
    fn observe_event(&mut self, event: &G::Event) {
        self.events.push(event.clone());
    }

    fn choose_action(&mut self, prompt: &BotPrompt<'_, G>) -> G::Action {
        let judged = G::evaluate_actions(prompt.view, &[]);
        let is_judged = !judged.is_empty();
        let mut tried = if is_judged { judged } else { unevaluated_actions::<G>(prompt.view) };
        if tried.len() == 1 {
            return tried.swap_remove(0).0;
        }
        let rounds = worlds_per_round(self.games, tried.len());
        let all = rounds.iter().sum();
        let worlds =
            G::sample_likely_games(prompt.view, &self.events, all, self.dice.get_or_init());
        if worlds.len() < all as usize {
            return tried.swap_remove(0).0;
        }
        if is_judged {
            let quick: Vec<SeatSet> = worlds.iter().map(|world| world.quick).collect();
            tried = G::evaluate_actions(prompt.view, &quick);
        }
        let counts_as = i64::from(self.games / JUDGED_DIVISOR);
        let arm = |(action, judged)| Arm::new(action, judged, counts_as);
        let mut arms: Vec<Arm<G::Action>> = tried.into_iter().map(arm).collect();
        let advised = arms[0].action.clone();
        let mut worlds = worlds.iter();
        for count in rounds {
            for world in worlds.by_ref().take(count as usize) {
                let chance = self.dice.draw_key();
                arms.iter_mut().for_each(|arm| arm.try_in(world, prompt.seat, chance));
            }
            let (_, others) = arms.split_at_mut(1);
            others.sort_by_key(|arm| core::cmp::Reverse(arm.sum()));
            arms.truncate(survivor_count(arms.len()));
        }
        if is_judged {
            // The action with the best evaluation has been in all rounds, as has the last of the
            // others.
            let best = arms.iter().max_by_key(|arm| arm.sum());
            return best.map_or(advised, |arm| arm.action.clone());
        }
        let is_better = |arm: &&Arm<_>| is_better_by(&arm.worth, &arms[0].worth, TENTHS_OF_ERRORS);
        let better = arms.iter().skip(1).find(is_better);
        better.map_or(advised, |arm| arm.action.clone())
    }
}

/// Returns the number of sampled games per round for a number of candidates in the first round,
/// such that each round evaluates about the same share of `games`.
fn worlds_per_round(games: u32, actions: usize) -> Vec<u32> {
    // The number of candidates in each round, until one of two is chosen.
    let more = |left: &usize| (*left > 2).then(|| survivor_count(*left));
    let tried: Vec<usize> = core::iter::successors(Some(actions), more).collect();
    let worlds = |actions: usize| {
        let each = games as usize / tried.len() / actions;
        u32::try_from(each).expect("a share is at most the whole budget").max(WORLDS_MIN)
    };
    tried.iter().map(|actions| worlds(*actions)).collect()
}

/// Returns the candidates of a game without an evaluation: the quick player's choice first, all
/// with value 0.
pub(super) fn unevaluated_actions<G: Ai>(view: &G::View) -> Vec<(G::Action, i64)> {
    let advised = G::choose_action_with_skill(Skill::Quick, view);
    let advised = advised.expect("the AI can act for the seat to act");
    let mut others = Vec::new();
    G::candidate_actions(view, &mut others);
    others.retain(|action| *action != advised);
    core::iter::once(advised).chain(others).map(|action| (action, 0)).collect()
}

/// Returns the number of actions kept after a round: the first choice, and the better half of the
/// others.
const fn survivor_count(actions: usize) -> usize {
    1 + (actions - 1).div_ceil(2)
}

/// Plays an action and then the game to its end with greedy players, and returns the result for the
/// seat: the counts won or lost, plus [`WIN_COUNTS`] for a win.
fn rollout_value<G: Ai>(world: &G, own: Seat, action: &G::Action, chance: Key) -> i64 {
    let Ok(game) = world.act(own, action, &mut Vec::new()) else {
        // The action is legal by the seat's view but not in this sampled game.
        return 0;
    };
    let mut greedy = |game: &G, seat| choose_with_skill(Skill::Greedy, game, seat);
    let game = play_to_end(game, &mut ChanceRng::new(chance), &mut greedy);
    let outcome = game.outcome().expect("a game that is over has an outcome");
    let won = if outcome.winner == Some(own) { WIN_COUNTS } else { 0 };
    won + net_counts(&outcome, own)
}

/// Returns the action of a player of this skill at the seat to act.
pub(super) fn choose_with_skill<G: Ai>(skill: Skill, game: &G, seat: Seat) -> G::Action {
    let advised = G::choose_action_with_skill(skill, &game.view(Viewer::Seat(seat)));
    advised.expect("the AI can act for the seat to act")
}

/// Returns whether `one` is better than `other` by more than the given number of tenths of the
/// difference's standard error.
pub(super) fn is_better_by(one: &[i64], other: &[i64], tenths_of_errors: i128) -> bool {
    let mut count = 0;
    let mut sum = 0;
    let mut squares = 0;
    for (one, other) in one.iter().zip(other) {
        let more = i128::from(one - other);
        count += 1;
        sum += more;
        squares += more * more;
    }
    // The variance of the sum is (n Σx² − (Σx)²) / (n − 1).
    let spread = count * squares - sum * sum;
    sum > 0 && 100 * sum * sum * (count - 1) > tenths_of_errors * tenths_of_errors * spread
}

#[cfg(test)]
mod tests {
    use super::{TENTHS_OF_ERRORS, WORLDS_MIN, is_better_by, survivor_count, worlds_per_round};
    use alloc::vec;

    #[test]
    fn a_difference_within_the_noise_is_not_better() {
        let is_surely_better = |one, other| is_better_by(one, other, TENTHS_OF_ERRORS);
        assert!(is_surely_better(&[3, 4, 3, 4], &[1, 1, 1, 1]));
        assert!(!is_surely_better(&[1, 1, 1, 1], &[1, 1, 1, 1]));
        assert!(!is_surely_better(&[9, 0, 0, 0], &[1, 1, 1, 1]));
        assert!(!is_surely_better(&[0, 0], &[1, 1]));
    }

    #[test]
    fn the_budget_does_not_depend_on_the_number_of_candidates() {
        assert_eq!(worlds_per_round(500, 2), vec![250]);
        assert_eq!(worlds_per_round(500, 6), vec![20, 31, 41, 62]);
        for actions in 2..=40 {
            let rounds = worlds_per_round(2_000, actions);
            let mut left = actions;
            let mut games = 0;
            for worlds in &rounds {
                games += left * *worlds as usize;
                left = survivor_count(left);
            }
            assert_eq!(left, 2, "after the last round one of two is played");
            let rounding = rounds.len() * actions;
            assert!((2_000 - rounding..=2_000).contains(&games), "{actions}: {games}");
        }
        assert_eq!(worlds_per_round(1, 3), vec![WORLDS_MIN; 2]);
    }
}
