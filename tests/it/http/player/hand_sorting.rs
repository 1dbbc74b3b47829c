//! The "Sort Again" button.

use serde_json::{Value, json};

use crate::http::server::{Server, expect_refusal, expect_refusal_of, ok};

#[tokio::test]
async fn a_hand_is_sorted_regardless_of_its_order() {
    let (server, guest) = Server::with_guest().await;
    let sort = |cards: Value, by: &str| {
        let body = json!({ "cards": cards, "by": by });
        server.post_by(&guest, "/v1/sort", &body)
    };
    let hand = json!(["7H", "AS", "5H", "KD", "6H", "KC"]);
    let mixed = json!(["KC", "KD", "AS", "5H", "6H", "7H"]);
    let by_suit = ok(sort(hand.clone(), "suit")).await;
    assert_eq!(by_suit, json!({ "groups": [["KC"], ["KD"], ["5H", "6H", "7H"], ["AS"]] }));
    assert_eq!(ok(sort(mixed.clone(), "suit")).await, by_suit);
    let arranged = ok(sort(hand, "arrangement")).await;
    assert_eq!(arranged["groups"][0], json!(["5H", "6H", "7H"]));
    assert_eq!(arranged["groups"][1].as_array().unwrap().len(), 3);
    assert_eq!(ok(sort(mixed, "arrangement")).await, arranged);
    assert_eq!(ok(sort(json!([]), "arrangement")).await, json!({ "groups": [] }));
}

#[tokio::test]
async fn an_invalid_hand_is_refused() {
    let (server, guest) = Server::with_guest().await;
    let all = ["C", "D"]
        .into_iter()
        .flat_map(|suit| "A23456789TJQK".chars().map(move |rank| format!("{rank}{suit}")));
    let fourteen: Vec<_> = all.take(14).collect();
    for body in [
        json!({}),
        json!({ "cards": ["AS"] }),
        json!({ "by": "suit" }),
        json!({ "cards": ["AS"], "by": "colour" }),
        json!({ "cards": ["AS", "AS"], "by": "suit" }),
        json!({ "cards": ["1S"], "by": "suit" }),
        json!({ "cards": ["as"], "by": "suit" }),
        json!({ "cards": ["X3"], "by": "suit" }),
        json!({ "cards": [12], "by": "suit" }),
        json!({ "cards": "AS", "by": "suit" }),
        json!({ "cards": null, "by": "suit" }),
        json!({ "cards": ["AS"], "by": "suit", "joker": true }),
        json!({ "cards": fourteen, "by": "arrangement" }),
    ] {
        let request = server.post_by(&guest, "/v1/sort", &body);
        expect_refusal_of(body, request, 422, "body_invalid").await;
    }
    let nobody = server.post("/v1/sort", &json!({ "cards": [], "by": "suit" }));
    expect_refusal(nobody, 401, "token_missing").await;
}
