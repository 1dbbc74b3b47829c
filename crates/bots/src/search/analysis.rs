//! Post-game analysis of one player's decisions by the searching bot ([`crate::search`]), using
//! only what the seat could see at each decision.
//!
//! Each decision is examined in two stages. The search first compares the action taken with its own
//! candidates in sampled games, as it does at a table. If it prefers another action by more than
//! the noise, both actions are then played to the end in freshly sampled games and their results
//! compared, in bets. A decision is reported only if both stages agree. This guards against false
//! positives among many decisions, and the reported figures come from games that were not used for
//! the selection.
//!
//! The analysis is deterministic: its randomness is seeded from the game's id. Its cost is bounded
//! by that of [`SEARCHED`] decisions of the bot and [`CHECKED_MAX`] checks, however long the record
//! is.

use alloc::vec::Vec;

use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::{GameRules, Skill, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{ActionOrigin, InvalidRecordError, Record};

use crate::ai::{Ai, net_counts};
use crate::search::bot::LazyDice;
use crate::search::playout::play_to_end;
use crate::search::search_bot::{Arm, choose_with_skill, is_better_by, unevaluated_actions};

/// The maximum number of decisions reported.
pub const JUDGED_MAX: usize = 3;

/// The budget for searching a whole record, in decisions of the bot.
const SEARCHED: u32 = 24;

/// The maximum number of candidates compared with the action taken.
const TRIED_MAX: usize = 5;

/// The minimum number of sampled games per decision, however many decisions there are.
const WORLDS_MIN: u32 = 8;

/// The maximum number of decisions verified by playing to the end.
const CHECKED_MAX: usize = 5;

/// The number of games a check plays per action, as a percentage of the bot's games per decision.
const CHECK_PERCENT: u32 = 40;

/// The minimum number of games of a check.
const CHECK_MIN: u32 = 30;

/// The significance threshold: an action counts as better only if the difference exceeds this many
/// tenths of its standard error.
const TENTHS_OF_ERRORS: i128 = 20;

/// The smallest reported loss, in hundredths of a bet.
const LOSS_MIN: i64 = 10;

/// A decision of a player, and the action preferred by the bot.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedDecision<A> {
    /// The index of the step that holds the action, as in a replay: 0 is the deal.
    pub step: usize,
    pub action: A,
    pub advised: A,
    /// The mean result of the action, in hundredths of a bet times the multiplier: the seat's
    /// winnings from the others less its losses to them, before the fee and without ante and POT.
    pub value: i64,
    /// The mean result of the advised action, in the same unit.
    pub advised_value: i64,
}

impl<A> JudgedDecision<A> {
    /// Returns the advantage of the advised action, in hundredths of a bet.
    pub const fn loss(&self) -> i64 {
        self.advised_value - self.value
    }
}

/// Returns the decisions of a seat's player for which the bot clearly prefers another action: at
/// most [`JUDGED_MAX`], in descending order of loss.
///
/// Decisions taken by the AI or the clock are not considered. Returns `None` if the game has no
/// searching bot for these rules.
///
/// # Errors
///
/// Returns the first fault if the record cannot be replayed.
pub fn analyze<G: Ai>(
    record: &Record<G>,
    seat: Seat,
) -> Result<Option<Vec<JudgedDecision<G::Action>>>, InvalidRecordError> {
    let Decisions { decisions, shown, games } = Decisions::from_record(record, seat)?;
    let Some(games) = games else { return Ok(None) };
    let count = u32::try_from(decisions.len()).unwrap_or(u32::MAX).max(1);
    let searched = (games * SEARCHED / count).min(games);
    let dice =
        |decision: &Decision<G>, purpose| LazyDice::new(dice_key(record, seat, decision, purpose));
    let mut proposals: Vec<Proposal<'_, G>> = decisions
        .iter()
        .filter_map(|decision| {
            let mut dice = dice(decision, DiceStream::Search);
            propose_alternative(decision, &shown[..decision.shown], seat, searched, &mut dice)
        })
        .collect();
    proposals.sort_by_key(|proposal| core::cmp::Reverse(proposal.gain));
    let per_bet = i64::from(record.terms.rules.counts_per_bet());
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
struct Decision<G: Ai> {
    step: usize,
    view: G::View,
    /// The number of the seat's visible events that precede the decision.
    shown: usize,
    action: G::Action,
}

struct Decisions<G: Ai> {
    decisions: Vec<Decision<G>>,
    /// All events visible to the seat, in order.
    shown: Vec<G::Event>,
    /// The number of games that the bot samples per decision; `None` if there is no such bot.
    games: Option<u32>,
}

impl<G: Ai> Decisions<G> {
    fn from_record(record: &Record<G>, seat: Seat) -> Result<Self, InvalidRecordError> {
        let viewer = Viewer::Seat(seat);
        let mut collected = Self { decisions: Vec::new(), shown: Vec::new(), games: None };
        let mut before: Option<G> = None;
        let mut number = 0;
        let mut legal = Vec::new();
        record.replay(|step| {
            let taken =
                step.taken.filter(|taken| taken.seat == seat && taken.by == ActionOrigin::Player);
            if let Some((taken, before)) = taken.zip(before.as_ref()) {
                let view = before.view(viewer);
                legal.clear();
                G::legal_in_view(&view, &mut legal);
                let games = G::imagined_game_count(&view);
                collected.games = collected.games.max(games);
                if legal.len() > 1 && games.is_some() {
                    let shown = collected.shown.len();
                    let action = taken.action.clone();
                    collected.decisions.push(Decision { step: number, view, shown, action });
                }
            } else if collected.games.is_none() {
                // Also determined for a player who took no decision.
                collected.games = G::imagined_game_count(&step.state.view(viewer));
            }
            let events = step.events.iter().filter_map(|event| G::redact(event, viewer));
            collected.shown.extend(events);
            before = Some(step.state.clone());
            number += 1;
        })?;
        Ok(collected)
    }
}

/// An action that the search prefers to the one taken.
struct Proposal<'a, G: Ai> {
    decision: &'a Decision<G>,
    advised: G::Action,
    /// The sum of the differences over [`GAIN_GAMES`] sampled games, in the search's unit.
    gain: i64,
}

