//! The stylesheet and the scripts of all pages. They are embedded in the program, and their paths
//! contain a hash of their content, so that browsers may cache them indefinitely and never use an
//! outdated version.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use bahay_engine::hex::Hex;
use sha2::{Digest as _, Sha256};

/// A static file, with the path under which pages refer to it.
pub(crate) struct Asset {
    pub(crate) path: String,
    kind: &'static str,
    text: &'static str,
}

pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../../assets/desk/desk.css");
    Asset::new("desk", "css", "text/css; charset=utf-8", text)
});

pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../../assets/desk/desk.js");
    Asset::new("desk", "js", "text/javascript; charset=utf-8", text)
});

/// The script that suggests players while a name is typed.
pub(crate) static SUGGESTIONS: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../../assets/desk/suggestions.js");
    Asset::new("suggestions", "js", "text/javascript; charset=utf-8", text)
});

/// The script that shows the progress of exports.
pub(crate) static EXPORTS: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../../assets/desk/exports.js");
    Asset::new("exports", "js", "text/javascript; charset=utf-8", text)
});

impl Asset {
    fn new(name: &str, extension: &str, kind: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text);
        let mut short = [0; 8];
        short.copy_from_slice(&digest[..8]);
        let path = format!("/desk/assets/{name}-{}.{extension}", Hex(short));
        Self { path, kind, text }
    }
}

pub(crate) async fn serve_asset(Path(name): Path<String>) -> Response {
    let wanted = format!("/desk/assets/{name}");
    let assets = [&*STYLE, &*SCRIPT, &*SUGGESTIONS, &*EXPORTS];
    match assets.into_iter().find(|asset| asset.path == wanted) {
        Some(asset) => {
            let cache = "public, max-age=31536000, immutable";
            ([(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, cache)], asset.text).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
