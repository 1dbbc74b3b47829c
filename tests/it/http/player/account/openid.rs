//! Sign-in with an external identity, with an issuer that the test itself runs.

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
use reqwest::{Method, RequestBuilder};
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
use crate::http::server::{Server, Setup, WELCOME, expect_refusal, expect_refusal_of, ok, text};
use crate::support::db::read_value;
use crate::support::house::cheap_auth_options;

/// An RSA key of 2,048 bits for the tokens of this test only; generating one takes too long.
const RSA: &[u8] = include_bytes!("openid_rsa.der");

/// The device that requests the nonces and presents the tokens.
const DEVICE: &str = "device-0123456789";

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

    /// Builds claims with a fresh nonce.
    async fn build_claims(&self, server: &Server, subject: &str) -> Value {
        json!({
            "iss": self.address, "sub": subject, "aud": "the-app", "iat": NOW, "exp": NOW + 1_000_000,
            "email": "not.kept@example.com", "nonce": request_nonce(server, DEVICE).await
        })
    }

    /// Issues a token, which is valid for one use.
    async fn issue_token(&self, server: &Server, subject: &str) -> String {
        self.sign_with_rsa("r1", &self.build_claims(server, subject).await)
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

async fn start_server(local: &LocalIssuer) -> Server {
    let issuers = Issuers::new(vec![local.issuer()]).expect("the issuer can be trusted");
    let auth_options = accounts::Options { issuers, ..cheap_auth_options() };
    Server::with_setup(Setup { auth_options, ..Setup::default() }).await
}

async fn request_nonce(server: &Server, device: &str) -> String {
    let ask = server.node.post("/v1/sign-in/openid/nonce", &json!({ "device_id": device }));
    text(&ok(ask).await["nonce"])
}

fn sign_in_body(device: &str, token: &str) -> Value {
    json!({ "issuer": "local", "id_token": token, "device_id": device })
}

fn sign_in(server: &Server, token: &str) -> RequestBuilder {
    server.node.post("/v1/sign-in/openid", &sign_in_body(DEVICE, token))
}

fn link(server: &Server, access_token: &str, proof: &str, token: &str) -> RequestBuilder {
    let link = server.node.post("/v1/me/identities", &sign_in_body(DEVICE, token));
    link.bearer_auth(access_token).header("account-proof", proof)
}

fn identity_proof(token: &str) -> Value {
    let mut credential = sign_in_body(DEVICE, token);
    credential["by"] = json!("identity");
    credential
}

#[tokio::test]
async fn a_subject_signs_in_the_same_player_under_every_algorithm() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    let mut body = sign_in_body(DEVICE, &local.issue_token(&server, "s1").await);
    body["name"] = json!("Maria");
    body["time_zone"] = json!("Asia/Manila");
    let first = ok(server.node.post("/v1/sign-in/openid", &body)).await;
    assert_eq!(first["player"]["name"], "Maria");
    assert_eq!(first["player"]["time_zone"], "Asia/Manila");
    let by_ec = local.sign_with_ec("e1", &local.build_claims(&server, "s1").await);
    let again = ok(sign_in(&server, &by_ec)).await;
    assert_eq!(again["player"], first["player"]);
    assert_ne!(again["session"], first["session"]);
    let other = ok(sign_in(&server, &local.issue_token(&server, "s2").await)).await;
    assert_ne!(other["player"]["id"], first["player"]["id"]);
    let token = text(&first["access_token"]);
    let wallet = ok(server.node.get("/v1/me/wallet", &token)).await;
    assert_eq!(wallet["available"], WELCOME.hundredths());
    assert_eq!(local.key_requests.load(Ordering::SeqCst), 1, "keys are cached");
    // Nothing else of the token is stored.
    for table in ["players", "identities", "sessions"] {
        let sql = format!("select coalesce(string_agg(t::text, ' '), '') from {table} t");
        let rows: String = read_value(&server.bank.pool, &sql).await;
        assert!(!rows.is_empty() && !rows.contains("not.kept"), "{table}: {rows}");
    }
}

