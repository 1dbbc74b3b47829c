//! The document openapi.yaml, generated from the operations and the schemas of their bodies.

use std::collections::BTreeMap;

use utoipa::openapi::path::{Operation as Documented, Parameter};
use utoipa::openapi::schema::{AdditionalProperties, Components, Schema};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response,
    ResponseBuilder, ServerBuilder,
};
use utoipa::{IntoParams as _, PartialSchema as _, ToSchema as _};

use crate::operation::{Caller, OPERATOR_UNAUTHORIZED, Tag, UNAUTHORIZED};
use crate::{Code, Header, PageQuery, ProblemBody};

const DESCRIPTION: &str = "\
Sign in as a guest, by name and password, or with an external identity. List the rooms, request \
a seat, and play over the socket (see asyncapi.yaml).

Amounts are integers in hundredths of a coin. Times are RFC 3339 in UTC here, and integer \
milliseconds since 1970 on the socket and in records. Lists are paginated: pass `next_cursor` \
as `cursor` to get the next page. Unknown fields and parameters are refused.

Every refusal is `application/problem+json`. Branch on its `code`; the texts beside it may change. \
Each response carries an `x-request-id`; quote it when you report a problem.";

/// The names of the security schemes: a player's access token; an operator's token or the token of
/// an operator session.
const ACCESS_TOKEN: &str = "access_token";
const OPERATOR_TOKEN: &str = "operator_token";

/// The sets of codes that get a name of their own in the components.
const NAMED_REFUSALS: &[(&str, &[Code])] = &[
    ("Unauthorized", UNAUTHORIZED),
    ("OperatorUnauthorized", OPERATOR_UNAUTHORIZED),
    ("Unavailable", &[Code::TimedOut, Code::Unavailable]),
    ("BodyMalformed", &[Code::BodyUnreadable, Code::BodyMalformed]),
    (
        "IdempotencyKeyMissing",
        &[Code::BodyUnreadable, Code::BodyMalformed, Code::IdempotencyKeyMissing],
    ),
];

/// The maximum number of codes of a shared response without a name of its own.
const SHARED_CODES_MAX: usize = 3;

/// Returns the document of all operations.
pub fn openapi() -> OpenApi {
    let license = env!("CARGO_PKG_LICENSE");
    let license = LicenseBuilder::new().name(license).identifier(Some(license)).build();
    let info = InfoBuilder::new()
        .title("bahay")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(license))
        .build();
    let here = ServerBuilder::new().url("/").description(Some("This server")).build();
    let tags = Tag::ALL
        .iter()
        .map(|tag| TagBuilder::new().name(tag.as_str()).description(Some(tag.about())).build());
    let mut components = Components::new();
    let scheme = |format: &str| {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format(format);
        SecurityScheme::Http(scheme.build())
    };
    components.add_security_scheme(ACCESS_TOKEN, scheme("JWT"));
    components.add_security_scheme(
        OPERATOR_TOKEN,
        scheme("bahay_op_ and 43 letters; for an operator session, bahay_desk_ and 43 letters"),
    );
    components.schemas.insert(ProblemBody::name().into(), ProblemBody::schema());
    components.schemas.insert(Code::name().into(), Code::schema());
    components.parameters =
        shared_parameters().map(|(name, parameter)| (name, parameter.into())).collect();
    let mut document =
        OpenApiBuilder::new().info(info).servers(Some([here])).tags(Some(tags)).build();
    add_operations(&mut document, &mut components);
    close_schemas(&mut components.schemas);
    document.components = Some(components);
    document
}

/// Returns the parameters to which operations refer, with their names in the components.
fn shared_parameters() -> impl Iterator<Item = (String, Parameter)> {
    let headers = [
        ("IdempotencyKey", Header::RequiredKey),
        ("OptionalIdempotencyKey", Header::OptionalKey),
        ("AccountProof", Header::Proof),
    ];
    let headers = headers.map(|(name, header)| (name.to_owned(), header.parameter()));
    let page = <PageQuery>::into_params(|| None).into_iter();
    headers.into_iter().chain(page.map(|parameter| (parameter.name.clone(), parameter)))
}

/// Adds the operations, with the schemas and responses to which they refer.
fn add_operations(document: &mut OpenApi, components: &mut Components) {
    let mut uses: BTreeMap<Vec<Code>, usize> = BTreeMap::new();
    for (_, codes) in crate::operations().flat_map(|operation| operation.refusals_by_status()) {
        *uses.entry(codes).or_default() += 1;
    }
    for operation in crate::operations() {
        let mut schemas = Vec::new();
        let mut documented = operation.to_openapi(&mut schemas);
        components.schemas.extend(schemas);
        documented.security = Some(requirements(operation.caller));
        for (status, codes) in operation.refusals_by_status() {
            let response = match shared_name(&codes, &uses) {
                Some(name) => {
                    let response = || refusal_response(&codes).into();
                    components.responses.entry(name.clone()).or_insert_with(response);
                    RefOr::Ref(Ref::from_response_name(name))
                }
                None => refusal_response(&codes).into(),
            };
            documented.responses.responses.insert(status.as_str().to_owned(), response);
        }
        share_parameters(&mut documented);
        let methods = vec![operation.method.to_openapi()];
        document.paths.add_path_operation(operation.path, methods, documented);
    }
}

fn requirements(caller: Caller) -> Vec<SecurityRequirement> {
    let scheme = |name: &str| vec![SecurityRequirement::new::<&str, [&str; 0], &str>(name, [])];
    match caller {
        // A list without requirements makes a forgotten requirement visible.
        Caller::Anyone => Vec::new(),
        Caller::Player => scheme(ACCESS_TOKEN),
        Caller::Operator => scheme(OPERATOR_TOKEN),
    }
}

/// Returns the name of the response that refuses with these codes, if several operations have it.
fn shared_name(codes: &[Code], uses: &BTreeMap<Vec<Code>, usize>) -> Option<String> {
    let is_same = |named: &[Code]| {
        let mut named = named.to_vec();
        named.sort_unstable();
        named == codes
    };
    if let Some((name, _)) = NAMED_REFUSALS.iter().find(|(_, named)| is_same(named)) {
        return Some((*name).to_owned());
    }
    let is_shared = uses.get(codes).is_some_and(|uses| *uses > 1);
    let name = || codes.iter().map(|code| camel_case(code.as_str())).collect::<Vec<_>>().join("Or");
    (is_shared && codes.len() <= SHARED_CODES_MAX).then(name)
}

/// Converts `room_not_found` to `RoomNotFound`.
pub(crate) fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
    };
    name.split('_').map(word).collect::<Vec<String>>().concat()
}

/// Returns the response that refuses with one of these codes.
fn refusal_response(codes: &[Code]) -> Response {
    let lines = codes.iter().map(|code| format!("`{}`: {}.", code.as_str(), code.title()));
    let schema = Ref::from_schema_name(ProblemBody::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new()
        .description(lines.collect::<Vec<_>>().join(" "))
        .content("application/problem+json", content)
        .build()
}

/// Replaces the parameters that the components have by references to them.
fn share_parameters(operation: &mut Documented) {
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(own) = parameter else { continue };
        if let Some((name, _)) = shared_parameters().find(|(_, known)| known == own) {
            *parameter = RefOr::Ref(Ref::new(format!("#/components/parameters/{name}")));
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
