//! The events that a seat has seen in the running game, for an AI with memory.
//!
//! The events are not stored. The game is replayed from its deal by the stored answers of chance
//! and actions, and only if an AI reads them, so an AI without memory costs nothing.

use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::game::{Game, Skill, Turn, Viewer};
use crate::seat::Seat;
use crate::table::Table;
use crate::table::phase::{Phase, Playing};

impl<G: Game> Table<G> {
    /// Returns every event of the running game as far as the seat may see it, in order; empty
    /// between games.
    pub fn events_seen_by(&self, seat: Seat) -> Vec<G::Event> {
        let Phase::Playing(playing) = &self.phase else {
            return Vec::new();
        };
        let events = replay_events(playing, &self.terms.rules);
        events.iter().filter_map(|event| G::redact(event, Viewer::Seat(seat))).collect()
    }

    /// Chooses the AI's action for a seat from what the seat sees and has seen; `None` if the seat
    /// is not prompted.
    pub(super) fn choose_action(
        &self,
        playing: &Playing<G>,
        seat: Seat,
        skill: Skill,
    ) -> Option<G::Action> {
        self.with_memory(seat, |shown| {
            G::choose_action_with_memory(skill, &playing.state.view(Viewer::Seat(seat)), shown)
        })
    }

    /// Chooses the AI's action for a player who is away: no commitment, and the action of the clock
    /// if the AI has no other (rule 8.3).
    pub(super) fn choose_action_while_away(
        &self,
        playing: &Playing<G>,
        seat: Seat,
    ) -> Option<G::Action> {
        let view = playing.state.view(Viewer::Seat(seat));
        let action = self.with_memory(seat, |shown| G::choose_uncommitted_action(&view, shown));
        action.or_else(|| playing.state.default_action(seat))
    }

    /// Calls `choose` with the events that the seat has seen, which are computed on first use.
    fn with_memory<T>(
        &self,
        seat: Seat,
        choose: impl FnOnce(&mut dyn Iterator<Item = &G::Event>) -> T,
    ) -> T {
        let remembered = OnceCell::new();
        let mut next = 0;
        let mut shown = core::iter::from_fn(|| {
            next += 1;
            remembered.get_or_init(|| self.events_seen_by(seat)).get(next - 1)
        });
        choose(&mut shown)
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
