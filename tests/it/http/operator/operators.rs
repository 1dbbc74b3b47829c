//! Tokens and sessions of operators, and the creation and disabling of operators.

use bahay::operators::Role;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::desk::browser::Browser;
use crate::http::server::{
    REASON, Server, adjustment, expect_refusal, expect_refusal_of, ok, text,
};
use crate::support::db::{read_rows, read_values};
use crate::support::process::run_bahay;

const CORRECTIONS: &str = "/v1/operator/corrections";

const TOKEN: &str = "/v1/operator/token";

#[tokio::test]
async fn player_and_operator_tokens_are_not_interchangeable() {
    let (server, guest) = Server::with_guest().await;
    let luz = server.operator("ate.luz", Role::Admin).await;
    assert!(luz.starts_with("bahay_op_") && luz.len() == 52, "{luz}");
    expect_refusal(server.get(CORRECTIONS, &guest), 401, "token_malformed").await;
    expect_refusal(server.get(CORRECTIONS, &guest.refresh_token), 401, "token_malformed").await;
    expect_refusal(server.get("/v1/me", &luz), 401, "token_malformed").await;
    let unknown = format!("bahay_op_{}", "A".repeat(43));
    expect_refusal(server.get(CORRECTIONS, &unknown), 401, "operator_token_unknown").await;
    let other_case = format!("{}{}", &luz[..51], if luz.ends_with('A') { 'B' } else { 'A' });
    expect_refusal(server.get(CORRECTIONS, &other_case), 401, "operator_token_unknown").await;
    let twice = server.get(CORRECTIONS, &luz).header("authorization", format!("Bearer {luz}"));
    expect_refusal(twice, 401, "token_malformed").await;
    let basic = server.request(Method::GET, CORRECTIONS).basic_auth("ate.luz", Some(&luz));
    expect_refusal(basic, 401, "token_missing").await;
    ok(server.get(CORRECTIONS, &luz)).await;
}

#[tokio::test]
async fn operator_changes_require_an_idempotency_key() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Finance).await;
    let id = Uuid::new_v4();
    for path in ["", &format!("/{id}/approval"), &format!("/{id}/rejection")] {
        let request = server.post_by(&luz, &format!("{CORRECTIONS}{path}"), &json!({}));
        expect_refusal_of(path, request, 400, "idempotency_key_missing").await;
    }
}

#[tokio::test]
async fn operators_are_created_and_disabled_by_command() {
    let server = Server::new().await;
    let run =
        |command: &str| run_bahay(&server.bank.database, format!("operator {command}").split(' '));
    let assert_fails = |command: &str, words: &str| {
        let error = run(command).unwrap_err();
        assert!(error.contains(words), "{command}: {error}");
    };
    let enrolment = run("add ate.luz --role finance").unwrap();
    assert!(enrolment.starts_with("bahay_en_") && enrolment.len() == 52, "{enrolment}");
    let mut browser = Browser::new(&server);
    browser.complete_enrolment(&enrolment).await;
    let token = browser.create_token().await;
    ok(server.get(CORRECTIONS, &token)).await;
    let reset = run("reset ate.luz").unwrap();
    assert!(reset.starts_with("bahay_en_") && reset != enrolment, "{reset}");
    expect_refusal(server.get(CORRECTIONS, &token), 401, "operator_token_unknown").await;
    assert_fails("add ate.luz --role admin", "the operator ate.luz exists already");
    assert_fails("add Luz --role admin", "an operator's name is");
    assert_fails("add luz --role root", "expected viewer");

    browser.complete_enrolment(&reset).await;
    let another = browser.create_token().await;
    assert_ne!(another, token);
    ok(server.get(CORRECTIONS, &another)).await;

    run("add kuya.ben --role viewer").unwrap();
    assert_eq!(run("disable ate.luz").unwrap(), "");
    expect_refusal(server.get(CORRECTIONS, &another), 401, "operator_token_unknown").await;
    assert_fails("disable ate.luz", "there is no active operator ate.luz");
    assert_fails("reset ate.luz", "there is no active operator ate.luz");
    let listed = run("list").unwrap();
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines[0].starts_with("ate.luz ") && lines[0].contains("  disabled 20"), "{listed}");
    assert!(lines[0].contains("  finance  since 20"), "{listed}");
    assert!(lines[1].starts_with("kuya.ben ") && !lines[1].contains("disabled"), "{listed}");
    assert_eq!(lines.len(), 2);
    assert!(!listed.contains("bahay_"));
    // The database stores no token, and the serving role cannot change a name.
    let rows: Vec<Value> =
        read_values(&server.bank.pool, "select to_jsonb(o) from operators o").await;
    assert!(!format!("{rows:?}").contains(&another["bahay_op_".len()..]));
    let change = sqlx::query("update operators set name = 'luz'").execute(&server.bank.pool);
    assert!(change.await.unwrap_err().to_string().contains("permission denied"));
}

/// An operator creates a token only for itself, and a token cannot create or replace a token.
#[tokio::test]
async fn a_token_is_created_in_a_session_and_recorded_in_the_audit() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let create = |by: &str| server.call(Method::POST, TOKEN, by);
    let revoke = |by: &str| server.call(Method::DELETE, TOKEN, by);
    let created = ok(create(&luz)).await;
    assert_eq!(created["expires_at"], "2026-05-30T12:00:00.000Z");
    let token = text(&created["token"]);
    expect_refusal(create(&token), 403, "second_factor_missing").await;
    expect_refusal(revoke(&token), 403, "second_factor_missing").await;
    let of_other = "/v1/operator/operators/ate.luz/token";
    expect_refusal(server.call(Method::POST, of_other, &luz), 404, "route_not_found").await;

    // A program closes the house with a token; a person opens it in a session.
    let reason = json!({ "reason": "maintenance tonight" });
    for (by, path) in [(&token, "closing"), (&luz, "opening")] {
        ok(server.post_once(by, &format!("/v1/operator/house/{path}"), &reason)).await;
    }
    let another = text(&ok(create(&luz)).await["token"]);
    expect_refusal(server.get(CORRECTIONS, &token), 401, "operator_token_unknown").await;
    ok(server.get(CORRECTIONS, &another)).await;
    ok(revoke(&luz)).await;
    expect_refusal(server.get(CORRECTIONS, &another), 401, "operator_token_unknown").await;
    let noted = "select action, channel from audit_entries where operator is not null order by id";
    let noted: Vec<(String, String)> = read_rows(&server.bank.pool, noted).await;
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
    let reason = json!({ "reason": REASON });
    for (path, body) in [
        (CORRECTIONS.to_owned(), adjustment(player, 1)),
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
        let request = server.post_once(&token, &path, &body);
        expect_refusal_of(path, request, 403, "second_factor_missing").await;
    }
}
