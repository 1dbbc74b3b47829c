//! A player's copy of its table: the last snapshot with all later updates applied.

use bahay_bots::Ai;
use bahay_client::TableState;
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ClientSeed, Commitment};
use bahay_engine::game::Game;
use bahay_engine::table::{GameId, PhaseView, TableId, TableView};
use bahay_engine::variants;
use bahay_protocol::brief::Form;
use bahay_protocol::{Message, OpenPrompt, Tag};

type Action = <AnyGame as Game>::Action;

/// An input that a table awaits from a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedInput {
    /// The player's readiness.
    Ready(GameId),
    /// The text of the player's seed.
    Reveal(GameId),
    /// An action for the prompt with this number.
    Act(GameId, u32),
}

/// An update that does not follow the version of the copy.
#[derive(Debug, thiserror::Error)]
#[error("update {got} came after version {had:?}")]
pub struct VersionGap {
    had: Option<u64>,
    got: u64,
}

/// A player's copy of its table, which outlives the connection.
#[derive(Clone, Debug, Default)]
pub struct ClientTable {
    state: Option<TableState>,
    /// The text of the client's seed for a game, once the client has committed to it.
    text: Option<(GameId, String)>,
}

impl From<TableState> for ClientTable {
    fn from(state: TableState) -> Self {
        Self { state: Some(state), text: None }
    }
}

impl ClientTable {
    pub fn view(&self) -> Option<&TableView<AnyGame>> {
        self.state.as_ref().map(|state| &state.view)
    }

    pub fn version(&self) -> Option<u64> {
        self.state.as_ref().map(|state| state.version)
    }

    /// Returns the tag of the version.
    pub fn tag(&self) -> Option<Tag> {
        self.state.as_ref().map(|state| state.tag)
    }

    pub fn table(&self) -> Option<TableId> {
        self.view().map(|view| view.table)
    }

    /// Returns the open prompt.
    pub fn prompt(&self) -> Option<&OpenPrompt<Action>> {
        self.state.as_ref()?.prompt.as_ref()
    }

    /// Returns the input that the table awaits from the player.
    pub fn awaited_input(&self) -> Option<AwaitedInput> {
        let view = self.view()?;
        match &view.phase {
            PhaseView::Preparing { game, ready, .. } => {
                let is_asked = view.seat.is_some_and(|seat| !ready.contains(seat));
                is_asked.then_some(AwaitedInput::Ready(*game))
            }
            PhaseView::Revealing { .. } => {
                view.reveal_request().map(|(game, ..)| AwaitedInput::Reveal(game))
            }
            PhaseView::Playing { .. } => {
                let prompt = self.prompt().filter(|prompt| !prompt.legal.is_empty())?;
                Some(AwaitedInput::Act(prompt.game, prompt.number))
            }
            PhaseView::Waiting | PhaseView::Opening { .. } | PhaseView::Settling { .. } => None,
        }
    }

    /// Returns the action that a house bot would choose; `None` if other players are to act.
    pub fn advice(&self) -> Option<Action> {
        self.prompt().filter(|prompt| !prompt.legal.is_empty())?;
        match &self.view()?.phase {
            PhaseView::Playing { view, .. } => AnyGame::choose_action(view),
            variants!(PhaseView: Waiting, Preparing, Opening, Revealing, Settling) => None,
        }
    }

    /// Returns the commitment to a seed from this text, or from an earlier text if the client has
    /// already committed to one for this game, because the first command may have arrived.
    pub(crate) fn commit(&mut self, game: GameId, text: Option<String>) -> Option<Commitment> {
        if self.text.as_ref().is_none_or(|(text_game, _)| *text_game != game) {
            self.text = text.map(|text| (game, text));
        }
        let (_, text) = self.text.as_ref()?;
        Some(ClientSeed::from_text(text).commitment())
    }

    /// Returns the text that the table asks to be revealed, and its game.
    pub(crate) fn requested_seed_text(&self) -> Option<(GameId, &str)> {
        let (game, ..) = self.view()?.reveal_request()?;
        let (_, text) = self.text.as_ref().filter(|(text_game, _)| *text_game == game)?;
        Some((game, text))
    }

    /// Applies a message. Updates are numbered; a gap or a repetition is an error, because a server
    /// must never send one.
    pub(crate) fn apply(
        &mut self,
        message: &Message<AnyGame>,
        form: Form,
    ) -> Result<(), VersionGap> {
        match message {
            Message::Snapshot { version, tag, view, prompt, .. } => {
                self.state = Some(TableState {
                    view: (**view).clone(),
                    version: *version,
                    tag: *tag,
                    prompt: prompt.clone(),
                    is_current: true,
                    deal: None,
                });
            }
            Message::Update { version, tag, events, prompt, .. } => {
                let gap = VersionGap { had: self.version(), got: *version };
                let state = self.state.as_mut().filter(|state| *version == state.version + 1);
                let state = state.ok_or(gap)?;
                events.iter().for_each(|event| state.view.observe(event));
                state.version = *version;
                state.tag = *tag;
                if form.is_short() {
                    state.prompt = OpenPrompt::from_view(&state.view);
                } else {
                    state.prompt.clone_from(prompt);
                }
            }
            Message::Closed { .. } => *self = Self::default(),
            variants!(Message: Hello, Said, Ticket, Invited, Standing, Advice, Ack, Refusal) => {}
        }
        Ok(())
    }
}
