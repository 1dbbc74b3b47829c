//! Sign-in at the desk: enrolment, password, second factor, sessions, and cross-site forms.

use std::time::Duration;

use bahay::auth::{DeskToken, SecondFactor};
use bahay::operators::Role;
use bahay::rate_limit::Rate;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::browser::{Browser, advance_to_next_code, between, form_token};
use crate::http::server::{DEVICE, PASSWORD, Server, status_of};
use crate::support::db::{read_rows, read_value};

const ANY_PAGE: &str = "/desk/corrections";

/// Returns the audit entries, oldest first: action, and the wrong credential.
async fn audit_entries(server: &Server) -> Vec<String> {
    let rows: Vec<(String, Value)> =
        read_rows(&server.bank.pool, "select action, detail from audit_entries order by id").await;
    let words = rows.into_iter().map(|(action, detail)| match detail["wrong"].as_str() {
        Some(wrong) => format!("{action}: {wrong}"),
        None => action,
    });
    words.collect()
}

#[tokio::test]
async fn an_operator_enrols_and_signs_in_with_name_password_and_code() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    let luz = browser.enrol("ate.luz", Role::Finance).await;
    browser.get(ANY_PAGE).await.expect(200).shows("ate.luz (finance)");

    // The code of the enrolment is used up, for other browsers as well.
    let mut other = Browser::new(&server);
    let again = other.sign_in_with("ate.luz", &luz).await.expect(403);
    again.shows("or the code was used before");
    advance_to_next_code(&server.clock);
    let code = luz.code(server.clock.now());
    for (name, password, code) in [
        ("ate.luz", "rain on a tin rooff", &*code),
        ("ate.luz", PASSWORD, "000000"),
        ("kuya.ben", PASSWORD, &code),
    ] {
        let refused = other.sign_in(name, password, code).await;
        assert_eq!(refused.status, 403, "{name} {password} {code}");
        refused.shows("do not match");
        other.get(ANY_PAGE).await.expect(303);
    }
    other.sign_in("ate.luz", PASSWORD, &code).await.expect_redirect("/desk");
    other.get(ANY_PAGE).await.expect(200);
    let mut third = Browser::new(&server);
    assert_eq!(third.sign_in("ate.luz", PASSWORD, &code).await.status, 403, "a code is used once");
    let expected = [
        "operator_add",
        "enrolment_look",
        "enrolment",
        "sign_in_refused: code used",
        "sign_in_refused: password",
        "sign_in_refused: code",
        "sign_in_refused: name",
        "sign_in",
        "sign_in_refused: code used",
    ];
    assert_eq!(audit_entries(&server).await, expected);
}

/// A persistent client does not fill the audit log: a locked name adds one row a minute, unknown
/// names add five rows per address.
#[tokio::test]
async fn a_persistent_client_does_not_fill_the_audit_log() {
    let server = Server::new().await;
    Browser::enrolled(&server, "ate.luz", Role::Finance).await;
    let mut other = Browser::new(&server);
    for attempt in 0..12 {
        other.sign_in("ate.luz", "rain on a tin rooff", "000000").await;
        other.sign_in(&format!("kuya.{attempt}"), PASSWORD, "000000").await;
    }
    let noted = audit_entries(&server).await;
    let count = |what: &str| noted.iter().filter(|noted| *noted == what).count();
    assert_eq!(count("sign_in_refused: password"), 5, "{noted:?}");
    assert_eq!(count("sign_in_refused: locked"), 1, "{noted:?}");
    assert_eq!(count("sign_in_refused: name"), 5, "{noted:?}");
}

/// Returns the second factor as stored in the database.
async fn stored_factor(server: &Server) -> Vec<u8> {
    read_value(&server.bank.pool, "select totp_secret from operator_credentials").await
}

