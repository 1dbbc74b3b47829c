//! Access to `/v1/operator` by role, and the creation and disabling of operators.

use std::process::{Command, Output, Stdio};

use bahay::operators::Role;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::desk::browser::Browser;
use crate::http::server::{Server, expect_refusal, expect_refusal_of, ok, text};
use crate::support::db::{read_rows, read_values};

const CORRECTIONS: &str = "/v1/operator/corrections";

const TOKEN: &str = "/v1/operator/token";

/// The callers of a route.
const CALLERS: [&str; 6] = ["nobody", "player", "viewer", "support", "finance", "admin"];

/// The status that each caller gets from every route of rewards and operators.
#[tokio::test]
async fn every_route_admits_the_intended_roles() {
    let (server, guest) = Server::with_guest("device-0123456789").await;
    let luz = server.session("ate.luz", Role::Finance).await;
    let adjustment = json!({
        "kind": "adjustment", "player": guest.id, "amount": 100, "reason": "for the test only"
    });
    let ask = async || text(&ok(server.node.post_once(&luz, CORRECTIONS, &adjustment)).await["id"]);
    let id = ask().await;
    let mut tokens = vec![None, Some(guest.access_token.clone())];
    for role in Role::ALL.iter().copied() {
        tokens.push(Some(server.session(&format!("the.{role}"), role).await));
    }
    let rejection = json!({ "reason": "not in our books" });
    let [approval, rejected] = ["approval", "rejection"];
    let one = format!("{CORRECTIONS}/{id}");
    let routes = [
        (Method::GET, "/v1/me/rewards".to_owned(), None, [401, 200, 401, 401, 401, 401]),
        (Method::POST, "/v1/me/rewards/daily".into(), None, [401, 200, 401, 401, 401, 401]),
        // 409: the caller is admitted, but relief is not due.
        (Method::POST, "/v1/me/rewards/relief".into(), None, [401, 409, 401, 401, 401, 401]),
        (Method::GET, "/v1/me/wallet/entries".into(), None, [401, 200, 401, 401, 401, 401]),
        (Method::GET, CORRECTIONS.into(), None, [401, 401, 200, 200, 200, 200]),
        (Method::GET, one, None, [401, 401, 200, 200, 200, 200]),
        (Method::POST, CORRECTIONS.into(), Some(&adjustment), [401, 401, 403, 403, 201, 201]),
        (Method::POST, approval.into(), None, [401, 401, 403, 403, 200, 200]),
        (Method::POST, rejected.into(), Some(&rejection), [401, 401, 403, 403, 200, 200]),
    ];
    for (method, path, body, expected) in routes {
        for ((caller, token), status) in CALLERS.iter().zip(&tokens).zip(expected) {
            // Each decision concerns a request of its own.
            let path = match path.as_str() {
                "approval" | "rejection" => format!("{CORRECTIONS}/{}/{path}", ask().await),
                path => path.to_owned(),
            };
            let mut request = server.node.request(method.clone(), &path);
            request = request.header("Idempotency-Key", Uuid::new_v4().to_string());
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            if let Some(body) = body {
                request = request.json(body);
            }
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{method} {path} by {caller}");
            if status == 403 {
                let refusal = crate::http::server::refusal(response).await;
                assert_eq!(refusal.1, "operator_role_missing", "{method} {path} by {caller}");
            }
        }
    }
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn player_and_operator_tokens_are_not_interchangeable() {
    let (server, guest) = Server::with_guest("device-0123456789").await;
    let luz = server.operator("ate.luz", Role::Admin).await;
    assert!(luz.starts_with("bahay_op_") && luz.len() == 52, "{luz}");
    expect_refusal(server.node.get(CORRECTIONS, &guest.access_token), 401, "token_malformed").await;
    expect_refusal(server.node.get(CORRECTIONS, &guest.refresh_token), 401, "token_malformed")
        .await;
    expect_refusal(server.node.get("/v1/me", &luz), 401, "token_malformed").await;
    let unknown = format!("bahay_op_{}", "A".repeat(43));
    expect_refusal(server.node.get(CORRECTIONS, &unknown), 401, "operator_token_unknown").await;
    let other_case = format!("{}{}", &luz[..51], if luz.ends_with('A') { 'B' } else { 'A' });
    expect_refusal(server.node.get(CORRECTIONS, &other_case), 401, "operator_token_unknown").await;
    let twice = server.node.get(CORRECTIONS, &luz).header("authorization", format!("Bearer {luz}"));
    expect_refusal(twice, 401, "token_malformed").await;
    let basic = server.node.request(Method::GET, CORRECTIONS).basic_auth("ate.luz", Some(&luz));
    expect_refusal(basic, 401, "token_missing").await;
    ok(server.node.get(CORRECTIONS, &luz)).await;
}

#[tokio::test]
async fn operator_changes_require_an_idempotency_key() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Finance).await;
    let id = Uuid::new_v4();
    for path in ["", &format!("/{id}/approval"), &format!("/{id}/rejection")] {
        let request = server.node.post(&format!("{CORRECTIONS}{path}"), &json!({}));
        expect_refusal_of(path, request.bearer_auth(&luz), 400, "idempotency_key_missing").await;
    }
}

