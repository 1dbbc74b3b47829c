//! The open prompt of a table, as a message shows it to a player.

use bahay_engine::game::{Game, Prompt, Viewer};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{GameId, Phase, PhaseView, PlayerId, Table, TableView, Timestamp};
use serde::{Deserialize, Serialize};

/// The open prompt, as far as the player may know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OpenPrompt"))]
pub struct OpenPrompt<A> {
    pub game: GameId,
    /// The number that an answer names.
    pub number: u32,
    /// The seats that must answer.
    pub seats: SeatSet,
    /// The time at which the clock answers.
    pub deadline_ms: Option<Timestamp>,
    /// The legal actions of the player; empty if others must answer.
    pub legal: Vec<A>,
}

impl<A> OpenPrompt<A> {
    /// Returns the open prompt in a player's view of a table.
    pub fn from_view<G: Game<Action = A>>(view: &TableView<G>) -> Option<Self> {
        let PhaseView::Playing { game, deadline_ms, view: game_view, .. } = &view.phase else {
            return None;
        };
        let prompt = G::prompt_in_view(game_view)?;
        let add_legal = |_: Seat, legal: &mut Vec<A>| G::legal_in_view(game_view, legal);
        Some(Self::build(*game, *deadline_ms, prompt, view.viewer(), add_legal))
    }

    /// Returns the open prompt without a view, for clients that follow the table by its events.
    pub fn from_table<G: Game<Action = A>>(table: &Table<G>, player: PlayerId) -> Option<Self> {
        let Phase::Playing(playing) = table.phase() else {
            return None;
        };
        let viewer = table.viewer(player);
        let prompt = playing.state.prompt_for(viewer)?;
        let add_legal = |seat, legal: &mut Vec<A>| playing.state.legal_actions(seat, legal);
        Some(Self::build(playing.game, Some(playing.deadline), prompt, viewer, add_legal))
    }

    fn build(
        game: GameId,
        deadline_ms: Option<Timestamp>,
        prompt: Prompt,
        viewer: Viewer,
        add_legal: impl FnOnce(Seat, &mut Vec<A>),
    ) -> Self {
        let Prompt { number, seats, .. } = prompt;
        let mut legal = Vec::new();
        match viewer {
            Viewer::Seat(seat) if seats.contains(seat) => add_legal(seat, &mut legal),
            Viewer::Seat(_) | Viewer::Public | Viewer::Everything => {}
        }
        Self { game, number, seats, deadline_ms, legal }
    }
}
