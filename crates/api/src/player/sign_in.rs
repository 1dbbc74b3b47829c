//! Sign-in methods, tokens, sessions, and proofs of the owner of an account.

use bahay_names::{DeviceId, DeviceTimeZone, Name, NewPassword, PasswordAttempt};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::account::OwnProfile;
use crate::PageQuery;
use crate::operation::operations;
use crate::values::{
    DeviceText, DeviceTimeZoneText, IdText, IdTokenText, IssuerText, LinkedIssuerText, NameText,
    NewPasswordText, PasswordText, Time,
};

operations! {
    /// Sign in as a guest
    ///
    /// A device id always signs in the same player. A new id creates a player with the welcome
    /// grant, once, regardless of concurrent requests. The number of welcome grants per network (an
    /// IPv4 address, or the first 48 bits of an IPv6 address) and day is limited; further players
    /// are signed in without the grant, and receive it when they sign in or refresh on another day,
    /// or link an identity. Every sign-in opens a session of its own. The detail of `banned` states
    /// the end and the reason.
    SIGN_IN_GUEST = Post "/v1/sign-in/guest", SignIn, Anyone {
        body GuestSignIn,
        200 json SignedIn: "Signed in",
        refuses Banned NameTaken NameReserved,
    }

    /// Sign in by name and password
    ///
    /// An unknown name and a wrong password get the same response after the same work. After five
    /// failures within a minute, sign-ins by that name are refused until the minute has passed,
    /// from every address and on every node. Hashing a password is expensive by design; when too
    /// many sign-ins are waiting, further ones are refused with `sign_in_busy`.
    SIGN_IN_PASSWORD = Post "/v1/sign-in/password", SignIn, Anyone {
        body PasswordSignIn,
        200 json SignedIn: "Signed in",
        refuses CredentialsWrong Banned SignInLocked SignInBusy,
    }

    /// Request a nonce
    ///
    /// Required before the client signs its user in with an issuer in order to sign in, to link an
    /// identity, or to prove possession of the account. The nonce is valid for ten minutes, for
    /// this device, and once.
    ASK_NONCE = Post "/v1/sign-in/openid/nonce", SignIn, Anyone {
        body NonceRequest,
        200 json Nonce: "A nonce",
    }

    /// Sign in with an external identity
    ///
    /// The client has signed its user in with an issuer that the house trusts (OpenID Connect), and
    /// presents the ID token. The token must be signed with RS256 or ES256, be issued for the
    /// house, be unexpired, and contain a nonce that the same device has requested; the detail of
    /// `id_token_refused` states the reason. A token can be used once. The same subject always
    /// signs in the same player; a new subject creates a player with the welcome grant.
    SIGN_IN_OPENID = Post "/v1/sign-in/openid", SignIn, Anyone {
        body OpenIdSignIn,
        200 json SignedIn: "Signed in",
        refuses IdTokenRefused Banned IssuerUnknown NameTaken NameReserved IssuerUnavailable,
    }

    /// Exchange a refresh token for new tokens
    ///
    /// Uses up the token. Within 60 seconds the same request by the same device returns the same
    /// new refresh token, any number of times: retry if the response was lost, or if two tabs share
    /// a token. This requires `device_id` in the first request and in the retry, and ends when the
    /// new token is used. If the token is presented again in any other way, it must have been
    /// copied, and its session ends at once: all its tokens, including the newest, stop working.
    /// After a refusal with status 401, sign in again.
    REFRESH_TOKEN = Post "/v1/token/refresh", SignIn, Anyone {
        body RefreshRequest,
        200 json Tokens: "New tokens of the same session",
        refuses RefreshTokenUnknown SessionEnded RefreshTokenReused RefreshTokenExpired Banned,
    }

    /// Sign out
    ///
    /// Ends this session; other sessions of the player continue. Within a second its access tokens
    /// are refused on every node.
    SIGN_OUT = Post "/v1/sign-out", SignIn, Player {
        204 empty (): "The session has ended",
    }

    /// Prove that the account is mine
    ///
    /// Required for calls that change the sign-in methods or delete the account. An access token
    /// does not suffice for them, so that somebody who has copied one cannot take over the account.
    /// The proof is valid for five minutes, in this session, as the header `Account-Proof`. A
    /// player with a password or a linked identity must present one of those; a player with neither
    /// presents the device. Wrong passwords count as failed sign-ins.
    SHOW_PROOF = Post "/v1/me/proof", Me, Player {
        body ProofRequest,
        200 json AccountProof: "The proof",
        refuses IdTokenRefused DeviceWrong PasswordWrong IdentityWrong ProofInsufficient
            IssuerUnknown PasswordNotSet SignInLocked SignInBusy IssuerUnavailable,
    }

    /// Set my first password
    ///
    /// Turns a guest into a player with a name and a password. The player keeps its id, its wallet
    /// and its seat, and its device continues to sign it in. The name is reserved for the player
    /// from now on: nobody else can take it or a confusable name. The detail of
    /// `name_changed_lately` states the time of the next change.
    SET_FIRST_PASSWORD = Post "/v1/me/password", Me, Player {
        headers Proof,
        body FirstPasswordRequest,
        200 json OwnProfile: "The player after the change",
        refuses PasswordSet NameTaken NameChangedLately NameReserved PasswordEasy SignInBusy,
    }

    /// Change my password
    ///
    /// Ends all other sessions of the player. Wrong passwords count as failed sign-ins.
    CHANGE_PASSWORD = Put "/v1/me/password", Me, Player {
        body PasswordChangeRequest,
        204 empty (): "The change is made",
        refuses PasswordWrong PasswordNotSet PasswordEasy SignInLocked SignInBusy,
    }

    /// Show my sign-in methods
    SHOW_SIGN_IN_METHODS = Get "/v1/me/sign-in-methods", Me, Player {
        200 json SignInMethods: "The sign-in methods",
    }

    /// Link an external identity
    ///
    /// From now on the identity signs this player in. Idempotent: linking the same identity again
    /// changes nothing.
    LINK_IDENTITY = Post "/v1/me/identities", Me, Player {
        headers Proof,
        body IdentityLinkRequest,
        200 json SignInMethods: "The sign-in methods after the change",
        refuses IdTokenRefused IssuerUnknown IdentityTaken IssuerLinked IssuerUnavailable,
    }

    /// Unlink an external identity
    ///
    /// The identity no longer signs the player in. Idempotent: unlinking an identity that is not
    /// linked changes nothing.
    UNLINK_IDENTITY = Delete "/v1/me/identities/{issuer}", Me, Player {
        path issuer: LinkedIssuerText = "The issuer's name, as in the list of sign-in methods",
        headers Proof,
        204 empty (): "The identity is not linked",
        refuses LastSignIn,
    }

    /// List my sessions
    ///
    /// Lists live sessions, newest first.
    LIST_MY_SESSIONS = Get "/v1/me/sessions", Me, Player {
        query PageQuery,
        200 page Session: "A page of sessions",
    }

    /// Sign out everywhere
    ///
    /// Ends all sessions of the player, including this one. Within a second their access tokens are
    /// refused and their sockets closed, on every node. Devices keep signing the player in.
    SIGN_OUT_EVERYWHERE = Delete "/v1/me/sessions", Me, Player {
        204 empty (): "All sessions have ended",
    }

    /// End one of my sessions
    ///
    /// Has the same effect as signing out in that session. Idempotent for a session that has ended.
    END_MY_SESSION = Delete "/v1/me/sessions/{id}", Me, Player {
        path id: IdText = "The session",
        204 empty (): "The session has ended",
        refuses SessionNotFound,
    }

    /// Forget my devices
    ///
    /// None of the devices signs the player in by itself any more. Sessions are not affected.
    FORGET_MY_DEVICES = Delete "/v1/me/devices", Me, Player {
        headers Proof,
        204 empty (): "The devices are forgotten",
        refuses LastSignIn,
    }

    /// Change the id of my device
    ///
    /// For players who fear that somebody has a copy of the id. From now on only the new id signs
    /// the player in, and all other sessions of the player end. Idempotent.
    CHANGE_MY_DEVICE = Put "/v1/me/device", Me, Player {
        body DeviceChangeRequest,
        204 empty (): "The change is made",
        refuses DeviceWrong DeviceTaken,
    }
}

