//! Players with an open socket. A seat is reserved only for a player who can be asked whether it is
//! ready, so every path to a seat checks this. Each process counts the sockets of its players, and
//! publishes for each player whether there are any (`live_store/online`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::table::PlayerId;
use tokio::sync::broadcast;
use tokio::time::{MissedTickBehavior, timeout};

use crate::entropy;
use crate::live_store::{LiveStore, OnlinePublisher, Unavailable};

use super::{Lobby, LobbyError, PlayerNews};

/// The interval at which a process refreshes its published players, well within
/// [`crate::live_store::ONLINE_MS`].
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The capacity of a socket's queue of news. The oldest are dropped when it is full.
const NEWS_MAX: usize = 4;

/// The timeout of publishing a player's state when a connection opens or closes.
const PUBLISH_TIMEOUT: Duration = Duration::from_millis(500);

/// The players with open sockets at this process. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Online {
    process: Arc<str>,
    sockets: Arc<Mutex<HashMap<PlayerId, Sockets>>>,
}

/// The sockets of one player.
#[derive(Debug)]
struct Sockets {
    count: usize,
    news: broadcast::Sender<Arc<PlayerNews>>,
}

impl Online {
    pub(super) fn new() -> Self {
        Self { process: entropy::uuid().to_string().into(), sockets: Arc::default() }
    }

    fn sockets(&self) -> MutexGuard<'_, HashMap<PlayerId, Sockets>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contains(&self, player: PlayerId) -> bool {
        self.sockets().contains_key(&player)
    }

    /// Counts a new socket. Returns true if it is the first of its player.
    fn add(&self, player: PlayerId) -> bool {
        let mut sockets = self.sockets();
        let new = || Sockets { count: 0, news: broadcast::Sender::new(NEWS_MAX) };
        let sockets = sockets.entry(player).or_insert_with(new);
        sockets.count += 1;
        sockets.count == 1
    }

    /// Removes a socket from the count. Returns true if it was the last of its player.
    fn remove(&self, player: PlayerId) -> bool {
        let mut all = self.sockets();
        match all.get_mut(&player) {
            Some(sockets) if sockets.count > 1 => {
                sockets.count -= 1;
                false
            }
            Some(_) | None => all.remove(&player).is_some(),
        }
    }

    /// Subscribes to the news of a player who has a socket at this process.
    fn subscribe_to_news(&self, player: PlayerId) -> Option<broadcast::Receiver<Arc<PlayerNews>>> {
        self.sockets().get(&player).map(|sockets| sockets.news.subscribe())
    }

    /// Delivers news to all sockets of these players at this process.
    pub(super) fn deliver_news(&self, to: &[PlayerId], news: &PlayerNews) {
        let all = self.sockets();
        let news = Arc::new(news.clone());
        for sockets in to.iter().filter_map(|player| all.get(player)) {
            // A socket that is opening or closing may have no subscription.
            let _ = sockets.news.send(news.clone());
        }
    }

    /// Creates the publisher of these sockets.
    pub(super) fn publisher(&self, live: &LiveStore) -> OnlinePublisher {
        let online = self.clone();
        live.online_publisher(self.process.clone(), move |player| online.contains(player))
    }
}

/// An open socket of a player, counted until this is closed or dropped.
#[derive(Debug)]
pub struct OpenSocket {
    online: Online,
    player: PlayerId,
    is_closed: bool,
}

impl OpenSocket {
    /// Subscribes to the player's news from now on.
    pub fn subscribe_to_news(&self) -> Option<broadcast::Receiver<Arc<PlayerNews>>> {
        self.online.subscribe_to_news(self.player)
    }

    /// Removes the socket from the count, and publishes it if it was the last of its player.
    pub async fn close(mut self, lobby: &Lobby) {
        self.is_closed = true;
        if self.online.remove(self.player) {
            lobby.publish_online(self.player).await;
        }
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        if !self.is_closed {
            // The next refresh publishes the change.
            self.online.remove(self.player);
        }
    }
}

impl Lobby {
    /// Returns the number of players with an open socket at this process.
    pub fn count_online(&self) -> usize {
        self.online.sockets().len()
    }

    /// Counts an open socket of a player, and publishes it if it is the first.
    pub async fn register_socket(&self, player: PlayerId) -> OpenSocket {
        let socket = OpenSocket { online: self.online.clone(), player, is_closed: false };
        if self.online.add(player) {
            self.publish_online(player).await;
        }
        socket
    }

