//! Operations as data: method, path, parameters, bodies and refusals of each call.
//!
//! [`operations!`] defines the operations of a topic. The service binds a handler to each; the
//! document describes them.

use http::StatusCode;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{
    Content, ContentBuilder, HttpMethod, Ref, RefOr, Required, Response, ResponseBuilder, path,
};
use utoipa::{PartialSchema, ToSchema};

use crate::Code;
use crate::headers::Header;

/// Named schemas, as `utoipa` collects them.
pub(crate) type Schemas = Vec<(String, RefOr<Schema>)>;

/// One call of the REST interface.
#[derive(Debug)]
pub struct Operation {
    /// The name of the constant.
    pub id: &'static str,
    pub method: Method,
    /// The path, with its parameters in braces.
    pub path: &'static str,
    /// The lines of the documentation. The first is the summary.
    pub about: &'static [&'static str],
    pub tag: Tag,
    pub caller: Caller,
    pub path_parameters: &'static [PathParameter],
    pub query: Option<fn() -> Vec<Parameter>>,
    pub headers: &'static [Header],
    pub body: Option<Body>,
    pub answers: &'static [Answer],
    /// The codes of this operation, apart from those that follow from its form.
    pub refusals: &'static [Code],
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub(crate) fn to_openapi(self) -> HttpMethod {
        match self {
            Self::Get => HttpMethod::Get,
            Self::Post => HttpMethod::Post,
            Self::Put => HttpMethod::Put,
            Self::Patch => HttpMethod::Patch,
            Self::Delete => HttpMethod::Delete,
        }
    }
}

bahay_base::text_enum! {
    /// The section of the document to which an operation belongs.
    pub enum Tag {
        SignIn = "sign in",
        Me = "me",
        Players = "players",
        Rooms = "rooms",
        Tournaments = "tournaments",
        Games = "games",
        Operators = "operators",
        Server = "server",
    }
}

impl Tag {
    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::SignIn => "Tokens and sessions",
            Self::Me => "The player's own account",
            Self::Players => "Public data of players, and leaderboards",
            Self::Rooms => "Rooms, matchmaking and tables",
            Self::Tournaments => "Tournaments, their standings and games",
            Self::Games => "Finished games, and a helper for the running one",
            Self::Operators => "For operators",
            Self::Server => "For the supervision of the server",
        }
    }
}

/// The codes that refuse a request without a valid access token.
pub(crate) const UNAUTHORIZED: &[Code] = &[
    Code::TokenMissing,
    Code::TokenMalformed,
    Code::TokenForged,
    Code::TokenExpired,
    Code::TokenRevoked,
];

/// The codes that refuse a request without a valid token of an operator.
pub(crate) const OPERATOR_UNAUTHORIZED: &[Code] =
    &[Code::TokenMissing, Code::TokenMalformed, Code::OperatorTokenUnknown];

/// The caller whom an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Anyone,
    /// A player, by an access token.
    Player,
    /// An operator, by a token or the token of a session.
    Operator,
}

/// A parameter in a path.
#[derive(Debug)]
pub struct PathParameter {
    pub name: &'static str,
    pub about: &'static str,
    pub schema: fn() -> RefOr<Schema>,
}

/// The body of a request: JSON.
#[derive(Debug)]
pub struct Body(NamedSchema);

impl Body {
    pub const fn json<T: ToSchema>() -> Self {
        Self(NamedSchema::new::<T>())
    }

    fn to_openapi(&self, schemas: &mut Schemas) -> RequestBody {
        let content = json_content(self.0.refer(schemas));
        RequestBodyBuilder::new()
            .content("application/json", content)
            .required(Some(Required::True))
            .build()
    }
}

/// A successful response.
#[derive(Debug)]
pub struct Answer {
    status: u16,
    about: &'static str,
    content: AnswerContent,
}

#[derive(Debug)]
enum AnswerContent {
    Nothing,
    Json(NamedSchema),
    /// A list of items, without pages.
    List(NamedSchema),
    /// One page of a list of items.
    Page(NamedSchema),
    /// A JSON object of the engine.
    Object,
    Csv,
}

impl Answer {
    const fn new(status: u16, about: &'static str, content: AnswerContent) -> Self {
        Self { status, about, content }
    }

    /// Creates a response without a body.
    pub const fn empty<T>(status: u16, about: &'static str) -> Self {
        Self::new(status, about, AnswerContent::Nothing)
    }

    /// Creates a response with a body in JSON.
    pub const fn json<T: ToSchema>(status: u16, about: &'static str) -> Self {
        Self::new(status, about, AnswerContent::Json(NamedSchema::new::<T>()))
    }

    /// Creates a response with a list of all items.
    pub const fn list<T: ToSchema>(status: u16, about: &'static str) -> Self {
        Self::new(status, about, AnswerContent::List(NamedSchema::new::<T>()))
    }

