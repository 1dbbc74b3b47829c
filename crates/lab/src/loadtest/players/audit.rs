//! Audits of games as seen by one seat: the events that the seat received must be exactly what the
//! game's own redaction makes of the record for that seat.
//!
//! A record can be read once the game is settled. Reading one is work for the measured server, so
//! only one game in [`EVERY`] is audited, and every game of which a seat received a snapshot during
//! play, because a view alone does not show what should not be in it.

use bahay_engine::catalog::{AnyEvent, AnyGame, AnyView};
use bahay_engine::chance::ServerSeed;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, Readable, Record, Settlement};

/// The interval between audited games of a player, in games.
pub(in crate::loadtest) const EVERY: u32 = 32;

/// A game as observed by one seat.
#[derive(Clone, Debug)]
pub struct ObservedGame {
    pub(in crate::loadtest) game: GameId,
    seat: Seat,
    /// The view in the snapshot with which the observation began during the game; `None` if the
    /// game was observed from its opening.
    from: Option<AnyView>,
    events: Vec<AnyEvent>,
    /// The settlement, and the seed unless other tables play the same deal.
    end: Option<(Settlement, Option<ServerSeed>)>,
}

impl ObservedGame {
    pub(in crate::loadtest) fn new(game: GameId, seat: Seat, from: Option<AnyView>) -> Self {
        Self { game, seat, from, events: Vec::new(), end: None }
    }

    pub(in crate::loadtest) fn push_event(&mut self, event: &AnyEvent) {
        self.events.push(event.clone());
    }

    pub(in crate::loadtest) fn set_result(
        &mut self,
        settlement: &Settlement,
        seed: Option<ServerSeed>,
    ) {
        self.end = Some((settlement.clone(), seed));
    }

    /// Verifies the record and compares the observed game with it.
    ///
    /// # Errors
    ///
    /// Fails with a description of the first difference.
    pub(in crate::loadtest) fn check(&self, player: PlayerId, record: &str) -> Result<(), String> {
        let record = AnyGame::read_record(record).map_err(|error| error.to_string())?;
        record.verify().map_err(|fault| format!("the record is invalid: {fault}"))?;
        let is_own = record.players.get(self.seat.index()) == Some(&player);
        if record.game != self.game || !is_own {
            return Err("the record is that of another game".to_owned());
        }
        self.check_events(&record)?;
        match &self.end {
            None => Err("the end of the game was not sent".to_owned()),
            Some((settlement, _)) if *settlement != record.settlement => {
                Err(format!("{settlement:?} was sent, and the record has {:?}", record.settlement))
            }
            Some((_, Some(seed))) if *seed != record.server_seed => {
                Err("the seed that was sent is not that of the record".to_owned())
            }
            Some(_) => Ok(()),
        }
    }

    fn check_events(&self, record: &Record<AnyGame>) -> Result<(), String> {
        let viewer = Viewer::Seat(self.seat);
        let mut due = Vec::new();
        let replayed = record.replay(|step| {
            due.extend(step.events.iter().filter_map(|event| AnyGame::redact(event, viewer)));
        });
        replayed.map_err(|fault| fault.to_string())?;
        let missed = match &self.from {
            None => 0,
            Some(from) => {
                let missed = due.len().checked_sub(self.events.len());
                let missed = missed.ok_or("more events were sent than the record holds")?;
                let seats = u8::try_from(record.players.len()).unwrap_or(u8::MAX);
                let game = AnyGame::new(&record.terms.rules, seats, record.starter);
                let mut view = game.view(viewer);
                due[..missed].iter().for_each(|event| AnyGame::observe(&mut view, event));
                if view != *from {
                    return Err(format!("{from:?} was sent in place of {view:?}"));
                }
                missed
            }
        };
        let due = &due[missed..];
        if due == self.events {
            return Ok(());
        }
        let index = due.iter().zip(&self.events).position(|(due, observed)| due != observed);
        let index = index.unwrap_or(due.len().min(self.events.len()));
        let expected = due.get(index);
        let observed = self.events.get(index);
        Err(format!("event {index} was sent as {observed:?} in place of {expected:?}"))
    }
}
