//! The browser client: the page at `/play`, to which `/` redirects, and the files that it loads.
//! They are built from TypeScript in `play/`, checked in under `play/dist`, and embedded in the
//! binary, so that the server is a single file and the page loads nothing from other hosts.
//!
//! The page, its service worker and its manifest have fixed names and are revalidated by entity
//! tags. The files that they load have a hash in their names and are cached by browsers without
//! limit. All are sent with brotli if the browser accepts it, as compressed at build time; nothing
//! is compressed at run time.
//!
//! An invitation is the same page with a preview of its own (`link_preview`), for which the private
//! table and the name of its host are looked up. If the lookup takes longer than
//! [`PREVIEW_TIMEOUT`], fails, or finds no table, the page is sent unchanged.
//!
//! Deliberately absent: cookies, and any other page rendered by the server. The client keeps its
//! tokens itself and calls the public API like any other client.

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

use super::accept_encoding::accepts_encoding;
use super::link_preview::{Invitation, Template};
use crate::http::{Code, CodeExt as _, Services};

/// The name, the content, and the compressed content of a file.
type EmbeddedFile = (&'static str, &'static [u8], Option<&'static [u8]>);

static FILES: &[EmbeddedFile] = include!(concat!(env!("OUT_DIR"), "/play_files.rs"));

const PAGE: &str = "index.html";
const SERVICE_WORKER: &str = "sw.js";
const MANIFEST: &str = "manifest.webmanifest";

/// The files whose names stay the same when their content changes.
const REVALIDATED: [&str; 3] = [PAGE, SERVICE_WORKER, MANIFEST];

/// The timeout of the lookup of an invitation.
const PREVIEW_TIMEOUT: Duration = Duration::from_millis(500);

/// The content security policy: the page loads from and connects to this server only. The script
/// may set styles of elements, which the policy permits; inline styles in the page are blocked.
const POLICY: (HeaderName, &str) = (
    CONTENT_SECURITY_POLICY,
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// The address of an invitation contains the code of a private table, which must not reach other
/// sites.
const NO_REFERRER: (HeaderName, &str) = (REFERRER_POLICY, "no-referrer");

/// The service worker's scope. The page at `/play` lies above the worker's folder, which requires
/// this header.
const WORKER_SCOPE: (HeaderName, &str) =
    (HeaderName::from_static("service-worker-allowed"), "/play");

/// The entity tags of [`REVALIDATED`], computed from the embedded files.
static TAGS: LazyLock<[String; REVALIDATED.len()]> = LazyLock::new(|| {
    REVALIDATED.map(|name| entity_tag(find_file(name).map_or(&[], |(_, bytes, _)| bytes)))
});

/// The page, split for the preview of an invitation.
static TEMPLATE: LazyLock<Option<Template<'static>>> = LazyLock::new(|| {
    let (_, page, _) = find_file(PAGE)?;
    Template::parse(std::str::from_utf8(page).ok()?)
});

pub(crate) fn routes() -> Router<Services> {
    Router::new()
        .route("/", get(async |uri: Uri| redirect_to_page(StatusCode::TEMPORARY_REDIRECT, &uri)))
        .route("/play", get(async |headers: HeaderMap| send_revalidated(PAGE, &headers)))
        .route(
            "/play/",
            get(async |uri: Uri| redirect_to_page(StatusCode::PERMANENT_REDIRECT, &uri)),
        )
        // The addresses of invitations to a private table; the client reads the code from the
        // address.
        .route("/play/join/{code}", get(show_invitation))
        .route("/play/join/{code}/", get(show_invitation))
        .route("/play/sw.js", get(show_service_worker))
        .route(
            "/play/manifest.webmanifest",
            get(async |headers: HeaderMap| send_revalidated(MANIFEST, &headers)),
        )
        .route("/play/files/{name}", get(show_file))
}

/// Redirects to the page and keeps the query.
fn redirect_to_page(status: StatusCode, uri: &Uri) -> Response {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    (status, [(LOCATION, format!("/play{query}"))]).into_response()
}

