//! Players who return to their table while PostgreSQL is down. The signature of an access token is
//! verified without PostgreSQL, but not whether its session still exists. Such a player is admitted
//! if it sits at a table, and may use only that table. Once PostgreSQL responds, the session is
//! looked up, and the connection of a revoked one is closed. A ban revokes the sessions of its
//! player.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bahay_engine::variants;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::auth::{Auth, AuthError, ReturningPlayer, UnconfirmedPlayer};
use crate::entropy;
use crate::ids::{PlayerId, SessionId};
use crate::ws::protocol::Command;
use crate::ws::state::PlayState;

/// The pause between two lookups of a session, plus a random delay of up to the same length.
const LOOKUP_INTERVAL: Duration = Duration::from_secs(1);

/// Admits a player whose session cannot be looked up only if it sits at a table.
///
/// # Errors
/// [`AuthError::Unavailable`] if the player has no seat, or its seat cannot be read either.
pub(in crate::ws) async fn admit(
    state: &PlayState,
    player: ReturningPlayer,
) -> Result<ReturningPlayer, AuthError> {
    let ReturningPlayer::Unconfirmed(unconfirmed) = player else {
        return Ok(player);
    };
    match state.lobby.seated_at(unconfirmed.id()).await {
        Ok(Some(_)) => Ok(player),
        Ok(None) => Err(AuthError::Unavailable),
        Err(error) => {
            tracing::debug!(%error, "a returning player's seat could not be read");
            Err(AuthError::Unavailable)
        }
    }
}

/// The right of a connection to act for its player.
#[derive(Debug)]
pub(in crate::ws) struct SessionAuthority {
    pub(in crate::ws) player: PlayerId,
    pub(in crate::ws) session: SessionId,
    confirmation: Option<Confirmation>,
}

/// The lookup of an unconfirmed session.
#[derive(Debug)]
struct Confirmation {
    is_confirmed: Arc<AtomicBool>,
    task: AbortHandle,
}

impl Drop for Confirmation {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SessionAuthority {
    pub(in crate::ws) fn new(player: ReturningPlayer, auth: &Auth) -> Self {
        match player {
            ReturningPlayer::Confirmed(player) => {
                Self { player: player.id, session: player.session, confirmation: None }
            }
            ReturningPlayer::Unconfirmed(player) => {
                let is_confirmed = Arc::new(AtomicBool::new(false));
                let task = tokio::spawn(confirm(auth.clone(), player, is_confirmed.clone()));
                let task = task.abort_handle();
                let confirmation = Some(Confirmation { is_confirmed, task });
                Self { player: player.id(), session: player.session(), confirmation }
            }
        }
    }

    /// Returns true if the connection may send the command: any command with a confirmed session,
    /// otherwise only those about the player's own seat.
    pub(in crate::ws) fn allows<A>(&self, command: &Command<A>) -> bool {
        let is_confirmed =
            |confirmation: &Confirmation| confirmation.is_confirmed.load(Ordering::Acquire);
        if self.confirmation.as_ref().is_none_or(is_confirmed) {
            return true;
        }
        match command {
            variants!(Command: Authenticate, Join, Ready, Reveal, Act, TakeBack, Leave, Ping) => {
                true
            }
            variants!(Command: Watch, Unwatch, Seek, CancelSeek, Say, Hint) => false,
        }
    }
}

/// Looks up a session until PostgreSQL responds. The lookup of a session that has ended revokes it,
/// which closes its connections.
async fn confirm(auth: Auth, player: UnconfirmedPlayer, is_confirmed: Arc<AtomicBool>) {
    loop {
        sleep(LOOKUP_INTERVAL + entropy::random_duration(LOOKUP_INTERVAL)).await;
        match auth.confirm(player).await {
            Ok(_) => return is_confirmed.store(true, Ordering::Release),
            Err(error) if error.is_transient() => {}
            Err(error) => {
                tracing::info!(player = %player.id(), %error, "the session of a returning player has ended");
                return;
            }
        }
    }
}
