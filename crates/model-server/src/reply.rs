//! The answers to REST calls.

use serde_json::{Value, json};

/// An answer of the server. A refusal is a problem document.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
}

impl Reply {
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, body }
    }

    /// Creates a refusal.
    pub fn problem(status: u16, code: &str) -> Self {
        Self { status, body: json!({ "code": code, "detail": code.replace('_', " ") }) }
    }

    /// Returns the header `content-type`.
    pub fn content_type(&self) -> &'static str {
        if self.status < 300 { "application/json" } else { "application/problem+json" }
    }
}
