//! Sign-in with an external identity, with an issuer that the test itself runs.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use bahay::accounts;
use bahay::grant_limits::GrantLimits;
use bahay::openid::{Issuer, Issuers};
use bahay::retention::{ExpiringRows, Retention, RetentionPeriods};
use futures_util::future::join_all;
use reqwest::RequestBuilder;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::http::core::auth::encode_base64;
use crate::http::server::{
    DEVICE, OTHER_DEVICE, PASSWORD, Server, Setup, WELCOME, answer_all, count_successes,
    expect_refusal, expect_refusal_of, ok, text,
};
use crate::support::db::{count_rows, execute, read_value};
use crate::support::house::cheap_auth_options;
use crate::support::ports::reserve_address;
use crate::support::rest::assert_fields;

/// An RSA key of 2,048 bits for the tokens of this test only; generating one takes too long.
const RSA: &[u8] = include_bytes!("openid_rsa.der");

/// The time of the test server, in seconds: 2026-03-01T12:00:00Z.
const NOW: i64 = 1_772_366_400;

/// An issuer with a key of each algorithm.
struct LocalIssuer {
    address: String,
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    published: Arc<Mutex<Value>>,
    /// The number of requests for its keys.
    key_requests: Arc<AtomicU32>,
    /// Each response with keys takes a permit; without one, requests wait.
    response_permits: Arc<Semaphore>,
    task: JoinHandle<()>,
}

impl Drop for LocalIssuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LocalIssuer {
    async fn start() -> Self {
        let random = SystemRandom::new();
        let rsa = RsaKeyPair::from_pkcs8(RSA).expect("the key in the test is valid");
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let pkcs8 = pkcs8.expect("a key can be generated");
        let ec =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random);
        let ec = ec.expect("the generated key is valid");
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(rsa.public());
        let (x, y) = ec.public_key().as_ref()[1..].split_at(32);
        let keys = json!({ "keys": [
            { "kty": "RSA", "kid": "r1", "use": "sig", "alg": "RS256", "n": encode_base64(&n),
                "e": encode_base64(&e) },
            { "kty": "EC", "kid": "e1", "crv": "P-256", "x": encode_base64(x),
                "y": encode_base64(y) },
            { "kty": "from the future", "kid": "f1" },
        ] });
        let published = Arc::new(Mutex::new(keys));
        let key_requests = Arc::new(AtomicU32::new(0));

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is available");
        let at = listener.local_addr().expect("a listener has an address");
        let address = format!("http://{at}");
        let discovery = json!({ "issuer": address, "jwks_uri": format!("{address}/keys") });
        let response_permits = Arc::new(Semaphore::new(1));
        let keys = published.clone();
        let count = key_requests.clone();
        let permits = response_permits.clone();
        let router = Router::new()
            .route(
                "/.well-known/openid-configuration",
                get(async move || axum::Json(discovery.clone())),
            )
            .route(
                "/keys",
                get(async move || {
                    count.fetch_add(1, Ordering::SeqCst);
                    let _permit = permits.acquire().await.expect("the semaphore is never closed");
                    let keys = keys.lock().expect("the lock is not poisoned").clone();
                    axum::Json(keys)
                }),
            );
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs");
        });
        Self { address, rsa, ec, published, key_requests, response_permits, task }
    }

    fn issuer(&self) -> Issuer {
        let audiences = vec!["the-app".into()];
        Issuer { name: "local".into(), issuer: self.address.clone(), audiences, keys_url: None }
    }

    fn count_key_requests(&self) -> u32 {
        self.key_requests.load(Ordering::SeqCst)
    }

    fn sign_with_rsa(&self, kid: &str, claims: &Value) -> String {
        let message = signing_input(&json!({ "alg": "RS256", "kid": kid }), claims);
        let mut signature = vec![0; self.rsa.public().modulus_len()];
        let random = SystemRandom::new();
        let signed = self.rsa.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature);
        signed.expect("the key can sign");
        format!("{message}.{}", encode_base64(&signature))
    }

    fn sign_with_ec(&self, kid: &str, claims: &Value) -> String {
        let message = signing_input(&json!({ "alg": "ES256", "kid": kid }), claims);
        let signature = self.ec.sign(&SystemRandom::new(), message.as_bytes());
        format!("{message}.{}", encode_base64(signature.expect("the key can sign").as_ref()))
    }
}

