//! How calls reach Redis: a server, or the masters of a cluster, behind one type that the rest of
//! this module hands to commands, scripts and pipelines without asking which it is.
//!
//! Nothing is sent again whose outcome is unknown. What a cluster refuses because a key lives
//! elsewhere was not done, and is followed there.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::{
    Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, Pipeline, ProtocolVersion, PushInfo,
    RedisFuture, RedisResult, TlsCertificates, Value,
};

use crate::live_store::cluster::{self, Cluster};
use crate::live_store::server::Server;
use crate::live_store::{Options, Unavailable};

/// What the URL of a cluster begins with. Its nodes follow, separated by commas.
const CLUSTER_SCHEME: &str = "redis+cluster://";

/// The same over TLS. One that is only a node's begins with `rediss://`.
const TLS_CLUSTER_SCHEME: &str = "rediss+cluster://";

/// Where a server of Redis listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address {
    pub(super) host: Arc<str>,
    pub(super) port: u16,
}

/// Is told what a server says of its own accord, and which one said it.
pub(super) type Push = Arc<dyn Fn(&Address, PushInfo) + Send + Sync>;

/// Opens connections that differ only in where they lead.
#[derive(Clone)]
pub(super) struct Opener {
    settings: ConnectionInfo,
    config: ConnectionManagerConfig,
    push: Option<Push>,
    /// A call to a cluster, with all its redirections, takes no longer.
    pub(super) response_timeout: Duration,
}

/// A handle for calls; clones share the connections.
#[derive(Clone)]
pub(super) enum Connection {
    Server(Server),
    Cluster(Cluster),
}

impl Connection {
    /// Connects. With `push`, a subscription can be asked for, and pushes are told to it.
    pub(super) async fn open(options: &Options, push: Option<Push>) -> Result<Self, Unavailable> {
        match nodes(&options.url)? {
            Nodes::Server(settings) => {
                let settings = trusting(*settings, options)?;
                let server = Server::connect(Opener::new(settings, options, push)).await?;
                refuse_node_of_cluster(&server).await?;
                Ok(Self::Server(server))
            }
            Nodes::Cluster(nodes) => {
                let seeds = nodes.iter().map(address).collect::<Result<Vec<_>, _>>()?;
                let settings = nodes.into_iter().next().ok_or_else(no_node)?;
                let settings = trusting(settings, options)?;
                let opener = Opener::new(settings, options, push);
                Ok(Self::Cluster(Cluster::connect(opener, seeds).await?))
            }
        }
    }

    /// Asks each server for its memory and persistence. Names it, where there are several.
    pub(super) async fn info(&self) -> Vec<(String, RedisResult<Value>)> {
        let mut call = redis::cmd("INFO");
        call.arg("memory").arg("persistence");
        match self {
            Self::Server(server) => vec![(String::new(), server.call(&call).await)],
            Self::Cluster(cluster) => cluster.ask_each(&call).await,
        }
    }

    /// Learns anew where keys live.
    pub(super) async fn refresh(&self) -> Result<(), Unavailable> {
        match self {
            Self::Server(_) => Ok(()),
            Self::Cluster(cluster) => Ok(cluster.refresh().await?),
        }
    }

    /// How often the connection to a server was replaced because it was one to a replica.
    pub(super) fn generation(&self) -> u64 {
        match self {
            Self::Server(server) => server.generation(),
            Self::Cluster(_) => 0,
        }
    }

    /// Drops the connection to a server; the next call makes another one.
    pub(super) fn reconnect(&self) {
        match self {
            Self::Server(server) => server.reconnect(),
            // Each master is followed by itself.
            Self::Cluster(_) => {}
        }
    }

    /// Whether a call met keys in the midst of a move since this was asked last.
    pub(super) fn has_met_a_move(&self) -> bool {
        match self {
            Self::Server(_) => false,
            Self::Cluster(cluster) => cluster.has_met_a_move(),
        }
    }

    /// Where a key should live; `None` while that is not known.
    pub(super) fn home(&self, key: &str) -> Option<Address> {
        match self {
            Self::Server(_) => Some(Address::only()),
            Self::Cluster(cluster) => cluster.home(cluster::slot_of(key.as_bytes())),
        }
    }

