//! Limits that count both an address and its network, since a subscriber with an IPv6 network has
//! 65,536 addresses of 64 bits.
//!
//! The limit of a network is [`NETWORK_SHARE`] times that of an address. An IPv4 address is its own
//! network and is counted once.

use super::concurrency::{ConcurrencyLimit, Permit};
use super::token_buckets::{Rate, TokenBuckets};
use super::{Address, AdmissionError, Network};

/// The limit of a network, in limits of an address.
pub const NETWORK_SHARE: u32 = 4;

/// A rate limit by address and by network.
#[derive(Debug)]
pub(super) struct NetworkRateLimit {
    addresses: TokenBuckets<Address>,
    networks: TokenBuckets<Network>,
}

impl NetworkRateLimit {
    pub(super) fn new(rate: Rate) -> Self {
        let Rate { per_second, burst } = rate;
        let of_network = Rate {
            per_second: per_second.saturating_mul(NETWORK_SHARE),
            burst: burst.saturating_mul(NETWORK_SHARE),
        };
        Self { addresses: TokenBuckets::new(rate), networks: TokenBuckets::new(of_network) }
    }

    pub(super) fn acquire(&self, from: Address) -> Result<(), AdmissionError> {
        self.addresses.acquire(from)?;
        match from.wider_network() {
            Some(network) => self.networks.acquire(network),
            None => Ok(()),
        }
    }
}

/// A concurrency limit by address and by network.
#[derive(Debug)]
pub(super) struct NetworkConcurrencyLimit {
    addresses: ConcurrencyLimit<Address>,
    networks: ConcurrencyLimit<Network>,
}

/// A permit that is held until it is dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    _of_address: Permit<Address>,
    _of_network: Option<Permit<Network>>,
}

impl NetworkConcurrencyLimit {
    pub(super) fn new(most: u32) -> Self {
        let of_network = most.saturating_mul(NETWORK_SHARE);
        Self { addresses: ConcurrencyLimit::new(most), networks: ConcurrencyLimit::new(of_network) }
    }

    pub(super) fn acquire(&self, from: Address) -> Result<ConnectionPermit, AdmissionError> {
        let of_address = self.addresses.acquire(from)?;
        let network = from.wider_network();
        let of_network = network.map(|network| self.networks.acquire(network)).transpose()?;
        Ok(ConnectionPermit { _of_address: of_address, _of_network: of_network })
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, NETWORK_SHARE, NetworkConcurrencyLimit, NetworkRateLimit, Rate};
    use std::net::{IpAddr, Ipv6Addr};

    fn ipv6(house: u16) -> Address {
        IpAddr::from(Ipv6Addr::new(0x2001, 0xDB8, 1, house, 0, 0, 0, 1)).into()
    }

    fn ipv4(last: u8) -> Address {
        IpAddr::from([192, 0, 2, last]).into()
    }

    #[test]
    fn a_network_has_less_than_the_sum_of_its_addresses() {
        let rate = NetworkRateLimit::new(Rate { per_second: 1, burst: 10 });
        let connections = NetworkConcurrencyLimit::new(10);
        let share = usize::try_from(NETWORK_SHARE).expect("a small number");
        let taken = (0..1_000).filter(|house| rate.acquire(ipv6(*house)).is_ok()).count();
        assert!((share * 10..share * 12).contains(&taken), "{taken}");
        let kept: Vec<_> =
            (0..1_000).filter_map(|house| connections.acquire(ipv6(house)).ok()).collect();
        assert_eq!(kept.len(), share * 10);
        let other = IpAddr::from(Ipv6Addr::new(0x2001, 0xDB8, 2, 0, 0, 0, 0, 1)).into();
        assert!(
            rate.acquire(other).is_ok() && connections.acquire(other).is_ok(),
            "another network"
        );
        drop(kept);
        assert!(connections.acquire(ipv6(0)).is_ok(), "the permit is released in both");
    }

    #[test]
    fn addresses_of_ipv4_are_limited_separately() {
        let rate = NetworkRateLimit::new(Rate { per_second: 1, burst: 1 });
        assert!((0..100).all(|last| rate.acquire(ipv4(last)).is_ok()));
        assert!((0..100).all(|last| rate.acquire(ipv4(last)).is_err()));
    }
}