#[tokio::test]
async fn twenty_concurrent_sign_ins_of_a_subject_create_one_player_and_one_grant() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    let tokens = join_all((0..20).map(|_| local.issue_token(&server, "s1"))).await;
    let signed_in = join_all(tokens.iter().map(|token| ok(sign_in(&server, token)))).await;
    assert!(signed_in.iter().all(|one| one["player"] == signed_in[0]["player"]));
    let grants: i64 =
        read_value(&server.bank.pool, "select count(*) from transfers where code = 'welcome'")
            .await;
    assert_eq!(grants, 1);
}

#[tokio::test]
async fn every_invalid_id_token_is_refused() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    // One nonce suffices for all tokens, because a refused token does not use it up.
    let claims = local.build_claims(&server, "s1").await;
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        local.sign_with_rsa("r1", &claims)
    };
    let without = |name: &str| {
        let mut claims = claims.clone();
        claims.as_object_mut().unwrap().remove(name);
        local.sign_with_rsa("r1", &claims)
    };
    let good = local.sign_with_rsa("r1", &claims);
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
        (local.sign_with_ec("r1", &claims), "a key of another kind"),
        (local.sign_with_rsa("e1", &claims), "a key of another kind"),
        (local.sign_with_rsa("f1", &claims), "a key that nobody understands"),
        (with("iss", json!("http://127.0.0.1:1")), "another issuer"),
        (with("iss", json!(format!("{}/", local.address))), "another issuer by a letter"),
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
        expect_refusal_of(what, sign_in(&server, &token), 401, "id_token_refused").await;
    }
    let mut unknown = sign_in_body(DEVICE, &good);
    unknown["issuer"] = json!("google");
    let unknown = server.node.post("/v1/sign-in/openid", &unknown);
    expect_refusal(unknown, 404, "issuer_unknown").await;
    ok(sign_in(&server, &good)).await;
    let mut several = local.build_claims(&server, "s1").await;
    several["aud"] = json!(["another-app", "the-app"]);
    let several = local.sign_with_rsa("r1", &several);
    ok(sign_in(&server, &several)).await;
}

/// A copied token, from a log or from another app's page, is useless: it is bound to the device
/// that requested its nonce, and it is valid once.
#[tokio::test]
async fn a_token_is_valid_once_and_for_its_device() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    let node = &server.node;
    let issuers = Issuers::new(vec![local.issuer()]).expect("the issuer can be trusted");
    let auth_options = accounts::Options { issuers, ..cheap_auth_options() };
    let other = server.node_with(Setup { auth_options, ..Setup::default() }).await;
    let refused = (401, "id_token_refused");
    let token = local.issue_token(&server, "s1").await;
    let elsewhere = node.post("/v1/sign-in/openid", &sign_in_body("device-of-the-thief-1", &token));
    expect_refusal(elsewhere, refused.0, refused.1).await;
    let first = ok(sign_in(&server, &token)).await;
    for node in [node, &other] {
        let again = node.post("/v1/sign-in/openid", &sign_in_body(DEVICE, &token));
        expect_refusal(again, refused.0, refused.1).await;
    }
    // A used token neither links nor proves anything, and a token that was used to link or prove
    // does not sign in.
    let access = text(&first["access_token"]);
    expect_refusal(
        node.post("/v1/me/proof", &identity_proof(&token)).bearer_auth(&access),
        refused.0,
        refused.1,
    )
    .await;
    let credential = local.issue_token(&server, "s1").await;
    let proof = node.proof(&access, &identity_proof(&credential)).await;
    expect_refusal(sign_in(&server, &credential), refused.0, refused.1).await;
    expect_refusal(link(&server, &access, &proof, &credential), refused.0, refused.1).await;
    let linked = local.issue_token(&server, "s1").await;
    ok(link(&server, &access, &proof, &linked)).await;
    expect_refusal(sign_in(&server, &linked), refused.0, refused.1).await;
    // Of many concurrent uses one succeeds.
    let token = local.issue_token(&server, "s1").await;
    let racing = (0..10).map(|_| async { sign_in(&server, &token).send().await.unwrap().status() });
    let answers = join_all(racing).await;
    assert_eq!(answers.iter().filter(|status| status.as_u16() == 200).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|status| [200, 401].contains(&status.as_u16())), "{answers:?}");
}

