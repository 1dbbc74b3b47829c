//! The page of the operator's own token.

use axum::extract::State;
use axum::response::{Redirect, Response};
use maud::{Markup, html};

use crate::clock::Clock;
use crate::http::operator::desk_ui::{
    ErrorPage, OperatorForm, OperatorSession, button, facts, page,
};
use crate::operators::Operators;

const HERE: &str = "/desk/token";

const TITLE: &str = "Your API token";

pub(crate) async fn show_token(
    State(operators): State<Operators>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let expires_at = operators.token_expires_at(&session.operator).await?;
    let body = html! {
        p {
            "A token lets a program act for you over the API, for 90 days. Only you can create it, and the "
            "audit log marks what was done with it. It cannot request corrections or decide on them, "
            "give orders about tables, view hands of running games, or change operators."
        }
        @match expires_at {
            Some(at) => p { "Your token is valid until " (session.zone.time(at)) "." },
            None => p { "You have no token." },
        }
        (actions_section(&session, expires_at.is_some()))
    };
    Ok(page(&session, TITLE, body))
}

fn actions_section(session: &OperatorSession, has_token: bool) -> Markup {
    html! {
        @if has_token {
            (button(session, HERE, "Create another token", "The previous token stops working. Continue?"))
            (button(session, &format!("{HERE}/revocation"), "Revoke the token", "Your programs stop working. Continue?"))
        } @else {
            form method="post" action=(HERE) {
                (session.form_token())
                button class="main" { "Create a token" }
            }
        }
    }
}

pub(crate) async fn create(
    State(operators): State<Operators>,
    State(clock): State<Clock>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_session()?;
    let (token, expires_at) = operators.create_token(&by, clock.now()).await?;
    let body = html! {
        p class="notice" role="status" { "Store this token now. It is not displayed again." }
        (facts(&[
            ("Token for the API", html! { code { (token.reveal()) } }),
            ("Valid until", session.zone.time(expires_at)),
        ]))
        p { a href=(HERE) { "Back" } }
    };
    Ok(page(&session, TITLE, body))
}

pub(crate) async fn revoke(
    State(operators): State<Operators>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    operators.revoke_token(&session.operator.require_session()?).await?;
    Ok(Redirect::to(HERE))
}
