//! Players' reports at the desk: read by every operator, decided once by those who may moderate.

use bahay::operators::Role;
use serde_json::json;

use super::browser::Browser;
use crate::http::server::{Server, list_players, status_of, text};
use crate::support::bank::{PotGoes, table};
use crate::support::db::read_rows;

#[tokio::test]
async fn a_report_is_decided_once_at_the_desk_and_audited() {
    let (server, guests) = Server::with_guests(3).await;
    let (game, _) = server.bank.play(table(), &list_players(&guests), 0, 1, PotGoes::Nowhere).await;
    let body = json!({ "player": guests[1].id, "reason": "collusion", "words": "They whispered." });
    let report = server.post_by(&guests[0], &format!("/v1/games/{game}/reports"), &body);
    assert_eq!(status_of(report).await, 204);

    let mut viewer = Browser::enrolled(&server, "the.viewer", Role::Viewer).await;
    let page = viewer.get("/desk/reports").await;
    page.shows(&format!("/desk/games/{game}")).shows("They whispered.");
    page.shows(&guests[0].id).shows(&guests[1].id);
    for guest in &guests[..2] {
        page.shows(&format!(">{}</a>", text(&guest.answer["player"]["name"])));
    }
    page.hides(">muted</span>");
    // A viewer decides nothing.
    page.hides("/decision").hides("/replay");

    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Support).await;
    let player = format!("/desk/players/{}", guests[1].id);
    let fields =
        [("kind", "mute"), ("duration", "1"), ("hours", ""), ("reason", "whispers at the table")];
    ben.send(&player, &format!("{player}/sanctions"), &fields).await.expect(303);
    viewer.get("/desk/reports").await.shows(">muted</span>").hides(">banned</span>");
    let page = ben.get("/desk/reports").await;
    page.shows(&format!("/desk/games/{game}/replay?at_ms="));
    let action = page.text.split("action=\"").find(|part| part.contains("/decision\""));
    let action = action.and_then(|part| part.split('"').next()).expect("the form").to_owned();
    let decision = [("outcome", "upheld"), ("note", "as the record shows")];
    let note = [("outcome", "upheld"), ("note", "short")];
    ben.send("/desk/reports", &action, &note).await.expect(422);
    let upheld = ben.send("/desk/reports", &action, &decision).await;
    // The page of the player has the form that bans or mutes.
    upheld.expect_redirect(&player);
    ben.send("/desk/reports", &action, &decision).await.expect(409);
    ben.get("/desk/reports").await.shows("No entries.");
    ben.get("/desk/reports?state=closed").await.shows("as the record shows");

    let audited = "select subject, channel from audit_entries
        where action = 'player_report_decide'";
    let audited: Vec<(String, String)> = read_rows(&server.bank.pool, audited).await;
    assert_eq!(audited, [(format!("player:{}", guests[1].id), "desk".to_owned())]);
}
