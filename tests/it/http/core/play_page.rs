//! The browser client as the server sends it: files with a hash in their names are cached without
//! limit, others are revalidated, all are compressed for clients that accept it, and the page may
//! connect to no other host.

use std::path::Path;

use bahay_engine::hex::Hex;
use reqwest::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, VARY,
};
use reqwest::{Method, Response};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::http::server::{DEVICE, OTHER_DEVICE, Server, expect_refusal, ok};

async fn get(server: &Server, path: &str, encodings: &str) -> Response {
    let request = server.request(Method::GET, path).header(ACCEPT_ENCODING, encodings);
    request.send().await.unwrap()
}

/// Returns the addresses of the files that the page loads.
fn list_files(page: &str) -> Vec<String> {
    let rest = page.split("\"/play/files/").skip(1);
    rest.map(|rest| format!("/play/files/{}", rest.split('"').next().unwrap())).collect()
}

#[tokio::test]
async fn the_page_is_revalidated() {
    let server = Server::new().await;
    let response = get(&server, "/play", "identity").await;
    assert_eq!(response.status(), 200);
    let headers = response.headers().clone();
    assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(headers[CACHE_CONTROL], "no-cache");
    assert_eq!(headers[VARY], "accept-encoding");
    let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none';") && policy.contains("connect-src 'self';"));
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let page = response.text().await.unwrap();
    assert!(!page.contains("<style") && !page.contains(" style="), "there is no inline style");
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" src=").count()
    );

    let tag = headers[ETAG].to_str().unwrap();
    let again =
        |tags: String| server.request(Method::GET, "/play").header(IF_NONE_MATCH, tags).send();
    for tags in [tag.to_owned(), format!("\"other\", W/{tag}")] {
        let response = again(tags).await.unwrap();
        assert_eq!(response.status(), 304);
        assert_eq!(response.headers()[ETAG], tag);
        assert_eq!(response.text().await.unwrap(), "");
    }
    assert_eq!(again("\"other\"".to_owned()).await.unwrap().status(), 200);

    // A link to a private table that no longer exists leads to the same page.
    for path in ["/play/join/K7MWQ2XA", "/play/join/%3Cscript%3E", "/play/join/%00"] {
        let linked = get(&server, path, "br").await;
        assert_eq!(linked.headers()[ETAG], tag, "{path}");
        assert_eq!(linked.headers()[CONTENT_ENCODING], "br", "{path}");
    }
}

/// Returns the content of a tag of the page, by its property.
fn read_property<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("property=\"{name}\" content=\"")).unwrap();
    rest.split('"').next().unwrap()
}

/// Messengers request a link without a token, and render a card from the tags of the page.
#[tokio::test]
async fn an_invitation_has_a_preview() {
    let server = Server::new().await;
    let named = json!({ "device_id": DEVICE, "name": "Maria" });
    let host = server.sign_in(&named).await;
    let wanted = json!({ "room": "newbie", "bet": 500 });
    let opened = ok(server.post_by(&host, "/v1/private-tables", &wanted)).await;
    let path = format!("/play/join/{}", opened["code"].as_str().unwrap());
    let plain = get(&server, "/play", "identity").await;
    let response = get(&server, &path, "br").await;
    assert_eq!(response.status(), 200);
    let headers = response.headers().clone();
    assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(headers[CONTENT_SECURITY_POLICY], plain.headers()[CONTENT_SECURITY_POLICY]);
    assert_ne!(headers[ETAG], plain.headers()[ETAG]);
    let page = response.text().await.unwrap();
    assert_eq!(read_property(&page, "og:title"), "Maria invites you to Tong-its");
    let about = read_property(&page, "og:description");
    assert!(about.starts_with("Bet 5 coins. 1 of 3 seats are taken."), "{about}");
    assert_eq!(read_property(&page, "og:url"), opened["link"].as_str().unwrap());
    // The rest of the page is unchanged.
    let around = |page: &str| {
        let (before, rest) = page.split_once("<!--preview-->").unwrap();
        let (_, after) = rest.split_once("<!--/preview-->").unwrap();
        (before.to_owned(), after.to_owned())
    };
    assert_eq!(around(&page), around(&plain.text().await.unwrap()));

    let again = || server.request(Method::GET, &path).header(IF_NONE_MATCH, &headers[ETAG]).send();
    assert_eq!(again().await.unwrap().status(), 304);
    // After another player has sat down the card is different.
    let guest = server.guest(OTHER_DEVICE).await;
    let seat = format!("/v1/private-tables/{}/seat", opened["code"].as_str().unwrap());
    ok(server.call(Method::POST, &seat, &guest)).await;
    let page = again().await.unwrap().text().await.unwrap();
    assert!(read_property(&page, "og:description").contains("2 of 3 seats"));
}