#[tokio::test]
async fn second_factors_are_stored_sealed_and_resealed_at_their_next_use() {
    const PLAIN: &[u8] = b"12345678901234567890";
    let server = Server::new().await;
    Browser::enrolled(&server, "ate.luz", Role::Viewer).await;
    let sealed = stored_factor(&server).await;
    assert_eq!(sealed.len(), PLAIN.len() + bahay::auth::SEAL_BYTES);
    let store = async |bytes: &[u8]| {
        let stored = sqlx::query("update operator_credentials set totp_secret = $1").bind(bytes);
        stored.execute(&server.bank.pool).await.unwrap();
    };
    store(PLAIN).await;
    let factor = SecondFactor::from_base32("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ").unwrap();
    for _ in 0..2 {
        advance_to_next_code(&server.clock);
        Browser::new(&server).sign_in_with("ate.luz", &factor).await.expect(303);
        let stored = stored_factor(&server).await;
        assert_eq!(stored.len(), sealed.len());
        assert!(!stored.windows(8).any(|part| part == &PLAIN[..8]));
    }
    // Sealed under a key that this server does not have.
    let mut other = stored_factor(&server).await;
    other[1] ^= 1;
    store(&other).await;
    advance_to_next_code(&server.clock);
    Browser::new(&server).sign_in_with("ate.luz", &factor).await.expect(500);
}

#[tokio::test]
async fn attempts_per_name_are_limited() {
    let server = Server::new().await;
    let luz = Browser::new(&server).enrol("ate.luz", Role::Viewer).await;
    advance_to_next_code(&server.clock);
    let mut browser = Browser::new(&server);
    for _ in 0..5 {
        browser.sign_in("ate.luz", "a wrong password", "123456").await.expect(403);
    }
    browser.sign_in_with("ate.luz", &luz).await.expect(429);
    server.clock.advance(Duration::from_secs(61));
    browser.sign_in_with("ate.luz", &luz).await.expect(303);
}

#[tokio::test]
async fn sessions_end_when_idle_when_old_and_with_their_operator() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    let luz = browser.enrol("ate.luz", Role::Viewer).await;
    for _ in 0..3 {
        server.clock.advance(Duration::from_mins(29));
        browser.get(ANY_PAGE).await.expect(200);
    }
    server.clock.advance(Duration::from_mins(31));
    let ended = browser.get(ANY_PAGE).await;
    ended.expect_redirect("/desk/sign-in?next=%2Fdesk%2Fcorrections");

    let again = async |browser: &mut Browser<'_>| {
        advance_to_next_code(&server.clock);
        browser.sign_in_with("ate.luz", &luz).await.expect(303);
    };
    again(&mut browser).await;
    for _ in 0..36 {
        browser.get(ANY_PAGE).await.expect(200);
        server.clock.advance(Duration::from_mins(20));
    }
    assert_eq!(browser.get(ANY_PAGE).await.status, 303, "after twelve hours");

    again(&mut browser).await;
    let cookies = browser.cookies.clone();
    browser.send(ANY_PAGE, "/desk/sign-out", &[]).await.expect_redirect("/desk/sign-in");
    // The cookie of the known browser remains.
    assert_eq!(browser.cookies.keys().collect::<Vec<_>>(), ["__Host-bahay-desk-browser"]);
    browser.cookies = cookies;
    assert_eq!(browser.get(ANY_PAGE).await.status, 303, "the server has ended the session as well");

    again(&mut browser).await;
    server.disable_operator("ate.luz").await;
    browser.get(ANY_PAGE).await.expect(303);
}

#[tokio::test]
async fn an_enrolment_code_is_valid_once_for_a_day_and_ends_previous_credentials() {
    let server = Server::new().await;
    let mut browser = Browser::new(&server);
    let luz = browser.enrol("ate.luz", Role::Viewer).await;
    let code = server.reset_operator("ate.luz").await;
    let code = code.as_str();
    assert_eq!(browser.get(ANY_PAGE).await.status, 303, "the session has ended");
    advance_to_next_code(&server.clock);
    browser.sign_in_with("ate.luz", &luz).await.expect(403);

    let factor = browser.open_enrolment(code).await;
    let shown = factor.code(server.clock.now());
    for (password, again, shown, words) in [
        ("short one", "short one", &*shown, "at least 12 characters"),
        ("aaaaaaaaaaaa", "aaaaaaaaaaaa", &shown, "choose another one"),
        (PASSWORD, "rain on a tin", &shown, "are not the same"),
        (PASSWORD, PASSWORD, "000000", "not the code"),
    ] {
        let fields =
            [("enrolment", code), ("password", password), ("again", again), ("code", shown)];
        let page = browser.send("/desk/enrolment", "/desk/enrolment/completion", &fields).await;
        page.expect(422).shows(words);
    }
    browser.send_completion(code, &shown).await.expect(303);
    browser.get(ANY_PAGE).await.expect(200);
    browser.send_enrolment(code).await.expect(403);

    let late = server.reset_operator("ate.luz").await;
    server.clock.advance(Duration::from_hours(24));
    browser.send_enrolment(&late).await.expect(403);
}

