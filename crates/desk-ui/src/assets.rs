//! The stylesheet and the scripts of all pages. They are embedded in the program, and their paths
//! contain a hash of their content, so that browsers may cache them indefinitely and never use an
//! outdated version.

use std::sync::LazyLock;

use bahay_engine::hex::Hex;
use sha2::{Digest as _, Sha256};

/// A static file, with the path under which pages refer to it.
#[derive(Debug)]
pub struct Asset {
    pub path: String,
    /// The value of the header `Content-Type`.
    pub content_type: &'static str,
    pub text: &'static str,
}

pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../assets/desk/desk.css");
    Asset::new("desk", "css", "text/css; charset=utf-8", text)
});

pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../assets/desk/desk.js");
    Asset::new("desk", "js", "text/javascript; charset=utf-8", text)
});

/// The script that suggests players while a name is typed.
pub(crate) static SUGGESTIONS: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../assets/desk/suggestions.js");
    Asset::new("suggestions", "js", "text/javascript; charset=utf-8", text)
});

/// The script that shows the progress of exports.
pub(crate) static EXPORTS: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../assets/desk/exports.js");
    Asset::new("exports", "js", "text/javascript; charset=utf-8", text)
});

impl Asset {
    fn new(name: &str, extension: &str, content_type: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text);
        let mut short = [0; 8];
        short.copy_from_slice(&digest[..8]);
        let path = format!("/desk/assets/{name}-{}.{extension}", Hex(short));
        Self { path, content_type, text }
    }
}

/// Returns the file with a path, such as `/desk/assets/desk-0123456789abcdef.css`.
pub fn find_asset(path: &str) -> Option<&'static Asset> {
    let assets = [&*STYLE, &*SCRIPT, &*SUGGESTIONS, &*EXPORTS];
    assets.into_iter().find(|asset| asset.path == path)
}