/// The number of games to which gains are scaled, so that decisions judged with different numbers
/// of games are comparable.
const GAIN_GAMES: i64 = 1_000;

fn propose_alternative<'a, G: Ai>(
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
    let count = i64::from(count);
    let arm = |(action, judged)| Arm::new(action, judged, count);
    let mut arms: Vec<Arm<G::Action>> = actions.into_iter().map(arm).collect();
    let mut taken = Arm::new(decision.action.clone(), 0, count);
    for world in &worlds {
        let chance = dice.draw_key();
        arms.iter_mut().chain([&mut taken]).for_each(|arm| arm.try_in(world, seat, chance));
    }
    let best = arms.into_iter().max_by_key(Arm::sum)?;
    let is_other = best.action != decision.action;
    if !is_other || !is_better_by(&best.worth, &taken.worth, TENTHS_OF_ERRORS) {
        return None;
    }
    let sum = |arm: &Arm<G::Action>| arm.worth.iter().sum::<i64>();
    let gain = sum(&best).saturating_sub(sum(&taken)).saturating_mul(GAIN_GAMES) / count;
    Some(Proposal { decision, advised: best.action, gain })
}

/// Plays both actions to the end in freshly sampled games and compares the results.
fn verify_proposal<G: Ai>(
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
        // An action that is legal by the seat's view may be illegal in one sampled game.
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

/// Plays an action and then the game to its end, and returns the counts won or lost by the seat.
///
/// The seat continues as a quick player, the others as the skill ascribed to them. Returns `None`
/// if the action is illegal in this game.
fn play_out<G: Ai>(
    world: &G,
    quick: SeatSet,
    own: Seat,
    action: &G::Action,
    chance: Key,
) -> Option<i64> {
    let game = world.act(own, action, &mut Vec::new()).ok()?;
    let quick = quick.with(own);
    let mut players = |game: &G, seat| {
        let skill = if quick.contains(seat) { Skill::Quick } else { Skill::Greedy };
        choose_with_skill(skill, game, seat)
    };
    let game = play_to_end(game, &mut ChanceRng::new(chance), &mut players);
    Some(net_counts(&game.outcome()?, own))
}

/// Returns the rounded mean in hundredths of a bet, or `None` if there are no results.
fn mean_in_bets(counts: &[i64], per_bet: i64) -> Option<i64> {
    let whole = i64::try_from(counts.len()).ok()?.checked_mul(per_bet).filter(|all| *all > 0)?;
    let sum: i64 = counts.iter().sum();
    Some((2 * 100 * sum + whole).div_euclid(2 * whole))
}

/// The use of a random stream.
#[derive(Clone, Copy)]
enum DiceStream {
    Search,
    Check,
}

/// Returns a distinct key for each game, seat, decision and use.
fn dice_key<G: Ai>(
    record: &Record<G>,
    seat: Seat,
    decision: &Decision<G>,
    purpose: DiceStream,
) -> Key {
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
