//! Sign-in and sign-out at the desk.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::AUTHENTICATOR_CODE;
use crate::accounts::PasswordAttempt;
use crate::http::core::request_limits::OperatorSignInRate;
use crate::http::operator::desk_ui::form::VisitorForm;
use crate::http::operator::desk_ui::layout::page_status;
use crate::http::operator::desk_ui::operator_session::{Visitor, without_session};
use crate::http::operator::desk_ui::{ErrorPage, Field, OperatorForm, field, visitor_page};
use crate::http::{DeskOptions, Problem, Query};
use crate::operators::{OperatorAuth, OperatorAuthError, SignInRequest};

/// The path to return to after sign-in.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ReturnPathQuery {
    #[serde(default)]
    next: String,
}

/// The fields of the sign-in form.
#[derive(Debug, Deserialize)]
pub(crate) struct SignInForm {
    name: String,
    password: PasswordAttempt,
    code: String,
    #[serde(default)]
    next: String,
}

pub(crate) async fn show_sign_in(
    visitor: Visitor,
    Query(query): Query<ReturnPathQuery>,
) -> Response {
    visitor.page_response(StatusCode::OK, form(&visitor, None, &query.next))
}

pub(crate) async fn sign_in(
    State(auth): State<OperatorAuth>,
    rate: OperatorSignInRate,
    VisitorForm { visitor, input }: VisitorForm<SignInForm>,
) -> Result<Response, ErrorPage> {
    let SignInForm { name, password, code, next } = input;
    let name = name.trim().to_owned();
    let code = code.replace(' ', "");
    let from = visitor.sign_in_client();
    let request = SignInRequest { name, password, code, from, rate_limited_for: rate.limited_for };
    match auth.sign_in(&request).await {
        Ok(opened) => {
            let to = if is_desk_path(&next) { next.as_str() } else { "/desk" };
            Ok(visitor.with_session(Redirect::to(to).into_response(), &opened))
        }
        Err(
            error @ (OperatorAuthError::Refused
            | OperatorAuthError::Locked { .. }
            | OperatorAuthError::RateLimited { .. }
            | OperatorAuthError::Busy),
        ) => {
            let page = form(&visitor, Some(&error.to_string()), &next);
            Ok(visitor.page_response(page_status(Problem::from(error).code), page))
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn sign_out(
    State(auth): State<OperatorAuth>,
    Extension(options): Extension<DeskOptions>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Response, ErrorPage> {
    auth.sign_out(&session.operator).await?;
    Ok(without_session(Redirect::to("/desk/sign-in").into_response(), options))
}

fn form(visitor: &Visitor, error: Option<&str>, next: &str) -> Markup {
    let body = html! {
        form method="post" action="/desk/sign-in" {
            (visitor.form_token())
            input type="hidden" name="next" value=(next);
            (field(Field { autocomplete: "username", ..Field::required("name", "Name") }))
            (field(Field {
                kind: "password", autocomplete: "current-password",
                ..Field::required("password", "Password")
            }))
            (field(AUTHENTICATOR_CODE))
            button class="main" { "Sign in" }
        }
        p { "Do you have an enrolment code? " a href="/desk/enrolment" { "Enrol" } "." }
    };
    visitor_page("Sign in", error, &body)
}

/// Returns whether a path belongs to the desk of this server.
fn is_desk_path(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_graphic() && letter != '\\';
    (path == "/desk" || path.starts_with("/desk/") || path.starts_with("/desk?"))
        && path.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::is_desk_path;

    #[test]
    fn redirects_stay_at_the_desk() {
        for path in ["/desk", "/desk/rooms", "/desk/tables?room=newbie&cursor=1"] {
            assert!(is_desk_path(path), "{path}");
        }
        for path in ["", "//evil.example/desk", "https://evil.example", "/deskx", "/desk/\\x", "/"]
        {
            assert!(!is_desk_path(path), "{path}");
        }
    }
}
