//! Coming to the desk: enrolment, password, second factor, sessions, and forms of others.

use std::time::Duration;

use bahay::auth::DeskToken;
use bahay::operators::audit::Trail;
use bahay::operators::{Operators, Role, SecondFactor};
use reqwest::Method;
use serde_json::Value;

use super::browser::{Browser, PASSWORD, between, form_token, next_code};
use crate::http::server::Server;

const SOMEWHERE: &str = "/desk/corrections";

/// What the audit says, oldest first: action, and what was wrong.
async fn noted(server: &Server) -> Vec<String> {
    let rows: Vec<(String, Value)> =
        sqlx::query_as("select action, detail from operator_actions order by id")
            .fetch_all(&server.bank.pool)
            .await
            .unwrap();
    let words = rows.into_iter().map(|(action, detail)| match detail["wrong"].as_str() {
        Some(wrong) => format!("{action}: {wrong}"),
        None => action,
    });
    words.collect()
}

#[tokio::test]
async fn an_operator_enrols_and_signs_in_with_three_things() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    let luz = browser.enrol("ate.luz", Role::Finance).await;
    let page = browser.get(SOMEWHERE).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("ate.luz (finance)"), "{}", page.text);

    // The code of the enrolment is used; so is the one in the next browser after it was shown.
    let mut other = Browser::new(&server);
    let again = other.sign_in("ate.luz", PASSWORD, &luz.factor.code(server.clock.now())).await;
    assert_eq!(again.status, 403, "{}", again.text);
    assert!(again.text.contains("or the code was used before"), "{}", again.text);
    next_code(&server.clock);
    let code = luz.factor.code(server.clock.now());
    for (name, password, code) in [
        ("ate.luz", "rain on a tin rooff", &*code),
        ("ate.luz", PASSWORD, "000000"),
        ("kuya.ben", PASSWORD, &code),
    ] {
        let refused = other.sign_in(name, password, code).await;
        assert_eq!(refused.status, 403, "{name} {password} {code}");
        assert!(refused.text.contains("do not belong together"), "{}", refused.text);
        assert_eq!(other.get(SOMEWHERE).await.status, 303);
    }
    let signed_in = other.sign_in("ate.luz", PASSWORD, &code).await;
    assert_eq!((signed_in.status, signed_in.location.as_deref()), (303, Some("/desk")));
    assert_eq!(other.get(SOMEWHERE).await.status, 200);
    let mut third = Browser::new(&server);
    assert_eq!(third.sign_in("ate.luz", PASSWORD, &code).await.status, 403, "a code is used once");
    let expected = [
        "operator_add",
        "enrolment",
        "sign_in_refused: code used",
        "sign_in_refused: password",
        "sign_in_refused: code",
        "sign_in_refused: name",
        "sign_in",
        "sign_in_refused: code used",
    ];
    assert_eq!(noted(&server).await, expected);
}

/// Whoever goes on trying fills no audit: of a name that is locked one row a minute is written, of names
/// that nobody has five from one address.
#[tokio::test]
async fn who_tries_for_long_does_not_fill_the_audit() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    browser.enrol("ate.luz", Role::Finance).await;
    let mut other = Browser::new(&server);
    for attempt in 0..12 {
        other.sign_in("ate.luz", "rain on a tin rooff", "000000").await;
        other.sign_in(&format!("kuya.{attempt}"), PASSWORD, "000000").await;
    }
    let noted = noted(&server).await;
    let count = |what: &str| noted.iter().filter(|noted| *noted == what).count();
    assert_eq!(count("sign_in_refused: password"), 5, "{noted:?}");
    assert_eq!(count("sign_in_refused: locked"), 1, "{noted:?}");
    assert_eq!(count("sign_in_refused: name"), 5, "{noted:?}");
}

