//! Connections to Redis: one server, or the masters of a cluster, behind one type that the rest of
//! this module uses for commands, scripts and pipelines.
//!
//! A call whose outcome is unknown is never sent again. A call that a cluster rejects because the
//! key lives elsewhere was not executed, and is redirected.

mod cluster;
mod factory;
mod server;
mod setup;

use redis::aio::ConnectionLike;
use redis::{
    Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, Pipeline, RedisFuture, RedisResult,
    TlsCertificates, Value,
};

use crate::{Options, Unavailable};

use cluster::Cluster;
use factory::ConnectionFactory;
use server::Server;

pub(crate) use factory::{NodeAddress, PushHandler};
pub use setup::RedisSetupError;

/// The scheme of a cluster's URL. The nodes follow, separated by commas.
const CLUSTER_SCHEME: &str = "redis+cluster://";

/// The scheme of a cluster's URL over TLS. The URL of a single node begins with `rediss://`.
const TLS_CLUSTER_SCHEME: &str = "rediss+cluster://";

/// A handle for calls. Clones share the connections.
#[derive(Clone)]
pub(crate) enum Connection {
    Server(Server),
    Cluster(Cluster),
}

impl Connection {
    /// Connects to Redis. With `push` the connection supports subscriptions, and push messages are
    /// passed to it.
    pub(crate) async fn open(
        options: &Options,
        push: Option<PushHandler>,
    ) -> Result<Self, Unavailable> {
        match parse_url(&options.url)? {
            RedisUrl::Server(settings) => {
                let settings = with_root_certificate(*settings, options)?;
                let server =
                    Server::connect(ConnectionFactory::new(settings, options, push)).await?;
                reject_cluster_node(&server).await?;
                Ok(Self::Server(server))
            }
            RedisUrl::Cluster(nodes) => {
                let seeds = nodes.iter().map(node_address).collect::<Result<Vec<_>, _>>()?;
                let settings = nodes.into_iter().next().ok_or_else(no_node)?;
                let settings = with_root_certificate(settings, options)?;
                let factory = ConnectionFactory::new(settings, options, push);
                Ok(Self::Cluster(Cluster::connect(factory, seeds).await?))
            }
        }
    }

    /// Reads the memory and persistence settings of each server. The name is empty for a single
    /// server.
    pub(crate) async fn info(&self) -> Vec<(String, RedisResult<Value>)> {
        let mut call = redis::cmd("INFO");
        call.arg("memory").arg("persistence");
        match self {
            Self::Server(server) => vec![(String::new(), server.call(&call).await)],
            Self::Cluster(cluster) => cluster.ask_each(&call).await,
        }
    }

    /// Refreshes the slot map of a cluster.
    pub(crate) async fn refresh(&self) -> Result<(), Unavailable> {
        match self {
            Self::Server(_) => Ok(()),
            Self::Cluster(cluster) => Ok(cluster.shared.refresh().await?),
        }
    }

    /// Returns the number of times that the connection to a server was replaced because the server
    /// was a replica.
    pub(crate) fn generation(&self) -> u64 {
        match self {
            Self::Server(server) => server.generation(),
            Self::Cluster(_) => 0,
        }
    }

    /// Drops the connection to a server; the next call opens another one.
    pub(crate) fn reconnect(&self) {
        match self {
            Self::Server(server) => server.reconnect(),
            // Each master of a cluster is handled by its redirections.
            Self::Cluster(_) => {}
        }
    }

    /// Returns true if a call has met a migrating slot since the last call of this function.
    pub(crate) fn take_slot_migration(&self) -> bool {
        match self {
            Self::Server(_) => false,
            Self::Cluster(cluster) => cluster.take_slot_migration(),
        }
    }

    /// Returns the address of the server for a key; `None` while it is unknown.
    pub(crate) fn master_of_key(&self, key: &str) -> Option<NodeAddress> {
        match self {
            Self::Server(_) => Some(NodeAddress::single_server()),
            Self::Cluster(cluster) => {
                cluster.shared.master_of_slot(cluster::slot_of(key.as_bytes()))
            }
        }
    }

