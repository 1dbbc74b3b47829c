//! The REST calls that a client makes on its way to a table.

use serde_json::{Value, json};

use crate::model_server::{ModelServer, PLAYER};
use crate::reply::Reply;

/// A request of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestRequest {
    /// The method in capitals.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The token of the header `Authorization`.
    pub bearer: Option<String>,
    pub body: String,
}

impl ModelServer {
    /// Answers a request.
    pub fn answer_request(&mut self, now_ms: i64, request: &RestRequest) -> Reply {
        let RestRequest { method, path, bearer, body } = request;
        let body: Option<Value> = serde_json::from_str(body).ok();
        let field = |name: &str| {
            let value = body.as_ref().and_then(|body| body.get(name)).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        match (method.as_str(), path.as_str()) {
            ("POST", "/v1/sign-in/guest") => match field("device_id") {
                Some(device) if (16..=128).contains(&device.len()) => self.sign_in(now_ms, device),
                _ => self.refuse_body("a sign-in without a device id of 16 to 128 characters"),
            },
            ("POST", "/v1/token/refresh") => match field("refresh_token") {
                Some(token) => self.refresh(now_ms, &token, field("device_id").as_deref()),
                None => self.refuse_body("a refresh without a refresh token"),
            },
            _ => {
                let is_valid = bearer.as_deref().is_some_and(|one| self.is_valid(one, now_ms));
                if !is_valid {
                    return Reply::problem(401, "token_expired");
                }
                self.answer_player(now_ms, method, path)
            }
        }
    }

    fn answer_player(&mut self, now_ms: i64, method: &str, path: &str) -> Reply {
        let ok = |body| Reply::new(200, body);
        match (method, path) {
            ("GET", "/v1/me") => ok(json!({ "id": PLAYER, "name": "player", "kind": "guest" })),
            ("GET", "/v1/me/wallet") => ok(json!({ "available": 1_170, "held": 0 })),
            ("GET", "/v1/rooms") => ok(json!({ "items": [] })),
            ("POST", "/v1/play/tickets") => ok(json!({ "ticket": self.issue_ticket(now_ms) })),
            ("GET", "/v1/table") | ("POST", "/v1/practice-tables") => self.seated_reply(),
            ("POST", path) if path.starts_with("/v1/rooms/") && path.ends_with("/seat") => {
                self.seated_reply()
            }
            _ => Reply::problem(404, "route_not_found"),
        }
    }

    fn seated_reply(&self) -> Reply {
        match self.seated_table() {
            Some(table) => Reply::new(200, json!({ "table": table })),
            None => Reply::problem(404, "not_seated"),
        }
    }

    fn refuse_body(&mut self, violation: &str) -> Reply {
        self.record_violation(violation);
        Reply::problem(422, "body_invalid")
    }
}