fn signing_input(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| encode_base64(value.to_string().as_bytes());
    format!("{}.{}", part(header), part(claims))
}

/// Returns the setup of a server that trusts these issuers.
fn trust(issuers: Vec<Issuer>) -> Setup {
    let issuers = Issuers::new(issuers).expect("the issuers can be trusted");
    let auth_options = accounts::Options { issuers, ..cheap_auth_options() };
    Setup { auth_options, ..Setup::default() }
}

/// A server that trusts an issuer of its own.
struct TrustingServer {
    issuer: LocalIssuer,
    server: Server,
}

impl Deref for TrustingServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl TrustingServer {
    async fn new() -> Self {
        Self::with_grants(cheap_auth_options().grants).await
    }

    async fn with_grants(grants: GrantLimits) -> Self {
        let issuer = LocalIssuer::start().await;
        let mut setup = trust(vec![issuer.issuer()]);
        setup.auth_options.grants = grants;
        Self { issuer, server: Server::with_setup(setup).await }
    }

    async fn request_nonce(&self) -> String {
        let ask = self.post("/v1/sign-in/openid/nonce", &json!({ "device_id": DEVICE }));
        text(&ok(ask).await["nonce"])
    }

    /// Builds claims with a fresh nonce.
    async fn build_claims(&self, subject: &str) -> Value {
        json!({
            "iss": self.issuer.address, "sub": subject, "aud": "the-app", "iat": NOW,
            "exp": NOW + 1_000_000, "email": "not.kept@example.com",
            "nonce": self.request_nonce().await
        })
    }

    /// Issues a token, which is valid for one use.
    async fn issue_token(&self, subject: &str) -> String {
        self.issuer.sign_with_rsa("r1", &self.build_claims(subject).await)
    }

    fn sign_in(&self, token: &str) -> RequestBuilder {
        self.post("/v1/sign-in/openid", &sign_in_body(DEVICE, token))
    }

    /// Signs in with a new token.
    async fn sign_in_as(&self, subject: &str) -> Value {
        ok(self.sign_in(&self.issue_token(subject).await)).await
    }

    fn link(&self, by: &(impl AsRef<str> + ?Sized), proof: &str, token: &str) -> RequestBuilder {
        let link = self.post_by(by, "/v1/me/identities", &sign_in_body(DEVICE, token));
        link.header("account-proof", proof)
    }
}

fn sign_in_body(device: &str, token: &str) -> Value {
    json!({ "issuer": "local", "id_token": token, "device_id": device })
}

async fn expect_token_refused(request: RequestBuilder) {
    expect_refusal(request, 401, "id_token_refused").await;
}

fn identity_proof(token: &str) -> Value {
    let mut credential = sign_in_body(DEVICE, token);
    credential["by"] = json!("identity");
    credential
}

#[tokio::test]
async fn a_subject_signs_in_the_same_player_under_every_algorithm() {
    let server = TrustingServer::new().await;
    let mut body = sign_in_body(DEVICE, &server.issue_token("s1").await);
    body["name"] = json!("Maria");
    body["time_zone"] = json!("Asia/Manila");
    let first = ok(server.post("/v1/sign-in/openid", &body)).await;
    assert_fields(&first["player"], json!({ "name": "Maria", "time_zone": "Asia/Manila" }));
    let by_ec = server.issuer.sign_with_ec("e1", &server.build_claims("s1").await);
    let again = ok(server.sign_in(&by_ec)).await;
    assert_eq!(again["player"], first["player"]);
    assert_ne!(again["session"], first["session"]);
    let other = server.sign_in_as("s2").await;
    assert_ne!(other["player"]["id"], first["player"]["id"]);
    let token = text(&first["access_token"]);
    assert_eq!(ok(server.get("/v1/me/wallet", &token)).await["available"], WELCOME.hundredths());
    assert_eq!(server.issuer.count_key_requests(), 1, "keys are cached");
    // Nothing else of the token is stored.
    for table in ["players", "identities", "sessions"] {
        let sql = format!("select coalesce(string_agg(t::text, ' '), '') from {table} t");
        let rows: String = read_value(&server.bank.pool, &sql).await;
        assert!(!rows.is_empty() && !rows.contains("not.kept"), "{table}: {rows}");
    }
}