/// A guest's sign-in with a device.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GuestSignIn {
    /// A random text that the installation has generated once and keeps. It is as secret as a
    /// password.
    #[schema(value_type = DeviceText)]
    pub device_id: DeviceId,
    /// The name of a new player. An existing player keeps its name.
    #[schema(value_type = Option<NameText>)]
    pub name: Option<Name>,
    /// The IANA name of the time zone, for a player that has none yet. A name that the server does
    /// not know is ignored; `time_zone` of the player in the response shows the result.
    #[serde(default)]
    #[schema(value_type = Option<DeviceTimeZoneText>)]
    pub time_zone: DeviceTimeZone,
}

/// A sign-in by name and password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordSignIn {
    /// The player's name, in upper or lower case.
    #[schema(max_length = 256, example = "Mang Tomás")]
    pub name: String,
    #[schema(value_type = PasswordText)]
    pub password: PasswordAttempt,
    /// The device's id, as for guests. It does not sign in by itself; it shows which players use
    /// the same device.
    #[schema(value_type = Option<DeviceText>)]
    pub device_id: Option<DeviceId>,
}

/// A request for a nonce, made by a device before it signs its user in with an issuer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NonceRequest {
    /// The device's id, as for guests. The same device must present the token.
    #[schema(value_type = DeviceText)]
    pub device_id: DeviceId,
}

