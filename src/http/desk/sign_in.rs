//! Coming to the desk and leaving it.

use axum::Extension;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::form::FilledByStranger;
use super::parts::{Field, field};
use super::seat::{Stranger, unseated};
use super::shell::page_for_strangers;
use super::{DeskOptions, Filled, Nothing, Refused};
use crate::accounts::Attempt;
use crate::http::gate::OperatorSignInRate;
use crate::http::{Code, Problem, Query, Services};
use crate::operators::{Audit, Desk, DeskError, DeskSignIn};

/// Where to go after signing in.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Next {
    #[serde(default)]
    next: String,
}

/// What is typed to sign in.
#[derive(Debug, Deserialize)]
pub(super) struct Credentials {
    name: String,
    password: Attempt,
    code: String,
    #[serde(default)]
    next: String,
}

pub(super) async fn show(stranger: Stranger, Query(query): Query<Next>) -> Response {
    let page = Html(form(&stranger, None, &query.next).into_string());
    stranger.remembered(page.into_response())
}

pub(super) async fn send(
    State(desk): State<Desk>,
    rate: OperatorSignInRate,
    FilledByStranger { stranger, input }: FilledByStranger<Credentials>,
) -> Result<Response, Refused> {
    let Credentials { name, password, code, next } = input;
    let (name, code) = (name.trim().to_owned(), code.replace(' ', ""));
    let from = stranger.signs_in_from();
    let request = DeskSignIn { name, password, code, from, rate_limited_for: rate.limited_for };
    match desk.sign_in(&request).await {
        Ok(opened) => {
            let to = if is_ours(&next) { next.as_str() } else { "/desk" };
            Ok(stranger.seated(Redirect::to(to).into_response(), &opened))
        }
        Err(
            error @ (DeskError::Refused
            | DeskError::Locked { .. }
            | DeskError::RateLimited { .. }
            | DeskError::Busy),
        ) => {
            let page = Html(form(&stranger, Some(&error.to_string()), &next).into_string());
            Ok(stranger.remembered((status(&error), page).into_response()))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn leave(
    State(desk): State<Desk>,
    Extension(options): Extension<DeskOptions>,
    Filled { seat, input: Nothing {} }: Filled<Nothing>,
) -> Result<Response, Refused> {
    desk.sign_out(&seat.operator).await?;
    Ok(unseated(Redirect::to("/desk/sign-in").into_response(), options))
}

fn form(stranger: &Stranger, wrong: Option<&str>, next: &str) -> Markup {
    let body = html! {
        @if let Some(wrong) = wrong { p class="alert" role="alert" { (wrong) } }
        form method="post" action="/desk/sign-in" {
            (stranger.form_token())
            input type="hidden" name="next" value=(next);
            (field(Field { autocomplete: "username", ..Field::required("name", "Name") }))
            (field(Field {
                kind: "password", autocomplete: "current-password",
                ..Field::required("password", "Password")
            }))
            (field(Field {
                autocomplete: "one-time-code", inputmode: "numeric",
                hint: "The six digits that your authenticator shows now.",
                ..Field::required("code", "Code")
            }))
            button class="main" { "Sign in" }
        }
        p { "You have been given an enrolment code? " a href="/desk/enrolment" { "Enrol" } "." }
    };
    page_for_strangers("Sign in", &body)
}

/// A path of the desk, and of no other server.
fn is_ours(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_graphic() && letter != '\\';
    (path == "/desk" || path.starts_with("/desk/") || path.starts_with("/desk?"))
        && path.chars().all(is_plain)
}

pub(super) fn status(error: &DeskError) -> StatusCode {
    match error {
        DeskError::Busy | DeskError::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
        DeskError::Locked { .. } | DeskError::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        DeskError::Refused
        | DeskError::EnrolmentUnknown
        | DeskError::EnrolmentElsewhere
        | DeskError::PasswordEasy
        | DeskError::PasswordShort
        | DeskError::CodeWrong
        | DeskError::SessionEnded
        | DeskError::NoSession(_) => StatusCode::FORBIDDEN,
        DeskError::Broken { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<DeskError> for Problem {
    fn from(error: DeskError) -> Self {
        let code = match &error {
            DeskError::Busy => Code::SignInBusy,
            DeskError::Locked { retry_after } => {
                return Code::SignInLocked.because(error.to_string()).again_after(*retry_after);
            }
            DeskError::RateLimited { retry_after } => {
                return Code::TooManyRequests.because(error.to_string()).again_after(*retry_after);
            }
            DeskError::Refused
            | DeskError::EnrolmentUnknown
            | DeskError::EnrolmentElsewhere
            | DeskError::CodeWrong => Code::CredentialsWrong,
            DeskError::PasswordEasy | DeskError::PasswordShort => Code::PasswordEasy,
            DeskError::SessionEnded => Code::SessionEnded,
            DeskError::NoSession(_) => Code::SecondFactorMissing,
            DeskError::Unavailable { .. } => return Self::unavailable(&error),
            DeskError::Broken { .. } => return Self::internal(&error),
        };
        code.because(error.to_string())
    }
}

impl FromRef<Services> for Desk {
    fn from_ref(services: &Services) -> Self {
        services.desk.clone()
    }
}

impl FromRef<Services> for Audit {
    fn from_ref(services: &Services) -> Self {
        services.audit.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn nobody_is_led_elsewhere() {
        for path in ["/desk", "/desk/rooms", "/desk/tables?room=newbie&cursor=1"] {
            assert!(is_ours(path), "{path}");
        }
        for path in ["", "//evil.example/desk", "https://evil.example", "/deskx", "/desk/\\x", "/"]
        {
            assert!(!is_ours(path), "{path}");
        }
    }
}
