//! The state of a table as this client knows it, derived from snapshots and updates, and the
//! client's observations of the deal.
//!
//! The engine trusts the house's events. The client does not, because anybody may answer in the
//! server's place: the engine is called behind a guard, and a message over which it panics counts
//! as unreadable and changes nothing.

use bahay_engine::catalog::{AnyEvent, AnyGame};
use bahay_engine::chance::ServerSeed;
use bahay_engine::table::{GameId, PhaseView, PlayerId, TableView, Timestamp};
use bahay_protocol::brief::Form;
use bahay_protocol::{Message, MessageReader, OpenPrompt, Tag};
use bahay_shell::catch_panic;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::state::{Action, CommitmentCheck, DealObservation, Event, TableState};

/// The text that this client has committed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seed {
    pub(crate) game: GameId,
    pub(crate) text: String,
    pub(crate) player: PlayerId,
}

/// A snapshot of the server.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) version: u64,
    pub(crate) tag: Tag,
    pub(crate) view: TableView<AnyGame>,
    pub(crate) prompt: Option<OpenPrompt<Action>>,
}

/// An update of the server.
#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) version: u64,
    pub(crate) tag: Tag,
    pub(crate) events: Vec<Event>,
    pub(crate) prompt: Option<OpenPrompt<Action>>,
    /// True if the prompt follows from the view, because the form of the message carries none.
    pub(crate) is_short: bool,
}

/// The reason why an update cannot be applied.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UpdateError {
    /// An earlier update is missing.
    Gap,
    /// The engine cannot follow the events.
    Unreadable(String),
}

#[derive(Serialize, Deserialize)]
struct StoredTable {
    player: Option<PlayerId>,
    deal: Option<DealObservation>,
    /// The table as the server's snapshot in its full form.
    snapshot: Box<RawValue>,
}

/// Returns the text that is stored for a restart; it is shown to no other player.
pub(crate) fn write_stored(table: &TableState, player: Option<PlayerId>) -> Option<String> {
    let TableState { view, version, tag, prompt, deal, .. } = table.clone();
    let snapshot = Message::<AnyGame>::Snapshot {
        version,
        tag,
        server_time_ms: Timestamp::default(),
        view: Box::new(view),
        prompt,
    };
    let snapshot = serde_json::value::to_raw_value(&snapshot).ok()?;
    serde_json::to_string(&StoredTable { player, deal, snapshot }).ok()
}

/// Reads a stored table; `None` if it is another player's, or if this version cannot read it.
pub(crate) fn read_stored(text: &str, of_player: Option<PlayerId>) -> Option<TableState> {
    let StoredTable { player, deal, snapshot } = serde_json::from_str(text).ok()?;
    let message = MessageReader::new(Form::Full).read(snapshot.get().as_bytes()).ok()?;
    let Message::Snapshot { version, tag, view, prompt, .. } = message else {
        return None;
    };
    let table = TableState { view: *view, version, tag, prompt, is_current: false, deal };
    (player == of_player).then_some(table)
}

/// Returns the table after a snapshot.
pub(crate) fn apply_snapshot(
    snapshot: Snapshot,
    before: Option<&TableState>,
    seed: Option<&Seed>,
    is_current: bool,
) -> TableState {
    let Snapshot { version, tag, view, prompt } = snapshot;
    let deal = game_of(&view).map(|game| {
        let known = before.and_then(|before| before.deal.clone());
        let known = known.filter(|deal| deal.game == game);
        observe_view(&view, known.unwrap_or_else(|| new_observation(game, &view, seed)))
    });
    TableState { view, version, tag, prompt, is_current, deal }
}

/// Returns the table after an update.
///
/// # Errors
/// If an earlier update is missing, or if the engine cannot follow the events.
pub(crate) fn apply_update(
    update: &Update,
    before: &TableState,
    seed: Option<&Seed>,
) -> Result<TableState, UpdateError> {
    if Some(update.version) != before.version.checked_add(1) {
        return Err(UpdateError::Gap);
    }
    let after = || {
        let TableState { mut view, mut deal, is_current, .. } = before.clone();
        for event in &update.events {
            view.observe(event);
            deal = observe_event(event, &view, deal, seed);
        }
        let prompt =
            if update.is_short { OpenPrompt::from_view(&view) } else { update.prompt.clone() };
        TableState { view, version: update.version, tag: update.tag, prompt, is_current, deal }
    };
    catch_panic(after).map_err(UpdateError::Unreadable)
}

