//! A whole game as text: every prompt, the legal actions, the action played, the events, and the
//! events as each viewer saw them. The text is stored in files and reviewed as a diff, in which any
//! change of the rules, the AI or the wire format shows.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use serde::Serialize;

use crate::chance::Stream;
use crate::game::{Game, Turn, Viewer};
use crate::seat::Seat;
use crate::testing::{ChooseAction, Policy, TestRng, legal_actions};

/// Plays one game, dealt from the stream, each seat by its policy, and returns its text.
///
/// # Panics
/// If the game violates its contract.
pub fn playthrough<G: Game>(
    rules: &G::Rules,
    starter: Option<Seat>,
    mut stream: Stream,
    policies: &[Policy],
    ai: ChooseAction<G>,
    dice: &mut TestRng,
) -> String {
    let mut text = Text(String::new());
    let seats = u8::try_from(policies.len()).expect("a table has at most eight seats");
    let mut game = G::new(rules, seats, starter);
    loop {
        let mut events = Vec::new();
        game = match game.turn() {
            Turn::Over => break,
            Turn::Chance(request) => {
                let answer = stream.draw(request);
                text.write_line("chance", &answer);
                game.resolve(&answer, &mut events)
            }
            Turn::Wait(prompt) => {
                text.write_line("waits", &prompt);
                game.expire(&mut events)
            }
            Turn::Players(prompt) => {
                text.write_line("asks", &prompt);
                let seat = prompt.seats.iter().next().expect("a seat is to act");
                let legal = legal_actions(&game, seat);
                text.write_legal(&legal);
                let action = match policies[seat.index()] {
                    Policy::Random => dice.choose(&legal).cloned(),
                    Policy::Ai => ai(&game.view(Viewer::Seat(seat))),
                    Policy::Clock => game.default_action(seat),
                };
                let action = action.expect("a seat that is to act has a legal action");
                text.write_line(&alloc::format!("seat {seat} plays"), &action);
                match game.act(seat, &action, &mut events) {
                    Ok(next) => next,
                    Err(illegal) => {
                        panic!("{seat:?} plays {action:?}, which is refused: {illegal}")
                    }
                }
            }
        };
        for event in &events {
            text.write_line("happens", event);
            text.write_redacted::<G>(seats, event);
        }
    }
    text.write_line("outcome", &game.outcome());
    text.0
}

struct Text(String);

/// The length beyond which only the first and the last of the legal actions are written.
const LISTED_MAX: usize = 60;

impl Text {
    fn write_legal<A: Serialize>(&mut self, legal: &[A]) {
        match legal {
            [first, .., last] if legal.len() > LISTED_MAX => {
                self.write_line(
                    &alloc::format!("may, of {} the ends,", legal.len()),
                    &[first, last],
                );
            }
            legal => self.write_line("may", &legal),
        }
    }

    fn write_line(&mut self, label: &str, value: &impl Serialize) {
        let json = serde_json::to_string(value).unwrap_or_else(|error| error.to_string());
        writeln!(self.0, "{label} {json}").expect("a string takes any text");
    }

    /// Writes the event as each viewer sees it, if that differs from the complete event.
    fn write_redacted<G: Game>(&mut self, seats: u8, event: &G::Event) {
        let seats = Seat::all(seats).map(|seat| (seat.to_string(), Viewer::Seat(seat)));
        for (name, viewer) in seats.chain([("public".into(), Viewer::Public)]) {
            let seen = G::redact(event, viewer);
            if seen.as_ref() != Some(event) {
                self.write_line(&alloc::format!("  {name} sees"), &seen);
            }
        }
    }
}
