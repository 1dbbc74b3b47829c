//! A single Redis server. A connection whose server turns out to be a replica is dropped, and the
//! next call connects again and resolves the host name anew, which follows a failover.

use std::sync::{Arc, Mutex, PoisonError};

use redis::aio::ConnectionManager;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};

use super::factory::ConnectionFactory;
use crate::Unavailable;

/// A handle for calls to a server. Clones share the connection.
#[derive(Clone)]
pub(crate) struct Server {
    shared: Arc<ServerState>,
}

struct ServerState {
    factory: ConnectionFactory,
    current: Mutex<CurrentConnection>,
}

/// The connection in use.
#[derive(Clone)]
struct CurrentConnection {
    /// The number of replacements.
    generation: u64,
    connection: ConnectionManager,
}

impl Server {
    pub(crate) async fn connect(factory: ConnectionFactory) -> Result<Self, Unavailable> {
        let connection = factory.open_server().await?;
        let current = Mutex::new(CurrentConnection { generation: 0, connection });
        Ok(Self { shared: Arc::new(ServerState { factory, current }) })
    }

    /// Returns the number of times that the connection was replaced.
    pub(crate) fn generation(&self) -> u64 {
        self.current().generation
    }

    /// Drops the connection; the next call opens another one.
    pub(crate) fn reconnect(&self) {
        self.replace(self.generation());
    }

    pub(crate) fn database(&self) -> i64 {
        self.shared.factory.database()
    }

    pub(crate) async fn call(&self, command: &Cmd) -> RedisResult<Value> {
        let CurrentConnection { generation, mut connection } = self.current();
        let answer = connection.send_packed_command(command).await;
        if let Err(error) = &answer {
            self.replace_if_replica(error, generation);
        }
        // A rejection arrives either as an error or as a value.
        if let Ok(Value::ServerError(error)) = &answer {
            self.replace_if_replica(&error.clone().into(), generation);
        }
        answer
    }

    pub(crate) async fn call_pipeline(
        &self,
        pipeline: &Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let CurrentConnection { generation, mut connection } = self.current();
        let answers = connection.send_packed_commands(pipeline, offset, count).await;
        match &answers {
            Err(error) => self.replace_if_replica(error, generation),
            Ok(answers) => {
                for answer in answers {
                    if let Value::ServerError(error) = answer {
                        self.replace_if_replica(&error.clone().into(), generation);
                    }
                }
            }
        }
        answers
    }

    fn current(&self) -> CurrentConnection {
        self.shared.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the connection if the error says that writes go to another server.
    fn replace_if_replica(&self, error: &RedisError, generation: u64) {
        if let ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown) =
            error.kind()
        {
            self.replace(generation);
        }
    }

    /// Replaces the connection of this generation, unless it was replaced already.
    fn replace(&self, generation: u64) {
        let opened = self.shared.factory.open_server_lazily();
        let mut current = self.shared.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.generation != generation {
            return;
        }
        match opened {
            Ok(connection) => {
                tracing::warn!("Redis accepts no writes: reconnecting");
                *current = CurrentConnection { generation: generation + 1, connection };
            }
            Err(error) => tracing::error!(%error, "the reconnection to Redis failed"),
        }
    }
}
