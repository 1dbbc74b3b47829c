//! Forms sent by operators, which are accepted only from pages of the desk (protection against
//! cross-site request forgery).
//!
//! There are two checks: the browser has to state that the request comes from the same origin, and
//! the form has to contain the token that its page received.

use axum::RequestExt as _;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use bahay_desk_ui::form_fields::{FormFields, ParseFields, parse_fields};
use maud::{Markup, html};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::operator_session::{FORM_TOKEN, Visitor};
use super::{ErrorPage, OperatorSession};
use crate::http::core::extractors::body_problem;
use crate::http::{Code, CodeExt as _, Problem, Query, Services};
use crate::rate_limit;

const FETCH_SITE: &str = "sec-fetch-site";

/// A form sent by a signed-in operator. The input, which may be the request of an operation of the
/// API, has no field for the token.
#[derive(Debug)]
pub(crate) struct OperatorForm<T = EmptyForm> {
    pub(crate) session: OperatorSession,
    pub(crate) input: T,
}

/// The input of a form without fields apart from its token.
#[derive(Debug, Deserialize)]
pub(crate) struct EmptyForm {}

/// Draws a button that sends a request at once; a confirmation is asked for unless `confirm` is
/// empty.
pub(crate) fn button(
    session: &OperatorSession,
    action: &str,
    label: &str,
    confirm: &str,
) -> Markup {
    html! {
        form class="inline" method="post" action=(action)
            data-confirm=[Some(confirm).filter(|text| !text.is_empty())] {
            (session.form_token())
            button { (label) }
        }
    }
}

/// A form sent by a visitor without a session.
#[derive(Debug)]
pub(crate) struct VisitorForm<T> {
    pub(crate) visitor: Visitor,
    pub(crate) input: T,
}

/// The query of a form that filters a list. Fields that were left empty are absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterForm<T>(pub(crate) T);

impl<T: ParseFields> FromRequestParts<Services> for FilterForm<T> {
    type Rejection = ErrorPage;

    async fn from_request_parts(parts: &mut Parts, state: &Services) -> Result<Self, ErrorPage> {
        let query = Query::<FormFields>::from_request_parts(parts, state).await;
        let filled = query?.0.into_iter().filter(|(_, value)| !value.trim().is_empty());
        Ok(Self(T::parse_fields(filled.collect())?))
    }
}

impl<T: DeserializeOwned> FromRequest<Services> for OperatorForm<T> {
    type Rejection = Response;

    async fn from_request(mut request: Request, state: &Services) -> Result<Self, Response> {
        let same_origin = check_same_origin(request.headers());
        let session: OperatorSession = request.extract_parts_with_state(state).await?;
        let input = read_form(request, same_origin, |token| session.is_form_token(token)).await?;
        Ok(Self { session, input })
    }
}

impl<T: DeserializeOwned> FromRequest<Services> for VisitorForm<T> {
    type Rejection = Response;

    async fn from_request(mut request: Request, state: &Services) -> Result<Self, Response> {
        let same_origin = check_same_origin(request.headers());
        let Ok(visitor) = request.extract_parts_with_state::<Visitor, _>(state).await;
        let is_form_token = |token: &str| token == visitor.token.form_token();
        let input = read_form(request, same_origin, is_form_token).await?;
        Ok(Self { visitor, input })
    }
}

/// Parses the fields of a form that has the right origin and the right token, without the token.
async fn read_form<T: DeserializeOwned>(
    request: Request,
    same_origin: Result<(), Problem>,
    is_form_token: impl Fn(&str) -> bool,
) -> Result<T, Response> {
    let parsed = async {
        same_origin?;
        let bytes = Bytes::from_request(request, &()).await.map_err(body_problem)?;
        let fields = serde_urlencoded::from_bytes::<FormFields>(&bytes);
        let fields = fields.map_err(|_| Code::BodyInvalid.problem())?;
        let (tokens, fields): (FormFields, FormFields) =
            fields.into_iter().partition(|(name, _)| name == FORM_TOKEN);
        if !matches!(tokens.as_slice(), [(_, token)] if is_form_token(token)) {
            let advice = "reload the page and send the form again";
            return Err(Code::FormForeign.with_detail(advice).into());
        }
        parse_fields(fields).map_err(ErrorPage::of_form)
    };
    parsed.await.map_err(ErrorPage::into_response)
}

/// Rejects a form of another site. Every browser sends at least one of the two headers.
fn check_same_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |value: Option<&HeaderValue>| {
        value.map(|value| str::from_utf8(value.as_bytes()).unwrap_or("?").to_owned())
    };
    let site = text(headers.get(FETCH_SITE));
    let origin = text(headers.get(ORIGIN));
    let host = text(headers.get(HOST));
    let is_same_site = site.as_deref().is_none_or(|site| site == "same-origin");
    let is_same_origin =
        origin.as_deref().is_none_or(|origin| rate_limit::is_same_host(origin, host.as_deref()));
    if is_same_site && is_same_origin && (site.is_some() || origin.is_some()) {
        return Ok(());
    }
    rate_limit::log_foreign_origin(origin.as_deref(), host.as_deref());
    Err(Code::FormForeign.with_detail("the browser reports another origin"))
}