#[tokio::test]
async fn a_nonce_expires_after_ten_minutes_and_is_removed() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    let used = async || {
        let used: i64 = read_value(&server.bank.pool, "select count(*) from used_nonces").await;
        used
    };
    let early = local.issue_token(&server, "s1").await;
    let late = local.issue_token(&server, "s1").await;
    server.clock.advance(Duration::from_millis(599_999));
    ok(sign_in(&server, &early)).await;
    assert_eq!(used().await, 1);
    server.clock.advance(Duration::from_millis(1));
    expect_refusal(sign_in(&server, &late), 401, "id_token_refused").await;
    ok(sign_in(&server, &local.issue_token(&server, "s1").await)).await;
    let (pool, clock) = (server.bank.pool.clone(), server.clock.clone());
    let retention = Retention::new(pool, clock, RetentionPeriods::default());
    server.clock.advance(Duration::from_millis(1));
    assert_eq!(retention.remove(ExpiringRows::UsedNonces).await.unwrap(), 1);
    assert_eq!(used().await, 1, "the expired nonce is removed");
    // Requesting a nonce stores nothing.
    for _ in 0..10 {
        request_nonce(&server, DEVICE).await;
    }
    assert_eq!(used().await, 1);
}

/// An unreachable issuer is reported differently from an unknown key.
#[tokio::test]
async fn an_unreachable_issuer_is_not_an_invalid_token() {
    let mut local = LocalIssuer::start().await;
    let there = local.issuer();
    let away = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = format!("http://{}", away.local_addr().unwrap());
    drop(away);
    let gone = Issuer { name: "gone".into(), issuer: nowhere.clone(), ..there.clone() };
    let issuers = Issuers::new(vec![there, gone]).expect("the issuers can be trusted");
    let auth_options = accounts::Options { issuers, ..cheap_auth_options() };
    let server = Server::with_setup(Setup { auth_options, ..Setup::default() }).await;
    let unknown = local.sign_with_rsa("unheard-of", &local.build_claims(&server, "s1").await);
    expect_refusal(sign_in(&server, &unknown), 401, "id_token_refused").await;
    local.address = nowhere;
    let token = local.issue_token(&server, "s1").await;
    let mut body = sign_in_body(DEVICE, &token);
    body["issuer"] = json!("gone");
    for _ in 0..2 {
        let away = server.node.post("/v1/sign-in/openid", &body);
        expect_refusal(away, 503, "issuer_unavailable").await;
    }
}

#[tokio::test]
async fn issuer_keys_are_refetched_at_a_bounded_rate() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    ok(sign_in(&server, &local.issue_token(&server, "s1").await)).await;
    // A new key is published. Within the same minute the keys are not fetched again.
    let replace = |kid: &str| {
        let mut keys = local.published.lock().unwrap();
        keys["keys"][0]["kid"] = json!(kid);
    };
    replace("r2");
    let rotated = async || local.sign_with_rsa("r2", &local.build_claims(&server, "s1").await);
    for _ in 0..10 {
        expect_refusal(sign_in(&server, &rotated().await), 401, "id_token_refused").await;
    }
    assert_eq!(local.key_requests.load(Ordering::SeqCst), 1);
    server.clock.advance(Duration::from_mins(1));
    ok(sign_in(&server, &rotated().await)).await;
    for number in 0..10 {
        let claims = local.build_claims(&server, "s1").await;
        let unknown = local.sign_with_rsa(&format!("x{number}"), &claims);
        expect_refusal(sign_in(&server, &unknown), 401, "id_token_refused").await;
    }
    assert_eq!(local.key_requests.load(Ordering::SeqCst), 2);
    // A withdrawn key is trusted for at most one hour.
    replace("r3");
    server.clock.advance(Duration::from_mins(50));
    ok(sign_in(&server, &rotated().await)).await;
    server.clock.advance(Duration::from_mins(9));
    ok(sign_in(&server, &rotated().await)).await;
    server.clock.advance(Duration::from_mins(1));
    expect_refusal(sign_in(&server, &rotated().await), 401, "id_token_refused").await;
    assert_eq!(local.key_requests.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn cached_keys_outlast_their_issuer_for_a_day() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    ok(sign_in(&server, &local.issue_token(&server, "s1").await)).await;
    *local.published.lock().unwrap() = json!("on strike");
    server.clock.advance(Duration::from_hours(23));
    ok(sign_in(&server, &local.issue_token(&server, "s1").await)).await;
    let unknown = local.sign_with_rsa("x", &local.build_claims(&server, "s1").await);
    expect_refusal(sign_in(&server, &unknown), 503, "issuer_unavailable").await;
    server.clock.advance(Duration::from_hours(1));
    let token = local.issue_token(&server, "s1").await;
    expect_refusal(sign_in(&server, &token), 503, "issuer_unavailable").await;
}

