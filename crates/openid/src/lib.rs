//! OpenID Connect: the verification of ID tokens of configured issuers.
//!
//! A token is accepted if it is signed with RS256 or ES256 by a published key of its issuer, if
//! this server is its audience, and if it has not expired. Issuer, subject and nonce are taken from
//! it; the service checks that the nonce was issued to the device that presents the token.
//!
//! Keys are cached for an hour, and fetched again when a token names an unknown key, at most once a
//! minute for each issuer, whatever the number of such tokens (see `keys`). The client performs the
//! redirections of the protocol. The server neither requests access and refresh tokens of issuers
//! nor their data about a person.

mod fetch;
mod keys;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation};
use serde::Deserialize;
use thiserror::Error;

use bahay_base::clock::Timestamp;

use fetch::{Fetcher, is_allowed_address};
use keys::IssuerKeys;

/// The longest token that is parsed, in bytes. Tokens of large issuers have about 1,500.
const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// The longest subject, in bytes: the bound of the standard.
const SUBJECT_BYTES_MAX: usize = 255;

/// The longest name of an issuer, in characters. The API contracts state it too.
pub const NAME_CHARS_MAX: usize = 64;

/// The longest address of an issuer or of its keys, in characters. The address takes the place of
/// the name, for display and for unlinking, if the issuer is no longer configured.
pub const ADDRESS_CHARS_MAX: usize = 255;

/// The tolerated difference of an issuer's clock, in seconds.
const LEEWAY_S: i64 = 60;

/// A trusted issuer, as configured.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issuer {
    /// The name for clients: a lower-case letter, then letters, digits and hyphens.
    pub name: String,
    /// The exact value of the claim `iss`.
    pub issuer: String,
    /// The client ids that the issuer has assigned to the house. The claim `aud` contains one of
    /// them.
    pub audiences: Vec<String>,
    /// The address of the issuer's keys. Without it the address is found by discovery.
    #[serde(default)]
    pub keys_url: Option<String>,
}

/// An ID token as a client presents it. `Debug` omits the token.
#[derive(Clone)]
pub struct IdToken {
    /// The configured name of the issuer.
    pub issuer: String,
    pub token: String,
}

impl fmt::Debug for IdToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdToken").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// A user, as identified by an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
}

/// The content of a verified token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken {
    pub identity: Identity,
    /// The nonce, which the caller must check.
    pub nonce: Option<String>,
}

/// The reasons for which a token is rejected, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenIdError {
    #[error("no issuer with this name is configured")]
    IssuerUnknown,
    #[error("the token is not an ID token")]
    Malformed,
    #[error("the token is not signed with RS256 or ES256")]
    Algorithm,
    #[error("the issuer publishes no key with this id")]
    KeyUnknown,
    #[error("the signature is not the issuer's")]
    Forged,
    #[error("the token is of another issuer")]
    OtherIssuer,
    #[error("the token is for another audience")]
    OtherAudience,
    #[error("the token has expired, or is not valid yet")]
    Expired,
    #[error(
        "the token has no nonce that was issued to this device within ten minutes, or the nonce \
         was used before"
    )]
    Nonce,
    /// Temporary: the same call may succeed later.
    #[error("the keys of the issuer are unavailable: {reason}")]
    Unavailable { reason: String },
}

/// The errors in the configuration of an issuer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IssuerError {
    #[error("write issuers as a JSON list: {0}")]
    Json(String),
    #[error(
        "`{0}` is no name of an issuer: write a lower-case letter, then letters, digits and \
         hyphens, {NAME_CHARS_MAX} characters at most"
    )]
    Name(String),
    #[error("two issuers have the name {0} or the same address")]
    Twice(String),
    #[error("the issuer {0} has no audiences, so that no token could be accepted")]
    NoAudience(String),
    #[error(
        "`{0}` is no address of an issuer: it begins with https://, or is on this machine, and has \
         at most {ADDRESS_CHARS_MAX} characters"
    )]
    Address(String),
}

/// The trusted issuers. Clones share their keys.
#[derive(Clone, Debug, Default)]
pub struct Issuers(Arc<[TrustedIssuer]>);

#[derive(Debug)]
struct TrustedIssuer {
    issuer: Issuer,
    keys: IssuerKeys,
}