/// The second factor as the database has it.
async fn stored_factor(server: &Server) -> Vec<u8> {
    sqlx::query_scalar("select totp_secret from operator_credentials")
        .fetch_one(&server.bank.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn second_factors_are_stored_sealed_and_older_ones_are_sealed_at_their_next_use() {
    const PLAIN: &[u8] = b"12345678901234567890";
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    browser.enrol("ate.luz", Role::Viewer).await;
    let sealed = stored_factor(&server).await;
    assert_eq!(sealed.len(), PLAIN.len() + bahay::auth::SEAL_BYTES);
    let store = async |bytes: &[u8]| {
        let stored = sqlx::query("update operator_credentials set totp_secret = $1").bind(bytes);
        stored.execute(&server.bank.pool).await.unwrap();
    };
    store(PLAIN).await;
    let factor = SecondFactor::of_base32("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ").unwrap();
    for _ in 0..2 {
        next_code(&server.clock);
        let code = factor.code(server.clock.now());
        let signed_in = Browser::new(&server).sign_in("ate.luz", PASSWORD, &code).await;
        assert_eq!(signed_in.status, 303, "{}", signed_in.text);
        let stored = stored_factor(&server).await;
        assert_eq!(stored.len(), sealed.len());
        assert!(!stored.windows(8).any(|part| part == &PLAIN[..8]));
    }
    // Sealed by a key that this server does not have.
    let mut other = stored_factor(&server).await;
    other[1] ^= 1;
    store(&other).await;
    next_code(&server.clock);
    let code = factor.code(server.clock.now());
    assert_eq!(Browser::new(&server).sign_in("ate.luz", PASSWORD, &code).await.status, 500);
}

#[tokio::test]
async fn names_are_tried_so_often_and_no_more() {
    let server = Server::new().await;
    let luz = Browser::new(&server).enrol("ate.luz", Role::Viewer).await;
    next_code(&server.clock);
    let mut browser = Browser::new(&server);
    for _ in 0..5 {
        assert_eq!(browser.sign_in("ate.luz", "a wrong password", "123456").await.status, 403);
    }
    let code = luz.factor.code(server.clock.now());
    let locked = browser.sign_in("ate.luz", PASSWORD, &code).await;
    assert_eq!(locked.status, 429, "{}", locked.text);
    server.clock.advance(Duration::from_secs(61));
    let code = luz.factor.code(server.clock.now());
    assert_eq!(browser.sign_in("ate.luz", PASSWORD, &code).await.status, 303);
}

#[tokio::test]
async fn sessions_end_when_idle_when_old_and_with_their_operator() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    let luz = browser.enrol("ate.luz", Role::Viewer).await;
    for _ in 0..3 {
        server.clock.advance(Duration::from_mins(29));
        assert_eq!(browser.get(SOMEWHERE).await.status, 200);
    }
    server.clock.advance(Duration::from_mins(31));
    let ended = browser.get(SOMEWHERE).await;
    let to = "/desk/sign-in?next=%2Fdesk%2Fcorrections";
    assert_eq!((ended.status, ended.location.as_deref()), (303, Some(to)));

    let again = async |browser: &mut Browser<'_>| {
        next_code(&server.clock);
        let code = luz.factor.code(server.clock.now());
        assert_eq!(browser.sign_in("ate.luz", PASSWORD, &code).await.status, 303);
    };
    again(&mut browser).await;
    for _ in 0..36 {
        assert_eq!(browser.get(SOMEWHERE).await.status, 200);
        server.clock.advance(Duration::from_mins(20));
    }
    assert_eq!(browser.get(SOMEWHERE).await.status, 303, "after twelve hours");

    again(&mut browser).await;
    let cookies = browser.cookies.clone();
    let left = browser.send(SOMEWHERE, "/desk/sign-out", &[]).await;
    assert_eq!((left.status, left.location.as_deref()), (303, Some("/desk/sign-in")));
    assert!(browser.cookies.is_empty(), "{:?}", browser.cookies);
    browser.cookies = cookies;
    assert_eq!(browser.get(SOMEWHERE).await.status, 303, "the server has forgotten it too");

    again(&mut browser).await;
    let operators = Operators::new(server.bank.database.owner_pool().await);
    let name = "ate.luz".parse().unwrap();
    operators.disable(&Trail::COMMAND, &name, server.clock.now()).await.unwrap();
    assert_eq!(browser.get(SOMEWHERE).await.status, 303);
}