#[tokio::test]
async fn twenty_concurrent_sign_ins_of_a_subject_create_one_player_and_one_grant() {
    let server = TrustingServer::new().await;
    let tokens = join_all((0..20).map(|_| server.issue_token("s1"))).await;
    let signed_in = join_all(tokens.iter().map(|token| ok(server.sign_in(token)))).await;
    assert!(signed_in.iter().all(|one| one["player"] == signed_in[0]["player"]));
    let grants = "transfers where code = 'welcome'";
    assert_eq!(count_rows(&server.bank.pool, grants).await, 1);
}

#[tokio::test]
async fn every_invalid_id_token_is_refused() {
    let server = TrustingServer::new().await;
    // One nonce suffices for all tokens, because a refused token does not use it up.
    let claims = server.build_claims("s1").await;
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        server.issuer.sign_with_rsa("r1", &claims)
    };
    let without = |name: &str| {
        let mut claims = claims.clone();
        claims.as_object_mut().unwrap().remove(name);
        server.issuer.sign_with_rsa("r1", &claims)
    };
    let good = server.issuer.sign_with_rsa("r1", &claims);
    let (head, signature) = good.rsplit_once('.').unwrap();
    let (_, encoded) = head.split_once('.').unwrap();
    let header = |json: Value| encode_base64(json.to_string().as_bytes());
    let unsigned = header(json!({ "alg": "none", "kid": "r1" }));
    let by_secret = header(json!({ "alg": "HS256", "kid": "r1" }));
    let stronger = header(json!({ "alg": "RS512", "kid": "r1" }));
    let mut of_another = claims.clone();
    of_another["sub"] = json!("s2");
    let other_claims = encode_base64(of_another.to_string().as_bytes());
    let rs256 = header(json!({ "alg": "RS256", "kid": "r1" }));
    for (token, what) in [
        (String::new(), "nothing"),
        ("nonsense".into(), "nonsense"),
        ("a.b.c".into(), "no base64"),
        (format!("{unsigned}.{encoded}."), "not signed"),
        (format!("{by_secret}.{encoded}.{signature}"), "by a secret"),
        (format!("{stronger}.{encoded}.{signature}"), "another algorithm"),
        (format!("{rs256}.{other_claims}.{signature}"), "claims of another token"),
        (format!("{head}."), "an empty signature"),
        (format!("{head}.{}", encode_base64(&[7; 256])), "a made-up signature"),
        (server.issuer.sign_with_ec("r1", &claims), "a key of another kind"),
        (server.issuer.sign_with_rsa("e1", &claims), "a key of another kind"),
        (server.issuer.sign_with_rsa("f1", &claims), "a key that nobody understands"),
        (with("iss", json!("http://127.0.0.1:1")), "another issuer"),
        (with("iss", json!(format!("{}/", server.issuer.address))), "another issuer by a letter"),
        (with("aud", json!("another-app")), "another audience"),
        (with("aud", json!(["another-app"])), "other audiences"),
        (with("aud", json!([])), "no audience"),
        (with("azp", json!("another-app")), "given to another"),
        (with("exp", json!(NOW - 60)), "expired"),
        (with("exp", json!("soon")), "no time"),
        (with("nbf", json!(NOW + 120)), "not yet"),
        (with("nonce", json!("n-1")), "a nonce that nobody drew"),
        (with("nonce", json!("0".repeat(112))), "a nonce that was made up"),
        (without("nonce"), "without a nonce"),
        (with("sub", json!("")), "no subject"),
        (with("sub", json!("s".repeat(256))), "a long subject"),
        (without("sub"), "without a subject"),
        (format!("{good}{}", "A".repeat(9_000)), "too long"),
    ] {
        expect_refusal_of(what, server.sign_in(&token), 401, "id_token_refused").await;
    }
    let mut unknown = sign_in_body(DEVICE, &good);
    unknown["issuer"] = json!("google");
    expect_refusal(server.post("/v1/sign-in/openid", &unknown), 404, "issuer_unknown").await;
    ok(server.sign_in(&good)).await;
    let mut several = server.build_claims("s1").await;
    several["aud"] = json!(["another-app", "the-app"]);
    ok(server.sign_in(&server.issuer.sign_with_rsa("r1", &several))).await;
}

