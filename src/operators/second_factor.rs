//! The second factor of a sign-in: a code of six digits from an authenticator, a new one every 30
//! seconds (RFC 6238). The code before and the one after are good too, for clocks that are off.

use std::fmt;

use totp_rs::{Builder, Totp};
use uuid::Uuid;

use crate::auth::{SealingKeys, Unsealed};
use crate::clock::Timestamp;
use crate::entropy;

/// As long as the hash inside is wide (RFC 4226).
const SECRET_BYTES: usize = 20;

/// What an operator's authenticator and the house share. Prints without itself.
#[derive(Clone, PartialEq, Eq)]
pub struct SecondFactor([u8; SECRET_BYTES]);

impl fmt::Debug for SecondFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecondFactor(…)")
    }
}

impl SecondFactor {
    pub(super) fn random() -> Self {
        let mut secret = [0; SECRET_BYTES];
        secret.copy_from_slice(&entropy::seed()[..SECRET_BYTES]);
        Self(secret)
    }

    /// As it was stored for an operator, and whether it would be stored so now; `None` when no key
    /// opens it.
    pub(super) fn unseal(
        stored: &[u8],
        keys: &SealingKeys,
        operator: Uuid,
    ) -> Option<(Self, bool)> {
        let Unsealed { secret, is_current } = keys.open(stored, &owner(operator), SECRET_BYTES)?;
        Some((Self::from_bytes(&secret)?, is_current))
    }

    /// As it is to be stored for an operator.
    pub(super) fn seal(&self, keys: &SealingKeys, operator: Uuid) -> Vec<u8> {
        keys.seal(&self.0, &owner(operator))
    }

    /// `None` when there are not as many as ours has.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// As people type it; `None` when it is no secret of ours.
    pub fn from_base32(text: &str) -> Option<Self> {
        let secret = totp_rs::Secret::try_from_base32(text).ok()?;
        Self::from_bytes(secret.as_ref())
    }

    /// For people who type it.
    pub fn to_base32(&self) -> String {
        self.totp().secret().to_base32()
    }

    /// For authenticators that read it from a picture.
    pub fn uri(&self, operator: &str) -> String {
        let secret = self.to_base32();
        format!("otpauth://totp/bahay:{operator}?secret={secret}&issuer=bahay")
    }

    /// The time step of a code that is good now.
    pub(super) fn find_step(&self, code: &str, now: Timestamp) -> Option<i64> {
        let step = self.totp().check(code, seconds(now))?;
        i64::try_from(step).ok()
    }

    /// The code of a moment, as an authenticator shows it.
    pub fn code(&self, now: Timestamp) -> String {
        self.totp().generate(seconds(now)).to_string()
    }

    fn totp(&self) -> Totp {
        let secret: Box<[u8]> = Box::new(self.0);
        Builder::new().with_secret(secret).build_noncompliant()
    }
}

/// What a stored factor is bound to, so that it is good in its operator's row alone.
fn owner(operator: Uuid) -> Vec<u8> {
    [b"second factor ", operator.as_bytes().as_slice()].concat()
}

fn seconds(now: Timestamp) -> u64 {
    u64::try_from(now.ms().div_euclid(1_000)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{SecondFactor, Timestamp};

    /// The example of RFC 6238, with six digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let factor = SecondFactor(*b"12345678901234567890");
        let at = |seconds: i64| Timestamp::from_ms(seconds * 1_000);
        assert_eq!(factor.code(at(59)), "287082");
        assert_eq!(factor.code(at(1_111_111_109)), "081804");
        assert_eq!(factor.to_base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(SecondFactor::from_base32(&factor.to_base32()), Some(factor.clone()));
        assert_eq!(factor.find_step("287082", at(59)), Some(1));
        assert_eq!(factor.find_step("287082", at(89)), Some(1), "one step later");
        assert_eq!(factor.find_step("287082", at(90)), None, "two steps later");
        for wrong in ["", "28708", "2870822", "28708x", "000000"] {
            assert_eq!(factor.find_step(wrong, at(59)), None, "{wrong}");
        }
        assert_eq!(format!("{factor:?}"), "SecondFactor(…)");
    }
}