fn run_bahay(server: &Server, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bahay"));
    command.env_clear().env("DATABASE_URL", server.bank.database.url()).stdin(Stdio::null());
    command.arg("operator").args(arguments).output().unwrap()
}

/// Returns the single line that a command prints.
fn output_line(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap().trim_end().to_owned()
}

fn assert_error(output: &Output, words: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains(words), "{stderr}");
}

#[tokio::test]
async fn operators_are_created_and_disabled_by_command() {
    let server = Server::new().await;
    let enrolment = output_line(&run_bahay(&server, &["add", "ate.luz", "--role", "finance"]));
    assert!(enrolment.starts_with("bahay_en_") && enrolment.len() == 52, "{enrolment}");
    let mut browser = Browser::new(&server);
    browser.complete_enrolment(&enrolment).await;
    let token = browser.create_token().await;
    ok(server.node.get(CORRECTIONS, &token)).await;
    let reset = output_line(&run_bahay(&server, &["reset", "ate.luz"]));
    assert!(reset.starts_with("bahay_en_") && reset != enrolment, "{reset}");
    expect_refusal(server.node.get(CORRECTIONS, &token), 401, "operator_token_unknown").await;
    assert_error(
        &run_bahay(&server, &["add", "ate.luz", "--role", "admin"]),
        "the operator ate.luz exists already",
    );
    assert_error(&run_bahay(&server, &["add", "Luz", "--role", "admin"]), "an operator's name is");
    assert_error(&run_bahay(&server, &["add", "luz", "--role", "root"]), "expected viewer");

    browser.complete_enrolment(&reset).await;
    let another = browser.create_token().await;
    assert_ne!(another, token);
    ok(server.node.get(CORRECTIONS, &another)).await;

    output_line(&run_bahay(&server, &["add", "kuya.ben", "--role", "viewer"]));
    assert_eq!(output_line(&run_bahay(&server, &["disable", "ate.luz"])), "");
    expect_refusal(server.node.get(CORRECTIONS, &another), 401, "operator_token_unknown").await;
    assert_error(
        &run_bahay(&server, &["disable", "ate.luz"]),
        "there is no active operator ate.luz",
    );
    assert_error(&run_bahay(&server, &["reset", "ate.luz"]), "there is no active operator ate.luz");
    let listed = output_line(&run_bahay(&server, &["list"]));
    let lines: Vec<_> = listed.lines().collect();
    assert!(
        lines[0].starts_with("ate.luz ") && lines[0].contains("  finance  since 20"),
        "{listed}"
    );
    assert!(lines[0].contains("  disabled 20"), "{listed}");
    assert!(lines[1].starts_with("kuya.ben ") && !lines[1].contains("disabled"), "{listed}");
    assert_eq!(lines.len(), 2);
    assert!(!listed.contains("bahay_"));
    // The database stores no token, and the serving role cannot change a role.
    let rows: Vec<Value> =
        read_values(&server.bank.pool, "select to_jsonb(o) from operators o").await;
    assert!(!format!("{rows:?}").contains(&another["bahay_op_".len()..]));
    let change = sqlx::query("update operators set role = 'admin'").execute(&server.bank.pool);
    assert!(change.await.unwrap_err().to_string().contains("permission denied"));
}