    /// Where the last call of this very handle was answered.
    pub(super) fn answered(&self) -> Option<Address> {
        match self {
            Self::Server(_) => Some(Address::only()),
            Self::Cluster(cluster) => cluster.answered().cloned(),
        }
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Server(server) => Box::pin(server.call(command)),
            Self::Cluster(cluster) => Box::pin(cluster.call(command)),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Server(server) => Box::pin(server.call_all(pipeline, offset, count)),
            Self::Cluster(cluster) => Box::pin(cluster.call_all(pipeline, offset, count)),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Server(server) => server.database(),
            Self::Cluster(_) => 0,
        }
    }
}

impl Address {
    /// Stands for the server where there is only one.
    fn only() -> Self {
        Self { host: "".into(), port: 0 }
    }
}

impl Opener {
    fn new(settings: ConnectionInfo, options: &Options, push: Option<Push>) -> Self {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(options.connect_timeout))
            .set_response_timeout(Some(options.response_timeout))
            .set_number_of_retries(1)
            .set_max_delay(Duration::from_millis(200));
        // Only with this protocol do pushes and answers share a connection.
        let settings = match push {
            Some(_) => {
                let redis = settings.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
                settings.set_redis_settings(redis)
            }
            None => settings,
        };
        Self { settings, config, push, response_timeout: options.response_timeout }
    }

    pub(super) async fn open_server(&self) -> Result<ConnectionManager, Unavailable> {
        let client = redis::Client::open(self.settings.clone())?;
        let config = self.config_for(Address::only());
        Ok(client.get_connection_manager_with_config(config).await?)
    }

    /// A connection to the server, which is made when it is first used.
    pub(super) fn open_server_lazily(&self) -> RedisResult<ConnectionManager> {
        let client = redis::Client::open(self.settings.clone())?;
        ConnectionManager::new_lazy_with_config(client, self.config_for(Address::only()))
    }

    /// The number of the database that is used on the server.
    pub(super) fn database(&self) -> i64 {
        self.settings.redis_settings().db()
    }

    /// A connection to a node of a cluster, which is made when it is first used.
    pub(super) fn open_node(&self, to: &Address) -> RedisResult<ConnectionManager> {
        let (host, port) = (to.host.to_string(), to.port);
        let address = match self.settings.addr() {
            // Each node shows a certificate of its own, for the host by which the cluster names it.
            ConnectionAddr::TcpTls { tls_params, .. } => {
                let tls_params = tls_params.clone();
                ConnectionAddr::TcpTls { host, port, insecure: false, tls_params }
            }
            // The library's enum is open, so every other kind is taken together.
            _ => ConnectionAddr::Tcp(host, port),
        };
        let client = redis::Client::open(self.settings.clone().set_addr(address))?;
        ConnectionManager::new_lazy_with_config(client, self.config_for(to.clone()))
    }

    fn config_for(&self, from: Address) -> ConnectionManagerConfig {
        match self.push.clone() {
            None => self.config.clone(),
            Some(push) => self.config.clone().set_push_sender(move |pushed: PushInfo| {
                push(&from, pushed);
                Ok::<(), redis::aio::SendError>(())
            }),
        }
    }
}

/// The same settings, with the authorities that are believed where it goes over TLS.
fn trusting(settings: ConnectionInfo, options: &Options) -> Result<ConnectionInfo, Unavailable> {
    let ConnectionAddr::TcpTls { insecure, .. } = settings.addr() else {
        return match options.root_certificate {
            Some(_) => Err(Unavailable::new(
                "BAHAY_REDIS_ROOT_CERTIFICATE is for TLS: write rediss:// or rediss+cluster://"
                    .into(),
            )),
            None => Ok(settings),
        };
    };
    if *insecure {
        return Err(Unavailable::new("a certificate that nobody checks is none".into()));
    }
    let Some(path) = &options.root_certificate else {
        return Ok(settings);
    };
    let unread = |error: &dyn std::fmt::Display| {
        Unavailable::new(format!("the root certificate {}: {error}", path.display()))
    };
    let root_cert = std::fs::read(path).map_err(|error| unread(&error))?;
    let certificates = TlsCertificates { client_tls: None, root_cert: Some(root_cert) };
    let client = redis::Client::build_with_tls(settings, certificates);
    Ok(client.map_err(|error| unread(&error))?.get_connection_info().clone())
}

