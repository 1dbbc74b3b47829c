//! Who plays a game that is learned from or that is a trial, and the trials.

use bahay_engine::arena::{Estimate, Players, Sample, walk};
use bahay_engine::chance::{self, Key};
use bahay_engine::game::{Game, Outcome, Skill, Viewer};
use bahay_engine::games::tongits::{
    Action, Against, Dumps, Event, Judge, Large, Rules, SEATS, Suits, Tongits, View,
};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;

use crate::learner::Learner;
use crate::on_threads;

/// What a win is worth to a learner beside its counts, in counts.
const WIN_COUNTS: i64 = 16;

/// Who plays a seat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Greedy,
    Quick,
    Own,
}

impl Who {
    /// What a learner knows of it.
    const fn skill(self) -> Option<Skill> {
        match self {
            Self::Greedy => Some(Skill::Greedy),
            Self::Quick => Some(Skill::Quick),
            Self::Own => None,
        }
    }
}

/// By seat.
pub(crate) type Seats = [Who; SEATS as usize];

/// What the networks say for a seat, which knows whom it plays against.
pub(crate) fn judge(networks: &[Large], players: Seats, own: Seat) -> Against<'_> {
    let others = [own.next(SEATS), own.previous(SEATS)];
    let others = others.map(|other| players[other.index()].skill());
    Against { networks, others, win_counts: WIN_COUNTS, suits: Suits::KEPT }
}

/// What the viewer plays without any chance. Where there is no network yet, `quick` plays for it.
pub(crate) fn advise(view: &View, players: Seats, networks: &[Large], dumps: Dumps) -> Action {
    let seat = view.viewer.expect("a seat looks");
    let action = match players[seat.index()] {
        Who::Greedy => Tongits::advise(view),
        Who::Own if !networks.is_empty() => {
            judge(networks, players, seat).advise(view, dumps, &mut Vec::new())
        }
        Who::Quick | Who::Own => Tongits::advise_by(Skill::Quick, view),
    };
    action.expect("it is to act")
}

/// The learner's seat in turns, and whom it plays against.
pub(crate) fn seated(number: usize) -> Seats {
    use Who::{Greedy, Own, Quick};
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

/// Who plays a game; whose choices are learned from notes them, else the networks play without
/// chance.
pub(crate) struct Seated<'a> {
    pub(crate) players: Seats,
    pub(crate) networks: &'a [Large],
    pub(crate) learner: Option<&'a mut Learner>,
}

impl Players<Tongits> for Seated<'_> {
    fn choose(&mut self, game: &Tongits, seat: Seat) -> Action {
        let view = game.view(Viewer::Seat(seat));
        match (self.players[seat.index()], &mut self.learner) {
            (Who::Own, Some(learner)) => {
                learner.choose(game, &view, seat, self.networks, self.players)
            }
            _ => advise(&view, self.players, self.networks, Dumps::All),
        }
    }

    fn hear(&mut self, events: &[Event]) {
        for event in events {
            if let (Event::Chowed { seat, .. }, Some(learner)) = (event, &mut self.learner) {
                learner.note_chow(*seat);
            }
        }
    }
}

impl Seated<'_> {
    pub(crate) fn play(&mut self, deal: Key) -> Outcome {
        let game = Tongits::new(&Rules::kingdom(), SEATS, None);
        let game = walk(game, &mut chance::Dice::new(deal), self);
        let outcome = game.outcome().expect("a game that is over has an outcome");
        if let Some(learner) = &mut self.learner {
            learner.end(&outcome);
        }
        outcome
    }
}

pub(crate) fn key(seed: u64, number: u64) -> Key {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    Key(Hex(key))
}

/// Share of wins in duplicate games against two of these: the same deals each time.
pub(crate) fn trial(networks: &[Large], other: Who, games: usize) -> Estimate {
    let parts = on_threads(games / usize::from(SEATS), |deals| {
        let mut wins = Sample::default();
        for deal in deals {
            let won = Seat::all(SEATS).filter(|own| {
                let mut players = [other; SEATS as usize];
                players[own.index()] = Who::Own;
                let mut seated = Seated { players, networks, learner: None };
                let outcome = seated.play(key(!0, deal as u64));
                outcome.winner == Some(*own)
            });
            wins.note(i64::try_from(won.count()).expect("few seats"));
        }
        wins
    });
    let mut wins = Sample::default();
    parts.iter().for_each(|part| wins.add(part));
    wins.estimate(10_000, u32::from(SEATS)).expect("a trial has games")
}
