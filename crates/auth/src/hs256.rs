//! HMAC-SHA-256 for the token library, and the set of algorithms that it supports: HS256 for the
//! server's own tokens, and those of `asymmetric` for verifying tokens of others.

use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, new_error};
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use sha2::Sha256;

use super::asymmetric::{Es256, Rs256};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key: &EncodingKey| {
        hs256_from_key(*algorithm, key.as_bytes())
            .map(|hs256| Box::new(hs256) as Box<dyn JwtSigner>)
    },
    verifier_factory: |algorithm, key: &DecodingKey| match algorithm {
        Algorithm::RS256 => Ok(Box::new(Rs256::from_key(key)?) as Box<dyn JwtVerifier>),
        Algorithm::ES256 => Ok(Box::new(Es256::from_key(key)?) as Box<dyn JwtVerifier>),
        // `hs256_from_key` refuses all other algorithms of the library.
        _ => hs256_from_key(*algorithm, key.try_get_as_bytes()?)
            .map(|hs256| Box::new(hs256) as Box<dyn JwtVerifier>),
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs the algorithms. Must run before the first token is made or verified; later calls have
/// no effect.
pub fn install() {
    // Fails if the provider is installed already. No other code installs one.
    let _ = PROVIDER.install_default();
}

/// Returns the HMAC-SHA-256 of a message, for derived keys and message authentication codes.
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// Returns whether `code` is the HMAC-SHA-256 of the message. Compares in constant time.
pub fn is_hmac_sha256(key: &[u8], message: &[u8], code: &[u8]) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length");
    mac.update(message);
    mac.verify_slice(code).is_ok()
}

struct Hs256(Hmac<Sha256>);

fn hs256_from_key(algorithm: Algorithm, key: &[u8]) -> Result<Hs256, Error> {
    if algorithm != Algorithm::HS256 {
        return Err(new_error(ErrorKind::UnsupportedAlgorithm));
    }
    let mac = Hmac::new_from_slice(key).map_err(|_| new_error(ErrorKind::InvalidKeyFormat))?;
    Ok(Hs256(mac))
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let mut mac = self.0.clone();
        mac.update(message);
        Ok(mac.finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let mut mac = self.0.clone();
        mac.update(message);
        // Compares in constant time.
        mac.verify_slice(signature).map_err(|_| signature::Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}
