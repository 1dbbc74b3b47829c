//! The input that a table awaits from a player, according to the player's view.

use std::time::Duration;

use bahay_engine::game::Game;
use bahay_engine::table::{GameId, PhaseView};

use bahay_client::Play;
use bahay_engine::catalog::AnyGame;

/// An input that a table awaits from a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedInput {
    /// The player's readiness.
    Ready(GameId),
    /// The text of the player's seed.
    Reveal(GameId),
    /// An action for the prompt with this number.
    Act(GameId, u32),
}

/// Returns the input that the table awaits from the player now.
pub(super) fn awaited_input(play: &Play) -> Option<AwaitedInput> {
    let view = play.view()?;
    match &view.phase {
        PhaseView::Preparing { game, ready, .. } => {
            let is_asked = view.seat.is_some_and(|seat| !ready.contains(seat));
            is_asked.then_some(AwaitedInput::Ready(*game))
        }
        PhaseView::Revealing { .. } => {
            view.reveal_request().map(|(game, ..)| AwaitedInput::Reveal(game))
        }
        PhaseView::Playing { .. } => {
            let prompt = play.prompt().filter(|prompt| !prompt.legal.is_empty())?;
            Some(AwaitedInput::Act(prompt.game, prompt.number))
        }
        PhaseView::Waiting | PhaseView::Opening { .. } | PhaseView::Settling { .. } => None,
    }
}

/// Returns true from the opening of a game until its settlement.
pub(super) fn is_in_game(play: &Play) -> bool {
    play.view().is_some_and(|view| match view.phase {
        PhaseView::Opening { .. }
        | PhaseView::Revealing { .. }
        | PhaseView::Playing { .. }
        | PhaseView::Settling { .. } => true,
        PhaseView::Waiting | PhaseView::Preparing { .. } => false,
    })
}

/// Returns a think time of three quarters of the countdown, so that a table does as little as
/// possible without timing out.
pub(super) fn late_think_time(play: &Play) -> Duration {
    let prompt = match play.view().map(|view| &view.phase) {
        Some(PhaseView::Playing { view, .. }) => AnyGame::prompt_in_view(view),
        _ => None,
    };
    let countdown_ms = prompt.map_or(0, |prompt| prompt.countdown_ms);
    Duration::from_millis(countdown_ms.into()) * 3 / 4
}
