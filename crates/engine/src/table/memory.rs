//! What a seat was shown of the game that goes on, for an AI that remembers it.
//!
//! Nothing is kept for that: the game is played again from its deal, by the answers of chance and the
//! actions that the table has anyway. It is done only for an AI that asks, so the others cost nothing.

use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::game::{Game, Skill, Turn, Viewer};
use crate::seat::Seat;
use crate::table::Table;
use crate::table::phase::{Phase, Playing};

impl<G: Game> Table<G> {
    /// Every event of the game that goes on, as far as the seat may see it, in order. None between
    /// games.
    pub fn events_seen_by(&self, seat: Seat) -> Vec<G::Event> {
        let Phase::Playing(playing) = &self.phase else {
            return Vec::new();
        };
        let events = replay_events(playing, &self.terms.rules);
        events.iter().filter_map(|event| G::redact(event, Viewer::Seat(seat))).collect()
    }

    /// What an AI plays in a seat, from what the seat sees and was shown and nothing else; `None` for
    /// a seat that is not asked.
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

    /// The same for a player who is away: no commitment, and what the clock plays where the AI knows
    /// nothing else (rule 8.3).
    pub(super) fn choose_action_while_away(&self, playing: &Playing<G>, seat: Seat) -> Option<G::Action> {
        let view = playing.state.view(Viewer::Seat(seat));
        let action = self.with_memory(seat, |shown| G::choose_uncommitted_action(&view, shown));
        action.or_else(|| playing.state.default_action(seat))
    }

    /// Calls an AI with what the seat was shown, which is made when the AI asks for it.
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
                    .expect("what was played is legal"),
                None => return events,
            },
            // A wait that the table is in has not passed.
            Turn::Wait(prompt) if prompt.number == playing.asked.number => return events,
            Turn::Wait(_) => state.expire(&mut events),
        };
    }
}
