//! Opening connections to one server, or to the nodes of a cluster, with the same settings.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{ConnectionAddr, ConnectionInfo, ProtocolVersion, PushInfo, RedisResult};

use crate::{Options, Unavailable};

/// The address of a Redis server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeAddress {
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
}

/// A callback that receives the push messages of a server, and the address of that server.
pub(crate) type PushHandler = Arc<dyn Fn(&NodeAddress, PushInfo) + Send + Sync>;

/// A factory of connections that differ only in their address.
#[derive(Clone)]
pub(crate) struct ConnectionFactory {
    settings: ConnectionInfo,
    config: ConnectionManagerConfig,
    push: Option<PushHandler>,
    /// The timeout of a call to a cluster, including all its redirections.
    pub(crate) response_timeout: Duration,
}

impl NodeAddress {
    /// Returns the placeholder address of a single server.
    pub(crate) fn single_server() -> Self {
        Self { host: "".into(), port: 0 }
    }
}

impl ConnectionFactory {
    pub(crate) fn new(
        settings: ConnectionInfo,
        options: &Options,
        push: Option<PushHandler>,
    ) -> Self {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(options.connect_timeout))
            .set_response_timeout(Some(options.response_timeout))
            .set_number_of_retries(1)
            .set_max_delay(Duration::from_millis(200));
        // Push messages and answers share a connection only with RESP3.
        let settings = match push {
            Some(_) => {
                let redis = settings.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
                settings.set_redis_settings(redis)
            }
            None => settings,
        };
        Self { settings, config, push, response_timeout: options.response_timeout }
    }

    pub(crate) async fn open_server(&self) -> Result<ConnectionManager, Unavailable> {
        let client = redis::Client::open(self.settings.clone())?;
        let config = self.config_for(NodeAddress::single_server());
        Ok(client.get_connection_manager_with_config(config).await?)
    }

    /// Creates a connection to the server that is opened on first use.
    pub(crate) fn open_server_lazily(&self) -> RedisResult<ConnectionManager> {
        let client = redis::Client::open(self.settings.clone())?;
        ConnectionManager::new_lazy_with_config(
            client,
            self.config_for(NodeAddress::single_server()),
        )
    }

    /// Returns the number of the database on the server.
    pub(crate) fn database(&self) -> i64 {
        self.settings.redis_settings().db()
    }

    /// Creates a connection to a node of a cluster that is opened on first use.
    pub(crate) fn open_node(&self, to: &NodeAddress) -> RedisResult<ConnectionManager> {
        let host = to.host.to_string();
        let port = to.port;
        let address = match self.settings.addr() {
            // Each node presents a certificate for the host name that the cluster uses for it.
            ConnectionAddr::TcpTls { tls_params, .. } => {
                let tls_params = tls_params.clone();
                ConnectionAddr::TcpTls { host, port, insecure: false, tls_params }
            }
            // The library's enum is non-exhaustive, so all other kinds are handled together.
            _ => ConnectionAddr::Tcp(host, port),
        };
        let client = redis::Client::open(self.settings.clone().set_addr(address))?;
        ConnectionManager::new_lazy_with_config(client, self.config_for(to.clone()))
    }

    fn config_for(&self, from: NodeAddress) -> ConnectionManagerConfig {
        match self.push.clone() {
            None => self.config.clone(),
            Some(push) => self.config.clone().set_push_sender(move |pushed: PushInfo| {
                push(&from, pushed);
                Ok::<(), redis::aio::SendError>(())
            }),
        }
    }
}
