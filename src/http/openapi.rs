//! openapi.yaml: made from the handlers, so it cannot say anything else than they do.
//!
//! A handler describes its own answers. What every operation of a kind may answer is added here:
//! who needs a token may be refused for it, who sends a body may be refused for that.

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

use super::examples::Examples;
use super::routes;
use super::{Code, ProblemBody};

const DESCRIPTION: &str = "\
Sign in as a guest, by name and password or by an account elsewhere, look at the rooms, ask for a table, and play over the socket (see \
asyncapi.yaml).

Amounts are integers in hundredths of a coin. Times are RFC 3339 in UTC here, and integer \
milliseconds since 1970 on the socket and in records. Lists are pages: give `next_cursor` back as \
`cursor`. Unknown fields and parameters are refused.

Every refusal is `application/problem+json`. Branch on its `code`; the words beside it may change. \
Each answer carries an `x-request-id`; name it when you report something.";

/// What handlers name in `security`: a player's token, and an operator's or that of its session.
const ACCESS_TOKEN: &str = "access_token";
const OPERATOR_TOKEN: &str = "operator_token";

/// The document as the repository keeps it.
///
/// # Panics
/// Never: a document of our own serializes.
pub fn openapi_yaml() -> String {
    let (_, document) = routes::documented();
    document.to_yaml().expect("a document of our own serializes")
}

/// The document before any route.
pub(super) fn frame() -> OpenApi {
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
        ("me", "The player itself"),
        ("players", "Players, as they see each other, and how everybody stands"),
        ("rooms", "Rooms, and the way to a table"),
        ("games", "Games played, and a helper for the one being played"),
        ("operators", "For those who keep the books"),
        ("server", "For those who run it"),
    ]
    .map(|(name, description)| TagBuilder::new().name(name).description(Some(description)).build())
    .into()
}

/// What is the same everywhere.
pub(super) fn complete(document: &mut OpenApi) {
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
                    "bahay_op_ and 43 letters, or of a session: bahay_desk_ and 43 letters",
                )
                .build(),
        ),
    );
    components.schemas.insert(ProblemBody::name().into(), ProblemBody::schema());
    components.schemas.insert(Code::name().into(), Code::schema());
    for common in &COMMON {
        components.responses.insert(common.name.into(), common.response().into());
    }
    name_items(&mut components.schemas);
    close(&mut components.schemas);
    let examples = Examples::of(components);
    for response in components.responses.values_mut() {
        if let RefOr::T(response) = response {
            examples.show_response(response);
        }
    }
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            // Said aloud, so that an operation is never open by forgetting.
            operation.security.get_or_insert_default();
            refuse(operation);
            examples.show(operation);
        }
    }
}

/// A page's items have a schema of their own, which is not to be spelled out again in the page's.
fn name_items(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
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

/// Bodies of several kinds, whose unknown fields are refused like all others: of an enum that is not
/// derived.
const CLOSED: [&str; 2] = ["RequestCorrection", "ShowProof"];

/// Says so of each kind.
fn close(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    for name in CLOSED {
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

/// A refusal that operations of a kind have in common.
struct Common {
    name: &'static str,
    codes: &'static [Code],
    applies: fn(&Operation) -> bool,
}

const COMMON: [Common; 14] = [
    Common {
        name: "IdempotencyKeyMissing",
        codes: &[Code::IdempotencyKeyMissing, Code::BodyMalformed, Code::BodyUnreadable],
        applies: |operation| asks_for(operation, OPERATOR_TOKEN) && has_key(operation),
    },
    Common {
        name: "OperatorUnauthorized",
        codes: &[Code::TokenMissing, Code::TokenMalformed, Code::OperatorTokenUnknown],
        applies: |operation| asks_for(operation, OPERATOR_TOKEN),
    },
    Common {
        name: "OperatorForbidden",
        codes: &[Code::OperatorRoleMissing],
        applies: |operation| asks_for(operation, OPERATOR_TOKEN) && has_key(operation),
    },
    Common {
        name: "Unauthorized",
        codes: &[
            Code::TokenMissing,
            Code::TokenMalformed,
            Code::TokenForged,
            Code::TokenExpired,
            Code::TokenRevoked,
        ],
        applies: |operation| asks_for(operation, ACCESS_TOKEN),
    },
    Common {
        name: "BodyMalformed",
        codes: &[Code::BodyMalformed, Code::BodyUnreadable],
        applies: has_body,
    },
    Common { name: "BodyTooLarge", codes: &[Code::BodyTooLarge], applies: has_body },
    Common { name: "BodyNotJson", codes: &[Code::BodyNotJson], applies: has_body },
    Common { name: "BodyInvalid", codes: &[Code::BodyInvalid], applies: has_body },
    Common {
        name: "QueryInvalid",
        codes: &[Code::QueryInvalid, Code::CursorInvalid],
        applies: |operation| has_parameter(operation, &ParameterIn::Query),
    },
    Common {
        name: "PathInvalid",
        codes: &[Code::PathInvalid],
        applies: |operation| has_parameter(operation, &ParameterIn::Path),
    },
    Common {
        name: "IdempotencyKeyRefused",
        codes: &[Code::IdempotencyKeyInvalid, Code::IdempotencyKeyReused],
        applies: has_key,
    },
    Common {
        name: "TooManyRequests",
        codes: &[Code::TooManyRequests],
        applies: |operation| !has_tag(operation, "server"),
    },
    Common { name: "Internal", codes: &[Code::Internal], applies: |_| true },
    Common { name: "Unavailable", codes: &[Code::TimedOut, Code::Unavailable], applies: |_| true },
];

impl Common {
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

fn refuse(operation: &mut Operation) {
    for common in &COMMON {
        if (common.applies)(operation) {
            let response = RefOr::Ref(Ref::from_response_name(common.name));
            // What a handler says about a status itself goes first.
            operation.responses.responses.entry(common.status()).or_insert(response);
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete]
        .into_iter()
        .flatten()
}

fn asks_for(operation: &Operation, scheme: &str) -> bool {
    let wanted = SecurityRequirement::new::<&str, [&str; 0], &str>(scheme, []);
    operation.security.as_ref().is_some_and(|security| security.contains(&wanted))
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
