//! Refusals at the desk are pages for people, also those of the layers around it.

use std::collections::{BTreeMap, BTreeSet};

use bahay::operators::Role;
use bahay::rate_limit::Rate;
use reqwest::Method;

use uuid::Uuid;

use super::browser::{Browser, Page, between};
use crate::http::server::{REASON, Server};

/// Words of parsers, which no person should read.
const PARSERS: [&str; 6] =
    ["missing field", "unknown variant", "invalid type", "UUID parsing", "invalid digit", "`"];

#[tokio::test]
async fn every_refusal_below_the_desk_is_a_page() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let unknown = "019ca944-3c00-7000-8000-00000007ab1e";
    for (path, status, words) in [
        ("/desk/nowhere", 404, "There is no such page"),
        ("/desk/games/seven", 422, "Request refused"),
        ("/desk/players/seven", 422, "Request refused"),
        (&format!("/desk/games/{unknown}"), 404, "There is no such game"),
        ("/desk/settlements?from=yesterday", 422, "A field of the search is invalid"),
    ] {
        let page = luz.get(path).await.expect(status);
        page.shows("<!DOCTYPE html>").shows(words).hides("You ").hides("{\"");
    }
    let page = luz.send("/desk/today", "/desk/today", &[]).await.expect(405);
    page.shows("There is no such page");
}

#[track_caller]
fn hide_parsers(page: &Page) {
    for words in PARSERS {
        page.hides(words);
    }
}

#[tokio::test]
async fn a_refused_form_names_the_field_and_what_it_expects() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let page = format!("/desk/players/{}", guest.id);
    let (sanctions, notes) = (format!("{page}/sanctions"), format!("{page}/notes"));
    let ban = [("kind", "ban"), ("duration", "24"), ("hours", "")];
    let ban_for = |reason| [&ban[..], &[("reason", reason)]].concat();
    let id = Uuid::new_v4().to_string();
    for (path, fields, field, words) in [
        (&sanctions, ban.to_vec(), "reason", "is missing: fill it in"),
        (&sanctions, ban_for("short"), "reason", "a reason has 10 to 500 characters"),
        (&sanctions, vec![("kind", "ban"), ("reason", REASON)], "duration", "is missing"),
        (&sanctions, [ban_for(REASON), vec![("hours", "1")]].concat(), "hours", "occurs twice"),
        (&notes, vec![("attempt", id.as_str())], "words", "is missing"),
        (&notes, vec![("attempt", "x"), ("words", REASON)], "attempt", "an id has 32 digits"),
    ] {
        let refused = luz.send(&page, path, &fields).await.expect(422);
        refused.shows("A field of the form is missing or invalid").shows(words);
        refused.shows(&format!("<span data-field=\"{field}\">"));
        hide_parsers(&refused);
    }
    for (path, field) in [
        ("/desk/settlements?from=yesterday", "from"),
        ("/desk/settlements?most=plenty", "most"),
        ("/desk/sanctions?kind=exile", "kind"),
        ("/desk/audit?nowhere=1", "nowhere"),
        ("/desk/games/019ca944-3c00-7000-8000-00000007ab1e/replay?at_ms=now", "at_ms"),
    ] {
        let refused = luz.get(path).await.expect(422);
        refused.shows("A field of the search is invalid");
        refused.shows(&format!("<span data-field=\"{field}\">"));
        hide_parsers(&refused);
    }
    let refused = luz.get("/desk/games/seven").await.expect(422);
    refused.shows("The address of the page is invalid");
    hide_parsers(&refused);
}

/// A refusal that is a page of its own names a field by a label that its form has.
#[tokio::test]
async fn refusals_have_the_labels_of_the_forms() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let player = format!("players/{}", guest.id);
    let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in [&player, "corrections/new", "settlements", "sanctions", "rooms", "operators"] {
        let page = luz.load(&format!("/desk/{path}")).await.text;
        for part in page.split("<label for=\"").skip(1) {
            let (id, rest) = part.split_once("\">").unwrap();
            let label = rest.split_once("</label>").unwrap().0.to_owned();
            let name = between(&page, &format!("id=\"{id}\" name=\""), "\"").to_owned();
            labels.entry(name).or_default().insert(label);
        }
    }
    let mut compared = 0;
    for (name, labels) in labels {
        // The search of the audit refuses fields that it does not have.
        let page = luz.get(&format!("/desk/audit?{name}=x")).await;
        if let Some((_, drawn)) = page.text.split_once("<span data-field=") {
            let label = between(drawn, ">", "<");
            assert!(labels.contains(label), "{name}: {label}, not one of {labels:?}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} fields");
}

#[tokio::test]
async fn a_rate_limit_is_a_page_at_the_desk_and_a_problem_elsewhere() {
    let server = Server::with_rate_limits(|limits| {
        limits.requests_per_address = Rate { per_second: 1, burst: 1 };
    })
    .await;
    let mut luz = Browser::new(&server);
    let page = loop {
        let page = luz.get("/desk/sign-in").await;
        if page.status != 200 {
            break page.expect(429);
        }
    };
    page.shows("<!DOCTYPE html>").hides("{\"");
    let kind = loop {
        let answer = server.request(Method::GET, "/v1/rooms").send().await.unwrap();
        if answer.status() != 200 {
            break answer.headers()["content-type"].clone();
        }
    };
    assert_eq!(kind, "application/problem+json");
}
