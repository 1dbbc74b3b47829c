//! The retrieval of issuers' documents: short JSON over HTTPS.
//!
//! Bounds: five seconds and 256 KiB a document. Redirections are not followed, so that a configured
//! issuer cannot send the server elsewhere. Plain HTTP is only for issuers on this machine.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use url::{Host, Url};

/// The deadline of a document.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The largest document, in bytes.
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// Fetches documents. Clones share connections.
#[derive(Clone, Debug)]
pub(super) struct Fetcher(Client<HttpsConnector<HttpConnector>, Empty<&'static [u8]>>);

impl Fetcher {
    pub(super) fn new() -> Self {
        let connector =
            HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().build();
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }

    /// Fetches a JSON document.
    ///
    /// # Errors
    /// The reason, as text.
    pub(super) async fn fetch_json(&self, address: &str) -> Result<Value, String> {
        if !is_allowed_address(address) {
            return Err(format!("{address} is not an allowed address"));
        }
        let fetched = tokio::time::timeout(TIMEOUT, self.fetch(address)).await;
        fetched.unwrap_or_else(|_| Err(format!("{address} did not answer in time")))
    }

    async fn fetch(&self, address: &str) -> Result<Value, String> {
        let wrong = |error: String| format!("{address}: {error}");
        let uri = address.parse().map_err(|_| wrong("no address".into()))?;
        let response = self.0.get(uri).await.map_err(|error| wrong(error.to_string()))?;
        if !response.status().is_success() {
            return Err(wrong(format!("status {}", response.status())));
        }
        let body = Limited::new(response.into_body(), DOCUMENT_BYTES_MAX).collect().await;
        let body = body.map_err(|error| wrong(error.to_string()))?.to_bytes();
        serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()))
    }
}

/// Returns whether documents may be fetched from an address: over HTTPS, or from this machine. The
/// text must equal its normalized form, so that a reader sees the host that is contacted.
pub(super) fn is_allowed_address(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let is_as_read = url.as_str() == text || url.as_str().strip_suffix('/') == Some(text);
    let names_somebody = !url.username().is_empty() || url.password().is_some();
    if !is_as_read || names_somebody || url.fragment().is_some() {
        return false;
    }
    match (url.scheme(), url.host()) {
        ("https", Some(_)) => true,
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        ("http", Some(Host::Domain(name))) => name == "localhost",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_allowed_address;

    #[test]
    fn documents_are_fetched_over_https_or_from_this_machine() {
        for good in
            ["https://id.example", "http://127.0.0.1:81/a", "http://[::1]:8", "http://localhost"]
        {
            assert!(is_allowed_address(good), "{good}");
        }
        for bad in [
            "",
            "https://",
            "https:///x",
            "https:id.example",
            "ftp://x",
            "http://id.example",
            "http://127.0.0.1.evil",
            "http://localhost.evil",
            "http://localhost@evil",
            "http://evil:1@x",
            // User information, a fragment or a backslash makes the address contact another host
            // than it seems to.
            "http://localhost:80@evil.example/keys",
            "http://127.0.0.1#@evil.example",
            "http://127.0.0.1\\@evil.example",
            "http://evil.example\\@127.0.0.1",
            "http://[::1]@evil.example",
            "http://[::1].evil.example",
            "https://id.example@evil.example",
            "https://id.example:99999",
            "https://id example",
            "https://id.example\n",
            "http://\u{ff11}27.0.0.1",
        ] {
            assert!(!is_allowed_address(bad), "{bad}");
        }
    }
}
