//! Rollouts from the true state of a game: the opponents follow their policies, the learner its
//! network, until the learner has ended two turns and the network evaluates the next one.

use bahay_bots::tongits::{Candidate, DumpLimit, EnsembleJudge, Judge as _, ONE, WEIGHT_ONE};
use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Phase, SEATS, Tongits};
use bahay_engine::seat::Seat;

use crate::players::{SeatPlayers, choose_action};
use crate::training::{COUNTS_PER_ONE, net_counts};

/// The number of turns that the learner ends before the evaluation, including the turn of the
/// action.
const TURNS: u32 = 2;

/// The dumps that the learner considers during a rollout, as in the search of `strong`.
const PLANNED: DumpLimit = DumpLimit::Likely(4);

pub(crate) struct RolloutResult {
    /// The probability of a win.
    pub(crate) win: f32,
    pub(crate) counts: f32,
    /// `true` if the next seat chowed the card that the action dumped.
    pub(crate) is_chowed: bool,
}

/// Returns the result of an action; `None` if it is illegal.
pub(crate) fn evaluate_action(
    game: &Tongits,
    players: SeatPlayers,
    own: Seat,
    judge: &EnsembleJudge<'_>,
    action: &Action,
) -> Option<RolloutResult> {
    let mut events = Vec::new();
    let mut game = game.act(own, action, &mut events).ok()?;
    let mut ended = u32::from(matches!(action, Action::Dump { .. }));
    let mut is_chowed = false;
    let mut memory = Vec::new();
    loop {
        events.clear();
        game = match game.turn() {
            Turn::Over => {
                let outcome = game.outcome().expect("a game that is over has an outcome");
                let win = f32::from(u8::from(outcome.winner == Some(own)));
                let counts = f32::from(net_counts(&outcome, own)) / COUNTS_PER_ONE;
                return Some(RolloutResult { win, counts, is_chowed });
            }
            Turn::Chance(_) => unreachable!("the cards are dealt"),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("a prompt names a seat");
                let view = game.view(Viewer::Seat(seat));
                let is_turn = matches!(view.public.phase, Phase::Draw { .. } | Phase::Play { .. });
                if seat == own && is_turn && ended >= TURNS {
                    let considered = judge.consider_actions(&view, PLANNED, &mut memory)?;
                    let best = considered.iter().max_by_key(|one| one.worth);
                    if let Some(Candidate { position: Some(position), .. }) = best {
                        let [win, counts] = judge.outputs(position, &mut memory).map(as_number);
                        return Some(RolloutResult { win, counts, is_chowed });
                    }
                }
                let action = choose_action(&view, players, judge.networks, PLANNED);
                if seat == own && matches!(action, Action::Dump { .. }) {
                    ended += 1;
                }
                let is_chow = matches!(action, Action::Chow { .. });
                is_chowed |= ended == 1 && seat == own.next(SEATS) && is_chow;
                game.act(seat, &action, &mut events).expect("the AI plays a legal action")
            }
        };
    }
}

#[expect(clippy::cast_precision_loss, reason = "training targets are approximate")]
fn as_number(output: i64) -> f32 {
    output as f32 / (f32::from(ONE) * f32::from(WEIGHT_ONE))
}