/// A copied token, from a log or from another app's page, is useless: it is bound to the device
/// that requested its nonce, and it is valid once.
#[tokio::test]
async fn a_token_is_valid_once_and_for_its_device() {
    let server = TrustingServer::new().await;
    let other = server.node_with(trust(vec![server.issuer.issuer()])).await;
    let token = server.issue_token("s1").await;
    let elsewhere = sign_in_body("device-of-the-thief-1", &token);
    expect_token_refused(server.post("/v1/sign-in/openid", &elsewhere)).await;
    let first = ok(server.sign_in(&token)).await;
    for node in [&server.node, &other] {
        expect_token_refused(node.post("/v1/sign-in/openid", &sign_in_body(DEVICE, &token))).await;
    }
    // A used token neither links nor proves anything, and a token that was used to link or prove
    // does not sign in.
    let access = text(&first["access_token"]);
    let used = identity_proof(&token);
    expect_token_refused(server.post_by(&access, "/v1/me/proof", &used)).await;
    let credential = server.issue_token("s1").await;
    let proof = server.proof(&access, &identity_proof(&credential)).await;
    expect_token_refused(server.sign_in(&credential)).await;
    expect_token_refused(server.link(&access, &proof, &credential)).await;
    let linked = server.issue_token("s1").await;
    ok(server.link(&access, &proof, &linked)).await;
    expect_token_refused(server.sign_in(&linked)).await;
    // Of many concurrent uses one succeeds.
    let token = server.issue_token("s1").await;
    let answers = answer_all(200, (0..10).map(|_| server.sign_in(&token))).await;
    assert_eq!(count_successes("one token", answers, 401, "id_token_refused"), 1);
}

#[tokio::test]
async fn a_nonce_expires_after_ten_minutes_and_is_removed() {
    let server = TrustingServer::new().await;
    let used = async || count_rows(&server.bank.pool, "used_nonces").await;
    let early = server.issue_token("s1").await;
    let late = server.issue_token("s1").await;
    server.clock.advance(Duration::from_millis(599_999));
    ok(server.sign_in(&early)).await;
    assert_eq!(used().await, 1);
    server.clock.advance(Duration::from_millis(1));
    expect_token_refused(server.sign_in(&late)).await;
    server.sign_in_as("s1").await;
    let (pool, clock) = (server.bank.pool.clone(), server.clock.clone());
    let retention = Retention::new(pool, clock, RetentionPeriods::default());
    server.clock.advance(Duration::from_millis(1));
    assert_eq!(retention.remove(ExpiringRows::UsedNonces).await.unwrap(), 1);
    assert_eq!(used().await, 1, "the expired nonce is removed");
    // Requesting a nonce stores nothing.
    for _ in 0..10 {
        server.request_nonce().await;
    }
    assert_eq!(used().await, 1);
}

/// An unreachable issuer is reported differently from an unknown key.
#[tokio::test]
async fn an_unreachable_issuer_is_not_an_invalid_token() {
    let issuer = LocalIssuer::start().await;
    let there = issuer.issuer();
    let nowhere = format!("http://{}", reserve_address());
    let gone = Issuer { name: "gone".into(), issuer: nowhere.clone(), ..there.clone() };
    let server = Server::with_setup(trust(vec![there, gone])).await;
    let mut server = TrustingServer { issuer, server };
    let unknown = server.issuer.sign_with_rsa("unheard-of", &server.build_claims("s1").await);
    expect_token_refused(server.sign_in(&unknown)).await;
    server.issuer.address = nowhere;
    let mut body = sign_in_body(DEVICE, &server.issue_token("s1").await);
    body["issuer"] = json!("gone");
    for _ in 0..2 {
        expect_refusal(server.post("/v1/sign-in/openid", &body), 503, "issuer_unavailable").await;
    }
}

