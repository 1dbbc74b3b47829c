//! asyncapi.yaml: the machine-readable description of the socket, generated from the types that it
//! sends and reads, so that it cannot differ from them.
//!
//! Schemas come from `schemars` on the types, examples from `examples`, limits and close codes from
//! the constants that the session uses. Only the prose and the frame of the document are written by
//! hand. Keys are sorted, so that the document is reproducible.

use std::collections::BTreeMap;

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::Game;
use bahay_engine::table::{REVEAL_MS, TEXT_BYTES_MAX};
use bahay_protocol::brief::Form;
use bahay_protocol::limits::{
    AUTHENTICATE_ID, AUTHENTICATE_TIMEOUT, BURST, JOIN_ID, LinkTimes, PHRASES_BURST,
    PHRASES_REFILL_MS, QUEUED_BYTES_MAX, QUEUED_FRAMES_MAX, REFILL_MS, REJECTIONS_MAX,
    SHUTDOWN_STAGGER, TICKET_LIFE, TICKET_PREFIX, TOKEN_PREFIX,
};
use bahay_protocol::{Command, MESSAGE_BYTES_MAX, Message, Tag, close};
use bahay_shell::Limits;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::examples;
use super::refusals::refusals;
use crate::document::camel_case;

/// The parts of the document, in reading order.
const PARTS: [&str; 7] =
    ["asyncapi", "info", "defaultContentType", "servers", "channels", "operations", "components"];

const ABOUT: &str = "\
The socket of play. Sign in and ask a room for a seat over REST (openapi.yaml), then open the \
socket with the access token and join. docs/PROTOCOL.md describes it in prose.

Texts are JSON objects tagged by `type`. Coins are integers in hundredths of a coin, times are \
integer milliseconds since 1970-01-01 UTC, cards are rank then suit. Unknown fields in a command \
are refused; a client must ignore unknown fields and event types in a message, because later \
versions of `bahay.v1` may add some.

This is `bahay.v1`. `bahay.v1.brief` and `bahay.v1.compact` have shorter forms of updates and \
acks, which docs/PROTOCOL.md describes under \"Shorter messages\".";

const CHANNEL: &str = "\
One connection of one player, at the table where the player sits. The first message is `hello`, \
at once if the request carries the access token, otherwise as the answer to `authenticate`. \
A `join` is followed by a `snapshot` or the missed `update`s, and then by an `update` for every \
change of the table. A table has a version; an update leads from the previous version to its \
own, without gaps or repetitions. Every command is answered exactly once: by an `update` with its \
id as `ack`, the last of its effects; by an `ack`, which never precedes the effects; or by a \
`refusal`.";

/// Returns the document as stored in the repository.
///
/// # Panics
/// Never: the document always serializes.
pub fn asyncapi_yaml() -> String {
    let document = asyncapi();
    let parts = PARTS.map(|part| {
        let part = BTreeMap::from([(part, &document[part])]);
        yaml_serde::to_string(&part).expect("a document of our own serializes")
    });
    parts.map(|part| part.lines().map(quote_boolean_key).collect::<String>()).join("\n")
}

/// Quotes the key `on`, which YAML 1.1 parsers read as true.
fn quote_boolean_key(line: &str) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    match line.trim_start() {
        "- on" => format!("{indent}- 'on'\n"),
        text => match text.strip_prefix("on:") {
            Some(rest) => format!("{indent}'on':{rest}\n"),
            None => format!("{line}\n"),
        },
    }
}

/// Returns the document as a value.
pub fn asyncapi() -> Value {
    let SchemaParts { schemas, commands, messages } = schema_parts();
    let reference = |name: &String| json!({ "$ref": format!("#/channels/play/messages/{name}") });
    let channel_entry = |part: &MessageSchema| {
        (part.name.clone(), json!({ "$ref": format!("#/components/messages/{}", part.name) }))
    };
    let all: Map<String, Value> = commands.iter().chain(&messages).map(channel_entry).collect();
    let names = |parts: &[MessageSchema]| {
        parts.iter().map(|part| reference(&part.name)).collect::<Vec<_>>()
    };
    let answers = ["update", "ack", "refusal"].map(|name| reference(&name.to_owned()));
    let message_schemas: Map<String, Value> =
        commands.iter().chain(&messages).map(|part| (part.name.clone(), part.to_json())).collect();
    sort_keys(json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "bahay: play",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": env!("CARGO_PKG_LICENSE") },
        },
        "defaultContentType": "application/json",
        "servers": {
            "local": {
                "host": "127.0.0.1:8080",
                "protocol": "ws",
                "description": "As `bahay serve` listens by default; wss behind a proxy",
                "security": [{ "$ref": "#/components/securitySchemes/accessToken" }],
            }
        },
        "channels": { "play": channel(&all) },
        "operations": {
            "takeCommand": {
                "action": "receive",
                "title": "A client sends a command",
                "channel": { "$ref": "#/channels/play" },
                "messages": names(&commands),
                "reply": { "channel": { "$ref": "#/channels/play" }, "messages": answers },
            },
            "tell": {
                "action": "send",
                "title": "The server sends a message",
                "channel": { "$ref": "#/channels/play" },
                "messages": names(&messages),
            },
        },
        "components": {
            "securitySchemes": {
                "accessToken": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "The access token of a sign-in, in the `Authorization` header \
                        of the upgrade request. Never in the address. An invalid one is refused \
                        with 401 and a problem document before the socket opens. A client that \
                        cannot set headers omits it, and names the token as a subprotocol or \
                        sends `authenticate` as the first message.",
                }
            },
            "messages": message_schemas,
            "schemas": schemas,
        },
    }))
}

