//! Access tokens: signed claims that are accepted until they expire.
//!
//! A token names the key that signed it. A secret is rotated by adding the new one and keeping the
//! old one for verification until its last token has expired.

use std::fmt;
use std::time::Duration;

use bahay_engine::hex::Hex;
use jsonwebtoken::errors::{Error as JwtError, ErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use bahay_base::clock::{self, Timestamp};
use bahay_base::ids::{PlayerId, SessionId};

use super::hs256::{self, hmac_sha256};
use super::{AuthError, Player, Proof};

/// The life of an access token.
pub const ACCESS_TOKEN_LIFE: Duration = Duration::from_mins(15);

/// The issuer claim.
const ISSUER: &str = "bahay";

/// The longest token that is parsed, in bytes. Tokens of this server have less than 400.
const TOKEN_BYTES_MAX: usize = 1024;

/// The shortest secret, in bytes: the length of the hash.
const SECRET_BYTES_MIN: usize = 32;

/// The fewest distinct bytes of a secret. A secret with fewer was typed and not drawn at random.
const SECRET_DISTINCT_BYTES_MIN: usize = 10;

/// Words that occur in copied sample settings. A random secret in any usual encoding contains none
/// of them.
const DEFAULT_WORDS: [&str; 9] = [
    "changeme",
    "change-me",
    "change_me",
    "secret",
    "password",
    "default",
    "example",
    "insecure",
    "development",
];

/// Signs tokens with one secret, and also verifies those signed with earlier secrets.
pub struct Signer {
    /// The keys, of which the first signs.
    keys: Vec<Key>,
    validation: Validation,
}

struct Key {
    /// The identifier of the secret, which reveals nothing about it.
    id: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
    secret: Vec<u8>,
}

/// The reasons for which a secret must not sign tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WeakSecretError {
    #[error("the secret has {bytes} bytes; give it at least 32 random ones")]
    Short { bytes: usize },
    #[error("the secret contains `{word}`, as sample settings do; draw a random one")]
    Default { word: &'static str },
    #[error("the secret repeats a few characters; draw a random one")]
    Monotonous,
}

/// A signed access token and its expiry. `Debug` omits the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    text: String,
    pub expires_at: Timestamp,
}

impl AccessToken {
    /// Returns the text for the client. There is no `Display`, so that the secret does not reach a
    /// log by accident.
    pub fn reveal(self) -> String {
        self.text
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    iss: String,
    sub: PlayerId,
    sid: SessionId,
    /// Seconds since the Unix epoch, as in the standard.
    iat: i64,
    exp: i64,
}

impl Signer {
    /// Creates a signer with one secret.
    ///
    /// # Errors
    /// A secret that could be guessed.
    pub fn new(secret: &[u8]) -> Result<Self, WeakSecretError> {
        hs256::install();
        let mut validation = Validation::new(Algorithm::HS256);
        // `verify` checks the expiry against the caller's time.
        validation.validate_exp = false;
        validation.required_spec_claims.clear();
        validation.set_issuer(&[ISSUER]);
        Ok(Self { keys: vec![Key::new(secret)?], validation })
    }

    /// Adds an earlier secret, whose tokens are accepted too.
    ///
    /// # Errors
    /// A secret that could be guessed.
    pub fn with_previous(mut self, secret: &[u8]) -> Result<Self, WeakSecretError> {
        self.keys.push(Key::new(secret)?);
        Ok(self)
    }

    pub(super) fn sign(&self, player: PlayerId, session: SessionId, now: Timestamp) -> AccessToken {
        let key = &self.keys[0];
        // Whole seconds, so that the client receives the exact expiry of the token.
        let iat = now.ms().div_euclid(1000);
        let expires_at = clock::add(Timestamp::from_ms(iat * 1000), ACCESS_TOKEN_LIFE);
        let exp = expires_at.ms() / 1000;
        let claims = Claims { iss: ISSUER.into(), sub: player, sid: session, iat, exp };
        let mut header = Header::new(Algorithm::HS256);
        header.kid = Some(key.id.clone());
        let text = jsonwebtoken::encode(&header, &claims, &key.encoding)
            .expect("plain claims serialize and HMAC signs anything");
        AccessToken { text, expires_at }
    }

    pub(super) fn verify(&self, token: &str, now: Timestamp) -> Result<Player, AuthError> {
        if token.is_empty() {
            return Err(AuthError::Missing);
        }
        if token.len() > TOKEN_BYTES_MAX {
            return Err(AuthError::Malformed);
        }
        let header = jsonwebtoken::decode_header(token).map_err(|_| AuthError::Malformed)?;
        let signed_by = header.kid.ok_or(AuthError::Malformed)?;
        let key = self.keys.iter().find(|key| key.id == signed_by).ok_or(AuthError::Forged)?;
        let claims = jsonwebtoken::decode::<Claims>(token, &key.decoding, &self.validation)
            .map_err(|error| reason(&error))?
            .claims;
        let token_expires_at =
            claims.exp.checked_mul(1000).map(Timestamp::from_ms).ok_or(AuthError::Malformed)?;
        if now >= token_expires_at {
            return Err(AuthError::Expired);
        }
        Ok(Player { id: claims.sub, session: claims.sid, token_expires_at, proof: Proof })
    }

