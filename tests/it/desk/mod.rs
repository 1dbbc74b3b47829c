//! The desk as browsers use it: cookies, forms, pages.

mod acts;
pub(crate) mod browser;
mod four_eyes;
mod jobs;
mod matrix;
mod orders;
mod reports;
mod running;
mod sign_in;
