//! What keeps two players apart at a table: a digest of each device, of the network of the address
//! (an IPv4 address, or the first 48 bits of an IPv6 address), and of each pair of which one has
//! blocked the other. With the house's key in it, so that nobody who sees a
//! key can try out which address it is of.

use bahay_engine::matchmaking::ConflictKey;
use bahay_engine::table::PlayerId;
use sha2::{Digest as _, Sha256};

use crate::edge::Address;
use crate::ratings::Bearing;

/// The conflict keys of a player who comes from this address.
pub(crate) fn of(
    key: &[u8; 32],
    player: PlayerId,
    bearing: &Bearing,
    from: Option<Address>,
) -> Vec<ConflictKey> {
    let devices = bearing.devices.iter().map(|device| conflict_key(key, b"device", device));
    // Of IPv6 the network, which is one subscriber's with all its addresses.
    let network = from.map(|from| from.network().to_string());
    let network = network.map(|network| conflict_key(key, b"network", network.as_bytes()));
    let apart = bearing.apart.iter().map(|other| {
        // Both have the same, whoever has blocked whom.
        let pair = [player.min(*other), player.max(*other)].map(|one| one.0.into_bytes());
        conflict_key(key, b"pair", pair.as_flattened())
    });
    devices.chain(network).chain(apart).collect()
}

fn conflict_key(key: &[u8; 32], kind: &[u8], what: &[u8]) -> ConflictKey {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update(kind);
    hash.update(b":");
    hash.update(what);
    let digest: [u8; 32] = hash.finalize().into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    ConflictKey(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use bahay_engine::table::PlayerId;
    use uuid::Uuid;

    use super::of;
    use crate::ratings::Bearing;

    fn bearing(devices: &[u8], apart: &[PlayerId]) -> Bearing {
        let devices = devices.iter().map(|device| vec![*device; 32]).collect();
        let (name, apart) = (String::new(), apart.to_vec());
        Bearing { name, avatar: None, rating: 0, recent: vec![], devices, apart }
    }

    #[test]
    fn the_same_device_or_address_has_the_same_mark() {
        let from = Some(IpAddr::V4(Ipv4Addr::LOCALHOST).into());
        let [one, two] = [PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2))];
        let conflict_keys = of(&[1; 32], one, &bearing(&[7], &[]), from);
        assert_eq!(conflict_keys, of(&[1; 32], two, &bearing(&[7], &[]), from));
        assert_ne!(conflict_keys, of(&[2; 32], two, &bearing(&[7], &[]), from));
        assert_ne!(conflict_keys[0], conflict_keys[1]);
        assert_eq!(of(&[1; 32], one, &bearing(&[7], &[]), None), conflict_keys[..1]);
    }

    #[test]
    fn one_network_of_ipv6_has_one_mark_whatever_the_address() {
        let player = PlayerId(Uuid::from_u128(1));
        let keys = |address: &str| {
            let from: IpAddr = address.parse().unwrap();
            of(&[1; 32], player, &bearing(&[], &[]), Some(from.into()))
        };
        assert_eq!(keys("2001:db8:1:2::9"), keys("2001:db8:1:fff::1"));
        assert_ne!(keys("2001:db8:1:2::9"), keys("2001:db8:2:2::9"));
        assert_ne!(keys("203.0.113.9"), keys("203.0.113.8"));
    }

    #[test]
    fn who_has_blocked_another_shares_a_mark_with_the_other_alone() {
        let [one, two, three] = [1, 2, 3].map(|id| PlayerId(Uuid::from_u128(id)));
        let conflict_keys =
            |player, apart: &[PlayerId]| of(&[1; 32], player, &bearing(&[], apart), None);
        assert_eq!(conflict_keys(one, &[two]), conflict_keys(two, &[one]));
        assert_ne!(conflict_keys(one, &[two]), conflict_keys(three, &[two]));
    }
}
