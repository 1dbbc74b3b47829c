//! An operator in a browser, as an argument of a handler; and the cookies by which it is known.
//!
//! The session's cookie is sent to this server alone, over TLS alone, with requests of its own pages
//! alone, and no script can read it.

use std::time::Duration;

use axum::Extension;
use axum::extract::{FromRef as _, FromRequestParts};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::{DeskOptions, Refused};
use crate::accounts::KNOWN_FOR;
use crate::auth::{BrowserToken, DeskToken, EnrolmentBrowserToken};
use crate::edge::Address;
use crate::http::{Code, Services};
use crate::operators::audit::Way;
use crate::operators::{Arrival, Desk, DeskError, ENROLMENT_LIFE, Opened, Operator, SignedInFrom};

/// What the script sends when nobody has asked for anything: such requests do not keep a session
/// from being idle.
const BY_SCRIPT: HeaderName = HeaderName::from_static("desk-poll");

/// The name of the form's field that holds the token of forms.
pub(super) const FORM_TOKEN: &str = "form_token";

/// An operator at the desk.
#[derive(Clone, Debug)]
pub(in crate::http) struct Seat {
    pub(in crate::http) operator: Operator,
    token: DeskToken,
}

impl Seat {
    /// The hidden field that every form must hold.
    pub(in crate::http) fn form_token(&self) -> Markup {
        hidden(&self.token)
    }

    pub(super) fn is_form_token(&self, given: &str) -> bool {
        given == self.token.form_token()
    }
}

pub(super) fn hidden(token: &DeskToken) -> Markup {
    html! { input type="hidden" name=(FORM_TOKEN) value=(token.form_token()); }
}

impl FromRequestParts<Services> for Seat {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Services) -> Result<Self, Response> {
        let by_hand = !parts.headers.contains_key(BY_SCRIPT);
        let ended = || sign_in_first(parts, by_hand);
        let options = options(parts);
        let token = cookie(&parts.headers, &session_cookie(options));
        let Some(token) = token.and_then(|token| token.parse::<DeskToken>().ok()) else {
            return Err(ended());
        };
        let arrival = Arrival { way: Way::Desk, by_hand, address: address(parts) };
        match Desk::from_ref(state).authenticate(&token, arrival).await {
            Ok(operator) => Ok(Self { operator, token }),
            Err(DeskError::SessionEnded) => Err(ended()),
            Err(error) => Err(Refused::from(error).into_response()),
        }
    }
}

/// What somebody without a session gets, by what was asked for.
fn sign_in_first(parts: &Parts, by_hand: bool) -> Response {
    if !by_hand {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return Refused::from(Code::SessionEnded.because("sign in again, and do it again"))
            .into_response();
    }
    let next = parts.uri.path_and_query().map_or("/desk", |path| path.as_str());
    let query = serde_urlencoded::to_string([("next", next)]).unwrap_or_default();
    Redirect::to(&format!("/desk/sign-in?{query}")).into_response()
}

/// As far as limits go.
pub(super) fn address(parts: &Parts) -> Option<String> {
    parts.extensions.get::<Address>().map(ToString::to_string)
}

pub(super) fn options(parts: &Parts) -> DeskOptions {
    parts.extensions.get::<DeskOptions>().copied().unwrap_or_default()
}

/// A stranger's browser, between being shown a form and sending it: it has a token of its own, so
/// that nobody else's page signs it in.
#[derive(Clone, Debug)]
pub(super) struct Stranger {
    pub(super) token: DeskToken,
    pub(super) options: DeskOptions,
    pub(super) address: Option<String>,
    /// By which the browser is known in which operators have signed in.
    browser: Option<BrowserToken>,
    /// Of the enrolment that the browser has opened last.
    pub(super) enrolment: Option<EnrolmentBrowserToken>,
}

