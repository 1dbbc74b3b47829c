//! The layout that all pages of the desk share: head, navigation, the signed-in operator, and the
//! alerts.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use bahay_desk_ui::form_fields::FieldError;
use bahay_desk_ui::{document, draw_refusal};
use maud::{Markup, html};

use super::OperatorSession;
use crate::http::{Code, Problem};

/// The first page after sign-in.
pub(crate) const HOME: &str = "/desk/today";

/// The pages open to every operator, in the order of the navigation.
const PAGES: &[(&str, &str)] = &[
    ("/desk/today", "Today"),
    ("/desk/settlements", "Settlements"),
    ("/desk/players", "Players"),
    ("/desk/reports", "Reports"),
    ("/desk/sanctions", "Sanctions"),
    ("/desk/collusion", "Collusion"),
    ("/desk/ledger", "Ledger"),
    ("/desk/rooms", "Rooms"),
    ("/desk/tables", "Tables"),
    ("/desk/tournaments", "Tournaments"),
    ("/desk/corrections", "Corrections"),
    ("/desk/switches", "Switches"),
];

/// The pages open to administrators only, which follow the others.
const ADMINISTRATOR_PAGES: &[(&str, &str)] =
    &[("/desk/operators", "Operators"), ("/desk/jobs", "Jobs"), ("/desk/audit", "Audit")];

/// The beginnings of paths, beside those of the navigation, that belong to a page of it.
const BELOW_PAGES: &[(&str, &str)] = &[
    ("/desk/games", "/desk/settlements"),
    ("/desk/transfers", "/desk/ledger"),
    ("/desk/tournament-requests", "/desk/tournaments"),
    ("/desk/tournament-schedules", "/desk/tournaments"),
];

/// Returns the value of `aria-current` for a page of the navigation: `page` at its own path,
/// `true` at a path below it.
fn mark_current(page: &str, path: &str) -> Option<&'static str> {
    let is_below = |start: &str| path.strip_prefix(start).is_some_and(|rest| rest.starts_with('/'));
    if path == page {
        return Some("page");
    }
    let belongs =
        |&(start, owner): &(&str, &str)| owner == page && (path == start || is_below(start));
    (is_below(page) || BELOW_PAGES.iter().any(belongs)).then_some("true")
}

/// Draws a page for an operator. The title is also its heading.
pub(crate) fn page(session: &OperatorSession, title: &str, body: Markup) -> Response {
    page_with_heading(session, title, html! { (title) }, body)
}

/// Draws a page for an operator whose heading has more than the title.
pub(crate) fn page_with_heading(
    session: &OperatorSession,
    title: &str,
    heading: Markup,
    body: Markup,
) -> Response {
    let operator = &session.operator;
    let administrator_pages =
        if operator.require_administrator().is_ok() { ADMINISTRATOR_PAGES } else { &[] };
    let content = html! {
        header {
            a class="skip" href="#main" { "Skip to the content" }
            a class="brand" href="/desk" { "bahay" }
            nav aria-label="Pages" {
                ul {
                    @for (path, name) in PAGES.iter().chain(administrator_pages) {
                        li { a href=(path) aria-current=[mark_current(path, &session.path)] { (name) } }
                    }
                }
            }
            form class="search" role="search" method="get" action="/desk/search" {
                input type="search" name="text" aria-label="Search" placeholder="Search"
                    autocomplete="off" maxlength="64" data-suggest="page";
            }
            form class="who" method="post" action="/desk/sign-out" {
                (session.form_token())
                a href="/desk/token" { (operator.name) " (" (operator.role) ")" }
                button { "Sign out" }
            }
        }
        p id="connection" class="alert" role="alert" hidden {}
        div id="alerts" class="alerts" data-zone=(session.zone.name()) role="status" aria-label="Alerts"
            data-live="/desk/alerts" data-is-connection {}
        main id="main" tabindex="-1" {
            h1 { (heading) }
            (body)
        }
        footer { "Times are in the zone " (session.zone.name()) "." }
    };
    Html(document(title, &content).into_string()).into_response()
}

/// A page about a refusal.
#[derive(Debug)]
pub(crate) struct ErrorPage {
    code: Code,
    detail: Option<Markup>,
}

impl ErrorPage {
    /// Creates the page of a form with an invalid field.
    pub(super) fn of_form(error: FieldError) -> Self {
        Self { code: Code::BodyInvalid, detail: Some(error.draw()) }
    }
}

impl<E> From<E> for ErrorPage
where
    Problem: From<E>,
{
    fn from(error: E) -> Self {
        let Problem { code, detail, .. } = error.into();
        Self { code, detail: detail.map(|detail| html! { (detail) }) }
    }
}

/// The page of a search with an invalid field.
impl From<FieldError> for ErrorPage {
    fn from(error: FieldError) -> Self {
        Self { code: Code::QueryInvalid, detail: Some(error.draw()) }
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let page = draw_refusal(self.code, self.detail.as_ref());
        (page_status(self.code), Html(page.into_string())).into_response()
    }
}

/// Returns the status of a page about a refusal.
pub(crate) fn page_status(code: Code) -> StatusCode {
    match code.status() {
        // A status of 401 would make the browser ask for credentials in a dialog of its own.
        StatusCode::UNAUTHORIZED => StatusCode::FORBIDDEN,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use super::mark_current;

    #[test]
    fn a_page_below_another_marks_it_in_the_navigation() {
        for (page, path, expected) in [
            ("/desk/players", "/desk/players", Some("page")),
            ("/desk/players", "/desk/players/1/statement", Some("true")),
            ("/desk/settlements", "/desk/games/1", Some("true")),
            ("/desk/tournaments", "/desk/tournament-schedules", Some("true")),
            ("/desk/tables", "/desk/tables-of-others", None),
            ("/desk/players", "/desk/games/1", None),
        ] {
            assert_eq!(mark_current(page, path), expected, "{path}");
        }
    }
}
