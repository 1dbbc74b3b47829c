//! A Redis Cluster: which master serves which slot, and how a call finds it.
//!
//! Each master has a connection of its own, and nobody waits for one that he does not call: a
//! master that stands still holds up its own keys and no others. That is why the client that the
//! `redis` crate brings for clusters is not used: while it learns who serves what, all calls wait
//! for the slowest master; it repeats what may have been done; and it subscribes again to the
//! channels of several slots in one call, which a cluster refuses.
//!
//! A slot that has moved, or is moving, is followed by what its old master answers. A call without
//! a key goes where the one before it on the same handle was answered: so a script is loaded on
//! the very master that did not know it.
//!
//! Bounds: a call with its redirections takes as long as an answer may take, and then counts as
//! unavailable.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{join_all, select_ok};
use redis::aio::ConnectionManager;
use redis::{Arg, Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::time::{sleep, timeout};

use crate::live_store::connection::{Address, Opener};

const SLOTS: u16 = 16_384;

/// A call is sent on this often. Two masters that each take the other for the one in charge must
/// come to an agreement before the next call.
const REDIRECTIONS_MAX: usize = 5;

/// A slot that is moving answers for several keys only when all of them are on one side.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// A handle for calls to a cluster; clones share the connections.
#[derive(Clone)]
pub(super) struct Cluster {
    shared: Arc<Shared>,
    answered: Option<Address>,
}

struct Shared {
    opener: Opener,
    /// Nodes that the settings name; asked when nobody else answers.
    seeds: Vec<Address>,
    connections: Mutex<HashMap<Address, ConnectionManager>>,
    /// The master of each slot, as far as known.
    masters: Mutex<Vec<Option<Address>>>,
    is_refreshing: AtomicBool,
    /// Some slot answers from two masters: what the new one publishes, the old one's subscribers
    /// do not hear.
    is_moving: AtomicBool,
}

/// What goes to one master in one piece.
#[derive(Clone, Copy)]
enum Request<'a> {
    Command(&'a Cmd),
    Transaction(&'a Pipeline),
}

/// What an answer says about where to go.
enum Verdict {
    /// It is the answer.
    Final,
    /// From now on there.
    Moved(Address),
    /// This once there.
    Ask(Address),
    /// Here, a little later.
    TryAgain,
    /// It is the answer, and the cluster has probably changed.
    Lost,
}

impl Cluster {
    pub(super) async fn connect(opener: Opener, seeds: Vec<Address>) -> RedisResult<Self> {
        let shared = Shared {
            opener,
            seeds,
            connections: Mutex::default(),
            masters: Mutex::new(vec![None; usize::from(SLOTS)]),
            is_refreshing: AtomicBool::new(false),
            is_moving: AtomicBool::new(false),
        };
        let cluster = Self { shared: Arc::new(shared), answered: None };
        cluster.refresh().await?;
        Ok(cluster)
    }

    pub(super) fn answered(&self) -> Option<&Address> {
        self.answered.as_ref()
    }

    pub(super) fn home(&self, slot: u16) -> Option<Address> {
        self.shared.home(slot)
    }

    /// Whether a call met a slot in the midst of a move since this was asked last.
    pub(super) fn has_met_a_move(&self) -> bool {
        self.shared.is_moving.swap(false, Ordering::AcqRel)
    }

    pub(super) async fn refresh(&self) -> RedisResult<()> {
        self.shared.refresh().await
    }

    /// Sends a command to every master that is known, and returns the answers by their addresses.
    pub(super) async fn ask_each(&self, command: &Cmd) -> Vec<(String, RedisResult<Value>)> {
        let asked = self.shared.known().into_iter().map(async |address| {
            let answer = match self.shared.connection(&address) {
                Ok(mut connection) => connection.send_packed_command(command).await,
                Err(error) => Err(error),
            };
            (format!("{}:{}", address.host, address.port), answer)
        });
        join_all(asked).await
    }

    pub(super) async fn call(&mut self, command: &Cmd) -> RedisResult<Value> {
        let limit = self.shared.opener.response_timeout;
        let answered = match key_of(command) {
            Some(key) => {
                let request = Request::Command(command);
                timeout(limit, self.follow(slot_of(key), request)).await.map(|answers| {
                    answers.and_then(|mut answers| answers.pop().ok_or_else(no_answer))
                })
            }
            None => timeout(limit, self.call_without_key(command)).await,
        };
        answered.unwrap_or_else(|_| Err(self.too_late()))
    }

    /// A transaction goes to the master of its first key. The commands of a pipeline that is none
    /// are calls of their own: each may have another master, and may be redirected.
    pub(super) async fn call_all(
        &mut self,
        pipeline: &Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let limit = self.shared.opener.response_timeout;
        let answers = if !pipeline.is_transaction() {
            let calls = pipeline.cmd_iter().map(|command| {
                let mut handle = self.clone();
                async move { handle.call(command).await.or_else(told) }
            });
            join_all(calls).await.into_iter().collect::<RedisResult<Vec<_>>>()?
        } else {
            let key = pipeline.cmd_iter().find_map(key_of).ok_or_else(no_key)?;
            let request = Request::Transaction(pipeline);
            let answers = timeout(limit, self.follow(slot_of(key), request)).await;
            answers.unwrap_or_else(|_| Err(self.too_late()))?
        };
        Ok(answers.into_iter().skip(offset).take(count).collect())
    }

    async fn call_without_key(&self, command: &Cmd) -> RedisResult<Value> {
        if let Some(address) = &self.answered {
            return self.shared.connection(address)?.send_packed_command(command).await;
        }
        // It concerns the cluster: whoever answers first speaks for it.
        let calls = self.shared.known().into_iter().map(|address| {
            Box::pin(
                async move { self.shared.connection(&address)?.send_packed_command(command).await },
            )
        });
        let calls: Vec<_> = calls.collect();
        if calls.is_empty() {
            return Err(no_answer());
        }
        Ok(select_ok(calls).await?.0)
    }

    /// Sends a request to the master of a slot, and on to where it is told to go.
    async fn follow(&mut self, slot: u16, request: Request<'_>) -> RedisResult<Vec<Value>> {
        let mut to = self.shared.find_home(slot).await?;
        let mut is_asking = false;
        let mut redirections = 0;
        loop {
            let answers = request.send(self.shared.connection(&to)?, is_asking).await;
            match verdict(&answers, &to) {
                Verdict::Final => {
                    self.answered = Some(to);
                    return answers;
                }
                Verdict::Lost => {
                    self.shared.refresh_soon();
                    return answers;
                }
                Verdict::Moved(_) | Verdict::Ask(_) if redirections == REDIRECTIONS_MAX => {
                    return answers;
                }
                Verdict::Moved(address) => {
                    self.shared.moved(slot, &address);
                    self.shared.refresh_soon();
                    redirections += 1;
                    (to, is_asking) = (address, false);
                }
                Verdict::Ask(address) => {
                    self.shared.is_moving.store(true, Ordering::Release);
                    redirections += 1;
                    (to, is_asking) = (address, true);
                }
                Verdict::TryAgain => {
                    sleep(TRY_AGAIN_AFTER).await;
                    (to, is_asking) = (self.shared.find_home(slot).await?, false);
                }
            }
        }
    }

    fn too_late(&self) -> RedisError {
        self.shared.refresh_soon();
        std::io::Error::from(std::io::ErrorKind::TimedOut).into()
    }
}

impl Shared {
    fn connection(&self, to: &Address) -> RedisResult<ConnectionManager> {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = connections.get(to) {
            return Ok(connection.clone());
        }
        let connection = self.opener.open_node(to)?;
        connections.insert(to.clone(), connection.clone());
        Ok(connection)
    }

    fn home(&self, slot: u16) -> Option<Address> {
        let masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
        masters.get(usize::from(slot)).cloned().flatten()
    }

    async fn find_home(&self, slot: u16) -> RedisResult<Address> {
        if let Some(home) = self.home(slot) {
            return Ok(home);
        }
        self.refresh().await?;
        self.home(slot).ok_or_else(|| {
            let kind = ErrorKind::Server(ServerErrorKind::ClusterDown);
            RedisError::from((kind, "no master serves the slot"))
        })
    }

    fn moved(&self, slot: u16, to: &Address) {
        let mut masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(master) = masters.get_mut(usize::from(slot)) {
            *master = Some(to.clone());
        }
    }

    /// The masters, as far as known.
    fn known(&self) -> BTreeSet<Address> {
        let masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
        masters.iter().flatten().cloned().collect()
    }

    /// Asks the masters who serves what, and if none of them answers, those that the settings
    /// name. The first answer counts: one that is behind is put right by the next redirection.
    async fn refresh(&self) -> RedisResult<()> {
        let known = self.known();
        let masters = match self.ask_masters(known.iter()).await {
            Ok(masters) => masters,
            Err(_) => self.ask_masters(self.seeds.iter()).await?,
        };
        *self.masters.lock().unwrap_or_else(PoisonError::into_inner) = masters;
        let known = self.known();
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|address, _| known.contains(address));
        Ok(())
    }

    async fn ask_masters(
        &self,
        nodes: impl Iterator<Item = &Address>,
    ) -> RedisResult<Vec<Option<Address>>> {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let command = &command;
        let asked = nodes.map(|node| {
            Box::pin(async move {
                let said = self.connection(node)?.send_packed_command(command).await?;
                masters_of(&said.extract_error()?, node)
            })
        });
        let asked: Vec<_> = asked.collect();
        if asked.is_empty() {
            return Err(no_answer());
        }
        Ok(select_ok(asked).await?.0)
    }

    /// Refreshes without making anybody wait, unless that is under way.
    fn refresh_soon(self: &Arc<Self>) {
        if self.is_refreshing.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = self.clone();
        tokio::spawn(async move {
            if let Err(error) = shared.refresh().await {
                tracing::warn!(%error, "no node of the cluster says who serves what");
            }
            shared.is_refreshing.store(false, Ordering::Release);
        });
    }
}

impl Request<'_> {
    /// All answers to it. `is_asking` goes in the same breath as what it is about, because the
    /// connection is shared.
    async fn send(self, mut to: ConnectionManager, is_asking: bool) -> RedisResult<Vec<Value>> {
        let mut all = redis::pipe();
        if is_asking {
            all.cmd("ASKING");
        }
        let skipped = all.len();
        match self {
            Self::Command(command) if !is_asking => {
                return Ok(vec![to.send_packed_command(command).await?]);
            }
            Self::Command(command) => {
                all.add_command(command.clone());
            }
            Self::Transaction(pipeline) => {
                all.cmd("MULTI");
                for command in pipeline.cmd_iter() {
                    all.add_command(command.clone());
                }
                all.cmd("EXEC");
            }
        }
        to.send_packed_commands(&all, skipped, all.len() - skipped).await
    }
}

