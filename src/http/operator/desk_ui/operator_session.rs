//! The extractor of an operator's session in a browser, and the cookies that identify it.
//!
//! The session's cookie is sent to this host only, over TLS only, and only with requests of its own
//! pages; scripts cannot read it.

use std::time::Duration;

use axum::Extension;
use axum::extract::{FromRef as _, FromRequestParts};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::ErrorPage;
use crate::accounts::TRUSTED_ORIGIN_LIFE;
use crate::auth::{BrowserToken, DeskToken, EnrolmentBrowserToken};
use crate::http::{Code, CodeExt as _, DeskOptions, Services};
use crate::operators::audit::Channel;
use crate::operators::{
    ENROLMENT_LIFE, OpenedSession, Operator, OperatorAuth, OperatorAuthError, RequestContext,
    SignInClient,
};
use crate::rate_limit::Address;

/// A header of the script's automatic requests, which do not reset the idle timeout of a session.
const POLL_HEADER: HeaderName = HeaderName::from_static("desk-poll");

/// The name of the hidden form field that holds the form token.
pub(crate) const FORM_TOKEN: &str = "form_token";

/// An operator signed in at the desk.
#[derive(Clone, Debug)]
pub(crate) struct OperatorSession {
    pub(crate) operator: Operator,
    token: DeskToken,
}

impl OperatorSession {
    /// Draws the hidden field that every form must contain.
    pub(crate) fn form_token(&self) -> Markup {
        form_token_input(&self.token)
    }

    pub(crate) fn is_form_token(&self, token: &str) -> bool {
        token == self.token.form_token()
    }
}

pub(crate) fn form_token_input(token: &DeskToken) -> Markup {
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
        let context = RequestContext {
            channel: Channel::Desk,
            is_interactive,
            address: client_address(parts),
        };
        match OperatorAuth::from_ref(state).authenticate(&token, context).await {
            Ok(operator) => Ok(Self { operator, token }),
            Err(OperatorAuthError::SessionEnded) => Err(ended()),
            Err(error) => Err(ErrorPage::from(error).into_response()),
        }
    }
}

/// Returns the response to a request without a session: an error status for the script and for
/// forms, a redirect to the sign-in page otherwise.
fn require_sign_in(parts: &Parts, is_interactive: bool) -> Response {
    if !is_interactive {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return ErrorPage::from(Code::SessionEnded.with_detail("sign in and repeat the request"))
            .into_response();
    }
    let next = parts.uri.path_and_query().map_or("/desk", |path| path.as_str());
    let query = serde_urlencoded::to_string([("next", next)]).unwrap_or_default();
    Redirect::to(&format!("/desk/sign-in?{query}")).into_response()
}

/// Returns the client's address, at the granularity of rate limits.
pub(crate) fn client_address(parts: &Parts) -> Option<String> {
    parts.extensions.get::<Address>().map(ToString::to_string)
}

pub(crate) fn desk_options(parts: &Parts) -> DeskOptions {
    parts.extensions.get::<DeskOptions>().copied().unwrap_or_default()
}

/// A browser without a session. Between displaying a form and sending it, the browser holds a token
/// of its own, so that a page of another site cannot sign it in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) token: DeskToken,
    pub(crate) options: DeskOptions,
    pub(crate) address: Option<String>,
    /// The token of a browser in which an operator has signed in before.
    browser: Option<BrowserToken>,
    /// The token of the enrolment that the browser opened last.
    pub(crate) enrolment: Option<EnrolmentBrowserToken>,
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &S,
    ) -> Result<Self, std::convert::Infallible> {
        let options = Extension::<DeskOptions>::from_request_parts(parts, state).await;
        let options = options.map(|Extension(options)| options).unwrap_or_default();
        let form_token = find_cookie(&parts.headers, &form_cookie_name(options));
        let token =
            form_token.and_then(|token| token.parse().ok()).unwrap_or_else(DeskToken::random);
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
    pub(crate) fn form_token(&self) -> Markup {
        form_token_input(&self.token)
    }

    /// Sets the cookie of the form token.
    pub(crate) fn with_form_cookie(&self, response: Response) -> Response {
        let name = form_cookie_name(self.options);
        with_cookie(response, self.options, &name, CookieValue::Session(self.token.reveal()))
    }

    /// Binds an opened enrolment to the browser.
    pub(crate) fn with_enrolment(
        &self,
        response: Response,
        token: &EnrolmentBrowserToken,
    ) -> Response {
        let name = enrolment_cookie_name(self.options);
        let value = CookieValue::Persistent(ENROLMENT_LIFE, token.reveal());
        with_cookie(self.with_form_cookie(response), self.options, &name, value)
    }

    /// Sets the cookies of a new session and removes those of the visitor.
    pub(crate) fn with_session(&self, response: Response, opened: &OpenedSession) -> Response {
        let options = self.options;
        let value = CookieValue::Session(opened.token.reveal());
        let mut response = with_cookie(response, options, &session_cookie_name(options), value);
        if let Some(browser) = &opened.browser {
            let value = CookieValue::Persistent(TRUSTED_ORIGIN_LIFE, browser.reveal());
            response = with_cookie(response, options, &browser_cookie_name(options), value);
        }
        if self.enrolment.is_some() {
            response = with_cookie(
                response,
                options,
                &enrolment_cookie_name(options),
                CookieValue::Removed,
            );
        }
        with_cookie(response, options, &form_cookie_name(options), CookieValue::Removed)
    }

    /// Returns the client of a sign-in from this browser.
    pub(crate) fn sign_in_client(&self) -> SignInClient {
        SignInClient {
            channel: Channel::Desk,
            address: self.address.clone(),
            browser: self.browser.clone(),
        }
    }
}

/// Removes the session's cookie.
pub(crate) fn without_session(response: Response, options: DeskOptions) -> Response {
    with_cookie(response, options, &session_cookie_name(options), CookieValue::Removed)
}

/// Returns the full name of a cookie. Browsers accept a cookie with the prefix `__Host-` only over
/// TLS, for this host, and for all paths.
fn cookie_name(options: DeskOptions, name: &str) -> String {
    if options.plain_http { name.to_owned() } else { format!("__Host-{name}") }
}

fn session_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk")
}

fn form_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk-form")
}

/// The cookie of a known browser outlives its sessions.
fn browser_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk-browser")
}

fn enrolment_cookie_name(options: DeskOptions) -> String {
    cookie_name(options, "bahay-desk-enrolment")
}

/// The value of a cookie with its lifetime.
#[derive(Clone, Copy, Debug)]
enum CookieValue<'a> {
    /// The browser removes the cookie.
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
    let (value, lifetime) = match value {
        CookieValue::Removed => ("", "; Max-Age=0".to_owned()),
        CookieValue::Session(value) => (value, String::new()),
        CookieValue::Persistent(time, value) => (value, format!("; Max-Age={}", time.as_secs())),
    };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{lifetime}");
    let cookie = HeaderValue::from_str(&cookie).expect("names and tokens are plain ASCII");
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

/// Returns the value of a cookie; `None` if it is absent or occurs more than once.
fn find_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let mut values = pairs
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(cookie, _)| *cookie == name)
        .map(|(_, value)| value);
    let value = values.next();
    if values.next().is_some() { None } else { value }
}
