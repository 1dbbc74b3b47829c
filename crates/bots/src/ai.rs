//! The contract of an AI: the choice of actions from a view, and the parts of a search.

use alloc::vec::Vec;

use bahay_engine::chance::ChanceRng;
use bahay_engine::game::{Game, Outcome, Skill};
use bahay_engine::seat::{Seat, SeatSet};

/// A sampled game that is consistent with the knowledge of a seat (a determinization).
#[derive(Clone, Debug)]
pub struct SampledGame<G> {
    pub game: G,
    /// The seats that are modelled as quick players; all others are modelled as greedy ones.
    pub quick: SeatSet,
}

/// Returns the counts that a seat wins from the others less those that it loses to them.
pub fn net_counts(outcome: &Outcome, seat: Seat) -> i64 {
    let net = outcome.debts.iter().map(|debt| {
        let direction = i64::from(debt.to == seat) - i64::from(debt.from == seat);
        direction * i64::from(debt.counts())
    });
    net.sum()
}

/// A game that the house's AI plays.
pub trait Ai: Game {
    /// Chooses the AI's action from the knowledge of this view alone; `None` if the viewer is not
    /// prompted.
    fn choose_action(view: &Self::View) -> Option<Self::Action>;

    /// Chooses the action of an AI of this skill without memory; see [`Ai::choose_action`].
    fn choose_action_with_skill(skill: Skill, view: &Self::View) -> Option<Self::Action> {
        Self::choose_action_with_memory(skill, view, &mut core::iter::empty())
    }

    /// Chooses the action of an AI of this skill that remembers all events that its seat has seen,
    /// in order.
    fn choose_action_with_memory(
        skill: Skill,
        view: &Self::View,
        _shown: &mut dyn Iterator<Item = &Self::Event>,
    ) -> Option<Self::Action> {
        match skill {
            Skill::Greedy | Skill::Quick => Self::choose_action(view),
        }
    }

    /// Chooses an action for a player who is away: the action of [`Skill::Quick`] unless it is a
    /// commitment (rule 8.3). Returns `None` if the AI has no other action.
    fn choose_uncommitted_action(
        view: &Self::View,
        shown: &mut dyn Iterator<Item = &Self::Event>,
    ) -> Option<Self::Action> {
        let action = Self::choose_action_with_memory(Skill::Quick, view, shown)?;
        (!Self::is_commitment(view, &action)).then_some(action)
    }

    /// Returns the number of games that the searching AI samples when it acts for a player whose
    /// seat is taken over. `None` if the search is not known to play better than the quick AI, or
    /// takes too long.
    fn imagined_game_count(_view: &Self::View) -> Option<u32> {
        None
    }

    /// Appends the candidate actions of a search for the viewer of this view: legal actions, the
    /// most likely first. Actions that are certainly no better than another may be omitted.
    fn candidate_actions(view: &Self::View, actions: &mut Vec<Self::Action>) {
        Self::legal_in_view(view, actions);
    }

    /// Evaluates the candidate actions of a search without playing on, in the units of
    /// [`Ai::look_ahead`], the best first. An action that wins at once is returned alone. `quick`
    /// holds, for each sampled game, the seats that are modelled as quick players; if it is empty,
    /// nothing is known about the players. Returns nothing if the game has no such evaluation.
    fn evaluate_actions(_view: &Self::View, _quick: &[SeatSet]) -> Vec<(Self::Action, i64)> {
        Vec::new()
    }

    /// Samples a game that is consistent with the view; the hidden part is drawn from `dice`.
    /// Returns `None` if the game cannot do so.
    fn sample_game(_view: &Self::View, _dice: &mut ChanceRng) -> Option<Self> {
        None
    }

    /// Samples `count` games that are consistent with the view, in proportion to their likelihood
    /// given all events that the seat has seen. Returns fewer or none if the game cannot do so.
    fn sample_likely_games(
        view: &Self::View,
        _shown: &[Self::Event],
        count: u32,
        dice: &mut ChanceRng,
    ) -> Vec<SampledGame<Self>> {
        let game = |_| Self::sample_game(view, dice);
        (0..count).map_while(game).map(|game| SampledGame { game, quick: SeatSet::EMPTY }).collect()
    }

    /// Returns the value of an action for a seat in this fully known game, in which the `quick`
    /// seats are quick players. Values of actions of the same seat are comparable. Returns `None`
    /// if the game has no evaluation of its own or the action is not legal.
    fn look_ahead(&self, _quick: SeatSet, _seat: Seat, _action: &Self::Action) -> Option<i64> {
        None
    }
}
