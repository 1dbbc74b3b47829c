//! Publications: a node listens to the channel of every table at which it has somebody. Channels
//! are sharded, like the keys. Where a subscription is lost, with a connection or with a slot that
//! moves, it is made again at whoever serves the slot then; that publications may have been missed
//! is told at the loss and once the subscriptions stand again. What was published meanwhile is
//! read from the journals.
//!
//! Whoever listens is noted at the table once the subscription stands, so that a process which is
//! alone there is not told what it appended itself.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::table::TableId;
use futures_util::future::join_all;
use redis::{PushInfo, PushKind, Value};
use tokio::sync::{Notify, broadcast, mpsc};
use tokio::time::{MissedTickBehavior, interval};

use crate::entropy;
use crate::live_store::connection::{Address, Connection, Push};
use crate::live_store::journal::entry_of;
use crate::live_store::player_messages::{PlayerMessage, WAITING_MAX};
use crate::live_store::{Entry, LiveStore, Options, Point, Unavailable};

/// How often it is looked whether every subscription stands where its slot is served. A loss that
/// the server tells of is mended at once.
const LOOK: Duration = Duration::from_secs(1);

/// The end of the name of a table's channel.
const LINES: &str = ":lines";

/// Something that the subscription connection says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publication {
    /// Lines were appended to a table's journal after a point.
    Lines { table: TableId, after: Point, lines: Vec<Entry> },
    /// A table was ended.
    Ended { table: TableId },
    /// Somebody said something at a table that is no part of its journal.
    Talk { table: TableId, text: String },
    /// Publications may have been missed.
    Interrupted,
}

/// The connection for subscriptions, on its own so that pushes never wait behind answers. Clones
/// share it.
#[derive(Clone)]
pub(super) struct Subscriptions {
    connection: Connection,
    /// By which tables know this process among those who listen.
    pub(super) listener: Arc<str>,
    notes: Notes,
    heard: Arc<Heard>,
    /// Ends with the last clone.
    _keeper: Arc<Keeper>,
}

/// Notes at tables who listens there.
#[derive(Clone)]
struct Notes {
    commands: Connection,
    script: Arc<redis::Script>,
    listener: Arc<str>,
}

impl Notes {
    /// False when there is no such table.
    async fn note(&self, channel: &str, listens: bool) -> Result<bool, Unavailable> {
        let table = channel.strip_suffix(LINES).unwrap_or(channel);
        let head = format!("{table}:head");
        let mut call = self.script.prepare_invoke();
        call.key(head).arg(&*self.listener).arg(u8::from(listens));
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }
}

struct Keeper(tokio::task::AbortHandle);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the servers have said.
struct Heard {
    channels: Mutex<Channels>,
    /// A subscription was lost.
    lost: Notify,
    /// Unbounded, because Redis drops a subscriber that does not read: the reader never blocks.
    publications: mpsc::UnboundedSender<Publication>,
    /// Messages for players, which are no publications of a table.
    for_players: broadcast::Sender<PlayerMessage>,
}

#[derive(Default)]
struct Channels {
    wanted: HashMap<String, Place>,
    /// How many losses there were. A subscription during which one happened may be among them.
    losses: u64,
}

/// Where a subscription stands.
#[derive(Clone, PartialEq, Eq)]
enum Place {
    /// Somebody is asking for it.
    Asked,
    At(Address),
    Nowhere,
}

impl Subscriptions {
    /// `commands` is where calls go; they notice when slots move.
    pub(super) async fn connect(
        options: &Options,
        commands: Connection,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Publication>), Unavailable> {
        let (publications, receiver) = mpsc::unbounded_channel();
        let heard = Arc::new(Heard {
            channels: Mutex::default(),
            lost: Notify::new(),
            publications,
            for_players: broadcast::Sender::new(WAITING_MAX),
        });
        let hearing = heard.clone();
        let push: Push = Arc::new(move |from, push| hearing.hear(from, &push));
        let connection = Connection::open(options, Some(push)).await?;
        let listener: Arc<str> = entropy::tag().to_string().into();
        let script = Arc::new(redis::Script::new(include_str!("listen.lua")));
        let notes = Notes { commands, script, listener: listener.clone() };
        let keeper = tokio::spawn(keep(connection.clone(), notes.clone(), heard.clone()));
        let keeper = Arc::new(Keeper(keeper.abort_handle()));
        Ok((Self { connection, listener, notes, heard, _keeper: keeper }, receiver))
    }
}

