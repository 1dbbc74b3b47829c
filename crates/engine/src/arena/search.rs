//! A bot that plays on: at each decision the game is imagined in many ways that its seat could not
//! tell apart, every action that is worth trying is played in each, and the game is played on as the
//! game itself knows ([`Game::look_ahead`]), else to its end by greedy players. What came of it is
//! compared action by action within the same way, with the same chance.
//!
//! Where a judge says what actions are worth without playing on ([`Game::evaluate_actions`]), what it says and
//! what came of the games are added up, and the best is played. Where there is none, what the quick
//! player advises is left only for what did better by more than the noise of it. Half of the other
//! actions are given up in each round. It is told how many games it may play on, and no time, so that
//! it plays the same on every machine.

use alloc::vec::Vec;

use crate::arena::bot::{BotPrompt, Bot, LazyDice};
use crate::arena::playout::{Players, play_to_end};
use crate::chance::{ChanceRng, Key};
use crate::game::{Game, Skill, Viewer};
use crate::seat::{Seat, SeatSet};

/// Games to play on for a decision, where nothing else is said.
pub(super) const GAMES: u32 = 500;

/// The least number of imagined games of a round.
const WORLDS_MIN: u32 = 4;

/// What a judge says counts as what comes of so many imagined games, divided by this.
const JUDGED_DIVISOR: u32 = 4;

/// Another action must be better by so many tenths of the standard error of the difference, if there
/// is no judge.
const TENTHS_OF_ERRORS: i128 = 10;

/// Counts that a win is worth beside what it brings: shares of games are what grades are told by.
const WIN_COUNTS: i64 = 400;

/// See the module's page.
pub(super) struct SearchBot<E> {
    pub(super) dice: LazyDice,
    pub(super) games: u32,
    /// What the seat was shown.
    pub(super) events: Vec<E>,
}

/// An action with what came of it, by imagined game.
struct Arm<A> {
    action: A,
    /// What a judge says of it, times the games that this counts as.
    judged: i64,
    worth: Vec<i64>,
}

impl<A> Arm<A> {
    fn sum(&self) -> i64 {
        self.judged + self.worth.iter().sum::<i64>()
    }
}

impl<G: Game> Bot<G> for SearchBot<G::Event> {
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
        let worlds = G::sample_likely_games(prompt.view, &self.events, all, self.dice.get_or_init());
        if worlds.len() < all as usize {
            return tried.swap_remove(0).0;
        }
        if is_judged {
            let quick: Vec<SeatSet> = worlds.iter().map(|world| world.quick).collect();
            tried = G::evaluate_actions(prompt.view, &quick);
        }
        let counts_as = i64::from(self.games / JUDGED_DIVISOR);
        let arm = |(action, judged): (_, i64)| {
            let judged = judged.saturating_mul(counts_as);
            Arm { action, judged, worth: Vec::new() }
        };
        let mut arms: Vec<Arm<G::Action>> = tried.into_iter().map(arm).collect();
        let advised = arms[0].action.clone();
        let mut worlds = worlds.iter();
        for count in rounds {
            for world in worlds.by_ref().take(count as usize) {
                let chance = self.dice.draw_key();
                for arm in &mut arms {
                    let looked_ahead = world.game.look_ahead(world.quick, prompt.seat, &arm.action);
                    let worth = looked_ahead
                        .unwrap_or_else(|| rollout_value(&world.game, prompt.seat, &arm.action, chance));
                    arm.worth.push(worth);
                }
            }
            let (_, others) = arms.split_at_mut(1);
            others.sort_by_key(|arm| core::cmp::Reverse(arm.sum()));
            arms.truncate(survivor_count(arms.len()));
        }
        if is_judged {
            // The judge's best has been in all rounds, as the last of the others has.
            let best = arms.iter().max_by_key(|arm| arm.sum());
            return best.map_or(advised, |arm| arm.action.clone());
        }
        let better = arms.iter().skip(1).find(|arm| is_surely_better(&arm.worth, &arms[0].worth));
        better.map_or(advised, |arm| arm.action.clone())
    }
}

