//! The commands that the request for a socket carries: docs/PROTOCOL.md, "In the request".

use serde_json::{Map, Value, json};

const TOKEN_PREFIX: &str = "bahay.token.";
const TICKET_PREFIX: &str = "bahay.ticket.";
/// The fields of a query that are numbers.
const NUMBERS: [&str; 2] = ["id", "from"];

/// Returns the texts of the commands in a request for a socket, as if they had been its first
/// messages. `bearer` is the token of the header `Authorization`.
pub fn upgrade_commands(query: &str, protocols: &[String], bearer: Option<&str>) -> Vec<String> {
    let find = |prefix| protocols.iter().find_map(|name| name.strip_prefix(prefix));
    let authenticate = match (bearer.or_else(|| find(TOKEN_PREFIX)), find(TICKET_PREFIX)) {
        (Some(token), _) => Some(json!({ "type": "authenticate", "token": token, "id": 0 })),
        (None, Some(ticket)) => Some(json!({ "type": "authenticate", "ticket": ticket, "id": 0 })),
        (None, None) => None,
    };
    let mut join = Map::new();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let number = value.parse::<u64>().ok().filter(|_| NUMBERS.contains(&name));
        join.insert(name.to_owned(), number.map_or_else(|| json!(value), |number| json!(number)));
    }
    let join = (!join.is_empty()).then(|| {
        join.entry("id").or_insert_with(|| json!(1));
        Value::Object(join)
    });
    authenticate.into_iter().chain(join).map(|command| command.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::upgrade_commands;

    #[test]
    fn a_request_carries_a_credential_and_a_join() {
        let protocols = ["bahay.v1".to_owned(), "bahay.token.abc".to_owned()];
        assert_eq!(
            upgrade_commands("type=join&from=12&tag=7a61673a000c", &protocols, None),
            [
                r#"{"id":0,"token":"abc","type":"authenticate"}"#,
                r#"{"from":12,"id":1,"tag":"7a61673a000c","type":"join"}"#,
            ]
        );
        assert!(upgrade_commands("", &protocols[..1], None).is_empty());
        let by_header = upgrade_commands("", &protocols[..1], Some("x"));
        assert_eq!(by_header, [r#"{"id":0,"token":"x","type":"authenticate"}"#]);
    }
}
