//! A single server of Redis. A connection that answers that its server is a replica is dropped, and
//! the next call connects anew, resolving the host's name again: so a failover is followed.

use std::sync::{Arc, Mutex, PoisonError};

use redis::aio::ConnectionManager;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};

use crate::live_store::Unavailable;
use crate::live_store::connection::Opener;

/// A handle for calls to a server; clones share the connection.
#[derive(Clone)]
pub(super) struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    opener: Opener,
    current: Mutex<Current>,
}

/// The connection in use.
#[derive(Clone)]
struct Current {
    /// How often it was replaced.
    generation: u64,
    connection: ConnectionManager,
}

impl Server {
    pub(super) async fn connect(opener: Opener) -> Result<Self, Unavailable> {
        let connection = opener.open_server().await?;
        let current = Mutex::new(Current { generation: 0, connection });
        Ok(Self { shared: Arc::new(Shared { opener, current }) })
    }

    /// How often the connection was replaced.
    pub(super) fn generation(&self) -> u64 {
        self.current().generation
    }

    /// Drops the connection; the next call makes another one.
    pub(super) fn reconnect(&self) {
        self.replace(self.generation());
    }

    pub(super) fn database(&self) -> i64 {
        self.shared.opener.database()
    }

    pub(super) async fn call(&self, command: &Cmd) -> RedisResult<Value> {
        let Current { generation, mut connection } = self.current();
        let answer = connection.send_packed_command(command).await;
        if let Err(error) = &answer {
            self.check(error, generation);
        }
        // The answer to a command is an error or a value; a refusal comes as either.
        if let Ok(Value::ServerError(error)) = &answer {
            self.check(&error.clone().into(), generation);
        }
        answer
    }

    pub(super) async fn call_all(
        &self,
        pipeline: &Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let Current { generation, mut connection } = self.current();
        let answers = connection.send_packed_commands(pipeline, offset, count).await;
        match &answers {
            Err(error) => self.check(error, generation),
            Ok(answers) => {
                for answer in answers {
                    if let Value::ServerError(error) = answer {
                        self.check(&error.clone().into(), generation);
                    }
                }
            }
        }
        answers
    }

    fn current(&self) -> Current {
        self.shared.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn check(&self, error: &RedisError, generation: u64) {
        if is_replica(error) {
            self.replace(generation);
        }
    }

    /// Replaces the connection of this generation, unless somebody has.
    fn replace(&self, generation: u64) {
        let opened = self.shared.opener.open_server_lazily();
        let mut current = self.shared.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.generation != generation {
            return;
        }
        match opened {
            Ok(connection) => {
                tracing::warn!("Redis takes no writes: it is connected anew");
                *current = Current { generation: generation + 1, connection };
            }
            Err(error) => tracing::error!(%error, "Redis cannot be connected anew"),
        }
    }
}

/// Returns whether a server says that writes go elsewhere.
fn is_replica(error: &RedisError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown)
    )
}
