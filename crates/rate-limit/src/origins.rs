//! The origins whose pages may call this server from a browser. Programs that are not browsers send
//! no origin and are not checked: a player is protected by its token, which a foreign page does not
//! have.

use std::str::FromStr;

use url::Host;

/// The default ports of `http` and `https`.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// Origins as browsers write them, as in `https://play.example`, separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<Origin>);

/// The error of a text that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no origin; write it as in https://play.example, without a path")]
pub struct ParseOriginError(String);

/// A scheme and an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    authority: Authority,
}

/// A host and its port in normal form: lower case, international names in punycode, without a final
/// dot.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Authority {
    host: Host,
    /// `None` if the port is not written.
    port: Option<u16>,
}

impl Origins {
    /// Returns whether pages of this origin may call.
    pub fn contains(&self, origin: &str) -> bool {
        Origin::parse(origin).is_some_and(|origin| self.0.contains(&origin))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Origins {
    type Err = ParseOriginError;

    fn from_str(text: &str) -> Result<Self, ParseOriginError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(parse_setting).collect::<Result<_, _>>().map(Self)
    }
}

/// Returns whether an origin is that of the requested host, as the browser names it. A proxy that
/// terminates TLS may change the scheme, so the scheme is not compared, and the default port of
/// either scheme equals an absent port.
pub fn is_same_host(origin: &str, host: Option<&str>) -> bool {
    let Some(Origin { scheme, authority }) = Origin::parse(origin) else {
        return false;
    };
    let Some(requested) = host.and_then(Authority::parse) else {
        return false;
    };
    let is_web = matches!(scheme.as_str(), "http" | "https");
    // The port of an origin is `None` if it is the default of its scheme.
    let is_default = |port: Option<u16>| port.is_none_or(|port| DEFAULT_PORTS.contains(&port));
    let is_port_same =
        authority.port == requested.port || authority.port.is_none() && is_default(requested.port);
    is_web && authority.host == requested.host && is_port_same
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let Authority { host, port } = Authority::parse(authority)?;
        let default = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let port = port.filter(|port| Some(*port) != default);
        Some(Self { scheme, authority: Authority { host, port } })
    }
}

impl Authority {
    fn parse(text: &str) -> Option<Self> {
        // The colons of an IPv6 address are within brackets.
        let is_port = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if is_port(port) => (host, port),
            Some(_) | None => (text, ""),
        };
        let port = match port {
            "" => None,
            port => Some(port.parse().ok()?),
        };
        let host = Host::parse(host.strip_suffix('.').unwrap_or(host)).ok()?;
        Some(Self { host, port })
    }
}

/// Parses a configured origin: a scheme, a host and an optional port, exactly as a browser would
/// write it.
fn parse_setting(text: &str) -> Result<Origin, ParseOriginError> {
    let wrong = || ParseOriginError(text.to_owned());
    let (scheme, host) = text.split_once("://").ok_or_else(wrong)?;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_host = |byte: u8| is_word(byte) || b".-:[]".contains(&byte);
    let is_sound = !scheme.is_empty()
        && scheme.bytes().all(|byte| is_word(byte) || byte == b'-')
        && !host.is_empty()
        && host.bytes().all(is_host);
    Origin::parse(text).filter(|_| is_sound).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{Origins, is_same_host};

    #[test]
    fn an_origin_matches_exactly() {
        let origins: Origins = "https://play.example, http://[::1]:8080".parse().unwrap();
        assert!(origins.contains("https://play.example"));
        assert!(origins.contains("http://[::1]:8080"));
        for foreign in ["null", "", "https://play.example.evil", "http://play.example"] {
            assert!(!origins.contains(foreign), "{foreign}");
        }
        assert!("".parse::<Origins>().unwrap().is_empty());
    }

    #[test]
    fn pages_of_the_host_itself_are_recognized() {
        assert!(is_same_host("http://127.0.0.1:8080", Some("127.0.0.1:8080")));
        assert!(is_same_host("https://play.example", Some("play.example")));
        for foreign in
            ["null", "", "http://", "http://play.example:81", "http://a.play.example", "file://"]
        {
            assert!(!is_same_host(foreign, Some("play.example")), "{foreign}");
        }
        assert!(!is_same_host("http://", Some("")));
        assert!(!is_same_host("https://play.example", None));
    }

    #[test]
    fn equivalent_spellings_are_the_same_host() {
        for (origin, host) in [
            ("https://play.example", "play.example:443"),
            ("https://play.example:443", "play.example"),
            ("http://play.example", "play.example:80"),
            ("http://play.example:80", "play.example"),
            // TLS terminated at a proxy that names its own port.
            ("https://play.example", "play.example:80"),
            ("https://play.example", "PLAY.Example"),
            ("HTTPS://Play.Example", "play.example"),
            ("https://play.example", "play.example."),
            ("https://play.example.", "play.example"),
            ("https://play.example.:443", "play.example"),
            ("https://play.example:8443", "play.example.:8443"),
            ("https://xn--pea-8ma.example", "pe\u{f1}a.example"),
            ("https://xn--pea-8ma.example", "PE\u{d1}A.example:443"),
            ("http://[2001:db8::1]:8080", "[2001:DB8:0::1]:8080"),
            ("http://[::1]", "[::1]:80"),
            ("https://play.example", "play.example:"),
        ] {
            assert!(is_same_host(origin, Some(host)), "{origin} at {host}");
        }
        for (origin, host) in [
            ("https://play.example:80", "play.example"),
            ("https://play.example:8443", "play.example"),
            ("https://play.example", "play.example:8443"),
            ("https://play.example..", "play.example"),
            ("https://user@play.example", "play.example"),
            ("https://play.example/", "play.example"),
            ("https://play.example:99999", "play.example"),
            ("https://play.example", "play.example, evil.example"),
            ("https://play.example", ""),
            ("ftp://play.example", "play.example"),
        ] {
            assert!(!is_same_host(origin, Some(host)), "{origin} at {host}");
        }
    }

    #[test]
    fn a_default_port_is_optional_in_the_setting() {
        let origins: Origins = "https://play.example:443,http://m.example".parse().unwrap();
        assert!(origins.contains("https://play.example"));
        assert!(origins.contains("http://m.example:80") && origins.contains("http://M.example."));
        assert!(!origins.contains("http://play.example"));
        assert!(!origins.contains("https://m.example"));
    }

    #[test]
    fn a_setting_that_no_browser_writes_is_refused() {
        for text in ["*", "play.example", "https://play.example/", "https://Play.example", "://x"] {
            assert!(text.parse::<Origins>().is_err(), "{text}");
        }
    }
}
