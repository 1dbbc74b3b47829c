//! Ledger events in NATS JetStream, in a stream whose sequence numbers equal the events' numbers.
//!
//! The broker's stream is the only record of the position, so no second one can contradict it. Each
//! message states the sequence number that it expects to be the last. So a lost message blocks the
//! messages behind it, messages of two processes cannot be interleaved, and the stream never has a
//! gap.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, RawMessageErrorKind, Stream};
use async_nats::jetstream::{self, context};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use sqlx::PgPool;

use crate::read::{Event, LedgerEventReader};
use bahay_base::entropy;

/// The number of unacknowledged messages.
const IN_FLIGHT: usize = 256;

/// The timeout of a connection or a request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum delay between two retries.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The address of the broker and the stream to write.
#[derive(Clone, clap::Args)]
#[group(skip)]
pub struct NatsOptions {
    /// The address of NATS with JetStream, such as nats://127.0.0.1:4222, or
    /// tls://nats.example:4222 for TLS, with USER:PASSWORD@ before the host if the server requires
    /// it; several servers are separated by commas
    #[arg(long, env = "BAHAY_EVENTS_TO", hide_env_values = true, value_name = "URL",
          conflicts_with_all = ["out", "from"])]
    pub to: Option<String>,

    /// The file with the credentials of a NATS user: a token and the seed of its key
    #[arg(long, env = "BAHAY_NATS_CREDENTIALS", value_name = "FILE")]
    pub nats_credentials: Option<PathBuf>,

    /// The file with the certificates, in PEM, of the authorities for TLS; without it the system's
    /// trusted authorities apply.
    #[arg(long, env = "BAHAY_NATS_ROOT_CERTIFICATE", value_name = "FILE")]
    pub nats_root_certificate: Option<PathBuf>,

    /// The JetStream stream, which is created if it does not exist.
    #[arg(long, env = "BAHAY_NATS_STREAM", default_value = "BAHAY_EVENTS", value_name = "NAME",
          value_parser = stream_name)]
    pub nats_stream: String,

    /// The prefix of each event's subject; the event's kind follows, as in bahay.events.settle.
    #[arg(long, env = "BAHAY_NATS_SUBJECT", default_value = "bahay.events", value_name = "SUBJECT",
          value_parser = subject)]
    pub nats_subject: String,
}

/// The address is omitted, because it may contain a password.
impl std::fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nats")
            .field("stream", &self.nats_stream)
            .field("subject", &self.nats_subject)
            .finish_non_exhaustive()
    }
}

fn stream_name(name: &str) -> Result<String, &'static str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(plain) {
        Ok(name.to_owned())
    } else {
        Err("letters, digits, - and _ are allowed")
    }
}

fn subject(subject: &str) -> Result<String, &'static str> {
    match subject.split('.').all(|word| stream_name(word).is_ok()) {
        true => Ok(subject.to_owned()),
        false => Err("words of letters, digits, - and _, with dots between them, are allowed"),
    }
}

