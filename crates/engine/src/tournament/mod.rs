//! A tournament: players register, play at tables for points, and receive prizes by their places, as
//! a state machine without I/O, clock or randomness.
//!
//! A tournament receives an [`Input`] with its time and returns a [`Transition`]: the line for its
//! journal, the tournament after it, and the events for its public list of results. Otherwise it
//! returns a [`Rejection`] and has not changed. [`Tournament::apply_line`] is the only function that
//! changes a tournament, so replaying a journal reproduces it bit for bit. Chance follows from a
//! seed that the announcement commits to (rule 2.3), so no line carries entropy.
//!
//! The host asks for the next [`Tournament::deadline`] and for the [`Tournament::effects`] that are
//! due: transfers for the ledger, tables to open or to end, and ticks. Effects are derived from the
//! state and never queued, so any process can run them again until the answer is in the journal.
//! The balance of the tournament's account follows from the answers and is zero at the close (rule
//! 6.7).
//!
//! Tables, wallets, connections, codes of private tournaments and schedules are deliberately absent.

mod arena;
mod bots;
mod cancel;
mod check;
mod clock;
mod deals;
mod duplicate;
mod effect;
mod entrant;
mod event;
mod id;
mod input;
mod lots;
mod money;
mod phase;
mod presets;
mod prizes;
mod rejection;
mod rounds;
mod seating;
mod standings;
mod step;
mod tables;
mod terms;
mod transfer;

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::chance::{Commitment, ServerSeed};
use crate::coins::Coins;
use crate::table::{PlayerId, Timestamp};

pub use deals::RoundDeals;
pub use duplicate::deal_score;
pub use effect::{Effect, RETRY_MS, SharedDeal, TableSeating};
pub use entrant::{Entrant, EntrantState, Standing};
pub use event::{Event, FinalPlace, GroupMember, Refund, ResultLine, SeatedTable};
pub use id::{TableNumber, TournamentId};
pub use input::{CancelReason, GameScore, Input, Line};
pub use money::Pool;
pub use phase::Phase;
pub use presets::{Preset, presets};
pub use rejection::Rejection;
pub use standings::{StandingChange, StandingRow};
pub use step::Transition;
pub use terms::{
    DURATION_MAX_MS, ENTRANTS_MAX, EntrantLimits, EntryPrice, Format, GUARANTEE_MAX,
    NAME_BYTES_MAX, PRICE_MAX, PayoutStep, ROUNDS_MAX, SHARE_MAX, STAGES_MAX, Stage, TermsError,
    TournamentGame, TournamentTerms,
};
pub use transfer::{Direction, Payment, Transfer, TransferKey};

use entrant::Entrants;
use tables::Tables;
use transfer::Account;

/// A tournament as a value. Copies share the parts that rarely change.
#[derive(Clone, Debug, PartialEq)]
pub struct Tournament {
    id: TournamentId,
    terms: Arc<TournamentTerms>,
    /// The secret of all draws, published when the tournament is over.
    seed: ServerSeed,
    entrants: Entrants,
    phase: Phase,
    /// The end of the registration of a tournament that has started.
    late_until: Timestamp,
    /// The index of the stage, and the number of the round in it.
    stage: u32,
    round_of_stage: u32,
    /// The number of the last round that has begun, from 1.
    round: u32,
    /// The numbers of entrants by group of the stage.
    group_sizes: Vec<u32>,
    /// The number of the last table of the round.
    last_table: u32,
    /// The tables of the round, or those in play of an arena tournament.
    tables: Tables,
    /// The entrants without a table in the round.
    byes: Vec<u32>,
    /// The entrants of an arena tournament who wait for a table.
    waiting: BTreeSet<u32>,
    /// The pool, once registration is closed.
    pool: Option<Arc<Pool>>,
    /// The sum of the prizes of the places that are final, and the number of those prizes.
    given: Coins,
    prizes_given: u32,
    /// The number of games that have been scored.
    games_scored: u32,
    account: Account,
    /// The time since which there have always been effects without an answer.
    asked_since: Option<Timestamp>,
    /// The time of the last line; the tournament's clock never runs backwards.
    at: Timestamp,
}