    /// Creates a response with one page of a list: `PageOf<T>`.
    pub const fn page<T: ToSchema>(status: u16, about: &'static str) -> Self {
        Self::new(status, about, AnswerContent::Page(NamedSchema::new::<T>()))
    }

    /// Creates a response with a JSON object of another format's, such as a game's record.
    pub const fn object<T>(status: u16, about: &'static str) -> Self {
        Self::new(status, about, AnswerContent::Object)
    }

    /// Creates a response with a text in comma-separated values.
    pub const fn csv<T>(status: u16, about: &'static str) -> Self {
        Self::new(status, about, AnswerContent::Csv)
    }

    fn to_openapi(&self, schemas: &mut Schemas) -> Response {
        let response = ResponseBuilder::new().description(self.about);
        let json = |schema: RefOr<Schema>| ("application/json", json_content(schema));
        let (kind, content) = match &self.content {
            AnswerContent::Nothing => return response.build(),
            AnswerContent::Json(schema) => json(schema.refer(schemas)),
            AnswerContent::List(schema) => {
                json(ArrayBuilder::new().items(schema.refer(schemas)).into())
            }
            AnswerContent::Page(schema) => json(schema.refer_page(schemas)),
            AnswerContent::Object => json(ObjectBuilder::new().schema_type(Type::Object).into()),
            AnswerContent::Csv => ("text/csv", json_content(String::schema())),
        };
        response.content(kind, content).build()
    }
}

fn json_content(schema: RefOr<Schema>) -> Content {
    ContentBuilder::new().schema(Some(schema)).build()
}

/// A schema of the document's components.
#[derive(Debug)]
struct NamedSchema {
    name: fn() -> std::borrow::Cow<'static, str>,
    schema: fn() -> RefOr<Schema>,
    collect: fn(&mut Schemas),
}

impl NamedSchema {
    const fn new<T: ToSchema>() -> Self {
        Self { name: T::name, schema: T::schema, collect: T::schemas }
    }

    /// Adds the schema and those that it names to the components, and returns a reference to it.
    fn refer(&self, schemas: &mut Schemas) -> RefOr<Schema> {
        let name = (self.name)();
        schemas.push((name.to_string(), (self.schema)()));
        (self.collect)(schemas);
        Ref::from_schema_name(name).into()
    }

    fn refer_page(&self, schemas: &mut Schemas) -> RefOr<Schema> {
        let items = ArrayBuilder::new().items(self.refer(schemas));
        let cursor = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("The `cursor` of the next page; null on the last page."));
        let page = ObjectBuilder::new()
            .description(Some("One page of a list."))
            .property("items", items)
            .required("items")
            .property("next_cursor", cursor)
            .required("next_cursor");
        let name = format!("PageOf_{}", (self.name)());
        schemas.push((name.clone(), page.into()));
        Ref::from_schema_name(name).into()
    }
}

impl Operation {
    /// Returns the name: that of the handler.
    pub fn name(&self) -> String {
        self.id.to_lowercase()
    }

    fn has_header(&self, header: Header) -> bool {
        self.headers.contains(&header)
    }

    fn has_cursor(&self) -> bool {
        self.query.is_some_and(|query| query().iter().any(|parameter| parameter.name == "cursor"))
    }

    /// Describes the operation, apart from its refusals. Adds the schemas of its bodies.
    pub(crate) fn to_openapi(&self, schemas: &mut Schemas) -> path::Operation {
        let (summary, description) = self.about.split_first().unwrap_or((&"", &[]));
        let description = to_prose(description);
        let mut operation = path::OperationBuilder::new()
            .operation_id(Some(self.name()))
            .tag(self.tag.as_str())
            .summary(Some(summary.trim()))
            .description(Some(description).filter(|text| !text.is_empty()))
            .request_body(self.body.as_ref().map(|body| body.to_openapi(schemas)));
        for parameter in self.parameters() {
            operation = operation.parameter(parameter);
        }
        for answer in self.answers {
            let status = answer.status.to_string();
            operation = operation.response(status, answer.to_openapi(schemas));
        }
        operation.build()
    }

    fn parameters(&self) -> Vec<Parameter> {
        let in_path = self.path_parameters.iter().map(|parameter| {
            ParameterBuilder::new()
                .name(parameter.name)
                .parameter_in(ParameterIn::Path)
                .required(Required::True)
                .description(Some(parameter.about))
                .schema(Some((parameter.schema)()))
                .build()
        });
        let query = self.query.into_iter().flat_map(|query| query());
        let headers = self.headers.iter().map(|header| header.parameter());
        in_path.chain(query).chain(headers).collect()
    }

