//! Publications: a node subscribes to the channel of every table at which it has a watcher.
//! Channels are sharded, like keys. A subscription that is lost, with a connection or with a
//! migrating slot, is renewed at the server that then serves the slot. The possible gap is reported
//! at the loss and again once the subscriptions are renewed; lines published meanwhile are read
//! from the journals.
//!
//! A listener is registered at the table once its subscription is established, so that a process
//! which is the only listener does not receive its own lines.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::table::TableId;
use futures_util::future::join_all;
use redis::{PushInfo, PushKind, Value};
use tokio::sync::{Notify, broadcast, mpsc};
use tokio::time::{MissedTickBehavior, interval};

use super::journal::parse_entry;
use crate::connection::{Connection, NodeAddress, PushHandler};
use crate::players::{PLAYER_MESSAGES_MAX, PlayerMessage};
use crate::{JournalEntry, LiveStore, Options, Point, Script, Unavailable, script};
use bahay_base::entropy;

static LISTEN: Script = script!("listen.lua");

/// The interval at which every subscription is compared with the server of its slot. A loss that a
/// server reports is repaired at once.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(1);

/// The suffix of a table's channel.
const LINES: &str = ":lines";

/// A message of the subscription connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publication {
    /// Lines were appended to a table's journal after a point.
    Lines { table: TableId, after: Point, lines: Vec<JournalEntry> },
    /// A table was ended.
    Ended { table: TableId },
    /// A message to the watchers of a table that is not part of its journal.
    Talk { table: TableId, text: String },
    /// Publications may have been missed.
    Interrupted,
}

/// The subscriptions, on a connection of their own, so that push messages never wait behind
/// answers. Clones share it.
#[derive(Clone)]
pub(crate) struct Subscriptions {
    pub(super) subscriber: Subscriber,
    /// The renewal task, which ends with the last clone.
    _renewal: Arc<RenewalTask>,
}

/// The subscriptions without the renewal task, which has a clone.
#[derive(Clone)]
pub(super) struct Subscriber {
    connection: Connection,
    /// The connection of the calls, which register listeners and detect migrating slots.
    commands: Connection,
    /// The name by which tables know this process among their listeners.
    pub(super) listener: Arc<str>,
    pushes: Arc<PushState>,
}

struct RenewalTask(tokio::task::AbortHandle);

impl Drop for RenewalTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The state that follows from the push messages of the servers.
struct PushState {
    channels: Mutex<Channels>,
    /// Notified when a subscription is lost.
    lost: Notify,
    /// The sender of publications, unbounded because Redis drops a subscriber that does not read:
    /// the reader must never block.
    publications: mpsc::UnboundedSender<Publication>,
    /// The sender of messages for players, which do not belong to a table.
    player_messages: broadcast::Sender<PlayerMessage>,
}

#[derive(Default)]
struct Channels {
    wanted: HashMap<String, SubscriptionState>,
    /// The number of losses. A subscription that was under way during a loss may be affected.
    losses: u64,
}

/// The state of a subscription.
#[derive(Clone, PartialEq, Eq)]
enum SubscriptionState {
    /// The subscription is being established.
    Pending,
    At(NodeAddress),
    Lost,
}

impl Subscriptions {
    /// Connects for subscriptions. `commands` is the connection of the calls, which detect
    /// migrating slots.
    pub(crate) async fn connect(
        options: &Options,
        commands: Connection,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Publication>), Unavailable> {
        let (publications, receiver) = mpsc::unbounded_channel();
        let pushes = Arc::new(PushState {
            channels: Mutex::default(),
            lost: Notify::new(),
            publications,
            player_messages: broadcast::Sender::new(PLAYER_MESSAGES_MAX),
        });
        let handler_state = pushes.clone();
        let push: PushHandler = Arc::new(move |from, push| handler_state.handle_push(from, &push));
        let connection = Connection::open(options, Some(push)).await?;
        let listener = entropy::tag().to_string().into();
        let subscriber = Subscriber { connection, commands, listener, pushes };
        let renewal = tokio::spawn(subscriber.clone().renew_subscriptions());
        let renewal = Arc::new(RenewalTask(renewal.abort_handle()));
        Ok((Self { subscriber, _renewal: renewal }, receiver))
    }
}

