//! Secrets of operators: 256 random bits behind a prefix that identifies the kind of secret to
//! people, secret scanners and this program. A secret is shown once and stored only as a hash.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};
use thiserror::Error;

use bahay_base::entropy;

/// The stored hash of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretHash(pub [u8; 32]);

/// The error of a text that is no operator's secret, or one of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a secret of an operator is a prefix and 43 letters of base64url")]
pub struct ParseOperatorSecretError;

/// The length of 256 bits in base64url without padding.
const LETTERS: usize = 43;

/// The alphabet of base64url (RFC 4648).
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

macro_rules! secrets {
    ($($(#[$meta:meta])* $name:ident = $prefix:literal;)*) => {
        $(
            $(#[$meta])*
            /// `Debug` omits the secret.
            #[derive(Clone, PartialEq, Eq)]
            pub struct $name(String);

            impl $name {
                const PREFIX: &str = $prefix;

                pub fn random() -> Self {
                    Self(format!("{}{}", Self::PREFIX, encode_base64url(&entropy::seed())))
                }

                /// Returns the stored hash. A fast hash suffices: 256 random bits cannot be
                /// guessed.
                pub fn hash(&self) -> SecretHash {
                    SecretHash(Sha256::digest(&self.0).into())
                }

                /// Returns the text for the operator. There is no `Display`, so that the secret
                /// does not reach a log by accident.
                pub fn reveal(&self) -> &str {
                    &self.0
                }
            }

            impl FromStr for $name {
                type Err = ParseOperatorSecretError;

                fn from_str(text: &str) -> Result<Self, ParseOperatorSecretError> {
                    let letters = text.strip_prefix(Self::PREFIX).ok_or(ParseOperatorSecretError)?;
                    let is_known = |byte: u8| ALPHABET.contains(&byte);
                    let is_sound = letters.len() == LETTERS && letters.bytes().all(is_known);
                    if is_sound { Ok(Self(text.to_owned())) } else { Err(ParseOperatorSecretError) }
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(concat!(stringify!($name), "(…)"))
                }
            }
        )*
    };
}

secrets! {
    /// The API token that an operator's programs send as `Authorization: Bearer`.
    OperatorToken = "bahay_op_";
    /// The code with which an operator sets a password and a second factor, once.
    EnrolmentCode = "bahay_en_";
    /// The cookie of the browser that opened an enrolment page. Only this browser may complete the
    /// enrolment.
    EnrolmentBrowserToken = "bahay_eb_";
    /// The cookie that identifies a browser in which operators have signed in.
    BrowserToken = "bahay_br_";
    /// The session cookie of an operator's browser.
    DeskToken = "bahay_desk_";
}

impl DeskToken {
    /// Returns the token that the forms of the desk contain against cross-site request forgery. It
    /// is derived from the secret, and neither the secret nor its hash can be derived from it.
    pub fn form_token(&self) -> String {
        encode_base64url(&Sha256::digest(format!("form of {}", self.0)))
    }
}

fn encode_base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        // Three bytes yield four letters, two yield three, one yields two.
        for letter in 0..=chunk.len() {
            let index = bits >> (18 - 6 * letter) & 0b11_1111;
            let index = usize::try_from(index).unwrap_or(0);
            text.push(char::from(ALPHABET[index]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{DeskToken, OperatorToken, ParseOperatorSecretError, encode_base64url};

    /// The test vectors of RFC 4648.
    #[test]
    fn base64url_matches_the_test_vectors() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg"),
            (b"fo", "Zm8"),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg"),
            (b"fooba", "Zm9vYmE"),
            (b"foobar", "Zm9vYmFy"),
            (&[0xfb, 0xff], "-_8"),
        ] {
            assert_eq!(encode_base64url(bytes), text);
        }
    }

    #[test]
    fn a_revealed_secret_parses_and_is_never_printed() {
        let token = OperatorToken::random();
        assert_eq!(token.reveal().parse::<OperatorToken>(), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "OperatorToken(…)");
        assert_ne!(token.hash(), OperatorToken::random().hash());
        assert_eq!(token.reveal().parse::<DeskToken>(), Err(ParseOperatorSecretError));
    }

    #[test]
    fn the_form_token_does_not_reveal_the_cookie() {
        let token = DeskToken::random();
        assert_eq!(token.form_token(), token.clone().form_token());
        assert_ne!(token.form_token(), encode_base64url(&token.hash().0));
        assert!(!token.reveal().contains(&token.form_token()));
    }

    #[test]
    fn refuses_everything_else() {
        let letters = "A".repeat(43);
        for text in ["", "bahay_op_", &letters, &format!("bahay_op_{letters}A"), "bahay_op_é"] {
            assert_eq!(text.parse::<OperatorToken>(), Err(ParseOperatorSecretError), "{text}");
        }
    }
}
