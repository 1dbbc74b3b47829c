//! The encryption of secrets that must be readable, unlike hashes. Secrets are sealed with
//! ChaCha20-Poly1305 (RFC 8439) under a key that is not in the database, and are bound to their
//! owner. A sealed secret consists of a version byte, eight bytes that identify the key, the nonce,
//! and the ciphertext with its tag.
//!
//! Keys are derived from texts in the settings. The first key seals, and all keys open, so that
//! keys can be rotated. Without any key secrets are stored unsealed. An unsealed secret is returned
//! as it is, since it was stored before keys were set.

use std::fmt;

use bahay_engine::hex::Hex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::WeakSecretError;
use super::hs256::hmac_sha256;
use super::signer::check_strength;
use bahay_base::entropy;

/// The version byte of a sealed secret.
const FORM: u8 = 1;

/// The length of a key's identifier.
const NAME_BYTES: usize = 8;

/// The length that sealing adds to a secret.
pub const SEAL_BYTES: usize = 1 + NAME_BYTES + NONCE_LEN + 16;

/// The keys that seal and open secrets. `Debug` omits the keys.
#[derive(Clone, Default)]
pub struct SealingKeys {
    keys: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    name: [u8; NAME_BYTES],
    cipher: LessSafeKey,
}

/// An opened secret.
#[derive(Clone, PartialEq, Eq)]
pub struct UnsealedSecret {
    pub secret: Vec<u8>,
    /// True if sealing would use the same key today: the first one, or none if there is none.
    pub is_current: bool,
}

impl fmt::Debug for SealingKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| Hex(key.name).to_string())).finish()
    }
}

impl fmt::Debug for UnsealedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsealedSecret")
            .field("is_current", &self.is_current)
            .finish_non_exhaustive()
    }
}

impl SealingKeys {
    /// Derives keys from texts of at least 32 random bytes each.
    ///
    /// # Errors
    /// The [`WeakSecretError`] of the first text that can be guessed.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, WeakSecretError> {
        let keys = texts.into_iter().map(|text| {
            check_strength(text.as_bytes())?;
            let bytes = hmac_sha256(text.as_bytes(), b"bahay key that seals");
            let digest = hmac_sha256(text.as_bytes(), b"bahay name of a key that seals");
            let mut name = [0; NAME_BYTES];
            name.copy_from_slice(&digest[..NAME_BYTES]);
            let cipher = UnboundKey::new(&CHACHA20_POLY1305, &bytes);
            let cipher = LessSafeKey::new(cipher.expect("a key has 32 bytes"));
            Ok(Key { name, cipher })
        });
        Ok(Self { keys: keys.collect::<Result<_, WeakSecretError>>()? })
    }

    /// Returns whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Seals a secret for storage. It can be opened only for the same `owner`.
    pub fn seal(&self, secret: &[u8], owner: &[u8]) -> Vec<u8> {
        let Some(key) = self.keys.first() else {
            return secret.to_vec();
        };
        // 96 random bits: a repetition is not to be expected in any number of seals.
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&entropy::seed()[..NONCE_LEN]);
        let mut sealed = secret.to_vec();
        key.cipher
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(owner),
                &mut sealed,
            )
            .expect("a secret is shorter than the cipher's limit");
        [&[FORM], &key.name[..], &nonce[..], &sealed[..]].concat()
    }

    /// Opens a stored secret of `bytes` bytes. Returns `None` if it was sealed with an unknown key
    /// or for another owner, or is corrupt.
    pub fn open(&self, stored: &[u8], owner: &[u8], bytes: usize) -> Option<UnsealedSecret> {
        if stored.len() == bytes {
            return Some(UnsealedSecret {
                secret: stored.to_vec(),
                is_current: self.keys.is_empty(),
            });
        }
        let rest = stored.strip_prefix(&[FORM])?;
        let (name, rest) = rest.split_first_chunk::<NAME_BYTES>()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
        let place = self.keys.iter().position(|key| key.name == *name)?;
        let mut sealed = sealed.to_vec();
        let secret = self.keys[place]
            .cipher
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(owner), &mut sealed)
            .ok()?;
        (secret.len() == bytes)
            .then(|| UnsealedSecret { secret: secret.to_vec(), is_current: place == 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::{SEAL_BYTES, SealingKeys};

    const OLD: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    const NEW: &str = "f0e1d2c3b4a5968778695a4b3c2d1e0f";
    const SECRET: [u8; 20] = *b"12345678901234567890";

    fn keys(texts: &[&str]) -> SealingKeys {
        SealingKeys::new(texts.iter().copied()).unwrap()
    }

    #[test]
    fn a_secret_opens_only_with_its_key_for_its_owner() {
        let keys = keys(&[NEW]);
        let sealed = keys.seal(&SECRET, b"luz");
        assert_eq!(sealed.len(), SECRET.len() + SEAL_BYTES);
        assert!(!sealed.windows(4).any(|part| part == &SECRET[..4]));
        assert_ne!(sealed, keys.seal(&SECRET, b"luz"));
        let opened = keys.open(&sealed, b"luz", 20).unwrap();
        assert_eq!((opened.secret.as_slice(), opened.is_current), (&SECRET[..], true));
        assert_eq!(keys.open(&sealed, b"ben", 20), None);
        assert_eq!(self::keys(&[OLD]).open(&sealed, b"luz", 20), None);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(keys.open(&changed, b"luz", 20), None, "byte {place}");
            assert_eq!(
                keys.open(&sealed[..place], b"luz", 20).map(|_| ()),
                (place == 20).then_some(())
            );
        }
    }

    #[test]
    fn keys_are_rotated_one_at_a_time() {
        let plain = SealingKeys::default().seal(&SECRET, b"luz");
        assert_eq!(plain, SECRET);
        assert!(SealingKeys::default().open(&plain, b"luz", 20).unwrap().is_current);
        let before = keys(&[OLD]);
        assert!(!before.open(&plain, b"luz", 20).unwrap().is_current);
        let sealed = before.seal(&SECRET, b"luz");
        let both = keys(&[NEW, OLD]);
        let opened = both.open(&sealed, b"luz", 20).unwrap();
        assert_eq!((opened.secret.as_slice(), opened.is_current), (&SECRET[..], false));
        assert!(keys(&[OLD, NEW]).open(&sealed, b"luz", 20).unwrap().is_current);
    }

    #[test]
    fn keys_are_never_printed_and_weak_ones_are_refused() {
        let said = format!("{:?}", keys(&[NEW]));
        assert!(!said.contains(NEW) && said.len() == NEW.len() / 2 + 4, "{said}");
        assert!(SealingKeys::new(["short"]).is_err());
    }
}