fn channel(messages: &Map<String, Value>) -> Value {
    let codes = close::ALL
        .map(|(code, name, meaning)| json!({ "code": code, "name": name, "meaning": meaning }));
    json!({
        "address": "/v1/play",
        "title": "Play",
        "description": CHANNEL,
        "messages": messages,
        "bindings": {
            "ws": {
                "bindingVersion": "0.1.0",
                "method": "GET",
                "query": join_query(),
                "headers": {
                    "type": "object",
                    "properties": {
                        "Authorization": { "type": "string", "pattern": "^Bearer .+$" },
                        "Origin": {
                            "type": "string",
                            "description": "Sent by browsers. An origin that is neither the \
                                server's own nor in its settings is refused with 403 \
                                `origin_refused`.",
                        },
                        "Sec-WebSocket-Protocol": {
                            "type": "string",
                            "enum": Form::ALL.map(Form::subprotocol),
                            "description": subprotocol_description(),
                        },
                    },
                },
            }
        },
        "x-close-codes": codes,
        "x-limits": {
            "command_bytes_max": MESSAGE_BYTES_MAX,
            "commands_at_once_max": BURST,
            "phrases_at_once_max": PHRASES_BURST,
            "one_more_phrase_every_ms": PHRASES_REFILL_MS,
            "one_more_command_every_ms": REFILL_MS,
            "refusals_for_haste_in_a_row_max": REJECTIONS_MAX,
            "seed_text_bytes_max": TEXT_BYTES_MAX,
            "to_reveal_ms": REVEAL_MS,
            "unread_messages_max": QUEUED_FRAMES_MAX,
            "unread_bytes_max": QUEUED_BYTES_MAX,
            "resumed_updates_max": Limits::SERVICE.resume_updates,
            "to_authenticate_max_s": AUTHENTICATE_TIMEOUT.as_secs(),
            "ticket_life_s": TICKET_LIFE.as_secs(),
            "sent_away_within_ms": u64::try_from(SHUTDOWN_STAGGER.as_millis()).unwrap_or(u64::MAX),
            "ping_after_s": LinkTimes::SERVICE.other.ping_after.as_secs(),
            "silence_max_s": LinkTimes::SERVICE.other.lost_after.as_secs(),
            "asked_ping_after_s": LinkTimes::SERVICE.asked.ping_after.as_secs(),
            "asked_silence_max_s": LinkTimes::SERVICE.asked.lost_after.as_secs(),
        },
    })
}

fn subprotocol_description() -> String {
    format!(
        "The form of the messages. A client may also offer `{TOKEN_PREFIX}` followed by the access \
         token, or `{TICKET_PREFIX}` followed by a ticket, which stands for an `authenticate` with \
         the id {AUTHENTICATE_ID}; the server never selects it."
    )
}

/// Returns the schema of a `join` without its id.
fn join_query() -> Value {
    let mut generator = generator();
    let version = generator.subschema_for::<u64>();
    let mut tag = generator.subschema_for::<Tag>();
    tag.remove("description");
    json!({
        "type": "object",
        "additionalProperties": false,
        "description": format!(
            "Stands for a `join` with the id {JOIN_ID}, but the table learns of the connection \
             only with its first command. No secret is read from the address."
        ),
        "properties": {
            "type": { "const": "join" },
            "from": version,
            "tag": tag,
            "table": { "type": "string", "format": "uuid" },
        },
    })
}

/// The schemas that the types generate.
struct SchemaParts {
    schemas: Map<String, Value>,
    commands: Vec<MessageSchema>,
    messages: Vec<MessageSchema>,
}

/// The schema of one command or message.
struct MessageSchema {
    /// The value of `type`.
    name: String,
    /// The name of the schema.
    schema: String,
    about: String,
    /// An answer carries the id of its command.
    has_id: bool,
    examples: Vec<Value>,
}

