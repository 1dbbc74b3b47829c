//! Players' reports about each other, as operators read and decide them.

use bahay::operators::Role;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::http::server::{Server, expect_refusal, list_players, ok, status_of, text};
use crate::support::bank::{PotGoes, table};
use crate::support::rest::{assert_fields, items};

fn decide(server: &Server, token: &str, report: &str, outcome: &str) -> reqwest::RequestBuilder {
    let body = json!({ "outcome": outcome, "note": "as the record shows" });
    let path = format!("/v1/operator/reports/{report}/decision");
    server.post_once(token, &path, &body)
}

#[tokio::test]
async fn a_report_is_read_by_operators_and_decided_once() {
    let (server, guests) = Server::with_guests(3).await;
    let (game, _) = server.bank.play(table(), &list_players(&guests), 0, 1, PotGoes::Nowhere).await;
    for (number, words) in [(1, Some("They showed each other their cards.")), (2, None)] {
        let body = json!({ "player": guests[number].id, "reason": "collusion", "words": words });
        let report = server.post_by(&guests[0], &format!("/v1/games/{game}/reports"), &body);
        assert_eq!(status_of(report).await, 204);
    }

    let viewer = server.operator("ate.luz", Role::Viewer).await;
    let support = server.operator("kuya.ben", Role::Support).await;
    let list = |query: &str| server.get(&format!("/v1/operator/reports{query}"), &viewer);
    let first = ok(list("?limit=1")).await;
    assert_eq!(first["items"][0]["reported"], guests[2].id.as_str());
    assert_eq!(first["items"][0]["decision"], Value::Null);
    let cursor = text(&first["next_cursor"]);
    let second = ok(list(&format!("?limit=1&cursor={cursor}"))).await;
    assert_fields(&second["items"][0], json!({ "reason": "collusion", "game": game }));
    assert_eq!(second["items"][0]["words"], "They showed each other their cards.");
    assert_eq!(second["next_cursor"], Value::Null);
    // A cursor is valid only for its list and its owner.
    expect_refusal(list(&format!("?state=open&cursor={cursor}")), 422, "cursor_invalid").await;
    let of_other = format!("/v1/operator/reports?cursor={cursor}");
    expect_refusal(server.get(&of_other, &support), 422, "cursor_invalid").await;
    expect_refusal(list("?state=undecided"), 422, "query_invalid").await;
    // Players have no access.
    let path = "/v1/operator/reports";
    expect_refusal(server.get(path, &guests[0]), 401, "token_malformed").await;

    let report = text(&second["items"][0]["id"]);
    expect_refusal(decide(&server, &viewer, &report, "upheld"), 403, "operator_role_missing").await;
    let decided = ok(decide(&server, &support, &report, "upheld")).await;
    assert_eq!(decided["decision"]["outcome"], "upheld");
    assert_eq!(decided["decision"]["note"], "as the record shows");
    expect_refusal(decide(&server, &support, &report, "dismissed"), 409, "report_decided").await;
    let nil = Uuid::nil().to_string();
    expect_refusal(decide(&server, &support, &nil, "upheld"), 404, "report_not_found").await;
    expect_refusal(decide(&server, &support, "x", "upheld"), 422, "path_invalid").await;
    expect_refusal(decide(&server, &support, &report, "perhaps"), 422, "body_invalid").await;
    let without_key = json!({ "outcome": "upheld", "note": "as the record shows" });
    let path = format!("/v1/operator/reports/{report}/decision");
    let without_key = server.post_by(&support, &path, &without_key);
    expect_refusal(without_key, 400, "idempotency_key_missing").await;

    assert_eq!(items(&ok(list("?state=open")).await).len(), 1);
    let closed = ok(list("?state=closed")).await;
    assert_eq!(closed["items"][0]["id"], report.as_str());
    assert_eq!(items(&closed).len(), 1);
}
