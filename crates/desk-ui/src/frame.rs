//! The frame of a page: the document with its stylesheet and scripts, the page of a visitor without a
//! session, and the page of a refusal.

use bahay_api::Code;
use maud::{DOCTYPE, Markup, html};

use crate::assets::{EXPORTS, SCRIPT, STYLE, SUGGESTIONS};
use crate::refusal_titles::operator_title;

/// Draws a page for a visitor without a session, with the reason of a refusal before its content.
pub fn visitor_page(title: &str, refusal: Option<&str>, body: &Markup) -> Markup {
    let content = html! {
        header { span class="brand" { "bahay" } }
        main id="main" class="narrow" {
            h1 { (title) }
            @if let Some(refusal) = refusal { p class="alert" role="alert" { (refusal) } }
            (body)
        }
    };
    document(title, &content)
}

/// Draws a document around the content of a page.
pub fn document(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · bahay" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(STYLE.path);
                script src=(SCRIPT.path) defer {}
                script src=(SUGGESTIONS.path) defer {}
                script src=(EXPORTS.path) defer {}
            }
            body { (content) }
        }
    }
}

/// Draws the page of a refusal.
pub fn draw_refusal(code: Code, detail: Option<&Markup>) -> Markup {
    let refusal = format!("{}.", operator_title(code));
    // After a failure of the server or a timeout, the request may have taken effect.
    let effect = match code.status().is_server_error() {
        true => "Look at the present state before you repeat it.",
        false => "Nothing was changed.",
    };
    let body = html! {
        // The script displays the detail and the effect beside the form, and acts by the code.
        @if let Some(detail) = detail { p data-reason { (detail) } }
        p data-code=(code.as_str()) {
            span data-reason { (effect) }
            " Go back, or " a href="/desk" { "to the desk" } "."
        }
    };
    visitor_page("Request refused", Some(&refusal), &body)
}

#[cfg(test)]
mod tests {
    use super::{Code, draw_refusal};

    #[test]
    fn a_page_states_that_nothing_was_changed_only_if_that_is_known() {
        for (code, is_known) in [
            (Code::GameNotFound, true),
            (Code::RequestTimeout, true),
            (Code::TimedOut, false),
            (Code::Unavailable, false),
            (Code::Internal, false),
        ] {
            let page = draw_refusal(code, None).into_string();
            assert_eq!(page.contains("Nothing was changed"), is_known, "{code:?}");
        }
    }
}