#[tokio::test]
async fn issuer_keys_are_refetched_at_a_bounded_rate() {
    let server = TrustingServer::new().await;
    server.sign_in_as("s1").await;
    // A new key is published. Within the same minute the keys are not fetched again.
    let replace = |kid: &str| {
        let mut keys = server.issuer.published.lock().unwrap();
        keys["keys"][0]["kid"] = json!(kid);
    };
    replace("r2");
    let rotated = async || server.issuer.sign_with_rsa("r2", &server.build_claims("s1").await);
    for _ in 0..10 {
        expect_token_refused(server.sign_in(&rotated().await)).await;
    }
    assert_eq!(server.issuer.count_key_requests(), 1);
    server.clock.advance(Duration::from_mins(1));
    ok(server.sign_in(&rotated().await)).await;
    for number in 0..10 {
        let claims = server.build_claims("s1").await;
        let unknown = server.issuer.sign_with_rsa(&format!("x{number}"), &claims);
        expect_token_refused(server.sign_in(&unknown)).await;
    }
    assert_eq!(server.issuer.count_key_requests(), 2);
    // A withdrawn key is trusted for at most one hour.
    replace("r3");
    server.clock.advance(Duration::from_mins(50));
    ok(server.sign_in(&rotated().await)).await;
    server.clock.advance(Duration::from_mins(9));
    ok(server.sign_in(&rotated().await)).await;
    server.clock.advance(Duration::from_mins(1));
    expect_token_refused(server.sign_in(&rotated().await)).await;
    assert_eq!(server.issuer.count_key_requests(), 3);
}

#[tokio::test]
async fn cached_keys_outlast_their_issuer_for_a_day() {
    let server = TrustingServer::new().await;
    server.sign_in_as("s1").await;
    *server.issuer.published.lock().unwrap() = json!("on strike");
    server.clock.advance(Duration::from_hours(23));
    server.sign_in_as("s1").await;
    let unknown = server.issuer.sign_with_rsa("x", &server.build_claims("s1").await);
    expect_refusal(server.sign_in(&unknown), 503, "issuer_unavailable").await;
    server.clock.advance(Duration::from_hours(1));
    let token = server.issue_token("s1").await;
    expect_refusal(server.sign_in(&token), 503, "issuer_unavailable").await;
}

#[tokio::test]
async fn a_guest_links_an_identity_and_signs_in_with_it() {
    let server = TrustingServer::new().await;
    let guest = server.guest(DEVICE).await;
    let proof = server.device_proof(&guest, DEVICE).await;
    let methods = ok(server.link(&guest, &proof, &server.issue_token("s1").await)).await;
    let id_token = server.issue_token("s1").await;
    assert_eq!(ok(server.link(&guest, &proof, &id_token)).await, methods);
    let linked_at = "2026-03-01T12:00:00.000Z";
    let identity = json!({ "issuer": "local", "subject": "s1", "linked_at": linked_at });
    let expected =
        json!({ "devices": 1, "password_set_at": null, "identities": [identity.clone()] });
    assert_eq!(methods, expected);
    let back = server.sign_in_as("s1").await;
    assert_eq!(text(&back["player"]["id"]), guest.id);

    let second = server.link(&guest, &proof, &server.issue_token("s2").await);
    expect_refusal(second, 409, "issuer_linked").await;
    let other = server.guest(OTHER_DEVICE).await;
    let others = server.device_proof(&other, OTHER_DEVICE).await;
    let theirs = server.link(&other, &others, &server.issue_token("s1").await);
    expect_refusal(theirs, 409, "identity_taken").await;
    expect_token_refused(server.link(&guest, &proof, "nonsense")).await;

    // If the settings no longer contain an issuer, its address replaces its name.
    let gone = format!("https://id.example/{}", "a".repeat(236));
    let insert = format!(
        "insert into identities (issuer, subject, player, linked_at)
        values ('{gone}', 's1', '{}', now())",
        guest.id
    );
    execute(&server.bank.pool, &insert).await;
    let methods = ok(server.get("/v1/me/sign-in-methods", &guest)).await;
    assert!(methods["identities"].as_array().unwrap().iter().any(|one| one["issuer"] == *gone));
    let delete = |path: &str| server.delete_proven(path, &guest, &proof);
    let escaped = gone.replace('/', "%2F");
    ok(delete(&format!("/v1/me/identities/{escaped}"))).await;
    let methods = ok(server.get("/v1/me/sign-in-methods", &guest)).await;
    assert_eq!(methods["identities"], json!([identity]));
    expect_refusal(delete(&format!("/v1/me/identities/{escaped}a")), 422, "path_invalid").await;

    // The devices may be forgotten now; the identity is then the last sign-in method.
    let nothing = server.delete_proven("/v1/me/devices", &other, &others);
    expect_refusal(nothing, 409, "last_sign_in").await;
    ok(delete("/v1/me/devices")).await;
    ok(delete("/v1/me/devices")).await;
    assert_ne!(server.guest(DEVICE).await.id, guest.id);
    expect_refusal(delete("/v1/me/identities/local"), 409, "last_sign_in").await;
    let body = json!({ "name": "Maria", "password": PASSWORD });
    ok(server.post_by(&guest, "/v1/me/password", &body).header("account-proof", &proof)).await;
    ok(delete("/v1/me/identities/local")).await;
    ok(delete("/v1/me/identities/local")).await;
    ok(delete("/v1/me/identities/unheard-of")).await;
    let anew = server.sign_in_as("s1").await;
    assert_ne!(text(&anew["player"]["id"]), guest.id);
}

