//! The parsing of `Accept-Encoding`. Files are embedded in compressed form; no response is
//! compressed when it is sent.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;

/// Returns whether the client accepts this encoding with a weight above zero.
pub(crate) fn accepts_encoding(headers: &HeaderMap, encoding: &str) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let nothing = |weight: &str| {
            let weight = weight.trim_start_matches(['q', 'Q', '=', ' ']);
            weight.chars().all(|digit| matches!(digit, '0' | '.'))
        };
        is_named && !parts.next().is_some_and(nothing)
    })
}

#[cfg(test)]
mod tests {
    use super::accepts_encoding;
    use axum::http::HeaderMap;
    use axum::http::header::ACCEPT_ENCODING;

    #[test]
    fn an_encoding_is_used_only_if_the_client_accepts_it() {
        let accepts = |encoding: &str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            accepts_encoding(&headers, encoding)
        };
        for value in ["br", "gzip, deflate, br, zstd", "gzip;q=1, BR;q=0.5", "br; q=0.001"] {
            assert!(accepts("br", value), "{value}");
        }
        for value in ["gzip", "br;q=0", "br; q=0.0, gzip", "brotli", "zstd"] {
            assert!(!accepts("br", value), "{value}");
        }
        assert!(accepts("zstd", "gzip, deflate, br, zstd"));
        assert!(!accepts_encoding(&HeaderMap::new(), "br"));
    }
}
