//! Tournaments.

mod announcement;
mod announcement_form;
pub(crate) mod api;
pub(crate) mod cancellation;
pub(crate) mod collusion;
pub(crate) mod desk;
mod query;
mod terms_section;

pub(crate) use announcement::{FieldError, to_draft, to_problem};
pub(crate) use announcement_form::{AnnouncementForm, label_of};
pub(crate) use terms_section::draw_terms;
