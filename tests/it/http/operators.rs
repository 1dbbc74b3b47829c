//! Who may do what under `/v1/operator`, and how operators come and go.

use std::process::{Command, Output, Stdio};

use bahay::operators::Role;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::server::{Server, expect_refusal, ok, refused};

const CORRECTIONS: &str = "/v1/operator/corrections";

/// Somebody who calls a route.
const CALLERS: [&str; 6] = ["nobody", "player", "viewer", "support", "finance", "admin"];

/// Every route that came with rewards and operators, by every caller: the status that it gets.
#[tokio::test]
async fn every_route_lets_in_those_it_is_for() {
    let server = Server::new().await;
    let guest = server.node.guest("device-0123456789").await;
    let luz = server.operator("ate.luz", Role::Finance).await;
    let ask = async || {
        let body = json!({
            "kind": "adjustment", "player": guest.id, "amount": 100, "reason": "for the test only"
        });
        let ask = server.node.post(CORRECTIONS, &body).bearer_auth(&luz);
        let asked = ok(ask.header("Idempotency-Key", Uuid::new_v4().to_string())).await;
        asked["id"].as_str().unwrap().to_owned()
    };
    let id = ask().await;
    let mut tokens = vec![None, Some(guest.access_token.clone())];
    for role in Role::ALL {
        tokens.push(Some(server.session(&format!("the.{role}"), role).await));
    }
    let adjustment = json!({
        "kind": "adjustment", "player": guest.id, "amount": 100, "reason": "for the test only"
    });
    let rejection = json!({ "reason": "not in our books" });
    let [approval, rejected] = ["approval", "rejection"];
    let one = format!("{CORRECTIONS}/{id}");
    let routes = [
        (Method::GET, "/v1/me/rewards".to_owned(), None, [401, 200, 401, 401, 401, 401]),
        (Method::POST, "/v1/me/rewards/daily".into(), None, [401, 200, 401, 401, 401, 401]),
        // 409: let in, and not due.
        (Method::POST, "/v1/me/rewards/relief".into(), None, [401, 409, 401, 401, 401, 401]),
        (Method::GET, "/v1/me/wallet/entries".into(), None, [401, 200, 401, 401, 401, 401]),
        (Method::GET, CORRECTIONS.into(), None, [401, 401, 200, 200, 200, 200]),
        (Method::GET, one, None, [401, 401, 200, 200, 200, 200]),
        (Method::POST, CORRECTIONS.into(), Some(adjustment), [401, 401, 403, 403, 201, 201]),
        (Method::POST, approval.into(), None, [401, 401, 403, 403, 200, 200]),
        (Method::POST, rejected.into(), Some(rejection), [401, 401, 403, 403, 200, 200]),
    ];
    for (method, path, body, expected) in routes {
        for ((caller, token), status) in CALLERS.iter().zip(&tokens).zip(expected) {
            // Each decision is on a request of its own.
            let path = match path.as_str() {
                "approval" | "rejection" => format!("{CORRECTIONS}/{}/{path}", ask().await),
                path => path.to_owned(),
            };
            let mut request = server.node.request(method.clone(), &path);
            request = request.header("Idempotency-Key", Uuid::new_v4().to_string());
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            if let Some(body) = &body {
                request = request.json(body);
            }
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{method} {path} by {caller}");
            if status == 403 {
                let refusal = super::server::refusal(response).await;
                assert_eq!(refusal.1, "operator_role_missing", "{method} {path} by {caller}");
            }
        }
    }
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn tokens_of_players_and_operators_do_not_open_each_others_doors() {
    let server = Server::new().await;
    let guest = server.node.guest("device-0123456789").await;
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
async fn what_operators_change_needs_a_key() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Finance).await;
    let id = Uuid::new_v4();
    for path in ["", &format!("/{id}/approval"), &format!("/{id}/rejection")] {
        let request = server.node.post(&format!("{CORRECTIONS}{path}"), &json!({}));
        let refusal = refused(request.bearer_auth(&luz)).await;
        assert_eq!(refusal, (400, "idempotency_key_missing".into()), "{path}");
    }
}

fn bahay(server: &Server, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bahay"));
    command.env_clear().env("DATABASE_URL", server.bank.database.url()).stdin(Stdio::null());
    command.arg("operator").args(arguments).output().unwrap()
}

/// The one line that a command prints.
fn line(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap().trim_end().to_owned()
}

fn complains(output: &Output, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(words), "{said}");
}

#[tokio::test]
async fn operators_are_made_disabled_and_given_new_tokens_by_command() {
    let server = Server::new().await;
    let said = line(&bahay(&server, &["add", "ate.luz", "--role", "finance"]));
    let (token, enrolment) = said.split_once('\n').unwrap();
    let token = token.to_owned();
    assert!(enrolment.starts_with("bahay_en_") && enrolment.len() == 52, "{enrolment}");
    ok(server.node.get(CORRECTIONS, &token)).await;
    let reset = line(&bahay(&server, &["reset", "ate.luz"]));
    assert!(reset.starts_with("bahay_en_") && reset != enrolment, "{reset}");
    expect_refusal(server.node.get(CORRECTIONS, &token), 401, "operator_token_unknown").await;
    complains(&bahay(&server, &["add", "ate.luz", "--role", "admin"]), "there is an operator");
    complains(&bahay(&server, &["add", "Luz", "--role", "admin"]), "an operator's name is");
    complains(&bahay(&server, &["add", "luz", "--role", "root"]), "a role is viewer");

    let renewed = line(&bahay(&server, &["renew", "ate.luz"]));
    assert_ne!(renewed, token);
    expect_refusal(server.node.get(CORRECTIONS, &token), 401, "operator_token_unknown").await;
    ok(server.node.get(CORRECTIONS, &renewed)).await;

    line(&bahay(&server, &["add", "kuya.ben", "--role", "viewer"]));
    assert_eq!(line(&bahay(&server, &["disable", "ate.luz"])), "");
    expect_refusal(server.node.get(CORRECTIONS, &renewed), 401, "operator_token_unknown").await;
    complains(&bahay(&server, &["disable", "ate.luz"]), "there is no operator ate.luz");
    complains(&bahay(&server, &["renew", "ate.luz"]), "there is no operator ate.luz");
    complains(&bahay(&server, &["reset", "ate.luz"]), "there is no operator ate.luz");
    let listed = line(&bahay(&server, &["list"]));
    let lines: Vec<_> = listed.lines().collect();
    assert!(
        lines[0].starts_with("ate.luz ") && lines[0].contains("  finance  since 20"),
        "{listed}"
    );
    assert!(lines[0].contains("  disabled 20"), "{listed}");
    assert!(lines[1].starts_with("kuya.ben ") && !lines[1].contains("disabled"), "{listed}");
    assert_eq!(lines.len(), 2);
    assert!(!listed.contains("bahay_"));
    // The database keeps no token, and the serving role gives nobody another role.
    let rows: Vec<Value> = sqlx::query_scalar("select to_jsonb(o) from operators o")
        .fetch_all(&server.bank.pool)
        .await
        .unwrap();
    assert!(!format!("{rows:?}").contains(&renewed["bahay_op_".len()..]));
    let change = sqlx::query("update operators set role = 'admin'").execute(&server.bank.pool);
    assert!(change.await.unwrap_err().to_string().contains("permission denied"));
}
