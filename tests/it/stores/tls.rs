//! Connections to PostgreSQL and Redis over TLS with the test's own authority: the right
//! certificate is accepted, and those for another name, of another authority, or expired are
//! rejected.

use std::process::Output;

use bahay::ids::{PlayerId, TableId};
use bahay::live_store::LiveStore;
use futures_util::future::join_all;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use uuid::Uuid;

use crate::support::cluster::{Cluster, Server as Redis, node, wait_until};
use crate::support::house::guest_at;
use crate::support::live::TestLive;
use crate::support::ports::reserve_port;
use crate::support::process::{SECRET, Server, bahay};
use crate::support::services::{Service, Services};
use crate::support::tls::{Authority, SignedCertificate, Validity};

/// PostgreSQL over TCP and TLS, on an unused address of this machine, so that its port is free as
/// well.
struct Postgres {
    services: Services,
    host: String,
}

impl Postgres {
    async fn start() -> Self {
        let mut services = Services::start(&[Service::Postgres]).await;
        let name = Uuid::new_v4();
        let [a, b, c, ..] = *name.as_bytes();
        let host = format!("127.{}.{b}.{}", a % 254 + 1, c % 254 + 1);
        let mut admin = connect(services.database_url()).await;
        admin
            .execute(AssertSqlSafe(format!("alter system set listen_addresses = '{host}'")))
            .await
            .unwrap();
        drop(admin);
        services.kill(Service::Postgres).await;
        services.start_again().await;
        Self { services, host }
    }

    /// Sets the server's certificate.
    async fn show(&self, signed: &SignedCertificate) {
        let mut admin = connect(self.services.database_url()).await;
        let before: String = loaded_at(&mut admin).await;
        for (file, pem) in [("server.crt", &signed.certificate), ("server.key", &signed.key)] {
            // The server itself writes the file, so it owns it; its folder is the data folder.
            let copy = format!(
                "copy (select unnest(string_to_array('{}', e'\\n'))) to program 'umask 077; cat >{file}'",
                pem.trim()
            );
            admin.execute(AssertSqlSafe(copy)).await.unwrap();
        }
        admin.execute("alter system set ssl = on").await.unwrap();
        admin.execute("select pg_reload_conf()").await.unwrap();
        wait_until("the certificate is loaded", async || {
            let mut later = connect(self.services.database_url()).await;
            loaded_at(&mut later).await != before
        })
        .await;
    }

    fn url(&self, settings: &str) -> String {
        format!("postgres://bahay@{}:5432/bahay?{settings}", self.host)
    }
}

async fn connect(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    PgConnection::connect_with(&options).await.unwrap()
}

async fn loaded_at(connection: &mut PgConnection) -> String {
    let loaded = sqlx::query_scalar("select pg_conf_load_time()::text");
    loaded.fetch_one(connection).await.unwrap()
}

fn migrate(url: &str) -> Output {
    bahay().arg("migrate").env("DATABASE_URL", url).output().unwrap()
}

