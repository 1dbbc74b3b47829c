//! What pages are made of: tables, fields, buttons, pagers, times and amounts.

use bahay_engine::coins::Coins;
use maud::{Markup, html};

use super::OperatorSession;
use crate::clock::{self, Timestamp};

/// A column of a table: numbers stand at the right.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) enum Column<'a> {
    Text(&'a str),
    Number(&'a str),
}

/// A table, which scrolls by itself where the page is narrow. Each row has a cell for each column.
pub(in crate::http) fn table(
    caption: &str,
    columns: &[Column<'_>],
    rows: &[Vec<Markup>],
) -> Markup {
    html! {
        div class="scroll" role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            @match column {
                                Column::Text(name) => { th scope="col" { (name) } }
                                Column::Number(name) => { th scope="col" class="number" { (name) } }
                            }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (column, cell) in columns.iter().zip(row) {
                                @match column {
                                    Column::Text(_) => { td { (cell) } }
                                    Column::Number(_) => { td class="number" { (cell) } }
                                }
                            }
                        }
                    }
                    @if rows.is_empty() {
                        tr { td colspan=(columns.len()) class="none" { "Nothing." } }
                    }
                }
            }
        }
    }
}

/// What is known of one thing, a line each.
pub(in crate::http) fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl class="facts" {
            @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
        }
    }
}

/// A field of a form with its label.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Field<'a> {
    pub(in crate::http) name: &'a str,
    pub(in crate::http) label: &'a str,
    /// As `input` has it.
    pub(in crate::http) kind: &'a str,
    pub(in crate::http) value: &'a str,
    pub(in crate::http) hint: &'a str,
    pub(in crate::http) autocomplete: &'a str,
    pub(in crate::http) inputmode: &'a str,
    pub(in crate::http) is_required: bool,
}

impl<'a> Field<'a> {
    /// That must be filled in.
    pub(in crate::http) const fn required(name: &'a str, label: &'a str) -> Self {
        Self { is_required: true, ..Self::optional(name, label) }
    }

    /// That may be left empty.
    pub(in crate::http) const fn optional(name: &'a str, label: &'a str) -> Self {
        let (kind, value, hint, autocomplete, inputmode) = ("text", "", "", "off", "");
        Self { name, label, kind, value, hint, autocomplete, inputmode, is_required: false }
    }
}

pub(in crate::http) fn field(field: Field<'_>) -> Markup {
    let Field { name, label, kind, value, hint, autocomplete, inputmode, is_required } = field;
    let (id, described) = (format!("f-{name}"), format!("h-{name}"));
    html! {
        div class="field" {
            label for=(id) { (label) }
            input id=(id) name=(name) type=(kind) value=(value) required[is_required]
                autocomplete=(autocomplete) inputmode=[Some(inputmode).filter(|mode| !mode.is_empty())]
                aria-describedby=[Some(&described).filter(|_| !hint.is_empty())];
            @if !hint.is_empty() { small id=(described) { (hint) } }
        }
    }
}

/// A field of more lines.
pub(in crate::http) fn text_area(name: &str, label: &str, hint: &str) -> Markup {
    let (id, described) = (format!("f-{name}"), format!("h-{name}"));
    html! {
        div class="field" {
            label for=(id) { (label) }
            textarea id=(id) name=(name) rows="3" required aria-describedby=(described) {}
            small id=(described) { (hint) }
        }
    }
}

/// One of some values: each with its name, and the one that is chosen.
pub(in crate::http) fn select(
    name: &str,
    label: &str,
    options: &[(&str, &str)],
    chosen: &str,
) -> Markup {
    let id = format!("f-{name}");
    html! {
        div class="field" {
            label for=(id) { (label) }
            select id=(id) name=(name) {
                @for (value, text) in options {
                    option value=(value) selected[*value == chosen] { (text) }
                }
            }
        }
    }
}

/// A button that does something at once, asked about first when `confirm` says how.
pub(in crate::http) fn button(session: &OperatorSession, action: &str, label: &str, confirm: &str) -> Markup {
    html! {
        form class="inline" method="post" action=(action)
            data-confirm=[Some(confirm).filter(|text| !text.is_empty())] {
            (session.form_token())
            button { (label) }
        }
    }
}

/// The way to the next page of a list. `here` is the path, `query` what else the list was asked.
pub(in crate::http) fn pager(here: &str, query: &[(&str, &str)], next: Option<&str>) -> Markup {
    let Some(next) = next else {
        return html! {};
    };
    let mut pairs: Vec<(&str, &str)> =
        query.iter().copied().filter(|(_, value)| !value.is_empty()).collect();
    pairs.push(("cursor", next));
    let query = serde_urlencoded::to_string(pairs).unwrap_or_default();
    html! {
        nav class="pager" aria-label="Further pages" {
            a rel="next" href={ (here) "?" (query) } { "Further" }
        }
    }
}

/// In UTC, to the second.
pub(in crate::http) fn time(at: Timestamp) -> Markup {
    let at = clock::to_jiff(at);
    let text = at.strftime("%Y-%m-%d %H:%M:%S").to_string();
    html! { time datetime=(format!("{at:.3}")) { (text) } }
}

/// With two places, and its sign where it is below zero.
pub(in crate::http) fn coins(amount: Coins) -> Markup {
    html! { (amount) }
}

/// An id that people compare by its end.
pub(in crate::http) fn id(id: &impl std::fmt::Display) -> Markup {
    html! { code class="id" { (id) } }
}

/// A state, as a word that stands out.
pub(in crate::http) fn badge(kind: &str, text: &str) -> Markup {
    html! { span class={ "badge " (kind) } { (text) } }
}
