//! The origins whose pages may call this server from a browser. Programs that are no browsers name
//! none, and are not asked: what guards a player is the token, which a foreign page does not have.

use std::str::FromStr;

/// Origins as browsers write them, as in `https://play.example`, separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

/// The text is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no origin; write it as in https://play.example, without a path")]
pub struct NotAnOrigin(String);

impl Origins {
    pub fn contains(&self, origin: &str) -> bool {
        self.0.iter().any(|ours| ours == origin)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Origins {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(origin).collect::<Result<_, _>>().map(Self)
    }
}

/// Whether a page of this origin came from this very host, as the browser names it. A proxy that ends
/// TLS may make another scheme of it, so the scheme is not compared.
pub(super) fn is_of_host(origin: &str, host: Option<&str>) -> bool {
    let authority = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    authority.is_some_and(|authority| !authority.is_empty() && Some(authority) == host)
}

/// A scheme, a host, perhaps a port; nothing that a browser would write differently.
fn origin(text: &str) -> Result<String, NotAnOrigin> {
    let wrong = || NotAnOrigin(text.to_owned());
    let (scheme, host) = text.split_once("://").ok_or_else(wrong)?;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_host = |byte: u8| is_word(byte) || b".-:[]".contains(&byte);
    let is_sound = !scheme.is_empty()
        && scheme.bytes().all(|byte| is_word(byte) || byte == b'-')
        && !host.is_empty()
        && host.bytes().all(is_host);
    if is_sound { Ok(text.to_owned()) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::{Origins, is_of_host};

    #[test]
    fn an_origin_is_named_to_the_letter() {
        let origins: Origins = "https://play.example, http://[::1]:8080".parse().unwrap();
        assert!(origins.contains("https://play.example"));
        assert!(origins.contains("http://[::1]:8080"));
        for foreign in ["null", "", "https://play.example.evil", "http://play.example"] {
            assert!(!origins.contains(foreign), "{foreign}");
        }
        assert!("".parse::<Origins>().unwrap().is_empty());
    }

    #[test]
    fn pages_of_the_host_itself_are_told_from_others() {
        assert!(is_of_host("http://127.0.0.1:8080", Some("127.0.0.1:8080")));
        assert!(is_of_host("https://play.example", Some("play.example")));
        for foreign in
            ["null", "", "http://", "http://play.example:81", "http://a.play.example", "file://"]
        {
            assert!(!is_of_host(foreign, Some("play.example")), "{foreign}");
        }
        assert!(!is_of_host("http://", Some("")));
        assert!(!is_of_host("https://play.example", None));
    }

    #[test]
    fn what_no_browser_writes_is_refused() {
        for text in ["*", "play.example", "https://play.example/", "https://Play.example", "://x"] {
            assert!(text.parse::<Origins>().is_err(), "{text}");
        }
    }
}
