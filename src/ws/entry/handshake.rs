//! The parts of a socket request beside the upgrade: credentials, as a subprotocol, and a join of
//! the player's table, as the query.
//!
//! A browser can set no other part of such a request. Sent there, the credentials and the join need
//! not wait for the open socket, which saves a round trip. Both are converted to the commands that
//! they stand for, with ids of their own, and handled like first messages. Secrets are never read
//! from the address, because addresses are logged on the way.

use axum::http::HeaderMap;
use axum::http::header::{SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL};
use bahay_engine::table::TableId;
use serde::Deserialize;

use crate::ids::Tag;
use crate::ws::protocol::limits::{AUTHENTICATE_ID, JOIN_ID, TICKET_PREFIX, TOKEN_PREFIX};
use crate::ws::protocol::{Command, Credential};

/// The length of a `Sec-WebSocket-Key` before its padding: 16 bytes in base64.
const KEY_CHARS: usize = 22;

/// Returns true if the request has exactly one `Sec-WebSocket-Key` of 16 bytes in base64 (RFC 6455,
/// 4.2.1).
pub(in crate::ws) fn has_valid_key(headers: &HeaderMap) -> bool {
    let mut keys = headers.get_all(SEC_WEBSOCKET_KEY).iter();
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return false;
    };
    let is_of_alphabet = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    key.as_bytes()
        .strip_suffix(b"==")
        .is_some_and(|key| key.len() == KEY_CHARS && key.iter().all(is_of_alphabet))
}

/// The credentials of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ws) struct Credentials {
    pub(in crate::ws) id: u32,
    pub(in crate::ws) token: Option<Credential>,
    pub(in crate::ws) ticket: Option<Credential>,
}

impl Credentials {
    pub(in crate::ws) fn into_command<A>(self) -> Command<A> {
        let Self { id, token, ticket } = self;
        Command::Authenticate { id, token, ticket }
    }
}

/// The error of a text or query that is no command, with the id if there is one.
#[derive(Debug)]
pub(in crate::ws) struct CommandParseError {
    pub(in crate::ws) id: Option<u32>,
    pub(in crate::ws) detail: String,
}

/// Reads the credentials from the subprotocols; `None` if there are none. More than one token or
/// ticket counts as neither, which is refused.
pub(in crate::ws) fn read_credentials(headers: &HeaderMap) -> Option<Credentials> {
    let mut offered = headers
        .get_all(SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| {
            let name = name.trim();
            let credential = |text: &str| Some(Credential::new(text.to_owned()));
            let token = name.strip_prefix(TOKEN_PREFIX).and_then(credential);
            let ticket = name.strip_prefix(TICKET_PREFIX).and_then(credential);
            (token.is_some() || ticket.is_some()).then_some((token, ticket))
        });
    let (token, ticket) = offered.next()?;
    let (token, ticket) = if offered.next().is_some() { (None, None) } else { (token, ticket) };
    Some(Credentials { id: AUTHENTICATE_ID, token, ticket })
}

/// Reads the `join` that a query stands for; `None` without a query.
pub(in crate::ws) fn read_join<A>(
    query: Option<&str>,
) -> Option<Result<Command<A>, CommandParseError>> {
    let query = query.filter(|query| !query.is_empty())?;
    let read = serde_urlencoded::from_str::<JoinQuery>(query);
    Some(match read {
        Ok(JoinQuery { kind: JoinKind::Join, from, tag, table }) => {
            Ok(Command::Join { id: JOIN_ID, from, tag, table })
        }
        Err(error) => Err(CommandParseError {
            id: Some(JOIN_ID),
            detail: format!("the query is not a join without its id: {error}"),
        }),
    })
}

/// [`Command::Join`] without its id.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JoinQuery {
    #[serde(rename = "type")]
    kind: JoinKind,
    from: Option<u64>,
    tag: Option<Tag>,
    table: Option<TableId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum JoinKind {
    Join,
}

