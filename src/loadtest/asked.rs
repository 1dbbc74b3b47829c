//! What a player is asked, told from what it knows of its table.

use std::time::Duration;

use bahay_engine::game::Game;
use bahay_engine::table::{GameId, PhaseView};

use crate::client::Play;
use bahay_engine::catalog::AnyGame;

/// What a player is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// To be ready.
    Ready(GameId),
    /// To reveal the text of its seed.
    Reveal(GameId),
    /// The prompt with this number.
    Act(GameId, u32),
}

/// What the player is asked now.
pub(super) fn question(play: &Play) -> Option<Question> {
    let view = play.view()?;
    match &view.phase {
        PhaseView::Preparing { game, ready, .. } => {
            let is_asked = view.seat.is_some_and(|seat| !ready.contains(seat));
            is_asked.then_some(Question::Ready(*game))
        }
        PhaseView::Revealing { .. } => {
            view.reveal_request().map(|(game, ..)| Question::Reveal(game))
        }
        PhaseView::Playing { .. } => {
            let prompt = play.prompt().filter(|prompt| !prompt.legal.is_empty())?;
            Some(Question::Act(prompt.game, prompt.number))
        }
        PhaseView::Waiting | PhaseView::Opening { .. } | PhaseView::Settling { .. } => None,
    }
}

/// Whether a game goes on, from its opening until its coins have moved.
pub(super) fn plays(play: &Play) -> bool {
    play.view().is_some_and(|view| match view.phase {
        PhaseView::Opening { .. }
        | PhaseView::Revealing { .. }
        | PhaseView::Playing { .. }
        | PhaseView::Settling { .. } => true,
        PhaseView::Waiting | PhaseView::Preparing { .. } => false,
    })
}

/// So late that a table does as little as it can without the clock playing for its players.
pub(super) fn just_in_time(play: &Play) -> Duration {
    let prompt = match play.view().map(|view| &view.phase) {
        Some(PhaseView::Playing { view, .. }) => AnyGame::prompt_in_view(view),
        _ => None,
    };
    let countdown_ms = prompt.map_or(0, |prompt| prompt.countdown_ms);
    Duration::from_millis(countdown_ms.into()) * 3 / 4
}