impl<S: Send + Sync> FromRequestParts<S> for Stranger {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &S,
    ) -> Result<Self, std::convert::Infallible> {
        let options = Extension::<DeskOptions>::from_request_parts(parts, state).await;
        let options = options.map(|Extension(options)| options).unwrap_or_default();
        let known = cookie(&parts.headers, &strangers_cookie(options));
        let token = known.and_then(|token| token.parse().ok()).unwrap_or_else(DeskToken::random);
        let browser = cookie(&parts.headers, &browsers_cookie(options));
        let enrolment = cookie(&parts.headers, &enrolments_cookie(options));
        Ok(Self {
            token,
            options,
            address: address(parts),
            browser: browser.and_then(|token| token.parse().ok()),
            enrolment: enrolment.and_then(|token| token.parse().ok()),
        })
    }
}

impl Stranger {
    pub(super) fn form_token(&self) -> Markup {
        hidden(&self.token)
    }

    /// An answer that leaves the token with the browser.
    pub(super) fn remembered(&self, response: Response) -> Response {
        let name = strangers_cookie(self.options);
        with_cookie(response, self.options, &name, Kept::UntilClosed(self.token.reveal()))
    }

    /// Binds the enrolment that was opened to the browser.
    pub(super) fn with_enrolment(
        &self,
        response: Response,
        token: &EnrolmentBrowserToken,
    ) -> Response {
        let name = enrolments_cookie(self.options);
        let kept = Kept::For(ENROLMENT_LIFE, token.reveal());
        with_cookie(self.remembered(response), self.options, &name, kept)
    }

    /// An answer with which a session begins.
    pub(super) fn seated(&self, response: Response, opened: &Opened) -> Response {
        let options = self.options;
        let kept = Kept::UntilClosed(opened.token.reveal());
        let mut response = with_cookie(response, options, &session_cookie(options), kept);
        if let Some(browser) = &opened.browser {
            let kept = Kept::For(KNOWN_FOR, browser.reveal());
            response = with_cookie(response, options, &browsers_cookie(options), kept);
        }
        if self.enrolment.is_some() {
            response = with_cookie(response, options, &enrolments_cookie(options), Kept::No);
        }
        with_cookie(response, options, &strangers_cookie(options), Kept::No)
    }

    /// The origin of a sign-in from this browser.
    pub(super) fn signs_in_from(&self) -> SignedInFrom {
        SignedInFrom {
            way: Way::Desk,
            address: self.address.clone(),
            browser: self.browser.clone(),
        }
    }
}

/// An answer after which the browser has no session.
pub(super) fn unseated(response: Response, options: DeskOptions) -> Response {
    with_cookie(response, options, &session_cookie(options), Kept::No)
}

/// Browsers take a cookie of such a prefix only from TLS, for this host, for all paths.
fn name(options: DeskOptions, name: &str) -> String {
    if options.plain_http { name.to_owned() } else { format!("__Host-{name}") }
}

fn session_cookie(options: DeskOptions) -> String {
    name(options, "bahay-desk")
}

fn strangers_cookie(options: DeskOptions) -> String {
    name(options, "bahay-desk-form")
}

/// Known browsers keep their cookie after a session has ended.
fn browsers_cookie(options: DeskOptions) -> String {
    name(options, "bahay-desk-browser")
}

fn enrolments_cookie(options: DeskOptions) -> String {
    name(options, "bahay-desk-enrolment")
}

/// The value of a cookie, and its lifetime.
#[derive(Clone, Copy, Debug)]
enum Kept<'a> {
    /// The browser removes it.
    No,
    UntilClosed(&'a str),
    For(Duration, &'a str),
}

/// Sets or removes a cookie.
fn with_cookie(
    mut response: Response,
    options: DeskOptions,
    name: &str,
    kept: Kept<'_>,
) -> Response {
    let secure = if options.plain_http { "" } else { "; Secure" };
    let (value, ends) = match kept {
        Kept::No => ("", "; Max-Age=0".to_owned()),
        Kept::UntilClosed(value) => (value, String::new()),
        Kept::For(time, value) => (value, format!("; Max-Age={}", time.as_secs())),
    };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{ends}");
    let cookie = HeaderValue::from_str(&cookie).expect("names and tokens are plain ASCII");
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

/// The value of a cookie that is there once.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let mut values = pairs
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value);
    let value = values.next();
    if values.next().is_some() { None } else { value }
}