#[track_caller]
fn assert_refused(output: &Output, why: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{why}: {said}");
    assert!(said.contains("certificate") || said.contains("TLS"), "{why}: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_believed_by_its_certificate_alone() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let postgres = Postgres::start().await;
    let host = postgres.host.as_str();
    let root = |authority: &Authority| {
        format!("sslmode=verify-full&sslrootcert={}", authority.path().display())
    };
    let url = postgres.url(&root(&authority));
    assert_refused(&migrate(&url), "it speaks no TLS");
    for (signed, why) in [
        (authority.sign(&["db.example"], Validity::Current), "for another name"),
        (authority.sign(&[host], Validity::Expired), "expired"),
        (stranger.sign(&[host], Validity::Current), "of another authority"),
    ] {
        postgres.show(&signed).await;
        assert_refused(&migrate(&url), why);
    }
    postgres.show(&authority.sign(&[host], Validity::Current)).await;
    assert_refused(&migrate(&postgres.url("sslmode=verify-full")), "nobody knows the authority");
    assert_refused(&migrate(&postgres.url(&root(&stranger))), "another authority is known");
    let migrated = migrate(&url);
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let mut connection = connect(&url).await;
    let is_secret = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    let is_secret: bool = sqlx::query_scalar(is_secret).fetch_one(&mut connection).await.unwrap();
    assert!(is_secret, "nobody on the way reads along");
}

/// Starts a Redis with this certificate, and returns its TLS port.
async fn redis(authority: &Authority, signed: &SignedCertificate) -> (Redis, u16) {
    let (port, settings) = tls_settings(authority, signed);
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    (Redis::start(&settings).await, port)
}

fn tls_settings(authority: &Authority, signed: &SignedCertificate) -> (u16, Vec<String>) {
    let port = reserve_port();
    let [certificate, key] = authority.write_files(signed);
    let settings = [
        ("--tls-port", port.to_string()),
        ("--tls-cert-file", certificate),
        ("--tls-key-file", key),
        ("--tls-ca-cert-file", authority.path().display().to_string()),
        ("--tls-auth-clients", "no".to_owned()),
        ("--tls-cluster", "yes".to_owned()),
    ];
    let words = settings.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
    (port, words.collect())
}

fn live(url: &str, authority: Option<&Authority>) -> TestLive {
    let live = TestLive::with_url(url);
    match authority {
        Some(authority) => live.trusting(authority.path()),
        None => live,
    }
}

async fn assert_not_believed(url: &str, authority: Option<&Authority>, why: &str) {
    let connected = LiveStore::connect(&live(url, authority).options()).await;
    assert!(connected.is_err(), "{why}: {url} is believed");
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_believed_by_its_certificate_alone() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    for (signed, why) in [
        (authority.sign(&["redis.example"], Validity::Current), "for another name"),
        (authority.sign(&["localhost"], Validity::Expired), "expired"),
        (stranger.sign(&["localhost"], Validity::Current), "of another authority"),
    ] {
        let (_redis, port) = redis(&authority, &signed).await;
        assert_not_believed(&format!("rediss://localhost:{port}"), Some(&authority), why).await;
    }
    let right = authority.sign(&["localhost"], Validity::Current);
    let (plain, port) = redis(&authority, &right).await;
    let url = format!("rediss://localhost:{port}");
    assert_not_believed(&url, None, "nobody knows the authority").await;
    assert_not_believed(&url, Some(&stranger), "another authority is known").await;
    assert_not_believed(&format!("{url}#insecure"), Some(&authority), "nothing is checked").await;
    let no_tls = format!("rediss://localhost:{}", plain.port);
    assert_not_believed(&no_tls, Some(&authority), "it speaks no TLS").await;
    assert_not_believed(&plain.url(), Some(&authority), "an authority without TLS").await;
    let (live, _publications) = live(&url, Some(&authority)).connect().await;
    live.ping().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_node_of_a_cluster_is_believed_by_its_certificate_alone() {
    let authority = Authority::new();
    let right = authority.sign(&["127.0.0.1"], Validity::Current);
    let late = authority.sign(&["127.0.0.1"], Validity::Expired);
    for (last, is_believed) in [(&right, true), (&late, false)] {
        let (mut masters, mut ports) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let (port, settings) = tls_settings(&authority, &right);
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            masters.push(node(&settings).await);
            ports.push(port);
        }
        let cluster = Cluster::from_masters(masters).await;
        let [certificate, key] = authority.write_files(last);
        let show = format!("CONFIG SET tls-cert-file {certificate} tls-key-file {key}");
        cluster.masters[2].send_command::<()>(&show).await;
        // The third node is discovered through the others, and presents its certificate.
        let url = format!("rediss+cluster://127.0.0.1:{},127.0.0.1:{}", ports[0], ports[1]);
        let options = live(&url, Some(&authority)).options();
        let (live, _publications) = LiveStore::connect(&options).await.unwrap();
        // Each player's key is in a slot; this many are on all three nodes.
        let calls =
            (0..48).map(|_| live.claim_seat(PlayerId(Uuid::new_v4()), TableId(Uuid::new_v4())));
        let answered: Vec<bool> = join_all(calls).await.iter().map(Result::is_ok).collect();
        assert!(answered.contains(&true), "two nodes are believed in any case");
        assert_eq!(answered.iter().all(|is_ok| *is_ok), is_believed);
    }
}

/// A node whose connections to both are TLS only, as in a house over a network.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_serves_over_tls_to_both() {
    let authority = Authority::new();
    let postgres = Postgres::start().await;
    let host = postgres.host.as_str();
    postgres.show(&authority.sign(&[host], Validity::Current)).await;
    let root = format!("sslmode=verify-full&sslrootcert={}", authority.path().display());
    let database = postgres.url(&root);
    assert!(migrate(&database).status.success());
    let right = authority.sign(&["localhost"], Validity::Current);
    let (_redis, port) = redis(&authority, &right).await;
    let mut command = bahay();
    command
        .arg("serve")
        .env("DATABASE_URL", &database)
        .env("REDIS_URL", format!("rediss://localhost:{port}"))
        .env("BAHAY_REDIS_ROOT_CERTIFICATE", authority.path())
        .env("BAHAY_PROBE_LISTEN", "127.0.0.1:0")
        .env("BAHAY_SIGNING_SECRET", SECRET)
        .env("BAHAY_SECOND_FACTOR_KEYS", SECRET)
        .env("RUST_LOG", "error");
    let server = Server::start(&mut command).await;
    let guests = ["Althea", "Benjie"].map(|name| guest_at(&server.url, name));
    let guests = join_all(guests).await;
    guests[0].seat("newbie").await.unwrap();
    assert!(guests[1].wallet().await.is_ok());
}