/// The issuer of a code opens the page before its owner does, and keeps the key that it displays.
#[tokio::test]
async fn the_key_of_an_earlier_opening_is_invalid() {
    let server = Server::new().await;
    let code = server.add_operator("ate.luz", Role::Finance).await;
    let code = code.as_str();
    let mut maker = Browser::new(&server);
    let first = maker.open_enrolment(code).await;
    let mut luz = Browser::new(&server);
    let page = luz.send_enrolment(code).await;
    page.shows("opened 2 times");
    let key = between(&page.text, "Key: <code>", "</code>");
    let second = SecondFactor::from_base32(key).unwrap();
    assert_ne!(first, second);

    // Neither the issuer's browser nor one without a cookie can complete the enrolment, whichever
    // code it sends.
    let mut bare = Browser::new(&server);
    for shown in [first.code(server.clock.now()), second.code(server.clock.now())] {
        for browser in [&mut maker, &mut bare] {
            let refused = browser.send_completion(code, &shown).await.expect(403);
            refused.shows("not the last one to open").hides(key);
        }
    }
    // The owner notices an opening in between and opens the enrolment once more.
    let third = maker.open_enrolment(code).await;
    assert_ne!(third, second);
    let refused = luz.send_completion(code, &second.code(server.clock.now())).await;
    refused.shows("not the last one to open");
    luz.complete_enrolment(code).await;
    advance_to_next_code(&server.clock);
    for factor in [&first, &second, &third] {
        maker.sign_in_with("ate.luz", factor).await.expect(403);
    }
    let openings = "select operator, subject, detail from audit_entries
        where action = 'enrolment_look' order by id";
    let openings: Vec<(Option<Uuid>, String, Value)> = read_rows(&server.bank.pool, openings).await;
    let expected = [1, 2, 3, 4]
        .map(|openings| (None, "operator:ate.luz".to_owned(), json!({ "openings": openings })));
    assert_eq!(openings, expected);
}

/// The token that binds an enrolment to a browser is not stored in plain text.
#[tokio::test]
async fn openings_of_an_enrolment_are_limited() {
    let server = Server::new().await;
    let code = server.add_operator("ate.luz", Role::Finance).await;
    let mut browser = Browser::new(&server);
    for _ in 0..50 {
        browser.open_enrolment(&code).await;
    }
    let cookie = browser.cookies["__Host-bahay-desk-enrolment"].clone();
    let stored: Value =
        read_value(&server.bank.pool, "select to_jsonb(e) from operator_enrolments e").await;
    assert!(!stored.to_string().contains(&cookie), "{stored}");
    browser.send_enrolment(&code).await.expect(403);
}

/// Exhausts the attempts that one address has in a minute.
async fn exhaust_attempts(browser: &mut Browser<'_>) {
    for _ in 0..5 {
        browser.sign_in("ate.luz", "a wrong password", "123456").await.expect(403);
    }
    browser.sign_in("ate.luz", "a wrong password", "123456").await.expect(429);
}

/// Failed attempts from the operator's address do not lock the operator out of a known browser.
#[tokio::test]
async fn attempts_from_a_known_browser_are_counted_separately() {
    let server = Server::new().await;
    let mut luz = Browser::new(&server);
    let factor = luz.enrol("ate.luz", Role::Viewer).await;
    let ben = Browser::enrolled(&server, "kuya.ben", Role::Admin).await;
    let shown = || {
        advance_to_next_code(&server.clock);
        factor.code(server.clock.now())
    };
    luz.send(ANY_PAGE, "/desk/sign-out", &[]).await;
    let mut other = Browser::new(&server);
    exhaust_attempts(&mut other).await;
    luz.sign_in("ate.luz", PASSWORD, &shown()).await.expect(303);

    // Invented cookies, and those of another operator, are not sources of their own.
    let made_up = bahay::auth::BrowserToken::random().reveal().to_owned();
    for cookie in [made_up.clone(), ben.cookies["__Host-bahay-desk-browser"].clone()] {
        other.cookies.insert("__Host-bahay-desk-browser".to_owned(), cookie);
        other.sign_in("ate.luz", PASSWORD, "000000").await.expect(429);
    }
    // A known browser has as many attempts as an address.
    let known = luz.cookies["__Host-bahay-desk-browser"].clone();
    exhaust_attempts(&mut luz).await;

    // A planted cookie is not adopted.
    server.clock.advance(Duration::from_secs(61));
    other.cookies.insert("__Host-bahay-desk-browser".to_owned(), made_up.clone());
    other.sign_in("ate.luz", PASSWORD, &shown()).await.expect(303);
    assert_ne!(other.cookies["__Host-bahay-desk-browser"], made_up);

    // A reset forgets the operator's browsers.
    let code = server.reset_operator("ate.luz").await;
    let factor = Browser::new(&server).complete_enrolment(&code).await;
    server.clock.advance(Duration::from_secs(61));
    exhaust_attempts(&mut Browser::new(&server)).await;
    assert_eq!(luz.cookies["__Host-bahay-desk-browser"], known);
    luz.sign_in_with("ate.luz", &factor).await.expect(429);
}

