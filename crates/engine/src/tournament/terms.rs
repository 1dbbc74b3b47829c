//! The terms of a tournament: its game, format, entry, prizes and times, as data.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::catalog::AnyRules;
use crate::coins::Coins;
use crate::game::{GameRules as _, require};
use crate::table::{Clocks, Timestamp};

/// The maximum number of entrants.
pub const ENTRANTS_MAX: u32 = 20_000;

/// The maximum number of rounds of a stage, and of games of a round.
pub const ROUNDS_MAX: u32 = 100;

/// The maximum number of stages of a knock-out.
pub const STAGES_MAX: usize = 16;

/// The maximum number of bytes of a tournament's name.
pub const NAME_BYTES_MAX: usize = 80;

/// The maximum of a buy-in or a fee: a million coins.
pub const PRICE_MAX: Coins = Coins::from_hundredths(100_000_000);

/// The maximum of a guarantee: a thousand million coins.
pub const GUARANTEE_MAX: Coins = Coins::from_hundredths(100_000_000_000);

/// The maximum weight of a share of the pool.
pub const SHARE_MAX: u32 = 1_000_000;

/// The maximum duration in the terms: a day, in milliseconds.
pub const DURATION_MAX_MS: u32 = 24 * 60 * 60 * 1_000;

/// Terms by which no tournament can be played, with the invalid field and its requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermsError {
    /// The path of the field in the JSON of the terms.
    pub field: &'static str,
    pub message: &'static str,
}

impl core::fmt::Display for TermsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl core::error::Error for TermsError {}

/// The terms that a tournament is played under. [`TournamentTerms::check`] validates them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TournamentTerms {
    pub name: String,
    pub game: TournamentGame,
    pub format: Format,
    pub entrants: EntrantLimits,
    pub entry: EntryPrice,
    /// The minimum of the pool, which the house completes (rule 6.3).
    pub guarantee: Coins,
    /// The shares of the places, in steps by the number of entrants (rule 6.4).
    pub payouts: Vec<PayoutStep>,
    /// The time of the start; absent for a sit-and-go, which starts when it is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    /// The time after the start in which players may still register (rule 1.5).
    pub late_registration_ms: u32,
    /// The time between the end of a round and the next one.
    pub break_ms: u32,
    /// True if only players with a code may register.
    pub is_private: bool,
    /// True if house bots complete the entrants, without prizes (rule 1.7).
    pub bots: bool,
    /// The time for which the first player of a sit-and-go waits before house bots complete it; zero
    /// in all other tournaments.
    #[serde(default)]
    pub bots_after_ms: u32,
}

/// The game of a tournament's tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GameDocument")]
pub struct TournamentGame {
    /// The name of the game, such as `tongits`.
    kind: String,
    pub rules: AnyRules,
    /// The number of players of each table.
    pub seats: u8,
    /// The bet of a table, in hundredths of a point.
    pub bet: Coins,
    pub clocks: Clocks,
}

/// The document of a [`TournamentGame`], whose rules can be read once the kind is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GameDocument {
    kind: String,
    rules: serde_json::Value,
    seats: u8,
    bet: Coins,
    clocks: Clocks,
}

impl TryFrom<GameDocument> for TournamentGame {
    type Error = serde_json::Error;

    fn try_from(document: GameDocument) -> Result<Self, Self::Error> {
        let GameDocument { kind, rules, seats, bet, clocks } = document;
        let rules = AnyRules::read(&kind, rules)?;
        Ok(Self { kind, rules, seats, bet, clocks })
    }
}

impl TournamentGame {
    /// Creates the game of tables of `seats` players with a bet of one point.
    pub fn new(rules: AnyRules, seats: u8) -> Self {
        let kind = rules.kind().into();
        Self { kind, rules, seats, bet: Coins::from_hundredths(100), clocks: Clocks::default() }
    }

    pub fn kind(&self) -> &str {
        &self.kind
    }
}

/// The way in which a tournament is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Format {
    /// The tournament starts when it is full, and the winner of each table advances (rule 3.1).
    SitAndGo {
        /// The number of games of a table.
        games: u32,
    },
    /// Stages of rounds by points, each but the last with a cut (rule 3.2).
    KnockOut { stages: Vec<Stage> },
    /// Single games against waiting players for a fixed time (rule 4.1).
    Arena {
        duration_ms: u32,
        /// The time between two pairings of the waiting players.
        pairing_ms: u32,
    },
    /// Rounds in which all tables play the same deals (rule 5.1).
    Duplicate { rounds: u32, games: u32 },
}