/// The claims that are read from a token.
#[derive(Debug, Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    /// Seconds since the Unix epoch, as in the standard.
    exp: i64,
    #[serde(default)]
    nbf: Option<i64>,
    #[serde(default)]
    nonce: Option<String>,
    /// The party to which the token was issued, if it has several audiences.
    #[serde(default)]
    azp: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Issuers {
    /// Creates the set of issuers.
    ///
    /// # Errors
    /// The first issuer whose configuration is invalid.
    pub fn new(issuers: Vec<Issuer>) -> Result<Self, IssuerError> {
        bahay_auth::install_algorithms();
        let fetcher = Fetcher::new();
        let mut trusted: Vec<TrustedIssuer> = Vec::new();
        for issuer in issuers {
            let name = issuer.name.clone();
            let is_allowed =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            let starts_well = name.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
            if !starts_well || name.len() > NAME_CHARS_MAX || !name.bytes().all(is_allowed) {
                return Err(IssuerError::Name(name));
            }
            let is_same =
                |one: &TrustedIssuer| one.issuer.name == name || one.issuer.issuer == issuer.issuer;
            if trusted.iter().any(is_same) {
                return Err(IssuerError::Twice(name));
            }
            if issuer.audiences.is_empty() {
                return Err(IssuerError::NoAudience(name));
            }
            let addresses = [Some(&issuer.issuer), issuer.keys_url.as_ref()];
            let is_wrong =
                |url: &&String| !is_allowed_address(url) || url.len() > ADDRESS_CHARS_MAX;
            if let Some(wrong) = addresses.into_iter().flatten().find(is_wrong) {
                return Err(IssuerError::Address(wrong.clone()));
            }
            let keys = IssuerKeys::new(fetcher.clone(), &issuer);
            trusted.push(TrustedIssuer { issuer, keys });
        }
        Ok(Self(trusted.into()))
    }

    /// Returns the names of all issuers, for clients to offer.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|trusted| trusted.issuer.name.as_str())
    }

    /// Verifies a token.
    ///
    /// # Errors
    /// The first reason of [`OpenIdError`] that applies.
    pub async fn verify(
        &self,
        token: &IdToken,
        now: Timestamp,
    ) -> Result<VerifiedToken, OpenIdError> {
        let trusted = self.0.iter().find(|trusted| trusted.issuer.name == token.issuer);
        let TrustedIssuer { issuer, keys } = trusted.ok_or(OpenIdError::IssuerUnknown)?;
        let IdToken { token, .. } = token;
        if token.len() > TOKEN_BYTES_MAX {
            return Err(OpenIdError::Malformed);
        }
        let header = jsonwebtoken::decode_header(token).map_err(|_| OpenIdError::Malformed)?;
        if ![Algorithm::RS256, Algorithm::ES256].contains(&header.alg) {
            return Err(OpenIdError::Algorithm);
        }
        let key = keys.find(header.kid, header.alg, now).await?;
        let mut validation = Validation::new(header.alg);
        // `Claims::check` verifies all claims, against the caller's time.
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation)
            .map_err(|error| match error.kind() {
                ErrorKind::InvalidSignature | ErrorKind::InvalidAlgorithm => OpenIdError::Forged,
                // The library's enum is non-exhaustive, so a wildcard covers all other kinds.
                _ => OpenIdError::Malformed,
            })?
            .claims;
        claims.check(issuer, now)?;
        let Claims { iss: issuer, sub: subject, nonce, .. } = claims;
        if subject.is_empty() || subject.len() > SUBJECT_BYTES_MAX || subject.contains('\0') {
            return Err(OpenIdError::Malformed);
        }
        Ok(VerifiedToken { identity: Identity { issuer, subject }, nonce })
    }

    /// Returns whether an issuer with this address is configured.
    pub fn contains(&self, address: &str) -> bool {
        self.0.iter().any(|trusted| trusted.issuer.issuer == address)
    }

    /// Returns the address of an issuer by its name, or the name itself if no such issuer is
    /// configured.
    pub fn address_of<'a>(&'a self, name: &'a str) -> &'a str {
        let known = self.0.iter().find(|trusted| trusted.issuer.name == name);
        known.map_or(name, |trusted| &trusted.issuer.issuer)
    }

    /// Returns the name of an issuer by its address, or the address itself if the issuer is not
    /// configured.
    pub fn name_of<'a>(&'a self, address: &'a str) -> &'a str {
        let known = self.0.iter().find(|trusted| trusted.issuer.issuer == address);
        known.map_or(address, |trusted| &trusted.issuer.name)
    }
}

/// Parses the setting: a JSON list.
impl FromStr for Issuers {
    type Err = IssuerError;

    fn from_str(text: &str) -> Result<Self, IssuerError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let issuers = serde_json::from_str(text);
        Self::new(issuers.map_err(|error| IssuerError::Json(error.to_string()))?)
    }
}