/// Returns the id of a text that is no valid command, if it has one.
pub(in crate::ws) fn readable_id(text: &str) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct WithId {
        id: u32,
    }
    serde_json::from_str::<WithId>(text).ok().map(|with_id| with_id.id)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const TABLE: &str = "019ca944-3c00-7000-8000-00000007ab1e";

    fn offer(names: &[&'static str]) -> Option<(Option<String>, Option<String>)> {
        let mut headers = HeaderMap::new();
        for name in names {
            headers.append(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(name));
        }
        let text = |credential: Option<Credential>| {
            credential.map(|credential| credential.as_str().to_owned())
        };
        read_credentials(&headers).map(|read| (text(read.token), text(read.ticket)))
    }

    #[test]
    fn one_subprotocol_carries_the_credentials() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(offer(&[]), None);
        assert_eq!(offer(&["bahay.v1.brief, bahay.v1"]), None);
        assert_eq!(offer(&["bahay.v1, bahay.token.a.b.c"]), Some((text("a.b.c"), None)));
        assert_eq!(offer(&["bahay.v1", "bahay.ticket.pt_1"]), Some((None, text("pt_1"))));
        assert_eq!(offer(&["bahay.token."]), Some((text(""), None)));
        assert_eq!(offer(&["bahay.token.a,bahay.token.b"]), Some((None, None)));
        assert_eq!(offer(&["bahay.token.a", "bahay.ticket.b"]), Some((None, None)));
    }

    #[test]
    fn a_key_is_16_bytes_in_base64_and_comes_once() {
        let is_valid = |keys: &[&str]| {
            let mut headers = HeaderMap::new();
            for key in keys {
                headers.append(SEC_WEBSOCKET_KEY, HeaderValue::from_str(key).unwrap());
            }
            has_valid_key(&headers)
        };
        let valid = "dGhlIHNhbXBsZSBub25jZQ==";
        assert!(is_valid(&[valid]) && is_valid(&["+/+/+/+/+/+/+/+/+/+/+A=="]));
        for keys in [
            &[][..],
            &[""],
            &["x"],
            &["dGhlIHNhbXBsZSBub25jZQ"],
            &["dGhlIHNhbXBsZSBub25jZQ="],
            &["dGhlIHNhbXBsZSBub25jZQ==="],
            &["dGhlIHNhbXBsZSBub25jZTE="],
            &["dGhlIHNhbXBsZSBub25jZTEy"],
            &["dGhlIHNhbXBsZSBub25j=Q=="],
            &["dGhlIHNhbXBsZSBub25j-_=="],
            &["dGhlIHNhbXBsZSBub25jZQ==, x"],
            &[valid, valid],
        ] {
            assert!(!is_valid(keys), "{keys:?}");
        }
    }

    fn parse(query: &str) -> Result<Command<()>, String> {
        read_join(Some(query)).expect("there is a query").map_err(|error| error.detail)
    }

    #[test]
    fn a_query_is_a_join_without_its_id() {
        assert!(read_join::<()>(None).is_none() && read_join::<()>(Some("")).is_none());
        let join = Command::Join { id: JOIN_ID, from: None, tag: None, table: None };
        assert_eq!(parse("type=join"), Ok(join));
        let whole = format!("type=join&from=12&tag=7a61673a000c&table={TABLE}");
        let from = Some(12);
        let tag = Some("7a61673a000c".parse().map(Tag).expect("a tag"));
        let table = Some(TABLE.parse().expect("an id"));
        assert_eq!(parse(&whole), Ok(Command::Join { id: JOIN_ID, from, tag, table }));
    }

    #[test]
    fn an_invalid_query_is_refused_with_the_reason() {
        for (query, reason) in [
            ("from=12", "missing field `type`"),
            ("type=leave", "unknown variant `leave`"),
            ("type=join&from=-1", "invalid digit"),
            ("type=join&tag=1", "hex"),
            ("type=join&table=1", "UUID"),
            ("type=join&from=1&from=2", "duplicate field `from`"),
            ("type=join&token=secret", "unknown field `token`"),
            ("access_token=secret", "unknown field `access_token`"),
        ] {
            let detail = parse(query).expect_err("the query is invalid");
            assert!(detail.contains(reason), "{query}: {detail}");
            assert!(!detail.contains("secret"), "{detail}");
        }
    }
}
