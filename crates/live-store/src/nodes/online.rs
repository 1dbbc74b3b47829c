//! Players with an open socket at any node.
//!
//! Each process keeps a set of its players for each shard, beside the shard's tables, and refreshes
//! it every second with one call for each shard, however many players there are. The set of a dead
//! process expires after [`ONLINE_MS`]; a set that Redis has lost is restored by the next refresh.
//! The scripts use the time of Redis, so no two clocks are compared.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use bahay_batch_loader::BatchLoader;
use bahay_engine::table::PlayerId;

use crate::{LiveStore, Script, Unavailable, script};

static SET: Script = script!("online_set.lua");
static REFRESH: Script = script!("online_refresh.lua");
static READ: Script = script!("online_read.lua");

/// The time in milliseconds for which a process counts as alive after its last refresh.
pub const ONLINE_MS: u32 = 3_000;

/// A publisher of whether players have a socket at its process. Players of a shard that connect at
/// the same time share a call; a server that does not respond delays only those of its shards.
#[derive(Clone, Debug)]
pub struct OnlinePublisher {
    live: LiveStore,
    /// One loader for each shard, which publishes the state of its players and returns it.
    shards: Arc<[BatchLoader<PlayerId, bool, Unavailable>]>,
}

/// The maximum number of players in one call.
const AT_ONCE: usize = 1_000;

impl LiveStore {
    /// Creates a publisher for a process. `is_online` returns whether a player has a socket at it.
    pub fn online_publisher(
        &self,
        process: Arc<str>,
        is_online: impl Fn(PlayerId) -> bool + Clone + Send + Sync + 'static,
    ) -> OnlinePublisher {
        let publish = |shard| {
            let live = self.clone();
            let process = process.clone();
            let is_online = is_online.clone();
            BatchLoader::new(move |players: Vec<PlayerId>| {
                let live = live.clone();
                let process = process.clone();
                let is_online = is_online.clone();
                async move {
                    let states = players.into_iter().map(|player| (player, is_online(player)));
                    let states = states.collect();
                    live.set_online(shard, &process, &states).await?;
                    Ok(states)
                }
            })
        };
        OnlinePublisher { live: self.clone(), shards: self.shards().map(publish).collect() }
    }

    /// Stores for each of these players of one shard whether it has an open socket at this process.
    pub async fn set_online(
        &self,
        shard: u16,
        process: &str,
        states: &HashMap<PlayerId, bool>,
    ) -> Result<(), Unavailable> {
        let mut call = self.online_call(&SET, shard, process);
        for (player, is_online) in states {
            call.arg(u8::from(*is_online)).arg(player.to_string());
        }
        self.invoke(&call).await
    }

    /// Refreshes the set of a process in one shard. Returns false if the set holds a different
    /// number of players.
    pub async fn refresh_online(
        &self,
        shard: u16,
        process: &str,
        count: usize,
    ) -> Result<bool, Unavailable> {
        self.invoke(self.online_call(&REFRESH, shard, process).arg(count)).await
    }

    /// Adds players to the set of a process in one shard, and returns its members.
    pub async fn add_online(
        &self,
        shard: u16,
        process: &str,
        players: &[PlayerId],
    ) -> Result<Vec<PlayerId>, Unavailable> {
        let set = self.online_set_key(shard, process);
        let mut pipe = redis::pipe();
        pipe.atomic();
        for some in players.chunks(AT_ONCE) {
            let some: Vec<String> = some.iter().map(ToString::to_string).collect();
            pipe.sadd(&set, some).ignore();
        }
        pipe.cmd("PEXPIRE").arg(&set).arg(ONLINE_MS).ignore();
        pipe.smembers(&set);
        let (members,): (Vec<String>,) = self.query_all(&pipe).await?;
        Ok(members.iter().filter_map(|player| player.parse().ok()).collect())
    }

    /// Returns those of these players who have an open socket.
    pub async fn online_players(
        &self,
        players: &[PlayerId],
    ) -> Result<HashSet<PlayerId>, Unavailable> {
        let mut by_shard: BTreeMap<u16, Vec<PlayerId>> = BTreeMap::new();
        for player in players {
            by_shard.entry(self.shard_of_player(*player)).or_default().push(*player);
        }
        let mut online = HashSet::new();
        for (shard, players) in by_shard {
            for some in players.chunks(AT_ONCE) {
                let mut call = READ.key(self.shard_key(shard, "online"));
                call.arg(ONLINE_MS);
                for player in some {
                    call.arg(player.to_string());
                }
                let flags: Vec<bool> = self.invoke(&call).await?;
                let online_chunk = some.iter().zip(flags).filter(|(_, is_online)| *is_online);
                online.extend(online_chunk.map(|(player, _)| *player));
            }
        }
        Ok(online)
    }

    /// Returns a call of a script about the players of one process in one shard.
    fn online_call<'a>(
        &self,
        script: &'a redis::Script,
        shard: u16,
        process: &str,
    ) -> redis::ScriptInvocation<'a> {
        let mut call = script.key(self.shard_key(shard, "online"));
        call.key(self.online_set_key(shard, process)).arg(process).arg(ONLINE_MS);
        call
    }

    fn online_set_key(&self, shard: u16, process: &str) -> String {
        self.shard_key(shard, &format!("online:{process}"))
    }
}

impl OnlinePublisher {
    /// Publishes whether a player has a socket at the process, and returns what was published.
    ///
    /// # Errors
    ///
    /// The error of the call, which the players of the shard that connect meanwhile share.
    pub async fn publish(&self, player: PlayerId) -> Result<bool, Arc<Unavailable>> {
        let shard = usize::from(self.live.shard_of_player(player));
        Ok(self.shards[shard].find(player).await?.unwrap_or_default())
    }
}