/// Sends one of [`REVALIDATED`], or 304 if the browser has it.
fn send_revalidated(name: &str, headers: &HeaderMap) -> Response {
    let tag = REVALIDATED.iter().zip(TAGS.iter()).find(|(one, _)| **one == name);
    let (Some(file), Some((_, tag))) = (find_file(name), tag) else {
        return Code::RouteNotFound.problem().into_response();
    };
    send_if_changed(tag, headers, || send_file(file, headers))
}

/// Sends a response with an entity tag, or 304 if the request names the same tag.
fn send_if_changed(tag: &str, headers: &HeaderMap, send: impl FnOnce() -> Response) -> Response {
    let cache = [(CACHE_CONTROL, "no-cache"), (ETAG, tag), (VARY, "accept-encoding")];
    let client_tags = headers.get_all(IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
    let mut client_tags = client_tags.flat_map(|tags| tags.split(','));
    if client_tags.any(|client_tag| client_tag.trim().trim_start_matches("W/") == tag) {
        return (StatusCode::NOT_MODIFIED, cache).into_response();
    }
    ([POLICY, NO_REFERRER], cache, send()).into_response()
}

fn entity_tag(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    format!("\"{}\"", Hex(short))
}

async fn show_service_worker(headers: HeaderMap) -> Response {
    ([WORKER_SCOPE], send_revalidated(SERVICE_WORKER, &headers)).into_response()
}

/// Sends the page of an invitation to a private table, with its preview.
async fn show_invitation(
    State(services): State<Services>,
    Path(code): Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some(template) = *TEMPLATE else {
        return send_revalidated(PAGE, &headers);
    };
    let lookup = look_up_invitation(&services, &code);
    let Ok(Some(invitation)) = timeout(PREVIEW_TIMEOUT, lookup).await else {
        return send_revalidated(PAGE, &headers);
    };
    let page = template.render_page(&invitation);
    send_if_changed(&entity_tag(page.as_bytes()), &headers, || {
        ([(CONTENT_TYPE, content_type(PAGE))], page).into_response()
    })
}

/// Returns the invitation with this code; `None` if no table has the code or the lookup fails.
async fn look_up_invitation(services: &Services, code: &str) -> Option<Invitation> {
    let table = services.lobby.private_view(code).await.ok()?;
    let hosts = services.accounts.find_public_profiles(&[table.host]).await.ok()?;
    let host = hosts.into_iter().next()?;
    Some(Invitation {
        link: table.link,
        host: host.name,
        game: catalog::kind_title(table.terms.rules.kind()),
        bet: table.terms.price.bet,
        seats: table.seats,
        seats_taken: table.players.len(),
    })
}

async fn show_file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match find_file(&name).filter(|(name, ..)| !REVALIDATED.contains(name)) {
        Some(file) => {
            let cache =
                [(CACHE_CONTROL, "public, max-age=31536000, immutable"), (VARY, "accept-encoding")];
            (cache, send_file(file, &headers)).into_response()
        }
        None => Code::RouteNotFound.problem().into_response(),
    }
}

fn find_file(name: &str) -> Option<&'static EmbeddedFile> {
    FILES.binary_search_by(|(one, ..)| (*one).cmp(name)).ok().and_then(|index| FILES.get(index))
}

fn send_file((name, bytes, compressed): &'static EmbeddedFile, headers: &HeaderMap) -> Response {
    let kind = [(CONTENT_TYPE, content_type(name))];
    match compressed.filter(|_| accepts_encoding(headers, "br")) {
        Some(compressed) => (kind, [(CONTENT_ENCODING, "br")], compressed).into_response(),
        None => (kind, *bytes).into_response(),
    }
}

fn content_type(name: &str) -> &'static str {
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
    use super::{FILES, PAGE, content_type, find_file};

    #[test]
    fn every_file_of_the_page_exists_with_a_content_type() {
        let (_, page, _) = find_file(PAGE).expect("there is a page");
        let page = std::str::from_utf8(page).expect("the page is text");
        let named: Vec<&str> = page
            .split("/play/files/")
            .skip(1)
            .map(|rest| rest.split(['"', '\'', '#']).next().unwrap_or_default())
            .collect();
        assert!(named.iter().any(|name| name.ends_with(".js")), "the page loads a script");
        for name in named {
            assert!(find_file(name).is_some(), "{name}");
        }
        for (name, ..) in FILES {
            assert_ne!(content_type(name), "application/octet-stream", "{name}");
        }
    }
}
