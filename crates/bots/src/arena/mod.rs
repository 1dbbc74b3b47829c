//! The arena: bots against each other on rotated deals, and the results with confidence intervals.
//!
//! A [`Contest`] is divided into series, each determined by the seed and its number alone. Series
//! can therefore be played in any order and on any number of threads, and their [`ContestTally`]s
//! merge to the same result. Within a series there is one table per rotation of the bots, with its
//! own POT and crown; all tables play the same sequence of deals. The unit of observation is a deal
//! with all its rotations, because games of one deal are not independent of each other.
//!
//! Settlement, fee, POT and crown work as at a real table, with stakes that always suffice. There
//! is one difference: the starter of every game is drawn at random, so that a deal is the same at
//! every table, whoever won the game before.
//!
//! A [`Bot`] sees only what its seat sees. Deliberately absent: threads, time, and knowledge of any
//! particular game.

mod rank_correlation;
mod sample;
mod split_half;
mod tally;

use alloc::boxed::Box;
use alloc::vec::Vec;

use uuid::Uuid;

use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameRules, Outcome, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Crown, PlayerId, TableOutcome, Terms};

use crate::ai::Ai;
use crate::search::{Bot, BotPrompt, Grade, Players, play_to_end};

pub use rank_correlation::{CORRELATION_MAX, rank_correlation};
pub use sample::{Estimate, Sample, format_hundredths};
pub use split_half::{Reliability, SplitHalf};
pub use tally::{ContestTally, DealScore};

/// The number of deals in a series: enough for crowns and POTs to come about, few enough to spread
/// over many threads.
pub const DEALS_PER_SERIES: u32 = 50;

/// The terms and the players of a comparison.
#[derive(Clone, Debug)]
pub struct Contest<R> {
    pub terms: Terms<R>,
    /// The bots, one per seat.
    pub bots: Vec<Grade>,
    /// The seed of all deals and of all bots.
    pub seed: u64,
    /// Plays every deal once for each rotation of the bots; otherwise every deal is played once and
    /// the bots rotate from deal to deal.
    pub is_duplicate: bool,
}

/// The result of a finished game between bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedGame {
    pub outcome: Outcome,
    /// The name of the ending.
    pub ending: &'static str,
}

/// The random stream of a deal.
const DEAL: [u8; 3] = [0; 3];

/// The POT and the crown of a table.
#[derive(Default)]
struct PotAndCrown {
    pot: Coins,
    crown: Option<Crown>,
}

impl<R: Clone + GameRules> Contest<R> {
    /// Returns the number of games in a series.
    pub fn games_per_series(&self) -> u64 {
        u64::from(DEALS_PER_SERIES) * u64::try_from(self.rotations()).unwrap_or(1)
    }

    fn rotations(&self) -> usize {
        if self.is_duplicate { self.bots.len() } else { 1 }
    }

    /// Returns the index of the bot at each seat.
    fn bots_by_seat(&self, deal: u64, rotation: usize) -> Vec<usize> {
        let count = self.bots.len();
        let places = u64::try_from(count).expect("a table has at most eight seats");
        let shift = usize::try_from(deal % places).expect("a table has at most eight seats");
        let moved = if self.is_duplicate { 0 } else { shift };
        (0..count).map(|seat| (seat + rotation + moved) % count).collect()
    }

    /// Plays a series.
    ///
    /// # Panics
    ///
    /// Panics if a game breaks its contract, a bot plays an illegal action, or an amount overflows:
    /// the figures would be meaningless.
    pub fn play_series<G: Ai<Rules = R>>(&self, number: u64) -> ContestTally {
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

    /// Plays one deal with the bots at the given seats.
    fn play_game<G: Ai<Rules = R>>(
        &self,
        deal: u64,
        rotation: usize,
        seated: &[usize],
    ) -> FinishedGame {
        let mut bots: Vec<Box<dyn Bot<G>>> = seated
            .iter()
            .enumerate()
            .map(|(seat, bot)| {
                let small =
                    |number: usize| u8::try_from(number).expect("a table has at most eight seats");
                let key = self.key(deal, [1, small(rotation), small(seat)]);
                self.bots[*bot].build_bot(key)
            })
            .collect();
        let mut chance = ChanceRng::new(self.key(deal, DEAL));
        play_game(&self.terms.rules, &mut bots, &mut chance)
    }

    /// Settles a game's coins, POT and crown (chapters 6 and 7 of Tong-its, which apply to every
    /// game).
    fn settle<G: Ai<Rules = R>>(
        &self,
        played: &FinishedGame,
        seated: &[usize],
        table: &mut PotAndCrown,
        scores: &mut [DealScore],
    ) {
        let fits = "the amounts of a contest fit";
        let seats = u8::try_from(seated.len()).expect("a table has at most eight seats");
        // A table tells players apart by id.
        let player = |bot: &usize| PlayerId(Uuid::from_u128(*bot as u128));
        let players: Vec<PlayerId> = seated.iter().map(player).collect();
        let stake = self.terms.stake_max(seats).expect(fits);
        let ante = self.terms.ante().expect(fits);
        let antes = ante.checked_mul(u32::from(seats)).expect(fits);
        let pot = table.pot.checked_add(antes).expect(fits);
        let stakes = alloc::vec![stake; seated.len()];
        let outcome = &played.outcome;
        let worth =
            TableOutcome::compute::<G>(outcome, &self.terms, &stakes, pot, table.crown, &players);
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

    /// Returns the key of a random stream: [`DEAL`], or of a bot by 1, its rotation and its seat.
    fn key(&self, deal: u64, purpose: [u8; 3]) -> Key {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&deal.to_le_bytes());
        key[16..19].copy_from_slice(&purpose);
        Key(Hex(key))
    }
}

/// Plays one game to its end.
///
/// # Panics
///
/// Panics under the conditions of [`Contest::play_series`].
pub fn play_game<G: Game>(
    rules: &G::Rules,
    bots: &mut [Box<dyn Bot<G>>],
    chance: &mut ChanceRng,
) -> FinishedGame {
    let seats = u8::try_from(bots.len()).expect("a table has at most eight seats");
    let game = play_to_end(G::new(rules, seats, None), chance, &mut SeatedBots(bots));
    let outcome = game.outcome().expect("a game that is over has an outcome");
    let ending = game.ending().expect("a game that is over has an ending");
    FinishedGame { outcome, ending }
}

/// Bots by seat, each restricted to the events visible to its seat.
struct SeatedBots<'a, G: Game>(&'a mut [Box<dyn Bot<G>>]);

impl<G: Game> Players<G> for SeatedBots<'_, G> {
    fn choose_action(&mut self, game: &G, seat: Seat) -> G::Action {
        let view = game.view(Viewer::Seat(seat));
        let clock = game.default_action(seat).expect("the clock can act for the seat to act");
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

#[cfg(test)]
mod tests;