fn verdict(answers: &RedisResult<Vec<Value>>, from: &Address) -> Verdict {
    let said: RedisError = match answers {
        Err(error) => error.clone(),
        Ok(answers) => {
            let mut errors = answers.iter().filter_map(|answer| match answer {
                Value::ServerError(error) => Some(error),
                _ => None,
            });
            match errors.next() {
                Some(error) => error.clone().into(),
                None => return Verdict::Final,
            }
        }
    };
    match said.kind() {
        ErrorKind::Server(ServerErrorKind::Moved) => {
            redirected(&said, from).map_or(Verdict::Lost, Verdict::Moved)
        }
        ErrorKind::Server(ServerErrorKind::Ask) => {
            redirected(&said, from).map_or(Verdict::Lost, Verdict::Ask)
        }
        ErrorKind::Server(ServerErrorKind::TryAgain) => Verdict::TryAgain,
        ErrorKind::Server(
            ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::BusyLoading,
        )
        | ErrorKind::Io => Verdict::Lost,
        _ => Verdict::Final,
    }
}

/// The node that a redirection names; without a host it is that of the node which says so.
fn redirected(error: &RedisError, from: &Address) -> Option<Address> {
    let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
    let host = if host.is_empty() { from.host.clone() } else { host.into() };
    Some(Address { host, port: port.parse().ok()? })
}