/// A nonce.
#[derive(Debug, Serialize, ToSchema)]
pub struct Nonce {
    /// The nonce to pass to the issuer, which puts it into the ID token.
    #[schema(
        min_length = 112,
        max_length = 112,
        example = "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    )]
    pub nonce: String,
    pub expires_at: Time,
}

/// A sign-in with an ID token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenIdSignIn {
    /// The issuer's name in the house's settings.
    #[schema(value_type = IssuerText)]
    pub issuer: String,
    /// The ID token as the issuer gave it to the client.
    #[schema(value_type = IdTokenText)]
    pub id_token: String,
    /// The device that requested the nonce in the token. It does not sign in by itself; it shows
    /// which players use the same device.
    #[schema(value_type = DeviceText)]
    pub device_id: DeviceId,
    /// The name of a new player. An existing player keeps its name.
    #[schema(value_type = Option<NameText>)]
    pub name: Option<Name>,
    /// The IANA name of a new player's time zone. A name that the server does not know is ignored;
    /// `time_zone` of the player in the response shows the result.
    #[serde(default)]
    #[schema(value_type = Option<DeviceTimeZoneText>)]
    pub time_zone: DeviceTimeZone,
}

/// A player and the tokens of its new session.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignedIn {
    pub player: OwnProfile,
    #[serde(flatten)]
    pub tokens: Tokens,
}

/// A request for new tokens.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RefreshRequest {
    /// The newest refresh token of the session.
    #[schema(
        max_length = 67,
        example = "rt_0000000000000000000000000000000000000000000000000000000000000000"
    )]
    pub refresh_token: String,
    /// The device of the session, as named at sign-in. A session without a device adopts the first
    /// one that is named here. Only the device distinguishes a retry from a stolen token.
    #[serde(default)]
    #[schema(value_type = Option<DeviceText>)]
    pub device_id: Option<DeviceId>,
}

/// The tokens of a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tokens {
    /// The session to which the tokens belong.
    pub session: Uuid,
    /// The access token, to be sent as `Authorization: Bearer <token>`.
    pub access_token: String,
    pub access_expires_at: Time,
    /// The refresh token, valid for one use; keep the newest.
    #[schema(example = "rt_0000000000000000000000000000000000000000000000000000000000000000")]
    pub refresh_token: String,
    pub refresh_expires_at: Time,
}

