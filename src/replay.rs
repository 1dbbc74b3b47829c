//! The replay of a finished game from its record: step by step as a viewer saw it, and in summary.
//!
//! A replay shows what the engine computes from the record's seeds and actions, so an invalid
//! record is not shown. Nothing is stored. Bounds: a game has some hundred steps, and a replay
//! takes less than a millisecond; `bahay_bots::search` bounds the cost of an analysis.
//!
//! Deliberately absent: authorization. The record itself shows all hands to its players after the
//! game, so the caller may show them too.

use bahay_bots::search::{self, JudgedDecision};
use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Describe, Game, Piece, Row, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::table::{ActionOrigin, DocumentError, InvalidRecordError, Readable, Record};
use serde_json::Value;

/// A record that this program can replay.
#[derive(Clone, Debug)]
pub struct GameReplay(Record<AnyGame>);

/// An error of a replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("the record cannot be read: {0}")]
    Unreadable(#[from] DocumentError),
    #[error("the record is invalid: {0}")]
    Wrong(#[from] InvalidRecordError),
    /// A bug.
    #[error("a step of the game cannot be serialized: {0}")]
    Unwritable(#[from] serde_json::Error),
}

/// The state of a game after one of its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The number of the step, from 0 for the deal.
    pub number: usize,
    pub at_ms: i64,
    /// The action of the step; `None` for the deal.
    pub taken: Option<TakenAction>,
    /// The events as shown to the viewer.
    pub events: Vec<Value>,
    /// The viewer's view after the step.
    pub view: Value,
    /// The view as text for people.
    pub rows: Vec<Row>,
}

/// An action with its seat and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenAction {
    pub seat: Seat,
    pub by: ActionOrigin,
    pub action: Value,
    /// The action as text for people.
    pub description: Vec<Piece>,
}

/// A range of a game's steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    pub steps: Vec<Step>,
    /// The total number of steps.
    pub total: usize,
}

/// A decision for which the bot prefers another action.
pub type JudgedStep = JudgedDecision<Value>;

/// The number of a seat's actions by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionCounts {
    pub player: u32,
    pub clock: u32,
    pub ai: u32,
}

impl GameReplay {
    /// Parses a record.
    pub fn from_json(record: &str) -> Result<Self, ReplayError> {
        Ok(Self(AnyGame::read_record(record)?))
    }

    /// Parses a record from a JSON value.
    pub fn from_value(record: Value) -> Result<Self, ReplayError> {
        Self::from_json(&record.to_string())
    }

    pub fn record(&self) -> &Record<AnyGame> {
        &self.0
    }

    /// Replays the game to its end.
    pub fn end(&self) -> Result<AnyGame, ReplayError> {
        Ok(self.0.replay(|_| ())?)
    }

