//! The address of a client for rate limits: the peer's, or the one that a trusted proxy reports.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// The unit of limits by address: an IPv4 address, or the first 64 bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address(IpAddr);

/// The network of an address, which one subscriber may hold: an IPv4 address itself, or the first
/// 48 bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(IpAddr);

/// The smallest IPv6 prefix that a provider assigns to a customer.
const IPV6_BITS: u32 = 64;

/// The largest IPv6 prefix that a provider assigns to a customer by default.
const NETWORK_BITS: u32 = 48;

impl Address {
    pub fn network(self) -> Network {
        Network(truncate_ipv6(self.0, NETWORK_BITS))
    }

    /// Returns the network if it can contain more than one address.
    pub(super) fn wider_network(self) -> Option<Network> {
        self.0.is_ipv6().then(|| self.network())
    }
}

/// Returns the prefix of an IPv6 address, and an IPv4 address unchanged.
fn truncate_ipv6(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> (128 - bits) << (128 - bits)).into(),
    }
}

/// Writes an IPv4 address, or an IPv6 network with the length of its prefix.
fn write_network(f: &mut fmt::Formatter<'_>, network: IpAddr, bits: u32) -> fmt::Result {
    match network {
        IpAddr::V4(v4) => write!(f, "{v4}"),
        IpAddr::V6(v6) => write!(f, "{v6}/{bits}"),
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_network(f, self.0, NETWORK_BITS)
    }
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        Self(truncate_ipv6(address.to_canonical(), IPV6_BITS))
    }
}

/// The address for people: for IPv6 the network.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_network(f, self.0, IPV6_BITS)
    }
}

/// The proxies whose `X-Forwarded-For` is trusted: addresses and networks, separated by commas, as
/// in `127.0.0.1,10.0.7.0/28`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<ProxyNetwork>);

/// The error of a text that is no list of networks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address or network; write it as in 127.0.0.1,10.0.7.0/28")]
pub struct ParseNetworkError(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProxyNetwork {
    address: IpAddr,
    /// The length of the prefix, in bits.
    bits: u32,
}

impl Proxies {
    /// Returns the address of a client. `forwarded` are the values of `X-Forwarded-For`, in order.
    /// Each proxy appends the address that it sees, so the last one that is not a trusted proxy's
    /// is the client's, and all earlier ones may be forged. Empty elements are skipped. An
    /// unreadable element ends the search, and the address found before it counts.
    pub fn client<'a>(
        &self,
        peer: IpAddr,
        forwarded: impl DoubleEndedIterator<Item = &'a str>,
    ) -> Address {
        let mut client = peer.to_canonical();
        for hop in forwarded.rev().flat_map(|header| header.rsplit(',')) {
            if !self.contains(client) {
                break;
            }
            let hop = hop.trim();
            // RFC 9110 (5.6.1) allows empty elements in a list.
            if hop.is_empty() {
                continue;
            }
            // Elements beyond an unreadable one may be forged, so the last address counts.
            let Some(before) = parse_hop(hop) else {
                break;
            };
            client = before.to_canonical();
        }
        client.into()
    }

    /// Returns whether the address belongs to a trusted proxy.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(address))
    }
}

/// Parses an element of `X-Forwarded-For`. Proxies write an address alone, with a port
/// (`192.0.2.1:5678`), in brackets (`[2001:db8::1]`, `[2001:db8::1]:443`), with a zone
/// (`fe80::1%eth0`), or any of these in quotes.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let quoted = ['"', '\'']
        .iter()
        .find_map(|quote| hop.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote)));
    let hop = quoted.unwrap_or(hop).trim();
    if let Some(rest) = hop.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let is_sound = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return parse_address(address).filter(|_| is_sound);
    }
    match hop.split_once(':') {
        // An IPv6 address has more than one colon, and a port only outside of brackets.
        Some((address, port)) if !port.contains(':') => {
            address.parse().ok().filter(|_| is_port(port)).map(IpAddr::V4)
        }
        Some(_) | None => parse_address(hop),
    }
}