    pub(super) fn derived_keys(&self, purpose: &str) -> Vec<[u8; 32]> {
        let purpose = format!("bahay derived key: {purpose}");
        self.keys.iter().map(|key| hmac_sha256(&key.secret, purpose.as_bytes())).collect()
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.keys.iter().map(|key| key.id.as_str());
        f.debug_list().entries(ids).finish()
    }
}

impl Key {
    fn new(secret: &[u8]) -> Result<Self, WeakSecretError> {
        check_strength(secret)?;
        let digest = hmac_sha256(secret, b"bahay key id");
        let mut id = [0; 8];
        id.copy_from_slice(&digest[..8]);
        Ok(Self {
            id: Hex(id).to_string(),
            encoding: EncodingKey::from_secret(secret),
            decoding: DecodingKey::from_secret(secret),
            secret: secret.to_vec(),
        })
    }
}

pub(super) fn check_strength(secret: &[u8]) -> Result<(), WeakSecretError> {
    if secret.len() < SECRET_BYTES_MIN {
        return Err(WeakSecretError::Short { bytes: secret.len() });
    }
    let lower = secret.to_ascii_lowercase();
    let contained = |word: &&str| lower.windows(word.len()).any(|part| part == word.as_bytes());
    if let Some(word) = DEFAULT_WORDS.into_iter().find(|word| contained(word)) {
        return Err(WeakSecretError::Default { word });
    }
    let mut distinct = lower;
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < SECRET_DISTINCT_BYTES_MIN {
        return Err(WeakSecretError::Monotonous);
    }
    Ok(())
}

fn reason(error: &JwtError) -> AuthError {
    match error.kind() {
        ErrorKind::InvalidSignature | ErrorKind::InvalidAlgorithm | ErrorKind::InvalidIssuer => {
            AuthError::Forged
        }
        // The library's enum is non-exhaustive, so a wildcard covers all other kinds.
        _ => AuthError::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::{ACCESS_TOKEN_LIFE, AuthError, Signer, WeakSecretError};
    use bahay_base::clock::{Timestamp, add, subtract};
    use bahay_base::entropy::uuid;
    use bahay_base::ids::{PlayerId, SessionId};
    use std::time::Duration;

    const SECRET: &[u8] = b"0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    const OTHER: &[u8] = b"f0e1d2c3b4a5968778695a4b3c2d1e0f";

    fn now() -> Timestamp {
        Timestamp::from_ms(1_772_366_400_250)
    }

    fn ids() -> (PlayerId, SessionId) {
        (PlayerId(uuid()), SessionId(uuid()))
    }

    #[test]
    fn accepts_its_own_tokens_until_they_expire() {
        let signer = Signer::new(SECRET).unwrap();
        let (player, session) = ids();
        let token = signer.sign(player, session, now());
        let expires_at = token.expires_at;
        assert_eq!(expires_at, Timestamp::from_ms(1_772_367_300_000));
        let token = token.reveal();
        let seen = signer.verify(&token, now()).unwrap();
        assert_eq!((seen.id, seen.session, seen.token_expires_at), (player, session, expires_at));
        let last = subtract(expires_at, Duration::from_millis(1));
        assert!(signer.verify(&token, last).is_ok());
        assert_eq!(signer.verify(&token, expires_at), Err(AuthError::Expired));
        let later = add(now(), ACCESS_TOKEN_LIFE * 100);
        assert_eq!(signer.verify(&token, later), Err(AuthError::Expired));
    }

    #[test]
    fn accepts_tokens_of_configured_earlier_secrets_only() {
        let (player, session) = ids();
        let old = Signer::new(OTHER).unwrap().sign(player, session, now()).reveal();
        let new = Signer::new(SECRET).unwrap();
        assert_eq!(new.verify(&old, now()), Err(AuthError::Forged));
        let both = new.with_previous(OTHER).unwrap();
        assert_eq!(both.verify(&old, now()).unwrap().id, player);
        let signed = both.sign(player, session, now()).reveal();
        assert!(Signer::new(SECRET).unwrap().verify(&signed, now()).is_ok());
    }

    #[test]
    fn a_token_with_any_changed_character_is_refused() {
        let signer = Signer::new(SECRET).unwrap();
        let (player, session) = ids();
        let token = signer.sign(player, session, now()).reveal();
        for place in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            let refusal = signer.verify(&changed, now()).unwrap_err();
            let expected = [AuthError::Forged, AuthError::Malformed];
            assert!(expected.contains(&refusal), "at {place}: {refusal}");
        }
    }

    #[test]
    fn refuses_guessable_secrets() {
        let refused = |secret: &[u8]| Signer::new(secret).map(|_| ()).unwrap_err();
        assert_eq!(refused(b""), WeakSecretError::Short { bytes: 0 });
        assert_eq!(refused(&SECRET[..31]), WeakSecretError::Short { bytes: 31 });
        let word = "change-me";
        assert_eq!(
            refused(b"please-Change-Me-0123456789abcdefghij"),
            WeakSecretError::Default { word }
        );
        assert_eq!(refused(&[b'x'; 64]), WeakSecretError::Monotonous);
    }

    #[test]
    fn prints_no_secret() {
        let signer = Signer::new(SECRET).unwrap();
        let (player, session) = ids();
        let token = signer.sign(player, session, now());
        let printed = format!("{signer:?} {token:?}");
        assert!(!printed.contains("4b5a6978") && !printed.contains("eyJ"), "{printed}");
    }
}
