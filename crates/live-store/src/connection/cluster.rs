//! A Redis Cluster: the master of each slot, and the routing of calls.
//!
//! Each master has its own connection, and a caller waits only for the master that it calls: a
//! stalled master affects its own keys and no others. The cluster client of the `redis` crate is
//! not used for that reason: while it refreshes its slot map, all calls wait for the slowest
//! master; it repeats calls that may have taken effect; and it renews the subscriptions to channels
//! of several slots in one call, which a cluster rejects.
//!
//! A migrated or migrating slot is followed by the redirections of its old master. A call without a
//! key goes to the master that answered the previous call on the same handle, so a script is loaded
//! on the master that did not know it.
//!
//! Bounds: a call including its redirections takes no longer than the response timeout, and then
//! counts as unavailable.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{join_all, select_ok};
use redis::aio::ConnectionManager;
use redis::{
    Arg, Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerError, ServerErrorKind, Value,
};
use tokio::time::{sleep, timeout};

use super::factory::{ConnectionFactory, NodeAddress};

const SLOTS: u16 = 16_384;

/// The maximum number of redirections of a call. Two masters that each consider the other
/// responsible must agree before the next call.
const REDIRECTIONS_MAX: usize = 5;

/// The pause before a call for several keys of a migrating slot is sent again. The slot answers
/// such a call only if all keys are on one side.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// A handle for calls to a cluster. Clones share the connections.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(super) shared: Arc<ClusterState>,
    /// The master that answered the last call.
    pub(super) answered_by: Option<NodeAddress>,
}

pub(super) struct ClusterState {
    factory: ConnectionFactory,
    /// The nodes named in the settings, asked if no known master answers.
    seeds: Vec<NodeAddress>,
    connections: Mutex<HashMap<NodeAddress, ConnectionManager>>,
    /// The known master of each slot.
    masters: Mutex<Vec<Option<NodeAddress>>>,
    is_refreshing: AtomicBool,
    /// A slot is migrating: subscribers at its old master do not receive what the new one
    /// publishes.
    is_migrating: AtomicBool,
}

