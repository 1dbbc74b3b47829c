//! Components of pages: tables, fields, pagers and amounts.

use std::fmt::Display;

use bahay_engine::coins::Coins;
use maud::{Markup, Render, html};

/// Draws a table. The names of its columns are separated by ` | `.
pub fn table(
    caption: &str,
    columns: &str,
    rows: impl IntoIterator<Item: AsRef<[Markup]>>,
) -> Markup {
    draw_table(caption, &columns.split(" | ").collect::<Vec<_>>(), rows)
}

/// A column of a table with the drawing of its cells.
pub type DrawnColumn<'a, T> = (&'a str, &'a dyn Fn(&T) -> Markup);

/// Draws a table of items by the columns.
pub fn table_of<T>(caption: &str, items: &[T], columns: &[DrawnColumn<'_, T>]) -> Markup {
    sortable_table_of(caption, items, columns, &|_| None)
}

/// A link from the heading of a column, which sorts the list by the column.
#[derive(Clone, Debug)]
pub struct SortLink {
    pub href: String,
    /// The caption of the list that the link leads to.
    pub title: &'static str,
    /// The direction in which the column is sorted now, if it is.
    pub sorted: Option<SortDirection>,
}

/// The direction of sorting by a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortDirection {
    Ascending,
    Descending,
}

/// Draws a table of items by the columns, with links from the headings of those that `sort_link`
/// knows by their names.
pub fn sortable_table_of<T>(
    caption: &str,
    items: &[T],
    columns: &[DrawnColumn<'_, T>],
    sort_link: &dyn Fn(&str) -> Option<SortLink>,
) -> Markup {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let cells = |item| columns.iter().map(|(_, draw)| draw(item)).collect::<Vec<_>>();
    draw_sortable_table(caption, &names, items.iter().map(cells), sort_link)
}

/// Draws a table, which scrolls horizontally on a narrow page. Each row has one cell for each
/// column. The name of a column of numbers, which are right-aligned, begins with `#`.
pub fn draw_table(
    caption: &str,
    columns: &[impl AsRef<str>],
    rows: impl IntoIterator<Item: AsRef<[Markup]>>,
) -> Markup {
    draw_sortable_table(caption, columns, rows, &|_| None)
}

fn draw_sortable_table(
    caption: &str,
    columns: &[impl AsRef<str>],
    rows: impl IntoIterator<Item: AsRef<[Markup]>>,
    sort_link: &dyn Fn(&str) -> Option<SortLink>,
) -> Markup {
    let columns: Vec<(&str, Option<&str>)> = columns
        .iter()
        .map(AsRef::as_ref)
        .map(|name: &str| {
            name.strip_prefix('#').map_or((name, None), |name| (name, Some("number")))
        })
        .collect();
    let mut rows = rows.into_iter().peekable();
    let is_empty = rows.peek().is_none();
    html! {
        div class="scroll" role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { (caption) }
                thead {
                    tr {
                        @for (name, class) in &columns { (heading(name, *class, sort_link(name))) }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for ((_, class), cell) in columns.iter().zip(row.as_ref()) {
                                td class=[*class] { (cell) }
                            }
                        }
                    }
                    @if is_empty {
                        tr { td colspan=(columns.len()) class="none" { "No entries." } }
                    }
                }
            }
        }
    }
}

/// Draws the heading of a column.
fn heading(name: &str, class: Option<&str>, link: Option<SortLink>) -> Markup {
    let Some(SortLink { href, title, sorted }) = link else {
        return html! { th scope="col" class=[class] { (name) } };
    };
    let direction = sorted.map(|direction| match direction {
        SortDirection::Ascending => ("ascending", "▲"),
        SortDirection::Descending => ("descending", "▼"),
    });
    html! {
        th scope="col" class=[class] aria-sort=[direction.map(|(word, _)| word)] {
            a href=(href) title=(title) { (name) }
            @if let Some((_, arrow)) = direction { " " span aria-hidden="true" { (arrow) } }
        }
    }
}

/// Marks tables with all rows of their lists, which the script sorts by any column.
pub fn sortable_by_script(tables: Markup) -> Markup {
    html! { div data-sort { (tables) } }
}

/// Draws a description list of names and values.
pub fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl class="facts" {
            @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
        }
    }
}

/// An input field of a form, with its label.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub name: &'a str,
    pub label: &'a str,
    /// The `type` attribute of the `input` element.
    pub kind: &'a str,
    pub value: &'a str,
    pub hint: &'a str,
    /// The reason why the value was refused, if it was.
    pub error: &'a str,
    pub autocomplete: &'a str,
    pub inputmode: &'a str,
    pub is_required: bool,
    /// True if the script suggests names of players.
    pub is_player: bool,
}

impl<'a> Field<'a> {
    /// Returns a field that must be filled in.
    pub const fn required(name: &'a str, label: &'a str) -> Self {
        Self { is_required: true, ..Self::optional(name, label) }
    }

