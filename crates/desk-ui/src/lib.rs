//! The parts of the operators' pages, the *desk*: tables, charts and fields as HTML, times in the
//! zone of the house, and the parsing of what people type.
//!
//! The crate performs no I/O and knows no page. The service composes the pages from these parts
//! (`http/operator` of the service).

mod assets;
pub mod chart;
mod components;
pub mod form_fields;
mod frame;
mod house_zone;
mod parse;
mod refusal_titles;
mod search_form;

pub use assets::{Asset, find_asset};
pub use components::{
    DrawnColumn, Field, SortDirection, SortLink, author_text, badge, coins, count, draw_table,
    facts, field, game_link, group_thousands, id, pager, player_link, select, sortable_by_script,
    sortable_table_of, table, table_of, text_area, text_area_of,
};
pub use frame::{document, draw_refusal, visitor_page};
pub use house_zone::{HouseZone, PeriodBound};
pub use parse::{format_decimal, parse_amount, parse_decimal, parse_non_negative_amount};
pub use refusal_titles::operator_title;
pub use search_form::SearchForm;
