//! The lines of a tape, in order.

use bahay_engine::catalog::AnyGame;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use bahay_protocol::Message;
use bahay_protocol::brief::{Form, FormError, Shorthand};

/// The number of hexadecimal digits of a digest, enough to distinguish views.
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
    /// Begins a tape with a header that describes it.
    pub(super) fn new(form: Form, header: &Value) -> Self {
        let shorthand = Shorthand::new(form);
        Self { text: format!("{header}\n"), form, shorthand, at_ms: 0 }
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Advances the time of the following lines, in the server's time. The time never goes back.
    pub(super) fn advance_clock(&mut self, ms: i64) {
        self.at_ms = self.at_ms.max(ms);
    }

    /// Appends a line that happens now.
    pub(super) fn push_timed(&mut self, mut line: Value) {
        line["at"] = self.at_ms.into();
        self.push_line(&line);
    }

    /// Appends a line that follows from the previous one.
    pub(super) fn push_line(&mut self, line: &Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }

    /// Begins a new connection.
    pub(super) fn begin_connection(&mut self) {
        self.shorthand = Shorthand::new(self.form);
    }

    /// Appends a message of the server in its wire form, and returns its line without the time.
    pub(super) fn push_message(&mut self, message: &Message<AnyGame>) -> Result<Value, FormError> {
        let mut bytes = Vec::new();
        self.shorthand.write(message, &mut bytes)?;
        let line = match self.form {
            Form::Full | Form::Brief => json!({ "heard": String::from_utf8_lossy(&bytes) }),
            Form::Compact => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "bytes": digits })
            }
        };
        self.push_timed(line.clone());
        Ok(line)
    }

    /// Appends a message of the previous connection, which arrives too late.
    pub(super) fn push_late_message(&mut self, mut late: Value) {
        late["on"] = "before".into();
        self.push_timed(late);
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Returns the digest of a value: the beginning of the SHA-256, in hexadecimal, of its text with
/// sorted keys, without spaces and without nulls in objects.
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