    /// Returns the name of the game's ending.
    pub fn ending(&self) -> Result<&'static str, ReplayError> {
        self.end()?.ending().ok_or_else(|| {
            let message = "the actions end before the game does".into();
            ReplayError::Wrong(InvalidRecordError { action: None, rule: "3.8".into(), message })
        })
    }

    /// Counts, by seat, the actions chosen by the player, the clock and the AI.
    pub fn action_counts(&self) -> Vec<ActionCounts> {
        let mut actions = vec![ActionCounts::default(); self.0.players.len()];
        for taken in &self.0.actions {
            let Some(seat) = actions.get_mut(taken.seat.index()) else {
                continue;
            };
            match taken.by {
                ActionOrigin::Player => seat.player += 1,
                ActionOrigin::Clock => seat.clock += 1,
                ActionOrigin::Ai => seat.ai += 1,
            }
        }
        actions
    }

    /// Returns the decisions of a player for which the searching bot prefers another action by
    /// most, from what the seat had been shown. Returns `None` if the game has no such bot. Takes
    /// up to some seconds.
    pub fn analyze(&self, seat: Seat) -> Result<Option<Vec<JudgedStep>>, ReplayError> {
        let Some(judged) = search::analyze(&self.0, seat)? else {
            return Ok(None);
        };
        let steps = judged.into_iter().map(|one| {
            Ok(JudgedStep {
                step: one.step,
                action: serde_json::to_value(&one.action)?,
                advised: serde_json::to_value(&one.advised)?,
                value: one.value,
                advised_value: one.advised_value,
            })
        });
        steps.collect::<Result<_, _>>().map(Some)
    }

    /// Returns up to `limit` steps from `offset` on, as the viewer saw them.
    pub fn steps(&self, viewer: Viewer, offset: usize, limit: usize) -> Result<Steps, ReplayError> {
        let mut steps = Vec::new();
        let mut total = 0;
        let mut unwritable = None;
        self.0.replay(|step| {
            let number = total;
            total += 1;
            if number < offset || steps.len() >= limit {
                return;
            }
            let events = step.events.iter().filter_map(|event| AnyGame::redact(event, viewer));
            let events = events.map(serde_json::to_value).collect();
            let seen = step.state.view(viewer);
            let view = serde_json::to_value(&seen);
            let taken = step.taken.map(|taken| {
                let action = serde_json::to_value(&taken.action)?;
                let description = AnyGame::describe_action(&taken.action);
                Ok(TakenAction { seat: taken.seat, by: taken.by, action, description })
            });
            let at = step.at;
            match (events, view, taken.transpose()) {
                (Ok(events), Ok(view), Ok(taken)) => {
                    let rows = AnyGame::describe(&seen);
                    steps.push(Step { number, at_ms: at.ms(), taken, events, view, rows });
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
    use super::{GameReplay, ReplayError};
    use bahay_bots::simulation::{Habits, Simulation};
    use bahay_engine::catalog::{self, AnyGame};
    use bahay_engine::coins::Coins;
    use bahay_engine::game::{Describe, Game, Skill, Viewer};
    use bahay_engine::seat::Seat;
    use bahay_engine::table::{Clocks, Price, Record, Spectators, Terms};
    use serde_json::Value;

    /// Returns some records of every rule set of every game.
    fn records() -> Vec<Record<AnyGame>> {
        let mut records = Vec::new();
        for set in catalog::kinds().into_iter().flat_map(|kind| kind.rule_sets) {
            let terms = Terms {
                room: "newbie".to_owned(),
                rules: set.rules,
                price: Price {
                    bet: Coins::from_hundredths(100),
                    multiplier: 1,
                    fee_basis_points: 500,
                },
                hits: set.hits,
                clocks: Clocks::default(),
                spectators: Spectators::Nobody,
                bots: Skill::default(),
                private: None,
                practice: false,
                tournament: None,
            };
            let welcome = Coins::from_hundredths(1_000_000);
            let mut tables = Simulation::<AnyGame>::new(3, terms, Habits::ROUGH, welcome);
            tables.play(12, |_, record| records.push(record.clone()));
        }
        records
    }

    #[test]
    fn a_replay_shows_what_the_seat_saw() {
        for record in records() {
            let game = GameReplay::from_json(&serde_json::to_string(&record).unwrap()).unwrap();
            let viewer = Viewer::Seat(Seat::new(1).unwrap());
            let mut views = Vec::new();
            let mut events = Vec::new();
            let last = record.replay(|step| {
                views.push(step.state.view(viewer));
                let redacted = step.events.iter().filter_map(|one| AnyGame::redact(one, viewer));
                events.push(redacted.collect::<Vec<_>>());
            });
            let own = game.steps(viewer, 0, usize::MAX).unwrap();
            assert_eq!((own.steps.len(), own.total), (views.len(), views.len()));
            let taken = own.steps.iter().filter(|step| step.taken.is_some());
            assert_eq!(taken.count(), record.actions.len());
            assert!(own.steps[0].taken.is_none());
            for (step, (view, events)) in own.steps.iter().zip(views.iter().zip(&events)) {
                assert_eq!(step.view, serde_json::to_value(view).unwrap());
                assert_eq!(Value::from(step.events.clone()), serde_json::to_value(events).unwrap());
                assert_eq!(step.rows, AnyGame::describe(view));
                assert!(step.taken.as_ref().is_none_or(|taken| !taken.description.is_empty()));
            }
            let all = game.steps(Viewer::Everything, 0, usize::MAX).unwrap();
            assert!(all.steps.iter().zip(&own.steps).any(|(all, own)| all.view != own.view));
            let part = game.steps(viewer, 2, 3).unwrap();
            let end = own.total.min(5);
            assert_eq!((part.total, &part.steps[..]), (own.total, &own.steps[2..end]));
            let actions = game.action_counts();
            let sum: u32 = actions.iter().map(|one| one.player + one.clock + one.ai).sum();
            assert_eq!(sum as usize, record.actions.len());
            assert_eq!(game.ending().unwrap(), last.unwrap().ending().unwrap());
        }
    }

    #[test]
    fn an_invalid_record_is_not_replayed() {
        let mut record = serde_json::to_value(&records()[0]).unwrap();
        record["server_seed"] = "11".repeat(32).into();
        let game = GameReplay::from_json(&record.to_string()).unwrap();
        assert!(game.steps(Viewer::Everything, 0, 1).is_err());
        assert!(game.ending().is_err());
        assert!(GameReplay::from_json("{}").is_err());
        record["kind"] = "chess".into();
        let unknown = GameReplay::from_value(record).unwrap_err();
        assert!(matches!(unknown, ReplayError::Unreadable(_)), "{unknown}");
    }
}
