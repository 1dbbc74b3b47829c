//! The rejection of invalid access tokens.

use std::sync::Arc;
use std::time::Duration;

use bahay::accounts::session_lookup;
use bahay::auth::{
    ACCESS_TOKEN_LIFE, Auth, AuthError, LookupError, LookupFuture, SessionLookup, Signer,
};
use bahay::clock::{Clock, Timestamp};
use bahay::ids::{PlayerId, SessionId};
use reqwest::Method;
use uuid::Uuid;

use crate::http::server::{
    Guest, OTHER_DEVICE, SECRET, Server, Setup, expect_refusal, ok, refused, text,
};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes as base64url without padding.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, place| {
            bits << 8 | u32::from(chunk.get(place).copied().unwrap_or(0))
        });
        for digit in 0..=chunk.len() {
            let index = usize::try_from(bits >> (18 - 6 * digit) & 63).expect("six bits");
            text.push(char::from(ALPHABET[index]));
        }
    }
    text
}

fn key_id(token: &str) -> String {
    let header = jsonwebtoken::decode_header(token).expect("a token has a header");
    header.kid.expect("the header names the key")
}

#[tokio::test]
async fn every_invalid_token_is_refused_with_its_code() {
    let (server, guest) = Server::with_guest().await;
    let good = guest.access_token.as_str();
    let (head, signature) = good.rsplit_once('.').unwrap();
    let (_, claims) = head.split_once('.').unwrap();
    let kid = key_id(good);
    let header = |json: &str| encode_base64(json.replace("KID", &kid).as_bytes());

    let none = format!("{}.{claims}.", header(r#"{"alg":"none","kid":"KID"}"#));
    let none_signed = format!("{}.{claims}.{signature}", header(r#"{"alg":"none","kid":"KID"}"#));
    let stronger = format!("{}.{claims}.{signature}", header(r#"{"alg":"HS512","kid":"KID"}"#));
    let asymmetric = format!("{}.{claims}.{signature}", header(r#"{"alg":"RS256","kid":"KID"}"#));
    let no_key = format!("{}.{claims}.{signature}", header(r#"{"alg":"HS256"}"#));
    let other_player = {
        let claims = format!(
            r#"{{"iss":"bahay","sub":"{}","sid":"{}","iat":0,"exp":99999999999}}"#,
            Uuid::max(),
            Uuid::max()
        );
        let header = head.split_once('.').unwrap().0;
        format!("{header}.{}.{signature}", encode_base64(claims.as_bytes()))
    };
    let other_key = {
        let signer = Signer::new(b"another-9f86d081884c7d659a2feaa0c55ad").unwrap();
        let book = session_lookup(server.bank.pool.clone());
        let auth = Auth::new(signer, server.clock.clone(), book);
        auth.access_token(PlayerId(Uuid::max()), SessionId(Uuid::max())).reveal()
    };
    let unsigned = format!("{head}.");
    let long = format!("{good}{}", "A".repeat(2_000));
    for (token, code) in [
        ("nonsense", "token_malformed"),
        ("a.b.c", "token_malformed"),
        ("..", "token_malformed"),
        (head, "token_malformed"),
        (&long, "token_malformed"),
        (&none, "token_malformed"),
        (&none_signed, "token_malformed"),
        (&no_key, "token_malformed"),
        (&stronger, "token_forged"),
        (&asymmetric, "token_forged"),
        (&unsigned, "token_forged"),
        (&other_player, "token_forged"),
        (&other_key, "token_forged"),
        (&guest.refresh_token, "token_malformed"),
    ] {
        let refused = refused(server.get("/v1/me", token)).await;
        assert_eq!(refused, (401, code.to_owned()), "{token}");
    }
    ok(server.get("/v1/me", good)).await;
}

#[tokio::test]
async fn authorization_is_a_single_bearer_header() {
    let (server, guest) = Server::with_guest().await;
    let token = guest.access_token.as_str();
    let me = || server.request(Method::GET, "/v1/me");
    let header = |value: String| me().header("authorization", value);
    expect_refusal(me(), 401, "token_missing").await;
    expect_refusal(header("Basic dTpw".into()), 401, "token_missing").await;
    expect_refusal(header("Bearer ".into()), 401, "token_malformed").await;
    expect_refusal(header(token.to_owned()), 401, "token_malformed").await;
    let two = header(format!("Bearer {token}")).header("authorization", format!("Bearer {token}"));
    expect_refusal(two, 401, "token_malformed").await;
    // A token is never accepted from the query.
    let query = server.request(Method::GET, &format!("/v1/me?access_token={token}"));
    expect_refusal(query, 401, "token_missing").await;
    ok(header(format!("bearer {token}"))).await;
}

#[tokio::test]
async fn a_token_expires_to_the_second() {
    let (server, guest) = Server::with_guest().await;
    server.clock.advance(ACCESS_TOKEN_LIFE - Duration::from_millis(1));
    ok(server.get("/v1/me", &guest)).await;
    server.clock.advance(Duration::from_millis(1));
    expect_refusal(server.get("/v1/me", &guest), 401, "token_expired").await;
}

/// The three steps of docs/OPERATIONS.md, with two nodes of which one is always a step ahead.
#[tokio::test]
async fn a_secret_is_rotated_while_players_play() {
    const NEW: &[u8] = b"c1f0e9d8b7a6958473625140f1e2d3c4";
    let server = Server::new().await;
    let with = async |secrets: &[&'static [u8]]| {
        server.node_with(Setup { secrets: secrets.to_vec(), ..Setup::default() }).await
    };
    let steps = [
        (with(&[SECRET]).await, with(&[SECRET, NEW]).await),
        (with(&[SECRET, NEW]).await, with(&[NEW, SECRET]).await),
        (with(&[NEW, SECRET]).await, with(&[NEW]).await),
    ];
    for (step, (behind, ahead)) in steps.iter().enumerate() {
        // After the last step no token of the old secret is valid any more.
        for (one, other) in [(behind, ahead), (ahead, behind)] {
            let guest = one.guest(&format!("device-000000000{step}")).await;
            one.guest(&format!("device-000000000{step}")).await;
            ok(other.get("/v1/me", &guest)).await;
            let page = ok(one.get("/v1/me/sessions?limit=1", &guest)).await;
            let cursor = page["next_cursor"].as_str().expect("two sessions exist");
            let next = format!("/v1/me/sessions?cursor={cursor}");
            ok(other.get(&next, &guest)).await;
        }
    }
    let old = steps[0].0.guest("device-0000000000").await;
    expect_refusal(steps[2].1.get("/v1/me", &old), 401, "token_forged").await;
    // Refresh tokens are not signed.
    ok(steps[2].1.refresh(&old.refresh_token)).await;
}

/// The authentication of a socket, without a server.
#[tokio::test]
async fn authenticate_returns_the_player_or_the_reason() {
    let clock = Clock::set_to(Timestamp::from_ms(1_000));
    let player = PlayerId(Uuid::max());
    let session = SessionId(Uuid::nil());
    let auth = create_auth(player, &clock);
    let token = auth.access_token(player, session).reveal();
    let authenticated = auth.authenticate(&token).await.unwrap();
    assert_eq!((authenticated.id, authenticated.session), (player, session));
    assert_eq!(auth.authenticate("").await, Err(AuthError::Missing));
    auth.revocations().insert(session, clock.now());
    assert_eq!(auth.authenticate(&token).await, Err(AuthError::Revoked));
    clock.advance(ACCESS_TOKEN_LIFE);
    assert_eq!(auth.authenticate(&token).await, Err(AuthError::Expired));
    clock.advance(ACCESS_TOKEN_LIFE);
    auth.revocations().forget_expired(clock.now());
    assert!(!auth.revocations().contains(session));
}

/// A lookup in which every session belongs to one player, except the sessions that cannot be read.
#[derive(Debug)]
struct SinglePlayerLookup(PlayerId);

impl SessionLookup for SinglePlayerLookup {
    fn find_player(&self, session: SessionId) -> LookupFuture<'_> {
        let is_read = session != SessionId(Uuid::max());
        Box::pin(async move { if is_read { Ok(Some(self.0)) } else { Err(LookupError) } })
    }
}

fn create_auth(player: PlayerId, clock: &Clock) -> Auth {
    let lookup = Arc::new(SinglePlayerLookup(player));
    Auth::new(Signer::new(SECRET).unwrap(), clock.clone(), lookup)
}

#[tokio::test]
async fn a_failed_lookup_is_a_temporary_refusal() {
    let clock = Clock::set_to(Timestamp::from_ms(1_000));
    let player = PlayerId(Uuid::max());
    let session = SessionId(Uuid::max());
    let token = create_auth(player, &clock).access_token(player, session).reveal();
    let auth = create_auth(player, &clock);
    assert_eq!(auth.authenticate(&token).await, Err(AuthError::Unavailable));
}

/// After a leak of the secret, or after a restore of the database: the signature is valid, but the
/// session does not exist or belongs to another player.
#[tokio::test]
async fn a_signed_token_of_an_unknown_session_is_refused() {
    let (server, one) = Server::with_guest().await;
    let other = server.guest(OTHER_DEVICE).await;
    let book = session_lookup(server.bank.pool.clone());
    let forger = Auth::new(Signer::new(SECRET).unwrap(), server.clock.clone(), book);
    let player = |guest: &Guest| PlayerId(guest.id.parse().unwrap());
    let session = |guest: &Guest| SessionId(text(&guest.answer["session"]).parse().unwrap());
    let forged = |player, session| forger.access_token(player, session).reveal();
    let unknown_session = forged(player(&one), SessionId(Uuid::now_v7()));
    let other_session = forged(player(&one), session(&other));
    let unknown_player = forged(PlayerId(Uuid::now_v7()), session(&one));
    let restarted = server.another_node().await;
    for node in [&server.node, &restarted] {
        for token in [&unknown_session, &other_session, &unknown_player] {
            expect_refusal(node.get("/v1/me", token), 401, "token_revoked").await;
            expect_refusal(node.get("/v1/me/wallet", token), 401, "token_revoked").await;
        }
        ok(node.get("/v1/me", &one)).await;
        ok(node.get("/v1/me", &forged(player(&one), session(&one)))).await;
    }
}
