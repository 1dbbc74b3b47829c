//! The second factor of an operator's sign-in: time-based one-time passwords of six digits and 30 seconds (RFC
//! 6238). The previous and the next code are accepted as well, to tolerate clock skew.

use std::fmt;

use bahay_base::clock::Timestamp;
use bahay_base::entropy;
use totp_rs::{Builder, Totp};
use uuid::Uuid;

use crate::sealing::{SealingKeys, UnsealedSecret};

/// The length of the secret: that of the hash (RFC 4226).
const SECRET_BYTES: usize = 20;

/// The secret that an operator's authenticator and the house share. Its `Debug` output omits the
/// secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SecondFactor([u8; SECRET_BYTES]);

impl fmt::Debug for SecondFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecondFactor(…)")
    }
}

impl SecondFactor {
    /// Creates a random secret.
    pub fn random() -> Self {
        let mut secret = [0; SECRET_BYTES];
        secret.copy_from_slice(&entropy::seed()[..SECRET_BYTES]);
        Self(secret)
    }

    /// Decrypts a stored secret. The flag is true if the current key has sealed it. Returns `None`
    /// if no key opens it.
    pub fn unseal(stored: &[u8], keys: &SealingKeys, operator: Uuid) -> Option<(Self, bool)> {
        let UnsealedSecret { secret, is_current } =
            keys.open(stored, &associated_data(operator), SECRET_BYTES)?;
        Some((Self::from_bytes(&secret)?, is_current))
    }

    /// Encrypts the secret for storage in an operator's row.
    pub fn seal(&self, keys: &SealingKeys, operator: Uuid) -> Vec<u8> {
        keys.seal(&self.0, &associated_data(operator))
    }

    /// Returns `None` if the length is not that of a secret.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Parses the base32 form that people type.
    pub fn from_base32(text: &str) -> Option<Self> {
        let secret = totp_rs::Secret::try_from_base32(text).ok()?;
        Self::from_bytes(secret.as_ref())
    }

    /// Returns the base32 form that people type.
    pub fn to_base32(&self) -> String {
        self.totp().secret().to_base32()
    }

    /// Returns the `otpauth` URI that authenticators read from a QR code.
    pub fn uri(&self, operator: &str) -> String {
        let secret = self.to_base32();
        format!("otpauth://totp/bahay:{operator}?secret={secret}&issuer=bahay")
    }

    /// Returns the time step of a code that is valid at the given time.
    pub fn find_step(&self, code: &str, now: Timestamp) -> Option<i64> {
        let step = self.totp().check(code, seconds(now))?;
        i64::try_from(step).ok()
    }

    /// Returns the code that an authenticator displays at the given time.
    pub fn code(&self, now: Timestamp) -> String {
        self.totp().generate(seconds(now)).to_string()
    }

    fn totp(&self) -> Totp {
        let secret: Box<[u8]> = Box::new(self.0);
        Builder::new().with_secret(secret).build_noncompliant()
    }
}

/// Returns the associated data of a sealed secret, which binds the secret to its operator's row.
fn associated_data(operator: Uuid) -> Vec<u8> {
    [b"second factor ", operator.as_bytes().as_slice()].concat()
}

fn seconds(now: Timestamp) -> u64 {
    u64::try_from(now.ms().div_euclid(1_000)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{SecondFactor, Timestamp};

    /// The test vectors of RFC 6238, with six digits.
    #[test]
    fn codes_match_the_test_vectors() {
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
