//! The part of openapi.yaml that handlers describe themselves, until their operations are data of
//! `bahay_api`.
//!
//! A handler describes its own responses. The responses that operations have in common are added
//! here: an operation that requires a token may reject it, and one that takes a body may reject the
//! body.

use bahay_api::{ACCESS_TOKEN, OPERATOR_TOKEN, documented_operations, refusal_response};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::response::Response;
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{OpenApi, Ref, RefOr};

use crate::http::{Code, routes};

/// Returns the document as the repository stores it.
///
/// # Panics
/// Never: the document can always be serialized.
pub fn openapi_yaml() -> String {
    routes::documented_routes().document().to_yaml().expect("the document can be serialized")
}

/// Adds the common responses to the operations that handlers describe.
pub(crate) fn complete_document(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    for common in &COMMON_REFUSALS {
        components.responses.insert(common.name.into(), common.response().into());
    }
    for item in document.paths.paths.values_mut() {
        for operation in documented_operations(item) {
            // An operation without security requirements states so explicitly, which makes a
            // forgotten one visible.
            operation.security.get_or_insert_default();
            add_common_responses(operation);
        }
    }
}

/// A refusal that several operations have in common.
struct CommonRefusal {
    name: &'static str,
    codes: &'static [Code],
    applies: fn(&Operation) -> bool,
}

const COMMON_REFUSALS: [CommonRefusal; 14] = [
    CommonRefusal {
        name: "IdempotencyKeyMissing",
        codes: &[Code::IdempotencyKeyMissing, Code::BodyMalformed, Code::BodyUnreadable],
        applies: |operation| requires_scheme(operation, OPERATOR_TOKEN) && has_key(operation),
    },
    CommonRefusal {
        name: "OperatorUnauthorized",
        codes: &[Code::TokenMissing, Code::TokenMalformed, Code::OperatorTokenUnknown],
        applies: |operation| requires_scheme(operation, OPERATOR_TOKEN),
    },
    CommonRefusal {
        name: "OperatorForbidden",
        codes: &[Code::OperatorRoleMissing],
        applies: |operation| requires_scheme(operation, OPERATOR_TOKEN) && has_key(operation),
    },
    CommonRefusal {
        name: "Unauthorized",
        codes: &[
            Code::TokenMissing,
            Code::TokenMalformed,
            Code::TokenForged,
            Code::TokenExpired,
            Code::TokenRevoked,
        ],
        applies: |operation| requires_scheme(operation, ACCESS_TOKEN),
    },
    CommonRefusal {
        name: "BodyMalformed",
        codes: &[Code::BodyMalformed, Code::BodyUnreadable],
        applies: has_body,
    },
    CommonRefusal { name: "BodyTooLarge", codes: &[Code::BodyTooLarge], applies: has_body },
    CommonRefusal { name: "BodyNotJson", codes: &[Code::BodyNotJson], applies: has_body },
    CommonRefusal { name: "BodyInvalid", codes: &[Code::BodyInvalid], applies: has_body },
    CommonRefusal {
        name: "QueryInvalid",
        codes: &[Code::QueryInvalid, Code::CursorInvalid],
        applies: |operation| has_parameter(operation, &ParameterIn::Query),
    },
    CommonRefusal {
        name: "PathInvalid",
        codes: &[Code::PathInvalid],
        applies: |operation| has_parameter(operation, &ParameterIn::Path),
    },
    CommonRefusal {
        name: "IdempotencyKeyRefused",
        codes: &[Code::IdempotencyKeyInvalid, Code::IdempotencyKeyReused],
        applies: has_key,
    },
    CommonRefusal {
        name: "TooManyRequests",
        codes: &[Code::TooManyRequests],
        applies: |operation| !has_tag(operation, "server"),
    },
    CommonRefusal { name: "Internal", codes: &[Code::Internal], applies: |_| true },
    CommonRefusal {
        name: "Unavailable",
        codes: &[Code::TimedOut, Code::Unavailable],
        applies: |_| true,
    },
];

impl CommonRefusal {
    fn status(&self) -> String {
        self.codes[0].status().as_str().to_owned()
    }

    fn response(&self) -> Response {
        let mut codes = self.codes.to_vec();
        codes.sort_unstable();
        refusal_response(&codes)
    }
}

fn add_common_responses(operation: &mut Operation) {
    for common in &COMMON_REFUSALS {
        if (common.applies)(operation) {
            let response = RefOr::Ref(Ref::from_response_name(common.name));
            // A response that the handler itself describes for this status takes precedence.
            operation.responses.responses.entry(common.status()).or_insert(response);
        }
    }
}

fn requires_scheme(operation: &Operation, scheme: &str) -> bool {
    let requirement = SecurityRequirement::new::<&str, [&str; 0], &str>(scheme, []);
    operation.security.as_ref().is_some_and(|security| security.contains(&requirement))
}

fn has_key(operation: &Operation) -> bool {
    has_parameter(operation, &ParameterIn::Header)
}

fn has_tag(operation: &Operation, tag: &str) -> bool {
    operation.tags.iter().flatten().any(|given| given == tag)
}

fn has_body(operation: &Operation) -> bool {
    operation.request_body.is_some()
}

fn has_parameter(operation: &Operation, place: &ParameterIn) -> bool {
    let parameters = operation.parameters.iter().flatten();
    parameters
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        })
        .any(|parameter| parameter.parameter_in == *place)
}