/// Reads the answer to `CLUSTER SLOTS`: ranges of slots, each with its master before its replicas.
fn masters_of(said: &Value, from: &Address) -> RedisResult<Vec<Option<Address>>> {
    let mut masters = vec![None; usize::from(SLOTS)];
    let Value::Array(ranges) = said else {
        return Err(no_answer());
    };
    for range in ranges {
        let Value::Array(range) = range else { continue };
        let [first, last, Value::Array(master), ..] = range.as_slice() else { continue };
        let [host, port, ..] = master.as_slice() else { continue };
        let first: usize = redis::from_redis_value_ref(first)?;
        let last: usize = redis::from_redis_value_ref(last)?;
        let host: Option<String> = redis::from_redis_value_ref(host)?;
        // A node that does not know its own name leaves it out.
        let host = match host.as_deref() {
            None | Some("" | "?") => from.host.clone(),
            Some(host) => host.into(),
        };
        let address = Address { host, port: redis::from_redis_value_ref(port)? };
        for master in masters.iter_mut().take(last + 1).skip(first) {
            *master = Some(address.clone());
        }
    }
    // Whoever knows of no master has been thrown out, or was never in.
    if masters.iter().all(Option::is_none) { Err(no_answer()) } else { Ok(masters) }
}

/// The first key of a command of ours; `None` where it has none.
fn key_of(command: &Cmd) -> Option<&[u8]> {
    let mut words = command.args_iter().filter_map(|word| match word {
        Arg::Simple(word) => Some(word),
        _ => None,
    });
    let name = words.next()?.to_ascii_uppercase();
    match name.as_slice() {
        b"CLUSTER" | b"INFO" | b"PING" | b"SCRIPT" | b"TIME" => None,
        b"EVAL" | b"EVALSHA" => match words.nth(1)? {
            b"0" => None,
            _ => words.next(),
        },
        _ => words.next(),
    }
}

