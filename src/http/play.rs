//! The browser client: the page at `/play`, to which `/` leads, and the files that it loads. They are
//! built from TypeScript in `play/`, checked in under `play/dist`, and kept in the program, so that a server
//! is one file and a page asks no other host for anything.
//!
//! The page, its service worker and its manifest have names of their own and are revalidated each time,
//! by their tags. The files that they load have a hash in their names and are kept by browsers for ever.
//! All are sent as brotli where the browser takes it, as it was compressed at the build; nothing is
//! compressed here.
//!
//! An invitation is the same page with a preview of its own (`link_preview`), which takes a look at the
//! private table and the name of its host. If that takes longer than [`PREVIEW_TIMEOUT`], fails, or finds
//! no table, the page is sent as it is.
//!
//! Deliberately absent: cookies, and any other page made on the server. The client keeps its tokens
//! itself and calls the public API as any other.

use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    LOCATION, REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bahay_engine::catalog;
use bahay_engine::hex::Hex;
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::encoding::takes;
use super::link_preview::{Invitation, Template};
use super::{Code, Services};

/// A name, what it holds, and the same compressed.
type File = (&'static str, &'static [u8], Option<&'static [u8]>);

static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/play_files.rs"));

const PAGE: &str = "index.html";
const SERVICE_WORKER: &str = "sw.js";
const MANIFEST: &str = "manifest.webmanifest";

/// The files whose names stay when their content changes.
const REVALIDATED: [&str; 3] = [PAGE, SERVICE_WORKER, MANIFEST];

/// The longest that an invitation is looked up.
const PREVIEW_TIMEOUT: Duration = Duration::from_millis(500);

/// What the page may load and whom it may call: this server. Styles of elements that move are set
/// by the script, which the policy lets; text of styles in the page it does not.
const POLICY: (HeaderName, &str) = (
    CONTENT_SECURITY_POLICY,
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// A link to a private table holds its code, which is nobody else's business.
const NO_REFERRER: (HeaderName, &str) = (REFERRER_POLICY, "no-referrer");

/// The page is at `/play`, which is above the folder of its service worker.
const WORKER_SCOPE: (HeaderName, &str) =
    (HeaderName::from_static("service-worker-allowed"), "/play");

/// The tags of [`REVALIDATED`], as these files are in this program.
static TAGS: LazyLock<[String; REVALIDATED.len()]> =
    LazyLock::new(|| REVALIDATED.map(|name| tag_of(find(name).map_or(&[], |(_, bytes, _)| bytes))));

/// The page with a place for the preview of an invitation.
static TEMPLATE: LazyLock<Option<Template<'static>>> = LazyLock::new(|| {
    let (_, page, _) = find(PAGE)?;
    Template::parse(std::str::from_utf8(page).ok()?)
});

pub(super) fn routes() -> Router<Services> {
    Router::new()
        .route("/", get(async |uri: Uri| redirect_to_page(StatusCode::TEMPORARY_REDIRECT, &uri)))
        .route("/play", get(async |headers: HeaderMap| revalidated(PAGE, &headers)))
        .route(
            "/play/",
            get(async |uri: Uri| redirect_to_page(StatusCode::PERMANENT_REDIRECT, &uri)),
        )
        // What leads friends to a private table; the client reads the code in the address.
        .route("/play/join/{code}", get(invitation))
        .route("/play/join/{code}/", get(invitation))
        .route("/play/sw.js", get(service_worker))
        .route(
            "/play/manifest.webmanifest",
            get(async |headers: HeaderMap| revalidated(MANIFEST, &headers)),
        )
        .route("/play/files/{name}", get(file))
}

/// Leads to the page, and keeps the query.
fn redirect_to_page(status: StatusCode, asked: &Uri) -> Response {
    let query = asked.query().map(|query| format!("?{query}")).unwrap_or_default();
    (status, [(LOCATION, format!("/play{query}"))]).into_response()
}

/// Sends one of [`REVALIDATED`], unless the browser has it.
fn revalidated(name: &str, headers: &HeaderMap) -> Response {
    let tag = REVALIDATED.iter().zip(TAGS.iter()).find(|(one, _)| **one == name);
    let (Some(file), Some((_, tag))) = (find(name), tag) else {
        return Code::RouteNotFound.plain().into_response();
    };
    if_changed(tag, headers, || send(file, headers))
}

/// Answers with a text that is revalidated by its tag.
fn if_changed(tag: &str, headers: &HeaderMap, send: impl FnOnce() -> Response) -> Response {
    let cache = [(CACHE_CONTROL, "no-cache"), (ETAG, tag), (VARY, "accept-encoding")];
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
    if known.flat_map(|tags| tags.split(',')).any(|one| one.trim().trim_start_matches("W/") == tag)
    {
        return (StatusCode::NOT_MODIFIED, cache).into_response();
    }
    ([POLICY, NO_REFERRER], cache, send()).into_response()
}

fn tag_of(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    format!("\"{}\"", Hex(short))
}

async fn service_worker(headers: HeaderMap) -> Response {
    ([WORKER_SCOPE], revalidated(SERVICE_WORKER, &headers)).into_response()
}

/// Sends the page to whoever was invited to a private table, with the preview of the invitation.
async fn invitation(
    State(services): State<Services>,
    Path(code): Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some(template) = *TEMPLATE else {
        return revalidated(PAGE, &headers);
    };
    let Ok(Some(invitation)) = timeout(PREVIEW_TIMEOUT, look_up(&services, &code)).await else {
        return revalidated(PAGE, &headers);
    };
    let page = template.page_for(&invitation);
    if_changed(&tag_of(page.as_bytes()), &headers, || {
        ([(CONTENT_TYPE, kind_of(PAGE))], page).into_response()
    })
}

/// The invitation of a code; `None` for a code of no table, or where that is not known now.
async fn look_up(services: &Services, code: &str) -> Option<Invitation> {
    let table = services.lobby.show_private(code).await.ok()?;
    let host = services.accounts.look_up(&[table.host]).await.ok()?.into_iter().next()?;
    Some(Invitation {
        link: table.link,
        host: host.name,
        game: catalog::title_of(table.terms.rules.kind()),
        bet: table.terms.price.bet,
        seats: table.seats,
        seats_taken: table.players.len(),
    })
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match find(&name).filter(|(name, ..)| !REVALIDATED.contains(name)) {
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