/// An identity may be linked to several guests in turn, or belong to a player who deletes the
/// account and returns.
#[tokio::test]
async fn an_identity_grants_one_welcome_a_day() {
    let grants = GrantLimits { welcomes: 1, ..GrantLimits::default() };
    let server = TrustingServer::with_grants(grants).await;
    let available = async |token: &str| {
        ok(server.get("/v1/me/wallet", token)).await["available"].as_i64().unwrap()
    };
    server.guest("device-0123456789-0").await;
    let mut wallets = vec![];
    for device in ["device-0123456789-1", "device-0123456789-2"] {
        let token = server.guest(device).await.access_token;
        assert_eq!(available(&token).await, 0);
        let proof = server.device_proof(&token, device).await;
        ok(server.link(&token, &proof, &server.issue_token("s1").await)).await;
        wallets.push(available(&token).await);
        ok(server.delete_proven("/v1/me/identities/local", &token, &proof)).await;
    }
    assert_eq!(wallets, [WELCOME.hundredths(), 0]);

    let mut wallets = vec![];
    for _ in 0..2 {
        let token = text(&server.sign_in_as("s2").await["access_token"]);
        wallets.push(available(&token).await);
        let proof = server.proof(&token, &identity_proof(&server.issue_token("s2").await)).await;
        ok(server.delete_proven("/v1/me", &token, &proof)).await;
    }
    assert_eq!(wallets, [WELCOME.hundredths(), 0]);
}

/// The finder of a lost telephone holds the device. A player with an identity therefore has to
/// present the identity.
#[tokio::test]
async fn account_changes_require_proof_of_a_linked_identity() {
    let server = TrustingServer::new().await;
    let guest = server.guest(DEVICE).await;
    let by_device = json!({ "by": "device", "device_id": DEVICE });
    let proof = server.proof(&guest, &by_device).await;
    ok(server.link(&guest, &proof, &server.issue_token("s1").await)).await;
    let show = |credential: &Value| server.post_by(&guest, "/v1/me/proof", credential);
    expect_refusal(show(&by_device), 403, "proof_insufficient").await;
    let of_another = identity_proof(&server.issue_token("s2").await);
    expect_refusal(show(&of_another), 403, "identity_wrong").await;
    expect_token_refused(show(&identity_proof("x"))).await;
    let mut unknown = identity_proof("x");
    unknown["issuer"] = json!("other");
    expect_refusal(show(&unknown), 404, "issuer_unknown").await;
    let proof = server.proof(&guest, &identity_proof(&server.issue_token("s1").await)).await;
    ok(server.delete_proven("/v1/me", &guest, &proof)).await;
}

/// A caller that disconnects during a fetch of keys does not cancel it for other callers.
#[tokio::test(flavor = "multi_thread")]
async fn a_disconnected_caller_does_not_cancel_the_key_fetch() {
    let server = TrustingServer::new().await;
    let held = server.issuer.response_permits.clone().acquire_owned().await.unwrap();
    let impatient = server.sign_in(&server.issue_token("maya").await);
    let impatient = impatient.timeout(Duration::from_millis(300));
    assert!(impatient.send().await.unwrap_err().is_timeout());
    assert_eq!(server.issuer.count_key_requests(), 1, "the keys were requested");
    drop(held);
    server.sign_in_as("maya").await;
    assert_eq!(server.issuer.count_key_requests(), 1, "the first fetch continued");
}
