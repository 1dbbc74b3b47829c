//! Refusals at the desk are pages for people, also those of the layers around it.

use bahay::operators::Role;
use bahay::rate_limit::Rate;
use reqwest::Method;

use super::browser::Browser;
use crate::http::server::Server;

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