/// What a URL names.
enum Nodes {
    Server(Box<ConnectionInfo>),
    /// Some of a cluster's nodes, which know the others.
    Cluster(Vec<ConnectionInfo>),
}

/// `redis://…`, `rediss://…` and `redis+unix://…` as everywhere;
/// `redis+cluster://USER:PASSWORD@a:1,b:2`, and with `rediss`.
fn nodes(url: &str) -> Result<Nodes, Unavailable> {
    let of_cluster = [(CLUSTER_SCHEME, "redis"), (TLS_CLUSTER_SCHEME, "rediss")];
    let named = of_cluster
        .into_iter()
        .find_map(|(scheme, of_node)| url.strip_prefix(scheme).map(|rest| (rest, of_node)));
    let Some((rest, of_node)) = named else {
        return Ok(Nodes::Server(Box::new(url.into_connection_info()?)));
    };
    let (login, hosts) = match rest.rsplit_once('@') {
        Some((login, hosts)) => (format!("{login}@"), hosts),
        None => (String::new(), rest),
    };
    let hosts = hosts.trim_end_matches('/').split(',').filter(|host| !host.is_empty());
    let nodes = hosts.map(|host| format!("{of_node}://{login}{host}").into_connection_info());
    let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    if nodes.is_empty() { Err(no_node()) } else { Ok(Nodes::Cluster(nodes)) }
}

fn no_node() -> Unavailable {
    Unavailable::new(format!("{CLUSTER_SCHEME} is to be followed by HOST:PORT,HOST:PORT"))
}

fn address(node: &ConnectionInfo) -> Result<Address, Unavailable> {
    match node.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            Ok(Address { host: host.as_str().into(), port: *port })
        }
        _ => Err(Unavailable::new("the nodes of a cluster are reached by TCP".into())),
    }
}

/// A node of a cluster serves some keys and refuses the others: better not to begin.
async fn refuse_node_of_cluster(server: &Server) -> Result<(), Unavailable> {
    let mut call = redis::cmd("INFO");
    call.arg("cluster");
    // A login that may not ask is not kept from serving.
    let said: String =
        call.query_async(&mut Connection::Server(server.clone())).await.unwrap_or_default();
    if said.contains("cluster_enabled:1") {
        return Err(Unavailable::new(format!(
            "this server is a node of a cluster: write {CLUSTER_SCHEME}HOST:PORT,HOST:PORT"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(url: &str) -> Option<Vec<String>> {
        match nodes(url) {
            Ok(Nodes::Cluster(nodes)) => {
                let name = |node: &ConnectionInfo| {
                    let user = node.redis_settings().username().unwrap_or("-").to_owned();
                    let password = node.redis_settings().password().unwrap_or("-").to_owned();
                    format!("{user} {password} {}", node.addr())
                };
                Some(nodes.iter().map(name).collect())
            }
            Ok(Nodes::Server(_)) | Err(_) => None,
        }
    }

    #[test]
    fn a_url_names_a_server_or_nodes_of_a_cluster() {
        for (url, expected) in [
            ("redis+cluster://a:1,b:2", &["- - a:1", "- - b:2"] as &[_]),
            ("redis+cluster://a", &["- - a:6379"]),
            ("redis+cluster://u:p@a:1,b:2/", &["u p a:1", "u p b:2"]),
            ("redis+cluster://:p@127.0.0.1:1", &["- p 127.0.0.1:1"]),
            ("rediss+cluster://u:p@a:1,b", &["u p a:1", "u p b:6379"]),
        ] {
            assert_eq!(seeds(url).unwrap_or_default(), expected, "{url}");
        }
        for url in ["redis://a:1", "redis+unix:///a.sock", "redis+cluster://", "redis+cluster://,"]
        {
            assert_eq!(seeds(url), None, "{url}");
        }
        assert!(nodes("redis://a:1").is_ok());
        assert!(nodes("redis+cluster://a:x").is_err());
    }
}
