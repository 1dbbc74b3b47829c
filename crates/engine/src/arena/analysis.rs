//! Judges the decisions of a player of a finished game afterwards, by the search of the bot that plays
//! on ([`super::search`]): from what the seat was shown at each of them and nothing else.
//!
//! A decision is looked at twice. First the search compares the action that was taken with those that
//! it would try, in imagined games, as it does at a table. If it prefers another one by more than
//! the noise, both are played to the end in games that are imagined anew, and what they bring is
//! compared, in bets. Only where both say so is the decision reported: so what is found by chance
//! among many decisions is not, and the figures are of games by which nothing was chosen.
//!
//! The same record gives the same answer: what is left to chance follows from the game's id. A record
//! costs as much as [`SEARCHED`] decisions of the bot and [`CHECKED_MAX`] checks, however long it is.

use alloc::vec::Vec;

use crate::arena::bot::LazyDice;
use crate::arena::search::{is_better_by, rollout_value, unevaluated_actions};
use crate::arena::playout::{Players, play_to_end};
use crate::chance::{ChanceRng, Key};
use crate::game::{Game, Skill, Viewer};
use crate::hex::Hex;
use crate::seat::{Seat, SeatSet};
use crate::table::{ActionOrigin, InvalidRecordError, Record};

/// The most decisions that are reported.
pub const JUDGED_MAX: usize = 3;

/// The search of a whole record imagines as many games as the bot does for so many decisions.
const SEARCHED: u32 = 24;

/// Actions that the search compares with the one that was taken.
const TRIED_MAX: usize = 5;

/// The fewest imagined games for a decision, where there are very many.
const WORLDS_MIN: u32 = 8;

/// Decisions that are checked by playing to the end.
const CHECKED_MAX: usize = 5;

/// A check plays so many games for each of its two actions, of a hundred that the bot imagines for one
/// decision.
const CHECK_PERCENT: u32 = 40;

/// The fewest games of a check.
const CHECK_MIN: u32 = 30;

/// An action is better only by so many tenths of the standard error of the difference.
const TENTHS_OF_ERRORS: i128 = 20;

/// The least difference that is reported, in hundredths of a bet.
const LOSS_MIN: i64 = 10;

/// A decision of a player, and the action that the bot prefers.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedDecision<A> {
    /// The number of the step whose action it was, as a replay counts them: 0 is the deal.
    pub step: usize,
    pub action: A,
    pub advised: A,
    /// The average result of the action, in hundredths of a bet times the multiplier: what the seat
    /// wins of the others, less what it loses to them, before the fee and without ante and POT.
    pub value: i64,
    /// The same of what is advised.
    pub advised_value: i64,
}

impl<A> JudgedDecision<A> {
    /// Returns how much better the advised action is, in hundredths of a bet.
    pub const fn loss(&self) -> i64 {
        self.advised_value - self.value
    }
}

/// Returns the decisions that the player of a seat took itself and in which the bot prefers another
/// action by most: at most [`JUDGED_MAX`], by falling loss. `None` where the game has no bot that
/// searches by these rules.
///
/// # Errors
/// The first fault of a record that cannot be played again.
pub fn analyze<G: Game>(
    record: &Record<G>,
    seat: Seat,
) -> Result<Option<Vec<JudgedDecision<G::Action>>>, InvalidRecordError> {
    let Decisions { decisions, shown, games } = Decisions::from_record(record, seat)?;
    let Some(games) = games else {
        return Ok(None);
    };
    let count = u32::try_from(decisions.len()).unwrap_or(u32::MAX).max(1);
    let searched = (games * SEARCHED / count).min(games);
    let dice = |decision: &Decision<G>, purpose| LazyDice::new(dice_key(record, seat, decision, purpose));
    let mut proposals: Vec<Proposal<'_, G>> = decisions
        .iter()
        .filter_map(|decision| {
            let mut dice = dice(decision, DiceStream::Search);
            propose_alternative(decision, &shown[..decision.shown], seat, searched, &mut dice)
        })
        .collect();
    proposals.sort_by_key(|proposal| core::cmp::Reverse(proposal.gain));
    let per_bet = i64::from(G::counts_per_bet(&record.terms.rules));
    let checked = (games * CHECK_PERCENT / 100).max(CHECK_MIN);
    let mut judged: Vec<JudgedDecision<G::Action>> = proposals
        .iter()
        .take(CHECKED_MAX)
        .filter_map(|proposal| {
            let mut dice = dice(proposal.decision, DiceStream::Check);
            let shown = &shown[..proposal.decision.shown];
            verify_proposal(proposal, shown, seat, checked, per_bet, &mut dice)
        })
        .collect();
    judged.sort_by_key(|one| (core::cmp::Reverse(one.loss()), one.step));
    judged.truncate(JUDGED_MAX);
    Ok(Some(judged))
}