impl Subscriber {
    /// Renews lost subscriptions, forever. A server that does not answer is retried in the next
    /// round.
    async fn renew_subscriptions(self) {
        let Self { connection, commands, pushes, .. } = &self;
        let mut ticks = interval(RENEWAL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut generation = commands.generation();
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = pushes.lost.notified() => {}
            }
            // The commands were sent to a replica, and so were the subscriptions.
            let replaced = commands.generation();
            if replaced != generation {
                generation = replaced;
                connection.reconnect();
                pushes.mark_lost(|_, place| *place != SubscriptionState::Pending);
                pushes.publish(Publication::Interrupted);
            }
            if pushes.channels().wanted.is_empty() {
                continue;
            }
            // While a slot migrates its new master publishes, and the subscriptions are still at
            // the old one.
            if commands.take_slot_migration() {
                pushes.publish(Publication::Interrupted);
            }
            if let Err(error) = connection.refresh().await {
                tracing::debug!(%error, "the slot map could not be refreshed");
            }
            // Servers are handled concurrently, so that one that does not answer delays none of the
            // others.
            let renewals = pushes.take_misplaced(connection).into_values().map(|channels| {
                let subscriber = &self;
                async move {
                    let renewals = channels.iter().map(|channel| subscriber.subscribe(channel));
                    if join_all(renewals).await.iter().any(Result::is_ok) {
                        subscriber.pushes.publish(Publication::Interrupted);
                    }
                }
            });
            join_all(renewals).await;
        }
    }

    /// Subscribes to a channel, then registers as a listener. Returns false if the table does not
    /// exist.
    async fn subscribe(&self, channel: &str) -> Result<bool, Unavailable> {
        let losses = self.pushes.channels().losses;
        let mut connection = self.connection.clone();
        let mut call = redis::cmd("SSUBSCRIBE");
        call.arg(channel);
        let answered = call.query_async::<()>(&mut connection).await;
        let noted = match answered {
            // Only tables register their listeners.
            Ok(()) if !channel.ends_with(LINES) => Ok(true),
            Ok(()) => self.set_listening(channel, true).await,
            Err(error) => Err(error.into()),
        };
        // An unregistered listener receives nothing, so the subscription does not count as
        // established.
        let at = connection.answered_by().filter(|_| noted.is_ok());
        self.pushes.finish_subscribe(channel, at, losses);
        noted
    }

    /// Adds or removes this process as a listener. Returns false if the table does not exist.
    async fn set_listening(&self, channel: &str, listens: bool) -> Result<bool, Unavailable> {
        let table = channel.strip_suffix(LINES).unwrap_or(channel);
        let mut call = LISTEN.key(format!("{table}:head"));
        call.arg(&*self.listener).arg(u8::from(listens));
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }
}

impl PushState {
    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle_push(&self, from: &NodeAddress, push: &PushInfo) {
        match push.kind {
            PushKind::Disconnection => {
                self.mark_lost(|_, place| *place == SubscriptionState::At(from.clone()));
                self.publish(Publication::Interrupted);
            }
            // The server no longer serves the slot. A channel that this process unsubscribed from
            // is no longer wanted.
            PushKind::SUnsubscribe => {
                let Some(channel) = push.data.first().and_then(as_text) else { return };
                if self.channels().wanted.contains_key(channel) {
                    let at = SubscriptionState::At(from.clone());
                    if self.mark_lost(|wanted, place| wanted == channel && *place == at) {
                        self.publish(Publication::Interrupted);
                    }
                }
            }
            PushKind::SMessage => {
                let [channel, payload] = push.data.as_slice() else { return };
                let (Some(channel), Some(payload)) = (as_text(channel), as_text(payload)) else {
                    return;
                };
                if let Some(table_key) = channel.strip_suffix(LINES) {
                    if let Some(publication) = parse_publication(table_key, payload) {
                        self.publish(publication);
                    }
                } else if let Some(message) = PlayerMessage::from_payload(payload) {
                    // There may be no subscriber.
                    let _ = self.player_messages.send(message);
                }
            }
            _ => {}
        }
    }

    /// Marks subscriptions as lost. Returns true if there were any.
    fn mark_lost(&self, is_lost: impl Fn(&str, &SubscriptionState) -> bool) -> bool {
        let mut any = false;
        let mut channels = self.channels();
        channels.losses += 1;
        for (channel, place) in &mut channels.wanted {
            if is_lost(channel, place) {
                *place = SubscriptionState::Lost;
                any = true;
            }
        }
        drop(channels);
        if any {
            self.lost.notify_one();
        }
        any
    }

