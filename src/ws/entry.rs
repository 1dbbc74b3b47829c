//! The first message of a socket that was opened without a token in its header, as browsers must:
//! who it is, by an access token or by a ticket. The request itself may have said so (`opening`);
//! then no message is waited for.
//!
//! There is one attempt, within [`PATIENCE`]; nothing else is listened to. Whatever fails is said
//! in a refusal and ends the connection.

use std::time::Duration;

use axum::extract::ws::Message as Frame;

use crate::auth::{AuthError, ReturningPlayer, Ticket};
use crate::rate_limit;
use crate::ws::door::PlayState;
use crate::ws::opening::Credentials;
use crate::ws::protocol::{Command, Message, close};
use crate::ws::returning;
use crate::ws::session::{readable_id, stopped};
use crate::ws::wire::{Ended, Wire, unreadable};
use serde::de::IgnoredAny;

/// How long a stranger may take to say who it is.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A stranger who has said who it is.
pub(super) struct Entered {
    pub(super) player: ReturningPlayer,
    /// The id of the command, which the session acknowledges.
    pub(super) command: u32,
}

/// A refusal: the id of its command, the code, words about it.
struct Refusal {
    id: Option<u32>,
    code: &'static str,
    detail: String,
    retryable: bool,
    ended: Ended,
}

const ENDED: Ended = (close::NOT_AUTHENTICATED, "say first who you are");

/// The end of a client that has nothing to mend: another token would be refused alike.
const LATER: Ended = (close::TOO_FAST, "sessions cannot be read just now; wait and connect again");

/// Until the client has said who it is; `None` when it has gone before.
pub(super) async fn authenticate(
    wire: &mut Wire,
    state: &PlayState,
    said: Option<Credentials>,
) -> Result<Option<Entered>, Ended> {
    let said = match said {
        Some(said) => Ok(said),
        None => match first_message(wire, state).await? {
            Some(text) => read(&text),
            None => return Ok(None),
        },
    };
    let entered = match said {
        Ok(said) => enter(said, state).await,
        Err(refusal) => Err(refusal),
    };
    match entered {
        Ok(entered) => Ok(Some(entered)),
        Err(Refusal { id, code, detail, retryable, ended }) => {
            let code = code.into();
            let refusal =
                Message::Refusal { id, code, rule: None, detail, retryable, retry_after_ms: None };
            wire.say([refusal].into_iter())?;
            Err(ended)
        }
    }
}

/// The first text of a stranger, who may not take long; `None` when it has gone before.
async fn first_message(wire: &mut Wire, state: &PlayState) -> Result<Option<String>, Ended> {
    let mut stopping = state.stopping.clone();
    tokio::select! {
        text = first_text(wire) => text,
        () = stopped(&mut stopping) => Err((close::GOING_AWAY, "the server stops; connect again")),
        () = tokio::time::sleep(PATIENCE) => Err(ENDED),
    }
}

async fn first_text(wire: &mut Wire) -> Result<Option<String>, Ended> {
    loop {
        match wire.next().await {
            Some(Ok(Frame::Text(text))) => return Ok(Some(text.as_str().to_owned())),
            Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Close(_))) => {}
            Some(Ok(Frame::Binary(_))) => return Err((close::PROTOCOL, "send JSON as text")),
            Some(Err(error)) => return Err(unreadable(error)),
            None => return Ok(None),
        }
    }
}

fn refuse(id: Option<u32>, code: &'static str, detail: String) -> Refusal {
    Refusal { id, code, detail, retryable: false, ended: ENDED }
}

fn read(text: &str) -> Result<Credentials, Refusal> {
    let command = serde_json::from_str::<Command<IgnoredAny>>(text).map_err(|error| {
        refuse(readable_id(text), "malformed", format!("not a command: {error}"))
    })?;
    let Command::Authenticate { id, token, ticket } = command else {
        let detail = "say first who you are: authenticate".to_owned();
        return Err(refuse(Some(command.id()), "not_authenticated", detail));
    };
    Ok(Credentials { id, token, ticket })
}

async fn enter(said: Credentials, state: &PlayState) -> Result<Entered, Refusal> {
    let Credentials { id, token, ticket } = said;
    let player = match (token, ticket) {
        (Some(token), None) => match state.auth.authenticate_for_return(token.as_str()).await {
            Ok(player) => returning::admit(state, player).await,
            Err(error) => Err(error),
        },
        (None, Some(ticket)) => {
            let unknown = || {
                let detail = "the ticket was never given, has been used or has expired";
                refuse(Some(id), "ticket_unknown", detail.to_owned())
            };
            let ticket: Ticket = ticket.as_str().parse().map_err(|_| unknown())?;
            let taken = state.live.take_ticket(ticket.hash()).await.map_err(|error| {
                tracing::warn!(%error, "a ticket could not be taken");
                let detail = "tickets cannot be read just now: try again with a new one".to_owned();
                Refusal { retryable: true, ended: LATER, ..refuse(Some(id), "unavailable", detail) }
            })?;
            state.auth.redeem_ticket(&taken.ok_or_else(unknown)?).map(ReturningPlayer::Confirmed)
        }
        (None, None) | (Some(_), Some(_)) => {
            let detail = "give either a token or a ticket".to_owned();
            return Err(refuse(Some(id), "malformed", detail));
        }
    };
    let player = player.map_err(|error: AuthError| Refusal {
        retryable: error.is_transient(),
        ended: if error.is_transient() { LATER } else { ENDED },
        ..refuse(Some(id), error.code(), error.to_string())
    })?;
    state.rate_limits.check_socket_handshake(player.id()).map_err(|refused: rate_limit::AdmissionError| Refusal {
        retryable: true,
        ended: (close::TOO_FAST, "too many connections"),
        ..refuse(Some(id), "too_fast", refused.to_string())
    })?;
    Ok(Entered { player, command: id })
}