impl Tournament {
    /// Announces a tournament. The terms have been checked ([`TournamentTerms::check`]); the seed
    /// is unpredictable and secret.
    pub fn new(id: TournamentId, terms: TournamentTerms, seed: ServerSeed) -> Self {
        Self {
            id,
            terms: Arc::new(terms),
            seed,
            entrants: Entrants::default(),
            phase: Phase::Announced,
            late_until: Timestamp::default(),
            stage: 0,
            round_of_stage: 0,
            round: 0,
            group_sizes: Vec::new(),
            last_table: 0,
            tables: Tables::default(),
            byes: Vec::new(),
            waiting: BTreeSet::new(),
            pool: None,
            given: Coins::ZERO,
            prizes_given: 0,
            games_scored: 0,
            account: Account::default(),
            asked_since: None,
            at: Timestamp::default(),
        }
    }

    /// Returns the first line of the list of results (rule 8.1).
    pub fn announcement(&self) -> Event {
        let terms = Arc::clone(&self.terms);
        Event::Announced { tournament: self.id, terms, commitment: self.commitment() }
    }

    pub fn id(&self) -> TournamentId {
        self.id
    }

    pub fn terms(&self) -> &TournamentTerms {
        &self.terms
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the number of the last round that has begun, from 1; 0 before the first.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Returns the commitment to the seed of all draws (rule 2.3).
    pub fn commitment(&self) -> Commitment {
        self.seed.commitment()
    }

    /// Returns the secret seed of all draws. It leaves the process only when the tournament is over.
    pub fn draw_seed(&self) -> &ServerSeed {
        &self.seed
    }

    /// Returns the balance of the tournament's account after the transfers that the ledger has
    /// confirmed.
    pub fn balance(&self) -> Coins {
        self.account.balance()
    }

    /// Returns the pool, once registration is closed.
    pub fn pool(&self) -> Option<&Pool> {
        self.pool.as_deref()
    }

    /// Returns the transfers that the ledger has not confirmed.
    pub fn pending_transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.account.pending()
    }

    /// Returns whether the tournament is over and everything is paid, so that its account is
    /// closed.
    pub fn is_settled(&self) -> bool {
        self.phase.is_over() && !self.account.has_pending()
    }

    pub fn entrant(&self, player: PlayerId) -> Option<&Entrant> {
        self.entrants.place_of(player).map(|place| self.at_place(place))
    }

    /// Iterates over everybody who has registered, in the order of the first registration.
    pub fn entrants(&self) -> impl Iterator<Item = &Entrant> {
        self.entrants.iter()
    }

    /// Returns whether the player has registered and not withdrawn.
    pub fn is_registered(&self, player: PlayerId) -> bool {
        self.entrant(player).is_some_and(|entrant| entrant.state() != EntrantState::Withdrawn)
    }

    /// Returns the number of entries, with those that the ledger has not confirmed.
    pub fn entrant_count(&self) -> u32 {
        self.entrants.registered()
    }

    /// Returns the table at which the player plays.
    pub fn table_of(&self, player: PlayerId) -> Option<TableNumber> {
        self.entrant(player)?.table
    }

    fn count_entrants(&self, is_meant: impl Fn(&Entrant) -> bool) -> u32 {
        let count = self.entrants.iter().filter(|entrant| is_meant(entrant)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn find_entrant(&self, player: PlayerId) -> Result<(u32, &Entrant), Rejection> {
        let place = self.entrants.place_of(player).ok_or(Rejection::NotRegistered)?;
        let entrant = self.at_place(place);
        let is_there = entrant.state() != EntrantState::Withdrawn;
        if is_there { Ok((place, entrant)) } else { Err(Rejection::NotRegistered) }
    }

    fn at_place(&self, place: u32) -> &Entrant {
        self.entrants.get(place)
    }

    fn at_place_mut(&mut self, place: u32) -> &mut Entrant {
        self.entrants.get_mut(place)
    }

    /// Returns the places in the list of the entrants who meet the condition.
    fn places_where(&self, is_meant: impl Fn(&Entrant) -> bool) -> Vec<u32> {
        (0..)
            .zip(self.entrants.iter())
            .filter(|(_, entrant)| is_meant(entrant))
            .map(|(at, _)| at)
            .collect()
    }

    /// Orders entrants by their standing, the best first; equal ones by their registration.
    fn rank(&self, places: &mut [u32]) {
        let key = |place: &u32| (core::cmp::Reverse(self.at_place(*place).standing), *place);
        places.sort_by_key(key);
    }
}
