//! Publications: a node listens to the channel of every table at which it has somebody. Channels
//! are sharded, like the keys. A lost connection is told as such: what was published meanwhile is
//! read from the journals.

use bahay_engine::table::TableId;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind, Value};
use tokio::sync::mpsc;

use crate::live::{Live, Options, Unavailable};

/// Something that the subscription connection says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publication {
    /// Lines were appended to a table's journal at a version.
    Lines { table: TableId, version: u64, lines: Vec<String> },
    /// A table was ended.
    Ended { table: TableId },
    /// Publications may have been missed.
    Interrupted,
}

/// The connection for subscriptions, on its own so that pushes never wait behind answers.
pub(super) async fn connect(
    options: &Options,
    config: ConnectionManagerConfig,
) -> Result<(ConnectionManager, mpsc::UnboundedReceiver<Publication>), Unavailable> {
    let info = options.url.as_str().into_connection_info()?;
    let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    let client = redis::Client::open(info.set_redis_settings(redis))?;
    // Unbounded, because Redis drops a subscriber that does not read: the reader never blocks.
    let (sender, receiver) = mpsc::unbounded_channel();
    let push = move |push: PushInfo| match publication(&push) {
        Some(publication) => sender.send(publication).map_err(|_| redis::aio::SendError),
        None => Ok(()),
    };
    let config = config.set_push_sender(push).set_automatic_resubscription();
    Ok((client.get_connection_manager_with_config(config).await?, receiver))
}

fn publication(push: &PushInfo) -> Option<Publication> {
    match push.kind {
        PushKind::Disconnection => Some(Publication::Interrupted),
        PushKind::SMessage => {
            let [Value::BulkString(channel), Value::BulkString(payload)] = push.data.as_slice()
            else {
                return None;
            };
            let channel = std::str::from_utf8(channel).ok()?;
            let table = channel.strip_suffix(":lines")?.rsplit(':').next()?.parse().ok()?;
            let mut lines = std::str::from_utf8(payload).ok()?.split('\n');
            let version = match lines.next()? {
                "ended" => return Some(Publication::Ended { table }),
                version => version.parse().ok()?,
            };
            Some(Publication::Lines { table, version, lines: lines.map(String::from).collect() })
        }
        _ => None,
    }
}

impl Live {
    /// Listens to a table's publications from here on.
    pub async fn watch(&self, table: TableId) -> Result<(), Unavailable> {
        self.subscribe("SSUBSCRIBE", table).await
    }

    /// Whether publications can come in. A connection that was lost is made again only by being
    /// used, and nobody needs to say anything on this one for hours.
    pub async fn can_hear(&self) -> Result<(), Unavailable> {
        redis::cmd("PING").query_async::<()>(&mut self.subscriptions.clone()).await?;
        Ok(())
    }

    pub async fn unwatch(&self, table: TableId) -> Result<(), Unavailable> {
        self.subscribe("SUNSUBSCRIBE", table).await
    }

    async fn subscribe(&self, command: &str, table: TableId) -> Result<(), Unavailable> {
        let mut call = redis::cmd(command);
        call.arg(self.table_key(table, "lines"));
        call.query_async::<()>(&mut self.subscriptions.clone()).await?;
        Ok(())
    }
}
