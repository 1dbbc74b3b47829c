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

use super::{DeskOptions, ErrorPage};
use crate::accounts::TRUSTED_ORIGIN_LIFE;
use crate::auth::{BrowserToken, DeskToken, EnrolmentBrowserToken};
use crate::rate_limit::Address;
use crate::http::{Code, Services};
use crate::operators::audit::Channel;
use crate::operators::{RequestContext, OperatorAuth, OperatorAuthError, ENROLMENT_LIFE, OpenedSession, Operator, SignInClient};

/// What the script sends when nobody has asked for anything: such requests do not keep a session
/// from being idle.
const POLL_HEADER: HeaderName = HeaderName::from_static("desk-poll");

/// The name of the form's field that holds the token of forms.
pub(super) const FORM_TOKEN: &str = "form_token";

/// An operator at the desk.
#[derive(Clone, Debug)]
pub(in crate::http) struct OperatorSession {
    pub(in crate::http) operator: Operator,
    token: DeskToken,
}

impl OperatorSession {
    /// The hidden field that every form must hold.
    pub(in crate::http) fn form_token(&self) -> Markup {
        form_token_input(&self.token)
    }

    pub(super) fn is_form_token(&self, given: &str) -> bool {
        given == self.token.form_token()
    }
}

pub(super) fn form_token_input(token: &DeskToken) -> Markup {
    html! { input type="hidden" name=(FORM_TOKEN) value=(token.form_token()); }
}

impl FromRequestParts<Services> for OperatorSession {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Services) -> Result<Self, Response> {
        let is_interactive = !parts.headers.contains_key(POLL_HEADER);
        let ended = || require_sign_in(parts, is_interactive);
        let options = desk_options(parts);
        let token = find_cookie(&parts.headers, &session_cookie_name(options));
        let Some(token) = token.and_then(|token| token.parse::<DeskToken>().ok()) else {
            return Err(ended());
        };
        let arrival = RequestContext { channel: Channel::Desk, is_interactive, address: client_address(parts) };
        match OperatorAuth::from_ref(state).authenticate(&token, arrival).await {
            Ok(operator) => Ok(Self { operator, token }),
            Err(OperatorAuthError::SessionEnded) => Err(ended()),
            Err(error) => Err(ErrorPage::from(error).into_response()),
        }
    }
}

/// What somebody without a session gets, by what was asked for.
fn require_sign_in(parts: &Parts, is_interactive: bool) -> Response {
    if !is_interactive {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return ErrorPage::from(Code::SessionEnded.with_detail("sign in again, and do it again"))
            .into_response();
    }
    let next = parts.uri.path_and_query().map_or("/desk", |path| path.as_str());
    let query = serde_urlencoded::to_string([("next", next)]).unwrap_or_default();
    Redirect::to(&format!("/desk/sign-in?{query}")).into_response()
}

/// As far as limits go.
pub(super) fn client_address(parts: &Parts) -> Option<String> {
    parts.extensions.get::<Address>().map(ToString::to_string)
}

pub(super) fn desk_options(parts: &Parts) -> DeskOptions {
    parts.extensions.get::<DeskOptions>().copied().unwrap_or_default()
}

/// A stranger's browser, between being shown a form and sending it: it has a token of its own, so
/// that nobody else's page signs it in.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) token: DeskToken,
    pub(super) options: DeskOptions,
    pub(super) address: Option<String>,
    /// By which the browser is known in which operators have signed in.
    browser: Option<BrowserToken>,
    /// Of the enrolment that the browser has opened last.
    pub(super) enrolment: Option<EnrolmentBrowserToken>,
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &S,
    ) -> Result<Self, std::convert::Infallible> {
        let options = Extension::<DeskOptions>::from_request_parts(parts, state).await;
        let options = options.map(|Extension(options)| options).unwrap_or_default();
        let known = find_cookie(&parts.headers, &form_cookie_name(options));
        let token = known.and_then(|token| token.parse().ok()).unwrap_or_else(DeskToken::random);
        let browser = find_cookie(&parts.headers, &browser_cookie_name(options));
        let enrolment = find_cookie(&parts.headers, &enrolment_cookie_name(options));
        Ok(Self {
            token,
            options,
            address: client_address(parts),
            browser: browser.and_then(|token| token.parse().ok()),
            enrolment: enrolment.and_then(|token| token.parse().ok()),
        })
    }
}