#[tokio::test]
async fn a_guest_links_an_identity_and_signs_in_with_it() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    let node = &server.node;
    let guest = node.guest("device-0123456789").await;
    let token = guest.access_token.as_str();
    let proof = node.device_proof(token, "device-0123456789").await;
    let methods = ok(link(&server, token, &proof, &local.issue_token(&server, "s1").await)).await;
    let id_token = local.issue_token(&server, "s1").await;
    assert_eq!(ok(link(&server, token, &proof, &id_token)).await, methods);
    let linked_at = "2026-03-01T12:00:00.000Z";
    let identity = json!({ "issuer": "local", "subject": "s1", "linked_at": linked_at });
    let expected =
        json!({ "devices": 1, "password_set_at": null, "identities": [identity.clone()] });
    assert_eq!(methods, expected);
    let back = ok(sign_in(&server, &local.issue_token(&server, "s1").await)).await;
    assert_eq!(text(&back["player"]["id"]), guest.id);

    let second = link(&server, token, &proof, &local.issue_token(&server, "s2").await);
    expect_refusal(second, 409, "issuer_linked").await;
    let other = node.guest("device-9876543210").await;
    let others = node.device_proof(&other.access_token, "device-9876543210").await;
    let id_token = local.issue_token(&server, "s1").await;
    let theirs = link(&server, &other.access_token, &others, &id_token);
    expect_refusal(theirs, 409, "identity_taken").await;
    expect_refusal(link(&server, token, &proof, "nonsense"), 401, "id_token_refused").await;

    // If the settings no longer contain an issuer, its address replaces its name.
    let gone = format!("https://id.example/{}", "a".repeat(236));
    let insert = "insert into identities (issuer, subject, player, linked_at)
        values ($1, 's1', $2, now())";
    let player: uuid::Uuid = guest.id.parse().unwrap();
    sqlx::query(insert).bind(&gone).bind(player).execute(&server.bank.pool).await.unwrap();
    let methods = ok(node.get("/v1/me/sign-in-methods", token)).await;
    assert!(methods["identities"].as_array().unwrap().iter().any(|one| one["issuer"] == *gone));
    let delete = |path: &str| {
        let delete = node.request(Method::DELETE, path).bearer_auth(token);
        delete.header("account-proof", &proof)
    };
    let escaped = gone.replace('/', "%2F");
    ok(delete(&format!("/v1/me/identities/{escaped}"))).await;
    let methods = ok(node.get("/v1/me/sign-in-methods", token)).await;
    assert_eq!(methods["identities"], json!([identity]));
    expect_refusal(delete(&format!("/v1/me/identities/{escaped}a")), 422, "path_invalid").await;

    // The devices may be forgotten now; the identity is then the last sign-in method.
    let nothing = node.request(Method::DELETE, "/v1/me/devices").bearer_auth(&other.access_token);
    let nothing = nothing.header("account-proof", &others);
    expect_refusal(nothing, 409, "last_sign_in").await;
    ok(delete("/v1/me/devices")).await;
    ok(delete("/v1/me/devices")).await;
    assert_ne!(node.guest("device-0123456789").await.id, guest.id);
    expect_refusal(delete("/v1/me/identities/local"), 409, "last_sign_in").await;
    let body = json!({ "name": "Maria", "password": "rain on a tin roof" });
    let set = node.post("/v1/me/password", &body).bearer_auth(token);
    ok(set.header("account-proof", &proof)).await;
    ok(delete("/v1/me/identities/local")).await;
    ok(delete("/v1/me/identities/local")).await;
    ok(delete("/v1/me/identities/unheard-of")).await;
    let anew = ok(sign_in(&server, &local.issue_token(&server, "s1").await)).await;
    assert_ne!(text(&anew["player"]["id"]), guest.id);
}

