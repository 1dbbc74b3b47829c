//! The browser client: the page at `/play`, to which `/` leads, and the files that it loads. They are built from
//! TypeScript in `play/`, checked in under `play/dist`, and kept in the program, so that a server
//! is one file and a page asks no other host for anything.
//!
//! The page itself is asked for again each time, by its tag. What it loads has a hash in its name
//! and is kept by browsers for ever. Both are sent as brotli where the browser takes it, as it was
//! compressed at the build; nothing is compressed here.
//!
//! Deliberately absent: cookies, and pages made on the server. The client keeps its tokens itself
//! and calls the public API as any other.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    LOCATION, REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bahay_engine::hex::Hex;
use sha2::{Digest as _, Sha256};

use super::Code;
use super::encoding::takes;

/// A name, what it holds, and the same compressed.
type File = (&'static str, &'static [u8], Option<&'static [u8]>);

static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/play_files.rs"));

const PAGE: &str = "index.html";

/// What the page may load and whom it may call: this server. Styles of elements that move are set
/// by the script, which the policy lets; text of styles in the page it does not.
const POLICY: (HeaderName, &str) = (
    CONTENT_SECURITY_POLICY,
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// A link to a private table holds its code, which is nobody else's business.
const NO_REFERRER: (HeaderName, &str) = (REFERRER_POLICY, "no-referrer");

/// The tag of the page as it is in this program.
static TAG: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::digest(find(PAGE).map_or(&[][..], |(_, bytes, _)| bytes));
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    format!("\"{}\"", Hex(short))
});

pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(async |uri: Uri| redirect_to_page(StatusCode::TEMPORARY_REDIRECT, &uri)))
        .route("/play", get(page))
        .route(
            "/play/",
            get(async |uri: Uri| redirect_to_page(StatusCode::PERMANENT_REDIRECT, &uri)),
        )
        // What leads friends to a private table; the client reads the code in the address.
        .route("/play/join/{code}", get(page))
        .route("/play/join/{code}/", get(page))
        .route("/play/files/{name}", get(file))
}

/// Leads to the page, and keeps the query.
fn redirect_to_page(status: StatusCode, asked: &Uri) -> Response {
    let query = asked.query().map(|query| format!("?{query}")).unwrap_or_default();
    (status, [(LOCATION, format!("/play{query}"))]).into_response()
}

async fn page(headers: HeaderMap) -> Response {
    let tag = TAG.as_str();
    let cache = [(CACHE_CONTROL, "no-cache"), (ETAG, tag), (VARY, "accept-encoding")];
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
    if known.flat_map(|tags| tags.split(',')).any(|one| one.trim().trim_start_matches("W/") == tag)
    {
        return (StatusCode::NOT_MODIFIED, cache).into_response();
    }
    match find(PAGE) {
        Some(page) => ([POLICY, NO_REFERRER], cache, send(page, &headers)).into_response(),
        None => Code::RouteNotFound.plain().into_response(),
    }
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match find(&name).filter(|(name, ..)| *name != PAGE) {
        Some(file) => {
            let cache =
                [(CACHE_CONTROL, "public, max-age=31536000, immutable"), (VARY, "accept-encoding")];
            (cache, send(file, &headers)).into_response()
        }
        None => Code::RouteNotFound.plain().into_response(),
    }
}

fn find(name: &str) -> Option<&'static File> {
    FILES.binary_search_by(|(one, ..)| (*one).cmp(name)).ok().and_then(|place| FILES.get(place))
}

fn send((name, bytes, compressed): &'static File, headers: &HeaderMap) -> Response {
    let kind = [(CONTENT_TYPE, kind_of(name))];
    match compressed.filter(|_| takes(headers, "br")) {
        Some(compressed) => (kind, [(CONTENT_ENCODING, "br")], compressed).into_response(),
        None => (kind, *bytes).into_response(),
    }
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{FILES, PAGE, find, kind_of};

    #[test]
    fn all_that_the_page_names_is_there_and_of_a_known_kind() {
        let (_, page, _) = find(PAGE).expect("there is a page");
        let page = std::str::from_utf8(page).expect("the page is text");
        let named: Vec<&str> = page
            .split("/play/files/")
            .skip(1)
            .map(|rest| rest.split(['"', '\'', '#']).next().unwrap_or_default())
            .collect();
        assert!(named.iter().any(|name| name.ends_with(".js")), "the page loads a script");
        for name in named {
            assert!(find(name).is_some(), "{name}");
        }
        for (name, ..) in FILES {
            assert_ne!(kind_of(name), "application/octet-stream", "{name}");
        }
    }
}
