//! The client object.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bahay_client::ClientCore;

use crate::effect::{ClientEffect, ClientNotification, CommandOutcome};
use crate::error::ClientError;
use crate::input::{ClientInput, ClientTime, find_overtaken, to_core_input};
use crate::options::{ClientOptions, to_core_options};
use crate::screen::{ActionRefusalModel, ScreenModel};
use crate::state::TableSnapshot;

/// A player's client as a state machine without I/O. It may be used from any thread, but effects
/// must be performed in the order in which they were returned.
#[derive(Debug, uniffi::Object)]
pub struct PlayerClient {
    core: Mutex<ClientCore>,
}

/// The result of an input.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct HandledInput {
    /// The effects, to be performed in order before the next input.
    pub effects: Vec<ClientEffect>,
    /// The time of the monotonic clock at which to pass [`ClientInput::Timeout`], in milliseconds;
    /// `None` for never. It replaces the time of the input before.
    pub timeout_ms: Option<i64>,
}

#[uniffi::export]
impl PlayerClient {
    /// Creates a client that is off until [`ClientInput::Start`]. Stored values that this version
    /// cannot read are ignored.
    ///
    /// # Errors
    /// If the random seed has not 32 bytes.
    #[uniffi::constructor]
    pub fn new(options: ClientOptions, time: ClientTime) -> Result<Arc<Self>, ClientError> {
        let core = ClientCore::new(to_core_options(options, time)?);
        Ok(Arc::new(Self { core: Mutex::new(core) }))
    }

    /// Handles an input at this time. A monotonic clock that runs backwards counts as standing
    /// still.
    ///
    /// # Errors
    /// If the input names an action, a phrase or a table that cannot exist. The client is
    /// unchanged.
    pub fn handle_input(
        &self,
        time: ClientTime,
        input: ClientInput,
    ) -> Result<HandledInput, ClientError> {
        let mut core = self.lock();
        if let Some(command) = find_overtaken(&core, &input) {
            let outcome = CommandOutcome::Overtaken;
            let notification = ClientNotification::Ended { command, outcome };
            let effects = vec![ClientEffect::Notify { notification }];
            return Ok(HandledInput { effects, timeout_ms: core.poll_timeout() });
        }
        let input = to_core_input(&core, input)?;
        core.handle_input(time.into(), input);
        let effects = std::iter::from_fn(|| core.poll_effect()).map(ClientEffect::from).collect();
        Ok(HandledInput { effects, timeout_ms: core.poll_timeout() })
    }

    /// Returns everything that an app shows at a time of the monotonic clock.
    pub fn screen(&self, now_ms: i64) -> ScreenModel {
        self.lock().screen(now_ms).into()
    }

    /// Returns the player's table, for apps that draw a game by themselves.
    pub fn table(&self) -> Option<TableSnapshot> {
        self.lock().state().table.as_ref().map(TableSnapshot::from)
    }

    /// Returns the watched table.
    pub fn watched(&self) -> Option<TableSnapshot> {
        self.lock().state().watched.as_ref().map(TableSnapshot::from)
    }

    /// Returns the id of the player who is signed in.
    pub fn player_id(&self) -> Option<String> {
        self.lock().state().player.as_ref().map(|player| player.id.0.to_string())
    }

    /// Returns the reason for which the server would refuse an action now; `None` if it is legal,
    /// or if no game is played.
    ///
    /// # Errors
    /// If the text is no action of the table's game.
    pub fn find_refusal(&self, action: String) -> Result<Option<ActionRefusalModel>, ClientError> {
        let core = self.lock();
        let action = core.read_action(&action).ok_or(ClientError::NotAnAction)?;
        Ok(core.find_refusal(&action).map(ActionRefusalModel::from))
    }

    /// Returns the server's time, in milliseconds since 1970-01-01 UTC, at a time of the monotonic
    /// clock.
    pub fn server_time_ms(&self, now_ms: i64) -> i64 {
        self.lock().server_time_ms(now_ms)
    }
}

impl PlayerClient {
    /// Locks the core. The core catches panics of the engine, so a poisoned lock guards a sound
    /// state.
    fn lock(&self) -> MutexGuard<'_, ClientCore> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
