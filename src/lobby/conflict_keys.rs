//! Conflict keys, which keep two players apart at a table: a digest of each device, and one of the
//! network of the address (an IPv4 address, or the first 48 bits of an IPv6 address). The digests
//! are keyed with the house's secret, so that an address cannot be found by trying candidates
//! against a key. Blocks are not keys: each player carries a list of its own, which is compared
//! with the ids of the others.

use std::fmt;

use bahay_engine::matchmaking::{Candidate, ConflictKey};
use bahay_engine::table::PlayerId;
use sha2::{Digest as _, Sha256};

use crate::rate_limit::Address;
use crate::ratings::MatchmakingProfile;

/// The secret of the conflict keys, which keeps devices and addresses from being guessed. Its
/// `Debug` output omits it.
#[derive(Clone, Copy, Default)]
pub struct ConflictSecret(pub [u8; 32]);

impl fmt::Debug for ConflictSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConflictSecret(…)")
    }
}

/// Returns a player as a candidate for a table, with everything that keeps it apart from others.
/// The network counts only if `from` is given.
pub fn candidate(
    secret: &[u8; 32],
    player: PlayerId,
    profile: &MatchmakingProfile,
    from: Option<Address>,
) -> Candidate {
    Candidate {
        player,
        rating: profile.rating,
        conflict_keys: device_keys(secret, profile),
        network: from.map(|from| network_key(secret, from)),
        blocked: profile.blocked.iter().copied().collect(),
    }
}

/// Returns the keys of a player's devices, the newest first.
pub(super) fn device_keys(secret: &[u8; 32], profile: &MatchmakingProfile) -> Vec<ConflictKey> {
    profile.devices.iter().map(|device| conflict_key(secret, b"device", device)).collect()
}

/// Returns the key of an address's network, which for IPv6 is the range that one subscriber may
/// hold.
pub(super) fn network_key(secret: &[u8; 32], from: Address) -> ConflictKey {
    conflict_key(secret, b"network", from.network().to_string().as_bytes())
}

fn conflict_key(secret: &[u8; 32], kind: &[u8], value: &[u8]) -> ConflictKey {
    let mut hash = Sha256::new();
    hash.update(secret);
    hash.update(kind);
    hash.update(b":");
    hash.update(value);
    let digest: [u8; 32] = hash.finalize().into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    ConflictKey(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use bahay_engine::table::PlayerId;
    use uuid::Uuid;

    use super::candidate;
    use crate::ratings::MatchmakingProfile;

    fn profile(devices: &[u8], blocked: &[PlayerId]) -> MatchmakingProfile {
        let devices = devices.iter().map(|device| vec![*device; 32]).collect();
        MatchmakingProfile { devices, blocked: blocked.to_vec(), ..MatchmakingProfile::default() }
    }

    fn player(id: u128) -> PlayerId {
        PlayerId(Uuid::from_u128(id))
    }

    #[test]
    fn the_same_device_or_address_has_the_same_key() {
        let from = Some(IpAddr::V4(Ipv4Addr::LOCALHOST).into());
        let candidate_of =
            |secret: u8, id, from| candidate(&[secret; 32], player(id), &profile(&[7], &[]), from);
        let one = candidate_of(1, 1, from);
        let two = candidate_of(1, 2, from);
        assert_eq!((&one.conflict_keys, one.network), (&two.conflict_keys, two.network));
        assert_ne!(one.conflict_keys, candidate_of(2, 2, from).conflict_keys);
        assert_ne!(one.network, candidate_of(2, 2, from).network);
        assert_ne!(Some(one.conflict_keys[0]), one.network);
        assert_eq!(candidate_of(1, 1, None).network, None);
    }

    #[test]
    fn one_network_of_ipv6_has_one_key_whatever_the_address() {
        let network = |address: &str| {
            let from: IpAddr = address.parse().unwrap();
            candidate(&[1; 32], player(1), &profile(&[], &[]), Some(from.into())).network
        };
        assert_eq!(network("2001:db8:1:2::9"), network("2001:db8:1:fff::1"));
        assert_ne!(network("2001:db8:1:2::9"), network("2001:db8:2:2::9"));
        assert_ne!(network("203.0.113.9"), network("203.0.113.8"));
    }

    #[test]
    fn a_block_keeps_two_apart_from_either_side() {
        let candidate_of = |id, blocked: &[PlayerId]| {
            candidate(&[1; 32], player(id), &profile(&[], blocked), None)
        };
        let one = candidate_of(1, &[player(2)]);
        let [two, three] = [2, 3].map(|id| candidate_of(id, &[]));
        assert!(!one.may_meet(&two, false) && !two.may_meet(&one, false));
        assert!(one.may_meet(&three, false) && two.may_meet(&three, false));
    }
}
