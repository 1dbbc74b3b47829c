//! Bots against each other: the same deals with seats rotated, and what came of them with intervals.
//!
//! A [`Contest`] is played by series, each of which follows from the seed and its number alone. So
//! series can be played in any order and on any number of threads, and their [`ContestTally`]s add up to
//! the same. Within a series there is a table for each rotation of the bots, with its own POT and
//! its own crown; all of them play the same deals one after another. What is counted is a deal with
//! all its rotations, because games of one deal are not independent of each other.
//!
//! As at a table: settlement, fee, POT and crowns, with stakes that always suffice. Otherwise than
//! at a table: who plays first is left to chance in every game, so that a deal stays the same deal
//! whoever won the one before.
//!
//! A [`Bot`] is shown what its seat is shown, and nothing else. Deliberately absent: threads, time,
//! and any knowledge of a certain game.

mod analysis;
mod bot;
mod sample;
mod search;
mod takeover;
mod tally;
mod playout;

use alloc::boxed::Box;
use alloc::vec::Vec;

use uuid::Uuid;

use crate::chance::{ChanceRng, Key};
use crate::coins::Coins;
use crate::game::{Game, Outcome, Viewer};
use crate::hex::Hex;
use crate::seat::Seat;
use crate::table::{Crown, PlayerId, Terms, TableOutcome};

pub use analysis::{JUDGED_MAX, JudgedDecision, analyze};
pub use bot::{BotPrompt, Bot, Grade, ParseGradeError};
pub use sample::{Estimate, Sample};
pub use takeover::answer_question;
pub use tally::{DealScore, ContestTally};
pub use playout::{Players, play_to_end};

/// Deals of a series: enough for crowns and POTs to come about, few enough for many threads.
pub const DEALS_PER_SERIES: u32 = 50;

/// What is played, and by whom.
#[derive(Clone, Debug)]
pub struct Contest<R> {
    pub terms: Terms<R>,
    /// One for each seat.
    pub bots: Vec<Grade>,
    /// Decides everything.
    pub seed: u64,
    /// Every deal is played once for each rotation of the bots; else once, and the bots move on.
    pub is_duplicate: bool,
}

/// A game between bots that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedGame {
    pub outcome: Outcome,
    /// The name of the ending.
    pub ending: &'static str,
}

/// What one chance stream is for.
#[derive(Clone, Copy)]
enum DiceStream {
    Deal,
    /// What the bot of this seat in this rotation draws for itself.
    Bot {
        rotation: usize,
        seat: usize,
    },
}

/// POT and crown of a table.
#[derive(Default)]
struct PotAndCrown {
    pot: Coins,
    crown: Option<Crown>,
}

impl<R: Clone> Contest<R> {
    /// How many games a series has.
    pub fn games_per_series(&self) -> u64 {
        u64::from(DEALS_PER_SERIES) * u64::try_from(self.rotations()).unwrap_or(1)
    }

    fn rotations(&self) -> usize {
        if self.is_duplicate { self.bots.len() } else { 1 }
    }

    /// Which of the bots sits at each seat.
    fn bots_by_seat(&self, deal: u64, rotation: usize) -> Vec<usize> {
        let count = self.bots.len();
        let moved = if self.is_duplicate { 0 } else { seat_shift(deal, count) };
        (0..count).map(|seat| (seat + rotation + moved) % count).collect()
    }

    /// Plays a series.
    ///
    /// # Panics
    /// When a game breaks its contract, a bot plays what is not legal, or an amount does not fit:
    /// the figures would mean nothing.
    pub fn play_series<G: Game<Rules = R>>(&self, number: u64) -> ContestTally {
        let mut tally = ContestTally::new(self.bots.len());
        let mut tables: Vec<PotAndCrown> =
            (0..self.rotations()).map(|_| PotAndCrown::default()).collect();
        let first = number * u64::from(DEALS_PER_SERIES);
        for deal in first..first + u64::from(DEALS_PER_SERIES) {
            let mut scores = alloc::vec![DealScore::default(); self.bots.len()];
            for (rotation, table) in tables.iter_mut().enumerate() {
                let seated = self.bots_by_seat(deal, rotation);
                let played = self.play_game::<G>(deal, rotation, &seated);
                self.settle::<G>(&played, &seated, table, &mut scores);
                let winner = played.outcome.winner.map(|seat| seated[seat.index()]);
                tally.record_ending(played.ending, winner);
            }
            tally.record_deal(&scores, self.rotations());
        }
        tally
    }

