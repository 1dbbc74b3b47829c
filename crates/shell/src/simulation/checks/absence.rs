//! Checks when the AI and the clock act for a player (rules 8.2 and 8.3), computed from the state
//! before the line, independently of the engine's own code.

use bahay_engine::game::Viewer;

use crate::simulation::{SimulatedGame, World};
use bahay_engine::table::{Clocks, Input, Line, Phase, PlayerId, Playing, Table, Timestamp};
use bahay_engine::variants;

/// How long before the end of a countdown the AI acts for a player who is away, in milliseconds.
const LAST_MS: i64 = 1_000;

/// The reason why the AI acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AiAnswer {
    /// The player is away, within the grace.
    ForAway,
    /// The player is taken over.
    ForTakenOver,
}

/// Checks that the AI may play this action at this time.
///
/// # Errors
/// Returns the violation of rule 8.3.
pub(super) fn check_answer<G: SimulatedGame>(
    before: &Table<G>,
    player: PlayerId,
    action: &G::Action,
    at: Timestamp,
) -> Result<AiAnswer, &'static str> {
    let Clocks { think_ms, grace_ms, missed_turns_to_takeover, .. } = Clocks::default();
    let occupant = before.seat_of(player).and_then(|seat| before.occupant(seat));
    let (Phase::Playing(playing), Some(occupant)) = (before.phase(), occupant) else {
        return Err("the AI acts without a prompt");
    };
    let has_thought = |since: Timestamp| since.after_ms(think_ms) <= at;
    let is_last = playing.deadline.ms() - LAST_MS <= at.ms();
    let is_given_up =
        occupant.bot || occupant.left || occupant.missed_turns >= missed_turns_to_takeover;
    if is_given_up {
        let is_due = is_last || has_thought(playing.asked_at);
        return if is_due {
            Ok(AiAnswer::ForTakenOver)
        } else {
            Err("the AI acts before its thinking time")
        };
    }
    if occupant.connection.is_some() {
        return Err("the AI acts for a connected player");
    }
    let grace_end = occupant.away_since.after_ms(grace_ms);
    if at < grace_end {
        let seat = before.seat_of(player).expect("the occupant was found");
        let view = playing.state.view(Viewer::Seat(seat));
        return match (is_last, G::is_commitment(&view, action)) {
            (false, _) => Err("the AI acts within the grace before the last second"),
            (true, true) => Err("the AI commits a player within the grace"),
            (true, false) => Ok(AiAnswer::ForAway),
        };
    }
    let is_due = is_last || has_thought(playing.asked_at.max(grace_end));
    if is_due {
        Ok(AiAnswer::ForTakenOver)
    } else {
        Err("the AI acts before its thinking time after the grace")
    }
}

impl<G: SimulatedGame> World<G> {
    /// Checks that a tick before the end of a countdown plays nothing.
    pub(super) fn check_tick(
        &self,
        before: &Table<G>,
        line: &Line<G::Action>,
        after: &Table<G>,
    ) -> Result<(), String> {
        let Phase::Playing(playing) = before.phase() else {
            return Ok(());
        };
        let prompt = |playing: &Playing<G>| (playing.game, playing.prompt.number);
        let is_same = match after.phase() {
            Phase::Playing(after) => prompt(after) == prompt(playing),
            variants!(Phase: Waiting, Preparing, Opening, Revealing, Settling) => false,
        };
        if line.input == Input::Tick && line.at < playing.deadline && !is_same {
            return Err(format!("{}: the clock acts early: {line:?}", before.id()));
        }
        Ok(())
    }
}
