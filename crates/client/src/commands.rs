//! Resolves players' wishes to intents, decides which intents a table still expects, and interprets
//! refusals (docs/PROTOCOL.md, "A command whose answer was lost").

use bahay_engine::table::{GameId, PhaseView};
use bahay_protocol::{Command, read_action};

use crate::limits::ROOMS_MAX;
use crate::state::{Action, Intent, Outcome, TableState};

/// Refusal codes that a repeated command gets if its first copy took effect.
const ALREADY_DONE_CODES: [&str; 9] = [
    "stale_prompt",
    "not_asked",
    "already_answered",
    "other_game",
    "wrong_phase",
    "already_ready",
    "already_revealed",
    "not_taken_over",
    "not_seated",
];

/// A refusal of the server.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) rule: Option<String>,
    pub(crate) detail: String,
    pub(crate) is_retryable: bool,
}

/// Returns the game that the player is asked to be ready for.
pub(crate) fn game_to_be_ready_for(table: Option<&TableState>) -> Option<GameId> {
    let view = &table?.view;
    let seat = view.seat?;
    match &view.phase {
        PhaseView::Preparing { game, ready, .. } => (!ready.contains(seat)).then_some(*game),
        _ => None,
    }
}

/// Returns an action bound to the open prompt; `None` if there is none for the player, or if the
/// action is of another game.
pub(crate) fn bind_action(action: Action, table: Option<&TableState>) -> Option<Intent> {
    let table = table?;
    let prompt = table.prompt.as_ref().filter(|prompt| !prompt.legal.is_empty())?;
    read_action(&table.view.kind, &serde_json::to_string(&action).ok()?).ok()?;
    Some(Intent::Act { game: prompt.game, prompt: prompt.number, action })
}

/// Returns whether an intent concerns the joined table.
pub(crate) fn is_table_intent(intent: &Intent) -> bool {
    match intent {
        Intent::Ready { .. }
        | Intent::Reveal { .. }
        | Intent::Act { .. }
        | Intent::TakeBack
        | Intent::Leave
        | Intent::Say { .. }
        | Intent::Hint => true,
        Intent::Seek { .. } | Intent::CancelSeek | Intent::Watch { .. } | Intent::Unwatch => false,
    }
}

/// Returns whether the table, as far as it is known, would still accept an intent.
pub(crate) fn is_expected(intent: &Intent, table: Option<&TableState>) -> bool {
    let view = table.map(|table| &table.view);
    match intent {
        Intent::Ready { game, .. } => game_to_be_ready_for(table) == Some(*game),
        Intent::Reveal { game, .. } => {
            let request = view.and_then(|view| view.reveal_request());
            request.is_some_and(|(requested, ..)| requested == *game)
        }
        Intent::Act { game, prompt, .. } => {
            table.filter(|table| table.is_prompted()).is_some_and(|table| {
                let open = table.prompt.as_ref();
                open.is_some_and(|open| open.game == *game && open.number == *prompt)
            })
        }
        Intent::TakeBack => view.is_some_and(|view| {
            let occupant = view.seat.and_then(|seat| view.seats.get(seat.index()));
            occupant.is_some_and(|seat| seat.as_ref().is_some_and(|seat| seat.taken_over))
        }),
        Intent::Leave => view.is_some_and(|view| view.seat.is_some()),
        Intent::Hint => table.is_some_and(TableState::is_prompted),
        // A phrase may already have been heard, and repeated later it would mean something else.
        Intent::Say { .. } => false,
        Intent::Seek { .. } | Intent::CancelSeek | Intent::Watch { .. } | Intent::Unwatch => true,
    }
}

/// Returns whether the server reads the intent's fields at all.
pub(crate) fn is_well_formed(intent: &Intent) -> bool {
    match intent {
        Intent::Seek { rooms } => (1..=ROOMS_MAX).contains(&rooms.len()),
        Intent::Ready { .. }
        | Intent::Reveal { .. }
        | Intent::Act { .. }
        | Intent::Hint
        | Intent::TakeBack
        | Intent::Leave
        | Intent::Say { .. }
        | Intent::CancelSeek
        | Intent::Watch { .. }
        | Intent::Unwatch => true,
    }
}

/// Returns the outcome of a refused command; `is_repeated` states that the command may have been
/// sent before.
pub(crate) fn outcome_of_refusal(is_repeated: bool, refusal: Refusal) -> Outcome {
    let Refusal { code, rule, detail, .. } = refusal;
    if is_repeated && ALREADY_DONE_CODES.contains(&code.as_str()) {
        return Outcome::Overtaken;
    }
    Outcome::Refused { code, rule, detail }
}

/// Returns an intent as a command with this id.
pub(crate) fn to_command(intent: &Intent, id: u32) -> Command<Action> {
    match intent.clone() {
        Intent::Ready { game, commitment } => Command::Ready { id, game, commitment },
        Intent::Reveal { game, text } => Command::Reveal { id, game, text },
        Intent::Act { game, prompt, action } => Command::Act { id, game, prompt, action },
        Intent::Hint => Command::Hint { id },
        Intent::TakeBack => Command::TakeBack { id },
        Intent::Leave => Command::Leave { id },
        Intent::Say { phrase } => Command::Say { id, phrase },
        Intent::Seek { rooms } => Command::Seek { id, rooms },
        Intent::CancelSeek => Command::CancelSeek { id },
        Intent::Watch { table } => Command::Watch { id, table },
        Intent::Unwatch => Command::Unwatch { id },
    }
}