    /// Publishes whether a player has sockets at this process. Repeats this if the state changes
    /// meanwhile.
    async fn publish_online(&self, player: PlayerId) {
        loop {
            // The next refresh repairs a call that fails or times out.
            match timeout(PUBLISH_TIMEOUT, self.online_publisher.publish(player)).await {
                Ok(Ok(published)) if published != self.online.contains(player) => {}
                Ok(Ok(_)) | Err(_) => return,
                Ok(Err(error)) => {
                    tracing::debug!(%player, %error, "an open socket is not published yet");
                    return;
                }
            }
        }
    }

    /// Refreshes the published players of this process. Runs for as long as it is polled; a process
    /// has one such task.
    pub async fn run_online_refresh(self) {
        let mut ticks = tokio::time::interval(REFRESH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut published = HashSet::new();
        loop {
            ticks.tick().await;
            if let Err(error) = self.refresh_online(&mut published).await {
                tracing::debug!(%error, "open sockets could not be refreshed");
            }
        }
    }

    /// Refreshes every shard that has players at this process, or had some at the last refresh.
    async fn refresh_online(&self, published: &mut HashSet<u16>) -> Result<(), Unavailable> {
        let mut by_shard: BTreeMap<u16, Vec<PlayerId>> =
            published.drain().map(|shard| (shard, Vec::new())).collect();
        for player in self.online.sockets().keys() {
            by_shard.entry(self.live.shard_of_player(*player)).or_default().push(*player);
        }
        let mut failed = None;
        for (shard, players) in by_shard {
            let process = &self.online.process;
            let refreshed = match self.live.refresh_online(shard, process, players.len()).await {
                Ok(true) => Ok(()),
                Ok(false) => self.repair_online(shard, &players).await,
                Err(error) => Err(error),
            };
            if refreshed.is_err() || !players.is_empty() {
                published.insert(shard);
            }
            failed = failed.or(refreshed.err());
        }
        failed.map_or(Ok(()), Err)
    }

    /// Repairs the published players of this process in one shard.
    async fn repair_online(&self, shard: u16, players: &[PlayerId]) -> Result<(), Unavailable> {
        let published = self.live.add_online(shard, &self.online.process, players).await?;
        for player in published {
            if !self.online.contains(player) {
                self.publish_online(player).await;
            }
        }
        Ok(())
    }

    /// Rejects a player without an open socket.
    pub(super) async fn require_socket(&self, player: PlayerId) -> Result<(), LobbyError> {
        if self.filter_online(&[player]).await?.contains(&player) {
            Ok(())
        } else {
            Err(LobbyError::SocketRequired)
        }
    }

    /// Returns those of these players for whom a seat may be reserved.
    pub(super) async fn filter_online(
        &self,
        players: &[PlayerId],
    ) -> Result<HashSet<PlayerId>, Unavailable> {
        if !self.options.socket_required {
            return Ok(players.iter().copied().collect());
        }
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            players.iter().copied().partition(|player| self.online.contains(*player));
        let mut online = self.live.online_players(&elsewhere).await?;
        online.extend(here);
        Ok(online)
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::{GameId, PlayerId};
    use uuid::Uuid;

    use super::{Online, PlayerNews};
    use crate::lobby::Invitation;

    #[test]
    fn a_player_is_online_from_the_first_socket_to_the_last() {
        let online = Online::new();
        let player = PlayerId(Uuid::from_u128(1));
        assert!(online.add(player) && !online.add(player));
        assert!(!online.remove(player) && online.contains(player));
        assert!(online.remove(player) && !online.contains(player));
        assert!(!online.remove(player), "a socket is not counted twice");
    }

    #[test]
    fn every_socket_of_the_invited_hears_an_invitation_and_nobody_else() {
        let online = Online::new();
        let [invited, other] = [1, 2].map(|id| PlayerId(Uuid::from_u128(id)));
        for player in [invited, invited, other] {
            online.add(player);
        }
        let hear = |player| online.subscribe_to_news(player).unwrap();
        let [mut first, mut second, mut others] = [hear(invited), hear(invited), hear(other)];
        let invitation = PlayerNews::Invitation(Invitation {
            code: "K7MWQ2XA".into(),
            from: other,
            name: "Benjie".into(),
            game: GameId(Uuid::from_u128(3)),
        });
        online.deliver_news(&[invited, PlayerId(Uuid::from_u128(9))], &invitation);
        assert_eq!(*first.try_recv().unwrap(), invitation);
        assert_eq!(*second.try_recv().unwrap(), invitation);
        assert!(others.try_recv().is_err());
        online.remove(invited);
        online.remove(invited);
        assert!(online.subscribe_to_news(invited).is_none());
    }
}
