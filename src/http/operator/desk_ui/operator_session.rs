//! The extractor of an operator's session in a browser, and the cookies that identify it.
//!
//! The session's cookie is sent to this host only, over TLS only, and only with requests of its own
//! pages; scripts cannot read it.

use std::convert::Infallible;
use std::str::FromStr;
use std::time::Duration;

use axum::extract::{FromRef as _, FromRequestParts};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::titles::RoomTitles;
use super::{ErrorPage, HouseZone};
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

/// The cookie of a session.
const SESSION_COOKIE: &str = "bahay-desk";
/// The cookie of the form token of a browser without a session.
const FORM_COOKIE: &str = "bahay-desk-form";
/// The cookie of a browser in which an operator has signed in before; it outlives its sessions.
const BROWSER_COOKIE: &str = "bahay-desk-browser";
/// The cookie of an opened enrolment.
const ENROLMENT_COOKIE: &str = "bahay-desk-enrolment";

/// The name of the hidden form field that holds the form token.
pub(crate) const FORM_TOKEN: &str = "form_token";

/// An operator signed in at the desk.
#[derive(Clone, Debug)]
pub(crate) struct OperatorSession {
    pub(crate) operator: Operator,
    /// The time zone in which pages display times.
    pub(crate) zone: HouseZone,
    /// The titles of the rooms that pages name.
    pub(crate) rooms: RoomTitles,
    /// The path of the request.
    pub(crate) path: String,
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

fn form_token_input(token: &DeskToken) -> Markup {
    html! { input type="hidden" name=(FORM_TOKEN) value=(token.form_token()); }
}

impl FromRequestParts<Services> for OperatorSession {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Services) -> Result<Self, Response> {
        let is_interactive = !parts.headers.contains_key(POLL_HEADER);
        let ended = || require_sign_in(parts, is_interactive);
        let options = desk_options(parts);
        let Some(token) = parse_cookie(&parts.headers, options, SESSION_COOKIE) else {
            return Err(ended());
        };
        let context = RequestContext {
            channel: Channel::Desk,
            is_interactive,
            address: client_address(parts),
        };
        match OperatorAuth::from_ref(state).authenticate(&token, context).await {
            Ok(operator) => {
                let zone = HouseZone::new(state.standings.calendar().zone.clone());
                let rooms = RoomTitles::new(state.lobby.rooms());
                let path = parts.uri.path().to_owned();
                Ok(Self { operator, zone, rooms, path, token })
            }
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
fn client_address(parts: &Parts) -> Option<String> {
    parts.extensions.get::<Address>().map(ToString::to_string)
}

fn desk_options(parts: &Parts) -> DeskOptions {
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
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let options = desk_options(parts);
        let token = parse_cookie(&parts.headers, options, FORM_COOKIE);
        Ok(Self {
            token: token.unwrap_or_else(DeskToken::random),
            options,
            address: client_address(parts),
            browser: parse_cookie(&parts.headers, options, BROWSER_COOKIE),
            enrolment: parse_cookie(&parts.headers, options, ENROLMENT_COOKIE),
        })
    }
}

impl Visitor {
    pub(crate) fn form_token(&self) -> Markup {
        form_token_input(&self.token)
    }

    /// Returns a response with a page and the cookie of its form token.
    pub(crate) fn page_response(&self, status: StatusCode, page: Markup) -> Response {
        self.with_form_cookie((status, Html(page.into_string())).into_response())
    }

    /// Sets the cookie of the form token.
    fn with_form_cookie(&self, response: Response) -> Response {
        with_cookie(response, self.options, FORM_COOKIE, CookieValue::Session(self.token.reveal()))
    }

    /// Binds an opened enrolment to the browser, and returns its page.
    pub(crate) fn show_enrolment(&self, page: Markup, token: &EnrolmentBrowserToken) -> Response {
        let value = CookieValue::Persistent(ENROLMENT_LIFE, token.reveal());
        with_cookie(self.page_response(StatusCode::OK, page), self.options, ENROLMENT_COOKIE, value)
    }

    /// Sets the cookies of a new session and removes those of the visitor.
    pub(crate) fn with_session(&self, response: Response, opened: &OpenedSession) -> Response {
        let options = self.options;
        let value = CookieValue::Session(opened.token.reveal());
        let mut response = with_cookie(response, options, SESSION_COOKIE, value);
        if let Some(browser) = &opened.browser {
            let value = CookieValue::Persistent(TRUSTED_ORIGIN_LIFE, browser.reveal());
            response = with_cookie(response, options, BROWSER_COOKIE, value);
        }
        if self.enrolment.is_some() {
            response = with_cookie(response, options, ENROLMENT_COOKIE, CookieValue::Removed);
        }
        with_cookie(response, options, FORM_COOKIE, CookieValue::Removed)
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
    with_cookie(response, options, SESSION_COOKIE, CookieValue::Removed)
}

/// Returns the full name of a cookie. Browsers accept a cookie with the prefix `__Host-` only over
/// TLS, for this host, and for all paths.
fn cookie_name(options: DeskOptions, name: &str) -> String {
    if options.plain_http { name.to_owned() } else { format!("__Host-{name}") }
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
    let name = cookie_name(options, name);
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{lifetime}");
    let cookie = HeaderValue::from_str(&cookie).expect("names and tokens are plain ASCII");
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

/// Parses the value of a cookie; `None` if it is absent, invalid, or occurs more than once.
fn parse_cookie<T: FromStr>(headers: &HeaderMap, options: DeskOptions, name: &str) -> Option<T> {
    let name = cookie_name(options, name);
    let pairs = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let mut values = pairs
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(cookie, _)| *cookie == name)
        .map(|(_, value)| value);
    let value = values.next();
    if values.next().is_some() { None } else { value?.parse().ok() }
}