/// A decision with more than one legal action, as the seat saw it.
struct Decision<G: Game> {
    step: usize,
    view: G::View,
    /// How many of the events that the seat is shown in all it had been shown before.
    shown: usize,
    action: G::Action,
}

struct Decisions<G: Game> {
    decisions: Vec<Decision<G>>,
    /// All that the seat was shown, in order.
    shown: Vec<G::Event>,
    /// How many games the bot imagines for a decision; `None` where there is no such bot.
    games: Option<u32>,
}

impl<G: Game> Decisions<G> {
    fn from_record(record: &Record<G>, seat: Seat) -> Result<Self, InvalidRecordError> {
        let viewer = Viewer::Seat(seat);
        let mut read = Self { decisions: Vec::new(), shown: Vec::new(), games: None };
        let mut before: Option<G> = None;
        let mut number = 0;
        let mut legal = Vec::new();
        record.replay(|step| {
            let taken = step.taken.filter(|taken| taken.seat == seat && taken.by == ActionOrigin::Player);
            if let Some((taken, before)) = taken.zip(before.as_ref()) {
                let view = before.view(viewer);
                legal.clear();
                G::legal_in_view(&view, &mut legal);
                let games = G::imagined_game_count(&view);
                read.games = read.games.max(games);
                if legal.len() > 1 && games.is_some() {
                    let shown = read.shown.len();
                    let action = taken.action.clone();
                    read.decisions.push(Decision { step: number, view, shown, action });
                }
            } else if read.games.is_none() {
                // Also of a player who decided nothing itself.
                read.games = G::imagined_game_count(&step.state.view(viewer));
            }
            let events = step.events.iter().filter_map(|event| G::redact(event, viewer));
            read.shown.extend(events);
            before = Some(step.state.clone());
            number += 1;
        })?;
        Ok(read)
    }
}

/// An action that the search prefers to the one that was taken.
struct Proposal<'a, G: Game> {
    decision: &'a Decision<G>,
    advised: G::Action,
    /// The sum of the differences over a fixed number of imagined games, in parts of the search.
    gain: i64,
}

/// An action with what came of it, by imagined game.
struct TriedAction<A> {
    action: A,
    judged: i64,
    worth: Vec<i64>,
}

/// The number of games to which differences are scaled, so that decisions compare that were judged
/// by different numbers of games.
const GAIN_GAMES: i64 = 1_000;

fn propose_alternative<'a, G: Game>(
    decision: &'a Decision<G>,
    shown: &[G::Event],
    seat: Seat,
    games: u32,
    dice: &mut LazyDice,
) -> Option<Proposal<'a, G>> {
    let view = &decision.view;
    let judged = G::evaluate_actions(view, &[]);
    let is_judged = !judged.is_empty();
    let mut actions = if is_judged { judged } else { unevaluated_actions::<G>(view) };
    actions.truncate(TRIED_MAX);
    if actions.iter().all(|(action, _)| *action == decision.action) {
        return None;
    }
    let arms = u32::try_from(actions.len()).unwrap_or(u32::MAX) + 1;
    let count = (games / arms).max(WORLDS_MIN);
    let worlds = G::sample_likely_games(view, shown, count, dice.get_or_init());
    if worlds.len() < count as usize {
        return None;
    }
    if is_judged {
        let quick: Vec<SeatSet> = worlds.iter().map(|world| world.quick).collect();
        let again = G::evaluate_actions(view, &quick);
        if !again.is_empty() {
            actions = again;
            actions.truncate(TRIED_MAX);
        }
    }
    let untried = |(action, judged)| TriedAction { action, judged, worth: Vec::new() };
    let mut tried: Vec<TriedAction<G::Action>> = actions.into_iter().map(untried).collect();
    let mut taken = TriedAction { action: decision.action.clone(), judged: 0, worth: Vec::new() };
    for world in &worlds {
        let chance = dice.draw_key();
        for one in tried.iter_mut().chain([&mut taken]) {
            let looked_ahead = world.game.look_ahead(world.quick, seat, &one.action);
            let worth = looked_ahead.unwrap_or_else(|| rollout_value(&world.game, seat, &one.action, chance));
            one.worth.push(worth);
        }
    }
    let count = i64::from(count);
    let total = |one: &TriedAction<G::Action>| {
        one.worth.iter().sum::<i64>().saturating_add(one.judged.saturating_mul(count))
    };
    let best = tried.into_iter().max_by_key(total)?;
    let is_other = best.action != decision.action;
    if !is_other || !is_better_by(&best.worth, &taken.worth, TENTHS_OF_ERRORS) {
        return None;
    }
    let sum = |one: &TriedAction<G::Action>| one.worth.iter().sum::<i64>();
    let gain = sum(&best).saturating_sub(sum(&taken)).saturating_mul(GAIN_GAMES) / count;
    Some(Proposal { decision, advised: best.action, gain })
}

