//! The document openapi.yaml, generated from the handlers so that it cannot differ from them.
//!
//! A handler describes its own responses. The responses that operations have in common are added
//! here: an operation that requires a token may reject it, and one that takes a body may reject the
//! body.

use std::collections::BTreeMap;

use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{AdditionalProperties, ArrayItems, Schema};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{
    ContentBuilder, InfoBuilder, License, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    ServerBuilder,
};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::openapi_examples::Examples;
use crate::http::routes;
use crate::http::{Code, ProblemBody};

const DESCRIPTION: &str = "\
Sign in as a guest, by name and password, or with an external identity. List the rooms, request \
a seat, and play over the socket (see asyncapi.yaml).

Amounts are integers in hundredths of a coin. Times are RFC 3339 in UTC here, and integer \
milliseconds since 1970 on the socket and in records. Lists are paginated: pass `next_cursor` \
as `cursor` to get the next page. Unknown fields and parameters are refused.

Every refusal is `application/problem+json`. Branch on its `code`; the texts beside it may change. \
Each response carries an `x-request-id`; quote it when you report a problem.";

/// The names of the security schemes, to which handlers refer in `security`: a player's access
/// token; an operator's token or the token of an operator session.
const ACCESS_TOKEN: &str = "access_token";
const OPERATOR_TOKEN: &str = "operator_token";

/// Returns the document as the repository stores it.
///
/// # Panics
/// Never: the document can always be serialized.
pub fn openapi_yaml() -> String {
    let (_, document) = routes::documented_routes();
    document.to_yaml().expect("the document can be serialized")
}

/// Returns the document without any route.
pub(crate) fn base_document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("bahay")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(license()))
        .build();
    let here = ServerBuilder::new().url("/").description(Some("This server")).build();
    OpenApiBuilder::new().info(info).servers(Some([here])).tags(Some(tags())).build()
}

fn license() -> License {
    let name = env!("CARGO_PKG_LICENSE");
    LicenseBuilder::new().name(name).identifier(Some(name)).build()
}

fn tags() -> Vec<Tag> {
    [
        ("sign in", "Tokens and sessions"),
        ("me", "The player's own account"),
        ("players", "Public data of players, and leaderboards"),
        ("rooms", "Rooms, matchmaking and tables"),
        ("games", "Finished games, and a helper for the running one"),
        ("operators", "For operators"),
        ("server", "For the supervision of the server"),
    ]
    .map(|(name, description)| TagBuilder::new().name(name).description(Some(description)).build())
    .into()
}

/// Adds security schemes, common responses and examples to the document.
pub(crate) fn complete_document(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(
        ACCESS_TOKEN,
        SecurityScheme::Http(
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build(),
        ),
    );
    components.add_security_scheme(
        OPERATOR_TOKEN,
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .bearer_format(
                    "bahay_op_ and 43 letters; for an operator session, bahay_desk_ and 43 letters",
                )
                .build(),
        ),
    );
    components.schemas.insert(ProblemBody::name().into(), ProblemBody::schema());
    components.schemas.insert(Code::name().into(), Code::schema());
    for common in &COMMON_REFUSALS {
        components.responses.insert(common.name.into(), common.response().into());
    }
    reference_items(&mut components.schemas);
    close_schemas(&mut components.schemas);
    let examples = Examples::new(components);
    for response in components.responses.values_mut() {
        if let RefOr::T(response) = response {
            examples.add_to_response(response);
        }
    }
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            // An operation without security requirements states so explicitly, which makes a
            // forgotten one visible.
            operation.security.get_or_insert_default();
            add_common_responses(operation);
            examples.add_to_operation(operation);
        }
    }
}

/// Replaces the inline schema of a page's items by a reference to the item's own schema.
fn reference_items(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    for (name, schema) in schemas {
        let (Some(item), RefOr::T(Schema::Object(page))) = (name.strip_prefix("PageOf_"), schema)
        else {
            continue;
        };
        if let Some(RefOr::T(Schema::Array(list))) = page.properties.get_mut("items") {
            list.items = ArrayItems::RefOrSchema(Box::new(Ref::from_schema_name(item).into()));
        }
    }
}

/// The enum bodies that reject unknown fields. Their schemas do not state this by themselves.
const CLOSED_ENUMS: [&str; 2] = ["RequestCorrection", "ProofRequest"];

/// Sets `additionalProperties: false` on each variant of these enums.
fn close_schemas(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    for name in CLOSED_ENUMS {
        let Some(RefOr::T(Schema::OneOf(kinds))) = schemas.get_mut(name) else {
            continue;
        };
        for kind in &mut kinds.items {
            if let RefOr::T(Schema::Object(kind)) = kind {
                let nothing = AdditionalProperties::FreeForm(false);
                kind.additional_properties = Some(Box::new(nothing));
            }
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
        let lines = self.codes.iter().map(|code| format!("`{}`: {}.", code.as_str(), code.title()));
        let schema = Ref::from_schema_name(ProblemBody::name());
        let content = ContentBuilder::new().schema(Some(schema)).build();
        ResponseBuilder::new()
            .description(lines.collect::<Vec<_>>().join(" "))
            .content("application/problem+json", content)
            .build()
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

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete]
        .into_iter()
        .flatten()
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