/// Checks that the seed revealed at the end is the one committed to at the beginning.
pub(crate) fn check_commitment(
    of_game: GameId,
    server_seed: ServerSeed,
    deal: Option<&DealObservation>,
) -> CommitmentCheck {
    let shown = deal.filter(|deal| deal.game == of_game).and_then(|deal| deal.commitment);
    CommitmentCheck { server_seed, computed: server_seed.commitment(), shown }
}

/// Returns the game in preparation, play or settlement.
pub(crate) fn game_of(view: &TableView<AnyGame>) -> Option<GameId> {
    match &view.phase {
        PhaseView::Waiting => None,
        PhaseView::Preparing { game, .. }
        | PhaseView::Opening { game }
        | PhaseView::Revealing { game, .. }
        | PhaseView::Playing { game, .. }
        | PhaseView::Settling { game, .. } => Some(*game),
    }
}

fn new_observation(
    game: GameId,
    view: &TableView<AnyGame>,
    seed: Option<&Seed>,
) -> DealObservation {
    let text = seed.filter(|seed| seed.game == game).map(|seed| seed.text.clone());
    DealObservation {
        game,
        commitment: None,
        commitments: None,
        text,
        is_revealed: false,
        seat: view.seat,
        hand: None,
    }
}

fn observe_view(view: &TableView<AnyGame>, mut deal: DealObservation) -> DealObservation {
    deal.seat = view.seat;
    match &view.phase {
        PhaseView::Preparing { commitment, .. } => {
            deal.commitment.get_or_insert(*commitment);
        }
        PhaseView::Revealing { commitments, revealed, .. } => {
            deal.commitments.get_or_insert_with(|| commitments.clone());
            deal.is_revealed |= view.seat.is_some_and(|seat| revealed.contains(seat));
        }
        PhaseView::Waiting
        | PhaseView::Opening { .. }
        | PhaseView::Playing { .. }
        | PhaseView::Settling { .. } => {}
    }
    deal
}

fn observe_event(
    event: &Event,
    view: &TableView<AnyGame>,
    deal: Option<DealObservation>,
    seed: Option<&Seed>,
) -> Option<DealObservation> {
    match event {
        Event::Waiting => None,
        Event::Preparing { game, commitment, .. } => Some(DealObservation {
            commitment: Some(*commitment),
            ..new_observation(*game, view, seed)
        }),
        Event::Revealing { commitments, .. } => {
            let commitments = Some(commitments.clone());
            deal.map(|deal| DealObservation { seat: view.seat, commitments, ..deal })
        }
        Event::Revealed { seat } if Some(*seat) == view.seat => {
            deal.map(|deal| DealObservation { is_revealed: true, ..deal })
        }
        Event::Game { event } => {
            let is_open = deal.as_ref().is_some_and(|deal| deal.hand.is_none());
            let hand = if is_open { dealt_hand(event, view) } else { None };
            match hand {
                Some(hand) => {
                    deal.map(|deal| DealObservation { seat: view.seat, hand: Some(hand), ..deal })
                }
                None => deal,
            }
        }
        _ => deal,
    }
}

/// Returns the viewer's own hand from the event of a game that deals all hands at once.
fn dealt_hand(event: &AnyEvent, view: &TableView<AnyGame>) -> Option<Vec<String>> {
    // Events are written as text elsewhere too, and compiled for that form alone.
    let event = serde_json::to_vec(event).ok()?;
    let event: Value = serde_json::from_slice(&event).ok()?;
    let hand = event.get("hands").filter(|_| event["type"] == "dealt")?;
    Deserialize::deserialize(hand.get(view.seat?.index())?).ok()
}
