//! The length limits of operators' texts: the limits in the contract, in the server and in the
//! columns of the database agree. Lengths are counted in characters, not in bytes.

use bahay::operators::Role;
use serde_json::{Value, json};

use crate::http::server::{Server, adjustment, expect_refusal_of, ok, status_of, text};

/// Returns the operations that take a text: the path, the other fields of the body, the field, and
/// its minimum and maximum length.
fn list_text_fields(
    player: &str,
    correction: &str,
) -> Vec<(String, Value, &'static str, [usize; 2])> {
    let player_path = format!("/v1/operator/players/{player}");
    let adjustment = json!({ "kind": "adjustment", "player": player, "amount": 1 });
    let reason = [10, 500];
    vec![
        ("/v1/operator/house/closing".into(), json!({}), "reason", reason),
        (format!("{player_path}/bans"), json!({ "hours": 1 }), "reason", reason),
        (format!("{player_path}/mutes"), json!({}), "reason", reason),
        ("/v1/operator/corrections".into(), adjustment, "reason", reason),
        (format!("{player_path}/notes"), json!({}), "words", [1, 2_000]),
        // The rejection comes last, because it decides the correction.
        (format!("/v1/operator/corrections/{correction}/rejection"), json!({}), "reason", reason),
    ]
}

#[tokio::test]
async fn texts_are_accepted_up_to_their_maximum_length() {
    let (server, guest) = Server::with_guest().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let ben = server.session("kuya.ben", Role::Admin).await;
    // Open requests for one player differ in their amounts.
    let mut amount = 0;
    for letter in ["x", "ñ", "札", "🂡"] {
        amount += 1;
        let ask = adjustment(&guest.id, amount);
        let asked = server.post_once(&luz, "/v1/operator/corrections", &ask);
        let correction = text(&ok(asked).await["id"]);
        for (path, around, name, [least, most]) in list_text_fields(&guest.id, &correction) {
            for length in [least - 1, most + 1, least, most] {
                // A decided correction cannot be decided again.
                if path.ends_with("rejection") && length == least {
                    continue;
                }
                let mut body = around.clone();
                body[name] = letter.repeat(length).into();
                if body["kind"] == "adjustment" {
                    amount += 1;
                    body["amount"] = amount.into();
                }
                let request = server.post_once(&ben, &path, &body);
                let case = format!("{path}, {length} of {letter}");
                if (least..=most).contains(&length) {
                    let status = status_of(request).await;
                    assert!((200..300).contains(&status), "{case}: {status}");
                } else {
                    expect_refusal_of(case, request, 422, "body_invalid").await;
                }
            }
        }
    }
    server.bank.audit_clean().await;
}
