//! A game as one seat was shown it, held against the game's record: what the seat heard must be what
//! the game's own redaction makes of the record for that seat, no more and no less.
//!
//! A record can be read once the game is settled. Reading one is work for the server that is
//! measured, so only one game of [`EVERY`] is chosen, and every game of which a seat was shown a
//! view in its midst: of a view alone nobody can tell what should not be in it.

use std::sync::Arc;

use bahay_engine::catalog::{AnyEvent, AnyGame, AnyView};
use bahay_engine::chance::ServerSeed;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, Readable, Record, Settlement};

use super::crowd::Crowd;
use super::tally::Count;
use crate::client::{Client, ClientError};

/// One game of so many that a player plays.
pub(super) const EVERY: u32 = 32;

/// What one seat was shown of a game.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) game: GameId,
    seat: Seat,
    /// The view that it began with, in the midst of the game; none when it was followed from its
    /// opening on.
    from: Option<AnyView>,
    events: Vec<AnyEvent>,
    end: Option<(Settlement, ServerSeed)>,
}

/// Reads the record of a settled game and holds what a player was shown of it against that.
pub(super) async fn audit(crowd: Arc<Crowd>, client: Client, shown: Shown) {
    match client.record(shown.game).await {
        Ok(record) => match shown.check(client.player(), &record.to_string()) {
            Ok(()) => crowd.tally.count(Count::Audited, 1),
            Err(why) => crowd.tally.fault(format!("game {} was not as shown: {why}", shown.game)),
        },
        // The player itself will get new tokens, or none.
        Err(ClientError::Refused { status: 401, .. }) => {}
        Err(error) => crowd.failed(&error),
    }
}

impl Shown {
    pub(super) fn begin(game: GameId, seat: Seat, from: Option<AnyView>) -> Self {
        Self { game, seat, from, events: Vec::new(), end: None }
    }

    pub(super) fn add(&mut self, event: &AnyEvent) {
        self.events.push(event.clone());
    }

    pub(super) fn end(&mut self, settlement: &Settlement, seed: ServerSeed) {
        self.end = Some((settlement.clone(), seed));
    }

    /// Holds it against the record, and the record against itself.
    pub(super) fn check(&self, player: PlayerId, record: &str) -> Result<(), String> {
        let record = AnyGame::read_record(record).map_err(|error| error.to_string())?;
        record.verify().map_err(|fault| format!("the record does not hold: {fault}"))?;
        let is_own = record.players.get(self.seat.index()) == Some(&player);
        if record.game != self.game || !is_own {
            return Err("the record is that of another game".to_owned());
        }
        self.check_events(&record)?;
        match &self.end {
            None => Err("the end of the game was not told".to_owned()),
            Some((settlement, _)) if *settlement != record.settlement => {
                Err(format!("{settlement:?} was told, and the record has {:?}", record.settlement))
            }
            Some((_, seed)) if *seed != record.server_seed => {
                Err("the seed that was told is not that of the record".to_owned())
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
                let missed = missed.ok_or("more was told than there was to tell")?;
                let seats = u8::try_from(record.players.len()).unwrap_or(u8::MAX);
                let game = AnyGame::new(&record.terms.rules, seats, record.starter);
                let mut view = game.view(viewer);
                due[..missed].iter().for_each(|event| AnyGame::observe(&mut view, event));
                if view != *from {
                    return Err(format!("{from:?} was shown in place of {view:?}"));
                }
                missed
            }
        };
        let due = &due[missed..];
        if due == self.events {
            return Ok(());
        }
        let place = due.iter().zip(&self.events).position(|(due, told)| due != told);
        let place = place.unwrap_or(due.len().min(self.events.len()));
        let (due, told) = (due.get(place), self.events.get(place));
        Err(format!("event {place} was told as {told:?} in place of {due:?}"))
    }
}
