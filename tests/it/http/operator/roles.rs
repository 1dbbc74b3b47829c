//! Changes of operators' roles: their effect on sessions and tokens, and their refusals.

use bahay::operators::Role;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::desk::browser::{Browser, advance_to_next_code};
use crate::http::server::{Server, expect_refusal, expect_refusal_of, ok, refusal, status_of};
use crate::support::db::{count_waiting, lock_table, read_values};
use crate::support::process::run_bahay;
use crate::support::waiting::wait_until;

const OPERATORS: &str = "/v1/operator/operators";

const DESK: &str = "/desk/operators";

fn change_role(server: &Server, by: &str, name: &str, role: &str) -> RequestBuilder {
    let path = format!("{OPERATORS}/{name}/role");
    server.call(Method::PUT, &path, by).json(&json!({ "role": role }))
}

/// Returns the token of the browser's session, as programs send it.
fn session_of(browser: &Browser<'_>) -> String {
    browser.cookies["__Host-bahay-desk"].clone()
}

#[tokio::test]
async fn a_demoted_administrator_acts_as_one_no_longer() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let mut ben = Browser::new(&server);
    let factor = ben.enrol("kuya.ben", Role::Admin).await;
    let token = ben.create_token().await;
    let session = session_of(&ben);
    ok(server.get(OPERATORS, &token)).await;
    ok(server.get(OPERATORS, &session)).await;

    assert_eq!(status_of(change_role(&server, &luz, "kuya.ben", "support")).await, 204);
    expect_refusal(server.get(OPERATORS, &token), 401, "operator_token_unknown").await;
    expect_refusal(change_role(&server, &session, "ate.luz", "viewer"), 401, "session_ended").await;
    ben.get(DESK).await.expect(303);
    // Password and second factor remain, and open a session with the new role.
    advance_to_next_code(&server.clock);
    ben.sign_in_with("kuya.ben", &factor).await.expect(303);
    ben.get(DESK).await.expect(403);
    let session = session_of(&ben);
    let change = change_role(&server, &session, "ate.luz", "viewer");
    expect_refusal(change, 403, "operator_role_missing").await;
    // The same role once more ends nothing.
    assert_eq!(status_of(change_role(&server, &luz, "kuya.ben", "support")).await, 204);
    ben.get("/desk/rooms").await.expect(200);

    let entries = "select jsonb_build_object('subject', subject, 'detail', detail)
        from audit_entries where action = 'operator_change_role'";
    let entries: Vec<Value> = read_values(&server.bank.pool, entries).await;
    let detail = json!({ "before": "admin", "after": "support" });
    assert_eq!(entries, [json!({ "subject": "operator:kuya.ben", "detail": detail })]);
}

#[tokio::test]
async fn a_change_of_role_is_refused_to_programs_for_oneself_and_for_the_unknown() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let token = server.operator("kuya.ben", Role::Admin).await;
    server.session("cora", Role::Viewer).await;
    server.disable_operator("cora").await;
    for (case, by, name, role, status, code) in [
        ("token", &token, "ate.luz", "viewer", 403, "second_factor_missing"),
        ("own role", &luz, "ate.luz", "viewer", 409, "operator_own"),
        ("unknown", &luz, "nobody", "viewer", 404, "operator_not_found"),
        ("no name", &luz, "Nobody", "viewer", 404, "operator_not_found"),
        ("disabled", &luz, "cora", "admin", 404, "operator_not_found"),
        ("no role", &luz, "kuya.ben", "root", 422, "body_invalid"),
    ] {
        expect_refusal_of(case, change_role(&server, by, name, role), status, code).await;
    }
    ok(server.get(OPERATORS, &token)).await;
}

/// Both requests are authenticated before either change is made.
#[tokio::test]
async fn two_administrators_who_demote_each_other_leave_one() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let ben = server.session("kuya.ben", Role::Admin).await;
    let owner = server.owner_pool().await;
    let barrier = lock_table(&owner, "operator_sessions in exclusive mode").await;
    let changes = [(&luz, "kuya.ben"), (&ben, "ate.luz")];
    let changes = changes.map(|(by, name)| {
        let change = change_role(&server, by, name, "viewer");
        tokio::spawn(async move {
            let response = change.send().await.unwrap();
            if response.status() == 204 { None } else { Some(refusal(response).await) }
        })
    });
    wait_until("both changes wait", async || count_waiting(&owner).await == 2).await;
    barrier.rollback().await.unwrap();
    let mut refusals = Vec::new();
    for change in changes {
        refusals.extend(change.await.unwrap());
    }
    assert_eq!(refusals, [(409, "last_administrator".to_owned())]);
    let admins = "select name from operators where role = 'admin'";
    assert_eq!(read_values::<String>(&owner, admins).await.len(), 1);
}

#[tokio::test]
async fn a_role_is_changed_at_the_desk_and_by_command() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Viewer).await;
    luz.get(DESK).await.shows("Role of kuya.ben").hides("Role of ate.luz");
    let role = |role| [("role", role)];
    luz.send(DESK, &format!("{DESK}/kuya.ben/role"), &role("finance")).await.expect_redirect(DESK);
    ben.get("/desk/rooms").await.expect(303);
    luz.send(DESK, &format!("{DESK}/ate.luz/role"), &role("viewer")).await.expect(409);
    luz.send(DESK, &format!("{DESK}/kuya.ben/role"), &role("root")).await.expect(422);
    ok(server.get(OPERATORS, &session_of(&luz))).await;

    let run =
        |command: &str| run_bahay(&server.bank.database, format!("operator {command}").split(' '));
    let error = run("change-role ate.luz --role viewer").unwrap_err();
    assert!(error.contains("ate.luz is the only administrator"), "{error}");
    assert_eq!(run("change-role kuya.ben --role admin").unwrap(), "");
    assert_eq!(run("change-role ate.luz --role viewer").unwrap(), "");
    luz.get("/desk/rooms").await.expect(303);
    let listed = run("list").unwrap();
    assert!(listed.contains("  viewer   since") && listed.contains("  admin    since"), "{listed}");
    let error = run("change-role nobody --role viewer").unwrap_err();
    assert!(error.contains("there is no active operator nobody"), "{error}");
}