    /// Returns the address that answered the last call of this handle.
    pub(crate) fn answered_by(&self) -> Option<NodeAddress> {
        match self {
            Self::Server(_) => Some(NodeAddress::single_server()),
            Self::Cluster(cluster) => cluster.answered_by.clone(),
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
            Self::Server(server) => Box::pin(server.call_pipeline(pipeline, offset, count)),
            Self::Cluster(cluster) => Box::pin(cluster.call_pipeline(pipeline, offset, count)),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Server(server) => server.database(),
            Self::Cluster(_) => 0,
        }
    }
}

/// Returns the settings with the configured root certificate. Rejects a certificate without TLS,
/// and TLS without verification.
fn with_root_certificate(
    settings: ConnectionInfo,
    options: &Options,
) -> Result<ConnectionInfo, Unavailable> {
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
        return Err(Unavailable::new(
            "a certificate must be verified: remove the insecure option".into(),
        ));
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

/// The target of a URL.
enum RedisUrl {
    Server(Box<ConnectionInfo>),
    /// Some nodes of a cluster, which know the others.
    Cluster(Vec<ConnectionInfo>),
}

/// Parses a URL: `redis://…`, `rediss://…` and `redis+unix://…` in their usual form, and
/// `redis+cluster://USER:PASSWORD@a:1,b:2`, also with `rediss`.
fn parse_url(url: &str) -> Result<RedisUrl, Unavailable> {
    let of_cluster = [(CLUSTER_SCHEME, "redis"), (TLS_CLUSTER_SCHEME, "rediss")];
    let named = of_cluster
        .into_iter()
        .find_map(|(scheme, of_node)| url.strip_prefix(scheme).map(|rest| (rest, of_node)));
    let Some((rest, of_node)) = named else {
        return Ok(RedisUrl::Server(Box::new(url.into_connection_info()?)));
    };
    let (login, hosts) = match rest.rsplit_once('@') {
        Some((login, hosts)) => (format!("{login}@"), hosts),
        None => (String::new(), rest),
    };
    let hosts = hosts.trim_end_matches('/').split(',').filter(|host| !host.is_empty());
    let nodes = hosts.map(|host| format!("{of_node}://{login}{host}").into_connection_info());
    let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    if nodes.is_empty() { Err(no_node()) } else { Ok(RedisUrl::Cluster(nodes)) }
}

fn no_node() -> Unavailable {
    Unavailable::new(format!("{CLUSTER_SCHEME} must be followed by HOST:PORT,HOST:PORT"))
}

fn node_address(node: &ConnectionInfo) -> Result<NodeAddress, Unavailable> {
    match node.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            Ok(NodeAddress { host: host.as_str().into(), port: *port })
        }
        _ => Err(Unavailable::new("the nodes of a cluster must be reached over TCP".into())),
    }
}

/// Rejects a single server that is a node of a cluster: it would serve some keys and reject the
/// others.
async fn reject_cluster_node(server: &Server) -> Result<(), Unavailable> {
    let mut call = redis::cmd("INFO");
    call.arg("cluster");
    // A login without the right to `INFO` may still serve.
    let info: String =
        call.query_async(&mut Connection::Server(server.clone())).await.unwrap_or_default();
    if info.contains("cluster_enabled:1") {
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
        match parse_url(url) {
            Ok(RedisUrl::Cluster(nodes)) => {
                let name = |node: &ConnectionInfo| {
                    let user = node.redis_settings().username().unwrap_or("-").to_owned();
                    let password = node.redis_settings().password().unwrap_or("-").to_owned();
                    format!("{user} {password} {}", node.addr())
                };
                Some(nodes.iter().map(name).collect())
            }
            Ok(RedisUrl::Server(_)) | Err(_) => None,
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
        assert!(parse_url("redis://a:1").is_ok());
        assert!(parse_url("redis+cluster://a:x").is_err());
    }
}