/// A sign-in method of the player, presented once more.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum ProofRequest {
    /// A device that signs the player in. Accepted only from a player with neither a password nor a
    /// linked identity.
    Device {
        #[schema(value_type = DeviceText)]
        device_id: DeviceId,
    },
    /// The password.
    Password {
        #[schema(value_type = PasswordText)]
        password: PasswordAttempt,
    },
    /// A fresh ID token of a linked identity.
    Identity {
        /// The issuer's name in the house's settings.
        #[schema(value_type = IssuerText)]
        issuer: String,
        #[schema(value_type = IdTokenText)]
        id_token: String,
        /// The device that requested the nonce in the token.
        #[schema(value_type = DeviceText)]
        device_id: DeviceId,
    },
}

/// A proof, for the header `Account-Proof`.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountProof {
    #[schema(
        example = "ap_0000000000000000000000000000000000000000000000000000000000000000000000000000"
    )]
    pub proof: String,
    pub expires_at: Time,
}

/// A first password, with the player's name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstPasswordRequest {
    /// The name by which the player signs in and is shown to others. It may be the present name.
    #[schema(value_type = NameText)]
    pub name: Name,
    #[schema(value_type = NewPasswordText)]
    pub password: NewPassword,
}

/// A change of the password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChangeRequest {
    #[schema(value_type = PasswordText)]
    pub current_password: PasswordAttempt,
    #[schema(value_type = NewPasswordText)]
    pub password: NewPassword,
}

/// The sign-in methods of a player.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInMethods {
    /// The number of devices that sign the player in by themselves.
    #[schema(example = 1)]
    pub devices: u32,
    /// The time at which the password was set; null without a password.
    #[schema(required = true)]
    pub password_set_at: Option<Time>,
    pub identities: Vec<Identity>,
}

/// An external identity that signs the player in.
#[derive(Debug, Serialize, ToSchema)]
pub struct Identity {
    /// The issuer's name in the house's settings, or its address if the settings no longer contain
    /// it.
    #[schema(max_length = 255, example = "google")]
    pub issuer: String,
    /// The subject, by which the issuer identifies its user.
    #[schema(example = "110169484474386276334")]
    pub subject: String,
    pub linked_at: Time,
}

/// An ID token whose subject is to be linked to the player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityLinkRequest {
    /// The issuer's name in the house's settings.
    #[schema(value_type = IssuerText)]
    pub issuer: String,
    #[schema(value_type = IdTokenText)]
    pub id_token: String,
    /// The device that requested the nonce in the token.
    #[schema(value_type = DeviceText)]
    pub device_id: DeviceId,
}

/// A live session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Session {
    pub id: Uuid,
    /// The sign-in method: `guest`, `password` or `openid`.
    #[schema(example = "password")]
    pub method: &'static str,
    /// The `User-Agent` of the client.
    #[schema(required = true, example = "Tongits/2.1 (Android 15)")]
    pub user_agent: Option<String>,
    /// The address of the last refresh; for IPv6 only the network.
    #[schema(required = true, example = "203.0.113.7")]
    pub address: Option<String>,
    pub created_at: Time,
    /// The time of the sign-in or of the last refresh.
    pub last_seen_at: Time,
    /// True if this is the session of the request.
    pub current: bool,
}

/// A change of a device's id.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceChangeRequest {
    /// The id that signs the player in at present.
    #[schema(value_type = DeviceText)]
    pub device_id: DeviceId,
    /// The new id, another random text. Store it before the call, so that it is not lost with the
    /// response.
    #[schema(
        value_type = String,
        pattern = "^[!-~]{16,128}$",
        example = "a9c44f0d-2f6e-4d0b-8f0f-0d7b5d1f6c38"
    )]
    pub new_device_id: DeviceId,
}
