//! The documentation of the API for people: the OpenAPI document, a page that displays it, and a
//! page that lists the problem codes.
//!
//! All files are embedded in the binary, so a page loads nothing from other servers. The large
//! files are embedded in compressed form. They are sent as they are to clients that accept zstd;
//! for other clients they are decompressed once, at the first such request, and kept in memory from
//! then on.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY,
};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use super::accept_encoding::accepts_encoding;
use crate::http::{Code, Services};

static SCRIPT: VendoredFile = VendoredFile {
    content_type: JAVASCRIPT,
    zstd: include_bytes!("../../../assets/swagger-ui/swagger-ui-bundle.js.zst"),
    decompressed: LazyLock::new(|| decompress(SCRIPT.zstd)),
};
static STYLE: VendoredFile = VendoredFile {
    content_type: CSS,
    zstd: include_bytes!("../../../assets/swagger-ui/swagger-ui.css.zst"),
    decompressed: LazyLock::new(|| decompress(STYLE.zstd)),
};

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// Caching for one day; the vendored files change only with the binary.
const CACHE: (HeaderName, &str) = (CACHE_CONTROL, "public, max-age=86400");

/// The content security policy: a page loads only files of this server. Inline styles are allowed
/// because the viewer sets them on elements.
const POLICY: (HeaderName, &str) = (
    CONTENT_SECURITY_POLICY,
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     frame-ancestors 'none'",
);

const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>bahay: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"#;

const START: &str = "SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
});
";

/// Returns the routes of the documentation. The document of the API is serialized once.
pub(crate) fn routes() -> Router<Services> {
    let document = bahay_api::openapi();
    let json = Bytes::from(document.to_json().expect("the document can be serialized"));
    Router::new()
        .route("/openapi.json", get(async move || ([(CONTENT_TYPE, "application/json")], json)))
        .route("/docs", get(async || ([POLICY], Html(PAGE))))
        .route("/docs/start.js", get(async || ([(CONTENT_TYPE, JAVASCRIPT)], START)))
        .route("/docs/swagger-ui-bundle.js", get(async |head: HeaderMap| SCRIPT.respond(&head)))
        .route("/docs/swagger-ui.css", get(async |head: HeaderMap| STYLE.respond(&head)))
        .route("/problems", get(serve_problems))
}

/// A vendored file, embedded in compressed form.
struct VendoredFile {
    content_type: &'static str,
    zstd: &'static [u8],
    decompressed: LazyLock<Bytes>,
}

impl VendoredFile {
    fn respond(&self, headers: &HeaderMap) -> Response {
        let response_headers =
            [(CONTENT_TYPE, self.content_type), CACHE, (VARY, "accept-encoding")];
        if accepts_encoding(headers, "zstd") {
            return (response_headers, [(CONTENT_ENCODING, "zstd")], self.zstd).into_response();
        }
        (response_headers, self.decompressed.clone()).into_response()
    }
}

fn decompress(file: &[u8]) -> Bytes {
    zstd::decode_all(file).expect("an embedded file can be decompressed").into()
}

/// Serves the page to which the `type` of a problem points.
async fn serve_problems() -> impl IntoResponse {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>bahay: problems</title>\n</head>\n<body>\n<h1>Problems</h1>\n<dl>\n",
    );
    for code in Code::ALL {
        let name = code.as_str();
        let status = code.status().as_u16();
        let title = code.title();
        writeln!(page, "<dt id=\"{name}\"><code>{name}</code> ({status})</dt><dd>{title}.</dd>")
            .expect("writing to a string succeeds");
    }
    page.push_str("</dl>\n</body>\n</html>\n");
    ([POLICY], Html(page))
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, STYLE};
    use bahay_engine::hex::Hex;
    use sha2::{Digest as _, Sha256};

    /// Compares the files with the checksums in assets/swagger-ui/README.md, which are those of the
    /// published package.
    #[test]
    fn vendored_files_are_those_of_their_package() {
        let readme = include_str!("../../../assets/swagger-ui/README.md");
        for (file, name) in [(&SCRIPT, "swagger-ui-bundle.js"), (&STYLE, "swagger-ui.css")] {
            let digest: [u8; 32] = Sha256::digest(&*file.decompressed).into();
            let line = format!("{}  {name}\n", Hex(digest));
            assert!(readme.contains(&line), "{line}");
        }
    }
}