/// A stage of a knock-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The number of groups, within which tables are drawn and the cut is made.
    pub groups: u32,
    pub rounds: u32,
    /// The number of games of a round.
    pub games: u32,
    /// The number of players of all groups who advance; 0 in the last stage.
    pub advance: u32,
}

/// The bounds on the number of entrants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntrantLimits {
    /// The minimum at the start; with fewer the tournament is cancelled.
    pub least: u32,
    pub most: u32,
}

/// The price of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryPrice {
    /// The part of the price that goes into the pool.
    pub buy_in: Coins,
    /// The part of the price that the house keeps.
    pub fee: Coins,
    /// True if a player may enter by a pass instead of coins (rule 1.6).
    pub accepts_passes: bool,
}

impl EntryPrice {
    /// Returns the price in coins. Checked terms keep it within 64 bits.
    pub fn price(&self) -> Coins {
        self.buy_in.checked_add(self.fee).unwrap_or(PRICE_MAX)
    }
}

/// The shares of the places from a number of entrants on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayoutStep {
    /// The least number of entrants, without bots, to which the step applies.
    pub entrants_from: u32,
    /// The weights of the places, from the first; never ascending.
    pub shares: Vec<u32>,
}

impl TournamentTerms {
    /// Checks that a tournament can be played by these terms.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn check(&self) -> Result<(), TermsError> {
        let name = &self.name;
        ensure(
            !name.trim().is_empty() && name.len() <= NAME_BYTES_MAX,
            "name",
            "it has 1 to 80 bytes",
        )?;
        self.check_game()?;
        self.check_entrants()?;
        self.check_format()?;
        self.check_times()?;
        self.check_money()
    }

    fn check_game(&self) -> Result<(), TermsError> {
        let game = &self.game;
        ensure(game.rules.check().is_ok(), "game.rules", "no game can be dealt by these rules")?;
        let seats = game.rules.seats();
        ensure(seats.contains(game.seats), "game.seats", "the rules have no such table")?;
        ensure(game.bet > Coins::ZERO, "game.bet", "it is above zero")?;
        ensure(game.bet <= PRICE_MAX, "game.bet", "it is at most a million points")
    }

    fn check_entrants(&self) -> Result<(), TermsError> {
        let EntrantLimits { least, most } = self.entrants;
        let seats = u32::from(self.game.seats);
        ensure(least >= seats, "entrants.least", "it fills a table at least")?;
        ensure(most >= least, "entrants.most", "it is not below entrants.least")?;
        ensure(most <= ENTRANTS_MAX, "entrants.most", "it is at most 20000")
    }

    fn check_format(&self) -> Result<(), TermsError> {
        let seats = u32::from(self.game.seats);
        match &self.format {
            Format::SitAndGo { games } => {
                check_count(*games, "format.games")?;
                let EntrantLimits { least, most } = self.entrants;
                ensure(least == most, "entrants.least", "a sit-and-go starts when it is full")?;
                let is_power = powers_of(seats).any(|power| power == most);
                ensure(is_power, "entrants.most", "it is a power of the seats of a table")
            }
            Format::KnockOut { stages } => {
                let count = stages.len();
                let field = "format.stages";
                ensure((1..=STAGES_MAX).contains(&count), field, "there are 1 to 16 stages")?;
                let mut before = self.entrants.most;
                for (number, stage) in stages.iter().enumerate() {
                    check_count(stage.rounds, "format.stages.rounds")?;
                    check_count(stage.games, "format.stages.games")?;
                    let group_field = "format.stages.groups";
                    let has_groups = (1..=ENTRANTS_MAX).contains(&stage.groups);
                    ensure(has_groups, group_field, "there is at least one group")?;
                    let cut_field = "format.stages.advance";
                    if number + 1 == count {
                        ensure(stage.advance == 0, cut_field, "nobody advances from the last")?;
                        ensure(stage.groups == 1, group_field, "the last stage has one group")?;
                        continue;
                    }
                    ensure(stage.advance >= seats, cut_field, "it fills a table at least")?;
                    ensure(stage.advance < before, cut_field, "each stage has fewer players")?;
                    let is_even = stage.advance.is_multiple_of(stage.groups);
                    ensure(is_even, cut_field, "as many advance from each group")?;
                    before = stage.advance;
                }
                Ok(())
            }
            Format::Arena { duration_ms, pairing_ms } => {
                let has_time = (10_000..=DURATION_MAX_MS).contains(duration_ms);
                ensure(has_time, "format.duration_ms", "it is ten seconds to a day")?;
                let has_pause = (500..=60_000).contains(pairing_ms);
                ensure(has_pause, "format.pairing_ms", "it is half a second to a minute")
            }
            Format::Duplicate { rounds, games } => {
                check_count(*rounds, "format.rounds")?;
                check_count(*games, "format.games")
            }
        }
    }

    fn check_times(&self) -> Result<(), TermsError> {
        let is_sit_and_go = matches!(self.format, Format::SitAndGo { .. });
        let has_start = self.starts_at.is_some() != is_sit_and_go;
        ensure(has_start, "starts_at", "a sit-and-go has none, and every other tournament one")?;
        let field = "late_registration_ms";
        let late = self.late_registration_ms;
        ensure(late <= DURATION_MAX_MS, field, "it is at most a day")?;
        let is_possible = match &self.format {
            Format::SitAndGo { .. } => late == 0,
            Format::Arena { duration_ms, .. } => late < *duration_ms,
            Format::KnockOut { .. } | Format::Duplicate { .. } => true,
        };
        ensure(is_possible, field, "a sit-and-go has none, and an arena less than its duration")?;
        ensure(self.break_ms <= DURATION_MAX_MS, "break_ms", "it is at most a day")?;
        let field = "bots_after_ms";
        ensure(self.bots_after_ms <= DURATION_MAX_MS, field, "it is at most a day")?;
        let waits = is_sit_and_go && self.bots;
        ensure(waits || self.bots_after_ms == 0, field, "only a sit-and-go with bots has one")
    }

    fn check_money(&self) -> Result<(), TermsError> {
        let EntryPrice { buy_in, fee, accepts_passes } = self.entry;
        let is_price = |coins: Coins| (Coins::ZERO..=PRICE_MAX).contains(&coins);
        ensure(is_price(buy_in), "entry.buy_in", "it is 0 to a million coins")?;
        ensure(is_price(fee), "entry.fee", "it is 0 to a million coins")?;
        let is_free = buy_in.is_zero() && fee.is_zero();
        let passes_field = "entry.accepts_passes";
        ensure(!accepts_passes || !is_free, passes_field, "a free entry needs no pass")?;
        let has_guarantee = (Coins::ZERO..=GUARANTEE_MAX).contains(&self.guarantee);
        ensure(has_guarantee, "guarantee", "it is 0 to a thousand million coins")?;
        let has_pool = !buy_in.is_zero() || !self.guarantee.is_zero();
        ensure(has_pool || self.payouts.is_empty(), "payouts", "there is nothing to pay")?;
        ensure(!has_pool || !self.payouts.is_empty(), "payouts", "the pool has no shares")?;
        let mut from = 0;
        for (number, step) in self.payouts.iter().enumerate() {
            let field = "payouts.entrants_from";
            let ascends =
                if number == 0 { step.entrants_from == 0 } else { step.entrants_from > from };
            ensure(ascends, field, "steps ascend from 0")?;
            from = step.entrants_from;
            let field = "payouts.shares";
            let has_places = (1..=ENTRANTS_MAX as usize).contains(&step.shares.len());
            ensure(has_places, field, "each step has shares")?;
            let is_share = |share: &u32| (1..=SHARE_MAX).contains(share);
            ensure(step.shares.iter().all(is_share), field, "a share is 1 to 1000000")?;
            ensure(step.shares.is_sorted_by(|a, b| a >= b), field, "shares do not ascend")?;
        }
        Ok(())
    }

    /// Returns the stages of a tournament by rounds; empty for an arena tournament.
    pub fn stages(&self) -> Vec<Stage> {
        let seats = u32::from(self.game.seats);
        match &self.format {
            Format::SitAndGo { games } => {
                let tables = |players: u32| players / seats;
                let players = |power: u32| (power <= self.entrants.most).then_some(power);
                let powers = powers_of(seats).map_while(players);
                let stage = |players| {
                    let groups = tables(players);
                    let advance = if groups == 1 { 0 } else { groups };
                    Stage { groups, rounds: 1, games: *games, advance }
                };
                let mut stages: Vec<Stage> = powers.map(stage).collect();
                stages.reverse();
                stages
            }
            Format::KnockOut { stages } => stages.clone(),
            Format::Arena { .. } => Vec::new(),
            Format::Duplicate { rounds, games } => {
                [Stage { groups: 1, rounds: *rounds, games: *games, advance: 0 }].into()
            }
        }
    }
}

/// Returns the powers of a number of seats, from the first, below 32 bits.
fn powers_of(seats: u32) -> impl Iterator<Item = u32> {
    core::iter::successors(Some(seats), move |power| power.checked_mul(seats.max(2)))
}

fn check_count(count: u32, field: &'static str) -> Result<(), TermsError> {
    ensure((1..=ROUNDS_MAX).contains(&count), field, "it is 1 to 100")
}

fn ensure(holds: bool, field: &'static str, message: &'static str) -> Result<(), TermsError> {
    require(holds, TermsError { field, message })
}
