//! The headers of requests.

use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

const KEY_NAME: &str = "Idempotency-Key";
const KEY_PATTERN: &str = "^[!-~]{1,128}$";
const KEY_ABOUT: &str = "\
An idempotency key of your choice: 1 to 128 visible ASCII characters. If the response does
not arrive, retry the call with the same key: it takes effect once, and the retry returns
the first response with `Idempotency-Replayed: true`. Kept for 48 hours. A refusal is not
kept, so a retry executes the call anew.";

const PROOF_ABOUT: &str = "The `proof` that `POST /v1/me/proof` issued to this session within the \
    last five minutes.";

/// A header of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// The idempotency key of a call that may carry one.
    OptionalKey,
    /// The idempotency key of a call that must carry one.
    RequiredKey,
    /// The account proof of a call that only the holder of the account may make.
    Proof,
}

impl Header {
    pub(crate) fn parameter(self) -> Parameter {
        let (name, about, pattern, required) = match self {
            Self::OptionalKey => (KEY_NAME, KEY_ABOUT, KEY_PATTERN, Required::False),
            Self::RequiredKey => (KEY_NAME, KEY_ABOUT, KEY_PATTERN, Required::True),
            Self::Proof => ("Account-Proof", PROOF_ABOUT, "^ap_[0-9a-f]{80}$", Required::True),
        };
        let schema = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern));
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(required)
            .description(Some(about))
            .schema(Some(schema))
            .build()
    }
}