    /// Plays one game: this deal with the bots as they are seated.
    fn play_game<G: Game<Rules = R>>(&self, deal: u64, rotation: usize, seated: &[usize]) -> FinishedGame {
        let mut bots: Vec<Box<dyn Bot<G>>> = seated
            .iter()
            .enumerate()
            .map(|(seat, bot)| self.bots[*bot].build_bot(self.key(deal, DiceStream::Bot { rotation, seat })))
            .collect();
        let mut chance = ChanceRng::new(self.key(deal, DiceStream::Deal));
        play_game(&self.terms.rules, &mut bots, &mut chance)
    }

    /// Chapters 6 and 7 of Tong-its, as for every game: coins, POT and crown.
    fn settle<G: Game<Rules = R>>(
        &self,
        played: &FinishedGame,
        seated: &[usize],
        table: &mut PotAndCrown,
        scores: &mut [DealScore],
    ) {
        let fits = "the amounts of a contest fit";
        let seats = u8::try_from(seated.len()).expect("a table has at most eight seats");
        let players: Vec<PlayerId> = seated.iter().map(|bot| player_id(*bot)).collect();
        let stake = self.terms.stake_max::<G>(seats).expect(fits);
        let ante = self.terms.ante().expect(fits);
        let antes = ante.checked_mul(u32::from(seats)).expect(fits);
        let pot = table.pot.checked_add(antes).expect(fits);
        let stakes = alloc::vec![stake; seated.len()];
        let outcome = &played.outcome;
        let worth = TableOutcome::of::<G>(outcome, &self.terms, &stakes, pot, table.crown, &players);
        let TableOutcome { settlement, pot_after, crown_after } = worth.expect(fits);
        (table.pot, table.crown) = (pot_after, crown_after);
        for (seat, bot) in Seat::all(seats).zip(seated) {
            let score = &mut scores[*bot];
            let net = settlement.net(seat).expect(fits);
            let taken = settlement.pot.filter(|pot| pot.seat == seat);
            let from_pot = taken.map_or(0, |pot| pot.amount.hundredths());
            score.wins += i64::from(outcome.winner == Some(seat));
            score.coins += net.hundredths() - from_pot;
            score.pots += i64::from(taken.is_some());
            score.pot_coins += from_pot - ante.hundredths();
        }
    }

    fn key(&self, deal: u64, purpose: DiceStream) -> Key {
        let (kind, rotation, seat) = match purpose {
            DiceStream::Deal => (0, 0, 0),
            DiceStream::Bot { rotation, seat } => (1, rotation, seat),
        };
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&deal.to_le_bytes());
        let small = |number: usize| u8::try_from(number).expect("a table has at most eight seats");
        (key[16], key[17], key[18]) = (kind, small(rotation), small(seat));
        Key(Hex(key))
    }
}

/// Plays one game to its end.
///
/// # Panics
/// As [`Contest::play_series`].
pub fn play_game<G: Game>(rules: &G::Rules, bots: &mut [Box<dyn Bot<G>>], chance: &mut ChanceRng) -> FinishedGame {
    let seats = u8::try_from(bots.len()).expect("a table has at most eight seats");
    let game = play_to_end(G::new(rules, seats, None), chance, &mut SeatedBots(bots));
    let outcome = game.outcome().expect("a game that is over has an outcome");
    let ending = game.ending().expect("a game that is over has ended in some way");
    FinishedGame { outcome, ending }
}

/// A bot at each seat, which is shown what its seat is shown.
struct SeatedBots<'a, G: Game>(&'a mut [Box<dyn Bot<G>>]);

impl<G: Game> Players<G> for SeatedBots<'_, G> {
    fn choose_action(&mut self, game: &G, seat: Seat) -> G::Action {
        let view = game.view(Viewer::Seat(seat));
        let clock = game.default_action(seat).expect("the clock can play for who is asked");
        self.0[seat.index()].choose_action(&BotPrompt { seat, view: &view, clock: &clock })
    }

    fn observe_events(&mut self, events: &[G::Event]) {
        let seats = u8::try_from(self.0.len()).expect("a table has at most eight seats");
        for (seat, bot) in Seat::all(seats).zip(self.0.iter_mut()) {
            for event in events.iter().filter_map(|event| G::redact(event, Viewer::Seat(seat))) {
                bot.observe_event(&event);
            }
        }
    }
}

/// Bots are told apart at a table as players are.
fn player_id(bot: usize) -> PlayerId {
    PlayerId(Uuid::from_u128(bot as u128))
}

fn seat_shift(deal: u64, count: usize) -> usize {
    let count = u64::try_from(count).expect("a table has at most eight seats");
    usize::try_from(deal % count).expect("a table has at most eight seats")
}

#[cfg(test)]
mod tests;
