//! The desk as browsers use it: cookies, forms, pages.

mod acts;
mod alerts;
pub(crate) mod browser;
mod four_eyes;
mod jobs;
mod matrix;
mod orders;
mod previews;
mod refusals;
mod reports;
mod running;
mod sign_in;
mod tournaments;
