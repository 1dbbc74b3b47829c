//! Enrolment: an operator enters the code that an administrator has handed over, then scans a QR
//! code with its authenticator and chooses a password.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Deserialize;

use super::AUTHENTICATOR_CODE;
use crate::accounts::NewPassword;
use crate::http::Problem;
use crate::http::operator::desk_ui::form::VisitorForm;
use crate::http::operator::desk_ui::layout::page_status;
use crate::http::operator::desk_ui::operator_session::Visitor;
use crate::http::operator::desk_ui::{ErrorPage, Field, field, visitor_page};
use crate::operators::{
    Enrolment, EnrolmentCompletion, OperatorAuth, OperatorAuthError, PASSWORD_MIN,
};

/// The width of the empty border that the standard of QR codes requires, in modules.
const QUIET_ZONE: i32 = 4;

#[derive(Debug, Deserialize)]
pub(crate) struct EnrolmentCodeForm {
    enrolment: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EnrolmentForm {
    enrolment: String,
    password: String,
    again: String,
    code: String,
}

pub(crate) async fn show_enrolment(visitor: Visitor) -> Response {
    visitor.page_response(StatusCode::OK, code_page(&visitor, None))
}

pub(crate) async fn begin(
    State(auth): State<OperatorAuth>,
    VisitorForm { visitor, input }: VisitorForm<EnrolmentCodeForm>,
) -> Result<Response, ErrorPage> {
    let EnrolmentCodeForm { enrolment: code } = input;
    match auth.open_enrolment(&code, visitor.address.clone()).await {
        Ok((enrolment, browser)) => {
            let page = credentials_page(&visitor, &code, &enrolment, None);
            Ok(visitor.show_enrolment(page, &browser))
        }
        Err(error) => begin_again(&visitor, error),
    }
}

/// Returns the page that asks for the code again if the code or the browser is rejected, and an
/// error page otherwise.
fn begin_again(visitor: &Visitor, error: OperatorAuthError) -> Result<Response, ErrorPage> {
    if !matches!(error, OperatorAuthError::EnrolmentUnknown | OperatorAuthError::EnrolmentElsewhere)
    {
        return Err(error.into());
    }
    let page = code_page(visitor, Some(&error.to_string()));
    Ok(visitor.page_response(page_status(Problem::from(error).code), page))
}

pub(crate) async fn complete(
    State(auth): State<OperatorAuth>,
    VisitorForm { visitor, input }: VisitorForm<EnrolmentForm>,
) -> Result<Response, ErrorPage> {
    let EnrolmentForm { enrolment: code, password, again, code: authenticator_code } = input;
    let enrolment = match auth.find_enrolment(&code, visitor.enrolment.as_ref()).await {
        Ok(enrolment) => enrolment,
        Err(error) => return begin_again(&visitor, error),
    };
    let error = match password.parse::<NewPassword>() {
        Err(error) => error.to_string(),
        Ok(_) if password != again => "the two passwords are not the same".to_owned(),
        Ok(password) => {
            let authenticator_code = authenticator_code.replace(' ', "");
            let request = EnrolmentCompletion {
                code: &code,
                browser: visitor.enrolment.as_ref(),
                password: &password,
                authenticator_code: &authenticator_code,
                from: visitor.sign_in_client(),
            };
            match auth.enrol(request).await {
                Ok(opened) => {
                    let answer = Redirect::to("/desk").into_response();
                    return Ok(visitor.with_session(answer, &opened));
                }
                Err(
                    error @ (OperatorAuthError::PasswordEasy
                    | OperatorAuthError::PasswordShort
                    | OperatorAuthError::CodeWrong),
                ) => error.to_string(),
                Err(error) => return begin_again(&visitor, error),
            }
        }
    };
    let page = credentials_page(&visitor, &code, &enrolment, Some(&error));
    Ok(visitor.page_response(StatusCode::UNPROCESSABLE_ENTITY, page))
}

fn code_page(visitor: &Visitor, error: Option<&str>) -> Markup {
    let body = html! {
        form method="post" action="/desk/enrolment" {
            (visitor.form_token())
            (field(Field {
                autocomplete: "off",
                hint: "Begins with bahay_en_ and is valid for one day.",
                ..Field::required("enrolment", "Enrolment code")
            }))
            button class="main" { "Continue" }
        }
    };
    visitor_page("Enrol", error, &body)
}

fn credentials_page(
    visitor: &Visitor,
    code: &str,
    enrolment: &Enrolment,
    error: Option<&str>,
) -> Markup {
    let hint = format!("At least {PASSWORD_MIN} characters of any kind.");
    let body = html! {
        @if enrolment.openings > 1 {
            p class="alert" role="alert" {
                "This page was opened " (enrolment.openings) " times with this code. Keys that were displayed "
                "earlier are invalid. If you did not open it, inform an administrator."
            }
        }
        p { "You are enrolling as " strong { (enrolment.name) } ". Scan this code with your authenticator, or type the key." }
        (qr_code(&enrolment.factor.uri(&enrolment.name)))
        p { "Key: " code { (enrolment.factor.to_base32()) } }
        form method="post" action="/desk/enrolment/completion" {
            (visitor.form_token())
            input type="hidden" name="enrolment" value=(code);
            (field(Field {
                kind: "password", autocomplete: "new-password", hint: &hint,
                ..Field::required("password", "New password")
            }))
            (field(Field {
                kind: "password", autocomplete: "new-password",
                ..Field::required("again", "Repeat the password")
            }))
            (field(AUTHENTICATOR_CODE))
            button class="main" { "Enrol" }
        }
    };
    visitor_page("Enrol", error, &body)
}

/// Draws a QR code as a single path.
fn qr_code(text: &str) -> Markup {
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else {
        return html! {};
    };
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            path.push_str(&format!("M{} {}h1v1h-1z", x + QUIET_ZONE, y + QUIET_ZONE));
        }
    }
    let side = code.size() + 2 * QUIET_ZONE;
    let bounds = format!("0 0 {side} {side}");
    html! {
        svg class="qr" role="img" aria-label="QR code of the key below" viewBox=(bounds) {
            rect class="paper" width=(side) height=(side) {}
            path class="ink" d=(path) {}
        }
    }
}
