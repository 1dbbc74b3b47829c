//! A pooler such as PgBouncer between the program and PostgreSQL: transaction pooling is refused at
//! the start, and settings of a connection are made in a way that no pooler drops.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bahay::db::{self, ConnectError, PoolOptions, SchemaError};
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use crate::operations::process::assert_refuses;
use crate::support::db::{TestDatabase, read_row};
use crate::support::process::serve;

/// The time for which a client keeps a server session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    BySession,
    ByTransaction,
}

/// A pooler that serves until the test ends.
struct Pooler {
    port: u16,
}

/// The pooler's knowledge of the server.
#[derive(Clone)]
struct Server {
    socket: PathBuf,
    user: String,
    database: String,
    idle: Arc<Mutex<Vec<UnixStream>>>,
}

/// Reads a message of the protocol after the start: its type and all of its bytes.
async fn message(from: &mut (impl AsyncRead + Unpin)) -> Option<(u8, Vec<u8>)> {
    let kind = from.read_u8().await.ok()?;
    let length = from.read_u32().await.ok()?;
    let mut whole = vec![kind];
    whole.extend(length.to_be_bytes());
    let mut body = vec![0; usize::try_from(length).unwrap() - 4];
    from.read_exact(&mut body).await.ok()?;
    whole.extend(body);
    Some((kind, whole))
}

impl Server {
    /// Returns an idle session, or a new one.
    async fn session(&self) -> UnixStream {
        if let Some(idle) = self.idle.lock().unwrap().pop() {
            return idle;
        }
        let mut session = UnixStream::connect(&self.socket).await.unwrap();
        let said = format!("user\0{}\0database\0{}\0\0", self.user, self.database);
        let mut start = u32::try_from(said.len() + 8).unwrap().to_be_bytes().to_vec();
        start.extend(196_608_u32.to_be_bytes());
        start.extend(said.as_bytes());
        session.write_all(&start).await.unwrap();
        while message(&mut session).await.unwrap().0 != b'Z' {}
        session
    }
}

impl Pooler {
    async fn start(options: &PgConnectOptions, shared: Shared) -> Self {
        let host = options.get_host().to_owned();
        let folder = options.get_socket().cloned().unwrap_or_else(|| host.into());
        let server = Server {
            socket: folder.join(format!(".s.PGSQL.{}", options.get_port())),
            user: options.get_username().to_owned(),
            database: options.get_database().unwrap().to_owned(),
            idle: Arc::default(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve_client(client, server.clone(), shared));
            }
        });
        Self { port }
    }

    fn through(&self, options: &PgConnectOptions) -> String {
        let (user, database) = (options.get_username(), options.get_database().unwrap());
        format!("postgres://{user}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }
}

/// Answers the startup itself and drops every startup option, then forwards requests.
async fn serve_client(mut client: TcpStream, server: Server, shared: Shared) -> Option<()> {
    let length = client.read_u32().await.ok()?;
    let mut start = vec![0; usize::try_from(length).unwrap() - 4];
    client.read_exact(&mut start).await.ok()?;
    let words: Vec<_> = start[4..].split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    for rejected in ["extra_float_digits", "options"] {
        if words.chunks_exact(2).any(|pair| pair[0] == rejected) {
            let said = format!("SFATAL\0C08P01\0Munsupported startup parameter: {rejected}\0\0");
            let mut error = vec![b'E'];
            error.extend(u32::try_from(said.len() + 4).unwrap().to_be_bytes());
            error.extend(said.as_bytes());
            client.write_all(&error).await.ok()?;
            return None;
        }
    }
    client.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").await.ok()?;
    let mut held: Option<UnixStream> = None;
    loop {
        let Some((kind, request)) = message(&mut client).await else { break };
        if kind == b'X' {
            break;
        }
        let mut session = match held.take() {
            Some(session) => session,
            None => server.session().await,
        };
        session.write_all(&request).await.ok()?;
        // Of the extended protocol only a sync is always answered.
        if !matches!(kind, b'Q' | b'S') {
            held = Some(session);
            continue;
        }
        let status = loop {
            let (kind, answer) = message(&mut session).await?;
            client.write_all(&answer).await.ok()?;
            if kind == b'Z' {
                break answer[5];
            }
        };
        match shared {
            Shared::ByTransaction if status == b'I' => server.idle.lock().unwrap().push(session),
            Shared::ByTransaction | Shared::BySession => held = Some(session),
        }
    }
    None
}

/// Neither the role nor a time limit of a connection would persist.
#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_shares_sessions_by_transaction_is_refused_in_one_line() {
    let database = TestDatabase::new().await;
    let pooler = Pooler::start(&database.options(), Shared::ByTransaction).await;
    let url = pooler.through(&database.options());
    let options = url.parse().unwrap();
    for _ in 0..3 {
        let refused = db::check_pooling(&options).await;
        assert!(matches!(refused, Err(ConnectError::SharedSession)), "{refused:?}");
    }
    let refused = db::check_schema(&options).await;
    let is_refused = matches!(refused, Err(SchemaError::Connect(ConnectError::SharedSession)));
    assert!(is_refused, "{refused:?}");
    let output = serve(&database).env("DATABASE_URL", &url).output().unwrap();
    assert_refuses(&output, &["pool_mode = session"]);
}

/// Startup options are dropped or rejected there, so the role and the limits are set with SQL.
#[tokio::test(flavor = "multi_thread")]
async fn role_and_limits_hold_behind_a_pooler_that_shares_sessions_by_session() {
    let database = TestDatabase::new().await;
    let pooler = Pooler::start(&database.options(), Shared::BySession).await;
    let options: PgConnectOptions = pooler.through(&database.options()).parse().unwrap();
    db::check_schema(&options).await.unwrap();
    let limits = PoolOptions { statement_timeout_ms: 12_345, ..PoolOptions::default() };
    let pool = db::connect(options, limits).await.unwrap();
    let settings = "select current_user::text, current_setting('statement_timeout'),
        current_setting('idle_in_transaction_session_timeout')";
    let found: (String, String, String) = read_row(&pool, settings).await;
    assert_eq!(found, ("bahay_service".into(), "12345ms".into(), "10s".into()));
    let error = sqlx::query("delete from operations").execute(&pool).await.unwrap_err();
    assert!(error.to_string().contains("permission denied"), "{error}");
}

/// Without a pooler no connection is refused, however many come at once.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_postgres_itself_are_not_taken_for_shared_ones() {
    let database = TestDatabase::new().await;
    let options = database.options();
    let checks = (0..8).map(|_| db::check_pooling(&options));
    for checked in futures_util::future::join_all(checks).await {
        checked.unwrap();
    }
}
