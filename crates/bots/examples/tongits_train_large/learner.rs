//! A player of training games, and the examples that it records.

use core::slice::from_ref;

use bahay_bots::tongits::{
    Candidate, DumpLimit, EnsembleJudge, Judge as _, LargeNetwork, NetworkPosition, SuitPermutation,
};
use bahay_engine::game::{Game, Outcome, Viewer};
use bahay_engine::games::tongits::{self, Action, SEATS, Tongits, View};
use bahay_engine::seat::Seat;
use bahay_engine::testing::TestRng;

use crate::players::{GamePlayers, SeatPlayers, choose_action, deal_players, make_judge};
use crate::rollout;
use crate::run_on_threads;
use crate::trainer::LEARNED;
use crate::training::{COUNTS_PER_ONE, ends_turn, key, net_counts, shuffle};

/// The number of random actions per thousand.
const AT_RANDOM: u32 = 50;

/// The number of decisions per thousand whose promising actions are all evaluated by rollouts.
const PLAYED_ON: u32 = 700;

/// The number of actions evaluated per decision: the best by the network, and one random other.
const TRIED_MAX: usize = 6;

const DEADWOOD_PER_ONE: f32 = 30.0;

/// A network whose outputs are zero.
static ZERO: LargeNetwork = LargeNetwork::zero();

/// A position, and its targets.
pub(crate) struct TrainingExample {
    pub(crate) position: NetworkPosition,
    /// The targets: a win, the counts, the deadwood of the next and of the previous seat, and a
    /// chow by the next seat.
    pub(crate) targets: [f32; LEARNED],
    /// `true` if this is the first example of a decision; the following ones up to the next first
    /// belong to the same decision.
    pub(crate) is_first: bool,
}

/// A player whose choices are recorded and sometimes random.
pub(crate) struct Learner {
    dice: TestRng,
    /// The examples of chosen positions.
    examples: Vec<TrainingExample>,
    /// The seats of this game's examples, which begin at index `from`.
    seats: Vec<Seat>,
    from: usize,
    /// The examples of rollouts.
    played_on: Vec<TrainingExample>,
}

impl Learner {
    fn new() -> Self {
        let examples = Vec::new();
        let seats = Vec::new();
        let played_on = Vec::new();
        Self { dice: TestRng::new(0), examples, seats, from: 0, played_on }
    }

    /// Returns the action, chosen by the networks, or by `quick` if there are none yet.
    pub(crate) fn choose_action(
        &mut self,
        game: &Tongits,
        view: &View,
        seat: Seat,
        networks: &[LargeNetwork],
        players: SeatPlayers,
    ) -> Action {
        let advised = || choose_action(view, players, networks, DumpLimit::All);
        let judged_by = if networks.is_empty() { from_ref(&ZERO) } else { networks };
        let judge = make_judge(judged_by, players, seat);
        let considered = judge
            .consider_actions(view, DumpLimit::All, &mut Vec::new())
            .expect("the seat is to act");
        if !networks.is_empty() && self.dice.below(1_000) < PLAYED_ON {
            self.play_out_candidates(game, seat, &judge, players, &considered);
        }
        let chosen = if self.dice.below(1_000) < AT_RANDOM {
            self.dice.choose(&considered)
        } else {
            let advised = advised();
            considered.iter().find(|one| one.action == advised)
        };
        let Some(chosen) = chosen else { return advised() };
        if let Some(position) = chosen.position.filter(|_| ends_turn(&chosen.action)) {
            let [next, previous] = deadwoods(game, seat);
            let position = position.permute_suits(self.suits());
            let targets = [0.0, 0.0, next, previous, 0.0];
            self.examples.push(TrainingExample { position, targets, is_first: true });
            self.seats.push(seat);
        }
        chosen.action
    }

    /// Records the result of each promising action.
    fn play_out_candidates(
        &mut self,
        game: &Tongits,
        seat: Seat,
        judge: &EnsembleJudge<'_>,
        players: SeatPlayers,
        considered: &[Candidate<NetworkPosition>],
    ) {
        let is_won = considered.iter().any(|one| one.position.is_none());
        let mut tried: Vec<(Action, NetworkPosition, i64)> = considered
            .iter()
            .filter(|one| !is_won && ends_turn(&one.action))
            .filter_map(|one| Some((one.action, one.position?, one.worth)))
            .collect();
        if tried.len() < 2 {
            return;
        }
        tried.sort_by_key(|(.., worth)| core::cmp::Reverse(*worth));
        if let Some(others) = tried.len().checked_sub(TRIED_MAX - 1).filter(|others| *others > 1) {
            let any = self.dice.below(u32::try_from(others).expect("few actions")) as usize;
            tried.swap(TRIED_MAX - 1, TRIED_MAX - 1 + any);
            tried.truncate(TRIED_MAX);
        }
        let deadwoods = deadwoods(game, seat);
        let suits = self.suits();
        let mut is_first = true;
        for (action, position, _) in tried {
            let Some(seen) = rollout::evaluate_action(game, players, seat, judge, &action) else {
                continue;
            };
            let position = position.permute_suits(suits);
            let chowed = f32::from(u8::from(seen.is_chowed));
            let targets = [seen.win, seen.counts, deadwoods[0], deadwoods[1], chowed];
            self.played_on.push(TrainingExample { position, targets, is_first });
            is_first = false;
        }
    }

    /// Returns a random permutation of the suits, under which positions keep their value.
    fn suits(&mut self) -> SuitPermutation {
        let mut order = [0, 1, 2, 3];
        shuffle(&mut order, &mut self.dice);
        SuitPermutation(order)
    }

    /// Records that the next seat chowed the latest dump.
    pub(crate) fn record_chow(&mut self, seat: Seat) {
        if self.seats.last() == Some(&seat.previous(SEATS))
            && let Some(example) = self.examples.last_mut()
        {
            example.targets[4] = 1.0;
        }
    }

    pub(crate) fn record_outcome(&mut self, outcome: &Outcome) {
        for (example, seat) in self.examples[self.from..].iter_mut().zip(self.seats.drain(..)) {
            example.targets[0] = f32::from(u8::from(outcome.winner == Some(seat)));
            example.targets[1] = f32::from(net_counts(outcome, seat)) / COUNTS_PER_ONE;
        }
        self.from = self.examples.len();
    }
}

/// Returns the deadwoods of the next and of the previous seat, which the network cannot see.
fn deadwoods(game: &Tongits, seat: Seat) -> [f32; 2] {
    let hands = game.view(Viewer::Everything).hands;
    [seat.next(SEATS), seat.previous(SEATS)].map(|other| {
        let hand = hands[other.index()].expect("the record sees all hands");
        let points = u16::try_from(tongits::deadwood(hand)).expect("few points");
        f32::from(points) / DEADWOOD_PER_ONE
    })
}

/// Plays the games of a round and returns the recorded examples.
pub(crate) fn play_games(
    seed: u64,
    games: usize,
    networks: &[LargeNetwork],
    round: u32,
) -> Vec<TrainingExample> {
    let parts = run_on_threads(games, |numbers| {
        let mut learner = Learner::new();
        for number in numbers {
            let deal = u64::from(round) << 32 | number as u64;
            learner.dice = TestRng::new(deal ^ seed.rotate_right(8));
            let players = deal_players(number);
            GamePlayers { players, networks, learner: Some(&mut learner) }.play(key(seed, deal));
        }
        learner.examples.append(&mut learner.played_on);
        learner.examples
    });
    parts.into_iter().flatten().collect()
}