impl MessageSchema {
    fn to_json(&self) -> Value {
        let mut message = json!({
            "name": self.name,
            "title": self.schema,
            "summary": self.about,
            "payload": { "$ref": format!("#/components/schemas/{}", self.schema) },
            "examples": self.examples,
        });
        if self.has_id {
            message["correlationId"] = json!({
                "description": "Chosen by the client; the answer to a command carries the same",
                "location": "$message.payload#/id",
            });
        }
        message
    }
}

fn schema_parts() -> SchemaParts {
    let mut generator = generator();
    let command = generator.root_schema_for::<Command<<AnyGame as Game>::Action>>();
    let strict = generator.take_definitions(true);
    let mut generator = self::generator();
    let message = generator.root_schema_for::<Message<AnyGame>>();
    let mut schemas = generator.take_definitions(true);
    // Messages may get further fields; only the types of commands are closed.
    schemas.values_mut().for_each(|schema| change_objects(schema, allow_unknown_fields));
    schemas.extend(strict);
    let commands = parts(command.to_value(), "Command", &mut schemas, &examples::commands());
    let mut message = message.to_value();
    change_objects(&mut message, allow_unknown_fields);
    let messages = parts(message, "Message", &mut schemas, &examples::messages());
    list_refusals(&mut schemas);
    schemas.values_mut().for_each(|schema| change_objects(schema, rewrite_description));
    SchemaParts { schemas, commands, messages }
}

/// Returns a generator of draft 7 schemas, as AsyncAPI uses. Serialized and deserialized forms are
/// equal, so one contract suffices.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft07()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    settings.for_serialize().into_generator()
}

/// Splits an enum into one schema per variant, in the order of the enum.
fn parts<T: Serialize>(
    mut whole: Value,
    kind: &str,
    schemas: &mut Map<String, Value>,
    examples: &[(&str, T)],
) -> Vec<MessageSchema> {
    let variants = match whole["oneOf"].take() {
        Value::Array(variants) => variants,
        other => unreachable!("a tagged enum is described by a list of variants, not {other}"),
    };
    let part = |variant: Value| {
        let text = |value: &Value| value.as_str().map(to_prose).unwrap_or_default();
        let name = text(&variant["properties"]["type"]["const"]);
        let (about, has_id) =
            (text(&variant["description"]), !variant["properties"]["id"].is_null());
        let schema = format!("{}{kind}", camel_case(&name));
        schemas.insert(schema.clone(), variant);
        let examples = select_examples(&name, examples);
        MessageSchema { name, schema, about, has_id, examples }
    };
    variants.into_iter().map(part).collect()
}

fn select_examples<T: Serialize>(name: &str, examples: &[(&str, T)]) -> Vec<Value> {
    let payload = |example: &T| {
        serde_json::to_value(example).expect("what the socket sends can be written as JSON")
    };
    examples
        .iter()
        .map(|(about, example)| json!({ "summary": about, "payload": payload(example) }))
        .filter(|example| example["payload"]["type"] == *name)
        .collect()
}

/// Lists every refusal code next to the field that carries it.
fn list_refusals(schemas: &mut Map<String, Value>) {
    let codes: Vec<Value> = refusals()
        .into_iter()
        .map(|refused| {
            json!({
                "code": refused.code,
                "kind": refused.kind,
                "rule": refused.rule,
                "retryable": refused.retryable,
                "detail": refused.detail,
            })
        })
        .collect();
    if let Some(refusal) = schemas.get_mut("RefusalMessage") {
        refusal["x-refusals"] = Value::Array(codes);
    }
}

/// Applies a change to every object in a value.
fn change_objects(value: &mut Value, change: fn(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            change(fields);
            fields.values_mut().for_each(|field| change_objects(field, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_objects(item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes the constraint that forbids further fields.
fn allow_unknown_fields(schema: &mut Map<String, Value>) {
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        schema.remove("additionalProperties");
    }
}

/// Rewrites a description that comes from a doc comment.
fn rewrite_description(schema: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = to_prose(text);
    }
}

/// Joins the lines of each paragraph, removes code links, and uses JSON's names of values.
fn to_prose(comment: &str) -> String {
    let paragraphs = comment.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    let text = paragraphs.collect::<Vec<_>>().join("\n\n");
    text.replace("[`", "`").replace("`]", "`").replace("`None`", "null")
}

/// Sorts the keys of every object, so that the output does not depend on the build.
fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> =
                fields.into_iter().map(|(key, value)| (key, sort_keys(value))).collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sort_keys).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::to_prose;

    #[test]
    fn a_comment_becomes_prose() {
        assert_eq!(to_prose("One\nline [`Of`] code.\n\nTwo."), "One line `Of` code.\n\nTwo.");
    }
}