/// Plays both actions to the end in games that are imagined anew.
fn verify_proposal<G: Game>(
    proposal: &Proposal<'_, G>,
    shown: &[G::Event],
    seat: Seat,
    games: u32,
    per_bet: i64,
    dice: &mut LazyDice,
) -> Option<JudgedDecision<G::Action>> {
    let Proposal { decision, advised, .. } = proposal;
    let worlds = G::sample_likely_games(&decision.view, shown, games, dice.get_or_init());
    let mut taken_counts = Vec::new();
    let mut advised_counts = Vec::new();
    for world in &worlds {
        let chance = dice.draw_key();
        let play = |action: &G::Action| play_out(&world.game, world.quick, seat, action, chance);
        // Legal by what the seat sees, an action may not be so in this way to fill in the rest.
        if let Some((taken, advised)) = play(&decision.action).zip(play(advised)) {
            taken_counts.push(taken);
            advised_counts.push(advised);
        }
    }
    let is_sure = taken_counts.len() >= CHECK_MIN as usize
        && is_better_by(&advised_counts, &taken_counts, TENTHS_OF_ERRORS);
    let judged = JudgedDecision {
        step: decision.step,
        action: decision.action.clone(),
        advised: advised.clone(),
        value: mean_in_bets(&taken_counts, per_bet)?,
        advised_value: mean_in_bets(&advised_counts, per_bet)?,
    };
    Some(judged).filter(|judged| is_sure && judged.loss() >= LOSS_MIN)
}

/// Returns the counts that an action brings the seat when all play on to the end: the seat as a quick
/// player, the others as what they are taken for. `None` where it is not legal in this game.
fn play_out<G: Game>(
    world: &G,
    quick: SeatSet,
    own: Seat,
    action: &G::Action,
    chance: Key,
) -> Option<i64> {
    let game = world.act(own, action, &mut Vec::new()).ok()?;
    let mut players = BelievedPlayers { quick: quick.with(own) };
    let game = play_to_end(game, &mut ChanceRng::new(chance), &mut players);
    let outcome = game.outcome()?;
    let counts = outcome.debts.iter().map(|debt| {
        let counts = i64::from(debt.counts());
        let gained = if debt.to == own { counts } else { 0 };
        let lost = if debt.from == own { counts } else { 0 };
        gained - lost
    });
    Some(counts.sum())
}

/// Quick players at some seats, and greedy ones at the others.
struct BelievedPlayers {
    quick: SeatSet,
}

impl<G: Game> Players<G> for BelievedPlayers {
    fn choose_action(&mut self, game: &G, seat: Seat) -> G::Action {
        let skill = if self.quick.contains(seat) { Skill::Quick } else { Skill::Greedy };
        let advised = G::choose_action_with_skill(skill, &game.view(Viewer::Seat(seat)));
        advised.expect("the AI advises who is asked")
    }
}

/// Returns a mean in hundredths of a bet, rounded; `None` of nothing.
fn mean_in_bets(counts: &[i64], per_bet: i64) -> Option<i64> {
    let whole = i64::try_from(counts.len()).ok()?.checked_mul(per_bet).filter(|all| *all > 0)?;
    let sum: i64 = counts.iter().sum();
    Some((2 * 100 * sum + whole).div_euclid(2 * whole))
}

/// The use of a stream of chance.
#[derive(Clone, Copy)]
enum DiceStream {
    Search,
    Check,
}

/// Returns a key of its own for each decision of each seat of each game.
fn dice_key<G: Game>(record: &Record<G>, seat: Seat, decision: &Decision<G>, purpose: DiceStream) -> Key {
    let mut key = [0; 32];
    key[..16].copy_from_slice(record.game.0.as_bytes());
    key[16..24].copy_from_slice(&(decision.step as u64).to_le_bytes());
    key[24] = u8::try_from(seat.index()).expect("a table has at most eight seats");
    key[25] = purpose as u8;
    Key(Hex(key))
}

#[cfg(test)]
mod tests {
    use super::mean_in_bets;

    #[test]
    fn a_mean_is_rounded_to_the_nearest_hundredth_of_a_bet() {
        assert_eq!(mean_in_bets(&[], 1), None);
        assert_eq!(mean_in_bets(&[3, -1, 0], 1), Some(67));
        assert_eq!(mean_in_bets(&[-1, -1, 0], 1), Some(-67));
        // A count is half a bet.
        assert_eq!(mean_in_bets(&[3, 3], 2), Some(150));
    }
}