impl Visitor {
    pub(super) fn form_token(&self) -> Markup {
        form_token_input(&self.token)
    }

    /// An answer that leaves the token with the browser.
    pub(super) fn with_form_cookie(&self, response: Response) -> Response {
        let name = form_cookie_name(self.options);
        with_cookie(response, self.options, &name, CookieValue::Session(self.token.reveal()))
    }

    /// Binds the enrolment that was opened to the browser.
    pub(super) fn with_enrolment(
        &self,
        response: Response,
        token: &EnrolmentBrowserToken,
    ) -> Response {
        let name = enrolment_cookie_name(self.options);
        let value = CookieValue::Persistent(ENROLMENT_LIFE, token.reveal());
        with_cookie(self.with_form_cookie(response), self.options, &name, value)
    }

    /// An answer with which a session begins.
    pub(super) fn with_session(&self, response: Response, opened: &OpenedSession) -> Response {
        let options = self.options;
        let value = CookieValue::Session(opened.token.reveal());
        let mut response = with_cookie(response, options, &session_cookie_name(options), value);
        if let Some(browser) = &opened.browser {
            let value = CookieValue::Persistent(TRUSTED_ORIGIN_LIFE, browser.reveal());
            response = with_cookie(response, options, &browser_cookie_name(options), value);
        }
        if self.enrolment.is_some() {
            response = with_cookie(response, options, &enrolment_cookie_name(options), CookieValue::Removed);
        }
        with_cookie(response, options, &form_cookie_name(options), CookieValue::Removed)
    }

    /// The origin of a sign-in from this browser.
    pub(super) fn sign_in_client(&self) -> SignInClient {
        SignInClient {
            channel: Channel::Desk,
            address: self.address.clone(),
            browser: self.browser.clone(),
        }
    }
}

/// An answer after which the browser has no session.
pub(super) fn without_session(response: Response, options: DeskOptions) -> Response {
    with_cookie(response, options, &session_cookie_name(options), CookieValue::Removed)
}

/// Browsers take a cookie of such a prefix only from TLS, for this host, for all paths.
fn cookie_name(options: DeskOptions, name: &str) -> String {
    if options.plain_http { name.to_owned() } else { format!("__Host-{name}") }
}

fn session_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk")
}

fn form_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk-form")
}

/// Known browsers keep their cookie after a session has ended.
fn browser_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk-browser")
}

fn enrolment_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk-enrolment")
}

/// The value of a cookie, and its lifetime.
#[derive(Clone, Copy, Debug)]
enum CookieValue<'a> {
    /// The browser removes it.
    Removed,
    Session(&'a str),
    Persistent(Duration, &'a str),
}

/// Sets or removes a cookie.
fn with_cookie(
    mut response: Response,
    options: DeskOptions,
    name: &str,
    value: CookieValue<'_>,
) -> Response {
    let secure = if options.plain_http { "" } else { "; Secure" };
    let (value, ends) = match value {
        CookieValue::Removed => ("", "; Max-Age=0".to_owned()),
        CookieValue::Session(value) => (value, String::new()),
        CookieValue::Persistent(time, value) => (value, format!("; Max-Age={}", time.as_secs())),
    };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{ends}");
    let cookie = HeaderValue::from_str(&cookie).expect("names and tokens are plain ASCII");
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

/// The value of a cookie that is there once.
fn find_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let mut values = pairs
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value);
    let value = values.next();
    if values.next().is_some() { None } else { value }
}
