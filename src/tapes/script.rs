//! The lines of a tape, in order.

use bahay_engine::catalog::AnyGame;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::ws::protocol::Message;
use crate::ws::protocol::brief::{Form, FormError, Shorthand};

/// Hexadecimal digits of a digest that are written: enough to tell views apart.
const DIGEST_CHARS: usize = 16;

/// A tape that is being written.
#[derive(Debug)]
pub(super) struct Script {
    text: String,
    form: Form,
    shorthand: Shorthand,
    at_ms: i64,
}

impl Script {
    /// `header` says what the tape is about.
    pub(super) fn new(form: Form, header: &Value) -> Self {
        let shorthand = Shorthand::new(form);
        Self { text: format!("{header}\n"), form, shorthand, at_ms: 0 }
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// What follows happens then, in the server's time; never before what came before.
    pub(super) fn at(&mut self, ms: i64) {
        self.at_ms = self.at_ms.max(ms);
    }

    /// A line that happens now.
    pub(super) fn now(&mut self, mut line: Value) {
        line["at"] = self.at_ms.into();
        self.line(&line);
    }

    /// A line that says what follows from the one before.
    pub(super) fn line(&mut self, line: &Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }

    /// A new connection begins.
    pub(super) fn connect(&mut self) {
        self.shorthand = Shorthand::new(self.form);
    }

    /// A message of the server, as it goes over the wire.
    pub(super) fn heard(&mut self, message: &Message<AnyGame>) -> Result<(), FormError> {
        let bytes = self.written(message)?;
        self.now(said(&bytes, self.form));
        Ok(())
    }

    /// The same on the connection before, where it is too late.
    pub(super) fn heard_before(&mut self, late: &Value) {
        let mut late = late.clone();
        late["on"] = "before".into();
        self.now(late);
    }

    /// A message as a line, without writing it down.
    pub(super) fn as_line(&mut self, message: &Message<AnyGame>) -> Result<Value, FormError> {
        let bytes = self.written(message)?;
        Ok(said(&bytes, self.form))
    }

    pub(super) fn text(self) -> String {
        self.text
    }

    fn written(&mut self, message: &Message<AnyGame>) -> Result<Vec<u8>, FormError> {
        let mut bytes = Vec::new();
        self.shorthand.write(message, &mut bytes)?;
        Ok(bytes)
    }
}

fn said(bytes: &[u8], form: Form) -> Value {
    match form {
        Form::Full | Form::Brief => json!({ "heard": String::from_utf8_lossy(bytes) }),
        Form::Compact => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "bytes": digits })
        }
    }
}

/// What stands for a value: its text with sorted keys, without spaces and without nulls in objects,
/// and of that the beginning of the SHA-256 in hexadecimal.
pub(super) fn digest(value: &Value) -> String {
    let text = without_nulls(value).to_string();
    let digest = Sha256::digest(text.as_bytes());
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..DIGEST_CHARS].to_owned()
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, field)| !field.is_null());
            // `serde_json` keeps the keys of its maps in order.
            Value::Object(fields.map(|(key, field)| (key.clone(), without_nulls(field))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{digest, without_nulls};
    use serde_json::json;

    #[test]
    fn a_digest_passes_over_nulls_in_objects_and_the_order_of_keys() {
        let one = json!({ "b": 1, "a": { "d": null, "c": [null, 2] } });
        assert_eq!(without_nulls(&one).to_string(), r#"{"a":{"c":[null,2]},"b":1}"#);
        assert_eq!(digest(&one), digest(&json!({ "a": { "c": [null, 2] }, "b": 1, "e": null })));
        assert_ne!(digest(&one), digest(&json!({ "a": { "c": [2] }, "b": 1 })));
    }
}