/// How many games are imagined in each round, when so many actions are tried in the first one and so
/// many games may be played on: about as many in each round.
fn worlds_per_round(games: u32, actions: usize) -> Vec<u32> {
    // The actions of each round, until one of two is played.
    let more = |left: &usize| (*left > 2).then(|| survivor_count(*left));
    let tried: Vec<usize> = core::iter::successors(Some(actions), more).collect();
    let worlds = |actions: usize| {
        let each = games as usize / tried.len() / actions;
        u32::try_from(each).expect("no more than all games").max(WORLDS_MIN)
    };
    tried.iter().map(|actions| worlds(*actions)).collect()
}

/// What is worth trying where nobody judges: what the quick player advises first, and all as good.
pub(super) fn unevaluated_actions<G: Game>(view: &G::View) -> Vec<(G::Action, i64)> {
    let advised = G::choose_action_with_skill(Skill::Quick, view).expect("the AI advises who is prompt");
    let mut others = Vec::new();
    G::candidate_actions(view, &mut others);
    others.retain(|action| *action != advised);
    core::iter::once(advised).chain(others).map(|action| (action, 0)).collect()
}

/// How many actions are left after a round: the advised one, and the better half of the others.
const fn survivor_count(actions: usize) -> usize {
    1 + (actions - 1).div_ceil(2)
}

/// What comes of an action for the seat when greedy players play on: the counts that it wins or
/// loses, and so many for a win.
pub(super) fn rollout_value<G: Game>(world: &G, own: Seat, action: &G::Action, chance: Key) -> i64 {
    let Ok(game) = world.act(own, action, &mut Vec::new()) else {
        // It is legal by what the seat sees, and not in this way to fill in the rest.
        return 0;
    };
    let game = play_to_end(game, &mut ChanceRng::new(chance), &mut GreedyPlayers);
    let outcome = game.outcome().expect("a game that is over has an outcome");
    let mut worth = if outcome.winner == Some(own) { WIN_COUNTS } else { 0 };
    for debt in &outcome.debts {
        let counts = i64::from(debt.counts());
        worth += if debt.to == own { counts } else { 0 };
        worth -= if debt.from == own { counts } else { 0 };
    }
    worth
}

/// Greedy players at all seats.
struct GreedyPlayers;

impl<G: Game> Players<G> for GreedyPlayers {
    fn choose_action(&mut self, game: &G, seat: Seat) -> G::Action {
        let advised = G::choose_action_with_skill(Skill::Greedy, &game.view(Viewer::Seat(seat)));
        advised.expect("the AI advises who is prompt")
    }
}

/// Whether the one did better than the other by more than the noise of the difference.
fn is_surely_better(one: &[i64], other: &[i64]) -> bool {
    is_better_by(one, other, TENTHS_OF_ERRORS)
}

/// Returns whether the one did better than the other by more than so many tenths of the standard
/// error of the difference.
pub(super) fn is_better_by(one: &[i64], other: &[i64], tenths_of_errors: i128) -> bool {
    let (mut count, mut sum, mut squares) = (0, 0, 0);
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
    use super::{WORLDS_MIN, is_surely_better, survivor_count, worlds_per_round};
    use alloc::vec;

    #[test]
    fn only_what_is_more_than_noise_is_better() {
        assert!(is_surely_better(&[3, 4, 3, 4], &[1, 1, 1, 1]));
        assert!(!is_surely_better(&[1, 1, 1, 1], &[1, 1, 1, 1]));
        assert!(!is_surely_better(&[9, 0, 0, 0], &[1, 1, 1, 1]));
        assert!(!is_surely_better(&[0, 0], &[1, 1]));
    }

    #[test]
    fn as_many_games_are_played_on_however_many_actions_are_tried() {
        assert_eq!(worlds_per_round(500, 2), vec![250]);
        assert_eq!(worlds_per_round(500, 6), vec![20, 31, 41, 62]);
        for actions in 2..=40 {
            let rounds = worlds_per_round(2_000, actions);
            let (mut left, mut games) = (actions, 0);
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