/// A command or transaction, sent to one master as a whole.
#[derive(Clone, Copy)]
enum Request<'a> {
    Command(&'a Cmd),
    Transaction(&'a Pipeline),
}

/// The routing decision that follows from an answer.
enum AnswerRoute {
    /// The answer is final.
    Final,
    /// The slot has moved to this master permanently.
    Moved(NodeAddress),
    /// This call alone goes to this master.
    Ask(NodeAddress),
    /// The call is sent again after a pause.
    TryAgain,
    /// The answer is final, and the slot map is probably outdated.
    Lost,
}

impl Cluster {
    pub(crate) async fn connect(
        factory: ConnectionFactory,
        seeds: Vec<NodeAddress>,
    ) -> RedisResult<Self> {
        let shared = ClusterState {
            factory,
            seeds,
            connections: Mutex::default(),
            masters: Mutex::new(vec![None; usize::from(SLOTS)]),
            is_refreshing: AtomicBool::new(false),
            is_migrating: AtomicBool::new(false),
        };
        let cluster = Self { shared: Arc::new(shared), answered_by: None };
        cluster.shared.refresh().await?;
        Ok(cluster)
    }

    /// Returns true if a call has met a migrating slot since the last call of this function.
    pub(crate) fn take_slot_migration(&self) -> bool {
        self.shared.is_migrating.swap(false, Ordering::AcqRel)
    }

    /// Sends a command to every known master. Returns the answers with the masters' addresses.
    pub(crate) async fn ask_each(&self, command: &Cmd) -> Vec<(String, RedisResult<Value>)> {
        let calls = self.shared.known_masters().into_iter().map(async |address| {
            let answer = match self.shared.connection(&address) {
                Ok(mut connection) => connection.send_packed_command(command).await,
                Err(error) => Err(error),
            };
            (format!("{}:{}", address.host, address.port), answer)
        });
        join_all(calls).await
    }

    pub(crate) async fn call(&mut self, command: &Cmd) -> RedisResult<Value> {
        let limit = self.shared.factory.response_timeout;
        let answered = match key_of(command) {
            Some(key) => {
                let request = Request::Command(command);
                timeout(limit, self.send_with_redirects(slot_of(key), request)).await.map(
                    |answers| answers.and_then(|mut answers| answers.pop().ok_or_else(no_answer)),
                )
            }
            None => timeout(limit, self.call_without_key(command)).await,
        };
        answered.unwrap_or_else(|_| Err(self.timeout_error()))
    }

    /// Sends a pipeline. A transaction goes to the master of its first key. The commands of another
    /// pipeline are independent calls, each of which may have another master and may be redirected.
    pub(crate) async fn call_pipeline(
        &mut self,
        pipeline: &Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let limit = self.shared.factory.response_timeout;
        let answers = if !pipeline.is_transaction() {
            let calls = pipeline.cmd_iter().map(|command| {
                let mut handle = self.clone();
                async move {
                    // A server's error is a value among the answers of a pipeline.
                    let answer = handle.call(command).await;
                    answer.or_else(|error| ServerError::try_from(error).map(Value::ServerError))
                }
            });
            join_all(calls).await.into_iter().collect::<RedisResult<Vec<_>>>()?
        } else {
            let key = pipeline.cmd_iter().find_map(key_of).ok_or_else(|| {
                RedisError::from((ErrorKind::Client, "a transaction without a key has no master"))
            })?;
            let request = Request::Transaction(pipeline);
            let answers = timeout(limit, self.send_with_redirects(slot_of(key), request)).await;
            answers.unwrap_or_else(|_| Err(self.timeout_error()))?
        };
        Ok(answers.into_iter().skip(offset).take(count).collect())
    }

    async fn call_without_key(&self, command: &Cmd) -> RedisResult<Value> {
        if let Some(address) = &self.answered_by {
            return self.shared.connection(address)?.send_packed_command(command).await;
        }
        // The call concerns the cluster as a whole, so the first answer of any master is used.
        let calls = self.shared.known_masters().into_iter().map(|address| async move {
            self.shared.connection(&address)?.send_packed_command(command).await
        });
        first_answer(calls.collect()).await
    }

    /// Sends a request to the master of a slot, and follows its redirections.
    async fn send_with_redirects(
        &mut self,
        slot: u16,
        request: Request<'_>,
    ) -> RedisResult<Vec<Value>> {
        let mut to = self.shared.find_master(slot).await?;
        let mut is_asking = false;
        let mut redirections = 0;
        loop {
            let answers = request.send(self.shared.connection(&to)?, is_asking).await;
            match route_answers(&answers, &to) {
                AnswerRoute::Final => {
                    self.answered_by = Some(to);
                    return answers;
                }
                AnswerRoute::Lost => {
                    self.shared.refresh_soon();
                    return answers;
                }
                AnswerRoute::Moved(_) | AnswerRoute::Ask(_) if redirections == REDIRECTIONS_MAX => {
                    return answers;
                }
                AnswerRoute::Moved(address) => {
                    self.shared.set_master(slot, &address);
                    self.shared.refresh_soon();
                    redirections += 1;
                    (to, is_asking) = (address, false);
                }
                AnswerRoute::Ask(address) => {
                    self.shared.is_migrating.store(true, Ordering::Release);
                    redirections += 1;
                    (to, is_asking) = (address, true);
                }
                AnswerRoute::TryAgain => {
                    sleep(TRY_AGAIN_AFTER).await;
                    (to, is_asking) = (self.shared.find_master(slot).await?, false);
                }
            }
        }
    }

    fn timeout_error(&self) -> RedisError {
        self.shared.refresh_soon();
        std::io::Error::from(std::io::ErrorKind::TimedOut).into()
    }
}

impl ClusterState {
    fn connection(&self, to: &NodeAddress) -> RedisResult<ConnectionManager> {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = connections.get(to) {
            return Ok(connection.clone());
        }
        let connection = self.factory.open_node(to)?;
        connections.insert(to.clone(), connection.clone());
        Ok(connection)
    }

    pub(super) fn master_of_slot(&self, slot: u16) -> Option<NodeAddress> {
        let masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
        masters.get(usize::from(slot)).cloned().flatten()
    }

    async fn find_master(&self, slot: u16) -> RedisResult<NodeAddress> {
        if let Some(home) = self.master_of_slot(slot) {
            return Ok(home);
        }
        self.refresh().await?;
        self.master_of_slot(slot).ok_or_else(|| {
            let kind = ErrorKind::Server(ServerErrorKind::ClusterDown);
            RedisError::from((kind, "no master serves the slot"))
        })
    }

    fn set_master(&self, slot: u16, to: &NodeAddress) {
        let mut masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(master) = masters.get_mut(usize::from(slot)) {
            *master = Some(to.clone());
        }
    }

    /// Returns the known masters.
    fn known_masters(&self) -> BTreeSet<NodeAddress> {
        let masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
        masters.iter().flatten().cloned().collect()
    }

    /// Refreshes the slot map from the known masters, or from the nodes of the settings if none of
    /// them answers. The first answer is used: an outdated one is corrected by the next
    /// redirection.
    pub(super) async fn refresh(&self) -> RedisResult<()> {
        let known_masters = self.known_masters();
        let masters = match self.ask_masters(known_masters.iter()).await {
            Ok(masters) => masters,
            Err(_) => self.ask_masters(self.seeds.iter()).await?,
        };
        *self.masters.lock().unwrap_or_else(PoisonError::into_inner) = masters;
        let known_masters = self.known_masters();
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|address, _| known_masters.contains(address));
        Ok(())
    }

    async fn ask_masters(
        &self,
        nodes: impl Iterator<Item = &NodeAddress>,
    ) -> RedisResult<Vec<Option<NodeAddress>>> {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let command = &command;
        let calls = nodes.map(|node| async move {
            let answer = self.connection(node)?.send_packed_command(command).await?;
            parse_slots(&answer.extract_error()?, node)
        });
        first_answer(calls.collect()).await
    }

    /// Refreshes the slot map in the background, unless a refresh is under way.
    fn refresh_soon(self: &Arc<Self>) {
        if self.is_refreshing.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = self.clone();
        tokio::spawn(async move {
            if let Err(error) = shared.refresh().await {
                tracing::warn!(%error, "no node of the cluster returns its slot map");
            }
            shared.is_refreshing.store(false, Ordering::Release);
        });
    }
}