/// A client of players behind the operator's address exhausts the rate limit of sign-ins.
#[tokio::test]
async fn players_and_pages_do_not_exhaust_the_rate_limit_of_operators() {
    let rate = Rate { per_second: 1, burst: 4 };
    let server = Server::with_rate_limits(|limits| limits.sign_ins_per_address = rate).await;
    let mut luz = Browser::new(&server);
    let factor = luz.enrol("ate.luz", Role::Viewer).await;
    let guest = json!({ "device_id": DEVICE });
    let mut tries = 0;
    while status_of(server.post("/v1/sign-in/guest", &guest)).await != 429 {
        tries += 1;
        assert!(tries < 1_000, "players are rate limited");
    }
    for _ in 0..20 {
        luz.get("/desk/sign-in").await.expect(200);
        luz.get("/desk/enrolment").await.expect(200);
    }
    // A visitor's form is rate limited; the known browser is exempt.
    let mut other = Browser::new(&server);
    let mut tries = 0;
    loop {
        let page = other.sign_in(&format!("nobody.{tries}"), PASSWORD, "000000").await;
        if page.status == 429 {
            page.shows("from this address");
            break;
        }
        assert_eq!(page.status, 403, "{}", page.text);
        tries += 1;
        assert!(tries < 1_000, "operators are rate limited");
    }
    advance_to_next_code(&server.clock);
    luz.sign_in_with("ate.luz", &factor).await.expect(303);
}

#[tokio::test]
async fn forms_of_other_origins_are_rejected() {
    let server = Server::new().await;
    let mut browser = Browser::enrolled(&server, "ate.luz", Role::Viewer).await;
    let page = browser.get(ANY_PAGE).await;
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
        assert!(refused.text.contains("was not sent from a page of the desk"), "{site}");
    }
    browser.site = "same-origin";
    // A request with neither header is not a browser's; an origin is compared with the host.
    let jar = format!("__Host-bahay-desk={}", browser.cookies["__Host-bahay-desk"]);
    for (origin, status) in [(None, 403), (Some("https://evil.example"), 403), (Some("null"), 403)]
    {
        let mut request = server.request(Method::POST, "/desk/sign-out").header("cookie", &jar);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let kind = "application/x-www-form-urlencoded";
        let request = request.header("content-type", kind).body(format!("form_token={token}"));
        assert_eq!(request.send().await.unwrap().status(), status, "{origin:?}");
    }
    assert_eq!(browser.get(ANY_PAGE).await.status, 200, "still signed in");
    browser.send_with(&token, "/desk/sign-out", &[]).await.expect(303);
}

#[tokio::test]
async fn the_stylesheet_and_the_script_are_cached_under_hashed_paths() {
    let server = Server::new().await;
    let page = Browser::new(&server).get("/desk/sign-in").await.text;
    for (before, after, kind) in [
        ("href=\"/desk/assets/", "\"", "text/css"),
        ("src=\"/desk/assets/", "\"", "text/javascript"),
    ] {
        let path = format!("/desk/assets/{}", between(&page, before, after));
        let response = server.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-type").starts_with(kind), "{path}");
        assert!(header("cache-control").contains("immutable"), "{path}");
    }
    assert_eq!(status_of(server.request(Method::GET, "/desk/assets/desk-0.css")).await, 404);
    let policy = server.request(Method::GET, "/desk/sign-in").send().await.unwrap();
    assert_eq!(policy.headers()["cache-control"], "no-store");
}