    /// Returns a field that may be left empty.
    pub const fn optional(name: &'a str, label: &'a str) -> Self {
        Self {
            name,
            label,
            kind: "text",
            value: "",
            hint: "",
            error: "",
            autocomplete: "off",
            inputmode: "",
            is_required: false,
            is_player: false,
        }
    }
}

pub fn field(field: Field<'_>) -> Markup {
    let Field { name, label, kind, value, hint, error, autocomplete, inputmode, .. } = field;
    let id = format!("f-{name}");
    let hint_id = format!("h-{name}");
    let error_id = format!("e-{name}");
    let notes = [(hint, &hint_id), (error, &error_id)].into_iter();
    let notes: Vec<&str> =
        notes.filter(|(text, _)| !text.is_empty()).map(|(_, id)| id.as_str()).collect();
    let notes = notes.join(" ");
    html! {
        div class="field" {
            label for=(id) { (label) }
            input id=(id) name=(name) type=(kind) value=(value) required[field.is_required]
                data-suggest=[field.is_player.then_some("name")]
                autocomplete=(autocomplete) inputmode=[Some(inputmode).filter(|mode| !mode.is_empty())]
                aria-describedby=[Some(&notes).filter(|notes| !notes.is_empty())]
                aria-invalid=[Some("true").filter(|_| !error.is_empty())];
            @if !hint.is_empty() { small id=(hint_id) { (hint) } }
            @if !error.is_empty() { small id=(error_id) class="error" { (error) } }
        }
    }
}

/// Draws a text field with several lines.
pub fn text_area(name: &str, label: &str, hint: &str) -> Markup {
    text_area_of(name, name, label, hint)
}

/// Draws a text field with several lines, one of several fields of its name on the page: `form`
/// distinguishes the ids.
pub fn text_area_of(form: &str, name: &str, label: &str, hint: &str) -> Markup {
    let id = format!("f-{form}");
    let hint_id = format!("h-{form}");
    html! {
        div class="field" {
            label for=(id) { (label) }
            textarea id=(id) name=(name) rows="3" required aria-describedby=(hint_id) {}
            small id=(hint_id) { (hint) }
        }
    }
}

/// Draws a selection among options, which are pairs of a value and a name.
pub fn select(name: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
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

/// Draws the link to the next page of a list, if there is one. `here` is the list's path, `query`
/// its other parameters.
pub fn pager(here: &str, query: &[(&str, &str)], next: Option<&str>) -> Markup {
    let Some(next) = next else {
        return html! {};
    };
    let mut pairs: Vec<(&str, &str)> =
        query.iter().copied().filter(|(_, value)| !value.is_empty()).collect();
    pairs.push(("cursor", next));
    let query = serde_urlencoded::to_string(pairs).unwrap_or_default();
    html! {
        nav class="pager" aria-label="Further pages" {
            a rel="next" href={ (here) "?" (query) } { "Next page" }
        }
    }
}

/// Draws an amount with thousands separators and two decimal places, and with a sign if it is
/// negative.
pub fn coins(amount: impl Into<Coins>) -> Markup {
    html! { (group_thousands(&amount.into().to_string())) }
}

/// Draws a count with thousands separators.
pub fn count(number: impl Display) -> Markup {
    html! { (group_thousands(&number.to_string())) }
}

/// Inserts a comma before each group of three digits of a number's whole part.
pub fn group_thousands(number: &str) -> String {
    let whole = number.split('.').next().map_or(0, str::len);
    let mut grouped = String::with_capacity(number.len() + whole / 3);
    for (place, character) in number.char_indices() {
        let is_group = place < whole && (whole - place).is_multiple_of(3);
        if is_group && grouped.ends_with(|last: char| last.is_ascii_digit()) {
            grouped.push(',');
        }
        grouped.push(character);
    }
    grouped
}

/// Draws the author of an act. Without an operator it is the command line.
pub fn author_text(operator: Option<&str>) -> Markup {
    html! { (operator.unwrap_or("the command line")) }
}

/// Draws a link to the page of a game.
pub fn game_link(game: impl Display, text: impl Render) -> Markup {
    html! { a href=(format!("/desk/games/{game}")) { (text) } }
}

/// Draws a link to the page of a player.
pub fn player_link(player: impl Display, text: impl Render) -> Markup {
    html! { a href=(format!("/desk/players/{player}")) { (text) } }
}

/// Draws an id in a font in which ids are easily compared.
pub fn id(id: &impl Display) -> Markup {
    html! { code class="id" { (id) } }
}

/// Draws a state as a highlighted word.
pub fn badge(kind: &str, text: &str) -> Markup {
    html! { span class={ "badge " (kind) } { (text) } }
}

#[cfg(test)]
mod tests {
    use super::group_thousands;

    #[test]
    fn thousands_are_grouped() {
        for (number, grouped) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("-100.05", "-100.05"),
            ("-123456.07", "-123,456.07"),
            ("+12345678.00", "+12,345,678.00"),
            ("92233720368547758.07", "92,233,720,368,547,758.07"),
        ] {
            assert_eq!(group_thousands(number), grouped);
        }
    }
}