    /// Returns every code by which the operation may refuse, in the order of [`Code::ALL`].
    pub fn refusals(&self) -> Vec<Code> {
        use Code as C;
        let is_operator = self.caller == Caller::Operator;
        let requires_key = self.has_header(Header::RequiredKey);
        let has_key = requires_key || self.has_header(Header::OptionalKey);
        let common: [(bool, &[Code]); 11] = [
            (is_operator, OPERATOR_UNAUTHORIZED),
            (
                is_operator && requires_key,
                &[
                    C::IdempotencyKeyMissing,
                    C::BodyMalformed,
                    C::BodyUnreadable,
                    C::OperatorRoleMissing,
                ],
            ),
            (self.caller == Caller::Player, UNAUTHORIZED),
            (
                self.body.is_some(),
                &[
                    C::BodyMalformed,
                    C::BodyUnreadable,
                    C::BodyTooLarge,
                    C::BodyNotJson,
                    C::BodyInvalid,
                ],
            ),
            (self.query.is_some(), &[C::QueryInvalid]),
            (self.has_cursor(), &[C::CursorInvalid]),
            (!self.path_parameters.is_empty(), &[C::PathInvalid]),
            (has_key, &[C::IdempotencyKeyInvalid, C::IdempotencyKeyReused, C::IdempotencyKeyInUse]),
            (self.has_header(Header::Proof), &[C::ProofMissing, C::ProofRefused]),
            (self.tag != Tag::Server, &[C::TooManyRequests]),
            (true, &[C::Internal, C::TimedOut, C::Unavailable]),
        ];
        let common = common.into_iter().filter(|(applies, _)| *applies);
        let mut codes: Vec<Code> = common.flat_map(|(_, codes)| codes.iter().copied()).collect();
        codes.extend(self.refusals);
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// Returns the codes of the refusals with a status.
    pub(crate) fn refusals_by_status(&self) -> Vec<(StatusCode, Vec<Code>)> {
        let mut by_status: Vec<(StatusCode, Vec<Code>)> = Vec::new();
        for code in self.refusals() {
            match by_status.iter_mut().find(|(status, _)| *status == code.status()) {
                Some((_, codes)) => codes.push(code),
                None => by_status.push((code.status(), vec![code])),
            }
        }
        by_status
    }
}

/// Joins the lines of each paragraph.
fn to_prose(lines: &[&str]) -> String {
    let paragraphs = lines.split(|line| line.trim().is_empty());
    let joined = paragraphs.map(|lines| lines.iter().map(|line| line.trim()).collect::<Vec<_>>());
    let joined = joined.filter(|lines| !lines.is_empty()).map(|lines| lines.join(" "));
    joined.collect::<Vec<_>>().join("\n\n")
}

/// Defines the operations of a topic, and `OPERATIONS`, the list of them.
///
/// ```text
/// operations! {
///     /// Take a seat in a room
///     ///
///     /// Seats are given in the order of requests.
///     TAKE_SEAT = Post "/v1/rooms/{room}/seat", Rooms, Player {
///         path room: RoomText = "The room's id",   // one line for each parameter of the path
///         query PageQuery<Filter>,                 // a type with `IntoParams`
///         headers RequiredKey,                     // of `Header`
///         body SeatRequest,                        // a type with `ToSchema`
///         200 json SeatedTable: "The table",       // status, constructor of `Answer`, type, text
///         refuses RoomNotFound TooFewCoins,        // codes; those of the form are added
///     }
/// }
/// ```
///
/// Each part but the answers may be absent; the order is fixed.
macro_rules! operations {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident = $method:ident $path:literal, $tag:ident, $caller:ident {
            $(path $parameter:ident: $parameter_type:ty = $parameter_about:literal,)*
            $(query $query:ty,)?
            $(headers $($header:ident)+,)?
            $(body $body:ty,)?
            $($status:literal $kind:ident $answer:ty: $about:literal,)+
            $(refuses $($code:ident)+ $(,)?)?
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            pub static $name: $crate::operation::Operation = $crate::operation::Operation {
                id: stringify!($name),
                method: $crate::operation::Method::$method,
                path: $path,
                about: &[$($doc),+],
                tag: $crate::operation::Tag::$tag,
                caller: $crate::operation::Caller::$caller,
                path_parameters: &[$($crate::operation::PathParameter {
                    name: stringify!($parameter),
                    about: $parameter_about,
                    schema: <$parameter_type as ::utoipa::PartialSchema>::schema,
                }),*],
                query: operations!(@query $($query)?),
                headers: &[$($($crate::Header::$header),+)?],
                body: operations!(@body $($body)?),
                answers: &[$($crate::operation::Answer::$kind::<$answer>($status, $about)),+],
                refusals: &[$($($crate::Code::$code),+)?],
            };
        )+

        /// The operations of this topic.
        pub static OPERATIONS: &[&$crate::operation::Operation] = &[$(&$name),+];
    };
    (@query) => { None };
    (@query $query:ty) => {
        Some(|| <$query as ::utoipa::IntoParams>::into_params(
            || Some(::utoipa::openapi::path::ParameterIn::Query),
        ))
    };
    (@body) => { None };
    (@body $body:ty) => { Some($crate::operation::Body::json::<$body>()) };
}

pub(crate) use operations;