/// An operator creates a token only for itself, and a token cannot create or replace a token.
#[tokio::test]
async fn a_token_is_created_in_a_session_and_recorded_in_the_audit() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let create = |by: &str| server.node.request(Method::POST, TOKEN).bearer_auth(by);
    let revoke = |by: &str| server.node.request(Method::DELETE, TOKEN).bearer_auth(by);
    let created = ok(create(&luz)).await;
    assert_eq!(created["expires_at"], "2026-05-30T12:00:00.000Z");
    let token = created["token"].as_str().unwrap().to_owned();
    expect_refusal(create(&token), 403, "second_factor_missing").await;
    expect_refusal(revoke(&token), 403, "second_factor_missing").await;
    let of_other = "/v1/operator/operators/ate.luz/token";
    let of_other = server.node.request(Method::POST, of_other).bearer_auth(&luz);
    expect_refusal(of_other, 404, "route_not_found").await;

    // A program closes the house with a token; a person opens it in a session.
    let reason = json!({ "reason": "maintenance tonight" });
    for (by, path) in [(&token, "closing"), (&luz, "opening")] {
        ok(server.node.post_once(by, &format!("/v1/operator/house/{path}"), &reason)).await;
    }
    let another = ok(create(&luz)).await["token"].as_str().unwrap().to_owned();
    expect_refusal(server.node.get(CORRECTIONS, &token), 401, "operator_token_unknown").await;
    ok(server.node.get(CORRECTIONS, &another)).await;
    ok(revoke(&luz)).await;
    expect_refusal(server.node.get(CORRECTIONS, &another), 401, "operator_token_unknown").await;
    let noted: Vec<(String, String)> = read_rows(
        &server.bank.pool,
        "select action, channel from audit_entries where operator is not null order by id",
    )
    .await;
    let expected = [
        ("enrolment", "api"),
        ("token_create", "api"),
        ("house_close", "token"),
        ("house_open", "api"),
        ("token_create", "api"),
        ("token_revoke", "api"),
    ];
    assert_eq!(noted, expected.map(|(action, way)| (action.to_owned(), way.to_owned())));
}

/// A copied token moves no coins, ends no game, shows no hand and disables no operator.
#[tokio::test]
async fn a_token_does_not_permit_actions_that_require_a_session() {
    let server = Server::new().await;
    let player = server.bank.player(1_000).await;
    let token = server.operator("ate.luz", Role::Admin).await;
    server.session("kuya.ben", Role::Finance).await;
    let table = format!("/v1/operator/tables/{}", Uuid::new_v4());
    let operator = "/v1/operator/operators/kuya.ben";
    let reason = json!({ "reason": "for the test only" });
    let adjustment = json!({
        "kind": "adjustment", "player": player, "amount": 1, "reason": "for the test only"
    });
    for (path, body) in [
        (CORRECTIONS.to_owned(), adjustment),
        (format!("{CORRECTIONS}/{}/approval", Uuid::new_v4()), json!({})),
        (format!("{CORRECTIONS}/{}/rejection", Uuid::new_v4()), reason.clone()),
        (format!("{table}/hands-look"), reason.clone()),
        (format!("{table}/voiding"), reason.clone()),
        (format!("{table}/release"), json!({})),
        (format!("{table}/pot-refund"), json!({})),
        ("/v1/operator/operators".to_owned(), json!({ "name": "puppet", "role": "finance" })),
        (format!("{operator}/enrolment"), json!({})),
        (format!("{operator}/disabling"), json!({})),
    ] {
        let request = server.node.post_once(&token, &path, &body);
        expect_refusal_of(path, request, 403, "second_factor_missing").await;
    }
}
