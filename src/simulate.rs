//! `bahay simulate`: bots at a table in virtual time, without a network or a database. The same
//! seed gives the same numbers.

use std::collections::BTreeMap;
use std::io::Write;

use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::{Ending, Event};
use bahay_engine::table::simulation::{Habits, Happened, Simulation};
use bahay_engine::table::{By, Event as TableEvent, Fault, Record};

use crate::lobby::Room;
use crate::tables::catalog::Tongits;

/// What a new player brings.
const WELCOME_COINS: i64 = 1_000_000;

/// What to simulate.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Simulate {
    /// How many games.
    #[arg(long, default_value_t = 1_000)]
    pub games: u64,

    /// Decides everything: the deals, and what players do.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Players who go silent, lose their connection, leave, and send nonsense.
    #[arg(long)]
    pub rough: bool,
}

/// Why the numbers are not to be trusted.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    #[error("game {game} does not verify: {fault}")]
    Record { game: u64, fault: Fault },
    #[error("{0} coins are missing")]
    Coins(Coins),
    #[error("the house has no rooms")]
    NoRoom,
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

#[derive(Default)]
struct Tally {
    games: u64,
    endings: BTreeMap<Ending, u64>,
    fights_challenged: u64,
    burned: u64,
    points: u64,
    actions: BTreeMap<&'static str, u64>,
    gross: Coins,
    fees: Coins,
    pots: u64,
    pot_coins: Coins,
    play_ms: u64,
}

/// Plays, checks every record, and writes what came of it.
pub fn run(what: Simulate, rooms: &[Room], out: &mut impl Write) -> Result<(), SimulateError> {
    let room = rooms.first().ok_or(SimulateError::NoRoom)?;
    let habits = if what.rough { Habits::ROUGH } else { Habits::default() };
    let welcome = Coins::from_whole(WELCOME_COINS).unwrap_or_default();
    let mut house = Simulation::<Tongits>::new(what.seed, room.terms().clone(), habits, welcome);
    let mut tally = Tally::default();
    while tally.games < what.games {
        let happened = house.step();
        tally.add_events(&happened);
        if let Some(record) = &happened.record {
            tally.add_record(record);
            let fault = |fault| SimulateError::Record { game: tally.games, fault };
            record.verify().map_err(fault)?;
        }
        if !house.missing().is_zero() {
            return Err(SimulateError::Coins(house.missing()));
        }
    }
    let refused = house.refused();
    tally.write(what, room, refused, out)?;
    Ok(())
}

impl Tally {
    fn add_events(&mut self, happened: &Happened<Tongits>) {
        for event in &happened.events {
            let TableEvent::Game { event } = event else {
                continue;
            };
            match event {
                Event::Over { ending, showdown, .. } => {
                    *self.endings.entry(*ending).or_default() += 1;
                    if *ending == Ending::Fight && showdown.len() > 1 {
                        self.fights_challenged += 1;
                    }
                }
                Event::Shown { hands } => {
                    self.burned += hands.iter().map(|shown| u64::from(shown.burned)).sum::<u64>();
                    self.points += hands.iter().map(|shown| u64::from(shown.points)).sum::<u64>();
                }
                _ => {}
            }
        }
    }

    fn add_record(&mut self, record: &Record<Tongits>) {
        self.games += 1;
        self.play_ms += record.finished_at.ms_since(record.opened_at);
        for taken in &record.actions {
            let by = match taken.by {
                By::Player => "players",
                By::Clock => "the clock",
                By::Ai => "the AI",
            };
            *self.actions.entry(by).or_default() += 1;
        }
        for fee in &record.settlement.fees {
            self.gross = self.gross.checked_add(fee.gross).unwrap_or_default();
            self.fees = self.fees.checked_add(fee.fee).unwrap_or_default();
        }
        if let Some(pot) = record.settlement.pot {
            self.pots += 1;
            self.pot_coins = self.pot_coins.checked_add(pot.amount).unwrap_or_default();
        }
    }

    fn write(
        &self,
        what: Simulate,
        room: &Room,
        refused: u64,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let share = |part: u64| {
            // Tenths of a percent, rounded down.
            let tenths = part.saturating_mul(1_000) / self.games.max(1);
            format!("{}.{} %", tenths / 10, tenths % 10)
        };
        writeln!(
            out,
            "{} games of Tong-its in the {} room, seed {}",
            self.games,
            room.id(),
            what.seed
        )?;
        writeln!(out, "every record verified, no coin missing")?;
        writeln!(out)?;
        for (ending, count) in &self.endings {
            let name = match ending {
                Ending::Tongits => "Tongits",
                Ending::Fight => "fight",
                Ending::Stock => "stock exhausted",
            };
            writeln!(out, "ends by {name:<16} {count:>8}  {}", share(*count))?;
        }
        writeln!(out, "fights challenged        {:>8}", self.fights_challenged)?;
        writeln!(out, "hands burned             {:>8}", self.burned)?;
        // Three hands a game; tenths, rounded down.
        let points = self.points * 10 / (self.games.max(1) * 3);
        writeln!(out, "points left in a hand    {:>6}.{}", points / 10, points % 10)?;
        for (by, count) in &self.actions {
            writeln!(out, "actions by {by:<13} {count:>8}")?;
        }
        writeln!(out, "inputs refused           {refused:>8}")?;
        let seconds = self.play_ms / self.games.max(1) / 1_000;
        writeln!(out, "a game takes on average  {seconds:>8} s, rounded down")?;
        writeln!(out)?;
        writeln!(out, "coins paid by losers     {:>12}", self.gross.to_string())?;
        writeln!(out, "fee                      {:>12}", self.fees.to_string())?;
        writeln!(out, "POTs taken               {:>9}", self.pots)?;
        writeln!(out, "coins in those POTs      {:>12}", self.pot_coins.to_string())
    }
}
