//! Forms that operators send: read only when they come from a page of ours.
//!
//! That is asked twice: the browser must say that the request comes from this very origin, and the
//! form must hold the token that its page was given.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::seat::Stranger;
use super::{Refused, Seat};
use crate::edge;
use crate::http::input::unread;
use crate::http::{Code, Problem, Services};

const FETCH_SITE: &str = "sec-fetch-site";

/// A form of an operator's page.
#[derive(Debug)]
pub(in crate::http) struct Filled<T> {
    pub(in crate::http) seat: Seat,
    pub(in crate::http) input: T,
}

/// A form of a page for those who are not signed in.
#[derive(Debug)]
pub(super) struct FilledByStranger<T> {
    pub(super) stranger: Stranger,
    pub(super) input: T,
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    form_token: String,
}

impl<T: DeserializeOwned> FromRequest<Services> for Filled<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &Services) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let ours = comes_from_us(&parts.headers);
        let seat = Seat::from_request_parts(&mut parts, state).await?;
        let read = async {
            ours?;
            let bytes = Bytes::from_request(Request::from_parts(parts, body), state).await;
            read(&bytes.map_err(unread)?, |token: &str| seat.is_form_token(token))
        };
        let input = read.await.map_err(|problem| Refused::from(problem).into_response())?;
        Ok(Self { seat, input })
    }
}

impl<T: DeserializeOwned> FromRequest<Services> for FilledByStranger<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &Services) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let ours = comes_from_us(&parts.headers);
        let Ok(stranger) = Stranger::from_request_parts(&mut parts, state).await;
        let read = async {
            ours?;
            let bytes = Bytes::from_request(Request::from_parts(parts, body), state).await;
            read(&bytes.map_err(unread)?, |token: &str| token == stranger.token.form_token())
        };
        let input = read.await.map_err(|problem| Refused::from(problem).into_response())?;
        Ok(Self { stranger, input })
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8], is_ours: impl Fn(&str) -> bool) -> Result<T, Problem> {
    let invalid = |error: serde_urlencoded::de::Error| Code::BodyInvalid.because(error.to_string());
    let Token { form_token } = serde_urlencoded::from_bytes(bytes).map_err(invalid)?;
    if !is_ours(&form_token) {
        return Err(Code::FormForeign.because("open the page again, and send it again"));
    }
    serde_urlencoded::from_bytes(bytes).map_err(invalid)
}

/// Rejects a form of another site. Every browser sends at least one of the two headers.
fn comes_from_us(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |value: Option<&HeaderValue>| {
        value.map(|value| str::from_utf8(value.as_bytes()).unwrap_or("?").to_owned())
    };
    let site = text(headers.get(FETCH_SITE));
    let origin = text(headers.get(ORIGIN));
    let host = text(headers.get(HOST));
    let is_site_ours = site.as_deref().is_none_or(|site| site == "same-origin");
    let is_origin_ours =
        origin.as_deref().is_none_or(|origin| edge::is_of_host(origin, host.as_deref()));
    if is_site_ours && is_origin_ours && (site.is_some() || origin.is_some()) {
        return Ok(());
    }
    edge::log_foreign_origin(origin.as_deref(), host.as_deref());
    Err(Code::FormForeign.because("the browser says that it comes from somewhere else"))
}