/// The slot of a key: of what stands between its first braces, else of all of it.
pub(super) fn slot_of(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let tag = key[open + 1..].split(|byte| *byte == b'}').next()?;
        let is_closed = open + 1 + tag.len() < key.len();
        (is_closed && !tag.is_empty()).then_some(tag)
    });
    crc16(tag.unwrap_or(key)) % SLOTS
}

/// CRC-16/XMODEM, as the cluster's specification has it.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            let polynomial = if crc & 0x8000 == 0 { 0 } else { 0x1021 };
            (crc << 1) ^ polynomial
        })
    })
}

/// A server's own error as a value among the answers of a pipeline.
fn told(error: RedisError) -> RedisResult<Value> {
    redis::ServerError::try_from(error).map(Value::ServerError)
}

fn no_answer() -> RedisError {
    let kind = ErrorKind::Server(ServerErrorKind::ClusterDown);
    RedisError::from((kind, "no node of the cluster knows its masters"))
}

fn no_key() -> RedisError {
    RedisError::from((ErrorKind::Client, "a transaction without a key has no master"))
}

#[cfg(test)]
mod tests {
    use redis::cluster_routing::Slot;

    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        for key in ["", "a", "bahay:{s3}:due", "a{}b", "a{b", "a}b{c}", "{a}{b}", "a{{b}}", "{}{a}"]
        {
            assert_eq!(Slot::new(slot_of(key.as_bytes())), Some(Slot::for_key(key)), "{key}");
        }
    }

    #[test]
    fn the_key_of_a_command_is_found() {
        for (words, key) in [
            (&["PING"] as &[_], None),
            (&["script", "LOAD", "return 1"], None),
            (&["SET", "k", "v"], Some("k")),
            (&["ssubscribe", "k"], Some("k")),
            (&["EVALSHA", "sha", "2", "k", "l", "v"], Some("k")),
            (&["EVAL", "return 1", "0", "v"], None),
        ] {
            let mut command = redis::cmd(words[0]);
            command.arg(&words[1..]);
            assert_eq!(key_of(&command), key.map(str::as_bytes), "{words:?}");
        }
    }

    #[test]
    fn an_answer_about_slots_is_read() {
        let bulk = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let node = |host: Value, port| Value::Array(vec![host, Value::Int(port), bulk("id")]);
        let range = |first, last, nodes: Vec<Value>| {
            Value::Array([vec![Value::Int(first), Value::Int(last)], nodes].concat())
        };
        let from = Address { host: "seed".into(), port: 1 };
        let said = Value::Array(vec![
            range(0, 1, vec![node(bulk("a"), 7), node(bulk("replica"), 9)]),
            range(3, 16_383, vec![node(Value::Nil, 8)]),
        ]);
        let masters = masters_of(&said, &from).unwrap_or_default();
        let name = |slot: usize| masters[slot].as_ref().map(|a| format!("{}:{}", a.host, a.port));
        assert_eq!(name(1).as_deref(), Some("a:7"));
        assert_eq!(name(2), None);
        assert_eq!(name(16_383).as_deref(), Some("seed:8"));
        assert!(masters_of(&Value::Array(vec![]), &from).is_err());
    }

    #[test]
    fn a_redirection_is_told_from_an_answer() {
        let from = Address { host: "here".into(), port: 1 };
        let judged = |said: &str| {
            let answer = redis::parse_redis_value(format!("-{said}\r\n").as_bytes());
            match verdict(&answer.map(|answer| vec![answer]), &from) {
                Verdict::Final => "final".to_owned(),
                Verdict::Moved(to) => format!("moved {}:{}", to.host, to.port),
                Verdict::Ask(to) => format!("ask {}:{}", to.host, to.port),
                Verdict::TryAgain => "again".to_owned(),
                Verdict::Lost => "lost".to_owned(),
            }
        };
        assert_eq!(judged("MOVED 5 there:2"), "moved there:2");
        assert_eq!(judged("MOVED 5 :2"), "moved here:2");
        assert_eq!(judged("ASK 5 ::1:2"), "ask ::1:2");
        assert_eq!(judged("TRYAGAIN not now"), "again");
        assert_eq!(judged("CLUSTERDOWN"), "lost");
        assert_eq!(judged("NOSCRIPT no such script"), "final");
        assert_eq!(judged("WRONGTYPE of key"), "final");
    }
}
