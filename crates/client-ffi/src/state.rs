//! The parts of the client's state beside the view model.

use bahay_client::{Link, TableState};

use crate::json::to_json;

/// The state of the connection.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum LinkState {
    /// The client was not started, or was stopped.
    Off,
    SigningIn,
    Connecting {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// The socket is open; the table is not known to be current.
    Joining,
    /// The state is current.
    Live,
    /// An answer has been missing for 2 s: the state may be old, and stays visible.
    Weak,
    /// The back-off before the next attempt.
    Pausing {
        /// The end of the back-off, in milliseconds of the caller's monotonic clock.
        until_ms: i64,
        attempt: u32,
        reason: String,
    },
    /// A newer connection of the player is used. `Start` takes over again.
    Replaced,
    /// The session has ended. `Start` signs in again.
    SignedOut {
        code: String,
        detail: String,
    },
    /// This client and the server do not understand each other.
    Broken {
        reason: String,
    },
}

impl From<Link> for LinkState {
    fn from(link: Link) -> Self {
        match link {
            Link::Off => Self::Off,
            Link::SigningIn => Self::SigningIn,
            Link::Connecting { attempt } => Self::Connecting { attempt },
            Link::Joining => Self::Joining,
            Link::Live => Self::Live,
            Link::Weak => Self::Weak,
            Link::Pausing { until_ms, attempt, reason } => {
                Self::Pausing { until_ms, attempt, reason }
            }
            Link::Replaced => Self::Replaced,
            Link::SignedOut { code, detail } => Self::SignedOut { code, detail },
            Link::Broken { reason } => Self::Broken { reason },
        }
    }
}

/// A table as this client knows it, for apps that draw a game by themselves.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct TableSnapshot {
    pub version: u64,
    /// The tag of the version, as 16 hexadecimal digits.
    pub tag: String,
    /// False from the loss of the connection until the table has been joined again.
    pub is_current: bool,
    /// The `TableView` of asyncapi.yaml as JSON.
    pub view: String,
    /// The `OpenPrompt` of asyncapi.yaml as JSON, with the player's legal actions; `None` without
    /// an open prompt.
    pub prompt: Option<String>,
}

impl From<&TableState> for TableSnapshot {
    fn from(table: &TableState) -> Self {
        let TableState { view, version, tag, prompt, is_current, .. } = table;
        let tag = to_json(tag);
        Self {
            version: *version,
            tag: tag.trim_matches('"').to_owned(),
            is_current: *is_current,
            view: to_json(view),
            prompt: prompt.as_ref().map(to_json),
        }
    }
}
