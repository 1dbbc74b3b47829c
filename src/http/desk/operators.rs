//! Operators, as administrators make and disable them. Enrolment codes are shown on the page that
//! answers, and never again.

use axum::extract::{FromRef as _, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::parts::{Column, Field, badge, button, choice, field, table, time};
use super::shell::page;
use super::{Filled, Nothing, Refused, Seat};
use crate::auth::EnrolmentCode;
use crate::http::operators::people::name_of;
use crate::http::{Code, Path, Services};
use crate::operators::{APART_AFTER, ENROLMENT_LIFE, Listed, NotARole, Operators, Role};

const HERE: &str = "/desk/operators";

pub(super) async fn list(
    State(operators): State<Operators>,
    seat: Seat,
) -> Result<Response, Refused> {
    seat.operator.administrator()?;
    let listed = operators.list().await?;
    let rows: Vec<Vec<Markup>> = listed.iter().map(|operator| row(&seat, operator)).collect();
    let columns = [
        Column::Text("Name"),
        Column::Text("Role"),
        Column::Text("State"),
        Column::Text("Since (UTC)"),
        Column::Text("Last at the desk (UTC)"),
        Column::Text("Token until (UTC)"),
        Column::Text("Change"),
    ];
    let roles = Role::ALL.map(|role| (role.as_str(), role.as_str()));
    let body = html! {
        (table("Operators", &columns, &rows))
        h2 { "Add an operator" }
        form method="post" action=(HERE) {
            (seat.form_token())
            (field(Field {
                hint: "A lower-case letter, then letters, digits, dots and hyphens.",
                ..Field::required("name", "Name")
            }))
            (choice("role", "Role", &roles, "viewer"))
            button class="main" { "Add" }
        }
    };
    Ok(page(&seat, "Operators", body))
}

fn row(seat: &Seat, operator: &Listed) -> Vec<Markup> {
    let Listed { name, role, created_at, disabled_at, is_enrolled, last_seen_at, .. } = operator;
    let token = operator.token_expires_at.filter(|_| disabled_at.is_none());
    let state = match (disabled_at, is_enrolled) {
        (Some(_), _) => badge("bad", "disabled"),
        (None, true) => badge("good", "enrolled"),
        (None, false) => badge("waiting", "to enrol"),
    };
    let here = |what: &str| format!("{HERE}/{name}/{what}");
    let orders = html! {
        @if disabled_at.is_none() {
            @if *name != seat.operator.name {
                (button(seat, &here("enrolment"), &format!("Reset sign-in of {name}"), "Password, second factor and token stop working. Go on?"))
                (button(seat, &here("disabling"), &format!("Disable {name}"), "Disabling is for good. Go on?"))
            }
        }
    };
    vec![
        html! { (name) },
        html! { (role) },
        state,
        time(*created_at),
        last_seen_at.map_or_else(|| html! {}, time),
        token.map_or_else(|| html! { "none" }, time),
        orders,
    ]
}

#[derive(Debug, Deserialize)]
pub(super) struct Add {
    name: String,
    role: String,
}

pub(super) async fn add(
    State(services): State<Services>,
    Filled { seat, input: Add { name, role } }: Filled<Add>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?.signed_in()?;
    let name = name_of(name.trim(), Code::BodyInvalid)?;
    let role: Role =
        role.parse().map_err(|error: NotARole| Code::BodyInvalid.because(error.to_string()))?;
    let now = services.clock.now();
    let code = Operators::from_ref(&services).add(by.trail(), &name, role, now).await?;
    Ok(show_code(&seat, name.as_str(), &code))
}

pub(super) async fn reset(
    State(services): State<Services>,
    Path(name): Path<String>,
    Filled { seat, input: Nothing {} }: Filled<Nothing>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?.signed_in()?;
    let (name, now) = (name_of(&name, Code::OperatorNotFound)?, services.clock.now());
    let code = services.operators.reset(by.trail(), &name, now).await?;
    Ok(show_code(&seat, name.as_str(), &code))
}

pub(super) async fn disable(
    State(services): State<Services>,
    Path(name): Path<String>,
    Filled { seat, input: Nothing {} }: Filled<Nothing>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?.signed_in()?;
    let (name, now) = (name_of(&name, Code::OperatorNotFound)?, services.clock.now());
    services.operators.disable(by.trail(), &name, now).await?;
    Ok(Redirect::to(HERE).into_response())
}

/// Shows an enrolment code, once.
fn show_code(seat: &Seat, name: &str, code: &EnrolmentCode) -> Response {
    let life = ENROLMENT_LIFE.as_secs() / 3_600;
    let apart = APART_AFTER.as_secs() / 3_600;
    let body = html! {
        p class="notice" role="status" {
            "Hand this to " strong { (name) } ". It is not shown again."
        }
        dl class="facts" {
            div { dt { "Enrolment code" } dd { code { (code.reveal()) } } }
        }
        p {
            "The code is good for " (life) " hours and for one use, at " code { "/desk/enrolment" }
            ". You have seen it: until " (apart) " hours after its use, neither of you decides on a "
            "correction that the other one asks for."
        }
        p { a href=(HERE) { "All operators" } }
    };
    page(seat, "Enrolment of an operator", body)
}
