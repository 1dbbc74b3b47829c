//! The API for people to read: the document itself, a page that shows it, and one about problems.
//!
//! Everything is in the program, so a page asks no other server for anything. The large files
//! are compressed there. Whoever reads zstd is sent them as they are, and they take no memory; for
//! others they are decompressed once, when the first of these asks.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY,
};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use utoipa::openapi::OpenApi;

use super::Code;
use super::encoding::takes;

static SCRIPT: File = File {
    kind: JAVASCRIPT,
    zstd: include_bytes!("../../assets/swagger-ui/swagger-ui-bundle.js.zst"),
    plain: LazyLock::new(|| decompressed(SCRIPT.zstd)),
};
static STYLE: File = File {
    kind: CSS,
    zstd: include_bytes!("../../assets/swagger-ui/swagger-ui.css.zst"),
    plain: LazyLock::new(|| decompressed(STYLE.zstd)),
};

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The vendored files change only with the program.
const CACHE: (HeaderName, &str) = (CACHE_CONTROL, "public, max-age=86400");

/// What a page may load: its own files. The viewer sets styles on elements as it goes.
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

/// Always gives this document, serialized once.
pub(super) fn openapi_json<S: Clone + Send + Sync + 'static>(
    document: &OpenApi,
) -> MethodRouter<S> {
    let json = document.to_json().expect("a document of our own serializes");
    let json = Bytes::from(json);
    get(async move || ([(CONTENT_TYPE, "application/json")], json))
}

pub(super) async fn page() -> impl IntoResponse {
    ([POLICY], Html(PAGE))
}

pub(super) async fn start_script() -> impl IntoResponse {
    ([(CONTENT_TYPE, JAVASCRIPT)], START)
}

pub(super) async fn script(headers: HeaderMap) -> Response {
    SCRIPT.send(&headers)
}

pub(super) async fn style(headers: HeaderMap) -> Response {
    STYLE.send(&headers)
}

/// A vendored file.
struct File {
    kind: &'static str,
    zstd: &'static [u8],
    plain: LazyLock<Bytes>,
}

impl File {
    fn send(&self, headers: &HeaderMap) -> Response {
        let told = [(CONTENT_TYPE, self.kind), CACHE, (VARY, "accept-encoding")];
        if takes(headers, "zstd") {
            return (told, [(CONTENT_ENCODING, "zstd")], self.zstd).into_response();
        }
        (told, self.plain.clone()).into_response()
    }
}

fn decompressed(file: &[u8]) -> Bytes {
    zstd::decode_all(file).expect("a file of our own decompresses").into()
}

/// What the `type` of a problem points to.
pub(super) async fn problems() -> impl IntoResponse {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>bahay: problems</title>\n</head>\n<body>\n<h1>Problems</h1>\n<dl>\n",
    );
    for code in Code::ALL {
        let (name, status, title) = (code.as_str(), code.status().as_u16(), code.title());
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

    /// As assets/swagger-ui/README.md has them, and whoever unpacks the package.
    #[test]
    fn vendored_files_are_those_of_their_package() {
        let readme = include_str!("../../assets/swagger-ui/README.md");
        for (file, name) in [(&SCRIPT, "swagger-ui-bundle.js"), (&STYLE, "swagger-ui.css")] {
            let digest: [u8; 32] = Sha256::digest(&*file.plain).into();
            let line = format!("{}  {name}\n", Hex(digest));
            assert!(readme.contains(&line), "{line}");
        }
    }
}
