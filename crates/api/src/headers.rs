//! The headers of requests, as the document describes them.

use utoipa::IntoParams;

/// The header of a call that may carry an idempotency key.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only documents the header")]
pub struct OptionalKeyHeader {
    /// An idempotency key of your choice: 1 to 128 visible ASCII characters. If the response does
    /// not arrive, retry the call with the same key: it takes effect once, and the retry returns
    /// the first response with `Idempotency-Replayed: true`. Kept for 48 hours. A refusal is not
    /// kept, so a retry executes the call anew.
    #[param(
        rename = "Idempotency-Key",
        value_type = String,
        pattern = "^[!-~]{1,128}$",
        required = false
    )]
    key: Option<String>,
}

/// The header of a call that must carry an idempotency key.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only documents the header")]
pub struct RequiredKeyHeader {
    /// An idempotency key of your choice: 1 to 128 visible ASCII characters. If the response does
    /// not arrive, retry the call with the same key: it takes effect once, and the retry returns
    /// the first response with `Idempotency-Replayed: true`. Kept for 48 hours. A refusal is not
    /// kept, so a retry executes the call anew.
    #[param(rename = "Idempotency-Key", pattern = "^[!-~]{1,128}$")]
    key: String,
}

/// The header of a call that only the holder of the account may make.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only documents the header")]
pub struct ProofHeader {
    /// The `proof` that `POST /v1/me/proof` issued to this session within the last five minutes.
    #[param(rename = "Account-Proof", pattern = "^ap_[0-9a-f]{80}$")]
    proof: String,
}