impl Request<'_> {
    /// Sends the request and returns all answers. With `is_asking` the `ASKING` command is sent in
    /// the same write, because the connection is shared.
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

fn route_answers(answers: &RedisResult<Vec<Value>>, from: &NodeAddress) -> AnswerRoute {
    let error: RedisError = match answers {
        Err(error) => error.clone(),
        Ok(answers) => {
            let mut errors = answers.iter().filter_map(|answer| match answer {
                Value::ServerError(error) => Some(error),
                _ => None,
            });
            match errors.next() {
                Some(error) => error.clone().into(),
                None => return AnswerRoute::Final,
            }
        }
    };
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::Moved) => {
            redirect_target(&error, from).map_or(AnswerRoute::Lost, AnswerRoute::Moved)
        }
        ErrorKind::Server(ServerErrorKind::Ask) => {
            redirect_target(&error, from).map_or(AnswerRoute::Lost, AnswerRoute::Ask)
        }
        ErrorKind::Server(ServerErrorKind::TryAgain) => AnswerRoute::TryAgain,
        ErrorKind::Server(
            ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::BusyLoading,
        )
        | ErrorKind::Io => AnswerRoute::Lost,
        _ => AnswerRoute::Final,
    }
}

/// Returns the node that a redirection names. A missing host stands for the host of the node that
/// redirects.
fn redirect_target(error: &RedisError, from: &NodeAddress) -> Option<NodeAddress> {
    let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
    let host = if host.is_empty() { from.host.clone() } else { host.into() };
    Some(NodeAddress { host, port: port.parse().ok()? })
}