impl Claims {
    fn check(&self, issuer: &Issuer, now: Timestamp) -> Result<(), OpenIdError> {
        if self.iss != issuer.issuer {
            return Err(OpenIdError::OtherIssuer);
        }
        let is_ours = |audience: &String| issuer.audiences.contains(audience);
        let is_for_us = match &self.aud {
            Audience::One(one) => is_ours(one),
            // A token with several audiences was issued to one of them, which `azp` names.
            Audience::Several(several) => several.iter().any(is_ours),
        };
        if !is_for_us || !self.azp.as_ref().is_none_or(is_ours) {
            return Err(OpenIdError::OtherAudience);
        }
        let now_s = now.ms().div_euclid(1000);
        let has_begun = self.nbf.is_none_or(|nbf| nbf <= now_s.saturating_add(LEEWAY_S));
        if !has_begun || self.exp.saturating_add(LEEWAY_S) <= now_s {
            return Err(OpenIdError::Expired);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Audience, Claims, Issuer, IssuerError, Issuers, OpenIdError};
    use bahay_base::clock::Timestamp;

    fn issuer() -> Issuer {
        Issuer {
            name: "local".into(),
            issuer: "https://id.example".into(),
            audiences: vec!["app".into(), "web".into()],
            keys_url: None,
        }
    }

    fn claims() -> Claims {
        Claims {
            iss: "https://id.example".into(),
            sub: "1".into(),
            aud: Audience::One("app".into()),
            exp: 1_000,
            nbf: None,
            nonce: None,
            azp: None,
        }
    }

    #[test]
    fn claims_are_checked_for_audience_and_time() {
        let now = Timestamp::from_ms(1_000_000);
        let check = |claims: Claims| claims.check(&issuer(), now);
        assert_eq!(check(claims()), Ok(()));
        let several = Audience::Several(vec!["other".into(), "web".into()]);
        let several = Claims { aud: several, azp: Some("web".into()), ..claims() };
        assert_eq!(check(several), Ok(()));
        let wrong = [
            (Claims { iss: "https://id.example/".into(), ..claims() }, OpenIdError::OtherIssuer),
            (Claims { aud: Audience::One("apps".into()), ..claims() }, OpenIdError::OtherAudience),
            (Claims { aud: Audience::Several(vec![]), ..claims() }, OpenIdError::OtherAudience),
            (Claims { azp: Some("other".into()), ..claims() }, OpenIdError::OtherAudience),
            (Claims { exp: 940, ..claims() }, OpenIdError::Expired),
            (Claims { nbf: Some(1_061), ..claims() }, OpenIdError::Expired),
        ];
        for (claims, error) in wrong {
            let shown = format!("{claims:?}");
            assert_eq!(check(claims), Err(error), "{shown}");
        }
        assert_eq!(check(Claims { exp: 941, ..claims() }), Ok(()), "clocks may differ");
    }

    #[test]
    fn issuers_are_parsed_from_json() {
        let good = r#"[{"name":"local","issuer":"https://id.example","audiences":["app"]}]"#;
        let issuers: Issuers = good.parse().unwrap();
        assert_eq!(issuers.names().collect::<Vec<_>>(), ["local"]);
        assert_eq!(issuers.name_of("https://id.example"), "local");
        assert_eq!(issuers.address_of("local"), "https://id.example");
        assert_eq!(issuers.address_of("other"), "other");
        assert_eq!("".parse::<Issuers>().unwrap().names().count(), 0);
        let refused = |issuer: Issuer| Issuers::new(vec![issuer]).unwrap_err();
        for name in ["Google", "", "1st", "a b", &"a".repeat(65)] {
            let wrong = refused(Issuer { name: name.into(), ..issuer() });
            assert_eq!(wrong, IssuerError::Name(name.into()));
            assert!(wrong.to_string().ends_with("64 characters at most"), "{wrong}");
        }
        let longest = Issuer { name: "a".repeat(64), ..issuer() };
        assert_eq!(Issuers::new(vec![longest]).unwrap().names().count(), 1);
        let nobody = Issuer { audiences: vec![], ..issuer() };
        assert_eq!(refused(nobody), IssuerError::NoAudience("local".into()));
        let open = "http://id.example".to_owned();
        let plain = Issuer { issuer: open.clone(), ..issuer() };
        assert_eq!(refused(plain), IssuerError::Address(open.clone()));
        let long = format!("https://id.example/{}", "a".repeat(237));
        let endless = Issuer { issuer: long.clone(), ..issuer() };
        assert_eq!(refused(endless), IssuerError::Address(long));
        let keys = Issuer { keys_url: Some(open.clone()), ..issuer() };
        assert_eq!(refused(keys), IssuerError::Address(open));
        let twice = Issuers::new(vec![issuer(), issuer()]).unwrap_err();
        assert_eq!(twice, IssuerError::Twice("local".into()));
        assert!(matches!("{}".parse::<Issuers>(), Err(IssuerError::Json(_))));
    }
}
