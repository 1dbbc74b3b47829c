//! The routes of openapi.yaml, and the pages about it. `crates/api/tests` checks the document.

use bahay::http::{Code, bound_handlers};
use reqwest::Method;
use serde_json::Value;

use crate::http::server::{Server, ok, refused};

/// Every operation with a security requirement rejects requests without a token, and every
/// operation has a route.
#[tokio::test]
async fn routes_that_require_a_token_refuse_requests_without_one() {
    let server = Server::new().await;
    let document = ok(server.request(Method::GET, "/openapi.json")).await;
    let mut guarded = 0;
    for (path, method, operation) in list_operations(&document) {
        let method: Method = method.to_uppercase().parse().unwrap();
        let path = fill_path(path);
        if operation["security"] == serde_json::json!([]) {
            let response = server.request(method.clone(), &path).send().await.unwrap();
            let body = response.text().await.unwrap();
            assert!(!body.contains("route_not_found"), "{method} {path}");
            continue;
        }
        guarded += 1;
        let refused = refused(server.request(method.clone(), &path)).await;
        assert_eq!(refused, (401, "token_missing".into()), "{method} {path}");
    }
    assert!(guarded >= 8, "{guarded}");
}

#[test]
fn every_operation_has_one_handler_of_its_name() {
    let mut bound = Vec::new();
    for (operation, handler) in bound_handlers() {
        let name = operation.name();
        assert!(handler.ends_with(&format!("::{name}")), "{handler} handles {name}");
        bound.push(name);
    }
    let mut operations: Vec<_> =
        bahay_api::operations().map(|operation| operation.name()).collect();
    bound.sort_unstable();
    operations.sort_unstable();
    assert_eq!(bound, operations);
}

/// Returns the path, the method and the description of each operation of the document.
pub(super) fn list_operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (&**path, &**method, operation))
    })
}

/// Fills the parameters of a path.
pub(super) fn fill_path(path: &str) -> String {
    path.replace("{id}", &uuid::Uuid::nil().to_string())
        .replace("{first}", &uuid::Uuid::nil().to_string())
        .replace("{second}", &uuid::Uuid::max().to_string())
        .replace("{room}", "newbie")
        .replace("{issuer}", "local")
        .replace("{code}", "K7MWQ2XA")
        .replace("{operation}", "1")
        .replace("{job}", "17")
        .replace("{name}", "ate.luz")
        .replace("{sanctions}", "bans")
        .replace("{board}", "coins")
        .replace("{span}", "week")
}

/// Resolves a reference.
pub(super) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap(),
        None => value,
    }
}

#[tokio::test]
async fn the_pages_load_nothing_from_other_hosts() {
    let server = Server::new().await;
    let page = |path: &str| server.request(Method::GET, path).send();
    let response = page("/docs").await.unwrap();
    assert!(response.headers()["content-security-policy"].to_str().unwrap().contains("'self'"));
    let html = response.text().await.unwrap();
    assert!(!html.contains("http"), "{html}");
    for (path, kind) in [
        ("/docs/start.js", "text/javascript; charset=utf-8"),
        ("/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
        ("/docs/swagger-ui.css", "text/css; charset=utf-8"),
    ] {
        assert!(html.contains(path), "{path}");
        let response = page(path).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], kind);
        assert!(!response.headers().contains_key("content-encoding"), "{path}");
    }
    // Clients that accept zstd receive the embedded file unchanged.
    for path in ["/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"] {
        let plain = page(path).await.unwrap().bytes().await.unwrap();
        let request = server.request(Method::GET, path);
        let packed = request.header("accept-encoding", "br, zstd").send().await.unwrap();
        assert_eq!(packed.headers()["content-encoding"], "zstd");
        assert_eq!(packed.headers()["vary"], "accept-encoding");
        let packed = packed.bytes().await.unwrap();
        assert!(3 * packed.len() < plain.len(), "{path}");
        assert_eq!(zstd::decode_all(&*packed).unwrap(), plain, "{path}");
    }
    let problems = page("/problems").await.unwrap().text().await.unwrap();
    for code in Code::ALL {
        assert!(problems.contains(&format!("id=\"{}\"", code.as_str())), "{code:?}");
    }
}