/// Makes lost subscriptions again, for ever. Where nobody answers the next look tries again.
async fn keep(connection: Connection, notes: Notes, heard: Arc<Heard>) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut generation = notes.commands.generation();
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = heard.lost.notified() => {}
        }
        // Commands were sent to a replica, and so were subscriptions.
        let replaced = notes.commands.generation();
        if replaced != generation {
            generation = replaced;
            connection.reconnect();
            heard.lose(|_, place| *place != Place::Asked);
            heard.tell(Publication::Interrupted);
        }
        if heard.channels().wanted.is_empty() {
            continue;
        }
        // While a slot moves its new master publishes, and subscriptions still stand at the old.
        if notes.commands.has_met_a_move() {
            heard.tell(Publication::Interrupted);
        }
        if let Err(error) = connection.refresh().await {
            tracing::debug!(%error, "where channels are served is not known");
        }
        // Each server by itself: one that does not answer keeps nobody from the others.
        let renewals = heard.astray(&connection).into_values().map(|channels| {
            let (connection, notes, heard) = (&connection, &notes, &heard);
            async move {
                let asked =
                    channels.iter().map(|channel| subscribe(connection, notes, heard, channel));
                if join_all(asked).await.iter().any(Result::is_ok) {
                    heard.tell(Publication::Interrupted);
                }
            }
        });
        join_all(renewals).await;
    }
}

/// Subscribes, and then has it noted; false when there is no such table.
async fn subscribe(
    connection: &Connection,
    notes: &Notes,
    heard: &Heard,
    channel: &str,
) -> Result<bool, Unavailable> {
    let losses = heard.channels().losses;
    let mut connection = connection.clone();
    let mut call = redis::cmd("SSUBSCRIBE");
    call.arg(channel);
    let answered = call.query_async::<()>(&mut connection).await;
    let noted = match answered {
        // Only tables note who listens.
        Ok(()) if !channel.ends_with(LINES) => Ok(true),
        Ok(()) => notes.note(channel, true).await,
        Err(error) => Err(error.into()),
    };
    // What is not noted is not heard, so it counts as no subscription.
    let at = connection.answered().filter(|_| noted.is_ok());
    heard.asked(channel, at, losses);
    noted
}

