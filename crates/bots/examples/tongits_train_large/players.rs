//! The players of training games and trials, and the trials.

use bahay_bots::Ai;
use bahay_bots::arena::{Estimate, Sample};
use bahay_bots::search::{Players, play_to_end};
use bahay_bots::tongits::{DumpLimit, EnsembleJudge, Judge as _, LargeNetwork, SuitPermutation};
use bahay_engine::chance::{self, Key};
use bahay_engine::game::{Game, Outcome, Skill, Viewer};
use bahay_engine::games::tongits::{Action, Event, Rules, SEATS, Tongits, View};
use bahay_engine::seat::Seat;

use crate::learner::Learner;
use crate::run_on_threads;
use crate::training::key;

/// The value of a win to a learner beyond its counts, in counts.
const WIN_COUNTS: i64 = 16;

/// The player of a seat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlayerKind {
    Greedy,
    Quick,
    Own,
}

impl PlayerKind {
    /// Returns the skill that a learner ascribes to this player.
    const fn skill(self) -> Option<Skill> {
        match self {
            Self::Greedy => Some(Skill::Greedy),
            Self::Quick => Some(Skill::Quick),
            Self::Own => None,
        }
    }
}

/// The players by seat.
pub(crate) type SeatPlayers = [PlayerKind; SEATS as usize];

/// Returns the judge of a seat, which knows its opponents.
pub(crate) fn make_judge(
    networks: &[LargeNetwork],
    players: SeatPlayers,
    own: Seat,
) -> EnsembleJudge<'_> {
    let others = [own.next(SEATS), own.previous(SEATS)];
    let others = others.map(|other| players[other.index()].skill());
    EnsembleJudge { networks, others, win_counts: WIN_COUNTS, suits: SuitPermutation::IDENTITY }
}

/// Returns the viewer's action without exploration. Without a network, `quick` plays for the
/// learner.
pub(crate) fn choose_action(
    view: &View,
    players: SeatPlayers,
    networks: &[LargeNetwork],
    dumps: DumpLimit,
) -> Action {
    let seat = view.viewer.expect("the view belongs to a seat");
    let action = match players[seat.index()] {
        PlayerKind::Greedy => Tongits::choose_action(view),
        PlayerKind::Own if !networks.is_empty() => {
            make_judge(networks, players, seat).choose_action(view, dumps, &mut Vec::new())
        }
        PlayerKind::Quick | PlayerKind::Own => {
            Tongits::choose_action_with_skill(Skill::Quick, view)
        }
    };
    action.expect("the seat is to act")
}

/// Returns the players of a training game, with the learner's seat and its opponents in turns.
pub(crate) fn deal_players(number: usize) -> SeatPlayers {
    use PlayerKind::{Greedy, Own, Quick};
    let others = [
        [Greedy, Greedy],
        [Quick, Quick],
        [Greedy, Quick],
        [Quick, Greedy],
        [Greedy, Greedy],
        [Quick, Quick],
        [Own, Own],
        [Quick, Own],
    ];
    let [next, previous] = others[number / 3 % others.len()];
    let mut players = [Own, next, previous];
    players.rotate_right(number % 3);
    players
}

/// The players of a game. With a learner its choices are recorded, otherwise the networks play
/// without exploration.
pub(crate) struct GamePlayers<'a> {
    pub(crate) players: SeatPlayers,
    pub(crate) networks: &'a [LargeNetwork],
    pub(crate) learner: Option<&'a mut Learner>,
}

impl Players<Tongits> for GamePlayers<'_> {
    fn choose_action(&mut self, game: &Tongits, seat: Seat) -> Action {
        let view = game.view(Viewer::Seat(seat));
        match (self.players[seat.index()], &mut self.learner) {
            (PlayerKind::Own, Some(learner)) => {
                learner.choose_action(game, &view, seat, self.networks, self.players)
            }
            _ => choose_action(&view, self.players, self.networks, DumpLimit::All),
        }
    }

    fn observe_events(&mut self, events: &[Event]) {
        for event in events {
            if let (Event::Chowed { seat, .. }, Some(learner)) = (event, &mut self.learner) {
                learner.record_chow(*seat);
            }
        }
    }
}

impl GamePlayers<'_> {
    pub(crate) fn play(&mut self, deal: Key) -> Outcome {
        let game = Tongits::new(&Rules::kingdom(), SEATS, None);
        let game = play_to_end(game, &mut chance::ChanceRng::new(deal), self);
        let outcome = game.outcome().expect("a game that is over has an outcome");
        if let Some(learner) = &mut self.learner {
            learner.record_outcome(&outcome);
        }
        outcome
    }
}

/// Returns the share of wins in duplicate games against two such players, with the same deals each
/// time.
pub(crate) fn run_trial(networks: &[LargeNetwork], other: PlayerKind, games: usize) -> Estimate {
    let parts = run_on_threads(games / usize::from(SEATS), |deals| {
        let mut wins = Sample::default();
        for deal in deals {
            let won = Seat::all(SEATS).filter(|own| {
                let mut players = [other; SEATS as usize];
                players[own.index()] = PlayerKind::Own;
                let mut seated = GamePlayers { players, networks, learner: None };
                let outcome = seated.play(key(!0, deal as u64));
                outcome.winner == Some(*own)
            });
            wins.record(i64::try_from(won.count()).expect("few seats"));
        }
        wins
    });
    let mut wins = Sample::default();
    parts.iter().for_each(|part| wins.merge(part));
    wins.estimate(10_000, u32::from(SEATS)).expect("a trial has games")
}
