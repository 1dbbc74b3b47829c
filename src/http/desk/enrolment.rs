//! How an operator gets a password and a second factor: a code of somebody who may hand one out,
//! then a picture for the authenticator and a password of the operator's own choice.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Deserialize;

use super::Refused;
use super::form::FilledByStranger;
use super::parts::{Field, field};
use super::seat::Stranger;
use super::shell::page_for_strangers;
use super::sign_in::status;
use crate::accounts::NewPassword;
use crate::operators::{Desk, DeskError, Enrolment, EnrolmentCompletion, PASSWORD_MIN};

/// Empty places around a picture, as its standard asks for.
const QUIET: i32 = 4;

#[derive(Debug, Deserialize)]
pub(super) struct Begin {
    enrolment: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Complete {
    enrolment: String,
    password: String,
    again: String,
    code: String,
}

pub(super) async fn show(stranger: Stranger) -> Response {
    let page = Html(first(&stranger, None).into_string());
    stranger.remembered(page.into_response())
}

pub(super) async fn begin(
    State(desk): State<Desk>,
    FilledByStranger { stranger, input }: FilledByStranger<Begin>,
) -> Result<Response, Refused> {
    let Begin { enrolment: code } = input;
    match desk.open_enrolment(&code, stranger.address.clone()).await {
        Ok((enrolment, browser)) => {
            let page = Html(second(&stranger, &code, &enrolment, None).into_string());
            Ok(stranger.with_enrolment(page.into_response(), &browser))
        }
        Err(error) => begin_again(&stranger, error),
    }
}

/// Asks for the code again where it does not lead on.
fn begin_again(stranger: &Stranger, error: DeskError) -> Result<Response, Refused> {
    if !matches!(error, DeskError::EnrolmentUnknown | DeskError::EnrolmentElsewhere) {
        return Err(error.into());
    }
    let page = Html(first(stranger, Some(&error.to_string())).into_string());
    Ok(stranger.remembered((status(&error), page).into_response()))
}

pub(super) async fn complete(
    State(desk): State<Desk>,
    FilledByStranger { stranger, input }: FilledByStranger<Complete>,
) -> Result<Response, Refused> {
    let Complete { enrolment: code, password, again, code: shown } = input;
    let enrolment = match desk.find_enrolment(&code, stranger.enrolment.as_ref()).await {
        Ok(enrolment) => enrolment,
        Err(error) => return begin_again(&stranger, error),
    };
    let wrong = match password.parse::<NewPassword>() {
        Err(error) => error.to_string(),
        Ok(_) if password != again => "the two passwords are not the same".to_owned(),
        Ok(password) => {
            let shown = shown.replace(' ', "");
            let request = EnrolmentCompletion {
                code: &code,
                browser: stranger.enrolment.as_ref(),
                password: &password,
                shown: &shown,
                from: stranger.signs_in_from(),
            };
            match desk.enrol(request).await {
                Ok(opened) => {
                    let answer = Redirect::to("/desk").into_response();
                    return Ok(stranger.seated(answer, &opened));
                }
                Err(
                    error @ (DeskError::PasswordEasy
                    | DeskError::PasswordShort
                    | DeskError::CodeWrong),
                ) => error.to_string(),
                Err(error) => return begin_again(&stranger, error),
            }
        }
    };
    let page = second(&stranger, &code, &enrolment, Some(&wrong)).into_string();
    let answer = (StatusCode::UNPROCESSABLE_ENTITY, Html(page)).into_response();
    Ok(stranger.remembered(answer))
}

fn first(stranger: &Stranger, wrong: Option<&str>) -> Markup {
    let body = html! {
        @if let Some(wrong) = wrong { p class="alert" role="alert" { (wrong) } }
        form method="post" action="/desk/enrolment" {
            (stranger.form_token())
            (field(Field {
                autocomplete: "off",
                hint: "It begins with bahay_en_ and is good for one day.",
                ..Field::required("enrolment", "Enrolment code")
            }))
            button class="main" { "Go on" }
        }
    };
    page_for_strangers("Enrol", &body)
}

fn second(stranger: &Stranger, code: &str, of: &Enrolment, wrong: Option<&str>) -> Markup {
    let hint = format!("{PASSWORD_MIN} characters or more, whichever they are.");
    let body = html! {
        @if let Some(wrong) = wrong { p class="alert" role="alert" { (wrong) } }
        @if of.openings > 1 {
            p class="alert" role="alert" {
                "This page was opened " (of.openings) " times with this code. Keys that were shown "
                "before are not good. If it was not you, tell an administrator."
            }
        }
        p { "You are " strong { (of.name) } ". Scan this with your authenticator, or type the key." }
        (picture(&of.factor.uri(&of.name)))
        p { "Key: " code { (of.factor.base32()) } }
        form method="post" action="/desk/enrolment/completion" {
            (stranger.form_token())
            input type="hidden" name="enrolment" value=(code);
            (field(Field {
                kind: "password", autocomplete: "new-password", hint: &hint,
                ..Field::required("password", "New password")
            }))
            (field(Field {
                kind: "password", autocomplete: "new-password",
                ..Field::required("again", "The same again")
            }))
            (field(Field {
                autocomplete: "one-time-code", inputmode: "numeric",
                hint: "The six digits that your authenticator shows now.",
                ..Field::required("code", "Code")
            }))
            button class="main" { "Enrol" }
        }
    };
    page_for_strangers("Enrol", &body)
}

/// A QR code, drawn as one path.
fn picture(text: &str) -> Markup {
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else {
        return html! {};
    };
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            path.push_str(&format!("M{} {}h1v1h-1z", x + QUIET, y + QUIET));
        }
    }
    let side = code.size() + 2 * QUIET;
    let bounds = format!("0 0 {side} {side}");
    html! {
        svg class="qr" role="img" aria-label="QR code of the key below" viewBox=(bounds) {
            rect class="paper" width=(side) height=(side) {}
            path class="ink" d=(path) {}
        }
    }
}