#[tokio::test]
async fn an_enrolment_is_good_once_and_for_a_day_and_ends_what_was_before() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    let luz = browser.enrol("ate.luz", Role::Viewer).await;
    let operators = Operators::new(server.bank.database.owner_pool().await);
    let (name, now) = ("ate.luz".parse().unwrap(), server.clock.now());
    let code = operators.reset(&Trail::COMMAND, &name, now).await.unwrap();
    let code = code.reveal();
    assert_eq!(browser.get(SOMEWHERE).await.status, 303, "the session has ended");
    next_code(&server.clock);
    let shown = luz.factor.code(server.clock.now());
    assert_eq!(browser.sign_in("ate.luz", PASSWORD, &shown).await.status, 403);

    let factor = browser.factor_of(code).await;
    let shown = factor.code(server.clock.now());
    for (password, again, shown, words) in [
        ("short one", "short one", &*shown, "at least 12 characters"),
        ("aaaaaaaaaaaa", "aaaaaaaaaaaa", &shown, "take another one"),
        (PASSWORD, "rain on a tin", &shown, "are not the same"),
        (PASSWORD, PASSWORD, "000000", "not the code"),
    ] {
        let fields =
            [("enrolment", code), ("password", password), ("again", again), ("code", shown)];
        let page = browser.send("/desk/enrolment", "/desk/enrolment/completion", &fields).await;
        assert!(page.status == 422 && page.text.contains(words), "{words}: {}", page.text);
    }
    let fields =
        [("enrolment", code), ("password", PASSWORD), ("again", PASSWORD), ("code", &shown)];
    let page = browser.send("/desk/enrolment", "/desk/enrolment/completion", &fields).await;
    assert_eq!(page.status, 303, "{}", page.text);
    assert_eq!(browser.get(SOMEWHERE).await.status, 200);
    let twice = browser.send("/desk/enrolment", "/desk/enrolment", &[("enrolment", code)]).await;
    assert_eq!(twice.status, 403, "{}", twice.text);

    let late = operators.reset(&Trail::COMMAND, &name, server.clock.now()).await.unwrap();
    server.clock.advance(Duration::from_hours(24));
    let fields = [("enrolment", late.reveal())];
    let page = browser.send("/desk/enrolment", "/desk/enrolment", &fields).await;
    assert_eq!(page.status, 403, "{}", page.text);
}

#[tokio::test]
async fn forms_of_other_pages_do_nothing() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    browser.enrol("ate.luz", Role::Viewer).await;
    let page = browser.get(SOMEWHERE).await;
    let token = form_token(&page.text);
    let strangers = DeskToken::random().form_token();
    for (site, token) in [
        ("cross-site", &token),
        ("same-site", &token),
        ("none", &token),
        ("same-origin", &strangers),
    ] {
        browser.site = site;
        let refused = browser.send_with(token, "/desk/sign-out", &[]).await;
        assert_eq!(refused.status, 403, "{site}");
        assert!(refused.text.contains("does not come from a page of the desk"), "{site}");
    }
    browser.site = "same-origin";
    // What sends neither of the headers is no browser; and an origin is compared with the host.
    let jar = format!("__Host-bahay-desk={}", browser.cookies["__Host-bahay-desk"]);
    for (origin, status) in [(None, 403), (Some("https://evil.example"), 403), (Some("null"), 403)]
    {
        let mut request =
            server.node.request(Method::POST, "/desk/sign-out").header("cookie", &jar);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let kind = "application/x-www-form-urlencoded";
        let request = request.header("content-type", kind).body(format!("form_token={token}"));
        assert_eq!(request.send().await.unwrap().status(), status, "{origin:?}");
    }
    assert_eq!(browser.get(SOMEWHERE).await.status, 200, "still signed in");
    assert_eq!(browser.send_with(&token, "/desk/sign-out", &[]).await.status, 303);
}

#[tokio::test]
async fn the_stylesheet_and_the_script_are_kept_for_ever_under_names_of_their_own() {
    let server = Server::new().await;
    let page = Browser::new(&server).get("/desk/sign-in").await.text;
    for (before, after, kind) in [
        ("href=\"/desk/assets/", "\"", "text/css"),
        ("src=\"/desk/assets/", "\"", "text/javascript"),
    ] {
        let path = format!("/desk/assets/{}", between(&page, before, after));
        let response = server.node.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-type").starts_with(kind), "{path}");
        assert!(header("cache-control").contains("immutable"), "{path}");
    }
    let missing = server.node.request(Method::GET, "/desk/assets/desk-0.css").send().await.unwrap();
    assert_eq!(missing.status(), 404);
    let policy = server.node.request(Method::GET, "/desk/sign-in").send().await.unwrap();
    assert_eq!(policy.headers()["cache-control"], "no-store");
}