/// An identity may be linked to several guests in turn, or belong to a player who deletes the
/// account and returns.
#[tokio::test]
async fn an_identity_grants_one_welcome_a_day() {
    let local = LocalIssuer::start().await;
    let issuers = Issuers::new(vec![local.issuer()]).expect("the issuer can be trusted");
    let grants = GrantLimits { welcomes: 1, ..GrantLimits::default() };
    let auth_options = accounts::Options { issuers, grants, ..cheap_auth_options() };
    let server = Server::with_setup(Setup { auth_options, ..Setup::default() }).await;
    let node = &server.node;
    let available = async |token: &str| {
        ok(node.get("/v1/me/wallet", token)).await["available"].as_i64().unwrap()
    };
    node.guest("device-0123456789-0").await;
    let mut wallets = vec![];
    for device in ["device-0123456789-1", "device-0123456789-2"] {
        let token = node.guest(device).await.access_token;
        assert_eq!(available(&token).await, 0);
        let proof = node.device_proof(&token, device).await;
        ok(link(&server, &token, &proof, &local.issue_token(&server, "s1").await)).await;
        wallets.push(available(&token).await);
        let unlink = node.request(Method::DELETE, "/v1/me/identities/local");
        ok(unlink.bearer_auth(&token).header("account-proof", &proof)).await;
    }
    assert_eq!(wallets, [WELCOME.hundredths(), 0]);

    let mut wallets = vec![];
    for _ in 0..2 {
        let token = text(
            &ok(sign_in(&server, &local.issue_token(&server, "s2").await)).await["access_token"],
        );
        wallets.push(available(&token).await);
        let proof =
            node.proof(&token, &identity_proof(&local.issue_token(&server, "s2").await)).await;
        let delete = node.request(Method::DELETE, "/v1/me").bearer_auth(&token);
        ok(delete.header("account-proof", proof)).await;
    }
    assert_eq!(wallets, [WELCOME.hundredths(), 0]);
}

/// The finder of a lost telephone holds the device. A player with an identity therefore has to
/// present the identity.
#[tokio::test]
async fn account_changes_require_proof_of_a_linked_identity() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    let node = &server.node;
    let guest = node.guest("device-0123456789").await;
    let token = guest.access_token.as_str();
    let by_device = json!({ "by": "device", "device_id": "device-0123456789" });
    let proof = node.proof(token, &by_device).await;
    ok(link(&server, token, &proof, &local.issue_token(&server, "s1").await)).await;
    let show = |credential: &Value| node.post("/v1/me/proof", credential).bearer_auth(token);
    expect_refusal(show(&by_device), 403, "proof_insufficient").await;
    expect_refusal(
        show(&identity_proof(&local.issue_token(&server, "s2").await)),
        403,
        "identity_wrong",
    )
    .await;
    let nonsense = identity_proof("x");
    expect_refusal(show(&nonsense), 401, "id_token_refused").await;
    let mut unknown = identity_proof("x");
    unknown["issuer"] = json!("other");
    expect_refusal(show(&unknown), 404, "issuer_unknown").await;
    let proof = node.proof(token, &identity_proof(&local.issue_token(&server, "s1").await)).await;
    let delete = node.request(Method::DELETE, "/v1/me").bearer_auth(token);
    ok(delete.header("account-proof", proof)).await;
}

/// A caller that disconnects during a fetch of keys does not cancel it for other callers.
#[tokio::test(flavor = "multi_thread")]
async fn a_disconnected_caller_does_not_cancel_the_key_fetch() {
    let local = LocalIssuer::start().await;
    let server = start_server(&local).await;
    let held = local.response_permits.clone().acquire_owned().await.unwrap();
    let impatient = sign_in(&server, &local.issue_token(&server, "maya").await)
        .timeout(Duration::from_millis(300));
    assert!(impatient.send().await.unwrap_err().is_timeout());
    assert_eq!(local.key_requests.load(Ordering::SeqCst), 1, "the keys were requested");
    drop(held);
    ok(sign_in(&server, &local.issue_token(&server, "maya").await)).await;
    assert_eq!(local.key_requests.load(Ordering::SeqCst), 1, "the first fetch continued");
}