#[tokio::test]
async fn files_are_cached_forever_and_compressed() {
    let server = Server::new().await;
    let page = get(&server, "/play", "identity").await.text().await.unwrap();
    let mut sent = get(&server, "/play", "br").await.bytes().await.unwrap().len();
    let files = list_files(&page);
    assert!(files.len() >= 2, "a script and a style at least");
    for path in files {
        let plain = get(&server, &path, "gzip").await;
        assert_eq!(plain.status(), 200, "{path}");
        assert_eq!(plain.headers()[CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert!(plain.headers().get(CONTENT_ENCODING).is_none());
        let text = plain.bytes().await.unwrap();
        // The name contains the hash of the content.
        let digest = Hex(<[u8; 32]>::from(Sha256::digest(&text))).to_string();
        assert!(path.contains(&digest[..12]), "{path} {digest}");
        // A picture is compressed by its own format, and is used by messengers and home screens
        // only.
        if path.ends_with(".png") {
            continue;
        }

        let compressed = get(&server, &path, "gzip, br").await;
        assert_eq!(compressed.headers()[CONTENT_ENCODING], "br", "{path}");
        assert_eq!(compressed.headers()[VARY], "accept-encoding");
        let bytes = compressed.bytes().await.unwrap().len();
        assert!(bytes < text.len(), "{path}");
        let is_on_demand = page.contains(&format!("data-script=\"{path}\""))
            || page.contains(&format!("data-style=\"{path}\""));
        if !is_on_demand {
            sent += bytes;
        }
    }
    // A part of the budget of a first hand; the game, messages and calls are measured by
    // tests/browser/play.
    assert!(sent < 60_000, "{sent} bytes before anything is asked");
}

/// A browser revalidates the service worker and the manifest under their fixed names.
#[tokio::test]
async fn files_with_fixed_names_are_revalidated() {
    let server = Server::new().await;
    for (name, kind) in [
        ("sw.js", "text/javascript; charset=utf-8"),
        ("manifest.webmanifest", "application/manifest+json"),
    ] {
        let path = format!("/play/{name}");
        if !Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/play/dist")).join(name).exists() {
            expect_refusal(server.request(Method::GET, &path), 404, "route_not_found").await;
            continue;
        }
        let response = get(&server, &path, "identity").await;
        assert_eq!(response.status(), 200, "{path}");
        let headers = response.headers().clone();
        assert_eq!(headers[CONTENT_TYPE], kind);
        assert_eq!(headers[CACHE_CONTROL], "no-cache");
        let again = server.request(Method::GET, &path).header(IF_NONE_MATCH, &headers[ETAG]);
        assert_eq!(again.send().await.unwrap().status(), 304, "{path}");
        let forever = server.request(Method::GET, &format!("/play/files/{name}"));
        expect_refusal(forever, 404, "route_not_found").await;
    }
}

#[tokio::test]
async fn unknown_files_are_not_found() {
    let server = Server::new().await;
    for path in
        ["/play/files/index.html", "/play/files/app.js", "/play/files/..%2Findex.html", "/play/x"]
    {
        expect_refusal(server.request(Method::GET, path), 404, "route_not_found").await;
    }
}

/// An address without a path, or with a trailing slash, leads to the game.
#[tokio::test]
async fn the_root_redirects_to_the_page() {
    let server = Server::new().await;
    for method in [Method::GET, Method::HEAD] {
        for (path, status, location) in [
            ("/", 307, "/play"),
            ("/?from=friends", 307, "/play?from=friends"),
            ("/play/", 308, "/play"),
            ("/play/?from=friends", 308, "/play?from=friends"),
        ] {
            let response = server.request(method.clone(), path).send().await.unwrap();
            assert_eq!(response.status(), status, "{path}");
            assert_eq!(response.headers()["location"], location, "{path}");
        }
    }
    let linked = get(&server, "/play/join/K7MWQ2XA/", "identity").await;
    assert_eq!(linked.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
    expect_refusal(server.request(Method::POST, "/"), 405, "method_not_allowed").await;
}