impl Heard {
    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, from: &Address, push: &PushInfo) {
        match push.kind {
            PushKind::Disconnection => {
                self.lose(|_, place| *place == Place::At(from.clone()));
                self.tell(Publication::Interrupted);
            }
            // The server no longer serves the slot. What we have asked for is not wanted any more.
            PushKind::SUnsubscribe => {
                let Some(channel) = push.data.first().and_then(text) else { return };
                if self.channels().wanted.contains_key(channel) {
                    let at = Place::At(from.clone());
                    if self.lose(|wanted, place| wanted == channel && *place == at) {
                        self.tell(Publication::Interrupted);
                    }
                }
            }
            PushKind::SMessage => {
                if let Some(publication) = publication(push) {
                    self.tell(publication);
                } else if let Some(message) = player_message(push) {
                    // Nobody may be listening.
                    let _ = self.for_players.send(message);
                }
            }
            _ => {}
        }
    }

    /// Notes that subscriptions are lost; says whether there were any.
    fn lose(&self, is_lost: impl Fn(&str, &Place) -> bool) -> bool {
        let mut any = false;
        let mut channels = self.channels();
        channels.losses += 1;
        for (channel, place) in &mut channels.wanted {
            if is_lost(channel, place) {
                *place = Place::Nowhere;
                any = true;
            }
        }
        drop(channels);
        if any {
            self.lost.notify_one();
        }
        any
    }

    /// The channels whose subscription does not stand where their slot is served, by where that
    /// is. They count as asked for.
    fn astray(&self, connection: &Connection) -> BTreeMap<Address, Vec<String>> {
        let mut astray = BTreeMap::<_, Vec<_>>::new();
        for (channel, place) in &mut self.channels().wanted {
            let Some(home) = connection.home(channel) else { continue };
            let is_astray = match place {
                Place::Asked => false,
                Place::At(at) => *at != home,
                Place::Nowhere => true,
            };
            if is_astray {
                *place = Place::Asked;
                astray.entry(home).or_default().push(channel.clone());
            }
        }
        astray
    }

    /// What came of a subscription that was asked for when there had been so many losses.
    fn asked(&self, channel: &str, at: Option<Address>, losses: u64) {
        let mut channels = self.channels();
        let is_sure = channels.losses == losses;
        if let Some(place) = channels.wanted.get_mut(channel) {
            *place = at.filter(|_| is_sure).map_or(Place::Nowhere, Place::At);
        }
    }

    fn tell(&self, publication: Publication) {
        // Nobody may be listening any more.
        let _ = self.publications.send(publication);
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// What the message on a table's channel says.
fn publication(push: &PushInfo) -> Option<Publication> {
    let [channel, payload] = push.data.as_slice() else {
        return None;
    };
    let table = text(channel)?.strip_suffix(LINES)?.rsplit(':').next()?.parse().ok()?;
    let mut lines = text(payload)?.split('\n');
    let (version, tag) = match lines.next()? {
        "ended" => return Some(Publication::Ended { table }),
        "talk" => return Some(Publication::Talk { table, text: lines.next()?.to_owned() }),
        after => after.split_once(' ')?,
    };
    let after = Point { version: version.parse().ok()?, tag: tag.parse().ok()? };
    let lines = lines.map(|entry| entry_of(entry.to_owned())).collect();
    Some(Publication::Lines { table, after, lines })
}

/// A message for players, if it came on their channel.
fn player_message(push: &PushInfo) -> Option<PlayerMessage> {
    let [channel, payload] = push.data.as_slice() else {
        return None;
    };
    if text(channel)?.ends_with(LINES) {
        return None;
    }
    PlayerMessage::from_payload(text(payload)?)
}

impl LiveStore {
    /// Listens to messages for players on this channel from here on. A subscription that fails is
    /// made again like one that is lost.
    pub(super) async fn listen_to_players(
        &self,
        channel: String,
    ) -> broadcast::Receiver<PlayerMessage> {
        let Subscriptions { connection, notes, heard, .. } = &self.subscriptions;
        let messages = heard.for_players.subscribe();
        heard.channels().wanted.insert(channel.clone(), Place::Asked);
        if let Err(error) = subscribe(connection, notes, heard, &channel).await {
            tracing::debug!(%error, "messages for players are heard later");
        }
        messages
    }

    /// Listens to a table's publications from here on; false when there is no such table.
    pub async fn watch(&self, table: TableId) -> Result<bool, Unavailable> {
        let Subscriptions { connection, notes, heard, .. } = &self.subscriptions;
        let channel = self.table_key(table, "lines").to_string();
        heard.channels().wanted.insert(channel.clone(), Place::Asked);
        let watched = subscribe(connection, notes, heard, &channel).await;
        match watched {
            Ok(true) => {}
            // Founded later, it would not know that somebody listens.
            Ok(false) => self.unwatch(table).await?,
            Err(_) => {
                heard.channels().wanted.remove(&channel);
            }
        }
        watched
    }

    /// Tells everybody who listens to a table, on whatever node, a text of one line that is no part
    /// of its journal. Who does not listen now never hears it.
    pub async fn talk(&self, table: TableId, text: &str) -> Result<(), Unavailable> {
        let mut call = redis::cmd("SPUBLISH");
        call.arg(self.table_key(table, "lines")).arg(format!("talk\n{text}"));
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Whether publications can come in. A connection that was lost is made again only by being
    /// used, and nobody needs to say anything on this one for hours.
    pub async fn can_hear(&self) -> Result<(), Unavailable> {
        redis::cmd("PING").query_async::<()>(&mut self.subscriptions.connection.clone()).await?;
        Ok(())
    }

    pub async fn unwatch(&self, table: TableId) -> Result<(), Unavailable> {
        let Subscriptions { connection, notes, heard, .. } = &self.subscriptions;
        let channel = self.table_key(table, "lines").to_string();
        heard.channels().wanted.remove(&channel);
        let mut call = redis::cmd("SUNSUBSCRIBE");
        call.arg(&channel);
        call.query_async::<()>(&mut connection.clone()).await?;
        notes.note(&channel, false).await?;
        Ok(())
    }
}