    /// Returns the channels whose subscription is not at the server of their slot, by that server,
    /// and marks them as pending.
    fn take_misplaced(&self, connection: &Connection) -> BTreeMap<NodeAddress, Vec<String>> {
        let mut misplaced = BTreeMap::<_, Vec<_>>::new();
        for (channel, place) in &mut self.channels().wanted {
            let Some(home) = connection.master_of_key(channel) else { continue };
            let is_misplaced = match place {
                SubscriptionState::Pending => false,
                SubscriptionState::At(at) => *at != home,
                SubscriptionState::Lost => true,
            };
            if is_misplaced {
                *place = SubscriptionState::Pending;
                misplaced.entry(home).or_default().push(channel.clone());
            }
        }
        misplaced
    }

    /// Records the outcome of a subscription that began after `losses` losses.
    fn finish_subscribe(&self, channel: &str, at: Option<NodeAddress>, losses: u64) {
        let mut channels = self.channels();
        let is_sure = channels.losses == losses;
        if let Some(place) = channels.wanted.get_mut(channel) {
            *place = at.filter(|_| is_sure).map_or(SubscriptionState::Lost, SubscriptionState::At);
        }
    }

    fn publish(&self, publication: Publication) {
        // The receiver may be closed.
        let _ = self.publications.send(publication);
    }
}

fn as_text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// Parses a message on the channel of the table with this key.
fn parse_publication(table_key: &str, payload: &str) -> Option<Publication> {
    let table = table_key.rsplit(':').next()?.parse().ok()?;
    let mut lines = payload.split('\n');
    let (version, tag) = match lines.next()? {
        "ended" => return Some(Publication::Ended { table }),
        "talk" => return Some(Publication::Talk { table, text: lines.next()?.to_owned() }),
        after => after.split_once(' ')?,
    };
    let after = Point { version: version.parse().ok()?, tag: tag.parse().ok()? };
    let lines = lines.map(|entry| parse_entry(entry.to_owned())).collect();
    Some(Publication::Lines { table, after, lines })
}

impl LiveStore {
    /// Subscribes to messages for players on this channel. A failed subscription is renewed like a
    /// lost one.
    pub(crate) async fn subscribe_channel(
        &self,
        channel: String,
    ) -> broadcast::Receiver<PlayerMessage> {
        let subscriber = &self.subscriptions.subscriber;
        let messages = subscriber.pushes.player_messages.subscribe();
        subscriber.pushes.channels().wanted.insert(channel.clone(), SubscriptionState::Pending);
        if let Err(error) = subscriber.subscribe(&channel).await {
            tracing::debug!(%error, "the subscription to messages for players is retried");
        }
        messages
    }

    /// Subscribes to a table's publications from now on. Returns false if the table does not exist.
    pub async fn watch(&self, table: TableId) -> Result<bool, Unavailable> {
        let subscriber = &self.subscriptions.subscriber;
        let channel = self.table_key(table, "lines").to_string();
        subscriber.pushes.channels().wanted.insert(channel.clone(), SubscriptionState::Pending);
        let watched = subscriber.subscribe(&channel).await;
        match watched {
            Ok(true) => {}
            // A table created later would not know this listener.
            Ok(false) => self.unwatch(table).await?,
            Err(_) => {
                subscriber.pushes.channels().wanted.remove(&channel);
            }
        }
        watched
    }

    /// Publishes a text of one line that is not part of the journal to all listeners of a table, at
    /// any node. Listeners that are not subscribed now never receive it.
    pub async fn publish_talk(&self, table: TableId, text: &str) -> Result<(), Unavailable> {
        self.publish(self.table_key(table, "lines"), format!("talk\n{text}")).await
    }

    /// Checks that publications can arrive. A lost connection is reopened only on use, and this one
    /// may be idle for hours.
    pub async fn ping_subscriptions(&self) -> Result<(), Unavailable> {
        let mut connection = self.subscriptions.subscriber.connection.clone();
        Ok(redis::cmd("PING").query_async(&mut connection).await?)
    }

    pub async fn unwatch(&self, table: TableId) -> Result<(), Unavailable> {
        let subscriber = &self.subscriptions.subscriber;
        let channel = self.table_key(table, "lines").to_string();
        subscriber.pushes.channels().wanted.remove(&channel);
        let mut call = redis::cmd("SUNSUBSCRIBE");
        call.arg(&channel).query_async::<()>(&mut subscriber.connection.clone()).await?;
        subscriber.set_listening(&channel, false).await?;
        Ok(())
    }
}