/// Parses an address and drops its zone, which has a meaning only on its own machine.
fn parse_address(text: &str) -> Option<IpAddr> {
    match text.split_once('%') {
        Some((address, _)) => address.parse().ok().map(IpAddr::V6),
        None => text.parse().ok(),
    }
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

impl FromStr for Proxies {
    type Err = ParseNetworkError;

    fn from_str(text: &str) -> Result<Self, ParseNetworkError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl ProxyNetwork {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                (ours.to_bits() ^ theirs.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                (ours.to_bits() ^ theirs.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for ProxyNetwork {
    type Err = ParseNetworkError;

    fn from_str(text: &str) -> Result<Self, ParseNetworkError> {
        let wrong = || ParseNetworkError(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(all), |bits| bits.parse().map_err(|_| wrong()))?;
        if bits > all { Err(wrong()) } else { Ok(Self { address, bits }) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Proxies};
    use std::net::IpAddr;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn client(proxies: &str, peer: &str, forwarded: &[&str]) -> Address {
        let proxies: Proxies = proxies.parse().unwrap();
        proxies.client(ip(peer), forwarded.iter().copied())
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        for (proxies, peer, forwarded, expected) in [
            ("", "9.9.9.9", &["1.1.1.1"][..], "9.9.9.9"),
            ("9.9.9.9", "9.9.9.9", &[], "9.9.9.9"),
            ("9.9.9.9", "9.9.9.9", &["1.1.1.1"], "1.1.1.1"),
            // The client has forged the first address.
            ("9.9.9.9", "9.9.9.9", &["8.8.8.8, 1.1.1.1"], "1.1.1.1"),
            ("9.9.9.9", "9.9.9.9", &["8.8.8.8", "1.1.1.1"], "1.1.1.1"),
            // Two proxies in a chain.
            ("9.9.9.9,10.0.0.0/8", "9.9.9.9", &["8.8.8.8, 1.1.1.1, 10.7.7.7"], "1.1.1.1"),
            ("9.9.9.9", "9.9.9.9", &["1.1.1.1, nonsense"], "9.9.9.9"),
            ("::1", "::1", &["::ffff:1.1.1.1"], "1.1.1.1"),
            ("127.0.0.1", "::ffff:127.0.0.1", &["1.1.1.1"], "1.1.1.1"),
        ] {
            let expected = Address::from(ip(expected));
            assert_eq!(client(proxies, peer, forwarded), expected, "{peer} {forwarded:?}");
        }
    }

    /// Proxies of Azure, IIS, HAProxy and others add ports, brackets or quotes.
    #[test]
    fn addresses_parse_in_every_form_of_proxies() {
        for (hop, expected) in [
            ("1.2.3.4:5678", "1.2.3.4"),
            (" 1.2.3.4:5678 ", "1.2.3.4"),
            ("\"1.2.3.4:5678\"", "1.2.3.4"),
            ("'1.2.3.4'", "1.2.3.4"),
            ("\"1.2.3.4\"", "1.2.3.4"),
            ("[1.2.3.4]:80", "1.2.3.4"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("\"[2001:db8::1]:443\"", "2001:db8::1"),
            ("2001:DB8::1%eth0", "2001:db8::1"),
            ("[2001:db8::1%25eth0]:443", "2001:db8::1"),
            ("[::ffff:1.2.3.4]:443", "1.2.3.4"),
            ("1.2.3.4,", "1.2.3.4"),
            ("8.8.8.8, \"[2001:db8::1]:443\" ,, ", "2001:db8::1"),
        ] {
            let expected = Address::from(ip(expected));
            assert_eq!(client("9.9.9.9", "9.9.9.9", &[hop]), expected, "{hop}");
        }
        let chain = ["8.8.8.8", "\"[2001:db8::1]:443\", 10.1.1.1:80"];
        let chained = client("9.9.9.9,10.0.0.0/8", "9.9.9.9", &chain);
        assert_eq!(chained, Address::from(ip("2001:db8::1")), "a trusted hop with a port");
    }

    #[test]
    fn an_unreadable_hop_leaves_the_last_trusted_address() {
        for hop in [
            "unknown",
            "_hidden",
            "1.2.3.4:",
            "1.2.3.4:x",
            "1.2.3.4:70000",
            "1.2.3.4:+80",
            "[1.2.3.4",
            "1.2.3.4]",
            "[2001:db8::1]443",
            "[2001:db8::1]:",
            "\"1.2.3.4",
            "1.2.3.4 5678",
            "1.2.3.4%x",
            "for=1.2.3.4",
            "[]",
            "\"\"",
        ] {
            let forwarded = format!("8.8.8.8, {hop}");
            let expected = Address::from(ip("9.9.9.9"));
            assert_eq!(client("9.9.9.9", "9.9.9.9", &[&forwarded]), expected, "{hop}");
        }
    }

    #[test]
    fn ipv6_counts_by_its_network() {
        let address = |text: &str| Address::from(ip(text));
        assert_eq!(address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::9"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:1.2.3.4"), address("1.2.3.4"));
        assert_eq!(address("2001:db8:1:2::1").to_string(), "2001:db8:1:2::/64");
        assert_eq!(address("::ffff:1.2.3.4").to_string(), "1.2.3.4");
        let network = |text: &str| address(text).network().to_string();
        assert_eq!(network("2001:db8:1:2::1"), "2001:db8:1::/48");
        assert_eq!(network("1.2.3.4"), "1.2.3.4");
    }

    #[test]
    fn invalid_networks_are_refused() {
        for text in ["x", "1.2.3", "1.2.3.4/33", "::1/129", "1.2.3.4/", "1.2.3.4/-1"] {
            assert!(text.parse::<Proxies>().is_err(), "{text}");
        }
        assert_eq!(" ,".parse::<Proxies>(), Ok(Proxies::default()));
    }
}
