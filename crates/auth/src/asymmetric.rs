//! The verification of RS256 and ES256 signatures for the token library. The server does not sign
//! with these algorithms.

use jsonwebtoken::crypto::JwtVerifier;
use jsonwebtoken::errors::{Error, ErrorKind, new_error};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

/// RSA with SHA-256 and keys of at least 2,048 bits.
pub(super) struct Rs256 {
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

/// ECDSA on P-256 with SHA-256.
pub(super) struct Es256 {
    /// The uncompressed point: its two coordinates.
    point: Vec<u8>,
}

impl Rs256 {
    pub(super) fn from_key(key: &DecodingKey) -> Result<Self, Error> {
        match key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                Ok(Self { modulus: strip_leading_zeros(n), exponent: strip_leading_zeros(e) })
            }
            DecodingKeyKind::SecretOrDer(_) => Err(new_error(ErrorKind::InvalidKeyFormat)),
        }
    }
}

impl Es256 {
    pub(super) fn from_key(key: &DecodingKey) -> Result<Self, Error> {
        Ok(Self { point: key.try_get_as_bytes()?.to_vec() })
    }
}

/// Strips leading zeros, which some issuers write although the standard has none.
fn strip_leading_zeros(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number[zeros..].to_vec()
}

impl Verifier<Vec<u8>> for Rs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let key = RsaPublicKeyComponents { n: &self.modulus, e: &self.exponent };
        let verified = key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature);
        verified.map_err(|_| signature::Error::new())
    }
}

impl Verifier<Vec<u8>> for Es256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &self.point);
        key.verify(message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Rs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}

impl JwtVerifier for Es256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}
