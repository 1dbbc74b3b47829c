//! A finished game played again from its record: step by step as somebody saw it, and summed up.
//!
//! A record decides: what is shown here is what the engine makes of its seeds and actions, so a
//! record that does not verify is not shown. Nothing is stored. Bounds: a game has some hundred
//! steps, and playing one again takes less than a millisecond.
//!
//! Deliberately absent: who may look. The record itself shows all hands to its players once the
//! game is over, so the caller may show them too.

use bahay_engine::game::{Game, Viewer};
use bahay_engine::games::tongits::{Ending, Event};
use bahay_engine::seat::Seat;
use bahay_engine::table::{By, Fault, Record};
use serde_json::Value;

use crate::tables::catalog::Tongits;

/// A record that this program can play again.
#[derive(Clone, Debug)]
pub struct Recalled(Record<Tongits>);

/// Why a record cannot be played again.
#[derive(Debug, thiserror::Error)]
pub enum Unplayable {
    #[error("the record is not one of this program: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("the record does not hold: {0}")]
    Wrong(#[from] Fault),
}

/// The game after one of its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// From 0, which is the deal.
    pub number: usize,
    pub at_ms: i64,
    /// Who did what; `None` for the deal.
    pub taken: Option<Taken>,
    /// What happened, as the viewer was told.
    pub events: Vec<Value>,
    /// What the viewer knew afterwards.
    pub view: Value,
}

/// Who did what.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    pub seat: Seat,
    pub by: By,
    pub action: Value,
}

/// A part of a game's steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    pub steps: Vec<Step>,
    /// How many there are in all.
    pub total: usize,
}

/// Who chose the actions of a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    pub player: u32,
    pub clock: u32,
    pub ai: u32,
}

impl Recalled {
    /// Reads a record.
    pub fn of(record: &str) -> Result<Self, Unplayable> {
        Ok(Self(serde_json::from_str(record)?))
    }

    /// The same of a record that was taken apart already.
    pub fn of_value(record: Value) -> Result<Self, Unplayable> {
        Ok(Self(serde_json::from_value(record)?))
    }

    pub fn record(&self) -> &Record<Tongits> {
        &self.0
    }

    /// How the game ended.
    pub fn ending(&self) -> Result<Ending, Unplayable> {
        let mut ending = None;
        self.0.replay(|step| {
            for event in step.events {
                if let Event::Over { ending: how, .. } = event {
                    ending = Some(*how);
                }
            }
        })?;
        ending.ok_or_else(|| {
            let what = "the actions end before the game does".into();
            Unplayable::Wrong(Fault { action: None, rule: "3.8".into(), what })
        })
    }

    /// By seat, how many actions the player, the clock and the AI chose.
    pub fn actions(&self) -> Vec<Actions> {
        let mut actions = vec![Actions::default(); self.0.players.len()];
        for taken in &self.0.actions {
            let Some(seat) = actions.get_mut(taken.seat.index()) else {
                continue;
            };
            match taken.by {
                By::Player => seat.player += 1,
                By::Clock => seat.clock += 1,
                By::Ai => seat.ai += 1,
            }
        }
        actions
    }

    /// The steps from `offset` on, so many at most, as the viewer saw them.
    pub fn steps(&self, viewer: Viewer, offset: usize, limit: usize) -> Result<Steps, Unplayable> {
        let mut steps = Vec::new();
        let mut total = 0;
        let mut unwritable = None;
        self.0.replay(|step| {
            let number = total;
            total += 1;
            if number < offset || steps.len() >= limit {
                return;
            }
            let events = step.events.iter().filter_map(|event| Tongits::redact(event, viewer));
            let events = events.map(serde_json::to_value).collect();
            let view = serde_json::to_value(step.state.view(viewer));
            let taken = step.taken.map(|taken| {
                let action = serde_json::to_value(taken.action)?;
                Ok(Taken { seat: taken.seat, by: taken.by, action })
            });
            let at = step.taken.map_or(self.0.opened_at, |taken| taken.at);
            match (events, view, taken.transpose()) {
                (Ok(events), Ok(view), Ok(taken)) => {
                    steps.push(Step { number, at_ms: at.ms(), taken, events, view });
                }
                (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                    unwritable = Some(error);
                }
            }
        })?;
        match unwritable {
            Some(error) => Err(error.into()),
            None => Ok(Steps { steps, total }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Recalled;
    use crate::tables::catalog::Tongits;
    use bahay_engine::coins::Coins;
    use bahay_engine::game::Viewer;
    use bahay_engine::games::tongits::Rules;
    use bahay_engine::seat::Seat;
    use bahay_engine::table::simulation::{Habits, Simulation};
    use bahay_engine::table::{Clocks, Hits, Price, Spectators, Terms};
    use serde_json::Value;

    fn records() -> Vec<String> {
        let bet = Coins::from_hundredths(100);
        let terms = Terms {
            room: "newbie".to_owned(),
            rules: Rules::kingdom(),
            price: Price { bet, multiplier: 1, fee_basis_points: 500 },
            hits: Hits::default(),
            clocks: Clocks::default(),
            spectators: Spectators::Nobody,
        };
        let welcome = Coins::from_hundredths(100_000);
        let mut records = Vec::new();
        let mut tables = Simulation::<Tongits>::new(3, terms, Habits::ROUGH, welcome);
        tables.play(12, |_, record| records.push(serde_json::to_string(record).unwrap()));
        records
    }

    /// How often something that a seat must not know is in what it is shown.
    fn foreign_hands(view: &Value, own: usize) -> usize {
        let hands = view["hands"].as_array().unwrap().iter().enumerate();
        hands.filter(|(seat, hand)| *seat != own && !hand.is_null()).count()
    }

    #[test]
    fn a_seat_sees_again_what_it_saw() {
        for record in records() {
            let recalled = Recalled::of(&record).unwrap();
            let seat = Seat::new(1).unwrap();
            let own = recalled.steps(Viewer::Seat(seat), 0, usize::MAX).unwrap();
            assert_eq!(own.steps.len(), own.total);
            assert_eq!(own.total, recalled.record().actions.len() + 1);
            assert!(own.steps[0].taken.is_none());
            for step in &own.steps {
                assert_eq!(foreign_hands(&step.view, 1), 0, "{step:?}");
                assert!(step.view["hands"][1].is_array());
                assert!(step.view["stock"].is_null());
            }
            let all = recalled.steps(Viewer::Everything, 0, usize::MAX).unwrap();
            assert_eq!(foreign_hands(&all.steps[0].view, 1), 2);
            let part = recalled.steps(Viewer::Seat(seat), 2, 3).unwrap();
            assert_eq!((part.total, &part.steps[..]), (own.total, &own.steps[2..5]));
            let actions = recalled.actions();
            let sum: u32 = actions.iter().map(|one| one.player + one.clock + one.ai).sum();
            assert_eq!(sum as usize, recalled.record().actions.len());
            recalled.ending().unwrap();
        }
    }

    #[test]
    fn a_record_that_does_not_hold_is_not_shown() {
        let mut record: Value = serde_json::from_str(&records()[0]).unwrap();
        record["server_seed"] = "11".repeat(32).into();
        let recalled = Recalled::of(&record.to_string()).unwrap();
        assert!(recalled.steps(Viewer::Everything, 0, 1).is_err());
        assert!(recalled.ending().is_err());
        assert!(Recalled::of("{}").is_err());
    }
}
