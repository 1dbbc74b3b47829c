//! The desk as browsers use it: cookies, forms, pages.

pub(crate) mod browser;
mod four_eyes;
mod jobs;
mod matrix;
mod orders;
mod running;
mod sign_in;
