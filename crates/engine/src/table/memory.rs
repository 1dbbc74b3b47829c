//! The events that a seat has seen in the running game, for an AI with memory.
//!
//! The events are not stored. The game is replayed from its deal by the stored answers of chance
//! and actions.

use alloc::vec::Vec;

use crate::game::{Game, Turn, Viewer};
use crate::seat::Seat;
use crate::table::Table;
use crate::table::phase::{Phase, Playing};

impl<G: Game> Table<G> {
    /// Returns every event of the running game as far as the seat may see it, in order; empty
    /// between games.
    pub fn events_seen_by(&self, seat: Seat) -> Vec<G::Event> {
        let Phase::Playing(playing) = &self.phase else { return Vec::new() };
        let events = replay_events(playing, &self.terms.rules);
        events.iter().filter_map(|event| G::redact(event, Viewer::Seat(seat))).collect()
    }
}

fn replay_events<G: Game>(playing: &Playing<G>, rules: &G::Rules) -> Vec<G::Event> {
    let seats = u8::try_from(playing.stakes.len()).expect("a table has at most eight seats");
    let mut state = G::new(rules, seats, playing.starter);
    let mut chance = playing.chance.iter();
    let mut actions = playing.actions.iter();
    let mut events = Vec::new();
    loop {
        state = match state.turn() {
            Turn::Over => return events,
            Turn::Chance(_) => match chance.next() {
                Some(answer) => state.resolve(answer, &mut events),
                None => return events,
            },
            Turn::Players(_) => match actions.next() {
                Some(taken) => state
                    .act(taken.seat, &taken.action, &mut events)
                    .expect("a recorded action is legal"),
                None => return events,
            },
            // The wait that the table is in has not ended.
            Turn::Wait(prompt) if prompt.number == playing.prompt.number => return events,
            Turn::Wait(_) => state.expire(&mut events),
        };
    }
}
