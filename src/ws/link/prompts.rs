//! The open prompt of a player.

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::Game;
use bahay_engine::table::{Phase, PlayerId, Table};

use crate::ws::protocol::OpenPrompt;
use crate::ws::protocol::brief::Form;

/// Returns the player's prompt after the last of several updates, unless the connection's form
/// leaves prompts to the client.
pub(in crate::ws) fn open_prompt(
    table: &Table<AnyGame>,
    player: PlayerId,
    form: Form,
    is_last: bool,
) -> Option<OpenPrompt<<AnyGame as Game>::Action>> {
    let is_included = is_last && !form.is_short();
    if is_included { OpenPrompt::from_table(table, player) } else { None }
}

/// Returns true if the player has an open prompt.
pub(in crate::ws) fn has_open_prompt(table: &Table<AnyGame>, player: PlayerId) -> bool {
    let Phase::Playing(playing) = table.phase() else {
        return false;
    };
    table.seat_of(player).is_some_and(|seat| playing.prompt.seats.contains(seat))
}
