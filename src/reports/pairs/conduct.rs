//! The conduct of the players of a game: how many of their decisions differ from the action that the
//! house's AI chooses from the same view, and to whom these departures give.
//!
//! A player who dumps to another one departs from the advice wherever the two meet, and gives to that
//! one. One game shows little, since people and the AI differ; `tournament_signs` compares the games
//! of a player with those that it plays without the other. A gift is computed from all hands: the
//! game is played on by the AI after the action and after the advised one.

use bahay_bots::Ai;
use bahay_bots::search::play_to_end;
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{ActionOrigin, Readable as _};
use serde::{Deserialize, Serialize};

use crate::replay::ReplayError;

/// The decisions of one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// The number of decisions between at least two legal actions, of which the AI chooses one.
    pub decisions: u32,
    /// The number of these decisions for another action than the AI's.
    pub departures: u32,
}

impl Conduct {
    pub(super) fn add(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.departures += other.departures;
    }

    pub(super) fn without(self, part: Self) -> Self {
        Self {
            decisions: self.decisions.saturating_sub(part.decisions),
            departures: self.departures.saturating_sub(part.departures),
        }
    }
}

/// The conduct of one player of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatConduct {
    #[serde(flatten)]
    pub conduct: Conduct,
    /// By seat: the counts that this player would have paid it if all had played on by the AI, summed
    /// over the departures, less those after the advised actions. Empty without a departure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gifts: Vec<i64>,
}

impl SeatConduct {
    /// Counts an action in a state of a game with this number of seats.
    pub fn observe(&mut self, seats: usize, state: &AnyGame, seat: Seat, action: &AnyAction) {
        let view = state.view(Viewer::Seat(seat));
        let mut legal = Vec::new();
        AnyGame::legal_in_view(&view, &mut legal);
        if legal.len() < 2 {
            return;
        }
        let Some(advised) = AnyGame::choose_action(&view) else { return };
        self.conduct.decisions += 1;
        if advised == *action {
            return;
        }
        self.conduct.departures += 1;
        let (Some(paid), Some(otherwise)) = (
            payments_after(seats, state, seat, action),
            payments_after(seats, state, seat, &advised),
        ) else {
            return;
        };
        if self.gifts.is_empty() {
            self.gifts = vec![0; seats];
        }
        for (gift, (paid, otherwise)) in self.gifts.iter_mut().zip(paid.iter().zip(&otherwise)) {
            *gift += paid - otherwise;
        }
    }
}

/// Returns the counts by seat that a player would pay after an action, less those that it would
/// receive, if all played on by the AI; `None` if the action is illegal.
fn payments_after(
    seats: usize,
    state: &AnyGame,
    seat: Seat,
    action: &AnyAction,
) -> Option<Vec<i64>> {
    let state = state.act(seat, action, &mut Vec::new()).ok()?;
    // The same chance after either action.
    let mut dice = ChanceRng::new(Key(Hex([0; 32])));
    let mut players = |game: &AnyGame, seat| {
        let advised = AnyGame::choose_action(&game.view(Viewer::Seat(seat)));
        advised.expect("the AI can act for the seat to act")
    };
    let mut paid = vec![0; seats];
    for debt in play_to_end(state, &mut dice, &mut players).outcome()?.debts {
        let counts = i64::from(debt.counts());
        if debt.from == seat {
            paid[debt.to.index()] += counts;
        } else if debt.to == seat {
            paid[debt.from.index()] -= counts;
        }
    }
    Some(paid)
}

/// Returns the conduct by seat in the game of a record. Actions of the clock and of the AI are none
/// of the player.
///
/// # Errors
///
/// Returns an error if the record cannot be read or replayed.
pub fn measure_conduct(record: &str) -> Result<Vec<SeatConduct>, ReplayError> {
    let record = AnyGame::read_record(record)?;
    let mut conduct = vec![SeatConduct::default(); record.players.len()];
    let mut before: Option<AnyGame> = None;
    record.replay(|step| {
        let taken = step.taken.filter(|taken| taken.by == ActionOrigin::Player);
        if let Some((taken, state)) = taken.zip(before.as_ref())
            && let Some(conduct) = conduct.get_mut(taken.seat.index())
        {
            conduct.observe(record.players.len(), state, taken.seat, &taken.action);
        }
        before = Some(step.state.clone());
    })?;
    Ok(conduct)
}