/// An error of publishing events.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    #[error("--to is not a NATS address such as nats://127.0.0.1:4222 or tls://nats.example:4222")]
    Address,
    #[error("--to names different users: all servers of a cluster share one")]
    Users,
    #[error("the credentials of NATS cannot be read: {path}")]
    Credentials { path: PathBuf, source: std::io::Error },
    #[error("the certificates for NATS cannot be read: {path}")]
    Certificates { path: PathBuf, source: std::io::Error },
    #[error("NATS cannot be reached")]
    Connect(#[from] async_nats::ConnectError),
    #[error("JetStream has no stream {stream}")]
    Stream { stream: String, source: context::CreateStreamError },
    #[error("the stream {stream} does not take {subject}.>: give it that subject, or name another")]
    Subjects { stream: String, subject: String },
    #[error("the last event of the stream cannot be read")]
    Last(#[from] jetstream::stream::RawMessageError),
    #[error("message {0} of the stream is not event {0} of this database: name another stream")]
    Foreign(i64),
    #[error("there are fewer than {0} events, but the stream has them: is this another database?")]
    StreamTooShort(i64),
    #[error("event {number} was not accepted")]
    Refused { number: i64, source: context::PublishError },
    #[error("event {0} exists already: another process publishes too")]
    Twice(i64),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("an event cannot be serialized")]
    Json(#[from] serde_json::Error),
}

impl NatsError {
    /// Returns whether a retry with the same settings may succeed.
    fn is_transient(&self) -> bool {
        use async_nats::jetstream::context::{CreateStreamErrorKind, PublishErrorKind};
        match self {
            Self::Connect(error) => matches!(
                error.kind(),
                ConnectErrorKind::Dns
                    | ConnectErrorKind::TimedOut
                    | ConnectErrorKind::Io
                    | ConnectErrorKind::MaxReconnects
            ),
            Self::Stream { source, .. } => match source.kind() {
                // 5xx: the cluster has no leader yet, or is starting.
                CreateStreamErrorKind::JetStream(error) => error.code() >= 500,
                CreateStreamErrorKind::JetStreamUnavailable
                | CreateStreamErrorKind::TimedOut
                | CreateStreamErrorKind::Response => true,
                _ => false,
            },
            Self::Refused { source, .. } => source.kind() != PublishErrorKind::MaxPayloadExceeded,
            Self::Last(_) | Self::Twice(_) => true,
            _ => false,
        }
    }
}

/// Returns the delay after so many consecutive failures: exponential back-off with jitter.
fn retry_delay(failures: u32) -> Duration {
    let longest = Duration::from_millis(200).saturating_mul(1 << failures.min(8)).min(WAIT_MAX);
    longest / 2 + entropy::random_duration(longest / 2)
}

/// A stream of a connected broker.
struct Broker {
    /// Kept for as long as the broker is in use; it reconnects by itself.
    context: jetstream::Context,
    stream: Stream,
    settings: NatsOptions,
}

/// Publishes the events that the stream lacks. If `follow` is set, it runs continuously with this
/// poll interval and survives outages of the broker. Calls `on_failure` for each failed attempt.
pub async fn publish(
    settings: &NatsOptions,
    to: &str,
    pool: &PgPool,
    follow: Option<Duration>,
    on_failure: impl Fn(&NatsError),
) -> Result<(), NatsError> {
    let mut client = None;
    let mut failures = 0;
    loop {
        let result = publish_pass(settings, to, pool, follow, &mut client, &mut failures).await;
        match result {
            Err(error) if follow.is_some() && error.is_transient() => {
                on_failure(&error);
                tokio::time::sleep(retry_delay(failures)).await;
                failures = failures.saturating_add(1);
            }
            done => return done,
        }
    }
}

async fn publish_pass(
    settings: &NatsOptions,
    to: &str,
    pool: &PgPool,
    follow: Option<Duration>,
    client: &mut Option<Client>,
    failures: &mut u32,
) -> Result<(), NatsError> {
    let client = match client {
        Some(client) => client,
        None => client.insert(connect(settings, to).await?),
    };
    let broker = Broker::open(client.clone(), settings).await?;
    let mut reader = broker.open_reader(pool).await?;
    loop {
        let events = reader.read_batch().await?;
        for some in events.chunks(IN_FLIGHT) {
            broker.publish(some).await?;
            *failures = 0;
        }
        match (events.is_empty(), follow) {
            (true, Some(poll_interval)) => tokio::time::sleep(poll_interval).await,
            (true, None) => return Ok(()),
            (false, _) => {}
        }
    }
}

async fn connect(settings: &NatsOptions, to: &str) -> Result<Client, NatsError> {
    let (servers, user) = servers(to)?;
    let mut options = ConnectOptions::new()
        .name("bahay events")
        .connection_timeout(TIMEOUT)
        .request_timeout(Some(TIMEOUT))
        .reconnect_delay_callback(|tries| retry_delay(u32::try_from(tries).unwrap_or(u32::MAX)));
    if let Some((user, password)) = user {
        options = options.user_and_password(user, password);
    }
    if let Some(path) = settings.nats_credentials.as_ref().filter(|path| is_set(path)) {
        let failed = |source| NatsError::Credentials { path: path.clone(), source };
        options = options.credentials_file(path).await.map_err(failed)?;
    }
    if let Some(path) = settings.nats_root_certificate.as_ref().filter(|path| is_set(path)) {
        let failed = |source| NatsError::Certificates { path: path.clone(), source };
        std::fs::File::open(path).map_err(failed)?;
        options = options.add_root_certificates(path.clone());
    }
    options = options.require_tls(servers.iter().any(ServerAddr::tls_required));
    Ok(options.connect(servers).await?)
}

/// Returns whether a path is set: deployments pass on unset variables as empty ones.
fn is_set(path: &std::path::Path) -> bool {
    !path.as_os_str().is_empty()
}

/// A user name and a password.
type User = (String, String);

/// Parses the servers and their common user.
fn servers(to: &str) -> Result<(Vec<ServerAddr>, Option<User>), NatsError> {
    let mut servers = Vec::new();
    let mut users = Vec::new();
    for address in to.split(',') {
        let server: ServerAddr = address.trim().parse().map_err(|_| NatsError::Address)?;
        if !matches!(server.scheme(), "nats" | "tls") || server.host().is_empty() {
            return Err(NatsError::Address);
        }
        if let Some(user) = server.username() {
            let plain = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
            users.push((plain(user), plain(server.password().unwrap_or_default())));
        }
        servers.push(server);
    }
    users.dedup();
    if users.len() > 1 {
        return Err(NatsError::Users);
    }
    Ok((servers, users.pop()))
}

impl Broker {
    async fn open(client: Client, settings: &NatsOptions) -> Result<Self, NatsError> {
        let context = context::ContextBuilder::new().timeout(TIMEOUT).build(client);
        let name = &settings.nats_stream;
        let subject = &settings.nats_subject;
        let takes = format!("{subject}.>");
        let config = Config {
            name: name.clone(),
            subjects: vec![takes.clone()],
            description: Some("ledger events, by `bahay events`".into()),
            ..Config::default()
        };
        let stream = context.get_or_create_stream(config).await;
        let stream = stream.map_err(|source| NatsError::Stream { stream: name.clone(), source })?;
        if !stream.cached_info().config.subjects.contains(&takes) {
            return Err(NatsError::Subjects { stream: name.clone(), subject: subject.clone() });
        }
        Ok(Self { context, stream, settings: settings.clone() })
    }

    /// Returns a reader behind the last event of the stream, after a comparison of that event with
    /// the database.
    async fn open_reader(&self, pool: &PgPool) -> Result<LedgerEventReader, NatsError> {
        let last = self.stream.cached_info().state.last_sequence;
        let number = i64::try_from(last).unwrap_or(i64::MAX);
        let open_after = async |number| {
            let reader = LedgerEventReader::open(pool.clone(), number).await?;
            reader.ok_or(NatsError::StreamTooShort(number))
        };
        if number > 0 {
            match self.stream.get_raw_message(last).await {
                Ok(message) => {
                    let events = open_after(number - 1).await?.read_batch().await?;
                    let event = events.first().ok_or(NatsError::StreamTooShort(number))?;
                    if *message.payload != *serde_json::to_vec(event)? {
                        return Err(NatsError::Foreign(number));
                    }
                }
                // The stream's limits may have dropped the message; its sequence number remains.
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        open_after(number).await
    }

    /// Publishes events concurrently, and returns when the broker has acknowledged all of them.
    async fn publish(&self, events: &[Event]) -> Result<(), NatsError> {
        let mut sent = Vec::new();
        for event in events {
            let number = event.number;
            let refused = |source| NatsError::Refused { number, source };
            let before = u64::try_from(number - 1).unwrap_or_default();
            let message = PublishMessage::build()
                .payload(serde_json::to_vec(event)?.into())
                .message_id(number.to_string())
                .expected_stream(&self.settings.nats_stream)
                .expected_last_sequence(before);
            let subject = format!("{}.{}", self.settings.nats_subject, event.kind);
            let ack = self.context.send_publish(subject, message).await.map_err(refused)?;
            sent.push((number, before + 1, ack));
        }
        for (number, place, ack) in sent {
            let ack = ack.await.map_err(|source| NatsError::Refused { number, source })?;
            // The stored event may be another database's, so it must be compared.
            if ack.duplicate || ack.sequence != place {
                return Err(NatsError::Twice(number));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_servers_and_one_user() {
        let (found, user) = servers("nats://a:1,tls://b").unwrap();
        assert_eq!(found.iter().map(ServerAddr::tls_required).collect::<Vec<_>>(), [false, true]);
        assert_eq!(user, None);
        let (_, user) = servers("tls://ana:p%40ss@a,tls://ana:p%40ss@b").unwrap();
        assert_eq!(user, Some(("ana".into(), "p@ss".into())));
        assert!(matches!(servers("tls://ana:a@a,tls://ben:b@b"), Err(NatsError::Users)));
        for bad in ["", "https://a", "ws://a", "nats://", "nats://a,", "nats://a:secret:x"] {
            let error = servers(bad).unwrap_err();
            assert!(matches!(error, NatsError::Address), "{bad}");
            assert!(!error.to_string().contains("secret"));
        }
    }

    #[test]
    fn retry_delays_grow_to_a_bound_and_vary() {
        for failures in [0, 3, 40, u32::MAX] {
            let one = retry_delay(failures);
            assert!(one >= Duration::from_millis(100) && one <= WAIT_MAX, "{one:?}");
        }
        assert!(retry_delay(40) >= WAIT_MAX / 2);
    }

    #[test]
    fn names_are_plain() {
        assert!(subject("bahay.events").is_ok());
        for bad in ["", ".", "a.", "a.*", "a.>", "a b"] {
            assert!(subject(bad).is_err(), "{bad}");
        }
        assert!(stream_name("A.B").is_err());
    }
}