/// Parses the answer to `CLUSTER SLOTS`: ranges of slots, each with its master before its replicas.
fn parse_slots(answer: &Value, from: &NodeAddress) -> RedisResult<Vec<Option<NodeAddress>>> {
    let mut masters = vec![None; usize::from(SLOTS)];
    let Value::Array(ranges) = answer else {
        return Err(no_answer());
    };
    for range in ranges {
        let Value::Array(range) = range else { continue };
        let [first, last, Value::Array(master), ..] = range.as_slice() else { continue };
        let [host, port, ..] = master.as_slice() else { continue };
        let first: usize = redis::from_redis_value_ref(first)?;
        let last: usize = redis::from_redis_value_ref(last)?;
        let host: Option<String> = redis::from_redis_value_ref(host)?;
        // A node that does not know its own name leaves the host empty.
        let host = match host.as_deref() {
            None | Some("" | "?") => from.host.clone(),
            Some(host) => host.into(),
        };
        let address = NodeAddress { host, port: redis::from_redis_value_ref(port)? };
        for master in masters.iter_mut().take(last + 1).skip(first) {
            *master = Some(address.clone());
        }
    }
    // A node that knows no masters has left the cluster or never joined it.
    if masters.iter().all(Option::is_none) { Err(no_answer()) } else { Ok(masters) }
}

/// Returns the first key of a command; `None` if the command has no key.
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

/// Returns the slot of a key: of the text between its first braces, or of the whole key.
pub(crate) fn slot_of(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let tag = key[open + 1..].split(|byte| *byte == b'}').next()?;
        let is_closed = open + 1 + tag.len() < key.len();
        (is_closed && !tag.is_empty()).then_some(tag)
    });
    crc16(tag.unwrap_or(key)) % SLOTS
}

/// Returns the CRC-16/XMODEM checksum that the cluster specification requires.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            let polynomial = if crc & 0x8000 == 0 { 0 } else { 0x1021 };
            (crc << 1) ^ polynomial
        })
    })
}

/// Returns the first successful answer of concurrent calls.
async fn first_answer<T>(calls: Vec<impl Future<Output = RedisResult<T>>>) -> RedisResult<T> {
    if calls.is_empty() {
        return Err(no_answer());
    }
    Ok(select_ok(calls.into_iter().map(Box::pin)).await?.0)
}

fn no_answer() -> RedisError {
    let kind = ErrorKind::Server(ServerErrorKind::ClusterDown);
    RedisError::from((kind, "no node of the cluster knows its masters"))
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
        let from = NodeAddress { host: "seed".into(), port: 1 };
        let answer = Value::Array(vec![
            range(0, 1, vec![node(bulk("a"), 7), node(bulk("replica"), 9)]),
            range(3, 16_383, vec![node(Value::Nil, 8)]),
        ]);
        let masters = parse_slots(&answer, &from).unwrap_or_default();
        let name = |slot: usize| masters[slot].as_ref().map(|a| format!("{}:{}", a.host, a.port));
        assert_eq!(name(1).as_deref(), Some("a:7"));
        assert_eq!(name(2), None);
        assert_eq!(name(16_383).as_deref(), Some("seed:8"));
        assert!(parse_slots(&Value::Array(vec![]), &from).is_err());
    }

    #[test]
    fn redirections_are_distinguished_from_answers() {
        let from = NodeAddress { host: "here".into(), port: 1 };
        let route = |error: &str| {
            let answer = redis::parse_redis_value(format!("-{error}\r\n").as_bytes());
            match route_answers(&answer.map(|answer| vec![answer]), &from) {
                AnswerRoute::Final => "final".to_owned(),
                AnswerRoute::Moved(to) => format!("moved {}:{}", to.host, to.port),
                AnswerRoute::Ask(to) => format!("ask {}:{}", to.host, to.port),
                AnswerRoute::TryAgain => "again".to_owned(),
                AnswerRoute::Lost => "lost".to_owned(),
            }
        };
        assert_eq!(route("MOVED 5 there:2"), "moved there:2");
        assert_eq!(route("MOVED 5 :2"), "moved here:2");
        assert_eq!(route("ASK 5 ::1:2"), "ask ::1:2");
        assert_eq!(route("TRYAGAIN not now"), "again");
        assert_eq!(route("CLUSTERDOWN"), "lost");
        assert_eq!(route("NOSCRIPT no such script"), "final");
        assert_eq!(route("WRONGTYPE of key"), "final");
    }
}
