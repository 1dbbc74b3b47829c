//! Administration of operators. An enrolment code is displayed once, on the page that answers the
//! request.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::operators::{AddOperator, ChangeRole, Operator};
use maud::{Markup, html};

use super::query;
use crate::auth::EnrolmentCode;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, OperatorForm, OperatorSession, badge, button, facts, field, page, select,
    table,
};
use crate::http::{Path, Services};
use crate::operators::{ENROLMENT_LIFE, INDEPENDENT_AFTER, Operators, Role};

const HERE: &str = "/desk/operators";

pub(crate) async fn list(
    State(operators): State<Operators>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    session.operator.require_administrator()?;
    let listed = operators.list().await?;
    let rows = listed.iter().map(|operator| row(&session, operator));
    let columns = "Name | Role | State | Since | Last seen | Token until | Actions";
    let roles: Vec<_> = Role::ALL.iter().map(|role| (role.as_str(), role.as_str())).collect();
    let body = html! {
        (table("Operators", columns, rows))
        h2 { "Add an operator" }
        form method="post" action=(HERE) {
            (session.form_token())
            (field(Field {
                hint: "A lower-case letter, then letters, digits, dots and hyphens.",
                ..Field::required("name", "Name")
            }))
            (select("role", "Role", &roles, "viewer"))
            button class="main" { "Add" }
        }
    };
    Ok(page(&session, "Operators", body))
}

fn row(session: &OperatorSession, operator: &Operator) -> Vec<Markup> {
    let Operator { name, role, created_at, disabled_at, is_enrolled, last_seen_at, .. } = operator;
    let token = operator.token_expires_at.filter(|_| disabled_at.is_none());
    let state = match (disabled_at, is_enrolled) {
        (Some(_), _) => badge("bad", "disabled"),
        (None, true) => badge("good", "enrolled"),
        (None, false) => badge("waiting", "not enrolled"),
    };
    let here = |action: &str| format!("{HERE}/{name}/{action}");
    let actions = html! {
        @if disabled_at.is_none() {
            @if *name != session.operator.name {
                form class="inline" method="post" action=(here("role"))
                    data-confirm={ "Change the role of " (name) "? Its sessions and its token end." } {
                    (session.form_token())
                    select name="role" aria-label={ "Role of " (name) } {
                        @for one in Role::ALL {
                            option value=(one) selected[one.as_str() == role] { (one) }
                        }
                    }
                    button { "Change role" }
                }
                (button(session, &here("enrolment"), &format!("Reset sign-in of {name}"), "Password, second factor and token stop working. Continue?"))
                (button(session, &here("disabling"), &format!("Disable {name}"), "Disabling is permanent. Continue?"))
            }
        }
    };
    let zone = &session.zone;
    vec![
        html! { (name) },
        html! { (role) },
        state,
        zone.time(*created_at),
        last_seen_at.map_or_else(|| html! {}, |at| zone.time(at)),
        token.map_or_else(|| html! { "none" }, |at| zone.time(at)),
        actions,
    ]
}

pub(crate) async fn add(
    State(services): State<Services>,
    OperatorForm { session, input: AddOperator { name, role } }: OperatorForm<AddOperator>,
) -> Result<Response, ErrorPage> {
    let name = name.trim().to_owned();
    let request = AddOperator { name: name.clone(), role };
    let code = query::add(&services, &session.operator, request).await?;
    Ok(show_code(&session, &name, &code))
}

pub(crate) async fn reset(
    State(services): State<Services>,
    Path(name): Path<String>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Response, ErrorPage> {
    let code = query::reset(&services, &session.operator, &name).await?;
    Ok(show_code(&session, &name, &code))
}

pub(crate) async fn change_role(
    State(services): State<Services>,
    Path(name): Path<String>,
    OperatorForm { session, input }: OperatorForm<ChangeRole>,
) -> Result<Redirect, ErrorPage> {
    query::change_role(&services, &session.operator, &name, input).await?;
    Ok(Redirect::to(HERE))
}

pub(crate) async fn disable(
    State(services): State<Services>,
    Path(name): Path<String>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    query::disable(&services, &session.operator, &name).await?;
    Ok(Redirect::to(HERE))
}

/// Draws the page that displays an enrolment code.
fn show_code(session: &OperatorSession, name: &str, code: &EnrolmentCode) -> Response {
    let life = ENROLMENT_LIFE.as_secs() / 3_600;
    let independent_after = INDEPENDENT_AFTER.as_secs() / 3_600;
    let body = html! {
        p class="notice" role="status" {
            "Hand this code to " strong { (name) } ". It is not displayed again."
        }
        (facts(&[("Enrolment code", html! { code { (code.reveal()) } })]))
        p {
            "The code is valid for " (life) " hours and for a single use, at " code { "/desk/enrolment" }
            ". You have seen it: until " (independent_after) " hours after its use, neither of you can decide on a "
            "correction that the other one requests."
        }
        p { a href=(HERE) { "All operators" } }
    };
    page(session, "Enrolment of an operator", body)
}
