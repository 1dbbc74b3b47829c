//! Which encodings a client reads. Files in the program are kept compressed, and nothing is
//! compressed for an answer.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;

/// Whether the client says that it reads this encoding, and not with a weight of nothing.
pub(super) fn takes(headers: &HeaderMap, encoding: &str) -> bool {
    let said = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|said| said.to_str().ok());
    said.flat_map(|said| said.split(',')).any(|one| {
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
    use super::takes;
    use axum::http::HeaderMap;
    use axum::http::header::ACCEPT_ENCODING;

    #[test]
    fn an_encoding_goes_to_who_takes_it() {
        let takes_it = |encoding: &str, said: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, said.parse().unwrap());
            takes(&headers, encoding)
        };
        for said in ["br", "gzip, deflate, br, zstd", "gzip;q=1, BR;q=0.5", "br; q=0.001"] {
            assert!(takes_it("br", said), "{said}");
        }
        for said in ["gzip", "br;q=0", "br; q=0.0, gzip", "brotli", "zstd"] {
            assert!(!takes_it("br", said), "{said}");
        }
        assert!(takes_it("zstd", "gzip, deflate, br, zstd"));
        assert!(!takes(&HeaderMap::new(), "br"));
    }
}
